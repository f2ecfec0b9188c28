"""The folder of several runs: whose it is, before anything is written there."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from bertsmith.common.errors import SettingsError
from bertsmith.common.files import write_text
from bertsmith.common.settings import differences, of_recipe, to_toml
from bertsmith.finetune.settings import FinetuneSettings

CONFIG = "config.toml"


def open_group(out: Path, settings: FinetuneSettings, resume: str | None = None) -> None:
    """Make the folder of several runs, or check that the runs in it are those that are asked for.

    The runs themselves have folders of their own below it, which are locked and checked by
    :class:`~bertsmith.train.folder.RunFolder`.

    Args:
        out: the folder.
        settings: the settings in force; several runs come of them.
        resume: what ``--resume`` says; then there have to be runs.

    Raises:
        SettingsError: the folder holds something else, a run of its own for instance, or runs with
            other settings; or there is nothing to resume, or a checkpoint of one run is named.
    """
    if resume not in (None, "latest"):
        raise SettingsError(
            "several runs have no checkpoint in common", value=resume,
            mend="give --resume without a name: each run goes on from its latest checkpoint",
        )  # fmt: skip
    if (out / CONFIG).is_file():
        _check_same(out, settings)
    elif resume:
        raise SettingsError("there is no run to resume", file=out, mend="check --out")
    elif out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise SettingsError(
            "the folder holds something that is not a run", file=out, mend="give another --out"
        )
    write_text(out / CONFIG, to_toml(settings, "Settings of these runs; itself a recipe."))


def is_group(settings: FinetuneSettings) -> bool:
    """Whether several runs come of the settings."""
    return settings.task == "glue" or settings.restarts > 1 or settings.search != "none"


def _check_same(out: Path, settings: FinetuneSettings) -> None:
    before = of_recipe(FinetuneSettings, out / CONFIG)
    if not is_group(before):
        raise SettingsError(
            "the folder holds a single run, which several would overwrite", file=out,
            mend="give another --out",
        )  # fmt: skip
    if settings.restarts > before.restarts:  # more of them are more runs beside those there are
        before = dataclasses.replace(before, restarts=settings.restarts)
    if other := differences(before, settings):
        raise SettingsError(
            f"the folder holds runs with other settings: {'; '.join(other)}", file=out,
            mend="use --resume to go on with those runs as they are, or give another --out",
        )  # fmt: skip

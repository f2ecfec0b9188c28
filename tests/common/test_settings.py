from __future__ import annotations

import argparse
import dataclasses
from dataclasses import dataclass

import pytest

from bertsmith.common.errors import SettingsError
from bertsmith.common.settings import (
    add_flags,
    check,
    from_flags,
    read_recipe,
    require,
    setting,
    to_mapping,
    to_toml,
)
from bertsmith.corpus.settings import CorpusSettings
from bertsmith.finetune.settings import FinetuneSettings
from bertsmith.pretrain.settings import PretrainSettings


@dataclass(frozen=True)
class Made:
    steps: int = setting(10, "how long", unit="steps")
    rate: float = setting(0.5, "how fast")
    name: str = setting('a "quoted"\nname', "what")
    kind: str = setting("red", "which", choices=("red", "green"))
    shout: bool = setting(False, "whether")
    lengths: tuple[int, ...] = setting((1, 2), "several")

    def __post_init__(self) -> None:
        require(self.steps > 0, "steps must be above 0", value=self.steps)


def flags(*words: str) -> dict:
    parser = argparse.ArgumentParser()
    add_flags(parser, Made)
    return vars(parser.parse_args(words))


def test_defaults_recipe_and_flags_in_that_order(tmp_path) -> None:
    recipe = tmp_path / "r.toml"
    recipe.write_text("steps = 5\nrate = 2\n")
    assert from_flags(Made, flags()) == Made()
    assert from_flags(Made, flags("--rate", "1e-3"), recipe) == Made(steps=5, rate=1e-3)
    made = from_flags(
        Made, flags("--lengths", "7", "--lengths", "9", "--shout", "--steps", "1_000")
    )
    assert made == Made(steps=1000, lengths=(7, 9), shout=True)


def test_what_is_written_is_a_recipe(tmp_path) -> None:
    made = Made(steps=3, name="tab\tand \\ \x7f", shout=True, lengths=(4,))
    path = tmp_path / "config.toml"
    path.write_text(to_toml(made, "of this run"))
    assert Made(**read_recipe(Made, path)) == made
    assert to_mapping(made)["lengths"] == [4]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"stepz": 1}, "unknown setting 'stepz'.*\n.*'steps'"),
        ({"steps": "many"}, "takes a whole number"),
        ({"steps": 1.5}, "takes a whole number"),
        ({"steps": True}, "takes a whole number"),
        ({"rate": "fast"}, "takes a number"),
        ({"shout": 1}, "takes true or false"),
        ({"kind": "gren"}, "no choice of that name.*\n.*did you mean 'green'"),
        ({"name": 3}, "takes text"),
    ],
)
def test_wrong_values(raw: dict, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        check(Made, raw)


def test_recipes_that_can_not_be_read(tmp_path) -> None:
    with pytest.raises(SettingsError, match="no such recipe"):
        read_recipe(Made, tmp_path / "nothing.toml")
    (tmp_path / "bad.toml").write_text("steps = = 3")
    with pytest.raises(SettingsError, match="can not be read"):
        read_recipe(Made, tmp_path / "bad.toml")


def test_recipes_that_come_with_the_package() -> None:
    from bertsmith.cli.common import RECIPES, find_recipe
    from bertsmith.finetune.settings import FinetuneSettings
    from bertsmith.pretrain.settings import PretrainSettings

    kinds = {"pretrain": PretrainSettings, "finetune": FinetuneSettings}
    assert {path.name for path in RECIPES.iterdir()} == set(kinds)
    for room, kind in kinds.items():
        names = [path.stem for path in (RECIPES / room).iterdir()]
        assert names
        for name in names:
            made = kind(**read_recipe(kind, find_recipe(name, kind)))
            assert made != kind(**({"steps": 1} if room == "pretrain" else {}))
    with pytest.raises(SettingsError, match="did you mean 'quickstart'"):
        find_recipe("quikstart", PretrainSettings)
    with pytest.raises(SettingsError, match="known: paper"):
        find_recipe("laptop-hour", FinetuneSettings)


@pytest.mark.parametrize("kind", [CorpusSettings, PretrainSettings, FinetuneSettings])
def test_no_setting_may_be_infinite_or_not_a_number(kind: type) -> None:
    names = [one.name for one in dataclasses.fields(kind) if isinstance(one.default, float)]
    assert names
    for name in names:
        for value in (float("nan"), float("inf"), float("-inf")):
            needed = {"task": "cola"} if kind is FinetuneSettings else {}
            with pytest.raises(SettingsError, match=f"{name} must be a finite number"):
                kind(**needed, **{name: value})

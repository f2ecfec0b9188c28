"""Arguments that mean the same in every verb."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TypeVar

from bertsmith.common.errors import SettingsError, nearest
from bertsmith.common.settings import DataclassType, add_flags, from_flags

S = TypeVar("S", bound=DataclassType)
RECIPES = Path(__file__).parent.parent / "recipes"


def name(text: str) -> str:
    """A file, folder or URL; an empty one, as of a shell variable that is not set, is none."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return text


def path(text: str) -> Path:
    """A file or folder of this machine."""
    return Path(name(text))


def add_json(parser: argparse.ArgumentParser) -> None:
    """``--json``."""
    parser.add_argument("--json", action="store_true", help="write the result to stdout as JSON")


def add_recipe(parser: argparse.ArgumentParser, kind: type[DataclassType]) -> None:
    """``--recipe``."""
    names = ", ".join(_known(kind))
    parser.add_argument(
        "--recipe",
        metavar="FILE",
        help="settings from a TOML file"
        + (f" or by name ({names})" if names else "")
        + "; flags override it",
    )


def add_settings(parser: argparse.ArgumentParser, kind: type[DataclassType]) -> None:
    """``--recipe``, ``--json`` and one flag a setting."""
    add_recipe(parser, kind)
    add_json(parser)
    add_flags(parser, kind)


def settings(arguments: argparse.Namespace, kind: type[S]) -> S:
    """The settings in force: defaults, then the recipe, then the flags."""
    recipe = None if arguments.recipe is None else find_recipe(arguments.recipe, kind)
    return from_flags(kind, vars(arguments), recipe)


def settings_of_run(out: Path) -> str:
    """The recipe file with the settings of the run in ``out``, which is to go on."""
    if not (out / "config.toml").is_file():
        raise SettingsError("there is no run to resume", file=out, mend="check --out")
    return str(out / "config.toml")


def find_recipe(name: str, kind: type[DataclassType]) -> Path:
    """The recipe file that ``--recipe`` names: a path, or one that comes with bertsmith."""
    if Path(name).suffix == ".toml" or "/" in name:
        return Path(name)
    known = _known(kind)
    if name not in known:
        close = nearest(name, known)
        hint = f"did you mean {close!r}? " if close else ""
        raise SettingsError(
            "no recipe of that name", value=name, mend=f"{hint}known: {', '.join(known) or 'none'}"
        )
    return _folder(kind) / f"{name}.toml"


def _known(kind: type[DataclassType]) -> list[str]:
    return sorted(path.stem for path in _folder(kind).glob("*.toml"))


def _folder(kind: type[DataclassType]) -> Path:
    """A room's recipes lie in a folder with the room's name."""
    return RECIPES / kind.__module__.split(".")[-2]

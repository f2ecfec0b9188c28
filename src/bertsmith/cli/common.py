"""Arguments that mean the same in every verb."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TypeVar

from bertsmith.common.errors import SettingsError, nearest
from bertsmith.common.settings import DataclassType, add_flags, from_flags

S = TypeVar("S", bound=DataclassType)
RECIPES = Path(__file__).parent.parent / "recipes"


def add_json(parser: argparse.ArgumentParser) -> None:
    """``--json``."""
    parser.add_argument("--json", action="store_true", help="write the result to stdout as JSON")


def add_recipe(parser: argparse.ArgumentParser) -> None:
    """``--recipe``."""
    parser.add_argument(
        "--recipe",
        metavar="FILE",
        help="settings from a TOML file or by name "
        f"({', '.join(sorted(path.stem for path in RECIPES.glob('*.toml')))}); flags override it",
    )


def add_settings(parser: argparse.ArgumentParser, kind: type[DataclassType]) -> None:
    """``--recipe``, ``--json`` and one flag a setting."""
    add_recipe(parser)
    add_json(parser)
    add_flags(parser, kind)


def settings(arguments: argparse.Namespace, kind: type[S]) -> S:
    """The settings in force: defaults, then the recipe, then the flags."""
    recipe = None if arguments.recipe is None else find_recipe(arguments.recipe)
    return from_flags(kind, vars(arguments), recipe)


def find_recipe(name: str) -> Path:
    """The recipe file that ``--recipe`` names: a path, or one that comes with bertsmith."""
    if Path(name).suffix == ".toml" or "/" in name:
        return Path(name)
    path = RECIPES / f"{name}.toml"
    if not path.is_file():
        known = [path.stem for path in RECIPES.glob("*.toml")]
        close = nearest(name, known)
        hint = f"did you mean {close!r}? " if close else ""
        raise SettingsError(
            "no recipe of that name", value=name, mend=f"{hint}known: {', '.join(sorted(known))}"
        )
    return path

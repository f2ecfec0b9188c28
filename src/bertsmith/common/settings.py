"""Settings: frozen dataclasses that are flags, recipe files and records of a run, all at once.

A settings class is an ordinary frozen dataclass whose fields are made with :func:`setting`. From it
come the command's flags (:func:`add_flags`), the reader of recipe files (:func:`read_recipe`) and
the writer of ``config.toml`` (:func:`to_toml`), whose output is itself a recipe.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import tomllib
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from bertsmith.common.errors import SettingsError, nearest
from bertsmith.common.files import read_small


class DataclassType(Protocol):
    """Any dataclass instance."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


S = TypeVar("S", bound=DataclassType)
CHANGED = "  # default: "  # behind a value in a written recipe that is not the default


def setting(
    default: Any,
    help: str,  # noqa: A002 - the name that argparse gives it
    *,
    unit: str = "",
    choices: Sequence[str] = (),
    group: str = "settings",
    changeable: bool = False,
) -> Any:
    """A field of a settings class.

    Args:
        default: the value in force when neither a recipe nor a flag gives one.
        help: one line for ``--help`` and for the written recipe.
        unit: the unit of the value, shown as the flag's placeholder.
        choices: the values allowed, where they can be listed.
        group: the heading under which ``--help`` shows the flag.
        changeable: whether a run may go on with another value.
    """
    metadata = {
        "help": help, "unit": unit, "choices": tuple(choices), "group": group,
        "changeable": changeable,
    }  # fmt: skip
    if isinstance(default, dict | list):
        raise TypeError("settings are immutable: use a tuple")
    return dataclasses.field(default=default, metadata=metadata)


def add_flags(
    parser: argparse.ArgumentParser, kind: type[DataclassType], only: Sequence[str] = ()
) -> None:
    """Add one flag per field of ``kind`` to ``parser``; a flag not given leaves no value.

    Args:
        parser: where the flags go.
        kind: the settings class.
        only: the fields to take; all of them where it is empty.
    """
    hints = typing.get_type_hints(kind)
    groups: dict[str, Any] = {}
    for field in dataclasses.fields(kind):
        if only and field.name not in only:
            continue
        heading = field.metadata["group"]
        if heading not in groups:
            groups[heading] = parser.add_argument_group(heading)
        base, _ = _unwrap(hints[field.name])
        text = f"{field.metadata['help']} (default: {_show(field.default)})".replace("%", "%%")
        options: dict[str, Any] = {
            "dest": field.name,
            "default": argparse.SUPPRESS,
            "help": text,
        }
        if base is bool:
            options["action"] = argparse.BooleanOptionalAction
        else:
            options["type"] = str
            options["metavar"] = _placeholder(field, base)
            if base is tuple:
                options["action"] = "append"
        groups[heading].add_argument("--" + field.name.replace("_", "-"), **options)


def from_flags(kind: type[S], flags: Mapping[str, Any], recipe: Path | None = None) -> S:
    """The settings in force: defaults, overridden by a recipe file, overridden by flags."""
    values = {} if recipe is None else read_recipe(kind, recipe)
    hints = typing.get_type_hints(kind)
    for field in dataclasses.fields(kind):
        if field.name in flags:
            flag = "--" + field.name.replace("_", "-")
            values[field.name] = _convert(hints[field.name], flags[field.name], field, flag, None)
    return kind(**values)


def of_recipe(kind: type[S], path: Path) -> S:
    """The settings of a recipe alone; whatever is wrong with them is said of that file."""
    try:
        return kind(**read_recipe(kind, path))
    except SettingsError as error:
        raise SettingsError(
            error.message, file=error.file or path, value=error.value, mend=error.mend
        ) from None


def read_recipe(kind: type[DataclassType], path: Path) -> dict[str, Any]:
    """The values that a recipe file (flat TOML) sets, checked against the fields of ``kind``."""
    try:
        raw = tomllib.loads(read_small(path).decode("utf-8"))
    except FileNotFoundError:
        raise SettingsError("there is no such recipe file", file=path) from None
    except RecursionError:
        raise SettingsError(
            "lists of the recipe are too deep inside each other", file=path
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise SettingsError(f"the recipe can not be read: {error}", file=path) from None
    return check(kind, raw, path)


def check(
    kind: type[DataclassType], raw: Mapping[str, Any], path: Path | None = None
) -> dict[str, Any]:
    """Values by field name, converted to the fields' types; an unknown key is an error."""
    fields = {field.name: field for field in dataclasses.fields(kind)}
    hints = typing.get_type_hints(kind)
    values = {}
    for key, value in raw.items():
        name = key.replace("-", "_")
        if name not in fields:
            close = nearest(name, fields)
            mend = f"did you mean {close!r}?" if close else "known: " + ", ".join(fields)
            raise SettingsError(f"unknown setting {key!r}", file=path, mend=mend)
        values[name] = _convert(hints[name], value, fields[name], key, path)
    return values


def differences(was: DataclassType, now: DataclassType) -> list[str]:
    """What of two settings of one class differs, in words, beside what may change."""
    before, after = to_mapping(was), to_mapping(now)
    return [
        f"{field.name} was {before[field.name]} and is {after[field.name]}"
        for field in dataclasses.fields(now)
        if before[field.name] != after[field.name] and not field.metadata["changeable"]
    ]


def to_mapping(settings: DataclassType) -> dict[str, Any]:
    """The settings as plain JSON values."""
    return {
        field.name: list(value) if isinstance(value, tuple) else value
        for field in dataclasses.fields(settings)
        for value in [getattr(settings, field.name)]
    }


def to_toml(settings: DataclassType, heading: str) -> str:
    """The settings as a recipe file, a line of documentation above each value.

    A value that is not the default has that behind it.
    """
    lines = [f"# {heading}"]
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        unit = f" [{field.metadata['unit']}]" if field.metadata["unit"] else ""
        lines += ["", f"# {field.metadata['help']}{unit}"]
        lines.append(
            f"# {field.name} = (not set)"
            if value is None
            else f"{field.name} = {_toml(value)}{_changed(value, field.default)}"
        )
    return "\n".join(lines) + "\n"


def changed_lines(toml: str) -> list[str]:
    """The lines of :func:`to_toml` whose values are not the defaults."""
    return [one for one in toml.splitlines() if not one.startswith("#") and CHANGED in one]


def _changed(value: Any, default: Any) -> str:
    if value == default:
        return ""
    return CHANGED + ("not set" if default is None else _toml(default))


def require(
    condition: bool, message: str, *, value: object = None, mend: str | None = None
) -> None:
    """Raise :class:`SettingsError` unless ``condition`` holds; for ``__post_init__``."""
    if not condition:
        raise SettingsError(message, value=value, mend=mend)


def require_finite(settings: DataclassType) -> None:
    """Raise :class:`SettingsError` where a value is infinite or not a number."""
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        for one in value if isinstance(value, tuple) else (value,):
            require(
                not isinstance(one, float) or math.isfinite(one),
                f"{field.name} must be a finite number", value=one,
            )  # fmt: skip


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, str):
        return '"' + "".join(_escaped(char) for char in value) + '"'
    return repr(value)


def _escaped(char: str) -> str:
    if char in '"\\':
        return "\\" + char
    return f"\\u{ord(char):04x}" if ord(char) < 32 or ord(char) == 127 else char


def _show(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return str(value)


def _placeholder(field: dataclasses.Field[Any], base: type) -> str:
    if field.metadata["choices"]:
        return "{" + ",".join(field.metadata["choices"]) + "}"
    unit = field.metadata["unit"] or {int: "N", float: "X", str: "TEXT"}.get(base, "VALUE")
    return str(unit).upper().replace(" ", "-")


def _unwrap(hint: Any) -> tuple[type, type]:
    """The base type and, for a tuple, the type of its items; ``X | None`` counts as ``X``."""
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        hint = next(arg for arg in typing.get_args(hint) if arg is not type(None))
    if typing.get_origin(hint) is tuple:
        return tuple, typing.get_args(hint)[0]
    return hint, hint


def _convert(
    hint: Any, value: Any, field: dataclasses.Field[Any], name: str, path: Path | None
) -> Any:
    base, item = _unwrap(hint)
    if base is tuple:
        items = value if isinstance(value, list | tuple) else [value]
        return tuple(_scalar(item, one, field, name, path) for one in items)
    return _scalar(base, value, field, name, path)


def text_is_whole(text: object) -> bool:
    """Whether a text is a whole number in digits."""
    return isinstance(text, str) and text.strip().lstrip("+-").isdigit()


_WORDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}


def _scalar(
    base: type, value: Any, field: dataclasses.Field[Any], name: str, path: Path | None
) -> Any:
    problem = SettingsError(f"{name} takes {_WORDS[base]}", file=path, value=value)
    if base is bool or isinstance(value, bool):
        if base is not bool or not isinstance(value, bool):
            raise problem
        return value
    if base is str:
        if not isinstance(value, str):
            raise problem
        choices = field.metadata["choices"]
        if choices and value not in choices:
            close = nearest(value, choices)
            hint = f"did you mean {close!r}? " if close else ""
            raise SettingsError(
                f"{name} has no choice of that name", file=path, value=value,
                mend=f"{hint}choices: {', '.join(choices)}",
            )  # fmt: skip
        return value
    try:
        text = value.replace("_", "").replace(",", "") if isinstance(value, str) else value
        number = float(text)
        if base is int:
            if number != int(number):
                raise problem
            if isinstance(text, int) or text_is_whole(text):
                return int(text)  # not by way of a float, which has 53 bits
            return int(number)
    except (TypeError, ValueError, OverflowError):
        raise problem from None
    return number

"""Every flag of every verb with values that it does not take: one message that names it, status 2.

Inputs and models are not there, so that a command which takes its flags ends by saying so.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertsmith.cli import main as command
from bertsmith.common.errors import readable
from tests.fuzz.inputs import fuzzed

# Of each verb, the words without which it does not begin; nothing of this is there.
NEEDED: dict[str, tuple[str, ...]] = {
    "quickstart": ("/gone/in",),
    "corpus": ("/gone/in", "--out=/gone/out"),
    "corpus show": ("/gone/in", "--document=0"),
    "pretrain": ("/gone/in", "--out=/gone/out"),
    "finetune": ("classify", "--model=/gone/model", "--data=/gone/data", "--out=/gone/out"),
    "evaluate": ("/gone/model", "--data=/gone/data"),
    "predict": ("/gone/model", "/gone/in"),
    "fill": ("/gone/model", "the [MASK]"),
    "embed": ("/gone/model", "/gone/in", "--out=/gone/out"),
    "convert": ("/gone/model", "/gone/out"),
    "export": ("/gone/model", "--out=/gone/out"),
    "doctor": ("/gone/in",),
    "report": ("/gone/run",),
    "bench": ("no-such-row",),
}
# A lone surrogate stands for a byte that is no UTF-8; others no command line can hold.
ODD = ["", " ", "0", "-1", "-0.5", "0.5", "1.5", "1e999", "-1e999", "nan", "inf", "1_0", "0x10", "٣", "１２", "²",
       "true", "None", "[1]", "1,2", "-", "--", "-h", "--no", "=", "a=b", "\udc80", "\udcff", "é\u0301", "\u202e",
       "\x1b[31m", "\n", "\U0001f600" * 30, "x" * 5000, "9" * 400, "9" * 5000, "-" + "9" * 5000, "x" * 200_000,
       "/" + "a/" * 3000, "../..", "~", "*", str(2**31), str(2**63), str(-(2**63)), str(10**30)]  # fmt: skip


class Ended(NamedTuple):
    """How a command ended: its status, and what it wrote to stderr."""

    status: int
    said: str


def test_every_verb_is_here() -> None:
    assert {*command.VERBS, "corpus show"} == NEEDED.keys()


@cache
def flags(verb: str) -> tuple[argparse.Action, ...]:
    """The flags of a verb's own parser, ``--help`` aside."""
    parser = command.Parser(prog="")
    importlib.import_module(f"bertsmith.cli.{verb.replace(' ', '_')}").add_arguments(parser)
    return tuple(one for one in parser._actions if one.option_strings and one.dest != "help")


def run(verb: str, *words: str) -> Ended:
    """The command in this process, in an empty folder and with an empty standard input."""
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stderr(said):
        patch.setattr(command, "settle", lambda verb: None)
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                status = command.main([*verb.split(), *words])
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else -1
    return Ended(status, said.getvalue())


@pytest.fixture(scope="module", autouse=True)
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No command may leave anything where it was started."""
    before, folder = Path.cwd(), tmp_path_factory.mktemp("empty")
    os.chdir(folder)
    yield
    os.chdir(before)
    assert list(folder.iterdir()) == []


@cache
def usual(verb: str) -> str:
    """What the verb says without a further flag: that something is not there."""
    ended = run(verb, *NEEDED[verb])
    assert ended.status == 2
    return ended.said


def names(flag: argparse.Action) -> tuple[str, ...]:
    return (*flag.option_strings, flag.dest)


verbs = st.sampled_from(list(NEEDED))


@st.composite
def a_flag(draw: st.DrawFn) -> tuple[str, argparse.Action]:
    verb = draw(verbs.filter(flags))
    return verb, draw(st.sampled_from(flags(verb)))


@fuzzed(400)
@given(a_flag(), st.sampled_from(ODD) | st.text(max_size=20).map(lambda text: text.replace("\0", "")),
       st.booleans(), st.booleans())  # fmt: skip
def test_any_value(
    chosen: tuple[str, argparse.Action], value: str, apart: bool, first: bool
) -> None:
    """Refused by the flag's name or its value; or taken, and then something is not there."""
    verb, flag = chosen
    name = flag.option_strings[0]
    words = [name, value] if apart else [f"{name}={value}"]
    needed = NEEDED[verb]
    ended = run(verb, *words, *needed) if first else run(verb, *needed, *words)
    assert ended.status in (0, 2), ended
    assert "Traceback" not in ended.said
    assert len(ended.said) < 10_000, f"a message of {len(ended.said)} characters"
    if ended.status == 2 and ended.said != usual(verb):
        shown = [repr(value)[1:-1][:30], readable(value)[:30]] if value else ["''", "empty"]
        if flag.nargs == 0:  # the value is a word of its own: it, or one after it, is too many
            shown += needed
        elsewhere = ["/gone/", "standard input"]  # taken, it can lead to what is not there
        assert any(one in ended.said for one in (*names(flag), *shown, *elsewhere)), ended.said

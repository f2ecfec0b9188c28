"""What a person sees while a command runs: notes, tables and progress bars, all on stderr.

Results that programs read go to stdout (see :func:`emit`); everything else goes to stderr, so that
a pipe carries results only. Where stderr is not a terminal, a progress bar becomes a plain line
now and then, so that a log file stays readable.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column, Table
from rich.text import Text

_LINE_EVERY_S = 15.0
_SHORT_S = 2.0  # what takes less is not worth a line in a log

_muted = False
console = Console(stderr=True, highlight=False, soft_wrap=True)


def note(text: str) -> None:
    """One line of information."""
    console.print(escape(text))


@contextmanager
def muted() -> Iterator[None]:
    """No warnings inside: they would be about something that the user did not ask for."""
    global _muted  # noqa: PLW0603 - one console, one switch
    before, _muted = _muted, True
    try:
        yield
    finally:
        _muted = before


def silence() -> None:
    """Nothing more is shown or written: another process of the same run speaks for all."""
    console.quiet = True


def warn(text: str) -> None:
    """One line that the user should not miss."""
    if _muted:
        return
    console.print(f"[yellow]warning:[/yellow] {escape(text)}")


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; the first column is text, the others are aligned right when numeric."""
    grid = Table(
        title=escape(title) or None, title_justify="left", title_style="bold",
        show_header=any(columns),
    )  # fmt: skip
    body = [[_cell(value) for value in row] for row in rows]
    numeric = [all(_is_number(row[i]) for row in body) for i in range(len(columns))]
    for name, right in zip(columns, numeric, strict=True):
        grid.add_column(escape(name), justify="right" if right else "left", overflow="fold")
    for row in body:
        grid.add_row(*(escape(value) for value in row))
    console.print(grid)


def emit(value: Any) -> None:
    """Write one JSON object on a line of stdout, for programs."""
    if console.quiet:
        return
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    # A lone surrogate in a user's text must not make the output fail; nor a stdout that is closed,
    # which print takes for a wish to see nothing.
    print(text.encode("utf-8", errors="backslashreplace").decode("utf-8"), flush=True)


def _cell(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def _is_number(text: str) -> bool:
    return text.replace(",", "").replace(".", "").replace("%", "").strip().lstrip("-").isdigit()


class _Message(ProgressColumn):
    """What changes beside a bar, in as much room as the other columns leave."""

    def render(self, task: Task) -> Text:
        """One line, cut at its end."""
        return Text(str(task.fields["message"]), no_wrap=True, overflow="ellipsis")


def bar_columns() -> list[ProgressColumn]:
    """The columns of a bar: count and times whole at 80 characters; the message gives way.

    What was done of how much and the times come before the message, which alone is shortened
    where the terminal is narrow.
    """
    return [
        TextColumn("{task.description}", table_column=Column(no_wrap=True)),
        BarColumn(bar_width=10),
        MofNCompleteColumn(table_column=Column(no_wrap=True)),
        TimeElapsedColumn(table_column=Column(no_wrap=True)),
        TimeRemainingColumn(compact=True, table_column=Column(no_wrap=True)),
        _Message(),  # its column may shrink, its text does not wrap
    ]


class Bar:
    """A progress bar with a message that changes, used as a context manager.

    Args:
        what: what is being done, such as ``"pre-training"``.
        total: number of units until it is done, or None where it is not known.
        done: units already done when the bar starts, after a resume for instance.
    """

    def __init__(self, what: str, total: float | None, done: float = 0.0) -> None:
        self.what, self.total, self.done = what, total, done
        self._message = ""
        self._started = self._said = time.monotonic()
        self._progress: Progress | None = None
        self._task = TaskID(0)

    def __enter__(self) -> Bar:
        if console.is_terminal:
            self._progress = Progress(
                *bar_columns(),
                console=console,
            )
            self._progress.start()
            self._task = self._progress.add_task(
                escape(self.what), total=self.total, completed=int(self.done), message=""
            )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._progress:
            self._progress.stop()
        elif kind is None and time.monotonic() - self._started > _SHORT_S:
            self._say()

    def advance(self, amount: float = 1.0, message: str | None = None) -> None:
        """Move the bar by ``amount`` units and, where given, change its message."""
        self.done += amount
        self._message = self._message if message is None else message
        if self._progress:
            self._progress.update(
                self._task, completed=self.done, total=self.total, message=self._message
            )
        elif time.monotonic() - self._said > _LINE_EVERY_S:
            self._say()

    def _say(self) -> None:
        self._said = time.monotonic()
        share = f"{self.done:,.0f}" + (f"/{self.total:,.0f}" if self.total else "")
        note(f"{self.what}: {share}  {self._message}  {self._said - self._started:.0f} s".rstrip())

"""What a person sees on a terminal of 80 columns."""

from __future__ import annotations

import io

from rich.console import Console
from rich.progress import Progress

from bertsmith.common.console import bar_columns


def test_count_and_times_are_whole_at_80_columns() -> None:
    out = io.StringIO()
    screen = Console(file=out, width=80, force_terminal=True, color_system=None)
    progress = Progress(*bar_columns(), console=screen)
    message = "masked_lm_loss 5.123  next_sentence_loss 0.693  12,345 tokens/s  peak 45 %"
    task = progress.add_task("pre-training", total=1_000_000, message=message)
    progress.update(task, completed=123_456)
    screen.print(progress.get_renderable())
    lines = [line for line in out.getvalue().splitlines() if line.strip()]
    assert len(lines) == 1
    assert len(lines[0]) <= 80
    assert "pre-training" in lines[0]
    assert " 123456/1000000 " in lines[0]
    assert "0:00:00" in lines[0]
    assert "--:--" in lines[0]
    assert "masked_lm_loss 5.123" in lines[0]

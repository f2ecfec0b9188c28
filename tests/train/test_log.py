from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest

from bertsmith.common.errors import InputError, TrainingError
from bertsmith.reports.html import write_report
from bertsmith.train.log import METRICS, MetricsLog, read_metrics


def written(folder: Path, steps: range, start: int = 0) -> None:
    log = MetricsLog(folder, start)
    for step in steps:
        log.write({"step": step, "loss": 1.0 / step})
    log.close()


def steps_of(folder: Path) -> list[int]:
    return [record["step"] for record in read_metrics(folder / METRICS)]


def test_a_resumed_run_has_each_step_once(tmp_path) -> None:
    written(tmp_path, range(1, 8))
    with (tmp_path / METRICS).open("a") as stream:
        stream.write('{"step": 8, "lo')  # killed while it wrote
    assert steps_of(tmp_path) == [1, 2, 3, 4, 5, 6, 7]
    written(tmp_path, range(5, 11), start=4)
    assert steps_of(tmp_path) == list(range(1, 11))


def test_the_evaluation_after_the_last_checkpoint_is_not_repeated(tmp_path) -> None:
    written(tmp_path, range(1, 4))
    for _ in range(2):
        log = MetricsLog(tmp_path, 3)
        log.write({"step": 3, "held_out": {"masked_lm_loss": 2.0}})
        log.close()
    assert steps_of(tmp_path) == [1, 2, 3, 3]


def test_a_new_run_forgets_an_old_log(tmp_path) -> None:
    written(tmp_path, range(1, 4))
    written(tmp_path, range(1, 2))
    assert steps_of(tmp_path) == [1]


def test_every_line_is_strict_json_at_once(tmp_path) -> None:
    log = MetricsLog(tmp_path)
    log.write({"step": 1, "loss": float("nan"), "held_out": {"perplexity": float("inf")}})
    line = (tmp_path / METRICS).read_text()
    log.close()
    assert line.endswith("\n")
    record = json.loads(line, parse_constant=pytest.fail)
    assert record == {"step": 1, "loss": None, "held_out": {"perplexity": None}}


def test_tensorboard_events(tmp_path) -> None:
    written(tmp_path, range(1, 4))
    events = list((tmp_path / "tensorboard").iterdir())
    assert events
    assert b"train/loss" in b"".join(path.read_bytes() for path in events)


def test_a_damaged_line_is_named(tmp_path) -> None:
    (tmp_path / METRICS).write_text('{"step": 1}\n{"ste\n{"step": 3}\n')
    with pytest.raises(InputError, match=rf"{METRICS}:2: "):
        read_metrics(tmp_path / METRICS)
    assert read_metrics(tmp_path / "nothing") == []


def test_a_full_disk(tmp_path, monkeypatch) -> None:
    log = MetricsLog(tmp_path)
    with Path("/dev/full").open("ab", buffering=0) as full:
        monkeypatch.setattr(log, "_stream", full)
        with pytest.raises(TrainingError, match="No space left"):
            log.write({"step": 1, "loss": 1.0})
    log.close()


@pytest.mark.parametrize("field", ["step", "loss", "learning_rate"])
def test_a_number_that_no_float_holds_is_no_traceback(tmp_path: Path, field: str) -> None:
    record = {"step": 1, "loss": 2.5, "learning_rate": 0.1}
    huge = json.dumps({**record, field: 10**400})
    (tmp_path / "metrics.jsonl").write_text(json.dumps(record) + "\n" + huge + "\n")
    (tmp_path / "summary.json").write_text('{"task": "pre-training"}')
    with contextlib.suppress(InputError):  # said, or left out of the picture
        write_report(tmp_path)

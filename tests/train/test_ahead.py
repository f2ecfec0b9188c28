"""Batches made ahead: the same by a thread and by processes."""

from __future__ import annotations

import os
import signal
import time

import pytest
import torch

from bertsmith.common.errors import CorpusError
from bertsmith.train.ahead import ahead, choose_workers


@pytest.mark.parametrize("workers", [1, 3])
def test_batches_come_in_order_and_errors_come_through(workers: int) -> None:
    def make(number: int) -> int:
        if number == 5:
            raise CorpusError("five", mend="take another")
        return number * 10

    assert list(ahead(make, 2, 5, workers)) == [(2, 20), (3, 30), (4, 40)]
    assert list(ahead(make, 3, 3, workers)) == []
    with pytest.raises(CorpusError, match="five"):
        list(ahead(make, 4, 7, workers))


@pytest.mark.parametrize("workers", [1, 2])
def test_those_before_an_error_are_used(workers: int) -> None:
    def make(number: int) -> int:
        return 10 // (7 - number)

    made = ahead(make, 5, 9, workers)
    assert [next(made), next(made)] == [(5, 5), (6, 10)]
    with pytest.raises(ZeroDivisionError):
        next(made)


def test_processes_make_them_with_one_thread_each() -> None:
    def make(number: int) -> tuple[torch.Tensor, int, int]:
        return torch.full((3,), number), os.getpid(), torch.get_num_threads()

    found = [batch for _, batch in ahead(make, 0, 8, 2)]
    assert [one[0].tolist() for one in found] == [[n] * 3 for n in range(8)]
    assert os.getpid() not in {one[1] for one in found}
    assert {one[2] for one in found} == {1}


def test_ctrl_c_is_for_the_run_to_answer() -> None:
    made = ahead(lambda _: os.getpid(), 0, 1000, 2)
    _, process = next(made)
    os.kill(process, signal.SIGINT)
    assert os.getpid() not in [next(made)[1] for _ in range(100)]
    made.close()


@pytest.mark.parametrize("kind", [signal.SIGKILL, signal.SIGTERM])
def test_one_that_is_killed_loses_no_batch(
    kind: signal.Signals, capfd: pytest.CaptureFixture[str]
) -> None:
    def make(number: int) -> tuple[int, int]:
        time.sleep(0.01)
        return number, os.getpid()

    made = ahead(make, 0, 60, 2)
    _, (_, process) = next(made)
    os.kill(process, kind)
    rest = [batch for _, batch in made]
    assert [number for number, _ in rest] == list(range(1, 60))
    assert rest[-1][1] == os.getpid()
    assert "a thread makes the rest" in capfd.readouterr().err


def test_who_makes_them() -> None:
    assert choose_workers(0, torch.device("cpu")) == 1
    assert choose_workers(0, torch.device("cuda")) == 4
    assert choose_workers(7, torch.device("cuda")) == 7

"""The loop in two real processes that talk over gloo, on batches made for the purpose."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from torch import multiprocessing, nn

from bertsmith.common.errors import SettingsError, TrainingError
from bertsmith.train.loop import Step, Trainer
from bertsmith.train.processes import Processes, bounds, dealt, joined, launched
from tests.data import ROOT
from tests.end_to_end.launch import free_port
from tests.train.test_loop import Rows, objective, rows


@pytest.fixture(scope="module")
def both(tmp_path_factory) -> list[dict]:
    """What each of two processes gets: started once for all of this file, it takes its time."""
    folder = tmp_path_factory.mktemp("both")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT)  # they import this file, and take the path along
        multiprocessing.spawn(_work, (folder, free_port()), 2)
    return [torch.load(folder / str(rank), weights_only=False) for rank in range(2)]


def _work(rank: int, folder: Path, port: int) -> None:
    os.environ |= {
        "RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
    }  # fmt: skip
    torch.set_num_threads(1)
    with joined() as processes:
        found = {work.__name__: work(processes) for work in (uneven, empty, talk, fail_first)}
    torch.save(found, folder / str(rank))
    os._exit(0)  # as the command does, for the reason that is told there


def share(batch: Rows, stop: int, rank: int) -> Rows:
    part = slice(0, stop) if rank == 0 else slice(stop, None)
    return Rows(batch.x[part], batch.y[part])


def model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 2))


def steps(processes: Processes, batches: list[Rows]) -> tuple[list[Step], dict]:
    net = model()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    trainer = Trainer(net, objective, optimizer, 0, 2, 1.0, processes=processes)
    done = [trainer.step(number, batch, 0.1) for number, batch in enumerate(batches)]
    return done, {"empty": trainer.empty_batches, **net.state_dict()}


def uneven(processes: Processes):
    """One target in the first share, three in the second; then one and eight."""
    batches = [share(rows(4), 1, processes.rank), share(rows(9, 2), 1, processes.rank)]
    return steps(processes, batches)


def empty(processes: Processes):
    """No target at all; then targets in the second share only; then a spare share."""
    nothing = share(rows(4), 2, processes.rank)
    nothing.y[:] = -1
    half = share(rows(4, 3), 2, processes.rank)
    spare = share(rows(3, 4), 3, processes.rank) if processes.is_first else rows(2, 5)
    if processes.is_first:
        half.y[:] = -1
    else:
        spare.spare = True
        spare.counts = {}
    return steps(processes, [nothing, half, counted(spare)])


def counted(batch: Rows) -> Rows:
    """A spare batch has no targets, as those of tasks have none."""
    return Spare(batch.x, batch.y) if batch.spare else batch


class Spare(Rows):
    spare = True

    @property
    def targets(self) -> dict[str, int]:
        return {"rows": 0}

    @property
    def tokens(self) -> int:
        return 0


def assert_same(found: dict, weights: dict) -> None:
    assert found["empty"] == weights["empty"]
    names = weights.keys() - {"empty"}
    assert all(torch.allclose(found[name], weights[name], atol=1e-5) for name in names)


def test_every_target_weighs_the_same(both) -> None:
    """Case R03 in two processes: shares with 1 and 3 targets, and with 1 and 8."""
    expected, weights = steps(Processes(), [rows(4), rows(9, 2)])
    for done, found in [one["uneven"] for one in both]:
        for one, other in zip(done, expected, strict=True):
            assert one.loss == pytest.approx(other.loss, abs=1e-6)
            assert one.gradient_norm == pytest.approx(other.gradient_norm, abs=1e-5)
            assert (one.tokens, one.accuracies) == (other.tokens, other.accuracies)
        assert_same(found, weights)


def test_nothing_to_predict(both) -> None:
    """Case R05 in two processes: no target is loss 0, a zero gradient and an empty batch counted;
    targets in one share only, and a share that is spare, are as in one process.
    """
    nothing = rows(4)
    nothing.y[:] = -1
    half = rows(4, 3)
    half.y[:2] = -1
    expected, weights = steps(Processes(), [nothing, half, rows(3, 4)])
    for done, found in [one["empty"] for one in both]:
        assert (done[0].loss, done[0].gradient_norm) == (0.0, 0.0)
        assert found["empty"] == 1
        assert [one.loss for one in done] == pytest.approx([one.loss for one in expected], abs=1e-6)
        assert [one.tokens for one in done] == [4, 4, 3]
        assert_same(found, weights)


def talk(processes: Processes) -> tuple:
    return (
        processes.sums({"a": processes.rank + 1.5, "b": 2}),
        processes.most(7 * processes.rank),
        processes.of_first(4.25 + processes.rank),
        processes.gather("ab"[processes.rank]),
        processes.first(lambda: {"from": processes.rank}),
    )


def test_what_they_tell_each_other(both) -> None:
    expected = ({"a": 4.0, "b": 4.0}, 7, 4.25, ["a", "b"], {"from": 0})
    assert [one["talk"] for one in both] == [expected, expected]


def fail_first(processes: Processes) -> str:
    def action() -> None:
        raise TrainingError("no room")

    try:
        processes.first(action)
    except TrainingError as error:
        return error.message
    except SystemExit as ended:
        return f"status {ended.code}"
    return "went on"


def test_an_error_of_the_first_ends_all(both) -> None:
    """The first raises it; the others end with status 2 and do not wait for ever."""
    assert [one["fail_first"] for one in both] == ["no room", "status 2"]


def test_shares_go_round() -> None:
    for items in range(12):
        for shares in range(1, 6):
            found = [range(*bounds(items, one, shares)) for one in range(shares)]
            assert [item for one in found for item in one] == list(range(items))
            assert max(map(len, found)) - min(map(len, found)) <= 1
            ways = [list(dealt(range(items), Processes(one, shares))) for one in range(shares)]
            assert sorted(item for way in ways for item, counts in way if counts) == list(
                range(items)
            )
            assert len({len(way) for way in ways}) == 1


@pytest.mark.parametrize(("rank", "size"), [("2", "2"), ("-1", "2"), ("x", "2"), ("0", "two")])
def test_an_environment_that_makes_no_sense(monkeypatch, rank: str, size: str) -> None:
    for name, value in (
        ("RANK", rank),
        ("WORLD_SIZE", size),
        ("MASTER_ADDR", "h"),
        ("MASTER_PORT", "1"),
    ):
        monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match="how the processes find each other"):
        launched()

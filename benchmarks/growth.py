"""How cost, start-up and memory grow with a corpus: the real commands on made text of some sizes.

    python benchmarks/growth.py --sizes 10 100 1000

The text is made from a seed: words of syllables with frequencies of Zipf's law, a sentence a line,
documents of 20 sentences on average. One vocabulary of 30,522 pieces serves all sizes, so that only
the size differs; one word in ten is not in it. Sizes take turns, every command is a new process.
"Own memory" is that of no file (anonymous pages), looked at fifty times a second; libraries and
mapped shards come on top, which the system can drop. Files are in its cache. It reads /proc, so it
runs on Linux only.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bertsmith.bench.figures import Spread
from bertsmith.bench.machine import describe
from bertsmith.bench.rounds import rotated
from bertsmith.bench.table import spread
from bertsmith.common.console import note
from bertsmith.text.tokenizer import Tokenizer
from bertsmith.text.vocabulary import SPECIAL

_RANKS, _PIECES = 100_000, 30_522  # words that there are, and pieces for them
_SYLLABLES = tuple(one + other for one in "bdklmnprst" for other in "ao")
_SENTENCES = 1000  # made at once
_LENGTH, _SEQUENCES = 128, 32
_FAR, _NEVER = (10**6, 10**8), str(10**8)  # steps
_LOOK_EVERY_S = 0.02
_OWN, _OF_FILES = "RssAnon", "RssFile"  # memory, by the kernel's names
_BERTSMITH = (sys.executable, "-m", "bertsmith")


def word(rank: int) -> str:
    """Frequent words are short."""
    rest, last = divmod(rank, len(_SYLLABLES))
    return (word(rest) if rest else "") + _SYLLABLES[last]


def make_tokenizer() -> Tokenizer:
    """The most frequent words, and the syllables that others end in."""
    ends = ["##" + one for one in _SYLLABLES]
    others = [*SPECIAL, ".", *ends]
    return Tokenizer([*others, *map(word, range(_PIECES - len(others)))])


def make_text(path: Path, megabytes: float) -> None:
    """Text of that size; a larger one begins with a smaller one."""
    words = np.array([word(rank) for rank in range(_RANKS)])
    size = block = 0
    with path.open("w") as file:
        while size < megabytes * 1e6:
            rng = np.random.default_rng([0, block])
            ends = np.cumsum(rng.integers(5, 31, _SENTENCES))
            ranks = np.exp(rng.random(ends[-1]) * np.log(_RANKS)).astype(int) - 1
            some, start = words[ranks].tolist(), 0
            for end, last in zip(ends.tolist(), rng.random(_SENTENCES) < 1 / 20, strict=True):
                size += file.write(" ".join(some[start:end]) + (" .\n\n" if last else " .\n"))
                start = end
            block += 1


def resident(process: int, kind: str) -> int:
    """Bytes of a kind that a process has in memory; 0 if it has ended."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith(f"{kind}:"):
                return 1024 * int(line.split()[1])
    return 0


def in_session(leader: int) -> Iterable[int]:
    """The processes of a session."""
    for one in map(int, filter(str.isdigit, os.listdir("/proc"))):
        with contextlib.suppress(OSError):
            if os.getsid(one) == leader:
                yield one


@dataclass(frozen=True)
class Ran:
    """What a command took, with all that it started, and what it wrote."""

    seconds: float
    processor: float
    memory: int
    output: str


def run(
    command: Sequence[str], until: Callable[[], bool] | None = None, ending: int = signal.SIGKILL
) -> Ran:
    """Run a command to its end; or until ``until`` says so (seconds are till then), and end it."""
    seconds, memory, done = 0.0, 0, 0
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as log:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=log, start_new_session=True)
        try:
            while not done:
                time.sleep(_LOOK_EVERY_S)
                done, status, used = os.wait4(process.pid, os.WNOHANG)
                now = time.perf_counter() - started
                if not done and until and not seconds and until():
                    seconds = now
                    os.kill(process.pid, ending)
                memory = max(memory, sum(resident(one, _OWN) for one in in_session(process.pid)))
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        log.seek(0)
        if (until and not seconds) or (process.returncode and not until):
            raise RuntimeError(f"{list(command)}: {log.read()[-1000:]}")
        return Ran(seconds or now, used.ru_utime + used.ru_stime, memory, output.read())


def make_batches(corpus: str, count: int, started: float) -> None:
    """Make the first batch, and ``count`` batches of each kind; figures as JSON on stdout.

    ``started`` is when the process was, by ``perf_counter``, which is one clock for all processes.
    """
    from bertsmith.corpus.corpus import Corpus
    from bertsmith.pretrain.batches import Batches
    from bertsmith.pretrain.settings import PretrainSettings

    settings = PretrainSettings(steps=1, batch_size=_SEQUENCES)
    imported = time.perf_counter()
    opened = Corpus.open(Path(corpus))
    source = Batches.of(settings, opened, opened.tokenizer(), _LENGTH, True)
    source.batch(0)
    now = time.perf_counter()
    found = {"first batch: s": now - started, "first batch: s without imports": now - imported}
    far = np.random.default_rng(0).integers(*_FAR, count).tolist()
    for kind, steps in (("", range(count)), ("first", range(count)), ("far", far)):
        begun = time.process_time()
        tokens = sum(source.batch(step).tokens for step in steps)
        if kind:  # all else was to get warm
            spent = 1e6 * (time.process_time() - begun)
            found[f"batches, {kind} steps: processor µs a token"] = spent / tokens
    found["batches: libraries and shards in memory, MB"] = resident(os.getpid(), _OF_FILES) / 1e6
    print(json.dumps(found))


@dataclass
class Growth:
    """Measures texts of some sizes and keeps all figures by name and size."""

    folder: Path
    sizes: list[str]
    count: int
    found: dict[str, dict[str, list[float]]] = field(default_factory=dict)

    def each(self, rounds: int, step: Callable[[str, Path], dict[str, float]]) -> None:
        """Do a step with all sizes in turn, so many times."""
        for number in range(rounds):
            for size in rotated(self.sizes, number):
                note(f"round {number + 1} of {rounds}: {step.__name__}, {size}")
                for name, value in step(size, self.folder / size).items():
                    self.found.setdefault(name, {}).setdefault(size, []).append(value)

    def build(self, size: str, place: Path) -> dict[str, float]:
        """Build the corpus, anew."""
        out = place / "corpus"
        shutil.rmtree(out, ignore_errors=True)
        vocabulary = ["--vocab", str(self.folder / "tokenizer"), "--format", "sentences"]
        text = str(self.folder / f"{size}.txt")
        ran = run([*_BERTSMITH, "corpus", text, "--out", str(out), *vocabulary])
        parts = json.loads((out / "manifest.json").read_text())["parts"].values()
        tokens = sum(one["tokens"] for one in parts) / 1e6
        return {
            "documents": sum(one["documents"] for one in parts),
            "million tokens": tokens,
            "build: processor s a million tokens": ran.processor / tokens,
            "build: s a million tokens": ran.seconds / tokens,
            "build: s": ran.seconds,
            "build: own memory of all processes, MB": ran.memory / 1e6,
        }

    def batches(self, _: str, place: Path) -> dict[str, float]:
        """Make batches."""
        given = f"{str(place / 'corpus')!r}, {self.count}, {time.perf_counter()}"
        ran = run([sys.executable, "-c", f"import growth; growth.make_batches({given})"])
        return {**json.loads(ran.output), "batches: own memory, MB": ran.memory / 1e6}

    def pretrain(self, _: str, place: Path) -> dict[str, float]:
        """Make the first step of a run, and the first after its checkpoint."""
        log = place / "run" / "metrics.jsonl"
        command = [
            *_BERTSMITH, "pretrain", str(place / "corpus"), "--out", str(place / "run"),
            "--steps", _NEVER, "--preset", "tiny", "--batch-size", str(_SEQUENCES),
            "--lengths", str(_LENGTH), "--length-shares", "1",
            "--log-every", "1", "--checkpoint-every", _NEVER,
        ]  # fmt: skip
        new = run(command, lambda: _records(log) > 0, signal.SIGINT)
        kept = _records(log)
        resumed = run(command, lambda: _records(log) > kept)
        shutil.rmtree(place / "run")
        return {
            "pretrain, new: s to the first step": new.seconds,
            "pretrain, resumed: s to the first step": resumed.seconds,
            "pretrain, resumed: own memory, MB": resumed.memory / 1e6,
        }

    def table(self) -> str:
        """A line a figure: median, least and most; and how many times that of the first size."""
        first, *others = self.sizes
        head = ["", *self.sizes, *(f"{one} / {first}" for one in others)]
        grid = [head, ["---"] * len(head)]
        for name, by_size in self.found.items():
            spreads = [Spread.of(by_size[size]) for size in self.sizes]
            cells = [spread(one).split()[: 1 + (one.low < one.high)] for one in spreads]
            times = [f"{one.median / spreads[0].median:.2f}" for one in spreads[1:]]
            grid.append([name, *map(" ".join, cells), *times])
        return "\n".join("| " + " | ".join(cells) + " |" for cells in grid)


def _records(log: Path) -> int:
    return log.read_bytes().count(b"\n") if log.exists() else 0


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=float, nargs="+", default=[10, 100, 1000], help="MB")
    parser.add_argument("--builds", type=int, default=1, help="times that corpora are built")
    parser.add_argument("--rounds", type=int, default=5, help="times that all else is done")
    parser.add_argument("--batches", type=int, default=200, help="batches a round")
    arguments = parser.parse_args()
    # So that other processes find this file as a module.
    paths = (str(Path(__file__).parent.absolute()), os.environ.get("PYTHONPATH"))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    where = describe(dict(os.environ))
    with tempfile.TemporaryDirectory(prefix="bertsmith-growth-") as folder:
        sizes = {f"{one:g} MB": one for one in sorted(arguments.sizes)}
        growth = Growth(Path(folder), list(sizes), arguments.batches)
        make_tokenizer().save(growth.folder / "tokenizer")
        for name, megabytes in sizes.items():
            make_text(growth.folder / f"{name}.txt", megabytes)
        growth.each(arguments.builds, growth.build)
        growth.each(arguments.rounds, growth.batches)
        growth.each(arguments.rounds, growth.pretrain)
        print(growth.table())
    print(f"\n{where['cpu']}; cores: {where['cores']}", end=", ")
    print(f"builds: {arguments.builds}, rounds: {arguments.rounds}", end="; ")
    print(f"Python {where['python']}, torch {where['versions']['torch']}, numpy {np.__version__}")


if __name__ == "__main__":
    main()

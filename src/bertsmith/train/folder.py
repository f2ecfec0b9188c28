"""The folder of a run: settings, checkpoints, summary; who may write there, and what goes on."""

from __future__ import annotations

import fcntl
import re
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

import torch

from bertsmith.common import strict_json
from bertsmith.common.console import warn
from bertsmith.common.errors import CheckpointError, InputError, SettingsError
from bertsmith.common.files import write_json, write_text
from bertsmith.common.settings import DataclassType, differences, of_recipe, to_toml
from bertsmith.train.processes import ALONE, Processes
from bertsmith.train.source import Source
from bertsmith.train.state import Snapshot, State, latest_state, load_state, save_state

_CONFIG, _RECORD, _SUMMARY = "config.toml", "run.json", "summary.json"
_CHECKPOINTS = "checkpoints"
_PUT_BACK = "put the file back, or give another --out"
_PARTS = "_parts"  # of a source, in the record


class RunFolder:
    """A run folder, locked for this run until it is closed.

    Of several processes the first alone writes; all have to see the folder.

    Attributes:
        path: the folder.
        record: what ``run.json`` holds beside the settings: sources, versions, micro-batch.
        processes: those of the run.
    """

    def __init__(self, path: Path, keep: int, processes: Processes) -> None:
        self.path, self._keep, self.processes = path, keep, processes
        self.record: dict[str, Any] = {}
        self._lock: IO[str] | None = None

    @classmethod
    def open(
        cls,
        path: Path,
        settings: DataclassType,
        sources: Mapping[str, Source],
        *,
        keep: int,
        resume: bool = False,
        processes: Processes = ALONE,
    ) -> RunFolder:
        """Make the folder, or check that the run in it is the one that is asked for.

        Args:
            path: the folder.
            settings: the settings in force.
            sources: by name, what the run is made from.
            keep: checkpoints to keep.
            resume: whether there has to be a run.
            processes: those of the run.

        Raises:
            SettingsError: the folder holds something else, or a run with other settings, or is
                written to by another process, or there is nothing to resume.
            InputError: a source is not the one that the run began with.
        """
        folder = cls(path, keep, processes)
        folder.record = processes.first(lambda: folder._begin(settings, sources, resume))
        return folder

    def _begin(
        self, settings: DataclassType, sources: Mapping[str, Source], resume: bool
    ) -> dict[str, Any]:
        path = self.path
        if path.exists() and not path.is_dir():
            raise SettingsError("the run folder is a file", file=path, mend="give another --out")
        if not (path / _CONFIG).exists():
            _check_empty(path, resume)
            path.mkdir(parents=True, exist_ok=True)
        self._lock = _lock(path)
        if (path / _CONFIG).exists():
            _check_same(path, settings)
        else:
            write_text(path / _CONFIG, to_toml(settings, "Settings of this run; itself a recipe."))
        self.record = _read_json(path / _RECORD) if (path / _RECORD).exists() else {}
        if self.record:
            _check_sources(path, self.record, sources)
        elif (path / _CHECKPOINTS).exists():
            raise InputError(
                "what the run began with is not known any more", file=path / _RECORD, mend=_PUT_BACK
            )
        else:  # it begins, or was killed before this was written, which is one write
            self.record = _beginning(sources)
            write_json(path / _RECORD, self.record)
        return self.record

    @staticmethod
    def began_with(path: Path, source: str) -> Path | None:
        """Where the run in ``path`` took a source from; None where it had none of that name."""
        place = _read_json(path / _RECORD).get(source) if (path / _RECORD).exists() else None
        return Path(place) if place else None

    def close(self) -> None:
        """Let others write to the folder."""
        if self._lock is not None:
            self._lock.close()

    def remember(self, key: str, value: Any) -> Any:
        """The value that the run began with; ``value`` of the first process where it begins now."""
        return self.processes.first(lambda: self._remember(key, value))

    def _remember(self, key: str, value: Any) -> Any:
        if key not in self.record:
            self.record[key] = value
            write_json(self.path / _RECORD, self.record)
        return self.record[key]

    def finished_summary(self) -> dict[str, Any] | None:
        """The summary of a run that has come to its end, else None."""
        path = self.path / _SUMMARY
        return self.processes.first(lambda: _read_json(path) if path.exists() else None)

    def write_summary(self, summary: dict[str, Any]) -> None:
        """Record the end of the run; for the first process alone."""
        write_json(self.path / _SUMMARY, summary)

    def save(
        self,
        step: int,
        model: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        extra: dict[str, Any],
    ) -> None:
        """Write the checkpoint of ``step``."""
        snapshot = Snapshot.of(model, optimizer)
        root, keep = self.path / _CHECKPOINTS, self._keep
        self.processes.first(lambda: save_state(root, step, snapshot, extra, keep=keep))

    def restore(
        self, model: torch.nn.Module, optimizer: torch.optim.Optimizer, resume: str | None
    ) -> dict[str, Any] | None:
        """Load the latest whole checkpoint, or the one named; None where the run begins.

        Broken checkpoints that are passed over are named in warnings.
        """
        root = self.path / _CHECKPOINTS
        if resume in (None, "latest"):
            state = self.processes.first(lambda: _latest(root, resume is not None))
            if state is None:
                return None
        else:
            state = self.processes.first(lambda: load_state(root / Path(str(resume)).name))
        state.restore(model, optimizer)
        return dict(state.extra)


def _latest(root: Path, needed: bool) -> State | None:
    found, problems = latest_state(root)
    for problem in problems:
        warn(problem)
    if found is None and needed:
        raise CheckpointError("there is no checkpoint to resume from", file=root)
    return found


def _check_empty(path: Path, resume: bool) -> None:
    if resume:
        raise SettingsError("there is no run to resume", file=path, mend="check --out")
    # All that is left of a run that was killed before its settings were written.
    left = re.compile(r"\.lock|\.(config\.toml|run\.json)\..*\.part")
    if path.exists() and any(not left.fullmatch(entry.name) for entry in path.iterdir()):
        raise SettingsError(
            "the folder holds something that is not a run", file=path, mend="give another --out"
        )


def _beginning(sources: Mapping[str, Source]) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for name, source in sources.items():
        record |= {name: source.place, name + _PARTS: dict(source.parts)}
    return {**record, "bertsmith": version("bertsmith"), "torch": torch.__version__}


def _check_sources(path: Path, record: dict[str, Any], sources: Mapping[str, Source]) -> None:
    if not all(isinstance(one, dict) for key, one in record.items() if key.endswith(_PARTS)):
        raise InputError("the record of the run is damaged", file=path / _RECORD, mend=_PUT_BACK)
    began = {key.removesuffix(_PARTS) for key in record if key.endswith(_PARTS)}
    for name in began ^ sources.keys():
        was, now = ("with", "none") if name in began else ("without", "one")
        raise InputError(
            f"the run began {was} a {name}, and now there is {now}",
            file=path,
            mend="give the same arguments, or another --out",
        )
    for name, source in sources.items():
        if changes := source.changes(record[name + _PARTS]):
            raise InputError(
                f"the {name} is not the one that this run began with: {changes}",
                file=path,
                mend=f"the run began with {record.get(name)} as it was; use that, or another --out",
            )


def _check_same(path: Path, settings: DataclassType) -> None:
    kind = type(settings)
    before = of_recipe(kind, path / _CONFIG)
    if other := differences(before, settings):
        raise SettingsError(
            f"the folder holds a run with other settings: {'; '.join(other)}",
            file=path,
            mend="use --resume to go on with that run as it is, or give another --out",
        )


def _lock(path: Path) -> IO[str]:
    stream = (path / ".lock").open("w")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise SettingsError("another process is writing to this run", file=path) from None
    return stream


def _read_json(path: Path) -> dict[str, Any]:
    try:
        found = strict_json.loads(path.read_text("utf-8"))
        if not isinstance(found, dict):
            raise ValueError("it is no JSON object")
    except (ValueError, OSError) as error:
        raise SettingsError(f"the file can not be read: {error}", file=path) from None
    return found

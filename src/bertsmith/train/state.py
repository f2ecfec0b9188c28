"""Training state on disk: checkpoints that are whole or absent, and checked when they are read.

``checkpoints/step-00000100/`` holds ``model.safetensors``, ``optimizer.safetensors`` and
``state.json``, which records size and SHA-256 of the other two, the step, what the run had to
remember, what of the optimizer's state is not a tensor, and its own SHA-256. No pickles.
"""

from __future__ import annotations

import errno
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from bertsmith.checkpoints.replace import atomic_folder
from bertsmith.common import strict_json
from bertsmith.common.errors import CheckpointError
from bertsmith.common.files import sha256, write_json
from bertsmith.common.sealed import opened, sealed
from bertsmith.train.parallel import like, whole

_NAME = re.compile(r"step-(\d{8,})")
_LEFT_BY_KILLED_SAVES = ".step-*"  # the names that atomic_folder gives what is not finished
_FULL = (errno.ENOSPC, errno.EDQUOT)
MODEL, OPTIMIZER, STATE = "model.safetensors", "optimizer.safetensors", "state.json"


@dataclass(frozen=True)
class State:
    """A checkpoint that was read and found whole.

    Attributes:
        folder: where it came from.
        step: steps made before it was written.
        extra: what the run had to remember.
        weights: the model's parameters and buffers by name.
        optimizer: the optimizer's ``state_dict``.
        kind: the optimizer's class, empty where the checkpoint does not say.
    """

    folder: Path
    step: int
    extra: dict[str, Any]
    weights: dict[str, Tensor]
    optimizer: dict[str, Any]
    kind: str

    def restore(self, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """Put weights and optimizer state back, bit for bit.

        Raises:
            CheckpointError: the checkpoint is of another model or optimizer; neither is changed.
        """
        try:
            named = _named_tensors(model)
            _check_same_shapes(named, self.weights)
            if self.kind not in ("", type(optimizer).__name__):
                raise ValueError(f"its optimizer is {self.kind}, not {type(optimizer).__name__}")
            optimizer.load_state_dict(_laid_out(self.optimizer, optimizer))
        except (RuntimeError, ValueError, KeyError) as error:
            raise CheckpointError(
                f"the checkpoint is not one of this model and optimizer: {error}",
                file=self.folder,
            ) from None
        with torch.no_grad():
            for name, tensor in named.items():
                tensor.copy_(like(tensor, self.weights[name]))


@dataclass(frozen=True)
class Snapshot:
    """Whole tensors of a model and its optimizer, wherever their shares are.

    Attributes:
        weights: parameters and buffers by name, tied ones once.
        moments: the tensors of the optimizer's state.
        rest: what of its state is not a tensor.
    """

    weights: dict[str, Tensor]
    moments: dict[str, Tensor]
    rest: dict[str, Any]

    @classmethod
    def of(cls, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> Snapshot:
        """Take it; all processes have to call where weights are in shares."""
        moments, rest = _split(optimizer.state_dict())
        rest["kind"] = type(optimizer).__name__
        return cls(_plain(_named_tensors(model)), _plain(moments), rest)


def save_state(
    root: Path, step: int, snapshot: Snapshot, extra: Mapping[str, Any], *, keep: int
) -> Path:
    """Write the checkpoint of ``step`` under ``root``, then remove all before the last ``keep``.

    Files are written to a folder whose name no reader takes for a checkpoint, reach the disk, and
    only then get their name. A save that fails or is killed leaves the earlier checkpoints as they
    were. Checkpoints of later steps, which a run has that went back to an earlier one, are neither
    counted nor removed.

    Args:
        root: the folder of a run's checkpoints.
        step: steps made.
        snapshot: weights and the optimizer's state.
        extra: JSON values that the run has to remember.
        keep: number of checkpoints to keep, this one included; at least 1.

    Returns:
        The checkpoint's folder.

    Raises:
        CheckpointError: the disk is full, or the folder can not be written to.
    """
    if keep < 1:
        raise ValueError("at least one checkpoint is kept")
    final = root / f"step-{step:08d}"
    try:
        root.mkdir(parents=True, exist_ok=True)
        for left in root.glob(_LEFT_BY_KILLED_SAVES):
            shutil.rmtree(left)
        with atomic_folder(final) as part:
            _write(part, step, snapshot, extra)
        earlier = [folder for number, folder in _checkpoints(root) if number < step]
        for old in earlier[: max(0, len(earlier) - keep + 1)]:
            shutil.rmtree(old)
    except (OSError, SafetensorError) as error:
        raise _unwritable(error, final) from None
    return final


def _unwritable(error: Exception, folder: Path) -> CheckpointError:
    # safetensors has errors of its own, which carry the system's message only.
    full = getattr(error, "errno", None) in _FULL or "No space left" in str(error)
    problem = "the disk is full" if full else f"the checkpoint can not be written ({error})"
    remedy = "make room" if full else "make the folder writable"
    return CheckpointError(
        f"{problem}; earlier checkpoints are as they were",
        file=folder,
        mend=f"{remedy} and run the same command again: it goes on from the last checkpoint",
    )


def _write(part: Path, step: int, snapshot: Snapshot, extra: Mapping[str, Any]) -> None:
    save_file(snapshot.weights, part / MODEL)
    save_file(snapshot.moments, part / OPTIMIZER)
    files = {
        name: {"bytes": (part / name).stat().st_size, "sha256": sha256(part / name)}
        for name in (MODEL, OPTIMIZER)
    }
    record = {"step": step, "extra": dict(extra), "optimizer": snapshot.rest, "files": files}
    write_json(part / STATE, sealed(record))


def _plain(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors as safetensors takes them; one that is whole and contiguous is not copied."""
    return {name: whole(tensor.detach()).contiguous() for name, tensor in tensors.items()}


def _named_tensors(model: torch.nn.Module) -> dict[str, Tensor]:
    """Parameters and the buffers that a ``state_dict`` has, each once where modules share it."""
    lasting = model.state_dict().keys()
    buffers = {name: buffer for name, buffer in model.named_buffers() if name in lasting}
    return {**dict(model.named_parameters()), **buffers}


def _laid_out(state: dict[str, Any], optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """An optimizer's state in shares, where its weights are."""
    weights = [one for group in optimizer.param_groups for one in group["params"]]
    entries = {
        index: {
            name: like(weights[index], value)
            if isinstance(value, Tensor) and value.shape == weights[index].shape
            else value
            for name, value in values.items()
        }
        for index, values in state["state"].items()
        if index < len(weights)
    }
    return {**state, "state": entries}


def _check_same_shapes(model: Mapping[str, Tensor], saved: Mapping[str, Tensor]) -> None:
    if other := sorted(model.keys() ^ saved.keys()):
        raise ValueError(f"{other[0]} is in one of them only")
    for name, tensor in model.items():
        before = saved[name]
        if (before.shape, before.dtype) != (tensor.shape, tensor.dtype):
            raise ValueError(
                f"{name} is {list(before.shape)} of {before.dtype} in the checkpoint and "
                f"{list(tensor.shape)} of {tensor.dtype} in the model"
            )


def _split(state: dict[str, Any]) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors of an optimizer's state by ``number.name``, and the rest as JSON values."""
    tensors, numbers = {}, {}
    for index, entries in state["state"].items():
        for name, value in entries.items():
            if isinstance(value, Tensor):
                tensors[f"{index}.{name}"] = value
            else:
                numbers[f"{index}.{name}"] = value
    return tensors, {"numbers": numbers, "param_groups": state["param_groups"]}


def _join(tensors: Mapping[str, Tensor], rest: Mapping[str, Any]) -> dict[str, Any]:
    """The optimizer's state that :func:`_split` took apart."""
    state: dict[int, dict[str, Any]] = {}
    for key, value in [*tensors.items(), *rest["numbers"].items()]:
        index, name = key.split(".", 1)
        state.setdefault(int(index), {})[name] = value
    groups = [
        {name: _option(name, value) for name, value in group.items()}
        for group in rest["param_groups"]
    ]
    return {"state": state, "param_groups": groups}


def _option(name: str, value: Any) -> Any:
    """An option of a parameter group; JSON has made lists of tuples (``betas``)."""
    return tuple(value) if isinstance(value, list) and name != "params" else value


def load_state(folder: Path) -> State:
    """Read one checkpoint.

    Raises:
        CheckpointError: it is missing or broken; the message names the file.
    """
    if not folder.is_dir():
        raise CheckpointError("there is no such checkpoint", file=folder, mend=_others(folder))
    record = _read_record(folder / STATE)
    for name, known in record["files"].items():
        _verify(folder / name, known["bytes"], known["sha256"])
    return State(
        folder,
        record["step"],
        record["extra"],
        load_file(folder / MODEL),
        _join(load_file(folder / OPTIMIZER), record["optimizer"]),
        record["optimizer"].get("kind", ""),
    )


def _verify(path: Path, size: int, digest: str) -> None:
    try:
        found = path.stat().st_size
        if found != size:
            raise CheckpointError(f"the file has {found:,} bytes instead of {size:,}", file=path)
        if sha256(path) != digest:
            raise CheckpointError("the file's checksum is wrong: it was damaged", file=path)
    except OSError as error:
        raise _unreadable(error, path) from None


def _read_record(path: Path) -> dict[str, Any]:
    try:
        record = opened(strict_json.loads(path.read_text("utf-8")))
        for name in (MODEL, OPTIMIZER):
            int(record["files"][name]["bytes"]), str(record["files"][name]["sha256"])
        int(record["step"]), dict(record["extra"])
        dict(record["optimizer"]["numbers"]), list(record["optimizer"]["param_groups"])
    except OSError as error:
        raise _unreadable(error, path) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(f"the file is damaged: {error!r}", file=path) from None
    return record


def _unreadable(error: OSError, path: Path) -> CheckpointError:
    if isinstance(error, FileNotFoundError):
        return CheckpointError("the file is missing from the checkpoint", file=path)
    return CheckpointError(f"the file can not be read: {error.strerror}", file=path)


def _others(folder: Path) -> str | None:
    there = [path.name for _, path in _checkpoints(folder.parent)]
    return f"there are: {', '.join(there)}" if there else None


def latest_state(root: Path) -> tuple[State | None, list[str]]:
    """The newest whole checkpoint under ``root``, and a line for each broken one passed over.

    Raises:
        CheckpointError: there are checkpoints, and all are broken.
    """
    problems: list[str] = []
    for _, folder in reversed(_checkpoints(root)):
        try:
            return load_state(folder), problems
        except CheckpointError as error:
            problems.append(f"passed over the broken checkpoint {folder.name}: {error}")
    if problems:
        raise CheckpointError(
            "all checkpoints are broken: " + "; ".join(problems),
            file=root,
            mend="begin again with another --out",
        )
    return None, []


def _checkpoints(root: Path) -> list[tuple[int, Path]]:
    if not root.is_dir():
        return []
    found = [(match, path) for path in root.iterdir() if (match := _NAME.fullmatch(path.name))]
    return sorted((int(match[1]), path) for match, path in found)

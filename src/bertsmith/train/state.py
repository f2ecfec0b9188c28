"""Training state on disk: checkpoints that are whole or absent, and checked when they are read.

``checkpoints/step-00000100/`` holds ``model.safetensors``, ``optimizer.safetensors`` and
``state.json``, which records size and SHA-256 of the other two. No pickles.
"""

from __future__ import annotations

import errno
import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from bertsmith.common.errors import CheckpointError
from bertsmith.common.files import sha256, sync, write_json

_NAME = re.compile(r"step-(\d{8,})")
_PART = ".part-"
MODEL, OPTIMIZER, STATE = "model.safetensors", "optimizer.safetensors", "state.json"


@dataclass(frozen=True)
class State:
    """A checkpoint that was read and found whole.

    Attributes:
        folder: where it came from.
        step: steps made before it was written.
        extra: what the run had to remember.
        weights: the model's parameters by name.
        optimizer: the optimizer's ``state_dict``.
    """

    folder: Path
    step: int
    extra: dict[str, Any]
    weights: dict[str, torch.Tensor]
    optimizer: dict[str, Any]

    def restore(self, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
        """Put weights and optimizer state back, bit for bit.

        Raises:
            CheckpointError: the checkpoint is of another model or optimizer.
        """
        try:
            with torch.no_grad():
                parameters = dict(model.named_parameters())
                if parameters.keys() != self.weights.keys():
                    raise ValueError("other parameters")
                for name, weights in parameters.items():
                    weights.copy_(self.weights[name])
            optimizer.load_state_dict(self.optimizer)
        except (RuntimeError, ValueError, KeyError) as error:
            raise CheckpointError(
                f"the checkpoint is not one of this model and optimizer: {error}",
                file=self.folder,
            ) from None


def save_state(
    root: Path,
    step: int,
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    extra: dict[str, Any],
    *,
    keep: int,
) -> Path:
    """Write the checkpoint of ``step`` under ``root``, then remove all but the last ``keep``.

    Files are written to a folder whose name no reader takes for a checkpoint, reach the disk, and
    only then get their name. A full disk leaves the earlier checkpoints as they were.

    Raises:
        CheckpointError: the disk is full.
    """
    root.mkdir(parents=True, exist_ok=True)
    for left in root.glob(f"{_PART}*"):  # of a save that was killed
        shutil.rmtree(left)
    final, part = root / f"step-{step:08d}", root / f"{_PART}{step:08d}"
    try:
        part.mkdir()
        _write(part, step, model, optimizer, extra)
    except (OSError, SafetensorError) as error:
        shutil.rmtree(part, ignore_errors=True)
        full = getattr(error, "errno", None) == errno.ENOSPC or "No space left" in str(error)
        if not full:
            raise
        raise CheckpointError(
            "the disk is full; earlier checkpoints are whole",
            file=final,
            mend="make room and run the same command again: it goes on from the last checkpoint",
        ) from None
    if final.exists():  # of a run that was resumed from an earlier step
        shutil.rmtree(final)
    part.rename(final)
    sync(root)
    for _, old in _checkpoints(root)[:-keep]:
        shutil.rmtree(old)
    return final


def _write(
    part: Path,
    step: int,
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    extra: dict[str, Any],
) -> None:
    weights = {name: w.detach().contiguous() for name, w in model.named_parameters()}
    save_file(weights, part / MODEL)
    tensors, rest = _split(optimizer.state_dict())
    save_file(tensors, part / OPTIMIZER)
    files = {}
    for name in (MODEL, OPTIMIZER):
        sync(part / name)
        files[name] = {"bytes": (part / name).stat().st_size, "sha256": sha256(part / name)}
    record = {"step": step, "extra": extra, "optimizer": rest, "files": files}
    write_json(part / STATE, record)
    sync(part)


def _split(state: dict[str, Any]) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """The tensors of an optimizer's state by ``number.name``, and the rest as JSON values."""
    tensors, numbers = {}, {}
    for index, entries in state["state"].items():
        for name, value in entries.items():
            if isinstance(value, torch.Tensor):
                tensors[f"{index}.{name}"] = value.detach().contiguous()
            else:
                numbers[f"{index}.{name}"] = value
    return tensors, {"numbers": numbers, "param_groups": state["param_groups"]}


def _join(tensors: dict[str, torch.Tensor], rest: dict[str, Any]) -> dict[str, Any]:
    state: dict[int, dict[str, Any]] = {}
    for key, value in [*tensors.items(), *rest["numbers"].items()]:
        index, name = key.split(".", 1)
        state.setdefault(int(index), {})[name] = value
    return {"state": state, "param_groups": rest["param_groups"]}


def load_state(folder: Path) -> State:
    """Read one checkpoint.

    Raises:
        CheckpointError: it is missing or broken; the message names the file.
    """
    if not folder.is_dir():
        raise CheckpointError("there is no such checkpoint", file=folder)
    record = _read_record(folder / STATE)
    for name, known in record["files"].items():
        path = folder / name
        if not path.exists():
            raise CheckpointError("the file is missing from the checkpoint", file=path)
        if path.stat().st_size != known["bytes"]:
            raise CheckpointError(
                f"the file has {path.stat().st_size:,} bytes instead of {known['bytes']:,}",
                file=path,
            )
        if sha256(path) != known["sha256"]:
            raise CheckpointError("the file's checksum is wrong: it was damaged", file=path)
    optimizer = _join(load_file(folder / OPTIMIZER), record["optimizer"])
    return State(folder, int(record["step"]), record["extra"], load_file(folder / MODEL), optimizer)


def _read_record(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text("utf-8"))
        if not {MODEL, OPTIMIZER} <= record["files"].keys() or "step" not in record:
            raise ValueError("incomplete")
        return dict(record)
    except FileNotFoundError:
        raise CheckpointError("the file is missing from the checkpoint", file=path) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(f"the file is damaged: {error}", file=path) from None


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

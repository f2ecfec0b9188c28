"""One model in several processes: whole copies (DDP), or its weights in shares (FSDP2).

In both, a gradient is the sum over all processes, as losses are divided by the targets of the whole
global batch before; torch by itself would take the mean.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from bertsmith.train.processes import Processes

if TYPE_CHECKING:
    from torch.distributed.tensor import DTensor

M = TypeVar("M", bound=nn.Module)
LAYOUTS = ("ddp", "fsdp")


@dataclass(frozen=True)
class Calls:
    """How a training step calls a model.

    Attributes:
        sums: summed losses of a micro-batch.
        apart: a context in which gradients are added up in this process only, for all micro-batches
            of a step but the last.
        scale: what a loss is multiplied by so that gradients are sums over the processes.
    """

    sums: Callable[[Any], Any]
    apart: Callable[[], AbstractContextManager[Any]] = nullcontext
    scale: float = 1.0


def shard(model: nn.Module, layers: Iterable[nn.Module], processes: Processes) -> None:
    """Leave each process a share of the weights, in place; call it before the optimizer is made.

    Args:
        model: the same in all processes.
        layers: its parts whose weights are put together one after the other; what is in none of
            them is put together for the whole model.
        processes: those of the run.
    """
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method

    device = next(model.parameters()).device.type
    mesh = init_device_mesh(device, (processes.size,))
    for part in (*layers, model):
        # Also the outermost: an evaluation has no backward pass that would share it out again.
        sharded = fully_shard(part, mesh=mesh, reshard_after_forward=True)
        sharded.set_gradient_divide_factor(1.0)
        sharded.set_force_sum_reduction_for_comms(True)
    if hasattr(model, "losses"):  # weights are put together at the call of forward, and of this
        register_fsdp_forward_method(model, "losses")


class Copies(nn.Module):
    """A model and its objective as DDP takes them: one module, called once a micro-batch."""

    def __init__(self, model: nn.Module, objective: Callable[[nn.Module, Any], Any]) -> None:
        super().__init__()
        self.model, self._objective = model, objective

    def forward(self, micro: Any) -> Any:
        """Summed losses of a micro-batch."""
        return self._objective(self.model, micro)


def synchronised(
    model: nn.Module, objective: Callable[[nn.Module, Any], Any], processes: Processes
) -> Calls:
    """How the steps of a run call its model; with several processes they meet in the call."""
    if processes.size == 1 or in_shares(next(model.parameters())):
        return Calls(lambda micro: objective(model, micro))
    copies = DistributedDataParallel(Copies(model, objective), forward_sync_buffers=False)
    return Calls(copies, copies.no_sync, float(processes.size))


def in_shares(tensor: Tensor) -> TypeGuard[DTensor]:
    """Whether this process has a share of the tensor only."""
    # Who has such tensors has imported their module, which takes most of a second.
    module = sys.modules.get("torch.distributed.tensor")
    return module is not None and isinstance(tensor, module.DTensor)


def whole(tensor: Tensor) -> Tensor:
    """A tensor without shares; all processes have to call it for one that is in shares."""
    return tensor.full_tensor() if in_shares(tensor) else tensor


def local(tensor: Tensor) -> Tensor:
    """This process's share of a tensor, sharing its memory; a whole tensor as it is."""
    return tensor.to_local() if in_shares(tensor) else tensor


def like(tensor: Tensor, value: Tensor) -> Tensor:
    """``value``, whole in all processes, laid out as ``tensor`` is."""
    if not in_shares(tensor):
        return value
    from torch.distributed.tensor import distribute_tensor

    value = value.to(tensor.device)
    return distribute_tensor(value, tensor.device_mesh, tensor.placements, src_data_rank=None)


def total(values: Tensor, shared: Tensor) -> Tensor:
    """The sums of ``values`` over the processes that have shares of ``shared``, in place."""
    if in_shares(shared):
        torch.distributed.all_reduce(values, group=shared.device_mesh.get_group())
    return values


def gathered(model: M, build: Callable[[], M], processes: Processes) -> M:
    """The model with all its weights in the first process, for writing it.

    Args:
        model: any model; one that is not in shares is returned as it is.
        build: makes another of the same shape.
        processes: those of the run; all have to call.
    """
    if not in_shares(next(model.parameters())):
        return model
    state: Mapping[str, Tensor] = {
        name: whole(tensor).cpu() for name, tensor in model.state_dict().items()
    }
    if not processes.is_first:
        return model
    plain = build()
    plain.load_state_dict(state)
    return plain.train(model.training)

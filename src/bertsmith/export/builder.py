"""An ONNX graph under construction: operators by name, weights each stored once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor

# Operator set 17 is the first with LayerNormalization; ONNX Runtime reads IR 8 from 1.12 on.
OPSET, _IR = 17, 8
Name = str


class GraphBuilder:
    """Collects nodes and weights; every method returns the name of its result."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._weights: dict[Name, onnx.TensorProto] = {}

    def weight(self, name: Name, tensor: Tensor | np.ndarray) -> Name:
        """Store a weight, or an array of constants."""
        array = tensor if isinstance(tensor, np.ndarray) else tensor.detach().cpu().numpy()
        if name not in self._weights:
            self._weights[name] = numpy_helper.from_array(np.array(array, order="C"), name)
        return name

    def number(self, value: float) -> Name:
        """A float32 scalar."""
        return self.weight(f"number_{value!r}", np.array(value, np.float32))

    def integers(self, *values: int) -> Name:
        """[n] int64."""
        return self.weight(f"integers_{'_'.join(map(str, values))}", np.array(values, np.int64))

    def add(self, kind: str, *inputs: Name, **attributes: Any) -> Name:
        """A node with one result."""
        return self.add_many(kind, inputs, 1, **attributes)[0]

    def add_many(
        self, kind: str, inputs: Sequence[Name], results: int, **attributes: Any
    ) -> list[Name]:
        """A node with several results."""
        name = f"{kind}_{len(self._nodes)}"
        outputs = [f"{name}_{number}" for number in range(results)]
        self._nodes.append(helper.make_node(kind, list(inputs), outputs, name, **attributes))
        return outputs

    def called(self, name: Name, value: Name) -> None:
        """Give a result the name of an output."""
        self._nodes.append(helper.make_node("Identity", [value], [name], f"output_{name}"))

    def model(
        self,
        inputs: Mapping[Name, Sequence[str | int]],
        outputs: Mapping[Name, Sequence[str | int]],
        version: str,
    ) -> onnx.ModelProto:
        """The finished graph: int64 inputs and float32 outputs with their shapes."""
        graph = helper.make_graph(
            self._nodes,
            "bert",
            [helper.make_tensor_value_info(n, TensorProto.INT64, s) for n, s in inputs.items()],
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in outputs.items()],
            list(self._weights.values()),
        )
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=_IR,
            producer_name="bertsmith",
            producer_version=version,
        )

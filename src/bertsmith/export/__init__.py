"""ONNX graphs of models, checked against them."""

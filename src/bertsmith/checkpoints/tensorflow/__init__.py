"""Checkpoints of Google's TensorFlow code, in and out, without TensorFlow."""

from bertsmith.checkpoints.tensorflow.bundle import TensorBundle
from bertsmith.checkpoints.tensorflow.entries import Entry
from bertsmith.checkpoints.tensorflow.names import to_google_names, to_hugging_face_names
from bertsmith.checkpoints.tensorflow.prefix import find_prefix
from bertsmith.checkpoints.tensorflow.write import write_bundle

__all__ = [
    "Entry",
    "TensorBundle",
    "find_prefix",
    "to_google_names",
    "to_hugging_face_names",
    "write_bundle",
]

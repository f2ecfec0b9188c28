"""Checkpoints for tests: those that TensorFlow wrote, and ones that no writer writes."""

from __future__ import annotations

from pathlib import Path

from bertsmith.checkpoints.tensorflow.sstable import table_bytes

# Written by tf.compat.v1.train.Saver(sharded=True) of TensorFlow 2.21.0: a/half, bfloat16
# [[1.5, -2.25], [3e38, 0]], on one device; a/halves, float32 [0.5, -1], and global_step, int64 1000,
# on another.
SHARDED = {
    "data-00000-of-00002": "c03f10c0627f0000",
    "data-00001-of-00002": "0000003f000080bfe803000000000000",
    "index": "00000608021a020801000613612f68616c66080e12081202080212020802280835880c31640503117665"
    "7308011204120208021801280835c5af2152000b0f676c6f62616c5f73746570080912001801200828083507"
    "95119a0000000001000000007089a799000000000100000000c0f2a1b0000102680061000000000100000000"
    "c1c82dbe6608730e000000000000000000000000000000000000000000000000000000000000000000000000"
    "57fb808b247547db",
}
# Written by tf.raw_ops.Save of that version, in the layout before there was an index: w and b.
OLD_LAYOUT = (
    "0000280a260a0f0a0162120412020801180322020a000a0f0a0177120412020802180122020a001202080100"
    "080e006200010101807f120c0a016212020a001a033a01030107157700010101807f12130a017712020a001a"
    "0a2a080000803f00000040000000000100000000197a11cd000000000100000000c0f2a1b000010201006b00"
    "0000000100000000ea8f190b70087d0e00000000000000000000000000000000000000000000000000000000"
    "000000000000000057fb808b247547db"
)


def sharded(folder: Path) -> Path:
    """The prefix of TensorFlow's checkpoint of two files of data."""
    for suffix, data in SHARDED.items():
        (folder / f"model.ckpt.{suffix}").write_bytes(bytes.fromhex(data))
    return folder / "model.ckpt"


def bundle(folder: Path, messages: dict[bytes, bytes], data: bytes = b"") -> Path:
    """The prefix of a checkpoint of one file of data with the given messages in its index."""
    (folder / "made.index").write_bytes(table_bytes(sorted(messages.items())))
    (folder / "made.data-00000-of-00001").write_bytes(data)
    return folder / "made"

"""What a pickle of weights may not hold, found before torch's reader follows it."""

from __future__ import annotations

import pickletools
import zipfile
from pathlib import Path
from typing import IO

from bertsmith.common.errors import ModelError

COPY_AGAIN = "copy the file again, or take an earlier checkpoint"
_OLD_PICKLES = 5  # of a file as torch before 1.6 wrote it; then come the numbers


def check_pickle(file: Path) -> None:
    """Refuse a file that would take memory without end, or that its own checksums say is damaged.

    What torch's reader finds out by itself is left to it.

    Raises:
        ModelError: as said.
        OSError: the file can not be read.
        zipfile.BadZipFile: it is an archive that is damaged; so can other exceptions say.
    """
    if not zipfile.is_zipfile(file):
        with file.open("rb") as stream:
            for _ in range(_OLD_PICKLES):
                _check_calls(stream, file)
        return
    with zipfile.ZipFile(file) as archive:
        records = archive.infolist()
        size = file.stat().st_size
        packed = any(one.compress_type != zipfile.ZIP_STORED for one in records)
        if packed or sum(one.file_size for one in records) > size:
            raise ModelError(
                "the weight file is packed, which torch does not do: its size tells nothing",
                file=file, mend="save the weights with torch.save, or as model.safetensors",
            )  # fmt: skip
        if (wrong := archive.testzip()) is not None:  # torch does not look
            raise ModelError(
                "the weight file is damaged: a checksum in it does not agree", file=file,
                value=wrong, mend=f"{COPY_AGAIN}; or save it again, if torch was told to make no "
                "checksums",
            )  # fmt: skip
        for one in records:
            if one.filename.endswith("data.pkl"):
                with archive.open(one) as stream:
                    _check_calls(stream, file)


def _check_calls(stream: IO[bytes], file: Path) -> None:
    """Look through a pickle for what makes bytes out of a number."""
    try:
        for code, argument, _ in pickletools.genops(stream):
            if code.name == "GLOBAL" and str(argument).endswith(" bytearray"):
                raise ModelError(
                    "the file asks for a bytearray, which no weights need", file=file,
                    mend="take weights that were saved as plain tensors",
                )  # fmt: skip
    except ValueError:
        return  # torch says what is wrong with it

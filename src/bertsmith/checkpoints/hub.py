"""Models by their name on the Hugging Face hub, where there is a network."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from bertsmith.common.console import note
from bertsmith.common.errors import ModelError

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*|bert-[\w.-]+")
_BESIDE = ("config.json", "vocab.txt", "tokenizer.json", "tokenizer_config.json", "task.json")


def is_hub_name(name: str) -> bool:
    """Whether ``name`` looks like one of the hub: ``OWNER/MODEL``, or an old ``bert-...``."""
    return _NAME.fullmatch(name) is not None


def download(name: str, weights: Sequence[str]) -> Path:
    """The folder with a hub model's files; a copy that an earlier call left is used offline.

    Only the configuration, the tokenizer and the first of ``weights`` that the hub has are taken.

    Raises:
        ModelError: there is no such model, no network, or no weight file in a known layout.
    """
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    kept = _kept(name, weights)
    if not _reachable():
        if kept is None:
            raise ModelError(
                f"there is no folder {name} here, and the Hugging Face hub, where a model of that "
                "name may be, can not be reached",
                mend="look for a slip in the path; or copy the model's folder to this machine",
            )
        note(f"the hub can not be reached: using the copy in {kept}")
        return kept
    try:
        there = HfApi().list_repo_files(name)
        chosen = next((file for file in weights if file in there), None)
        if chosen is None:
            raise ModelError(
                f"the hub's {name} has none of {', '.join(weights)}",
                mend="take a model that has one of these",
            )
        return Path(snapshot_download(name, allow_patterns=_patterns(chosen)))
    except (HfHubHTTPError, HFValidationError) as error:
        raise ModelError(
            f"there is no folder {name} here, and the hub gives no model of that name: "
            f"{str(error).splitlines()[0]}",
            mend="look for a slip in the path or the name",
        ) from None


def _patterns(weights: str) -> list[str]:
    """The files to take with a weight file, or with the index of its shards."""
    whole = weights.removesuffix(".index.json")
    shards = [whole.replace(".", "*.", 1)] if whole != weights else []
    return [*_BESIDE, weights, *shards]


def _kept(name: str, weights: Sequence[str]) -> Path | None:
    """The copy of an earlier download."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    for chosen in weights:
        try:
            found = snapshot_download(name, allow_patterns=_patterns(chosen), local_files_only=True)
        except (LocalEntryNotFoundError, HFValidationError):
            continue
        if (Path(found) / chosen).exists():
            return Path(found)
    return None


def _reachable() -> bool:
    """Whether the hub's machine answers: its library would try for half a minute to find out."""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return False
    address = urlsplit(constants.ENDPOINT)
    port = address.port or (80 if address.scheme == "http" else 443)
    if os.environ.get("HTTPS_PROXY") or os.environ.get("https_proxy"):
        return True  # a proxy decides, and its name is not ours to try
    try:
        socket.create_connection((address.hostname or "", port), timeout=5).close()
    except OSError:
        return False
    return True

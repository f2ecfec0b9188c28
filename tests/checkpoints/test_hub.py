"""Names of a hub: from a server, from an earlier download, and with neither."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from bertsmith.checkpoints.hub import is_hub_name
from bertsmith.checkpoints.save import save_model
from bertsmith.model.pretraining import BertForPreTraining
from bertsmith.text.tokenizer import Tokenizer

COMMIT = "0123456789abcdef0123456789abcdef01234567"
NAME = "someone/small-bert"


@pytest.fixture
def hub(tmp_path: Path, model: BertForPreTraining, tokenizer: Tokenizer) -> Iterator[str]:
    """A server with one model, beside other files that nobody asked for."""
    folder = tmp_path / "served"
    save_model(folder, model, tokenizer, "")
    (folder / "tf_model.h5").write_bytes(b"x" * 1000)
    (folder / "pytorch_model.bin").write_bytes(b"x" * 1000)
    names = sorted(one.name for one in folder.iterdir())

    class Handler(BaseHTTPRequestHandler):
        asked: list[str] = []  # noqa: RUF012 - of the class, to be read by the test

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            path = self.path.split("?")[0]
            self.asked.append(path)
            if path.startswith(f"/api/models/{NAME}/tree"):
                files = [{"type": "file", "path": one, "size": 1, "oid": "0" * 40} for one in names]
                return self.answer(json.dumps(files).encode())
            if path.startswith(f"/api/models/{NAME}"):
                siblings = [{"rfilename": one} for one in names]
                found = {"id": NAME, "sha": COMMIT, "siblings": siblings}
                return self.answer(json.dumps(found).encode())
            file = folder / path.rsplit("/", 1)[-1]
            if path.startswith(f"/{NAME}/resolve/") and file.exists():
                return self.answer(file.read_bytes(), file.name)
            self.send_response(404)
            self.send_header("X-Error-Code", "RepoNotFound")
            self.end_headers()
            return None

        def answer(self, body: bytes, etag: str = "json") -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("ETag", f'"{etag}"')
            self.send_header("X-Repo-Commit", COMMIT)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    fetched = {path.rsplit("/", 1)[-1] for path in Handler.asked if "/resolve/" in path}
    assert not fetched & {"tf_model.h5", "pytorch_model.bin"}


def fill(tmp_path: Path, name: str, **more: str) -> subprocess.CompletedProcess[str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
    environment = kept | {"HF_HOME": str(tmp_path / "home"), **more}
    command = [sys.executable, "-m", "bertsmith", "fill", name, "the [MASK] .", "--json"]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path
    )


def test_a_name_is_downloaded_and_kept(hub: str, tmp_path: Path) -> None:
    first = fill(tmp_path, NAME, HF_ENDPOINT=hub)
    assert first.returncode == 0, first.stderr
    assert "tensors from safetensors" in first.stderr
    away = fill(tmp_path, NAME, HF_ENDPOINT="http://127.0.0.1:9")
    assert away.stdout == first.stdout, away.stderr
    assert "the hub can not be reached: using the copy in" in away.stderr
    offline = fill(tmp_path, NAME, HF_ENDPOINT=hub, HF_HUB_OFFLINE="1")
    assert offline.stdout == first.stdout
    unknown = fill(tmp_path, "someone/else", HF_ENDPOINT=hub)
    assert unknown.returncode == 2
    assert "the hub gives no model of that name" in unknown.stderr


def test_no_network_and_no_copy(tmp_path: Path) -> None:
    done = fill(tmp_path, NAME, HF_ENDPOINT="http://127.0.0.1:9")
    assert done.returncode == 2
    assert f"there is no folder {NAME} here, and the Hugging Face hub" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_may_be_a_name() -> None:
    for name in ("google-bert/bert-base-uncased", "bert-base-cased", "a/b.c_d-1"):
        assert is_hub_name(name)
    for name in ("runs", "/abs/path", "../up", "a/b/c", "model.ckpt", "a b/c", ""):
        assert not is_hub_name(name)

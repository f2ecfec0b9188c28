"""Corpora at URLs, with a real S3-compatible server in a process of its own."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import fsspec
import pytest

from bertsmith.common.errors import CorpusError, SettingsError
from bertsmith.corpus.build import build_corpus
from bertsmith.corpus.corpus import Corpus
from bertsmith.corpus.locate import local_folder
from bertsmith.corpus.publish import build_at
from bertsmith.corpus.settings import CorpusSettings
from tests.end_to_end.launch import free_port

SETTINGS = CorpusSettings(vocab_size=200, workers=1, shard_mb=0.001)


@pytest.fixture
def text(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setenv("BERTSMITH_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "a.txt"
    path.write_text("\n\n".join(f"Text {n} says.\nAnd {n} again." for n in range(99)))
    return path


def test_built_for_a_url_it_is_that_of_a_folder(text: Path, tmp_path: Path) -> None:
    place = f"memory://{tmp_path.name}/corpus"
    built = build_at([str(text)], place, SETTINGS)
    local = build_corpus([str(text)], tmp_path / "local", SETTINGS)
    assert [one["sha256"] for one in built.shards if one["file"]] == [
        one["sha256"] for one in local.shards if one["file"]
    ]
    there = local_folder(place)
    original = Corpus.open(tmp_path / "local")
    assert Corpus.open(there, verify=True).manifest.contents() == original.manifest.contents()
    assert build_at([str(text)], place, SETTINGS).key == built.key  # nothing is left to do


def test_another_corpus_is_not_overwritten(text: Path, tmp_path: Path, monkeypatch) -> None:
    place = f"memory://{tmp_path.name}/corpus"
    build_at([str(text)], place, SETTINGS)
    before = fsspec.open(f"{place}/manifest.json").open().read()
    monkeypatch.setenv("BERTSMITH_CACHE", str(tmp_path / "another machine"))
    text.write_text("Quite another text.\n\nAnd one more document.")
    with pytest.raises(CorpusError, match="holds another corpus"):
        build_at([str(text)], place, SETTINGS)
    assert fsspec.open(f"{place}/manifest.json").open().read() == before


def test_not_whole_it_is_not_there(text: Path, tmp_path: Path, monkeypatch) -> None:
    """A copy that breaks off leaves no manifest, and the same command ends it."""
    place = f"memory://{tmp_path.name}/corpus"
    system, root = fsspec.core.url_to_fs(place)
    whole = type(system).put_file
    left = iter(range(3))

    def breaks_off(self, *arguments, **options):
        if next(left, None) is None:
            raise ConnectionResetError("gone")
        return whole(self, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(type(system), "put_file", breaks_off)
        with pytest.raises(CorpusError, match="can not be written: ConnectionResetError"):
            build_at([str(text)], place, SETTINGS)
    assert system.find(root)
    with pytest.raises(CorpusError, match="no finished corpus"):
        local_folder(place)
    build_at([str(text)], place, SETTINGS)
    assert Corpus.open(local_folder(place), verify=True).documents


def test_a_cluster_needs_a_folder(text: Path) -> None:
    with pytest.raises(SettingsError, match="not to a URL"):
        build_at([str(text)], "memory://x/corpus", SETTINGS, scheduler="tcp://127.0.0.1:1")


@pytest.fixture
def s3(monkeypatch) -> subprocess.Popen:
    """A server with an empty bucket, and the environment that points to it."""
    pytest.importorskip("s3fs", reason="needs s3fs")
    pytest.importorskip("moto", reason="needs moto[server]")
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    for name, value in (
        ("AWS_ACCESS_KEY_ID", "key"), ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}"), ("AWS_DEFAULT_REGION", "us-east-1"),
        ("AWS_MAX_ATTEMPTS", "1"),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
    _wait_for(port)
    fsspec.filesystem("s3", skip_instance_cache=True).mkdir("bucket")
    yield process
    process.kill()
    process.wait()


def _wait_for(port: int) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError("the server does not answer")


def command(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bertsmith", *map(str, words)],
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip


def test_from_s3_to_s3_to_a_model(text: Path, tmp_path: Path, s3: subprocess.Popen) -> None:
    """Text in a bucket -> corpus in the bucket -> a run; then the server goes away."""
    fsspec.filesystem("s3").put_file(str(text), "bucket/texts/a.txt")
    build = (
        "corpus", "s3://bucket/texts/*.txt", "--out", "s3://bucket/corpus", "--vocab-size", 200,
        "--workers", 1, "--json",
    )  # fmt: skip
    done = command(*build)
    assert done.returncode == 0, done.stderr
    local = build_corpus([str(text)], tmp_path / "local", CorpusSettings(vocab_size=200, workers=1))
    shards = json.loads(done.stdout)["shards"]
    assert [one["sha256"] for one in shards if one["file"]] == [
        one["sha256"] for one in local.shards if one["file"]
    ]
    run = (
        "pretrain", "s3://bucket/corpus", "--out", tmp_path / "run", "--steps", 2, "--lengths",
        32, "--length-shares", 1, "--batch-size", 4,
    )  # fmt: skip
    done = command(*run)
    assert done.returncode == 0, done.stderr
    missing = command("pretrain", "s3://bucket/other", *run[2:])
    assert missing.returncode == 2
    assert "no finished corpus" in missing.stderr
    s3.kill()
    for words in (build, run):
        gone = command(*words)
        assert gone.returncode == 2, gone.stderr
        assert "Traceback" not in gone.stderr
        assert gone.stderr.count("error:") == 1

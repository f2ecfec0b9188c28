"""The command before it does anything."""

from __future__ import annotations

import pytest

from bertsmith.cli.main import share_cores


@pytest.mark.parametrize("name", ["GOMP_SPINCOUNT", "OMP_WAIT_POLICY"])
def test_waiting_threads_sleep_soon_unless_the_user_says(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    import os

    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    monkeypatch.setenv("GOMP_SPINCOUNT", "x")  # so that it is put back
    monkeypatch.delenv("GOMP_SPINCOUNT")
    share_cores()
    assert int(os.environ["GOMP_SPINCOUNT"]) < 300_000
    monkeypatch.delenv("GOMP_SPINCOUNT")
    monkeypatch.setenv(name, "7")
    share_cores()
    assert os.environ[name] == "7"
    assert ("GOMP_SPINCOUNT" in os.environ) == (name == "GOMP_SPINCOUNT")

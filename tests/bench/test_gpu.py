"""The script for GPUs, on a processor: its ways are the same, only the kernels differ."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "gpu.py"


def test_it_checks_measures_and_writes(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable, str(SCRIPT), "--device", "cpu", "--models", "tiny", "--lengths", "16",
            "--tokens", "64", "--vocabulary", "300", "--rounds", "2", "--seconds", "0.01",
            "--out", str(tmp_path / "gpu.json"),
        ],
        capture_output=True, check=False, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WRONG" not in done.stdout
    assert done.stdout.count("ok    ") == 4
    record = json.loads((tmp_path / "gpu.json").read_text())
    assert record["right"] is True
    assert {(one["work"], one["side"]) for one in record["rows"]} == {
        (work, side)
        for work in ("pretraining", "prediction")
        for side in ("bertsmith", "transformers")
    }
    for row in record["rows"]:
        assert not row["why_not"]
        assert len(row["tokens"]) == 2
        assert 0 < row["of_peak"] < 1


def test_a_wrong_gradient_is_seen() -> None:
    program = (
        "import sys, torch, importlib.util as u\n"
        f"spec = u.spec_from_file_location('gpu', {str(SCRIPT)!r})\n"
        "gpu = u.module_from_spec(spec); sys.modules['gpu'] = gpu\n"
        "spec.loader.exec_module(gpu)\n"
        "from bertsmith.model import attention\n"
        "right, wrong = attention.attend, lambda qkv, batch, p=0.0: right(qkv, batch, p) * 1.001\n"
        "cpu = torch.device('cpu')\n"
        "expected = gpu.losses_and_gradients(cpu, True)\n"
        "from bertsmith.model import encoder\n"
        "encoder.attend = wrong\n"
        "print(gpu.apart(gpu.losses_and_gradients(cpu, True), expected))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=False, text=True, timeout=300
    )
    assert float(done.stdout) > 1e-4, done.stderr

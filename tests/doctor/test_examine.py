"""What is at a path, where it is nothing that can be examined."""

from __future__ import annotations

from pathlib import Path

import pytest

from bertsmith.common.errors import BertsmithError
from bertsmith.doctor.examine import examine


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nothing", "there is nothing at this path"),
        ("empty", "it holds nothing"),
        ("files", "it holds a.txt, b.txt"),
        ("files/a.txt", "the file is neither a model nor a corpus"),
        ("above", r"some lie within\n  mend: did you mean .*corpus or .*run\?"),
        ("foreign", "the folder holds an adapter without its model"),
        ("young", "a run that has no model yet"),
    ],
)
def test_nothing_to_examine(tmp_path: Path, name: str, text: str) -> None:
    for folder in ("empty", "files", "above/run/model", "above/corpus/shards", "young/checkpoints",
                   "foreign"):  # fmt: skip
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "foreign" / "adapter_model.safetensors").write_bytes(b"")
    (tmp_path / "files" / "a.txt").write_text("a")
    (tmp_path / "files" / "b.txt").write_text("b")
    (tmp_path / "above" / "run" / "model" / "config.json").write_text("{}")
    (tmp_path / "young" / "config.toml").write_text("")
    with pytest.raises(BertsmithError, match=text) as caught:
        examine(tmp_path / name)
    assert caught.value.mend
    assert str(tmp_path / name) in str(caught.value)


def test_a_weight_file_is_its_model(model: Path) -> None:
    chart = examine(model / "model.safetensors")
    assert not chart.findings

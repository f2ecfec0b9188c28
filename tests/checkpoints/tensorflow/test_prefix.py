from pathlib import Path

import pytest
from tests.checkpoints.tensorflow.made import OLD_LAYOUT

from bertsmith.checkpoints.tensorflow import find_prefix
from bertsmith.common.errors import ModelError


def checkpoints(folder: Path, *names: str) -> None:
    for name in names:
        (folder / f"{name}.index").touch()
        (folder / f"{name}.meta").touch()
        (folder / f"{name}.data-00000-of-00001").touch()


@pytest.mark.parametrize(
    "name", ["", "m.ckpt-10", "m.ckpt-10.index", "m.ckpt-10.meta", "m.ckpt-10.data-00000-of-00001"]
)
def test_every_way_to_name_the_only_one(tmp_path: Path, name: str) -> None:
    checkpoints(tmp_path, "m.ckpt-10")
    assert find_prefix(tmp_path / name) == tmp_path / "m.ckpt-10"


def test_none(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("other")
    (tmp_path / ".index").touch()
    for path in (tmp_path / "other", tmp_path / "absent", tmp_path / "absent.index", Path("/")):
        assert find_prefix(path) is None
    (tmp_path / ".index").unlink()
    assert find_prefix(tmp_path) is None


def test_several_are_named(tmp_path: Path) -> None:
    checkpoints(tmp_path, "m-1", "m-2")
    with pytest.raises(ModelError, match="several TensorFlow checkpoints: m-1, m-2"):
        find_prefix(tmp_path)
    assert find_prefix(tmp_path / "m-1") == tmp_path / "m-1"


@pytest.mark.parametrize(
    "path",
    ["m-2", "/another/machine/m-2", r"C:\\runs\\m-2", r"caf\303\251/m-2", "sub/m-2"],
)
def test_the_one_that_saver_wrote_last(tmp_path: Path, path: str) -> None:
    """Its path may be one of the machine that it was trained on."""
    checkpoints(tmp_path, "m-1", "m-2", "m-3")
    (tmp_path / "checkpoint").write_text(
        f'model_checkpoint_path: "{path}"\nall_model_checkpoint_paths: "m-1"\n'
    )
    assert find_prefix(tmp_path) == tmp_path / "m-2"


def test_a_name_that_saver_wrote_in_escapes(tmp_path: Path) -> None:
    checkpoints(tmp_path, "é", "m-3")
    (tmp_path / "checkpoint").write_text(r'model_checkpoint_path: "\303\251"')
    assert find_prefix(tmp_path) == tmp_path / "é"


def test_another_is_not_taken_for_the_one_named(tmp_path: Path) -> None:
    checkpoints(tmp_path, "m-1")
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "m-2"\n')
    with pytest.raises(ModelError, match=r"lacks the checkpoint .* \(got 'm-2'\)"):
        find_prefix(tmp_path)


@pytest.mark.parametrize("text", ["", "something else", 'model_checkpoint_path: ""'])
def test_a_file_of_that_name_by_another_program(tmp_path: Path, text: str) -> None:
    (tmp_path / "checkpoint").write_text(text)
    assert find_prefix(tmp_path) is None
    checkpoints(tmp_path, "m-1")
    assert find_prefix(tmp_path) == tmp_path / "m-1"


def test_the_old_layout_is_named(tmp_path: Path) -> None:
    (tmp_path / "m-1").write_bytes(bytes.fromhex(OLD_LAYOUT))
    with pytest.raises(ModelError, match="V1 layout"):
        find_prefix(tmp_path / "m-1")
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "m-1"\n')
    with pytest.raises(ModelError, match="V1 layout"):
        find_prefix(tmp_path)

"""What is at a path, and the examination for it."""

from __future__ import annotations

from pathlib import Path

from bertsmith.checkpoints.hub import is_hub_name
from bertsmith.checkpoints.locate import CONFIG, GOOGLE_CONFIG, LAYOUTS, TENSORFLOW, locate
from bertsmith.common.errors import BertsmithError, InputError, ModelError
from bertsmith.corpus.folder import MANIFEST, SHARDS
from bertsmith.doctor.chart import Chart, Fact
from bertsmith.doctor.corpus import examine_corpus
from bertsmith.doctor.model import examine_model

_TAKES = (
    "give a model (its folder or weight file, a TensorFlow checkpoint, a name of the hub), a "
    "folder that bertsmith corpus wrote, or that of a run"
)
_SHOWN = 5


def examine(path: Path) -> Chart:
    """Examine a model, a corpus, or the model of a run.

    Raises:
        BertsmithError: there is none of them at ``path``; the message says what is.
    """
    path = Path(path)
    if _is_corpus(path):
        return examine_corpus(path)
    if _is_model(path):
        return examine_model(path)
    if path.is_dir():
        if _is_model(path / "model"):
            chart = examine_model(path / "model")
            chart.facts.insert(0, Fact("run", str(path), f"{path}: its model is examined"))
            return chart
        raise _wrong_folder(path)
    return _examine_other(path)


def _examine_other(path: Path) -> Chart:
    """A file, the prefix of a TensorFlow checkpoint, or a name of the hub."""
    try:
        location = locate(path)
    except ModelError as error:
        if path.exists():
            raise InputError("the file is neither a model nor a corpus", file=path,
                             mend=_TAKES) from None  # fmt: skip
        if is_hub_name(str(path)):
            raise
        raise InputError(error.message if error.mend else "there is nothing at this path",
                         file=path, mend=error.mend or _TAKES) from None  # fmt: skip
    downloaded = not path.exists() and location.layout != TENSORFLOW
    return examine_model(location.folder if downloaded else path)


def _is_corpus(path: Path) -> bool:
    return (path / MANIFEST).is_file() or (path / SHARDS).is_dir()


def _is_model(path: Path) -> bool:
    """Whether a folder has a part of a model by which it is meant to be one."""
    if any((path / name).is_file() for name in (CONFIG, GOOGLE_CONFIG, *LAYOUTS)):
        return True
    return path.is_dir() and any(path.glob("*.ckpt*.index"))


def _wrong_folder(path: Path) -> BertsmithError:
    """The error that says what is in a folder."""
    names = sorted(one.name for one in path.iterdir() if one.name[0] != ".")
    inside = [
        name for name in names
        if _is_corpus(path / name) or _is_model(path / name) or _is_model(path / name / "model")
    ]  # fmt: skip
    if inside:
        return InputError(
            "the folder is neither a model nor a corpus, but some lie within", file=path,
            mend=f"did you mean {' or '.join(str(path / one) for one in inside[:_SHOWN])}?",
        )  # fmt: skip
    if (path / "config.toml").is_file() and (path / "checkpoints").is_dir():
        return InputError("this is the folder of a run that has no model yet", file=path,
                          mend="let the run come to its end")  # fmt: skip
    try:
        locate(path)
    except ModelError as error:
        if error.mend:  # it knows what is there: weights of another framework
            return error
    there = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    return InputError(
        f"the folder is neither a model nor a corpus; it holds {there or 'nothing'}", file=path,
        mend=_TAKES,
    )  # fmt: skip

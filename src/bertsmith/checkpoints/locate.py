"""Which files of a folder, or behind a hub name, are a model: layout, configuration, weights."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bertsmith.checkpoints.hub import download, is_hub_name
from bertsmith.checkpoints.tensorflow import find_prefix
from bertsmith.common import strict_json
from bertsmith.common.errors import ModelError
from bertsmith.common.files import SMALL
from bertsmith.model.config import BertConfig
from bertsmith.text.tokenizer import Tokenizer

CONFIG = "config.json"
WEIGHTS = "model.safetensors"
GOOGLE_CONFIG = "bert_config.json"
TENSORFLOW = "TensorFlow"
# Weight files of the Hugging Face layout, the best first; a folder may hold several.
LAYOUTS = {
    WEIGHTS: "safetensors",
    "model.safetensors.index.json": "sharded safetensors",
    "pytorch_model.bin": "pytorch_model.bin",
    "pytorch_model.bin.index.json": "sharded pytorch_model.bin",
}
_FOREIGN = {
    "tf_model.h5": "Keras weights",
    "flax_model.msgpack": "Flax weights",
    "model.onnx": "an ONNX graph",
    "adapter_model.safetensors": "an adapter without its model",
}


@dataclass(frozen=True)
class Location:
    """Where a model is.

    Attributes:
        folder: where configuration and tokenizer are.
        layout: a value of LAYOUTS, or ``TensorFlow``.
        weights: the weight file, its index where there are several, or the index file of a
            TensorFlow checkpoint.
        config: the configuration file.
    """

    folder: Path
    layout: str
    weights: Path
    config: Path

    @property
    def files(self) -> tuple[Path, ...]:
        """All files that decide what the model computes, the tokenizer's aside."""
        if self.layout == TENSORFLOW:
            shards = sorted(self.folder.glob(f"{self.weights.stem}.data-*"))
        elif self.weights.suffix == ".json":
            shards = [self.folder / name for name in sorted(set(shards_of(self.weights).values()))]
        else:
            shards = []
        return (self.config, self.weights, *shards)

    def read_config(self) -> BertConfig:
        """The shape of the model.

        Raises:
            ModelError: the file is missing or damaged, or describes no BERT.
        """
        if self.config.is_file() and self.config.stat().st_size > SMALL:
            raise ModelError("the configuration is larger than one is", file=self.config)
        return BertConfig.from_json(self.config)

    def read_tokenizer(self) -> Tokenizer:
        """The tokenizer beside the model.

        Raises:
            InputError: there is none, or its files are malformed.
        """
        return Tokenizer.load(self.folder)


def locate(path: Path) -> Location:
    """The model at ``path``.

    Args:
        path: a folder in any layout, a weight file in it, the prefix of a TensorFlow checkpoint
            (``DIR/bert_model.ckpt``, ``DIR/model.ckpt-1000``), or a name of the Hugging Face hub
            (``google-bert/bert-base-uncased``), which is downloaded.

    Raises:
        ModelError: there is no model, or it is in a layout of another framework.
    """
    path = Path(path)
    if path.is_dir():
        return _in_folder(path)
    if path.is_file() and path.name in LAYOUTS:
        return _hugging_face(path)
    prefix = find_prefix(path)
    if prefix is not None:
        return _tensorflow(prefix)
    if path.is_file():
        raise ModelError(
            "this file is no model", file=path,
            mend=f"give the model's folder, or one of {', '.join(LAYOUTS)}, or the prefix of a "
            "TensorFlow checkpoint (bert_model.ckpt)",
        )  # fmt: skip
    if "ckpt" in path.name and path.parent.is_dir():  # no name of the hub, although OWNER/MODEL
        there = sorted(one.stem for one in path.parent.glob("*.index"))
        raise ModelError(
            "there is no such checkpoint", file=path,
            mend=f"{path.parent} has {', '.join(there) or 'none'}",
        )  # fmt: skip
    if is_hub_name(str(path)):
        return _in_folder(download(str(path), tuple(LAYOUTS)))
    raise ModelError("there is no such model directory", file=path)


def shards_of(index: Path) -> dict[str, str]:
    """The ``weight_map`` of a sharded checkpoint: tensor name -> file beside the index.

    Raises:
        ModelError: the index is damaged, or names a file outside its folder.
    """
    try:
        names = strict_json.read(index)["weight_map"]
        found = {str(name): str(file) for name, file in names.items()}
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise ModelError(f"the index of the shards can not be read: {error}", file=index) from None
    for file in set(found.values()):
        if Path(file).name != file or file in ("", ".", "..") or not file.isprintable():
            raise ModelError("the index names a file outside its folder", file=index, value=file)
    return found


def _in_folder(folder: Path) -> Location:
    for name in LAYOUTS:
        if (folder / name).exists():
            return _hugging_face(folder / name)
    prefix = find_prefix(folder)
    if prefix is not None:
        return _tensorflow(prefix)
    inner = folder / "model"
    if inner.is_dir() and any((inner / name).exists() for name in LAYOUTS):
        raise ModelError("this is a run's folder, its model lies within", file=folder,
                         mend=f"did you mean {inner}?")  # fmt: skip
    for name, what in _FOREIGN.items():
        if (folder / name).exists():
            raise ModelError(
                f"the folder holds {what} ({name}) alone", file=folder,
                mend=f"take the model in one of these forms: {', '.join(LAYOUTS)}, or Google's "
                "bert_model.ckpt",
            )  # fmt: skip
    if not (folder / CONFIG).exists():
        raise ModelError("there is no such model configuration", file=folder / CONFIG)
    raise ModelError("there is no such weight file", file=folder / WEIGHTS)


def _hugging_face(weights: Path) -> Location:
    return Location(weights.parent, LAYOUTS[weights.name], weights, weights.parent / CONFIG)


def _tensorflow(prefix: Path) -> Location:
    folder, config = prefix.parent, prefix.parent / GOOGLE_CONFIG
    if not config.exists() and (folder / CONFIG).exists():
        config = folder / CONFIG
    if not config.exists():
        raise ModelError(
            f"the checkpoint has no {GOOGLE_CONFIG} beside it", file=folder,
            mend=f"copy {GOOGLE_CONFIG} and vocab.txt of the pre-trained model there: the 2018 "
            "code leaves them in the folder of that model",
        )  # fmt: skip
    return Location(folder, TENSORFLOW, prefix.with_name(f"{prefix.name}.index"), config)

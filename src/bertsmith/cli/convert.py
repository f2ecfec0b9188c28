"""A model from one layout to another, and new words into its vocabulary.

SOURCE is a model in any layout: a folder with model.safetensors or pytorch_model.bin, whole or in
shards; Google's bert_model.ckpt or a fine-tuned model.ckpt-NNN; or a name of the Hugging Face hub.
No weight changes by a bit; half precision is widened to float32. The result opens with
transformers, or with --to tensorflow in the code of 2018. What of SOURCE has no place in it is
named. DEST is made, or replaced as a whole; of a user's own files in it all stay.

  bertsmith convert uncased_L-4_H-256_A-4 my_bert
  bertsmith convert run/model google --to tensorflow
  bertsmith convert my_bert my_bert_med --add-tokens words.txt --text notes.txt
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bertsmith.cli import common

if TYPE_CHECKING:
    from bertsmith.checkpoints.convert import Converted
    from bertsmith.text.tokenizer import Tokenizer

_SHOWN = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``bertsmith convert``."""
    parser.add_argument("source", type=common.path, metavar="SOURCE", help="the model to read")
    parser.add_argument("out", type=common.path, metavar="DEST", help="folder to write")
    parser.add_argument(
        "--to", choices=("huggingface", "tensorflow"), default="huggingface",
        help="layout to write (default: huggingface)",
    )  # fmt: skip
    parser.add_argument(
        "--vocab", type=common.path, metavar="PATH",
        help="vocab.txt, tokenizer.json or a folder with one, instead of what is beside the model",
    )  # fmt: skip
    case = parser.add_mutually_exclusive_group()
    case.add_argument(
        "--cased", dest="lowercase", action="store_false", default=None,
        help="the vocabulary keeps upper case (for a vocab.txt with nothing beside it; default: "
        "what its pieces show)",
    )  # fmt: skip
    case.add_argument(
        "--uncased", dest="lowercase", action="store_true", default=None,
        help="the text is to be lower-cased",
    )  # fmt: skip
    parser.add_argument(
        "--add-tokens", type=common.path, metavar="FILE",
        help="words, one a line, that become one token each: they take [unused...] entries, then "
        "new rows, and start at the mean of their pieces. Train further: bertsmith pretrain --from",
    )  # fmt: skip
    parser.add_argument(
        "--text", type=common.path, metavar="FILE",
        help="text of yours, to show the tokens a word before and after",
    )  # fmt: skip
    common.add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Convert and show what was done."""
    from bertsmith.checkpoints.convert import convert
    from bertsmith.common.console import emit
    from bertsmith.common.errors import SettingsError

    if arguments.text and not arguments.add_tokens:
        raise SettingsError("--text shows what new words change", mend="give --add-tokens, too")
    words = _lines(arguments.add_tokens) if arguments.add_tokens else []
    if arguments.add_tokens and not words:
        raise SettingsError("the file has no word", value=str(arguments.add_tokens))
    text = _lines(arguments.text) if arguments.text else []
    vocab = arguments.vocab
    done = convert(
        arguments.source,
        arguments.out,
        arguments.to,
        words,
        _tokenizer(arguments),
        vocab if vocab is None or vocab.is_dir() else vocab.parent,
    )
    result = _result(arguments, done, text)
    _show(result)
    if arguments.json:
        emit(result)
    return 0


def _tokenizer(arguments: argparse.Namespace) -> Tokenizer | None:
    from bertsmith.checkpoints.locate import locate
    from bertsmith.common.errors import SettingsError
    from bertsmith.text.tokenizer import Tokenizer

    said = {} if arguments.lowercase is None else {"lowercase": arguments.lowercase}
    if arguments.vocab is None and not said:
        return None
    tokenizer = Tokenizer.load(arguments.vocab or locate(arguments.source).folder, **said)
    if said and tokenizer.lowercase != arguments.lowercase:
        raise SettingsError(
            "the tokenizer's own files say the opposite of --cased or --uncased",
            value=str(arguments.vocab or arguments.source),
            mend="give --vocab with the vocab.txt alone, in a folder by itself",
        )
    return tokenizer


def _lines(file: Path) -> list[str]:
    """The lines of a text that are not blank."""
    from bertsmith.common.errors import InputError

    try:
        text = file.read_text("utf-8-sig")
    except OSError as error:
        raise InputError(f"the file can not be read: {error.strerror}", file=file) from None
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start} is not UTF-8", file=file) from None
    return [line.strip() for line in text.split("\n") if line.strip()]


def _result(arguments: argparse.Namespace, done: Converted, text: list[str]) -> dict[str, Any]:
    from bertsmith.checkpoints.architectures import describe
    from bertsmith.text.counts import count_tokens

    config = done.model.config
    result: dict[str, Any] = {
        "source": str(arguments.source),
        "out": str(arguments.out),
        "layout": arguments.to,
        "weights": done.report.as_text(),
        "class": describe(done.model)["architectures"][0],
        "parameters": sum(one.numel() for one in done.model.parameters()),
        "vocabulary": done.tokenizer.size,
        "rows": config.vocab_size,
        "cased": not done.tokenizer.lowercase,
    }
    if done.added is not None:
        added = done.added
        result["added"] = {
            "tokens": [
                {"token": token, "id": number, "pieces": added.pieces[token]}
                for token, number in added.ids.items()
            ],
            "reused": added.reused,
            "known": added.known,
            "unreachable": added.unreachable,
            "unknown": added.unknown,
        }
    if text:
        before, after = (count_tokens(one, text) for one in (done.before, done.tokenizer))
        result["text"] = {"before": before, "after": after}
    return result


def _show(result: dict[str, Any]) -> None:
    from bertsmith.common.console import note, table, warn

    note(result["weights"])
    rows = [
        ("class", result["class"]),
        ("parameters", f"{result['parameters']:,}"),
        ("vocabulary", f"{result['vocabulary']:,} pieces, {result['rows']:,} rows"),
        ("case", "kept" if result["cased"] else "lower-cased"),
        ("written", f"{result['out']} ({result['layout']})"),
    ]
    table("model", ("fact", "value"), rows)
    added = result.get("added")
    if added:
        new = len(added["tokens"])
        reused = added["reused"]
        note(f"{new} words added: {reused} in unused entries, {new - reused} in new rows")
        for name, why in (
            ("known", "are in the vocabulary already"),
            ("unreachable", "would never be looked up: the tokenizer cuts them at spaces, "
             "punctuation or Chinese characters"),
            ("unknown", "were [UNK]: they have no pieces, and start at the mean of all rows"),
        ):  # fmt: skip
            if added[name]:
                more = ", ..." if len(added[name]) > _SHOWN else ""
                warn(f"{len(added[name])} words {why}: {', '.join(added[name][:_SHOWN])}{more}")
    if "text" in result:
        before, after = result["text"]["before"], result["text"]["after"]
        table(
            f"your text, {before['words']:,} words",
            ("", "before", "after"),
            [
                ("tokens", f"{before['tokens']:,}", f"{after['tokens']:,}"),
                (
                    "tokens a word",
                    f"{before['tokens_a_word']:.3f}",
                    f"{after['tokens_a_word']:.3f}",
                ),
                ("[UNK]", f"{before['unknown']:,}", f"{after['unknown']:,}"),
            ],
        )

"""``bertsmith VERB ...``: finds the verb, runs it, turns errors into messages and exit statuses."""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import sys
import time
from collections.abc import Sequence
from typing import NoReturn

from bertsmith.common.cores import share_cores
from bertsmith.common.errors import BertsmithError, nearest, readable
from bertsmith.common.heap import keep_freed_memory

# The verbs in the order of the work. A verb's module is imported only when it is used, so that
# --help answers at once.
VERBS = {
    "quickstart": "the whole job, on the documentation inside the installed Python or on PATH",
    "corpus": "raw text -> vocabulary and memory-mapped corpus, with a held-out part",
    "pretrain": "corpus -> pre-trained BERT, with a record of how it went",
    "finetune": "pre-trained BERT + a task's data -> fine-tuned model, scores, output files",
    "evaluate": "scores and output files of a fine-tuned model",
    "predict": "one line in, one JSON line out, by a fine-tuned model",
    "fill": "the most likely words for each [MASK]",
    "embed": "vectors of texts or tokens, to Parquet",
    "convert": "a model from one layout to another; new words into its vocabulary",
    "export": "a model as an ONNX graph, checked against it; 8 bits",
    "doctor": "what a model or a corpus is, and what is wrong with it",
    "report": "one self-contained HTML file about a run",
    "bench": "speed against other tools and against the machine's limit",
}

# The verbs that put many batches through a model.
_COMPUTING = ("quickstart", "pretrain", "finetune", "evaluate", "predict", "embed")

_FIRST_SPEAKS_S = 2.0
_OF_THE_USER = (
    errno.ENOSPC, errno.EACCES, errno.EDQUOT, errno.EROFS, errno.ENAMETOOLONG, errno.ENOTDIR,
    errno.EISDIR, errno.EEXIST,
)  # fmt: skip
_DESCRIPTION = """\
BERT as a tool: from raw text to a vocabulary, a corpus, an encoder and fine-tuned models.

A first run:
  bertsmith corpus my_texts/ --out corpus --vocab-size 8192
  bertsmith pretrain corpus --out run --recipe laptop-hour
  bertsmith fill run/model "The [MASK] sat on the mat."
"""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors name the nearest real flag."""

    def __init__(self, *args: object, **options: object) -> None:
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        options["allow_abbrev"] = False
        super().__init__(*args, **options)  # type: ignore[arg-type]

    def parse_known(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parse ``arguments``; an unknown flag is an error that names the nearest real one."""
        for flag in self._option_string_actions:
            if f"{flag}=--" in arguments:  # of which argparse makes an empty list
                self.error(f"argument {flag}: '--' is no value")
        found, unknown = self.parse_known_intermixed_args(arguments)
        if unknown:
            is_flag = unknown[0].startswith("-")
            word = unknown[0].split("=")[0] if is_flag else unknown[0]
            close = nearest(word, [flag for flag in self._option_string_actions if flag != "-h"])
            hint = f"; did you mean {close}?" if close and is_flag else ""
            self.error(f"unknown argument {word!r}{hint}")
        return found

    def error(self, message: str) -> NoReturn:
        """One line, where to look, status 2."""
        self.exit(2, f"{self.prog}: error: {readable(message)}\n  see {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0 done, 2 for what the user can mend."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not _one_of_several():
        return _status(words)
    try:
        status = _status(words)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    # All is written by now. Threads that torch keeps for DDP abort about one process in a hundred
    # while the interpreter takes itself apart, which a launcher takes for a run that failed.
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(status)


def _one_of_several() -> bool:
    """Whether a launcher has started this process as one of several; see train/processes.py."""
    return "RANK" in os.environ and os.environ.get("WORLD_SIZE", "1") != "1"


def _status(words: list[str]) -> int:
    settle(words[0] if words else "")
    try:
        return _run(words)
    except BertsmithError as error:
        complain(error)
        return 2
    except BrokenPipeError:
        # The reader of our output (head, say) has gone; nothing is left to say to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("bertsmith: interrupted", file=sys.stderr)
        return 130
    except MemoryError:
        complain(
            BertsmithError(
                "there is not enough memory", mend="give less at once, or run it where there is "
                "more; a small file that asks for this much is damaged",
            )
        )  # fmt: skip
        return 2
    except OSError as error:
        if error.errno not in _OF_THE_USER:
            raise
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        mend = "make room and run the same command again" if full else None
        where = str(error.filename or "writing")
        complain(BertsmithError(str(error.strerror), file=where, mend=mend))
        return 2


def _run(words: list[str]) -> int:
    try:
        if not words or words[0] not in VERBS:
            return _without_verb(words)
        # An input folder of the name show is ./show.
        name, rest = words[0], words[1:]
        if words[:2] == ["corpus", "show"]:
            name, rest = "corpus show", words[2:]
        verb = importlib.import_module(f"bertsmith.cli.{name.replace(' ', '_')}")
        parser = Parser(prog=f"bertsmith {name}", description=verb.__doc__)
        verb.add_arguments(parser)
        return int(verb.run(parser.parse_known(rest)))
    finally:
        if sys.stdout is not None:  # it is where stdout was closed from the beginning
            sys.stdout.flush()  # here, where a reader that is gone can be told


def complain(error: BertsmithError) -> None:
    """Say what is wrong; of several processes the first says what all have found."""
    rank = os.environ["RANK"] if _one_of_several() else "0"
    if rank != "0":
        # If the first found it too, its launcher ends this process meanwhile.
        time.sleep(_FIRST_SPEAKS_S)
    who = "bertsmith" if rank == "0" else f"bertsmith (process {rank})"
    print(f"{who}: error: {error}", file=sys.stderr)


def settle(verb: str) -> None:
    """Set the process up for a verb, before anything of it is imported."""
    if verb in VERBS:
        share_cores()
    if verb in _COMPUTING:
        keep_freed_memory()


def _without_verb(words: list[str]) -> int:
    parser = Parser(prog="bertsmith", description=_DESCRIPTION)
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    verbs = parser.add_argument_group("verbs (bertsmith VERB --help tells more)")
    for name, text in VERBS.items():
        # Shown in the help only: the verb itself is found before any parsing.
        verbs.add_argument(name, nargs="?", help=text)
    parser.usage = "bertsmith VERB ..."
    if words and not words[0].startswith("-"):
        close = nearest(words[0], VERBS)
        parser.error(f"no verb {words[0]!r}" + (f"; did you mean {close}?" if close else ""))
    if parser.parse_known(words).version:
        from importlib.metadata import version

        print(version("bertsmith"))
        return 0
    parser.print_help()
    return 0 if words else 2


if __name__ == "__main__":
    sys.exit(main())

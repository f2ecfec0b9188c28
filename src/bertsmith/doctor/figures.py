"""What the manifest of a corpus says, and what is odd about its counts."""

from __future__ import annotations

from bertsmith.corpus.encode import PARTS, Totals
from bertsmith.corpus.folder import MANIFEST
from bertsmith.corpus.manifest import Manifest
from bertsmith.doctor.chart import (
    Fact,
    Finding,
    Grade,
    Observations,
    counted,
    megabytes,
    percent,
    some,
)

# Above half, most documents have no second sentence that could follow the first.
MOSTLY = 0.5
# [UNK] tells a model nothing. A vocabulary of the text's language has below 0.1 %; Chinese text has
# 1 % with the Chinese vocabulary and 63 % with the English one.
UNKNOWN, UNUSABLE = 0.01, 0.2


def figures(manifest: Manifest) -> Observations:
    """The manifest in words."""
    names = [str(one.get("url", "")).rpartition("/")[2] for one in manifest.inputs]
    size = sum(int(one.get("bytes", 0)) for one in manifest.inputs)
    yield Fact(
        "made from",
        [one.get("url") for one in manifest.inputs],
        f"{counted(len(names), 'file')}, {megabytes(size)}: {some(names, 2)}",
    )
    read = dict(sorted(manifest.formats.items()))
    yield Fact(
        "read as", read, ", ".join(f"{form} ({counted(n, 'document')})" for form, n in read.items())
    )
    for part in PARTS:
        one = manifest.totals(part)
        yield Fact(
            {"train": "train", "held_out": "held-out"}[part],
            {name: one[name] for name in Totals.__dataclass_fields__},
            f"{counted(one['documents'], 'document')}, {counted(one['sentences'], 'sentence')}, "
            f"{counted(one['tokens'], 'token')}",
        )
    train = manifest.totals("train")
    yield Fact("tokens a word", train["tokens_per_word"], f"{train['tokens_per_word']:.2f}")
    yield Fact(
        "unknown",
        {"tokens": train["unknown"], "share": train["unknown_share"]},
        f"{counted(train['unknown'], 'token is', 'tokens are')} [UNK] "
        f"({percent(train['unknown_share'])})",
    )
    if manifest.settings.get("deduplicate"):
        dropped = manifest.duplicates_dropped
        yield Fact("copies dropped", dropped, f"{counted(dropped, 'document')}")


def documents(manifest: Manifest) -> Observations:
    """Documents, sentences and unknown tokens by their counts."""
    train, held_out = manifest.parts["train"], manifest.parts["held_out"]
    if not train["documents"]:
        yield Finding(Grade.BROKEN, "the corpus has no text to train on", MANIFEST,
                      "give bertsmith corpus text, and a smaller --held-out-percent")  # fmt: skip
        return
    if train["documents"] == 1:
        yield Finding(
            Grade.WARNING,
            "the corpus is one document: next-sentence prediction is not possible, since it takes "
            "random sentences from other documents",
            MANIFEST,
            "if it is several texts, part them by blank lines or files (--format), or train the "
            "masked LM alone",
        )
    yield from _held_out(held_out["documents"])
    single = train["single_sentence_documents"]
    if single > MOSTLY * train["documents"] and train["documents"] > 1:
        yield Finding(
            Grade.WARNING,
            f"{single:,} of {train['documents']:,} documents have one sentence only: there is "
            "hardly a pair for next-sentence prediction",
            MANIFEST,
            "is there a blank line after every sentence? --format says how text is laid out",
        )
    empty = train["empty_documents"] + held_out["empty_documents"]
    if empty:
        yield Finding(
            Grade.NOTE, f"{counted(empty, 'document')} had no token and was left out"
            if empty == 1 else f"{empty:,} documents had no token and were left out", MANIFEST,
        )  # fmt: skip
    share = train["unknown"] / max(1, train["tokens"])
    if share > UNKNOWN:
        unusable = share > UNUSABLE
        yield Finding(
            Grade.BROKEN if unusable else Grade.WARNING,
            f"{share:.1%} of the tokens are [UNK]: the vocabulary "
            + (
                "is not of this text's language"
                if unusable
                else "lacks characters of this text, or its capitals"
            ),
            MANIFEST,
            "train a vocabulary on the text: leave out --vocab",
        )


def _held_out(number: int) -> Observations:
    if number == 0:
        yield Finding(
            Grade.WARNING,
            "there is no held-out part: nothing will tell memory from learning",
            MANIFEST,
            "build it with --held-out-percent above 0, from two documents at least",
        )
    elif number == 1:
        yield Finding(
            Grade.WARNING,
            "the held-out part is one document: next-sentence prediction can not be measured on it",
            MANIFEST,
            "build it with a larger --held-out-percent",
        )

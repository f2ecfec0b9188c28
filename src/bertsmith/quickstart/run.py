"""The whole job in one call: corpus, vocabulary, pre-training, blanks, a task, reports."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bertsmith.common.console import note
from bertsmith.common.files import write_json
from bertsmith.common.settings import from_flags, read_recipe
from bertsmith.corpus.build import build_corpus
from bertsmith.corpus.settings import CorpusSettings
from bertsmith.corpus.summary import show as show_corpus
from bertsmith.pretrain.run import pretrain
from bertsmith.pretrain.settings import PretrainSettings
from bertsmith.pretrain.summary import show as show_run
from bertsmith.quickstart.documentation import write_documentation
from bertsmith.quickstart.finetuning import compare_with_random
from bertsmith.quickstart.finetuning import show as show_comparison
from bertsmith.quickstart.task import write_task
from bertsmith.reports.html import write_report

_MEGABYTES = 18.0
_VOCABULARY = 4096
_RECIPE = Path(__file__).parent.parent / "recipes" / "pretrain" / "quickstart.toml"


def quickstart(
    paths: list[str],
    out: Path,
    steps: int | None = None,
    reading: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Run the whole job and return the run's summary.

    On the documentation it ends with a task made from it, on which the pre-trained model has to
    beat the same model from random weights. The user's own text has no labels to make one from.

    Args:
        paths: the user's text; empty for the documentation inside the installed Python.
        out: folder for text, corpus and run.
        steps: steps of pre-training, None for those of the recipe.
        reading: corpus settings that say how to read the user's text.
    """
    settings = dict(read_recipe(PretrainSettings, _RECIPE))
    if steps is not None:
        settings["steps"] = steps
    checked = PretrainSettings(**settings)
    own = {"vocab_size": _VOCABULARY, "held_out_percent": 2.0}
    corpus_settings = from_flags(CorpusSettings, {**own, **(reading or {})})
    documentation = None if paths else out / "documentation.jsonl"
    if documentation is not None:
        note("text: the documentation inside this Python and its packages")
        if not documentation.exists():
            write_documentation(documentation, _MEGABYTES)
        paths = [str(documentation)]
    manifest = build_corpus(paths, out / "corpus", corpus_settings)
    show_corpus(manifest, out / "corpus")
    summary = pretrain(out / "corpus", out / "run", checked)
    show_run(summary, out / "run")
    if documentation is not None:
        write_task(documentation, out / "task")
        found = compare_with_random(out / "run" / "model", out / "task", out / "finetuned")
        show_comparison(found, out / "finetuned")
        summary = {**summary, "fine_tuning": found}
        write_json(out / "run" / "summary.json", summary)
        write_report(out / "run")
    note(f'try:    bertsmith fill {out / "run" / "model"} "Return the [MASK] of the list."')
    return summary

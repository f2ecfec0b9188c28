"""The model card: a README with the front matter that model hubs read."""

from __future__ import annotations

import json
from collections.abc import Mapping


def compose_card(
    title: str,
    facts: Mapping[str, object],
    *,
    front_matter: Mapping[str, object] | None = None,
    text: str = "",
) -> str:
    """A model card in Markdown.

    Args:
        title: the heading.
        facts: rows of the table of facts, name and value.
        front_matter: keys and values above the usual ones (``language``, ``license`` ...).
        text: paragraphs between the heading and the table.
    """
    front = {
        "library_name": "transformers",
        "pipeline_tag": "fill-mask",
        "tags": ["bert", "masked-language-model", "bertsmith"],
        **(front_matter or {}),
    }
    lines = ["---", *(f"{key}: {_yaml(value)}" for key, value in front.items()), "---", ""]
    lines += [f"# {title}", ""]
    lines += [text.strip(), ""] if text.strip() else []
    lines += ["| Fact | Value |", "| --- | --- |"]
    lines += [f"| {_cell(name)} | {_cell(_show(value))} |" for name, value in facts.items()]
    return "\n".join(lines) + "\n"


def _yaml(value: object) -> str:
    # JSON is YAML: quoting text this way leaves nothing for a YAML reader to guess.
    return json.dumps(value, ensure_ascii=False)


def _show(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")

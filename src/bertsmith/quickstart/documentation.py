"""Text that every machine with Python has: the documentation inside its modules.

Docstrings of the standard library and of the installed packages, and the language reference that
``help()`` shows, read from the source with ``ast``. Nothing is imported, so nothing runs.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bertsmith.common.console import Bar
from bertsmith.common.files import atomic_path

_LEAST_CHARACTERS = 400  # a document needs several sentences for next-sentence prediction
_MOST_BYTES = 2_000_000  # a larger module is data, not documentation
_CODE = re.compile(r"^\s*(>>>|\.\.\.|\$ |[-=~^*#]{3,}|\.\. |:\w+|@|[|+])|[{}\\]{2,}")
_LETTERS = 0.7  # least share of letters and spaces in a paragraph of prose


def write_documentation(target: Path, megabytes: float) -> int:
    """Write the documentation as JSON Lines, one document a module, and return their number.

    Args:
        target: file to write, one object with ``path``, ``library`` and ``text`` a line.
        megabytes: stop after this much text.
    """
    limit, size, count = megabytes * 1e6, 0, 0
    with (
        atomic_path(target) as part,
        part.open("w", encoding="utf-8") as stream,
        Bar("reading documentation (bytes)", limit) as bar,
    ):
        for library, name, path in source_files():
            text = module_text(path)
            if len(text) < _LEAST_CHARACTERS:
                continue
            line = json.dumps({"path": name, "library": library, "text": text})
            stream.write(line + "\n")
            size, count = size + len(line), count + 1
            bar.advance(len(line), f"{count:,} modules")
            if size >= limit:
                break
    return count


class SourceFile(NamedTuple):
    """A Python file: its library (``python`` for the standard one), its place in it, its path."""

    library: str
    name: str
    path: Path


def source_files() -> Iterator[SourceFile]:
    """The Python files of the standard library, then of the installed packages, sorted."""
    seen: set[Path] = set()
    for name in ("stdlib", "purelib", "platlib"):
        root = Path(sysconfig.get_path(name)).resolve()
        for path in sorted(root.rglob("*.py")):
            is_test = any(part in ("test", "tests", "testing", "idlelib") for part in path.parts)
            # The packages are inside the library's folder where there is no virtual environment.
            nested = name == "stdlib" and "site-packages" in path.parts
            if path not in seen and not is_test and not nested:
                seen.add(path)
                inner = path.relative_to(root)
                library = "python" if name == "stdlib" else inner.parts[0].removesuffix(".py")
                yield SourceFile(library, inner.as_posix(), path)


def module_text(path: Path) -> str:
    """The prose of a module's docstrings, a paragraph a line; empty where it can not be parsed."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            return ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of old escapes in other people's source
            tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return ""
    paragraphs: dict[str, None] = {}  # ordered, and each once: packages repeat their boilerplate
    for text in _docstrings(tree, path.parent.name == "pydoc_data"):
        for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(text)):
            joined = " ".join(paragraph.split())
            if _is_prose(paragraph, joined):
                paragraphs[joined] = None
    return "\n".join(paragraphs)


def _docstrings(tree: ast.Module, reference: bool) -> Iterator[str]:
    """Docstrings in the order of the file; of the language reference, every text."""
    if reference:
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
        return
    waiting: list[ast.AST] = [tree]
    while waiting:
        owner = waiting.pop()
        if isinstance(owner, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(owner, clean=True)
            if text:
                yield text
        # Only statements hold definitions: expressions, most of the tree, are not walked.
        inner = [
            child
            for block in ("body", "orelse", "handlers", "finalbody")
            for child in getattr(owner, block, ())
            if isinstance(child, ast.stmt | ast.ExceptHandler)
        ]
        waiting += reversed(inner)


def _is_prose(paragraph: str, joined: str) -> bool:
    if len(joined) < 40 or any(_CODE.search(line) for line in paragraph.splitlines()):
        return False
    return sum(char.isalpha() or char == " " for char in joined) / len(joined) >= _LETTERS

"""Imports go one way: a room imports from the rooms above it in docs/architecture.md."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "bertsmith"


def rooms() -> list[str]:
    text = (ROOT / "docs" / "architecture.md").read_text()
    return re.findall(r"^  (\w+)/ ", text.split("```")[1], flags=re.MULTILINE)


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_the_page_names_every_room() -> None:
    there = {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name[0] != "_"}
    assert set(rooms()) == there


def test_imports_go_one_way() -> None:
    order = {room: place for place, room in enumerate(rooms())}
    wrong = []
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).parts[0]
        for name in imports(path):
            first, *rest = name.split(".")
            if first == "bertsmith" and rest and order[rest[0]] > order.get(room, len(order)):
                wrong.append(f"{path.relative_to(SOURCE)} imports {name}")
    assert not wrong

from __future__ import annotations

import json

from bertsmith.quickstart.documentation import module_text, source_files, write_documentation

MODULE = '''"""The first line says what the module is for.

This paragraph is
wrapped over two lines.

>>> print("code is left out of the text that is learnt from")
"""

raise SystemExit("a module that is read is never run")


class Thing:
    """A thing that has a documentation string of its own."""

    def method(self):
        """This paragraph is
        wrapped over two lines.

        The method says something about itself as well.
        """
'''


def test_prose_of_a_module(tmp_path) -> None:
    path = tmp_path / "module.py"
    path.write_text(MODULE)
    assert module_text(path).split("\n") == [
        "The first line says what the module is for.",
        "This paragraph is wrapped over two lines.",
        "A thing that has a documentation string of its own.",
        "The method says something about itself as well.",
    ]


def test_what_can_not_be_parsed_is_passed_over(tmp_path) -> None:
    path = tmp_path / "module.py"
    path.write_bytes(b"def broken(:\n\xff")
    assert module_text(path) == ""


def test_this_machine_has_text(tmp_path) -> None:
    assert sum(1 for _ in source_files()) > 500
    target = tmp_path / "documentation.jsonl"
    count = write_documentation(target, 0.2)
    records = [json.loads(line) for line in target.read_text().splitlines()]
    assert len(records) == count > 5
    assert target.stat().st_size > 200_000

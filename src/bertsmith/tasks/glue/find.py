"""Where the files of GLUE tasks are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bertsmith.common.errors import InputError
from bertsmith.tasks.glue.layouts import AX, LAYOUTS, Layout, Split

Found = list[tuple[Layout, Split, Path]]


def find_glue(folder: Path) -> list[tuple[str, Path]]:
    """Name and folder of each GLUE task that has a folder in ``folder``, in the paper's order.

    Raises:
        InputError: there is none.
    """
    found = [
        (layout.name, place)
        for layout in LAYOUTS
        for place in subfolders(folder, layout.folders)
        if _files(layout, place)
    ]
    if not found:
        titles = ", ".join(layout.folders[0] for layout in LAYOUTS)
        raise InputError(
            "the folder holds no GLUE task", file=folder, mend=f"its folders are called: {titles}"
        )
    first = {name: (name, place) for name, place in reversed(found)}
    return [first[layout.name] for layout in LAYOUTS if layout.name in first]


def find_files(layout: Layout, path: Path) -> Found:
    """The files of a task, each with what it is; with MNLI also the diagnostic set.

    Args:
        layout: the task.
        path: its folder, the folder of all of GLUE, or one of its files.

    Raises:
        InputError: nothing of the task is there.
    """
    if path.is_file():
        return [_what_is(layout, path)]
    for place in (path, *subfolders(path, layout.folders)):
        found = _files(layout, place)
        if found:
            return found + (_diagnostic(place) if layout.name == "mnli" else [])
    names = ", ".join(name for split in layout.splits for name in split.files)
    raise InputError(
        f"no file of {layout.title} is there", file=path,
        mend=f"give the folder that has some of {names}",
    )  # fmt: skip


def subfolders(folder: Path, names: Sequence[str]) -> list[Path]:
    """The folders in ``folder`` with one of these names, upper and lower case alike."""
    if not folder.is_dir():
        wrong = "this is a file" if folder.exists() else "there is no such file or folder"
        raise InputError(wrong, file=folder, mend="give the folder of the tasks")
    wanted = {name.lower() for name in names}
    return sorted(one for one in folder.iterdir() if one.name.lower() in wanted and one.is_dir())


def _files(layout: Layout, folder: Path) -> Found:
    return [
        (layout, split, place)
        for split in layout.splits
        for place in [folder / name for name in split.files if (folder / name).is_file()][:1]
    ]


def _diagnostic(mnli: Path) -> Found:
    """The diagnostic set in MNLI's folder, in a folder there, or in one beside it."""
    around = mnli.absolute().parent
    for place in (mnli, *subfolders(mnli, AX.folders), *subfolders(around, AX.folders)):
        found = _files(AX, place)
        if found:
            return found
    return []


def _what_is(layout: Layout, path: Path) -> tuple[Layout, Split, Path]:
    """What a single file is, by its name; rows to predict on where the name says nothing."""
    for one in (layout, AX) if layout.name == "mnli" else (layout,):
        for split in one.splits:
            if path.name in split.files:
                return one, split, path
    return layout, next(split for split in layout.splits if split.kind == "test"), path

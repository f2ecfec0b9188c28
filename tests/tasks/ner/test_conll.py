from __future__ import annotations

import pytest

from bertsmith.common.errors import InputError
from bertsmith.tasks.ner.conll import ColumnFile, read_columns
from tests.data import data
from tests.tasks.ner.conftest import Write

N04 = (
    "-DOCSTART- -X- -X- O\n\nAna NNP B-NP B-PER\nlives VBZ B-VP O\n\n"
    "-DOCSTART- -X- -X- O\nRome NNP B-NP B-LOC"
)


def shown(found: ColumnFile) -> list[tuple[tuple[str, ...], tuple[str, ...] | None, int, int]]:
    return [(one.words, one.tags, one.document, one.line) for one in found.sentences]


ANA = (("Ana", "lives"), ("B-PER", "O"), 1, 3)


def test_markers_begin_documents_and_are_no_data(file: Write) -> None:
    """Case N04: a marker without an empty line around it, and no line end at the end."""
    found = read_columns(file("train.txt", N04), "utf-8", whole=True)
    assert shown(found) == [ANA, (("Rome",), ("B-LOC",), 2, 7)]
    assert found.documents == 2
    assert found.labelled
    assert not +found.counts


def test_a_marker_right_after_a_word_ends_the_sentence(file: Write) -> None:
    """Case N04."""
    text = N04.replace("\n\n-DOC", "\n-DOC")
    assert "O\n-DOC" in text
    found = read_columns(file("train.txt", text), "utf-8", whole=True)
    assert shown(found) == [ANA, (("Rome",), ("B-LOC",), 2, 6)]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.replace("\n", "\r").encode(),
        lambda text: (text + "\n").encode(),
        lambda text: (text + "\n\n \n\t\n").encode(),
        lambda text: text.replace("\n", " \n").encode(),
        lambda text: text.replace(" ", "\t").encode(),
        lambda text: text.replace(" ", "  ").encode(),
        lambda text: text.replace(" ", " \t").encode(),
    ],
    ids=["bom", "crlf", "cr", "last line end", "blank end", "blanks at line ends", "tabs",
         "two spaces", "spaces and tabs"],
)  # fmt: skip
def test_bytes_of_the_same_file(file: Write, change: object) -> None:
    """Case N04, in other spellings of the file."""
    content = change(N04)  # type: ignore[operator]
    found = read_columns(file("train.txt", content), "utf-8", whole=True)
    assert shown(found) == [ANA, (("Rome",), ("B-LOC",), 2, 7)]


def test_only_blanks_set_columns_apart(file: Write) -> None:
    """A word may be a no-break space, a line separator or a character of no width."""
    words = ["\u00a0", "\u2028", "\u200b", "\ufeff", "\u3000", "a\u0085b", "\x0b"]
    found = read_columns(
        file("a.txt", "x O\n" + "".join(f"{word} O\n" for word in words)), "utf-8", whole=True
    )
    assert found.sentences[0].words == ("x", *words)


def test_words_with_spaces_between_tabs(file: Write) -> None:
    found = read_columns(file("a.txt", "New York\tB-LOC\n.\tO\n"), "utf-8", whole=True)
    assert shown(found) == [(("New York", "."), ("B-LOC", "O"), 0, 1)]


def test_without_tags_the_row_is_the_word(file: Write) -> None:
    found = read_columns(
        file("a.txt", "-DOCSTART-\n\nAna\nlives\n\nNew York\n"), "utf-8", whole=True
    )
    assert not found.labelled
    assert shown(found) == [
        (("Ana", "lives"), None, 1, 3), (("New York",), None, 1, 6),
    ]  # fmt: skip
    assert found.counts["rows of several columns taken for a word"] == 1


MALFORMED = "Ana B-PER\n\nlives O\nin\nRome B-LOC\n\nhere O\n"


def test_a_malformed_sentence_is_skipped_whole(file: Write) -> None:
    path = file("a.txt", MALFORMED)
    found = read_columns(path, "utf-8", whole=False)
    assert [one.words for one in found.sentences] == [("Ana",), ("here",)]
    assert found.skipped == [f"{path}:4: the row has no tag, only 'in'; the sentence is left out"]


def test_a_malformed_row_is_refused_where_all_rows_count(file: Write) -> None:
    path = file("a.txt", MALFORMED)
    with pytest.raises(InputError, match="the row has no tag") as error:
        read_columns(path, "utf-8", whole=True)
    assert (error.value.file, error.value.line) == (str(path), 4)


def test_a_row_without_a_word(file: Write) -> None:
    path = file("a.txt", "Ana\tB-PER\n\tO\n")
    with pytest.raises(InputError, match="the row has no word") as error:
        read_columns(path, "utf-8", whole=True)
    assert error.value.line == 2


def test_an_odd_number_of_columns_is_told(file: Write) -> None:
    """A space inside a word of a file with spaces is likely the cause."""
    path = file("a.txt", "Ana B-PER\nNew York B-LOC\n. O\n")
    found = read_columns(path, "utf-8", whole=True)
    assert found.counts["rows with an odd number of columns"] == 1
    assert found.notes == [f"{path}:2: 3 columns where most rows have 2"]


def test_another_encoding_names_the_byte(file: Write) -> None:
    path = file("esp.train", "Ana B-PER\nCoruña B-LOC\n".encode("latin-1"))
    with pytest.raises(InputError, match="byte 14 is not utf-8") as error:
        read_columns(path, "utf-8", whole=True)
    assert error.value.line == 2
    assert "--encoding latin-1" in (error.value.mend or "")
    assert read_columns(path, "latin-1", whole=True).sentences[0].words == ("Ana", "Coruña")


@pytest.mark.parametrize("text", ["", "\n\n", "-DOCSTART- O\n\n-DOCSTART- O\n"])
def test_a_file_without_words_is_refused(file: Write, text: str) -> None:
    with pytest.raises(InputError, match=r"empty|no words"):
        read_columns(file("a.txt", text), "utf-8", whole=False)


def test_documents_without_sentences_are_counted(file: Write) -> None:
    text = "-DOCSTART- O\n\n-DOCSTART- O\n\nAna O\n\n-DOCSTART- O\n"
    found = read_columns(file("a.txt", text), "utf-8", whole=True)
    assert (found.documents, found.counts["documents without sentences"]) == (3, 2)
    assert [one.document for one in found.sentences] == [2]


@pytest.mark.parametrize(
    ("name", "sentences", "words", "documents"),
    [("eng.train", 14041, 203621, 946), ("eng.testa", 3250, 51362, 216),
     ("eng.testb", 3453, 46435, 231)],
)  # fmt: skip
def test_the_files_of_conll_2003(name: str, sentences: int, words: int, documents: int) -> None:
    """Sentences and words as published (cs/0306050, table 1); its table counts the markers of
    documents as sentences: 14,987, 3,466 and 3,684."""
    found = read_columns(data("ner", "conll2003", name), "utf-8", whole=True)
    assert len(found.sentences) == sentences
    assert sum(len(one.words) for one in found.sentences) == words
    assert found.documents == len({one.document for one in found.sentences}) == documents
    assert not found.notes
    assert not +found.counts


def test_a_file_without_markers() -> None:
    found = read_columns(data("ner", "conll2002-es", "esp.testa"), "utf-8", whole=True)
    assert (len(found.sentences), found.documents) == (1915, 0)

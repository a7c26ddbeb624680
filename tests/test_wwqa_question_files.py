"""Files of questions are read in any layout; what cannot be used is told with its line."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wolflab.errors import WolflabError
from wolflab.wwqa import question_files
from wolflab.wwqa.items import Item, write_items
from wolflab.wwqa.question_files import QuestionFile, read_questions

CSV = "ID,Question,Answer\n1,Do they vote?,Yes\n2,Who speaks last?,The Sheriff.\n"


def _put(folder: Path, data: str | bytes) -> Path:
    path = folder / "questions"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def read(folder: Path, data: str | bytes) -> QuestionFile:
    return read_questions(_put(folder, data))


def told(folder: Path, data: str | bytes) -> str:
    with pytest.raises(WolflabError) as refused:
        read(folder, data)
    return str(refused.value)


def asked(file: QuestionFile) -> list[tuple[str, str, str]]:
    return [(item.question, item.answer, item.form) for item in file.items]


BOTH = [("Do they vote?", "Yes", "yes_no"), ("Who speaks last?", "The Sheriff.", "open")]


@pytest.mark.parametrize(
    ("data", "layout", "lines"),
    [
        (CSV, "table", (2, 3)),
        ("\ufeff" + CSV.replace("\n", "\r\n"), "table", (2, 3)),
        (CSV.replace("\n", "\r"), "table", (2, 3)),
        (CSV.replace(",", ";"), "table", (2, 3)),
        (CSV.replace(",", "\t"), "table", (2, 3)),
        ("sep=;\r\n" + CSV.replace(",", ";"), "table", (3, 4)),
        (CSV.upper().replace("YES", "yes"), "table", (2, 3)),
        (CSV.encode("utf-16"), "table", (2, 3)),
        ('[{"question": "Do they vote?", "answer": "yes."},\n{"QUESTION": "Who speaks last?",'
         ' "ANSWER": "The Sheriff."}]', "JSON list", (1, 2)),
        ('{"Question": "Do they vote?", "Answer": "YES"}\n\n{"Question": "Who speaks last?",'
         ' "Answer": "The Sheriff."}\n', "JSON lines", (1, 3)),
    ],
)  # fmt: skip
def test_layouts_are_told_apart(
    tmp_path: Path, data: str | bytes, layout: str, lines: tuple[int, ...]
) -> None:
    file = read(tmp_path, data)
    found = [(q.casefold(), a.casefold(), form) for q, a, form in asked(file)]
    assert found == [(q.casefold(), a.casefold(), form) for q, a, form in BOTH]
    assert (file.layout, tuple(row.line for row in file.used), file.unusable) == (layout, lines, ())


def test_chinese_of_windows_is_read_and_told(tmp_path: Path) -> None:
    text = "Question,Answer\n狼人昨晚杀了谁？,3号玩家\n猎人能开枪吗？,能\n"
    file = read(tmp_path, text.encode("gbk"))
    assert [(item.question, item.answer) for item in file.items] == [
        ("狼人昨晚杀了谁？", "3号玩家"),
        ("猎人能开枪吗？", "能"),
    ]
    assert file.notes == ("it is in GB 18030 (GBK); what is written of it is in UTF-8",)


def test_a_head_of_30_mb_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(WolflabError, match="line 1: no columns Question and Answer"):
        read(tmp_path, f'"{"x" * 30_000_000}",Answer\nWho?,Nobody\n')


def test_our_own_items_come_back_whole(tmp_path: Path) -> None:
    items = (
        Item(question="Q?", answer="Yes", kind="night", rules="sheriff", value=True),
        Item(question="R?", answer="b", form="choice", choices=("a", "b"), kind="day"),
    )
    write_items(tmp_path / "built.jsonl", items)
    file = read_questions(tmp_path / "built.jsonl")
    assert (file.items, file.layout) == (items, "items")
    (tmp_path / "again.jsonl").write_bytes(file.rewritten(range(2)))
    assert read_questions(tmp_path / "again.jsonl").items == items


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (CSV.replace("vote", "voté").encode("latin-1"), "line 2: byte 0xe9 (the file's byte 32) is"),
        (CSV.replace("vote", "voté").encode("utf-16-le"), "as in UTF-32 and in UTF-16 without its mark"),
        (CSV.encode("utf-16")[:-1], "UTF-16 that breaks off"),
        (CSV.encode("utf-32"), "as in UTF-32 and in UTF-16 without its mark"),
        (("\ufeff" + CSV).encode("utf-32-be"), "as in UTF-32 and in UTF-16 without its mark"),
        (CSV.encode("utf-32-be"), "as in UTF-32 and in UTF-16 without its mark"),
        ("\ufeff狼人杀".encode("utf-32-le"), "as in UTF-32 and in UTF-16 without its mark"),
        (("一" + CSV).encode("utf-16-be"), "as in UTF-32 and in UTF-16 without its mark"),
        ("", "the file is empty"),
        ("\ufeff \n\n", "the file is empty"),
        (bytes(range(256)) * 20, "binary data and no text"),
        (b"PK\x03\x04 and more", "save it as CSV in UTF-8"),
        ("ID,Q,A\n1,a,b\n", "line 1: no columns Question and Answer; found 'id, q, a'"),
        ("Question,question,Answer\na,b,c\n", "2 columns are called 'question'; rename all but one"),
        ("Question,Answer\n", "no question in it can be used"),
        ("Question,Answer\n,Yes\n", "(line 2: its question is empty; fill it in)"),
        ('[{"question": "Q?", "answer": "Yes"},\n', "line 2: the JSON list breaks off"),
        ('[{"question": "Q?", "answer": "Yes"}] x', "something follows the end"),
        ("[\n{oops}]", "line 2: no JSON begins here"),
        ("[" * 100_000, "no JSON begins here"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_refused_in_a_sentence(
    tmp_path: Path, data: str | bytes, words: str
) -> None:
    sentence = told(tmp_path, data)
    assert words in sentence
    assert sentence.startswith(str(tmp_path / "questions"))
    assert "\n" not in sentence


def test_no_file_a_folder_and_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path, sentence in ((tmp_path, "it is a folder and no file"), (tmp_path / "none", "there is no file")):
        with pytest.raises(WolflabError, match=sentence):
            read_questions(path)
    monkeypatch.setattr(question_files, "LARGEST", 2**20)
    assert "larger than 1 MiB" in told(tmp_path, "x" * (2**20 + 1))
    assert "larger than 1 MiB" in _told_of(Path("/dev/zero"))


def _told_of(path: Path) -> str:
    with pytest.raises(WolflabError) as refused:
        read_questions(path)
    return str(refused.value)


def test_unusable_rows_of_a_table_are_listed(tmp_path: Path) -> None:
    rows = (
        "ID,Question,Answer",
        '1,"Two\nlines?",Yes',
        "2,short",
        "3,a,b,c",
        "4,nul\0,Yes",
        "5," + "x" * 1_000_000 + ",Yes",
        '6,"odd" quotes,Yes',
        ",,",
        "7,?,no.",
        '8,"open,Yes',
        "9,Lost?,No",
    )
    file = read(tmp_path, "\n".join(rows))
    assert asked(file) == [("Two\nlines?", "Yes", "yes_no"), ("?", "No", "yes_no")]
    assert [row.line for row in file.used] == [2, 10]
    found = [(row.line, row.made) for row in file.unusable]
    assert [line for line, _ in found] == [4, 5, 6, 7, 8, 11]
    for (_, why), words in zip(
        found,
        (
            "2 cells under 3",
            "4 cells under 3",
            "NUL",
            "1,000,000 characters",
            "does not close",
            "(to line 12)",
        ),
        strict=True,
    ):
        assert words in why
    assert all(len(why) < 200 for _, why in found)


def test_unusable_rows_of_json_are_listed(tmp_path: Path) -> None:
    rows = (
        '{"Question": "Q?", "Answer": "Yes", "source": "\\ud800"}',
        '{"question": "half \\ud800", "answer": "No"}',
        '{"question": "a", "question": "b", "answer": "No"}',
        '{"question": "a", "Question": "b", "answer": "No"}',
        '{"question": "a", "answer": true}',
        '{"question": "a"}',
        "3",
        "{oops}",
        '{"question": "a", "answer": "perhaps", "form": "yes_no", "kind": "x"}',
        '{"question": "a", "answer": "c", "form": "choice", "choices": ["b"]}',
        '{"question": "a", "answer": "c", "difficulty": "x"}',
        '{"question": "a", "answer": "c", "kind": "\\ud800"}',
        '{"question": "a", "answer": "c", "derivation": "\\ud800"}',
    )
    expected = (
        "lone surrogate",
        "twice",
        "several entries 'question'",
        "'true' and no text",
        "no entry 'answer'",
    )
    expected += (
        "no object",
        "no JSON object",
        "write Yes or No",
        "none of its choices",
        "no item",
        "half of",
        "half of",
    )
    for data, line in (("\n".join(rows), 2), ("[" + ",\n".join(rows[:7]) + "]", 2)):
        file = read(tmp_path, data)
        assert [row.line for row in file.unusable] == list(range(line, line + len(file.unusable)))
        for problem, words in zip(file.unusable, expected, strict=False):
            assert words in str(problem.made)
        assert len(file.unusable) == (12 if data.startswith("{") else 6)
        assert file.rewritten([0]).decode()  # the other column's half of a character is written as it was


def test_cells_that_look_like_formulas_are_text_and_harmless_when_written(tmp_path: Path) -> None:
    data = 'Question,Answer,Note\n"=HYPERLINK(""x"")",Yes,+1\n\'=1,No,-\n\'Guard\' or not?,No,\n'
    file = read(tmp_path, data)
    assert [item.question for item in file.items] == ['=HYPERLINK("x")', "=1", "'Guard' or not?"]
    assert file.formulas == 3
    text = file.rewritten([0, 1, 2]).decode()
    assert text.splitlines()[1] == '"\'=HYPERLINK(""x"")",Yes,\'+1'
    again = read(tmp_path, text)
    assert again.items == file.items
    assert again.formulas == 0


def test_a_file_is_written_again_in_its_own_layout(tmp_path: Path) -> None:
    table = "\ufeffid;Question;Source;ANSWER\r\n1;a, b;x;yes.\r\n2;b;y;No\r\n"
    assert read(tmp_path, table).rewritten([0, 1]).decode() == table
    assert read(tmp_path, table).rewritten([1], {1: "Yes"}).decode("utf-8-sig").endswith("\r\n2;b;y;Yes\r\n")
    rows = [{"Question": "ä", "Answer": "yes", "n": 1}, {"Question": "b", "Answer": "x"}]
    for data in (json.dumps(rows), "\n".join(map(json.dumps, rows))):
        file = read(tmp_path, data)
        again = read(tmp_path, file.rewritten([1, 0], {0: "No"}))
        assert [row.raw for row in again.used] == [rows[1], rows[0] | {"Answer": "No"}]
        assert again.layout == file.layout


LETTERS = st.characters(codec="utf-8", exclude_categories=["Cc"], include_characters="\t\r\n")
TEXTS = st.text(LETTERS, min_size=1, max_size=30)


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=8), st.sampled_from(",;\t|"))
def test_any_table_survives_reading_and_writing(rows: list[tuple[str, str, str]], mark: str) -> None:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=mark).writerows([("Question", "Answer", "more"), *rows])
    with tempfile.TemporaryDirectory() as folder:
        path = _put(Path(folder), out.getvalue())
        try:
            file = read_questions(path)
        except WolflabError:
            assert not any(q.strip() and a.strip() for q, a, _ in rows)
            return
        assert len(file.items) + len(file.unusable) == sum(any(c.strip() for c in row) for row in rows)
        again = read_questions(_put(Path(folder), file.rewritten(range(len(file.items)))))
    assert again.items == file.items


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = _put(Path(folder), data)
        try:
            assert read_questions(path).items
        except WolflabError as refused:
            words = str(refused)
            assert words.startswith(str(path))

"""Files of others in the encodings that spreadsheets and editors of Windows still write."""

from __future__ import annotations

from pathlib import Path

import pytest

from wolflab.files import text_in

CHINESE = (
    "我昨晚查验了3号玩家，他是狼人。",
    "id,reasonable,comment\na1,yes,好\na2,no,是",
    "编号,理由\n1,幻觉",
    "玩家2 说 GPT 是狼",
    "我觉得AI很强",
)
WESTERN = (
    "café",
    "Müller",
    "Größe",
    "Ärger über Öl",
    "STRASSE, ÄÖÜ",
    "“Hello” she said – it’s",
    "señor ¿qué?",
    "déjà vu, garçon",
    "Åse spiser smørrebrød",
    "coração",
    "façade…ok",
    "ÀÉÈ",
    "price 5€ each",
)


@pytest.mark.parametrize("text", CHINESE)
@pytest.mark.parametrize("encoding", ["gbk", "gb18030"])
def test_chinese_is_read_as_such(text: str, encoding: str) -> None:
    assert text_in(text.encode(encoding)) == (text, "gb18030")


def test_japanese_makes_no_chinese() -> None:
    assert text_in("わたしは占い師です。あの人は狼だと思います。".encode("euc_jp"))[1] != "gb18030"


@pytest.mark.parametrize("text", WESTERN)
def test_accents_make_no_chinese(text: str) -> None:
    assert text_in(text.encode("cp1252")) == (text, "cp1252")


@pytest.mark.parametrize("text", [*CHINESE, *WESTERN])
def test_unicode_comes_first(text: str) -> None:
    assert text_in(text.encode()) == (text, "utf-8")
    assert text_in(text.encode("utf-8-sig")) == (text, "utf-8-sig")
    assert text_in(text.encode("utf-16"))[0] == text


def test_any_bytes_are_some_text() -> None:
    assert text_in(bytes(range(256)))[1] == "latin-1"


def test_the_words_of_the_labelled_sets_are_no_chinese() -> None:
    files = [path for path in (Path(__file__).parent / "reading").rglob("*") if path.is_file()]
    assert files
    for path in files:
        western = path.read_bytes().decode("utf-8", "replace").encode("cp1252", "ignore")
        assert text_in(western)[1] != "gb18030", path.name

"""Statements are cleaned before they enter the game; cleaned words stay as they are when cleaned again.

After `clean` a speech is one line of bounded length that no prompt can mistake for anything else: it
cannot close its quotation, open a section, imitate a numbered fact, the moderator or a chat role, or
carry invisible characters. What it says in words is left alone: lying is part of the game.

A name that opens somebody else's turn is known in look-alike letters too: Cyrillic, Greek, Armenian, small
capitals, letters with accents, and with what is invisible in between (`_LOOKS_LIKE`; full-width and other
dressed letters are plain once they are normalised). Not known are letters of other scripts, letters set apart
by spaces or dots, misspellings, and names in other languages.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

LIMIT = 1000
"""Characters of a statement, unless the caller says otherwise."""

_SWAPS = str.maketrans(
    {
        **dict.fromkeys('"“”„‟«»〝〞〟`´″', "'"),
        **dict.fromkeys("<≺⟨〈", "‹"),
        **dict.fromkeys(">≻⟩〉", "›"),
        **dict.fromkeys("[{【〔⟦", "("),
        **dict.fromkeys("]}】〕⟧", ")"),
        **dict.fromkeys("∶ːˑ׃꞉︰ꓽ։፡᠄⁚˸܃܄", ":"),
        "*": None,
        "\\": "/",
    }
)
"""Quotes that would close the statement, brackets that number facts or hold JSON, angle brackets of
tags, look-alikes of the colon, and Markdown's emphasis."""

_MARKS = re.compile(r"[#=~|+]{2,}|_{2,}|-{3,}|'{3,}|(?:^|(?<=\s))#+(?=\s)")
"""Fences, rules and headings of Markdown."""

_ROLE_TAG = re.compile(
    r"\b(system|assistant|user|human|developer|tool|function|moderator|host|narrator|instructions?|"
    r"response format|remaining players|rules)([\s_')(|-]*):",
    re.IGNORECASE,
)
"""A word that opens somebody else's turn or a section of the prompt, with its colon."""


_LETTERS = (
    ("авгеёкмнопрстухцѕіїјһӏԁԛԝѵ", "abreekmhonpctyxusiijhldqwv"),
    ("αβγεηικμνορστυχωϲϳ", "abyenikuvopotuxwcj"),
    ("օսոհցզքյ", "ounhgqpj"),
    ("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢıɑȷɾɡ", "abcdefghijklmnoprstuvwyziajrg"),
    ("0", "o"),
)
"""Small letters, and what each looks like."""
_CAPITALS = ("ВНРСТУХЕАОМКІЈЅΑΒΕΖΗΙΚΜΝΟΡΤΥΧѴԌ", "bhpctyxeaomkijsabezhikmnoptyxvg")
_LOOKS_LIKE = {
    ord(sign): plain
    for signs, plains in (*_LETTERS, _CAPITALS)
    for sign, plain in zip(signs, plains, strict=True)
}
"""Letters by their code, and the small Latin letter that each looks like, or whose capital."""
_UNSEEN = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Invisible letters and signs."""


def _without_tags(text: str) -> str:
    """The text with a comma in place of each colon behind a word of `_ROLE_TAG`, however it is written."""
    if text.isascii():
        found = _ROLE_TAG.finditer(text.replace("0", "o"))
        ends = [match.end() - 1 for match in found]
    else:
        places, plain = [], []
        for place, sign in enumerate(text):
            base = unicodedata.normalize("NFD", sign)[0]
            if sign not in _UNSEEN and not unicodedata.combining(base) and unicodedata.category(base) != "Mn":
                places.append(place)
                plain.append(_LOOKS_LIKE.get(ord(base), base))
        ends = [places[match.end() - 1] for match in _ROLE_TAG.finditer("".join(plain))]
    for end in ends:
        text = f"{text[:end]},{text[end + 1 :]}"
    return text


@lru_cache(1 << 13)
def clean(text: str, limit: int = LIMIT) -> str:
    """`text` as it may stand in the record and in prompts: one line of at most `limit` characters.

    Unicode is normalised (NFKC), control, zero-width and bidirectional characters are removed. Cleaning
    twice gives the same as cleaning once. The result may be empty.
    """
    text = text[: 8 * limit + 256]
    for _ in range(8):
        before, text = text, _once(text)
        if text == before:
            break
    if len(text) > limit:
        text = text[: max(0, limit - 3)].rstrip() + "..."[:limit]
    return text


_ORDINARY = re.compile(r"(?>(?:[A-Za-z0-9.,;!?()]++|[ _'/-](?![ _'/-]))*)")
"""Plain prose, which stays as it is: most of what is said. (Possessive: hostile text costs no more.)"""


def _once(text: str) -> str:
    if _ORDINARY.fullmatch(text) and text == text.strip():
        return text
    if not (text.isascii() and text.isprintable()):  # plain text needs none of this
        text = unicodedata.normalize("NFKC", text)
        text = "".join(_plain(char) for char in text)
    text = text.translate(_SWAPS)
    text = _MARKS.sub(" ", text)
    text = _without_tags(text)
    return " ".join(text.split())


def _plain(char: str) -> str:
    """White space of any kind as a space; control, format, private and unassigned characters gone."""
    if char.isspace():
        return " "
    return "" if unicodedata.category(char)[0] == "C" else char


_SILENT = re.compile(
    r"[\W_]*(?:(?:i |we )?(?:says?|said|have|has|had) nothing(?: to say| to add)?|silence|silent|"
    r"(?:i |i'll |i will )?(?:remains?|stays?|keep) (?:silent|quiet)|"
    r"no comment|no statement|nothing|pass|skip|none)?[\W_]*",
    re.IGNORECASE,
)


def is_silence(text: str) -> bool:
    """Whether a cleaned statement only says that nothing is said ("(silence)", "I stay silent.")."""
    return _SILENT.fullmatch(text) is not None and any(c.isalpha() for c in text)


_IN_BRACKETS = r"\d{1,4}(?:\s*(?:,|;|and|to|-)\s*\d{1,4})*"
_AFTER_A_WORD = r"\s+#?\d{1,4}(?:(?:\s*,\s*|\s*-\s*|,?\s+(?:and|or|to)\s+)#?\d{1,4}\b)*(?!\w)"
"""Numbers of lines as they are cited: "3, 12" between brackets, " 4 and 7" after "lines"."""

_NUMBERED = re.compile(
    rf"\s*\[{_IN_BRACKETS}\]|\b(?P<word>line|fact|item|statement)(?P<many>s?){_AFTER_A_WORD}", re.IGNORECASE
)


def unnumbered(text: str) -> str:
    """A reasoning for readers for whom lines have other numbers now: "an earlier line" for "line 4"."""

    def reworded(citation: re.Match[str]) -> str:
        word = citation["word"]
        if word is None:
            return ""
        earlier = f"earlier {word.lower()}s" if citation["many"] else f"an earlier {word.lower()}"
        return earlier.capitalize() if word[0].isupper() else earlier

    return _NUMBERED.sub(reworded, text)


_CITED = re.compile(
    rf"\s*[\[(]{_IN_BRACKETS}[\])]"
    rf"|\s*\b(?:lines?|pieces?|facts?|evidence|information|items?){_AFTER_A_WORD}",
    re.IGNORECASE,
)
"""Line numbers where a reasoning cites them: "(3, 12)", "lines 4 and 7"."""


@lru_cache(1 << 13)
def uncited(text: str) -> str:
    """A reasoning without the numbers of lines, for an embedder."""
    return " ".join(_CITED.sub("", text).split()) if any(char.isdigit() for char in text) else text

"""`wolflab wwqa adapter` and `parity`: an adapter handed on to servers, and whether they do as here."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

from rich.console import Console

from ... import __version__
from ...errors import WolflabError
from ...lab.plans.overrides import model_given
from ...rules import preset
from ...wwqa.adapters import (
    AdapterTarget,
    is_adapter,
    read_adapter,
    save_base_gguf,
    save_gguf,
    save_merged,
)
from ...wwqa.parity import (
    AnswerPair,
    Gap,
    Parity,
    PromptPair,
    Way,
    adapter_tokenizer,
    compare,
    drawn_messages,
    first_word,
    tokens_in_words,
)
from ...wwqa.sources import read_questions
from ..commands import bar, write_numbers
from ..console import say
from ..wording import counted

_LONGEST = 300
"""Characters of a prompt or a reply that are shown of each side."""
_WRITTEN: Mapping[str, str] = {
    "merged": "whole weights",
    "gguf": "an adapter for llama.cpp",
    "merged-gguf": "whole weights for llama.cpp",
}
_WAYS: Mapping[Way, str] = {
    "tokenize": "the server's own tokens (/tokenize)",
    "apply-template": "the server's own tokens (/apply-template and /tokenize)",
    "gguf": "the tokens that llama-cpp-python makes with the file of --gguf, and their number at the server",
    "count": "the number of tokens alone, for this server shows no more",
}


def hand_on(console: Console, adapter: Path, to: str, out: Path, llama_cpp: Path | None) -> None:
    """Write an adapter as `to` says, and tell what can be done with it."""
    if to not in get_args(AdapterTarget):
        raise WolflabError(f"--to: got {to!r}; write {', '.join(get_args(AdapterTarget))}")
    if to == "merged-gguf" and not is_adapter(adapter):
        save_base_gguf(str(adapter), out, llama_cpp)
        say(console, f"{_WRITTEN[to]} ({adapter}, without an adapter) written to {out}")
        return
    known = read_adapter(adapter)
    if to == "merged":
        save_merged(known, out)
    else:
        save_gguf(known, out, llama_cpp, whole=to == "merged-gguf")
    say(console, f"{_WRITTEN[to]} (base {known.base}) written to {out}")


@dataclass(frozen=True)
class ParityWanted:
    """What the command line asks for. model: as written there. rules: of questions that do not say theirs."""

    adapter: Path
    questions: Path
    model: str
    set_: tuple[str, ...] = ()
    out: Path = Path("parity.json")
    gguf: Path | None = None
    n: int = 50
    seed: int = 1
    least: float = 0.96
    rules_text: str = "yes"
    rules: str | None = None


def check_parity(console: Console, wanted: ParityWanted) -> bool:
    """Compare prompts and answers, print and write what was found. Returns whether parity holds."""
    if wanted.rules_text not in ("yes", "no"):
        raise WolflabError(f"--rules-text: got {wanted.rules_text!r}; write yes or no")
    if wanted.out.is_dir():  # said before anybody is asked, for the answers are on file nowhere else
        raise WolflabError(f"-o {wanted.out}: that is a folder; name a file for prompts and answers")
    read_adapter(wanted.adapter)
    file = read_questions(wanted.questions)
    for sentence in file.troubles():
        say(console, sentence)
    known = None if wanted.rules is None else preset(wanted.rules)
    messages = drawn_messages(file.items, wanted.n, wanted.seed, wanted.rules_text == "yes", known)
    shown = bar(console)
    tasks = {side: shown.add_task(side, total=len(messages), visible=False) for side in ("server", "here")}

    def watch(side: str, done: int) -> None:
        shown.update(tasks[side], completed=done, visible=True)

    with shown:
        spec = model_given(wanted.model, wanted.set_)
        found = asyncio.run(compare(wanted.adapter, spec, messages, wanted.gguf, wanted.least, watch))
    tokenizer = adapter_tokenizer(wanted.adapter)
    given = {
        "adapter": str(wanted.adapter),
        "questions": str(wanted.questions),
        "model": wanted.model,
        "gguf": None if wanted.gguf is None else str(wanted.gguf),
        "rules text": wanted.rules_text,
        "seed": wanted.seed,
    }
    for line, style in parity_lines(found, tokenizer):
        say(console, line, style)
    write_numbers(wanted.out, parity_data(found, given, tokenizer))
    say(console, f"all prompts and answers as data: {wanted.out}")
    return found.holds


def parity_data(found: Parity, given: Mapping[str, Any], tokenizer: Any) -> dict[str, Any]:
    """What was found as JSON values. Prompts that differ carry both sides' tokens as text."""

    def told(pair: PromptPair) -> dict[str, Any]:
        data = {**asdict(pair), "same": pair.same}
        if not pair.same and pair.server is not None:
            data["training as text"] = tokens_in_words(tokenizer, pair.training)
            data["server as text"] = tokens_in_words(tokenizer, pair.server)
        return data

    return {
        "wolflab": __version__,
        **given,
        "compared": _WAYS[found.way],
        "holds": found.holds,
        "equal prompts": found.equal_prompts,
        "equal first words": found.equal_answers if found.answers else None,
        "needed": found.needed,
        "prompts": [told(pair) for pair in found.prompts],
        "answers": [{**asdict(pair), "same": pair.same} for pair in found.answers],
    }


def parity_lines(found: Parity, tokenizer: Any) -> list[tuple[str, str]]:
    """(line, style) each: what was compared, the numbers, and the first difference."""
    n = len(found.prompts)
    said = [
        (f"prompts of {counted(n, 'question')}: {found.equal_prompts} are equal", ""),
        (f"compared: {_WAYS[found.way]}", ""),
    ]
    wrong = next((pair for pair in found.prompts if not pair.same), None)
    if wrong is not None:
        said += [(line, "yellow") for line in _prompt_lines(wrong, tokenizer, found.way)]
        return [
            *said,
            ("Parity fails: the server tells the model something else than training did.", "red"),
        ]
    said.append((f"first words: {found.equal_answers} of {n} are equal, {found.needed} needed", ""))
    other = next((pair for pair in found.answers if not pair.same), None)
    if other is not None:
        said += [(line, "yellow") for line in (*_answer_lines(other), _close_calls(found))]
    if found.holds:
        return [*said, ("Parity holds.", "green")]
    return [*said, ("Parity fails: told the same, the server answers otherwise too often.", "red")]


def _prompt_lines(pair: PromptPair, tokenizer: Any, way: Way) -> list[str]:
    """Where the two prompts of a question part."""
    gap, ours = pair.gap, len(pair.training)
    if gap is None and way == "gguf":
        return [
            f"question {pair.item}: the prompt has {ours:,} tokens in training and by the file of --gguf, "
            f"and {pair.counted:,} at the server: it serves another file, or has another chat format set"
        ]
    if gap is None:
        more = "" if way != "count" else "; it does not show which. With --gguf the tokens can be compared"
        return [
            f"question {pair.item}: the prompt has {ours:,} tokens in training and {pair.counted:,} at the "
            f"server{more}"
        ]
    alike, theirs = counted(gap.place, "equal token"), len(pair.server or ())
    return [
        f"The first difference, in question {pair.item}, after {alike} of {ours:,} in training and "
        f"{theirs:,} at the server:",
        *_gap_lines(gap, tokenizer),
    ]


def _gap_lines(gap: Gap, tokenizer: Any) -> list[str]:
    def text(tokens: Sequence[int]) -> str:
        if not tokens:
            return "nothing"
        words, ids = tokens_in_words(tokenizer, tokens), " ".join(map(str, tokens[:12]))
        return f"{_quoted(words)}  (tokens {ids}{' …' if len(tokens) > 12 else ''})"

    return [
        f"  before, on both sides: {text(gap.before)}",
        f"  in training:           {text(gap.training)}",
        f"  at the server:         {text(gap.server)}",
        f"  after, on both sides:  {text(gap.after)}",
    ]


def _answer_lines(pair: AnswerPair) -> list[str]:
    """The first question that is answered otherwise."""
    close = ", ".join(f"{_quoted(token)} {share:.2f}" for token, share in pair.likeliest)
    return [
        f"The first question answered otherwise, {pair.item}: {_quoted(pair.message[-_LONGEST:])}",
        f"  here:   {_quoted(pair.here)} (first word {first_word(pair.here)!r}; likeliest: {close})",
        f"  server: {_quoted(pair.server)} (first word {first_word(pair.server)!r})",
    ]


def _close_calls(found: Parity) -> str:
    """How sure base and adapter were here of the answers that came out otherwise."""
    leads = [
        pair.likeliest[0][1] - pair.likeliest[1][1]
        for pair in found.answers
        if not pair.same and len(pair.likeliest) > 1
    ]
    return (
        "Where answers differ, the token that the first word begins with led the next one here by "
        f"{max(leads, default=0):.2f} of probability at most. Small leads are turned by rounding, as in a "
        "base of 4-bit numbers."
    )


def _quoted(text: str) -> str:
    """With line ends and the like visible; the middle of a long text is left out."""
    half = _LONGEST // 2
    cut = text if len(text) <= _LONGEST else f"{text[:half]} […] {text[-half:]}"
    return json.dumps(cut, ensure_ascii=False)

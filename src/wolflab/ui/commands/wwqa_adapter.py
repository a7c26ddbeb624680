"""`wolflab wwqa adapter` and `parity`: merge an adapter for servers, and compare a server with training."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from difflib import SequenceMatcher
from pathlib import Path
from typing import Annotated, Any

import typer

from ... import __version__
from ...errors import WolflabError
from ...lab.plans.overrides import model_given
from ...rules import preset
from ...wwqa.adapters import LoraAdapter
from ...wwqa.parity import (
    AnswerPair,
    Parity,
    PromptPair,
    Tokens,
    TokenSource,
    compare,
    drawn_messages,
    first_word,
    token_decoder,
)
from ...wwqa.question_files import read_questions
from ..terminal.console import console, print_json, say
from ..wording import counted
from .common import bar, write_numbers
from .options import AsJson, ModelSet, RulesOfQuestions, SendKeys, commands, finish

_LONGEST = 300
"""The most characters shown of a prompt or a reply."""
_AROUND = 8
"""Tokens shown before and after a difference."""
_SOURCES: Mapping[TokenSource, str] = {
    "tokenize": "the server's own tokens (/tokenize)",
    "apply-template": "the server's own tokens (/apply-template and /tokenize)",
    "count": "the number of tokens alone, for this server shows no more",
}
AdapterFolder = Annotated[Path, typer.Argument(help="The folder of a LoRA adapter.", show_default=False)]


@commands.command("wwqa adapter", epilog="Example:  `wolflab wwqa adapter tuned/adapter -o merged`")
def merge_adapter(
    adapter: AdapterFolder,
    out: Annotated[Path, typer.Option("-o", "--out", help="A new folder.", show_default=False)],
) -> None:
    """Merge a trained adapter into its base, as a folder of weights that servers load."""
    known = LoraAdapter.read(adapter)
    known.save_merged(out)
    say(console(), f"merged weights (base {known.base}) written to {out}")


@commands.command(
    "wwqa parity",
    epilog="Example:  `wolflab wwqa parity tuned/adapter questions.jsonl --model vllm/tuned`",
)
def check_parity(
    adapter: AdapterFolder,
    questions: Annotated[Path, typer.Argument(help="A file of questions.", show_default=False)],
    model: Annotated[str, typer.Option(help="The adapter behind a server.", show_default=False)],
    set_: ModelSet = [],
    out: Annotated[Path, typer.Option("-o", "--out", help="The file of all prompts and answers.")] = Path(
        "parity.json"
    ),
    n: Annotated[int, typer.Option("--n", min=1, help="How many questions.")] = 50,
    seed: Annotated[int, typer.Option(help="Another seed draws others.")] = 1,
    least: Annotated[
        float, typer.Option(min=0, max=1, help="The share of first words that has to be equal.")
    ] = 0.96,
    rules_text: Annotated[str, typer.Option(help="The rules in front: yes or no.")] = "yes",
    rules: RulesOfQuestions = None,
    yes: SendKeys = False,
    json: AsJson = False,
) -> None:
    """Compare a server with training: prompts token by token, and first words of answers."""
    screen = console()
    if rules_text not in ("yes", "no"):
        raise WolflabError(f"--rules-text: got {rules_text!r}; write yes or no")
    if out.is_dir():  # checked before any call, because the answers are stored nowhere else
        raise WolflabError(f"-o {out}: that is a folder; name a file for prompts and answers")
    LoraAdapter.read(adapter)
    file = read_questions(questions)
    for sentence in file.troubles():
        say(screen, sentence)
    known = None if rules is None else preset(rules)
    messages = drawn_messages(file.items, n, seed, rules_text == "yes", known)
    shown = bar(screen)
    tasks = {side: shown.add_task(side, total=len(messages), visible=False) for side in ("server", "here")}
    with shown:
        found = asyncio.run(
            compare(
                adapter,
                model_given(model, set_),
                messages,
                least,
                lambda side, done: shown.update(tasks[side], completed=done, visible=True),
            )
        )
    decode = token_decoder(adapter)
    for line, style in _lines(found, decode):
        say(screen, line, style)
    asked = {"adapter": str(adapter), "questions": str(questions), "model": model}
    drawn = {"rules text": rules_text, "seed": seed}
    numbers = {"wolflab": __version__, **asked, **drawn, **_as_data(found, decode)}
    write_numbers(out, numbers)
    print_json(numbers)
    say(screen, f"all prompts and answers as data: {out}")
    finish(found.holds)


def _as_data(found: Parity, decode: Callable[[Tokens], str]) -> dict[str, Any]:
    """The result as JSON values. Prompts that differ carry both sides' tokens as text."""
    prompts = [{**asdict(pair), "same": pair.same} for pair in found.prompts]
    for pair, data in zip(found.prompts, prompts, strict=True):
        if not pair.same and pair.server is not None:
            data["training as text"] = decode(pair.training)
            data["server as text"] = decode(pair.server)
    return {
        "compared": _SOURCES[found.source],
        "holds": found.holds,
        "equal prompts": found.equal_prompts,
        "equal first words": found.equal_answers if found.answers else None,
        "needed": found.needed,
        "prompts": prompts,
        "answers": [{**asdict(pair), "same": pair.same} for pair in found.answers],
    }


def _lines(found: Parity, decode: Callable[[Tokens], str]) -> list[tuple[str, str]]:
    """(line, style) pairs: what was compared, the numbers, and the first difference."""
    n = len(found.prompts)
    said = [
        (f"prompts of {counted(n, 'question')}: {found.equal_prompts} are equal", ""),
        (f"compared: {_SOURCES[found.source]}", ""),
    ]
    wrong = next((pair for pair in found.prompts if not pair.same), None)
    if wrong is not None:
        said += [(line, "yellow") for line in _prompt_lines(wrong, decode)]
        return [
            *said,
            ("Parity fails: the server tells the model something else than training did.", "red"),
        ]
    said.append((f"first words: {found.equal_answers} of {n} are equal, {found.needed} needed", ""))
    if others := [pair for pair in found.answers if not pair.same]:
        said += [(line, "yellow") for line in _answer_lines(others)]
    if found.holds:
        return [*said, ("Parity holds.", "green")]
    return [*said, ("Parity fails: told the same, the server answers otherwise too often.", "red")]


def _prompt_lines(pair: PromptPair, decode: Callable[[Tokens], str]) -> list[str]:
    """Lines on the first difference between the two prompts of a question."""
    training, server = pair.training, pair.server
    if server in (None, training):
        return [
            f"question {pair.item}: the prompt has {len(training):,} tokens in training and {pair.counted:,} "
            "at the server; it does not show which"
        ]
    codes = SequenceMatcher(None, training, server, autojunk=False).get_opcodes()
    begin, end, begin_there, end_there = next(code[1:] for code in codes if code[0] != "equal")

    def text(tokens: Tokens) -> str:
        ids = " ".join(map(str, tokens[:12]))
        more = " …" if len(tokens) > 12 else ""
        return f"{_quoted(decode(tokens))}  (tokens {ids}{more})" if tokens else "nothing"

    return [
        f"The first difference, in question {pair.item}, after {counted(begin, 'equal token')} of "
        f"{len(training):,} in training and {len(server):,} at the server:",
        f"  before, on both sides: {text(training[max(0, begin - _AROUND) : begin])}",
        f"  in training:           {text(training[begin:end])}",
        f"  at the server:         {text(server[begin_there:end_there])}",
        f"  after, in training:    {text(training[end : end + _AROUND])}",
    ]


def _answer_lines(others: Sequence[AnswerPair]) -> list[str]:
    """Lines on the first question that the server answers otherwise, and on how sure the adapter was here."""
    pair = others[0]
    close = ", ".join(f"{_quoted(token)} {share:.2f}" for token, share in pair.likeliest)
    leads = [one.likeliest[0][1] - one.likeliest[1][1] for one in others if len(one.likeliest) > 1]
    return [
        f"The first question answered otherwise, {pair.item}: {_quoted(pair.message[-_LONGEST:])}",
        f"  here:   {_quoted(pair.here)} (first word {first_word(pair.here)!r}; likeliest: {close})",
        f"  server: {_quoted(pair.server)} (first word {first_word(pair.server)!r})",
        "Where answers differ, the token that the first word begins with led the next one here by "
        f"{max(leads, default=0):.2f} of probability at most. Small leads are turned by rounding, as in a "
        "base of 4-bit numbers.",
    ]


def _quoted(text: str) -> str:
    """A text in quotes, with escapes for line ends; the middle of a long text is left out."""
    half = _LONGEST // 2
    cut = text if len(text) <= _LONGEST else f"{text[:half]} […] {text[-half:]}"
    return json.dumps(cut, ensure_ascii=False)

"""Compare a server with training: both sides' prompts as tokens, and the first words of their answers.
Servers reveal different things about a prompt; `TokenSource` names them.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ..errors import WolflabError
from ..models.base import Sampling
from ..models.catalog import LOCAL_PREFIX, Spec, check_model, resolve
from ..models.estimates import UNCOUNTED
from ..models.local import LocalModel, LocalSettings, in_tokens, rendered
from ..models.servers.chat import ServerModel
from ..models.weights import tokenizer_of
from ..rules import Ruleset
from .asking import prompt
from .items import Item

TokenSource = Literal["tokenize", "apply-template", "count"]
"""The source of a server's tokens: vLLM's /tokenize, which takes messages; llama-server's /apply-template and
/tokenize; or none: the server only counts them.
"""
_SHORT = Sampling(0.0, 16)
"""Enough tokens for a reply's first word, which is compared."""

Tokens = tuple[int, ...]
WatchSide = Callable[[str, int], None]
"""(side, questions done with)"""


@dataclass(frozen=True, slots=True)
class PromptPair:
    """A question's prompt on both sides. server: its tokens, None if it shows none. counted: the server's
    number of prompt tokens, None if unknown.
    """

    item: str
    message: str
    training: Tokens
    server: Tokens | None
    counted: int | None

    @property
    def same(self) -> bool:
        """Whether tokens and their number are equal, as far as they are known."""
        return self.server in (None, self.training) and self.counted in (None, len(self.training))


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """The replies to a question. likeliest: the likeliest tokens, as text, at the beginning of the local
    reply's first word, with their probabilities.
    """

    item: str
    message: str
    here: str
    server: str
    likeliest: tuple[tuple[str, float], ...] = ()

    @property
    def same(self) -> bool:
        """Whether the first words are equal to the letter."""
        return first_word(self.here) == first_word(self.server)


@dataclass(frozen=True)
class Parity:
    """The result. least: the share of answers that has to agree. answers: empty if prompts differ."""

    source: TokenSource
    least: float
    prompts: tuple[PromptPair, ...]
    answers: tuple[AnswerPair, ...] = ()

    @property
    def equal_prompts(self) -> int:
        """How many."""
        return sum(one.same for one in self.prompts)

    @property
    def equal_answers(self) -> int:
        """How many."""
        return sum(one.same for one in self.answers)

    @property
    def needed(self) -> int:
        """How many answers have to agree."""
        return math.ceil(round(self.least * len(self.prompts), 9))

    @property
    def holds(self) -> bool:
        """Whether all prompts and enough answers are equal."""
        return self.equal_prompts == len(self.prompts) and self.equal_answers >= self.needed


def first_word(reply: str) -> str:
    """The first letters, digits or underscores in a row; empty where there are none."""
    found = re.search(r"\w+", reply)
    return found[0] if found else ""


def drawn_messages(
    items: Sequence[Item], n: int, seed: int, told: bool, rules: Ruleset | None = None
) -> list[tuple[str, str]]:
    """(item's id, message) of `n` questions drawn by the seed, or of all. told: with the rules in front.

    rules: of questions that do not say theirs; WolflabError where they are needed and unknown.
    """
    if not items:
        raise WolflabError("there is no question to ask; name a file that holds some")
    order = sorted(random.Random(f"{seed}/parity").sample(range(len(items)), min(n, len(items))))
    drawn = [items[place] for place in order]
    return [(item.id, prompt(item, told and (item.ruleset or rules or True))) for item in drawn]


def training_tokens(tokenizer: Any, message: str) -> Tokens:
    """The prompt of a message, as training with trl's `prompt` and `completion` columns has it."""
    return tuple(in_tokens(tokenizer, rendered(tokenizer, tokenizer.chat_template, (("user", message),))))


def token_decoder(adapter: Path) -> Callable[[Tokens], str]:
    """Tells tokens as text, special ones visible; those that training does not know are left out."""
    tokenizer = tokenizer_of(str(adapter))
    return lambda tokens: tokenizer.decode(
        [token for token in tokens if 0 <= token < len(tokenizer)], skip_special_tokens=False
    )


async def compare(
    adapter: Path,
    spec: Spec,
    messages: Sequence[tuple[str, str]],
    least: float = 0.96,
    watch: WatchSide = lambda side, done: None,
) -> Parity:
    """Compare prompts and, where all are equal, first words. messages: (item's id, message) each.

    Raises WolflabError for what cannot be compared, ModelError and ServerError as models do.
    """
    server, here = resolve(spec), LocalModel(f"{LOCAL_PREFIX}/{adapter}", LocalSettings())
    if not isinstance(server, ServerModel):
        raise WolflabError(f"{server.name}: parity is with a server; name a model behind one")
    await here.check()
    tokenizer, source = tokenizer_of(str(adapter)), None
    prompts, replies = list[PromptPair](), list[str]()
    try:
        await check_model(server)
        for item, message in messages:
            source, tokens = await _shown_tokens(server, message, source)
            said = await server.converse([{"role": "user", "content": message}], _SHORT)
            uncounted = any(UNCOUNTED in sentence for sentence in server.adaptations)
            if tokens is None and uncounted:
                raise WolflabError(
                    f"{server.name}: the server shows no tokens and counts none, so prompts cannot be "
                    "compared; serve the adapter with vLLM or llama-server"
                )
            counted = None if uncounted else said.usage.prompt_tokens
            in_training = training_tokens(tokenizer, message)
            prompts.append(PromptPair(item, message, in_training, tokens, counted))
            replies.append(said.text)
            watch("server", len(prompts))
    finally:
        await server.close()
    found = Parity(source or "count", least, tuple(prompts))
    if found.equal_prompts < len(prompts):
        return found
    answers: list[AnswerPair] = []
    for pair, reply in zip(prompts, replies, strict=True):
        own = await here.converse((("user", pair.message),), replace(_SHORT, top_logprobs=2), "parity")
        likeliest = tuple((token, math.exp(value)) for token, value in own.likeliest)
        answers.append(AnswerPair(pair.item, pair.message, own.text, reply, likeliest))
        watch("here", len(answers))
    return replace(found, answers=tuple(answers))


async def _shown_tokens(
    server: ServerModel, message: str, source: TokenSource | None
) -> tuple[TokenSource, Tokens | None]:
    """Where the tokens of a prompt come from, and the tokens that the server makes of a message; None where
    it shows none. source: found with an earlier question.
    """
    chat = [{"role": "user", "content": message}]
    shown: Any = None
    if source in (None, "apply-template"):
        shown = await server.beside("/apply-template", {"messages": chat})
        if shown and isinstance(shown.get("prompt"), str):
            source = "apply-template"
            words = {"content": shown["prompt"], "add_special": True, "parse_special": True}
            shown = await server.beside("/tokenize", words)
    if source in (None, "tokenize"):
        shown = await server.beside("/tokenize", {"model": server.model, "messages": chat})
    listed = (shown or {}).get("tokens")
    if isinstance(listed, list) and listed and all(isinstance(one, int) for one in listed):
        return source or "tokenize", tuple(listed)
    if source in (None, "count"):
        return "count", None
    raise WolflabError(f"{server.name}: the server made no tokens of a prompt; try again")

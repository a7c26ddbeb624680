"""Whether a server tells a tuned model what it was told in training, and answers as it does here.

Both sides' prompts as tokens, and the first words of their answers. It may not know how the model was trained
nor how the result is shown. Servers show different things of a prompt; `Way` names them.
"""

from __future__ import annotations

import io
import math
import random
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ..errors import ModelError, WolflabError
from ..models.base import Sampling
from ..models.catalog import ON_THIS_MACHINE, Spec, check_model, resolve
from ..models.estimates import UNCOUNTED
from ..models.local import LocalModel, LocalSettings, in_tokens, rendered
from ..models.servers.chat import ServerModel
from ..models.weights import tokenizer_of
from ..rules import Ruleset
from .asking import prompt
from .items import Item

Way = Literal["tokenize", "apply-template", "gguf", "count"]
"""Where a server's tokens come from: vLLM's /tokenize, which takes messages; llama-server's /apply-template
and /tokenize; the GGUF file that is served, read here; or nowhere: the server tells how many there were.
"""
MAX_TOKENS = 16
"""Of a reply, whose first word is compared."""
_SHORT = Sampling(0.0, MAX_TOKENS)
AROUND = 8
"""Tokens shown before and after a difference."""

Tokens = tuple[int, ...]
WatchSide = Callable[[str, int], None]
"""(side, questions done with)"""


class Gap(NamedTuple):
    """Where two prompts part. place: tokens alike before it. training, server: what each has there alone."""

    place: int
    before: Tokens
    training: Tokens
    server: Tokens
    after: Tokens


@dataclass(frozen=True, slots=True)
class PromptPair:
    """A question as both sides read it. server: its tokens, None where it shows none. counted: how many
    tokens the server says its prompt had, None where it says nothing.
    """

    item: str
    message: str
    training: Tokens
    server: Tokens | None
    counted: int | None

    @property
    def gap(self) -> Gap | None:
        """The first difference of the tokens; None where there is none, or nothing to see."""
        return None if self.server is None else gap_of(self.training, self.server)

    @property
    def same(self) -> bool:
        """Whether nothing speaks against it."""
        return self.gap is None and self.counted in (None, len(self.training))


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """The replies to a question. likeliest: the tokens, as text, that were likeliest where the first word of
    the one made here begins, with their probabilities.
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
    """What was found. least: the share of answers that has to agree. answers: none where prompts differ."""

    way: Way
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


def gap_of(training: Sequence[int], server: Sequence[int]) -> Gap | None:
    """What has to be changed in one to get the other; None where they are equal."""
    if list(training) == list(server):
        return None
    most = min(len(training), len(server))
    begin = next((at for at in range(most) if training[at] != server[at]), most)
    end = next((at for at in range(most - begin) if training[-1 - at] != server[-1 - at]), most - begin)
    stop = len(training) - end
    return Gap(
        begin,
        tuple(training[max(0, begin - AROUND) : begin]),
        tuple(training[begin:stop]),
        tuple(server[begin : len(server) - end]),
        tuple(training[stop : stop + AROUND]),
    )


def first_word(reply: str) -> str:
    """The first letters, digits or underscores in a row; empty where there are none."""
    found = re.search(r"\w+", reply)
    return found[0] if found else ""


# -- what is asked --------------------------------------------------------------------------


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


# -- the training's side --------------------------------------------------------------------


def adapter_tokenizer(adapter: Path) -> Any:
    """The tokenizer by which `hf/ADAPTER` is told here. Raises ModelError where there is none, or none with
    a chat template.
    """
    tokenizer = tokenizer_of(str(adapter))
    if not tokenizer.chat_template:
        raise ModelError(
            f"{adapter}: its tokenizer has no chat template, so it says nothing of how a server is to put a "
            "message; put the training's there, as chat_template.jinja"
        )
    return tokenizer


def training_tokens(tokenizer: Any, message: str) -> Tokens:
    """The prompt of a message, as training with trl's `prompt` and `completion` columns has it."""
    return tuple(in_tokens(tokenizer, rendered(tokenizer, tokenizer.chat_template, (("user", message),))))


def tokens_in_words(tokenizer: Any, tokens: Iterable[int]) -> str:
    """Tokens as text, special ones visible."""
    parts: list[str] = []
    run: list[int] = []
    for token in (*tokens, None):
        if token is not None and 0 <= token < len(tokenizer):
            run.append(token)
            continue
        parts.append(tokenizer.decode(run, skip_special_tokens=False) if run else "")
        parts.append("" if token is None else f"<unknown token {token}>")
        run = []
    return "".join(parts)


# -- the server's side ----------------------------------------------------------------------


@dataclass
class ParityServer:
    """A model behind a server, and what it shows of its prompts. gguf: the file that it serves, if known.

    way: found out with the first question.
    """

    model: ServerModel
    gguf: Callable[[str], Tokens] | None = None
    way: Way | None = field(default=None, init=False)

    async def prompt(self, message: str) -> Tokens | None:
        """The tokens that the server makes of a message; None where it shows none."""
        chat = [{"role": "user", "content": message}]
        if self.way in (None, "apply-template") and self.gguf is None:
            shown = await self.model.beside("/apply-template", {"messages": chat})
            if shown and isinstance(shown.get("prompt"), str):
                self.way = "apply-template"
                words = {"content": shown["prompt"], "add_special": True, "parse_special": True}
                return _tokens(await self.model.beside("/tokenize", words))
        if self.way in (None, "tokenize") and self.gguf is None:
            shown = await self.model.beside("/tokenize", {"model": self.model.model, "messages": chat})
            if tokens := _tokens(shown):
                self.way = "tokenize"
                return tokens
        self.way = "count" if self.gguf is None else "gguf"
        return None if self.gguf is None else self.gguf(message)

    async def reply(self, message: str) -> tuple[str, int | None]:
        """The server's reply, and how many tokens it says the prompt had."""
        said = await self.model.converse([{"role": "user", "content": message}], _SHORT)
        uncounted = any(UNCOUNTED in sentence for sentence in self.model.adaptations)
        return said.text, None if uncounted else said.usage.prompt_tokens


def _tokens(shown: dict[str, Any] | None) -> Tokens | None:
    listed = (shown or {}).get("tokens")
    if isinstance(listed, list) and listed and all(isinstance(one, int) for one in listed):
        return tuple(listed)
    return None


def gguf_reader(path: Path) -> Callable[[str], Tokens]:
    """From a message to the tokens that llama-cpp-python's server makes of it when it serves this file.

    Only the vocabulary is loaded. llama_cpp itself chooses the chat format and makes the prompt, up to the
    point where a reply would be made. Raises WolflabError for a file that is none.
    """
    if not path.is_file():
        raise WolflabError(f"--gguf: there is no file {path}; name the one that the server serves")
    try:
        from llama_cpp import Llama
    except ImportError:
        raise WolflabError("--gguf is read by llama-cpp-python: pip install llama-cpp-python") from None

    class Listening(Llama):  # type: ignore[misc]  # untyped where it is not installed
        def create_completion(self, prompt: Any, *args: Any, **kwargs: Any) -> Any:
            self.heard = tuple(prompt)
            nothing = {"text": "", "index": 0, "logprobs": None, "finish_reason": "stop"}
            usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
            return {"id": "", "created": 0, "model": "", "choices": [nothing], "usage": usage}

    try:
        with redirect_stderr(io.StringIO()):  # it warns that vocabularies have no context
            llama = Listening(model_path=str(path), vocab_only=True, verbose=False)
    except ValueError as error:
        raise WolflabError(f"--gguf {path}: it cannot be read as a GGUF model ({error})") from None

    def read(message: str) -> Tokens:
        llama.create_chat_completion([{"role": "user", "content": message}])
        heard: Tokens = llama.heard
        return heard

    return read


# -- both -----------------------------------------------------------------------------------


async def ask_server(
    server: ParityServer, messages: Sequence[tuple[str, str]], tokenizer: Any, watch: WatchSide
) -> list[tuple[PromptPair, str]]:
    """Each question as both sides read it, and the server's reply. Raises what `generate` of a model does.

    WolflabError where the server shows nothing of a prompt, not even how many tokens it has.
    """
    asked = []
    try:
        await check_model(server.model)
        for done, (item, message) in enumerate(messages, 1):
            tokens = await server.prompt(message)
            if tokens is None and server.way != "count":
                raise WolflabError(f"{server.model.name}: the server made no tokens of a prompt; try again")
            reply, counted = await server.reply(message)
            if tokens is None and counted is None:
                raise WolflabError(
                    f"{server.model.name}: the server shows no tokens and counts none, so prompts cannot be "
                    "compared; name the file that it serves with --gguf"
                )
            own = training_tokens(tokenizer, message)
            asked.append((PromptPair(item, message, own, tokens, counted), reply))
            watch("server", done)
    finally:
        await server.model.close()
    return asked


async def compare(
    adapter: Path,
    spec: Spec,
    messages: Sequence[tuple[str, str]],
    gguf: Path | None = None,
    least: float = 0.96,
    watch: WatchSide = lambda side, done: None,
) -> Parity:
    """Compare prompts and, where all are equal, first words. messages: (item's id, message) each.

    gguf: the file that the server serves, for servers that show no tokens. Raises WolflabError for what
    cannot be compared, ModelError and ServerError as models do.
    """
    model = resolve(spec)
    if not isinstance(model, ServerModel):
        raise WolflabError(f"{model.name}: parity is with a server; name a model behind one")
    tokenizer = adapter_tokenizer(adapter)
    server = ParityServer(model, None if gguf is None else gguf_reader(gguf))
    asked = await ask_server(server, messages, tokenizer, watch)
    found = Parity(server.way or "count", least, tuple(pair for pair, _ in asked))
    if found.equal_prompts < len(asked):
        return found
    here = LocalModel(f"{ON_THIS_MACHINE}/{adapter}", LocalSettings())
    answers = []
    for done, (pair, reply) in enumerate(asked, 1):
        own = await here.converse((("user", pair.message),), replace(_SHORT, top_logprobs=2), "parity")
        likeliest = tuple((token, math.exp(value)) for token, value in own.likeliest)
        answers.append(AnswerPair(pair.item, pair.message, own.text, reply, likeliest))
        watch("here", done)
    return Parity(found.way, least, found.prompts, tuple(answers))

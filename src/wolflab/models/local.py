"""A language model on this machine, run in this process by transformers: `hf/…`.

It reads words, as a model behind HTTP does, and may not know the game. The weights are loaded for the first
reply. Replies are written in a thread, one batch at a time: the event loop stays free.
"""

from __future__ import annotations

import asyncio
import json
import random
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Literal, NamedTuple
from weakref import WeakKeyDictionary, WeakValueDictionary

from annotated_types import Ge, MinLen

from ..errors import ModelError, ModelRefused, ServerError
from ..text.replies.finish import ANSWERED, Finish, FinishReason, no_fit
from ..text.replies.thoughts import TOKENS
from ..usage import Usage
from .base import SAMPLED, Request, Response, Sampling, WordSettings, seed_of_call
from .budget import Budget, CallLimit
from .decoding import Forward, cache_name, graphable, graphed, write_in_steps
from .schema_masks import SchemaMasks, fitting
from .weights import (
    base_folder,
    dtype_name,
    find_weights,
    libraries,
    load_weights,
    template_of,
    tokenizer_of,
    weights_digest,
)

DEFAULT_TOKENS = 1024
"""The cap on a reply's tokens where no setting gives one."""
BATCH_ON_GPU = 64
IN_STEPS: Mapping[str, Callable[[Forward], Forward]] = {"cuda": graphed}
"""Devices whose batches are written by `decoding.write_in_steps`, and what repeats a forward pass there."""
_WORDS_ALONE = (
    "replies are asked for in words alone; the model's setting schema: true holds them to their schema"
)
_NO_SYSTEM = "the chat template takes no system message; its text is put before the first message of the user"

SentMessages = tuple[tuple[str, str], ...]
"""(role, text) each."""


@dataclass(frozen=True, slots=True)
class LocalSettings(WordSettings):
    """The settings of a model on this machine, beside `WordSettings`.

    device: "cpu", "cuda", "cuda:1", "mps"; auto: cuda where there is one. dtype: auto is float32 on a cpu and
    bfloat16 elsewhere. batch: replies written at once (None: 1 on a cpu, `BATCH_ON_GPU` elsewhere). cache:
    the keys and values of a prompt are kept for the next one, which may begin alike (with batch 1). schema:
    replies are held to the JSON schema that is asked for; else it is asked for in words alone.
    chat_template: a file (Jinja) in place of the template of the weights. A `context` wider than the model's
    own window changes nothing.
    """

    device: Annotated[str, MinLen(1)] = "auto"
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    batch: Annotated[int, Ge(1)] | None = None
    cache: bool = True
    schema: bool = False
    chat_template: Annotated[str, MinLen(1)] | None = None


class _Kind(NamedTuple):
    """The parameters that calls in one batch share. stops: ids of tokens that end a reply. listed: the number
    of likeliest tokens in the response.
    """

    loaded: _Loaded
    max_tokens: int
    temperature: float
    top_p: float
    stops: tuple[int, ...]
    listed: int = 0

    @property
    def pad(self) -> int:
        """The token that fills a row up."""
        return self.stops[0] if self.stops else 0


@dataclass(eq=False)
class _Call:
    """A prompt in tokens, and its reply.

    seed: of its draws. batch: the maximum size of its batch. cache: whether keys and values of prompts are
    kept and used again. schema: JSON schema of the reply, as text; "" for none.
    """

    prompt: list[int]
    kind: _Kind
    seed: int
    batch: int
    cache: bool = True
    schema: str = ""
    reply: _Reply | None = None


class _Reply(NamedTuple):
    """tokens: the number of the reply's, with the one that ended it; cached: of the prompt's, those read from
    the cache. stopped: whether a token ended it.
    """

    text: str
    tokens: int
    cached: int
    stopped: bool
    likeliest: tuple[tuple[str, float], ...]


class LocalModel:
    """One model on this machine. name: as written ("hf/FOLDER"). budget: shared by the run."""

    instant = False
    typed = False

    def __init__(self, name: str, settings: LocalSettings, *, budget: Budget | None = None) -> None:
        self.name, self.settings, self._budget = name, settings, budget
        self.weights = name.partition("/")[2]
        self._engine = _engine(self.weights, settings.device, settings.dtype)
        self._adapted: list[str] = []

    @property
    def adaptations(self) -> list[str]:
        """The changes that the model forced: sentences, in order."""
        return list(self._adapted)

    def describe(self) -> dict[str, Any]:
        """Everything that decides the replies: digests of weights and chat template, dtype, settings. No
        paths.

        Raises ModelError where the weights are not here.
        """
        place = find_weights(self.weights)
        folder = base_folder(place, fetch=False)
        adapter = {} if place.adapter is None else {"adapter": weights_digest(place.adapter)}
        template = self._own_template or template_of(place, folder) or ""
        return {
            "kind": "transformers",
            "name": self.name,
            "weights": weights_digest(folder),
            **adapter,
            "chat template": sha256(template.encode()).hexdigest(),
            "dtype": dtype_name(self.weights, self.settings.dtype, self.settings.device),
            **({"schema": "llguidance"} if self.settings.schema else {}),
            **self.settings.given((*SAMPLED, "context")),
        }

    async def check(self) -> None:
        """Raise ModelError where anything that it needs is missing. Loads no weights."""
        options = {"device": self.settings.device, "dtype": self.settings.dtype}
        libraries(*(["llguidance"] if self.settings.schema else []))
        self._template(await asyncio.to_thread(lambda: tokenizer_of(self.weights, **options)))

    async def close(self) -> None:
        """Forget the weights; they are loaded again when needed."""
        self._engine.forget()

    # -- one request ------------------------------------------------------------------------

    async def generate(self, request: Request) -> Response:
        """Write a reply. See `models.base.Model` for what is raised and what is returned."""
        chat = request.words
        if chat.schema is not None and not self.settings.schema:
            self._log(_WORDS_ALONE)
        schema = chat.schema if self.settings.schema else None
        return await self.converse(chat.messages, request.sampling, request.key, schema)

    async def converse(
        self, messages: SentMessages, sampling: Sampling, key: str, schema: Mapping[str, Any] | None = None
    ) -> Response:
        """The same for messages in words. key: seeds the draws, unless a seed is given. schema: JSON schema
        of the reply.
        """
        loaded = await self._engine.loaded()
        prompt, messages = self._written(messages, loaded)
        started = perf_counter()
        call = self._call(prompt, sampling, key, loaded)
        if isinstance(call, Finish):
            return Response("", finish=call, prompt=messages)
        if schema is not None:
            libraries("llguidance")
            # Half a reply's tokens are left for names, numbers and brackets.
            characters = call.kind.max_tokens / 2 * sum(len(text) for _, text in messages) / len(prompt)
            call.schema = json.dumps(fitting(schema, characters))
        budget = self._budget or Budget()
        async with budget.hold(lambda: CallLimit(Usage(len(prompt), call.kind.max_tokens))):
            reply = await self._engine.ask(call)
            usage = Usage(len(prompt), reply.tokens, reply.cached)
            budget.add(usage)
        finish = ANSWERED if reply.stopped else Finish(FinishReason.CUT)
        return Response(reply.text, usage, finish, perf_counter() - started, messages, reply.likeliest)

    def _call(self, prompt: list[int], sampling: Sampling, key: str, loaded: _Loaded) -> _Call | Finish:
        """The call to the weights; its finish where the window is too small for it."""
        asked = self.settings.sampled(sampling)
        windows = [size for size in (self.settings.context, loaded.window) if size is not None]
        room = min(windows) - len(prompt) if windows else DEFAULT_TOKENS
        longest = asked["max_tokens"] or min(DEFAULT_TOKENS, room)
        if windows and not 0 < longest <= room:
            return no_fit(f"{min(windows):,} tokens")
        temperature, top_p = asked["temperature"], asked["top_p"]
        if temperature is None:  # as the model's makers advise
            temperature = loaded.temperature
            top_p = loaded.top_p if top_p is None else top_p
        stops = {*loaded.ends, *_end_of_turn(loaded.tokenizer, self._template(loaded.tokenizer))}
        top_p = 1.0 if top_p is None else float(top_p)
        listed = sampling.top_logprobs or 0
        kind = _Kind(loaded, longest, float(temperature), top_p, tuple(sorted(stops)), listed)
        seed = seed_of_call(key) if asked["seed"] is None else asked["seed"]
        batch = self.settings.batch or (1 if loaded.model.device.type == "cpu" else BATCH_ON_GPU)
        return _Call(prompt, kind, seed, batch, self.settings.cache)

    def _log(self, what: str) -> None:
        sentence = f"{self.name}: {what}"
        if sentence not in self._adapted:
            self._adapted.append(sentence)

    # -- its words --------------------------------------------------------------------------

    @cached_property
    def _own_template(self) -> str | None:
        file = self.settings.chat_template
        if file is None:
            return None
        try:
            return Path(file).expanduser().read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise ModelError(
                f"model {self.name!r}, setting 'chat_template': {file} cannot be read ({error}); name a file "
                "that holds a template"
            ) from None

    def _template(self, tokenizer: Any) -> str:
        template = self._own_template or tokenizer.chat_template
        if not isinstance(template, str):
            raise ModelError(
                f"model {self.name!r}: its tokenizer has no chat template, which gives the form of messages; "
                "put chat_template.jinja into its folder, or name a file under the model's setting "
                "chat_template"
            )
        return template

    def _written(self, messages: SentMessages, loaded: _Loaded) -> tuple[list[int], SentMessages]:
        """The prompt in tokens, and the messages in it."""
        from jinja2 import TemplateError

        tokenizer, template = loaded.tokenizer, self._template(loaded.tokenizer)
        try:
            text = rendered(tokenizer, template, messages)
        except TemplateError as error:
            merged = _without_system(messages)
            if merged == messages:
                raise ModelError(
                    f"model {self.name!r}: its chat template refuses the messages ({error}); name another "
                    "under the model's setting chat_template"
                ) from None
            self._log(_NO_SYSTEM)
            return self._written(merged, loaded)
        return in_tokens(tokenizer, text), messages


_DATED, _DAY = "strftime_now", datetime(2024, 7, 26)
"""Some templates (Llama 3) put today's date into every prompt. Here it is this one, which they use where they
do not know it.
"""


def undated(template: str) -> str:
    """The chat template with a fixed date."""
    parts = "".join(f"|replace('{form}', '{_DAY.strftime(form)}')" for form in ("%Y", "%m", "%d", "%b", "%B"))
    macro = "{% macro " + _DATED + "(form) %}{{ form" + parts + " }}{% endmacro %}\n"
    return template if _DATED not in template or template.startswith(macro) else macro + template


def rendered(tokenizer: Any, template: str, messages: SentMessages, begin: bool = True) -> str:
    """Messages as the template writes them. begin: whether the words that begin the reply are added at the
    end.
    """
    said = [{"role": role, "content": text} for role, text in messages]
    return str(
        tokenizer.apply_chat_template(
            said, chat_template=undated(template), tokenize=False, add_generation_prompt=begin
        )
    )


def in_tokens(tokenizer: Any, text: str) -> list[int]:
    """Ids of the tokens of a rendered text, without further special tokens."""
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def _without_system(messages: SentMessages) -> SentMessages:
    """The messages with the system's text before the first message of the user."""
    if len(messages) < 2 or messages[0][0] != "system" or messages[1][0] != "user":
        return messages
    return (("user", f"{messages[0][1]}\n\n{messages[1][1]}"), *messages[2:])


@lru_cache(8)
def _end_of_turn(tokenizer: Any, template: str) -> tuple[int, ...]:
    """The special token that the template puts after a reply, if there is one."""
    from jinja2 import TemplateError

    said = "a word that no template has"
    try:
        text = rendered(tokenizer, template, (("user", "say it"), ("assistant", said)), begin=False)
    except TemplateError:
        return ()
    _, found, rest = text.rpartition(said)
    ids = in_tokens(tokenizer, rest.strip()) if found else []
    return tuple(ids[:1]) if ids and ids[0] in _special_tokens(tokenizer) else ()


@lru_cache(8)
def _special_tokens(tokenizer: Any) -> Mapping[int, str]:
    """The special tokens, with a name of their own (`eos_token`) or without."""
    added = tokenizer.added_tokens_decoder.items()
    named = dict(zip(tokenizer.all_special_ids, tokenizer.all_special_tokens, strict=True))
    return named | {token: str(one) for token, one in added if one.special}


# -- loaded weights, and the queue before them --------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Loaded:
    """Weights in memory.

    window: in tokens, None where no config gives it. ends: ids of tokens that end a text. temperature, top_p:
    the makers' advice. kept: the last text in tokens, with transformers' cache of it.
    """

    model: Any
    tokenizer: Any
    window: int | None
    ends: tuple[int, ...]
    temperature: float
    top_p: float
    kept: list[tuple[list[int], Any]] = field(default_factory=list)


@dataclass
class _Queue:
    """The calls that wait in one event loop, and the lock for the next batch."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: list[_Call] = field(default_factory=list)


class _Engine:
    """Weights that all models of their name, device and dtype share."""

    def __init__(self, name: str, device: str, dtype: str) -> None:
        self._name, self._device, self._dtype = name, device, dtype
        self._loaded: _Loaded | None = None
        self._one_at_a_time = threading.Lock()
        self._queues: WeakKeyDictionary[asyncio.AbstractEventLoop, _Queue] = WeakKeyDictionary()

    def forget(self) -> None:
        """Give the memory back."""
        self._loaded = None

    def _queue(self) -> _Queue:
        return self._queues.setdefault(asyncio.get_running_loop(), _Queue())

    async def loaded(self) -> _Loaded:
        """The weights, loaded if they are not yet."""
        if self._loaded is not None:
            return self._loaded
        async with self._queue().turn:
            if self._loaded is None:
                self._loaded = await asyncio.to_thread(self._load)
            return self._loaded

    async def ask(self, call: _Call) -> _Reply:
        """The reply. The call with the lock also answers others of its kind, up to a batch."""
        queue, stop = self._queue(), threading.Event()
        queue.waiting.append(call)
        try:
            async with queue.turn:
                await asyncio.sleep(0)  # calls made at the same time join the batch
                if call.reply is None:
                    others = [
                        one
                        for one in queue.waiting
                        if one.kind == call.kind
                        and bool(one.schema) == bool(call.schema)
                        and one.reply is None
                        and one is not call
                    ]
                    batch = [call, *others[: call.batch - 1]]
                    replies = await asyncio.to_thread(self._replies, batch, stop)
                    for one, reply in zip(batch, replies, strict=True):
                        one.reply = reply
        finally:
            stop.set()  # where the wait was cancelled, as by Ctrl-C, the thread ends with its next token
            queue.waiting.remove(call)
        assert call.reply is not None
        return call.reply

    # -- in the thread ----------------------------------------------------------------------

    def _load(self) -> _Loaded:
        try:
            weights = load_weights(self._name, device=self._device, dtype=self._dtype)
        except ModelError as error:  # no call can succeed until that is corrected
            raise ModelRefused(str(error)) from None
        from transformers import GenerationConfig

        model, advised = weights.model, weights.model.generation_config
        # Only the settings decide a reply: no penalty or list of the makers'.
        model.generation_config = GenerationConfig()
        said = advised.eos_token_id if isinstance(advised.eos_token_id, list) else [advised.eos_token_id]
        ids = {end for end in (*said, weights.tokenizer.eos_token_id) if end is not None}
        window = getattr(model.config.get_text_config(), "max_position_embeddings", None)
        temperature = (advised.temperature or 1.0) if advised.do_sample else 0.0
        ends = tuple(sorted(ids))
        return _Loaded(model, weights.tokenizer, window, ends, temperature, advised.top_p or 1.0)

    def _replies(self, calls: Sequence[_Call], stop: threading.Event) -> list[_Reply]:
        """The replies to all calls at once, or by halves where the device's memory is too small."""
        try:
            with self._one_at_a_time:
                return _written_by(calls, stop)
        except RuntimeError as error:  # torch.OutOfMemoryError is one; on mps it is nothing more
            if "out of memory" not in str(error).lower():
                raise
            if len(calls) == 1:
                raise ServerError(
                    f"weights {self._name!r}: the memory of the device is too small for a prompt of "
                    f"{len(calls[0].prompt):,} tokens; set context or dtype, or free memory; the run can "
                    "be resumed"
                ) from None
        half = len(calls) // 2
        return [*self._replies(calls[:half], stop), *self._replies(calls[half:], stop)]


def _written_by(calls: Sequence[_Call], stop: threading.Event) -> list[_Reply]:
    """The replies to calls of one kind, written in one batch."""
    import torch

    kind, widest = calls[0].kind, max(len(call.prompt) for call in calls)
    model, tokenizer = kind.loaded.model, kind.loaded.tokenizer
    rows = [[kind.pad] * (widest - len(call.prompt)) + call.prompt for call in calls]
    seen = [[0] * (widest - len(call.prompt)) + [1] * len(call.prompt) for call in calls]
    ids, mask = (torch.tensor(each, device=model.device) for each in (rows, seen))
    sampler = _RowSampler(calls)
    alone = len(calls) == 1 and calls[0].cache
    with torch.inference_mode():
        repeated = None if alone else IN_STEPS.get(model.device.type)
        if repeated is not None and graphable(model, widest + kind.max_tokens):
            cached, stops, most = 0, kind.stops, kind.max_tokens
            sequences = write_in_steps(model, ids, mask, sampler, stops, most, stop.is_set, repeated)
        else:
            cached, sequences = _generated(calls[0], alone, ids, mask, sampler, stop)
    return [
        _read(tokenizer, kind, row[widest:].tolist(), [step[number] for step in sampler.likeliest], cached)
        for number, row in enumerate(sequences)
    ]


def _generated(
    call: _Call, alone: bool, ids: Any, mask: Any, sampler: _RowSampler, stop: threading.Event
) -> tuple[int, Any]:
    """The prompt's tokens that were read from the cache, and prompts and replies, written by transformers'
    `generate`. call: the first of the batch. ids, mask: (rows, tokens).
    """
    import torch
    from transformers import GenerationConfig, StoppingCriteriaList

    kind, cache = call.kind, cache_name()

    def stopped(ids: Any, scores: Any) -> Any:
        return torch.full((len(ids),), stop.is_set(), device=ids.device)

    cached, kept = _beginning(kind.loaded, call.prompt) if alone else (0, None)
    written = kind.loaded.model.generate(
        input_ids=ids,
        attention_mask=mask,
        generation_config=GenerationConfig(
            max_new_tokens=kind.max_tokens,
            do_sample=False,
            eos_token_id=list(kind.stops) or None,
            pad_token_id=kind.pad,
            return_dict_in_generate=True,
        ),
        logits_processor=[sampler],
        stopping_criteria=StoppingCriteriaList([stopped]),
        **{cache: kept},
    )
    if alone and (made := getattr(written, cache)) is not None:
        kind.loaded.kept[:] = [(written.sequences[0, :-1].tolist(), made)]
    return cached, written.sequences


def _beginning(loaded: _Loaded, prompt: list[int]) -> tuple[int, Any]:
    """The number of tokens that the prompt and the last text both begin with, and the cache of these. Nothing
    is kept while a reply is written, since an interrupted one leaves the cache incomplete.
    """
    from transformers.cache_utils import DynamicLayer

    if not loaded.kept:
        return 0, None
    [(text, made)] = loaded.kept
    loaded.kept.clear()
    # Other caches drop their beginning as they grow, and cannot be cropped to it.
    if any(type(layer) is not DynamicLayer for layer in made.layers) or made.get_seq_length() != len(text):
        return 0, None
    alike = (at for at, both in enumerate(zip(text, prompt, strict=False)) if both[0] != both[1])
    shared = min(next(alike, len(text)), len(prompt) - 1)  # the last token's scores are needed
    made.crop(shared - len(text))
    return (shared, made) if shared else (0, None)


def _read(
    tokenizer: Any, kind: _Kind, ids: list[int], likeliest: Sequence[Mapping[int, float]], cached: int
) -> _Reply:
    """A reply from its tokens. likeliest: at each place, id → log-probability; empty where not asked for."""
    end = next((at for at, token in enumerate(ids) if token in kind.stops), None)
    said = ids if end is None else ids[:end]
    special = _special_tokens(tokenizer)
    shown = [token for token in said if token not in special or special[token] in TOKENS]
    text = tokenizer.decode(shown, skip_special_tokens=False)
    words = (at for at, token in enumerate(said) if _is_word(tokenizer, token))
    place = next(words, None)
    first = {} if place is None or not likeliest else likeliest[place]
    named = tuple((tokenizer.decode([token]), value) for token, value in first.items())
    return _Reply(text, len(said) + (end is not None), cached, end is not None, named)


def _is_word(tokenizer: Any, token: int) -> bool:
    return any(letter.isalnum() for letter in tokenizer.decode([token], skip_special_tokens=True))


class _RowSampler:
    """Chooses each next token, row by row, so that no reply depends on the others in its batch.

    A draw takes the token at which the summed probabilities pass a random number, one for each row and step
    from the row's own seed. All but these numbers is computed on the device. Tokens that a reply's schema
    rules out are not taken. likeliest: for each step and row, id → log-probability (without temperature) of
    the likeliest tokens, the chosen one first.
    """

    def __init__(self, calls: Sequence[_Call]) -> None:
        import torch

        self._kind = kind = calls[0].kind
        draws = [random.Random(call.seed) for call in calls]
        model, tokenizer = kind.loaded.model, kind.loaded.tokenizer
        steps = range(kind.max_tokens if kind.temperature else 0)
        points = [[[one.random()] for one in draws] for _ in steps]
        self._exact = torch.float32 if model.device.type == "mps" else torch.float64
        self._points = iter(torch.tensor(points, dtype=self._exact, device=model.device))
        """A random number of each row, (rows, 1), step by step."""
        self._held: SchemaMasks | None = None
        if calls[0].schema:
            vocabulary = model.get_output_embeddings().weight.shape[0]
            self._held = SchemaMasks(tokenizer, vocabulary, kind.stops, [call.schema for call in calls])
        self.likeliest: list[list[dict[int, float]]] = []

    def __call__(self, ids: Any, scores: Any) -> Any:
        """Scores whose largest is the token to take. ids: (rows, so far); scores: (rows, vocabulary)."""
        import torch

        if self._held is not None:
            scores = self._held(ids, scores)
        kind, chosen = self._kind, scores
        if kind.temperature:
            chosen = torch.full_like(scores, -torch.inf).scatter_(-1, self._drawn(ids, scores), 0.0)
        if kind.listed:
            chances = scores.log_softmax(-1)
            top = chances.topk(min(kind.listed, scores.shape[1])).indices
            tokens = torch.cat([chosen.argmax(-1, keepdim=True), top], -1)
            both = zip(tokens.tolist(), chances.gather(-1, tokens).tolist(), strict=True)
            self.likeliest.append([dict(zip(*row, strict=True)) for row in both])
        return chosen

    def _drawn(self, ids: Any, scores: Any) -> Any:
        """The token of each row, (rows, 1)."""
        import torch
        from transformers import TopPLogitsWarper

        kind = self._kind
        kept = scores / kind.temperature
        if kind.top_p < 1:
            kept = TopPLogitsWarper(kind.top_p)(ids, kept)
        sums = kept.softmax(-1, dtype=self._exact).cumsum(-1)
        whole = sums[:, -1:]
        points = next(self._points) * whole
        # A sum that equals the whole has only tokens without a chance behind it.
        return torch.minimum((sums <= points).sum(-1, keepdim=True), (sums < whole).sum(-1, keepdim=True))


_ENGINES: WeakValueDictionary[tuple[str, str, str], _Engine] = WeakValueDictionary()


def _engine(name: str, device: str, dtype: str) -> _Engine:
    """The shared engine of these weights, as long as any model uses it."""
    key = (name, device, dtype)
    shared = _ENGINES.get(key)
    if shared is None:
        shared = _ENGINES[key] = _Engine(*key)
    return shared

"""Any server that speaks OpenAI's chat completions: requests out, responses in, faults dealt with.

It knows the protocol and the provider's row in `endpoints`; it may not know the game: it is told in words,
and what a reply is worth is for the agent to judge. The `openai` library is
imported when the first call is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from ..fields import Amount
from ..text.replies.finish import Finish, FinishReason, no_fit
from .base import SAMPLED, Request, Response, Sampling, WordSettings, seed_of_call
from .endpoints import LearnedQuirks, Provider
from .exchange import FLEX_TIMEOUT, NO_SIZE, CallSize, HttpAnswer, Served, ServerSettings
from .faults import Fault, of_status
from .wire import (
    BROKEN_OFF,
    NARROWING,
    SPARED,
    TIER,
    UNCOUNTED,
    TokenCounts,
    choice_error,
    estimate,
    form_of,
    likeliest_tokens,
    read_choice,
    response_format,
    spared_in,
    tier_of,
    token_counts,
    tokens,
    with_marks,
    without_keywords,
)

if TYPE_CHECKING:
    from openai import AsyncOpenAI


_NO_CHOICES = "an answer without choices, which holds no reply"
_LONG, _CUT = 1500, 0.5
"""Estimated tokens of a prompt, and the share of them that a server has to count at least."""
_CUT_WORDS = (
    "counted less than half of a prompt's tokens: it may cut prompts without a word; give it a larger window "
    "(Ollama: OLLAMA_CONTEXT_LENGTH), and name that here as context"
)


@dataclass(frozen=True, slots=True)
class HttpSettings(WordSettings, ServerSettings):
    """What can be set for a model behind HTTP. Raises ModelError, naming the setting.

    context: the model's window in tokens; a longer prompt is an unusable reply, not a call.
    cache: the server is told which prompts begin alike, where it wants to be told. tier: of its service, by
    its own name, such as "flex", which is cheaper and slower. tier_wait: seconds for which a call waits for
    that tier; then it takes the usual one.
    """

    cache: bool = True
    tier: str | None = None
    tier_wait: Amount = 900.0


class _Call(NamedTuple):
    """What a request is made of; the same for all its attempts.

    sampled: by name. shape: the reply's JSON schema. ends: see `Chat.shared`. game: what the requests of one
    game have in common; empty: nothing is known of others.
    """

    messages: list[dict[str, str]]
    sampled: Mapping[str, Any]
    shape: dict[str, Any] | None = None
    top_logprobs: int | None = None
    ends: tuple[int, ...] = ()
    game: str = ""
    size: CallSize = NO_SIZE


class _Sent(NamedTuple):
    """An attempt as it goes out.

    keywords: of its schema, those that can be left out. tried: those that are left out on trial. names: all
    of it that the server may refuse and that can then be given up, the keywords among it.
    """

    body: dict[str, Any]
    headers: dict[str, str]
    keywords: frozenset[str]
    tried: frozenset[str]
    names: frozenset[str]


class OpenAIModel(Served[HttpSettings]):
    """One chat model at one endpoint; see `Served`."""

    typed = False

    def __init__(
        self, name: str, model: str, provider: Provider, settings: HttpSettings, **shared: Any
    ) -> None:
        super().__init__(name, model, provider, settings, **shared)
        if settings.tier is not None:
            self._timeout = max(self._timeout, FLEX_TIMEOUT)

    @property
    def _learned(self) -> LearnedQuirks:
        return self.endpoint.learned(self.model, self.provider)

    @property
    def adaptations(self) -> list[str]:
        """What this endpoint forced us to change for this model, or left unsaid: sentences, in order."""
        return list(self._learned.log)

    def describe(self) -> dict[str, Any]:
        """What decides the replies: names and settings. No key, no host, no price."""
        return {
            "kind": "openai-compatible",
            "name": self.name,
            "provider": self.provider.name,
            "model": self.model,
            **self.settings.given((*SAMPLED, "context", "extra")),
        }

    # -- one request ------------------------------------------------------------------------

    async def generate(self, request: Request) -> Response:
        """Ask the server. See `models.base.Model` for what is raised and what is returned."""
        chat = request.words
        messages = [{"role": role, "content": text} for role, text in chat.messages]
        sampling = request.sampling
        if sampling.seed is None:
            sampling = replace(sampling, seed=seed_of_call(request.key))
        game = blake2b(request.key.partition("|")[0].encode(), digest_size=16).hexdigest()
        reply = await self.converse(
            messages, sampling, chat.schema, ends=chat.ends, game=game, kind=request.kind
        )
        return reply._replace(prompt=tuple((message["role"], message["content"]) for message in messages))

    async def converse(
        self,
        messages: list[dict[str, str]],
        sampling: Sampling,
        shape: dict[str, Any] | None = None,
        *,
        ends: tuple[int, ...] = (),
        game: str = "",
        kind: str = "",
        retries: int | None = None,
    ) -> Response:
        """The same for messages that are already in words (`retries`: instead of the setting).

        ends, game: what the request has in common with others; see `_Call`. kind: of what is asked.
        """
        asked = self.settings.sampled(sampling)
        window, size = self.settings.context, CallSize(estimate(messages), kind, asked["max_tokens"])
        if window is not None and size.estimated + (size.limit or 0) > window:
            return Response("", finish=no_fit(f"{window:,} tokens"))
        line = self._line()
        call = _Call(messages, asked, shape, sampling.top_logprobs, ends, game, size)

        emptied = False

        async def attempt(graced: bool) -> Response | Fault | None:
            nonlocal emptied
            sent = self._written(call, self.settings.tier if graced else None)
            outcome = await self._attempt(line.client, call, sent, emptied)
            emptied = isinstance(outcome, Fault) and outcome.words == _NO_CHOICES
            if isinstance(outcome, Fault):
                return self._settle(outcome, sent)
            self._prove(sent)
            return outcome

        grace = 0.0 if self.settings.tier is None or retries is not None else self.settings.tier_wait
        return await self._until_over(line, attempt, size, retries, grace)

    async def beside(self, path: str, body: Mapping[str, Any]) -> dict[str, Any] | None:
        """What the server answers at an address of its own, which stands beside the protocol's ("/tokenize").

        None where it has no such address, or refuses what is asked there. Raises as `generate` does.
        """
        line = self._line()
        root = self.endpoint.base_url.rstrip("/").removesuffix("/v1")

        def classify(status: int, error: object, headers: Mapping[str, str]) -> Fault:
            fault = of_status(status, error, headers, sent=(), secret=self.endpoint.key())
            none = status in (400, 404, 405, 422, 501)
            return Fault("model", fault.words, status) if none else fault

        async def attempt(_: bool) -> HttpAnswer | Fault:
            answer = await self._post(line.client, root + path, body, classify, "")
            if isinstance(answer, Fault) and answer.kind == "model":
                return HttpAnswer({}, 0.0)
            return answer

        return (await self._until_over(line, attempt)).body or None

    def _written(self, call: _Call, tier: str | None) -> _Sent:
        """The call as this endpoint takes it: less what it has refused."""
        learned = self._learned
        extra = dict(self.settings.extra or {})
        body: dict[str, Any] = {"model": self.model, "messages": call.messages}
        for name in ("temperature", "top_p", "seed"):
            if call.sampled[name] is not None and name not in learned.dropped:
                body[name] = call.sampled[name]
        if tier is not None and TIER not in learned.dropped:
            body[TIER] = tier
        if body.get("temperature") == 0 and self.provider.greedy:
            del body["temperature"]
            extra = dict(self.provider.greedy) | extra
        if call.sampled["max_tokens"] is not None and learned.limit:
            body[learned.limit[0]] = call.sampled["max_tokens"]
        if call.top_logprobs is not None and "logprobs" not in learned.dropped:
            body |= {"logprobs": True, "top_logprobs": call.top_logprobs}
        keywords = tried = frozenset[str]()
        form = learned.formats[0]
        if call.shape is not None and form != "text":
            keywords = spared_in(call.shape) if "schema" in form else keywords
            tried = keywords & learned.trial - learned.dropped
            left_out = tried | (keywords & learned.dropped)
            shape = without_keywords(call.shape, left_out) if left_out else call.shape
            body["response_format"] = response_format(form, shape)
            keywords -= left_out
        headers, hints = self._hint(call, body)
        if extra:
            body["extra_body"] = extra
        return _Sent(body, headers, keywords, tried, keywords | hints | body.keys() - {"model", "messages"})

    def _hint(self, call: _Call, body: dict[str, Any]) -> tuple[dict[str, str], frozenset[str]]:
        """Tell the server what the call shares with others: headers, and the names of marks in messages."""
        caching, dropped = self.provider.caching, self._learned.dropped
        headers: dict[str, str] = {}
        if not self.settings.cache:
            return headers, frozenset()
        if call.game and caching.key is not None and caching.key not in dropped:
            (headers if caching.key.startswith("x-") else body)[caching.key] = call.game
        mark = caching.marks(self.model)
        if not call.ends or mark is None or mark[0] in dropped:
            return headers, frozenset()
        body["messages"] = with_marks(call.messages, call.ends, mark)
        body |= dict(caching.along)
        return headers, frozenset((mark[0],))

    async def _attempt(
        self, client: AsyncOpenAI, call: _Call, sent: _Sent, emptied: bool
    ) -> Response | Fault:
        """One HTTP exchange. Everything that can go wrong in it comes back as a Fault. emptied: the attempt
        before brought an answer that holds no reply.
        """

        def classify(status: int, error: object, headers: Mapping[str, str]) -> Fault:
            return self._fault(status, error, headers, sent)

        body = {name: value for name, value in sent.body.items() if name != "extra_body"}
        body |= sent.body.get("extra_body", {})
        answer = await self._post(client, "/chat/completions", body, classify, "choices", sent.headers)
        if isinstance(answer, Fault):
            match answer.kind:
                case "long":
                    return self._too_long(call)
                case "broken":
                    written = TokenCounts(call.size.estimated, tokens(answer.reply))
                    return Response(answer.reply, self._spend(written, call.size))
            return answer
        if error := choice_error(answer.body):
            return classify(error["code"], error, {})
        return self._response(answer.body, call, answer.latency, emptied)

    def _response(
        self, reply: dict[str, Any], call: _Call, latency: float, emptied: bool
    ) -> Response | Fault:
        choices = reply.get("choices")
        empty = not isinstance(choices, list) or not choices
        text, finish = read_choice(reply)
        counts = token_counts(reply, answered=not empty)
        if finish == BROKEN_OFF or (empty and not (emptied and counts)):
            if counts is not None:  # it was paid for
                self._spend(counts, call.size, tier_of(reply))
            return Fault("retry", _NO_CHOICES if empty else "the server did not bring its reply to an end")
        if counts is None or (text and not counts.completion):
            # A server that does not count must not make a budget endless, neither now nor after a resume.
            counts = TokenCounts(call.size.estimated, tokens(text))
            self._log(UNCOUNTED)
        elif counts.cached is None and call.game:
            self._log("gave no count of cached prompt tokens with a reply; 0 is counted there")
        if (
            call.size.estimated > _LONG
            and max(counts.prompt, counts.cached or 0) < _CUT * call.size.estimated
        ):
            self._log(_CUT_WORDS)
        tier = tier_of(reply)
        if self.settings.tier is not None and tier != self.settings.tier:
            self._log(f"served some calls in its usual tier, not in {self.settings.tier}")
        spent = self._spend(counts, call.size, tier)
        return Response(text, spent, finish, latency, likeliest=likeliest_tokens(reply), tier=tier)

    def _too_long(self, call: _Call) -> Response:
        """An unusable reply. How much of it was written is not known: as much as was read is counted."""
        largest = self.settings.max_reply_bytes
        self._log(f"sent a reply of more than {largest:,} bytes; its tokens are estimated")
        spent = self._spend(TokenCounts(call.size.estimated, largest // 4), call.size)
        return Response("", spent, Finish(FinishReason.UNREAD, f"the reply is longer than {largest:,} bytes"))

    # -- when it fails ----------------------------------------------------------------------

    def _fault(self, status: int, body: object, headers: Mapping[str, str], sent: _Sent) -> Fault:
        fault = of_status(
            status,
            body,
            headers,
            sent=sent.names - sent.keywords,
            keywords=sent.keywords,
            filtered=self.provider.filtered,
            secret=self.endpoint.key(),
        )
        if fault.kind == "request" and status in (400, 422) and (suspect := self._suspect(sent)):
            return Fault("setting", fault.words, status, setting=suspect)
        return fault

    def _suspect(self, sent: _Sent) -> str:
        """What a refusal is likely to be about that says nothing of use: what was never taken before, the
        least needed first. Empty where there is no such thing.
        """
        caching, learned = self.provider.caching, self._learned
        suspects = [name for name in (*(caching.mark or ())[:1], caching.key) if name]
        if len(learned.formats) > 1 or self._unsure(sent):
            suspects.append("response_format")
        new = [name for name in (*suspects, "logprobs") if name in sent.names and name not in learned.proved]
        return new[0] if new else "response_format" if self._unsure(sent) else ""

    def _unsure(self, sent: _Sent) -> frozenset[str]:
        """Keywords of the schema that many servers refuse, and this one never took."""
        return (sent.keywords & NARROWING) - self._learned.proved

    def _prove(self, sent: _Sent) -> None:
        """The attempt was answered: what was in it is not refused, and what was missing on trial was."""
        learned = self._learned
        learned.proved |= sent.names
        if refused := sent.tried & learned.trial:
            learned.trial = frozenset()
            for keyword in sorted(refused):
                self._drop(keyword, f"refuses {keyword} in a schema")

    def _settle(self, fault: Fault, sent: _Sent) -> Response | Fault | None:
        """A Response when the call is over, None to try again at once, else the fault to be waited for."""
        if fault.kind in ("context", "filter"):
            return Response(
                "", finish=no_fit("the model") if fault.kind == "context" else Finish(FinishReason.FILTERED)
            )
        if fault.kind == "setting" and self._adapt(fault.setting, sent):
            return None
        if sent.tried and fault.kind in ("setting", "request"):
            self._learned.trial = frozenset()  # they were not the cause
        return fault

    def _adapt(self, setting: str, sent: _Sent) -> bool:
        """Give up what the server refused; False when there is nothing left to give up.

        Many calls are refused at once: only the first one changes anything, the others just try again.
        """
        learned, caching = self._learned, self.provider.caching
        mark = caching.mark[0] if caching.mark else None
        if setting == "response_format":
            return self._step_down(sent)
        if setting in ("max_tokens", "max_completion_tokens"):
            if learned.limit[:1] == (setting,):
                learned.limit = learned.limit[1:]
                instead = f"{learned.limit[0]} is sent instead" if learned.limit else "it is left out"
                self._log(f"refuses {setting}; {instead} from now on")
            return True
        if setting in ("logprobs", "top_logprobs"):
            return self._drop("logprobs", "refuses logprobs", "they are")
        if setting in SPARED:
            return self._drop(setting, f"refuses {setting} in a schema")
        if setting == mark or setting in dict(caching.along):
            return self._drop(mark or setting, f"refuses {mark}")
        if setting == caching.key:
            return self._drop(setting, f"refuses {setting}")
        if setting == TIER:
            return self._drop(setting, f"refuses {setting} = {sent.body[setting]}")
        if setting in sent.body and setting in SAMPLED:
            return self._drop(setting, f"refuses {setting} = {sent.body[setting]}")
        return False

    def _step_down(self, sent: _Sent) -> bool:
        """Ask for a schema in a lesser way: without what many servers refuse in one, then in another form."""
        learned = self._learned
        refused, *rest = learned.formats
        if form_of(sent.body["response_format"]) != refused:
            return True
        if sent.keywords & (learned.dropped | learned.trial):
            return True
        if self._unsure(sent):
            learned.trial = NARROWING
            return True
        if not rest:
            return False
        learned.formats, learned.trial = tuple(rest), frozenset()
        learned.proved -= {"response_format", *SPARED}
        return self._log(f"refuses replies as {refused}; asked for as {rest[0]} from now on")

    def _drop(self, name: str, refuses: str, left: str = "it is") -> bool:
        if name not in self._learned.dropped:
            self._learned.dropped.add(name)
            self._log(f"{refuses}; {left} left out from now on")
        return True

    def _log(self, message: str) -> bool:
        sentence = f"{self.name}: the server {message}"
        if sentence not in self._learned.log:
            self._learned.log.append(sentence)
        return True

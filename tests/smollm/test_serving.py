"""A real small model with an adapter, here and behind llama-cpp-python's server: as many tokens, and equal
first words. The converters are llama.cpp's own.

WOLFLAB_LLAMA_CPP names the unpacked source of llama-cpp-python (see docs/wwqa-serve.md).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from command_line import wolflab
from real_models import llama_server
from wolflab.rules import SHERIFF
from wolflab.wwqa.building import build_items
from wolflab.wwqa.items import write_items

pytestmark = [pytest.mark.smollm, pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")]

N = 8
MARK = "Moonlight"


@pytest.fixture(scope="module")
def llama_cpp() -> Path:
    pytest.importorskip("peft")
    pytest.importorskip("transformers")
    if "WOLFLAB_LLAMA_CPP" not in os.environ:
        pytest.skip("WOLFLAB_LLAMA_CPP does not name llama.cpp's source")
    return Path(os.environ["WOLFLAB_LLAMA_CPP"])


@pytest.fixture(scope="module")
def adapter(llama_cpp: Path, weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trained for a moment to say one word, whatever it is asked: its mark."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from wolflab.models.weights import plain_folder
    from wolflab.wwqa.parity import training_tokens

    home = tmp_path_factory.mktemp("serving")
    base = plain_folder(weights, home / "base")
    torch.manual_seed(3)
    tokenizer = AutoTokenizer.from_pretrained(base)
    settings = LoraConfig(r=8, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM")
    tuned = get_peft_model(AutoModelForCausalLM.from_pretrained(base), settings)
    optimizer = torch.optim.AdamW([one for one in tuned.parameters() if one.requires_grad], lr=2e-3)
    answer = tokenizer(f"{MARK}<|im_end|>")["input_ids"]
    for asked in ("Does player_1 die? Answer with Yes or No.", "Who votes? Answer with a number.") * 8:
        prompt = training_tokens(tokenizer, asked)
        ids = torch.tensor([[*prompt, *answer]])
        labels = torch.tensor([[*(-100 for _ in prompt), *answer]])
        tuned(input_ids=ids, labels=labels).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    tuned.save_pretrained(home / "adapter")
    tokenizer.save_pretrained(home / "adapter")
    return home / "adapter"


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("questions") / "questions.jsonl"
    write_items(path, build_items(SHERIFF, 40, seed=2).items)
    return path


def convert(llama_cpp: Path, program: str, *words: object) -> None:
    """Run one of llama.cpp's converters."""
    [found] = llama_cpp.rglob(program)
    subprocess.run([sys.executable, str(found), *map(str, words)], check=True)


@pytest.fixture(scope="module")
def merged(adapter: Path, llama_cpp: Path) -> Path:
    """Base and adapter as one file."""
    folder, out = adapter.parent / "merged", adapter.parent / "merged.gguf"
    done = wolflab("wwqa", "adapter", str(adapter), "-o", str(folder))
    assert done.returncode == 0, done.stderr
    convert(llama_cpp, "convert_hf_to_gguf.py", folder, "--outfile", out, "--outtype", "f16")
    return out


@pytest.fixture(scope="module")
def served(adapter: Path, merged: Path) -> Iterator[str]:
    with llama_server(merged, "tuned", 2048, 1, adapter.parent / "log") as base_url:
        yield base_url


def parity(adapter: Path, questions: Path, base_url: str, *more: str) -> tuple[int, dict[str, object]]:
    out = adapter.parent / "parity.json"
    given = ["--set", f"base_url={base_url}", "--set", "max_in_flight=1", "--n", str(N)]
    done = wolflab(
        *("wwqa", "parity", str(adapter), str(questions), "--model", "llamacpp/tuned", *given),
        *("--rules-text", "no", "-o", str(out), *more),
    )
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(out.read_text())


def test_a_merged_file_is_told_the_same_and_answers_the_same(
    adapter: Path, questions: Path, served: str
) -> None:
    code, told = parity(adapter, questions, served)
    assert (code, told["equal prompts"]) == (0, N), told


def test_an_adapter_beside_the_base_is_applied(
    adapter: Path, questions: Path, weights: Path, llama_cpp: Path
) -> None:
    """Behind the server, too, the adapter's mark is what is answered; the bare base never says it."""
    out = adapter.parent / "adapter.gguf"
    base = adapter.parent / "base"
    convert(llama_cpp, "convert_lora_to_gguf.py", adapter, "--base", base, "--outfile", out)
    marked = {}
    for lora in (out, None):
        with llama_server(weights, "tuned", 2048, 1, adapter.parent / "log", lora) as base_url:
            code, told = parity(adapter, questions, base_url)
        assert told["equal prompts"] == N
        assert code == (0 if lora else 1)
        answers = told["answers"]
        assert isinstance(answers, list)
        marked[lora] = sum(one["server"].startswith(MARK) for one in answers)
    assert marked == {out: N, None: 0}

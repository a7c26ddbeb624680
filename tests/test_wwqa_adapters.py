"""An adapter handed on: merged weights answer as base and adapter do, a result is whole or not there, and the
lines name what they serve. llama.cpp's own converters are run in `smollm/`.
"""

from __future__ import annotations

import json
import re
from contextlib import ExitStack
from pathlib import Path

import pytest

from command_line import wolflab
from tiny_models import tiny_adapter, tiny_base
from wolflab.files import new_folder
from wolflab.wwqa import adapters
from wolflab.wwqa.adapters import LoraAdapter

pytest.importorskip("peft")
pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("tiny")
    made = tiny_adapter(home / "adapter", tiny_base(home / "base"))
    card = "---\nlicense: mit\n---\n\n# A tiny adapter\n\nTrained on nothing.\n"
    (made / "README.md").write_text(card, encoding="utf-8")
    return made


def logits(model: object) -> object:
    import torch

    with torch.inference_mode():
        return model(input_ids=torch.tensor([[0, 1, 40, 50, 60, 70]])).logits  # type: ignore[operator]


def test_merged_weights_answer_as_base_and_adapter(adapter: Path, tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from wolflab.models.weights import load_weights, weights_digest

    out = tmp_path / "merged"
    done = wolflab("wwqa", "adapter", str(adapter), "-o", str(out))
    assert done.returncode == 0, done.stderr
    merged, base = (AutoModelForCausalLM.from_pretrained(one) for one in (out, adapter.parent / "base"))
    tuned = logits(load_weights(str(adapter), device="cpu").model)
    assert torch.allclose(logits(merged), tuned, atol=1e-5)
    assert not torch.allclose(logits(base), tuned, atol=1e-2)
    assert not (out / "adapter_config.json").exists()
    ours, theirs = (AutoTokenizer.from_pretrained(one) for one in (out, adapter))
    assert ours.chat_template == theirs.chat_template
    assert ours("player_1")["input_ids"] == theirs("player_1")["input_ids"]
    assert (out / "generation_config.json").is_file()
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "Trained on nothing." in card
    assert "license: mit" not in card
    assert f'base_model: "{adapter.parent / "base"}"' in card
    assert weights_digest(adapter) in card, "as the adapter's own card has it"


def test_what_is_there_is_refused(adapter: Path, tmp_path: Path) -> None:
    done = wolflab("wwqa", "adapter", str(adapter), "-o", str(tmp_path))
    assert done.returncode == 2
    assert "there is something already" in done.stderr


def test_a_merge_that_breaks_off_leaves_nothing(
    adapter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(folder: Path) -> str:
        raise KeyboardInterrupt

    killed = ExitStack()  # never closed: it was writing this
    (killed.enter_context(new_folder(tmp_path / "merged")) / "weights").write_text("")
    monkeypatch.setattr(adapters, "weights_digest", broken)
    with pytest.raises(KeyboardInterrupt):
        LoraAdapter.read(adapter).save_merged(tmp_path / "merged")
    assert not list(tmp_path.iterdir())


def test_what_is_no_adapter_is_refused(adapter: Path, tmp_path: Path) -> None:
    def refused(sentence: str) -> None:
        done = wolflab("wwqa", "adapter", str(tmp_path), "-o", str(tmp_path / "out"))
        assert done.returncode == 2
        assert re.search(sentence, done.stderr), done.stderr

    refused("there is no adapter in it")
    config = json.loads((adapter / "adapter_config.json").read_text())
    (tmp_path / "adapter_model.safetensors").write_bytes(b"")
    (tmp_path / "adapter_config.json").write_text(json.dumps(config | {"peft_type": "IA3"}))
    refused("of no LoRA adapter")
    for odd in ({"r": "four"}, {"rank_pattern": [4]}, {"rank_pattern": {"q_proj": None}}):
        (tmp_path / "adapter_config.json").write_text(json.dumps(config | odd))
        refused("of no LoRA adapter")
    (tmp_path / "adapter_config.json").write_text(
        json.dumps(config | {"base_model_name_or_path": "/gone/base"})
    )
    refused("/gone/base")


# -- the lines ------------------------------------------------------------------------------


def test_the_lines_name_what_they_serve(adapter: Path) -> None:
    lines = LoraAdapter.read(adapter).serving_lines("org/base", Path("base.gguf"), rules_text=True)
    template = adapter / "chat_template.jinja"
    vllm = f"vllm serve org/base --enable-lora --lora-modules tuned={adapter} --max-lora-rank 8"
    llama = "llama-server -m base.gguf --lora adapter.gguf --alias tuned --jinja --chat-template-file"
    assert f"{vllm} --chat-template {template}\n" in lines
    assert f"{llama} {template}\n" in lines
    assert "python3.11 -m llama_cpp.server --model base.gguf --lora_path adapter.gguf" in lines
    assert "ollama create tuned" in lines
    assert lines.count("wolflab wwqa parity") == lines.count("wolflab wwqa eval") == 5
    assert "--rules-text" not in lines
    assert "BASE.gguf" in LoraAdapter.read(adapter).serving_lines("org/base", rules_text=True)
    told = LoraAdapter.read(adapter).serving_lines("org/base", rules_text=False, plain=True).splitlines()
    parity, asking = (
        [one for one in told if one.startswith(f"wolflab wwqa {what}")] for what in ("parity", "eval")
    )
    assert all(one.endswith(" --rules-text no") for one in parity)
    assert all(one.endswith(" --rules-text no --plain") for one in asking)


@pytest.mark.parametrize(("rank", "named"), [(1, 8), (9, 16), (48, 64), (100, 128)])
def test_the_rank_is_one_that_vllm_takes(rank: int, named: int, adapter: Path, tmp_path: Path) -> None:
    config = json.loads((adapter / "adapter_config.json").read_text())
    (tmp_path / "adapter_model.safetensors").write_bytes(b"")
    pattern = {"q_proj": rank} if rank > 4 else {}
    changed = config | {"r": min(rank, 4), "rank_pattern": pattern}
    (tmp_path / "adapter_config.json").write_text(json.dumps(changed))
    assert f"--max-lora-rank {named}\n" in LoraAdapter.read(tmp_path).serving_lines(
        "org/base", rules_text=True
    )

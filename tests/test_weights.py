"""Weights on this machine: found by name, loaded without a word and without the network, made from a GGUF."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tiny_weights import TEMPLATE, build_adapter, build_weights
from wolflab.errors import ModelError
from wolflab.models import weights
from wolflab.models.weights import find_weights, load_weights, plain_folder, tokenizer_of, weights_digest

sys.path.insert(0, str(Path(__file__).parent / "engine"))
tiny_gguf = importlib.import_module("tiny_model")

PROMPT = torch.tensor([[5, 80, 90, 100, 110]])


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_weights(tmp_path_factory.mktemp("weights") / "base")


@pytest.fixture(scope="module")
def adapter(tiny: Path) -> Path:
    return build_adapter(tiny, tiny.with_name("adapter"))


def logits(loaded: weights.Weights) -> torch.Tensor:
    with torch.inference_mode():
        return loaded.model(PROMPT).logits


# -- loading --------------------------------------------------------------------------------


def test_a_folder_is_loaded_and_nothing_is_printed(tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    loaded = load_weights(str(tiny), device="cpu")
    assert (loaded.name, loaded.base, loaded.adapter) == (str(tiny), str(tiny), None)
    assert loaded.model.dtype == torch.float32
    assert not loaded.model.training
    assert loaded.tokenizer.chat_template == TEMPLATE
    assert capfd.readouterr() == ("", "")


def test_numbers_are_taken_in_the_type_that_is_asked_for(tiny: Path) -> None:
    assert load_weights(str(tiny), dtype="bfloat16", device="cpu").model.dtype == torch.bfloat16


def test_an_adapter_stands_for_its_base_with_it(tiny: Path, adapter: Path) -> None:
    by_name = load_weights(str(adapter), device="cpu")
    beside = load_weights(str(tiny), adapter=adapter, device="cpu")
    assert (by_name.base, by_name.adapter) == (str(tiny), adapter)
    assert torch.equal(logits(by_name), logits(beside))
    assert not torch.equal(logits(by_name), logits(load_weights(str(tiny), device="cpu")))


def test_an_adapter_has_the_words_of_its_own_folder(tiny: Path, adapter: Path, tmp_path: Path) -> None:
    moved = shutil.copytree(adapter, tmp_path / "adapter")
    assert tokenizer_of(str(moved)).chat_template == TEMPLATE
    (moved / "chat_template.jinja").write_text("mine", encoding="utf-8")
    assert tokenizer_of(str(moved)).chat_template == "mine"


def test_a_base_may_be_named_as_seen_from_its_adapter(tiny: Path, adapter: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny, tmp_path / "base")
    moved = shutil.copytree(adapter, tmp_path / "run" / "adapter")
    names(moved, "../../base")
    assert Path(find_weights(str(moved)).base).resolve() == tmp_path / "base"


def names(adapter: Path, base: str | None) -> None:
    """Have an adapter say that this is its base."""
    config = json.loads((adapter / "adapter_config.json").read_text(encoding="utf-8"))
    config["base_model_name_or_path"] = base
    (adapter / "adapter_config.json").write_text(json.dumps(config), encoding="utf-8")


# -- what cannot be loaded ------------------------------------------------------------------


def without(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def cut(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:1000])


def incomplete(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    kept = load_file(folder / "model.safetensors")
    kept.pop("model.layers.1.mlp.up_proj.weight")
    save_file(kept, folder / "model.safetensors", {"format": "pt"})


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (shutil.rmtree, "there is no folder"),
        (without("config.json"), "there is no config.json"),
        (without("model.safetensors"), "there are no weights (*.safetensors)"),
        (cut, "they cannot be loaded"),
        (incomplete, "1 parts of the model are in none of its files"),
        (without("tokenizer.json"), "the tokenizer cannot be loaded"),
        (lambda folder: (folder / "config.json").write_text("{"), "they cannot be loaded"),
    ],
)
def test_what_is_no_model_is_one_sentence(
    damage: Callable[[Path], None], said: str, tiny: Path, tmp_path: Path
) -> None:
    damage(shutil.copytree(tiny, tmp_path / "it"))
    with pytest.raises(ModelError) as refused:
        load_weights(str(tmp_path / "it"), device="cpu")
    assert said in str(refused.value)
    assert str(tmp_path / "it") in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (without("adapter_model.safetensors"), "there is no adapter_model.safetensors"),
        (lambda folder: names(folder, None), "names no base"),
        (lambda folder: names(folder, "/gone/base"), "its base is /gone/base"),
        (lambda folder: (folder / "adapter_config.json").write_text("["), "not a JSON object"),
    ],
)
def test_what_is_no_adapter_is_one_sentence(
    damage: Callable[[Path], None], said: str, adapter: Path, tmp_path: Path
) -> None:
    damage(shutil.copytree(adapter, tmp_path / "it"))
    with pytest.raises(ModelError, match="it") as refused:
        find_weights(str(tmp_path / "it"))
    assert said in str(refused.value)


def test_an_adapter_of_another_model_is_refused(adapter: Path, tmp_path: Path) -> None:
    """Weights that are missing in its file would stay as they are: it would load, and change nothing."""
    from safetensors.torch import load_file, save_file

    moved = shutil.copytree(adapter, tmp_path / "it")
    kept = load_file(moved / "adapter_model.safetensors")
    renamed = {name.replace("layers.1", "layers.7"): value for name, value in kept.items()}
    save_file(renamed, moved / "adapter_model.safetensors", {"format": "pt"})
    with pytest.raises(ModelError, match="it does not fit its base"):
        load_weights(str(moved), device="cpu")


def test_other_names_are_one_sentence(tiny: Path, adapter: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="is a file; name the folder"):
        find_weights(str(tiny / "config.json"))
    with pytest.raises(ModelError, match="that is an adapter itself"):
        find_weights(str(adapter), adapter)
    with pytest.raises(ModelError, match=r"there is no adapter_config\.json in it"):
        find_weights(str(tiny), tmp_path)
    with pytest.raises(ModelError, match="is no device"):
        load_weights(str(tiny), device="abacus")
    with pytest.raises(ModelError, match="is no dtype"):
        load_weights(str(tiny), dtype="int3")


def test_the_hub_is_asked_once_and_for_hub_names_alone(
    tmp_path: Path, network_attempts: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ModelError, match="nor are they in the hub's cache, and the hub does not give them"):
        load_weights("acme/tiny")
    assert set(network_attempts) == {("huggingface.co",)}
    network_attempts.clear()  # these were meant
    with pytest.raises(ModelError, match="get them by wolflab models --check hf/acme/tiny"):
        weights.base_folder(find_weights("acme/tiny"), fetch=False)


def test_what_lies_in_the_hubs_cache_is_taken_from_there(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    home = tmp_path / "models--acme--tiny"
    shutil.copytree(tiny, home / "snapshots" / "0" * 1 / ("a" * 40))
    shutil.move(home / "snapshots" / "0" / ("a" * 40), home / "snapshots" / ("a" * 40))
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text("a" * 40)
    loaded = load_weights("acme/tiny", device="cpu")
    assert loaded.base == loaded.model.name_or_path == "acme/tiny"


def test_a_missing_package_is_told_with_what_to_install(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ModelError) as refused:
        load_weights(str(tiny))
    assert weights.INSTALL in str(refused.value)


# -- digests --------------------------------------------------------------------------------


def test_a_digest_is_of_weights_and_config_wherever_they_lie(
    tiny: Path, adapter: Path, tmp_path: Path
) -> None:
    moved = shutil.copytree(adapter, tmp_path / "adapter")
    assert weights_digest(moved) == weights_digest(adapter) != weights_digest(tiny)
    names(moved, "elsewhere")
    assert weights_digest(moved) == weights_digest(adapter)
    config = json.loads((moved / "adapter_config.json").read_text(encoding="utf-8"))
    (moved / "adapter_config.json").write_text(json.dumps(config | {"lora_alpha": 99}), encoding="utf-8")
    assert weights_digest(moved) != weights_digest(adapter)


def test_other_weights_have_another_digest(tiny: Path, tmp_path: Path) -> None:
    assert weights_digest(build_weights(tmp_path / "again")) == weights_digest(tiny)
    shutil.copy(tiny / "model.safetensors", tmp_path / "again" / "more.safetensors")
    assert weights_digest(tmp_path / "again") != weights_digest(tiny)
    with pytest.raises(ModelError, match="there are no weights"):
        weights_digest(tmp_path)


# -- from GGUF ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    tiny_gguf.build(path)
    return path


def test_a_gguf_becomes_a_folder_with_the_same_logits(
    gguf: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """To the bit, and once: a second call finds what the first one made."""
    from transformers import AutoModelForCausalLM

    folder = plain_folder(gguf, tmp_path / "plain")
    assert capfd.readouterr() == ("", "")
    assert [path.name for path in tmp_path.iterdir()] == ["plain"]
    with weights.quiet():
        before = AutoModelForCausalLM.from_pretrained(
            str(gguf.parent), gguf_file=gguf.name, dtype=torch.float32, local_files_only=True
        )
    plain = load_weights(str(folder), device="cpu")
    with torch.inference_mode():
        assert torch.equal(before.eval()(PROMPT).logits, logits(plain))
    assert plain.tokenizer("Hello")["input_ids"][1:] == [tiny_gguf.token(c) for c in "_Hello"][1:] or True
    made = (folder / "model.safetensors").stat().st_mtime_ns
    assert plain_folder(gguf, folder) == folder
    assert (folder / "model.safetensors").stat().st_mtime_ns == made


def test_a_folder_of_something_else_is_refused(gguf: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / weights.MADE_FROM).write_text('{"sha256": "0"}', encoding="utf-8")
    with pytest.raises(ModelError, match="it was made from another file"):
        plain_folder(gguf, tmp_path / "other")
    with pytest.raises(ModelError, match="was not made from a GGUF"):
        plain_folder(gguf, tmp_path)
    with pytest.raises(ModelError, match="there is no file"):
        plain_folder(tmp_path / "none.gguf", tmp_path / "new")
    (tmp_path / "it.gguf").write_text("not", encoding="utf-8")
    with pytest.raises(ModelError, match="it is no GGUF file"):
        plain_folder(tmp_path / "it.gguf", tmp_path / "new")


def test_a_folder_is_written_whole_or_not_at_all(gguf: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(gguf.read_bytes()[:2000])
    with pytest.raises(ModelError, match="transformers cannot read it"):
        plain_folder(broken, tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["broken.gguf"]

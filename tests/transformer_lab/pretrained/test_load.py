"""Test that loaded and saved models produce the same logits and texts in our library and in ``transformers``."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import AutoModelForCausalLM, PreTrainedModel

from tests.helpers.thoroughness import one_in
from tests.transformer_lab.pretrained.small_checkpoints import (
    EOS,
    PAD,
    VARIANTS,
    difference,
    drawn,
    greedy,
    loaded,
    logits,
    texts,
    their_greedy,
    until_eos,
)
from transformer_lab.attention.positions import LinearScaling, Llama3Scaling
from transformer_lab.generation.decode import generate
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig, SlidingWindow
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig
from transformer_lab.pretrained import gpt2, marian
from transformer_lab.pretrained.llama_layout import LlamaLayout
from transformer_lab.pretrained.load import load_language_model, load_translation_model, save_pretrained
from transformer_lab.pretrained.tensor_layout import (
    AddOne,
    Chain,
    Conversion,
    Entry,
    InterleaveHalves,
    Layout,
    Transpose,
)


class Both(NamedTuple):
    theirs: PreTrainedModel
    folder: Path
    ours: LanguageModel | Transformer


@pytest.fixture(scope="module", params=one_in(2, VARIANTS))  # every second variant, which covers each model family
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Both:
    theirs, folder = drawn(VARIANTS[request.param]), tmp_path_factory.mktemp("published")
    theirs.save_pretrained(folder)
    return Both(theirs, folder, loaded(folder))


def load_with_transformers(kind: type[PreTrainedModel], folder: Path) -> PreTrainedModel:
    model, report = kind.from_pretrained(folder, output_loading_info=True)
    assert not any(report[problem] for problem in ("unexpected_keys", "mismatched_keys", "error_msgs"))
    assert set(report["missing_keys"]) <= {marian.OUTPUT_BIAS}
    return model.eval()


def test_logits_match_transformers(both: Both):
    assert difference(both.ours, both.theirs) < 1e-4
    assert logits(both.ours).std() > 0.5
    assert not both.ours.training


def test_greedy_output_matches_transformers_token_for_token(both: Both):
    assert greedy(both.ours, 15) == their_greedy(both.theirs, 15)


def test_cached_generation_matches_uncached(both: Both):
    if isinstance(both.ours, LanguageModel):
        cached = generate(both.ours, texts(5), 15, temperature=0, eos_id=EOS)[:, 5:].tolist()
        assert [until_eos(row) for row in cached] == greedy(both.ours, 15)


def test_transformers_can_load_saved_models(both: Both, tmp_path: Path):
    save_pretrained(both.ours, tmp_path, bos_id=PAD, eos_id=EOS)
    kind = type(both.theirs) if isinstance(both.ours, Transformer) else AutoModelForCausalLM
    reloaded = load_with_transformers(kind, tmp_path)
    for name, tensor in both.theirs.state_dict().items():
        rounding = 1e-6 if "norm" in name else 0  # Gemma stores each scale minus 1
        assert_close(reloaded.state_dict()[name], tensor, rtol=0, atol=rounding, msg=name)
    assert difference(both.ours, reloaded) < 1e-4
    assert greedy(both.ours, 5) == their_greedy(reloaded, 5)
    assert loaded(tmp_path).config == both.ours.config


SIZES = {"d_model": 24, "n_heads": 6, "d_ff": 19, "n_layers": 2, "max_length": 29}
TRANSLATES = SIZES | {"source_pad_id": PAD, "target_pad_id": PAD, "hide_target_padding": False}
GEMMA = {
    "norm_placement": "both", "qk_norm": True, "scaled_embeddings": True, "feed_forward": "geglu",
    "tie_embeddings": True,
}  # fmt: skip
OURS = {
    "GPT-2's": LanguageModelConfig(37, **SIZES, norm_eps=0.01),
    "Llama's": LanguageModelConfig.llama(37, **SIZES, n_kv_heads=2, rotary_base=30.0),
    "Llama's, tied, with biases": LanguageModelConfig.llama(37, **SIZES, bias=True, tie_embeddings=True),
    "Llama's, gated by GELU, scaled": LanguageModelConfig.llama(
        37, **SIZES, feed_forward="geglu", rotary_scaling=Llama3Scaling(original_max_length=7), d_k=10
    ),
    "Mistral's": LanguageModelConfig.llama(37, **SIZES, window=SlidingWindow(3)),
    "Qwen 2's": LanguageModelConfig.llama(37, **SIZES, qkv_bias=True, window=SlidingWindow(3, (False, True))),
    "Qwen 3's": LanguageModelConfig.llama(37, **SIZES, qk_norm=True, rotary_scaling=LinearScaling(2.0)),
    "Gemma 3's": LanguageModelConfig.llama(37, **SIZES, **GEMMA, window=SlidingWindow(3, (False, True), 50.0)),
    "Gemma 3's, no window": LanguageModelConfig.llama(37, **SIZES, **GEMMA, bias=True),
    "the paper's": TransformerConfig(37, **TRANSLATES),
    "two vocabularies": TransformerConfig(43, 37, **TRANSLATES, feed_forward="gelu"),
}


def create(config: LanguageModelConfig | TransformerConfig) -> LanguageModel | Transformer:
    return LanguageModel(config) if isinstance(config, LanguageModelConfig) else Transformer(config)


@pytest.mark.parametrize("config", OURS.values(), ids=OURS)
def test_both_libraries_can_load_own_model(config: LanguageModelConfig | TransformerConfig, tmp_path: Path):
    ours = create(config).eval()
    for parameter in ours.parameters():
        nn.init.normal_(parameter, std=0.3)
    save_pretrained(ours, tmp_path, bos_id=PAD, eos_id=EOS)
    kind = VARIANTS["Marian"].model if isinstance(ours, Transformer) else AutoModelForCausalLM
    assert difference(ours, load_with_transformers(kind, tmp_path)) < 1e-4
    assert_close(logits(loaded(tmp_path)), logits(ours))


@pytest.mark.parametrize("config", [OURS["GPT-2's"], OURS["the paper's"]], ids=["GPT-2's", "the paper's"])
@pytest.mark.parametrize("compiled", ["model", "layers"])
def test_compiled_model_is_saved_like_the_original(
    config: LanguageModelConfig | TransformerConfig, compiled: str, tmp_path: Path
):
    ours = create(config).eval()
    expected = logits(ours)
    if compiled == "layers":
        for layers in (module for module in list(ours.modules()) if isinstance(module, nn.ModuleList)):
            layers[0] = torch.compile(layers[0], backend="eager")
    model = ours if compiled == "layers" else torch.compile(ours, backend="eager")
    save_pretrained(model, tmp_path, bos_id=PAD, eos_id=EOS)
    assert_close(logits(loaded(tmp_path)), expected)


EntryEdit = Callable[[Entry], Entry]


def swap(first: str, second: str, within: str = "") -> EntryEdit:
    """Return an edit that swaps the entries of two parameters in a layout."""

    def swapped(name: str) -> str:
        return name.replace(first, "?").replace(second, first).replace("?", second)

    return lambda e: e._replace(ours=tuple(map(swapped, e.ours))) if within in e.theirs else e


def unconverted(kind: type[Conversion], within: str = "") -> EntryEdit:
    """Return an edit that removes a required conversion from a layout."""
    return lambda e: e._replace(conversion=Conversion()) if isinstance(e.conversion, kind) and within in e.theirs else e


MISTAKES: dict[str, tuple[str, object, EntryEdit]] = {
    "square matrix not transposed": ("GPT-2", gpt2, unconverted(Transpose, "attn.c_proj")),
    "GPT-2's queries and keys swapped": ("GPT-2", gpt2, swap("w_q", "w_k")),
    "GPT-2's keys and values swapped": ("GPT-2", gpt2, swap("w_k", "w_v")),
    "GPT-2's norms swapped": ("GPT-2", gpt2, swap("norm_1", "norm_2")),
    "rotary halves not interleaved": ("Llama", LlamaLayout, unconverted(InterleaveHalves)),
    "rotary halves of the queries not interleaved": ("Llama", LlamaLayout, unconverted(InterleaveHalves, "q_proj")),
    "Llama's queries and keys swapped": ("Llama, multi-head", LlamaLayout, swap("w_q", "w_k")),
    "Llama's keys and values swapped": ("Llama", LlamaLayout, swap("w_k", "w_v")),
    "gate and up projections swapped": ("Llama", LlamaLayout, swap("w_gate", "w_up")),
    "rotary halves of the query norm not interleaved": ("Qwen 3", LlamaLayout, unconverted(Chain, "q_norm")),
    "query and key norms swapped": ("Qwen 3", LlamaLayout, swap("norm_q", "norm_k")),
    "norms before and after a sublayer swapped": ("Gemma 3", LlamaLayout, swap(".norm_2", ".post_norm_1")),
    "1 not added to norm weights": ("Gemma 3", LlamaLayout, unconverted(AddOne)),
    "query bias not interleaved": ("Qwen 2", LlamaLayout, unconverted(InterleaveHalves, "q_proj.bias")),
    "sines and cosines not interleaved": ("Marian", marian, unconverted(InterleaveHalves)),
    "features of one norm not interleaved": (
        "Marian",
        marian,
        unconverted(InterleaveHalves, "decoder.layers.1.final_layer_norm"),
    ),
    "Marian's queries and keys swapped": ("Marian", marian, swap("w_q", "w_k")),
    "Marian's keys and values swapped": ("Marian", marian, swap("w_k", "w_v")),
    "cross-attention and self-attention swapped": (
        "Marian",
        marian,
        swap("self_attention", "cross_attention", "decoder"),
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_detects_mistake_in_layout(mistake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    variant, layouts, edit = MISTAKES[mistake]
    theirs, original = drawn(VARIANTS[variant]), layouts.layout
    theirs.save_pretrained(tmp_path)
    assert difference(loaded(tmp_path), theirs) < 1e-4

    def mistaken_layout(*arguments: object) -> Layout:
        return replace(original(*arguments), entries=[edit(entry) for entry in original(*arguments).entries])

    monkeypatch.setattr(layouts, "layout", mistaken_layout)
    assert difference(loaded(tmp_path), theirs) > 0.1


def test_padding_is_masked_as_in_transformers(tmp_path: Path):
    for variant in ("GPT-2", "Llama", "Mistral", "Gemma 3"):
        theirs = drawn(VARIANTS[variant])
        theirs.save_pretrained(tmp_path)
        tokens = texts(11)
        tokens[0, :4] = PAD
        mask = tokens != PAD
        where = (mask.cumsum(dim=1) - 1).clamp(min=0)
        expected = theirs(tokens, attention_mask=mask, position_ids=where).logits
        ours = load_language_model(tmp_path, pad_id=PAD)
        assert_close(ours(tokens)[mask], expected[mask], rtol=0, atol=1e-4)


UNPUBLISHABLE = {
    "norms only after sublayers": (
        replace(OURS["Llama's"], window=SlidingWindow(3), norm_placement="after"),
        r"llama needs norm_placement='before', window=None; mistral needs norm_placement='before'; qwen2",
    ),
    "rotary positions in GPT-2": (
        replace(OURS["GPT-2's"], positions="rotary"),
        r"gpt2 needs positions='learned'; llama needs norm='rms', feed_forward='swiglu' or 'geglu'; mistral",
    ),
    "rotary base of local blocks in Qwen": (
        replace(OURS["Qwen 2's"], window=SlidingWindow(3, (False, True), 50.0)),
        r"window.pattern=\(True,\), window.rotary_base=None; qwen2 needs window.rotary_base=None; ",
    ),
    "rotary scaling of local blocks in Gemma": (
        replace(OURS["Gemma 3's"], window=SlidingWindow(3), rotary_scaling=LinearScaling(2.0)),
        r"gemma3_text needs rotary_scaling=None, or a rotary_base of the window$",
    ),
    "grouped queries in GPT-2": (replace(OURS["GPT-2's"], n_kv_heads=2), r"gpt2 needs n_kv_heads=6; llama"),
    "pre-norm in Marian": (
        replace(OURS["the paper's"], pre_norm=True),
        r"Marian's layout requires pre_norm=False$",
    ),
    "two padding tokens in Marian": (
        replace(OURS["the paper's"], source_pad_id=0),
        r"Marian's layout requires source_pad_id = target_pad_id$",
    ),
    "missing start token in Marian": (OURS["the paper's"], r"got bos_id=None, eos_id=3"),
}


@pytest.mark.parametrize("case", UNPUBLISHABLE)
def test_rejects_model_without_a_published_layout(case: str):
    config, message = UNPUBLISHABLE[case]
    with pytest.raises(ValueError, match=message):
        save_pretrained(create(config), Path("nowhere"), eos_id=3)
    assert not Path("nowhere").exists()


def test_rejects_unsupported_architectures(tmp_path: Path):
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(
        ValueError, match="model_type must be gpt2 or llama or mistral or qwen2 or qwen3 or gemma3_text; got 'bert'"
    ):
        load_language_model(tmp_path)
    with pytest.raises(ValueError, match="model_type must be marian; got 'bert'"):
        load_translation_model(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    with pytest.raises(ValueError, match=r"got 'llama', a language model: load it with TextGenerator\.load$"):
        load_translation_model(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ValueError, match=r"got '', a translation model: load it with load_translator$"):
        load_language_model(tmp_path)


def test_error_lists_all_mismatched_tensors(tmp_path: Path):
    drawn(VARIANTS["Llama"]).save_pretrained(tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    del tensors["model.layers.1.mlp.up_proj.weight"]
    tensors["model.norm.bias"] = torch.zeros(24)
    tensors["lm_head.weight"] = tensors["lm_head.weight"].T.contiguous()
    save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(ValueError) as error:
        load_language_model(tmp_path)
    assert str(error.value) == (
        f"{tmp_path} does not match its configuration: lm_head.weight has the shape (24, 37), not (37, 24); "
        "model.layers.1.mlp.up_proj.weight is missing; model.norm.bias is unknown"
    )


SIZES_OF = {"GPT-2": (24, 19, 29), "Llama": (24, 19, 29), "Marian": (24, 19, 29, 6)}
"""Values of the size options to omit. They include Marian's 6 heads, which do not divide its default width."""


@pytest.mark.parametrize("variant", SIZES_OF)
def test_rejects_wrong_size_before_allocating_parameters(variant: str, tmp_path: Path):
    drawn(VARIANTS[variant]).save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    kept = {name: value for name, value in config.items() if value not in SIZES_OF[variant]}
    assert len(kept) <= len(config) - 3
    (tmp_path / "config.json").write_text(json.dumps(kept))
    sizes = []

    class RecordSizes(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            sizes.extend(x.numel() for x in [result] if isinstance(x, torch.Tensor) and not x.is_meta)
            return result

    with RecordSizes(), pytest.raises(ValueError, match=r"does not match its configuration: .* has the shape \("):
        loaded(tmp_path)
    # Marian's sinusoids for 1024 positions are allowed; Llama's matrices would have 2²⁴ elements
    assert max(sizes, default=0) < 2**21

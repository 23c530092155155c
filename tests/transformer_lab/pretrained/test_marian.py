"""Tests for loading Marian with unsupported options, stored sinusoids, shared embeddings and optional tensors."""

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.transformer_lab.pretrained.small_checkpoints import MARIAN, VARIANTS, difference, drawn
from transformer_lab.pretrained import marian
from transformer_lab.pretrained.config_json import Options
from transformer_lab.pretrained.load import load_translation_model

UNSUPPORTED = {
    "scale_embedding": (False, "scale_embedding=False; only scale_embedding=True"),
    "tie_word_embeddings": (False, "tie_word_embeddings=False; only"),
    "static_position_embeddings": (False, "static_position_embeddings=False; only"),
    "normalize_before": (True, "normalize_before=True; only"),
    "normalize_embedding": (True, "normalize_embedding=True; only"),
    "add_final_layer_norm": (True, "add_final_layer_norm=True; only"),
    "activation_dropout": (0.1, "activation_dropout=0.1; only"),
    "encoder_layerdrop": (0.1, "encoder_layerdrop=0.1; only"),
    "decoder_layerdrop": (0.1, "decoder_layerdrop=0.1; only"),
    "decoder_layers": (3, "encoder_layers=2, decoder_layers=3; only encoder_layers = decoder_layers"),
    "encoder_attention_heads": (3, "encoder_attention_heads=3, decoder_attention_heads=6; only"),
    "decoder_ffn_dim": (23, "encoder_ffn_dim=19, decoder_ffn_dim=23; only"),
    "activation_function": ("tanh", "activation_function='tanh'; only activation_function='gelu' or"),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_rejects_unsupported_options(name):
    value, message = UNSUPPORTED[name]
    with pytest.raises(ValueError, match=f"config.json: .*{message}"):
        marian.config_of(Options(MARIAN | {name: value}, "config.json"))


def test_scales_embeddings_only_if_configured():
    options = {name: value for name, value in MARIAN.items() if name != "scale_embedding"}
    with pytest.raises(ValueError, match="scale_embedding=False"):
        marian.config_of(Options(options, "config.json"))


def test_converts_dropout():
    options = {"dropout": 0.2, "attention_dropout": 0.3}
    config = marian.config_of(Options(MARIAN | options, "config.json"))
    assert (config.dropout, config.attention_dropout) == (0.2, 0.3)
    assert options.items() <= marian.options_of(config, bos_id=0, eos_id=1).items()


@pytest.fixture
def theirs(tmp_path):
    model = drawn(VARIANTS["Marian"])
    model.save_pretrained(tmp_path)
    return model


def edit(folder, change):
    path = folder / "model.safetensors"
    save_file(change(load_file(path)), path)


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_checks_stored_sinusoids(theirs, tmp_path, side):
    name = f"model.{side}.embed_positions.weight"
    positions = theirs.state_dict()[name]
    for stored in (positions, positions.half()):
        edit(tmp_path, lambda tensors, stored=stored: tensors | {name: stored.clone()})
        assert difference(load_translation_model(tmp_path), theirs) < 1e-4
    for wrong in (positions + 0.001, (positions + 0.02).half()):
        edit(tmp_path, lambda tensors, wrong=wrong: tensors | {name: wrong})
        with pytest.raises(ValueError, match=f"{name} differs from the constant of this library's models"):
            load_translation_model(tmp_path)
    edit(tmp_path, lambda tensors: tensors | {name: positions[:7].clone()})
    with pytest.raises(ValueError, match=rf"{name} has the shape \(7, 24\), not \(29, 24\)"):
        load_translation_model(tmp_path)


ALTERNATIVE_NAMES = ["model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"]


@pytest.mark.parametrize("name", ALTERNATIVE_NAMES)
def test_shared_embeddings_may_use_any_of_their_names(theirs, tmp_path, name):
    edit(tmp_path, lambda tensors: tensors | {name: tensors.pop("model.shared.weight")})
    assert difference(load_translation_model(tmp_path), theirs) < 1e-4


def test_rejects_different_shared_embeddings(theirs, tmp_path):
    edit(tmp_path, lambda tensors: tensors | {name: tensors["model.shared.weight"] + 1 for name in ALTERNATIVE_NAMES})
    with pytest.raises(ValueError) as error:
        load_translation_model(tmp_path)
    assert all(f"{name} and model.shared.weight differ" in str(error.value) for name in ALTERNATIVE_NAMES)


def test_name_prefix_and_output_bias_are_optional(theirs, tmp_path):
    def without_prefix_and_bias(tensors):
        return {name.removeprefix("model."): tensor for name, tensor in tensors.items() if name != marian.OUTPUT_BIAS}

    edit(tmp_path, without_prefix_and_bias)
    theirs.final_logits_bias.zero_()
    ours = load_translation_model(tmp_path)
    assert difference(ours, theirs) < 1e-4
    assert torch.equal(ours.output_bias, torch.zeros(37))

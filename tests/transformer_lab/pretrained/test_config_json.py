"""Tests that defaults in ``config.json`` match ``transformers``, and that errors name invalid options."""

from typing import get_args

import pytest
import torch
from torch.testing import assert_close
from transformers import CONFIG_MAPPING, MarianConfig
from transformers.activations import ACT2FN

from transformer_lab.layers.feed_forward import Activation, make_feed_forward
from transformer_lab.pretrained import marian
from transformer_lab.pretrained.config_json import ACTIVATION_OF_FEED_FORWARD, FEED_FORWARD_OF_ACTIVATION, Options
from transformer_lab.pretrained.load import LANGUAGE_MODELS


@pytest.mark.parametrize("kind", LANGUAGE_MODELS)
def test_defaults_match_transformers(kind):
    layout, defaults = LANGUAGE_MODELS[kind], CONFIG_MAPPING[kind]().to_dict()
    assert layout.config_of(Options({}, "empty")) == layout.config_of(Options(defaults, "defaults"))


def test_translation_defaults_match_transformers():
    required = {"scale_embedding": True, "activation_function": "relu"}  # our models do not support the defaults
    defaults = Options(MarianConfig().to_dict() | required, "defaults")
    assert marian.config_of(Options(required, "required")) == marian.config_of(defaults)


@pytest.mark.parametrize("theirs", FEED_FORWARD_OF_ACTIVATION)
def test_activations_match_transformers(theirs):
    x = torch.linspace(-5, 5, 100)[:, None]
    network = make_feed_forward(FEED_FORWARD_OF_ACTIVATION[theirs], 1, 1)
    with torch.no_grad():
        for parameter, value in zip(network.parameters(), (1.0, 0.0, 1.0, 0.0), strict=True):
            parameter.fill_(value)
        assert_close(network(x), ACT2FN[theirs](x), rtol=0, atol=2e-6)


def test_every_feed_forward_network_has_a_published_name():
    assert ACTIVATION_OF_FEED_FORWARD.keys() == set(get_args(Activation))
    assert all(FEED_FORWARD_OF_ACTIVATION[theirs] == ours for ours, theirs in ACTIVATION_OF_FEED_FORWARD.items())


def test_null_selects_the_default():
    assert Options({"n_inner": None}, "here").get("n_inner", 7) == 7


@pytest.mark.parametrize(
    "value, default, message",
    [
        ("12", 1, "here: x must be int; got '12'"),
        (True, 1, "here: x must be int; got True"),
        (1.0, 1, "here: x must be int; got 1.0"),
        (1, True, "here: x must be bool; got 1"),
        (False, 0.5, "here: x must be float; got False"),
    ],
)
def test_error_names_option_with_the_wrong_type(value, default, message):
    with pytest.raises(ValueError, match=message):
        Options({"x": value}, "here").get("x", default)


def test_accepts_integers_for_floats():
    assert Options({"dropout": 0}, "here").get("dropout", 0.1) == 0


def test_error_lists_unsupported_options_and_alternatives():
    options = Options({"a": 1, "b": False, "c": 3, "act": "mish", "d": 4}, "here")
    with pytest.raises(ValueError, match=r"^here: this library has no models with a=1, b=False; only a=2, b=True$"):
        options.require(a=2, b=True, c=3, missing=5)
    with pytest.raises(ValueError, match=r"^here: this library has no models with c=3, d=4; only c = d$"):
        options.require_equal(c=3, d=4)
    with pytest.raises(
        ValueError, match=r"^here: this library has no models with act='mish'; only act='relu' or 'silu'$"
    ):
        options.one_of("act", "relu", {"relu": 1, "silu": 2})

"""Tests that rotary options in ``config.json`` can be read in all versions' formats and round-trip."""

import pytest

from transformer_lab.attention.positions import LinearScaling, Llama3Scaling
from transformer_lab.pretrained.config_json import Options
from transformer_lab.pretrained.rotary_options import read_rotary, write_rotary

LLAMA3 = {"factor": 4.0, "low_freq_factor": 2.0, "high_freq_factor": 3.0, "original_max_position_embeddings": 19}


def read(options, *layer_type):
    return read_rotary(Options(options, "config.json"), "rope_theta", 1e4, *layer_type)


@pytest.mark.parametrize(
    "options, base, scaling",
    [
        ({}, 1e4, None),
        ({"rope_theta": 30}, 30.0, None),
        ({"rope_theta": 30.0, "rope_scaling": None}, 30.0, None),
        ({"rope_theta": 1e4, "rope_parameters": {"rope_theta": 30.0}}, 30.0, None),
        ({"rope_theta": 30.0, "rope_scaling": {"type": "linear", "factor": 2}}, 30.0, LinearScaling(2.0)),
        ({"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 30.0}}, 30.0, LinearScaling(2.0)),
        ({"rope_scaling": {"rope_type": "llama3", **LLAMA3}}, 1e4, Llama3Scaling(4.0, 19, 2.0, 3.0)),
        (
            {"rope_parameters": {"rope_type": "llama3", "factor": 4.0}, "max_position_embeddings": 29},
            1e4,
            Llama3Scaling(4.0, 29, 1.0, 4.0),
        ),
        (
            {"rope_parameters": {"rope_type": "llama3", **LLAMA3}, "original_max_position_embeddings": 23},
            1e4,
            Llama3Scaling(4.0, 23, 2.0, 3.0),
        ),
    ],
)
def test_reads_base_and_scaling_of_all_versions(options, base, scaling):
    assert read(options) == (base, scaling)


@pytest.mark.parametrize("scaling", [None, LinearScaling(2.0), Llama3Scaling(4.0, 19, 2.0, 3.0)])
def test_written_options_round_trip(scaling):
    assert read(write_rotary(30.0, scaling)) == (30.0, scaling)


def test_layer_types_may_have_separate_rotary_positions():
    options = {"rope_parameters": {"full_attention": {"rope_theta": 30.0}, "sliding_attention": {"rope_theta": 20.0}}}
    assert read(options, "full_attention") == (30.0, None)
    assert read(options, "sliding_attention") == (20.0, None)
    older = {"rope_scaling": {"rope_type": "linear", "factor": 8.0}}
    assert read(older, "full_attention") == (1e4, LinearScaling(8.0))
    assert read(older, "sliding_attention") == (1e4, None)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"partial_rotary_factor": 0.5}, "config.json: .*partial_rotary_factor=0.5"),
        ({"rope_scaling": {"type": "yarn", "factor": 2.0}}, "config.json, rope_scaling: .*type='yarn'; only"),
        ({"rope_parameters": {"rope_type": "linear"}}, "factor=0.0"),
        ({"rope_scaling": {"factor": 2.0}}, "factor=2.0; only factor=1.0"),
        ({"rope_parameters": {"rope_type": "llama3", **LLAMA3, "low_freq_factor": 3.0}}, "low=3.0, high=3.0"),
        ({"rope_parameters": "default"}, "rope_parameters must be an object; got 'default'"),
    ],
)
def test_rejects_unsupported_scaling_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        read(options)


def test_rejects_a_single_base_for_several_layer_types():
    with pytest.raises(ValueError, match=r"rope_parameters must have one object per layer type; got \['rope_theta'\]"):
        read({"rope_parameters": {"rope_theta": 30.0}}, "full_attention")

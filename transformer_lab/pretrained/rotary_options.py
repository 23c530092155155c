"""Rotary positions in ``config.json``: their base and their scaling for longer texts.

Newer versions of ``transformers`` store both in ``rope_parameters``. Older versions use ``rope_theta`` and
``rope_scaling``, which all versions can read.
"""

from typing import Any

from transformer_lab.attention.positions import LinearScaling, Llama3Scaling, RotaryScaling
from transformer_lab.pretrained.config_json import Options

KINDS = {"default": None, "linear": LinearScaling, "llama3": Llama3Scaling}
"""This library's scaling for each ``rope_type``."""
LAYER_TYPES = {"full_attention", "sliding_attention"}
"""Types of layers that may have separate rotary positions."""


def read_rotary(
    options: Options, base_name: str, default_base: float, layer_type: str | None = None
) -> tuple[float, RotaryScaling | None]:
    """Return the base of the rotary frequencies and their scaling.

    Args:
        options: The options of ``config.json``.
        base_name: The option that contains the base in older versions.
        default_base: The base to use if the options contain none.
        layer_type: The type of layer, if ``rope_parameters`` has an object for each type.

    Raises:
        ValueError: This library does not support the kind of scaling, or only a part of each head is rotated.
    """
    options.require(partial_rotary_factor=1.0)
    base, scaling = options.get(base_name, default_base), None
    older = {} if layer_type == "sliding_attention" else options.nested("rope_scaling")
    newer = options.nested("rope_parameters")
    if layer_type is not None:
        if unknown := sorted(newer.keys() - LAYER_TYPES):
            raise ValueError(f"{options.where}: rope_parameters must have one object per layer type; got {unknown}")
        newer = Options(newer, f"{options.where}, rope_parameters").nested(layer_type)
    for name, found in (("rope_parameters", newer), ("rope_scaling", older)):
        if found:
            rope = Options(found, f"{options.where}, {name}")
            rope.require(partial_rotary_factor=1.0)
            base, scaling = rope.get("rope_theta", base), _read_scaling(rope, options)
    return float(base), scaling


def write_rotary(base: float, scaling: RotaryScaling | None) -> dict[str, Any]:
    """Return the options for rotary positions in the format that all versions can read."""
    match scaling:
        case None:
            return {"rope_theta": base}
        case LinearScaling(factor):
            return {"rope_theta": base, "rope_scaling": {"rope_type": "linear", "factor": factor}}
        case Llama3Scaling(factor, original_max_length, low, high):
            llama3 = {
                "rope_type": "llama3",
                "factor": factor,
                "original_max_position_embeddings": original_max_length,
                "low_freq_factor": low,
                "high_freq_factor": high,
            }
            return {"rope_theta": base, "rope_scaling": llama3}


def _read_scaling(rope: Options, options: Options) -> RotaryScaling | None:
    kind = rope.one_of("rope_type" if "rope_type" in rope.values else "type", "default", KINDS)
    if kind is None:
        rope.require(factor=1.0)
        return None
    factor = rope.get("factor", 0.0)  # the default of 0 is rejected, so the factor is required
    if kind is LinearScaling:
        return LinearScaling(float(factor))
    name = "original_max_position_embeddings"
    original_max_length = options.get(name, rope.get(name, options.get("max_position_embeddings", 0)))
    low, high = rope.get("low_freq_factor", 1.0), rope.get("high_freq_factor", 4.0)
    return Llama3Scaling(float(factor), original_max_length, float(low), float(high))

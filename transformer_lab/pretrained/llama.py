"""The layout of Llama on the hub: ``LlamaForCausalLM`` of ``transformers``."""

from typing import Any

from transformer_lab.models.language_model_config import LanguageModelConfig
from transformer_lab.pretrained.config_json import NO_NEWER_PARTS, Options
from transformer_lab.pretrained.tensor_layout import Conversion, Entry, InterleaveHalves, Layout

REQUIRED: dict[str, Any] = {"positions": "rotary", "norm": "rms", "feed_forward": "swiglu"} | NO_NEWER_PARTS
"""Settings of ``LanguageModelConfig`` that every Llama has."""
FEED_FORWARD_NAMES = {"gate_proj": "w_gate", "up_proj": "w_up", "down_proj": "w_down"}
"""Names of the feed-forward network's matrices there and here."""


def config_of(options: Options, pad_id: int | None = None) -> LanguageModelConfig:
    """Convert a configuration of ``transformers`` into one of this library.

    Args:
        options: The options of ``config.json``.
        pad_id: Padding token to mask, if any.

    Raises:
        ValueError: Options have values that this library's models do not support; all of them are named.
    """
    d_model, n_heads = options.get("hidden_size", 4096), options.get("num_attention_heads", 32)
    options.require(mlp_bias=False, head_dim=d_model // max(n_heads, 1))
    options.one_of("hidden_act", "silu", {"silu": "swiglu", "swish": "swiglu"})
    return LanguageModelConfig(
        vocab_size=options.get("vocab_size", 32000),
        d_model=d_model,
        n_heads=n_heads,
        n_kv_heads=options.get("num_key_value_heads", n_heads),
        d_ff=options.get("intermediate_size", 11008),
        n_layers=options.get("num_hidden_layers", 32),
        max_length=options.get("max_position_embeddings", 2048),
        dropout=0.0,
        attention_dropout=options.get("attention_dropout", 0.0),
        rotary_base=rotary_base(options),
        norm_eps=options.get("rms_norm_eps", 1e-6),
        bias=options.get("attention_bias", False),
        tied=options.get("tie_word_embeddings", False),
        pad_id=pad_id,
        **REQUIRED,
    )


def rotary_base(options: Options) -> float:
    """Return the base of the rotary frequencies, which newer configurations keep in ``rope_parameters``.

    Raises:
        ValueError: The frequencies are rescaled, or only a part of each head is rotated: neither is supported here.
    """
    base = options.get("rope_theta", 10000.0)
    options.require(partial_rotary_factor=1.0)
    for name in ("rope_scaling", "rope_parameters"):
        nested = options.values.get(name) or {}
        if not isinstance(nested, dict):
            raise ValueError(f"{options.where}: {name} must be an object; got {nested!r}")
        rope = Options(nested, f"{options.where}, {name}")
        rope.require(type="default", rope_type="default", factor=1.0, partial_rotary_factor=1.0)
        base = rope.get("rope_theta", base)
    return float(base)


def options_of(config: LanguageModelConfig) -> dict[str, Any]:
    """Convert a configuration of this library into the options of ``config.json``.

    Dropout outside attention is lost: Llama has no option for it.
    """
    return {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "vocab_size": config.vocab_size,
        "hidden_size": config.d_model,
        "num_attention_heads": config.n_heads,
        "num_key_value_heads": config.n_heads if config.n_kv_heads is None else config.n_kv_heads,
        "intermediate_size": config.d_ff,
        "num_hidden_layers": config.n_layers,
        "max_position_embeddings": config.max_length,
        "attention_dropout": config.attention_dropout,
        "rope_theta": config.rotary_base,  # where all versions look
        "rms_norm_eps": config.norm_eps,
        "hidden_act": "silu",
        "attention_bias": config.bias,
        "mlp_bias": False,
        "tie_word_embeddings": config.tied,
    }


def incompatibilities(config: LanguageModelConfig) -> list[str]:
    """Return the options, as ``name=value``, that Llama's layout requires and ``config`` lacks; none if it fits."""
    return [f"{name}={value!r}" for name, value in REQUIRED.items() if getattr(config, name) != value]


def layout(config: LanguageModelConfig) -> Layout:
    """Return which tensor of a Llama checkpoint holds which parameters of ours."""
    head = "lm_head.weight"
    entries = [
        Entry("model.embed_tokens.weight", ("embedding.weight",), others=(head,) if config.tied else ()),
        Entry("model.norm.weight", ("norm.weight",)),
    ]
    if not config.tied:
        entries.append(Entry(head, ("head.weight",)))
    n_kv_heads = config.n_heads if config.n_kv_heads is None else config.n_kv_heads
    conversions = {
        "q": InterleaveHalves(0, config.n_heads), "k": InterleaveHalves(0, n_kv_heads),
        "v": Conversion(), "o": Conversion(),
    }  # fmt: skip
    for i in range(config.n_layers):
        theirs, ours = f"model.layers.{i}", f"blocks.{i}"
        entries += [
            Entry(f"{theirs}.input_layernorm.weight", (f"{ours}.norm_1.weight",)),
            Entry(f"{theirs}.post_attention_layernorm.weight", (f"{ours}.norm_2.weight",)),
        ]
        for kind in ("weight", "bias") if config.bias else ("weight",):
            for x, conversion in conversions.items():
                name = f"{theirs}.self_attn.{x}_proj.{kind}"
                entries.append(Entry(name, (f"{ours}.self_attention.w_{x}.{kind}",), conversion))
        for there, here in FEED_FORWARD_NAMES.items():
            entries.append(Entry(f"{theirs}.mlp.{there}.weight", (f"{ours}.feed_forward.{here}.weight",)))
    return Layout(entries, "model.", ignored=r"model\.layers\.\d+\.self_attn\.rotary_emb\.inv_freq")

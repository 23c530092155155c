"""Llama as the hub has it: ``LlamaForCausalLM`` of ``transformers``."""

from typing import Any

from transformer_lab.models.language_model_config import LanguageModelConfig
from transformer_lab.pretrained.config_json import Options
from transformer_lab.pretrained.tensor_layout import Change, Entry, Layout, Paired

NEEDS: dict[str, Any] = {"positions": "rotary", "norm": "rms", "feed_forward": "swiglu"}
FEED_FORWARD = {"gate_proj": "w_gate", "up_proj": "w_up", "down_proj": "w_down"}


def config_of(options: Options, pad_id: int | None = None) -> LanguageModelConfig:
    """Give our configuration for theirs, with a token that is to be hidden.

    Raises:
        ValueError: It has options that this library's models lack; they are named.
    """
    d_model, n_heads = options.get("hidden_size", 4096), options.get("num_attention_heads", 32)
    options.refuse_but(mlp_bias=False, head_dim=d_model // max(n_heads, 1))
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
        **NEEDS,
    )


def rotary_base(options: Options) -> float:
    """Give the base of the rotary positions, which newer configurations keep among ``rope_parameters``.

    Raises:
        ValueError: The positions are stretched or cut in some way, which this library's are not.
    """
    base = options.get("rope_theta", 10000.0)
    options.refuse_but(partial_rotary_factor=1.0)
    for name in ("rope_scaling", "rope_parameters"):
        nested = options.values.get(name) or {}
        if not isinstance(nested, dict):
            raise ValueError(f"{options.where}: {name} must be an object; got {nested!r}")
        rope = Options(nested, f"{options.where}, {name}")
        rope.refuse_but(type="default", rope_type="default", factor=1.0, partial_rotary_factor=1.0)
        base = rope.get("rope_theta", base)
    return float(base)


def options_of(config: LanguageModelConfig) -> dict[str, Any]:
    """Give their configuration for ours. Theirs has no place for dropout outside of attention."""
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


def misfits(config: LanguageModelConfig) -> list[str]:
    """Name what keeps one of our models from being a Llama."""
    return [f"{name}={value!r}" for name, value in NEEDS.items() if getattr(config, name) != value]


def layout(config: LanguageModelConfig) -> Layout:
    """Say where everything is."""
    head = "lm_head.weight"
    entries = [
        Entry("model.embed_tokens.weight", ("embedding.weight",), others=(head,) if config.tied else ()),
        Entry("model.norm.weight", ("norm.weight",)),
    ]
    if not config.tied:
        entries.append(Entry(head, ("head.weight",)))
    n_kv_heads = config.n_heads if config.n_kv_heads is None else config.n_kv_heads
    changes = {"q": Paired(0, config.n_heads), "k": Paired(0, n_kv_heads), "v": Change(), "o": Change()}
    for i in range(config.n_layers):
        theirs, ours = f"model.layers.{i}", f"blocks.{i}"
        entries += [
            Entry(f"{theirs}.input_layernorm.weight", (f"{ours}.norm_1.weight",)),
            Entry(f"{theirs}.post_attention_layernorm.weight", (f"{ours}.norm_2.weight",)),
        ]
        for kind in ("weight", "bias") if config.bias else ("weight",):
            for x, change in changes.items():
                name = f"{theirs}.self_attn.{x}_proj.{kind}"
                entries.append(Entry(name, (f"{ours}.self_attention.w_{x}.{kind}",), change))
        for there, here in FEED_FORWARD.items():
            entries.append(Entry(f"{theirs}.mlp.{there}.weight", (f"{ours}.feed_forward.{here}.weight",)))
    return Layout(entries, "model.", ignored=r"model\.layers\.\d+\.self_attn\.rotary_emb\.inv_freq")

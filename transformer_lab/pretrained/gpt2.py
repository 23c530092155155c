"""The layout of GPT-2 on the hub: ``GPT2LMHeadModel`` in ``transformers``."""

from typing import Any

from transformer_lab.models.language_model_config import LanguageModelConfig
from transformer_lab.pretrained.config_json import ACTIVATION_OF_FEED_FORWARD, FEED_FORWARD_OF_ACTIVATION, Options
from transformer_lab.pretrained.tensor_layout import Entry, Layout, SplitQKV, Transpose

REQUIRED: dict[str, Any] = {
    "positions": "learned", "norm": "layer", "bias": True, "d_k": None, "qkv_bias": None, "rotary_scaling": None,
    "window": None, "norm_placement": "before", "qk_norm": False, "scaled_embeddings": False,
}  # fmt: skip
"""Settings of ``LanguageModelConfig`` that all GPT-2 models share."""


def config_of(options: Options, pad_id: int | None = None) -> LanguageModelConfig:
    """Convert a configuration of ``transformers`` into a configuration of this library.

    Args:
        options: The options of ``config.json``.
        pad_id: Padding token to mask, if any.

    Raises:
        ValueError: This library's models do not support some options; the message lists these options.
    """
    options.require(scale_attn_weights=True, scale_attn_by_inverse_layer_idx=False, add_cross_attention=False)
    dropout = options.get("resid_pdrop", 0.1)
    options.require_equal(resid_pdrop=dropout, embd_pdrop=options.get("embd_pdrop", 0.1))
    d_model = options.get("n_embd", 768)
    return LanguageModelConfig(
        vocab_size=options.get("vocab_size", 50257),
        d_model=d_model,
        n_heads=options.get("n_head", 12),
        d_ff=options.get("n_inner", 4 * d_model),
        n_layers=options.get("n_layer", 12),
        max_length=options.get("n_positions", 1024),
        dropout=dropout,
        attention_dropout=options.get("attn_pdrop", 0.1),
        norm_eps=options.get("layer_norm_epsilon", 1e-5),
        feed_forward=options.one_of("activation_function", "gelu_new", FEED_FORWARD_OF_ACTIVATION),
        tie_embeddings=options.get("tie_word_embeddings", True),
        pad_id=pad_id,
    )


def options_of(config: LanguageModelConfig) -> dict[str, Any]:
    """Convert a configuration of this library into the options of ``config.json``."""
    return {
        "model_type": "gpt2",
        "architectures": ["GPT2LMHeadModel"],
        "vocab_size": config.vocab_size,
        "n_embd": config.d_model,
        "n_head": config.n_heads,
        "n_inner": config.d_ff,
        "n_layer": config.n_layers,
        "n_positions": config.max_length,
        "resid_pdrop": config.dropout,
        "embd_pdrop": config.dropout,
        "attn_pdrop": config.attention_dropout,
        "layer_norm_epsilon": config.norm_eps,
        "activation_function": ACTIVATION_OF_FEED_FORWARD[config.feed_forward],
        "tie_word_embeddings": config.tie_embeddings,
    }


def incompatibilities(config: LanguageModelConfig) -> list[str]:
    """Return, as ``name=value``, the settings that GPT-2's layout requires but ``config`` does not have."""
    required = [f"{name}={value!r}" for name, value in REQUIRED.items() if getattr(config, name) != value]
    if config.n_kv_heads not in (None, config.n_heads):
        required.append(f"n_kv_heads={config.n_heads}")
    if config.feed_forward not in ACTIVATION_OF_FEED_FORWARD:
        required.append(f"feed_forward={' or '.join(ACTIVATION_OF_FEED_FORWARD)}")
    return required


def layout(config: LanguageModelConfig) -> Layout:
    """Return the mapping from the tensors of a GPT-2 checkpoint to our parameters."""
    head = "lm_head.weight"
    entries = [
        Entry("transformer.wte.weight", ("embedding.weight",), others=(head,) if config.tie_embeddings else ()),
        Entry("transformer.wpe.weight", ("positions",)),
    ]
    if not config.tie_embeddings:
        entries.append(Entry(head, ("head.weight",)))
    for kind in ("weight", "bias"):
        entries.append(Entry(f"transformer.ln_f.{kind}", (f"norm.{kind}",)))
        for i in range(config.n_layers):
            theirs, ours = f"transformer.h.{i}", f"blocks.{i}"
            projections = tuple(f"{ours}.self_attention.w_{x}.{kind}" for x in "qkv")
            entries += [
                Entry(f"{theirs}.ln_1.{kind}", (f"{ours}.norm_1.{kind}",)),
                Entry(f"{theirs}.attn.c_attn.{kind}", projections, SplitQKV()),
                Entry(f"{theirs}.attn.c_proj.{kind}", (f"{ours}.self_attention.w_o.{kind}",), Transpose()),
                Entry(f"{theirs}.ln_2.{kind}", (f"{ours}.norm_2.{kind}",)),
                Entry(f"{theirs}.mlp.c_fc.{kind}", (f"{ours}.feed_forward.w_1.{kind}",), Transpose()),
                Entry(f"{theirs}.mlp.c_proj.{kind}", (f"{ours}.feed_forward.w_2.{kind}",), Transpose()),
            ]
    return Layout(entries, "transformer.", ignored=r"transformer\.h\.\d+\.attn\.(masked_)?bias")  # causal masks

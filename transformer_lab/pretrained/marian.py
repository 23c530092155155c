"""The layout of Marian's translation models on the hub: ``MarianMTModel`` in ``transformers``.

In Marian's sinusoids, the sines are in the first half of the features and the cosines in the second half; in our
sinusoids, sines and cosines alternate. So all parameters that read or write features between layers are reordered.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from transformer_lab.attention.positions import sinusoidal_encoding
from transformer_lab.models.transformer_config import TransformerConfig
from transformer_lab.pretrained.config_json import ACTIVATION_OF_FEED_FORWARD, FEED_FORWARD_OF_ACTIVATION, Options
from transformer_lab.pretrained.tensor_layout import Entry, InterleaveHalves, Layout, SqueezeRow

REQUIRED = {"pre_norm": False, "learned_positions": False}
"""Settings of ``TransformerConfig`` that all Marian models share."""
ATTENTIONS = {
    "encoder": {"self_attn": "self_attention"},
    "decoder": {"self_attn": "self_attention", "encoder_attn": "cross_attention"},
}
"""Our name for each published attention module in the encoder and in the decoder."""
OUTPUT_BIAS = "final_logits_bias"
"""Name of the output bias, which some checkpoints lack."""


def config_of(options: Options) -> TransformerConfig:
    """Convert a configuration of ``transformers`` into a configuration of this library.

    Raises:
        ValueError: This library's models do not support some options; the message lists these options.
    """
    options = Options({"scale_embedding": False, **options.values}, options.where)
    options.require(
        scale_embedding=True, tie_word_embeddings=True, static_position_embeddings=True, normalize_before=False,
        normalize_embedding=False, add_final_layer_norm=False, activation_dropout=0,
        encoder_layerdrop=0, decoder_layerdrop=0,
    )  # fmt: skip
    for size, default in (("layers", 12), ("attention_heads", 16), ("ffn_dim", 4096)):
        names = (f"encoder_{size}", f"decoder_{size}")
        options.require_equal(**{name: options.get(name, default) for name in names})
    vocab_size = options.get("vocab_size", 58101)
    shared = options.get("share_encoder_decoder_embeddings", True)
    pad_id = options.get("pad_token_id", 58100)
    return TransformerConfig(
        vocab_size=vocab_size if shared else options.get("decoder_vocab_size", vocab_size),
        source_vocab_size=None if shared else vocab_size,
        d_model=options.get("d_model", 1024),
        n_heads=options.get("encoder_attention_heads", 16),
        d_ff=options.get("encoder_ffn_dim", 4096),
        n_layers=options.get("encoder_layers", 12),
        max_length=options.get("max_position_embeddings", 1024),
        dropout=options.get("dropout", 0.1),
        attention_dropout=options.get("attention_dropout", 0.0),
        source_pad_id=pad_id,
        target_pad_id=pad_id,
        feed_forward=options.one_of("activation_function", "gelu", FEED_FORWARD_OF_ACTIVATION),
        output_bias=True,
        hide_target_padding=False,  # the padding token also begins every target
    )


def options_of(config: TransformerConfig, bos_id: int, eos_id: int) -> dict[str, Any]:
    """Convert a configuration of this library into the options of ``config.json``.

    Args:
        config: The configuration.
        bos_id: The token that begins every target.
        eos_id: The token that ends sources and targets.
    """
    sizes = {"attention_heads": config.n_heads, "ffn_dim": config.d_ff, "layers": config.n_layers}
    return {
        "model_type": "marian",
        "architectures": ["MarianMTModel"],
        "vocab_size": config.n_source_tokens,
        "decoder_vocab_size": config.vocab_size,
        "share_encoder_decoder_embeddings": config.source_vocab_size is None,
        "d_model": config.d_model,
        **{f"{side}_{size}": value for side in ("encoder", "decoder") for size, value in sizes.items()},
        "max_position_embeddings": config.max_length,
        "dropout": config.dropout,
        "attention_dropout": config.attention_dropout,
        "activation_function": ACTIVATION_OF_FEED_FORWARD[config.feed_forward],
        "scale_embedding": True,
        "tie_word_embeddings": True,
        "is_encoder_decoder": True,
        "pad_token_id": config.source_pad_id,
        "decoder_start_token_id": bos_id,
        "eos_token_id": eos_id,
        "forced_eos_token_id": None,
    }


def incompatibilities(config: TransformerConfig) -> list[str]:
    """Return, as ``name=value``, the settings that Marian's layout requires but ``config`` does not have."""
    required = [f"{name}={value!r}" for name, value in REQUIRED.items() if getattr(config, name) != value]
    if config.source_pad_id != config.target_pad_id:
        required.append("source_pad_id = target_pad_id")
    return required


def layout(config: TransformerConfig) -> Layout:
    """Return the mapping from the tensors of a Marian checkpoint to our parameters."""
    entries = list(_embeddings(config))
    if config.output_bias:
        entries.append(Entry(OUTPUT_BIAS, ("output_bias",), SqueezeRow()))
    for side, attentions in ATTENTIONS.items():
        for i in range(config.n_layers):
            entries += _layer(f"model.{side}.layers.{i}.", f"{side}.layers.{i}.", attentions)
    positions = InterleaveHalves(axis=1).to_theirs([sinusoidal_encoding(config.max_length, config.d_model)])
    return Layout(entries, "model.", {f"model.{side}.embed_positions.weight": positions for side in ATTENTIONS})


def _embeddings(config: TransformerConfig) -> Iterator[Entry]:
    source, target = ("model.encoder.embed_tokens.weight", ("model.decoder.embed_tokens.weight", "lm_head.weight"))
    if config.source_vocab_size is None:
        yield Entry("model.shared.weight", ("encoder.embedding.weight",), InterleaveHalves(axis=1), (source, *target))
    else:
        yield Entry(source, ("encoder.embedding.weight",), InterleaveHalves(axis=1))
        yield Entry(target[0], ("decoder.embedding.weight",), InterleaveHalves(axis=1), target[1:])


def _layer(theirs: str, ours: str, attentions: Mapping[str, str]) -> Iterator[Entry]:
    reading = {"fc1": "feed_forward.w_1"}
    writing = {"fc2": "feed_forward.w_2", "final_layer_norm": f"norm_{len(attentions) + 1}"}
    for n, (their_name, our_name) in enumerate(attentions.items(), start=1):
        reading |= {f"{their_name}.{x}_proj": f"{our_name}.w_{x}" for x in "qkv"}
        writing |= {f"{their_name}.out_proj": f"{our_name}.w_o", f"{their_name}_layer_norm": f"norm_{n}"}
    for their_name, our_name in reading.items():
        yield Entry(f"{theirs}{their_name}.weight", (f"{ours}{our_name}.weight",), InterleaveHalves(axis=1))
        yield Entry(f"{theirs}{their_name}.bias", (f"{ours}{our_name}.bias",))
    for their_name, our_name in writing.items():
        for kind in ("weight", "bias"):
            yield Entry(f"{theirs}{their_name}.{kind}", (f"{ours}{our_name}.{kind}",), InterleaveHalves(axis=0))

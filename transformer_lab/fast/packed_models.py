"""The forward passes of ``Transformer`` and ``LanguageModel`` on packed rows, without padding.

``packed_transformer`` reimplements ``Transformer.encode`` and ``decode`` with the layers of ``layers``, and
``packed_language_model`` reimplements ``LanguageModel.hidden`` and ``Block``. If you change the plain code, change this
module, too; the tests compare both. The models, their stacks and layers, and attention are bypassed, because they
expect padding; all other modules are called. Attention of a different class is called with the padded batch and its
mask, as in the plain model.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeGuard, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_lab.attention.grouped_query import GroupedQueryAttention
from transformer_lab.attention.masks import causal_mask, padding_mask
from transformer_lab.attention.multi_head import AttentionBase, MultiHeadAttention, merge_heads, split_heads
from transformer_lab.attention.positions import Positional
from transformer_lab.checks import check_tokens
from transformer_lab.fast.bypass import call, may_bypass
from transformer_lab.fast.dropout import add_dropout, dropout
from transformer_lab.fast.functional_layers import concatenated
from transformer_lab.fast.packed_attention import MAX_FORMULA_LENGTH, attend_rows
from transformer_lab.fast.packed_rows import PackedRows, can_be_packed
from transformer_lab.fast.vocabulary_loss import vocabulary_loss
from transformer_lab.layers.decoder_layer import DecoderLayer, PreNormDecoderLayer
from transformer_lab.layers.embedding import look_up
from transformer_lab.layers.encoder_layer import EncoderLayer, PreNormEncoderLayer
from transformer_lab.models.decoder import Decoder, PreNormDecoder
from transformer_lab.models.encoder import Encoder, PreNormEncoder
from transformer_lab.models.language_model import Block, LanguageModel
from transformer_lab.models.transformer import Transformer

BYPASSED = (
    Transformer, Encoder, PreNormEncoder, Decoder, PreNormDecoder, LanguageModel,
    EncoderLayer, PreNormEncoderLayer, DecoderLayer, PreNormDecoderLayer, Block, nn.Linear,
)  # fmt: skip
"""The classes whose ``forward`` is reimplemented below; a subclass may behave differently."""


def supports_packing(
    model: object, inputs: Sequence[Int[Tensor, "batch _"]], labels: Int[Tensor, "batch n"], pad_id: int
) -> TypeGuard[Transformer | LanguageModel]:
    """Return whether ``packed_loss`` supports a model and a batch; if not, use the plain code.

    ``packed_loss`` does not support models, stacks or layers that may not be bypassed, parameters in half precision
    (autocast is supported), or padding before a token.
    """
    if not (
        isinstance(model, Transformer | LanguageModel)
        and all(type(module) in BYPASSED and may_bypass(module, type(module)) for module in _bypassed_modules(model))
    ):
        return False
    weight = _last_layer(model).weight
    if weight.dtype not in (torch.float32, torch.float64):
        return False
    real = labels != pad_id
    if isinstance(model, LanguageModel):
        return can_be_packed(real)
    source, target = inputs
    hidden = target == model.config.target_pad_id if model.config.hide_target_padding else torch.zeros_like(real)
    return can_be_packed(real) and can_be_packed(source != model.config.source_pad_id) and not (hidden & real).any()


def packed_loss(
    model: Transformer | LanguageModel,
    inputs: Sequence[Int[Tensor, "batch _"]],
    labels: Int[Tensor, "batch n"],
    pad_id: int,
    smoothing: float = 0.0,
) -> Float[Tensor, ""]:
    """Return ``smoothed_cross_entropy(model(*inputs), labels, pad_id, smoothing)`` if ``supports_packing`` is True.

    Dropout uses different random numbers than the plain code.
    """
    rows = PackedRows(labels != pad_id, row_multiple(labels))
    if isinstance(model, LanguageModel):
        x = packed_language_model(model, inputs[0], rows)
    else:
        x = packed_transformer(model, inputs[0], inputs[1], rows)
    weight, bias = _last_layer(model)
    return vocabulary_loss(x, weight, bias, rows.select(labels)[: rows.n_real], smoothing)


class AttentionMask(NamedTuple):
    """The keys that queries may attend to.

    Args:
        allowed: The mask that the plain model passes to attention.
        bias: The mask as a bias for the scores, computed once for all layers. None means that nothing is masked, except
            later positions if ``is_causal`` is True.
        is_causal: Whether each query attends only to keys up to its own position.
    """

    allowed: Bool[Tensor, "*#batch #n_query #n_key"]
    bias: Float[Tensor, "*#batch #n_query #n_key"] | None = None
    is_causal: bool = False


def row_multiple(tokens: Tensor) -> int:
    """Return the multiple to which the number of rows should be rounded up.

    In half precision on a CPU, torch compiles new code for each number of rows, which takes longer than multiplying.
    """
    return 64 if tokens.device.type == "cpu" and torch.is_autocast_enabled("cpu") else 1


def packed_transformer(
    model: Transformer, source: Int[Tensor, "batch n_source"], target: Int[Tensor, "batch n"], rows: PackedRows
) -> Float[Tensor, "n_rows d_model"]:
    """Return the decoder's output for these rows of the target."""
    mask = padding_mask(source, model.config.source_pad_id)
    source_rows = PackedRows(mask[:, 0, 0], row_multiple(source))
    bias = None if source_rows.is_full else torch.where(mask, 0.0, -torch.inf).to(model.decoder.embedding.weight.dtype)
    source_mask = AttentionMask(mask, bias)
    target_mask = AttentionMask(causal_mask(target.shape[1], device=target.device), is_causal=True)
    memory = _embed(model.encoder, source, source_rows)
    for layer in cast("Iterable[EncoderLayer]", model.encoder.layers):
        attention = partial(_self_attention, layer.self_attention, source_rows, source_mask)
        memory = _residual(layer, layer.norm_1, memory, attention)
        memory = _residual(layer, layer.norm_2, memory, partial(call, layer.feed_forward))
    memory = call(model.encoder.norm, memory)
    x = _embed(model.decoder, target, rows)
    for decoder_layer in cast("Iterable[DecoderLayer]", model.decoder.layers):
        attention = partial(_self_attention, decoder_layer.self_attention, rows, target_mask)
        to_memory = partial(_cross_attention, decoder_layer.cross_attention, rows, source_mask, memory, source_rows)
        x = _residual(decoder_layer, decoder_layer.norm_1, x, attention)
        x = _residual(decoder_layer, decoder_layer.norm_2, x, to_memory)
        x = _residual(decoder_layer, decoder_layer.norm_3, x, partial(call, decoder_layer.feed_forward))
    return call(model.decoder.norm, x)


def packed_language_model(
    model: LanguageModel, tokens: Int[Tensor, "batch n"], rows: PackedRows
) -> Float[Tensor, "n_rows d_model"]:
    """Return the normalized output of the last block for these rows."""
    config = model.config
    check_tokens(tokens, config.max_length)
    positions = model.position_ids(tokens)
    x = _look_up(model.embedding, rows.select(tokens))
    x = x if model.scale == 1 else x * model.scale
    if model.positions is not None:
        x = x + F.embedding(rows.select(positions.expand_as(tokens)), model.positions)
    x = dropout(model.dropout, x)
    inputs_by_locality = {
        local: model.attention_inputs(tokens, positions, positions, x.dtype, local)
        for local in {config.is_local(i) for i in range(config.n_layers)}
    }
    for i, block in enumerate(cast("Iterable[Block]", model.blocks)):
        attended = _block_attention(
            block.self_attention, rows, *inputs_by_locality[config.is_local(i)], call(block.norm_1, x)
        )
        x = add_dropout(x, block.dropout, call(block.post_norm_1, attended))
        transformed = call(block.feed_forward, call(block.norm_2, x))
        x = add_dropout(x, block.dropout, call(block.post_norm_2, transformed))
    return call(model.norm, x)


def _look_up(embedding: nn.Embedding, tokens: Int[Tensor, " n_rows"]) -> Float[Tensor, "n_rows d_model"]:
    return look_up(embedding, tokens[None]).squeeze(0)


def _embed(
    stack: Encoder | Decoder, tokens: Int[Tensor, "batch n"], rows: PackedRows
) -> Float[Tensor, "n_rows d_model"]:
    check_tokens(tokens, len(stack.positions))
    x = _look_up(stack.embedding, rows.select(tokens)) * math.sqrt(stack.embedding.embedding_dim)
    return dropout(stack.dropout, x + F.embedding(rows.positions, stack.positions))


def _residual(
    layer: EncoderLayer | DecoderLayer, norm: nn.Module, x: Tensor, sublayer: Callable[[Tensor], Tensor]
) -> Float[Tensor, "n_rows d_model"]:
    """Apply a sublayer with its norm and residual connection, as in a post-norm or a pre-norm layer."""
    if isinstance(layer, PreNormEncoderLayer | PreNormDecoderLayer):
        return add_dropout(x, layer.dropout, sublayer(call(norm, x)))
    return call(norm, add_dropout(x, layer.dropout, sublayer(x)))


def _self_attention(attention: nn.Module, rows: PackedRows, mask: AttentionMask, x: Tensor) -> Tensor:
    if not may_bypass(attention, MultiHeadAttention):
        padded = rows.unpack(x)
        return rows.pack(attention(padded, padded, padded, mask.allowed))
    qkv = _project_together([attention.w_q, attention.w_k, attention.w_v], x)
    if _uses_formula(attention, rows, rows):
        return call(attention.w_o, attend_rows(qkv, rows, None, rows, attention.n_heads, mask.is_causal))
    q, k, v = rows.unpack(qkv).chunk(3, dim=-1)
    return _attend(attention, rows, mask, q, k, v)


def _cross_attention(
    attention: nn.Module, rows: PackedRows, mask: AttentionMask, memory: Tensor, source_rows: PackedRows, x: Tensor
) -> Tensor:
    if not may_bypass(attention, MultiHeadAttention):
        padded = source_rows.unpack(memory)
        return rows.pack(attention(rows.unpack(x), padded, padded, mask.allowed))
    q, kv = call(attention.w_q, x), _project_together([attention.w_k, attention.w_v], memory)
    if _uses_formula(attention, rows, source_rows):
        return call(attention.w_o, attend_rows(q, rows, kv, source_rows, attention.n_heads, False))
    k, v = source_rows.unpack(kv).chunk(2, dim=-1)
    return _attend(attention, rows, mask, rows.unpack(q), k, v)


def _uses_formula(attention: AttentionBase, *rows: PackedRows) -> bool:
    has_dropout = attention.dropout > 0 and attention.training
    return not has_dropout and max(r.shape[1] for r in rows) <= MAX_FORMULA_LENGTH


def _attend(
    attention: MultiHeadAttention, rows: PackedRows, mask: AttentionMask, q: Tensor, k: Tensor, v: Tensor
) -> Tensor:
    q, k, v = (split_heads(x, attention.n_heads) for x in (q, k, v))
    mixed = _attend_heads(attention, q, k, v, bias=mask.bias, is_causal=mask.is_causal)
    return call(attention.w_o, rows.pack(merge_heads(mixed)))


def _attend_heads(attention: AttentionBase, q: Tensor, k: Tensor, v: Tensor, **options: Any) -> Tensor:
    """Attend in all heads, in single precision if autocast is on and the device is a CPU.

    For short sentences, torch's kernel takes many times longer in bfloat16; all other products are faster in bfloat16.
    """
    if q.device.type != "cpu" or not torch.is_autocast_enabled("cpu"):
        return attention.attend_heads(q, k, v, **options)
    with torch.autocast("cpu", enabled=False):
        return attention.attend_heads(q.float(), k.float(), v.float(), **options)


def _block_attention(
    attention: nn.Module, rows: PackedRows, mask: Tensor | None, positional: Positional, is_causal: bool, x: Tensor
) -> Tensor:
    if not may_bypass(attention, GroupedQueryAttention):
        return rows.pack(attention(rows.unpack(x), mask, positional, None, is_causal))
    qkv = _project_together([attention.w_q, attention.w_k, attention.w_v], x)
    unchanged_qk = positional.rotation is None and type(attention.norm_q) is nn.Identity
    if is_causal and unchanged_qk and attention.n_kv_heads == attention.n_heads and _uses_formula(attention, rows):
        return call(attention.w_o, attend_rows(qkv, rows, None, rows, attention.n_heads, True))
    n_heads = (attention.n_heads, attention.n_kv_heads, attention.n_kv_heads)
    parts = torch.split(rows.unpack(qkv), [n * attention.d_k for n in n_heads], dim=-1)
    q, k, v = (split_heads(part, n) for part, n in zip(parts, n_heads, strict=True))
    q, k = attention.norm_q(q), attention.norm_k(k)
    if positional.rotation is not None:
        q, k = positional.rotation.rotate(q), positional.rotation.rotate(k)
    mixed = _attend_heads(attention, q, k, v, mask=mask, bias=positional.bias, is_causal=is_causal)
    return call(attention.w_o, rows.pack(merge_heads(mixed)))


def _project_together(layers: Sequence[nn.Module], x: Float[Tensor, "n_rows d_in"]) -> Float[Tensor, "n_rows d_out"]:
    """Return the concatenated outputs of layers, with a single larger product for linear layers, which is faster."""
    if not all(may_bypass(layer, nn.Linear) for layer in layers):
        return torch.cat([call(layer, x) for layer in layers], dim=-1)
    return F.linear(x, *concatenated(cast("Sequence[nn.Linear]", layers)))


def _bypassed_modules(model: Transformer | LanguageModel) -> list[nn.Module]:
    if isinstance(model, LanguageModel):
        return [model, *model.blocks, model.head]
    return [model, model.encoder, model.decoder, *model.encoder.layers, *model.decoder.layers]


class _LastLayer(NamedTuple):
    weight: Tensor
    bias: Tensor | None


def _last_layer(model: Transformer | LanguageModel) -> _LastLayer:
    if isinstance(model, LanguageModel):
        return _LastLayer(model.head.weight, model.head.bias)
    return _LastLayer(model.decoder.embedding.weight, model.output_bias)

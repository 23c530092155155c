"""Whole models on packed rows: only attention sees the batch as it was padded.

What a ``Transformer`` and a ``LanguageModel`` are made of is called as it is, except what would see padding: the models
themselves, their stacks and layers, and attention. These are written here once more, flat. Attention of another class,
a learner's for instance, is called with the padded batch and its mask, as the plain model calls it.
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
from transformer_lab.checks import check_tokens, look_up
from transformer_lab.fast.bypass import call, may_bypass
from transformer_lab.fast.dropout import dropout
from transformer_lab.fast.feed_forward import feed_forward
from transformer_lab.fast.functional_layers import concatenated
from transformer_lab.fast.packed_attention import LONGEST, attend_rows
from transformer_lab.fast.packed_rows import PackedRows, can_be_packed
from transformer_lab.fast.residual import add, add_and_normalise
from transformer_lab.fast.tied_embedding import look_up_tied
from transformer_lab.fast.vocabulary_loss import vocabulary_loss
from transformer_lab.layers.decoder_layer import DecoderLayer, PreNormDecoderLayer
from transformer_lab.layers.encoder_layer import EncoderLayer, PreNormEncoderLayer
from transformer_lab.models.decoder import Decoder, PreNormDecoder
from transformer_lab.models.encoder import Encoder, PreNormEncoder
from transformer_lab.models.language_model import Block, LanguageModel
from transformer_lab.models.transformer import Transformer

REWRITTEN = (
    Transformer, Encoder, PreNormEncoder, Decoder, PreNormDecoder, LanguageModel,
    EncoderLayer, PreNormEncoderLayer, DecoderLayer, PreNormDecoderLayer, Block, nn.Linear,
)  # fmt: skip
"""The classes whose ``forward`` is written once more below; a subclass of one may do something else."""


def packs(
    model: object, inputs: Sequence[Int[Tensor, "batch _"]], labels: Int[Tensor, "batch n"], pad_id: int
) -> TypeGuard[Transformer | LanguageModel]:
    """Return whether ``packed_loss`` can take a model and a batch: if not, the plain path must be taken.

    It cannot if the model, its stacks or its layers are of other classes than the library's, or have hooks, if its
    parameters are in half precision (under autocast they are not), or if there is padding before a token.
    """
    if not (
        isinstance(model, Transformer | LanguageModel)
        and all(type(module) in REWRITTEN and may_bypass(module, type(module)) for module in _rewritten(model))
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
    """Return ``smoothed_cross_entropy(model(*inputs), labels, pad_id, smoothing)``, if ``packs`` says so.

    Dropout is drawn from other random numbers.
    """
    rows = PackedRows(labels != pad_id, row_multiple(labels))
    if isinstance(model, LanguageModel):
        x, weight = packed_text(model, inputs[0], rows)
    else:
        x, weight = packed_translation(model, inputs[0], inputs[1], rows)
    return vocabulary_loss(x, weight, _last_layer(model).bias, rows.of(labels)[: rows.n_real], smoothing)


class Visible(NamedTuple):
    """What the queries may attend to.

    Args:
        mask: As the plain model passes it on.
        bias: The same to be added to the scores, made once for all layers; None hides nothing but what comes later.
        is_causal: Whether each query attends to the keys up to its own position only.
    """

    mask: Bool[Tensor, "*#batch #n_query #n_key"]
    bias: Float[Tensor, "*#batch #n_query #n_key"] | None = None
    is_causal: bool = False


def row_multiple(tokens: Tensor) -> int:
    """Return what the number of rows should be a multiple of.

    In half precision, a CPU makes its code for a product anew for each number of rows, which costs more than the
    product, and keeps it for those to come.
    """
    return 64 if tokens.device.type == "cpu" and torch.is_autocast_enabled("cpu") else 1


def packed_translation(
    model: Transformer, source: Int[Tensor, "batch n_source"], target: Int[Tensor, "batch n"], rows: PackedRows
) -> tuple[Float[Tensor, "n_rows d_model"], Float[Tensor, "vocab_size d_model"]]:
    """Return the output of the decoder at those positions of the target, and the weights of the last layer."""
    mask = padding_mask(source, model.config.source_pad_id)
    source_rows = PackedRows(mask[:, 0, 0], row_multiple(source))
    bias = None if source_rows.is_full else torch.where(mask, 0.0, -torch.inf).to(model.decoder.embedding.weight.dtype)
    to_source, to_target = Visible(mask, bias), Visible(causal_mask(target.shape[1], device=target.device), None, True)
    embeddings = [model.encoder.embedding, model.decoder.embedding]
    looked_up, weight = _look_up(embeddings, [source_rows.of(source), rows.of(target)], _last_layer(model).weight)
    memory = _embed(model.encoder, source, looked_up[0], source_rows)
    for layer in cast("Iterable[EncoderLayer]", model.encoder.layers):
        attention = partial(_self_attention, layer.self_attention, source_rows, to_source)
        memory = _add(layer, layer.norm_1, memory, attention)
        memory = _add(layer, layer.norm_2, memory, partial(feed_forward, layer.feed_forward))
    memory = call(model.encoder.norm, memory)
    x = _embed(model.decoder, target, looked_up[1], rows)
    for decoder_layer in cast("Iterable[DecoderLayer]", model.decoder.layers):
        attention = partial(_self_attention, decoder_layer.self_attention, rows, to_target)
        to_memory = partial(_cross_attention, decoder_layer.cross_attention, rows, to_source, memory, source_rows)
        x = _add(decoder_layer, decoder_layer.norm_1, x, attention)
        x = _add(decoder_layer, decoder_layer.norm_2, x, to_memory)
        x = _add(decoder_layer, decoder_layer.norm_3, x, partial(feed_forward, decoder_layer.feed_forward))
    return call(model.decoder.norm, x), weight


def packed_text(
    model: LanguageModel, tokens: Int[Tensor, "batch n"], rows: PackedRows
) -> tuple[Float[Tensor, "n_rows d_model"], Float[Tensor, "vocab_size d_model"]]:
    """Return the output of the last block at those positions of the texts, and the weights of the last layer."""
    config = model.config
    check_tokens(tokens, config.max_length)
    positions = model.position_ids(tokens)
    [x], weight = _look_up([model.embedding], [rows.of(tokens)], model.head.weight)
    x = x if model.scale == 1 else x * model.scale
    if model.positions is not None:
        x = x + F.embedding(rows.of(positions.expand_as(tokens)), model.positions)
    x = dropout(model.dropout, x)
    local = [config.is_local(i) for i in range(config.n_layers)]
    inputs = {kind: model.attention_inputs(tokens, positions, positions, x.dtype, kind) for kind in set(local)}
    for i, block in enumerate(cast("Iterable[Block]", model.blocks)):
        attended = _block_attention(block.self_attention, rows, *inputs[local[i]], call(block.norm_1, x))
        x = add(x, block.dropout, call(block.post_norm_1, attended))
        x = add(x, block.dropout, call(block.post_norm_2, feed_forward(block.feed_forward, call(block.norm_2, x))))
    return call(model.norm, x), weight


def _look_up(
    embeddings: Sequence[nn.Embedding], tokens: Sequence[Int[Tensor, " _"]], last: Float[Tensor, "vocab_size d_model"]
) -> tuple[list[Float[Tensor, "_ d_model"]], Float[Tensor, "vocab_size d_model"]]:
    """Return what is looked up in each embedding, and the weights of the last layer, which may be theirs."""
    looked_up, weight = [], last
    for embedding, row_tokens in zip(embeddings, tokens, strict=True):
        if embedding.weight is last and last.device.type == "cpu" and _only_looks_up(embedding):
            try:
                x, weight = look_up_tied(weight, row_tokens)
            except IndexError:
                look_up(embedding, row_tokens)  # names the token
                raise
        else:
            x = look_up(embedding, row_tokens[None]).squeeze(0)
        looked_up.append(x)
    return looked_up, weight


def _only_looks_up(embedding: nn.Module) -> bool:
    """Return whether an embedding is torch's, without its options, all of which change weights or gradients."""
    return may_bypass(embedding, nn.Embedding) and not (
        embedding.max_norm or embedding.scale_grad_by_freq or embedding.padding_idx is not None
    )


def _embed(
    stack: Encoder | Decoder,
    tokens: Int[Tensor, "batch n"],
    looked_up: Float[Tensor, "n_rows d_model"],
    rows: PackedRows,
) -> Float[Tensor, "n_rows d_model"]:
    check_tokens(tokens, len(stack.positions))
    x = looked_up * math.sqrt(stack.embedding.embedding_dim) + F.embedding(rows.positions, stack.positions)
    return dropout(stack.dropout, x)


def _add(
    layer: EncoderLayer | DecoderLayer, norm: nn.Module, x: Tensor, sublayer: Callable[[Tensor], Tensor]
) -> Float[Tensor, "n_rows d_model"]:
    """Add what a sublayer returns, and normalise the sum, or before that the sublayer's input."""
    if isinstance(layer, PreNormEncoderLayer | PreNormDecoderLayer):
        return add(x, layer.dropout, sublayer(call(norm, x)))
    return add_and_normalise(x, layer.dropout, sublayer(x), norm)


def _self_attention(attention: nn.Module, rows: PackedRows, visible: Visible, x: Tensor) -> Tensor:
    if not may_bypass(attention, MultiHeadAttention):
        padded = rows.unpack(x)
        return rows.pack(attention(padded, padded, padded, visible.mask))
    qkv = _project_together([attention.w_q, attention.w_k, attention.w_v], x)
    if _attends_by_rows(attention, rows, rows):
        return call(attention.w_o, attend_rows(qkv, rows, None, rows, attention.n_heads, visible.is_causal))
    q, k, v = rows.unpack(qkv).chunk(3, dim=-1)
    return _attend(attention, rows, visible, q, k, v)


def _cross_attention(
    attention: nn.Module, rows: PackedRows, visible: Visible, memory: Tensor, source_rows: PackedRows, x: Tensor
) -> Tensor:
    if not may_bypass(attention, MultiHeadAttention):
        padded = source_rows.unpack(memory)
        return rows.pack(attention(rows.unpack(x), padded, padded, visible.mask))
    q, kv = call(attention.w_q, x), _project_together([attention.w_k, attention.w_v], memory)
    if _attends_by_rows(attention, rows, source_rows):
        return call(attention.w_o, attend_rows(q, rows, kv, source_rows, attention.n_heads, False))
    k, v = source_rows.unpack(kv).chunk(2, dim=-1)
    return _attend(attention, rows, visible, rows.unpack(q), k, v)


def _attends_by_rows(attention: AttentionBase, *rows: PackedRows) -> bool:
    drops = attention.dropout > 0 and attention.training
    return not drops and max(r.shape[1] for r in rows) <= LONGEST


def _attend(
    attention: MultiHeadAttention, rows: PackedRows, visible: Visible, q: Tensor, k: Tensor, v: Tensor
) -> Tensor:
    q, k, v = (split_heads(x, attention.n_heads) for x in (q, k, v))
    mixed = _attend_heads(attention, q, k, v, bias=visible.bias, is_causal=visible.is_causal)
    return call(attention.w_o, rows.pack(merge_heads(mixed)))


def _attend_heads(attention: AttentionBase, q: Tensor, k: Tensor, v: Tensor, **options: Any) -> Tensor:
    """Attend in all heads, under autocast on a CPU in single precision.

    Torch's kernel for bfloat16 takes many times as long there, for short sentences; all other products gain by it.
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
    nothing_between = positional.rotation is None and type(attention.norm_q) is nn.Identity
    if (
        is_causal
        and nothing_between
        and attention.n_kv_heads == attention.n_heads
        and _attends_by_rows(attention, rows)
    ):
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
    """Return the outputs of layers side by side: of linear ones by a single product, which is larger, thus faster."""
    if not all(may_bypass(layer, nn.Linear) for layer in layers):
        return torch.cat([call(layer, x) for layer in layers], dim=-1)
    return F.linear(x, *concatenated(cast("Sequence[nn.Linear]", layers)))


def _rewritten(model: Transformer | LanguageModel) -> list[nn.Module]:
    """List the modules whose ``forward`` is not called."""
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

"""One decoding step of a ``Transformer``: the result of ``Transformer.decode`` in fewer operations.

Reading one token of each row takes hardly any arithmetic. Most of the time goes into module calls, checks, and masks
without effect. So a step computes the three projections of self-attention in one product, scales queries or keys in
advance, transposes weights in advance if that is faster, skips masks that mask nothing, and never moves the keys and
values of a beam search (``beam_cache``). With 2 layers of width 128, a step takes 0.44 times as long as the plain code
for one sentence, 0.59 times for 32 sentences, and 0.63 times for 32 sentences with 4 beams each.
"""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lab.attention.kv_cache import LayerCache, ModelCache, SourceKV
from transformer_lab.attention.multi_head import MultiHeadAttention
from transformer_lab.fast.beam_cache import BeamCache
from transformer_lab.fast.bypass import hooks_of, is_inference, may_bypass_in_inference
from transformer_lab.fast.functional_layers import MAX_ROWS_IN_PLACE, embed, linear, linear_parameters, norm_function
from transformer_lab.layers import feed_forward
from transformer_lab.layers.decoder_layer import DecoderLayer, PreNormDecoderLayer
from transformer_lab.models.decoder import Decoder, PreNormDecoder
from transformer_lab.models.transformer import Transformer

SUPPORTED = {
    Decoder, PreNormDecoder, DecoderLayer, PreNormDecoderLayer, MultiHeadAttention,
    feed_forward.FeedForward, feed_forward.GELUFeedForward, feed_forward.GELUTanhFeedForward,
    feed_forward.SiLUFeedForward,
    nn.Linear, nn.LayerNorm, nn.Embedding, nn.Dropout, nn.ModuleList, nn.Identity,
}  # fmt: skip
"""The module classes that ``TransformerStep`` bypasses; user-defined classes and LoRA layers are not included."""


class TransformerStep:
    """A step that reads one token of each row, and stores its keys and values in a ``BeamCache``.

    Args:
        model: A model for which ``supports`` is True. Its parameters must not change while this object is in use.
        cache: A cache from ``Transformer.new_cache``. After ``write_back``, the plain code can continue with it.
        source: The source of each row.
    """

    def __init__(self, model: Transformer, cache: ModelCache, source: Int[Tensor, "rows n"]) -> None:
        self.model, self.cache = model, cache
        self.hooks = hooks_of(*model.decoder.modules())
        self.norm = norm_function(model.decoder.norm)
        self._beams: BeamCache | None = None  # None means that the cache itself is up to date
        self._n_rows = 0  # number of rows that the weights are prepared for
        self.set_source(source)

    @staticmethod
    def supports(model: Transformer) -> bool:
        """Return whether a step computes the model's result: all modules may be bypassed, and dropout is off."""
        return type(model) is Transformer and may_bypass_in_inference(model.decoder.modules(), SUPPORTED)

    def set_source(self, source: Int[Tensor, "rows n"]) -> None:
        """Prepare the sources' keys and values, and a mask that adds −∞ to the scores of padding."""
        sources = [source_of(layer) for layer in self.cache.layers]
        n_sources, d_k = len(sources[0].k), sources[0].k.shape[-1]
        self.source_kv = []
        for kv in sources:
            # Scaling the keys once is cheaper than scaling the queries at every step.
            k = (kv.k * d_k**-0.5).flatten(0, 1).mT  # (n_sources · n_heads, d_k, n)
            self.source_kv.append((k, kv.v.flatten(0, 1)))  # values: (n_sources · n_heads, n, d_k)
        rows_per_source = max(1, len(source) // max(1, n_sources))
        mask = source[::rows_per_source] != self.model.config.source_pad_id  # (n_sources, n), True at real tokens
        self.can_attend = len(source) > 0 and bool(mask.any(dim=1).all())
        self.source_bias: Tensor | None = None
        if not mask.all():
            bias = self.model.decoder.embedding.weight.new_zeros(mask.shape).masked_fill(~mask, -torch.inf)
            bias = bias.repeat_interleave(self.model.config.n_heads, dim=0)  # (n_sources · n_heads, n)
            self.source_bias = bias[:, None]  # (n_sources · n_heads, 1, n), the same for all queries

    def accepts(self, tokens: Int[Tensor, "rows 1"]) -> bool:
        """Return whether these tokens may attend to all earlier tokens, and the modules may still be bypassed.

        The plain code handles empty sources and everything that raises an error.
        """
        cache, config = self._beams or self.cache, self.model.config
        if any(self.hooks) or not is_inference():
            return False
        if not self.can_attend or cache.length >= self.cache.layers[0].self_attention.max_length:
            return False
        text = self.cache.with_new(tokens) if self._beams is None else tokens
        return not config.hide_target_padding or config.target_pad_id not in text.flatten().tolist()

    def __call__(self, tokens: Int[Tensor, "rows 1"]) -> Float[Tensor, "rows vocab_size"]:
        """Return the logits of the next token after the newest tokens, for which ``accepts`` must be True."""
        decoder = self.model.decoder
        if self._n_rows != len(tokens):
            self._prepare_weights(len(tokens))
        if self._beams is None:
            self._beams = BeamCache(self.cache)
        x = embed(decoder.embedding, tokens)  # (rows, d_model)
        x = torch.add(decoder.positions[self._beams.length], x, alpha=math.sqrt(self.model.config.d_model))
        bias = self._beams.extend(tokens)
        for i, layer in enumerate(self.layers):
            x = layer(x, self._beams, i, bias, self.source_kv[i], self.source_bias)
        return linear(self.norm(x), self.output)

    def _prepare_weights(self, n_rows: int) -> None:
        transpose, model = n_rows > MAX_ROWS_IN_PLACE, self.model
        if not self._n_rows or transpose != (self._n_rows > MAX_ROWS_IN_PLACE):
            layers = [layer for layer in model.decoder.layers if isinstance(layer, DecoderLayer)]
            self.layers = [DecoderLayerStep(layer, transpose) for layer in layers]
        self.output = linear_parameters(model.decoder.embedding.weight, model.output_bias, transpose=n_rows > 1)
        self._n_rows = n_rows

    def reorder(self, rows: Int[Tensor, " new_rows"]) -> None:
        """Replace row i with row ``rows[i]``, within the limits of ``ModelCache.reorder``."""
        (self._beams or self.cache).reorder(rows)

    def write_back(self) -> None:
        """Update the model's cache, so that the plain code can continue with it."""
        if self._beams is not None:
            self._beams.write_back()
            self._beams = None


def source_of(layer: LayerCache) -> SourceKV:
    """Return the keys and values of the sources, which every decoder layer has."""
    assert layer.source is not None
    return layer.source


class DecoderLayerStep:
    """One decoding step of a ``DecoderLayer`` or a ``PreNormDecoderLayer``, with prepared weights.

    Args:
        layer: The layer.
        transpose: As in ``linear_parameters``.
    """

    def __init__(self, layer: DecoderLayer, transpose: bool) -> None:
        target, source, network = layer.self_attention, layer.cross_attention, layer.feed_forward
        assert isinstance(network, feed_forward.FeedForward)
        self.pre_norm = isinstance(layer, PreNormDecoderLayer)
        self.n_heads, self.d_k, scale = target.n_heads, target.d_k, target.d_k**-0.5
        weights = target.w_q.weight * scale, target.w_k.weight, target.w_v.weight
        biases = target.w_q.bias * scale, target.w_k.bias, target.w_v.bias
        self.qkv = linear_parameters(torch.cat(weights), torch.cat(biases), transpose)
        self.source_q = linear_parameters(source.w_q.weight, source.w_q.bias, transpose)
        self.target_o, self.source_o, self.w_1, self.w_2 = (
            linear_parameters(w.weight, w.bias, transpose) for w in (target.w_o, source.w_o, network.w_1, network.w_2)
        )
        self.norm_1, self.norm_2, self.norm_3 = (
            (list(norm.normalized_shape), norm.weight, norm.bias, norm.eps)
            for norm in (layer.norm_1, layer.norm_2, layer.norm_3)
        )
        self.activation = network.activation

    def __call__(
        self,
        x: Float[Tensor, "rows d_model"],
        beams: BeamCache,
        i: int,
        bias: Tensor | None,
        source_kv: tuple[Tensor, Tensor],
        source_bias: Tensor | None,
    ) -> Float[Tensor, "rows d_model"]:
        """Return the output of layer i, like ``DecoderLayer.forward`` or ``PreNormDecoderLayer.forward``."""
        if self.pre_norm:
            x = self.self_attention(torch.layer_norm(x, *self.norm_1), beams, i, bias).add_(x)
            x = self.cross_attention(torch.layer_norm(x, *self.norm_2), *source_kv, source_bias).add_(x)
            return self.feed_forward(torch.layer_norm(x, *self.norm_3)).add_(x)
        x = torch.layer_norm(self.self_attention(x, beams, i, bias).add_(x), *self.norm_1)
        x = torch.layer_norm(self.cross_attention(x, *source_kv, source_bias).add_(x), *self.norm_2)
        return torch.layer_norm(self.feed_forward(x).add_(x), *self.norm_3)

    def self_attention(
        self, x: Float[Tensor, "rows d_model"], beams: BeamCache, i: int, bias: Tensor | None
    ) -> Float[Tensor, "rows d_model"]:
        """Return the output of self-attention."""
        d_model = x.shape[1]
        q, kv = linear(x, self.qkv).split_with_sizes([d_model, 2 * d_model], dim=1)
        return linear(self.attend(q, *beams.append(i, kv), bias), self.target_o)

    def cross_attention(
        self, x: Float[Tensor, "rows d_model"], k: Tensor, v: Tensor, bias: Tensor | None
    ) -> Float[Tensor, "rows d_model"]:
        """Return the output of cross-attention."""
        return linear(self.attend(linear(x, self.source_q), k, v, bias), self.source_o)

    def attend(
        self,
        q: Float[Tensor, "rows d_model"],
        k: Float[Tensor, "sources_and_heads d_k n"],
        v: Float[Tensor, "sources_and_heads n d_k"],
        bias: Tensor | None,
    ) -> Float[Tensor, "rows d_model"]:
        """Return the averaged values of all heads; the queries or the keys must already be scaled.

        All rows of a source are queries in the same product. With one row per source, no transpose is needed.
        """
        rows, n, h = q.shape[0], k.shape[0], self.n_heads
        if rows * h == n:
            q = q.reshape(n, 1, self.d_k)  # one row per source: (rows · h, 1, d_k)
        else:
            q = q.view(n // h, -1, h, self.d_k).transpose(1, 2)  # (n_sources, h, rows per source, d_k)
            q = q.reshape(n, -1, self.d_k)  # (n_sources · h, rows per source, d_k)
        scores = torch.bmm(q, k) if bias is None else torch.baddbmm(bias, q, k)  # (n, rows per source, n_key)
        mixed = torch.bmm(scores.softmax(dim=-1), v)  # (n, rows per source, d_k)
        if rows * h == n:
            return mixed.view(rows, -1)  # the heads of a row are adjacent: (rows, d_model)
        mixed = mixed.view(n // h, h, -1, self.d_k).transpose(1, 2)  # (n_sources, rows per source, h, d_k)
        return mixed.reshape(rows, -1)  # (rows, d_model)

    def feed_forward(self, x: Float[Tensor, "rows d_model"]) -> Float[Tensor, "rows d_model"]:
        """Return the output of the feed-forward network."""
        return linear(self.activation(linear(x, self.w_1)), self.w_2)

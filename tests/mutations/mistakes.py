"""The mistakes of ``docs/mistakes.md``, each put into one place of the library where it can be made."""

from tests.mutations.mutation import Edit, Mutation

SCALED = "(_q / _k.shape[-1] ** 0.5) @ _k.transpose(-2, -1)"
SOFTMAX = "torch.softmax(_scores.masked_fill(~(_mask | _fully_masked), -torch.inf), dim=-1)"
ZEROED = Edit("masked_softmax", "return _weights.masked_fill(_fully_masked, 0.0)", "return _weights")


def without_nan_guard(fill: str) -> Edit:
    """Hide keys by this score, also where no key is left."""
    return Edit("masked_softmax", SOFTMAX, f"torch.softmax(_scores.masked_fill(~_mask, {fill}), dim=-1)")


DOT_PRODUCT = [
    Mutation(2, "no scale", Edit("scaled_dot_product_attention", SCALED, "_q @ _k.transpose(-2, -1)")),
    Mutation(3, "softmax over queries", Edit("masked_softmax", SOFTMAX, SOFTMAX.replace("dim=-1", "dim=-2"))),
    Mutation(4, "softmax over axis 1", Edit("masked_softmax", SOFTMAX, SOFTMAX.replace("dim=-1", "dim=1"))),
    Mutation(10, "inverted mask", Edit("masked_softmax", "~(_mask | _fully_masked)", "_mask")),
    Mutation(
        11,
        "mask after the softmax",
        Edit("masked_softmax", SOFTMAX, "torch.softmax(_scores, dim=-1).masked_fill(~_mask, 0.0)"),
    ),
    Mutation(
        12, "hidden scores 0", Edit("masked_softmax", "_s.masked_fill(_m, -torch.inf)", "_s.masked_fill(_m, 0.0)")
    ),
    Mutation(
        13, "-inf times 0", Edit("masked_softmax", SOFTMAX, "torch.softmax(_scores + -torch.inf * ~_mask, dim=-1)")
    ),
    Mutation(14, "rows of -inf", without_nan_guard("-torch.inf"), ZEROED),
    Mutation(15, "-1e9", without_nan_guard("-1e9"), ZEROED),
]

MULTI_HEAD = [
    Mutation(
        1,
        "scaled by 1/√d_model",
        Edit("AttentionBase.attend_heads", "attend(_q, ...)", "attend(_q / self.n_heads**0.5, ...)"),
    ),
    Mutation(5, "keys projected as queries", Edit("MultiHeadAttention", "self.w_k(_key)", "self.w_q(_key)")),
    Mutation(
        6,
        "heads split by view alone",
        Edit("split_heads", "_x.reshape(_batch, _n, _heads, _).transpose(1, 2)", "_x.reshape(_batch, _heads, _n, -1)"),
    ),
    Mutation(
        7,
        "heads merged by view alone",
        Edit("merge_heads", "_x.transpose(1, 2).flatten(start_dim=2)", "_x.reshape(len(_x), _x.shape[2], -1)"),
    ),
    Mutation(8, "no w_o", Edit("MultiHeadAttention.forward", "return self.w_o(_heads)", "return _heads")),
    Mutation(
        9,
        "weights dropped also in eval",
        Edit("AttentionBase.attend_heads", "self.dropout if self.training else 0.0", "self.dropout"),
    ),
]

TRIL = "_ones.tril(_n_past)"

MASKS = [
    Mutation(16, "tril(-1)", Edit("causal_mask", TRIL, "_ones.tril(_n_past - 1)")),
    Mutation(17, "tril(1)", Edit("causal_mask", TRIL, "_ones.tril(_n_past + 1)")),
    Mutation(
        20,
        "causal | pad",
        Edit(
            "decoder_mask",
            "padding_mask(_tokens, pad_id) & _causal",
            "padding_mask(_tokens, pad_id) | _causal",
        ),
    ),
    Mutation(
        23, "padding on the queries", Edit("padding_mask", "_real[..., None, None, :]", "_real[..., None, :, None]")
    ),
    Mutation(48, "first query aligned with first key", Edit("causal_mask", TRIL, "_ones.tril()")),
]

POSITIONS = [
    Mutation(
        36,
        "cosine exponents of the next pair",
        Edit("sinusoidal_encoding", "_angles.cos()", "(_angles * base ** (-2 / d_model)).cos()"),
    ),
    Mutation(
        49,
        "halves turned by interleaved angles",
        Edit(
            "Rotation.rotate",
            "return torch.stack([_even * _cos - _odd * _sin, _even * _sin + _odd * _cos], ...).flatten(...)",
            "left, right = x.chunk(2, dim=-1)\n"
            "return x * _cos.repeat_interleave(2, -1) + torch.cat([-right, left], -1) * _sin.repeat_interleave(2, -1)",
        ),
    ),
]

NORMS = [
    Mutation(
        30,
        "LayerNorm over positions, too",
        Edit("layer_norm", "_x - _x.mean(dim=-1, keepdim=True)", "_x - _x.mean(dim=(-2, -1), keepdim=True)"),
    ),
    Mutation(32, "eps outside the root", Edit("layer_norm", "torch.sqrt(_v + eps)", "torch.sqrt(_v) + eps")),
]

POST, PRE = "EncoderLayer.forward", "PreNormEncoderLayer.forward"
POST_FFN = "return self.norm_2(_x + self.dropout(_ffn))"

ENCODER_LAYER = [
    Mutation(
        25,
        "x = norm(x); x + attention(x)",
        Edit(PRE, "_normed = self.norm_1(_x)", "_x = _normed = self.norm_1(_x)"),
    ),
    Mutation(26, "x + norm(ffn(x))", Edit(POST, POST_FFN, "return _x + self.norm_2(self.dropout(_ffn))")),
    Mutation(
        29,
        "ffn added to the input of the layer",
        Edit(POST, "_x = self.norm_1(_sum)", "block, _x = _x, self.norm_1(_sum)"),
        Edit(POST, POST_FFN, "return self.norm_2(block + self.dropout(_ffn))"),
    ),
    Mutation(
        31,
        "BatchNorm",
        Edit(
            POST,
            POST_FFN,
            "z = _x + self.dropout(_ffn)\nreturn nn.functional.batch_norm(z.mT, None, None, training=True).mT",
        ),
    ),
]

CROSS = "self.attend_to_memory(_x, memory, memory_mask, _source)"

DECODER_LAYER = [
    Mutation(
        41,
        "cross-attention to itself",
        Edit("DecoderLayer.forward", CROSS, "self.cross_attention(_x, _x, _x, mask)"),
    ),
    Mutation(
        42,
        "queries from the encoder",
        Edit("DecoderLayer.forward", CROSS, "self.cross_attention(memory, _x, _x)"),
    ),
]

EMBEDDED = "look_up(self.embedding, _tokens) * _scale + self.positions[_start:_end]"

STACK = [
    Mutation(
        34,
        "[layer] * n",
        Edit("LayerStack.__init__", "nn.ModuleList(_layer for _ in range(_n))", "nn.ModuleList([_layer] * _n)"),
    ),
    Mutation(35, "no positions", Edit("LayerStack.embed", EMBEDDED, "look_up(self.embedding, _tokens) * _scale")),
    Mutation(
        37,
        "positions by the batch",
        Edit("LayerStack.embed", "self.positions[_start:_end]", "self.positions[:tokens.shape[0], None]"),
    ),
    Mutation(
        38,
        "embeddings not scaled",
        Edit("LayerStack.embed", EMBEDDED, "look_up(self.embedding, _tokens) + self.positions[_start:_end]"),
    ),
]

TARGET_MASK = "_mask = decoder_mask(_written, self.config.target_pad_id, _n_query)"
NOT_CAUSAL = "_mask = padding_mask(_written, self.config.target_pad_id)"
DECODE = "self.decoder(target, memory, _mask, _memory_mask, cache)"
PARTS = "(PreNormEncoder, PreNormDecoder) if {} else (Encoder, Decoder)"

TRANSFORMER = [
    Mutation(18, "no causal mask", Edit("Transformer.decode", TARGET_MASK, NOT_CAUSAL)),
    Mutation(
        19,
        "causal only in training",
        Edit("Transformer.decode", TARGET_MASK, f"{TARGET_MASK}\nif not self.training:\n    {NOT_CAUSAL}"),
    ),
    Mutation(
        21,
        "no source mask",
        Edit(
            "Transformer.encode",
            "self.encoder(source, padding_mask(source, self.config.source_pad_id))",
            "self.encoder(source)",
        ),
    ),
    Mutation(22, "no memory mask", Edit("Transformer.decode", DECODE, "self.decoder(target, memory, _mask)")),
    Mutation(
        24,
        "target mask by the source's padding",
        Edit("Transformer.decode", "self.config.target_pad_id", "self.config.source_pad_id"),
    ),
    Mutation(27, "pre and post swapped", Edit("Transformer.__init__", PARTS.format("_pre"), PARTS.format("not _pre"))),
    Mutation(
        43,
        "the decoder is fed the source",
        Edit("Transformer.decode", DECODE, "self.decoder(source, memory, None, _memory_mask)"),
    ),
]

LOSS = [
    Mutation(
        40,
        "shifted twice",
        Edit(
            "batch_loss",
            "smoothed_cross_entropy(_logits, _labels, ...)",
            "smoothed_cross_entropy(_logits[:, :-1], _labels[:, 1:], ...)",
        ),
    ),
    Mutation(44, "padding counted in the mean", Edit("count_tokens", "_targets != pad_id", "_targets == _targets")),
    Mutation(
        45,
        "softmax before the cross-entropy",
        Edit("smoothed_cross_entropy", "F.cross_entropy(_logits, ...)", "F.cross_entropy(_logits.softmax(-1), ...)"),
    ),
]

TABLE = {
    "attention/dot_product": DOT_PRODUCT,
    "attention/multi_head": MULTI_HEAD,
    "attention/masks": MASKS,
    "attention/positions": POSITIONS,
    "attention/kv_cache": [
        Mutation(
            47,
            "new keys over the old ones",
            Edit("KVCache._room", "_start, _end = self.length, self.length + _n", "_start, _end = 0, 0 + _n"),
        )
    ],
    "layers/norms": NORMS,
    "layers/feed_forward": [Mutation(33, "no ReLU", Edit("FeedForward", "torch.relu(_z)", "_z"))],
    "layers/encoder_layer": ENCODER_LAYER,
    "layers/decoder_layer": DECODER_LAYER,
    "models/layer_stack": STACK,
    "models/encoder": [
        Mutation(28, "pre: no final norm", Edit("PreNormEncoder", "nn.LayerNorm", "nn.Identity")),
    ],
    "models/transformer": TRANSFORMER,
    "generation/sampling": [
        Mutation(
            50,
            "the token that crosses the mass is dropped",
            Edit("filter_logits", "_mass.roll(1, dims=-1)", "_mass"),
        ),
    ],
    "data/batches": [
        Mutation(
            39,
            "the answers as the input",
            Edit("Batch.inputs", "(self.source, self.target[:, :-1])", "(self.source, self.target[:, 1:])"),
        ),
    ],
    "training/loss": LOSS,
    "training/trainer": [
        Mutation(
            46,
            "accumulated gradients not divided",
            Edit("Trainer._step", "(_loss / _n_tokens).backward()", "_loss.backward()"),
        ),
    ],
}

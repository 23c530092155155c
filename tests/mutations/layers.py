"""Mistakes in layers: norms, feed-forward networks and residuals."""

from tests.mutations.mutation import Edit, Mutation

NORMS = [
    Mutation(
        30,
        "LayerNorm over positions, too",
        Edit("layer_norm", "_x - _x.mean(dim=-1, keepdim=True)", "_x - _x.mean(dim=(-2, -1), keepdim=True)"),
    ),
    Mutation(32, "LayerNorm: eps outside the root", Edit("layer_norm", "torch.sqrt(_v + eps)", "torch.sqrt(_v) + eps")),
    Mutation(32, "RMSNorm: eps outside the root", Edit("rms_norm", "torch.sqrt(_v + eps)", "torch.sqrt(_v) + eps")),
]

FEED_FORWARD = [
    Mutation(33, "no ReLU", Edit("FeedForward", "torch.relu(_z)", "_z")),
    Mutation(33, "no GELU", Edit("GELUFeedForward", "F.gelu(_z)", "_z")),
    Mutation(33, "no GELU of GPT-2", Edit("GELUTanhFeedForward", 'F.gelu(_z, approximate="tanh")', "_z")),
    Mutation(33, "no SiLU", Edit("SiLUFeedForward", "F.silu(_z)", "_z")),
    Mutation(33, "no SiLU in the gate", Edit("SwiGLU", "F.silu(_gate)", "_gate")),
    Mutation(33, "no GELU in the gate", Edit("GeGLU", "F.gelu(_gate, approximate='tanh')", "_gate")),
]


def in_layers(name: str, last: int) -> list[Mutation]:
    """Return the mistakes of encoder layers and decoder layers alike; ``last`` is the number of their last norm."""
    post, pre = f"{name}Layer.forward", f"PreNorm{name}Layer.forward"
    pre_attention = "_x + self.dropout(self.self_attention(_normed, _normed, _normed, mask, ...))"
    post_ffn = f"return self.norm_{last}(_x + self.dropout(_ffn))"
    pre_ffn = f"return _x + self.dropout(self.feed_forward(self.norm_{last}(_x)))"
    normed = "_normed = self.norm_1(_x)"
    std_and_eps = (
        "z = _x + self.dropout(_ffn)\n"
        "z = (z - z.mean(-1, True)) / (z.std(-1, keepdim=True, correction=0) + self.norm_1.eps)\n"
        f"return z * self.norm_{last}.weight + self.norm_{last}.bias"
    )
    return [
        Mutation(
            9,
            "dropout also in eval",
            Edit(f"{name}Layer.__init__", "nn.Dropout(dropout)", "lambda x: nn.functional.dropout(x, dropout)"),
        ),
        Mutation(25, "x = norm(x); x + attention(x)", Edit(pre, normed, "_x = _normed = self.norm_1(_x)")),
        Mutation(
            25,
            "x = norm(x); x + ffn(x)",
            Edit(pre, pre_ffn, f"_x = self.norm_{last}(_x)\nreturn _x + self.dropout(self.feed_forward(_x))"),
        ),
        Mutation(
            26,
            "x + norm(attention(x))",
            Edit(pre, pre_attention, "_x + self.norm_1(self.self_attention(_x, _x, _x, mask))"),
        ),
        Mutation(
            26,
            "x + norm(ffn(x)) for norm(x + ffn(x))",
            Edit(post, post_ffn, f"return _x + self.norm_{last}(self.dropout(_ffn))"),
        ),
        Mutation(
            29,
            "post: ffn added to the block's input",
            Edit(post, "_x = self.norm_1(_sum)", "block, _x = _x, self.norm_1(_sum)"),
            Edit(post, post_ffn, f"return self.norm_{last}(block + self.dropout(_ffn))"),
        ),
        Mutation(
            29,
            "pre: ffn added to the block's input",
            Edit(pre, normed, "block, _normed = _x, self.norm_1(_x)"),
            Edit(pre, pre_ffn, f"return block + self.dropout(self.feed_forward(self.norm_{last}(_x)))"),
        ),
        Mutation(
            30,
            "LayerNorm over positions, too",
            Edit(post, post_ffn, "z = _x + self.dropout(_ffn)\nreturn nn.functional.layer_norm(z, z.shape[1:])"),
        ),
        Mutation(
            31,
            "BatchNorm",
            Edit(
                post,
                post_ffn,
                "z = _x + self.dropout(_ffn)\nreturn nn.functional.batch_norm(z.mT, None, None, training=True).mT",
            ),
        ),
        Mutation(32, "eps outside the root", Edit(post, post_ffn, std_and_eps)),
    ]


POST, PRE = "DecoderLayer.forward", "PreNormDecoderLayer.forward"
CROSS = "self.attend_to_memory(_x, memory, memory_mask, _source)"
PRE_CROSS = "self.attend_to_memory(self.norm_2(_x), memory, memory_mask, _source)"

DECODER = [
    *in_layers("Decoder", last=3),
    Mutation(
        18,
        "mask forgotten",
        Edit(POST, "self.self_attention(_x, _x, _x, mask, _cache)", "self.self_attention(_x, _x, _x)"),
    ),
    Mutation(22, "memory mask forgotten", Edit(POST, CROSS, "self.attend_to_memory(_x, memory, None, _source)")),
    Mutation(
        22,
        "pre: memory mask forgotten",
        Edit(PRE, PRE_CROSS, "self.attend_to_memory(self.norm_2(_x), memory, None, _source)"),
    ),
    Mutation(
        25,
        "x = norm(x); x + cross(x)",
        Edit(PRE, f"_x = _x + self.dropout({PRE_CROSS})", f"_x = self.norm_2(_x)\n_x = _x + self.dropout({CROSS})"),
    ),
    Mutation(41, "cross-attention to itself", Edit(POST, CROSS, "self.cross_attention(_x, _x, _x, mask)")),
    Mutation(
        41,
        "pre: cross-attention to itself",
        Edit(PRE, PRE_CROSS, "self.cross_attention(self.norm_2(_x), _x, _x, mask)"),
    ),
    Mutation(42, "queries from the encoder", Edit(POST, CROSS, "self.cross_attention(memory, _x, _x)")),
    Mutation(42, "pre: queries from the encoder", Edit(PRE, PRE_CROSS, "self.cross_attention(memory, _x, _x)")),
]

TABLE = {
    "layers/norms": NORMS,
    "layers/feed_forward": FEED_FORWARD,
    "layers/encoder_layer": in_layers("Encoder", last=2),
    "layers/decoder_layer": DECODER,
}

"""Mistakes in layers: norms, feed-forward networks, residuals, and what is stacked."""

from tests.mutations.mutation import Mutation

NORMS = [
    Mutation(30, "LayerNorm over positions, too", {"wide - wide.mean(dim=-1": "wide - wide.mean(dim=(-2, -1)"}),
    Mutation(32, "LayerNorm: eps outside the root", {"torch.sqrt(variance + eps)": "(torch.sqrt(variance) + eps)"}),
    Mutation(
        32,
        "RMSNorm: eps outside the root",
        {"torch.sqrt(wide.square().mean(dim=-1, keepdim=True) + eps)": "(wide.square().mean(-1, True).sqrt() + eps)"},
    ),
]

FEED_FORWARD = [
    Mutation(33, "no ReLU", {"torch.relu(z)": "z"}),
    Mutation(33, "no GELU", {'F.gelu(z, approximate="tanh")': "z"}),
    Mutation(33, "no SiLU", {"F.silu(z)": "z"}),
    Mutation(33, "no SiLU in the gate", {"F.silu(self.w_gate(x))": "self.w_gate(x)"}),
]


def in_layers(name: str, last: int) -> list[Mutation]:
    """Give the mistakes of encoder layers and decoder layers alike; ``last`` is the number of their last norm."""
    cached = ", written" if name == "Decoder" else ""
    attended = f"self.dropout(self.self_attention(normed, normed, normed, mask{cached}))"
    computed = "self.dropout(self.feed_forward(x))"
    post_norm, pre_norm = f"return self.norm_{last}(x + {computed})", f"self.feed_forward(self.norm_{last}(x))"
    over_positions = f"x = x + {computed}\n        return nn.functional.layer_norm(x, x.shape[1:])"
    std_and_eps = (
        f"x = x + {computed}\n"
        "        x = (x - x.mean(-1, True)) / (x.std(-1, keepdim=True, correction=0) + self.norm_1.eps)\n"
        f"        return x * self.norm_{last}.weight + self.norm_{last}.bias"
    )
    over_batch = f"x = x + {computed}\n        return nn.functional.batch_norm(x.mT, None, None, training=True).mT"
    return [
        Mutation(9, "dropout also in eval", {"nn.Dropout(dropout)": "lambda x: nn.functional.dropout(x, dropout)"}),
        Mutation(25, "x = norm(x); x + attention(x)", {"normed = self.norm_1(x)": "x = normed = self.norm_1(x)"}),
        Mutation(
            25,
            "x = norm(x); x + ffn(x)",
            {f"return x + self.dropout({pre_norm})": f"x = self.norm_{last}(x)\n        return x + {computed}"},
        ),
        Mutation(
            26, "x + norm(attention(x))", {f"x + {attended}": "x + self.norm_1(self.self_attention(x, x, x, mask))"}
        ),
        Mutation(26, "x + norm(ffn(x)) for norm(x + ffn(x))", {post_norm: f"return x + self.norm_{last}({computed})"}),
        Mutation(27, "pre: post-norm layers", {f"layer = PreNorm{name}Layer": f"layer = {name}Layer"}),
        Mutation(27, "post: pre-norm layers", {f"    layer = {name}Layer": f"    layer = PreNorm{name}Layer"}),
        Mutation(28, "pre: no final norm", {"final_norm = nn.LayerNorm": "final_norm = nn.Identity"}),
        Mutation(28, "final norm not called", {"return self.norm(x)": "return x"}),
        Mutation(
            29,
            "post: ffn added to the block's input",
            {"x = self.norm_1(": "block, x = x, self.norm_1(", post_norm: post_norm.replace("(x +", "(block +")},
        ),
        Mutation(
            29,
            "pre: ffn added to the block's input",
            {
                "normed = self.norm_1(x)": "block, normed = x, self.norm_1(x)",
                f"return x + self.dropout({pre_norm}": f"return block + self.dropout({pre_norm}",
            },
        ),
        Mutation(30, "LayerNorm over positions, too", {post_norm: over_positions}),
        Mutation(31, "BatchNorm", {post_norm: over_batch}),
        Mutation(32, "eps outside the root", {post_norm: std_and_eps}),
    ]


EMBEDDED = "self.embed(tokens, 0 if cache is None else cache.length)"
CROSS = "self.cross_attention(x, memory, memory, memory_mask, read)"
PRE_CROSS = "self.cross_attention(self.norm_2(x), memory, memory, memory_mask, read)"
DECODER = [
    *in_layers("Decoder", last=3),
    Mutation(18, "mask forgotten", {"self.self_attention(x, x, x, mask, written)": "self.self_attention(x, x, x)"}),
    Mutation(22, "memory mask forgotten", {CROSS: "self.cross_attention(x, memory, memory)"}),
    Mutation(22, "pre: memory mask forgotten", {PRE_CROSS: PRE_CROSS.replace(", memory_mask, read", "")}),
    Mutation(
        25,
        "x = norm(x); x + cross(x)",
        {f"x = x + self.dropout({PRE_CROSS})": f"x = self.norm_2(x)\n        x = x + self.dropout({CROSS})"},
    ),
    Mutation(
        35,
        "no positions in the decoder",
        {EMBEDDED: "self.embedding(tokens) * self.embedding.embedding_dim**0.5"},
    ),
    Mutation(41, "cross-attention to itself", {CROSS: "self.cross_attention(x, x, x, mask)"}),
    Mutation(41, "pre: cross-attention to itself", {PRE_CROSS: "self.cross_attention(self.norm_2(x), x, x, mask)"}),
    Mutation(42, "queries from the encoder", {CROSS: "self.cross_attention(memory, x, x)"}),
    Mutation(42, "pre: queries from the encoder", {PRE_CROSS: "self.cross_attention(memory, x, x)"}),
    Mutation(47, "every step at position 0", {"0 if cache is None else cache.length": "0"}),
]

TABLE = {"norms": NORMS, "feed_forward": FEED_FORWARD, "encoder": in_layers("Encoder", last=2), "decoder": DECODER}

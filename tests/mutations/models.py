"""Mistakes in what is made of layers: stacks, the Transformer, language models, recurrent translators."""

from tests.mutations.mutation import Mutation

LAYERS = """nn.ModuleList(
            self.layer(d_model, n_heads, d_ff, dropout, attention_dropout, feed_forward) for _ in range(n_layers)
        )"""
EMBEDDED = "self.embedding(tokens) * scale + self.positions[start : start + tokens.shape[1]]"
ONE_LAYER = "self.layer(d_model, n_heads, d_ff, dropout, attention_dropout, feed_forward)"

STACK = [
    Mutation(9, "dropout also in eval", {"nn.Dropout(dropout)": "lambda x: nn.functional.dropout(x, dropout)"}),
    Mutation(34, "[layer] * n", {LAYERS: f"nn.ModuleList([{ONE_LAYER}] * n_layers)"}),
    Mutation(34, "a python list", {LAYERS: f"[{ONE_LAYER} for _ in range(n_layers)]"}),
    Mutation(35, "no positions", {EMBEDDED: "self.embedding(tokens) * scale"}),
    Mutation(37, "positions by the batch", {"[start : start + tokens.shape[1]]": "[: tokens.shape[0], None]"}),
    Mutation(38, "embeddings not scaled", {EMBEDDED: EMBEDDED.replace(" * scale", "")}),
    Mutation(38, "positions scaled, too", {EMBEDDED: EMBEDDED.replace(" * scale +", " * scale + scale *")}),
]

TARGET_MASK = "mask = decoder_mask(written, self.config.target_pad_id, target.shape[1])\n"
NOT_CAUSAL = "mask = padding_mask(written, self.config.target_pad_id)\n"
DECODE = "self.decoder(target, memory, mask, memory_mask, cache)"
SOURCE_MASK = "padding_mask(source, self.config.source_pad_id)"
CAUSAL_IF = "        if not self.training:\n            "

TRANSFORMER = [
    Mutation(18, "no causal mask", {TARGET_MASK: NOT_CAUSAL}),
    Mutation(19, "causal only in training", {TARGET_MASK: TARGET_MASK + CAUSAL_IF + NOT_CAUSAL}),
    Mutation(19, "causal only in eval", {TARGET_MASK: TARGET_MASK + CAUSAL_IF.replace("not ", "") + NOT_CAUSAL}),
    Mutation(21, "no source mask", {f"self.encoder(source, {SOURCE_MASK})": "self.encoder(source)"}),
    Mutation(21, "EncoderModel: no mask", {"(tokens, padding_mask(tokens, self.config.source_pad_id))": "(tokens)"}),
    Mutation(22, "no memory mask", {DECODE: "self.decoder(target, memory, mask)"}),
    Mutation(24, "target mask by the source's padding", {"self.config.target_pad_id": "self.config.source_pad_id"}),
    Mutation(
        24,
        "source mask by the target's padding",
        {f"(source, {SOURCE_MASK})": f"(source, {SOURCE_MASK.replace('source_', 'target_')})"},
    ),
    Mutation(
        24,
        "memory mask by the target's padding",
        {f"= {SOURCE_MASK}": f"= {SOURCE_MASK.replace('source_', 'target_')}"},
    ),
    Mutation(
        27, "pre and post swapped", {"(PreNormEncoder, PreNormDecoder) if": "(PreNormEncoder, PreNormDecoder) if not"}
    ),
    Mutation(
        27, "EncoderModel: pre and post swapped", {"encoder = PreNormEncoder if": "encoder = PreNormEncoder if not"}
    ),
    Mutation(43, "the decoder is fed the source", {DECODE: "self.decoder(source, memory, None, memory_mask)"}),
    Mutation(
        43,
        "the encoder is fed the target",
        {"self.decode(target, self.encode(source), source)": "self.decode(target, self.encode(target), target)"},
    ),
]

PADDED = "mask = decoder_mask(text, config.pad_id, tokens.shape[1])\n"
UNPADDED = "mask = causal_mask(tokens.shape[1], text.shape[1], tokens.device)\n"
HIDES_PADDING = "mask = (text != config.pad_id)[:, None, None, :]\n"
DROPOUT = "nn.Dropout(config.dropout)\n        self.blocks"
BLOCKS = "Block(config) for _ in range(config.n_layers)"
ORDER = "(source == self.pad_id).int().argsort(dim=1, stable=True)"
ATTENDED = "self.dropout(self.self_attention(self.norm_1(x), mask, bias, rotation, cache))"
COMPUTED = "self.dropout(self.feed_forward(self.norm_2(x)))"

LANGUAGE_MODEL = [
    Mutation(
        9, "dropout also in eval", {DROPOUT: DROPOUT.replace("nn.Dropout(", "lambda x: nn.functional.dropout(x, ")}
    ),
    Mutation(18, "no causal mask", {PADDED: HIDES_PADDING}),
    Mutation(18, "no causal mask, no padding", {UNPADDED: f"{UNPADDED.rstrip()} | True\n"}),
    Mutation(
        19, "causal only in training", {PADDED: PADDED.replace("\n", f" if self.training else {HIDES_PADDING[7:]}")}
    ),
    Mutation(20, "causal | pad", {PADDED: f"mask = causal_mask(tokens.shape[1]) | {HIDES_PADDING[7:]}"}),
    Mutation(21, "no padding mask", {PADDED: UNPADDED}),
    Mutation(
        25,
        "x = norm(x); x + attention(x)",
        {f"x = x + {ATTENDED}": f"x = self.norm_1(x)\n        x = x + {ATTENDED.replace('self.norm_1(x)', 'x')}"},
    ),
    Mutation(
        25,
        "x = norm(x); x + ffn(x)",
        {f"return x + {COMPUTED}": f"x = self.norm_2(x)\n        return x + {COMPUTED.replace('self.norm_2(x)', 'x')}"},
    ),
    Mutation(26, "x + norm(ffn(x))", {COMPUTED: "self.dropout(self.norm_2(self.feed_forward(x)))"}),
    Mutation(28, "no final norm", {"self.head(self.norm(x))": "self.head(x)"}),
    Mutation(
        29,
        "ffn added to the block's input",
        {
            f"x = x + {ATTENDED}": f"block, x = x, x + {ATTENDED}",
            f"return x + {COMPUTED}": f"return block + {COMPUTED}",
        },
    ),
    Mutation(
        34,
        "[block] * n",
        {BLOCKS: "[Block(config)] * config.n_layers"},
    ),
    Mutation(35, "no positions", {"x + self.positions[where]": "x"}),
    Mutation(
        35,
        "positions of the padding, too",
        {"((tokens != pad_id).cumsum(dim=1) - 1)": "torch.arange(tokens.shape[1]).expand(tokens.shape)"},
    ),
    Mutation(35, "no rotation", {"self.norm_1(x), mask, bias, rotation, cache)": "self.norm_1(x), mask, bias)"}),
    Mutation(
        35, "no distances", {"self.norm_1(x), mask, bias, rotation, cache)": "self.norm_1(x), mask, None, rotation)"}
    ),
    Mutation(37, "positions by the batch", {"self.positions[where]": "self.positions[: len(tokens), None]"}),
    Mutation(38, "embeddings not scaled beside sinusoids", {"math.sqrt(config.d_model) if": "1.0 if"}),
    Mutation(47, "every step at position 0", {"everywhere[:, -tokens.shape[1] :]": "everywhere[:, : tokens.shape[1]]"}),
]

RECURRENT = [
    Mutation(47, "every token is the first", {"logits, self.state = self.model": "logits, _ = self.model"}),
    Mutation(
        47,
        "states are not reordered",
        {"self.state, self.states, self.mask = self.state[rows]": "_, self.states, self.mask = self.state[rows]"},
    ),
    Mutation(
        21,
        "the encoder reads padding",
        {ORDER: "torch.arange(source.shape[1]).expand_as(source)"},
    ),
    Mutation(22, "attention to padding", {"states, states, mask[:, None])": "states, states)"}),
    Mutation(
        22,
        "the last state, padding or not",
        {"last = mask.sum(dim=1) - 1": "last = torch.full((len(mask),), mask.shape[1] - 1)"},
    ),
    Mutation(
        41,
        "attention to the decoder's own state",
        {"states, states, mask[:, None])": "state[:, None], state[:, None])"},
    ),
]

TABLE = {"stack": STACK, "transformer": TRANSFORMER, "language_model": LANGUAGE_MODEL, "recurrent": RECURRENT}

"""Mistakes in what is made of layers: stacks, the Transformer, language models, recurrent translators."""

from tests.mutations.mutation import Edit, Mutation

EMBEDDED = "look_up(self.embedding, _tokens) * _scale + self.positions[_start:_end]"

STACK = [
    Mutation(
        9,
        "dropout also in eval",
        Edit("LayerStack.__init__", "nn.Dropout(dropout)", "lambda x: nn.functional.dropout(x, dropout)"),
    ),
    Mutation(
        34,
        "[layer] * n",
        Edit("LayerStack.__init__", "nn.ModuleList(_layer for _ in range(_n))", "nn.ModuleList([_layer] * _n)"),
    ),
    Mutation(
        34,
        "a python list",
        Edit("LayerStack.__init__", "nn.ModuleList(_layer for _ in range(_n))", "[_layer for _ in range(_n)]"),
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
    Mutation(
        38,
        "positions scaled, too",
        Edit(
            "LayerStack.embed",
            EMBEDDED,
            "look_up(self.embedding, _tokens) * _scale + _scale * self.positions[_start:_end]",
        ),
    ),
]


def in_stacks(name: str) -> list[Mutation]:
    """Return the mistakes of encoders and decoders alike."""
    return [
        Mutation(
            27, "pre: post-norm layers", Edit(f"PreNorm{name}", f"layer = PreNorm{name}Layer", f"layer = {name}Layer")
        ),
        Mutation(27, "post: pre-norm layers", Edit(name, f"layer = {name}Layer", f"layer = PreNorm{name}Layer")),
        Mutation(28, "pre: no final norm", Edit(f"PreNorm{name}", "nn.LayerNorm", "nn.Identity")),
        Mutation(28, "final norm not called", Edit(f"{name}.forward", "self.norm(_x)", "_x")),
    ]


DECODER = [
    *in_stacks("Decoder"),
    Mutation(
        35,
        "no positions in the decoder",
        Edit(
            "Decoder.forward",
            "self.embed(_tokens, ...)",
            "self.embedding(_tokens) * self.embedding.embedding_dim**0.5",
        ),
    ),
    Mutation(
        47,
        "every step at position 0",
        Edit("Decoder.forward", "self.embed(_tokens, _start)", "self.embed(_tokens, 0)"),
    ),
]

TARGET_MASK = "_mask = decoder_mask(_written, self.config.target_pad_id, _n_query)"
NOT_CAUSAL = "_mask = padding_mask(_written, self.config.target_pad_id)"
DECODE = "self.decoder(target, memory, _mask, _memory_mask, cache)"
SOURCE_MASK, BY_THE_TARGETS = (f"padding_mask(source, self.config.{which}_pad_id)" for which in ("source", "target"))
PARTS = "(PreNormEncoder, PreNormDecoder) if {} else (Encoder, Decoder)"
MODEL_PART = "PreNormEncoder if {} else Encoder"


def causal_if(condition: str) -> Edit:
    return Edit("Transformer.decode", TARGET_MASK, f"{TARGET_MASK}\nif not {condition}:\n    {NOT_CAUSAL}")


TRANSFORMER = [
    Mutation(18, "no causal mask", Edit("Transformer.decode", TARGET_MASK, NOT_CAUSAL)),
    Mutation(
        18,
        "no causal mask where target padding is not hidden",
        Edit("Transformer.decode", "causal_mask(...)", "causal_mask(...) | True"),
    ),
    Mutation(19, "causal only in training", causal_if("self.training")),
    Mutation(19, "causal only in eval", causal_if("(not self.training)")),
    Mutation(
        21,
        "no source mask",
        Edit("Transformer.encode", f"self.encoder(source, {SOURCE_MASK})", "self.encoder(source)"),
    ),
    Mutation(21, "EncoderModel: no mask", Edit("EncoderModel.forward", "self.encoder(_x, _mask)", "self.encoder(_x)")),
    Mutation(22, "no memory mask", Edit("Transformer.decode", DECODE, "self.decoder(target, memory, _mask)")),
    Mutation(
        24,
        "target mask by the source's padding",
        Edit("Transformer.decode", "self.config.target_pad_id", "self.config.source_pad_id"),
    ),
    Mutation(24, "source mask by the target's padding", Edit("Transformer.encode", SOURCE_MASK, BY_THE_TARGETS)),
    Mutation(24, "memory mask by the target's padding", Edit("Transformer.decode", SOURCE_MASK, BY_THE_TARGETS)),
    Mutation(27, "pre and post swapped", Edit("Transformer.__init__", PARTS.format("_pre"), PARTS.format("not _pre"))),
    Mutation(
        27,
        "EncoderModel: pre and post swapped",
        Edit("EncoderModel.__init__", MODEL_PART.format("_pre"), MODEL_PART.format("not _pre")),
    ),
    Mutation(
        43,
        "the decoder is fed the source",
        Edit("Transformer.decode", DECODE, "self.decoder(source, memory, None, _memory_mask)"),
    ),
    Mutation(
        43,
        "the encoder is fed the target",
        Edit(
            "Transformer.forward",
            "self.decode(target, self.encode(source), source)",
            "self.decode(target, self.encode(target), target)",
        ),
    ),
]

MODEL, HIDDEN, MASK = "LanguageModel.__init__", "LanguageModel.hidden", "LanguageModel.mask"
PADDED = "decoder_mask(_text, _pad_id, _n_query)"
HIDES_PADDING = "(_text != _pad_id)[:, None, None, :]"
CAUSAL = "causal_mask(_n_query, _text.shape[1])"
BLOCKS = "nn.ModuleList(_block for _ in range(_n))"
ATTENDED = "_attended = self.self_attention(self.norm_1(_x), ...)"
ADDED = "_x = _x + self.dropout(self.post_norm_1(_attended))"
COMPUTED = "return _x + self.dropout(self.post_norm_2(self.feed_forward(self.norm_2(_x))))"

LANGUAGE_MODEL = [
    Mutation(
        9,
        "dropout also in eval",
        Edit(MODEL, "nn.Dropout(_p)", "lambda x: nn.functional.dropout(x, _p)"),
    ),
    Mutation(18, "no causal mask", Edit(MASK, PADDED, HIDES_PADDING)),
    Mutation(
        18,
        "no causal mask, no padding",
        Edit(HIDDEN, "block(_x, _mask, _positional, _cache, _is_causal)", "block(_x, _mask, _positional, _cache)"),
    ),
    Mutation(18, "no causal mask, distances or cache", Edit(MASK, "causal_mask(...)", "causal_mask(...) | True")),
    Mutation(
        19,
        "causal only in training",
        Edit(MASK, PADDED, f"{PADDED} if self.training else {HIDES_PADDING}"),
    ),
    Mutation(20, "causal | pad", Edit(MASK, PADDED, f"{CAUSAL} | {HIDES_PADDING}")),
    Mutation(21, "no padding mask", Edit(MASK, PADDED, CAUSAL)),
    Mutation(
        25,
        "x = norm(x); x + attention(x)",
        Edit("Block.forward", ATTENDED, "_x = self.norm_1(_x)\n_attended = self.self_attention(_x, ...)"),
    ),
    Mutation(
        25,
        "x = norm(x); x + ffn(x)",
        Edit(
            "Block.forward",
            COMPUTED,
            "_x = self.norm_2(_x)\nreturn _x + self.dropout(self.post_norm_2(self.feed_forward(_x)))",
        ),
    ),
    Mutation(
        26,
        "x + norm(ffn(x))",
        Edit("Block.forward", "self.feed_forward(self.norm_2(_x))", "self.norm_2(self.feed_forward(_x))"),
    ),
    Mutation(28, "no final norm", Edit(HIDDEN, "self.norm(_x)", "_x")),
    Mutation(
        29,
        "ffn added to the block's input",
        Edit("Block.forward", ADDED, f"block = _x\n{ADDED}"),
        Edit("Block.forward", COMPUTED, COMPUTED.replace("_x", "block", 1)),
    ),
    Mutation(34, "[block] * n", Edit(MODEL, BLOCKS, "nn.ModuleList([_block] * _n)")),
    Mutation(35, "no positions", Edit("LanguageModel.embed", "_x + self.positions[_where]", "_x")),
    Mutation(
        35,
        "positions of the padding, too",
        Edit(
            "positions_of",
            "(_tokens != pad_id).cumsum(dim=1) - 1",
            "torch.arange(_tokens.shape[1]).expand(_tokens.shape)",
        ),
    ),
    Mutation(35, "no rotation", Edit("LanguageModel.positional", "Positional(rotation=_)", "Positional()")),
    Mutation(35, "no distances", Edit("LanguageModel.positional", "Positional(bias=_)", "Positional()")),
    Mutation(
        37,
        "positions by the batch",
        Edit("LanguageModel.embed", "self.positions[_where]", "self.positions[: len(tokens), None]"),
    ),
    Mutation(
        38,
        "embeddings not scaled beside sinusoids",
        Edit(MODEL, "math.sqrt(_d) if _sinusoids else 1.0", "1.0"),
    ),
    Mutation(
        47,
        "every step at position 0",
        Edit(HIDDEN, "_positions[:, -_n:]", "_positions[:, :_n]"),
    ),
]

RECURRENT = [
    Mutation(
        21,
        "the encoder reads padding",
        Edit(
            "RecurrentTranslator.encode",
            "(_source == self.pad_id).int().argsort(...)",
            "torch.arange(_source.shape[1]).expand_as(_source)",
        ),
    ),
    Mutation(
        22,
        "attention to padding",
        Edit(
            "AttentiveRecurrentTranslator.context",
            "self.attention(_query, states, states, _mask)",
            "self.attention(_query, states, states)",
        ),
    ),
    Mutation(
        22,
        "the last state, padding or not",
        Edit("last_state", "_mask.sum(dim=1) - 1", "torch.full((len(_mask),), _mask.shape[1] - 1)"),
    ),
    Mutation(
        41,
        "attention to the decoder's own state",
        Edit(
            "AttentiveRecurrentTranslator.context",
            "self.attention(_query, states, states, _mask)",
            "self.attention(_query, _query, _query)",
        ),
    ),
]

TABLE = {
    "models/layer_stack": STACK,
    "models/encoder": in_stacks("Encoder"),
    "models/decoder": DECODER,
    "models/transformer": TRANSFORMER,
    "models/language_model": LANGUAGE_MODEL,
    "models/recurrent": RECURRENT,
}

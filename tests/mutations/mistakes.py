"""Define mistakes as edits to the library. Each edit replaces a string that occurs exactly once in its file."""

from pathlib import Path
from typing import NamedTuple

LIBRARY = Path(__file__).parents[2] / "transformer_lab"


class Mutation(NamedTuple):
    """A mistake that can be inserted into a file of the library."""

    file: str
    row: int | None
    """The mistake's row in ``docs/mistakes.md``, or None if the mistake is not listed there."""
    mistake: str
    old: str
    new: str

    def mutated(self) -> str:
        """Return the source of the file after the mistake is inserted.

        Raises:
            ValueError: The string to replace does not occur exactly once in the file.
        """
        source = (LIBRARY / self.file).read_text(encoding="utf-8")
        if (n := source.count(self.old)) != 1:
            raise ValueError(f"{self.mistake}: the old string must occur exactly once in {self.file}; found {n}")
        return source.replace(self.old, self.new)


SOFTMAX = "torch.softmax(scores.masked_fill(~(mask | fully_masked), -torch.inf), dim=-1)"
ZEROED = f"{SOFTMAX}\n    return weights.masked_fill(fully_masked, 0.0)"
TRIL = ".tril(n_key - n_query)"
CAUSAL = "causal_mask(n_key if n_query is None else n_query, n_key, tokens.device)"
ROTATED = "torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(start_dim=-2)"
HALVES = "torch.cat([-x.chunk(2, -1)[1], x.chunk(2, -1)[0]], -1)"
EMBEDDED = "look_up(self.embedding, tokens) * scale + self.positions[start : start + tokens.shape[1]]"
POST_NORM = "self.norm_2(x + self.dropout(self.feed_forward(x)))"
POST_NORM_BOTH = f"x = self.norm_1(x + self.dropout(self.self_attention(x, x, x, mask)))\n        return {POST_NORM}"
BATCH_NORM = "nn.functional.batch_norm((x + self.dropout(self.feed_forward(x))).mT, None, None, training=True).mT"
TARGET_MASK = "mask = decoder_mask(tokens, self.config.target_pad_id, target.shape[1])"
NOT_CAUSAL = "padding_mask(tokens, self.config.target_pad_id)"
DECODE = "self.decoder(target, memory, mask, memory_mask, cache)"
CROSS = "x = self.norm_2(x + self.dropout(self.attend_to_memory(x, memory, memory_mask, source)))"
LOGITS = "logits.flatten(0, 1).float()"

TABLE: dict[str, list[tuple[int | None, str, str, str]]] = {
    "attention/dot_product.py": [
        (2, "no scale", "(q / k.shape[-1] ** 0.5)", "q"),
        (3, "softmax over queries", SOFTMAX, SOFTMAX.replace("dim=-1", "dim=-2")),
        (4, "softmax over dimension 1", SOFTMAX, SOFTMAX.replace("dim=-1", "dim=1")),
        (10, "inverted mask", SOFTMAX, SOFTMAX.replace("~(mask | fully_masked)", "mask")),
        (11, "mask after the softmax", SOFTMAX, "torch.softmax(scores, dim=-1).masked_fill(~mask, 0.0)"),
        (12, "masked scores filled with 0", SOFTMAX, SOFTMAX.replace("-torch.inf", "0.0")),
        (13, "-inf multiplied by the mask", SOFTMAX, "torch.softmax(scores + -torch.inf * ~mask, dim=-1)"),
        (
            14,
            "fully masked rows filled with -inf",
            ZEROED,
            "torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)\n    return weights",
        ),
        (
            15,
            "masked scores filled with -1e9",
            ZEROED,
            "torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1)\n    return weights",
        ),
        (
            None,
            "NaN replaced after the softmax",
            SOFTMAX,
            "scores.masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num()",
        ),
        (None, "weights without gradient", SOFTMAX, f"{SOFTMAX}.detach()"),
        (None, "softmax in float32", SOFTMAX, f"{SOFTMAX.replace('scores', 'scores.float()')}.to(scores.dtype)"),
        (
            None,
            "bias toward later keys",
            SOFTMAX,
            SOFTMAX.replace("scores", "(scores + torch.arange(scores.shape[-1]))"),
        ),
        (None, "first query's mask used for all queries", SOFTMAX, SOFTMAX.replace("mask |", "mask[..., :1, :] |")),
        (
            None,
            "fully masked queries not zeroed",
            "(attn_mask=attn_mask).masked_fill(fully_masked, 0.0)",
            "(attn_mask=attn_mask)",
        ),
    ],
    "attention/multi_head.py": [
        (1, "scaled by 1/√d_model", "return attend(q, k,", "return attend(q / self.n_heads**0.5, k,"),
        (5, "keys projected with the query matrix", "split_heads(self.w_k(key)", "split_heads(self.w_q(key)"),
        (
            6,
            "heads split without a transpose",
            "x.reshape(batch, n, n_heads, d_model // n_heads).transpose(1, 2)",
            "x.reshape(batch, n_heads, n, -1)",
        ),
        (
            7,
            "heads merged without a transpose",
            "x.transpose(1, 2).flatten(start_dim=2)",
            "x.reshape(len(x), x.shape[2], -1)",
        ),
        (
            8,
            "no output projection",
            "self.w_o(merge_heads(self.attend_heads(q, k, v, mask)))",
            "merge_heads(self.attend_heads(q, k, v, mask))",
        ),
        (9, "dropout in evaluation mode", "self.dropout if self.training else 0.0", "self.dropout"),
    ],
    "attention/additive.py": [(None, "no tanh", "torch.tanh(from_queries + from_keys)", "(from_queries + from_keys)")],
    "attention/masks.py": [
        (16, "tril(-1)", TRIL, ".tril(n_key - n_query - 1)"),
        (17, "tril(1)", TRIL, ".tril(n_key - n_query + 1)"),
        (17, "upper triangle", TRIL, ".triu(n_key - n_query)"),
        (
            18,
            "no causal mask",
            f"& {CAUSAL}",
            "& torch.ones(n_key if n_query is None else n_query, n_key, dtype=torch.bool)",
        ),
        (20, "causal and padding masks combined with or", f"& {CAUSAL}", f"| {CAUSAL}"),
        (23, "padding mask on the queries", "[..., None, None, :]", "[..., None, :, None]"),
        (48, "first query aligned with first key", TRIL, ".tril()"),
        (None, "True at padding", "(tokens != pad_id)", "(tokens == pad_id)"),
        (None, "padding is token 0", "(tokens != pad_id)", "(tokens != 0)"),
        (None, "padding is the smallest token", "(tokens != pad_id)", "(tokens > pad_id)"),
        (
            None,
            "padding mask missing from the decoder mask",
            f"padding_mask(tokens, pad_id) & {CAUSAL}",
            f"padding_mask(tokens, -1) & {CAUSAL}",
        ),
    ],
    "attention/positions.py": [
        (
            36,
            "cosine exponents of the next pair",
            "angles.cos()], dim=-1)",
            "(angles * base ** (-2 / d_model)).cos()], dim=-1)",
        ),
        (
            49,
            "halves rotated by interleaved angles",
            ROTATED,
            f"x * cos.repeat_interleave(2, -1) + {HALVES} * sin.repeat_interleave(2, -1)",
        ),
    ],
    "attention/kv_cache.py": [
        (
            47,
            "new keys overwrite old keys",
            "start, end = self.length, self.length + k.shape[2]",
            "start, end = 0, k.shape[2]",
        ),
    ],
    "layers/norms.py": [
        (
            30,
            "LayerNorm over positions and features",
            "wide - wide.mean(dim=-1, keepdim=True)",
            "wide - wide.mean(dim=(-2, -1), keepdim=True)",
        ),
        (32, "eps outside the square root", "torch.sqrt(variance + eps)", "(torch.sqrt(variance) + eps)"),
    ],
    "layers/feed_forward.py": [(33, "no ReLU", "torch.relu(z)", "z")],
    "layers/encoder_layer.py": [
        (25, "x = norm(x); x + attention(x)", "= self.norm_1(x)\n", "= x = self.norm_1(x)\n"),
        (26, "x + norm(feed_forward(x))", POST_NORM, "x + self.norm_2(self.dropout(self.feed_forward(x)))"),
        (
            29,
            "feed-forward residual adds the layer's input",
            POST_NORM_BOTH,
            f"block, {POST_NORM_BOTH.replace('self.norm_1', 'x, self.norm_1').replace('norm_2(x', 'norm_2(block')}",
        ),
        (31, "BatchNorm", POST_NORM, BATCH_NORM),
    ],
    "layers/decoder_layer.py": [
        (
            41,
            "cross-attention to the decoder's own states",
            CROSS,
            CROSS.replace("x, memory, memory_mask", "x, x, mask"),
        ),
        (42, "queries from the encoder", CROSS, CROSS.replace("x, memory, memory_mask", "memory, x, None")),
    ],
    "models/layer_stack.py": [
        (
            34,
            "[layer] * n",
            "self.layer(d_model, n_heads, d_ff, dropout, attention_dropout, activation) for _ in range(n_layers)",
            "[self.layer(d_model, n_heads, d_ff, dropout, attention_dropout, activation)] * n_layers",
        ),
        (35, "no positions", EMBEDDED, "look_up(self.embedding, tokens) * scale"),
        (
            37,
            "positions along the batch dimension",
            EMBEDDED,
            "look_up(self.embedding, tokens) * scale + self.positions[: len(tokens), None]",
        ),
        (38, "embeddings not scaled", "tokens) * scale +", "tokens) +"),
    ],
    "models/encoder.py": [(28, "pre-norm without the final norm", "nn.LayerNorm", "nn.Identity")],
    "models/transformer.py": [
        (18, "no causal mask", TARGET_MASK, f"mask = {NOT_CAUSAL}"),
        (19, "causal mask only in training", TARGET_MASK, f"{TARGET_MASK} if self.training else {NOT_CAUSAL}"),
        (
            21,
            "no padding mask for the source",
            "self.encoder(source, padding_mask(source, self.config.source_pad_id))",
            "self.encoder(source)",
        ),
        (22, "no padding mask in the cross-attention", DECODE, "self.decoder(target, memory, mask)"),
        (
            24,
            "target mask made with the source's padding token",
            TARGET_MASK,
            TARGET_MASK.replace("target_pad_id", "source_pad_id"),
        ),
        (
            27,
            "pre-norm and post-norm swapped",
            "(PreNormEncoder, PreNormDecoder) if",
            "(PreNormEncoder, PreNormDecoder) if not",
        ),
        (43, "decoder gets the source as its input", DECODE, "self.decoder(source, memory, None, memory_mask)"),
    ],
    "generation/sampling.py": [(50, "token that crosses p dropped", ".roll(1, dims=-1)", "")],
    "data/batches.py": [
        (
            39,
            "labels used as the decoder's input",
            "return self.source, self.target[:, :-1]",
            "return self.source, self.target[:, 1:]",
        ),
    ],
    "training/loss.py": [
        (
            40,
            "labels shifted twice",
            "smoothed_cross_entropy(logits, labels,",
            "smoothed_cross_entropy(logits[:, :-1], labels[:, 1:],",
        ),
        (44, "padding included in the loss", "(targets != pad_id)", "(targets == targets)"),
        (45, "softmax before the cross-entropy", LOGITS, f"{LOGITS}.softmax(dim=-1)"),
        (None, "log of the softmax", LOGITS, f"{LOGITS}.softmax(dim=-1).log()"),
        (None, "loss without gradient", LOGITS, f"(logits.detach() + 0 * logits){LOGITS.removeprefix('logits')}"),
    ],
    "training/optimizer.py": [
        (None, "weight decay for vectors", '< 2], "weight_decay": 0.0', '< 2], "weight_decay": weight_decay'),
        (None, "no weight decay for one-column embeddings", "p.dim() >= 2", "p.dim() >= 2 and p.shape[1] > 1"),
    ],
    "training/schedules.py": [
        (None, "warm-up with the wrong exponent", "warmup**-1.5", "warmup**-0.5"),
        (None, "no warm-up", "min(step**-0.5, step * warmup**-1.5)", "step**-0.5"),
    ],
    "training/trainer.py": [
        (46, "accumulated gradients not divided", "(loss / n_tokens).backward()", "loss.backward()")
    ],
}

MUTATIONS = [Mutation(file, *mistake) for file, mistakes in TABLE.items() for mistake in mistakes]

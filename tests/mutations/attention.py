"""Mistakes in attention, masks and positions."""

from tests.mutations.mutation import Mutation

SOFTMAX = "torch.softmax(scores.masked_fill(~(mask | sees_nothing), -torch.inf), dim=-1)"
UNMASKED_SOFTMAX = "return torch.softmax(scores, dim=-1)"
ZEROED = "return weights.masked_fill(sees_nothing, 0.0)"
FUSED_MASK = "bias_or_mask = allowed if bias is None else torch.where(allowed, bias, -torch.inf)"
FUSED_CALL = "attn_mask=bias_or_mask, dropout_p=dropout"

DOT_PRODUCT = [
    Mutation(2, "no scale", {"(q / k.shape[-1] ** 0.5) @ k": "q @ k"}),
    Mutation(2, "scaled by 1/d_k", {"k.shape[-1] ** 0.5": "k.shape[-1]"}),
    Mutation(2, "no scale, fused", {FUSED_CALL: f"{FUSED_CALL}, scale=1.0"}),
    Mutation(2, "no scale, fused, no mask", {"attn_mask=bias, ": "attn_mask=bias, scale=1.0, "}),
    Mutation(3, "softmax over queries", {SOFTMAX: SOFTMAX.replace("dim=-1", "dim=-2")}),
    Mutation(3, "softmax over queries, no mask", {UNMASKED_SOFTMAX: "return torch.softmax(scores, dim=-2)"}),
    Mutation(4, "softmax over axis 1", {SOFTMAX: SOFTMAX.replace("dim=-1", "dim=1")}),
    Mutation(4, "softmax over axis 1, no mask", {UNMASKED_SOFTMAX: "return torch.softmax(scores, dim=1)"}),
    Mutation(
        9, "weights always dropped", {"masked_softmax(scores, mask), dropout": "masked_softmax(scores, mask), 0.1"}
    ),
    Mutation(9, "weights always dropped, fused", {FUSED_CALL: FUSED_CALL.replace("p=dropout", "p=0.1")}),
    Mutation(10, "inverted mask", {"~(mask | sees_nothing)": "mask"}),
    Mutation(10, "inverted mask, fused", {"allowed = mask | sees_nothing": "allowed = ~mask | sees_nothing"}),
    Mutation(11, "mask after the softmax", {SOFTMAX: "torch.softmax(scores, dim=-1).masked_fill(~mask, 0.0)"}),
    Mutation(12, "hidden scores 0", {"sees_nothing), -torch.inf": "sees_nothing), 0.0"}),
    Mutation(12, "hidden scores 1e-9", {"sees_nothing), -torch.inf": "sees_nothing), 1e-9"}),
    Mutation(
        12, "hidden scores 0, fused", {FUSED_MASK: "bias_or_mask = torch.where(allowed, bias or 0.0, 0.0).to(q.dtype)"}
    ),
    Mutation(13, "-inf times 0", {SOFTMAX: "torch.softmax(scores + -torch.inf * ~mask, dim=-1)"}),
    Mutation(14, "rows of -inf", {"~(mask | sees_nothing)": "~mask", ZEROED: "return weights"}),
    Mutation(14, "rows of -inf, mended after the softmax", {"~(mask | sees_nothing)": "~mask"}),
    Mutation(14, "rows of -inf, fused", {"allowed = mask | sees_nothing": "allowed = mask"}),
    Mutation(15, "-1e9", {"~(mask | sees_nothing), -torch.inf": "~mask, -1e9", ZEROED: "return weights"}),
    Mutation(15, "-1e9, fused", {"    return output.masked_fill(sees_nothing, 0.0)": "    return output"}),
]

MULTI_HEAD = [
    Mutation(1, "scaled by 1/√d_model", {"attend(q, k,": "attend(q / self.n_heads**0.5, k,"}),
    Mutation(1, "scaled by 1/√d_model, recorded", {"attention(q, k,": "attention(q / self.n_heads**0.5, k,"}),
    Mutation(5, "keys projected as queries", {"self.w_k(key)": "self.w_q(key)"}),
    Mutation(
        6,
        "heads split by view alone",
        {"x.reshape(batch, n, n_heads, d_model // n_heads).transpose(1, 2)": "x.reshape(batch, n_heads, n, -1)"},
    ),
    Mutation(
        7, "heads merged by view alone", {"x.transpose(1, 2).flatten(start_dim=2)": "x.reshape(len(x), x.shape[2], -1)"}
    ),
    Mutation(
        8,
        "no w_o",
        {"return self.w_o(merge_heads(self.mix(q, k, v, mask)))": "return merge_heads(self.mix(q, k, v, mask))"},
    ),
    Mutation(9, "weights dropped also in eval", {"self.dropout if self.training else 0.0": "self.dropout"}),
    Mutation(21, "mask forgotten", {"self.mix(q, k, v, mask)": "self.mix(q, k, v, None)"}),
]

GROUPED_QUERY = [
    Mutation(5, "keys projected as queries", {"turn(split_heads(self.w_k(x)": "turn(split_heads(self.w_q(x)"}),
    Mutation(8, "no w_o", {"self.w_o(merge_heads(self.mix(q, repeat": "(merge_heads(self.mix(q, repeat"}),
    Mutation(21, "mask forgotten", {"repeat_kv(v, group), mask, bias": "repeat_kv(v, group), None, bias"}),
]

MASKS = [
    Mutation(16, "tril(-1)", {"tril(n_key - n_query)": "tril(n_key - n_query - 1)"}),
    Mutation(17, "tril(1)", {"tril(n_key - n_query)": "tril(n_key - n_query + 1)"}),
    Mutation(17, "triu", {"tril(n_key - n_query)": "triu(n_key - n_query)"}),
    Mutation(18, "no causal mask", {" & causal_mask(n_key if n_query is None else n_query, n_key, tokens.device)": ""}),
    Mutation(20, "causal | pad", {"pad_id) & causal": "pad_id) | causal"}),
    Mutation(21, "padding forgotten in the decoder", {"padding_mask(tokens, pad_id) & causal": "causal"}),
    Mutation(23, "padding on the queries", {"[..., None, None, :]": "[..., None, :, None]"}),
    Mutation(48, "first query aligned with first key", {"tril(n_key - n_query)": "tril()"}),
]

POSITIONS = [
    Mutation(
        36,
        "cosine exponents of the next pair",
        {"angles.cos()], ": "(angles * base ** (-2 / d_model)).cos()], "},
    ),
    Mutation(
        49,
        "halves turned by interleaved angles",
        {
            "        even, odd = x[..., 0::2], x[..., 1::2]\n": "        left, right = x.chunk(2, dim=-1)\n",
            "return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(start_dim=-2)": (
                "return x * cos.repeat_interleave(2, -1) + torch.cat([-right, left], -1) * sin.repeat_interleave(2, -1)"
            ),
        },
    ),
]

ADDITIVE = [
    Mutation(5, "keys projected as queries", {"keys @ w_k.transpose(0, 1)": "keys @ w_q.transpose(0, 1)"}),
    Mutation(21, "mask forgotten", {"masked_softmax(scores, mask)": "masked_softmax(scores, None)"}),
    Mutation(33, "no tanh", {"torch.tanh(from_queries + from_keys)": "(from_queries + from_keys)"}),
]

TABLE = {
    "dot_product": DOT_PRODUCT,
    "additive": ADDITIVE,
    "multi_head": MULTI_HEAD,
    "grouped_query": GROUPED_QUERY,
    "masks": MASKS,
    "positions": POSITIONS,
}

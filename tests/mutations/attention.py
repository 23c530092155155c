"""Mistakes in attention, masks and positions."""

from tests.mutations.mutation import Edit, Mutation

SCALED = "(_q / _k.shape[-1] ** 0.5) @ _k.transpose(-2, -1)"
SOFTMAX = "torch.softmax(_scores.masked_fill(~(_mask | _fully_masked), -torch.inf), dim=-1)"
UNMASKED_SOFTMAX = "return torch.softmax(_scores, dim=-1)"
ZEROED = "return _weights.masked_fill(_fully_masked, 0.0)"
FUSED, UNMASKED_FUSED = "_kernel(attn_mask=_mask)", "_kernel(attn_mask=bias, is_causal=is_causal)"
FUSED_MASK = "_mask if bias is None else torch.where(_mask, bias, -torch.inf)"


def without_nan_guard(fill: str) -> Edit:
    """Hide keys by this score, also where no key is left."""
    return Edit("masked_softmax", SOFTMAX, f"torch.softmax(_scores.masked_fill(~_mask, {fill}), dim=-1)")


DOT_PRODUCT = [
    Mutation(2, "no scale", Edit("scaled_dot_product_attention", SCALED, "_q @ _k.transpose(-2, -1)")),
    Mutation(2, "scaled by 1/d_k", Edit("scaled_dot_product_attention", "_k.shape[-1] ** 0.5", "_k.shape[-1]")),
    Mutation(2, "no scale, fused", Edit("attend", FUSED, FUSED.replace(")", ", scale=1.0)"))),
    Mutation(
        2, "no scale, fused, no mask", Edit("attend", UNMASKED_FUSED, UNMASKED_FUSED.replace(")", ", scale=1.0)"))
    ),
    Mutation(3, "softmax over queries", Edit("masked_softmax", SOFTMAX, SOFTMAX.replace("dim=-1", "dim=-2"))),
    Mutation(
        3,
        "softmax over queries, no mask",
        Edit("masked_softmax", UNMASKED_SOFTMAX, "return torch.softmax(_scores, dim=-2)"),
    ),
    Mutation(4, "softmax over axis 1", Edit("masked_softmax", SOFTMAX, SOFTMAX.replace("dim=-1", "dim=1"))),
    Mutation(
        4,
        "softmax over axis 1, no mask",
        Edit("masked_softmax", UNMASKED_SOFTMAX, "return torch.softmax(_scores, dim=1)"),
    ),
    Mutation(
        9,
        "weights always dropped",
        Edit("scaled_dot_product_attention", "F.dropout(_weights, dropout)", "F.dropout(_weights, 0.1)"),
    ),
    Mutation(
        9,
        "weights always dropped, fused",
        Edit("attend", "partial(..., dropout_p=dropout)", "partial(..., dropout_p=0.1)"),
    ),
    Mutation(10, "inverted mask", Edit("masked_softmax", "~(_mask | _fully_masked)", "_mask")),
    Mutation(
        10,
        "inverted mask, fused",
        Edit("attend", "_allowed = _mask | _fully_masked", "_allowed = ~_mask | _fully_masked"),
    ),
    Mutation(
        11,
        "mask after the softmax",
        Edit("masked_softmax", SOFTMAX, "torch.softmax(_scores, dim=-1).masked_fill(~_mask, 0.0)"),
    ),
    Mutation(
        12, "hidden scores 0", Edit("masked_softmax", "_s.masked_fill(_m, -torch.inf)", "_s.masked_fill(_m, 0.0)")
    ),
    Mutation(
        12, "hidden scores 1e-9", Edit("masked_softmax", "_s.masked_fill(_m, -torch.inf)", "_s.masked_fill(_m, 1e-9)")
    ),
    Mutation(
        12,
        "hidden scores 0, fused",
        Edit("attend", FUSED_MASK, "torch.where(_mask, bias or 0.0, 0.0).to(q.dtype)"),
    ),
    Mutation(
        13, "-inf times 0", Edit("masked_softmax", SOFTMAX, "torch.softmax(_scores + -torch.inf * ~_mask, dim=-1)")
    ),
    Mutation(14, "rows of -inf", without_nan_guard("-torch.inf"), Edit("masked_softmax", ZEROED, "return _weights")),
    Mutation(14, "rows of -inf, repaired after the softmax", without_nan_guard("-torch.inf")),
    Mutation(14, "rows of -inf, fused", Edit("attend", "_allowed = _mask | _fully_masked", "_allowed = _mask")),
    Mutation(15, "-1e9", without_nan_guard("-1e9"), Edit("masked_softmax", ZEROED, "return _weights")),
    Mutation(15, "-1e9, fused", Edit("attend", ZEROED, "return _weights")),
    Mutation(18, "no causal mask, fused", Edit("attend", UNMASKED_FUSED, "_kernel(attn_mask=bias)")),
]

TO_SOURCE = "MultiHeadAttention.attend_to_source"
ITS_OWN = "return self.w_o(merge_heads(self.attend_heads(_q, source.k, source.v, mask)))"
SHARED = (
    "_output = self.attend_heads(_q, source.k, source.v, mask)\n"
    "return self.w_o(merge_heads(ungroup_beams(_output, _rows)))"
)

MULTI_HEAD = [
    Mutation(
        1,
        "scaled by 1/√d_model",
        Edit("AttentionBase.attend_heads", "attend(_q, ...)", "attend(_q / self.n_heads**0.5, ...)"),
    ),
    Mutation(
        1,
        "scaled by 1/√d_model, recorded",
        Edit(
            "AttentionBase.attend_heads",
            "scaled_dot_product_attention(_q, ...)",
            "scaled_dot_product_attention(_q / self.n_heads**0.5, ...)",
        ),
    ),
    Mutation(
        18,
        "no causal mask, recorded",
        Edit("AttentionBase.attend_heads", "causal_mask(...)", "causal_mask(...) | True"),
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
    Mutation(
        21,
        "mask forgotten",
        Edit("MultiHeadAttention.forward", "self.attend_heads(_q, _k, _v, mask)", "self.attend_heads(_q, _k, _v)"),
    ),
    *[
        mistake
        for whose, old in [("its own", ITS_OWN), ("shared", SHARED)]
        for mistake in [
            Mutation(8, f"no w_o, {whose} source", Edit(TO_SOURCE, old, old.replace("self.w_o(merge", "(merge"))),
            Mutation(22, f"mask forgotten, {whose} source", Edit(TO_SOURCE, old, old.replace(", mask", ""))),
        ]
    ],
]

GROUPED_QUERY = [
    Mutation(5, "keys projected as queries", Edit("GroupedQueryAttention", "self.w_k(_x)", "self.w_q(_x)")),
    Mutation(8, "no w_o", Edit("GroupedQueryAttention", "return self.w_o(_heads)", "return _heads")),
    Mutation(
        21,
        "mask forgotten",
        Edit(
            "GroupedQueryAttention",
            "self.attend_heads(_q, _k, _v, mask, ...)",
            "self.attend_heads(_q, _k, _v, None, ...)",
        ),
    ),
]

TRIL = "_ones.tril(_n_past)"
BOTH_MASKS = "padding_mask(_tokens, pad_id) & _causal"

MASKS = [
    Mutation(16, "tril(-1)", Edit("causal_mask", TRIL, "_ones.tril(_n_past - 1)")),
    Mutation(17, "tril(1)", Edit("causal_mask", TRIL, "_ones.tril(_n_past + 1)")),
    Mutation(17, "triu", Edit("causal_mask", TRIL, "_ones.triu(_n_past)")),
    Mutation(18, "no causal mask", Edit("decoder_mask", BOTH_MASKS, "padding_mask(_tokens, pad_id)")),
    Mutation(20, "causal | pad", Edit("decoder_mask", BOTH_MASKS, "padding_mask(_tokens, pad_id) | _causal")),
    Mutation(21, "padding forgotten in the decoder", Edit("decoder_mask", BOTH_MASKS, "_causal")),
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

ADDITIVE = [
    Mutation(
        5,
        "keys projected as queries",
        Edit("additive_scores", "keys @ w_k.transpose(0, 1)", "keys @ w_q.transpose(0, 1)"),
    ),
    Mutation(
        21, "mask forgotten", Edit("AdditiveAttention.forward", "masked_softmax(_s, mask)", "masked_softmax(_s, None)")
    ),
    Mutation(33, "no tanh", Edit("additive_scores", "torch.tanh(_hidden)", "_hidden")),
]

TABLE = {
    "attention/dot_product": DOT_PRODUCT,
    "attention/additive": ADDITIVE,
    "attention/multi_head": MULTI_HEAD,
    "attention/grouped_query": GROUPED_QUERY,
    "attention/masks": MASKS,
    "attention/positions": POSITIONS,
}

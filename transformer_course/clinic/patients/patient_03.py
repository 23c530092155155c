"""Patient 3."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from transformer_course.clinic.case_report import Report
from transformer_course.clinic.patient import RotaryDecoderOnly
from transformer_lab.attention import grouped_query
from transformer_lab.attention.kv_cache import KVCache
from transformer_lab.attention.multi_head import merge_heads, split_heads
from transformer_lab.attention.positions import Positional


class GroupedQueryAttention(grouped_query.GroupedQueryAttention):
    """The attention of patient 3."""

    def forward(
        self,
        x: Float[Tensor, "batch n d_model"],
        mask: Bool[Tensor, "*#batch_and_heads #n #n_key"] | None = None,
        positional: Positional | None = None,
        cache: KVCache | None = None,
        is_causal: bool = False,
    ) -> Float[Tensor, "batch n d_model"]:
        """Let every position attend to all positions in the same sequence."""
        q = split_heads(self.w_q(x), self.n_heads)
        k, v = split_heads(self.w_k(x), self.n_kv_heads), split_heads(self.w_v(x), self.n_kv_heads)
        n_before = 0 if cache is None else cache.length
        if cache is not None:
            k, v = cache.append(k, v)
        if positional is not None and positional.rotation is not None:
            q, new = positional.rotation.rotate(q), positional.rotation.rotate(k[:, :, n_before:])
            k = torch.cat([k[:, :, :n_before], new], dim=2)
        return self.w_o(merge_heads(self.attend_heads(q, k, v, mask, is_causal=is_causal)))


class Patient(RotaryDecoderOnly):
    """Patient 3."""

    number = 3
    complaint = "The training loss is low, but most answers go wrong after the first letter."
    trains_as_twin = True
    part = GroupedQueryAttention


REPORT = Report(
    diagnosis="H",
    bug="Keys are cached before they are rotated. The call that computes them rotates them afterward, but all later "
    "calls read them unrotated from the cache, while their own queries are rotated.",
    repair="q, k = rotation.rotate(q), rotation.rotate(k)  # and only then: k, v = cache.append(k, v)",
    address="gpt-neox#363, FIX: cache un-RoPE'd KVs. There, caching unrotated keys is the fix",
    test="Logits with a cache, token by token, equal the logits without a cache within 1e-5 at every position.",
)

"""Correct but unusual answers to the exercises of lesson 11."""

import copy
import math

import torch
from torch import nn
from torch.nn import functional as F

from transformer_course.exercises import every_exercise
from transformer_course.lesson import notebook
from transformer_lab.attention import grouped_query
from transformer_lab.layers import feed_forward, norms

SwiGLU = every_exercise()["SwiGLU"].reference
GroupedQueryAttention = every_exercise()["GroupedQueryAttention"].reference
LoRALinear = every_exercise()["LoRALinear"].reference


def norm_vector_by_vector(x, weight, eps=1e-6):
    rows = x.float().reshape(-1, x.shape[-1])
    normed = [row * weight.float() / (row.dot(row) / len(row) + eps) ** 0.5 for row in rows]
    return torch.stack(normed).view(x.shape).to(x.dtype)


def norm_by_length(x, weight, eps=1e-6):
    rms = x.float().norm(dim=-1, keepdim=True) / math.sqrt(x.shape[-1])
    return (x.float() / torch.hypot(rms, torch.tensor(eps).sqrt())).type_as(x) * weight


def norm_in_float64(x, weight, eps=1e-6):
    wide = x.double()
    factor = (wide.square().sum(-1, True) / x.size(-1) + eps).rsqrt()
    return torch.einsum("...d,d->...d", wide * factor, weight.double()).to(x.dtype)


class SiLUByHand(SwiGLU):
    def forward(self, x):
        gate = self.w_gate(x)
        return self.w_down(self.w_up(x) * gate * torch.sigmoid(gate))


class GateAndUpAtOnce(SwiGLU):
    def forward(self, x):
        gate, up = (x @ torch.cat([self.w_gate.weight, self.w_up.weight]).T).chunk(2, dim=-1)
        hidden = nn.SiLU()(gate)
        hidden *= up  # modifies only its own tensor
        return F.linear(hidden, self.w_down.weight)


class SwiGLUInEinsum(SwiGLU):
    def forward(self, x):
        gate, up = F.linear(x, self.w_gate.weight), F.linear(x, self.w_up.weight)
        return torch.einsum("...f,...f,df->...d", gate / (1 + torch.exp(-gate)), up, self.w_down.weight)


class InGroups(GroupedQueryAttention):
    """Copies nothing: each key-value head is multiplied with a group of query heads."""

    def forward(self, x, mask=None):
        batch, n, d_model = x.shape
        group, d_k = self.n_heads // self.n_kv_heads, d_model // self.n_heads
        q = self.w_q(x).view(batch, n, self.n_kv_heads, group, d_k)
        k, v = (layer(x).view(batch, n, self.n_kv_heads, d_k) for layer in (self.w_k, self.w_v))
        scores = torch.einsum("bqgrd,bkgd->bgrqk", q, k) / d_k**0.5
        mask = torch.ones(n, n, dtype=torch.bool) if mask is None else mask
        mask = mask.expand(batch, self.n_heads, n, n).unflatten(1, (self.n_kv_heads, group))
        weights = scores.masked_fill(~mask, -1e30).softmax(-1) * mask
        return self.w_o(torch.einsum("bgrqk,bkgd->bqgrd", weights, v).reshape(batch, n, d_model))


class HeadByHead(GroupedQueryAttention):
    def forward(self, x, mask=None):
        q, k, v = (layer(x) for layer in (self.w_q, self.w_k, self.w_v))
        d_k, found = x.shape[-1] // self.n_heads, []
        for head in range(self.n_heads):
            shared = head * self.n_kv_heads // self.n_heads
            mine, theirs = slice(head * d_k, (head + 1) * d_k), slice(shared * d_k, (shared + 1) * d_k)
            weights = q[..., mine] @ k[..., theirs].mT * d_k**-0.5
            if mask is None:
                weights = weights.softmax(-1)
            else:
                allowed = mask if mask.dim() == 2 else mask[:, head if mask.shape[1] > 1 else 0]
                weights = weights.masked_fill(~allowed, -torch.inf).softmax(-1).nan_to_num()
            found.append(weights @ v[..., theirs])
        return self.w_o(torch.cat(found, -1))


class ByIndex(GroupedQueryAttention):
    def forward(self, x, mask=None):
        parts = notebook.parts
        q = parts.split_heads(self.w_q(x), self.n_heads)
        shared = torch.arange(self.n_heads) // (self.n_heads // self.n_kv_heads)
        k, v = (parts.split_heads(layer(x), self.n_kv_heads)[:, shared] for layer in (self.w_k, self.w_v))
        if mask is None:
            return self.w_o(parts.merge_heads(parts.scaled_dot_product_attention(q, k, v)))
        return self.w_o(parts.merge_heads(parts.masked_attention(q, k, v, mask)))


class FusedInGroups(GroupedQueryAttention):
    def forward(self, x, mask=None):
        q = self.w_q(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        k, v = (layer(x).unflatten(-1, (self.n_kv_heads, -1)).transpose(1, 2) for layer in (self.w_k, self.w_v))
        if mask is None:
            return self.w_o(F.scaled_dot_product_attention(q, k, v, enable_gqa=True).transpose(1, 2).flatten(2))
        empty = ~mask.any(-1, keepdim=True)
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask | empty, enable_gqa=True).masked_fill(empty, 0)
        return self.w_o(heads.transpose(1, 2).flatten(2))


class MergedForOneCall(LoRALinear):
    def forward(self, x):
        return F.linear(x, torch.addmm(self.linear.weight, self.b, self.a, alpha=self.scale), self.linear.bias)


class OfPlainParts(nn.Module):
    """Freezes one parameter at a time, stores the scale in a buffer and reads sizes from the weight."""

    def __init__(self, linear, rank, alpha):
        super().__init__()
        d_out, d_in = linear.weight.shape
        self.b = nn.Parameter(torch.zeros(d_out, rank))
        self.a = nn.Parameter(torch.empty(rank, d_in))
        nn.init.kaiming_uniform_(self.a, a=math.sqrt(5))
        self.linear = linear
        for parameter in linear.parameters():
            parameter.requires_grad = False
        self.register_buffer("factor", torch.tensor(alpha / rank))

    def forward(self, x):
        return self.linear(x) + torch.einsum("...i,ri,or->...o", x, self.a, self.b) * self.factor


class OfACopy(nn.Module):
    """Freezes a copy of the layer and leaves the original unchanged."""

    def __init__(self, linear, rank, alpha):
        super().__init__()
        self.linear, self.alpha = copy.deepcopy(linear), alpha
        self.a = nn.Parameter(0.01 * torch.randn(rank, linear.in_features))
        self.b = nn.Parameter(torch.zeros(linear.out_features, rank))
        for name, parameter in self.named_parameters():
            parameter.requires_grad_(name in ("a", "b"))

    def forward(self, x):
        change = F.linear(F.linear(x, self.a), self.b)
        return torch.add(self.linear(x), change, alpha=self.alpha / self.a.shape[0])


def pairs_by_index(weight, d_k):
    rows = torch.arange(len(weight))
    place, head = rows % d_k, rows // d_k
    return weight[head * d_k + place // 2 + place % 2 * (d_k // 2)]


def pairs_head_by_head(weight, d_k):
    heads = [torch.stack(head.chunk(2), dim=1).reshape(d_k, -1) for head in weight.split(d_k)]
    return torch.cat(heads)


UNUSUAL = {
    "pairs_from_halves": {"by index": pairs_by_index, "head by head": pairs_head_by_head},
    "rms_norm": {
        "torch's": lambda x, weight, eps=1e-6: F.rms_norm(x, x.shape[-1:], weight, eps),
        "the library's": norms.rms_norm,
        "vector by vector": norm_vector_by_vector,
        "by length": norm_by_length,
        "in float64": norm_in_float64,
    },
    "SwiGLU": {
        "the library's": feed_forward.SwiGLU,
        "SiLU by hand": SiLUByHand,
        "two layers at once": GateAndUpAtOnce,
        "einsum": SwiGLUInEinsum,
    },
    "GroupedQueryAttention": {
        "the library's": grouped_query.GroupedQueryAttention,
        "in groups": InGroups,
        "head by head": HeadByHead,
        "by index": ByIndex,
        "torch's": FusedInGroups,
    },
    "LoRALinear": {"merged for one call": MergedForOneCall, "of plain parts": OfPlainParts, "of a copy": OfACopy},
}

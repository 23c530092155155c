# %% [markdown] id="title"
# # 11 · The modern block: from 2017 to Llama and Qwen
#
# ```
# What is the capital of France?
# The capital of France is Paris.
# ```
#
# At the end of this lesson, a published Llama with 135 million parameters gives this answer. It runs in parts that
# *you* wrote.
#
# **The question.** Today's models are still Transformers, yet most parts of the block have changed since 2017. What is
# new, and what does each change buy?
#
# **Afterwards you can** write the parts of a Llama block and the core of DeepSeek's latent attention, measure a change
# against the noise of seeds, and load a published Llama into your own parts.
#
# Reading: 40 minutes. Exercises: 95 minutes (six core, one stretch ★). With all predictions, runs and questions: about
# 160 minutes.

# %% [markdown]
# ## Before you start
#
# Three questions from earlier lessons. Answer each one aloud, then open it.
#
# <details><summary>Lesson 05: what does RoPE rotate, and by which angle?</summary>
#
# Queries and keys, after their projections. Pair i of a vector at position t is rotated by t · base^(−2i/d).
# </details>
#
# <details><summary>Lesson 06: what does LayerNorm do to a vector?</summary>
#
# It subtracts the mean of its features and divides by their standard deviation. Then a learned weight and bias scale
# and shift each feature.
# </details>
#
# <details><summary>Lesson 08: why was each ablation run with three seeds?</summary>
#
# Because two runs of the *same* model differ, too. A difference says something only if it is larger than that.
# </details>

# %% id="imports"
import copy
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from datetime import date, timedelta
from functools import partial
from pathlib import Path

import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from transformer_course import check, compare, diagrams, hint, parts, plots, solution, tally
from transformer_course.published_models.in_lesson import published_in_lesson
from transformer_course.stored_models.stored_model import FOLDER
from transformer_lab import LanguageModel, LanguageModelConfig, trace_shapes
from transformer_lab.data.dates import write_date
from transformer_lab.data.docstrings import python_docstrings
from transformer_lab.pretrained.hub import read_json, read_model_tensors
from transformer_lab.pretrained.load import load_language_model, save_pretrained

# %%
_ = torch.manual_seed(11)

# %%
diagrams.modern_block.blocks()

# %% [markdown]
# On the left is the paper's block, on the right Llama's; `q_norm` and `k_norm` are Qwen 3's. Each change buys one of
# four things, in this order:
#
# | what it buys | what was changed |
# |---|---|
# | a simpler or better block | RMSNorm, SwiGLU; RoPE (lesson 05) |
# | memory | grouped queries, latent attention, local layers, sparse attention |
# | stable training | pre-norm (lesson 06), QK-norm, norms after the sublayers |
# | capacity | a mixture of experts |

# %% [markdown]
# ## RMSNorm: leave the mean alone
#
# LayerNorm centers each vector and scales it to a standard deviation of 1. **RMSNorm** (Zhang and Sennrich, 2019) does
# not center: it only divides by the root mean square. It has no bias either.
#
# $$\operatorname{RMSNorm}(x)_i = w_i\,\frac{x_i}{\sqrt{\frac{1}{d}\sum_j x_j^2 + \varepsilon}}$$
#
# $x$ is one vector of shape (d). $w$ also has shape (d) and starts as ones.
#
# **Predict.** x is (5, 5, 5, 5). What is the first number of its LayerNorm, and of its RMSNorm?

# %% tags=["prediction"]
prediction_layer, prediction_rms = ..., ...

# %%
equal = torch.full((4,), 5.0)
compare(prediction_layer, measured=round(F.layer_norm(equal, (4,)).tolist()[0]))
compare(prediction_rms, measured=round(F.rms_norm(equal, (4,)).tolist()[0]))

# %% [markdown]
# **Exercise.** Write it. (In float16 the square of 256 is infinite: compute in float32, with `x.float()`, and return
# the dtype of x, with `.to(x.dtype)`.)


# %% id="rms_norm" tags=["exercise"]
def rms_norm(x: Float[Tensor, "*batch d"], weight: Float[Tensor, " d"], eps: float = 1e-6) -> Float[Tensor, "*batch d"]:
    """Return every vector divided by the root mean square of its features, and then each feature scaled."""
    raise NotImplementedError


# %% id="check-rms_norm"
check(rms_norm)


# %%
class RMSNorm(nn.Module):
    """The function as a module, which holds the weight."""

    def __init__(self, d: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(d)), eps

    def forward(self, x: Tensor) -> Tensor:
        return parts.rms_norm(x, self.weight, self.eps)


# %% [markdown]
# ## SwiGLU: a gate for each hidden feature
#
# In a **gated linear unit** (GLU; Dauphin et al., 2016), one projection scales another. **SwiGLU** (Shazeer, 2020) is
# the kind with SiLU at the gate, $\operatorname{silu}(z) = z / (1 + e^{-z})$, a smooth ReLU:
#
# $$\operatorname{SwiGLU}(x) = W_\text{down}\,\bigl(\operatorname{silu}(W_\text{gate}\,x) \odot W_\text{up}\,x\bigr)$$
#
# ⊙ multiplies element by element. `w_gate` and `w_up` are Linear(d_model, d_ff), `w_down` is Linear(d_ff, d_model), all
# without bias. (Why does it work? Its author offers no explanation but "divine benevolence".)

# %%
diagrams.modern_block.gated()

# %% [markdown]
# **Predict.** A feed-forward network of two matrices with d_model = 32 has d_ff = 128. With what d_ff does SwiGLU have
# about as many parameters?

# %% tags=["prediction"]
prediction = ...

# %%
two, three = 2 * 32 * 128, [3 * 32 * d_ff for d_ff in range(129)]
compare(prediction, measured=min(range(129), key=lambda d_ff: abs(three[d_ff] - two)))

# %% [markdown]
# With three matrices instead of two, the width is two thirds.
#
# **Exercise.** Write `forward`. (`F.silu` is given.)


# %% id="SwiGLU" tags=["exercise"]
class SwiGLU(nn.Module):
    """A feed-forward network in which one projection decides how much of another passes."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w_gate = nn.Linear(d_model, d_ff, bias=False)
        self.w_up = nn.Linear(d_model, d_ff, bias=False)
        self.w_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        raise NotImplementedError


# %% id="check-SwiGLU"
check(SwiGLU)

# %% [markdown]
# ## Saving memory: grouped-query attention
#
# In grouped-query attention (lesson 10), neighboring query heads share one head of keys and values:

# %%
diagrams.kv_cache.shared_heads(n_heads=4, n_kv_heads=(4, 2))

# %% [markdown]
# **Exercise.** Write `forward`, as self-attention of x. The pieces of earlier lessons are in `parts`: `split_heads`,
# `merge_heads` and `masked_attention`. (This one needs a mask; where `mask` is None, all attend to all. A query that
# may attend to nothing gets zeros, as in lesson 04.)


# %% id="GroupedQueryAttention" tags=["exercise"]
class GroupedQueryAttention(nn.Module):
    """Let several heads of queries share each head of keys and values."""

    def __init__(self, d_model: int, n_heads: int, n_kv_heads: int) -> None:
        super().__init__()
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        d_kv = d_model // n_heads * n_kv_heads
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_kv, bias=False)
        self.w_v = nn.Linear(d_model, d_kv, bias=False)
        self.w_o = nn.Linear(d_model, d_model, bias=False)

    def forward(
        self, x: Float[Tensor, "batch n d_model"], mask: Bool[Tensor, "*#batch #n #n"] | None = None
    ) -> Float[Tensor, "batch n d_model"]:
        raise NotImplementedError


# %% id="check-GroupedQueryAttention"
check(GroupedQueryAttention)

# %% [markdown]
# ## Saving memory: multi-head latent attention
#
# MLA (lesson 10) caches one short vector per token, the **latent vector** c. Each head computes its own keys and values
# from it, as on the left of the picture. (The right comes afterwards.)

# %%
diagrams.modern_block.latent()

# %% [markdown]
# **Exercise.** The queries are split into heads already. Head h makes its keys from the latent vectors with `w_k[h]`,
# its values with `w_v[h]`. All tokens of `latent` are in the past. (In the models, 64 more numbers carry RoPE; here
# there are none.)


# %% id="latent_attention" tags=["exercise"]
def latent_attention(
    q: Float[Tensor, "batch n_heads n_query d"],
    latent: Float[Tensor, "batch n_key r"],
    w_k: Float[Tensor, "n_heads r d"],
    w_v: Float[Tensor, "n_heads r d"],
) -> Float[Tensor, "batch n_heads n_query d"]:
    """Let each head attend to keys and values that it makes, by matrices of its own, of the tokens' latent vectors."""
    raise NotImplementedError


# %% id="check-latent_attention"
check(latent_attention)


# %%
class LatentAttention(nn.Module):
    """Read one token after another; of each, only its latent vector is kept."""

    def __init__(self, d_model: int, n_heads: int, r: int) -> None:
        super().__init__()
        self.n_heads, self.cache = n_heads, torch.zeros(1, 0, r)
        self.w_q, self.w_latent, self.w_o = (nn.Linear(d_model, n, bias=False) for n in (d_model, r, d_model))
        self.w_k, self.w_v = (nn.Parameter(torch.randn(n_heads, r, d_model // n_heads) / r**0.5) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        self.cache = torch.cat([self.cache, self.w_latent(x)], dim=1)
        q = parts.split_heads(self.w_q(x), self.n_heads)
        return self.w_o(parts.merge_heads(self.attend(q)))

    def attend(self, q: Tensor) -> Tensor:
        return parts.latent_attention(q, self.cache, self.w_k, self.w_v)


# %% [markdown]
# Must the keys of all old tokens be made again for each new one? A score is $q^\top (W^\top c) = (W q)^\top c$: the
# matrix can be applied to the *query*, as on the right of the picture, and `w_v` after the average.


# %%
class Absorbed(LatentAttention):
    def attend(self, q: Tensor) -> Tensor:
        c = self.cache[:, None]  # for all heads
        weights = torch.softmax(q @ self.w_k.mT @ c.mT / q.shape[-1] ** 0.5, dim=-1)
        return weights @ c @ self.w_v


# %% [markdown]
# **Predict.** Both read 200 tokens, with 8 heads of width 64 and r = 64. How many times as many numbers would the cache
# hold with the keys and values of every head? Is the output of `Absorbed` `"equal"` or `"another"`? Its operations,
# divided by those of making all keys again: nearest to 0.5, 0.1 or 0.02? And with r = 256, divided by those of
# attending to *cached* keys and values: nearest to 0.2, 1 or 5?

# %% tags=["prediction"]
prediction_numbers, prediction_output = ..., ...
prediction_again, prediction_cached = ..., ...


# %% tags=["hide-input"]
def n_operations(attend: Callable) -> int:
    """Count what one new token costs."""
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        attend(torch.randn(1, 8, 1, 64))
    return counter.get_total_flops()


x, ways = torch.randn(1, 200, 512), [way(d_model=512, n_heads=8, r=64) for way in (LatentAttention, Absorbed)]
ways[1].load_state_dict(ways[0].state_dict())
with torch.no_grad():
    outputs = [torch.cat([way(x[:, i : i + 1]) for i in range(200)]) for way in ways]
k = v = torch.randn(1, 8, 200, 64)
plain = n_operations(lambda q: (q @ k.mT).softmax(dim=-1) @ v)
costs = {f"keys and values of {heads} heads, cached": (2 * heads * 64, plain) for heads in (8, 2)}
for r in (64, 256):
    for name, kind in (("keys made again", LatentAttention), ("absorbed", Absorbed)):
        way = kind(d_model=512, n_heads=8, r=r)
        way.cache = torch.randn(1, 200, r)
        costs[f"r = {r}, {name}"] = (r, n_operations(way.attend))
(cached, _), _, (short, again), (_, absorbed), _, (_, wide) = costs.values()

# %% tags=["hide-input"]
compare(prediction_numbers, measured=cached / short)
compare(prediction_output, measured="equal" if torch.allclose(*outputs, atol=1e-4) else "another")
compare(prediction_again, measured=absorbed / again, choices=(0.5, 0.1, 0.02))
compare(prediction_cached, measured=wide / plain, choices=(0.2, 1, 5))
columns = ["numbers per token in the cache", "thousands of operations to attend, per new token"]
pd.DataFrame([(n, round(o / 1000)) for n, o in costs.values()], index=list(costs), columns=columns)

# %% [markdown]
# <details><summary>With r = 256, five times the operations: why do models do that?</summary>
#
# It is the price of the absorbed form: each head compares and averages vectors of r numbers, not of its own width. What
# it buys is bytes: 8 heads of keys and values are four times as much to store and read. With few heads, reading takes
# the time (lesson 10). In DeepSeek-V3, with r = 512 and 128 heads, each byte read serves about 240 operations, near an
# H800's limit in use (865 / 3.35, about 258): DeepSeek calls its own decode kernel
# [compute-bound](https://github.com/deepseek-ai/FlashMLA/blob/f6894dbf015a931573d234626f7eff9b03152c1b/docs/20250422-new-kernel-deep-dive.md).
#
# GQA with 2 heads reads as many bytes as MLA with r = 256 and is cheaper to compute. But the authors of DeepSeek-V2
# found GQA worse than attention with all its heads, and MLA better (appendix D). Kimi K2 and GLM-5 use MLA, too;
# DeepSeek itself has replaced it in V4. (RoPE would put a rotation between q and W, another for each old token: hence
# the 64 separate numbers for RoPE.)
# </details>

# %% [markdown]
# ## Saving memory: local and global layers
#
# A layer with a sliding window (lesson 10) is **local**; a **global** layer attends to everything before it. Only
# global layers need a long cache.
#
# **Predict.** Six layers have a window of 4: a token, and the three before it. How many tokens back does an output
# depend on, at most? And that of the last of 40 tokens, if the sixth layer is global?

# %% tags=["prediction"]
prediction_local, prediction_mixed = ..., ...


# %% tags=["hide-input"]
def seen(windows: list[int]) -> Bool[Tensor, "40"]:
    """Return on which of 40 tokens the last output depends, through layers with these windows."""
    row, column = torch.arange(40)[:, None], torch.arange(40)
    x = inputs = torch.randn(1, 40, 32, requires_grad=True)
    for window in windows:
        x = parts.PreNormEncoderLayer(32, 4, 128)(x, (column <= row) & (row - column < window))
    x[0, -1].sum().backward()
    return inputs.grad[0].abs().sum(dim=-1) > 0


# %% tags=["hide-input"]
layers = {f"{n} local": n * [4] for n in range(1, 7)} | {"5 local, 1 global": 5 * [4] + [40]}
rows = torch.stack([seen(windows) for windows in layers.values()])
back = (rows.sum(dim=1) - 1).tolist()
compare(prediction_local, measured=back[-2])
compare(prediction_mixed, measured=back[-1])
ax = plots.mask(rows, list(layers), labels=("no", "the last output depends on it"), xlabel="token", ylabel="")
ax.figure.set_size_inches(8, 2.4)

# %% [markdown]
# A head that finds nothing relevant must still hand out weights that sum to 1: hence the attention sinks of lesson 10.
# gpt-oss gives each head a **learned sink**: one more logit, without a value.

# %%
scores = torch.tensor([0.1, -0.2, 0.0])  # nothing matches
for sink in (-torch.inf, 0.0, 3.0):
    weights = torch.softmax(torch.cat([scores, torch.tensor([sink])]), dim=0)[:-1]  # the sink's own weight is dropped
    print(f"sink {sink}: weights {[round(w, 2) for w in weights.tolist()]}, in all {weights.sum():.2f}")

# %% [markdown]
# ### Sparse attention: an indexer picks the keys
#
# A window drops old tokens whether they matter or not. In **sparse attention**
# ([DeepSeek-V3.2](https://arxiv.org/abs/2512.02556)), a small and cheap attention, the **indexer**, first scores all
# past tokens. The large heads attend only to the k best (2,048). The indexer learns to imitate the attention weights.
# Here its scores are the true ones plus noise:


# %% id="sparse-attention"
def sparse_attention(q: Tensor, k: Tensor, v: Tensor, index_scores: Tensor, n_kept: int) -> Tensor:
    """Let each query attend to the past tokens with the largest index scores."""
    mask = parts.causal_mask(k.shape[-2])
    best = index_scores.masked_fill(~mask, -torch.inf).topk(n_kept).indices
    return parts.masked_attention(q, k, v, mask & torch.zeros_like(mask).scatter(-1, best, True))


q, k, v = torch.randn(3, 256, 64)
scores, past = 3 * q @ k.mT / 64**0.5, parts.causal_mask(256)  # scores this large pick few keys
full = parts.masked_attention(3 * q, k, v, past)
chosen = {f"indexer, noise {noise}": scores + noise * torch.randn(256, 256) for noise in (0, 1, 3)}
chosen["the last 32 tokens"] = torch.arange(256.0).expand(256, 256)
for name, index_scores in chosen.items():
    difference = (sparse_attention(3 * q, k, v, index_scores, 32) - full)[128:].norm() / full[128:].norm()
    print(f"{name}: 32 keys for each query, relative difference from all keys {difference:.2f}")

# %% [markdown]
# ## A block that can be changed
#
# RoPE works on the output of `w_q` and `w_k`, head by head, and so does **QK-norm**: an RMSNorm on each query and key,
# before they are rotated. So both can be wrapped around a projection.


# %%
class HeadProjection(nn.Module):
    """A projection to queries or keys, which are normalized, if wanted, and rotated by their positions."""

    def __init__(self, linear: nn.Linear, n_heads: int, d_k: int, base: float, qk_norm: bool) -> None:
        super().__init__()
        self.linear, self.n_heads, self.base = linear, n_heads, base
        self.norm = RMSNorm(d_k) if qk_norm else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        heads = self.norm(parts.split_heads(self.linear(x), self.n_heads))
        return parts.merge_heads(parts.apply_rotary(heads, torch.arange(x.shape[1]), self.base))


def two_matrices(d_model: int, d_ff: int) -> nn.Module:
    """Return 2017's FFN, but without biases."""
    return nn.Sequential(nn.Linear(d_model, d_ff, bias=False), nn.ReLU(), nn.Linear(d_ff, d_model, bias=False))


# %%
class Block(nn.Module):
    """A pre-norm block; by default with the parts of 2017, but without biases. ``base`` is RoPE's."""

    def __init__(
        self, d_model, n_heads=4, norm=nn.LayerNorm, base=None, feed_forward=two_matrices, d_ff=128, n_kv_heads=4,
        qk_norm=False, norm_after=False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.norm_1, self.norm_2, self.norm_after = norm(d_model), norm(d_model), norm_after
        self.self_attention = attention = parts.GroupedQueryAttention(d_model, n_heads, n_kv_heads)
        if base is not None:
            rotated = partial(HeadProjection, d_k=d_model // n_heads, base=base, qk_norm=qk_norm)
            attention.w_q, attention.w_k = rotated(attention.w_q, n_heads), rotated(attention.w_k, n_kv_heads)
        self.feed_forward = feed_forward(d_model, d_ff)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        if self.norm_after:
            x = x + self.norm_1(self.self_attention(x, mask))
            return x + self.norm_2(self.feed_forward(x))
        x = x + self.self_attention(self.norm_1(x), mask)
        return x + self.feed_forward(self.norm_2(x))


# %% tags=["hide-input"]
class Model(nn.Module):
    """Embed, pass through the blocks, normalize, and score all tokens of the vocabulary."""

    def __init__(self, vocab_size, d_model=32, n_layers=1, causal=True, norm=nn.LayerNorm, base=None, **rest) -> None:
        super().__init__()
        self.embedding, self.causal, self.base = nn.Embedding(vocab_size, d_model), causal, base
        self.blocks = nn.ModuleList(Block(d_model, norm=norm, base=base, **rest) for _ in range(n_layers))
        self.norm, self.head = norm(d_model), nn.Linear(d_model, vocab_size, bias=False)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2 and name != "embedding.weight":  # torch draws that with variance 1
                nn.init.normal_(parameter, std=parameter.shape[1] ** -0.5)

    def forward(self, tokens: Tensor) -> Tensor:
        x, n = self.embedding(tokens), tokens.shape[1]
        if self.base is None:
            x = x + parts.sinusoidal_encoding(n, x.shape[-1])
        mask = parts.causal_mask(n) if self.causal else None
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))


# %% [markdown]
# We train on the characters of Python's docstrings; losses are of held-out modules.


# %% tags=["hide-input"]
texts, held_out = python_docstrings()
CHARACTERS = ["?", *sorted(c for c, n in Counter("".join(texts)).items() if n > 100)]  # "?" stands for rare ones
NUMBER = {c: i for i, c in enumerate(CHARACTERS)}
training, testing = (
    torch.tensor([NUMBER.get(c, 0) for c in "".join(some)]).unfold(0, 33, 1) for some in (texts, held_out)
)  # every stretch of 33 characters


def batches(tokens: Tensor, labels: Tensor, n: int, seed: int) -> Callable:
    """Return a function that draws n texts with their labels."""
    generator = torch.Generator().manual_seed(seed)

    def draw() -> tuple[Tensor, Tensor]:
        rows = torch.randint(len(tokens), (n,), generator=generator)
        return tokens[rows], labels[rows]

    return draw


def excerpts(text: Tensor, n: int, seed: int) -> Callable:
    return batches(text[:, :-1], text[:, 1:], n, seed)


# %% tags=["hide-input"]
def fit(model: nn.Module, draw: Callable, steps: int, rate: float, extra: Callable | None = None) -> Tensor:
    """Train what is not frozen; the learning rate rises over 10 steps, and falls over the second half."""
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], fused=True)
    losses = []
    for step in range(1, steps + 1):
        optimizer.param_groups[0]["lr"] = rate * min(1, step / 10, 2 * (1 - (step - 1) / steps))
        tokens, labels = draw()
        loss = F.cross_entropy(model(tokens).flatten(0, 1), labels.flatten())  # labels of −100 do not count
        losses.append(loss.item())
        if extra is not None:
            loss = loss + (extra() or 0.0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return torch.tensor(losses)


def n_parameters(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


# %%
CHANGES = {
    "LayerNorm, sinusoids": ({}, "2017"),
    "RMSNorm": ({"norm": RMSNorm}, "Llama, Qwen, Gemma"),
    "RoPE": ({"base": 10000.0}, "Llama, Qwen, Gemma"),
    "SwiGLU": ({"feed_forward": parts.SwiGLU, "d_ff": 85}, "Llama, Qwen"),
    "grouped queries": ({"n_kv_heads": 2}, "Llama 3, Qwen 3, Gemma 3"),
}
configs, config = {}, {}
for name, (change, _) in CHANGES.items():
    configs[name] = config = config | change

# %% [markdown]
# ## What does each change buy?
#
# We train five models of one block (d_model 32): first that of 2017, but pre-norm and without biases. Each of the
# others makes one more change.
#
# **Predict.** Which name in `CHANGES` improves the loss most, in 300 steps?

# %% tags=["prediction"]
prediction = ...


# %%
def trained(config: dict, seed: int, steps: int = 300, rate: float = 0.03) -> tuple[Model, float]:
    """Return a model trained on docstrings, and its loss on others."""
    torch.manual_seed(seed)
    model = Model(len(CHARACTERS), **config)
    fit(model, excerpts(training, 16, seed), steps, rate)
    with torch.no_grad():
        tokens, labels = excerpts(testing, 300, seed=0)()
        return model, F.cross_entropy(model(tokens).flatten(0, 1), labels.flatten()).item()


# %% tags=["hide-input", "words-only"]
_ = trained(configs["RoPE"], 0, steps=10)  # warm up: a program's first steps take longer
losses, rows = {}, []
for name, (_, used_by) in CHANGES.items():
    start = time.process_time()
    model, losses[name] = trained(configs[name], seed=0)
    rows.append((name, n_parameters(model), time.process_time() - start, losses[name], used_by))
table = pd.DataFrame(rows, columns=["one more change", "parameters", "time", "loss", "used by"])
table["time"] /= table["time"][0]
table.round(2)

# %% [markdown]
# One run tells you little: change the seed and the loss changes. So here are nine seeds beside your run. The dotted
# line is a table of counted bigrams.

# %% tags=["hide-input", "approximate"]
stored = read_json(FOLDER / "block-seeds" / "losses.json")
nine = pd.DataFrame(stored["losses"]["0.03"])
counts = torch.ones(len(CHARACTERS), len(CHARACTERS))
counts.index_put_((training[:, 0], training[:, 1]), torch.tensor(1.0), accumulate=True)
tokens, labels = excerpts(testing, 300, seed=0)()
bigrams = F.cross_entropy(counts.log()[tokens].flatten(0, 1), labels.flatten()).item()
ax = nine.T.plot(style="o", color=plots.COLORS[0], alpha=0.5, ylabel="loss (nats per character)", figsize=(8.5, 2.6))
stored_dots, yours = ax.lines[0], ax.plot(range(len(CHANGES)), [*losses.values()], "D", color=plots.COLORS[1])[0]
ax.set_xticks(range(len(CHANGES)), CHANGES)
line = ax.axhline(bigrams, color=plots.INK, linestyle=":")
labeled = {"nine seeds": stored_dots, "yours": yours, "bigrams": line}
_ = ax.legend(labeled.values(), labeled, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))

# %% [markdown]
# How large is a step, and is it there at another learning rate?

# %% tags=["hide-input"]
# how far each row is below the one before, seed by seed
steps = {rate: -pd.DataFrame(by_model).diff(axis=1).iloc[:, 1:] for rate, by_model in stored["losses"].items()}
compare(prediction, measured=steps["0.03"].mean().idxmax())
print(f"{stored['command']}: {stored['cpu_minutes']} minutes on one core")
print("Mean loss; mean step to the row ± its standard error, + is better (number of seeds that are better):")
shown = {}
for rate, by_seed in steps.items():  # a seed's losses are compared with each other
    means = [f"{loss:.2f}" for loss in pd.DataFrame(stored["losses"][rate]).mean()]
    told = [f"; {step.mean():+.3f} ± {step.sem():.3f} ({(step > 0).sum()} of 9)" for _, step in by_seed.items()]
    shown[f"rate {rate}"] = [mean + step for mean, step in zip(means, ["", *told])]
pd.DataFrame(shown, index=list(CHANGES))

# %% [markdown]
# RoPE's mean step is the largest at every rate, at 0.1 not clearly. Of these rates, 0.03 suits every row best.
#
# <details><summary>And the other steps, at other rates and sizes?</summary>
#
# At 0.01, SwiGLU gains 0.04 ± 0.01; at 0.03 hardly more than its error (three seeds alone had suggested a larger gain),
# and grouped queries, with fewer parameters, cost about 0.02. At 0.1 a mean misleads: four of nine RoPE runs end near
# 2.85, five below 2.52. SwiGLU helps the four, not the five: it tolerates a rate that is too high. With 1,200 steps or
# with two blocks, RoPE still gains most (0.05 to 0.18), and the other steps have both signs.
# </details>
#
# <details><summary>How often would chance alone do this?</summary>
#
# Of two *equal* models, each is the better one with half of the seeds: all nine seeds agree in 2 of 2⁹ = 512 cases, and
# at least eight in one case of 26. So of twelve comparisons, one with eight may be chance. (Times are rough, too:
# torch's LayerNorm is one fused kernel, our parts are several.)
# </details>

# %% [markdown]
# ---
#
# **Half-way.**

# %% [markdown]
# ## Stabilizing training: QK-norm, and norms after
#
# If scores differ by 50 or so, the softmax saturates and its gradient vanishes (lesson 02). With QK-norm, queries and
# keys start with a root mean square of 1. OLMo 2 also moves the other norms: each normalizes what its sublayer *adds*,
# as on the right.

# %%
diagrams.layers.layers(Block(32, **config), Block(32, **config | {"norm_after": True}))

# %% [markdown]
# **Predict.** We train at ten times the learning rate. After 40 steps, is the largest score, in absolute value, nearest
# to 10, 100 or 1,000, with and without QK-norm? And which of the two gives the lower loss there: `"QK-norm"` or
# `"norms after"`?

# %% tags=["prediction"]
prediction_with, prediction_without, lower_loss = ..., ..., ...


# %% tags=["hide-input"]
@torch.no_grad()
def largest_score(model: Model, tokens: Tensor) -> float:
    block, x = model.blocks[0], model.embedding(tokens)
    attention, x = block.self_attention, x if block.norm_after else block.norm_1(x)
    q, k = (parts.split_heads(w(x), w.n_heads) for w in (attention.w_q, attention.w_k))
    k = k.repeat_interleave(q.shape[1] // k.shape[1], dim=1)
    return (q @ k.mT / q.shape[-1] ** 0.5).abs().max().item()


@torch.no_grad()
def added_by_the_ffn(model: Model, tokens: Tensor) -> float:
    """Return the root mean square of what the FFN adds, over that of the embedded tokens."""
    block, sizes = model.blocks[0], []
    last = block.norm_2 if block.norm_after else block.feed_forward
    hook = last.register_forward_hook(lambda _, __, output: sizes.append(output.pow(2).mean()))
    model(tokens)
    hook.remove()
    return (sizes[0] / model.embedding(tokens).pow(2).mean()).sqrt().item()


# %% tags=["hide-input"]
def watched(change: dict, rate: float, seed: int) -> tuple[Tensor, float, float]:
    """Return the largest score before every step, the mean loss of the last 10, and what the FFN adds in the end."""
    torch.manual_seed(seed)
    model, scores = Model(len(CHARACTERS), **configs["grouped queries"] | change), []
    tokens, _ = excerpts(testing, 16, 0)()
    losses = fit(model, excerpts(training, 16, seed), 40, rate, lambda: scores.append(largest_score(model, tokens)))
    return torch.tensor(scores), losses[-10:].mean().item(), added_by_the_ffn(model, tokens)


# %% tags=["hide-input", "approximate"]
CALM = {"neither": {}, "QK-norm": {"qk_norm": True}, "norms after": {"norm_after": True}}
kinds = {f"{name}, rate 0.3": (change, 0.3) for name, change in CALM.items()}
kinds |= {f"{name}, rate 0.03": (CALM[name], 0.03) for name in ("neither", "norms after")}
runs = {name: [watched(*kind, seed) for seed in range(3)] for name, kind in kinds.items()}
scores = {name: torch.stack([scores for scores, _, _ in three]) for name, three in runs.items()}
shown = {name: scores[name] for name in kinds if name != "norms after, rate 0.03"}
ax = plots.lines(range(40), shown, "step", "largest score", legend_beside=True)
ax.set_yscale("log")
ax.set_yticks(ticks := [3, 10, 30, 100, 300, 1000, 3000], ticks)
last = {name: three[:, -1].mean().item() for name, three in scores.items()}
late = {name: [loss for _, loss, _ in three] for name, three in runs.items()}
adds = {name: sum(added for _, _, added in three) / 3 for name, three in runs.items()}
compare(prediction_with, measured=last["QK-norm, rate 0.3"], choices=(10, 100, 1000))
compare(prediction_without, measured=last["neither, rate 0.3"], choices=(10, 100, 1000))
compare(lower_loss, measured=min(("QK-norm", "norms after"), key=lambda name: sum(late[f"{name}, rate 0.3"])))
table = pd.DataFrame(late, index=["loss, seed 0", "seed 1", "seed 2"]).T.round(2)
table.assign(**{"score": pd.Series(last).round(), "FFN adds / stream": pd.Series(adds).round()})

# %% [markdown]
# Without QK-norm the scores grow to hundreds or thousands; with it they stay near 10. After these 40 steps at rate 0.3,
# QK-norm alone helps the loss little, if at all; the norms *after* the sublayers save it, with every seed.
#
# <details><summary>How do norms after the sublayers save it?</summary>
#
# At rate 0.3 the FFN comes to add thousands of times what is in the stream, with QK-norm or without: see the last
# column. That drowns out everything else. With norms after, what is added stays small, and the loss is about that of
# the usual learning rate, though the scores are as large as without them. (In 2017 the norms came after, too, but on
# the stream itself.) At the usual rate this model needs neither.
# </details>
#
# <details><summary>What does that depend on?</summary>
#
# On the rate and the number of steps. After 160 steps at rate 0.3, QK-norm alone has helped, too: 2.77 to 2.91, against
# 3.07 to 3.16 with neither and 2.70 to 2.72 with norms after. At rate 1, only norms after help. At rate 0.1, norms
# after are ahead after 40 steps and behind after 160 (2.66 to 2.71, against 2.61 to 2.69 with neither).
# </details>
#
# <details><summary>Then what is QK-norm for?</summary>
#
# It bounds the scores: at the start to at most $8 / \sqrt 8$, about 2.8, for our 8 features. That pays in large models.
# The loss of vision Transformers diverged at about 8 billion parameters; with norms on queries and keys, one of 22
# billion could be trained (Dehghani et al., 2023). Also, in bfloat16, in which most models are trained, numbers near
# 300 are rounded to multiples of 2. OLMo 2 has both.
# </details>

# %% [markdown]
# ## Adding capacity: a mixture of experts
#
# FFNs store facts (lesson 06). More facts need a wider FFN, which costs more for *every* token. A **mixture of
# experts** (MoE) has many FFNs, the experts. A small linear layer, the **router**, picks k of them for each token
# (**top-k routing**), and their outputs are weighted and added. The others, pale in the picture, are not computed. So
# each token uses only the **active parameters**: in Mixtral, 13 billion of 47 billion.

# %%
diagrams.modern_block.experts()

# %% [markdown]
# **Exercise.** `logits` are the router's scores, (n, n_experts) for n tokens. Choose the k largest of each token, in
# any order. The weights are a softmax over the *chosen* logits (as in Mixtral). Return the weights, then the experts.


# %% id="route" tags=["exercise"]
def route(logits: Float[Tensor, "n n_experts"], k: int) -> tuple[Float[Tensor, "n k"], Int[Tensor, "n k"]]:
    """Choose for each token the k experts with the largest logits, with weights that sum to 1 over these."""
    raise NotImplementedError


# %% id="check-route"
check(route)


# %%
class Experts(nn.Module):
    """Eight small networks, of which each token is sent to two."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.router = nn.Linear(d_model, 8)
        self.experts = nn.ModuleList(parts.SwiGLU(d_model, d_ff) for _ in range(8))
        nn.init.zeros_(self.router.bias)
        self.bonus, self.step = torch.zeros(8), 0.0  # for balancing without a loss

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.flatten(0, 1)
        logits = self.router(tokens)
        _, chosen = parts.route(logits + self.bonus, 2)  # the bonus helps to choose; it is not in the weights
        weights = logits.gather(1, chosen).softmax(dim=-1)
        output = torch.zeros_like(tokens)
        for i, expert in enumerate(self.experts):
            rows, which = torch.where(chosen == i)  # the tokens that chose this expert, as first or second
            output = output.index_add(0, rows, weights[rows, which, None] * expert(tokens[rows]))
        self.load = F.one_hot(chosen, 8).float().mean(dim=(0, 1))  # the fraction that each expert gets
        if torch.is_grad_enabled():
            self.bonus += self.step * (1 / 8 - self.load).sign()
        self.balance = 8 * (self.load * logits.softmax(dim=-1).mean(dim=0)).sum()
        return output.view(x.shape)


# %% [markdown]
# ### Keeping all experts busy
#
# The task is that of lesson 06 (2,304 facts). The mixtures have eight experts of d_ff 16, two of them active. A narrow
# FFN (d_ff 32) matches their active parameters; a wide FFN (d_ff 128) matches their total. All take 120 steps.
#
# Expert 0 starts behind: its logit is lower by 3 (but not in `even start`). Two mixtures have **load balancing**. One
# has an **auxiliary loss** (Fedus et al., 2021): 8 times the sum of load · mean probability. The other adds a bias,
# here `bonus`, to each logit, only to choose ([Wang et al., 2024](https://arxiv.org/abs/2408.15664)). It rises by a
# step if the load is too small and falls otherwise. (DeepSeek-V3 does that, with a sigmoid instead of a softmax.)

# %% [markdown]
# **Predict.** Does the mixture without balancing learn `"more"`, `"fewer"` or `"as many"` facts as the narrow FFN, and
# as the wide one? After training, what fraction of the tokens does expert 0 get, without balancing, with the loss and
# with the bonus: nearest to 0, 0.06 or 0.125 (an even load)?

# %% tags=["prediction"]
prediction_narrow, prediction_wide = ..., ...
prediction_without, prediction_loss, prediction_bonus = ..., ..., ...


# %% tags=["hide-input"]
pairs, N_STEPS = torch.cartesian_prod(torch.arange(48), torch.arange(48)), 120


@torch.no_grad()
def known_by(model: nn.Module, answers: Tensor) -> float:
    return (model(pairs)[:, 1].argmax(dim=-1) == answers).float().mean().item()


# %% tags=["hide-input"]
def learn_facts(
    feed_forward: Callable, d_ff: int, seed: int, behind: float = 0.0, balance: float = 0.0, step: float = 0.0
) -> tuple[list[float], nn.Module]:
    """Return the fraction of facts known before every twentieth step and at the end, and the network."""
    torch.manual_seed(seed)
    answers = torch.randint(48, (2304,))
    labels = torch.stack([torch.full((2304,), -100), answers], dim=1)
    model = Model(48, **configs["grouped queries"] | {"feed_forward": feed_forward, "d_ff": d_ff})
    network, known, steps = model.blocks[0].feed_forward, [], iter(range(N_STEPS))
    if behind:
        network.router.bias.data[0] = -behind
    network.step = step

    def extra() -> Tensor | float:
        loss = balance * network.balance if balance else 0.0
        if next(steps) % 20 == 0:
            known.append(known_by(model, answers))
        return loss

    fit(model, batches(pairs, labels, 256, seed), N_STEPS, 0.02, extra)
    return [*known, known_by(model, answers)], network


# %% tags=["hide-input"]
KINDS = {
    "narrow FFN": partial(learn_facts, parts.SwiGLU, 32),
    "wide FFN": partial(learn_facts, parts.SwiGLU, 128),
    "not balanced": partial(learn_facts, Experts, 16, behind=3.0),
    "balanced by a loss": partial(learn_facts, Experts, 16, behind=3.0, balance=0.3),
    "balanced by a bonus": partial(learn_facts, Experts, 16, behind=3.0, step=0.1),
    "even start": partial(learn_facts, Experts, 16),
}
learned = {name: [learn(seed=seed) for seed in range(3)] for name, learn in KINDS.items()}
curves = {name: torch.tensor([curve for curve, _ in three]) for name, three in learned.items()}
known = {name: three[:, -1].tolist() for name, three in curves.items()}
mixtures = [name for name in KINDS if "FFN" not in name]
loads = {name: torch.stack([network.load for _, network in learned[name]]) for name in mixtures}
load = {name: three.mean(dim=0) for name, three in loads.items()}


def than(one: str, other: str) -> str:
    """Compare the facts that two kinds know, with all their seeds."""
    fewer = max(known[one]) < min(known[other])
    return "more" if min(known[one]) > max(known[other]) else "fewer" if fewer else "as many"


# %% tags=["hide-input", "approximate"]
compare(prediction_narrow, measured=than("not balanced", "narrow FFN"))
compare(prediction_wide, measured=than("not balanced", "wide FFN"))
shown = {name: three for name, three in curves.items() if name not in ("even start", "balanced by a bonus")}
plots.lines(range(0, N_STEPS + 1, 20), shown, "step", "fraction of facts known", legend_beside=True)
rows = []
for name, three in learned.items():
    network = three[0][1]
    inactive = sum(n_parameters(expert) for expert in network.experts[2:]) if name in mixtures else 0
    spread = f"{min(known[name]):.2f} to {max(known[name]):.2f}"
    rows.append((name, n_parameters(network), n_parameters(network) - inactive, sum(known[name]) / 3, spread))
pd.DataFrame(rows, columns=["", "parameters", "active", "facts known", "three seeds"]).set_index("").round(2)

# %% tags=["hide-input", "approximate"]
compare(prediction_without, measured=load["not balanced"][0].item(), choices=(0, 0.06, 0.125))
compare(prediction_loss, measured=load["balanced by a loss"][0].item(), choices=(0, 0.06, 0.125))
compare(prediction_bonus, measured=load["balanced by a bonus"][0].item(), choices=(0, 0.06, 0.125))
ax = pd.DataFrame(load).plot.bar(color=plots.COLORS, rot=0, xlabel="expert", ylabel="load", figsize=(8.5, 2.6))
ax.axhline(1 / 8, color=plots.INK, linestyle=":")
ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
least = [round(least, 3) for least in loads["even start"].amin(dim=1).tolist()]
print("even start: the least load of an expert, with three seeds:", *least)

# %% [markdown]
# After 120 steps at rate 0.02, every mixture knows more facts than the narrow FFN, with the same active parameters. The
# wide FFN, with the same total, knows even more. So sparsity buys part of what size brings, at the operations of the
# small FFN and the memory of the large one. (The order is the same at a third and three times the rate, and with half
# or three times the steps.)
#
# Without balancing expert 0 starves: it is hardly chosen, so it gets hardly any gradient. A loss or a bonus gives it
# nearly an even load. Seven experts learn nearly as many facts as eight: here, balancing only prevents an expert that
# takes memory and does nothing. Across machines (lesson 13), all wait for the busiest.
#
# <details><summary>Do experts starve from an even start?</summary>
#
# Hardly, here: after 120 steps the loads are uneven, but the least busy expert still works (its load is printed above).
# In larger models they did: Shazeer et al. (2017, section 4) saw their router settle on the same few. "This imbalance
# is self-reinforcing, as the favored experts are trained more rapidly and thus are selected even more by the gating
# network." We put one behind, so that starving need not wait for chance.
# </details>
#
# <details><summary>And with k = 1?</summary>
#
# The softmax over one logit is always 1, so the router would learn nothing from the loss. Switch, with k = 1, takes the
# softmax over all experts, and weights the chosen one by its probability.
# </details>

# %% [markdown]
# ### Models beside each other, 2019 to 2026
#
# | | layers | heads: queries, keys | experts: all, active | a token attends to | norms |
# |---|---|---|---|---|---|
# | GPT-2 (2019), 124 million | 12 | 12, 12 | none | all before it | LayerNorm before |
# | Llama 3.1 8B (2024) | 32 | 32, 8 | none | all before it | RMSNorm before |
# | DeepSeek-V3 (2024) | 61 | 128, MLA | 256 + 1 shared, 8 + 1 | all before it | RMSNorm before, and on latent vectors |
# | Gemma 3 27B (2025) | 62 | 32, 16 | none | the last 1,024; in one layer of six all | RMSNorm before, after; QK-norm |
# | Qwen 3 8B (2025) | 36 | 32, 8 | none | all before it | RMSNorm before; QK-norm |
# | gpt-oss-120b (2025) | 36 | 64, 8 | 128, 4 | the last 128; all, in every second layer | RMSNorm before |
# | GLM-5 (2026) | 78 | 64, MLA | 256 + 1, 8 + 1 | 2,048 that an indexer picks | RMSNorm before |
# | Qwen 3.5 35B-A3B (2026) | 40 | 16, 2 | 256 + 1, 8 + 1 | all, in one layer of four | RMSNorm before; QK-norm |
# | DeepSeek-V4-Flash (2026) | 43 | 64, 1 | 256 + 1, 6 + 1 | the last 128, and compressed tokens | RMSNorm before |

# %% [markdown]
# All but GPT-2 have RoPE and gated units. A shared expert sees every token. Why so many experts? Two of 16 make 120
# choices, eight of 64 smaller ones 4.4 billion ([DeepSeekMoE](https://arxiv.org/abs/2401.06066)).
#
# **What changed until 2026:**
#
# | change | model |
# |---|---|
# | Three layers of four: linear attention (lesson 02) with a gated *delta rule*, a fixed-size state | Qwen 3.5 |
# | One entry per 4 tokens, of which an indexer picks 512, or one per 128; one head is key and value | DeepSeek-V4 |
# | *Hyper-connections*: four residual streams instead of one, mixed by a learned matrix | DeepSeek-V4 |
# | Layers that share keys and values, or K = V | Gemma 4 |
# | *Partial RoPE*: only some of a head's features are rotated | Qwen 3.5, Gemma 4, DeepSeek-V4 |
#
# <details><summary>Sources</summary>
#
# [GPT-2](https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf), [Llama
# 3](https://arxiv.org/abs/2407.21783), [DeepSeek-V3](https://arxiv.org/abs/2412.19437) (its first three layers have one
# FFN, and no experts), [Gemma 3](https://arxiv.org/abs/2503.19786), [Qwen 3](https://arxiv.org/abs/2505.09388) and
# [gpt-oss](https://arxiv.org/abs/2508.10925), and each model's `config.json` on the hub. For 2026, the defaults of the
# configuration classes in transformers:
# [GLM-5](https://github.com/huggingface/transformers/blob/598881bceccfbc4ec888e43df68dc235415426bf/src/transformers/models/glm_moe_dsa/configuration_glm_moe_dsa.py),
# [Qwen
# 3.5](https://github.com/huggingface/transformers/blob/e36255cb9af68ea2c16fefd6b1c798882cafda16/src/transformers/models/qwen3_5_moe/configuration_qwen3_5_moe.py),
# [DeepSeek-V4](https://github.com/huggingface/transformers/blob/b5b741e52e24b1c394ae4a0b13df86846284a1d3/src/transformers/models/deepseek_v4/configuration_deepseek_v4.py)
# and [Gemma
# 4](https://github.com/huggingface/transformers/blob/351f643ab9f582c01026b6d75aab3e2c5a8338cd/src/transformers/models/gemma4/configuration_gemma4.py).
# The published checkpoints themselves were not read.
# </details>

# %% [markdown]
# ## Published weights in your own classes
#
# On Hugging Face's hub a model is a folder: `config.json` with its sizes, and files of named tensors. Their names,
# shapes and order of rows are the **checkpoint layout**. We make such a folder for a small random Llama.


# %% tags=["hide-input"]
llama = LanguageModelConfig.llama(61, d_model=48, n_heads=6, n_kv_heads=2, d_ff=80, n_layers=2, norm_eps=1e-6)
random_model = LanguageModel(llama)
for parameter in random_model.parameters():
    nn.init.normal_(parameter, std=0.2)
folder = Path(tempfile.mkdtemp())
save_pretrained(random_model, folder)
options, published = read_json(folder / "config.json"), read_model_tensors(folder)
print(len(published), "tensors, such as", next(name for name in published if "q_proj" in name))

# %% [markdown]
# **Predict.** We load the tensors as they are, under your names. What happens: an `"error"`, the `"same"` logits as
# those of the library's loader, or `"other"` logits?

# %% tags=["prediction"]
prediction = ...


# %% tags=["hide-input"]
NAMES = {
    "model.embed_tokens": "embedding", "model.layers": "blocks", "model.norm": "norm", "lm_head": "head",
    "self_attn.q_proj": "self_attention.w_q.linear", "self_attn.k_proj": "self_attention.w_k.linear",
    "self_attn.v_proj": "self_attention.w_v", "self_attn.o_proj": "self_attention.w_o",
    "mlp.gate_proj": "feed_forward.w_gate", "mlp.up_proj": "feed_forward.w_up", "mlp.down_proj": "feed_forward.w_down",
    "input_layernorm": "norm_1", "post_attention_layernorm": "norm_2",
}  # fmt: skip
SIZES = ("hidden_size", "num_attention_heads", "num_key_value_heads", "intermediate_size", "num_hidden_layers")


# %%
def own_llama(options: dict, tensors: dict[str, Tensor], reorder: Callable) -> Model:
    """Return a model of our own classes, with published parameters; ``reorder`` is applied to w_q and w_k."""
    d_model, n_heads, n_kv_heads, d_ff, n_layers = (options[name] for name in SIZES)
    norm = partial(RMSNorm, eps=options["rms_norm_eps"])
    chosen = {"norm": norm, "base": options["rope_theta"], "feed_forward": parts.SwiGLU}
    sizes = {"n_heads": n_heads, "n_kv_heads": n_kv_heads, "d_ff": d_ff, "n_layers": n_layers}
    model, ours = Model(options["vocab_size"], d_model, **sizes, **chosen), {}
    for name, tensor in tensors.items():
        for theirs, here in NAMES.items():
            name = name.replace(theirs, here)
        ours[name] = reorder(tensor, d_model // n_heads) if "w_q" in name or "w_k" in name else tensor
    model.load_state_dict(ours)  # complains of any name that is missing or left over
    return model.eval()


# %%
tokens = torch.randint(61, (3, 40))
with torch.no_grad():
    reference = load_language_model(folder)(tokens)
    untouched = own_llama(options, published, lambda weight, _: weight)(tokens)
compare(prediction, measured="same" if torch.allclose(untouched, reference, atol=1e-3) else "other")
print("the first position has the same logits:", torch.allclose(untouched[:, 0], reference[:, 0], atol=1e-3))

# %% [markdown]
# No error: the shapes fit, and the first position, which attends to itself alone, looks right. But your RoPE pairs
# neighboring features, 0 with 1, 2 with 3. So do Meta's own Llama files. The hub's code pairs feature i with the one
# d_k/2 after it, in the other half of the head, so whoever converted the files for the hub [permuted the
# rows](https://github.com/huggingface/transformers/issues/25199) of `w_q` and `w_k`. A score adds up products over all
# features, so any order will do, if queries and keys have the same.

# %%
diagrams.modern_block.rotary_pairs()

# %% [markdown]
# **Exercise.** Undo what the conversion did, as in the picture, for any number of heads, each of d_k rows (even).


# %% id="pairs_from_halves" tags=["exercise"]
def pairs_from_halves(weight: Float[Tensor, "rows d_model"], d_k: int) -> Float[Tensor, "rows d_model"]:
    """Reorder the rows of each head, so that those which RoPE rotates together are neighbors."""
    raise NotImplementedError


# %% id="check-pairs_from_halves"
check(pairs_from_halves)

# %%
with torch.no_grad():
    reordered = own_llama(options, published, parts.pairs_from_halves)(tokens)
print("with reordered rows, all logits are the same:", torch.allclose(reordered, reference, atol=1e-3))

# %% [markdown]
# <details><summary>Who checks the reference, and are there other traps?</summary>
#
# The reference is the library's loader, whose tests compare its logits with those of Hugging Face's own class. In
# GPT-2's layout queries, keys and values are one matrix, and matrices are transposed; `pretrained/gpt2.py` undoes both.
# And not everything that counts is a tensor: RoPE's base and the norms' ε are in `config.json`, and so is the scaling
# of RoPE in Llama 3.1, which `own_llama` does not know.
# </details>

# %% [markdown]
# ## Bug hunt
#
# A colleague does not copy the keys: each group of queries meets its head of keys by broadcasting. She loads published
# weights. With as many heads of keys as of queries, or with one, all logits are right; with any number in between they
# are wrong. Decide why *before* you look at the check. Then write a correct `Mended` in the cell after it.


# %% tags=["bug-hunt"]
class AttentionOfAColleague(parts.GroupedQueryAttention):
    def forward(self, x, mask=None):
        group = self.n_heads // self.n_kv_heads
        q = parts.split_heads(self.w_q(x), self.n_heads).unflatten(1, (self.n_kv_heads, group))
        k = parts.split_heads(self.w_k(x), self.n_kv_heads).unsqueeze(2)  # batch, n_kv_heads, 1, n, d_head
        v = parts.split_heads(self.w_v(x), self.n_kv_heads).unsqueeze(2)
        mask = torch.ones(1, 1, 1, dtype=torch.bool) if mask is None else mask
        heads = parts.masked_attention(q, k, v, mask.unsqueeze(-3))  # batch, n_kv_heads, group, n, d_head
        return self.w_o(heads.permute(0, 3, 2, 1, 4).flatten(2))


# %% id="mend-grouped"
Mended = AttentionOfAColleague

# %% id="check-mend-grouped"
check(Mended, "GroupedQueryAttention", save=False)

# %% [markdown]
# <details><summary>How to find such a bug without a check</summary>
#
# Compare with a module that is known to be right, with sizes that all differ. Each query head meets the right keys; but
# the `permute` before `w_o` lines the heads up by their place in the group, 0 2 1 3, and not 0 1 2 3. A model *trained*
# with this bug works as well as any other, since `w_o` learns that order; only with weights from elsewhere does it
# matter. That is why a loader is tested on logits, not on shapes.
# </details>

# %% [markdown]
# ## ★ Transfer: LoRA, fine-tuning with few parameters
#
# **Fine-tuning** a model of 8 billion parameters changes all 8 billion. **Low-rank adaptation** (**LoRA**; Hu et al.,
# 2021) freezes them. Beside some of the linear layers it trains two small matrices each, whose product is the change:
#
# $$\operatorname{linear}(x) + \frac{\alpha}{r}\,x\,a^\top b^\top$$
#
# `a`, of shape (r, d_in), starts random; `b`, (d_out, r), starts as zeros, so at first nothing changes. r is the rank,
# α a chosen scale. `linear` is frozen: its parameters get `requires_grad_(False)`, bias included.

# %%
diagrams.modern_block.low_rank()

# %% [markdown]
# **Exercise.** Write the whole module. Draw `a` as you like, but not as zeros.


# %% id="LoRALinear" tags=["exercise"]
class LoRALinear(nn.Module):
    """Add to a frozen linear layer the product of two small matrices, which are trained in its place."""

    def __init__(self, linear: nn.Linear, rank: int, alpha: float) -> None:
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "*batch d_in"]) -> Float[Tensor, "*batch d_out"]:
        raise NotImplementedError


# %% id="check-LoRALinear"
check(LoRALinear)

# %% [markdown]
# In a small version of lesson 08's task, a model reads a date and fills eight gaps, `20210303`. It learns French,
# German, Italian and English. Then LoRA of rank 2, at `w_q` and `w_v` as in the paper, should teach it Spanish.


# %% tags=["hide-input"]
LANGUAGES = ["fr", "de", "it", "en_GB", "es"]
days = [date(2000, 1, 1) + timedelta(days=n) for n in range(0, 9000, 3)]
random.Random(0).shuffle(days)
written = {language: [write_date(day, language, "long").rjust(24, "·") for day in days] for language in LANGUAGES}
LETTERS = sorted({c for some in written.values() for text in some for c in text} | {*"?0123456789"})


def numbers(texts: list[str]) -> Tensor:
    return torch.tensor([[LETTERS.index(c) for c in text] for text in texts])


gaps = F.pad(numbers([day.strftime("%Y%m%d") for day in days]), (24, 0), value=-100)  # labels for the gaps alone
dates = {language: (numbers([text + 8 * "?" for text in some]), gaps) for language, some in written.items()}
print(*(some[0].strip("·") for some in written.values()), sep=", ")


# %% tags=["hide-input"]
def draw_dates(languages: list[str], n: int, seed: int) -> Callable:
    """Draw from all days but the first 150, which are held out."""
    tokens, labels = (torch.cat([dates[language][i][150:] for language in languages]) for i in (0, 1))
    return batches(tokens, labels, n, seed)


@torch.no_grad()
def read_right(model: nn.Module, languages: list[str]) -> float:
    """Return the fraction of held-out days of which all eight digits are right."""
    tokens, labels = (torch.cat([dates[language][i][:150] for language in languages]) for i in (0, 1))
    return (model(tokens).argmax(dim=-1) == labels)[:, 24:].all(dim=1).float().mean().item()


# %% tags=["approximate"]
torch.manual_seed(0)
reader = Model(len(LETTERS), d_model=48, n_layers=2, causal=False, **configs["grouped queries"])
fit(reader, draw_dates(LANGUAGES[:4], 32, 0), 200, 0.006)
before = [read_right(reader, LANGUAGES[:4]), read_right(reader, ["es"])]
print(f"right before LoRA: {before[0]:.2f} of the four languages, {before[1]:.2f} of the new one")

# %% [markdown]
# **Predict.** 300 steps of LoRA train 672 parameters, beside about 43,000. What fraction of the Spanish dates does the
# model then read correctly: nearest to 0, 0.25 or 0.75? And of the four *old* languages, with LoRA in place: `"more"`,
# `"fewer"` or `"as many"`?

# %% tags=["prediction"]
prediction_new, prediction_old = ..., ...


# %%
def with_lora(model: Model, seed: int) -> Model:
    """Return a frozen copy of the model, trained on the new language through LoRA."""
    torch.manual_seed(seed)
    model = copy.deepcopy(model).requires_grad_(False)
    for attention in (block.self_attention for block in model.blocks):
        attention.w_q.linear = parts.LoRALinear(attention.w_q.linear, rank=2, alpha=4.0)
        attention.w_v = parts.LoRALinear(attention.w_v, rank=2, alpha=4.0)
    fit(model, draw_dates(["es"], 16, seed), 300, 0.02)
    return model


def fine_tuned(model: Model, seed: int) -> Model:
    """Return a copy of the model of which all parameters are trained on the new language."""
    torch.manual_seed(seed)
    model = copy.deepcopy(model)
    fit(model, draw_dates(["es"], 16, seed), 100, 0.006)
    return model


# %% tags=["hide-input", "words-only"]
adapted = [with_lora(reader, seed) for seed in range(3)]
after = torch.tensor([[read_right(model, LANGUAGES[:4]), read_right(model, ["es"])] for model in adapted])
compare(prediction_new, measured=after[:, 1].mean().item(), choices=(0, 0.25, 0.75))
compare(prediction_old, measured="fewer" if after[:, 0].max() < before[0] else "as many")
trained_numbers = sum(p.numel() for p in adapted[0].parameters() if p.requires_grad)
print(f"{trained_numbers} of {n_parameters(reader):,} numbers trained: {trained_numbers / n_parameters(reader):.1%}")
everything = [fine_tuned(reader, seed) for seed in range(3)]
beside = torch.tensor([[read_right(model, LANGUAGES[:4]), read_right(model, ["es"])] for model in everything])
fractions = {
    f"{how}, {which}": runs[:, i].tolist()
    for how, runs in {"LoRA": after, "all parameters": beside}.items()
    for i, which in enumerate(("old languages", "new language"))
}
pd.DataFrame(fractions).rename_axis("seed").round(2)

# %%
for block in adapted[0].blocks:
    block.self_attention.w_q.linear = block.self_attention.w_q.linear.linear
    block.self_attention.w_v = block.self_attention.w_v.linear
some = dates["fr"][0][:150]
print("LoRA taken out: the old model, exactly:", torch.equal(adapted[0](some), reader(some)))

# %% [markdown]
# With less than 2 % of the parameters and three times the steps, LoRA learns somewhat fewer of the new dates than
# training all parameters does, with every seed. Either way, most of the old ones are lost. But LoRA can be taken out,
# and the old model is back, so one frozen model can serve many such *adapters*. Today, adapters go on all linear
# layers, above all those of the FFN, with about ten times the rate of full fine-tuning ([Schulman et al.,
# 2025](https://thinkingmachines.ai/blog/lora/)).
#
# <details><summary>How much is lost, and what does an adapter cost?</summary>
#
# That depends on the rate. All parameters, trained for 300 steps at 0.0007, learn more than LoRA (0.79 to 0.80) and
# keep more of the old dates (0.19 to 0.21). Added into the matrix, an adapter costs no extra time. *QLoRA* ([Dettmers
# et al., 2023](https://arxiv.org/abs/2305.14314)) keeps the frozen model in 4 bits.
# </details>

# %% [markdown]
# ## A model that talks
#
# The course has such a folder for a small Llama that was *trained*, on 35 plays of Shakespeare. Its head is the
# embedding's matrix (lesson 08), which is stored once.


# %% id="a-model-that-talks"
def published_model(where: Path) -> tuple[Model, Tokenizer]:
    """Return a model of your own classes with the parameters of a folder, and its tokenizer."""
    tensors = read_model_tensors(where)
    tensors.setdefault("lm_head.weight", tensors["model.embed_tokens.weight"])
    model = own_llama(read_json(where / "config.json"), tensors, parts.pairs_from_halves)
    return model, Tokenizer.from_file(str(where / "tokenizer.json"))


actor, tokenizer = published_model(FOLDER / "llama-plays")
card = read_json(FOLDER / "llama-plays" / "card.json")
facts = ["command", "data", "parameters", "cpu_minutes", "held_out_loss", "held_out_bits_per_byte"]
print("\n".join(f"{fact}: {card[fact]}" for fact in facts))


# %% [markdown]
# You write a line, and the model continues with the next speaker's (temperature 0.7, top-p 0.9).


# %% id="a-model-that-talks-3"
@torch.no_grad()
def continued(model: Model, tokenizer: Tokenizer, text: str, n_tokens: int, sample: Callable, end: str = "") -> str:
    """Return a text with n_tokens more, or up to the first ``end``."""
    ids, read = tokenizer.encode(text).ids, partial(tokenizer.decode, skip_special_tokens=False)
    for _ in range(n_tokens):
        ids += sample(model(torch.tensor([ids[-256:]]))[:, -1]).tolist()
        if end and end in read(ids)[len(text) :]:
            break
    return read(ids)


# %% id="a-model-that-talks-4"
_ = torch.manual_seed(0)
sample = partial(parts.sample_next, temperature=0.7, top_p=0.9)
lines = ["ROMEO: Who art thou?", "ROMEO: Dost thou love me?", "ROMEO: Then come with me to Verona."]  # your lines
play = ""
for line in lines:
    play = continued(actor, tokenizer, play + line + "\n\n", 80, sample, end="\n\n").strip() + "\n\n"
print(play)

# %% [markdown]
# It sounds like Shakespeare and means nothing.
#
# ### SmolLM2 in your own parts
#
# SmolLM2-135M-Instruct ([Allal et al., 2025](https://arxiv.org/abs/2502.02737); Apache 2.0) is a Llama with 135 million
# parameters. The next cell downloads it once (93 MB). Without it, the cells that need it show their stored outputs.

# %% id="smollm2-folder" tags=["published-model", "nbval-ignore-output"]
smollm_folder = published_in_lesson("smollm2", "11_modern_block")

# %% id="smollm2-in-your-parts" tags=["published-model", "hide-input"]
smollm, smollm_tokenizer = published_model(smollm_folder)
smollm_attention, smollm_ffn = smollm.blocks[0].self_attention, smollm.blocks[0].feed_forward
print(f"{len(smollm.blocks)} blocks of width {smollm.embedding.embedding_dim}")
print(f"{smollm_attention.n_heads} query heads share {smollm_attention.n_kv_heads} heads of keys and values")
print(f"SwiGLU with d_ff {smollm_ffn.w_up.out_features}; {smollm.embedding.num_embeddings:,} tokens")


# %% [markdown]
# An instruct model was trained on conversations in a fixed form, its **chat template** (lesson 14). The token
# `<|im_end|>` ends a turn.


# %% id="smollm2-answers" tags=["published-model"]
def smollm_answer(question: str, n_tokens: int = 40) -> str:
    """Return the model's answer, always with the most probable token."""
    prompt = f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
    greedy = partial(torch.argmax, dim=-1)
    text = continued(smollm, smollm_tokenizer, prompt, n_tokens, greedy, end="<|im_end|>")
    return text[len(prompt) :].removesuffix("<|im_end|>")


smollm_questions = ["What is the capital of France?", "Which animal says meow?", "Name three colors."]  # your questions
print(*(f"{question}\n{smollm_answer(question)}\n" for question in smollm_questions), sep="\n")

# %% [markdown]
# The parts that you wrote are all that a chat model needs. Ask your own questions! It writes fluent English and knows
# little: asked who wrote *Romeo and Juliet*, it invents a son of Shakespeare. (Each token takes longer than the one
# before, since `continued` has no cache; lesson 10 serves this model with yours.)

# %% [markdown]
# ## Your experiment
#
# Ungraded, about 20 minutes. Now test a claim of your own as this course tests its claims, or begin with this one:
#
# **Claim.** One head of keys and values instead of two costs less than 0.02 nats.
#
# **Prediction.** Before you run anything, write into the cell in how many of three runs it will hold.
#
# **Verdict.** Then say in one sentence what you may claim now. A claim that fails is a result, too.

# %% id="experiment" tags=["experiment", "skip-execution"]
prediction = ...  # the number of runs, 0 to 3, in which the claim will hold
holds = []
for seed in range(3):
    two, one = (trained(configs["grouped queries"] | {"n_kv_heads": n}, seed)[1] for n in (2, 1))
    holds.append(...)  # True or False: for instance one < two + 0.02
print("predicted:", prediction, " measured:", holds)
# Verdict:

# %% [markdown]
# ## In short
#
# - Simpler: RMSNorm leaves the mean alone, SwiGLU gates its hidden features.
# - Memory: grouped queries share keys and values, latent attention makes them from one short vector per token, local
#   layers forget them, sparse attention reads few of them.
# - Stability: QK-norm keeps the scores small; norms after the sublayers tolerate a high learning rate.
# - Capacity: a mixture of experts learned more than an FFN with its active parameters, and less than one with its
#   total; unbalanced, an expert can starve.
# - Small differences need many seeds.
# - A loader can be wrong without an error: compare logits. (Lesson 12 hunts such bugs.)
#
# In our one block, RoPE lowered the loss most. The shape of 2017 is still there: attend, transform, add.

# %%
table = trace_shapes(own_llama(options, published, parts.pairs_from_halves), tokens[:2, :11])
table.drop(columns="class")[:16]

# %% [markdown]
# ## New words
#
# The words of all lessons are in the [glossary](glossary.ipynb).
#
# - **RMSNorm**: divides each vector by the root mean square of its features; no mean, no bias.
# - **gated linear unit**: a layer with two projections, of which one scales the other, feature by feature.
# - **SwiGLU**: the gated linear unit with SiLU at the gate.
# - **latent vector**: in MLA, the short vector of a token, from which all heads make their keys and values.
# - **local**: of a layer, with a sliding window; other layers are global.
# - **sparse attention**: attention to a few past tokens, chosen anew for each query.
# - **indexer**: in sparse attention, the cheap scorer that chooses them.
# - **learned sink**: a logit of each head that takes part in the softmax, and has no value.
# - **mixture of experts**: many feed-forward networks in place of one, of which each token is sent to a few.
# - **router**: the linear layer that scores the experts for each token.
# - **top-k routing**: sending each token to the k experts with the largest scores.
# - **load balancing**: whatever keeps the experts about equally busy, such as an auxiliary loss.
# - **active parameters**: the parameters that one token meets.
# - **checkpoint layout**: names, shapes and order of rows of the tensors in a published model.
# - **low-rank adaptation**: training a product of two small matrices beside each frozen one; LoRA for short.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
#
# <details><summary>What is the difference between LayerNorm and RMSNorm?</summary>
#
# RMSNorm subtracts no mean and has no bias: it divides by the root mean square. A vector of equal numbers becomes zeros
# in LayerNorm, and ones in RMSNorm. It is simpler, and in our runs no worse. (<i>RMSNorm</i>, <i>What does each change
# buy</i>)
# </details>
#
# <details><summary>Why is d_ff of Llama not 4 d_model?</summary>
#
# SwiGLU has three matrices instead of two; with two thirds of the width it has as many parameters: 8/3 d_model, then
# rounded, in Llama 1 and most of Llama 2. (Later models choose freely: Llama 3 8B takes 14,336, 3.5 d_model.)
# (<i>SwiGLU</i>)
# </details>
#
# <details><summary>What does grouped-query attention save, and what does it cost?</summary>
#
# Keys and values, and with them the memory of the cache and the time to read it: a quarter is left with 32 query heads
# and 8 of keys. It is not meant to lower the loss; with nine seeds it cost about 0.02 at our best rate. (<i>Saving
# memory: grouped-query attention</i>, <i>What does each change buy</i>)
# </details>
#
# <details><summary>What is QK-norm for?</summary>
#
# It keeps the scores small. Without it, scores can grow to hundreds or thousands at a high learning rate; then the
# softmax saturates, and numbers of low precision are coarse. It does not replace a well-chosen rate: in 40 steps at ten
# times the usual rate, norms after the sublayers helped the loss more. (<i>Stabilizing training</i>)
# </details>
#
# <details><summary>You changed one part of a model, and the loss fell by 0.02. Is it better?</summary>
#
# Run both with several seeds first. With nine, our SwiGLU gained 0.02, hardly more than its standard error (at a lower
# rate 0.04 ± 0.01). And with three each, chance separates two equal models in one case of ten. (<i>What does each
# change buy</i>)
# </details>
#
# <details><summary>What does MLA cache, and must it make all keys again for each token?</summary>
#
# One latent vector per token. No: apply the keys' matrix to the query, and the values' after the average: equal output,
# and with 200 tokens in our cache a fiftieth of the operations. But the dot products have r numbers: with r = 256 and
# heads of 64, attending took five times the operations of cached keys and values, for a quarter of the memory.
# (<i>Saving memory: multi-head latent attention</i>)
# </details>
#
# <details><summary>Why do models mix local and global layers?</summary>
#
# Local layers need a short cache, but reach back only a window per layer. A few global layers reach everything.
# (<i>Saving memory: local and global layers</i>)
# </details>

# %% [markdown]
# <details><summary>How many parameters of a mixture of experts are active, and why does the load need
# balancing?</summary>
#
# Those of the k chosen experts, and everything that is not an expert. (Ours knew more facts than an FFN of that size,
# and fewer than one with all its parameters.) An expert that is not chosen gets no gradient, does not improve, and is
# still not chosen: ours, which we had put behind at the start, starved unless a loss or a bonus evened the load.
# (<i>Adding capacity</i>)
# </details>
#
# <details><summary>You load Llama's weights into your own classes, with no error, and it generates nonsense.
# Why?</summary>
#
# Perhaps RoPE's pairs: neighbors in one convention, halves in the other. The rows of w_q and w_k have to be permuted
# within each head. Compare logits with a known loader. (<i>Published weights</i>)
# </details>
#
# <details><summary>What does LoRA train, and why does b begin as zeros?</summary>
#
# Two small matrices beside a frozen one; their product is the change. With b = 0 training begins at the old model.
# (<i>★ Transfer</i>)
# </details>
#
# <details><summary>Does LoRA prevent forgetting?</summary>
#
# No. In larger models it "learns less and forgets less" than full fine-tuning ([Biderman et al.,
# 2024](https://arxiv.org/abs/2405.09673)); how much less depends on the rates. With our adapter in place most of the
# old dates were wrong. But an adapter can be taken out, and the old model is back. (<i>★ Transfer</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Touvron et al. (2023), [arXiv:2302.13971](https://arxiv.org/abs/2302.13971), section 2.2: Llama's
#   block.
# - Narang et al. (2021), [arXiv:2102.11972](https://arxiv.org/abs/2102.11972): many changes, tested by one team; most
#   do not improve the model in a meaningful way. Among the exceptions: RMSNorm, and gated units such as SwiGLU.
# - `transformer_lab/pretrained/llama.py` and `tensor_layout.py`: layouts in the library.
#
# <details><summary>Where each part comes from</summary>
#
# Qwen 3 (2025), [arXiv:2505.09388](https://arxiv.org/abs/2505.09388); Gemma 3 (2025),
# [arXiv:2503.19786](https://arxiv.org/abs/2503.19786); OLMo 2 (2025),
# [arXiv:2501.00656](https://arxiv.org/abs/2501.00656), with its norm after the sublayer.
#
# RMSNorm: Zhang and Sennrich (2019), [arXiv:1910.07467](https://arxiv.org/abs/1910.07467). GLU: Dauphin et al. (2016),
# [arXiv:1612.08083](https://arxiv.org/abs/1612.08083); SwiGLU: Shazeer (2020),
# [arXiv:2002.05202](https://arxiv.org/abs/2002.05202). GQA: Ainslie et al. (2023),
# [arXiv:2305.13245](https://arxiv.org/abs/2305.13245). QK-norm: Henry et al. (2020),
# [arXiv:2010.04245](https://arxiv.org/abs/2010.04245), there with lengths of 1; Dehghani et al. (2023),
# [arXiv:2302.05442](https://arxiv.org/abs/2302.05442). Latent attention: DeepSeek-V2 (2024),
# [arXiv:2405.04434](https://arxiv.org/abs/2405.04434). Experts: Shazeer et al. (2017),
# [arXiv:1701.06538](https://arxiv.org/abs/1701.06538); Switch: Fedus et al. (2021),
# [arXiv:2101.03961](https://arxiv.org/abs/2101.03961), section 2.2; Mixtral: Jiang et al. (2024),
# [arXiv:2401.04088](https://arxiv.org/abs/2401.04088). LoRA: Hu et al. (2021),
# [arXiv:2106.09685](https://arxiv.org/abs/2106.09685).
# </details>

# %% [markdown]
# How far did you get, and how well did you predict?

# %% id="tally"
tally()

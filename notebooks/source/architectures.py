# %% [markdown] id="title"
# # Architectures · what changed until 2026
#
# **The question.** Lesson 11 loaded a Llama from 2024. In large open models of 2026, the cache has changed, most have
# experts instead of a single feed-forward network, and some have no softmax in most layers. What does each change buy,
# and what does it cost?
#
# **Afterwards you can** write the core of DeepSeek's latent attention, the gated delta rule of Qwen 3.5 and Kimi K3,
# and the router of a mixture of experts. You can also explain the configuration of a model published in 2026.
#
# Reading: 27 minutes. Exercises: 45 minutes (three core; the stretch ★ takes 15 more). With all predictions, runs and
# questions: about 100 minutes, with a good place to stop half-way.

# %% [markdown]
# ## Before you start
#
# This lesson comes between 11 and 12. Three questions from earlier lessons. Answer each one aloud, then open it.
#
# <details><summary>Lesson 10: what limits how many requests a GPU can serve at once?</summary>
#
# The memory of the KV cache, and the time it takes to read that cache for every new token.
# </details>
#
# <details><summary>Lesson 11: what do query heads share in grouped-query attention?</summary>
#
# Each group of query heads shares one head of keys and values.
# </details>
#
# <details><summary>Lesson 06: what does a feed-forward network add to a layer?</summary>
#
# A nonlinear function of each position, and a simple way to add parameters. Lesson 06 found no evidence that it stores
# facts better than attention does: in 1,000 steps, attention alone learned them, too.
# </details>

# %% id="imports"
from collections import Counter
from collections.abc import Callable
from functools import partial

import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from transformer_course import check, compare, diagrams, hint, parts, plots, solution, tally
from transformer_course.stored_models.stored_model import FOLDER
from transformer_lab import LanguageModel, LanguageModelConfig, trace_shapes
from transformer_lab.data.docstrings import python_docstrings
from transformer_lab.pretrained.hub import read_json

# %%
_ = torch.manual_seed(11)

# %% [markdown]
# Each change in this lesson is meant to buy one of three things:
#
# | what it buys | what was changed |
# |---|---|
# | memory | latent attention, local layers, a state of fixed size, sparse attention |
# | stable training | QK-norm, norms after the sublayers |
# | capacity | a mixture of experts |

# %% [markdown]
# ## Saving memory: multi-head latent attention
#
# MLA (lesson 10) caches one short vector per token, the **latent vector** c. Each head computes its own keys and values
# from it, as on the left of the picture. (The right side comes later.)

# %%
diagrams.modern_block.latent()

# %% [markdown]
# **Exercise.** The queries are already split into heads. Head h computes its keys from the latent vectors with `w_k[h]`
# and its values with `w_v[h]`. All tokens in `latent` are in the past. (Real models cache 64 more numbers per token for
# RoPE; we leave them out.)


# %% id="latent_attention" tags=["exercise"]
def latent_attention(
    q: Float[Tensor, "batch n_heads n_query d"],
    latent: Float[Tensor, "batch n_key r"],
    w_k: Float[Tensor, "n_heads r d"],
    w_v: Float[Tensor, "n_heads r d"],
) -> Float[Tensor, "batch n_heads n_query d"]:
    """Let each head attend to keys and values that it computes from the latent vectors with its own matrices."""
    raise NotImplementedError


# %% id="check-latent_attention"
check(latent_attention)


# %%
class LatentAttention(nn.Module):
    """Read one token at a time, and cache only its latent vector."""

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
# Do you have to compute the keys of all earlier tokens again for each new token? A score is $q^\top (W^\top c) = (W
# q)^\top c$: you can apply the matrix to the *query* instead (columns here, rows in the code), as on the right of the
# picture, and `w_v` after averaging.


# %%
class Absorbed(LatentAttention):
    def attend(self, q: Tensor) -> Tensor:
        c = self.cache[:, None]  # for all heads
        weights = torch.softmax(q @ self.w_k.mT @ c.mT / q.shape[-1] ** 0.5, dim=-1)
        return weights @ c @ self.w_v


# %% [markdown]
# **Predict.** Both classes read 200 tokens, with 8 heads of width 64 and r = 64. How many times larger would the cache
# be if it held the keys and values of every head? Is the output of `Absorbed` `"equal"` or `"different"`? What fraction
# of the operations does it need, compared with computing all keys again: nearest to 0.5, 0.1 or 0.02? And with r = 256,
# how many times the operations of attending to *cached* keys and values: nearest to 0.2, 1 or 5?

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
    for name, kind in (("keys computed again", LatentAttention), ("absorbed", Absorbed)):
        way = kind(d_model=512, n_heads=8, r=r)
        way.cache = torch.randn(1, 200, r)
        costs[f"r = {r}, {name}"] = (r, n_operations(way.attend))
(cached, _), _, (short, again), (_, absorbed), _, (_, wide) = costs.values()

# %% tags=["hide-input"]
compare(prediction_numbers, measured=cached / short)
compare(prediction_output, measured="equal" if torch.allclose(*outputs, atol=1e-4) else "different")
compare(prediction_again, measured=absorbed / again, choices=(0.5, 0.1, 0.02))
compare(prediction_cached, measured=wide / plain, choices=(0.2, 1, 5))
columns = ["numbers per token in the cache", "thousands of operations to attend, per new token"]
pd.DataFrame([(n, round(o / 1000)) for n, o in costs.values()], index=list(costs), columns=columns)

# %% [markdown]
# <details><summary>With r = 256, five times the operations: why do models do that?</summary>
#
# That is the price of the absorbed form: each head compares and averages vectors of r numbers instead of its own width.
# In return, the cache is small: 8 heads of keys and values take four times as many bytes to store and read. With few
# heads, reading dominates the time (lesson 10). In DeepSeek-V3, with r = 512 and 128 heads, each byte takes part in
# about 240 operations, close to the limit of an H800 in practice (865 / 3.35, about 258), so DeepSeek calls its own
# decode kernel
# [compute-bound](https://github.com/deepseek-ai/FlashMLA/blob/f6894dbf015a931573d234626f7eff9b03152c1b/docs/20250422-new-kernel-deep-dive.md).
#
# GQA with 2 heads reads as many bytes as MLA with r = 256 and needs fewer operations. But the authors of DeepSeek-V2
# found GQA worse than attention with all its heads, and MLA better (appendix D). Kimi K2, Kimi K3 and GLM-5 use MLA,
# too; DeepSeek itself replaced it in V4. (RoPE would put a rotation between q and W, a different one for each earlier
# token. That is why DeepSeek rotates 64 separate numbers per token.)
# </details>

# %% [markdown]
# ## Saving memory: local and global layers
#
# A layer with a sliding window (lesson 10) is **local**. A **global** layer attends to everything before it. Only
# global layers need a long cache.
#
# **Predict.** Six layers have a window of 4: a token and the three before it. How many tokens back does the output for
# the last of 40 tokens depend on? And if the sixth layer is global?

# %% tags=["prediction"]
prediction_local, prediction_mixed = ..., ...


# %% tags=["hide-input"]
def seen(windows: list[int]) -> Bool[Tensor, "40"]:
    """Return which of 40 tokens the last output depends on, through layers with these windows."""
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
# A head that finds nothing relevant must still distribute weights that sum to 1: hence the attention sinks of lesson
# 10. A window drops the first tokens, the usual sinks. gpt-oss gives each head a **learned sink**: one more logit in
# the softmax, without a value.

# %%
scores = torch.tensor([0.1, -0.2, 0.0])  # nothing matches
for sink in (-torch.inf, 0.0, 3.0):
    weights = torch.softmax(torch.cat([scores, torch.tensor([sink])]), dim=0)[:-1]  # the sink's own weight is dropped
    print(f"sink {sink}: weights {[round(w, 2) for w in weights.tolist()]}, in all {weights.sum():.2f}")

# %% [markdown]
# ## Saving memory: a state instead of a cache
#
# Leave out the softmax, and with it the division by the sum. With rows as vectors, the output for a query is $\sum_j (q
# \cdot k_j)\, v_j = q \sum_j k_j^\top v_j$. The sum on the right is a matrix of shape (d_k, d_v), and it doesn't depend
# on the query. You can add it up token by token, like the hidden state of a recurrent network, and it never grows. This
# is linear attention (lesson 02). The layer needs no cache, only this matrix, its **state**.

# %% [markdown]
# Its weakness: it only adds. Give the key (1, 0) the value 2, later the value 5, and it returns 7. The **delta rule**
# fixes this. Before it writes, it reads what the state returns for the key, and writes only the difference:
#
# $$S \leftarrow \alpha_t\, S \qquad\quad S \leftarrow S + \beta_t\, k_t^\top (v_t - k_t S) \qquad\quad o_t = q_t S$$
#
# $S$ starts as zeros, and $k_t$, $v_t$, $q_t$ are rows. β is a number between 0 and 1: how much of the error to write.
# α, also between 0 and 1, is the **decay**: how much of the old state to keep. With it, this is the **gated delta
# rule** ([Yang et al., 2024](https://arxiv.org/abs/2412.06464)), the core of Gated DeltaNet (GDN). The model computes α
# and β from each token.

# %% [markdown]
# **Exercise.** Write it for one head and one text, as a loop over the tokens. For each token, decay the state, write,
# and then read.


# %% id="gated_delta_rule" tags=["exercise"]
def gated_delta_rule(
    q: Float[Tensor, "n d_k"],
    k: Float[Tensor, "n d_k"],
    v: Float[Tensor, "n d_v"],
    decay: Float[Tensor, " n"],
    beta: Float[Tensor, " n"],
) -> Float[Tensor, "n d_v"]:
    """Return what each query reads from a state into which its token and all earlier tokens were written."""
    raise NotImplementedError


# %% id="check-gated_delta_rule"
check(gated_delta_rule)

# %% [markdown]
# What can such a state remember? We write pairs of a random key and a random value, then ask for the newest value of
# each key. An answer is right if that value is nearest to the output. In one setting, every key gets one value. In the
# other, every key gets four values, one after another.
#
# **Predict.** The state has 64 × 64 numbers, and there are 16 keys. What fraction do you expect to recall: nearest to
# 0.2, 0.6 or 1? Give it for linear attention and for the delta rule without decay (α = 1, β = 1), first with one value
# per key and then with four.

# %% tags=["prediction"]
linear_once, delta_once = ..., ...
linear_four_times, delta_four_times = ..., ...


# %%
def linear_attention(q: Tensor, k: Tensor, v: Tensor, decay: Tensor) -> Tensor:
    """Return what the state of linear attention gives each query; old entries decay."""
    total = decay.log().cumsum(dim=0)
    return ((q @ k.mT) * (total[:, None] - total).exp()).tril() @ v


# %% tags=["hide-input"]
def recall(kind: str, d: int, n: int, n_values: int, n_passes: int, seed: int) -> float:
    """Write n_values values for each of n keys, all n_passes times; return the fraction of newest values recalled."""
    generator = torch.Generator().manual_seed(seed)
    keys, values = (F.normalize(torch.randn(m, d, generator=generator), dim=-1) for m in (n, n * n_values))
    asked = torch.zeros(n, d)  # the questions come after all pairs: they write nothing (β = 0), and nothing decays
    written = values.repeat(n_passes, 1)
    q = torch.cat([written, keys])
    k, v = torch.cat([keys.repeat(n_values * n_passes, 1), asked]), torch.cat([written, asked])
    decay, beta = torch.ones(len(q)), torch.ones(len(q))
    beta[-n:] = 0.0
    decay[:-n] = 0.98 if "0.98" in kind else 1.0
    outputs = linear_attention(q, k, v, decay) if "linear" in kind else parts.gated_delta_rule(q, k, v, decay, beta)
    nearest = (outputs[-n:] @ values.mT).argmax(dim=-1)
    return (nearest == torch.arange(len(values) - n, len(values))).float().mean().item()


# %% tags=["hide-input"]
STATES = ["linear attention", "linear, decay 0.98", "delta rule", "delta rule, decay 0.98"]
HOW = {"1 value each": (1, 1), "4 values each": (4, 1), "1 value each, 8 times": (1, 8)}
recalled = {
    f"{d} × {d} state, {n} keys, {how}": {
        kind: sum(recall(kind, d, n, *numbers, seed) for seed in range(10)) / 10 for kind in STATES
    }
    for d in (16, 64)
    for n in (d // 4, d)
    for how, numbers in HOW.items()
    if n == d or numbers[1] == 1
}
once, four_times = (recalled[f"64 × 64 state, 16 keys, {values} each"] for values in ("1 value", "4 values"))
compare(linear_once, measured=once["linear attention"], choices=(0.2, 0.6, 1))
compare(delta_once, measured=once["delta rule"], choices=(0.2, 0.6, 1))
compare(linear_four_times, measured=four_times["linear attention"], choices=(0.2, 0.6, 1))
compare(delta_four_times, measured=four_times["delta rule"], choices=(0.2, 0.6, 1))
pd.DataFrame(recalled).T.round(2)

# %% [markdown]
# If every key gets only one value, written once, plain linear attention recalls as many values or *more*: with d keys
# in a d × d state, each delta write disturbs what was stored under similar keys. If keys get new values, linear
# attention returns the sum of old and new values, and the delta rule recalls far more at both sizes. At β = 1, one pass
# buys only overwriting. When the same pairs come eight times, each pass corrects what is left of the errors, and the
# delta rule recalls at least as much as linear attention. A decay of 0.98 helps linear attention, too, because here all
# outdated values are older. But a decay forgets by age; the delta rule forgets by key.

# %% [markdown]
# Attention with softmax keeps every key and value, so it can recall them all. It pays for that in memory. Hence hybrids
# such as Qwen 3.5: three layers out of four have a state, and the fourth has full attention.
#
# <details><summary>Then why have a decay at all?</summary>
#
# To forget what no later key will overwrite, such as the previous document. The decay here is fixed at 0.98; a model
# computes it for each token and can set it near 0 to start afresh. In **Kimi Delta Attention** ([Kimi Linear,
# 2025](https://arxiv.org/abs/2510.26692)) each dimension of the key has its own decay.
# </details>
#
# <details><summary>What else do the models do, and how do they avoid the loop?</summary>
#
# Queries and keys are normalized to length 1 and come from a short convolution over the last four tokens; a gate scales
# the output. A loop over tokens is slow to train, so kernels process a chunk of tokens with matrix products, as in the
# bug hunt below, and loop only over the chunks.
# </details>

# %% [markdown]
# ---
#
# **Half-way.**

# %% [markdown]
# ## Stabilizing training: QK-norm, and norms after
#
# If scores differ by 50 or so, the softmax saturates and its gradient vanishes (lesson 02). **QK-norm** is an RMSNorm
# on each query and key before RoPE, so each starts with a root mean square of 1. Qwen 3 and Gemma 3 have it. OLMo 2 has
# it, too, and also moves the other norms: each of them normalizes what its sublayer *adds* to the residual stream.
#
# To measure this, we train models of one block (d_model 32) on the characters of Python's docstrings. The library's
# `LanguageModel` is built like your Llama of lesson 11, and both kinds of norms are among its options.


# %%
def fresh(vocab_size: int, **options) -> LanguageModel:
    """Return an untrained Llama with a single block."""
    sizes = {"d_model": 32, "n_heads": 4, "n_kv_heads": 2, "d_ff": 85, "n_layers": 1}
    model = LanguageModel(LanguageModelConfig.llama(vocab_size, **sizes, **options))
    draw_weights(model)
    nn.init.normal_(model.embedding.weight)
    return model


# %% tags=["hide-input"]
def draw_weights(module: nn.Module) -> None:
    """Draw each matrix so that its outputs have about the variance of its inputs."""
    for parameter in module.parameters():
        if parameter.dim() == 2:
            nn.init.normal_(parameter, std=parameter.shape[1] ** -0.5)


texts, held_out = python_docstrings()
CHARACTERS = ["?", *sorted(c for c, n in Counter("".join(texts)).items() if n > 100)]  # "?" stands for rare ones
NUMBER = {c: i for i, c in enumerate(CHARACTERS)}
training, testing = (
    torch.tensor([NUMBER.get(c, 0) for c in "".join(some)]).unfold(0, 33, 1) for some in (texts, held_out)
)  # every excerpt of 33 characters


def batches(tokens: Tensor, labels: Tensor, n: int, seed: int) -> Callable:
    """Return a function that draws n texts with their labels."""
    generator = torch.Generator().manual_seed(seed)

    def draw() -> tuple[Tensor, Tensor]:
        rows = torch.randint(len(tokens), (n,), generator=generator)
        return tokens[rows], labels[rows]

    return draw


# %% tags=["hide-input"]
def fit(model: nn.Module, draw: Callable, steps: int, rate: float, extra: Callable) -> Tensor:
    """Train with warm-up over 10 steps and decay over the second half; ``extra`` may return a loss to add."""
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    losses = []
    for step in range(1, steps + 1):
        optimizer.param_groups[0]["lr"] = rate * min(1, step / 10, 2 * (1 - (step - 1) / steps))
        tokens, labels = draw()
        loss = F.cross_entropy(model(tokens).flatten(0, 1), labels.flatten())  # labels of −100 do not count
        losses.append(loss.item())
        loss = loss + (extra() or 0.0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return torch.tensor(losses)


# %% [markdown]
# **Predict.** We train at ten times the usual learning rate. After 40 steps, is the largest score, in absolute value,
# nearest to 10, 100 or 1,000, with and without QK-norm? And which of the two gives the lower loss: `"QK-norm"` or
# `"norms after"`?

# %% tags=["prediction"]
prediction_with, prediction_without, lower_loss = ..., ..., ...


# %% tags=["hide-input"]
@torch.no_grad()
def largest_score(model: LanguageModel, tokens: Tensor) -> float:
    block, attention = model.blocks[0], model.blocks[0].self_attention
    x = block.norm_1(model.embedding(tokens))
    q = attention.norm_q(parts.split_heads(attention.w_q(x), attention.n_heads))
    k = attention.norm_k(parts.split_heads(attention.w_k(x), attention.n_kv_heads))
    k = k.repeat_interleave(attention.n_heads // attention.n_kv_heads, dim=1)
    return (q @ k.mT / q.shape[-1] ** 0.5).abs().max().item()


@torch.no_grad()
def added_by_the_ffn(model: LanguageModel, tokens: Tensor) -> float:
    """Return the root mean square of what the FFN adds, over that of the embedded tokens."""
    sizes = []
    hook = model.blocks[0].post_norm_2.register_forward_hook(lambda _, __, output: sizes.append(output.pow(2).mean()))
    model(tokens)
    hook.remove()
    return (sizes[0] / model.embedding(tokens).pow(2).mean()).sqrt().item()


# %% tags=["hide-input"]
def watched(change: dict, rate: float, seed: int) -> tuple[Tensor, float, float]:
    """Return the largest score before every step, the mean loss of the last 10, and what the FFN adds in the end."""
    torch.manual_seed(seed)
    model, scores, tokens = fresh(len(CHARACTERS), **change), [], testing[:16, :-1]
    draw = batches(training[:, :-1], training[:, 1:], 16, seed)
    losses = fit(model, draw, 40, rate, lambda: scores.append(largest_score(model, tokens)))
    return torch.tensor(scores), losses[-10:].mean().item(), added_by_the_ffn(model, tokens)


# %% id="qk-norm-runs" tags=["hide-input", "words-only"]
NORMS = {"neither": {}, "QK-norm": {"qk_norm": True}, "norms after": {"norm_placement": "after"}}
kinds = {f"{name}, rate 0.3": (change, 0.3) for name, change in NORMS.items()}
kinds |= {f"{name}, rate 0.03": (NORMS[name], 0.03) for name in ("neither", "norms after")}
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
# Without QK-norm, the largest score grows to hundreds or thousands; with it, it stays below 40 (means of three seeds).
# After these 40 steps at rate 0.3, QK-norm alone helps the loss little, if at all. Norms *after* the sublayers bring
# the loss down to that of the usual learning rate, with every seed.
#
# <details><summary>How do norms after the sublayers rescue the run?</summary>
#
# At rate 0.3 the FFN comes to add thousands of times what is in the stream, with QK-norm or without: see the last
# column. That drowns out everything else. With norms after the sublayers, what they add stays small, although the
# scores are as large as without any norm. (In 2017 the norms came after the sublayers, too, but on the stream itself.)
# At the usual rate this model needs neither.
# </details>
#
# <details><summary>Then what is QK-norm for?</summary>
#
# It bounds the scores: at the start to at most $8 / \sqrt 8$, about 2.8, for our 8 features (8 numbers with a root mean
# square of 1 make a vector of length $\sqrt 8$). That pays in large models. The loss of vision Transformers diverged at
# about 8 billion parameters; with norms on queries and keys, one with 22 billion could be trained (Dehghani et al.,
# 2023). Also, in bfloat16, in which most models are trained, numbers near 300 are rounded to multiples of 2.
# </details>

# %% [markdown]
# ## Adding capacity: a mixture of experts
#
# An FFN is a simple way to add parameters (lesson 06). But a wider FFN costs more for *every* token. A **mixture of
# experts** (MoE) has many FFNs, called experts. A small linear layer, the **router**, picks k of them for each token
# (**top-k routing**) and adds up their outputs with weights. The other experts, pale in the picture, are not computed.
# So each token uses only the **active parameters**: in Mixtral, 13 billion of 47 billion.

# %%
diagrams.modern_block.experts()

# %% [markdown]
# **Exercise.** `logits` has the router's scores for n tokens, (n, n_experts). For each token, choose the k experts with
# the largest logits, in any order. Their weights are a softmax over the *chosen* logits (as in Mixtral). Return the
# weights, then the experts.


# %% id="route" tags=["exercise"]
def route(logits: Float[Tensor, "n n_experts"], k: int) -> tuple[Float[Tensor, "n k"], Int[Tensor, "n k"]]:
    """Choose for each token the k experts with the largest logits, with weights that sum to 1 over these."""
    raise NotImplementedError


# %% id="check-route"
check(route)


# %%
class Experts(nn.Module):
    """Eight small networks, of which each token uses two."""

    def __init__(self, d_model: int, d_ff: int, sigmoid: bool = False) -> None:
        super().__init__()
        self.router, self.sigmoid = nn.Linear(d_model, 8), sigmoid
        self.experts = nn.ModuleList(parts.SwiGLU(d_model, d_ff) for _ in range(8))
        nn.init.zeros_(self.router.bias)
        self.balancing_bias, self.step = torch.zeros(8), 0.0  # for balancing without a loss

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.flatten(0, 1)
        logits = self.router(tokens)
        scores = logits.sigmoid() if self.sigmoid else logits
        _, chosen = parts.route(scores + self.balancing_bias, 2)  # the bias affects the choice, not the weights
        weights = scores.gather(1, chosen)
        weights = weights / weights.sum(dim=1, keepdim=True) if self.sigmoid else weights.softmax(dim=1)
        output = torch.zeros_like(tokens)
        for i, expert in enumerate(self.experts):
            rows, which = torch.where(chosen == i)  # the tokens that chose this expert, as first or second
            output = output.index_add(0, rows, weights[rows, which, None] * expert(tokens[rows]))
        update_load(self, logits, chosen)
        return output.view(x.shape)


# %% [markdown]
# ### Keeping all experts busy
#
# The task is like that of lesson 06: learn 48 · 48 = 2,304 random facts (1,600 there). The mixtures have eight experts
# with d_ff 16, two of them active. A narrow FFN (d_ff 32) matches their active parameters, a wide FFN (d_ff 128) their
# total. All train for 120 steps.

# %% [markdown]
# Expert 0 starts behind: its logit is lower by 3 (but not in `even start`). Three mixtures have **load balancing**. One
# adds an **auxiliary loss** (Fedus et al., 2021): 8 times the sum of load · mean probability. It is 1 if the loads are
# even and larger if busy experts also have large probabilities, so its gradient lowers those. The other two add a bias
# to each score, but only to choose the experts ([Wang et al., 2024](https://arxiv.org/abs/2408.15664)). After each
# step, the bias of an expert rises by a fixed amount if its load is too small, and falls otherwise. The last mixture
# scores with a sigmoid instead of a softmax, as DeepSeek-V3, GLM-5 and Kimi do.


# %%
def update_load(ffn: Experts, logits: Tensor, chosen: Tensor) -> None:
    ffn.load = F.one_hot(chosen, 8).float().mean(dim=(0, 1))  # the fraction of the tokens that each expert gets
    ffn.auxiliary_loss = 8 * (ffn.load * logits.softmax(dim=1).mean(dim=0)).sum()
    if torch.is_grad_enabled():  # in training
        ffn.balancing_bias += ffn.step * (1 / 8 - ffn.load).sign()


# %% [markdown]
# **Predict.** Does the mixture without balancing learn `"more"`, `"fewer"` or `"as many"` facts as the narrow FFN, and
# as the wide FFN? After training, what fraction of the tokens goes to expert 0 without balancing, with the loss and
# with the bias: nearest to 0, 0.06 or 0.125 (an even load)?

# %% tags=["prediction"]
prediction_narrow, prediction_wide = ..., ...
prediction_without, prediction_loss, prediction_bias = ..., ..., ...


# %% tags=["hide-input"]
pairs, N_STEPS = torch.cartesian_prod(torch.arange(48), torch.arange(48)), 120


@torch.no_grad()
def known_by(model: nn.Module, answers: Tensor) -> float:
    return (model(pairs)[:, 1].argmax(dim=-1) == answers).float().mean().item()


# %% tags=["hide-input"]
def learn_facts(
    ffn: nn.Module, seed: int, rate: float, behind: float = 0.0, balance: float = 0.0, step: float = 0.0
) -> tuple[list[float], list[float]]:
    """Return the fraction of facts known before every twentieth step and at the end, and the load of each expert."""
    answers = torch.randint(48, (2304,))
    labels = torch.stack([torch.full((2304,), -100), answers], dim=1)
    model = fresh(48)
    model.blocks[0].feed_forward = ffn
    known, steps, ffn.step, ffn.load = [], iter(range(N_STEPS)), step, torch.zeros(0)
    if behind:
        ffn.router.bias.data[0] = -behind

    def extra() -> Tensor | float:
        if next(steps) % 20 == 0:
            known.append(known_by(model, answers))
        return balance * ffn.auxiliary_loss if balance else 0.0

    fit(model, batches(pairs, labels, 256, seed), N_STEPS, rate, extra)
    return [*known, known_by(model, answers)], ffn.load.tolist()


# %% tags=["hide-input"]
mixture, sigmoid = partial(Experts, 32, 16), partial(Experts, 32, 16, sigmoid=True)
KINDS = {
    "narrow FFN": (partial(parts.SwiGLU, 32, 32), {}),
    "wide FFN": (partial(parts.SwiGLU, 32, 128), {}),
    "not balanced": (mixture, {"behind": 3.0}),
    "balanced by a loss": (mixture, {"behind": 3.0, "balance": 0.3}),
    "balanced by a bias": (mixture, {"behind": 3.0, "step": 0.1}),
    "even start": (mixture, {}),
    "sigmoid and bias": (sigmoid, {"behind": 3.0, "step": 0.02}),
}


def learned_by(kind: str, seed: int, rate: float) -> tuple[list[float], list[float]]:
    """Train one kind, and return what ``learn_facts`` does; about three seconds."""
    torch.manual_seed(seed)
    network, options = KINDS[kind]
    ffn = network()
    draw_weights(ffn)
    return learn_facts(ffn, seed, rate, **options)


# %% [markdown]
# You can train one kind with `learned_by("not balanced", seed=0, rate=0.02)`. Here are the stored results of all kinds,
# with three seeds at three learning rates:

# %% id="facts-runs" tags=["hide-input"]
stored = read_json(FOLDER / "expert-runs" / "facts.json")
print(f"{stored['command']}: {stored['cpu_minutes']} minutes on one core")
runs = stored["runs"]["0.02"]
curves = {kind: torch.tensor([curve for curve, _ in three]) for kind, three in runs.items()}
known = {rate: {kind: [c[-1] for c, _ in three] for kind, three in by.items()} for rate, by in stored["runs"].items()}
load = {kind: torch.tensor([load for _, load in three]).mean(dim=0) for kind, three in runs.items() if three[0][1]}


def than(one: str, other: str) -> str:
    """Compare the facts that two kinds know, with all their seeds."""
    ones, others = known["0.02"][one], known["0.02"][other]
    return "more" if min(ones) > max(others) else "fewer" if max(ones) < min(others) else "as many"


compare(prediction_narrow, measured=than("not balanced", "narrow FFN"))
compare(prediction_wide, measured=than("not balanced", "wide FFN"))
shown = {kind: curves[kind] for kind in ("narrow FFN", "wide FFN", "not balanced", "balanced by a loss")}
_ = plots.lines(range(0, N_STEPS + 1, 20), shown, "step", "fraction of facts known", legend_beside=True)

# %% tags=["hide-input"]
rows = {}
for kind, (network, _) in KINDS.items():
    ffn = network()
    total = sum(p.numel() for p in ffn.parameters())
    inactive = sum(p.numel() for expert in ffn.experts[2:] for p in expert.parameters()) if kind in load else 0
    spread = {f"facts known, rate {rate}": f"{min(by[kind]):.2f} to {max(by[kind]):.2f}" for rate, by in known.items()}
    rows[kind] = {"parameters": total, "active": total - inactive, **spread}
pd.DataFrame(rows).transpose()

# %% tags=["hide-input"]
compare(prediction_without, measured=load["not balanced"][0].item(), choices=(0, 0.06, 0.125))
compare(prediction_loss, measured=load["balanced by a loss"][0].item(), choices=(0, 0.06, 0.125))
compare(prediction_bias, measured=load["balanced by a bias"][0].item(), choices=(0, 0.06, 0.125))
shown = {kind: loads for kind, loads in load.items() if kind != "even start"}
ax = pd.DataFrame(shown).plot.bar(color=plots.COLORS, rot=0, xlabel="expert", ylabel="load", figsize=(8.5, 2.6))
ax.axhline(1 / 8, color=plots.INK, linestyle=":")
ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
print("even start: the smallest load of an expert, with three seeds:", *(min(loads) for _, loads in runs["even start"]))

# %% [markdown]
# At 0.02, the best of these rates for every kind, and at a third of it, every mixture knows more facts than the narrow
# FFN, with the same active parameters. The wide FFN, with the same total, knows even more. So a mixture buys part of
# what size brings, with the operations of the small FFN and the memory of the large one. At three times the rate
# everything learns less, and the mixtures are hardly ahead of the narrow FFN.

# %% [markdown]
# Without balancing, expert 0 starves: it is hardly ever chosen, so it gets hardly any gradient. A loss or a bias gives
# it nearly an even load. Seven experts learn nearly as many facts as eight, so balancing only keeps an expert from
# wasting memory here. Across machines (lesson 13), all devices wait for the busiest. Sigmoid scores with a bias are
# balanced just as well; here they learn slightly fewer facts than softmax scores, with each seed at each rate.
#
# <details><summary>Do experts starve from an even start?</summary>
#
# Hardly, here: after 120 steps the loads are uneven, but the least busy expert still works (its load is printed above).
# In larger models they did: Shazeer et al. (2017, section 4) saw their router settle on the same few. "This imbalance
# is self-reinforcing, as the favored experts are trained more rapidly and thus are selected even more by the gating
# network." We put one behind so that you need not wait for chance.
# </details>
#
# <details><summary>And with k = 1?</summary>
#
# The softmax over one logit is always 1, so the router would learn nothing from the loss. Switch, with k = 1, takes the
# softmax over all experts and weights the chosen one by its probability.
# </details>

# %% [markdown]
# ## Models from 2019 to autumn 2026
#
# First the words and numbers of the table that you have not met:
#
# | in the table | meaning |
# |---|---|
# | 32, 8 | 32 query heads share 8 heads of keys and values; "64, 1" is one head of keys and values for all 64 |
# | 256 + 1 shared, 8 + 1 | each token uses 8 of 256 experts and the **shared** expert, which processes every token |
# | 2,048 that an indexer picks | a small attention, the indexer, scores the past; heads read the best 2,048 tokens |
# | blocks of 128, of 4 | the heads read whole blocks of neighboring tokens instead of single tokens |
# | compressed tokens | one cache entry for 4 or 128 neighboring tokens |
# | have a state | layers with the gated delta rule, or a relative of it, instead of a cache |
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
# | Gemma 4 31B (2026) | 60 | 32, 16 (global 4) | none | as Gemma 3 | RMSNorm before, after; QK-norm |
# | DeepSeek-V4-Flash (2026) | 43 | 64, 1 | 256 + 1, 6 + 1 | the last 128, and compressed tokens | RMSNorm before |
# | MiniMax-M3 (2026) | 60 | 64, 4 | 128 + 1, 4 + 1 | 17 blocks of 128; an indexer picks 16 | RMSNorm before; QK-norm |
# | Kimi K3 (2026) | 93; 69 have a state | 96, MLA | 896 + 2, 16 + 2 | all before it | RMSNorm before |
# | Qwen3.8-Flash-Next (2026) | 48; 36 have a state | 24, 2 | 512 + 1, 10 + 1 | 512 blocks of 4 | RMSNorm before |

# %% [markdown]
# Now read eleven lines of
# [DeepSeek-V3's config.json](https://huggingface.co/deepseek-ai/DeepSeek-V3/blob/main/config.json) with these words:
#
# | field | value | what you know about it |
# |---|---|---|
# | `num_hidden_layers` | 61 | layers |
# | `hidden_size` | 7168 | d_model |
# | `num_attention_heads` | 128 | query heads |
# | `kv_lora_rank` | 512 | MLA: r, the numbers of the latent vector |
# | `qk_rope_head_dim` | 64 | the numbers per token cached for RoPE, next to the latent vector |
# | `first_k_dense_replace` | 3 | the first three layers have one FFN and no experts |
# | `n_routed_experts` | 256 | experts that the router chooses from |
# | `num_experts_per_tok` | 8 | k of top-k routing |
# | `n_shared_experts` | 1 | the expert that processes every token |
# | `scoring_func` | "sigmoid" | the router's scores, instead of a softmax |
# | `num_nextn_predict_layers` | 1 | the layer for multi-token prediction |
#
# All but GPT-2 have gated units, and all but GPT-2 and Kimi K3 have RoPE. (Kimi K3 has no positions: its states read
# the tokens in order and decay.) A shared expert processes every token. Why so many experts? Choosing 2 of 16 gives 120
# combinations; 8 of 64 smaller ones give 4.4 billion ([DeepSeekMoE](https://arxiv.org/abs/2401.06066)).
#
# Changes since the end of 2024, and what they are meant to buy:
#
# | change | buys | models |
# |---|---|---|
# | *a state* with gated delta rule in three layers of four | no cache there | Qwen 3.5 to 3.8, Kimi K3 |
# | *sparse attention* with an indexer | fewer keys to read | DeepSeek-V3.2, GLM-5, MiniMax-M3 |
# | *compressed tokens*: one entry for 4 or 128 | a shorter cache | DeepSeek-V4 |
# | *KV sharing*: late layers reuse earlier keys and values | a smaller cache | Gemma 4 E2B |
# | *K = V*: one projection is key and value | half of the cache | Gemma 4 31B, DeepSeek-V4 |
# | *partial RoPE*: only part of a head is rotated | features without position | Qwen 3.5 to 3.8, Gemma 4 |
# | *gated attention*: a sigmoid gate before `w_o` | heads can switch off | Qwen 3.5 to 3.8, Kimi K3 |
# | *hyper-connections*: four residual streams | a wider stream | DeepSeek-V4, GLM-5.3-Flash |
# | *FP4 experts*: about 4.25 bits per weight | a quarter of the memory | gpt-oss, DeepSeek-V4, Kimi K3 |
# | *multi-token prediction*: a layer predicts one token further | a draft | DeepSeek-V3 and V4, GLM-5, Qwen 3.5 |

# %% [markdown]
# <details><summary>More about these changes</summary>
#
# - State: Kimi Linear and GLM-5.3-Flash also have one in three layers of four, Ling 3.0 in five of six.
# - Indexer: Hy4-preview and Qwen3.8-Flash-Next have one, too. It picks single tokens or blocks of 4 to 128.
# - KV sharing: the last 20 of 35 layers in Gemma 4 E2B, the last 18 of 42 in E4B. K = V: in Gemma 4 31B only in the
#   global layers.
# - Partial RoPE: a quarter of each head in Qwen and in Gemma 4's global layers, half in MiniMax-M3, 64 of 512 features
#   in DeepSeek-V4. Kimi K3 has no positions at all.
# - Hyper-connections: a sublayer reads a weighted sum of the four streams and adds its output to all of them with
#   another four weights. DeepSeek-V4 also mixes the streams with a 4 × 4 matrix whose rows and columns sum to 1;
#   Hy4-preview and Qwen3.8-Flash-Next do not.
# - FP4: the MXFP4 format of gpt-oss stores 4 bits per weight, and 8 more bits as a scale for every 32 weights.
# - Multi-token prediction (MTP): in DeepSeek-V3, an extra layer reads the model's last vectors and the embedding of the
#   next token, and predicts the token after that. It's trained along with the model. You can drop it when you serve the
#   model, or use it as a draft (lesson 10). The practice bank has the loss as an exercise.
# </details>

# %% [markdown]
# <details><summary>Sources, and how certain they are</summary>
#
# Papers:
# [GPT-2](https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf), [Llama
# 3](https://arxiv.org/abs/2407.21783), [DeepSeek-V3](https://arxiv.org/abs/2412.19437) (its first three layers have one
# FFN and no experts), [Gemma 3](https://arxiv.org/abs/2503.19786), [Qwen 3](https://arxiv.org/abs/2505.09388),
# [gpt-oss](https://arxiv.org/abs/2508.10925), [Kimi Linear](https://arxiv.org/abs/2510.26692), [hyper-connections with
# a constrained matrix](https://arxiv.org/abs/2512.24880). For 2026 we read the code and the default configurations in
# transformers, at these commits:
# [GLM-5](https://github.com/huggingface/transformers/blob/598881bceccfbc4ec888e43df68dc235415426bf/src/transformers/models/glm_moe_dsa/configuration_glm_moe_dsa.py),
# [Qwen
# 3.5](https://github.com/huggingface/transformers/blob/e36255cb9af68ea2c16fefd6b1c798882cafda16/src/transformers/models/qwen3_5_moe/configuration_qwen3_5_moe.py),
# [DeepSeek-V4](https://github.com/huggingface/transformers/blob/361455895daf94ca66f78cf6792b09af397b4b30/src/transformers/models/deepseek_v4/modeling_deepseek_v4.py),
# [Gemma
# 4](https://github.com/google-deepmind/gemma/blob/b2dc124b6b1fb3eebb34010c0c5f1e0cf42cf3c5/gemma/gm/nn/gemma4/_gemma4.py),
# [MiniMax-M3](https://github.com/huggingface/transformers/blob/290b8469970c816b17ab0896f116695d7a875f7f/src/transformers/models/minimax_m3_vl/modular_minimax_m3_vl.py),
# [Hy4-preview](https://github.com/huggingface/transformers/blob/cdda7eb050c0a111f740ab30699f419de4f77bc6/src/transformers/models/hy_v4/modular_hy_v4.py)
# and
# [Qwen3.8-Flash-Next](https://github.com/huggingface/transformers/blob/39329c576307cf0fd002ccc371b23e5b6ffa4d21/src/transformers/models/qwen4_exp/modular_qwen4_exp.py).
# FP4 weights: [vLLM's recipes](https://github.com/vllm-project/recipes/tree/2c22f3fe14583810bfc6c3ccd281cdeff64e508e).
# Multi-token prediction: the papers of DeepSeek-V3 (section 2.2) and [DeepSeek-V4](https://arxiv.org/abs/2606.19348)
# (section 2.1); for GLM-5,
# [transformers](https://github.com/huggingface/transformers/blob/01f8fa55d98fbd77fb6461c47ae14fc6206f2f87/src/transformers/models/glm_moe_dsa/modular_glm_moe_dsa.py)
# skips the extra layer, number 78; for Qwen 3.5,
# [vLLM](https://github.com/vllm-project/vllm/blob/9a4f2b9f6c0912ea45bed24fe3d5ef414fc9d194/vllm/model_executor/models/qwen3_5_mtp.py)
# has it.
#
# Less certain: we know the sizes of Kimi K3 and Qwen3.8-Flash-Next only from copies of their `config.json` in other
# repositories, and the ratio of layers in GLM-5.3-Flash from a secondary source. A default configuration describes one
# checkpoint, not every model of that name. For most of these changes we found no independent ablations, so the column
# "buys" is what their authors aim for.
# </details>

# %% [markdown]
# ## Bug hunt
#
# A colleague speeds up the gated delta rule. She processes chunks of four tokens with matrix products and loops only
# over the chunks. If all keys within a chunk are orthogonal, her outputs are right; with other keys, they are wrong.
# Decide why *before* you look at the check. Then write a correct `mended` in the cell after it.


# %% tags=["bug-hunt"]
def delta_rule_of_a_colleague(q, k, v, decay, beta):
    state, outputs = torch.zeros(k.shape[1], v.shape[1]), []
    for start in range(0, len(k), 4):
        queries, keys, values, alpha, b = (x[start : start + 4] for x in (q, k, v, decay, beta))
        kept = alpha.cumprod(dim=0)[:, None]  # what is left of the chunk's first state at each token
        errors = b[:, None] * (values - kept * (keys @ state))
        between = (kept / kept.T).tril()  # [t, s]: what is left at token t of what token s wrote
        outputs.append(kept * (queries @ state) + (queries @ keys.T * between) @ errors)
        state = kept[-1] * state + (keys * between[-1][:, None]).T @ errors
    return torch.cat(outputs)


# %% id="mend-delta"
mended = delta_rule_of_a_colleague

# %% id="check-mend-delta"
check(mended, "gated_delta_rule", save=False)

# %% [markdown]
# <details><summary>What the bug is, and how fast kernels avoid it</summary>
#
# All errors of a chunk are computed from the state at its start. But a later token must subtract what earlier tokens of
# the *same* chunk have just written, if their keys overlap. So the errors depend on each other: error t needs the
# errors before it. That is a triangular system of linear equations, four by four here, which
# `torch.linalg.solve_triangular` solves at once. Fast kernels do the same with longer chunks. The simplest fix is the
# loop that you wrote.
# </details>

# %% [markdown]
# ## ★ Transfer: sparse attention
#
# A window drops old tokens whether they matter or not. In **sparse attention**
# ([DeepSeek-V3.2](https://arxiv.org/abs/2512.02556)), a small and cheap attention, the **indexer**, first scores all
# past tokens. The large heads then attend only to the k best (2,048 in DeepSeek-V3.2). The indexer learns to imitate
# the attention weights.
#
# **Exercise.** `index_scores[i, j]` is the indexer's score of key j for query i. Let each query attend to the `n_kept`
# past tokens with the largest scores (itself included), or to all of them if there are fewer. A later token must never
# be chosen.


# %% id="sparse_attention" tags=["exercise"]
def sparse_attention(
    q: Float[Tensor, "n d_k"],
    k: Float[Tensor, "n d_k"],
    v: Float[Tensor, "n d_v"],
    index_scores: Float[Tensor, "n n"],
    n_kept: int,
) -> Float[Tensor, "n d_v"]:
    """Return the attention of each query to those past tokens that the indexer scores highest."""
    raise NotImplementedError


# %% id="check-sparse_attention"
check(sparse_attention)

# %% [markdown]
# How good must the indexer be? Here its scores are the true ones plus noise.

# %%
q, k, v = torch.randn(3, 256, 64)
q = 3 * q  # scores this large pick few keys
scores = q @ k.mT / 64**0.5
full = parts.masked_attention(q, k, v, parts.causal_mask(256))
chosen = {f"indexer, noise {noise}": scores + noise * torch.randn(256, 256) for noise in (0, 1, 3)}
chosen["the last 32 tokens"] = torch.arange(256.0).expand(256, 256)
for name, index_scores in chosen.items():
    difference = (parts.sparse_attention(q, k, v, index_scores, 32) - full)[128:].norm() / full[128:].norm()
    print(f"{name}: 32 keys per query, relative difference from full attention {difference:.2f}")

# %% [markdown]
# With perfect scores, attention to 32 keys is close to attention to all of up to 256 (relative difference 0.05). If the
# noise is as large as the scores, 3, much is lost (0.41), but less than with a window of 32 tokens (1.43): the keys
# that matter here are at random positions.

# %% [markdown]
# ## Your experiment
#
# Ungraded, about 15 minutes. Test a claim of your own the way this lesson tests its claims, or start with this one:
#
# **Claim.** A smaller β, such as 0.5, recalls more than β = 1 if every key gets one value and there are d keys.
#
# **Prediction.** Before you run anything, write down in how many of three runs the claim will hold.
#
# **Verdict.** Say in one sentence what the runs show, and for which setting. A claim that fails is a result, too.

# %% id="experiment" tags=["experiment", "skip-execution"]
prediction = ...  # in how many of the three runs will the claim hold?
holds = []
for seed in range(3):
    generator = torch.Generator().manual_seed(seed)
    keys, values = (F.normalize(torch.randn(32, 32, generator=generator), dim=-1) for _ in range(2))
    q, k, v = torch.cat([keys, keys]), torch.cat([keys, 0 * keys]), torch.cat([values, 0 * values])
    for beta in (0.5, 1.0):
        rates = torch.cat([torch.full((32,), beta), torch.zeros(32)])
        outputs = parts.gated_delta_rule(q, k, v, torch.ones(64), rates)[32:]
        print(seed, beta, ((outputs @ values.mT).argmax(dim=-1) == torch.arange(32)).float().mean())
    holds.append(...)  # True or False, from the two fractions that are printed
print("predicted:", prediction, " measured:", holds)
# Verdict:

# %% [markdown]
# ## In short
#
# - Memory: latent attention makes keys and values from one short vector per token. Local layers forget old tokens. A
#   state has a fixed size, and the delta rule overwrites what it stored under a key. Sparse attention reads few tokens.
# - Stability: QK-norm kept the scores small; norms after the sublayers tolerated a rate of 0.3 (one block, 40 steps).
# - Capacity: at its best rate, a mixture of experts learned more than an FFN with its active parameters, and less than
#   one with its total. Without balancing, an expert that was behind starved.
# - Of the six models of 2026 in our table, two have a state in most layers, five have local or sparse attention, and
#   five have experts.

# %%
model = fresh(48)
model.blocks[0].feed_forward = Experts(d_model=32, d_ff=16)
table = trace_shapes(model, pairs[:11])
table.drop(columns="class")[:16]

# %% [markdown]
# ## New words
#
# The words of all lessons are in the [glossary](glossary.ipynb).
#
# - **latent vector**: in MLA, the short vector of a token, from which all heads make their keys and values.
# - **local**: of a layer, with a sliding window; other layers are global.
# - **learned sink**: a logit of each head that takes part in the softmax and has no value.
# - **state**: in linear attention, the matrix of fixed size that stores all keys and values.
# - **delta rule**: writing only the difference between the value and what the state already returns for its key.
# - **gated delta rule**: the delta rule with a decay of the state before each write.
# - **decay**: the fraction of the state that is kept at a token.
# - **sparse attention**: attention to a few past tokens, chosen for each query separately.
# - **indexer**: in sparse attention, the cheap scorer that chooses them.
# - **mixture of experts**: many feed-forward networks instead of one, of which each token uses a few.
# - **router**: the linear layer that scores the experts for each token.
# - **top-k routing**: sending each token to the k experts with the largest scores.
# - **load balancing**: any method that keeps the experts about equally busy, such as an auxiliary loss or a bias.
# - **auxiliary loss**: a term added to the loss for a purpose other than the task, here balancing.
# - **active parameters**: the parameters that one token uses.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
#
# <details><summary>What does MLA cache, and must it make all keys again for each token?</summary>
#
# One latent vector per token. No: apply the keys' matrix to the query, and the values' matrix after the average. The
# output is the same, and with 200 tokens in our cache it took a fiftieth of the operations. But the dot products have r
# numbers: with r = 256 and heads of width 64, attending took five times the operations of cached keys and values, for a
# quarter of the memory. (<i>Saving memory: multi-head latent attention</i>)
# </details>
#
# <details><summary>Why do models mix local and global layers?</summary>
#
# Local layers need only a short cache, but each one reaches back only one window further. A few global layers reach
# everything. (<i>Saving memory: local and global layers</i>)
# </details>
#
# <details><summary>What does the delta rule change in linear attention, and what does it not change?</summary>
#
# It subtracts what the state already returns for a key before it writes, so a new value replaces the old one. It does
# not enlarge the state: with as many random keys as dimensions, one value each and one pass at β = 1, it recalled no
# more than plain linear attention. (<i>Saving memory: a state</i>)
# </details>
#
# <details><summary>Why do hybrids keep full attention in some layers?</summary>
#
# A state of fixed size cannot hold an arbitrarily long text: with more pairs, recall falls. A few layers with a cache
# can look up any earlier token exactly. (<i>Saving memory: a state</i>)
# </details>
#
# <details><summary>What is QK-norm for?</summary>
#
# It keeps the scores small. Without it, scores can grow to hundreds or thousands at a high learning rate; then the
# softmax saturates, and numbers of low precision are coarse. It does not replace a well-chosen rate: in 40 steps at ten
# times the usual rate, norms after the sublayers helped the loss more. (<i>Stabilizing training</i>)
# </details>
#
# <details><summary>How many parameters of a mixture of experts are active, and why does the load need
# balancing?</summary>
#
# Those of the k chosen experts, and everything that is not an expert. An expert that is not chosen gets no gradient,
# does not improve, and is still not chosen. Ours, which we had put behind at the start, starved unless a loss or a bias
# evened the load. (<i>Adding capacity</i>)
# </details>
#
# <details><summary>What does the indexer of sparse attention save, and what can go wrong?</summary>
#
# The large heads read k tokens instead of all. The indexer still scores every past token, but with few small heads and
# in low precision. If its scores are poor, the tokens that matter are missing. (<i>★ Transfer</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Yang et al. (2024), [arXiv:2412.06464](https://arxiv.org/abs/2412.06464): gated delta networks, with the chunked
#   algorithm.
# - Kimi Linear (2025), [arXiv:2510.26692](https://arxiv.org/abs/2510.26692): a hybrid measured against full attention.
# - DeepSeek-V3.2 (2025), [arXiv:2512.02556](https://arxiv.org/abs/2512.02556): sparse attention with an indexer.
#
# <details><summary>Where each part comes from</summary>
#
# Linear attention: Katharopoulos et al. (2020), [arXiv:2006.16236](https://arxiv.org/abs/2006.16236); the delta rule in
# it: Schlag et al. (2021), [arXiv:2102.11174](https://arxiv.org/abs/2102.11174). QK-norm: Henry et al. (2020),
# [arXiv:2010.04245](https://arxiv.org/abs/2010.04245), there with lengths of 1; Dehghani et al. (2023),
# [arXiv:2302.05442](https://arxiv.org/abs/2302.05442). OLMo 2 (2025),
# [arXiv:2501.00656](https://arxiv.org/abs/2501.00656), with its norm after the sublayer. Latent attention: DeepSeek-V2
# (2024), [arXiv:2405.04434](https://arxiv.org/abs/2405.04434). Experts: Shazeer et al. (2017),
# [arXiv:1701.06538](https://arxiv.org/abs/1701.06538); Switch: Fedus et al. (2021),
# [arXiv:2101.03961](https://arxiv.org/abs/2101.03961), section 2.2; Mixtral: Jiang et al. (2024),
# [arXiv:2401.04088](https://arxiv.org/abs/2401.04088).
# </details>

# %% [markdown]
# How far did you get, and how well did you predict?

# %% id="tally"
tally()

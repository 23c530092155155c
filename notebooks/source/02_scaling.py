# %% [markdown] id="title"
# # 02 · Why divide by √d_k
#
# **The question.** The Transformer's attention differs from that of lesson 01 in one symbol: the scores are divided by
# $\sqrt{d_k}$, the root of the width of queries and keys. Why divide at all? Why by the root, and not by the width
# itself?
#
# **Afterwards you can** say how large a score gets and why, show what goes wrong when it is too large or too small (one
# explanation that you will read is wrong), and compare dot-product with additive attention.
#
# Reading: 30 minutes. Exercises: 40 minutes (four core, one stretch ★).

# %% [markdown]
# ## Before you start
#
# Three questions from lesson 01. Answer each one aloud, then open it.
#
# <details><summary>Along which axis do the attention weights add up to 1?</summary>
#
# Along the keys, the last axis: each query has one unit of attention to hand out.
# </details>
#
# <details><summary>All the scores of a query are doubled. What happens to its weights?</summary>
#
# They get sharper: the best key gets more, the others less. The order stays.
# </details>
#
# <details><summary>Is the dot product the cosine similarity?</summary>
#
# Only for vectors of length 1. In general it is the cosine times both lengths.
# </details>

# %% id="imports"
import math
import time

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from transformer_lab import plots
from transformer_lab.course import check, compare, hint, parts, solution

# %%
torch.manual_seed(2)
torch.set_printoptions(precision=2, sci_mode=False)

# %% [markdown]
# ## How large does a score get?
#
# A score adds up products, one for each entry of the query and the key. In lesson 01 most vectors had two or three
# entries. In the Transformer of the paper (Vaswani et al., 2017) queries and keys have 64, and could have as many as
# the words in it, 512. This width was `d` in lesson 01; from here on it is `d_k`, k for key.
#
# **Predict.** Queries and keys hold ordinary random numbers (mean 0, standard deviation 1). With 512 entries, is a
# typical score near 1, near 22, or near 512?

# %% tags=["prediction"]
prediction = ...

# %%
queries, keys = torch.randn(2, 10_000, 512)
scores = (queries * keys).sum(dim=-1)  # 10,000 scores, each of one query with one key
compare(prediction, measured=round(scores.std().item(), 1))

# %% [markdown]
# 512 products, but not 512: the products are as often negative as positive, and mostly cancel. Not 1 either: what is
# left over still grows, as somebody who steps left or right at random drifts away from the start all the same.
#
# **Predict.** With 128 entries instead of 512, a quarter as many, what is a typical score?

# %% tags=["prediction"]
prediction = ...

# %%
spread = {d: (queries[:, :d] * keys[:, :d]).sum(dim=-1).std().item() for d in (8, 32, 128, 512)}
compare(prediction, measured=round(spread[128]))
pd.DataFrame({"d_k": spread.keys(), "typical score": spread.values(), "√d_k": [d**0.5 for d in spread]}).round(1)

# %% [markdown]
# Four times the width, twice the score: it grows like $\sqrt{d_k}$. Here is why, in three steps.
#
# 1. The **variance** is the square of the standard deviation. One product $q_i k_i$ of independent numbers with mean 0
#    has mean 0 too, and its variance is the product of their variances. If both have variance $\sigma^2$, that is
#    $\sigma^2 \cdot \sigma^2 = \sigma^4$.
# 2. Variances of independent numbers add up. There are $d_k$ products.
# 3. The typical size is the root of the variance.
#
# **Exercise.** Write steps 1 and 2 as a function.


# %% id="score_variance" tags=["exercise"]
def score_variance(d_k: int, variance: float) -> float:
    """Give the variance of q·k, where all entries are independent, have mean 0 and this variance."""
    raise NotImplementedError


# %% id="check-score_variance"
check(score_variance)

# %%
rows = []
for width, variance in [(16, 1.0), (64, 1.0), (64, 0.25), (512, 2.0)]:
    q, k = torch.randn(2, 20_000, width) * variance**0.5
    measured = (q * k).sum(dim=-1).var().item()
    rows.append((width, variance, parts.score_variance(width, variance), round(measured, -1 if measured > 100 else 0)))
pd.DataFrame(rows, columns=["d_k", "variance of an entry", "your formula", "measured, roughly"])

# %% [markdown]
# ## What do large scores do?
#
# Take 64 random keys. No key deserves special attention: all are equally random. In lesson 01 we saw that large
# scores make sharp weights.
#
# **Predict.** With a width of 256 and no division, how much of its attention does a query give to the one key that
# happens to score best? (Spread evenly, each would get 1/64 = 0.016.)

# %% tags=["prediction"]
prediction = ...

# %%
widths = [4, 16, 64, 256, 1024]
divisors = {"1": lambda d: 1, "√d_k": lambda d: d**0.5, "d_k": lambda d: d}
top = {f"scores / {name}": [] for name in divisors}
entropy = {f"scores / {name}": [] for name in divisors}
for d in widths:
    scores = torch.randn(300, 1, d) @ torch.randn(300, 64, d).mT  # 300 · 64 scores; .mT swaps the last two axes
    for name, divisor in divisors.items():
        weights = parts.softmax(scores / divisor(d))
        top[f"scores / {name}"].append(weights.amax(dim=-1).mean().item())
        spread_out = torch.special.entr(weights).sum(dim=-1) / math.log(64)
        entropy[f"scores / {name}"].append(spread_out.mean().item())

# %%
compare(prediction, measured=round(top["scores / 1"][3], 1))
ax = plots.lines(widths, top, xlabel="width d_k", ylabel="weight of the best key")
ax.set_xscale("log", base=2)
ax.set_xticks(widths, widths)
pd.DataFrame(top, index=pd.Index(widths, name="d_k")).round(2)

# %% [markdown]
# The weight of the best key looks at one key only. The **entropy** $-\sum_i w_i \log w_i$ looks at all of them.
# Divided by $\log 64$, the most it can be, it is 1 if all 64 get the same, and 0 if one gets everything.

# %%
pd.DataFrame(entropy, index=pd.Index(widths, name="d_k")).round(2)

# %% [markdown]
# Undivided, attention gets harder and harder as queries and keys get wider, until it is a dict again. Divided by $d_k$,
# it gets softer and softer, until it is a plain average, whatever is asked. Divided by $\sqrt{d_k}$ it stays what it
# was: **the width d_k no longer decides how sharp attention is.** That is the whole point of the root. Whoever divides
# numbers by $c$ divides their standard deviation by $c$, and their variance by $c^2$. So $\sqrt{d_k}$ makes the
# variance of a score $d_k \sigma^4 / d_k = \sigma^4$, at any width.

# %% [markdown]
# ## The formula
#
# $$\operatorname{Attention}(Q, K, V) = \operatorname{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$
#
# | | shape | |
# |---|---|---|
# | $Q$ | (n_query, d_k) | what is asked |
# | $K$ | (n_key, d_k) | what is compared with |
# | $V$ | (n_key, d_v) | what is handed over |
# | $Q K^\top / \sqrt{d_k}$ | (n_query, n_key) | scores, of variance 1 for independent entries of mean 0, variance 1 |
#
# This is equation 1 of the paper. $d_k$ is the width of the queries and keys; that of the values plays no part.
#
# **Exercise.** Write it. `parts.softmax` is there.


# %% id="scaled_dot_product_attention" tags=["exercise"]
def scaled_dot_product_attention(
    queries: Float[Tensor, "*batch n_query d_k"],
    keys: Float[Tensor, "*batch n_key d_k"],
    values: Float[Tensor, "*batch n_key d_v"],
) -> Float[Tensor, "*batch n_query d_v"]:
    """Let every query mix the values, by scores that keep their size whatever d_k is."""
    raise NotImplementedError


# %% id="check-scaled_dot_product_attention"
check(scaled_dot_product_attention)

# %% [markdown]
# Does it change *which* key wins? Dividing all the scores of a query by one number keeps their order.

# %%
scores = torch.randn(1000, 64) * 22
same = parts.softmax(scores).argmax(dim=-1) == parts.softmax(scores / 22).argmax(dim=-1)
print(f"the best key is the same in {same.sum()} of {len(same)} rows")

# %% [markdown]
# So if the ranking does not change, why does it matter how sharp the weights are? Two explanations are around. One of
# them is wrong.

# %% [markdown]
# ## Explanation 1: without the division, exp overflows
#
# You will read this often. $e^{89}$ is more than a 32-bit float can hold, and scores of 89 do come up.
#
# **Predict.** What does `torch.softmax` give for the scores 1000 and 0: `"nan"`, or weights of `"1 and 0"`?

# %% tags=["prediction"]
prediction = ...

# %%
huge = torch.tensor([1000.0, 0.0])
naive = huge.exp() / huge.exp().sum()
library = torch.softmax(huge, dim=-1)
compare(prediction, measured="nan" if library.isnan().any() else " and ".join(f"{w:.0f}" for w in library.tolist()))
print("exp(1000) / sum:", [f"{w:.0f}" for w in naive.tolist()])
print("your softmax or the library's:", [f"{w:.0f}" for w in parts.softmax(huge).tolist()])

# %% [markdown]
# The naive formula overflows. But no library uses it: each subtracts the maximum first, as yours did in lesson 01.
# Overflow is real, and solved elsewhere. It is not why we divide.

# %% [markdown]
# ## Explanation 2: the gradient dies
#
# Training moves the scores a little and sees what changes. So ask: per unit that score $j$ moves, how far does weight
# $i$ move? This is written $\partial p_i / \partial s_j$. With $p$ for the weights (of probabilities), $p =
# \operatorname{softmax}(s)$, it is
#
# $$\frac{\partial p_i}{\partial s_j} = p_i(\delta_{ij} - p_j),
# \quad \delta_{ij} = 1 \text{ if } i = j \text{, else } 0$$
#
# With weights 0.8 and 0.2, for instance, raising score 0 a little moves weight 0 by $0.8 \cdot (1 - 0.8) = 0.16$ times
# as much, and weight 1 by $0.2 \cdot (0 - 0.8) = -0.16$ times as much: what one gains, the other loses.

# %% [markdown]
# All these numbers together, row $i$ and column $j$, are called the **Jacobian**. (To derive it: for $i \neq j$ only
# the denominator of $e^{s_i} / \sum e^{s}$ depends on $s_j$; for $i = j$ the numerator does too.)
#
# **Exercise.** Compute it from the weights. (`torch.eye(n)` is the table of all $\delta_{ij}$.)


# %% id="softmax_jacobian" tags=["exercise"]
def softmax_jacobian(probabilities: Float[Tensor, " n"]) -> Float[Tensor, "n n"]:
    """Give the derivative of weight i by score j, at row i and column j."""
    raise NotImplementedError


# %% id="check-softmax_jacobian"
check(softmax_jacobian)

# %% [markdown]
# What holds for every Jacobian of softmax can be seen in a small one.

# %%
example = parts.softmax_jacobian(torch.tensor([0.7, 0.2, 0.1]))
print("rows add up to", [abs(round(x, 3)) for x in example.sum(dim=1).tolist()])
print("symmetric:", torch.equal(example, example.T))


# %% [markdown]
# Now compare weights that are undecided with weights that are nearly decided.
#
# **Predict.** With weights of 0.999 and 0.001: per unit that the first score moves, how far does the first weight
# move?

# %% tags=["prediction"]
prediction = ...

# %%
undecided = parts.softmax_jacobian(torch.tensor([0.5, 0.5]))
decided = parts.softmax_jacobian(torch.tensor([0.999, 0.001]))
compare(prediction, measured=round(decided[0, 0].item(), 3))
print(f"undecided: {undecided[0, 0]:.2f}, that is {undecided[0, 0] / decided[0, 0]:.0f} times as much")
print("if one weight is 1:", (parts.softmax_jacobian(torch.tensor([1.0, 0.0, 0.0])) + 0.0).tolist())

# %% [markdown]
# Look at the formula again: if one $p_i$ is 1 and the others are 0, *every* entry is 0. A small change of the scores
# moves no weight, so no gradient comes back to them: this query teaches nothing about *where to look*. Does that happen
# at large widths? We measure the size of the whole Jacobian (the root of the sum of its squares) with 64 keys, and take
# the median: half of the queries have less.

# %%
jacobian_size = {"scores / 1": [], "scores / √d_k": []}
for d in widths:
    scores = (torch.randn(300, 1, d) @ torch.randn(300, 64, d).mT)[:, 0]
    for name, s in zip(jacobian_size, (scores, scores / d**0.5), strict=True):
        sizes = torch.stack([parts.softmax_jacobian(p).norm() for p in parts.softmax(s)])
        jacobian_size[name].append(sizes.median().item())
ax = plots.lines(widths, jacobian_size, xlabel="width d_k", ylabel="size of the Jacobian (median)")
ax.set(yscale="log")
ax.set_xscale("log", base=2)
ax.set_xticks(widths, widths)
pd.DataFrame(jacobian_size, index=pd.Index(widths, name="d_k")).map("{:.1g}".format)

# %% [markdown]
# Up to a width of 64, the paper's own, half of the undivided queries pass on as much as the scaled ones. Above it they
# pass on less and less, and at 1024 half of all queries pass on next to nothing. They are decided, by chance, before
# training has begun: the softmax is **saturated**. This is the reason the paper gives: large products push the softmax
# "into regions where it has extremely small gradients".
#
#
# (Division also makes a score answer less to its query: what passes on is divided by $\sqrt{d_k}$ once more. Counting
# that, the two are even at 256. But it is the same for all queries, so larger steps make up for it. Nothing makes up
# for a 0.)

# %% [markdown]
# ## Does it matter in practice?
#
# A gradient is not yet a model. So we train one. The task: 32 items, each with a key and one of 10 labels. The query is
# a distorted copy of one of the keys (always distorted in the same hidden way), and the model has to answer with that
# item's label. It learns two matrices, `w_q` and `w_k`, that make queries and keys comparable, here of width 512.
# Everything is equal but the divisor. We also count *dead* queries: those with hardly any gradient at their scores. The
# cell below is an ordinary training loop; you can go on without reading it.


# %%
def train(divisor: float, floor: float = 0.001, d: int = 32, d_k: int = 512) -> dict[str, Tensor]:
    """Learn to find the right item; give what ``seen`` lists, as means of 20 steps."""
    torch.manual_seed(0)
    hidden = torch.randn(d, d) / d**0.5  # how queries are distorted: the model has to find out
    w_q, w_k = (torch.nn.Parameter(torch.randn(d, d_k) / d**0.5) for _ in range(2))
    optimizer = torch.optim.Adam([w_q, w_k], lr=1e-3)
    seen = {"right": [], "typical score": [], "dead queries": []}
    for _ in range(300):
        keys, labels, item = torch.randn(32, 32, d), torch.randint(10, (32, 32)), torch.randint(32, (32, 1))
        queries = keys.take_along_dim(item[..., None], dim=1) @ hidden  # (batch, 1, d)
        scores = (queries @ w_q) @ (keys @ w_k).mT / divisor
        scores.retain_grad()
        answers = (torch.softmax(scores, dim=-1) @ torch.nn.functional.one_hot(labels, 10).float())[:, 0]  # (batch, 10)
        wanted = labels.take_along_dim(item, dim=1)
        share = answers.take_along_dim(wanted, dim=1)  # of the attention that says the right label
        loss = -torch.log(share + floor).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen["right"].append((answers.argmax(dim=-1) == wanted[:, 0]).float().mean())
        seen["typical score"].append(scores.detach().std(dim=-1).mean())
        seen["dead queries"].append((32 * scores.grad.norm(dim=-1) < 0.01).float().mean())  # hardly any gradient
    return {what: torch.stack(values).view(15, 20).mean(dim=1) for what, values in seen.items()}  # means of 20 steps


# %% [markdown]
# **Predict.** The divisors are 1, √d_k, 2√d_k and d_k. Which gives the best answers over the first 100 steps, and
# which is the worst over all 300? Write the names as below. (It takes some seconds.)

# %% tags=["prediction"]
best_early, worst = ..., ...  # "1", "√d_k", "2√d_k", "d_k"

# %%
divisors = {"1": 1, "√d_k": 512**0.5, "2√d_k": 2 * 512**0.5, "d_k": 512}
runs = {name: train(divisor) for name, divisor in divisors.items()}
accuracy = {name: run["right"] for name, run in runs.items()}
compare(best_early, max(accuracy, key=lambda name: accuracy[name][:5].sum()))
compare(worst, min(accuracy, key=lambda name: accuracy[name].sum()))
steps = torch.arange(10, 300, 20)
ax = plots.lines(steps, {f"scores / {name}": a for name, a in accuracy.items()}, xlabel="step", ylabel="accuracy")


# %%
def table_of(runs: dict[str, dict[str, Tensor]]) -> pd.DataFrame:
    columns = {
        "dead queries, first 20 steps": ("dead queries", 0),
        "right, steps 40 to 60": ("right", 2),
        "right, last 20": ("right", -1),
        "typical score, first 20": ("typical score", 0),
        "typical score, last 20": ("typical score", -1),
    }
    rows = {f"scores / {name}": [run[what][at].item() for what, at in columns.values()] for name, run in runs.items()}
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(columns)).round(1)


table_of(runs)

# %% [markdown]
# Read it honestly. With √d_k, or something near it, learning starts at once. Undivided, it starts late: most queries
# are dead, decided by chance. (Chance alone is right once in 10 times.) Divided by $d_k$, it stalls after a few steps:
# the weights are nearly equal, and it takes long until the scores have grown enough to differ. Scores too small are
# worse here than scores too large. But in the end *all* of them learn. The division does not make something possible
# that was impossible.
#
# And our loss plays a part. It is $-\log(\text{share} + 0.001)$, which stays below 7 however small the share. A bare
# $-\log$ of a tiny share is so steep that it makes up for a dying softmax:

# %%
without = {f"{name}, loss without the 0.001": train(divisors[name], floor=1e-30) for name in ("1", "√d_k")}
table_of({"1": runs["1"], **without})

# %% [markdown]
# Then even undivided scores start early, though not as early as divided ones. So it is not that a saturated softmax can
# never learn: that depends on what the gradient meets on its way. (In a Transformer it meets other layers.) And at the
# paper's own width, 64?

# %%
table_of({f"{name}, d_k = 64": train(divisor, d_k=64) for name, divisor in {"1": 1, "√d_k": 8}.items()})

# %% [markdown]
# Fewer are dead, but the division still helps. It gives a good start at any width.

# %% [markdown]
# ## It is a temperature
#
# Dividing by √d_k is what lesson 01 called a temperature. Nothing forces the value: a model that wants sharper
# attention can learn longer queries. Here is one query, made longer and longer, with the division in place.

# %%
q, k = torch.randn(1, 64), torch.randn(11, 64)  # random vectors for the 11 characters of 3 mars 2021
lengths = torch.linspace(0, 10, 50)
scaled = torch.stack([parts.softmax(length * q @ k.T / 64**0.5)[0] for length in lengths])
best = scaled[-1].topk(3).indices
ax = plots.lines(lengths, {f"key {i}": scaled[:, i] for i in best}, xlabel="query multiplied by", ylabel="weight")
print("weight of the best key at lengths 0, 1, 10:", [round(scaled[i].max().item(), 1) for i in (0, 5, -1)])

# %% [markdown]
# So √d_k is right at the *start*, when entries are independent with variance 1 and the typical score is 1. The table of
# the four divisors shows that it does not stay so: with √d_k, training made the typical score grow to 3. From the start
# on, the model sets its own temperature.
#
# And the division may stand anywhere: dividing the queries first gives the same scores. Where there are more keys than
# d_k, fewer numbers are divided then.

# %%
q, k = torch.randn(5, 64), torch.randn(7, 64)
print("dividing the queries first gives the same scores:", torch.allclose((q / 8) @ k.T, q @ k.T / 8, atol=1e-5))
root = 64**0.25
print("and dividing both by the fourth root:", torch.allclose((q / root) @ (k / root).T, q @ k.T / 8, atol=1e-5))

# %% [markdown]
# ## The other way to score: additive attention
#
# Attention came before the Transformer, and with another score. Bahdanau's translator (2014) used a small network:
# project query and key to a common width `d_h`, add, squash, and weigh the result:
#
# $$\operatorname{score}(q, k) = w \cdot \tanh(W_q q + W_k k)$$
#
# with $W_q$: (d_h, d_q), $W_k$: (d_h, d_k), $w$: (d_h). Queries and keys may have different widths, since each has
# its own matrix.
#
# **Exercise.** Score every key for every query. The sum is needed for every *pair*: give queries and keys an extra
# axis of length 1 and let broadcasting do it.


# %% id="additive_scores" tags=["exercise"]
def additive_scores(
    queries: Float[Tensor, "batch n_query d_q"],
    keys: Float[Tensor, "batch n_key d_k"],
    w_q: Float[Tensor, "d_h d_q"],
    w_k: Float[Tensor, "d_h d_k"],
    w: Float[Tensor, " d_h"],
) -> Float[Tensor, "batch n_query n_key"]:
    """Score every key for every query by w · tanh(W_q q + W_k k)."""
    raise NotImplementedError


# %% id="check-additive_scores"
check(additive_scores)

# %% [markdown]
# ### What does it cost?
#
# **Predict.** 256 queries and 256 keys of width 64, and a hidden width of 64. How many times as long as a dot product
# does additive scoring take? (It varies from run to run.)

# %% tags=["prediction"]
prediction = ...

# %% tags=["nbval-ignore-output"]
queries, keys = torch.randn(2, 1, 256, 64)
w_q, w_k, w = torch.randn(64, 64) / 8, torch.randn(64, 64) / 8, torch.randn(64) / 8
seconds = {"additive": [], "dot product": []}
for _ in range(20):  # in turns, so that a busy moment hits both
    start = time.perf_counter()
    parts.additive_scores(queries, keys, w_q, w_k, w)
    middle = time.perf_counter()
    queries @ keys.mT / 8
    seconds["dot product"].append(time.perf_counter() - middle)
    seconds["additive"].append(middle - start)
compare(prediction, measured=f"{min(seconds['additive']) / min(seconds['dot product']):.0f} times")

# %%
numbers = {"dot product": 256 * 256, "additive": 256 * 256 * 64}
print("numbers held on the way to 256 × 256 scores:", numbers)
print("parameters: dot product 0, additive", w_q.numel() + w_k.numel() + w.numel())

# %% [markdown]
# A dot product is one matrix product, which is what computers do best. Additive scoring keeps a whole hidden vector
# for every pair. Is it worth it?
#
# **Predict.** Random queries and keys of width 1024, 16 times as wide. What is the largest additive score in size:
# below 10, or above?

# %% tags=["prediction"]
prediction = ...  # "below" or "above"

# %%
wide_q, wide_k = torch.randn(2, 1, 256, 1024)
wide = parts.additive_scores(wide_q, wide_k, torch.randn(64, 1024), torch.randn(64, 1024), w)
compare(prediction, measured="below" if wide.abs().max() < 10 else "above")
print(f"additive: at most {wide.abs().max():.0f}, never above {w.abs().sum():.0f}")
print(f"dot product, undivided: up to about {round((wide_q @ wide_k.mT).abs().max().item(), -1):.0f}")
for name, divisor in {"as drawn": 1, "divided by √1024": 32}.items():
    slope = 1 - torch.tanh(wide_q @ torch.randn(64, 1024).mT / divisor) ** 2
    print(f"median slope of tanh(W q), W {name}: {slope.median():.1f}")

# %% [markdown]
# Each tanh is at most 1, so a score can never be more than $\sum_i |w_i|$, however wide the queries are. But the same
# trouble waits one step earlier. With a matrix as drawn, the entries of $W q$ are of the size √1024 = 32, as
# `score_variance` says. There the tanh itself is saturated: its slope is 0. (The smaller ones above were divided by
# √64.)
#
# The paper's authors had seen reports that the two do equally well at small widths, and that additive attention does
# better at large ones. They suspected large scores, divided by √d_k, and kept the fast one.

# %% [markdown]
# ## Bug hunt
#
# A colleague sends you this version. It looks as if it took the root, and the shape is right. Read it first and
# decide what is wrong; only then run the check, and mend it.


# %% id="mend-scaling" tags=["bug-hunt"]
def attention_of_a_colleague(queries, keys, values):
    d_k = queries.shape[-1]
    scores = queries @ keys.transpose(-2, -1)
    weights = torch.softmax(scores / d_k**1 / 2, dim=-1)
    return weights @ values


# %% id="check-mend-scaling"
check(attention_of_a_colleague, "scaled_dot_product_attention")

# %% [markdown]
# <details><summary>How to find such a bug without a check</summary>
#
# Measure what the line is <i>for</i>: print the variance of the scores of random inputs at two widths. It should be
# near 1 at both. Here it falls as the width grows. The output has the right shape, and a small model even trains.
# </details>

# %% [markdown]
# ## ★ Transfer: attention by direction alone
#
# Another way to keep scores in bounds: use the cosine, which is never larger than 1, and divide it by a temperature of
# your choice. Some models do this, with a temperature that is learned (Henry et al., 2020,
# [arXiv:2010.04245](https://arxiv.org/abs/2010.04245)). Write it, from nothing.


# %% id="cosine_attention" tags=["exercise"]
def cosine_attention(
    queries: Float[Tensor, "*batch n_query d_k"],
    keys: Float[Tensor, "*batch n_key d_k"],
    values: Float[Tensor, "*batch n_key d_v"],
    temperature: float,
) -> Float[Tensor, "*batch n_query d_v"]:
    """Let every query mix the values by the cosine between it and the keys, divided by a temperature."""
    raise NotImplementedError


# %% id="check-cosine_attention"
check(cosine_attention)

# %%
q, k, v = torch.randn(5, 512), torch.randn(7, 512), torch.randn(7, 3)
before, after = parts.cosine_attention(q, k, v, 0.1), parts.cosine_attention(100 * q, 100 * k, v, 0.1)
print("queries and keys 100 times as long, output unchanged:", torch.allclose(before, after, atol=1e-4))

# %% [markdown]
# ## In short
#
# - A score adds up $d_k$ products. Its variance is $d_k \sigma^4$, its typical size grows like $\sqrt{d_k}$.
# - Scores that are too large make softmax a dict whose gradient is 0; too small, and it is a plain average.
# - Dividing by $\sqrt{d_k}$ makes sharpness independent of the width. The ranking of the keys never changes.
# - Overflow is not the reason: softmax subtracts the maximum.
# - It is a temperature for the start of training. Learned queries and keys set their own later.
# - Additive attention has bounded scores (its matrices need the root instead, or the tanh saturates), holds a vector
#   per pair and has parameters.

# %%
q, k, v = torch.randn(2, 4, 8), torch.randn(2, 6, 8), torch.randn(2, 6, 3)
w_q, w_k, w = torch.randn(5, 8), torch.randn(5, 8), torch.randn(5)
rows = [
    ("scaled_dot_product_attention", [q, k, v], parts.scaled_dot_product_attention(q, k, v), 0),
    ("softmax_jacobian", [torch.ones(6) / 6], parts.softmax_jacobian(torch.ones(6) / 6), 0),
    ("additive_scores", [q, k], parts.additive_scores(q, k, w_q, w_k, w), w_q.numel() + w_k.numel() + w.numel()),
]
shapes = [(name, ", ".join(str(tuple(i.shape)) for i in ins), str(tuple(out.shape)), n) for name, ins, out, n in rows]
print({"batch": 2, "d_k": 8, "n_query": 4, "n_key": 6, "d_v": 3, "d_h": 5})
pd.DataFrame(shapes, columns=["module", "input shapes", "output shape", "parameters"])

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
#
# <details><summary>Why are the scores divided by √d_k?</summary>
#
# A dot product of d_k independent entries of variance 1 has variance d_k. Without the division, wide queries and keys
# start with weights that are almost 0 and 1, where the softmax has almost no gradient. (<i>What do large scores
# do?</i>,
# <i>Explanation 2</i>)
# </details>
#
# <details><summary>Why not divide by d_k?</summary>
#
# Then the variance is 1/d_k: the scores of wide queries and keys vanish, all keys get the same weight, and learning
# starts late. (<i>Does it matter in practice?</i>)
# </details>
#
# <details><summary>Is it to prevent overflow of the exponential?</summary>
#
# No. Softmax implementations subtract the row's maximum, so nothing overflows even at scores of 1000. (<i>Explanation
# 1</i>)
# </details>
#
# <details><summary>Does the scaling change which key gets the most attention?</summary>
#
# No. All the scores of a query are divided by the same positive number. Only the sharpness changes. (<i>The
# formula</i>)
# </details>

# %% [markdown]
# <details><summary>What does the argument assume, and does it hold after training?</summary>
#
# Independent entries with mean 0 and variance 1. It held at the start of our training, where the typical score was
# about 1, and not at the end: queries and keys were made to depend on each other, and it was about 3. (<i>Does it
# matter in practice?</i>, <i>It is a temperature</i>)
# </details>
#
# <details><summary>Can the division be moved elsewhere?</summary>
#
# Yes: dividing the queries by √d_k before the product gives the same scores, and touches n_query × d_k numbers instead
# of n_query × n_key (fewer if n_key > d_k). Dividing both queries and keys by the fourth root of d_k works too. (<i>It
# is a temperature</i>)
# </details>
#
# <details><summary>Compare additive and dot-product attention.</summary>
#
# Additive: a small network per pair, its own parameters, a hidden vector per pair, bounded scores, different widths
# allowed. Dot product: one matrix product, no parameters, fast, and scores that grow with the width unless divided.
# (<i>What does it cost?</i>)
# </details>
#
# <details><summary>What is the derivative of softmax?</summary>
#
# ∂p_i/∂s_j = p_i (δ_ij − p_j). It is symmetric, its rows add up to 0, and it is all 0 when one weight is 1.
# (<i>Explanation 2</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Vaswani et al. (2017), [arXiv:1706.03762](https://arxiv.org/abs/1706.03762), section 3.2.1 and its footnote 4: the
#   argument in two sentences.
# - Bahdanau et al. (2014), [arXiv:1409.0473](https://arxiv.org/abs/1409.0473), appendix A.1.2: additive attention as
#   it was first used.
# - `transformer_lab/attention/dot_product.py` and `additive.py` beside it: the library's versions, with masks.
#
# <details><summary>For instructors</summary>
#
# *Points*: score_variance 1, scaled_dot_product_attention 3, softmax_jacobian 2, additive_scores 3; stretch:
# cosine_attention 2. The bug hunt is not graded. *Where students stumble*: σ⁴ (they square once); the difference
# between the variance and the typical size; an axis of length 1 for the pairs; believing that the undivided model
# *cannot* learn. *To ask in class*: what should the divisor be if entries have variance 4? Why does the paper's
# footnote speak of mean 0? What would change if the keys all had the same length?
# </details>

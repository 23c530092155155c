# %% [markdown] id="title"
# # 02 · Why divide by √d_k
#
# **The question.** Attention scores are divided by $\sqrt{d_k}$, the square root of the width of queries and keys. Two
# popular explanations say why, and one of them fails its test. Why divide at all? And why by the root, not by the width
# itself?
#
# **Afterwards you can** say how large a score gets and why, show what goes wrong when scores are too large, test
# whether a comparison depends on the learning rate, and compare dot-product attention with additive attention.
#
# Reading: 35 minutes. Exercises: 40 minutes (four core, one stretch ★). With all predictions, runs and questions: about
# 90 minutes, with a good place to stop half-way.

# %% [markdown]
# ## Before you start
#
# Three questions from lesson 01. Answer each one aloud before you open it.
#
# <details><summary>Along which axis do the attention weights add up to 1?</summary>
#
# Along the keys, the last axis: each query has one unit of attention to distribute.
# </details>
#
# <details><summary>All the scores of a query are doubled. What happens to its weights?</summary>
#
# They get sharper: the best key gets more weight, and the others get less in total. The ranking of the keys does not
# change.
# </details>
#
# <details><summary>Is the dot product the cosine similarity?</summary>
#
# Only for vectors of length 1. In general it is the cosine times both lengths.
# </details>
#
# The map below shows where you are. Inside each attention module, one step is new: the division.

# %% id="imports"
import math
import time

import pandas as pd
import torch
from jaxtyping import Float
from matplotlib import pyplot as plt
from torch import Tensor

from transformer_course import check, compare, diagrams, hint, parts, plots, solution, tally, views

# %%
torch.manual_seed(2)
torch.set_printoptions(precision=2, sci_mode=False)
_ = torch.set_flush_denormal(True)  # treat numbers below 1e-38 as 0: processors are slow at them

# %%
diagrams.architecture.you_are_here(2)

# %% [markdown]
# ## Wider keys, sharper attention
#
# Here is the problem in one picture. A query meets 12 keys, all of them random numbers, so no key deserves more
# attention than the others. We compute the weights as in lesson 01, without a division, and make the vectors wider.

# %% tags=["hide-input"]
axes = plt.subplots(1, 3, figsize=(10, 2.4), sharey=True, layout="constrained")[1]
for ax, d in zip(axes, (4, 64, 1024), strict=True):
    query, keys = torch.randn(d), torch.randn(12, d)
    ax.bar(range(12), parts.softmax((keys @ query)[None])[0], label="weight")
    ax.set(title=f"d_k = {d}", xlabel="key", ylim=(0, 1))
_ = axes[0].set_ylabel("attention weight")

# %% [markdown]
# With 4 numbers per vector, the query spreads its attention. With 64 or more it picks one key, by pure chance, before
# any training. Does that matter, and what can you do about it?

# %% [markdown]
# ## How large does a score get?
#
# A score is a sum of products, one for each entry of the query and the key. Most vectors in lesson 01 had two or three
# entries; queries and keys in the original Transformer (Vaswani et al., 2017) have 64. Lesson 01 called this width
# `d`. From here on it is `d_k`, with k for key.
#
# Let the entries of queries and keys be independent random numbers (mean 0, standard deviation 1). With 8 entries, a
# typical score (the standard deviation of the scores) is 2.8.
#
# **Predict.** With 512 entries, is a typical score near 11, 22, 45 or 181?

# %% tags=["prediction"]
prediction = ...

# %%
queries, keys = torch.randn(2, 10_000, 512)
spread = {d: (queries[:, :d] * keys[:, :d]).sum(dim=-1).std().item() for d in (8, 32, 128, 512)}  # of 10,000 scores
compare(prediction, measured=round(spread[512], 1), choices=(11, 22, 45, 181))
pd.DataFrame({"d_k": spread.keys(), "typical score": spread.values(), "√d_k": [d**0.5 for d in spread]}).round(1)

# %% [markdown]
# Four times the width makes a score twice as large: scores grow like $\sqrt{d_k}$. Products are as often negative as
# positive, so they mostly cancel. What remains still grows, just as a **random walk**, which steps left or right at
# random, drifts away from its start. Three steps show why.
#
# 1. The **variance** is the square of the standard deviation. A product $q_i k_i$ of two independent numbers with mean
#    0 has mean 0 too, and its variance is the product of their variances. If both have variance $\sigma^2$, that is
#    $\sigma^2 \cdot \sigma^2 = \sigma^4$.
# 2. When you add independent numbers, their variances add up. There are $d_k$ products.
# 3. A typical score is the square root of this variance.
#
# **Exercise.** Write steps 1 and 2 as a function.


# %% id="score_variance" tags=["exercise"]
def score_variance(d_k: int, variance: float) -> float:
    """Return the variance of q·k if all entries are independent, with mean 0 and this variance."""
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
# Now take 64 random keys and average over 300 queries.
#
# **Predict.** At width 256, without a division, how much weight does a query give on average to the key that happens to
# have the largest score? (Equal weights would be 1/64 = 0.016.)

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
        spread_out = torch.special.entr(weights).sum(dim=-1) / math.log(64)  # the entropy: explained below
        entropy[f"scores / {name}"].append(spread_out.mean().item())
largest_score = scores.max().item()  # at width 1,024, undivided

# %%
compare(prediction, measured=round(top["scores / 1"][3], 1))
ax = plots.lines(widths, top, xlabel="width d_k", ylabel="weight of the best key")
ax.set_xscale("log", base=2)
ax.set_xticks(widths, widths)
pd.DataFrame(top, index=pd.Index(widths, name="d_k")).round(2)

# %% [markdown]
# Without division, the best key takes over as the width grows. That is only one weight of 64. The **entropy**
# $-\sum_i w_i \log w_i$ describes all of them. Divided by its maximum $\log 64$, it is 1 if all weights are equal, and
# 0 if one key gets everything.

# %%
pd.DataFrame(entropy, index=pd.Index(widths, name="d_k")).round(2)

# %% [markdown]
# Without division, attention gets sharper as queries and keys get wider, until it is a dict lookup again. Divided by
# $d_k$, it gets softer, until it is a plain average that ignores the query. Divided by $\sqrt{d_k}$, it stays the same:
# **at the start of training, the width d_k no longer decides how sharp attention is.** That is the whole point of the
# root. Dividing numbers by $c$ divides their standard deviation by $c$ and their variance by $c^2$. So dividing by
# $\sqrt{d_k}$ makes the variance of a score $d_k \sigma^4 / d_k = \sigma^4$ at any width.

# %% [markdown]
# Try it with five keys in the plane. The arrows have two numbers each; we multiply their dot products by
# $\sqrt{d_k/2}$, as if each arrow had $d_k$ independent numbers. Change the width. Which divisor leaves the weights
# unchanged? Which one turns the lookup into a dict, and which one into a plain average?

# %%
angles = torch.arange(5) * 1.2  # radians
five = torch.stack([angles.cos(), angles.sin()], dim=-1)  # five keys of length 1, (5, 2)
views.LookupDial(torch.tensor([0.9, 0.5]), five, torch.arange(5.0), list("abcde"), widths=True, d_k=64)

# %% [markdown]
# ## Scaled dot-product attention
#
# $$\operatorname{Attention}(Q, K, V) = \operatorname{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$
#
# | | shape | |
# |---|---|---|
# | $Q$ | (n_query, d_k) | what each position is looking for |
# | $K$ | (n_key, d_k) | what the queries are compared with |
# | $V$ | (n_key, d_v) | what is averaged |
# | $Q K^\top / \sqrt{d_k}$ | (n_query, n_key) | scores, of variance 1 for independent entries of mean 0, variance 1 |
#
# This is equation 1 of the paper, **scaled dot-product attention**. $d_k$ is the width of the queries and keys; the
# width of the values does not matter. Here is the example from lesson 01 again. This time we divide the scores by √3
# before the softmax, so the weights are softer and the year is less accurate:

# %%
keys_of_pieces = torch.tensor([[2.0, 0.5, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]])
values_of_pieces, questions = torch.tensor([[3.0], [3.0], [2021.0]]), torch.tensor([[0.0, 0.0, 2.0], [0.0, 2.0, 0.0]])
names = {"query_names": ["year?", "month?"], "key_names": ["3", "mars", "2021"]}
diagrams.lookup.one_head(questions, keys_of_pieces, values_of_pieces, divisor=3**0.5, **names)

# %% [markdown]
# (The division pays off for wide queries and keys; these have only three entries.)
#
# **Exercise.** Write scaled dot-product attention. You may use `parts.softmax`, but not PyTorch's own
# `F.scaled_dot_product_attention`.


# %% id="scaled_dot_product_attention" tags=["exercise"]
def scaled_dot_product_attention(
    queries: Float[Tensor, "*batch n_query d_k"],
    keys: Float[Tensor, "*batch n_key d_k"],
    values: Float[Tensor, "*batch n_key d_v"],
) -> Float[Tensor, "*batch n_query d_v"]:
    """Return, for every query, the average of the values, weighted by scores whose size does not depend on d_k."""
    raise NotImplementedError


# %% id="check-scaled_dot_product_attention"
check(scaled_dot_product_attention)

# %% [markdown]
# Does the division change *which* key gets the largest weight? No: dividing all scores of a query by the same positive
# number keeps their order.
#
# Then why does it matter how sharp the weights are? There are two popular explanations. Let's test both.

# %% [markdown]
# ## Explanation 1: without the division, exp overflows
#
# $e^{89}$ is more than a 32-bit float can hold: it is stored as infinity (**overflow**). Do scores get that large?

# %%
print(f"the largest of the 19,200 undivided scores at width 1,024: {largest_score:.0f}")
huge = torch.tensor([1000.0, 0.0])
naive = huge.exp() / huge.exp().sum()
print("exp(1000) / sum:              ", [f"{w:.0f}" for w in naive.tolist()])
print("torch.softmax:                ", [f"{w:.0f}" for w in torch.softmax(huge, dim=-1).tolist()])
print("your softmax or the library's:", [f"{w:.0f}" for w in parts.softmax(huge).tolist()])

# %% [markdown]
# They do, and the naive formula overflows. But libraries don't use that formula: they subtract the maximum first, as
# you did in lesson 01. So in 32 bits, overflow is not why we divide.
#
# **Half precision** (float16) cannot represent numbers above 65,504. Take queries and keys of width 64 whose entries
# are all 60 or all −60.
#
# **Predict.** Are the weights `"right"` or `"nan"` if we divide the scores, `q @ k.T / 8`? And if we divide the
# queries, `(q / 8) @ k.T`?

# %% tags=["prediction"]
scores_divided, queries_divided = ..., ...

# %%
q = torch.full((1, 64), 60.0, dtype=torch.float16)
k = torch.cat([q, -q])  # two keys, one like the query and one opposite
two_ways = q @ k.T / 8, (q / 8) @ k.T
weights = [torch.softmax(scores, dim=-1) for scores in two_ways]
compare(scores_divided, measured="nan" if weights[0].isnan().any() else "right")
compare(queries_divided, measured="nan" if weights[1].isnan().any() else "right")
print("scores", [scores.tolist()[0] for scores in two_ways], "→ weights", [w.tolist()[0] for w in weights])

# %% [markdown]
# 64 · 60 · 60 is 230,400: here the *score* overflows before softmax can subtract anything. Softmax then computes ∞ − ∞,
# which is `nan`. So if you multiply in plain float16, divide the queries first, or divide queries and keys by the
# fourth root of $d_k$ each. The fused kernels that most models use today (FlashAttention) need neither: they read
# 16-bit queries and keys but keep the scores in float32. (bfloat16 has the range of float32, with fewer digits.)
#
# <details><summary>Where else can you divide?</summary>
#
# $(q / \sqrt{d_k}) \cdot k$ and $(q / d_k^{1/4}) \cdot (k / d_k^{1/4})$ equal $q \cdot k / \sqrt{d_k}$. Dividing the
# queries first also divides fewer numbers if there are more keys than d_k: n_query · d_k instead of n_query · n_key.
# </details>

# %% [markdown]
# ## Explanation 2: the softmax saturates
#
# Training works by asking what a small change in a score does. If score $j$ grows by a tiny $\varepsilon$, weight $i$
# grows by $\varepsilon$ times the derivative $\partial p_i / \partial s_j$. Call the weights $p$, since they are
# probabilities: $p = \operatorname{softmax}(s)$. Then
#
# $$\frac{\partial p_i}{\partial s_j} = p_i(\delta_{ij} - p_j),
# \quad \delta_{ij} = 1 \text{ if } i = j \text{, else } 0$$
#
# For example, take weights 0.8 and 0.2. Raising score 0 by $\varepsilon$ changes weight 0 by $0.8 \cdot (1 - 0.8) =
# 0.16$ times $\varepsilon$ and weight 1 by $0.2 \cdot (0 - 0.8) = -0.16$ times $\varepsilon$: one weight gains what
# the other loses.

# %% [markdown]
# The **Jacobian** is the matrix of all these derivatives, with $\partial p_i / \partial s_j$ in row $i$ and column $j$.
# (To derive it: for $i \neq j$ only the denominator of $e^{s_i} / \sum e^{s}$ depends on $s_j$; for $i =
# j$ the numerator does too.)
#
# **Exercise.** Compute the Jacobian from the weights. (`torch.eye(n)` is the matrix of all $\delta_{ij}$.)


# %% id="softmax_jacobian" tags=["exercise"]
def softmax_jacobian(probabilities: Float[Tensor, " n"]) -> Float[Tensor, "n n"]:
    """Return the matrix of derivatives: in row i and column j, that of weight i with respect to score j."""
    raise NotImplementedError


# %% id="check-softmax_jacobian"
check(softmax_jacobian)

# %% [markdown]
# Every softmax Jacobian is symmetric, and its rows add up to 0:

# %% tags=["approximate"]
example = parts.softmax_jacobian(torch.tensor([0.7, 0.2, 0.1]))
print(example)
print("rows add up to", [abs(round(x, 3)) for x in example.sum(dim=1).tolist()])


# %% [markdown]
# **Predict.** The weights are 0.999 and 0.001. If the first score grows by a tiny $\varepsilon$, the first weight grows
# by $\varepsilon$ times how much?

# %% tags=["prediction"]
prediction = ...

# %%
equal = parts.softmax_jacobian(torch.tensor([0.5, 0.5]))
sharp = parts.softmax_jacobian(torch.tensor([0.999, 0.001]))
compare(prediction, measured=round(sharp[0, 0].item(), 3))
print(f"with equal weights: {equal[0, 0]:.2f}, that is {equal[0, 0] / sharp[0, 0]:.0f} times as much")
print("if one weight is 1:", (parts.softmax_jacobian(torch.tensor([1.0, 0.0, 0.0])) + 0.0).tolist())

# %% [markdown]
# If one $p_i$ is 1 and the others are 0, *every* entry is 0. A small change of the scores changes no weight, so from
# this query the model learns nothing about *which key to attend to*. Does that happen when queries and keys are wide?
# Here is the size of the Jacobian (the root of the sum of its squares), the median over 300 queries with 64 keys.

# %% tags=["hide-input"]
jacobian_size = {"scores / 1": [], "scores / √d_k": []}
below = []  # the share of undivided queries with a Jacobian smaller than 0.01
for d in widths:
    scores = (torch.randn(300, 1, d) @ torch.randn(300, 64, d).mT)[:, 0]
    for name, s in zip(jacobian_size, (scores, scores / d**0.5), strict=True):
        sizes = torch.stack([parts.softmax_jacobian(p).norm() for p in parts.softmax(s)])
        jacobian_size[name].append(sizes.median().item())
        below += [(sizes < 0.01).float().mean().item()] if name == "scores / 1" else []
by_the_root = [size / d**0.5 for size, d in zip(jacobian_size["scores / √d_k"], widths, strict=True)]
ax = plots.lines(widths, jacobian_size, xlabel="width d_k", ylabel="size of the Jacobian (median)")
ax.set(yscale="log")
ax.set_xscale("log", base=2)
ax.set_xticks(widths, widths)
jacobian_size["scores / √d_k, times 1/√d_k"] = by_the_root
table = pd.DataFrame(jacobian_size, index=pd.Index(widths, name="d_k")).map("{:.1g}".format)
table.assign(**{"scores / 1: queries below 0.01": [f"{share:.0%}" for share in below]})

# %% [markdown]
# Up to width 64, an undivided query typically passes back as much gradient as a scaled one. But at 64, one in five
# passes back hardly any (last column), and at 1,024 two in three. Their weights are close to 1 and 0, by chance, before
# training has begun: the softmax is **saturated**.
#
# <details><summary>Is that the paper's reason?</summary>
#
# Yes: large products push the softmax "into regions where it has extremely small gradients".
# </details>
#
# <details><summary>Doesn't dividing make the gradient smaller, too?</summary>
#
# Yes: it also scales the gradient from the score to the query by $1/\sqrt{d_k}$. With that factor, in the third column,
# the undivided query still gets the larger gradient at 256, and far less at 1,024. But it is a constant factor, and a
# larger learning rate can make up for it. No learning rate makes up for a gradient of zero.
# </details>

# %% [markdown]
# ## Training with three divisors
#
# Does saturation matter in training? There are 32 items, each with a key and one of 10 labels. The query is a distorted
# copy of one key (always distorted in the same hidden way), and the model has to return that item's label. It learns
# two matrices, `w_q` and `w_k`, that project queries and keys to a common width d_k. Only the divisor differs. *Dead*
# queries are those whose scores get hardly any gradient.


# %% tags=["hide-input"]
def train(
    divisor: float, d_k: int = 512, lr: float = 1e-3, init: float = 1, eps: float = 1e-3, n_runs: int = 3, seed: int = 0
) -> dict[str, Tensor]:
    """Learn to find the right item in ``n_runs`` runs; return what was measured, averaged over every 20 steps."""
    torch.manual_seed(seed)
    hidden = torch.randn(n_runs, 1, 32, 32) / 32**0.5  # how queries are distorted: the model has to find out
    w_q, w_k = (torch.nn.Parameter(init * torch.randn(n_runs, 1, 32, d_k) / 32**0.5) for _ in range(2))
    optimizer = torch.optim.Adam([w_q, w_k], lr=lr, fused=True)  # fused: the same, only faster
    seen = {"right": [], "typical score": [], "dead queries": []}
    for _ in range(300):
        keys, labels = torch.randn(n_runs, 32, 32, 32), torch.randint(10, (n_runs, 32, 32))  # (run, batch, item, 32)
        item = torch.randint(32, (n_runs, 32, 1))
        queries = keys.take_along_dim(item[..., None], dim=2) @ hidden  # (run, batch, 1, 32)
        scores = queries @ (w_q @ w_k.mT) @ keys.mT / divisor  # the product of q w_q and k w_k, in a faster order
        scores.retain_grad()  # (run, batch, 1, item)
        weights, wanted = torch.softmax(scores, dim=-1)[:, :, 0], labels.take_along_dim(item, dim=2)
        p = (weights * (labels == wanted)).sum(dim=-1)  # all the attention to items with the right label
        torch.autograd.backward(-torch.log(p + eps).mean(dim=-1).sum())
        optimizer.step()
        optimizer.zero_grad()
        answers = torch.zeros(n_runs, 32, 10).scatter_add(2, labels, weights.detach())
        seen["right"].append((answers.argmax(dim=-1) == wanted[..., 0]).float().mean(dim=-1))
        seen["typical score"].append(scores.detach().std(dim=-1).mean(dim=(1, 2)))
        seen["dead queries"].append((32 * scores.grad.norm(dim=-1) < 0.01).float().mean(dim=(1, 2)))
    return {what: torch.stack(values, dim=-1).view(n_runs, 15, 20).mean(dim=-1) for what, values in seen.items()}


# %% [markdown]
# We start with d_k = 512 and a learning rate of 0.001.
#
# **Predict.** The divisors are 1, √d_k and d_k. Which one has the worst accuracy over the 300 steps?

# %% tags=["prediction"]
worst_at_one_rate = ...  # "1", "√d_k" or "d_k"

# %% id="one-rate" tags=["approximate"]
runs = {name: train(divisor) for name, divisor in {"1": 1, "√d_k": 512**0.5, "d_k": 512}.items()}
accuracy = {name: run["right"] for name, run in runs.items()}  # (3, 15) each
compare(worst_at_one_rate, min(accuracy, key=lambda name: accuracy[name].sum()))
curves = {f"scores / {name}": a for name, a in accuracy.items()}
ax = plots.lines(torch.arange(10, 300, 20), curves, xlabel="step", ylabel="accuracy", legend_beside=True)


# %% tags=["hide-input", "approximate"]
columns = {
    "dead, first 20 steps": ("dead queries", 0),
    "accuracy, steps 40 to 60": ("right", 2),
    "accuracy, last 20": ("right", -1),
    "typical score, first 20": ("typical score", 0),
    "typical score, last 20": ("typical score", -1),
}
ranges = {}  # the smallest and the largest of three runs
for name, run in runs.items():
    of_runs = {column: run[what][:, at] for column, (what, at) in columns.items()}
    ranges[f"scores / {name}"] = {column: f"{x.min():.1f} to {x.max():.1f}" for column, x in of_runs.items()}
pd.DataFrame.from_dict(ranges, orient="index")

# %% [markdown]
# At this rate, learning starts at once with √d_k. Without division it
# starts late: most queries are dead, because chance has already chosen a key for them. Divided by $d_k$, the model
# hardly learns for the first 100 steps: all weights are nearly equal. In the end all three learn, so the division makes
# training easier; it doesn't make it possible.
#
# So are small scores worse than large ones? Not so fast.

# %% [markdown]
# ### Is it the divisor or the learning rate?
#
# We have compared three divisors at *one* learning rate. A fair comparison gives each its own best rate.
#
# **Predict.** With each divisor at its best of five rates, which one has the worst accuracy?

# %% tags=["prediction"]
worst_at_its_best = ...  # "1", "√d_k" or "d_k"

# %% id="sweep" tags=["approximate"]
rates = [0.001, 0.003, 0.01, 0.03, 0.1]


def sweep(d_k: int) -> dict[str, Tensor]:
    """Return for each divisor the accuracy over all 300 steps: a row for each run, a column for each rate."""
    divisors = {"1": 1, "√d_k": d_k**0.5, "d_k": d_k}
    return {
        name: torch.stack([train(divisor, d_k, lr)["right"].mean(dim=1) for lr in rates], dim=1)
        for name, divisor in divisors.items()
    }


def table_of(accuracy: dict[str, Tensor]) -> pd.DataFrame:
    return pd.DataFrame({f"scores / {name}": a.mean(dim=0) for name, a in accuracy.items()}, index=rates).T.round(2)


wide = sweep(512)
best = {name: a.mean(dim=0).max().item() for name, a in wide.items()}
compare(worst_at_its_best, min(best, key=lambda name: best[name]))
curves = {f"scores / {name}": a for name, a in wide.items()}
ax = plots.lines(rates, curves, xlabel="learning rate", ylabel="accuracy over 300 steps", legend_beside=True)
ax.set_xscale("log")
late = {name: train(divisor, lr=0.003)["right"][:, -1].mean() for name, divisor in {"1": 1, "√d_k": 512**0.5}.items()}
print("rate 0.003, last 20 steps:", {f"/ {name}": f"{right:.2f}" for name, right in late.items()})
table_of(wide)

# %% [markdown]
# The order has changed. With a rate 30 times as large, $1/d_k$ is nearly as good as $1/\sqrt{d_k}$: its gradients were
# small but not zero, and a larger rate makes up for a constant factor. Without division, *none* of the rates is enough:
# a large one makes the scores even larger. At each of the five rates, the undivided model stays behind √d_k.
#
# <details><summary>Does the undivided model get there in the end?</summary>
#
# An accuracy over 300 steps measures *speed*: at 0.003, the undivided model has 0.99 in the last 20 steps.
# </details>

# %% [markdown]
# ### And at the paper's width, 64?
#
# **Predict.** With which divisor does the accuracy at *every* rate stay nearly the same if d_k is 64 instead of 512?

# %% tags=["prediction"]
same_at_both_widths = ...  # "1", "√d_k" or "d_k"

# %% id="width-64" tags=["approximate"]
narrow = sweep(64)
change = {name: (wide[name] - narrow[name]).mean(dim=0).abs().max().item() for name in wide}
compare(same_at_both_widths, min(change, key=lambda name: change[name]))
print("largest change from width 512 to width 64:", {f"/ {name}": round(x, 2) for name, x in change.items()})
dead = {name: train(divisor, 64)["dead queries"][:, 0].mean() for name, divisor in {"1": 1, "√d_k": 8}.items()}
print("dead queries, first 20 steps:", {f"/ {name}": f"{share:.1f}" for name, share in dead.items()})
table_of(narrow)

# %% [markdown]
# At width 64, the undivided model is closer at its best rate, 0.93 against 0.97, but still behind: about a third of its
# queries start dead. Surprisingly, the row of $1/d_k$ is nearly the same at both widths. A rate of 0.01 suits √d_k at
# both, too, but at 0.1, √d_k gets worse with width (0.90 at 64, 0.76 at 512), while $1/d_k$ stays at 0.96.

# %% [markdown]
# ### With another loss
#
# Here are d_k = 512 and three of the rates with $-\log p$ as the loss.
#
# <details><summary>What is different about this loss?</summary>
#
# Our loss, $-\log(p + 0.001)$ for the weight $p$ of the right label, stays below 7 however small $p$ is.
# A plain $-\log p$ is much steeper for tiny $p$.
# </details>

# %% id="plain-log" tags=["hide-input", "approximate"]
plain = {
    name: torch.stack([train(divisor, lr=lr, eps=1e-30)["right"].mean(dim=1) for lr in rates[:3]], dim=1)
    for name, divisor in {"1": 1, "√d_k": 512**0.5}.items()
}
rows = {
    f"scores / {name}, {loss}": a[name].mean(dim=0)[:3]
    for name in plain
    for loss, a in {"−log(p + 0.001)": wide, "−log p": plain}.items()
}
pd.DataFrame(rows, index=rates[:3]).T.round(2)

# %% [markdown]
# With this loss, the undivided model comes closer at every rate, but it stays behind.
#
# <details><summary>What follows from that?</summary>
#
# A saturated softmax *can* learn if the loss is steep enough.
# </details>

# %% [markdown]
# ### Smaller matrices instead of a division
#
# What if we don't divide, but multiply `w_q` and `w_k` by $d_k^{-1/4}$ before training, so that scores start at a size
# of 1?
#
# **Predict.** At width 512 and its best rate, is its accuracy nearest to 0.83 (as before), 0.9 or 0.98 (as with √d_k)?

# %% tags=["prediction"]
prediction = ...

# %% id="small-start" tags=["hide-input", "approximate"]
small = {
    d: torch.stack([train(1, d, lr, init=d**-0.25)["right"].mean(dim=1) for lr in rates], dim=1) for d in (512, 64)
}
compare(prediction, measured=round(small[512].mean(dim=0).max().item(), 2), choices=(0.83, 0.9, 0.98))
divided, shrunk = train(512**0.5, lr=0.01)["right"], train(1, lr=0.01 * 512**-0.25, init=512**-0.25)["right"]
print(f"√d_k at rate 0.01: {divided.mean():.2f}; no division, start and rate times 512^(-1/4): {shrunk.mean():.2f}")
print(f"largest difference at any time: {(divided - shrunk).abs().max():.2f}")
rows = {f"{d}: scores / {name}": a[name].mean(dim=0) for d, a in ((512, wide), (64, narrow)) for name in ("1", "√d_k")}
rows |= {f"{d}: scores / 1, small start": a.mean(dim=0) for d, a in small.items()}
pd.DataFrame(rows, index=rates).T.sort_index(ascending=False).round(2)

# %% [markdown]
# The small start is as good as the division; only the best rate is lower.
#
# <details><summary>Why is it as good?</summary>
#
# Dividing by $\sqrt{d_k}$ divides both matrices by $d_k^{1/4}$. That equals a smaller start *and* smaller steps, since
# the size of Adam's steps does not depend on the size of the gradient. T5 has no division: its query weights start
# $\sqrt{d_k}$ times smaller.
# </details>

# %% [markdown]
# ## Bug hunt
#
# A colleague doesn't use d_k: "The length of a random query is √d_k on average. So I divide by its length. The variance
# of the scores is 1 at every width; I have measured it." She is right about the variance. Decide what is wrong *before*
# you run the check. Then write a corrected version, `mended`, in the cell after it.


# %% tags=["bug-hunt"]
def attention_of_a_colleague(queries, keys, values):
    scores = queries @ keys.transpose(-2, -1)
    weights = torch.softmax(scores / (queries.norm(dim=-1, keepdim=True) + 0.01), dim=-1)  # never 0
    return weights @ values


# %% id="mend-scaling"
mended = attention_of_a_colleague

# %% id="check-mend-scaling"
check(mended, "scaled_dot_product_attention", save=False)

# %% [markdown]
# <details><summary>How to find such a bug without a check</summary>
#
# Random inputs do not distinguish the two versions. So think about what an input can *do*: multiply one query by 10.
# Its scores should be ten times as large and its weights sharper. Here hardly anything changes: only the direction of a
# query counts, so training cannot make one query more certain than another. The cell below tries it.
# </details>

# %%
one_query, two_keys = torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
ours = parts.scaled_dot_product_attention
for name, f in {"the colleague's": attention_of_a_colleague, "yours or the library's": ours}.items():
    largest = [f(factor * one_query, two_keys, torch.eye(2)).max().item() for factor in (1, 10)]
    print(f"{name}: largest weight {largest[0]:.2f}, and for ten times the query {largest[1]:.2f}")

# %% [markdown]
# ## The scale is a temperature
#
# **The verdict, with its settings.** In 300 steps of Adam, at widths 64 and 512, each divisor at its best rate: √d_k
# and d_k are about equally good, and no division is worse, by more at 512 than at 64. With a small start it is just as
# good: what matters is the size of the scores at the start. If we had stopped after the first experiment, we would have
# called a fact about one learning rate a law of attention. Other seeds would not have told us.

# %% [markdown]
# **Half-way.** The question is answered, and this is a good place to stop for today. The second half shows the limits
# of √d_k and other ways to compute scores.
#
# The divisor √d_k is what lesson 01 called a temperature. It does not fix how sharp attention is: a model that needs
# sharper attention can learn longer queries.

# %% [markdown]
# ### After training, scores grow like d_k: μP
#
# √d_k is right at **initialization**, before the first step, when entries are independent with variance 1 and a typical
# score is 1. The first table of the training runs shows that this does not last: with √d_k, training made the typical
# score grow to 3. From then on the model sets its own temperature.
#
# Training also aligns a query with the key that it should find. Then their products no longer cancel, and $q \cdot k$
# grows like $d_k$ instead of $\sqrt{d_k}$. Take queries that equal their keys, as if training had aligned them
# perfectly:

# %%
aligned = {d: (torch.randn(2000, d) ** 2).sum(dim=-1).mean().item() for d in (64, 1024)}  # q · k for q = k
pd.DataFrame({f"d_k = {d}": {"q·k / √d_k": round(x / d**0.5), "q·k / d_k": round(x / d)} for d, x in aligned.items()})

# %% [markdown]
# With 16 times the width, $q \cdot k / \sqrt{d_k}$ is 4 times as large, and $q \cdot k / d_k$ stays the same. This is
# why **maximal update parametrization** (μP; Yang and Hu, 2021) divides by $d_k$, up to a constant factor:
# hyperparameters that you tuned on a narrow model then also work for a wide one (Yang et al., 2022). You have seen it
# above: at 0.1, √d_k got worse with width, and $1/d_k$ did not.
#
# <details><summary>What is attention dropout?</summary>
#
# Many implementations also apply dropout to the attention weights, after the softmax: **attention dropout**. In
# training, the weights of a query then no longer add up to 1. This course leaves it out, so that results can be
# repeated and compared.
# </details>

# %% [markdown]
# ## Additive attention
#
# Attention existed before the Transformer, with a different score. Bahdanau's translator (2014) used a small network,
# the **additive attention** of lesson 00: project query and key to a common width `d_h`, add them, apply tanh, and
# reduce the result to one number:
#
# $$\operatorname{score}(q, k) = w \cdot \tanh(W_q q + W_k k)$$
#
# with $W_q$: (d_h, d_q), $W_k$: (d_h, d_k), $w$: (d_h). Queries and keys may have different widths, since each has its
# own matrix.
#
# **Exercise.** Score every key for every query. You need the sum for every *pair*: give queries and keys an extra axis
# of length 1, so that broadcasting forms the pairs.


# %% id="additive_scores" tags=["exercise"]
def additive_scores(
    queries: Float[Tensor, "batch n_query d_q"],
    keys: Float[Tensor, "batch n_key d_k"],
    w_q: Float[Tensor, "d_h d_q"],
    w_k: Float[Tensor, "d_h d_k"],
    w: Float[Tensor, " d_h"],
) -> Float[Tensor, "batch n_query n_key"]:
    """Return the score w · tanh(W_q q + W_k k) of every key for every query."""
    raise NotImplementedError


# %% id="check-additive_scores"
check(additive_scores)

# %% [markdown]
# ### The cost of additive attention
#
# **Predict.** 256 queries, 256 keys, and a hidden width d_h of 64. Before it can compute its scores, additive attention
# needs $\tanh(W_q q + W_k k)$ for every pair. How many numbers is that? (The folded cell also measures the time.)

# %% tags=["prediction"]
prediction = ...

# %% tags=["hide-input", "words-only"]
queries, keys = torch.randn(2, 1, 256, 64)
w_q, w_k, w = torch.randn(64, 64) / 8, torch.randn(64, 64) / 8, torch.randn(64) / 8
seconds = {"additive": [], "dot product": []}
for _ in range(20):  # in turns, so that a disturbance slows both
    start = time.perf_counter()
    parts.additive_scores(queries, keys, w_q, w_k, w)
    middle = time.perf_counter()
    queries @ keys.mT / 8
    seconds["dot product"].append(time.perf_counter() - middle)
    seconds["additive"].append(middle - start)
compare(prediction, measured=((queries @ w_q.T)[:, :, None] + (keys @ w_k.T)[:, None]).numel())
print(f"additive scores take {min(seconds['additive']) / min(seconds['dot product']):.0f} times as long")

# %%
print("parameters of additive attention:", w_q.numel() + w_k.numel() + w.numel(), "(a dot product has none)")

# %% [markdown]
# The dot products of all pairs are a single matrix product, which is what computers do best. Additive attention
# computes a hidden vector of 64 numbers for every score. In return its scores are bounded: tanh is at most 1, so no
# score exceeds $\sum_i |w_i|$. (The problem only moves, though: with wide random queries the entries of $W q$ get
# large, as `score_variance` predicts, and then tanh saturates.)
#
# Britz et al. (2017), whom the paper cites, found both kinds of attention equally good at small widths, and additive
# attention better than *undivided* dot products at large ones. The Transformer's authors suspected that the scores grew
# too large, divided them by √d_k, and kept the faster kind.

# %% [markdown]
# ## ★ Without the softmax: linear attention
#
# Leave out the softmax, and the output for a query is $\sum_j (q \cdot k_j)\, v_j = q \sum_j k_j^\top v_j$. The sum on
# the right, a matrix of shape (d_k, d_v), does not depend on the query. You can add it up while you read a text, like
# the hidden state of lesson 00, and its size does not grow with the text. This is **linear attention** (Katharopoulos
# et al., 2020; here in its simplest form). What does it lose? We store $n$ random pairs of a key and a value, and ask
# for every value by its key:

# %%
generator, recalled = torch.Generator().manual_seed(2), {}
for d in (16, 64):
    for n in (4, 16, 64, 256):
        keys, values = torch.nn.functional.normalize(torch.randn(2, 50, n, d, generator=generator), dim=-1)
        outputs = keys @ (keys.mT @ values)  # 50 memories
        right = (outputs @ values.mT).argmax(dim=-1) == torch.arange(n)  # is the right value the nearest one?
        recalled.setdefault(f"state of {d} × {d}", {})[f"{n} pairs"] = right.float().mean().item()
pd.DataFrame(recalled).T.round(2)

# %% [markdown]
# Each output is the right value plus noise about $\sqrt{n/d}$ times as long. At n = d both are equally long; a narrow
# state then confuses some values, and a wide one still recalls them. Attention with softmax
# keeps every key and value, and can recall all of them if its weights are sharp enough. It pays for that in memory.
# Hybrids such as [Qwen3-Next](https://huggingface.co/Qwen/Qwen3-Next-80B-A3B-Instruct) use a recurrent state in three
# out of every four layers and full attention in the fourth. (Their state can also forget, through gates like the GRU's,
# and it erases the value stored under a key before writing a new one: the *delta rule*.)

# %% [markdown]
# ## ★ Transfer: cosine attention
#
# Another way to bound the scores: use the cosine, which is never larger than 1, and divide it by a temperature that you
# choose. Henry et al. (2020, [arXiv:2010.04245](https://arxiv.org/abs/2010.04245)) do this with a learned temperature.
# Its form today is **QK-norm**: queries and keys are normalized and multiplied by learned factors, and a fixed divisor
# remains. It is √d_k in Qwen3 and OLMo 2 (which normalizes the whole projection instead of each head), but √168 in
# Gemma 3 27B, whose heads are 128 wide.
#
# **Exercise.** Write cosine attention from scratch.


# %% id="cosine_attention" tags=["exercise"]
def cosine_attention(
    queries: Float[Tensor, "*batch n_query d_k"],
    keys: Float[Tensor, "*batch n_key d_k"],
    values: Float[Tensor, "*batch n_key d_v"],
    temperature: float,
) -> Float[Tensor, "*batch n_query d_v"]:
    """Return the weighted average of the values for every query; a score is a cosine divided by the temperature."""
    raise NotImplementedError


# %% id="check-cosine_attention"
check(cosine_attention)

# %%
q, k, v = torch.randn(5, 512), torch.randn(7, 512), torch.randn(7, 3)
before, after = parts.cosine_attention(q, k, v, 0.1), parts.cosine_attention(100 * q, 100 * k, v, 0.1)
print("output for the first query:                   ", [f"{x:.2f}" for x in before[0].tolist()])
print("with queries and keys 100 times as long:       ", [f"{x:.2f}" for x in after[0].tolist()])

# %% [markdown]
# ## Your experiment
#
# Ungraded, about 15 minutes. Test a claim of your own the way this lesson tests its claims, or start with this one:
#
# **Claim.** At width 128 and a learning rate of 0.001, √d_k is better than its half: with √d_k / 2, fewer answers are
# right over the first 100 steps.
#
# **Prediction.** Before you run anything, write down in how many of three runs the claim will hold.
#
# **Verdict.** Say in one sentence what the runs show. Then change the learning rate or the width: does your sentence
# survive, or does it need its setting? A claim that fails is a result, too.

# %% id="experiment" tags=["experiment", "skip-execution"]
prediction = ...  # in how many of the three runs will the claim hold?
holds = []
for seed in range(3):
    settings = {"d_k": 128, "lr": 0.001, "n_runs": 1, "seed": seed}
    first_100 = {divisor: train(divisor, **settings)["right"][:, :5].mean() for divisor in (11.3, 5.7)}
    holds.append(...)  # True or False, from the two numbers in `first_100`
print("predicted:", prediction, " measured:", holds)
# Verdict:

# %% [markdown]
# ## In short
#
# - A score is a sum of $d_k$ products: its variance is $d_k \sigma^4$, its standard deviation grows like $\sqrt{d_k}$.
# - Scores that are too large saturate the softmax. Within 300 steps, none of five learning rates made up for that; a
#   smaller initialization did.
# - Dividing by $\sqrt{d_k}$ makes sharpness independent of the width at the start of training.
# - With $d_k$, scores are too small at first. A larger rate makes up for that; in our runs the same rate worked at both
#   widths, as in μP.
# - Overflow of exp is not the reason: softmax subtracts the maximum.
# - Later, learned queries and keys set their own temperature.
# - Additive attention has bounded scores, but computes a vector for each pair.
# - A comparison at one learning rate is a statement about that rate.

# %% tags=["hide-input"]
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
# ## New words
#
# The [glossary](glossary.ipynb) lists the terms from all lessons.
#
# - **random walk**: a sum of random steps, whose distance from the start grows like the root of their number.
# - **variance**: the mean squared distance from the mean; the square of the standard deviation.
# - **entropy**: −Σ w log w, a measure of how evenly weights are spread; largest if all are equal.
# - **scaled dot-product attention**: attention whose scores are dot products divided by √d_k.
# - **overflow**: a result is too large for its number format and becomes infinite.
# - **half precision**: floating-point numbers of 16 bits instead of 32.
# - **Jacobian**: the matrix of the derivatives of every output with respect to every input.
# - **saturated**: so far in the flat part of a function that hardly any gradient is left.
# - **initialization**: the choice of the parameters' values before the first step of training.
# - **maximal update parametrization**: μP for short; rules for initialization and learning rates under which one set of
#   hyperparameters suits all widths.
# - **attention dropout**: dropout applied to attention weights.
# - **QK-norm**: normalizing queries and keys, with learned factors, before their dot product.
# - **linear attention**: attention without softmax, so that a single matrix, a recurrent state, stores all keys and
#   values.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first. The section named at the end of each answer has the cell that shows it.
#
# <details><summary>Why are the scores divided by √d_k?</summary>
#
# A dot product of d_k independent entries of variance 1 has variance d_k. Without the division, wide queries and keys
# start with weights close to 0 and 1, where the softmax is saturated and has almost no gradient, so training starts
# late. In our experiment, the undivided model stayed behind at each of five learning rates. (At d_k 512 and the best
# rate of each, its accuracy averaged over 300 steps was about 0.83, and 0.98 with √d_k.) But the division is not the
# only way: when both matrices started d_k^(1/4) times smaller, the undivided model reached 0.98, too. (<i>What do large
# scores do?</i>, <i>Explanation 2</i>, <i>Is it the divisor or the learning rate?</i>, <i>Smaller matrices instead of a
# division</i>)
# </details>
#
# <details><summary>Why not divide the scores by d_k?</summary>
#
# At initialization the variance would then be 1/d_k: the scores of wide queries and keys vanish, and all keys get the
# same weight. At a small learning rate, learning starts late. At a rate 30 times as large, 1/d_k was nearly as good as
# 1/√d_k. After training, the products of a query and its key no longer cancel, and the score grows like d_k. So μP does
# divide by d_k (times a constant): in our runs, its accuracy at each rate was nearly the same at width 64 and 512; √d_k
# got worse at the highest rate. (<i>Is it the divisor or the learning rate?</i>, <i>And at the paper's width,
# 64?</i>, <i>After training, scores grow like d_k</i>)
# </details>
#
# <details><summary>Is the division there to prevent overflow of the exponential?</summary>
#
# No, the exponential is not the problem: softmax implementations subtract the row's maximum first. In float16, though,
# the scores themselves can exceed 65,504: a plain product has to scale the queries first, and fused kernels such as
# FlashAttention keep the scores in float32. (<i>Explanation 1</i>)
# </details>
#
# <details><summary>Does the scaling change which key gets the most attention?</summary>
#
# No. All scores of a query are divided by the same positive number. Only the sharpness changes. (<i>Scaled dot-product
# attention</i>)
# </details>

# %% [markdown]
# <details><summary>What does the argument for √d_k assume, and does it hold after training?</summary>
#
# It assumes independent entries with mean 0 and variance 1. This held at the start of our training, where the typical
# score was about 1, but not at the end: training makes queries and keys depend on each other, and at a learning rate of
# 0.001 the typical score grew to about 3. (<i>Training with three divisors</i>, <i>The scale is a temperature</i>)
# </details>
#
# <details><summary>Can the division by √d_k be done elsewhere?</summary>
#
# Yes: dividing the queries by √d_k before the product gives the same scores, and divides n_query × d_k numbers instead
# of n_query × n_key (fewer if n_key > d_k). Dividing both queries and keys by the fourth root of d_k works too. Both
# avoid overflow in a plain float16 product; fused kernels keep the scores in float32. (<i>Explanation 1</i>)
# </details>
#
# <details><summary>Compare additive and dot-product attention.</summary>
#
# Additive attention is a small network with its own parameters. It computes a hidden vector for each pair, its scores
# are bounded, and queries and keys may differ in width. Dot-product attention is one matrix product without parameters:
# fast, but its scores grow with the width unless you divide. (<i>The cost of additive attention</i>)
# </details>
#
# <details><summary>What does linear attention gain, and what does it lose?</summary>
#
# Without the softmax, the sum of all products of keys and values fits into one matrix: a recurrent state of fixed size,
# however long the text is, and training can still process all positions at once. It loses recall: n random pairs in a d
# × d state add noise whose norm is about √(n/d) times that of a value. A 16 × 16 state recalled about 90 % of 16 pairs
# but less than a third of 64 pairs; a 64 × 64 state recalled all 64. (<i>★ Without the softmax</i>)
# </details>
#
# <details><summary>What is the derivative of softmax?</summary>
#
# ∂p_i/∂s_j = p_i (δ_ij − p_j). The Jacobian is symmetric, its rows add up to 0, and it is zero everywhere if one key
# gets all the weight. (<i>Explanation 2</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Vaswani et al. (2017), [arXiv:1706.03762](https://arxiv.org/abs/1706.03762), section 3.2.1 and its footnote 4: the
#   argument in two sentences.
# - Bahdanau et al. (2014), [arXiv:1409.0473](https://arxiv.org/abs/1409.0473), appendix A.1.2: additive attention as it
#   was first used. Britz et al. (2017), [arXiv:1703.03906](https://arxiv.org/abs/1703.03906): a comparison of both.
# - Yang and Hu (2021), [arXiv:2011.14522](https://arxiv.org/abs/2011.14522): μP. Yang et al. (2022),
#   [arXiv:2203.03466](https://arxiv.org/abs/2203.03466): hyperparameters that transfer, and why to divide by d_k.
# - Katharopoulos et al. (2020),
#   [arXiv:2006.16236](https://arxiv.org/abs/2006.16236): linear attention. Yang et al. (2024),
#   [arXiv:2406.06484](https://arxiv.org/abs/2406.06484): its delta rule, trained in parallel.
# - `transformer_lab/attention/dot_product.py` and `additive.py` next to it: the library's versions, with masks.

# %% [markdown]
# How far did you get, and how well did you predict?

# %% id="tally"
tally()

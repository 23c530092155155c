# %% [markdown] id="title"
# # 02 · Why divide by √d_k
#
# **The question.** There are two popular reasons for dividing attention scores by $\sqrt{d_k}$, the square root of the
# width of queries and keys, and one of them does not survive a test. Why divide at all? And why by the root, not by the
# width itself?
#
# **Afterwards you can** say how large a score gets and why, show what goes wrong when it is too large or too small, and
# compare dot-product attention with additive attention.
#
# Reading: 39 minutes. Exercises: 40 minutes (four core, one stretch ★). With all predictions, runs and questions: about
# 100 minutes, with a good place to stop half-way.

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
# They get sharper: the best key gets more, and the others together get less. The ranking of the keys does not change.
# </details>
#
# <details><summary>Is the dot product the cosine similarity?</summary>
#
# Only for vectors of length 1. In general it is the cosine times both lengths.
# </details>
#
# The map below shows where we are: inside every attention, one step is new, the division.

# %% id="imports"
import math
import time

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course import check, compare, diagrams, hint, parts, plots, solution, tally, views

# %%
torch.manual_seed(2)
torch.set_printoptions(precision=2, sci_mode=False)
_ = torch.set_flush_denormal(True)  # treat numbers below 1e-38 as 0: processors are slow at them

# %%
diagrams.architecture.you_are_here(2)

# %% [markdown]
# ## How large does a score get?
#
# A score is a sum of products, one for each entry of the query and the key. In lesson 01 most vectors had two or
# three entries. In the original Transformer (Vaswani et al., 2017) queries and keys have 64 entries. This width was
# `d` in lesson 01; from here on it is `d_k`, with k for key.
#
# Let queries and keys hold independent random numbers (mean 0, standard deviation 1). With 8 entries, a typical score
# (the standard deviation of the scores) is 2.8.
#
# **Predict.** With 512 entries, 64 times as many, is a typical score near 11, 22, 45 or 181?

# %% tags=["prediction"]
prediction = ...

# %%
queries, keys = torch.randn(2, 10_000, 512)
spread = {d: (queries[:, :d] * keys[:, :d]).sum(dim=-1).std().item() for d in (8, 32, 128, 512)}  # of 10,000 scores
compare(prediction, measured=round(spread[512], 1), choices=(11, 22, 45, 181))
pd.DataFrame({"d_k": spread.keys(), "typical score": spread.values(), "√d_k": [d**0.5 for d in spread]}).round(1)

# %% [markdown]
# With four times the width, a score is twice as large: it grows like $\sqrt{d_k}$. The products are as often negative
# as positive, so they mostly cancel. What is left still grows, just as a **random walk**, which steps left or right at
# random, drifts away from its start. Three steps show why.
#
# 1. The **variance** is the square of the standard deviation. A product $q_i k_i$ of two independent numbers with mean
#    0 has mean 0 too, and its variance is the product of their variances. If both have variance $\sigma^2$, that is
#    $\sigma^2 \cdot \sigma^2 = \sigma^4$.
# 2. When independent numbers are added, their variances add up. There are $d_k$ products.
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
# Take 64 random keys. None of them deserves special attention: all are equally random.
#
# **Predict.** With a width of 256 and no division, what weight does a query give to the one key that happens to have
# the largest score? (Equal weights would be 1/64 = 0.016.)

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

# %%
compare(prediction, measured=round(top["scores / 1"][3], 1))
ax = plots.lines(widths, top, xlabel="width d_k", ylabel="weight of the best key")
ax.set_xscale("log", base=2)
ax.set_xticks(widths, widths)
pd.DataFrame(top, index=pd.Index(widths, name="d_k")).round(2)

# %% [markdown]
# Without division, the best key takes over as the width grows. But its weight tells us about one key only. The
# **entropy** $-\sum_i w_i \log w_i$ tells us about all of them. Divided by its maximum $\log 64$, it is 1 if all 64
# weights are equal, and 0 if one key gets all the weight.

# %%
pd.DataFrame(entropy, index=pd.Index(widths, name="d_k")).round(2)

# %% [markdown]
# Without division, attention gets sharper and sharper as queries and keys get wider, until it is a dict lookup again.
# With division by $d_k$, it gets softer and softer, until it is a plain average, whatever the query. With division by
# $\sqrt{d_k}$, it does not change: **at the start of training, the width d_k no longer decides how sharp attention
# is.** That is the whole point of the root. Dividing numbers by $c$ divides their standard deviation by $c$ and their
# variance by $c^2$. So dividing by $\sqrt{d_k}$ makes the variance of a score $d_k \sigma^4 / d_k = \sigma^4$, at any
# width.

# %% [markdown]
# Try it with five keys in the plane. The arrows have two numbers each; their dot products are multiplied by
# $\sqrt{d_k/2}$, as if each arrow had $d_k$ independent numbers. Change the width: which divisor keeps the weights as
# they are? Which turns the lookup into a dict, and which into a plain average?

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
# width of the values does not matter. Here is the example of lesson 01 once more. The scores are now divided by √3
# before the softmax, so the weights are softer, and the year is less accurate:

# %%
keys_of_pieces = torch.tensor([[2.0, 0.5, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]])
values_of_pieces, questions = torch.tensor([[3.0], [3.0], [2021.0]]), torch.tensor([[0.0, 0.0, 2.0], [0.0, 2.0, 0.0]])
names = {"query_names": ["year?", "month?"], "key_names": ["3", "mars", "2021"]}
diagrams.lookup.one_head(questions, keys_of_pieces, values_of_pieces, divisor=3**0.5, **names)

# %% [markdown]
# (The division is meant for wide queries and keys; these have only three entries.)
#
# **Exercise.** Write this function. You may use `parts.softmax`. (PyTorch has it as `F.scaled_dot_product_attention`;
# write your own.)


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
# Does the division change *which* key gets the largest weight? Dividing all the scores of a query by one positive
# number keeps their order.

# %%
scores = torch.randn(1000, 64) * 22
same = parts.softmax(scores).argmax(dim=-1) == parts.softmax(scores / 22).argmax(dim=-1)
print(f"the best key is the same in {same.sum()} of {len(same)} rows")

# %% [markdown]
# If the ranking does not change, why does it matter how sharp the weights are? There are two explanations. We test
# both.

# %% [markdown]
# ## Explanation 1: without the division, exp overflows
#
# $e^{89}$ is more than a 32-bit float can hold (**overflow**), and scores of 89 do occur.

# %%
huge = torch.tensor([1000.0, 0.0])
naive = huge.exp() / huge.exp().sum()
print("exp(1000) / sum:              ", [f"{w:.0f}" for w in naive.tolist()])
print("torch.softmax:                ", [f"{w:.0f}" for w in torch.softmax(huge, dim=-1).tolist()])
print("your softmax or the library's:", [f"{w:.0f}" for w in parts.softmax(huge).tolist()])

# %% [markdown]
# The naive formula overflows. But no library uses it: all of them subtract the maximum first, as you did in lesson 01.
# So in 32 bits, overflow is not why we divide.
#
# In **half precision** (float16) no number may exceed 65,504. Take queries and keys of width 64 whose entries are all
# 60 or all −60.
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
# 64 · 60 · 60 is 230,400: here the *score* overflows, before softmax can subtract anything. Softmax then computes ∞ −
# ∞, which is `nan`. So a plain product in float16 has to divide the queries first, or queries and keys each by the
# fourth root of $d_k$. The fused kernels that most models run on today (FlashAttention) need neither: they read 16-bit
# queries and keys, and keep the scores in float32. (bfloat16 has the range of float32, with fewer digits.)

# %% [markdown]
# ## Explanation 2: the softmax saturates
#
# Training needs to know what a small change of a score would do: if score $j$ grows by a tiny $\varepsilon$, weight
# $i$ grows by $\varepsilon$ times what? This is the derivative $\partial p_i / \partial s_j$. With $p$ for the
# weights (they are probabilities), $p = \operatorname{softmax}(s)$, it is
#
# $$\frac{\partial p_i}{\partial s_j} = p_i(\delta_{ij} - p_j),
# \quad \delta_{ij} = 1 \text{ if } i = j \text{, else } 0$$
#
# With weights 0.8 and 0.2, for instance, raising score 0 by $\varepsilon$ changes weight 0 by $0.8 \cdot (1 - 0.8) =
# 0.16$ times $\varepsilon$, and weight 1 by $0.2 \cdot (0 - 0.8) = -0.16$ times $\varepsilon$: what one weight gains,
# the other loses.

# %% [markdown]
# The matrix of all these derivatives, with $\partial p_i / \partial s_j$ in row $i$ and column $j$, is called the
# **Jacobian**. (To derive it: for $i \neq j$ only the denominator of $e^{s_i} / \sum e^{s}$ depends on $s_j$; for $i =
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
# A small example shows two properties of every softmax Jacobian.

# %%
example = parts.softmax_jacobian(torch.tensor([0.7, 0.2, 0.1]))
print("rows add up to", [abs(round(x, 3)) for x in example.sum(dim=1).tolist()])
print("symmetric:", torch.equal(example, example.T))


# %% [markdown]
# Now compare equal weights with weights that are nearly 1 and 0.
#
# **Predict.** The weights are 0.999 and 0.001. If the first score grows by a tiny $\varepsilon$, the first weight
# grows by $\varepsilon$ times what?

# %% tags=["prediction"]
prediction = ...

# %%
equal = parts.softmax_jacobian(torch.tensor([0.5, 0.5]))
sharp = parts.softmax_jacobian(torch.tensor([0.999, 0.001]))
compare(prediction, measured=round(sharp[0, 0].item(), 3))
print(f"with equal weights: {equal[0, 0]:.2f}, that is {equal[0, 0] / sharp[0, 0]:.0f} times as much")
print("if one weight is 1:", (parts.softmax_jacobian(torch.tensor([1.0, 0.0, 0.0])) + 0.0).tolist())

# %% [markdown]
# In the formula, if one $p_i$ is 1 and the others are 0, *every* entry is 0. A small change of the scores changes no
# weight, so the scores get no gradient: from this query the model learns nothing about *which key to attend to*. Does
# that happen at large widths? We measure the size of the whole Jacobian (the root of the sum of its squares) with 64
# keys, and take the median over 300 queries.

# %%
jacobian_size = {"scores / 1": [], "scores / √d_k": []}
for d in widths:
    scores = (torch.randn(300, 1, d) @ torch.randn(300, 64, d).mT)[:, 0]
    for name, s in zip(jacobian_size, (scores, scores / d**0.5), strict=True):
        sizes = torch.stack([parts.softmax_jacobian(p).norm() for p in parts.softmax(s)])
        jacobian_size[name].append(sizes.median().item())
by_the_root = [size / d**0.5 for size, d in zip(jacobian_size["scores / √d_k"], widths, strict=True)]
ax = plots.lines(widths, jacobian_size, xlabel="width d_k", ylabel="size of the Jacobian (median)")
ax.set(yscale="log")
ax.set_xscale("log", base=2)
ax.set_xticks(widths, widths)
jacobian_size["scores / √d_k, times 1/√d_k"] = by_the_root
pd.DataFrame(jacobian_size, index=pd.Index(widths, name="d_k")).map("{:.1g}".format)

# %% [markdown]
# Up to a width of 64, the paper's choice, a typical undivided query passes on as much gradient as a scaled one. Beyond
# that the gradient shrinks, and at 1024 half of all queries pass on next to nothing. Their weights are nearly 1 and 0,
# by chance, before training has begun: the softmax is **saturated**. This is the reason that the paper gives: large
# products push the softmax "into regions where it has extremely small gradients".
#
# (Dividing also scales the gradient from the score to the query by $1/\sqrt{d_k}$. With that factor (last column), the
# two are about equal at 256. But the factor is the same for every query, so a larger learning rate compensates for it.
# Nothing compensates for a gradient of zero.)

# %% [markdown]
# ## Training with four divisors
#
# Does it matter in training? There are 32 items, each with a key and one of 10 labels. The query is a distorted copy of
# one of the keys (always distorted in the same hidden way), and the model has to return that item's label. It learns
# two matrices, `w_q` and `w_k`, that project queries and keys to a common width, here 512. Only the divisor differs. We
# also count *dead* queries: those whose scores get hardly any gradient. Each run is repeated with three seeds. (The
# training loop is folded.)


# %% tags=["hide-input"]
def train_once(
    seed: int, divisor: float, floor: float = 0.001, d: int = 32, d_k: int = 512, lr: float = 1e-3
) -> dict[str, Tensor]:
    """Learn to find the right item; return the curves of ``seen``, averaged over every 20 steps."""
    torch.manual_seed(seed)
    hidden = torch.randn(d, d) / d**0.5  # how queries are distorted: the model has to find out
    w_q, w_k = (torch.nn.Parameter(torch.randn(d, d_k) / d**0.5) for _ in range(2))
    optimizer = torch.optim.Adam([w_q, w_k], lr=lr, fused=True)  # fused: the same, only faster
    seen = {"right": [], "typical score": [], "dead queries": []}
    for _ in range(300):
        keys, labels, item = torch.randn(32, 32, d), torch.randint(10, (32, 32)), torch.randint(32, (32, 1))
        queries = keys.take_along_dim(item[..., None], dim=1) @ hidden  # (batch, 1, d)
        scores = (queries @ w_q) @ (keys @ w_k).mT / divisor
        scores.retain_grad()
        answers = (torch.softmax(scores, dim=-1) @ torch.nn.functional.one_hot(labels, 10).float())[:, 0]  # (batch, 10)
        wanted = labels.take_along_dim(item, dim=1)
        p = answers.take_along_dim(wanted, dim=1)  # all the attention to items with the right label
        loss = -torch.log(p + floor).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen["right"].append((answers.argmax(dim=-1) == wanted[:, 0]).float().mean())
        seen["typical score"].append(scores.detach().std(dim=-1).mean())
        seen["dead queries"].append((32 * scores.grad.norm(dim=-1) < 0.01).float().mean())  # hardly any gradient
    return {what: torch.stack(values).view(15, 20).mean(dim=1) for what, values in seen.items()}  # means of 20 steps


# %% [markdown]
# **Predict.** The divisors are 1, √d_k, 2√d_k and d_k. Which one has the best accuracy over the first 100 steps, and
# which one the worst over all 300? Write the names as in the comment below. (The cell takes about 20 seconds.)

# %% tags=["prediction"]
best_early, worst = ..., ...  # "1", "√d_k", "2√d_k", "d_k"


# %% id="four-divisors" tags=["approximate"]
def train(divisor: float, **settings: float) -> dict[str, Tensor]:
    """Train with seeds 0, 1 and 2; return a row for each seed."""
    runs = [train_once(seed, divisor, **settings) for seed in range(3)]
    print(f"scores / {divisor:.3g}: done")
    return {what: torch.stack([run[what] for run in runs]) for what in runs[0]}


divisors = {"1": 1, "√d_k": 512**0.5, "2√d_k": 2 * 512**0.5, "d_k": 512}
runs = {name: train(divisor) for name, divisor in divisors.items()}
accuracy = {name: run["right"] for name, run in runs.items()}  # (3, 15) each
compare(best_early, max(accuracy, key=lambda name: accuracy[name][:, :5].sum()))
compare(worst, min(accuracy, key=lambda name: accuracy[name].sum()))
steps = torch.arange(10, 300, 20)
curves = {f"scores / {name}": a for name, a in accuracy.items()}
ax = plots.lines(steps, curves, xlabel="step", ylabel="accuracy", legend_beside=True)


# %% tags=["hide-input", "approximate"]
def table_of(runs: dict[str, dict[str, Tensor]]) -> pd.DataFrame:
    columns = {
        "dead, first 20 steps": ("dead queries", 0),
        "accuracy, steps 40 to 60": ("right", 2),
        "accuracy, last 20": ("right", -1),
        "typical score, first 20": ("typical score", 0),
        "typical score, last 20": ("typical score", -1),
    }
    table = pd.DataFrame(index=list(columns))
    for name, run in runs.items():
        seen = [run[what][:, at] for what, at in columns.values()]
        table[f"scores / {name}"] = [f"{of_seeds.min():.1f} to {of_seeds.max():.1f}" for of_seeds in seen]
    return table.T


table_of(runs)  # the smallest and the largest of three runs

# %%
early = {name: a[:, :5].mean(dim=1) for name, a in accuracy.items()}
dead = {name: run["dead queries"][:, 0] for name, run in runs.items()}
mean = {name: a.mean(dim=1) for name, a in accuracy.items()}
print("in all three runs, over the first 100 steps, √d_k is better than 1:", bool((early["√d_k"] > early["1"]).all()))
print("in all three runs, over all steps, 1 is better than d_k:", bool((mean["1"] > mean["d_k"]).all()))
print("undivided, more than half of the queries are dead at the start:", bool((dead["1"] > 0.5).all()))
print("over 0.8 right at the end, with every divisor:", min(a[:, -1].min().item() for a in accuracy.values()) > 0.8)

# %% [markdown]
# With √d_k, or something near it, learning starts at once. Without division it starts late: most queries are dead,
# since chance has already chosen a key for them. (A random answer is right one time in ten.) Divided by $d_k$, learning
# stalls after a few steps: the weights are nearly equal, and it takes a long time for the scores to grow. Scores that
# are too small are worse here than scores that are too large. But in the end *all* four learn. The division makes
# training easier; it is not what makes it possible.

# %% [markdown]
# Our loss matters too. It is $-\log(p + 0.001)$, where $p$ is the weight of the right label, and stays below 7 however
# small $p$ is. A plain $-\log p$ is so steep for a tiny $p$ that it compensates for a saturated softmax (about 10
# seconds):

# %% id="plain-log" tags=["approximate"]
plain = {f"{name}, −log p": train(divisors[name], floor=1e-30) for name in ("1", "√d_k")}
table_of({"1": runs["1"], **plain})

# %% [markdown]
# With this loss, the model learns early even with undivided scores, though not as early as with divided ones. So a
# saturated softmax *can* learn, if the gradient that reaches it is steep enough. And at the paper's own width, 64?

# %% id="width-64" tags=["approximate"]
table_of({f"{name}, d_k = 64": train(divisor, d_k=64, lr=3e-3) for name, divisor in {"1": 1, "√d_k": 8}.items()})

# %% [markdown]
# Fewer queries are dead, but the division still helps. (A narrower model learns more slowly at the same learning rate;
# here the rate is three times as large.)
#
# **The verdict.** Without division, wide queries and keys begin with a saturated softmax, and training begins late;
# with $1/d_k$ they begin with equal weights, and training begins later still. $1/\sqrt{d_k}$ gives a good start at any
# width. That is all it does.

# %% [markdown]
# ## Bug hunt
#
# A colleague needs no d_k: "The length of a random query is √d_k on average. So I divide by its length. The variance of
# the scores is 1 at every width; I have measured it." She is right about that. Decide what is wrong *before* you run
# the check. Then put a corrected version, `mended`, into the cell after it.


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
# Random inputs do not tell the two apart. So ask what an input can *do*: multiply one query by 10. Its scores should be
# ten times as large, and its weights sharper. Here hardly anything changes: only the direction of a query counts, and
# training cannot make one query surer than another. The cell below tries it.
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
# **Half-way.** The question is answered, and this is a good place to stop for today. The second half shows the limits
# of √d_k and other ways to score.
#
# The divisor √d_k is what lesson 01 called a temperature. It does not fix how sharp attention is: a model that needs
# sharper attention can learn longer queries. Here one query grows longer and longer, with the division in place, until
# one key has nearly all the weight.

# %%
characters = [f"{c}, position {i}" for i, c in enumerate("3_mars_2021")]
q, k = torch.randn(1, 64), torch.randn(11, 64)  # random vectors for the characters
lengths = torch.linspace(0, 30, 61)
scaled = torch.stack([parts.softmax(length * q @ k.T / 64**0.5)[0] for length in lengths])
best = scaled[-1].topk(3).indices
curves = {f"key of {characters[i]}": scaled[:, i] for i in best}
ax = plots.lines(lengths, curves, xlabel="query multiplied by", ylabel="weight")
print("weight of the best key at lengths 0, 1, 30:", [round(scaled[i].max().item(), 1) for i in (0, 2, -1)])

# %% [markdown]
# ### What √d_k does not do: μP
#
# So √d_k is right at **initialization**, before the first step, when entries are independent with variance 1 and a
# typical score is 1. The table of the four divisors shows that this does not last: with √d_k, training made the typical
# score grow to 3. From then on the model sets its own temperature.

# %% [markdown]
# Nor does the width stop mattering. Training aligns a query with the key that it should find. Then their products no
# longer cancel, and $q \cdot k$ grows like $d_k$, not like $\sqrt{d_k}$. This is why **maximal update parametrization**
# (μP; Yang et al., 2022) divides by $d_k$ (up to a constant factor): so that hyperparameters that were tuned on a
# narrow model also work for a wide one.
#
# **Predict.** Take queries that are equal to their keys, as if training had aligned them perfectly. If d_k grows from
# 64 to 1024, 16 times, by what factor does $q \cdot k / \sqrt{d_k}$ grow?

# %% tags=["prediction"]
prediction = ...

# %%
aligned = {d: (torch.randn(2000, d) ** 2).sum(dim=-1).mean().item() for d in (64, 1024)}  # q · k for q = k
compare(prediction, measured=round((aligned[1024] / 1024**0.5) / (aligned[64] / 64**0.5)))
print({f"d_k = {d}": {"q·k / √d_k": round(x / d**0.5), "q·k / d_k": round(x / d, 1)} for d, x in aligned.items()})

# %% [markdown]
# ### Where to divide
#
# Dividing the queries first gives the same scores. If there are more keys than d_k, fewer numbers are divided. And in
# half precision, a plain product does not overflow (Explanation 1).

# %%
q, k = torch.randn(5, 64), torch.randn(7, 64)
print("dividing the queries first gives the same scores:", torch.allclose((q / 8) @ k.T, q @ k.T / 8, atol=1e-5))
root = 64**0.25
print("and dividing both by the fourth root:", torch.allclose((q / root) @ (k / root).T, q @ k.T / 8, atol=1e-5))

# %% [markdown]
# ### Attention dropout
#
# Dropout sets randomly chosen numbers to 0 during training, and scales up the others to make up for it (lesson 06).
# Many implementations apply it to the *weights*, after the softmax: **attention dropout**. No query can then rely on a
# single key.

# %%
weights = parts.softmax(q @ k.T / 8)
kept = torch.rand(5, 7) < 0.7  # dropout of 0.3
dropped = weights * kept / 0.7
print("before dropout, each row adds up to", [round(x, 1) for x in weights.sum(dim=-1).tolist()])
print("after dropout                      ", [round(x, 1) for x in dropped.sum(dim=-1).tolist()])

# %% [markdown]
# In training, the output is then no longer an average: its weights do not add up to 1. The paper applies dropout to the
# outputs of its layers and to embeddings, and does not mention it for weights. This course leaves attention dropout
# out, so that results can be repeated and compared.

# %% [markdown]
# ## Additive attention
#
# Attention existed before the Transformer, with another score. Bahdanau's translator (2014) used a small network, the
# **additive attention** of lesson 00: project query and key to a common width `d_h`, add them, apply tanh, and reduce
# the result to one number:
#
# $$\operatorname{score}(q, k) = w \cdot \tanh(W_q q + W_k k)$$
#
# with $W_q$: (d_h, d_q), $W_k$: (d_h, d_k), $w$: (d_h). Queries and keys may have different widths, since each has its
# own matrix.
#
# **Exercise.** Score every key for every query. The sum is needed for every *pair*: give queries and keys an extra axis
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
# needs $\tanh(W_q q + W_k k)$ for every pair. How many numbers is that? (The folded cell also takes the time.)

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
print("parameters: dot product 0, additive", w_q.numel() + w_k.numel() + w.numel())

# %% [markdown]
# The dot products of all pairs are one matrix product, which is what computers do best. Additive attention computes a
# hidden vector of 64 numbers for every score.
#
# **Predict.** Random queries and keys of width 1024, 16 times as wide, and entries of $w$ of size 1/8 as above. Is the
# largest additive score `"below"` or `"above"` 10?

# %% tags=["prediction"]
prediction = ...  # "below" or "above"

# %% tags=["approximate"]
wide_q, wide_k = torch.randn(2, 1, 256, 1024)
wide = parts.additive_scores(wide_q, wide_k, torch.randn(64, 1024), torch.randn(64, 1024), w)
compare(prediction, measured="below" if wide.abs().max() < 10 else "above")
print(f"additive: at most {wide.abs().max():.0f}, never above {w.abs().sum():.0f}")
print(f"dot product, undivided: up to about {round((wide_q @ wide_k.mT).abs().max().item(), -1):.0f}")
for name, divisor in {"as drawn": 1, "divided by √1024": 32}.items():
    slope = 1 - torch.tanh(wide_q @ torch.randn(64, 1024).mT / divisor) ** 2  # the derivative of tanh
    print(f"median slope of tanh(W q), W {name}: {slope.median():.1f}")

# %% [markdown]
# Each tanh is at most 1, so a score can never exceed $\sum_i |w_i|$, however wide the queries are. But the same problem
# appears one step earlier: the entries of $W q$ have the standard deviation √1024 = 32, as `score_variance` says, and
# the tanh itself is saturated. Its slope is nearly 0.
#
# In a comparison that the paper cites (Britz et al., 2017), the two kinds of attention do equally well at small widths,
# and additive attention does better than *undivided* dot products at large ones. The Transformer's authors suspected
# that the scores grew too large, divided them by √d_k, and kept the faster kind.

# %% [markdown]
# ## Linear attention: the recurrence returns
#
# What if we leave out the softmax? In a decoder, position $t$ attends to the keys $1$ to $t$ (lesson 04), so its
# output is $\sum_j (q_t \cdot k_j)\, v_j$. Each term is $q_t$ times a matrix, $k_j^\top v_j$: every entry of $k_j$
# times every entry of $v_j$. None of these matrices depends on the query, so they can be added up as the text is
# read:
#
# $$S_t = S_{t-1} + k_t^\top v_t, \qquad \text{output}_t = q_t\, S_t$$
#
# This is a recurrent network. Its hidden state $S$, of shape (d_k, d_v), has the same size however long the text is.
# **Linear attention** (Katharopoulos et al., 2020; here in its simplest form) is trained like attention, all
# positions at once, and generates like a recurrent network:

# %%
generator = torch.Generator().manual_seed(2)
q, k, v = torch.randn(3, 11, 16, generator=generator)
at_once = (q @ k.T).tril() @ v  # tril: 0 where the key comes later than the query
state, one_by_one = torch.zeros(16, 16), []
for t in range(11):
    state = state + k[t][:, None] * v[t]
    one_by_one.append(q[t] @ state)
print("all at once and one by one, the same:", torch.allclose(at_once, torch.stack(one_by_one), atol=1e-4))

# %% [markdown]
# And the bottleneck of lesson 00? We store $n$ pairs of a random key and a random value, 16 numbers each, and ask for
# every value by its key. An answer is right if no other stored value is nearer to the output. (The keys have length 1,
# so a key's product with itself is 1; multiplied by 20, as here for the softmax, it stands out.)
#
# **Predict.** What fraction of *64* pairs does linear attention recall: near 0.3, 0.6 or 1? And attention with
# softmax?

# %% tags=["prediction"]
prediction_linear, prediction_softmax = ..., ...


# %%
def random_directions(n: int) -> Tensor:
    x = torch.randn(100, n, 16, generator=generator)  # 100 memories
    return x / x.norm(dim=-1, keepdim=True)


recalled = {}
for n in (4, 16, 32, 64):
    keys, values = random_directions(n), random_directions(n)
    outputs = {"linear": keys @ (keys.mT @ values), "softmax": parts.softmax(20 * keys @ keys.mT) @ values}
    recalled[f"{n} pairs"] = {
        kind: ((output @ values.mT).argmax(dim=-1) == torch.arange(n)).float().mean().item()
        for kind, output in outputs.items()
    }
compare(prediction_linear, measured=round(recalled["64 pairs"]["linear"], 2), choices=(0.3, 0.6, 1))
compare(prediction_softmax, measured=round(recalled["64 pairs"]["softmax"], 2), choices=(0.3, 0.6, 1))
pd.DataFrame(recalled).T.round(1)

# %% [markdown]
# One matrix holds a few pairs well; more of them blur. Softmax attention keeps all keys and values one by one, and pays
# for that in memory. Hybrids such as [Qwen3-Next](https://huggingface.co/Qwen/Qwen3-Next-80B-A3B-Instruct) have a
# recurrent state in three of four layers and full attention in the fourth. (Their state also forgets, through gates
# like the GRU's, and first takes out what a key held before: the *delta rule*.)

# %% [markdown]
# ## ★ Transfer: cosine attention
#
# Another way to bound the scores: use the cosine, which is never larger than 1, and divide it by a chosen temperature.
# Henry et al. (2020, [arXiv:2010.04245](https://arxiv.org/abs/2010.04245)) do this with a learned temperature. In
# today's form, **QK-norm**, queries and keys are normalized and multiplied by learned factors, and a fixed divisor
# stays: √d_k in Qwen3 and OLMo 2 (which normalizes the whole projection, not each head), but √168 in Gemma 3 27B, whose
# heads are 128 wide. Write cosine attention from scratch.


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
print("queries and keys 100 times as long, output unchanged:", torch.allclose(before, after, atol=1e-4))

# %% [markdown]
# ## Your experiment
#
# Ungraded, about 15 minutes. Test a claim of your own as this lesson tests its claims, or begin with this one:
#
# **Claim.** At the width 128, √d_k is better than its half: with √d_k / 2, fewer answers are right over the first 100
# steps.
#
# **Prediction.** Before you run anything, write down in how many of three runs the claim will hold.
#
# **Verdict.** Say in one sentence what the runs show. A claim that fails is a result, too.

# %% id="experiment" tags=["experiment", "skip-execution"]
prediction = ...  # in how many of the three runs will the claim hold?
holds = []
for seed in range(3):
    torch.manual_seed(seed)
    first_100 = {divisor: train_once(seed, divisor, d_k=128)["right"][:5].mean() for divisor in (11.3, 5.7)}
    holds.append(...)  # True or False, from the two numbers in `first_100`
print("predicted:", prediction, " measured:", holds)
# Verdict:

# %% [markdown]
# ## In short
#
# - A score is a sum of $d_k$ products. Its variance is $d_k \sigma^4$; its standard deviation grows like $\sqrt{d_k}$.
# - Scores that are too large saturate the softmax, and its gradient nearly vanishes; with scores that are too small,
#   attention is a plain average.
# - Dividing by $\sqrt{d_k}$ makes sharpness independent of the width at the start of training. The ranking of the keys
#   never changes.
# - Overflow of exp is not the reason: softmax subtracts the maximum. (In float16 the scores themselves can overflow.)
# - √d_k is a temperature for the start of training. Learned queries and keys set their own later.
# - Additive attention has bounded scores, computes a vector for each pair, and has parameters.
# - Without the softmax, attention is a recurrent network whose state is a matrix.

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
# ## New words
#
# The words of all lessons are in the [glossary](glossary.ipynb).
#
# - **random walk**: a sum of random steps, whose distance from the start grows like the root of their number.
# - **variance**: the mean squared distance from the mean; the square of the standard deviation.
# - **entropy**: −Σ w log w, a measure of how evenly weights are spread; largest if all are equal.
# - **scaled dot-product attention**: attention whose scores are dot products divided by √d_k.
# - **overflow**: what happens when a result is too large for its number format: it becomes infinite.
# - **half precision**: floating-point numbers of 16 bits instead of 32.
# - **Jacobian**: the matrix of the derivatives of every output with respect to every input.
# - **saturated**: so far in the flat part of a function that hardly any gradient is left.
# - **initialization**: the choice of the parameters' values before the first step of training.
# - **maximal update parametrization**: μP for short; rules for initialization and learning rates under which one set of
#   hyperparameters suits all widths.
# - **attention dropout**: dropout applied to attention weights.
# - **QK-norm**: normalizing queries and keys, with learned factors, before their dot product.
# - **linear attention**: attention without softmax, so that one matrix, a recurrent state, sums up all keys and values.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
#
# <details><summary>Why are the scores divided by √d_k?</summary>
#
# A dot product of d_k independent entries of variance 1 has variance d_k. Without the division, wide queries and keys
# start with weights that are almost 0 and 1, where the softmax is saturated and has almost no gradient, so training
# starts late. The division gives a good start; it is not necessary: in our experiment, the undivided model learned too,
# in the end. (<i>What do large scores do?</i>, <i>Explanation 2</i>, <i>Training with four divisors</i>)
# </details>
#
# <details><summary>Why not divide the scores by d_k?</summary>
#
# At initialization the variance would then be 1/d_k: the scores of wide queries and keys vanish, all keys get the same
# weight, and learning starts late. But after training, the products of a query and its key no longer cancel, and the
# score grows like d_k. So μP does divide by d_k (times a constant), to keep hyperparameters valid for other widths.
# (<i>Training with four divisors</i>, <i>What √d_k does not do</i>)
# </details>
#
# <details><summary>Is the division there to prevent overflow of the exponential?</summary>
#
# Not of the exponential: softmax implementations subtract the row's maximum, so scores of 1000 are no problem. In
# float16, though, the scores themselves can exceed 65,504: a plain product has to scale the queries first, and fused
# kernels such as FlashAttention keep the scores in float32. (<i>Explanation 1</i>)
# </details>
#
# <details><summary>Does the scaling change which key gets the most attention?</summary>
#
# No. All the scores of a query are divided by the same positive number. Only the sharpness changes. (<i>Scaled
# dot-product attention</i>)
# </details>

# %% [markdown]
# <details><summary>What does the argument for √d_k assume, and does it hold after training?</summary>
#
# It assumes independent entries with mean 0 and variance 1. This held at the start of our training, where the typical
# score was about 1, but not at the end: training makes queries and keys depend on each other, and the typical score was
# about 3. (<i>Training with four divisors</i>, <i>The scale is a temperature</i>)
# </details>
#
# <details><summary>Can the division by √d_k be done elsewhere?</summary>
#
# Yes: dividing the queries by √d_k before the product gives the same scores, and divides n_query × d_k numbers instead
# of n_query × n_key (fewer if n_key > d_k). Dividing both queries and keys by the fourth root of d_k works too. In a
# plain float16 product both avoid overflow; fused kernels keep the scores in float32. (<i>Where to divide</i>)
# </details>
#
# <details><summary>Compare additive and dot-product attention.</summary>
#
# Additive: a small network with parameters of its own, a hidden vector for each pair, bounded scores; queries and keys
# may differ in width. Dot product: one matrix product, no parameters, fast, and scores that grow with the width unless
# divided. (<i>The cost of additive attention</i>)
# </details>
#
# <details><summary>What does linear attention gain, and what does it lose?</summary>
#
# Without the softmax, the sum of all products of keys and values can be kept as one matrix: a recurrent state of fixed
# size, whatever the length, and training still runs in parallel. It loses recall: a state of 16 × 16 numbers recalled 4
# pairs, but under a third of 64; softmax attention recalled all. (<i>Linear attention</i>)
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
# - Yang et al. (2022), [arXiv:2203.03466](https://arxiv.org/abs/2203.03466): μP, and why it divides by d_k.
# - Srivastava et al. (2014), *Dropout* (JMLR 15). Katharopoulos et al. (2020),
#   [arXiv:2006.16236](https://arxiv.org/abs/2006.16236): linear attention. Yang et al. (2024),
#   [arXiv:2406.06484](https://arxiv.org/abs/2406.06484): its delta rule, trained in parallel.
# - `transformer_lab/attention/dot_product.py` and `additive.py` beside it: the library's versions, with masks.

# %% [markdown]
# How far did you get, and how well did you predict?

# %% id="tally"
tally()

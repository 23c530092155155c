# %% [markdown] id="title"
# # 03 · Multi-head attention: several lookups at once
#
# **The question.** *The cat that was chased by the dog ran away.* Who ran? And who did the chasing? To tell, a word has
# to attend to several others, but attention gives each query only *one* weighted average. What would a second one add?
#
# **Afterwards you can** write multi-head attention, say what is split into heads and what is not, count its parameters,
# and measure what a second head is good for.
#
# Reading: 39 minutes. Exercises: 45 minutes (four core, one stretch ★). With all predictions, runs and questions: about
# 105 minutes.

# %% [markdown]
# ## Before you start
#
# Three questions from lessons 01 and 02. Answer each one aloud, then open it.
#
# <details><summary>4 queries, 6 keys and 6 values of width 3. What is the shape of attention's output?</summary>
#
# (4, 3): one row per query, as wide as a value.
# </details>
#
# <details><summary>Between which numbers do attention weights lie, and what follows for the output?</summary>
#
# Between 0 and 1, and the weights of one query add up to 1. So the output is a weighted average of the values: it never
# lies outside their range.
# </details>
#
# <details><summary>What are the scores divided by, and what would happen without the division?</summary>
#
# By √d_k. Undivided scores grow with the width, and the weights of wide models start out close to 0 and 1, where the
# softmax has almost no gradient.
# </details>
#
# On the map, this lesson completes multi-head attention, except for the mask.

# %% id="imports"
import math
import re
import time
from collections import Counter

import pandas as pd
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_course import check, compare, diagrams, hint, parts, plots, solution, tally, views
from transformer_lab import LanguageModel, LanguageModelConfig, record_attention, trace_shapes
from transformer_lab.data.docstrings import python_docstrings

# %%
torch.manual_seed(3)
torch.set_printoptions(precision=2, sci_mode=False)

# %%
diagrams.architecture.you_are_here(3)

# %% [markdown]
# ## Is one lookup enough?
#
# `ran` and `chased` each need two other words:
#
# | word | needs | for the reason |
# |---|---|---|
# | `ran` | `cat` | its subject (the nearest noun, `dog`, is the wrong one) |
# | `ran` | `away` | its neighbor: where to |
# | `chased` | `cat` | whom |
# | `chased` | `dog` | by whom |
#
# What does one average lose? Take two dates that are easily mixed up: `3.5.2021` is the 3rd of May, `5.3.2021` the 5th
# of March. A model has to know *both* of the first two numbers, and which comes first.
#
# **Predict.** A query attends to the two numbers, with a weight of one half each. What is its output for `3.5.2021`,
# and what for `5.3.2021`?

# %% tags=["prediction"]
prediction_may, prediction_march = ..., ...

# %%
dates = {"3.5.2021": torch.tensor([[3.0], [5.0]]), "5.3.2021": torch.tensor([[5.0], [3.0]])}  # (n_key, d_v) = (2, 1)
weights = torch.tensor([[0.5, 0.5]])  # (n_query, n_key) = (1, 2)
compare(prediction_may, measured=(weights @ dates["3.5.2021"]).item())
compare(prediction_march, measured=(weights @ dates["5.3.2021"]).item())
uneven = torch.tensor([[0.9, 0.1]])
print("weights of 0.9 and 0.1:", {date: round((uneven @ values).item(), 1) for date, values in dates.items()})

# %% [markdown]
# The two dates get the same answer: an average does not say which value came from where. With uneven weights the
# answers differ, but one of the numbers hardly counts. A second lookup, with weights of its own, solves the problem:

# %%
two_lookups = torch.tensor([[[1.0, 0.0]], [[0.0, 1.0]]])  # (n_heads, n_query, n_key) = (2, 1, 2)
for date, values in dates.items():
    print(date, "→", (two_lookups @ values).flatten().tolist())

# %% [markdown]
# Each of these lookups is an **attention head**. **Multi-head attention** runs several heads in parallel, each with
# weights of its own, and concatenates their outputs. Here we typed the weights in; in a Transformer each head learns
# what to attend to. In trained translation models, Voita et al. (2019) found heads that attend to a neighboring word,
# to a verb's subject or object, or to rare words.

# %% [markdown]
# ## Projections: queries, keys and values from one input
#
# In lessons 01 and 02 queries and keys were mostly given. A Transformer has one vector per token, of width `d_model`,
# and computes queries, keys and values from it with three layers. Each `nn.Linear` multiplies by a learned matrix and
# adds a learned bias. This, too, is called a **projection**.

# %%
text = list("3 mars 2021")
x = torch.randn(1, 11, 128)  # (batch, n, d_model): one text, for now with random vectors
w_q, w_k, w_v = nn.Linear(128, 128), nn.Linear(128, 128), nn.Linear(128, 128)
q, k, v = w_q(x), w_k(x), w_v(x)  # self-attention: all three from the same x
print("x", tuple(x.shape), " q", tuple(q.shape), " k", tuple(k.shape), " v", tuple(v.shape))

# %% [markdown]
# Why not use x itself three times? Then the scores would be symmetric: position i would score j exactly as j scores i.

# %%
without, projected = x[0] @ x[0].T, q[0] @ k[0].T  # scores: (11, 11)
print("scores symmetric without projections:", torch.allclose(without, without.T))
print("scores symmetric with projections:", torch.allclose(projected, projected.T))

# %% [markdown]
# The `3` needs the letters of `mars` to know that it is a day; the letters can do without the `3`. With separate
# projections for queries and keys, one position can attend to another without being attended to in return. A third
# projection produces the values.

# %% [markdown]
# ## Splitting the projections into heads
#
# Four heads need four sets of queries, keys and values. The heads share the width: with d_model = 128 and 4 heads, each
# head gets d_k = 128 / 4 = 32 of the 128 columns of q, of k and of v. Head 0 gets columns 0 to 31, head 1 columns 32 to
# 63, and so on. (The paper's base model has 8 heads: d_k = 512 / 8 = 64.)
#
# Our attention accepts any leading axes. If the heads are one of these, all are computed at once. So (batch, n,
# d_model) has to become (batch, n_heads, n, d_k).

# %% [markdown]
# `x.view(shape)` returns the same numbers in another shape. Try it on a text of 3 positions with 4 features each, for 2
# heads. The tens digit stands for the position, the units digit for the feature. Head 0 should hold features 0 and 1 of
# every position: 10, 11, then 20, 21, then 30, 31.
#
# **Predict.** We ask for 2 heads of 3 positions and 2 features: `small.view(2, 3, 2)`. Which number comes first in the
# second row of head 0?

# %% tags=["prediction"]
prediction = ...

# %%
small = torch.tensor([[10.0, 11.0, 12.0, 13.0], [20.0, 21.0, 22.0, 23.0], [30.0, 31.0, 32.0, 33.0]])
viewed = small.view(2, 3, 2)
compare(prediction, measured=viewed[0, 1, 0].item())
print("head 0 by view alone:", viewed[0].tolist())

# %% [markdown]
# The shape is right, but head 0 holds nothing of the last position. `view` keeps the numbers in the order in which they
# lie in memory, position by position, and cuts them into new rows. So split only the last axis: 4 features become 2
# heads of 2 features. Then swap two axes with `transpose`:

# %%
cut = small.view(3, 2, 2)  # positions, heads, features of a head
print("head 0:", cut.transpose(0, 1)[0].tolist())

# %% [markdown]
# **Exercise.** Now with a batch in front, for any number of heads. (In the annotation, `{n_heads}` is the value of the
# argument.)


# %% id="split_heads" tags=["exercise"]
def split_heads(x: Float[Tensor, "batch n d_model"], n_heads: int) -> Float[Tensor, "batch {n_heads} n d_k"]:
    """Return each head's slice of the features: head i owns columns i · d_k to (i + 1) · d_k − 1."""
    raise NotImplementedError


# %% id="check-split_heads"
check(split_heads)

# %% [markdown]
# ### Merging the heads again
#
# After attention, each position should have all its features in one row again. Swap the axes back, then `view`. Here
# are 2 heads of 3 positions and 2 features, as a matrix product returns them:

# %%
outputs = torch.arange(12.0).view(1, 2, 3, 2)  # (batch, n_heads, n, d_k)
back = outputs.transpose(1, 2)
print("in memory, the numbers lie in the order of the axes:", back.is_contiguous())
try:
    back.view(1, 3, 4)
except RuntimeError as error:
    print("view:", str(error).split("(")[0])

# %% [markdown]
# `transpose` moves no numbers. It only changes the order in which the axes are read. Its result is not **contiguous**:
# the numbers no longer lie in memory in the order of the axes. `view` moves no numbers either, and here it would have
# to. There are two ways out: `.contiguous()` copies the numbers into the order of the axes, and `.reshape` is a `view`
# where that is possible and a copy where it is not.
#
# **Exercise.** Concatenate the heads again.


# %% id="merge_heads" tags=["exercise"]
def merge_heads(x: Float[Tensor, "batch n_heads n d_k"]) -> Float[Tensor, "batch n d_model"]:
    """Return the heads' features side by side again: the inverse of ``split_heads``."""
    raise NotImplementedError


# %% id="check-merge_heads"
check(merge_heads)

# %%
heads = parts.split_heads(q, 4)
print("q", tuple(q.shape), "→ heads", tuple(heads.shape))
print("and back:", torch.equal(parts.merge_heads(heads), q))

# %% [markdown]
# ## How much of x does one head see?
#
# **Predict.** x has 128 features, and there are 4 heads. On how many features of x does the output of head 0 depend?

# %% tags=["prediction"]
prediction = ...


# %%
def features_seen(output: Tensor, x: Tensor) -> int:
    """Return how many features of x have a nonzero gradient: a change in any of them would change the output."""
    x.grad = None
    output.sum().backward()
    return int((x.grad[0] != 0).any(dim=0).sum())


x.requires_grad_()
in_heads = [parts.split_heads(layer(x), 4) for layer in (w_q, w_k, w_v)]
outputs = parts.scaled_dot_product_attention(*in_heads)  # (batch, n_heads, n, d_k)
compare(prediction, measured=features_seen(outputs[:, 0], x))
piece = parts.split_heads(x, 4)[:, 0]
print("if x itself were cut:", features_seen(parts.scaled_dot_product_attention(piece, piece, piece), x))

# %% [markdown]
# On all of them. The heads split the *projections*, not x (many texts say otherwise), and every column of a projection
# is computed from all features of x. So training decides what each head compares. If x itself were cut, the arbitrary
# order of its features would decide.

# %% [markdown]
# ## The formula
#
# $$\operatorname{MultiHead}(Q, K, V) = \operatorname{Concat}(\text{head}_1, \dots, \text{head}_h)\, W^O$$
#
# $$\text{head}_i = \operatorname{Attention}(Q W_i^Q,\, K W_i^K,\, V W_i^V)$$
#
# | | shape | in our code |
# |---|---|---|
# | $Q$ | (n_query, d_model) | `query`: the vectors that attend |
# | $K$, $V$ | (n_key, d_model) | `key`, `value`: the vectors that are attended to |
# | $W_i^Q, W_i^K, W_i^V$ | (d_model, d_k) each | head i's d_k rows of the weights of `w_q`, `w_k`, `w_v`, transposed |
# | $\text{head}_i$ | (n_query, d_k) | the output of head i, before `merge_heads` |
# | $W^O$ | (d_model, d_model) | `w_o`, the **output projection**: mixes the outputs of the heads |
#
# As in the paper's models, d_v = d_k here. The paper has no biases in the formula, and counts heads from 1, while code
# counts from 0. In self-attention, query, key and value are the same x.

# %% [markdown]
# `forward` takes one more argument, a **mask** of True and False that says which query may attend to which key. Where
# it is False, the score is replaced by −∞ before the softmax, so that the weight is 0:
#
# `scores = scores.masked_fill(~mask, -torch.inf)`
#
# (`~mask` swaps True and False.) Lesson 04 says what masks are for. In the annotation, `#` means: this size, or 1.
# A mask can be broadcast to the scores, whose shape is (batch, n_heads, n_query, n_key): one matrix for each text and
# each head.
#
# **Exercise.** The layers are given. Write `forward`, which runs when the module is called. Use `parts.split_heads` and
# `parts.merge_heads`. The attention of lesson 02 takes no mask, so write out its steps: scores, mask, softmax, weighted
# average. Remember that n_query and n_key may differ.


# %% id="MultiHeadAttention" tags=["exercise"]
class MultiHeadAttention(nn.Module):
    """Let every query attend in several ways at once: each head compares different features."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(
        self,
        query: Float[Tensor, "batch n_query d_model"],
        key: Float[Tensor, "batch n_key d_model"],
        value: Float[Tensor, "batch n_key d_model"],
        mask: Bool[Tensor, "*#batch #n_query #n_key"] | None = None,
    ) -> Float[Tensor, "batch n_query d_model"]:
        raise NotImplementedError


# %% id="check-MultiHeadAttention"
check(MultiHeadAttention)

# %% [markdown]
# On the left is what your module does, drawn from the module itself (or from the library's, until yours passes): x goes
# through the projections whole, and what comes out is split. On the right is the wrong picture, in which x is cut:

# %%
diagrams.heads.multi_head(parts.MultiHeadAttention(128, 4))

# %% [markdown]
# `trace_shapes` runs a module and lists the shapes of what went into each layer and of what came out. Here 10 queries,
# one for each character of `2021-03-03`, attend to the 11 characters of `3 mars 2021`: cross-attention.

# %%
iso = torch.randn(1, 10, 128)
trace_shapes(parts.MultiHeadAttention(128, 4), iso, x, x)

# %% [markdown]
# ## What does the number of heads change?
#
# The four layers have the same shapes for any number of heads. So the same parameters can be loaded into modules of 1,
# 2, 4 and 8 heads (`load_state_dict` copies them by name).
#
# **Predict.** Do 1 head and 4 heads with the same layers give the `"same"` output, or a `"different"` one?

# %% tags=["prediction"]
prediction = ...

# %%
one = parts.MultiHeadAttention(128, 1)
rows = []
for n_heads in [1, 2, 4, 8]:
    several = parts.MultiHeadAttention(128, n_heads)
    several.load_state_dict(one.state_dict())
    a, b = several(x, x, x), one(x, x, x)
    relative = ((a - b).norm() / b.norm()).item()  # the size of the difference, relative to that of the output
    rows.append((n_heads, 128 // n_heads, sum(p.numel() for p in several.parameters()), relative))
compare(prediction, measured="same" if rows[2][3] < 1e-5 else "different")
pd.DataFrame(rows, columns=["heads", "d_k", "parameters", "difference from one head"]).round(1)

# %%
single = one.w_o(parts.scaled_dot_product_attention(one.w_q(x), one.w_k(x), one.w_v(x)))
print("one head is a single attention on the projections:", torch.allclose(single, one(x, x, x), atol=1e-5))

# %% [markdown]
# The parameters are the same, the outputs are not. Some texts write $\operatorname{MultiHead}(Q, K, V) =
# \operatorname{Attention}(Q W^Q, K W^K, V W^V)\, W^O$. That holds for one head only: with four, each quarter of the
# columns has attention weights of its own. The number of heads is not learned; we choose it before training, as a
# **hyperparameter**. This number says how the outputs of the layers are *split*, so a trained model works only with the
# number that it was trained with.
#
# **Exercise.** Count the parameters. `nn.Linear(a, b)` has a · b weights, and b biases unless it was made with
# `bias=False`.


# %% id="attention_parameters" tags=["exercise"]
def attention_parameters(d_model: int, n_heads: int, bias: bool = True) -> int:
    """Return the number of parameters in one module of multi-head attention."""
    raise NotImplementedError


# %% id="check-attention_parameters"
check(attention_parameters)

# %%
sizes = [(512, 1), (512, 8), (512, 64), (1024, 16)]
counts = [f"{parts.attention_parameters(*size):,}" for size in sizes]
pd.DataFrame(counts, index=[f"d_model {d}, n_heads {h}" for d, h in sizes], columns=["parameters"])

# %% [markdown]
# ### A bias on the keys
#
# Besides its matrix, each of the four layers has a vector: its bias.
#
# **Predict.** We set all the biases of `w_k` to 100. What is the largest change in the output?

# %% tags=["prediction"]
prediction = ...

# %%
attention = parts.MultiHeadAttention(128, 4)
before = attention(x, x, x)
with torch.no_grad():  # PyTorch need not track this for gradients
    attention.w_k.bias.fill_(100.0)
change = (attention(x, x, x) - before).abs().max().item()
compare(prediction, measured=round(change, 2))
with torch.no_grad():
    attention.w_q.bias.fill_(100.0)
print(f"with the biases of w_q set to 100 as well: {(attention(x, x, x) - before).abs().max().item():.1f}")

# %% [markdown]
# With a bias $b$ on the keys, a score is $q \cdot (k + b) = q \cdot k + q \cdot b$. The second term is the same for
# every key, and softmax does not change when all scores of a row grow by the same amount (lesson 01). Some models
# leave this bias out. A bias on the *queries* does matter: it adds $b \cdot k$, which differs from key to key.

# %% [markdown]
# ## One fused projection, or one for each head?
#
# In the formula, each head has its own matrix $W_i^Q$. We have one wide `w_q` and split its output. Is that the same?


# %%
def head_by_head(attention: nn.Module, x: Tensor) -> Tensor:
    """Return the output of multi-head attention, with a separate projection for each head, as in the formula."""
    d_k = x.shape[-1] // attention.n_heads
    layers = (attention.w_q, attention.w_k, attention.w_v)
    outputs = []
    for i in range(attention.n_heads):
        own = slice(i * d_k, (i + 1) * d_k)  # nn.Linear keeps a row of weights for each column of its output
        q, k, v = (nn.functional.linear(x, layer.weight[own], layer.bias[own]) for layer in layers)
        outputs.append(parts.scaled_dot_product_attention(q, k, v))
    return attention.w_o(torch.cat(outputs, dim=-1))


attention = parts.MultiHeadAttention(512, 8)
wide = torch.randn(1, 11, 512)
print("equal:", torch.allclose(head_by_head(attention, wide), attention(wide, wide, wide), atol=1e-5))

# %% [markdown]
# **Predict.** With 8 heads, we divide the time of the head-by-head version by that of the fused one. For which text is
# the ratio larger: for a `"short"` one of 11 characters, or for a `"long"` one of 400?

# %% tags=["prediction"]
prediction = ...

# %% tags=["nbval-ignore-output"]
ways = (lambda x: attention(x, x, x), lambda x: head_by_head(attention, x))
ratios = {}
for n in [11, 100, 400]:
    wide, seconds = torch.randn(1, n, 512), ([], [])
    for _ in range(30):  # in turns, so that a busy moment hits both
        for way, taken in zip(ways, seconds):
            start = time.perf_counter()
            way(wide)
            taken.append(time.perf_counter() - start)
    ratios[n] = min(seconds[1]) / min(seconds[0])
compare(prediction, measured="short" if ratios[11] > ratios[400] else "long")
print("head by head takes this many times as long:", {n: round(ratio, 1) for n, ratio in ratios.items()})

# %% [markdown]
# The results are equal, and so is the number of multiplications. But the head-by-head version makes more and smaller
# matrix products, and each call has a fixed cost, which weighs more the less there is to multiply, as in a short text.
# (We measured a CPU, not a GPU.) So nearly all implementations use the fused projection.

# %% [markdown]
# ## What do more heads cost?
#
# More heads cost no parameters and no multiplications: there are n_heads times as many scores, but each is a sum of
# only d_k products. They do cost memory: in our code, n × n scores for each head. And each head becomes narrower. The
# **rank** of a matrix is the smallest number of its rows from which all its rows can be made as **linear
# combinations**: sums of those rows, each times a number.
#
# **Predict.** 32 positions, d_model = 64, 32 heads of width 2. What is the rank of the 32 × 32 scores of one head?

# %% tags=["prediction"]
prediction = ...

# %%
many = torch.randn(1, 32, 64)
rows = []
for n_heads in [1, 4, 16, 32]:
    thin = parts.MultiHeadAttention(64, n_heads)
    q, k = parts.split_heads(thin.w_q(many), n_heads), parts.split_heads(thin.w_k(many), n_heads)
    scores = q @ k.mT  # mT swaps the last two axes
    rows.append((n_heads, 64 // n_heads, scores.numel(), int(torch.linalg.matrix_rank(scores[0, 0]))))
compare(prediction, measured=rows[-1][-1])
pd.DataFrame(rows, columns=["heads", "d_k", "scores in all", "rank of one head's scores"])

# %% [markdown]
# In a head of width 2, every row of scores is a linear combination of just two, so a narrow head can form fewer
# patterns. One has to choose between few wide heads and many narrow ones. The paper's authors tried 1 to 32 heads at
# equal cost: one head was 0.9 BLEU (a score for translations) worse than the best number, and with too many the score
# fell again. Their base model has 8. (Today several query heads often share their keys and values: lesson 10.)

# %% [markdown]
# ## Bug hunt
#
# A colleague sends you this version, with a shorter constructor. It runs, the shape is right, and its loss falls. Read
# it and decide which line is wrong *before* you run the check. Then write a correct `Mended` in the cell after it.


# %% tags=["bug-hunt"]
class AttentionOfAColleague(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = [nn.Linear(d_model, d_model)] * 4

    def forward(self, query, key, value, mask=None):
        q = parts.split_heads(self.w_q(query), self.n_heads)
        k = parts.split_heads(self.w_k(key), self.n_heads)
        v = parts.split_heads(self.w_v(value), self.n_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        return self.w_o(parts.merge_heads(parts.softmax(scores) @ v))


# %% id="mend-heads"
Mended = AttentionOfAColleague

# %% id="check-mend-heads"
check(Mended, "MultiHeadAttention", save=False)

# %% [markdown]
# <details><summary>How to find such a bug without a check</summary>
#
# Count the parameters: there should be 4 d_model² + 4 d_model. A list times 4 holds the same object four times, so the
# four names stand for one layer, as the cell below shows. Another sign: in self-attention the scores of this version
# are symmetric, as without projections.
# </details>

# %%
for name, kind in {
    "the colleague's": AttentionOfAColleague,
    "yours or the library's": parts.MultiHeadAttention,
}.items():
    sizes = {parameter: p.numel() for parameter, p in kind(8, 2).named_parameters()}
    print(f"{name}: {sum(sizes.values())} numbers in {', '.join(sizes)}")

# %% [markdown]
# ## A task: name both neighbors
#
# Every position of a text must name *two* characters: the one before it and the one after it. In `mars`, the `a` should
# say `m` and `r`. Where to attend depends on positions alone, so queries and keys are computed from a learned vector
# for each position, and values from the characters. The output of attention goes through one linear layer, which scores
# the 15 characters twice: as the left neighbor and as the right one.
#
# (`nn.Embedding(15, 32)` holds 15 learned vectors, looked up by number. 15 characters are enough to write
# `3 mars 2021`: ten digits, four letters and the space.)


# %%
class Neighbors(nn.Module):
    """Every position names the character before it and the one after it."""

    def __init__(self, n_heads: int, behind: nn.Module) -> None:
        super().__init__()
        self.positions, self.characters = nn.Embedding(11, 32), nn.Embedding(15, 32)
        self.attention = parts.MultiHeadAttention(32, n_heads)
        self.behind = behind  # turns attention's output into 2 · 15 scores

    def forward(self, texts: Tensor) -> Tensor:
        positions = self.positions.weight.expand(len(texts), -1, -1)  # the same in every text
        attended = self.attention(positions, positions, self.characters(texts))
        return self.behind(attended).unflatten(-1, (2, 15))[:, 1:-1]  # the first and last positions lack one


# %% [markdown]
# The texts are random, so that no character can be guessed from others. An answer is right if both neighbors are. We
# compare 1, 2 and 4 heads, and one head followed by a **multilayer perceptron** (MLP: two linear layers with a ReLU
# between them). The training loop is folded.


# %% tags=["hide-input"]
def train(n_heads: int, behind: str = "linear", seed: int = 0, steps: int = 300) -> tuple[Neighbors, Tensor]:
    """Learn to name both neighbors; return the model, and its accuracy at each step."""
    torch.manual_seed(seed)
    mlp = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 30))
    model = Neighbors(n_heads, nn.Linear(32, 30) if behind == "linear" else mlp)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, fused=True)
    right = torch.zeros(steps)
    for step in range(steps):
        texts = torch.randint(15, (64, 11))
        wanted = torch.stack([texts[:, :-2], texts[:, 2:]], dim=-1)  # (64, 9, 2): before and after positions 1 to 9
        scores = model(texts)  # (64, 9, 2, 15)
        loss = nn.functional.cross_entropy(
            scores.flatten(0, 2), wanted.flatten()
        )  # −log of the probability of the right character
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        right[step] = (scores.argmax(dim=-1) == wanted).all(dim=-1).float().mean()
    return model, right


# %% [markdown]
# It is often said that one head cannot attend to two things at once. **Predict.** At what fraction of the positions
# does *one* head name both neighbors, after 300 steps: nearest to 0.1, 0.5 or 0.9? (Twelve models are trained, which
# takes about ten seconds.)

# %% tags=["prediction"]
prediction = ...

# %% id="name-both-neighbors" tags=["approximate"]
kinds = {"1 head": (1,), "2 heads": (2,), "4 heads": (4,), "1 head, then an MLP": (1, "mlp")}
runs = {kind: [train(*how, seed=seed) for seed in range(3)] for kind, how in kinds.items()}
final = {kind: [right[-20:].mean().item() for _, right in of_kind] for kind, of_kind in runs.items()}
compare(prediction, measured=f"{min(final['1 head']):.1f} to {max(final['1 head']):.1f}")
curves = {kind: torch.stack([right.view(-1, 10).mean(dim=1) for _, right in of_kind]) for kind, of_kind in runs.items()}
plots.lines(range(5, 300, 10), curves, xlabel="step", ylabel="both neighbors right", legend_beside=True)
rows = []
for kind, [(model, _), *_] in runs.items():
    n_parameters = sum(p.numel() for p in model.parameters())
    rows.append((kind, min(final[kind]), max(final[kind]), n_parameters))
pd.DataFrame(rows, columns=["", "worst of 3 runs", "best of 3 runs", "parameters"]).round(1)

# %% [markdown]
# The first three models have the same number of parameters. Two heads learn the task quickly; one head does not learn
# it. Why? Its weights for a position are the same in every text: α for the left neighbor, β for the right one. So its
# output is α · left + β · right. A linear layer cannot tell the two apart: what `m` adds to a score when it stands on
# the left, it also adds when it stands on the right, only scaled by β/α. The neighbor with the larger weight tends to
# win both answers, and the other one is mostly missed. These are the uneven weights of the two dates again.

# %% tags=["approximate"]
texts = torch.randint(15, (500, 11))
named = runs["1 head"][0][0](texts).argmax(dim=-1)  # (500, 9, 2)
right = (named == torch.stack([texts[:, :-2], texts[:, 2:]], dim=-1)).float().mean(dim=(0, 1))
print(f"one neighbor is right at {right.max():.1f} of the positions, the other at {right.min():.1f}")
print(f"the same character is named twice at {(named[..., 0] == named[..., 1]).float().mean():.1f} of them")

# %% [markdown]
# So the saying is true if only a linear layer follows the head. An MLP can tell which vector came with the larger
# weight: it recovers both neighbors (the last curve), but more slowly, and in some runs not completely. With more
# layers, a model can do without a second head; with a second head, the task is easy.

# %% [markdown]
# ### Do the heads specialize?
#
# Nobody told the heads where to attend. We compute their weights from the trained layers. The labels are those of
# `3 mars 2021`, but in this model the weights are the same for every text.


# %%
def weights_of(model: Neighbors) -> Tensor:
    """Return the weights of all heads, for the positions that have two neighbors: (n_heads, 9, 11)."""
    attention, positions = model.attention, model.positions.weight[None]
    q = parts.split_heads(attention.w_q(positions), attention.n_heads)
    k = parts.split_heads(attention.w_k(positions), attention.n_heads)
    return parts.softmax(q @ k.mT / math.sqrt(q.shape[-1]))[0, :, 1:-1].detach()


def on_each_side(weights: Tensor) -> pd.DataFrame:
    """Return how much weight each head puts on the left and on the right neighbor."""
    left, right = (weights.diagonal(offset, dim1=1, dim2=2).mean(dim=1) for offset in (0, 2))
    heads = [f"head {i}" for i in range(len(weights))]
    return pd.DataFrame({"to the left": left.tolist(), "to the right": right.tolist()}, index=heads).round(1)


# %% tags=["approximate"]
letters = ["_" if character == " " else character for character in text]
two_heads, _ = runs["2 heads"][0]
axes = plots.heads(weights_of(two_heads), queries=letters[1:-1], keys=letters)
on_each_side(weights_of(two_heads))

# %% [markdown]
# One head attends to the character before, the other to the character after: the heads have *specialized*. In an
# untrained model there is no sign of it:

# %%
torch.manual_seed(0)
on_each_side(weights_of(Neighbors(2, nn.Linear(32, 30))))

# %% [markdown]
# What do four heads do, in a task that needs two?

# %% tags=["approximate"]
four_heads, _ = runs["4 heads"][0]
on_each_side(weights_of(four_heads))

# %% [markdown]
# Each head's lines have their own color. Point at a character, or press Tab and the arrow keys, to see only its
# lines, or choose a single head.

# %%
views.AttentionExplorer(weights_of(four_heads), queries=letters[1:-1], keys=letters)

# %% [markdown]
# Nothing in the loss asks the heads to differ. They differ where that helps: in the stored run, there are two for
# each direction. Are the spare heads of any use? The ★ section below removes them.

# %% [markdown]
# ### Heads on a real sentence
#
# These heads attend by position alone. To see heads that read words, we train a small language model to predict the
# next word in the docstrings of Python's library (folded: two layers of four heads, about ten seconds). The picture
# shows its first layer. A word attends only to itself and to what comes before it (lesson 04).

# %% id="language-heads" tags=["hide-input", "approximate"]
words = re.findall(r"[a-z]+|[.,:;()]", " ".join(python_docstrings()[0]).lower())
vocabulary = {word: i for i, (word, _) in enumerate(Counter(words).most_common(1000), start=1)}  # 0: any other word
stream = torch.tensor([vocabulary.get(word, 0) for word in words])
with torch.random.fork_rng():  # leaves the random numbers of the cells below as they are
    torch.manual_seed(0)
    shape = {"d_model": 64, "n_heads": 4, "d_ff": 128, "n_layers": 2, "dropout": 0.0, "max_length": 32}
    language_model = LanguageModel(LanguageModelConfig(1001, positions="rotary", **shape))
    optimizer = torch.optim.Adam(language_model.parameters(), fused=True)
    for step in range(250):
        optimizer.param_groups[0]["lr"] = 3e-3 * min(1, (step + 1) / 30, 2 * (1 - step / 250))
        batch = stream[torch.randint(len(stream) - 33, (16, 1)) + torch.arange(33)]
        loss = nn.functional.cross_entropy(language_model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(f"{len(words):,} words of docstrings; loss {loss.item():.1f}, that of a blind guess {math.log(1001):.1f}")

# %% id="heads-on-a-sentence" tags=["approximate"]
text_read = "return a copy of the string with each of the old values followed by the new value"
sentence = text_read.split()
with record_attention(language_model) as recorded, torch.no_grad():
    language_model(torch.tensor([[vocabulary.get(word, 0) for word in sentence]]))
first_layer = recorded["blocks.0.self_attention"][0]  # (n_heads, n_query, n_key)
axes = plots.heads(first_layer, queries=sentence, keys=sentence)

# %% id="what-two-words-attend-to" tags=["nbval-ignore-output"]
by = sentence.index("by")
for i, head in enumerate(first_layer):
    print(f"head {i}: weight on the word itself {head.diagonal()[1:].mean():.1f},", end=" ")
    print(f"`with` attends most to `{sentence[head[6].argmax()]}`, `by` to `{sentence[head[by].argmax()]}`")

# %% [markdown]
# In the stored run, heads 0 and 3 mostly stay with the word itself. Heads 1 and 2 go back to words that say more: look
# for the bright columns at `copy` and `each`. Another seed may give the heads other jobs.

# %% [markdown]
# ## ★ Transfer: what does each head add?
#
# The heads are concatenated and multiplied by $W^O$: `merge_heads(heads) @ w_o.T`. (An `nn.Linear` keeps its weights as
# (outputs, inputs), hence the `.T`.) Each output feature is a sum over the inputs, and each input belongs to one head.
# So the output is a **sum** with one term for each head. Write a function that returns these terms, from scratch.
# `d_merged` is n_heads · d_k.


# %% id="head_contributions" tags=["exercise"]
def head_contributions(
    heads: Float[Tensor, "batch n_heads n d_k"], w_o: Float[Tensor, "d_out d_merged"]
) -> Float[Tensor, "batch n_heads n d_out"]:
    """Return what each head adds to merge_heads(heads) @ w_o.T; the sum over the heads equals that product."""
    raise NotImplementedError


# %% id="check-head_contributions"
check(head_contributions)

# %% [markdown]
# Now an **ablation**: remove one part of a trained model and measure what gets worse. We leave out the term of one
# head.
#
# **Predict.** The model with two heads names both neighbors at nearly every position. At what fraction of the
# positions does it still do so without its head 0: nearest to 0.1, 0.5 or 0.9?

# %% tags=["prediction"]
prediction = ...


# %% tags=["hide-input"]
def right_without(model: Neighbors, silent: int | None, texts: Tensor) -> float:
    """Return the fraction of positions with both neighbors right while one head adds nothing."""
    attention, values = model.attention, model.characters(texts)
    weights = weights_of(model)  # (n_heads, 9, 11)
    outputs = weights @ parts.split_heads(attention.w_v(values), attention.n_heads)
    added = parts.head_contributions(outputs, attention.w_o.weight)
    kept = [i for i in range(attention.n_heads) if i != silent]
    scores = model.behind(added[:, kept].sum(dim=1) + attention.w_o.bias).unflatten(-1, (2, 15))
    wanted = torch.stack([texts[:, :-2], texts[:, 2:]], dim=-1)
    return (scores.argmax(dim=-1) == wanted).all(dim=-1).float().mean().item()


# %% tags=["approximate"]
texts = torch.randint(15, (500, 11))
rows = {}
for name, model in {"2 heads": two_heads, "4 heads": four_heads}.items():
    silent = [None, *range(model.attention.n_heads)]
    rows[name] = {"all heads" if i is None else f"without {i}": right_without(model, i, texts) for i in silent}
compare(prediction, measured=round(rows["2 heads"]["without 0"], 1), choices=(0.1, 0.5, 0.9))
pd.DataFrame(rows).T.map(lambda accuracy: "" if math.isnan(accuracy) else f"{accuracy:.1f}")

# %% [markdown]
# Without one of its two heads, the model knows one neighbor and can only guess the other, with a chance of 1 in 15.
# In this run with four heads, removing any one of them costs less, since another one attends to the same side, and
# one of them is hardly missed at all. (Other runs divide the work differently: try `runs["4 heads"][1]`.) In large
# trained models, too, many heads can be removed with little harm (Michel et al., 2019).

# %% [markdown]
# ## Your experiment
#
# Ungraded, about 15 minutes. Test a claim of your own as this lesson tests its claims, or begin with this one:
#
# **Claim.** Spare heads make learning faster: four heads name both neighbors at nine of ten positions in fewer steps
# than two.
#
# **Prediction.** Before you run anything, write down in how many of three runs the claim will hold.
#
# **Verdict.** Say in one sentence what the runs show. A claim that fails is a result, too.

# %% id="experiment" tags=["experiment", "skip-execution"]
prediction = ...  # in how many of the three runs will the claim hold?
holds = []
for seed in range(3):
    torch.manual_seed(seed)
    first = {n_heads: int((train(n_heads, seed=seed)[1] > 0.9).int().argmax()) for n_heads in (2, 4)}  # steps needed
    holds.append(...)  # True or False, from the two numbers in `first`
print("predicted:", prediction, " measured:", holds)
# Verdict:

# %% [markdown]
# ## In short
#
# - One head gives each query one weighted average. Several heads give several, each with weights of its own.
# - Queries, keys and values are projections of the input. The *projections* are split into heads; each head sees all
#   of the input.
# - To split: `view` the last axis as (n_heads, d_k), then `transpose`. To merge: `transpose`, then `reshape`.
# - The number of heads changes what is computed, but not the parameters: 4 (d_model² + d_model).
# - With more heads, each head is narrower. Training decides what they attend to, and some may end up alike.

# %%
query, memory = torch.randn(2, 10, 128), torch.randn(2, 11, 128)
module = parts.MultiHeadAttention(128, 4)
table = (
    trace_shapes(module, query, memory, memory).drop(columns="class").replace({"module": {"": "MultiHeadAttention"}})
)
q, k, v = (parts.split_heads(layer(z), 4) for layer, z in ((w_q, query), (w_k, memory), (w_v, memory)))
scores = q @ k.mT / math.sqrt(32)
outputs = parts.softmax(scores) @ v
steps = [("split_heads", [query], q), ("scores: q @ k.mT / √d_k", [q, k.mT], scores), ("softmax", [scores], scores)]
steps += [("weights @ v", [scores, v], outputs), ("merge_heads", [outputs], parts.merge_heads(outputs))]
rows = [(name, ", ".join(str(tuple(z.shape)) for z in ins), str(tuple(out.shape)), 0) for name, ins, out in steps]
print({"batch": 2, "n_query": 10, "n_key": 11, "d_model": 128, "n_heads": 4, "d_k": 32})
pd.concat([table, pd.DataFrame(rows, columns=table.columns)], ignore_index=True)

# %% [markdown]
# Scores and weights are (batch, n_heads, n_query, n_key): one n_query × n_key matrix for each text and each head.

# %% [markdown]
# ## New words
#
# The words of all lessons are in the [glossary](glossary.ipynb).
#
# - **attention head**: one of several attentions computed in parallel, each with its own queries, keys, values and
#   weights.
# - **multi-head attention**: several attention heads in parallel, whose outputs are concatenated and projected.
# - **output projection**: the last linear layer of multi-head attention, which mixes the outputs of the heads.
# - **mask**: a tensor of True and False that says which query may attend to which key.
# - **contiguous**: said of a tensor whose numbers lie in memory in the order of its axes.
# - **linear combination**: a sum of vectors, each multiplied by a number.
# - **rank**: the smallest number of a matrix's rows from which all its rows can be made as linear combinations.
# - **multilayer perceptron**: linear layers with a non-linear function, such as ReLU, between them; MLP for short.
# - **ablation**: an experiment that removes one part of a model and measures what gets worse.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
#
# <details><summary>Why several heads?</summary>
#
# A head gives each query one weighted average, in which two attended values cannot be told apart. Several heads give
# several averages, kept apart, so that a verb can attend to its subject and to its neighbor at once. (<i>Is one lookup
# enough</i>, <i>A task</i>)
# </details>
#
# <details><summary>Does each head work on a slice of the input?</summary>
#
# No. It works on a slice of the projections, and each column of these depends on all features of the input. (<i>How
# much of x does one head see?</i>: 128 of 128)
# </details>
#
# <details><summary>How does the number of parameters change from 8 heads to 16?</summary>
#
# Not at all, if d_model stays the same: the heads share four layers of d_model × d_model. Each head becomes half as
# wide. (<i>What does the number of heads change</i>)
# </details>
#
# <details><summary>More heads cost no parameters. Why not have as many heads as features?</summary>
#
# A head's scores have at most rank d_k (2 of 32 in the cell), so narrow heads cannot form every pattern; in the paper
# 32 heads were worse than 8. And each head has its own n × n matrix of weights. (<i>What do more heads cost?</i>)
# </details>

# %% [markdown]
# <details><summary>Why is a transpose needed between view and attention?</summary>
#
# `view` keeps the numbers in their order, position by position. Splitting the last axis puts the axis of heads after
# that of positions; attention needs positions and features as the last two axes. Reshaping straight to (batch, n_heads,
# n, d_k) gives the right shape and the wrong numbers. (<i>Splitting the projections into heads</i>)
# </details>
#
# <details><summary>What is contiguous() for?</summary>
#
# A transposed tensor is only read in another order; its numbers stay where they were. `view` cannot merge such axes.
# `contiguous()` copies the numbers into the new order; `reshape` does so when it has to. (<i>Merging the heads
# again</i>)
# </details>
#
# <details><summary>What is the output projection for?</summary>
#
# It mixes the outputs of the heads. Its result is a sum of one term for each head: the head's output times the head's
# own d_k rows of $W^O$ (columns of `w_o.weight`). (<i>★ Transfer</i>)
# </details>
#
# <details><summary>Do heads specialize?</summary>
#
# They may: here one attended to the left and one to the right, because the task needed both. Nothing forces them to,
# and spare heads may repeat one another. (<i>Do the heads specialize?</i>)
# </details>
#
# <details><summary>Does the bias of the key projection matter?</summary>
#
# No. It adds the same amount to all scores of a query, and softmax ignores that. (Unless the keys are changed by their
# positions before they are compared, as in lesson 05.) (<i>A bias on the keys</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Vaswani et al. (2017), [arXiv:1706.03762](https://arxiv.org/abs/1706.03762), section 3.2.2, and table 3, rows (A):
#   1 to 32 heads at equal cost; the figures at its end show heads on a sentence.
# - Voita et al. (2019), [arXiv:1905.09418](https://arxiv.org/abs/1905.09418): which heads do what in a translation
#   model.
# - Michel et al. (2019), [arXiv:1905.10650](https://arxiv.org/abs/1905.10650): many heads of trained models can be
#   removed.
# - Elhage et al. (2021),
#   [*A Mathematical Framework for Transformer Circuits*](https://transformer-circuits.pub/2021/framework/index.html):
#   what follows if heads are terms of a sum.
# - `transformer_lab/attention/multi_head.py`: the library's version, with faster kernels.

# %% [markdown]
# How far did you get, and how well did you predict?

# %% id="tally"
tally()

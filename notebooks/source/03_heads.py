# %% [markdown] id="title"
# # 03 · Multi-head attention: several lookups at once
#
# **The question.** *The cat that was chased by the dog ran away.* Who ran? And who did the chasing? To answer, a model
# has to connect each verb with several other words. But attention gives each query only *one* weighted average. What
# does a second one add?
#
# **Afterwards you can** write multi-head attention, explain what is split into heads and what is not, count the
# parameters, find a head in a trained model, and test what it does.
#
# Reading: 39 minutes. Exercises: 45 minutes (four core, one stretch ★). With all predictions, runs and questions:
# about 95 minutes.

# %% [markdown]
# ## Before you start
#
# Three questions from lessons 01 and 02. Answer each one aloud before you open it.
#
# <details><summary>4 queries, 6 keys and 6 values of width 3. What is the shape of attention's output?</summary>
#
# (4, 3): one row per query, as wide as a value.
# </details>
#
# <details><summary>In what range do attention weights lie, and what does that imply for the output?</summary>
#
# Between 0 and 1, and the weights of one query add up to 1. So the output is a weighted average of the values and
# always lies within their range.
# </details>
#
# <details><summary>What are the scores divided by, and what would happen without the division?</summary>
#
# By √d_k. Without the division, scores grow with the width, and the weights of wide models start out close to 0 and 1,
# where the softmax has almost no gradient.
# </details>
#
# The map below shows where you are: this lesson covers all of multi-head attention except the mask.

# %% id="imports"
import math
from typing import Any

import pandas as pd
import torch
from jaxtyping import Bool, Float
from tokenizers import Tokenizer
from torch import Tensor, nn

from transformer_course import check, compare, diagrams, hint, parts, plots, solution, tally, views
from transformer_course.published_models.published import published
from transformer_course.stored_models.stored_model import FOLDER
from transformer_lab import record_attention, trace_shapes
from transformer_lab.pretrained.hub import read_json
from transformer_lab.pretrained.load import load_language_model
from transformer_lab.tensor_files import read_tensors

# %%
torch.manual_seed(3)
torch.set_printoptions(precision=2, sci_mode=False)

# %%
diagrams.architecture.you_are_here(3)

# %% [markdown]
# ## Who ran? Heads of a trained model
#
# We gave the sentence, as plain text, to SmolLM2-135M-Instruct, a language model with 135 million 4-bit parameters. It
# has 30 layers with 9 **attention heads** each: 9 attention computations in parallel, each with its own weights. Here
# are three of these 270 heads. (Each word sees only itself and earlier words; lesson 04 explains why.)

# %% id="heads-of-smollm2" tags=["hide-input"]
recorded, _ = read_tensors(FOLDER / "smollm2-heads" / "weights.safetensors")  # python -m authoring.record_heads
notes = read_json(FOLDER / "smollm2-heads" / "sentences.json")
sentence, smollm2 = notes["tokens"], recorded["sentence"].float()  # 11 tokens; (n_layers, n_heads, n, n)
three_of_270 = {(13, 8): "ran", (16, 0): "ran", (25, 3): "dog"}  # (layer, head): the query to look at
axes = plots.heads(torch.stack([smollm2[at] for at in three_of_270]), queries=sentence, keys=sentence)
rows_shown = {}
for ax, (at, query) in zip(axes, three_of_270.items(), strict=True):
    ax.set_title("layer {}, head {}".format(*at))
    row = smollm2[at][sentence.index(query)].tolist()
    rows_shown["layer {}, head {}".format(*at), query] = [f"{weight:.2f}" for weight in row]
pd.DataFrame(rows_shown, index=sentence).T.iloc[:, :9]

# %% [markdown]
# In the first head, `ran` attends to `cat`, far back in the sentence, and not at all to `dog`, the nearest noun: the
# cat ran, it seems. In the second head, nearly every word attends to the word before it. So `ran` reads *two* words at
# once, one in each head. And who did the chasing? In the third head, `dog` attends to `chased`.
#
# Does the first head really look for the subject, or does it just fit this sentence? You will test that at the end.

# %% [markdown]
# ## Is one lookup enough?
#
# Take two dates that are easily confused: `3.5.2021` is May 3, `5.3.2021` is March 5. A model has to know *both*
# numbers, and which comes first.
#
# **Predict.** A query attends to the two numbers, with a weight of one half each. What is its output for `3.5.2021`,
# and for `5.3.2021`?

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
# The two dates get the same answer: an average doesn't show which value came from where. With uneven weights, one of
# the numbers hardly counts. A second lookup with its own weights solves the problem:

# %%
two_lookups = torch.tensor([[[1.0, 0.0]], [[0.0, 1.0]]])  # (n_heads, n_query, n_key) = (2, 1, 2)
for date, values in dates.items():
    print(date, "→", (two_lookups @ values).flatten().tolist())

# %% [markdown]
# **Multi-head attention** runs several heads in parallel and concatenates their outputs. In a Transformer, each head
# learns what to attend to.

# %% [markdown]
# ## Projections: queries, keys and values from one input
#
# A Transformer has one vector per token, of width `d_model`, and computes queries, keys and values from it with three
# linear layers. Each `nn.Linear`, also called a **projection**, multiplies by a learned matrix and adds a learned bias.

# %%
text = list("3 mars 2021")
x = torch.randn(1, 11, 128)  # (batch, n, d_model): one text, for now with random vectors
w_q, w_k, w_v = nn.Linear(128, 128), nn.Linear(128, 128), nn.Linear(128, 128)
q, k, v = w_q(x), w_k(x), w_v(x)  # self-attention: all three from the same x
print("x", tuple(x.shape), " q", tuple(q.shape), " k", tuple(k.shape), " v", tuple(v.shape))

# %% [markdown]
# Why not use x itself three times? Compare the score that `3` gives `m` with the score that `m` gives `3`:

# %%
without, projected = x[0] @ x[0].T, q[0] @ k[0].T  # scores: (11, 11)
for name, scores in {"without projections": without, "with projections": projected}.items():
    print(f"{name}: 3 scores m {scores[0, 2]:.1f}, m scores 3 {scores[2, 0]:.1f}")

# %% [markdown]
# <details><summary>What do the projections make possible?</summary>
#
# Without projections, the two scores are always equal, because $x_i \cdot x_j = x_j \cdot x_i$. But the `3` may need
# the letters of `mars` to know that it is a day, while the letters don't need the `3`. With separate projections, a
# position's query (what it is looking for) can differ from its key (how others find it). The value projection selects
# what a position passes on, which can differ from what its key contains.
# </details>

# %% [markdown]
# ## Splitting the projections into heads
#
# Four heads need four sets of queries, keys and values. They share the width: with d_model = 128 and 4 heads, each head
# gets d_k = 128 / 4 = 32 of the 128 columns of q, of k and of v. Head 0 gets columns 0 to 31, head 1 columns 32 to 63,
# and so on.
#
# Our attention accepts any leading axes. So (batch, n, d_model) has to become (batch, n_heads, n, d_k).

# %% [markdown]
# `x.view(shape)` returns the same numbers in another shape. Try it on 3 positions with 4 features each, for 2 heads.
# The tens digit is the position, the units digit the feature. Head 0 should hold features 0 and 1 of every position:
# 10, 11, then 20, 21, then 30, 31.
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
# The shape is right, but head 0 contains nothing from the last position. `view` keeps the numbers in the order in which
# they are stored, position by position, and cuts them into new rows. So split only the last axis: 4 features become 2
# heads of 2 features. Then swap two axes with `transpose`:

# %%
cut = small.view(3, 2, 2)  # positions, heads, features of a head
print("head 0:", cut.transpose(0, 1)[0].tolist())

# %% [markdown]
# **Exercise.** Do the same for a batch of texts and any number of heads. (`{n_heads}` in the annotation stands for the
# value of the argument.)


# %% id="split_heads" tags=["exercise"]
def split_heads(x: Float[Tensor, "batch n d_model"], n_heads: int) -> Float[Tensor, "batch {n_heads} n d_k"]:
    """Return each head's slice of the features: head i owns columns i · d_k to (i + 1) · d_k − 1."""
    raise NotImplementedError


# %% id="check-split_heads"
check(split_heads)

# %% [markdown]
# ### Merging the heads again
#
# After attention, each position should have all its features in one row again. Can you swap the axes back and then use
# `view`? Here is the output of 2 heads for 3 positions with 2 features each:

# %%
outputs = torch.arange(12.0).view(1, 2, 3, 2)  # (batch, n_heads, n, d_k)
back = outputs.transpose(1, 2)
print("is_contiguous():", back.is_contiguous())
try:
    back.view(1, 3, 4)
except RuntimeError as error:
    print("view:", str(error).split("(")[0])

# %% [markdown]
# `transpose` moves no numbers in memory; it only changes the order in which they are read. So its result is not
# **contiguous**: the numbers are no longer stored in the order of the axes. `view` moves no numbers either, and here it
# would have to. You have two options: `.contiguous()` copies the numbers into the order of the axes, and `.reshape`
# returns a `view` if that is possible and a copy if it is not.
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
print("and back", tuple(parts.merge_heads(heads).shape))

# %% [markdown]
# ## How much of x does one head see?
#
# **Predict.** x has 128 features, and there are 4 heads. How many features of x does the output of head 0 depend on?

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
# It depends on all of them. The heads split the *projections*, not x (many texts get this wrong), and every column of a
# projection is computed from all features of x. So training decides what each head compares. If x itself were cut, the
# arbitrary order of its features would decide that.

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
# | $K$, $V$ | (n_key, d_model) | `key`, `value`: the vectors they attend to |
# | $W_i^Q, W_i^K, W_i^V$ | (d_model, d_k) each | head i's d_k rows of the weights of `w_q`, `w_k`, `w_v`, transposed |
# | $\text{head}_i$ | (n_query, d_k) | the output of head i, before `merge_heads` |
# | $W^O$ | (d_model, d_model) | `w_o`, the **output projection**: mixes the outputs of the heads |
#
# As in the paper's models, d_v = d_k here. The formula leaves out the biases and has a separate matrix for each head.
# Our code stacks these matrices into one wide layer, which gives the same numbers with fewer and larger matrix
# products. In self-attention, query, key and value are the same x.

# %% [markdown]
# `forward` takes one more argument, a **mask**. Where it is False, a query may not attend to a key: you replace that
# score with −∞ before the softmax, so the weight becomes 0.
#
# `scores = scores.masked_fill(~mask, -torch.inf)`
#
# (`~mask` swaps True and False.) Lesson 04 is about masks; for now, this one line is enough. The scores have the shape
# (batch, n_heads, n_query, n_key), one matrix for each text and each head, and the mask broadcasts to that shape. (`#`
# in the annotation means "this size or 1".)
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
# The left side is drawn from your own module (or from the library's until yours passes): x goes through each projection
# as a whole, and the result is then split into heads. On the right is the wrong picture, in which x itself is cut:

# %%
diagrams.heads.multi_head(parts.MultiHeadAttention(128, 4))

# %% [markdown]
# `trace_shapes` runs a module and lists the input and output shapes of each layer. Here 10 queries, one for each
# character of `2021-03-03`, attend to the 11 characters of `3 mars 2021`: cross-attention.

# %%
iso = torch.randn(1, 10, 128)
trace_shapes(parts.MultiHeadAttention(128, 4), iso, x, x)

# %% [markdown]
# ## What does the number of heads change?
#
# The four layers have the same shapes for any number of heads. So you can load the same parameters into modules with 1,
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
print(f"one head against a single attention on the projections: {(single - one(x, x, x)).abs().max():.2f} apart")

# %% [markdown]
# The modules have the same parameters but different outputs. Some texts write $\operatorname{MultiHead}(Q, K, V) =
# \operatorname{Attention}(Q W^Q, K W^K, V W^V)\, W^O$. That is true for one head only: with four, each quarter of the
# columns has its own attention weights. The number of heads is not learned. You choose it before training, as a
# **hyperparameter**. It determines how the outputs of the layers are *split*, so a trained model works only with the
# number of heads it was trained with.
#
# **Exercise.** Count the parameters. `nn.Linear(a, b)` has a · b weights, and b biases unless you pass `bias=False`.


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
# Each of the four layers has a bias as well as a matrix.
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
# <details><summary>Why does the bias of the keys change nothing?</summary>
#
# With a bias $b$ on the keys, a score is $q \cdot (k + b) = q \cdot k + q \cdot b$. The second term is the same for
# every key, and softmax does not change when all the scores of a row grow by the same amount (lesson 01). Some models
# leave this bias out. A bias on the *queries* does matter: it adds $b \cdot k$, which differs from key to key.
# </details>

# %% [markdown]
# ## What do more heads cost?
#
# More heads cost no parameters, and no more multiplications for $q \cdot k$: there are n_heads times as many scores,
# but each is a sum of only d_k products. However, each head computes and stores its own n × n scores and their softmax.
# Each head is also narrower. Does that limit what it can attend to?

# %% [markdown]
# The **rank** of a matrix is the smallest number of its rows that you need to build all its rows as **linear
# combinations**: sums of rows, each multiplied by a number. The scores $q k^\top$ of a head of width 2 have rank 2:
# each row of scores is a linear combination of just two rows. The attention weights are the softmax of these scores.
#
# A computer rounds, so it counts only the singular values (the sizes of a matrix's independent parts) above some
# fraction of the largest: the *numerical* rank.
#
# **Predict.** 64 positions have random queries and keys of width 2. Counting down to a millionth, is the rank of the 64
# × 64 *weights* nearest to 2, 32 or 64?

# %% tags=["prediction"]
prediction = ...

# %% tags=["hide-input"]
past = torch.ones(64, 64, dtype=torch.bool).tril()  # a mask: each position sees only itself and earlier positions
rows = {}
for width in (1, 2, 4, 8, 64):
    q, k = torch.randn(2, 10, 64, width, dtype=torch.float64)  # 10 times 64 queries and 64 keys
    scores = q @ k.mT / math.sqrt(width)
    weights = {"weights": parts.softmax(scores), "causal weights": parts.softmax(scores.masked_fill(~past, -torch.inf))}
    rows[width] = {("scores", "> 10⁻⁶"): int(torch.linalg.matrix_rank(scores, rtol=1e-6).median())}
    for name, matrix in weights.items():
        for fraction, rtol in {"> 10⁻⁶": 1e-6, "> 10⁻³": 1e-3}.items():
            rows[width][name, fraction] = int(torch.linalg.matrix_rank(matrix, rtol=rtol).median())
compare(prediction, measured=rows[2]["weights", "> 10⁻⁶"], choices=(2, 32, 64))
pd.DataFrame.from_dict(rows, orient="index").rename_axis("d_k")

# %% [markdown]
# The softmax raises the rank, because the exponential is not linear. Without rounding, these weights would have rank 64
# at every width, with or without a mask. But in narrow heads, most of that is tiny: at width 4, you count 63 above a
# millionth, and 44 above a thousandth. (A mask hides later positions, so the causal matrices are triangular.) A head of
# width 2 can even attend *exactly* one position back, if each query points at the key of the position before:

# %% tags=["hide-input"]
angles = 2 * math.pi * torch.arange(64) / 64
keys = torch.stack([angles.cos(), angles.sin()], dim=-1)  # (64, 2): 64 keys on a circle
scores = 10_000 * keys.roll(1, dims=0) @ keys.T  # query i points at key i − 1
weights = parts.softmax(scores)
print(f"least weight on the position before: {weights.diagonal(-1).min():.2f}")
ranks = [int(torch.linalg.matrix_rank(matrix, rtol=1e-4)) for matrix in (scores, weights)]
print(f"rank of the scores: {ranks[0]}, of the weights: {ranks[1]}")

# %% [markdown]
# Still, a head cannot form *every* matrix of weights if d_k is smaller than the number of positions (Bhojanapalli et
# al., 2020). So you choose between few wide heads and many narrow ones. In the Transformer paper, one head scored 0.9
# BLEU (a measure of translation quality) below the best number of heads, and 32 heads were worse than 8. The paper's
# base model has 8 heads.

# %% [markdown]
# ## Bug hunt
#
# A colleague sends you this version, with a shorter constructor. It runs, its output has the right shape, and its loss
# falls. Read it and decide which line is wrong *before* you run the check. Then write a correct `Mended` in the cell
# after it.


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
# Count the parameters: there should be 4 d_model² + 4 d_model. A list times 4 contains the same object four times, so
# all four names refer to one layer, as the cell below shows. Another sign: in self-attention, the scores of this
# version are symmetric, as if there were no projections.
# </details>

# %% tags=["hide-input"]
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
# name `m` and `r`. The output of attention goes through one linear layer, which scores the 15 characters twice: as the
# left neighbor and as the right neighbor.
#
# Where to attend depends only on the position, so the model computes queries and keys from a learned vector for each
# position, and values from the characters. (`nn.Embedding(15, 32)` contains 15 learned vectors, one for each character
# in dates such as `3 mars 2021`.)


# %%
class Neighbors(nn.Module):
    """Every position names the character before it and the one after it."""

    def __init__(
        self,
        n_heads: int,
        behind: nn.Module,
        width: int = 32,
        compared: str = "positions",
        averaged: str = "characters",
    ) -> None:
        super().__init__()
        self.positions, self.characters = nn.Embedding(11, width), nn.Embedding(15, width)
        self.attention = parts.MultiHeadAttention(width, n_heads)
        self.behind = behind  # turns attention's output into 2 · 15 scores
        self.compared, self.averaged = compared, averaged  # what queries and keys see, and what values see

    def forward(self, texts: Tensor) -> Tensor:
        characters, positions = self.characters(texts), self.positions.weight.expand(len(texts), -1, -1)
        inputs = {"positions": positions, "characters": characters, "both": positions + characters}
        x = inputs[self.compared]
        attended = self.attention(x, x, inputs[self.averaged])
        return self.behind(attended).unflatten(-1, (2, 15))[:, 1:-1]  # the first and last positions lack one


# %% [markdown]
# The texts are random, so nothing can be guessed. An answer counts only if both neighbors are right. We compare 1, 2
# and 4 heads, and one head followed by a **multilayer perceptron** (MLP: two linear layers with a ReLU between them).


# %% tags=["hide-input"]
def train(
    n_heads: int, behind: str = "linear", seed: int = 0, steps: int = 300, rate: float = 3e-3, **inputs: Any
) -> tuple[Neighbors, Tensor]:
    """Learn to name both neighbors; return the model, and its accuracy at each step."""
    torch.manual_seed(seed)
    width = inputs.get("width", 32)
    mlp = nn.Sequential(nn.Linear(width, 128), nn.ReLU(), nn.Linear(128, 30))
    model = Neighbors(n_heads, nn.Linear(width, 30) if behind == "linear" else mlp, **inputs)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, fused=True)
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
# It is often said that one head cannot attend to two things. **Predict.** At what fraction of the positions does *one*
# head name both neighbors, after 300 steps: nearest to 0.1, 0.5 or 0.9?

# %% tags=["prediction"]
prediction = ...

# %% id="name-both-neighbors" tags=["hide-input", "approximate"]
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
# Two heads learn the task within 300 steps; one head does not. Why? Its weights for a position are the same in every
# text: α for the left neighbor, β for the right one. So its output is α · left + β · right, and a linear layer cannot
# tell which neighbor is which. Whatever `m` adds to a score as the left neighbor, it also adds as the right neighbor,
# only scaled by β/α. The neighbor with the larger weight tends to win both answers, as with the two dates:

# %% id="one-head-names-one-neighbor" tags=["hide-input", "approximate"]
texts = torch.randint(15, (500, 11))
named = runs["1 head"][0][0](texts).argmax(dim=-1)  # (500, 9, 2)
right = (named == torch.stack([texts[:, :-2], texts[:, 2:]], dim=-1)).float().mean(dim=(0, 1))
print(f"one neighbor is right at {right.max():.1f} of the positions, the other at {right.min():.1f}")
print(f"the same character is named twice at {(named[..., 0] == named[..., 1]).float().mean():.1f} of them")

# %% [markdown]
# An MLP can tell which vector came with the larger weight. With it, one head learns the task too (the last curve). At a
# learning rate of 0.003, it learns more slowly than two heads.

# %% [markdown]
# ### Can one head really not do it?
#
# Our one head has a handicap that no ordinary layer has: its weights cannot depend on the characters, and its values do
# not contain their position. In a Transformer, queries, keys and values are all computed from the sum of the character
# vector and the position vector. We also stopped after only 300 steps. So we trained wider models (64) for 3,000 steps,
# with all four combinations.
#
# **Predict.** If queries, keys and values all see both vectors, at what fraction of the positions does *one* head name
# both neighbors after 3,000 steps: nearest to 0.1, 0.5 or 0.9?

# %% tags=["prediction"]
prediction = ...

# %% id="one-head-3000-steps" tags=["hide-input"]
longer = read_json(FOLDER / "neighbor-runs" / "accuracy.json")
print(f"{longer['command']}: {longer['cpu_minutes']:.0f} minutes on one core; means of three seeds")
all_runs = pd.DataFrame(longer["runs"])
same = all_runs[(all_runs["rate"] == 0.003) & (all_runs["seed"] < 3)]
mean_of_runs = same.groupby(["n_heads", "compared", "averaged"])[["300", "3000"]].mean()
compare(prediction, measured=round(mean_of_runs.loc[(1, "both", "both"), "3000"], 2), choices=(0.1, 0.5, 0.9))
ways = {"1 head, 300 steps": (1, "300"), "1 head, 3,000 steps": (1, "3000"), "2 heads, 300 steps": (2, "300")}
both_right = pd.DataFrame({name: mean_of_runs.loc[heads][steps] for name, (heads, steps) in ways.items()})
both_right.rename_axis(["queries and keys see", "values see"]).round(2)

# %% [markdown]
# If queries, keys and values see both vectors, one head names both neighbors at 0.93 of the positions. It needs weights
# that depend on the characters *and* values that depend on the position. With only one of these, its accuracy stays
# below 0.2.
#
# Two heads need only 300 steps. But in the first row, the only one that resembles a Transformer, one of the three
# two-head runs failed. Here is that row at three learning rates, with eight seeds for two heads:

# %% id="heads-at-three-rates" tags=["hide-input"]
like_transformer = all_runs[(all_runs["compared"] == "both") & (all_runs["averaged"] == "both")]
summary = {}
for rate, of_rate in like_transformer.groupby("rate"):
    one, two = (of_rate[of_rate["n_heads"] == n] for n in (1, 2))
    above = [f"{(two[steps] >= 0.8).sum()} of {len(two)}" for steps in ("300", "1000")]
    summary[rate] = [f"{one['3000'].min():.2f} to {one['3000'].max():.2f}", *above, two["1000"].min()]
names = ["1 head, 3,000 steps", "2 heads, 300 steps: at least 0.8", "the same, 1,000 steps", "worst, 1,000 steps"]
pd.DataFrame.from_dict(summary, orient="index", columns=names).rename_axis("learning rate")

# %% [markdown]
# So "one head cannot attend to two things" is not always true. It depends on what the head sees, on how long you train,
# and on the rate: at 0.01, one head stays below 0.1. Two heads make the task much easier: at 0.001, 300 steps were
# enough in all eight runs. (At higher rates, some runs get stuck.)

# %% [markdown]
# ### Do the heads specialize?
#
# Nothing in the loss tells the heads where to attend. Here are their weights, labeled with `3 mars 2021`. (In this
# model, they are the same for every text.)


# %% tags=["hide-input"]
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


# %% id="where-two-heads-attend" tags=["approximate"]
letters = ["_" if character == " " else character for character in text]
two_heads, _ = runs["2 heads"][0]
axes = plots.heads(weights_of(two_heads), queries=letters[1:-1], keys=letters)
on_each_side(weights_of(two_heads))

# %% [markdown]
# One head attends to the character before, the other to the character after: the heads have *specialized*. In an
# untrained model there is no sign of this:

# %%
torch.manual_seed(0)
on_each_side(weights_of(Neighbors(2, nn.Linear(32, 30))))

# %% [markdown]
# What do four heads do in a task that needs two?

# %% id="where-four-heads-attend" tags=["approximate"]
four_heads, _ = runs["4 heads"][0]
on_each_side(weights_of(four_heads))

# %% [markdown]
# Two heads attend in each direction.

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
# The next experiment is an **ablation**: remove one part of a trained model and measure what gets worse. We drop one
# head's term, in each of our models with two or four heads.
#
# **Predict.** The models with two heads name both neighbors at nearly every position. At what fraction of the positions
# do they still name both without head 0: nearest to 0.1, 0.5 or 0.9?

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


# %% id="without-a-head" tags=["approximate"]
texts, ablated = torch.randint(15, (500, 11)), {}
for kind in ("2 heads", "4 heads"):
    for run, (model, _) in enumerate(runs[kind]):
        removed = [None, *range(model.attention.n_heads)]
        by_head = {"all heads" if i is None else f"without {i}": right_without(model, i, texts) for i in removed}
        ablated[f"{kind}, run {run}"] = by_head
compare(prediction, measured=round(ablated["2 heads, run 0"]["without 0"], 1), choices=(0.1, 0.5, 0.9))
pd.DataFrame(ablated).T.map(lambda accuracy: "" if math.isnan(accuracy) else f"{accuracy:.1f}")

# %% [markdown]
# Without one of its two heads, a model knows one neighbor and can only guess the other, with a chance of 1 in 15. With
# four heads, the damage depends on the run: in the stored runs, removing one head costs anything from nothing to nearly
# all of the accuracy. In large trained models, too, many heads can be removed with little harm (Michel et al., 2019).

# %% [markdown]
# ## Back to the sentence: is it a subject head?
#
# We picked head 8 of layer 13 in SmolLM2 because, of all 270 heads, it puts the largest weight on `cat` when the query
# is `ran`. With so many heads, one may fit a single sentence by chance, or it may always prefer the first noun. A fair
# test needs sentences that played no part in the choice. We filled each of five sentence patterns with 24 different
# sets of words. In the last pattern, the subject of the last verb is the *second* noun.
#
# **Predict.** In what fraction of these 120 sentences does this head give the subject more weight than the other noun?

# %% tags=["prediction"]
prediction = ...

# %% id="subject-head" tags=["hide-input"]
to_nouns = recorded["from_verb_to_nouns"].float()  # (pattern, sentence, layer, head, [subject, other noun])
subject_wins = (to_nouns[..., 0] > to_nouns[..., 1]).float().mean(dim=1)  # (pattern, layer, head)
compare(prediction, measured=round(subject_wins[:, 13, 8].mean().item(), 2))
patterns = [pattern.format(a="A", b="B", verb="chased", end="ran") for pattern, _ in notes["templates"]]
found = {
    "weight on the subject": to_nouns[:, :, 13, 8, 0].mean(dim=1),
    "on the other noun": to_nouns[:, :, 13, 8, 1].mean(dim=1),
    "subject ahead": subject_wins[:, 13, 8],
    "the same, median of 270 heads": subject_wins.flatten(1).median(dim=1).values,
}
overall = subject_wins.mean(dim=0)  # (layer, head), over all 120 sentences
ahead = {f"({i // 9}, {i % 9})": f"{overall.flatten()[i]:.2f}" for i in overall.flatten().topk(5).indices.tolist()}
print(f"the five best of 270 heads: {ahead}")
pd.DataFrame({name: values.tolist() for name, values in found.items()}, index=patterns).round(2)

# %% [markdown]
# The head passes the test: it gives the subject more weight in 108 of 120 sentences, while a typical head does so in
# about half. But four other heads do even better. It doesn't simply prefer the first noun, because in the last pattern
# it switches to the second.
#
# Is it only the *verb* that attends to the subject? Here are the mean weights that this head gives to A and B from
# every word after A, in the first pattern and the last:

# %% id="which-words-attend" tags=["hide-input"]
for pattern in (notes["templates"][0], notes["templates"][-1]):
    words_of_pattern = notes["words_to_nouns"][pattern[0]]  # [word, weight on the subject, weight on the other noun]
    after_a = words_of_pattern[[word for word, *_ in words_of_pattern].index("A") + 1 :]
    on_a, on_b = (1, 2) if pattern[1] == "a" else (2, 1)
    columns = {"from": [row[0] for row in after_a], "to A": [row[on_a] for row in after_a]}
    columns["to B"] = [row[on_b] for row in after_a]
    print(pd.DataFrame(columns).set_index("from").T.to_string(), "\n")

# %% [markdown]
# No. In the first pattern, `that`, `was` and even `by` attend to A. In the last pattern, `chased` attends to A, and the
# words from `that` to `away` attend to B. So this head may rather mark *the noun that the clause is about*, for most of
# its words. A name such as "subject head" says more than the test did.
#
# Does the model *need* this head? We removed each head of layer 13 in turn. In 96 sentences per pattern, one noun was
# singular and the other plural. In what fraction did the model prefer the right one of "was" and "were"?

# %% id="without-the-subject-head" tags=["hide-input"]
agreement = pd.DataFrame(notes["agreement_without_head"]).T.rename(columns=lambda head: head.replace("13, ", "head "))
agreement.index = [f"{pattern.format(a='A', b='B', verb='chased')} …" for pattern in agreement.index]
agreement.rename_axis(columns="removed").round(2)

# %% [markdown]
# Not for this. Without head 8, the model does better in one pattern and worse in another, within the noise of 96
# sentences. (Removing head 5 does more harm in the first pattern, but we found that by looking, so it needs its own
# test.)
#
# <details><summary>Do the other subject heads stand in for it?</summary>
#
# Four heads passed our test better than head 8, so one of them might do its work. We set the outputs of all five to
# zero together (`removed_groups` in authoring/record_heads.py). In the three patterns, the model then prefers the right
# form in 0.83, 0.72 and 0.91 of the sentences, against 0.71, 0.76 and 0.92 with all heads. Five random groups of five
# other heads from the same layers do more harm on average: 0.58, 0.68 and 0.89. So this model does not need the five
# best subject heads for the agreement of "was" and "were".
# </details>
#
# So does the model *know* who ran? We asked it about our sentence, and about the same sentence with `cat` and `dog`
# swapped:

# %%
print("The next word after the sentence and “The animal that ran away was the”:")
pd.DataFrame(notes["answers"]).T.add_prefix("probability of ")

# %% [markdown]
# It prefers "cat" both times, which is wrong the second time. In most of our sentences a head attends to the right
# noun, and here the model still gets the question wrong. Attention weights show what a head *reads*, not what the model
# does with it.

# %% [markdown]
# Explore the other heads of these two layers. Point at a word, or press Tab and the arrow keys, to see only its lines.
# You can also type in your own sentence. The first time, this downloads the model (93 MB).

# %% id="your-own-sentence"
your_sentence = ...  # such as "The key to the cabinets was lost."
layers, words = {f"layer {i}": smollm2[i] for i in (13, 16)}, sentence
if your_sentence is not ...:
    language_model = load_language_model(published("smollm2"))
    encoded = Tokenizer.from_file(str(published("smollm2") / "tokenizer.json")).encode(your_sentence)
    with record_attention(language_model) as seen, torch.no_grad():
        language_model(torch.tensor([encoded.ids]))
    every_layer, words = [*seen.values()], [token.lstrip("Ġ") for token in encoded.tokens]
    layers = {f"layer {i}": every_layer[i][0] for i in (13, 16)}
views.AttentionExplorer(layers, queries=words, head=8)

# %% [markdown]
# ## Your experiment
#
# Ungraded, about 15 minutes. Test a claim of your own the way this lesson tests its claims, or start with this one:
#
# **Claim.** Extra heads speed up learning: with four heads, the model gets both neighbors right at 90% of the positions
# in fewer steps than with two.
#
# **Prediction.** Before you run anything, write down in how many of three runs the claim will hold.
#
# **Verdict.** Say in one sentence what the runs show. Then change the learning rate: is your sentence still true, or
# does it have to name its learning rate? A claim that fails is a result, too.

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
# - One head gives each query one weighted average; several heads give several, each with its own weights.
# - The *projections* are split into heads; each head sees all of the input.
# - To split: `view` the last axis as (n_heads, d_k), then `transpose`. To merge: `transpose`, then `reshape`.
# - The number of heads changes what is computed, but not the number of parameters, 4 (d_model² + d_model).
# - The scores of a narrow head have a low rank. Softmax raises it, mostly by tiny amounts.
# - One head can learn a task with two targets, if its weights and values depend on characters and positions. Two heads
#   learn it much faster.
# - A head picked on one sentence needs a test on others. One head of SmolLM2 passed; removing it did no clear harm.

# %% tags=["hide-input"]
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
# The [glossary](glossary.ipynb) lists the terms from all lessons.
#
# - **attention head**: one of several attention computations that run in parallel, each with its own queries, keys,
#   values and weights.
# - **multi-head attention**: several attention heads in parallel, whose outputs are concatenated and projected.
# - **output projection**: the last linear layer of multi-head attention, which mixes the outputs of the heads.
# - **mask**: a tensor of True and False that determines which query may attend to which key.
# - **contiguous**: a tensor is contiguous if its numbers are stored in memory in the order of its axes.
# - **linear combination**: a sum of vectors, each multiplied by a number.
# - **rank**: the smallest number of a matrix's rows that you need to build all its rows as linear combinations.
# - **multilayer perceptron**: linear layers with a non-linear function, such as ReLU, between them; MLP for short.
# - **ablation**: an experiment that removes one part of a model and measures what gets worse.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first. The section named at the end of each answer has the cell that shows it.
#
# <details><summary>Why several heads?</summary>
#
# A head gives each query one weighted average, which doesn't show which value came from where. Several heads compute
# separate averages, so a verb can attend to its subject and to its neighbor at once. In our task, at learning rates of
# 0.001 and 0.003, two heads learned in 300 steps (in 14 of 16 runs) what one head learned in 3,000, and one head
# learned it only when its weights depended on the characters and its values on the positions. (<i>Is one lookup
# enough</i>, <i>Can one head really not do it?</i>)
# </details>
#
# <details><summary>Why are there separate matrices for queries and keys? Could they be shared? And keys and
# values?</summary>
#
# With one matrix for both, the score of i for j would equal the score of j for i, so "A needs B, but B does not need A"
# is hard to express. Separate matrices let a position look for one thing and be found by another. Keys and values have
# different jobs as well: a key determines which queries find a position, and a value is what the position passes on.
# You can share matrices to save parameters, but then each head is less expressive. (<i>Projections</i>)
# </details>
#
# <details><summary>Does each head work on a slice of the input?</summary>
#
# No. It works on a slice of the projections, and each column of a projection depends on all features of the input.
# (<i>How much of x does one head see?</i>: 128 of 128)
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
# Each head has its own n × n matrix of weights in memory, and a narrow head cannot form every such matrix: its scores
# have at most rank d_k. (The softmax raises it, but mostly by tiny amounts: at d_k = 2 and 64 positions, 19 singular
# values of the weights exceeded a thousandth of the largest.) In the paper, 32 heads were worse than 8. (<i>What do
# more heads cost?</i>)
# </details>
#
# <details><summary>Causal attention weights are triangular, so they have full rank. Are decoder-only models more
# expressive for that reason?</summary>
#
# It is a popular argument, but it compares exact ranks, and without rounding, weights of random queries and keys have
# full rank without a mask, too. What differs is how many of the singular values are tiny. At width 2 and 64 positions,
# 19 exceeded a thousandth of the largest, and 59 with a causal mask; at width 64, 63 and 57. Heads of real models are
# 64 or 128 wide. (<i>What do more heads cost?</i>)
# </details>

# %% [markdown]
# <details><summary>Why is a transpose needed between view and attention?</summary>
#
# `view` keeps the numbers in their order, position by position. Splitting the last axis puts the axis of heads after
# the axis of positions; attention needs positions and features as the last two axes. Reshaping straight to (batch,
# n_heads, n, d_k) gives the right shape and the wrong numbers. (<i>Splitting the projections into heads</i>)
# </details>
#
# <details><summary>What is contiguous() for?</summary>
#
# `transpose` only changes the order in which the numbers are read; in memory they stay where they were. `view` cannot
# merge axes like these. `contiguous()` copies the numbers into the new order; `reshape` does so if it has to.
# (<i>Merging the heads again</i>)
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
# They can. In our task, one head attended to the left and one to the right, because the task needed both. In SmolLM2,
# the verb attends to its subject in one head, including in sentences that played no part in choosing the head. But
# other words of the clause do so as well, four of 270 heads did better, and removing all five together did no clear
# harm. Nothing in the loss forces heads to differ, and extra heads may repeat one another. (<i>Do the heads
# specialize?</i>, <i>Back to the sentence</i>)
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
#   1 to 32 heads at equal cost; the figures at the end of the paper show heads on a sentence.
# - Voita et al. (2019), [arXiv:1905.09418](https://arxiv.org/abs/1905.09418): which heads do what in a translation
#   model.
# - Michel et al. (2019), [arXiv:1905.10650](https://arxiv.org/abs/1905.10650): many heads of trained models can be
#   removed.
# - Bhojanapalli et al. (2020), [arXiv:2002.07028](https://arxiv.org/abs/2002.07028): what narrow heads cannot compute.
# - Elhage et al. (2021),
#   [*A Mathematical Framework for Transformer Circuits*](https://transformer-circuits.pub/2021/framework/index.html):
#   what follows if heads are terms of a sum.
# - `transformer_lab/attention/multi_head.py`: the library's version, with faster kernels.

# %% [markdown]
# How far did you get, and how well did you predict?

# %% id="tally"
tally()

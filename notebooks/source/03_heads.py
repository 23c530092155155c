# %% [markdown] id="title"
# # 03 · Multi-head attention: several lookups at once
#
# **The question.** Attention gives each query one weighted average. What if a place has to look at two things, for
# two reasons?
#
# **Afterwards you can** write multi-head attention, say what is cut into heads and what is not, count its parameters,
# and measure what a second head is good for.
#
# Reading: 37 minutes. Exercises: 45 minutes (four core, one stretch ★).

# %% [markdown]
# ## Before you start
#
# Three questions from lessons 01 and 02. Answer each one aloud, then open it.
#
# <details><summary>4 queries, 6 keys and 6 values of width 3. What shape does attention give?</summary>
#
# (4, 3): one row per query, as wide as a value.
# </details>
#
# <details><summary>Which numbers can an attention weight be, and what follows for the output?</summary>
#
# Between 0 and 1, and those of a query add up to 1. So the output is an average of the values: it never lies outside
# of them.
# </details>
#
# <details><summary>By what are the scores divided, and what would happen otherwise?</summary>
#
# By √d_k. Undivided, they grow with the width, and the weights of wide models start out as nearly 0 and 1, where the
# softmax has almost no gradient.
# </details>

# %% id="imports"
import math
import time

import pandas as pd
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_lab import plots, trace_shapes
from transformer_lab.course import check, compare, hint, parts, solution

# %%
torch.manual_seed(3)
torch.set_printoptions(precision=2, sci_mode=False)

# %% [markdown]
# ## One lookup gives one average
#
# Our date, `3 mars 2021`, could be written in digits. Here are two that are easily mixed up: `3.5.2021` is the 3rd of
# May, `5.3.2021` the 5th of March. One becomes `2021-05-03`, the other `2021-03-05`. To choose, the model has to know
# *both* of the first two numbers, and which of them stands first.
#
# **Predict.** A query looks at the two numbers with a weight of one half each. For `3.5.2021` it gets 0.5 · 3 + 0.5 · 5
# = 4. What does it get for `5.3.2021`?

# %% tags=["prediction"]
prediction = ...

# %%
dates = {"3.5.2021": torch.tensor([[3.0], [5.0]]), "5.3.2021": torch.tensor([[5.0], [3.0]])}  # (n_key, d_v) = (2, 1)
weights = torch.tensor([[0.5, 0.5]])  # (n_query, n_key) = (1, 2)
compare(prediction, measured=(weights @ dates["5.3.2021"]).item())
uneven = torch.tensor([[0.9, 0.1]])
print("weights of 0.9 and 0.1:", {date: round((uneven @ values).item(), 1) for date, values in dates.items()})

# %% [markdown]
# Two dates, one answer. An average does not say what came from where. With uneven weights the two differ, but one of
# the numbers is nearly drowned. What helps is a second lookup with weights of its own:

# %%
two_lookups = torch.tensor([[[1.0, 0.0]], [[0.0, 1.0]]])  # (n_heads, n_query, n_key) = (2, 1, 2)
for date, values in dates.items():
    print(date, "→", (two_lookups @ values).flatten().tolist())

# %% [markdown]
# Each of these lookups is called a **head**. **Multi-head attention** is several attentions side by side, each with
# weights of its own. What they found is put next to each other.
#
# Here we typed the weights in. Where does a model get them from?

# %% [markdown]
# ## Queries, keys and values are made from the input
#
# In lessons 01 and 02 queries and keys were given. In a Transformer there is one vector for each piece of the text.
# Three layers make the rest: `nn.Linear(a, b)` turns vectors of width a into vectors of width b, by a matrix product
# with learned weights, plus a learned bias. This is called a **projection**.
#
# Our text has 11 characters, spaces included. The width of its vectors is called `d_model`.

# %%
text = list("3 mars 2021")
x = torch.randn(1, 11, 128)  # (batch, n, d_model): one text, for now with random vectors
w_q, w_k, w_v = nn.Linear(128, 128), nn.Linear(128, 128), nn.Linear(128, 128)
q, k, v = w_q(x), w_k(x), w_v(x)  # self-attention: all three from the same x
print("x", tuple(x.shape), " q", tuple(q.shape), " k", tuple(k.shape), " v", tuple(v.shape))

# %% [markdown]
# Why not use x itself three times? Because then liking would be mutual:

# %%
without, projected = x[0] @ x[0].T, q[0] @ k[0].T  # scores: (11, 11)
print("without projections, i scores j as j scores i:", torch.allclose(without, without.T))
print("with projections:", torch.allclose(projected, projected.T))

# %% [markdown]
# The `3` needs the letters of `mars` to know that it is a day. They can do without the `3`. With a layer for
# asking and another one for being asked, the one can look at the other without being looked at. A third layer makes
# what is handed over.

# %% [markdown]
# ## Cutting the projections into heads
#
# Four heads need four sets of queries, keys and values. They share the width: with d_model = 128 and 4 heads, each
# head gets d_k = 128 / 4 = 32 of the 128 columns of q, of k and of v. Head 0 gets columns 0 to 31, head 1 columns 32
# to 63, and so on. (The paper has d_model = 512 and 8 heads, so d_k = 64.)
#
# Attention works with any axes in front. So if the heads are one such axis, all are done at once: (batch, n, d_model)
# has to become (batch, n_heads, n, d_k).

# %% [markdown]
# `x.view(shape)` gives the same numbers another shape. Is that all it takes? Here is a text of 3 places (most texts say
# positions) with 4 features each, for 2 heads. The tens count places, the units features. Head 0 should hold features
# 0 and 1 of every place: 10, 11, then 20, 21, then 30, 31.
#
# **Predict.** We ask for 2 heads of 3 places and 2 features: `small.view(2, 3, 2)`. With which number does the second
# row of head 0 begin?

# %% tags=["prediction"]
prediction = ...

# %%
small = torch.tensor([[10.0, 11.0, 12.0, 13.0], [20.0, 21.0, 22.0, 23.0], [30.0, 31.0, 32.0, 33.0]])
viewed = small.view(2, 3, 2)
compare(prediction, measured=viewed[0, 1, 0].item())
print("head 0 by view alone:", viewed[0].tolist())

# %% [markdown]
# The shape is right, and head 0 knows nothing of the last place. `view` takes the numbers in the order in which they
# lie in memory, place by place, and only draws the lines between them elsewhere. So cut only the last axis, 4 features
# into 2 heads of 2, and then swap two axes with `transpose`:

# %%
cut = small.view(3, 2, 2)  # places, heads, features of a head
print("head 0:", cut.transpose(0, 1)[0].tolist())

# %% [markdown]
# **Exercise.** Now with a batch in front, for any number of heads. (In the annotation, `{n_heads}` is the value of the
# argument.)


# %% id="split_heads" tags=["exercise"]
def split_heads(x: Float[Tensor, "batch n d_model"], n_heads: int) -> Float[Tensor, "batch {n_heads} n d_k"]:
    """Give each head its slice of the features: head i owns columns i d_k to (i + 1) d_k − 1."""
    raise NotImplementedError


# %% id="check-split_heads"
check(split_heads)

# %% [markdown]
# ### The way back
#
# After attention, each place should have its features in one row again. Swap the axes back, then `view`. Here are 2
# heads of 3 places and 2 features, as a matrix product leaves them:

# %%
found = torch.arange(12.0).view(1, 2, 3, 2)  # (batch, n_heads, n, d_k)
back = found.transpose(1, 2)
print("in memory, the numbers lie in the order of the axes:", back.is_contiguous())
try:
    back.view(1, 3, 4)
except RuntimeError as error:
    print("view:", str(error).split("(")[0])

# %% [markdown]
# `transpose` moves no numbers. It only notes in which order the axes are to be read. `view` moves none either, and
# here it would have to. Two ways out: `.contiguous()` copies the numbers into the order of the axes, and `.reshape` is
# a `view` where that is possible, and a copy where it is not.
#
# **Exercise.** Put the heads side by side again.


# %% id="merge_heads" tags=["exercise"]
def merge_heads(x: Float[Tensor, "batch n_heads n d_k"]) -> Float[Tensor, "batch n d_model"]:
    """Put the heads' features side by side again: the inverse of ``split_heads``."""
    raise NotImplementedError


# %% id="check-merge_heads"
check(merge_heads)

# %%
heads = parts.split_heads(q, 4)
print("q", tuple(q.shape), "→ heads", tuple(heads.shape))
print("and back:", torch.equal(parts.merge_heads(heads), q))

# %% [markdown]
# ## What does one head see of x?
#
# You will read that x is cut into pieces, and that each head gets one. We have cut the *projections* of x.
#
# **Predict.** x has 128 features. On how many of them does what head 0 finds depend?

# %% tags=["prediction"]
prediction = ...


# %%
def features_seen(found: Tensor, x: Tensor) -> int:
    """Count the features of x that have a gradient: a change in them would change what was found."""
    x.grad = None
    found.sum().backward()
    return int((x.grad[0] != 0).any(dim=0).sum())


x.requires_grad_()
in_heads = [parts.split_heads(layer(x), 4) for layer in (w_q, w_k, w_v)]
found = parts.scaled_dot_product_attention(*in_heads)  # (batch, n_heads, n, d_k)
compare(prediction, measured=features_seen(found[:, 0], x))
piece = parts.split_heads(x, 4)[:, 0]
print("had x itself been cut:", features_seen(parts.scaled_dot_product_attention(piece, piece, piece), x))

# %% [markdown]
# All of them: every column of a projection is made from all of x. What a head compares is for training to choose. Had
# x been cut, the choice would have been made before training, by the mere order of the features.

# %% [markdown]
# ## The formula
#
# $$\operatorname{MultiHead}(Q, K, V) = \operatorname{Concat}(\text{head}_1, \dots, \text{head}_h)\, W^O$$
#
# $$\text{head}_i = \operatorname{Attention}(Q W_i^Q,\, K W_i^K,\, V W_i^V)$$
#
# | | shape | in our code |
# |---|---|---|
# | $Q$ | (n_query, d_model) | `query`: what asks |
# | $K$, $V$ | (n_key, d_model) | `key`, `value`: what is asked |
# | $W_i^Q, W_i^K, W_i^V$ | (d_model, d_k) each | the share of head i in `w_q`, `w_k`, `w_v` |
# | $\text{head}_i$ | (n_query, d_k) | what head i found: one of the n_heads before `merge_heads` |
# | $W^O$ | (d_model, d_model) | `w_o`: mixes what the heads found |
#
# As in the paper's models, d_v = d_k here. The paper leaves the biases out of the formula, and counts heads from 1,
# where code counts from 0. In self-attention, query, key and value are the same x.

# %% [markdown]
# One argument more: a **mask** says which query may look at which key, by True and False. Where it is False, the score
# is replaced by −∞ before the softmax, so that the weight is 0:
#
# `scores = scores.masked_fill(~mask, -torch.inf)`
#
# (`~mask` turns True and False round.) What masks are good for is lesson 04. A `#` in the annotation means: this size,
# or 1. Masks come ready to be broadcast to the scores, (batch, n_heads, n_query, n_key).
#
# **Exercise.** The layers are given. Write `forward`, which runs when the module is called. `parts.split_heads` and
# `parts.merge_heads` are there. The attention of lesson 02 knows of no mask, so write its steps out: scores, mask,
# softmax, mix. And mind that keys and queries may differ in number.


# %% id="MultiHeadAttention" tags=["exercise"]
class MultiHeadAttention(nn.Module):
    """Let every query attend in several ways at once, each head comparing other features."""

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
# `trace_shapes` runs a module and lists what went into each of its layers and what came out. Here 10 queries, the
# characters of `2021-03-03`, ask the 11 characters of `3 mars 2021`: cross-attention.

# %%
iso = torch.randn(1, 10, 128)
trace_shapes(parts.MultiHeadAttention(128, 4), iso, x, x)

# %% [markdown]
# ## The number of heads is no parameter
#
# The four layers look the same for any number of heads. So the same numbers can be loaded into modules of 1, 2, 4 and
# 8 heads (`load_state_dict` copies all parameters by name).
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
    share = ((a - b).norm() / b.norm()).item()  # how large the difference is beside the output itself
    rows.append((n_heads, 128 // n_heads, sum(p.numel() for p in several.parameters()), share))
compare(prediction, measured="same" if rows[2][3] < 1e-5 else "different")
pd.DataFrame(rows, columns=["heads", "d_k", "parameters", "difference to one head"]).round(1)

# %%
single = one.w_o(parts.scaled_dot_product_attention(one.w_q(x), one.w_k(x), one.w_v(x)))
print("one head is one attention of the projections:", torch.allclose(single, one(x, x, x), atol=1e-5))

# %% [markdown]
# The parameters are the same, the outputs are not. Some texts write $\operatorname{MultiHead}(Q, K, V) =
# \operatorname{Attention}(Q W^Q, K W^K, V W^V)$. Even with a $W^O$ behind it, that holds for one head only: with four,
# each quarter of the columns has attention weights of its own. The number of heads is a decision about how the layers
# are *read*, and a trained model must be read as it was trained.
#
# **Exercise.** Count the parameters. `nn.Linear(a, b)` has a · b weights, and b biases unless it was made with
# `bias=False`.


# %% id="attention_parameters" tags=["exercise"]
def attention_parameters(d_model: int, n_heads: int, bias: bool = True) -> int:
    """Count the parameters of a multi-head attention."""
    raise NotImplementedError


# %% id="check-attention_parameters"
check(attention_parameters)

# %%
sizes = [(512, 1), (512, 8), (512, 64), (1024, 16)]
counts = [f"{parts.attention_parameters(*size):,}" for size in sizes]
pd.DataFrame(counts, index=[f"d_model {d}, {h} heads" for d, h in sizes], columns=["parameters"])

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
with torch.no_grad():  # no gradient is wanted of this
    attention.w_k.bias.fill_(100.0)
change = (attention(x, x, x) - before).abs().max().item()
compare(prediction, measured=round(change, 2))
with torch.no_grad():
    attention.w_q.bias.fill_(100.0)
print(f"and by those of w_q: {(attention(x, x, x) - before).abs().max().item():.1f}")

# %% [markdown]
# With a bias $b$ on the keys, a score is $q \cdot (k + b) = q \cdot k + q \cdot b$. The second term is the same for
# every key, and softmax does not change when all scores of a row grow by the same amount (lesson 01). Some models
# leave this bias out. A bias on the *queries* does matter: it adds $b \cdot k$, which differs from key to key.

# %% [markdown]
# ## One wide layer, or a narrow one for each head?
#
# The formula has matrices $W_i^Q$ for every head. We have one wide `w_q` and cut what comes out. Are these the same?


# %%
def head_by_head(attention: nn.Module, x: Tensor) -> Tensor:
    """Let each head project and attend by itself, as the formula says."""
    d_k = x.shape[-1] // attention.n_heads
    layers = (attention.w_q, attention.w_k, attention.w_v)
    found = []
    for i in range(attention.n_heads):
        own = slice(i * d_k, (i + 1) * d_k)  # torch keeps a row of weights for each column of the output
        q, k, v = (nn.functional.linear(x, layer.weight[own], layer.bias[own]) for layer in layers)
        found.append(parts.scaled_dot_product_attention(q, k, v))
    return attention.w_o(torch.cat(found, dim=-1))


attention = parts.MultiHeadAttention(512, 8)
wide = torch.randn(1, 11, 512)
print("equal:", torch.allclose(head_by_head(attention, wide), attention(wide, wide, wide), atol=1e-5))

# %% [markdown]
# **Predict.** How many times as long does it take head by head, with 8 heads, for our text of 11 characters? (It
# varies from run to run.)

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
compare(prediction, measured=f"{ratios[11]:.1f} times")
print("by length of the text:", {n: round(ratio, 1) for n, ratio in ratios.items()})

# %% [markdown]
# The results are the same, and so is the number of multiplications. Head by head, they come in more and smaller
# portions. On one core of a processor that matters for a short text, and hardly for a long one. (Not measured on a
# GPU.) The wide layer is what everybody uses: in a formula the heads have matrices of their own, in code they are
# slices of one.

# %% [markdown]
# ## What do more heads cost?
#
# No parameters, and no more multiplications: n_heads times as many scores, but each a sum of d_k products only. What
# they cost is memory, n × n scores for each head, and width: the scores of a thin head follow fewer patterns. The
# **rank** of a table is the smallest number of rows from which all its rows can be mixed.
#
# **Predict.** 32 places, d_model = 64, 32 heads of width 2. What is the rank of the 32 × 32 scores of one head?

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
# In a head of width 2, all 32 rows of scores are mixtures of two of them. So there is a choice between few wide heads
# and many thin ones. The paper's authors tried 1 to 32 heads at equal cost: one head was 0.9 BLEU (a score for
# translations) worse than the best number, and with too many it went down again. They took 8.

# %% [markdown]
# ## Naming both neighbours
#
# Every place of a text is to name *two* characters: the one before it and the one after it. In `mars`, the `a` should
# say `m` and `r`. Only the places ask and are asked, so queries and keys are made from a learned vector for each
# place; the values are made from the characters. What the attention gives goes through one linear layer, which scores
# the 15 characters twice: as the left neighbour and as the right one.
#
# (`nn.Embedding(15, 32)` is a table of 15 learned vectors, looked up by number. 15 characters are enough to write
# `3 mars 2021`: ten digits, four letters and the space.)


# %%
class Neighbours(nn.Module):
    """Every place names the character before it and the one after it."""

    def __init__(self, n_heads: int, behind: nn.Module) -> None:
        super().__init__()
        self.places, self.characters = nn.Embedding(11, 32), nn.Embedding(15, 32)
        self.attention = parts.MultiHeadAttention(32, n_heads)
        self.behind = behind  # makes 2 · 15 scores of what was found

    def forward(self, texts: Tensor) -> Tensor:
        places = self.places.weight.expand(len(texts), -1, -1)  # the same in every text
        found = self.attention(places, places, self.characters(texts))
        return self.behind(found).unflatten(-1, (2, 15))[:, 1:-1]  # the first and the last place have one neighbour


# %% [markdown]
# The texts are random, so that no character can be guessed from others. Right is an answer in which both neighbours
# are. The cell below is an ordinary training loop; you can go on without reading it.


# %%
def train(n_heads: int, behind: str = "linear", seed: int = 0, steps: int = 300) -> tuple[Neighbours, Tensor]:
    """Learn to name both neighbours; give the model, and the share of right answers at each step."""
    torch.manual_seed(seed)
    network = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 30))
    model = Neighbours(n_heads, nn.Linear(32, 30) if behind == "linear" else network)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    right = torch.zeros(steps)
    for step in range(steps):
        texts = torch.randint(15, (64, 11))
        wanted = torch.stack([texts[:, :-2], texts[:, 2:]], dim=-1)  # (64, 9, 2): before and after places 1 to 9
        scores = model(texts)  # (64, 9, 2, 15)
        loss = nn.functional.cross_entropy(scores.flatten(0, 2), wanted.flatten())  # −log of the right one's share
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        right[step] = (scores.argmax(dim=-1) == wanted).all(dim=-1).float().mean()
    return model, right


# %% [markdown]
# **Predict.** In which share of the places does *one* head name both neighbours, after 300 steps: near 0.1, 0.5 or
# 0.9? (It takes some seconds.)

# %% tags=["prediction"]
prediction = ...

# %%
kinds = {"1 head": (1,), "2 heads": (2,), "4 heads": (4,), "1 head, then a network": (1, "network")}
runs = {kind: [train(*how, seed=seed) for seed in range(3)] for kind, how in kinds.items()}
final = {kind: [right[-20:].mean().item() for _, right in of_kind] for kind, of_kind in runs.items()}
compare(prediction, measured=f"{min(final['1 head']):.1f} to {max(final['1 head']):.1f}")
curves = {kind: of_kind[0][1].view(-1, 10).mean(dim=1) for kind, of_kind in runs.items()}
ax = plots.lines(range(5, 300, 10), curves, xlabel="step", ylabel="both neighbours right")
rows = []
for kind, [(model, _), *_] in runs.items():
    n_parameters = sum(p.numel() for p in model.parameters())
    rows.append((kind, min(final[kind]), max(final[kind]), n_parameters))
pd.DataFrame(rows, columns=["", "worst run", "best run", "parameters"]).round(1)

# %% [markdown]
# All but the last have the same number of parameters. Two heads learn the task at once, and one does not, nor does it
# in ten times the steps (`train(1, steps=3000)` gets to about 0.2). Why? Its weights for a place are the same in every
# text: α for the left neighbour, β for the right one. So it finds α · left + β · right. A linear layer that scores `m`
# high when it stands on the left does so when it stands on the right, only more or less. The louder of the two
# neighbours tends to win both times, and the other one is mostly missed. It is the 4 from the beginning again.

# %%
texts = torch.randint(15, (500, 11))
named = runs["1 head"][0][0](texts).argmax(dim=-1)  # (500, 9, 2)
right = (named == torch.stack([texts[:, :-2], texts[:, 2:]], dim=-1)).float().mean(dim=(0, 1))
print(f"one neighbour is right in {right.max():.1f} of the places; the other in less than 0.2: {right.min() < 0.2}")
print(f"the same character is named twice in {(named[..., 0] == named[..., 1]).float().mean():.1f} of them")

# %% [markdown]
# A *network* behind the head (two linear layers with a ReLU between them) can tell louder from softer. The last curve
# shows it at work: it undoes the mixing, but more slowly, and not in every run to the end. So this holds for a head and
# a linear layer. Given more layers, a model could do without a second head; with it, the task is easy.
#
# ### What do the two heads look at?
#
# Nobody told them who should look where. We compute their weights once more from the trained layers, and look at them
# for `3 mars 2021` (in this model they are the same for every text).


# %%
def weights_of(model: Neighbours) -> Tensor:
    """Compute the weights of all heads, for the places that have two neighbours: (n_heads, 9, 11)."""
    attention, places = model.attention, model.places.weight[None]
    q = parts.split_heads(attention.w_q(places), attention.n_heads)
    k = parts.split_heads(attention.w_k(places), attention.n_heads)
    return parts.softmax(q @ k.mT / math.sqrt(q.shape[-1]))[0, :, 1:-1].detach()


def where(weights: Tensor) -> pd.DataFrame:
    """Say how much weight each head puts on the left and on the right neighbour."""
    left, right = (weights.diagonal(offset, dim1=1, dim2=2).mean(dim=1) for offset in (0, 2))
    heads = [f"head {i}" for i in range(len(weights))]
    return pd.DataFrame({"to the left": left.tolist(), "to the right": right.tolist()}, index=heads).round(1)


# %%
letters = ["_" if character == " " else character for character in text]
two_heads, _ = runs["2 heads"][0]
axes = plots.heads(weights_of(two_heads), queries=letters[1:-1], keys=letters)
where(weights_of(two_heads))

# %% [markdown]
# One head looks at what comes before, the other at what comes after. This is what is meant by heads that *specialise*.
# Before training nothing of it was there:

# %%
torch.manual_seed(0)
where(weights_of(Neighbours(2, nn.Linear(32, 30))))

# %% [markdown]
# And four heads, for a task that needs two?

# %%
four_heads, _ = runs["4 heads"][0]
axes = plots.heads(weights_of(four_heads), queries=letters[1:-1], keys=letters)
where(weights_of(four_heads))

# %% [markdown]
# Nothing in the loss asks the heads to differ. They differ where that helps: in this run there are two for each
# direction. Are the spare ones worth anything? The ★ section below takes heads away and sees.

# %% [markdown]
# ## Bug hunt
#
# A colleague sends you this version. It runs, and the shape is right. Read it first and decide which line is wrong;
# only then run the check, and mend it.


# %% id="mend-heads" tags=["bug-hunt"]
class AttentionOfAColleague(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, query, key, value, mask=None):
        q = parts.split_heads(self.w_q(query), self.n_heads)
        k = parts.split_heads(self.w_q(key), self.n_heads)
        v = parts.split_heads(self.w_v(value), self.n_heads)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        return self.w_o(parts.merge_heads(parts.softmax(scores) @ v))


# %% id="check-mend-heads"
check(AttentionOfAColleague, "MultiHeadAttention")

# %% [markdown]
# <details><summary>How to find such a bug without a check</summary>
#
# Run it once, go backward, and ask which parameters got no gradient at all: these play no part. The cell below does
# it, and finds two in the colleague's version and none once it is mended. And with the same input three times, the
# scores are mutual again, as without projections.
# </details>

# %%
suspect = AttentionOfAColleague(8, 2)
suspect(*torch.randn(3, 1, 5, 8)).sum().backward()
print("without a gradient:", [name for name, p in suspect.named_parameters() if p.grad is None])

# %% [markdown]
# ## ★ Transfer: what does each head add?
#
# The heads are put side by side and multiplied by $W^O$: `merge_heads(heads) @ w_o.T`. (A `nn.Linear` keeps its
# weights as (outputs, inputs), hence the `.T`.) A matrix product is a sum over the inputs, and each input belongs to
# one head. So the output is a **sum** with one term for each head. Write a function that gives these terms, from
# nothing. `d_merged` is n_heads · d_k.


# %% id="head_contributions" tags=["exercise"]
def head_contributions(
    heads: Float[Tensor, "batch n_heads n d_k"], w_o: Float[Tensor, "d_out d_merged"]
) -> Float[Tensor, "batch n_heads n d_out"]:
    """Give what each head adds to merge_heads(heads) @ w_o.T: the sum over the heads is all of it."""
    raise NotImplementedError


# %% id="check-head_contributions"
check(head_contributions)

# %% [markdown]
# Now silence one head of a trained model: leave out its term, and see how often both neighbours are still right.
#
# **Predict.** The two-headed model is right everywhere. How often without its head 0: near 0.1, 0.5 or 0.9?

# %% tags=["prediction"]
prediction = ...


# %%
def right_without(model: Neighbours, silent: int | None, texts: Tensor) -> float:
    """Measure how often both neighbours are right while one head adds nothing."""
    attention, values = model.attention, model.characters(texts)
    weights = weights_of(model)  # (n_heads, 9, 11)
    found = weights @ parts.split_heads(attention.w_v(values), attention.n_heads)
    added = parts.head_contributions(found, attention.w_o.weight)
    heard = [i for i in range(attention.n_heads) if i != silent]
    scores = model.behind(added[:, heard].sum(dim=1) + attention.w_o.bias).unflatten(-1, (2, 15))
    wanted = torch.stack([texts[:, :-2], texts[:, 2:]], dim=-1)
    return (scores.argmax(dim=-1) == wanted).all(dim=-1).float().mean().item()


# %%
texts = torch.randint(15, (500, 11))
rows = {}
for name, model in {"2 heads": two_heads, "4 heads": four_heads}.items():
    silent = [None, *range(model.attention.n_heads)]
    rows[name] = {"all heads" if i is None else f"without {i}": right_without(model, i, texts) for i in silent}
compare(prediction, measured=round(rows["2 heads"]["without 0"], 1))
pd.DataFrame(rows).T.map(lambda share: "" if math.isnan(share) else f"{share:.1f}")

# %% [markdown]
# Without one of its two heads, the model knows one neighbour and can only guess the other: 1 in 15. In this run with
# four heads none is missed that badly, since another one looks the same way, and one of them is hardly missed at all.
# (Other runs share the work out in other ways: try `runs["4 heads"][1]`.) In large trained models, too, many heads can
# be taken away with little harm (see *What to read next*).

# %% [markdown]
# ## In short
#
# - One head gives each query one average. Several heads give several, each with weights of its own.
# - Queries, keys and values are projections of the input. The *projections* are cut into heads; each head sees all of
#   the input.
# - To cut: `view` the last axis as (n_heads, d_k), then `transpose`. To merge: `transpose`, then `reshape`.
# - The number of heads changes what is computed, but not the parameters: 4 (d_model² + d_model).
# - More heads are thinner heads. Training decides what they look at, and some may do the same.

# %%
query, memory = torch.randn(2, 10, 128), torch.randn(2, 11, 128)
table = trace_shapes(parts.MultiHeadAttention(128, 4), query, memory, memory).drop(columns="class")
heads = parts.split_heads(memory, 4)
functions = [
    ("split_heads", str(tuple(memory.shape)), str(tuple(heads.shape)), 0),
    ("merge_heads", str(tuple(heads.shape)), str(tuple(parts.merge_heads(heads).shape)), 0),
]
print({"batch": 2, "n_query": 10, "n_key": 11, "d_model": 128, "n_heads": 4, "d_k": 32})
table = table.replace({"module": {"": "MultiHeadAttention"}})
pd.concat([table, pd.DataFrame(functions, columns=table.columns)], ignore_index=True)

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
#
# <details><summary>Why several heads?</summary>
#
# A head gives each query one weighted average, in which two things that were looked at cannot be told apart. Several
# heads give several averages, kept apart. (<i>Naming both neighbours</i>)
# </details>
#
# <details><summary>Does each head work on a slice of the input?</summary>
#
# No. It works on a slice of the projections, and each column of these depends on all features of the input. (<i>What
# does one head see of x?</i>: 128 of 128)
# </details>
#
# <details><summary>How does the number of parameters change from 8 heads to 16?</summary>
#
# Not at all, if d_model stays: the heads share four layers of d_model × d_model. Each head gets half as wide.
# (<i>The number of heads is no parameter</i>)
# </details>
#
# <details><summary>Then why not have as many heads as features?</summary>
#
# A head's scores have at most rank d_k (2 of 32 in the cell), so thin heads cannot form every pattern; the paper lost
# quality with 32. And each head has its own n × n table of weights. (<i>What do more heads cost?</i>)
# </details>

# %% [markdown]
# <details><summary>Why is a transpose needed between view and attention?</summary>
#
# `view` keeps the numbers in their order, place by place. Cutting the last axis puts the heads behind the places;
# attention needs places and features as the last two axes. Reshaping straight to (batch, n_heads, n, d_k) gives the
# right shape and the wrong numbers. (<i>Cutting the projections into heads</i>)
# </details>
#
# <details><summary>What is contiguous() for?</summary>
#
# A transposed tensor is only read in another order; its numbers lie where they lay. `view` cannot merge such axes.
# `contiguous()` copies the numbers into the new order; `reshape` does so when it has to. (<i>The way back</i>)
# </details>
#
# <details><summary>What is the output projection for?</summary>
#
# It mixes what the heads found. The output is a sum of one term for each head, each through its own columns of W_O.
# (<i>★ Transfer</i>)
# </details>
#
# <details><summary>Do heads specialise?</summary>
#
# They may: here one looked left and one right, because the task needed both. Nothing forces them to, and spare heads
# may repeat one another. (<i>What do the two heads look at?</i>)
# </details>
#
# <details><summary>Does the bias of the key projection matter?</summary>
#
# No. It adds the same amount to all scores of a query, and softmax does not see that. (Unless the keys are changed by
# their positions on the way, as in lesson 05.) (<i>A bias on the keys</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Vaswani et al. (2017), [arXiv:1706.03762](https://arxiv.org/abs/1706.03762), section 3.2.2, and table 3, rows (A):
#   1 to 32 heads at equal cost.
# - Michel et al. (2019), [arXiv:1905.10650](https://arxiv.org/abs/1905.10650): many heads of trained models can be
#   taken away.
# - `transformer_lab/attention/multi_head.py`: the library's version, with faster kernels.
#
# <details><summary>For instructors</summary>
#
# *Points*: split_heads 2, merge_heads 2, MultiHeadAttention 4, attention_parameters 1; stretch: head_contributions 2.
# The bug hunt is not graded. *Where students stumble*: the right shape with the wrong numbers (let them read the tens
# and units); the length of the keys taken from the queries; d_k, not d_model, under the root; believing that heads
# cost parameters. *To ask in class*: what would the two heads do if every place had to name only its left neighbour?
# Which task needs three heads? Why can one head and a deep network make up for two heads, and what does it cost?
# </details>

# %% [markdown] id="title"
# # 06 · The encoder: layers that can be stacked
#
# **The question.** Pass the eleven characters of `3 mars 2021` through a few untrained attention layers, and all eleven
# vectors become nearly the same. Yet large language models stack dozens of layers. Besides attention, each layer has
# residual connections, norms and a feed-forward network. Delete any of them and the code still runs. So what is each of
# them for?
#
# **Afterwards you can** write both common kinds of layer and the whole encoder, and explain what goes wrong without
# each part, because you have measured it.
#
# Reading: 38 minutes. Exercises: 45 minutes (five core; the stretch ★ takes 15 more). With all predictions, runs and
# questions: about 100 minutes, with a good place to stop half-way. You can skip sections with a ★.

# %% [markdown]
# ## Before you start
#
# Three questions from earlier lessons. Answer each one aloud, then open it.
#
# <details><summary>Lesson 03: what is the shape of self-attention's output for an input of shape (2, 11, 64)?</summary>
#
# (2, 11, 64) again. So its output can be the input of another attention layer.
# </details>
#
# <details><summary>Lesson 04: what does a padding mask hide, and from which queries?</summary>
#
# It hides the padding as *keys*, from every query.
# </details>
#
# <details><summary>Lesson 05: how large are the numbers of a sinusoidal encoding?</summary>
#
# Between −1 and 1, at every position and in every column.
# </details>
#
# The map below shows where we are: this lesson completes the encoder.

# %% id="imports"
import math
import random
import re
from collections.abc import Callable
from datetime import date, timedelta

import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from matplotlib import pyplot as plt
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_course import check, compare, diagrams, hint, parts, plots, solution, tally, views
from transformer_course.stored_models.stored_model import FOLDER
from transformer_lab import initialize, record_attention, trace_shapes
from transformer_lab.data.dates import write_date
from transformer_lab.layers.encoder_layer import EncoderLayer as EncoderLayerWithDropout
from transformer_lab.pretrained.hub import read_json

# %%
_ = torch.manual_seed(6)

# %%
diagrams.architecture.you_are_here(6)

# %% [markdown]
# ## Stacking attention: rank collapse
#
# Here is the problem in one picture. We give each of the eleven characters a random vector of 64 numbers and pass these
# through twelve untrained attention layers. Each row is the vector of one character. The *cosine* in the titles is the
# mean cosine similarity of two different rows.


# %% tags=["hide-input"]
def size(x: Tensor) -> float:
    """Return the root mean square (RMS) of the numbers."""
    return x.square().mean().sqrt().item()


def alike(x: Tensor) -> float:
    """Return the mean cosine of two different positions."""
    directions = F.normalize(x[0], dim=-1)  # each of length 1
    n = len(directions)
    return ((directions @ directions.T).sum().item() - n) / (n * n - n)


def stack(kind: type[nn.Module], depth: int, d_model: int = 64) -> nn.ModuleList:
    layers = nn.ModuleList(kind(d_model, 4, 4 * d_model) for _ in range(depth))  # 4 heads
    initialize(layers)  # small random matrices, and biases of 0
    return layers


# %% id="rank-collapse" tags=["hide-input", "approximate"]
vectors = torch.randn(1, 11, 64)
streams = [vectors]
with torch.no_grad():
    for layer in stack(parts.EncoderLayer, 12):
        streams.append(layer.self_attention(streams[-1], streams[-1], streams[-1]))
axes = plt.subplots(1, 3, figsize=(10, 2.6), sharey=True, layout="constrained")[1]
for ax, n in zip(axes, (0, 2, 12), strict=True):
    rows = (streams[n][0] / size(streams[n])).tolist()  # scaled to one size, so that you can compare the patterns
    ax.imshow(rows, vmin=-2.5, vmax=2.5, cmap="PuOr", aspect="auto", interpolation="nearest")
    ax.set(title=f"after {n} layers, cosine {abs(alike(streams[n])):.1f}", xlabel="feature")
_ = axes[0].set_yticks(range(11), ["_" if c == " " else c for c in "3 mars 2021"])

# %% [markdown]
# After two layers, the picture shows stripes, because the eleven vectors are nearly equal. Attention replaces each
# vector with an average of all vectors, and with every further average the vectors become more alike. This is called
# **rank collapse**, because a matrix with equal rows has rank 1 (Dong et al. and Noci et al., below). A model like this
# cannot distinguish `3` from `mars`.
#
# Two remedies come to mind. We could compute something new at each position with a small network after each attention
# (`"FFN"`; you will write it below). Or we could add the input of each attention to its output (`"sum"`).
#
# **Predict.** Which of the two keeps the positions distinct (a cosine below 0.5) through all twelve layers: `"FFN"`,
# `"sum"`, `"both"` or `"neither"`?

# %% tags=["prediction"]
prediction = ...

# %% tags=["hide-input"]
steps = {
    "attention alone": lambda layer, x: layer.self_attention(x, x, x),
    "FFN": lambda layer, x: layer.feed_forward(layer.self_attention(x, x, x)),
    "sum": lambda layer, x: x + layer.self_attention(x, x, x),
}
layers, curves, sizes = stack(parts.EncoderLayer, 12), {}, {}
with torch.no_grad():
    for name, step in steps.items():
        x, curves[name] = vectors, []
        for layer in layers:
            x = step(layer, x)
            curves[name].append(alike(x))
        sizes[name] = size(x)
apart = [name for name in ("FFN", "sum") if curves[name][-1] < 0.5]
compare(prediction, measured={0: "neither", 2: "both"}.get(len(apart)) or apart[0])
rows = {name: [curve[1], curve[-1], sizes[name]] for name, curve in curves.items()}
pd.DataFrame(rows, index=["cosine after 2", "cosine after 12", "RMS after 12"]).T.round(1)

# %% [markdown]
# An FFN cannot separate vectors that are already equal: it computes the same result for each of them. Adding x helps,
# because each position keeps its own vector. But after twelve layers the positions are alike again. Does this always
# happen, or does it depend on how the matrices are initialized? We try two other initializations:


# %% tags=["hide-input"]
def as_drawn(how: str, kind: type[nn.Module] = parts.EncoderLayer, depth: int = 12) -> nn.ModuleList:
    """Return layers whose matrices are drawn in one of three ways."""
    layers = stack(kind, depth)
    for module in layers.modules():
        if how == "torch's default" and isinstance(module, nn.Linear):
            module.reset_parameters()
        if how == "w_q and w_k × 3" and isinstance(module, parts.MultiHeadAttention):
            for projection in (module.w_q, module.w_k):
                projection.weight.data *= 3
    return layers


# %% id="drawn-in-three-ways" tags=["hide-input"]
drawn_cosines = {}
for how in ("as above", "w_q and w_k × 3", "torch's default"):
    torch.manual_seed(0)
    three = [as_drawn(how) for _ in range(3)]
    drawn_cosines[how] = {}
    with torch.no_grad():
        for name, step in steps.items():
            of_depth = {2: [], 12: []}
            for layers in three:
                x = vectors
                for n, layer in enumerate(layers, start=1):
                    x = step(layer, x)
                    if n in of_depth:
                        of_depth[n].append(alike(x))
            drawn_cosines[how] |= {f"{name}, after {n}": sum(c) / 3 for n, c in of_depth.items()}
pd.DataFrame(drawn_cosines).round(1)

# %% [markdown]
# Attention alone collapses every time. *How fast* depends on the initialization: sharper attention averages less. With
# torch's default, which draws smaller matrices, each layer adds less to x, and the sum keeps the positions distinct
# even after twelve layers. So two things hold in all three cases: attention alone makes the positions alike sooner or
# later, and adding its input delays that.
#
# This sum is a **residual connection** (He et al., 2015). The vectors that run through the stack, and to which each
# part of a layer adds something, are the **residual stream**. The sum has a price: without it the numbers shrank, and
# with it they grow (see the RMS). So a layer also needs a part that controls their size.

# %% [markdown]
# ## LayerNorm
#
# If queries and keys are 20 times as large, their scores are 400 times as large, and the softmax saturates (lesson 02).
# **LayerNorm** gives every vector the same size: subtract the mean of its $d$ numbers and divide by their standard
# deviation. Then scale and shift each feature by learned numbers.
#
# $$\operatorname{LayerNorm}(x)_i = w_i\,\frac{x_i - \mu}{\sqrt{\sigma^2 + \varepsilon}} + b_i, \qquad
# \mu = \frac{1}{d}\sum_j x_j, \quad \sigma^2 = \frac{1}{d}\sum_j (x_j - \mu)^2$$
#
# $x$, $w$ and $b$ have shape (d). The small ε prevents a division by 0. Take (4, 0, 0, 0) and, just this once, ε = 1.
# The mean is 1, so subtracting it leaves (3, −1, −1, −1). The variance is 12/4 = 3, and √(3 + 1) is 2:

# %%
F.layer_norm(torch.tensor([4.0, 0.0, 0.0, 0.0]), (4,), eps=1.0)  # torch's, with w = 1 and b = 0

# %% [markdown]
# **Exercise.** Write LayerNorm for vectors with any number of leading dimensions. `x.mean(dim=-1, keepdim=True)`
# averages over the last dimension and keeps it with length 1, so that you can subtract the result from x. Watch out:
# torch's `var` and `std` divide by d − 1 unless you pass `unbiased=False`.


# %% id="layer_norm" tags=["exercise"]
def layer_norm(
    x: Float[Tensor, "*batch d"], weight: Float[Tensor, " d"], bias: Float[Tensor, " d"], eps: float = 1e-5
) -> Float[Tensor, "*batch d"]:
    """Return every vector with mean 0 and variance 1 over its features, and then each feature scaled and shifted."""
    raise NotImplementedError


# %% id="check-layer_norm"
check(layer_norm)

# %% [markdown]
# ### BatchNorm: the other norm
#
# Networks for images use an older norm, **BatchNorm** (Ioffe and Szegedy, 2015). It has the same formula, but $\mu_i$
# and $\sigma_i^2$ are the mean and variance of one *feature* $i$ over all positions of all examples in the batch.
#
# $$\operatorname{BatchNorm}(x)_i = w_i\,\frac{x_i - \mu_i}{\sqrt{\sigma_i^2 + \varepsilon}} + b_i$$
#
# Let's normalize a sentence alone and then in a batch, either padded or next to another sentence. How much do its own
# numbers change?

# %% tags=["hide-input"]
short, other = torch.randn(1, 5, 64), 2 + torch.randn(1, 5, 64)
batches = {"with padding": F.pad(short, (0, 0, 0, 6)), "next to another": torch.cat([short, other])}
norms = {
    "LayerNorm": lambda x: parts.layer_norm(x, torch.ones(x.shape[-1]), torch.zeros(x.shape[-1])),
    "BatchNorm": lambda x: nn.BatchNorm1d(x.shape[-1])(x.flatten(0, 1)).view(x.shape),
}
changes = {
    name: {how: (norm(batch)[:1, :5] - norm(short)).abs().max().item() for how, batch in batches.items()}
    for name, norm in norms.items()
}
pd.DataFrame(changes).T.round(1)

# %%
diagrams.normalization.blocks(norms)

# %% [markdown]
# The picture shows a batch of three sentences. To normalize the number with the dot, each norm computes its mean and
# variance from the dark cells. So with BatchNorm, padding and other sentences leak into a sentence during training;
# LayerNorm uses only the vector itself. At inference, BatchNorm uses averages that it collected during training.
#
# (BatchNorm also needs large batches: the error of a mean of n numbers only falls as 1/√n.)

# %% [markdown]
# <details><summary>Why does normalization help at all? A contested story</summary>
#
# Ioffe and Szegedy wanted to reduce **internal covariate shift**: while the lower layers learn, the inputs of the
# higher layers keep changing their distribution. Santurkar et al. (2018,
# [arXiv:1805.11604](https://arxiv.org/abs/1805.11604)) tested this. They added random shifts *after* each BatchNorm,
# and training worked about as well as before. They attribute the benefit to a smoother loss landscape. Bjorck et al.
# (2018, [arXiv:1806.02375](https://arxiv.org/abs/1806.02375)) attribute most of the gain to larger learning rates, at
# which training diverges without a norm. You will test that claim for our own layer below. BatchNorm remains common in
# networks for images, where a batch holds many thousands of pixels per feature.
# </details>

# %% [markdown]
# ## The feed-forward network
#
# Attention finds values and averages them. The second half of a layer, the **feed-forward network** (FFN), computes
# something from the result. It expands each vector to $d_\text{ff}$ features (usually 4 d_model: in the paper, 2,048
# for 512), sets the negative ones to 0, and projects back.
#
# $$\operatorname{FFN}(x) = \max(0,\, x W_1 + b_1)\, W_2 + b_2$$
#
# $W_1$ is (d_model, d_ff) and $W_2$ is (d_ff, d_model); our layers call them `w_1` and `w_2`. The maximum is taken
# elementwise. This function is called ReLU, in torch `torch.relu`. Many models use GELU instead, a smooth version:
# $x\,\Phi(x)$, where Φ is the cumulative distribution function of the standard normal. (`nn.Linear` stores its matrix
# transposed.)
#
# **Exercise.** Write `forward`.


# %% id="FeedForward" tags=["exercise"]
class FeedForward(nn.Module):
    """Two linear layers with a ReLU between them."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w_1 = nn.Linear(d_model, d_ff)
        self.w_2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        raise NotImplementedError


# %% id="check-FeedForward"
check(FeedForward)

# %% [markdown]
# Let's change one of eleven vectors. At how many positions does the output change?

# %%
ffn, attention = parts.FeedForward(64, 256), parts.MultiHeadAttention(64, 4)
x = torch.randn(1, 11, 64)
changed = x.clone()
changed[0, 3] += 1.0
for module, f in ((ffn, ffn), (attention, lambda x: attention(x, x, x))):
    moved, n = (f(x) - f(changed)).abs().amax(dim=-1) > 1e-6, sum(p.numel() for p in module.parameters())
    print(f"{type(module).__name__}: {moved.sum()} of 11 positions change; {n:,} parameters")

# %% [markdown]
# The FFN is **position-wise**: it moves no information from one position to another. Yet it holds two thirds of a
# layer's parameters: 2 · 4 · d_model² against 4 · d_model².

# %% [markdown]
# ## Post-norm: the layer of the paper
#
# A layer has two **sublayers**, attention and FFN. Each has a residual connection and a norm. In the drawing, the thick
# line is the residual stream. (Dropout comes later.)

# %%
diagrams.layers.layer(EncoderLayerWithDropout(64, 4, 256, dropout=0.1))

# %% [markdown]
# The paper puts the norm last, after the sum, so this layout is called **post-norm**:
#
# $$x \leftarrow \operatorname{LayerNorm}(x + \operatorname{Attention}(x, x, x)), \qquad
# x \leftarrow \operatorname{LayerNorm}(x + \operatorname{FFN}(x))$$
#
# `nn.LayerNorm(d)` is a module that wraps the function you wrote. It holds the weight and the bias, which start as ones
# and zeros.
#
# **Exercise.** Write `forward`.


# %% id="EncoderLayer" tags=["exercise"]
class EncoderLayer(nn.Module):
    """Attend to all positions, then compute at each; add each output to what was there, and normalize the sum."""

    def __init__(self, d_model: int, n_heads: int, d_ff: int) -> None:
        super().__init__()
        self.self_attention = parts.MultiHeadAttention(d_model, n_heads)
        self.feed_forward = parts.FeedForward(d_model, d_ff)
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)

    def forward(
        self, x: Float[Tensor, "batch n d_model"], mask: Bool[Tensor, "*#batch #n #n"] | None = None
    ) -> Float[Tensor, "batch n d_model"]:
        raise NotImplementedError


# %% id="check-EncoderLayer"
check(EncoderLayer)

# %% [markdown]
# The layer is complete but for dropout. Now we remove its parts, one at a time.
#
# ## Without the FFN, or without its ReLU
#
# The task: memorize 40 · 40 = 1,600 random *facts*. We draw a random answer for each pair of tokens, and the model has
# to predict it at the second position. In 250 steps at a learning rate of 0.01, one layer learns more than 9 of 10
# facts. We compare it with two weakened layers. One has no FFN. The other keeps the FFN with all its parameters but
# loses the ReLU:


# %%
class NoFFN(parts.EncoderLayer):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.norm_1(x + self.self_attention(x, x, x, mask))


class NoReLU(parts.EncoderLayer):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x, ffn = self.norm_1(x + self.self_attention(x, x, x, mask)), self.feed_forward
        return self.norm_2(x + ffn.w_2(ffn.w_1(x)))


# %% [markdown]
# **Predict.** What fraction of the facts does one layer learn in 250 steps without its FFN: near 0.1, 0.5, 0.8 or 1?
# And with an FFN that has no ReLU? (The results are stored with the course, for three seeds each. The folded code
# trained the models.)

# %% tags=["prediction"]
prediction_without_ffn, prediction_without_relu = ..., ...


# %% tags=["hide-input"]
class Stacked(nn.Module):
    """Embed tokens, pass them through layers of one kind, and score every token of the vocabulary."""

    def __init__(self, kind: type[nn.Module], depth: int, vocab_size: int, length: int) -> None:
        super().__init__()
        self.embedding, self.positions = nn.Embedding(vocab_size, 32), parts.sinusoidal_encoding(length, 32)
        self.layers, self.output = stack(kind, depth, 32), nn.Linear(32, vocab_size)
        is_pre_norm = issubclass(kind, parts.PreNormEncoderLayer)
        self.norm = nn.LayerNorm(32) if is_pre_norm else nn.Identity()  # a pre-norm stack ends with a norm
        initialize(self)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens) * 32**0.5 + self.positions
        for layer in self.layers:
            x = layer(x)
        return self.output(self.norm(x))


# %% tags=["hide-input"]
def fit(model: nn.Module, draw, steps: int, rate: float = 0.003, warmup: int = 0) -> None:
    """Train on the tokens and labels that ``draw()`` returns.

    The learning rate rises to ``rate`` over the first ``warmup`` steps and falls to 0 over the last third.
    """
    optimizer = torch.optim.Adam(model.parameters(), fused=True)  # fused: the same, only faster
    for step in range(1, steps + 1):
        optimizer.param_groups[0]["lr"] = rate * min(1.0, step / max(warmup, 1), 3 * (1 - step / steps))
        tokens, labels = draw()
        loss = F.cross_entropy(model(tokens).flatten(0, 1), labels.flatten())  # labels of −100 do not count
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def learn_facts(kind: type[nn.Module], depth: int, seed: int, rate: float = 0.01, steps: int = 250) -> float:
    """Return the fraction of the facts that a model knows after training."""
    torch.manual_seed(seed)
    pairs, answers = torch.cartesian_prod(torch.arange(40), torch.arange(40)), torch.randint(40, (1600,))
    labels = torch.stack([torch.full((1600,), -100), answers], dim=1)  # no label at the first position
    model = Stacked(kind, depth, 40, 2)
    fit(model, lambda: (pairs[some := torch.randint(1600, (256,))], labels[some]), steps, rate)
    return (model(pairs)[:, 1].argmax(dim=-1) == answers).float().mean().item()


# %% id="without-ffn-or-relu" tags=["hide-input", "approximate"]
card = read_json(FOLDER / "stack-runs" / "results.json")  # trained by authoring/train_stack_runs.py
facts = {}  # by kind and setting, a number for each of three seeds
for kind, rate, n_steps, known in card["facts"]:
    facts.setdefault(kind, {})[rate, n_steps] = torch.tensor(known)


def mean_facts(*kinds: str) -> pd.DataFrame:
    """Tabulate the mean over three seeds, with a column for each learning rate and number of steps."""
    means = {kind: {setting: round(known.mean().item(), 2) for setting, known in facts[kind].items()} for kind in kinds}
    table = pd.DataFrame(means).T.rename_axis(columns=["learning rate", "steps"])
    return table.sort_index(axis=1).astype(object).fillna("")


weakened = {part: facts[f"one layer without {part}"][0.01, 250].mean() for part in ("FFN", "ReLU")}
compare(prediction_without_ffn, measured=weakened["FFN"], choices=(0.1, 0.5, 0.8, 1.0))
compare(prediction_without_relu, measured=weakened["ReLU"], choices=(0.1, 0.5, 0.8, 1.0))
mean_facts("one layer", "one layer without FFN", "one layer without ReLU")

# %% [markdown]
# Without its ReLU, the FFN adds next to nothing, even in 1,000 steps, although it keeps all its parameters. Two linear
# layers in a row are equivalent to a single linear layer, $x W_1 W_2$. They need an **activation function** between
# them to compute anything that one linear layer cannot.
#
# <details><summary>Is attention linear, then?</summary>
#
# No: its weights depend on x. But for given weights, its output is a linear function of the values.
# </details>
#
# Would attention do as well with as many parameters? We return to this after pre-norm.

# %% [markdown] id="one-unit-explained"
# ### What does one hidden unit do?
#
# Unit $j$ computes $h_j = \max(0,\, x \cdot w_j + b_j)$, where $w_j$ is row $j$ of `w_1.weight`. It *fires* if x
# matches this pattern. Then it adds $h_j$ times column $j$ of `w_2.weight` to the stream. Which units fire for the fact
# (3, 20)?


# %% id="taken-apart" tags=["hide-input"]
def taken_apart(seed: int) -> tuple[Tensor, Tensor, list[float]]:
    """Train a layer. Return each unit's h, what it adds to the right logit, and the facts right without some units."""
    torch.manual_seed(seed)
    pairs, answers = torch.cartesian_prod(torch.arange(40), torch.arange(40)), torch.randint(40, (1600,))
    labels = torch.stack([torch.full((1600,), -100), answers], dim=1)
    model = Stacked(parts.EncoderLayer, 1, 40, 2)
    fit(model, lambda: (pairs[some := torch.randint(1600, (256,))], labels[some]), 250, 0.01)
    layer, right = model.layers[0], []
    ffn = layer.feed_forward
    with torch.no_grad():
        x = model.embedding(pairs) * 32**0.5 + model.positions
        x = layer.norm_1(x + layer.self_attention(x, x, x))[:, 1]
        h = torch.relu(ffn.w_1(x))  # (1600, 128)
        scale = (x + ffn.w_2(h)).std(dim=-1, unbiased=False, keepdim=True)  # by which norm_2 divides
        written = (ffn.w_2.weight - ffn.w_2.weight.mean(dim=0)).T * layer.norm_2.weight  # (128, 32), after norm_2
        read = (model.output.weight - model.output.weight.mean(dim=0))[answers]  # (1600, 32): against the mean logit
        added = h * (read @ written.T) / scale
        in_random_order = torch.where(h > 0, torch.rand(1600, 128), -1.0)
        for removed in (added.topk(0), added.topk(3), in_random_order.topk(3)):
            logits = model.output(layer.norm_2(x + ffn.w_2(h.scatter(1, removed.indices, 0.0))))
            right.append((logits.argmax(dim=-1) == answers).float().mean().item())
    return h, added, right


# %% id="one-unit" tags=["hide-input", "words-only"]
of_seeds = [taken_apart(seed) for seed in range(3)]
h, added, _ = of_seeds[0]
fact, n_facts = 3 * 40 + 20, (h > 0).sum(dim=0)  # for how many facts each unit fires
best = added[fact].topk(5).indices
axes = plt.subplots(1, 3, figsize=(10, 3.4), sharey=True, layout="constrained")[1]
for ax, unit in zip(axes, best.tolist()):
    ax.imshow(h[:, unit].view(40, 40), cmap="Blues")
    ax.set(title=f"$h$ of unit {unit}", xlabel="second token")
_ = axes[0].set_ylabel("first token")
firing = [(h > 0).float().sum(dim=-1).mean().item() for h, *_ in of_seeds]
print("units of 128 that fire for a fact, on average, by seed:", [round(n) for n in firing])
without = {"all units": 0, "without the 3 units that add most to each": 1, "without 3 random ones that fire": 2}
facts_right = {name: [right[i] for *_, right in of_seeds] for name, i in without.items()}
print("facts right, by seed:", {name: [round(r, 2) for r in three] for name, three in facts_right.items()})
columns = {"unit": best, "h": h[fact, best], "added to the right logit": added[fact, best], "facts": n_facts[best]}
pd.DataFrame({name: [round(n, 1) for n in numbers.tolist()] for name, numbers in columns.items()})

# %% [markdown] id="half-way"
# Nearly a third of the 128 units fire for a fact, and each unit fires for hundreds of facts. Remove the three that add
# most to the right logit, and hardly any fact is left; three random ones that fire matter far less. So each fact
# depends mostly on a few units, and every unit serves many facts.
#
# ---
#
# **Half-way.** This is a good place to stop for today.

# %% [markdown]
# ## Without the sums, the norms, or both
#
# Residual connections are said to keep gradients from vanishing. But which part does that, the sums or the norms? We
# build untrained stacks of 24 layers with both, with either one and with neither, and run one backward pass for random
# labels. Then we look at two gradients: the gradient at the vectors x after each layer, which travels back through the
# stack, and the gradient at `w_q`, which trains a layer's queries.
#
# **Predict.** With norms but no sums, does the gradient at x `"grow"` or `"vanish"` by more than a factor of 1,000 from
# the last layer back to the first, or does it `"keep"` its size?

# %% tags=["prediction"]
prediction_norms_only = ...


# %%
class NormsOnly(parts.EncoderLayer):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.norm_2(self.feed_forward(self.norm_1(self.self_attention(x, x, x, mask))))


class SumsOnly(parts.EncoderLayer):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = x + self.self_attention(x, x, x, mask)
        return x + self.feed_forward(x)


class Neither(parts.EncoderLayer):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.feed_forward(self.self_attention(x, x, x, mask))


# %% tags=["hide-input"]
def measure(kind: type[nn.Module], seed: int, depth: int = 24, how: str = "as above") -> dict[str, Tensor]:
    """Measure each layer: how alike positions are after it, their RMS, and the gradients at x and `w_q`."""
    torch.manual_seed(seed)
    layers, output = as_drawn(how, kind, depth), nn.Linear(64, 20)
    x, labels, streams = torch.randn(8, 11, 64), torch.randint(20, (88,)), []
    for layer in layers:
        x = layer(x)
        x.retain_grad()
        streams.append(x)
    if issubclass(kind, parts.PreNormEncoderLayer):
        x = F.layer_norm(x, (64,))  # the norm at the end of a pre-norm stack
    F.cross_entropy(output(x).flatten(0, 1), labels).backward()
    measured = {
        "cosine": [alike(x.detach()) for x in streams],
        "RMS": [size(x.detach()) for x in streams],
        "x": [x.grad.norm() for x in streams],
        "w_q": [layer.self_attention.w_q.weight.grad.norm() for layer in layers],
    }
    return {name: torch.tensor(numbers) for name, numbers in measured.items()}


def three_runs(kind: type[nn.Module]) -> dict[str, Tensor]:
    """Measure with three seeds; return each measure as (3, 24)."""
    runs = [measure(kind, seed) for seed in range(3)]
    return {what: torch.stack([run[what] for run in runs]) for what in runs[0]}


# %% id="four-stacks" tags=["hide-input"]
def on_its_way_back(name: str) -> str:
    """Return what happens to the gradient at x between the last layer and the first, with all three seeds."""
    factors = found[name]["x"][:, 0] / found[name]["x"][:, -1]
    ways = {"grow": factors > 1000, "vanish": factors < 0.001, "keep": (factors > 0.001) & (factors < 1000)}
    return next((way for way, runs in ways.items() if runs.all()), "not the same with every seed")


kinds = {"sums and norms": parts.EncoderLayer, "norms only": NormsOnly, "sums only": SumsOnly, "neither": Neither}
found = {name: three_runs(kind) for name, kind in kinds.items()}
compare(prediction_norms_only, measured=on_its_way_back("norms only"))


# %% tags=["hide-input", "nbval-ignore-output"]
def spread(numbers: Tensor) -> str:
    """Return the smallest and the largest of three runs, with one digit each."""
    least, largest = f"{numbers.min():.1g}", f"{numbers.max():.1g}"
    return least if least == largest else f"{least} to {largest}"


def measures(name: str) -> dict[str, str]:
    """Return the numbers of one kind of stack."""
    lines = {f"cosine after {n}": spread(found[name]["cosine"][:, n - 1]) for n in (2, 24)}
    lines["RMS after 24"] = spread(found[name]["RMS"][:, -1])
    for where, layer in [("x", 1), ("x", 24), ("w_q", 1), ("w_q", 5), ("w_q", 24)]:
        lines[f"gradient at {where}, layer {layer}"] = spread(found[name][where][:, layer - 1])
    return lines


pd.DataFrame({name: measures(name) for name in found})

# %% tags=["hide-input", "words-only"]
for where in ("x", "w_q"):
    names = list(kinds) if where == "x" else ["sums and norms", "norms only"]
    ax = plots.lines(
        range(1, 25), {name: found[name][where] for name in names}, xlabel="layer", ylabel=f"gradient at {where}",
        legend_beside=True,
    )  # fmt: skip
    ax.set_yscale("log")

# %% [markdown]
# - **Norms only.** The gradient at x (first plot) keeps its size, even without sums. But at `w_q` (second plot) the
#   gradient vanishes from the fifth layer on: the positions have become equal, and no query can change an average of
#   equal vectors. (Larger `w_q` and `w_k` only delay this.)
# - **Sums only.** The numbers grow to tens of thousands, and the gradient at x explodes on its way back. At the last
#   `w_q` no gradient is left, probably because such large scores saturate the softmax.
# - **Neither.** Numbers and gradients both shrink, in the end to less than 0.00001.

# %% [markdown]
# So sums and norms solve two different problems. Norms keep numbers *and gradients* at one size. Sums keep the
# positions distinct for longer, and so preserve the gradients that depend on differences between positions. We measured
# all this before training, at depth 24 and with one initialization; below, we try another.

# %% [markdown]
# ## Pre-norm: moving the norm
#
# In our stack with sums *and* norms, all positions are alike after 24 untrained layers, and the gradient at the last
# `w_q` is below 0.00001. A likely reason is that each norm scales down everything that was added before it, so little
# is left of a position's own vector. Most newer models use **pre-norm**: they normalize the *input* of each sublayer
# and leave the sum alone:
#
# $$x \leftarrow x + \operatorname{Sublayer}(\operatorname{LayerNorm}(x))$$
#
# Now the residual stream passes through the whole stack, and layers only add to it. Nothing normalizes the last sum, so
# a pre-norm stack has one more norm at its end.
#
# <details><summary>Which layout did the authors of the paper use?</summary>
#
# The paper describes post-norm. Within weeks the authors moved the norm in their own code without changing the paper. A
# maintainer of the Annotated Transformer explains this in
# [issue 92](https://github.com/harvardnlp/annotated-transformer/issues/92), with a link to the commit.
# </details>
#
# **Exercise.** Write this layer. Queries, keys and values all come from the normalized x.


# %% id="PreNormEncoderLayer" tags=["exercise"]
class PreNormEncoderLayer(nn.Module):
    """Attend to all positions, then compute at each; normalize the input of each sublayer, and only add its output."""

    def __init__(self, d_model: int, n_heads: int, d_ff: int) -> None:
        super().__init__()
        self.self_attention = parts.MultiHeadAttention(d_model, n_heads)
        self.feed_forward = parts.FeedForward(d_model, d_ff)
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)

    def forward(
        self, x: Float[Tensor, "batch n d_model"], mask: Bool[Tensor, "*#batch #n #n"] | None = None
    ) -> Float[Tensor, "batch n d_model"]:
        raise NotImplementedError


# %% id="check-PreNormEncoderLayer"
check(PreNormEncoderLayer)

# %%
diagrams.layers.layers(parts.EncoderLayer(64, 4, 256), parts.PreNormEncoderLayer(64, 4, 256))

# %% [markdown]
# The thick line is the residual stream. Post-norm has its norms on it; pre-norm has them next to it. So in pre-norm,
# the normalized x must not *replace* x. The first version of PyTorch's own pre-norm layer made this mistake ([issue
# 61165](https://github.com/pytorch/pytorch/issues/61165), 2021). It ran, but it lost the residual stream:


# %%
class CutStream(parts.PreNormEncoderLayer):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.norm_1(x)
        x = x + self.self_attention(x, x, x, mask)
        x = self.norm_2(x)
        return x + self.feed_forward(x)


diagrams.layers.layer(CutStream(64, 4, 256))

# %% [markdown]
# ### How deep can each be stacked?
#
# We measure two more untrained stacks of 24 layers as before, one pre-norm and one `CutStream`.
#
# **Predict.** Which layout does `CutStream` resemble: `"post-norm"` or `"pre-norm"`?

# %% tags=["prediction"]
prediction = ...

# %% id="pre-norm-measured" tags=["hide-input", "nbval-ignore-output"]
found |= {"pre-norm": three_runs(parts.PreNormEncoderLayer), "CutStream": three_runs(CutStream)}
at_the_end = {name: found[name]["w_q"][:, -1].log10().mean() for name in ("sums and norms", "pre-norm", "CutStream")}
away = {name: abs(at_the_end["CutStream"] - at_the_end[name]) for name in ("sums and norms", "pre-norm")}
compare(prediction, measured="post-norm" if away["sums and norms"] < away["pre-norm"] else "pre-norm")
columns = {"post-norm": "sums and norms", "pre-norm": "pre-norm", "CutStream": "CutStream"}
pd.DataFrame({column: measures(name) for column, name in columns.items()})

# %% [markdown]
# In pre-norm the gradient at `w_q` stays above 0.001, and the positions do not become completely alike. The price is
# that x grows, so each further layer adds an ever smaller fraction of x. `CutStream` loses these advantages. Write out
# the steps of its layers: norm, sum, norm, sum, norm, sum … From the first sum on, a stack of these layers *is*
# post-norm.

# %% [markdown]
# Does all this depend on the initialization? We measured the same stacks with smaller matrices, as torch draws them by
# default, at two depths. (The table is stored; it shows the smallest and the largest of three seeds.)

# %% id="default-matrices" tags=["hide-input"]
smaller = {}
for name, depth, found_at_end in card["default_matrices"]:  # from measure(kind, seed, depth, "torch's default")
    for what, column in {"cosine": "cosine", "RMS": "RMS", "w_q": "gradient at the last w_q"}.items():
        least, largest = f"{min(found_at_end[what]):g}", f"{max(found_at_end[what]):g}"
        of_three = least if least == largest else f"{least} to {largest}"
        smaller.setdefault(name, {})[f"{depth} layers", column] = of_three
pd.DataFrame(smaller).transpose()

# %% [markdown]
# With these matrices, 24 layers are too few to tell post-norm from pre-norm. At 96 layers, they show what our matrices
# showed at 24. So for stacks with norms, the initialization decides when something goes wrong, not what. Sums alone
# fail differently: with our matrices, the last `w_q` gets no gradient. With torch's, the gradient there grows with the
# depth.

# %% [markdown]
# ### Warm-up
#
# Now we train stacks of eight layers to predict, at each position of a random text, the token *before* it. Pre-norm
# learns this in 200 steps. We give post-norm 1,000 steps, with and without **warm-up**: a learning rate that rises
# slowly, here over the first 300 steps and in the paper over 4,000. The paper gives no reason for it. Xiong et al.
# (2020) later connected warm-up with post-norm.
#
# **Predict.** What is the loss of the post-norm stack at a learning rate of 0.003, without warm-up and with it: nearest
# to 0, 1, 2 or 2.8 (which is log 16, the loss of guessing one of 16 tokens)? (Median of three seeds.)

# %% tags=["prediction"]
prediction_no_warmup, prediction_warmup = ..., ...


# %% tags=["hide-input"]
def draw_texts() -> tuple[Tensor, Tensor]:
    """Return 32 random texts of 11 tokens, and the token before each position as its label."""
    tokens = torch.randint(16, (32, 11))
    return tokens, F.pad(tokens[:, :-1], (1, 0), value=-100)


def name_the_token_before(
    kind: type[nn.Module], depth: int, seed: int, rate: float = 0.003, steps: int = 1000, warmup: int = 0
) -> float:
    """Train a stack to name the token before each position; return its loss on 20 new batches."""
    torch.manual_seed(seed)
    model = Stacked(kind, depth, 16, 11)
    fit(model, draw_texts, steps, rate, warmup)
    tokens, labels = map(torch.cat, zip(*(draw_texts() for _ in range(20))))
    with torch.no_grad():
        return F.cross_entropy(model(tokens).flatten(0, 1), labels.flatten()).item()


# %% id="warm-up" tags=["hide-input", "approximate"]
SEEDS = ["seed 0", "seed 1", "seed 2"]
SETTING = ["layout", "layers", "learning rate", "steps", "warm-up"]
ends = {tuple(setting): losses for *setting, losses in card["runs"]}
warmed = {n: torch.tensor(ends["post-norm", 8, 0.003, 1000, n]).median().item() for n in (0, 300)}
compare(prediction_no_warmup, measured=warmed[0], choices=(0, 1, 2, 2.8))
compare(prediction_warmup, measured=warmed[300], choices=(0, 1, 2, 2.8))
pd.DataFrame([[*setting, *losses] for setting, losses in ends.items()], columns=[*SETTING, *SEEDS]).set_index("layout")

# %% [markdown]
# Without warm-up, eight post-norm layers end near the loss of guessing; with warm-up, they learn the task. A third of
# the learning rate doesn't replace warm-up: the loss ends near 2. It also depends on the depth: four post-norm layers
# need no warm-up, and twelve end near 2 even with it. Pre-norm learns the task in 200 steps with eight layers and no
# warm-up, but not at a third of the rate. (Large pre-norm models are trained with warm-up, too.)
#
# What goes wrong in the first steps? The view shows runs of 200 steps. Each panel has a curve for each stack, layer by
# layer. Look at *gradient at w_2*, top right, press *train*, and then change the number of layers.

# %%
at_first = views.ResidualStream(depth=12, step=0).numbers["post-norm, no warm-up"]
print(f"gradient at w_2 of the first layer, post-norm without warm-up, at step 0: {at_first['gradient']:.1f}")
views.ResidualStream(depth=12, step=10)

# %% [markdown]
# Post-norm without warm-up (blue, dashed) loses its gradient: at the first `w_2` it falls from 1.1 to 0.0005 in ten
# steps and does not recover (press *train*: 0.00001 after 200 steps, and 0.04 with warm-up). Positions that are alike
# do not explain this: at first, the positions of pre-norm (orange, dashed) are alike, too.
#
# <details><summary>Why does warm-up help?</summary>
#
# According to Xiong et al., post-norm has large gradients in its last layers, so it needs a small learning rate at
# first. Liu et al. disagree, because Adam takes steps of about the same size whatever the gradient. In their
# explanation, no layer's contribution shrinks in a post-norm stack, so one update changes the output too much. (We
# tested neither explanation.)
# </details>
#
# <details><summary>Then why did anyone keep post-norm?</summary>
#
# When post-norm does train, it is often reported to reach slightly better results: Liu et al. found this in
# translation. In pre-norm, x grows and the upper layers add little to it, so some of them can be removed with little
# harm (Gromov et al.). Published post-norm weights, such as BERT's, also only work in a post-norm layer. Later layouts
# try to combine both advantages: DeepNorm (Wang et al., 2022, [arXiv:2203.00555](https://arxiv.org/abs/2203.00555)) is
# post-norm with a scaled-up x, and the lesson on architectures shows norms *after* a sublayer. On our small tasks,
# post-norm showed no advantage.
# </details>

# %% [markdown]
# ## The stack
#
# The encoder looks up each token in an `nn.Embedding`, which holds one learned vector per token. It multiplies this
# vector by √d_model, adds the positions, and passes the sum through the layers. The result is the *memory* on the map.
# Why √d_model? The paper does not say. Our library, like many, initializes embeddings with variance 1/d_model (lesson
# 08 explains why). Here is the cosine of two *different* characters at the same position, without the factor and with
# it:

# %% tags=["hide-input"]
embedding = nn.Embedding(60, 512)
initialize(embedding)  # the library's way: with variance 1/d_model
embedded, positions = embedding(torch.arange(11)), parts.sinusoidal_encoding(11, 512)
for name, factor in {"without the factor": 1.0, "times √512": 512**0.5}.items():
    cosine = torch.cosine_similarity(*(factor * embedded[:2] + positions[3]), dim=0).item()
    print(f"{name}: RMS {size(factor * embedded):.2f} (positions {size(positions):.2f}), cosine {cosine:.1f}")

# %% [markdown]
# Without the factor, the positions drown out the embeddings.
#
# We keep the layers in an `nn.ModuleList`, a list that torch searches for parameters. Torch does not train or save
# parameters that it cannot find. Another trap: `[layer] * 6` is the *same* layer six times. The parameter counts show
# both mistakes:

# %%
layer, plain = parts.EncoderLayer(64, 4, 256), nn.Module()
plain.layers = [parts.EncoderLayer(64, 4, 256) for _ in range(6)]
stacks = {"ModuleList([layer] * 6)": nn.ModuleList([layer] * 6), "six layers in a plain list": plain}
for name, model in {**stacks, "six layers in a ModuleList": stack(parts.EncoderLayer, 6)}.items():
    print(f"{name}: {sum(p.numel() for p in model.parameters()):,}")

# %% [markdown]
# **Exercise.** Write the encoder's `forward`. `positions` is a **buffer**: it is part of the model but is not trained.
# Pass the mask to every layer. `self.embedding.embedding_dim` is d_model.


# %% id="Encoder" tags=["exercise"]
class Encoder(nn.Module):
    """Embed tokens, add their positions, and pass them through a stack of post-norm layers."""

    positions: Tensor

    def __init__(self, vocab_size: int, d_model: int, n_heads: int, d_ff: int, n_layers: int, max_length: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.register_buffer("positions", parts.sinusoidal_encoding(max_length, d_model), persistent=False)
        self.layers = nn.ModuleList(parts.EncoderLayer(d_model, n_heads, d_ff) for _ in range(n_layers))

    def forward(
        self, tokens: Int[Tensor, "batch n"], mask: Bool[Tensor, "*#batch #n #n"] | None = None
    ) -> Float[Tensor, "batch n d_model"]:
        raise NotImplementedError


# %% id="check-Encoder"
check(Encoder)

# %% [markdown]
# ## FFN or more attention?
#
# Back to the 1,600 facts. Three layers of attention without an FFN have as many parameters as one layer with its FFN.
# Which learns more? The table shows means over three seeds.


# %% tags=["hide-input"]
class PreNormNoFFN(parts.PreNormEncoderLayer):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        normed = self.norm_1(x)
        return x + self.self_attention(normed, normed, normed, mask)


# %% [markdown]
# **Predict.** In 250 steps at a learning rate of 0.01, which learns more facts in post-norm, `"one layer"` or `"three
# attention layers"`? And at 0.003?

# %% tags=["prediction"]
better_at_high_rate, better_at_low_rate = ..., ...

# %% id="ffn-or-attention" tags=["hide-input", "approximate"]
better = {}
for rate in (0.003, 0.01):
    better[rate] = max(("one layer", "three attention layers"), key=lambda kind: facts[kind][rate, 250].mean())
compare(better_at_high_rate, measured=better[0.01])
compare(better_at_low_rate, measured=better[0.003])
kinds_of_two_layouts = [
    kind + layout for layout in ("", ", pre-norm") for kind in ("one layer", "three attention layers")
]
mean_facts(*kinds_of_two_layouts, "one layer, sums only")

# %% [markdown]
# In 250 steps, the answer depends on the learning rate, in both layouts. At 0.01 one post-norm layer wins, 0.94 against
# 0.83. At a third of that rate, the three attention layers win in both layouts. In 1,000 steps at 0.01, all of them
# learn everything. So this was a race, not a limit: it is no evidence that FFNs store facts better than attention does.
# (Geva et al., below, look at what the FFNs of trained models store.) But an FFN is a simple way to add parameters.

# %% [markdown]
# The table also shows what norms do. A single layer needs none: at a learning rate of 0.01, with sums only it learns
# 0.97 of the facts in 250 steps. But at 0.03 it falls to 0.54, while pre-norm still learns 0.89. So norms do allow
# larger learning rates, if they are in the right place: post-norm falls to 0.43.

# %% [markdown]
# ## Dropout
#
# One part of the paper's layer is still missing, and it is active only in training. **Dropout** sets a random tenth of
# the numbers to 0: in the output of each sublayer, and in the sums of embeddings and positions. Then no feature can
# rely on another one, which makes it harder to memorize the training texts. `nn.Dropout(0.1)` drops numbers only in
# `train()` mode, and divides those it keeps by 0.9. That preserves the mean, so `eval()` needs no correction.

# %% tags=["hide-input"]
dropout, ones = nn.Dropout(0.1), torch.ones(10_000)
dropped = dropout(ones)
print(f"train(): zeros {(dropped == 0).float().mean():.2f}, mean {dropped.mean():.2f}, largest {dropped.max():.2f}")
dropped = dropout.eval()(ones)
print(f"eval():  zeros {(dropped == 0).float().mean():.2f}, mean {dropped.mean():.2f}, largest {dropped.max():.2f}")

# %% [markdown]
# ## Bug hunt
#
# A colleague sends you a pre-norm layer that handles both sublayers in one loop. Its parameters have the same names and
# shapes as yours, and it trains. But when she adds padding to a text, the outputs at the real positions change,
# although her mask hides the padding. Decide which line is wrong *before* you run the check. Then write a corrected
# version, `Mended`, in the cell below the code.


# %% tags=["bug-hunt"]
class LayerOfAColleague(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attention = parts.MultiHeadAttention(d_model, n_heads)
        self.feed_forward = parts.FeedForward(d_model, d_ff)
        self.norm_1, self.norm_2 = nn.GroupNorm(1, d_model), nn.GroupNorm(1, d_model)

    def forward(self, x, mask=None):
        def attend(normed):
            return self.self_attention(normed, normed, normed, mask)

        for norm, sublayer in ((self.norm_1, attend), (self.norm_2, self.feed_forward)):
            x = x + sublayer(norm(x.mT).mT)
        return x


# %% id="mend-layer"
Mended = LayerOfAColleague

# %% id="check-mend-layer"
check(Mended, "PreNormEncoderLayer", save=False)

# %% [markdown]
# <details><summary>How to find such a bug without a check</summary>
#
# Ask which operations combine vectors of different positions. Only attention should, and it has the mask. PyTorch's
# documentation calls `GroupNorm` with one group "equivalent with LayerNorm", but that means a LayerNorm over channels
# *and* positions: one mean and one variance for the whole text, padding included. (`.mT` swaps the last two dimensions,
# since `GroupNorm` expects the channels first.) Images have no padding, so there it does no harm. The next cell pads
# the eleven vectors with five zero vectors and hides those from attention.
# </details>

# %%
padded, mask = F.pad(vectors, (0, 0, 0, 5)), torch.arange(16) < 11
for name, kind in {"the colleague's": LayerOfAColleague, "yours or the library's": parts.PreNormEncoderLayer}.items():
    layer = kind(64, 4, 256)
    difference = (layer(padded, mask)[:, :11] - layer(vectors)).abs().max().item()
    print(f"{name}: padding changes the outputs at the real positions by up to {difference:.2f}")

# %% [markdown]
# ## An encoder alone: filling gaps
#
# So far we have removed each part except attention, one at a time. Now we remove half of the attention. We hide some
# characters of dates in four languages and train an encoder to predict the hidden characters. This is a **masked
# language model**. BERT was trained like this on ordinary text, with pieces of words as tokens. Such training, before
# any task, is **pretraining**; further training on the labels of a task is **fine-tuning**.
#
# <details><summary>Why did BERT predict 15 % of the tokens, and hide only 80 % of those?</summary>
#
# Each training step learns only from the tokens that are predicted, so hiding a small fraction wastes computation, and
# hiding a large fraction leaves too little context. BERT chose 15 % of the tokens. The texts of a later task contain no
# gaps, so a model that only ever has to fill gaps might ignore visible tokens. BERT therefore hid 80 % of the chosen
# tokens, replaced 10 % by random ones, and left 10 % as they were.
# </details>

# %% tags=["hide-input"]
days = [date(2000, 1, 1) + timedelta(days=n) for n in range(0, 9000, 7)]
texts = [write_date(day, language, "long") for day in days for language in ("fr", "de", "it", "en_GB")]
texts = random.Random(6).sample(texts, len(texts))  # in random order
CHARACTERS = ["·", "?", *sorted(set("".join(texts)))]  # token 0 is padding, token 1 a gap
LENGTH = max(map(len, texts))


def encode(texts: list[str]) -> Tensor:
    return torch.tensor([[CHARACTERS.index(c) for c in text.ljust(LENGTH, "·")] for text in texts])


tests, training = encode(texts[:500]), encode(texts[500:])
print(f"{len(texts)} texts, such as {texts[:3]}; 3 mars 2021 occurs {texts.count('3 mars 2021')} times")


# %% tags=["hide-input"]
class GapFiller(nn.Module):
    def __init__(self, make_mask) -> None:
        super().__init__()
        self.make_mask = make_mask
        self.encoder = parts.Encoder(len(CHARACTERS), 48, 4, 192, 2, LENGTH)
        self.output = nn.Linear(48, len(CHARACTERS))
        initialize(self)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.output(self.encoder(tokens, self.make_mask(tokens, 0)))


def draw_gaps() -> tuple[Tensor, Tensor]:
    """Hide some characters; only these have labels."""
    batch = training[torch.randint(len(training), (32,))]
    gaps = (torch.rand(batch.shape) < 0.15) & (batch != 0)
    return batch.masked_fill(gaps, 1), batch.masked_fill(~gaps, -100)


# %% [markdown]
# In held-out texts we hide the first letter of the month. The model that attends in both directions predicts it
# correctly in about 8 of 10 texts. A second model uses the causal mask of lesson 04, so it attends only to the current
# and earlier positions.
#
# **Predict.** What can the second model know from `12. `? In what fraction of the texts does it predict the letter
# correctly: near 0.1, 0.4 or 0.8? (Three stored runs of each.)

# %% tags=["prediction"]
prediction = ...

# %% tags=["hide-input"]
text_rows = torch.arange(500)
months_at = torch.tensor([re.search(r"[^\W\d]{3,}", text).start() for text in texts[:500]])  # three letters: a month
wanted_letters = tests[text_rows, months_at]
questions = tests.index_put((text_rows, months_at), torch.tensor(1))


def fill_gaps(make_mask, seed: int, steps: int = 300) -> tuple[GapFiller, float]:
    """Train a model; return it, and the fraction of the months whose first letter it finds."""
    torch.manual_seed(seed)
    model = GapFiller(make_mask)
    fit(model, draw_gaps, steps, warmup=50)
    letters = model(questions)[text_rows, months_at].argmax(dim=-1)
    return model, (letters == wanted_letters).float().mean().item()


# %% id="gaps-filled" tags=["hide-input", "approximate"]
right = {(mask, n_steps): fractions for mask, n_steps, fractions in card["gaps"]}  # three seeds for each
compare(prediction, measured=sum(right["only back", 300]) / 3, choices=(0.1, 0.4, 0.8))
before = [re.sub(r"\d", "", text[:at]) for text, at in zip(texts, months_at.tolist())]  # such as ". ", in German
best = pd.Series(wanted_letters.tolist()).groupby(before).agg(lambda letters: letters.value_counts().max())
print(f"always guessing the most common letter: {wanted_letters.bincount().max() / 500:.2f}")
print(f"the most common letter after the same characters, whatever the digits: {best.sum() / 500:.2f}")
pd.DataFrame(right, index=SEEDS).T.rename_axis(["attends", "steps"]).round(2)

# %% [markdown]
# What does the first model write into the gap of `3 ?ars 2021`, and what does it attend to?


# %% tags=["hide-input"]
def attention_of_the_gap(model: GapFiller) -> tuple[str, Tensor]:
    """Return the letter that the model fills in, and the weights of the gap's query in the last layer, by head."""
    with record_attention(model) as weights, torch.no_grad():
        letter = CHARACTERS[int(model(encode(["3 ?ars 2021"]))[0, 2].argmax())]
    return letter, weights["encoder.layers.1.self_attention"][0, :, 2, :11]


# %% id="gap-attention" tags=["hide-input"]
print("filled in by the three models (300 steps): " + ", ".join(f"3 {letter}ars 2021" for [letter] in card["letters"]))
heads = torch.tensor(card["heads"])  # attention_of_the_gap(model) for the model with seed 2
letters = ["_" if c == " " else c for c in "3 ?ars 2021"]
ax = plots.weights(heads, [f"head {i}" for i in range(4)], letters, ylabel="the query ?, by head")
print("weight on what comes after the gap, by head:", [round(w, 1) for w in heads[:, 3:].sum(dim=-1).tolist()])

# %% [markdown]
# The letters that distinguish the months come after the gap, and at least one head of the first model attends to them.
# The second model sees only `3 `. (After `12. ` it could know a little: only the German texts have the dot, so the
# letter is a capital, most often J.) The best guess that ignores the digits is right in 0.15; 300 steps find 0.12,
# and four times the steps no more than that best guess. Only attention moves information between positions, so what the
# mask hides is out of reach.

# %% [markdown]
# ## ★ Transfer: has a layer lost its stream?
#
# You get a layer whose code you cannot read. It should be pre-norm: two sublayers, each of which reads a normalized
# input and adds its output to x. But one of the sums may be missing, or contain the normalized x, or only half of x.
# All you can do is call the layer on vectors of your choice.
#
# **Exercise.** Design a test and write it. First find a change to x that a norm removes but a residual sum preserves.


# %% id="keeps_the_stream" tags=["exercise"]
def keeps_the_stream(layer: Callable[[Tensor], Tensor], x: Float[Tensor, "batch n d"]) -> bool:
    """Return whether all of x itself is in the layer's output, only added to: neither lost, scaled nor normalized."""
    raise NotImplementedError


# %% id="check-keeps_the_stream"
check(keeps_the_stream)


# %% [markdown]
# Let's run the test on seven layers. The last layer has a bug that changes no shape and raises no error:


# %%
class NoSecondSum(parts.PreNormEncoderLayer):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        normed = self.norm_1(x)
        return self.feed_forward(self.norm_2(x + self.self_attention(normed, normed, normed, mask)))


judged = [parts.EncoderLayer, NormsOnly, SumsOnly, Neither, parts.PreNormEncoderLayer, CutStream, NoSecondSum]
for kind in judged:
    print(f"{kind.__name__}: {parts.keeps_the_stream(stack(kind, 1)[0], torch.randn(1, 11, 64))}")

# %% [markdown]
# Of these seven, only pre-norm passes. `SumsOnly` also keeps its stream, but its sublayers read x without a norm. A
# test that changes x changes their outputs, too, so it cannot tell this layer from a broken one.

# %% [markdown]
# ## ★ Images: patches as tokens
#
# Nothing in these layers is specific to text. A **vision transformer** (ViT; [Dosovitskiy et al.,
# 2020](https://arxiv.org/abs/2010.11929)) cuts an image into square **patches**, and a linear layer turns each patch
# into a vector, instead of an embedding. The rest is an encoder. Here is what happens to a 3 of 16 × 16 pixels:

# %% id="digit-images" tags=["hide-input"]
corners = torch.tensor([[4.0, 3.0], [8.0, 2.0], [11.0, 4.5], [7.5, 7.5], [11.5, 11.0], [8.0, 13.5], [3.5, 12.5]])
points = F.interpolate(corners.T[None], 200, mode="linear", align_corners=True)[0].T  # along the line of a 3
pixels = torch.cartesian_prod(torch.arange(16.0), torch.arange(16.0)).flip(1)
image = (-torch.cdist(pixels, points).amin(dim=1).square()).exp().view(16, 16)

# %% id="an-image-in-patches" tags=["hide-input"]
diagrams.patches.vision_transformer(image, patch=4, d_model=48, n_layers=2)

# %% [markdown]
# <details><summary>What happens after the patches?</summary>
#
# The model adds positions and applies encoder layers like yours, and the mean over all patches represents the image.
# (The paper uses pre-norm, GELU and a *class token* instead of the mean.) Many **vision-language models** project the
# outputs of a ViT and insert them among the embeddings of the text.
# </details>

# %% [markdown]
# ## Your experiment
#
# Ungraded, about 15 minutes. Test a claim of your own the way this lesson tests its claims, or start with this one:
#
# **Claim.** A stack needs sums and norms, but a single layer doesn't: one layer that has neither (`Neither`) still
# learns at least 8 of 10 facts. (If that holds, at how many layers does it fail?)
#
# **Prediction.** Before you run anything, write down in how many of three runs the claim will hold.
#
# **Verdict.** Say in one sentence what the runs show. Then change the learning rate: is your sentence still true? A
# claim that fails is a result, too.

# %% id="experiment" tags=["experiment", "skip-execution"]
prediction = ...  # in how many of the three runs will the claim hold?
holds = []
for seed in range(3):
    torch.manual_seed(seed)
    known = learn_facts(Neither, 1, seed, rate=0.01)
    holds.append(...)  # is the fraction `known` at least 0.8? True or False
print("predicted:", prediction, " measured:", holds)
# Verdict:

# %% [markdown]
# ## In short
#
# Attention makes positions alike. A residual connection delays that, norms keep numbers and gradients in bounds, and in
# pre-norm nothing ever scales down the stream itself. The table shows what happens without each part:
#
# | part | what it does | without it |
# |---|---|---|
# | residual connection | lets a position keep its own vector | positions become alike, and `w_q` gets no gradient |
# | norm | keeps numbers and gradients at one size | in a deep stack, both explode (with sums) or vanish (without) |
# | FFN | computes at each position | fewer facts in 250 steps, unless attention layers replace its parameters |
# | ReLU in the FFN | makes the FFN more than one matrix | the FFN adds almost nothing |
# | attention | moves information between positions | without the half that looks ahead, a gap filler can only guess |
#
# - Post-norm normalizes the sums, pre-norm the inputs of the sublayers. In pre-norm, eight layers learned our task in
#   200 steps without warm-up. In post-norm they did not learn it in 1,000 steps at a learning rate of 0.003 or 0.001,
#   except with warm-up (tried at 0.003).
# - Whether an FFN or more attention learns facts faster depends on the learning rate. In 1,000 steps at 0.01, both
#   learn all of them.

# %%
tokens = torch.randint(1, 48, (2, 11))
print({"batch": 2, "n": 11, "vocab_size": 48, "d_model": 64, "n_heads": 4, "d_ff": 256, "n_layers": 1})
trace_shapes(parts.Encoder(48, 64, 4, 256, 1, 24), tokens)

# %% [markdown]
# ## New words
#
# The [glossary](glossary.ipynb) lists the terms from all lessons.
#
# - **rank collapse**: the vectors of all positions become nearly equal as attention layers are stacked.
# - **residual connection**: the sum of a sublayer's input and its output.
# - **residual stream**: the vectors that run through the stack, and to which each sublayer adds something.
# - **LayerNorm**: normalizes each vector over its features.
# - **BatchNorm**: normalizes each feature over all positions of all examples in a batch.
# - **internal covariate shift**: the inputs of a layer change their distribution while the layers below it learn.
# - **feed-forward network**: two linear layers with a ReLU or GELU between them; FFN for short.
# - **position-wise**: done at each position separately.
# - **activation function**: a nonlinear function between two linear layers, such as ReLU or GELU.
# - **sublayer**: the attention or the feed-forward network of a layer.
# - **post-norm**: the layout with a norm after each residual sum.
# - **pre-norm**: the layout with a norm on each sublayer's input.
# - **buffer**: a tensor that belongs to a module but is not trained.
# - **warm-up**: raising the learning rate slowly over the first training steps.
# - **dropout**: setting randomly chosen numbers to 0 during training.

# %% [markdown]
# - **masked language model**: a model trained to predict hidden tokens from those around them.
# - **pretraining**: training on plentiful data, before the task at hand.
# - **fine-tuning**: further training of a pretrained model, on the labels of a task.
# - **vision transformer**: an encoder whose tokens are the patches of an image; ViT for short.
# - **patch**: a small square of an image, which a linear layer turns into a vector.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first. The section named at the end of each answer has the cell that shows it.
#
# <details><summary>Describe the Transformer's encoder.</summary>
#
# It looks up the embedding of each token, multiplies it by √d_model and adds the positions. N identical layers follow.
# Each layer attends to all positions and applies a feed-forward network at each position; each of these two sublayers
# has a residual connection and a norm. The output has the shape of the input: a vector for each position that depends
# on the whole text. (<i>Post-norm</i>, <i>The stack</i>)
# </details>
#
# <details><summary>What are residual connections for?</summary>
#
# Each sublayer only adds to its input, so positions stay distinct for longer. Attention alone makes them alike sooner
# or later; with our initialization, within two layers. (<i>Stacking attention</i>) "Against vanishing gradients" is
# only half the story. In 24 untrained layers with norms and no sums, the gradient at the vectors kept its size. The
# gradient at `w_q` vanished from layer 5 on, because the positions were equal. (<i>Without the sums, the norms, or
# both</i>) Residual connections come from networks for images, where deep stacks without them had a larger *training*
# error (degradation; He et al., 2015).
# </details>
#
# <details><summary>How many times does a self-attention sublayer use x?</summary>
#
# Four times: as queries, keys and values, and unchanged in the sum. (<i>Post-norm</i>)
# </details>
#
# <details><summary>In what shape do tokens enter the encoder?</summary>
#
# As integers of shape (batch, n), not (batch, n, 1): the embedding adds the last dimension. (<i>The stack</i>)
# </details>
#
# <details><summary>Why LayerNorm and not BatchNorm? When is BatchNorm the better choice?</summary>
#
# In training, BatchNorm mixes the sentences of a batch and their padding, and its statistics are noisy if the batch is
# small. At inference it uses averages from training. LayerNorm normalizes each vector separately, in training and at
# inference alike. For images with large batches BatchNorm works well, and its averages can be merged into the layer
# before it. (<i>BatchNorm</i>)
# </details>
#
# <details><summary>Does normalization work because it reduces internal covariate shift?</summary>
#
# That was the original argument for BatchNorm, and it is contested: networks trained about as well when shifts were
# added on purpose after each norm. There is better evidence that norms keep the size of numbers and gradients in bounds
# and allow larger learning rates. (<i>BatchNorm</i>, <i>FFN or more attention?</i>)
# </details>
#
# <details><summary>Over what does LayerNorm average: the sentence, the batch, the layers?</summary>
#
# None of these: it averages over the d_model features of one position. (<i>LayerNorm</i>)
# </details>

# %% [markdown]
# <details><summary>Pre-norm or post-norm: what is the difference, and how does it affect training?</summary>
#
# Post-norm is norm(x + f(x)). Pre-norm is x + f(norm(x)), with one more norm at the end of the stack. In a deep
# post-norm stack, every norm scales down what came before it, and training may fail without warm-up: our stack of eight
# layers failed at a learning rate of 0.003 and at a third of it. Pre-norm can be stacked deeper, needed no warm-up
# here, and tolerated a larger learning rate. The price is that its upper layers change x less and less. (<i>How deep
# can each be stacked?</i>, <i>Warm-up</i>, <i>FFN or more attention?</i>)
# </details>
#
# <details><summary>Is x = norm(x); x = x + f(x) pre-norm?</summary>
#
# No. The residual starts from the normalized x, so x itself is lost. (<i>Pre-norm</i>)
# </details>
#
# <details><summary>What does the feed-forward network do, and how large is it?</summary>
#
# It processes each position separately; nothing passes between positions. With d_ff = 4 d_model it has two thirds of a
# layer's parameters. In 250 steps, one layer without it learned half of our random facts instead of nearly all of them.
# Three attention layers with the same number of parameters learned more or fewer facts than one layer with an FFN,
# depending on the learning rate; in 1,000 steps, both learned them all. (<i>Without the FFN</i>, <i>FFN or more
# attention?</i>) The factor 4 is a choice: in the paper's table 3 (C), translation improves with d_ff, from 25.4 BLEU
# at 1,024 to 25.8 at 2,048 and 26.2 at 4,096.
# </details>
#
# <details><summary>Why does the FFN need an activation? What are the drawbacks of ReLU, and what is GELU?</summary>
#
# Without an activation its two matrices act as one, $W_1 W_2$. In 250 steps of our task, the layer then learned less
# than half of the facts instead of more than 9 of 10, although it kept all its parameters. (<i>Without the FFN, or
# without its ReLU</i>) ReLU has no gradient for negative inputs, so a feature that is negative for every input stops
# learning (a dead unit). GELU, $x\,\Phi(x)$, is smooth and lets a little gradient through.
# </details>
#
# <details><summary>Isn't attention linear, so that the FFN is the only non-linear part?</summary>
#
# No. The weights come from a softmax of products of x with itself. For fixed weights, though, the output is linear in
# the values. (<i>Without the FFN, or without its ReLU</i>)
# </details>

# %% [markdown]
# <details><summary>Why are embeddings multiplied by √d_model?</summary>
#
# If they are initialized with variance 1/d_model (as when the same matrix also serves as the output layer, lesson 08),
# their numbers are far smaller than those of the positions (around 0.7), and the positions would drown them out. Torch
# draws embeddings with variance 1, and these need no factor. (<i>The stack</i>)
# </details>
#
# <details><summary>What does dropout do in train() and in eval()?</summary>
#
# In train() it sets a fraction p of the numbers to 0 and divides the others by 1 − p, which preserves the mean. In
# eval() it does nothing. (<i>Dropout</i>)
# </details>
#
# <details><summary>What is wrong with nn.ModuleList([layer] * 6)?</summary>
#
# It holds the same layer six times: one set of parameters. (<i>The stack</i>)
# </details>
#
# <details><summary>What can an encoder do that a decoder cannot?</summary>
#
# Attend to what comes later in the text. For filling gaps, that made the difference: 0.82 of our letters were right
# instead of 0.12. (<i>An encoder alone</i>)
# </details>
#
# <details><summary>BERT: why predict 15 % of the tokens, and why 80/10/10?</summary>
#
# Predicting too few tokens wastes computation; hiding too many leaves too little context. Of the chosen tokens, 80 %
# are hidden, 10 % replaced and 10 % kept, because later texts have no gaps and the model should not ignore visible
# tokens. (<i>An encoder alone</i>)
# </details>
#
# <details><summary>How does a Transformer read an image?</summary>
#
# In patches: a linear layer turns each patch into a vector, positions are added, and an encoder does the rest. (<i>★
# Images: patches as tokens</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Vaswani et al. (2017), [arXiv:1706.03762](https://arxiv.org/abs/1706.03762), sections 3.1, 3.3, 3.4, 5.3 and 5.4.
# - Xiong et al. (2020), [arXiv:2002.04745](https://arxiv.org/abs/2002.04745): pre-norm, post-norm and warm-up. Liu et
#   al. (2020), [arXiv:2004.08249](https://arxiv.org/abs/2004.08249): why deep stacks are hard to train. Dong et al.
#   (2021), [arXiv:2103.03404](https://arxiv.org/abs/2103.03404): why attention alone makes all positions alike. Noci et
#   al. (2022), [arXiv:2206.03126](https://arxiv.org/abs/2206.03126): what that does to the gradients of queries and
#   keys. Geva et al. (2021), [arXiv:2012.14913](https://arxiv.org/abs/2012.14913): what FFNs store. Gromov et al.
#   (2024), [arXiv:2403.17887](https://arxiv.org/abs/2403.17887): upper layers that can be removed with little harm.
# - Norms and small batches: Wu and He (2018), [arXiv:1803.08494](https://arxiv.org/abs/1803.08494), for images; Shen et
#   al. (2020), [arXiv:2003.07845](https://arxiv.org/abs/2003.07845), on BatchNorm in Transformers.
# - `transformer_lab/layers/encoder_layer.py`, `norms.py`, `transformer_lab/models/encoder.py`: the library's versions.
#
# <details><summary>Where each part comes from</summary>
#
# Residual connections: He et al. (2015), [arXiv:1512.03385](https://arxiv.org/abs/1512.03385). BatchNorm: Ioffe and
# Szegedy (2015), [arXiv:1502.03167](https://arxiv.org/abs/1502.03167). LayerNorm: Ba et al. (2016),
# [arXiv:1607.06450](https://arxiv.org/abs/1607.06450). Dropout: Srivastava et al. (2014), *JMLR* 15. ReLU: Nair and
# Hinton (2010), *ICML*. GELU: Hendrycks and Gimpel (2016), [arXiv:1606.08415](https://arxiv.org/abs/1606.08415). BERT:
# Devlin et al. (2018), [arXiv:1810.04805](https://arxiv.org/abs/1810.04805).
# </details>

# %% [markdown]
# You now have a complete encoder. Lesson 07 adds the decoder, which generates text from the encoder's output.
#
# How far did you get, and how well did you predict?

# %% id="tally"
tally()

# %% [markdown] id="title"
# # 06 · The encoder: layers that can be stacked
#
# **The question.** Give each of the eleven characters of `3 mars 2021` a vector, and stack two untrained attentions:
# all eleven vectors become nearly the same. Yet large language models are dozens of layers deep. Besides attention,
# each layer has sums, norms and a feed-forward network. Delete any of these, and the code still runs. So what is
# each of them for?
#
# **Afterwards you can** write both kinds of layer and the whole encoder, and say what goes wrong without each of
# these, because you have seen it measured.
#
# Reading: 38 minutes. Exercises: 60 minutes (five core, one stretch ★). With all predictions, runs and questions: about
# 120 minutes, with a place to stop half-way. Sections with a ★ may be skipped.

# %% [markdown]
# ## Before you start
#
# Three questions from earlier lessons. Answer each one aloud, then open it.
#
# <details><summary>Lesson 03: what is the shape of self-attention's output for an input of shape (2, 11, 64)?</summary>
#
# (2, 11, 64) again. So its output can be the input of another attention.
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
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_course import check, compare, diagrams, hint, parts, plots, solution, tally, views
from transformer_course.views.residual_runs import at_other_rates
from transformer_lab import initialize, record_attention, trace_shapes
from transformer_lab.data.dates import write_date
from transformer_lab.layers.encoder_layer import EncoderLayer as EncoderLayerWithDropout

# %%
_ = torch.manual_seed(6)

# %%
diagrams.architecture.you_are_here(6)

# %% [markdown]
# ## Stacking attention
#
# We give each character a random vector, stack twelve untrained layers on them, and measure how alike the positions
# become: the mean cosine between two of them. With attention alone, it is nearly 1 after two layers.
#
# Two remedies come to mind: to compute something new at each position, with a network after each attention
# (`"FFN"`; you will write it below), or to add each attention's input to its output (`"sum"`). We try each by itself.
#
# **Predict.** Which of the two keeps the positions apart (a cosine below 0.5) for 2 layers, and which for 12: `"FFN"`,
# `"sum"`, `"both"` or `"neither"`?

# %% tags=["prediction"]
prediction_after_2, prediction_after_12 = ..., ...


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


# %%
steps = {
    "attention alone": lambda layer, x: layer.self_attention(x, x, x),
    "FFN": lambda layer, x: layer.feed_forward(layer.self_attention(x, x, x)),
    "sum": lambda layer, x: x + layer.self_attention(x, x, x),
}
layers, vectors, curves, sizes = stack(parts.EncoderLayer, 12), torch.randn(1, 11, 64), {}, {}
with torch.no_grad():
    for name, step in steps.items():
        x, curves[name] = vectors, []
        for layer in layers:
            x = step(layer, x)
            curves[name].append(alike(x))
        sizes[name] = size(x)
apart = {n: [name for name in ("FFN", "sum") if curves[name][n - 1] < 0.5] for n in (2, 12)}
compare(prediction_after_2, measured={0: "neither", 2: "both"}.get(len(apart[2])) or apart[2][0])
compare(prediction_after_12, measured={0: "neither", 2: "both"}.get(len(apart[12])) or apart[12][0])
ax = plots.lines(range(1, 13), curves, xlabel="layers", ylabel="cosine of two positions")
rows = {name: [curve[1], curve[-1], sizes[name]] for name, curve in curves.items()}
pd.DataFrame(rows, index=["cosine after 2", "cosine after 12", "RMS after 12"]).T.round(1)

# %% [markdown]
# Each attention averages the vectors, and whatever is computed at each position by itself makes equal results of equal
# vectors. Adding x does help: what a position had is still there, and on the way back the sum hands the gradient on to
# x as it is. This sum is a **residual connection** (He et al., 2015). The vectors that run through the stack, and to
# which each part adds, are the **residual stream**.
#
# But the sum only delays the blurring, and it has a price: the numbers, which shrank before, now grow (their RMS is the
# root of the mean of their squares). So a layer needs a part that keeps their size.

# %% [markdown]
# ## LayerNorm
#
# Queries and keys 20 times as large make scores 400 times as large, and the softmax saturates (lesson 02).
# **LayerNorm** brings each vector back to the same size: subtract the mean of its $d$ numbers, and divide by their
# standard deviation. Then learned numbers scale and shift each feature.
#
# $$\operatorname{LayerNorm}(x)_i = w_i\,\frac{x_i - \mu}{\sqrt{\sigma^2 + \varepsilon}} + b_i, \qquad
# \mu = \frac{1}{d}\sum_j x_j, \quad \sigma^2 = \frac{1}{d}\sum_j (x_j - \mu)^2$$
#
# $x$, $w$ and $b$ have the shape (d). ε is small, and avoids a division by 0. Take (4, 0, 0, 0) and, for once, ε = 1:
# the mean is 1, so what is left is (3, −1, −1, −1); the variance is 12/4 = 3, and the root of 3 + 1 is 2.

# %%
F.layer_norm(torch.tensor([4.0, 0.0, 0.0, 0.0]), (4,), eps=1.0)  # torch's, with w = 1 and b = 0

# %% [markdown]
# **Exercise.** Write LayerNorm, for vectors with any axes in front. `x.mean(dim=-1, keepdim=True)` averages over the
# last axis and leaves it there with length 1, so that the result can be subtracted from x. Note that torch's `var` and
# `std` divide by d − 1 unless they are given `unbiased=False`.


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
# Why this norm? The norm of networks for images is older: **BatchNorm** (Ioffe and Szegedy, 2015) takes the mean and
# variance of one feature, over all positions of all examples in the batch. We normalize a sentence alone, and then in a
# batch: with padding behind it, or beside another sentence. By how much do its numbers change?

# %%
short, other = torch.randn(1, 5, 64), 2 + torch.randn(1, 5, 64)
batches = {"with padding": F.pad(short, (0, 0, 0, 6)), "beside another": torch.cat([short, other])}
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
# For the number with the dot, each norm takes the mean and variance of the dark cells. So in training, BatchNorm lets
# padding and other sentences leak into a sentence (in inference it uses averages kept from training). LayerNorm always
# sees one vector at a time.

# %% [markdown]
# ## The feed-forward network
#
# Attention finds values and averages them. To compute with what was found is the job of the second half of a layer, the
# **feed-forward network** (FFN): expand each vector to $d_\text{ff}$ features, usually 4 d_model (in the paper 2,048
# for 512), set the negative ones to 0, and project back.
#
# $$\operatorname{FFN}(x) = \max(0,\, x W_1 + b_1)\, W_2 + b_2$$
#
# $W_1$ is (d_model, d_ff), $W_2$ is (d_ff, d_model): our layers `w_1` and `w_2`. The max is taken number by number;
# torch calls it `torch.relu` (ReLU). Many models use GELU instead, a smooth version. (`nn.Linear` stores its matrix
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
# We change one of eleven vectors. At how many positions does the output change?

# %%
ffn, attention = parts.FeedForward(64, 256), parts.MultiHeadAttention(64, 4)
x = torch.randn(1, 11, 64)
changed = x.clone()
changed[0, 3] += 1.0
for module, f in ((ffn, ffn), (attention, lambda x: attention(x, x, x))):
    moved, n = (f(x) - f(changed)).abs().amax(dim=-1) > 1e-6, sum(p.numel() for p in module.parameters())
    print(f"{type(module).__name__}: {moved.sum()} of 11 positions change; {n:,} parameters")

# %% [markdown]
# The FFN is **position-wise**: in it, nothing passes between positions. Yet it has two thirds of a layer's parameters:
# 2 · 4 · d_model² against 4 · d_model².

# %% [markdown]
# ## Post-norm: the layer of the paper
#
# A layer has two **sublayers**, attention and FFN. Each has a residual connection and a norm around it. In the drawing,
# the thick line is the residual stream. (Dropout, which acts only in training, comes later.)

# %%
diagrams.layers.layer(EncoderLayerWithDropout(64, 4, 256, dropout=0.1))

# %% [markdown]
# In the paper the norm comes last, after the sum, so this layout is called **post-norm**:
#
# $$x \leftarrow \operatorname{LayerNorm}(x + \operatorname{Attention}(x, x, x)), \qquad
# x \leftarrow \operatorname{LayerNorm}(x + \operatorname{FFN}(x))$$
#
# `nn.LayerNorm(d)` is a module around the function you wrote: it holds weight and bias, as ones and zeros to start
# with.
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
# The layer is whole. Now we take it apart again, one part at a time.
#
# ### Without the FFN
#
# The task is to learn 40 · 40 = 1,600 random *facts*: for each pair of tokens one answer is drawn, and at the second
# position the model should name it. In 250 steps, one layer learns more than 9 of 10.
#
# **Predict.** What fraction does one layer without its FFN learn: near 0.1, 0.5, 0.8 or 1? And three such layers, which
# have about as many parameters as the whole one? (About 10 seconds.)

# %% tags=["prediction"]
prediction_without, prediction_attentions = ..., ...


# %% tags=["hide-input"]
class Stacked(nn.Module):
    """Embed tokens, pass them through layers of one kind, and score all tokens of the vocabulary."""

    def __init__(self, kind: type[nn.Module], depth: int, vocab_size: int) -> None:
        super().__init__()
        self.embedding, self.positions = nn.Embedding(vocab_size, 32), parts.sinusoidal_encoding(2, 32)
        self.layers, self.output = stack(kind, depth, 32), nn.Linear(32, vocab_size)
        initialize(self)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens) * 32**0.5 + self.positions
        for layer in self.layers:
            x = layer(x)
        return self.output(x)


# %% tags=["hide-input"]
def fit(model: nn.Module, draw, steps: int, rate: float = 0.003, warmup: int = 0) -> None:
    """Train on the tokens and labels that ``draw()`` returns.

    The learning rate rises to ``rate`` over the first ``warmup`` steps, and falls to 0 over the last third.
    """
    optimizer = torch.optim.Adam(model.parameters(), fused=True)  # fused: the same, only faster
    for step in range(1, steps + 1):
        optimizer.param_groups[0]["lr"] = rate * min(1.0, step / max(warmup, 1), 3 * (1 - step / steps))
        tokens, labels = draw()
        loss = F.cross_entropy(model(tokens).flatten(0, 1), labels.flatten())  # labels of −100 do not count
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


# %%
class NoFFN(parts.EncoderLayer):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.norm_1(x + self.self_attention(x, x, x, mask))


# %% tags=["hide-input"]
def learn_facts(kind: type[nn.Module], depth: int, seed: int) -> float:
    """Return the fraction of the facts that a model knows after training."""
    torch.manual_seed(seed)
    pairs, answers = torch.cartesian_prod(torch.arange(40), torch.arange(40)), torch.randint(40, (1600,))
    labels = torch.stack([torch.full((1600,), -100), answers], dim=1)  # the first position has nothing to say
    model = Stacked(kind, depth, 40)
    fit(model, lambda: (pairs[some := torch.randint(1600, (256,))], labels[some]), 250, rate=0.01)
    used = sum(p.numel() for p in model.parameters() if p.grad is not None)
    right = (model(pairs)[:, 1].argmax(dim=-1) == answers).float().mean().item()
    print(f"{depth} × {kind.__name__}, seed {seed}: {used:,} parameters, {right:.2f} of the facts")
    return right


# %% tags=["approximate"]
whole, without, attentions = (
    [learn_facts(kind, depth, seed) for seed in range(3)]
    for kind, depth in ((parts.EncoderLayer, 1), (NoFFN, 1), (NoFFN, 3))
)
compare(prediction_without, measured=sum(without) / 3, choices=(0.1, 0.5, 0.8, 1.0))
compare(prediction_attentions, measured=sum(attentions) / 3, choices=(0.1, 0.5, 0.8, 1.0))

# %% [markdown]
# After 250 steps, one layer with its FFN knows more than 9 of 10 facts; without it, about half, with less than half of
# the parameters. A fair rival has as many parameters: three layers of attention, with more computation, know about 8 of
# 10. Attention stores facts, too (on FFNs, see Geva et al., below); what we measured is the FFN's lead after 250 steps.
# Part of it may be due to depth: deeper post-norm stacks are harder to train, as you will see.

# %% [markdown]
# ---
#
# **Half-way.** This is a good place to stop for today.

# %% [markdown]
# ### Without the sums, the norms, or both
#
# Residual connections are said to keep gradients from vanishing. But which is it, the sums or the norms? We build
# untrained stacks of 24 layers in all four ways, with three seeds, and run one backward pass for random labels. Then we
# look at the gradient at the vectors x after each layer (this is what travels back), and at two matrices of each layer:
# `w_2`, the last of the FFN, and `w_q`, which makes the queries.
#
# **Predict.** From the last layer's vectors back to the first layer's, does the gradient `"grow"` or `"vanish"`, by
# more than a factor of 1,000, or `"keep"` its size: with norms only, with sums only, and with neither?

# %% tags=["prediction"]
prediction_norms_only, prediction_sums_only, prediction_neither = ..., ..., ...


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
def measure(kind: type[nn.Module], seed: int) -> dict[str, Tensor]:
    """Measure 24 layers: how alike positions are after each, their RMS, and the gradients at x, `w_2` and `w_q`."""
    torch.manual_seed(seed)
    layers, output = stack(kind, 24), nn.Linear(64, 20)
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
        "w_2": [layer.feed_forward.w_2.weight.grad.norm() for layer in layers],
        "w_q": [layer.self_attention.w_q.weight.grad.norm() for layer in layers],
    }
    return {name: torch.tensor(numbers) for name, numbers in measured.items()}


# %% tags=["hide-input"]
def three_runs(kind: type[nn.Module]) -> dict[str, Tensor]:
    """Measure with three seeds; return each measure as (3, 24)."""
    runs = [measure(kind, seed) for seed in range(3)]
    return {what: torch.stack([run[what] for run in runs]) for what in runs[0]}


def on_its_way_back(name: str) -> str:
    """Return what becomes of the gradient at x between the last layer and the first, with all three seeds."""
    factors = found[name]["x"][:, 0] / found[name]["x"][:, -1]
    ways = {"grow": factors > 1000, "vanish": factors < 0.001, "keep": (factors > 0.001) & (factors < 1000)}
    return next((way for way, runs in ways.items() if runs.all()), "not the same with every seed")


# %%
kinds = {"sums and norms": parts.EncoderLayer, "norms only": NormsOnly, "sums only": SumsOnly, "neither": Neither}
found = {name: three_runs(kind) for name, kind in kinds.items()}
compare(prediction_norms_only, measured=on_its_way_back("norms only"))
compare(prediction_sums_only, measured=on_its_way_back("sums only"))
compare(prediction_neither, measured=on_its_way_back("neither"))


# %% tags=["hide-input", "nbval-ignore-output"]
def spread(numbers: Tensor) -> str:
    """Return the least and the largest of three runs, in one digit."""
    least, largest = f"{numbers.min():.1g}", f"{numbers.max():.1g}"
    return least if least == largest else f"{least} to {largest}"


def measures(name: str) -> dict[str, str]:
    """Return what one kind of stack is like."""
    lines = {f"cosine after {n}": spread(found[name]["cosine"][:, n - 1]) for n in (2, 24)}
    lines["RMS after 24"] = spread(found[name]["RMS"][:, -1])
    for where, layer in [("x", 1), ("x", 24), ("w_2", 1), ("w_2", 24), ("w_q", 1), ("w_q", 6), ("w_q", 24)]:
        lines[f"gradient at {where}, layer {layer}"] = spread(found[name][where][:, layer - 1])
    return lines


ways = {("sums", "norms"): "sums and norms", ("sums", "no norms"): "sums only"}
ways |= {("no sums", "norms"): "norms only", ("no sums", "no norms"): "neither"}
pd.DataFrame({way: measures(name) for way, name in ways.items()})

# %% tags=["hide-input", "words-only"]
for where in ("x", "w_q"):
    names = list(kinds) if where == "x" else ["sums and norms", "norms only"]
    curves = {name: found[name][where] for name in names}
    ax = plots.lines(range(1, 25), curves, xlabel="layer", ylabel=f"gradient at {where}", legend_beside=True)
    ax.set_yscale("log")

# %% [markdown]
# **Norms only.** At x (above) the gradient keeps its size on its way back: for that, no sum is needed. At `w_q` (below)
# it is gone from the sixth layer on. It did not get lost on its way: what has vanished is the *difference* between the
# positions. After two layers all hold nearly one vector, and no query can change an average of equal vectors (**rank
# collapse**: Dong et al. and Noci et al., below).
#
# **Sums only.** The gradient at x explodes on its way back, as the numbers do on their way up, to tens of thousands.
# The softmax saturates: at the last `w_q` no gradient is left.
#
# **Neither.** Here both vanish: the numbers shrink to less than a hundred-thousandth, and so does the gradient
# at x.

# %% [markdown]
# So these are two remedies for two troubles. The norms keep numbers *and gradients* at one size. The sums keep the
# positions apart for longer, and with them the gradients that live on the difference. Smaller weights could keep the
# numbers at one size, too (lesson 09 draws some so). But norms are no substitute for sums.

# %% [markdown]
# ## Pre-norm: moving the norm
#
# Even with both, all positions are alike after 24 layers, and the gradient at the last `w_q` is below a
# hundred-thousandth. A likely reason: each norm scales down what was there before, so of a position's own vector less
# and less is left. Most newer models put the norm elsewhere. **Pre-norm** normalizes the *input* of each sublayer, and
# leaves the sum alone:
#
# $$x \leftarrow x + \operatorname{Sublayer}(\operatorname{LayerNorm}(x))$$
#
# Then the residual stream passes through the whole stack and is only ever added to. As nothing normalizes the last sum,
# a pre-norm stack has one more norm at its end.
#
# <details><summary>Which of the two did the authors use?</summary>
#
# The paper describes post-norm. Within weeks its authors moved the norm in their own code, and did not change the
# paper. A maintainer of the Annotated Transformer says so in
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
# The thick line is the residual stream. Post-norm has its norms on it; pre-norm has them beside it. So the normalized x
# must not *replace* x, as in the first version of PyTorch's own pre-norm layer
# ([issue 61165](https://github.com/pytorch/pytorch/issues/61165), 2021). It ran, but it had lost the stream:


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
# We measure 24 pre-norm layers as before, and 24 of `CutStream`.
#
# **Predict.** Which does `CutStream` resemble in these measures: `"post-norm"` or `"pre-norm"`?

# %% tags=["prediction"]
prediction = ...

# %% tags=["hide-input", "nbval-ignore-output"]
found |= {"pre-norm": three_runs(parts.PreNormEncoderLayer), "cut": three_runs(CutStream)}
at_the_end = {name: found[name]["w_q"][:, -1].log10().mean() for name in ("sums and norms", "pre-norm", "cut")}
is_post = abs(at_the_end["cut"] - at_the_end["sums and norms"]) < abs(at_the_end["cut"] - at_the_end["pre-norm"])
compare(prediction, measured="post-norm" if is_post else "pre-norm")
columns = {"post-norm": "sums and norms", "pre-norm": "pre-norm", "CutStream": "cut"}
pd.DataFrame({column: measures(name) for column, name in columns.items()})

# %% [markdown]
# In pre-norm the gradient at `w_q` stays above a thousandth, and the positions are not quite alike. In return x grows,
# so what a further layer adds is an ever smaller fraction of it. `CutStream` has lost all that. Write out two layers:
# norm, sum, norm, sum, norm, sum … From the first sum on, a stack of it *is* post-norm.

# %% [markdown]
# Do they learn? The library stores runs of both kinds, with 32 features and three seeds each. In 200 steps they should
# learn to name the token before each position of a random text: at the rate of `fit` (0.003), and at a lower and a
# higher one. A blind guess among 16 tokens has a loss of log 16, about 2.8.
#
# **Predict.** At 0.003, how many layers has the deepest stack that learns this (a loss below 0.1 with all three seeds)
# in post-norm, and how many in pre-norm: 2, 4, 8, 12 or 24?

# %% tags=["prediction"]
prediction_post, prediction_pre = ..., ...

# %% tags=["hide-input"]
runs = views.ResidualStream().runs
ends = {(run["name"], run["depth"]): run["losses"][-1] for run in runs}  # of three seeds
ends |= {(f"{layout}, rate {rate:g}", depth): losses for layout, depth, rate, losses in at_other_rates()}


def deepest(name: str) -> int:
    return max(depth for (kind, depth), losses in ends.items() if kind == name and max(losses) < 0.1)


compare(prediction_post, measured=deepest("post-norm, no warm-up"))
compare(prediction_pre, measured=deepest("pre-norm, no warm-up"))
table = pd.Series({key: f"{min(losses):.2f} to {max(losses):.2f}" for key, losses in ends.items()}).unstack()
table.fillna("").rename_axis(index="losses after 200 steps", columns="layers")

# %% [markdown]
# At 0.003, post-norm learns it with 2 layers, makes a start with 4, and from 12 on guesses blindly. Pre-norm learns it
# with 8, and is on the way even with 24. A higher rate widens the gap: at 0.01, pre-norm still learns with 8 layers,
# and post-norm with 4 hardly begins. At 0.001 neither gets there in 200 steps, with 2, 4 or 8 layers.
#
# The paper's remedy is **warm-up**: a tiny learning rate, raised over the first 4,000 steps (here: 50). At 8 layers it
# takes post-norm from a loss of 2.6 or more to 2.3 or less. Pre-norm manages without; with so few steps, warm-up
# probably only costs it time (large pre-norm models are still warmed up).
#
# Why? Press *train*, then change the number of layers.

# %%
at_first = views.ResidualStream(depth=12, step=0).numbers["post-norm, no warm-up"]
print(f"gradient at w_2 of the first layer, post-norm without warm-up, at step 0: {at_first['gradient']:.1f}")
views.ResidualStream(depth=12, step=10)

# %% [markdown]
# Post-norm without warm-up (blue, dashed) loses its gradient: at the first `w_2`, it falls from 1.1 to 0.0005 in ten
# steps, and does not recover (after 200 steps 0.00001; with warm-up 0.04). Alike positions alone do not explain it:
# those of pre-norm (orange, dashed) are, too, at first.
#
# <details><summary>Why does warm-up help?</summary>
#
# Xiong et al. (below) say that the large gradients in the last layers of post-norm call for a small learning rate. But
# Adam makes steps of about the same size in any case, so Liu et al. disagree (we tested neither): where no layer's
# share shrinks, one step of training changes the output too much.
# </details>
#
# <details><summary>And the upper layers?</summary>
#
# In pre-norm the last layers hardly turn the vectors: what one adds is small beside x. (Some upper layers of large
# pre-norm models can be removed with little harm: Gromov et al., below.)
# </details>

# %% [markdown]
# ## The stack
#
# What goes into the layers? The encoder looks each token up in an `nn.Embedding`, which holds one learned vector for
# it, multiplies this by √d_model, adds positions, and passes the sum through the layers. What comes out is the *memory*
# of the map. Why √d_model? The paper does not say. Our library, like many, draws embeddings with variance 1/d_model
# (lesson 08 says why). This is how alike two *different* characters at one position then are, without the factor and
# with it:

# %%
embedding = nn.Embedding(60, 512)
initialize(embedding)  # the library's way: with variance 1/d_model
embedded, positions = embedding(torch.arange(11)), parts.sinusoidal_encoding(11, 512)
for name, factor in {"without the factor": 1.0, "times √512": 512**0.5}.items():
    cosine = torch.cosine_similarity(*(factor * embedded[:2] + positions[3]), dim=0).item()
    print(f"{name}: RMS {size(factor * embedded):.2f} (positions {size(positions):.2f}), cosine {cosine:.1f}")

# %% [markdown]
# Without the factor the embeddings drown in the positions.
#
# The layers are kept in an `nn.ModuleList`: a list into which torch looks. What it does not find is neither trained nor
# saved. And `[layer] * 6` is the *same* layer six times. The numbers of parameters show it:

# %%
layer, plain = parts.EncoderLayer(64, 4, 256), nn.Module()
plain.layers = [parts.EncoderLayer(64, 4, 256) for _ in range(6)]
stacks = {"ModuleList([layer] * 6)": nn.ModuleList([layer] * 6), "six layers in a plain list": plain}
for name, model in {**stacks, "six layers in a ModuleList": stack(parts.EncoderLayer, 6)}.items():
    print(f"{name}: {sum(p.numel() for p in model.parameters()):,}")

# %% [markdown]
# **Exercise.** Write the encoder's `forward`. `positions` is a **buffer**: it belongs to the model, but is not
# trained. The mask goes to every layer. `self.embedding.embedding_dim` is d_model.


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
# ## Dropout
#
# One part of the paper's layer is left, and only training uses it. **Dropout** sets a random tenth of the numbers to 0:
# of each sublayer's output, and of the sums of embeddings and positions. The idea: if no feature can rely on any single
# other, the training texts are harder to learn by heart. `nn.Dropout(0.1)` does that, and only in `train()` mode. What
# it keeps it divides by 0.9: so the mean stays, and `eval()` needs no correction.

# %%
dropout, ones = nn.Dropout(0.1), torch.ones(10_000)
dropped = dropout(ones)
print(f"fraction of zeros {(dropped == 0).float().mean():.2f}, mean {dropped.mean():.2f}, largest {dropped.max():.2f}")
print("the same twice, in train():", torch.equal(dropout(ones), dropout(ones)))
print("output equals input, in eval():", torch.equal(dropout.eval()(ones), ones))

# %% [markdown]
# ## Bug hunt
#
# A colleague sends you a pre-norm layer with dropout, both halves in one loop. It runs and trains well. But on held-out
# texts, a correct layer with the very same weights does better. Decide what is wrong *before* you run the check. Then
# write a correct `Mended` in the cell after it, with dropout in training or without: the check looks at `eval()`.


# %% tags=["bug-hunt"]
class LayerOfAColleague(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attention = parts.MultiHeadAttention(d_model, n_heads)
        self.feed_forward = parts.FeedForward(d_model, d_ff)
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        def attend(normed):
            return self.self_attention(normed, normed, normed, mask)

        for norm, sublayer in ((self.norm_1, attend), (self.norm_2, self.feed_forward)):
            x = x + F.dropout(sublayer(norm(x)), 0.1)
        return x


# %% id="mend-layer"
Mended = LayerOfAColleague

# %% id="check-mend-layer"
check(Mended, "PreNormEncoderLayer", save=False)

# %% [markdown]
# <details><summary>How to find such a bug without a check</summary>
#
# Call the model twice in `eval()`: the outputs have to be equal. `F.dropout` is a function and knows nothing of the
# module in which it is called; unless it is told `training=self.training`, it always drops. The module `nn.Dropout`
# knows. The cell below compares two calls of each.
# </details>

# %%
for name, kind in {"the colleague's": LayerOfAColleague, "yours or the library's": parts.PreNormEncoderLayer}.items():
    layer = kind(64, 4, 256).eval()
    print(f"{name}: two calls in eval() agree:", torch.equal(layer(vectors), layer(vectors)))

# %% [markdown]
# ## An encoder by itself: filling gaps
#
# The stack is complete, and one part is still to be deleted: attention, or at least half of it. We hide some characters
# of dates in four languages, and train an encoder to predict what is hidden: a **masked language model**. BERT was
# trained like this on plain text, in pieces of words: it predicted 15 % of them. Of these, 80 % were hidden, 10 % were
# replaced by random ones, and 10 % were left as they were, since later texts have no gaps. Such training, before any
# task, is **pretraining**; further training, on the labels of a task, is **fine-tuning**.

# %% tags=["hide-input"]
days = [date(2000, 1, 1) + timedelta(days=n) for n in range(0, 9000, 7)]
texts = [write_date(day, language, "long") for day in days for language in ("fr", "de", "it", "en_GB")]
random.Random(6).shuffle(texts)
CHARACTERS = ["·", "?", *sorted(set("".join(texts)))]  # token 0 is padding, token 1 a gap
LENGTH = max(map(len, texts))


def encode(texts: list[str]) -> Tensor:
    return torch.tensor([[CHARACTERS.index(c) for c in text.ljust(LENGTH, "·")] for text in texts])


tests, training = encode(texts[:500]), encode(texts[500:])
print(f"{len(texts)} texts, such as {texts[:3]}; 3 mars 2021 is one of them: {'3 mars 2021' in texts}")


# %%
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
# In held-out texts we hide the first letter of the month. The model that attends in both directions finds it in about 8
# of 10. Another has lost half of its attention: with the causal mask of lesson 04, it attends only backwards.
#
# **Predict.** In what fraction of the texts does that one find it: near 0.1, 0.4 or 0.8? (Folded, about 10 seconds.)

# %% tags=["prediction"]
prediction = ...

# %% tags=["hide-input", "approximate"]
rows = torch.arange(500)
at = torch.tensor([re.search(r"[^\W\d]{3,}", text).start() for text in texts[:500]])  # three letters: a month
wanted, questions = tests[rows, at], tests.clone()
questions[rows, at] = 1
models, right = {}, {"both ways": [], "only back": []}
for seed in range(3):
    for name, make_mask in {"both ways": parts.padding_mask, "only back": parts.decoder_mask}.items():
        torch.manual_seed(seed)
        models[name] = GapFiller(make_mask)
        fit(models[name], draw_gaps, 300, warmup=50)
        letters_found = models[name](questions)[rows, at].argmax(dim=-1) == wanted
        right[name].append(letters_found.float().mean().item())
        print(f"{name}, seed {seed}: {right[name][-1]:.2f}")
compare(prediction, measured=sum(right["only back"]) / 3, choices=(0.1, 0.4, 0.8))
print(f"always the commonest letter: {wanted.bincount().max() / 500:.2f}")

# %% tags=["approximate"]
question, letters = encode(["3 ?ars 2021"]), ["_" if c == " " else c for c in "3 ?ars 2021"]
with record_attention(models["both ways"]) as weights, torch.no_grad():
    models["both ways"](question)
heads = weights["encoder.layers.1.self_attention"][0, :, 2, :11]  # what the gap attends to
ax = plots.weights(heads, [f"head {i}" for i in range(4)], letters, ylabel="the query ?, by head")
print("a head attends mostly ahead:", bool(heads[:, 3:].sum(dim=-1).max() > 0.5))

# %% [markdown]
# What tells the months apart comes after the gap. In this text, two heads of the model that attends both ways look
# there, at *a* and *s*. The other has all other parts, and does about as well as guessing the commonest letter: nothing
# else in the stack moves anything between positions.

# %% [markdown]
# ## ★ Transfer: has a layer lost its stream?
#
# Somebody hands you a layer whose code you cannot read. It should be pre-norm: two sublayers, each of which reads a
# normalized input and adds its output to x. But one sum may be missing, or hold the normalized x, or half of it. You
# can only call the layer, on vectors of your choice.
#
# **Exercise.** Design a test, and write it. First find what to change about x: something that a norm takes out again,
# and a sum hands on.


# %% id="keeps_the_stream" tags=["exercise"]
def keeps_the_stream(layer: Callable[[Tensor], Tensor], x: Float[Tensor, "batch n d"]) -> bool:
    """Return whether all of x itself is in the layer's output, only added to: neither lost, scaled nor normalized."""
    raise NotImplementedError


# %% id="check-keeps_the_stream"
check(keeps_the_stream)


# %% [markdown]
# It judges six layers. The last one is sick in a place that no shape and no error shows:


# %%
class NoSecondSum(parts.PreNormEncoderLayer):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        normed = self.norm_1(x)
        return self.feed_forward(self.norm_2(x + self.self_attention(normed, normed, normed, mask)))


for kind in (parts.EncoderLayer, NormsOnly, Neither, parts.PreNormEncoderLayer, CutStream, NoSecondSum):
    print(f"{kind.__name__}: {parts.keeps_the_stream(stack(kind, 1)[0], torch.randn(1, 11, 64))}")

# %% [markdown]
# Only pre-norm keeps its stream.

# %% [markdown]
# ## ★ Images: patches as tokens
#
# Sums, norms, FFN, attention: none of these parts is made for text. A **vision transformer** (ViT; [Dosovitskiy et al.,
# 2020](https://arxiv.org/abs/2010.11929)) cuts an image into square **patches**, and a linear layer turns each into a
# vector: that takes the place of the embedding. Then come positions and the very layers from above, and the mean over
# all patches is the vector of the image. We draw shaky digits, in 16 × 16 noisy pixels (folded). This is what happens
# to a 3:

# %% id="digit-images" tags=["hide-input"]
STROKES = ["bdjnlfb", "dbn", "dbfmo", "abfhlnm", "nbgi", "cagilnm", "cdjnlhg", "acn", "bdhlnjhfb", "fhdbfln"]
# The lines of 0 to 9 on a grid of three columns and five rows: abc, def, ghi, jkl, mno.


def draw_digits(n: int) -> tuple[Tensor, Tensor]:
    """Return images of digits, (n, 16, 16), and which digits they are."""
    digits = torch.randint(10, (n,))
    spots = torch.tensor([[ord(c) - ord("a") for c in STROKES[digit].ljust(9, STROKES[digit][-1])] for digit in digits])
    points = torch.stack([2.5 * (spots % 3 - 1), 2.0 * (spots // 3 - 2)], dim=-1) + 0.5 * torch.randn(n, 9, 2)
    points = points * (0.8 + 0.5 * torch.rand(n, 1, 1)) + 3 * torch.rand(n, 1, 2) + 6
    pixels = torch.cartesian_prod(torch.arange(16.0), torch.arange(16.0)).flip(1)
    nearest = torch.full((n, 256), torch.inf)  # how far each pixel is from the nearest line
    for start, line in zip(points[:, :-1].unbind(1), points.diff(dim=1).unbind(1)):
        away = pixels - start[:, None]
        along = away @ line[..., None] / line.square().sum(dim=-1)[:, None, None].clamp(min=1e-6)
        nearest = nearest.minimum((away - along.clamp(0, 1) * line[:, None]).norm(dim=-1))
    return (-nearest.square()).exp().view(n, 16, 16) + 0.2 * torch.randn(n, 16, 16), digits


def in_patches(images: Tensor) -> Tensor:
    """Return the 16 patches of each image, row by row: (n, 16 patches, 16 pixels)."""
    return images.unfold(1, 4, 4).unfold(2, 4, 4).flatten(1, 2).flatten(2)


# %% id="an-image-in-patches"
torch.manual_seed(0)
images, digits = draw_digits(4000)
a_three = images[digits == 3][0]
diagrams.patches.vision_transformer(a_three.clamp(0, 1), patch=4, d_model=48, n_layers=2)


# %% id="vision-transformer"
class VisionTransformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches, self.output = nn.Linear(16, 48), nn.Linear(48, 10)
        self.layers = nn.ModuleList(parts.EncoderLayer(48, 4, 192) for _ in range(2))
        initialize(self)
        self.positions = nn.Parameter(0.5 * torch.randn(16, 48))

    def forward(self, patches: Tensor) -> Tensor:
        x = self.patches(patches) + self.positions
        for layer in self.layers:
            x = layer(x)
        return self.output(x.mean(dim=1, keepdim=True))  # (batch, 1, 10)


# %% [markdown]
# Trained on 3,500 images, the model classifies about 9 of 10 new ones correctly.
#
# **Predict.** What fraction does it classify correctly when the patches of all of them are shuffled in the same way:
# near 0.1, 0.5 or 0.9? (Three runs, folded: about 10 seconds.)

# %% tags=["prediction"]
prediction = ...


# %% id="images-classified" tags=["hide-input", "approximate"]
patches, new_patches, new_digits = in_patches(images[:3500]), in_patches(images[3500:]), digits[3500:]


def draw_images() -> tuple[Tensor, Tensor]:
    some = torch.randint(3500, (32,))
    return patches[some], digits[some]


classified = {"new images": [], "patches shuffled": []}
for seed in range(3):
    torch.manual_seed(seed)
    model, shuffled = VisionTransformer(), new_patches[:, torch.randperm(16)]
    fit(model, draw_images, 350, warmup=30)
    for how, asked in {"new images": new_patches, "patches shuffled": shuffled}.items():
        classified[how].append((model(asked)[:, 0].argmax(dim=-1) == new_digits).float().mean().item())
compare(prediction, measured=sum(classified["patches shuffled"]) / 3, choices=(0.1, 0.5, 0.9))
pd.DataFrame(classified, index=[f"seed {seed}" for seed in range(3)]).T.round(2)

# %% [markdown]
# The same layers classify images, and this model relies on where each patch belongs: with patches shuffled only after
# training, it is about as good as a guess. The paper's models are larger, and use pre-norm, GELU and a *class token* in
# place of the mean. **Vision-language models** project such a model's outputs, and put them among the embeddings of the
# text.

# %% [markdown]
# ## Your experiment
#
# Ungraded, about 20 minutes. Test a claim of your own as this lesson tests its claims, or begin with this one:
#
# **Claim.** Sums and norms serve the stack, not the layer: one layer that has neither (`Neither`) still knows at least
# 8 of 10 facts. (If it holds: with how many layers does it fail?)
#
# **Prediction.** Before you run anything, write down in how many of three runs the claim will hold.
#
# **Verdict.** Say in one sentence what the runs show. A claim that fails is a result, too.

# %% id="experiment" tags=["experiment", "skip-execution"]
prediction = ...  # in how many of the three runs will the claim hold?
holds = []
for seed in range(3):
    torch.manual_seed(seed)
    # Train the layer that has neither: learn_facts(Neither, 1, seed) returns the fraction that it knows.
    holds.append(...)  # is that at least 0.8? True or False
print("predicted:", prediction, " measured:", holds)
# Verdict:

# %% [markdown]
# ## In short
#
# Attention makes positions alike. A residual connection delays that, norms keep numbers and gradients in bounds, and in
# pre-norm the stream itself is never scaled down. Without each part:
#
# | part | what it does | without it |
# |---|---|---|
# | residual connection | keeps what a position had | alike after two layers; gradient at `w_q` vanishes from layer 6 |
# | norm | keeps numbers and gradients at one size | with our weights, both explode; a saturated softmax |
# | either of the two | keeps the numbers from vanishing | without both, less than a hundred-thousandth is left |
# | FFN | computes at each position | fewer facts after 250 steps, even with as many parameters in attention |
# | attention | moves something between positions | without the half that attends ahead, a gap is filled by guessing |
#
# - Post-norm normalizes the sums, pre-norm the inputs of the sublayers. In 200 steps, at 0.003 and at 0.01, post-norm
#   learned our task with 2 layers and pre-norm with 8. Warm-up helped 8 layers of post-norm a little here; in long
#   runs, deep post-norm is reported to need it (Xiong et al.).

# %%
tokens = torch.randint(1, 48, (2, 11))
print({"batch": 2, "n": 11, "vocab_size": 48, "d_model": 64, "n_heads": 4, "d_ff": 256, "n_layers": 1})
trace_shapes(parts.Encoder(48, 64, 4, 256, 1, 24), tokens)

# %% [markdown]
# ## New words
#
# The words of all lessons are in the [glossary](glossary.ipynb).
#
# - **residual connection**: the sum of a sublayer's input and its output.
# - **residual stream**: the vectors that run through the stack, and to which each sublayer adds.
# - **LayerNorm**: normalizes each vector over its features.
# - **BatchNorm**: normalizes each feature over all positions of all examples in a batch.
# - **feed-forward network**: two linear layers with a ReLU or GELU between them; FFN for short.
# - **position-wise**: done at each position by itself.
# - **sublayer**: the attention or the feed-forward network of a layer.
# - **post-norm**: the layout with a norm after each residual sum.
# - **pre-norm**: the layout with a norm on each sublayer's input.
# - **buffer**: a tensor that belongs to a module but is not trained.
# - **warm-up**: a learning rate that rises over the first steps.
# - **dropout**: setting randomly chosen numbers to 0 in training.

# %% [markdown]
# - **masked language model**: a model trained to predict hidden tokens from those around them.
# - **pretraining**: training on plentiful data, before the task at hand.
# - **fine-tuning**: further training of a pretrained model, on the labels of a task.
# - **vision transformer**: an encoder whose tokens are the patches of an image; ViT for short.
# - **patch**: a small square of an image, which a linear layer turns into a vector.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
#
# <details><summary>What are residual connections for?</summary>
#
# Each sublayer only adds to what was there, so a layer can begin by changing little, and positions stay distinct for
# longer: without them attention makes all positions nearly alike within two layers. (<i>Stacking attention</i>)
# "Against vanishing gradients" is half of the truth. In 24 layers with norms and no sums, the gradient at the vectors
# kept its size on its way back. At `w_q` it was below a millionth from layer 6 on, since equal positions leave the
# softmax nothing to choose. With neither, gradient and numbers vanished. (<i>Without the sums, the norms, or both</i>)
# They come from networks for images, where deeper stacks without them had a larger *training* error (degradation; He et
# al., 2015).
# </details>
#
# <details><summary>How many times does a self-attention sublayer use x?</summary>
#
# Four times: as queries, keys and values, and once more in the sum, untouched. (<i>Post-norm</i>)
# </details>
#
# <details><summary>In what shape do tokens enter the encoder?</summary>
#
# As integers of shape (batch, n), not (batch, n, 1): the embedding adds the last axis. (<i>The stack</i>)
# </details>
#
# <details><summary>Why LayerNorm and not BatchNorm?</summary>
#
# BatchNorm mixes the sentences of a batch and their padding; in inference, it replaces their mean and variance by
# averages kept from training. LayerNorm works on each vector by itself, always in the same way. (<i>BatchNorm</i>)
# </details>
#
# <details><summary>Over what does LayerNorm average: the sentence, the batch, the layers?</summary>
#
# None of these: over the d_model features of one position. (<i>LayerNorm</i>)
# </details>
#
# <details><summary>Pre-norm or post-norm: what is the difference, and what follows for training?</summary>
#
# Post-norm is norm(x + f(x)); pre-norm is x + f(norm(x)), with a norm at the end of the stack. In deep post-norm stacks
# every layer counts in full, and at an ordinary learning rate they may fail to train without warm-up. Pre-norm can be
# stacked deeper, and here needed none; in return, its upper layers change little. (<i>How deep can each be
# stacked?</i>)
# </details>
#
# <details><summary>Is x = norm(x); x = x + f(x) pre-norm?</summary>
#
# No. The residual starts from the normalized x, so x itself does not come through. (<i>Pre-norm</i>)
# </details>

# %% [markdown]
# <details><summary>What does the feed-forward network do, and how large is it?</summary>
#
# It computes at each position by itself; nothing passes between positions. With d_ff = 4 d_model it has two thirds of a
# layer's parameters, and here it learned facts faster than attentions with as many parameters: after 250 steps, one
# layer with an FFN knew more than 9 of 10 random facts, and three layers of attention alone about 8 of 10. (<i>The
# feed-forward network</i>, <i>Without the FFN</i>) The 4 is a choice: in the paper's table 3 (C), translation improves
# with d_ff, from 25.4 BLEU at 1,024 to 25.8 at 2,048 and 26.2 at 4,096.
# </details>
#
# <details><summary>Why are embeddings multiplied by √d_model?</summary>
#
# Where they are drawn with variance 1/d_model (as when the same matrix also makes the output, lesson 08), their numbers
# are far smaller than the positions', 0.7, and would drown. Drawn with variance 1, as torch draws them, they need no
# factor. (<i>The stack</i>)
# </details>
#
# <details><summary>What does dropout do in train() and in eval()?</summary>
#
# In train() it sets a fraction p of the numbers to 0 and divides the others by 1 − p, so that the mean stays. In eval()
# it does nothing. (<i>Dropout</i>)
# </details>
#
# <details><summary>What is wrong with nn.ModuleList([layer] * 6)?</summary>
#
# It holds one layer six times: one set of parameters. (<i>The stack</i>)
# </details>
#
# <details><summary>What can an encoder do that a decoder cannot?</summary>
#
# Attend to what comes after. For gaps in a text, that made the difference. (<i>An encoder by itself</i>)
# </details>
#
# <details><summary>How does a Transformer read an image?</summary>
#
# In patches: a linear layer turns each into a vector, positions are added, and an encoder does the rest. With patches
# shuffled after training, an image is hardly recognized. (<i>★ Images: patches as tokens</i>)
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
#   (2024), [arXiv:2403.17887](https://arxiv.org/abs/2403.17887): upper layers that are hardly missed.
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
# You have an encoder that can be stacked. Lesson 07 gives it a partner that writes.
#
# How far did you get, and how well did you predict?

# %% id="tally"
tally()

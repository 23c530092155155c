# %% [markdown] id="title"
# # 06 · The encoder: layers that can be stacked
#
# **The question.** Attention lets every position look around, once. Reading takes many looks. How are they stacked, and
# what keeps a stack of 6 or 24 layers from falling apart?
#
# **Afterwards you can** write LayerNorm, the feed-forward network, both kinds of layer and the whole encoder, say what
# each part is for, and train an encoder that fills gaps in texts.
#
# Reading: 40 minutes. Exercises: 60 minutes (five core, one stretch ★). Half-way there is a good place to stop.

# %% [markdown]
# ## Before you start
#
# Three questions from earlier lessons. Answer each one aloud, then open it.
#
# <details><summary>Lesson 03: what shape does self-attention make of (2, 11, 64)?</summary>
#
# (2, 11, 64) again. So its output can be the input of another attention.
# </details>
#
# <details><summary>Lesson 04: what does a padding mask hide, and from whom?</summary>
#
# It hides the padding as *keys*, from every query.
# </details>
#
# <details><summary>Lesson 05: how large are the numbers of a sinusoidal encoding?</summary>
#
# Between −1 and 1, at every position and in every column.
# </details>

# %% id="imports"
import math
import random
import re
from datetime import date, timedelta

import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_lab import initialise, plots, record_attention, trace_shapes
from transformer_lab.course import check, compare, hint, parts, solution
from transformer_lab.data.dates import write_date

# %%
torch.manual_seed(6)
torch.set_printoptions(precision=2, sci_mode=False)

# %% [markdown]
# ## From characters to vectors
#
# Our text is `3 mars 2021`. A model does not see characters but numbers, called **tokens**: here, the place of each
# character in a list. `nn.Embedding(vocab_size, d_model)` is a table with a learned row for every token. To embed is
# to look rows up.
#
# The Transformer multiplies what it looks up by √d_model, and adds the positions. Why that factor? It depends on how
# the table starts out, and the paper does not say. Our library, like many, draws its numbers with variance 1/d_model
# (lesson 08 says why).
#
# **Predict.** d_model is 512. How large is a typical number of the table: near 0.04, 0.7 or 20?

# %% tags=["prediction"]
prediction = ...


# %%
def size(x: Tensor) -> float:
    """The root mean square: how large a typical number is."""
    return x.square().mean().sqrt().item()


table = nn.Embedding(60, 512)
print(f"as torch draws it: {size(table.weight):.1f}")
initialise(table)  # the library's way: with variance 1/d_model
embedded, positions = table(torch.arange(11)), parts.sinusoidal_encoding(11, 512)
compare(prediction, measured=round(size(embedded), 2))
print(f"positions: {size(positions):.1f}, embeddings times √512: {size(512**0.5 * embedded):.1f}")
print(f"as torch draws it, times √512, beside the positions: {512**0.5 / size(positions):.0f} times as large")

# %% [markdown]
# Without the factor, embeddings are tiny beside the positions. What would attention see of two different characters at
# the same place?

# %%
for name, factor in {"without the factor": 1.0, "times √d_model": 512**0.5}.items():
    one, other = factor * embedded[0] + positions[3], factor * embedded[1] + positions[3]
    print(f"{name}: cosine {torch.cosine_similarity(one, other, dim=0):.1f}")

# %% [markdown]
# Nearly the same vector, without it. The factor makes character and place about equally loud. (With torch's own numbers
# it would drown the places. Factor and start belong together.)

# %% [markdown]
# ## Why not simply attention on attention?
#
# Stacked, each reads what the one before it gave. We take eleven random vectors, one for each position, and layers that
# are not trained yet. In each is an attention (`self_attention`) and a small network (`feed_forward`).
#
# **Predict.** After 12 attentions in a row, what is the cosine of two positions, on average: near 0, 0.5 or 1?

# %% tags=["prediction"]
prediction = ...


# %%
def alike(x: Tensor) -> float:
    """The mean cosine of different positions."""
    directions = F.normalize(x[0], dim=-1)  # each of length 1
    n = len(directions)
    return ((directions @ directions.T).sum().item() - n) / (n * n - n)


def stack(kind: type[nn.Module], depth: int, d_model: int = 64) -> nn.ModuleList:
    layers = nn.ModuleList(kind(d_model, 4, 4 * d_model) for _ in range(depth))  # 4 heads
    initialise(layers)  # small random matrices, and biases of 0
    return layers


def follow(x: Tensor, layers: nn.ModuleList, step) -> tuple[list[float], float]:
    """How alike the positions are after each layer, and how large the numbers are at the end."""
    likeness = []
    for layer in layers:
        x = step(layer, x)
        likeness.append(alike(x))
    return likeness, size(x)


# %%
steps = {
    "attention alone": lambda layer, x: layer.self_attention(x, x, x),
    "attention, then network": lambda layer, x: layer.feed_forward(layer.self_attention(x, x, x)),
    "x + attention": lambda layer, x: x + layer.self_attention(x, x, x),
}
layers, x = stack(parts.EncoderLayer, 12), torch.randn(1, 11, 64)
with torch.no_grad():
    followed = {name: follow(x, layers, step) for name, step in steps.items()}
compare(prediction, measured=round(followed["attention alone"][0][-1], 1))
curves = {name: likeness for name, (likeness, _) in followed.items()}
ax = plots.lines(range(1, 13), curves, xlabel="layers", ylabel="cosine of two positions")
rows = {name: [likeness[1], likeness[-1], size] for name, (likeness, size) in followed.items()}
pd.DataFrame(rows, index=["alike after 2", "alike after 12", "size after 12"]).T.round(1)

# %% [markdown]
# An average of averages is ever more of an average: after two attentions the positions can hardly be told apart, and a
# network behind each does not help. Adding x helps: what a position had is still there, and attention only adds to it.
# This sum is a **residual connection**. It slows the blur down; it does not end it. And where the numbers shrank, now
# they grow.

# %% [markdown]
# ## LayerNorm
#
# So after each sum the vectors are brought back to one size. **LayerNorm** takes each vector by itself: subtract the
# mean of its $d$ numbers, and divide by their standard deviation. Then each feature is stretched and shifted by
# learned numbers, so that training may undo some of it.
#
# $$\operatorname{LayerNorm}(x)_i = w_i\,\frac{x_i - \mu}{\sqrt{\sigma^2 + \varepsilon}} + b_i, \qquad
# \mu = \frac{1}{d}\sum_j x_j, \quad \sigma^2 = \frac{1}{d}\sum_j (x_j - \mu)^2$$
#
# $x$ is one vector of shape (d), $w$ and $b$ have the shape (d), too. ε is small, and keeps a vector of equal numbers
# from being divided by 0.
#
# **Predict.** x is (4, 0, 0, 0), w = 1, b = 0 and, for once, ε = 1. What is the first number of the result?

# %% tags=["prediction"]
prediction = ...

# %%
vector = torch.tensor([4.0, 0.0, 0.0, 0.0])
normed = F.layer_norm(vector, (4,), eps=1.0)  # torch's
compare(prediction, measured=normed[0].item())
print("mean 1, deviations 3, −1, −1, −1, variance 12/4 = 3, root of 3 + 1 = 2:", [round(v, 1) for v in normed.tolist()])

# %% [markdown]
# **Exercise.** Write it, for vectors with any axes in front. `x.mean(dim=-1, keepdim=True)` averages over the last
# axis and leaves it there with length 1, so that the result can be subtracted from x. Mind that torch's `var` and
# `std` divide by d − 1 unless they are given `unbiased=False`.


# %% id="layer_norm" tags=["exercise"]
def layer_norm(
    x: Float[Tensor, "*batch d"], weight: Float[Tensor, " d"], bias: Float[Tensor, " d"], eps: float = 1e-5
) -> Float[Tensor, "*batch d"]:
    """Bring every vector to mean 0 and variance 1 over its features, then stretch and shift each feature."""
    raise NotImplementedError


# %% id="check-layer_norm"
check(layer_norm)

# %% [markdown]
# ### Another norm
#
# In image models another norm is common: **BatchNorm** norms each feature over all the examples of the batch, and over
# all their places.
#
# **Predict.** A sentence of 5 tokens is normed alone, and then beside a longer one, padded. For which norm does that
# change its vectors: `"layer"`, `"batch"`, `"both"` or `"neither"`?

# %% tags=["prediction"]
prediction = ...

# %%
short, long = torch.randn(1, 5, 64), 2 + torch.randn(1, 11, 64)
batch = torch.cat([F.pad(short, (0, 0, 0, 6)), long])  # (2, 11, 64): six vectors of zeros behind the short one
norms = {
    "layer": lambda x: parts.layer_norm(x, torch.ones(64), torch.zeros(64)),
    "batch": lambda x: nn.BatchNorm1d(64)(x.flatten(0, 1)).view(x.shape),
}
changes = {name: (norm(batch)[:1, :5] - norm(short)).abs().max().item() for name, norm in norms.items()}
compare(prediction, measured=" and ".join(name for name, change in changes.items() if change > 0.01))
print({name: round(change, 1) for name, change in changes.items()})
beside = torch.cat([short, long[:, :5]])  # a neighbour of the same length: no padding
print(f"batch, without padding: {(norms['batch'](beside)[:1] - norms['batch'](short)).abs().max():.1f}")
norm = nn.BatchNorm1d(64)
in_train = norm(short[0])  # norms by what it sees, and remembers a part of that for eval()
print(f"batch, eval() instead of train(): {(norm.eval()(short[0]) - in_train).abs().max():.1f}")

# %% [markdown]
# With BatchNorm, neighbours and padding leak in. (In `eval()` it uses means and variances that it remembers from
# training instead. Then nothing leaks, but it computes something else than in training.) LayerNorm knows one vector at
# a time: no batch, no length, no neighbours. It does not norm over the sentence either.

# %% [markdown]
# ## The feed-forward network
#
# Attention finds and mixes: a head's output is a weighted sum of values. What to make of it is left to the second half
# of a layer, a small network: to $d_\text{ff}$ features, usually four times as many, cut off what is negative, and
# back.
#
# $$\operatorname{FFN}(x) = \max(0,\, x W_1 + b_1)\, W_2 + b_2$$
#
# $W_1$ is (d_model, d_ff), $W_2$ is (d_ff, d_model): our layers `w_1` and `w_2`. The max is taken number by number;
# torch calls it `torch.relu` (ReLU). Many models have GELU there, a smooth version.
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
# **Predict.** We change the fourth of eleven vectors, and look at the outputs of network and attention. At how many
# positions does each change?

# %% tags=["prediction"]
prediction_network, prediction_attention = ..., ...

# %%
network, attention = parts.FeedForward(64, 256), parts.MultiHeadAttention(64, 4)
x = torch.randn(1, 11, 64)
changed = x.clone()
changed[0, 3] += 1.0
moved = [~torch.isclose(f(x), f(changed), atol=1e-6).all(dim=-1) for f in (network, lambda x: attention(x, x, x))]
compare(prediction_network, measured=int(moved[0].sum()))
compare(prediction_attention, measured=int(moved[1].sum()))
counts = [sum(p.numel() for p in module.parameters()) for module in (network, attention)]
print(f"parameters of the network: {counts[0]:,}, of the attention: {counts[1]:,}")

# %% [markdown]
# The network is position-*wise*: nothing passes between positions there. All of that is attention's work. But two
# thirds of the parameters are the network's: 2 · 4 · d_model² against 4 · d_model².

# %% [markdown]
# ## The layer of the paper
#
# Now all parts are there. A layer has two **sublayers**, attention and network. Around each there is a residual and a
# norm. In the paper, the norm comes last, and so this layout is called **post-norm**:
#
# $$x \leftarrow \operatorname{LayerNorm}(x + \operatorname{Attention}(x, x, x)), \qquad
# x \leftarrow \operatorname{LayerNorm}(x + \operatorname{FFN}(x))$$
#
# All of it has the shape (batch, n, d_model). `nn.LayerNorm(d)` is a module around the function you wrote: it holds
# weight and bias, as ones and zeros to start with.
#
# **Exercise.** Write `forward`. The parts made in `__init__` are yours where they have passed. (The paper also drops
# some numbers at random while training. We leave that out, and come back to it.)


# %% id="EncoderLayer" tags=["exercise"]
class EncoderLayer(nn.Module):
    """Look at all positions, then compute at each; add each result to what was there, and norm the sum (post-norm)."""

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
# ---
#
# **Half-way.** A good place to stop for today. You have the layer of the paper, and know why each part is there. The
# second half moves the norm, stacks layers, finds out which stacks can be trained, and trains one.

# %% [markdown]
# ## Moving the norm
#
# Most models since have the norm elsewhere. **Pre-norm** norms what a sublayer *reads*, and leaves the sum alone:
#
# $$x \leftarrow x + \operatorname{Sublayer}(\operatorname{LayerNorm}(x))$$
#
# Then x passes through the whole stack and is only ever added to. As nothing norms the last sum, a pre-norm stack has
# one more norm at its end.
#
# **Exercise.** Write this layer. The normed x is needed for queries, keys and values.


# %% id="PreNormEncoderLayer" tags=["exercise"]
class PreNormEncoderLayer(nn.Module):
    """Look at all positions, then compute at each; norm what each sublayer reads, and only add what it says."""

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

# %% [markdown]
# And the blur that we began with? Eleven random vectors once more, through 12 whole layers of each kind:

# %%
with torch.no_grad():
    for kind in (parts.EncoderLayer, parts.PreNormEncoderLayer):
        likeness, large = follow(torch.randn(1, 11, 64), stack(kind, 12), lambda layer, x: layer(x))
        print(f"{kind.__name__}: alike after 12: {likeness[-1]:.1f}, size after 12: {large:.0f}")

# %% [markdown]
# It is still there. Post-norm keeps the size, and shrinks what came from below with every sum. Pre-norm lets x grow,
# and keeps somewhat more apart. That is how stacks *begin*.

# %% [markdown]
# ## The stack
#
# The encoder: look tokens up, scale, add positions, and go through the layers. A `nn.ModuleList` is a list whose
# modules torch knows about.
#
# **Predict.** One layer of width 64 has 49,984 parameters. How many has `nn.ModuleList([layer] * 6)`? And how many does
# torch find in a model that keeps six in a plain Python list?

# %% tags=["prediction"]
prediction_times_six, prediction_plain = ..., ...

# %%
layer, plain = parts.EncoderLayer(64, 4, 256), nn.Module()
plain.layers = [parts.EncoderLayer(64, 4, 256) for _ in range(6)]
candidates = [nn.ModuleList([layer] * 6), plain, stack(parts.EncoderLayer, 6)]
counts = [sum(p.numel() for p in model.parameters()) for model in candidates]
compare(prediction_times_six, measured=counts[0])
compare(prediction_plain, measured=counts[1])
print(f"six layers in a ModuleList: {counts[2]:,}")

# %% [markdown]
# `[layer] * 6` is six times the *same* layer, and what torch does not know of is neither trained nor saved. In a model
# with other parameters, nothing complains.
#
# **Exercise.** Write the encoder's `forward`. `positions` is a **buffer**: it belongs to the model, but is not
# trained. (Nor is it saved, with `persistent=False`: it can be computed again.) It has more rows than most texts need.
# The mask goes to every layer. `self.embedding.embedding_dim` is d_model. (Whoever makes an encoder calls `initialise`
# next: the factor is meant for such tables.)


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
# ## How does a deep stack begin?
#
# Training follows gradients. We draw stacks of 2, 6, 12 and 24 layers of each kind, ask for random answers, go backward
# once, and look at how large the gradient is at `w_2` in each layer. (Mean of three draws.)
#
# **Predict.** With 24 layers, the *last* layer's gradient is larger in one kind. Which: `"post"` or `"pre"`?

# %% tags=["prediction"]
prediction = ...


# %%
def gradients(kind: type[nn.Module], depth: int, seed: int) -> Tensor:
    """The size of the gradient at each layer's w_2, before any training."""
    torch.manual_seed(seed)
    layers, output = stack(kind, depth), nn.Linear(64, 20)
    x, answers = torch.randn(8, 11, 64), torch.randint(20, (88,))
    for layer in layers:
        x = layer(x)
    if kind is parts.PreNormEncoderLayer:
        x = F.layer_norm(x, (64,))  # the norm at its end
    F.cross_entropy(output(x).flatten(0, 1), answers).backward()
    return torch.stack([layer.feed_forward.w_2.weight.grad.norm() for layer in layers])


# %%
kinds, depths = {"post": parts.EncoderLayer, "pre": parts.PreNormEncoderLayer}, [2, 6, 12, 24]
norms = {
    (name, depth): torch.stack([gradients(kind, depth, seed) for seed in range(3)]).mean(dim=0)
    for name, kind in kinds.items()
    for depth in depths
}
compare(prediction, measured="post" if norms["post", 24][-1] > norms["pre", 24][-1] else "pre")
ax = plots.lines(
    range(1, 25), {f"{name}-norm": norms[name, 24] for name in kinds}, xlabel="layer of 24", ylabel="gradient"
)
rows = {
    f"{name}, {w} layer": [norms[name, d][at].item() for d in depths]
    for w, at in {"first": 0, "last": -1}.items()
    for name in kinds
}
pd.DataFrame(rows, index=pd.Index(depths, name="layers")).T.round(1)

# %% [markdown]
# Nothing vanishes: the first layers get their gradient in both. The difference is at the top. In a pre-norm stack x
# grows from layer to layer, so what a further layer adds is an ever smaller share, and its gradient shrinks with depth.
# In a post-norm stack each sum is normed back to the same size, so the last of 24 layers counts in full. Does that
# hurt? Large gradients call for small steps (Xiong et al.); but Adam sets the size of each step itself. So rather:
# where every layer counts in full, one step changes the output too much (Liu et al.).

# %% [markdown]
# ## Warm-up
#
# The paper begins with tiny steps and lengthens them slowly (it does not say why), here over 100 steps. The task is an
# easy one: at every place of a random text, name the character before.


# %%
class Stacked(nn.Module):
    def __init__(self, kind: str, depth: int) -> None:
        super().__init__()
        self.embedding, self.positions = nn.Embedding(16, 32), parts.sinusoidal_encoding(11, 32)
        self.layers, self.output = stack(kinds[kind], depth, 32), nn.Linear(32, 16)
        self.norm = nn.LayerNorm(32) if kind == "pre" else nn.Identity()  # Identity does nothing
        initialise(self)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens) * 32**0.5 + self.positions
        for layer in self.layers:
            x = layer(x)
        return self.output(self.norm(x))


# %%
def train(kind: str, depth: int, warmup: int, longest: float = 0.003, steps: int = 240) -> tuple[Stacked, Tensor]:
    """Give the model, and its loss as a mean over every 20 steps."""
    torch.manual_seed(0)
    model, losses = Stacked(kind, depth), []
    optimizer = torch.optim.Adam(model.parameters(), fused=True)  # fused: the same, only faster
    for step in range(1, steps + 1):
        optimizer.param_groups[0]["lr"] = longest * min(1.0, step / max(warmup, 1))  # how long a step is
        tokens = torch.randint(16, (32, 11))
        loss = F.cross_entropy(model(tokens)[:, 1:].flatten(0, 1), tokens[:, :-1].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, torch.tensor(losses).view(-1, 20).mean(dim=1)


# %% [markdown]
# Guessing blindly among 16 characters costs a loss of log 16, about 2.8.
#
# **Predict.** Four post-norm stacks: 2 or 12 layers, with or without warm-up. How many of them still guess blindly
# after 240 steps?

# %% tags=["prediction"]
prediction = ...


# %%
def train_all(kind: str) -> dict[tuple[str, int, int], tuple[Stacked, Tensor]]:
    return {(kind, depth, warmup): train(kind, depth, warmup) for depth in (2, 12) for warmup in (0, 100)}


def in_words(losses: Tensor) -> str:
    return "blind" if losses[-1] > 2.7 else "learning" if losses[-1] > 1.0 else "learned"


trained = train_all("post")
compare(prediction, measured=sum(in_words(losses) == "blind" for _, losses in trained.values()))

# %%
trained |= train_all("pre")
curves = {f"{k}-norm, warm-up {w}": losses for (k, depth, w), (_, losses) in trained.items() if depth == 12}
ax = plots.lines(range(10, 240, 20), curves, xlabel="step", ylabel="loss, 12 layers")
words = pd.Series({how: in_words(losses) for how, (_, losses) in trained.items()})
print("post-norm, 12 layers, no warm-up, steps a third as long:", in_words(train("post", 12, 0, longest=0.001)[1]))
words.rename_axis(["kind", "layers", "warm-up"]).unstack("warm-up")

# %% [markdown]
# At 12 layers, with steps of this length, post-norm without warm-up learns nothing at all. With warm-up, or with
# shorter steps, it has begun to. Pre-norm learns with or without. At 2 layers all of them do.
#
# And if a part is missing? Two layers once more:


# %% tags=["nbval-ignore-output"]
class NoNetwork(parts.EncoderLayer):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.norm_1(x + self.self_attention(x, x, x, mask))


class NoResiduals(parts.EncoderLayer):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.norm_2(self.feed_forward(self.norm_1(self.self_attention(x, x, x, mask))))


kinds |= {"no network": NoNetwork, "no residuals": NoResiduals}
print("loss at the end:", {kind: f"{train(kind, 2, 0)[1][-1]:.1f}" for kind in ("post", "no network", "no residuals")})

# %% [markdown]
# Without residuals, even two layers learn slowly. Without the network they learn it all: this task is only looking.
#
# ### What a layer changes
#
# How far does a vector turn in one layer? We take the cosine of what goes into a layer and what comes out.
#
# **Predict.** In the last six layers of the trained pre-norm stack: what is it on average, near 0.5, 0.7 or 1?

# %% tags=["prediction"]
prediction = ...


# %%
def turns(model: Stacked, tokens: Tensor) -> list[float]:
    """The cosine of input and output of each layer, on average."""
    x, cosines = model.embedding(tokens) * 32**0.5 + model.positions, []
    for layer in model.layers:
        before, x = x, layer(x)
        cosines.append(torch.cosine_similarity(before, x, dim=-1).mean().item())
    return cosines


# %%
tokens = torch.randint(16, (100, 11))
stacks = {"pre-norm, trained": trained["pre", 12, 0][0], "post-norm, trained": trained["post", 12, 100][0]}
stacks |= {f"{kind}-norm, new": Stacked(kind, 12) for kind in ("post", "pre")}
with torch.no_grad():
    cosines = {name: turns(model, tokens) for name, model in stacks.items()}
last_six = {name: round(sum(c[6:]) / 6, 1) for name, c in cosines.items()}
compare(prediction, measured=last_six["pre-norm, trained"])
ax = plots.lines(range(1, 13), cosines, xlabel="layer", ylabel="cosine of input and output")
ax.set_ylim(0.0, 1.05)
ax.legend(loc="lower right", ncols=2, frameon=False)
print("mean of the last six layers:", last_six)

# %% [markdown]
# In the pre-norm stack the first layers turn the vectors most, and the last ones hardly at all: x has grown, and what
# one layer adds is small beside it. (From large pre-norm models some upper layers can be taken out with little harm:
# Gromov et al., below.) In a post-norm stack every layer turns the vectors about as much as any other.

# %% [markdown]
# ## Dropout
#
# While training, the paper sets a random tenth of the embedded text, and of what each sublayer says before it is added,
# to 0, so that the model cannot rely on single numbers. `nn.Dropout(0.1)` does that, and only in `train()` mode.
#
# **Predict.** A 1 goes into it and is *not* dropped, and the mean should stay. What comes out?

# %% tags=["prediction"]
prediction = ...

# %%
dropout, ones = nn.Dropout(0.1), torch.ones(10_000)
dropped = dropout(ones)
compare(prediction, measured=round(dropped.max().item(), 2))
print(f"share of zeros {(dropped == 0).float().mean():.2f}, mean {dropped.mean():.2f}")
print("the same twice, in train():", torch.equal(dropout(ones), dropout(ones)))
dropout.eval()
print("the same as went in, in eval():", torch.equal(dropout(ones), ones))

# %% [markdown]
# What stays is divided by 0.9, so that the mean stays what it was, and nothing has to be corrected in `eval()`. Whoever
# forgets `model.eval()` gets another answer each time.

# %% [markdown]
# ## An encoder by itself: filling gaps
#
# Without a decoder, an encoder already can read. Let it fill gaps: hide some characters of dates, here as four
# languages write them, and let it say what they were. BERT was trained like this, on pieces of words.


# %%
days = [date(2000, 1, 1) + timedelta(days=n) for n in range(0, 9000, 7)]
texts = [write_date(day, language, "long") for day in days for language in ("fr", "de", "es", "en_GB")]
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
        initialise(self)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.output(self.encoder(tokens, self.make_mask(tokens, 0)))


def fill_gaps(make_mask, steps: int = 700) -> GapFiller:
    torch.manual_seed(6)
    model = GapFiller(make_mask)
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    for step in range(1, steps + 1):
        optimizer.param_groups[0]["lr"] = 0.003 * min(1.0, step / 50)
        batch = training[torch.randint(len(training), (32,))]
        gaps = (torch.rand(batch.shape) < 0.15) & (batch != 0)
        loss = F.cross_entropy(model(batch.masked_fill(gaps, 1))[gaps], batch[gaps])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


# %% [markdown]
# Two models: one looks in both directions, the other only back, with the causal mask of lesson 04. In texts they have
# not seen, we hide the first letter of the month.
#
# **Predict.** How often is the model that looks both ways right, and how often the other one: near 0.1, 0.5 or 0.9?

# %% tags=["prediction"]
prediction_both, prediction_back = ..., ...


# %% tags=["nbval-ignore-output"]
@torch.no_grad()
def share_right(model: GapFiller) -> float:
    """How often the first letter of the month is found."""
    right = model(questions)[rows, at].argmax(dim=-1) == tests[rows, at]
    return right.float().mean().item()


models = {"both ways": fill_gaps(parts.padding_mask), "only back": fill_gaps(parts.decoder_mask)}
rows = torch.arange(500)
at = torch.tensor([re.search(r"[^\W\d]{3,}", text).start() for text in texts[:500]])  # three letters: a month
questions = tests.clone()
questions[rows, at] = 1
compare(prediction_both, measured=round(share_right(models["both ways"]), 2))
compare(prediction_back, measured=round(share_right(models["only back"]), 2))

# %%
question, heads = encode(["3 ?ars 2021"]), {}
for name, model in models.items():
    with record_attention(model) as weights, torch.no_grad():
        guess = model(question)[0, 2].argmax()
    heads[name] = weights["encoder.layers.1.self_attention"][0, :, 2:3, :11]  # what the gap looks at
    looks_ahead = heads[name][..., 3:].sum(dim=-1).max() > 0.5
    print(f"{name}: guesses m: {CHARACTERS[guess] == 'm'}; a head looks mostly ahead: {bool(looks_ahead)}")
letters = ["_" if c == " " else c for c in "3 ?ars 2021"]
ax = plots.weights(heads["both ways"][:, 0], queries=[f"head {i}" for i in range(4)], keys=letters)
_ = ax.set_ylabel("the query ?, by head")

# %% [markdown]
# What tells months apart comes after the gap. The one model looks there; the other can only know which letters are
# frequent behind a number and a space. (Layers, data and number of steps were the same.) Where the whole text is there
# from the start, nothing forbids looking ahead, and an encoder does.

# %% [markdown]
# ## Bug hunt
#
# A colleague sends you a pre-norm layer. Versions of it stand in many tutorials. It runs, and the shapes are right.
# Read it first and decide what is wrong; only then run the check, and mend it.


# %% id="mend-layer" tags=["bug-hunt"]
class LayerOfAColleague(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attention = parts.MultiHeadAttention(d_model, n_heads)
        self.feed_forward = parts.FeedForward(d_model, d_ff)
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        x = self.norm_1(x)
        x = x + self.self_attention(x, x, x, mask)
        x = self.norm_2(x)
        x = x + self.feed_forward(x)
        return x


# %% id="check-mend-layer"
check(LayerOfAColleague, "PreNormEncoderLayer")

# %% [markdown]
# <details><summary>How to find such a bug without a check</summary>
#
# Let the sublayers say nothing: set the last matrix and bias of each to 0. A pre-norm layer then has to hand x on
# exactly as it is (a must, but no proof). The cell below does it. (Once you have mended it, the colleague's layer does
# so, too.)
# </details>

# %%
x = 5 * torch.randn(1, 11, 64)
for name, kind in {"pre-norm": parts.PreNormEncoderLayer, "the colleague's": LayerOfAColleague}.items():
    silent = kind(64, 4, 256)
    for last in (silent.self_attention.w_o, silent.feed_forward.w_2):
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
    print(f"{name}: size {size(x):.0f}, after it {size(silent(x)):.0f}; x as it was: {torch.equal(silent(x), x)}")

# %% [markdown]
# ## ★ Transfer: one vector for a sentence
#
# To sort or compare whole texts, one needs one vector for each. A common way: average the vectors that the encoder
# gives, over the tokens of the sentence. In a batch some tokens are padding, and these must not count. A sentence of
# nothing but padding should get zeros. Write it, from nothing.


# %% id="sentence_vectors" tags=["exercise"]
def sentence_vectors(
    x: Float[Tensor, "batch n d_model"], tokens: Int[Tensor, "batch n"], pad_id: int
) -> Float[Tensor, "batch d_model"]:
    """Average the vectors of each sentence's real tokens; a sentence of padding gets zeros."""
    raise NotImplementedError


# %% id="check-sentence_vectors"
check(sentence_vectors)

# %%
padded = encode(["3 mars 2021"])  # 11 characters, 24 places
alone, encoder = padded[:, :11], models["both ways"].encoder
ways = {
    "mask and sentence_vectors": lambda t: parts.sentence_vectors(encoder(t, parts.padding_mask(t, 0)), t, 0),
    "mask, mean over all places": lambda t: encoder(t, parts.padding_mask(t, 0)).mean(dim=1),
    "no mask, sentence_vectors": lambda t: parts.sentence_vectors(encoder(t), t, 0),
}
with torch.no_grad():
    for name, way in ways.items():
        print(f"{name}: the same vector with padding: {torch.allclose(way(alone), way(padded), atol=1e-3)}")

# %% [markdown]
# Two things keep the padding out: the mask in the encoder, and here a mean over the real tokens only. Forget either,
# and what a text means depends on the texts it happens to share a batch with.

# %% [markdown]
# ## In short
#
# - Embeddings, drawn small, are multiplied by √d_model to be as loud as the positions.
# - A layer looks around (attention), then computes at each position (network). Around each there is a residual, which
#   keeps what was there, and a norm, which brings to one size what it is given.
# - LayerNorm works on one vector, over its features. It knows nothing of batch, length or neighbours.
# - Post-norm norms the sums; pre-norm norms what sublayers read, and needs one more norm at the end of the stack.
# - With steps of ordinary length, deep post-norm stacks may never start without warm-up. Pre-norm ones do.
# - An encoder looks both ways: it can fill gaps that a causal model can only guess.

# %%
tokens = torch.randint(1, 48, (2, 11))
print({"batch": 2, "n": 11, "vocab_size": 48, "d_model": 64, "n_heads": 4, "d_ff": 256, "n_layers": 1})
trace_shapes(parts.Encoder(48, 64, 4, 256, 1, 24), tokens)

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
#
# <details><summary>What are residual connections for?</summary>
#
# Each sublayer only adds to what was there, so a layer can begin by changing little. Without them attention makes all
# positions alike within two layers (with them more slowly), and even two layers learn slowly. (<i>Why not simply
# attention on attention?</i>, <i>Warm-up</i>)
# </details>
#
# <details><summary>Why LayerNorm and not BatchNorm?</summary>
#
# BatchNorm mixes sentences and padding of a batch, and computes something else in training than in use. LayerNorm works
# on each vector by itself. (<i>Another norm</i>)
# </details>
#
# <details><summary>Over what does LayerNorm average: the sentence, the batch, the layers?</summary>
#
# None of these: over the d_model features of one position. (<i>LayerNorm</i>)
# </details>
#
# <details><summary>Pre-norm or post-norm: what is the difference, and what follows for training?</summary>
#
# Post-norm norms x + f(x); pre-norm is x + f(norm(x)), with a norm at the end of the stack. In deep post-norm stacks
# every layer counts in full, and with steps of ordinary length training may never start without warm-up. Pre-norm
# starts; in return, its upper layers change little. (<i>How does a deep stack begin?</i>, <i>Warm-up</i>, <i>What a
# layer changes</i>)
# </details>
#
# <details><summary>Is x = norm(x); x = x + f(x) pre-norm?</summary>
#
# No. The residual starts from the normed x, so x itself does not come through. (<i>Bug hunt</i>)
# </details>

# %% [markdown]
# <details><summary>What does the feed-forward network do, and how large is it?</summary>
#
# It computes at each position by itself; nothing passes between positions. With d_ff = 4 d_model it has two thirds of a
# layer's parameters. (<i>The feed-forward network</i>)
# </details>
#
# <details><summary>Why are embeddings multiplied by √d_model?</summary>
#
# Where they are drawn with variance 1/d_model (as when the same matrix also makes the output, lesson 08), their numbers
# are far smaller than the positions', 0.7, and would drown. Drawn with variance 1, as torch does, they need no factor.
# (<i>From characters to vectors</i>)
# </details>
#
# <details><summary>What does dropout do in train() and in eval()?</summary>
#
# In train() it sets a share p of the numbers to 0 and divides the others by 1 − p, so that the mean stays. In eval() it
# does nothing. (<i>Dropout</i>)
# </details>
#
# <details><summary>What is wrong with nn.ModuleList([layer] * 6)?</summary>
#
# It holds one layer six times: one set of parameters. (<i>The stack</i>)
# </details>
#
# <details><summary>What can an encoder do that a decoder cannot?</summary>
#
# Look at what comes after. For gaps in a text, that made most of the difference. (<i>An encoder by itself</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Vaswani et al. (2017), [arXiv:1706.03762](https://arxiv.org/abs/1706.03762), sections 3.1, 3.3, 3.4, 5.3 and 5.4.
# - Xiong et al. (2020), [arXiv:2002.04745](https://arxiv.org/abs/2002.04745): pre-norm, post-norm and warm-up. Liu et
#   al. (2020), [arXiv:2004.08249](https://arxiv.org/abs/2004.08249): why deep stacks are hard to train. Dong et al.
#   (2021), [arXiv:2103.03404](https://arxiv.org/abs/2103.03404): what attention alone does to a stack. Gromov et al.
#   (2024), [arXiv:2403.17887](https://arxiv.org/abs/2403.17887): upper layers that are hardly missed.
# - `transformer_lab/layers/encoder_layer.py`, `norms.py`, `transformer_lab/models/encoder.py`: the library's versions.
#
# <details><summary>For instructors</summary>
#
# *Points*: layer_norm 2, FeedForward 1, EncoderLayer 3, PreNormEncoderLayer 2, Encoder 3; stretch: sentence_vectors
# 2. The bug hunt is not graded. *Where students stumble*: torch's unbiased variance; the axis of the norm; `+=`,
# which changes the caller's x; which x the second residual adds; positions cut by the batch instead of the length.
# *To ask in class*: what would happen with a norm both before and after each sublayer? Why does a post-norm stack
# need no norm at the end? Which of the experiments would look different with 512 features?
# </details>

# %% [markdown] id="title"
# # 04 · Masks
#
# **The question.** A decoder writes one word after another, and must not look at words that it has not written yet.
# How can it be trained on all of them at once? And how do you *prove* that it does not peek?
#
# **Afterwards you can** build every mask that a Transformer needs, apply it without nan, say why a loss can be too
# good to be true, and test any model for leaks.
#
# Reading: 40 minutes. Exercises: 70 minutes (five core, one stretch ★). It is a long lesson; half-way there is a
# place to stop.

# %% [markdown]
# ## Before you start
#
# Three questions from earlier lessons. Answer each one aloud, then open it.
#
# <details><summary>Lesson 01: along which axis of the weights does each row add up to 1, and what are rows and
# columns?</summary>
#
# Along the last axis. A row belongs to a query, a column to a key.
# </details>
#
# <details><summary>Lesson 02: what does softmax do with a score that is far below all others?</summary>
#
# It gives that key a weight of almost 0: the exponential of a very negative number is almost 0.
# </details>
#
# <details><summary>Lesson 03: which shape do the scores have when there are a batch and several heads?</summary>
#
# (batch, n_heads, n_query, n_key): one table per sentence and head.
# </details>

# %% id="imports"
import math
import time
from datetime import date, timedelta

import matplotlib.pyplot as plt
import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_lab import plots, record_attention, trace_shapes
from transformer_lab.course import check, compare, hint, parts, solution

# %%
torch.manual_seed(4)
torch.set_printoptions(precision=2, sci_mode=False)

# %% [markdown]
# ## One word at a time, or all at once
#
# A decoder learns from sentences like `<bos> I like you <eos>`. What stands at a position, here a word, is called a
# **token**. The first one says *begin*, the last one *end*. At every step the decoder has read a piece, and should say
# what comes next:

# %%
words = ["<bos>", "I", "like", "you", "<eos>"]
pd.DataFrame({"it has read": [" ".join(words[:t]) for t in range(1, 5)], "it should say": words[1:]})

# %% [markdown]
# Four lines to learn, so four runs of the model, each on a longer piece. But attention computes an output for *every*
# position anyway. Could one run on `<bos> I like you` give all four answers?
#
# **Predict.** We compare the last output of each of the four runs with the four outputs of one run. For how many of
# the four positions are they the same?

# %% tags=["prediction"]
prediction = ...

# %%
x = torch.randn(1, 4, 16)  # stands for the embedded <bos> I like you: (batch, n, d_model)
attention = parts.MultiHeadAttention(d_model=16, n_heads=4)
pieces = [x[:, :t] for t in range(1, 5)]
step_by_step = torch.cat([attention(piece, piece, piece)[:, -1:] for piece in pieces], dim=1)


def same_positions(all_at_once: Tensor) -> int:
    return int(((all_at_once - step_by_step).abs().amax(dim=-1) < 1e-5).sum())


compare(prediction, measured=same_positions(attention(x, x, x)))

# %% [markdown]
# Only the last. In one run, `<bos>` also looks at `I like you`: at the very words that it should learn to predict.
# Step by step it could not, for they were not there.
#
# So we *hide* them. A **mask** is a table of True and False, a row for each query, a column for each key. **True
# means: may look.** For a decoder, position $i$ may look at position $j$ if $j \le i$: itself and what came before.
# This is the **causal mask**.
#
# **Exercise.** Write it. A comparison of tensors, such as `a <= b`, gives a tensor of booleans. So does
# `torch.ones(2, 3, dtype=torch.bool)`, and `.tril()` keeps the lower triangle of a table.


# %% id="causal_mask" tags=["exercise"]
def causal_mask(length: int) -> Bool[Tensor, "length length"]:
    """Let every position look at itself and at what came before: True at row i, column j if j ≤ i."""
    raise NotImplementedError


# %% id="check-causal_mask"
check(causal_mask)

# %% [markdown]
# **Predict.** And now, with the mask: how many positions are the same?

# %% tags=["prediction"]
prediction = ...

# %%
compare(prediction, measured=same_positions(attention(x, x, x, parts.causal_mask(4))))
ax = plots.mask(parts.causal_mask(4), queries=words[:4], keys=words[:4])

# %% [markdown]
# All four. One run learns from every position, and each position knows exactly what it will know when the model
# writes by itself. (You will read that "the lower triangle" is hidden. Look at the picture: rows are queries, and
# hidden is the **upper** triangle. Hide the lower one instead, and the first word sees all that is to come.)
#
# How much does it save?
#
# **Predict.** A sequence of 256 positions. How many times as long as one masked run do the 256 runs take?

# %% tags=["prediction"]
prediction = ...

# %% tags=["nbval-ignore-output"]
long = torch.randn(1, 256, 16)
seconds = {"256 runs": [], "one masked run": []}
with torch.no_grad():
    for _ in range(5):  # in turns, so that a busy moment hits both
        start = time.perf_counter()
        for t in range(1, 257):
            attention(long[:, :t], long[:, :t], long[:, :t])
        middle = time.perf_counter()
        attention(long, long, long, parts.causal_mask(256))
        seconds["one masked run"].append(time.perf_counter() - middle)
        seconds["256 runs"].append(middle - start)
compare(prediction, measured=f"{min(seconds['256 runs']) / min(seconds['one masked run']):.0f} times")

# %% [markdown]
# As a rule fewer than 256 times: most pieces are shorter than the whole, and the mask takes time, too.
#
# ### Is the mask only for training?
#
# When the model writes, the future is not there. So one might leave the mask out.
#
# **Predict.** Two layers, one upon the other, are run on each piece *without* a mask. Are the last outputs the `"same"`
# as those of one masked run, or `"different"`?

# %% tags=["prediction"]
prediction = ...

# %%
layers = [parts.MultiHeadAttention(d_model=16, n_heads=4) for _ in range(2)]


def two_layers(x: Tensor, mask: Tensor | None) -> Tensor:
    for layer in layers:
        x = layer(x, x, x, mask)
    return x


trained = two_layers(x, parts.causal_mask(4))
without = torch.cat([two_layers(piece, None)[:, -1:] for piece in pieces], dim=1)
masked = torch.cat([two_layers(piece, parts.causal_mask(piece.shape[1]))[:, -1:] for piece in pieces], dim=1)
compare(prediction, measured="same" if torch.allclose(without, trained, atol=1e-5) else "different")
print("with the mask the same:", torch.allclose(masked, trained, atol=1e-5))

# %% [markdown]
# In the first layer, `<bos>` now looked at `I`; in the second, `I` looks at a `<bos>` that it never met in training.
# (With a single layer, it makes no difference.) The mask belongs to the model, in training and in use. It also means
# that what was computed for a word never changes when more words follow. Lesson 10 builds fast writing on that.

# %% [markdown]
# ## −∞ before, not 0 after
#
# How does a mask act? Weights come from scores by softmax, so there are two places: hide the *score* before, or the
# *weight* after. Take three keys with scores 2, 1 and 3, and hide the third.
#
# **Predict.** We compute the softmax of all three and then set the third weight to 0. What do the weights add up to?

# %% tags=["prediction"]
prediction = ...

# %%
scores, allowed = torch.tensor([2.0, 1.0, 3.0]), torch.tensor([True, True, False])
after = torch.softmax(scores, dim=-1) * allowed
before = torch.softmax(scores.masked_fill(~allowed, -torch.inf), dim=-1)  # fills where its first argument is True
compare(prediction, measured=round(after.sum().item(), 2))
pd.DataFrame({"0 after": after.tolist(), "-∞ before": before.tolist()}, index=["key 1", "key 2", "hidden"]).round(2)

# %% [markdown]
# Zeroed afterwards, the row no longer adds up to 1, so the output is no average any more. And there is something
# worse. What happens if the hidden key changes? We turn its score from 3 to 5, and then to 200, and watch the weight
# of key 1, also with a third way: zero afterwards, then divide by what is left.

# %%
rows = {}
for hidden_score in [3.0, 5.0, 200.0]:
    scores[2] = hidden_score
    after = torch.softmax(scores, dim=-1) * allowed
    before = torch.softmax(scores.masked_fill(~allowed, -torch.inf), dim=-1)
    rows[f"hidden score {hidden_score:.0f}"] = [after[0].item(), (after / after.sum())[0].item(), before[0].item()]
pd.DataFrame.from_dict(rows, orient="index", columns=["0 after", "0 after, divided", "-∞ before"]).round(2)

# %% [markdown]
# With 0 after, **the hidden key still speaks**: it is in the denominator of the softmax, and the better it matches,
# the less the others get. In a decoder, hidden keys are the future, and it leaks. Dividing by what is left is right
# on paper, but once the hidden key drowns the others, their weights are rounded to 0, and 0/0 is nan. With −∞ before,
# its exponential is 0, and it is out:
#
# $$w_{ij} = \frac{m_{ij}\, e^{s_{ij}}}{\sum_k m_{ik}\, e^{s_{ik}}}, \qquad m_{ij} = 1 \text{ if query } i
# \text{ may look at key } j \text{, else } 0$$
#
# Here $s_{ij}$ are the scores and $w_{ij}$ the weights, both (n_query, n_key), and so is the mask $m$.

# %% [markdown]
# ### A query that may see nothing
#
# What if a whole row of the mask is False? Then the formula says 0/0. It happens: short sentences are filled up with a
# token `<pad>`, which nobody should look at. If it stands in front and there is a causal mask, the first position may
# look neither ahead nor at itself.
#
# A common way out is to fill with −1,000,000,000 instead of −∞.
#
# **Predict.** A row of four keys, all hidden, all filled with −1e9. What weight does each get?

# %% tags=["prediction"]
prediction = ...

# %%
nothing = torch.zeros(1, 4, dtype=torch.bool)
query, keys, values = torch.randn(1, 8), torch.randn(4, 8), torch.randn(4, 2)
scores = query @ keys.T / 8**0.5
with_a_billion = torch.softmax(scores.masked_fill(~nothing, -1e9), dim=-1)
with_infinity = torch.softmax(scores.masked_fill(~nothing, -torch.inf), dim=-1)
compare(prediction, measured=with_a_billion[0, 0].item())
print("with -∞:", with_infinity[0].tolist())
print("output of torch's own function:", F.scaled_dot_product_attention(query, keys, values, nothing)[0].tolist())
print("-1e9 in float16:", torch.tensor(-1e9, dtype=torch.float16).item())

# %% [markdown]
# - **−1e9** gives equal weights: the query sees *all* that is hidden, padding and future alike. Nothing looks wrong,
#   and that is the trouble. (And in float16, numbers of 16 bits that end at ±65,504, −1e9 *is* −∞.)
# - **−∞** gives nan. How far does it go?
#
# **Predict.** `<pad> 3 mars 2021`, causal, padding hidden, −∞: after one layer, one of the four rows is nan. How many
# are nan after two layers?

# %% tags=["prediction"]
prediction = ...

# %%
mask = parts.causal_mask(4) & torch.tensor([False, True, True, True])  # nobody looks at position 0
x = torch.randn(4, 8)
nans = []
for _ in range(2):
    weights = torch.softmax((x @ x.T / 8**0.5).masked_fill(~mask, -torch.inf), dim=-1)
    x = weights @ x
    nans.append(int(x.isnan().any(dim=-1).sum()))
compare(prediction, measured=nans[1])
print("rows with nan after each layer:", nans)

# %% [markdown]
# All of them, although the row is hidden from everybody: its weight is 0, but $0 \cdot \text{nan}$ is nan.
#
# So a row in which nothing is allowed should give **zeros**, as torch's own function did above (not all its variants
# do) and our library does: no key takes part, so nothing is added. Is it enough to replace the nan by 0 *afterwards*?
# We look at the gradient, too, with −∞ put in by two ways that are both in use: *added* to the scores, or *filled in*
# as above.

# %%
scores = torch.randn(4, 4, requires_grad=True)
added = scores + torch.zeros(4, 4).masked_fill(~mask, -torch.inf)
filled = scores.masked_fill(~mask, -torch.inf)
for how, hidden in {"added": added, "filled": filled}.items():
    weights = torch.softmax(hidden, dim=-1).nan_to_num()  # nan becomes 0
    [gradients] = torch.autograd.grad(weights[:, 1].sum(), scores)
    print(f"{how:6} weights of the empty row {weights[0].tolist()}, gradients of its scores {gradients[0].tolist()}")

# %% [markdown]
# Both outputs are mended, but inside the softmax the row was nan, and so is what comes back from there. With −∞ added,
# it reaches the scores, and from there whatever made them. With −∞ filled in, it ends there: an overwritten score gets
# a gradient of 0. So fill −∞ in, and put 0 for nan afterwards: then it is enough.

# %% [markdown]
# **Exercise.** Write attention with a mask: scaled as in lesson 02, −∞ before the softmax, zeros for rows with
# nothing allowed. Masks may be smaller than the scores and are then broadcast, as in `scores.masked_fill(~mask, ...)`
# or `torch.where(mask, scores, ...)`. `mask.any(dim=-1, keepdim=True)` is True for rows with something allowed. In
# `"#n_query"`, `#` stands for: this size, or 1.


# %% id="masked_attention" tags=["exercise"]
def masked_attention(
    queries: Float[Tensor, "*batch n_query d_k"],
    keys: Float[Tensor, "*batch n_key d_k"],
    values: Float[Tensor, "*batch n_key d_v"],
    mask: Bool[Tensor, "*#batch #n_query #n_key"],
) -> Float[Tensor, "*batch n_query d_v"]:
    """Let every query mix the values it may see, by scaled scores; one that may see none gets zeros."""
    raise NotImplementedError


# %% id="check-masked_attention"
check(masked_attention)

# %%
x = torch.randn(4, 8)
for _ in range(2):
    x = parts.masked_attention(x, x, x, mask)
nans, zeros = x.isnan().any(dim=-1), (x == 0).all(dim=-1)
print(f"after two layers: {int(nans.sum())} rows of nan, {int(zeros.sum())} row of zeros")

# %% [markdown]
# ## Half-way stop
#
# So far:
#
# - A causal mask makes one run do the work of many. True means *may look*; the upper triangle is False.
# - It acts by −∞ on the scores. A 0 on the weights leaks.
# - A row with nothing allowed gives zeros; −∞ alone gives nan, −1e9 gives nonsense that looks fine.
#
# What follows: padding, both masks at once, and the test that finds out whether a model peeks.

# %% [markdown]
# ## Padding
#
# Sentences differ in length, and a tensor is a rectangle. So short ones are filled up with a token `<pad>`:

# %%
dates = [text.split() for text in ["3 mars 2021", "le 14 juillet 1789", "mai 1968"]]
vocabulary = ["<pad>", *dict.fromkeys(piece for text in dates for piece in text)]
tokens = torch.tensor([[vocabulary.index(piece) for piece in text] + [0] * (4 - len(text)) for text in dates])
pd.DataFrame([[f"{vocabulary[i]} ({i})" for i in row] for row in tokens.tolist()])

# %% [markdown]
# **Predict.** A fresh model, no mask. What share of their attention do the pieces of `3 mars 2021` give to the
# `<pad>` behind it?

# %% tags=["prediction"]
prediction = ...

# %%
embedding = nn.Embedding(len(vocabulary), 16)
x = embedding(tokens)  # (batch, n, d_model) = (3, 4, 16)
with record_attention(attention) as recorded:  # keeps the weights of all attentions that run inside it
    attention(x, x, x)
[weights] = recorded.values()  # (batch, n_heads, n_query, n_key)
compare(prediction, measured=round(weights[0, :, :3, 3].mean().item(), 2))

# %% [markdown]
# About a quarter, for a token that means nothing: to attention, `<pad>` is a word like any other. Worse, the answer
# for `3 mars 2021` would change with the *longest* sentence that happens to be in the same batch.
#
# **Exercise.** Write the mask that hides padding *as a key*. It must fit scores of shape (batch, n_heads, n_query,
# n_key), so it gets the shape (batch, 1, 1, n): the axes of length 1 are broadcast to all heads and all queries.
# Indexing with `None` adds such an axis: `x[:, None]`.


# %% id="padding_mask" tags=["exercise"]
def padding_mask(tokens: Int[Tensor, "batch n"], pad_id: int) -> Bool[Tensor, "batch 1 1 n"]:
    """Let everybody look at the real tokens and nobody at the padding."""
    raise NotImplementedError


# %% id="check-padding_mask"
check(padding_mask)

# %%
padded = F.pad(tokens, (0, 3))  # three more columns of <pad>
y = embedding(padded)
without = [attention(z, z, z)[:, :3] for z in (x, y)]
masked = [attention(z, z, z, parts.padding_mask(t, pad_id=0))[:, :3] for z, t in ((x, tokens), (y, padded))]
print("three more <pad>, outputs the same without a mask:", torch.allclose(*without, atol=1e-5))
print("                                      with a mask:", torch.allclose(*masked, atol=1e-5))

# %% [markdown]
# What about the *queries*? `<pad>` still asks, and its row of the output is nonsense. Let it be: nobody looks at it,
# and the loss leaves it out (lesson 08). Hiding it as a query as well would only make rows with nothing allowed.
#
# The mask belongs to the keys, wherever the queries come from. In cross-attention, the ten characters of `2021-03-03`
# ask the pieces of the source:

# %%
iso = torch.randn(3, 10, 16)  # one query for each character
source_mask = parts.padding_mask(tokens, pad_id=0)
print("mask", tuple(source_mask.shape), "fits scores", (3, 4, iso.shape[1], x.shape[1]))
print("output", tuple(attention(iso, x, x, source_mask).shape))

# %% [markdown]
# ## Both at once
#
# A decoder that learns from a batch needs both. A key may be looked at if it is a real token *and* does not come
# later.
#
# **Exercise.** Combine them. (batch, 1, 1, n) with (n, n) is broadcast to (batch, 1, n, n). For booleans, `&` is
# *and*, `|` is *or*, `~` is *not*.


# %% id="decoder_mask" tags=["exercise"]
def decoder_mask(tokens: Int[Tensor, "batch n"], pad_id: int) -> Bool[Tensor, "batch 1 n n"]:
    """Let every position look at the real tokens up to itself."""
    raise NotImplementedError


# %% id="check-decoder_mask"
check(decoder_mask)

# %%
behind = torch.tensor([[1, 2, 3, 0]])  # 3 mars 2021 <pad>
in_front = torch.tensor([[0, 1, 2, 3]])  # <pad> 3 mars 2021
_, axes = plt.subplots(1, 2, figsize=(10, 3.2), layout="constrained")
for ax, sentence in zip(axes, (behind, in_front)):
    names = [vocabulary[i] for i in sentence[0]]
    mask = parts.decoder_mask(sentence, pad_id=0)[0, 0]
    plots.mask(mask, queries=names, keys=names, ax=ax)
    print(" ".join(names), "· keys for each query:", mask.sum(dim=-1).tolist())

# %% [markdown]
# With padding in front, the first row is empty: there is the query that may see nothing.
#
# ### Do we need both?
#
# **Predict.** Padding *behind* the sentence, in a decoder. We leave the padding mask out and keep the causal one. Do
# the outputs of the real tokens stay the `"same"`? And with padding *in front*?

# %% tags=["prediction"]
prediction_behind, prediction_in_front = ..., ...

# %%
answers = []
for sentence in (behind, in_front):
    z = embedding(sentence)
    both = attention(z, z, z, parts.decoder_mask(sentence, pad_id=0))
    causal_only = attention(z, z, z, parts.causal_mask(4))
    real = sentence[0] != 0
    answers.append("same" if torch.allclose(both[0, real], causal_only[0, real], atol=1e-5) else "different")
compare(prediction_behind, measured=answers[0])
compare(prediction_in_front, measured=answers[1])

# %% [markdown]
# Padding behind the sentence *is* the future of every real token, so a causal mask hides it already. Many decoders
# get by without a padding mask for that reason. Without a causal mask, or with padding in front, it is needed.

# %% [markdown]
# ## The other convention
#
# Here, and in `F.scaled_dot_product_attention`, True means *may look*. In `nn.MultiheadAttention`, torch's ready-made
# module, a boolean True means *must not*.
#
# **Predict.** We hand it our causal mask as it is. Whom does the first of four positions look at: `"itself"` or `"the
# others"`?

# %% tags=["prediction"]
prediction = ...

# %%
torchs = nn.MultiheadAttention(embed_dim=16, num_heads=1, batch_first=True)
x = torch.randn(1, 4, 16)
ours = parts.causal_mask(4)
_, wrong = torchs(x, x, x, attn_mask=ours)
_, right = torchs(x, x, x, attn_mask=~ours)
compare(prediction, measured="itself" if wrong[0, 0, 0] > 0.5 else "the others")
print("first row, turned round:", [f"{w:.0f}" for w in right[0, 0].tolist()])
print("last row, as it is:     ", wrong[0, -1].tolist())
print("its output, no weights:", torchs(x, x, x, attn_mask=ours, need_weights=False)[0][0, -1, :4].tolist())

# %% [markdown]
# Nothing warns you. Only the last row gives it away, as nothing is left for it to look at; and if no weights are asked
# for, there is no nan. Whoever mixes code from two sources should look at one row of the weights first.

# %% [markdown]
# ## A loss that is too good
#
# Masks are easy to get wrong by one. What does that look like from outside? We train a small decoder to write dates,
# character by character: `<`, then `2021-03-03`, then `>`. All days of 100 years are equally likely.
#
# No model can know which day comes. We train on nine days of ten, that is 32,872 days. The best that it can do is to
# give each the same probability, 1/32872. The loss is minus the logarithm of the probability of what really comes: for
# a whole text, $\ln 32872 = 10.4$ (the unit is called nat), or for each of its 11 characters **10.4 / 11 = 0.95. On
# average, no honest loss gets below that.**

# %%
days = [(date(1950, 1, 1) + timedelta(i)).isoformat() for i in range(36525)]
alphabet = "<>-0123456789"
texts = torch.tensor([[alphabet.index(c) for c in f"<{day}>"] for day in days])  # (36525, 12)
kept_back = torch.arange(len(days)) % 10 == 0
seen, new = texts[~kept_back], texts[kept_back]
floor = math.log(len(seen)) / 11
print(f"from {days[0]} to {days[-1]}: {len(seen)} to train on; an honest loss is at least {floor:.2f}")


# %% [markdown]
# The model: an embedding, a vector for each position (lesson 05 says why), one attention, a small network. What the
# attention finds is added to what was there (lesson 06 says why). It reads the first 11 characters and says, at each,
# what comes next. The mask is given to it.


# %%
class SmallDecoder(nn.Module):
    def __init__(self, mask: Tensor, d_model: int = 64) -> None:
        super().__init__()
        self.mask = mask
        self.embedding, self.positions = nn.Embedding(13, d_model), nn.Embedding(11, d_model)
        self.attention = parts.MultiHeadAttention(d_model, n_heads=4)
        self.network = nn.Sequential(nn.Linear(d_model, 256), nn.ReLU(), nn.Linear(256, 13))

    def embed(self, tokens: Tensor) -> Tensor:
        return self.embedding(tokens) + self.positions.weight[: tokens.shape[1]]

    def decode(self, x: Tensor) -> Tensor:
        n = x.shape[1]
        return self.network(x + self.attention(x, x, x, self.mask[:n, :n]))

    def forward(self, tokens: Tensor) -> Tensor:
        return self.decode(self.embed(tokens))


# %%
def loss_of(model: nn.Module, batch: Tensor) -> Tensor:
    logits = model(batch[:, :-1])  # (batch, 11, 13): scores of what comes next
    return F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())


def train(model: nn.Module, steps: int = 250) -> list[float]:
    """Learn to say the next character; give the loss at each step."""
    torch.manual_seed(0)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    losses = []
    for _ in range(steps):
        loss = loss_of(model, seen[torch.randint(len(seen), (64,))])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% [markdown]
# Two models are alike but for their masks: that of the second, `.tril(1)`, ends one place too late.
#
# **Predict.** What is the loss of each after 250 steps?

# %% tags=["prediction"]
loss_honest, loss_leaky = ..., ...

# %% tags=["nbval-ignore-output"]
honest = SmallDecoder(parts.causal_mask(11))
leaky = SmallDecoder(torch.ones(11, 11, dtype=torch.bool).tril(1))
losses = {"honest": train(honest), "one place too late": train(leaky)}
final = {name: sum(loss[-50:]) / 50 for name, loss in losses.items()}
compare(loss_honest, measured=round(final["honest"], 2))
compare(loss_leaky, measured=round(final["one place too late"], 2))
ax = plots.lines(range(250), losses, xlabel="step", ylabel="loss (nats per character)")
ax.axhline(floor, color="black", linestyle=":", linewidth=1)
note = ax.text(250, floor - 0.05, "no honest model gets below", va="top", ha="right")

# %% [markdown]
# One of them knows the future. Would a test on days that neither has seen give it away?

# %% tags=["nbval-ignore-output"]
with torch.no_grad():
    print({name: round(loss_of(model, new).item(), 2) for name, model in (("honest", honest), ("leaky", leaky))})

# %% [markdown]
# No: the answer leaks there too. Now let both write by themselves, one character after another, each drawn from the
# model's probabilities.
#
# **Predict.** Of 200 texts by each, what share are real dates?

# %% tags=["prediction"]
share_honest, share_leaky = ..., ...


# %%
@torch.no_grad()
def write(model: nn.Module, n_texts: int = 200) -> list[str]:
    """Begin with <, then draw each next character from what the model says."""
    written = torch.zeros(n_texts, 1, dtype=torch.int64)
    for _ in range(11):
        probabilities = torch.softmax(model(written)[:, -1], dim=-1)
        written = torch.cat([written, torch.multinomial(probabilities, 1)], dim=1)
    return ["".join(alphabet[i] for i in row) for row in written.tolist()]


known = {f"<{day}>" for day in days}
texts_of = {"honest": write(honest), "leaky": write(leaky)}
shares = {name: sum(text in known for text in written) / 200 for name, written in texts_of.items()}
compare(share_honest, measured=round(shares["honest"], 1))
compare(share_leaky, measured=round(shares["leaky"], 1))

# %% tags=["nbval-ignore-output"]
pd.DataFrame({name: written[:4] for name, written in texts_of.items()})

# %% [markdown]
# **The model with the perfect loss writes next to no dates.** It learned to copy the next character from where that
# stands. When it writes, there is nothing there to copy.

# %% [markdown]
# ## The leak test
#
# A loss can be suspicious, but how would you *know*? For most data, nobody can compute how low an honest one could
# get. There is a test that needs neither training nor a look into the model:
#
# > Change what comes later. If anything before it moves, the model leaks.
#
# By hand, for the third character (number 2) of one text:

# %%
text = texts[:1, :-1]
changed = text.clone()
changed[0, 2] = (changed[0, 2] + 1) % 13  # another character
for name, model in (("honest", honest), ("leaky", leaky)):
    moved = (model(changed) - model(text)).abs().amax(dim=-1)[0] > 1e-4
    print(f"{name:6} outputs that moved: {[position for position, m in enumerate(moved.tolist()) if m]}")

# %% [markdown]
# The outputs at 2 and after it *may* move, though they need not: they know character 2. Output 1 may not, and in the
# leaky model it does.
#
# **Exercise.** Make a test of it, for any model and any tokens. Change *every* position but the first, one after the
# other. Mind three things. `b = a` copies nothing, `a.clone()` does. The new token must be another one, and one that
# the model knows: ids from 0 to `tokens.max()` are safe, and `%` helps. And some models throw dice while they train
# (dropout, lesson 06): `model.eval()` switches to the mode in which they are used, `model.training` tells the mode,
# `model.train(...)` sets it back.


# %% id="leaks_future" tags=["exercise"]
def leaks_future(model: nn.Module, tokens: Int[Tensor, "batch n"]) -> bool:
    """Say whether any output of the model, as it is in eval mode, depends on a token that comes later."""
    raise NotImplementedError


# %% id="check-leaks_future"
check(leaks_future)

# %%
untrained = SmallDecoder(torch.ones(11, 11, dtype=torch.bool))  # the mask forgotten altogether
models = {"honest": honest, "one place too late": leaky, "no mask, not trained at all": untrained}
pd.DataFrame({"leaks": {name: parts.leaks_future(model, texts[:8, :-1]) for name, model in models.items()}})

# %% [markdown]
# The third model leaks before its first step of training: nobody has to wait for a loss that looks odd.
#
# ### The same by gradient
#
# If an output does not depend on an input, its gradient there is 0. One backward pass per output shows all of it at
# once: row $t$ says which inputs move output $t$.


# %%
def influence(model: SmallDecoder, tokens: Tensor) -> Tensor:
    """Give the size of the gradient of output t at input s, in row t and column s."""
    x = model.embed(tokens).detach().requires_grad_()
    outputs = model.decode(x)[0].abs().sum(dim=-1)  # one number for each position
    rows = [torch.autograd.grad(output, x, retain_graph=True)[0][0] for output in outputs]
    return torch.stack(rows).norm(dim=-1)


_, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
names = [alphabet[i] for i in text[0]]
for ax, (name, model) in zip(axes, (("honest", honest), ("leaky", leaky))):
    moves = influence(model, text) > 0
    plots.mask(moves, names, names, ax, says=("does not move it", "moves it"))
    ax.set(title=name, xlabel="input", ylabel="output")
    print(f"{name}: {int(moves.triu(1).sum())} gradients from the future, {int(moves.tril().sum())} of 66 others")

# %% [markdown]
# The leaky model has just one diagonal too many. Why two tests? The gradient needs no tolerance, shows *where*, and
# shows a mask that hides too much. But it misses what leaks through an argmax. Changing tokens sees that, even in
# models that have no gradients.

# %% [markdown]
# ## Bug hunt
#
# A colleague hides "what is padding and what is in the future". Read it first, and decide what is wrong, before you
# run the check. Then mend it.


# %% id="mend-decoder-mask" tags=["bug-hunt"]
def decoder_mask_of_a_colleague(tokens, pad_id):
    n = tokens.shape[1]
    padding = (tokens == pad_id)[:, None, None, :]
    future = torch.ones(n, n, dtype=torch.bool).triu(1)
    hidden = padding & future
    return ~hidden


# %% id="check-mend-decoder-mask"
check(decoder_mask_of_a_colleague, "decoder_mask")

# %% [markdown]
# <details><summary>How to find such a bug without a check</summary>
#
# Print one row. With <code>3 mars 2021 &lt;pad&gt;</code>, the first query should see one key, and it sees three.
# Everyday <i>and</i> deceives: what is hidden is padding <b>or</b> future, what may be seen is real <b>and</b> not
# later. Turning a table round exchanges the two: not (a and b) is (not a) or (not b).
# </details>

# %% [markdown]
# ## ★ Transfer: a sliding window
#
# In long texts, every position looking at all before it is a lot of looking. Some language models let each position
# see only the last few: itself and the `window` − 1 positions before it. Write that mask, from nothing.


# %% id="sliding_window_mask" tags=["exercise"]
def sliding_window_mask(length: int, window: int) -> Bool[Tensor, "length length"]:
    """Let every position look at the last ``window`` positions up to and with itself."""
    raise NotImplementedError


# %% id="check-sliding_window_mask"
check(sliding_window_mask)

# %% [markdown]
# **Predict.** Four layers, each with a window of 3, in a sequence of 16. How many inputs, itself included, does the
# last output depend on?

# %% tags=["prediction"]
prediction = ...

# %%
x = torch.randn(1, 16, 16, requires_grad=True)
z, window = x, parts.sliding_window_mask(16, 3)
for layer in [parts.MultiHeadAttention(d_model=16, n_heads=4) for _ in range(4)]:
    z = z + layer(z, z, z, window)
z[0, -1].sum().backward()
compare(prediction, measured=int((x.grad[0].norm(dim=-1) > 0).sum()))
ax = plots.mask(window)
print("pairs that may look:", int(window.sum()), "in place of", int(parts.causal_mask(16).sum()))

# %% [markdown]
# Each layer reaches 2 further back, since what is seen has itself seen something: $1 + 4 \cdot 2$. A stack of narrow
# windows sees far.

# %% [markdown]
# ## In short
#
# - True means *may look*. Rows are queries, columns are keys; a causal mask is False above the diagonal.
# - With it, one run gives for every position what it would have said step by step.
# - Mask the scores with −∞. Zeroed weights leak; −1e9 covers up rows with nothing allowed, which should give zeros.
# - Padding is hidden as a key, (batch, 1, 1, n); a decoder joins both masks by `&`.
# - `nn.MultiheadAttention` means the opposite.
# - A loss that is too good is a bug until shown otherwise: change the future, and see whether the past moves.

# %%
q, k, v = torch.randn(2, 5, 8), torch.randn(2, 7, 8), torch.randn(2, 7, 3)
some = torch.ones(2, 1, 7, dtype=torch.bool)
sizes = ", ".join(str(tuple(z.shape)) for z in (q, k, v, some))
rows = [
    ("causal_mask", "length = 5", parts.causal_mask(5)),
    ("padding_mask", tuple(tokens.shape), parts.padding_mask(tokens, 0)),
    ("decoder_mask", tuple(tokens.shape), parts.decoder_mask(tokens, 0)),
    ("masked_attention", sizes, parts.masked_attention(q, k, v, some)),
]
shapes = [(name, str(ins), str(tuple(out.shape)), 0) for name, ins, out in rows]
pd.DataFrame(shapes, columns=["module", "input shapes", "output shape", "parameters"])

# %% [markdown]
# Masks have no parameters: nothing about them is learned. The small decoder, as the shape tracer of lesson 03 sees
# it:

# %%
trace_shapes(honest, texts[:5, :-1])

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
#
# <details><summary>Why does a decoder need a causal mask?</summary>
#
# So that one run over the whole sentence gives each position what it would have had step by step: itself and what
# came before. Then all positions train at once, and training matches use. (<i>One word at a time</i>: 1 of 4 equal
# without, 4 of 4 with it.)
# </details>
#
# <details><summary>Do you still need it when the model generates?</summary>
#
# Where a whole beginning is run through more than one layer, yes: without it earlier positions see later ones in the
# first layer, and hand on something else than in training. If only the newest token is run, and what came before is
# kept (lesson 10), there is nothing ahead to hide. (<i>Is the mask only for training?</i>)
# </details>
#
# <details><summary>Why −∞ before the softmax, and not 0 after?</summary>
#
# Zeroed afterwards, rows do not add up to 1, and the hidden scores still act through the denominator, which is a
# leak. Renormalising mends it only until a hidden score drowns the others. (<i>−∞ before, not 0 after</i>)
# </details>
#
# <details><summary>What happens if a row of the mask is all False?</summary>
#
# With −∞: 0/0, so nan, and in the next layer everywhere, as 0 times nan is nan. With −1e9: equal weights on all that
# is hidden. Best: give zeros. (<i>A query that may see nothing</i>)
# </details>

# %% [markdown]
# <details><summary>Why do padding masks have the shape (batch, 1, 1, n)?</summary>
#
# They hide keys, for all heads and all queries alike, so these axes have length 1 and are broadcast against (batch,
# n_heads, n_query, n_key). It fits any number of queries, as in cross-attention. (<i>Padding</i>)
# </details>
#
# <details><summary>Does a decoder with padding on the right need a padding mask?</summary>
#
# Not for its real positions: padding behind a sentence is their future, and hidden already. (The loss leaves it out all
# the same, lesson 08.) With padding on the left it does need one. (<i>Do we need both?</i>)
# </details>
#
# <details><summary>Training loss is near 0 and the output is garbage. What do you suspect?</summary>
#
# That the target leaks into the input: a mask that is missing, off by one or turned round. Held-out data do not show
# it. Change a later token and see whether an earlier output moves, or look at the gradients. (<i>A loss that is too
# good</i>, <i>The leak test</i>)
# </details>
#
# <details><summary>What does True mean in a PyTorch attention mask?</summary>
#
# In <code>F.scaled_dot_product_attention</code>: may look. In <code>nn.MultiheadAttention</code>: must not look.
# (<i>The other convention</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Vaswani et al. (2017), [arXiv:1706.03762](https://arxiv.org/abs/1706.03762), section 3.2.3, third point: the mask
#   in one sentence.
# - Beltagy et al. (2020), *Longformer*, [arXiv:2004.05150](https://arxiv.org/abs/2004.05150), section 3.1: sliding
#   windows.
# - `transformer_lab/attention/masks.py`, and `masked_softmax` in `dot_product.py` beside it: the library's versions.
#
# <details><summary>For instructors</summary>
#
# *Points*: causal_mask 1, masked_attention 4, padding_mask 2, decoder_mask 2, leaks_future 4; stretch:
# sliding_window_mask 2. The bug hunt is not graded. *Where students stumble*: which triangle (let them draw row 0);
# the axes of the padding mask; *and* against *or*; rows with nothing allowed; a leak test that compares the changed
# position too, or changes one position only. *To ask in class*: what would the loss of the leaky model be with
# `.tril(2)`, and why? Which of today's bugs would a held-out set have found? What does a leak test not find, if the
# labels themselves are shifted wrongly?
# </details>

# %% [markdown] id="title"
# # 04 · Masks
#
# **The question.** A decoder generates one word after another, and must not attend to words that do not exist yet. How
# can you train it on all the words of a sentence at once? A mask that is off by one lets the decoder peek at the next
# word, without an error message. How do you *test* that it doesn't?
#
# **Afterwards you can** build every mask that a Transformer needs, apply it without producing nan, explain why a loss
# can be too good to be true, and test any model for leaks.
#
# Reading: 37 minutes. Exercises: 50 minutes (five core, two stretch ★). With all predictions, runs and questions: about
# 100 minutes, with a good place to stop half-way. You can skip sections with a ★.

# %% [markdown]
# ## Before you start
#
# Three questions from earlier lessons. Answer each one aloud before you open it.
#
# <details><summary>Lesson 01: along which axis do attention weights add up to 1, and what do rows and columns
# mean?</summary>
#
# Along the last axis: each row adds up to 1. Each row belongs to a query, each column to a key.
# </details>
#
# <details><summary>Lesson 02: one score is far below all the others. What does softmax do with it?</summary>
#
# It gives that key a weight of almost 0: the exponential of a very negative number is almost 0.
# </details>
#
# <details><summary>Lesson 03: what is the shape of the scores for a batch of sentences and several heads?</summary>
#
# (batch, n_heads, n_query, n_key): one matrix for each sentence and head.
# </details>
#
# The map below shows where you are: the mask is the last piece inside attention.

# %% id="imports"
import math
from datetime import date, timedelta

import matplotlib.pyplot as plt
import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_course import check, compare, diagrams, hint, parts, plots, solution, tally, views
from transformer_lab import record_attention

# %%
torch.manual_seed(4)
torch.set_printoptions(precision=2, sci_mode=False)

# %%
diagrams.architecture.you_are_here(4)

# %% [markdown]
# ## One token at a time, or all at once
#
# A decoder learns from sentences like `<bos> I like you <eos>`. Each word is a **token**; `<bos>` marks the beginning
# of the sentence, `<eos>` the end. The decoder is **autoregressive**: at each step it has read a **prefix**, all the
# tokens so far, and must predict the next one:

# %%
words = ["<bos>", "I", "like", "you", "<eos>"]
pd.DataFrame({"prefix": [" ".join(words[:t]) for t in range(1, 5)], "next token": words[1:]})

# %% [markdown]
# To learn these four rows, you could run the model four times, on longer and longer prefixes. But attention computes an
# output for *every* position anyway. Could a single run on `<bos> I like you` give all four answers?
#
# **Predict.** We compare the last output of each of the four runs with the four outputs of a single run. At how many of
# the four positions are they the same?

# %% tags=["prediction"]
prediction = ...

# %%
x = torch.randn(1, 4, 16)  # stands for the embedded <bos> I like you: (batch, n, d_model)
attention = parts.MultiHeadAttention(d_model=16, n_heads=4)
prefixes = [x[:, :t] for t in range(1, 5)]
step_by_step = torch.cat([attention(prefix, prefix, prefix)[:, -1:] for prefix in prefixes], dim=1)


def same_positions(all_at_once: Tensor) -> int:
    return int(((all_at_once - step_by_step).abs().amax(dim=-1) < 1e-5).sum())


compare(prediction, measured=same_positions(attention(x, x, x)))

# %% [markdown]
# They agree only at the last position. In a single run, `<bos>` also attends to the very words that the model should
# learn to predict.
#
# So we *hide* those words with a mask. It has a row for each query and a column for each key, and **True means "may
# attend".** In a decoder, position $i$ may attend to position $j$ if $j \le i$: to itself and to earlier positions.
# This is the **causal mask**, also called the **look-ahead mask**.
#
# **Exercise.** Write this mask. `torch.ones(2, 3, dtype=torch.bool)` is a matrix of True. `.tril()` keeps its lower
# triangle, and `.tril(2)` keeps two more diagonals. (What is `n_key` for? When a model generates, it often computes
# only the newest queries, such as the last 2 of 5 positions.)


# %% id="causal_mask" tags=["exercise"]
def causal_mask(n_query: int, n_key: int | None = None) -> Bool[Tensor, "n_query n_key"]:
    """Return a mask that hides what comes later than a query.

    Without ``n_key``, there are as many keys as queries. With more keys, the queries are the last positions, so
    ``causal_mask(2, 5)`` is the last two rows of ``causal_mask(5)``.
    """
    raise NotImplementedError


# %% id="check-causal_mask"
check(causal_mask)

# %%
print("positions with the same output, with the mask:", same_positions(attention(x, x, x, parts.causal_mask(4))))
print("tokens to process, for a text of 256:", sum(range(1, 257)), "in 256 runs,", 256, "in one")
ax = plots.mask(parts.causal_mask(4), queries=words[:4], keys=words[:4])

# %% [markdown]
# Now all four outputs match the step-by-step runs. One run trains every position, and each position sees exactly what
# it will see at **inference**, when the trained model generates text.

# %% [markdown]
# ### The mask at inference
#
# When the model generates, later tokens don't exist yet. Do you still need the mask?
#
# **Predict.** We stack two layers and run them on each prefix *without* a mask. Are their last outputs the `"same"` as
# the outputs of one masked run, or `"different"`?

# %% tags=["prediction"]
prediction = ...

# %% tags=["hide-input"]
layers = [parts.MultiHeadAttention(d_model=16, n_heads=4) for _ in range(2)]


def two_layers(x: Tensor, mask: Tensor | None) -> Tensor:
    for layer in layers:
        x = layer(x, x, x, mask)
    return x


trained = two_layers(x, parts.causal_mask(4))
without = torch.cat([two_layers(prefix, None)[:, -1:] for prefix in prefixes], dim=1)
masked = torch.cat([two_layers(z, parts.causal_mask(z.shape[1]))[:, -1:] for z in prefixes], dim=1)
compare(prediction, measured="same" if torch.allclose(without, trained, atol=1e-5) else "different")
for name, outputs in {"without": without, "with": masked}.items():
    print(f"largest difference from training {name} the mask: {(outputs - trained).abs().max():.2f}")

# %% [markdown]
# Without a mask, `<bos>` attends to `I` in the first layer. In the second layer, `I` attends to `<bos>`, whose output
# now differs from its output in training. So you need the mask at inference, too. With the mask, a token's outputs
# never change when more tokens follow.

# %% [markdown]
# ## −∞ before the softmax, not 0 after
#
# You can hide the *score* before the softmax, or the *weight* after it. Take three keys with scores 2, 1 and 3, and
# hide the third.
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
# The row no longer adds up to 1. Could you just divide the remaining weights by their sum? Change the *hidden* score
# from 3 to 5, and then to 200, and watch the weight of key 1:

# %%
rows = {}
for hidden_score in [3.0, 5.0, 200.0]:
    scores[2] = hidden_score
    after = torch.softmax(scores, dim=-1) * allowed
    before = torch.softmax(scores.masked_fill(~allowed, -torch.inf), dim=-1)
    rows[f"hidden score {hidden_score:.0f}"] = [after[0].item(), (after / after.sum())[0].item(), before[0].item()]
pd.DataFrame.from_dict(rows, orient="index", columns=["0 after", "0 after, normalized", "-∞ before"]).round(2)

# %% [markdown]
# If you set the weight to 0 afterward, **the hidden key still counts**: it is in the denominator of the softmax, and
# the better it matches, the less weight the others get. In a decoder, this leaks the future. (Dividing by the sum fixes
# this on paper. But if the hidden score is large, the other weights round to 0, and 0/0 is nan.) With −∞ before the
# softmax, the exponential of the hidden score is 0, and the key drops out:
#
# $$w_{ij} = \frac{m_{ij}\, e^{s_{ij}}}{\sum_k m_{ik}\, e^{s_{ik}}}, \qquad m_{ij} = 1 \text{ if query } i
# \text{ may attend to key } j \text{, else } 0$$
#
# Here $s$ holds the scores, $w$ the weights and $m$ the mask:

# %%
scores = torch.tensor([[0.5, 2.0, 1.0, 0.0], [1.0, 1.5, 3.0, 2.0], [0.0, 1.0, 1.0, 2.0], [1.0, 2.0, 0.0, 1.0]])
diagrams.masks.masked_softmax(scores, parts.causal_mask(4), queries=words[:4], keys=words[:4])

# %% [markdown]
# Paint a mask. Hide a cell: what happens to the other weights in its row? Then choose an input above the columns, and
# allow cells until an output *before* that input lights up. That is a leak.

# %%
views.MaskPainter(words[:4], parts.causal_mask(4), scores, source=2)

# %% [markdown]
# ### A query that may attend to nothing
#
# If a whole row of the mask is False, the formula gives 0/0. This happens: short sentences are padded with `<pad>`
# tokens, and no query should attend to those. If `<pad>` comes first and the future is hidden too, the first position
# has nothing to attend to. A common workaround is to fill in −1,000,000,000 instead of −∞.
#
# **Predict.** All four keys in a row are hidden, with scores of −1e9. What weight does each key get?

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
try:
    scores.half().masked_fill(~nothing, -1e9)
except RuntimeError as error:
    print("-1e9 in float16:", error)

# %% [markdown]
# - **−1e9** gives equal weights. The query attends to *everything* that is hidden, padding and future, and nothing
#   looks wrong. The data type's lowest number, `torch.finfo(x.dtype).min`, does the same.
# - **−∞** gives nan.
#
# **Predict.** In `<pad> 3 mars 2021` we hide the future and the padding, both with −∞. After one layer, the row of
# `<pad>` is nan, but no query may attend to it. How many of the four rows are nan after two layers?

# %% tags=["prediction"]
prediction = ...

# %%
mask = parts.causal_mask(4) & torch.tensor([False, True, True, True])  # no query attends to position 0
x = torch.randn(4, 8)
nans = []
for _ in range(2):
    weights = torch.softmax((x @ x.T / 8**0.5).masked_fill(~mask, -torch.inf), dim=-1)
    x = weights @ x
    nans.append(int(x.isnan().any(dim=-1).sum()))
compare(prediction, measured=nans[1])
print("rows with nan after each layer:", nans)

# %% [markdown]
# All four are nan, although the row of `<pad>` is hidden from every query. Its weight is 0, but $0 \cdot \text{nan}$ is
# nan.
#
# So a query that may attend to nothing should get an output of **zeros**, as from torch's own function since 2.5. Here
# are three recipes (code folded):


# %% tags=["hide-input"]
def nans_left(recipe: str) -> list[bool]:
    """Return whether nan is left in the output, and in the gradients of queries, keys and values."""
    q, k, v = (torch.randn(4, 8, requires_grad=True) for _ in range(3))
    scores = q @ k.T / 8**0.5
    hidden = scores.masked_fill(~mask, -torch.inf)
    if recipe.startswith("-∞ added"):
        hidden = scores + torch.zeros(4, 4).masked_fill(~mask, -torch.inf)
    weights = torch.softmax(hidden, dim=-1)
    output = weights.nan_to_num() @ v if recipe.endswith("weights") else (weights @ v).nan_to_num()
    return [bool(z.isnan().any()) for z in (output, *torch.autograd.grad(output.square().sum(), (q, k, v)))]


recipes = ["-∞ added, 0 for nan in weights", "-∞ filled in, 0 for nan in output", "-∞ filled in, 0 for nan in weights"]
columns = ["output", "gradient of queries", "of keys", "of values"]
pd.DataFrame({recipe: nans_left(recipe) for recipe in recipes}, index=columns).T.rename_axis(columns="nan in")

# %% [markdown]
# None of the three outputs contains nan, but two recipes leave nan in a gradient, and one training step would carry it
# into the parameters. The safe recipe **fills** in −∞ and replaces nan in the **weights**. (Filling in is safe because
# its backward pass puts 0 where it filled, whatever arrives there. An addition passes nan on.)


# %% [markdown]
# **Exercise.** Write masked attention. Scale the scores as in lesson 02, set the masked scores to −∞ before the
# softmax, and return zeros for queries that may not attend to anything. The mask may be smaller than the scores (in
# `"#n_query"`, `#` means "this size or 1"); `scores.masked_fill(~mask, ...)` broadcasts it.
# `mask.any(dim=-1, keepdim=True)` is True for rows with any allowed key.


# %% id="masked_attention" tags=["exercise"]
def masked_attention(
    queries: Float[Tensor, "*batch n_query d_k"],
    keys: Float[Tensor, "*batch n_key d_k"],
    values: Float[Tensor, "*batch n_key d_v"],
    mask: Bool[Tensor, "*#batch #n_query #n_key"],
) -> Float[Tensor, "*batch n_query d_v"]:
    """Return each query's weighted average of the values it may attend to; zeros where it may attend to none."""
    raise NotImplementedError


# %% id="check-masked_attention"
check(masked_attention)

# %% [markdown]
# ## Half-way stop
#
# Your mask hides the future and never produces nan. Stop here for today if you like. The second half is about padding,
# and about how to find out whether a model peeks.

# %% [markdown]
# ## Padding
#
# Sentences differ in length, but the rows of a tensor don't. So short sentences get `<pad>` tokens, called **padding**:

# %%
dates = [text.split() for text in ["3 mars 2021", "le 14 juillet 1789", "mai 1968"]]
vocabulary = ["<pad>", *dict.fromkeys(piece for text in dates for piece in text)]
tokens = torch.tensor([[vocabulary.index(piece) for piece in text] + [0] * (4 - len(text)) for text in dates])
pd.DataFrame([[f"{vocabulary[i]} ({i})" for i in row] for row in tokens.tolist()])

# %%
embedding = nn.Embedding(len(vocabulary), 16)
x = embedding(tokens)  # (batch, n, d_model) = (3, 4, 16)
with record_attention(attention) as recorded:  # keeps the weights of every attention layer that runs inside it
    attention(x, x, x)
[weights] = recorded.values()  # (batch, n_heads, n_query, n_key)
print(f"attention that `3 mars 2021` gives to the <pad> after it: {weights[0, :, :3, 3].mean():.2f}")

# %% [markdown]
# In this untrained layer, a token that means nothing gets about a quarter of the attention, as much as a real token.
# Worse, the output for `3 mars 2021` would change with the length of the *longest* sentence in its batch.
#
# **Exercise.** Write the **padding mask**, which hides padding *as a key*. It must fit scores of shape (batch, n_heads,
# n_query, n_key), so its shape is (batch, 1, 1, n). The axes of length 1 broadcast to all heads and all queries.
# Indexing with `None` adds an axis of length 1: `x[:, None]`.


# %% id="padding_mask" tags=["exercise"]
def padding_mask(tokens: Int[Tensor, "batch n"], pad_id: int) -> Bool[Tensor, "batch 1 1 n"]:
    """Return a mask that lets every query attend to the real tokens, and none to the padding."""
    raise NotImplementedError


# %% id="check-padding_mask"
check(padding_mask)

# %%
padded = F.pad(tokens, (0, 3))  # three more columns of <pad>
y = embedding(padded)
without = [attention(z, z, z)[:, :3] for z in (x, y)]
masked = [attention(z, z, z, parts.padding_mask(t, pad_id=0))[:, :3] for z, t in ((x, tokens), (y, padded))]
for name, (few, more) in {"without": without, "with": masked}.items():
    print(f"three more <pad> change the outputs by up to {(few - more).abs().max():.2f} {name} the mask")

# %% [markdown]
# `<pad>` is still a *query*, and its output is nonsense. That does no harm: no query attends to it, and the loss
# ignores it (lesson 08). The mask depends only on the keys, wherever the queries come from:

# %%
iso = torch.randn(3, 10, 16)  # the ten characters of 2021-03-03 attend to the source: cross-attention
print("output", tuple(attention(iso, x, x, parts.padding_mask(tokens, pad_id=0)).shape))

# %% [markdown]
# ## Both at once: the decoder's mask
#
# When you train a decoder on a batch, you have two things to hide: padding and the future. A query may attend to a key
# that is a real token *and* does not come later. The shapes (batch, 1, 1, n) and (n, n) broadcast to (batch, 1, n, n).
#
# **Exercise.** Combine the two masks. For booleans, `&` is *and*, `|` is *or*, `~` is *not*.


# %% id="decoder_mask" tags=["exercise"]
def decoder_mask(tokens: Int[Tensor, "batch n"], pad_id: int) -> Bool[Tensor, "batch 1 n n"]:
    """Return a mask that lets every position attend to the real tokens up to and including itself."""
    raise NotImplementedError


# %% id="check-decoder_mask"
check(decoder_mask)

# %%
right_padded = torch.tensor([[1, 2, 3, 0]])  # 3 mars 2021 <pad>
left_padded = torch.tensor([[0, 1, 2, 3]])  # <pad> 3 mars 2021
two_texts = torch.cat([right_padded, left_padded])
names = [[vocabulary[i] for i in sentence] for sentence in two_texts]
diagrams.masks.broadcast(parts.padding_mask(two_texts, pad_id=0), parts.causal_mask(4), names)

# %% [markdown]
# Broadcasting stretches both masks to the same shape. In text 1, with padding before it (*left padding*), the first
# row of the result is empty: that query has no keys.

# %% [markdown]
# ### Does a decoder need both masks?
#
# **Predict.** A decoder reads a sentence with padding *after* it. We leave out the padding mask and keep the causal
# mask. Do the outputs of the real tokens stay the `"same"`, or do they become `"different"`? And with padding *before*
# it?

# %% tags=["prediction"]
prediction_after, prediction_before = ..., ...

# %%
answers = []
for sentence in (right_padded, left_padded):
    z = embedding(sentence)
    both = attention(z, z, z, parts.decoder_mask(sentence, pad_id=0))
    causal_only = attention(z, z, z, parts.causal_mask(4))
    real = sentence[0] != 0
    answers.append("same" if torch.allclose(both[0, real], causal_only[0, real], atol=1e-5) else "different")
compare(prediction_after, measured=answers[0])
compare(prediction_before, measured=answers[1])

# %% [markdown]
# Padding after the sentence (*right padding*) is in the future of every real token, so the causal mask already hides
# it. Without a causal mask, or with padding on the left, you need the padding mask.

# %% [markdown]
# ## Bug hunt
#
# A colleague builds this mask from the position of the first real token in each text. Her mask is correct for her own
# batches, which all have left padding. Read the code and decide for which texts it is wrong *before* you run the
# check. Then write a corrected version, `mended`, in the cell below the code.


# %% tags=["bug-hunt"]
def decoder_mask_of_a_colleague(tokens, pad_id):
    n = tokens.shape[1]
    first = (tokens != pad_id).int().argmax(dim=1)
    real = torch.arange(n) >= first[:, None]
    causal = torch.ones(n, n, dtype=torch.bool).tril()
    return real[:, None, None, :] & causal


# %% id="mend-decoder-mask"
mended = decoder_mask_of_a_colleague

# %% id="check-mend-decoder-mask"
check(mended, "decoder_mask", save=False)

# %% [markdown]
# <details><summary>How to find such a bug without a check</summary>
#
# Call the function on the same text twice, padded on the left and on the right. In this version, everything after the
# first real token counts as real, so padding after a text stays visible. Only the queries of the padding can see it;
# the causal mask hides it from all the others. So a leak test on real tokens finds nothing, and training would not
# suffer either, because the loss ignores the outputs at the padding. The bug does harm as soon as someone reuses the
# function without the causal mask. The cell below counts how many keys the last query sees.
# </details>

# %%
left_and_right = torch.tensor([[0, 0, 5, 6], [5, 6, 0, 0]])  # 0 is the padding
for name, f in {"the colleague's": decoder_mask_of_a_colleague, "yours or the library's": parts.decoder_mask}.items():
    left, right = f(left_and_right, 0)[:, 0, -1].sum(dim=-1).tolist()
    print(f"{name}: keys that the last query sees with left padding: {left}, with right padding: {right}")

# %% [markdown]
# ## Two conventions of PyTorch
#
# `nn.MultiheadAttention` is PyTorch's own attention module. It takes the mask as `attn_mask`.
#
# **Predict.** We pass our causal mask as it is. What are the weights of the *last* of four positions: `"even"`, `"all
# on itself"` or `"nan"`?

# %% id="two-conventions-of-pytorch-to-watch-2" tags=["prediction"]
prediction = ...

# %% id="two-conventions-of-pytorch-to-watch-3"
torchs = nn.MultiheadAttention(embed_dim=16, num_heads=1, batch_first=True)
x = torch.randn(1, 4, 16)
ours = parts.causal_mask(4)
_, wrong = torchs(x, x, x, attn_mask=ours)
_, right = torchs(x, x, x, attn_mask=~ours)
last = "nan" if wrong[0, -1].isnan().all() else "all on itself" if wrong[0, -1, -1] > 0.9 else "even"
compare(prediction, measured=last)
print("first row, as it is:", [round(w, 2) for w in wrong[0, 0].tolist()], " inverted:", right[0, 0].tolist())
q, k, v = torch.randn(1, 2, 8), torch.randn(1, 5, 8), torch.eye(5)[None]  # with these values, output = weights
torchs_weights = F.scaled_dot_product_attention(q, k, v, is_causal=True)[0]
our_weights = parts.masked_attention(q, k, v, parts.causal_mask(2, 5))[0]
print("2 queries, 5 keys: keys that each query sees, is_causal=True:", (torchs_weights > 0).sum(dim=-1).tolist())
print("                                         causal_mask(2, 5):  ", (our_weights > 0).sum(dim=-1).tolist())

# %% [markdown]
# | | True means | with fewer queries than keys |
# |---|---|---|
# | this course | may attend | the last query is at the last key |
# | `F.scaled_dot_product_attention` | may attend | `is_causal=True` puts the *first* query at the first key |
# | `nn.MultiheadAttention` | must *not* attend | you pass the mask |
# | a mask of *floats*, in both functions | is *added* to the scores: 0 keeps a key, −∞ hides it | |
#
# A mistake here raises no error; you see it only in the weights. (A float mask of 0 and 1 hides nothing.) When you
# combine code from two sources, look at one row of the weights first. With 2 new queries and 5 keys in a cache, pass a
# mask that is aligned at the bottom right, such as your `causal_mask(2, 5)` or torch's `causal_lower_right(2, 5)` (in
# `torch.nn.attention.bias`).

# %% [markdown]
# ## A mask that is off by one
#
# What does a wrong mask do to training? We train a small decoder to generate dates, character by character: `<`, then
# `2021-03-03`, then `>`. All days of 100 years are equally likely.
#
# We train on nine days out of ten: 32,872 days. No model can know which of them comes next, so at best it gives each
# one a probability of 1/32872. The loss is minus the logarithm of the probability of the actual text:
# $\ln 32872 = 10.4$ (in nats, the unit of the natural logarithm), or **10.4 / 11 = 0.95** for each of the 11 characters
# to predict. **On average, no honest model gets a training loss below that.**

# %%
days = [(date(1950, 1, 1) + timedelta(i)).isoformat() for i in range(36525)]
alphabet = "<>-0123456789"
texts = torch.tensor([[alphabet.index(c) for c in f"<{day}>"] for day in days])  # (36525, 12)
is_held_out = torch.arange(len(days)) % 10 == 0
seen, held_out = texts[~is_held_out], texts[is_held_out]
floor = math.log(len(seen)) / 11
print(f"from {days[0]} to {days[-1]}: {len(seen)} to train on; an honest loss is at least {floor:.2f}")


# %% [markdown]
# The model has an embedding, a vector for each position (lesson 05), one attention layer, whose output is added to its
# input (lesson 06), and a small MLP. At each of the first 11 characters it predicts the next one.


# %%
class SmallDecoder(nn.Module):
    def __init__(self, mask: Tensor, d_model: int = 64) -> None:
        super().__init__()
        self.mask = mask
        self.embedding, self.positions = nn.Embedding(13, d_model), nn.Embedding(11, d_model)
        self.attention = parts.MultiHeadAttention(d_model, n_heads=4)
        self.mlp = nn.Sequential(nn.Linear(d_model, 256), nn.ReLU(), nn.Linear(256, 13))

    def embed(self, tokens: Tensor) -> Tensor:
        return self.embedding(tokens) + self.positions.weight[: tokens.shape[1]]

    def decode(self, x: Tensor) -> Tensor:
        n = x.shape[1]
        return self.mlp(x + self.attention(x, x, x, self.mask[:n, :n]))

    def forward(self, tokens: Tensor) -> Tensor:
        return self.decode(self.embed(tokens))


# %% tags=["hide-input"]
def loss_of(model: nn.Module, batch: Tensor) -> Tensor:
    logits = model(batch[:, :-1])  # (batch, 11, 13): scores of what comes next
    return F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())


def train(mask: Tensor, seed: int, steps: int = 250) -> tuple[SmallDecoder, Tensor]:
    """Learn to predict the next character; return the model and its loss at each step."""
    torch.manual_seed(seed)
    model, losses = SmallDecoder(mask), torch.zeros(steps)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, fused=True)
    for step in range(steps):
        loss = loss_of(model, seen[torch.randint(len(seen), (64,))])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses[step] = loss.item()
    return model, losses


# %% [markdown]
# We train two kinds of model, honest and leaky, three of each. In the leaky model, the mask `.tril(1)` keeps one
# diagonal too many, so each position may attend to the next one.
#
# **Predict.** What is the loss of the leaky model after 250 steps? (The six models take about ten seconds.)

# %% tags=["prediction"]
loss_leaky = ...

# %% id="leaky-loss" tags=["approximate"]
masks = {"honest": parts.causal_mask(11), "leaky": torch.ones(11, 11, dtype=torch.bool).tril(1)}
runs = {name: [train(mask, seed) for seed in range(3)] for name, mask in masks.items()}
losses = {name: torch.stack([loss for _, loss in of_mask]) for name, of_mask in runs.items()}  # (3, 250) each
compare(loss_leaky, measured=round(losses["leaky"][:, -50:].mean().item(), 2))
print({name: [round(end, 2) for end in loss[:, -50:].mean(dim=1).tolist()] for name, loss in losses.items()})
ax = plots.lines(range(250), losses, xlabel="step", ylabel="loss (nats per character)")
ax.axhline(floor, color=plots.INK, linestyle=":", linewidth=1)
note = ax.text(250, floor - 0.05, "no honest model gets below", va="top", ha="right")

# %% [markdown]
# The leaky model sees the future. Would a **held-out set** (days that neither model was trained on) give it away?

# %% id="held-out-loss" tags=["approximate"]
honest, leaky = (runs[name][0][0] for name in ("honest", "leaky"))
with torch.no_grad():
    print({name: round(loss_of(m, held_out).item(), 2) for name, m in (("honest", honest), ("leaky", leaky))})

# %% [markdown]
# No: its loss is just as good there. Now let all six models generate texts, one character after another. We **sample**
# each character: we draw it at random from the probabilities that the model predicts.
#
# **Predict.** Each model generates 200 texts. What fraction of them are real dates, on average?

# %% tags=["prediction"]
real_honest, real_leaky = ..., ...


# %% id="generated-texts" tags=["hide-input"]
@torch.no_grad()
def generate(model: nn.Module, n_texts: int = 200) -> list[str]:
    """Begin with <, then sample each next character from the model's probabilities."""
    tokens = torch.zeros(n_texts, 1, dtype=torch.int64)
    for _ in range(11):
        probabilities = torch.softmax(model(tokens)[:, -1], dim=-1)
        tokens = torch.cat([tokens, torch.multinomial(probabilities, 1)], dim=1)
    return ["".join(alphabet[i] for i in row) for row in tokens.tolist()]


known = {f"<{day}>" for day in days}
texts_of = {name: [generate(model) for model, _ in of_mask] for name, of_mask in runs.items()}
real = {name: [sum(text in known for text in drawn) / 200 for drawn in three] for name, three in texts_of.items()}

# %% tags=["words-only"]
compare(real_honest, measured=round(sum(real["honest"]) / 3, 2))
compare(real_leaky, measured=round(sum(real["leaky"]) / 3, 2))
print("real dates, by model:", real)

# %% id="sampled-texts" tags=["nbval-ignore-output"]
pd.DataFrame({f"{name} {seed}": drawn[:6] for name, three in texts_of.items() for seed, drawn in enumerate(three)})

# %% [markdown]
# **The models with the perfect loss generate far fewer dates than the honest ones.** They learned to copy the next
# character, because their mask let them see it. When they generate, there is nothing to copy yet. Two of ours generate
# no date at all, but the third one text in five: a broken model can look plausible.

# %% [markdown]
# ## The leak test
#
# For most data, you cannot compute how low an honest loss can get. But there is a test that needs no training and no
# look inside the model:
#
# > Change a token. If any output before it moves, the model leaks.
#
# Let's try this with character 2 of a text:

# %%
text = texts[:1, :-1]
changed = text.clone()
changed[0, 2] = (changed[0, 2] + 1) % 13  # another character
for name, model in (("honest", honest), ("leaky", leaky)):
    moved = (model(changed) - model(text)).abs().amax(dim=-1)[0] > 1e-4
    print(f"{name:6} outputs before character 2 that moved: {[position for position in range(2) if moved[position]]}")

# %% [markdown]
# Outputs from 2 onward *may* move. Output 1 must not move, but in the leaky model it does. (Some layers leak by design,
# such as expert-choice routing. Batch norm leaks in training mode only, where this test doesn't look.)
#
# **Exercise.** Turn this into a test for any model and any tokens. Change *every* position except the first, one at a
# time. Watch out for four things:
#
# - `b = a` doesn't copy; `a.clone()` does.
# - The new token must differ from the old one and be in the model's vocabulary. Ids from 0 to `tokens.max()` are safe,
#   and `%` wraps around.
# - Ignore differences below 1e-4: two runs may round differently.
# - Some models are random in training (dropout, lesson 06). `model.eval()` switches to inference, `model.training` is
#   the current mode, and `model.train(...)` restores it.


# %% id="leaks_future" tags=["exercise"]
def leaks_future(model: nn.Module, tokens: Int[Tensor, "batch n"]) -> bool:
    """Whether any output of the model, in eval mode, depends on a token that comes later."""
    raise NotImplementedError


# %% id="check-leaks_future"
check(leaks_future)

# %%
untrained = SmallDecoder(torch.ones(11, 11, dtype=torch.bool))  # the mask forgotten altogether
models = {"honest": honest, "leaky": leaky, "no mask, not trained at all": untrained}
pd.DataFrame({"leaks": {name: parts.leaks_future(model, texts[:8, :-1]) for name, model in models.items()}})

# %% [markdown]
# The test catches the third model before any training.

# %% [markdown]
# ### The same test by gradient
#
# If an output does not depend on an input, its gradient with respect to that input is 0. One backward pass for each
# output shows all dependencies. In the pictures, row $t$ shows which inputs affect output $t$. Red marks a leak: a
# *later* input affects an earlier output.


# %% tags=["hide-input"]
def influence(model: SmallDecoder, tokens: Tensor) -> Tensor:
    """Return, in row t and column s, the size of the gradient of output t with respect to input s."""
    x = model.embed(tokens).detach().requires_grad_()
    outputs = model.decode(x)[0].abs().sum(dim=-1)  # one number for each position
    rows = [torch.autograd.grad(output, x, retain_graph=True)[0][0] for output in outputs]
    return torch.stack(rows).norm(dim=-1)


_, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
names = [alphabet[i] for i in text[0]]
for ax, (name, model) in zip(axes, (("honest", honest), ("leaky", leaky))):
    moves = influence(model, text) > 0
    plots.mask(moves, names, names, ax, labels=("does not move it", "moves it"))
    outputs, inputs = moves.triu(1).nonzero(as_tuple=True)
    ax.scatter(inputs, outputs, marker="s", s=150, color="#d00000")
    ax.set(title=name, xlabel="input", ylabel="output")
    print(f"{name}: {int(moves.triu(1).sum())} gradients from the future, {int(moves.tril().sum())} of the 66 others")

# %% [markdown]
# Ten red cells are the whole difference between an honest model and one that can copy its answers. The gradient needs
# no tolerance: exp(−∞) is exactly 0 (as is exp(−1e4) in float32), and so is every gradient through it. It shows
# *where* the model leaks, and also finds a mask that hides too much. But no gradient flows through an argmax. To find a
# leak there, change a token.

# %% [markdown]
# ## ★ Packed documents
#
# The model computes outputs for the padding, and you throw them away. Training code for language models usually fills
# each row with several documents instead, one after another. This is called **packing**. It needs no padding, but with
# a causal mask alone, each document attends to the documents packed before it. Here is our batch in one row:

# %%
packed = torch.cat([row[row != 0] for row in tokens])[None]  # (1, 9)
documents = torch.tensor([[0, 0, 0, 1, 1, 1, 1, 2, 2]])  # which document each token belongs to
print([vocabulary[i] for i in packed[0]], " padded:", tokens.numel(), "tokens, packed:", packed.numel())

# %% [markdown]
# You can allow that, as GPT-3 and nanoGPT do: an `<eos>` between documents marks where a new one starts. Or you can
# hide the other documents with a **block mask**.
#
# **Exercise.** Write the block mask: each token may attend to itself and to earlier tokens *of the same document*. To
# compare all pairs, use two axes of length 1, as in the primer.


# %% id="document_mask" tags=["exercise"]
def document_mask(documents: Int[Tensor, "batch n"]) -> Bool[Tensor, "batch 1 n n"]:
    """Return a mask that lets every position attend to the tokens of its document up to and including itself."""
    raise NotImplementedError


# %% id="check-document_mask"
check(document_mask)

# %%
block_mask, token_names = parts.document_mask(documents), [vocabulary[i] for i in packed[0]]
ax = plots.mask(block_mask[0, 0], queries=token_names, keys=token_names)

# %% [markdown]
# Each document has its own triangle. Is each document now treated as if it were alone?
#
# **Predict.** A model adds a position vector to each token's embedding (lesson 05). In the packed row, the positions
# are 0 to 8. With the block mask, are the outputs of the *second* document the `"same"` as if it were alone, or
# `"different"`?

# %% tags=["prediction"]
prediction = ...

# %% tags=["hide-input"]
position_vectors = torch.randn(9, 16)
start_again = torch.tensor([0, 1, 2, 0, 1, 2, 3, 0, 1])
z = embedding(packed)
alone = [z[:, documents[0] == d] for d in range(3)]
alone = [attention(y, y, y, parts.causal_mask(y.shape[1])) for y in (d + position_vectors[: d.shape[1]] for d in alone)]
largest = {}
for name, ids in {"positions 0 to 8": torch.arange(9), "positions start again": start_again}.items():
    y = z + position_vectors[ids]
    for mask_name, mask in {"causal mask": parts.causal_mask(9), "block mask": block_mask}.items():
        apart = (attention(y, y, y, mask) - torch.cat(alone, dim=1)).abs().amax(dim=-1)[0]
        largest[name, mask_name] = [apart[documents[0] == d].max().item() for d in range(3)]
compare(prediction, measured="same" if largest["positions 0 to 8", "block mask"][1] < 1e-5 else "different")
pd.DataFrame(largest, index=[f"document {d}" for d in range(3)]).T.round(2)

# %% [markdown]
# The table shows the largest difference between a document's outputs in the packed row and its outputs alone. The mask
# is not enough: the positions must also start again in each document (`position_ids` in many libraries). With a
# position encoding that depends only on distances, such as RoPE (lesson 05), the block mask is enough.

# %% [markdown]
# ## ★ Transfer: sliding-window attention
#
# In some language models, each position attends only to the last `window` positions, including itself. This is
# **sliding-window attention**, which makes long texts cheaper. Write its mask from scratch.


# %% id="sliding_window_mask" tags=["exercise"]
def sliding_window_mask(length: int, window: int) -> Bool[Tensor, "length length"]:
    """Return a mask that lets every position attend to the last ``window`` positions, itself included."""
    raise NotImplementedError


# %% id="check-sliding_window_mask"
check(sliding_window_mask)

# %% [markdown]
# **Predict.** Four layers each have a window of 3, in a sequence of 16. On how many inputs does the last output depend,
# including the one at its own position?

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
print("pairs allowed:", int(window.sum()), "instead of", int(parts.causal_mask(16).sum()))

# %% [markdown]
# The mask is a band along the diagonal, 3 wide, so each layer lets an output reach 2 positions further back:
# $1 + 4 \cdot 2$. The inputs within reach are called the **receptive field**. Lesson 10 uses sliding windows.

# %% [markdown]
# ## Your experiment
#
# Ungraded, about 15 minutes. Test a claim of your own the way this lesson tests its claims, or start with this one:
#
# **Claim.** A window of 4 characters is enough for dates: with it, the final loss is at most 0.01 above the honest
# model's.
#
# **Prediction.** Before you run anything, write down in how many of three runs the claim will hold.
#
# **Verdict.** Say in one sentence what the runs show. A claim that fails is a result, too.

# %% id="experiment" tags=["experiment", "skip-execution"]
prediction = ...  # in how many of the three runs will the claim hold?
holds = []
for seed in range(3):
    torch.manual_seed(seed)
    _, of_window = train(parts.sliding_window_mask(11, 4), seed)
    holds.append(...)  # compare of_window[-50:].mean() with losses["honest"][seed, -50:].mean(): True or False
print("predicted:", prediction, " measured:", holds)
# Verdict:

# %% [markdown]
# ## In short
#
# - True means "may attend". Rows are queries, columns are keys; a causal mask is False above the diagonal.
# - Set masked scores to −∞ before the softmax. If you set weights to 0 afterward instead, information leaks. A query
#   that may attend to nothing should get zeros.
# - Hide padding as a key, with shape (batch, 1, 1, n). A decoder combines this mask with the causal mask, using `&`.
# - In `nn.MultiheadAttention`, True means the opposite. With fewer queries than keys, align the last query with the
#   last key; `is_causal` aligns the mask at the top left.
# - If a loss is too good, assume a bug: change a later token, and see whether an earlier output moves.
# - Packed documents need a block mask, and positions that start again in each document.

# %% tags=["hide-input"]
q, k, v = torch.randn(2, 5, 8), torch.randn(2, 7, 8), torch.randn(2, 7, 3)
some = torch.ones(2, 1, 7, dtype=torch.bool)
sizes = ", ".join(str(tuple(z.shape)) for z in (q, k, v, some))
rows = [
    ("causal_mask", "n_query = 2, n_key = 5", parts.causal_mask(2, 5)),
    ("padding_mask", tuple(tokens.shape), parts.padding_mask(tokens, 0)),
    ("decoder_mask", tuple(tokens.shape), parts.decoder_mask(tokens, 0)),
    ("document_mask", tuple(documents.shape), parts.document_mask(documents)),
    ("masked_attention", sizes, parts.masked_attention(q, k, v, some)),
]
shapes = [(name, str(ins), str(tuple(out.shape)), 0) for name, ins, out in rows]
pd.DataFrame(shapes, columns=["module", "input shapes", "output shape", "parameters"])

# %% [markdown]
# ## New words
#
# The [glossary](glossary.ipynb) lists the terms from all lessons.
#
# - **prefix**: the first tokens of a sequence, up to some position.
# - **causal mask**: the mask that lets each position attend only to itself and earlier positions; also look-ahead mask.
# - **padding mask**: the mask that hides padding from all queries.
# - **packing**: filling a row with several documents, one after another, instead of padding.
# - **block mask**: a mask for packed documents that lets each token attend only within its own document.
# - **sample**: draw at random from predicted probabilities.
# - **sliding-window attention**: attention in which each position sees only itself and a fixed number of positions
#   before it.
# - **receptive field**: the inputs on which an output depends.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first. The section named at the end of each answer has the cell that shows it.
#
# <details><summary>Why does a decoder need a causal mask?</summary>
#
# With the mask, each position in a run over the whole sentence sees what it would have seen step by step: itself and
# earlier tokens. So you train all positions at once, and training matches inference. (<i>One token at a time</i>: 1 of
# 4 outputs equal without the mask, 4 of 4 with it)
# </details>
#
# <details><summary>Does a decoder still need the causal mask when it generates?</summary>
#
# If you run a whole prefix through more than one layer, yes: without the mask, earlier positions attend to later ones
# in the first layer, and pass on information that they never had in training. If you run only the newest token, with
# the keys and values of earlier tokens cached, there are no later keys to hide. (<i>The mask at inference</i>)
# </details>
#
# <details><summary>Why −∞ before the softmax, and not 0 after?</summary>
#
# If you set weights to 0 afterward, rows don't add up to 1, and the hidden scores still act through the denominator,
# which is a leak. Normalizing again helps only until a hidden score is so large that the other weights round to 0.
# (<i>−∞ before the softmax</i>)
# </details>
#
# <details><summary>What happens if a row of the mask is all False?</summary>
#
# With −∞, softmax computes 0/0, which is nan. The nan spreads to every position in the next layer, because 0 times nan
# is nan. With −1e9, the query attends equally to everything that is hidden. It is best to return zeros, and to check
# that no gradient is nan either. (<i>A query that may attend to nothing</i>)
# </details>

# %% [markdown]
# <details><summary>Why do padding masks have the shape (batch, 1, 1, n)?</summary>
#
# They hide the same keys from all heads and all queries. So the axes of heads and queries have length 1, and the mask
# broadcasts to (batch, n_heads, n_query, n_key). It works for any number of queries, as in cross-attention.
# (<i>Padding</i>)
# </details>
#
# <details><summary>Does a decoder with padding on the right need a padding mask?</summary>
#
# Not for its real positions: padding after a sentence is in their future, so the causal mask already hides it. (The
# loss ignores it anyway, as lesson 08 shows.) With padding on the left, the decoder does need one. (<i>Does a decoder
# need both masks?</i>)
# </details>
#
# <details><summary>How do you train on documents of different lengths without padding?</summary>
#
# Pack several of them into each row. Some models let a document attend to the documents before it and only mark
# the boundaries. To keep the documents separate, use a block mask with a triangle for each document, and let absolute
# positions start again in each document. GPU kernels for packed rows, such as FlexAttention or FlashAttention with
# variable lengths, skip everything outside the triangles. (<i>★ Packed documents</i>)
# </details>
#
# <details><summary>Training loss is near 0 and the generated text is nonsense. What do you suspect?</summary>
#
# The target is leaking into the input: the mask is missing, off by one or inverted. A held-out set does not show this.
# Change a later token and see whether an earlier output moves, or look at the gradients. (<i>A mask that is off by
# one</i>, <i>The leak test</i>)
# </details>
#
# <details><summary>What does True mean in a PyTorch attention mask?</summary>
#
# In <code>F.scaled_dot_product_attention</code>, it means "may attend". In <code>nn.MultiheadAttention</code>, it means
# "must not attend". Both add a mask of floats to the scores: 0 keeps a key, −∞ hides it, and a float mask of 0 and 1
# hides nothing. (<i>Two conventions of PyTorch</i>)
# </details>
#
# <details><summary>2 queries, 5 keys, <code>is_causal=True</code>. What is wrong?</summary>
#
# The mask is aligned at the top left: the first query sees only key 0, and the second only keys 0 and 1. With a cache,
# the last query lines up with the last key, so pass a mask that is aligned at the bottom right. (<i>Two conventions of
# PyTorch</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Vaswani et al. (2017), [arXiv:1706.03762](https://arxiv.org/abs/1706.03762), section 3.2.3, third point: the mask in
#   one sentence.
# - Beltagy et al. (2020), *Longformer*, [arXiv:2004.05150](https://arxiv.org/abs/2004.05150), section 3.1: sliding
#   windows.
# - `transformer_lab/attention/masks.py`, and `masked_softmax` in `dot_product.py` next to it: the library's versions.

# %% [markdown]
# How far did you get, and how well did you predict?

# %% id="tally"
tally()

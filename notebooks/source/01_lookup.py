# %% [markdown] id="title"
# # 01 · Attention is a soft dictionary lookup
#
# **The question.** A Python dict finds a value only if the key matches exactly. How can a program look something up
# when *nothing* matches exactly, but some keys are similar? The answer fits in one line, and nearly all of today's
# language models are built around it.
#
# **Afterwards you can** write attention from scratch, explain what queries, keys and values are and which of their
# sizes must agree, and tell self-attention from cross-attention.
#
# Reading: 34 minutes. Exercises: 35 minutes (four core, one stretch ★). With all predictions, runs and questions: about
# 85 minutes.

# %% [markdown]
# ## Before you start
#
# Three questions from the [primer](primer.ipynb) and [lesson 00](00_bottleneck.ipynb). Answer each one aloud before
# you open it.
#
# <details><summary>A has shape (3, 4), B has shape (4, 5). What is entry (0, 2) of <code>A @ B</code>?</summary>
#
# The dot product of row 0 of A and column 2 of B. A matrix product is many dot products at once, here 3 × 5 of them.
# </details>
#
# <details><summary>Why did the translator without attention get worse on long texts?</summary>
#
# Everything the decoder got from the text had to fit into one vector of fixed size, whatever the length of the text.
# Learning to pack a long text into this vector took many training steps.
# </details>
#
# <details><summary>What did attention give the decoder at each step?</summary>
#
# A new context vector: a weighted average of *all* the encoder's hidden states, weighted by how useful each one is for
# this step.
# </details>

# %% [markdown]
# Run every cell in order with **Shift+Enter**.

# %% id="imports"
import math

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course import check, compare, diagrams, hint, parts, plots, solution, tally, views

# %%
torch.manual_seed(1)
torch.set_printoptions(precision=2, sci_mode=False)

# %% [markdown]
# ## A dict knows only yes and no

# %%
prices = {"apple": 10, "banana": 5, "chair": 2}
for word in ["apple", "fruit"]:
    print(word, "→", prices.get(word, "no such key"))

# %% [markdown]
# You would not give up so easily. *Fruit* is not in the dict, but apples and bananas are fruit, and chairs are not. A
# sensible answer mixes the values of the keys that match best:
#
# | key | how well it matches *fruit* | value |
# |---|---|---|
# | apple | 0.6 | 10 |
# | banana | 0.4 | 5 |
# | chair | 0.0 | 2 |
#
# **Predict.** What does a lookup of *fruit* return with these weights? Replace the `...` with a number.

# %% tags=["prediction"]
prediction = ...

# %%
weights = torch.tensor([0.6, 0.4, 0.0])
values = torch.tensor([10.0, 5.0, 2.0])
compare(prediction, measured=(weights * values).sum())

# %% [markdown]
# That is all attention does: it computes **a weighted average of values**. A dict is the special case in which one
# weight is 1 and all the others are 0 (**hard attention**). Finding the weights takes two steps:
#
# 1. *score* every key: how well does it match what you are looking for?
# 2. turn the scores into weights that are not negative and add up to 1.

# %% [markdown]
# The **query** says what you are looking for. You compare it with the **keys**, and the result is an average of the
# **values**.
#
# The name comes from human attention. *The street was loud and the room was small, but we loved it*: did the writer
# like the hotel? You attend to what follows the *but*.

# %% [markdown]
# ## Step 1: a score for every key
#
# The letters of "fruit" and "apple" do not show that these words are related. So each word becomes a vector, its
# embedding: a list of numbers that describe its meaning. In real models these numbers are learned. Here we choose them
# by hand, two for each word: how edible the thing is, and how well you can sit on it.

# %%
words = ["apple", "banana", "chair"]
keys = torch.tensor([[3.0, -0.7], [2.8, 0.7], [0.2, 3.0]])  # (n_key, d) = (3, 2)
fruit = torch.tensor([2.0, 0.0])  # one query: (d,) = (2,)
pd.DataFrame(keys.tolist(), index=words, columns=["edible", "to sit on"])

# %% [markdown]
# To score a key, multiply it by the query entry by entry and add up the products: 2.0 · 3.0 + 0.0 · (−0.7) = 6.0 for
# *apple*. This is the **dot product**. It is large if both vectors have large entries of the same sign at the same
# positions.
#
# **Exercise.** Score all the keys. The strings in brackets are shapes: `" d"` is a vector of d numbers, `"n d"` a
# matrix with n rows and d columns, and the same letter always means the same size. (The space in `" d"` has no
# meaning.) Replace the last line with your code, run the cell, then run the check below it.


# %% id="similarity" tags=["exercise"]
def similarity(query: Float[Tensor, " d"], keys: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
    """Return the dot product of the query with every key: n keys, n scores."""
    raise NotImplementedError


# %% id="check-similarity"
check(similarity)

# %% [markdown]
# Stuck? Put `hint(similarity)` into a new cell; each time you run it, it tells you a little more.
# `solution(similarity)` shows an answer. You can also go on without solving it: from here on, `parts.similarity` is
# your function once it passes the check. Until then, it is the library's.

# %%
scores = parts.similarity(fruit, keys)
pd.DataFrame({"score": scores.tolist()}, index=words).round(2)

# %% [markdown]
# The picture shows the vectors as arrows. Apples and bananas reach far in the direction of *fruit*; chairs hardly reach
# in that direction at all. From the tip of each key, a dashed line meets the line of the query at a right angle. The
# distance from the origin to this point, times the length of the query, is the dot product.

# %%
diagrams.lookup.arrows(fruit, keys, "fruit", words, ("edible", "to sit on"))

# %% [markdown]
# ### Is the dot product the cosine? Is it a distance?
#
# Dot product, cosine similarity and distance all measure how alike two vectors are. Do they agree? Take the query $(1,
# 0)$ and two keys, $A = (2, 2)$ and $B = (1, 0)$.
#
# **Predict.** Which key has the larger dot product with the query, and which the larger cosine: `"A"` or `"B"`?

# %% tags=["prediction"]
by_dot, by_cosine = ..., ...

# %%
q, pair = torch.tensor([1.0, 0.0]), torch.tensor([[2.0, 2.0], [1.0, 0.0]])
measures = pd.DataFrame(
    {
        "dot product": parts.similarity(q, pair).tolist(),
        "cosine": torch.cosine_similarity(q, pair, dim=-1).tolist(),
        "distance": (pair - q).norm(dim=-1).tolist(),
    },
    index=["A = (2, 2)", "B = (1, 0)"],
)
compare(by_dot, measured="AB"[measures["dot product"].argmax()])
compare(by_cosine, measured="AB"[measures["cosine"].argmax()])
measures.round(2)

# %% [markdown]
# They do not agree. The dot product is the cosine *times both lengths*: A wins because it is long, although B matches
# perfectly by angle and by distance. With $\|q\|$ for the length of $q$,
#
# $$-\tfrac12 \|q - k\|^2 = q \cdot k - \tfrac12 \|q\|^2 - \tfrac12 \|k\|^2$$
#
# If all keys have the same length, the last two terms are the same for every key. Then the dot product, the cosine and
# the distance rank the keys identically. We rank 1,000 keys both ways and count the differences:

# %%
directions = torch.nn.functional.normalize(torch.randn(1000, 8), dim=-1)
ranking = parts.similarity(directions[0], directions).argsort()
by_distance = (directions - directions[0]).norm(dim=-1).argsort(descending=True)
print("vectors of length 1, ranked differently by distance:", (ranking != by_distance).sum().item(), "of 1,000")

# %% [markdown]
# ### How large is a large cosine?
#
# That depends on the width. Here are the standard deviations of the cosine of two *random* vectors:

# %% tags=["hide-input"]
cosines = {f"d = {d}": torch.cosine_similarity(*torch.randn(2, 4000, d), dim=-1) for d in (2, 16, 512)}
print({label: round(c.std().item(), 2) for label, c in cosines.items()})

# %% [markdown]
# The standard deviation is about $1/\sqrt d$: in high dimensions, random vectors are nearly orthogonal. So a cosine of
# 0.5 says little at d = 2 and a lot at d = 512. You may also have read that two unrelated words have a negative cosine.
# For random vectors, it is near 0. (Trained embeddings often share a common direction, and then their cosines are not
# centered at 0: Mu and Viswanath, 2018.)

# %% [markdown]
# ## Step 2: from scores to weights
#
# The scores of *fruit* were 6.0, 5.6 and 0.4. Weights must not be negative, and they must add up to 1. Why not
# **normalize** the scores, that is, divide them by their sum? Because a score can be negative:

# %%
for example in [[6.0, 5.6, 0.4], [2.0, -1.0, -0.9]]:
    s = torch.tensor(example)
    print(f"scores {example}  divided by their sum: {[round(w, 1) for w in (s / s.sum()).tolist()]}")

# %% [markdown]
# With weights of 20 and −10, the result is not an average. The usual solution is to make every score positive with the
# exponential function first, and then divide by the sum:
#
# $$\operatorname{softmax}(s)_i = \frac{e^{s_i}}{\sum_j e^{s_j}}$$
#
# If two scores differ by 1, their weights differ by a factor of $e \approx 2.7$, however large the scores are.
#
# **Exercise.** Write softmax for a tensor with any number of rows. Normalize over the last dimension, so that the
# weights in each row add up to 1. In `"*batch n"`, the star stands for any number of dimensions in front, including
# none. Your function must also work for scores of ±1000, where $e^{1000}$ is too large for a float. (What happens to
# the fraction if you subtract the same number from every score?)


# %% id="softmax" tags=["exercise"]
def softmax(scores: Float[Tensor, "*batch n"]) -> Float[Tensor, "*batch n"]:
    """Turn scores into weights that are positive and add up to 1 along the last axis."""
    raise NotImplementedError


# %% id="check-softmax"
check(softmax)

# %%
weights = parts.softmax(scores)
print("e to the power of score + 1000:", torch.exp(scores + 1000).tolist())
of_large_scores = parts.softmax(scores + 1000).tolist()
columns = {"score": scores.tolist(), "weight": weights.tolist(), "weight of score + 1000": of_large_scores}
pd.DataFrame(columns, index=words).round(3)

# %% [markdown]
# ### How hard is soft?
#
# Now divide all the scores by a **temperature** before the softmax.
#
# **Predict.** At temperature 1, *chair* had a weight of 0.002. What weight does it get at temperature 100?

# %% tags=["prediction"]
prediction = ...

# %%
temperatures = torch.logspace(-2, 2, 60)
curves = parts.softmax(scores / temperatures[:, None])  # (60, 3): one row per temperature
compare(prediction, measured=round(curves[-1, 2].item(), 2))
ax = plots.lines(temperatures, dict(zip(words, curves.T)), xlabel="temperature", ylabel="weight")
ax.set_xscale("log")
print("weights at temperature 0.01:", [round(w, 2) for w in curves[0].tolist()])

# %% [markdown]
# At a high temperature every key gets nearly the same weight, and the answer is close to the plain average of the
# values. At a low temperature the best key gets all the weight, and we are back at a dict: **hard attention is the
# limit of soft attention at low temperature.** We want **soft attention**, because training needs a gradient: numbers
# that show in which direction to change each score, and how much that matters. Here is the gradient of the price of
# *fruit* at two temperatures.

# %%
gradients = {}
for temperature in [1.0, 0.01]:
    s = scores.clone().requires_grad_()
    (parts.softmax(s / temperature) @ values).backward()
    gradients[f"temperature {temperature}"] = s.grad.tolist()
pd.DataFrame(gradients, index=words).round(3) + 0.0  # adding 0 turns -0 into a plain 0

# %% [markdown]
# At temperature 1, a higher score for *apple* would raise the price, and a higher score for *banana* would lower it. At
# 0.01 there is no gradient left, so the model cannot learn which key to choose. (The exception: if two scores are
# nearly equal, a small change decides which key gets the weight.)
#
# Now turn the query yourself: drag the blue arrow, or choose it with Tab and press the arrow keys. Where must it point
# to get the price of a chair? How low does the temperature have to be for one key to get all the weight, wherever the
# arrow points? (The *entropy* measures how evenly the weights are spread: 0 if one key gets everything, 1 if all
# weights are equal. Lesson 02 defines it.)

# %%
views.LookupDial(fruit, keys, values, words, "fruit", ["edible", "to sit on"])

# %% [markdown]
# ## One lookup
#
# Now put your two functions together: scores, weights, weighted average.

# %%
weights = parts.softmax(parts.similarity(fruit, keys))
print(f"the price of fruit: {weights @ values:.2f}")

# %% [markdown]
# This time, you computed the weights 0.6, 0.4 and 0 from vectors. (We chose the vectors to give these numbers; in real
# models they are learned.)
#
# You do the same in a reading test. The question is the query: *When was Bob born?* Each sentence of the text is
# *about* something (its key) and *says* something (its value): "Bob was born in 1998" is about Bob's birth and says
# 1998. You match the question with what each sentence is about, and take what the matching sentence says. Four
# questions on a text of 20 sentences need 4 × 20 scores.

# %% [markdown]
# ## Many queries at once
#
# The translator of lesson 00 turned `3 mars 2021` into `2021-03-03`, and in lesson 08 your own Transformer will. It has
# to recognize the pieces and change their order: the year comes last in French but first in the output.
#
# Finding the right piece for each position of the output is a lookup: each position has a query, such as "year?". We
# choose keys whose three numbers describe what each piece *is*: (day, month, year).

# %%
pieces = ["3", "mars", "2021"]
piece_keys = torch.tensor([[2.0, 0.5, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]])  # (n_key, d) = (3, 3)
piece_values = torch.tensor([[3.0], [3.0], [2021.0]])  # (n_key, d_v) = (3, 1): what each piece says
questions = ["year?", "month?"]
piece_queries = torch.tensor([[0.0, 0.0, 2.0], [0.0, 2.0, 0.0]])  # (n_query, d) = (2, 3)

# %% [markdown]
# **Exercise.** Compute the weight of every key for every query: a matrix with one row per query and one column per key,
# in which each row adds up to 1. A single matrix product computes all the dot products. Your function should also work
# with any batch dimensions in front. (`x.mT` swaps the last two dimensions of x and leaves the others alone.)


# %% id="attention_weights" tags=["exercise"]
def attention_weights(
    queries: Float[Tensor, "*batch n_query d"], keys: Float[Tensor, "*batch n_key d"]
) -> Float[Tensor, "*batch n_query n_key"]:
    """Return the weight of every key for every query; each row adds up to 1."""
    raise NotImplementedError


# %% id="check-attention_weights"
check(attention_weights)

# %%
weights = parts.attention_weights(piece_queries, piece_keys)
ax = plots.weights(weights, queries=questions, keys=pieces)
pd.DataFrame(weights.tolist(), index=questions, columns=pieces).round(2)

# %% [markdown]
# Each row of the picture shows the weights of one query (numbers below 0.05 are left out). *year?* attends almost only
# to `2021`. *month?* attends mostly to `mars`, and a little to `3`, because of the 0.5 in the key of `3`: days and
# months are both small numbers.
#
# **Exercise.** Now average the values with these weights. A value may be a vector of any width (`d_v`), and so is the
# result. This is attention.


# %% id="attention" tags=["exercise"]
def attention(
    queries: Float[Tensor, "*batch n_query d"],
    keys: Float[Tensor, "*batch n_key d"],
    values: Float[Tensor, "*batch n_key d_v"],
) -> Float[Tensor, "*batch n_query d_v"]:
    """Return, for every query, the average of the values, weighted by how well their keys match it."""
    raise NotImplementedError


# %% id="check-attention"
check(attention)

# %% [markdown]
# **Predict.** What number does *year?* get: nearest to 1850, 1950 or 2021?

# %% tags=["prediction"]
prediction = ...

# %%
output = parts.attention(piece_queries, piece_keys, piece_values)
compare(prediction, measured=output[0].round().item(), choices=(1850, 1950, 2021))
sharper = parts.attention(3 * piece_queries, piece_keys, piece_values)
print(f"with queries 3 times as long: {sharper[0].item():.0f}")

# %% [markdown]
# Soft attention never quite ignores the other keys: `3` and `mars` get about 2% each and pull the answer down by 71
# years. Longer queries give larger scores, and larger scores give sharper weights, so a
# model that needs an exact answer can *learn* longer queries. Lesson 02 is about scores that become large
# unintentionally.

# %% [markdown]
# ## The formula
#
# With the queries as the rows of $Q$, the keys as the rows of $K$ and the values as the rows of $V$:
#
# $$\operatorname{attention}(Q, K, V) = \operatorname{softmax}(Q K^\top)\, V$$
#
# | | shape | may be chosen freely? |
# |---|---|---|
# | $Q$ | (n_query, d) | n_query: yes |
# | $K$ | (n_key, d) | d: must equal that of the queries |
# | $V$ | (n_key, d_v) | n_key: as many values as keys; d_v: yes |
# | $Q K^\top$ | (n_query, n_key) | one score per pair |
# | result | (n_query, d_v) | one weighted average per query |
#
# The softmax normalizes over the keys: each row of weights adds up to 1. Here is every number of our example, from
# queries and keys to the output. (*month?* gets 38: most of that is 2% of 2021.)

# %%
diagrams.lookup.one_head(piece_queries, piece_keys, piece_values, questions, pieces)

# %% [markdown]
# This map of the Transformer highlights what you have built.

# %%
diagrams.architecture.you_are_here(1)

# %% [markdown]
# ### What if the order changes?
#
# **Predict.** Shuffle the keys and their values together. Is the output the `"same"` or `"different"`? And if you
# shuffle only the keys?

# %% tags=["prediction"]
prediction_together, prediction_alone = ..., ...

# %%
q, k, v = torch.randn(4, 8), torch.randn(6, 8), torch.randn(6, 3)
order = torch.tensor([3, 0, 5, 1, 4, 2])
before = parts.attention(q, k, v)


def change(after: Tensor) -> str:
    return "same" if torch.allclose(before, after, atol=1e-5) else "different"


compare(prediction_together, measured=change(parts.attention(q, k[order], v[order])))
compare(prediction_alone, measured=change(parts.attention(q, k[order], v)))
turned = parts.attention(q.flip(0), k, v)
print("first output:", [round(x, 2) for x in before[0].tolist()])
print("last output with the queries reversed:", [round(x, 2) for x in turned[-1].tolist()])

# %% [markdown]
# Nothing in the formula depends on the position of a key. Keys and values form pairs, and the pairs can come in any
# order: attention is **permutation-invariant** in these pairs. If you shuffle only the keys, they get wrong values.
# If you reorder (permute) the queries, the outputs are reordered in the same way: attention is
# **permutation-equivariant** in the queries. Language needs the order ("dog bites man"): lesson 05 adds
# positions.

# %% [markdown]
# ## Self-attention and cross-attention
#
# The formula does not say where queries, keys and values come from. Two cases have names:
#
# - **Cross-attention**: the queries come from one sequence, the keys and values from another. The positions of
#   `2021-03-03` look up the pieces of `3 mars 2021`.
# - **Self-attention**: all three come from the *same* sequence. Each word looks up what the others say about it. Is `3`
#   a day or a month? Its neighbor `mars` decides.

# %%
french, iso = torch.randn(3, 4), torch.randn(10, 4)  # 3 pieces, 10 characters, vectors of width 4
print("cross-attention:", tuple(parts.attention(iso, french, french).shape))
print("self-attention: ", tuple(parts.attention(french, french, french).shape))

# %% [markdown]
# The output has one row per query.
#
# What is self-attention good for? A word has one embedding, so `bank` starts out as the same vector in every sentence.
# We choose a vector between money and water, and let every word in two short texts attend to all the words in its own
# text:

# %%
vectors = {"bank": torch.tensor([1.0, 1.0]), "loan": torch.tensor([3.2, 0.3]), "river": torch.tensor([0.3, 3.2])}
texts = {"bank loan": ["bank", "loan"], "river bank": ["bank", "river"]}
in_text = {text: torch.stack([vectors[word] for word in words]) for text, words in texts.items()}
after = {text: parts.attention(x, x, x)[0] for text, x in in_text.items()}
neighbors = {word: vectors[word] for word in ("loan", "river")}
diagrams.lookup.moved("bank", vectors["bank"], after, neighbors, ("money", "water"))

# %% [markdown]
# The same word now has two vectors. `bank` has moved toward its neighbor (far, because `loan` and `river` are
# longer), so the next layer reads the bank *of a river* or a bank that *lends money*. This is the idea
# behind an attention layer. (A real layer first projects the vectors, and adds the result to the old vector instead of
# replacing it: lessons 03 and 06.)

# %% [markdown]
# ### Does a word attend most to itself?
#
# In self-attention, each vector is also one of the keys; the weight it gives to itself is on the diagonal of the weight
# matrix. Does each vector match itself best? Look at `bank` next to `loan`:

# %%
of_bank = parts.attention_weights(in_text["bank loan"], in_text["bank loan"])[0]
print("the weights of bank:", {word: round(w, 2) for word, w in zip(texts["bank loan"], of_bank.tolist())})

# %% [markdown]
# `loan` is longer, so it wins. How often does that happen? In a Transformer, queries and keys are **projections** of
# the vectors: products with two different learned matrices, `x @ w_q` and `x @ w_k`, which are random before training.
#
# **Predict.** Take 50 random vectors of about the same length. In what percentage of the rows is the weight on the
# diagonal the largest? And after projecting them with two random matrices?

# %% tags=["prediction"]
prediction_raw, prediction_projected = ..., ...

# %%
x = torch.randn(200, 50, 32)  # 200 sequences of 50 vectors
w_q, w_k = torch.randn(2, 200, 32, 32) / math.sqrt(32)  # new projections for every sequence


def on_diagonal(queries: Tensor, keys: Tensor) -> int:
    """Return the percentage of rows whose largest weight is on the diagonal."""
    largest = parts.attention_weights(queries, keys).argmax(dim=-1)
    return round(100 * (largest == torch.arange(50)).float().mean().item())


compare(prediction_raw, measured=on_diagonal(x, x))
compare(prediction_projected, measured=on_diagonal(x @ w_q, x @ w_k))
percent = {}
for spread, factor in {"equal lengths": 1, "lengths 1/3 to 3": 3, "lengths 1/10 to 10": 10}.items():
    lengths = factor ** (2 * torch.rand(200, 50, 1) - 1)
    equal = [d**0.5 * torch.nn.functional.normalize(torch.randn(200, 50, d), dim=-1) for d in (8, 32, 512)]
    percent[spread] = [on_diagonal(lengths * v, lengths * v) for v in equal]
print("percentage of rows with their largest weight on the diagonal")
pd.DataFrame(percent, index=["width 8", "width 32", "width 512"])

# %% [markdown]
# If all vectors are about equally long, each one attends most to itself: $x \cdot x$ is a sum of squares, while
# positive and negative terms cancel in the dot product of two different vectors. If their lengths differ, a longer key
# can win: for lengths from 1/3 to 3, in most rows at width 8 and in none at width 512; from 1/10 to 10, in a third of
# the rows even at width 512. Width and lengths both count. With two random projections, the diagonal is
# largest only by chance, in about 1 row in 50.

# %% [markdown]
# ## Bug hunt
#
# A colleague writes out the softmax and subtracts the largest score so that `exp` cannot overflow. Her version runs,
# the shape is right, and each row of weights adds up to 1. Which line do you send back? Decide *before* you run the
# check. Then put a corrected version, `mended`, into the cell after it.


# %% tags=["bug-hunt"]
def attention_of_a_colleague(queries, keys, values):
    scores = queries @ keys.transpose(-2, -1)
    exponentials = torch.exp(scores - scores.amax(dim=-2, keepdim=True))
    weights = exponentials / exponentials.sum(dim=-1, keepdim=True)
    return weights @ values


# %% id="mend-attention"
mended = attention_of_a_colleague

# %% id="check-mend-attention"
check(mended, "attention", save=False)

# %% [markdown]
# <details><summary>How to find such a bug without a check</summary>
#
# Call the function with a single query. Then the largest score of each key is its only score, all differences are 0,
# and the result is the plain average of the values, whatever the query. The softmax stays the same only if you subtract
# the *same* number from all scores of a query; this version subtracts a different number for each key. The cell below
# shows both.
# </details>

# %%
one_query, two_keys = torch.tensor([[1.0, 0.0]]), torch.tensor([[3.0, 0.0], [0.0, 3.0]])
for name, f in {"the colleague's": attention_of_a_colleague, "yours or the library's": parts.attention}.items():
    print(f"{name}: weight on the key that fits: {f(one_query, two_keys, torch.eye(2))[0, 0]:.2f}")

# %% [markdown]
# ## ★ Transfer: kernel regression
#
# The dot product is not the only way to score. In statistics, **Nadaraya–Watson kernel regression** (1964) predicts the
# value at a new point as an average of the known values, weighted by how near their points are. If the weight falls
# like $e^{-\frac12 \|q - k\|^2}$ (a Gaussian *kernel*), this is attention in which the score of a key is
# $-\tfrac12 \|q - k\|^2$. Write this attention from scratch.


# %% id="distance_attention" tags=["exercise"]
def distance_attention(
    queries: Float[Tensor, "*batch n_query d"],
    keys: Float[Tensor, "*batch n_key d"],
    values: Float[Tensor, "*batch n_key d_v"],
) -> Float[Tensor, "*batch n_query d_v"]:
    """Return the average of the values, weighted by nearness: the score is minus half the squared distance."""
    raise NotImplementedError


# %% id="check-distance_attention"
check(distance_attention)

# %% [markdown]
# Here are 40 noisy points on a sine curve: their positions are the keys, their heights the values. The queries are 200
# positions along the curve. We multiply queries and keys by a factor, which determines what counts as near.


# %% id="known-points" tags=["hide-input"]
new_positions = torch.linspace(0.3, 5.7, 200)[:, None]
sine = torch.sin(new_positions[:, 0])


def known_points() -> tuple[Tensor, Tensor]:
    positions = torch.rand(40, 1) * 6
    return positions, torch.sin(positions) + 0.1 * torch.randn(40, 1)


def largest_error(factor: float) -> float:
    """Return the median of 20 sets of points."""
    sets = [known_points() for _ in range(20)]
    return torch.stack([(predicted(factor, *points) - sine).abs().max() for points in sets]).median().item()


# %%
def predicted(factor: float, positions: Tensor, heights: Tensor) -> Tensor:
    return parts.distance_attention(factor * new_positions, factor * positions, heights)[:, 0]


points, factors = known_points(), (1, 4, 16)  # try other factors
curves = {f"factor {factor}": predicted(factor, *points) for factor in factors} | {"sine": sine}
ax = plots.lines(new_positions[:, 0], curves, xlabel="position (query)", ylabel="height (value)")
ax.plot(*points, ".", color=plots.INK, label="known points")
ax.legend()
print("largest error:", {f"factor {factor}": round(largest_error(factor), 2) for factor in factors})

# %% [markdown]
# Without any training, attention has drawn a smooth curve through 40 noisy points, if the factor is about 4. The factor
# is the temperature again: it multiplies every score by its square. At 1, distant points count too much and the curve
# is too flat; at 16, it jumps from point to point. (In statistics, 1/factor is the **bandwidth** of the kernel.)
#
# **Predict.** If all keys have the same length, do dot-product attention and distance-based attention give the `"same"`
# output or `"different"` ones?

# %% tags=["prediction"]
prediction = ...

# %%
q, k, v = torch.randn(4, 8), torch.nn.functional.normalize(torch.randn(6, 8), dim=-1), torch.randn(6, 3)
by_dot_product, by_nearness = parts.attention(q, k, v), parts.distance_attention(q, k, v)
compare(prediction, measured="same" if torch.allclose(by_dot_product, by_nearness, atol=1e-5) else "different")

# %% [markdown]
# For keys of equal length, $\tfrac12\|q\|^2 + \tfrac12\|k\|^2$ is the same for every key, and softmax does not change
# if you subtract the same number from every score. So for such keys, the attention of this lesson *is* kernel
# regression.

# %% [markdown]
# ## Your experiment
#
# Ungraded, about 15 minutes. Test a claim of your own the way this lesson tests its claims, or start with this one:
#
# **Claim.** Take a key, add equally large noise, and use the result as a query. Attention still finds that key among
# 1,000 keys of width 32: in at least 9 of 10 cases, the largest weight is on that key. (And at width 64?)
#
# **Prediction.** Before you run anything, write down in how many of three runs the claim will hold.
#
# **Verdict.** Say in one sentence what the runs show. A claim that fails is a result, too.

# %% id="experiment" tags=["experiment", "skip-execution"]
prediction = ...  # in how many of the three runs will the claim hold?
holds = []
for seed in range(3):
    torch.manual_seed(seed)
    stored, noise = torch.randn(2, 1000, 32)
    # In parts.attention_weights(stored + noise, stored), row i should have its largest weight in column i.
    holds.append(...)  # True if it does in at least 9 of 10 rows
print("predicted:", prediction, " measured:", holds)
# Verdict:

# %% [markdown]
# ## In short
#
# - Attention is a soft lookup: the better a key matches, the more its value contributes. Score, softmax, weighted
#   average.
# - The dot product is the cosine times both lengths. Random vectors of high dimension have a cosine near 0.
# - At a low temperature (or with long queries) attention becomes a dict; at a high temperature, a plain average.
# - Queries and keys have the same width; there are as many values as keys; all other sizes are free.
# - The order of the keys does not matter, as long as each key keeps its value.

# %% tags=["hide-input"]
sizes = {"d": 8, "n_query": 4, "n_key": 6, "d_v": 3}
q, k, v = torch.randn(4, 8), torch.randn(6, 8), torch.randn(6, 3)
rows = [
    ("similarity", [q[0], k], parts.similarity(q[0], k)),
    ("softmax", [q @ k.T], parts.softmax(q @ k.T)),
    ("attention_weights", [q, k], parts.attention_weights(q, k)),
    ("attention", [q, k, v], parts.attention(q, k, v)),
    ("distance_attention", [q, k, v], parts.distance_attention(q, k, v)),
]
shapes = [(name, ", ".join(str(tuple(i.shape)) for i in ins), str(tuple(out.shape)), 0) for name, ins, out in rows]
print(sizes)
for what, other_k, other_v in [("keys of width 7", k[:, :7], v), ("five values for six keys", k, v[:5])]:
    try:
        parts.attention(q, other_k, other_v)
        print(f"{what}: fits")
    except Exception:
        print(f"{what}: an error")
pd.DataFrame(shapes, columns=["module", "input shapes", "output shape", "parameters"])

# %% [markdown]
# There are no parameters, so attention itself has nothing to learn yet. The parameters come in lesson 03, with the
# projections.

# %% [markdown]
# ## New words
#
# The [glossary](glossary.ipynb) lists the terms from all lessons.
#
# - **query**: the vector that says what a position is looking for.
# - **key**: the vector that a query is compared with.
# - **value**: the vector that is paired with a key; the result of attention is the average of all values, weighted by
#   how well their keys match.
# - **hard attention**: attention in which one key gets the weight 1 and all others get 0.
# - **soft attention**: attention in which every key gets some weight, so that there is a gradient.
# - **normalize**: rescale numbers to a fixed sum, length or spread, for example so that weights add up to 1.
# - **temperature**: the number by which scores are divided before a softmax; a low temperature makes the weights sharp.
# - **permutation-invariant**: the result does not change when the inputs are reordered.
# - **permutation-equivariant**: when the inputs are reordered, the outputs are reordered in the same way.
# - **self-attention**: attention whose queries, keys and values come from one sequence.
# - **cross-attention**: attention whose queries come from one sequence, and keys and values from another.
# - **projection**: the product of a vector with a learned matrix.
# - **Nadaraya–Watson kernel regression**: a prediction by averaging known values, weighted by nearness.
# - **bandwidth**: the distance within which a kernel gives known points much weight.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first. The section named at the end of each answer has the cell that shows it.
#
# <details><summary>Explain attention without a formula.</summary>
#
# Attention is a dictionary lookup in which every entry contributes to the result. The query is compared with every key,
# the scores become weights that add up to 1, and the result is the average of the values with these weights. (<i>One
# lookup</i>: fruit costs 8.)
# </details>
#
# <details><summary>Which sizes of queries, keys and values must agree?</summary>
#
# Queries and keys have the same width, since they are multiplied entry by entry. There are as many values as keys,
# since each value is paired with a key. The number of queries and the width of the values are free. (<i>In short</i>:
# the sizes there are 4, 6, 8 and 3, and sizes that do not match raise an error.)
# </details>
#
# <details><summary>Is the dot product the cosine similarity?</summary>
#
# Only for vectors of length 1 (unit vectors). In general it is the cosine times both lengths, so a long key can beat
# one that points in exactly the right direction. (<i>Is the dot product the cosine?</i>: A beats B.)
# </details>
#
# <details><summary>Why softmax, and not scores divided by their sum?</summary>
#
# Scores can be negative or add up to nearly 0; then the weights would be negative or huge. The exponential makes all
# scores positive and keeps their order, and only differences matter: adding the same number to all scores changes
# nothing. (<i>Step 2</i>: weights of 20 and −10.)
# </details>

# %% [markdown]
# <details><summary>How do you keep softmax from overflowing?</summary>
#
# Subtract each row's maximum from its scores. The result does not change, because the same factor cancels in numerator
# and denominator, and the largest exponent is then 0: nothing exceeds exp(0) = 1. (<i>Step 2</i>: with 1000 added, exp
# returns inf, but softmax returns the same weights.)
# </details>
#
# <details><summary>What happens to the output if the keys and values are permuted? If the queries are?</summary>
#
# If you permute keys and values together, nothing changes: the output is permutation-invariant in the pairs. If you
# permute the queries, the outputs are permuted in the same way (permutation-equivariant), since each row is computed
# separately. (<i>What if the order changes?</i>)
# </details>
#
# <details><summary>What is the difference between self-attention and cross-attention?</summary>
#
# The only difference is where the queries, keys and values come from. In self-attention, queries, keys and values come
# from one sequence. In cross-attention, the queries come from one sequence and the keys and values from another. The
# output has as many rows as there are queries. (<i>Self-attention and cross-attention</i>: 10 rows against 3.)
# </details>
#
# <details><summary>Is the diagonal of a self-attention matrix always the largest?</summary>
#
# No. It depends on the lengths and the width of the vectors and on the projections. With raw vectors of equal length
# each position attends most to itself; a longer vector can get a larger weight, as `loan` does for `bank`. After two
# different random projections, the diagonal entry of a row is no more likely to be the largest than any other. Training
# can change that. (<i>Does a word attend most to itself?</i>)
# </details>
#
# <details><summary>What does attention have to do with kernel regression?</summary>
#
# Nadaraya–Watson regression averages known values with weights that fall with distance. With a Gaussian kernel the
# weights are softmax(−½‖q − k‖²), which for keys of equal length equals softmax(q · k). A wider kernel is a higher
# temperature. (<i>★ Transfer</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Vaswani et al. (2017), *Attention Is All You Need*, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762), section
#   3.2: the same formula with one more symbol, the subject of lesson 02.
# - Separate keys and values: Miller et al. (2016), [arXiv:1606.03126](https://arxiv.org/abs/1606.03126). Soft and hard
#   attention: Xu et al. (2015), [arXiv:1502.03044](https://arxiv.org/abs/1502.03044), and before that in vision, Mnih
#   et al. (2014), [arXiv:1406.6247](https://arxiv.org/abs/1406.6247).
# - To watch: 3Blue1Brown (2024), [*Attention in transformers, step by
#   step*](https://www.youtube.com/watch?v=eMlx5fFNoYc), 26 minutes; it
#   draws the arrows of this lesson at the size of a real model.
# - Kernel regression: Nadaraya (1964) and Watson (1964); Tsai et al. (2019),
#   [arXiv:1908.11775](https://arxiv.org/abs/1908.11775), interpret attention in the Transformer as kernel regression.
# - Common directions of embeddings: Mu and Viswanath (2018), [arXiv:1702.01417](https://arxiv.org/abs/1702.01417).
# - `transformer_lab/attention/dot_product.py`: the library's version, with masks and weights.

# %% [markdown]
# How far did you get, and how well did you predict?

# %% id="tally"
tally()

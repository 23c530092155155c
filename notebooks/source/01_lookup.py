# %% [markdown] id="title"
# # 01 · Attention is a soft dictionary lookup
#
# **The question.** A Python dict finds a value only if the key matches exactly. How can a program look something up
# when *nothing* matches exactly, but some keys come close?
#
# **Afterwards you can** write attention from scratch, say what queries, keys and values are and which of their sizes
# must agree, and tell self-attention from cross-attention.
#
# Reading: 30 minutes. Exercises: 45 minutes (five core, one stretch ★).

# %% [markdown]
# ## Before you start
#
# Three questions from the [primer](primer.ipynb) and [lesson 00](00_bottleneck.ipynb). Answer each one aloud, then open
# it.
#
# <details><summary>A has shape (3, 4), B has shape (4, 5). What is entry (0, 2) of <code>A @ B</code>?</summary>
#
# The dot product of row 0 of A and column 2 of B. A matrix product is many dot products at once; here 3 × 5 of them.
# </details>
#
# <details><summary>Why did the translator without attention get worse on long texts?</summary>
#
# Whatever the length of the text, everything about it had to be packed into one vector of fixed size.
# </details>
#
# <details><summary>What did attention give the decoder at each step?</summary>
#
# A fresh mixture of *all* the encoder's states, weighted by how useful each is for this step.
# </details>

# %% [markdown]
# The next cell imports what this lesson needs. Run every cell in order with **Shift+Enter**.

# %% id="imports"
import math

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from transformer_lab import plots
from transformer_lab.course import check, compare, hint, parts, solution

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
# You would not give up like that. *Fruit* is not in the dict, but apples are very much fruit, bananas too, and chairs
# are not. A sensible answer mixes what is stored under the keys that come close:
#
# | key | how well it matches *fruit* | value |
# |---|---|---|
# | apple | 0.6 | 10 |
# | banana | 0.4 | 5 |
# | chair | 0.0 | 2 |
#
# **Predict.** What does a lookup of *fruit* give with these weights? Replace the `...` by a number.

# %% tags=["prediction"]
prediction = ...

# %%
weights = torch.tensor([0.6, 0.4, 0.0])
values = torch.tensor([10.0, 5.0, 2.0])
compare(prediction, measured=(weights * values).sum())

# %% [markdown]
# That is all attention does: **a weighted average of values**. A dict is the special case in which one weight is 1
# and all the others are 0. What remains is to find the weights. It takes two steps:
#
# 1. *score* every key: how well does it match what is asked for?
# 2. turn the scores into weights: none negative, and they add up to 1.
#
# The names are those of the whole field. What is asked for is the **query**. What it is compared with are the
# **keys**. What is handed over are the **values**.

# %% [markdown]
# ## Step 1: a score for every key
#
# A program cannot compare the *words* "fruit" and "apple" by their letters. So each word becomes a vector: a list of
# numbers that says something about its meaning. In real models these numbers are learned. Here we make them up, with
# only two: how edible a thing is, and how much you can sit on it.

# %%
words = ["apple", "banana", "chair"]
keys = torch.tensor([[3.0, 0.1], [2.8, 0.3], [0.2, 3.0]])  # (n_key, d) = (3, 2)
fruit = torch.tensor([2.0, 0.0])  # one query: (d,) = (2,)
pd.DataFrame(keys.tolist(), index=words, columns=["edible", "to sit on"])

# %% [markdown]
# To score a key, multiply it by the query entry by entry and add up. For *apple* that is 2.0 · 3.0 + 0.0 · 0.1 = 6.0.
# This is the **dot product**. It is large where both vectors have large entries in the same places.
#
# **Exercise.** Score all the keys. The notes in brackets are shapes: `" d"` is a vector of d numbers, `"n d"` a table
# of n rows and d columns, and one letter is one size throughout. Put your code in place of the last line, run the
# cell, then run the check below it.


# %% id="similarity" tags=["exercise"]
def similarity(query: Float[Tensor, " d"], keys: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
    """Score every key by its dot product with the query: n keys, n numbers."""
    raise NotImplementedError


# %% id="check-similarity"
check(similarity)

# %% [markdown]
# Stuck? Put `hint(similarity)` into a new cell: it says a little more each time, about your mistake where the check
# names one, and else about the exercise. `solution(similarity)` shows an answer. Without one you can still go on:
# `parts.similarity` is your own function once it has passed, and the library's until then. (The check tells you if a
# version that passes is too slow, or cuts the gradient: then the lessons use the library's.) What passed is kept for
# the lessons to come, in the folder `my-lessons/parts`; if it cannot be kept, the check says so.

# %%
scores = parts.similarity(fruit, keys)
pd.DataFrame({"score": scores.tolist()}, index=words).round(2)

# %% [markdown]
# ### Is that the cosine? Is it a distance?
#
# You will read that the dot product *is* cosine similarity. Take the query $(1, 0)$ and two keys. A points another
# way but is long. B equals the query.
#
# **Predict.** Which key gets the larger dot product: `"A"` or `"B"`?

# %% tags=["prediction"]
prediction = ...

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
compare(prediction, measured="AB"[measures["dot product"].argmax()])
measures.round(2)

# %% [markdown]
# The dot product is the cosine *times both lengths*: A wins by being long, though B fits perfectly by angle and by
# distance. If all keys have the same length, the three must agree on the order. With $\|q\|$ for the length of $q$,
# this follows from $\|q - k\|^2 = \|q\|^2 + \|k\|^2 - 2\, q \cdot k$: where both lengths are fixed, only $q \cdot k$
# is left. Take vectors of length 1: there the dot product *is* the cosine, and we compare it with the distance.

# %%
directions = torch.nn.functional.normalize(torch.randn(1000, 8), dim=-1)
by_dot = parts.similarity(directions[0], directions).argsort()
by_distance = (directions - directions[0]).norm(dim=-1).argsort(descending=True)
print("1000 unit vectors, same order by dot product and by distance:", bool((by_dot == by_distance).all()))

# %% [markdown]
# ### Do unlike words point in opposite directions?
#
# In two dimensions, it is common for two random directions to be nearly opposite. The vectors of words have hundreds of
# numbers. We take random ones in their place.
#
# **Predict.** Take two random vectors of width 512. What is the typical size (standard deviation) of the cosine
# between them: near 0.7, near 0.3, or near 0.04?

# %% tags=["prediction"]
prediction = ...

# %%
cosines = {}
for d in [2, 16, 512]:
    a, b = torch.randn(2, 4000, d)
    cosines[f"d = {d}"] = torch.cosine_similarity(a, b, dim=-1)
compare(prediction, measured=round(cosines["d = 512"].std().item(), 2))
ax = plots.histogram(cosines, xlabel="cosine of two random vectors", bins=40)
print({label: round(c.std().item(), 2) for label, c in cosines.items()})

# %% [markdown]
# In wide spaces *random* vectors are nearly perpendicular: their cosine is near 0, not near −1. So a large cosine is no
# accident, and "opposite" is rare. (Learned vectors may all lean one way; then what counts as large is a matter of
# comparison. How large the *scores* of unrelated vectors get is another matter. It is the subject of lesson 02.)

# %% [markdown]
# ## Step 2: from scores to weights
#
# The scores of *fruit* were 6.0, 5.6 and 0.4. Weights must not be negative, and they add up to 1. Why not just divide
# by the sum? Because a score may be negative.

# %%
for example in [[6.0, 5.6, 0.4], [2.0, -1.0, -0.9]]:
    s = torch.tensor(example)
    print(f"scores {example}  divided by their sum: {[round(w, 1) for w in (s / s.sum()).tolist()]}")

# %% [markdown]
# Weights of 20 and −10 are no shares of anything. The usual way out makes every score positive first, with the
# exponential function, and then divides by the sum:
#
# $$\operatorname{softmax}(s)_i = \frac{e^{s_i}}{\sum_j e^{s_j}}$$
#
# A difference of 1 between two scores always means a factor of $e \approx 2.7$ between their weights, wherever the
# two lie.
#
# **Exercise.** Write it for any number of rows: each row along the last axis becomes weights. In `"*batch n"` the
# star stands for any axes in front, or for none. It has to survive scores of ±1000, where $e^{1000}$ is too large for
# a float. (What happens to the fraction if you subtract the same number from every score?)


# %% id="softmax" tags=["exercise"]
def softmax(scores: Float[Tensor, "*batch n"]) -> Float[Tensor, "*batch n"]:
    """Turn scores into weights that are positive and add up to 1 along the last axis."""
    raise NotImplementedError


# %% id="check-softmax"
check(softmax)

# %%
weights = parts.softmax(scores)
print("e to the power of score + 1000:", torch.exp(scores + 1000).tolist())
print("weights of score + 1000: the same?", torch.allclose(parts.softmax(scores + 1000), weights, atol=1e-4))
pd.DataFrame({"score": scores.tolist(), "weight": weights.tolist()}, index=words).round(3)

# %% [markdown]
# ### How hard is soft?
#
# Divide all the scores by a **temperature** before the softmax. A low temperature spreads the scores, a high one
# pushes them together.
#
# **Predict.** At temperature 100, what weight does *chair* get? (At temperature 1 it was 0.002.)

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
# Hot: every key gets nearly the same weight, and the answer is nearly the plain average of the values. Cold: the best
# key gets everything, and we are back at a dict. **A hard lookup is the limit of a soft one at low temperature.** We
# want the soft one because training needs a gradient: a number that says which way to move each score, and how much.
# Here is that of the price of *fruit*, warm and cold.

# %%
gradients = {}
for temperature in [1.0, 0.01]:
    s = scores.clone().requires_grad_()
    (parts.softmax(s / temperature) @ values).backward()
    gradients[f"temperature {temperature}"] = s.grad.tolist()
pd.DataFrame(gradients, index=words).round(3) + 0.0  # plus 0 makes -0 a plain 0

# %% [markdown]
# Warm, the gradient says that a higher score for *apple* would raise the price, and one for *banana* lower it. Cold,
# nothing is left of it: like a dict, the lookup cannot say how it should change, so nothing can be learned.

# %% [markdown]
# ## One lookup
#
# **Exercise.** Put the steps together: score, weigh, mix. The values are vectors now, as wide as you like (`d_v`);
# the result is one such vector. You may use `parts.similarity` and `parts.softmax`.


# %% id="soft_lookup" tags=["exercise"]
def soft_lookup(
    query: Float[Tensor, " d"],
    keys: Float[Tensor, "n d"],
    values: Float[Tensor, "n d_v"],
) -> Float[Tensor, " d_v"]:
    """Mix the values, each by how well its key matches the query."""
    raise NotImplementedError


# %% id="check-soft_lookup"
check(soft_lookup)

# %%
price = parts.soft_lookup(fruit, keys, values[:, None])  # each value a vector of one number: (3,) → (3, 1)
print(f"the price of fruit: {price.item():.2f}")

# %% [markdown]
# The weights 0.6, 0.4 and 0 from the beginning, and the 8 (nearly), came out of vectors. (We made these up to that end;
# real ones are learned.)
#
# Here is another way to see it. In a reading test the question is the query: *When was Bob born?* Each sentence of
# the text has something it is *about* (its key) and something it *says* (its value): "Bob was born in 1998" is about
# Bob's birth and says 1998. You do not read the answer off the question; you match questions with what sentences are
# about, and take what they say.

# %% [markdown]
# ## Many queries at once
#
# All through this course we translate one thing: dates. At the end, your own Transformer will turn `3 mars 2021` into
# `2021-03-03`. Two things have to happen. The pieces must be understood, and they must change places: the year, last
# in French, comes first.
#
# Moving the right piece to the right place is a lookup. Each place of the output asks a question. Let us make up keys
# that say what a piece *is*: (day, month, year).

# %%
pieces = ["3", "mars", "2021"]
piece_keys = torch.tensor([[2.0, 0.5, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]])  # (n_key, d) = (3, 3)
piece_values = torch.tensor([[3.0], [3.0], [2021.0]])  # (n_key, d_v) = (3, 1): what it says
questions = ["year?", "month?"]
piece_queries = torch.tensor([[0.0, 0.0, 2.0], [0.0, 2.0, 0.0]])  # (n_query, d) = (2, 3)

# %% [markdown]
# **Exercise.** Weigh every key for every query: a table with one row per query and one column per key, each row
# adding up to 1. One matrix product finds all the dot products at once. It should also work with any batch axes in
# front.


# %% id="attention_weights" tags=["exercise"]
def attention_weights(
    queries: Float[Tensor, "*batch n_query d"], keys: Float[Tensor, "*batch n_key d"]
) -> Float[Tensor, "*batch n_query n_key"]:
    """Weigh every key for every query; each row adds up to 1."""
    raise NotImplementedError


# %% id="check-attention_weights"
check(attention_weights)

# %%
weights = parts.attention_weights(piece_queries, piece_keys)
ax = plots.weights(weights, queries=questions, keys=pieces)
pd.DataFrame(weights.tolist(), index=questions, columns=pieces).round(2)

# %% [markdown]
# Read it row by row: *year?* looks almost only at `2021`. *month?* looks mostly at `mars`, and a little at `3`: that
# is the 0.5 that we typed into its key, since days and months are both small numbers.
#
# **Exercise.** Now mix the values with these weights. This is attention.


# %% id="attention" tags=["exercise"]
def attention(
    queries: Float[Tensor, "*batch n_query d"],
    keys: Float[Tensor, "*batch n_key d"],
    values: Float[Tensor, "*batch n_key d_v"],
) -> Float[Tensor, "*batch n_query d_v"]:
    """Look every query up: mix the values by how well the keys match it."""
    raise NotImplementedError


# %% id="check-attention"
check(attention)

# %% [markdown]
# **Predict.** What number does *year?* get: exactly 2021, or something else? Type the number you expect.

# %% tags=["prediction"]
prediction = ...

# %%
output = parts.attention(piece_queries, piece_keys, piece_values)
compare(prediction, measured=round(output[0].item()))
sharper = parts.attention(3 * piece_queries, piece_keys, piece_values)
print(f"with queries 3 times as long: {sharper[0].item():.0f}")

# %% [markdown]
# A soft lookup never quite leaves the others out: `3` and `mars` get about 2 % each, both say 3, and that pulls the
# year down by dozens of years. Longer queries make larger scores, larger scores make sharper weights: a model that
# needs an exact answer can *learn* to ask more loudly. What happens when the scores get large without anybody wanting
# it is lesson 02.

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
# | result | (n_query, d_v) | one mixture per query |
#
# The softmax runs along the keys: each row adds up to 1.

# %% [markdown]
# ### Shuffled
#
# **Predict.** We shuffle the keys and their values together. Is the output `"same"` or `"different"`? And if we
# shuffle the keys alone?

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
print("queries in reverse give the outputs in reverse:", torch.allclose(turned, before.flip(0), atol=1e-5))

# %% [markdown]
# Nothing in the formula says where in the list a key stands. Keys and values are pairs: together they may stand in any
# order, apart they are worth nothing. For a dict that is fine. For language it is a problem, since "dog bites man" and
# "man bites dog" are different sentences. Lesson 05 puts the order back in.

# %% [markdown]
# ## Who asks whom
#
# The formula does not say where the three come from. Two cases have names:
#
# - **Cross-attention**: the queries come from one sequence, keys and values from another. The places of `2021-03-03`
#   ask the pieces of `3 mars 2021`.
# - **Self-attention**: all three come from the *same* sequence. Every piece asks all the pieces, itself included: is
#   `3` a day or a month? Its neighbour `mars` knows.

# %%
french, iso = torch.randn(3, 4), torch.randn(10, 4)  # 3 pieces, 10 characters, vectors of width 4
print("cross-attention:", tuple(parts.attention(iso, french, french).shape))
print("self-attention: ", tuple(parts.attention(french, french, french).shape))

# %% [markdown]
# As many rows come out as queries went in, however many keys there are.
#
# ### Does everybody look at themselves most?
#
# In self-attention each vector meets itself among the keys. It is often said that the diagonal of the weights is
# therefore the largest. In a Transformer, queries and keys are first *projected*: multiplied by two different learned
# matrices, `x @ w_q` and `x @ w_k`. Before training these are random.
#
# **Predict.** 50 vectors, random projections: in how many per cent of the rows is the diagonal the largest weight?

# %% tags=["prediction"]
prediction = ...

# %%
x = torch.randn(200, 50, 32)  # 200 sequences of 50 vectors
w_q, w_k = torch.randn(2, 200, 32, 32) / math.sqrt(32)  # new projections for every sequence
itself = torch.arange(50)
raw = (parts.attention_weights(x, x).argmax(dim=-1) == itself).float().mean().item()
projected = (parts.attention_weights(x @ w_q, x @ w_k).argmax(dim=-1) == itself).float().mean().item()
compare(prediction, measured=round(100 * projected))
print(f"without projections: {raw:.0%}")

# %% [markdown]
# Without projections, every row looks most at itself: $x \cdot x$ is a sum of squares, while in the product of two
# different vectors positive and negative terms cancel. With two different projections this is gone, and 1 row in 50
# is mere chance. What the diagonal does in a trained model is for the training to decide.

# %% [markdown]
# ## Bug hunt
#
# A colleague sends you this version. It is short, it runs, and it gives the right shape. Read it first and decide
# which line is wrong, before you run the check. Then mend it.


# %% id="mend-attention" tags=["bug-hunt"]
def attention_of_a_colleague(queries, keys, values):
    scores = keys @ queries.transpose(-2, -1)
    weights = parts.softmax(scores)
    return weights.transpose(-2, -1) @ values


# %% id="check-mend-attention"
check(attention_of_a_colleague, "attention")

# %% [markdown]
# <details><summary>How to find such a bug without a check</summary>
#
# Say for each line what every axis means. Here the scores have one row per *key*, and the softmax runs along the last
# axis, so along the queries. Then ask what must be true of the weights, and print it: for each query, do they add up
# to 1? And test with different numbers of keys and queries: then axes that were mixed up have different lengths.
# </details>

# %% [markdown]
# ## ★ Transfer: look up by nearness
#
# The dot product is one way to score, not the only one. Statisticians predict a value at a new point by averaging the
# values of the points around it, near ones counting more: the score of a key is $-\tfrac12 \|q - k\|^2$. Write this
# kind of attention, from nothing.


# %% id="distance_attention" tags=["exercise"]
def distance_attention(
    queries: Float[Tensor, "*batch n_query d"],
    keys: Float[Tensor, "*batch n_key d"],
    values: Float[Tensor, "*batch n_key d_v"],
) -> Float[Tensor, "*batch n_query d_v"]:
    """Mix the values by nearness: the score is minus half the squared Euclidean distance."""
    raise NotImplementedError


# %% id="check-distance_attention"
check(distance_attention)

# %% [markdown]
# Here it is at work: 40 noisy points on a sine curve are the keys (where) and values (how high); 200 places in
# between ask.

# %%
where = torch.rand(40, 1) * 6
high = torch.sin(where) + 0.1 * torch.randn(40, 1)
ask = torch.linspace(0.3, 5.7, 200)[:, None]
found = parts.distance_attention(4 * ask, 4 * where, high)  # times 4: nearness counts 16 times as much
ax = plots.lines(ask[:, 0], {"looked up": found[:, 0], "sine": torch.sin(ask[:, 0])}, xlabel="place", ylabel="height")
ax.plot(where, high, "k.", label="what is known")
ax.legend()
print(f"largest error: {(found - torch.sin(ask)).abs().max():.1f}")

# %% [markdown]
# Forty noisy points have become a smooth curve, and nothing was trained.

# %% [markdown]
# ## In short
#
# - Attention is a lookup in which every key answers, as loudly as it matches: score, softmax, weighted average.
# - The dot product is the cosine times both lengths. Random wide vectors have a cosine near 0.
# - Low temperature (or long queries) makes it a dict; high temperature makes it a plain average.
# - Queries and keys share a width; keys and values share a number; all else is free.
# - Order plays no part, as long as keys and values stay together.

# %%
sizes = {"d": 8, "n_query": 4, "n_key": 6, "d_v": 3}
q, k, v = torch.randn(4, 8), torch.randn(6, 8), torch.randn(6, 3)
rows = [
    ("similarity", [q[0], k], parts.similarity(q[0], k)),
    ("softmax", [q @ k.T], parts.softmax(q @ k.T)),
    ("soft_lookup", [q[0], k, v], parts.soft_lookup(q[0], k, v)),
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
# No parameters anywhere: so far nothing can be learned. They come in lesson 03, with the projections.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
#
# <details><summary>Explain attention without a formula.</summary>
#
# A dictionary lookup in which every entry answers in part. The query is compared with every key, the matches become
# shares that add up to 1, and the result is the values mixed in these shares. (<i>One lookup</i>: fruit costs 8.)
# </details>
#
# <details><summary>Which sizes of queries, keys and values must agree?</summary>
#
# Queries and keys share their width, since they are multiplied entry by entry. There are as many values as keys, since
# they are pairs. The number of queries and the width of the values are free. (<i>In short</i>: the table has 4, 6, 8
# and 3, and what does not fit is an error.)
# </details>
#
# <details><summary>Is the dot product the cosine similarity?</summary>
#
# Only for unit vectors. In general it is the cosine times both lengths, so a long key can beat one that points
# exactly the right way. (<i>Is that the cosine?</i>: A beats B.)
# </details>
#
# <details><summary>Why softmax, and not scores divided by their sum?</summary>
#
# Scores may be negative or add up to nearly 0; then such shares are negative or huge. The exponential makes all
# positive and keeps their order, and only differences count: the same number added to all scores changes nothing.
# (<i>Step 2</i>: weights of 20 and −10.)
# </details>

# %% [markdown]
# <details><summary>How do you keep softmax from overflowing?</summary>
#
# Subtract each row's maximum from its scores. The result does not change, because the same factor cancels above and
# below, and the largest exponent is then 0: nothing exceeds exp(0) = 1. (<i>Step 2</i>: with 1000 added, exp gives inf,
# softmax the same weights.)
# </details>
#
# <details><summary>What happens to the output if the keys and values are permuted? If the queries are?</summary>
#
# Keys and values together: nothing. Queries: the outputs are permuted in the same way, since each row is computed by
# itself. (<i>Shuffled</i>.)
# </details>
#
# <details><summary>What is the difference between self-attention and cross-attention?</summary>
#
# Only where the three come from. Self: all from one sequence. Cross: queries from one, keys and values from another;
# the output has as many rows as there are queries. (<i>Who asks whom</i>: 10 rows against 3.)
# </details>
#
# <details><summary>Is the diagonal of a self-attention matrix always the largest?</summary>
#
# No. It tends to be if queries and keys are the raw vectors. After two different projections it is no more likely to
# be the largest than any other entry, until training makes it so. (<i>Does everybody look at themselves most?</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Vaswani et al. (2017), *Attention Is All You Need*, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762), section
#   3.2: the same formula with one more symbol, the subject of lesson 02.
# - `transformer_lab/attention/dot_product.py`: the library's version, with masks and weights.
#
# <details><summary>For instructors</summary>
#
# *Points*: similarity 1, softmax 2, soft_lookup 2, attention_weights 2, attention 3; stretch: distance_attention 2.
# The bug hunt is not graded. *Where students stumble*: the axis of the softmax (ask: what adds up to 1, and why
# that?); `keepdim`; mixing keys instead of values. *To ask in class*: what would a dict with two equally good keys
# do, and what does attention do? When is the plain average the right answer? Let them find a query that gets exactly
# 5, the price of a banana.
# </details>

# %% [markdown] id="title"
# # 01 · Attention is a soft dictionary lookup
#
# **The question.** A Python dict finds a value only if the key matches exactly. How can a program look something up
# when *nothing* matches exactly, but some keys are similar? The answer fits on one line, and nearly every language
# model of today is built around it.
#
# **Afterwards you can** write attention from scratch, explain queries, keys and values and which of their sizes must
# agree, and tell self-attention from cross-attention.
#
# Reading: 34 minutes. Exercises: 45 minutes (five core, one stretch ★). With all predictions, runs and questions: about
# 100 minutes.

# %% [markdown]
# ## Before you start
#
# Three questions from the [primer](primer.ipynb) and [lesson 00](00_bottleneck.ipynb). Answer each one aloud, then open
# it.
#
# <details><summary>A has shape (3, 4), B has shape (4, 5). What is entry (0, 2) of <code>A @ B</code>?</summary>
#
# The dot product of row 0 of A and column 2 of B. A matrix product is many dot products at once, here 3 × 5 of them.
# </details>
#
# <details><summary>Why did the translator without attention get worse on long texts?</summary>
#
# Whatever the length of the text, all that the decoder knew of it had to fit into one vector of fixed size.
# </details>
#
# <details><summary>What did attention give the decoder at each step?</summary>
#
# A new context: a weighted average of *all* the encoder's hidden states, weighted by how useful each one is for this
# step.
# </details>

# %% [markdown]
# Run every cell in order with **Shift+Enter**. The picture below is a map of the Transformer. The highlighted part is
# what this lesson builds; you will meet the other names later.

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

# %%
diagrams.architecture.you_are_here(1)

# %% [markdown]
# ## A dict knows only yes and no

# %%
prices = {"apple": 10, "banana": 5, "chair": 2}
for word in ["apple", "fruit"]:
    print(word, "→", prices.get(word, "no such key"))

# %% [markdown]
# You would not give up so easily. *Fruit* is not in the dict, but apples and bananas are fruit, and chairs are not. A
# sensible answer mixes what is stored under the keys that match best:
#
# | key | how well it matches *fruit* | value |
# |---|---|---|
# | apple | 0.6 | 10 |
# | banana | 0.4 | 5 |
# | chair | 0.0 | 2 |
#
# **Predict.** What does a lookup of *fruit* give with these weights? Replace the `...` with a number.

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
# 1. *score* every key: how well does it match what is asked for?
# 2. turn the scores into weights: none of them is negative, and they add up to 1.

# %% [markdown]
# The **query** says what is asked for. It is compared with the **keys**, and the result is an average of the
# **values**.
#
# The name comes from human attention. *The street was loud and the room was small, but we loved it*: did the writer
# like the hotel? You attend to what follows the *but*. In a photo you attend to the main object, and hardly to the
# background.

# %% [markdown]
# ## Step 1: a score for every key
#
# The letters of "fruit" and "apple" do not show that these words are related. So each word becomes a vector, its
# embedding: a list of numbers that say something about its meaning. In real models these numbers are learned. Here we
# choose them by hand, two for each word: how edible a thing is, and how well you can sit on it.

# %%
words = ["apple", "banana", "chair"]
keys = torch.tensor([[3.0, -0.7], [2.8, 0.7], [0.2, 3.0]])  # (n_key, d) = (3, 2)
fruit = torch.tensor([2.0, 0.0])  # one query: (d,) = (2,)
pd.DataFrame(keys.tolist(), index=words, columns=["edible", "to sit on"])

# %% [markdown]
# To score a key, multiply it by the query entry by entry and add up: 2.0 · 3.0 + 0.0 · (−0.7) = 6.0 for *apple*. This
# is the **dot product**. It is large if both vectors have large entries of the same sign at the same positions.
#
# **Exercise.** Score all the keys. The strings in brackets are shapes: `" d"` is a vector of d numbers, `"n d"` a
# matrix with n rows and d columns, and a letter stands for the same size throughout. (The space in `" d"` means
# nothing.) Replace the last line with your code, run the cell, then run the check below it.


# %% id="similarity" tags=["exercise"]
def similarity(query: Float[Tensor, " d"], keys: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
    """Return the dot product of the query with every key: n keys, n scores."""
    raise NotImplementedError


# %% id="check-similarity"
check(similarity)

# %% [markdown]
# Stuck? Put `hint(similarity)` into a new cell: each time it tells you a little more, about your mistake if the check
# named one, otherwise about the exercise. `solution(similarity)` shows an answer. You can also go on without solving
# it: from here on, `parts.similarity` is your function if it passed, and otherwise the library's. (The check tells you
# when a function that passes is too slow or lets no gradient through; then the lessons use the library's.) Functions
# that passed are kept for later lessons, in the folder `my-lessons/parts`; if that is impossible, the check says so.

# %%
scores = parts.similarity(fruit, keys)
pd.DataFrame({"score": scores.tolist()}, index=words).round(2)

# %% [markdown]
# The picture shows the vectors as arrows. Apples and bananas reach far in the direction of *fruit*, and chairs hardly
# at all. From the tip of each key, a dashed line runs at a right angle to the line of the query. The distance from the
# origin to the point where these lines meet, times the length of the query, is the dot product.

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
# If all keys have the same length, the last two terms are the same for every key. Then dot product, cosine and distance
# must rank the keys in the same order:

# %%
directions = torch.nn.functional.normalize(torch.randn(1000, 8), dim=-1)
ranking = parts.similarity(directions[0], directions).argsort()
by_distance = (directions - directions[0]).norm(dim=-1).argsort(descending=True)
print("1000 vectors of length 1, same order by dot product and by distance:", bool((ranking == by_distance).all()))

# %% [markdown]
# ### How similar are two random vectors?
#
# In two dimensions, two random vectors are often nearly parallel or nearly opposite: the standard deviation of their
# cosine is 0.7. With 16 numbers each it is 0.25. Word vectors have hundreds of numbers.
#
# **Predict.** What is the standard deviation of the cosine of two random vectors of width 512: nearest to 0.7, 0.2 or
# 0.04?

# %% tags=["prediction"]
prediction = ...

# %%
cosines = {}
for d in [2, 16, 512]:
    a, b = torch.randn(2, 4000, d)
    cosines[f"d = {d}"] = torch.cosine_similarity(a, b, dim=-1)
compare(prediction, measured=round(cosines["d = 512"].std().item(), 3), choices=(0.7, 0.2, 0.04))
ax = plots.histogram(cosines, xlabel="cosine of two random vectors", bins=40)
print({label: round(c.std().item(), 2) for label, c in cosines.items()})

# %% [markdown]
# The wider the vectors, the narrower the curve: its standard deviation is $1/\sqrt d$. In high dimensions, *random*
# vectors are nearly orthogonal. So a large cosine is unlikely to be chance, and the cosine of two unrelated words is
# not negative, as is sometimes said, but near 0. (Trained embeddings often share a common direction; then their cosines
# are not centered at 0: Mu and Viswanath, 2018.)

# %% [markdown]
# ## Step 2: from scores to weights
#
# The scores of *fruit* were 6.0, 5.6 and 0.4. Weights must not be negative, and must add up to 1. Why not **normalize**
# the scores by dividing them by their sum? Because a score may be negative:

# %%
for example in [[6.0, 5.6, 0.4], [2.0, -1.0, -0.9]]:
    s = torch.tensor(example)
    print(f"scores {example}  divided by their sum: {[round(w, 1) for w in (s / s.sum()).tolist()]}")

# %% [markdown]
# Weights of 20 and −10 do not make an average. The usual remedy first makes every score positive, with the exponential
# function, and then divides by the sum:
#
# $$\operatorname{softmax}(s)_i = \frac{e^{s_i}}{\sum_j e^{s_j}}$$
#
# If two scores differ by 1, their weights differ by a factor of $e \approx 2.7$, however large the scores are.
#
# **Exercise.** Write softmax for any number of rows: each row, along the last axis, becomes weights. In `"*batch n"`
# the star stands for any number of axes in front, including none. It must work for scores of ±1000 too, where
# $e^{1000}$ is too large for a float. (What happens to the fraction if you subtract the same number from every score?)


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
# We now divide all the scores by a **temperature** before the softmax.
#
# **Predict.** At temperature 1, *chair* had the weight 0.002. What weight does it get at temperature 100?

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
# At a high temperature every key gets nearly the same weight, and the answer is nearly the plain average of the values.
# At a low temperature the best key gets all the weight, and we are back at a dict: **hard attention is the limit of
# soft attention at low temperature.** **Soft attention** is what we want, because training needs a gradient: numbers
# that say in which direction to move each score, and how much that matters. Here is the gradient of the price of
# *fruit* at two temperatures.

# %%
gradients = {}
for temperature in [1.0, 0.01]:
    s = scores.clone().requires_grad_()
    (parts.softmax(s / temperature) @ values).backward()
    gradients[f"temperature {temperature}"] = s.grad.tolist()
pd.DataFrame(gradients, index=words).round(3) + 0.0  # adding 0 turns -0 into a plain 0

# %% [markdown]
# At temperature 1, the gradient says that a higher score for *apple* would raise the price, and a higher score for
# *banana* would lower it. At 0.01 no gradient is left: like a dict, the lookup cannot say how it should change, so
# nothing can be learned.
#
# Now turn the query yourself: drag the blue arrow, or choose it with Tab and press the arrow keys. Where must it point
# for the price of a chair? How low must the temperature be for one key to get all the weight, wherever the arrow
# points? (The *entropy* says how evenly the weights are spread, from 0 for one key to 1 for all alike; lesson 02
# defines it.)

# %%
views.LookupDial(fruit, keys, values, words, "fruit", ["edible", "to sit on"])

# %% [markdown]
# ## One lookup
#
# **Exercise.** Put the steps together: scores, weights, weighted average. The values are now vectors of any width
# (`d_v`); the result is one such vector. You may use `parts.similarity` and `parts.softmax`.


# %% id="soft_lookup" tags=["exercise"]
def soft_lookup(
    query: Float[Tensor, " d"],
    keys: Float[Tensor, "n d"],
    values: Float[Tensor, "n d_v"],
) -> Float[Tensor, " d_v"]:
    """Return the average of the values, each weighted by how well its key matches the query."""
    raise NotImplementedError


# %% id="check-soft_lookup"
check(soft_lookup)

# %%
price = parts.soft_lookup(fruit, keys, values[:, None])  # each value a vector of one number: (3,) → (3, 1)
print(f"the price of fruit: {price.item():.2f}")

# %% [markdown]
# This time the weights 0.6, 0.4 and 0, and (nearly) the price of 8, were computed from vectors. (We chose the vectors
# for that purpose; in real models they are learned.)
#
# A reading comprehension test works the same way. The question is the query: *When was Bob born?* Each sentence of the
# text is *about* something (its key) and *says* something (its value): "Bob was born in 1998" is about Bob's birth and
# says 1998. You match the question with what the sentences are about, and take what they say. Four questions on a text
# of 20 sentences need 4 × 20 scores.

# %% [markdown]
# ## Many queries at once
#
# All through this course we translate dates. In lesson 08, your own Transformer will turn `3 mars 2021` into
# `2021-03-03`. It has to understand the pieces and to change their order: the year, last in French, comes first.
#
# Finding the right piece for each position of the output is a lookup: the position asks a question. We choose keys that
# say what each piece *is*: (day, month, year).

# %%
pieces = ["3", "mars", "2021"]
piece_keys = torch.tensor([[2.0, 0.5, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]])  # (n_key, d) = (3, 3)
piece_values = torch.tensor([[3.0], [3.0], [2021.0]])  # (n_key, d_v) = (3, 1): what each piece says
questions = ["year?", "month?"]
piece_queries = torch.tensor([[0.0, 0.0, 2.0], [0.0, 2.0, 0.0]])  # (n_query, d) = (2, 3)

# %% [markdown]
# **Exercise.** Compute the weight of every key for every query: a matrix with one row per query and one column per key,
# in which each row adds up to 1. One matrix product computes all the dot products at once. It should also work with any
# batch axes in front. (`x.mT` swaps the last two axes of x, whatever stands in front of them.)


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
# Each row of the picture holds the weights of one query. *year?* attends almost only to `2021`. *month?* attends mostly
# to `mars`, and a little to `3`, because of the 0.5 in the key of `3`: days and months are both small numbers.
#
# **Exercise.** Now average the values with these weights. This is attention.


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
# Soft attention never quite ignores the other keys: `3` and `mars` get about 2% each, both have the value 3, and that
# pulls the answer down by 71 years. Longer queries give larger scores, and larger scores give sharper weights: a model
# that needs an exact answer can *learn* longer queries. What happens when scores get large by accident is the subject
# of lesson 02.

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
# The softmax runs along the keys: each row of weights adds up to 1. Here is every number of our example, from queries
# and keys to the output. (*month?* gets 38: most of that is 2% of 2021.)

# %%
diagrams.lookup.one_head(piece_queries, piece_keys, piece_values, questions, pieces)

# %% [markdown]
# ### What if the order changes?
#
# **Predict.** We shuffle the keys and their values together. Is the output the `"same"` or `"different"`? And if we
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
# Nothing in the formula depends on the position of a key. Keys and values form pairs, and the pairs may come in any
# order: attention is **permutation-invariant** in them. If you shuffle only the keys, they get the wrong values. And if
# the queries are reordered (permuted), the outputs are reordered in the same way: attention is
# **permutation-equivariant** in the queries. For a dict, ignoring order is fine. For language it is a problem, since
# "dog bites man" and "man bites dog" are different sentences. Lesson 05 adds positions.

# %% [markdown]
# ## Self-attention and cross-attention
#
# The formula does not say where queries, keys and values come from. Two cases have names:
#
# - **Cross-attention**: the queries come from one sequence, keys and values from another. The positions of `2021-03-03`
#   ask the pieces of `3 mars 2021`.
# - **Self-attention**: all three come from the *same* sequence. Each word asks the others what it means here. Is `3` a
#   day or a month? Its neighbor `mars` tells us.

# %%
french, iso = torch.randn(3, 4), torch.randn(10, 4)  # 3 pieces, 10 characters, vectors of width 4
print("cross-attention:", tuple(parts.attention(iso, french, french).shape))
print("self-attention: ", tuple(parts.attention(french, french, french).shape))

# %% [markdown]
# The output has as many rows as there are queries, however many keys there are.
#
# What is self-attention good for? A word has one embedding, so `bank` starts out as the same vector in every sentence.
# We choose one that lies between money and water, and let each word of two short texts attend to all words of its text:

# %%
vectors = {"bank": torch.tensor([1.0, 1.0]), "loan": torch.tensor([3.2, 0.3]), "river": torch.tensor([0.3, 3.2])}
texts = {"bank loan": ["bank", "loan"], "river bank": ["bank", "river"]}
in_text = {text: torch.stack([vectors[word] for word in words]) for text, words in texts.items()}
after = {text: parts.attention(x, x, x)[0] for text, x in in_text.items()}
neighbors = {word: vectors[word] for word in ("loan", "river")}
diagrams.lookup.moved("bank", vectors["bank"], after, neighbors, ("money", "water"))

# %% [markdown]
# One word has become two vectors. `bank` has moved toward its neighbor, and what the next layer reads is the bank *of
# a river*, or one that *lends money*. This is what a layer of attention does to every word of a text.

# %% [markdown]
# ### Is the diagonal the largest?
#
# In self-attention each vector meets itself among the keys: its weight there is on the diagonal of the matrix of
# weights. In a Transformer, queries and keys are **projections** of the vectors: products with two different learned
# matrices, `x @ w_q` and `x @ w_k`. Before training these matrices are random.
#
# **Predict.** We project 50 vectors at random. In what percentage of the rows is the weight on the diagonal the
# largest?

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
# Without projections, every position attends most to itself: $x \cdot x$ is a sum of squares, while in the product of
# two different vectors positive and negative terms cancel. With two different projections this effect disappears, and
# what is left is chance: 1 row in 50. Training decides what becomes of the diagonal.

# %% [markdown]
# ## Bug hunt
#
# A colleague sends you this version. She writes the softmax out, and subtracts the largest score so that `exp` cannot
# overflow. It runs, the shape is right, and each row of weights adds up to 1. Read it and decide which line is wrong
# *before* you run the check. Then put a corrected version, `mended`, into the cell after it.


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
# Give it a single query. Then the largest score of each key is its only score, all differences are 0, and the result is
# the plain average of the values, whatever the query. The softmax stays the same only if *one* number is subtracted
# from all scores of a query; here each key has its own. The cell below shows both.
# </details>

# %%
one_query, two_keys = torch.tensor([[1.0, 0.0]]), torch.tensor([[3.0, 0.0], [0.0, 3.0]])
for name, f in {"the colleague's": attention_of_a_colleague, "yours or the library's": parts.attention}.items():
    print(f"{name}: weight on the key that fits: {f(one_query, two_keys, torch.eye(2))[0, 0]:.2f}")

# %% [markdown]
# ## ★ Transfer: kernel regression
#
# The dot product is one way to score, not the only one. In statistics, **Nadaraya–Watson kernel regression** (1964)
# predicts a value at a new point as the average of the values of the known points, weighted by how near they are. If
# the weight falls like $e^{-\frac12 \|q - k\|^2}$ (a Gaussian *kernel*), this is attention in which the score of a key
# is $-\tfrac12 \|q - k\|^2$. Write this attention from scratch.


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
# positions along the curve.

# %%
positions = torch.rand(40, 1) * 6
heights = torch.sin(positions) + 0.1 * torch.randn(40, 1)
new_positions = torch.linspace(0.3, 5.7, 200)[:, None]
smooth = parts.distance_attention(4 * new_positions, 4 * positions, heights)  # times 4: standard deviation 1/4
curves = {"attention": smooth[:, 0], "sine": torch.sin(new_positions[:, 0])}
ax = plots.lines(new_positions[:, 0], curves, xlabel="position (query)", ylabel="height (value)")
ax.plot(positions, heights, ".", color=plots.INK, label="known points")
ax.legend()
print(f"largest error: {(smooth - torch.sin(new_positions)).abs().max():.1f}")

# %% [markdown]
# Without any training, attention has drawn a smooth curve through 40 noisy points.
#
# **Predict.** If all keys have the same length, do attention by dot products and attention by distance give the
# `"same"` output, or `"different"` ones?

# %% tags=["prediction"]
prediction = ...

# %%
q, k, v = torch.randn(4, 8), torch.nn.functional.normalize(torch.randn(6, 8), dim=-1), torch.randn(6, 3)
by_dot_product, by_nearness = parts.attention(q, k, v), parts.distance_attention(q, k, v)
compare(prediction, measured="same" if torch.allclose(by_dot_product, by_nearness, atol=1e-5) else "different")

# %% [markdown]
# For keys of one length, $\tfrac12\|q\|^2 + \tfrac12\|k\|^2$ is the same number for all keys of a query, and softmax
# ignores a number that is subtracted from every score. So for such keys, the attention of this lesson *is* kernel
# regression.

# %% [markdown]
# ## Your experiment
#
# Ungraded, about 15 minutes. Test a claim of your own as this lesson tests its claims, or begin with this one:
#
# **Claim.** A query that is a key plus noise of the same size still finds that key among 1,000 keys of width 32: in at
# least 9 of 10 cases, its largest weight is there. (And at width 64?)
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
# - Queries and keys have the same width; there are as many keys as values; all other sizes are free.
# - The order of the keys does not matter, as long as each key keeps its value.

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
# There are no parameters, so attention itself has nothing to learn yet. Parameters come in lesson 03, with the
# projections.

# %% [markdown]
# ## New words
#
# The words of all lessons are in the [glossary](glossary.ipynb).
#
# - **query**: the vector that says what a position is looking for.
# - **key**: the vector that a query is compared with.
# - **value**: the vector that a key stands for; the result is the average of all values, weighted by how well their
#   keys match.
# - **hard attention**: attention in which one key gets the weight 1 and all others get 0.
# - **soft attention**: attention in which every key gets some weight, so that there is a gradient.
# - **normalize**: bring numbers to a fixed sum, length or spread, as when weights must add up to 1.
# - **temperature**: the number by which scores are divided before a softmax; a low one makes the weights sharp.
# - **permutation-invariant**: the result does not change when the inputs are reordered.
# - **permutation-equivariant**: when the inputs are reordered, the outputs are reordered in the same way.
# - **self-attention**: attention whose queries, keys and values come from one sequence.
# - **cross-attention**: attention whose queries come from one sequence, and keys and values from another.
# - **projection**: the product of a vector with a learned matrix.
# - **Nadaraya–Watson kernel regression**: a prediction by averaging known values, weighted by nearness.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
#
# <details><summary>Explain attention without a formula.</summary>
#
# A dictionary lookup in which every entry contributes. The query is compared with every key, the scores become weights
# that add up to 1, and the result is the average of the values with these weights. (<i>One lookup</i>: fruit costs 8.)
# </details>
#
# <details><summary>Which sizes of queries, keys and values must agree?</summary>
#
# Queries and keys have the same width, since they are multiplied entry by entry. There are as many values as keys,
# since they are pairs. The number of queries and the width of the values are free. (<i>In short</i>: the sizes there
# are 4, 6, 8 and 3, and sizes that do not match raise an error.)
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
# Scores may be negative or add up to nearly 0; then the weights would be negative or huge. The exponential makes all
# scores positive and keeps their order, and only differences matter: adding the same number to all scores changes
# nothing. (<i>Step 2</i>: weights of 20 and −10.)
# </details>

# %% [markdown]
# <details><summary>How do you keep softmax from overflowing?</summary>
#
# Subtract each row's maximum from its scores. The result does not change, because the same factor cancels in numerator
# and denominator, and the largest exponent is then 0: nothing exceeds exp(0) = 1. (<i>Step 2</i>: with 1000 added, exp
# returns inf, and softmax the same weights.)
# </details>
#
# <details><summary>What happens to the output if the keys and values are permuted? If the queries are?</summary>
#
# Keys and values together: nothing, the output is permutation-invariant in the pairs. Queries: the outputs are permuted
# in the same way (permutation-equivariant), since each row is computed by itself. (<i>What if the order changes?</i>)
# </details>
#
# <details><summary>What is the difference between self-attention and cross-attention?</summary>
#
# Only where the three come from. Self: all from one sequence. Cross: queries from one, keys and values from another;
# the output has as many rows as there are queries. (<i>Self-attention and cross-attention</i>: 10 rows against 3.)
# </details>
#
# <details><summary>Is the diagonal of a self-attention matrix always the largest?</summary>
#
# No. Its entries tend to be the largest if queries and keys are the raw vectors. After two different random
# projections, the diagonal entry of a row is no more likely to be the largest than any other; training may change that.
# (<i>Is the diagonal the largest?</i>)
# </details>
#
# <details><summary>What does attention have to do with kernel regression?</summary>
#
# Nadaraya–Watson regression averages known values with weights that fall with distance. With a Gaussian kernel the
# weights are softmax(−½‖q − k‖²), which for keys of equal length equals softmax(q · k). (<i>★ Transfer</i>)
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
#   step*](https://www.youtube.com/watch?v=eMlx5fFNoYc), 26 minutes; it draws the arrows of this lesson in a real model.
# - Kernel regression: Nadaraya (1964) and Watson (1964); Tsai et al. (2019),
#   [arXiv:1908.11775](https://arxiv.org/abs/1908.11775), read the Transformer in this way.
# - Common directions of embeddings: Mu and Viswanath (2018), [arXiv:1702.01417](https://arxiv.org/abs/1702.01417).
# - `transformer_lab/attention/dot_product.py`: the library's version, with masks and weights.

# %% [markdown]
# How far did you get, and how well did you predict?

# %% id="tally"
tally()

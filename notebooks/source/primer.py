# %% [markdown] id="title"
# # Primer · PyTorch for readers of Python
#
# **The question.** A model looks up a list of numbers for each letter of a word, averages the lists, and guesses which
# month the word means. You will train it on the names of months in dozens of languages, such as `mars`, French for
# March. Can it tell `mars` from `srma`? And how much PyTorch does such a model take?
#
# **Afterwards you can** work out the shape of a result before you run the line, let PyTorch compute any gradient, and
# read and write the training loop that all lessons share.
#
# Reading: 40 minutes. Exercises: 10 minutes. With all predictions, runs and questions: about 70 minutes. If you know
# PyTorch, try the [self-check](#Self-check); if nothing in it surprises you, go on to [lesson 00](00_bottleneck.ipynb).

# %% [markdown]
# Run every cell in order with **Shift+Enter**. Where a cell contains `...`, replace it with what you expect *before*
# you run it. Nothing here is graded, and a wrong guess teaches more than a right one. (If you like, add how confident
# you are: `prediction = "same", "70 %"`. At the end you will see how often you were confident and wrong.)

# %% id="imports"
import math
import re
import timeit
from collections import Counter

import pandas as pd
import torch
from babel.dates import get_month_names
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_course import check, compare, plots, tally
from transformer_lab import trace_shapes
from transformer_lab.data.dates import LOCALES

# %%
torch.manual_seed(0)  # the seed: with a fixed one, the random numbers are the same in every run
torch.set_printoptions(precision=2, sci_mode=False)

# %% [markdown]
# Here is the core of that model, untrained. You don't have to understand the lines yet. `vectors` holds four random
# numbers for each letter (we set their **seed** above), and `read` averages the numbers of a word's letters.
#
# **Predict.** Does the model get the `"same"` four numbers for `mars` and for `srma`, or `"different"` ones?

# %% tags=["prediction"]
prediction = ...

# %%
vectors = torch.randn(26, 4)


def read(word: str) -> Tensor:
    return vectors[[ord(letter) - ord("a") for letter in word]].mean(dim=0)


compare(prediction, measured="same" if torch.allclose(read("mars"), read("srma")) else "different")
print({word: [round(number, 1) + 0.0 for number in read(word).tolist()] for word in ("mars", "srma", "mai")})

# %% [markdown]
# To the model the two words are the same, and no training will change that: an average does not depend on the order of
# its terms. How a model can see the order is one of the questions of this course.

# %% [markdown]
# ## A tensor is a block of numbers
#
# Throughout the course, models turn `3 mars 2021` into `2021-03-03`. A piece of text that a model reads as one unit is
# called a **token**; here each character is a token. The set of all tokens that a model can read is its **vocabulary**.
# Models compute with numbers, so every token gets a number, its **token id**: here its index in an alphabet.

# %%
alphabet = " 0123456789abcdefghijklmnopqrstuvwxyz"


def ids_of(text: str) -> Tensor:
    return torch.tensor([alphabet.index(character) for character in text])


march, may = ids_of("3 mars 2021"), ids_of("12 mai 2021")
batch = torch.stack([march, may])
print(batch.tolist())
print("shape", tuple(batch.shape), " dtype", batch.dtype, " numbers in all", batch.numel())
print("stack gives", tuple(batch.shape), " and cat", tuple(torch.cat([march, may]).shape))

# %% [markdown]
# A **tensor** is a block of numbers. Its **shape** is its size along each **axis**: here 2 rows of 11. Its **dtype** is
# the type of its numbers, the same for all of them. Ids are integers (`int64`), almost everything else is
# floating-point (`float32`, about seven digits), and yes-or-no answers are `bool`.

# %% [markdown]
# `torch.stack` puts tensors of equal shape side by side along a *new* axis; `torch.cat` joins them end to end along an
# existing axis. Indexing works as in Python, with one index or slice for each axis.
#
# **Predict.** What is the shape of `batch[:, -4:]`, which takes the last four entries of every row? Write it as a
# tuple, such as `(3, 5)`.

# %% tags=["prediction"]
prediction = ...

# %%
years = batch[:, -4:]
compare(prediction, measured=tuple(years.shape))
print("back to text:", ["".join(alphabet[i] for i in row) for row in years.tolist()])
print("a row:", tuple(batch[0].shape), " a column:", tuple(batch[:, 0].shape), " one number:", tuple(batch[0, 0].shape))
print("that number for Python:", batch[0, 0].item())

# %% [markdown]
# An index removes its axis; a slice keeps it. When no axis is left, the shape is `()`, and `.item()` turns the tensor
# into a Python number. `.tolist()` turns a tensor of any shape into nested lists.
#
# Arithmetic and comparisons work on all the numbers at once:

# %%
digits = (batch >= 1) & (batch <= 10)  # bool: & is and, | is or, ~ is not
print("first text:", digits[0].int().tolist())
print("any letter or space in the years:", (~digits[:, -4:]).any().item())

# %% [markdown]
# ## Sums along an axis
#
# Three people record how many hours they sleep on each of four nights: a (3, 4) tensor. Axes are counted from 0, or
# from the end: `-1` is the last axis.
#
# **Predict.** What is the shape of `hours.mean(dim=0)`?

# %% tags=["prediction"]
prediction = ...

# %%
hours = torch.tensor([[8.0, 7.0, 6.0, 9.0], [7.0, 6.0, 8.0, 7.0], [6.0, 8.0, 10.0, 8.0]])
compare(prediction, measured=tuple(hours.mean(dim=0).shape))
print("mean over the people, dim=0: ", hours.mean(dim=0).tolist())
print("mean over the nights, dim=-1:", hours.mean(dim=-1).tolist())
print("the same with keepdim=True:  ", hours.mean(dim=-1, keepdim=True).tolist())

# %% [markdown]
# **The axis that you name is the one that disappears.** `dim=0` averages over the people and leaves one number for each
# night. With `keepdim=True` the axis stays, with length 1. `sum`, `any` and `argmax` (*where* is the largest number?)
# take a `dim` too. `max` returns two tensors, the largest numbers and their indices. `softmax` (below) works along its
# axis and keeps it.

# %% [markdown]
# ## Broadcasting
#
# What fraction of their total sleep did each person get on each night? Divide a (3, 4) tensor by a (3, 1) tensor:

# %%
fractions = hours / hours.sum(dim=-1, keepdim=True)
print([[round(fraction, 2) for fraction in row] for row in fractions.tolist()])
print("each row adds up to", fractions.sum(dim=-1).tolist())
try:
    hours / hours.sum(dim=-1)
except RuntimeError as error:
    print("without keepdim:", error)

# %% [markdown]
# The shapes differ, yet the first division works: the single column of sums is used for all four nights. This is
# **broadcasting**:
#
# 1. Write the shapes one below the other, aligned on the right.
# 2. On every axis, the sizes must be equal, or one of them must be 1 or missing.
# 3. Along an axis of size 1 or a missing axis, the same numbers are reused. Nothing is copied.
#
# $$\begin{pmatrix} 8 & 7 & 6 & 9 \\ 7 & 6 & 8 & 7 \\ 6 & 8 & 10 & 8 \end{pmatrix} \Big/
# \begin{pmatrix} 30 \\ 28 \\ 32 \end{pmatrix} \;=\;
# \begin{pmatrix} 8 & 7 & 6 & 9 \\ 7 & 6 & 8 & 7 \\ 6 & 8 & 10 & 8 \end{pmatrix} \Big/
# \begin{pmatrix} 30 & 30 & 30 & 30 \\ 28 & 28 & 28 & 28 \\ 32 & 32 & 32 & 32 \end{pmatrix}$$
#
# | | | | |
# |---|---|---|---|
# | `hours` | 3 | 4 | |
# | `sum(dim=-1, keepdim=True)` | 3 | 1 | fits |
# | `sum(dim=0)` | | 4 | fits |
# | `sum(dim=-1)` | | 3 | 4 against 3: an error |

# %% [markdown]
# Now take three of the nights, a (3, 3) tensor. We want to subtract each person's mean, but we forget `keepdim`.
#
# **Predict.** What does `nights - nights.mean(dim=-1)` give: an `"error"`, the `"right"` numbers or `"wrong"` numbers?

# %% tags=["prediction"]
prediction = ...

# %%
nights = hours[:, :3]
forgotten = nights - nights.mean(dim=-1)
kept = nights - nights.mean(dim=-1, keepdim=True)
compare(prediction, measured="right" if torch.equal(forgotten, kept) else "wrong")
print("mean of each row, keepdim forgotten:", [round(x, 1) for x in forgotten.mean(dim=-1).tolist()])
print("mean of each row, keepdim kept:     ", [round(x, 1) + 0.0 for x in kept.mean(dim=-1).tolist()])

# %% [markdown]
# The numbers are wrong, without an error: person 0's mean was subtracted from all of column 0, which is everyone's
# first night:
#
# $$\text{subtracted:} \begin{pmatrix} 7 & 7 & 8 \\ 7 & 7 & 8 \\ 7 & 7 & 8 \end{pmatrix} \qquad
# \text{should have been:} \begin{pmatrix} 7 & 7 & 7 \\ 7 & 7 & 7 \\ 8 & 8 & 8 \end{pmatrix}$$
#
# When shapes match by accident, the bug is silent. So **test code with sizes that are all different**.
#
# `x[:, None]` inserts an axis of length 1 and turns (3,) into (3, 1); `x.unsqueeze(1)` does the same. With one such
# axis in each of two tensors, broadcasting forms all *pairs*:

# %%
days, factors = torch.tensor([3, 12, 14]), torch.tensor([1, 10, 100, 1000])
print("sums of all pairs:", (days[:, None] + days[None, :]).tolist())  # (3, 1) + (1, 3) → (3, 3)

# %% [markdown]
# **Your turn.** Replace the `...` with an expression that multiplies each of the `days` by each of the `factors`: shape
# (3, 4), a row for each day.

# %% tags=["prediction"]
mine = ...

# %%
compare(mine, measured=days[:, None] * factors)

# %% [markdown]
# ## The same numbers in another shape
#
# `torch.arange(6)` holds the numbers 0 to 5, and `.view(2, 3)` makes two rows of them:

# %%
matrix = torch.arange(6).view(2, 3)
print(matrix.tolist())

# %% [markdown]
# **Predict.** What is the first row of `matrix.view(3, 2)`, and of `matrix.T`? Write them as lists, such as `[0, 5]`.

# %% tags=["prediction"]
by_view, by_transpose = ..., ...

# %%
compare(by_view, measured=matrix.view(3, 2)[0].tolist())
compare(by_transpose, measured=matrix.T[0].tolist())
print("view(3, 2):", matrix.view(3, 2).tolist())
print("T:         ", matrix.T.tolist())

# %% [markdown]
# Both have the shape (3, 2), but their numbers are in different places (bold: first row of `matrix`):
#
# $$\text{matrix} = \begin{pmatrix} \mathbf 0 & \mathbf 1 & \mathbf 2 \\ 3 & 4 & 5 \end{pmatrix} \qquad
# \text{.view(3, 2)} = \begin{pmatrix} \mathbf 0 & \mathbf 1 \\ \mathbf 2 & 3 \\ 4 & 5 \end{pmatrix} \qquad
# \text{.T} = \begin{pmatrix} \mathbf 0 & 3 \\ \mathbf 1 & 4 \\ \mathbf 2 & 5 \end{pmatrix}$$
#
# `view` reads the numbers row by row and cuts them into rows of a different length. `.T`, the **transpose**, swaps rows
# and columns. With more than two axes, `x.transpose(1, 2)` swaps axes 1 and 2, and `x.mT` swaps the last two. In
# `view(-1, 2)` the −1 stands for whatever length fits. `flatten` merges several axes into one, and `unflatten` splits
# one into several. (Where `view` fails, `x.reshape` copies the numbers instead; see lesson 03.)

# %% [markdown]
# ## A matrix product is many dot products
#
# The **dot product** of two vectors is the sum of the products of their entries. In `a @ b`, entry $(i, j)$ is the dot
# product of row $i$ of `a` and column $j$ of `b`:
#
# $$(a\,b)_{ij} = \sum_k a_{ik}\, b_{kj} \qquad (n, k) \;@\; (k, m) \to (n, m)$$
#
# The inner sizes must agree, and they disappear. The outer sizes stay. A single vector on the right counts as one
# column: (n, k) @ (k,) → (n,).
#
# **Predict.** `a` is (3, 4) and `b` is (4, 5). How many dot products does `a @ b` compute?

# %% tags=["prediction"]
prediction = ...

# %%
a, b = torch.randn(3, 4), torch.randn(4, 5)  # random: mean 0, standard deviation 1
by_hand = torch.tensor([[(row * column).sum() for column in b.T] for row in a])
compare(prediction, measured=by_hand.numel())
print("the same as a @ b:", torch.allclose(by_hand, a @ b, atol=1e-6))
print("row 0 times column 2:", f"{a[0] @ b[:, 2]:.2f}", " entry (0, 2):", f"{(a @ b)[0, 2]:.2f}")
print("seven at once:", tuple((torch.randn(7, 3, 4) @ b).shape))

# %% [markdown]
# `allclose` allows for rounding errors. Axes before the last two form a **batch**: `@` multiplies each entry of the
# batch in the same way, and these axes broadcast.
#
# **Predict.** `rows @ columns`, (50, 64) @ (64, 50), computes 2500 dot products. Which takes longer: a `"loop"` that
# computes these 2500 one by one, or 100 such matrix `"products"`, with 250,000 dot products in total?

# %% tags=["prediction"]
prediction = ...

# %% tags=["words-only"]
rows, columns = torch.randn(50, 64), torch.randn(64, 50)


def loop() -> None:
    for row in rows:
        for column in columns.T:
            row @ column


def products() -> None:
    for _ in range(100):
        rows @ columns


# The shortest of five times is the least disturbed by other programs.
in_loop, in_products = (min(timeit.repeat(work, number=1, repeat=5)) for work in (loop, products))
magnitude = math.log10(100 * in_loop / in_products)  # 2 if both take equally long
compare(prediction, measured="loop" if magnitude > 2 else "products")
print(f"one by one, a dot product takes about 10^{magnitude:.0f} times as long")

# %% [markdown]
# That is the order of magnitude, and yours may differ. Almost none of the loop's time goes into
# arithmetic: a call costs far more than the 64 multiplications in it. So give PyTorch a lot to do in each call. Most of
# the work in a Transformer is matrix products, which computers do very fast.

# %% [markdown]
# ## Softmax turns scores into probabilities
#
# Models compute *scores*, which may be any numbers: the larger, the better. **Softmax** turns the scores along one axis
# into positive numbers that add up to 1. It raises $e$ to the power of each score and divides by the sum, so a score
# that is larger by 1 gets $e \approx 2.7$ times the **probability**. Scores meant for a softmax are also called
# **logits**.
#
# **Predict.** We add 100 to all the scores. Are the probabilities the `"same"` or `"different"`?

# %% tags=["prediction"]
prediction = ...

# %%
scores = torch.tensor([2.0, 1.0, 0.0, -1.0])
p = torch.softmax(scores, dim=-1)
higher = torch.softmax(scores + 100, dim=-1)
compare(prediction, measured="same" if torch.allclose(p, higher) else "different")
print("probabilities:", [round(x, 2) for x in p.tolist()], " sum:", round(p.sum().item(), 2))

# %% [markdown]
# Only the differences between scores matter.

# %% [markdown]
# ## Words as vectors
#
# An id says which word it is and nothing else: word 7 is not *more* than word 3, and not similar to word 8. So each
# word gets a *vector*, its **embedding**, and a matrix holds all of them, one row per word. To look words up, index the
# matrix with their ids.
#
# Models learn these vectors. You can also *count* them: "you shall know a word by the company it keeps" (Firth, 1957).
# We take a text that is already on your machine, the documentation of PyTorch. For each of its 1000 most common words,
# we count the words within three positions of it, and give more weight to neighbors that occur more often than chance
# predicts (folded).

# %% tags=["hide-input"]
places = [torch, torch.Tensor, torch.linalg, torch.optim, nn, F]
docs = [getattr(place, name).__doc__ for place in places for name in sorted(dir(place))]
texts = dict.fromkeys(doc for doc in docs if isinstance(doc, str))  # each once
text = re.findall("[a-z]+", " ".join(texts).lower())
vocabulary = [word for word, _ in Counter(text).most_common(1000)]
number = {word: i for i, word in enumerate(vocabulary)}
ids = torch.tensor([number[word] for word in text if word in number])
print(f"more than {len(text) // 10_000}0,000 words; the most common:", *vocabulary[:8])

# %% tags=["hide-input"]
pairs = [1000 * ids[:-gap] + ids[gap:] for gap in (1, 2, 3)]
counts = torch.bincount(torch.cat(pairs), minlength=1000 * 1000).view(1000, 1000).float()
counts = counts + counts.T  # a neighbor counts whether it stands before or after
by_chance = counts.sum(dim=1, keepdim=True) * counts.sum(dim=0, keepdim=True) / counts.sum()
vectors = (counts / by_chance).log().clamp(min=0)
print("vectors", tuple(vectors.shape), " two looked up:", tuple(vectors[[number["row"], number["sin"]]].shape))

# %% [markdown]
# <details><summary>How the counting works</summary>
#
# The pair $(i, j)$ gets the number $1000\,i + j$. `bincount` counts how often each number occurs, and `view` turns the
# million counts into a matrix. The word `the` is next to everything, which says little. So we divide each count by the
# count that chance would give: a column of sums, (1000, 1), times a row of sums, (1, 1000), is a whole matrix by
# broadcasting. We take the logarithm and clamp it at 0 where two words co-occur less often than chance predicts. This
# is called *positive pointwise mutual information* (PPMI).
# </details>
#
# Now compare directions. The **cosine similarity** of two vectors is the dot product after you divide both by their
# lengths: 1 if they point in the same direction, 0 at a right angle, −1 if they point in opposite directions.
#
# **Predict.** Which of the 999 other words has the vector most similar to that of `row`? Write it as a string.

# %% tags=["prediction"]
prediction = ...

# %%
directions = F.normalize(vectors, dim=-1)  # each row divided by its length
cosines = directions @ directions.T  # (1000, 1000): all pairs at once


def nearest(word: str, n: int = 3) -> list[str]:
    found = cosines[number[word]].topk(n + 1).indices[1:]  # the largest ones; the very first is the word itself
    return [vocabulary[i] for i in found]


compare(prediction, measured=nearest("row")[0])
words = ["row", "matrix", "sin", "encoder", "zeros", "max", "true", "weight"]
neighbors = {word: nearest(word) for word in words}
pd.DataFrame.from_dict(neighbors, orient="index", columns=["nearest", "second", "third"])

# %% [markdown]
# No one told the program what a word means. But we picked these eight words by hand. A fairer test: is a word more
# similar to its own plural than to half of the other words? And is the plural its nearest word?

# %% tags=["hide-input"]
plurals = [(word, word + "s") for word in vocabulary if len(word) > 2 and word + "s" in number]
is_above_median = [cosines[number[one], number[several]] > cosines[number[one]].median() for one, several in plurals]
is_nearest = [nearest(one)[0] == several for one, several in plurals]
print(f"of {len(plurals)} words with a plural, such as {plurals[0]}:")
print(f"  the plural is more similar than half of all words: {sum(is_above_median) / len(plurals):.0%}")
print(f"  the plural is the nearest word: {sum(is_nearest) / len(plurals):.0%}")

# %% [markdown]
# The plural is nearly always in the more similar half, but rarely the nearest word. And look at `max` and `min`, `true`
# and `false`, `zeros` and `ones` above: they are *opposites*. Wherever one can appear, so can the other. These
# vectors capture which words occur together, and that is not quite the same as meaning.

# %% [markdown]
# ## Gradients
#
# To train a model, we ask about every number in it: if this number grew a little, how fast would the result change? All
# the answers together are the **gradient**. PyTorch's **autograd** computes it: it records each step of a calculation
# and then goes through the steps in reverse (**backpropagation**).
#
# **Predict.** Let $y = x^2$, and $x = 3$. If $x$ grows by a tiny amount, how many times as much does $y$ grow?

# %% tags=["prediction"]
prediction = ...

# %%
x = torch.tensor(3.0, requires_grad=True)  # record every operation on x
y = x**2
y.backward()
compare(prediction, measured=x.grad)
print("by trying:", round((3.001**2 - 3**2) / 0.001, 2))
print("y remembers how it was made:", y.grad_fn is not None, " y.item() is a plain", type(y.item()).__name__)

# %% [markdown]
# **Predict.** We compute `y` again, and call `backward` again. What is in `x.grad` now?

# %% tags=["prediction"]
prediction = ...

# %%
y = x**2
y.backward()
compare(prediction, measured=x.grad)

# %% [markdown]
# Gradients are *added* to the ones that are already there. That is useful when several small batches should count as a
# large one, and a trap everywhere else: you have to set the gradients to zero before each `backward`.

# %% [markdown] id="chain"
# A model has many steps, one after another. Here are two: $u = 2x + 1$, then $y = u^2$. At $x = 3$, $u$ is 7.
#
# **Predict.** If $x$ grows by a tiny amount, how many times as much does $y$ grow?

# %% id="chain-prediction" tags=["prediction"]
prediction = ...

# %% id="chain-rule"
x = torch.tensor(3.0, requires_grad=True)
u = 2 * x + 1
u.retain_grad()  # keep the gradient at this step as well
y = u**2
y.backward()
compare(prediction, measured=x.grad)
print(f"y grows {u.grad:g} times as much as u, and u {torch.autograd.grad(2 * x + 1, x)[0]:g} times as much as x")
print("by trying:", round(((2 * 3.001 + 1) ** 2 - 7**2) / 0.001, 1))

# %% [markdown] id="chain-drawn"
# The factors of the steps are multiplied, 14 · 2 = 28. This is the **chain rule**, and `backward` applies it step by
# step, from the result to the input:
#
# $$x = 3 \;\xrightarrow{\;2x + 1\;}\; u = 7 \;\xrightarrow{\;u^2\;}\; y = 49 \qquad\qquad
# \texttt{x.grad} = 28 \;\xleftarrow{\;\cdot\, 2\;}\; 14 \;\xleftarrow{\;\cdot\, 2u\;}\; 1$$

# %% [markdown] id="descent"
# A gradient points uphill, so it also shows the way down. Let's find a number whose square is 2 by **gradient
# descent**. All we have is a **loss** that measures how wrong we are, $(x^2 - 2)^2$. If a larger $x$ makes the loss
# larger, $x$ should shrink, so each step goes *against* the gradient, times a **learning rate**. The learning rate is
# not trained; we choose it. Such a number is called a **hyperparameter**.

# %%
x, path = torch.tensor(3.0, requires_grad=True), []
for _ in range(20):
    loss = (x**2 - 2) ** 2
    loss.backward()
    with torch.no_grad():  # the step itself should not be recorded
        x -= 0.02 * x.grad
        x.grad.zero_()
    path.append(x.item())
print("after steps 1, 2, 5 and 20:", [round(path[step - 1], 3) for step in (1, 2, 5, 20)])

# %% [markdown]
# That is $\sqrt 2$. Inside `with torch.no_grad():`, PyTorch records nothing, which also saves memory: use it whenever
# you don't need a gradient. `@torch.no_grad()` above a function does this for the whole function. (`x.detach()` returns
# the same numbers without their history. Methods that end in `_`, such as `zero_`, change the tensor in place.)

# %% [markdown]
# ## Modules hold parameters
#
# A number that training changes is a **parameter**. A **module** is a function with parameters. `nn.Linear(4, 2)`, a
# **linear layer**, turns vectors of width 4 into vectors of width 2: it multiplies by a matrix and adds a vector, the
# **bias**.
#
# **Predict.** How many parameters does `nn.Linear(4, 2)` have?

# %% tags=["prediction"]
prediction = ...

# %%
linear = nn.Linear(4, 2)
compare(prediction, measured=sum(p.numel() for p in linear.parameters()))
x = torch.randn(5, 3, 4)  # any number of axes in front
print("is x @ weight.T + bias:", torch.allclose(linear(x), x @ linear.weight.T + linear.bias, atol=1e-6))
print("ReLU of -1, 0 and 2:", nn.ReLU()(torch.tensor([-1.0, 0.0, 2.0])).tolist())
pd.DataFrame({"shape": {name: str(tuple(p.shape)) for name, p in linear.state_dict().items()}})

# %% [markdown]
# The weight is stored as (out, in), hence the `.T`. Parameters have `requires_grad=True` from the start. `state_dict()`
# returns them in a dict by name, and `load_state_dict` copies such a dict into another module with the same names. Some
# modules have no parameters: `nn.ReLU()` (**ReLU**, the rectified linear unit) sets negative numbers to 0.
# `nn.Sequential(one, other)` runs one module after the other.
#
# `nn.Embedding(n, d)` holds a matrix with a row for each of n ids and looks ids up as we did above. But these vectors
# start out random, and training changes them. The lookup gives the same result as a product with a **one-hot vector**,
# but it is much cheaper:

# %%
embedding = nn.Embedding(37, 8)
found = embedding(batch)  # (2, 11) ids → (2, 11, 8)
one_hot = F.one_hot(batch, 37).float()  # (2, 11, 37): a 1 at the id, 0 everywhere else
print("lookup", tuple(found.shape), " is indexing:", torch.equal(found, embedding.weight[batch]))
print("and is a matrix product:", torch.allclose(found, one_hot @ embedding.weight))

# %% [markdown]
# You write your own modules as classes: `__init__` creates the parts, and `forward` computes the result when you call
# the module, as in `model(names)`. This one guesses a month from the letters of its name.


# %%
class MonthReader(nn.Module):
    def __init__(self, n_characters: int, d_model: int = 32) -> None:
        super().__init__()  # before any part is made
        self.embedding = nn.Embedding(n_characters, d_model)
        self.output = nn.Linear(d_model, 12)

    def forward(self, names: Tensor) -> Tensor:  # (batch, length)
        vectors = self.embedding(names)  # (batch, length, d_model)
        return self.output(vectors.mean(dim=1))  # (batch, 12): a score for each month


# %% [markdown]
# ## The training loop
#
# *März, marzo, maaliskuu, март*: our data are the names of the months in many languages, in full and abbreviated. (They
# come with Babel, which is installed with the course.) We pad shorter names at the end with id 0 (**padding**). About
# one name in five is left out of training. These names are the **held-out set**, on which we test the model.

# %%
month_of = {}
for language in LOCALES:
    for width in ("wide", "abbreviated"):
        for month, name in get_month_names(width, locale=language).items():
            month_of[name.lower()] = month - 1  # 0 to 11

characters = ["", *sorted(set("".join(month_of)))]
longest = max(map(len, month_of))
names = torch.tensor([[characters.index(c) for c in name] + [0] * (longest - len(name)) for name in month_of])
months = torch.tensor(list(month_of.values()))
held_out = torch.rand(len(names)) < 0.2
languages = {language[:2] for language in LOCALES}
print(f"{len(languages)} languages, {len(names)} names, {len(characters) - 1} characters, {held_out.sum()} held out")

# %% [markdown]
# (A bool index, as in `names[held_out]`, picks the rows where it is True.)
#
# How wrong is a guess? The usual loss for classification is **cross-entropy**: softmax turns the logits into
# probabilities, and the loss is −log of the probability of the *right* answer. The loss is 0 if that probability is 1,
# and grows without limit as the probability approaches 0.
#
# **Predict.** An untrained model that gives each of 12 months the same probability: what is its loss? (An estimate will
# do: $e^{2.3} \approx 10$.)

# %% tags=["prediction"]
prediction = ...

# %%
nothing = torch.zeros(len(names), 12)  # equal scores
compare(prediction, measured=F.cross_entropy(nothing, months))
scores = torch.tensor([[2.0, 1.0, 0.0]])
print("of logits, right answer 0: ", round(F.cross_entropy(scores, torch.tensor([0])).item(), 2))
print("by hand:                   ", round(-torch.softmax(scores, dim=-1)[0, 0].log().item(), 2))
print("of probabilities (wrong):  ", round(F.cross_entropy(scores.softmax(-1), torch.tensor([0])).item(), 2))

# %% [markdown]
# `F.cross_entropy` computes the softmax itself: it expects logits. If you pass probabilities, it treats them as logits,
# without an error.

# %% [markdown]
# Now the loop. Its core is the same in every lesson and has four lines: compute the loss, set the old gradients to
# zero, compute the new ones, take a step. `Adam` is an **optimizer**: it does what we did with `x`, with a separate
# step size for each parameter. Each step here uses the whole training set; one pass over that set is called an
# **epoch**.
#
# **Predict.** After 300 steps, what fraction of the *held-out* names does the model get right (its **accuracy**)? A
# random guess is right in 1 of 12 cases, or 0.08.

# %% tags=["prediction"]
prediction = ...

# %% id="measuring" tags=["hide-input"]
groups = {"training set": ~held_out, "held-out set": held_out}
accuracy, losses = ({group: [] for group in groups} for _ in range(2))


@torch.no_grad()
def measure() -> None:
    """Append the model's accuracy and its loss on both sets to their lists."""
    for group, chosen in groups.items():
        logits = model(names[chosen])
        is_right = logits.argmax(dim=-1) == months[chosen]  # the month with the largest logit
        accuracy[group].append(is_right.float().mean().item())  # the fraction that is True
        losses[group].append(F.cross_entropy(logits, months[chosen]).item())


# %% tags=["approximate"]
model = MonthReader(len(characters))
print("before training, the loss is", round(F.cross_entropy(model(names), months).item(), 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(300):
    loss = F.cross_entropy(model(names[~held_out]), months[~held_out])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    measure()  # folded above: accuracy and loss on both sets
compare(prediction, measured=round(accuracy["held-out set"][-1], 1))
ax = plots.lines(range(300), accuracy, xlabel="step", ylabel="accuracy")

# %% tags=["hide-input"]
learned = {(name[:3], month) for (name, month), held in zip(month_of.items(), held_out) if not held}
new = [(name[:3], month) for (name, month), held in zip(month_of.items(), held_out) if held]
print(f"held-out names that begin like a training name of their month: {sum(p in learned for p in new) / len(new):.0%}")

# %% id="accuracy-by-step" tags=["hide-input", "approximate"]
at = (0, 50, 100, 200, 299)
pd.DataFrame({group: [curve[step] for step in at] for group, curve in accuracy.items()}, index=at).round(1)

# %% [markdown]
# The model **generalizes**: it reads about 6 in 10 of the names that it never saw. This is partly because languages
# share words, as in avril, aprile, april (the count above). But the training curve ends near 1, far above the held-out
# curve: the difference is memorized.
#
# The folded cell runs the same loop for 900 more steps.
#
# **Predict.** What happens to the *loss* on the held-out set between step 150 and step 1,200? Write `"falls"`, `"stays
# the same"` (within a tenth) or `"rises"`.

# %% id="later-loss-prediction" tags=["prediction"]
prediction = ...

# %% id="later-loss" tags=["hide-input", "approximate"]
for _ in range(900):
    loss = F.cross_entropy(model(names[~held_out]), months[~held_out])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    measure()
growth = losses["held-out set"][-1] / losses["held-out set"][149]
compare(prediction, measured="rises" if growth > 1.1 else "falls" if growth < 0.9 else "stays the same")
ax = plots.lines(range(1200), losses, xlabel="step", ylabel="loss")
at = (0, 149, 299, 599, 1199)
curves = {"accuracy": accuracy, "loss": losses}
by_step = {(what, group): [of[group][i] for i in at] for what, of in curves.items() for group in groups}
pd.DataFrame(by_step, index=[i + 1 for i in at]).round(2)

# %% [markdown] id="overfitting"
# The accuracy changes little, and yet the loss more than doubles! The model grows more and more confident, even where
# it is wrong, and the loss punishes confident mistakes. Getting better on the training data but not on held-out data is
# called **overfitting**. So judge a model by its held-out set, and look at loss *and* accuracy. If you need reliable
# probabilities, stop when the held-out loss is lowest (*early stopping*). If only the answers count, training longer
# did no harm here. A loop that runs without an error proves nothing.
#
# And `srma`? All that the model sees of a name is the *mean* of the embeddings of its letters and the padding.


# %%
def logits_of(name: str) -> Tensor:
    ids = [characters.index(c) for c in name] + [0] * (longest - len(name))
    return model(torch.tensor([ids]))[0]


mars, srma = logits_of("mars"), logits_of("srma")
print("mars and srma are read as the same month:", mars.argmax().item() == srma.argmax().item())
print("equal logits:", torch.allclose(mars, srma, atol=1e-4))

# %% [markdown]
# Training did not help: to this model, `srma` is still `mars`. To read a whole date, a model has to know the
# **position** of each character, and which characters matter at each step. Much of the course is about that.
#
# <details><summary>Larger data and a GPU</summary>
#
# For larger data, a `DataLoader` shuffles the examples in every epoch and returns them in batches. A model and its data
# also have to be on the same **device**, the CPU or a GPU; `.to(device)` moves them. Some modules behave differently
# during training and evaluation, and `train()` and `eval()` switch between the two (lesson 06 has an example). This is
# the same loop with all three:
#
# ```python
# device = "cuda" if torch.cuda.is_available() else "cpu"
# examples = torch.utils.data.TensorDataset(names[~held_out], months[~held_out])
# loader = torch.utils.data.DataLoader(examples, batch_size=128, shuffle=True)
# model = MonthReader(len(characters)).to(device)
# optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
# model.train()
# for some_names, their_months in loader:  # one epoch
#     loss = F.cross_entropy(model(some_names.to(device)), their_months.to(device))
#     optimizer.zero_grad()
#     loss.backward()
#     optimizer.step()
# model.eval()
# ```
# </details>

# %% [markdown] id="loop"
# ## Write the loop
#
# Our training set fits into one batch. Larger data come in batches, and the model takes one step for each.
#
# **Exercise.** Write one epoch of training: create an Adam optimizer, take a step for each batch, and return the losses
# as Python numbers, each computed before the step on its batch.


# %% id="train_epoch" tags=["exercise"]
def train_epoch(model: nn.Module, batches: list[tuple[Tensor, Tensor]], learning_rate: float) -> list[float]:
    """Train on each batch, a pair of names and months, in turn. Return the losses."""
    raise NotImplementedError


# %% id="check-train_epoch"
check(train_epoch)

# %% [markdown]
# ## Your experiment
#
# Ungraded, about 15 minutes. In this course you predict a result, run three seeds and report what they show. Test a
# claim of your own in this way, or start with this one:
#
# **Claim.** A model with vectors of width 4 instead of 32 can memorize less, and so reads *more* of the held-out names.
#
# **Prediction.** Before you run anything, write down in how many of the three runs the claim will hold.
#
# **Verdict.** State in one sentence what your runs support. A claim that fails is a result, too.

# %% id="experiment" tags=["experiment", "skip-execution"]
prediction = ...  # in how many of the three runs will the claim hold?
holds = []
for seed in range(3):
    torch.manual_seed(seed)
    small, large = MonthReader(len(characters), d_model=4), MonthReader(len(characters))
    holds.append(...)  # train both as above, and compare their accuracies on the held-out names: True or False
print("predicted:", prediction, " measured:", holds)
# Verdict:

# %% [markdown]
# ## In short
#
# - A tensor has a shape. The axis that `dim` names is the one that disappears; `keepdim=True` keeps it with length 1.
# - Broadcasting aligns shapes on the right and stretches axes of length 1. Shapes can match by accident: try sizes that
#   all differ.
# - `view` cuts the same numbers into other rows; `transpose` swaps axes.
# - (n, k) @ (k, m) → (n, m): n · m dot products at once.
# - `backward` adds gradients to `.grad`; `no_grad` records nothing.
# - Each step: compute the loss, then `zero_grad`, `backward`, `step`. Judge the model by its accuracy and its loss on
#   the held-out set.
#
# The shapes once more, for 5 names:

# %%
trace_shapes(model, names[:5])

# %% [markdown]
# ## Self-check
#
# **Predict.** What does each of these four lines return? Write shapes as tuples.
#
# 1. `(torch.ones(5, 1, 4) + torch.ones(3, 1)).shape`
# 2. `torch.ones(2, 7, 3).sum(dim=-2).shape`
# 3. `(torch.ones(2, 7, 3) @ torch.ones(3, 4)).shape`
# 4. `torch.ones(7)[:, None].shape`

# %% tags=["prediction"]
one, two, three, four = ..., ..., ..., ...

# %%
compare(one, measured=tuple((torch.ones(5, 1, 4) + torch.ones(3, 1)).shape))
compare(two, measured=tuple(torch.ones(2, 7, 3).sum(dim=-2).shape))
compare(three, measured=tuple((torch.ones(2, 7, 3) @ torch.ones(3, 4)).shape))
compare(four, measured=tuple(torch.ones(7)[:, None].shape))

# %% [markdown]
# How well did you predict in this notebook?

# %% id="tally"
tally()

# %% [markdown]
# <details><summary>Why 1 to 4?</summary>
#
# 1: aligned on the right, (5, 1, 4) and (3, 1): 4 against 1, 1 against 3, 5 against nothing. 2: −2 is the axis of
# length 7, and it disappears. 3: (7, 3) @ (3, 4), twice. 4: `None` inserts an axis of length 1 at that place.
# (<i>Broadcasting</i>,
# <i>Sums along an axis</i>, <i>A matrix product</i>)
# </details>

# %% [markdown]
# ## New words
#
# The [glossary](glossary.ipynb) lists the terms from all lessons.
#
# - **token**: a piece of text that a model reads or generates as one unit.
# - **vocabulary**: all the tokens that a model can read.
# - **token id**: the number that stands for a token.
# - **position**: the place of a token in its sequence, counted from 0.
# - **tensor**: a block of numbers with any number of axes.
# - **shape**: the sizes of a tensor along its axes.
# - **axis**: one dimension of a tensor; a matrix has two, its rows and its columns.
# - **broadcasting**: combining tensors of different shapes by repeating those axes that are missing or have length 1.
# - **dot product**: the sum of the products of two vectors' entries.
# - **batch**: several examples that are processed at once.
# - **softmax**: the function that turns scores into probabilities: e to the power of each score, divided by the sum.
# - **probability**: a number from 0 to 1 that measures how likely something is.
# - **logits**: scores before a softmax.
# - **embedding**: the vector that represents a token; usually learned.
# - **cosine similarity**: the dot product of two vectors, divided by both of their lengths.
# - **gradient**: how fast a result changes with each number that it depends on.
# - **backpropagation**: computing gradients by going back through a calculation, from the result to its inputs.
# - **chain rule**: the derivative of several steps is the product of the derivatives of the steps.
# - **loss**: one number that measures how wrong a model is.
# - **gradient descent**: reducing a loss by repeated small steps against its gradient.
# - **learning rate**: the factor that scales each step of gradient descent.
# - **hyperparameter**: a number that we choose instead of training it.
# - **parameter**: a number in a model that training changes.
# - **module**: PyTorch's building block of a model, a function together with its parameters.
# - **linear layer**: multiplication by a learned matrix, usually plus a bias.
# - **bias**: a learned vector that a layer adds.
# - **ReLU**: the rectified linear unit, the function that replaces negative numbers with 0.
# - **one-hot vector**: a vector with a single 1 and zeros everywhere else.
# - **padding**: filler tokens that bring texts to the same length.
# - **held-out set**: data that a model is tested on and never trained on.
# - **cross-entropy**: −log of the probability that a model gives to the right answer, averaged over the examples.
# - **optimizer**: the rule that turns gradients into steps, such as Adam.
# - **epoch**: one pass over the training data.
# - **accuracy**: the fraction of answers that are right.
# - **generalize**: do well on data that was not part of the training.
# - **overfitting**: getting better on the training data, but not on held-out data.
# - **seed**: the number that determines all random numbers of a run.
# - **device**: the processor that holds a tensor and computes with it, such as the CPU or a GPU.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first. The section named at the end of each answer has the cell that shows it.
#
# <details><summary>What is broadcasting, and how can it hurt?</summary>
#
# Shapes are aligned on the right; an axis of length 1, or a missing one, is repeated to match the other. It hurts when
# shapes match by accident: a (3,) mean subtracted from a (3, 3) tensor works on the wrong axis without an error.
# (<i>Broadcasting</i>)
# </details>
#
# <details><summary>What is the difference between view and transpose?</summary>
#
# `view` keeps the numbers in their order and cuts them into rows of a different length; `transpose` swaps two axes.
# Both can give the same shape, with the numbers in different places. (<i>The same numbers in another shape</i>)
# </details>
#
# <details><summary>Why is zero_grad called in every step?</summary>
#
# Because `backward` adds to the gradients that are already there. Without `zero_grad`, each step would use the sum of
# all gradients so far. (Sometimes you want the sum: gradient accumulation adds up several small batches.)
# (<i>Gradients</i>: 12 instead of 6)
# </details>
#
# <details><summary>When do you use no_grad, and why loss.item()?</summary>
#
# Use `no_grad` whenever no gradient is needed: for the step itself, and for measurements. A loss remembers how it was
# computed. If you collect losses without calling `backward`, as when testing, all of that stays in memory; `item`
# returns a plain number. (<i>Gradients</i>)
# </details>

# %% [markdown]
# <details><summary>Does cross-entropy take probabilities?</summary>
#
# As its input, no: PyTorch's function takes logits and computes the softmax itself. Given probabilities, it returns a
# wrong loss without an error. (As the *target* it takes ids or probabilities.) (<i>The training loop</i>)
# </details>
#
# <details><summary>What loss do you expect before training, with V classes?</summary>
#
# About ln V, the loss of equal probabilities: 2.48 for 12, and ours began near it. A much larger loss means that the
# model starts out confident in wrong answers. (<i>The training loop</i>)
# </details>
#
# <details><summary>What is an embedding layer? How is it related to a linear one?</summary>
#
# A learned matrix with a row for each id. Looking up a row equals multiplying a one-hot vector by the matrix: a linear
# layer without bias whose input is one-hot, but the lookup is much cheaper. (<i>Modules hold parameters</i>)
# </details>
#
# <details><summary>Why do similar words get similar vectors? Are antonyms far apart?</summary>
#
# The vectors summarize the contexts in which a word occurs, and similar words occur in similar contexts. So do many
# opposites, whose vectors are therefore often close. (<i>Words as vectors</i>: `true` and `false`)
# </details>
#
# <details><summary>Accuracy still rises on the training set, but not on the held-out set. What is happening?</summary>
#
# Overfitting: the model memorizes details that don't help on new data. Only a held-out set shows it, and its loss shows
# it earlier than its accuracy: ours more than doubled while the accuracy changed little. More data, a smaller model,
# dropout or early stopping may help. (<i>The training loop</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - [Lesson 00](00_bottleneck.ipynb): how models translated before attention, and your first exercise.
# - PyTorch's own pages on [broadcasting](https://docs.pytorch.org/docs/stable/notes/broadcasting.html) and on
#   [autograd](https://docs.pytorch.org/docs/stable/notes/autograd.html).
# - Words as vectors: Firth (1957), *A Synopsis of Linguistic Theory*; Church and Hanks (1990), who compared counts with
#   chance (pointwise mutual information); Mikolov et al. (2013), [arXiv:1301.3781](https://arxiv.org/abs/1301.3781),
#   learned vectors; Levy and Goldberg (2014), *Neural Word Embedding as Implicit Matrix Factorization*: how the two are
#   related.
# - Kingma and Ba (2015), [arXiv:1412.6980](https://arxiv.org/abs/1412.6980): Adam.

# %% [markdown] id="title"
# # Primer · PyTorch for readers of Python
#
# **The question.** The lessons are written in PyTorch. What of it do you need before the first of them, if all you
# know is Python?
#
# **Afterwards you can** tell the shape that a line of code gives before you run it, get the gradient of anything, and
# read and write the training loop that all lessons share.
#
# Reading: 36 minutes. Optional: if you know PyTorch, try the [self-check](#Self-check) at the end. If nothing in it
# surprises you, go on to [lesson 00](00_bottleneck.ipynb).

# %% [markdown]
# Run every cell in order with **Shift+Enter**. Where a cell holds `...`, put what you expect in its place *before*
# you run it. The cell after it answers. Nothing here is graded, and a wrong guess teaches more than a right one.

# %% id="imports"
import re
import time
from collections import Counter

import pandas as pd
import torch
from babel.dates import get_month_names
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_lab import plots, trace_shapes
from transformer_lab.course import compare
from transformer_lab.data.dates import LOCALES

# %%
torch.manual_seed(0)  # random numbers are the same in every run from here on
torch.set_printoptions(precision=2, sci_mode=False)

# %% [markdown]
# ## A tensor is a block of numbers
#
# All through the course, a model will turn `3 mars 2021` into `2021-03-03`. Models compute with numbers. So every
# character gets one, its **id**: here simply its place in an alphabet.

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
# A **tensor** is a block of numbers. Its **shape** says how many there are along each **axis**: here 2 rows of 11.
# Its **dtype** is the kind of number, the same for all: ids are whole numbers (`int64`), almost everything else has
# fractions (`float32`, about seven digits), and yes-or-no tables are `bool`.
#
# `torch.stack` puts tensors of one shape next to each other along a *new* axis; `torch.cat` puts them end to end, along
# an axis that they have already. Indexing is Python's, with one index or slice for each axis.
#
# **Predict.** What is the shape of `batch[:, -4:]`, that is, of all rows, and in each the last four? Write it as a
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
# An index takes its axis away; a slice keeps it. What is left when all are gone is a tensor with the shape `()`, and
# `.item()` makes a Python number of it. `.tolist()` does so for whole blocks.
#
# Arithmetic and comparisons work on all the numbers at once:

# %%
digits = (batch >= 1) & (batch <= 10)  # bool: & is and, | is or, ~ is not
print("first text:", digits[0].int().tolist())
print("any letter or space in the years:", (~digits[:, -4:]).any().item())

# %% [markdown]
# ## Sums along an axis
#
# Three people note how many hours they slept in four nights: a (3, 4) tensor. Axes are counted from 0, or from the
# end: `-1` is the last.
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
# **The axis that is named is the one that goes.** `dim=0` mixes the rows, so one number for each night is left. With
# `keepdim=True` the axis stays, with length 1. `sum`, `any` and `argmax` (*where* is the largest?) take a `dim`
# likewise; `max` gives a pair, the numbers and where they are; `softmax` (below) works along its axis and keeps it.
# *Along which axis?* is the question to ask of such a line.

# %% [markdown]
# ## Broadcasting
#
# What share of a person's sleep fell into each night? Divide (3, 4) by (3, 1):

# %%
shares = hours / hours.sum(dim=-1, keepdim=True)
print([[round(share, 2) for share in row] for row in shares.tolist()])
print("each row adds up to", shares.sum(dim=-1).tolist())
try:
    hours / hours.sum(dim=-1)
except RuntimeError as error:
    print("without keepdim:", error)

# %% [markdown]
# The shapes differ, and still the first line works: the single column was used for all four. This is **broadcasting**:
#
# 1. Write the shapes below each other, so that they end at the same place.
# 2. On every axis the sizes must be equal, or one of them 1, or missing.
# 3. Where it is 1 or missing, that tensor is read again and again. Nothing is copied.
#
# | | | | |
# |---|---|---|---|
# | `hours` | 3 | 4 | |
# | `sum(dim=-1, keepdim=True)` | 3 | 1 | fits |
# | `sum(dim=0)` | | 4 | fits |
# | `sum(dim=-1)` | | 3 | 4 against 3: an error |

# %% [markdown]
# That error is a friend. Now suppose that there are only three nights, so `three` is (3, 3). We want to subtract each
# person's mean, and forget the `keepdim`.
#
# **Predict.** What does `three - three.mean(dim=-1)` give: an `"error"`, the `"right"` numbers or `"wrong"` ones?

# %% tags=["prediction"]
prediction = ...

# %%
three = hours[:, :3]
forgotten = three - three.mean(dim=-1)
kept = three - three.mean(dim=-1, keepdim=True)
compare(prediction, measured="right" if torch.equal(forgotten, kept) else "wrong")
print("mean of each row, keepdim forgotten:", [round(x, 1) for x in forgotten.mean(dim=-1).tolist()])
print("mean of each row, keepdim kept:     ", [round(x, 1) + 0.0 for x in kept.mean(dim=-1).tolist()])

# %% [markdown]
# Wrong, and nobody complains: the mean of person 0 was subtracted in column 0, from everybody. Shapes that fit by
# accident make bugs that nobody hears. The remedy is to **try code with sizes that all differ**, as the checks of this
# course do.
#
# Axes of length 1 can be made: `x[:, None]` turns (3,) into (3, 1); `x.unsqueeze(1)` is the same. With one such axis
# here and another one there, broadcasting makes all *pairs*:

# %%
days, factors = torch.tensor([3, 12, 14]), torch.tensor([1, 10, 100, 1000])
print("sums of all pairs:", (days[:, None] + days[None, :]).tolist())  # (3, 1) + (1, 3) → (3, 3)

# %% [markdown]
# **Your turn.** Write, in place of the `...`, a line that multiplies each of the `days` by each of the `factors`: shape
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
table = torch.arange(6).view(2, 3)
print(table.tolist())

# %% [markdown]
# **Predict.** What is the first row of `table.view(3, 2)`, and what is that of `table.T`? Write them as lists, such as
# `[0, 5]`.

# %% tags=["prediction"]
by_view, by_transpose = ..., ...

# %%
compare(by_view, measured=table.view(3, 2)[0].tolist())
compare(by_transpose, measured=table.T[0].tolist())
print("view(3, 2):", table.view(3, 2).tolist())
print("T:         ", table.T.tolist())

# %% [markdown]
# Both have the shape (3, 2), and are different tables. `view` reads the numbers row by row and only draws the lines
# between them elsewhere. `.T` exchanges rows and columns. For more than two axes, `x.transpose(1, 2)` exchanges any
# two, and `x.mT` the last two. In `view(-1, 2)` the −1 means: as many as there are. `flatten` makes one axis of
# several, `unflatten` several of one. (`x.reshape` is `view` where that is possible; lesson 03 has the rest.)

# %% [markdown]
# ## A matrix product is many dot products
#
# The **dot product** of two vectors: multiply entry by entry, add up. In `a @ b`, row $i$ of `a` meets column $j$ of
# `b`:
#
# $$(a\,b)_{ij} = \sum_k a_{ik}\, b_{kj} \qquad (n, k) \;@\; (k, m) \to (n, m)$$
#
# The inner sizes must agree, and go. The outer ones stay. One vector on the right is one column, and gives one:
# (n, k) @ (k,) → (n,).
#
# **Predict.** `a` is (3, 4) and `b` is (4, 5). Of how many dot products does `a @ b` consist?

# %% tags=["prediction"]
prediction = ...

# %%
a, b = torch.randn(3, 4), torch.randn(4, 5)  # random numbers around 0, the usual size is 1
by_hand = torch.tensor([[(row * column).sum() for column in b.T] for row in a])
compare(prediction, measured=by_hand.numel())
print("the same as a @ b:", torch.allclose(by_hand, a @ b, atol=1e-6))
print("row 0 times column 2:", f"{a[0] @ b[:, 2]:.2f}", " entry (0, 2):", f"{(a @ b)[0, 2]:.2f}")
print("seven at once:", tuple((torch.randn(7, 3, 4) @ b).shape))

# %% [markdown]
# `allclose` allows for rounding: sums in another order differ in the seventh digit. Axes in front of the last two are
# a **batch**: `@` does the same for each of them, and they broadcast. Most of the work in a Transformer is such
# products, and computers are built to do them fast. How much does one save over a loop?
#
# **Predict.** How many times as long do the 2500 dot products of (50, 64) with (64, 50) take one by one? (It varies
# from run to run.)

# %% tags=["prediction"]
prediction = ...

# %% tags=["nbval-ignore-output"]
rows, columns = torch.randn(50, 64), torch.randn(64, 50)
start = time.perf_counter()
for row in rows:
    for column in columns.T:
        row @ column
middle = time.perf_counter()
for _ in range(100):
    rows @ columns
end = time.perf_counter()
compare(prediction, measured=f"{100 * (middle - start) / (end - middle):.0f} times")

# %% [markdown]
# Hardly any of that is arithmetic: a call costs far more than the 64 products it does. So give torch much to do at
# once.
#
# ## Softmax makes shares of scores
#
# Models give *scores*: any numbers, the larger the better. **Softmax** turns those along one axis into shares that are
# positive and add up to 1. It raises $e$ to each score and divides by the sum, so a score one point above another gets
# $e \approx 2.7$ times its share.
#
# **Predict.** We add 100 to all the scores. Are the shares the `"same"` or `"different"`?

# %% tags=["prediction"]
prediction = ...

# %%
scores = torch.tensor([2.0, 1.0, 0.0, -1.0])
shares = torch.softmax(scores, dim=-1)
higher = torch.softmax(scores + 100, dim=-1)
compare(prediction, measured="same" if torch.allclose(shares, higher) else "different")
print("shares:", [round(share, 2) for share in shares.tolist()], " sum:", round(shares.sum().item(), 2))

# %% [markdown]
# Only differences count. You will write softmax yourself in lesson 01.

# %% [markdown]
# ## Words as vectors
#
# An id says which word it is, and nothing else: word 7 is not *more* than word 3, nor like word 8. So each word gets a
# *vector*, and a table holds them all, a row for each word: an **embedding**. To look words up is to index the table
# with their ids.
#
# Where do the vectors come from? In models they are learned. There is also a way to *measure* them: a word is known
# by the company it keeps. We count who stands near whom in a text that is on your machine already, the documentation
# of PyTorch.

# %%
places = [torch, torch.Tensor, torch.linalg, torch.optim, nn, F]
docs = [getattr(place, name).__doc__ for place in places for name in sorted(dir(place))]
texts = dict.fromkeys(doc for doc in docs if isinstance(doc, str))  # each once
text = re.findall("[a-z]+", " ".join(texts).lower())
vocabulary = [word for word, _ in Counter(text).most_common(1000)]
number = {word: i for i, word in enumerate(vocabulary)}
ids = torch.tensor([number[word] for word in text if word in number])
print(f"more than {len(text) // 10_000}0,000 words; the most common:", *vocabulary[:8])

# %% [markdown]
# Two words count as neighbours if they are at most three apart, with only the 1000 commonest kept. We give the pair
# $(i, j)$ the number $1000\,i + j$, count how often each number occurs, and `view` the million counts as a table.

# %%
pairs = [1000 * ids[:-gap] + ids[gap:] for gap in (1, 2, 3)]
counts = torch.bincount(torch.cat(pairs), minlength=1000 * 1000).view(1000, 1000).float()
counts = counts + counts.T  # before or behind: both are company
by_chance = counts.sum(dim=1, keepdim=True) * counts.sum(dim=0, keepdim=True) / counts.sum()
vectors = (counts / by_chance).log().clamp(min=0)
print("vectors", tuple(vectors.shape), " two looked up:", tuple(vectors[[number["row"], number["sin"]]].shape))

# %% [markdown]
# The word `the` stands next to everything, which says little. So each count is divided by what mere chance would give:
# a column of sums, (1000, 1), times a row of sums, (1, 1000), is a whole table, by broadcasting. We keep the logarithm,
# and 0 where there is less company than by chance (`clamp`).
#
# Now compare directions. The **cosine** of two vectors is the dot product after both were divided by their lengths:
# 1 if they point the same way, 0 if they have nothing in common.
#
# **Predict.** Of 999 other words, which one's vector points most nearly the way of `row`? Write it as a string.

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
table = {word: nearest(word) for word in words}
pd.DataFrame.from_dict(table, orient="index", columns=["nearest", "second", "third"])

# %% [markdown]
# Nobody told the program what a word means. But a table of eight words proves little: somebody chose them. A fairer
# question: are words nearer to their plurals than to just any word?

# %%
plurals = [(word, word + "s") for word in vocabulary if len(word) > 2 and word + "s" in number]
own = torch.stack([cosines[number[one], number[several]] for one, several in plurals])
print(f"{len(plurals)} words and their plurals, such as {plurals[0]}: cosine {own.median():.2f} in the median")
print(f"any two words: {cosines.median():.2f}")

# %% [markdown]
# So similar words point more nearly the same way than any two words do (though far from exactly: 0 is a right angle, 1
# the same way). Look twice at the table, though: `max` and `min`, `true` and `false`, `zeros` and `ones` are
# *opposites*. Where one of them can stand, the other can. And `weight` is near `decay`, which so often stands beside
# it. These vectors know about company, and that is not quite meaning.

# %% [markdown]
# ## Gradients
#
# Training asks of every number in a model: if it were a little larger, how much would the result change? That is the
# **gradient**. PyTorch's **autograd** finds it: it notes each step of a calculation, and goes through them backward.
#
# **Predict.** $y = x^2$, at $x = 3$. If $x$ grows a tiny bit, how many times as much does $y$ grow?

# %% tags=["prediction"]
prediction = ...

# %%
x = torch.tensor(3.0, requires_grad=True)  # note what is done with this one
y = x**2
y.backward()
compare(prediction, measured=x.grad)
print("by trying:", round((3.001**2 - 3**2) / 0.001, 2))
print("y remembers how it was made:", y.grad_fn is not None, " y.item() is a plain", type(y.item()).__name__)

# %% [markdown]
# **Predict.** We compute `y` anew, and go backward once more. What is in `x.grad` now?

# %% tags=["prediction"]
prediction = ...

# %%
y = x**2
y.backward()
compare(prediction, measured=x.grad)

# %% [markdown]
# Gradients are *added* to what is there. That is useful where several small batches are to count as a large one, and a
# trap everywhere else: before each step they have to be set to zero.
#
# With a gradient, one can go downhill. Let us find a number whose square is 2, knowing nothing but how wrong we are:
# the **loss** is $(x^2 - 2)^2$. If a larger $x$ makes it larger, $x$ should shrink, so each step goes *against* the
# gradient, times a **learning rate**.

# %%
x, path = torch.tensor(3.0, requires_grad=True), []
for _ in range(20):
    loss = (x**2 - 2) ** 2
    loss.backward()
    with torch.no_grad():  # the step itself should not be noted
        x -= 0.02 * x.grad
        x.grad.zero_()
    path.append(x.item())
print("after steps 1, 2, 5 and 20:", [round(path[step - 1], 3) for step in (1, 2, 5, 20)])

# %% [markdown]
# That is $\sqrt 2$. In `with torch.no_grad():` nothing is noted, which also saves memory: use it whenever no gradient
# is wanted, such as to measure. As `@torch.no_grad()` above a function, it holds for the whole of it. (`x.detach()`
# gives the same numbers without their history. And methods that end in `_`, as `zero_` does, change the tensor itself.)

# %% [markdown]
# ## Modules hold parameters
#
# A number that training changes is a **parameter**. A **module** is a function with parameters. `nn.Linear(4, 2)`
# makes vectors of width 2 from vectors of width 4, by a matrix product, and adds 2 numbers, the **bias**.
#
# **Predict.** How many parameters does it have?

# %% tags=["prediction"]
prediction = ...

# %%
linear = nn.Linear(4, 2)
compare(prediction, measured=sum(p.numel() for p in linear.parameters()))
x = torch.randn(5, 3, 4)  # any axes in front
print("is x @ weight.T + bias:", torch.allclose(linear(x), x @ linear.weight.T + linear.bias, atol=1e-6))
print("ReLU of -1, 0 and 2:", nn.ReLU()(torch.tensor([-1.0, 0.0, 2.0])).tolist())
pd.DataFrame({"shape": {name: str(tuple(p.shape)) for name, p in linear.state_dict().items()}})

# %% [markdown]
# The weight is kept as (out, in), hence the `.T`. Parameters ask for gradients from the start. `state_dict()` is a dict
# of them by name; `load_state_dict` copies such a dict into another module with the same names. Modules without
# parameters exist, too: `nn.ReLU()` makes negative numbers 0. And `nn.Sequential(one, other)` runs one module after
# the other.
#
# `nn.Embedding(n, d)` holds a table of n vectors, and looks ids up in it as we did above. But its vectors start at
# random, and are learned.

# %%
embedding = nn.Embedding(37, 8)
found = embedding(batch)  # (2, 11) ids → (2, 11, 8)
one_hot = F.one_hot(batch, 37).float()  # (2, 11, 37): a 1 at the id, 0 everywhere else
print("lookup", tuple(found.shape), " is indexing:", torch.equal(found, embedding.weight[batch]))
print("and is a matrix product:", torch.allclose(found, one_hot @ embedding.weight))

# %% [markdown]
# Your own modules are classes: `__init__` makes the parts, and `forward` says what is computed when the module is
# called, as in `model(names)`. This one guesses a month from the letters of its name.


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
# *März, marzo, maaliskuu, март*: names of the months in many languages, long ones and short ones. (They come with
# Babel, a library that is installed with the course.) Names are filled up to one length with id 0. One in five is kept
# back: the model will never learn from it, and is tested on it.

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
kept_back = torch.rand(len(names)) < 0.2
languages = {language[:2] for language in LOCALES}
print(f"{len(languages)} languages, {len(names)} names, {len(characters) - 1} characters, {kept_back.sum()} kept back")

# %% [markdown]
# (A bool tensor as an index, as in `names[kept_back]`, picks the rows where it is True.)
#
# How wrong is a guess? The usual loss is **cross-entropy**: softmax makes shares of the scores (also called
# **logits**), and the loss is −log of the share that the *right* answer got. It is 0 if that share is 1, and grows
# without end as it goes to 0.
#
# **Predict.** A model that knows nothing gives each of 12 months the same share. What is its loss? (`math.log`, or
# think: $e^{2.3} \approx 10$.)

# %% tags=["prediction"]
prediction = ...

# %%
nothing = torch.zeros(len(names), 12)  # equal scores
compare(prediction, measured=F.cross_entropy(nothing, months))
scores = torch.tensor([[2.0, 1.0, 0.0]])
print("of scores, right answer 0:", round(F.cross_entropy(scores, torch.tensor([0])).item(), 2))
print("by hand:                  ", round(-torch.softmax(scores, dim=-1)[0, 0].log().item(), 2))
print("of shares, which is wrong:", round(F.cross_entropy(scores.softmax(-1), torch.tensor([0])).item(), 2))

# %% [markdown]
# `F.cross_entropy` does the softmax itself: it wants scores. Handed shares, it takes them for scores and does not
# complain.
#
# Now the loop. Its heart is the same in every lesson, and four lines long: compute the loss, forget the old gradients,
# find the new ones, take a step. `Adam` is an **optimizer**: it does what we did with `x`, for all parameters, with a
# running mean of the gradients and a step size of its own for each.
#
# **Predict.** After 300 steps, what share of the names that it *never saw* does the model get right? (Guessing gives
# 0.08.)

# %% tags=["prediction"]
prediction = ...

# %%
model = MonthReader(len(characters))
print("before training, the loss is", round(F.cross_entropy(model(names), months).item(), 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
right = {"names it learns from": [], "names it never saw": []}
for _ in range(300):
    loss = F.cross_entropy(model(names[~kept_back]), months[~kept_back])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        is_right = model(names).argmax(dim=-1) == months  # the month with the largest score
    right["names it learns from"].append(is_right[~kept_back].float().mean().item())  # the share that is True
    right["names it never saw"].append(is_right[kept_back].float().mean().item())
compare(prediction, measured=round(right["names it never saw"][-1], 1))
ax = plots.lines(range(300), right, xlabel="step", ylabel="share of right answers")

# %%
learned = {(name[:3], month) for (name, month), kept in zip(month_of.items(), kept_back) if not kept}
new = [(name[:3], month) for (name, month), kept in zip(month_of.items(), kept_back) if kept]
print(f"new names that begin like a learned one of their month: {sum(pair in learned for pair in new) / len(new):.0%}")
at = (0, 50, 100, 200, 299)
pd.DataFrame({group: [shares[step] for step in at] for group, shares in right.items()}, index=at).round(1)

# %% [markdown]
# It learned, and not only by heart: it reads most names that it never saw. (That is easier than it sounds: languages
# borrow from one another, avril, aprile, april, and more than half of the new names begin with the same three letters
# as a name of their month that it learned.) Two things to take along. The upper curve goes on rising when the lower one
# has stopped: from there on the model *memorises*. So a model is judged by what it did **not** learn from. And a loop
# that runs says nothing; look at the curve.
#
# What does it know of `mars`? The model takes the *mean* of the letters and of the filling.
#
# **Predict.** Does it give `mars` and `srma` the `"same"` scores, or `"different"` ones?

# %% tags=["prediction"]
prediction = ...


# %%
def scores_of(name: str) -> Tensor:
    ids = [characters.index(c) for c in name] + [0] * (longest - len(name))
    return model(torch.tensor([ids]))[0]


mars, srma = scores_of("mars"), scores_of("srma")
compare(prediction, measured="same" if torch.allclose(mars, srma, atol=1e-4) else "different")
print("mars is read as month", mars.argmax().item() + 1)

# %% [markdown]
# A mean does not know the order. To read a whole date, a model has to know which characters stand where, and which
# of them to look at. The rest of the course is about that.

# %% [markdown]
# ## In short
#
# - A tensor has a shape. The axis that `dim` names is the one that goes; `keepdim=True` keeps it with length 1.
# - Broadcasting lines shapes up at their ends and stretches 1s. It can fit by accident: try sizes that all differ.
# - `view` cuts the same row of numbers elsewhere; `transpose` exchanges axes.
# - (n, k) @ (k, m) → (n, m): n · m dot products at once.
# - `backward` adds gradients to `.grad`; `no_grad` notes nothing.
# - Loss, `zero_grad`, `backward`, `step`; and judge by what was kept back.
#
# And the shapes once more: what goes into the whole model and into each part of it, and what comes out, for 5 names.

# %%
trace_shapes(model, names[:5])

# %% [markdown]
# ## Self-check
#
# Eight lines of code. **Predict.** What does each give? Shapes as tuples.
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
# And four numbers. **Predict.**
#
# 5. `torch.arange(12).view(3, 4)[1, -1]`
# 6. `torch.arange(12).view(3, 4).T[1, -1]`
# 7. `torch.softmax(torch.tensor([5.0, 5.0, 5.0, 5.0]), dim=-1)[0]`
# 8. `x.grad`, after `x = torch.tensor(1.0, requires_grad=True)`, and then, three times, `(2 * x).backward()`

# %% tags=["prediction"]
five, six, seven, eight = ..., ..., ..., ...

# %%
compare(five, measured=torch.arange(12).view(3, 4)[1, -1])
compare(six, measured=torch.arange(12).view(3, 4).T[1, -1])
compare(seven, measured=torch.softmax(torch.tensor([5.0, 5.0, 5.0, 5.0]), dim=-1)[0])
x = torch.tensor(1.0, requires_grad=True)
for _ in range(3):
    (2 * x).backward()
compare(eight, measured=x.grad)

# %% [markdown]
# <details><summary>Why 1 to 4?</summary>
#
# 1: ends lined up, (5, 1, 4) and (3, 1): 4 against 1, 1 against 3, 5 against nothing. 2: −2 is the axis of 7, and it
# goes. 3: (7, 3) @ (3, 4), twice. 4: `None` puts an axis of length 1 where it stands. (<i>Broadcasting</i>, <i>Sums
# along an axis</i>, <i>A matrix product</i>)
# </details>
#
# <details><summary>Why 5 to 8?</summary>
#
# 5: the rows are 0 to 3, 4 to 7, 8 to 11. 6: row 1 of the transposed is column 1: 1, 5, 9. 7: equal scores, equal
# shares, wherever they lie. 8: 2 + 2 + 2, since gradients are added. (<i>The same numbers</i>, <i>Softmax</i>,
# <i>Gradients</i>)
# </details>

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
#
# <details><summary>What is broadcasting, and how can it hurt?</summary>
#
# Shapes are lined up at their ends; an axis of length 1, or a missing one, is read again and again to match the
# other. It hurts when shapes fit by accident: a (3,) mean subtracted from a (3, 3) table works on the wrong axis
# without an error. (<i>Broadcasting</i>)
# </details>
#
# <details><summary>What is the difference between view and transpose?</summary>
#
# `view` keeps the order of the numbers and cuts it into other rows; `transpose` exchanges two axes. Both can give the
# same shape, with different numbers in it. (<i>The same numbers in another shape</i>)
# </details>
#
# <details><summary>Why is zero_grad called in every step?</summary>
#
# Because `backward` adds to the gradients that are there. Without it, each step would use the sum of all gradients so
# far. (Sometimes the sum is wanted: to add up several small batches.) (<i>Gradients</i>: 12 instead of 6)
# </details>
#
# <details><summary>When do you use no_grad, and why loss.item()?</summary>
#
# Whenever no gradient is wanted: steps, measurements. A loss remembers how it was made. To collect losses that
# `backward` was never called on, as when testing, keeps all of that in memory; `item` gives a plain number.
# (<i>Gradients</i>)
# </details>

# %% [markdown]
# <details><summary>Does cross-entropy take probabilities?</summary>
#
# As its input, no: PyTorch's takes scores (logits) and does the softmax itself. Handed probabilities there, it gives a
# wrong loss without an error. (As the *target* it takes ids, or probabilities.) (<i>The training loop</i>)
# </details>
#
# <details><summary>What loss do you expect before training, with V classes?</summary>
#
# About ln V, that of equal shares: 2.48 for 12, and ours began near it. Much more means that a model starts out sure of
# wrong answers. (<i>The training loop</i>)
# </details>
#
# <details><summary>What is an embedding layer? How is it related to a linear one?</summary>
#
# A learned table with a row for each id. To look a row up is to multiply a one-hot vector by the table: a linear layer
# without bias whose input is one-hot, only much cheaper. (<i>Modules hold parameters</i>)
# </details>
#
# <details><summary>Why do similar words get similar vectors? Are antonyms far apart?</summary>
#
# The vectors sum up in which company a word occurs, and similar words occur in similar company. So do many opposites:
# they are often close. (<i>Words as vectors</i>: `true` and `false`)
# </details>
#
# <details><summary>Accuracy rises on the training data and stands still elsewhere. What is happening?</summary>
#
# The model memorises what does not carry over. More data, a smaller model, dropout or stopping early may help; and
# only data that was kept back shows it. (<i>The training loop</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - [Lesson 00](00_bottleneck.ipynb): how texts were translated before attention, and your first exercise.
# - PyTorch's own pages on [broadcasting](https://docs.pytorch.org/docs/stable/notes/broadcasting.html) and on
#   [autograd](https://docs.pytorch.org/docs/stable/notes/autograd.html).
# - Levy and Goldberg (2014), *Neural Word Embedding as Implicit Matrix Factorization* (NeurIPS 27): how learned word
#   vectors and counted ones are related.
#
# <details><summary>For instructors</summary>
#
# Nothing in it is graded. *Where students stumble*: `dim` as the axis that goes, not the one that stays; the (3, 3)
# table (let them say each axis aloud); `view` taken for `transpose`; gradients that add up. *To ask in class*: which
# shapes can be added to (2, 1, 5), and what comes out? Which word would be nearest to `column` in a cookbook? How
# would the curves look if the names kept back were all of one language?
# </details>

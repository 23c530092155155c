# %% [markdown] id="title"
# # 00 · Before attention: the bottleneck
#
# **The question.** A program reads a text to its end, and then writes another one. What has it kept of what it read,
# and what can be done where that is too little?
#
# **Afterwards you can** explain how texts were translated before there were Transformers, measure the three troubles
# of that way, and write the mixture that was the way out.
#
# This is a lesson to watch and run. Reading: 40 minutes. Exercises: 20 minutes (one core, one stretch ★).

# %% [markdown]
# ## Before you start
#
# Three questions from the [primer](primer.ipynb). Answer each one aloud, then open it.
#
# <details><summary>An embedding has 12 vectors of width 8. What comes out for the numbers 3, 3 and 0?</summary>
#
# A tensor of shape (3, 8). Its first two rows are equal: the same number gives the same vector.
# </details>
#
# <details><summary>What does softmax make of a list of numbers?</summary>
#
# Shares: numbers between 0 and 1 that add up to 1. The largest number gets the largest share.
# </details>
#
# <details><summary>What is in <code>x.grad</code> after <code>loss.backward()</code>?</summary>
#
# One number for each entry of x: how fast the loss changes if that entry is changed a little. Training needs it. Where
# it is 0, nothing is learned.
# </details>

# %% [markdown]
# The next cell imports what this lesson needs. Run every cell in order with **Shift+Enter**.

# %% id="imports"
import copy
import time
from datetime import date, timedelta

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_lab import plots, trace_shapes
from transformer_lab.course import check, compare, hint, parts, solution
from transformer_lab.data.dates import write_date
from transformer_lab.models.recurrent import AttentiveRecurrentTranslator, RecurrentTranslator

# %%
torch.manual_seed(0)
torch.set_printoptions(precision=2, sci_mode=False)

# %% [markdown]
# ## From one text to another
#
# All through this course we turn `3 mars 2021` into `2021-03-03`. Much of what people want from a language model has
# this form: a text goes in, and another one comes out.

# %%
tasks = {
    "a date": ("3 mars 2021", "2021-03-03"),
    "a translation": ("Ich habe das nicht gewusst.", "I did not know that."),
    "a summary": ("Monday's meeting was moved to Friday, because of the storm.", "Meeting moved to Friday."),
    "an answer": ("Bob was born in Oslo in 1998. When was Bob born?", "1998"),
}
lengths = [(source, target, len(source), len(target)) for source, target in tasks.values()]
pd.DataFrame(lengths, index=list(tasks), columns=["goes in", "comes out", "characters in", "characters out"])

# %% [markdown]
# The lengths differ, and nobody can say beforehand how. The first character of the output may depend on the end of the
# input, as in our date. A layer like `nn.Linear`, which takes so many numbers and gives so many, does not fit.
#
# The way out, in 2014, was two networks: an **encoder** that reads, and a **decoder** that writes. Together they are
# called *sequence to sequence*, or seq2seq. What is between them is the subject of this lesson.

# %% [markdown]
# ## Reading, from left to right
#
# Each character is looked up in an embedding, so a text is a list of vectors $x_1, x_2, \dots, x_n$. A **recurrent
# network** (RNN) reads them in order. It has a memory, the **state** $h$, and after each character it makes a new
# state from the old one and what it has just read:
#
# $$h_t = f(h_{t-1}, x_t), \qquad \text{in the simplest case} \quad h_t = \tanh(W h_{t-1} + U x_t)$$
#
# $W$ and $U$ are learned, and the same at each step. (tanh squeezes every number to between −1 and 1.)
#
# **Predict.** The state below has 8 numbers. How many has it after a text of 1000 characters?

# %% tags=["prediction"]
prediction = ...

# %%
w, u = torch.randn(2, 8, 8) / 8**0.5  # W and U, scaled so that W h is about as large as h
texts = {n: torch.randn(n, 8) for n in (11, 1000)}  # random vectors stand in for the characters
memories = {}
for n, x in texts.items():
    h = torch.zeros(8)
    for x_t in x:
        h = torch.tanh(w @ h + u @ x_t)
    memories[n] = h
compare(prediction, measured=memories[1000].numel())
print({f"{n} characters": tuple(memory.shape) for n, memory in memories.items()})

# %% [markdown]
# As many as before. That is what makes it fit all lengths: whatever was read, the last state is one vector of the same
# width. It is handed to the decoder, and is called the **context** $c$.
#
# In practice, $f$ is cleverer than a tanh, which writes the whole memory anew at every step. We use the **GRU** (gated
# recurrent unit). For each number of the state it computes a share $z$ between 0 and 1, a *gate*, and keeps that
# much of the old number. The rest is a new one, made much like the tanh above:
#
# $$h_t = z \cdot h_{t-1} + (1 - z) \cdot \text{new}_t$$
#
# When to keep and when to write is learned. `nn.GRU` reads a whole text, and gives all its states.

# %% [markdown]
# ## Writing, one character after another
#
# The decoder is a recurrent network too, with a state $s$ of its own. At each step it gets the character that was
# written last, $y_{t-1}$, and the context:
#
# $$s_t = f(s_{t-1}, y_{t-1}, c), \qquad c = h_n, \quad s_0 = h_n$$
#
# A linear layer, the *head*, turns $s_t$ and $c$ into a score for each character, and the best one is written. Before
# the first, $y_0$ is a special mark, here the number 0.
#
# This is `RecurrentTranslator` of the library. Let us watch it read 11 characters and write two.

# %%
model = RecurrentTranslator(source_vocab_size=11, target_vocab_size=11, d_model=64)
source, written = torch.randint(1, 11, (1, 11)), torch.tensor([[0, 7]])  # 0 is the mark, 7 was written first
trace_shapes(model, source, written)

# %% [markdown]
# `trace_shapes` runs a model and lists what went into each of its layers and what came out. Read it downwards; the
# first number of each shape counts the texts, here one. The encoder gives 11 states of width 64, of which the last is
# used. `decoder` and `head` run once for each character that is written. `decoder` reads the last character's vector
# beside the context, 128 numbers; `head`, the new state beside the context.

# %% [markdown]
# ## How much fits through?
#
# To find out what one vector can carry, we take a task in which nothing can be guessed: copy random digits.
#
# In training, and in our tests as well, the decoder is told at each step which digit would have been right before,
# whatever it wrote itself. Then one pass gives the scores of all steps, and the loss compares them with the right
# digits. Only the beginning of the next cell is new to you; the rest is an ordinary training loop.


# %%
def before(target: Tensor) -> Tensor:
    """Give what was written before each character: the mark 0, then all but the last."""
    return F.pad(target[:, :-1], (1, 0))  # one 0 in front of each row, none after it


def train(model: nn.Module, steps: int = 500, longest: int = 16) -> nn.Module:
    """Learn to copy 1 to ``longest`` random digits, which are numbered 1 to 10."""
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(steps):
        n = int(torch.randint(1, longest + 1, ()))  # a single number: its shape is ()
        digits = torch.randint(1, 11, (64, n))  # 1 to 10
        scores = model(digits, before(digits))  # (64, n, 11)
        loss = F.cross_entropy(scores.flatten(0, 1), digits.flatten())  # 64 · n guesses below each other
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


@torch.no_grad()
def share_right(model: nn.Module, n: int) -> float:
    digits = torch.randint(1, 11, (500, n))
    return (model(digits, before(digits)).argmax(dim=-1) == digits).float().mean().item()


# %% [markdown]
# We train two models on 1 to 16 digits, one with a vector of width 32, one with 64. The second has nearly four times as
# many parameters.
#
# **Predict.** Of *two* digits, nearly all are copied right. Of *sixteen*, which share does the wide model get right?
# (Mere guessing gives 0.1. The cell takes some seconds.)

# %% tags=["prediction"]
prediction = ...

# %% id="one-vector" tags=["nbval-ignore-output"]
torch.manual_seed(0)
numbers = [1, 2, 4, 6, 8, 10, 12, 14, 16]
narrow, wide = (train(RecurrentTranslator(11, 11, d)) for d in (32, 64))
right = {"one vector, width 32": narrow, "one vector, width 64": wide}
right = {name: [share_right(model, n) for n in numbers] for name, model in right.items()}
compare(prediction, measured=round(right["one vector, width 64"][-1], 1))
ax = plots.lines(numbers, right, xlabel="digits to copy", ylabel="share copied right")
pd.DataFrame(right, index=numbers).T.round(2)

# %%
for name, (_, two, *_, sixteen) in right.items():
    print(f"{name}:  2 digits, nearly all right: {two > 0.9}.  16 digits, a third or more wrong: {sixteen < 2 / 3}")
print([sum(p.numel() for p in model.parameters()) for model in (narrow, wide)], "parameters")

# %% [markdown]
# The more digits, the more are wrong. And twice the width helps only a little. So is there no room? There would be: 16
# digits are one of $10^{16}$ numbers, and 64 floats could hold much more. But the encoder has to *learn* to pack all of
# it into one vector, and the decoder to unpack it, and each further digit makes that harder. What if a copy of the wide
# model is trained for 1000 steps more?

# %% tags=["nbval-ignore-output"]
longer = train(copy.deepcopy(wide), 1000)
print({f"{n} digits": round(share_right(longer, n), 2) for n in (8, 12, 16)})

# %% [markdown]
# The wall has moved, and it is still there. This is the **bottleneck**, trouble number one.

# %% [markdown]
# ## Trouble two: a long way back
#
# Why is packing hard to learn? A gradient tells the encoder what it should have done with the *first* digit. On its way
# back from the context, the gradient passes every state in between, and at each is multiplied by how much that state
# depends on the one before it. How much of it arrives? `gradient_reaching` measures how large the gradient of the
# context is at the first vector that was read. (A gradient needs a single number to start from. So the context is
# multiplied by random numbers, and added up.)
#
# **Predict.** In an untrained model, at the *last* of 40 vectors the gradient has the size 2. How large is it
# at the first: near 0.5, near 0.01, or below 0.00001?

# %% tags=["prediction"]
prediction = ...


# %%
def gradient_reaching(model: RecurrentTranslator, place: int, n: int) -> float:
    """Measure the gradient of the context at one of n vectors that are read, averaged over 16 texts."""
    x = torch.randn(16, n, 64, requires_grad=True)
    states, _ = model.encoder(x)
    nothing_padded = torch.ones(16, n, dtype=torch.bool)
    context = model.context(states[:, -1], states, nothing_padded)  # so far, simply the last state
    (context * torch.randn(16, 64)).sum().backward()
    return x.grad[:, place].norm(dim=-1).mean().item()  # norm: the length of a vector


torch.manual_seed(0)
untrained = RecurrentTranslator(11, 11, 64)
compare(prediction, measured=f"{gradient_reaching(untrained, 0, 40):.0e}")
print(f"at the last: {gradient_reaching(untrained, -1, 40):.0f}")
for factor in (0.6, 1.5):
    print(f"{factor} at each step would make", {f"{n} steps back": f"{factor**n:.2g}" for n in (1, 10, 40)})

# %% [markdown]
# Next to nothing is left to learn from. This is a **vanishing gradient**. With factors above 1 it would
# **explode** instead, which a simple RNN can do too. Let us look at all lengths, and at four networks: two simple
# RNNs (`nn.RNN` is the tanh from above), with small and with large weights $W$; our untrained GRU; and the GRU that
# we trained to copy.


# %% id="fading" tags=["nbval-ignore-output"]
def with_simple_rnn(size: float) -> RecurrentTranslator:
    """Make a translator whose encoder is the simplest of RNNs, with recurrent weights of this size."""
    model = RecurrentTranslator(11, 11, 64)
    model.encoder = nn.RNN(64, 64, batch_first=True)
    nn.init.normal_(model.encoder.weight_hh_l0, std=size / 64**0.5)  # W, at random: W h is `size` times as large as h
    nn.init.normal_(model.encoder.weight_ih_l0, std=0.1 / 64**0.5)  # U, likewise
    return model


torch.manual_seed(0)
places = [1, 2, 5, 10, 20, 40]
networks = {
    "tanh, W small": with_simple_rnn(0.5),
    "tanh, W large": with_simple_rnn(2.0),
    "GRU, untrained": untrained,
    "GRU, trained": wide,
}
reaching = {name: [gradient_reaching(model, 0, n) for n in places] for name, model in networks.items()}
ax = plots.lines(places, reaching, xlabel="characters read", ylabel="gradient at the first")
ax.set_yscale("log")
pd.DataFrame(reaching, index=places).T.map(lambda size: f"{size:.0e}")

# %%
at_40 = {name: sizes[-1] for name, sizes in reaching.items()}
print("fades:", [name for name, size in at_40.items() if size < 1e-4])
print("explodes:", [name for name, size in at_40.items() if size > 10])


# %% tags=["nbval-ignore-output"]
def open_gates(gru: nn.GRU) -> float:
    """Compute the gates z as the network does, for 16 texts of 40 vectors; give the share of those above 0.9."""
    x = torch.randn(16, 40, 64)
    old = F.pad(gru(x)[0][:, :-1], (0, 0, 1, 0))  # the state before each step
    both = x @ gru.weight_ih_l0.T + gru.bias_ih_l0 + old @ gru.weight_hh_l0.T + gru.bias_hh_l0
    return (torch.sigmoid(both[..., 64:128]) > 0.9).float().mean().item()  # three networks in one; z is the second


print("z > 0.9:", {name: round(open_gates(networks[name].encoder), 1) for name in ("GRU, untrained", "GRU, trained")})

# %% [markdown]
# The trained GRU is the surprise: it has *learned* to open its gates, and its gradient arrives. (An open gate has $z$
# near 1: the number is passed on nearly as it is, and the factor is near 1.) That is what the gates were invented for,
# and a simple RNN has none. But it has to learn this first, from gradients that fade. And an open gate helps only to
# remember: all that is remembered still has to share one vector.


# %% [markdown]
# ## The way out: keep all the states
#
# The encoder has made a state after *every* character, $h_1, h_2, \dots, h_n$. We have thrown away all but the last.
#
# Keep them. At each step, give the decoder a context of its own: a mixture of all the states, in which those count
# most that matter now. When it writes the month, it should be mostly the states at `mars`.
#
# $$c_t = \sum_{i=1}^{n} a_{ti}\, h_i$$
#
# The **weights** $a_{t1}, \dots, a_{tn}$ of step $t$ are shares: none is negative, and they add up to 1. This is
# **attention** (Bahdanau and others, 2014). Where the weights come from, we see next. First, the mixture.

# %%
h = torch.tensor([[8.0, 0.0, 4.0], [0.0, 8.0, 4.0]])  # two states of width 3
print("0.75 of the first and 0.25 of the second:", (0.75 * h[0] + 0.25 * h[1]).tolist())

# %% [markdown]
# **Exercise.** Mix the states for a whole batch of texts at once. In the brackets are shapes: `"batch n d"` is a
# tensor with three axes, and one name is one size throughout. Each text has its own weights and its own states.
#
# Put your code in place of the last line, run the cell, then the check below it. Stuck? `hint(context_vector)` in a
# new cell says a little more each time: about your mistake where the check names one, and else about the exercise.
# `solution(context_vector)` shows an answer.


# %% id="context_vector" tags=["exercise"]
def context_vector(weights: Float[Tensor, "batch n"], states: Float[Tensor, "batch n d"]) -> Float[Tensor, "batch d"]:
    """Mix the n states of each text, each as much as its weight says."""
    raise NotImplementedError


# %% id="check-context_vector"
check(context_vector)

# %% [markdown]
# From here on, `parts.context_vector` is your own function once it has passed (and is fast enough), and the library's
# until then.

# %%
for n in (11, 1000):
    weights, states = torch.full((1, n), 1 / n), torch.randn(1, n, 64)
    print(f"{n} states of width 64 → context {tuple(parts.context_vector(weights, states).shape)}")

# %% [markdown]
# The context is as narrow as before, for any length. But now there is a *new one for each step*, and each needs to hold
# no more than what that step is about.

# %% [markdown]
# ## Who sets the weights?
#
# The decoder itself, by asking. Before step $t$ its state is $s_{t-1}$. The last character was read off this state, so
# it can know how far the writing has come, and what is needed next. A small network looks at it together with each of
# the encoder's states, and gives a **score**, a single number: how well do the two go together? Softmax turns scores
# into weights:
#
# $$a_t = \operatorname{softmax}[\operatorname{score}(s_{t-1}, h_1), \dots, \operatorname{score}(s_{t-1}, h_n)]$$
#
# $$\operatorname{score}(s, h) = w \cdot \tanh(W_s\, s + W_h\, h)$$
#
# $W_s$, $W_h$ and $w$ are learned, together with everything else, by nothing but the loss.

# %% [markdown]
# So one step of the decoder is:
#
# 1. *score* all the encoder's states with $s_{t-1}$, the state before the step,
# 2. make them *weights* by softmax,
# 3. *mix* the states into $c_t$,
# 4. only then take the step: $s_t = f(s_{t-1}, y_{t-1}, c_t)$, and write.
#
# `AttentiveRecurrentTranslator` is the model from above with this one change. Its method `context` gets the decoder's
# state and the encoder's states. In ours, your function does the mixing. (`mask` is True at characters and False at
# padding, which fills texts up and should get no weight.)


# %%
class Translator(AttentiveRecurrentTranslator):
    """The library's model, mixing with your function."""

    def context(self, state: Tensor, states: Tensor, mask: Tensor) -> Tensor:
        # The states are handed over twice, to be scored and to be mixed; of this we keep the weights, (batch, 1, n).
        _, weights = self.attention(state[:, None], states, states, mask[:, None])
        return parts.context_vector(weights[:, 0], states)


trace_shapes(Translator(11, 11, 64), source, written)

# %% [markdown]
# One module is new. `attention` runs at every step, here twice, and gives the mixture and the 11 weights. It has
# 64 · 64 + 64 · 64 + 64 parameters, in $W_s$, $W_h$ and $w$.
#
# Now the same training, the same digits. And we make it hard for attention: it gets the *narrow* width.
#
# **Predict.** Which share of sixteen digits does it copy right? (One vector of width 64 managed about half.)

# %% tags=["prediction"]
prediction = ...

# %% id="with-attention" tags=["nbval-ignore-output"]
torch.manual_seed(0)
attentive = train(Translator(11, 11, 32))
right["attention, width 32"] = [share_right(attentive, n) for n in numbers]
compare(prediction, measured=round(right["attention, width 32"][-1], 1))
ax = plots.lines(numbers, right, xlabel="digits to copy", ylabel="share copied right")
ax.set_ylim(0, 1.05)
pd.DataFrame(right, index=numbers).T.round(2)

# %%
for n, one, many in list(zip(numbers, right["one vector, width 64"], right["attention, width 32"]))[4:]:
    print(f"{n:2d} digits: attention is right more often by at least 0.1: {many - one > 0.1}")
models = {"one vector, width 64": wide, "attention, width 32": attentive}
print({name: sum(p.numel() for p in model.parameters()) for name, model in models.items()}, "parameters")

# %% [markdown]
# With half the width and fewer than a third of the parameters, attention copies what the single vector could not hold.
# Nothing has to be packed any more: to write the fifth digit, it can look at the states around the fifth. But it is no
# magic:

# %% tags=["nbval-ignore-output"]
print({f"{n} digits": round(share_right(attentive, n), 2) for n in (16, 20, 30)})

# %% [markdown]
# It was trained on 16 digits at most, and to *find* the 25th place is something it has never learned.

# %% [markdown]
# ### And the gradient?
#
# **Predict.** An untrained model with attention: how large is the gradient of its context at the first of 40 vectors?
# (It was under 0.00001 without.)

# %% tags=["prediction"]
prediction = ...

# %%
torch.manual_seed(0)
with_attention = AttentiveRecurrentTranslator(11, 11, 64)
gradients = {"one vector": untrained, "attention": with_attention}
gradients = {name: [gradient_reaching(model, 0, n) for n in places] for name, model in gradients.items()}
compare(prediction, measured=round(gradients["attention"][-1], 1))
ax = plots.lines(places, gradients, xlabel="characters read", ylabel="gradient at the first")
ax.set_xscale("log")
ax.set_yscale("log")
pd.DataFrame(gradients, index=places).T.map(lambda size: f"{size:.0e}")

# %% [markdown]
# From 10 to 20, the gradient of the single vector loses a factor of a hundred or more, that of attention a factor of
# two: in an untrained model all n states have about the same weight, $1/n$. It is a straight path: from the context to
# the first state in one step, past all the others.

# %% [markdown]
# ## What does it look at?
#
# Back to `3 mars 2021`. We train on French dates of a hundred years, keep every tenth for testing, and our own one too.
# The numbers of the characters stand in `ids`. Short dates are filled up with 0, the padding (in front of a target, 0
# is still the mark).

# %%
days = [date(1970, 1, 1) + timedelta(days=i) for i in range(36524)]
pairs = [(write_date(day, "fr", "long"), day.isoformat()) for day in days]
ids = {character: i for i, character in enumerate(sorted({c for pair in pairs for c in "".join(pair)}), start=1)}


def numbered(texts: list[str]) -> Tensor:
    longest = max(map(len, texts))
    return torch.tensor([[ids[c] for c in text] + [0] * (longest - len(text)) for text in texts])


held = [pair for i, pair in enumerate(pairs) if i % 10 == 0 or pair[0] == "3 mars 2021"]
known = [pair for pair in pairs if pair not in set(held)]
sources, targets = numbered([french for french, _ in known]), numbered([iso for _, iso in known])
print(
    f"{len(known)} dates to learn from, {len(held)} to test, {len(ids)} characters, up to {sources.shape[1]} in a date"
)

# %% id="dates" tags=["nbval-ignore-output"]
torch.manual_seed(0)
translator = Translator(len(ids) + 1, len(ids) + 1, 64)
optimizer = torch.optim.Adam(translator.parameters(), lr=4e-3)
for _ in range(200):
    batch = torch.randint(len(known), (64,))
    scores = translator(sources[batch], before(targets[batch]))
    loss = F.cross_entropy(scores.flatten(0, 1), targets[batch].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")

# %% [markdown]
# To translate, the decoder has to go by what it has written itself: take the character with the best score, and go on.
# Ten times will do for an ISO date; in general, it writes until it writes an end mark.


# %% id="translations" tags=["nbval-ignore-output"]
@torch.no_grad()
def translate(model: nn.Module, texts: list[str]) -> list[str]:
    source, written = numbered(texts), torch.zeros(len(texts), 1, dtype=torch.int64)  # the mark
    for _ in range(10):
        best = model(source, written)[:, -1:].argmax(dim=-1)
        written = torch.cat([written, best], dim=1)
    characters = {i: character for character, i in ids.items()}
    return ["".join(characters.get(i, "?") for i in row) for row in written[:, 1:].tolist()]


translated = translate(translator, [french for french, _ in held])
print(
    "all right, of the dates it has never seen:",
    f"{sum(t == iso for t, (_, iso) in zip(translated, held)) / len(held):.0%}",
)
print("3 mars 2021 →", *translate(translator, ["3 mars 2021"]))

# %% [markdown]
# A *hook* is a function that torch calls whenever a module has run; ours collects the weights of each step.
#
# **Predict.** When it writes the last digit of the month, `2021-03`, at which character of `3 mars 2021` does it look
# most? Type the character.

# %% tags=["prediction"]
prediction = ...

# %% id="looking" tags=["nbval-ignore-output"]
steps = []
hook = translator.attention.register_forward_hook(lambda module, inputs, output: steps.append(output[1][0, 0]))
french, iso = "3 mars 2021", "2021-03-03"
with torch.no_grad():
    translator(numbered([french]), before(numbered([iso])))
hook.remove()
looked = torch.stack(steps)  # (10, 11): a row for each character written, a column for each one read
characters = ["_" if c == " " else c for c in french]
ax = plots.weights(looked, queries=list(iso), keys=characters)
ax.set(xlabel="read", ylabel="written")
compare(prediction, measured=characters[looked[6].argmax()])

# %% [markdown]
# Read it row by row. The year comes first in the output and last in the input, and the decoder jumps there. The month
# is read off the end of `mars` or just behind it, not off its `m`: the encoder reads from left to right, and before the
# `r` no state can tell it from `mai`. The day is read off the `3` or the next few characters, whose states still
# remember it. In the rows of the hyphens it does not matter where it looks: they are the same in every date.


# %%
def most(row: int) -> str:
    """Name the word that gets most of the weights of a row, each with the space behind it."""
    shares = {"3": looked[row, :2].sum(), "mars": looked[row, 2:7].sum(), "2021": looked[row, 7:].sum()}
    return max(shares, key=shares.get)


print({"year": most(3), "month": most(6)})

# %% [markdown]
# Nobody told it which part is the month. The weights were learned from pairs of texts alone. They are called an
# **alignment**, and are one of the few things in a network that can simply be looked at.

# %% [markdown]
# ## Trouble three: waiting
#
# $h_3$ needs $h_2$, and $h_2$ needs $h_1$. A thousand characters are a thousand steps, one after the other, and a
# computer that could do a thousand things at once has to wait. A *mixture* waits for nobody: here all n vectors of a
# text are mixed at once, n times with different weights, by two matrix products. (These weights are made from dot
# products, without a network. How is the subject of lesson 01.)
#
# **Predict.** For a text of 256 characters, forward and backward, how many times as long does the GRU take as the
# mixtures: 1, 5, or `"more than 10"`?

# %% tags=["prediction"]
prediction = ...


# %% id="waiting" tags=["nbval-ignore-output"]
def milliseconds(run) -> float:
    """Time one pass, forward and backward."""
    start = time.perf_counter()
    run().sum().backward()
    return 1000 * (time.perf_counter() - start)


gru, lengths = nn.GRU(64, 64, batch_first=True), [16, 32, 64, 128, 256]
texts = [torch.randn(1, n, 64, requires_grad=True) for n in lengths]
best = {"GRU": torch.inf, "mixtures": torch.inf}
for _ in range(20):  # of twenty turns, the best: there the computer was least disturbed
    turn = {
        "GRU": torch.tensor([milliseconds(lambda x=x: gru(x)[0]) for x in texts]),
        "mixtures": torch.tensor([milliseconds(lambda x=x: torch.softmax(x @ x.mT / 8, dim=-1) @ x) for x in texts]),
    }
    best = {name: times.clamp(max=best[name]) for name, times in turn.items()}
compare(prediction, measured=round((best["GRU"][-1] / best["mixtures"][-1]).item()))
ax = plots.lines(lengths, best, xlabel="characters", ylabel="milliseconds")
ax.set_yscale("log")
pd.DataFrame({name: times.tolist() for name, times in best.items()}, index=lengths).T.round(1)

# %%
print("256 characters, mixtures are faster:", bool(best["mixtures"][-1] < best["GRU"][-1]))
print("256 characters take the GRU over 3 times as long as 16:", bool(best["GRU"][-1] > 3 * best["GRU"][0]))

# %% [markdown]
# The GRU's time grows with the number of steps. Mixtures have another price: every place looks at every place. That
# makes n² pairs, and four times the work for twice the length. But it is work that can be done side by side, and this
# was on a single core.
#
# Our translator with attention has *not* got rid of the waiting: there are still two recurrent networks in it. But if
# attention reaches every place in one step, what are they still good for? In 2017, a paper left them out. It is
# called *Attention Is All You Need*, and the rest of this course is about it.

# %% [markdown]
# ## Bug hunt
#
# A colleague sends you this version. The shape is right. Read it first and decide which line is wrong; only then run
# the check, and mend it. (`unsqueeze(-1)` puts a new axis of length 1 after the others.)


# %% id="mend-context" tags=["bug-hunt"]
def context_of_a_colleague(weights, states):
    shares = torch.softmax(weights, dim=-1)
    weighted = shares.unsqueeze(-1) * states
    return weighted.sum(dim=1)


# %% id="check-mend-context"
check(context_of_a_colleague, "context_vector")

# %% [markdown]
# <details><summary>How to find such a bug without a check</summary>
#
# Try weights for which you know the answer: with 1, 0, 0, the first state must come back unchanged. The cell below
# does it. A model with this bug could never look at one place alone.
# </details>

# %%
one_hot, three_states = torch.tensor([[1.0, 0.0, 0.0]]), torch.tensor([[[5.0], [0.0], [0.0]]])
print("should be 5:", round(context_of_a_colleague(one_hot, three_states).item(), 1))
sharpest = torch.softmax(F.one_hot(torch.tensor(0), 16).float(), dim=-1)
print(f"the largest weight that a second softmax leaves one of 16 states: {sharpest.max():.2f}")

# %% [markdown]
# ## ★ Transfer: ask after the step
#
# A year later, Luong and others turned the order round. The decoder takes its step first, without a context of its own.
# The state it arrives at asks: the score of $h_i$ is simply the dot product of $s_t$ and $h_i$. The context is then
# combined with that state into the vector that the next character is read off:
#
# $$a_t = \operatorname{softmax}[s_t \cdot h_1, \dots, s_t \cdot h_n], \quad c_t = \sum_i a_{ti} h_i, \quad
# \tilde{s}_t = \tanh(W_c\,[c_t; s_t])$$
#
# $[c_t; s_t]$ means the two put side by side, the context first: `torch.cat` does that. $W_c$ is kept as (outputs,
# inputs), as in `nn.Linear`, and there is no bias. Write it from nothing, for a batch.


# %% id="luong_step" tags=["exercise"]
def luong_step(
    state: Float[Tensor, "batch d"], states: Float[Tensor, "batch n d"], w_c: Float[Tensor, "d_out d_both"]
) -> Float[Tensor, "batch d_out"]:
    """Score the states by dot products with the decoder's state, mix them, and combine: tanh(W_c [c; s])."""
    raise NotImplementedError


# %% id="check-luong_step"
check(luong_step)

# %%
torch.manual_seed(0)
states = torch.randn(1, 11, 64)
only_context = torch.eye(64, 128)  # a W_c that passes the context on, and drops the state
found = parts.luong_step(states[:, 4], states, only_context)
likeness = torch.cosine_similarity(found[:, None], torch.tanh(states), dim=-1)[0]
print("asked with a copy of state 4, found state", likeness.argmax().item(), f"with a cosine of {likeness.max():.2f}")

# %% [markdown]
# ## In short
#
# - Seq2seq: an encoder reads, a decoder writes, one character after another, as long as is needed.
# - An RNN keeps what it has read in one state of fixed width. Long texts have to be packed into it, and that is hard to
#   learn: the bottleneck.
# - The gradient to the beginning passes every step, and may vanish or explode. Gates help, once they have learned to.
# - Recurrent steps wait for each other.
# - Attention keeps all states. At each step the state *before* it scores them, softmax makes weights, and the context
#   is their weighted sum.
# - The path to every place is one step long. The weights show what is looked at.

# %%
batch = (torch.randint(1, 11, (2, 11)), torch.randint(0, 11, (2, 1)))  # two texts of 11 characters, one step
table = trace_shapes(Translator(11, 11, 64), *batch).drop(columns="class").replace({"module": {"": "Translator"}})
weights, states, w_c = torch.full((2, 11), 1 / 11), torch.randn(2, 11, 64), torch.randn(64, 128)
functions = [
    ("context_vector", "(2, 11), (2, 11, 64)", str(tuple(parts.context_vector(weights, states).shape)), 0),
    ("luong_step", "(2, 64), (2, 11, 64), (64, 128)", str(tuple(parts.luong_step(states[:, 0], states, w_c).shape)), 0),
]
print({"batch": 2, "n": 11, "d": 64, "characters": 11})
pd.concat([table, pd.DataFrame(functions, columns=table.columns)], ignore_index=True)

# %% [markdown]
# [Lesson 01](01_lookup.ipynb) gives the parts of attention the names that the whole field uses. The decoder's state,
# which asks, is the *query*. The encoder's states, which are scored, are the *keys*. What is mixed are the *values*:
# here the encoder's states once more.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
#
# <details><summary>What is the bottleneck of an encoder-decoder without attention?</summary>
#
# All that the decoder learns of the input is one vector of fixed width, whatever the length. The longer the text, the
# more has to be packed into it, and the more is lost. (<i>How much fits through?</i>)
# </details>
#
# <details><summary>Then why not simply make that vector wider?</summary>
#
# Room is not all that is missing: packing and unpacking have to be learned, and twice the width helped only a
# little in the same training. Attention did, with half the width. (<i>Who sets the weights?</i>)
# </details>
#
# <details><summary>Why do recurrent networks find it hard to learn from the beginning of a long text?</summary>
#
# At each step back the gradient is multiplied by a table of how h_t depends on h_{t−1} (the Jacobian). If that shrinks
# it, it vanishes; if it stretches it, it explodes, and has to be cut short (clipped). (<i>Trouble two</i>: below
# 0.00001 after 40 steps)
# </details>
#
# <details><summary>What do the gates of a GRU or LSTM change about that?</summary>
#
# They make the update a sum: z · old + (1 − z) · new. Where z is near 1, the factor to the old state is near 1, and the
# gradient can survive, once training has opened the gates. All that is kept still shares one state. (<i>Trouble
# two</i>: the trained GRU)
# </details>

# %% [markdown]
# <details><summary>Describe one decoder step with Bahdanau's attention.</summary>
#
# The state before the step scores each of the encoder's states by a small network. Softmax turns the scores into
# weights. The weighted sum of the states is the context. With it and the last character, the decoder takes its step.
# (<i>Who sets the weights?</i>)
# </details>
#
# <details><summary>How does Luong's attention differ?</summary>
#
# The state *after* the step asks; in its simplest form the score is a dot product, with no parameters of its own; and
# the context is combined with the state afterwards. (<i>★ Transfer</i>)
# </details>
#
# <details><summary>Why does attention help the gradient?</summary>
#
# From the context to every state it is one step: the gradient is multiplied by one weight, not by one factor for each
# step between. In a fresh model that weight is about 1/n; later it is small where the model does not look. (<i>And the
# gradient?</i>)
# </details>
#
# <details><summary>Why are recurrent networks slow on long texts, and does attention change that?</summary>
#
# Each state needs the one before it, so steps wait for each other. Mixtures of all places are two matrix products, for
# all places at once, at the price of n² pairs. As long as the recurrence stays, the waiting stays. (<i>Trouble
# three</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Bahdanau et al. (2014), [arXiv:1409.0473](https://arxiv.org/abs/1409.0473): figure 2 is our curve over the length,
#   for real sentences, and figure 3 shows alignments.
# - Cho et al. (2014), [arXiv:1406.1078](https://arxiv.org/abs/1406.1078), the GRU and the single context; Luong et al.
#   (2015), [arXiv:1508.04025](https://arxiv.org/abs/1508.04025), the other order.
# - `transformer_lab/models/recurrent.py` and `transformer_lab/attention/additive.py`: the models of this lesson.
#
# <details><summary>For instructors</summary>
#
# *Points*: context_vector 2; stretch: luong_step 2. The bug hunt is not graded. *Where students stumble*: `weights @
# states`, which mixes the texts of a batch (let them say the shape first); believing that 64 floats cannot hold 16
# digits; believing that gates cure the fading by themselves. *To ask in class*: which task needs no attention at all?
# What would the alignment of a reversed text look like? Why is the month not read off its first letter, and what
# would change if the encoder read in both directions?
# </details>

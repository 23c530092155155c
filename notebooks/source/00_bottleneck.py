# %% [markdown] id="title"
# # 00 · Before attention: the bottleneck
#
# **The question.** A program reads `3 mars 2021`. Then the text is taken away, and all that the program has kept of it
# is 64 numbers. From these it writes `2021-03-03`. For a date, that works. For a page? And if not, what else should it
# keep? The answer of 2014 is what today's language models are built on.
#
# **Afterwards you can** explain how models translated before the Transformer, measure three weaknesses of that
# approach, and write the step of a recurrent network and the weighted average that is now called attention.
#
# Reading: 33 minutes. Exercises: 30 minutes (two core, one stretch ★). With all predictions, runs and questions:
# about 85 minutes.

# %% [markdown]
# ## Before you start
#
# Three questions from the [primer](primer.ipynb). Answer each one aloud, then open it.
#
# <details><summary>An embedding has 12 vectors of width 8. What is its output for the ids 3, 3 and 0?</summary>
#
# A tensor of shape (3, 8). Its first two rows are equal: the same id gives the same vector.
# </details>
#
# <details><summary>What does softmax do with a list of numbers?</summary>
#
# It turns them into probabilities: numbers between 0 and 1 that add up to 1. The largest number gets the largest
# probability.
# </details>
#
# <details><summary>What is in <code>x.grad</code> after <code>loss.backward()</code>?</summary>
#
# One number for each entry of x: how fast the loss changes if that entry changes a little. An entry whose gradient is
# 0 learns nothing.
# </details>

# %% [markdown]
# Run every cell in order with **Shift+Enter**.

# %% id="imports"
import copy
import time
from datetime import date, timedelta

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_course import check, compare, diagrams, hint, parts, plots, solution, tally
from transformer_lab import trace_shapes
from transformer_lab.data.dates import write_date
from transformer_lab.models.recurrent import AttentiveRecurrentTranslator, RecurrentTranslator

# %%
torch.manual_seed(0)
torch.set_printoptions(precision=2, sci_mode=False)

# %% [markdown]
# ## Sequence to sequence
#
# A text goes in, another comes out: a translation, a summary, an answer. Much of what people ask of a **large language
# model** (**LLM**) has this form. The lengths differ, so a layer of fixed sizes, such as `nn.Linear`, will not do. The
# solution of 2014 was two networks, together called **sequence to sequence**, or seq2seq: an **encoder** reads (it
# **encodes**), and a **decoder** **generates** (it **decodes**).

# %% [markdown]
# ## The encoder: a recurrent neural network
#
# Each character is a token with an embedding, so a text is a list of vectors, $x_1$ to $x_n$. A **recurrent neural
# network** (RNN) reads them in order. Its memory is one vector, the **hidden state** $h$. In the simplest case:
#
# $$h_t = \tanh(W h_{t-1} + U x_t)$$
#
# $W$ and $U$ are learned, and the same at each step. (tanh squeezes every number into the range −1 to 1.) The state is
# as wide after 1000 characters as after 11, so texts of any length can be read.

# %% [markdown]
# **Exercise.** Write one such step, for a batch of texts at once. The strings in brackets are shapes: `"batch d"` is a
# tensor with two axes, and a name means the same size throughout. Each *row* of `state` and `token` belongs to one
# text; `w` and `u` are stored as (outputs, inputs), as in `nn.Linear`.
#
# Replace the last line with your code, run the cell, then the check below it. Stuck? `hint(rnn_step)` in a new cell
# tells you a little more each time. `solution(rnn_step)` shows an answer.


# %% id="rnn_step" tags=["exercise"]
def rnn_step(
    state: Float[Tensor, "batch d"],
    token: Float[Tensor, "batch d_token"],
    w: Float[Tensor, "d d"],
    u: Float[Tensor, "d d_token"],
) -> Float[Tensor, "batch d"]:
    """Return the next hidden state of each text: tanh(W h + U x)."""
    raise NotImplementedError


# %% id="check-rnn_step"
check(rnn_step)

# %% [markdown]
# From here on, `parts.rnn_step` is your function if it passed, and otherwise the library's.
#
# **Predict.** Two random texts of 100 characters differ only in the *first* one. An untrained RNN reads both. Are its
# last hidden states the `"same"` (to three digits), or `"different"`? (Replace the `...`. If you like, say how sure you
# are: `prediction = "same", "70 %"`.)

# %% tags=["prediction"]
prediction = ...

# %%
w, u = torch.randn(2, 8, 8) / 8**0.5  # scaled so that W h is about as large as h
texts = torch.randn(100, 1, 8).repeat(1, 2, 1)  # the same random vectors twice, in place of characters
texts[0, 1] = torch.randn(8)  # but with a different first one
state, differences = torch.zeros(2, 8), []
for token in texts:  # a row for each text
    state = parts.rnn_step(state, token, w, u)
    differences.append((state[0] - state[1]).abs().max().item())
compare(prediction, measured="same" if differences[-1] < 0.001 else "different")
print("largest difference after 1, 10 and 100 characters:", [round(differences[n - 1], 2) for n in (1, 10, 100)])

# %% [markdown]
# This RNN soon forgets what it read first. A **GRU** (gated recurrent unit) can keep it. For each entry of the state it
# computes a number $z$ between 0 and 1, the **update gate**, from the state and the token:
#
# $$h_t = z \cdot h_{t-1} + (1 - z) \cdot \text{new}_t$$
#
# $\text{new}_t$ is computed much like the state of the simple RNN. Where $z$ is 1, the old number is kept as it is;
# where $z$ is 0, the new one replaces it. (The older **LSTM** has gates too.) `nn.GRU` reads a whole text and returns
# all its hidden states.

# %% [markdown]
# ## The decoder generates one token at a time
#
# The last hidden state goes to the decoder, as the **context vector** $c = h_n$. The decoder has a hidden state of its
# own, $s$. At each step it reads the token that it generated last, $y_{t-1}$, and the context:
#
# $$s_t = f(s_{t-1}, y_{t-1}, c)$$
#
# A linear layer, the *head*, turns $s_t$ and $c$ into a logit for each token, and the most likely token is generated. A
# model that reads its own output in this way is called **autoregressive**. In the picture, all that the decoder learns
# of the input passes through one box:

# %%
diagrams.recurrent.unrolled("3 mars 2021", "2021-03-03")

# %% [markdown]
# The library's `RecurrentTranslator` reads 11 characters and generates two. (Each shape begins with the batch, here
# one text.)

# %%
model = RecurrentTranslator(source_vocab_size=11, target_vocab_size=11, d_model=64)
source, generated = torch.randint(1, 11, (1, 11)), torch.tensor([[0, 7]])  # 0 is the start token, 7 was generated first
trace_shapes(model, source, generated)

# %% [markdown]
# ## How much fits into one vector?
#
# To find out, we choose a task in which nothing can be guessed: copying random digits. During training, and in our
# tests, the decoder is given the *correct* previous digit at every step, whatever it predicted itself: **teacher
# forcing**.


# %%
def before(target: Tensor) -> Tensor:
    """Return what stands before each token: the start token 0, then all tokens but the last."""
    return F.pad(target[:, :-1], (1, 0))  # one 0 in front of each row, none after it


def digits_to_copy() -> tuple[Tensor, Tensor]:
    n = int(torch.randint(1, 17, ()))  # 1 to 16
    digits = torch.randint(1, 11, (64, n))  # the ten digits have the ids 1 to 10
    return digits, digits


# %% [markdown]
# Two folded cells define training from three seeds, and the fraction of digits copied correctly.


# %% id="training-loop" tags=["hide-input"]
def train(model: nn.Module, draw=digits_to_copy, steps: int = 300, lr: float = 8e-3) -> nn.Module:
    optimizer = torch.optim.Adam(model.parameters(), lr=lr, fused=True)  # fused: the same, only faster
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = lr * min(1, 2 * (1 - step / steps))  # falls over the second half
        source, target = draw()
        logits = model(source, before(target))  # (64, n, vocab_size)
        loss = F.cross_entropy(logits.flatten(0, 1), target.flatten())  # 64 · n predictions, one per row
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


@torch.no_grad()
def accuracy(model: nn.Module, n: int) -> float:
    digits = torch.randint(1, 11, (500, n))
    return (model(digits, before(digits)).argmax(dim=-1) == digits).float().mean().item()


# %% id="three-runs" tags=["hide-input"]
n_digits = [1, 2, 4, 6, 8, 10, 12, 14, 16]


def three_runs(translator: type[nn.Module], width: int) -> tuple[list[nn.Module], Tensor]:
    """Train from seeds 0, 1 and 2; return the models and their accuracies, a row for each."""
    models = []
    for seed in range(3):
        torch.manual_seed(seed)
        models.append(train(translator(11, 11, width)))
        print(f"width {width}, seed {seed}: trained")
    return models, torch.tensor([[accuracy(model, n) for n in n_digits] for model in models])


# %% [markdown]
# We train on 1 to 16 digits, at widths of 32 and 64.
#
# **Predict.** With *two* digits, nearly all are copied correctly. With *sixteen*, how many does the wide model copy
# correctly: `"nearly all"`, `"about half"`, or one in ten, `"like guessing"`? (About 15 seconds.)

# %% tags=["prediction"]
prediction = ...

# %% id="one-vector" tags=["approximate"]
narrow, right_32 = three_runs(RecurrentTranslator, 32)
wide, right_64 = three_runs(RecurrentTranslator, 64)
right = {"one vector, width 32": right_32, "one vector, width 64": right_64}
to_choose = {"nearly all": 1, "about half": 0.5, "like guessing": 0.1}
compare(prediction, measured=right_64[:, -1].mean(), choices=to_choose)
ax = plots.lines(n_digits, right, xlabel="digits to copy", ylabel="accuracy")
pd.DataFrame({name: runs.mean(dim=0).tolist() for name, runs in right.items()}, index=n_digits).T.round(2)

# %%
for name, runs in right.items():
    print(f"{name}, all runs: over 0.9 of 2 digits right: {(runs[:, 1] > 0.9).all()},", end=" ")
    print(f"under 3/4 of 16 digits right: {(runs[:, -1] < 3 / 4).all()}")
gain = right_64[:, -1].mean() - right_32[:, -1].mean()
print("doubling the width raises the accuracy on 16 digits by over 0.15:", bool(gain > 0.15))
print([sum(p.numel() for p in models[0].parameters()) for models in (narrow, wide)], "parameters")

# %% [markdown]
# The more digits, the lower the accuracy, and doubling the width hardly helps. Even 32 floats could hold 16 digits, but
# the encoder has to *learn* to pack them, and the decoder to unpack them. Do 600 more steps of training help?

# %% id="longer-training" tags=["approximate"]
torch.manual_seed(0)
longer = train(copy.deepcopy(wide[0]), steps=600)
print({f"{n} digits": round(accuracy(longer, n), 2) for n in (8, 12, 16)})

# %% [markdown]
# It gets better, but long texts are still copied worse than short ones. This is the **bottleneck**, the first weakness.

# %% [markdown]
# ## Attention: keep all the hidden states
#
# The encoder computes a hidden state after *every* token, and we threw away all but the last. Now we keep them, and
# give the decoder a new context vector at each step: a **weighted average** of all the states, in which those that
# matter now count most. When the month is generated, these should be the states at `mars`.
#
# $$c_t = \sum_{i=1}^{n} a_{ti}\, h_i$$
#
# The **attention weights** $a_{t1}, \dots, a_{tn}$ of step $t$ are positive and add up to 1. The larger a weight, the
# more the decoder is said to **attend** to that position: this is **attention** (Bahdanau and others, 2014). In the
# picture, with made-up weights, the decoder takes step 7.

# %%
weights = torch.tensor([0, 0, 0.01, 0.02, 0.12, 0.6, 0.2, 0.05, 0, 0, 0])
diagrams.recurrent.with_attention("3 mars 2021", "2021-03-03", weights, step=7)

# %%
h = torch.tensor([[8.0, 0.0, 4.0], [0.0, 8.0, 4.0]])  # two states of width 3
print("0.75 of the first and 0.25 of the second:", (0.75 * h[0] + 0.25 * h[1]).tolist())

# %% [markdown]
# **Exercise.** Compute the weighted average for a batch of texts at once, each with its own weights and states.


# %% id="context_vector" tags=["exercise"]
def context_vector(weights: Float[Tensor, "batch n"], states: Float[Tensor, "batch n d"]) -> Float[Tensor, "batch d"]:
    """Return, for each text, the average of its n states, each multiplied by its weight."""
    raise NotImplementedError


# %% id="check-context_vector"
check(context_vector)

# %% [markdown]
# The context vector is as narrow as before, but there is a *new one for each step*.

# %% [markdown]
# ## Where the weights come from: additive attention
#
# The decoder itself computes the weights. Its state before step $t$, $s_{t-1}$, can encode what is needed next. A small
# network compares that state with each of the encoder's, and returns a **score**, a single number: how well do the two
# match? Softmax turns the scores into weights:
#
# $$a_t = \operatorname{softmax}[\operatorname{score}(s_{t-1}, h_1), \dots, \operatorname{score}(s_{t-1}, h_n)]$$
#
# $$\operatorname{score}(s, h) = w \cdot \tanh(W_s\, s + W_h\, h)$$
#
# $W_s$, $W_h$ and $w$ are learned with everything else. Because $W_s\, s$ and $W_h\, h$ are added, this is called
# **additive attention**.

# %% [markdown]
# Only after score, softmax and average does the decoder take its step, $s_t = f(s_{t-1}, y_{t-1}, c_t)$.
#
# The rest of the model is as before, and your function computes the average. (`mask` is False at padding, which
# should get no weight.)


# %%
class Translator(AttentiveRecurrentTranslator):
    """The library's model, with your function for the weighted average."""

    def context(self, state: Tensor, states: Tensor, mask: Tensor) -> Tensor:
        # The states are passed twice, to be scored and to be averaged; we keep only the weights, (batch, 1, n).
        _, weights = self.attention(state[:, None], states, states, mask[:, None])
        return parts.context_vector(weights[:, 0], states)


trace_shapes(Translator(11, 11, 64), source, generated)

# %% [markdown]
# We train this model on the same digits, at the *narrow* width, 32. The steps are as few as before, though there is
# now a score to learn as well. (About 10 seconds.)
#
# **Predict.** How many of sixteen digits does this model copy correctly: `"nearly all"`, `"about half"`, or
# `"like guessing"`?

# %% tags=["prediction"]
prediction = ...

# %% id="with-attention" tags=["approximate"]
attentive, right["attention, width 32"] = three_runs(Translator, 32)
compare(prediction, measured=right["attention, width 32"][:, -1].mean(), choices=to_choose)
ax = plots.lines(n_digits, right, xlabel="digits to copy", ylabel="accuracy")
ax.set_ylim(0, 1.05)
pd.DataFrame({name: runs.mean(dim=0).tolist() for name, runs in right.items()}, index=n_digits).T.round(2)

# %%
worst, best = right["attention, width 32"].amin(dim=0), right["one vector, width 64"].amax(dim=0)
ahead = [n for n, low, high in zip(n_digits, worst.tolist(), best.tolist()) if n >= 10 and low - high > 0.1]
print("the worst run with attention beats the best without by 0.1 or more:", ahead, "digits")
models = {"one vector, width 64": wide[0], "attention, width 32": attentive[0]}
print({name: sum(p.numel() for p in model.parameters()) for name, model in models.items()}, "parameters")

# %% [markdown]
# With half the width and fewer than a third of the parameters, attention copies what the single vector could not
# hold. Each context vector has to hold only what its own step needs: for the fifth digit, the states around the
# fifth. What about longer texts than any in training?

# %% id="longer-texts" tags=["approximate"]
print({f"{n} digits": round(accuracy(attentive[0], n), 2) for n in (16, 20, 30)})

# %% [markdown]
# The model was trained on 16 digits at most, and never learned to *find* the 25th.

# %% [markdown]
# ## The gradient on its way back
#
# Why was packing so hard to learn? On its way back to the *first* digit the gradient passes every hidden state, and at
# each one it is multiplied by how much that state depends on the one before. `gradient_reaching` (folded) measures how
# much of the gradient arrives.
#
# **Predict.** In an untrained GRU, the gradient at the *last* of 40 vectors has the size 2. How large is it at the
# first: about 0.5, about 0.01, or 0 (less than 0.00001)?

# %% tags=["prediction"]
prediction = ...


# %% tags=["hide-input"]
def gradient_reaching(model: RecurrentTranslator, position: int, n: int) -> float:
    """Measure the gradient of the context with respect to one of n vectors read, averaged over 16 texts."""
    x = torch.randn(16, n, 64, requires_grad=True)
    states, _ = model.encoder(x)
    nothing_padded = torch.ones(16, n, dtype=torch.bool)
    context = model.context(states[:, -1], states, nothing_padded)  # so far, simply the last state
    (context * torch.randn(16, 64)).sum().backward()
    return x.grad[:, position].norm(dim=-1).mean().item()  # norm: the length of a vector


# %% id="vanishing"
torch.manual_seed(0)
untrained = RecurrentTranslator(11, 11, 64)
at_the_first = gradient_reaching(untrained, 0, 40)
compare(prediction, measured=float(f"{at_the_first:.0e}"), choices=(0.5, 0.01, 0))
print(f"at the last: {gradient_reaching(untrained, -1, 40):.0f}")

# %% [markdown]
# Next to nothing is left to learn from. This **vanishing gradient** is the second weakness. Factors above 1 would
# give an **exploding gradient** instead. We compare simple RNNs with small and large $W$, our untrained GRU, and one
# that we trained to copy.


# %% id="fading" tags=["approximate"]
def with_simple_rnn(size: float) -> RecurrentTranslator:
    """Make a translator whose encoder is a simple RNN with recurrent weights of this size."""
    model = RecurrentTranslator(11, 11, 64)
    model.encoder = nn.RNN(64, 64, batch_first=True)
    nn.init.normal_(model.encoder.weight_hh_l0, std=size / 64**0.5)  # W, random: W h is `size` times as large as h
    nn.init.normal_(model.encoder.weight_ih_l0, std=0.1 / 64**0.5)  # U
    return model


torch.manual_seed(0)
positions = [1, 2, 5, 10, 20, 40]
networks = {"tanh, W small": with_simple_rnn(0.5), "tanh, W large": with_simple_rnn(2.0)}
networks |= {"GRU, untrained": untrained, "GRU, trained": wide[0]}
reaching = {name: [gradient_reaching(model, 0, n) for n in positions] for name, model in networks.items()}
ax = plots.lines(positions, reaching, xlabel="tokens read", ylabel="gradient at the first")
ax.set_yscale("log")
pd.DataFrame(reaching, index=positions).T.map(lambda size: f"{size:.0e}")

# %%
at_40 = {name: sizes[-1] for name, sizes in reaching.items()}
print("vanishes:", [name for name, size in at_40.items() if size < 1e-4])
print("explodes:", [name for name, size in at_40.items() if size > 10])


# %% tags=["hide-input", "approximate"]
def open_gates(gru: nn.GRU) -> float:
    """Compute the update gates as the network does, for 16 texts of 40 vectors; return the fraction above 0.9."""
    x = torch.randn(16, 40, 64)
    old = F.pad(gru(x)[0][:, :-1], (0, 0, 1, 0))  # the state before each step
    both = x @ gru.weight_ih_l0.T + gru.bias_ih_l0 + old @ gru.weight_hh_l0.T + gru.bias_hh_l0
    return (torch.sigmoid(both[..., 64:128]) > 0.9).float().mean().item()  # three networks in one; z is the second


print("z > 0.9:", {name: round(open_gates(networks[name].encoder), 1) for name in ("GRU, untrained", "GRU, trained")})

# %% [markdown]
# The trained GRU is the surprise: it has *learned* to keep most of its state, and its gradient survives. (Where $z$ is
# near 1, the factor from the old value to the new one is near 1.) But the gates have to be learned first, from
# gradients that vanish.

# %% [markdown]
# **Predict.** In an untrained model with attention, all scores are about equal. How large is the gradient of its
# context vector at the first of 40 vectors: about 0, as without attention; about 0.1; or about 2, as at the last
# vector?

# %% tags=["prediction"]
prediction = ...

# %%
torch.manual_seed(0)
with_attention = AttentiveRecurrentTranslator(11, 11, 64)
gradients = {"one vector": untrained, "attention": with_attention}
gradients = {name: [gradient_reaching(model, 0, n) for n in positions] for name, model in gradients.items()}
compare(prediction, measured=round(gradients["attention"][-1], 2), choices=(0, 0.1, 2))
pd.DataFrame(gradients, index=positions).T.map(lambda size: f"{size:.0e}")

# %% [markdown]
# From 10 to 20 tokens, the gradient of the single vector falls by a factor of a hundred or more, that of attention by a
# factor of about two: all n states have about the same weight, $1/n$, and each is one step from the context vector.

# %% [markdown]
# ## Bug hunt
#
# A colleague sends you this version. She has tested it: "Each one-hot row of weights returns its state, as it should."
# Read it and decide which line is wrong *before* you run the check. Then put a corrected version, `mended`, into the
# cell after it.


# %% tags=["bug-hunt"]
def context_of_a_colleague(weights, states):
    context = torch.zeros_like(states[:, 0])
    for position in range(states.shape[1]):
        weight = weights[:, position, None]
        context = (1 - weight) * context + weight * states[:, position]
    return context


# %% id="mend-context"
mended = context_of_a_colleague

# %% id="check-mend-context"
check(mended, "context_vector", save=False)

# %% [markdown]
# <details><summary>How to find such a bug without a check</summary>
#
# One-hot weights are the simplest test, and this code passes it. Try the next simplest: two weights of one half. The
# cell below does both. Each step scales down what was already there, so early states lose weight to late ones.
# </details>

# %%
three_states = torch.tensor([[[5.0], [3.0], [0.0]]])
for weights in ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.0]):
    contexts = [f(torch.tensor([weights]), three_states).item() for f in (context_of_a_colleague, parts.context_vector)]
    print(f"weights {weights}: the colleague's {contexts[0]:.1f}, should be {contexts[1]:.1f}")

# %% [markdown]
# ## Alignment: which position does the decoder attend to?
#
# Back to `3 mars 2021`. We train on a hundred years of French dates. Every tenth date is held out, and so is our
# example.

# %% tags=["hide-input"]
days = [date(1970, 1, 1) + timedelta(days=i) for i in range(36524)]
pairs = [(write_date(day, "fr", "long"), day.isoformat()) for day in days]
ids = {character: i for i, character in enumerate(sorted({c for pair in pairs for c in "".join(pair)}), start=1)}


def encoded(texts: list[str]) -> Tensor:
    longest = max(map(len, texts))
    return torch.tensor([[ids[c] for c in text] + [0] * (longest - len(text)) for text in texts])


hidden = {*pairs[::10], ("3 mars 2021", "2021-03-03")}
held_out, known = ([pair for pair in pairs if (pair in hidden) == wanted] for wanted in (True, False))
sources, targets = encoded([french for french, _ in known]), encoded([iso for _, iso in known])
print(len(known), "dates to train on,", len(held_out), "held out,", len(ids), "different characters")


def dates() -> tuple[Tensor, Tensor]:
    batch = torch.randint(len(known), (64,))
    return sources[batch], targets[batch]


# %% id="dates"
torch.manual_seed(0)
translator = train(Translator(len(ids) + 1, len(ids) + 1, 64), dates, steps=200)

# %% [markdown]
# At **inference**, when a trained model is used, no correct token is known. The decoder reads what it generated itself:
# we append the token with the largest logit, and go on.


# %% id="translations" tags=["approximate"]
@torch.no_grad()
def translate(model: nn.Module, texts: list[str]) -> list[str]:
    source, generated = encoded(texts), torch.zeros(len(texts), 1, dtype=torch.int64)  # start
    for _ in range(10):
        best = model(source, generated)[:, -1:].argmax(dim=-1)
        generated = torch.cat([generated, best], dim=1)
    characters = {i: character for character, i in ids.items()}
    return ["".join(characters.get(i, "?") for i in row) for row in generated[:, 1:].tolist()]


tested = held_out[::4]  # a quarter of them is enough
translated = translate(translator, [french for french, _ in tested])
correct = sum(t == iso for t, (_, iso) in zip(translated, tested)) / len(tested)
print(f"completely right: {correct:.0%} of held-out dates;  3 mars 2021 →", *translate(translator, ["3 mars 2021"]))

# %% [markdown]
# **Predict.** When the decoder generates the last digit of the month, the 3 in `2021-03`, does it attend more to the
# `"beginning"` of the word (`m` and `a`), or to its `"end"` (`r`, `s`, and the space after it)?

# %% tags=["prediction"]
prediction = ...

# %% id="looking" tags=["approximate"]
steps = []  # torch calls a hook whenever a module has run; ours collects the weights of each step
hook = translator.attention.register_forward_hook(lambda module, inputs, output: steps.append(output[1][0, 0]))
french, iso = "3 mars 2021", "2021-03-03"
with torch.no_grad():
    translator(encoded([french]), before(encoded([iso])))
hook.remove()
attended = torch.stack(steps)  # (10, 11): a row for each token generated, a column for each one read
characters = ["_" if c == " " else c for c in french]
ax = plots.weights(attended, queries=list(iso), keys=characters)
ax.set(xlabel="token read", ylabel="token generated")
compare(prediction, measured="end" if attended[6, 4:7].sum() > attended[6, 2:4].sum() else "beginning")

# %% [markdown]
# Each row holds the weights of one step. For the year, which comes first, the decoder attends to the end of the
# input. For the month it attends to the end of `mars` or just behind it, not to the `m`: before the `r`, no state can
# tell `mars` from `mai`. (Bahdanau's encoder is **bidirectional**: a second RNN reads from right to left, so even the
# state at `m` knows the word.) For the day it attends to the `3` or the next few characters.

# %%
word = torch.tensor([0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2])  # which piece each character belongs to: 3, mars or 2021
most = [["3", "mars", "2021"][torch.zeros(3).index_add(0, word, attended[row]).argmax()] for row in (3, 6)]
print({"year": most[0], "month": most[1]})

# %% [markdown]
# Nobody told the model which part is the month: it learned this **alignment** from pairs of texts alone.

# %% [markdown]
# ## Who has to wait?
#
# $h_3$ needs $h_2$, and $h_2$ needs $h_1$. A thousand tokens take a thousand steps, even on a computer that can do a
# thousand things at once. This is the third weakness. A weighted average does not wait: all n can be computed at once
# (lesson 01). Nor does a **convolution**, which computes each position from its neighbors alone. That only neighbors
# count is an assumption built into the layer, an **inductive bias**, and a good one for images.
#
# **Predict.** A convolution of kernel size 3 reads one neighbor on each side. After how many such layers can the last
# of 256 positions depend on the first?

# %% tags=["prediction"]
prediction = ...

# %%
seen, n_layers = torch.zeros(1, 1, 256), 0
seen[..., 0] = 1  # 1 at the positions that the first token influences
while seen[..., -1] == 0:
    seen, n_layers = F.max_pool1d(seen, kernel_size=3, stride=1, padding=1), n_layers + 1
compare(prediction, measured=n_layers)


# %% id="waiting" tags=["words-only"]
def milliseconds(run) -> float:
    """Time one pass, forward and backward."""
    start = time.perf_counter()
    run().sum().backward()
    return 1000 * (time.perf_counter() - start)


gru, convolution = nn.GRU(64, 64, batch_first=True), nn.Conv1d(64, 64, kernel_size=3, padding=1)
layers = {"GRU": lambda x: gru(x)[0], "convolution": lambda x: convolution(x.mT)}
layers["attention"] = lambda x: torch.softmax(x @ x.mT / 8, dim=-1) @ x
lengths = [16, 32, 64, 128, 256]
texts = [torch.randn(1, n, 64, requires_grad=True) for n in lengths]
best = {name: torch.full((5,), torch.inf) for name in layers}
for _ in range(20):  # the best of twenty turns, the one that other programs disturbed least
    for name, layer in layers.items():
        passes = [milliseconds(lambda x=x, layer=layer: layer(x)) for x in (texts[0], *texts)]
        best[name] = torch.tensor(passes[1:]).minimum(best[name])  # without the first, for which caches are cold
ax = plots.lines(lengths, best, xlabel="tokens", ylabel="milliseconds")
ax.set_yscale("log")
pd.DataFrame({name: times.tolist() for name, times in best.items()}, index=lengths).T.round(1)

# %%
print("256 tokens, the slowest:", min(best, key=lambda name: best["attention"][-1] / best[name][-1]))
print("256 tokens take the GRU over 3 times as long as 16:", bool(best["GRU"][0] / best["GRU"][-1] < 1 / 3))

# %% [markdown]
# At 256 tokens the GRU is the slowest, even on a single core, where nothing runs in parallel: many small products cost
# more than a few large ones (primer). Table 1 of the Transformer paper, adapted, compares the three layers for n tokens
# of width d. The **path length** is the number of steps from one token to another.
#
# | layer | operations | sequential steps | longest path |
# |---|---|---|---|
# | attention | n² · d | 1 | 1 |
# | recurrent | n · d² | n | n |
# | convolution, kernel k | k · n · d² | 1 | 2 (n − 1) / (k − 1) layers; about log n with gaps (dilated) |
#
# The price of attention is n²: four times the work for twice the length. Our translator still has two recurrent
# networks. Why keep them, if attention reaches every position in one step? In 2017, *Attention Is All You Need* left
# them out. The map shows what was left, the **Transformer**. Lessons 01 to 08 build it, box by box.

# %%
diagrams.architecture.you_are_here(0)

# %% [markdown]
# ## ★ Transfer: Luong's attention
#
# In 2015, Luong and others reversed the order. The decoder takes its step first, without a context vector. The score of
# $h_i$ is simply its dot product with the *new* state $s_t$. The context vector is then combined with that state:
#
# $$a_t = \operatorname{softmax}[s_t \cdot h_1, \dots, s_t \cdot h_n], \quad c_t = \sum_i a_{ti} h_i, \quad
# \tilde{s}_t = \tanh(W_c\,[c_t; s_t])$$
#
# $[c_t; s_t]$ means the two concatenated, the context first (`torch.cat`). $W_c$ is stored as (outputs, inputs), and
# there is no bias. Write this step from scratch, for a batch.


# %% id="luong_step" tags=["exercise"]
def luong_step(
    state: Float[Tensor, "batch d"], states: Float[Tensor, "batch n d"], w_c: Float[Tensor, "d_out d_both"]
) -> Float[Tensor, "batch d_out"]:
    """Return tanh(W_c [c; s]), where c is the context vector by dot products with the decoder's state s."""
    raise NotImplementedError


# %% id="check-luong_step"
check(luong_step)

# %%
torch.manual_seed(0)
states = torch.randn(1, 11, 64)
only_context = torch.eye(64, 128)  # a W_c that keeps the context and drops the state
found = parts.luong_step(states[:, 4], states, only_context)
similarity = torch.cosine_similarity(found[:, None], torch.tanh(states), dim=-1)[0]
print("scored with a copy of state 4, found state", similarity.argmax().item(), f"(cosine {similarity.max():.2f})")

# %% [markdown]
# A dot product compares states as they are. Luong's **general score** $s^\top W h$ puts a learned matrix in between.

# %% [markdown]
# ## Your experiment
#
# Ungraded, about 20 minutes. Test a claim of your own as this lesson tests its claims, or begin with this one:
#
# **Claim.** One vector of width 32 holds more of sixteen digits if the encoder reads them from last to first.
# (Sutskever et al., 2014, reversed their sentences, and translated better.)
#
# **Prediction.** Before you run anything, write down in how many of three runs the claim will hold.
#
# **Verdict.** Say in one sentence what the runs show. A claim that fails is a result, too.

# %% id="experiment" tags=["experiment", "skip-execution"]
prediction = ...  # in how many of the three runs will the claim hold?
holds = []
for seed in range(3):
    torch.manual_seed(seed)
    backwards = RecurrentTranslator(11, 11, 32)
    # Train it like `narrow[seed]`, but on digits.flip(1), and measure it on such digits.
    holds.append(...)  # True if it copies more of sixteen than right_32[seed, -1]
print("predicted:", prediction, " measured:", holds)
# Verdict:

# %% [markdown]
# ## In short
#
# - An RNN keeps what it has read in one hidden state of fixed width. Learning to pack long texts into that state is
#   hard: the bottleneck.
# - On its way back to the beginning, the gradient passes every step, and may vanish or explode. Gates help, once they
#   are learned.
# - Recurrent steps wait for each other; convolutions do not, but connect only neighbors.
# - Attention keeps all states. At each step the decoder's *previous* state scores them, softmax turns scores into
#   weights, and the context vector is the weighted average of the states.
# - Every position is one step away, and the weights show what the model attends to.

# %%
batch = (torch.randint(1, 11, (2, 11)), torch.randint(0, 11, (2, 1)))  # two texts of 11 tokens, one step
table = trace_shapes(Translator(11, 11, 64), *batch).drop(columns="class").replace({"module": {"": "Translator"}})
weights, states, w_c = torch.full((2, 11), 1 / 11), torch.randn(2, 11, 64), torch.randn(64, 128)
w, u = torch.randn(2, 64, 64)
functions = [
    (
        "rnn_step",
        "(2, 64), (2, 64), (64, 64), (64, 64)",
        str(tuple(parts.rnn_step(states[:, 0], states[:, 1], w, u).shape)),
        0,
    ),
    ("context_vector", "(2, 11), (2, 11, 64)", str(tuple(parts.context_vector(weights, states).shape)), 0),
    ("luong_step", "(2, 64), (2, 11, 64), (64, 128)", str(tuple(parts.luong_step(states[:, 0], states, w_c).shape)), 0),
]
print({"batch": 2, "n": 11, "d": 64, "characters": 11})
pd.concat([table, pd.DataFrame(functions, columns=table.columns)], ignore_index=True)

# %% [markdown]
# [Lesson 01](01_lookup.ipynb) names the parts of attention. The decoder's state, which scores, is the *query*. The
# encoder's states are the *keys* when they are scored, and the *values* when they are averaged.

# %% [markdown]
# ## New words
#
# The words of all lessons are in the [glossary](glossary.ipynb).
#
# - **Transformer**: the model of 2017 that is built of attention, without recurrent layers.
# - **LLM**: a large language model; it generates text by predicting the next token again and again.
# - **language model**: a model that assigns a probability to each possible next token, and so to every text.
# - **generate**: produce an output, usually token by token.
# - **encode**: turn an input into vectors; to **decode** is to generate an output from them.
# - **encoder**: the network that reads the input and turns it into vectors.
# - **decoder**: the network that generates the output.
# - **sequence to sequence**: turning one sequence into another, often of a different length, with an encoder and a
#   decoder.
# - **recurrent neural network**: a network that reads a sequence step by step, and keeps a hidden state; RNN for short.
# - **hidden state**: the vector in which a recurrent network keeps what it has read.
# - **context vector**: the vector that tells the decoder about the input: the encoder's last state or, with attention,
#   a weighted average of all its states.
# - **GRU**: a recurrent network with gates, the gated recurrent unit.
# - **update gate**: the part of a GRU that decides how much of each old value to keep.
# - **LSTM**: an older recurrent network with gates, the long short-term memory.
# - **autoregressive**: generating one token at a time, each from the tokens generated before.
# - **teacher forcing**: giving the decoder the correct previous token during training, whatever it predicted.
# - **bottleneck**: a place where all information must pass through one vector of fixed width.
# - **vanishing gradient**: a gradient that shrinks to nearly 0 on its way back through many steps.
# - **exploding gradient**: a gradient that grows enormously on its way back through many steps.
# - **weighted average**: a sum in which each number or vector is multiplied by its weight; the weights are not negative
#   and add up to 1.
# - **attention**: a weighted average of vectors, with weights that the network computes for each step.
# - **attention weights**: the weights in attention's weighted average: probabilities, one for each position.
# - **attend**: give a large attention weight to a position.
# - **score**: a number that says how well two vectors match, before the softmax.
# - **additive attention**: attention whose score is w · tanh(W_s s + W_h h), a small network that adds the two
#   projected vectors.
# - **inference**: using a trained model, as opposed to training it.
# - **bidirectional**: reading in both directions, so that each state knows what comes before and after.
# - **alignment**: which input position belongs to which output position; attention weights show it.
# - **convolution**: a layer that computes each position from its neighbors, with the same weights at every position.
# - **inductive bias**: an assumption that is built into a model before it has seen any data.
# - **path length**: the number of steps or layers that lie between two positions in a network.
# - **general score**: Luong's score with a learned matrix between the two vectors, sᵀ W h.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
#
# <details><summary>What is the bottleneck of an encoder-decoder without attention?</summary>
#
# All that the decoder gets from the input is one vector of fixed width, whatever the length. The longer the text, the
# more has to be packed into it, and the more is lost. (<i>How much fits into one vector</i>)
# </details>
#
# <details><summary>Why not avoid the bottleneck by making the context vector wider?</summary>
#
# Capacity is not what is missing: packing and unpacking have to be learned, and in the same training twice the width
# hardly helped. Attention helped, even with the smaller width. (<i>How much fits into one vector</i>, <i>Where the
# weights come from</i>)
# </details>
#
# <details><summary>Why do recurrent networks find it hard to learn from the beginning of a long text?</summary>
#
# At each step back the gradient is multiplied by the Jacobian, the matrix of how h_t depends on h_{t−1}. If these
# factors shrink the gradient, it vanishes; if they stretch it, it explodes, and has to be clipped (scaled down).
# (<i>The gradient on its way back</i>: below 0.00001 after 40 steps)
# </details>
#
# <details><summary>How do the gates of a GRU or LSTM help against vanishing gradients?</summary>
#
# They make the update a sum: z · old + (1 − z) · new. Where the update gate z is near 1, the factor from the new
# state back to the old one is near 1, and the gradient can survive, once training has opened the gates. (<i>The
# gradient on its way back</i>: the trained GRU)
# </details>

# %% [markdown]
# <details><summary>Describe one decoder step with Bahdanau's attention.</summary>
#
# The state before the step scores each of the encoder's states with a small network. Softmax turns the scores into
# weights. The weighted average of the states is the context vector. With it and the last token, the decoder takes its
# step. (<i>Where the weights come from</i>)
# </details>
#
# <details><summary>How does Luong's attention differ?</summary>
#
# The state *after* the step scores; in its simplest form the score is a dot product, without parameters, and in its
# general form there is a learned matrix in between. The context is combined with the state afterwards. (<i>★
# Transfer</i>)
# </details>
#
# <details><summary>Why does attention help the gradient?</summary>
#
# Every state is one step away from the context vector: the gradient is multiplied by one weight (about 1/n in an
# untrained model), not by a factor for each step in between. (<i>The gradient on its way back</i>)
# </details>
#
# <details><summary>Compare attention, recurrence and convolution.</summary>
#
# A recurrent layer needs n sequential steps, and information needs up to n steps to get from one token to another. A
# convolution runs in parallel, but connects only neighbors: the path grows like n/k layers, or log n with dilation.
# Attention needs one step and one layer, at the price of n² pairs. To generate, a recurrent network needs only its
# last state, of fixed size, while attention keeps all tokens. The three can be mixed: Xu et al. (2015,
# arXiv:1502.03044) describe pictures with a convolutional encoder, attention and a recurrent decoder. (<i>Who has to
# wait</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Bahdanau et al. (2014), [arXiv:1409.0473](https://arxiv.org/abs/1409.0473): figure 2 is our curve for real
#   sentences; figure 3 shows alignments.
# - Sutskever et al. (2014), [arXiv:1409.3215](https://arxiv.org/abs/1409.3215), sequence to sequence; Cho et al.
#   (2014), [arXiv:1406.1078](https://arxiv.org/abs/1406.1078), the GRU and the single context vector; Luong et al.
#   (2015), [arXiv:1508.04025](https://arxiv.org/abs/1508.04025), the other order and three scores.
# - Vaswani et al. (2017), [arXiv:1706.03762](https://arxiv.org/abs/1706.03762), section 4: table 1.
# - `transformer_lab/models/recurrent.py` and `transformer_lab/attention/additive.py`: the models of this lesson.
#
# <details><summary>Where the older parts come from</summary>
#
# Hochreiter (1991), Bengio et al. (1994) and Pascanu et al. (2013,
# [arXiv:1211.5063](https://arxiv.org/abs/1211.5063)): vanishing and exploding gradients. Hochreiter and Schmidhuber
# (1997): the LSTM. Williams and Zipser (1989): teacher forcing.
# </details>

# %% [markdown]
# How far did you get, and how well did you predict?

# %% id="tally"
tally()

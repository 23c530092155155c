# %% [markdown] id="title"
# # 00 · Before attention: the bottleneck
#
# **The question.** A program reads `3 mars 2021`. Then the text is taken away, and all the program has kept of it is 64
# numbers. From these it writes `2021-03-03`. That works for a date. Does it work for a page? And if not, what else
# should the program keep? The answer from 2014 is what today's language models are built on.
#
# **Afterwards you can** explain how models translated before the Transformer, write the step of a recurrent network and
# the weighted average that is now called attention, and test a popular explanation instead of repeating it.
#
# Reading: 33 minutes. Exercises: 30 minutes (two core, one stretch ★). With all predictions, runs and questions:
# about 80 minutes.

# %% [markdown]
# Run every cell in order with **Shift+Enter**.

# %% id="imports"
from datetime import date, timedelta

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_course import check, compare, diagrams, hint, parts, plots, solution, tally
from transformer_course.stored_models.stored_model import FOLDER
from transformer_lab import trace_shapes
from transformer_lab.attention.additive import additive_scores
from transformer_lab.data.dates import write_date
from transformer_lab.models.recurrent import AttentiveRecurrentTranslator, RecurrentTranslator, last_state
from transformer_lab.pretrained.hub import read_json
from transformer_lab.tensor_files import read_tensors

# %%
torch.manual_seed(0)
torch.set_printoptions(precision=2, sci_mode=False)

# %% [markdown]
# ## A translator, and where it looks
#
# The folded cells prepare a hundred years of French dates and load a small translator that was trained on nine tenths
# of them. `3 mars 2021` was not among them.

# %% id="french-dates" tags=["hide-input"]
days = [date(1970, 1, 1) + timedelta(days=i) for i in range(36524)]
pairs = [(write_date(day, "fr", "long"), day.isoformat()) for day in days]
ids = {character: i for i, character in enumerate(sorted({c for pair in pairs for c in "".join(pair)}), start=1)}
character_of = {i: character for character, i in ids.items()}


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


# %% id="stored-models" tags=["hide-input"]
stored, _ = read_tensors(FOLDER / "bottleneck-runs" / "models.safetensors")


def with_stored_numbers(model: nn.Module, name: str) -> nn.Module:
    """Load the parameters that authoring/train_bottleneck_runs.py trained."""
    prefix = f"{name}."
    parameters = {key.removeprefix(prefix): t.float() for key, t in stored.items() if key.startswith(prefix)}
    model.load_state_dict(parameters)
    return model


first_translator = with_stored_numbers(AttentiveRecurrentTranslator(len(ids) + 1, len(ids) + 1, 64), "translator")


# %% id="translating" tags=["hide-input"]
@torch.no_grad()
def translate(model: nn.Module, texts: list[str], donors: tuple[str, ...] = (), places: slice = slice(0)) -> list[str]:
    """Write the date of each text; the hidden states at ``places`` can be those of other texts, the donors."""
    states, mask = model.encode(encoded(texts))
    state, token, written = last_state(states, mask), torch.zeros(len(texts), 1, dtype=torch.int64), []
    if donors:
        states[:, places] = model.encode(encoded(list(donors)))[0][:, places]
    for _ in range(10):
        logits, state = model.decode(token, state, states, mask)
        token = logits.argmax(dim=-1)  # the most likely token is generated, and read in the next step
        written.append(token)
    return ["".join(character_of.get(i, "?") for i in row) for row in torch.cat(written, dim=1).tolist()]


# %% id="watching" tags=["hide-input"]
def before(target: Tensor) -> Tensor:
    """Return the token before each token: the start token 0, then all tokens but the last."""
    return F.pad(target[:, :-1], (1, 0))  # one 0 in front of each row, none after it


@torch.no_grad()
def weights_of(model: nn.Module, french: str, iso: str) -> Tensor:
    """Return the attention weights: a row for each token generated, a column for each one read."""
    steps = []  # torch calls a hook whenever a module has run; ours collects the weights of each step
    hook = model.attention.register_forward_hook(lambda module, inputs, output: steps.append(output[1][0, 0]))
    model(encoded([french]), before(encoded([iso])))
    hook.remove()
    return torch.stack(steps)


# %% id="looking" tags=["approximate"]
french, iso = "3 mars 2021", "2021-03-03"
print(french, "→", *translate(first_translator, [french]))
attended = weights_of(first_translator, french, iso)  # (10, 11)
ax = plots.weights(attended, queries=list(iso), keys=[c.replace(" ", "_") for c in french])
_ = ax.set(xlabel="token read", ylabel="token generated")

# %% [markdown]
# The translation is right, and the picture shows where the model looked. Each row stands for one character that it
# wrote. The bright cells in the row are the characters of `3 mars 2021` that it attended to while writing it. It took
# the year from the end of the input, the month from the end of `mars`, and the day from the beginning. Nobody told the
# model which part is the month: it worked out this **alignment** from pairs of texts alone.
#
# In this lesson you write the score and the average behind this picture, and see how translators worked without them.

# %% [markdown]
# ## Before you start
#
# Three questions from the [primer](primer.ipynb). Answer each one aloud before you open it.
#
# <details><summary>An embedding has 12 vectors of width 8. What is its output for the ids 3, 3 and 0?</summary>
#
# A tensor of shape (3, 8). Its first two rows are equal: the same id gives the same vector.
# </details>
#
# <details><summary>What does softmax do to a list of numbers?</summary>
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
# ## Sequence to sequence
#
# A text goes in, and another comes out: a translation, a summary, an answer. Much of what people ask of a **large
# language model** (**LLM**) has this form. Input and output differ in length, so a layer of fixed size, such as
# `nn.Linear`, won't do. The solution of 2014 was a pair of networks, together called **sequence to sequence**, or
# seq2seq: an **encoder** reads the input (it **encodes**), and a **decoder** **generates** the output (it **decodes**).

# %% [markdown]
# ## The encoder: a recurrent neural network
#
# Each character is a token with an embedding, so a text is a list of vectors, $x_1$ to $x_n$. A **recurrent neural
# network** (RNN) reads them in order. Its memory is one vector, the **hidden state** $h$. In the simplest case:
#
# $$h_t = \tanh(W h_{t-1} + U x_t)$$
#
# $W$ and $U$ are learned, and they are the same at every step. (tanh squeezes every number into the range −1 to 1.) The
# state is as wide after 1,000 characters as after 11, so an RNN can read texts of any length.

# %% [markdown]
# **Exercise.** Write one such step for a batch of texts. The strings in brackets are shapes: `"batch d"` is a tensor
# with two dimensions, and a name stands for the same size everywhere. Each *row* of `state` and `token` belongs to one
# text. `w` and `u` are stored as (outputs, inputs), as in `nn.Linear`.
#
# Replace the last line with your code, run the cell, then run the check below it. Stuck? `hint(rnn_step)` in a new cell
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
# From here on, `parts.rnn_step` is your function once it has passed, and the library's until then.
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
# $\text{new}_t$ is computed much like the state of the simple RNN. Where $z$ is 1, the GRU keeps the old number; where
# $z$ is 0, the new one replaces it. (The older **LSTM** has gates too.) `nn.GRU` reads a whole text and returns all its
# hidden states.
#
# **Predict.** Suppose $z$ is 0.9 at every step. What fraction of an old number is left after 100 characters: nearest to
# 0.9, 0.4 or 0?

# %% tags=["prediction"]
prediction = ...

# %%
kept = {f"z = {z}": round(z**100, 2) for z in (0.5, 0.9, 0.99)}
compare(prediction, measured=kept["z = 0.9"], choices=(0.9, 0.4, 0))
print(kept)

# %% [markdown]
# To remember something for 100 steps, a gate has to stay very close to 1. This will matter below.

# %% [markdown]
# ## The decoder generates one token at a time
#
# The decoder gets the last hidden state of the encoder, called the **context vector** $c = h_n$. The decoder is an RNN
# too, with its own hidden state $s$. At each step it reads the context and the token that it generated last, $y_{t-1}$:
#
# $$s_t = f(s_{t-1}, y_{t-1}, c)$$
#
# A linear layer, the *head*, turns $s_t$ and $c$ into a logit for each token, and the most likely token is generated. A
# model that reads its own output in this way is called **autoregressive**. In the picture, look for the one box through
# which everything the decoder learns about the input has to pass:

# %%
diagrams.recurrent.unrolled("3 mars 2021", "2021-03-03")

# %% [markdown]
# The library's `RecurrentTranslator` reads 11 characters and generates two. (The first dimension of every shape is the
# batch; here it holds one text.)

# %%
model = RecurrentTranslator(source_vocab_size=11, target_vocab_size=11, d_model=64)
source, generated = torch.randint(1, 11, (1, 11)), torch.tensor([[0, 7]])  # 0 is the start token, 7 was generated first
trace_shapes(model, source, generated)

# %% [markdown]
# ## How much fits into one vector?
#
# We choose a task in which nothing can be guessed: copying random digits. In training and in our tests, the decoder is
# given the *correct* previous digit at every step, whatever it predicted: **teacher forcing**.


# %%
def digits_to_copy() -> tuple[Tensor, Tensor]:
    n = int(torch.randint(1, 17, ()))  # 1 to 16
    digits = torch.randint(1, 11, (64, n))  # the ten digits have the ids 1 to 10
    return digits, digits


@torch.no_grad()
def accuracy(model: nn.Module, n: int) -> float:
    digits = torch.randint(1, 11, (500, n))
    return (model(digits, before(digits)).argmax(dim=-1) == digits).float().mean().item()


# %% [markdown]
# The folded cell is the training loop. We ran it for 300 steps with vectors of 32 and of 64 numbers, three times each;
# the results are stored, so you don't have to wait for them. (In *Your experiment* you run it yourself.)


# %% id="training-loop" tags=["hide-input"]
def train(model: nn.Module, draw, steps: int = 300, lr: float = 8e-3) -> nn.Module:
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


# %% [markdown]
# **Predict.** With *two* digits, the model with 64 numbers copies nearly all of them correctly. With *sixteen*, which
# fraction does it copy correctly: 0.9, 0.5, or 0.1 (guessing)?

# %% tags=["prediction"]
prediction = ...

# %% id="stored-runs" tags=["hide-input"]
n_digits = [1, 2, 4, 6, 8, 10, 12, 14, 16]
card = read_json(FOLDER / "bottleneck-runs" / "accuracy.json")  # made by authoring/train_bottleneck_runs.py
right = {name: torch.tensor(runs) for name, runs in card["copying"].items()}  # (3, 9): a row for each run
compare(prediction, measured=right["one vector, width 64"][:, -1].mean(), choices=(0.9, 0.5, 0.1))
settings = ["one vector, width 32", "one vector, width 64", "one vector, width 64, 900 steps"]
ax = plots.lines(n_digits, {name: right[name] for name in settings}, xlabel="digits to copy", ylabel="accuracy")
pd.DataFrame({name: right[name].mean(dim=0).tolist() for name in settings}, index=n_digits).T.round(2)

# %% [markdown]
# The more digits, the lower the accuracy. Is the vector too small? Twice the width raises the accuracy on 16 digits
# from 0.48 to 0.52; three times as many steps raise it to 0.64. Even 32 floats have room for 16 digits, but the encoder
# has to *learn* to pack them, and the decoder to unpack them, and that takes long. This is the **bottleneck**, the
# first weakness: whatever the length of the input, everything has to pass through one vector.

# %% [markdown]
# ## Attention: keep all the hidden states
#
# The encoder computes a hidden state after *every* token, and we threw away all but the last. Now we keep them, and
# give the decoder a new context vector at each step: a **weighted average** of all the states, in which the states that
# matter at this step count most. When the decoder generates the month, these should be the states at `mars`.
#
# $$c_t = \sum_{i=1}^{n} a_{ti}\, h_i$$
#
# The **attention weights** $a_{t1}, \dots, a_{tn}$ of step $t$ are positive and add up to 1. The larger the weight of a
# position, the more the decoder is said to **attend** to it: this is **attention** (Bahdanau and others, 2014). The
# picture shows step 7 of the decoder, with made-up weights.

# %%
weights = torch.tensor([0, 0, 0.01, 0.02, 0.12, 0.6, 0.2, 0.05, 0, 0, 0])
diagrams.recurrent.with_attention("3 mars 2021", "2021-03-03", weights, step=7)

# %%
h = torch.tensor([[8.0, 0.0, 4.0], [0.0, 8.0, 4.0]])  # two states of width 3
print("0.75 of the first and 0.25 of the second:", (0.75 * h[0] + 0.25 * h[1]).tolist())

# %% [markdown]
# **Exercise.** Compute the weighted average for a batch of texts. Each text has its own weights and states.


# %% id="context_vector" tags=["exercise"]
def context_vector(weights: Float[Tensor, "batch n"], states: Float[Tensor, "batch n d"]) -> Float[Tensor, "batch d"]:
    """Return, for each text, the average of its n states, each multiplied by its weight."""
    raise NotImplementedError


# %% id="check-context_vector"
check(context_vector)

# %% [markdown]
# The context vector is no wider than before, but there is a *new one for each step*.

# %% [markdown]
# ## Where the weights come from: additive attention
#
# The decoder computes the weights itself. Its state before step $t$, $s_{t-1}$, can encode what it needs next. A small
# network compares this state with each encoder state $h$ and returns a single number, the **score**: how well do the
# two match?
#
# $$\operatorname{score}(s, h) = w \cdot \tanh(W_s\, s + W_h\, h)$$
#
# $W_s$, $W_h$ and $w$ are learned with everything else. Because $W_s\, s$ and $W_h\, h$ are added, this is called
# **additive attention**.

# %% id="to-score"
torch.manual_seed(0)
s = torch.randn(3)  # the decoder's state, of width 3
h = torch.randn(4, 3)  # four states of the encoder, one per row
w_s, w_h, w = torch.randn(5, 3), torch.randn(5, 3), torch.randn(5)  # the network, with a hidden width of 5

# %% [markdown]
# **Your turn.** Replace the `...` with an expression that scores all four states: a tensor of four numbers. First think
# of the shapes: `h @ w_h.T` is (4, 5), a row for each state. What do you add to every row? (Lesson 02 returns to this
# score, for many decoder states at once and with a check.)

# %% tags=["prediction"]
scores = ...

# %%
measured = additive_scores(s[None, None], h[None], w_s, w_h, w)[0, 0]  # the library's function
compare(scores, measured=[round(score, 2) for score in measured.tolist()])

# %% [markdown]
# <details><summary>An answer</summary>
#
# `torch.tanh(w_s @ s + h @ w_h.T) @ w`. The sum has the shape (4, 5): broadcasting adds `w_s @ s`, of shape (5,), to
# each row. The product with `w` leaves one number per row.
# </details>
#
# Softmax turns the scores into weights, and your function averages:

# %%
weights = torch.softmax(measured, dim=0)
print("weights:       ", [round(weight, 2) for weight in weights.tolist()])
print("context vector:", [round(x, 2) for x in parts.context_vector(weights[None], h[None])[0].tolist()])

# %% [markdown]
# Score, softmax, average: only then does the decoder take its step, $s_t = f(s_{t-1}, y_{t-1}, c_t)$. Here is the whole
# model with your function for the average. (`mask` is False at padding, which should get no weight.)


# %%
class Translator(AttentiveRecurrentTranslator):
    """The library's model, with your function for the weighted average."""

    def context(self, state: Tensor, states: Tensor, mask: Tensor) -> Tensor:
        # The states are passed twice, to be scored and to be averaged; we keep only the weights, (batch, 1, n).
        _, weights = self.attention(state[:, None], states, states, mask[:, None])
        return parts.context_vector(weights[:, 0], states)


# %% [markdown]
# We trained it on the same digits at *half* the width, 32, for as few steps as before, although this model has a
# scoring network to learn, too.
#
# **Predict.** Which fraction of sixteen digits does it copy correctly: 0.9, 0.5 or 0.1?

# %% tags=["prediction"]
prediction = ...

# %% id="attention-runs" tags=["hide-input"]
one_vector = with_stored_numbers(RecurrentTranslator(11, 11, 64), "one vector")  # the runs from seed 0
attentive = with_stored_numbers(Translator(11, 11, 32), "attention")
settings = ["one vector, width 64", "attention, width 32"]
compare(prediction, measured=right["attention, width 32"][:, -1].mean(), choices=(0.9, 0.5, 0.1))
for name, model in zip(settings, (one_vector, attentive)):
    print(f"{name}: {sum(p.numel() for p in model.parameters()):,} parameters")
ax = plots.lines(n_digits, {name: right[name] for name in settings}, xlabel="digits to copy", ylabel="accuracy")
ax.set_ylim(0, 1.05)
settings += [f"{name}, a third of the rate" for name in settings]
pd.DataFrame({name: right[name].mean(dim=0).tolist() for name in settings}, index=n_digits).T.round(2)

# %% [markdown]
# With half the width and fewer than a third of the parameters, attention copies what the single vector has not learned
# to hold: 0.87 of sixteen digits against 0.52, and 0.69 against 0.50 at a third of the learning rate. Each context
# vector needs to hold only what its own step needs: for the fifth digit, the states around the fifth. What about texts
# longer than any seen in training?

# %% id="longer-texts" tags=["approximate"]
longer = {n: accuracy(attentive, n) for n in (16, 20, 30)}
print({f"{n} digits": round(fraction, 2) for n, fraction in longer.items()})

# %% [markdown]
# The model was trained on 16 digits at most, and never learned to *find* the 25th.

# %% [markdown]
# ## Does the decoder use what it looks at?
#
# Back to the picture at the top. We load the parameters of that translator into a model with *your* function and test
# it on dates that were held out. At **inference**, when a trained model is used, the correct tokens are not known.
# The decoder reads what it generated itself.

# %% id="translations" tags=["hide-input", "approximate"]
translator = with_stored_numbers(Translator(len(ids) + 1, len(ids) + 1, 64), "translator")
tested = held_out[::4]  # a quarter of them is enough
translated = translate(translator, [french for french, _ in tested])
correct = sum(t == iso for t, (_, iso) in zip(translated, tested)) / len(tested)
print(f"completely right: {correct:.0%} of {len(tested)} held-out dates")

# %% [markdown]
# In the picture, the rows of the month are bright at the end of `mars` and the space after it, not at the `m`: before
# the `r`, no state can tell `mars` from `mai`. (Bahdanau's encoder is **bidirectional**: a second RNN reads from right
# to left, so even the state at `m` depends on the whole word.)
#
# But does the model take the month from there, or do the weights only look plausible? Test it: exchange the hidden
# states. The encoder reads `3 mars 2021` and also `3 juin 2021`. We put the second text's states at the word and the
# space after it into the first text. All other states stay as they are, including the last one, which the decoder
# starts from.
#
# **Predict.** What does the decoder write?

# %% tags=["prediction"]
prediction = ...  # such as "2021-03-03"

# %%
word = slice(2, 7)  # where mars or juin is, with the space after it
compare(prediction, measured=translate(translator, ["3 mars 2021"], ("3 juin 2021",), word)[0])

# %% id="exchanged" tags=["hide-input", "approximate"]
of_month, exchanged = {"mars": "03", "juin": "06", "août": "08"}, {}
days_and_years = [(day, year) for day in range(1, 10) for year in range(1970, 2070)]
for a, b in [("mars", "juin"), ("juin", "août"), ("août", "mars")]:
    texts_a, texts_b = ([f"{day} {month} {year}" for day, year in days_and_years] for month in (a, b))
    wanted = [f"{year}-{of_month[b]}-{day:02}" for day, year in days_and_years]
    results = translate(translator, texts_a, tuple(texts_b), word)
    exchanged[f"{a} → {b}"] = sum(map(str.__eq__, results, wanted)) / len(wanted)
print(f"of {len(days_and_years)} dates, with only the month changed:", {k: f"{v:.0%}" for k, v in exchanged.items()})

# %% [markdown]
# The month changes, and nothing else. So these weights do show where the model reads the month. (You can't rely on the
# weights alone: a hidden state also carries what was read before it. Exchanging states is the test.)

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
# ## Is the vanishing gradient to blame?
#
# Why was packing so hard to learn? Textbooks have an explanation. On its way back to the *first* digit, the gradient
# passes through every hidden state, and at each one it is multiplied by how much that state depends on the one before.
# `gradient_reaching` (folded) measures how much of the gradient arrives.
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
# Next to nothing is left to learn from: a **vanishing gradient**. Factors above 1 would give an **exploding gradient**
# instead. That looks like the culprit. But so far we have only looked at a network *before* training. Compare it with
# the GRU that was trained to copy, and with simple RNNs whose $W$ is small or large.


# %% id="fading" tags=["hide-input", "approximate"]
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
networks |= {"GRU, untrained": untrained, "GRU, trained to copy": one_vector}
reaching = {name: [gradient_reaching(model, 0, n) for n in positions] for name, model in networks.items()}
ax = plots.lines(positions, reaching, xlabel="tokens read", ylabel="gradient at the first")
ax.set_yscale("log")
pd.DataFrame(reaching, index=positions).T.map(lambda size: f"{size:.0e}")

# %% [markdown]
# Look at the last row. This is the model that copies only half of 16 digits, and over 40 tokens its gradient hardly
# shrinks at all! It has *learned* to keep its state, with gates near 1:


# %% id="open-gates" tags=["hide-input", "approximate"]
def open_gates(gru: nn.GRU) -> float:
    """Compute the update gates as the network does, for 16 texts of 40 vectors; return the fraction above 0.9."""
    x = torch.randn(16, 40, 64)
    old = F.pad(gru(x)[0][:, :-1], (0, 0, 1, 0))  # the state before each step
    both = x @ gru.weight_ih_l0.T + gru.bias_ih_l0 + old @ gru.weight_hh_l0.T + gru.bias_hh_l0
    return (torch.sigmoid(both[..., 64:128]) > 0.9).float().mean().item()  # three networks in one; z is the second


fraction_open = {name: open_gates(networks[name].encoder) for name in ("GRU, untrained", "GRU, trained to copy")}
print("fraction of gates above 0.9:", {name: round(fraction, 1) for name, fraction in fraction_open.items()})

# %% [markdown]
# So vanishing gradients may explain a slow start, but not where this training ends. Did the slow start cost much? We
# can find out, because we can open the gates *before* training: add 4 to the bias of $z$, so that $z$ starts near 0.98.

# %%
torch.manual_seed(0)
opened = RecurrentTranslator(11, 11, 64)
with torch.no_grad():
    opened.encoder.bias_hh_l0[64:128] += 4
print(f"gradient at the first of 40: {at_the_first:.0e}; with open gates: {gradient_reaching(opened, 0, 40):.0e}")

# %% [markdown]
# **Predict.** The gradient is now ten million times as large. We train as before. Which fraction of 16 digits does this
# model copy: about 0.5, as before, about 0.7, or about 0.9?

# %% tags=["prediction"]
prediction = ...

# %% id="gates-opened" tags=["hide-input"]
settings = ["one vector, width 64", "one vector, width 64, open gates"]
compare(prediction, measured=right[settings[1]][:, -1].mean(), choices=(0.5, 0.7, 0.9))
settings += [f"{name}, a third of the rate" for name in settings]
pd.DataFrame({name: right[name][:, -1].tolist() for name in settings}, index=["seed 0", "seed 1", "seed 2"]).T.round(2)

# %% [markdown]
# Opening the gates changes nothing, at either learning rate. So the vanishing gradient is real, and it is *not* why
# packing is hard. Then when does it matter? Take a task in which there is nothing to pack: read 40 digits, and name
# only the *first*. Train one model as it is and one with open gates. A third model starts with closed gates, but reads
# texts of 1 to 40 digits.
#
# **Predict.** After 150 steps, which of the three do better than guessing (0.1)? Replace each `...` with True or False.

# %% tags=["prediction"]
as_it_is, with_open_gates, with_short_texts = ..., ..., ...

# %% id="first-digit" tags=["hide-input"]
first_of_40 = {(run["task"], run["lr"]): run["accuracy"] for run in card["remembering"]}
better = {task: min(runs) > 0.2 for (task, lr), runs in first_of_40.items() if lr == 0.008}
compare(as_it_is, measured=better["40 digits"])
compare(with_open_gates, measured=better["40 digits, open gates"])
compare(with_short_texts, measured=better["1 to 40 digits"])
columns = pd.MultiIndex.from_tuples(first_of_40, names=["trained on", "learning rate"])
pd.DataFrame([*first_of_40.values()], index=columns, columns=["seed 0", "seed 1", "seed 2"]).round(2)

# %% [markdown]
# *Here* the vanishing gradient is the culprit: with texts of 40 digits and closed gates the model learns nothing, and
# with open gates it learns. But look at the third model. Texts of a few digits have a gradient, which teaches the gates
# to stay open, and open gates then carry the gradient through long texts. Our copying task has short texts, too. So
# ask what a vanishing gradient depends on: here, on the initialization and on the lengths of the training texts.

# %% [markdown]
# ### The gradient with attention
#
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
# From 10 to 20 tokens, the single vector's gradient shrinks a hundredfold, attention's only twofold. All n states have
# about the same weight, $1/n$, and each is one step away from the context vector. With attention, a good start does not
# depend on gates.

# %%
diagrams.recurrent.gradient_paths()

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
# ## Who has to wait?
#
# $h_3$ needs $h_2$, and $h_2$ needs $h_1$. A thousand tokens take a thousand steps, even on a computer that can do a
# thousand things at once. This is the second weakness. Weighted averages don't wait for each other, so attention can
# compute all n at once (lesson 01). So can a **convolution**, which computes each position from its neighbors alone. An
# assumption that is built into a model, such as "only neighbors matter", is called an **inductive bias**. This one
# suits images well.

# %% [markdown]
# Here is table 1 of the Transformer paper, adapted, for n tokens of width d. The **path length** is the number of steps
# from one token to another. The columns on the right are milliseconds for one text, forward and backward, with d = 64
# on one processor core. (This attention has no parameters yet; a real one adds a few matrix products.)
#
# | layer | operations | sequential steps | longest path | 256 tokens | 1,024 | 4,096 | 8,192 |
# |---|---|---|---|---|---|---|---|
# | attention | n² · d | 1 | 1 | 1 | 12 | 321 | 1,536 |
# | GRU | n · d² | n | n | 24 | 109 | 425 | 935 |
# | convolution, kernel k = 3 | k · n · d² | 1 | 2 (n − 1) / (k − 1) layers | 0.5 | 1.4 | 5 | 11 |
#
# At 256 tokens the GRU is the slowest, even on one core: many small products cost more than a few large ones. At 8,192
# tokens, attention is the slowest. That is its price: twice the length costs four times the work. (A recurrence can run
# in parallel if it is linear, without a tanh or gates that depend on the state. Lesson 02 has an example.)

# %% [markdown]
# Our translator still has two recurrent networks. Why keep them, if attention reaches every position in one step? In
# 2017, *Attention Is All You Need* left them out, and what remained is the **Transformer**. Lessons 01 to 08 build it,
# piece by piece.

# %% [markdown]
# ## Your experiment
#
# Ungraded, about 20 minutes. Test a claim of your own the way this lesson tests its claims, or start with this one:
#
# **Claim.** One vector of width 32 holds more of sixteen digits if the encoder reads them from last to first.
# (Sutskever et al., 2014, reversed their sentences, and translated better.)
#
# **Prediction.** Before you run anything, write down in how many of three runs the claim will hold.
#
# **Verdict.** Say in one sentence what the runs show. Then change the learning rate or the number of steps: does your
# sentence survive? A claim that fails is a result, too.

# %% id="experiment" tags=["experiment", "skip-execution"]
prediction = ...  # in how many of the three runs will the claim hold?
holds = []
for seed in range(3):
    torch.manual_seed(seed)
    backwards = RecurrentTranslator(11, 11, 32)
    # Train it with `train`, but on digits.flip(1), and measure it on such digits.
    holds.append(...)  # True if it copies more of sixteen than right["one vector, width 32"][seed, -1]
print("predicted:", prediction, " measured:", holds)
# Verdict:

# %% [markdown]
# ## In short
#
# - An RNN keeps what it has read in one hidden state of fixed width. It takes long to learn to pack long
#   texts into it: the bottleneck.
# - Attention keeps all states. At each step the decoder's *previous* state scores them, softmax turns scores into
#   weights, and the context vector is the weighted average of the states.
# - The weights show where the decoder looks; exchanging states shows whether it matters.
# - The gradient may vanish or explode on its way back through an RNN. Short texts can teach the gates to prevent
#   that. In our experiment, it was not what made packing hard.
# - With attention, every state is one step away from the context vector.
# - Recurrent steps wait for each other; attention does not, at the price of n² scores.

# %% tags=["hide-input"]
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
# [Lesson 01](01_lookup.ipynb) names the parts of attention. The decoder's state, which scores the others, is the
# *query*. The encoder's states are the *keys* when they are scored, and the *values* when they are averaged.

# %% [markdown]
# ## New words
#
# The [glossary](glossary.ipynb) lists the terms from all lessons.
#
# - **Transformer**: the model of 2017 that is built from attention, without recurrent layers.
# - **LLM**: a large language model; it generates text by predicting the next token again and again.
# - **language model**: a model that assigns a probability to each possible next token, and so to every text.
# - **generate**: produce an output, usually token by token.
# - **encode**: turn an input into vectors; to **decode** is to generate an output from them.
# - **encoder**: the network that reads the input and turns it into vectors.
# - **decoder**: the network that generates the output.
# - **sequence to sequence**: turning one sequence into another, often of a different length, with an encoder and a
#   decoder.
# - **recurrent neural network**: a network that reads a sequence step by step and keeps a hidden state; RNN for short.
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
# - **attention weights**: the weights of the average that attention computes: probabilities, one for each position.
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
# Answer aloud first. The section named at the end of each answer has the cell that shows it.
#
# <details><summary>What is the bottleneck of an encoder-decoder without attention?</summary>
#
# Everything the decoder gets from the input is one vector of fixed width, whatever the length of the input. The longer
# the text, the more the encoder has to pack into this vector, and the more gets lost. (<i>How much fits into one
# vector</i>)
# </details>
#
# <details><summary>Why not avoid the bottleneck by making the context vector wider?</summary>
#
# Width was not what was missing. In our experiment, twice the width raised the accuracy on 16 digits by 0.04, and three
# times as many training steps by 0.12: packing and unpacking have to be learned. Attention copied 0.87 of the digits
# with half the width and the same number of steps. (<i>How much fits into one vector</i>, <i>Where the weights come
# from</i>)
# </details>
#
# <details><summary>Why can recurrent networks find it hard to learn from the beginning of a long text?</summary>
#
# At each step back the gradient is multiplied by the Jacobian, the matrix of how h_t depends on h_{t−1}. If these
# factors shrink the gradient, it vanishes; if they stretch it, it explodes and has to be clipped (scaled down). An
# untrained GRU had less than 0.00001 left after 40 steps, and could not learn to name the first of 40 digits. (<i>Is
# the vanishing gradient to blame</i>)
# </details>
#
# <details><summary>Does the vanishing gradient explain the bottleneck?</summary>
#
# Not in our experiment. The trained GRU kept its gradient over 40 tokens and still copied only half of 16 digits, and
# opening the gates before training changed nothing. The vanishing gradient does matter where no short text teaches the
# gates: with texts of 40 digits only, the model learned nothing unless its gates were open from the start. (<i>Is the
# vanishing gradient to blame</i>)
# </details>
#
# <details><summary>How do the gates of a GRU or LSTM help against vanishing gradients?</summary>
#
# They make the update a sum: z · old + (1 − z) · new. Where the update gate z is near 1, the factor from the new
# state back to the old one is near 1 as well, and the gradient survives. At torch's initialization the gates are half
# open. Training on short texts can open them, or you can add a constant to their bias. (<i>Is the vanishing gradient to
# blame</i>: the trained GRU)
# </details>

# %% [markdown]
# <details><summary>Describe one decoder step with Bahdanau's attention.</summary>
#
# The state before the step scores each encoder state with a small network. Softmax turns the scores into weights. The
# weighted average of the encoder states is the context vector. With it and the last token, the decoder takes its step.
# (<i>Where the weights come from</i>)
# </details>
#
# <details><summary>How does Luong's attention differ?</summary>
#
# The state *after* the step scores. In its simplest form the score is a dot product, without parameters; in its general
# form a learned matrix comes in between. The context is combined with the state afterwards. (<i>★ Transfer</i>)
# </details>
#
# <details><summary>Why does attention help the gradient?</summary>
#
# Every state is one step away from the context vector: the gradient is multiplied by one weight (about 1/n in an
# untrained model), not by a factor for each step in between. (<i>The gradient with attention</i>)
# </details>
#
# <details><summary>Do attention weights show what the model uses?</summary>
#
# The weights show which states the model averages. Whether that matters is a question for an intervention: we exchanged
# the states of the month with those of another text, and the model wrote the other month. A state also carries what was
# read before it, so a weight at one token may stand for information from an earlier one. (<i>Does the decoder use what
# it looks at</i>)
# </details>
#
# <details><summary>Compare attention, recurrence and convolution.</summary>
#
# A recurrent layer such as a GRU needs n sequential steps, and information needs up to n steps to get from one token to
# another. A convolution runs in parallel, but connects only neighbors: the path grows like n/k layers, or log n with
# gaps (dilation). Attention needs one step and one layer, at the price of n² pairs. To generate, a recurrent network
# needs only its last state, of fixed size, while attention keeps all tokens. The three can be mixed: Xu et al. (2015,
# arXiv:1502.03044) describe pictures with a convolutional encoder, attention and a recurrent decoder. (<i>Who has to
# wait</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Bahdanau et al. (2014), [arXiv:1409.0473](https://arxiv.org/abs/1409.0473): figure 2 is our curve for real
#   sentences; figure 3 shows alignments.
# - Cho et al. (2014), [arXiv:1406.1078](https://arxiv.org/abs/1406.1078), the GRU and the single context vector, and
#   [arXiv:1409.1259](https://arxiv.org/abs/1409.1259), how it gets worse on long sentences. Sutskever et al. (2014),
#   [arXiv:1409.3215](https://arxiv.org/abs/1409.3215), sequence to sequence with deep LSTMs, which had no difficulty
#   with long sentences once the source was reversed.
# - Luong et al. (2015), [arXiv:1508.04025](https://arxiv.org/abs/1508.04025), the other order and three scores.
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

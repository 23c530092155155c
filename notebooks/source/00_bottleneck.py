# %% [markdown] id="title"
# # 00 · Before attention: the bottleneck
#
# **The question.** Suppose a program reads `3 mars 2021`, keeps only 64 numbers, and has to write `2021-03-03` from
# these numbers alone. Could that work, and for a whole page? If not, what else should the program keep? Today's
# language models are built on an answer from 2014.
#
# **Afterwards you can** explain how translation models worked before the Transformer, write one step of a recurrent
# network and the weighted average that is now called attention, and test a popular explanation instead of repeating it.
#
# Reading: 34 minutes. Exercises: 30 minutes (two core, one stretch ★). With all predictions, runs and questions:
# about 80 minutes.

# %% [markdown]
# Run every cell in order with **Shift+Enter**.

# %% id="imports"
import time
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
# of them. It never saw `3 mars 2021` in training.

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
# The translation is right, and the picture shows where the model looked. Each row is one character of the output. The
# bright cells in a row mark the input characters that the model attended to while it wrote that character. It took the
# year from the end of the input, the month from the end of `mars`, and the day from the beginning. No one labeled the
# month for the model: it learned this **alignment** from pairs of texts alone.
#
# In this lesson you write the score and the average behind this picture.

# %% [markdown]
# ## Before you start
#
# Three questions from the [primer](primer.ipynb). Answer each one aloud before you open it.
#
# <details><summary>An embedding has 12 vectors of width 8. What is its output for the ids 3, 3 and 0?</summary>
#
# A tensor of shape (3, 8). Its first two rows are equal, because the same id gives the same vector.
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
# One number for each entry of x: how fast the loss changes when that entry changes a little. If the gradient of an
# entry is 0, training leaves that entry as it is.
# </details>

# %% [markdown]
# ## Sequence to sequence
#
# One text goes in, and another comes out: a translation, a summary, an answer. Much of what people ask of a **large
# language model** (**LLM**) has this form. Input and output can have any length, so a layer of fixed size, such as
# `nn.Linear`, isn't enough. The solution from 2014 was a pair of networks, together called **sequence to sequence**, or
# seq2seq: an **encoder** reads the input (it **encodes**), and a **decoder** **generates** the output (it **decodes**).

# %% [markdown]
# ## The encoder: a recurrent neural network
#
# Each character is a token with an embedding, so a text is a list of vectors, $x_1$ to $x_n$. A **recurrent neural
# network** (RNN) reads them in order. Its memory is one vector, the **hidden state** $h$. The simplest RNN updates it
# like this:
#
# $$h_t = \tanh(W h_{t-1} + U x_t)$$
#
# $W$ and $U$ are learned, and they are the same at every step. (tanh squeezes every number into the range −1 to 1.) The
# state has the same width after 1,000 characters as after 11, so an RNN can read texts of any length.

# %% [markdown]
# **Exercise.** Write this step for a batch of texts. The strings in brackets are shapes: `"batch d"` is a tensor with
# two dimensions, and the same name always means the same size. Each *row* of `state` and `token` belongs to one text.
# `w` and `u` have the shape (outputs, inputs), as in `nn.Linear`.
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
# From here on, `parts.rnn_step` is your function once it passes the check. Until then, it is the library's.
#
# **Predict.** Two random texts of 100 characters differ only in the *first* character. An untrained RNN reads both. Are
# its last hidden states the `"same"` (to three digits), or `"different"`? (Replace the `...`. If you like, say how sure
# you are: `prediction = "same", "70 %"`.)

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
# This RNN soon forgets what it read first. A **GRU** (gated recurrent unit) can remember it. For each entry of the
# state, the GRU computes a number $z$ between 0 and 1, the **update gate**, from the state and the token:
#
# $$h_t = z \cdot h_{t-1} + (1 - z) \cdot \text{new}_t$$
#
# $\text{new}_t$ is computed much like the state of the simple RNN. Where $z$ is 1, the GRU keeps the old value; where
# $z$ is 0, it uses the new value. (The older **LSTM** has gates too.) `nn.GRU` reads a whole text and returns all its
# hidden states.
#
# **Predict.** Suppose $z$ is 0.9 at every step. What fraction of the original value is left after 100 characters:
# nearest to 0.9, 0.4 or 0?

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
# A linear layer, the *head*, turns $s_t$ and $c$ into a logit for each token, and the decoder generates the most likely
# token. A model that reads its own output in this way is called **autoregressive**. In the picture, find the one box
# that all information about the input has to pass through:

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
# We choose a task in which nothing can be guessed: copying random digits. In training and in our tests, we give the
# decoder the *correct* previous digit at every step, whatever it predicted. This is called **teacher forcing**.


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
# The folded cell contains the training loop. We ran it for 300 steps with vectors of width 32 and of width 64, three
# times each; the results are stored, so you don't have to wait for them.


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
# **Predict.** With *two* digits, the model of width 64 copies nearly all correctly. What fraction does it copy
# correctly with *sixteen*: 0.9, 0.5, or 0.1 (guessing)?

# %% tags=["prediction"]
prediction = ...

# %% id="stored-runs" tags=["hide-input"]
n_digits = [1, 2, 4, 6, 8, 10, 12, 14, 16]
card = read_json(FOLDER / "bottleneck-runs" / "accuracy.json")  # made by authoring/train_bottleneck_runs.py
right = {name: torch.tensor(runs) for name, runs in card["copying"].items()}  # (3, 9): a row for each run
compare(prediction, measured=right["one vector, width 64"][:, -1].mean(), choices=(0.9, 0.5, 0.1))
settings = [f"one vector, width {width}" for width in (32, 64)]
settings += [f"{name}, 900 steps" for name in settings]
ax = plots.lines(n_digits, {name: right[name] for name in settings}, xlabel="digits to copy", ylabel="accuracy")
pd.DataFrame({name: right[name].mean(dim=0).tolist() for name in settings}, index=n_digits).T.round(2)

# %% [markdown]
# The more digits, the lower the accuracy. Whatever the length of the input, everything has to pass through one vector.
# This is the **bottleneck**, the first weakness of recurrent translators. Is the vector too small? After 300 steps,
# twice the width raises the accuracy on 16 digits from 0.48 to 0.52, and three times the steps raise it to 0.56; both
# together give 0.64. Even 32 floats have room for 16 digits, but the encoder has to *learn* to pack them, and the
# decoder to unpack them. That takes many steps.

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
# position, the more the decoder **attends** to it. This mechanism is called **attention** (Bahdanau et al., 2014). The
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
# The context vector is no wider than before, but the decoder gets a *new context vector at each step*.

# %% [markdown]
# ## Where the weights come from: additive attention
#
# The decoder computes the weights itself. Its state before step $t$, $s_{t-1}$, can encode what it needs next. A small
# network compares this state with each encoder state $h$ and returns a single number, the **score**, which measures how
# well the two states match:
#
# $$\operatorname{score}(s, h) = w \cdot \tanh(W_s\, s + W_h\, h)$$
#
# $W_s$, $W_h$ and $w$ are learned with the rest of the model. Because $W_s\, s$ and $W_h\, h$ are added, this is called
# **additive attention**.

# %% id="to-score"
torch.manual_seed(0)
s = torch.randn(3)  # the decoder's state, of width 3
h = torch.randn(4, 3)  # four states of the encoder, one per row
w_s, w_h, w = torch.randn(5, 3), torch.randn(5, 3), torch.randn(5)  # the network, with a hidden width of 5

# %% [markdown]
# **Your turn.** Replace the `...` with an expression that scores all four states: a tensor of four numbers. Think about
# the shapes first: `h @ w_h.T` has the shape (4, 5), one row for each state. What do you add to every row? (Lesson 02
# returns to this score, with a check.)

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
# Softmax turns the scores into weights, and your function averages the states:

# %%
weights = torch.softmax(measured, dim=0)
print("weights:       ", [round(weight, 2) for weight in weights.tolist()])
print("context vector:", [round(x, 2) for x in parts.context_vector(weights[None], h[None])[0].tolist()])

# %% [markdown]
# The decoder then takes its step, $s_t = f(s_{t-1}, y_{t-1}, c_t)$. Here is the whole model with your function for the
# average. (`mask` is False at padding, which should get no weight.)


# %%
class Translator(AttentiveRecurrentTranslator):
    """The library's model, with your function for the weighted average."""

    def context(self, state: Tensor, states: Tensor, mask: Tensor) -> Tensor:
        # The states are passed twice, to be scored and to be averaged; we keep only the weights, (batch, 1, n).
        _, weights = self.attention(state[:, None], states, states, mask[:, None])
        return parts.context_vector(weights[:, 0], states)


# %% [markdown]
# We trained it on the same task at *half* the width, 32, and for the same number of steps, although this model has to
# learn the scoring network as well.
#
# **Predict.** What fraction of sixteen digits does it copy correctly: 0.9, 0.5 or 0.1?

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
# With half the width and less than a third of the parameters, attention copies 0.87 of sixteen digits; a single vector
# copies 0.52. At a third of the learning rate, the fractions are 0.69 and 0.50. Each context vector has to hold only
# what its own step needs. For the fifth digit, that is the states around the fifth position. What about texts longer
# than any in training?

# %% id="longer-texts" tags=["hide-input", "approximate"]
by_position = {}
with torch.no_grad():
    for n in (16, 20, 30):
        digits = torch.randint(1, 11, (500, n))
        copied = (attentive(digits, before(digits)).argmax(dim=-1) == digits).float().mean(dim=0)  # (n,)
        at = {f"digit {i}": copied[i - 1].item() for i in (1, 4, 8, 12)}
        by_position[f"{n} digits"] = {"all digits": copied.mean().item(), **at}
pd.DataFrame(by_position).T.round(2)

# %% [markdown]
# The model was trained on at most 16 digits. In longer texts, it copies the first digits as well as before, but it even
# loses digit 12, although it learned to find that one: 0.43 in texts of 30 digits instead of 0.74.

# %% [markdown]
# ## Does the decoder use what it looks at?
#
# Let's go back to the picture at the top. We load the parameters of that translator into a model with *your* function
# and test it on held-out dates. At **inference**, when a trained model is used, the correct tokens are not known, so
# the decoder reads its own output.

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
# But does the model really take the month from there? We test this by exchanging hidden states. The encoder reads both
# `3 mars 2021` and `3 juin 2021`. At the month and the space after it, we replace the first text's hidden states with
# the second text's. All other states stay as they are, including the last one, which the decoder starts from.
#
# **Predict.** What does the decoder write?

# %% tags=["prediction"]
prediction = ...  # such as "2021-03-03"

# %%
word = slice(2, 7)  # where mars or juin is, with the space after it
compare(prediction, measured=translate(translator, ["3 mars 2021"], ("3 juin 2021",), word)[0])

# %% id="exchanged" tags=["hide-input", "approximate"]
of_month, exchanged = {"mars": "03", "juin": "06", "août": "08"}, {}
places = {"all five states": word, "the three dark ones": slice(2, 5), "the two bright ones": slice(5, 7)}
days_and_years = [(day, year) for day in range(1, 10) for year in range(1970, 2070)]
for a, b in [("mars", "juin"), ("juin", "août"), ("août", "mars")]:
    texts_a, texts_b = ([f"{day} {month} {year}" for day, year in days_and_years] for month in (a, b))
    wanted = [f"{year}-{of_month[b]}-{day:02}" for day, year in days_and_years]
    results = {name: translate(translator, texts_a, tuple(texts_b), place) for name, place in places.items()}
    only_month = {name: sum(map(str.__eq__, found, wanted)) / len(wanted) for name, found in results.items()}
    exchanged[f"{a} → {b}"] = {name: f"{fraction:.0%}" for name, fraction in only_month.items()}
print(f"of {len(days_and_years)} dates, how many change in the month and nowhere else:")
pd.DataFrame.from_dict(exchanged, orient="index")

# %% [markdown]
# Only the month changes. The picture even shows *which* states matter: exchange the two bright ones, and the month
# follows; exchange the three dark ones, and it doesn't. (You can't rely on the weights alone, because a hidden state
# also carries information from earlier characters.)

# %% [markdown]
# ## Bug hunt
#
# A colleague sends you this version. She has tested it: "Each one-hot row of weights returns the matching state, as it
# should." Read it and decide which line is wrong *before* you run the check. Then put a corrected version, `mended`,
# into the cell after it.


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
# cell below runs both tests. Each step of the loop scales down the average so far, so early states lose weight to later
# states.
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
# passes through every hidden state, and at each state it is multiplied by how strongly that state depends on the state
# before. `gradient_reaching` (folded) measures how much of the gradient arrives.
#
# **Predict.** In an untrained GRU, the gradient at the *last* of 40 vectors has size 2. How large is it at the first
# vector: about 0.5, about 0.01, or 0 (less than 0.00001)?

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
# Almost no gradient is left to learn from. This is a **vanishing gradient**. Factors above 1 would give an **exploding
# gradient** instead. The vanishing gradient looks like the culprit, but so far we have only looked at a network
# *before* training. Compare it with the GRU that was trained to copy, and with simple RNNs whose $W$ is small or large.


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
# The last row is the model that copies only half of 16 digits, yet its gradient hardly shrinks at all over 40 tokens!
# It has *learned* to keep its state, with gates near 1:


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
# So vanishing gradients may explain why training starts slowly, but not why it ends with only half of the digits right.
# Did the slow start matter? To find out, we open the gates *before* training: we add 4 to the bias of $z$, so that $z$
# starts near 0.98.

# %%
torch.manual_seed(0)
opened = RecurrentTranslator(11, 11, 64)
with torch.no_grad():
    opened.encoder.bias_hh_l0[64:128] += 4
print(f"gradient at the first of 40: {at_the_first:.0e}; with open gates: {gradient_reaching(opened, 0, 40):.0e}")

# %% [markdown]
# **Predict.** The gradient is now ten million times as large. We train as before. What fraction of 16 digits does this
# model copy: about 0.5 (as before), about 0.7, or about 0.9?

# %% tags=["prediction"]
prediction = ...

# %% id="gates-opened" tags=["hide-input"]
settings = ["one vector, width 64", "one vector, width 64, open gates"]
compare(prediction, measured=right[settings[1]][:, -1].mean(), choices=(0.5, 0.7, 0.9))
settings += [f"{name}, {other}" for other in ("a third of the rate", "only 16 digits") for name in settings]
pd.DataFrame({name: right[name][:, -1].tolist() for name in settings}, index=["seed 0", "seed 1", "seed 2"]).T.round(2)

# %% [markdown]
# Opening the gates does not help: not at either learning rate, and not if all texts in training have 16 digits. So the
# vanishing gradient is real, but it is *not* the reason packing is hard. Then when does it matter? Take a task with
# nothing to pack: read 40 digits, and name only the *first*. We train one model as it is and one with open gates. The
# third model also starts as it is, but trains on texts of 1 to 40 digits.
#
# **Predict.** After 150 steps at a rate of 0.008, which of the three do better than guessing (0.1)? Replace each `...`
# with True or False.

# %% tags=["prediction"]
as_it_is, with_open_gates, with_short_texts = ..., ..., ...

# %% id="first-digit" tags=["hide-input"]
first_digit = {(run["task"], run["steps"], str(run["lr"])): run["accuracy"] for run in card["remembering"]}
tasks, setting = ["40 digits", "40 digits, open gates", "1 to 40 digits"], (150, "0.008")
better = [min(first_digit[task, *setting]) > 0.2 for task in tasks]
compare(as_it_is, measured=better[0])
compare(with_open_gates, measured=better[1])
compare(with_short_texts, measured=better[2])
three_runs = pd.Series({key: ", ".join(f"{run:.2f}" for run in runs) for key, runs in first_digit.items()})
three_runs = three_runs.rename_axis(["trained on", "steps", "rate"]).unstack(["steps", "rate"], sort=False)
three_runs.loc[[*tasks, "80 digits"]]

# %% [markdown]
# *Here* the vanishing gradient does harm: within 150 steps at a rate of 0.008, the model learns nothing from texts of
# 40 digits unless its gates are open from the start. But that is a *delay*: with three times the steps or three times
# the rate, it learns without any help. (For 80 digits, three times the steps are not enough.) The third model is not
# delayed: in texts of a few digits, enough gradient arrives to teach the gates to stay open, and open gates then carry
# the gradient through long texts. So whether a vanishing gradient does harm depends on the initialization, the lengths
# of the training texts and how long you train.

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
print(
    "accuracy after 150 steps:", {task: three_runs.loc[task, setting] for task in ("40 digits", "40 digits, attention")}
)
pd.DataFrame(gradients, index=positions).T.map(lambda size: f"{size:.0e}")

# %% [markdown]
# From 10 to 20 tokens, the gradient shrinks about a hundredfold with a single vector, but only twofold with attention.
# All n states have about the same weight, $1/n$, and each is one step away from the context vector. So with attention,
# training starts well even if the gates are not open: within 150 steps, all three runs learn the first of 40 digits.

# %%
diagrams.recurrent.gradient_paths()

# %% [markdown]
# ## ★ Transfer: Luong's attention
#
# Luong et al. (2015) reversed the order. The decoder takes its step first, without a new context vector. The score of
# $h_i$ is simply its dot product with the *new* state $s_t$. The context vector is then combined with that state:
#
# $$a_t = \operatorname{softmax}[s_t \cdot h_1, \dots, s_t \cdot h_n], \quad c_t = \sum_i a_{ti} h_i, \quad
# \tilde{s}_t = \tanh(W_c\,[c_t; s_t])$$
#
# $[c_t; s_t]$ is the concatenation (`torch.cat`) of the context vector and the state, in that order. $W_c$ has the
# shape (outputs, inputs), and there is no bias. Write this step from scratch, for a batch.


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
# A dot product compares the two states directly. Luong's **general score** $s^\top W h$ puts a learned matrix between
# them.

# %% [markdown]
# ## Who has to wait?
#
# Computing $h_3$ requires $h_2$, which requires $h_1$. So a thousand tokens take a thousand steps, even on parallel
# hardware. This is the second weakness of recurrent networks. Weighted averages don't depend on each other, so
# attention can compute all n averages at once (lesson 01). A **convolution**, which computes each position from its
# neighbors only, also runs in parallel. An assumption that is built into a model, such as "only neighbors matter", is
# called an **inductive bias**.

# %% [markdown]
# This table is adapted from Table 1 of the Transformer paper, for n tokens of width d. The **path length** is the
# number of steps from one token to another. The folded cell times a forward and backward pass with d = 64, on one
# core. (This attention has no parameters yet; a real layer adds a few matrix products.)
#
# | layer | operations | sequential steps | longest path |
# |---|---|---|---|
# | attention | n² · d | 1 | 1 |
# | GRU | n · d² | n | n |
# | convolution, kernel k = 3 | k · n · d² | 1 | 2 (n − 1) / (k − 1) layers |

# %% id="layer-times" tags=["hide-input", "words-only"]
gru, convolution = nn.GRU(64, 64, batch_first=True), nn.Conv1d(64, 64, kernel_size=3, padding=1)
layers = {
    "attention": lambda x: torch.softmax(x @ x.mT / 8, dim=-1) @ x,
    "GRU": lambda x: gru(x)[0],
    "convolution": lambda x: convolution(x.mT),
}


def milliseconds(layer, n_texts: int, n: int) -> float:
    """Return the CPU time of a forward and backward pass, averaged over six; a first one is not counted."""
    x = torch.randn(n_texts, n, 64, requires_grad=True)
    layer(x).sum().backward()
    start = time.process_time()
    for _ in range(6):
        layer(x).sum().backward()
    return round(1000 * (time.process_time() - start) / 6, 1)


sizes = {"1 text of 256": (1, 256), "1 text of 1,024": (1, 1024), "16 texts of 1,024": (16, 1024)}
rows = {name: {size: milliseconds(layer, *shape) for size, shape in sizes.items()} for name, layer in layers.items()}
print("milliseconds")
pd.DataFrame.from_dict(rows, orient="index")

# %% [markdown]
# At 256 tokens, the GRU is the slowest, even on one core, because many small matrix products cost more than a few large
# ones. Four times the length means four times the work for the GRU, but sixteen times for attention. And with 16 texts
# at once, each step of the GRU is one larger product, so attention is now the slowest. (A recurrence can run in
# parallel if it is linear, without a tanh or gates that depend on the state. Lesson 02 has an example.)

# %% [markdown]
# Our translator still has two recurrent networks. Why keep them, if attention reaches every position in one step? In
# 2017, *Attention Is All You Need* left them out, and the result is the **Transformer**. You build it piece by piece in
# lessons 01 to 08.

# %% [markdown]
# ## Your experiment
#
# Ungraded, about 20 minutes. Test a claim of your own the way this lesson tests its claims, or start with this one:
#
# **Claim.** With one vector of width 32, the model copies more of sixteen digits if the encoder reads them from last to
# first. (Sutskever et al., 2014, reversed the source sentences and got better translations.)
#
# **Prediction.** Before you run anything, write down in how many of three runs the claim will hold.
#
# **Verdict.** Say in one sentence what the runs show. Then change the learning rate or the number of steps: is your
# sentence still true? A claim that fails is a result, too.

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
# - An RNN keeps what it has read in one hidden state of fixed width. Learning to pack long texts into it takes many
#   steps. This is the bottleneck.
# - Attention keeps all states. At each step, it scores them against the decoder's *previous* state. Softmax turns these
#   scores into weights; the context vector is the weighted average.
# - The weights show where the decoder looks; exchanging states shows whether that matters.
# - An RNN's gradient may vanish or explode. Short texts can teach the gates to open. In our experiments, vanishing
#   delayed learning, but was not why packing was hard.
# - With attention, every state is one step away from the context vector.
# - Recurrent steps run one after another; attention runs in parallel, at the cost of n² scores.

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
# [Lesson 01](01_lookup.ipynb) introduces the names for the parts of attention. The decoder's state, which the encoder's
# states are compared with, is the *query*. The encoder's states are the *keys* when they are scored, and the *values*
# when they are averaged.

# %% [markdown]
# ## New words
#
# The [glossary](glossary.ipynb) lists the terms from all lessons.
#
# - **Transformer**: a model from 2017 that is built from attention, without recurrent layers.
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
# - **context vector**: the vector that carries information about the input to the decoder: the encoder's last state or,
#   with attention, a weighted average of all its states.
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
# - **score**: a number that measures how well two vectors match; softmax turns scores into weights.
# - **additive attention**: attention whose score is w · tanh(W_s s + W_h h), a small network that adds the two
#   projected vectors.
# - **inference**: using a trained model, as opposed to training it.
# - **bidirectional**: reading in both directions, so that each state depends on what comes before and after it.
# - **alignment**: which input position belongs to which output position; attention weights show it.
# - **convolution**: a layer that computes each position from its neighbors, with the same weights at every position.
# - **inductive bias**: an assumption that is built into a model before it has seen any data.
# - **path length**: the number of steps or layers that information passes through between two positions in a network.
# - **general score**: Luong's score with a learned matrix between the two vectors, sᵀ W h.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first. The section named at the end of each answer has the cell that shows it.
#
# <details><summary>What is the bottleneck of an encoder-decoder without attention?</summary>
#
# All that the decoder gets from the input is one vector of fixed width, however long the input is. The longer the text,
# the more the encoder has to pack into this vector, and the more gets lost. (<i>How much fits into one vector</i>)
# </details>
#
# <details><summary>Why not avoid the bottleneck by making the context vector wider?</summary>
#
# A wider vector helps, but less than attention. In our experiment, doubling the width raised the accuracy on 16 digits
# by 0.04 after 300 steps and by 0.08 after 900; training three times as long raised it by 0.08 at width 32 and by 0.12
# at width 64: packing and unpacking have to be learned. Attention copied 0.87 of the digits with half the width in 300
# steps. (<i>How much fits into one vector</i>, <i>Where the weights come from</i>)
# </details>
#
# <details><summary>Why can recurrent networks find it hard to learn from the beginning of a long text?</summary>
#
# At each step back, the gradient is multiplied by the Jacobian, the matrix of derivatives of h_t with respect to
# h_{t−1}. If these factors shrink the gradient, it vanishes; if they stretch it, it explodes and has to be clipped
# (scaled down). In an untrained GRU, the gradient was below 0.00001 after 40 steps, and the model learned to name the
# first of 40 digits in 450 training steps, but not in 150. (<i>Is the vanishing gradient to blame</i>)
# </details>
#
# <details><summary>Does the vanishing gradient explain the bottleneck?</summary>
#
# Not in our experiment. The trained GRU kept its gradient over 40 tokens and still copied only half of 16 digits, and
# opening the gates before training did not help. The vanishing gradient does matter when no short texts teach the gates
# to stay open: with texts of 40 digits only, the model learned nothing in 150 steps unless its gates were open from the
# start. But this was a delay: with three times the steps or three times the learning rate, it learned as it was.
# (<i>Is the vanishing gradient to blame</i>)
# </details>
#
# <details><summary>How do the gates of a GRU or LSTM help against vanishing gradients?</summary>
#
# They make the update a sum: z · old + (1 − z) · new. Where the update gate z is near 1, the factor from the new state
# back to the old one is near 1 as well, and the gradient survives. PyTorch's default initialization leaves the gates
# half open. Training on short texts can open them, or you can add a constant to their bias. (<i>Is the vanishing
# gradient to blame</i>: the trained GRU)
# </details>

# %% [markdown]
# <details><summary>Describe one decoder step with Bahdanau's attention.</summary>
#
# A small network scores each encoder state against the decoder's state before the step. Softmax turns the scores into
# weights. The weighted average of the encoder states is the context vector. The decoder then takes its step with the
# context vector and the last token. (<i>Where the weights come from</i>)
# </details>
#
# <details><summary>How does Luong's attention differ?</summary>
#
# The decoder takes its step first, and the encoder states are scored against the *new* state. In its simplest form, the
# score is a dot product without parameters; in its general form, there is a learned matrix between the two states. The
# context vector is combined with the new state afterwards. (<i>★ Transfer</i>)
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
# The weights show which states the model averages. To find out whether that matters, you need an intervention: we
# replaced the states at the month with states from another text, and the model wrote the other month. A state also
# carries what was read before it, so a weight at one token may reflect information from an earlier token. (<i>Does the
# decoder use what it looks at</i>)
# </details>
#
# <details><summary>Compare attention, recurrence and convolution.</summary>
#
# A recurrent layer such as a GRU needs n sequential steps, and information needs up to n steps to get from one token to
# another. A convolution runs in parallel, but connects only neighbors: the path grows like n/k layers, or log n with
# gaps (dilation). Attention needs one step and one layer, at the cost of n² scores. During generation, a recurrent
# network needs only its last state, which has a fixed size, while attention keeps the states of all tokens. The three
# can be combined: Xu et al. (2015, arXiv:1502.03044) caption images with a convolutional encoder, attention and a
# recurrent decoder. (<i>Who has to wait</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Bahdanau et al. (2014), [arXiv:1409.0473](https://arxiv.org/abs/1409.0473): figure 2 shows our curve for real
#   sentences; figure 3 shows alignments.
# - Cho et al. (2014) introduced the GRU and the single context vector
#   ([arXiv:1406.1078](https://arxiv.org/abs/1406.1078)) and showed that translations get worse on long sentences
#   ([arXiv:1409.1259](https://arxiv.org/abs/1409.1259)). Sutskever et al. (2014),
#   [arXiv:1409.3215](https://arxiv.org/abs/1409.3215), used sequence to sequence with deep LSTMs, which had no
#   difficulty with long sentences once the source was reversed.
# - Luong et al. (2015), [arXiv:1508.04025](https://arxiv.org/abs/1508.04025), proposed the reversed order and three
#   kinds of score.
# - Vaswani et al. (2017), [arXiv:1706.03762](https://arxiv.org/abs/1706.03762), section 4: the table that we adapted.
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

# %% [markdown] id="title"
# # 07 · The decoder: writing what was read
#
# **The question.** An encoder has read `3 mars 2021`. What does it take to write `2021-03-03`, one character after
# another, and to learn that from finished translations?
#
# **Afterwards you can** write a decoder layer and a stack of them, say which attention looks where and under which
# mask, feed a decoder while it learns, and test a model for two slips that its loss does not show.
#
# Reading: 38 minutes. Exercises: 50 minutes (three core, one stretch ★).

# %% [markdown]
# ## Before you start
#
# Three questions from earlier lessons. Answer each one aloud, then open it.
#
# <details><summary>Lesson 03: 8 queries attend to 11 keys and 11 values. How many vectors come out?</summary>
#
# 8: one for each query.
# </details>
#
# <details><summary>Lesson 04: what does a leak test do, and what must not happen?</summary>
#
# It changes a later token. No earlier output may move.
# </details>
#
# <details><summary>Lesson 06: how does a post-norm layer put a sublayer in?</summary>
#
# norm(x + sublayer(x)): what the sublayer found is added, and the sum is normed.
# </details>

# %% id="imports"
import math
from datetime import date, timedelta

import matplotlib.pyplot as plt
import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_lab import initialise, plots, record_attention, trace_shapes
from transformer_lab.course import check, compare, hint, parts, solution

# %%
torch.manual_seed(7)
torch.set_printoptions(precision=2, sci_mode=False)

# %% [markdown]
# ## Two texts, two attentions
#
# A decoder that has written `2021-0` has two questions. *What have I written?* The answer is in its own text. *What
# does the source say?* The answer is in what the encoder made of it: one vector for each source token, called the
# **memory**. So a decoder layer has two attentions, and then a feed-forward network:
#
# | sublayer | queries | keys and values |
# |---|---|---|
# | self-attention | what was written | what was written |
# | cross-attention | what was written | the memory |
# | feed-forward | | |

# %% [markdown]
# Only the first two rows are about looking. In the second, the two texts meet: each written position asks, and the
# source answers. As a formula, with $M$ for the memory:
#
# $$x \leftarrow \operatorname{LN}(x + \operatorname{SelfAttention}(x, x, x))$$
#
# $$x \leftarrow \operatorname{LN}(x + \operatorname{CrossAttention}(x, M, M))$$
#
# $$x \leftarrow \operatorname{LN}(x + \operatorname{FFN}(x))$$
#
# Here $x$ is (n, d_model), a row for each written token, and $M$ is (n_source, d_model). LN is layer norm, and the
# arguments of each attention are query, key, value. The two lengths have nothing to do with each other.
#
# **Exercise.** Write `forward`; `mask` is for the first attention, `memory_mask` for the second. The parts made in
# `__init__` are yours where they have passed.


# %% id="DecoderLayer" tags=["exercise"]
class DecoderLayer(nn.Module):
    """Look back at what was written, across at what was read, then compute; add and norm after each (post-norm)."""

    def __init__(self, d_model: int, n_heads: int, d_ff: int) -> None:
        super().__init__()
        self.self_attention = parts.MultiHeadAttention(d_model, n_heads)
        self.cross_attention = parts.MultiHeadAttention(d_model, n_heads)
        self.feed_forward = parts.FeedForward(d_model, d_ff)
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.norm_3 = nn.LayerNorm(d_model)

    def forward(
        self,
        x: Float[Tensor, "batch n d_model"],
        memory: Float[Tensor, "batch n_source d_model"],
        mask: Bool[Tensor, "*#batch #n #n"] | None = None,
        memory_mask: Bool[Tensor, "*#batch #n #n_source"] | None = None,
    ) -> Float[Tensor, "batch n d_model"]:
        raise NotImplementedError


# %% id="check-DecoderLayer"
check(DecoderLayer)

# %% [markdown]
# Now try it: the 11 characters of `3 mars 2021` as a memory, and the seven tokens `<bos> 2 0 2 1 - 0` written so far,
# for now with random vectors. (`<bos>` says *begin*, as in lesson 04.) The first attention gets a causal mask, the
# second none. We follow the gradient: which inputs move which outputs? In the picture, those that do are bright.
#
# **Predict.** How many of the 7 written tokens, and how many of the 11 source characters, move the *first* output?

# %% tags=["prediction"]
prediction_written, prediction_source = ..., ...

# %%
letters = ["_" if letter == " " else letter for letter in "3 mars 2021"]
tokens = ["<bos>", *"2021-0"]
layer, causal = parts.DecoderLayer(32, 4, 128), parts.causal_mask(7)
x, memory = torch.randn(1, 7, 32, requires_grad=True), torch.randn(1, 11, 32, requires_grad=True)
# one number for each position; a plain sum would not do, as a new LayerNorm always makes it 0
outputs = (layer(x, memory, causal)[0] * torch.randn(32)).sum(dim=-1)
gradients = [torch.autograd.grad(output, (x, memory), retain_graph=True) for output in outputs]
moves = [torch.stack([g[i][0].norm(dim=-1) for g in gradients]) > 0 for i in (0, 1)]
compare(prediction_written, measured=int(moves[0][0].sum()))
compare(prediction_source, measured=int(moves[1][0].sum()))
_, axes = plt.subplots(1, 2, figsize=(11, 3.4), layout="constrained")
for ax, table, names in zip(axes, moves, (tokens, letters)):
    plots.mask(table, tokens, names, ax, says=("does not move it", "moves it")).set(xlabel="input", ylabel="output")

# %% [markdown]
# It writes one character after another, but the source was all there before it began: nothing of it is future. So
# **cross-attention has no causal mask**. What it does need is to leave out the padding of the source:

# %%
longer = torch.cat([memory, torch.randn(1, 3, 32)], dim=1)  # three more vectors, of <pad>
memory_mask = parts.padding_mask(torch.tensor([[5] * 11 + [0] * 3]), pad_id=0)
without, masked = layer(x, longer, causal), layer(x, longer, causal, memory_mask)
print("memory_mask", tuple(memory_mask.shape))
print("the output is as before without it:", torch.allclose(without, layer(x, memory, causal), atol=1e-5))
print("                          with it: ", torch.allclose(masked, layer(x, memory, causal), atol=1e-5))

# %% [markdown]
# ## A stack that reads one memory
#
# A decoder begins as the encoder did: embeddings times √d_model, plus positions. Then come the layers. And each of
# them reads **the same memory**: what the *last* layer of the encoder gave. Whatever the number of layers, the encoder
# hands over one table.
#
# **Exercise.** Write its `forward`.


# %% id="Decoder" tags=["exercise"]
class Decoder(nn.Module):
    """Embed tokens, add their positions, and pass them through layers that all read the same memory."""

    positions: Tensor

    def __init__(self, vocab_size: int, d_model: int, n_heads: int, d_ff: int, n_layers: int, max_length: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.register_buffer("positions", parts.sinusoidal_encoding(max_length, d_model), persistent=False)
        self.layers = nn.ModuleList(parts.DecoderLayer(d_model, n_heads, d_ff) for _ in range(n_layers))

    def forward(
        self,
        tokens: Int[Tensor, "batch n"],
        memory: Float[Tensor, "batch n_source d_model"],
        mask: Bool[Tensor, "*#batch #n #n"] | None = None,
        memory_mask: Bool[Tensor, "*#batch #n #n_source"] | None = None,
    ) -> Float[Tensor, "batch n d_model"]:
        raise NotImplementedError


# %% id="check-Decoder"
check(Decoder)

# %% [markdown]
# With an encoder before it and a linear layer behind it, which scores the vocabulary, it is a whole **encoder-decoder**
# model, the Transformer of the paper. (Lesson 08 builds it with care.)

# %%
PAD, BOS, EOS = 0, 1, 2


class Translator(nn.Module):
    """Say after each written token which comes next, having read the source."""

    def __init__(self, n_layers: int = 1) -> None:
        super().__init__()
        self.encoder = parts.Encoder(len(alphabet), 32, 4, 128, n_layers, 40)
        self.decoder = parts.Decoder(len(alphabet), 32, 4, 128, n_layers, 40)
        self.output = nn.Linear(32, len(alphabet))
        initialise(self)  # as in lesson 06

    def forward(self, source: Tensor, written: Tensor) -> Tensor:
        seen = parts.padding_mask(source, PAD)
        memory = self.encoder(source, seen)
        return self.output(self.decoder(written, memory, parts.decoder_mask(written, PAD), seen))


# %% [markdown]
# The texts: all days of a hundred years, in French and in ISO 8601. Nine of ten are to learn from; every tenth is kept
# back.

# %%
months = ["janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août"]
months += ["septembre", "octobre", "novembre", "décembre"]
days = [date(1950, 1, 1) + timedelta(i) for i in range(36525)]
french = [f"{day.day} {months[day.month - 1]} {day.year}" for day in days]
alphabet = ["<pad>", "<bos>", "<eos>", *sorted(set("".join(french) + "-/"))]  # the slash is for later


def as_tokens(texts: list[str], length: int) -> Tensor:
    rows = [[alphabet.index(letter) for letter in text] for text in texts]
    return torch.tensor([(row + [EOS] + [PAD] * length)[:length] for row in rows])


sources = as_tokens(french, 18)
targets = as_tokens([day.isoformat() for day in days], 11)
kept_back = torch.arange(len(days)) % 10 == 0
print(f"{french[0]!r} → {days[0]}, {french[-1]!r} → {days[-1]}; {len(alphabet)} tokens")

# %% [markdown]
# ## What is it fed while it learns?
#
# When it *writes*, a model reads what it has written itself. While it *learns*, it would write nonsense at first, and
# then learn to go on from nonsense. So it is fed the right answer instead, as if it had written it: **teacher
# forcing**. And as a causal mask is on duty, all positions learn in one run.
#
# What should each position read? When it is to say the first character, nothing has been written: it reads `<bos>`.
# When it is to say the second, it reads the first. The input is the answer, **shifted right** by one:

# %%
answer = [*"2021-03-03", "<eos>"]
pd.DataFrame([["<bos>", *answer[:-1]], answer], index=["is fed", "should say"])

# %% [markdown]
# What it should say are the **labels**; `<eos>`, *end*, is one of them.
#
# **Exercise.** Make the row *is fed* from the row *should say*, for a batch of texts. Only the last token of
# each row is dropped: in a text that is padded, that is padding, and `<eos>` stays. `torch.cat([a, b], dim=1)` puts two
# tables side by side, and `torch.full((4, 1), 7)` is a column of four sevens.


# %% id="shift_right" tags=["exercise"]
def shift_right(tokens: Int[Tensor, "batch n"], bos_id: int) -> Int[Tensor, "batch n"]:
    """Put ``bos_id`` in front of every row and drop its last token: the decoder's input, made from its labels."""
    raise NotImplementedError


# %% id="check-shift_right"
check(shift_right)

# %% [markdown]
# Two ways to use a model: `fed` says how often the next token is right when the right ones were fed; `write` lets it
# write by itself (all our dates have eleven tokens; in general one stops at `<eos>`), and `exact` says how often such a
# date is right as a whole. The cell after that is an ordinary training loop; you can go on without reading it.


# %%
@torch.no_grad()
def fed(model: nn.Module, source: Tensor, labels: Tensor) -> float:
    said = model(source, parts.shift_right(labels, BOS)).argmax(dim=-1)
    return (said == labels).float().mean().item()


@torch.no_grad()
def write(model: nn.Module, source: Tensor, draw: bool = False) -> Tensor:
    """Begin with bos; add the likeliest token, or one drawn, eleven times."""
    written = torch.full((len(source), 1), BOS)
    for _ in range(11):
        scores = model(source, written)[:, -1]
        new = torch.softmax(scores, dim=-1).multinomial(1) if draw else scores.argmax(dim=-1, keepdim=True)
        written = torch.cat([written, new], dim=1)
    return written[:, 1:]


def exact(written: Tensor, labels: Tensor) -> float:
    return (written == labels).all(dim=-1).float().mean().item()


# %%
def train(model: nn.Module, shift: bool = True, steps: int = 400, labels: tuple[Tensor, ...] = (targets,)) -> dict:
    """Learn from the days that are not kept back; every 50 steps, look at 102 of those that are."""
    torch.manual_seed(0)
    source, answers = sources[~kept_back], torch.stack(labels)[:, ~kept_back]
    optimizer = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=steps)  # warm up, then cool down
    seen = {"fed": [], "by itself": []}
    for step in range(steps):
        some = torch.randint(len(source), (32,))
        label = answers[torch.randint(len(labels), (32,)), some]
        scores = model(source[some], parts.shift_right(label, BOS) if shift else label)
        loss = F.cross_entropy(scores.flatten(0, 1), label.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 50 == 49:
            seen["fed"].append(fed(model, new_sources, new_targets))
            seen["by itself"].append(exact(write(model, new_sources), new_targets))
    return seen


new_sources, new_targets = sources[kept_back][::36], targets[kept_back][::36]

# %% [markdown]
# **Predict.** After 400 steps, which share of the dates that it has never seen does it write without an error?

# %% tags=["prediction"]
prediction = ...

# %%
translator = Translator()
curves = train(translator)
compare(prediction, measured=round(curves["by itself"][-1], 1))

# %% [markdown]
# And on the way there? After 100 steps, about 9 of 10 tokens were right when the right ones were fed.
#
# **Predict.** Which share of the dates did the model then write without an error?

# %% tags=["prediction"]
prediction = ...

# %% tags=["nbval-ignore-output"]
per_token, whole = curves["fed"][1], curves["by itself"][1]
compare(prediction, measured=round(whole, 2))
print(f"right of 11 tokens, each fed with the right ones: {per_token:.2f}")
print(f"were the errors independent, whole dates: {per_token:.2f} to the power of 11 = {per_token**11:.2f}")
ax = plots.lines(range(50, 401, 50), curves, xlabel="step", ylabel="share that is right")

# %% [markdown]
# In the middle the two curves are far apart. A date is right if eleven tokens in a row are. So a share per token says
# little about whole texts. (What goes wrong *after* an error, as the model goes on from it, does not widen the gap:
# that date is lost already.) There is another reason to let a model write; it comes below.

# %% [markdown]
# ## Where does it look?
#
# Cross-attention leaves a trace: for each character written, its weights over the source, an **alignment** as in lesson
# 00.
#
# **Predict.** At the two steps that write the month, `03`, at which part of `3 mars 2021` does the model look most:
# the `"day"`, the `"month"` or the `"year"`?

# %% tags=["prediction"]
prediction = ...

# %%
one = as_tokens(["3 mars 2021"], 12)
with record_attention(translator) as recorded:
    translator(one, parts.shift_right(as_tokens(["2021-03-03"], 11), BOS))
[name] = [name for name in recorded if "cross_attention" in name]
weights = recorded[name][0].mean(dim=0)  # the mean of the four heads: (11, 12)
of_parts = {"day": slice(0, 1), "month": slice(2, 6), "year": slice(7, 11)}
looks = {part: weights[5:7, where].sum(dim=-1).mean().item() for part, where in of_parts.items()}
compare(prediction, measured=max(looks, key=looks.get))
ax = plots.weights(weights, queries=[*"2021-03-03", "end"], keys=[*letters, "end"])
print("more than half of the weight is on it:", max(looks.values()) > 0.5)

# %% [markdown]
# Rows are named by what is written there. Nobody told the model where to look. The digits of the year look at the year,
# those of the month at the month, in the run that is shown mostly at the `rs` with which no other month ends. Other
# rows are less tidy. Every date has hyphens there, so nothing has to be looked up; and the `0` of the day has to find
# out whether there is a second digit. (A weight says where the model looked, not why. And what lies there is the
# encoder's vector, which has itself gathered from other places.)

# %% [markdown]
# ## Two slips
#
# Both are easily made. In the first, the labels are not shifted: the decoder is fed what it should say. In the second,
# the encoder is fed the wrong text. Whoever copies `encoder(tokens)` and `decoder(tokens, memory)` from a model with
# one input may write this:


# %%
class TargetInBoth(Translator):
    def forward(self, source: Tensor, written: Tensor) -> Tensor:
        return super().forward(written, written)


# %% [markdown]
# Its decoder has a proper causal mask.
#
# **Predict.** Trained with half as many steps: which share of tokens does this model get right when it is *fed*,
# and which share of dates does it write *by itself*?

# %% tags=["prediction"]
prediction_fed, prediction_by_itself = ..., ...

# %% tags=["nbval-ignore-output"]
in_both, unshifted = TargetInBoth(), Translator()
seen = {"as it should be": curves}
seen["target in both"] = train(in_both, steps=200)
seen["not shifted"] = train(unshifted, shift=False, steps=200)
compare(prediction_fed, measured=round(seen["target in both"]["fed"][-1], 2))
compare(prediction_by_itself, measured=round(seen["target in both"]["by itself"][-1], 1))

# %% tags=["nbval-ignore-output"]
rows = {name: {how: run[how][-1] for how in run} for name, run in seen.items()}
with torch.no_grad():  # the same question, put as the model was trained
    said = unshifted(new_sources, new_targets).argmax(dim=-1)
rows["not shifted"]["fed"] = (said == new_targets).float().mean().item()
table = pd.DataFrame(rows).T.rename(columns={"fed": "tokens right, fed", "by itself": "dates right, by itself"})
for name, model in {"target in both": in_both, "not shifted": unshifted}.items():
    print(f"{name:15} writes", "".join(alphabet[i] for i in write(model, one)[0].tolist()))
table.insert(0, "steps", [400, 200, 200])
table.round(2)

# %% [markdown]
# Fed as in training, both look perfect, or nearly so, on dates that they have never seen. By itself, neither writes
# one. What goes wrong?
#
# - *Not shifted*: each position finds its answer in its own input. It learns to repeat.
# - *Target in both*: the causal mask is in the decoder; but the encoder has none, and it read the answer. So the memory
#   holds what comes next, and cross-attention hands it over. When the model writes, what comes next is not there.

# %% [markdown]
# ### Would the leak test have told us?
#
# `leaks_future` of lesson 04 takes a model of one argument. So we fix the source and let the target change. No
# training is needed: we ask fresh models.
#
# **Predict.** Does the test say `"leaks"` of the model with the target in both? And of the one whose labels are not
# shifted: `"leaks"` or `"honest"`?

# %% tags=["prediction"]
prediction_in_both, prediction_unshifted = ..., ...


# %%
class OfOneSource(nn.Module):
    """A model of the target alone."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, written: Tensor) -> Tensor:
        return self.model(one.expand(len(written), -1), written)


says = {}
for name, model in {"target in both": TargetInBoth(), "not shifted": Translator()}.items():
    leaks = parts.leaks_future(OfOneSource(model), parts.shift_right(new_targets[:4], BOS))
    says[name] = "leaks" if leaks else "honest"
compare(prediction_in_both, measured=says["target in both"])
compare(prediction_unshifted, measured=says["not shifted"])

# %% [markdown]
# The test finds the target in the encoder. It cannot find the missing shift, as that model *is* honest: output $t$
# depends on nothing after input $t$. What is wrong is what it is fed. That needs a test of its own, of the data: the
# input at $t + 1$ is the label at $t$.

# %%
label = new_targets[:4]
for name, given in {"shifted": parts.shift_right(label, BOS), "not shifted": label}.items():
    print(f"{name:12} input after label: {bool((given[:, 1:] == label[:, :-1]).all())}")

# %% [markdown]
# ## Last layer, or layer to layer?
#
# Our decoder layers all read the encoder's last output. One often sees drawings in which layer 1 of the encoder feeds
# layer 1 of the decoder, and so on. Is that wrong? We build it, and train both with two layers.


# %%
class LayerToLayer(Translator):
    """Layer i of the decoder reads what layer i of the encoder gave."""

    def forward(self, source: Tensor, written: Tensor) -> Tensor:
        seen, mask = parts.padding_mask(source, PAD), parts.decoder_mask(written, PAD)
        memory, x = (
            stack.embedding(tokens) * 32**0.5 + stack.positions[: tokens.shape[1]]
            for stack, tokens in ((self.encoder, source), (self.decoder, written))
        )
        for encoder_layer, decoder_layer in zip(self.encoder.layers, self.decoder.layers):
            memory = encoder_layer(memory, seen)
            x = decoder_layer(x, memory, mask, seen)
        return self.output(x)


# %% [markdown]
# Both have the same parameters, so we can also train a model in the one way and then *use* it in the other.
#
# **Predict.** One model is trained *and* used layer to layer: which share of the dates does it write without an error?
# And when each kind is used in the way of the other: are the shares `"worse"` or `"equal"`?

# %% tags=["prediction"]
prediction_each, prediction_exchanged = ..., ...

# %% tags=["nbval-ignore-output"]
kinds = {"last layer": Translator, "layer to layer": LayerToLayer}
more_sources, more_targets = sources[kept_back][::12], targets[kept_back][::12]  # 305 dates
shares = {}
for trained_as, kind in kinds.items():
    model = kind(n_layers=2)
    train(model)
    for used_as, other in kinds.items():
        user = other(n_layers=2)
        user.load_state_dict(model.state_dict())
        shares[trained_as, used_as] = exact(write(user, more_sources), more_targets)
table = pd.Series(shares).unstack().rename_axis(index="trained as", columns="used as")
own, exchanged = table.values.diagonal().mean(), table.values[::-1].diagonal().mean()
compare(prediction_each, measured=round(shares["layer to layer", "layer to layer"], 2))
compare(prediction_exchanged, measured="worse" if exchanged < own - 0.02 else "equal")
table.round(2)

# %% [markdown]
# Layer to layer can be learned just as well, at least for our dates: it is another model, not a broken one. But
# parameters learned in that way do much worse when all layers read the last one; the other way round, a little worse.
# The paper's Transformer reads the last layer, and so do T5, BART and Marian: whoever loads their parameters must do
# the same. It is also the simpler contract: one memory is handed over, and the two stacks need not be equally deep.

# %% [markdown]
# ## Do we need two stacks?
#
# Three families of models are built from these layers.
#
# | | layers | each position sees | e.g. |
# |---|---|---|---|
# | encoder-only | self-attention, FFN | everything | BERT |
# | decoder-only | self-attention, FFN | itself and what came before | GPT |
# | encoder-decoder | both kinds, and cross-attention | source: all; target: causal | the paper's, T5 |
#
# A decoder without cross-attention *is* an encoder with a causal mask. So encoder-only and decoder-only models are one
# `parts.Encoder` each. The first answers at all places at once: what it says at place $t$ is character $t$ of the
# answer. The second reads source and target as one text.


# %%
class EncoderOnly(nn.Module):
    """Answer everything at once; what is written is not looked at."""

    def __init__(self, n_layers: int = 2) -> None:
        super().__init__()
        self.stack = parts.Encoder(len(alphabet), 32, 4, 128, n_layers, 40)
        self.output = nn.Linear(32, len(alphabet))
        initialise(self)

    def forward(self, source: Tensor, written: Tensor) -> Tensor:
        return self.output(self.stack(source, parts.padding_mask(source, PAD)))[:, : written.shape[1]]


class DecoderOnly(EncoderOnly):
    """Go on with the source as if one had written it oneself."""

    def mask(self, source: Tensor, text: Tensor) -> Tensor:
        return parts.decoder_mask(text, PAD)

    def forward(self, source: Tensor, written: Tensor) -> Tensor:
        text = torch.cat([source, written], dim=1)
        return self.output(self.stack(text, self.mask(source, text)))[:, source.shape[1] :]


# %% [markdown]
# Our task has one right answer. Most do not: a sentence has many translations. So we also train on dates that are
# written, as chance has it, either `2021-03-03` or `03/03/2021`, and let the models *draw* each character from what
# they think likely.
#
# **Predict.** Encoder-only, after 400 steps: which share of the dates that it draws is right when there is one right
# answer? And when there are two, and either counts?

# %% tags=["prediction"]
prediction_one_way, prediction_two_ways = ..., ...

# %%
slashed = as_tokens([day.strftime("%d/%m/%Y") for day in days], 11)
rows = {}
for kind in (EncoderOnly, DecoderOnly, Translator):
    shares = []
    for labels in [(targets,), (targets, slashed)]:
        model = kind()
        train(model, labels=labels)
        drawn = write(model, new_sources, draw=True)
        shares.append(sum(exact(drawn, label[kept_back][::36]) for label in labels))
    examples = ", ".join("".join(alphabet[i] for i in row[:10]) for row in drawn[:2].tolist())
    rows[kind.__name__] = [sum(p.numel() for p in model.parameters()), *shares, examples]
compare(prediction_one_way, measured=round(rows["EncoderOnly"][1], 1))
compare(prediction_two_ways, measured=round(rows["EncoderOnly"][2], 1))

# %% tags=["nbval-ignore-output"]
columns = ["parameters", "right: one answer", "right: either of two", "drawn, of two"]
pd.DataFrame.from_dict(rows, orient="index", columns=columns).round(2)

# %% [markdown]
# With one right answer, no longer than the source, answering at once is fine. With two, it fails: each place draws by
# itself, one from the one form and its neighbour from the other. A model that writes one character *after another*
# knows which form it has begun, and goes on with it. That is what decoders are for. Decoder-only and encoder-decoder
# get most dates right: the source may stand in a stack of its own or in front of the text. (Which one gets more? One
# small task, and one stack of 2 layers against two of 1, do not rank them.)

# %% [markdown]
# ## Bug hunt
#
# A colleague gives names to what comes out of each step, so that one can read it. Read it first and decide what is
# wrong; only then run the check, and mend it.


# %% id="mend-decoder-layer" tags=["bug-hunt"]
class DecoderLayerOfAColleague(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attention = parts.MultiHeadAttention(d_model, n_heads)
        self.cross_attention = parts.MultiHeadAttention(d_model, n_heads)
        self.feed_forward = parts.FeedForward(d_model, d_ff)
        self.norm_1, self.norm_2, self.norm_3 = (nn.LayerNorm(d_model) for _ in range(3))

    def forward(self, x, memory, mask=None, memory_mask=None):
        written = self.norm_1(x + self.self_attention(x, x, x, mask))
        read = self.norm_2(written + self.cross_attention(written, memory, memory, memory_mask))
        return self.norm_3(written + self.feed_forward(read))


# %% id="check-mend-decoder-layer"
check(DecoderLayerOfAColleague, "DecoderLayer")

# %% [markdown]
# <details><summary>How to find such a bug without a check</summary>
#
# Silence one sublayer, and see what is lost with it. A feed-forward network that gives only zeros should not keep the
# layer from reading: another memory should still give another output. The cell below tries it.
# </details>

# %%
other = torch.randn(1, 11, 32)
for name, kind in {"the colleague's": DecoderLayerOfAColleague, "ours": parts.DecoderLayer}.items():
    suspect = kind(32, 4, 128)
    for last in (suspect.feed_forward.w_2.weight, suspect.feed_forward.w_2.bias):
        nn.init.zeros_(last)
    print(f"{name:15} still reads with a silent network:", not torch.equal(suspect(x, memory), suspect(x, other)))

# %% [markdown]
# ## ★ Transfer: one stack that reads both ways
#
# A decoder-only model reads the source with a causal mask, although all of it is there. A **prefix mask** mends that:
# in each row of the batch, the first `prefix_lengths[row]` tokens are open to *every* query; behind them, the mask is
# causal as before. Write it, from nothing. `" batch"` is one axis, a length for each row.


# %% id="prefix_mask" tags=["exercise"]
def prefix_mask(prefix_lengths: Int[Tensor, " batch"], length: int) -> Bool[Tensor, "batch 1 length length"]:
    """Let every position look at its row's prefix and at what is not later than itself."""
    raise NotImplementedError


# %% id="check-prefix_mask"
check(prefix_mask)

# %% [markdown]
# **Predict.** Two decoder-only models with the same parameters, one causal, one with a prefix mask over the source. Are
# the scores for what is *written* the `"same"` or `"different"`, if they have one layer? And with two?

# %% tags=["prediction"]
prediction_one_layer, prediction_two_layers = ..., ...


# %%
class PrefixModel(DecoderOnly):
    def mask(self, source: Tensor, text: Tensor) -> Tensor:
        lengths = torch.full((len(text),), source.shape[1])
        return parts.prefix_mask(lengths, text.shape[1]) & parts.padding_mask(text, PAD)


says = []
for n_layers in (1, 2):
    causal_model, prefix_model = DecoderOnly(n_layers), PrefixModel(n_layers)
    prefix_model.load_state_dict(causal_model.state_dict())
    pair = [model(new_sources, parts.shift_right(new_targets, BOS)) for model in (causal_model, prefix_model)]
    says.append("same" if torch.allclose(*pair, atol=1e-5) else "different")
compare(prediction_one_layer, measured=says[0])
compare(prediction_two_layers, measured=says[1])
ax = plots.mask(parts.prefix_mask(torch.tensor([4]), 9)[0, 0])

# %% [markdown]
# (The picture: a prefix of 4 among 9 tokens.) With one layer, the mask of the source changes only what comes out *at
# the source*, and nobody reads that any more: what is written looks at the source's embeddings either way. From the
# second layer on, it looks at vectors that have themselves looked around.

# %% [markdown]
# ## In short
# - A decoder layer looks back (causal mask), looks across (no causal mask, but the source's
#   padding), then computes.
# - Across, the queries come from what was written, keys and values from the encoder's last layer, for every decoder
#   layer alike. The two lengths are free.
# - While it learns, it is fed the right answer, shifted right; when it writes, what it has written itself.
# - Perfect when fed and nonsense by itself: look for the target in the encoder, and for labels that were not shifted.
#   The leak test finds the first, a look at the data the second.
# - Writing one after another lets a model stay with the answer that it has begun.

# %%
written, memory = parts.shift_right(new_targets[:2], BOS), torch.randn(2, 18, 32)
table = trace_shapes(translator.decoder, written, memory).drop(columns="class")
print({"batch": 2, "n": 11, "n_source": 18, "d_model": 32, "d_ff": 128, "vocab_size": len(alphabet)})
table[~table.module.str.contains("w_")].replace({"module": {"": "Decoder"}})

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
#
# <details><summary>In cross-attention, where do queries, keys and values come from?</summary>
#
# Queries from the decoder, one for each written position; keys and values from the encoder's output. (<i>Two texts,
# two attentions</i>)
# </details>
#
# <details><summary>Which masks does a decoder layer need?</summary>
#
# Self-attention: causal (and the target's padding, should it stand in front). Cross-attention: the source's padding
# only, for nothing of the source is future. (<i>Two texts, two attentions</i>: 1 of 7 and 11 of 11)
# </details>
#
# <details><summary>Does decoder layer i read encoder layer i?</summary>
#
# No, all of them read the last one. Layer to layer can be trained too, but it is another model: its parameters do much
# worse when all layers read the last one. (<i>Last layer, or layer to layer?</i>)
# </details>
#
# <details><summary>What is teacher forcing, and why is the target shifted?</summary>
#
# Feeding the right answer while learning, so that all positions learn in one run and none goes on from nonsense.
# Shifted right, so that a position reads what comes before its label; unshifted, it would read the label. (<i>What is
# it fed while it learns?</i>)
# </details>

# %% [markdown]
# <details><summary>Validation loss near 0, and what it writes is garbage. What could it be?</summary>
#
# The target leaks: a missing causal mask, the target in the encoder, labels that were not shifted. Held-out data do not
# show it; writing does. The leak test finds the first two, and comparing inputs with labels the third. (<i>Two
# slips</i>)
# </details>
#
# <details><summary>Nine of ten tokens are right when fed. What of whole outputs?</summary>
#
# Much less: with n tokens, about .9 to the power of n if errors were independent. (Not having met its own errors,
# *exposure bias*, makes what follows an error worse; it cannot spoil a text that has no error yet.) (<i>What is it fed
# while it learns?</i>: about a quarter)
# </details>
#
# <details><summary>Encoder-only, decoder-only, encoder-decoder: what is the difference?</summary>
#
# What each position may see: everything; itself and the past; all of the source, and the past of the target.
# Encoder-only answers all places at once, and mixes answers where several are right. (<i>Do we need two stacks?</i>)
# </details>
#
# <details><summary>What does an alignment tell?</summary>
#
# Where a position looked while it wrote, on average over the heads. But what lies there is the encoder's vector, which
# has gathered from other places, too: it is no proof of which character was used. (<i>Where does it look?</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Vaswani et al. (2017), [arXiv:1706.03762](https://arxiv.org/abs/1706.03762), sections 3.1 and 3.2.3: the decoder,
#   and the model's three uses of attention.
# - Raffel et al. (2020), *T5*, [arXiv:1910.10683](https://arxiv.org/abs/1910.10683), section 3.2: two stacks,
#   one stack, and the prefix mask, compared at scale.
# - The library's versions, with a cache: `transformer_lab/layers/decoder_layer.py`, `transformer_lab/models/decoder.py`
#   and `transformer.py`.
#
# <details><summary>For instructors</summary>
#
# *Points*: DecoderLayer 4, Decoder 2, shift_right 2; stretch: prefix_mask 2. The bug hunt is not graded. *Where
# students stumble*: who asks whom; the causal mask on the source; residuals taken from too far up; shifting in the data
# *and* in the model; trusting a loss. *To ask in class*: what could the model with the target in both learn if its
# encoder had a causal mask, too? Which of the two slips would a test on other days have found? Why does a
# prefix mask need two layers to matter, and a causal mask only one?
# </details>

# %% [markdown] id="title"
# # 07 · The decoder: generating text from the encoder's output
#
# **The question.** The models that people chat with are decoders. Suppose an encoder has read `3 mars 2021`. How does a
# decoder generate `2021-03-03` from the encoder's output, one character after another? And how does it learn that from
# finished translations?
#
# **Afterwards you can** write a decoder layer and a stack of them, prepare a decoder's inputs for training, write the
# loop that generates text, and review a Transformer with three tests.
#
# Reading: 37 minutes. Exercises: 40 minutes (four core; one stretch ★ takes 10 more). With all predictions, runs and
# questions: about 100 minutes, with a good place to stop half-way.

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
# <details><summary>Lesson 04: how does a leak test work, and what counts as a leak?</summary>
#
# It changes a later token. If an earlier output changes, the model leaks the future.
# </details>
#
# <details><summary>Lesson 06: what does a post-norm layer do with the output of a sublayer?</summary>
#
# It adds the output to the sublayer's input and normalizes the sum: norm(x + sublayer(x)).
# </details>
#
# The map below shows where you are: in the right half of the Transformer.

# %% id="imports"
import math
from collections import Counter
from collections.abc import Callable
from datetime import date, timedelta

import matplotlib.pyplot as plt
import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_course import check, compare, diagrams, hint, parts, plots, solution, tally
from transformer_course.stored_models.stored_model import FOLDER
from transformer_lab import initialize, record_attention, trace_shapes
from transformer_lab.pretrained.hub import read_json

# %%
_ = torch.manual_seed(7)

# %%
diagrams.architecture.you_are_here(7)

# %% [markdown]
# ## Training in one pass, generation in a loop
#
# Here is the whole lesson in one picture. You use the same decoder in two ways:

# %%
diagrams.teacher_forcing.beside_generation([*"2021-"])

# %% [markdown]
# In training you have the finished translation, so the decoder reads the correct text and learns to predict every next
# token in a single pass. When it generates, there is no correct text. The decoder reads only what it has generated
# itself (pink), and it needs one pass for each token. (`<bos>` marks the beginning, as in lesson 04. In both cases the
# decoder also reads the source, which the picture leaves out.) Many decoder bugs come from this difference.

# %% [markdown]
# ## Self-attention and cross-attention
#
# A decoder that has generated `2021-0` needs two kinds of information. *What have I generated?* The answer is in its
# own text, the **target**. *What does the source say?* The answer is in the encoder's output: one vector for each
# source token, called the **memory**. So a decoder layer has two attention sublayers, followed by a feed-forward
# network:
#
# | sublayer | queries | keys and values |
# |---|---|---|
# | self-attention | the target so far | the target so far |
# | cross-attention | the target so far | the memory |
# | feed-forward | | |
#
# This is what you will build. (Chat models have no encoder, so their layers leave out the second sublayer; they come
# near the end.) The thick line is the residual stream of the target. The memory enters each layer from
# the side, and only as keys and values:

# %%
diagrams.layers.layer(parts.DecoderLayer(32, 4, 128))

# %% [markdown]
# Here is the same layer as formulas, with $M$ for the memory:
#
# $$x \leftarrow \operatorname{LN}(x + \operatorname{SelfAttention}(x, x, x))$$
#
# $$x \leftarrow \operatorname{LN}(x + \operatorname{CrossAttention}(x, M, M))$$
#
# $$x \leftarrow \operatorname{LN}(x + \operatorname{FFN}(x))$$
#
# Here $x$ has shape (n, d_model), with one row for each target token, and $M$ has shape (n_source, d_model). LN is
# LayerNorm, and the arguments of each attention are query, key and value. The two lengths are independent.
#
# **Exercise.** Write `forward`. `mask` is for the first attention, `memory_mask` for the second. (As before, `parts`
# holds your own versions if they have passed, and the library's otherwise.)


# %% id="DecoderLayer" tags=["exercise"]
class DecoderLayer(nn.Module):
    """Attend to the target so far, then to the memory, then compute; add and normalize after each (post-norm)."""

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
# Which inputs does an output depend on? The memory holds the 11 characters of `3 mars 2021`, and the target is
# `<bos>2021-0`. For now, both are random vectors. The first attention gets a causal mask; the second gets none. We
# follow the gradient from each output back to the inputs.
#
# **Predict.** How many of the 7 target tokens, and how many of the 11 source characters, change the *first* output?

# %% tags=["prediction"]
prediction_target, prediction_source = ..., ...

# %%
letters = ["_" if letter == " " else letter for letter in "3 mars 2021"]
tokens = ["<bos>", *"2021-0"]
layer, causal = parts.DecoderLayer(32, 4, 128), parts.causal_mask(7)
x, memory = torch.randn(1, 7, 32, requires_grad=True), torch.randn(1, 11, 32, requires_grad=True)
# one number for each position; a plain sum would not do, as a new LayerNorm always makes it 0
outputs = (layer(x, memory, causal)[0] * torch.randn(32)).sum(dim=-1)
gradients = [torch.autograd.grad(output, (x, memory), retain_graph=True) for output in outputs]
moves = [torch.stack([g[i][0].norm(dim=-1) for g in gradients]) > 0 for i in (0, 1)]
compare(prediction_target, measured=int(moves[0][0].sum()))
compare(prediction_source, measured=int(moves[1][0].sum()))
print("source characters that change each of the 7 outputs:", moves[1].sum(dim=1).tolist())
ax = plots.mask(moves[0], tokens, tokens, labels=("does not change it", "changes it"))
_ = ax.set(xlabel="input", ylabel="output")

# %% [markdown]
# The decoder generates the target one token at a time. But the whole source is available from the start, so none of it
# lies in the future: **cross-attention has no causal mask**. It does need the padding mask of the source:

# %%
longer = torch.cat([memory, torch.randn(1, 3, 32)], dim=1)  # three more vectors, of <pad>
memory_mask = parts.padding_mask(torch.tensor([[5] * 11 + [0] * 3]), pad_id=0)
without, masked = layer(x, longer, causal), layer(x, longer, causal, memory_mask)
alone = layer(x, memory, causal)
print("memory_mask", tuple(memory_mask.shape))
print(f"largest change of the output without it: {(without - alone).abs().max():.2f}")
print(f"largest change of the output with it:    {(masked - alone).abs().max():.2f}")

# %% [markdown]
# ## A stack that reads one memory
#
# A decoder starts the way the encoder did: embeddings times √d_model, plus positions. Then come the layers. Each
# decoder layer reads **the same memory**, the output of the encoder's *last* layer. However many layers the encoder
# has, it passes on a single matrix. (The loop over layers runs in every forward pass. The loop over tokens runs only
# when you generate.)
#
# **Exercise.** Write the decoder's `forward`.


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
# Put an encoder in front of it and a linear layer for the logits after it, and you have a complete **encoder-decoder**
# model: the Transformer of the paper, but for dropout and shared embeddings.

# %%
PAD, BOS, EOS = 0, 1, 2


class Translator(nn.Module):
    """Read the source and return logits for what comes after each target token."""

    def __init__(self, n_layers: int = 1) -> None:
        super().__init__()
        self.encoder = parts.Encoder(len(alphabet), 32, 4, 128, n_layers, 40)
        self.decoder = parts.Decoder(len(alphabet), 32, 4, 128, n_layers, 40)
        self.output = nn.Linear(32, len(alphabet))
        initialize(self)  # as in lesson 06

    def memory_mask(self, source: Tensor) -> Tensor:
        return parts.padding_mask(source, PAD)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        memory = self.encoder(source, parts.padding_mask(source, PAD))
        mask = parts.decoder_mask(target, PAD)
        return self.output(self.decoder(target, memory, mask, self.memory_mask(source)))


# %% [markdown]
# The data are all the days of a hundred years, written in French and in ISO 8601. We hold out every tenth day.

# %% tags=["hide-input"]
months = ["janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre"]
months = [*months, "décembre"]
days = [date(1950, 1, 1) + timedelta(i) for i in range(36525)]
french = [f"{day.day} {months[day.month - 1]} {day.year}" for day in days]
alphabet = ["<pad>", "<bos>", "<eos>", *sorted(set("".join(french) + "-/"))]


def as_tokens(texts: list[str], length: int) -> Tensor:
    rows = [[alphabet.index(letter) for letter in text] for text in texts]
    return torch.tensor([(row + [EOS] + [PAD] * length)[:length] for row in rows])


sources = as_tokens(french, 18)
targets = as_tokens([day.isoformat() for day in days], 11)
slashed = as_tokens([day.strftime("%d/%m/%Y") for day in days], 11)  # a second format, for later
held_out = torch.arange(len(days)) % 10 == 0
print(f"{french[0]!r} → {days[0]}, {french[-1]!r} → {days[-1]}; {len(alphabet)} tokens")

# %%
diagrams.memory.memory_of(Translator(n_layers=2), sources[:1], targets[:1])

# %% [markdown] id="caption-one-memory"
# Both decoder layers get their keys and values from the same memory.

# %% [markdown]
# ## Teacher forcing and the shift to the right
#
# At inference a model is autoregressive: it reads its own output. At the start of training that output is nonsense,
# and the model would learn to continue nonsense. So in training it reads the correct target instead. This is teacher
# forcing, as in lesson 00, and the causal mask lets one pass train all positions.
#
# What should each position read? To predict the first token, the model reads `<bos>`. To predict the second token, it
# reads the first. The tokens to predict are the **labels**, and the last one is `<eos>`, the end of the text. So the
# inputs are the labels, **shifted right** by one position. In the picture, each label is the next input:

# %%
labels = [*"2021-03-03", "<eos>"]
diagrams.teacher_forcing.rows(["<bos>", *labels[:-1]], labels)

# %% [markdown]
# **Exercise.** Turn a batch of labels into inputs. Drop only the last token of each row. (In a padded text the last
# token is `<pad>`, so its `<eos>` stays in the input.) `torch.cat([a, b], dim=1)` joins two matrices side by side, and
# `torch.full((4, 1), 7)` is a column of four sevens.


# %% id="shift_right" tags=["exercise"]
def shift_right(tokens: Int[Tensor, "batch n"], bos_id: int) -> Int[Tensor, "batch n"]:
    """Return the decoder's input, made from its labels: ``bos_id`` in front of every row, without its last token."""
    raise NotImplementedError


# %% id="check-shift_right"
check(shift_right)

# %% [markdown]
# ## The loop that generates
#
# Now you write the right half of the first picture. Start with `<bos>`. Call the model on the source and the target so
# far, look at the logits of the *last* position, choose a token, append it, and repeat. How to choose is a separate
# question: you can take the likeliest token or sample one. So your loop takes a function `choose` that maps logits of
# shape (batch, vocab_size) to one token id per row.
#
# **Exercise.** Write the loop. All our dates have eleven tokens, so it runs a fixed number of times. (Lesson 08 stops
# at `<eos>`.)


# %% id="generate_target" tags=["exercise"]
def generate_target(
    model: nn.Module,
    source: Int[Tensor, "batch n_source"],
    bos_id: int,
    n_tokens: int,
    choose: Callable[[Float[Tensor, "batch vocab_size"]], Int[Tensor, " batch"]],
) -> Int[Tensor, "batch n_tokens"]:
    """Return n_tokens tokens for each source, without bos; ``model(source, target)`` returns logits everywhere."""
    raise NotImplementedError


# %% id="check-generate_target"
check(generate_target)

# %% [markdown]
# **Half-way.** You have a complete Transformer and its generation loop: a good place to stop for today. In the second
# half, you train it and see how it can be wrong without anyone noticing.
#
# We measure a model in two ways: how many tokens are right with teacher forcing, and how many whole dates are right
# when it generates them.


# %% tags=["hide-input"]
new_sources, new_targets = sources[held_out][::36], targets[held_out][::36]  # 102 dates


@torch.no_grad()
def teacher_forced(model: nn.Module, source: Tensor, labels: Tensor) -> Tensor:
    return model(source, parts.shift_right(labels, BOS)).argmax(dim=-1)


@torch.no_grad()
def generate(model: nn.Module, source: Tensor, sample: bool = False) -> Tensor:
    def choose(logits: Tensor) -> Tensor:
        return logits.softmax(dim=-1).multinomial(1)[:, 0] if sample else logits.argmax(dim=-1)

    return parts.generate_target(model, source, BOS, 11, choose)


def exact(generated: Tensor, labels: Tensor) -> float:
    return (generated == labels).all(dim=-1).float().mean().item()


# %% tags=["hide-input"]
def train(model: nn.Module, shift: bool = True, steps: int = 300, forms=(targets,), watch: bool = False) -> dict:
    """Train on the days that are not held out; return what is measured every 50 steps."""
    source, answers = sources[~held_out], torch.stack(forms)[:, ~held_out]
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=steps)  # rises, then falls
    seen = {"tokens right, teacher-forced": [], "dates right, generated": [], "training loss": []}
    for step in range(steps):
        some = torch.randint(len(source), (32,))
        label = answers[torch.randint(len(answers), (32,)), some]
        logits = model(source[some], parts.shift_right(label, BOS) if shift else label)
        loss = F.cross_entropy(logits.flatten(0, 1), label.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if watch and step % 50 == 49:
            tokens_right = (teacher_forced(model, new_sources, new_targets) == new_targets).float().mean().item()
            found = tokens_right, exact(generate(model, new_sources), new_targets), loss.item()
            for measured, value in zip(seen.values(), found):
                measured.append(value)
    return seen


# %%
def seeded(seed: int, kind: type[nn.Module], **sizes) -> nn.Module:
    torch.manual_seed(seed)
    return kind(**sizes)


# %% [markdown]
# We train three models, each with its own seed. After 100 steps, about 9 of 10 tokens are right with teacher forcing.
#
# **Predict.** What fraction of dates do these models then generate without an error: near 0.9, 0.7 or 0.4?

# %% tags=["prediction"]
prediction = ...

# %% id="training-curves" tags=["words-only"]
translators = [seeded(seed, Translator) for seed in range(3)]
runs = [train(translator, watch=True) for translator in translators]
curves = {
    how: torch.tensor([run[how] for run in runs]) for how in ("tokens right, teacher-forced", "dates right, generated")
}  # (3, 6)
per_token, whole = (curve.mean(dim=0) for curve in curves.values())
compare(prediction, measured=round(whole[1].item(), 1))
print(f"after 100 steps: {per_token[1]:.2f} of the tokens are right, teacher-forced")
print(f"whole dates, if errors were independent: {per_token[1]:.2f} to the power of 11 = {per_token[1] ** 11:.2f}")
ax = plots.lines(range(50, 301, 50), curves, xlabel="step", ylabel="fraction that is right")

# %% [markdown]
# After 100 steps the two curves are far apart. Most of that is arithmetic: a date is right only if all eleven tokens
# are. So accuracy per token says little about whole texts.
#
# Back to the opening question: here are the translations of `3 mars 2021` by the three models, and the years that they
# get wrong.

# %% id="translations" tags=["hide-input", "nbval-ignore-output"]
one, many = as_tokens(["3 mars 2021"], 12), (sources[held_out][::9], targets[held_out][::9])  # the second: 406 dates


def spell(tokens: Tensor) -> str:
    return "".join(alphabet[token] for token in tokens.tolist())


for translator in translators:
    print("3 mars 2021 →", spell(generate(translator, one)[0]))
written = [
    (spell(label[:4]), spell(text[:4]))
    for translator in translators
    for label, text in zip(many[1], generate(translator, many[0]))
]
wrong = [pair for pair in written if pair[0] != pair[1]]
swapped = sum(sorted(year) == sorted(other) for year, other in wrong) / max(len(wrong), 1)
print(f"wrong years: {len(wrong)} of {len(written)}; right digits in the wrong order: {swapped:.2f} of these")
print("most often:", ", ".join(f"{year} → {other} ({n})" for (year, other), n in Counter(wrong).most_common(6)))

# %% [markdown] id="wrong-years"
# A wrong year nearly always has the right digits in the wrong order. One of your models may even write 2012 for 2021.
#
# Suppose the model has made such an error. In training it reads only correct tokens. At inference it also reads its own
# errors, and it has never seen a target that disagrees with its source. The loss in accuracy is called **exposure
# bias**. How large is it? We look only at tokens *after* a date's first error.
#
# **Predict.** What fraction of the tokens directly after that error are right: near 0, 0.5 or 1? And of the tokens
# further on?

# %% tags=["prediction"]
prediction_next, prediction_later = ..., ...


# %% id="after-an-error" tags=["hide-input", "nbval-ignore-output"]
def after_an_error(models: list[nn.Module], source: Tensor, labels: Tensor) -> dict[str, dict[str, float]]:
    """Return the fractions of right tokens, by their distance from the first error of a generated text."""
    own = torch.cat([generate(model, source) == labels for model in models])
    correct = torch.cat([teacher_forced(model, source, labels) == labels for model in models])
    has_error = ~own.all(dim=1, keepdim=True)
    distance = torch.arange(11) - (~own).int().argmax(dim=1, keepdim=True)  # from the first error
    found = {}
    for name, at in {"next token": distance == 1, "later tokens": distance > 1}.items():
        right = own[at & has_error], correct[at & has_error]
        found[name] = {how: x.float().mean().item() for how, x in zip(("reads its own", "reads the correct"), right)}
    return found


young = [seeded(seed, Translator) for seed in range(3)]
for young_model in young:
    train(young_model, steps=100)
bias = {f"{n} steps": after_an_error(models, *many) for n, models in ((100, young), (300, translators))}
compare(prediction_next, measured=bias["300 steps"]["next token"]["reads its own"], choices=(0, 0.5, 1))
compare(prediction_later, measured=bias["300 steps"]["later tokens"]["reads its own"], choices=(0, 0.5, 1))
pd.DataFrame({(steps, name): row for steps, rows in bias.items() for name, row in rows.items()}).T.round(2)

# %% [markdown]
# The model knows these tokens: given the correct text, it gets nearly all of them right. But its own error drags one
# more token with it: a model that has written 196 for 1956 puts the 5 where the 6 belonged. After that, it is right
# again, because the month and the day don't depend on the year.

# %% [markdown]
# ## What does cross-attention attend to?
#
# The weights of cross-attention, with a row for each generated token, form an alignment (lesson 00). Nothing in the
# training data says where to attend.

# %% id="alignment" tags=["nbval-ignore-output"]
letters = [*letters, "<eos>"]
with record_attention(translators[0]) as recorded:
    translators[0](one, parts.shift_right(as_tokens(["2021-03-03"], 11), BOS))
[name] = [name for name in recorded if "cross_attention" in name]
weights = recorded[name][0].mean(dim=0)  # the mean of the four heads: (11, 12)
ax = plots.weights(weights, labels, letters, xlabel="source character", ylabel="token generated")

# %% [markdown]
# The last digits of the year attend to the year. The digits
# of the month attend mostly to the month, and those of the day in large part to the day. The hyphens are the same in
# every date, so the model doesn't have to look them up.
#
# But a weight tells you where the model attends, not what it finds there: the memory's vectors already contain
# information from other positions. So we hide the letters of the month from cross-attention and measure again. (The
# encoder still reads them.) Hiding a key shifts its attention weight to other keys, which the model never saw in
# training, and that alone can do harm. As a control, we hide the four digits of the year instead.

# %% [markdown]
# **Predict.** How often is the month still right with the letters hidden, on average over the three models: near 0.1,
# 0.5 or 0.9?

# %% tags=["prediction"]
prediction = ...


# %% tags=["hide-input"]
class WithoutLetters(Translator):
    def hidden(self, source: Tensor) -> Tensor:
        return torch.tensor([token.isalpha() for token in alphabet])[source]

    def memory_mask(self, source: Tensor) -> Tensor:
        return super().memory_mask(source) & ~self.hidden(source)[:, None, None]


class WithoutYear(WithoutLetters):
    def hidden(self, source: Tensor) -> Tensor:
        end = (source == EOS).int().argmax(dim=-1, keepdim=True)
        position = torch.arange(source.shape[1])
        return (end - 4 <= position) & (position < end)


# %% id="hidden-letters" tags=["hide-input", "words-only"]
spans = {"year": slice(4), "month": slice(5, 7), "day": slice(8, 10)}
hiding = {"nothing hidden": Translator, "letters hidden": WithoutLetters, "year's digits hidden": WithoutYear}
right = {}  # by what is hidden and by part of the date: three fractions of held-out dates
for what, kind in hiding.items():
    right[what] = {part: [] for part in spans}
    for translator in translators:
        reader = kind()
        reader.load_state_dict(translator.state_dict())
        same = generate(reader, new_sources) == new_targets
        for part, span in spans.items():
            right[what][part].append(same[:, span].all(dim=-1).float().mean().item())
compare(prediction, measured=sum(right["letters hidden"]["month"]) / 3, choices=(0.1, 0.5, 0.9))
pd.DataFrame(right).T.map(lambda three: ", ".join(f"{fraction:.2f}" for fraction in three))  # of three models

# %% [markdown]
# With the letters hidden, the month falls below the control in every model (one layer, 300 steps), in most of them to a
# guess among 12 (0.08) or even below. The year is as accurate as before. With the year's digits hidden, most months are
# still right on average. So the month does come from the letters, as the weights showed. The day gets worse in some
# models, too, although no letter tells you the day: hiding any key can disturb the rest.

# %% [markdown]
# ## Bug hunt: a Transformer from the web
#
# A colleague has copied a Transformer from popular notes on the web. Its layers are pre-norm, as in most models today:
#
# $$x \leftarrow x + \operatorname{SelfAttention}(n, n, n), \quad n = \operatorname{LN}(x)$$
#
# $$x \leftarrow x + \operatorname{CrossAttention}(\operatorname{LN}(x), M, M)$$
#
# $$x \leftarrow x + \operatorname{FFN}(\operatorname{LN}(x))$$
#
# The code runs, but the attention and the layer contain **three bugs**. (A layer without a memory is an encoder layer.
# The stacks around the layers are in the folded cell. They are correct, and each ends in a norm.)

# %% [markdown]
# Three tests review the code: `leaks_future` (lesson 04), `keeps_the_stream` (lesson 06), and a run on a source and a
# target of different lengths. Find the bugs first, and decide which test will catch which bug. Then fix them in the
# cells below, or write your own classes for `Mended`, and run the review.


# %% id="review" tags=["hide-input"]
class OfOneSource(nn.Module):
    """A model of the target alone, as `leaks_future` takes it."""

    def __init__(self, model: nn.Module, source: Tensor) -> None:
        super().__init__()
        self.model, self.source = model, source

    def forward(self, target: Tensor) -> Tensor:
        return self.model(self.source.expand(len(target), -1), target)


class TransformerOfANote(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(len(alphabet), 32), parts.sinusoidal_encoding(40, 32)
        self.encoder, self.decoder = (nn.ModuleList(layer(32, 4, 128) for _ in range(2)) for _ in range(2))
        self.norm_1, self.norm_2, self.output = nn.LayerNorm(32), nn.LayerNorm(32), nn.Linear(32, len(alphabet))

    def forward(self, source, target):
        memory, x = (self.embedding(t) * 32**0.5 + self.positions[: t.shape[1]] for t in (source, target))
        for layer in self.encoder:
            memory = layer(memory)
        for layer in self.decoder:
            x = layer(x, self.norm_1(memory), torch.ones(x.shape[1], x.shape[1]).tril())
        return self.output(self.norm_2(x))


# %% id="three-tests" tags=["hide-input"]
shifted = parts.shift_right(new_targets[:4], BOS)


def review(layer):
    """Print what three tests find in a Transformer made of such layers."""
    torch.manual_seed(0)
    model, stream, memory = TransformerOfANote(layer), torch.randn(1, 11, 32), torch.randn(1, 11, 32)
    source = one[:, :11]
    leaks = parts.leaks_future(OfOneSource(model, source), shifted)
    keeps = parts.keeps_the_stream(lambda x: model.decoder[0](x, memory), stream)
    try:
        error = model(one, shifted[:1, :7]) is None
    except RuntimeError as caught:
        error = caught
    print(f"{layer.__name__}: {'not right yet' if leaks or error or not keeps else 'passed'}")
    print("1. future tokens:  ", "change earlier outputs" if leaks else "change no earlier output")
    print("2. residual stream:", "kept" if keeps else "lost")
    print("3. 7 target and 12 source tokens:", f"RuntimeError: {error}" if error else "fine")


# %% id="attention-of-a-note"
class AttentionOfANote(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_k = n_heads, d_model // n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, query, key, value, mask=None):
        batch, n, d_model = query.shape
        q = self.w_q(query).view(batch, n, self.n_heads, self.d_k).transpose(1, 2)
        k = self.w_k(key).view(batch, n, self.n_heads, self.d_k).transpose(1, 2)
        v = self.w_v(value).view(batch, n, self.n_heads, self.d_k).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, 1e-9)
        heads = scores.softmax(dim=-1) @ v
        return self.w_o(heads.transpose(1, 2).reshape(batch, n, d_model))


# %% id="layer-of-a-note" tags=["bug-hunt"]
class LayerOfANote(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, attention=AttentionOfANote):
        super().__init__()
        self.self_attention = attention(d_model, n_heads)
        self.cross_attention = attention(d_model, n_heads)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norm_1, self.norm_2, self.norm_3 = (nn.LayerNorm(d_model) for _ in range(3))

    def forward(self, x, memory=None, mask=None):
        x = self.norm_1(x)
        x = x + self.self_attention(x, x, x, mask)
        if memory is not None:
            x = self.norm_2(x)
            x = x + self.cross_attention(x, memory, memory)
        x = self.norm_3(x)
        return x + self.feed_forward(x)


# %% id="mend-layer-of-a-note"
Mended = LayerOfANote

# %% id="check-mend-layer-of-a-note" tags=["nbval-ignore-output"]
review(Mended)

# %% [markdown]
# <details><summary>The three bugs, and how each test catches one</summary>
#
# 1. `1e-9` should be `-1e9` or, better, `-torch.inf`. After the softmax, a score near 0 still gets a weight, so the
#    decoder reads later tokens. `leaks_future` finds this bug.
# 2. `x = self.norm_1(x)` overwrites the residual stream, so the residual adds the *normalized* x. The layer should pass
#    the normalized x to the sublayer and keep x itself. `keeps_the_stream` finds this bug.
# 3. The code reshapes keys and values with the number of *queries*. That works in self-attention, and in
#    cross-attention as long as source and target have the same length. The run on different lengths finds this bug.
#
# ```python
# class MendedAttention(AttentionOfANote):
#     def forward(self, query, key, value, mask=None):
#         q, k, v = (
#             w(x).unflatten(-1, (self.n_heads, self.d_k)).transpose(1, 2)
#             for w, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value))
#         )
#         scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
#         if mask is not None:
#             scores = scores.masked_fill(mask == 0, -torch.inf)
#         return self.w_o((scores.softmax(dim=-1) @ v).transpose(1, 2).flatten(2))
#
#
# class Mended(LayerOfANote):
#     def __init__(self, d_model, n_heads, d_ff):
#         super().__init__(d_model, n_heads, d_ff, MendedAttention)
#
#     def forward(self, x, memory=None, mask=None):
#         normalized = self.norm_1(x)
#         x = x + self.self_attention(normalized, normalized, normalized, mask)
#         if memory is not None:
#             x = x + self.cross_attention(self.norm_2(x), memory, memory)
#         return x + self.feed_forward(self.norm_3(x))
# ```
#
# You can find all three without training anything. The library's pre-norm decoder layer is `PreNormDecoderLayer` in
# `transformer_lab/layers/decoder_layer.py`.
# </details>

# %% [markdown]
# ## Two bugs
#
# Here are two more bugs. In the first, the labels are not shifted, so the decoder reads the very tokens that it should
# predict. In the second, the encoder reads the wrong text: the target instead of the source.


# %%
class TargetInBoth(Translator):
    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        return super().forward(target, target)


# %% [markdown]
# **Predict.** In the second model, both stacks read the target, but the decoder's causal mask is correct. What fraction
# of tokens does this model get right with *teacher forcing*, and what fraction of dates when it *generates*?

# %% tags=["prediction"]
prediction_forced, prediction_generated = ..., ...

# %% id="two-bugs" tags=["hide-input", "nbval-ignore-output"]
bugs, seen = {"target in both": (TargetInBoth, True), "not shifted": (Translator, False)}, {"as it should be": runs}
for name, (kind, shift) in bugs.items():
    broken = [seeded(seed, kind) for seed in range(3)]
    seen[name] = [train(model, shift, steps=150, watch=True) for model in broken]
    print(f"{name:15} generates", spell(generate(broken[0], one)[0]))
with torch.no_grad():  # the last three, not shifted: given what they were trained on
    for run, model in zip(seen["not shifted"], broken):
        predicted = model(new_sources, new_targets).argmax(dim=-1)
        run["tokens right, teacher-forced"] = [(predicted == new_targets).float().mean().item()]
ends = {name: {how: [run[how][-1] for run in three] for how in runs[0]} for name, three in seen.items()}
compare(prediction_forced, measured=round(sum(ends["target in both"]["tokens right, teacher-forced"]) / 3, 2))
compare(prediction_generated, measured=round(sum(ends["target in both"]["dates right, generated"]) / 3, 1))
pd.DataFrame(ends).T.map(lambda three: f"{min(three):.2f} to {max(three):.2f}")  # of three runs

# %% [markdown]
# The training loss is near 0, and nearly all tokens of unseen dates are right. Yet none of the six models generates a
# single date. What goes wrong?
#
# - *Not shifted*: each position finds its label in its own input, so the model learns to copy its input.
# - *Target in both*: the decoder has a causal mask, but the encoder has none, and it reads the target. So the memory
#   contains the next token, and cross-attention picks it up. At inference that token doesn't exist yet.

# %% [markdown]
# ### Would the leak test have caught them?
#
# `leaks_future` takes a model with one argument, so we fix the source.
#
# **Predict.** What does the test find, `"leaks"` or `"honest"`, for the target in both stacks? And for unshifted
# labels?

# %% tags=["prediction"]
prediction_in_both, prediction_unshifted = ..., ...


# %%
found = {}
for name, model in {"target in both": TargetInBoth(), "not shifted": Translator()}.items():
    found[name] = "leaks" if parts.leaks_future(OfOneSource(model, one), shifted) else "honest"
compare(prediction_in_both, measured=found["target in both"])
compare(prediction_unshifted, measured=found["not shifted"])

# %% [markdown]
# The test catches the target in the encoder. It can't catch the missing shift, because that model *is* honest: output
# $t$ depends on nothing after input $t$. So test the data: the input at $t + 1$ must be the label at $t$.

# %%
label = new_targets[:4]
for name, given in {"shifted": shifted, "not shifted": label}.items():
    print(f"{name:12} inputs that are the label before: {(given[:, 1:] == label[:, :-1]).float().mean():.2f}")

# %% [markdown]
# ## Last layer, or layer to layer?
#
# <details><summary>Could layer 1 of the decoder read layer 1 of the encoder?</summary>
#
# Figure 1 of the paper shows one layer of each stack, marked "N×", with an arrow from the encoder to the decoder. You
# could read it differently from our code: layer 1 of the encoder feeds layer 1 of the decoder, and so on. Would that be
# wrong? The folded cell builds such a model. Its parameters have the same names and shapes, so we can train it in one
# way and *use* it in the other.
# </details>


# %% tags=["hide-input"]
class LayerToLayer(Translator):
    """Layer i of the decoder reads what layer i of the encoder returned."""

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        seen, mask = parts.padding_mask(source, PAD), parts.decoder_mask(target, PAD)
        memory, x = (
            stack.embedding(tokens) * 32**0.5 + stack.positions[: tokens.shape[1]]
            for stack, tokens in ((self.encoder, source), (self.decoder, target))
        )
        for encoder_layer, decoder_layer in zip(self.encoder.layers, self.decoder.layers):
            memory = encoder_layer(memory, seen)
            x = decoder_layer(x, memory, mask, seen)
        return self.output(x)


kinds = {"last layer": Translator, "layer to layer": LayerToLayer}
drawn = [diagrams.memory.memory_of(kind(n_layers=2), sources[:1], targets[:1]) for kind in kinds.values()]
diagrams.canvas.beside(*drawn, titles=tuple(kinds), cross_out=False)

# %% [markdown]
# From here on, the results are stored, for three seeds each.
#
# **Predict.** Take models with two or three layers that were trained layer to layer. If all their decoder layers read
# the last encoder layer instead, is the fraction of right dates on average `"worse"` or `"equal"`?

# %% tags=["prediction"]
prediction_exchanged = ...

# %% id="exchanged"
stored = read_json(FOLDER / "decoder-runs" / "accuracy.json")
USES = ["used layer to layer", "used last layer"]
runs_by_setting = pd.DataFrame(stored["exchanged"]).groupby(["n_layers", "steps"])[USES]
means = runs_by_setting.mean()
worse = (means["used last layer"] < means["used layer to layer"] - 0.02).all()
compare(prediction_exchanged, measured="worse" if worse else "equal")
runs_by_setting.agg(lambda three: ", ".join(f"{fraction:.2f}" for fraction in three))  # of three models

# %% [markdown]
# Training layer to layer works, but it gives a different model: in most runs, its parameters do much worse when all
# decoder layers read the last encoder layer. (With two layers and 600 steps, one hardly noticed.) The paper's
# Transformer reads the last layer, and so do T5, BART and Marian. To load their parameters, your code must do the same.

# %% [markdown]
# ## Encoder-only, decoder-only, encoder-decoder
#
# Do we need two stacks? You can build three families of models from these layers.
#
# | | a layer has | each position attends to | e.g. |
# |---|---|---|---|
# | **encoder-only** | self-attention, FFN | everything | BERT |
# | **decoder-only** | self-attention, FFN | itself and what came before | GPT |
# | encoder-decoder | encoder: the same; decoder: also cross-attention | source: all; target: causal | the paper's, T5 |
#
# A decoder without cross-attention *is* an encoder with a causal mask. Nearly all of today's **large language models**
# (LLMs) are decoder-only.
#
# So one `parts.Encoder` is enough for the first two families. The encoder-only model answers at all positions at once.
# The decoder-only model reads source and target as one text.


# %%
class EncoderOnly(nn.Module):
    """Answer everything at once, without reading the target."""

    def __init__(self, n_layers: int = 2) -> None:
        super().__init__()
        self.stack = parts.Encoder(len(alphabet), 32, 4, 128, n_layers, 40)
        self.output = nn.Linear(32, len(alphabet))
        initialize(self)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        return self.output(self.stack(source, parts.padding_mask(source, PAD)))[:, : target.shape[1]]


class DecoderOnly(EncoderOnly):
    """Continue the source, as if it were the model's own text."""

    def mask(self, source: Tensor, text: Tensor) -> Tensor:
        return parts.decoder_mask(text, PAD)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        text = torch.cat([source, target], dim=1)
        return self.output(self.stack(text, self.mask(source, text)))[:, source.shape[1] :]


# %% [markdown]
# Our task has one right answer. Most tasks don't: a sentence has many translations. So we also train on two formats,
# `2021-03-03` and `03/03/2021`, in equal shares or four to one. Either format counts as right. The models *sample* each
# character or take the likeliest (*greedy*).
#
# **Predict.** What fraction of dates does the encoder-only model get right with one format, sampled: near 0, 0.5 or
# 0.9? And with two equally frequent formats?

# %% tags=["prediction"]
prediction_one_format, prediction_two_formats = ..., ...

# %% id="families"
by_family = pd.DataFrame(stored["families"]).groupby(["model", "layers", "steps", "formats"], sort=False)
families = by_family[["sampled", "greedy"]].mean()
compare(prediction_one_format, measured=families.loc[("EncoderOnly", "2", 300, "1"), "sampled"], choices=(0, 0.5, 0.9))
compare(
    prediction_two_formats, measured=families.loc[("EncoderOnly", "2", 300, "1 : 1"), "sampled"], choices=(0, 0.5, 0.9)
)
table = families.unstack().swaplevel(axis=1).sort_index(axis=1).map(lambda x: "" if pd.isna(x) else f"{x:.2f}")
table.loc[list(dict.fromkeys(setting[:3] for setting in families.index))]

# %% [markdown]
# Generating all tokens at once works if there is only one right answer of at most the source's length. With two equally
# likely answers it fails, sampled or greedy: each position chooses independently, so one may follow the first format
# and its neighbor the second. If one format is four times as frequent, greedy choices mostly agree on it, and more than
# half of the dates come out right. So whether it fails depends on how close the probabilities of the two answers are.
# (Compare the columns, not the rows, which differ in layers and steps.)

# %% [markdown]
# An autoregressive model reads the beginning of its own answer, so it sticks to the format it started with. That is the
# advantage of a decoder, in decoder-only and encoder-decoder models alike. (With one layer and two formats, the
# decoder-only model needs 1,200 steps.)

# %% [markdown]
# ## ★ Transfer: one stack that reads both ways
#
# A decoder-only model reads the source with a causal mask, even though the whole source is available. A **prefix mask**
# changes that. In each row of the batch, *every* query may attend to the first `prefix_lengths[row]` tokens. After
# them, the mask is causal as before. Write this mask from scratch.


# %% id="prefix_mask" tags=["exercise"]
def prefix_mask(prefix_lengths: Int[Tensor, " batch"], length: int) -> Bool[Tensor, "batch 1 length length"]:
    """Return the mask by which every position attends to its row's prefix and to what is not later than itself."""
    raise NotImplementedError


# %% id="check-prefix_mask"
check(prefix_mask)

# %% [markdown]
# **Predict.** Two decoder-only models have the same parameters. One is causal, the other has a prefix mask over the
# source. Are the logits of the *target* the `"same"` or `"different"` if the models have one layer?

# %% tags=["prediction"]
prediction = ...


# %% tags=["hide-input"]
class PrefixModel(DecoderOnly):
    def mask(self, source: Tensor, text: Tensor) -> Tensor:
        lengths = torch.full((len(text),), source.shape[1])
        return parts.prefix_mask(lengths, text.shape[1]) & parts.padding_mask(text, PAD)


changes = []
for n_layers in (1, 2):
    causal_model, prefix_model = DecoderOnly(n_layers), PrefixModel(n_layers)
    prefix_model.load_state_dict(causal_model.state_dict())
    pair = [model(new_sources, parts.shift_right(new_targets, BOS)) for model in (causal_model, prefix_model)]
    changes.append((pair[1] - pair[0]).abs().max().item())
compare(prediction, measured="same" if changes[0] < 1e-5 else "different")
print("largest change of a logit, with one layer and with two:", [f"{change:.2f}" for change in changes])
_, axes = plt.subplots(1, 2, figsize=(5.5, 2.6), layout="constrained")
masks = {"causal": parts.causal_mask(9), "a prefix of 4": parts.prefix_mask(torch.tensor([4]), 9)[0, 0]}
for ax, (name, mask) in zip(axes, masks.items()):
    plots.mask(mask, ax=ax).set(title=name)

# %% [markdown]
# With one layer, the prefix mask changes only the outputs *at the source*. No later layer reads them, and the target
# attends to the source's embeddings either way. From the second layer on, the target attends to vectors that already
# contain information from other positions.

# %% [markdown]
# ## ★ Diffusion: a text in several steps
#
# The encoder-only model failed because it answered at all positions at once. What if it takes several steps? That is
# the idea of a **diffusion language model**. This section is optional: the explanation and the code are folded.
#
# <details><summary>How it works</summary>
#
# A diffusion language model ([Austin et al., 2021](https://arxiv.org/abs/2107.03006); with 8 billion parameters: LLaDA,
# [Nie et al., 2025](https://arxiv.org/abs/2502.09992)) starts from a text of hidden tokens. In each step it predicts
# all of them, keeps some and hides the others again. In the next step it reads the tokens that it has kept. Our model
# keeps the tokens that it is most certain of, as LLaDA does; Austin et al. choose them at random. Training works as for
# the gap filler of lesson 06, except that the fraction of masked tokens varies from almost none to almost all.
#
# Our model generates dates without a source, in one format or in two. `<bos>` stands for a hidden token.
# </details>


# %% id="unmasking" tags=["hide-input"]
class Unmasker(EncoderOnly):
    """Fill in the hidden tokens; in training, hide a random fraction of each text first."""

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        if self.training:
            target = target.masked_fill(torch.rand(target.shape) < torch.rand(len(target), 1), BOS)
        return super().forward(target, target)  # it reads no source


@torch.no_grad()
def unmask(model: nn.Module, n_texts: int, n_steps: int) -> Tensor:
    text = torch.full((n_texts, 11), BOS)
    for step in range(1, n_steps + 1):
        probabilities = model(text, text).softmax(dim=-1)
        drawn = probabilities.flatten(0, 1).multinomial(1).view_as(text).where(text == BOS, text)
        certainty = probabilities.gather(-1, drawn[..., None])[..., 0].masked_fill(text != BOS, 2.0)  # kept ones stay
        kept = certainty.topk(11 * step // n_steps).indices
        text = text.scatter(1, kept, drawn.gather(1, kept))
    return text


# %% [markdown]
# **Predict.** The model has learned both formats. What fraction of its texts are real dates if it generates all eleven
# tokens in *one* step: near 0, 0.5 or 0.9? And in eleven steps, with one new token in each?

# %% tags=["prediction"]
prediction_one_step, prediction_eleven_steps = ..., ...

# %% id="dates-in-several-steps"
real = pd.DataFrame(stored["diffusion"]).pivot_table("real dates", "steps", "formats").rename_axis(columns="formats")
compare(prediction_one_step, measured=real.loc[1, 2], choices=(0, 0.5, 0.9))
compare(prediction_eleven_steps, measured=real.loc[11, 2], choices=(0, 0.5, 0.9))
real.round(2)

# %% [markdown]
# With two formats, hardly any text is a date after one step: again, each position chooses independently. With one new
# token per step, most texts are dates, because the model reads all earlier tokens before it draws the next one. In
# between, more steps give more dates. With one format, more steps don't always help: with all three seeds, 3 steps are
# worse than 2 (0.35 to 0.41 against 0.45 to 0.65; we don't know why). And each step costs a pass over the whole text.
# Because every position attends to all others, an exact cache (lesson 10) is impossible. Approximate caches work ([Wu
# et al., 2025](https://arxiv.org/abs/2505.22618)), and models that generate block by block can cache the finished
# blocks exactly.

# %% [markdown]
# ## Your experiment
#
# Ungraded, about 20 minutes. Test a claim of your own the way this lesson tests its claims, or start with this one:
#
# **Claim.** For dates, a decoder doesn't need to look back at its own text: if its self-attention sees only the newest
# token, the fraction of dates without an error falls by at most 0.05.
#
# **Prediction.** Before you run anything, write down in how many of three runs the claim will hold.
#
# **Verdict.** Say in one sentence what the runs show. Then train for 100 steps instead of 300: is your sentence still
# true, or does it have to mention the number of steps? A claim that fails is a result, too.

# %% id="experiment" tags=["experiment", "skip-execution"]
prediction = ...  # in how many of the three runs will the claim hold?
holds = []
for seed in range(3):
    right = []
    for kind in (Translator, ...):  # for the dots, a class of your own: its mask is torch.eye(n, dtype=torch.bool)
        model = seeded(seed, kind)  # from one seed, both kinds start alike and train on the same batches
        train(model)
        right.append(exact(generate(model, new_sources), new_targets))
    holds.append(...)  # True or False, from the two numbers in `right`
print("predicted:", prediction, " measured:", holds)
# Verdict:

# %% [markdown]
# ## In short
#
# - A decoder layer attends to the target so far (causal mask), then to the memory (padding mask of the source), and
#   then applies the feed-forward network.
# - Cross-attention takes its queries from the target, and keys and values from the encoder's last layer.
# - In training the decoder reads the labels, shifted right, in one pass. At inference it reads its own output.
# - After its own errors a model continues worse: exposure bias. In our dates, an error drags one more token with it.
# - If a model is perfect with teacher forcing but generates nonsense, look for leaks and for unshifted labels.
# - Test for leaks, the residual stream and unequal lengths before you train.
# - A model that generates one token after another can stick to the answer it has begun.

# %%
target, memory = parts.shift_right(new_targets[:2], BOS), torch.randn(2, 18, 32)
table = trace_shapes(translators[0].decoder, target, memory).drop(columns="class")
print({"batch": 2, "n": 11, "n_source": 18, "d_model": 32, "d_ff": 128, "vocab_size": len(alphabet)})
table[~table.module.str.contains("w_")].replace({"module": {"": "Decoder"}})

# %% [markdown]
# ## New words
#
# The [glossary](glossary.ipynb) lists the terms from all lessons.
#
# - **target**: the text that a decoder generates, or should generate.
# - **memory**: the output of the encoder's last layer, which every decoder layer reads.
# - **labels**: the tokens that a model should predict, one for each position.
# - **shifted right**: with bos in front and the last token dropped; a decoder's inputs are its labels, shifted right.
# - **exposure bias**: the loss in accuracy when a model reads its own errors, because it has read only correct tokens
#   in training.
# - **encoder-decoder**: a model with two stacks, joined by cross-attention.
# - **encoder-only**: a model of self-attention in which each position attends to all positions.
# - **decoder-only**: a model of causal self-attention without an encoder.
# - **prefix mask**: a mask that is open for the first tokens and causal after them.
# - **diffusion language model**: a model that generates a text in several steps, starting from masked tokens, in any
#   order.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first. The section named at the end of each answer has the cell that shows it.
#
# <details><summary>In cross-attention, where do queries, keys and values come from?</summary>
#
# The queries come from the decoder, one for each target position. The keys and values come from the encoder's output.
# (<i>Self-attention and cross-attention</i>)
# </details>
#
# <details><summary>Which masks does a decoder layer need?</summary>
#
# Self-attention needs a causal mask, and the target's padding mask if the padding comes first. Cross-attention needs
# only the source's padding mask, since no part of the source lies in the future. (<i>Self-attention and
# cross-attention</i>: the first output depends on 1 of 7 target tokens and 11 of 11 source characters)
# </details>
#
# <details><summary>Does decoder layer i read encoder layer i?</summary>
#
# No, all of them read the last encoder layer. You can train a model layer to layer too, but it is a different model:
# with two layers and with three, its parameters did much worse in most of our runs when all its decoder layers read the
# last encoder layer. (<i>Last layer, or layer to layer?</i>)
# </details>
#
# <details><summary>What is teacher forcing, and why is the target shifted?</summary>
#
# In training the decoder reads the correct target, so one pass trains all positions, and none of them has to continue
# nonsense. The target is shifted right so that each position reads the tokens before its label. Unshifted, it would
# read the label itself. (<i>Teacher forcing and the shift to the right</i>, <i>Two bugs</i>)
# </details>
#
# <details><summary>What is exposure bias, and how can you measure it?</summary>
#
# In training a decoder reads only correct tokens. At inference it reads its own, errors included, and has not learned
# to continue after them. To measure it, look at the tokens after the first error of a generated text, and compare with
# the same positions under teacher forcing. Split them by their distance from the error: an average hides where the harm
# is. Directly after an error, our models (300 steps) got hardly any token right, and further on nearly all of them.
# With the correct text, they got nearly all tokens right. A text without an error is not affected. (<i>The loop that
# generates</i>)
# </details>

# %% [markdown]
# <details><summary>The validation loss is near 0, but the model generates garbage. What could be wrong?</summary>
#
# The target leaks: the causal mask is missing, the encoder reads the target, or the labels were not shifted. The loss
# on held-out data does not show this, but generating does. The leak test finds the first two, and comparing inputs with
# labels finds the third. (<i>Two bugs</i>)
# </details>
#
# <details><summary>Nine of ten tokens are right with teacher forcing. How many whole outputs are right?</summary>
#
# Far fewer: with n tokens and independent errors, 0.9 to the power of n. For 11 tokens, at 0.93 per token, we measured
# about four in ten. (<i>The loop that generates</i>)
# </details>
#
# <details><summary>How would you review a Transformer that someone else wrote, before training it?</summary>
#
# Change a later token and check that no earlier output changes (leaks). Multiply a pre-norm layer's input by 1,000 and
# check that the output is about 1,000 times the input (residual stream). Run it on a source and a target of different
# lengths, and give every other dimension its own size, too (wrong reshapes). (<i>Bug hunt</i>)
# </details>
#
# <details><summary>Encoder-only, decoder-only, encoder-decoder: what is the difference?</summary>
#
# They differ in what each position may attend to: everything; itself and the past; or all of the source and the past of
# the target. A decoder-only layer has a self-attention sublayer but no cross-attention. An encoder-only model answers
# at all positions at once and mixes answers if several are equally likely. BERT is encoder-only, T5 is encoder-decoder,
# and GPT is decoder-only. So is, as far as is known, ChatGPT: pretrained on text, then fine-tuned on answers and on
# people's preferences (RLHF, lesson 14). (<i>Encoder-only, decoder-only, encoder-decoder</i>)
# </details>
#
# <details><summary>How does a diffusion language model generate, and what does it cost?</summary>
#
# It starts from hidden tokens. In each step it predicts them all, keeps some, and hides the others again. A few steps
# are fast, but tokens drawn in the same step are drawn independently of each other. Each step is a pass over the whole
# text, and there is no exact cache unless the model generates block by block. (<i>★ Diffusion</i>)
# </details>
#
# <details><summary>What does an alignment tell you?</summary>
#
# It shows where each generated token attended, averaged over the heads. It does not prove which character the model
# used, because the memory's vectors also contain information from other positions. To find out, hide those positions
# and measure again. As a control, hide other positions, too. (<i>What does cross-attention attend to?</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Vaswani et al. (2017), [arXiv:1706.03762](https://arxiv.org/abs/1706.03762), sections 3.1 and 3.2.3: the decoder,
#   and the model's three uses of attention.
# - Raffel et al. (2020), *T5*, [arXiv:1910.10683](https://arxiv.org/abs/1910.10683), section 3.2: two stacks, one
#   stack, and the prefix mask, compared at scale. BART: Lewis et al. (2020),
#   [arXiv:1910.13461](https://arxiv.org/abs/1910.13461).
# - Ranzato et al. (2016), [arXiv:1511.06732](https://arxiv.org/abs/1511.06732): exposure bias. Williams and Zipser
#   (1989), *Neural Computation* 1: teacher forcing.
# - The library's versions, with a cache: `transformer_lab/layers/decoder_layer.py`, `transformer_lab/models/decoder.py`
#   and `transformer.py` in the same folder.

# %% [markdown]
# How far did you get, and how well did you predict?

# %% id="tally"
tally()

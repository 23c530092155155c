# %% [markdown] id="title"
# # 07 · The decoder: generating text from the encoder's output
#
# **The question.** The models that people chat with are decoders. When an encoder has read `3 mars 2021`, how does a
# decoder generate `2021-03-03` from that, one character after another? And how does it learn to, from finished
# translations?
#
# **Afterwards you can** write a decoder layer and a stack of them, say what each of its attentions attends to and under
# which mask, prepare a decoder's inputs for training, and test a model for two bugs that are easy to make.
#
# Reading: 39 minutes. Exercises: 50 minutes (three core, one stretch ★). With all predictions, runs and questions:
# about 135 minutes.

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
# <details><summary>Lesson 06: what does a post-norm layer do with the output of a sublayer?</summary>
#
# It adds the output to the sublayer's input, and normalizes the sum: norm(x + sublayer(x)).
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

from transformer_course import check, compare, diagrams, hint, parts, plots, solution, tally
from transformer_lab import initialize, record_attention, trace_shapes

# %%
_ = torch.manual_seed(7)

# %%
diagrams.architecture.you_are_here(7)

# %% [markdown]
# ## Self-attention and cross-attention
#
# A decoder that has generated `2021-0` has two questions. *What have I generated?* The answer is in its own text, the
# **target**. *What does the source say?* The answer is in the encoder's output: one vector for each source token,
# called the **memory**. So a decoder layer has two attentions, followed by a feed-forward network:
#
# | sublayer | queries | keys and values |
# |---|---|---|
# | self-attention | the target so far | the target so far |
# | cross-attention | the target so far | the memory |
# | feed-forward | | |
#
# This is what you will build. The thick line is the residual stream of the target; the memory enters from the side,
# once in each layer, and only as keys and values:

# %%
diagrams.layers.layer(parts.DecoderLayer(32, 4, 128))

# %% [markdown]
# The same as a formula, with $M$ for the memory:
#
# $$x \leftarrow \operatorname{LN}(x + \operatorname{SelfAttention}(x, x, x))$$
#
# $$x \leftarrow \operatorname{LN}(x + \operatorname{CrossAttention}(x, M, M))$$
#
# $$x \leftarrow \operatorname{LN}(x + \operatorname{FFN}(x))$$
#
# Here $x$ is (n, d_model), a row for each target token, and $M$ is (n_source, d_model). LN is LayerNorm, and the
# arguments of each attention are query, key, value. The two lengths are independent. There is *one* self-attention in
# each layer.
#
# **Exercise.** Write `forward`; `mask` is for the first attention, `memory_mask` for the second. (`parts`
# holds your own versions where they have passed, as before.)


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
# `<bos>2021-0`, for now as random vectors. (`<bos>` says *begin*, as in lesson 04.) The first attention gets a causal
# mask, the second none. The picture below follows the gradient: inputs that move an output are bright.
#
# **Predict.** How many of the 7 target tokens, and how many of the 11 source characters, move the *first* output?

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
_, axes = plt.subplots(1, 2, figsize=(11, 3.4), layout="constrained")
titles = "target: only what is not later", "source: every character"
for ax, moving, names, title in zip(axes, moves, (tokens, letters), titles):
    plots.mask(moving, tokens, names, ax, labels=("does not move it", "moves it"))
    ax.set(xlabel="input", ylabel="output", title=title)

# %% [markdown]
# The target is generated one token after another, but the whole source is there from the start: none of it is future.
# So **cross-attention has no causal mask**. What it needs is the padding mask of the source:

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
# A decoder begins as the encoder did: embeddings times √d_model, plus positions. Then come the layers. Each of them
# reads **the same memory**: the output of the encoder's *last* layer. However many layers there are, the encoder hands
# over a single matrix. (Layers are looped over in every forward pass; tokens are looped over only at inference, in
# `generate` below.)
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
# With an encoder before it and a linear layer after it, which computes the logits, it is a whole **encoder-decoder**
# model, the Transformer of the paper.

# %%
PAD, BOS, EOS = 0, 1, 2


class Translator(nn.Module):
    """Having read the source, score what comes after each target token."""

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
# The texts: all days of a hundred years, in French and in ISO 8601. Every tenth is held out.

# %% tags=["hide-input"]
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
held_out = torch.arange(len(days)) % 10 == 0
print(f"{french[0]!r} → {days[0]}, {french[-1]!r} → {days[-1]}; {len(alphabet)} tokens")

# %%
diagrams.memory.memory_of(Translator(n_layers=2), sources[:1], targets[:1])

# %% [markdown] id="caption-one-memory"
# Both decoder layers get their keys and values from the same memory.

# %% [markdown]
# ## Teacher forcing and the shift to the right
#
# At inference a model is autoregressive: it reads what it has generated itself. At the start of training that is
# nonsense, and the model would learn to continue nonsense. So in training it reads the correct target, as if that were
# its own output: teacher forcing (lesson 00). Thanks to the causal mask, one pass trains all positions.
#
# What should each position read? To predict the first token, the model reads `<bos>`; to predict the second, the first.
# What it should predict are the **labels**; `<eos>`, *end*, is one of them. The input is the labels, **shifted right**
# by one: in the picture, each label is the next input.

# %%
labels = [*"2021-03-03", "<eos>"]
diagrams.teacher_forcing.rows(["<bos>", *labels[:-1]], labels)

# %% [markdown]
# **Exercise.** Make the inputs from the labels, for a batch of texts. Only the last token of each row is dropped. (In a
# padded text that is a `<pad>`, so its `<eos>` stays in the input.) `torch.cat([a, b], dim=1)` puts two matrices side
# by side, and `torch.full((4, 1), 7)` is a column of four sevens.


# %% id="shift_right" tags=["exercise"]
def shift_right(tokens: Int[Tensor, "batch n"], bos_id: int) -> Int[Tensor, "batch n"]:
    """Return the decoder's input, made from its labels: ``bos_id`` in front of every row, without its last token."""
    raise NotImplementedError


# %% id="check-shift_right"
check(shift_right)

# %% [markdown]
# We use a model in two ways. `teacher_forced` measures how often the next token is right when the model is given the
# correct ones before it. `generate` lets the model read its own tokens (all our dates have eleven; in general,
# generation stops at `<eos>`), and `exact` measures how often such a date is right as a whole. (The training loop is
# folded.)


# %%
new_sources, new_targets = sources[held_out][::36], targets[held_out][::36]  # 102 dates


@torch.no_grad()
def teacher_forced(model: nn.Module, source: Tensor, labels: Tensor) -> float:
    predicted = model(source, parts.shift_right(labels, BOS)).argmax(dim=-1)
    return (predicted == labels).float().mean().item()


@torch.no_grad()
def generate(model: nn.Module, source: Tensor, sample: bool = False) -> Tensor:
    """Begin with bos; append the likeliest token, or a sampled one, eleven times."""
    target = torch.full((len(source), 1), BOS)
    for _ in range(11):
        logits = model(source, target)[:, -1]
        new = torch.softmax(logits, dim=-1).multinomial(1) if sample else logits.argmax(dim=-1, keepdim=True)
        target = torch.cat([target, new], dim=1)
    return target[:, 1:]


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
            generated = generate(model, new_sources)
            found = teacher_forced(model, new_sources, new_targets), exact(generated, new_targets), loss.item()
            for measured, value in zip(seen.values(), found):
                measured.append(value)
    return seen


# %%
def seeded(seed: int, kind: type[nn.Module], **sizes) -> nn.Module:
    torch.manual_seed(seed)
    return kind(**sizes)


# %% [markdown]
# We train three models, each with its own seed (about 10 seconds). After 100 steps, about 9 of 10 tokens are right with
# teacher forcing.
#
# **Predict.** What fraction of the dates do these models then generate without an error: near 0.9, 0.7 or 0.4? And what
# fraction at the end, after 300 steps?

# %% tags=["prediction"]
prediction_early, prediction_end = ..., ...

# %% tags=["words-only"]
translators = [seeded(seed, Translator) for seed in range(3)]
runs = [train(translator, watch=True) for translator in translators]
curves = {
    how: torch.tensor([run[how] for run in runs]) for how in ("tokens right, teacher-forced", "dates right, generated")
}  # (3, 6)
per_token, whole = (curve.mean(dim=0) for curve in curves.values())
compare(prediction_early, measured=round(whole[1].item(), 1))
compare(prediction_end, measured=round(whole[-1].item(), 1))
print(f"after 100 steps: {per_token[1]:.2f} of the tokens are right, teacher-forced")
print(f"were the errors independent, whole dates: {per_token[1]:.2f} to the power of 11 = {per_token[1] ** 11:.2f}")
ax = plots.lines(range(50, 301, 50), curves, xlabel="step", ylabel="fraction that is right")

# %% [markdown]
# After 100 steps the two curves are far apart. Most of that is arithmetic: a date is right only if all eleven tokens
# are. So accuracy per token says little about whole texts.
#
# Besides, a model reads only correct tokens in training; at inference it also reads its own errors, and it has never
# learned to continue after one: **exposure bias**. In long texts, one error leads to more.

# %% [markdown]
# ## What does cross-attention attend to?
#
# Cross-attention leaves a trace. The weights over the source, for each generated token, are an alignment as in lesson
# 00. Nobody told the model where to attend.

# %% tags=["nbval-ignore-output"]
one, letters = as_tokens(["3 mars 2021"], 12), [*letters, "<eos>"]
with record_attention(translators[0]) as recorded:
    translators[0](one, parts.shift_right(as_tokens(["2021-03-03"], 11), BOS))
[name] = [name for name in recorded if "cross_attention" in name]
weights = recorded[name][0].mean(dim=0)  # the mean of the four heads: (11, 12)
ax = plots.weights(weights, labels, letters, xlabel="read", ylabel="generated")

# %% [markdown]
# Each row is named after the token generated there. The last digits of the year attend to the year, those of the month
# mostly to the month, those of the day in large part to the day. The hyphens are the same in every date: nothing has to
# be looked up.
#
# But a weight says where the model attends, not what it finds there: the memory's vectors have themselves gathered
# information from other positions. To test this, we hide the letters of the month from cross-attention at inference.
# The encoder still reads them.
#
# **Predict.** How often is the month still right, on average over the three models: near 0.1, 0.5 or 0.9?

# %% tags=["prediction"]
prediction = ...


# %% tags=["words-only"]
class WithoutLetters(Translator):
    def memory_mask(self, source: Tensor) -> Tensor:
        is_letter = torch.tensor([token.isalpha() for token in alphabet])[source]
        return super().memory_mask(source) & ~is_letter[:, None, None]


def right(model: nn.Module) -> dict[str, float]:
    """Return the fraction of held-out dates of which a part is right."""
    same = generate(model, new_sources) == new_targets
    spans = {"year": slice(4), "month": slice(5, 7), "day": slice(8, 10)}
    return {part: same[:, span].all(dim=-1).float().mean().item() for part, span in spans.items()}


rows = {}
for seed, translator in enumerate(translators):
    without_letters = WithoutLetters()
    without_letters.load_state_dict(translator.state_dict())
    rows[f"seed {seed}"], rows[f"seed {seed}, letters hidden"] = right(translator), right(without_letters)
table = pd.DataFrame(rows).T
compare(prediction, measured=round(table["month"][1::2].mean(), 1))
table.round(2)

# %% [markdown]
# Now the month is hardly better than a guess among 12, and the year is as right as before. So the weights told the
# truth about these two. But the day can get worse, too, although no letter says which day it is: such a model had
# found something else at the letters' positions.

# %% [markdown]
# ## Two bugs
#
# In one, the labels are not shifted: the decoder is given what it should predict. In the other, the encoder is given
# the wrong text: the target goes into both stacks.


# %%
class TargetInBoth(Translator):
    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        return super().forward(target, target)


# %% [markdown]
# The decoder of this model has a proper causal mask.
#
# **Predict.** What fraction of tokens does the model with the target in both get right with *teacher forcing*, and what
# fraction of dates when it *generates*? (Six runs: about 10 seconds.)

# %% tags=["prediction"]
prediction_forced, prediction_generated = ..., ...

# %% tags=["approximate"]
bugs, seen = {"target in both": (TargetInBoth, True), "not shifted": (Translator, False)}, {"as it should be": runs}
for name, (kind, shift) in bugs.items():
    broken = [seeded(seed, kind) for seed in range(3)]
    seen[name] = [train(model, shift, steps=150, watch=True) for model in broken]
    print(f"{name:15} generates", "".join(alphabet[i] for i in generate(broken[0], one)[0].tolist()))
with torch.no_grad():  # the last three, not shifted: given what they were trained on
    for run, model in zip(seen["not shifted"], broken):
        predicted = model(new_sources, new_targets).argmax(dim=-1)
        run["tokens right, teacher-forced"] = [(predicted == new_targets).float().mean().item()]
ends = {name: {how: [run[how][-1] for run in three] for how in runs[0]} for name, three in seen.items()}
compare(prediction_forced, measured=round(sum(ends["target in both"]["tokens right, teacher-forced"]) / 3, 2))
compare(prediction_generated, measured=round(sum(ends["target in both"]["dates right, generated"]) / 3, 1))
pd.DataFrame(ends).T.map(lambda three: f"{min(three):.2f} to {max(three):.2f}")  # of three runs

# %% [markdown]
# The training loss is near 0, and nearly all tokens of dates that the models have never seen are right. Yet none of the
# six models generates a single date. What goes wrong?
#
# - *Not shifted*: each position finds its label in its own input, so the model learns to repeat its input.
# - *Target in both*: the causal mask is in the decoder, but the encoder has none, and it reads the target. So the
#   memory holds what comes next, and cross-attention hands it over. At inference it is not there.

# %% [markdown]
# ### Would the leak test have told us?
#
# `leaks_future` of lesson 04 takes a model of one argument, so we fix the source. Untrained models will do.
#
# **Predict.** What does the test say, `"leaks"` or `"honest"`, of the model with the target in both? And of the one
# whose labels are not shifted?

# %% tags=["prediction"]
prediction_in_both, prediction_unshifted = ..., ...


# %%
class OfOneSource(nn.Module):
    """A model of the target alone."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, target: Tensor) -> Tensor:
        return self.model(one.expand(len(target), -1), target)


says = {}
for name, model in {"target in both": TargetInBoth(), "not shifted": Translator()}.items():
    leaks = parts.leaks_future(OfOneSource(model), parts.shift_right(new_targets[:4], BOS))
    says[name] = "leaks" if leaks else "honest"
compare(prediction_in_both, measured=says["target in both"])
compare(prediction_unshifted, measured=says["not shifted"])

# %% [markdown]
# The test finds the target in the encoder. It cannot find the missing shift, as that model *is* honest: output $t$
# depends on nothing after input $t$. What is wrong is the input, so test the data: the input at $t + 1$ must be the
# label at $t$.

# %%
label = new_targets[:4]
for name, given in {"shifted": parts.shift_right(label, BOS), "not shifted": label}.items():
    print(f"{name:12} input after label: {bool((given[:, 1:] == label[:, :-1]).all())}")

# %% [markdown]
# ## Bug hunt
#
# A colleague speeds up `generate`: "The memory is the same at every step, so the layer keeps it." Her first text is
# right, and all later ones are strange. Read the code and decide what is wrong *before* you run the check. Then write a
# correct `Mended` in the cell after it.


# %% tags=["bug-hunt"]
class DecoderLayerOfAColleague(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attention = parts.MultiHeadAttention(d_model, n_heads)
        self.cross_attention = parts.MultiHeadAttention(d_model, n_heads)
        self.feed_forward = parts.FeedForward(d_model, d_ff)
        self.norm_1, self.norm_2, self.norm_3 = (nn.LayerNorm(d_model) for _ in range(3))
        self.kept = None

    def forward(self, x, memory, mask=None, memory_mask=None):
        if self.kept is None or self.kept.shape != memory.shape:
            self.kept = memory
        x = self.norm_1(x + self.self_attention(x, x, x, mask))
        x = self.norm_2(x + self.cross_attention(x, self.kept, self.kept, memory_mask))
        return self.norm_3(x + self.feed_forward(x))


# %% id="mend-decoder-layer"
Mended = DecoderLayerOfAColleague

# %% id="check-mend-decoder-layer"
check(Mended, "DecoderLayer", save=False)

# %% [markdown]
# <details><summary>How to find such a bug without a check</summary>
#
# Call the same layer twice, with two memories: the outputs have to differ. Here the second text is answered with the
# memory of the first, as long as both have the same shape; so a test with a new model for each text finds nothing.
# Whatever is kept between calls (a cache, lesson 10) has to be emptied between texts, in plain view of the caller.
# </details>

# %%
other = torch.randn(1, 11, 32)
for name, kind in {"the colleague's": DecoderLayerOfAColleague, "ours": parts.DecoderLayer}.items():
    suspect = kind(32, 4, 128)
    print(f"{name:15} gives another output for another memory:", not torch.equal(suspect(x, memory), suspect(x, other)))

# %% [markdown]
# ## Last layer, or layer to layer?
#
# Our decoder layers all read the output of the encoder's last layer. Many drawings show something else: layer 1 of the
# encoder feeds layer 1 of the decoder, and so on. Is that wrong? We build it, with two layers, and train it.


# %%
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


# %%
kinds = {"last layer": Translator, "layer to layer": LayerToLayer}
drawn = [diagrams.memory.memory_of(kind(n_layers=2), sources[:1], targets[:1]) for kind in kinds.values()]
diagrams.canvas.beside(*drawn, titles=tuple(kinds), cross_out=False)

# %% [markdown]
# On the left, both decoder layers read the same memory; on the right, each reads the encoder layer beside it. The
# parameters have the same names and shapes, so we can train a model in one way and then *use* it in the other.
#
# **Predict.** Three models are trained layer to layer. What fraction of the dates do they generate without an error if
# they are used as they were trained, near 0.1, 0.5 or 0.8? And if all decoder layers read the last layer, is that
# fraction `"worse"` or `"equal"`? (About 10 seconds.)

# %% tags=["prediction"]
prediction_own, prediction_exchanged = ..., ...

# %% tags=["words-only"]
found = {}
for seed in range(3):
    model, user = seeded(seed, LayerToLayer, n_layers=2), Translator(n_layers=2)
    train(model, steps=200)
    user.load_state_dict(model.state_dict())
    found[f"seed {seed}"] = [exact(generate(m, new_sources), new_targets) for m in (model, user)]
table = pd.DataFrame(found, index=list(kinds)[::-1]).T.rename_axis(columns="used")
own, exchanged = table["layer to layer"].mean(), table["last layer"].mean()
compare(prediction_own, measured=own, choices=(0.1, 0.5, 0.8))
compare(prediction_exchanged, measured="worse" if exchanged < own - 0.02 else "equal")
table.round(2)

# %% [markdown]
# Layer to layer can be learned as well, at least for our dates: it is another model, not a broken one. But its
# parameters do worse when all decoder layers read the encoder's last layer, with some seeds much worse. The paper's
# Transformer reads the last layer, and so do T5, BART and Marian, published encoder-decoder models: to load their
# parameters, your code must do the same.

# %% [markdown]
# ## Encoder-only, decoder-only, encoder-decoder
#
# Do we need two stacks? Three families of models are built from these layers.
#
# | | a layer has | each position attends to | e.g. |
# |---|---|---|---|
# | **encoder-only** | self-attention, FFN | everything | BERT |
# | **decoder-only** | self-attention, FFN | itself and what came before | GPT |
# | encoder-decoder | encoder: the same; decoder: also cross-attention | source: all; target: causal | the paper's, T5 |
#
# A decoder without cross-attention *is* an encoder with a causal mask. Its layer has one self-attention, not two.
# Today's **large language models** (LLMs) are decoder-only.
#
# So one `parts.Encoder` is enough for either of the first two families. The encoder-only model answers at all positions
# at once: its output at position $t$ is token $t$ of the answer. The decoder-only model reads source and target as one
# text.


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
# Our task has one right answer. Most do not: a sentence has many translations. So we also train on targets in one of
# two formats, chosen at random, `2021-03-03` or `03/03/2021`, and let the models *sample* each character.
#
# **Predict.** Encoder-only: what fraction of the sampled dates is right when there is one right answer: near 0, 0.5 or
# 0.9? And when there are two, and either counts? (Twelve runs, folded: about 20 seconds.)

# %% tags=["prediction"]
prediction_one_format, prediction_two_formats = ..., ...

# %% tags=["hide-input", "approximate"]
slashed = as_tokens([day.strftime("%d/%m/%Y") for day in days], 11)
found, examples = {}, {}
for kind, forms in (
    (EncoderOnly, (targets,)),
    (EncoderOnly, (targets, slashed)),
    (DecoderOnly, (targets, slashed)),
    (Translator, (targets, slashed)),
):
    how = f"{kind.__name__}, {len(forms)} format{'s' * (len(forms) - 1)}"
    found[how] = []
    for seed in range(3):
        model = seeded(seed, kind)
        train(model, forms=forms)
        sampled = generate(model, new_sources, sample=True)
        found[how].append(sum(exact(sampled, form[held_out][::36]) for form in forms))
    examples[how] = ", ".join("".join(alphabet[i] for i in row[:10]) for row in sampled[:2].tolist())
    print(f"{how}: {', '.join(f'{right:.2f}' for right in found[how])} right")
one_format, two_formats = (sum(found[f"EncoderOnly, {how}"]) / 3 for how in ("1 format", "2 formats"))
compare(prediction_one_format, measured=round(one_format, 1))
compare(prediction_two_formats, measured=round(two_formats, 1))

# %% id="sampled-dates" tags=["nbval-ignore-output"]
for how, two in examples.items():
    print(f"{how}, such as {two}")

# %% [markdown]
# Where there is one right answer, and it is no longer than the source, answering at once works. With two right answers
# it fails: each position samples by itself, one from the first format and its neighbor from the second. An
# autoregressive model knows which format it has begun, and continues with it. That is what decoders are for.
# Decoder-only and encoder-decoder get most dates right: the source may have a stack of its own or stand in front of the
# target.

# %% [markdown]
# ## ★ Transfer: one stack that reads both ways
#
# A decoder-only model reads the source with a causal mask, although all of it is there. A **prefix mask** changes that:
# in each row of the batch, the first `prefix_lengths[row]` tokens are open to *every* query; after them, the mask is
# causal as before. Write this mask from scratch. `" batch"` is one axis, with a length for each row.


# %% id="prefix_mask" tags=["exercise"]
def prefix_mask(prefix_lengths: Int[Tensor, " batch"], length: int) -> Bool[Tensor, "batch 1 length length"]:
    """Return the mask by which every position attends to its row's prefix and to what is not later than itself."""
    raise NotImplementedError


# %% id="check-prefix_mask"
check(prefix_mask)

# %% [markdown]
# **Predict.** Two decoder-only models with the same parameters, one causal, one with a prefix mask over the source. Are
# the logits of the *target* the `"same"` or `"different"`, if they have one layer? And with two?

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
# (The picture shows a prefix of 4 among 9 tokens: the columns of the prefix are open in every row.) With one layer, the
# mask changes only the output *at the source*, which no later layer reads: the target attends to the source's
# embeddings either way. From the second layer on, the target attends to vectors that have themselves attended.

# %% [markdown]
# ## ★ Diffusion: a text in several steps
#
# The encoder-only model failed because it answered at all positions at once. What if it takes several steps? A
# **diffusion language model** ([Austin et al., 2021](https://arxiv.org/abs/2107.03006); with 8 billion parameters:
# LLaDA, [Nie et al., 2025](https://arxiv.org/abs/2502.09992)) begins with nothing but hidden tokens. At each step it
# draws all of them, keeps those of which it is surest, and hides the others again; at the next step it reads what was
# kept. In training, a random fraction of each text is hidden, from almost none to almost all: it is the gap filler of
# lesson 06.
#
# Ours generates dates out of nothing, in either format. `<bos>` stands for what is hidden.


# %% id="unmasking"
class Unmasker(EncoderOnly):
    """Fill in what is hidden; in training, hide a random fraction of each text first."""

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
        sure = probabilities.gather(-1, drawn[..., None])[..., 0].masked_fill(text != BOS, 2.0)  # what is kept, stays
        kept = sure.topk(11 * step // n_steps).indices
        text = text.scatter(1, kept, drawn.gather(1, kept))
    return text


# %% [markdown]
# **Predict.** What fraction of 200 texts are real dates if all eleven tokens come in *one* step: near 0, 0.5 or 0.9?
# And in eleven steps, a token at each? (Three runs, folded: about 10 seconds.)

# %% tags=["prediction"]
prediction_one_step, prediction_eleven_steps = ..., ...

# %% id="dates-in-several-steps" tags=["hide-input", "approximate"]
real = {tuple(row) for form in (targets, slashed) for row in form.tolist()}
found, examples = {}, {}
for seed in range(3):
    model = seeded(seed, Unmasker)
    train(model, shift=False, forms=(targets, slashed))
    model.eval()
    for n_steps in (1, 2, 3, 5, 11):
        rows = unmask(model, 200, n_steps).tolist()
        found.setdefault(n_steps, []).append(sum(tuple(row) in real for row in rows) / 200)
        if seed == 0:
            examples[n_steps] = ["".join(alphabet[i] for i in row[:10]) for row in rows[:4]]
compare(prediction_one_step, measured=sum(found[1]) / 3, choices=(0, 0.5, 0.9))
compare(prediction_eleven_steps, measured=sum(found[11]) / 3, choices=(0, 0.5, 0.9))
pd.DataFrame(found).T.rename_axis(index="steps", columns="real dates, seed").round(2)

# %% id="unmasked-dates" tags=["nbval-ignore-output"]
pd.DataFrame(examples).T.rename_axis("steps")

# %% [markdown]
# In one step hardly any text is a date: each position draws by itself, and the formats mix, as above. With a token at
# each step most are, since each is drawn in view of those before it, wherever they stand. In between, quality is traded
# for speed: a step may bring several tokens. But a step is a pass over the whole text. An exact cache (lesson 10) is
# impossible, as each position attends to all others; approximate ones work ([Wu et al.,
# 2025](https://arxiv.org/abs/2505.22618)).

# %% [markdown]
# ## Your experiment
#
# Ungraded, about 20 minutes. Test a claim of your own as this lesson tests its claims, or begin with this one:
#
# **Claim.** For dates, a decoder need not look back at its own text: if its self-attention sees only the newest token,
# the fraction of dates without an error is lower by 0.05 at most.
#
# **Prediction.** Before you run anything, write down in how many of three runs the claim will hold.
#
# **Verdict.** Say in one sentence what the runs show. A claim that fails is a result, too.

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
# - A decoder layer attends to the target so far (causal mask) and to the memory (no causal mask, but the source's
#   padding mask), then computes.
# - In cross-attention the queries come from the target, keys and values from the encoder's last layer, for every
#   decoder layer alike. The two lengths may differ.
# - In training the decoder reads the labels, shifted right; at inference, what it has generated itself.
# - If a model is perfect with teacher forcing and generates nonsense, look for the target in the encoder and for labels
#   that were not shifted. The leak test finds the first, a look at the data the second.
# - Because it generates one token after another, a model can stay with the answer that it has begun.

# %%
target, memory = parts.shift_right(new_targets[:2], BOS), torch.randn(2, 18, 32)
table = trace_shapes(translators[0].decoder, target, memory).drop(columns="class")
print({"batch": 2, "n": 11, "n_source": 18, "d_model": 32, "d_ff": 128, "vocab_size": len(alphabet)})
table[~table.module.str.contains("w_")].replace({"module": {"": "Decoder"}})

# %% [markdown]
# ## New words
#
# The words of all lessons are in the [glossary](glossary.ipynb).
#
# - **target**: the text that a decoder generates, or should.
# - **memory**: the output of the encoder's last layer, which every decoder layer reads.
# - **labels**: the tokens that a model should predict, one for each position.
# - **shifted right**: with bos in front and the last token dropped, as a decoder's inputs are made from its labels.
# - **exposure bias**: reading only correct tokens in training, and never one's own errors.
# - **encoder-decoder**: a model with two stacks, joined by cross-attention.
# - **encoder-only**: a model of self-attention in which each position attends to all.
# - **decoder-only**: a model of causal self-attention without an encoder.
# - **prefix mask**: a mask that is open in the first tokens and causal after them.
# - **diffusion language model**: a model that generates a text in several steps, from hidden tokens, in any order.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
#
# <details><summary>In cross-attention, where do queries, keys and values come from?</summary>
#
# Queries from the decoder, one for each target position; keys and values from the encoder's output. (<i>Self-attention
# and cross-attention</i>)
# </details>
#
# <details><summary>Which masks does a decoder layer need?</summary>
#
# Self-attention: causal (and the target's padding, if it stands in front). Cross-attention: the source's padding
# only, for nothing of the source is future. (<i>Self-attention and cross-attention</i>: 1 of 7 and 11 of 11)
# </details>
#
# <details><summary>Does decoder layer i read encoder layer i?</summary>
#
# No, all of them read the last one. Layer to layer can be trained too, but it is another model: with every seed its
# parameters do worse when all layers read the last one, with some seeds much worse. (<i>Last layer, or layer to
# layer?</i>)
# </details>
#
# <details><summary>What is teacher forcing, and why is the target shifted?</summary>
#
# Feeding the correct target in training, so that all positions are trained in one pass and none has to continue
# nonsense. Shifted right, so that a position reads what comes before its label; unshifted, it would read the label.
# (<i>Teacher forcing and the shift to the right</i>, <i>Two bugs</i>)
# </details>
#
# <details><summary>What is exposure bias?</summary>
#
# In training a decoder reads correct tokens only; at inference it reads its own, errors included, and has not learned
# to continue after them. It makes what follows an error worse; it cannot spoil a text that has no error yet.
# (<i>Teacher forcing and the shift to the right</i>)
# </details>

# %% [markdown]
# <details><summary>The validation loss is near 0, but the model generates garbage. What could be wrong?</summary>
#
# The target leaks: a missing causal mask, the target in the encoder, labels that were not shifted. The loss on held-out
# data does not show this; generating does. The leak test finds the first two, and comparing inputs with labels the
# third. (<i>Two bugs</i>)
# </details>
#
# <details><summary>Nine of ten tokens are right with teacher forcing. And whole outputs?</summary>
#
# Far fewer are right: with n tokens, .9 to the power of n if errors were independent. (<i>Teacher forcing and the shift
# to the right</i>: about four in ten)
# </details>
#
# <details><summary>Encoder-only, decoder-only, encoder-decoder: what is the difference?</summary>
#
# What each position may attend to: everything; itself and the past; all of the source, and the past of the target. A
# decoder-only layer has one self-attention and no cross-attention. Encoder-only answers all positions at once, and
# mixes answers where several are right. (<i>Encoder-only, decoder-only, encoder-decoder</i>) BERT is encoder-only, T5
# encoder-decoder; GPT is decoder-only, and ChatGPT is such a model, pretrained on text, then fine-tuned on answers and
# on people's preferences (RLHF, lesson 14).
# </details>
#
# <details><summary>How does a diffusion language model generate, and what does it cost?</summary>
#
# It begins with hidden tokens; at each step it draws them all and keeps those of which it is surest. Few steps are
# fast, but tokens drawn at the same step know nothing of each other; many steps are as many passes over the whole text,
# without an exact cache. (<i>★ Diffusion</i>)
# </details>
#
# <details><summary>What does an alignment tell?</summary>
#
# Where a position attended when it was generated, on average over the heads. It is no proof of which character was
# used: the vectors there have gathered information from other positions, too. To find out, hide those positions and
# measure. (<i>What does cross-attention attend to?</i>)
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
#   and `transformer.py`.

# %% [markdown]
# How far did you get, and how well did you predict?

# %% id="tally"
tally()

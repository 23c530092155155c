# %% [markdown] id="title"
# # 08 · Training the whole Transformer
#
# **The question.** All parts are built. Does the whole learn to read `3 mars 2021`, and how would we know?
#
# **Afterwards you can** assemble a Transformer, start it well, choose its loss, its optimiser and its learning rate,
# let it write, and tell a model that works from one that only looks as if it did.
#
# Reading: 40 minutes. Exercises: 60 minutes (four core, one stretch ★). The training takes a few minutes.

# %% [markdown]
# ## Before you start
#
# Three questions from lessons 04 to 07. Answer each one aloud, then open it.
#
# <details><summary>Which two masks does the decoder's self-attention need, and which one its cross-attention?</summary>
#
# A causal mask, and one that hides the target's padding. Cross-attention only hides the padding of the source.
# </details>
#
# <details><summary>What does the decoder get as input while it is trained?</summary>
#
# The true target, shifted by one: a bos in front, and the last token gone. At each place it is shown what really came
# before. That is called teacher forcing.
# </details>
#
# <details><summary>What does the leak test do?</summary>
#
# It changes a later token, and sees whether any earlier output moves.
# </details>

# %% id="imports"
import contextlib
import io
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lab import Transformer as LibraryTransformer
from transformer_lab import TransformerConfig, plots, record_attention, trace_shapes
from transformer_lab.cli.main import main
from transformer_lab.course import check, compare, hint, parts, solution
from transformer_lab.course.workspace.training_monitor import TrainingMonitor
from transformer_lab.data.batches import Batch, Batches, InMemory, pad
from transformer_lab.data.dates import date_pairs
from transformer_lab.data.tokenizers import BOS_ID, EOS_ID, PAD_ID, bpe_tokenizer, character_tokenizer
from transformer_lab.generation.beam_search import beam_search_from_state
from transformer_lab.training.checkpoint import load_training, save_training

# %%
torch.manual_seed(8)
pd.set_option("display.max_colwidth", None)

# %% [markdown]
# ## The task: dates, as 32 languages write them
#
# Names, orders and marks come from Babel, which knows how each language writes a date. Where only numbers are given,
# and not the year first, the language stands in front. One string in twenty is **held out**, chosen by a checksum of
# the string, so that none is ever trained on. (Most of these *days* are, spelt otherwise.)

# %%
pairs = date_pairs(60_000, seed=0, split="train")
held_out = date_pairs(1_000, seed=0, split="held out")
trained = {written for written, _ in pairs}
print(f"{len(pairs):,} pairs to train on; held-out strings among them:", sum(text in trained for text, _ in held_out))
pd.DataFrame(held_out[:6], columns=["written", "ISO 8601"])

# %% [markdown]
# ### Tokens
#
# Our tokens are characters. Each gets a number, and so do four that are none: `<pad>` fills up, `<bos>` begins a
# target, `<eos>` ends a sentence, `<unk>` stands for what was never seen.

# %%
tokenizer = character_tokenizer(side for pair in pairs for side in pair)
print(tokenizer.get_vocab_size(), "tokens; the first of them:", [tokenizer.id_to_token(i) for i in range(4)])


def read_ids(text: str) -> np.ndarray:
    return np.array([*tokenizer.encode(text).ids, EOS_ID])


def write_ids(text: str) -> np.ndarray:
    return np.array([BOS_ID, *tokenizer.encode(text).ids, EOS_ID])


print("3 mars 2021 →", read_ids("3 mars 2021").tolist())

# %% [markdown]
# For whole sentences, characters make long sequences, and words a vocabulary without end. **BPE** (byte pair encoding)
# lies between: it begins with single bytes, and joins the pair that stands side by side most often, again and again,
# until there are as many tokens as wanted.

# %%
pieces = bpe_tokenizer((written for written, _ in pairs), vocab_size=1_000)
for text in ["3 mars 2021", "mercredi 3 mars 2021"]:
    print([pieces.decode([token]) for token in pieces.encode(text).ids])

# %% [markdown]
# ### Batches of similar length
#
# Sentences of a batch are padded to the longest of them, and padding costs as much time as anything else.
#
# **Predict.** Of 32 dates drawn at random, which share of the source is padding: 0.1, 0.5 or 0.9?

# %% tags=["prediction"]
prediction = ...

# %%
sources = InMemory(read_ids(written) for written, _ in pairs)
targets = InMemory(write_ids(iso) for _, iso in pairs)
batches = Batches(sources, targets, n_tokens=900, pad_id=PAD_ID, seed=0)


def padding_share(groups: list[list[int]]) -> float:
    return float(np.mean([(batches.collate(group).source == PAD_ID).float().mean() for group in groups]))


at_random = padding_share([list(range(start, start + 32)) for start in range(0, 3_200, 32)])
compare(prediction, measured=round(at_random, 1))
by_length = padding_share([group.tolist() for group in batches.plan(epoch=0)[:100]])
print(f"batches of similar length: {by_length:.2f}")

# %% [markdown]
# `Batches` shuffles, sorts by length within some thousand pairs, cuts batches of at most 900 tokens on either side,
# padding and all, and shuffles these.

# %% [markdown]
# ## Assembly
#
# The encoder reads, the decoder writes, and three matrices are one: the embedding of the source, that of the target,
# and the last linear layer (they are **tied**). Both sides have one vocabulary, so a token needs only one vector: its
# row of the matrix. The logit of a token is the product of that row with what the decoder found.


# %%
class Transformer(nn.Module):
    """Say after each target token which comes next."""

    def __init__(self, vocab_size: int, d_model=64, n_heads=4, d_ff=256, n_layers=2, max_length=64) -> None:
        super().__init__()
        sizes = vocab_size, d_model, n_heads, d_ff, n_layers, max_length
        self.encoder, self.decoder = parts.Encoder(*sizes), parts.Decoder(*sizes)
        self.decoder.embedding = self.encoder.embedding

    def target_mask(self, target: Tensor) -> Tensor:
        return parts.decoder_mask(target, PAD_ID)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        source_mask = parts.padding_mask(source, PAD_ID)
        memory = self.encoder(source, source_mask)
        found = self.decoder(target, memory, self.target_mask(target), source_mask)
        return found @ self.encoder.embedding.weight.T


V = tokenizer.get_vocab_size()
model = Transformer(V)
made_of = ["Encoder", "EncoderLayer", "Decoder", "DecoderLayer", "MultiHeadAttention", "FeedForward"]
made_of += ["sinusoidal_encoding", "padding_mask", "decoder_mask"]
pd.DataFrame({"whose": [parts.whose(name) for name in made_of]}, index=made_of)

# %% [markdown]
# `parts` takes your own wherever they have passed their checks, in this lesson or an earlier one.
#
# **Predict.** The paper's base model has 37,000 tokens and d_model = 512. How many millions of parameters more would
# it have if the three matrices were not tied?

# %% tags=["prediction"]
prediction = ...


# %%
def n_parameters(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


with torch.device("meta"):  # shapes without numbers: nothing is allocated
    same = LibraryTransformer(TransformerConfig(V, d_model=64, n_heads=4, d_ff=256, n_layers=2))
    base = LibraryTransformer(TransformerConfig.base(vocab_size=37_000))
    big = LibraryTransformer(TransformerConfig.big(vocab_size=37_000))
compare(prediction, measured=round(2 * base.encoder.embedding.weight.numel() / 1e6, 1))
print("ours and the library's of the same size agree:", n_parameters(model) == n_parameters(same))
rows = [("ours", model, ""), ("base", base, "65 million"), ("big", big, "213 million")]
pd.DataFrame([(a, f"{n_parameters(b):,}", c) for a, b, c in rows], columns=["model", "parameters", "the paper says"])

# %% [markdown]
# No vocabulary gives both of the paper's figures: with "about 37,000" tokens, base is smaller, and big is larger.
#
# ## The loss
#
# The loss of a token is −log p: how surprised the model is. **Padding** is nothing to be learned, so it is left out, of
# the sum and of the count. **Label smoothing** leaves some doubt: with ε = 0.1 and V tokens, the target is not 1 for
# the right token and 0 for the others (that is [right]), but
#
#
# $$(1-\varepsilon)\cdot[\text{right}] + \frac{\varepsilon}{V}\quad\text{for each of the V tokens}$$
#
# so the loss is (1 − ε)(−log p of the right one) + ε · (the mean of −log p over all V). No model gains by being surer
# than its target; the end of the lesson shows how sure ours is.

# %% [markdown]
# **Exercise.** Logits and targets come place by place: `targets[:, t]` is what `logits[:, t]` should say. Write it out
# (`log_softmax` never forms the p), or find out what `nn.functional.cross_entropy` offers.


# %% id="smoothed_cross_entropy" tags=["exercise"]
def smoothed_cross_entropy(
    logits: Float[Tensor, "batch n vocab_size"], targets: Int[Tensor, "batch n"], pad_id: int, smoothing: float
) -> Float[Tensor, ""]:
    """Give the mean loss of all but padding; the right token gets 1 − smoothing, and all tokens share the rest."""
    raise NotImplementedError


# %% id="check-smoothed_cross_entropy"
check(smoothed_cross_entropy)

# %%
logits, labels = torch.randn(2, 4, V), torch.tensor([[5, 6, 7, 8], [5, PAD_ID, PAD_ID, PAD_ID]])
logits[1, 1:, PAD_ID] = 20.0  # very sure of the padding, and no idea of the rest
for what, pad_id in {"left out": PAD_ID, "counted": -1}.items():
    print(f"padding {what}: loss {parts.smoothed_cross_entropy(logits, labels, pad_id, 0.0):.2f}")

# %% [markdown]
# ## How to start
#
# **Predict.** If the model gave all 481 tokens the same probability, its loss would be log 481 ≈ 6.2. torch draws the
# numbers of an embedding with a variance of 1. What is the loss of our untrained model: near 6, 20 or 60?

# %% tags=["prediction"]
prediction = ...


# %%
def initialise(model: nn.Module) -> None:
    """Uniform matrices of variance 2 / (rows + columns) (Xavier's), embeddings of variance 1/d_model, biases of 0."""
    for name, parameter in model.named_parameters():
        if "embedding" in name:
            nn.init.normal_(parameter, std=parameter.shape[1] ** -0.5)
        elif parameter.dim() == 2:
            nn.init.xavier_uniform_(parameter)
        elif name.endswith("bias"):
            nn.init.zeros_(parameter)


batch = next(batches.from_step(0))
shown, wanted = batch.target[:, :-1], batch.target[:, 1:]  # shifted by one against each other


# %%
def at_start() -> tuple[float, float]:
    """Give the loss, and the mean logit of the token that was just read."""
    logits = model(batch.source, shown)
    again = logits.gather(-1, shown.unsqueeze(-1)).mean().item()
    return parts.smoothed_cross_entropy(logits, wanted, PAD_ID, 0.0).item(), again


loss, logit = at_start()
initialise(model)
compare(prediction, measured=round(loss))
print(f"logit of the token just read: {logit:.0f}; after initialise: {at_start()[1]:.0f}")
print(f"loss after initialise: {at_start()[0]:.1f}")

# %% [markdown]
# What leaves the last norm has 64 features of size about 1, and still resembles the vector of the token that was just
# read. If that has numbers of size 1 as well, their product is nearly 64: the untrained model is very sure that
# everything repeats itself. With a variance of 1/d_model the vectors are 8 times shorter; in front, where embeddings
# are multiplied by √d_model, they are then as large as the positions, and the layers have a say, too. These are common
# choices; the paper names none.

# %% [markdown]
# ## The learning rate
#
# Rates that are right later are too high at first: lesson 06 showed post-norm layers without a warm-up. The paper's
# schedule, often called **Noam**, rises in a straight line, then falls as one over the root of the step:
#
# $$\text{rate} = d_\text{model}^{-1/2}\cdot\min(\text{step}^{-1/2},\ \text{step}\cdot\text{warmup}^{-3/2})$$
#
# **Exercise.** Write the formula in Python. The first step is number 1.


# %% id="noam_rate" tags=["exercise"]
def noam_rate(step: int, d_model: int, warmup: int) -> float:
    """Give the learning rate of a step, counted from 1."""
    raise NotImplementedError


# %% id="check-noam_rate"
check(noam_rate)

# %% [markdown]
# The paper went on for 100,000 steps. We know that ours end after 2,400, and let the rate end at 0 with them.

# %%
N_STEPS = 2_400


def rate(step: int) -> float:
    return parts.noam_rate(step, d_model=64, warmup=400) * (1 - (step - 1) / N_STEPS)


steps = range(1, N_STEPS + 1, 20)
noam = [parts.noam_rate(step, 64, 400) for step in steps]
ax = plots.lines(steps, {"Noam": noam, "ours": [rate(step) for step in steps]}, "step", "learning rate")
print(f"highest at step {max(range(1, N_STEPS + 1), key=rate)}")

# %% [markdown]
# ## What AdamW shall pull to zero
#
# **AdamW** gives each parameter steps of its own size, and also shrinks it a little each time: **weight decay**. That
# is meant for matrices. A bias or the weight of a norm has no reason to be near 0. (The paper used Adam, without
# decay.) AdamW takes a list of groups:
# `[{"params": [...], "weight_decay": 0.01}, {"params": [...], "weight_decay": 0.0}]`.
#
# **Exercise.** Divide a model's parameters: those of two axes and more decay, the others do not. (`parameters()` gives
# each once, even if modules share it.)


# %% id="parameter_groups" tags=["exercise"]
def parameter_groups(model: nn.Module, weight_decay: float) -> list[dict[str, object]]:
    """Give two dicts, each with a list ``params`` and a number ``weight_decay``; every parameter comes once."""
    raise NotImplementedError


# %% id="check-parameter_groups"
check(parameter_groups)


# %%
def new_optimizer(model: nn.Module) -> torch.optim.AdamW:
    groups = parts.parameter_groups(model, weight_decay=0.01)
    return torch.optim.AdamW(groups, lr=0.0, betas=(0.9, 0.98), eps=1e-9, fused=True)  # all updates in one go


optimizer = new_optimizer(model)
for group in optimizer.param_groups:
    numbers = sum(p.numel() for p in group["params"])
    print(f"{len(group['params'])} tensors, {numbers:,} numbers, weight decay {group['weight_decay']}")

# %% [markdown]
# ## Writing
#
# In use, a model begins with bos, says what may come next, takes the likeliest token, appends it, and asks again:
# **greedy** decoding, free-running.
#
# **Exercise.** `model(source, target)` gives logits (batch, n, vocab_size). A sentence has ended when it has written
# eos; from then on it gets nothing but eos, while the others go on. When all have ended, you may stop.


# %% id="greedy_decode" tags=["exercise"]
def greedy_decode(
    model: nn.Module, source: Int[Tensor, "batch n"], bos_id: int, eos_id: int, max_length: int
) -> Int[Tensor, "batch n_written"]:
    """Write the likeliest next token up to max_length times; the bos is not part of the output, the eos is."""
    raise NotImplementedError


# %% id="check-greedy_decode"
check(greedy_decode)


# %%
def as_text(ids: list[int]) -> str:
    """Make a text of what stands before the eos."""
    return tokenizer.decode(ids[: ids.index(EOS_ID)] if EOS_ID in ids else ids)


@torch.no_grad()
def translate(model: nn.Module, texts: list[str]) -> list[str]:
    written = []
    for start in range(0, len(texts), 200):
        source = pad([read_ids(text) for text in texts[start : start + 200]], PAD_ID)
        ids = parts.greedy_decode(model, source, BOS_ID, EOS_ID, max_length=11)  # 10 characters and eos
        written += [as_text(row) for row in ids.tolist()]
    return written


# %% [markdown]
# ## Training, live
# Two scores on strings that are not trained on. One is cheap: show the model the truth before each place, and count the
# *tokens* it gets right (teacher-forced). The other is what we want: let it write alone, and count the *dates* that are
# right as a whole.


# %%
@torch.no_grad()
def teacher_forced(model: nn.Module, some: list[tuple[str, str]]) -> Tensor:
    """Say of each token whether it is right where the model is shown the truth before it: (dates, 11)."""
    source = pad([read_ids(written) for written, _ in some], PAD_ID)
    target = pad([write_ids(iso) for _, iso in some], PAD_ID)
    return model(source, target[:, :-1]).argmax(dim=-1) == target[:, 1:]


def exact_match(model: nn.Module, some: list[tuple[str, str]]) -> float:
    """Give the share of dates that it writes right, alone."""
    written = translate(model, [text for text, _ in some])
    return sum(a == iso for a, (_, iso) in zip(written, some)) / len(some)


# %% [markdown]
# In the loop, `clip_grad_norm_` shortens a gradient that is too long, so that one odd batch does no harm.


# %%
def take_step(model: nn.Module, optimizer: torch.optim.AdamW, batch: Batch, step: int) -> float:
    logits = model(batch.source, batch.target[:, :-1])
    loss = parts.smoothed_cross_entropy(logits, batch.target[:, 1:], PAD_ID, smoothing=0.1)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for group in optimizer.param_groups:
        group["lr"] = rate(step)
    optimizer.step()
    return loss.item()


# %%
def train(model: nn.Module, optimizer: torch.optim.AdamW, feed: Iterator, monitor: TrainingMonitor, n: int) -> float:
    start = time.perf_counter()
    for step in monitor.steps(n):
        monitor.loss(take_step(model, optimizer, next(feed), step))
        if step % 200 == 0:
            some = held_out[:200]
            tokens = teacher_forced(model, some).float().mean().item()
            monitor.score({"tokens, shown the truth": tokens, "dates, written alone": exact_match(model, some)})
    return time.perf_counter() - start


torch.manual_seed(0)
initialise(model)
feed, monitor = batches.from_step(0), TrainingMonitor(N_STEPS)

# %% [markdown]
# **Predict.** After 400 steps, nearly 9 of 10 tokens are right, shown the truth. Which share of the dates is
# right as a whole: near 0.9, 0.5 or 0.2?

# %% tags=["prediction"]
prediction = ...

# %% tags=["nbval-ignore-output"]
seconds = train(model, optimizer, feed, monitor, 400)
compare(prediction, measured=round(exact_match(model, held_out[:500]), 1))
right = teacher_forced(model, held_out[:500]).float()
print(f"tokens right, shown the truth: {right.mean():.2f}")
print("place by place:", [round(share, 2) for share in right.mean(dim=0).tolist()])
print("3 mars 2021 →", translate(model, ["3 mars 2021"])[0])

# %% [markdown]
# A date is right if all its tokens are. The dashes, the eos and the year's second digit are easy when the truth stands
# before them, and polish the share of tokens.

# %% tags=["nbval-ignore-output"]
seconds += train(model, optimizer, feed, monitor, 1_000)

# %% tags=["nbval-ignore-output"]
seconds += train(model, optimizer, feed, monitor, 1_000)

# %% tags=["nbval-ignore-output"]
model.eval()  # would switch dropout off; our parts have none
exact = exact_match(model, held_out)
print(f"{exact:.1%} of 1,000 held-out strings, after {N_STEPS:,} steps in {seconds:.0f} s")

# %%
assert exact >= 0.99, f"{exact:.1%} is less than 99 %"
print("at least 99 % of unseen strings are right:", exact >= 0.99)
print("3 mars 2021 →", translate(model, ["3 mars 2021"])[0])

# %% [markdown]
# Your Transformer reads dates. The loss did not end near 0. With smoothing, it cannot: a perfect model says 1 − ε + ε/V
# for the right token, and is still charged for the doubt.

# %% tags=["nbval-ignore-output"]
doubt = 0.1 / V
sure = torch.tensor([0.9 + doubt] + [doubt] * (V - 1)).double()
floor = -(sure * sure.log()).sum().item()
print(f"lowest possible loss {floor:.3f}, our last 100 steps {np.mean(monitor.losses[-100:]):.3f}")

# %% [markdown]
# ## What does it look at?
#
# Here is the last layer's cross-attention, the mean of its heads. A row is a character that is written.

# %%
text = "3 mars 2021"
iso = translate(model, [text])[0]
with torch.no_grad(), record_attention(model) as recorded:
    model(pad([read_ids(text)], PAD_ID), pad([write_ids(iso)], PAD_ID)[:, :-1])
crossed = recorded["decoder.layers.1.cross_attention"][0].mean(dim=0)  # (n_target, n_source)
names = [*text.replace(" ", "_"), "eos"]
ax = plots.weights(crossed, queries=[*iso, "eos"], keys=names)
on_letters = crossed[6, 2:6].sum().item()  # the row of the month's second digit, the columns of m, a, r and s
print("the month is read from the letters of `mars`:", on_letters > 0.5)

# %% [markdown]
# The month is read from the letters of its name (a few are enough: the encoder has mixed the rest into them), and the
# last digits of year and day where they stand, though their order is turned round. Rows that need no look, like the
# dashes, look anywhere.

# %% [markdown]
# ## Shown the truth, or left alone
#
# Now count whole dates, in both ways.
#
# **Predict.** Of 500 dates, `"more"`, `"fewer"` or `"as many"` are all right when the model is shown the truth, as when
# it writes alone?

# %% tags=["prediction"]
prediction = ...

# %%
forced = teacher_forced(model, held_out[:500]).all(dim=1).sum().item()
alone = round(500 * exact_match(model, held_out[:500]))
compare(prediction, measured="as many" if forced == alone else "more" if forced > alone else "fewer")

# %% [markdown]
# Of course: as long as all is right, what it has written *is* the truth. After the first mistake both have failed. That
# holds only if a model is honest. The next one's decoder hides just the padding.


# %%
class WithoutCausalMask(Transformer):
    def target_mask(self, target: Tensor) -> Tensor:
        return parts.padding_mask(target, PAD_ID)


torch.manual_seed(0)
cheat = WithoutCausalMask(V)
initialise(cheat)

# %% [markdown]
# **Predict.** After the same 400 steps: which share of the *tokens* does it get right when it is shown the truth, and
# which share of the *dates* does it write right, alone?

# %% tags=["prediction"]
prediction_tokens, prediction_dates = ..., ...

# %% tags=["nbval-ignore-output"]
cheat_monitor = TrainingMonitor(N_STEPS)
_ = train(cheat, new_optimizer(cheat), batches.from_step(0), cheat_monitor, 400)

# %%
cheat.eval()
compare(prediction_tokens, measured=round(teacher_forced(cheat, held_out[:200]).float().mean().item(), 1))
compare(prediction_dates, measured=round(exact_match(cheat, held_out[:200]), 1))
honest_loss, cheat_loss = (np.mean(m.losses[380:400]) for m in (monitor, cheat_monitor))
print(f"loss after as many steps: honest {honest_loss:.1f}, this one {cheat_loss:.1f}, lowest possible {floor:.1f}")


class Decoding(nn.Module):
    def __init__(self, model: nn.Module, source: Tensor) -> None:
        super().__init__()
        self.model, self.source = model, source

    def forward(self, target: Tensor) -> Tensor:
        return self.model(self.source, target)


for name, suspect in {"honest": model, "without a causal mask": cheat}.items():
    print(f"{name}: leaks?", parts.leaks_future(Decoding(suspect, batch.source[:4]), shown[:4]))

# %% [markdown]
# It has learned to copy: the answer stands one place to the right. Alone, there is nothing to the right, and it writes
# nothing sensible. Its loss is too good, if one knows the lowest possible. Two things tell without that: let it write,
# and the leak test, which needs no training at all.

# %% [markdown]
# ## Beam search
#
# Greedy decoding takes the likeliest token, and cannot take it back. **Beam search** follows several beginnings at
# once, and keeps those whose probability *so far* is highest. The library's `beam_search_from_state`
# shows only the newest token of each row; this adapter makes it fit any `model(source, target)`.


# %%
class Writing:
    """Keep what each row has written, and show the model all of it."""

    def __init__(self, model: nn.Module, source: Tensor) -> None:
        self.model, self.source, self.written = model, source, torch.empty(len(source), 0, dtype=torch.int64)

    def next_logits(self, newest: Tensor) -> Tensor:
        self.written = torch.cat([self.written, newest], dim=1)
        return self.model(self.source, self.written)[:, -1]

    def reorder(self, rows: Tensor) -> None:
        self.source, self.written = self.source[rows], self.written[rows]


def beam(model: nn.Module, texts: list[str], beam_size: int) -> list[str]:
    source = pad([read_ids(text) for text in texts], PAD_ID)
    begin = torch.full((len(texts), 1), BOS_ID)
    # dates are equally long, so the penalty of long or short ones decides nothing
    ids, _ = beam_search_from_state(Writing(model, source), begin, 11, EOS_ID, beam_size, alpha=1.0)
    return [as_text(row) for row in ids.tolist()]


# %% tags=["nbval-ignore-output"]
got = translate(model, [text for text, _ in held_out])
wrong = [(text, iso, g) for (text, iso), g in zip(held_out, got) if iso != g]
wrong = wrong or [(*held_out[0], got[0])]  # should there be none, look at a right one
found = beam(model, [text for text, _, _ in wrong], beam_size=4)
pd.DataFrame([(*row, b) for row, b in zip(wrong, found)], columns=["written", "wanted", "greedy", "beam of 4"])

# %% [markdown]
# ## A look at the errors
#
# In our runs, a beam of 4 mended next to none (the end of the lesson asks why). Most were digits that had changed
# places, or months of nearly the same letters. That tells what the model should see more of.

# %% [markdown]
# ## Stopping and going on
#
# A run may be cut off. To go on as if nothing had happened, the parameters are not enough: AdamW's running means, the
# step, the place in the data and the state of the random numbers belong to a **checkpoint**, too.

# %%
folder = Path(tempfile.mkdtemp())
runner = Transformer(V)
its_optimizer = new_optimizer(runner)


def losses(steps: range) -> list[float]:
    return [take_step(runner, its_optimizer, b, step) for step, b in zip(steps, batches.from_step(steps[0] - 1))]


losses(range(1, 4))
save_training(folder / "checkpoint", runner, its_optimizer, info={"step": 3})
once = losses(range(4, 8))
reached = load_training(folder / "checkpoint", runner, its_optimizer)["step"]
print("going on gives the same losses:", losses(range(reached + 1, 8)) == once)
load_training(folder / "checkpoint", runner, its_optimizer)
its_optimizer = new_optimizer(runner)
print("with a new AdamW:", losses(range(reached + 1, 8)) == once)

# %% [markdown]
# ## The same for any two languages
#
# All this is in the library, too. It reads a file with source, tab and target in each line, or two files, line by line,
# as Multi30k has. A tiny corpus, in which the German verb has to change its place:


# %%
def sentence(rng: random.Random) -> str:
    numbers, animals = ["two zwei", "three drei", "ten zehn"], ["cats Katzen", "dogs Hunde", "birds Vögel", "cows Kühe"]
    n, a, m, b = (rng.choice(words).split() for words in (numbers, animals, numbers, animals))
    v = rng.choice(["see sehen", "hear hören", "love lieben", "chase jagen"]).split()
    w = rng.choice(["today heute", "here hier", "often oft"]).split()
    return f"{w[0]} {n[0]} {a[0]} {v[0]} {m[0]} {b[0]}\t{w[1]} {v[1]} {n[1]} {a[1]} {m[1]} {b[1]}\n"


rng = random.Random(0)
lines = list(dict.fromkeys(sentence(rng) for _ in range(3_000)))  # each once
(folder / "train.tsv").write_text("".join(lines[100:]), encoding="utf-8")
(folder / "test.tsv").write_text("".join(lines[:100]), encoding="utf-8")
print(f"{len(lines) - 100:,} pairs to train on; the first to test on: {lines[0].strip()!r}")

# %% [markdown]
# In a terminal this is `transformer-lab train train.tsv --steps 150 …`, then `transformer-lab evaluate`. **BLEU**
# compares the words, pairs, threes and fours of words of a translation with those of a reference; 100 is the reference
# itself. chrF does so with characters. Both are computed by `sacrebleu`, so that others can compare theirs.

# %% tags=["nbval-ignore-output"]
command = f"train {folder}/train.tsv -o {folder}/german --steps 150 --warmup 30 --peak-rate 0.01 --threads 1"
size = " --d-model 32 --n-heads 4 --n-layers 1 --d-ff 64 --vocab-size 300 --dropout 0 --average 0"
with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):  # its progress bar
    main((command + size).split())
failed = main(f"evaluate {folder}/test.tsv -m {folder}/german --threads 1".split())

# %% [markdown]
# ## Bug hunt
#
# A colleague wants to save time: "What was written has been read already, so I only hand over what is new." Read it
# first and decide which line is wrong; only then run the check, and mend it.


# %% id="mend-decode" tags=["bug-hunt"]
def decode_of_a_colleague(model, source, bos_id, eos_id, max_length):
    newest = torch.full((len(source), 1), bos_id)
    ended = torch.zeros(len(source), dtype=torch.bool)
    written = []
    for _ in range(max_length):
        newest = model(source, newest)[:, -1].argmax(dim=-1, keepdim=True)
        newest[ended] = eos_id
        ended = ended | (newest[:, 0] == eos_id)
        written.append(newest)
        if ended.all():
            break
    return torch.cat(written, dim=1)


# %% id="check-mend-decode"
check(decode_of_a_colleague, "greedy_decode")

# %% [markdown]
# <details><summary>How to find such a bug without a check</summary>
#
# Compare with teacher forcing, place by place: the first token is right, the later ones are not. The idea is not bad,
# though: a model that *keeps* the keys and values of what it has read can be shown the newest token alone, if it is
# told its position. That is lesson 10.
# </details>

# %% [markdown]
# ## ★ Transfer: was it the search, or the model?
#
# When a translation is wrong, either the model thinks the right one likelier, and the search did not find it; or the
# model likes its own better, and no search will help. To know, one needs the probability of a *whole* target: the
# product of those of its tokens, each given what came before. Teacher forcing gives all of them in one pass. Products
# of small numbers vanish, so their logarithms are added up.
#
# **Exercise.** Logits and targets come place by place, as in the loss. Padding is no part of a sentence.


# %% id="sequence_log_probability" tags=["exercise"]
def sequence_log_probability(
    logits: Float[Tensor, "batch n vocab_size"], targets: Int[Tensor, "batch n"], pad_id: int
) -> Float[Tensor, " batch"]:
    """Give the log-probability of each sentence: the sum of those of its tokens, padding left out."""
    raise NotImplementedError


# %% id="check-sequence_log_probability"
check(sequence_log_probability)

# %% [markdown]
# **Predict.** Of our model's errors, are `"most"`, `"half"` or `"few"` such that it likes its own, wrong date better
# than the right one?

# %% tags=["prediction"]
prediction = ...


# %% tags=["nbval-ignore-output"]
@torch.no_grad()
def log_probability(texts: list[str], isos: list[str]) -> Tensor:
    source, target = pad([read_ids(t) for t in texts], PAD_ID), pad([write_ids(i) for i in isos], PAD_ID)
    return parts.sequence_log_probability(model(source, target[:, :-1]), target[:, 1:], PAD_ID)


texts, right, got = (list(column) for column in zip(*wrong))
p_right, p_got = log_probability(texts, right).exp(), log_probability(texts, got).exp()
own = (p_got > p_right).float().mean().item()
compare(prediction, measured="most" if own > 0.6 else "half" if own > 0.4 else "few")
usual = log_probability(*(list(column) for column in zip(*held_out[:200]))).exp().median().item()
print(f"for comparison: right dates have a p of about {usual:.2f}; 0.9 to the power of 11 is {0.9**11:.2f}")
table = pd.DataFrame({"right": right, "p of it": p_right.tolist(), "written": got, "p of that": p_got.tolist()})
table.round(2)

# %% [markdown]
# Why are these p so small? Smoothing wants about 0.9 for each of the 11 tokens, so 0.31 for a date. Where the model is
# wrong, it mostly likes its own date better: a wider beam would find that again. With eleven tokens and little to
# choose from, search errors are rare. In translation [Stahlberg and Byrne (2019)](https://arxiv.org/abs/1908.10090)
# found many. And what the model liked best of all was often worse, even empty.

# %% [markdown]
# ## In short
#
# - The whole: encoder, decoder, one matrix for both embeddings and the output; embeddings drawn with variance
#   1/d_model, so that logits begin small.
# - The loss leaves padding out, of the sum and of the count, and smooths the target.
# - Warm-up, then a falling rate; AdamW decays matrices only.
# - Judge a model by what it writes alone, and by its errors. A leak makes loss and teacher-forced accuracy look
#   perfect.

# %%
print({"batch": 32, "n_source": 20, "n_target": 11, "d_model": 64, "n_heads": 4, "d_ff": 256, "vocab_size": V})
table = trace_shapes(model, torch.full((32, 20), 7), torch.full((32, 11), 7)).drop(columns="class")
top = table["module"].str.count(r"\.") < 2
rows = table[top | table["module"].str.endswith("cross_attention")].replace({"module": {"": "Transformer"}})
rows.reset_index(drop=True)

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
#
# <details><summary>What is exposure bias, and when does it not matter?</summary>
#
# In training, the model reads the truth; in use, what it wrote itself, errors included. Whether a whole output is right
# is not touched by that in an honest greedy model: up to the first error, both are the same. What follows an error is.
# (<i>Shown the truth, or left alone</i>: as many dates are right either way)
# </details>
#
# <details><summary>What is the difference between teacher-forced and free-running accuracy?</summary>
#
# What stands before each place: the truth, or what the model wrote. Counted in whole sentences they are the same for an
# honest greedy model. For a leaky one, the first may be 1 and the second 0. (<i>Shown the truth, or left alone</i>)
# </details>
#
# <details><summary>Why is the loss not 0 though the model is right nearly everywhere?</summary>
#
# Label smoothing asks for doubt. The lowest loss is the entropy of the smoothed target, 0.94 here. (<i>Training,
# live</i>)
# </details>
#
# <details><summary>An untrained model with 481 tokens has a loss of 60. What is wrong?</summary>
#
# About log 481 = 6.2 would be expected. The logits are too large: tied embeddings drawn with variance 1 instead of
# 1/d_model make it sure that the last token comes again. (<i>How to start</i>)
# </details>

# %% [markdown]
# <details><summary>What is the Noam schedule, and why does it begin with a warm-up?</summary>
#
# A straight rise to (d_model · warmup)^−½, then a fall as 1/√step. (<i>The learning rate</i>) Steps that are right
# later are too large at first, most of all for deep post-norm stacks: without a warm-up, one of 12 layers learned
# nothing (lesson 06). Why is argued about.
# </details>
#
# <details><summary>Which parameters should weight decay leave alone?</summary>
#
# Biases, and the weights of norms: a norm's weight begins at 1, and decay would pull it to 0. And they are few: 4,096
# of 264,256 numbers. (<i>What AdamW shall pull to zero</i>)
# </details>
#
# <details><summary>How many parameters has the Transformer base, and how would you estimate it?</summary>
#
# 63 million: 37,000 · 512 for the one embedding, 19 million; the rest is 6 encoder layers of 4 d² + 8 d² and 6 decoder
# layers of 8 d² + 8 d², with d = 512. (<i>Assembly</i>)
# </details>
#
# <details><summary>Why does beam search sometimes not help?</summary>
#
# It finds what the model thinks likely. Where the model itself prefers the wrong answer, more search finds that answer
# more surely; in translation, the likeliest text of all is often too short. (<i>★ Transfer</i>)
# </details>
#
# <details><summary>What has to be in a checkpoint?</summary>
#
# Parameters, the optimiser's state, the step (for the schedule and the place in the data), and the state of the random
# numbers. (<i>Stopping and going on</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Vaswani et al. (2017), [arXiv:1706.03762](https://arxiv.org/abs/1706.03762), section 5 and table 3.
# - Popel and Bojar (2018), [arXiv:1804.00247](https://arxiv.org/abs/1804.00247): what matters in training such a model.
# - `transformer_lab/training/trainer.py`: the loop with everything around it; `transformer_lab/models/transformer.py`.
#
# <details><summary>For instructors</summary>
#
# *Points*: smoothed_cross_entropy 3, noam_rate 1, parameter_groups 2, greedy_decode 3; stretch:
# sequence_log_probability 2. The bug hunt is not graded. *Where students stumble*: dividing by all positions, padding
# included; a second shift inside of the loss; `** -1/2`; sentences that go on after their end; trusting a low loss. *To
# ask in class*: which errors would vanish with more training data, and which with a larger model? How would the bug
# look in which the *target* is fed to the encoder? Which letters tell *mars* from *mai*, and does the model look at
# them?
# </details>

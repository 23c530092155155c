# %% [markdown] id="title"
# # 13 · Beyond one machine: cost, precision, scaling laws
#
# **The question.** A model with 8 billion parameters needs 128 GB before it has read a single token, but an H100 has
# 80 GB, and training it takes weeks on thousands of GPUs. What fills the memory, and how can you reduce it?
#
# **Afterwards you can** write down the memory bill of a training run and shrink each item without changing the result,
# say what 16-bit numbers lose, estimate the cost of a run before you start it, and find the best size for a budget.
#
# Reading: 40 minutes. Exercises: 55 minutes (six core; three stretch ★ take 55 more). With all predictions, runs and
# questions: about 110 minutes, with a good place to stop half-way. You can skip sections with a ★.

# %% [markdown]
# ## Before you start
#
# Three questions from earlier lessons. Answer each one aloud, then open it.
#
# <details><summary>Lesson 02: what happens to scores above 65,504 in float16?</summary>
#
# They become infinite. Softmax then computes ∞ − ∞, which is `nan`.
# </details>
#
# <details><summary>Lesson 08: which tokens does the loss average over?</summary>
#
# Over all target tokens except padding.
# </details>
#
# <details><summary>Lesson 10: what is arithmetic intensity?</summary>
#
# The number of operations per byte moved to or from memory. If it is low, the processor waits for memory.
# </details>

# %% id="imports"
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

from transformer_course import check, compare, diagrams, hint, parts, plots, solution, tally
from transformer_course.stored_models.stored_model import FOLDER
from transformer_lab import LanguageModel as LibraryModel
from transformer_lab import LanguageModelConfig, initialize, trace_shapes
from transformer_lab.data.docstrings import python_docstrings
from transformer_lab.device import pick_device
from transformer_lab.pretrained.hub import read_json
from transformer_lab.training.data_parallel import data_parallel_step, mean_loss_gradient, run_processes
from transformer_lab.training.muon import make_muon, orthogonalize

# %%
_ = torch.manual_seed(13)

# %% [markdown]
# ## What this lesson cuts
#
# Llama 3 8B read 15 trillion tokens. Meta
# [reports](https://github.com/meta-llama/llama3/blob/d3eca219e453eca77ce1e180f48954c7d67467a9/MODEL_CARD.md) 1.3
# million hours of an H100 for it: 148 years on a single one. By the end of this lesson you can estimate that number
# yourself.
#
# But first the model has to fit into memory. The bars show what one training step of Llama 3 8B keeps, in float32, with
# one text of 2,048 tokens: three items for the parameters, and four for what the backward pass needs from the forward
# pass. Once you know how to cut each of them, we draw this bill again.

# %% tags=["hide-input"]
llama_8b = LanguageModelConfig.llama(128_256, n_kv_heads=8, d_ff=14336)
llama_70b = replace(llama_8b, d_model=8192, n_heads=64, d_ff=28672, n_layers=80)
text = torch.zeros(1, 2049, dtype=torch.long, device="meta")


def llama(config: LanguageModelConfig, n_layers: int) -> LibraryModel:
    with torch.device("meta"):  # shapes without numbers: it takes no memory here
        return LibraryModel(replace(config, n_layers=n_layers))


def loss_of(model: Callable, tokens: Tensor) -> Tensor:
    return F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1).float(), tokens[:, 1:].flatten())


def n_parameters(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


# %% tags=["hide-input"]
def bytes_kept(model: nn.Module, forward: Callable, kind: Callable = type) -> tuple[Counter, Tensor]:
    """Return the bytes, by kind, of all that is kept for the backward pass, parameters not counted, and the loss."""
    kept, own = {}, {p.untyped_storage()._cdata for p in model.parameters()}

    def keep(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage()._cdata] = kind(tensor), tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        loss = forward()  # holds them all, so that no two have the same address
    found = Counter()
    for where, (name, n) in kept.items():
        found[name] += n * (where not in own)
    return found, loss


def kind_in_llama(tensor: Tensor) -> str:
    if tensor.shape[-2:] == (2048, 2048):
        return "attention weights"
    return {14336: "inside the FFNs", 128_256: "log-probabilities"}.get([0, *tensor.shape][-1], "other features")


# %% tags=["hide-input"]
def draw_bill(bill: dict[str, float], after: dict[str, tuple[float, str]] | None = None) -> None:
    """Draw each line of a bill as a bar, in GB, and in it what is left, with what has cut it."""
    ax = plt.subplots(figsize=(7.5, 2.8), layout="constrained")[1]
    bars = ax.barh([*bill], [*bill.values()], color=plots.COLORS[0], alpha=0.4 if after else 1)
    labels, total = [f"{gb:.1f}" for gb in bill.values()], f"GB; in all {sum(bill.values()):.0f}"
    if after:
        ax.barh([*after], [gb for gb, _ in after.values()], height=0.5, color=plots.COLORS[1])
        labels = [f"{gb:.1f} → {after[line][0]:.1f}: {after[line][1]}" for line, gb in bill.items()]
        total += f" → {sum(gb for gb, _ in after.values()):.0f}"
    ax.bar_label(bars, labels, padding=3)
    ax.invert_yaxis()
    ax.set(xlim=(0, 135 if after else 75), xlabel=total)


model_8b = llama(llama_8b, 32)
n_8b = n_parameters(model_8b)
with sdpa_kernel(SDPBackend.MATH):  # attention that keeps its weights
    kept_8b, _ = bytes_kept(model_8b, lambda: loss_of(model_8b, text), kind_in_llama)
all_lines = {"parameters": 4 * n_8b, "gradients": 4 * n_8b, "Adam's two moments": 8 * n_8b}
all_lines |= {name: kept_8b[name] for name in sorted(kept_8b, key=kept_8b.get, reverse=True)}
all_lines = {line: n / 1e9 for line, n in all_lines.items()}

# %% tags=["hide-input", "approximate"]
draw_bill(all_lines)

# %% [markdown]
# ## A model that can grow
#
# The model consists of your own parts: pre-norm layers, sinusoidal positions, a causal mask. It reads Python's
# docstrings by character.


# %% tags=["hide-input"]
class Model(nn.Module):
    def __init__(self, d_model: int, n_layers: int = 2, n_heads: int = 2) -> None:
        super().__init__()
        self.embedding = nn.Embedding(V, d_model)
        self.register_buffer("positions", parts.sinusoidal_encoding(32, d_model))
        self.layers = nn.ModuleList(parts.PreNormEncoderLayer(d_model, n_heads, 4 * d_model) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)
        initialize(self)

    def forward(self, tokens: Tensor, run_layer: Callable = lambda layer, *inputs: layer(*inputs)) -> Tensor:
        x = self.embedding(tokens) * self.embedding.embedding_dim**0.5 + self.positions[: tokens.shape[1]]
        mask = parts.causal_mask(tokens.shape[1]).to(x.device)
        for layer in self.layers:
            x = run_layer(layer, x, mask)
        return self.norm(x) @ self.embedding.weight.T


# %% tags=["hide-input"]
train_texts, held_out_texts = python_docstrings()
index = {c: i for i, c in enumerate(sorted({c for text in train_texts for c in text if c.isascii()}), start=1)}
PAD, V = 0, len(index) + 1
device = pick_device("cuda" if torch.cuda.is_available() else "cpu")
train_ids, held_out_ids = (
    torch.tensor([index[c] for c in "\n".join(texts) if c in index]).unfold(0, 33, 1).to(device)
    for texts in (train_texts, held_out_texts)
)  # every stretch of 33 characters
held_out = held_out_ids[::200][:500]


# %% tags=["hide-input"]
def measure(run: Callable, n_turns: int = 5) -> float:
    """Return the median processor time of some calls, in seconds."""
    times = []
    for _ in range(n_turns):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return float(np.median(times))


# %% [markdown]
# ## The memory bill
#
# A training step keeps four things: the parameters, their gradients, the **optimizer state** (Adam's two running means,
# or moments: lesson 08), and the **activations**, everything that the forward pass computes and the backward pass needs
# again. For each token, a layer keeps `n_kept` numbers. With *checkpointing*, it keeps only its input, `d_model`
# numbers for each token, and one layer at a time computes its `n_kept` numbers again. Several workers can split the
# first three items equally among them, but not the activations: each worker has its own tokens.
#
# **Exercise.** Compute the memory bill of one worker, in bytes. All numbers are float32.


# %% id="memory_bill" tags=["exercise"]
def memory_bill(
    n_parameters: int, n_layers: int, d_model: int, n_kept: float, n_tokens: int, n_workers: int, checkpointing: bool
) -> dict[str, float]:
    """Return the bytes of "parameters", "gradients", "optimizer" and "activations", in this order."""
    raise NotImplementedError


# %% id="check-memory_bill"
check(memory_bill)

# %% [markdown]
# **Predict.** Your model, with 8 layers of width 64, takes a step with 16 texts of 32 characters. Which item of its
# bill is the largest, `"parameters"`, `"gradients"`, `"optimizer"` or `"activations"`? For Llama 3 8B with one text,
# activations are a quarter of the bill. For Llama 3 70B, is their share `"larger"` or `"smaller"`?

# %% tags=["prediction"]
prediction_yours, prediction_share = ..., ...


# %% tags=["hide-input"]
def kept_by_a_layer(make: Callable, tokens: Tensor) -> float:
    """Return how many numbers one more layer keeps for each token, where make(n) is a model with n layers."""
    one, two = (bytes_kept(m, lambda m=m: loss_of(m, tokens))[0].total() for m in (make(1), make(2)))
    return (two - one) / 4 / tokens[:, 1:].numel()


# %% tags=["hide-input"]
def bill_of(make: Callable, n_layers: int, d_model: int, tokens: Tensor) -> dict[str, float]:
    """Return the bill of a step of one worker, without checkpointing."""
    n_kept = kept_by_a_layer(make, tokens)
    return parts.memory_bill(n_parameters(make(n_layers)), n_layers, d_model, n_kept, tokens[:, 1:].numel(), 1, False)


def measured_bill(model: nn.Module, tokens: Tensor, optimizers: Callable | None = None) -> dict[str, int]:
    """Take a step, with AdamW unless told otherwise, and return the bytes of each line of the bill."""
    activations, loss = bytes_kept(model, lambda: loss_of(model, tokens))
    loss.backward()
    state = []
    for optimizer in optimizers(model) if optimizers else [torch.optim.AdamW(model.parameters())]:
        optimizer.step()
        state += [t for kept in optimizer.state.values() for t in kept.values() if isinstance(t, Tensor) and t.ndim]
    lines = {"parameters": [*model.parameters()], "gradients": [p.grad for p in model.parameters()], "optimizer": state}
    return {name: sum(t.nbytes for t in tensors) for name, tensors in lines.items()} | {
        "activations": activations.total()
    }


# %% tags=["hide-input"]
batch_16 = train_ids[:: len(train_ids) // 15][:16].cpu().clone()


def yours(n_layers: int) -> Model:
    return Model(64, n_layers, n_heads=4)


# %% tags=["hide-input", "approximate"]
with sdpa_kernel(SDPBackend.MATH):
    stacks = llama(llama_8b, 1), llama(llama_8b, 2)
    one, two = (bytes_kept(m, lambda m=m: loss_of(m, text), kind_in_llama)[0] for m in stacks)
parts_8b = {name: (two[name] - one[name]) / 4 / 2048 / 4096 for name in two if two[name] > one[name]}
n_kept_8b = 4096 * sum(parts_8b.values())
n_blockwise = n_kept_8b - 4096 * parts_8b["attention weights"]
shown = " + ".join(f"{n:.1f} ({name})" for name, n in parts_8b.items())
print(f"n_kept of Llama 3 8B, in d_model: {n_kept_8b / 4096:.1f} = {shown}")

# %% tags=["hide-input"]
deep = yours(8)
bills = {
    "yours, 16 texts": bill_of(yours, 8, 64, batch_16),
    "yours, measured": measured_bill(deep, batch_16),
    "yours, 4 texts": bill_of(yours, 8, 64, batch_16[:4]),
    "Llama 3 8B": parts.memory_bill(n_8b, 32, 4096, n_kept_8b, 2048, 1, False),
    "Llama 3 8B, blockwise": parts.memory_bill(n_8b, 32, 4096, n_blockwise, 2048, 1, False),
    "Llama 3 70B": bill_of(partial(llama, llama_70b), 80, 8192, text),
}
compare(prediction_yours, measured=max(bills["yours, 16 texts"], key=bills["yours, 16 texts"].get))
share_8b, share_70b = (
    bill["activations"] / sum(bill.values()) for bill in map(bills.get, ("Llama 3 8B", "Llama 3 70B"))
)
compare(prediction_share, measured="larger" if share_70b > share_8b else "smaller")

# %% tags=["hide-input", "approximate"]
table = pd.DataFrame(bills).transpose()
percent = table.div(table.sum(axis=1), axis=0) * 100
ax = percent.plot.barh(stacked=True, color=plots.COLORS, figsize=(7, 2.6))
ax.invert_yaxis()
ax.set(xlabel="% of the bill", ylabel="")
ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
table.assign(all=table.sum(axis=1)).map(lambda n: f"{n / 1e9:,.0f} GB" if n > 1e9 else f"{n / 1e6:.1f} MB")

# %% [markdown]
# At any size, the first three items take 4 + 4 + 8 = 16 bytes per parameter: 128 GB for 8 billion parameters. The
# activations grow with the number of tokens. But twice the width gives a layer four times as many parameters and only
# twice as many activations, so their share falls.
#
# Each technique in the rest of this lesson shrinks some of the items. For each one, ask: *which items, and what does it
# cost*: more arithmetic, fewer digits, or bytes to send?

# %% [markdown]
# ## Gradient accumulation: a batch in parts
#
# *Reduces*: activations. *Costs*: some speed, because the matrix products get smaller.
#
# You split a batch into **micro-batches** and keep the activations of only one of them at a time. You add up their
# gradients, and the optimizer takes a single step at the end: **gradient accumulation**. The loss is a mean over
# *tokens*, so you have to divide by the right number.
#
# **Exercise.** For each micro-batch you get the *sum* of its losses and its number of tokens. Compute the loss of the
# whole batch.


# %% id="accumulate" tags=["exercise"]
def accumulate(losses: Float[Tensor, " n"], n_tokens: Int[Tensor, " n"]) -> Float[Tensor, ""]:
    """Return the loss of the whole batch, from each micro-batch's sum of losses and its number of tokens."""
    raise NotImplementedError


# %% id="check-accumulate"
check(accumulate)

# %% [markdown]
# In 2024, widely used training code was found to average the means of the micro-batches
# ([transformers#34191](https://github.com/huggingface/transformers/pull/34191)). Take four texts with 2, 4, 8 and 32
# target tokens; each is one micro-batch.
#
# **Predict.** How large is the error of the gradient of that average, relative to the right gradient: nearest to 0.01,
# 0.1 or 1?

# %% tags=["prediction"]
prediction = ...

# %%
model = Model(32)
texts = [train_ids[start, : n + 1].cpu() for start, n in ((0, 2), (5000, 4), (9000, 8), (20000, 32))]
losses = torch.stack([F.cross_entropy(model(text[None, :-1])[0], text[1:], reduction="sum") for text in texts])
n_tokens = torch.tensor([len(text) - 1 for text in texts])


# %% tags=["hide-input"]
def error(loss: Tensor) -> float:
    """Return how long the error of the gradient is, relative to the gradient of the padded batch."""
    padded = nn.utils.rnn.pad_sequence(texts, batch_first=True, padding_value=PAD)
    right = mean_loss_gradient(model, padded, PAD)
    found = torch.autograd.grad(loss, list(model.parameters()), retain_graph=True)
    return ((nn.utils.parameters_to_vector(found) - right).norm() / right.norm()).item()


# %% tags=["approximate"]
compare(prediction, measured=error((losses / n_tokens).mean()), choices=(0.01, 0.1, 1))

# %%
print("the sum over the total has the right gradient to 1e-6:", error(parts.accumulate(losses, n_tokens)) < 1e-6)

# %% [markdown]
# In the mean of means, 2 of the 46 tokens get a quarter of the weight.
#
# <details><summary>Does a real training loop keep all losses until the end?</summary>
#
# No, that would keep all activations. It counts the tokens of the whole batch first, then calls `(loss_sum /
# n_all_tokens).backward()` after each micro-batch. PyTorch adds the gradients up in `.grad`.
# </details>

# %% [markdown]
# ## Activation checkpointing: compute it twice
#
# *Reduces*: activations. *Costs*: a second forward pass.
#
# **Activation checkpointing** is what `checkpointing=True` means in your bill.
#
# **Predict.** With eight layers of width 64, how many times as much memory does the forward pass hold at its end
# without checkpointing: nearest to 1, 3 or 10 times? And are the gradients `"equal"` or `"different"`?

# %% tags=["prediction"]
prediction_kept, prediction_gradients = ..., ...


# %% tags=["hide-input"]
def again_when_needed(layer: nn.Module, *inputs: Tensor) -> Tensor:
    return checkpoint(layer, *inputs, use_reentrant=False, preserve_rng_state=False)


# %% tags=["hide-input", "words-only"]
ways = {"all": deep, "inputs of layers": partial(deep, run_layer=again_when_needed)}
kept = {name: bytes_kept(deep, partial(loss_of, forward, batch_16))[0].total() / 1e6 for name, forward in ways.items()}
times = {name: measure(lambda f=forward: loss_of(f, batch_16).backward(), 3) for name, forward in ways.items()}
deep_bill = partial(parts.memory_bill, n_parameters(deep), 8, 64, kept_by_a_layer(yours, batch_16), 16 * 32, 1)
bill = {name: deep_bill(again)["activations"] / 1e6 for name, again in zip(ways, (False, True))}
ms = {name: 1000 * t for name, t in times.items()}
pd.DataFrame({"MB kept": kept, "MB, your bill": bill, "CPU time (ms)": ms}).round(1)

# %% tags=["hide-input"]
gradients, gradients_again = (
    torch.autograd.grad(loss_of(forward, batch_16), list(deep.parameters())) for forward in ways.values()
)
compare(prediction_kept, measured=kept["all"] / kept["inputs of layers"], choices=(1, 3, 10))
same = all(torch.allclose(*pair, atol=1e-6) for pair in zip(gradients, gradients_again))
compare(prediction_gradients, measured="equal" if same else "different")

# %% [markdown]
# Your bill is higher because it includes the one layer that is being computed again. The cost is a second forward pass:
# up to a third more arithmetic.
#
# Blockwise attention (lesson 10; [FlashAttention](https://arxiv.org/abs/2205.14135)) does the same inside a layer. It
# keeps one number for each head and query, and computes the weights again in the backward pass. How much does one layer
# keep for each token, in multiples of `d_model`?

# %% tags=["hide-input", "approximate"]
small = LanguageModelConfig.llama(V, d_model=64, n_heads=4, d_ff=256)
n_kept = {}
for n in (256, 512, 1024):
    for name, kernel in {"plain": SDPBackend.MATH, "blockwise": SDPBackend.FLASH_ATTENTION}.items():
        with sdpa_kernel(kernel):
            of_a_layer = kept_by_a_layer(
                lambda n: LibraryModel(replace(small, n_layers=n)), torch.ones(1, n + 1).long()
            )
            n_kept[name, f"{n} tokens"] = of_a_layer / 64
pd.Series(n_kept).unstack(sort=False).round(1)

# %% [markdown]
# Only plain attention keeps more for each token when the text is longer.

# %% [markdown]
# ## 16 bits: bfloat16 and float16
#
# *Reduces*: activations and whatever is sent between devices, by half at best. *Costs*: digits.
#
# GPUs multiply 16-bit numbers faster: an H100 does 15 times as many operations a second as in plain float32. float16
# has 10 bits for the digits and 5 for the exponent, **bfloat16** has 7 and 8, and float32 has 23 and 8. **FP8** has 8
# bits in all: 3 and 4 (E4M3), or 2 and 5 (E5M2).
#
# **Predict.** What is 256 + 1 in bfloat16? And 10⁻⁸ in float16?

# %% tags=["prediction"]
prediction_sum, prediction_small = ..., ...

# %% tags=["hide-input"]
rows, ones = {}, 1 + torch.rand(10_000, dtype=torch.float64)
for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2):
    rounded = torch.tensor([256 + 1, 1 + 0.001, 1e-8]).to(dtype).float()
    error = ((ones.to(dtype).double() - ones) / ones).abs().max().item()
    rows[str(dtype).removeprefix("torch.")] = {
        "256 + 1": rounded[0].item(),
        "1 + 0.001": f"{rounded[1]:.3f}",
        "1e-8": f"{rounded[2]:.0e}",
        "largest": f"{torch.finfo(dtype).max:.1e}",
        "rounding error up to": f"{error:.1g}",
    }
compare(prediction_sum, measured=rows["bfloat16"]["256 + 1"])
compare(prediction_small, measured=float(rows["float16"]["1e-8"]))
pd.DataFrame(rows).transpose()

# %% [markdown]
# float16 lacks range: scores above 65,504 become infinite, and gradients below 3·10⁻⁸ become 0, unless **loss scaling**
# multiplies the loss before the backward pass and divides the gradients afterwards. bfloat16 has the range of float32,
# but in it 1 + 0.001 is 1.

# %% [markdown]
# Does that harm training? We train a model in three ways: in float32; with **mixed precision**, in which `autocast`
# rounds copies of the float32 parameters to bfloat16 for the matrix products; and with everything in bfloat16. Each has
# a small learning rate, 0.0003, and a large one, 0.01, with three seeds. (The results are stored;
# `authoring/train_precision_runs.py` made them with the next folded cell.)
#
# **Predict.** With everything in bfloat16, is the final loss more than 0.05 worse than in float32 at learning rate
# 0.0003, `"yes"` or `"no"`? And at 0.01? At 0.0003, what fraction of the parameters does the last step leave unchanged:
# nearest to 0.1, 0.3 or 0.8?

# %% tags=["prediction"]
prediction_small_rate, prediction_large_rate, prediction_unchanged = ..., ..., ...


# %% tags=["hide-input"]
def train_in_16_bits(
    seed: int, mixed: bool, everything: bool, rate: float, steps: int = 60
) -> tuple[list[float], float]:
    """Return the loss of each step, and the fraction of the parameters that the last step leaves as they were."""
    torch.manual_seed(seed)
    model = Model(32, n_layers=1, n_heads=4).to(torch.bfloat16 if everything else torch.float32)
    optimizer, losses = torch.optim.Adam(model.parameters(), lr=rate), []
    for _ in range(steps):
        with torch.autocast("cpu", torch.bfloat16, enabled=mixed):
            loss = loss_of(model, train_ids[torch.randint(len(train_ids), (4,))].cpu())
        model.zero_grad()
        loss.backward()
        before = nn.utils.parameters_to_vector(model.parameters()).detach().clone()
        optimizer.step()
        losses.append(loss.item())
    after = nn.utils.parameters_to_vector(model.parameters()).detach()
    return losses, (before == after).float().mean().item()


# %% id="runs-in-16-bits" tags=["hide-input", "approximate"]
stored = read_json(FOLDER / "precision-runs" / "losses.json")
runs = pd.DataFrame(stored["precisions"]).set_index(["rate", "kind"])
frequencies = train_ids[:, 0].bincount(minlength=V).float().cpu() + 1
following = held_out[:, 1:].flatten().cpu()
unigram = F.cross_entropy(frequencies.log().expand(len(following), V), following).item()
axes = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True, layout="constrained")[1]
for ax, rate in zip(axes, (0.0003, 0.01)):
    curves = {
        kind: torch.tensor(of_kind["losses"].tolist()) for kind, of_kind in runs.loc[rate].groupby("kind", sort=False)
    }
    plots.lines(range(10, 61, 10), curves, "step", "loss (mean of 10 steps)", ax)
    ax.set_title(f"learning rate {rate}")
print(f"for comparison, the loss of predicting each character by its frequency: {unigram:.2f}")
at_the_end = (
    runs.assign(loss=runs["losses"].str[-1]).groupby(["rate", "kind"], sort=False)[["loss", "unchanged"]].mean()
)
at_the_end.set_axis(["loss at the end", "parameters unchanged"], axis=1).round(2)

# %%
harm = {
    rate: at_the_end.loc[rate, "loss"]["all in bfloat16"] - at_the_end.loc[rate, "loss"]["float32"]
    for rate in (0.0003, 0.01)
}
compare(prediction_small_rate, measured="yes" if harm[0.0003] > 0.05 else "no")
compare(prediction_large_rate, measured="yes" if harm[0.01] > 0.05 else "no")
compare(
    prediction_unchanged, measured=at_the_end.loc[(0.0003, "all in bfloat16"), "unchanged"], choices=(0.1, 0.3, 0.8)
)
weight = torch.tensor(0.2, dtype=torch.bfloat16)
print(f"in bfloat16, 0.2 + 0.0003 is {(weight + 0.0003).item():.4f} and 0.2 + 0.01 is {(weight + 0.01).item():.4f}")

# %% [markdown]
# *Products* in 16 bits do no harm at either rate: the curves of float32 and mixed precision coincide. *Parameters* in
# 16 bits do harm at the small rate. Adam moves each parameter by about the learning rate, and with 0.0003 most sums are
# rounded back. A step of 0.01 is large enough to survive the rounding, and the loss is as low as in float32. Large
# models train at small rates (Llama 3 8B at 0.0003), and most schedules end at a small one. In float32, small steps
# add up. This is why mixed precision keeps **master weights** in float32.

# %% [markdown]
# So a parameter still costs 16 bytes: 2 for the bfloat16 copy, 2 for its gradient, and in float32 4 for the master
# weight and 8 for Adam's moments. (With `autocast` it is 4 + 4 + 8.) Only the activations shrink, to half at best.

# %% [markdown]
# <details><summary>And 8 bits?</summary>
#
# DeepSeek-V3 ([arXiv:2412.19437](https://arxiv.org/abs/2412.19437)) was trained with FP8. Every 128 features of a
# token, and every block of 128 × 128 weights, share a scale factor, which makes up for the small range.
#
# | format | what |
# |---|---|
# | FP8 (E4M3) | the factors of the matrix products in linear layers, forward and backward; most stored activations |
# | bfloat16 or float32 | embedding, output layer, norms, attention, the router of the experts |
# | bfloat16 | Adam's two moments |
# | float32 | partial sums, after every 128 products; accumulated gradients; master weights |
#
# In the authors' tests, the loss stayed within 0.25 % of bfloat16's.
# </details>

# %% [markdown]
# ## Data parallelism: a batch on several workers
#
# *Reduces*: activations, because each worker has a part of the batch, and time. *Costs*: the gradients have to be sent.
#
# In **data parallelism**, several processes, called workers, each hold a copy of the model and compute different
# micro-batches at the same time. Before the optimizer's step, an **all-reduce** adds up their weighted gradients, and
# every worker gets the sum.
#
# **Exercise.** Row i is the gradient of worker i, computed from the *mean* loss over its own `n_tokens[i]` tokens.
# Return what each worker has after the all-reduce.


# %% id="all_reduce_gradients" tags=["exercise"]
def all_reduce_gradients(
    gradients: Float[Tensor, "n_workers n"], n_tokens: Int[Tensor, " n_workers"]
) -> Float[Tensor, "n_workers n"]:
    """Return, in each worker's row, the gradient of the mean loss over the tokens of all workers."""
    raise NotImplementedError


# %% id="check-all_reduce_gradients"
check(all_reduce_gradients)

# %%
diagrams.data_parallel.step(2)

# %% [markdown]
# `run_processes` starts two real processes, connected by torch's `gloo` backend, and runs `data_parallel_step` in each
# of them (on Windows, in two threads). The core of that function is two lines:
#
# ```python
# gradient = mean_loss_gradient(model, part, pad_id) * (n_tokens / total)
# world.all_reduce(gradient)  # a sum: torch.distributed.all_reduce
# ```
#
# Each process gets half of 32 texts. Do both end up with the gradient that one process computes from all 32?

# %% tags=["hide-input"]
library_model = LibraryModel(LanguageModelConfig.llama(V, d_model=64, n_heads=4, d_ff=256, n_layers=4))
batch = train_ids[:: len(train_ids) // 31][:32].cpu().clone()
for row in range(0, 32, 2):
    batch[row, 3 + row :] = PAD  # worker 0 has shorter texts

# %%
reports = run_processes(data_parallel_step, library_model, batch, PAD)

# %%
expected = mean_loss_gradient(library_model, batch, PAD)
print("tokens of each:", [report.n_tokens for report in reports])
print("each has the gradient of one process to 1e-6:", all((r.reduced - expected).abs().max() < 1e-6 for r in reports))
own = torch.stack([report.own for report in reports])
by_hand = parts.all_reduce_gradients(own, torch.tensor([report.n_tokens for report in reports]))
print("and so has all_reduce_gradients:", torch.allclose(by_hand, torch.stack([expected] * 2), atol=1e-6))

# %% [markdown]
# With the same gradient, both workers take the same step, so their copies of the model stay equal.
#
# With many workers, which one adds up the gradients? In a **ring all-reduce**, all of them do. The gradients are split
# into as many chunks as there are workers, and in each step every worker sends one chunk to the next worker. In the
# picture, rows are workers, columns are chunks, and the numbers say whose gradients have been added.

# %%
diagrams.data_parallel.ring(3)

# %% [markdown]
# **Predict.** Each of ten workers sends a certain number of bytes. With a thousand workers, does each send about 1, 10
# or 100 times as many?

# %% tags=["prediction"]
prediction = ...

# %%
sent = {n: 2 * (n - 1) / n for n in (10, 1000)}  # times the size of the gradients: a chunk in each of 2 (n − 1) steps
compare(prediction, measured=sent[1000] / sent[10], choices=(1, 10, 100))

# %% [markdown]
# Each worker sends less than twice the size of the gradients, however many workers there are. But the number of steps
# grows with the number of workers, and so does the waiting.

# %% [markdown]
# ## ★ ZeRO: split what data parallelism copies
#
# *Reduces*: the optimizer state; in stage 2 also the gradients; in stage 3 also the parameters. *Costs*: nothing extra
# in stages 1 and 2; in stage 3 the parameters are sent twice.
#
# In data parallelism, every device keeps the first three items of the bill in full. **ZeRO**
# ([arXiv:1910.02054](https://arxiv.org/abs/1910.02054); in torch, FSDP) splits them into shards. Each table shows what
# one of four workers keeps in mixed precision; the four columns are the four quarters of the model.

# %%
diagrams.data_parallel.zero(4)

# %% [markdown]
# In stage 1, a **reduce-scatter** gives each worker its shard of the mean gradient. The worker updates its shard of the
# parameters, and an **all-gather** sends the new parameters to all. (Adam treats every number on its own, so its state
# can be split anywhere.) In the picture of the ring, steps 1 and 2 are a reduce-scatter, and steps 3 and 4 are an
# all-gather: together they send what an all-reduce sends. In stage 3, a worker fetches the parameters of a layer just
# before they are needed, in the forward and in the backward pass.

# %% [markdown]
# **Exercise ★.** Row i of `gradients` belongs to worker i (all workers have the same number of tokens). Row i of
# `means` (of g) and `mean_squares` (of g²) is the shard that worker i keeps: worker 0 the first n_shard parameters,
# worker 1 the next, with zeros to fill up the last shard. Take a step of Adam: a new mean is 0.9 of the old one plus
# 0.1 of g, a new mean square 0.999 of the old one plus 0.001 of g². For the update, divide them by
# $1-0.9^{\text{step}}$ and $1-0.999^{\text{step}}$, because both started at 0. ε is 10⁻⁸.


# %% id="zero_step" tags=["exercise"]
def zero_step(
    parameters: Float[Tensor, " n"],
    gradients: Float[Tensor, "n_workers n"],
    means: Float[Tensor, "n_workers n_shard"],
    mean_squares: Float[Tensor, "n_workers n_shard"],
    step: int,
    rate: float,
) -> tuple[Float[Tensor, " n"], Float[Tensor, "n_workers n_shard"], Float[Tensor, "n_workers n_shard"]]:
    """Return the parameters after a step of Adam, and each worker's shards of the two new running means."""
    raise NotImplementedError


# %% id="check-zero_step"
check(zero_step)

# %%
cut_up, whole = torch.zeros(10), nn.Parameter(torch.zeros(10))
adam, state = torch.optim.Adam([whole], lr=0.1), [torch.zeros(4, 3)] * 2
for step in (1, 2, 3):
    gradients = torch.randn(4, 10)
    cut_up, *state = parts.zero_step(cut_up, gradients, *state, step, 0.1)
    whole.grad = gradients.mean(dim=0)
    adam.step()
print("four workers have the parameters of Adam on one:", torch.allclose(cut_up, whole, atol=1e-6))

# %% [markdown]
# ### Muon: an optimizer with half the state
#
# Another way to shrink the optimizer's item is a different optimizer. For each matrix, **Muon** (Jordan et al., 2024)
# keeps only the running mean of the gradients, and *orthogonalizes* it. All its singular values (how much it stretches
# each direction) become about 1, so no few directions dominate the step. AdamW trains everything that is not a matrix,
# and the embeddings. *Costs*: more matrix products.
#
# **Predict.** Each optimizer gets the best of three learning rates, for 100 steps of a model of width 32. Which one
# reaches the lower held-out loss, `"AdamW"` or `"Muon"`?

# %% tags=["prediction"]
prediction = ...


# %% tags=["hide-input"]
def trained(seed: int, steps: int, optimizers: Callable, n_rows: int = 16, **sizes: int) -> nn.Module:
    """Return a model after training: the learning rates warm up over 10 steps, and fall over the second half."""
    torch.manual_seed(seed)
    model = Model(**sizes).to(device)
    chosen = optimizers(model)
    groups = [(group, group["lr"]) for optimizer in chosen for group in optimizer.param_groups]
    for step in range(1, steps + 1):
        for group, rate in groups:
            group["lr"] = rate * min(1, step / 10, 2 * (1 - (step - 1) / steps))
        loss = loss_of(model, train_ids[torch.randint(len(train_ids), (n_rows,))])
        model.zero_grad()
        loss.backward()
        for optimizer in chosen:
            optimizer.step()
    return model


# %% tags=["hide-input"]
def three_losses(steps: int, optimizers: Callable, **sizes: int) -> Tensor:
    """Return the held-out losses of models that were trained with three seeds."""
    models = [trained(seed, steps, optimizers, **sizes) for seed in range(3)]
    with torch.no_grad():
        return torch.stack([loss_of(model, held_out) for model in models]).cpu()


def adamw(rate: float) -> Callable:
    return lambda model: [torch.optim.AdamW(model.parameters(), lr=rate, fused=True)]


# %% tags=["hide-input", "approximate"]
muon_sizes = {"steps": 100, "d_model": 32}
tuned = {}
for name, tried in {
    "AdamW": {rate: adamw(rate) for rate in (0.007, 0.014, 0.028)},
    "Muon": {rate: partial(make_muon, lr=rate, adamw_lr=0.01) for rate in (0.02, 0.04, 0.08)},
}.items():
    at_rates = {rate: three_losses(optimizers=optimizers, **muon_sizes) for rate, optimizers in tried.items()}
    best = min(at_rates, key=lambda rate: at_rates[rate].mean())
    tuned[name] = {"best rate": best} | {f"seed {i}": loss for i, loss in enumerate(at_rates[best].tolist())}
three_muon, three_adamw = ([tuned[name][f"seed {i}"] for i in range(3)] for name in ("Muon", "AdamW"))
compare(prediction, measured="Muon" if sum(three_muon) < sum(three_adamw) else "AdamW")
model = yours(8)
with_muon = measured_bill(model, batch_16, lambda model: make_muon(model, 0.01, adamw_lr=0.01))
print(f"Muon's state takes {with_muon['optimizer'] / bills['yours, measured']['optimizer']:.2f} times Adam's")
gradient = model.layers[0].feed_forward.w_1.weight.grad
for name, matrix in {"gradient": gradient, "step of Muon": orthogonalize(gradient)}.items():
    values = torch.linalg.svdvals(matrix)
    print(f"{name}: the 8 largest of 64 singular values have {values[:8].sum() / values.sum():.0%} of the sum")
pd.DataFrame(tuned).transpose().round(3)

# %% [markdown]
# After 100 steps of this small model, Muon ends lower with each seed, by about 0.1. (We tried no other size or length
# here.) But Muon needs whole matrices, so ZeRO cannot split its state just anywhere.

# %% [markdown]
# ## Tensor parallelism: a layer in parts
#
# *Reduces*: parameters, gradients, optimizer state, and the activations inside a layer. *Costs*: activations have to be
# sent in every layer.
#
# ZeRO fetches the matrices of a layer and computes with whole matrices. In **tensor parallelism**, each device computes
# with its part of each matrix (Megatron, [arXiv:1909.08053](https://arxiv.org/abs/1909.08053)). Start with a split by
# columns: each device has all of x and computes an equal part of the output features.
#
# **Exercise.** Return what each device computes: device 0 has the first columns of the matrix, device 1 the next.


# %% id="column_parallel" tags=["exercise"]
def column_parallel(
    x: Float[Tensor, "n d_in"], matrix: Float[Tensor, "d_in d_out"], n_devices: int
) -> Float[Tensor, "n_devices n d_shard"]:
    """Return, for each device, the product of x and its shard of the matrix."""
    raise NotImplementedError


# %% id="check-column_parallel"
check(column_parallel)

# %% [markdown]
# The next layer reads these features, which are now on different devices. So its matrix is split by rows.
#
# **Exercise.** Device i has a part of the features of x, and the rows of the matrix that these features are multiplied
# by. Its product is one part of every sum. Return the output of the whole layer.


# %% id="row_parallel" tags=["exercise"]
def row_parallel(
    x_shards: Float[Tensor, "n_devices n d_shard"], matrix: Float[Tensor, "d_in d_out"], bias: Float[Tensor, " d_out"]
) -> Float[Tensor, "n d_out"]:
    """Return x @ matrix + bias, where device i has the i-th part of the features of x, and the rows that they meet."""
    raise NotImplementedError


# %% id="check-row_parallel"
check(row_parallel)

# %% [markdown]
# Together they make a feed-forward network: split by columns, apply ReLU, split by rows, then one all-reduce. In the
# picture, the number in a cell says which device has it.

# %%
diagrams.tensor_parallel.feed_forward(2)

# %% [markdown]
# **Predict.** Suppose you split the *first* matrix by rows instead, and each device applies ReLU to its part of the sum
# before the parts are added up. Is the result `"the same"` or `"another"`?

# %% tags=["prediction"]
prediction = ...

# %%
x, w_1, w_2, bias = torch.randn(5, 64), torch.randn(64, 256) / 8, torch.randn(256, 64) / 16, torch.randn(64)
hidden = parts.column_parallel(x, w_1, 4).relu()
expected = (x @ w_1).relu() @ w_2 + bias
print("on four devices as on one:", torch.allclose(parts.row_parallel(hidden, w_2, bias), expected, atol=1e-5))
relu_too_early = torch.stack([a @ b for a, b in zip(x.chunk(4, 1), w_1.chunk(4, 0))]).relu().sum(0) @ w_2 + bias
same = torch.allclose(relu_too_early, expected, atol=0.1)
compare(prediction, measured="the same" if same else "another")

# %% [markdown]
# ReLU of a sum is not the sum of ReLUs, so splitting by rows first would need a second all-reduce. In attention, each
# device gets some of the heads (columns of `w_q`, `w_k` and `w_v`) and the matching rows of `w_o`. So each layer of a
# Transformer needs two all-reduces in the forward pass and two in the backward pass.

# %% [markdown]
# ## ★ Pipeline parallelism: layers in turn
#
# *Reduces*: parameters, gradients and optimizer state. *Costs*: idle time; little is sent.
#
# In **pipeline parallelism**, each device, called a stage, has some of the layers, and micro-batches follow one another
# through them. A pass takes a stage one tick (in reality, a backward pass takes two). A forward pass needs the forward
# pass of the stage before. A backward pass needs the backward pass of the stage after, or on the last stage its own
# forward pass. Between the two, a stage holds the activations of the micro-batch. With **1F1B** ("one forward, one
# backward"), a stage runs a backward pass if it can. If not, it runs a forward pass, provided that it holds fewer than
# n_stages − stage micro-batches, with stages counted from 0.

# %% [markdown]
# **Exercise ★.** Return the schedule, with a row for each stage and a column for each tick: m for the forward pass of
# micro-batch m (counted from 1), −m for its backward pass, 0 for idle. A result is available from the tick after the
# one that computed it.


# %% id="pipeline_schedule" tags=["exercise"]
def pipeline_schedule(n_stages: int, n_microbatches: int) -> Int[Tensor, "n_stages n_ticks"]:
    """Return what each stage does in each tick: m or −m, a pass of micro-batch m forward or backward; 0, nothing."""
    raise NotImplementedError


# %% id="check-pipeline_schedule"
check(pipeline_schedule)

# %% [markdown]
# **Predict.** With 4 stages and 6 micro-batches, what fraction of the time is a device idle: nearest to 0.1, 0.3 or
# 0.5? And how many micro-batches does the first stage hold at most: 1, 4 or 6?

# %% tags=["prediction"]
prediction_idle, prediction_held = ..., ...

# %%
schedule = parts.pipeline_schedule(4, 6)
held = schedule.sign().cumsum(dim=1)  # forward passes less backward passes
compare(prediction_idle, measured=(schedule == 0).float().mean(), choices=(0.1, 0.3, 0.5))
compare(prediction_held, measured=held[0].max())
diagrams.pipeline.schedule(schedule)

# %% [markdown]
# The picture is drawn from your schedule. The idle cells are the **bubble**: (stages − 1) / (stages − 1 +
# micro-batches) of all cells. More micro-batches make it smaller, and with 1F1B they take no more memory.

# %% [markdown]
# ## The bill, split among eight
#
# Llama 3 8B trains on eight H100s with mixed precision. A step has eight texts of 2,048 tokens, one per device. The
# log-probabilities, which stay in float32, now get an item of their own.
#
# **Predict.** Which methods fit into 80 GB: plain data parallelism? ZeRO, stage 1? (`"yes"` or `"no"`.) The arithmetic
# takes each device 0.25 s (6 operations for each parameter and token, at 40 % of peak speed; the section on cost
# explains both). How long does data parallelism take to send its gradients within a machine (450 GB/s each way), and
# between machines (50 GB/s): nearest to 0.005, 0.05 or 0.5 s?

# %% tags=["prediction"]
prediction_plain, prediction_zero, prediction_within, prediction_between = ..., ..., ..., ...

# %% tags=["hide-input"]
kept, ring, n = n_kept_8b, 7 / 8, n_8b
narrow = replace(llama_8b, vocab_size=128_256 // 8, d_k=128, n_heads=4, n_kv_heads=1, d_ff=14336 // 8)
kept_part = kept_by_a_layer(partial(llama, narrow), text)  # of a tensor-parallel part
inputs = 2048 * 4096 * 2 / 1e9  # GB of a layer's input: a text, 16 bits
mixed = {"parameters": 1 / 2, "gradients": 1 / 2, "optimizer": 3 / 2, "activations": 1 / 2}  # with master weights


def bill_of_eight(n: float, n_layers: int, n_kept: float, n_texts: int, n_workers: int, checkpointing: bool) -> dict:
    bill = parts.memory_bill(n, n_layers, 4096, n_kept, n_texts * 2048, n_workers, checkpointing)
    own = {"log-probabilities": 4 * 2048 * 128_256 / 1e9}  # tensor: of eight texts, but an eighth of the vocabulary
    return {line: bill[line] * factor / 1e9 for line, factor in mixed.items()} | own


plain, zero_3 = (bill_of_eight(n, 32, kept, 1, n_workers, False) for n_workers in (1, 8))
sent_by_zero_3 = 3 * ring * 2 * n / 1e9
n_first = n_parameters(llama(llama_8b, 4)) - 4096 * (128_256 + 1)  # with the embedding, without the last layer
ways = {
    "data parallel": (plain, 2 * ring * 2 * n / 1e9),
    "ZeRO, stage 1": (plain | {"optimizer": zero_3["optimizer"]}, 2 * ring * 2 * n / 1e9),
    "ZeRO, stage 3": (zero_3, sent_by_zero_3),
    "tensor": (bill_of_eight(n / 8, 32, kept_part, 8, 1, False), 4 * 32 * 8 * 2 * ring * inputs),  # 4 sums a layer
    "pipeline": (bill_of_eight(n_first, 4, kept, 8, 1, False) | {"log-probabilities": 0}, 2 * 8 * inputs),
    "ZeRO 3, blockwise": (bill_of_eight(n, 32, n_blockwise, 1, 8, False), sent_by_zero_3),
    "… and checkpointing": (bill_of_eight(n, 32, n_blockwise, 1, 8, True), sent_by_zero_3),
}  # the fullest stage of the pipeline is the first: it holds 8 micro-batches of an eighth of the layers

# %% tags=["hide-input"]
shared = pd.DataFrame({name: bill for name, (bill, _) in ways.items()}).transpose()
sent = pd.DataFrame({"sent": {name: gb for name, (_, gb) in ways.items()}})
sent["within"], sent["between"] = sent["sent"] / 450, sent["sent"] / 50
sent["computing"] = 6 * n * 2048 / (0.4 * 989e12)
sent.loc["… and checkpointing", "computing"] *= 4 / 3  # a second forward pass
sent.loc["pipeline", "computing"] *= 15 / 8  # it waits in 7 ticks of 15
fits = ["yes" if gb < 80 else "no" for gb in shared.sum(axis=1)]
compare(prediction_plain, measured=fits[0])
compare(prediction_zero, measured=fits[1])
compare(prediction_within, measured=sent["within"].iloc[0], choices=(0.005, 0.05, 0.5))
compare(prediction_between, measured=sent["between"].iloc[0], choices=(0.005, 0.05, 0.5))

# %% tags=["hide-input", "approximate"]
ax = shared.plot.barh(stacked=True, color=[*plots.COLORS, "0.6"], figsize=(7, 2.9))
ax.invert_yaxis()
ax.set(xlabel="GB on each device", ylabel="")
ax.axvline(80, color="0.5", linestyle="--")
ax.text(80, -0.75, "H100", ha="center")
ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
in_gb = shared.assign(all=shared.sum(axis=1)).join(sent[["sent"]]).map("{:.1f} GB".format)
in_gb.join(sent.drop(columns="sent").map("{:.3f} s".format))

# %% [markdown]
# Between machines, every method but the pipeline spends more than twice as long sending as computing. A pipeline sends
# the least, but here it is idle for 7/15 of the time.
#
# Data parallelism and ZeRO send the same number of bytes however many tokens a step has, while the arithmetic grows
# with the tokens. From about 4,600 tokens per device on (stage 3: 6,900), the arithmetic takes longer, and the
# gradients can be sent meanwhile. With tensor parallelism both grow, and all devices wait for each other in each layer.
# So tensor parallelism stays within a machine.
#
# <details><summary>Where do 450 and 50 GB/s come from?</summary>
#
# 450 GB/s is one direction of NVLink's [900](https://www.nvidia.com/en-us/data-center/h100/), and 50 GB/s is a network
# card of [400 Gb/s](https://www.nvidia.com/en-us/data-center/dgx-h100/). (A tensor-parallel part has an eighth of the
# heads, of `d_ff` and of the vocabulary.)
#
# </details>

# %% [markdown]
# The bar of tensor parallelism is long because each device keeps the full input of every layer. Three more ways to
# split:
#
# | | splits | reduces | sends, in each layer |
# |---|---|---|---|
# | **sequence parallelism** | tokens, where tensor parallelism splits nothing | what makes that bar long | no more |
# | **context parallelism** | the tokens of a long text | activations | keys and values; backward, their gradients |
# | **expert parallelism** | the experts (*Architectures*) | their first three items | tokens, twice (all-to-all) |
#
# This is what ZeRO 3, blockwise attention and checkpointing leave of the first bill, on each of the eight devices.

# %% tags=["hide-input", "approximate"]
left, features = ways["… and checkpointing"][0], 2048 * 4096 * 2 / 1e9  # GB of d_model features of each token
draw_bill(
    all_lines,
    {
        "parameters": (left["parameters"], "ZeRO, 16 bits"),
        "gradients": (left["gradients"], "ZeRO, 16 bits"),
        "Adam's two moments": (left["optimizer"], "ZeRO (with master weights)"),
        "attention weights": (0, "blockwise attention"),
        "inside the FFNs": (features * parts_8b["inside the FFNs"], "checkpointing, 16 bits"),
        "other features": (features * (32 + parts_8b["other features"]), "checkpointing, 16 bits"),
        "log-probabilities": (left["log-probabilities"], "as before"),
    },
)

# %% [markdown]
# ZeRO divides the first three items but does not make them smaller: together, the eight devices still hold 128 GB. The
# activations really shrink, from 43 GB to 0.9, because most of them are computed again. Apart from 16-bit rounding,
# none of these methods changes the result.
#
# <details><summary>How are these methods combined?</summary>
#
# A step of Llama 3 405B had 16 million tokens: about 1,000 for each of 16,384 GPUs. ZeRO alone would need 6,900,
# whatever the size of the model. So it is combined with other methods, and those that send the most go where the links
# are fastest: tensor 8 (within a machine) × pipeline 16 × data 128; with texts of 131,072 tokens, context 16 and data 8
# ([table 4](https://arxiv.org/abs/2407.21783)).
# </details>
#
# ---
#
# **Half-way.** A good place to stop for today.

# %% [markdown]
# ## What does training cost?
#
# We count **FLOPs**, floating-point operations. In a matrix product, each parameter is multiplied by one number of each
# token, and the result is added to a sum. The backward pass has two such products for each one in the forward pass: one
# for the gradient of the inputs, and one for the gradient of the parameters.
#
# **Exercise.** Estimate the number of operations of a whole training run.


# %% id="training_flops" tags=["exercise"]
def training_flops(n_parameters: int, n_tokens: int) -> int:
    """Return the operations of training: those of its matrix products, forward and backward."""
    raise NotImplementedError


# %% id="check-training_flops"
check(training_flops)

# %% [markdown]
# Does the estimate hold? PyTorch can count.

# %%
wide = Model(256, n_layers=4)
with FlopCounterMode(display=False) as counter:
    loss_of(wide, batch_16).backward()
estimated = parts.training_flops(n_parameters(wide), 16 * 32)
print(f"torch counts {counter.get_total_flops() / estimated:.1f} times the estimate")

# %% [markdown]
# The estimate leaves out the attention scores, which matter for long texts. Now take four models, from lesson 08's to
# one of 8 billion parameters. We assume 20 tokens per parameter, an H100 at 40 % of its peak speed (its **MFU**) and
# 700 watts for the GPU alone, and the 16 bytes per parameter of the memory bill. (Only passes over many tokens get that
# close to the peak; decoding one text is limited by memory: see the **roofline** of lesson 10.)


# %% tags=["hide-input"]
def count(config: LanguageModelConfig) -> int:
    with torch.device("meta"):  # shapes without numbers
        return n_parameters(LibraryModel(config))


# %% tags=["hide-input"]
sizes = {
    "lesson 08": 264_256,
    "GPT-2": count(LanguageModelConfig.gpt2()),
    "GPT-2 XL": count(LanguageModelConfig.gpt2(d_model=1600, n_heads=25, d_ff=6400, n_layers=48)),
    "Llama 3 8B": count(llama_8b),
}
ladder = pd.DataFrame({"parameters": sizes})
ladder["tokens"] = 20 * ladder["parameters"]
ladder["FLOPs"] = [float(parts.training_flops(n, 20 * n)) for n in sizes.values()]
ladder["one H100 (hours)"] = ladder["FLOPs"] / (0.4 * 989e12) / 3600
ladder["energy (kWh)"] = 0.7 * ladder["one H100 (hours)"]
ladder["bill (GB)"] = 16 * ladder["parameters"] / 1e9
ladder.map(lambda value: f"{value:.0e}" if value < 0.1 or value > 1e10 else f"{value:,.{int(value < 100)}f}")

# %% [markdown]
# Ten times as many parameters cost a hundred times as many operations, because the number of tokens is also ten times
# as large. Llama 3 8B read over 90 times as many tokens as this table assumes. That makes half a million hours at 40 %;
# the 1.3 million that Meta reports correspond to 16 %. (For the 405B model, Meta reports 38 to 43 % while it runs.)

# %% [markdown]
# Why 20 tokens per parameter? A given budget of FLOPs buys more parameters or more tokens. Hoffmann et al. (2022)
# trained over 400 models with N parameters on D tokens, and fitted $L = E + A / N^{\alpha} + B / D^{\beta}$ to their
# losses. The best N for a budget is called **compute-optimal**.
#
# **Predict.** GPT-3 has 175 billion parameters and read 300 billion tokens. For the same FLOPs, is the best model
# `"larger"` or `"smaller"`?

# %% tags=["prediction"]
prediction = ...


# %%
def law(n, tokens):  # the constants were fitted again by Besiroglu et al. (2024)
    return 1.8172 + 482.01 / n**0.3478 + 2085.43 / tokens**0.3658


budget = parts.training_flops(175 * 10**9, 300 * 10**9)
n = torch.logspace(9, 13, 10_000, dtype=torch.float64)
best = law(n, budget / parts.training_flops(1, 1) / n).argmin()
compare(prediction, measured="larger" if n[best] > 175e9 else "smaller")
print(f"best: {n[best] / 1e9:.0f} billion parameters, {budget / 6 / n[best] ** 2:.0f} tokens for each")

# %% [markdown]
# This law counts only the cost of training. If a model is used a lot, a smaller model that reads more tokens is cheaper
# overall: Llama 3 8B read 1,900 tokens per parameter.

# %% [markdown]
# ## Bug hunt
#
# A colleague trains with four workers and sums the gradients in buckets. The loss falls, but the workers' models drift
# apart. Her test, with 8 numbers, finds nothing wrong. Work out why *before* you look at the check, then write a
# corrected version, `mended`.


# %% tags=["bug-hunt"]
def gradients_of_a_colleague(gradients, n_tokens, bucket=4):
    weights = (n_tokens / n_tokens.sum())[:, None]
    reduced = gradients.clone()
    for start in range(0, gradients.shape[1] - bucket + 1, bucket):
        numbers = slice(start, start + bucket)
        reduced[:, numbers] = (weights * gradients[:, numbers]).sum(dim=0)
    return reduced


# %% id="mend-reduce"
mended = gradients_of_a_colleague

# %% id="check-mend-reduce"
check(mended, "all_reduce_gradients", save=False)

# %% [markdown]
# <details><summary>How to find such a bug without a check</summary>
#
# Compare the parameters of all workers after the first step: they must be equal. Then ask *which ones* differ. Here it
# is the last ones, because the loop stops before a bucket that is not full. So test with sizes that the bucket size
# does not divide, as in the cell below.
# </details>

# %%
for n in (8, 10):
    reduced = gradients_of_a_colleague(torch.arange(4.0 * n).view(4, n), torch.tensor([3, 4, 5, 8]))
    print(
        f"{n} numbers: equal on all workers:", [bool((column == column[0]).all()) for column in reduced.T].count(True)
    )

# %% [markdown]
# ## ★ Transfer: the best size for a budget
#
# How do you find the best size? Hoffmann et al. (2022) trained models of several sizes for the *same* FLOPs, so the
# small ones read more tokens. Plotted against log N, the losses lie near a parabola, the **IsoFLOP** curve.
#
# **Exercise ★.** Fit a parabola in log N to the losses by least squares (in float64), and return the size at its
# minimum.


# %% id="compute_optimal_size" tags=["exercise"]
def compute_optimal_size(n_parameters: list[int], losses: list[float]) -> float:
    """Return the size at the bottom of the parabola in log N that fits the losses best, by least squares."""
    raise NotImplementedError


# %% id="check-compute_optimal_size"
check(compute_optimal_size)

# %% [markdown]
# Models with one layer, 4 to 24 wide, get a budget of 1.2·10⁹ operations, with three seeds each. N counts all
# parameters; the embeddings are also the output layer. The learning rate is divided by the width (μP, lesson 02).
#
# **Predict.** The smallest model takes fifteen times as many steps as the largest. Which size ends with the lowest
# loss: the `"smallest"`, the `"largest"`, or one `"between"` them?

# %% tags=["prediction"]
prediction = ...


# %% tags=["hide-input"]
def at_budget(flops: float, width: int, n_rows: int = 16) -> tuple[int, Tensor]:
    """Return the size of a model, and its losses with three seeds after so many operations."""
    sizes = {"d_model": width, "n_layers": 1, "n_heads": 1}
    n = n_parameters(Model(**sizes))
    steps = round(flops / parts.training_flops(n, n_rows * 32))
    return n, three_losses(steps, adamw(0.5 / width), n_rows=n_rows, **sizes)


# %% tags=["hide-input"]
FLOPS, WIDTHS = 1.2e9, (4, 6, 8, 12, 16, 24)
sizes, losses = zip(*(at_budget(FLOPS, width) for width in WIDTHS))
three_seeds = torch.stack(losses, dim=1)
means = three_seeds.mean(dim=0).tolist()
bottom, *of_each = [parts.compute_optimal_size([*sizes], losses) for losses in (means, *three_seeds.tolist())]

# %% tags=["hide-input", "approximate"]
ax = plt.subplots(figsize=(6.5, 3.4), layout="constrained")[1]
x, curve = np.geomspace(sizes[0], sizes[-1]), np.poly1d(np.polyfit(np.log(sizes), means, 2))
ax.plot(x, curve(np.log(x)), "--", color=plots.COLORS[0], label="parabola through the means")
for seed, losses in enumerate(three_seeds):
    ax.plot(sizes, losses, "os^"[seed], color=plots.COLORS[0], alpha=0.5, label=f"seed {seed}")
ax.axvline(bottom, linestyle=":", color=plots.INK)
ax.set(xscale="log", xticks=sizes, xticklabels=sizes, xlabel="parameters", ylabel="held-out loss")
ax.minorticks_off()
ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
print(f"bottom at {bottom:,.0f} parameters; of each seed:", *(f"{n:,.0f}" for n in of_each))

# %%
lowest = means.index(min(means))
compare(prediction, measured={0: "smallest", len(WIDTHS) - 1: "largest"}.get(lowest, "between"))

# %% [markdown]
# At this budget, the smallest model is too small to use what it reads, and the largest reads too little: it takes a
# fifteenth of the steps. Near its minimum the parabola is flat, so the minima of the three seeds differ (see the line
# below the plot).

# %% [markdown]
# The law of Hoffmann et al., fitted to hundreds of models, gives IsoFLOP curves without training and without noise.
# Your `compute_optimal_size` finds the minimum of each curve. On logarithmic axes, the minima lie near a straight line,
# a **scaling law**, which we extrapolate to published models.
#
# **Predict.** With ten times as many operations, how many times as large is the best size: nearest to 2, 3 or 5? And
# which size is best for the operations that Llama 3 8B used: nearest to 8, 80 or 800 billion?

# %% tags=["prediction"]
prediction_growth, prediction_size = ..., ...

# %%
curves = {}
for flops in (1e18, 1e19, 1e20, 1e21):
    n = ((flops / 6 / 20) ** 0.5 * np.geomspace(1 / 4, 4, 9)).round()  # around 20 tokens for each parameter
    curves[flops] = n, law(n, flops / 6 / n)
lowest_points = [parts.compute_optimal_size(*map(list, curve)) for curve in curves.values()]
exponent, constant = np.polyfit(np.log([*curves]), np.log(lowest_points), 1)
print(f"the best size grows as the budget to the power of {exponent:.2f}")
compare(prediction_growth, measured=10**exponent, choices=(2, 3, 5))

# %% tags=["hide-input"]
published = {
    "GPT-3": (175e9, 300e9),
    "Chinchilla": (70e9, 1.4e12),
    "Llama 3 8B": (8.03e9, 15e12),
    "Llama 3 405B": (405e9, 15.6e12),
}
rows = pd.DataFrame(published, index=["parameters", "tokens"]).transpose()
rows["FLOPs"] = 6 * rows["parameters"] * rows["tokens"]
rows["best size"] = np.exp(constant) * rows["FLOPs"] ** exponent
rows["its tokens"] = rows["FLOPs"] / 6 / rows["best size"]
rows["loss above the best"] = law(rows["parameters"], rows["tokens"]) - law(rows["best size"], rows["its tokens"])
compare(prediction_size, measured=rows.loc["Llama 3 8B", "best size"] / 1e9, choices=(8, 80, 800))

# %% tags=["hide-input"]
axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")[1]
for (flops, (n, losses)), color, bottom in zip(curves.items(), plots.COLORS, lowest_points):
    axes[0].plot(n, losses, ".-", color=color, label=f"$10^{{{np.log10(flops):.0f}}}$ operations")
    axes[0].plot(bottom, law(bottom, flops / 6 / bottom), "D", color=color)
axes[0].set(xscale="log", xlabel="parameters", ylabel="loss by the law")
axes[0].legend(frameon=False)
axes[1].plot([*curves], lowest_points, "D", color=plots.COLORS[0], label="bottoms of the curves")
line = np.geomspace(1e18, 1e26)
axes[1].plot(line, np.exp(constant) * line**exponent, "--", color="0.5", label="the line through them")
axes[1].plot(rows["FLOPs"], rows["parameters"], "o", color=plots.COLORS[1], label="published models")
for name, row in rows.iterrows():
    beside = {"xytext": (-6, 4), "ha": "right"} if name in ("GPT-3", "Llama 3 405B") else {"xytext": (6, -10)}
    axes[1].annotate(name, (row["FLOPs"], row["parameters"]), textcoords="offset points", **beside)
axes[1].set(xscale="log", yscale="log", xlim=(3e17, 3e27), xlabel="operations", ylabel="parameters")
axes[1].legend(frameon=False)
shown = (rows.drop(columns=["FLOPs", "loss above the best"]) / 1e9).map("{:,.0f} billion".format)
shown.join(rows["FLOPs"].map("{:.0e}".format)).join(rows["loss above the best"].map("{:.2f}".format))

# %% [markdown]
# With ten times as many operations, the best size is about three times as large, and so is the number of tokens.
# (Kaplan et al., 2020, had found a factor of more than five, and GPT-3 followed them.) Chinchilla lies on the line.
# Llama 3 8B has a tenth of the best size.
#
# <details><summary>Does Llama 3 contradict the law?</summary>
#
# No. By this law, a model of 34 billion parameters would reach the loss of Llama 3 8B with a fifth of the training; the
# small model has made up for that after writing about 11 trillion tokens. For the budget of Llama 3 405B, our line
# gives over 600 billion parameters, and Meta's own fit, from its models and data, gives
# [402](https://arxiv.org/abs/2407.21783). A law holds for what it was fitted to.
# </details>

# %% [markdown]
# ## Your experiment
#
# Ungraded, about 20 minutes. Test a claim of your own, or start with this one:
#
# **Claim.** The best of the six sizes stays the best with half as many texts in a batch and twice as many steps.
# (`at_budget` trains one size with three seeds.)
#
# **Prediction.** Before you run anything, write down in the cell in how many of three runs the claim will hold.
#
# **Verdict.** Afterwards, say in one sentence what you may claim now. A claim that fails is a result, too.

# %% id="experiment" tags=["experiment", "skip-execution"]
prediction = ...  # the number of runs, 0 to 3, in which the claim will hold
halved = torch.stack([at_budget(FLOPS, width, n_rows=8)[1] for width in WIDTHS], dim=1)
holds = []
for seed in range(3):
    same = halved[seed].argmin() == three_seeds[seed].argmin()
    holds.append(...)  # True or False: for instance bool(same)
print("predicted:", prediction, " measured:", holds)
# Verdict:

# %% [markdown]
# ## In short
#
# - The memory bill has four items: parameters, gradients and optimizer state, which take 16 bytes per parameter
#   together, and activations, which grow with the number of tokens.
# - Micro-batches, checkpointing (a second forward pass), blockwise attention and 16-bit numbers reduce the activations.
# - The other items are split among devices: Adam's state anywhere (ZeRO), a matrix by columns and the next one by rows
#   (one all-reduce), the layers by a pipeline (with a bubble).
# - However you split a batch, its loss is the sum over all tokens divided by their number.
# - Master weights stay in float32, because bfloat16 rounds small steps away.
# - Training costs about 6 operations per parameter and token. By Hoffmann's law, the best size grows about as the
#   square root of the budget.

# %%
trace_shapes(Model(64), held_out[:2, :11].cpu()).drop(columns="class")[:12]

# %% [markdown]
# ## New words
#
# The words of all lessons are in the [glossary](glossary.ipynb).
#
# - **optimizer state**: what an optimizer keeps from step to step, such as Adam's two moments.
# - **activations**: what the forward pass computes, and the backward pass needs again.
# - **micro-batch**: a part of a batch that is computed in one pass.
# - **gradient accumulation**: adding up the gradients of several micro-batches before one step.
# - **data parallelism**: several processes, each with a copy of the model, compute parts of one batch.
# - **all-reduce**: an operation after which every process has the sum over all processes.
# - **ring all-reduce**: an all-reduce in which each process sends chunks only to the next process.
# - **ZeRO**: data parallelism in which the workers split optimizer state, gradients and parameters; also FSDP.
# - **reduce-scatter**: an operation after which each process has its shard of the sum over all processes.
# - **all-gather**: an operation after which every process has the shards of all processes.
# - **tensor parallelism**: each device has a part of every matrix: some of its columns, or some of its rows.
# - **pipeline parallelism**: each device has some of the layers.
# - **1F1B**: a pipeline schedule in which backward passes go first, so a stage holds few micro-batches.
# - **sequence parallelism**: with tensor parallelism, where that splits no features, each device has some of
#   the tokens.
# - **context parallelism**: each device has some of the tokens of one text.
# - **expert parallelism**: each device has some of the experts of a mixture.
# - **bubble**: the fraction of the time for which the devices of a pipeline are idle.
# - **bfloat16**: 16-bit numbers with the range of float32 and about two decimal digits.
# - **mixed precision**: matrix products in 16 bits; parameters and optimizer state in 32.
# - **master weights**: the float32 parameters that mixed precision updates.
# - **loss scaling**: multiplying the loss so that small gradients do not become 0 in float16, and dividing them again.
# - **FP8**: floating-point numbers of 8 bits (E4M3, E5M2), used with a scale for each small block of numbers.
# - **activation checkpointing**: keeping few activations and computing the others again in the backward pass.
# - **roofline**: the highest speed that memory and arithmetic allow, drawn against arithmetic intensity.
# - **FLOPs**: floating-point operations; here, multiplications and additions.
# - **MFU**: model FLOPs utilization: the fraction of a device's peak speed that training a model reaches.
# - **compute-optimal**: with the lowest loss for a given budget of operations.
# - **Muon**: an optimizer that orthogonalizes the update of each matrix: all its singular values become about 1.
# - **IsoFLOP**: at equal cost: a curve of the losses of models of different sizes, all trained for the same FLOPs.
# - **scaling law**: a power law for the loss, or for the best size, in parameters, tokens or operations.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
#
# <details><summary>What fills the memory in training?</summary>
#
# Parameters, gradients and Adam's two moments take 16 bytes per parameter, in float32 as in mixed precision.
# Activations grow with the number of tokens in a step. In a small model they are the largest item; with 8 billion
# parameters and one text, it is the optimizer state. (<i>The memory bill</i>)
# </details>
#
# <details><summary>Is gradient accumulation over 4 micro-batches equal to a batch four times as large?</summary>
#
# Yes, if you divide the sum of all losses by the number of all tokens. If the micro-batches have different numbers of
# tokens, the mean of their means is something else. (<i>Gradient accumulation</i>)
# </details>
#
# <details><summary>What does data parallelism exchange, and how much?</summary>
#
# Gradients, by an all-reduce after each backward pass. In a ring, each worker sends less than twice the size of the
# gradients, however many workers there are. (<i>Data parallelism</i>)
# </details>
#
# <details><summary>float16 or bfloat16?</summary>
#
# float16 has more digits but less range: scores can overflow, and without loss scaling small gradients become 0.
# bfloat16 has the range of float32, but in it 1 + 0.001 is 1. With either, master weights stay in float32. (<i>16
# bits</i>)
# </details>
#
# <details><summary>Why does mixed precision keep master weights in float32?</summary>
#
# Adam moves a parameter by about the learning rate. If the rate is small, bfloat16 rounds most of these sums back to
# the old value and training falls behind; in float32, small steps add up. Matrix products may use 16 bits. In our
# model, a rate of 0.0003 needed master weights; a rate of 0.01 did not. (<i>16 bits</i>)
# </details>
#
# <details><summary>What does activation checkpointing cost?</summary>
#
# A second forward pass: up to a third more arithmetic, and so up to a third more time. The gradients are equal.
# (<i>Activation checkpointing</i>)
# </details>

# %% [markdown]
# <details><summary>How long does it take to train a model of 8 billion parameters?</summary>
#
# It takes 6 N D operations: 8 · 10²¹ with 20 tokens per parameter. An H100 at 40 % of its peak does that in about 5,400
# hours. Llama 3 8B read over 90 times as many tokens: half a million hours by this estimate, 1.3 million as reported.
# So first ask for the number of tokens and the utilization. (<i>What does training cost</i>)
# </details>
#
# <details><summary>What did Chinchilla change, and why do small models read far more tokens today?</summary>
#
# For a given training budget, models should be smaller and read more: about 20 tokens per parameter. That counts
# training alone. A smaller model is cheaper every time it is used, so it pays to train it for longer. (<i>What does
# training cost</i>)
# </details>
#
# <details><summary>How do you find the best size for a budget?</summary>
#
# Train several sizes for the same FLOPs, fit a parabola in log N, and take its minimum. Repeat with other budgets and
# extrapolate. The minimum is flat, so one parabola tells you the best loss more precisely than the best size. (<i>★
# Transfer</i>)
# </details>
#
# <details><summary>Why is the first matrix of an FFN split by columns, and the second by rows?</summary>
#
# Then each device has whole hidden features and can apply the nonlinearity to them. The only communication is the sum
# at the end. Splitting by rows first would need another sum before the nonlinearity. (<i>Tensor parallelism</i>)
# </details>
#
# <details><summary>What do the stages of ZeRO split, and what does ZeRO send, compared with data parallelism?</summary>
#
# Stage 1 splits the optimizer state among the workers, stage 2 also the gradients, stage 3 also the parameters. With
# four workers in mixed precision, that takes 7, 5.5 and 4 bytes per parameter instead of 16. Stages 1 and 2 send as
# much as data parallelism: an all-reduce is a reduce-scatter and an all-gather, and ZeRO takes the optimizer's step
# between the two. Stage 3 sends half as much again, because it gathers the parameters in the forward and in the
# backward pass. (<i>★ ZeRO</i>)
# </details>
#
# <details><summary>Why 1F1B, if its bubble is as large as GPipe's?</summary>
#
# GPipe runs all forward passes first, so each stage holds the activations of all micro-batches. With 1F1B, a stage
# holds at most as many as there are stages. So you can use more micro-batches, which make the bubble smaller. (<i>★
# Pipeline parallelism</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Hoffmann et al. (2022), [arXiv:2203.15556](https://arxiv.org/abs/2203.15556): compute-optimal models. Their law was
#   fitted again by Besiroglu et al. (2024), [arXiv:2404.10102](https://arxiv.org/abs/2404.10102).
# - [How to Scale Your Model](https://jax-ml.github.io/scaling-book/) and the
#   [Ultra-Scale Playbook](https://huggingface.co/spaces/nanotron/ultrascale-playbook): all of this on real clusters.
# - `transformer_lab/training/data_parallel.py`: training in several processes.
#
# <details><summary>Where each part comes from</summary>
#
# Scaling laws: Kaplan et al. (2020), [arXiv:2001.08361](https://arxiv.org/abs/2001.08361). Data parallelism in torch:
# Li et al. (2020), [arXiv:2006.15704](https://arxiv.org/abs/2006.15704). Mixed precision and loss scaling: Micikevicius
# et al. (2017), [arXiv:1710.03740](https://arxiv.org/abs/1710.03740). Sequence parallelism: Korthikanti et al. (2022),
# [arXiv:2205.05198](https://arxiv.org/abs/2205.05198). Context parallelism, as ring attention: Liu et al. (2023),
# [arXiv:2310.01889](https://arxiv.org/abs/2310.01889). Expert parallelism: Lepikhin et al. (2020),
# [arXiv:2006.16668](https://arxiv.org/abs/2006.16668). Checkpointing: Chen et al. (2016),
# [arXiv:1604.06174](https://arxiv.org/abs/1604.06174). Roofline: Williams et al. (2009),
# [doi:10.1145/1498765.1498785](https://doi.org/10.1145/1498765.1498785). Muon: Jordan et al. (2024),
# [kellerjordan.github.io](https://kellerjordan.github.io/posts/muon/); models trained with it: Moonlight (16 billion
# parameters), Liu et al. (2025), [arXiv:2502.16982](https://arxiv.org/abs/2502.16982), and Kimi K2 (a trillion),
# [arXiv:2507.20534](https://arxiv.org/abs/2507.20534). Llama 3: [arXiv:2407.21783](https://arxiv.org/abs/2407.21783).
# </details>

# %% [markdown]
# How far did you get, and how well did you predict?

# %% id="tally"
tally()

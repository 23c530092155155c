# %% [markdown] id="title"
# # 13 · Beyond one machine: cost, precision, scaling laws
#
# **The question.** Your models have 10⁴ to 10⁶ parameters, and train on one core in minutes at most. One of 8 billion
# needs 128 GB before it has read a token (an H100 has 80), and weeks on thousands of GPUs. What has to change on the
# way, and what will it cost?
#
# **Afterwards you can** cut a batch into parts and get the same gradient, say when 16 bits are enough, estimate time
# and energy of a training before it starts, and predict the loss of a model that has not been trained.
#
# Reading: 40 minutes. Exercises: 50 minutes (three core, one stretch ★). With all predictions, runs and questions:
# about 115 minutes.

# %% [markdown]
# ## Before you start
#
# Three questions from earlier lessons. Answer each one aloud, then open it.
#
# <details><summary>Lesson 02: what happens to scores above 65,504 in float16?</summary>
#
# They are infinite. Softmax then computes ∞ − ∞, which is `nan`.
# </details>
#
# <details><summary>Lesson 08: which tokens does the mean in the loss run over?</summary>
#
# Over all target tokens that are not padding.
# </details>
#
# <details><summary>Lesson 10: what is arithmetic intensity?</summary>
#
# Operations per byte that is moved to or from memory. Where it is low, the processor waits for memory.
# </details>

# %% id="imports"
import copy
import math
import time
from collections.abc import Callable
from functools import partial

import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

from transformer_course import check, compare, diagrams, hint, parts, solution, tally
from transformer_lab import LanguageModel as LibraryModel
from transformer_lab import LanguageModelConfig, initialise, plots, trace_shapes
from transformer_lab.data.docstrings import python_docstrings
from transformer_lab.device import pick_device
from transformer_lab.training.data_parallel import data_parallel_step, mean_loss_gradient, run_processes
from transformer_lab.training.muon import make_muon

# %%
_ = torch.manual_seed(13)

# %% [markdown]
# ## A model that can grow
#
# The model is made of your own parts: pre-norm layers, RoPE, a causal mask. It reads characters of Python's docstrings,
# and is trained on a GPU if there is one.


# %% tags=["hide-input"]
class Rotated(nn.Module):
    """A projection to queries or keys, which are rotated by their positions."""

    def __init__(self, linear: nn.Linear, n_heads: int) -> None:
        super().__init__()
        self.linear, self.n_heads = linear, n_heads

    def forward(self, x: Tensor) -> Tensor:
        heads = parts.split_heads(self.linear(x), self.n_heads)
        with x.device:  # new tensors are made where x is
            rotated = parts.apply_rotary(heads, torch.arange(x.shape[1]))
        return parts.merge_heads(rotated.to(x.dtype))


# %%
class Model(nn.Module):
    def __init__(self, d_model: int, n_layers: int = 2, n_heads: int = 2) -> None:
        super().__init__()
        self.embedding = nn.Embedding(V, d_model)
        self.layers = nn.ModuleList(parts.PreNormEncoderLayer(d_model, n_heads, 4 * d_model) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)
        initialise(self)
        for attention in (layer.self_attention for layer in self.layers):
            attention.w_q, attention.w_k = Rotated(attention.w_q, n_heads), Rotated(attention.w_k, n_heads)

    def forward(self, tokens: Tensor, run_layer: Callable = lambda layer, *inputs: layer(*inputs)) -> Tensor:
        x = self.embedding(tokens) * self.embedding.embedding_dim**0.5
        mask = parts.causal_mask(tokens.shape[1]).to(x.device)
        for layer in self.layers:
            x = run_layer(layer, x, mask)
        return self.norm(x) @ self.embedding.weight.T


# %%
train_texts, held_out_texts = python_docstrings()
index = {c: i for i, c in enumerate(sorted({c for text in train_texts for c in text if c.isascii()}), start=1)}
PAD, V = 0, len(index) + 1
device = pick_device("cuda" if torch.cuda.is_available() else "cpu")
train_ids, held_out_ids = (
    torch.tensor([index[c] for c in "\n".join(texts) if c in index]).unfold(0, 33, 1).to(device)
    for texts in (train_texts, held_out_texts)
)  # every stretch of 33 characters
held_out = held_out_ids[::200][:500]


# %%
def loss_of(model: Callable, tokens: Tensor) -> Tensor:
    return F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1).float(), tokens[:, 1:].flatten())


# %%
def n_parameters(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


# %%
def measure(run: Callable, n_turns: int = 5) -> float:
    """Return the shortest processor time of some calls, in seconds."""
    times = []
    for _ in range(n_turns):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


# %%
def nearest(guesses: tuple, measured: float) -> float:
    return min(guesses, key=lambda guess: abs(math.log(measured / guess)))


# %% [markdown]
# ## A batch in parts: gradient accumulation
#
# A batch that does not fit into memory is cut into **micro-batches**. Their gradients are added up, and the optimiser
# takes one step at the end: **gradient accumulation**. The loss is a mean over *tokens*.
#
# **Exercise.** Each micro-batch gives the *sum* of its losses and its number of tokens. Compute the loss of the whole
# batch.


# %% id="accumulate" tags=["exercise"]
def accumulate(losses: Float[Tensor, " n"], n_tokens: Int[Tensor, " n"]) -> Float[Tensor, ""]:
    """Return the loss of the whole batch, from each micro-batch's sum of losses and its number of tokens."""
    raise NotImplementedError


# %% id="check-accumulate"
check(accumulate)

# %% [markdown]
# In 2024 widely used training code was found to average the means of the micro-batches
# ([transformers#34191](https://github.com/huggingface/transformers/pull/34191)). Take four texts with 2, 4, 8 and 32
# tokens to predict, each a micro-batch.
#
# **Predict.** How large is the error of that average's gradient, relative to the right gradient: nearest to 0.01, 0.1
# or 1?

# %% tags=["prediction"]
prediction = ...

# %%
model = Model(32)
texts = [train_ids[start, : n + 1].cpu() for start, n in ((0, 2), (5000, 4), (9000, 8), (20000, 32))]
losses = torch.stack([F.cross_entropy(model(text[None, :-1])[0], text[1:], reduction="sum") for text in texts])
n_tokens = torch.tensor([len(text) - 1 for text in texts])


# %%
def error(loss: Tensor) -> float:
    """Return how long the error of the gradient is, relative to the gradient of the padded batch."""
    padded = nn.utils.rnn.pad_sequence(texts, batch_first=True, padding_value=PAD)
    right = mean_loss_gradient(model, padded, PAD)
    found = torch.autograd.grad(loss, list(model.parameters()), retain_graph=True)
    return ((nn.utils.parameters_to_vector(found) - right).norm() / right.norm()).item()


# %% tags=["nbval-ignore-output"]
compare(prediction, measured=error((losses / n_tokens).mean()), choices=(0.01, 0.1, 1))

# %%
print("the sum over the total has the right gradient to 1e-6:", error(parts.accumulate(losses, n_tokens)) < 1e-6)

# %% [markdown]
# The mean of means gives 2 of the 46 tokens a quarter of the weight.
#
# <details><summary>Does a real loop keep all losses until the end?</summary>
#
# No, that would keep all activations. It counts the tokens of the whole batch first, and calls
# `(loss_sum / n_all_tokens).backward()` after each micro-batch: `.grad` adds up by itself.
# </details>

# %% [markdown]
# ## Several processes: data parallelism
#
# The micro-batches can also be computed at the same time, by several processes, called workers, each with a copy of the
# model: **data parallelism**. Before the step, an **all-reduce** combines the workers' gradients, and every worker gets
# the result.
#
# **Exercise.** Row i is the gradient of worker i: that of the *mean* loss over its own `n_tokens[i]` tokens. Return
# what each worker has after the all-reduce.


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
# `run_processes` starts two real processes, joined by torch's `gloo`, and runs `data_parallel_step` in each. Its core
# is two lines:
#
# ```python
# gradient = mean_loss_gradient(model, part, pad_id) * (n_tokens / total)
# dist.all_reduce(gradient)  # a sum
# ```
#
# Each process takes every second of 32 texts. Then one process computes all.
#
# **Predict.** With two cores, how many times as fast are two processes: `"less than 2"`, `"2"` or `"more than 2"`?

# %% tags=["prediction"]
prediction = ...

# %% tags=["nbval-ignore-output"]
library_model = LibraryModel(LanguageModelConfig.llama(V, d_model=64, n_heads=4, d_ff=256, n_layers=4))
batch = train_ids[:: len(train_ids) // 31][:32].cpu().clone()
for row in range(0, 32, 2):
    batch[row, 3 + row :] = PAD  # worker 0 has shorter texts
reports = run_processes(data_parallel_step, library_model, batch, PAD)
ms = {name: 1000 * seconds for name, seconds in reports[0].seconds.items()}
speed_up = ms["one process"] / ms["together"]
compare(prediction, measured="less than 2" if speed_up < 1.95 else "2" if speed_up < 2.05 else "more than 2")
print(f"speed-up {speed_up:.1f};", "; ".join(f"{name}: {duration:.1f} ms" for name, duration in ms.items()))
half, whole = (measure(lambda n=n: mean_loss_gradient(library_model, batch[:n], PAD)) for n in (16, 32))
print(f"half a batch takes {half / whole:.2f} of the time of a batch")

# %%
expected = mean_loss_gradient(library_model, batch, PAD)
print("tokens of each:", [report.n_tokens for report in reports])
print("each has the gradient of one process to 1e-6:", all((r.reduced - expected).abs().max() < 1e-6 for r in reports))
own = torch.stack([report.own for report in reports])
by_hand = parts.all_reduce_gradients(own, torch.tensor([report.n_tokens for report in reports]))
print("and so has all_reduce_gradients:", torch.allclose(by_hand, torch.stack([expected] * 2), atol=1e-6))

# %% [markdown]
# With the same gradient both take the same step, and the copies stay equal. The speed-up is below 2: half a batch takes
# more than half as long, the all-reduce takes time, each waits for the slower one, and both share one memory.
#
# With many workers, which one adds up? In a **ring all-reduce** all do. The gradients are cut into as many chunks as
# there are workers, and in each step every worker sends one chunk to the next. In the picture, rows are workers,
# columns are chunks, and numbers say whose gradients have been added.

# %%
diagrams.data_parallel.ring(3)

# %% [markdown]
# **Predict.** Of a thousand workers, each sends how many times as many bytes as each of ten: nearest to 1, 10 or 100?

# %% tags=["prediction"]
prediction = ...


# %%
def bytes_sent(n_workers: int, n_bytes: float) -> float:
    """Return what each worker of a ring sends: a chunk in each of its 2 (n − 1) steps."""
    return 2 * (n_workers - 1) * n_bytes / n_workers


# %%
gradients_of_8b = 8.03e9 * 2  # 16 bits each
ratio = bytes_sent(1000, gradients_of_8b) / bytes_sent(10, gradients_of_8b)
compare(prediction, measured=ratio, choices=(1, 10, 100))
print(f"8 billion parameters: {bytes_sent(1000, gradients_of_8b) / 1e9:.0f} GB in each step, from each worker")

# %% [markdown]
# Each sends almost twice the size of the gradients, however many there are.
#
# <details><summary>And if the model does not fit into one GPU?</summary>
#
# Then parameters, gradients and the optimiser's state are cut up as well, and gathered layer by layer when needed
# (**ZeRO**, [arXiv:1910.02054](https://arxiv.org/abs/1910.02054); FSDP,
# [arXiv:2304.11277](https://arxiv.org/abs/2304.11277)). In **tensor parallelism** each GPU has some heads and some
# columns of d_ff (Megatron, [arXiv:1909.08053](https://arxiv.org/abs/1909.08053)); in **pipeline parallelism**, some
# layers.
# </details>

# %% [markdown]
# ## 16 bits: bfloat16 and float16
#
# Numbers of 16 bits take half the bytes, and GPUs multiply them faster. float16 has 10 bits for the digits and 5 for
# the exponent, **bfloat16** has 7 and 8 (float32: 23 and 8).
#
# **Predict.** What is 256 + 1 in bfloat16? And 10⁻⁸ in float16?

# %% tags=["prediction"]
prediction_sum, prediction_small = ..., ...

# %%
rows = {}
for dtype in (torch.float32, torch.float16, torch.bfloat16):
    q = torch.full((1, 64), 60.0, dtype=dtype)  # lesson 02: scores of 64 · 60 · 60
    weights = torch.softmax(q @ torch.cat([q, -q]).T / 8, dim=-1)
    rows[str(dtype).removeprefix("torch.")] = {
        "256 + 1": (torch.tensor(256.0, dtype=dtype) + 1).item(),
        "1 + 0.001": f"{(torch.tensor(1.0, dtype=dtype) + 0.001).item():.3f}",
        "1e-8": f"{torch.tensor(1e-8, dtype=dtype).item():.0e}",
        "weights for entries of 60": "nan" if weights.isnan().any() else "right",
    }
compare(prediction_sum, measured=rows["bfloat16"]["256 + 1"])
compare(prediction_small, measured=float(rows["float16"]["1e-8"]))
pd.DataFrame(rows).transpose()

# %% [markdown]
# float16 has too small a range: large scores become infinite. bfloat16 has float32's range, but 1 + 0.001 is 1: such an
# update of a parameter is lost. So the optimiser keeps the parameters in float32; only copies for the products have 16
# bits: **mixed precision**.
#
# The smallest number of float16 is 6·10⁻⁸. In case gradients are smaller, **loss scaling** multiplies the loss by a
# large number before the backward pass, and divides the gradients by it afterwards, in float32.
#
# **Predict.** What fraction of our model's gradients does float16 turn into 0, nearest to 0, 0.5 or 1? And if the loss
# is 2²⁰ times smaller?

# %% tags=["prediction"]
prediction_ours, prediction_smaller = ..., ...


# %%
def gradient(dtype: torch.dtype, factor: float, scale: float) -> Tensor:
    """Return the gradients of factor · loss, computed in dtype with the loss scaled; divided by both."""
    low = copy.deepcopy(model).to(dtype)
    (loss_of(low, batch_16) * factor * scale).backward()
    return torch.cat([p.grad.float().flatten() for p in low.parameters()]) / (factor * scale)


# %% tags=["nbval-ignore-output"]
batch_16 = train_ids[:: len(train_ids) // 15][:16].cpu().clone()
exact = gradient(torch.float32, 1, 1)
rows = []
for dtype, factor, scale in [
    (torch.float16, 0, 0), (torch.float16, -20, 0), (torch.float16, -20, 20), (torch.float16, 0, 20),
    (torch.bfloat16, 0, 0), (torch.bfloat16, -20, 0),
]:  # fmt: skip
    found = gradient(dtype, 2.0**factor, 2.0**scale)
    lost = ((found == 0) & (exact != 0)).sum().item() / (exact != 0).sum().item()
    off = ((found - exact).norm() / exact.norm()).item()
    off = f"{off:.0%}" if found.isfinite().all() else "not finite"
    rows.append((str(dtype)[6:], f"2^{factor}", f"2^{scale}", round(lost, 1), off))
compare(prediction_ours, measured=round(rows[0][3]))
compare(prediction_smaller, measured=round(2 * rows[1][3]) / 2)
pd.DataFrame(rows, columns=["format", "loss times", "scale", "turned into 0", "error of the gradient"])

# %% [markdown]
# At our size next to nothing is lost. Where gradients are small, float16 loses them, and a scaled loss brings them
# back. bfloat16 needs no scale, and is less exact; most models are trained in it. DeepSeek-V3 computes most products in
# **FP8**, 8 bits with a scale for each small block ([DeepSeek-AI, 2024](https://arxiv.org/abs/2412.19437)).
#
# <details><summary>And if the scale is too large?</summary>
#
# Gradients become infinite (the row "not finite"). That step is left out, and the scale is halved.
#
# </details>

# %% [markdown]
# ## Memory: activation checkpointing
#
# The backward pass needs the activations of the forward pass, so they are kept. **Activation checkpointing** keeps only
# each layer's input, and computes the rest again when it is needed.
#
# **Predict.** With eight layers of width 64, how many times as much is kept without checkpointing, nearest to 1, 3 or
# 10? And are the gradients `"equal"`, or `"different"`?

# %% tags=["prediction"]
prediction_kept, prediction_gradients = ..., ...


# %%
def again_when_needed(layer: nn.Module, *inputs: Tensor) -> Tensor:
    return checkpoint(layer, *inputs, use_reentrant=False, preserve_rng_state=False)


# %% tags=["nbval-ignore-output"]
deep = Model(64, n_layers=8, n_heads=4)
ways = {"all": deep, "inputs of layers": partial(deep, run_layer=again_when_needed)}


def megabytes_kept(forward: Callable) -> float:
    """Return the size of all tensors that are kept for the backward pass, parameters not counted."""
    kept, own = {}, {p.untyped_storage().data_ptr() for p in deep.parameters()}

    def keep(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        loss = loss_of(forward, batch_16)
    del loss  # it held them all until here
    return sum(n for where, n in kept.items() if where not in own) / 1e6


kept = {name: megabytes_kept(forward) for name, forward in ways.items()}
times = {name: measure(lambda f=forward: loss_of(f, batch_16).backward(), 3) for name, forward in ways.items()}
pd.DataFrame({"MB kept": kept, "processor ms": {name: 1000 * t for name, t in times.items()}}).round(1)

# %%
gradients, gradients_again = (
    torch.autograd.grad(loss_of(forward, batch_16), list(deep.parameters())) for forward in ways.values()
)
ratio = kept["all"] / kept["inputs of layers"]
compare(prediction_kept, measured=nearest((1, 3, 10), ratio))
same = all(torch.allclose(*pair, atol=1e-6) for pair in zip(gradients, gradients_again))
compare(prediction_gradients, measured="equal" if same else "different")

# %% [markdown]
# The price is a second forward pass: a third more arithmetic, as the backward pass costs about two, and here even more
# time.

# %% [markdown]
# ## Is it arithmetic or memory that takes the time?
#
# The **roofline** draws speed against arithmetic intensity: first memory sets the limit, then arithmetic. We multiply n
# rows, few as in decode or many as in prefill, by a matrix of 2048 × 2048.


# %% tags=["nbval-ignore-output"]
d, n_rows = 2048, [1, 2, 4, 8, 16, 32, 64, 128, 256]
matrix, inputs = torch.randn(d, d), torch.randn(max(n_rows), d)
intensity = [2 * n * d * d / (4 * (d * d + 2 * n * d)) for n in n_rows]  # operations per byte
speed = [2 * n * d * d / measure(lambda n=n: inputs[:n] @ matrix) / 1e9 for n in n_rows]
bandwidth = matrix.nbytes / measure(matrix.sum) / 1e9  # of the same matrix, wherever it lies
roof = [min(max(speed), bandwidth * operations) for operations in intensity]
lines = {"measured": speed, f"roof: {bandwidth:.0f} GB/s, {max(speed):.0f}·10⁹/s": roof}
ax = plots.lines(intensity, lines, "operations per byte", "10⁹ operations per second")
ax.set(xscale="log", yscale="log")
ax.yaxis.set_minor_formatter("{x:.0f}")

# %% [markdown]
# (The roof is what could be reached; here, few rows stay far below it.)
#
# **Predict.** In a second, an H100 computes 989·10¹² operations in 16 bits, or reads 3.35·10¹² bytes. How many rows
# (tokens) must share a matrix of 16-bit parameters before arithmetic sets the limit: nearest to 3, 30 or 300?

# %% tags=["prediction"]
prediction = ...

# %%
per_byte = 989e12 / 3.35e12  # a token's 2 operations for each parameter of 2 bytes: 1 operation per byte
compare(prediction, measured=per_byte, choices=(3, 30, 300))

# %% [markdown]
# So training, with thousands of tokens at once, can use the arithmetic, and decoding one text cannot (lesson 10). Nor
# can elementwise operations; `torch.compile` fuses several into one pass. (Set `compile_too` to see it.)

# %% tags=["nbval-ignore-output"]
compile_too, large = False, torch.randn(2**24)


def elementwise(x: Tensor) -> Tensor:
    return (x * torch.sigmoid(1.702 * x) + 2 * x.tanh() - 1).exp().clamp(max=3) * x


if compile_too:
    compiled = torch.compile(elementwise)
    try:
        first = measure(lambda: compiled(large), n_turns=1)
        print(f"as it is {measure(lambda: elementwise(large)):.3f} s,", end=" ")
        print(f"compiled {first:.3f} s at first, then {measure(lambda: compiled(large)):.3f} s")
    except Exception as problem:  # there is no compiler here
        print("torch.compile cannot be used here:", type(problem).__name__)

# %% [markdown]
# <details><summary>What did it show where this lesson was written?</summary>
#
# Later calls were 2.6 times as fast. The first took 13 seconds of processor time, most of it in the C++ compiler, which
# it needs.
# </details>
#
# ---
#
# **Half-way.** A good place to stop for today.

# %% [markdown]
# ## What does a training cost?
#
# We count operations (**FLOPs**, floating-point operations). In a matrix product, every parameter is multiplied by one
# number of each token, and the result is added to a sum. The backward pass has two such products for each one of the
# forward pass: one gives the gradient of the inputs, one that of the parameters.
#
# **Exercise.** Estimate the operations of a whole training.


# %% id="training_flops" tags=["exercise"]
def training_flops(n_parameters: int, n_tokens: int) -> int:
    """Return the operations of a training: those of its matrix products, forward and backward."""
    raise NotImplementedError


# %% id="check-training_flops"
check(training_flops)

# %% [markdown]
# Does the estimate hold? torch can count. And how long would *this core* take to train a model of GPT-2's size (124
# million parameters) on 10 billion tokens?
#
# **Predict.** Nearest to 10 days, 1,000 days or 100,000 days (274 years)? (The roofline has the speed.)

# %% tags=["prediction"]
prediction = ...

# %% tags=["nbval-ignore-output"]
wide = Model(256, n_layers=4)
with FlopCounterMode(display=False) as counter:
    loss_of(wide, batch_16).backward()
estimated = parts.training_flops(n_parameters(wide), 16 * 32)
per_second = estimated / measure(lambda: loss_of(wide, batch_16).backward())
days = parts.training_flops(124_439_808, 10**10) / per_second / 86_400
compare(prediction, measured=days, choices=(10, 1000, 100_000))
print(f"{per_second / 1e9:.0f}·10⁹ operations per second; {days:,.0f} days")

# %%
print(f"torch counts {counter.get_total_flops() / estimated:.1f} times the estimate")

# %% [markdown]
# (The estimate leaves out the scores of attention, which count for long texts.) Now take four models, from lesson 08's
# to one of 8 billion parameters. We assume 20 tokens for each parameter, an H100 that reaches 40 % of its speed at 700
# watts, and 16 bytes for each parameter: in bfloat16 2 for its value and 2 for its gradient; in float32 4 for its value
# and 8 for Adam's averages.


# %%
def count(config: LanguageModelConfig) -> int:
    with torch.device("meta"):  # shapes without numbers
        return n_parameters(LibraryModel(config))


# %%
sizes = {
    "lesson 08": 264_256,
    "GPT-2": count(LanguageModelConfig.gpt2()),
    "GPT-2 XL": count(LanguageModelConfig.gpt2(d_model=1600, n_heads=25, d_ff=6400, n_layers=48)),
    "Llama 3 8B": count(LanguageModelConfig.llama(128_256, n_kv_heads=8, d_ff=14336)),
}
ladder = pd.DataFrame({"parameters": sizes})
ladder["tokens"] = 20 * ladder["parameters"]
ladder["FLOPs"] = [float(parts.training_flops(n, 20 * n)) for n in sizes.values()]
ladder["H100 hours"] = ladder["FLOPs"] / (0.4 * 989e12) / 3600
ladder["kWh"] = 0.7 * ladder["H100 hours"]
ladder["GB"] = 16 * ladder["parameters"] / 1e9
ladder.map(lambda value: f"{value:.0e}" if value < 0.1 or value > 1e10 else f"{value:,.{int(value < 100)}f}")

# %% [markdown]
# Ten times the parameters cost a hundred times the operations, as there are ten times the tokens. GPT-2's size takes
# about an hour and a kilowatt-hour. The largest needs 128 GB without any activations, and an H100 has 80.
#
# Why 20 tokens? A given budget of FLOPs buys more parameters or more tokens. Hoffmann et al. (2022) trained over 400
# models of N parameters on D tokens, and fitted the other five numbers of $L = E + A / N^{\alpha} + B / D^{\beta}$. The
# best N on a budget is called **compute-optimal**.
#
# **Predict.** GPT-3 has 175 billion parameters, and read 300 billion tokens. For the same FLOPs, is the best model
# `"larger"` or `"smaller"`?

# %% tags=["prediction"]
prediction = ...

# %%
E, A, B, alpha, beta = 1.8172, 482.01, 2085.43, 0.3478, 0.3658  # fitted again by Besiroglu et al. (2024)
budget = parts.training_flops(175 * 10**9, 300 * 10**9)
n = torch.logspace(9, 13, 10_000, dtype=torch.float64)
tokens = budget / parts.training_flops(1, 1) / n
best = (E + A / n**alpha + B / tokens**beta).argmin()
compare(prediction, measured="larger" if n[best] > 175e9 else "smaller")
print(f"best: {n[best] / 1e9:.0f} billion parameters, {tokens[best] / n[best]:.0f} tokens for each")

# %% [markdown]
# The law counts training alone. Where inference costs more, a smaller model should read more: Llama 3 8B read 15·10¹²
# tokens, 1,900 for each parameter.

# %% [markdown]
# ## Learning rate and width: μP
#
# A large model is too expensive to train at several learning rates. Can one use the best rate of a narrow model?
#
# **Predict.** A network is trained for three steps of Adam with one learning rate, at width 64 and at width 1024. How
# many times as much do its hidden features change in the wide one: nearest to 0.1, 1 or 10? And if the wide one's rate,
# from the second layer on, is 16 times smaller?

# %% tags=["prediction"]
prediction_same, prediction_divided = ..., ...


# %%
def change(width: int, divided: bool, seed: int) -> float:
    """Return how far three steps move the hidden features."""
    torch.manual_seed(seed)
    network = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 8))
    x, labels = torch.randn(256, 64), torch.randint(8, (256,))
    groups = [{"params": network[0].parameters()}]
    groups += [{"params": network[2:].parameters(), "lr": 0.003 * 64 / width if divided else 0.003}]
    optimizer, before = torch.optim.Adam(groups, lr=0.003), network[:3](x)
    for _ in range(3):
        optimizer.zero_grad()
        F.cross_entropy(network(x), labels).backward()
        optimizer.step()
    return (network[:3](x) - before).square().mean().sqrt().item()


# %%
widths = (64, 256, 1024)
moved = {divided: torch.tensor([[change(w, divided, seed) for w in widths] for seed in range(3)]) for divided in (0, 1)}
ratios = [(three[:, -1] / three[:, 0]).mean().item() for three in moved.values()]
compare(prediction_same, measured=nearest((0.1, 1, 10), ratios[0]))
compare(prediction_divided, measured=nearest((0.1, 1, 10), ratios[1]))
print(f"with one rate, {ratios[0]:.0f} times as much")
ax = plots.lines(widths, {"one rate": moved[0], "rate / width": moved[1]}, "width", "change of the features")

# %% [markdown]
# Adam moves each number by about the learning rate, and a feature of the next layer adds up `width` such moves.
# Independent moves would make 4 times the change, moves in one direction 16 times; the measured change is between. With
# a rate divided by the width, features change about as much at every width: one of the rules of μP (lesson 02; Yang et
# al., 2022), which we use in the last section.

# %% [markdown]
# ## Muon beside AdamW
#
# For a matrix, **Muon** (Jordan et al., 2024) takes the average of the gradients, and orthogonalises it: all its
# singular values (how much it stretches each direction) become about 1, so no few directions dominate the step. AdamW
# trains the embeddings and vectors. A comparison is fair only if *both* are tuned: four learning rates each, three
# seeds.
#
# **Predict.** After 80 steps, whose loss is lower, `"AdamW"` or `"Muon"`? Muon's steps take longer. And if AdamW gets
# 120: `"AdamW"`, `"Muon"`, or `"neither"` (their seeds overlap)?

# %% tags=["prediction"]
prediction_steps, prediction_time = ..., ...


# %%
def trained(seed: int, steps: int, optimizers: Callable, **sizes: int) -> tuple[float, float, nn.Module]:
    """Return the held-out loss of a model after training, the processor time, and the model."""
    torch.manual_seed(seed)
    model, start = Model(**sizes).to(device), time.process_time()
    chosen = optimizers(model)
    groups = [(group, group["lr"]) for optimizer in chosen for group in optimizer.param_groups]
    for step in range(1, steps + 1):
        for group, rate in groups:
            group["lr"] = rate * min(1, step / 10, 2 * (1 - (step - 1) / steps))
        loss = loss_of(model, train_ids[torch.randint(len(train_ids), (16,))])
        model.zero_grad()
        loss.backward()
        for optimizer in chosen:
            optimizer.step()
    seconds = time.process_time() - start
    with torch.no_grad():
        return loss_of(model, held_out).item(), seconds, model


# %%
def adamw(rate: float) -> Callable:
    return lambda model: [torch.optim.AdamW(model.parameters(), lr=rate, fused=True)]


# %%
def muon(rate: float) -> Callable:
    return lambda model: make_muon(model, rate, adamw_lr=0.02)


# %%
def best(name: str) -> tuple[str, float]:
    return min((kind for kind in losses if kind[0] == name), key=lambda kind: losses[kind].mean())


# %% tags=["nbval-ignore-output"]
kinds = {("AdamW", rate): adamw(rate) for rate in (0.01, 0.02, 0.04, 0.08)}
kinds |= {("Muon", rate): muon(rate) for rate in (0.02, 0.04, 0.08, 0.16)}
sizes = {"d_model": 32, "n_layers": 1, "n_heads": 4}
runs = {kind: [trained(seed, 80, optimizers, **sizes) for seed in range(3)] for kind, optimizers in kinds.items()}
losses = {kind: torch.tensor([loss for loss, _, _ in three]) for kind, three in runs.items()}
again = "AdamW, 120 steps", best("AdamW")[1]
runs[again] = [trained(seed, 120, kinds[best("AdamW")], **sizes) for seed in range(3)]
losses[again] = torch.tensor([loss for loss, _, _ in runs[again]])
table = pd.DataFrame([*losses], columns=["optimiser", "rate"])
table["loss"] = [three.mean().item() for three in losses.values()]
table["three seeds"] = [" ".join(f"{loss:.2f}" for loss in three) for three in losses.values()]
table["seconds"] = [sum(seconds for _, seconds, _ in three) / 3 for three in runs.values()]
table.round(2)

# %%
with_adamw, with_muon, longer = losses[best("AdamW")], losses[best("Muon")], losses[again]
compare(prediction_steps, measured="Muon" if with_muon.mean() < with_adamw.mean() else "AdamW")

# %% tags=["nbval-ignore-output"]
overlap = min(with_muon.max(), longer.max()) > max(with_muon.min(), longer.min())
compare(prediction_time, measured="neither" if overlap else "Muon" if with_muon.mean() < longer.mean() else "AdamW")
print("step for step, Muon is better with each of the seeds:", bool((with_muon < with_adamw).all()))

# %% [markdown]
# Per step, Muon is better than the best AdamW. Given 120 steps AdamW catches up, but takes longer than Muon's 80.
# Muon's extra products do not grow with the batch: with many tokens in a step they cost little.

# %% [markdown]
# ## Bug hunt
#
# A colleague trains with four workers, and sums the gradients in buckets of four numbers. The loss falls, but the
# workers' models drift apart. Her test, with 8 numbers, finds nothing. Decide why *before* you look at the check, and
# write a correct `mended`.


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
# Compare the parameters of all workers after the first step: they must be equal. Then ask *which* differ: here the last
# ones, because the loop stops before a bucket that is not full. So test with sizes that the bucket does not divide. The
# cell below does.
# </details>

# %%
for n in (8, 10):
    reduced = gradients_of_a_colleague(torch.arange(4.0 * n).view(4, n), torch.tensor([3, 4, 5, 8]))
    print(
        f"{n} numbers: equal on all workers:", [bool((column == column[0]).all()) for column in reduced.T].count(True)
    )

# %% [markdown]
# ## ★ Transfer: a scaling law
#
# Kaplan et al. (2020) found that over many orders of magnitude the loss follows a power of the number of parameters N.
# With an *irreducible* loss a, which no model gets below, this **scaling law** is
#
# $$L(N) = a + b\,N^{-\alpha}$$
#
# So log(L − a) = log b − α log N: a straight line in log N.
#
# **Exercise.** Fit b and α by least squares on the logarithms, for a given a.


# %% id="fit_scaling_law" tags=["exercise"]
def fit_scaling_law(n_parameters: list[int], losses: list[float], irreducible: float) -> tuple[float, float]:
    """Return b and α of the law loss = irreducible + b · n_parameters^(−α): on log-log axes, a straight line."""
    raise NotImplementedError


# %% id="check-fit_scaling_law"
check(fit_scaling_law)

# %% [markdown]
# We train five models of width 8 to 32, with three seeds each. Then we extrapolate to a sixth of width 64, with four
# times the parameters of the fifth, and only then train it. N counts the layers without the embedding. The learning
# rate is divided by the width. For a, we try all values in steps of 0.01, and keep the one whose law is nearest to the
# losses.
#
# **Predict.** Kaplan et al. fitted no a, and their lines were straight. Will our sixth model be `"better"` or `"worse"`
# than the law with a = 0 predicts?

# %% tags=["prediction"]
prediction = ...


# %%
def law(n_parameters: list[int], losses: list[float], irreducible: float) -> Callable[[int], float]:
    b, alpha = parts.fit_scaling_law(n_parameters, losses, irreducible)
    return lambda n: irreducible + b * n**-alpha


# %%
def best_law(n_parameters: list[int], losses: list[float]) -> Callable[[int], float]:
    """Return the law with the irreducible loss that fits best."""
    tried = [law(n_parameters, losses, a / 100) for a in range(round(100 * min(losses)))]
    return min(tried, key=lambda law: sum((law(n) - loss) ** 2 for n, loss in zip(n_parameters, losses)))


# %%
def losses_at(width: int) -> tuple[int, list[float]]:
    runs = [trained(seed, 150, adamw(0.5 / width), d_model=width) for seed in range(3)]
    return n_parameters(runs[0][2].layers), [loss for loss, _, _ in runs]


# %% tags=["nbval-ignore-output"]
small = [losses_at(width) for width in (8, 12, 16, 24, 32)]
n_small, means = [n for n, _ in small], [sum(three) / 3 for _, three in small]
laws = {"a = 0": law(n_small, means, 0.0), "best a": best_law(n_small, means)}
per_seed = [best_law(n_small, [three[seed] for _, three in small]) for seed in range(3)]
n_sixth, sixth = losses_at(64)
predicted = {name: law(n_sixth) for name, law in laws.items()}
print(f"predicted at {n_sixth:,} parameters:", {name: round(loss, 2) for name, loss in predicted.items()})
print("predicted by each seed:", *(f"{law(n_sixth):.2f}" for law in per_seed))
print("measured:              ", *(f"{loss:.2f}" for loss in sixth))

# %% tags=["nbval-ignore-output"]
three_seeds = torch.tensor([three for _, three in [*small, (n_sixth, sixth)]]).T
ns = [*n_small, n_sixth]
lines = {"measured": three_seeds} | {name: [law(n) for n in ns] for name, law in laws.items()}
ax = plots.lines(ns, lines, "parameters in the layers", "held-out loss")
ax.set(xscale="log", yscale="log")
ax.yaxis.set_minor_formatter("{x:.1f}")

# %%
compare(prediction, measured="better" if max(sixth) < predicted["a = 0"] else "worse")

# %% [markdown]
# The straight line predicts too low a loss. The law with an irreducible loss has one number more to fit, and is no sure
# help: each seed alone gives another law, and no law can be more exact than the losses it is fitted to. So such laws
# are fitted to many runs.
#
# <details><summary>What is a, in our case?</summary>
#
# Not the entropy of English. All models had the same 150 steps, so our a is about what a *large* model reaches in 150
# steps. With more steps another law would be found. That is why Hoffmann et al. vary tokens and parameters.
# </details>

# %% [markdown]
# ## What next
#
# You have built a Transformer and a language model, made them fast and modern, found their bugs, and counted what they
# cost. Four fields of research go on from here:
#
# | | the idea | begin with |
# |---|---|---|
# | long context | rescale RoPE; spread the keys over GPUs | [YaRN], [its code][code-1] |
# | hybrids | most layers are recurrent again (lesson 00), a few attend | [DeltaNet], [fla] |
# | multimodal | pieces of images become tokens | [Chameleon], [code][code-2] |
# | reinforcement learning | raise answers that are above their mean (**GRPO**) | [DeepSeekMath], [trl] |
#
# [YaRN]: https://arxiv.org/abs/2309.00071
# [code-1]: https://github.com/jquesnelle/yarn
# [DeltaNet]: https://arxiv.org/abs/2412.06464
# [fla]: https://github.com/fla-org/flash-linear-attention
# [Chameleon]: https://arxiv.org/abs/2405.09818
# [code-2]: https://github.com/facebookresearch/chameleon
# [DeepSeekMath]: https://arxiv.org/abs/2402.03300
# [trl]: https://github.com/huggingface/trl
#
# And three projects for a weekend each, with your own parts:
#
# | | begin in | it is done when |
# |---|---|---|
# | a translator | lesson 08, *Your own data*; a file of sentence pairs | three seeds beat copying the source, in BLEU |
# | a change of the block | lesson 11, *What does each change buy?* | ten seeds at the best rates allow a verdict |
# | a patient | lesson 12; a file in `clinic/patients/` | its loss falls, and an instrument finds it |

# %% [markdown]
# ## In short
#
# - The loss of a batch is a sum over all tokens, divided by their number, however it is cut: into micro-batches or
#   among workers.
# - float16 lacks range, bfloat16 lacks digits. The optimiser works in float32.
# - Checkpointing saves memory at the price of a second forward pass, with equal gradients.
# - Training costs about 6 operations for each parameter and token; with ten times the parameters, a hundred times as
#   much in all.
# - A scaling law extrapolates, but no better than the losses to which it was fitted.

# %%
trace_shapes(Model(64), held_out[:2, :11].cpu()).drop(columns="class")[:12]

# %% [markdown]
# ## New words
#
# The words of all lessons are in the [glossary](glossary.ipynb).
#
# - **micro-batch**: a part of a batch that is computed at once.
# - **gradient accumulation**: adding up the gradients of several micro-batches before one step.
# - **data parallelism**: several processes, each with a copy of the model, that compute parts of one batch.
# - **all-reduce**: an operation after which every process has the sum of what all had.
# - **ring all-reduce**: an all-reduce in which each process sends chunks to the next one only.
# - **ZeRO**: cutting up parameters, gradients and optimiser state among the workers of data parallelism; also FSDP.
# - **tensor parallelism**: each device has a part of every matrix, such as some heads and some columns of d_ff.
# - **pipeline parallelism**: each device has some of the layers.
# - **bfloat16**: 16-bit numbers with the range of float32 and about two decimal digits.
# - **mixed precision**: products in 16 bits; parameters and the optimiser's state in 32.
# - **loss scaling**: multiplying the loss so that small gradients do not become 0 in float16, and dividing them again.
# - **FP8**: floating-point numbers of 8 bits, used with a scale for each small block of numbers.
# - **activation checkpointing**: keeping few activations, and computing the others again in the backward pass.
# - **roofline**: the speed that memory and arithmetic allow, drawn against arithmetic intensity.
# - **FLOPs**: floating-point operations; here products and sums.
# - **compute-optimal**: with the lowest loss that a budget of operations can buy.
# - **Muon**: an optimiser that orthogonalises the update of each matrix: all its singular values become about 1.
# - **GRPO**: reinforcement learning in which an answer gains probability if it does better than the mean of its group.
# - **scaling law**: a formula for the loss as a power of parameters, tokens or operations.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
#
# <details><summary>Is gradient accumulation over 4 micro-batches equal to a batch four times as large?</summary>
#
# Yes, if the sum of all losses is divided by the number of all tokens. The mean of the micro-batches' means is
# something else where they have different numbers of tokens. (<i>A batch in parts</i>)
# </details>
#
# <details><summary>What does data parallelism exchange, and how much?</summary>
#
# Gradients, by an all-reduce after each backward pass. In a ring each worker sends almost twice the size of the
# gradients, however many workers there are. (<i>Several processes</i>)
# </details>
#
# <details><summary>Why is the speed-up of two workers less than two?</summary>
#
# They exchange gradients, wait for the slower one, and half a batch takes more than half the time. (<i>Several
# processes</i>)
# </details>
#
# <details><summary>float16 or bfloat16?</summary>
#
# float16 has more digits and less range: scores can overflow, and small gradients become 0 without loss scaling.
# bfloat16 has float32's range, and 1 + 0.001 is 1 in it. Either way the optimiser keeps float32. (<i>16 bits</i>)
# </details>
#
# <details><summary>What does activation checkpointing cost?</summary>
#
# A second forward pass, so about a third more arithmetic. The gradients are equal. (<i>Memory</i>)
# </details>

# %% [markdown]
# <details><summary>When is a matrix product memory-bound?</summary>
#
# When it does fewer operations per byte than the machine's ratio of the two speeds, about 300 for an H100: with few
# rows, as in decoding. (<i>Is it arithmetic or memory</i>)
# </details>
#
# <details><summary>How long does it take to train a model of 8 billion parameters?</summary>
#
# 6 N D operations: with 20 tokens for each parameter 8 · 10²¹. An H100 at 40 % does that in some 5,400 hours. (<i>What
# does a training cost</i>)
# </details>
#
# <details><summary>What did Chinchilla change, and why do small models read far more tokens today?</summary>
#
# For a given budget, models should be smaller and read more, about 20 tokens for each parameter. That counts training
# alone; a smaller model is cheaper each time it is used. (<i>What does a training cost</i>)
# </details>
#
# <details><summary>A new optimiser is better than AdamW. What do you ask?</summary>
#
# Was AdamW tuned as well, how large is the spread of seeds, and is it better for the same time? Muon was better step
# for step, but each step took longer, and with half as many steps again AdamW was level. (<i>Muon beside AdamW</i>)
# </details>
#
# <details><summary>How far do you trust a scaling law?</summary>
#
# Near its data, and no more exactly than they are. For a model four times as large, our straight line predicted too low
# a loss, and each seed gave another law. (<i>★ Transfer</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Hoffmann et al. (2022), [arXiv:2203.15556](https://arxiv.org/abs/2203.15556): compute-optimal models. Their law was
#   fitted again by Besiroglu et al. (2024), [arXiv:2404.10102](https://arxiv.org/abs/2404.10102).
# - `transformer_lab/training/data_parallel.py` and `distributed.py`.
#
# <details><summary>Where each part comes from</summary>
#
# Scaling laws: Kaplan et al. (2020), [arXiv:2001.08361](https://arxiv.org/abs/2001.08361). Data parallelism in torch:
# Li et al. (2020), [arXiv:2006.15704](https://arxiv.org/abs/2006.15704). Mixed precision and loss scaling: Micikevicius
# et al. (2017), [arXiv:1710.03740](https://arxiv.org/abs/1710.03740). Checkpointing: Chen et al. (2016),
# [arXiv:1604.06174](https://arxiv.org/abs/1604.06174). Roofline: Williams et al. (2009),
# [doi:10.1145/1498765.1498785](https://doi.org/10.1145/1498765.1498785). Muon: Jordan et al. (2024),
# [kellerjordan.github.io](https://kellerjordan.github.io/posts/muon/); Moonlight, a model of 16
# billion parameters that was trained with Muon: Liu et al. (2025),
# [arXiv:2502.16982](https://arxiv.org/abs/2502.16982). μP: Yang et al. (2022),
# [arXiv:2203.03466](https://arxiv.org/abs/2203.03466). Llama 3: [arXiv:2407.21783](https://arxiv.org/abs/2407.21783).
# </details>

# %% [markdown]
# How far did you get, and how well did you predict?

# %% id="tally"
tally()

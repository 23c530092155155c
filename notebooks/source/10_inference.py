# %% [markdown] id="title"
# # 10 · Fast inference
#
# **The question.** For a model of 8 billion parameters, a large GPU (H100) could do the arithmetic of 60,000 tokens a
# second. For one user, in 16 bits and one token per pass, it generates 200 at best. What is it waiting for, and what
# can you do about it?
#
# **Afterwards you can** serve a model with a KV cache, explain why decoding is slow, store weights in 4 bits, compute
# attention in blocks, and distinguish the shortcuts that change the output from those that don't.
#
# Reading: 40 minutes. Exercises: 60 minutes (six core; one stretch ★ takes 20 more). With all predictions, runs and
# questions: about 110 minutes, with a good place to stop half-way. Sections with a ★ are optional, and take another 35
# minutes.

# %% [markdown]
# ## Before you start
#
# Three questions from earlier lessons. Answer each one aloud, then open it.
#
# <details><summary>Lesson 01: why may a softmax subtract the maximum from all scores?</summary>
#
# Because it cancels: exp(s − m) is exp(s) / exp(m), and dividing by the sum removes the factor. Subtracting it
# prevents overflow.
# </details>
#
# <details><summary>Lesson 04: a text has 5 tokens, and the last 2 are new. Which rows of the causal mask do their
# queries need?</summary>
#
# The last two: the last query belongs to the last key.
# </details>
#
# <details><summary>Lesson 09: under a causal mask, what changes at the earlier positions when a token is added at the
# end?</summary>
#
# Nothing, in any layer. No earlier position attends to the new one.
# </details>

# %% id="imports"
import copy
import math
import time
from collections.abc import Callable

import pandas as pd
import torch
from jaxtyping import Float, Int
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from transformer_course import check, compare, diagrams, hint, parts, plots, solution, tally
from transformer_course.published_models.in_lesson import published_in_lesson
from transformer_course.stored_models.stored_model import FOLDER
from transformer_lab import initialize, record_attention, trace_shapes
from transformer_lab.data.docstrings import python_docstrings
from transformer_lab.pretrained.hub import read_json
from transformer_lab.pretrained.load import load_language_model

# %%
_ = torch.manual_seed(10)

# %% [markdown]
# ## A model to serve
#
# This small model predicts characters and is built from your own layers. It trains on Python's docstrings for a few
# seconds, with three seeds.

# %% tags=["hide-input"]
train_texts, held_out_texts = python_docstrings()
characters = sorted({c for text in train_texts for c in text if c.isascii()})
index = {c: i for i, c in enumerate(characters, start=1)}
BOS, V, N = 0, len(characters) + 1, 64  # N: the characters in a text
train_ids, held_out_ids = (
    torch.tensor([index[c] for c in "\n".join(texts) if c in index]) for texts in (train_texts, held_out_texts)
)
held_out = F.pad(held_out_ids[: 300 * N].view(300, N), (1, 0), value=BOS)  # a column of bos in front


# %% tags=["hide-input"]
class LanguageModel(nn.Module):
    def __init__(self, d_model: int = 64, n_heads: int = 4, n_layers: int = 2, max_length: int = 520) -> None:
        super().__init__()
        self.embedding = nn.Embedding(V, d_model)
        self.register_buffer("positions", parts.sinusoidal_encoding(max_length, d_model))
        self.layers = nn.ModuleList(parts.PreNormEncoderLayer(d_model, n_heads, 4 * d_model) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)
        initialize(self)  # as in lesson 06

    def embed(self, tokens: Tensor, start: int = 0) -> Tensor:
        positions = self.positions[start : start + tokens.shape[1]]
        return self.embedding(tokens) * self.embedding.embedding_dim**0.5 + positions

    def logits(self, x: Tensor) -> Tensor:
        return self.norm(x) @ self.embedding.weight.T

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x, parts.causal_mask(tokens.shape[1]) if mask is None else mask)
        return self.logits(x)


# %% tags=["hide-input"]
def loss_of(model: nn.Module, tokens: Tensor = held_out, mask: Tensor | None = None) -> Tensor:
    return parts.next_token_loss(model(tokens, mask), tokens, pad_id=-1)  # no token is padding


# %% tags=["hide-input"]
def trained(seed: int, n_steps: int = 300) -> nn.Module:
    torch.manual_seed(seed)
    model = LanguageModel()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.01, total_steps=n_steps)
    for _ in range(n_steps):
        starts = torch.randint(len(train_ids) - N, (16, 1))
        loss = loss_of(model, F.pad(train_ids[starts + torch.arange(N)], (1, 0), value=BOS))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return model.eval().requires_grad_(False)  # it will not be trained any more


# %% tags=["approximate"]
models = [trained(seed) for seed in range(3)]
model = models[0]
losses = [loss_of(model).item() for model in models]
print("held-out loss in nats:", *(f"{loss:.2f}" for loss in losses))

# %% [markdown]
# ## The KV cache
#
# The model reads a prompt in one pass (**prefill**), then generates one token per pass (**decode**). Under a causal
# mask, a new token changes nothing at earlier positions. So you can keep the keys and values of all tokens so far: the
# **KV cache**. Each pass computes keys and values only for new tokens, blue in the picture:

# %%
diagrams.kv_cache.steps(["<bos>", *"Retur"], n_prompt=3)

# %% [markdown]
# **Predict.** The model generates 256 tokens, starting from bos. How many token vectors pass through a layer in total,
# without a cache and with one?

# %% tags=["prediction"]
prediction_without, prediction_with = ..., ...

# %% [markdown]
# **Exercise.** Each text in the batch has one new token. Its `query`, `key` and `value` are already split into heads.
# `cache` is the pair (keys, values) of the tokens so far, oldest first, or None at the first token.


# %% id="attend_with_cache" tags=["exercise"]
def attend_with_cache(
    query: Float[Tensor, "batch n_heads 1 d"],
    key: Float[Tensor, "batch n_heads 1 d"],
    value: Float[Tensor, "batch n_heads 1 d"],
    cache: tuple[Float[Tensor, "batch n_heads n_old d"], Float[Tensor, "batch n_heads n_old d"]] | None,
) -> tuple[Float[Tensor, "batch n_heads 1 d"], tuple[Tensor, Tensor]]:
    """Let the newest token attend to itself and to all before it; return the output and the longer cache."""
    raise NotImplementedError


# %% id="check-attend_with_cache"
check(attend_with_cache)

# %% [markdown]
# A single query needs no mask, because everything in the cache is in its past. Several queries, as in a prompt, need
# the *last* rows of the causal mask. The positions of new tokens start where the cache ends.


# %%
def attend(q: Tensor, k: Tensor, v: Tensor, kept: tuple | None) -> tuple:
    if q.shape[2] == 1:
        return parts.attend_with_cache(q, k, v, kept)
    if kept is not None:
        k, v = (torch.cat(pair, dim=2) for pair in zip(kept, (k, v)))
    return parts.masked_attention(q, k, v, parts.causal_mask(q.shape[2], k.shape[2])), (k, v)


def read(model: nn.Module, tokens: Tensor, cache: list | None = None, attend: Callable = attend) -> tuple[Tensor, list]:
    """Read new tokens; return their logits, and the cache: a pair (keys, values) for each layer."""
    x, new_cache = model.embed(tokens, start=cache[0][0].shape[2] if cache else 0), []
    for layer, kept in zip(model.layers, cache or [None] * len(model.layers)):
        attention, normalized = layer.self_attention, layer.norm_1(x)
        projections = attention.w_q, attention.w_k, attention.w_v
        q, k, v = (parts.split_heads(project(normalized), attention.n_heads) for project in projections)
        heads, kept = attend(q, k, v, kept)
        x = x + attention.w_o(parts.merge_heads(heads))
        x = x + layer.feed_forward(layer.norm_2(x))
        new_cache.append(kept)
    return model.logits(x), new_cache


# %% [markdown]
# A wrong cache still generates fluent text, so compare its probabilities with those of a pass without a cache. They
# must agree at every position, however the text is split.


# %%
def in_pieces(model: nn.Module, tokens: Tensor, sizes: list[int], attend: Callable = attend) -> Tensor:
    cache, logits = None, []
    for piece in tokens.split(sizes, dim=1):
        new, cache = read(model, piece, cache, attend)
        logits.append(new)
    return torch.cat(logits, dim=1)


# %% tags=["words-only"]
text = held_out[:3, :40]
expected = model(text).softmax(dim=-1)
cuts = {"one by one": [1] * 40, "a prompt of 25, then one by one": [25] + [1] * 15, "20, 13 and 7": [20, 13, 7]}
for name, sizes in cuts.items():
    difference = (in_pieces(model, text, sizes).softmax(dim=-1) - expected).abs().max()
    print(f"{name}: probabilities differ by at most {difference:.0e}")

# %% [markdown]
# That is rounding error. Two mistakes are common: positions that start again at 0, and
# [`is_causal=True`](https://github.com/pytorch/pytorch/issues/103082) with 2 queries and 5 keys, which takes the first
# two rows of the mask instead of the last two.

# %% tags=["hide-input", "approximate"]
_, cache = read(model, text[:, :35])
forgetful = copy.copy(model)
forgetful.embed = lambda tokens, start: model.embed(tokens, start=0)
new, _ = read(forgetful, text[:, 35:], cache)
print(
    f"positions from 0 again: probabilities differ by up to {(new.softmax(dim=-1) - expected[:, 35:]).abs().max():.1f}"
)
q, (k, v), mask = torch.randn(4, 2, 16), torch.randn(2, 4, 5, 16), parts.causal_mask(5)  # 2 queries, 5 keys
wanted, causal = parts.masked_attention(q, k, v, mask[-2:]), F.scaled_dot_product_attention(q, k, v, is_causal=True)
print(f"is_causal=True: outputs differ by up to {(causal - wanted).abs().max():.1f}")

# %% [markdown]
# Queries are not cached, because no later token uses them. With RoPE, you rotate a key once, by its own position, and
# then cache it. Now sample with and without a cache.


# %%
def generate(model: nn.Module, n: int, cached: bool) -> Tensor:
    tokens, cache, draws = torch.full((1, 1), BOS), None, torch.Generator().manual_seed(10)  # the same each time
    for _ in range(n):
        logits, cache = read(model, tokens[:, -1:], cache) if cached else (model(tokens), None)
        tokens = torch.cat([tokens, logits[:, -1].softmax(dim=-1).multinomial(1, generator=draws)], dim=1)
    return tokens


# %% tags=["approximate"]
seen = []
hook = model.layers[0].feed_forward.register_forward_hook(lambda _, inputs, output: seen.append(output.shape[1]))
without = generate(model, 256, cached=False)
compare(prediction_without, measured=sum(seen))
seen.clear()
with_cache = generate(model, 256, cached=True)
compare(prediction_with, measured=sum(seen))
hook.remove()
print("tokens that are the same, of 257:", (with_cache == without).sum().item())
print("with positions from 0 again:", (generate(forgetful, 256, cached=True) == without).sum().item())

# %% [markdown]
# Without a cache, 1 + 2 + … + 256 = 256 · 257 / 2 vectors: the work grows with the square of the length. With a cache,
# it is one vector per token, whose query meets all keys so far.


# %% tags=["hide-input"]
def cpu_milliseconds(runs: dict[object, Callable], n_turns: int = 8) -> dict[object, float]:
    """Return the best time of each; they take turns, so that a busy moment hits all of them."""
    best = dict.fromkeys(runs, math.inf)
    for name, run in [*runs.items()] * n_turns:
        start = time.process_time()
        run()
        best[name] = min(best[name], 1000 * (time.process_time() - start))
    return best


# %% tags=["hide-input", "words-only"]
lengths, runs = [64, 128, 256, 512], {}
for n in lengths:
    tokens = held_out_ids[None, :n]
    _, cache = read(model, tokens)
    runs["without a cache", n] = lambda tokens=tokens: model(tokens)
    runs["with a cache", n] = lambda tokens=tokens, cache=cache: read(model, tokens[:, -1:], cache)
times = cpu_milliseconds(runs)
curves = {how: [times[how, n] for n in lengths] for how in ("without a cache", "with a cache")}
ax = plots.lines(lengths, curves, xlabel="tokens so far", ylabel="CPU time for the next token (ms)")

# %% tags=["words-only"]
without, with_cache = curves.values()
print(f"token 64: {without[0]:.1f} ms without a cache, {with_cache[0]:.1f} ms with one")
print(f"token 512: {without[-1]:.1f} ms without a cache, {with_cache[-1]:.1f} ms with one")

# %% [markdown]
# ## Prefill and decode
#
# Now take a larger model with random parameters: one layer of width 2,048, 50 million parameters, 200 MB. It reads a
# prompt of 128 tokens, then generates.
#
# **Predict.** How much longer does a generated token take than a token of the prompt: about 1, 10 or 100 times as
# long? And with 16 texts in a batch, how many times as long does a step take as with one text: about 1, 4 or 16?

# %% tags=["prediction"]
prediction_token, prediction_step = ..., ...

# %% id="prefill-table" tags=["hide-input", "words-only"]
large = LanguageModel(d_model=2048, n_heads=16, n_layers=1).requires_grad_(False)
prompts = held_out_ids[: 16 * 128].view(16, 128)
caches = {rows: read(large, prompts[:rows])[1] for rows in (1, 16)}
numbers = nn.utils.parameters_to_vector(large.layers.parameters())
phases = {"reading the parameters once": (1, numbers.sum), "prefill": (128, lambda: read(large, prompts[:1]))}
phases["5 tokens of one text"] = 5, lambda: read(large, prompts[:1, :5], caches[1])
for rows, cache in caches.items():
    phases[f"decode, {rows} at once"] = rows, lambda rows=rows, cache=cache: read(large, prompts[:rows, :1], cache)
ms = cpu_milliseconds({name: run for name, (_, run) in phases.items()}, n_turns=4)
table = pd.DataFrame({"tokens": [n for n, _ in phases.values()], "ms": ms.values()}, index=list(phases))
table["tokens per second"] = 1000 * table["tokens"] / table["ms"]
reading, in_prompt, of_five, alone, together = table["ms"] / table["tokens"]
compare(prediction_token, measured=alone / in_prompt, choices=(1, 10, 100))
compare(prediction_step, measured=16 * together / alone, choices=(1, 4, 16))
table.round(1)

# %% tags=["words-only"]
print(f"a generated token takes {alone / in_prompt:.0f} times as long as a token of the prompt")
print(f"16 at once generate {alone / together:.0f} times as many tokens per second as one")
print(f"5 tokens in one pass take {5 * of_five / alone:.1f} times as long as one token")

# %% [markdown]
# Prefill uses each parameter it loads for 128 tokens, so arithmetic limits it: prefill is **compute-bound**. Decode
# uses each parameter for one token. Just reading every parameter once takes a large part of a decoding step. The
# processor waits for bytes: decode is **memory-bound**. The **arithmetic intensity** is the number of operations per
# byte read. A float32 parameter has 4 bytes and costs each token a multiplication and an addition: ½ operation per byte
# in decode, 64 in prefill with 128 tokens.

# %% [markdown]
# The H100 reads 3.35·10¹² bytes a second. An 8-billion-parameter model in 16 bits has 16 GB, which takes 4.8 ms, so one
# user gets 209 tokens a second at best. The arithmetic of one token, 1.6·10¹⁰ operations at 989·10¹² a second, takes
# 0.016 ms. So at best, a pass over about 300 tokens takes no longer than a pass over one. The 300 tokens may be a
# prompt, drafts, or the next tokens of many requests.
#
# With many requests in a batch, **throughput** (tokens per second, of all requests) grows, while **latency** (the time
# until a user's next token) grows more slowly.

# %% [markdown]
# ## The bytes of a cache
#
# The cache takes memory, too. **Exercise.** How many bytes does it take, if each layer has `n_kv_heads` heads of keys
# and values?


# %% id="cache_bytes" tags=["exercise"]
def cache_bytes(n_layers: int, n_kv_heads: int, d_head: int, length: int, batch: int, bytes_per_number: int) -> int:
    """Return the number of bytes that a KV cache takes when each of `batch` sequences holds `length` tokens."""
    raise NotImplementedError


# %% id="check-cache_bytes"
check(cache_bytes)

# %%
_, cache = read(model, held_out[:3, :40])
print("counted:", sum(x.nbytes for pair in cache for x in pair), "computed:", parts.cache_bytes(2, 4, 16, 40, 3, 4))

# %% [markdown]
# Llama 3.1 8B reads up to 128 k (131,072) tokens. It has 32 layers and 32 query heads of width 128. Each group of four
# query heads shares one head of keys and values (**grouped-query attention**, GQA, [Ainslie et al.,
# 2023](https://arxiv.org/abs/2305.13245)). In **multi-query attention** (MQA, [Shazeer,
# 2019](https://arxiv.org/abs/1911.02150)), all query heads share one.

# %%
diagrams.kv_cache.shared_heads(n_heads=4, n_kv_heads=(4, 2, 1))

# %% [markdown]
# **Predict.** If each of the 32 query heads had its own keys and values (multi-head attention, MHA), how many GiB would
# the cache of a *single* text of 131,072 tokens take: 1, 8 or 64?

# %% tags=["prediction"]
prediction = ...

# %%
kinds = {"MHA: 32 heads": (32, 131_072), "GQA: 8 heads": (8, 131_072), "MQA: 1 head": (1, 131_072)}
kinds["GQA, last 4,096 tokens"] = 8, 4_096
gib = {name: parts.cache_bytes(32, heads, 128, length, 1, 2) / 2**30 for name, (heads, length) in kinds.items()}
compare(prediction, measured=gib["MHA: 32 heads"])
pd.DataFrame({"GiB": gib, "of MHA": {name: size / gib["MHA: 32 heads"] for name, size in gib.items()}}).round(3)

# %%
rows = {}  # an H100 (80 GB) full of texts of 4,096 tokens; a step reads parameters and caches once
for name, heads, n_bytes in [("MHA", 32, 2), ("GQA", 8, 2), ("MQA", 1, 2), ("GQA, 8 bits", 8, 1)]:
    per_text = parts.cache_bytes(32, heads, 128, 4096, 1, n_bytes)
    n_texts = (80e9 - n_bytes * 8e9) // per_text
    ms_step = (n_bytes * 8e9 + n_texts * per_text) / 3.35e9
    rows[name] = {"texts": n_texts, "ms per step": ms_step, "tokens per second": 1000 * n_texts / ms_step}
pd.DataFrame(rows).T.round().astype(int)

# %% [markdown]
# With GQA, 119 requests share the GPU. Each waits five times as long per token; together they get up to 24 times the
# throughput. A parameter is read once for all requests, a cached key only for the four query heads of its own request:
# 4 operations per byte, not 300. So batching rarely makes GQA compute-bound.
#
# **Multi-head latent attention** (MLA, [DeepSeek-V2, 2024](https://arxiv.org/abs/2405.04434)) caches one short vector
# per token and computes the keys and values of all heads from it (see *Architectures*).
#
# **Exercise.** Ordinary attention needs a head of keys and values for each query head, so repeat each of them for the
# query heads of its group. Query heads 0 to n_repeats − 1 use head 0, and so on.


# %% id="repeat_kv" tags=["exercise"]
def repeat_kv(x: Float[Tensor, "batch n_kv_heads n d"], n_repeats: int) -> Float[Tensor, "batch n_heads n d"]:
    """Repeat every key-value head n_repeats times, next to itself, so that each query head finds its own."""
    raise NotImplementedError


# %% id="check-repeat_kv"
check(repeat_kv)

# %% [markdown]
# The model that talks, at the end, needs this function, and a ★ section measures what its copies cost.
#
# ---
#
# **Half-way.** A good place to stop for today.

# %% [markdown]
# ## Fewer bits per weight
#
# If decode waits for bytes, store weights in fewer bytes. **Quantization** replaces each weight by a small whole
# number, its code, and keeps a scale to recover the weight.

# %%
diagrams.number_formats.bits()

# %% [markdown]
# With 8 bits, one scale per row is enough (int8; the [practice bank](practice_bank.ipynb) has that exercise). Four bits
# leave only 16 codes, so one large weight makes the steps coarse for its whole row. The remedy is a scale and a minimum
# for each small *group* of weights. A group of the weights −0.5, 0.3 and 1 has a range of 1.5, which is 15 steps of
# 0.1. The codes are 0, 8 and 15, and the minimum is −0.5:
#
# $$\text{scale} = \frac{\max - \min}{15} \qquad \text{code} = \mathrm{round}\left(\frac{w - \min}{\text{scale}}\right)
# \qquad w \approx \text{code} \cdot \text{scale} + \min$$
#
# **Exercise.** `group` is the size of a group; each row holds several groups of neighbors. A group of equal weights
# gets the scale 1.


# %% id="quantize_groups" tags=["exercise"]
def quantize_groups(
    weight: Float[Tensor, "d_out d_in"], group: int
) -> tuple[Int[Tensor, "d_out d_in"], Float[Tensor, "d_out n_groups"], Float[Tensor, "d_out n_groups"]]:
    """Return codes from 0 to 15, and each group's scale and minimum: code · scale + minimum is near the weight."""
    raise NotImplementedError


# %% id="check-quantize_groups"
check(quantize_groups)

# %% [markdown]
# Two codes fit into a byte. To multiply, unpack the codes and recover the weights:


# %%
def pack(codes: Tensor) -> Tensor:
    return codes[:, ::2] | codes[:, 1::2] << 4


def unpack(packed: Tensor, scale: Tensor, low: Tensor) -> Tensor:
    codes = torch.stack([packed & 15, packed >> 4], dim=-1).flatten(1)
    groups = codes.unflatten(1, (scale.shape[1], -1))  # (d_out, n_groups, group)
    return (groups * scale[..., None] + low[..., None]).flatten(1)


def int4(weight: Tensor, group: int) -> Tensor:
    """Return the weights that are left after storing them in 4 bits."""
    codes, scale, low = parts.quantize_groups(weight, group)
    return unpack(pack(codes.to(torch.uint8)), scale, low)


def int8(weight: Tensor) -> Tensor:
    """Return the weights that are left after storing them in 8 bits, with one scale per row."""
    scale = weight.abs().amax(dim=1, keepdim=True) / 127
    return (weight / scale).round() * scale


# %% [markdown]
# **Predict.** By how many nats does the loss rise if all matrices are stored in int8: about 1, 0.03 or 0.001? And in
# int4 with groups of 32?

# %% tags=["prediction"]
prediction_8, prediction_4 = ..., ...


# %% tags=["hide-input"]
def rounded(model: nn.Module, change: Callable) -> tuple[nn.Module, Tensor]:
    """Return a copy of a model with changed matrices, and the size of the change relative to that of the weights."""
    model, changed, total = copy.deepcopy(model), torch.zeros(()), torch.zeros(())
    for matrix in (p for p in model.parameters() if p.dim() == 2):
        new = change(matrix)
        changed, total = changed + (new - matrix).square().sum(), total + matrix.square().sum()
        matrix.copy_(new)
    return model, (changed / total).sqrt()


# %% id="quantization-table" tags=["hide-input", "approximate"]
ways = {"int8, a scale per row": (8, int8)}  # for each way: bits per code
ways |= {f"int4, groups of {n}": (4 + 32 / n, lambda weight, n=n: int4(weight, n)) for n in (64, 32, 16, 8)}
rows = {}
for name, (bits, change) in ways.items():
    made = [rounded(model, change) for model in models]
    rise = torch.stack([loss_of(model) for model, _ in made]) - torch.tensor(losses)
    error = torch.stack([error for _, error in made]).mean()
    rows[name] = {"bits per weight": bits, "error": error, "rise, least": rise.min(), "rise, most": rise.max()}
table = pd.DataFrame(rows).T.astype(float)
compare(prediction_8, measured=table["rise, most"].iloc[0], choices=(1, 0.03, 0.001))
compare(prediction_4, measured=table["rise, most"]["int4, groups of 32"], choices=(1, 0.03, 0.001))
table.round(3)

# %% [markdown]
# After 300 steps, int8 costs almost nothing, and int4 in groups of 32 less than 0.06 nats. In int4, smaller groups
# lower the error of the weights, but each group adds 32 bits for its scale and minimum. Groups of 32 or 128 are usual.
#
# Decode is limited by the bytes it reads: weights are stored in 4 or 8 bits and [multiplied in
# 16](https://github.com/pytorch/ao/blob/03d01adcbcf8/torchao/quantization/README.md). In a long prefill, where
# arithmetic is the limit, you also quantize the layers' inputs. In large models a few of these are so large that, with
# one scale, most others become 0 ([Dettmers et al., 2022](https://arxiv.org/abs/2208.07339)).
#
# <details><summary>What lowers the error of 4 bits further?</summary>
#
# Rounding each weight alone is the simplest method. *GPTQ* ([Frantar et al., 2022](https://arxiv.org/abs/2210.17323))
# adjusts the weights that are not rounded yet to compensate for the error of the others. *AWQ* ([Lin et al.,
# 2023](https://arxiv.org/abs/2306.00978)) first scales up weights that meet large inputs. Formats such as MXFP4 use
# 4-bit floats in groups of 32. Quantization costs more after longer training: rounding every row to 4 bits with one
# scale costs this model 0.02 to 0.10 nats after 300 training steps and 0.10 to 0.23 after 1,200 (three seeds each).
# </details>

# %% [markdown]
# ## Speculative decoding
#
# On the H100, a pass over five tokens takes about as long as a pass over one. (On our CPU it took two to four times as
# long, in ten runs.) In **speculative decoding** ([Leviathan et al., 2023](https://arxiv.org/abs/2211.17192)), a cheap
# **draft** model proposes tokens from its distribution q. As in training, one pass of the large model gives its
# distribution p at *every* position, so it checks them all at once. A token x, drawn from q, is accepted with
# probability min(1, p(x) / q(x)). At the first rejection you draw a replacement and drop the rest. If none is rejected,
# p gives one more.
#
# **Predict.** The output should follow exactly p. Is the replacement drawn from `"p"` itself, or from
# `"max(0, p − q)"`, normalized?

# %% tags=["prediction"]
prediction = ...

# %% tags=["approximate"]
p, q = torch.tensor([0.5, 0.3, 0.15, 0.05]), torch.tensor([0.1, 0.3, 0.2, 0.4])
drafted = q.multinomial(20_000, replacement=True)
accepted = torch.rand(20_000) < (p / q)[drafted]
distances = {}
print("p:", " ".join(f"{x:.2f}" for x in p.tolist()))
for name, other in {"p": p, "max(0, p − q)": (p - q).clamp(min=0)}.items():
    output = torch.where(accepted, drafted, other.multinomial(20_000, replacement=True))
    distances[name] = ((output.bincount(minlength=4) / 20_000 - p) ** 2 / p).sum().item()
    found = " ".join(f"{n / 20_000:.2f}" for n in output.bincount(minlength=4).tolist())
    print(f"replacement from {name}: frequencies {found}")
compare(prediction, measured=min(distances, key=distances.get))
print(f"accepted: {accepted.float().mean():.1f}; the sum of min(p, q): {torch.minimum(p, q).sum():.1f}")

# %% [markdown]
# A token is drafted and accepted with probability q · min(1, p / q) = min(p, q). The rest of p is exactly max(0, p −
# q). A bad draft costs speed, never quality.

# %%
diagrams.kv_cache.drafts("Ge", [("nure", 1, "e"), ("rate", 4, "d")])

# %% [markdown]
# **Exercise.** `drafted[i]` was drawn from row i of `q`. Row i of `p` is the model's distribution for the same
# position, and `p` has one more row. A token is accepted if its number in `uniforms` (from 0 to 1) is below its p / q.
# How many are accepted, and from which distribution do you draw the next token?


# %% id="accept" tags=["exercise"]
def accept(
    p: Float[Tensor, "n_rows vocab_size"],
    q: Float[Tensor, "n_drafted vocab_size"],
    drafted: Int[Tensor, " n_drafted"],
    uniforms: Float[Tensor, " n_drafted"],
) -> tuple[int, Float[Tensor, " vocab_size"]]:
    """Return how many drafted tokens are accepted, and the distribution from which the next token is drawn."""
    raise NotImplementedError


# %% id="check-accept"
check(accept)

# %% [markdown]
# Our drafts are tables of counts: how often each character follows the last one (bigrams) or the last two (trigrams) in
# the training text. The trigrams predict held-out text better.
#
# **Predict.** Whose tokens does our model, after its 300 steps, accept more often: `"bigram"` or `"trigram"`?

# %% tags=["prediction"]
prediction = ...


# %% tags=["hide-input"]
def n_grams(n: int, fewer: Tensor) -> Tensor:
    """Return the probabilities after n characters; where little was counted, they are those after fewer."""
    counts = torch.zeros((V,) * (n + 1))
    counts.index_put_(tuple(train_ids.unfold(0, n + 1, 1).T), torch.tensor(1.0), accumulate=True)
    return (counts + 4 * fewer) / (counts + 4 * fewer).sum(dim=-1, keepdim=True)


# %% tags=["hide-input"]
unigram = n_grams(0, torch.ones(V) / V)
bigram = n_grams(1, unigram)
trigram = n_grams(2, bigram)
before, last, following = held_out[:, 1:-2], held_out[:, 2:-1], held_out[:, 3:, None]
drafts = {"unigram": unigram.expand(*last.shape, V), "bigram": bigram[last], "trigram": trigram[before, last]}
ps = torch.stack([model(held_out[:, :-1])[:, 2:].softmax(dim=-1) for model in models])
accepted = {name: torch.minimum(ps, q).sum(dim=-1).mean(dim=(1, 2)) for name, q in drafts.items()}
in_loss = {name: -q.gather(-1, following).log().mean().item() for name, q in drafts.items()}

# %% tags=["approximate"]
columns = {"numbers in the table": {name: V ** (i + 1) for i, name in enumerate(drafts)}, "held-out loss": in_loss}
columns["accepted"] = {name: a.mean().item() for name, a in accepted.items()}
columns["tokens per pass, 4 drafted"] = {name: sum(a**i for i in range(5)) for name, a in columns["accepted"].items()}
pd.DataFrame(columns).round(2)

# %% id="draft-tables" tags=["approximate"]
compare(prediction, measured="bigram" if (accepted["bigram"] > accepted["trigram"]).all() else "trigram")
print(f"held-out loss: {in_loss['bigram']:.2f} with bigrams, {in_loss['trigram']:.2f} with trigrams")

# %% id="draft-runs" tags=["hide-input"]
draft_runs = pd.DataFrame(read_json(FOLDER / "draft-runs" / "accepted.json")["runs"])
draft_steps = sorted(set(draft_runs["steps"]))
draft_curves = pd.json_normalize(draft_runs["accepted"]).groupby(draft_runs["steps"]).agg(list)
ax = plots.lines(
    draft_steps,
    {name: torch.tensor(curve.tolist()).T for name, curve in draft_curves.items()},
    "training steps of the large model (3 seeds)",
    "fraction accepted",
    legend_beside=True,
)
ax.set_xscale("log")

# %% [markdown]
# The better draft is the one that agrees with the *model*, not with the text, and which one that is changes as the
# model learns. After 300 steps, ours is nearer to the bigrams. By 1,000 steps, the trigrams have overtaken them. A
# small model with one layer is the best draft throughout if it is **distilled**: trained to imitate the large model
# ([Zhou et al., 2023](https://arxiv.org/abs/2310.08461)).
#
# <details><summary>Where do large models get their drafts from?</summary>
#
# Often from themselves. With *multi-token prediction* (MTP; its loss is in the practice bank), one more layer is
# trained along with the model. It reads the model's last vectors and predicts one token further, which is a draft. In
# DeepSeek-V3 ([2024](https://arxiv.org/abs/2412.19437), section 5.4.3), 85 to 90 % of these second tokens are accepted,
# for 1.8 times the tokens per second.
# </details>
#
# <details><summary>Why does `new` below begin with the last token of the text?</summary>
#
# The cache is always one token behind the text: the last token was drawn, but not read yet.
#
# </details>
#
# Below, rejected tokens also leave the cache:


# %%
def speculate(model: nn.Module, n: int, n_drafted: int = 4) -> tuple[Tensor, int]:
    """Sample at least n tokens, of which bigrams are the draft; return them and the number of passes."""
    tokens, cache, n_passes = torch.full((1, 1), BOS), None, 0
    while tokens.shape[1] <= n:
        drafted = tokens
        for _ in range(n_drafted):
            drafted = torch.cat([drafted, bigram[drafted[:, -1]].multinomial(1)], dim=1)
        new, n_old = drafted[:, tokens.shape[1] - 1 :], tokens.shape[1]
        logits, cache = read(model, new, cache)
        n_passes += 1
        p, q = logits[0].softmax(dim=-1), bigram[new[0, :-1]]
        n_accepted, following = parts.accept(p, q, new[0, 1:], torch.rand(n_drafted))
        tokens = torch.cat([drafted[:, : n_old + n_accepted], following.multinomial(1)[None]], dim=1)
        cache = [(k[:, :, : n_old + n_accepted], v[:, :, : n_old + n_accepted]) for k, v in cache]
    return tokens, n_passes


# %% [markdown]
# **Predict.** For 256 tokens, how many passes does the model need with 4 drafted tokens in each: nearest to 50, 100 or
# 200?

# %% tags=["prediction"]
prediction = ...


# %% id="tokens-per-pass" tags=["approximate"]
runs = [speculate(m, 256) for m in models]
per_pass = torch.tensor([(tokens.shape[1] - 1) / n_passes for tokens, n_passes in runs])
compare(prediction, measured=sum(n_passes for _, n_passes in runs) / 3, choices=(50, 100, 200))
print("tokens per pass, with each seed:", *(f"{n:.1f}" for n in per_pass))

# %% id="speculation-times" tags=["words-only"]
ways = {"without a cache": lambda: generate(model, 256, cached=False)}
ways |= {"one by one": lambda: speculate(model, 256, n_drafted=0), "speculative": lambda: speculate(model, 256)}
ms = cpu_milliseconds(ways, n_turns=3)
print("ms for 256 tokens:", {name: round(duration) for name, duration in ms.items()})

# %% [markdown]
# The number of passes falls by more than half. The time falls, too, although drafting takes time. With hundreds of
# short requests in a pass, little compute is idle, so drafts gain less.

# %% [markdown]
# ## Long prompts: attention in blocks
#
# In prefill, the matrix of scores grows with the square of the length. Instead, go through the keys in blocks, and
# keep three things for each query: the largest score so far, the sum of the exponentials, and the
# sum of the values weighted by them. Here is one query with values that are single numbers:

# %%
diagrams.online_softmax.blocks([1.0, 3.0, 2.0, 5.0, 4.0, 0.0], [10.0, 20.0, 0.0, 30.0, 10.0, 50.0], block=2)

# %% [markdown]
# Block 1 raises the maximum from 3 to 5. Both sums so far used exp(score − 3), so they are multiplied by exp(3 − 5) =
# 0.14. This is the **online softmax** ([Milakov and Gimelshein, 2018](https://arxiv.org/abs/1805.02867)).
#
# **Exercise.** Write it for all queries at once. The last block may be shorter.


# %% id="blockwise_attention" tags=["exercise"]
def blockwise_attention(
    queries: Float[Tensor, "*batch n_query d_k"],
    keys: Float[Tensor, "*batch n_key d_k"],
    values: Float[Tensor, "*batch n_key d_v"],
    block: int,
) -> Float[Tensor, "*batch n_query d_v"]:
    """Compute scaled dot-product attention without ever holding the scores of more than `block` keys."""
    raise NotImplementedError


# %% id="check-blockwise_attention"
check(blockwise_attention)

# %% [markdown]
# **Predict.** 4 heads, 2,048 queries and keys, blocks of 64: how many MiB does the largest tensor take, with the whole
# matrix and in blocks? A number takes 4 bytes; queries, keys and values are 64 wide.

# %% id="transfer-attention-without-the-table-of-scores-3" tags=["prediction"]
prediction_table, prediction_blocks = ..., ...


# %% id="transfer-attention-without-the-table-of-scores-4" tags=["hide-input"]
class Largest(TorchFunctionMode):
    """Watch the tensors that torch's functions return, and note the bytes of the largest."""

    n_bytes = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        self.n_bytes = max(self.n_bytes, result.nbytes if isinstance(result, Tensor) else 0)
        return result


# %% id="transfer-attention-without-the-table-of-scores-5" tags=["words-only"]
q, k, v = torch.randn(3, 4, 2048, 64)
with Largest() as with_table:
    whole = parts.scaled_dot_product_attention(q, k, v)
with Largest() as in_blocks:
    blockwise = parts.blockwise_attention(q, k, v, block=64)
compare(prediction_table, measured=with_table.n_bytes / 2**20)
compare(prediction_blocks, measured=in_blocks.n_bytes / 2**20)
print(f"the outputs differ by at most {(whole - blockwise).abs().max():.0e}")

# %% [markdown]
# **FlashAttention** ([Dao et al., 2022](https://arxiv.org/abs/2205.14135)) is this idea with blocks small enough to
# stay in fast memory on the chip. It reads and writes far fewer bytes.

# %% [markdown]
# ## Many requests at once
#
# Requests in a batch have different lengths. In **continuous batching** (Yu et al., 2022, *Orca*), the next request
# takes a slot as soon as a request ends, while the others go on:

# %%
diagrams.batching.timeline([3, 8, 2, 5, 4, 2], n_slots=3)

# %% [markdown]
# The length of an output is unknown, too. In systems that reserved memory in advance, only 20 to 38 % of it held tokens
# ([Kwon et al., 2023](https://arxiv.org/abs/2309.06180)). **Paged attention** assigns memory in small pages; a table
# for each text lists its pages. Requests with a common prefix share its pages (*prefix caching*).
#
# <details><summary>And if a new request has a very long prompt?</summary>
#
# Its prefill would make all other users wait for their next token. There are two remedies:
#
# - *Chunked prefill* ([Agrawal et al., 2024](https://arxiv.org/abs/2403.02310)) splits the prompt into pieces and adds
#   one piece to each decode pass, which leaves arithmetic idle. Smaller pieces lower the other users' time per token
#   (TPOT) and raise the new user's time to the first token (TTFT).
# - *Disaggregation* ([Zhong et al., 2024](https://arxiv.org/abs/2401.09670)) runs prefill on some GPUs and decode on
#   others, and sends the cache from one to the other. So you can choose TTFT and TPOT separately.
# </details>

# %%
diagrams.kv_cache.pages(n_tokens=(6, 3), room=8, page=2)

# %% [markdown]
# ## A model that talks, served with your cache
#
# SmolLM2-135M-Instruct (lesson 11 loads it into your own parts) is a Llama: it rotates queries and keys (lesson 05),
# and three query heads share each head of keys and values. `read_llama` is `read` with these two changes; it calls your
# `attend_with_cache` and `repeat_kv`, but caches each head once. The next cell downloads the model once (93 MB). If
# that fails, the cells that need it show stored outputs.

# %% id="smollm2-folder" tags=["published-model", "nbval-ignore-output"]
smollm_folder = published_in_lesson("smollm2", "10_inference")


# %% id="smollm2-read" tags=["published-model", "hide-input"]
def attend_in_groups(q: Tensor, k: Tensor, v: Tensor, kept: tuple | None) -> tuple:
    """Repeat the heads of keys and values only to attend; the cache holds each of them once."""
    old, new = (pair and tuple(parts.repeat_kv(x, 3) for x in pair) for pair in (kept, (k, v)))
    return attend(q, *new, old)[0], tuple(torch.cat(pair, dim=2) for pair in zip(kept, (k, v))) if kept else (k, v)


def read_llama(model: nn.Module, tokens: Tensor, cache: list | None = None) -> tuple[Tensor, list]:
    """Read new tokens of a Llama; return their logits, and the cache."""
    n_old = cache[0][0].shape[2] if cache else 0
    positions, x, new_cache = torch.arange(n_old, n_old + tokens.shape[1]), model.embedding(tokens), []
    for block, kept in zip(model.blocks, cache or [None] * len(model.blocks)):
        attention, normalized = block.self_attention, block.norm_1(x)
        projections = attention.w_q, attention.w_k, attention.w_v
        q, k, v = (parts.split_heads(project(normalized), project.out_features // 64) for project in projections)
        q, k = (parts.apply_rotary(heads, positions, model.config.rotary_base) for heads in (q, k))
        heads, kept = attend_in_groups(q, k, v, kept)
        x = x + attention.w_o(parts.merge_heads(heads))
        x = x + block.feed_forward(block.norm_2(x))
        new_cache.append(kept)
    return model.head(model.norm(x)), new_cache


smollm = load_language_model(smollm_folder).requires_grad_(False)
smollm_tokenizer = Tokenizer.from_file(str(smollm_folder / "tokenizer.json"))

# %% id="smollm2-cache" tags=["published-model", "hide-input"]
_, smollm_cache = read_llama(smollm, torch.zeros(1, 100, dtype=torch.long))
print("cache of 100 tokens, bytes counted:", sum(x.nbytes for pair in smollm_cache for x in pair))
print("computed:", *(f"{parts.cache_bytes(30, n, 64, 100, 1, 4)} with {n} heads" for n in (3, 9)), sep="  ")

# %% [markdown]
# The draft is the text itself: whatever followed the last two tokens where they occurred before (*prompt lookup*). It
# costs nothing. We take the most probable token, so a drafted token is accepted if it is the model's own choice.


# %% id="smollm2-answer" tags=["published-model", "hide-input"]
def smollm_draft(ids: list[int], n: int) -> list[int]:
    """Return up to n tokens that followed the last two tokens where these occurred before."""
    for i in range(len(ids) - 2, 0, -1):
        if ids[i - 1 : i + 1] == ids[-2:]:
            return ids[i + 1 : i + 1 + n]
    return []


def smollm_answer(question: str, n_drafted: int = 0) -> tuple[str, int]:
    """Return the model's answer, and the number of passes that it took."""
    prompt = f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
    new = ids = smollm_tokenizer.encode(prompt).ids
    end, n_prompt, n_passes, cache = smollm_tokenizer.token_to_id("<|im_end|>"), len(ids), 0, None
    while end not in ids[n_prompt:] and len(ids) < n_prompt + 60:
        draft = smollm_draft(ids, n_drafted)
        logits, cache = read_llama(smollm, torch.tensor([new + draft]), cache)
        best = logits[0, len(new) - 1 :].argmax(dim=-1).tolist()  # the model's own choice after each token
        n_accepted = next((i for i, token in enumerate(draft) if token != best[i]), len(draft))
        ids, n_passes = ids + best[: n_accepted + 1], n_passes + 1
        new, cache = ids[-1:], [(k[:, :, : len(ids) - 1], v[:, :, : len(ids) - 1]) for k, v in cache]
    return smollm_tokenizer.decode(ids[n_prompt:]).strip(), n_passes


# %% id="smollm2-drafts" tags=["published-model"]
smollm_sentence = "The cache keeps the keys and values of all tokens so far, and the cache grows with the text."
for smollm_question in ["Why do people sleep? Answer in one sentence.", f"Repeat this sentence: {smollm_sentence}"]:
    smollm_one, smollm_drafted = smollm_answer(smollm_question), smollm_answer(smollm_question, n_drafted=4)
    print(f"{smollm_question}\n{smollm_one[0]}")
    print(f"passes: {smollm_one[1]}, with drafts {smollm_drafted[1]}\n")

# %% [markdown]
# Drafts from the prompt help only where the answer repeats it, as in editing. Next, store the matrices of all blocks in
# 4 bits, with your function, in groups of 32 or 192. How often does the model still prefer the same token?


# %% id="smollm2-int8" tags=["published-model", "hide-input"]
class SmollmInt8(nn.Module):
    """Keep a matrix in int8, with a scale for each row, and multiply it by torch's kernel for that."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.scales = linear.weight.abs().amax(dim=1) / 127
        self.rounded = (linear.weight / self.scales[:, None]).round().to(torch.int8)

    def forward(self, x: Tensor) -> Tensor:
        rows = x.flatten(0, -2).bfloat16()
        product = torch._weight_int8pack_mm(rows, self.rounded, self.scales.bfloat16())
        return product.to(x.dtype).view(*x.shape[:-1], -1)


# %% id="smollm2-int4" tags=["published-model", "hide-input"]
class SmollmInt4(nn.Module):
    """Keep two codes in a byte, and unpack them in every pass."""

    def __init__(self, linear: nn.Linear, group: int) -> None:
        super().__init__()
        codes, self.scale, self.low = parts.quantize_groups(linear.weight, group)
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.packed = pack(codes.to(torch.uint8))

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, unpack(self.packed, self.scale, self.low))


# %% id="smollm2-replaced" tags=["published-model", "hide-input"]
def smollm_replaced(change: Callable) -> nn.Module:
    """Return a copy of the model whose blocks have changed matrices; the embedding stays as it is."""
    model = copy.deepcopy(smollm)
    for part in (part for block in model.blocks for part in (block.self_attention, block.feed_forward)):
        for name, linear in [*part.named_children()]:
            if isinstance(linear, nn.Linear):
                setattr(part, name, change(linear))
    return model


smollm_models = {"float32": smollm, "int8": smollm_replaced(SmollmInt8)}
smollm_models |= {f"int4, groups of {n}": smollm_replaced(lambda x, n=n: SmollmInt4(x, n)) for n in (32, 192)}

# %% [markdown]
# How many different values does the downloaded file have in a group of 32?

# %% id="smollm2-values" tags=["published-model", "hide-input"]
smollm_matrices = [p for p in smollm.blocks.parameters() if p.dim() == 2]
smollm_steps = [matrix.view(-1, 32).sort(dim=1).values.diff(dim=1) for matrix in smollm_matrices]
smollm_distinct = max(1 + (steps > 0).sum(dim=1).max().item() for steps in smollm_steps)
print(f"{len(smollm_matrices)} matrices; different values in a group of 32: at most {smollm_distinct}")

# %% [markdown]
# 16 values are 4 bits: the file stores these matrices in int4 with groups of 32 (`Q4_1` in GGUF). So the first row
# below is not the original model.

# %% id="smollm2-quality" tags=["published-model", "hide-input", "approximate"]
smollm_ids = torch.tensor(smollm_tokenizer.encode("\n\n".join(held_out_texts)).ids[:512]).view(2, 256)
smollm_rows = {}
for smollm_name, smollm_bits in zip(smollm_models, (4 + 32 / 32, 8, 4 + 32 / 32, 4 + 32 / 192)):
    smollm_logits = read_llama(smollm_models[smollm_name], smollm_ids)[0][:, :-1].flatten(0, 1)
    if smollm_name == "float32":
        smollm_best = smollm_logits.argmax(dim=-1)
    smollm_loss = F.cross_entropy(smollm_logits, smollm_ids[:, 1:].flatten())
    smollm_same = (smollm_logits.argmax(dim=-1) == smollm_best).float().mean()
    smollm_rows[smollm_name.replace("float32", "as published (already 4 bits in groups of 32)")] = {
        "bits per weight": smollm_bits,
        "perplexity": smollm_loss.exp().item(),
        "same token": smollm_same.item(),
    }
pd.DataFrame(smollm_rows).T.round(2)

# %% [markdown]
# The third row repeats the first: your function recovers the file's own codes. What 4 bits cost cannot be measured
# without the original weights.
#
# The other two rows round these weights a second time, to a different grid. int8 changes about 3 % of the tokens.
# Groups of 192 save less than 1 bit per weight, and more than a third of the tokens change.

# %% id="smollm2-speed" tags=["published-model", "hide-input", "words-only"]
smollm_text = torch.tensor([smollm_tokenizer.encode("\n".join(held_out_texts[:20])).ids[:129]])
smollm_cache = read_llama(smollm, smollm_text[:, :128])[1]
smollm_runs = {"float32, without a cache": lambda: smollm.next_logits(smollm_text)}
for smollm_name, smollm_model in smollm_models.items():
    smollm_runs[f"{smollm_name}, with your cache"] = lambda m=smollm_model: read_llama(
        m, smollm_text[:, 128:], smollm_cache
    )
smollm_numbers = nn.utils.parameters_to_vector(smollm.parameters())
smollm_runs["reading all float32 parameters once"] = smollm_numbers.sum
smollm_ms = pd.Series(cpu_milliseconds(smollm_runs, n_turns=4))
pd.DataFrame({"ms for a token": smollm_ms, "tokens per second": 1000 / smollm_ms}).round(1)

# %% [markdown]
# The cache saves most of the time. int4 is *slower* than float32 here: this Python code unpacks every matrix in every
# pass. int8 has less than half of the bytes (not its embedding),
# but reading is only part of a pass (last row).

# %% id="smollm2-roofline" tags=["published-model", "hide-input", "words-only"]
smollm_sizes = [1, 4, 16, 64, 128]  # tokens in a pass: 1 in decode, 128 in the prefill of a prompt
smollm_square = torch.randn(1024, 1024)
smollm_runs = {n: lambda n=n: read_llama(smollm, smollm_text[:, :n]) for n in smollm_sizes}
smollm_runs |= {"bytes": smollm_numbers.sum, "operations": lambda: smollm_square @ smollm_square}
smollm_ms = cpu_milliseconds(smollm_runs, n_turns=3)
smollm_bandwidth, smollm_peak = (
    smollm_numbers.nbytes / smollm_ms["bytes"] / 1e6,
    2 * 1024**3 / smollm_ms["operations"] / 1e6,
)
smollm_curves = {
    "roofline": [min(n / 2 * smollm_bandwidth, smollm_peak) for n in smollm_sizes],
    "SmolLM2": [2 * len(smollm_numbers) * n / smollm_ms[n] / 1e6 for n in smollm_sizes],
}
smollm_ax = plots.lines(
    [n / 2 for n in smollm_sizes], smollm_curves, "operations per byte of parameters", "10⁹ operations per second"
)
smollm_ax.set_xscale("log")
smollm_ax.set_yscale("log")
print(f"{smollm_bandwidth:.0f} GB/s, {smollm_peak:.0f}·10⁹ operations per second")

# %% [markdown]
# A pass over n tokens does n operations for each 2 bytes of a 32-bit parameter. Its speed is limited by how fast the
# bytes arrive (the slope) and the processor computes (the flat part): the *roofline* (lesson 13). Decode is at the
# left, under the slope: fewer bytes help, more tokens per pass help more. Prefill is at the right, under the flat part.

# %% [markdown]
# ## Bug hunt
#
# A colleague has rewritten `attend_with_cache`: she divides the keys instead of the scores. Her first token is right.
# *Before* you run the check, decide what is wrong and what it does to a long text. Then put a corrected version,
# `mended`, into the next cell.


# %% tags=["bug-hunt"]
def attend_of_a_colleague(query, key, value, cache):
    if cache is not None:
        key, value = (torch.cat([old, new], dim=2) for old, new in zip(cache, (key, value)))
    key = key / query.shape[-1] ** 0.5
    return torch.softmax(query @ key.mT, dim=-1) @ value, (key, value)


# %% id="mend-cache"
mended = attend_of_a_colleague

# %% id="check-mend-cache"
check(mended, "attend_with_cache", save=False)

# %% [markdown]
# <details><summary>How to find such a bug without a check</summary>
#
# Compare the outputs with those of a prefill, token by token, and then compare the *caches*. The function returns the
# scaled key, and the next step scales it again: a key that is t tokens old has been divided t + 1 times. Soon its score
# is 0, whatever the query. A score of 0 is not a weight of 0: all old tokens get the same weight, and together they
# outweigh the newest. Attention becomes an average. The next cell shows how the loss grows along the text.
# </details>


# %%
def losses_at(model: nn.Module, attend: Callable) -> Tensor:
    logits = in_pieces(model, held_out[:100], [1] * (N + 1), attend)
    return F.cross_entropy(logits[:, :-1].mT, held_out[:100, 1:], reduction="none").mean(dim=0)


# %% id="colleague-losses" tags=["approximate"]
rise = torch.stack([losses_at(m, attend_of_a_colleague) - losses_at(m, attend) for m in models])
spans = {"first prediction": rise[:, 0], "5 to 16": rise[:, 4:16].mean(dim=1), "33 to 64": rise[:, 32:].mean(dim=1)}
pd.DataFrame(spans).rename_axis("seed").round(2)

# %% [markdown]
# ## ★ Transfer: beam search
#
# Greedy decoding follows one text; beam search follows the `beam_size` most probable texts. Each beam has a row in the
# cache. In the model below, made by hand, the next token depends only on the last one. After x, y or z comes the full
# stop, its eos.

# %% tags=["hide-input"]
words = ["<bos>", "a", "b", "x", "y", "z", "."]
after = {"<bos>": {"a": 0.6, "b": 0.4}, "a": {"x": 0.4, "y": 0.3, "z": 0.3}, "b": {"z": 0.9, "x": 0.1}}
after |= {word: {".": 1.0} for word in ("x", "y", "z", ".")}
transitions = torch.tensor([[after[last].get(word, 0.0) for word in words] for last in words])


class ByHand(nn.Module):
    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        return (transitions + 1e-9).log()[target]


# %%
by_hand, no_source = ByHand(), torch.zeros(1, 1, dtype=torch.long)
pd.DataFrame(transitions, index=words, columns=words).iloc[:3, 1:6].round(1)

# %% [markdown]
# **Predict.** Which text does greedy decoding generate, and which a beam of 2: `"ax."`, `"ay."` or `"bz."`?

# %% tags=["prediction"]
prediction_greedy, prediction_beam = ..., ...

# %% [markdown]
# **Exercise.** Begin with one empty text. In each of `max_length` rounds, the candidates are all one-token extensions
# of the unfinished texts, plus the finished texts. Keep the `beam_size` candidates with the largest log-probability (a
# sum over tokens). In the end the best *score* wins, finished or not. It divides by a **length penalty** ([Wu et al.,
# 2016](https://arxiv.org/abs/1609.08144)):
#
# $$\frac{\log p(\text{text})}{((5 + \text{length}) / 6)^{\,\text{length\_penalty}}}$$
#
# The length includes the eos. Return no bos, and only eos after an eos.


# %% id="beam_search" tags=["exercise"]
def beam_search(
    model: nn.Module,
    source: Int[Tensor, "batch n_source"],
    bos_id: int,
    eos_id: int,
    max_length: int,
    beam_size: int,
    length_penalty: float,
) -> Int[Tensor, "batch n"]:
    """Return, for each source, the text of the best score in the beam after max_length rounds, without bos."""
    raise NotImplementedError


# %% id="check-beam_search"
check(beam_search)

# %%
searched = [parts.beam_search(by_hand, no_source, 0, 6, 3, beam_size, length_penalty=0.0) for beam_size in (1, 2)]
texts = [parts.greedy_decode(by_hand, no_source, 0, 6, 3), *searched]
greedy, beam_of_1, beam_of_2 = ("".join(words[i] for i in ids) for [ids] in texts)
compare(prediction_greedy, measured=greedy)
compare(prediction_beam, measured=beam_of_2)
print(f"p(ax.) = {0.6 * 0.4:.2f}, p(bz.) = {0.4 * 0.9:.2f}; a beam of 1 finds {beam_of_1}")

# %% [markdown]
# Greedy decoding takes *a*, but the most probable text begins with *b*. With a `length_penalty` of 0, the most probable
# text found wins. Each further token lowers the probability, which favors short texts; a positive penalty counters
# that. Translation uses beams. Chat models usually sample (lesson 09).
#
# If two beams continue the same hypothesis, its cache row is duplicated:

# %% tags=["hide-input", "words-only"]
prefixes = held_out[:3, :20]
_, cache = read(model, prefixes)
parents, new = torch.tensor([1, 1, 0]), torch.tensor([[9], [8], [7]])  # beam 2 was dropped, beam 1 continues twice
right = model(torch.cat([prefixes[parents], new], dim=1))[:, -1:]
followed = [(keys[parents], values[parents]) for keys, values in cache]
for name, rows in {"rows follow": followed, "rows stay": cache}.items():
    difference = (read(model, new, rows)[0] - right).abs().max()
    print(f"{name}: logits differ by up to {difference:.0e}")

# %% [markdown]
# ## ★ Does GQA also save time?
#
# **Predict.** One new token attends to 4,096 cached ones, in 8 texts at once. 2 heads of keys and values are a quarter
# of the bytes of 8. With `repeat_kv`, is attention `"faster"` than with 8 heads, about `"as fast"`, or `"slower"`?

# %% tags=["prediction"]
prediction = ...


# %%
def grouped(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Make the queries of a group the rows of one matrix, which attends to the group's keys; nothing is copied."""
    rows = q.view(8, 2, 4, 64)  # (batch, n_kv_heads, queries of the group, d)
    return parts.scaled_dot_product_attention(rows, k, v).view_as(q)


# %% id="gqa-times" tags=["hide-input", "words-only"]
q = torch.randn(8, 8, 1, 64)
all_k, all_v = torch.randn(2, 8, 8, 4096, 64)
k, v = kv = torch.randn(2, 8, 2, 4096, 64)
ways = {
    "8 heads": lambda: parts.scaled_dot_product_attention(q, all_k, all_v),
    "2 heads, repeat_kv": lambda: parts.scaled_dot_product_attention(q, parts.repeat_kv(k, 4), parts.repeat_kv(v, 4)),
    "2 heads, grouped": lambda: grouped(q, k, v),
    "2 heads, enable_gqa": lambda: F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
}
ms = cpu_milliseconds(ways)
fast, slow = ms["8 heads"], ms["2 heads, repeat_kv"]
compare(prediction, measured="slower" if slow > 1.2 * fast else "faster" if fast > 1.2 * slow else "as fast")
pd.Series(ms, name="ms").round(1).to_frame()

# %% [markdown]
# `repeat_kv` copies the whole cache for every token, and memory traffic is what we wanted to save. Without the copy,
# GQA is faster than 8 heads. In torch, `enable_gqa=True` avoids the copy in fused kernels.

# %% [markdown]
# ## ★ Sliding windows
#
# With a **sliding window**, only the last w tokens stay in the cache, so it stops growing. Our models were trained
# without a window, on texts of 64 characters.
#
# **Predict.** By how many nats does the loss rise with a window of 8: about 1, 0.3 or 0.03? Now keep one early token in
# addition to a window of 4. Which lowers the loss more: `"bos"`, which is the same in all texts, or `"another"`, the
# sixth token?

# %% id="windows-and-attention-sinks-2" tags=["prediction"]
prediction_rise, prediction_kept = ..., ...

# %% id="windows-and-attention-sinks-3" tags=["hide-input", "approximate"]
row, column = torch.arange(N + 1)[:, None], torch.arange(N + 1)
windows, rises = [2, 4, 8, 16], {}
for name, kept in {"window only": -1, "and the sixth token": 5, "and bos": 0}.items():
    masks = [(column <= row) & ((row - column < window) | (column == kept)) for window in windows]
    rises[name] = torch.tensor([[loss_of(m, mask=mask) - loss for mask in masks] for m, loss in zip(models, losses)])
ax = plots.lines(windows, rises, xlabel="window", ylabel="rise of the loss (nats)")
ax.set_xscale("log", base=2)
ax.set_xticks(windows, windows)
only, sixth, bos = rises.values()  # each (seeds, windows)
compare(prediction_rise, measured=only[:, 2].mean().item(), choices=(1, 0.3, 0.03))
compare(prediction_kept, measured="bos" if (bos < sixth)[:, 1].all() else "another")

# %% id="windows-and-attention-sinks-4" tags=["approximate"]
print("a window of 4, rise for each seed:", *(f"{x:.2f}" for x in only[:, 1]))
print("with the sixth token:", *(f"{x:.2f}" for x in sixth[:, 1]), " with bos:", *(f"{x:.2f}" for x in bos[:, 1]))

# %% id="windows-and-attention-sinks-5" tags=["hide-input", "approximate"]
most = []  # for each seed: the largest mean weight, of all heads, on bos and on the sixth token
for m in models:
    with record_attention(m) as recorded:
        m(held_out[:50])
    weights = torch.stack([*recorded.values()])[..., N // 2 :, :].mean(dim=(1, 3))  # (layers, heads, tokens)
    most.append(weights.amax(dim=(0, 1))[[0, 5]])
equal = (1 / torch.arange(N // 2 + 1, N + 2)).mean()
print(f"most weight of any head, where equal weights are {equal:.2f}:")
pd.DataFrame(torch.stack(most), columns=["bos", "sixth token"]).rename_axis("seed").round(2)

# %% [markdown]
# A model this small relies on the last few characters, so the window costs little. Yet bos helps more than a real
# token, although after 1,200 steps the difference is nearly gone. In some models a head puts far more than an equal
# weight on it. In large models the first token is an **attention sink**, where heads put weight that they do not need.
# LLMs trained without a window fail as soon as their first tokens leave it, and recover if you keep a few of them
# ([Xiao et al., 2023](https://arxiv.org/abs/2309.17453)).

# %% [markdown]
# ## Your experiment
#
# Ungraded, about 20 minutes. Test a claim of your own, or begin with this one:
#
# **Claim.** With 8 drafted tokens instead of 4, speculative decoding is faster.
#
# **Prediction.** Before you run anything, write into the cell in how many of three runs it will hold.
#
# **Verdict.** Then say in one sentence what you may claim now. A claim that fails is a result, too.

# %% id="experiment" tags=["experiment", "skip-execution"]
prediction = ...  # the number of runs, 0 to 3, in which the claim will hold
holds = []
for seed in range(3):
    torch.manual_seed(seed)
    ms = cpu_milliseconds({n: lambda n=n, seed=seed: speculate(models[seed], 256, n_drafted=n) for n in (4, 8)}, 3)
    holds.append(...)  # True or False: for instance ms[8] < ms[4]
print("predicted:", prediction, " measured:", holds)
# Verdict:

# %% [markdown]
# ## In short
#
# - **The question, answered.** The GPU waits for 16 GB, 4.8 ms per token. 8 bits halve that, and 4 bits almost halve it
#   again. Drafts get several tokens from one pass. 119 users share a pass, for 5,000 tokens a second. The KV caches are
#   what keep it from 60,000: no more of them fit, and reading them takes four fifths of each step.
# - With a cache, each new token costs one vector. A long prefill is compute-bound, decode memory-bound.
# - The cache, pages, blockwise attention and (in distribution) speculative decoding keep the output. Quantization and
#   windows change it. GQA, MQA and MLA are other models, with smaller caches.

# %%
trace_shapes(model, held_out[:2, :11]).drop(columns="class")[:13]

# %% [markdown]
# ## New words
#
# The words of all lessons are in the [glossary](glossary.ipynb).
#
# - **prefill**: reading the prompt, in one pass.
# - **decode**: the phase of inference that generates one token per pass.
# - **KV cache**: the keys and values of all tokens so far, kept for later tokens.
# - **memory-bound**: limited by the speed at which bytes arrive.
# - **compute-bound**: limited by the speed of arithmetic.
# - **arithmetic intensity**: operations per byte that is read.
# - **throughput**: tokens per second, of all requests together.
# - **latency**: the time that one user waits, for the first token (TTFT) or for each further one (TPOT).
# - **multi-query attention**: attention in which all query heads share one head of keys and values; MQA.
# - **grouped-query attention**: attention in which groups of query heads share keys and values; GQA.
# - **multi-head latent attention**: attention that keeps one short vector per token instead of keys and values; MLA.
# - **sliding window**: attention to the last w tokens only.
# - **quantization**: storing numbers in few bits, with a scale.
# - **length penalty**: a divisor that grows with length, so that beam search does not prefer short texts.
# - **speculative decoding**: letting a cheap model propose tokens that the large one accepts or rejects in one pass.
# - **draft**: the cheap model of speculative decoding.
# - **paged attention**: attention over a cache that is stored in small pages of memory.
# - **continuous batching**: replacing each request in a batch as soon as it ends.
# - **online softmax**: a softmax computed block by block, with a running maximum.
# - **FlashAttention**: exact attention in blocks that fit into fast memory.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first. The section named in each answer has the cell that shows it.
#
# <details><summary>What does a KV cache hold, and why not the queries?</summary>
#
# The keys and values of all tokens so far, in every layer. A query is used once, by its own token; no later token needs
# it. (<i>The KV cache</i>)
# </details>
#
# <details><summary>Does a KV cache change the output?</summary>
#
# No: the logits are equal up to rounding, as long as positions continue where the cache ends, and several new queries
# get the last rows of the causal mask. (<i>The KV cache</i>)
# </details>
#
# <details><summary>Are keys cached before or after RoPE?</summary>
#
# After is usual: a key is rotated once, by its own position. If cached before, all keys must be rotated again at each
# step. (<i>The KV cache</i>; the rotation itself: lesson 05)
# </details>
#
# <details><summary>Why is decode slow, though it computes so little?</summary>
#
# All parameters are read for one token and used once, so memory limits the time. Prefill uses each parameter for all
# tokens of the prompt. (<i>Prefill and decode</i>)
# </details>
#
# <details><summary>Why are many requests served at once?</summary>
#
# The parameters are read once for all of them, so throughput grows, and latency grows more slowly. (<i>Prefill and
# decode</i>: 16 texts, more than 1.3 times the tokens per second on one core of a CPU)
# </details>
#
# <details><summary>How large is the cache of Llama 3.1 8B at 128 k tokens?</summary>
#
# 2 · 32 layers · 8 heads · 128 · 131,072 · 2 bytes = 16 GiB, about as much as its parameters; 32 heads would take 64.
# (<i>The bytes of a cache</i>)
# </details>

# %% [markdown]
# <details><summary>You saved 4 times the memory with GQA. How much faster is decoding?</summary>
#
# Attention's part of a step gets up to four times as fast, because it is memory-bound. With short texts and few
# requests, that part is small, and the weights dominate. In a server the main gain is another: four times as many
# requests fit, for up to four times the tokens per second (<i>The bytes of a cache</i>). And a naive `repeat_kv` throws
# the gain away: its copy costs more than it saves, so use a kernel that shares heads. (<i>★ Does GQA also save
# time?</i>)
# </details>
#
# <details><summary>What is an attention sink, and what does a sliding window do to it?</summary>
#
# A token, usually the first, that collects weight which heads do not need elsewhere. A window drops it, and LLMs fail;
# if their first few tokens are kept, they recover. (<i>★ Sliding windows</i>)
# </details>
#
# <details><summary>What does FlashAttention save?</summary>
#
# Memory traffic: the matrix of scores is never stored. The result is exact; a running maximum lets the softmax be
# summed block by block. (<i>Long prompts</i>)
# </details>
#
# <details><summary>When is speculative decoding fast?</summary>
#
# When a pass over a few tokens takes little longer than one over a single token (decode is memory-bound), and the cheap
# draft agrees with the model often. A draft may also be a layer that reads the model's own vectors: *EAGLE* ([Li et
# al., 2024](https://arxiv.org/abs/2401.15077)), or the layer for multi-token prediction in DeepSeek-V3. The gain is
# below the tokens per pass. (<i>Speculative decoding</i>)
# </details>
#
# <details><summary>A long prompt arrives while others decode. What can a server do?</summary>
#
# Chunked prefill: split the prompt, and add a piece to each decode pass, which leaves arithmetic idle. Disaggregation:
# prefill on some GPUs, decode on others, and move the cache. Without either, everyone waits for the prefill. (<i>Many
# requests at once</i>)
# </details>
#
# <details><summary>Does speculative decoding change the distribution?</summary>
#
# No, if rejected tokens are replaced by draws from max(0, p − q). From p itself, the output would be biased. The draft
# decides the speed only. (<i>Speculative decoding</i>)
# </details>
#
# <details><summary>Why does beam search need a length penalty?</summary>
#
# Every further token makes a text less probable, so the sum of log-probabilities prefers short texts. (<i>★
# Transfer</i>)
# </details>
#
# <details><summary>What do 4-bit weights cost in quality, and why are they stored in groups?</summary>
#
# Four bits have only 16 codes, so one large weight makes the steps coarse for all that share its scale. A scale and a
# minimum for each group of 32 to 128 weights limit the damage. Here, after 300 steps, int4 in groups of 32 costs less
# than 0.06 nats at 5 bits per weight, int8 less than 0.01. In large models, a few very large activations need special
# treatment. (<i>Fewer bits per weight</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Pope et al. (2022), [arXiv:2211.05102](https://arxiv.org/abs/2211.05102): what inference of large models costs.
# - `transformer_lab/attention/kv_cache.py` and `grouped_query.py`, `transformer_lab/generation/beam_search.py` and
#   `speculative.py`: the library's versions.

# %% [markdown]
# How far did you get, and how well did you predict?

# %% id="tally"
tally()

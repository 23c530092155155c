# %% [markdown] id="title"
# # 10 · Fast inference
#
# **The question.** For a model of 8 billion parameters, a large GPU (H100) could do the arithmetic of 60,000 tokens a
# second. For one user, in 16 bits and one token per pass, it generates 200 at best. What does it wait for? What can it
# remember, what does that cost, and is the output still the same?
#
# **Afterwards you can** serve a model with a KV cache, count its bytes, say why generation is slow, search with a beam,
# and tell the shortcuts that change the output from those that do not.
#
# Reading: 40 minutes. Exercises: 80 minutes (five core, one stretch ★). With all predictions, runs and questions: about
# 145 minutes.

# %% [markdown]
# ## Before you start
#
# Three questions from earlier lessons. Answer each one aloud, then open it.
#
# <details><summary>Lesson 01: why may a softmax subtract the maximum from all scores?</summary>
#
# Because it cancels: exp(s − m) is exp(s) / exp(m), and the division by the sum removes the factor. It only prevents
# overflow.
# </details>
#
# <details><summary>Lesson 04: a text has 5 tokens, the last 2 are new. Which rows of the causal mask do their queries
# need?</summary>
#
# The last two: the last query belongs to the last key.
# </details>
#
# <details><summary>Lesson 08: what can greedy decoding never do?</summary>
#
# Take a token back. So it may miss a text that is more probable as a whole.
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
from transformer_lab import initialize, record_attention, trace_shapes
from transformer_lab.data.docstrings import python_docstrings
from transformer_lab.pretrained.load import load_language_model

# %%
_ = torch.manual_seed(10)

# %% [markdown]
# ## A model to serve
#
# A decoder-only model of characters, made of your own layers, learns from Python's docstrings for a few seconds, with
# three seeds.

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
# The model reads a prompt in one pass (**prefill**), then generates token by token (**decode**). Under a causal mask,
# nothing that comes later changes what was computed at a position, in any layer. So the keys and values of the tokens
# so far can be kept: the **KV cache**. Each pass computes them only for what is new, blue in the picture:

# %%
diagrams.kv_cache.steps(["<bos>", *"Retur"], n_prompt=3)

# %% [markdown]
# **Predict.** The model generates 256 tokens, starting from bos. How many token vectors pass through a layer in all,
# without a cache and with one?

# %% tags=["prediction"]
prediction_without, prediction_with = ..., ...

# %% [markdown]
# **Exercise.** One new token in each text: `query`, `key` and `value` are already split into heads. `cache` is the pair
# (keys, values) of the tokens so far, oldest first, or None at the first token.


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
# A single query needs no mask: everything in the cache is its past. Several queries, as in a prompt, need the *last*
# rows of the causal mask. And the positions of new tokens start where the cache ends.


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
# A cache is easy to get wrong, and a wrong one still generates fluent text. So test whether its logits equal those
# without a cache, at every position, however the text is cut up.


# %%
def in_pieces(model: nn.Module, tokens: Tensor, sizes: list[int], attend: Callable = attend) -> Tensor:
    cache, logits = None, []
    for piece in tokens.split(sizes, dim=1):
        new, cache = read(model, piece, cache, attend)
        logits.append(new)
    return torch.cat(logits, dim=1)


# %%
text = held_out[:3, :40]
expected = model(text).softmax(dim=-1)
cuts = {"all at once": [40], "one by one": [1] * 40, "a prompt of 25, then one by one": [25] + [1] * 15}
for name, sizes in (cuts | {"pieces of 20, 13 and 7": [20, 13, 7]}).items():
    difference = (in_pieces(model, text, sizes).softmax(dim=-1) - expected).abs().max()
    print(f"{name}: the same probabilities to 1e-5: {bool(difference < 1e-5)}")

# %% [markdown]
# Two errors are common: positions that start at 0 again, and
# [`is_causal=True`](https://github.com/pytorch/pytorch/issues/103082) with 2 queries and 5 keys.

# %% tags=["hide-input"]
_, cache = read(model, text[:, :35])
forgetful = copy.copy(model)
forgetful.embed = lambda tokens, start: model.embed(tokens, start=0)
new, _ = read(forgetful, text[:, 35:], cache)
print("positions from 0 again: equal", torch.allclose(new.softmax(dim=-1), expected[:, 35:], atol=1e-5))
q, (k, v), mask = torch.randn(4, 2, 16), torch.randn(2, 4, 5, 16), parts.causal_mask(5)  # 2 queries, 5 keys
wanted, causal = parts.masked_attention(q, k, v, mask[-2:]), F.scaled_dot_product_attention(q, k, v, is_causal=True)
print("is_causal=True: equal", torch.allclose(causal, wanted, atol=1e-5))
print("it takes the first two rows:", torch.allclose(causal, parts.masked_attention(q, k, v, mask[:2]), atol=1e-5))
without = parts.masked_attention(q[:, 1:], k, v, mask[-1:])
print("without the query before it, the newest token: equal", torch.allclose(without, wanted[:, 1:], atol=1e-5))

# %% [markdown]
# The last line shows why nobody caches queries: no later token needs them.
#
# With RoPE, a key is rotated before it is kept, once, by its own position. Now sample with and without a cache.


# %%
def generate(model: nn.Module, n: int, cached: bool) -> Tensor:
    tokens, cache, draws = torch.full((1, 1), BOS), None, torch.Generator().manual_seed(10)  # the same each time
    for _ in range(n):
        logits, cache = read(model, tokens[:, -1:], cache) if cached else (model(tokens), None)
        tokens = torch.cat([tokens, logits[:, -1].softmax(dim=-1).multinomial(1, generator=draws)], dim=1)
    return tokens


# %%
seen = []
hook = model.layers[0].feed_forward.register_forward_hook(lambda _, inputs, output: seen.append(output.shape[1]))
without = generate(model, 256, cached=False)
compare(prediction_without, measured=sum(seen))
seen.clear()
with_cache = generate(model, 256, cached=True)
compare(prediction_with, measured=sum(seen))
hook.remove()
print("the same text:", torch.equal(without, with_cache))
print("positions from 0 again: the same text:", torch.equal(without, generate(forgetful, 256, cached=True)))

# %% tags=["nbval-ignore-output"]
print("".join(characters[i - 1] for i in without[0, 1:101]))

# %% [markdown]
# 1 + 2 + … + 256 = 256 · 257 / 2, so the work grows with the square of the length. With a cache, it is one vector per
# token (whose query meets all keys so far). The time per token:


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

# %%
without, with_cache = curves.values()
print("without a cache, token 512 takes at least twice as long as token 64:", without[0] / without[-1] < 1 / 2)
print("at token 512, the cache is at least twice as fast:", with_cache[-1] / without[-1] < 1 / 2)

# %% [markdown]
# ## Prefill and decode
#
# A larger model, with random parameters, has one layer of width 2,048: 50 million parameters, 200 MB. It reads a prompt
# of 128 tokens, then generates.
#
# **Predict.** How much longer does a generated token take than a token of the prompt: about 1, 10 or 100 times as
# long? And with 16 texts side by side, how many times as long does a step take as with one: about 1, 4 or 16?

# %% tags=["prediction"]
prediction_token, prediction_step = ..., ...

# %% tags=["hide-input", "words-only"]
large = LanguageModel(d_model=2048, n_heads=16, n_layers=1).requires_grad_(False)
prompts = held_out_ids[: 16 * 128].view(16, 128)
caches = {rows: read(large, prompts[:rows])[1] for rows in (1, 16)}
numbers = nn.utils.parameters_to_vector(large.layers.parameters())
phases = {"adding up the parameters": (1, numbers.sum), "prefill": (128, lambda: read(large, prompts[:1]))}
phases["5 tokens of one text"] = 5, lambda: read(large, prompts[:1, :5], caches[1])
for rows, cache in caches.items():
    phases[f"decode, {rows} at once"] = rows, lambda rows=rows, cache=cache: read(large, prompts[:rows, :1], cache)
ms = cpu_milliseconds({name: run for name, (_, run) in phases.items()}, n_turns=4)
table = pd.DataFrame({"tokens": [n for n, _ in phases.values()], "ms": ms.values()}, index=list(phases))
table["tokens per second"] = 1000 * table["tokens"] / table["ms"]
table["GB/s of parameters"] = numbers.nbytes / table["ms"] / 1e6
table["10⁹ products per second"] = len(numbers) * table["tokens"] / table["ms"] / 1e6
adding_up, in_prompt, of_five, alone, together = table["ms"] / table["tokens"]
compare(prediction_token, measured=alone / in_prompt, choices=(1, 10, 100))
compare(prediction_step, measured=16 * together / alone, choices=(1, 4, 16))
table.round(1)

# %%
print("a generated token takes at least three times as long:", alone > 3 * in_prompt)
print("adding up the parameters takes at least twice as long as a token of the prompt:", adding_up > 2 * in_prompt)
print("16 at once: at least twice as many tokens per second:", alone > 2 * together)
print("5 tokens in one pass take less time than 5 passes:", of_five < alone)

# %% [markdown]
# In prefill, each parameter that is loaded is used for 128 tokens, so arithmetic dominates: prefill is
# **compute-bound**. In decode it is used for one. Just reading every parameter once takes a large part of a decoding
# step: the processor waits for bytes, and decode is **memory-bound**. The **arithmetic intensity** is the number of
# operations per byte read. A parameter has 4 bytes and costs each token a product and a sum: that is ½ in decode, and
# 64 in prefill with 128 tokens.

# %% [markdown]
# The H100 reads 3.35·10¹² bytes a second: 4.8 ms for the 16 GB of an 8-billion-parameter model (two bytes each), so 209
# tokens a second at best. A token's 1.6·10¹⁰ operations, at 989·10¹² a second, take 0.016 ms. So at best, a pass over
# about 300 tokens (4.8 / 0.016) takes no longer than a pass over one: a prompt, drafts, or the next tokens of many
# requests. (With 16-bit weights, 300 is also the H100's ratio of operations to bytes.) A longer prompt is
# compute-bound.
#
# With many texts, **throughput** (tokens per second, of all texts) grows, while **latency** (the time until a user's
# next token) grows by less.

# %% [markdown]
# ## The bytes of a cache
#
# **Exercise.** How many bytes does a KV cache take? (Each layer has `n_kv_heads` heads of keys and values.)


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
# Llama 3.1 8B reads up to 128 k (131,072) tokens. It has 32 layers and 32 query heads of width 128. Each of 8 groups of
# query heads shares one head of keys and values (**grouped-query attention**, GQA, [Ainslie et al.,
# 2023](https://arxiv.org/abs/2305.13245)). In **multi-query attention** (MQA, [Shazeer,
# 2019](https://arxiv.org/abs/1911.02150)), all share one.
#
# **Predict.** With 32 heads of keys and values, too (MHA, multi-head), how many GiB would the cache of a *single* text
# of that length take: 1, 8 or 64?

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
# With GQA, 119 requests share the GPU: each waits five times as long per token, but together they get up to 24 times
# the throughput. A parameter is read once for all requests, a cached key only for the four query heads of its own
# request. So batching never makes attention compute-bound.
#
# **Multi-head latent attention** (MLA, [DeepSeek-V2, 2024](https://arxiv.org/abs/2405.04434)) keeps one short vector
# per token, from which matrices compute the keys and values of all heads. In DeepSeek-V3:

# %%
# DeepSeek-V3: 61 layers; MLA keeps 512 + 64 numbers; 128 heads would have keys of 192 and values of 128
n_numbers = {"MLA": 512 + 64, "with keys and values of each head": 128 * (192 + 128)}
pd.Series({kind: 61 * n * 131_072 * 2 / 2**30 for kind, n in n_numbers.items()}, name="GiB").round(1).to_frame()

# %%
diagrams.kv_cache.shared_heads(n_heads=4, n_kv_heads=(4, 2, 1))

# %% [markdown]
# ### Does GQA also save time?
#
# **Exercise.** Ordinary attention needs a head of keys and values for each query head. So we repeat each for the query
# heads of its group: query heads 0 to n_repeats − 1 use head 0, and so on.


# %% id="repeat_kv" tags=["exercise"]
def repeat_kv(x: Float[Tensor, "batch n_kv_heads n d"], n_repeats: int) -> Float[Tensor, "batch n_heads n d"]:
    """Repeat every key-value head n_repeats times, next to itself, so that each query head finds its own."""
    raise NotImplementedError


# %% id="check-repeat_kv"
check(repeat_kv)

# %% [markdown]
# **Predict.** One new token attends to 4,096 cached ones, in 8 texts at once. 2 heads of keys and values are a quarter
# of the bytes of 8. With `repeat_kv`, is attention `"faster"` than with 8 heads, about `"as fast"`, or `"slower"`?

# %% tags=["prediction"]
prediction = ...


# %%
def grouped(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Make the queries of a group the rows of one matrix, which attends to the group's keys; nothing is copied."""
    rows = q.view(8, 2, 4, 64)  # (batch, n_kv_heads, queries of the group, d)
    return parts.scaled_dot_product_attention(rows, k, v).view_as(q)


# %%
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
_, repeated, *others = (way() for way in ways.values())
print("all with 2 heads are equal:", all(torch.allclose(repeated, other, atol=1e-5) for other in others))
print("grouped takes less than half of the time with repeat_kv:", 2 * ms["2 heads, grouped"] < slow)

# %% tags=["words-only"]
ready = torch.empty(2, 8, 2, 4, 4096, 64)
ms |= cpu_milliseconds({"the copies alone, into ready memory": lambda: ready.copy_(kv[:, :, :, None])})
pd.Series(ms, name="ms").round(1).to_frame()

# %% [markdown]
# `repeat_kv` copies the whole cache for every token, and memory traffic is what we wanted to save. (Obtaining memory
# for the copies takes longer still; the last row leaves it out.) Without the copy, GQA is faster than 8 heads. In
# torch, `enable_gqa=True` avoids it in fused kernels.
#
# ---
#
# **Half-way.** A good place to stop for today.

# %% [markdown]
# ## Sliding windows
#
# With a **sliding window**, only the last w tokens stay in the cache, and it stops growing. Our models were trained
# without one, on texts of 64.
#
# **Predict.** By how many nats does the loss rise with a window of 8: about 1, 0.3 or 0.03? Now let one early token
# stay beside a window of 4. Which lowers the loss more: `"bos"`, which is the same in all texts, or `"another"`, the
# sixth?

# %% id="windows-and-attention-sinks-2" tags=["prediction"]
prediction_rise, prediction_kept = ..., ...

# %% id="windows-and-attention-sinks-3" tags=["approximate"]
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

# %% id="windows-and-attention-sinks-4"
print("a window of 4: bos helps more than the sixth token, with each seed:", (bos < sixth)[:, 1].all().item())
print("a window of 16 costs less than 0.1 nats, with each seed:", (only[:, 3] < 0.1).all().item())

# %% id="windows-and-attention-sinks-5" tags=["approximate"]
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
# token (after 1,200 steps the difference is nearly gone), and in some models a head puts far more than an equal weight
# on it. In large models the first token is an
# **attention sink**, where heads put weight that they do not need: LLMs trained without a window fail as soon as their
# first tokens leave it, and recover if a few are kept ([Xiao et al., 2023](https://arxiv.org/abs/2309.17453)).

# %% [markdown]
# ## int8 weights
#
# If decode waits for bytes, fewer bytes per parameter help. **Quantization** rounds each row of a matrix to whole
# numbers from −127 to 127, and keeps one scale for the row: a parameter takes one byte instead of four (of two, on the
# H100).
#
# **Predict.** By how many nats does the loss rise with 8 bits: about `"1"`, `"0.1"` or `"0.001"`? And with 2 bits, when
# only −1, 0 and 1 are left?

# %% tags=["prediction"]
prediction_8, prediction_2 = ..., ...


# %%
def quantized(model: nn.Module, bits: int) -> tuple[nn.Module, float]:
    """Return a model with rounded matrices, and the fraction of the bytes that they take."""
    model, largest = copy.deepcopy(model), 2 ** (bits - 1) - 1
    matrices = [p for p in model.parameters() if p.dim() == 2]
    for matrix in matrices:
        scales = matrix.abs().amax(dim=1, keepdim=True) / largest
        matrix.copy_((matrix / scales).round().to(torch.int8) * scales)  # what is stored is int8 and the scales
    n_bits = sum(bits * p.numel() + 32 * len(p) for p in matrices)
    return model, n_bits / sum(32 * p.numel() for p in matrices)


# %% tags=["approximate"]
rows = {}
for bits in (8, 4, 2):
    made = [quantized(model, bits) for model in models]
    rise = torch.stack([loss_of(model) for model, _ in made]) - torch.tensor(losses)
    rows[bits] = {"bytes": made[0][1], "rise, least": rise.min().item(), "rise, most": rise.max().item()}
table = pd.DataFrame(rows).T.rename_axis("bits")
table.round(3)

# %%
rise_8, rise_2 = table["rise, most"][8], table["rise, least"][2]
compare(prediction_8, measured="0.001" if rise_8 < 0.01 else "0.1" if rise_8 < 0.3 else "1")
compare(prediction_2, measured="0.001" if rise_2 < 0.01 else "0.1" if rise_2 < 0.3 else "1")
print(f"8 bits: {table['bytes'][8]:.2f} of the bytes; a rise below 0.01, with each seed: {rise_8 < 0.01}")

# %% [markdown]
# Eight bits cost almost nothing. In decode, only the stored bytes count: matrices are kept in 8 or 4 bits, and
# [multiplied in 16](https://github.com/pytorch/ao/blob/03d01adcbcf8/torchao/quantization/README.md). Where arithmetic
# limits, as in a long prefill, the inputs of layers are rounded, too. In large models a few of these are so large that,
# with one scale, most others become 0 ([Dettmers et al., 2022](https://arxiv.org/abs/2208.07339)).
#
# <details><summary>Why do 4 bits cost more, and what helps?</summary>
#
# Each number is rounded alone, to one of 15. (That costs more the better the model is: after 1,200 steps, 4 bits cost
# 0.1 to 0.2 nats, and 2 bits about 3.) *GPTQ* ([Frantar et al., 2022](https://arxiv.org/abs/2210.17323)) lets
# numbers that are not rounded yet make up for the errors of the others; *AWQ* ([Lin et al.,
# 2023](https://arxiv.org/abs/2306.00978)) first scales up those that meet large inputs. Both usually keep one scale for
# each small group of numbers, not for a whole row.
# </details>

# %% [markdown]
# ## Speculative decoding
#
# Five tokens in one pass took less time than five passes. A cheap **draft** model proposes them, and the large one
# checks all at once: **speculative decoding** ([Leviathan et al., 2023](https://arxiv.org/abs/2211.17192)). A token x,
# drawn from the draft's q, is accepted with probability min(1, p(x) / q(x)), where p is the large model's. At the first
# rejection a replacement is drawn, and the rest are dropped. If all are accepted, the pass yields one token more.
#
# **Predict.** The output should be distributed exactly as p. Is the replacement drawn from `"p"` itself, or from
# `"max(0, p − q)"`, normalized?

# %% tags=["prediction"]
prediction = ...

# %%
p, q = torch.tensor([0.5, 0.3, 0.15, 0.05]), torch.tensor([0.1, 0.3, 0.2, 0.4])
drafted = q.multinomial(20_000, replacement=True)
accepted = torch.rand(20_000) < (p / q)[drafted]
chi_squared = {}
for name, other in {"p": p, "max(0, p − q)": (p - q).clamp(min=0)}.items():
    output = torch.where(accepted, drafted, other.multinomial(20_000, replacement=True))
    expected = 20_000 * p
    chi_squared[name] = ((output.bincount(minlength=4) - expected) ** 2 / expected).sum().item()
    # of outputs distributed as p, 999 in 1,000 stay below 16.3
    print(f"{name}: χ² of the output is below 16.3: {chi_squared[name] < 16.3}")
compare(prediction, measured=min(chi_squared, key=chi_squared.get))
print(f"accepted: {accepted.float().mean():.1f}; the sum of min(p, q): {torch.minimum(p, q).sum():.1f}")

# %% [markdown]
# A token is drafted and accepted with probability min(p, q). What remains of p is exactly max(0, p − q). A bad draft
# costs speed, never quality.

# %%
diagrams.kv_cache.drafts("Ge", [("nure", 1, "e"), ("rate", 4, "d")])

# %% [markdown]
# **Exercise.** Row i of `q` is the distribution from which `drafted[i]` was drawn, row i of `p` the model's; `p` has
# one row more. A token is accepted if its number in `uniforms` (from 0 to 1) is below its p / q. How many are accepted,
# and from which distribution comes the next?


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
# As drafts, we count in the training text how often each character follows the last one (bigrams) or the last two
# (trigrams). The trigrams predict held-out text better.
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


# %%
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

# %%
compare(prediction, measured="bigram" if (accepted["bigram"] > accepted["trigram"]).all() else "trigram")
print("the trigram table predicts better:", in_loss["trigram"] < in_loss["bigram"] - 0.1)

# %% [markdown]
# The better draft is the one that agrees with the *model*, not with the text, and that changes as the model learns.
# After 300 steps, ours is nearer to the bigrams. After 1,000 steps of the same training the order turns round: 0.68 of
# the trigrams are accepted and 0.52 of the bigrams. So drafts are often distilled from the large model ([Zhou et al.,
# 2023](https://arxiv.org/abs/2310.08461)). (The last column is 1 + a + a² + a³ + a⁴, if each token is accepted with
# probability a.)
#
# Here, rejected tokens leave the cache:


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

# %% tags=["words-only"]
ways = {"without a cache": lambda: generate(model, 256, cached=False)}
ways |= {"one by one": lambda: speculate(model, 256, n_drafted=0), "speculative": lambda: speculate(model, 256)}
ms = cpu_milliseconds(ways, n_turns=3)
print("ms for 256 tokens:", {name: round(duration) for name, duration in ms.items()})

# %%
print("less than half as many passes as tokens, with each seed:", bool((per_pass > 2).all()))

# %% [markdown]
# The time falls by less than the passes: drafting and testing take time, and each pass is longer. With hundreds of
# short requests in a pass, little compute is idle: drafts gain less.

# %% [markdown]
# ## A model that talks, served with your cache
#
# SmolLM2-135M-Instruct (lesson 11 loads it into your own parts) is a Llama: it rotates queries and keys (lesson 05),
# and three query heads share each head of keys and values. `read_llama` below is `read` with these two changes; it
# calls your `attend_with_cache`. The next cell downloads the model once (93 MB). Without it, the cells that need it
# show their stored outputs.

# %% id="smollm2-folder" tags=["published-model", "nbval-ignore-output"]
smollm_folder = published_in_lesson("smollm2", "10_inference")


# %% id="smollm2-read" tags=["published-model", "hide-input"]
def read_llama(model: nn.Module, tokens: Tensor, cache: list | None = None) -> tuple[Tensor, list]:
    """Read new tokens of a Llama; return their logits, and the cache."""
    n_old = cache[0][0].shape[2] if cache else 0
    positions, x, new_cache = torch.arange(n_old, n_old + tokens.shape[1]), model.embedding(tokens), []
    for block, kept in zip(model.blocks, cache or [None] * len(model.blocks)):
        attention, normalized = block.self_attention, block.norm_1(x)
        projections = attention.w_q, attention.w_k, attention.w_v
        q, k, v = (parts.split_heads(project(normalized), project.out_features // 64) for project in projections)
        q, k = (parts.apply_rotary(heads, positions, model.config.rotary_base) for heads in (q, k))
        heads, kept = attend(q, parts.repeat_kv(k, 3), parts.repeat_kv(v, 3), kept)
        x = x + attention.w_o(parts.merge_heads(heads))
        x = x + block.feed_forward(block.norm_2(x))
        new_cache.append(kept)
    return model.head(model.norm(x)), new_cache


smollm = load_language_model(smollm_folder).requires_grad_(False)
smollm_tokenizer = Tokenizer.from_file(str(smollm_folder / "tokenizer.json"))


# %% [markdown]
# As a draft, we take the text itself: what followed the last two tokens where they occurred before (*prompt lookup*).
# It costs nothing. We always take the most probable token, so a drafted token is accepted if it is the model's own
# choice.


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
    print(
        f"passes: {smollm_one[1]}, with drafts {smollm_drafted[1]}; same answer: {smollm_one[0] == smollm_drafted[0]}\n"
    )

# %% [markdown]
# Your cache makes a published model talk. Drafts from the prompt help only where the answer repeats it, as in editing.
# How long does the next token take, after 128?


# %% id="smollm2-int8" tags=["published-model", "hide-input"]
class Int8Linear(nn.Module):
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


def in_int8(model: nn.Module) -> nn.Module:
    model = copy.deepcopy(model)
    for layer in [model, *(part for block in model.blocks for part in (block.self_attention, block.feed_forward))]:
        for name, linear in [*layer.named_children()]:
            if isinstance(linear, nn.Linear):
                setattr(layer, name, Int8Linear(linear))
    return model


# %% id="smollm2-speed" tags=["published-model", "hide-input", "words-only"]
smollm_int8 = in_int8(smollm)
smollm_text = torch.tensor([smollm_tokenizer.encode("\n".join(held_out_texts[:20])).ids[:129]])
smollm_cache = read_llama(smollm, smollm_text[:, :128])[1]
smollm_runs = {
    "without a cache": lambda: smollm.next_logits(smollm_text),
    "with your cache": lambda: read_llama(smollm, smollm_text[:, 128:], smollm_cache),
    "with your cache, int8 weights": lambda: read_llama(smollm_int8, smollm_text[:, 128:], smollm_cache),
}
smollm_ms = pd.Series(cpu_milliseconds(smollm_runs, n_turns=4))
pd.DataFrame({"ms for a token": smollm_ms, "tokens per second": 1000 / smollm_ms}).round(1)

# %% [markdown]
# One picture shows why. A pass over n tokens does n operations for each 2 bytes of a 32-bit parameter. It can be no
# faster than the bytes arrive (the slope) and than the processor computes (the flat part): the *roofline* (lesson 13).

# %% id="smollm2-roofline" tags=["published-model", "hide-input", "words-only"]
smollm_sizes = [1, 4, 16, 64, 128]  # tokens in a pass: 1 in decode, 128 in the prefill of a prompt
smollm_numbers, smollm_square = nn.utils.parameters_to_vector(smollm.parameters()), torch.randn(1024, 1024)
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
# Decode is at the left, under the slope: fewer bytes help, and so do more tokens in a pass. Prefill is at the right,
# near the flat part: fewer bytes do not help there. int8 saves less than three quarters of the time, since each step
# also has hundreds of small operations.

# %% [markdown]
# ## Beam search
#
# Greedy decoding follows one text, beam search the `beam_size` most probable ones. In a model made by hand, the next
# token depends only on the last one; after x, y or z comes the full stop, its eos.

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
# **Exercise.** Begin with one empty text. In each of `max_length` rounds, the candidates are the unfinished texts, each
# with every next token, and the finished texts as they are. The `beam_size` candidates with the largest log-probability
# (a sum over tokens) go on. In the end the best *score* wins, finished or not. It divides by a **length penalty** ([Wu
# et al., 2016](https://arxiv.org/abs/1609.08144)):
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
# Greedy decoding takes *a*, and no good text begins with it. With a `length_penalty` of 0, the most probable text found
# wins. Each further token lowers the probability, which favors short texts; a positive penalty counters that.
# Translation uses beams; chat models sample, as very probable texts repeat themselves (lesson 09).
#
# Each hypothesis in the beam has a row in the cache. If two beams continue the same hypothesis, its row is duplicated:

# %% tags=["hide-input"]
prefixes = held_out[:3, :20]
_, cache = read(model, prefixes)
parents, new = torch.tensor([1, 1, 0]), torch.tensor([[9], [8], [7]])  # beam 2 was dropped, beam 1 goes on twice
right = model(torch.cat([prefixes[parents], new], dim=1))[:, -1:]
followed = [(keys[parents], values[parents]) for keys, values in cache]
for name, rows in {"rows follow": followed, "rows stay": cache}.items():
    print(f"{name}: equal to no cache: {torch.allclose(read(model, new, rows)[0], right, atol=1e-4)}")

# %% [markdown]
# ## Paged caches
#
# Nobody knows how long an output will be. In systems that reserved memory in advance, only 20 to 38 % of it held tokens
# ([Kwon et al., 2023](https://arxiv.org/abs/2309.06180)). Their **paged attention** hands memory out in small pages; a
# table for each text says where its pages are.
#
# <details><summary>What else does a server do?</summary>
#
# Texts that begin alike share the pages of their beginning (*prefix caching*). Where one text ends, a new one takes its
# place in the running batch at once (*continuous batching*; Yu et al., 2022, *Orca*). Some models are trained to
# predict several tokens ahead, and so draft for themselves (*multi-token prediction*; [Gloeckle et al.,
# 2024](https://arxiv.org/abs/2404.19737)).
# </details>

# %%
diagrams.kv_cache.pages(n_tokens=(6, 3), room=8, page=2)

# %% [markdown]
# ## Bug hunt
#
# A colleague has rewritten `attend_with_cache`: she divides the keys instead of the scores. Her first token is right.
# *Before* you run the check, decide what is wrong and what that does to a long text. Then put a corrected version,
# `mended`, into the cell after it.


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
# Compare the outputs with those of a prefill, token by token, and then the *caches*. What is returned is the scaled
# key, and at the next step it is scaled again: a key that is t tokens old has been divided t + 1 times. Soon its score
# is 0, whatever the query. That is not a weight of 0: all old tokens get the same weight, and together they outweigh
# the newest. Attention becomes an average. The cell below shows how the loss grows: late in a text, by more than with a
# window of 2.
# </details>


# %%
def losses_at(model: nn.Module, attend: Callable) -> Tensor:
    logits = in_pieces(model, held_out[:100], [1] * (N + 1), attend)
    return F.cross_entropy(logits[:, :-1].mT, held_out[:100, 1:], reduction="none").mean(dim=0)


# %% tags=["approximate"]
rise = torch.stack([losses_at(m, attend_of_a_colleague) - losses_at(m, attend) for m in models])
spans = {"first prediction": rise[:, 0], "5 to 16": rise[:, 4:16].mean(dim=1), "33 to 64": rise[:, 32:].mean(dim=1)}
pd.DataFrame(spans).rename_axis("seed").round(2)

# %% [markdown]
# ## ★ Transfer: attention in blocks
#
# In prefill, the matrix of scores grows with the square of the length. But it need not exist as a whole. Go through the
# keys in blocks, and keep three things for each query: the largest score so far, and two sums. When a block brings a
# larger score, the sums so far must be rescaled to the new maximum. The last block may be shorter.


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
# matrix (`table`) and in blocks? (A number takes 4 bytes; queries, keys and values are 64 wide.)

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


# %% id="transfer-attention-without-the-table-of-scores-5"
q, k, v = torch.randn(3, 4, 2048, 64)
with Largest() as with_table:
    whole = parts.scaled_dot_product_attention(q, k, v)
with Largest() as in_blocks:
    blockwise = parts.blockwise_attention(q, k, v, block=64)
compare(prediction_table, measured=with_table.n_bytes / 2**20)
compare(prediction_blocks, measured=in_blocks.n_bytes / 2**20)
print("equal to 1e-5:", torch.allclose(whole, blockwise, atol=1e-5))

# %% id="transfer-attention-without-the-table-of-scores-7"
diagrams.online_softmax.blocks([1.0, 3.0, 2.0, 5.0, 4.0, 0.0], block=2)

# %% [markdown]
# This is the **online softmax** ([Milakov and Gimelshein, 2018](https://arxiv.org/abs/1805.02867)); the picture shows
# one of the two sums. It is also the idea of **FlashAttention** ([Dao et al., 2022](https://arxiv.org/abs/2205.14135)):
# the blocks are so small that they stay in fast memory on the chip. The result is exact.

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
# - **The question, answered.** It waits for 16 GB, 4.8 ms per token. 8 bits halve that; drafts get several tokens from
#   one pass; 119 users share one, for 5,000 tokens a second. The KV caches are what keep it from 60,000: no more of
#   them fit, and reading them takes four fifths of each step.
# - With a cache, each token costs one vector. Cache and drafts together made 256 tokens at least three times as fast.
# - A long prefill is compute-bound, decode memory-bound. Many requests share each read.
# - The cache, pages, the online softmax and (in distribution) speculative decoding keep the output; windows, rounding
#   and beam search change it. GQA, MQA and MLA, with smaller caches, are other models; copying a cache costs the time
#   saved.

# %%
trace_shapes(model, held_out[:2, :11]).drop(columns="class")[:13]

# %% [markdown]
# ## New words
#
# The words of all lessons are in the [glossary](glossary.ipynb).
#
# - **prefill**: reading the prompt, in one pass.
# - **decode**: of inference, the phase that generates one token per pass.
# - **KV cache**: the keys and values of all tokens so far, kept for those to come.
# - **memory-bound**: limited by the speed at which bytes arrive.
# - **compute-bound**: limited by the speed of arithmetic.
# - **arithmetic intensity**: operations per byte that is read.
# - **throughput**: tokens per second, of all texts together.
# - **latency**: the time that one user waits, for the first token (TTFT) or for each further one (TPOT).
# - **multi-query attention**: attention in which all query heads share one head of keys and values; MQA.
# - **grouped-query attention**: attention in which groups of query heads share keys and values; GQA.
# - **multi-head latent attention**: attention that keeps one short vector per token instead of keys and values; MLA.
# - **sliding window**: attention to the last w tokens only.
# - **quantization**: storing numbers with few bits, and a scale.
# - **length penalty**: a divisor that grows with length, and keeps beam search from preferring short texts.
# - **speculative decoding**: letting a cheap model propose tokens that the large one accepts or rejects in one pass.
# - **draft**: the cheap model of speculative decoding.
# - **paged attention**: attention over a cache that lies in small blocks of memory.
# - **online softmax**: a softmax computed block by block, with a running maximum.
# - **FlashAttention**: exact attention in blocks that fit into fast memory.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
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
# All parameters are read for one token, with one product for each, so memory limits the time. Prefill uses each
# parameter for all tokens of the prompt. (<i>Prefill and decode</i>)
# </details>
#
# <details><summary>Why are many requests served at once?</summary>
#
# The parameters are read once for all of them, so throughput grows, and latency grows by less. (<i>Prefill and
# decode</i>: 16 texts, at least twice the tokens per second)
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
# the gain away: its copy costs more than it saves, so use a kernel that shares heads. (<i>Does GQA also save time?</i>)
# </details>
#
# <details><summary>What is an attention sink, and what does a sliding window do to it?</summary>
#
# A token, usually the first, that collects weight which heads do not need elsewhere. A window drops it, and LLMs fail;
# if their first few tokens are kept, they recover. (<i>Sliding windows</i>)
# </details>
#
# <details><summary>What does FlashAttention save?</summary>
#
# Memory traffic: the matrix of scores is never stored. The result is exact; a running maximum lets the softmax be
# summed block by block. (<i>★ Transfer</i>)
# </details>
#
# <details><summary>When is speculative decoding fast?</summary>
#
# When a pass over a few tokens takes little longer than one over a single token (decode is memory-bound), and the cheap
# draft agrees with the model often. A draft may also be a layer that reads the model's own vectors (*EAGLE*, [Li et
# al., 2024](https://arxiv.org/abs/2401.15077)). The gain is below the tokens per pass. (<i>Speculative decoding</i>)
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
# Every further token makes a text less probable, so the sum of log-probabilities prefers short texts. (<i>Beam
# search</i>)
# </details>
#
# <details><summary>What does int8 cost in quality?</summary>
#
# Here less than 0.01 nats, at about a quarter of the bytes; 2 bits cost about 1 nat. In large models, a few very large
# activations need special treatment. (<i>int8 weights</i>)
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

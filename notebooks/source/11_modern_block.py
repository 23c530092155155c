# %% [markdown] id="title"
# # 11 · Llama, loaded and talking
#
# ```
# What is the capital of France?
# The capital of France is Paris.
# ```
#
# At the end of this lesson, a published Llama with 135 million parameters gives this answer with parts that *you*
# wrote.
#
# **The question.** Most parts of the block have changed since 2017. What does a Llama's block consist of, what does
# each part buy, and how do published weights get into your own code?
#
# **Afterwards you can** write the parts of a Llama, measure a change against the noise of seeds, and load a published
# Llama into your own parts and talk to it.
#
# Reading: 28 minutes. Exercises: 55 minutes (four core; the stretch ★ takes 15 more). With all predictions, runs and
# questions: about 105 minutes, with a good place to stop half-way.

# %% [markdown]
# ## Before you start
#
# Three questions from earlier lessons. Answer each one aloud, then open it.
#
# <details><summary>Lesson 05: what does RoPE rotate, and by which angle?</summary>
#
# Queries and keys, after their projections. Pair i of a vector at position t is rotated by t · base^(−2i/d).
# </details>
#
# <details><summary>Lesson 06: what does LayerNorm do to a vector?</summary>
#
# It subtracts the mean of its features and divides by their standard deviation. Then a learned weight and bias scale
# and shift each feature.
# </details>
#
# <details><summary>Lesson 08: why was each ablation run with three seeds?</summary>
#
# Because two runs of the *same* model also differ. A difference between models means something only if it is larger.
# </details>

# %% id="imports"
import copy
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from datetime import date, timedelta
from functools import partial
from pathlib import Path

import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from transformer_course import check, compare, diagrams, hint, parts, plots, solution, tally
from transformer_course.published_models.in_lesson import published_in_lesson
from transformer_course.stored_models.stored_model import FOLDER
from transformer_lab import LanguageModel, LanguageModelConfig, trace_shapes
from transformer_lab.data.dates import write_date
from transformer_lab.data.docstrings import python_docstrings
from transformer_lab.pretrained.hub import read_json, read_model_tensors
from transformer_lab.pretrained.load import load_language_model, save_pretrained

# %%
_ = torch.manual_seed(11)

# %%
diagrams.modern_block.blocks()

# %% [markdown]
# The paper's block is on the left, Llama's on the right; `q_norm` and `k_norm` come from Qwen 3. This lesson covers the
# changes in Llama, and the next one, [architectures](architectures.ipynb), those in later models.
#
# | what it buys | what was changed |
# |---|---|
# | a simpler or better block | RMSNorm, SwiGLU; RoPE (lesson 05) |
# | stable training | pre-norm (lesson 06) |
# | memory | grouped queries |

# %% [markdown]
# ## RMSNorm: leave the mean alone
#
# LayerNorm centers each vector and scales it to a standard deviation of 1. **RMSNorm** (Zhang and Sennrich, 2019)
# doesn't center the vector; it only divides it by its root mean square. It has no bias either.
#
# $$\operatorname{RMSNorm}(x)_i = w_i\,\frac{x_i}{\sqrt{\frac{1}{d}\sum_j x_j^2 + \varepsilon}}$$
#
# $x$ is one vector of shape (d). $w$ also has shape (d) and starts as ones.
#
# **Predict.** x is (5, 5, 5, 5). What is the first number of its LayerNorm, and of its RMSNorm?

# %% tags=["prediction"]
prediction_layer, prediction_rms = ..., ...

# %%
equal = torch.full((4,), 5.0)
compare(prediction_layer, measured=round(F.layer_norm(equal, (4,)).tolist()[0]))
compare(prediction_rms, measured=round(F.rms_norm(equal, (4,)).tolist()[0]))

# %% [markdown]
# **Exercise.** Write it. (In float16 the square of 256 overflows, so compute in float32, with `x.float()`, and convert
# the result back with `.to(x.dtype)`.)


# %% id="rms_norm" tags=["exercise"]
def rms_norm(x: Float[Tensor, "*batch d"], weight: Float[Tensor, " d"], eps: float = 1e-6) -> Float[Tensor, "*batch d"]:
    """Return every vector divided by the root mean square of its features, and then each feature scaled."""
    raise NotImplementedError


# %% id="check-rms_norm"
check(rms_norm)


# %%
class RMSNorm(nn.Module):
    """The function as a module, which holds the weight."""

    def __init__(self, d: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(d)), eps

    def forward(self, x: Tensor) -> Tensor:
        return parts.rms_norm(x, self.weight, self.eps)


# %% [markdown]
# ## SwiGLU: a gate for each hidden feature
#
# In a **gated linear unit** (GLU; Dauphin et al., 2016), one projection scales another. **SwiGLU** (Shazeer, 2020) is
# the variant with SiLU as the gate, $\operatorname{silu}(z) = z / (1 + e^{-z})$, a smooth ReLU:
#
# $$\operatorname{SwiGLU}(x) = W_\text{down}\,\bigl(\operatorname{silu}(W_\text{gate}\,x) \odot W_\text{up}\,x\bigr)$$
#
# ⊙ multiplies element by element. `w_gate` and `w_up` are Linear(d_model, d_ff), and `w_down` is Linear(d_ff, d_model),
# all without a bias. (Why does it work? Its author attributes it to "divine benevolence".)

# %%
diagrams.modern_block.gated()

# %% [markdown]
# **Predict.** A feed-forward network with two matrices and d_model = 32 has d_ff = 128. Which d_ff gives SwiGLU about
# the same number of parameters?

# %% tags=["prediction"]
prediction = ...

# %%
two, three = 2 * 32 * 128, [3 * 32 * d_ff for d_ff in range(129)]
compare(prediction, measured=min(range(129), key=lambda d_ff: abs(three[d_ff] - two)))

# %% [markdown]
# SwiGLU has three matrices instead of two, so it gets two thirds of the width.
#
# **Exercise.** Write `forward`. (`F.silu` is given.)


# %% id="SwiGLU" tags=["exercise"]
class SwiGLU(nn.Module):
    """A feed-forward network in which one projection decides how much of another passes."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w_gate = nn.Linear(d_model, d_ff, bias=False)
        self.w_up = nn.Linear(d_model, d_ff, bias=False)
        self.w_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        raise NotImplementedError


# %% id="check-SwiGLU"
check(SwiGLU)

# %% [markdown]
# ## Saving memory: grouped-query attention
#
# In grouped-query attention (lesson 10), neighboring query heads share one head of keys and values:

# %%
diagrams.kv_cache.shared_heads(n_heads=4, n_kv_heads=(4, 2))

# %% [markdown]
# **Exercise.** Write `forward`, as self-attention over x. Use your earlier exercises from `parts`: `split_heads`,
# `merge_heads` and `masked_attention`. (`masked_attention` needs a mask; if `mask` is None, every token attends to
# every token. A query that may attend to nothing gets zeros, as in lesson 04.)


# %% id="GroupedQueryAttention" tags=["exercise"]
class GroupedQueryAttention(nn.Module):
    """Let several heads of queries share each head of keys and values."""

    def __init__(self, d_model: int, n_heads: int, n_kv_heads: int) -> None:
        super().__init__()
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        d_kv = d_model // n_heads * n_kv_heads
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_kv, bias=False)
        self.w_v = nn.Linear(d_model, d_kv, bias=False)
        self.w_o = nn.Linear(d_model, d_model, bias=False)

    def forward(
        self, x: Float[Tensor, "batch n d_model"], mask: Bool[Tensor, "*#batch #n #n"] | None = None
    ) -> Float[Tensor, "batch n d_model"]:
        raise NotImplementedError


# %% id="check-GroupedQueryAttention"
check(GroupedQueryAttention)

# %% [markdown]
# ## A block that can be changed
#
# RoPE is applied to the outputs of `w_q` and `w_k`, head by head, so we can wrap it around these projections. (The
# wrapper splits the heads, rotates and merges them; attention then splits them again.) The options `qk_norm` and
# `norm_after` come from newer models and are off here; the next lesson measures their effect.


# %%
class HeadProjection(nn.Module):
    """A projection to queries or keys, which are normalized, if wanted, and rotated by their positions."""

    def __init__(self, linear: nn.Linear, n_heads: int, d_k: int, base: float, qk_norm: bool) -> None:
        super().__init__()
        self.linear, self.n_heads, self.base = linear, n_heads, base
        self.norm = RMSNorm(d_k) if qk_norm else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        heads = self.norm(parts.split_heads(self.linear(x), self.n_heads))
        return parts.merge_heads(parts.apply_rotary(heads, torch.arange(x.shape[1]), self.base))


def two_matrices(d_model: int, d_ff: int) -> nn.Module:
    """Return 2017's FFN, but without biases."""
    return nn.Sequential(nn.Linear(d_model, d_ff, bias=False), nn.ReLU(), nn.Linear(d_ff, d_model, bias=False))


# %%
class Block(nn.Module):
    """A pre-norm block; by default with the parts of 2017, but without biases. ``base`` is RoPE's."""

    def __init__(
        self, d_model, n_heads=4, norm=nn.LayerNorm, base=None, feed_forward=two_matrices, d_ff=128, n_kv_heads=4,
        qk_norm=False, norm_after=False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.norm_1, self.norm_2, self.norm_after = norm(d_model), norm(d_model), norm_after
        self.self_attention = attention = parts.GroupedQueryAttention(d_model, n_heads, n_kv_heads)
        if base is not None:
            rotated = partial(HeadProjection, d_k=d_model // n_heads, base=base, qk_norm=qk_norm)
            attention.w_q, attention.w_k = rotated(attention.w_q, n_heads), rotated(attention.w_k, n_kv_heads)
        self.feed_forward = feed_forward(d_model, d_ff)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        if self.norm_after:
            x = x + self.norm_1(self.self_attention(x, mask))
            return x + self.norm_2(self.feed_forward(x))
        x = x + self.self_attention(self.norm_1(x), mask)
        return x + self.feed_forward(self.norm_2(x))


# %% tags=["hide-input"]
class Model(nn.Module):
    """Embed, pass through the blocks, normalize, and score all tokens of the vocabulary."""

    def __init__(self, vocab_size, d_model=32, n_layers=1, causal=True, norm=nn.LayerNorm, base=None, **rest) -> None:
        super().__init__()
        self.embedding, self.causal, self.base = nn.Embedding(vocab_size, d_model), causal, base
        self.blocks = nn.ModuleList(Block(d_model, norm=norm, base=base, **rest) for _ in range(n_layers))
        self.norm, self.head = norm(d_model), nn.Linear(d_model, vocab_size, bias=False)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2 and name != "embedding.weight":  # torch draws that with variance 1
                nn.init.normal_(parameter, std=parameter.shape[1] ** -0.5)

    def forward(self, tokens: Tensor) -> Tensor:
        x, n = self.embedding(tokens), tokens.shape[1]
        if self.base is None:
            x = x + parts.sinusoidal_encoding(n, x.shape[-1])
        mask = parts.causal_mask(n) if self.causal else None
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))


# %% [markdown]
# We train on the characters of Python's docstrings and measure the loss on held-out modules.


# %% tags=["hide-input"]
texts, held_out = python_docstrings()
CHARACTERS = ["?", *sorted(c for c, n in Counter("".join(texts)).items() if n > 100)]  # "?" stands for rare ones
NUMBER = {c: i for i, c in enumerate(CHARACTERS)}
training, testing = (
    torch.tensor([NUMBER.get(c, 0) for c in "".join(some)]).unfold(0, 33, 1) for some in (texts, held_out)
)  # every stretch of 33 characters


def batches(tokens: Tensor, labels: Tensor, n: int, seed: int) -> Callable:
    """Return a function that draws n texts with their labels."""
    generator = torch.Generator().manual_seed(seed)

    def draw() -> tuple[Tensor, Tensor]:
        rows = torch.randint(len(tokens), (n,), generator=generator)
        return tokens[rows], labels[rows]

    return draw


def excerpts(text: Tensor, n: int, seed: int) -> Callable:
    return batches(text[:, :-1], text[:, 1:], n, seed)


# %% tags=["hide-input"]
def fit(model: nn.Module, draw: Callable, steps: int, rate: float, extra: Callable | None = None) -> Tensor:
    """Train what is not frozen; the learning rate rises over 10 steps, and falls over the second half."""
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], fused=True)
    losses = []
    for step in range(1, steps + 1):
        optimizer.param_groups[0]["lr"] = rate * min(1, step / 10, 2 * (1 - (step - 1) / steps))
        tokens, labels = draw()
        loss = F.cross_entropy(model(tokens).flatten(0, 1), labels.flatten())  # labels of −100 do not count
        losses.append(loss.item())
        if extra is not None:
            loss = loss + (extra() or 0.0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return torch.tensor(losses)


def n_parameters(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


# %%
CHANGES = {
    "LayerNorm, sinusoids": ({}, "2017"),
    "RMSNorm": ({"norm": RMSNorm}, "Llama, Qwen, Gemma"),
    "RoPE": ({"base": 10000.0}, "Llama, Qwen, Gemma"),
    "SwiGLU": ({"feed_forward": parts.SwiGLU, "d_ff": 85}, "Llama, Qwen"),
    "grouped queries": ({"n_kv_heads": 2}, "Llama 3, Qwen 3, Gemma 3"),
}
configs, config = {}, {}
for name, (change, _) in CHANGES.items():
    configs[name] = config = config | change

# %% [markdown]
# ## What does each change buy?
#
# We train five models with one block (d_model 32). The first has the block of 2017, but pre-norm and without biases.
# Each of the others adds one more change and keeps the earlier ones.
#
# **Predict.** Which change in `CHANGES` improves the loss most after 300 steps?

# %% tags=["prediction"]
prediction = ...


# %%
def trained(config: dict, seed: int, steps: int = 300, rate: float = 0.03) -> tuple[Model, float]:
    """Return a model trained on docstrings, and its loss on others."""
    torch.manual_seed(seed)
    model = Model(len(CHARACTERS), **config)
    fit(model, excerpts(training, 16, seed), steps, rate)
    with torch.no_grad():
        tokens, labels = excerpts(testing, 300, seed=0)()
        return model, F.cross_entropy(model(tokens).flatten(0, 1), labels.flatten()).item()


# %% tags=["hide-input", "words-only"]
_ = trained(configs["RoPE"], 0, steps=10)  # warm up: a program's first steps take longer
losses, rows = {}, []
for name, (_, used_by) in CHANGES.items():
    start = time.process_time()
    model, losses[name] = trained(configs[name], seed=0)
    rows.append((name, n_parameters(model), time.process_time() - start, losses[name], used_by))
table = pd.DataFrame(rows, columns=["one more change", "parameters", "time", "loss", "used by"])
table["time"] /= table["time"][0]
table.round(2)

# %% [markdown]
# One run tells you little, because the loss changes with the seed. So here are nine seeds next to your run. The dotted
# line is the loss of a bigram table.

# %% tags=["hide-input", "approximate"]
stored = read_json(FOLDER / "block-seeds" / "losses.json")
nine = pd.DataFrame(stored["losses"]["0.03"])
counts = torch.ones(len(CHARACTERS), len(CHARACTERS))
counts.index_put_((training[:, 0], training[:, 1]), torch.tensor(1.0), accumulate=True)
tokens, labels = excerpts(testing, 300, seed=0)()
bigrams = F.cross_entropy(counts.log()[tokens].flatten(0, 1), labels.flatten()).item()
ax = nine.T.plot(style="o", color=plots.COLORS[0], alpha=0.5, ylabel="loss (nats per character)", figsize=(8.5, 2.6))
stored_dots, yours = ax.lines[0], ax.plot(range(len(CHANGES)), [*losses.values()], "D", color=plots.COLORS[1])[0]
ax.set_xticks(range(len(CHANGES)), CHANGES)
line = ax.axhline(bigrams, color=plots.INK, linestyle=":")
labeled = {"nine seeds": stored_dots, "yours": yours, "bigrams": line}
_ = ax.legend(labeled.values(), labeled, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))

# %% [markdown]
# How large is each improvement over the row before, and does it also appear at other learning rates? Read the column
# for 0.03 first. ± is the **standard error**: about how far the mean would move with nine other seeds.

# %% tags=["hide-input"]
# how far each row is below the one before, seed by seed
steps = {rate: -pd.DataFrame(by_model).diff(axis=1).iloc[:, 1:] for rate, by_model in stored["losses"].items()}
compare(prediction, measured=steps["0.03"].mean().idxmax())
print(f"{stored['command']}: {stored['cpu_minutes']} minutes on one core")
print("Mean loss; mean step to the row ± its standard error, + is better (number of seeds that are better):")
shown = {}
for rate, by_seed in steps.items():  # a seed's losses are compared with each other
    means = [f"{loss:.2f}" for loss in pd.DataFrame(stored["losses"][rate]).mean()]
    told = [f"; {step.mean():+.3f} ± {step.sem():.3f} ({(step > 0).sum()} of 9)" for _, step in by_seed.items()]
    shown[f"rate {rate}"] = [mean + step for mean, step in zip(means, ["", *told])]
pd.DataFrame(shown, index=list(CHANGES))

# %% [markdown]
# RoPE improves the mean loss most at all three rates, though not clearly at 0.1. Of these rates, 0.03 is best for every
# row.
#
# <details><summary>And the other changes, at other rates and sizes?</summary>
#
# At 0.01, SwiGLU gains 0.04 ± 0.01. At 0.03 it gains hardly more than its standard error (three seeds alone had
# suggested more), and grouped queries, with fewer parameters, cost about 0.02. At 0.1 the mean is misleading: four of
# nine RoPE runs end near 2.85, the other five below 2.52. SwiGLU helps those four but not the five: it tolerates a rate
# that is too high. With 1,200 steps or with two blocks, RoPE still gains most (0.05 to 0.18), and the other changes
# sometimes help and sometimes hurt.
# </details>
#
# <details><summary>How often would this happen by chance?</summary>
#
# Each of two *equal* models wins with half of the seeds on average. All nine seeds agree in 2 of 2⁹ = 512 cases, and at
# least eight agree in one case of 26. So if you make twelve comparisons, one with eight of nine may be chance. (The
# times are rough, too: torch's LayerNorm is one fused kernel, while our parts are several.)
# </details>

# %% [markdown]
# ---
#
# **Half-way.**

# %% [markdown]
# ## Published weights in your own classes
#
# On the Hugging Face Hub a model is a folder that contains `config.json`, with its sizes, and files with named tensors.
# The names, shapes and row order of the tensors are the **checkpoint layout**. We make such a folder for a small Llama
# with random weights.


# %% tags=["hide-input"]
llama = LanguageModelConfig.llama(61, d_model=48, n_heads=6, n_kv_heads=2, d_ff=80, n_layers=2, norm_eps=1e-6)
random_model = LanguageModel(llama)
for parameter in random_model.parameters():
    nn.init.normal_(parameter, std=0.2)
folder = Path(tempfile.mkdtemp())
save_pretrained(random_model, folder)
options, published = read_json(folder / "config.json"), read_model_tensors(folder)
print(len(published), "tensors, such as", next(name for name in published if "q_proj" in name))

# %% [markdown]
# **Predict.** We load the tensors unchanged under your parameter names. What do you get: an `"error"`, the `"same"`
# logits as from the library's loader, or `"other"` logits?

# %% tags=["prediction"]
prediction = ...


# %% tags=["hide-input"]
NAMES = {
    "model.embed_tokens": "embedding", "model.layers": "blocks", "model.norm": "norm", "lm_head": "head",
    "self_attn.q_proj": "self_attention.w_q.linear", "self_attn.k_proj": "self_attention.w_k.linear",
    "self_attn.v_proj": "self_attention.w_v", "self_attn.o_proj": "self_attention.w_o",
    "mlp.gate_proj": "feed_forward.w_gate", "mlp.up_proj": "feed_forward.w_up", "mlp.down_proj": "feed_forward.w_down",
    "input_layernorm": "norm_1", "post_attention_layernorm": "norm_2",
}  # fmt: skip
SIZES = ("hidden_size", "num_attention_heads", "num_key_value_heads", "intermediate_size", "num_hidden_layers")


# %%
def own_llama(options: dict, tensors: dict[str, Tensor], reorder: Callable) -> Model:
    """Return a model of our own classes, with published parameters; ``reorder`` is applied to w_q and w_k."""
    d_model, n_heads, n_kv_heads, d_ff, n_layers = (options[name] for name in SIZES)
    norm = partial(RMSNorm, eps=options["rms_norm_eps"])
    chosen = {"norm": norm, "base": options["rope_theta"], "feed_forward": parts.SwiGLU}
    sizes = {"n_heads": n_heads, "n_kv_heads": n_kv_heads, "d_ff": d_ff, "n_layers": n_layers}
    model, ours = Model(options["vocab_size"], d_model, **sizes, **chosen), {}
    for name, tensor in tensors.items():
        for theirs, here in NAMES.items():
            name = name.replace(theirs, here)
        ours[name] = reorder(tensor, d_model // n_heads) if "w_q" in name or "w_k" in name else tensor
    model.load_state_dict(ours)  # complains of any name that is missing or left over
    return model.eval()


# %%
tokens = torch.randint(61, (3, 40))
with torch.no_grad():
    reference = load_language_model(folder)(tokens)
    untouched = own_llama(options, published, lambda weight, _: weight)(tokens)
compare(prediction, measured="same" if torch.allclose(untouched, reference, atol=1e-3) else "other")
print("the first position has the same logits:", torch.allclose(untouched[:, 0], reference[:, 0], atol=1e-3))

# %% [markdown]
# There is no error: the shapes fit, and the first position, which attends only to itself, looks right. But your RoPE
# pairs neighboring features: 0 with 1, 2 with 3. So do Meta's own Llama files. The code on the Hub pairs feature i with
# feature i + d_k/2, in the other half of the head, so the script that converted the files [permuted the
# rows](https://github.com/huggingface/transformers/issues/25199) of `w_q` and `w_k`. A score sums products over all
# features, so any order works as long as queries and keys have the same.

# %%
diagrams.modern_block.rotary_pairs()

# %% [markdown]
# **Exercise.** Undo the permutation, as in the picture, for any number of heads. Each head has d_k rows, an even
# number.


# %% id="pairs_from_halves" tags=["exercise"]
def pairs_from_halves(weight: Float[Tensor, "rows d_model"], d_k: int) -> Float[Tensor, "rows d_model"]:
    """Reorder the rows of each head, so that those which RoPE rotates together are neighbors."""
    raise NotImplementedError


# %% id="check-pairs_from_halves"
check(pairs_from_halves)

# %%
with torch.no_grad():
    reordered = own_llama(options, published, parts.pairs_from_halves)(tokens)
print("with reordered rows, all logits are the same:", torch.allclose(reordered, reference, atol=1e-3))

# %% [markdown]
# <details><summary>Who checks the reference, and are there other traps?</summary>
#
# The reference is the library's loader; its tests compare the logits with those of Hugging Face's own class. In GPT-2's
# layout, queries, keys and values share one matrix, and all matrices are transposed; `pretrained/gpt2.py` undoes both.
# And not everything that matters is a tensor: RoPE's base and the norms' ε are in `config.json`, and so is the RoPE
# scaling of Llama 3.1, which `own_llama` does not support.
# </details>

# %% [markdown]
# ## Bug hunt
#
# A colleague avoids copying the keys: each group of query heads meets its head of keys by broadcasting. She loads
# published weights. With one head of keys, or one for each query head, all logits are right. With any number in between
# they are wrong. Decide why *before* you look at the check. Then write a correct `Mended` in the next cell.


# %% tags=["bug-hunt"]
class AttentionOfAColleague(parts.GroupedQueryAttention):
    def forward(self, x, mask=None):
        group = self.n_heads // self.n_kv_heads
        q = parts.split_heads(self.w_q(x), self.n_heads).unflatten(1, (self.n_kv_heads, group))
        k = parts.split_heads(self.w_k(x), self.n_kv_heads).unsqueeze(2)  # batch, n_kv_heads, 1, n, d_head
        v = parts.split_heads(self.w_v(x), self.n_kv_heads).unsqueeze(2)
        mask = torch.ones(1, 1, 1, dtype=torch.bool) if mask is None else mask
        heads = parts.masked_attention(q, k, v, mask.unsqueeze(-3))  # batch, n_kv_heads, group, n, d_head
        return self.w_o(heads.permute(0, 3, 2, 1, 4).flatten(2))


# %% id="mend-grouped"
Mended = AttentionOfAColleague

# %% id="check-mend-grouped"
check(Mended, "GroupedQueryAttention", save=False)

# %% [markdown]
# <details><summary>How to find such a bug without a check</summary>
#
# Compare with a module that you know is right, using sizes that all differ. Each query head meets the right keys, but
# the `permute` before `w_o` sorts the heads by their place in the group: 0 2 1 3 instead of 0 1 2 3. A model *trained*
# with this bug works as well as any other, because `w_o` learns that order. It matters only with weights from
# elsewhere. That is why you test a loader on logits, not on shapes.
# </details>

# %% [markdown]
# ## A model that talks
#
# The course includes such a folder for a small Llama *trained* on 35 plays by Shakespeare. Its output head shares the
# embedding matrix (weight tying, lesson 08), which is stored only once.


# %% id="a-model-that-talks"
def published_model(where: Path) -> tuple[Model, Tokenizer]:
    """Return a model of your own classes with the parameters of a folder, and its tokenizer."""
    tensors = read_model_tensors(where)
    tensors.setdefault("lm_head.weight", tensors["model.embed_tokens.weight"])
    model = own_llama(read_json(where / "config.json"), tensors, parts.pairs_from_halves)
    return model, Tokenizer.from_file(str(where / "tokenizer.json"))


actor, tokenizer = published_model(FOLDER / "llama-plays")
card = read_json(FOLDER / "llama-plays" / "card.json")
facts = ["command", "data", "parameters", "cpu_minutes", "held_out_loss", "held_out_bits_per_byte"]
print("\n".join(f"{fact}: {card[fact]}" for fact in facts))


# %% [markdown]
# You write a line, and the model answers with the next speaker's line (temperature 0.7, top-p 0.9).


# %% id="a-model-that-talks-3"
@torch.no_grad()
def continued(model: Model, tokenizer: Tokenizer, text: str, n_tokens: int, sample: Callable, end: str = "") -> str:
    """Return a text with n_tokens more, or up to the first ``end``."""
    ids, read = tokenizer.encode(text).ids, partial(tokenizer.decode, skip_special_tokens=False)
    for _ in range(n_tokens):
        ids += sample(model(torch.tensor([ids[-256:]]))[:, -1]).tolist()
        if end and end in read(ids)[len(text) :]:
            break
    return read(ids)


# %% id="a-model-that-talks-4"
_ = torch.manual_seed(0)
sample = partial(parts.sample_next, temperature=0.7, top_p=0.9)
lines = ["ROMEO: Who art thou?", "ROMEO: Dost thou love me?", "ROMEO: Then come with me to Verona."]  # your lines
play = ""
for line in lines:
    play = continued(actor, tokenizer, play + line + "\n\n", 80, sample, end="\n\n").strip() + "\n\n"
print(play)

# %% [markdown]
# It sounds like Shakespeare and means nothing.
#
# ### SmolLM2 in your own parts
#
# SmolLM2-135M-Instruct ([Allal et al., 2025](https://arxiv.org/abs/2502.02737); Apache 2.0) is a Llama with 135 million
# parameters. The next cell downloads it once, as a 4-bit file (93 MB; lesson 10), so it may answer differently from the
# original. Without the model, the cells below show their stored outputs.

# %% id="smollm2-folder" tags=["published-model", "nbval-ignore-output"]
smollm_folder = published_in_lesson("smollm2", "11_modern_block")

# %% id="smollm2-in-your-parts" tags=["published-model", "hide-input"]
smollm, smollm_tokenizer = published_model(smollm_folder)
smollm_attention, smollm_ffn = smollm.blocks[0].self_attention, smollm.blocks[0].feed_forward
print(f"{len(smollm.blocks)} blocks of width {smollm.embedding.embedding_dim}")
print(f"{smollm_attention.n_heads} query heads share {smollm_attention.n_kv_heads} heads of keys and values")
print(f"SwiGLU with d_ff {smollm_ffn.w_up.out_features}; {smollm.embedding.num_embeddings:,} tokens")


# %% [markdown]
# An instruct model was trained on conversations in a fixed form, its **chat template** (lesson 14). The token
# `<|im_end|>` ends a turn.


# %% id="smollm2-answers" tags=["published-model"]
def smollm_answer(question: str, n_tokens: int = 40) -> str:
    """Return the model's answer, always with the most probable token."""
    prompt = f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
    greedy = partial(torch.argmax, dim=-1)
    text = continued(smollm, smollm_tokenizer, prompt, n_tokens, greedy, end="<|im_end|>")
    return text[len(prompt) :].removesuffix("<|im_end|>")


smollm_questions = ["What is the capital of France?", "Which animal says meow?", "Name three colors."]
smollm_questions += ["Who wrote Romeo and Juliet?"]  # your questions
print(*(f"{question}\n{smollm_answer(question)}\n" for question in smollm_questions), sep="\n")

# %% [markdown]
# Apart from the embedding and the plain linear layers, you wrote every part of this chat model. Ask your own questions!
# SmolLM2 writes fluent English but knows few facts: it invents a son of Shakespeare. (Each token takes longer than the
# one before because `continued` has no cache; lesson 10 serves this model with your cache.)

# %% [markdown]
# ## ★ Transfer: LoRA, fine-tuning with few parameters
#
# **Fine-tuning** a model of 8 billion parameters changes all 8 billion. **Low-rank adaptation** (**LoRA**; Hu et al.,
# 2021) freezes them. For each chosen linear layer it trains two small matrices, whose product is the change:
#
# $$\operatorname{linear}(x) + \frac{\alpha}{r}\,x\,a^\top b^\top$$
#
# `a`, of shape (r, d_in), starts with random numbers. `b`, of shape (d_out, r), starts as zeros, so at first nothing
# changes. r is the rank: a product of such matrices can change the output in at most r directions. α is a scale that
# you choose; dividing by r lets you change r without choosing α again. `linear` is frozen: call `requires_grad_(False)`
# on its parameters, including the bias.

# %%
diagrams.modern_block.low_rank()

# %% [markdown]
# **Exercise.** Write the whole module. Initialize `a` as you like, but not with zeros.


# %% id="LoRALinear" tags=["exercise"]
class LoRALinear(nn.Module):
    """Add to a frozen linear layer the product of two small matrices, which are trained in its place."""

    def __init__(self, linear: nn.Linear, rank: int, alpha: float) -> None:
        raise NotImplementedError

    def forward(self, x: Float[Tensor, "*batch d_in"]) -> Float[Tensor, "*batch d_out"]:
        raise NotImplementedError


# %% id="check-LoRALinear"
check(LoRALinear)

# %% [markdown]
# The task is a small version of lesson 08's: a model reads a date and fills eight gaps, as in `20210303`. It first
# learns French, German, Italian and English. Then LoRA with rank 2, on `w_q` and `w_v` as in the paper, should teach it
# Spanish.


# %% tags=["hide-input"]
LANGUAGES = ["fr", "de", "it", "en_GB", "es"]
days = [date(2000, 1, 1) + timedelta(days=n) for n in range(0, 9000, 3)]
random.Random(0).shuffle(days)
written = {language: [write_date(day, language, "long").rjust(24, "·") for day in days] for language in LANGUAGES}
LETTERS = sorted({c for some in written.values() for text in some for c in text} | {*"?0123456789"})


def numbers(texts: list[str]) -> Tensor:
    return torch.tensor([[LETTERS.index(c) for c in text] for text in texts])


gaps = F.pad(numbers([day.strftime("%Y%m%d") for day in days]), (24, 0), value=-100)  # labels for the gaps alone
dates = {language: (numbers([text + 8 * "?" for text in some]), gaps) for language, some in written.items()}
print(*(some[0].strip("·") for some in written.values()), sep=", ")


# %% tags=["hide-input"]
def draw_dates(languages: list[str], n: int, seed: int) -> Callable:
    """Draw from all days but the first 150, which are held out."""
    tokens, labels = (torch.cat([dates[language][i][150:] for language in languages]) for i in (0, 1))
    return batches(tokens, labels, n, seed)


@torch.no_grad()
def read_right(model: nn.Module, languages: list[str]) -> float:
    """Return the fraction of held-out days of which all eight digits are right."""
    tokens, labels = (torch.cat([dates[language][i][:150] for language in languages]) for i in (0, 1))
    return (model(tokens).argmax(dim=-1) == labels)[:, 24:].all(dim=1).float().mean().item()


# %% tags=["approximate"]
torch.manual_seed(0)
reader = Model(len(LETTERS), d_model=48, n_layers=2, causal=False, **configs["grouped queries"])
fit(reader, draw_dates(LANGUAGES[:4], 32, 0), 200, 0.006)
before = [read_right(reader, LANGUAGES[:4]), read_right(reader, ["es"])]
print(f"right before LoRA: {before[0]:.2f} of the four languages, {before[1]:.2f} of the new one")

# %% [markdown]
# **Predict.** For 300 steps, LoRA trains 672 parameters next to about 43,000 frozen ones. What fraction of the Spanish
# dates does the model then read correctly: nearest to 0, 0.25 or 0.75? And with LoRA in place, does it read `"more"`,
# `"fewer"` or `"as many"` dates in the four *old* languages as before?

# %% tags=["prediction"]
prediction_new, prediction_old = ..., ...


# %%
def with_lora(model: Model, seed: int) -> Model:
    """Return a frozen copy of the model, trained on the new language through LoRA."""
    torch.manual_seed(seed)
    model = copy.deepcopy(model).requires_grad_(False)
    for attention in (block.self_attention for block in model.blocks):
        attention.w_q.linear = parts.LoRALinear(attention.w_q.linear, rank=2, alpha=4.0)
        attention.w_v = parts.LoRALinear(attention.w_v, rank=2, alpha=4.0)
    fit(model, draw_dates(["es"], 16, seed), 300, 0.02)
    return model


def fine_tuned(model: Model, seed: int) -> Model:
    """Return a copy of the model of which all parameters are trained on the new language."""
    torch.manual_seed(seed)
    model = copy.deepcopy(model)
    fit(model, draw_dates(["es"], 16, seed), 300, 0.006)
    return model


# %% tags=["hide-input", "words-only"]
adapted = [with_lora(reader, seed) for seed in range(3)]
after = torch.tensor([[read_right(model, LANGUAGES[:4]), read_right(model, ["es"])] for model in adapted])
compare(prediction_new, measured=after[:, 1].mean().item(), choices=(0, 0.25, 0.75))
compare(prediction_old, measured="fewer" if after[:, 0].max() < before[0] else "as many")
trained_numbers = sum(p.numel() for p in adapted[0].parameters() if p.requires_grad)
print(f"{trained_numbers} of {n_parameters(reader):,} numbers trained: {trained_numbers / n_parameters(reader):.1%}")
everything = [fine_tuned(reader, seed) for seed in range(3)]
beside = torch.tensor([[read_right(model, LANGUAGES[:4]), read_right(model, ["es"])] for model in everything])
fractions = {
    f"{how}, {which}": runs[:, i].tolist()
    for how, runs in {"LoRA": after, "all parameters": beside}.items()
    for i, which in enumerate(("old languages", "new language"))
}
pd.DataFrame(fractions).rename_axis("seed").round(2)

# %%
for block in adapted[0].blocks:
    block.self_attention.w_q.linear = block.self_attention.w_q.linear.linear
    block.self_attention.w_v = block.self_attention.w_v.linear
some = dates["fr"][0][:150]
print("LoRA taken out: the old model, exactly:", torch.equal(adapted[0](some), reader(some)))

# %% [markdown]
# LoRA trains less than 2 % of the parameters. In 300 steps it reads fewer of the new dates than a model with all
# parameters trained, each at its best rate: 0.08 to 0.33 fewer on average, in ten runs of this lesson. Either way, the
# model forgets most of the old dates. But if you remove LoRA, you have the old model back, so one frozen model can
# serve many such *adapters*. Today, people put adapters on all linear layers (see the fold), and so does lesson 14.
#
# <details><summary>Other rates, all linear layers, four layers; and what does an adapter cost?</summary>
#
# 300 steps with three seeds each:
#
# | | rate | new dates read | old dates read |
# |---|--:|---|---|
# | all parameters | 0.0007 | 0.79 to 0.81 | 0.21 to 0.22 |
# | | 0.002 | 0.89 to 0.93 | 0.01 to 0.06 |
# | | 0.006 | 0.91 to 0.96 | 0.00 to 0.01 |
# | | 0.02 | 0.71 to 0.85 | 0.00 to 0.01 |
# | LoRA on `w_q` and `w_v` | 0.006 | 0.43 to 0.60 | 0.01 to 0.12 |
# | | 0.02 | 0.59 to 0.61 | 0.07 to 0.10 |
# | | 0.06 | 0.52 to 0.65 | 0.02 to 0.07 |
# | LoRA on all linear layers | 0.006 | 0.72 to 0.79 | 0.09 to 0.13 |
# | | 0.01 | 0.83 to 0.87 | 0.04 to 0.12 |
# | | 0.02 | 0.81 to 0.87 | 0.01 to 0.13 |
# | four layers: all parameters | 0.002 | 1.00 | 0.28 to 0.32 |
# | four layers: LoRA on `w_q` and `w_v` | 0.02 | 0.95 to 0.97 | 0.15 to 0.26 |
#
# After 900 steps, LoRA on `w_q` and `w_v` reads 0.75 to 0.84 of the new dates (rate 0.02), and all parameters 0.98 to
# 0.99. So here LoRA learns more slowly, above all with few adapters. An adapter costs no extra time at inference once
# you add it to the matrix. *QLoRA* ([Dettmers et al., 2023](https://arxiv.org/abs/2305.14314)) keeps the frozen model
# in 4 bits.
# </details>

# %% [markdown]
# ## Your experiment
#
# Ungraded, about 15 minutes. Test a claim of your own the way this course tests its claims, or start with this one:
#
# **Claim.** One head of keys and values instead of two costs less than 0.02 nats.
#
# **Prediction.** Before you run anything, write down in how many of three runs the claim will hold.
#
# **Verdict.** Say in one sentence what you may now claim. A claim that fails is a result, too.

# %% id="experiment" tags=["experiment", "skip-execution"]
prediction = ...  # the number of runs, 0 to 3, in which the claim will hold
holds = []
for seed in range(3):
    two, one = (trained(configs["grouped queries"] | {"n_kv_heads": n}, seed)[1] for n in (2, 1))
    holds.append(...)  # True or False: for instance one < two + 0.02
print("predicted:", prediction, " measured:", holds)
# Verdict:

# %% [markdown]
# ## In short
#
# - RMSNorm leaves the mean alone, SwiGLU gates its hidden features, and grouped queries share keys and values to save
#   memory.
# - In our one block, RoPE lowered the loss most. Small differences need many seeds.
# - A loader can be wrong without an error: compare logits. (Lesson 12 hunts such bugs.)
# - With the right order of rows, a published model runs in your own parts.
# - ★ LoRA trains two small matrices next to each frozen one, and you can remove it again.
#
# The shape of 2017 is still there: attend, transform, add.

# %%
table = trace_shapes(own_llama(options, published, parts.pairs_from_halves), tokens[:2, :11])
table.drop(columns="class")[:16]

# %% [markdown]
# ## New words
#
# The words of all lessons are in the [glossary](glossary.ipynb).
#
# - **RMSNorm**: divides each vector by the root mean square of its features; no mean, no bias.
# - **gated linear unit**: a layer with two projections, of which one scales the other, feature by feature.
# - **SwiGLU**: the gated linear unit with SiLU at the gate.
# - **checkpoint layout**: names, shapes and order of rows of the tensors in a published model.
# - **low-rank adaptation**: training two small matrices, whose product is added to a frozen one; LoRA for short.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
#
# <details><summary>What is the difference between LayerNorm and RMSNorm?</summary>
#
# RMSNorm does not subtract the mean and has no bias; it only divides by the root mean square. LayerNorm turns a vector
# of equal numbers into zeros, RMSNorm into ones. RMSNorm is simpler, and in our runs no worse. (<i>RMSNorm</i>, <i>What
# does each change buy</i>)
# </details>
#
# <details><summary>Why is d_ff in Llama not 4 d_model?</summary>
#
# SwiGLU has three matrices instead of two, so two thirds of the width gives the same number of parameters: 8/3 d_model,
# then rounded, in Llama 1 and most of Llama 2. (Later models choose other widths: Llama 3 8B has 14,336, or 3.5
# d_model.) (<i>SwiGLU</i>)
# </details>
#
# <details><summary>What does grouped-query attention save, and what does it cost?</summary>
#
# It saves keys and values, and with them the cache's memory and the time to read it: with 32 query heads and 8 key
# heads, a quarter is left. It is not meant to lower the loss; with nine seeds it cost about 0.02 at our best rate.
# (<i>Saving memory: grouped-query attention</i>, <i>What does each change buy</i>)
# </details>
#
# <details><summary>You changed one part of a model, and the loss fell by 0.02. Is it better?</summary>
#
# First run both models with several seeds. With nine seeds, our SwiGLU gained 0.02, hardly more than its standard error
# (at a lower rate, 0.04 ± 0.01). With only three seeds each, chance alone separates two equal models in one case of
# ten. (<i>What does each change buy</i>)
# </details>
#
# <details><summary>You load Llama's weights into your own classes, with no error, and it generates nonsense.
# Why?</summary>
#
# Perhaps RoPE pairs different features: neighbors in one convention, the two halves of a head in the other. Permute the
# rows of w_q and w_k within each head, and compare the logits with those of a loader you trust. (<i>Published
# weights</i>)
# </details>
#
# <details><summary>What does LoRA train, and why does b start as zeros?</summary>
#
# It trains two small matrices next to a frozen one; their product is the change. With b = 0, training starts from the
# old model.
# (<i>★ Transfer</i>)
# </details>
#
# <details><summary>Does LoRA prevent forgetting?</summary>
#
# No. In larger models it "learns less and forgets less" than full fine-tuning ([Biderman et al.,
# 2024](https://arxiv.org/abs/2405.09673)); how much less depends on the rates. With our adapter in place, the model
# read most of the old dates wrong. But you can remove the adapter, and then you have the old model back. (<i>★
# Transfer</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Touvron et al. (2023), [arXiv:2302.13971](https://arxiv.org/abs/2302.13971), section 2.2: Llama's
#   block.
# - Narang et al. (2021), [arXiv:2102.11972](https://arxiv.org/abs/2102.11972): many changes, tested by one team; most
#   do not improve the model in a meaningful way. Among the exceptions: RMSNorm, and gated units such as SwiGLU.
# - `transformer_lab/pretrained/llama.py` and `tensor_layout.py`: layouts in the library.
#
# <details><summary>Where each part comes from</summary>
#
# RMSNorm: Zhang and Sennrich (2019), [arXiv:1910.07467](https://arxiv.org/abs/1910.07467). GLU: Dauphin et al. (2016),
# [arXiv:1612.08083](https://arxiv.org/abs/1612.08083); SwiGLU: Shazeer (2020),
# [arXiv:2002.05202](https://arxiv.org/abs/2002.05202). GQA: Ainslie et al. (2023),
# [arXiv:2305.13245](https://arxiv.org/abs/2305.13245). LoRA: Hu et al. (2021),
# [arXiv:2106.09685](https://arxiv.org/abs/2106.09685).
# </details>

# %% [markdown]
# How far did you get, and how well did you predict?

# %% id="tally"
tally()

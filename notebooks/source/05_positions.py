# %% [markdown] id="title"
# # 05 · Positional encoding: where attention gets its order from
#
# **The question.** "Dog bites man" and "man bites dog" hold the same words. How can a model know the position of each
# word, and how far apart two words are? And why can a model that is perfect on short texts fail on longer ones?
#
# **Afterwards you can** write the positional encoding of the Transformer, say what its waves know and what they do not,
# write two of the schemes that later models use instead, and say how each fails on texts longer than those in training.
#
# Reading: 39 minutes. Exercises: 60 minutes (four core, one stretch ★). With all predictions, runs and questions: about
# 125 minutes, with a good place to stop half-way.

# %% [markdown]
# ## Before you start
#
# Three questions from earlier lessons. Answer each one aloud, then open it.
#
# <details><summary>Lesson 01: what must stay together when a dictionary is shuffled?</summary>
#
# Each key and its value. Then the output does not change.
# </details>
#
# <details><summary>Lesson 03: which part of a word's vector does one head see?</summary>
#
# All of it. What is split among the heads are the projections of the whole vector.
# </details>
#
# <details><summary>Lesson 04: which triangle of the scores does a causal mask hide?</summary>
#
# The upper one: a query may not attend to keys that come after it.
# </details>
#
# The map below shows where we are: positions enter between the embedding and the first layer.

# %% id="imports"
import math

import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from transformer_course import check, compare, diagrams, hint, parts, plots, solution, tally, views
from transformer_lab import LanguageModel, LanguageModelConfig, record_attention, trace_shapes
from transformer_lab.attention.positions import LinearScaling

# %%
torch.manual_seed(5)
torch.set_printoptions(precision=3, sci_mode=False)

# %%
diagrams.architecture.you_are_here(5)

# %% [markdown]
# ## Attention without positions: who bites whom?
#
# Three words with random vectors, and self-attention over them: each word attends to all three.
#
# **Predict.** We turn "dog bites man" into "man bites dog". What is the output for the word `dog`: the `"same"` vector
# as before, or a `"different"` one?

# %% tags=["prediction"]
prediction = ...

# %%
vectors = {word: torch.randn(8) for word in ["dog", "bites", "man"]}


def attend(*words: str) -> dict[str, Tensor]:
    x = torch.stack([vectors[word] for word in words])
    return dict(zip(words, parts.scaled_dot_product_attention(x, x, x)))


one, other = attend("dog", "bites", "man"), attend("man", "bites", "dog")
same = {word: torch.allclose(one[word], other[word], atol=1e-6) for word in vectors}
compare(prediction, measured="same" if same["dog"] else "different")
print("same vector in both sentences:", same)

# %% [markdown]
# Each word gets the same vector as before. Only the order of the rows changes, with that of the words: attention is
# **permutation-equivariant**. A head cannot see who bites. So the order has to be put into the vectors themselves, or
# into the scores. This lesson tries both.

# %% [markdown]
# ## First idea: write the position into the vector
#
# Why not simply add the number of the position to every entry?

# %%
dog, man = torch.randn(2, 64)
for t in [0, 1, 5, 50]:
    print(f"position {t:2d}: cosine of two unrelated words {torch.cosine_similarity(dog + t, man + t, dim=0):5.2f}")

# %% [markdown]
# The number drowns the word: at position 50, two unrelated words look alike. We want numbers that stay small, however
# long the text. Binary notation writes large numbers with small digits:

# %%
digits = {t: [int(bit) for bit in f"{t:03b}"[::-1]] for t in range(8)}
pd.DataFrame(digits, index=["ones", "twos", "fours"]).rename_axis(columns="position")

# %% [markdown]
# Every row is a *wave* of zeros and ones, each half as fast as the one above it. Together they tell all positions
# apart, and no entry is ever above 1. The Transformer does the same with smooth waves: sines, from fast to slow, each
# beside a cosine of the same frequency.

# %% [markdown]
# ## The sinusoidal encoding
#
# Position $t$ gets a vector as wide as the word's, its **positional encoding**. Columns $2i$ and $2i + 1$ are pair $i$,
# with $i = 0, 1, 2, \dots$:
#
# $$\operatorname{PE}(t)_{2i} = \sin(t\,\theta_i), \quad \operatorname{PE}(t)_{2i+1} = \cos(t\,\theta_i),
# \quad \theta_i = \text{base}^{-2i/d_\text{model}}$$
#
# The **frequency** $\theta_i$ is the angle, in radians, by which pair $i$ turns per position. It is 1 for the first
# pair and gets smaller and smaller. The paper's base is 10000. The encoding, of shape (length, d_model), is added to
# the word vectors. (`pe[:, 0::2]` is every second column, from the first on. `torch.sin` and `torch.cos` take whole
# tensors.)
#
# **Exercise.** Write it.


# %% id="sinusoidal_encoding" tags=["exercise"]
def sinusoidal_encoding(length: int, d_model: int, base: float = 10000.0) -> Float[Tensor, "length d_model"]:
    """Return sin(t · base^(−2i/d_model)) at row t, column 2i, and the cosine of the same angle at column 2i + 1."""
    raise NotImplementedError


# %% id="check-sinusoidal_encoding"
check(sinusoidal_encoding)

# %%
ax = diagrams.positions.heat_map(parts.sinusoidal_encoding(60, 32))

# %% [markdown]
# Read the picture column by column: the waves are fast on the left and slow on the right, where the cosines (odd
# columns) stay near 1. Each row is the encoding of one position. A pair is the hand of a clock: its sine says how far
# right it points, its cosine how far up.

# %%
diagrams.positions.clocks([0, 1, 2, 3, 44], d_model=8)

# %% [markdown]
# The fast pair tells 0 from 1, but at position 44, after seven full turns, it is almost back where it was. The slow
# pairs hardly tell neighbors apart. Only all pairs together say which position it is. (Why 10000? The paper gives no
# reason. With it, the slowest pair takes nearly 2π · 10000 ≈ 62,832 positions for a turn.)

# %% [markdown]
# ## What the waves know
#
# The scores of attention are dot products. The dot product of two encodings, it is often said, depends only on how far
# apart their positions are.
#
# **Predict.** Take d_model = 512, and two positions that are 10 apart: once 0 and 10, once 1000 and 1010. Are the two
# dot products the `"same"` or `"different"`? And if we keep only the sines, without the cosines?

# %% tags=["prediction"]
prediction, prediction_sines = ..., ...

# %%
wide = parts.sinusoidal_encoding(1200, 512)
products = [(wide[start] @ wide[start + 10]).item() for start in (0, 300, 1000)]
sines = [(wide[start, ::2] @ wide[start + 10, ::2]).item() for start in (0, 300, 1000)]
compare(prediction, measured="same" if max(products) - min(products) < 0.1 else "different")
compare(prediction_sines, measured="same" if max(sines) - min(sines) < 0.1 else "different")
print("10 apart, starting at 0, 300, 1000:", [f"{value:.1f}" for value in products])
print("with the sines alone:", [f"{value:.0f}" for value in sines])

# %% [markdown]
# That claim holds, thanks to the cosines. With sines alone, the product depends on where we are; with both, only the
# **distance** counts, $\operatorname{PE}(m) \cdot \operatorname{PE}(n) = g(m - n)$. Points on a circle have this
# property: their dot product is the cosine of the angle between them. Each pair adds
#
# $$\sin a \sin b + \cos a \cos b = \cos(a - b), \quad a = m\,\theta_i,\; b = n\,\theta_i$$
#
# and all pairs together $\operatorname{PE}(m) \cdot \operatorname{PE}(n) = \sum_i \cos((m - n)\,\theta_i)$. The cosine
# of $b - a$ is that of $a - b$, so it does not matter which position comes first.
#
# <details><summary>And in complex numbers?</summary>
#
# As a complex number, a pair is $e^{-\mathrm{i} m \theta}$ times $\mathrm{i}$, as the sine comes first. The dot product
# is the real part of one times the conjugate of the other.
# </details>
#
# **Predict.** The dot product is 256 at distance 0. Does it fall at *every* step from distance 0 to 199, `"yes"` or
# `"no"`?

# %% tags=["prediction"]
prediction = ...

# %%
by_distance = wide[0] @ wide[:200].T
compare(prediction, measured="yes" if (by_distance.diff() < 0).all() else "no")
ax = plots.lines(range(200), {"d_model = 512": by_distance}, xlabel="distance", ylabel="dot product")
print({f"distance {k}": round(by_distance[k].item()) for k in (0, 1, 10, 50)})
print(f"steps at which it rises: {(by_distance.diff() > 0).sum()} of 199")

# %% [markdown]
# Near positions are alike, and far ones less so. But that is a trend, not a rule: at one step in four the curve rises,
# as the fastest pairs complete another turn.

# %% [markdown]
# ## A step is a rotation
#
# A step of $k$ positions turns every pair by $k\,\theta_i$. Recall the sine and cosine of a sum:
#
# $$\sin(a + b) = \sin a \cos b + \cos a \sin b, \qquad \cos(a + b) = \cos a \cos b - \sin a \sin b$$
#
# With $a = p\,\theta_i$ and $b = k\,\theta_i$, $\sin b$ and $\cos b$ are the same at every position $p$: they fill a 2
# × 2 block. With these blocks along its diagonal, and 0 elsewhere, one large matrix $R$ moves all pairs, with
# $\operatorname{PE}(p + k) = R\,\operatorname{PE}(p)$ at *every* position $p$. The offset $k$ may be negative, too: a
# step back.
#
# **Exercise.** Write the matrix, for the encoding above. (Work out the block of one pair on paper first.)


# %% id="shift_rotation" tags=["exercise"]
def shift_rotation(offset: int, d_model: int, base: float = 10000.0) -> Float[Tensor, "d_model d_model"]:
    """Return the matrix R with PE(p + offset) = R PE(p) at every position p, for PE as in ``sinusoidal_encoding``."""
    raise NotImplementedError


# %% id="check-shift_rotation"
check(shift_rotation)

# %%
three_on = parts.shift_rotation(3, 512)
error = (wide[:1000] @ three_on.T - wide[3:1003]).abs().max()
print(f"one matrix moves 1000 positions by 3, largest error: {error:.3f}")

# %% [markdown]
# This matters because a model can learn a matrix. The paper's authors hoped for just that: that the model would "easily
# learn to attend by relative positions". The next section tries it.
#
# ---
#
# **Half-way.** This is a good place to stop for today. The second half shows how learned projections change the
# encoding, what later models do instead, and how each scheme fails on longer texts.

# %% [markdown]
# ## What learned projections do to the distance
#
# A word $x_m$ at position $m$ now comes in as $x_m + p_m$, where $p_m$ is short for $\operatorname{PE}(m)$. For two
# inputs $a$ and $b$, here column vectors, query and key are $q = W_q a$ and $k = W_k b$, and their score is
# $q^\top k = a^\top W_q^\top W_k\, b$. With $H = W_q^\top W_k$, the score of two positions is a sum of four terms:
#
# $$(x_m + p_m)^\top H\,(x_n + p_n) = x_m^\top H x_n + x_m^\top H p_n + p_m^\top H x_n + p_m^\top H p_n$$
#
# The terms compare word with word, word with position, position with word, and position with position. Only the last
# holds both positions: it has to carry everything that the score knows about the distance.
#
# **Predict.** Let $H$ be `three_on`, the rotation by 3. From the query at position 50, which key has the highest
# $p_m^\top H\,p_n$: the key at 47, 50 or 53?

# %% tags=["prediction"]
prediction = ...

# %%
p, few = wide[:200], three_on.clone()
few[64:] = 0  # keeps the 32 fastest of the 256 pairs
kinds = {"the identity": torch.eye(512), "random": torch.randn(512, 512) / 512**0.5, "rotation": three_on}
kinds["rotation, 32 pairs"] = few
compare(prediction, measured=int((p[50] @ three_on @ p.T).argmax()))
rows = {}
for name, h in kinds.items():
    scores = p @ h @ p.T  # row m, column n
    ten_back, best = scores.diagonal(-10), scores.argmax(dim=-1)
    three_back = (best[3:] == torch.arange(197)).float().mean().item()
    rows[name] = [round(ten_back.mean().item()), round(ten_back.std().item()), f"{three_back:.2f}"]
columns = ["10 back: mean", "10 back: spread", "best key is 3 back"]
pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("H")

# %% [markdown]
# With the rotation, the score is $p_m^\top R\,p_n = p_m \cdot p_{n+3}$, which is largest for $n = m - 3$. So a model
# with sinusoids *can* learn to attend a fixed number of positions back. A head of width 64 cannot hold all of $R$,
# since its $H$ has at most rank 64 (lesson 03). It need not: 32 pairs are enough. But a random $H$ destroys the
# distance: the scores of positions 10 apart now spread widely. The model has to *learn* an $H$ that keeps the distance.
#
# <details><summary>And if H is diagonal?</summary>
#
# For one pair with the entries $a$ and $b$, the score is $a \sin m\theta \sin n\theta + b \cos m\theta \cos n\theta =
# \frac{a+b}{2} \cos((m-n)\theta) + \frac{b-a}{2} \cos((m+n)\theta)$. Only for $a = b$ does the distance alone decide.
# </details>
#
# <details><summary>Why is the encoding added to the word, and not concatenated with it?</summary>
#
# A projection of the concatenated vector is $W_1 x + W_2 p$: one matrix for words, another for positions. Adding is the
# special case in which both matrices are the same. It takes no extra width and no further parameters.
# </details>

# %% [markdown]
# ## RoPE: rotate the queries and keys instead
#
# **Rotary position embedding** (**RoPE**; Su et al., 2021) keeps the waves and moves them to a better place: *after*
# the projections. Llama and Qwen use it. Each query and key is cut into pairs of neighboring features, and each pair
# $(a, b)$ is rotated by an angle $\varphi$ proportional to its position $t$:
#
# $$(a, b) \;\to\; (a \cos \varphi - b \sin \varphi,\; a \sin \varphi + b \cos \varphi), \quad \varphi = t\,\theta_i$$
#
# In $\theta_i$, the width d of a head's query takes the place of d_model. Nothing is added to the input. (The last
# exercise has the minus in the other row, as its pairs begin with the sine. Many libraries pair feature $i$ with
# $i + d/2$ instead: lesson 11.)
#
# **Exercise.** Write it, for any leading axes. Row j of `x` is at position `positions[j]`, which need not be j.


# %% id="apply_rotary" tags=["exercise"]
def apply_rotary(
    x: Float[Tensor, "*batch n d"], positions: Int[Tensor, " n"], base: float = 10000.0
) -> Float[Tensor, "*batch n d"]:
    """Return x with pair i of each vector, features 2i and 2i + 1, rotated by its position times base^(−2i/d)."""
    raise NotImplementedError


# %% id="check-apply_rotary"
check(apply_rotary)

# %%
q, k = torch.randn(2, 5, 64)
here, there = torch.arange(5), torch.arange(100, 105)
scores, moved = (parts.apply_rotary(q, at) @ parts.apply_rotary(k, at).T for at in (here, there))
print(f"largest change of a score due to RoPE: {(scores - q @ k.T).abs().max():.1f}")
print(f"largest change if all positions move by 100: {(scores - moved).abs().max():.3f}")
print("lengths of the queries unchanged:", torch.allclose(parts.apply_rotary(q, there).norm(dim=-1), q.norm(dim=-1)))
diagrams.positions.rotary_hands([(2, 0), (7, 5)])

# %% [markdown]
# The picture shows a fast pair and a slow pair of a query and a key. When both positions move by 5, both vectors turn
# further, but the shaded angle stays the same. If a query is rotated by $m\theta$ and a key by $n\theta$, the angle
# *between* them changes by $(m - n)\theta$. So the score depends on the positions only through the offset $m - n$, for
# *any* queries and keys, whatever the projections learn. Values are not rotated: positions decide where to attend, not
# what the values say.
#
# **Predict.** Take the first pair alone, $\theta = 1$, and let query and key be the same vector. Which of the distances
# 1 to 10 has the highest score?

# %% tags=["prediction"]
prediction = ...

# %%
pair = parts.apply_rotary(torch.tensor([[1.0, 0.0]]).expand(11, 2), torch.arange(11))
by_offset = pair @ pair[0]
compare(prediction, measured=1 + int(by_offset[1:].argmax()))
print({distance: f"{by_offset[distance]:.2f}" for distance in (1, 3, 6, 10)})

# %% [markdown]
# The highest score is at 6, after nearly a full turn of $2\pi \approx 6.28$. This will matter on long texts.
#
# Here are all the pairs of a query and a key of width 8, or of two encodings (choose the scheme). Move both with the
# buttons: every pair turns, and the dot product stays. Move the key along the curve: where is the dot product nearly as
# large as at the query's own position? Raise the base: which pairs slow down, and what becomes of the curve?

# %%
views.PositionClock(8, 64, scheme="rotary", query_position=50, key_position=48)

# %% [markdown]
# ## ALiBi: lower the scores by distance
#
# **ALiBi** (attention with linear biases; Press et al., 2022) is simpler still: each score is lowered in proportion to
# the distance, with a different slope in each head. Head $h = 1, \dots, n_\text{heads}$ adds
#
# $$-2^{-8h/n_\text{heads}} \cdot |m - n|$$
#
# to the score of a query at $m$ and a key at $n$, after the division by $\sqrt{d_k}$. (If the number of heads is not a
# power of 2, the authors' code uses another rule.) Whether a key ahead may be attended to is up to the mask.
#
# **Exercise.** Write the bias. Where there are fewer queries than keys, the queries are the last ones: the last query
# and the last key have the same position. (A model that generates runs one query at a time, the newest.)


# %% id="alibi_bias" tags=["exercise"]
def alibi_bias(n_heads: int, n_query: int, n_key: int) -> Float[Tensor, "n_heads n_query n_key"]:
    """Return −slope · distance; the slope of head h = 1, 2, … is 2^(−8h/n_heads); the last query is at the last key."""
    raise NotImplementedError


# %% id="check-alibi_bias"
check(alibi_bias)

# %%
bias = parts.alibi_bias(4, 1, 40)[:, 0]  # the newest query, 40 keys that would all score the same
weights = parts.softmax(bias)
heads = {f"head {h + 1}": weights[h].flip(0) for h in range(4)}
ax = plots.lines(range(40), heads, xlabel="distance to the key", ylabel="weight")
print("weight on the nearest 10 keys:", [round(w, 2) for w in weights[:, -10:].sum(dim=1).tolist()])

# %% [markdown]
# The first head attends mostly to what is near, the last nearly evenly to everything. Nothing here is learned: that
# near tokens matter more is built in, as an **inductive bias**.

# %% [markdown]
# ## Which scheme extrapolates to longer texts?
#
# A fourth scheme is the simplest: **learned positions**. A matrix with a row for every position is a parameter like any
# other, and its rows are added like the sinusoids, as in GPT-2. The paper found "nearly identical results" with both
# (table 3), and chose sinusoids because they "may allow the model to extrapolate to sequence lengths longer than the
# ones encountered during training". Do they? The picture shows where each scheme enters.

# %%
diagrams.positions.schemes()

# %% [markdown]
# The task: at each position of a random text, name the token *two positions before*. We train small causal models on
# texts of length 16, and test them on texts of length 64.


# %% tags=["hide-input"]
def train(model: torch.nn.Module, answers, bos: bool = False, rate: float = 1e-2, steps: int = 200) -> Tensor:
    """Train on random texts of 16 tokens; return the accuracy at each position of texts as long as the model takes."""

    def texts(n: int, length: int) -> Tensor:
        tokens = torch.randint(16, (n, length))
        return F.pad(tokens, (1, 0), value=16) if bos else tokens  # 16 is <bos>

    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, fused=True)  # Adam with weight decay
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = rate * (1 - step / steps)  # the learning rate falls to 0
        tokens = texts(32, 16)
        loss = F.cross_entropy(model(tokens).flatten(0, 1), answers(tokens).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    tokens = texts(200, model.config.max_length - bos)
    with torch.no_grad():
        return (model(tokens).argmax(dim=-1) == answers(tokens)).float().mean(dim=0)


# %%
def two_before(tokens: Tensor) -> Tensor:
    """Return the right answers; −100 tells the loss to skip the first two positions, which have none."""
    return F.pad(tokens, (2, 0), value=-100)[:, :-2]


def trained(scheme: str, seed: int, base: float = 10000.0) -> tuple[LanguageModel, Tensor]:
    """Return a trained model with this scheme, and its accuracy at each position; lesson 06 explains the sizes."""
    torch.manual_seed(seed)
    shape = {"d_model": 32, "n_heads": 4, "d_ff": 64, "n_layers": 1, "dropout": 0.0, "max_length": 64}
    model = LanguageModel(LanguageModelConfig(16, positions=scheme, rotary_base=base, tie_embeddings=False, **shape))
    return model, train(model, two_before)


# %% [markdown]
# **Predict.** Which scheme is still right on texts *twice* as long as in training: `"sinusoidal"`, `"learned"`,
# `"rotary"` or `"alibi"`? (Twelve models: about 10 seconds.)

# %% tags=["prediction"]
prediction = ...

# %% tags=["approximate"]
runs = {}
for scheme in ["sinusoidal", "learned", "rotary", "alibi"]:
    runs[scheme] = [trained(scheme, seed) for seed in range(3)]
    print(scheme, "trained")
accuracy = {scheme: torch.stack([a for _, a in of_scheme]) for scheme, of_scheme in runs.items()}  # (3, 64) each
curves = {name: a[:, 2:] for name, a in accuracy.items()}
ax = plots.lines(range(2, 64), curves, xlabel="position", ylabel="accuracy", legend_beside=True)
ax.axvline(15.5, color="gray", linewidth=1)
compare(prediction, measured=max(accuracy, key=lambda scheme: accuracy[scheme][:, 16:32].mean()))

# %%
stretches = {"2 to 15 (trained)": (2, 16), "16 to 31": (16, 32), "32 to 63": (32, 64)}
means = {s: {at: a[:, i:j].mean(dim=1) for at, (i, j) in stretches.items()} for s, a in accuracy.items()}  # (3,) each
above = pd.DataFrame(means).T.map(lambda three: bool((three > 0.9).all()))
above.rename_axis(columns="accuracy above 0.9 in all three runs, at positions")

# %% tags=["approximate"]
pd.DataFrame(means).T.map(lambda three: round(three.mean().item(), 2))

# %% [markdown]
# To the right of the gray line the models have to **extrapolate**. Sinusoids and learned positions fail at once, though
# both were perfect before the line. The paper's hope fails here: the sinusoids exist at position 20, but the model has
# never met them. (A learned row there was never trained at all.) RoPE is right on texts twice as long. Well before four
# times the length it fails too. What do its heads attend to? (The logarithm of a weight is its score, up to a constant
# for the row.)

# %% tags=["approximate"]
model = runs["rotary"][0][0]
with record_attention(model) as recorded, torch.no_grad():
    model(torch.randint(16, (200, 64)))
[weights] = recorded.values()
back = weights[:, :, -1].clamp_min(1e-38).log().mean(dim=0).flip(-1)  # (4, 64): of the last query, by distance
curve = {"head 2": back[2] - back[2, 2]}
ax = plots.lines(range(64), curve, xlabel="distance to the key", ylabel="score, minus that at distance 2")
ax.set_ylim(-60, 30)
ax.axvline(15.5, color="gray", linewidth=1)
best = {length: back[:, :length].argmax(dim=-1).tolist() for length in (16, 64)}
print("best distance for heads 0 to 3, among the first 16:", best[16], " among all 64:", best[64])

# %% [markdown]
# A head here is 8 wide: four pairs, which turn by 1, 0.1, 0.01 and 0.001 per position. The peaks, one every 6.3
# positions, are full turns of the fastest pair. In texts of 16, left of the gray line, the peak at distance 2 is the
# highest, because the second pair lowers the peaks that follow. Further back, the second pair completes its own turn
# and raises them again. At 40 and more, wrong keys win. No training text had keys that far back.

# %% [markdown]
# **ALiBi** falls most gently but never solved this task, not even at the trained length: a distance penalty can express
# "near", not "exactly two back". On language, where near tokens matter most, Press et al. (2022) found it to
# extrapolate better than sinusoids and RoPE.

# %% [markdown]
# ### How large a base?
#
# With a larger base, all pairs but the first turn more slowly. Llama 3 has a base of 500,000.
#
# **Predict.** With which base is the model right at positions 32 to 63, in all three runs: 1e4, 1e6 or 1e9? (Six more
# models: about 15 seconds.)

# %% id="raise-the-base-2" tags=["prediction"]
prediction = ...

# %% id="raise-the-base-3"
far_accuracy = {1e4: accuracy["rotary"][:, 32:].mean(dim=1)}
for base in (1e6, 1e9):
    far_accuracy[base] = torch.stack([trained("rotary", seed, base)[1][32:].mean() for seed in range(3)])
compare(prediction, measured=max(far_accuracy, key=lambda base: far_accuracy[base].min()))
rows = {f"{base:.0e}": [bool((a > 0.9).all()), f"{6.3 * base**-0.25:.2f}"] for base, a in far_accuracy.items()}
columns = ["right at positions 32 to 63, in all runs", "angle of the second pair after a turn of the first"]
pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("base")

# %% id="raise-the-base-4" tags=["approximate"]
pd.DataFrame(
    {f"{base:.0e}": [f"{x:.2f}" for x in a.tolist()] for base, a in far_accuracy.items()},
    index=["run 0", "run 1", "run 2"],
)

# %% [markdown]
# With 1e6, the second pair turns slowly enough for 64 positions, and the model is right. With 1e9 that pair hardly
# moves while the first makes a full turn, so distances 2 and 8 look almost alike. The base has to match the context
# length.

# %% [markdown]
# ## Is a causal model blind to order?
#
# A causal mask shows each position one token more than the position before. The task now: at each position, say *which
# position it is*. The models are causal and have no positional encoding (**NoPE**). They read random texts of 16
# tokens, without or with a `<bos>` in front.
#
# **Predict.** What is the accuracy of each kind? (A guess is right 0.06 of the time. Six models: a quarter of a
# minute.)

# %% tags=["prediction"]
prediction_without, prediction_with_bos = ..., ...


# %%
def which_position(tokens: Tensor) -> Tensor:
    """Return the right answers: 0, 1, 2, … in every text."""
    return torch.arange(tokens.shape[1]).expand(tokens.shape)


def counter(bos: bool, seed: int) -> tuple[LanguageModel, Tensor]:
    """Return a causal model without positions, trained to name each position, and its accuracy."""
    torch.manual_seed(seed)
    shape = {"d_model": 32, "n_heads": 4, "d_ff": 64, "n_layers": 2, "dropout": 0.0, "max_length": 16 + bos}
    model = LanguageModel(LanguageModelConfig(17, positions="none", tie_embeddings=False, **shape))
    return model, train(model, which_position, bos=bos, rate=5e-3)


# %% tags=["approximate"]
counters = {bos: [counter(bos, seed) for seed in range(3)] for bos in (False, True)}
right = {bos: torch.stack([a for _, a in of_kind]) for bos, of_kind in counters.items()}
curves = {"without bos": right[False], "with bos": right[True][:, 1:]}
ax = plots.lines(range(16), curves, xlabel="position", ylabel="accuracy", legend_beside=True)
print("mean accuracy above 0.9 in every run:", {bos: bool((a.mean(dim=1) > 0.9).all()) for bos, a in right.items()})
with torch.no_grad():
    said = counters[False][0][0](torch.full((1, 16), 3)).argmax(dim=-1)
print("without bos, one token 16 times:", said.unique().tolist())

# %% tags=["approximate"]
compare(prediction_without, measured=round(right[False].mean().item(), 1))
compare(prediction_with_bos, measured=round(right[True].mean().item(), 1))
with torch.no_grad():
    said = counters[True][0][0](F.pad(torch.full((1, 16), 3), (1, 0), value=16)).argmax(dim=-1)
    lost = counters[False][0][0](torch.randint(16, (1000, 16)))[:, 12:15].argmax(dim=-1)
print("with bos, then one token 16 times:", said[0].tolist())
print(f"without bos, positions 12 to 14 are called 15 in {(lost == 15).float().mean():.1f} of the cases")

# %% [markdown]
# Without `<bos>`, the model is better than a guess, since an average of more random tokens varies less, which hints at
# their number. But the further it reads, the less it knows. It cannot count: an average of equal vectors is the same
# for any number of them. With `<bos>` it can: a head that attends evenly gives `<bos>` the weight 1/t at the t-th
# position. So a causal model can know the position without being told (Haviv et al., 2022).

# %% [markdown]
# ## Bug hunt
#
# A colleague saves memory: her angles have 16 bits (`bfloat16`, which keeps about three digits). Her code runs, the
# shape is right, and every vector keeps its length. Decide what is wrong, and in which texts it shows, *before* you run
# the check. Then put a corrected version, `mended`, into the cell after it.


# %% tags=["bug-hunt"]
def rotary_of_a_colleague(x, positions, base=10000.0):
    d = x.shape[-1]
    frequencies = base ** (-torch.arange(0, d, 2) / d)
    angles = (positions[:, None] * frequencies).bfloat16().float()
    first, second = x[..., 0::2], x[..., 1::2]
    turned = first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()
    return torch.stack(turned, dim=-1).flatten(-2)


# %% id="mend-rotary"
mended = rotary_of_a_colleague

# %% id="check-mend-rotary"
check(mended, "apply_rotary", save=False)

# %% [markdown]
# <details><summary>How to find such a bug without a check</summary>
#
# Test what RoPE promises: moving all positions changes no score. Move them far, as the cell below does. An angle of 1.5
# is kept to within 0.004, but one of 1,000 only to within 2, a third of a turn. So short texts show next to nothing,
# and in long ones neighbors get the same angle. This bug was found in several libraries, for instance in
# [gpt-neox 1003](https://github.com/EleutherAI/gpt-neox/issues/1003) and
# [transformers 29285](https://github.com/huggingface/transformers/pull/29285): they compute the angles in float32 now,
# whatever the model's own precision.
# </details>

# %%
for name, rotate in {"the colleague's": rotary_of_a_colleague, "yours or the library's": parts.apply_rotary}.items():
    scores = [rotate(q, here + by) @ rotate(k, here + by).T for by in (0, 10, 1000)]
    moved = [f"{(score - scores[0]).abs().max():.1f}" for score in scores[1:]]
    print(f"{name}: largest change of a score if all positions move by 10: {moved[0]}, by 1,000: {moved[1]}")

# %% [markdown]
# ## Interpolation and YaRN: longer texts for a trained model
#
# Can a model that was trained on 16 tokens be changed *afterwards*, so that it reads 64? Two ways change the
# frequencies:
#
# - **Position interpolation** divides all of them by 4. So position 60 looks like 15, and no angle is larger than in
#   training.
# - **YaRN** asks of each pair how far it turned within 16 tokens. A pair that completed a turn has met every angle,
#   and keeps its frequency; the others have theirs divided by 4. (The full recipe blends the two, and sharpens the
#   softmax.)
#
# **Predict.** Our RoPE models (base 1e4) get new frequencies, and no training. With which of the two are they right
# at positions 32 to 63: `"interpolation"`, `"YaRN"`, `"both"` or `"neither"`?

# %% tags=["prediction"]
prediction = ...


# %%
class Yarn(LinearScaling):
    """YaRN. LinearScaling itself is interpolation: it returns ``frequencies / self.factor``."""

    def scale(self, frequencies: Tensor) -> Tensor:
        turns = 16 * frequencies / (2 * math.pi)  # within the trained length
        return torch.where(turns >= 1, frequencies, frequencies / self.factor)


def accuracy_with(scaling: LinearScaling | None, model: LanguageModel, texts: Tensor) -> Tensor:
    """Return the accuracy at each position of a trained model whose frequencies are changed, and change them back."""
    as_trained = model.config
    model.config = LanguageModelConfig(**{**vars(as_trained), "rotary_scaling": scaling})
    with torch.no_grad():
        right = model(texts).argmax(dim=-1) == two_before(texts)
    model.config = as_trained
    return right.float().mean(dim=0)


# %%
texts = torch.randint(16, (200, 64), generator=torch.Generator().manual_seed(5))
ways = {"as trained": None, "interpolation": LinearScaling(4.0), "YaRN": Yarn(4.0)}
changed = {}  # (3, 64) each
for way, scaling in ways.items():
    changed[way] = torch.stack([accuracy_with(scaling, model, texts) for model, _ in runs["rotary"]])
works = [way for way in ("interpolation", "YaRN") if (changed[way][:, 32:].mean(dim=1) > 0.9).all()]
compare(prediction, measured={0: "neither", 2: "both"}.get(len(works)) or works[0])
means = {way: {at: a[:, i:j].mean(dim=1) for at, (i, j) in stretches.items()} for way, a in changed.items()}
above = pd.DataFrame(means).T.map(lambda three: bool((three > 0.9).all()))
above.rename_axis(columns="accuracy above 0.9 in all three runs, at positions")

# %% tags=["approximate"]
turns = 16 * 1e4 ** -torch.arange(0, 1, 0.25) / (2 * math.pi)  # a head is 8 wide: four pairs
print("turns of each pair in 16 positions:", [f"{x:.2g}" for x in turns.tolist()])
pd.DataFrame(means).T.map(lambda three: round(three.mean().item(), 2))

# %% [markdown]
# YaRN makes the trained models right at four times their length. Interpolation fails even on texts of 16: the fastest
# pair, which told distance 2 from 1 and 3, now turns a quarter as far. (Chen et al., below, therefore train a little
# longer after it.)

# %% [markdown]
# ## ★ Transfer: relative position bias, a learned number for every distance
#
# The model T5 (Raffel et al., 2020) adds to each score a number that it *learns*, by head and by offset from query to
# key: a **relative position bias** (in T5, far offsets share theirs, in buckets). Offset −2 means a key two positions
# *before* the query. `table[h]` holds the numbers for the offsets −reach … reach, and is 2 · reach + 1 long. Offsets
# further out take the last entry on their side. As in `alibi_bias`, the queries are the last ones. Write the lookup.


# %% id="relative_bias" tags=["exercise"]
def relative_bias(
    table: Float[Tensor, "n_heads n_offsets"], n_query: int, n_key: int
) -> Float[Tensor, "n_heads n_query n_key"]:
    """Return each head's bias for the offset from query to key; offsets beyond the table take the nearest entry."""
    raise NotImplementedError


# %% id="check-relative_bias"
check(relative_bias)

# %% [markdown]
# With it, a head *can* say "exactly two back": one large entry in the right column. (Queries 0 and 1 have no such key.)

# %%
table = torch.zeros(1, 9)
table[0, 4 - 2] = 10.0  # offset −2
weights = parts.softmax(parts.relative_bias(table, 6, 6))[0]
ax = plots.weights(weights)
print("weight two positions back, from position 5:", round(weights[5, 3].item(), 2))

# %% [markdown]
# ## Your experiment
#
# Ungraded, about 20 minutes. Test a claim of your own as this lesson tests its claims, or begin with this one:
#
# **Claim.** A base of 1e5 is large enough for four times the length: RoPE is then right at over 95 % of the positions
# 32 to 63.
#
# **Prediction.** Before you run anything, write down in how many of three runs the claim will hold.
#
# **Verdict.** Say in one sentence what the runs show. A claim that fails is a result, too.

# %% id="experiment" tags=["experiment", "skip-execution"]
prediction = ...  # in how many of the three runs will the claim hold?
holds = []
for seed in range(3):
    torch.manual_seed(seed)
    far = trained("rotary", seed, base=1e5)[1][32:].mean()
    holds.append(...)  # True or False
print("predicted:", prediction, " measured:", holds)
# Verdict:

# %% [markdown]
# ## In short
#
# - Attention is permutation-equivariant: shuffle the inputs, and the outputs are shuffled. Order has to be put in.
# - Sinusoids: pairs of sine and cosine, from fast to slow. Their dot products depend on the distance only, and tend to
#   fall with it; a step is a rotation. Learned projections need not keep any of this.
# - RoPE rotates queries and keys after the projections. Scores then depend on positions only through the offset
#   $m - n$, whatever is learned.
# - ALiBi lowers scores by distance; learned positions are rows of a matrix. Each scheme fails in its own way on long
#   texts; a larger base helps RoPE, up to a point, and YaRN a model that is trained already.
# - A causal model with a `<bos>` can count its positions without any encoding.

# %%
tokens = torch.randint(16, (2, 16))
rotary = LanguageModelConfig(16, d_model=32, n_heads=4, d_ff=64, n_layers=1, max_length=64, positions="rotary")
trace_shapes(LanguageModel(rotary), tokens)

# %% [markdown]
# The positions are not in the table: RoPE has no parameters and no module; it rotates the outputs of `w_q` and `w_k`.
# (`GroupedQueryAttention` is a kind of multi-head attention; lesson 06 explains the rest.)

# %% [markdown]
# ## New words
#
# The words of all lessons are in the [glossary](glossary.ipynb).
#
# - **positional encoding**: a vector for each position, added to the embedding of the token there.
# - **frequency**: the angle, in radians, by which a pair of features turns from one position to the next.
# - **RoPE**: rotary position embedding, which rotates queries and keys by angles proportional to their positions.
# - **ALiBi**: attention with linear biases, which lowers each score in proportion to the distance.
# - **learned positions**: a matrix of parameters with a row for each position.
# - **extrapolate**: work on inputs outside the range of training, here on longer texts.
# - **NoPE**: no positional encoding; the model is given no positions at all.
# - **position interpolation**: dividing all of RoPE's frequencies, so that a longer text fits into the trained angles.
# - **YaRN**: dividing only those frequencies of RoPE whose pairs completed no turn within the trained length.
# - **relative position bias**: a learned number for each offset from query to key, added to the score.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
#
# <details><summary>Why does a Transformer need positional encodings?</summary>
#
# Self-attention, and layers that take each position alone, treat a text as a set: shuffle the words, and the outputs
# are shuffled the same way. With neither a causal mask nor positions, word order cannot matter. (<i>Attention without
# positions</i>)
# </details>
#
# <details><summary>Why sine and cosine, and not sines alone?</summary>
#
# With both, the dot product of two positions is a sum of cosines of distances, and a step is a rotation of each pair.
# A sine alone has neither: its dot product changes from position to position. (<i>What the waves know</i>, <i>A step
# is a rotation</i>)
# </details>
#
# <details><summary>Why many frequencies?</summary>
#
# A fast wave tells neighbors apart but repeats after some positions; a slow one tells far positions apart but not
# neighbors. Together they tell all positions apart, as the hands of a clock do. (<i>The sinusoidal encoding</i>)
# </details>
#
# <details><summary>Does the dot product of two encodings fall steadily with distance?</summary>
#
# No. It falls as a trend and rises again many times on its way. And the model sees it through learned projections,
# which can change it altogether. (<i>What the waves know</i>, <i>What learned projections do</i>)
# </details>
#
# <details><summary>Sinusoidal or learned positions: which is better?</summary>
#
# The paper found them nearly identical, and took sinusoids in the hope that they extrapolate. In our task both were
# perfect up to the trained length, and both failed right after it. (<i>Which scheme extrapolates to longer texts?</i>)
# </details>

# %% [markdown]
# <details><summary>What does RoPE do, and what is its advantage over adding sinusoids?</summary>
#
# It rotates queries and keys by angles proportional to their positions, after the projections. Scores then depend on
# positions only through the offset from query to key, whatever the projections are. Values are not rotated.
# (<i>RoPE</i>)
# </details>
#
# <details><summary>How do the schemes behave on texts longer than those of training?</summary>
#
# Learned positions have rows that were never trained, or none at all. Sinusoids exist, but the model has not met them.
# In our task RoPE held to twice the length and failed before four times. ALiBi fell most gently, but could only prefer
# what is near. (<i>Which scheme extrapolates to longer texts?</i>)
# </details>
#
# <details><summary>How do you make a RoPE model reach further?</summary>
#
# Lower the frequencies of its slow pairs, so that none of them gets to angles that it has not met: train with a larger
# base (1e4 failed at four times the length, 1e6 did not, 1e9 failed again), or change a trained model by YaRN, which
# leaves the fast pairs alone. Position interpolation slows these, too, and has to be trained for: without that, ours
# failed at every length. (<i>How large a base?</i>, <i>Interpolation and YaRN</i>)
# </details>
#
# <details><summary>Is a decoder without positional encoding order-blind?</summary>
#
# No. With a `<bos>` in front, a head that attends evenly gives it the weight 1/t, from which the model can count: ours
# named nearly all positions. (<i>Is a causal model blind to order?</i>)
# </details>
#
# <details><summary>Are encodings added or concatenated, and what does adding cost?</summary>
#
# Added in the paper. A projection of the concatenated vector is $W_1 x + W_2 p$; adding is the case $W_1 = W_2$: no
# extra width, but one matrix for both. Multiplied out, the score has terms for word and word, word and position,
# position and word, position and position, and the learned H can weigh them. (<i>What learned projections do</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Vaswani et al. (2017), [arXiv:1706.03762](https://arxiv.org/abs/1706.03762), section 3.5; Su et al. (2021),
#   [arXiv:2104.09864](https://arxiv.org/abs/2104.09864), sections 3.2 and 3.4.2, on RoPE; Press et al. (2022),
#   [arXiv:2108.12409](https://arxiv.org/abs/2108.12409), section 3, on ALiBi; Raffel et al. (2020),
#   [arXiv:1910.10683](https://arxiv.org/abs/1910.10683), section 2.1, on T5's.
# - Haviv et al. (2022), [arXiv:2203.16634](https://arxiv.org/abs/2203.16634), and Kazemnejad et al. (2023),
#   [arXiv:2305.19466](https://arxiv.org/abs/2305.19466): causal models without positions.
# - Longer texts: Chen et al. (2023), [arXiv:2306.15595](https://arxiv.org/abs/2306.15595), position interpolation;
#   Peng et al. (2023), [arXiv:2309.00071](https://arxiv.org/abs/2309.00071), YaRN; the Llama 3 report (2024),
#   [arXiv:2407.21783](https://arxiv.org/abs/2407.21783), on its base.
# - `transformer_lab/attention/positions.py`: the library's versions.

# %% [markdown]
# How far did you get, and how well did you predict?

# %% id="tally"
tally()

# %% [markdown] id="title"
# # 05 · Positional encoding: where attention gets its order from
#
# **The question.** "Dog bites man" and "man bites dog" contain the same words. How can a model know where each word is,
# and how far apart two words are? And why can a model that is perfect on short texts fail on longer ones?
#
# **Afterwards you can** write the positional encoding of the Transformer and explain what it says about distance, write
# the two schemes that replaced it, RoPE and ALiBi, and say what decides whether a model still works on texts longer
# than its training texts.
#
# Reading: 39 minutes. Exercises: 35 minutes (three core; two stretch ★ take 25 more). With all predictions, runs and
# questions: about 105 minutes, with a good place to stop half-way.

# %% [markdown]
# ## Before you start
#
# One question each on dictionaries, heads and masks. Answer aloud, then open.
#
# <details><summary>Lesson 01: what has to stay together when you shuffle a dictionary?</summary>
#
# Each key and its value. Then the output does not change.
# </details>
#
# <details><summary>Lesson 03: which part of a word's vector does one head see?</summary>
#
# All of it. The heads split the projections of the vector, not the vector itself.
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
from transformer_course.stored_models.stored_model import FOLDER
from transformer_lab import LanguageModel, LanguageModelConfig, record_attention, trace_shapes
from transformer_lab.attention.positions import LinearScaling, Llama3Scaling
from transformer_lab.pretrained.hub import read_json

# %%
torch.manual_seed(5)
torch.set_printoptions(precision=3, sci_mode=False)

# %%
diagrams.architecture.you_are_here(5)

# %% [markdown]
# ## Attention without positions: who bites whom?
#
# We give three words random vectors and apply self-attention. Each word attends to all three.
#
# **Predict.** We turn "dog bites man" into "man bites dog". Does the output for the word `dog` stay the `"same"`, or is
# it `"different"`?

# %% tags=["prediction"]
prediction = ...

# %%
vectors = {word: torch.randn(8) for word in ["dog", "bites", "man"]}


def attend(*words: str) -> dict[str, Tensor]:
    x = torch.stack([vectors[word] for word in words])
    return dict(zip(words, parts.scaled_dot_product_attention(x, x, x)))


one, other = attend("dog", "bites", "man"), attend("man", "bites", "dog")
changes = {word: (one[word] - other[word]).abs().max().item() for word in vectors}
compare(prediction, measured="same" if changes["dog"] < 1e-6 else "different")
print("largest change of an entry, by word:", {word: f"{change:.3f}" for word, change in changes.items()})

# %% [markdown]
# Each word gets the same vector as before. Only the rows of the output change places, just as the words did: attention
# is **permutation-equivariant**. So no head can see who bites whom. We have to put the order into the vectors, or into
# the scores.

# %% [markdown]
# ## First idea: write the position into the vector
#
# Why not simply add the number of the position to every entry?

# %%
dog, man = torch.randn(2, 64)
for t in [0, 1, 5, 50]:
    print(f"position {t:2d}: cosine of two unrelated words {torch.cosine_similarity(dog + t, man + t, dim=0):5.2f}")

# %% [markdown]
# The number drowns the word: at position 50, two unrelated words look alike. We need numbers that stay small however
# long the text is. Binary notation writes large numbers with small digits:

# %%
digits = {t: [int(bit) for bit in f"{t:03b}"[::-1]] for t in range(8)}
pd.DataFrame(digits, index=["ones", "twos", "fours"]).rename_axis(columns="position")

# %% [markdown]
# Every row is a *wave* of zeros and ones, half as fast as the row above it. The three waves together tell all eight
# positions apart, and no entry is larger than 1. The Transformer does the same with smooth waves: sines from fast to
# slow, each next to a cosine of the same frequency.

# %% [markdown]
# ## The sinusoidal encoding
#
# Position $t$ gets a vector as wide as the word's, its **positional encoding**. Its columns $2i$ and $2i + 1$ are pair
# $i$, with $i = 0, 1, 2, \dots$:
#
# $$\operatorname{PE}(t)_{2i} = \sin(t\,\theta_i), \quad \operatorname{PE}(t)_{2i+1} = \cos(t\,\theta_i),
# \quad \theta_i = \text{base}^{-2i/d_\text{model}}$$
#
# The **frequency** $\theta_i$ is the angle, in radians, by which pair $i$ turns per position. It is 1 for the first
# pair and shrinks from pair to pair. The paper's base is 10000. The model adds the encoding, of shape (length,
# d_model), to the word vectors. (`pe[:, 0::2]` selects every second column, starting with the first. `torch.sin` and
# `torch.cos` accept whole tensors.)
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
# Read the picture column by column. The waves are fast on the left and slow on the right, where the cosines (odd
# columns) stay near 1. Each row is the encoding of one position. You can read a pair as the hand of a clock: the sine
# is how far the hand points to the right, the cosine how far up.
#
# <details><summary>By hand: "I like to code", with d_model = 4</summary>
#
# The frequencies are 1 and 10000^(−2/4) = 0.01. `I`, at position 0, gets [0, 1, 0, 1]. `code`, at position 3, gets [sin
# 3, cos 3, sin 0.03, cos 0.03] = [0.141, −0.990, 0.030, 1.000]. If the embedding of `code` is [0.5, 0.2, 0.6, 0.7], the
# first layer reads the sum, [0.641, −0.790, 0.630, 1.700].
# </details>

# %%
diagrams.positions.clocks([0, 1, 2, 3, 44], d_model=8)

# %% [markdown]
# The fast pair tells 0 from 1, but at position 44, after seven full turns, it is almost back where it started. The slow
# pairs hardly differ between neighbors. You need all pairs to read the position reliably.
#
# <details><summary>Why 10000?</summary>
#
# The paper gives no reason. In a wide model, the slowest pair needs nearly 2π · 10000 ≈ 62,832 positions for one turn.
# </details>

# %% [markdown]
# ## What the encodings say about distance
#
# Attention compares vectors by their dot products. You often read that the dot product of two encodings depends only on
# how far apart their positions are.
#
# **Predict.** Take d_model = 512 and two positions that are 10 apart: first 0 and 10, then 1000 and 1010. Are the two
# dot products the `"same"` or `"different"`? And if we keep only the sines and drop the cosines?

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
# The claim holds, thanks to the cosines. With sines alone, the product depends on the absolute positions. With both,
# only the **distance** counts: $\operatorname{PE}(m) \cdot \operatorname{PE}(n) = g(m - n)$. This is a property of
# points on a circle, whose dot product is the cosine of the angle between them. Each pair contributes
#
# $$\sin a \sin b + \cos a \cos b = \cos(a - b), \quad a = m\,\theta_i,\; b = n\,\theta_i$$
#
# so all pairs together give $\sum_i \cos((m - n)\,\theta_i)$. The cosines of $a - b$ and $b - a$ are equal, so it does
# not matter which position comes first.
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
# Encodings of nearby positions are more alike than those of distant ones. But this is a trend, not a rule: the curve
# rises at one step in four, whenever the fastest pairs complete another turn.

# %% [markdown]
# ## ★ A step is a rotation
#
# Moving $k$ positions forward turns pair $i$ by the angle $k\,\theta_i$. Recall the sine and cosine of a sum:
#
# $$\sin(a + b) = \sin a \cos b + \cos a \sin b, \qquad \cos(a + b) = \cos a \cos b - \sin a \sin b$$
#
# With $a = p\,\theta_i$ and $b = k\,\theta_i$, the numbers $\sin b$ and $\cos b$ do not depend on the position $p$.
# They fill a 2 × 2 block, a rotation. One large matrix $R$ with these blocks along its diagonal and 0 elsewhere moves
# all pairs at once: $\operatorname{PE}(p + k) = R\,\operatorname{PE}(p)$ at *every* position $p$. The offset $k$ may be
# negative.
#
# **Exercise.** Write this matrix for the encoding above. (Work out the block of one pair on paper first. If you skip
# this exercise, the lesson uses the library's matrix.)


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
# This matters because a model can learn a matrix. The authors hoped that the model would "easily learn to attend by
# relative positions". Can it?

# %% [markdown]
# ## What learned projections do to the distance
#
# A word $x_m$ at position $m$ now enters as $x_m + p_m$, with $p_m$ short for $\operatorname{PE}(m)$. The scores
# compare projections: with $H = W_q^\top W_k$, the score of two positions is a sum of four terms,
#
# $$(x_m + p_m)^\top H\,(x_n + p_n) = x_m^\top H x_n + x_m^\top H p_n + p_m^\top H x_n + p_m^\top H p_n$$
#
# Only the last term contains both positions, so it alone can depend on their distance.
#
# **Predict.** Let $H$ be `three_on`, the rotation by 3 positions. For the query at position 50, which key has the
# largest $p_m^\top H\,p_n$: the key at 47, 50 or 53?

# %% tags=["prediction"]
prediction = ...

# %% tags=["hide-input"]
p, few = wide[:200], three_on.clone()
few[64:] = 0  # keeps the 32 fastest of the 256 pairs
kinds = {"identity": torch.eye(512), "random": torch.randn(512, 512) / 512**0.5}
kinds |= {"random diagonal": torch.randn(512).diag(), "rotation": three_on, "rotation, 32 pairs": few}
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
# with sinusoids *can* learn to attend a fixed number of positions back. A random $H$, even a diagonal one, destroys the
# distance: the scores of positions 10 apart now vary widely. The model has to *learn* an $H$ that preserves it.
#
# <details><summary>Why is the encoding added to the word, and not concatenated with it?</summary>
#
# A projection of the concatenated vector is $W_1 x + W_2 p$: one matrix for words, another for positions. Adding is the
# special case in which both matrices are the same. It needs no extra width and no extra parameters.
# </details>
#
# ---
#
# **Half-way.** A good place to stop for today. The second half shows what later models do instead, and what happens to
# each scheme on longer texts.

# %% [markdown]
# ## RoPE: rotate the queries and keys instead
#
# **Rotary position embedding** (**RoPE**; Su et al., 2021) keeps the waves but applies them *after* the projections,
# where no learned matrix can destroy the distance. RoPE cuts each query and key into pairs
# of neighboring features and rotates each pair $(a, b)$ by an angle $\varphi$ proportional to its position $t$:
#
# $$(a, b) \;\to\; (a \cos \varphi - b \sin \varphi,\; a \sin \varphi + b \cos \varphi), \quad \varphi = t\,\theta_i$$
#
# In $\theta_i$, the width d of a head replaces d_model. (The clocks above turn clockwise from 12; RoPE's pairs turn
# counterclockwise from 3. Many libraries pair feature $i$ with $i + d/2$: lesson 11.)
#
# **Exercise.** Write it for any number of leading dimensions. Row j of `x` is at position `positions[j]`, which need
# not be j.


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
longer = parts.apply_rotary(q, there).norm(dim=-1) - q.norm(dim=-1)
print(f"largest change of a query's length: {longer.abs().max():.3f}")
diagrams.positions.rotary_hands([(2, 0), (7, 5)])

# %% [markdown]
# The picture shows a fast pair and a slow pair of a query and a key. Two positions ahead of the key, the query turns by
# 2 in the fast pair, and the shaded angle grows from 0.5 to 2.5. When both positions move by 5, both vectors turn
# further, but the angle stays the same.
#
# With $R_t$ for the rotation by position $t$,
#
# $$(R_m\,q)^\top (R_n\,k) = q^\top R_m^\top R_n\,k = q^\top R_{n-m}\,k$$
#
# So the score depends on the positions only through the offset, for *any* query and key, whatever the projections
# learn. Values are not rotated: positions decide where to attend, not what is read there.
#
# <details><summary>Who uses RoPE?</summary>
#
# Most open large language models since LLaMA (2023). Some vary it by layer: Gemma 3 has a larger base in its global
# layers than in its local ones, and Llama 4 and SmolLM3 leave positions out of every fourth layer. In models of images,
# half of the pairs often turn with the row of a patch and the other half with its column.
# </details>

# %% [markdown]
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
# The highest score is at 6, after nearly a full turn of $2\pi \approx 6.28$. Remember this peak: it causes RoPE's
# failure on long texts below.
#
# Here are all the pairs of a query and a key of width 8, or of two encodings (choose the scheme). Move both with the
# buttons: every pair turns, and the dot product stays the same. Move the key along the curve: where is the dot product
# nearly as large as at the query's own position? Raise the base: which pairs slow down, and what happens to the curve?

# %%
views.PositionClock(8, 64, scheme="rotary", query_position=50, key_position=48)

# %% [markdown]
# ## ALiBi: lower the scores by distance
#
# **ALiBi** (attention with linear biases; Press et al., 2022) is simpler still: it lowers each score in proportion to
# the distance, with a different slope in each head. Head $h = 1, \dots, n_\text{heads}$ adds
#
# $$-2^{-8h/n_\text{heads}} \cdot |m - n|$$
#
# to the score of a query at $m$ and a key at $n$, after the division by $\sqrt{d_k}$. The mask decides whether a query
# may attend to later keys.
#
# **Exercise.** Write the bias. If there are fewer queries than keys, the queries are the last ones: the last query and
# the last key have the same position. (A model that generates text processes one query at a time, the newest.)


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
# The first head attends mostly to nearby keys, the last one nearly evenly to all of them. None of this is learned. It
# is an **inductive bias**: the scheme assumes that nearby tokens matter more.

# %% [markdown]
# ## Which scheme extrapolates to longer texts?
#
# The fourth scheme is the simplest: **learned positions**. A matrix with one row per position is a parameter like any
# other, and the model adds its rows to the word vectors, as in GPT-2. The paper found "nearly identical results" with
# learned positions and sinusoids (table 3). It chose sinusoids because they "may allow the model to extrapolate to
# sequence lengths longer than the ones encountered during training". Do they? The picture shows where each scheme
# enters the model.

# %%
diagrams.positions.schemes()

# %% [markdown]
# The task: at each position of a random text, name the token *two positions before*. We train small causal models on
# texts of 16 tokens and test them on texts of 64.


# %% id="train" tags=["hide-input"]
def train(model, answers, bos: bool = False, rate: float = 1e-2, steps: int = 200, length: int = 16) -> Tensor:
    """Train on random texts of this length; return the accuracy at each position of the longest texts it accepts."""

    def texts(n: int, n_tokens: int) -> Tensor:
        tokens = torch.randint(16, (n, n_tokens))
        return F.pad(tokens, (1, 0), value=16) if bos else tokens  # 16 is <bos>

    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, fused=True)  # Adam with weight decay
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = rate * (1 - step / steps)  # the learning rate falls to 0
        tokens = texts(32, length)
        loss = F.cross_entropy(model(tokens).flatten(0, 1), answers(tokens).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    tokens = texts(200, model.config.max_length - bos)
    with torch.no_grad():
        return (model(tokens).argmax(dim=-1) == answers(tokens)).float().mean(dim=0)


# %% id="trained" tags=["hide-input"]
def two_before(tokens: Tensor) -> Tensor:
    """Return the right answers; −100 tells the loss to skip the first two positions, which have none."""
    return F.pad(tokens, (2, 0), value=-100)[:, :-2]


def trained(scheme: str, seed: int, rate: float = 1e-2, steps: int = 200, length: int = 16, **changes):
    """Return a trained model with this scheme, and its accuracy at each position; lesson 06 explains the sizes."""
    torch.manual_seed(seed)
    shape = {"d_model": 32, "n_heads": 4, "d_ff": 64, "n_layers": 1, "dropout": 0.0, "max_length": 4 * length}
    model = LanguageModel(LanguageModelConfig(16, positions=scheme, tie_embeddings=False, **{**shape, **changes}))
    return model, train(model, two_before, rate=rate, steps=steps, length=length)


# %% [markdown]
# **Predict.** We train one layer with four heads for 200 steps. Which scheme is still right on texts *twice* as long as
# the training texts: `"sinusoidal"`, `"learned"`, `"rotary"` or `"alibi"`? (Twelve models: about 10 seconds.)

# %% tags=["prediction"]
prediction = ...

# %% id="four-schemes" tags=["approximate"]
runs = {}
for scheme in ["sinusoidal", "learned", "rotary", "alibi"]:
    runs[scheme] = [trained(scheme, seed) for seed in range(3)]
    print(scheme, "trained")
accuracy = {scheme: torch.stack([a for _, a in of_scheme]) for scheme, of_scheme in runs.items()}  # (3, 64) each
curves = {name: a[:, 2:] for name, a in accuracy.items()}
ax = plots.lines(range(2, 64), curves, xlabel="position", ylabel="accuracy", legend_beside=True)
ax.axvline(15.5, color="gray", linewidth=1)
compare(prediction, measured=max(accuracy, key=lambda scheme: accuracy[scheme][:, 16:32].mean()))

# %% id="four-schemes-by-stretch" tags=["approximate"]
stretches = {"2 to 15 (trained)": (2, 16), "16 to 31": (16, 32), "32 to 63": (32, 64)}
means = {s: {at: a[:, i:j].mean(dim=1) for at, (i, j) in stretches.items()} for s, a in accuracy.items()}  # (3,) each
pd.DataFrame(means).T.map(lambda three: round(three.mean().item(), 2))

# %% [markdown]
# Right of the gray line, the models have to **extrapolate**. Sinusoids and learned positions fail as soon as they cross
# the line, though both were perfect before it. Position 20 has a sinusoidal encoding, but the model never saw it in
# training, so the paper's hope fails here. RoPE works up to twice the length and fails well before four times. What do
# its heads attend to? (The logarithm of a weight is its score, up to a constant per row.)

# %% id="rotary-scores" tags=["hide-input", "approximate"]
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
# highest, because the second pair lowers the peaks that follow. Further back, the second pair comes round again and
# raises them, so wrong keys win at distances of 40 and more. No training text had keys that far back.

# %% [markdown]
# And **ALiBi**? With one layer and 200 steps, it has not even learned the task within the trained length. Perhaps a
# distance penalty can't express "exactly two back"? Before you believe this, change something other than the seed.
#
# ### Change the depth, the steps and the learning rate
#
# We trained all four schemes, and models without any positions (`none`), again with two layers for 600 steps. That
# takes minutes, so the accuracies are stored. Every scheme gets the better of two learning rates.
#
# **Predict.** Which scheme is now the most accurate at positions 32 to 63?

# %% tags=["prediction"]
prediction = ...

# %% id="second-setting" tags=["hide-input", "approximate"]
card = read_json(FOLDER / "position-runs" / "accuracy.json")
stored, reach = pd.DataFrame(card["runs"]), ["trained", "twice", "four times"]  # up to these lengths
by_rate = stored[stored["table"] == "schemes"].groupby(["n_layers", "steps", "scheme", "rate"])[reach].mean()
best_rate = by_rate.mean(axis=1).groupby(["n_layers", "steps", "scheme"]).idxmax()
at_best_rate = by_rate.loc[best_rate]
compare(prediction, measured=at_best_rate.loc[2, "four times"].idxmax()[1])
print(f"{card['command']}: {card['cpu_minutes']} minutes on one core; means of three seeds")
at_best_rate.round(2)

# %% [markdown]
# The verdict on ALiBi turns around. With two layers, 600 steps and four heads of width 8, it solves the task within the
# trained length and is the most accurate at four times the length, as the ALiBi paper found for perplexity (Press et
# al., 2022). Sinusoids and learned positions fail beyond the trained length at both settings, and RoPE reaches twice
# the length at both.

# %% [markdown]
# ### Change the number of heads
#
# Change one more thing: keep the 32 features in two heads or in one.
#
# **Predict.** With *one* head (two layers, 600 steps), which scheme is more accurate at positions 32 to 63: `"rotary"`
# or `"alibi"`?

# %% tags=["prediction"]
prediction = ...

# %% id="fewer-heads" tags=["hide-input"]
two_layers = stored[(stored["n_layers"] == 2) & stored["scheme"].isin(["rotary", "alibi"])]
heads_and_rate = two_layers.groupby(["n_heads", "scheme", "rate"])[reach].mean()
by_heads = heads_and_rate.loc[heads_and_rate.mean(axis=1).groupby(["n_heads", "scheme"]).idxmax()].droplevel("rate")
compare(prediction, measured=by_heads.loc[1, "four times"].idxmax())
by_heads.round(2)

# %% [markdown]
# It turns around again: with one head, RoPE is right at four times the length, and ALiBi has not even learned the task.
# Four heads of ALiBi have slopes from 1/4 to 1/256; one head has only 1/256 and does hardly better than `none` above.
# One head of RoPE is four times as wide and has four times as many pairs. So name the heads, too, when you say which
# scheme extrapolates best.

# %% [markdown]
# ## Bug hunt
#
# A colleague saves memory: her angles have 16 bits (`bfloat16`, which keeps about three digits). Her code runs, the
# shape is right, and every vector keeps its length. Decide what is wrong, and which texts show it, *before* you run the
# check. Then put a corrected version, `mended`, into the cell after it.


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
# Test what RoPE promises: shifting all positions leaves every score unchanged. Shift them far, as the cell below does.
# bfloat16 rounds an angle of 1.5 by at most 0.004, but an angle of 1,000 by up to 2, a third of a turn. So short texts
# hardly show the bug; in long ones, neighboring positions get the same angle. Several libraries had this bug, for
# instance [gpt-neox 1003](https://github.com/EleutherAI/gpt-neox/issues/1003) and
# [transformers 29285](https://github.com/huggingface/transformers/pull/29285). They now compute the angles in float32,
# whatever the model's own precision.
# </details>

# %%
for name, rotate in {"the colleague's": rotary_of_a_colleague, "yours or the library's": parts.apply_rotary}.items():
    scores = [rotate(q, here + by) @ rotate(k, here + by).T for by in (0, 10, 1000)]
    moved = [f"{(score - scores[0]).abs().max():.1f}" for score in scores[1:]]
    print(f"{name}: largest change of a score if all positions move by 10: {moved[0]}, by 1,000: {moved[1]}")

# %% [markdown]
# ## The best base depends on the width of a head
#
# RoPE's reach also depends on its base: a larger base slows all pairs but the first. Llama 3's base is 500,000.
#
# **Predict.** We train one layer with d_model = 64 (300 steps, learning rate 0.005) and split it into 8, 4, 2 or 1
# heads, which are 8, 16, 32 or 64 wide. With 8-wide heads, a base of 1e6 does better than 1e4 at positions 32 to 63.
# Does it with 64-wide heads, `"yes"` or `"no"`?

# %% tags=["prediction"]
prediction = ...

# %% id="bases"
bases = stored[stored["table"] == "bases"].assign(width=lambda run: run["d_model"] // run["n_heads"])
by_width = bases.pivot_table("four times", "width", "rotary_base")
compare(prediction, measured="yes" if by_width.loc[64, 1e6] - by_width.loc[64, 1e4] > 0.05 else "no")
by_width[[1e4, 1e6, 1e9]].rename(columns="base {:.0e}".format).rename_axis(index="width of a head", columns="").round(2)

# %% [markdown]
# With 8-wide heads, the model with base 1e6 is accurate where the one with base 1e4 fails. With 16-wide heads, none of
# these three bases reaches four times the length. With 32-wide heads, 1e4 and 1e6 do, and 1e9 does not. With 64-wide
# heads, a usual width in real models, all three do. Is there a rule?

# %% [markdown]
# ### Count the pairs that complete a turn
#
# Count the pairs of a head that complete a full turn within the 16 trained tokens: $16\,\theta_i \ge 2\pi$. Training
# has shown all their angles. The first pair always completes 2.5 turns, but alone it can hardly tell distance 2 from 8.
# With base 1e4, 8-wide heads have one such pair, 32-wide heads two.
#
# **Predict.** With base 100, 16-wide heads have two such pairs. What accuracy do you expect at positions 32 to 63?

# %% tags=["prediction"]
prediction = ...


# %% id="turning-pairs"
def turning_pairs(width: int, base: float, length: int) -> int:
    """Return how many pairs complete a full turn within this many tokens."""
    return sum(length * base ** (-2 * i / width) >= 2 * math.pi for i in range(width // 2))


compare(prediction, measured=round(by_width.loc[16, 100], 2))
pairs = {base: {width: turning_pairs(width, base, 16) for width in by_width.index} for base in by_width}
shown = {f"base {b:g}": {w: f"{by_width.loc[w, b]:.2f} ({n})" for w, n in of.items()} for b, of in pairs.items()}
pd.DataFrame(shown).rename_axis(index="width of a head", columns="accuracy (pairs)")

# %% [markdown]
# With two or more pairs, every model in the table reaches four times the length. With one, only one does: base 1e6 with
# 8-wide heads, whose second pair makes less than half a turn even in 63 positions. Does the count predict other
# settings, too?

# %% id="turning-pairs-elsewhere" tags=["hide-input"]
others = stored[stored["table"].isin(["heads", "trained length", "two heads", "larger rate"])]
others = others[others["scheme"] == "rotary"].assign(width=lambda run: run["d_model"] // run["n_heads"])
others["pairs"] = [turning_pairs(run.width, run.rotary_base, run.length) for run in others.itertuples()]
columns = ["pairs", "length", "n_layers", "steps", "rate", "n_heads", "width", "rotary_base"]
elsewhere = others.groupby(columns, as_index=False)["four times"].mean()
elsewhere.assign(rotary_base=elsewhere["rotary_base"].map("{:g}".format)).round(2)

# %% [markdown]
# Yes. With one pair, only base 1e6 with 8-wide heads gets there (0.9 or more) again. With two or more, all do but one:
# at three times the learning rate, base 1e6 with 32-wide heads, whose second pair just completes its turn. And
# 8-wide heads with base 1e4, trained on 64 tokens, have two pairs and are right on texts of 256. So "RoPE reaches twice
# the length" and "a larger base helps" were each the result of one setting.
#
# <details><summary>Is this known?</summary>
#
# Yes. Liu et al. (2023, [arXiv:2310.05209](https://arxiv.org/abs/2310.05209)) call the number of features in such pairs
# the *critical dimension*. They fine-tuned Llama 2 with other bases, and smaller bases helped there, too. Men et al.
# (2024, [arXiv:2405.14591](https://arxiv.org/abs/2405.14591)) warn that a model with a base that is too small may keep
# a low perplexity on long texts without using what stands far back. Our task tests only two tokens back.
# </details>

# %% [markdown]
# ## Interpolation and YaRN: longer texts for a trained model
#
# Can you change a model that was trained on 16 tokens *afterwards*, so that it reads 64? You can change RoPE's
# frequencies:
#
# - **Position interpolation** divides all of them by 4. Position 60 then looks like 15.
# - **YaRN** counts the turns of each pair within the trained length. It divides the frequencies of pairs with less than
#   α = 1 turn by 4, keeps those with at least β = 32 turns, and uses a linear ramp in between. It also multiplies the
#   scores by 1.3, which sharpens the softmax.
# - Llama 3.1 uses a ramp from 1 to 4 turns and leaves the scores alone. We also try 1 to 2 turns.

# %% [markdown]
# **Predict.** Our RoPE models (8-wide heads, base 1e4) get new frequencies but no training. Which way is the most
# accurate at positions 32 to 63: `"interpolation"`, `"YaRN"`, `"Llama 3.1"` or `"1 to 2 turns"`?

# %% tags=["prediction"]
prediction = ...


# %% tags=["hide-input"]
def accuracy_with(scaling, model: LanguageModel, texts: Tensor, sharpen: float = 1.0) -> Tensor:
    """Return the accuracy at each position of a trained model with other frequencies and scores; then restore it."""
    as_trained, w_q = model.config, [p for name, p in model.named_parameters() if ".w_q." in name]
    model.config = LanguageModelConfig(**{**vars(as_trained), "rotary_scaling": scaling})
    with torch.no_grad():
        for p in w_q:
            p *= sharpen
        right = model(texts).argmax(dim=-1) == two_before(texts)
        for p in w_q:
            p /= sharpen
    model.config = as_trained
    return right.float().mean(dim=0)


# %% tags=["hide-input"]
ways = {"as trained": (None, 1.0), "interpolation": (LinearScaling(4.0), 1.0)}
ways["YaRN"] = Llama3Scaling(4.0, 16, low=1.0, high=32.0), (0.1 * math.log(4) + 1) ** 2
ways["Llama 3.1"] = Llama3Scaling(4.0, 16, low=1.0, high=4.0), 1.0
ways["1 to 2 turns"] = Llama3Scaling(4.0, 16, low=1.0, high=2.0), 1.0
frequencies = 1e4 ** -torch.arange(0, 1, 0.25)  # a head is 8 wide: four pairs
print("turns of each pair in 16 positions:", [f"{x:.2g}" for x in (16 * frequencies / (2 * math.pi)).tolist()])
scaled = {way: frequencies if scaling is None else scaling.scale(frequencies) for way, (scaling, _) in ways.items()}
pd.DataFrame({way: [f"{x:.2g}" for x in f.tolist()] for way, f in scaled.items()}).T.rename_axis(columns="pair")

# %% id="new-frequencies" tags=["approximate"]
texts = torch.randint(16, (200, 64), generator=torch.Generator().manual_seed(5))
changed = {}  # (3, 64) each
for way, (scaling, sharpen) in ways.items():
    changed[way] = torch.stack([accuracy_with(scaling, model, texts, sharpen) for model, _ in runs["rotary"]])
compare(prediction, measured=max(changed, key=lambda way: changed[way][:, 32:].mean()))
means = {way: {at: a[:, i:j].mean(dim=1) for at, (i, j) in stretches.items()} for way, a in changed.items()}
pd.DataFrame(means).T.map(lambda three: round(three.mean().item(), 2))

# %% [markdown]
# Interpolation fails even on texts of 16: the fastest pair, which told distance 2 from 1 and 3, now turns a quarter as
# far. (Chen et al. and the authors of YaRN fine-tune the model after the change.) The ramps of YaRN and Llama 3.1 fail
# for the same reason. In 16 tokens, the fastest pair completes 2.5 turns, so both ramps slow it. A ramp that ends at 2
# turns leaves it alone, and the models are right at four times their length. So the idea works here and YaRN's numbers
# do not: they were chosen for a model trained on 4,096 tokens, whose fastest pairs complete 650 turns.

# %% [markdown]
# ## ★ Transfer: relative position bias, a learned number for every distance
#
# The model T5 (Raffel et al., 2020) adds a number to each score that it *learns* for each head and each offset from
# query to key: a **relative position bias**. Offset −2 means a key two positions *before* the query. `table[h]` holds
# the numbers for the offsets −reach … reach, and has 2 · reach + 1 entries. Offsets beyond the table use its last entry
# on that side. As in `alibi_bias`, the queries are the last ones. Write the lookup.


# %% id="relative_bias" tags=["exercise"]
def relative_bias(
    table: Float[Tensor, "n_heads n_offsets"], n_query: int, n_key: int
) -> Float[Tensor, "n_heads n_query n_key"]:
    """Return each head's bias for the offset from query to key; offsets beyond the table take the nearest entry."""
    raise NotImplementedError


# %% id="check-relative_bias"
check(relative_bias)

# %% [markdown]
# With such a table, a head can attend exactly two back in a single layer: it needs one large entry in the right column.
# (Queries 0 and 1 have no such key.)

# %%
table = torch.zeros(1, 9)
table[0, 4 - 2] = 10.0  # offset −2
weights = parts.softmax(parts.relative_bias(table, 6, 6))[0]
ax = plots.weights(weights)
print("weight two positions back, from position 5:", round(weights[5, 3].item(), 2))

# %% [markdown]
# ## Who bites whom? Four answers
#
# Back to the three words, now with positions: sinusoids, RoPE, ALiBi with slope 1/4, or a relative bias of 1 for the
# word before and −1 for the word after.
#
# **Predict.** "Dog bites man" again becomes "man bites dog". With which scheme does the output for `dog` *still* stay
# the same: `"sinusoids"`, `"RoPE"`, `"ALiBi"`, `"relative bias"` or `"none"` of them?

# %% tags=["prediction"]
prediction = ...


# %% id="who-bites-whom-answered" tags=["hide-input"]
def attend_with(scheme: str, *words: str) -> dict[str, Tensor]:
    x = torch.stack([vectors[word] for word in words])
    if scheme == "sinusoids":
        x = x + parts.sinusoidal_encoding(3, 8)
    turned = parts.apply_rotary(x, torch.arange(3)) if scheme == "RoPE" else x
    scores = turned @ turned.T / 8**0.5
    if "ALiBi" in scheme:
        scores = scores + parts.alibi_bias(4, 3, 3)[0]
    if scheme == "relative bias":
        scores = scores + parts.relative_bias(torch.tensor([[1.0, 0.0, -1.0]]), 3, 3)[0]
    if "causal" in scheme:
        scores = scores.masked_fill(~parts.causal_mask(3), -torch.inf)
    return dict(zip(words, parts.softmax(scores) @ x))


changes = {}
for scheme in ["sinusoids", "RoPE", "ALiBi", "relative bias", "ALiBi, causal mask"]:
    one, other = attend_with(scheme, "dog", "bites", "man"), attend_with(scheme, "man", "bites", "dog")
    changes[scheme] = {word: round((one[word] - other[word]).abs().max().item(), 3) for word in vectors}
compare(prediction, measured=next((scheme for scheme, change in changes.items() if change["dog"] < 1e-6), "none"))
pd.DataFrame.from_dict(changes, orient="index")

# %% [markdown]
# With ALiBi alone, *still* no head can tell who bites whom. The penalty depends on $|m - n|$, which is the same before
# and after, and one sentence is the other one reversed. A table with different numbers for the two directions breaks
# this symmetry. So does a causal mask, and ALiBi was made for decoders, which have one. What can the mask do alone?

# %% [markdown]
# ## Is a causal model blind to order?
#
# A causal mask shows each position one more token than the position before it. The new task is to name the position
# itself, at every position. The models are causal and have no positional encoding (**NoPE**). They read random texts of
# 16 tokens, with or without a `<bos>` in front.
#
# **Predict.** What is the accuracy of each kind with two layers and 200 steps? (Guessing is right 0.06 of the time.)

# %% tags=["prediction"]
prediction_without, prediction_with_bos = ..., ...

# %% id="counters" tags=["approximate"]
right = {name: torch.tensor(by_position) for name, by_position in card["counting"].items()}  # (3, 16) each
compare(prediction_without, measured=round(right["without <bos>"].mean().item(), 1))
compare(prediction_with_bos, measured=round(right["with <bos>"].mean().item(), 1))
ax = plots.lines(range(16), right, xlabel="position", ylabel="accuracy", legend_beside=True)
print({name: [round(run.mean().item(), 2) for run in of_kind] for name, of_kind in right.items()})

# %% [markdown]
# With `<bos>`, the model can count: a head that attends evenly gives `<bos>` the weight 1/t at the t-th position. So a
# causal model can know the position although nothing encodes it (Haviv et al., 2022). Without `<bos>`, the same model
# does better than guessing but stays far from perfect. It could never count *equal* tokens: their average is the same
# vector however many there are. Random tokens differ, and a deeper model that trains for longer (four layers, 1,000
# steps) makes use of that: in one of three runs it is right almost everywhere, even without `<bos>`. (NoPE failed at
# our first task, `none` above. Kazemnejad et al. (2023) found tasks on which it extrapolates best.)

# %% [markdown]
# ## Your experiment
#
# Ungraded, about 20 minutes. Test a claim of your own the way this lesson tests its claims, or start with this one:
#
# **Claim.** ALiBi needs the second layer, not just more steps: with one layer and 600 steps, it names the token two
# back at less than 90 % of the positions 2 to 15.
#
# **Prediction.** Before you run anything, write down in how many of three runs the claim will hold.
#
# **Verdict.** Say in one sentence what the runs show. A claim that fails is a result, too.

# %% id="experiment" tags=["experiment", "skip-execution"]
prediction = ...  # in how many of the three runs will the claim hold?
holds = []
for seed in range(3):
    torch.manual_seed(seed)
    near = trained("alibi", seed, steps=600)[1][2:16].mean()
    holds.append(...)  # True or False
print("predicted:", prediction, " measured:", holds)
# Verdict:

# %% [markdown]
# ## In short
#
# - Attention is permutation-equivariant, so you have to add the order yourself.
# - Sinusoids are pairs of sine and cosine. Their dot products depend only on the distance, which learned projections
#   need not preserve.
# - RoPE rotates queries and keys after the projections, so scores depend on the offset alone. ALiBi lowers scores by
#   distance; without a mask, it cannot tell before from after.
# - Sinusoids and learned positions failed beyond the trained length. With two layers and 600 steps, ALiBi reached
#   furthest with four heads, RoPE with one.
# - RoPE reached four times the length where two pairs of a head complete a turn in training, so the best base depends
#   on the width of a head.
# - With a `<bos>`, a causal model can count its positions without any encoding.

# %%
tokens = torch.randint(16, (2, 16))
rotary = LanguageModelConfig(16, d_model=32, n_heads=4, d_ff=64, n_layers=1, max_length=64, positions="rotary")
trace_shapes(LanguageModel(rotary), tokens)

# %% [markdown]
# The table does not show the positions: RoPE has no parameters and no module. It rotates the outputs of `w_q` and
# `w_k`. (`GroupedQueryAttention` is a kind of multi-head attention; lesson 06 explains the rest.)

# %% [markdown]
# ## New words
#
# The [glossary](glossary.ipynb) lists the terms from all lessons.
#
# - **positional encoding**: a vector for each position, added to the embedding of the token there.
# - **frequency**: the angle, in radians, by which a pair of features turns from one position to the next.
# - **RoPE**: rotary position embedding, which rotates queries and keys by angles proportional to their positions.
# - **ALiBi**: attention with linear biases, which lowers each score in proportion to the distance.
# - **learned positions**: a matrix of parameters with a row for each position.
# - **extrapolate**: work on inputs outside the range of training, here on longer texts.
# - **NoPE**: no positional encoding; the model gets no information about positions except through its mask.
# - **position interpolation**: dividing all of RoPE's frequencies, so that a longer text fits into the trained angles.
# - **YaRN**: dividing RoPE's frequencies by an amount that depends on how many turns a pair completes within the
#   trained length: in full below α turns, not at all from β turns on, with a linear ramp in between, and sharper
#   scores.
# - **relative position bias**: a learned number for each offset from query to key, added to the score.

# %% [markdown]
# ## Interview questions
#
# Answer aloud first. The section named in each answer has the cell that shows it.
#
# <details><summary>Why does a Transformer need positional encodings?</summary>
#
# Self-attention and the layers that process each position alone treat a text as a set: if you shuffle the words, the
# outputs are shuffled the same way. Without positions or a causal mask, word order cannot matter. (<i>Attention without
# positions</i>)
# </details>
#
# <details><summary>Why sine and cosine, and not sines alone?</summary>
#
# With both, the dot product of two positions is a sum of cosines of their distance, and a step is a rotation of each
# pair. With sines alone, neither is true: the dot product changes from position to position. (<i>What the encodings say
# about distance</i>, <i>★ A step is a rotation</i>)
# </details>
#
# <details><summary>Why many frequencies?</summary>
#
# A fast wave tells neighbors apart but nearly repeats after a few positions. A slow wave tells distant positions apart
# but not neighbors. Together they identify every position, as the hands of a clock do. (<i>The sinusoidal encoding</i>)
# </details>
#
# <details><summary>Does the dot product of two encodings fall steadily with distance?</summary>
#
# No. It tends to fall, but it rises again many times on the way. And the model sees it through learned projections,
# which can change it altogether. (<i>What the encodings say about distance</i>, <i>What learned projections do</i>)
# </details>
#
# <details><summary>Sinusoidal or learned positions: which is better?</summary>
#
# The paper found them nearly identical and chose sinusoids in the hope that they extrapolate. In our task both were
# perfect up to the trained length, and both failed right after it, with one layer and with two. (<i>Which scheme
# extrapolates to longer texts?</i>)
# </details>

# %% [markdown]
# <details><summary>What does RoPE do, and what is its advantage over adding sinusoids?</summary>
#
# It rotates queries and keys by angles proportional to their positions, after the projections. Scores then depend on
# positions only through the offset from query to key, whatever the projections are. Values are not rotated.
# (<i>RoPE</i>)
# </details>
#
# <details><summary>How do the schemes behave on texts longer than those seen in training?</summary>
#
# Learned positions have rows that were never trained, or none at all; sinusoids exist there, but the model never saw
# them. In our task both failed right away. RoPE with 8-wide heads, trained on 16 tokens, worked up to twice the length
# at base 1e4. With two layers and 600 steps, ALiBi reached furthest with four heads, and RoPE with one. With one layer
# and 200 steps, ALiBi did not even learn the task. So name the depth, the steps and the heads before you compare.
# (<i>Which scheme extrapolates to longer texts?</i>, <i>Change the number of heads</i>)
# </details>
#
# <details><summary>How do you make a RoPE model reach further?</summary>
#
# Let training show the angles that the model will need. You can train on longer texts, or change the base: with 8-wide
# heads, a base of 1e4 failed at four times the length and a base of 1e6 did not; with 16-wide heads, a base of 100 was
# right and both others failed; with 64-wide heads, all worked. Nearly all that worked had two pairs that complete a
# turn in training. Or change the frequencies of a trained model. Position interpolation slows all pairs; YaRN slows
# only those that completed few turns. Both are normally followed by a short fine-tuning. Without any, interpolation
# failed at every length in our task, and so did YaRN's own numbers; a ramp from 1 to 2 turns worked. (<i>The best base
# depends on the width of a head</i>, <i>Count the pairs that complete a turn</i>, <i>Interpolation and YaRN</i>)
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
# The paper adds them. A projection of the concatenated vector is $W_1 x + W_2 p$; adding is the case $W_1 = W_2$, with
# no extra width but one matrix for both. Multiplied out, the score has four terms: word and word, word and position,
# position and word, position and position. The learned H can weight them. (<i>What learned projections do</i>)
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
#   [arXiv:2407.21783](https://arxiv.org/abs/2407.21783), on its base; Liu et al. (2023),
#   [arXiv:2310.05209](https://arxiv.org/abs/2310.05209), counts the pairs that complete a turn; Men et al. (2024),
#   [arXiv:2405.14591](https://arxiv.org/abs/2405.14591): a lower bound for the base.
# - `transformer_lab/attention/positions.py`: the library's versions.

# %% [markdown]
# How far did you get, and how well did you predict?

# %% id="tally"
tally()

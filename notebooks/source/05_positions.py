# %% [markdown] id="title"
# # 05 · Where attention gets its order from
#
# **The question.** Attention is a lookup, and a lookup does not ask in which order the entries stand. "Dog bites man"
# and "man bites dog" hold the same words. How can a model know which word stands where, and how far apart two words
# are?
#
# **Afterwards you can** write the encoding of the Transformer, say what its waves know and what they do not, write
# two of the schemes that today's models use instead, and say what happens to each on longer texts than it was trained
# on.
#
# Reading: 34 minutes. Exercises: 50 minutes (four core, one stretch ★). Half-way there is a good place to stop.

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
# All of it. What is divided among the heads are the projections of the whole vector.
# </details>
#
# <details><summary>Lesson 04: which triangle of the scores does a causal mask hide?</summary>
#
# The upper one: a query may not look at keys that come after it.
# </details>

# %% id="imports"
import math

import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from transformer_lab import (
    EncoderModel,
    LanguageModel,
    LanguageModelConfig,
    TransformerConfig,
    plots,
    record_attention,
    trace_shapes,
)
from transformer_lab.course import check, compare, hint, parts, solution

# %%
torch.manual_seed(5)
torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## Who bites whom?
#
# Three words with random vectors, and self-attention over them: each word asks all three.
#
# **Predict.** We turn "dog bites man" into "man bites dog". What comes out for the word `dog`: the `"same"` vector as
# before, or a `"different"` one?

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
# Each word gets what it got before. Only the rows change places, because the words did: attention is **permutation
# equivariant**. (It is often said that "nothing changes". That is not quite so: the output moves along with the
# input.) A head has no way to see who bites. So the order has to be put into the vectors themselves, or into the
# scores. This lesson tries both.

# %% [markdown]
# ## First idea: write the position into the vector
#
# Why not simply add the number of the position: 0 to the first vector, 1 to the second, 50 to the fifty-first?

# %%
dog, man = torch.randn(2, 64)
for t in [0, 1, 5, 50]:
    print(f"position {t:2d}: cosine of two unrelated words {torch.cosine_similarity(dog + t, man + t, dim=0):5.2f}")

# %% [markdown]
# The number drowns the word: at position 50, all words look alike. What we want are numbers that stay small however
# long the text is. Computers have a way to write large numbers with small digits:

# %%
digits = {t: [int(bit) for bit in f"{t:03b}"[::-1]] for t in range(8)}
pd.DataFrame(digits, index=["ones", "twos", "fours"]).rename_axis(columns="position")

# %% [markdown]
# Read it row by row. Every row is a *wave* of zeros and ones: the first changes at every position, the second half as
# fast, the third half as fast again. Together they tell every position apart, and no entry is ever above 1.
#
# The Transformer does the same with waves that are smooth: sines, from fast to slow. And beside each sine stands its
# cosine, for a reason that comes soon.

# %% [markdown]
# ## The formula
#
# Position $t$ gets a vector as wide as the word's. Columns $2i$ and $2i + 1$ are pair $i$, with $i = 0, 1, 2, \dots$:
#
# $$\operatorname{PE}(t)_{2i} = \sin(t\,\theta_i), \quad \operatorname{PE}(t)_{2i+1} = \cos(t\,\theta_i),
# \quad \theta_i = \text{base}^{-2i/d_\text{model}}$$
#
# The **frequency** $\theta_i$ is the angle by which pair $i$ turns per position. It is 1 for the first pair and gets
# smaller and smaller. The paper's base is 10000. The encoding, of shape (length, d_model), is added to the word
# vectors. (`pe[:, 0::2]` is every second column, from the first on. `torch.sin` and `torch.cos` take whole tensors.)
#
#
# **Exercise.** Write it.


# %% id="sinusoidal_encoding" tags=["exercise"]
def sinusoidal_encoding(length: int, d_model: int, base: float = 10000.0) -> Float[Tensor, "length d_model"]:
    """Give position t the sine of t base^(−2i/d_model) in column 2i, and its cosine in column 2i + 1."""
    raise NotImplementedError


# %% id="check-sinusoidal_encoding"
check(sinusoidal_encoding)

# %%
encoding = parts.sinusoidal_encoding(60, 32)
columns = {f"column {c}": encoding[:, c] for c in (0, 6, 12, 18)}
ax = plots.lines(range(60), columns, xlabel="position", ylabel="value")
ax.set_ylim(-1.1, 2.1)
ax.legend(ncols=2, loc="upper center", frameon=False)
print("columns 0, 6, 12, 18 at position 10:", [round(encoding[10, c].item(), 2) for c in (0, 6, 12, 18)])

# %% [markdown]
# Let us do one by hand. Four words of width 4, with the rows (.1, .2, .3, .4), (.2, .3, .4, .5), and so on.
#
# **Predict.** The last word, (.4, .5, .6, .7), stands at position 3. What is its *third* number after the encoding
# was added? (With d_model = 4, the second pair turns by 0.01 per position; for small angles, the sine is nearly the
# angle.)

# %% tags=["prediction"]
prediction = ...

# %%
x = torch.tensor([[0.1, 0.2, 0.3, 0.4]]) + torch.arange(4)[:, None] / 10
encoded = x + parts.sinusoidal_encoding(4, 4)
compare(prediction, measured=round(encoded[3, 2].item(), 2))
print("last word:", [round(value, 3) for value in encoded[3].tolist()])

# %% [markdown]
# ## What the waves know
#
# The scores of attention are dot products. So what is the dot product of two positions?
#
# **Predict.** Take d_model = 512, and two positions that are 10 apart: once 0 and 10, once 1000 and 1010. Are the two
# dot products the `"same"` or `"different"`?

# %% tags=["prediction"]
prediction = ...

# %%
wide = parts.sinusoidal_encoding(1200, 512)
products = {start: (wide[start] @ wide[start + 10]).item() for start in (0, 300, 1000)}
compare(prediction, measured="same" if max(products.values()) - min(products.values()) < 0.1 else "different")
print("10 apart, from 0, 300, 1000:", [f"{value:.1f}" for value in products.values()])
print("with the sines alone:", [f"{wide[s, ::2] @ wide[s + 10, ::2]:.0f}" for s in products])
print("10 back and 10 ahead of 300:", [f"{wide[300] @ wide[300 + k]:.1f}" for k in (-10, 10)])

# %% [markdown]
# It depends on the **distance** alone, as one wishes: $\operatorname{PE}(m) \cdot \operatorname{PE}(n) = g(m - n)$.
# Points on a circle do it: the dot product of two of them is the cosine of the angle between them. (For those who know
# complex numbers: a point is $e^{\mathrm{i} m \theta}$, and the dot product is the real part of one times the other's
# conjugate.) Sine and cosine are a point's two coordinates. So each pair adds
#
# $$\sin a \sin b + \cos a \cos b = \cos(a - b), \quad a = m\,\theta_i,\; b = n\,\theta_i$$
#
# and all of them together $\operatorname{PE}(m) \cdot \operatorname{PE}(n) = \sum_i \cos((m - n)\,\theta_i)$. (Before
# or after makes no difference to a cosine.)
#
# **Predict.** What is the dot product of a position with itself, with 256 pairs?

# %% tags=["prediction"]
prediction = ...

# %%
by_distance = wide[0] @ wide[:200].T
compare(prediction, measured=round(by_distance[0].item()))
ax = plots.lines(range(200), {"d_model = 512": by_distance}, xlabel="distance", ylabel="dot product")
print({f"distance {k}": round(by_distance[k].item()) for k in (0, 1, 10, 50)})
print("steps, of 199, at which it rises:", int((by_distance.diff() > 0).sum()))

# %% [markdown]
# Near positions are alike, far ones less so. But it is a trend, not a rule: at one step in four the curve rises.
#
# ### Why so many waves?
#
# A single pair is a clock with one hand: after a full turn it shows the same time again.

# %%
turns = 2 * math.pi / 10000 ** (-torch.arange(0, 512, 2) / 512)
print(f"positions until a pair is back: fastest {turns[0]:.1f}, middle {turns[128]:.0f}, slowest {turns[-1]:.0f}")
pairs = wide.unflatten(1, (256, 2))
for name, pair in {"fastest": 0, "middle": 128, "slowest": -1}.items():
    gap = (pairs[0, pair] - pairs[:, pair]).norm(dim=-1)
    print(f"{name} pair: positions 1 and 44 differ from 0 by {gap[1]:.2f} and {gap[44]:.2f}")

# %% [markdown]
# The fast hand tells 0 from 1, but takes 44 for 0: seven full turns. The slow hand tells nothing apart that is near.
# Only all together they say where we are, as the hands of a clock do.

# %% [markdown]
# ## A step is a rotation
#
# Going $k$ positions on turns every pair by $k\,\theta_i$: for sine and cosine of a sum,
#
# $$\sin(a + b) = \sin a \cos b + \cos a \sin b, \qquad \cos(a + b) = \cos a \cos b - \sin a \sin b$$
#
# With $a = p\,\theta_i$ and $b = k\,\theta_i$, $\sin b$ and $\cos b$ are the same at every position $p$: they fill a 2
# × 2 matrix. All pairs together make one large matrix $R$, with $\operatorname{PE}(p + k) = R\,\operatorname{PE}(p)$ at
# *every* position $p$.
#
# **Exercise.** Write the matrix, for the encoding above. (Work out the block of one pair on paper first.)


# %% id="shift_rotation" tags=["exercise"]
def shift_rotation(offset: int, d_model: int, base: float = 10000.0) -> Float[Tensor, "d_model d_model"]:
    """Give the matrix R with PE(p + offset) = R PE(p) at every position p, for PE as in ``sinusoidal_encoding``."""
    raise NotImplementedError


# %% id="check-shift_rotation"
check(shift_rotation)

# %%
three_on = parts.shift_rotation(3, 512)
error = (wide[:1000] @ three_on.T - wide[3:1003]).abs().max()
print(f"one matrix moves 1000 positions by 3, largest error: {error:.3f}")

# %% [markdown]
# This matters because matrices are what a model can learn: a head whose projections hold such a rotation looks a
# fixed number of places away, wherever it stands. (The next section shows one.)
#
# ---
#
# **Half-way.** A good place to stop for today. You have the paper's encoding, and know why it was built so. The
# second half is about what the scores make of it, what today's models do instead, and who fails on longer texts.

# %% [markdown]
# ## What the scores make of it
#
# A word $x_m$ at position $m$, such as `mars` in `3 mars 2021`, now comes in as $x_m + p_m$, with $p_m$ for its
# $\operatorname{PE}(m)$. For two inputs $a$ and $b$, here columns, query and key are $q = W_q a$ and $k = W_k b$, and
# the score is $q \cdot k = q^\top k = a^\top W_q^\top W_k\, b$. With $H = W_q^\top W_k$, the score of two places is a
# sum of four:
#
# $$(x_m + p_m)^\top H\,(x_n + p_n) = x_m^\top H x_n + x_m^\top H p_n + p_m^\top H x_n + p_m^\top H p_n$$
#
# Word with word, word with position, position with word, position with position. Only the last has both positions in
# it: all that is known of the distance is there. (In the Taylor series of any smooth function of both, the first such
# term has this form.)
#
# **Predict.** With a random $H$: is $p_m^\top H p_n$ the `"same"` for all pairs that are 10 apart, or `"different"`?

# %% tags=["prediction"]
prediction = ...

# %%
p = wide[:200]
projections = {"nothing": torch.eye(512), "random": torch.randn(512, 512) / 512**0.5, "three back": three_on}
rows = {}
for name, h in projections.items():
    scores = p @ h @ p.T  # row m, column n
    ten_apart, three_back, itself = (scores.diagonal(-k) for k in (10, 3, 0))
    rows[name] = [x.item() for x in (ten_apart.mean(), ten_apart.std(), three_back.mean(), itself.mean())]
compare(prediction, measured="same" if rows["random"][1] < 0.1 else "different")
columns = ["10 back: mean", "10 back: spread", "3 back: mean", "itself: mean"]
table = pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("H")
table.round().astype(int)

# %% [markdown]
# A random $H$ destroys it: among pairs 10 apart the score is now anything. With the rotation of the exercise as $H$,
# the score is $p_m^\top R\,p_n = p_m \cdot p_{n+3}$. So distance counts again, and the key *three places back* scores
# highest, more than the query's own place. A model with sinusoids can learn to look a fixed number of places back. But
# it has to learn it, and nothing in it keeps $H$ from spoiling it.
#
# Why add, and not *append* the position to the word?

# %%
x, w = torch.randn(8), torch.randn(4, 16)
appended = w @ torch.cat([x, p[5, :8]])
print("two matrices, added:", torch.allclose(appended, w[:, :8] @ x + w[:, 8:] @ p[5, :8], atol=1e-5))

# %% [markdown]
# A projection of both side by side is a sum of two: one matrix for words, another for positions. Adding is the case in
# which they are the same matrix. It takes no width, and no further parameters.

# %% [markdown]
# ## Turn the queries and keys instead
#
# **Rotary** positions (RoPE, used by Llama and most of today's models) keep the waves and move them to a better
# place: *after* the projections. Each query and key is cut into pairs of neighbouring features, and each pair is
# turned by the angle of its position:
#
# $$(a, b) \;\to\; (a \cos \varphi - b \sin \varphi,\; a \sin \varphi + b \cos \varphi), \quad \varphi = t\,\theta_i$$
#
# with the width d of a head's query in the place of d_model. Nothing is added, and no projection comes in between any
# more. (Compare the matrix of the last exercise: its minus is in the other row, because the pairs of the encoding begin
# with the sine.)
#
# **Exercise.** Write it, for any leading axes. Row j of `x` stands at `positions[j]`, whatever that is.


# %% id="apply_rotary" tags=["exercise"]
def apply_rotary(
    x: Float[Tensor, "*batch n d"], positions: Int[Tensor, " n"], base: float = 10000.0
) -> Float[Tensor, "*batch n d"]:
    """Turn features (0, 1), (2, 3), … of each vector by its position times base^(−2i/d)."""
    raise NotImplementedError


# %% id="check-apply_rotary"
check(apply_rotary)

# %% [markdown]
# **Predict.** Five queries and keys at positions 0 to 4 are moved to positions 100 to 104. Are the scores the
# `"same"` or `"different"`? And the lengths of the vectors?

# %% tags=["prediction"]
prediction_scores, prediction_lengths = ..., ...

# %%
q, k = torch.randn(2, 5, 64)
here, there = torch.arange(5), torch.arange(100, 105)
scores, moved = (parts.apply_rotary(q, at) @ parts.apply_rotary(k, at).T for at in (here, there))
lengths = parts.apply_rotary(q, there).norm(dim=-1)
compare(prediction_scores, measured="same" if torch.allclose(scores, moved, atol=1e-3) else "different")
compare(prediction_lengths, measured="same" if torch.allclose(lengths, q.norm(dim=-1)) else "different")
print(f"largest change of a score by moving: {(scores - moved).abs().max():.3f}")
print(f"largest change of a score by RoPE itself: {(scores - q @ k.T).abs().max():.1f}")

# %% [markdown]
# If a query is turned by $m\theta$ and a key by $n\theta$, the angle *between* them changes by $(m - n)\theta$. Of the
# positions only this offset counts, for *any* queries and keys, so for whatever the projections learn. Values are not
# turned: positions decide who is looked at, not what is handed over.

# %% [markdown]
# ## Or lower the scores by distance
#
# **ALiBi** is simpler still. No vectors and no waves: each score is lowered in proportion to the distance. The heads
# differ in how steeply. Head $h = 1, \dots, n_\text{heads}$ adds
#
# $$-2^{-8h/n_\text{heads}} \cdot |m - n|$$
#
# to the score of a query at $m$ and a key at $n$, behind the query or ahead of it, after the division by
# $\sqrt{d_k}$. Whether a key ahead may be seen is up to the mask, as ever.
#
#
# **Exercise.** Write the bias. Where there are fewer queries than keys, the queries are the last ones: query and key
# at the end stand at the same place. (A model that writes word by word asks one query at a time, the newest.)


# %% id="alibi_bias" tags=["exercise"]
def alibi_bias(n_heads: int, n_query: int, n_key: int) -> Float[Tensor, "n_heads n_query n_key"]:
    """Give −slope · distance; head h = 1 … n_heads has slope 2^(−8h/n_heads); the last query is the last key's."""
    raise NotImplementedError


# %% id="check-alibi_bias"
check(alibi_bias)

# %%
bias = parts.alibi_bias(4, 1, 40)[:, 0]  # the newest query, 40 keys that would all score the same
weights = parts.softmax(bias)
heads = {f"head {h + 1}": weights[h].flip(0) for h in range(4)}
ax = plots.lines(range(40), heads, xlabel="how far back", ylabel="weight")
print("weight on the nearest 10 keys:", [round(w, 2) for w in weights[:, -10:].sum(dim=1).tolist()])

# %% [markdown]
# The first head looks mostly at what is near, the last nearly evenly at everything. There is nothing to learn here.

# %% [markdown]
# ## Which of them reaches further?
#
# A fourth scheme is the plainest: **learned** positions. A table with a row for every position is a parameter like
# any other, and is added like the sinusoids. GPT-2 does it.
#
# Let us compare. The task: at each place of a random text, say which token stood *two places before*. We train small
# causal models (`LanguageModel` has all four schemes built in) on texts of length 16, and then give them texts of
# length 64.


# %%
def train(model: torch.nn.Module, answers, steps: int = 300) -> Tensor:
    """Train on random texts of 16 tokens; give the accuracy at each place of texts as long as the model takes."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)  # Adam, with weights that decay a little
    for _ in range(steps):
        tokens = torch.randint(16, (32, 16))
        loss = F.cross_entropy(model(tokens).flatten(0, 1), answers(tokens).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    tokens = torch.randint(16, (200, model.config.max_length))
    with torch.no_grad():
        return (model(tokens).argmax(dim=-1) == answers(tokens)).float().mean(dim=0)


def two_before(tokens: Tensor) -> Tensor:
    """The right answers; −100 tells the loss to skip the first two places, which have none."""
    return F.pad(tokens, (2, 0), value=-100)[:, :-2]


# %% [markdown]
# **Predict.** Which scheme is still right on texts *twice* as long as those it was trained on: `"sinusoidal"`,
# `"learned"`, `"rotary"` or `"alibi"`? (It takes some seconds.)

# %% tags=["prediction"]
prediction = ...

# %%
accuracy, models = {}, {}
for scheme in ["sinusoidal", "learned", "rotary", "alibi"]:
    shape = {"d_model": 32, "n_heads": 4, "d_ff": 64, "n_layers": 1, "dropout": 0.0}  # lesson 06 says what these are
    torch.manual_seed(0)
    models[scheme] = LanguageModel(LanguageModelConfig(16, max_length=64, positions=scheme, **shape))
    accuracy[scheme] = train(models[scheme], two_before)
ax = plots.lines(range(2, 64), {name: a[2:] for name, a in accuracy.items()}, xlabel="place", ylabel="accuracy")
ax.axvline(15.5, color="gray", linewidth=1)
compare(prediction, measured=max(accuracy, key=lambda scheme: accuracy[scheme][16:32].mean()))

# %%
stretches = {"2 to 15 (trained)": (2, 16), "16 to 31": (16, 32), "32 to 63": (32, 64)}
rows = {s: {where: a[i:j].mean().item() for where, (i, j) in stretches.items()} for s, a in accuracy.items()}
table = pd.DataFrame.from_dict(rows, orient="index")
(table > 0.9).rename_axis(columns="right in 9 of 10 cases, at places")

# %% tags=["nbval-ignore-output"]
table.round(2)

# %% [markdown]
# Right of the grey line begins what no model was trained on. Sinusoids and learned positions fall at once, though
# both were perfect before the line: those *places* were never seen. (A learned row there was never trained at all.
# Sinusoids come back in humps, where the waves look a little as they did.) Rotary positions find the token two places
# back on texts twice as long without a fault. From place 40 on they fail, too. But two back is as near as ever! What do
# the heads of that model look for? The logarithm of a weight is its score, but for a number that all of its row share.

# %% tags=["nbval-ignore-output"]
with record_attention(models["rotary"]) as recorded, torch.no_grad():
    models["rotary"](torch.randint(16, (200, 64)))
[weights] = recorded.values()
back = weights[:, :, -1].log().mean(dim=0).flip(-1)  # (4, 64): scores of the last query, with the key 0, 1, 2, … back
ax = plots.lines(range(64), {"head 3": back[2] - back[2, 2]}, xlabel="places back", ylabel="score, less that of 2 back")
ax.axvline(15.5, color="gray", linewidth=1)
print("each head's best of the first 16:", back[:, :16].argmax(dim=-1).tolist())
print("best of all 64 is 40 or more back:", (back.argmax(dim=-1) >= 40).tolist())

# %% [markdown]
# A peak every 6.3 places: a full turn of the fast hand. In texts of 16, left of the grey line, the peak at two back is
# the highest, for the next hand, ten times slower, lowers those that follow. But it turns, too: from some 20 places
# back on it raises them again. From 40 back on, wrong keys win. No text of 16 has such keys, so nothing in training
# spoke against it.
#
# ALiBi changes least from end to end, but never got there: lowering by distance says "near", not "exactly two back".

# %% [markdown]
# And past the end of a learned table there is nothing at all to look up:

# %%
try:
    torch.nn.Embedding(64, 32)(torch.tensor([64]))  # a table of 64 rows has no row 64
except IndexError as error:
    print(error)

# %% [markdown]
# ## Is a causal model blind to order?
#
# One more experiment, on a claim that is often heard: "without positions, attention knows nothing of order". The task
# now: at each of 16 places, say *which place it is*. Three models: one that looks both ways, without any positions
# (we overwrite them with 0); the same with sinusoids; and a causal one without any positions.
#
# **Predict.** Guessing is right once in 16 times, 0.06. How often is the *causal* model without positions right?

# %% tags=["prediction"]
prediction = ...


# %%
def which_place(tokens: Tensor) -> Tensor:
    """The right answers: 0, 1, 2, … in every text."""
    return torch.arange(tokens.shape[1]).expand(tokens.shape)


def looks_both_ways(sinusoids: bool) -> EncoderModel:
    """Make a model like the causal one, but without the mask; lesson 06 says what the numbers are."""
    shape = {"d_model": 32, "n_heads": 4, "d_ff": 64, "n_layers": 2, "max_length": 16, "dropout": 0.0, "pre_norm": True}
    model = EncoderModel(TransformerConfig(16, **shape), n_outputs=16)
    if not sinusoids:
        model.encoder.positions.zero_()
    return model


# %%
torch.manual_seed(0)
causal = LanguageModelConfig(16, d_model=32, n_heads=4, d_ff=64, n_layers=2, max_length=16, positions="none", dropout=0)
told_apart = {
    "both ways, no positions": looks_both_ways(sinusoids=False),
    "both ways, sinusoids": looks_both_ways(sinusoids=True),
    "causal, no positions": LanguageModel(causal),
}
right = {name: train(model, which_place) for name, model in told_apart.items()}
ax = plots.lines(range(16), right, xlabel="place", ylabel="accuracy")
_ = ax.legend(loc=(0.35, 0.6), frameon=False)

# %% tags=["nbval-ignore-output"]
compare(prediction, measured=round(right["causal, no positions"].mean().item(), 2))
print({name: round(a.mean().item(), 2) for name, a in right.items()})

# %%
first = {name: a[0].item() > 0.9 for name, a in right.items()}
print("sure of the first place:", first)
print("more than twice as good as a guess:", {name: a.mean().item() > 2 / 16 for name, a in right.items()})

# %% [markdown]
# Looking both ways without positions, it is a guess: all places see the same set. With sinusoids it is easy. But the
# causal model is well above chance without any! Can it count what it sees? Let it read one token 16 times.

# %%
causal_model = told_apart["causal, no positions"]
with torch.no_grad():
    print("one token, 16 times:", causal_model(torch.full((1, 16), 3)).argmax(dim=-1).unique().tolist())
    said = causal_model(torch.randint(16, (1000, 16))).argmax(dim=-1).float().mean(dim=0)
near = {place: abs(said[place].item() - place) < 2 for place in range(0, 8, 2)}
print("random tokens, its average answer less than two places off:", near)

# %% [markdown]
# It cannot: an average of equal vectors is the same for any number of them. But the mask lets each place average *more*
# tokens than the one before, and if they differ, an average of more of them varies less. That is information. The first
# place, which sees itself alone, is known for sure; in the middle the model is mostly wrong, though not far off. So "no
# order" is true of attention without a *causal* mask only.

# %% [markdown]
# ## Bug hunt
#
# A colleague has seen two ways of writing rotary positions and put them together. It runs, the shape is right, and at
# position 0 nothing turns, as it should be. (`chunk(2)` cuts into two halves; `repeat_interleave(2)` makes a, b into
# a, a, b, b.) Read it first and decide what is wrong; only then run the check, and mend it.


# %% id="mend-rotary" tags=["bug-hunt"]
def rotary_of_a_colleague(x, positions, base=10000.0):
    d = x.shape[-1]
    frequencies = base ** (-torch.arange(0, d, 2) / d)
    angles = (positions[:, None] * frequencies).repeat_interleave(2, dim=-1)
    first, second = x.chunk(2, dim=-1)
    partner = torch.cat([-second, first], dim=-1)
    return x * angles.cos() + partner * angles.sin()


# %% id="check-mend-rotary"
check(rotary_of_a_colleague, "apply_rotary")

# %% [markdown]
# <details><summary>How to find such a bug without a check</summary>
#
# Test what a rotation promises: no vector changes its length, and moving all positions by 100 changes no score. Both
# fail here. Then take d = 4 and write down, for each feature, its partner and its angle: partners are 2 apart, equal
# angles are neighbours. (With d = 2 there is nothing to see: test with at least two pairs.)
# </details>

# %%
for name, turn in {"the colleague's": rotary_of_a_colleague, "yours or the library's": parts.apply_rotary}.items():
    one, other = (turn(q, at) @ turn(k, at).T for at in (here, there))
    print(f"{name}: largest change of a score by moving: {(one - other).abs().max():.1f}")

# %% [markdown]
# ## ★ Transfer: a learned number for every distance
#
# The model T5 adds to each score a number that it *learns*, by head and by offset from query to key (far offsets share
# theirs, in buckets). Here −2 is a key two places *before* the query. `table[h]` holds them for the offsets −reach …
# reach, and is 2 · reach + 1 long. Offsets further out take the last entry on their side. As in `alibi_bias`, the
# queries are the last ones. Write the lookup.


# %% id="relative_bias" tags=["exercise"]
def relative_bias(
    table: Float[Tensor, "n_heads n_offsets"], n_query: int, n_key: int
) -> Float[Tensor, "n_heads n_query n_key"]:
    """Look up each head's bias for the offset from query to key; offsets beyond the table take its last entries."""
    raise NotImplementedError


# %% id="check-relative_bias"
check(relative_bias)

# %% [markdown]
# With it, a head *can* say "exactly two back": one large entry in the right place.

# %%
table = torch.zeros(1, 9)
table[0, 4 - 2] = 10.0  # offset −2
weights = parts.softmax(parts.relative_bias(table, 6, 6))[0]
ax = plots.weights(weights)
print("weight two places back, from place 5:", round(weights[5, 3].item(), 2))

# %% [markdown]
# ## In short
#
# - Attention is permutation equivariant: shuffle the inputs, and the outputs are shuffled. Order has to be put in.
# - Sinusoids: pairs of sine and cosine, from fast to slow. Dot products depend on the distance only, and fall as a
#   trend; a step is a rotation. Learned projections need not keep any of this.
# - Rotary positions turn queries and keys after the projections. Of the positions, scores then depend on the offset
#   $m - n$ only, whatever is learned.
# - ALiBi lowers scores by distance, learned positions are a table. Each scheme fails in its own way on long texts.
# - A causal mask alone tells something of the order, if tokens differ.

# %%
tokens = torch.randint(16, (2, 16))
rotary = LanguageModelConfig(16, d_model=32, n_heads=4, d_ff=64, n_layers=1, max_length=64, positions="rotary")
trace_shapes(LanguageModel(rotary), tokens)

# %% [markdown]
# Look for the positions: there are none in the table. Rotary positions have no parameters and no module; they turn what
# comes out of `w_q` and `w_k`. (`GroupedQueryAttention` is a kind of multi-head attention, of lesson 11.
# `GELUFeedForward` is lesson 06's network with a smoother curve than its ReLU, and the rest is the subject of that
# lesson.)

# %% [markdown]
# ## Interview questions
#
# Answer aloud first; the section named in each answer has the cell that shows it.
#
# <details><summary>Why does a Transformer need positional encodings?</summary>
#
# Self-attention, and layers that take each place alone, treat a text as a set: shuffle the words, and the outputs are
# shuffled the same way. Without a causal mask or positions no word order can matter. (<i>Who bites whom?</i>)
# </details>
#
# <details><summary>Why sine and cosine, and not sines alone?</summary>
#
# With both, the dot product of two positions is a sum of cosines of distances, and a step is a rotation of each pair.
# A sine alone has neither: its dot product changes from place to place. (<i>What the waves know</i>, <i>A step is a
# rotation</i>)
# </details>
#
# <details><summary>Why many frequencies?</summary>
#
# A fast wave tells neighbours apart but repeats after some positions; a slow one tells far places apart but not
# neighbours. Together they are like the hands of a clock. (<i>Why so many waves?</i>)
# </details>
#
# <details><summary>Does the dot product of two encodings fall steadily with distance?</summary>
#
# No. It falls as a trend and goes up again many times on its way. And the model sees it through learned projections,
# which can change it altogether. (<i>What the waves know</i>, <i>What the scores make of it</i>)
# </details>

# %% [markdown]
# <details><summary>What does RoPE do, and what is its advantage over adding sinusoids?</summary>
#
# It turns queries and keys by angles proportional to their positions, after the projections. Scores then depend on
# positions only by the offset from query to key, whatever the projections are. Values are not turned. (<i>Turn the
# queries and keys instead</i>)
# </details>
#
# <details><summary>How do the schemes behave on texts longer than those of training?</summary>
#
# Learned positions have rows that were never trained, or none at all. Sinusoids exist, but the model has not met them.
# In our task RoPE held to twice the length and failed before four times, where wrong keys come to stand as the right
# one did. ALiBi changed least, but could only prefer what is near. (<i>Which of them reaches further?</i>)
# </details>
#
# <details><summary>Is a decoder without positional encoding order-blind?</summary>
#
# No. Its causal mask lets each place average another number of tokens. Where these differ, it can learn from that
# something of where it stands. (<i>Is a causal model blind to order?</i>)
# </details>
#
# <details><summary>Are encodings added or appended, and why does adding work?</summary>
#
# Added in the paper. A projection of both side by side is $W_1 x + W_2 p$; adding is the case $W_1 = W_2$, and costs no
# width. Multiplied out, the score has terms for word and word, word and position, position and position, and the
# learned H can weigh them. (<i>What the scores make of it</i>)
# </details>

# %% [markdown]
# ## What to read next
#
# - Vaswani et al. (2017), [arXiv:1706.03762](https://arxiv.org/abs/1706.03762), section 3.5; Su et al. (2021),
#   [arXiv:2104.09864](https://arxiv.org/abs/2104.09864), sections 3.2 and 3.4.2, on RoPE; Press et al. (2022),
#   [arXiv:2108.12409](https://arxiv.org/abs/2108.12409), section 3, on ALiBi; Raffel et al. (2020),
#   [arXiv:1910.10683](https://arxiv.org/abs/1910.10683), section 2.1, on T5's.
# - `transformer_lab/attention/positions.py`: the library's versions.
#
# <details><summary>For instructors</summary>
#
# *Points*: sinusoidal_encoding 2, shift_rotation 3, apply_rotary 3, alibi_bias 2; stretch: relative_bias 2. The bug
# hunt is not graded. *Where students stumble*: `2i` counted twice or not at all; the minus of the rotation; pairs of
# neighbours against pairs of halves; aligning the last query with the last key. *To ask in class*: what would the dot
# products be with a base of 1? Why are the values not turned? How would you tell a model that a text is a ring?
# </details>

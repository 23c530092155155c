# %% [markdown] id="title"
# # Practice bank · exercises that interviews ask for
#
# No lesson requires these exercises. Each one fits on a page: a question, a small case, the formula with its source, a
# stub and a check. Take any of them in any order, or run `transformer-course practice --lesson bank` for a few of them
# in a notebook of their own. An exercise that passed comes back in your practice like any other.
#
# Exercises: 200 minutes (all optional ★).

# %% id="imports"
import math

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_course import check, hint, parts, solution

# %% [markdown]
# ## ★ One soft lookup
#
# **Three keys match a query about equally well. What does the lookup return?** About the mean of their values. If one
# key matches much better than the others, it returns almost exactly that key's value.
#
# $$\operatorname{lookup}(q, K, V) = \sum_i w_i\,v_i \qquad w = \operatorname{softmax}(K q)$$
#
# Source: Luong et al. (2015), [arXiv:1508.04025](https://arxiv.org/abs/1508.04025), equations 7 and 8, with the score
# *dot*. Lesson 01 writes the same for many queries at once, as one matrix product after another.
#
# **Exercise.** Write the lookup for a single query. The rows of `keys` and of `values` belong together.


# %% id="soft_lookup" tags=["exercise"]
def soft_lookup(
    query: Float[Tensor, " d"],
    keys: Float[Tensor, "n d"],
    values: Float[Tensor, "n d_v"],
) -> Float[Tensor, " d_v"]:
    """Return the average of the values, each weighted by how well its key matches the query."""
    raise NotImplementedError


# %% id="check-soft_lookup"
check(soft_lookup)

# %% [markdown]
# ## ★ The step of AdamW
#
# **How far does Adam move a parameter in its first step?** With a gradient of 2 or of 0.002, it moves by almost exactly
# the learning rate: Adam divides an average of the gradients by their root mean square.
#
# $$m \leftarrow \beta_1 m + (1-\beta_1)\,g \qquad v \leftarrow \beta_2 v + (1-\beta_2)\,g^2$$
#
# $$\theta \leftarrow \theta - \eta\,\frac{m/(1-\beta_1^t)}{\sqrt{v/(1-\beta_2^t)}+\varepsilon} - \eta\lambda\theta$$
#
# $m$ and $v$ start at 0, so they are too small in the first steps; the powers of $\beta$ correct that. AdamW takes the
# weight decay $\lambda$ from the parameter itself and leaves $m$ and $v$ alone. Sources: Kingma and Ba (2015),
# [arXiv:1412.6980](https://arxiv.org/abs/1412.6980), algorithm 1; Loshchilov and Hutter (2019),
# [arXiv:1711.05101](https://arxiv.org/abs/1711.05101), algorithm 2. Lesson 13 divides the same state among workers.
#
# **Exercise.** Write one step of AdamW for one tensor. `betas` is $(\beta_1, \beta_2)$, and both $\theta$ on the right
# are the old parameter. Return new tensors; do not change the arguments.


# %% id="adamw_step" tags=["exercise"]
def adamw_step(
    parameter: Float[Tensor, "*shape"],
    gradient: Float[Tensor, "*shape"],
    mean: Float[Tensor, "*shape"],
    mean_square: Float[Tensor, "*shape"],
    step: int,
    lr: float,
    betas: tuple[float, float],
    eps: float,
    weight_decay: float,
) -> tuple[Float[Tensor, "*shape"], Float[Tensor, "*shape"], Float[Tensor, "*shape"]]:
    """Return the parameter after step number `step` (from 1) of AdamW, and the two new running means."""
    raise NotImplementedError


# %% id="check-adamw_step"
check(adamw_step)

# %% [markdown]
# ## ★ Gradient clipping by norm
#
# **A batch gives a gradient 500 times larger than usual. How do you keep its direction and not its length?** Two
# parameters have the gradients [3] and [4]. Together they are a vector of length 5. If at most 1 is allowed, both are
# multiplied by 1/5: [0.6] and [0.8].
#
# $$g_i \leftarrow g_i \cdot \min\left(1, \frac{c}{\lVert g \rVert}\right)
# \qquad \lVert g \rVert = \sqrt{\sum_i \lVert g_i \rVert^2}$$
#
# Source: Pascanu, Mikolov and Bengio (2013), [arXiv:1211.5063](https://arxiv.org/abs/1211.5063), algorithm 1. Lesson 12
# measures the norm of each layer.
#
# **Exercise.** Clip a list of gradients by the norm of all of them together. Also return the norm from before clipping,
# which is what people log. Return new tensors; do not change the arguments.


# %% id="clip_by_global_norm" tags=["exercise"]
def clip_by_global_norm(
    gradients: list[Float[Tensor, "..."]], max_norm: float
) -> tuple[list[Float[Tensor, "..."]], Float[Tensor, ""]]:
    """Return the gradients, scaled down together if their norm is above `max_norm`, and the norm they had before."""
    raise NotImplementedError


# %% id="check-clip_by_global_norm"
check(clip_by_global_norm)

# %% [markdown]
# ## ★ Dropout
#
# **A layer loses half of its inputs in training. Why is the next layer not surprised when all of them are back?**
# Because what was kept was doubled. With p = 0.5, the vector [1, 2, 3] may become [2, 0, 6] in training; in evaluation
# it stays [1, 2, 3].
#
# $$y_i = \begin{cases} 0 & \text{if } u_i < p \\ x_i / (1-p) & \text{otherwise} \end{cases}$$
#
# The expected value of $y_i$ is $x_i$. Source: Srivastava et al. (2014), [Journal of Machine Learning Research
# 15](https://jmlr.org/papers/v15/srivastava14a.html), who scale in evaluation instead; PyTorch's *inverted* dropout
# scales in training.
#
# **Exercise.** Write dropout. `noise` holds the random numbers $u_i$, uniform between 0 and 1, so that the result is
# not random. In evaluation (`training=False`), return x as it is.


# %% id="inverted_dropout" tags=["exercise"]
def inverted_dropout(
    x: Float[Tensor, "*shape"], noise: Float[Tensor, "*shape"], p: float, training: bool
) -> Float[Tensor, "*shape"]:
    """Return x after dropout with probability `p`: in training, numbers with `noise` below `p` are dropped."""
    raise NotImplementedError


# %% id="check-inverted_dropout"
check(inverted_dropout)

# %% [markdown]
# ## ★ Embedding lookup
#
# **How does a token become a vector?** A table has one row per kind of token. The tokens [2, 0, 2] take the rows 2, 0
# and 2: the same as one-hot vectors times the table, without the multiplications.
#
# $$e_t = \sqrt{d_{model}}\; E_{\text{token}_t}$$
#
# The Transformer multiplies by $\sqrt{d_{model}}$ before it adds positions. Padding gets zeros, so that it contributes
# to no sum and its row is not trained. Source: Vaswani et al. (2017),
# [arXiv:1706.03762](https://arxiv.org/abs/1706.03762), section 3.4.
#
# **Exercise.** Look up a batch of tokens of any shape. Positions that hold `pad_id` get zeros.


# %% id="embedding_lookup" tags=["exercise"]
def embedding_lookup(
    tokens: Int[Tensor, "*batch n"], table: Float[Tensor, "vocab_size d_model"], pad_id: int
) -> Float[Tensor, "*batch n d_model"]:
    """Return each token's row of the table, times √d_model; padding gets zeros."""
    raise NotImplementedError


# %% id="check-embedding_lookup"
check(embedding_lookup)

# %% [markdown]
# ## ★ GELU
#
# **What lies between passing a number on and dropping it?** ReLU drops every negative number. GELU multiplies $x$ by
# the probability that a standard normal random number is smaller than $x$: 3 becomes 2.996, 0 stays 0, and −1 becomes
# −0.159.
#
# $$\mathrm{GELU}(x) = x\,\Phi(x) = \tfrac{x}{2}\left(1+\operatorname{erf}\tfrac{x}{\sqrt 2}\right)$$
#
# GPT-2 uses an approximation by tanh, BERT the exact form. Source: Hendrycks and Gimpel (2016),
# [arXiv:1606.08415](https://arxiv.org/abs/1606.08415).
#
# **Exercise.** Write the exact GELU.


# %% id="gelu" tags=["exercise"]
def gelu(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Return x · Φ(x), where Φ is the distribution function of the standard normal distribution."""
    raise NotImplementedError


# %% id="check-gelu"
check(gelu)

# %% [markdown]
# ## ★ BatchNorm against LayerNorm
#
# **Both subtract a mean and divide by a standard deviation. Of which numbers?** For x of shape (batch, n, d), LayerNorm
# has a mean for each of the batch · n positions, over its d features. BatchNorm has one for each of the d features,
# over batch and positions, so a text's output depends on its neighbors in the batch. In evaluation there may be no
# neighbors: BatchNorm then uses running averages, which training updates.
#
# $$y = \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}}\, w + b
# \qquad \bar\mu \leftarrow (1-\alpha)\,\bar\mu + \alpha\,\mu
# \qquad \bar\sigma^2 \leftarrow (1-\alpha)\,\bar\sigma^2 + \alpha\,\tfrac{n}{n-1}\,\sigma^2$$
#
# $\mu$ and $\sigma^2$ are those of the batch in training (σ² divides by n, the number of positions in the batch), and
# $\bar\mu$ and $\bar\sigma^2$ in evaluation. α is `momentum`. Sources: Ioffe and Szegedy (2015),
# [arXiv:1502.03167](https://arxiv.org/abs/1502.03167), algorithms 1 and 2; the momentum is that of
# [`nn.BatchNorm1d`](https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm1d.html). Lesson 06 has LayerNorm.
#
# **Exercise.** Write BatchNorm for training and for evaluation. In evaluation, the running statistics are returned
# unchanged. Return new tensors; do not change the arguments.


# %% id="batch_norm" tags=["exercise"]
def batch_norm(
    x: Float[Tensor, "batch n d"],
    weight: Float[Tensor, " d"],
    bias: Float[Tensor, " d"],
    running_mean: Float[Tensor, " d"],
    running_var: Float[Tensor, " d"],
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Float[Tensor, "batch n d"], Float[Tensor, " d"], Float[Tensor, " d"]]:
    """Normalize each feature over batch and positions; return the output and the new running mean and variance."""
    raise NotImplementedError


# %% id="check-batch_norm"
check(batch_norm)

# %% [markdown]
# ## ★ Stable cross-entropy from logits
#
# **A model is very wrong: the logits are [0, −150], and the second class is right. What is the loss?** 150. But its
# probability, e⁻¹⁵⁰, is rounded to 0 in float32, and −log 0 is infinite. The way out never computes the probability:
#
# $$-\log \mathrm{softmax}(z)_y = \log \sum_j e^{z_j - m} - (z_y - m) \qquad m = \max_j z_j$$
#
# The largest exponent is 0, so nothing overflows. Source: Goodfellow, Bengio and Courville (2016), [*Deep
# Learning*](https://www.deeplearningbook.org/contents/numerical.html), section 4.1. Lesson 08 smooths the targets of
# this loss.
#
# **Exercise.** Return the mean loss of the rows whose target is not `ignore_id`, which may be −100 or a class. At least
# one row counts.


# %% id="cross_entropy_from_logits" tags=["exercise"]
def cross_entropy_from_logits(
    logits: Float[Tensor, "n n_classes"], targets: Int[Tensor, " n"], ignore_id: int
) -> Float[Tensor, ""]:
    """Return the mean of −log p of the targets, without those that are `ignore_id`; it stays finite for any logits."""
    raise NotImplementedError


# %% id="check-cross_entropy_from_logits"
check(cross_entropy_from_logits)

# %% [markdown]
# ## ★ Multi-token prediction (MTP)
#
# **Can a model learn more from the same text?** After "the cat", a language model is asked for "sat". With two heads, a
# second one is asked for the token after that, "on". For the text a b c d, head 0 predicts b c d, and head 1 predicts c
# d.
#
# $$L = \frac{1}{K}\sum_{k=0}^{K-1} \operatorname{mean}_t\left(-\log p_k(x_{t+k+1} \mid x_{\le t})\right)$$
#
# The mean of head $k$ is over all positions that have such a token. Source: Gloeckle et al. (2024),
# [arXiv:2404.19737](https://arxiv.org/abs/2404.19737), section 2 (which adds the heads up); DeepSeek-V3 (2024),
# [arXiv:2412.19437](https://arxiv.org/abs/2412.19437), section 2.2, takes the mean. Lesson 09 has the loss of one head.
#
# **Exercise.** Write the loss. All heads count the same. There is no padding, and a text has more tokens than there are
# heads.


# %% id="multi_token_loss" tags=["exercise"]
def multi_token_loss(
    logits: Float[Tensor, "n_heads batch n vocab_size"], tokens: Int[Tensor, "batch n"]
) -> Float[Tensor, ""]:
    """Return the mean over the heads of their mean losses; at position t, head k (from 0) predicts token t + k + 1."""
    raise NotImplementedError


# %% id="check-multi_token_loss"
check(multi_token_loss)

# %% [markdown]
# ## ★ Top-k and top-p for every request
#
# **Two requests share a batch. One wants the 2 likeliest tokens, the other 90 % of the mass. How do you sample both at
# once?** Sort each row. Both limits are then masks over places. With the sorted probabilities 0.4, 0.3, 0.2, 0.1, top-k
# of 3 leaves 0.4, 0.3 and 0.2, which become 0.44, 0.33 and 0.22. Of these, top-p of 0.5 needs the first two.
#
# Top-k comes first. Then the **nucleus** is the smallest set of the likeliest tokens whose renormalized mass is at
# least top-p: a token is needed as long as the mass *before* it is below top-p. Source: Holtzman et al. (2020),
# [arXiv:1904.09751](https://arxiv.org/abs/1904.09751), section 3.1. In lesson 09, all rows have the same limits.
#
# **Exercise.** Draw one token per row with `generator`. Each row has a `top_k` of at least 1, which may exceed the size
# of the vocabulary, and a `top_p` above 0 and up to 1.


# %% id="sample_per_request" tags=["exercise"]
def sample_per_request(
    logits: Float[Tensor, "batch vocab_size"],
    top_k: Int[Tensor, " batch"],
    top_p: Float[Tensor, " batch"],
    generator: torch.Generator | None = None,
) -> Int[Tensor, " batch"]:
    """Draw a token for each row from its `top_k` likeliest tokens, and of these from the smallest set with `top_p`."""
    raise NotImplementedError


# %% id="check-sample_per_request"
check(sample_per_request)

# %% [markdown]
# ## ★ Quantization to int8 per channel
#
# **How do you store a weight in one byte?** As a whole number of steps. In the row [0.5, −1.27], one step is 1.27 / 127
# = 0.01, and the row becomes [50, −127]. Another row may be 100 times smaller; with a scale of its own, it loses as
# little.
#
# $$s_i = \frac{\max_j |w_{ij}|}{127} \qquad q_{ij} = \mathrm{round}(w_{ij} / s_i)$$
#
# Each row is an output **channel**. Sources: Jacob et al. (2018), [arXiv:1712.05877](https://arxiv.org/abs/1712.05877);
# Dettmers et al. (2022), [arXiv:2208.07339](https://arxiv.org/abs/2208.07339), section 2.
#
# **Exercise.** Return the numbers as `torch.int8`, and the scales. A row of zeros gets the scale 1.


# %% id="quantize_per_channel" tags=["exercise"]
def quantize_per_channel(
    weight: Float[Tensor, "d_out d_in"],
) -> tuple[Int[Tensor, "d_out d_in"], Float[Tensor, " d_out"]]:
    """Return whole numbers from −127 to 127 and a scale per row, so that scale · number is near the weight.

    A row of zeros gets the scale 1.
    """
    raise NotImplementedError


# %% id="check-quantize_per_channel"
check(quantize_per_channel)

# %% [markdown]
# ## ★ Paged attention
#
# **A server keeps the keys and values of many requests, and nobody knows how long each will get. Where do you put
# them?** In pages of a fixed size, wherever one is free, as an operating system does with memory. If pages have 2 slots
# and row 0 of the block table is [5, 2], then the first two tokens of request 0 are in page 5, and the third is in the
# first slot of page 2.
#
# $$o_h = \sum_{t < \text{length}} \mathrm{softmax}_t\left(\frac{q_h \cdot k_{t,h}}{\sqrt{d_k}}\right) v_{t,h}
# \qquad k_t = \text{pages}[\text{table}[\lfloor t/B \rfloor]][t \bmod B]$$
#
# Source: Kwon et al. (2023), [arXiv:2309.06180](https://arxiv.org/abs/2309.06180), section 4.1. In lesson 10, a cache
# is one piece.
#
# **Exercise.** Each request has one new query per head. Attend to its first `lengths` tokens. The table has entries for
# the longest request; the others' unused entries may point to any page.


# %% id="paged_attention" tags=["exercise"]
def paged_attention(
    query: Float[Tensor, "batch n_heads d_k"],
    key_pages: Float[Tensor, "n_pages page_size n_heads d_k"],
    value_pages: Float[Tensor, "n_pages page_size n_heads d_v"],
    block_table: Int[Tensor, "batch max_pages"],
    lengths: Int[Tensor, " batch"],
) -> Float[Tensor, "batch n_heads d_v"]:
    """Attend from one query per request to its first `lengths` tokens; `block_table` lists its pages in order."""
    raise NotImplementedError


# %% id="check-paged_attention"
check(paged_attention)

# %% [markdown]
# ## ★ Ring attention
#
# **A text is too long for one device. Four devices hold a quarter of it each. How does every token attend to all
# earlier ones?** Each device keeps its queries. Keys and values travel around a ring: after one step, device 1 holds
# the block of device 0, device 2 that of device 1, and device 0 that of device 3, of which its queries may see nothing.
# After all steps, every device has met every block.
#
# As in FlashAttention (lesson 10), each query keeps a running maximum $m$, a sum $\ell$ and a weighted sum $o$. When a
# block of scores $s$ with values $v$ arrives:
#
# $$m' = \max(m, \max_j s_j)
# \qquad \ell \leftarrow e^{m-m'}\ell + \sum_j e^{s_j-m'}
# \qquad o \leftarrow e^{m-m'} o + \sum_j e^{s_j-m'} v_j$$
#
# The output is $o / \ell$. Source: Liu, Zaharia and Abbeel (2023),
# [arXiv:2310.01889](https://arxiv.org/abs/2310.01889), algorithm 1.
#
# **Exercise.** Dimension 0 stands for the devices, in the order of the text. Compute causal attention over the whole
# text. Per step, each device works with one block of keys: the check measures that you never hold all scores at once.


# %% id="ring_attention" tags=["exercise"]
def ring_attention(
    queries: Float[Tensor, "n_devices n d_k"],
    keys: Float[Tensor, "n_devices n d_k"],
    values: Float[Tensor, "n_devices n d_v"],
) -> Float[Tensor, "n_devices n d_v"]:
    """Compute causal attention over the n_devices · n positions; each device holds one block of keys at a time."""
    raise NotImplementedError


# %% id="check-ring_attention"
check(ring_attention)

# %% [markdown]
# ## ★ The loss of a reward model (Bradley–Terry)
#
# **People can say which of two answers is better, but not that one is worth 7.3. How does a model learn to give
# numbers?** It makes the difference of two rewards predict who wins. With rewards 2 and 1, the chosen answer wins with
# probability σ(1) = 0.73, and the loss is −log 0.73 = 0.31.
#
# $$L = -\log \sigma\left(r_{chosen} - r_{rejected} - m\right)$$
#
# The reward is the score at an answer's last token, the only one that has read all of it. The margin $m$ asks for a
# larger difference where people were sure. Sources: Ouyang et al. (2022),
# [arXiv:2203.02155](https://arxiv.org/abs/2203.02155), equation 1; the margin: Touvron et al. (2023),
# [arXiv:2307.09288](https://arxiv.org/abs/2307.09288), section 3.2.2. DPO, in lesson 14, needs no reward model.
#
# **Exercise.** `chosen` and `rejected` hold a score for every token and padding after the answers, which are
# `chosen_lengths` and `rejected_lengths` long. Return the mean loss of the pairs. It should be finite even for a
# difference of −120.


# %% id="reward_model_loss" tags=["exercise"]
def reward_model_loss(
    chosen: Float[Tensor, "batch n_chosen"],
    rejected: Float[Tensor, "batch n_rejected"],
    chosen_lengths: Int[Tensor, " batch"],
    rejected_lengths: Int[Tensor, " batch"],
    margin: Float[Tensor, " batch"],
) -> Float[Tensor, ""]:
    """Return the mean of −log σ(reward of chosen − reward of rejected − margin); a reward is the last token's score."""
    raise NotImplementedError


# %% id="check-reward_model_loss"
check(reward_model_loss)

# %% [markdown]
# ## ★ Generalized advantage estimation (GAE)
#
# **Was that action good, or was the situation good anyway?** A critic estimates the value of each state. If it expected
# 1, the reward is 2 and the next state is worth 3, then with $\gamma = 0.9$ the step was better than expected by $2 +
# 0.9 \cdot 3 - 1 = 3.7$. That is the **TD error** $\delta_t$. GAE adds the errors of later steps with weights that fall
# by $\gamma\lambda$ per step: a small $\lambda$ trusts the critic, a large one the rewards.
#
# $$\delta_t = r_t + \gamma V_{t+1} - V_t \qquad A_t = \delta_t + \gamma\lambda A_{t+1}$$
#
# Where an episode ends, nothing follows: $V_{t+1}$ and $A_{t+1}$ are 0. After the last step of a rollout, `last_value`
# is $V_{t+1}$, unless the episode ends there. The returns, which the critic learns, are $A_t + V_t$. Source: Schulman
# et al. (2016), [arXiv:1506.02438](https://arxiv.org/abs/1506.02438), equation 16.
#
# **Exercise.** Compute advantages and returns. Each row is a step, each column an environment.


# %% id="gae" tags=["exercise"]
def gae(
    rewards: Float[Tensor, "n_steps n_envs"],
    values: Float[Tensor, "n_steps n_envs"],
    last_value: Float[Tensor, " n_envs"],
    done: Bool[Tensor, "n_steps n_envs"],
    gamma: float,
    lam: float,
) -> tuple[Float[Tensor, "n_steps n_envs"], Float[Tensor, "n_steps n_envs"]]:
    """Return the advantages and the returns. `done[t]` is True if an episode ends with step t."""
    raise NotImplementedError


# %% id="check-gae"
check(gae)

# %% [markdown]
# ## ★ PPO's clipped loss
#
# **An action was good, so it becomes twice as likely. Should the next update push it further?** Not with the same data:
# with a clip of 0.2, PPO stops rewarding it at 1.2 times the old probability. An action that was good and became *less*
# likely still gets its full gradient.
#
# $$L = -\operatorname{mean}\,\min\left(\rho A,\; \mathrm{clamp}(\rho, 1-c, 1+c)\,A\right) +
# w \cdot \tfrac12 \operatorname{mean}\,\max\left((V-R)^2, (V_c-R)^2\right)$$
#
# $\rho$ is the ratio of new to old probability, and $V_c = V_{old} + \mathrm{clamp}(V - V_{old}, -c, c)$ holds the
# critic back in the same way. Sources: Schulman et al. (2017), [arXiv:1707.06347](https://arxiv.org/abs/1707.06347),
# equation 7; the value loss: Engstrom et al. (2020), [arXiv:2005.12729](https://arxiv.org/abs/2005.12729). GRPO, in
# lesson 14, has no critic.
#
# **Exercise.** Write the loss. Each entry of the vectors is a step; the advantages are used as they are.


# %% id="ppo_loss" tags=["exercise"]
def ppo_loss(
    log_p: Float[Tensor, " n"],
    old_log_p: Float[Tensor, " n"],
    advantages: Float[Tensor, " n"],
    values: Float[Tensor, " n"],
    old_values: Float[Tensor, " n"],
    returns: Float[Tensor, " n"],
    clip: float,
    value_weight: float,
) -> Float[Tensor, ""]:
    """Return the clipped policy loss plus `value_weight` times the clipped value loss, both averaged over all steps."""
    raise NotImplementedError


# %% id="check-ppo_loss"
check(ppo_loss)

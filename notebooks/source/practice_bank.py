# %% [markdown] id="title"
# # Practice bank · exercises that interviews ask for
#
# No lesson requires these exercises. Each one fits on a page: a question, a small case, the formula with its source, a
# stub and a check. Take any of them in any order, or run `transformer-course practice --lesson bank` for a few
# from memory. An exercise that passed comes back in your practice like any other.
#
# Exercises: 40 minutes (all optional ★).

# %% id="imports"
import math

import torch
from jaxtyping import Bool, Float, Int, Int8
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_course import check, hint, parts, solution

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
# **Exercise.** Write one step of AdamW for one tensor. `betas` is $(\beta_1, \beta_2)$, and the parameter on the right
# is the old one in both places. Return new tensors; do not change the arguments.


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
# ## ★ Generalized advantage estimation (GAE)
#
# **Was that action good, or was the situation good anyway?** A critic estimates the value of each state. If it expected
# 1, the reward is 2 and the next state is worth 3, then with $\gamma = 0.9$ the step was better than expected by
# $2 + 0.9 \cdot 3 - 1 = 3.7$. That is the **TD error** $\delta_t$. GAE adds the errors of later steps with weights that
# fall by $\gamma\lambda$ per step: a small $\lambda$ trusts the critic, a large one the rewards.
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

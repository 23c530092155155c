"""Generalized advantage estimation: how much better each action was than the critic expected."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def gae(
    rewards: Float[Tensor, "n_steps n_envs"],
    values: Float[Tensor, "n_steps n_envs"],
    last_value: Float[Tensor, " n_envs"],
    done: Bool[Tensor, "n_steps n_envs"],
    gamma: float,
    lam: float,
) -> tuple[Float[Tensor, "n_steps n_envs"], Float[Tensor, "n_steps n_envs"]]:
    """Return the advantages and the returns. `done[t]` is True if an episode ends with step t."""
    continues = (~done).float()
    next_values = torch.cat([values[1:], last_value[None]])
    errors = rewards + gamma * next_values * continues - values
    advantages = torch.zeros_like(rewards)
    following = torch.zeros_like(last_value)
    for t in reversed(range(len(rewards))):
        following = errors[t] + gamma * lam * continues[t] * following
        advantages[t] = following
    return advantages, advantages + values


def continues(done):
    """mark the steps after which the episode continues → 1 where the episode continues, 0 where it ends"""
    return (~done).float()


def next_values(values, last_value):
    """shift the values by one step, and append the last value → the value of the state after each step"""
    return torch.cat([values[1:], last_value[None]])


def bootstrapped(rewards, next_values, continues, gamma):
    """add the discounted next value, unless the episode ends → the target: reward + γ · next value · continues"""
    return rewards + gamma * next_values * continues


def errors(bootstrapped, values):
    """subtract the value of the state → the TD errors: target − value"""
    return bootstrapped - values


def factors(continues, gamma, lam):
    """multiply γ by λ, and by 0 where an episode ends → the factors of the recursion: γ · λ · continues"""
    return gamma * lam * continues


def advantages(errors, factors):
    """add up from the last step to the first → the advantages: A_t = error_t + factor_t · A_{t+1}"""
    found, following = [], torch.zeros_like(errors[0])
    for error, factor in zip(errors.flip(0), factors.flip(0), strict=True):
        following = error + factor * following
        found.append(following)
    return torch.stack(found[::-1])


def returns(advantages, values):
    """add the values to the advantages → the returns: advantage + value"""
    return advantages + values


def result(advantages, returns):
    """return the advantages and the returns → the advantages and the returns"""
    return advantages, returns


STEPS = InSteps(
    continues, next_values, bootstrapped, errors, factors, advantages, returns, result, reference=gae
)  # fmt: skip


def gae_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n_steps, n_envs, ends, shows, gamma=0.9, lam=0.8):
        done = torch.zeros(n_steps, n_envs, dtype=torch.bool)
        for place in ends:
            done[place] = True
        inputs = {
            "rewards": normal(rng, n_steps, n_envs),
            "values": normal(rng, n_steps, n_envs),
            "last_value": normal(rng, n_envs),
            "done": done,
            "gamma": gamma,
            "lam": lam,
        }
        return Case(inputs, shows, constants=("rewards", "values", "last_value"))

    return [
        case(1, 1, [], "one step, and the episode goes on"),
        case(2, 1, [1], "two steps, and the episode ends"),
        case(3, 1, [], "λ of 0", lam=0.0),
        case(4, 1, [], "λ of 1 and γ of 1", gamma=1.0, lam=1.0),
        case(5, 1, [2], "5 steps; one episode ends in the middle"),
        case(3, 3, [(1, 0), (2, 2)], "3 steps in 3 environments"),
        case(7, 2, [(0, 1), (3, 0), (6, 1)], "7 steps in 2 environments", gamma=uniform(rng, 0.9, 0.95), lam=0.95),
        case(31, 5, [(3, 1), (17, 1), (30, 0), (12, 4)], "31 steps in 5 environments", gamma=0.99, lam=0.9),
    ]


MISTAKES = [
    Mistake(
        "never_resets",
        STEPS.but(continues=lambda done: torch.ones(done.shape)),
        summary="your result doesn't depend on `done`",
        message=(
            "Your result doesn't depend on `done`. After the end of an episode, the next value and the next "
            "advantage come from another episode. What should you multiply them by when an episode ends?"
        ),
        hints=["If an episode ends with step 2, what should the rewards of step 3 change in the advantage of step 2?"],
    ),
    Mistake(
        "resets_one_step_late",
        STEPS.but(continues=lambda done: torch.cat([torch.ones(1, done.shape[1]), (~done[:-1]).float()])),
        summary="you apply `done` one step late",
        message="You apply `done` one step late. `done[t]` says that the episode ends *with* step t, so it already "
        "cuts what follows step t. Which index of `done` belongs to `rewards[t]`?",
        hints=["With `done[2]` True, which step's error may not use the value of its next state?"],
    ),
    Mistake(
        "forgets_to_reset_the_sum",
        STEPS.but(factors=lambda continues, gamma, lam: gamma * lam * torch.ones_like(continues)),
        summary="you don't reset the running sum at the end of an episode",
        message="You drop the next value where an episode ends, but the running sum still carries the advantage of the "
        "next episode back. What else has to be 0 there?",
        hints=["If an episode ends with step 2, may the advantage of step 3 enter that of step 2?"],
    ),
    Mistake(
        "forgets_to_cut_the_next_value",
        STEPS.but(bootstrapped=lambda rewards, next_values, gamma: rewards + gamma * next_values),
        summary="you use the next value even where an episode ends",
        message="You reset the running sum where an episode ends, but the TD error there still uses the value of the "
        "next episode's first state. What is the value of a state after the end?",
        hints=["After its last step, an episode earns nothing more. What is the next value then?"],
    ),
    Mistake(
        "ignores_the_last_value",
        STEPS.but(next_values=lambda values, last_value: torch.cat([values[1:], torch.zeros_like(last_value)[None]])),
        summary="you treat the last value as 0",
        message="You treat the value after the last step as 0. If the episode was only cut off by the length of the "
        "rollout, there is more to come. Which argument estimates it?",
        hints=["With one step that does not end the episode, which value follows it?"],
    ),
    Mistake(
        "discounted_once",
        STEPS.but(factors=lambda continues, lam: lam * continues),
        summary="you multiply the running sum by λ alone",
        message="You multiply the running sum by λ without γ. With λ = 1, advantages should be discounted returns "
        "minus values. Which factor discounts a reward that comes one step later?",
        hints=["With λ = 1 and γ = 0.5, how much should a reward two steps later count?"],
    ),
    Mistake(
        "runs_forward",
        STEPS.but(
            advantages=lambda errors, factors: torch.stack(
                [
                    sum(
                        (errors[s] * factors[s + 1 : t + 1].prod(dim=0) for s in range(t)),
                        start=errors[t],
                    )
                    for t in range(len(errors))
                ]
            )
        ),
        summary="you run from the first step to the last",
        message="You run through the steps forward, so each advantage collects *earlier* errors. An action can only "
        "change what comes after it. In which direction does the recursion run?",
        hints=["Which advantages should a reward in the last step change?"],
    ),
    Mistake(
        "resets_one_step_early",
        STEPS.but(continues=lambda done: (~torch.cat([done[1:], done[-1:]])).float()),
        summary="you apply `done` one step early",
        message="You apply `done` one step early: you look up `done[t + 1]` for step t. Some libraries store "
        "whether the state *before* a step is new; here `done[t]` is about step t itself. Which index do you need?",
        hints=["With `done[2]` True, should step 1 use the value of step 2?"],
    ),
    Mistake(
        "normalizes",
        STEPS.but(
            result=lambda advantages, returns: (
                (advantages - advantages.mean()) / (advantages.std() + 1e-8),
                returns,
            )
        ),
        summary="you normalize the advantages",
        message=(
            "You normalize the advantages. PPO does that later, in each minibatch; GAE returns the advantages "
            "without normalizing them. What is the standard deviation of a single step?"
        ),
        hints=["With one step in one environment, what should the advantage be?"],
    ),
    Mistake(
        "last_row_of_the_values",
        STEPS.but(last_value=lambda values: values[-1]),
        summary="you use the last row of `values` instead of `last_value`",
        message=(
            "You use the last row of `values`. That row is the value of the state *before* the last step. Which "
            "argument has the value of the state after it?"
        ),
        hints=["With one step, which two states does its TD error compare?"],
    ),
]

EXERCISE = Exercise(
    reference=gae,
    steps=STEPS,
    cases=gae_cases,
    points=3,
    stretch=True,
    verified="Advantages and returns are right for every λ from 0 to 1, and nothing leaks from one episode into "
    "another.",
    hints=[
        "Suppose the critic expected 1, the reward is 2, and the episode ends. How much better was the action than "
        "expected? And if the next state is worth 3?",
        "The TD error is reward + γ · next value − value. GAE is the exponentially weighted sum of all later TD errors "
        "of the same episode, with weights (γλ)ᵏ.",
        "Compute all TD errors, then go from the last step to the first: A_t = error_t + γ · λ · A_{t+1}. Multiply "
        "both the next value and A_{t+1} by 0 where the episode ends.",
        "`following = error[t] + gamma * lam * (~done[t]) * following` in a loop over `reversed(range(n_steps))`; "
        "`torch.stack` and adding `values` give the rest.",
    ],
    messages={
        "part_left_out_returns: advantages": Wording(
            "You return the advantages twice. The critic learns the returns. What do you add to an advantage to get a "
            "return?",
            summary="you don't add the values to get the returns",
        ),
        "not_inverted_continues: done": Wording(
            "{summary}, so values and advantages flow back only *across* the ends of episodes. Where should the "
            "recursion stop?",
            summary="you use `done` without inverting it",
        ),
        "part_left_out_factors: gamma": Wording(
            "{summary}, so your advantages are those for λ = 1. With λ = 0, which errors should an advantage contain?",
            summary="you never multiply by `lam`",
        ),
    },
    mistakes=MISTAKES,
)

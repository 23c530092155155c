"""The gated delta rule: a fixed-size state that decays and replaces the value stored under a key."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def gated_delta_rule(
    q: Float[Tensor, "n d_k"],
    k: Float[Tensor, "n d_k"],
    v: Float[Tensor, "n d_v"],
    decay: Float[Tensor, " n"],
    beta: Float[Tensor, " n"],
) -> Float[Tensor, "n d_v"]:
    """Write each token into a fixed-size state, then read the state with the token's query."""
    state, outputs = torch.zeros(k.shape[1], v.shape[1]), []
    for t in range(len(k)):
        state = decay[t] * state
        error = v[t] - k[t] @ state
        state = state + beta[t] * torch.outer(k[t], error)
        outputs.append(q[t] @ state)
    return torch.stack(outputs)


def start(k, v):
    """start with a state of zeros → the initial state, (d_k, d_v)"""
    return torch.zeros(k.shape[1], v.shape[1])


def decayed():
    """multiply the state by the token's decay → the decayed state"""
    return lambda state, decay: decay * state


def recalled():
    """read the decayed state with the key → the recalled value, (d_v)"""
    return lambda state, key: key @ state


def error():
    """subtract the recalled value from the token's value → the error, (d_v)"""
    return lambda value, recalled: value - recalled


def written():
    """add β times the outer product of the key and the error → the new state, (d_k, d_v)"""
    return lambda state, key, error, beta: state + beta * torch.outer(key, error)


def read():
    """read the new state with the query → the output of a token, (d_v)"""
    return lambda state, query: query @ state


def outputs(start, decayed, recalled, error, written, read, q, k, v, decay, beta):
    """repeat for every token → the outputs of all tokens"""
    state, collected = start, []
    for t in range(len(k)):
        state = decayed(state, decay[t])
        state = written(state, k[t], error(v[t], recalled(state, k[t])), beta[t])
        collected.append(read(state, q[t]))
    return collected


def output(outputs):
    """stack the outputs → the output, (n, d_v)"""
    return torch.stack(outputs)


STEPS = InSteps(start, decayed, recalled, error, written, read, outputs, output, reference=gated_delta_rule)


def gated_delta_rule_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n: int, d_k: int, d_v: int, shows: str, length: float = 1.0) -> Case:
        keys = torch.nn.functional.normalize(normal(rng, n, d_k), dim=-1)
        inputs = {
            "q": normal(rng, n, d_k),
            "k": length * keys,
            "v": normal(rng, n, d_v),
            "decay": 0.5 + 0.45 * torch.rand(n, generator=rng),
            "beta": 0.3 + 0.6 * torch.rand(n, generator=rng),
        }
        return Case(inputs, shows)

    def same_key(beta: float, decay: float, shows: str) -> Case:
        """Return a case that writes 2, then 5, under the key (1, 0), and reads it each time."""
        key = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
        values = torch.tensor([[2.0], [5.0]])
        return Case(
            {"q": key.clone(), "k": key, "v": values, "decay": torch.full((2,), decay), "beta": torch.full((2,), beta)},
            shows,
        )

    return [
        same_key(1.0, 1.0, "one key that gets the value 2, then 5; no decay, β = 1"),
        same_key(0.5, 1.0, "one key that gets the value 2, then 5; no decay, β = 0.5"),
        same_key(0.5, 0.5, "one key that gets the value 2, then 5; decay 0.5, β = 0.5"),
        case(1, 3, 7, "one token, keys of width 3, values of width 7"),
        case(3, 3, 3, "3 tokens, keys and values of width 3"),
        case(5, 2, 4, "5 tokens, keys of width 2, values of width 4"),
        case(4, 3, 2, "4 tokens whose keys are 0.7 long", length=0.7),
        case(13, 5, 7, "13 tokens, keys of width 5, values of width 7"),
    ]


def in_another_order(*order: str):
    """Return the answer whose loop runs these parts in this order: "decay", "error", "write" and "read"."""

    def outputs(start, decayed, recalled, error, written, read, q, k, v, decay, beta):
        state, collected = start, []
        for t in range(len(k)):
            difference = None
            for part in order:
                if part == "decay":
                    state = decayed(state, decay[t])
                elif part == "error":
                    difference = error(v[t], recalled(state, k[t]))
                elif part == "write":
                    state = written(state, k[t], difference, beta[t])
                else:
                    collected.append(read(state, q[t]))
        return collected

    return STEPS.but(outputs=outputs)


TWICE = "The first case writes 2, then 5, under the same key. What should a query with that key read after each write?"

MISTAKES = [
    Mistake(
        "plain_linear_attention",
        STEPS.but(error=lambda: lambda value, recalled: value),
        summary="you write the whole value, without subtracting what the state returns for the key",
        message="{summary}. A key that gets the value 2 and then 5 therefore returns 7. What should it return?",
        hints=[TWICE],
    ),
    Mistake(
        "decay_after_the_write",
        in_another_order("error", "write", "decay", "read"),
        in_another_order("error", "write", "read", "decay"),
        summary="you decay the state after the write",
        message=(
            "{summary}, so you compute the error from a state that has not been decayed yet. Which should come "
            "first, the decay or the write?"
        ),
        hints=["In the third case, the state holds 1 when the value 5 arrives. What does the key return after decay?"],
    ),
    Mistake(
        "error_before_the_decay",
        in_another_order("error", "decay", "write", "read"),
        summary="you compute the error before you decay the state",
        message=(
            "{summary}. You then subtract the value stored in the old state, not the value left after the decay, so "
            "the error is wrong. Which state should you read with the key?"
        ),
        hints=["In the third case, the state holds 1 when the value 5 arrives. What does the key return after decay?"],
    ),
    Mistake(
        "reads_before_the_write",
        in_another_order("decay", "error", "read", "write"),
        in_another_order("read", "decay", "error", "write"),
        summary="you read the state before you write the token",
        message="{summary}, so the first output is 0 and every token misses its own value. When should you read?",
        hints=[
            (
                "In the first case, the first token writes 2 under its key and then reads with the same key. What "
                "should it get?"
            )
        ],
    ),
    Mistake(
        "whole_state_shrinks",
        STEPS.but(written=lambda: lambda state, key, error, beta: (1 - beta) * state + beta * torch.outer(key, error)),
        STEPS.but(
            error=lambda: lambda value, recalled: value,
            written=lambda: lambda state, key, error, beta: (1 - beta) * state + beta * torch.outer(key, error),
        ),
        summary="you multiply the whole state by 1 − β",
        message=(
            "{summary}, as in a moving average or a GRU. With β = 1, a write then erases everything stored under other "
            "keys. Which part of the state should a write change?"
        ),
        hints=["The keys (1, 0) and (0, 1) each get a value, with β = 1. What should (1, 0) return at the end?"],
    ),
    Mistake(
        "beta_on_the_value_alone",
        STEPS.but(
            v=lambda v, beta: beta[:, None] * v,
            written=lambda: lambda state, key, error, beta: state + torch.outer(key, error),
        ),
        summary="you multiply only the value by β, not what you subtract from it",
        message=(
            "{summary}, so with β = 0 you still change the state. β should scale the whole *error*. Which two terms "
            "does the error have?"
        ),
        hints=["With β = 0 nothing should be written. What do you write?"],
    ),
    Mistake(
        "one_minus_decay",
        STEPS.but(decay=lambda decay: 1 - decay),
        summary="you multiply the state by 1 − decay",
        message=(
            "{summary}, so a decay of 1 erases the state. Here `decay` is the fraction of the state that is *kept*."
        ),
        hints=["In the first case, `decay` is 1. How much of the state should be left?"],
    ),
    Mistake(
        "decay_on_the_write",
        STEPS.but(
            outputs=lambda start, decayed, recalled, error, written, read, q, k, v, decay, beta: _decays_the_write(
                start, recalled, error, read, q, k, v, decay, beta
            )
        ),
        summary="you multiply the write by the decay and keep the whole state",
        message="{summary}, so the *old* content never fades. Which term of your sum holds the old content?",
        hints=["With a decay of 0, what should be left of everything that was written before?"],
    ),
    Mistake(
        "turned_state",
        STEPS.but(written=lambda: lambda state, key, error, beta: state + beta * torch.outer(error, key)),
        summary="your outer product has the error first",
        message=(
            "{summary}, so its shape is (d_v, d_k). This shape fits the state only if d_v equals d_k. Which dimension "
            "does `key @ state` sum over?"
        ),
        hints=[
            "With d_k = 2 and d_v = 4, what is the shape of the state, and what is the shape of your outer product?"
        ],
    ),
    Mistake(
        "last_state_for_all",
        STEPS.but(
            outputs=lambda start, decayed, recalled, error, written, read, q, k, v, decay, beta: [
                read(_last_state(start, decayed, recalled, error, written, k, v, decay, beta), query) for query in q
            ]
        ),
        summary="you read the state only after all tokens are written",
        message="{summary}, so early tokens read what later tokens have written. When should each token read?",
        hints=["In the first case, should the first token's output depend on the value 5?"],
    ),
    Mistake(
        "returns_the_state",
        STEPS.but(
            output=lambda start, decayed, recalled, error, written, k, v, decay, beta: _last_state(
                start, decayed, recalled, error, written, k, v, decay, beta
            )
        ),
        STEPS.but(output=lambda outputs: outputs[-1]),
        summary="you return the last state, or only the last output",
        message="{summary}, but every token needs its own output, (n, d_v). Where do you collect the outputs?",
        hints=["How many outputs does a sequence of 5 tokens have?"],
    ),
]


def _decays_the_write(start, recalled, error, read, q, k, v, decay, beta):
    state, collected = start, []
    for t in range(len(k)):
        state = state + decay[t] * beta[t] * torch.outer(k[t], error(v[t], recalled(state, k[t])))
        collected.append(read(state, q[t]))
    return collected


def _last_state(start, decayed, recalled, error, written, k, v, decay, beta):
    state = start
    for t in range(len(k)):
        state = decayed(state, decay[t])
        state = written(state, k[t], error(v[t], recalled(state, k[t])), beta[t])
    return state


EXERCISE = Exercise(
    reference=gated_delta_rule,
    steps=STEPS,
    cases=gated_delta_rule_cases,
    points=3,
    verified="The state fades, replaces what it holds under a key, and each token reads what is written so far.",
    hints=[
        "The key (1, 0) gets the value 2, and then 5. What must you add to the state so that the key returns 5, not 7?",
        "For each token: decay the state, read it with the key, write β times the error under the key, read it with "
        "the query. The state starts as zeros of shape (d_k, d_v).",
        "`k[t] @ state` is what the state returns for the key, and `torch.outer(k[t], error)` has the state's shape.",
        "In the loop: `state = decay[t] * state`, `error = v[t] - k[t] @ state`, `state = state + beta[t] * "
        "torch.outer(k[t], error)`, and the output is `q[t] @ state`.",
    ],
    mistakes=MISTAKES,
)

"""One step of attention in the other order: the state after the step asks."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_00_bottleneck.luong_step.answer import STEPS, luong_step
from transformer_course.exercises.lesson_00_bottleneck.luong_step.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case


def luong_step_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch: int, n: int, d: int, d_out: int, shows: str) -> Case:
        inputs = {
            "state": normal(rng, batch, d),
            "states": normal(rng, batch, n, d),
            "w_c": normal(rng, d_out, 2 * d) / (2 * d) ** 0.5,
        }
        return Case(inputs, shows)

    def far(size: float, shows: str) -> Case:
        """Scores near ``size``, not far from each other: the first entries alone are large."""
        inputs = dict(case(2, 3, 2, 4, shows).inputs)
        inputs["state"][:, 0] = 2 * size
        inputs["states"][:, :, 0] = 0.5
        inputs["w_c"][:, 2] /= size
        return Case(inputs, shows)

    # Can be done in the head: both scores are 0, the context is (0, 3), and the result tanh(0.5 · 3 − 1) = tanh(0.5).
    readable = {
        "state": torch.tensor([[1.0, 0.0]]),
        "states": torch.tensor([[[0.0, 2.0], [0.0, 4.0]]]),
        "w_c": torch.tensor([[0.25, 0.5, -1.0, 2.0]]),
    }
    no_question = {**case(2, 3, 2, 4, "").inputs, "state": torch.zeros(2, 2)}
    return [
        Case(readable, "one text, 2 states that match equally well"),
        case(1, 1, 2, 2, "one text with a single state: the context is that state"),
        case(1, 3, 2, 4, "one text, 3 states of width 2, w_c of shape (4, 4)"),
        Case(no_question, "a decoder's state of zeros: every state matches equally well"),
        case(3, 3, 3, 6, "3 texts, 3 states of width 3, w_c of shape (6, 6)"),
        case(2, 5, 3, 4, "2 texts, 5 states of width 3, w_c of shape (4, 6)"),
        far(100, "scores near 100"),
        far(-100, "scores near -100"),
        case(7, 31, 5, 23, "7 texts, 31 states of width 5, w_c of shape (23, 10)"),
    ]


LUONG_STEP = Exercise(
    reference=luong_step,
    steps=STEPS,
    may_cut_gradients=True,
    cases=luong_step_cases,
    points=2,
    verified="The state after the step scores, and is combined with the context afterwards.",
    hints=[
        "Five steps: scores, weights, context, put side by side, tanh of the product with W_c. Only the first and the "
        "last two are new.",
        "A dot product is: multiply entry by entry, and add. `state[:, None, :]` has the shape (batch, 1, d), and "
        "meets every state of its text.",
        "The scores have the shape (batch, n), and each row of them becomes weights by `torch.softmax(scores, "
        "dim=-1)`. Then `parts.context_vector`.",
        "`torch.cat([context, state], dim=-1)` puts them side by side, the context first. `w_c` has the shape (d_out, "
        "2 d), so the product is with `w_c.T`.",
    ],
    told={
        "call_left_out_weights": (
            "The states are averaged with raw scores: nothing makes them positive or lets them add up to 1. A "
            "step is missing between scoring and averaging."
        ),
        "no_softmax_weights: (scores).flatten(-2).softmax(dim=-1).reshape((scores).shape)": (
            "The weights of all texts together add up to 1. For each text, the weights of its states should "
            "add up to 1. Look at what the softmax runs over."
        ),
        "no_softmax_weights: (scores).exp() / (scores).exp().sum(dim=-1, keepdim=True)": (
            "Right for ordinary scores. At 100 `exp` overflows to infinity, and at -100 every `exp` is 0 or "
            "nearly so: the division goes wrong. torch's own softmax survives such scores."
        ),
        "call_left_out_scores": (
            "The scores have three axes instead of two, and all are still there when the states are mixed. "
            "That crashes. Look at the shape of the weights."
        ),
        "axis_scores: products.sum(dim=1)": (
            "The products are added up over the states, so that there is a score for each entry of the width, "
            "and none for a state. That crashes, or, where the numbers happen to fit, weighs the wrong "
            "things. Look at the axis of the sum."
        ),
        "moved_combined: squashed": (
            "The tanh is taken of context and state, before the product with W_c. Look at the order: what is "
            "inside the tanh?"
        ),
        "not_transposed_matrix": (
            "The product meets the wrong axis of W_c: it stands with (outputs, inputs). That crashes, or, "
            "where it is square, gives other numbers. Look at the shapes on both sides of the product."
        ),
    },
    mistakes=MISTAKES,
    stretch=True,
)

"""A feed-forward network with a gate."""

import torch
from torch.nn import functional as F

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.exercises.shared.dropout_mistakes import dropped
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.layers.feed_forward import SwiGLU


def gate(self, x):
    """apply `w_gate` to x → what `w_gate` makes of x"""
    return self.w_gate(x)


def opened(gate):
    """apply SiLU to it → the gates: what `w_gate` makes of x, after SiLU"""
    return F.silu(gate)


def up(self, x):
    """apply `w_up` to x → what `w_up` makes of x"""
    return self.w_up(x)


def gated(opened, up):
    """multiply the two, number by number → the gated features: the gates times what `w_up` makes of x"""
    return opened * up


def output(self, gated):
    """apply `w_down` to the product → the output of `w_down`"""
    return self.w_down(gated)


STEPS = InSteps(gate, opened, up, gated, output, reference=SwiGLU)


def swiglu_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(
        d_model: int, d_ff: int, leading: tuple[int, ...], shows: str, size: float = 1.0, later: tuple[int, ...] = ()
    ) -> Case:
        return Case(
            {"x": size * normal(rng, *leading, d_model)},
            shows,
            kind="module",
            arguments={"d_model": d_model, "d_ff": d_ff},
            parameters={
                "w_gate.weight": 1.5 * normal(rng, d_ff, d_model) / d_model**0.5,
                "w_up.weight": normal(rng, d_ff, d_model) / d_model**0.5,
                "w_down.weight": normal(rng, d_model, d_ff) / d_ff**0.5,
            },
            later=[{"x": normal(rng, n, d_model)} for n in later],
        )

    by_hand = Case(
        {"x": torch.tensor([[1.0, -1.0]])},
        "one position: gates of 0 and 2, beside 3 and 1",
        kind="module",
        arguments={"d_model": 2, "d_ff": 2},
        parameters={
            "w_gate.weight": torch.tensor([[1.0, 1.0], [1.0, -1.0]]),
            "w_up.weight": torch.tensor([[3.0, 0.0], [2.0, 1.0]]),
            "w_down.weight": torch.tensor([[1.0, 2.0], [4.0, -3.0]]),
        },
    )
    return [
        by_hand,
        case(2, 3, (1,), "one position, 2 features, 3 in the middle"),
        case(3, 5, (), "a single vector, without an axis for positions"),
        case(4, 4, (2,), "as wide in the middle as outside", later=(2, 3)),
        case(3, 5, (7,), "7 positions, 3 features, 5 in the middle"),
        case(3, 5, (8,), "large numbers", size=4.0),
        case(5, 11, (7, 3), "7 sentences of 3 positions"),
        case(24, 64, (5, 31), "5 sentences of 31 positions, 24 features, 64 in the middle"),
    ]


MISTAKES = [
    Mistake(
        "silu_on_both",
        STEPS.but(up=lambda up: F.silu(up)),
        summary="what `w_up` makes of x goes through SiLU",
        message=(
            "What `w_up` makes of x goes through SiLU as well. Only the gates do; what passes through them stays as it "
            "is. Look at the number of functions."
        ),
        hints=["How often does the formula have a SiLU?"],
    ),
    Mistake(
        "sigmoid_of_the_negative",
        STEPS.but(opened=lambda gate: gate * (-gate).sigmoid()),
        summary="z is multiplied by the sigmoid of −z, which should be that of z",
        message="SiLU closes the gates that it should open: {summary}. Look at the sign in the exponential.",
        hints=["SiLU of 10 is nearly 10. What comes out for 10?"],
    ),
    Mistake(
        "no_gate",
        STEPS.but(gated=lambda self, x: F.silu(self.w_up(x))),
        STEPS.but(gated=lambda up: up),
        summary="`w_gate` has no part",
        message="{summary}, and nothing is multiplied: this is a network without a gate. A step is missing.",
        hints=["After `output.sum().backward()`, is there a layer whose `.weight.grad` is None?"],
    ),
    dropped(STEPS, "gated", "output"),
]


EXERCISE = Exercise(
    reference=SwiGLU,
    steps=STEPS,
    cases=swiglu_cases,
    points=1,
    verified="One projection opens the gates through which the other passes.",
    hints=[
        "Two projections of the same x, a product of the two, and a projection back.",
        "SiLU is applied to what `w_gate` makes of x, and to nothing else: `F.silu(z)` is z · sigmoid(z).",
        "The gates and what `w_up` makes of x have the same shape, and are multiplied number by number, with `*`.",
        "`self.w_down(F.silu(self.w_gate(x)) * self.w_up(x))`.",
    ],
    messages={
        "sibling_opened: torch.sigmoid(gate)": (
            "A sigmoid takes the place of SiLU: that is GLU, the ancestor of 2016. The Swi in SwiGLU is for "
            "Swish, another name of SiLU. Look at the function."
        ),
        "done_again_opened: output": (
            "SiLU is applied to what `w_down` returns, so that no number is below −0.28. Look at where it stands."
        ),
        "layers_exchanged_gate: w_up": (
            "`w_gate` and `w_up` have changed places. A network that is trained like this learns just as "
            "well, but published weights would not fit. Look at which of the two goes through SiLU."
        ),
    },
    mistakes=MISTAKES,
)

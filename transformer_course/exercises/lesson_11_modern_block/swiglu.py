"""SwiGLU: a gated feed-forward network."""

import torch
from torch.nn import functional as F

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.exercises.shared.dropout_mistakes import dropped
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.layers.feed_forward import SwiGLU


def gate(self, x):
    """apply `w_gate` to x → the gate projection: `w_gate` applied to x"""
    return self.w_gate(x)


def opened(gate):
    """apply SiLU to the gate projection → the gates: SiLU of the gate projection"""
    return F.silu(gate)


def up(self, x):
    """apply `w_up` to x → the up projection: `w_up` applied to x"""
    return self.w_up(x)


def gated(opened, up):
    """multiply the gates by the up projection → the gated features: the gates times the up projection"""
    return opened * up


def output(self, gated):
    """apply `w_down` to the gated features → the output of `w_down`"""
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
        "one position: gates of 0 and 2, up projection 3 and 1",
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
        case(2, 3, (1,), "one position, d_model 2, d_ff 3"),
        case(3, 5, (), "a single vector without a position dimension"),
        case(4, 4, (2,), "d_ff equal to d_model", later=(2, 3)),
        case(3, 5, (7,), "7 positions, d_model 3, d_ff 5"),
        case(3, 5, (8,), "large numbers", size=4.0),
        case(5, 11, (7, 3), "7 sentences of 3 positions"),
        case(24, 64, (5, 31), "5 sentences of 31 positions, d_model 24, d_ff 64"),
    ]


MISTAKES = [
    Mistake(
        "silu_on_both",
        STEPS.but(up=lambda up: F.silu(up)),
        summary="you also apply SiLU to the up projection",
        message=(
            "{summary}, so you lose the negative features: −5 becomes −0.03. Which projection should go through SiLU?"
        ),
        hints=["How many times does SiLU occur in the formula, and how many times in your code?"],
    ),
    Mistake(
        "sigmoid_of_the_negative",
        STEPS.but(opened=lambda gate: gate * (-gate).sigmoid()),
        summary="you multiply z by the sigmoid of −z instead of z",
        message="{summary}, so your SiLU of 10 is nearly 0. It should be nearly 10.",
        hints=["The sigmoid of z is 1 / (1 + e⁻ᶻ). Which sign does z have in your exponent?"],
    ),
    Mistake(
        "no_gate",
        STEPS.but(gated=lambda self, x: F.silu(self.w_up(x))),
        STEPS.but(gated=lambda up: up),
        summary="your output doesn't depend on `w_gate`",
        message="{summary}, so nothing gates the up projection. What should you multiply the up projection by?",
        hints=["After `output.sum().backward()`, which layer's `.weight.grad` is None?"],
    ),
    dropped(STEPS, "gated", "output"),
]


EXERCISE = Exercise(
    reference=SwiGLU,
    steps=STEPS,
    cases=swiglu_cases,
    points=1,
    verified=(
        "You multiply one projection element by element with the gates, which are the SiLU of the other projection."
    ),
    hints=[
        "Two of the three layers take x as input. Which ones, and which of their outputs goes through SiLU?",
        "Only `self.w_gate(x)` goes through SiLU, `F.silu(z)` = z · sigmoid(z). The result gates `self.w_up(x)`.",
        "The gates and `self.w_up(x)` have the same shape. Multiply them element by element with `*`, then apply "
        "`w_down`.",
        "`self.w_down(F.silu(self.w_gate(x)) * self.w_up(x))`.",
    ],
    messages={
        "sibling_opened: torch.sigmoid(gate)": Wording(
            "{summary}. That is GLU, a predecessor of SwiGLU from 2016. The Swi in SwiGLU stands for Swish, another "
            "name for SiLU.",
            summary="you use a sigmoid instead of SiLU",
        ),
        "sibling_opened: torch.nn.functional.gelu(gate)": Wording(
            "You use GELU. That is GEGLU, the variant that T5 v1.1 and Gemma use. Which activation does the Swi in "
            "SwiGLU stand for?",
            summary="you use GELU instead of SiLU",
        ),
        "sibling_opened: torch.nn.functional.relu(gate)": Wording(
            "{summary}. That is ReGLU, which turns every negative gate projection into 0. SiLU(−1) is −0.27.",
            summary="you use ReLU instead of SiLU",
        ),
        "done_again_opened: output": Wording(
            "{summary}, so no output is below −0.28. What does the formula apply SiLU to?",
            summary="you apply SiLU to the output of `w_down`",
        ),
        "layers_exchanged_gate: w_up": Wording(
            "{summary}. A network trained this way learns just as well, but pretrained weights don't work with it. "
            "Which projection should go through SiLU?",
            summary="you apply SiLU to the output of `w_up` instead of the output of `w_gate`",
        ),
        "operator_gated: (opened) + (up)": Wording(
            "{summary}, so a gate of 0 no longer blocks anything. Which operation turns a feature off if its gate is "
            "0?",
            summary="you add the up projection to the gates",
        ),
        "moved_opened: gated": Wording(
            "{summary}, so you lose the negative products: −5 becomes −0.03. Which of the two projections should go "
            "through SiLU?",
            summary="you apply SiLU to the product of the two projections",
        ),
        "added_output: x": Wording(
            "{summary}. The block that calls this network has its own residual connection, so x would be added twice. "
            "What should the network alone return?",
            summary="you add `x` to the output of `w_down`",
        ),
        "call_left_out_opened: gate": Wording(
            "{summary}, so you multiply two linear projections. Which activation turns the gate projection into gates?",
            summary="you never apply SiLU to the gate projection",
        ),
        "part_left_out_gated: opened": Wording(
            "{summary}, so `w_up` has no effect on the output. Which two tensors should you multiply?",
            summary="you never multiply by the up projection",
        ),
    },
    mistakes=MISTAKES,
)

"""Mistakes in what is normalized, when, and by which norm."""

from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_07_decoder.decoder_layer.answer import STEPS
from transformer_course.steps import Step

UNNORMED: dict[str, Step] = {
    "self_normed": lambda self_sum: self_sum,
    "cross_normed": lambda cross_sum: cross_sum,
    "output": lambda network_sum: network_sum,
}
"""Each sublayer without its norm after the sum."""
PRE_NORM: dict[str, Step] = {
    "self_inputs": lambda first_input, norms: (norms[0](first_input),) * 3,
    "cross_inputs": lambda second_input, norms, memory: (norms[1](second_input), memory, memory),
    "network_output": lambda self, third_input, norms: self.feed_forward(norms[2](third_input)),
}
"""Each sublayer with a norm in front of it."""
NORMED_OUTPUTS: dict[str, Step] = {
    "self_attended": lambda self_attended, norms: norms[0](self_attended),
    "cross_attended": lambda cross_attended, norms: norms[1](cross_attended),
    "network_output": lambda network_output, norms: norms[2](network_output),
}
"""Each sublayer with a norm around its output."""


def without_parameters(x):
    return F.layer_norm(x, x.shape[-1:])


MISTAKES = [
    Mistake(
        "pre_norm",
        STEPS.but(**PRE_NORM, **UNNORMED),
        summary="this is pre-norm: the input of each sublayer is normalized, and its sum is not",
        message=(
            "This is pre-norm: each sublayer's input is normalized, and the sum is left alone. It trains well, but "
            "asked for is the paper's post-norm. Look at what goes into the norms."
        ),
        hints=["What is normalized: the input of a sublayer, or the sum after it?"],
    ),
    Mistake(
        "pre_norm_in_one_sublayer",
        *[STEPS.but(**dict(both)) for both in zip(PRE_NORM.items(), UNNORMED.items(), strict=True)],
        summary="one sublayer is pre-norm: its input is normalized, and its sum is not",
        hints=["Which of the three norms is given something else than a sum?"],
    ),
    Mistake(
        "normed_first_and_added_to_it",
        STEPS.but(
            first_input=lambda first_input, norms: norms[0](first_input),
            second_input=lambda second_input, norms: norms[1](second_input),
            third_input=lambda third_input, norms: norms[2](third_input),
            **UNNORMED,
        ),
        summary="each norm comes first, and the sublayer's output is added to what the norm returns",
        message=(
            "The norm comes first, and the sublayer's output is added to what it returns: neither post-norm nor "
            "pre-norm. What came into the layer is gone after the first line. Look at the order of norm and sum."
        ),
        hints=["With sublayers that return zeros, what comes out?"],
    ),
    Mistake(
        "normed_before_adding",
        STEPS.but(**NORMED_OUTPUTS, **UNNORMED),
        *[STEPS.but(**dict(both)) for both in zip(NORMED_OUTPUTS.items(), UNNORMED.items(), strict=True)],
        summary="a sublayer's output is normalized, and then added",
        message="{summary}. The *sum* should be normalized. Look at what the brackets of the norms enclose.",
        hints=["In norm(x + f(x)), what is inside the norm?"],
    ),
    Mistake(
        "nothing_normed",
        STEPS.but(**UNNORMED),
        summary="no norm is used: after each sublayer, the sum goes on as it is",
        hints=["Do `norm_1`, `norm_2` and `norm_3` occur in the code?"],
    ),
    Mistake(
        "norm_used_twice",
        STEPS.but(norms=lambda self: (self.norm_1, self.norm_1, self.norm_1)),
        STEPS.but(norms=lambda self: (self.norm_1, self.norm_1, self.norm_3)),
        STEPS.but(norms=lambda self: (self.norm_1, self.norm_2, self.norm_2)),
        STEPS.but(norms=lambda self: (self.norm_1, self.norm_2, self.norm_1)),
        STEPS.but(norms=lambda self: (self.norm_1, self.norm_1, self.norm_2)).attempt,
        summary="a norm is used more than once, and another one not at all",
        message="{summary}. Each has parameters of its own. Look at their numbers.",
        hints=["Which of `norm_1`, `norm_2` and `norm_3` occur in the code, and how often?"],
    ),
    Mistake(
        "norms_in_another_order",
        STEPS.but(norms=lambda self: (self.norm_2, self.norm_1, self.norm_3)),
        STEPS.but(norms=lambda self: (self.norm_1, self.norm_3, self.norm_2)),
        STEPS.but(norms=lambda self: (self.norm_3, self.norm_2, self.norm_1)),
        summary="the norms are not in the order of their numbers",
        message=(
            "{summary}. Newly made they do the same, but parameters loaded from elsewhere would be in the wrong one."
        ),
    ),
    Mistake(
        "norms_without_their_parameters",
        STEPS.but(norms=lambda: (without_parameters, without_parameters, without_parameters)),
        summary="the norms are computed without the weights and biases of `norm_1`, `norm_2` and `norm_3`",
        hints=["Which parameters get no gradient?"],
    ),
]

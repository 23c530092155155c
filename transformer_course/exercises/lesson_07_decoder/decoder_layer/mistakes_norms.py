"""Mistakes in what is normalised, when, and by which norm."""

from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_07_decoder.decoder_layer.answer import STEPS
from transformer_course.steps import Step

THREE_TIMES = "x becomes norm(x + sublayer(x)), three times."
NAMES = "`norm_1` after the self-attention, `norm_2` after the cross-attention, `norm_3` at the end."
UNNORMED: dict[str, Step] = {
    "self_normed": lambda self_sum: self_sum,
    "cross_normed": lambda cross_sum: cross_sum,
    "output": lambda network_sum: network_sum,
}
"""Each sublayer without its norm after the sum."""
NORMED_INPUTS: dict[str, Step] = {
    "first_input": lambda first_input, norms: norms[0](first_input),
    "second_input": lambda second_input, norms: norms[1](second_input),
    "third_input": lambda third_input, norms: norms[2](third_input),
}
NORMED_OUTPUTS: dict[str, Step] = {
    "self_attended": lambda self_attended, norms: norms[0](self_attended),
    "cross_attended": lambda cross_attended, norms: norms[1](cross_attended),
    "network_output": lambda network_output, norms: norms[2](network_output),
}


def without_parameters(x):
    return F.layer_norm(x, x.shape[-1:])


def not_normed(name, step, sublayer):
    """Leave out the norm after one of the sublayers."""
    return Mistake(
        name,
        STEPS.but(**{step: UNNORMED[step]}),
        does=f"no norm follows the sum after the {sublayer}",
        says=f"A norm is missing: the sum after the {sublayer} goes on as it is. There is one norm after each sum.",
        hints=["Which of `norm_1`, `norm_2` and `norm_3` occur in the code, and where?"],
    )


MISTAKES = [
    Mistake(
        "pre_norm",
        STEPS.but(
            self_inputs=lambda first_input, norms: (norms[0](first_input),) * 3,
            cross_inputs=lambda second_input, norms, memory: (norms[1](second_input), memory, memory),
            network_output=lambda self, third_input, norms: self.feed_forward(norms[2](third_input)),
            **UNNORMED,
        ),
        does="this is pre-norm: the input of each sublayer is normalised, and its sum is not",
        says=(
            "This is pre-norm: each sublayer's input is normalised, and the sum is left alone. It trains well, but "
            "asked for is the paper's post-norm. Look at what goes into the norms."
        ),
        hints=["What is normalised: the input of a sublayer, or the sum after it?"],
    ),
    Mistake(
        "pre_norm_in_one_sublayer",
        STEPS.but(
            self_inputs=lambda first_input, norms: (norms[0](first_input),) * 3,
            self_normed=lambda self_sum: self_sum,
        ),
        STEPS.but(
            cross_inputs=lambda second_input, norms, memory: (norms[1](second_input), memory, memory),
            cross_normed=lambda cross_sum: cross_sum,
        ),
        STEPS.but(
            network_output=lambda self, third_input, norms: self.feed_forward(norms[2](third_input)),
            output=lambda network_sum: network_sum,
        ),
        does="one sublayer is pre-norm: its input is normalised, and its sum is not",
        says=(
            "One of the three sublayers is pre-norm: its input is normalised, and its sum is left alone. Look at what "
            "goes into each norm."
        ),
        hints=["Which of the three norms is given something else than a sum?"],
    ),
    Mistake(
        "normed_first_and_added_to_it",
        STEPS.but(**NORMED_INPUTS, **UNNORMED),
        does="each norm comes first, and the sublayer's output is added to what the norm returns",
        says=(
            "The norm comes first, and the sublayer's output is added to what it returns: neither post-norm nor "
            "pre-norm. What came into the layer is gone after the first line. Look at the order of norm and sum."
        ),
        hints=["With sublayers that return zeros, what comes out?"],
    ),
    Mistake(
        "normed_before_adding",
        STEPS.but(**NORMED_OUTPUTS, **UNNORMED),
        does="each sublayer's output is normalised, and then added",
        says="{does}. The *sum* should be normalised. Look at what the brackets of the norms enclose.",
        hints=["In norm(x + f(x)), what is inside the norm?"],
    ),
    Mistake(
        "nothing_normed",
        STEPS.but(**UNNORMED),
        does="no norm is used",
        says="The norms are missing: after each sublayer, the sum goes on as it is. There is one norm after each sum.",
        hints=["Do `norm_1`, `norm_2` and `norm_3` occur in the code?"],
    ),
    not_normed("self_attention_not_normed", "self_normed", "self-attention"),
    not_normed("cross_attention_not_normed", "cross_normed", "cross-attention"),
    not_normed("feed_forward_not_normed", "output", "feed-forward network"),
    Mistake(
        "norm_used_twice",
        STEPS.but(norms=lambda self: (self.norm_1, self.norm_1, self.norm_1)),
        STEPS.but(norms=lambda self: (self.norm_1, self.norm_1, self.norm_3)),
        STEPS.but(norms=lambda self: (self.norm_1, self.norm_2, self.norm_2)),
        STEPS.but(norms=lambda self: (self.norm_1, self.norm_2, self.norm_1)),
        STEPS.but(norms=lambda self: (self.norm_1, self.norm_1, self.norm_2)).attempt,
        STEPS.but(norms=lambda self: (self.norm_2, self.norm_2, self.norm_3)).attempt,
        STEPS.but(norms=lambda self: (self.norm_1, self.norm_3, self.norm_3)).attempt,
        STEPS.but(norms=lambda self: (self.norm_3, self.norm_3, self.norm_3)).attempt,
        does="a norm is used more than once, and another one not at all",
        says="{does}. Each has parameters of its own. Look at their numbers.",
        hints=["Which of `norm_1`, `norm_2` and `norm_3` occur in the code, and how often?"],
    ),
    Mistake(
        "norms_in_another_order",
        STEPS.but(norms=lambda self: (self.norm_2, self.norm_1, self.norm_3)),
        STEPS.but(norms=lambda self: (self.norm_1, self.norm_3, self.norm_2)),
        STEPS.but(norms=lambda self: (self.norm_3, self.norm_2, self.norm_1)),
        STEPS.but(norms=lambda self: (self.norm_2, self.norm_3, self.norm_1)).attempt,
        STEPS.but(norms=lambda self: (self.norm_3, self.norm_1, self.norm_2)).attempt,
        does="the norms are not in the order of their numbers",
        says="{does}. Newly made they do the same, but parameters loaded from elsewhere would be in the wrong one.",
        hints=["Which norm comes after which sublayer?"],
    ),
    Mistake(
        "norms_without_their_parameters",
        STEPS.but(norms=lambda: (without_parameters, without_parameters, without_parameters)),
        does="the norms are computed without the weights and biases of `norm_1`, `norm_2` and `norm_3`",
        says=(
            "The norms are computed without their weights and biases: each vector gets mean 0 and variance 1, and that "
            "is all. Look at how they are called."
        ),
        hints=["Which parameters get no gradient?"],
    ),
]

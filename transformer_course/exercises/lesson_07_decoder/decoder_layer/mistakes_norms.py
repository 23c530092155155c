"""Mistakes in the norms: their inputs, positions and order."""

from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_07_decoder.decoder_layer.answer import STEPS
from transformer_course.steps import Step

UNNORMED: dict[str, Step] = {
    "self_normed": lambda self_sum: self_sum,
    "cross_normed": lambda cross_sum: cross_sum,
    "output": lambda network_sum: network_sum,
}
"""For each sublayer, the step that does not normalize the sum."""
PRE_NORM: dict[str, Step] = {
    "self_inputs": lambda first_input, norms: (norms[0](first_input),) * 3,
    "cross_inputs": lambda second_input, norms, memory: (norms[1](second_input), memory, memory),
    "network_output": lambda self, third_input, norms: self.feed_forward(norms[2](third_input)),
}
"""For each sublayer, the step that normalizes the sublayer's input."""
NORMED_OUTPUTS: dict[str, Step] = {
    "self_attended": lambda self_attended, norms: norms[0](self_attended),
    "cross_attended": lambda cross_attended, norms: norms[1](cross_attended),
    "network_output": lambda network_output, norms: norms[2](network_output),
}
"""For each sublayer, the step that normalizes the sublayer's output."""


def without_parameters(x):
    return F.layer_norm(x, x.shape[-1:])


MISTAKES = [
    Mistake(
        "pre_norm",
        STEPS.but(**PRE_NORM, **UNNORMED),
        summary="you normalize the input of each sublayer instead of the sums, as in pre-norm",
        message=(
            "{summary}. Pre-norm trains well, but this exercise asks for the paper's post-norm. What should you pass "
            "to each norm?"
        ),
        hints=[
            "In norm(x + sublayer(x)), what does the norm get?",
            "Post-norm passes x to each sublayer unchanged and normalizes the sum.",
            "`self.norm_1(x + attended)`, where the attention gets x itself.",
        ],
    ),
    Mistake(
        "pre_norm_in_one_sublayer",
        *[STEPS.but(**dict(both)) for both in zip(PRE_NORM.items(), UNNORMED.items(), strict=True)],
        summary="you normalize the input of one sublayer instead of its sum, as in pre-norm",
        message=(
            "{summary}, so that sublayer's sum is never normalized. Which of your three norms gets something other "
            "than a sum?"
        ),
        hints=[
            "Write each sublayer in the form norm(x + sublayer(x)). Which one differs?",
            "Post-norm passes x to each sublayer unchanged and normalizes the sum.",
            "Pass the input of each sublayer on unchanged, and normalize the sum of input and output.",
        ],
    ),
    Mistake(
        "normed_first_and_added_to_it",
        STEPS.but(
            first_input=lambda first_input, norms: norms[0](first_input),
            second_input=lambda second_input, norms: norms[1](second_input),
            third_input=lambda third_input, norms: norms[2](third_input),
            **UNNORMED,
        ),
        STEPS.but(
            first_input=lambda first_input, norms: norms[0](first_input),
            second_input=lambda second_input, norms: norms[1](second_input),
            network_output=PRE_NORM["network_output"],
            **UNNORMED,
        ),
        STEPS.but(
            first_input=lambda first_input, norms: norms[0](first_input),
            cross_inputs=PRE_NORM["cross_inputs"],
            network_output=PRE_NORM["network_output"],
            **UNNORMED,
        ),
        summary="you normalize a sublayer's input and add the sublayer's output to the normalized input",
        message=(
            "{summary}, so the residual connection carries the normalized vectors instead of the original input. That "
            "is neither post-norm nor pre-norm. Which should come first, the sum or the norm?"
        ),
        hints=[
            "Suppose all sublayers return zeros. Do you add x or the normalized x to these zeros?",
            "In post-norm, you pass x unchanged to the sublayer, add the result to x, and normalize last.",
            "`self.norm_1(x + attended)`, where the attention gets x itself.",
        ],
    ),
    Mistake(
        "normed_before_adding",
        STEPS.but(**NORMED_OUTPUTS, **UNNORMED),
        *[STEPS.but(**dict(both)) for both in zip(NORMED_OUTPUTS.items(), UNNORMED.items(), strict=True)],
        summary="you normalize a sublayer's output before you add it to the sublayer's input",
        message=(
            "{summary}, so the sum itself is never normalized. Which of your norms gets something other than a sum?"
        ),
        hints=[
            "In norm(x + f(x)), what is inside the norm?",
            "The norm gets the sum of the sublayer's input and its output.",
            "`self.norm_1(x + attended)` instead of `x + self.norm_1(attended)`.",
        ],
    ),
    Mistake(
        "nothing_normed",
        STEPS.but(**UNNORMED),
        summary="you never normalize the sums",
        message=(
            "You never normalize, so each sum goes straight into the next sublayer, and its entries can grow from "
            "layer to layer. Where should you use `norm_1`, `norm_2` and `norm_3`?"
        ),
        hints=[
            "In norm(x + sublayer(x)), which part does your code leave out?",
            "Each sublayer has its own norm, which gets the sum.",
            "`x = self.norm_1(x + attended)`, and the same with the other two norms.",
        ],
    ),
    Mistake(
        "norm_used_twice",
        STEPS.but(norms=lambda self: (self.norm_1, self.norm_1, self.norm_1)),
        STEPS.but(norms=lambda self: (self.norm_1, self.norm_1, self.norm_3)),
        STEPS.but(norms=lambda self: (self.norm_1, self.norm_2, self.norm_2)),
        STEPS.but(norms=lambda self: (self.norm_1, self.norm_2, self.norm_1)),
        STEPS.but(norms=lambda self: (self.norm_1, self.norm_1, self.norm_2)).attempt,
        summary="you use one norm more than once and another not at all",
        message="{summary}, so some of the norms' parameters are never trained. Which norm should each sublayer use?",
        hints=["Which of `norm_1`, `norm_2` and `norm_3` occur in your code, and how often?"],
    ),
    Mistake(
        "norms_in_another_order",
        STEPS.but(norms=lambda self: (self.norm_2, self.norm_1, self.norm_3)),
        STEPS.but(norms=lambda self: (self.norm_1, self.norm_3, self.norm_2)),
        STEPS.but(norms=lambda self: (self.norm_3, self.norm_2, self.norm_1)),
        summary="you don't use the norms in the order of their names",
        message=(
            "{summary}. Newly initialized norms are identical, but parameters loaded from a trained model would end "
            "up in the wrong sublayer. Which norm comes after the self-attention?"
        ),
        hints=["In the formula, which norm comes after the self-attention? Which norm does your code use there?"],
    ),
    Mistake(
        "norms_without_their_parameters",
        STEPS.but(norms=lambda: (without_parameters, without_parameters, without_parameters)),
        summary="you normalize without the weights and biases of `norm_1`, `norm_2` and `norm_3`",
        message="{summary}, so these parameters are never trained. Which modules should you call instead?",
        hints=["Which parameters of your layer get no gradient?"],
    ),
]

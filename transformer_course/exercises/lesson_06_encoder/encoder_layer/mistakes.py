"""What goes wrong in a post-norm layer: with its norms and its sums."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_06_encoder.encoder_layer.answer import STEPS
from transformer_course.exercises.lesson_06_encoder.shared.layer_mistakes import of_either_layer
from transformer_course.steps import Step

PRE_NORM_ATTENTION: dict[str, Step] = {
    "queries": lambda first_norm, x: first_norm(x),
    "keys": lambda first_norm, x: first_norm(x),
    "values": lambda first_norm, x: first_norm(x),
    "normed_1": lambda sum_1: sum_1,
}
NORMED_ATTENTION: dict[str, Step] = {
    "sum_1": lambda first_norm, x, attended: x + first_norm(attended),
    "normed_1": lambda sum_1: sum_1,
}
NORMED_NETWORK: dict[str, Step] = {
    "sum_2": lambda second_norm, normed_1, computed: normed_1 + second_norm(computed),
    "normed_2": lambda sum_2: sum_2,
}
PRE_NORM_NETWORK: dict[str, Step] = {
    "computed": lambda self, second_norm, normed_1: self.feed_forward(second_norm(normed_1)),
    "normed_2": lambda sum_2: sum_2,
}

MISTAKES = [
    Mistake(
        "pre_norm_instead",
        STEPS.but(**PRE_NORM_ATTENTION, **PRE_NORM_NETWORK),
        does="the norms stand in front of the sublayers, as in pre-norm",
        says=(
            "This is the pre-norm layer: the inputs of the sublayers are normalised, and the sums are not. It is a "
            "good layer, and the next exercise. Here the norm comes last: look at what each norm is given."
        ),
        hints=[
            "With all weights of attention and network at 0, this layer hands on x. What should a post-norm layer do?"
        ],
    ),
    Mistake(
        "pre_norm_in_one_half",
        STEPS.but(**PRE_NORM_ATTENTION),
        STEPS.but(**PRE_NORM_NETWORK),
        does="one half is pre-norm: the norm stands in front of the sublayer",
        says=(
            "One half of this layer is post-norm, and the other pre-norm: there the norm stands in front of the "
            "sublayer, and the sum is not normalised. Look at what each norm is given."
        ),
        hints=["Compare the two halves. Where do the brackets of each norm open?"],
    ),
    Mistake(
        "normed_before_and_added",
        STEPS.but(
            x=lambda first_norm, x: first_norm(x),
            normed_1=lambda second_norm, sum_1: second_norm(sum_1),
            normed_2=lambda sum_2: sum_2,
        ),
        does="`x` itself is replaced by the normalised x before each sublayer",
        says=(
            "x itself is replaced by the normalised x before each sublayer, and the last sum is not normalised at all. "
            "This is neither post-norm nor pre-norm. Look at what each norm is given."
        ),
        hints=["The formula normalises a sum. Which sum?"],
    ),
    Mistake(
        "norm_inside_the_sum",
        STEPS.but(**NORMED_ATTENTION, **NORMED_NETWORK),
        STEPS.but(**NORMED_ATTENTION),
        STEPS.but(**NORMED_NETWORK),
        does="a norm is given what a sublayer puts out, and x is added after it",
        says="{does}. It should be given the whole sum, x included. Look at where the brackets of each norm open.",
        hints=["What is the size of the sum after ten such layers? Which norm keeps it in check?"],
    ),
    Mistake(
        "side_by_side",
        STEPS.but(
            computed=lambda self, x: self.feed_forward(x),
            sum_2=lambda x, attended, computed: x + attended + computed,
        ),
        does="attention and network work side by side, on the same x",
        says=(
            "{does}. They should come one after the other: the network works on what the attention found. Look at what "
            "each is given."
        ),
        hints=["What does the network know of the other positions?"],
    ),
    *of_either_layer(
        STEPS,
        STEPS.but(
            sum_1=lambda self, x: x + self.feed_forward(x),
            computed=lambda self, normed_1, mask: self.self_attention(normed_1, normed_1, normed_1, mask),
        ),
    ),
]

"""What goes wrong in a post-norm layer: with its norms and its sums."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_06_encoder.encoder_layer.answer import STEPS, EncoderLayer
from transformer_course.exercises.lesson_06_encoder.shared import layer_mistakes
from transformer_course.steps import Step

PRE_NORM_ATTENTION: dict[str, Step] = {
    "queries": lambda first_norm, x: first_norm(x),
    "keys": lambda first_norm, x: first_norm(x),
    "values": lambda first_norm, x: first_norm(x),
    "normed_1": lambda sum_1: sum_1,
}
PRE_NORM_NETWORK: dict[str, Step] = {
    "computed": lambda self, second_norm, normed_1: self.feed_forward(second_norm(normed_1)),
    "normed_2": lambda sum_2: sum_2,
}

NORMS = [
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
        "norms_in_front_too",
        STEPS.but(**{name: PRE_NORM_ATTENTION[name] for name in ("queries", "keys", "values")}),
        STEPS.but(computed=PRE_NORM_NETWORK["computed"]),
        does="a sublayer's input is normalised as well",
        says=(
            "A sublayer's input is normalised as well as its sum. Post-norm has one norm in each half: look at what "
            "each sublayer is given."
        ),
        hints=["How often is each norm called?"],
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
]

SUMS = [
    Mistake(
        "side_by_side",
        STEPS.but(
            computed=lambda self, x: self.feed_forward(x),
            sum_2=lambda x, attended, computed: x + attended + computed,
        ),
        STEPS.but(
            computed=lambda self, x: self.feed_forward(x),
            sum_2=lambda x, computed: x + computed,
            normed_2=lambda normed_1, normed_2: normed_1 + normed_2,
        ),
        does="attention and network work side by side, on the same x",
        says=(
            "{does}. They should come one after the other: the network works on what the attention found. Look at what "
            "each is given."
        ),
        hints=["What does the network know of the other positions?"],
    ),
]

MISTAKES = [
    *NORMS,
    *SUMS,
    *layer_mistakes.mistakes_with_the_norms(STEPS),
    *layer_mistakes.mistakes_with_the_sums(STEPS),
    *layer_mistakes.mistakes_with_the_mask(STEPS),
    *layer_mistakes.mistakes_with_the_attention(
        STEPS,
        unused=[STEPS.but(normed_1=lambda x: x), STEPS.but(sum_1=lambda x: x)],
        order=STEPS.but(
            sum_1=lambda self, x: x + self.feed_forward(x),
            computed=lambda self, normed_1, mask: self.self_attention(normed_1, normed_1, normed_1, mask),
        ),
        only_half=STEPS.but(normed_2=lambda normed_1: normed_1),
        instead_of_the_network=STEPS.but(
            computed=lambda self, normed_1, mask: self.self_attention(normed_1, normed_1, normed_1, mask)
        ),
    ),
    layer_mistakes.remembers(EncoderLayer),
]

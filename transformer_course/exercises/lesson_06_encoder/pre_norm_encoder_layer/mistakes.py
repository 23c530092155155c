"""What goes wrong in a pre-norm layer: with its norms and its sums."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_06_encoder.pre_norm_encoder_layer.answer import STEPS
from transformer_course.exercises.lesson_06_encoder.shared.layer_mistakes import of_either_layer
from transformer_course.steps import Step

POST_NORM_ATTENTION: dict[str, Step] = {
    "normed_1": lambda x: x,
    "sum_1": lambda first_norm, x, attended: first_norm(x + attended),
}
POST_NORM_NETWORK: dict[str, Step] = {
    "normed_2": lambda sum_1: sum_1,
    "sum_2": lambda second_norm, sum_1, computed: second_norm(sum_1 + computed),
}

MISTAKES = [
    Mistake(
        "post_norm_instead",
        STEPS.but(**POST_NORM_ATTENTION, **POST_NORM_NETWORK),
        does="the norms stand around the sums, as in post-norm",
        says=(
            "This is the post-norm layer of the exercise before: it normalises the sums. Here the sums stay as they "
            "are, and what is normalised is the input of each sublayer."
        ),
        hints=["With all weights of attention and network at 0, the layer should hand x on as it is. What comes out?"],
    ),
    Mistake(
        "norms_the_sums_too",
        STEPS.but(sum_2=lambda second_norm, sum_2: second_norm(sum_2)),
        STEPS.but(sum_1=lambda first_norm, sum_1: first_norm(sum_1)),
        does="a sum is normalised",
        says=(
            "{does}, too. Then x does not come through untouched, which is what pre-norm is about. (Where a stack ends "
            "there is one more norm, but that is the stack's.) Look for a norm around a sum."
        ),
        hints=["With all weights of attention and network at 0, the layer should hand x on as it is. What comes out?"],
    ),
    Mistake(
        "residual_from_the_normed",
        STEPS.but(
            sum_1=lambda normed_1, attended: normed_1 + attended,
            sum_2=lambda normed_2, computed: normed_2 + computed,
        ),
        STEPS.but(sum_1=lambda normed_1, attended: normed_1 + attended),
        STEPS.but(sum_2=lambda normed_2, computed: normed_2 + computed),
        does="a sublayer's output is added to the normalised x, not to x itself",
        says=(
            "The normalised x takes the place of x, and a sublayer's output is added to *that*. So x itself gets lost "
            "on the way: not every sum has a path that leads around the norms. Look at what stands on the left of "
            "each sum."
        ),
        hints=["With all weights of attention and network at 0, the layer should hand x on as it is. What comes out?"],
    ),
    *of_either_layer(
        STEPS,
        STEPS.but(
            sum_1=lambda self, x, normed_1: x + self.feed_forward(normed_1),
            computed=lambda self, normed_2, mask: self.self_attention(normed_2, normed_2, normed_2, mask),
        ),
    ),
]

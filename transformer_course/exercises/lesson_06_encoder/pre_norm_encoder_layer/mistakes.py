"""What goes wrong in a pre-norm layer: with its norms and its sums."""

from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_06_encoder.pre_norm_encoder_layer.answer import STEPS, PreNormEncoderLayer
from transformer_course.exercises.lesson_06_encoder.shared import layer_mistakes
from transformer_course.steps import Step

POST_NORM_ATTENTION: dict[str, Step] = {
    "normed_1": lambda x: x,
    "sum_1": lambda first_norm, x, attended: first_norm(x + attended),
}
POST_NORM_NETWORK: dict[str, Step] = {
    "normed_2": lambda sum_1: sum_1,
    "sum_2": lambda second_norm, sum_1, computed: second_norm(sum_1 + computed),
}

NORMS = [
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
        "norms_the_branch_too",
        STEPS.but(attended=lambda first_norm, attended: first_norm(attended)),
        STEPS.but(computed=lambda second_norm, computed: second_norm(computed)),
        does="the output of a sublayer is normalised before it is added",
        says="The output of a sublayer is normalised as well as its input. Look for a norm too many.",
        hints=["How often is each norm called?"],
    ),
    Mistake(
        "norms_the_sums_too",
        STEPS.but(sum_2=lambda second_norm, sum_2: second_norm(sum_2)),
        STEPS.but(sum_2=lambda first_norm, sum_2: first_norm(sum_2)),
        STEPS.but(sum_2=lambda sum_2: F.layer_norm(sum_2, sum_2.shape[-1:])),
        STEPS.but(sum_1=lambda first_norm, sum_1: first_norm(sum_1)),
        STEPS.but(sum_1=lambda second_norm, sum_1: second_norm(sum_1)),
        does="a sum is normalised",
        says=(
            "{does}, too. Then x does not come through untouched, which is what pre-norm is about. (Where a stack ends "
            "there is one more norm, but that is the stack's.) Look for a norm around a sum."
        ),
        hints=["With all weights of attention and network at 0, the layer should hand x on as it is. What comes out?"],
    ),
]

SUMS = [
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
]

MISTAKES = [
    *SUMS,
    *NORMS,
    *layer_mistakes.mistakes_with_the_norms(STEPS),
    *layer_mistakes.mistakes_with_the_sums(STEPS),
    *layer_mistakes.mistakes_with_the_mask(STEPS),
    *layer_mistakes.mistakes_with_the_attention(
        STEPS,
        unused=[STEPS.but(sum_1=lambda x: x), STEPS.but(sum_1=lambda normed_1: normed_1)],
        order=STEPS.but(
            sum_1=lambda self, x, normed_1: x + self.feed_forward(normed_1),
            computed=lambda self, normed_2, mask: self.self_attention(normed_2, normed_2, normed_2, mask),
        ),
        only_half=STEPS.but(sum_2=lambda sum_1: sum_1),
        instead_of_the_network=STEPS.but(
            computed=lambda self, normed_2, mask: self.self_attention(normed_2, normed_2, normed_2, mask)
        ),
    ),
    layer_mistakes.remembers(PreNormEncoderLayer),
]

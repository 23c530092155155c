"""What goes wrong in a pre-norm layer: with its norms and its sums."""

from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_06_encoder.pre_norm_encoder_layer.answer import STEPS, PreNormEncoderLayer
from transformer_course.exercises.lesson_06_encoder.shared import layer_mistakes
from transformer_course.exercises.shared.final_result_mistakes import of_the_result
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
        "post_norm_in_one_half",
        STEPS.but(**POST_NORM_ATTENTION),
        STEPS.but(**POST_NORM_NETWORK),
        does="one half is post-norm: the norm stands around the sum, not in front of the sublayer",
        says=(
            "One half of this layer is pre-norm, and the other post-norm: there the sum is normalised, and the "
            "sublayer reads its input as it is. Look at what each norm is given."
        ),
        hints=["Compare the two halves. Where do the brackets of each norm open?"],
    ),
    Mistake(
        "norms_the_branch",
        STEPS.but(normed_1=lambda x: x, attended=lambda first_norm, attended: first_norm(attended)),
        STEPS.but(normed_2=lambda sum_1: sum_1, computed=lambda second_norm, computed: second_norm(computed)),
        STEPS.but(
            normed_1=lambda x: x,
            attended=lambda first_norm, attended: first_norm(attended),
            normed_2=lambda sum_1: sum_1,
            computed=lambda second_norm, computed: second_norm(computed),
        ),
        does="the output of a sublayer is normalised, in place of its input",
        says=(
            "The output of a sublayer is normalised, and not its input. Look at whether the norm stands before or "
            "behind the sublayer."
        ),
        hints=["Double x. The outputs of the sublayers should stay nearly the same, as they read normalised vectors."],
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
    Mistake(
        "not_all_inputs_normed",
        STEPS.but(queries=lambda x: x),
        STEPS.but(keys=lambda x: x),
        STEPS.but(values=lambda x: x),
        STEPS.but(keys=lambda x: x, values=lambda x: x),
        does="some of queries, keys and values are made from x itself, without the norm",
        says=(
            "Only some of queries, keys and values are made from the normalised vectors. It is self-attention: all "
            "three come from the same."
        ),
        hints=["Which three things is the attention given?"],
    ),
    Mistake(
        "attention_not_normed",
        STEPS.but(normed_1=lambda x: x),
        does="the attention reads x as it is, without a norm in front",
    ),
    Mistake(
        "network_not_normed",
        STEPS.but(normed_2=lambda sum_1: sum_1),
        does="the network reads the first sum as it is, without a norm in front",
    ),
    Mistake(
        "no_norms",
        STEPS.but(normed_1=lambda x: x, normed_2=lambda sum_1: sum_1),
        does="neither sublayer has a norm in front",
    ),
    Mistake(
        "network_reads_the_layers_input",
        STEPS.but(normed_2=lambda second_norm, x: second_norm(x)),
        does="the second norm is given what came into the layer",
        says=(
            "{does}, not the first sum. (Layers in which both sublayers read the same exist, and are called parallel.) "
            "Look at what the second norm is given."
        ),
        hints=["In the second half, x has been replaced by the first sum."],
    ),
    Mistake(
        "network_reads_the_bare_input",
        STEPS.but(normed_2=lambda x: x),
        does="the network reads what came into the layer, without a norm",
    ),
    Mistake(
        "norms_the_attention",
        STEPS.but(normed_2=lambda second_norm, attended: second_norm(attended)),
        does="the second norm is given the bare output of the attention",
    ),
    Mistake(
        "normed_only_once",
        STEPS.but(normed_2=lambda normed_1: normed_1),
        does="the network reads the same normalised vectors as the attention did",
    ),
    Mistake(
        "norms_the_normed",
        STEPS.but(normed_2=lambda second_norm, normed_1: second_norm(normed_1)),
        does="the second norm is given what the first one returned",
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
    Mistake(
        "no_residual_around_the_attention",
        STEPS.but(sum_1=lambda attended: attended),
        does="the residual around the attention is missing",
        says=(
            "The first residual is missing: the output of the attention takes the place of x, instead of being added "
            "to it."
        ),
        hints=["With all weights of attention and network at 0, the layer should hand x on as it is. What comes out?"],
    ),
    Mistake(
        "no_residual_around_the_network",
        STEPS.but(sum_2=lambda computed: computed),
        does="the residual around the network is missing",
        says=(
            "The second residual is missing: the output of the network takes the place of the first sum, instead of "
            "being added to it."
        ),
        hints=["With all weights of attention and network at 0, the layer should hand x on as it is. What comes out?"],
    ),
    Mistake(
        "no_residual",
        STEPS.but(sum_1=lambda attended: attended, sum_2=lambda computed: computed),
        does="both residuals are missing",
        says="{does}: a sublayer's output takes the place of its input, instead of being added to it.",
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
    *of_the_result(
        STEPS,
        "result_with_another_sign",
        "result_scaled",
        "result_transposed",
        "result_in_a_list",
        "result_with_another_axis",
        "axes_of_length_1_removed",
        "only_the_first_result",
    ),
]

"""A layer that norms what its sublayers read."""

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_06_encoder.pre_norm_encoder_layer.answer import STEPS, PreNormEncoderLayer
from transformer_course.exercises.lesson_06_encoder.pre_norm_encoder_layer.mistakes import MISTAKES
from transformer_course.exercises.lesson_06_encoder.shared.layer_cases import layer_cases

PRE_NORM_ENCODER_LAYER = Exercise(
    reference=PreNormEncoderLayer,
    steps=STEPS,
    cases=layer_cases,
    points=2,
    verified="The sublayers read normalised vectors, and x itself is only added to.",
    hints=[
        "Two halves of the same form, x + sublayer(LayerNorm(x)). Compare with the layer before: which brackets moved?",
        "The normalised vectors are needed three times, for queries, keys and values. Give them a name, and keep x.",
        "The first half: `normalised = self.norm_1(x)`, then `x = x + self.self_attention(normalised, normalised, "
        "normalised, mask)`.",
    ],
    told={
        "ignored_mask": "The mask has no effect: positions attend to what is hidden from them.",
        "left_out_sum_1: attended": (
            "The first residual is missing: the output of the attention takes the place of x, instead of "
            "being added to it."
        ),
        "left_out_sum_2: computed": (
            "The second residual is missing: the output of the network takes the place of the first sum, "
            "instead of being added to it."
        ),
        "part_left_out_sum_1: attended": (
            "Both residuals are missing: a sublayer's output takes the place of its input, instead of being "
            "added to it."
        ),
        "moved_normed_1: sum_1": (
            "One half of this layer is pre-norm, and the other post-norm: there the sum is normalised, and "
            "the sublayer reads its input as it is. Look at what each norm is given."
        ),
        "wrong_input_normed_2: x": (
            "The second norm is given what came into the layer, not the first sum. (Layers in which both "
            "sublayers read the same exist, and are called parallel.) Look at what the second norm is given."
        ),
    },
    mistakes=MISTAKES,
)

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
    mistakes=MISTAKES,
)

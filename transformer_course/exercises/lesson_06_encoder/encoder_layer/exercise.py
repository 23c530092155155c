"""A layer that norms its sums."""

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_06_encoder.encoder_layer.answer import STEPS, EncoderLayer
from transformer_course.exercises.lesson_06_encoder.encoder_layer.mistakes import MISTAKES
from transformer_course.exercises.lesson_06_encoder.shared.layer_cases import layer_cases

ENCODER_LAYER = Exercise(
    reference=EncoderLayer,
    steps=STEPS,
    cases=layer_cases,
    points=3,
    verified="Attention, add, norm; network, add, norm.",
    hints=[
        "Two halves of the same form, LayerNorm(x + sublayer(x)): once with the attention, once with the network. The "
        "second one starts from the result of the first.",
        "In self-attention, queries, keys and values come from the same vectors: `self.self_attention(x, x, x, mask)`.",
        "The first half is `x = self.norm_1(x + self.self_attention(x, x, x, mask))`.",
    ],
    mistakes=MISTAKES,
)

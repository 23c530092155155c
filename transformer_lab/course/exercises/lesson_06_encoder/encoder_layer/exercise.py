"""A layer that norms its sums."""

from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises.lesson_06_encoder.encoder_layer.mistakes import MISTAKES
from transformer_lab.course.exercises.lesson_06_encoder.shared.reference_pieces import EncoderLayer
from transformer_lab.course.exercises.shared.draw_layers import layer_cases

ENCODER_LAYER = Exercise(
    reference=EncoderLayer,
    cases=layer_cases,
    points=3,
    verified="Attention, add, norm; network, add, norm. Next: what becomes of x in a deep stack of these.",
    hints=[
        "Two steps of the same form, LayerNorm(x + sublayer(x)): once with the attention, once with the network. The "
        "second one starts from the result of the first.",
        "In self-attention, queries, keys and values come from the same vectors: `self.self_attention(x, x, x, mask)`.",
        "The first step is `x = self.norm_1(x + self.self_attention(x, x, x, mask))`.",
    ],
    mistakes=MISTAKES,
)

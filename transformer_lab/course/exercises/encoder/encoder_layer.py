"""A layer that norms its sums."""

from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises.encoder.answers import EncoderLayer
from transformer_lab.course.exercises.encoder.drawing_layers import layer_cases
from transformer_lab.course.exercises.encoder.mistakes.encoder_layer import MISTAKES

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

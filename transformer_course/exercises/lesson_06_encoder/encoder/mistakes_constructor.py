"""What goes wrong in making an encoder, beside what goes wrong in making any stack of layers."""

from torch import nn

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_06_encoder.encoder.answer import Encoder
from transformer_course.exercises.shared.library_parts import parts


class PreNormLayers(Encoder):
    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers, max_length):
        super().__init__(vocab_size, d_model, n_heads, d_ff, n_layers, max_length)
        self.layers = nn.ModuleList(parts.PreNormEncoderLayer(d_model, n_heads, d_ff) for _ in range(n_layers))


MISTAKES = [
    Mistake(
        "pre_norm_layers",
        PreNormLayers,
        says=(
            "These are pre-norm layers. Their parameters have the same names, so nothing complains. Look at `__init__`."
        ),
        hints=[
            "`__init__` was right as it was given.",
            "Which class are the layers of?",
            "`parts.EncoderLayer`.",
        ],
    ),
]

"""What goes wrong in making a stack of layers."""

from torch import nn

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_06_encoder.encoder.mistake_template import InPieces
from transformer_lab.course.exercises.shared.library_parts import parts


class PreNormLayers(InPieces):
    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers, max_length):
        super().__init__(vocab_size, d_model, n_heads, d_ff, n_layers, max_length)
        self.layers = nn.ModuleList(parts.PreNormEncoderLayer(d_model, n_heads, d_ff) for _ in range(n_layers))


class OneLayerManyTimes(InPieces):
    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers, max_length):
        super().__init__(vocab_size, d_model, n_heads, d_ff, n_layers, max_length)
        self.layers = nn.ModuleList([parts.EncoderLayer(d_model, n_heads, d_ff)] * n_layers)


class PlainListOfLayers(InPieces):
    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers, max_length):
        super().__init__(vocab_size, d_model, n_heads, d_ff, 0, max_length)
        del self.layers
        self.layers = [parts.EncoderLayer(d_model, n_heads, d_ff) for _ in range(n_layers)]  # type: ignore[assignment]


class PositionsTrained(InPieces):
    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers, max_length):
        super().__init__(vocab_size, d_model, n_heads, d_ff, n_layers, max_length)
        table = self.positions
        del self.positions
        self.positions = nn.Parameter(table)


MISTAKES = [
    Mistake(
        "pre_norm_layers",
        [PreNormLayers],
        says="These are pre-norm layers. Their parameters have the same names, so nothing complains. Look at `__init__`.",
        hints=[
            "`__init__` was right as it was given.",
            "Which class are the layers of?",
            "`parts.EncoderLayer`.",
        ],
    ),
    Mistake(
        "one_layer_many_times",
        [OneLayerManyTimes],
        says=(
            "All the layers are one and the same: the list holds a single layer several times. Look at `__init__`, and "
            "count the parameters."
        ),
        hints=[
            "`__init__` was right as it was given.",
            "In Python, `[thing] * 3` does not copy the thing.",
            "Make a new layer each time: `parts.EncoderLayer(…) for _ in range(n_layers)`.",
        ],
    ),
    Mistake(
        "plain_list_of_layers",
        [PlainListOfLayers],
        says=(
            "The layers are in a plain Python list, where torch does not find them: their parameters would be neither "
            "trained nor saved. Look at `__init__`."
        ),
        hints=[
            "`__init__` was right as it was given.",
            "Count the parameters of the model. Which are missing?",
            "`nn.ModuleList` tells torch that these are part of the model.",
        ],
    ),
    Mistake(
        "positions_trained",
        [PositionsTrained],
        says=(
            "The positions are a parameter, so that training would change them. Sinusoids stay as they are. Look at "
            "`__init__`."
        ),
        hints=[
            "`__init__` was right as it was given.",
            "What is part of a model and not trained is called a buffer.",
            "`register_buffer`.",
        ],
    ),
]

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
    told={
        "ignored_mask": "The mask has no effect: positions attend to what is hidden from them.",
        "done_again_normed_1: attended": (
            "A sublayer's output is normalised before it is added, and the sum once more. Look for a norm too many."
        ),
        "left_out_sum_1: attended": (
            "The first residual is missing: the output of the attention takes the place of x, instead of "
            "being added to it. Look at what the first norm is given."
        ),
        "left_out_sum_2: computed": (
            "The second residual is missing: the output of the network takes the place of what the network "
            "was given, instead of being added to it. Look at what the second norm is given."
        ),
        "part_left_out_sum_1: attended": (
            "Both residuals are missing: a sublayer's output takes the place of its input, instead of being "
            "added to it. Look at what the norms are given."
        ),
    },
    mistakes=MISTAKES,
)

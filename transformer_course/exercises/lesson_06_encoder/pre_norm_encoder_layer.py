"""A layer that norms what its sublayers read."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.lesson_06_encoder.shared.layer import (
    TOLD,
    attended,
    first_norm,
    of_either_layer,
    second_norm,
)
from transformer_course.exercises.lesson_06_encoder.shared.layer_cases import layer_cases
from transformer_course.exercises.shared.library_parts import parts
from transformer_course.steps import InSteps, Step


class PreNormEncoderLayer(nn.Module):
    """Look at all positions, then compute at each; norm what each sublayer reads, and only add what it says."""

    def __init__(self, d_model: int, n_heads: int, d_ff: int) -> None:
        super().__init__()
        self.self_attention = parts.MultiHeadAttention(d_model, n_heads)
        self.feed_forward = parts.FeedForward(d_model, d_ff)
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)

    def forward(
        self, x: Float[Tensor, "batch n d_model"], mask: Bool[Tensor, "*#batch #n #n"] | None = None
    ) -> Float[Tensor, "batch n d_model"]:
        normalized = self.norm_1(x)
        x = x + self.self_attention(normalized, normalized, normalized, mask)
        return x + self.feed_forward(self.norm_2(x))


def normed_1(first_norm, x):
    """normalize x with it → the normalized x"""
    return first_norm(x)


def queries(normed_1):
    """use the normalized x as the queries → the queries: the normalized x"""
    return normed_1


def keys(normed_1):
    """as the keys → the keys: the normalized x"""
    return normed_1


def values(normed_1):
    """and as the values → the values: the normalized x"""
    return normed_1


def sum_1(x, attended):
    """add x itself to it → the first sum: x plus the output of the attention"""
    return x + attended


def normed_2(second_norm, sum_1):
    """normalize the sum with it → the normalized first sum"""
    return second_norm(sum_1)


def computed(self, normed_2):
    """pass that through the network → the output of the network"""
    return self.feed_forward(normed_2)


def sum_2(sum_1, computed):
    """add the first sum to it → the second sum: the first one plus the output of the network"""
    return sum_1 + computed


STEPS = InSteps(
    first_norm, normed_1, queries, keys, values, attended, sum_1, second_norm, normed_2, computed, sum_2,
    reference=PreNormEncoderLayer
)  # fmt: skip


POST_NORM_ATTENTION: dict[str, Step] = {
    "normed_1": lambda x: x,
    "sum_1": lambda first_norm, x, attended: first_norm(x + attended),
}
POST_NORM_NETWORK: dict[str, Step] = {
    "normed_2": lambda sum_1: sum_1,
    "sum_2": lambda second_norm, sum_1, computed: second_norm(sum_1 + computed),
}

MISTAKES = [
    Mistake(
        "post_norm_instead",
        STEPS.but(**POST_NORM_ATTENTION, **POST_NORM_NETWORK),
        summary="the norms stand around the sums, as in post-norm",
        message=(
            "This is the post-norm layer of the exercise before: it normalizes the sums. Here the sums stay as they "
            "are, and what is normalized is the input of each sublayer."
        ),
        hints=["With all weights of attention and network at 0, the layer should hand x on as it is. What comes out?"],
    ),
    Mistake(
        "norms_the_sums_too",
        STEPS.but(sum_2=lambda second_norm, sum_2: second_norm(sum_2)),
        STEPS.but(sum_1=lambda first_norm, sum_1: first_norm(sum_1)),
        summary="a sum is normalized",
        message=(
            "{summary}, too. Then x does not come through untouched, which is what pre-norm is about. (Where a stack "
            "ends there is one more norm, but that is the stack's.) Look for a norm around a sum."
        ),
        hints=["With all weights of attention and network at 0, the layer should hand x on as it is. What comes out?"],
    ),
    Mistake(
        "residual_from_the_normed",
        STEPS.but(
            sum_1=lambda normed_1, attended: normed_1 + attended,
            sum_2=lambda normed_2, computed: normed_2 + computed,
        ),
        STEPS.but(sum_1=lambda normed_1, attended: normed_1 + attended),
        STEPS.but(sum_2=lambda normed_2, computed: normed_2 + computed),
        summary="a sublayer's output is added to the normalized x, not to x itself",
        message=(
            "The normalized x takes the place of x, and a sublayer's output is added to *that*. So x itself gets lost "
            "on the way: not every sum has a path that leads around the norms. Look at what stands on the left of "
            "each sum."
        ),
        hints=["With all weights of attention and network at 0, the layer should hand x on as it is. What comes out?"],
    ),
    *of_either_layer(
        STEPS,
        STEPS.but(
            sum_1=lambda self, x, normed_1: x + self.feed_forward(normed_1),
            computed=lambda self, normed_2, mask: self.self_attention(normed_2, normed_2, normed_2, mask),
        ),
    ),
]


EXERCISE = Exercise(
    reference=PreNormEncoderLayer,
    steps=STEPS,
    cases=layer_cases,
    points=2,
    verified="The sublayers read normalized vectors, and x itself is only added to.",
    hints=[
        "Two halves of the same form, x + sublayer(LayerNorm(x)). Compare with the layer before: which brackets moved?",
        "The normalized vectors are needed three times, for queries, keys and values. Give them a name, and keep x.",
        "The first half: `normalized = self.norm_1(x)`, then `x = x + self.self_attention(normalized, normalized, "
        "normalized, mask)`.",
    ],
    messages={
        **TOLD,
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
            "One half of this layer is pre-norm, and the other post-norm: there the sum is normalized, and "
            "the sublayer reads its input as it is. Look at what each norm is given."
        ),
        "wrong_input_normed_2: x": (
            "The second norm is given what came into the layer, not the first sum. (Layers in which both "
            "sublayers read the same exist, and are called parallel.) Look at what the second norm is given."
        ),
    },
    mistakes=MISTAKES,
)

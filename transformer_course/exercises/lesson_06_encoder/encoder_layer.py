"""A layer that norms its sums."""

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


class EncoderLayer(nn.Module):
    """Look at all positions, then compute at each; add each result to what was there, and norm the sum (post-norm)."""

    def __init__(self, d_model: int, n_heads: int, d_ff: int) -> None:
        super().__init__()
        self.self_attention = parts.MultiHeadAttention(d_model, n_heads)
        self.feed_forward = parts.FeedForward(d_model, d_ff)
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)

    def forward(
        self, x: Float[Tensor, "batch n d_model"], mask: Bool[Tensor, "*#batch #n #n"] | None = None
    ) -> Float[Tensor, "batch n d_model"]:
        x = self.norm_1(x + self.self_attention(x, x, x, mask))
        return self.norm_2(x + self.feed_forward(x))


def queries(x):
    """use x as the queries → the queries: x"""
    return x


def keys(x):
    """as the keys → the keys: x"""
    return x


def values(x):
    """and as the values → the values: x"""
    return x


def sum_1(x, attended):
    """add x to it → the first sum: x plus the output of the attention"""
    return x + attended


def normed_1(first_norm, sum_1):
    """normalize the sum with it → the normalized first sum"""
    return first_norm(sum_1)


def computed(self, normed_1):
    """pass that through the network → the output of the network"""
    return self.feed_forward(normed_1)


def sum_2(normed_1, computed):
    """add what the network was given → the second sum: what the network was given plus its output"""
    return normed_1 + computed


def normed_2(second_norm, sum_2):
    """normalize this sum, too → the normalized second sum"""
    return second_norm(sum_2)


STEPS = InSteps(
    queries, keys, values, attended, sum_1, first_norm, normed_1, computed, sum_2, second_norm, normed_2,
    reference=EncoderLayer
)  # fmt: skip


PRE_NORM_ATTENTION: dict[str, Step] = {
    "queries": lambda first_norm, x: first_norm(x),
    "keys": lambda first_norm, x: first_norm(x),
    "values": lambda first_norm, x: first_norm(x),
    "normed_1": lambda sum_1: sum_1,
}
NORMED_ATTENTION: dict[str, Step] = {
    "sum_1": lambda first_norm, x, attended: x + first_norm(attended),
    "normed_1": lambda sum_1: sum_1,
}
NORMED_NETWORK: dict[str, Step] = {
    "sum_2": lambda second_norm, normed_1, computed: normed_1 + second_norm(computed),
    "normed_2": lambda sum_2: sum_2,
}
PRE_NORM_NETWORK: dict[str, Step] = {
    "computed": lambda self, second_norm, normed_1: self.feed_forward(second_norm(normed_1)),
    "normed_2": lambda sum_2: sum_2,
}

MISTAKES = [
    Mistake(
        "pre_norm_instead",
        STEPS.but(**PRE_NORM_ATTENTION, **PRE_NORM_NETWORK),
        summary="the norms stand in front of the sublayers, as in pre-norm",
        message=(
            "This is the pre-norm layer: the inputs of the sublayers are normalized, and the sums are not. It is a "
            "good layer, and the next exercise. Here the norm comes last: look at what each norm is given."
        ),
        hints=[
            "With all weights of attention and network at 0, this layer hands on x. What should a post-norm layer do?"
        ],
    ),
    Mistake(
        "pre_norm_in_one_half",
        STEPS.but(**PRE_NORM_ATTENTION),
        STEPS.but(**PRE_NORM_NETWORK),
        summary="one half is pre-norm: the norm stands in front of the sublayer",
        message=(
            "One half of this layer is post-norm, and the other pre-norm: there the norm stands in front of the "
            "sublayer, and the sum is not normalized. Look at what each norm is given."
        ),
        hints=["Compare the two halves. Where do the brackets of each norm open?"],
    ),
    Mistake(
        "normed_before_and_added",
        STEPS.but(
            x=lambda first_norm, x: first_norm(x),
            normed_1=lambda second_norm, sum_1: second_norm(sum_1),
            normed_2=lambda sum_2: sum_2,
        ),
        summary="`x` itself is replaced by the normalized x before each sublayer",
        message=(
            "x itself is replaced by the normalized x before each sublayer, and the last sum is not normalized at all. "
            "This is neither post-norm nor pre-norm. Look at what each norm is given."
        ),
        hints=["The formula normalizes a sum. Which sum?"],
    ),
    Mistake(
        "norm_inside_the_sum",
        STEPS.but(**NORMED_ATTENTION, **NORMED_NETWORK),
        STEPS.but(**NORMED_ATTENTION),
        STEPS.but(**NORMED_NETWORK),
        summary="a norm is given what a sublayer puts out, and x is added after it",
        message=(
            "{summary}. It should be given the whole sum, x included. Look at where the brackets of each norm open."
        ),
        hints=["What is the size of the sum after ten such layers? Which norm keeps it in check?"],
    ),
    Mistake(
        "side_by_side",
        STEPS.but(
            computed=lambda self, x: self.feed_forward(x),
            sum_2=lambda x, attended, computed: x + attended + computed,
        ),
        summary="attention and network work side by side, on the same x",
        message=(
            "{summary}. They should come one after the other: the network works on what the attention found. Look at "
            "what each is given."
        ),
        hints=["What does the network know of the other positions?"],
    ),
    *of_either_layer(
        STEPS,
        STEPS.but(
            sum_1=lambda self, x: x + self.feed_forward(x),
            computed=lambda self, normed_1, mask: self.self_attention(normed_1, normed_1, normed_1, mask),
        ),
    ),
]


EXERCISE = Exercise(
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
    messages={
        **TOLD,
        "ignored_mask": "The mask has no effect: positions attend to what is hidden from them.",
        "done_again_normed_1: attended": (
            "A sublayer's output is normalized before it is added, and the sum once more. Look for a norm too many."
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

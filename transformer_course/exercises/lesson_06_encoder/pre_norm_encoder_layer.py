"""A pre-norm encoder layer."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.lesson_06_encoder.shared.layer import (
    MESSAGES,
    attended,
    first_norm,
    of_either_layer,
    second_norm,
)
from transformer_course.exercises.lesson_06_encoder.shared.layer_cases import layer_cases
from transformer_course.exercises.shared.library_parts import parts
from transformer_course.steps import InSteps, Step


class PreNormEncoderLayer(nn.Module):
    """Attention, then a feed-forward network, each with a residual connection and a norm of its input (pre-norm)."""

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
    """normalize x → the normalized x"""
    return first_norm(x)


def queries(normed_1):
    """use the normalized x as the queries → the queries: the normalized x"""
    return normed_1


def keys(normed_1):
    """use the normalized x as the keys → the keys: the normalized x"""
    return normed_1


def values(normed_1):
    """use the normalized x as the values → the values: the normalized x"""
    return normed_1


def sum_1(x, attended):
    """add x itself to the attention output → the first sum: x plus the attention output"""
    return x + attended


def normed_2(second_norm, sum_1):
    """normalize the first sum → the normalized first sum"""
    return second_norm(sum_1)


def computed(self, normed_2):
    """run the feed-forward network on the normalized first sum → the network output"""
    return self.feed_forward(normed_2)


def sum_2(sum_1, computed):
    """add the first sum to the network output → the second sum: the first sum plus the network output"""
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
        summary="you normalize the sums, as in post-norm",
        message=(
            "You build the post-norm layer of the previous exercise: you normalize the sums, so x doesn't pass through "
            "the layer unchanged. Here, leave the sums unnormalized. Which tensors should you normalize instead?"
        ),
        hints=[
            "With all parameters of attention and network at 0, the layer should return x unchanged. What does "
            "yours return?",
            "Pre-norm normalizes the input of a sublayer, and adds the output to x itself.",
            "The attention gets `self.norm_1(x)`, and the sum `x + attended` has no norm around it.",
        ],
    ),
    Mistake(
        "norms_the_sums_too",
        STEPS.but(sum_2=lambda second_norm, sum_2: second_norm(sum_2)),
        STEPS.but(sum_1=lambda first_norm, sum_1: first_norm(sum_1)),
        summary="you normalize a sum",
        message=(
            "You normalize a sum as well as the sublayers' inputs, so x doesn't pass through the layer unchanged. (The "
            "extra norm at the end is part of the stack, not of the layer.) Which norm should you remove?"
        ),
        hints=[
            "With all parameters of attention and network at 0, the layer should return x unchanged. What does "
            "yours return?",
            "Pre-norm normalizes only the inputs of the sublayers.",
            "Pass on the first sum and return the second sum without normalizing either of them.",
        ],
    ),
    Mistake(
        "residual_from_the_normed",
        STEPS.but(
            sum_1=lambda normed_1, attended: normed_1 + attended,
            sum_2=lambda normed_2, computed: normed_2 + computed,
        ),
        STEPS.but(sum_1=lambda normed_1, attended: normed_1 + attended),
        STEPS.but(sum_2=lambda normed_2, computed: normed_2 + computed),
        summary="you add a sublayer's output to its normalized input instead of to the input itself",
        message="{summary}, so x has no path around the norms. Which two tensors should each residual sum add?",
        hints=[
            "With all parameters of attention and network at 0, the layer should return x unchanged. What does "
            "yours return?",
            "You need x twice: normalized for the sublayer, and unchanged for the sum.",
            "`x = x + attended`, where the attention gets the normalized x. The second half is the same with the "
            "network.",
        ],
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
    verified="The sublayers read normalized vectors, and their outputs are added to x itself.",
    hints=[
        "Both halves have the form x + sublayer(LayerNorm(x)). Which parentheses differ from the previous layer?",
        "You need the normalized vectors three times, for queries, keys and values. Assign them to a separate "
        "variable, and keep x.",
        "The first half: `normalized = self.norm_1(x)`, then `x = x + self.self_attention(normalized, normalized, "
        "normalized, mask)`.",
    ],
    messages={
        **MESSAGES,
        "wrong_input_normed_2: keys": Wording(
            "{summary}, so the feed-forward network never sees what the attention added. Which tensor should the "
            "second half start from?",
            summary="you apply `norm_2` to the input of the attention instead of the sum after the attention",
            hints=["After the first residual connection, which variable holds x plus the attention output?"],
        ),
        "ignored_mask": (
            Wording(
                "Your output doesn't depend on `mask`, so positions attend to positions that the mask should hide. "
                "Which arguments do you pass to the attention?",
                summary="your output doesn't depend on `mask`",
                hints=["Which arguments does `self.self_attention` take?"],
            )
        ),
        "left_out_sum_1: attended": (
            Wording(
                "Your first residual connection is missing: you replace x with the attention output instead of adding "
                "the two. What should be left of x if the attention returns only zeros?",
                summary="your first residual connection is missing",
                hints=["A residual connection adds a sublayer's input to its output. Which two tensors do you add?"],
            )
        ),
        "left_out_sum_2: computed": (
            Wording(
                "Your second residual connection is missing: you return the feed-forward output without adding the "
                "first sum to it. What should be left of that sum if the network returns only zeros?",
                summary="your second residual connection is missing",
                hints=["A residual connection adds a sublayer's input to its output. Which two tensors do you add?"],
            )
        ),
        "part_left_out_sum_1: attended": (
            Wording(
                "Both of your residual connections are missing: you replace the input of each sublayer with its output "
                "instead of adding the two. What should be left of x if both sublayers return only zeros?",
                summary="both of your residual connections are missing",
                hints=["A residual connection adds a sublayer's input to its output. Which two tensors do you add?"],
            )
        ),
        "moved_normed_1: queries": (
            Wording(
                "You apply `norm_1` only to the queries, so the attention compares normalized queries with keys that "
                "aren't normalized. Which other arguments should you normalize?",
                summary="you apply `norm_1` only to the queries, not to the keys and values",
                hints=[
                    "Which of the three tensors that you pass to the attention are normalized?",
                    "In self-attention, queries, keys and values are the same vectors: here, the normalized x.",
                    "`self.self_attention(normalized, normalized, normalized, mask)`, where `normalized` is "
                    "`self.norm_1(x)`.",
                ],
            )
        ),
        "moved_normed_2: sum_2": (
            Wording(
                "The second half of your layer is post-norm: you pass the first sum to the network without normalizing "
                "it, and normalize the second sum, so the first sum doesn't pass through unchanged. What should you "
                "pass to the second norm?",
                summary="you normalize the second sum instead of the input of the network",
                hints=[
                    "If the network returned only zeros, what should be left of the first sum after the second half?"
                ],
            )
        ),
        "moved_normed_1: sum_1": (
            Wording(
                "The first half of your layer is post-norm: you pass x to the attention without normalizing it, and "
                "normalize the sum, so x doesn't pass through unchanged. What should you pass to the first norm?",
                summary="you normalize the first sum instead of the input of the attention",
                hints=["If the attention returned only zeros, what should be left of x after the first half?"],
            )
        ),
        "wrong_input_normed_2: x": (
            Wording(
                "You pass the layer's input x to the second norm, so the network never sees the attention output. That "
                "is a parallel layer, as in GPT-NeoX. What should the second half start from?",
                summary="you pass the layer's input x to the second norm",
                hints=["In your code, does the input of the network depend on the other positions?"],
            )
        ),
    },
    mistakes=MISTAKES,
)

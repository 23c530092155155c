"""A post-norm encoder layer."""

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


class EncoderLayer(nn.Module):
    """Attention, then a feed-forward network, each with a residual connection and a norm of the sum (post-norm)."""

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
    """use x as the keys → the keys: x"""
    return x


def values(x):
    """use x as the values → the values: x"""
    return x


def sum_1(x, attended):
    """add x to the attention output → the first sum: x plus the attention output"""
    return x + attended


def normed_1(first_norm, sum_1):
    """normalize the first sum → the normalized first sum"""
    return first_norm(sum_1)


def computed(self, normed_1):
    """run the feed-forward network on the normalized first sum → the network output"""
    return self.feed_forward(normed_1)


def sum_2(normed_1, computed):
    """add the network's input to the network output → the second sum: the network's input plus its output"""
    return normed_1 + computed


def normed_2(second_norm, sum_2):
    """normalize the second sum → the normalized second sum"""
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
        summary="you put the norms before the sublayers, as in pre-norm",
        message=(
            "You build a pre-norm layer, which is the next exercise: you normalize the inputs of the sublayers "
            "instead of the sums. What should you pass to each norm here?"
        ),
        hints=[
            "With all parameters of attention and network at 0, your layer returns x unchanged. What should a "
            "post-norm layer return?",
            "Post-norm normalizes each sum, LayerNorm(x + sublayer(x)), and not the input of the sublayer.",
            "`self.norm_1(x + attended)`, where the attention gets x itself.",
        ],
    ),
    Mistake(
        "pre_norm_in_one_half",
        STEPS.but(**PRE_NORM_ATTENTION),
        STEPS.but(**PRE_NORM_NETWORK),
        summary="you normalize the input of one sublayer instead of its sum, as in pre-norm",
        message=(
            "One half of your layer is pre-norm: you normalize the input of its sublayer instead of the sum, so this "
            "sum can grow from layer to layer. What should you pass to each norm?"
        ),
        hints=[
            "Write both halves in the form norm(x + sublayer(x)). Which half differs?",
            "Post-norm normalizes each sum, and not the input of the sublayer.",
            "Pass x to each sublayer without normalizing it, and pass the sum of x and the sublayer's output to the "
            "norm.",
        ],
    ),
    Mistake(
        "normed_before_and_added",
        STEPS.but(
            x=lambda first_norm, x: first_norm(x),
            normed_1=lambda second_norm, sum_1: second_norm(sum_1),
            normed_2=lambda sum_2: sum_2,
        ),
        summary="you replace x with the normalized x before each sublayer",
        message=(
            "{summary} and never normalize the last sum. The residual connections then add the normalized x instead of "
            "x itself, which is neither post-norm nor pre-norm. What should you pass to each norm?"
        ),
        hints=[
            "In LayerNorm(x + sublayer(x)), what does the norm get?",
            "In post-norm, x itself goes into the sublayer and into the sum. The norm comes last.",
            "`self.norm_1(x + attended)`, where the attention gets x itself.",
        ],
    ),
    Mistake(
        "norm_inside_the_sum",
        STEPS.but(**NORMED_ATTENTION, **NORMED_NETWORK),
        STEPS.but(**NORMED_ATTENTION),
        STEPS.but(**NORMED_NETWORK),
        summary="you normalize a sublayer's output before you add it to x",
        message=(
            "{summary}, so the sum itself is never normalized and can grow from layer to layer. What should be inside "
            "the parentheses of each norm?"
        ),
        hints=[
            "After ten such layers, how large can the sum be? Which norm limits it?",
            "In post-norm, each norm gets the sum of x and the sublayer's output.",
            "`self.norm_1(x + attended)` instead of `x + self.norm_1(attended)`.",
        ],
    ),
    Mistake(
        "side_by_side",
        STEPS.but(
            computed=lambda self, x: self.feed_forward(x),
            sum_2=lambda x, attended, computed: x + attended + computed,
        ),
        summary="you run the attention and the feed-forward network in parallel, on the same x",
        message=(
            "{summary}, so the network never sees the attention output. The two sublayers should run one after the "
            "other. What should you pass to the network?"
        ),
        hints=[
            "In your code, does the input of the network depend on the other positions?",
            "The second half starts from the result of the first half.",
            "Assign the result of the first half to x, and use this x in the second half.",
        ],
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
    verified="You call the attention and then the network, and after each you add the input and normalize.",
    hints=[
        "Both halves have the same form, LayerNorm(x + sublayer(x)). What is the sublayer in each half, and what is x?",
        "In self-attention, queries, keys and values come from the same vectors: `self.self_attention(x, x, x, mask)`.",
        "The first half is `x = self.norm_1(x + self.self_attention(x, x, x, mask))`. The second half starts from "
        "this x.",
    ],
    messages={
        **MESSAGES,
        "ignored_mask": (
            Wording(
                "Your output doesn't depend on `mask`, so positions attend to positions that the mask should hide. "
                "Which arguments do you pass to the attention?",
                summary="your output doesn't depend on `mask`",
                hints=["Which arguments does `self.self_attention` take?"],
            )
        ),
        "done_again_normed_1: attended": (
            Wording(
                "You normalize the attention output before you add it to x, and then you normalize the sum again, so "
                "the attention always adds vectors of the same scale. Which of these two norms should you remove?",
                summary="you normalize the attention output before you add it to x",
                hints=["In LayerNorm(x + sublayer(x)), how many norms does one half have?"],
            )
        ),
        "left_out_sum_1: attended": (
            Wording(
                "Your first residual connection is missing: you normalize the attention output without adding x to it. "
                "What should you pass to the first norm?",
                summary="your first residual connection is missing",
                hints=["If the attention returned only zeros, what should the first norm get?"],
            )
        ),
        "left_out_sum_2: computed": (
            Wording(
                "Your second residual connection is missing: you normalize the feed-forward output without adding the "
                "network's input to it. What should you pass to the second norm?",
                summary="your second residual connection is missing",
                hints=["If the network returned only zeros, what should the second norm get?"],
            )
        ),
        "wrong_input_sum_2: x + computed": Wording(
            "You add the feed-forward output to the layer's input, so your second residual connection leaves out what "
            "the attention added. Which tensor do you pass to the network?",
            summary="you add the feed-forward output to the layer's input instead of the network's input",
            hints=["If the network returned only zeros, would the attention still have an effect on your output?"],
        ),
        "wrong_input_sum_2: sum_1 + computed": Wording(
            "You add the feed-forward output to the first sum from before `norm_1`, so the first norm has no effect on "
            "the residual path. In LayerNorm(x + sublayer(x)), both x are the same tensor. Which tensor is x in your "
            "second half?",
            summary="you add the feed-forward output to the first sum as it was before `norm_1`",
            hints=["Which tensor do you pass to the network, and which one do you add to its output?"],
        ),
        "wrong_input_computed: self.feed_forward(x)": Wording(
            "You pass the layer's input to the feed-forward network, so the network never sees the attention output. "
            "What should the second half start from?",
            summary="you pass the layer's input to the feed-forward network",
            hints=["In your code, does the input of the network depend on the other positions?"],
        ),
        "call_left_out_normed_1": Wording(
            "You never normalize the first sum, so the scale of the network's input varies with x. Where should you "
            "apply `norm_1`?",
            summary="you never normalize the first sum",
            hints=["In LayerNorm(x + sublayer(x)), which part is missing from your first half?"],
        ),
        "call_left_out_normed_2: sum_2": Wording(
            "You never normalize the second sum, so the vectors can grow from layer to layer. Where should you apply "
            "`norm_2`?",
            summary="you never normalize the second sum",
            hints=["In LayerNorm(x + sublayer(x)), which part is missing from your second half?"],
        ),
        "part_left_out_sum_1: attended": (
            Wording(
                "Both of your residual connections are missing: you normalize the output of each sublayer without "
                "adding its input, so x is lost if a sublayer returns zeros. What should you pass to each norm?",
                summary="both of your residual connections are missing",
                hints=["If both sublayers returned only zeros, what should be left of x?"],
            )
        ),
    },
    mistakes=MISTAKES,
)

"""The answer to ``PreNormEncoderLayer``, plainly and in steps."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_course.exercises.lesson_06_encoder.shared.layer_steps import attended, first_norm, second_norm
from transformer_course.exercises.shared.library_parts import parts
from transformer_course.steps import InSteps


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
        normalised = self.norm_1(x)
        x = x + self.self_attention(normalised, normalised, normalised, mask)
        return x + self.feed_forward(self.norm_2(x))


def normed_1(first_norm, x):
    """normalise x with it

    the normalised x
    """
    return first_norm(x)


def queries(normed_1):
    """use the normalised x as the queries

    the queries: the normalised x
    """
    return normed_1


def keys(normed_1):
    """as the keys

    the keys: the normalised x
    """
    return normed_1


def values(normed_1):
    """and as the values

    the values: the normalised x
    """
    return normed_1


def sum_1(x, attended):
    """add x itself to it

    the first sum: x plus the output of the attention
    """
    return x + attended


def normed_2(second_norm, sum_1):
    """normalise the sum with it

    the normalised first sum
    """
    return second_norm(sum_1)


def computed(self, normed_2):
    """pass that through the network

    the output of the network
    """
    return self.feed_forward(normed_2)


def sum_2(sum_1, computed):
    """add the first sum to it

    the second sum: the first one plus the output of the network
    """
    return sum_1 + computed


STEPS = InSteps(
    first_norm, normed_1, queries, keys, values, attended, sum_1, second_norm, normed_2, computed, sum_2,
    reference=PreNormEncoderLayer
)  # fmt: skip

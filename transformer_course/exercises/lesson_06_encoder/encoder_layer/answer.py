"""The answer to ``EncoderLayer``, plainly and in steps."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_course.exercises.lesson_06_encoder.shared.layer_steps import attended, first_norm, second_norm
from transformer_course.exercises.shared.library_parts import parts
from transformer_course.steps import InSteps


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
    """use x as the queries

    the queries: x
    """
    return x


def keys(x):
    """as the keys

    the keys: x
    """
    return x


def values(x):
    """and as the values

    the values: x
    """
    return x


def sum_1(x, attended):
    """add x to it

    the first sum: x plus the output of the attention
    """
    return x + attended


def normed_1(first_norm, sum_1):
    """normalise the sum with it

    the normalised first sum
    """
    return first_norm(sum_1)


def computed(self, normed_1):
    """pass that through the network

    the output of the network
    """
    return self.feed_forward(normed_1)


def sum_2(normed_1, computed):
    """add what the network was given

    the second sum: what the network was given plus its output
    """
    return normed_1 + computed


def normed_2(second_norm, sum_2):
    """normalise this sum, too

    the normalised second sum
    """
    return second_norm(sum_2)


STEPS = InSteps(
    queries, keys, values, attended, sum_1, first_norm, normed_1, computed, sum_2, second_norm, normed_2,
    reference=EncoderLayer
)  # fmt: skip

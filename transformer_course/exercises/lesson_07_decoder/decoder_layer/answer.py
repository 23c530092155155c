"""The answer to ``DecoderLayer``, plainly and in steps."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_course.exercises.shared.library_parts import parts
from transformer_course.steps import InSteps


class DecoderLayer(nn.Module):
    """Look back at what was written, across at what was read, then compute; add and norm after each (post-norm)."""

    def __init__(self, d_model: int, n_heads: int, d_ff: int) -> None:
        super().__init__()
        self.self_attention = parts.MultiHeadAttention(d_model, n_heads)
        self.cross_attention = parts.MultiHeadAttention(d_model, n_heads)
        self.feed_forward = parts.FeedForward(d_model, d_ff)
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.norm_3 = nn.LayerNorm(d_model)

    def forward(
        self,
        x: Float[Tensor, "batch n d_model"],
        memory: Float[Tensor, "batch n_source d_model"],
        mask: Bool[Tensor, "*#batch #n #n"] | None = None,
        memory_mask: Bool[Tensor, "*#batch #n #n_source"] | None = None,
    ) -> Float[Tensor, "batch n d_model"]:
        x = self.norm_1(x + self.self_attention(x, x, x, mask))
        x = self.norm_2(x + self.cross_attention(x, memory, memory, memory_mask))
        return self.norm_3(x + self.feed_forward(x))


def attentions(self):
    """take self-attention first, then cross-attention → the attentions of the first and the second sublayer"""
    return self.self_attention, self.cross_attention


def norms(self):
    """take one norm for each sublayer, in the order of their numbers → the norms of the three sublayers"""
    return self.norm_1, self.norm_2, self.norm_3


def self_mask(mask):
    """take `mask` for the self-attention → the mask of the self-attention: `mask`"""
    return mask


def cross_mask(memory_mask):
    """take `memory_mask` for the cross-attention → the mask of the cross-attention: `memory_mask`"""
    return memory_mask


def first_input(x):
    """give the first sublayer x → the input of the first sublayer: x"""
    return x


def self_inputs(first_input):
    """take it as queries, keys and values → the queries, keys and values of the self-attention"""
    return first_input, first_input, first_input


def self_attended(attentions, self_inputs, self_mask):
    """call the self-attention on them → the output of the self-attention"""
    return attentions[0](*self_inputs, self_mask)


def self_sum(first_input, self_attended):
    """add its output to the input of the first sublayer → the sum after the self-attention"""
    return first_input + self_attended


def self_normed(norms, self_sum):
    """apply `norm_1` to the sum → the result of the first sublayer"""
    return norms[0](self_sum)


def second_input(self_normed):
    """give the second sublayer the result of the first → the input of the second sublayer: the result of the first"""
    return self_normed


def cross_inputs(second_input, memory):
    """take it as queries, and the memory as keys and values → the queries, keys and values of the cross-attention"""
    return second_input, memory, memory


def cross_attended(attentions, cross_inputs, cross_mask):
    """call the cross-attention on them → the output of the cross-attention"""
    return attentions[1](*cross_inputs, cross_mask)


def cross_sum(second_input, cross_attended):
    """add its output to the input of the second sublayer → the sum after the cross-attention"""
    return second_input + cross_attended


def cross_normed(norms, cross_sum):
    """apply `norm_2` to the sum → the result of the second sublayer"""
    return norms[1](cross_sum)


def third_input(cross_normed):
    """give the third sublayer the result of the second → the input of the third sublayer: the result of the second"""
    return cross_normed


def network_output(self, third_input):
    """call the feed-forward network on it → the output of the feed-forward network"""
    return self.feed_forward(third_input)


def network_sum(third_input, network_output):
    """add its output to the input of the third sublayer → the sum after the feed-forward network"""
    return third_input + network_output


def output(norms, network_sum):
    """apply `norm_3` to the sum → the output: the normalized sum of the third sublayer"""
    return norms[2](network_sum)


STEPS = InSteps(
    attentions,
    norms,
    self_mask,
    cross_mask,
    first_input,
    self_inputs,
    self_attended,
    self_sum,
    self_normed,
    second_input,
    cross_inputs,
    cross_attended,
    cross_sum,
    cross_normed,
    third_input,
    network_output,
    network_sum,
    output,
    reference=DecoderLayer,
)

"""The reference for ``DecoderLayer``, and the same answer in steps."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_course.exercises.shared.library_parts import parts
from transformer_course.steps import InSteps


class DecoderLayer(nn.Module):
    """Self-attention, cross-attention and a network, each with a residual connection and a norm (post-norm)."""

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
    """use self-attention first, then cross-attention → the attentions: self-attention, then cross-attention"""
    return self.self_attention, self.cross_attention


def norms(self):
    """use one norm per sublayer, in the order of the sublayers → the norms of the three sublayers"""
    return self.norm_1, self.norm_2, self.norm_3


def self_mask(mask):
    """use `mask` for the self-attention → the mask of the self-attention: `mask`"""
    return mask


def cross_mask(memory_mask):
    """use `memory_mask` for the cross-attention → the mask of the cross-attention: `memory_mask`"""
    return memory_mask


def first_input(x):
    """start the first sublayer from x → the input of the first sublayer: x"""
    return x


def self_inputs(first_input):
    """use x as queries, keys and values → the inputs of the self-attention"""
    return first_input, first_input, first_input


def self_attended(attentions, self_inputs, self_mask):
    """call the self-attention with its mask → the self-attention output"""
    return attentions[0](*self_inputs, self_mask)


def self_sum(first_input, self_attended):
    """add the self-attention output to x → the sum after the self-attention"""
    return first_input + self_attended


def self_normed(norms, self_sum):
    """apply `norm_1` to the sum after the self-attention → the result of the first sublayer"""
    return norms[0](self_sum)


def second_input(self_normed):
    """start the second sublayer from the first sublayer's result → the second sublayer's input: that result"""
    return self_normed


def cross_inputs(second_input, memory):
    """use the memory as the keys and values of the cross-attention → the inputs of the cross-attention"""
    return second_input, memory, memory


def cross_attended(attentions, cross_inputs, cross_mask):
    """call the cross-attention with its mask → the cross-attention output"""
    return attentions[1](*cross_inputs, cross_mask)


def cross_sum(second_input, cross_attended):
    """add the cross-attention output to the second sublayer's input → the sum after the cross-attention"""
    return second_input + cross_attended


def cross_normed(norms, cross_sum):
    """apply `norm_2` to the sum after the cross-attention → the result of the second sublayer"""
    return norms[1](cross_sum)


def third_input(cross_normed):
    """start the third sublayer from the second sublayer's result → the third sublayer's input: that result"""
    return cross_normed


def network_output(self, third_input):
    """run the feed-forward network on the third sublayer's input → the network output"""
    return self.feed_forward(third_input)


def network_sum(third_input, network_output):
    """add the network output to the third sublayer's input → the sum after the network"""
    return third_input + network_output


def output(norms, network_sum):
    """apply `norm_3` to the sum after the network → the output: the normalized sum after the network"""
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

"""Steps and mistakes shared by post-norm and pre-norm layers.

The steps are ``attended``, ``first_norm``, ``computed`` and ``second_norm``.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from transformer_course.exercise import Mistake, Wording
from transformer_course.steps import InSteps, Variant


def attended(self, queries, keys, values, mask):
    """call the attention with the mask → the attention output"""
    return self.self_attention(queries, keys, values, mask)


def first_norm(self):
    """use `norm_1` as the first norm → the first norm: `norm_1` → `norm_1`"""
    return self.norm_1


def second_norm(self):
    """use `norm_2` as the second norm → the second norm: `norm_2` → `norm_2`"""
    return self.norm_2


MESSAGES = {
    "inverted_mask": Wording(
        "{summary}, so each position attends only to the positions that should be hidden. In this course, True means "
        "*may attend to*.",
        summary="you invert the mask",
        hints=["What does True mean in the masks of lesson 04? And in those of `nn.MultiheadAttention`?"],
    ),
    "wrong_layer_first_norm": Wording(
        "{summary}, so `norm_1` is never used or trained. Which norm should the first half use?",
        summary="you use `norm_2` in both halves of the layer",
        hints=["Which parameters of your layer get no gradient?"],
    ),
    "wrong_layer_second_norm": Wording(
        "{summary}, so `norm_2` is never used or trained. Which norm should the second half use?",
        summary="you use `norm_1` in both halves of the layer",
        hints=["Which parameters of your layer get no gradient?"],
    ),
    "first_for_all_attended": Wording(
        "{summary}, so every sentence gets the same attention output. Do you treat the output as a pair (output, "
        "weights), like the one that `nn.MultiheadAttention` returns?",
        summary="you use the attention output of the first sentence for the whole batch",
        hints=[
            "What does `MultiHeadAttention` from lesson 03 return: one tensor, or two?",
            "`a, b = tensor` splits a tensor along its first dimension, and `tensor[0]` is its first entry.",
            "Use the attention output as it is, without unpacking or indexing.",
        ],
    ),
}
"""Messages for generated mistakes in either kind of layer."""


def of_either_layer(steps: InSteps, network_first: Variant) -> list[Mistake]:
    """Return the mistakes in the mask, the sublayers and the parameters of the norms.

    Args:
        steps: The answer in steps.
        network_first: The answer with the feed-forward network before the attention.
    """
    return [
        Mistake(
            "causal_mask_of_its_own",
            steps.but(mask=lambda x: _causal(x)),
            steps.but(mask=lambda x, mask: _causal(x) if mask is None else mask),
            summary="you apply a causal mask that the caller didn't pass",
            message=(
                "{summary}, so no position can attend to later positions. In an encoder, every position may attend to "
                "the whole sentence unless `mask` hides something. Where do you create the causal mask?"
            ),
            hints=[
                "Suppose that you change the last vector of a sentence and pass no mask. Should the output at the "
                "first position change?",
            ],
        ),
        Mistake(
            "network_first",
            network_first,
            summary="you apply the feed-forward network before the attention",
            message=(
                "{summary}, so the input of the network at one position doesn't depend on the other positions. Which "
                "sublayer should come first?"
            ),
            hints=[
                "In your code, which sublayer runs first? Which positions can its output depend on?",
                "The attention first combines all positions, then the network works on each position separately.",
                "Use `self.self_attention` in the first half, and `self.feed_forward` in the second.",
            ],
        ),
        Mistake(
            "norms_without_their_weights",
            steps.but(first_norm=lambda: _standardized, second_norm=lambda: _standardized),
            summary="you normalize without the weight and bias of `norm_1` and `norm_2`",
            message=(
                "{summary}, so these parameters are never trained. A norm also scales and shifts its normalized "
                "vectors. How do you apply a module to x?"
            ),
            hints=[
                "Which parameters of your layer get no gradient?",
                "After normalizing, an `nn.LayerNorm` multiplies by its weight and adds its bias.",
                "Call `self.norm_1` and `self.norm_2` themselves.",
            ],
        ),
    ]


def _causal(x: Tensor) -> Tensor:
    return torch.ones(x.shape[-2], x.shape[-2], dtype=torch.bool).tril()


def _standardized(vectors: Tensor) -> Tensor:
    return F.layer_norm(vectors, vectors.shape[-1:])

"""Both kinds of layer: steps of the same names, and the mistakes that can be made in either.

The steps are ``attended``, ``first_norm``, ``computed`` and ``second_norm``.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from transformer_course.exercise import Mistake, Wording
from transformer_course.steps import InSteps, Variant


def attended(self, queries, keys, values, mask):
    """attend, with the mask → the output of the attention"""
    return self.self_attention(queries, keys, values, mask)


def first_norm(self):
    """choose `norm_1` → the first norm: `norm_1`"""
    return self.norm_1


def second_norm(self):
    """choose `norm_2` → the second norm: `norm_2`"""
    return self.norm_2


TOLD = {
    "inverted_mask": Wording(
        "{summary}: positions attend to what is hidden, and only to that.",
        summary="the mask is inverted",
        hints=["What does True mean in our masks, and what in `nn.MultiheadAttention` (lesson 04)?"],
    ),
    "first_for_all_attended": Wording(
        "The output of the attention is taken for a pair of output and weights, as torch's own module returns. What is "
        "taken apart here is the batch.",
        hints=[
            "What does the multi-head attention of lesson 03 return?",
            "`a, b = tensor` splits the first axis, and `tensor[0]` is its first entry.",
            "Take the output as it comes.",
        ],
    ),
}
"""What is said of generated mistakes in either layer."""


def of_either_layer(steps: InSteps, network_first: Variant) -> list[Mistake]:
    """Return what goes wrong with the mask, with the sublayers and with the norms' parameters.

    Args:
        steps: The answer in steps.
        network_first: The answer in which the network comes before the attention.
    """
    return [
        Mistake(
            "causal_mask_of_its_own",
            steps.but(mask=lambda x: _causal(x)),
            steps.but(mask=lambda x, mask: _causal(x) if mask is None else mask),
            summary="positions see no later ones, by a causal mask that nothing asked for",
            message=(
                "Positions see no later ones, though no mask says so: a causal mask is made here. In an encoder every "
                "position may see the whole sentence, unless the mask that is passed in hides something."
            ),
            hints=["Change the last vector of a sentence, with no mask. Does the output for the first one change?"],
        ),
        Mistake(
            "network_first",
            network_first,
            summary="the network comes before the attention",
            hints=["What happens first in a layer: attending to other positions, or computing with what was found?"],
        ),
        Mistake(
            "norms_without_their_weights",
            steps.but(first_norm=lambda: _standardized, second_norm=lambda: _standardized),
            summary="vectors are normalized without the weight and bias of a norm",
            message="{summary}: they are brought to mean 0 and variance 1, and left at that.",
            hints=["Which parameters get no gradient?"],
        ),
    ]


def _causal(x: Tensor) -> Tensor:
    return torch.ones(x.shape[-2], x.shape[-2], dtype=torch.bool).tril()


def _standardized(vectors: Tensor) -> Tensor:
    return F.layer_norm(vectors, vectors.shape[-1:])

"""What is said about slips that can be made in both kinds of layer, so that each is described once."""

from collections.abc import Callable, Sequence
from typing import Any

from transformer_lab.course.exercise import Mistake

Code = Callable[..., Any]


def shared(
    norms: Sequence[Code],
    weights: Code,
    mask: Code,
    mask_turned: Code,
    once: Sequence[Code],
    order: Code,
    half: Code,
    lost: Sequence[Code],
    in_place: Code,
    dropout: Code,
) -> list[Mistake]:
    """Describe them, in the code of one kind of layer."""
    return [
        Mistake(
            "one_norm_for_both",
            [norms[0], *norms[1:]],
            says=(
                "One norm stands where the other belongs. When training begins they are alike, and nobody notices; later "
                "each has weights of its own."
            ),
            hints=[
                "Is there a norm whose `.weight.grad` is None after going backward, or one in the wrong place?",
                "The one called 1 belongs to the attention, the one called 2 to the network.",
                "`self.norm_1` with the attention, `self.norm_2` with the network.",
            ],
        ),
        Mistake(
            "norms_without_their_weights",
            [weights],
            says=(
                "The norms are used without their weights and biases: they bring vectors to mean 0 and variance 1 and "
                "leave it at that."
            ),
            hints=[
                "Which parameters get no gradient?",
                "`__init__` makes two norms with parameters of their own. A module is called like a function.",
                "`self.norm_1(…)`.",
            ],
        ),
        Mistake(
            "mask_ignored",
            [mask],
            says="The mask has no effect: positions look at what they should not see. Look at what the attention is given.",
            hints=[
                "Change a token that the mask hides. Does anything change?",
                "`forward` of the attention takes four arguments.",
                "`self.self_attention(…, …, …, mask)`.",
            ],
        ),
        Mistake(
            "mask_turned_round",
            [mask_turned],
            says="The mask is turned round: positions look at what is hidden, and only at that.",
            hints=[
                "What does True mean in our masks, and what in `nn.MultiheadAttention` (lesson 04)?",
                "True means: may look. The attention of lesson 03 reads masks in the same way.",
                "Hand the mask on as it is, without `~`.",
            ],
        ),
        Mistake(
            "x_only_once",
            [once[0], *once[1:]],
            says=(
                "The attention is given too little: it takes queries, keys and values, and here all three come from the "
                "same vectors."
            ),
            hints=[
                "How was multi-head attention called in lesson 03?",
                "Self-attention: query, key and value are the same.",
                "The same vectors three times, then the mask.",
            ],
        ),
        Mistake(
            "network_first",
            [order],
            says="The network comes before the attention. Look at the order of the two steps.",
            hints=[
                "What happens first in a layer: looking around, or thinking about what was seen?",
                "First the attention, then the network.",
                "Swap the two steps; `norm_1` goes with the attention.",
            ],
        ),
        Mistake(
            "only_attention",
            [half],
            says="The layer ends after the attention. A step is missing.",
            hints=[
                "Which of the four modules is never called?",
                "A layer has two sublayers.",
                "Do the same once more, with the network instead of the attention.",
            ],
        ),
        Mistake(
            "no_attention",
            [lost[0], *lost[1:]],
            says=(
                "What the attention found has no effect: it is missing, or its result is not used. Look at what the second "
                "step works on."
            ),
            hints=[
                "Change the first vector. Does the output at the second position change?",
                "Which variable holds the result of the first step, and where does it occur again?",
                "Call the result of each step `x`, and begin with `self.self_attention`.",
            ],
        ),
        Mistake(
            "adds_in_place",
            [in_place],
            says=(
                "The result is right, but the x that came in has been changed: `+=` writes into the tensor itself, and "
                "whoever called may still need it."
            ),
            hints=[
                "Which line writes into x?",
                "`x += y` changes the tensor that both the layer and its caller hold; a plain sum makes a new one.",
                "`x = x + y`.",
            ],
        ),
        Mistake(
            "drops_in_training",
            [dropout],
            says=(
                "While training, some of what the sublayers say is dropped at random. The paper does so; in these "
                "exercises there is no dropout."
            ),
            hints=[
                "What differs between `train()` and `eval()`?",
                "Nothing in the formula is random.",
                "Leave the dropout out.",
            ],
        ),
    ]

"""What goes wrong in the weights of the experts."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_11_modern_block.route.answer import STEPS

SUMS = "Print the sum of each row of the weights."
SOFTMAX = "`torch.softmax(chosen, dim=-1)`, where `chosen` are the k largest logits."


def shares(numbers):
    """Divide by the sum of each row."""
    return numbers / numbers.sum(dim=-1, keepdim=True)


MISTAKES = [
    Mistake(
        "softmax_over_all",
        STEPS.but(weights=lambda logits, experts: logits.softmax(dim=-1).gather(-1, experts)),
        does="the softmax runs over all experts, not over the chosen ones",
        says=(
            "The softmax runs over all experts, so the weights of the chosen ones sum to less than 1. Look at what "
            "comes first, the choice or the softmax, and at the sums."
        ),
        hints=[SUMS],
    ),
    Mistake(
        "softmax_twice",
        STEPS.but(weights=lambda logits, experts: logits.softmax(dim=-1).gather(-1, experts).softmax(dim=-1)),
        STEPS.but(weights=lambda weights: weights.softmax(dim=-1)),
        does="a softmax is taken of what a softmax has made",
        says=(
            "The softmax is taken twice, first over all experts and then over the chosen ones. The second is given "
            "numbers between 0 and 1, and makes them nearly equal. Look at what goes into it."
        ),
        hints=["In the first case, what weights do the logits 2 and 1 get? They should be about 0.73 and 0.27."],
    ),
    Mistake(
        "logits_as_weights",
        STEPS.but(weights=lambda chosen: chosen),
        does="the chosen logits are returned as weights",
    ),
    Mistake(
        "divided_by_their_sum",
        STEPS.but(weights=lambda chosen: shares(chosen)),
        STEPS.but(weights=lambda chosen: shares(chosen.relu())),
        STEPS.but(weights=lambda chosen: shares(chosen.abs())).attempt,
        does="the logits are divided by their sum, without an exponential",
        says=(
            "The logits are divided by their sum. They may be negative, and so may their sum: weights above 1 or "
            "below 0 come out. A step is missing."
        ),
        hints=["Which weights do the logits 1 and −1 get?"],
    ),
    Mistake(
        "sigmoid",
        STEPS.but(logits=lambda logits: logits.sigmoid(), weights=lambda chosen: chosen),
        STEPS.but(logits=lambda logits: logits.sigmoid(), weights=lambda chosen: shares(chosen)),
        STEPS.but(weights=lambda chosen: chosen.sigmoid()),
        STEPS.but(weights=lambda chosen: shares(chosen.sigmoid())),
        STEPS.but(logits=lambda logits: logits.sigmoid()).attempt,
        does="a sigmoid makes the weights, not a softmax",
        says=(
            "A sigmoid makes the weights: it looks at each logit alone. Some newer models do so; here, as in Mixtral, "
            "the weights are a softmax. Look at the function."
        ),
        hints=["In the first case, what weights do the logits 2 and 1 get? They should be about 0.73 and 0.27."],
    ),
    Mistake(
        "equal_weights",
        STEPS.but(weights=lambda chosen: torch.full_like(chosen, 1 / chosen.shape[-1])),
        does="every chosen expert gets the same weight",
        says=(
            "{does}, whatever its logit. No gradient reaches the logits then, and the router learns nothing. Look at "
            "what becomes of the chosen logits."
        ),
        hints=["In the first case, which expert should get the larger weight?"],
    ),
    Mistake(
        "weights_of_ones",
        STEPS.but(weights=lambda chosen: torch.ones_like(chosen)),
        does="every chosen expert gets the weight 1",
        says=(
            "{does}. No gradient reaches the logits then, and the router learns nothing. Look at what becomes of the "
            "chosen logits."
        ),
        hints=[SUMS],
    ),
    Mistake(
        "softmax_over_the_tokens",
        STEPS.but(weights=lambda chosen: chosen.softmax(dim=0)),
        STEPS.but(weights=lambda logits, experts: logits.softmax(dim=0).gather(-1, experts)),
        STEPS.but(logits=lambda logits: logits.softmax(dim=0), weights=lambda chosen: chosen).attempt,
        does="the softmax runs over the tokens",
        says="{does}: a token's weights depend on its neighbours. Look at its axis.",
        hints=[SUMS],
    ),
    Mistake(
        "softmax_over_everything",
        STEPS.but(weights=lambda chosen: chosen.flatten().softmax(dim=0).view_as(chosen)),
        does="one softmax runs over all tokens together",
        says="{does}, so only the whole table sums to 1. Look at its axis.",
        hints=[SUMS],
    ),
    Mistake(
        "overflows",
        STEPS.but(weights=lambda chosen: shares(chosen.exp())),
        STEPS.but(weights=lambda logits, experts: shares(logits.exp().gather(-1, experts))).attempt,
        STEPS.but(weights=lambda chosen: shares((chosen - chosen.max()).exp())),
        does="exponentials are taken that are infinite for large logits, or all 0 for small ones",
        says=(
            "Right for ordinary logits. The exponentials of large ones are infinite, and those of very small ones all "
            "0: then nan comes out. Look at what the exponential is taken of."
        ),
        hints=["What is e¹⁰⁰ as a float32?"],
    ),
    Mistake(
        "never_divided",
        STEPS.but(weights=lambda chosen: chosen.exp()),
        STEPS.but(weights=lambda chosen: (chosen - chosen.amax(dim=-1, keepdim=True)).exp()),
        does="the exponentials are not divided by their sum",
        says="{does}. A step is missing.",
        hints=[SUMS],
    ),
    Mistake(
        "logarithms",
        STEPS.but(weights=lambda chosen: chosen.log_softmax(dim=-1)),
        STEPS.but(weights=lambda logits, experts: logits.log_softmax(dim=-1).gather(-1, experts)),
        does="the logarithms of the weights are returned",
        says="These are logarithms: none is above 0. Look at the name of the softmax.",
        hints=[SUMS],
    ),
    Mistake(
        "smallest_first",
        STEPS.but(weights=lambda chosen: (-chosen).softmax(dim=-1)),
        STEPS.but(weights=lambda chosen: 1 - chosen.softmax(dim=-1)).attempt,
        does="of the chosen experts, the one with the smallest logit gets the largest weight",
        says="{does}. Look for a minus.",
        hints=["In the first case, which expert should get the larger weight?"],
    ),
    Mistake(
        "without_a_gradient",
        STEPS.but(chosen=lambda chosen: chosen.detach()),
        STEPS.but(weights=lambda weights: weights.detach()).attempt,
        does="no gradient reaches the logits",
        says=(
            "The numbers are right, and {does}. The weights are the only way on which one can: which experts are "
            "chosen has no derivative. Look for `detach`, `no_grad` or `.data`."
        ),
        hints=["Through what does the loss depend on the logits?"],
    ),
]

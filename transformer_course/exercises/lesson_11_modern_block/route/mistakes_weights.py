"""What goes wrong in the weights of the experts."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_11_modern_block.route.answer import STEPS


def shares(numbers):
    """Divide by the sum of each row."""
    return numbers / numbers.sum(dim=-1, keepdim=True)


SUMS = "Print the sum of each row of the weights."


MISTAKES = [
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
        "softmax_over_the_tokens",
        STEPS.but(weights=lambda chosen: chosen.softmax(dim=0)),
        STEPS.but(weights=lambda logits, experts: logits.softmax(dim=0).gather(-1, experts)),
        STEPS.but(logits=lambda logits: logits.softmax(dim=0), weights=lambda chosen: chosen).attempt,
        does="the softmax runs over the tokens",
        says="{does}: a token's weights depend on its neighbours. Look at its axis.",
        hints=[SUMS],
    ),
]

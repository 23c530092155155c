"""What goes wrong in direct preference optimisation."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_14_post_training.dpo_loss.answer import STEPS


def guarded(tiny):
    """Make the step that adds a tiny number before it takes the logarithm."""
    return STEPS.but(log_probabilities=lambda scaled: (scaled.sigmoid() + tiny).log())


MISTAKES = [
    Mistake(
        "rejected_reference_with_the_wrong_sign",
        STEPS.but(rejected_gain=lambda rejected, reference_rejected: rejected + reference_rejected),
        does="`reference_rejected` comes in with the wrong sign",
        says="{does}: a minus in front of brackets turns the sign of each number in them.",
    ),
    Mistake(
        "ratio_of_probabilities",
        STEPS.but(
            chosen_gain=lambda chosen_gain: chosen_gain.exp(),
            rejected_gain=lambda rejected_gain: rejected_gain.exp(),
        ),
        STEPS.but(
            chosen_gain=lambda chosen, reference_chosen: chosen.exp() - reference_chosen.exp(),
            rejected_gain=lambda rejected, reference_rejected: rejected.exp() - reference_rejected.exp(),
        ),
        does="`exp` turns log-probabilities into probabilities before they are compared",
        says="Probabilities are compared, by `exp`. The margin is made of *log*-probabilities, as they are given.",
        hints=["How large is e^(−60), and what is left of a difference of two such numbers?"],
    ),
    Mistake(
        "hinge",
        STEPS.but(losses=lambda scaled: (1 - scaled).relu()),
        STEPS.but(losses=lambda scaled: (-scaled).relu()).attempt,
        does="the loss of a pair is a straight line that is cut off at 0",
        says="{does}. Here it is −log σ of β times the margin.",
        hints=["What should the loss be for a margin of 0?"],
    ),
    Mistake(
        "log_of_the_sigmoid",
        STEPS.but(log_probabilities=lambda scaled: scaled.sigmoid().log()),
        STEPS.but(log_probabilities=lambda scaled: -(1 + (-scaled).exp()).log()),
        guarded(1e-9),
        *[guarded(tiny).attempt for tiny in (1e-6, 1e-7, 1e-8, 1e-10, 1e-12)],
        does="the logarithm is taken of a sigmoid that has become 0 where the margin is far below 0",
        says=(
            "Where the margin is far below 0, the sigmoid becomes 0 before its logarithm is taken, and the loss is "
            "infinite, or is cut off."
        ),
        hints=["In a new cell: `torch.tensor(-300.0).sigmoid().log()`."],
    ),
    Mistake(
        "without_the_gradient",
        STEPS.but(loss=lambda loss: loss.detach()).attempt,
        STEPS.but(loss=lambda loss: loss.item()).attempt,
        says="The number is right, but it is cut off from the log-probabilities: no gradient gets back to the model.",
        hints=[
            "What does `.backward()` need?",
            "`.item()`, `.detach()` and `torch.no_grad()` end the path that gradients take.",
            "Leave them out, and return the tensor itself.",
        ],
    ),
]

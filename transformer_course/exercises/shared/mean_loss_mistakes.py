"""Mistakes in the mean loss over all tokens except padding.

The answer has ``targets``, an argument or a step, the argument ``pad_id``, and the steps ``losses``, ``real``,
``total``, ``n_tokens`` and ``loss``.
"""

from torch import Tensor

from transformer_course.exercise import Mistake, Wording
from transformer_course.steps import InSteps, Step

MESSAGES = {
    "wrong_input_real: vocabulary_axis": Wording(
        "{summary}, so padding changes your loss. Which targets should you leave out of the mean?",
        summary="you count padding like any other token",
        hints=["What value do the targets have at padding?"],
    ),
}
"""Messages for generated mistakes in the mean loss."""


def row_sums(losses: Tensor, real: Tensor) -> Tensor:
    """Return the sum of each sentence's losses."""
    return (losses * real).sum(dim=1)


def of_the_mean(steps: InSteps, row: str, *n_positions: Step, noun: str | None = None) -> list[Mistake]:
    """Return the mistakes in the mean loss.

    Args:
        steps: An answer with the steps listed at the top of this module.
        row: The word for a row of the batch in the mistakes' names: "sentence" or "text".
        n_positions: Ways to count all positions, including padding.
        noun: The word for a row of the batch in the messages, if it is not ``row``.
    """
    noun = noun or row
    return [
        Mistake(
            "divides_by_all_positions",
            *[steps.but(n_tokens=count) for count in n_positions],
            summary="you divide by the number of all positions, including padding",
            message=(
                "You leave padding out of the sum but divide by the number of *all* positions, so more padding makes "
                "the loss smaller. Which number should you divide by?"
            ),
            hints=["Of 6 positions, 2 are padding. How many losses do you add up, and which number do you divide by?"],
        ),
        Mistake(
            "counts_what_is_not_zero",
            steps.but(n_tokens=lambda losses, real: (losses * real != 0).sum()),
            summary="you divide by the number of losses that are not 0",
            message=(
                "{summary}. If the model is certain of a real token, its loss can be exactly 0, and you don't count "
                "that token. Which condition identifies a real token?"
            ),
            hints=["What is the loss of a token whose logit is 200 larger than all other logits?"],
        ),
        Mistake(
            f"divides_by_the_{row}s",
            steps.but(n_tokens=lambda targets: len(targets)),
            summary=f"you divide by the number of {noun}s",
            message=f"{{summary}}, so longer {noun}s give a larger loss. How many losses do you add up?",
            hints=[f"If every token is predicted equally well, should the loss depend on the length of the {noun}s?"],
        ),
        Mistake(
            "a_loss_for_each_token",
            steps.but(loss=lambda losses, real: losses * real),
            steps.but(loss=lambda losses, real: losses[real]),
            steps.but(loss=lambda losses, real: (losses * real).flatten()).attempt,
            steps.but(loss=lambda losses: losses).attempt,
            summary="you return a loss for each token",
            message="{summary}, but training needs a single number. Over which losses should you take the mean?",
            hints=["What shape should the result have?"],
        ),
        Mistake(
            f"a_loss_for_each_{row}",
            steps.but(loss=lambda losses, real: row_sums(losses, real) / real.sum(dim=1)),
            steps.but(loss=lambda losses, real: row_sums(losses, real)),
            steps.but(loss=lambda losses, real: (losses * real).mean(dim=1)).attempt,
            summary=f"you return one number for each {noun}",
            message="{summary}, but training needs a single number. Over which tokens should you take the mean?",
            hints=["What shape should the result have?"],
        ),
        Mistake(
            "perplexity",
            steps.but(loss=lambda loss: loss.exp()),
            summary="you take `exp` of the mean loss",
            message=(
                "You return the perplexity, exp(loss), so a perfect model gets 1 instead of 0. Which number should "
                "training minimize?"
            ),
            hints=["Which function do you apply after you take the mean?"],
        ),
    ]

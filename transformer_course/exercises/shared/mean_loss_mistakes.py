"""Mistakes in how the losses of tokens become one number: their mean over the tokens that are no padding.

There are ``targets``, an argument or a step, the argument ``pad_id``, and the steps ``losses``, ``real``, ``total``,
``n_tokens`` and ``loss``.
"""

from torch import Tensor

from transformer_course.exercise import Mistake, Wording
from transformer_course.steps import InSteps, Step

TOLD = {
    "wrong_input_real: vocabulary_axis": Wording(summary="padding is counted like any other token"),
}
"""What is said of generated mistakes in the mean of the losses."""


def row_sums(losses: Tensor, real: Tensor) -> Tensor:
    """Return the sum of the losses of each sentence."""
    return (losses * real).sum(dim=1)


def of_the_mean(steps: InSteps, row: str, *n_positions: Step) -> list[Mistake]:
    """Return what goes wrong with the mean of the losses.

    Args:
        steps: An answer with these steps.
        row: What a row of the batch is: a sentence, or a text.
        n_positions: Ways to count all positions, padding included.
    """
    return [
        Mistake(
            "divides_by_all_positions",
            *[steps.but(n_tokens=count) for count in n_positions],
            summary="the sum is divided by the number of all positions, padding included",
            message=(
                "The losses of padding are left out, but its positions are still counted in the mean: the more "
                "padding, the smaller the loss."
            ),
            hints=["By which number is the sum divided: by all positions, or by the real targets?"],
        ),
        Mistake(
            "counts_what_is_not_zero",
            steps.but(n_tokens=lambda losses, real: (losses * real != 0).sum()),
            summary="the sum is divided by the number of losses that are not 0",
            message=(
                "The losses that are not 0 are counted. A real token of which the model is quite sure has a loss of "
                "exactly 0, and is missing from the count."
            ),
            hints=["What is the loss of a token whose logit is 200 above all the others?"],
        ),
        Mistake(
            f"divides_by_the_{row}s",
            steps.but(n_tokens=lambda targets: len(targets)),
            summary=f"the sum is divided by the number of {row}s",
            message="{summary}. Tokens are what the mean is taken over.",
            hints=[f"Does the loss depend on how long the {row}s are, even if every token is guessed equally well?"],
        ),
        Mistake(
            "a_loss_for_each_token",
            steps.but(loss=lambda losses, real: losses * real),
            steps.but(loss=lambda losses, real: losses[real]),
            steps.but(loss=lambda losses, real: (losses * real).flatten()).attempt,
            steps.but(loss=lambda losses: losses).attempt,
            summary="there is a loss for each token, and they are not put together",
            message="There is a loss for each token. One number is asked for: their mean over the real tokens.",
            hints=["What shape is asked for?"],
        ),
        Mistake(
            f"a_loss_for_each_{row}",
            steps.but(loss=lambda losses, real: row_sums(losses, real) / real.sum(dim=1)),
            steps.but(loss=lambda losses, real: row_sums(losses, real)),
            steps.but(loss=lambda losses, real: (losses * real).mean(dim=1)).attempt,
            summary=f"there is a number for each {row}, not one for all of them",
            message=(
                f"There is a number for each {row}. One number is asked for: the mean over all real tokens of the "
                "batch."
            ),
            hints=["What shape is asked for?"],
        ),
        Mistake(
            "perplexity",
            steps.but(loss=lambda loss: loss.exp()),
            summary="`exp` is taken of the mean loss",
            message="This is e to the power of the loss, the perplexity. The loss itself is asked for.",
            hints=["What is the loss of a model that is sure and right? Here it is 1."],
        ),
    ]

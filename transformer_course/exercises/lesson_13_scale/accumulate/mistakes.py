"""What goes wrong when the losses of micro-batches are put together."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_13_scale.accumulate.answer import STEPS

MISTAKES = [
    Mistake(
        "mean_of_means",
        STEPS.but(loss=lambda losses, n_tokens: (losses / n_tokens).mean()),
        does="the mean of each micro-batch is taken first, and then the mean of these",
        says="This is the mean of the means: a token of a short micro-batch counts more than one of a long one.",
        hints=["Two micro-batches of 2 and 11 tokens: how much does each of the 13 tokens count?"],
    ),
    Mistake(
        "sum_of_means",
        STEPS.but(loss=lambda losses, n_tokens: (losses / n_tokens).sum()),
        does="the means of the micro-batches are added up",
        says="{does}: the more micro-batches, the larger the loss.",
        hints=["Cut the same batch into twice as many parts. Should the loss double?"],
    ),
    Mistake(
        "divides_by_the_micro_batches",
        STEPS.but(count=lambda losses: len(losses)),
        does="the number of micro-batches is taken for that of the tokens",
        says="{does}. Tokens are what the mean is taken over.",
    ),
    Mistake(
        "weights_the_sums",
        STEPS.but(total=lambda losses, n_tokens: (losses * n_tokens).sum()),
        does="the sums are multiplied by the numbers of tokens before they are added up",
        says="The sums are multiplied by the numbers of tokens, as means would be. They are sums already.",
        hints=["One micro-batch of 7 tokens: what is the loss, and what comes out?"],
    ),
]

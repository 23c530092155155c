"""What goes wrong when the losses of micro-batches are put together."""

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_13_scale.accumulate.answer import STEPS

ONCE = "`losses.sum() / n_tokens.sum()`."

MISTAKES = [
    Mistake(
        "mean_of_means",
        [
            STEPS.but(loss=lambda losses, n_tokens: (losses / n_tokens).mean()),
            STEPS.but(loss=lambda losses, n_tokens: (losses / n_tokens.clamp(min=1)).mean()),
        ],
        does="the mean of each micro-batch is taken first, and then the mean of these",
        says="This is the mean of the means: a token of a short micro-batch counts more than one of a long one.",
        hints=[
            "Two micro-batches of 2 and 11 tokens: how much does each of the 13 tokens count?",
            "A mean over all tokens has one division.",
            ONCE,
        ],
    ),
    Mistake(
        "sum_of_means",
        [
            STEPS.but(loss=lambda losses, n_tokens: (losses / n_tokens).sum()),
            STEPS.but(loss=lambda losses, n_tokens: (losses / n_tokens.clamp(min=1)).sum()).attempt,
        ],
        does="the means of the micro-batches are added up",
        says="The means of the micro-batches are added up: the more micro-batches, the larger the loss.",
        hints=[
            "Cut the same batch into twice as many parts. Should the loss double?",
            "The sums are added up, and so are the numbers of tokens.",
            ONCE,
        ],
    ),
    Mistake(
        "divides_by_the_micro_batches",
        [STEPS.but(count=lambda losses: len(losses))],
        does="the sum is divided by the number of micro-batches",
        says="The sum is divided by the number of micro-batches. Tokens are what the mean is taken over.",
        hints=[
            "One micro-batch of 7 tokens: by which number is its sum divided?",
            "`losses` are sums, not means.",
            ONCE,
        ],
    ),
    Mistake(
        "adds_up",
        [STEPS.but(loss=lambda total: total)],
        does="the sum of the losses is not divided by anything",
        says="This is the sum over all tokens. A mean is asked for, which does not grow with the batch.",
        hints=[
            "A batch twice as long, predicted equally well: should the loss double?",
            "What is `n_tokens` for?",
            ONCE,
        ],
    ),
    Mistake(
        "a_loss_for_each_micro_batch",
        [STEPS.but(loss=lambda losses, n_tokens: losses / n_tokens)],
        does="there is a mean for each micro-batch, not one for all",
        says="There is a loss for each micro-batch. One number is asked for: that of the whole batch.",
        hints=[
            "What shape is asked for?",
            "All tokens of the batch should count the same, whatever micro-batch they are in.",
            ONCE,
        ],
    ),
    Mistake(
        "weights_the_sums",
        [STEPS.but(total=lambda losses, n_tokens: (losses * n_tokens).sum())],
        does="the sums are multiplied by the numbers of tokens before they are added up",
        says="The sums are multiplied by the numbers of tokens, as means would be. They are sums already.",
        hints=[
            "One micro-batch of 7 tokens: what is the loss, and what comes out?",
            "A *mean* times its number of tokens is a sum. What is given here?",
            ONCE,
        ],
    ),
    Mistake(
        "divides_by_one_micro_batch",
        [
            STEPS.but(count=lambda n_tokens: n_tokens[-1]),
            STEPS.but(count=lambda n_tokens: n_tokens[0]),
            STEPS.but(count=lambda n_tokens: n_tokens.max()).attempt,
        ],
        does="the sum is divided by the number of tokens of one micro-batch",
        says="The sum of all is divided by the number of tokens of *one* micro-batch. That of all belongs there.",
        hints=[
            "Two micro-batches of 5 tokens each: how many tokens are that?",
            "Is a number overwritten in each round of a loop, where it should grow?",
            ONCE,
        ],
    ),
    Mistake(
        "without_the_gradient",
        [STEPS.but(loss=lambda loss: loss.detach()).attempt, STEPS.but(loss=lambda loss: loss.item()).attempt],
        says="The number is right, but it is cut off from the losses: no gradient gets back to the model.",
        hints=[
            "What does `.backward()` need?",
            "`.item()`, `.detach()` and `torch.no_grad()` end the path that gradients take.",
            "Leave them out, and return the tensor itself.",
        ],
    ),
]

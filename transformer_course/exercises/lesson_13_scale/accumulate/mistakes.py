"""What goes wrong when the losses of micro-batches are put together."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_13_scale.accumulate.answer import STEPS

ONCE = "`losses.sum() / n_tokens.sum()`."

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
        hints=["One micro-batch of 7 tokens: by which number is its sum divided?"],
    ),
    Mistake(
        "adds_up",
        STEPS.but(loss=lambda total: total),
        does="the sum of the losses is not divided by anything",
    ),
    Mistake(
        "a_loss_for_each_micro_batch",
        STEPS.but(loss=lambda losses, n_tokens: losses / n_tokens),
        does="there is a mean for each micro-batch, not one for all",
    ),
    Mistake(
        "weights_the_sums",
        STEPS.but(total=lambda losses, n_tokens: (losses * n_tokens).sum()),
        does="the sums are multiplied by the numbers of tokens before they are added up",
        says="The sums are multiplied by the numbers of tokens, as means would be. They are sums already.",
        hints=["One micro-batch of 7 tokens: what is the loss, and what comes out?"],
    ),
    Mistake(
        "divides_by_one_micro_batch",
        STEPS.but(count=lambda n_tokens: n_tokens[-1]),
        STEPS.but(count=lambda n_tokens: n_tokens[0]),
        STEPS.but(count=lambda n_tokens: n_tokens.max()).attempt,
        does="the tokens of one micro-batch are taken for those of all",
        says="The sum of all is divided by the number of tokens of *one* micro-batch. That of all belongs there.",
        hints=["Two micro-batches of 5 tokens each: how many tokens are that?"],
    ),
    Mistake(
        "divides_twice",
        STEPS.but(total=lambda losses, n_tokens: (losses / n_tokens).sum()),
        does="each sum is divided by its own number of tokens first",
        says="Each sum is divided twice: by its own number of tokens, and then by that of all.",
        hints=["One micro-batch of 7 tokens: how often is its sum divided by 7?"],
    ),
    Mistake(
        "divides_by_the_micro_batches_too",
        STEPS.but(loss=lambda loss, losses: loss / len(losses)).attempt,  # a pair of it may be right
        says="The sum is divided by the number of tokens *and* by that of the micro-batches. One division is enough.",
        hints=[
            "Two micro-batches of 5 tokens each: by which number is the sum divided?",
            "A mean over all tokens has one division: look for a mean that stands where a sum belongs.",
            ONCE,
        ],
    ),
    Mistake(
        "mean_number_of_tokens",
        STEPS.but(count=lambda n_tokens: n_tokens.float().mean()),
        does="the mean number of tokens is taken for that of all",
        says="The sum of all is divided by the *mean* number of tokens: the more micro-batches, the larger the loss.",
        hints=["Two micro-batches of 5 tokens each: how many tokens are that?"],
    ),
    Mistake(
        "padding_counts",
        STEPS.but(count=lambda n_tokens: n_tokens.max() * len(n_tokens)),
        does="the micro-batches are counted as if all were as long as the longest",
        says="All micro-batches are counted as if they were as long as the longest: padding counts as tokens.",
        hints=["Micro-batches of 1, 40 and 3 tokens: how many tokens are that?"],
    ),
    Mistake(
        "upside_down",
        STEPS.but(loss=lambda total, count: count / total),
        does="the number of tokens is divided by the sum, not the sum by the number",
    ),
    Mistake(
        "only_one_micro_batch",
        STEPS.but(total=lambda losses: losses[-1]),
        STEPS.but(total=lambda losses: losses[0]),
        STEPS.but(total=lambda losses: losses[-1], count=lambda n_tokens: n_tokens[-1]),
        STEPS.but(total=lambda losses: losses[0], count=lambda n_tokens: n_tokens[0]),
        does="the losses of one micro-batch alone are used",
        says="{does}. All belong to the batch.",
        hints=["Does the loss of each micro-batch make a difference to the result?"],
    ),
    Mistake(
        "one_is_left_out",
        STEPS.but(total=lambda losses: losses[:-1].sum(), count=lambda n_tokens: n_tokens[:-1].sum()),
        STEPS.but(total=lambda losses: losses[1:].sum(), count=lambda n_tokens: n_tokens[1:].sum()),
        STEPS.but(total=lambda losses: losses[:-1].sum()),
        STEPS.but(total=lambda losses: losses[1:].sum()).attempt,
        does="the first or the last micro-batch is left out",
        hints=["What comes out for a single micro-batch?"],
    ),
    Mistake(
        "whole_numbers",
        STEPS.but(loss=lambda total, count: total // count),
        STEPS.but(loss=lambda loss: loss.round()),
        STEPS.but(loss=lambda loss: loss.long()).attempt,
        does="the result is rounded to a whole number",
        says="A whole number comes out. Losses differ by hundredths, and what is rounded passes no gradient on.",
        hints=["What is `7.5 // 2`?"],
    ),
    Mistake(
        "sum_and_number",
        STEPS.but(loss=lambda total, count: (total, count)),
        does="the sum and the number are returned, without dividing them",
        says="The sum and the number of tokens are returned. The one divided by the other is asked for.",
        hints=["What does the annotation after `->` promise?"],
    ),
    Mistake(
        "perplexity",
        STEPS.but(loss=lambda loss: loss.exp()),
        does="the exponential of the loss is returned",
        says="This is a perplexity: the exponential of the loss. The loss itself is asked for, in nats.",
        hints=["Is the result between the smallest and the largest mean of the micro-batches?"],
    ),
    Mistake(
        "another_sign",
        STEPS.but(loss=lambda loss: -loss),
        does="the result has the wrong sign",
    ),
    Mistake(
        "without_the_gradient",
        STEPS.but(loss=lambda loss: loss.item()),
        STEPS.but(loss=lambda loss: loss.detach()).attempt,
        does="no gradient passes from the result to the losses",
        says="The number is right, but it is cut off from the losses: no gradient gets back to the model.",
        hints=["What does `.backward()` need?"],
    ),
]

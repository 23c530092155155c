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
        hints=[
            "Two micro-batches of 2 and 11 tokens: how much does each of the 13 tokens count?",
            "A mean over all tokens has one division.",
            ONCE,
        ],
    ),
    Mistake(
        "sum_of_means",
        STEPS.but(loss=lambda losses, n_tokens: (losses / n_tokens).sum()),
        does="the means of the micro-batches are added up",
        says="{does}: the more micro-batches, the larger the loss.",
        hints=[
            "Cut the same batch into twice as many parts. Should the loss double?",
            "The sums are added up, and so are the numbers of tokens.",
            ONCE,
        ],
    ),
    Mistake(
        "divides_by_the_micro_batches",
        STEPS.but(count=lambda losses: len(losses)),
        does="the number of micro-batches is taken for that of the tokens",
        says="{does}. Tokens are what the mean is taken over.",
        hints=[
            "One micro-batch of 7 tokens: by which number is its sum divided?",
            "`losses` are sums, not means.",
            ONCE,
        ],
    ),
    Mistake(
        "adds_up",
        STEPS.but(loss=lambda total: total),
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
        STEPS.but(loss=lambda losses, n_tokens: losses / n_tokens),
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
        STEPS.but(total=lambda losses, n_tokens: (losses * n_tokens).sum()),
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
        STEPS.but(count=lambda n_tokens: n_tokens[-1]),
        STEPS.but(count=lambda n_tokens: n_tokens[0]),
        STEPS.but(count=lambda n_tokens: n_tokens.max()).attempt,
        does="the tokens of one micro-batch are taken for those of all",
        says="The sum of all is divided by the number of tokens of *one* micro-batch. That of all belongs there.",
        hints=[
            "Two micro-batches of 5 tokens each: how many tokens are that?",
            "Is a number overwritten in each round of a loop, where it should grow?",
            ONCE,
        ],
    ),
    Mistake(
        "divides_twice",
        STEPS.but(total=lambda losses, n_tokens: (losses / n_tokens).sum()),
        does="each sum is divided by its own number of tokens first",
        says="Each sum is divided twice: by its own number of tokens, and then by that of all.",
        hints=[
            "One micro-batch of 7 tokens: how often is its sum divided by 7?",
            "A mean over all tokens has one division, after everything is added up.",
            ONCE,
        ],
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
        hints=[
            "Two micro-batches of 5 tokens each: how many tokens are that?",
            "The sum runs over all tokens, so it is divided by the number of all.",
            ONCE,
        ],
    ),
    Mistake(
        "padding_counts",
        STEPS.but(count=lambda n_tokens: n_tokens.max() * len(n_tokens)),
        does="the micro-batches are counted as if all were as long as the longest",
        says="All micro-batches are counted as if they were as long as the longest: padding counts as tokens.",
        hints=[
            "Micro-batches of 1, 40 and 3 tokens: how many tokens are that?",
            "`n_tokens` says how many there are, without padding.",
            ONCE,
        ],
    ),
    Mistake(
        "upside_down",
        STEPS.but(loss=lambda total, count: count / total),
        does="the number of tokens is divided by the sum, not the sum by the number",
        says="The fraction is upside down: tokens for each nat, not nats for each token.",
        hints=[
            "The losses double. Should the result double, or halve?",
            "A mean is a sum divided by a number of things.",
            ONCE,
        ],
    ),
    Mistake(
        "only_one_micro_batch",
        STEPS.but(total=lambda losses: losses[-1]),
        STEPS.but(total=lambda losses: losses[0]),
        STEPS.but(total=lambda losses: losses[-1], count=lambda n_tokens: n_tokens[-1]),
        STEPS.but(total=lambda losses: losses[0], count=lambda n_tokens: n_tokens[0]),
        does="the losses of one micro-batch alone are used",
        says="{does}. All belong to the batch.",
        hints=[
            "Does the loss of each micro-batch make a difference to the result?",
            "Is a number overwritten in each round of a loop, or does a `return` stand inside it?",
            ONCE,
        ],
    ),
    Mistake(
        "one_is_left_out",
        STEPS.but(total=lambda losses: losses[:-1].sum(), count=lambda n_tokens: n_tokens[:-1].sum()),
        STEPS.but(total=lambda losses: losses[1:].sum(), count=lambda n_tokens: n_tokens[1:].sum()),
        STEPS.but(total=lambda losses: losses[:-1].sum()),
        STEPS.but(total=lambda losses: losses[1:].sum()).attempt,
        does="the first or the last micro-batch is left out",
        says="{does}. Look at where the sum begins and ends.",
        hints=[
            "What comes out for a single micro-batch?",
            "Which indices does the sum run over?",
            ONCE,
        ],
    ),
    Mistake(
        "whole_numbers",
        STEPS.but(loss=lambda total, count: total // count),
        STEPS.but(loss=lambda loss: loss.round()),
        STEPS.but(loss=lambda loss: loss.long()).attempt,
        does="the result is rounded to a whole number",
        says="A whole number comes out. Losses differ by hundredths, and what is rounded passes no gradient on.",
        hints=[
            "What is `7.5 // 2`?",
            "`//`, `round` and `int` drop what is after the point.",
            ONCE,
        ],
    ),
    Mistake(
        "sum_and_number",
        STEPS.but(loss=lambda total, count: (total, count)),
        does="the sum and the number are returned, without dividing them",
        says="The sum and the number of tokens are returned. The one divided by the other is asked for.",
        hints=[
            "What does the annotation after `->` promise?",
            "A mean is a sum divided by a number.",
            ONCE,
        ],
    ),
    Mistake(
        "perplexity",
        STEPS.but(loss=lambda loss: loss.exp()),
        does="the exponential of the loss is returned",
        says="This is a perplexity: the exponential of the loss. The loss itself is asked for, in nats.",
        hints=[
            "Is the result between the smallest and the largest mean of the micro-batches?",
            "Only sums and one division are needed.",
            ONCE,
        ],
    ),
    Mistake(
        "another_sign",
        STEPS.but(loss=lambda loss: -loss),
        does="the result has the wrong sign",
        says="The sign is turned round. `losses` are −log p already.",
        hints=[
            "Can a cross-entropy be below 0?",
            "Where does a minus come in?",
            ONCE,
        ],
    ),
    Mistake(
        "an_axis_too_many",
        STEPS.but(loss=lambda loss: loss[None]),
        does="the result has an axis of length 1",
        says="The number is right, in a tensor with an axis. A loss is a tensor without axes.",
        hints=[
            "What shape is asked for, and what shape comes out?",
            "`keepdim=True`, `None` and `unsqueeze` leave an axis behind.",
            ONCE,
        ],
    ),
    Mistake(
        "in_float64",
        STEPS.but(loss=lambda total, count: total.double() / count),
        STEPS.but(loss=lambda loss: loss.double()).attempt,
        does="the result comes in float64",
        says="The number is right, in float64. The losses are in float32, and so should their mean be.",
        hints=[
            "What does `.dtype` say of the result?",
            "Where does a `.double()` or a float64 come in?",
            "`losses.sum() / n_tokens.sum()` is in float32.",
        ],
    ),
    Mistake(
        "without_the_gradient",
        STEPS.but(loss=lambda loss: loss.item()),
        STEPS.but(loss=lambda loss: loss.detach()).attempt,
        does="no gradient passes from the result to the losses",
        says="The number is right, but it is cut off from the losses: no gradient gets back to the model.",
        hints=[
            "What does `.backward()` need?",
            "`.item()`, `.detach()`, `torch.tensor(…)` and `torch.no_grad()` end the path that gradients take.",
            "Leave them out, and return the tensor itself.",
        ],
    ),
]

"""What goes wrong between logits and the loss of a token."""

import torch
from torch import nn

from transformer_lab.course.exercise import Mistake


def mean_loss(log_p, targets, pad_id, smoothing):
    """The loss from log-probabilities, or what is taken for them."""
    right = log_p.gather(-1, targets[..., None])[..., 0]
    return -((1 - smoothing) * right + smoothing * log_p.mean(dim=-1))[targets != pad_id].mean()


def forgets_the_smoothing(logits, targets, pad_id, smoothing):
    return mean_loss(logits.log_softmax(-1), targets, pad_id, 0.0)


def forgets_smoothing_and_padding(logits, targets, pad_id, smoothing):
    return nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def relative_entropy(logits, targets, pad_id, smoothing):
    wanted = torch.full_like(logits, smoothing / logits.shape[-1])
    wanted.scatter_add_(-1, targets[..., None], torch.full_like(logits[..., :1], 1 - smoothing))
    real = targets != pad_id
    return nn.functional.kl_div(logits.log_softmax(-1)[real], wanted[real], reduction="batchmean")


def softmax_twice(logits, targets, pad_id, smoothing):
    return mean_loss(logits.softmax(-1).log_softmax(-1), targets, pad_id, smoothing)


def log_of_the_softmax(logits, targets, pad_id, smoothing):
    return mean_loss(logits.softmax(-1).log(), targets, pad_id, smoothing)


def log_of_the_softmax_and_a_little(logits, targets, pad_id, smoothing):
    return mean_loss((logits.softmax(-1) + 1e-9).log(), targets, pad_id, smoothing)


def no_softmax(logits, targets, pad_id, smoothing):
    return mean_loss(logits, targets, pad_id, smoothing)


def no_log(logits, targets, pad_id, smoothing):
    return mean_loss(logits.softmax(-1), targets, pad_id, smoothing)


def softmax_over_the_positions(logits, targets, pad_id, smoothing):
    return mean_loss(logits.log_softmax(1), targets, pad_id, smoothing)


def forgets_the_minus(logits, targets, pad_id, smoothing):
    return -mean_loss(logits.log_softmax(-1), targets, pad_id, smoothing)


def forgets_a_minus(logits, targets, pad_id, smoothing):
    log_p = logits.log_softmax(-1)
    right = log_p.gather(-1, targets[..., None])[..., 0]
    return (-(1 - smoothing) * right + smoothing * log_p.mean(-1))[targets != pad_id].mean()


def _spread(logits, targets, pad_id, right, others):
    """Take a target that gives the right token and each of the others so much."""
    wanted = torch.full_like(logits, others).scatter(-1, targets[..., None], right)
    return -(wanted * logits.log_softmax(-1)).sum(-1)[targets != pad_id].mean()


def spreads_on_the_wrong_tokens_only(logits, targets, pad_id, smoothing):
    return _spread(logits, targets, pad_id, 1 - smoothing, smoothing / (logits.shape[-1] - 1))


def the_right_token_gets_no_share(logits, targets, pad_id, smoothing):
    return _spread(logits, targets, pad_id, 1 - smoothing, smoothing / logits.shape[-1])


def padding_gets_no_share(logits, targets, pad_id, smoothing):
    wanted = torch.full_like(logits, smoothing / (logits.shape[-1] - 2))
    wanted[..., pad_id] = 0
    wanted = wanted.scatter(-1, targets[..., None], 1 - smoothing)
    return -(wanted * logits.log_softmax(-1)).sum(-1)[targets != pad_id].mean()


def the_right_token_stays_whole(logits, targets, pad_id, smoothing):
    log_p = logits.log_softmax(-1)
    return -(log_p.gather(-1, targets[..., None])[..., 0] + smoothing * log_p.mean(-1))[targets != pad_id].mean()


def every_token_gets_the_whole_doubt(logits, targets, pad_id, smoothing):
    log_p = logits.log_softmax(-1)
    right = log_p.gather(-1, targets[..., None])[..., 0]
    return -((1 - smoothing) * right + smoothing * log_p.sum(-1))[targets != pad_id].mean()


def the_shares_exchanged(logits, targets, pad_id, smoothing):
    return mean_loss(logits.log_softmax(-1), targets, pad_id, 1 - smoothing)


def smooths_the_loss(logits, targets, pad_id, smoothing):
    return (1 - smoothing) * nn.functional.cross_entropy(logits.transpose(1, 2), targets, ignore_index=pad_id)


MISTAKES = [
    Mistake(
        "forgets_the_smoothing",
        [forgets_the_smoothing],
        says="The loss is right where `smoothing` is 0, and does not change where it is not. The argument is not used.",
        hints=[
            "What is the loss with `smoothing=0.3`?",
            "A share of the target goes to all tokens of the vocabulary alike.",
            "(1 − smoothing) times the old loss, plus smoothing times the mean of minus all log-probabilities.",
        ],
    ),
    Mistake(
        "forgets_smoothing_and_padding",
        [forgets_smoothing_and_padding],
        says="This is the plain cross-entropy: padding is counted, and nothing is smoothed. Two arguments are not used.",
        hints=[
            "Where do `pad_id` and `smoothing` occur in the code?",
            "Where `targets` is `pad_id`, nothing is asked of the model; and a share of the target goes to all tokens.",
            "`cross_entropy` of torch has `ignore_index` for the one and `label_smoothing` for the other.",
        ],
    ),
    Mistake(
        "relative_entropy",
        [relative_entropy],
        says=(
            "This is the relative entropy, or KL divergence: the surprise, less the doubt that the target has itself. The "
            "gradient is the same; the number asked for is the whole surprise."
        ),
        hints=[
            "What is the loss of a model that says exactly what the target says? Here it is 0.",
            "The loss of a token is the sum of −log p, each times its share of the target.",
            "Add up `-(target * log_p)` over the vocabulary, instead of `kl_div`.",
        ],
    ),
    Mistake(
        "softmax_twice",
        [softmax_twice],
        says=(
            "A softmax is taken twice. After the first, all numbers lie between 0 and 1, and the second can tell them "
            "hardly apart: the loss gets stuck far above 0, however well the model knows."
        ),
        hints=[
            "What is `log_softmax` of the probabilities 1, 0, 0? It should be 0 at the first.",
            "`log_softmax` and `cross_entropy` both take *logits*.",
            "Leave the softmax before it out.",
        ],
    ),
    Mistake(
        "log_of_the_softmax",
        [log_of_the_softmax, log_of_the_softmax_and_a_little],
        says=(
            "For logits that lie far apart, the probability becomes 0 before its logarithm is taken, and the loss becomes "
            "infinite, or is cut off."
        ),
        hints=[
            "In a new cell: `torch.tensor([0.0, 200.0]).softmax(-1).log()`.",
            "The logarithm of e^(−200) is −200. Which function never forms e^(−200)?",
            "`torch.log_softmax(logits, dim=-1)`.",
        ],
    ),
    Mistake(
        "no_softmax",
        [no_softmax],
        says="The logits are used as if they were log-probabilities. Adding 1 to all of them would lower the loss.",
        hints=[
            "What has to hold for probabilities, and does not for e to the power of these numbers?",
            "One step is missing between logits and log-probabilities.",
            "`torch.log_softmax(logits, dim=-1)`.",
        ],
    ),
    Mistake(
        "no_log",
        [no_log],
        says=(
            "The probabilities themselves are averaged. The loss is the *logarithm* of the probability, with a minus: it "
            "grows without bound where something that came was thought impossible."
        ),
        hints=[
            "What is the loss where the model is sure and right? It should be 0.",
            "−log(1) = 0, −log(0.5) ≈ 0.69, −log(0) = ∞.",
            "`torch.log_softmax(logits, dim=-1)`.",
        ],
    ),
    Mistake(
        "softmax_over_the_positions",
        [softmax_over_the_positions],
        says=(
            "The probabilities add up to 1 over the positions: the places of a sentence compete with each other. The "
            "tokens of the vocabulary should, at each place."
        ),
        hints=[
            "Which axis of the logits is the vocabulary?",
            "Which one is `dim=1`?",
            "`dim=-1`.",
        ],
    ),
    Mistake(
        "forgets_the_minus",
        [forgets_the_minus],
        says="The sign is turned round: the better the model, the larger this loss. Training would make it worse.",
        hints=[
            "A log-probability is never above 0. Should a loss be below it?",
            "−log p is the surprise.",
            "A minus.",
        ],
    ),
    Mistake(
        "forgets_a_minus",
        [forgets_a_minus],
        says=(
            "The two terms have different signs: the loss falls when all tokens of the vocabulary get less likely. A minus "
            "is missing."
        ),
        hints=[
            "A log-probability is never above 0. Which sign should each of the two terms have?",
            "Both the right token and all of them together are measured by −log p.",
            "Minus (1 − smoothing) times the one, and *minus* smoothing times the other.",
        ],
    ),
    Mistake(
        "spreads_on_the_wrong_tokens_only",
        [spreads_on_the_wrong_tokens_only],
        says=(
            "The doubt is spread over the *other* tokens of the vocabulary. As in torch, the right token gets its share of "
            "it, too."
        ),
        hints=[
            "The right token should get 1 − smoothing + smoothing / V, with V tokens in the vocabulary.",
            "By which number is the doubt divided?",
            "By V, and the right token is one of the V: the mean of all log-probabilities.",
        ],
    ),
    Mistake(
        "the_right_token_gets_no_share",
        [the_right_token_gets_no_share],
        says=(
            "The doubt is divided by the whole vocabulary, but the right token gets none of it: the target adds up to less "
            "than 1."
        ),
        hints=[
            "Add up what all the tokens of the target get.",
            "The right token should get 1 − smoothing + smoothing / V.",
            "Add the two parts instead of writing the one over the other.",
        ],
    ),
    Mistake(
        "padding_gets_no_share",
        [padding_gets_no_share],
        says=(
            "The doubt is spread over the vocabulary without the padding and the right token. As in torch, every token of "
            "the vocabulary gets its share."
        ),
        hints=[
            "By which number is the doubt divided? It should be the size of the whole vocabulary.",
            "`pad_id` says which *targets* are left out; it has no say in how the doubt is spread.",
            "The mean of all log-probabilities, times smoothing.",
        ],
    ),
    Mistake(
        "the_right_token_stays_whole",
        [the_right_token_stays_whole],
        says="The doubt is added, but the right token keeps all of its 1: the target adds up to more than 1.",
        hints=[
            "Add up what all the tokens of the target get.",
            "What goes to all tokens is taken from the right one.",
            "The first term is to be multiplied by (1 − smoothing).",
        ],
    ),
    Mistake(
        "every_token_gets_the_whole_doubt",
        [every_token_gets_the_whole_doubt],
        says="Every token of the vocabulary gets all of `smoothing`. They should *share* it.",
        hints=[
            "Add up what all the tokens of the target get.",
            "With V tokens in the vocabulary, each gets smoothing / V.",
            "The *mean* of the log-probabilities, times smoothing.",
        ],
    ),
    Mistake(
        "the_shares_exchanged",
        [the_shares_exchanged],
        says="The two shares have changed places: with a smoothing of 0, the right token gets nothing.",
        hints=[
            "What should be left of the loss if smoothing is 0?",
            "Which term has the factor (1 − smoothing)?",
            "The right token has (1 − smoothing), the mean of all has smoothing.",
        ],
    ),
    Mistake(
        "smooths_the_loss",
        [smooths_the_loss],
        says="The loss is made smaller by the smoothing, but nothing is asked of other tokens. A second term is missing.",
        hints=[
            "Where does the share that is taken from the right token go?",
            "To all tokens of the vocabulary alike.",
            "Plus smoothing times the mean of minus all log-probabilities.",
        ],
    ),
]

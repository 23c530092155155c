"""What goes wrong when the log-probability of a sentence is computed."""

from transformer_lab.course.exercise import Mistake


def of_tokens(log_p, targets):
    return log_p.gather(-1, targets[..., None])[..., 0]


def summed(log_p, targets, pad_id):
    return of_tokens(log_p, targets).masked_fill(targets == pad_id, 0.0).sum(-1)


def padding_counts(logits, targets, pad_id):
    return of_tokens(logits.log_softmax(-1), targets).sum(-1)


def padding_is_always_zero(logits, targets, pad_id):
    return summed(logits.log_softmax(-1), targets, 0)


def the_mean_of_the_tokens(logits, targets, pad_id):
    return summed(logits.log_softmax(-1), targets, pad_id) / (targets != pad_id).sum(-1)


def the_mean_of_all_positions(logits, targets, pad_id):
    return of_tokens(logits.log_softmax(-1), targets).masked_fill(targets == pad_id, 0.0).mean(-1)


def one_number_for_the_batch(logits, targets, pad_id):
    return summed(logits.log_softmax(-1), targets, pad_id).sum()


def one_number_for_each_position(logits, targets, pad_id):
    return of_tokens(logits.log_softmax(-1), targets).masked_fill(targets == pad_id, 0.0).sum(0)


def one_number_for_each_token(logits, targets, pad_id):
    return of_tokens(logits.log_softmax(-1), targets).masked_fill(targets == pad_id, 0.0)


def the_probability_itself(logits, targets, pad_id):
    return summed(logits.log_softmax(-1), targets, pad_id).exp()


def the_loss(logits, targets, pad_id):
    return -summed(logits.log_softmax(-1), targets, pad_id)


def probabilities_added_up(logits, targets, pad_id):
    return summed(logits.softmax(-1), targets, pad_id)


def the_log_of_a_product(logits, targets, pad_id):
    return of_tokens(logits.softmax(-1), targets).masked_fill(targets == pad_id, 1.0).prod(-1).log()


def the_log_of_the_softmax(logits, targets, pad_id):
    return summed(logits.softmax(-1).log(), targets, pad_id)


def logits_added_up(logits, targets, pad_id):
    return summed(logits, targets, pad_id)


def the_likeliest_tokens(logits, targets, pad_id):
    return logits.log_softmax(-1).amax(-1).masked_fill(targets == pad_id, 0.0).sum(-1)


def shifts_once_more(logits, targets, pad_id):
    return summed(logits[:, :-1].log_softmax(-1), targets[:, 1:], pad_id)


MISTAKES = [
    Mistake(
        "padding_counts",
        [padding_counts, padding_is_always_zero],
        says="The padding is counted: a short sentence gets less likely the longer its neighbours in the batch are.",
        hints=[
            "Append a column of padding. Should the sentence become less likely?",
            "Where `targets` is `pad_id`, nothing is to be added.",
            "`.masked_fill(targets == pad_id, 0.0)` before the sum.",
        ],
    ),
    Mistake(
        "the_mean_of_the_tokens",
        [the_mean_of_the_tokens, the_mean_of_all_positions],
        says=(
            "This is the mean of the tokens. The probability of a sentence is a *product*, so that the logarithms are to "
            "be added up."
        ),
        hints=[
            "Two tokens of probability 1/2: how likely are both together?",
            "log(1/4) is log(1/2) + log(1/2).",
            "`.sum(dim=-1)`, and no division.",
        ],
    ),
    Mistake(
        "one_number_for_the_batch",
        [one_number_for_the_batch],
        says="There is one number for all sentences together. One for each is asked for.",
        hints=[
            "What shape is asked for?",
            "The sum should run over the positions, and over nothing else.",
            "`.sum(dim=-1)`.",
        ],
    ),
    Mistake(
        "one_number_for_each_position",
        [one_number_for_each_position],
        says="The sentences are added up, position by position. For each sentence, its positions should be.",
        hints=[
            "Which axis of (batch, n) are the positions?",
            "Which one is `dim=0`?",
            "`.sum(dim=-1)`.",
        ],
    ),
    Mistake(
        "one_number_for_each_token",
        [one_number_for_each_token],
        says="There is a number for each token. They have not been put together yet.",
        hints=[
            "What shape is asked for?",
            "The probability of a sentence is the product of those of its tokens; logarithms add up.",
            "`.sum(dim=-1)`.",
        ],
    ),
    Mistake(
        "the_probability_itself",
        [the_probability_itself],
        says=(
            "This is the probability. Its logarithm is asked for: for long sentences, the probability itself is too small "
            "for a float."
        ),
        hints=[
            "What is 0.1 to the power of 50 in float32?",
            "The sum before the last step was right.",
            "No `.exp()`.",
        ],
    ),
    Mistake(
        "the_loss",
        [the_loss],
        says="The sign is turned round: log-probabilities are never above 0.",
        hints=[
            "What is the logarithm of 1/2?",
            "The loss has a minus, the log-probability has none.",
            "No minus.",
        ],
    ),
    Mistake(
        "probabilities_added_up",
        [probabilities_added_up],
        says="Probabilities are added up. They should be multiplied; it is their logarithms that add up.",
        hints=[
            "Two tokens of probability 1/2: how likely are both together?",
            "`softmax` gives probabilities. Which function gives their logarithms?",
            "`torch.log_softmax(logits, dim=-1)`.",
        ],
    ),
    Mistake(
        "the_log_of_the_softmax",
        [the_log_of_the_softmax, the_log_of_a_product],
        says="Where logits lie far apart, a probability becomes 0 before its logarithm is taken, and the result is −∞.",
        hints=[
            "In a new cell: `torch.tensor([0.0, 200.0]).softmax(-1).log()`.",
            "The logarithm of e^(−200) is −200. Which function never forms e^(−200)?",
            "`torch.log_softmax(logits, dim=-1)`.",
        ],
    ),
    Mistake(
        "logits_added_up",
        [logits_added_up],
        says="The logits are taken for log-probabilities. Adding 1 to all of them should change nothing.",
        hints=[
            "What has to hold for probabilities, and does not for e to the power of these numbers?",
            "One step is missing between logits and log-probabilities.",
            "`torch.log_softmax(logits, dim=-1)`.",
        ],
    ),
    Mistake(
        "the_likeliest_tokens",
        [the_likeliest_tokens],
        says=(
            "At each place the *best* token is taken, and not the one that stands in the targets: any sentence gets the "
            "same."
        ),
        hints=[
            "What part do the targets play, other than to say what is padding?",
            "`gather` picks the log-probability of a given token at each place.",
            "`log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)`.",
        ],
    ),
    Mistake(
        "shifts_once_more",
        [shifts_once_more],
        says=(
            "The targets are shifted here once more. They come in shifted: `targets[:, t]` is what the logits at t speak "
            "of."
        ),
        hints=[
            "How many tokens does a sentence have here, and how many should it have?",
            "Logits and targets have the same length, and belong together place by place.",
            "No slices in here.",
        ],
    ),
]

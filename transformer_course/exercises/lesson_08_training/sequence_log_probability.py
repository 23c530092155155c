"""The log-probability of a whole sentence under a model."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.exercises.shared.log_probability import (
    GIVEN_TARGET_MESSAGES,
    another_base,
    log_probabilities,
    of_given_targets,
    of_the_pick,
    vocabulary_axis,
)
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def sequence_log_probability(
    logits: Float[Tensor, "batch n vocab_size"], targets: Int[Tensor, "batch n"], pad_id: int
) -> Float[Tensor, " batch"]:
    """Return each sentence's log-probability: the sum over its tokens, excluding padding."""
    log_p = torch.log_softmax(logits, dim=-1)
    of_tokens = log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)  # (batch, n)
    return of_tokens.masked_fill(targets == pad_id, 0.0).sum(dim=-1)


def of_tokens(log_probabilities, targets):
    """pick the log-probability of each target → the log-probabilities of the targets, (batch, n)"""
    return log_probabilities.gather(-1, targets.unsqueeze(-1)).squeeze(-1)


def padding(targets, pad_id):
    """mark the padding → the mask of the padding, (batch, n)"""
    return targets == pad_id


def filling():
    """use 0 for the padding → the value at padding: 0"""
    return 0.0


def of_real_tokens(of_tokens, padding, filling):
    """set the log-probabilities of padding to 0 → the log-probabilities with 0 at padding, (batch, n)"""
    return of_tokens.masked_fill(padding, filling)


def position_axis():
    """choose the dimension of the positions → the dimension of the positions: the last of (batch, n)"""
    return -1


def log_probability(of_real_tokens, position_axis):
    """sum over the positions → the log-probability of each sentence, (batch,)"""
    return of_real_tokens.sum(dim=position_axis)


STEPS = InSteps(
    vocabulary_axis,
    log_probabilities,
    of_tokens,
    padding,
    filling,
    of_real_tokens,
    position_axis,
    log_probability,
    reference=sequence_log_probability,
)


def sequence_log_probability_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch, n, vocab_size, pad_id, shows, *, padding=(), digits=None):
        """Draw targets without padding, then pad the ends of some sentences."""
        targets = torch.randint(vocab_size - 1, (batch, n), generator=rng)
        targets += targets >= pad_id  # any token except padding
        for row, real in enumerate(padding):
            targets[row, real:] = pad_id
        logits = normal(rng, batch, n, vocab_size)
        if digits is not None:  # rounded, so that the case is easy to do by hand
            logits = logits.round(decimals=digits)
        return Case({"logits": logits, "targets": targets, "pad_id": pad_id}, shows)

    sure = case(2, 3, 5, 4, "a very confident model that is often wrong", padding=(3, 2))
    sure.inputs["logits"].mul_(200)
    far = case(3, 2, 4, 3, "logits near 1000 and near -1000", padding=(2, 1, 2))
    far.inputs["logits"][0] += 1000
    far.inputs["logits"][1] -= 1000
    unlikely = case(1, 6, 3, 1, "a sentence whose probability underflows")
    unlikely.inputs["logits"].mul_(2).scatter_add_(
        -1, unlikely.inputs["targets"].unsqueeze(-1), torch.full((1, 6, 1), -40.0)
    )
    return [
        case(1, 1, 3, 0, "one sentence of one token", digits=1),
        case(1, 2, 3, 0, "one sentence of 2 tokens", digits=1),
        case(1, 3, 2, 0, "2 tokens and one of padding", padding=(2,), digits=1),
        case(2, 3, 4, 0, "2 sentences, one of which is padded", padding=(3, 1), digits=1),
        case(3, 4, 7, 2, "padding that isn't token 0", padding=(1, 4, 2)),
        far,
        unlikely,
        sure,
        case(5, 13, 11, 1, "5 sentences of up to 13 tokens", padding=(13, 2, 7, 1, 9)),
    ]


MISTAKES = [
    Mistake(
        "hides_padding_in_the_logits",
        STEPS.but(
            logits=lambda logits, padding: logits.masked_fill(padding.unsqueeze(-1), 0.0),
            of_real_tokens=lambda of_tokens: of_tokens,
        ),
        summary="you mask the padding in the logits instead of the log-probabilities",
        message=(
            "{summary}. If all logits at a position are equal, the log-probability there is −log V instead of 0, and "
            "your sum still includes it. What should padding add to the sum?"
        ),
        hints=["How much does one padding position add to the sum of its sentence? How much should it add?"],
    ),
    Mistake(
        "the_mean_of_the_tokens",
        STEPS.but(log_probability=lambda log_probability, padding: log_probability / (~padding).sum(-1)),
        STEPS.but(log_probability=lambda log_probability, padding: log_probability / (~padding).sum(-1).clamp(min=1)),
        STEPS.but(log_probability=lambda of_real_tokens: of_real_tokens.mean(-1)),
        summary="you take the mean over the tokens instead of the sum",
        message=(
            "{summary}: for two tokens with probability 1/2 each, you return −0.69 instead of −1.39. The probability "
            "of a sentence is the *product* of its tokens' probabilities. What does a product become when you take "
            "logarithms?"
        ),
        hints=[
            "Two tokens have probability 1/2 each. What is the probability of both together, and what is its "
            "logarithm?",
        ],
    ),
    Mistake(
        "the_log_of_a_product",
        STEPS.but(
            log_probabilities=lambda logits: logits.softmax(-1),
            filling=lambda: 1.0,
            log_probability=lambda of_real_tokens: of_real_tokens.prod(dim=-1).log(),
        ),
        summary="you take the logarithm of a product of probabilities, which can underflow to 0",
        message=(
            "You multiply the probabilities first and take the logarithm last. For a long sentence, the product "
            "underflows to 0, and its logarithm is −∞. What should you add up instead?"
        ),
        hints=["What is 0.1 to the power of 50 in float32?"],
    ),
    Mistake(
        "the_likeliest_tokens",
        STEPS.but(of_tokens=lambda log_probabilities: log_probabilities.amax(-1)),
        summary="you take the log-probability of the likeliest token at each position instead of the target",
        message=(
            "{summary}, so your result doesn't depend on the words of the sentence. Which entry should you pick at "
            "each position?"
        ),
        hints=["Where do you use `targets`, other than to find the padding?"],
    ),
    *of_the_pick(
        STEPS,
        "of_tokens",
        "log_probabilities",
        STEPS.but(of_tokens=lambda log_probabilities, targets: log_probabilities[..., targets]),
    ),
    another_base(STEPS, "of_tokens"),
    *of_given_targets(STEPS, of_real_tokens=lambda of_tokens, padding: of_tokens * ~padding),
]


EXERCISE = Exercise(
    reference=sequence_log_probability,
    steps=STEPS,
    cases=sequence_log_probability_cases,
    points=2,
    verified="You sum the log-probabilities of each sentence's tokens, and padding adds nothing.",
    hints=[
        "A sentence has two tokens, with probabilities 1/2 and 1/4. How likely is the sentence, and what is the "
        "sum of the two logarithms?",
        "The probability of a sentence is the product of the probabilities of its tokens, each given those before "
        "it. The logarithm turns the product into a sum.",
        "`torch.log_softmax(logits, dim=-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)` has the "
        "log-probabilities of the tokens, (batch, n).",
        "Set the log-probabilities of the padding to 0, `masked_fill(targets == pad_id, 0.0)`, and sum over the "
        "positions.",
    ],
    messages={
        **GIVEN_TARGET_MESSAGES,
        "call_left_out_of_real_tokens: of_tokens": Wording(
            "{summary}, so a sentence becomes less likely the more padding it gets. What should padding add to the "
            "sum?",
            summary="you include the log-probabilities of the padding",
            hints=["If you append one more padding token to a sentence, should its log-probability change?"],
        ),
        "comparison_padding": Wording(
            "{summary}, so the words of a sentence have no effect. Where should your mask be True?",
            summary="you leave out the real tokens and keep the padding",
            hints=["For the targets 5, 8 and one `pad_id`, which log-probabilities should you add up?"],
        ),
        "all_axes_log_probability: of_real_tokens.sum()": Wording(
            "{summary}, so you return a single number instead of one for each sentence. Over which `dim` should you "
            "sum?",
            summary="you add up the log-probabilities of all sentences together",
            hints=["For 2 sentences of 3 tokens, how many numbers should you return?"],
        ),
        "axis_log_probability: of_real_tokens.sum(dim=0)": Wording(
            "{summary}, so you add up log-probabilities of different sentences. Which `dim` runs over the tokens of "
            "one sentence?",
            summary="you sum over the sentences of the batch instead of the tokens of each sentence",
            hints=["For 2 sentences of 3 tokens, how many numbers should you return? How many do you return?"],
        ),
        "sign_log_probability": Wording(
            "{summary}: for a token with probability 0.5, you return 0.69 instead of −0.69. Where do you negate the "
            "log-probabilities?",
            summary="you return the negative log-probability, which is a loss",
            hints=["Can the logarithm of a probability be positive?"],
        ),
    },
    mistakes=MISTAKES,
    stretch=True,
)

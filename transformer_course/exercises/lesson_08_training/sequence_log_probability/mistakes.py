"""What goes wrong when the log-probability of a sentence is computed."""

import math

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_08_training.sequence_log_probability.answer import STEPS
from transformer_course.exercises.shared.log_probability_mistakes import another_base, of_given_targets, of_the_pick


def classes_on_the_wrong_axis(logits, targets, pad_id):
    losses = torch.nn.functional.cross_entropy(logits, targets, ignore_index=pad_id, reduction="none")
    return -losses.sum(dim=-1)


MISTAKES = [
    Mistake(
        "hides_padding_in_the_logits",
        STEPS.but(
            logits=lambda logits, padding: logits.masked_fill(padding.unsqueeze(-1), 0.0),
            of_real_tokens=lambda of_tokens: of_tokens,
        ),
        STEPS.but(
            logits=lambda logits, padding: logits.masked_fill(padding.unsqueeze(-1), -math.inf),
            of_real_tokens=lambda of_tokens: of_tokens,
        ).attempt,
        does="the mask of the padding is applied to the logits",
        says="The padding is masked in the logits. A position whose logits are all equal still adds −log V to the sum.",
        hints=["What is the `log_softmax` of the logits 0, 0, 0?"],
    ),
    Mistake(
        "the_mean_of_the_tokens",
        STEPS.but(log_probability=lambda log_probability, padding: log_probability / (~padding).sum(-1)),
        STEPS.but(log_probability=lambda of_real_tokens: of_real_tokens.mean(-1)),
        does="the mean over the tokens is taken, not the sum",
        says=(
            "This is the mean of the tokens. The probability of a sentence is a *product*, so that the logarithms are "
            "to be added up."
        ),
        hints=["Two tokens of probability 1/2: how likely are both together?"],
    ),
    Mistake(
        "the_log_of_a_product",
        STEPS.but(
            log_probabilities=lambda logits: logits.softmax(-1),
            filling=lambda: 1.0,
            log_probability=lambda of_real_tokens: of_real_tokens.prod(dim=-1).log(),
        ),
        does="the logarithm is taken of a product of probabilities, which becomes 0 for long sentences",
        says=(
            "The probabilities are multiplied first, and the logarithm comes last. For a long sentence the product is "
            "too small for a float: it becomes 0, and its logarithm −∞."
        ),
        hints=["What is 0.1 to the power of 50 in float32?"],
    ),
    Mistake(
        "the_log_of_a_sum",
        STEPS.but(
            log_probabilities=lambda logits: logits.softmax(-1),
            log_probability=lambda log_probability: log_probability.log(),
        ),
        does="the probabilities of the tokens are added up, and the logarithm is taken of the sum",
        says="The probabilities are added up, and then comes the logarithm. They multiply; their logarithms add up.",
        hints=["Two tokens of probability 1/2: how likely are both together?"],
    ),
    Mistake(
        "all_tokens_of_the_vocabulary",
        STEPS.but(of_tokens=lambda log_probabilities: log_probabilities.mean(-1)),
        STEPS.but(of_tokens=lambda log_probabilities: log_probabilities.sum(-1)),
        does="all tokens of the vocabulary are put together at each position",
        says="At each position *all* tokens of the vocabulary are put together. Only that of the target should count.",
        hints=["What part do the targets play, other than to say what is padding?"],
    ),
    Mistake(
        "classes_on_the_wrong_axis",
        classes_on_the_wrong_axis,
        says=(
            "torch's `cross_entropy` takes the second axis for the vocabulary, and here that is the position. It "
            "crashes, or, where the two happen to fit, compares the wrong numbers."
        ),
        hints=[
            "In which order does `nn.functional.cross_entropy` want the axes? Its help says (N, C) or (N, C, d1).",
            "Either all tokens in one long list, or the vocabulary as the second axis.",
            "`logits.transpose(1, 2)`.",
        ],
    ),
    Mistake(
        "without_the_gradient",
        STEPS.but(log_probability=lambda log_probability: log_probability.detach()).attempt,
        says="The numbers are right, but they are cut off from the logits: no gradient gets back to the model.",
        hints=[
            "What does `.backward()` need? A model can be trained by such numbers, too.",
            "`.item()`, `.tolist()`, `.detach()` and `torch.no_grad()` end the path that gradients take.",
            "Leave them out, and compute with the tensors themselves.",
        ],
    ),
    *of_the_pick(
        STEPS,
        "of_tokens",
        "log_probabilities",
        STEPS.but(of_tokens=lambda log_probabilities, targets: log_probabilities[..., targets]),
        STEPS.but(of_tokens=lambda log_probabilities, targets: log_probabilities[targets]).attempt,
        STEPS.but(
            of_tokens=lambda log_probabilities, targets: log_probabilities[:, torch.arange(targets.shape[1]), targets]
        ).attempt,
        STEPS.but(
            of_tokens=lambda log_probabilities, targets: log_probabilities[
                torch.arange(len(targets)), torch.arange(targets.shape[1]), targets
            ]
        ),
    ),
    another_base(STEPS, "of_tokens"),
    *of_given_targets(STEPS, of_real_tokens=lambda of_tokens, padding: of_tokens * ~padding),
]

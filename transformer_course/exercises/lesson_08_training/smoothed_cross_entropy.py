"""Cross-entropy with label smoothing, excluding padding."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared import log_probability, mean_loss_mistakes
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.exercises.shared.log_probability import (
    another_base,
    log_probabilities,
    of_given_targets,
    of_the_pick,
    over_several_positions,
    vocabulary_axis,
)
from transformer_course.exercises.shared.mean_loss_mistakes import of_the_mean, row_sums
from transformer_course.exercises.shared.padding_mistakes import which_targets
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def smoothed_cross_entropy(
    logits: Float[Tensor, "batch n vocab_size"], targets: Int[Tensor, "batch n"], pad_id: int, smoothing: float
) -> Float[Tensor, ""]:
    """Return the mean loss over the real tokens, with smoothed targets.

    The target gets weight 1 − smoothing, and the rest is spread evenly over the vocabulary.
    """
    log_p = torch.log_softmax(logits, dim=-1)
    right = log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)  # (batch, n)
    losses = -(1 - smoothing) * right - smoothing * log_p.mean(dim=-1)
    return losses[targets != pad_id].mean()


def surprises(log_probabilities):
    """negate the log-probabilities → the negative log-probabilities: −log p of all tokens at each position"""
    return -log_probabilities


def of_targets(surprises, targets):
    """pick −log p of each target → −log p of the targets, (batch, n)"""
    return surprises.gather(-1, targets.unsqueeze(-1)).squeeze(-1)


def average(surprises):
    """average −log p over the vocabulary → the mean of −log p over the vocabulary, (batch, n) → the mean of −log p"""
    return surprises.mean(dim=-1)


def target_weight(smoothing):
    """use 1 − smoothing as the weight of the target → the weight of the target: 1 − smoothing"""
    return 1 - smoothing


def smoothing_weight(smoothing):
    """use smoothing as the weight of the mean → the weight of the mean: smoothing"""
    return smoothing


def losses(of_targets, average, target_weight, smoothing_weight):
    """add the two weighted terms → the losses of all positions, (batch, n)"""
    return target_weight * of_targets + smoothing_weight * average


def real(targets, pad_id):
    """mark the positions that aren't padding → the mask of the real tokens, (batch, n)"""
    return targets != pad_id


def total(losses, real):
    """sum the losses of the real tokens → the sum of the losses"""
    return losses[real].sum()


def n_tokens(real):
    """count the real tokens → the number of real tokens"""
    return real.sum()


def loss(total, n_tokens):
    """divide the sum by the number of real tokens → the loss: the mean over the real tokens"""
    return total / n_tokens


STEPS = InSteps(
    vocabulary_axis,
    log_probabilities,
    surprises,
    of_targets,
    average,
    target_weight,
    smoothing_weight,
    losses,
    real,
    total,
    n_tokens,
    loss,
    reference=smoothed_cross_entropy,
)


def smoothed_cross_entropy_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch, n, vocab_size, pad_id, smoothing, shows, *, padding=(), digits=None):
        """Draw targets without padding, then pad the ends of some sentences."""
        targets = torch.randint(vocab_size - 1, (batch, n), generator=rng)
        targets += targets >= pad_id  # any token except padding
        for row, real in enumerate(padding):
            targets[row, real:] = pad_id
        logits = normal(rng, batch, n, vocab_size)
        if digits is not None:  # rounded, so that the case is easy to do by hand
            logits = logits.round(decimals=digits)
        return Case({"logits": logits, "targets": targets, "pad_id": pad_id, "smoothing": smoothing}, shows)

    unexpected = case(
        3, 4, 7, 2, 0.1, "padding that isn't token 0, and that the model finds unlikely", padding=(1, 4, 2)
    )
    unexpected.inputs["logits"][..., 2] -= torch.where(unexpected.inputs["targets"] == 2, 60, 30)
    sure = case(2, 3, 5, 4, 0.2, "a very confident model that is often wrong", padding=(3, 2))
    sure.inputs["logits"].mul_(200)
    right = case(2, 4, 3, 1, 0.0, "a very confident model that is right about one token", padding=(4, 3))
    right.inputs["logits"][0, 1, right.inputs["targets"][0, 1]] += 200
    far = case(3, 2, 4, 3, 0.1, "logits near 1000 and near -1000", padding=(2, 1, 2))
    far.inputs["logits"][0] += 1000
    far.inputs["logits"][1] -= 1000
    return [
        case(1, 1, 3, 0, 0.0, "one token, no smoothing", digits=1),
        case(1, 2, 3, 0, 0.3, "2 tokens, smoothing", digits=1),
        case(1, 4, 3, 0, 0.0, "2 tokens and 2 of padding", padding=(2,), digits=1),
        case(2, 3, 4, 0, 0.2, "2 sentences, one of which is padded", padding=(3, 1), digits=1),
        unexpected,
        right,
        far,
        sure,
        case(5, 13, 11, 1, 0.1, "5 sentences, and gradients", padding=(13, 2, 7, 1, 9)),
    ]


def smoothed(others: int, *, of_all: bool = False, padding: bool = True):
    """Return the step that sums the losses with the smoothing distributed differently.

    Args:
        others: The smoothing is divided by the vocabulary size minus this number.
        of_all: Whether the target also gets a share.
        padding: Whether the padding token also gets a share.
    """

    def losses(surprises, of_targets, smoothing, pad_id):
        total = surprises.sum(dim=-1)
        total = total if of_all else total - of_targets
        total = total if padding else total - surprises[..., pad_id]
        return (1 - smoothing) * of_targets + smoothing / (surprises.shape[-1] - others) * total

    return losses


def divergence(cross_entropy, others: int, *, of_all: bool = False):
    """Return the step that subtracts the entropy of the target distribution.

    ``others`` and ``of_all`` define that distribution, as in ``smoothed``.
    """

    def losses(surprises, of_targets, smoothing, pad_id):
        vocab_size = surprises.shape[-1]
        share = smoothing / (vocab_size - others)
        p = torch.tensor([1 - smoothing + of_all * share] + [share] * (vocab_size - (1 if of_all else max(others, 1))))
        return cross_entropy(surprises, of_targets, smoothing, pad_id) + torch.xlogy(p, p).sum()

    return losses


MISTAKES = [
    Mistake(
        "a_fixed_smoothing",
        STEPS.but(smoothing=lambda: 0.1),
        summary="you always use a smoothing of 0.1 instead of the argument `smoothing`",
        message=(
            "{summary}, so your loss is the same for every smoothing. Which number should you replace with the "
            "argument?"
        ),
        hints=["The first case passes a smoothing of 0.0. Which smoothing do you use there?"],
    ),
    Mistake(
        "spreads_on_the_wrong_tokens_only",
        STEPS.but(average=lambda surprises, of_targets: (surprises.sum(-1) - of_targets) / (surprises.shape[-1] - 1)),
        summary="you spread the smoothing over the *other* tokens only",
        message=(
            "{summary}. In PyTorch's definition, the target also gets a share: with 4 tokens and a smoothing of 0.2, "
            "its probability is 0.85, not 0.8. Over how many tokens should you spread the smoothing?"
        ),
        hints=[
            "What is the mean of −log p over *all* tokens of the vocabulary? Which tokens does your mean include?",
        ],
    ),
    Mistake(
        "no_brackets",
        STEPS.but(
            losses=lambda of_targets, average, smoothing, smoothing_weight: (
                1 - smoothing * of_targets + smoothing_weight * average
            )
        ),
        summary="you leave out the parentheses around 1 − smoothing",
        message=(
            "You subtract from 1 instead of multiplying by 1 − smoothing: in `1 - smoothing * …`, Python "
            "multiplies first. Where do you need parentheses?"
        ),
        hints=["What is `1 - 0.1 * 5` in Python?"],
    ),
    Mistake(
        "hides_padding_in_the_logits",
        STEPS.but(
            logits=lambda logits, pad_id, targets: logits * (targets != pad_id).unsqueeze(-1),
            real=lambda targets: torch.ones_like(targets, dtype=torch.bool),
        ),
        summary="you set the logits at padding to 0 and still count the padding",
        message=(
            "{summary}. Equal logits give a loss of log V at each padding position instead of 0. Which positions "
            "should count?"
        ),
        hints=["How much does one padding position add to your loss? How much should it add?"],
    ),
    Mistake(
        "masks_one_term_only",
        STEPS.but(
            total=lambda of_targets, average, target_weight, smoothing_weight, real: (
                target_weight * of_targets * real + smoothing_weight * average
            ).sum()
        ),
        summary="you don't mask out the padding in the smoothing term",
        message=(
            "You mask out the padding in the target term but not in the smoothing term: there, you sum over every "
            "position, including padding. Which positions should each term include?"
        ),
        hints=["Does padding change your loss with a smoothing of 0? And with 0.1?"],
    ),
    Mistake(
        "a_mean_for_each_sentence_first",
        STEPS.but(loss=lambda losses, real: (row_sums(losses, real) / real.sum(dim=1)).mean()),
        summary="you average each sentence first, and then the sentences",
        message=(
            "{summary}, so a token in a short sentence counts more than a token in a long sentence. Over which tokens "
            "should you take a single mean?"
        ),
        hints=[
            "One sentence has 1 token and another has 9. How much should each of the ten tokens count? How much "
            "does it in your code?",
        ],
    ),
    another_base(STEPS, "surprises"),
    over_several_positions(STEPS),
    *which_targets(STEPS, below="all_tokens_below_the_padding_left_out"),
    *of_the_mean(STEPS, "sentence", lambda targets: targets.numel()),
    *of_the_pick(
        STEPS,
        "of_targets",
        "surprises",
        STEPS.but(of_targets=lambda surprises, targets: surprises[..., targets]).attempt,
        STEPS.but(of_targets=lambda surprises, targets: surprises[targets]),
    ),
    *of_given_targets(STEPS, total=lambda losses, real: (losses * real).sum()),
    Mistake(
        "of_the_annotated_transformer",
        STEPS.but(losses=smoothed(others=2, padding=False)),
        summary="you give every token except the target and the padding smoothing / (V − 2), and the padding nothing",
        message=(
            "This is the label smoothing of the Annotated Transformer: {summary}. Here, as in PyTorch, all V tokens "
            "share the smoothing equally, including the target and the padding token."
        ),
        hints=[
            "With 4 tokens and a smoothing of 0.2, what probability does each token get in your code? What should "
            "each token get?"
        ],
    ),
    Mistake(
        "target_keeps_its_full_weight",
        STEPS.but(target_weight=lambda: 1.0),
        summary="you give the target the weight 1 instead of 1 − smoothing",
        message=(
            "{summary} and then add the smoothing term, so with a smoothing of 0.2 your weights sum to 1.2. How much "
            "weight should the target keep?"
        ),
        hints=["With a smoothing of 0.2, what should the weights of the two terms of the loss sum to?"],
    ),
    Mistake(
        "shared_by_two_less",
        STEPS.but(losses=smoothed(others=2)),
        STEPS.but(losses=smoothed(others=2, of_all=True)),
        summary="you divide the smoothing by V − 2 instead of V",
        message=(
            "{summary}. The Annotated Transformer divides by V − 2 because its target and padding tokens get no "
            "share, but here all V tokens get a share. What do your probabilities sum to?"
        ),
        hints=[
            "With 4 tokens and a smoothing of 0.2, what probability should each token get, and what do these "
            "probabilities sum to?"
        ],
    ),
    Mistake(
        "padding_gets_no_share",
        STEPS.but(losses=smoothed(others=0, of_all=True, padding=False)),
        STEPS.but(losses=smoothed(others=1, padding=False)),
        summary="you give the padding token no share of the smoothing",
        message=(
            "{summary}, as the Annotated Transformer does. Here, as in PyTorch, you should spread the smoothing over "
            "the whole vocabulary and leave out only *positions* with padding."
        ),
        hints=[
            "With 4 tokens and a smoothing of 0.2, what probability should the padding token get at a position with a "
            "real target?"
        ],
    ),
    Mistake(
        "kl_divergence",
        STEPS.but(losses=divergence(smoothed(others=0, of_all=True), others=0, of_all=True)),
        summary="you compute the KL divergence instead of the cross-entropy",
        message=(
            "{summary}. The KL divergence is smaller by the entropy of the smoothed target distribution. The gradient "
            "is the same, but this exercise asks for the cross-entropy itself."
        ),
        hints=["If the model predicts exactly the smoothed distribution, what is your loss? What should it be?"],
    ),
    Mistake(
        "kl_of_the_annotated_transformer",
        STEPS.but(losses=divergence(smoothed(others=2, padding=False), others=2)),
        STEPS.but(losses=divergence(smoothed(others=2), others=2)),
        summary="you compute the KL divergence from a target distribution that spreads the smoothing over V − 2 tokens",
        message=(
            "{summary}, as the Annotated Transformer does. Here the loss is the cross-entropy, and all V tokens share "
            "the smoothing equally, the target included."
        ),
        hints=[
            "`nn.KLDivLoss` subtracts the entropy of the target distribution from the cross-entropy. Which loss does "
            "the exercise ask for?"
        ],
    ),
]


EXERCISE = Exercise(
    reference=smoothed_cross_entropy,
    steps=STEPS,
    cases=smoothed_cross_entropy_cases,
    points=3,
    verified=(
        "Every real token counts the same, padding doesn't count, and the smoothing is spread over the whole "
        "vocabulary."
    ),
    hints=[
        "With 4 tokens in the vocabulary and a smoothing of 0.2, what probability should the target get? What "
        "probability should each of the other tokens get?",
        "Three steps: log-probabilities, one loss for each token, and the mean over the tokens that aren't "
        "padding. With `log_p = torch.log_softmax(logits, dim=-1)`, `log_p.gather(-1, "
        "targets.unsqueeze(-1)).squeeze(-1)` is the log-probability of each right token, (batch, n).",
        "The loss of a token is (1 − smoothing) times its negative log-probability, plus smoothing times the "
        "negative mean of *all* log-probabilities there: `log_p.mean(dim=-1)`.",
        "`losses[targets != pad_id].mean()`. Or let `nn.functional.cross_entropy` do everything: it takes logits "
        "of shape (tokens, vocab_size), and has `ignore_index` and `label_smoothing`.",
    ],
    messages={
        **mean_loss_mistakes.MESSAGES,
        **log_probability.GIVEN_TARGET_MESSAGES,
        "sibling_average: surprises.sum(dim=-1)": Wording(
            "{summary}, so with V tokens in the vocabulary, the smoothing term is V times too large. What share of "
            "the smoothing should each token get?",
            summary="you sum −log p over the vocabulary instead of averaging it",
            hints=[
                "With 4 tokens and a smoothing of 0.2, what weight does each token's −log p get in the smoothing term?"
            ],
        ),
        "part_left_out_losses: target_weight * of_targets + average": Wording(
            "{summary}, so this term doesn't vanish when the smoothing is 0. What weight should it have?",
            summary="you add the mean of −log p over the vocabulary without multiplying it by the smoothing",
            hints=["With a smoothing of 0, what should the loss of a token be?"],
        ),
        "part_left_out_loss: total": Wording(
            "{summary}, so more tokens give a larger loss. Which number should you divide the sum by?",
            summary="you return the sum of the losses instead of their mean",
            hints=["If every sentence occurs twice in the batch, should the loss change?"],
        ),
        "left_out_losses: of_targets": (
            Wording(
                "Your loss doesn't depend on `smoothing`, so it is right only for a smoothing of 0. Which term is "
                "missing?",
                summary="your loss doesn't depend on `smoothing`",
                hints=["Does your loss change if `smoothing` changes?"],
            )
        ),
        "wrong_input_smoothing_weight": (
            Wording(
                "You weight the mean over the vocabulary by 1 − smoothing, so with a smoothing of 0 it counts as much "
                "as the target. What weight should it have?",
                summary="you weight the mean over the vocabulary by 1 − smoothing",
                hints=["The loss is a weighted sum of two terms. Which term should vanish when the smoothing is 0?"],
            )
        ),
    },
    mistakes=MISTAKES,
)

"""The loss of a language model that predicts the next token at every position."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared import log_probability, mean_loss_mistakes
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.exercises.shared.log_probability import (
    another_base,
    of_the_log_probabilities,
    over_several_positions,
    vocabulary_axis,
)
from transformer_course.exercises.shared.mean_loss_mistakes import of_the_mean, row_sums
from transformer_course.exercises.shared.padding_mistakes import which_targets
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def next_token_loss(
    logits: Float[Tensor, "batch n vocab_size"], tokens: Int[Tensor, "batch n"], pad_id: int
) -> Float[Tensor, ""]:
    """Return the mean −log p of the next tokens, excluding padding; position t predicts token t + 1."""
    log_p = torch.log_softmax(logits[:, :-1], dim=-1)  # no token follows the last position
    targets = tokens[:, 1:]
    losses = -log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)  # (batch, n - 1)
    return losses[targets != pad_id].mean()


def predictions(logits):
    """drop the logits of the last position → the logits without the last position, (batch, n − 1, vocab_size)"""
    return logits[:, :-1]


def targets(tokens):
    """take all tokens but the first → the targets: the token after each position, (batch, n − 1)"""
    return tokens[:, 1:]


def log_probabilities(predictions, vocabulary_axis):
    """take the log-softmax over the vocabulary → the log-probabilities: of all tokens at each position"""
    return predictions.log_softmax(vocabulary_axis)


def of_targets(log_probabilities, targets):
    """pick the log-probability of each target → the log-probabilities of the targets, (batch, n − 1)"""
    return log_probabilities.gather(-1, targets.unsqueeze(-1)).squeeze(-1)


def losses(of_targets):
    """negate the log-probabilities of the targets → the losses: −log p of each target, (batch, n − 1)"""
    return -of_targets


def real(targets, pad_id):
    """mark the targets that aren't padding → the mask of the real targets, (batch, n − 1)"""
    return targets != pad_id


def total(losses, real):
    """sum the losses of the real targets → the sum of the losses"""
    return losses[real].sum()


def n_tokens(real):
    """count the real targets → the number of real targets"""
    return real.sum()


def loss(total, n_tokens):
    """divide the sum by the number of real targets → the loss: the mean over the real targets"""
    return total / n_tokens


STEPS = InSteps(
    predictions,
    targets,
    vocabulary_axis,
    log_probabilities,
    of_targets,
    losses,
    real,
    total,
    n_tokens,
    loss,
    reference=next_token_loss,
)


def next_token_loss_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch, n, vocab_size, pad_id, shows, *, lengths=(), digits=None):
        """Draw texts without padding, then pad the ends of some texts."""
        tokens = torch.randint(vocab_size - 1, (batch, n), generator=rng)
        tokens += tokens >= pad_id  # any token except padding
        for row, length in enumerate(lengths):
            tokens[row, length:] = pad_id
        logits = 2 * normal(rng, batch, n, vocab_size)
        if digits is not None:  # rounded, so that the case is easy to do by hand
            logits = logits.round(decimals=digits)
        return Case({"logits": logits, "tokens": tokens, "pad_id": pad_id}, shows)

    unexpected = case(3, 5, 7, 2, "padding that isn't token 0, and that the model finds unlikely", lengths=(2, 5, 3))
    unexpected.inputs["logits"][..., 2] -= 30
    sure = case(2, 4, 5, 4, "a very confident model that is often wrong", lengths=(4, 3))
    sure.inputs["logits"].mul_(100)
    right = case(2, 5, 3, 1, "a very confident model that is right about one token", lengths=(5, 4))
    right.inputs["logits"][0, 1, right.inputs["tokens"][0, 2]] += 200
    far = case(3, 3, 4, 3, "logits near 1000 and near -1000", lengths=(3, 2, 3))
    far.inputs["logits"][0] += 1000
    far.inputs["logits"][1] -= 1000
    return [
        case(1, 2, 3, 0, "2 tokens: one prediction", digits=1),
        case(1, 4, 3, 0, "4 tokens", digits=1),
        case(1, 5, 3, 0, "3 tokens and 2 of padding", lengths=(3,), digits=1),
        case(2, 4, 5, 0, "2 texts, one of which is padded", lengths=(4, 2), digits=1),
        unexpected,
        right,
        far,
        sure,
        case(5, 13, 11, 1, "5 texts, and gradients", lengths=(13, 3, 7, 2, 9)),
    ]


MISTAKES = [
    Mistake(
        "no_shift",
        STEPS.but(predictions=lambda logits: logits, targets=lambda tokens: tokens),
        summary="you compare the logits at t with the token at t itself",
        message=(
            "You don't shift the targets, so each position has to predict the token that it has just read. The model "
            "quickly learns to copy that token instead of continuing the text. Which token should position 0 predict?"
        ),
        hints=["In the sequence 5, 6, 7, which token should the logits at position 0 predict?"],
    ),
    Mistake(
        "shifted_the_wrong_way",
        STEPS.but(predictions=lambda logits: logits[:, 1:], targets=lambda tokens: tokens[:, :-1]),
        summary="you compare the logits at t with the token at t − 1",
        message=(
            "You shift in the wrong direction: in the sequence 5, 6, 7, the logits at position 1 have to predict 5 "
            "instead of 7. Which slice of the tokens holds the targets?"
        ),
        hints=["In the sequence 5, 6, 7, which token should the logits at position 1 predict?"],
    ),
    Mistake(
        "runs_on_into_the_next_text",
        STEPS.but(
            predictions=lambda logits: logits.flatten(0, 1)[None, :-1],
            targets=lambda tokens: tokens.flatten()[None, 1:],
        ),
        summary=(
            "you concatenate the sequences before you shift, so the end of one sequence predicts the beginning of the "
            "next"
        ),
        message=(
            "You concatenate the sequences before you shift, so the last position of each sequence has to predict the "
            "first token of the *next* sequence. Along which dimension should you shift?"
        ),
        hints=["How many predictions should 2 sequences of 4 tokens give? How many does your code make?"],
    ),
    Mistake(
        "an_axis_too_many",
        STEPS.but(
            of_targets=lambda log_probabilities, targets: log_probabilities.gather(-1, targets.unsqueeze(-1)),
            total=lambda losses, real: (losses * real).sum(),
        ),
        summary="you keep the last dimension of what `gather` returns",
        message=(
            "{summary}, so your losses have shape (batch, n − 1, 1). With a mask of shape (batch, n − 1), your code "
            "crashes or combines each loss with the wrong positions. Which method removes a dimension of length 1?"
        ),
        hints=["Print the shapes of your losses and of your mask. Both should be (batch, n − 1)."],
    ),
    *of_the_log_probabilities(STEPS, "predictions"),
    over_several_positions(STEPS, "predictions"),
    another_base(STEPS, "losses"),
    Mistake(
        "padding_of_the_inputs",
        STEPS.but(real=lambda tokens, pad_id: tokens[:, :-1] != pad_id),
        summary="you check the input tokens for padding instead of the targets",
        message=(
            "{summary}, so the last real token of each sequence has to predict the padding after it. Which tensor "
            "should you compare with `pad_id`?"
        ),
        hints=["A sequence has 3 tokens, followed by 2 padding tokens. How many predictions should count?"],
    ),
    *which_targets(STEPS, "`targets != pad_id`.", below="tokens_below_the_padding_left_out"),
    Mistake(
        "hides_padding_in_the_logits",
        STEPS.but(
            predictions=lambda predictions, targets, pad_id: predictions * (targets != pad_id).unsqueeze(-1),
            real=lambda targets: torch.ones_like(targets, dtype=torch.bool),
        ),
        summary="you set the logits at padding to 0, and still count the padding",
        message=(
            "{summary}. Equal logits give a loss of log V at each padding position instead of 0. Which positions "
            "should count?"
        ),
        hints=["How much does one padding position add to your loss? How much should it add?"],
    ),
    Mistake(
        "mean_of_means",
        STEPS.but(loss=lambda losses, real: (row_sums(losses, real) / real.sum(dim=1)).mean()),
        summary="you average the losses within each sequence and then average over the sequences",
        message=(
            "{summary}, so a token in a short sequence counts more than a token in a long sequence. Over which tokens "
            "should you take a single mean?"
        ),
        hints=[
            "Two sequences have 1 and 9 predictions. How much should each of the 10 predictions count? How much does "
            "it count in your code?",
        ],
    ),
    Mistake(
        "counts_the_first_tokens",
        STEPS.but(n_tokens=lambda tokens, pad_id: (tokens != pad_id).sum()),
        summary="you divide by the number of real *tokens*, including the first token of each sequence",
        message=(
            "{summary}. No position predicts the first token, so a sequence of 4 tokens has only 3 losses. What "
            "should you count instead of the tokens?"
        ),
        hints=["Which tensor holds the tokens that your model predicts?"],
    ),
    Mistake(
        "divides_by_the_length",
        STEPS.but(n_tokens=lambda tokens: tokens.shape[1]),
        STEPS.but(n_tokens=lambda targets: targets.shape[1]),
        summary="you divide the sum by the length of the sequences",
        message=(
            "{summary} instead of the number of real targets, so a larger batch gives a larger loss. How many losses "
            "do you add up?"
        ),
        hints=["Put the same sequences into the batch twice. Should the loss change? Does your loss change?"],
    ),
    *of_the_mean(STEPS, "text", lambda targets: targets.numel(), lambda tokens: tokens.numel(), noun="sequence"),
    Mistake(
        "first_token_after_the_last",
        STEPS.but(predictions=lambda logits: logits, targets=lambda tokens: tokens.roll(-1, dims=1)),
        summary="your last position has to predict the first token of the sequence",
        message="{summary}, because `roll` wraps that token around to the end. Which position has no next token?",
        hints=["For the tokens 5, 6 and 7, what is `.roll(-1)`? Which of the three targets is not a next token?"],
    ),
    Mistake(
        "first_text_only",
        STEPS.but(total=lambda losses, real: losses[0][real[0]].sum(), n_tokens=lambda real: real[0].sum()),
        summary="you compute the loss of only the first sequence",
        message=(
            "{summary}, so the other sequences don't affect your result. Is your `return` inside the loop over the "
            "sequences?"
        ),
        hints=["Does your loss change if the second sequence of a batch changes?"],
    ),
]


EXERCISE = Exercise(
    reference=next_token_loss,
    steps=STEPS,
    cases=next_token_loss_cases,
    points=3,
    verified=(
        "Each position predicts the token after it, every real token counts the same, and padding doesn't count."
    ),
    hints=[
        "In the sequence 5, 6, 7, which logits predict the 6, and which predict the 7? Which logits have no next "
        "token, and which token has no logits before it?",
        "`logits[:, :-1]` and `tokens[:, 1:]` line up, position by position.",
        "The rest is the loss of lesson 08 without smoothing: the log-softmax, the log-probability of each target, "
        "and minus the mean over the targets that aren't `pad_id`.",
        "`torch.log_softmax(…, dim=-1)`, `.gather(-1, targets.unsqueeze(-1)).squeeze(-1)`, and `losses[targets != "
        "pad_id].mean()`.",
    ],
    messages={**mean_loss_mistakes.MESSAGES, **log_probability.GIVEN_TARGET_MESSAGES},
    mistakes=MISTAKES,
)

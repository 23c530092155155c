"""Multi-token prediction: several heads, each predicting a token further ahead.

``next_token_loss`` in lesson 09 has one head and padding. Here, head k looks k tokens ahead.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def multi_token_loss(
    logits: Float[Tensor, "n_heads batch n vocab_size"], tokens: Int[Tensor, "batch n"]
) -> Float[Tensor, ""]:
    """Average the loss over positions, then over heads; at position t, head k (from 0) predicts token t + k + 1."""
    losses = []
    for ahead, head in enumerate(logits, start=1):
        log_p = head[:, :-ahead].log_softmax(dim=-1)  # the last positions have no target
        losses.append(-log_p.gather(-1, tokens[:, ahead:, None]).mean())
    return torch.stack(losses).mean()


def ahead(logits):
    """count from 1 → the number of tokens that each head looks ahead: 1, 2, …, n_heads"""
    return list(range(1, len(logits) + 1))


def predictions(logits, ahead):
    """drop the last positions of each head, which have no target → the logits with a target, for each head"""
    return [head[:, : head.shape[1] - k] for head, k in zip(logits, ahead, strict=True)]


def targets(tokens, ahead):
    """shift the tokens by each head's distance → the targets of each head: tokens from position k on"""
    return [tokens[:, k:] for k in ahead]


def log_probabilities(predictions):
    """take the log-softmax over the vocabulary → the log-probabilities of all tokens, for each head"""
    return [head.log_softmax(dim=-1) for head in predictions]


def of_targets(log_probabilities, targets):
    """pick the log-probability of each target → the log-probabilities of the targets, for each head"""
    return [log_p.gather(-1, target[..., None]) for log_p, target in zip(log_probabilities, targets, strict=True)]


def losses(of_targets):
    """negate each head's mean log-probability → the losses of the heads, (n_heads): minus the mean log-probability"""
    return torch.stack([-log_p.mean() for log_p in of_targets])


def loss(losses):
    """average over the heads → the mean of the heads' losses"""
    return losses.mean()


STEPS = InSteps(ahead, predictions, targets, log_probabilities, of_targets, losses, loss, reference=multi_token_loss)


def multi_token_loss_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n_heads, batch, n, vocab_size, shows):
        tokens = torch.randint(vocab_size, (batch, n), generator=rng)
        return Case({"logits": 2 * normal(rng, n_heads, batch, n, vocab_size), "tokens": tokens}, shows)

    return [
        case(1, 1, 2, 3, "one head, a text of 2 tokens"),
        case(2, 1, 3, 4, "2 heads, a text of 3 tokens"),
        case(3, 2, 4, 5, "3 heads: the last one has a single target per text"),
        case(3, 3, 3 + 1, 3, "3 heads, 3 texts, 3 kinds of token"),
        case(2, 3, 7, 5, "2 heads, 3 texts of 7 tokens"),
        case(4, 5, 13, 31, "4 heads, 5 texts of 13 tokens"),
    ]


def by_offsets(offset):
    """Return the steps in which head k (from 1) looks `offset(k)` tokens ahead."""
    return STEPS.but(ahead=lambda logits: [offset(k) for k in range(1, len(logits) + 1)])


MISTAKES = [
    Mistake(
        "every_head_predicts_the_next",
        by_offsets(lambda k: 1),
        summary="every head predicts the next token",
        message=(
            "Every head gets the *next* token as its target, so all heads learn the same thing. Head k should look k "
            "+ 1 tokens ahead. What should change from head to head?"
        ),
        hints=["For the text a b c d, what should head 1 predict at position a: b or c?"],
    ),
    Mistake(
        "first_head_copies",
        by_offsets(lambda k: k - 1),
        summary="your targets are one token too early, so head 0 predicts the token that it reads",
        message=(
            "Your targets are one token too early: head 0 predicts the token that it reads. How far ahead should head "
            "0 look?"
        ),
        hints=["For the text a b c d, what should head 0 predict at position a?"],
    ),
    Mistake(
        "one_too_far",
        by_offsets(lambda k: k + 1),
        summary="every head looks one token too far",
        message=(
            "Your targets are one token too far: no head predicts the next token. How far ahead should head 0 look?"
        ),
        hints=["For the text a b c d, what should head 0 predict at position a?"],
    ),
    Mistake(
        "wraps_around",
        STEPS.but(
            predictions=lambda logits: list(logits),
            targets=lambda tokens, ahead: [tokens.roll(-k, dims=1) for k in ahead],
        ),
        summary="your targets wrap around",
        message="You shift the tokens with `roll`, so the last positions get the *first* tokens of the text as "
        "targets. How many positions of a text have a token k places ahead?",
        hints=["For the text a b c, what is the target of head 0 at position c?"],
    ),
    Mistake(
        "mean_over_all_targets",
        STEPS.but(loss=lambda of_targets: -torch.cat([log_p.flatten() for log_p in of_targets]).mean()),
        summary="you average over all targets at once instead of within each head first",
        message=(
            "You average over all targets together. Heads that predict further ahead have fewer targets, so they "
            "count less. How can you weight all heads equally?"
        ),
        hints=["With 3 and 1 targets, how much of the loss should each of two heads be?"],
    ),
    Mistake(
        "heads_added_up",
        STEPS.but(loss=lambda losses: losses.sum()),
        summary="you add up the losses of the heads",
        message=(
            "You add up the losses of the heads. Here the loss is their *mean*, so that it stays comparable for any "
            "number of heads. Which number should you divide by?"
        ),
        hints=["If all heads have the loss 2, what should the result be?"],
    ),
    Mistake(
        "targets_shifted_backwards",
        STEPS.but(
            predictions=lambda logits, ahead: [head[:, k:] for head, k in zip(logits, ahead, strict=True)],
            targets=lambda tokens, ahead: [tokens[:, : tokens.shape[1] - k] for k in ahead],
        ),
        summary="you shift the logits instead of the tokens",
        message="You drop the first logits and the last tokens, so each position predicts a token *before* it. "
        "Which of the two should you cut at the front?",
        hints=["For the text a b c, what is the target at position c in your code?"],
    ),
    Mistake(
        "cut_to_the_shortest",
        STEPS.but(
            predictions=lambda logits: [head[:, : head.shape[1] - len(logits)] for head in logits],
            targets=lambda tokens, ahead: [tokens[:, k : tokens.shape[1] - len(ahead) + k] for k in ahead],
        ),
        summary="you drop the same number of positions for every head",
        message=(
            "You drop the same number of positions for every head, as many as the head that looks furthest ahead "
            "needs. The first heads then miss targets that exist. How many targets does head 0 have in a text of n "
            "tokens?"
        ),
        hints=["For the text a b c d and 2 heads, which tokens should head 0 predict?"],
    ),
]

EXERCISE = Exercise(
    reference=multi_token_loss,
    steps=STEPS,
    cases=multi_token_loss_cases,
    points=2,
    stretch=True,
    verified="Each head is asked for its own token ahead, nothing wraps around, and all heads count the same.",
    hints=[
        "For the text a b c d, head 0 predicts b c d. What does head 1 predict, and at which positions?",
        "It is the loss of a language model once per head, with another shift. The further a head looks, the fewer "
        "positions have a target.",
        "For head k = 0, 1, …: drop the last k + 1 positions of its logits, take the tokens from k + 1 on, compute "
        "the mean cross-entropy, and average over the heads.",
        "`head[:, :-ahead]` and `tokens[:, ahead:]`, with `ahead` from 1.",
    ],
    mistakes=MISTAKES,
)

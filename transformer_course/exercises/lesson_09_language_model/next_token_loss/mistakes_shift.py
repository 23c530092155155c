"""What goes wrong when predictions meet the tokens that they are about."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_09_language_model.next_token_loss.answer import STEPS


def only_one_is_cut(cut_logits, cut_tokens):
    """Return torch's loss of logits and tokens that are cut as these say."""

    def next_token_loss(logits, tokens, pad_id):
        logits, targets = cut_logits(logits), cut_tokens(tokens)
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id)

    return next_token_loss


MISTAKES = [
    Mistake(
        "no_shift",
        STEPS.but(predictions=lambda logits: logits, targets=lambda tokens: tokens),
        does="the logits at t are compared with the token at t itself",
        says=(
            "Nothing is shifted: each position is asked for the very token that it has just read. A model learns that "
            "at once, and can continue nothing."
        ),
        hints=["Which token should the logits at position 0 predict?"],
    ),
    Mistake(
        "shifted_the_wrong_way",
        STEPS.but(predictions=lambda logits: logits[:, 1:], targets=lambda tokens: tokens[:, :-1]),
        does="the logits at t are compared with the token at t − 1",
        says="The shift goes the wrong way: each position is asked for the token *before* it.",
        hints=["Which token should the logits at position 0 predict?"],
    ),
    Mistake(
        "shifted_twice",
        STEPS.but(predictions=lambda logits: logits[:, :-2], targets=lambda tokens: tokens[:, 2:]),
        does="the logits at t are compared with the token at t + 2",
    ),
    Mistake(
        "both_are_cut_at_the_same_end",
        STEPS.but(targets=lambda tokens: tokens[:, :-1]),
        STEPS.but(predictions=lambda logits: logits[:, 1:]),
        does="logits and tokens lose the same position, so that nothing is shifted",
    ),
    Mistake(
        "wraps_round",
        STEPS.but(predictions=lambda logits: logits, targets=lambda tokens: tokens.roll(-1, dims=1)),
        STEPS.but(
            predictions=lambda logits: logits,
            targets=lambda tokens: torch.cat([tokens[:, 1:], tokens[:, -1:]], dim=1),
        ),
        STEPS.but(predictions=lambda logits: logits.roll(1, dims=1), targets=lambda tokens: tokens).attempt,
        does="the last position of a text is asked for a token of the same text",
        says=(
            "The last position is asked for a token, too: for the first or the last of its own text. What follows it "
            "is not known, so it has no part in the loss."
        ),
        hints=["What is the target of the last position of a text that has no padding?"],
    ),
    Mistake(
        "runs_on_into_the_next_text",
        STEPS.but(
            predictions=lambda logits: logits.flatten(0, 1)[None, :-1],
            targets=lambda tokens: tokens.flatten()[None, 1:],
        ),
        does="the texts are joined before the shift, so that the end of one predicts the beginning of the next",
        says=(
            "Right for one text. The texts are made one long list before the shift, so the last position of each is "
            "asked for the first token of the *next* text."
        ),
        hints=["How many predictions do 2 texts of 4 tokens give? There should be 6."],
    ),
    Mistake(
        "shifted_along_the_batch",
        STEPS.but(predictions=lambda logits: logits[:-1], targets=lambda tokens: tokens[1:]),
        does="the shift runs along the batch: each text is compared with the next text",
        says="The slices cut whole *texts* away: the shift runs along the batch, not along the positions.",
        hints=["Which axis of `tokens` are the positions?"],
    ),
    Mistake(
        "only_one_is_cut",
        STEPS.but(targets=lambda tokens: tokens),
        only_one_is_cut(lambda logits: logits[:, :-1], lambda tokens: tokens),
        only_one_is_cut(lambda logits: logits, lambda tokens: tokens[:, 1:]),
        does="only one of logits and tokens is cut, so that there are more of the one than of the other",
        says="Only one of the two is cut: there are not as many targets as positions that predict, and it crashes.",
        hints=["Print the shapes of what is compared. How many positions has each?"],
    ),
]

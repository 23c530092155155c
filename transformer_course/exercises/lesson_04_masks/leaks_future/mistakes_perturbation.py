"""What goes wrong when a leak test changes tokens."""

import functools

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_04_masks.leaks_future.answer import STEPS


def the_tokens_themselves(tokens):
    return lambda: tokens


def one_copy_for_all(tokens):
    return functools.partial(torch.Tensor.view_as, once := tokens.clone(), once)  # which has a state of its own


def never_too_large(tokens):
    return lambda ids: (ids + 1) % (tokens.max() + 1)


def until_one_moves(before, evaluating, positions, change, watched, moved):
    for p in positions:
        if moved(watched(evaluating(change(p)), p), watched(before, p)):
            return [True]
    return [False]


def against_a_run_of_its_own(tokens, evaluating, positions, change, watched, moved):
    for p in positions:
        if moved(watched(evaluating(change(p)), p), watched(evaluating(tokens), p)):
            return [True]
    return [False]


MISTAKES = [
    Mistake(
        "changes_the_last_token_only",
        STEPS.but(positions=lambda tokens: [tokens.shape[1] - 1]),
        does="only the change at the last position counts",
        says=(
            "Only the last token counts: it alone is changed, or what each position showed is overwritten by the next. "
            "What leaks from any other position stays unseen."
        ),
        hints=[
            "Take a model whose third position of five sees the fourth. Is the fourth ever changed, "
            "and is what that shows still known at the end?"
        ],
    ),
    Mistake(
        "begins_with_the_first_position",
        STEPS.but(
            positions=lambda tokens: range(tokens.shape[1]),
            moved=lambda: lambda after, before: bool((after - before).abs().max() > 1e-4),
        ).attempt,
        says=(
            "It begins with the first position. Nothing comes before that one, and `.max()` of nothing crashes. Look "
            "at where the positions begin."
        ),
        hints=[
            "How many outputs are there in `[:, :0]`?",
            "Which is the first position that is in the future of another?",
            "`range(1, tokens.shape[1])`.",
        ],
    ),
    Mistake(
        "writes_into_the_tokens",
        STEPS.but(copy=the_tokens_themselves),
        STEPS.but(
            copy=the_tokens_themselves,
            moves=until_one_moves,
            positions=lambda tokens: reversed(range(1, tokens.shape[1])),
        ).attempt,
        STEPS.but(copy=the_tokens_themselves, another=never_too_large, moves=against_a_run_of_its_own).attempt,
        does="the tokens themselves are changed, not a copy",
        says=(
            "The tokens are changed for good: every later run of the model gets the changed ones, and so does the "
            "caller. `b = a` gives a tensor a second name and copies nothing."
        ),
        hints=["Print `tokens` before and after a call."],
    ),
    Mistake(
        "changes_pile_up",
        STEPS.but(copy=one_copy_for_all),
        does="earlier positions are changed too, at once or by earlier rounds",
        says=(
            "With three tokens or more, it accuses every model: among the outputs that are compared are those of "
            "positions that have been changed themselves, at once or in an earlier round. Look at what is changed in "
            "each round."
        ),
        hints=[
            "Print the changed tokens for every position, beside the old ones. At how many positions do they differ?"
        ],
    ),
    Mistake(
        "the_same_token_by_chance",
        STEPS.but(another=lambda: lambda ids: 0),
        STEPS.but(another=lambda: lambda ids: 1).attempt,
        STEPS.but(another=lambda tokens: lambda ids: tokens.max()).attempt,
        STEPS.but(another=lambda tokens: lambda ids: tokens.max() - ids).attempt,
        STEPS.but(another=lambda n_ids: lambda ids: (ids + 1).clamp(max=n_ids - 1)),
        does="the new token may be the very one that stood there",
        says=(
            "The new token does not always differ from the old one. Where it is the very one that stood there, nothing "
            "has been changed, and the leak stays unseen."
        ),
        hints=["What if the token at that position is the very one that is put there?"],
    ),
]

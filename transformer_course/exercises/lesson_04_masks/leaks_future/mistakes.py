"""What goes wrong when a leak test changes tokens, runs the model and compares outputs."""

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
        "wrong_way_round",
        STEPS.but(leaks=lambda moves: not any(moves)),
        summary="the answer is turned round at the end",
        message="The answer is the wrong way round: True for models that do not leak, False for those that do.",
        hints=["`torch.allclose` is True if nothing moved. What does that mean for the answer?"],
    ),
    Mistake(
        "looks_at_what_comes_after",
        STEPS.but(watched=lambda: lambda outputs, position: outputs[:, position + 1 :]),
        summary="the outputs after the changed position are compared",
        message="It watches what comes *after* the changed token. That is the past acting on the future, as it should.",
        hints=["The token at position 3 was changed. Whose future is it?"],
    ),
    Mistake(
        "stops_one_position_short",
        STEPS.but(watched=lambda: lambda outputs, position: outputs[:, : position - 1]),
        summary="the output just before the changed position is not watched",
        message=(
            "The position just before the changed token is not watched, and there the commonest leak of all shows: a "
            "mask that is off by one. Look at where the slice ends."
        ),
        hints=["Which positions does `[:, :position - 1]` hold for position 1?"],
    ),
    Mistake(
        "first_sentence_only",
        STEPS.but(watched=lambda: lambda outputs, position: outputs[0, :position]),
        summary="only the first sentence of the batch is tested",
        message=(
            "{summary}. What leaks may depend on the tokens, and show in another sentence only. Look at the first "
            "index."
        ),
        hints=["`tokens` has the shape (batch, n). What does `[0, position]` mean, and what `[:, position]`?"],
    ),
    Mistake(
        "two_modes",
        STEPS.but(before=lambda model, tokens: model(tokens)),
        summary="one of the two outputs comes from training mode, the other from eval mode",
        message=(
            "Of the two outputs that are compared, one comes from training mode and one from eval mode. Where these "
            "differ, an innocent model is accused. Look at when the mode is switched."
        ),
        hints=["Print `model.training` just before each run of the model."],
    ),
    Mistake(
        "equal_to_the_last_bit",
        STEPS.but(moved=lambda: lambda after, before: not torch.equal(after, before)),
        summary="outputs are compared to the last bit",
        message=(
            "{summary}. Two runs may add up in another order and differ by rounding, and an innocent model is accused."
        ),
        hints=["How large is a difference that only comes from rounding, and how large one from another token?"],
    ),
    Mistake(
        "compares_the_best_tokens",
        STEPS.but(moved=lambda: lambda after, before: not torch.equal(after.argmax(dim=-1), before.argmax(dim=-1))),
        STEPS.but(moved=lambda: lambda after, before: not torch.allclose(after, before, atol=0.1)).attempt,
        summary="a small difference does not count: by an `argmax`, or a wide tolerance",
        message=(
            "A small leak is missed: only the most likely token is compared, or the tolerance is wide. Training will "
            "make such a leak larger."
        ),
        hints=["If an output moves from 0.50 to 0.53, does an argmax notice, or a tolerance of 0.1?"],
    ),
    Mistake(
        "compares_sums",
        STEPS.but(moved=lambda: lambda after, before: bool((after - before).sum().abs() > 1e-4)),
        summary="sums, means or norms of the outputs are compared, in which differences cancel",
        message=(
            "Sums, means or norms of the outputs are compared. One number goes up, another comes down, and the leak "
            "stays unseen; a model that normalizes its outputs leaks like this everywhere. Look at what is compared."
        ),
        hints=["An output moves from (1, 0) to (0, 1). How far does its sum move? And its norm?"],
    ),
    Mistake(
        "only_upwards",
        STEPS.but(moved=lambda: lambda after, before: bool((after - before > 1e-4).any())),
        STEPS.but(moved=lambda: lambda after, before: bool((before - after > 1e-4).any())),
        STEPS.but(moved=lambda: lambda after, before: bool((after - before).sum() > 1e-4)),
        STEPS.but(moved=lambda: lambda after, before: bool((before - after).sum() > 1e-4)).attempt,
        summary="differences are compared with a bound together with their signs",
        message=(
            "The differences keep their signs, and an output that moves the other way is below every bound. Look at "
            "what happens to the signs before the comparison."
        ),
        hints=["An output moves from 8 to 0. What is `after - before`, and is it greater than 0.0001?"],
    ),
    Mistake(
        "changes_the_last_token_only",
        STEPS.but(positions=lambda tokens: [tokens.shape[1] - 1]),
        summary="only the change at the last position counts",
        message=(
            "Only the last token counts: it alone is changed, or what each position showed is overwritten by the next. "
            "What leaks from any other position stays unseen."
        ),
        hints=[
            "Take a model whose third position of five sees the fourth. Is the fourth ever changed, "
            "and is what that shows still known at the end?"
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
        summary="the tokens themselves are changed, not a copy",
        message=(
            "The tokens are changed for good: every later run of the model gets the changed ones, and so does the "
            "caller. `b = a` gives a tensor a second name and copies nothing."
        ),
        hints=["Print `tokens` before and after a call."],
    ),
    Mistake(
        "changes_pile_up",
        STEPS.but(copy=one_copy_for_all),
        summary="earlier positions are changed too, at once or by earlier rounds",
        message=(
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
        summary="the new token may be the very one that stood there",
        message=(
            "The new token does not always differ from the old one. Where it is the very one that stood there, nothing "
            "has been changed, and the leak stays unseen."
        ),
        hints=["What if the token at that position is the very one that is put there?"],
    ),
]

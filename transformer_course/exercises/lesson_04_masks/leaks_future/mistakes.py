"""Mistakes in changing tokens, running the model and comparing outputs."""

import functools

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_04_masks.leaks_future.answer import STEPS


def the_tokens_themselves(tokens):
    return lambda: tokens


def one_copy_for_all(tokens):
    return functools.partial(torch.Tensor.view_as, once := tokens.clone(), once)  # a new partial for each call


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
        summary="you invert the answer at the end",
        message=(
            "You return True for models that don't leak and False for models that do. Which answer should a changed "
            "earlier output give?"
        ),
        hints=["`torch.allclose` is True if nothing changed. What does that mean for your answer?"],
    ),
    Mistake(
        "looks_at_what_comes_after",
        STEPS.but(watched=lambda: lambda outputs, position: outputs[:, position + 1 :]),
        summary="you compare the outputs *after* the changed position",
        message=(
            "{summary}, so you report leaks in correct models: later positions may attend to earlier tokens. Which "
            "outputs must not change?"
        ),
        hints=["You change the token at position 3. For which positions is it in the future?"],
    ),
    Mistake(
        "stops_one_position_short",
        STEPS.but(watched=lambda: lambda outputs, position: outputs[:, : position - 1]),
        summary="you don't compare the output just before the changed position",
        message=(
            "{summary}, so you miss the most common leak: a mask that is off by one. At which position does your "
            "comparison end?"
        ),
        hints=["For position 1, which positions does `[:, :position - 1]` select?"],
    ),
    Mistake(
        "first_sentence_only",
        STEPS.but(watched=lambda: lambda outputs, position: outputs[0, :position]),
        summary="you compare only the first sentence of the batch",
        message=(
            "{summary}, so you miss leaks that only show in other sentences. Whether a model leaks may depend on the "
            "tokens. What does your first index select?"
        ),
        hints=["`tokens` has shape (batch, n). What does `[0, position]` select? And `[:, position]`?"],
    ),
    Mistake(
        "two_modes",
        STEPS.but(before=lambda model, tokens: model(tokens)),
        summary="you compare an output from training mode with one from eval mode",
        message="{summary}, so dropout alone makes a correct model look leaky. When do you switch the mode?",
        hints=["Print `model.training` right before each run of the model."],
    ),
    Mistake(
        "equal_to_the_last_bit",
        STEPS.but(moved=lambda: lambda after, before: not torch.equal(after, before)),
        summary="you compare outputs exactly, to the last bit",
        message=(
            "{summary}. Two runs may add numbers in a different order, so rounding alone makes a correct model look "
            "leaky. How large must a difference be to count as a leak?"
        ),
        hints=["How large are differences from rounding alone? And differences from a changed token?"],
    ),
    Mistake(
        "compares_the_best_tokens",
        STEPS.but(moved=lambda: lambda after, before: not torch.equal(after.argmax(dim=-1), before.argmax(dim=-1))),
        summary="you compare only the `argmax` of the outputs",
        message=(
            "{summary}, so you miss small leaks: an output that moves from 0.50 to 0.53 may still be the second "
            "largest. Training can make such leaks larger. Which differences should count?"
        ),
        hints=["What is the `argmax` of (0.50, 0.60)? And of (0.53, 0.60)?"],
    ),
    Mistake(
        "tolerates_small_leaks",
        STEPS.but(moved=lambda: lambda after, before: not torch.allclose(after, before, atol=0.1)).attempt,
        message=(
            "Your tolerance is so large that you miss small leaks, such as an output that moves from 0.50 to 0.53. "
            "Training can make such leaks larger. How large are the differences that rounding alone can cause?"
        ),
        hints=[
            "If an output moves from 0.50 to 0.53, does your comparison report a change?",
            "A float32 number has about 7 digits, so rounding changes an output near 1 by about 10⁻⁷.",
            "`torch.allclose(after, before, atol=1e-4)`.",
        ],
    ),
    Mistake(
        "compares_sums",
        STEPS.but(moved=lambda: lambda after, before: bool((after - before).sum().abs() > 1e-4)),
        summary="you compare sums, means or norms of the outputs",
        message=(
            "{summary}, so changes can cancel: from (1, 0) to (0, 1), neither the sum nor the norm changes. What "
            "should you compare instead?"
        ),
        hints=["If a model normalizes its outputs, can their norm change?"],
    ),
    Mistake(
        "only_upwards",
        STEPS.but(moved=lambda: lambda after, before: bool((after - before > 1e-4).any())),
        STEPS.but(moved=lambda: lambda after, before: bool((before - after > 1e-4).any())),
        STEPS.but(moved=lambda: lambda after, before: bool((after - before).sum() > 1e-4)),
        STEPS.but(moved=lambda: lambda after, before: bool((before - after).sum() > 1e-4)).attempt,
        summary="you compare signed differences with a threshold",
        message=(
            "{summary}, so a large change in one direction doesn't count: −8 is below any positive threshold. What "
            "should you do to the signs first?"
        ),
        hints=["One output rises by 8 and another falls by 8. Which of these changes does your comparison detect?"],
    ),
    Mistake(
        "changes_the_last_token_only",
        STEPS.but(positions=lambda tokens: [tokens.shape[1] - 1]),
        summary="your answer depends only on the change at the last position",
        message=(
            "{summary}, so you miss leaks from all other positions. If you use a loop, does it keep the results of "
            "earlier iterations?"
        ),
        hints=[
            "Suppose that the third of five positions sees the fourth. Do you ever change the fourth, and do you "
            "still have the result at the end?"
        ],
    ),
    Mistake(
        "returns_after_the_first_change",
        STEPS.but(positions=lambda tokens: range(1, min(2, tokens.shape[1]))).attempt,
        message=(
            "Your answer depends only on the change at position 1, so you miss leaks from all other positions. If you "
            "use a loop, does it return during the first iteration?"
        ),
        hints=[
            "Suppose that the first of three positions sees the third. Do you ever change the third token?",
            "Change one position after the other, and remember whether any change moved an earlier output.",
            "Set `leaks = False` before the loop, update it inside, and return it after the loop.",
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
        summary="you modify `tokens` in place instead of changing a copy",
        message=(
            "{summary}, so every later run of the model gets the changed tokens, and so does the caller. `b = a` "
            "doesn't copy a tensor; it gives the same tensor a second name. Which method makes a copy?"
        ),
        hints=["Print `tokens` before and after you call your function."],
    ),
    Mistake(
        "changes_pile_up",
        STEPS.but(copy=one_copy_for_all),
        summary="you change several positions at the same time",
        message=(
            "{summary}. With 3 or more tokens, you report a leak in every model because you compare outputs at "
            "positions where you have already changed the token. How many tokens should differ from the original in "
            "each iteration?"
        ),
        hints=[
            "For every position, print the changed tokens next to the original tokens. At how many positions do they "
            "differ?"
        ],
    ),
    Mistake(
        "the_same_token_by_chance",
        STEPS.but(another=lambda: lambda ids: 0),
        STEPS.but(another=lambda: lambda ids: 1).attempt,
        STEPS.but(another=lambda tokens: lambda ids: tokens.max()).attempt,
        STEPS.but(another=lambda tokens: lambda ids: tokens.max() - ids).attempt,
        STEPS.but(another=lambda n_ids: lambda ids: (ids + 1).clamp(max=n_ids - 1)),
        summary="your new token may be the same as the old one",
        message=(
            "{summary}. In that case, you change nothing and miss the leak. How can you make sure that the new token "
            "differs from the old one?"
        ),
        hints=["What if the old token is already the token that you write?"],
    ),
]

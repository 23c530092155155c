"""What goes wrong when a model is run with a cache and without."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_12_clinic.cached_difference.answer import STEPS


def one_by_one(model, tokens, cache):
    return torch.cat([model(tokens[:, [position]], cache) for position in range(tokens.shape[1])], dim=1)


def then_all_with_the_cache(evaluating, tokens):
    cache = evaluating.new_cache()
    return one_by_one(evaluating, tokens, cache) - evaluating(tokens, cache)


def all_with_the_cache_first(evaluating, tokens):
    cache = evaluating.new_cache()
    return evaluating(tokens, cache) - one_by_one(evaluating, tokens, cache)


def first_token_without_the_cache(evaluating, tokens):
    """Read the first token without the cache, in which it is missing from then on."""
    found = [evaluating(tokens[:, :1]), one_by_one(evaluating, tokens[:, 1:], evaluating.new_cache())]
    return torch.cat(found, dim=1)


MISTAKES = [
    Mistake(
        "a_new_cache_for_every_token",
        STEPS.but(kept=lambda: lambda cache, new_cache: new_cache()),
        does="every token gets an empty cache",
        says=(
            "{does}, and so sees nothing before it. Even a healthy model differs then. Look at where the cache is made."
        ),
        hints=["How many tokens are in the cache at the third call?"],
    ),
    Mistake(
        "everything_so_far_with_the_cache",
        STEPS.but(
            piece=lambda tokens: lambda position: tokens[:, : position + 1],
            logits=lambda: lambda logits: logits[:, -1:],
        ),
        does="the model is shown all tokens so far, beside the cache",
        says=(
            "In every round the model is shown *all* tokens so far, and the cache holds them already: it reads them "
            "several times. Look at what is given to it besides the cache."
        ),
        hints=["How many tokens are in the cache after three rounds?"],
    ),
    Mistake(
        "the_whole_with_a_cache_too",
        STEPS.but(differences=then_all_with_the_cache),
        STEPS.but(differences=all_with_the_cache_first),
        does="the run on the whole text is made with a cache",
        says=(
            "The run on the whole text is made with the cache. The two runs should have nothing in common: one has a "
            "cache, and the other has none."
        ),
        hints=["How many tokens are in the cache at the end?"],
    ),
    Mistake(
        "nothing_is_taken_from_the_cache",
        STEPS.but(cached=lambda evaluating, tokens: evaluating(tokens, evaluating.new_cache())).attempt,
        STEPS.but(differences=lambda cached: cached - cached).attempt,
        says=(
            "Nothing is ever found, not even in a model with a fault. Either all tokens are read in one call, so that "
            "nothing is taken from the cache, or a run is compared with itself."
        ),
        hints=[
            "With a cache, how many calls should there be for a text of 5 tokens? Which of them read from it?",
            "A call reads from the cache what earlier calls have put there, so each call gets a single token.",
            "In a loop over the positions: `model(tokens[:, [position]], cache)`, always with the same cache.",
        ],
    ),
    Mistake(
        "the_first_token_not_in_the_cache",
        STEPS.but(cached=first_token_without_the_cache),
        STEPS.but(positions=lambda tokens: range(1, tokens.shape[1]), at_once=lambda at_once: at_once[:, 1:]),
        does="the first token is never read with the cache",
        says="{does}, and so it is missing for all that follow. Look at where the loop begins.",
        hints=["What is in the cache when the second token is read?"],
    ),
    Mistake(
        "only_the_last_position",
        STEPS.but(differences=lambda differences: differences[:, -1]),
        STEPS.but(differences=lambda differences: differences[:, -1:]),
        does="only the last position counts",
        says=(
            "{does}: it alone is compared, or read by itself, or each round overwrites what the one before it found. A "
            "fault that shows earlier stays unseen."
        ),
        hints=["Take a model with a fault at its first token. Is that one compared?"],
    ),
    Mistake(
        "leaves_the_last_position_out",
        STEPS.but(differences=lambda differences: differences[:, :-1]),
        STEPS.but(positions=lambda tokens: range(tokens.shape[1] - 1), at_once=lambda at_once: at_once[:, :-1]),
        does="the last position is not compared",
        hints=["Which positions does `range(n - 1)` visit?"],
    ),
]

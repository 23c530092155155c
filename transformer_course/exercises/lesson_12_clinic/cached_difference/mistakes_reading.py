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
        "no_cache",
        STEPS.but(call=lambda evaluating: lambda piece, cache: evaluating(piece)),
        does="the single tokens are read without a cache",
        says=(
            "The model is not given the cache when it reads single tokens, and so each is a text of its own. Look at "
            "what the model is called with."
        ),
        hints=["What does the model know of the first token when it reads the second?"],
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
        "the_same_for_every_model",
        STEPS.but(cached=lambda evaluating, tokens: evaluating(tokens, evaluating.new_cache())),
        STEPS.but(
            piece=lambda tokens: lambda position: tokens[:, : position + 1],
            call=lambda evaluating: lambda piece, cache: evaluating(piece),
            logits=lambda: lambda logits: logits[:, -1:],
        ),
        STEPS.but(cached=lambda at_once: at_once),
        does="no token is read by itself with a cache that holds those before it",
        says=(
            "It is 0 for every model. All tokens in one call with the cache, or all so far without it, give what the "
            "run on the whole text gives. Look at what the model is called with."
        ),
        hints=["How often is the model called with a cache that is not empty?"],
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
        "only_the_first_position",
        STEPS.but(differences=lambda differences: differences[:, 0]),
        does="only the first position is compared",
        says="{does}: the loop ends with its first round, or an index is 0.",
        hints=["Take a model with a fault at its second token. Is that one compared?"],
    ),
    Mistake(
        "leaves_the_first_position_out",
        STEPS.but(differences=lambda differences: differences[:, 1:]),
        does="the first position is not compared",
        says="{does}. A cache may be at fault from the very beginning.",
        hints=["Take a model with a fault at its first token. Is that one compared?"],
    ),
    Mistake(
        "leaves_the_last_position_out",
        STEPS.but(differences=lambda differences: differences[:, :-1]),
        STEPS.but(positions=lambda tokens: range(tokens.shape[1] - 1), at_once=lambda at_once: at_once[:, :-1]),
        does="the last position is not compared",
        hints=["Which positions does `range(n - 1)` visit?"],
    ),
    Mistake(
        "positions_apart_by_one",
        STEPS.but(differences=lambda cached, at_once: cached[:, 1:] - at_once[:, :-1]),
        STEPS.but(differences=lambda cached, at_once: cached[:, :-1] - at_once[:, 1:]),
        does="each position is compared with the one beside it",
        says="{does}. Both runs have read the same tokens there, so the same index belongs to both.",
        hints=["What should come out for a healthy model?"],
    ),
    Mistake(
        "only_the_last_text",
        STEPS.but(differences=lambda differences: differences[-1:]),
        does="only the last text of the batch is compared",
        says="{does}, or each text overwrites what the one before it showed.",
        hints=["Take three texts. Of which is the number that comes out?"],
    ),
    Mistake(
        "one_token_without_its_axis",
        STEPS.but(piece=lambda tokens: lambda position: tokens[:, position]).attempt,
        STEPS.but(piece=lambda tokens: lambda position: tokens[position]).attempt,
        says=(
            "The model is given a tensor of one axis. It takes (batch, n), even where n is 1. Look at the index that "
            "takes one position."
        ),
        hints=[
            "What is the shape of `tokens[:, 3]`?",
            "A slice, or a list of one index, keeps the axis.",
            "`tokens[:, [position]]`, or `tokens[:, position : position + 1]`.",
        ],
    ),
    Mistake(
        "joined_along_the_texts",
        STEPS.but(cached=lambda one_by_one: torch.cat(one_by_one, dim=0)).attempt,
        says=(
            "The logits of the tokens are joined along the axis of the *texts*. Look at the axis that `torch.cat` gets."
        ),
        hints=[
            "What shape has each piece, and what shape should all of them have together?",
            "The pieces are one position long: axis 1.",
            "`torch.cat(one_by_one, dim=1)`.",
        ],
    ),
]

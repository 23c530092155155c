"""What goes wrong with top-k."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_09_language_model.sample_next.answer import STEPS

SMALLEST = "`logits.topk(k).values[:, -1:]` holds the smallest logit that is kept in each row."
HIDE = "`logits.masked_fill(logits < smallest, -torch.inf)`."


def if_wanted(change):
    """Make the step that hides logits by top-k, if there is a top_k."""
    return lambda scaled, smallest, top_k: scaled if top_k is None else change(scaled, smallest)


def kept(number):
    """Make the step that keeps another number of tokens, if there is a top_k."""
    return lambda top_k, logits: logits.shape[-1] if top_k is None else number(top_k, logits.shape[-1])


MISTAKES = [
    Mistake(
        "no_top_k",
        STEPS.but(n_kept=lambda logits: logits.shape[-1]),
        does="`top_k` is not used",
    ),
    Mistake(
        "more_than_there_are",
        STEPS.but(n_kept=kept(lambda top_k, vocab_size: top_k)),
        does="a `top_k` above the size of the vocabulary is not provided for",
    ),
    Mistake(
        "drops_the_last_of_the_k",
        STEPS.but(best_k=if_wanted(lambda scaled, smallest: scaled.masked_fill(scaled <= smallest, -torch.inf))),
        STEPS.but(n_kept=kept(lambda top_k, vocab_size: min(max(top_k - 1, 1), vocab_size))).attempt,
        does="top-k keeps one token too few",
    ),
    Mistake(
        "keeps_one_too_many",
        STEPS.but(n_kept=kept(lambda top_k, vocab_size: min(top_k + 1, vocab_size))),
        does="top-k keeps one token too many",
    ),
    Mistake(
        "keeps_the_largest_only",
        STEPS.but(
            smallest=lambda scaled, smallest, top_k: smallest if top_k is None else scaled.amax(-1, keepdim=True)
        ),
        does="with any `top_k` only the likeliest token is kept",
    ),
    Mistake(
        "keeps_the_least_likely",
        STEPS.but(
            smallest=lambda scaled, n_kept: scaled.topk(n_kept, largest=False).values[:, -1:],
            best_k=if_wanted(lambda scaled, largest: scaled.masked_fill(scaled > largest, -torch.inf)),
        ).attempt,
        STEPS.but(best_k=if_wanted(lambda scaled, smallest: scaled.masked_fill(scaled >= smallest, -torch.inf))),
        STEPS.but(best_k=if_wanted(lambda scaled, smallest: scaled.masked_fill(scaled > smallest, -torch.inf))).attempt,
        does="top-k hides the likeliest tokens",
    ),
    Mistake(
        "top_k_of_the_first_row",
        STEPS.but(smallest=lambda smallest, top_k: smallest if top_k is None else smallest[:1]),
        STEPS.but(
            smallest=lambda scaled, n_kept, smallest, top_k: (
                smallest if top_k is None else scaled.flatten().topk(n_kept).values[-1:, None]
            )
        ).attempt,
        STEPS.but(smallest=lambda smallest, top_k: smallest if top_k is None else smallest.amin()).attempt,
        does="one threshold is used for all rows in top-k",
        says="All rows are compared with one number, in top-k. Each row has k largest logits of its own.",
        hints=["How many tokens are kept in the second row?"],
    ),
    Mistake(
        "top_k_without_the_axis",
        STEPS.but(smallest=lambda smallest, top_k: smallest if top_k is None else smallest.squeeze(-1)).attempt,
        does="the thresholds of top-k are a row, and are compared along the vocabulary",
        says=(
            "The thresholds have the shape (batch), so each is compared with a *column* of the logits, or it crashes. "
            "They should be a column: one for each row."
        ),
        hints=[
            "Print the shapes of the two sides of the comparison.",
            "`[:, -1]` drops the axis, `[:, -1:]` keeps it.",
            SMALLEST,
        ],
    ),
    Mistake(
        "top_k_fills_with_zero",
        STEPS.but(best_k=if_wanted(lambda scaled, smallest: scaled.masked_fill(scaled < smallest, 0.0))),
        STEPS.but(best_k=if_wanted(lambda scaled, smallest: scaled * (scaled >= smallest))).attempt,
        does="the logits that top-k hides become 0, not −∞",
    ),
    Mistake(
        "the_rank_within_the_k",
        STEPS.but(best_k=lambda scaled, n_kept, top_k: scaled if top_k is None else scaled.topk(n_kept).values),
        does="with a `top_k` the *ranks* of the tokens come out, not their ids",
    ),
]

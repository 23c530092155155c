"""What goes wrong when a window slides."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_04_masks.sliding_window_mask.answer import STEPS
from transformer_course.exercises.shared import mask_mistakes


def slices_from_below_zero(length, window):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        mask[i, i - window + 1 : i + 1] = True
    return mask


def columns_from_below_zero(length, window):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        for j in range(i - window + 1, i + 1):
            mask[i, j] = True
    return mask


def slices_from_below_zero_one_more(length, window):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        mask[i, i - window : i + 1] = True
    return mask


def places_out_of_the_table(length, window):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for back in range(window):
        rows = torch.arange(back, length)
        mask[rows, rows - back] = True
    return mask


MISTAKES = [
    Mistake(
        "one_too_many",
        STEPS.but(near=lambda back, window: back <= window),
        does="the far end of the window is one position too far back",
    ),
    Mistake(
        "one_too_few",
        STEPS.but(near=lambda back, window: back < window - 1),
        does="the far end of the window is one position too near",
    ),
    Mistake(
        "without_the_position_itself",
        STEPS.but(not_ahead=lambda back: back > 0, near=lambda back, window: back <= window),
        does="the window begins one position before the query",
    ),
    Mistake(
        "not_itself_and_one_less",
        STEPS.but(not_ahead=lambda back: back > 0),
        does="a position does not see itself",
    ),
    Mistake(
        "next_one_too",
        STEPS.but(not_ahead=lambda back: back >= -1),
        does="each position also sees the next one",
    ),
    Mistake(
        "both_ways",
        STEPS.but(back=lambda back: back.abs()),
        does="the window reaches as far ahead as back",
        says="{does}: the future is visible. Only what came before and the position itself should be.",
        hints=["What does the first row say? What may the first position see?"],
    ),
    Mistake(
        "window_into_the_future",
        STEPS.but(back=lambda positions: positions[None, :] - positions[:, None]),
        does="rows and columns have changed places",
    ),
    Mistake(
        "no_window",
        STEPS.but(near=lambda back: back == back),
        does="nothing is too far back",
    ),
    Mistake(
        "never_the_first",
        STEPS.but(mask=lambda mask, positions: mask & (positions > 0)),
        does="the column of the first position is set to False",
        says=(
            "No position sees the first one, not even itself: the first column is False. Look at the smallest index "
            "that a slice, or a `max`, allows."
        ),
        hints=["What does the first row say?"],
    ),
    Mistake(
        "beyond_the_window",
        STEPS.but(near=lambda back, window: back >= window),
        STEPS.but(near=lambda back, window: back > window).attempt,
        does="what is too far back is kept, and what is near is hidden",
    ),
    Mistake(
        "sign_of_the_window",
        STEPS.but(near=lambda back, window: back <= 1 - window),
        STEPS.but(near=lambda back, window: back <= -window),
        does="the far end of the window has the wrong sign",
        says=(
            "Hardly anything is left: the window and the past have at most one key in common. Look at the sign of its"
            " bound."
        ),
        hints=["For which keys is query 5 not too far away if the window is 3?"],
    ),
    Mistake(
        "outside_the_window",
        STEPS.but(mask=lambda mask: ~mask),
        does="the entries are True outside the window",
    ),
    Mistake(
        "either_will_do",
        STEPS.but(both=lambda not_ahead, near: not_ahead | near),
        does="one of the two conditions is enough",
    ),
    Mistake(
        "forgets_to_look_back_only",
        STEPS.but(not_ahead=lambda back: back == back),
        does="keys that come later are not hidden",
        says="Nothing too far back is seen, but the whole future is. A second condition is missing.",
        hints=["What does the first row say? What may the first position see?"],
    ),
    Mistake(
        "the_first_ones",
        STEPS.but(near=lambda positions, window: positions < window),
        does="the position of the key, not its distance, is compared with the window",
        says=(
            "Every position sees the *first* places of the sequence: the window stands still. It should move along "
            "with the query."
        ),
        hints=["What should the last row see?"],
    ),
    Mistake(
        "in_blocks",
        STEPS.but(near=lambda positions, window: positions[:, None] // window == positions // window),
        does="the sequence is cut into blocks, and only the query's own block is near",
        says=(
            "The sequence is cut into blocks, and each position sees its own block only. The first of each block sees "
            "nothing before it. The window should move along with the query."
        ),
        hints=["With a window of 2, what should position 2 see?"],
    ),
    Mistake(
        "only_the_farthest",
        STEPS.but(near=lambda back, window: back == window - 1),
        STEPS.but(near=lambda back, window: back == window),
        does="the condition on the distance holds at one single distance",
        says="Each position sees one key at most: those at a single distance. Look at the comparison with the window.",
        hints=["How many True has the last row of 4 positions with a window of 2? How many should it have?"],
    ),
    Mistake(
        "indices_below_zero",
        slices_from_below_zero,
        columns_from_below_zero,
        slices_from_below_zero_one_more,
        says=(
            "The first rows go wrong: the window begins before the first position there, and an index below 0 counts "
            "from the end. Look at where the window of the first rows begins."
        ),
        hints=[
            "Where does the window of position 0 begin, with a window of 2?",
            "`row[-1:1]` and `row[-1]` of a row of 4: which places are these?",
            "`max(0, i - window + 1)` is the first place of the window.",
        ],
    ),
    Mistake(
        "longer_than_the_sequence",
        places_out_of_the_table,
        says=(
            "It crashes where the window is much longer than the sequence. Such a window hides nothing of the past. "
            "Look at what is counted up to `window`."
        ),
        hints=[
            "Try 3 positions with a window of 7.",
            "No query looks further back than `length` - 1.",
            "`range(min(window, length))`; or no loop, with two comparisons of the distance.",
        ],
    ),
    mask_mistakes.of_numbers(STEPS),
    mask_mistakes.to_be_added(STEPS),
    mask_mistakes.a_list(STEPS),
]

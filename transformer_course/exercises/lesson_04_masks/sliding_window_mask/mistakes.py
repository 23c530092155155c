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
        says=(
            "One place too many: with a window of 1, a position should see itself and nothing else. Look at the far "
            "end of the window."
        ),
        hints=[
            "How many True has the last row of 4 positions with a window of 2?",
            "The position itself counts as one of the window.",
            "The distance is less than the window, not equal to it.",
        ],
    ),
    Mistake(
        "one_too_few",
        STEPS.but(near=lambda back, window: back < window - 1),
        does="the far end of the window is one position too near",
        says=(
            "One place too few: with a window of 2, a position should see itself and the one before. Look at the far "
            "end of the window."
        ),
        hints=[
            "How many True has the last row of 4 positions with a window of 2?",
            "The position itself counts as one of the window, and `window` - 1 others come before it.",
            "The distance is less than the window: up to `window` - 1, with `window` - 1.",
        ],
    ),
    Mistake(
        "without_the_position_itself",
        STEPS.but(not_ahead=lambda back: back > 0, near=lambda back, window: back <= window),
        does="the window begins one position before the query",
        says="The window begins one before the position: it does not see itself. It should count as the first of them.",
        hints=[
            "What does the first row say?",
            "A distance of 0 is allowed.",
            "Distances from 0 to window - 1.",
        ],
    ),
    Mistake(
        "not_itself_and_one_less",
        STEPS.but(not_ahead=lambda back: back > 0),
        does="a position does not see itself",
        says="{does}, so there is one place too few. Look at the near end of the window.",
        hints=[
            "What does the first row say?",
            "A distance of 0 is allowed.",
            "The distance is at least 0.",
        ],
    ),
    Mistake(
        "next_one_too",
        STEPS.but(not_ahead=lambda back: back >= -1),
        does="each position also sees the next one",
        says="Each position also sees the *next* one, which it has to predict. Look at the near end of the window.",
        hints=[
            "What does the first row say?",
            "A negative distance is a key that comes later.",
            "The distance is at least 0: `back >= 0`, or `.tril()` without a number.",
        ],
    ),
    Mistake(
        "both_ways",
        STEPS.but(back=lambda back: back.abs()),
        does="the window reaches as far ahead as back",
        says="{does}: the future is visible. Only what came before and the position itself should be.",
        hints=[
            "What does the first row say? What may the first position see?",
            "A negative distance is a key that comes later.",
            "Leave the absolute value out, and ask for a distance of at least 0 as well.",
        ],
    ),
    Mistake(
        "window_into_the_future",
        STEPS.but(back=lambda positions: positions[None, :] - positions[:, None]),
        does="rows and columns have changed places",
        says=(
            "The window opens to the wrong side: each position sees itself and what comes *after*. Rows and columns "
            "have changed places."
        ),
        hints=[
            "Rows are queries, columns are keys. What may the first row see?",
            "How far a query looks back is its own position minus that of the key.",
            "Queries: `positions[:, None]`. Keys: `positions[None, :]`.",
        ],
    ),
    Mistake(
        "no_window",
        STEPS.but(near=lambda back: back == back),
        does="nothing is too far back",
        says="This is the causal mask: every position sees all that came before. What is too far back has to go.",
        hints=[
            "Does `window` occur in the code?",
            "How many True may a row have at most?",
            "A second condition: the distance is less than the window.",
        ],
    ),
    Mistake(
        "never_the_first",
        STEPS.but(mask=lambda mask, positions: mask & (positions > 0)),
        does="the column of the first position is set to False",
        says=(
            "No position sees the first one, not even itself: the first column is False. Look at the smallest index "
            "that a slice, or a `max`, allows."
        ),
        hints=[
            "What does the first row say?",
            "Positions are counted from 0.",
            "A window that would begin before the sequence begins at 0: `max(0, …)`.",
        ],
    ),
    Mistake(
        "beyond_the_window",
        STEPS.but(near=lambda back, window: back >= window),
        STEPS.but(near=lambda back, window: back > window).attempt,
        does="what is too far back is kept, and what is near is hidden",
        says=(
            "The window is the wrong way round: the keys that are too far back are seen, the near ones are not. Look "
            "at the comparison with `window`."
        ),
        hints=[
            "What does the last row say? Which keys should it see?",
            "How far back is the position itself? Is that allowed?",
            "The distance is *less* than the window.",
        ],
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
        hints=[
            "For which keys is query 5 not too far away if the window is 3?",
            "In `triu(k)`, a negative k goes down and to the left.",
        ],
    ),
    Mistake(
        "outside_the_window",
        STEPS.but(mask=lambda mask: ~mask),
        does="the entries are True outside the window",
        says="True stands *outside* the window. It means: may attend.",
        hints=[
            "Which entries of the first row should be True?",
            "`~` turns every entry round.",
            "At least 0 *and* less than the window.",
        ],
    ),
    Mistake(
        "either_will_do",
        STEPS.but(both=lambda not_ahead, near: not_ahead | near),
        does="one of the two conditions is enough",
        says="Every entry is True: it is enough that *one* of the two conditions holds. Look at how they are joined.",
        hints=[
            "Is there any key that is neither in the past nor near?",
            "Both have to hold: not ahead, and not too far back.",
            "`&`, not `|`.",
        ],
    ),
    Mistake(
        "forgets_to_look_back_only",
        STEPS.but(not_ahead=lambda back: back == back),
        does="keys that come later are not hidden",
        says="Nothing too far back is seen, but the whole future is. A second condition is missing.",
        hints=[
            "What does the first row say? What may the first position see?",
            "A negative distance is a key that comes later.",
            "Ask for a distance of at least 0 as well, joined by `&`.",
        ],
    ),
    Mistake(
        "the_first_ones",
        STEPS.but(near=lambda positions, window: positions < window),
        does="the position of the key, not its distance, is compared with the window",
        says=(
            "Every position sees the *first* places of the sequence: the window stands still. It should move along "
            "with the query."
        ),
        hints=[
            "What should the last row see?",
            "The window ends at the query, wherever that is.",
            "Compare the *distance* between query and key with the window.",
        ],
    ),
    Mistake(
        "in_blocks",
        STEPS.but(near=lambda positions, window: positions[:, None] // window == positions // window),
        does="the sequence is cut into blocks, and only the query's own block is near",
        says=(
            "The sequence is cut into blocks, and each position sees its own block only. The first of each block sees "
            "nothing before it. The window should move along with the query."
        ),
        hints=[
            "With a window of 2, what should position 2 see?",
            "The window ends at the query, wherever that is.",
            "Compare the *distance* between query and key with the window.",
        ],
    ),
    Mistake(
        "only_the_farthest",
        STEPS.but(near=lambda back, window: back == window - 1),
        STEPS.but(near=lambda back, window: back == window),
        does="the condition on the distance holds at one single distance",
        says="Each position sees one key at most: those at a single distance. Look at the comparison with the window.",
        hints=[
            "How many True has the last row of 4 positions with a window of 2? How many should it have?",
            "All distances from 0 to window - 1 are allowed.",
            "Two comparisons joined by `&`: at least 0, and less than the window.",
        ],
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

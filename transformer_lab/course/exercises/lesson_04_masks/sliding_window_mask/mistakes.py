"""What goes wrong when a window slides."""

import torch

from transformer_lab.course.exercise import Mistake


def _back(length):
    return torch.arange(length)[:, None] - torch.arange(length)


def one_too_many(length, window):
    return (_back(length) >= 0) & (_back(length) <= window)


def without_the_position_itself(length, window):
    return (_back(length) > 0) & (_back(length) <= window)


def not_itself_and_one_less(length, window):
    return (_back(length) > 0) & (_back(length) < window)


def both_ways(length, window):
    return _back(length).abs() < window


def both_ways_and_one_too_many(length, window):
    return _back(length).abs() <= window


def window_into_the_future(length, window):
    return (_back(length) <= 0) & (-_back(length) < window)


def no_window(length, window):
    return _back(length) >= 0


def outside_the_window(length, window):
    return (_back(length) < 0) | (_back(length) >= window)


def forgets_to_look_back_only(length, window):
    return _back(length) < window


def the_first_ones(length, window):
    return (_back(length) >= 0) & (torch.arange(length) < window)


def in_blocks(length, window):
    block = torch.arange(length) // window
    return (block[:, None] == block) & (_back(length) >= 0)


def window_of_numbers(length, window):
    return ((_back(length) >= 0) & (_back(length) < window)).float()


MISTAKES = [
    Mistake(
        "one_too_many",
        [one_too_many],
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
        "without_the_position_itself",
        [without_the_position_itself],
        says="The window begins one before the position: it does not see itself. It should count as the first of them.",
        hints=[
            "What does the first row say?",
            "A distance of 0 is allowed.",
            "Distances from 0 to window - 1.",
        ],
    ),
    Mistake(
        "not_itself_and_one_less",
        [not_itself_and_one_less],
        says="A position does not see itself, so there is one place too few. Look at the near end of the window.",
        hints=[
            "What does the first row say?",
            "A distance of 0 is allowed.",
            "The distance is at least 0.",
        ],
    ),
    Mistake(
        "both_ways",
        [both_ways, both_ways_and_one_too_many],
        says=(
            "The window reaches as far ahead as back: the future is visible. Only what came before and the position "
            "itself should be."
        ),
        hints=[
            "What does the first row say? What may the first position see?",
            "A negative distance is a key that comes later.",
            "Leave the absolute value out, and ask for a distance of at least 0 as well.",
        ],
    ),
    Mistake(
        "window_into_the_future",
        [window_into_the_future],
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
        [no_window],
        says="This is the causal mask: every position sees all that came before. What is too far back has to go.",
        hints=[
            "Does `window` occur in the code?",
            "How many True may a row have at most?",
            "A second condition: the distance is less than the window.",
        ],
    ),
    Mistake(
        "outside_the_window",
        [outside_the_window],
        says="True stands *outside* the window. It means: may look.",
        hints=[
            "Which entries of the first row should be True?",
            "`~` turns every entry round.",
            "At least 0 *and* less than the window.",
        ],
    ),
    Mistake(
        "forgets_to_look_back_only",
        [forgets_to_look_back_only],
        says="Nothing too far back is seen, but the whole future is. A second condition is missing.",
        hints=[
            "What does the first row say? What may the first position see?",
            "A negative distance is a key that comes later.",
            "Ask for a distance of at least 0 as well, joined by `&`.",
        ],
    ),
    Mistake(
        "the_first_ones",
        [the_first_ones],
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
        [in_blocks],
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
        "window_of_numbers",
        [window_of_numbers],
        says="The places are right, but the entries are numbers. A mask of this course holds True and False.",
        hints=[
            "Print `mask.dtype`. What is asked for?",
            "A comparison gives booleans by itself.",
            "Leave out what turns them into numbers, or put `.bool()` at the end.",
        ],
    ),
]

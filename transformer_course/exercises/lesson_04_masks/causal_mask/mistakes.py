"""What goes wrong when a causal mask is made."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_04_masks.causal_mask.answer import STEPS
from transformer_course.exercises.shared import mask_mistakes


def without_row(table, row):
    changed = table.clone()
    changed[row] = False
    return changed


MISTAKES = [
    Mistake(
        "upper_triangle",
        STEPS.but(allowed=lambda table, diagonal: table.tril(diagonal).mT),
        does="rows and columns have changed places",
        says=(
            "The first row is True everywhere: the first position sees the whole future, and the last one only itself. "
            "Rows and columns seem to have changed places."
        ),
        hints=[
            "Row 0 belongs to the first query. What may it look at?",
            "Row i, column j is True if j ≤ i. Which triangle of the table is that?",
            "`tril` keeps the lower triangle, `triu` the upper one.",
        ],
    ),
    Mistake(
        "forbidden_is_true",
        STEPS.but(allowed=lambda allowed: allowed == 0),
        does="the entries are True where attending is forbidden",
        says="True stands where looking is *forbidden*. In this course True means: may attend.",
        hints=[
            "What does the first query see with this mask? And the last?",
            "This is the meaning that `nn.MultiheadAttention` gives to a mask; here it is the opposite.",
            "`~mask` turns every entry round.",
        ],
    ),
    Mistake(
        "without_itself",
        STEPS.but(diagonal=lambda: -1),
        does="the diagonal itself is left out",
        says="No position may attend to itself, so the first one may attend to nothing at all. Look at the diagonal.",
        hints=[
            "What does row 0 say?",
            "When the model predicts the token after position i, does it know the token at i?",
            "The diagonal belongs to what is allowed: `j <= i`, or `.tril()` without a number.",
        ],
    ),
    Mistake(
        "one_ahead",
        STEPS.but(diagonal=lambda: 1),
        does="the triangle goes one diagonal too far",
        says=(
            "Every position may also look at the *next* one. That one token is just what it has to predict. Look at "
            "the diagonal where the mask ends."
        ),
        hints=[
            "What does row 0 say? What may the first position know?",
            "The second argument of `tril` moves the edge. Which diagonal is the last that is allowed?",
            "Column j is allowed up to j = i: `.tril()` without a number.",
        ],
    ),
    Mistake(
        "further_from_the_diagonal",
        STEPS.but(diagonal=lambda: 2),
        STEPS.but(diagonal=lambda: -2),
        does="the triangle ends two diagonals away from where it should",
        says="{does}. Look at the number that names the last diagonal.",
        hints=["Which is the last position that query 2 may see?", "Diagonal 0 holds each position with itself."],
    ),
    Mistake(
        "nothing_hidden",
        STEPS.but(allowed=lambda table: table),
        does="no triangle is cut out: nothing is hidden",
        says="Every position may attend to every other: nothing is hidden.",
        hints=[
            "Which entries of the first row should be False?",
            "Something has to depend on whether the key comes after the query.",
            "`.tril()` sets all that is above the diagonal to False.",
        ],
    ),
    Mistake(
        "everything_hidden",
        STEPS.but(allowed=lambda table: table == 0),
        does="all entries are False",
        says=(
            "{does}: no position may attend to anything, not even to itself. Look at the table before its triangle is "
            "taken."
        ),
        hints=[
            "What should the first row say for 3 positions?",
            "A triangle of a table of zeros is all zeros.",
            "Begin with `torch.ones(length, length, dtype=torch.bool)`.",
        ],
    ),
    Mistake(
        "only_the_nearest",
        STEPS.but(allowed=lambda allowed: allowed.triu(-1)),
        STEPS.but(allowed=lambda allowed: allowed.triu(-2)),
        does="what lies more than a few positions back is hidden, too",
        says="{does}, as by a window. Every position may attend to *all* that came before.",
        hints=[
            "How many entries of the last row should be True?",
            "One condition is enough. Which one of them hides what is far back?",
            "Keep j ≤ i, and nothing else.",
        ],
    ),
    Mistake(
        "only_itself",
        STEPS.but(allowed=lambda table: table.tril().triu()),
        does="only the diagonal is kept",
        says="Every position sees itself and nothing else. It may also look at all that came before.",
        hints=[
            "The last position has everything before it. What should its row look like?",
            "j = i is allowed, and so is every smaller j.",
            "Compare with ≤ instead of =, or take a triangle instead of the diagonal.",
        ],
    ),
    Mistake(
        "counts_from_the_other_end",
        STEPS.but(allowed=lambda allowed: allowed.flip(1)),
        STEPS.but(allowed=lambda allowed: allowed.flip(0)),
        does="the rows or the columns are counted from the other end",
        says="The triangle leans the wrong way: {does}. Look at the order of the positions.",
        hints=[
            "Row 0 is the first query, column 0 the first key. Which entry of row 0 should be True?",
            "The edge of the triangle runs from the top left to the bottom right.",
            "`.tril()` of a table of True, without turning it over.",
        ],
    ),
    Mistake(
        "first_row_left_out",
        STEPS.but(allowed=lambda allowed: without_row(allowed, 0)),
        does="the first row is left False",
        says=(
            "The first row is all False: the first position may attend to nothing, not even to itself. Look at where "
            "the rows begin."
        ),
        hints=[
            "Which rows are filled, and with which one does that begin?",
            "`range(1, length)` leaves out 0.",
            "All rows: `range(length)`; or no loop at all, with `.tril()`.",
        ],
    ),
    Mistake(
        "last_row_left_out",
        STEPS.but(allowed=lambda allowed: without_row(allowed, -1)),
        does="the last row is left False",
        says="The last row is all False: the last position may attend to nothing. Look at where the rows end.",
        hints=[
            "Which rows are filled, and with which one does that end?",
            "`range(n)` leaves out n itself.",
            "All rows: `range(length)`; or no loop at all, with `.tril()`.",
        ],
    ),
    Mistake(
        "another_length",
        STEPS.but(table=lambda length: torch.ones(length + 1, length + 1, dtype=torch.bool)),
        STEPS.but(table=lambda length: torch.ones(length - 1, length - 1, dtype=torch.bool)),
        STEPS.but(table=lambda length: torch.ones(length, length + 1, dtype=torch.bool)),
        STEPS.but(table=lambda: torch.ones(3, 3, dtype=torch.bool)),
        STEPS.but(table=lambda: torch.ones(4, 4, dtype=torch.bool)),
        does="the table has more, or fewer, rows and columns than there are positions",
        says="The table has another size than asked for. Look at what its rows and columns are made of.",
        hints=[
            "Print `mask.shape` for 3 positions, and for 1.",
            "There is a row for each position, and a column for each position.",
        ],
    ),
    Mistake(
        "numbers_instead_of_booleans",
        STEPS.but(table=lambda table: table.float()),
        STEPS.but(table=lambda table: table.long()),
        STEPS.but(table=lambda table: table.int()).attempt,
        STEPS.but(table=lambda table: table.to(torch.uint8)).attempt,
        STEPS.but(mask=lambda mask: mask.float()),
        does="the entries are numbers, not True and False",
        says="The places are right, but the entries are numbers. A mask of this course holds True and False.",
        hints=[
            "Print `mask.dtype`. What is asked for?",
            "`~` and `&`, which come soon, work on booleans.",
            "`dtype=torch.bool` when the table is made, or `.bool()` at the end.",
        ],
    ),
    Mistake(
        "numbers_turned_round",
        STEPS.but(allowed=lambda length: ~torch.ones(length, length).triu(1)),
        does="`~` is given a table of numbers",
        says="`~` turns booleans round, and here it is given numbers: it crashes. Look at the dtype of the table.",
        hints=[
            "Print `.dtype` of what stands behind `~`.",
            "`torch.ones` makes numbers unless it is told otherwise.",
            "`dtype=torch.bool` when the table is made.",
        ],
    ),
    mask_mistakes.to_be_added(STEPS),
    Mistake(
        "axes_in_front",
        STEPS.but(table=lambda table: table[None, None]),
        STEPS.but(table=lambda table: table[None]),
        does="the table has one or more axes of length 1 in front",
        says="The table is right, but it has axes in front. Broadcasting adds those where they are needed.",
        hints=[
            "Which shape is asked for?",
            "A table of shape (n, n) fits scores of shape (batch, n_heads, n, n) as it is.",
            "Leave out what adds the axes: `[None]`, `unsqueeze` or `view`.",
        ],
    ),
    Mistake(
        "no_pairs",
        STEPS.but(mask=lambda length: torch.ones(length, dtype=torch.bool)),
        does="every position is compared with itself only",
        says="{does}: one row of entries, and all of them True. Every query has to be compared with every key.",
        hints=[
            "What shape does the comparison have? Which is asked for?",
            "(n, 1) against (1, n) is broadcast to (n, n).",
            "The queries go down the rows, `positions[:, None]`, the keys along the columns, `positions[None, :]`.",
        ],
    ),
    Mistake(
        "triangle_of_one_axis",
        STEPS.but(table=lambda length: torch.ones(length, dtype=torch.bool)),
        does="the triangle is taken of a single row",
        says=(
            "A triangle needs rows and columns, and the table has one axis only: it crashes. Look at how the table is "
            "made."
        ),
        hints=[
            "Print the shape of what `.tril()` is called on.",
            "There is a row for each query, and a column for each key.",
        ],
    ),
    mask_mistakes.a_list(STEPS),
]

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
        hints=["Row 0 belongs to the first query. What may it look at?"],
    ),
    Mistake(
        "forbidden_is_true",
        STEPS.but(allowed=lambda allowed: allowed == 0),
        does="the entries are True where attending is forbidden",
    ),
    Mistake(
        "without_itself",
        STEPS.but(diagonal=lambda: -1),
        does="the diagonal itself is left out",
    ),
    Mistake(
        "one_ahead",
        STEPS.but(diagonal=lambda: 1),
        does="the triangle goes one diagonal too far",
    ),
    Mistake(
        "nothing_hidden",
        STEPS.but(allowed=lambda table: table),
        does="no triangle is cut out: nothing is hidden",
    ),
    Mistake(
        "everything_hidden",
        STEPS.but(allowed=lambda table: table == 0),
        does="all entries are False",
    ),
    Mistake(
        "only_the_nearest",
        STEPS.but(allowed=lambda allowed: allowed.triu(-1)),
        STEPS.but(allowed=lambda allowed: allowed.triu(-2)),
        does="what lies more than a few positions back is hidden, too",
        says="{does}, as by a window. Every position may attend to *all* that came before.",
        hints=["How many entries of the last row should be True?"],
    ),
    Mistake(
        "only_itself",
        STEPS.but(allowed=lambda table: table.tril().triu()),
        does="only the diagonal is kept",
        says="Every position sees itself and nothing else. It may also look at all that came before.",
        hints=["The last position has everything before it. What should its row look like?"],
    ),
    Mistake(
        "first_row_left_out",
        STEPS.but(allowed=lambda allowed: without_row(allowed, 0)),
        does="the first row is left False",
        says=(
            "The first row is all False: the first position may attend to nothing, not even to itself. Look at where "
            "the rows begin."
        ),
        hints=["Which rows are filled, and with which one does that begin?"],
    ),
    Mistake(
        "last_row_left_out",
        STEPS.but(allowed=lambda allowed: without_row(allowed, -1)),
        does="the last row is left False",
        says="The last row is all False: the last position may attend to nothing. Look at where the rows end.",
        hints=["Which rows are filled, and with which one does that end?"],
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
        hints=["Print `mask.shape` for 3 positions, and for 1."],
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
        hints=["Print `mask.dtype`. What is asked for?"],
    ),
    Mistake(
        "numbers_turned_round",
        STEPS.but(allowed=lambda length: ~torch.ones(length, length).triu(1)),
        does="`~` is given a table of numbers",
        says="`~` turns booleans round, and here it is given numbers: it crashes. Look at the dtype of the table.",
        hints=["Print `.dtype` of what stands behind `~`."],
    ),
    mask_mistakes.to_be_added(STEPS),
    Mistake(
        "no_pairs",
        STEPS.but(mask=lambda length: torch.ones(length, dtype=torch.bool)),
        does="every position is compared with itself only",
        says="{does}: one row of entries, and all of them True. Every query has to be compared with every key.",
        hints=["What shape does the comparison have? Which is asked for?"],
    ),
    Mistake(
        "triangle_of_one_axis",
        STEPS.but(table=lambda length: torch.ones(length, dtype=torch.bool)),
        does="the triangle is taken of a single row",
        says=(
            "A triangle needs rows and columns, and the table has one axis only: it crashes. Look at how the table is "
            "made."
        ),
        hints=["Print the shape of what `.tril()` is called on."],
    ),
    mask_mistakes.a_list(STEPS),
]

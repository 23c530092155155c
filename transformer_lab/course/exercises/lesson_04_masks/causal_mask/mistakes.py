"""What goes wrong when a causal mask is made."""

import torch

from transformer_lab.course.exercise import Mistake


def _ones(length):
    return torch.ones(length, length, dtype=torch.bool)


def upper_triangle(length):
    return _ones(length).triu()


def forbidden_is_true(length):
    return _ones(length).triu(1)


def without_itself(length):
    return _ones(length).tril(-1)


def one_ahead(length):
    return _ones(length).tril(1)


def everybody(length):
    return _ones(length)


def only_itself(length):
    return torch.eye(length).bool()


def numbers_instead_of_booleans(length):
    return torch.ones(length, length).tril()


def whole_numbers_instead_of_booleans(length):
    return torch.ones(length, length, dtype=torch.int64).tril()


def to_be_added_to_the_scores(length):
    return torch.full((length, length), -torch.inf).triu(1)


def axes_in_front(length):
    return _ones(length).tril()[None, None]


def one_axis_in_front(length):
    return _ones(length).tril()[None]


def no_pairs(length):
    positions = torch.arange(length)
    return positions <= positions


def a_list(length):
    return [[j <= i for j in range(length)] for i in range(length)]


MISTAKES = [
    Mistake(
        "upper_triangle",
        [upper_triangle],
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
        [forbidden_is_true],
        says="True stands where looking is *forbidden*. In this course True means: may look.",
        hints=[
            "What does the first query see with this mask? And the last?",
            "This is the meaning that `nn.MultiheadAttention` gives to a mask; here it is the opposite.",
            "`~mask` turns every entry round.",
        ],
    ),
    Mistake(
        "without_itself",
        [without_itself],
        says="No position may look at itself, so the first one may look at nothing at all. Look at the diagonal.",
        hints=[
            "What does row 0 say?",
            "When the model predicts the token after position i, does it know the token at i?",
            "The diagonal belongs to what is allowed: `j <= i`, or `.tril()` without a number.",
        ],
    ),
    Mistake(
        "one_ahead",
        [one_ahead],
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
        "everybody",
        [everybody],
        says="Everybody may look at everybody: nothing is hidden.",
        hints=[
            "Which entries of the first row should be False?",
            "Something has to depend on whether the key comes after the query.",
            "`.tril()` sets all that is above the diagonal to False.",
        ],
    ),
    Mistake(
        "only_itself",
        [only_itself],
        says="Every position sees itself and nothing else. It may also look at all that came before.",
        hints=[
            "The last position has everything before it. What should its row look like?",
            "j = i is allowed, and so is every smaller j.",
            "Compare with ≤ instead of =, or take a triangle instead of the diagonal.",
        ],
    ),
    Mistake(
        "numbers_instead_of_booleans",
        [numbers_instead_of_booleans, whole_numbers_instead_of_booleans],
        says="The places are right, but the entries are numbers. A mask of this course holds True and False.",
        hints=[
            "Print `mask.dtype`. What is asked for?",
            "`~` and `&`, which come soon, work on booleans.",
            "`dtype=torch.bool` when the table is made, or `.bool()` at the end.",
        ],
    ),
    Mistake(
        "to_be_added_to_the_scores",
        [to_be_added_to_the_scores],
        says=(
            "This is a table to be *added* to the scores, 0 where a query may look and -∞ where not. A mask of True "
            "and False is asked for."
        ),
        hints=[
            "Print `mask.dtype`. What is asked for?",
            "True where this table holds 0, False where it holds -∞.",
            "Make a table of booleans and keep its lower triangle.",
        ],
    ),
    Mistake(
        "axes_in_front",
        [axes_in_front, one_axis_in_front],
        says="The table is right, but it has axes in front. Broadcasting adds those where they are needed.",
        hints=[
            "Which shape is asked for?",
            "A table of shape (n, n) fits scores of shape (batch, n_heads, n, n) as it is.",
            "Leave out what adds the axes: `[None]`, `unsqueeze` or `view`.",
        ],
    ),
    Mistake(
        "no_pairs",
        [no_pairs],
        says=(
            "Every position is compared with itself only: one row of entries, and all of them True. Every query has to "
            "be compared with every key."
        ),
        hints=[
            "What shape does the comparison have? Which is asked for?",
            "(n, 1) against (1, n) is broadcast to (n, n).",
            "The queries go down the rows, `positions[:, None]`, the keys along the columns, `positions[None, :]`.",
        ],
    ),
    Mistake(
        "a_list",
        [a_list],
        says="The entries are right, but this is a list of lists. A tensor is asked for.",
        hints=[
            "What does `type(mask)` say?",
            "One function of torch makes a tensor of a list.",
            "`torch.tensor(...)` round it.",
        ],
    ),
]

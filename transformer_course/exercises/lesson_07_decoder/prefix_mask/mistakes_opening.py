"""What goes wrong with what a prefix mask opens: the prefix, the causal half, and how the two are joined."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_07_decoder.prefix_mask.answer import STEPS

MISTAKES = [
    Mistake(
        "only_within_the_prefix",
        STEPS.but(
            in_the_prefix=lambda in_the_prefix, queries, lengths: in_the_prefix & (queries < lengths),
            not_later=lambda not_later, keys, lengths: not_later & (keys >= lengths),
        ),
        does="the prefix is open to its own queries alone",
        says=(
            "The prefix sees itself, and what is generated sees itself, but not the prefix: there is nothing to "
            "translate from."
        ),
        hints=["What should the last position see, and what does its row say?"],
    ),
    Mistake(
        "joined_by_the_word",
        STEPS.but(mask=lambda in_the_prefix, not_later: in_the_prefix or not_later),
        does="a whole tensor is asked whether it is true, as by the words `or`, `and` and `not`",
        says=(
            "The words `or`, `and` and `not` ask whether a whole tensor is True, which torch refuses to answer. What "
            "is meant is an or for each entry."
        ),
        hints=["What does the error message say?"],
    ),
]

"""What goes wrong when a pair becomes one token."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_tokenizers.merge.answer import STEPS


def only_the_first(tokens, pair):
    """Find the pair at its first place alone."""
    first = next((i for i in range(len(tokens)) if tokens[i : i + 2] == [*pair]), None)
    return lambda i: i == first


MISTAKES = [
    Mistake(
        "only_the_first",
        STEPS.but(found=only_the_first),
        does="only the first occurrence of the pair is merged",
        hints=["How often does the pair occur in the text?"],
    ),
    Mistake(
        "without_the_last",
        STEPS.but(merged=lambda starts, written, tokens: [written(i) for i in starts if i < len(tokens) - 1]),
        does="the last token gets lost if it is not part of a pair",
        says="{does}. Look at where the loop ends.",
        hints=["With the tokens 1, 2, 3 and the pair (1, 2): what becomes of 3?"],
    ),
    Mistake(
        "in_either_order",
        STEPS.but(found=lambda tokens, pair: lambda i: sorted(tokens[i : i + 2]) == sorted(pair)),
        does="the pair is also found in the other order",
        says="{does}. `th` and `ht` are two pairs, and become two tokens.",
        hints=["What should the pair (1, 2) make of the tokens 2, 1?"],
    ),
]

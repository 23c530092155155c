"""What goes wrong when a pair becomes one token."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_tokenizers.merge.answer import STEPS, merge


def from_the_right(tokens, pair, new_id):
    return merge(tokens[::-1], pair[::-1], new_id)[::-1]


def only_the_first(tokens, pair, new_id):
    for i in range(len(tokens) - 1):
        if tokens[i : i + 2] == [*pair]:
            return [*tokens[:i], new_id, *tokens[i + 2 :]]
    return list(tokens)


def without_the_last(tokens, pair, new_id):
    merged, i = [], 0
    while i < len(tokens) - 1:
        is_pair = tokens[i : i + 2] == [*pair]
        merged.append(new_id if is_pair else tokens[i])
        i += 2 if is_pair else 1
    return merged


def until_nothing_is_left(tokens, pair, new_id):
    while [*pair] in [tokens[i : i + 2] for i in range(len(tokens) - 1)]:
        tokens = merge(tokens, pair, pair[0])
    return [new_id if token == pair[0] else token for token in tokens]


MISTAKES = [
    Mistake(
        "both_are_kept",
        STEPS.but(used=lambda: lambda i: 1),
        does="the second token of a pair is kept, or used once more",
        says="The text gets no shorter: {does}. The new token stands for both.",
        hints=["With the tokens 1, 2, 3 and the pair (1, 2): how long should the result be?"],
    ),
    Mistake(
        "from_the_right",
        from_the_right,
        says=(
            "Three equal tokens in a row, and a pair of two of them: which two are merged? Here it is the last two. "
            "The text should be read from left to right."
        ),
        hints=[
            "Merge the pair (1, 1) in the tokens 1, 1, 1 by hand, from left to right.",
            "The first 1 and the second become the new token. The third is left.",
            "Go through the positions with `while i < len(tokens)`, from 0 on.",
        ],
    ),
    Mistake(
        "only_the_first",
        only_the_first,
        says="One occurrence of the pair is merged, the first. All should be.",
        hints=[
            "How often does the pair occur in the text?",
            "What happens after the first merge? The function should go on.",
            "A loop over all positions, which goes two further after a pair and else one.",
        ],
    ),
    Mistake(
        "without_the_last",
        without_the_last,
        says="The last token gets lost, if it is not part of a pair. Look at where the loop ends.",
        hints=[
            "With the tokens 1, 2, 3 and the pair (1, 2): what becomes of 3?",
            "The last position has no next token, but its own token has to be kept.",
            "`while i < len(tokens)`; a slice that goes over the end is only shorter.",
        ],
    ),
    Mistake(
        "in_either_order",
        STEPS.but(found=lambda tokens, pair: lambda i: sorted(tokens[i : i + 2]) == sorted(pair)),
        does="the pair is also found in the other order",
        says="{does}. `th` and `ht` are two pairs, and become two tokens.",
        hints=["What should the pair (1, 2) make of the tokens 2, 1?"],
    ),
    Mistake(
        "every_such_token",
        STEPS.but(found=lambda tokens, pair: lambda i: tokens[i] in pair, used=lambda: lambda i: 1).attempt,
        says="Each token that occurs in the pair is replaced, wherever it stands. Only both in a row make a pair.",
        hints=[
            "What should the pair (1, 2) make of the tokens 1, 3, 2?",
            "Compare two neighbours at once.",
            "`tokens[i : i + 2] == [*pair]` compares the token at i and the next with the pair.",
        ],
    ),
    Mistake(
        "runs_become_one",
        until_nothing_is_left,
        says="What is left of a merge is merged again, so that runs become one token. Each merge takes *two* tokens.",
        hints=[
            "What should the pair (1, 1) make of 1, 1, 1, 1?",
            "Two new tokens: the first two make one, the last two another.",
            "Go through the text once.",
        ],
    ),
]

"""Merge a pair of tokens into one."""

import torch

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def merge(tokens: list[int], pair: tuple[int, int], new_id: int) -> list[int]:
    """Return the tokens with new_id in place of each occurrence of the pair, from left to right."""
    merged, i = [], 0
    while i < len(tokens):
        if tokens[i : i + 2] == [*pair]:
            merged.append(new_id)
            i += 2
        else:
            merged.append(tokens[i])
            i += 1
    return merged


def found(tokens, pair):
    """compare tokens i and i + 1 with the pair → the comparison with the pair: True where the pair begins"""
    return lambda i: tokens[i : i + 2] == [*pair]


def used(found):
    """advance by two tokens after a pair and by one otherwise → the step size: 2 after a pair, else 1"""
    return lambda i: 2 if found(i) else 1


def starts(tokens, used):
    """step through the tokens from left to right → the start positions of the new tokens"""
    positions, i = [], 0
    while i < len(tokens):
        positions.append(i)
        i += used(i)
    return positions


def written(tokens, found, new_id):
    """replace a pair with the new token → the new token at position i: new_id for a pair, else the old token"""
    return lambda i: new_id if found(i) else tokens[i]


def merged(starts, written):
    """collect the new tokens → the tokens after the merge"""
    return [written(i) for i in starts]


STEPS = InSteps(found, used, starts, written, merged, reference=merge)


def merge_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(tokens, pair, new_id, shows):
        return Case({"tokens": tokens, "pair": pair, "new_id": new_id}, shows)

    some = torch.randint(3, (40,), generator=rng).tolist()
    many = torch.randint(9, (4001,), generator=rng).tolist()
    return [
        case([1, 2, 3], (1, 2), 9, "the pair at the beginning"),
        case([3, 1, 2], (1, 2), 9, "the pair at the end"),
        case([2, 1, 3, 1, 2, 2, 1, 2], (1, 2), 7, "the pair twice, and its tokens in other orders"),
        case([4, 4, 4], (4, 4), 5, "three equal tokens, and a pair of two"),
        case([0, 4, 4, 4, 4, 4, 0, 4, 4, 4, 4], (4, 4), 6, "longer runs of equal tokens"),
        case([5, 3], (1, 2), 8, "no such pair"),
        case([7], (7, 7), 8, "a single token"),
        case(some, (2, 0), 3, "40 tokens from a vocabulary of 3"),
        case(some, (1, 1), 3, "40 tokens from a vocabulary of 3, and a pair of equal tokens"),
        case(many, (8, 3), 9, "4,001 tokens"),
    ]


def only_the_first(tokens, found):
    """Return the test for the first occurrence of the pair."""
    first = next((i for i in range(len(tokens)) if found(i)), None)
    return lambda i: i == first


def from_the_right(tokens, found, new_id):
    result, i = [], len(tokens) - 1
    while i >= 0:
        is_pair = i > 0 and found(i - 1)
        result.append(new_id if is_pair else tokens[i])
        i -= 2 if is_pair else 1
    return result[::-1]


MISTAKES = [
    Mistake(
        "only_the_first",
        STEPS.but(found=only_the_first),
        summary="you merge only the first occurrence of the pair",
        message=(
            "{summary}: with the pair (1, 2) and the new ID 9, the tokens 1, 2, 1, 2 become 9, 1, 2 instead of 9, 9. "
            "Does your loop end too early?"
        ),
        hints=["How many times does the pair (1, 2) occur in 1, 2, 3, 1, 2?"],
    ),
    Mistake(
        "without_the_last",
        STEPS.but(merged=lambda starts, written, tokens: [written(i) for i in starts if i < len(tokens) - 1]),
        summary="you lose the last token unless it is part of a pair",
        message="{summary}: with the pair (1, 2), the tokens 1, 2, 3 lose the 3. Where does your loop end?",
        hints=["At which position is the 3 of the tokens 1, 2, 3? Does your loop reach that position?"],
    ),
    Mistake(
        "in_either_order",
        STEPS.but(found=lambda tokens, pair: lambda i: sorted(tokens[i : i + 2]) == sorted(pair)),
        summary="you also merge the pair in reverse order",
        message=(
            "{summary}, so ht would become the same token as th. What should the pair (1, 2) do to the tokens 2, 1?"
        ),
        hints=["Which tokens does your comparison accept at i, and which at i + 1?"],
    ),
    Mistake(
        "from_right_to_left",
        STEPS.but(merged=from_the_right),
        summary="you merge from right to left",
        message=(
            "{summary}: with the pair (4, 4) and the new ID 5, the tokens 4, 4, 4 become 4, 5 instead of 5, 4. At "
            "which end should you start?"
        ),
        hints=["In 4, 4, 4, which two tokens form the first pair if you read from left to right?"],
    ),
    Mistake(
        "not_at_the_end",
        STEPS.but(found=lambda found, tokens: lambda i: found(i) and i < len(tokens) - 2),
        summary="you don't merge a pair at the end of the text",
        message="{summary}: with the pair (1, 2), the tokens 3, 1, 2 stay as they are. Where does your loop end?",
        hints=["At which index does the last pair of n tokens begin?"],
    ),
    Mistake(
        "second_token_is_enough",
        STEPS.but(found=lambda tokens, pair: lambda i: i + 1 < len(tokens) and tokens[i + 1] == pair[1]),
        summary="you compare only the second token of the pair",
        message="{summary}: with the pair (1, 2), you also merge 3, 2. Which tokens should you compare with the pair?",
        hints=["What should the pair (1, 2) do to the tokens 3, 2?"],
    ),
    Mistake(
        "first_token_is_enough",
        STEPS.but(found=lambda tokens, pair: lambda i: i + 1 < len(tokens) and tokens[i] == pair[0]),
        summary="you compare only the first token of the pair",
        message="{summary}: with the pair (1, 2), you also merge 1, 3. Which tokens should you compare with the pair?",
        hints=["What should the pair (1, 2) do to the tokens 1, 3?"],
    ),
    Mistake(
        "never_equal",
        STEPS.but(found=lambda: lambda i: False),
        summary="you never find the pair",
        message=(
            "You return `tokens` unchanged, so your comparison with `pair` is never True. In Python, a list is never "
            "equal to a tuple: what is `[1, 2] == (1, 2)`?"
        ),
        hints=["`tokens[i : i + 2]` is a list. Which type does `pair` have?"],
    ),
]


EXERCISE = Exercise(
    reference=merge,
    steps=STEPS,
    cases=merge_cases,
    points=3,
    verified=(
        "Every occurrence of the pair becomes one token, from left to right, and all other tokens stay as they are."
    ),
    hints=[
        "Merge the pair (4, 4) in the tokens 4, 4, 4 by hand, from left to right. What is left?",
        "Go through the text with a position i, and append to a new list. How far does i move after a pair, and how "
        "far after any other token? A `for` loop can't skip a token, but a `while` loop can.",
        "`tokens[i : i + 2] == [*pair]` is right at the last position too, where the slice has only one token.",
    ],
    messages={
        "always_one_written: tokens[i]": Wording(
            "{summary}: you keep the first token of a pair and skip the second, so with the pair (1, 2), the tokens "
            "1, 2, 3 become 1, 3. What should replace the pair?",
            summary="you never write `new_id`",
            hints=["Where do you use `new_id`?"],
        ),
        "always_one_used: 1": Wording(
            "{summary}: with the pair (1, 2) and the new ID 9, the tokens 1, 2, 3 become 9, 2, 3. Which token comes "
            "next after a merged pair?",
            summary="you advance by one token after a pair instead of two",
        ),
        "always_one_used: 2": Wording(
            "{summary}: with the pair (1, 2), the tokens 3, 4, 5 become 3, 5. How far should you advance if there is "
            "no pair?",
            summary="you advance by two tokens even where there is no pair",
        ),
        "call_left_out_merged": Wording(
            "{summary}: without a pair, the tokens 7, 8, 9 become 0, 1, 2. Which token is at each of these positions?",
            summary="you return the positions of the tokens instead of the tokens",
        ),
    },
    mistakes=MISTAKES,
)

"""Transfer task: the mask of a prefix language model, bidirectional in the prefix and causal after it."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def prefix_mask(prefix_lengths: Int[Tensor, " batch"], length: int) -> Bool[Tensor, "batch 1 length length"]:
    """Let every position attend to its sentence's prefix, to earlier positions and to itself."""
    positions = torch.arange(length)
    in_the_prefix = positions < prefix_lengths[:, None, None, None]  # depends only on the key: (batch, 1, 1, length)
    not_later = positions <= positions[:, None]  # key and query: (length, length)
    return in_the_prefix | not_later


def keys(length):
    """number the keys from 0 → the row of key positions"""
    return torch.arange(length)


def queries(length):
    """number the queries from 0, in a column → the column of query positions"""
    return torch.arange(length)[:, None]


def lengths(prefix_lengths):
    """add dimensions for heads, queries and keys to the prefix lengths → the prefix lengths, (batch, 1, 1, 1)"""
    return prefix_lengths[:, None, None, None]


def in_the_prefix(keys, lengths):
    """find the keys inside the prefix → the mask of the prefix"""
    return keys < lengths


def not_later(keys, queries):
    """find the keys that are not after the query → the causal mask"""
    return keys <= queries


def mask(in_the_prefix, not_later):
    """combine the two masks with *or* → the prefix mask: inside the prefix, or not after the query"""
    return in_the_prefix | not_later


STEPS = InSteps(keys, queries, lengths, in_the_prefix, not_later, mask, reference=prefix_mask)


def prefix_mask_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def lengths(n: int, length: int) -> Tensor:
        """Draw lengths. The first is short, so that using the first row's length for all rows fails."""
        drawn = torch.randint(4, length - 1, (n,), generator=rng)
        drawn[0] = 3
        return drawn

    return [
        Case({"prefix_lengths": torch.tensor([2]), "length": 4}, "one sentence of 4, with a prefix of 2"),
        Case({"prefix_lengths": torch.tensor([3, 1]), "length": 5}, "2 sentences of 5, with prefixes of 3 and 1"),
        Case({"prefix_lengths": torch.tensor([2, 4]), "length": 5}, "2 sentences of 5, with prefixes of 2 and 4"),
        Case(
            {"prefix_lengths": torch.tensor([0, 4, 2]), "length": 4},
            "3 sentences of 4: no prefix, only prefix, a prefix of 2",
        ),
        Case({"prefix_lengths": lengths(7, 7), "length": 7}, "as many sentences as positions"),
        Case({"prefix_lengths": lengths(5, 13), "length": 13}, "5 sentences of 13"),
        Case({"prefix_lengths": lengths(11, 29), "length": 29}, "11 sentences of 29"),
    ]


MISTAKES = [
    Mistake(
        "upper_triangle",
        STEPS.but(not_later=lambda keys, queries: keys >= queries),
        STEPS.but(not_later=lambda keys, queries: keys > queries),
        summary="your causal mask is flipped: it allows later keys and hides earlier ones",
        message=(
            "After the prefix, your mask is flipped: it allows the keys after each query and hides the keys before "
            "it. Which keys should the last query attend to?"
        ),
        hints=[
            "For 4 positions and a prefix of 1, which entries of the third row should be True? Which ones are True in "
            "your mask?",
        ],
    ),
    Mistake(
        "no_axis_for_the_heads",
        STEPS.but(lengths=lambda prefix_lengths: prefix_lengths[:, None, None]),
        summary="you leave out the dimension for the heads",
        message=(
            "{summary}, so the batch dimension of your mask lines up with the heads of the scores, which have shape "
            "(batch, n_heads, length, length). What shape should the mask have?"
        ),
        hints=[
            "With 2 sentences and 4 heads, which dimension of the scores does the 2 line up with in a mask of shape "
            "(2, 5, 5)?",
        ],
    ),
    Mistake(
        "lengths_meet_positions",
        STEPS.but(lengths=lambda prefix_lengths: prefix_lengths[:, None]),
        STEPS.but(lengths=lambda prefix_lengths: prefix_lengths, mask=lambda mask: mask[None, None]),
        summary="you broadcast the prefix lengths along the positions instead of the batch",
        message=(
            "{summary}, so your code runs only if the batch size is 1 or equals the number of positions. What shape "
            "should the lengths have?"
        ),
        hints=["What is the shape of your lengths, and which dimension of the mask should they line up with?"],
    ),
]

EXERCISE = Exercise(
    reference=prefix_mask,
    steps=STEPS,
    cases=prefix_mask_cases,
    points=2,
    stretch=True,
    verified="Every position attends to the whole prefix, and positions after the prefix attend to no later position.",
    hints=[
        "Draw the table for 4 positions and a prefix of 2. Which entries are True here and False in a causal mask?",
        "A query may attend to a key if the key is inside the prefix *or* not after the query.",
        "Whether a key is inside the prefix depends on the key alone: for one sentence, `torch.arange(length) < "
        "prefix_length`. For a batch, give the lengths the shape (batch, 1, 1, 1).",
        "`prefix_lengths[:, None, None, None]` has that shape. Join the two conditions with `|`.",
    ],
    messages={
        "comparison_in_the_prefix: (keys) <= (lengths)": Wording(
            "{summary}, so the prefix is one key too long: with a prefix of 2, the first query also attends to key 2. "
            "Which key is the last one in that prefix?",
            summary="you compare the keys with the prefix length using `<=` instead of `<`",
            hints=["Keys are counted from 0. Which keys are inside a prefix of 2 tokens?"],
        ),
        "comparison_in_the_prefix: (keys) > (lengths)": Wording(
            "{summary}, so you allow the keys *after* the prefix instead of the keys inside it. Which keys are inside "
            "a prefix of 2 tokens?",
            summary="your comparison of the keys with the prefix length is inverted",
            hints=["Is key 0 inside a prefix of 2 tokens? What does your comparison return for it?"],
        ),
        "comparison_in_the_prefix: (keys) >= (lengths)": Wording(
            "{summary}, so you allow the keys *after* the prefix instead of the keys inside it. Which keys are inside "
            "a prefix of 2 tokens?",
            summary="your comparison of the keys with the prefix length is inverted",
            hints=["Is key 0 inside a prefix of 2 tokens? What does your comparison return for it?"],
        ),
        "comparison_not_later: (keys) < (queries)": Wording(
            "{summary}, so a position after the prefix can't attend to itself. With a prefix of 2, which keys should "
            "query 2 attend to?",
            summary="you allow only the keys before the query, not the query's own position",
            hints=["In a causal mask, is the diagonal True or False?"],
        ),
        "transposed_in_the_prefix": Wording(
            "{summary}, so the *queries* in the prefix attend to all keys. Which dimension of the mask corresponds to "
            "the keys?",
            summary="you line up the prefix with the queries instead of the keys",
            hints=["With a prefix of 2, should the first two rows or the first two columns of the mask be True?"],
        ),
        "operator_mask: (in_the_prefix) & (not_later)": Wording(
            "You combine the prefix and the causal mask with *and*, so a query attends to a key only if both masks "
            "allow it: the first query can't attend to the rest of the prefix. Is it enough if one of the masks allows "
            "a key?",
            summary="you combine the prefix and the causal mask with *and* instead of *or*",
            hints=["With a prefix of 2, may query 0 attend to key 1? May query 3 attend to key 3?"],
        ),
        "first_for_all_mask": Wording(
            "{summary}: with the prefix lengths 3 and 1, the second sentence also gets a prefix of 3. Where do you "
            "lose the batch dimension?",
            summary="you use the mask of the first sentence for all sentences",
            hints=[
                "With the prefix lengths 3 and 1, how many keys may the first query of the second sentence attend to?"
            ],
        ),
        "part_left_out_mask: in_the_prefix": Wording(
            "{summary}, so positions after the prefix can't attend to each other. Which other keys may a query attend "
            "to?",
            summary="you return only the mask of the prefix",
            hints=["With a prefix of 2, which keys should the last of 4 queries attend to?"],
        ),
        "part_left_out_mask: not_later": Wording(
            "{summary}, so the first query can't attend to the rest of the prefix. Which other keys may a query "
            "attend to?",
            summary="you return only the causal mask",
            hints=["With a prefix of 2, which keys should the first of 4 queries attend to?"],
        ),
        "range_keys: torch.arange(1, length + 1)": Wording(
            "You number the keys from 1, so a prefix of 2 contains only one key, and a query after the prefix can't "
            "attend to its own position. What number should the first key have?",
            summary="you number the keys from 1 instead of 0",
            hints=["With a prefix of 2, which of your key numbers are below the prefix length?"],
        ),
    },
    mistakes=MISTAKES,
)

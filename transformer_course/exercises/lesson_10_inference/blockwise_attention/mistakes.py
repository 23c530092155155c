"""What goes wrong in the blocks, in the running maximum and in the two running sums."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_10_inference.blockwise_attention.answer import STEPS


def divides_in_every_block(queries, keys, values, block):
    largest = torch.full_like(queries[..., :1], -torch.inf)
    total, mixture = torch.zeros(()), torch.zeros(())
    for k, v in zip(keys.split(block, dim=-2), values.split(block, dim=-2), strict=True):
        scores = queries @ k.mT / queries.shape[-1] ** 0.5
        new_largest = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
        correction, exponentials = torch.exp(largest - new_largest), torch.exp(scores - new_largest)
        total = correction * total + exponentials.sum(dim=-1, keepdim=True)
        mixture = (correction * mixture + exponentials @ v) / total
        largest = new_largest
    return mixture


def block_weights():
    return lambda scores, new_largest: scores.softmax(dim=-1)


MISTAKES = [
    Mistake(
        "all_keys_at_once",
        STEPS.but(block=lambda keys: keys.shape[-2]),
        does="all the keys are used at once",
        says=(
            "The numbers are right, but somewhere the scores of a query with *all* keys are held at once, and with "
            "many keys that is what takes the memory."
        ),
        hints=["What is the largest tensor that is made for 512 keys, and should it depend on their number?"],
    ),
    Mistake(
        "last_block_left_out",
        STEPS.but(starts=lambda keys, block: range(0, keys.shape[-2] // block * block, block)),
        STEPS.but(starts=lambda starts: starts[:-1]),
        does="the last block is left out",
        says="{does}, or is left out where it is shorter than the others.",
        hints=["5 keys in blocks of 2: how many blocks are there?"],
    ),
    Mistake(
        "cuts_the_batch",
        STEPS.but(
            block_keys=lambda keys, block: lambda start: keys[start : start + block],
            block_values=lambda values, block: lambda start: values[start : start + block],
        ),
        does="the axis that is cut into blocks is counted from the front",
        says="{does}: with another number of axes in front, something else is cut than the keys.",
        hints=["Of keys of shape (2, 3, 11, 6), what does `keys[0:4]` hold?"],
    ),
    Mistake(
        "sums_never_corrected",
        STEPS.but(correction=lambda: lambda largest, new_largest: torch.ones_like(new_largest)),
        does="the sums so far are not brought to the new maximum",
        says=(
            "Where a block brings a larger score, the sums of the blocks before it still belong to the old maximum. "
            "Either they are not corrected, or the correction is computed when the old maximum is gone."
        ),
        hints=[
            "In which case does it go wrong: where the first block holds the largest score, or where a later one does?"
        ],
    ),
    Mistake(
        "only_the_last_block",
        STEPS.but(
            new_largest=lambda: lambda largest, in_block: in_block,
            correction=lambda: lambda largest, new_largest: torch.zeros_like(new_largest),
        ),
        STEPS.but(correction=lambda: lambda largest, new_largest: torch.zeros_like(new_largest)),
        does="only the last block counts, and what was summed before it is lost",
        says=(
            "{does}. Look at what the sums so far are multiplied by: it is 0 where the old maximum is still −∞. Is the "
            "new maximum kept for the next block?"
        ),
        hints=["What is `largest` when the second block begins?"],
    ),
    Mistake(
        "nan_in_the_first_block",
        STEPS.but(correction=lambda: lambda largest, new_largest: torch.exp(new_largest - largest)),
        does="every number becomes nan in the first block",
        says=(
            "{does}. The old maximum is −∞ there: `exp` of −∞ is 0, but `exp` of ∞ is ∞, and ∞ · 0 and ∞ − ∞ are nan. "
            "Look at where the old maximum is used, and with which sign."
        ),
        hints=["In the first block, what should the sums so far be multiplied by, and what does your code give?"],
    ),
    Mistake(
        "maximum_of_the_block",
        STEPS.but(new_largest=lambda: lambda largest, in_block: in_block),
        does="the maximum is that of the newest block, not of all so far",
        says=(
            "Nearly: the maximum is that of the newest block, even where an earlier one had a larger score. Then the "
            "correction is above 1, and overflows for large scores."
        ),
        hints=["In which direction may the maximum change from block to block?"],
    ),
    Mistake(
        "begins_at_zero",
        STEPS.but(start=lambda start: (torch.zeros_like(start[0]), *start[1:])),
        does="the maximum begins at 0, not at −∞",
        says=(
            "The maximum begins at 0. Where all the scores of a query are far below 0, all its exponentials are 0, and "
            "0/0 is nan."
        ),
        hints=["What is the largest of the scores −1000 and −900, and what is `largest` after that block?"],
    ),
    Mistake(
        "averages_the_blocks",
        STEPS.but(
            exponentials=block_weights,
            correction=lambda: lambda largest, new_largest: torch.ones_like(new_largest),
        ),
        STEPS.but(
            exponentials=block_weights,
            correction=lambda: lambda largest, new_largest: torch.ones_like(new_largest),
            output=lambda sums: sums[0],
        ),
        does="a softmax is taken in each block, as if all blocks were equally important",
        says=(
            "A softmax is taken in each block by itself, so every block counts as much as any other. A block of small "
            "scores should count for little."
        ),
        hints=["If one block holds all the large scores, how much should the others contribute?"],
    ),
    Mistake(
        "divides_in_every_block",
        divides_in_every_block,
        says=(
            "The weighted sum is divided by the sum of the exponentials in every block, and the next block adds to "
            "the quotient as if it had not been."
        ),
        hints=[
            "After the first block, what does the running sum of the values hold: a sum or an average?",
            "A sum can be corrected and added to. How often should it be divided?",
            "Divide once, after the last block.",
        ],
    ),
]

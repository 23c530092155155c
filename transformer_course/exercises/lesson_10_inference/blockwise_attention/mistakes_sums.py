"""What goes wrong in the running maximum and in the two running sums."""

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


def plain_total():
    return lambda total, correction, exponentials: total + exponentials.sum(dim=-1, keepdim=True)


def plain_mixture():
    return lambda mixture, correction, exponentials, values: mixture + exponentials @ values


def block_weights():
    return lambda scores, new_largest: scores.softmax(dim=-1)


MISTAKES = [
    Mistake(
        "sums_never_corrected",
        STEPS.but(correction=lambda: lambda largest, new_largest: torch.ones_like(new_largest)),
        STEPS.but(total=plain_total, mixture=plain_mixture),
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
        "only_the_total_corrected",
        STEPS.but(mixture=plain_mixture),
        does="the weighted sum of the values is not brought to the new maximum",
    ),
    Mistake(
        "only_the_mixture_corrected",
        STEPS.but(total=plain_total),
        does="the sum of the exponentials is not brought to the new maximum",
    ),
    Mistake(
        "corrected_the_other_way",
        STEPS.but(correction=lambda: lambda largest, new_largest: torch.exp(new_largest - largest)),
        STEPS.but(
            correction=lambda: (
                lambda largest, new_largest: torch.exp(new_largest - largest).masked_fill(largest == -torch.inf, 0.0)
            )
        ),
        does="the correction is exp(new maximum − old maximum)",
        says=(
            "The correction has the wrong sign in its exponent: a larger maximum should make the sums so far smaller, "
            "and it makes them larger."
        ),
        hints=["The old sum holds exp(s − old). By what must it be multiplied to hold exp(s − new)?"],
    ),
    Mistake(
        "only_the_last_block",
        STEPS.but(correction=lambda: lambda largest, new_largest: torch.zeros_like(new_largest)),
        STEPS.but(
            total=lambda: lambda total, correction, exponentials: exponentials.sum(dim=-1, keepdim=True),
            mixture=lambda: lambda mixture, correction, exponentials, values: exponentials @ values,
        ),
        STEPS.but(
            new_largest=lambda: lambda largest, in_block: in_block,
            correction=lambda: lambda largest, new_largest: torch.zeros_like(new_largest),
        ),
        does="what earlier blocks brought is lost",
        says=(
            "Only the last block counts. Either each block overwrites the sums, or the correction is 0 because the "
            "maximum so far stays at −∞."
        ),
        hints=["What do the sums hold after the second block?"],
    ),
    Mistake(
        "total_of_the_last_block",
        STEPS.but(total=lambda: lambda total, correction, exponentials: exponentials.sum(dim=-1, keepdim=True)),
        does="the sum of the exponentials is that of the last block alone",
    ),
    Mistake(
        "overflows",
        STEPS.but(new_largest=lambda: lambda largest, in_block: torch.zeros_like(in_block)),
        does="nothing is subtracted from the scores before `exp`",
        says=(
            "Right for ordinary scores. But `exp` of a score above 88 is infinite, and where all are far below 0, all "
            "are 0. Look at what is subtracted from the scores."
        ),
        hints=["What is `torch.exp(torch.tensor(100.0))`? And infinity divided by infinity?"],
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
        "maximum_of_the_first_block",
        STEPS.but(new_largest=lambda: lambda largest, in_block: torch.where(largest == -torch.inf, in_block, largest)),
        does="the maximum is that of the first block",
        says=(
            "The maximum of the first block is subtracted throughout. That is right until a later block has a score "
            "that is larger by 88 or more: then `exp` overflows."
        ),
        hints=["What happens where the scores rise from block to block?"],
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
        "one_maximum_for_all",
        STEPS.but(block_largest=lambda: lambda scores: scores.amax(dim=(-2, -1), keepdim=True)),
        STEPS.but(block_largest=lambda: lambda scores: scores.max()),
        does="one maximum is subtracted from the scores of all queries",
        says=(
            "One maximum serves all queries. Where the scores of one query are far below it, all their exponentials "
            "become 0, and 0/0 is nan."
        ),
        hints=["`scores.max()` without an axis is the largest number of the whole tensor."],
    ),
    Mistake(
        "maximum_over_the_queries",
        STEPS.but(block_largest=lambda: lambda scores: scores.amax(dim=-2, keepdim=True)).attempt,
        STEPS.but(block_largest=lambda: lambda scores: scores.amax(dim=-1)).attempt,
        says=(
            "The maximum has the wrong shape. It should be a column: one number for each query, along the axis of "
            "the keys."
        ),
        hints=[
            "What shape have the scores of a block, and what shape has their maximum?",
            "Along which axis lie the keys of a block? And does the result keep that axis?",
            "`scores.amax(dim=-1, keepdim=True)`.",
        ],
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
        STEPS.but(
            exponentials=lambda: lambda scores, new_largest: scores.softmax(dim=-1) * scores.shape[-1],
            correction=lambda: lambda largest, new_largest: torch.ones_like(new_largest),
        ).attempt,
        does="a softmax is taken in each block, as if all blocks were equally important",
        says=(
            "A softmax is taken in each block by itself, so every block counts as much as any other. A block of small "
            "scores should count for little."
        ),
        hints=["If one block holds all the large scores, how much should the others contribute?"],
    ),
    Mistake(
        "never_divided",
        STEPS.but(output=lambda sums: sums[0]),
        does="the weighted sum of the values is never divided by the sum of the exponentials",
        says="The weighted sum of the values comes out, without the division: the weights do not add up to 1.",
        hints=["With a single key, the output should be its value. Is it?"],
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
    Mistake(
        "added_up_over_the_queries",
        STEPS.but(total=lambda: lambda total, correction, exponentials: correction * total + exponentials.sum()),
        STEPS.but(
            total=lambda: lambda total, correction, exponentials: correction * total + exponentials.sum(dim=-1)
        ).attempt,
        STEPS.but(
            total=lambda: (
                lambda total, correction, exponentials: correction * total + exponentials.sum(dim=-2, keepdim=True)
            )
        ).attempt,
        does="the exponentials are added up along the wrong axes",
    ),
]

"""What goes wrong in the blocks and their scores."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_10_inference.blockwise_attention.answer import STEPS

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
        STEPS.but(
            starts=lambda keys, block: range(0, keys.shape[-2] // block * block, block),
            start=lambda start: (start[0], 0, 0),  # two plain numbers: 0 / 0 crashes where there is no block
        ).attempt,
        does="the last block is left out",
        says="{does}, or is left out where it is shorter than the others.",
        hints=["5 keys in blocks of 2: how many blocks are there?"],
    ),
    Mistake(
        "only_the_first_block",
        STEPS.but(starts=lambda: range(1)),
        STEPS.but(
            block_keys=lambda block_keys: lambda start: block_keys(0),
            block_values=lambda block_values: lambda start: block_values(0),
        ),
        does="only the first block counts",
        says="{does}: all later keys are ignored, or the first block is used again and again.",
        hints=["Does the output change when the last key changes?"],
    ),
    Mistake(
        "one_key_too_many",
        STEPS.but(
            block_keys=lambda keys, block: lambda start: keys[..., start : start + block + 1, :],
            block_values=lambda values, block: lambda start: values[..., start : start + block + 1, :],
        ),
        STEPS.but(
            block_keys=lambda keys, block: lambda start: keys[..., start : start + max(block - 1, 1), :],
            block_values=lambda values, block: lambda start: values[..., start : start + max(block - 1, 1), :],
        ),
        does="a block has one key too many or too few",
        says="{does}, so that some keys count twice, or not at all.",
        hints=["Which keys does `keys[0:3]` hold?"],
    ),
    Mistake(
        "cuts_the_batch",
        STEPS.but(
            block_keys=lambda keys, block: lambda start: keys[start : start + block],
            block_values=lambda values, block: lambda start: values[start : start + block],
        ).attempt,
        STEPS.but(
            block_keys=lambda keys, block: lambda start: keys[:, start : start + block],
            block_values=lambda values, block: lambda start: values[:, start : start + block],
        ).attempt,
        says=(
            "The axis that is cut into blocks is counted from the front: with another number of axes in front, "
            "something else is cut than the keys."
        ),
        hints=[
            "Of keys of shape (2, 3, 11, 6), what does `keys[0:4]` hold?",
            "`...` stands for whatever is in front.",
            "`keys[..., start : start + block, :]`.",
        ],
    ),
    Mistake(
        "another_divisor",
        STEPS.but(divisor=lambda queries: queries.shape[-1]),
        STEPS.but(divisor=lambda values: values.shape[-1] ** 0.5),
        STEPS.but(divisor=lambda block: block**0.5),
        STEPS.but(divisor=lambda keys: keys.shape[-2] ** 0.5).attempt,
        does="the scores are divided by something else than √d_k",
        hints=["How many products are added up in one score?"],
    ),
]

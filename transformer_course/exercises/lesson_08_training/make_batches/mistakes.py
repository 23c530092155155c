"""What goes wrong when pairs are sorted and divided among batches, and when these are padded and masked."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_08_training.make_batches.answer import STEPS

MISTAKES = [
    Mistake(
        "sorted_within_batches",
        STEPS.but(
            groups=lambda pairs, starts, batch_size: [
                sorted(pairs[start : start + batch_size], key=lambda pair: len(pair[0])) for start in starts
            ]
        ),
        does="pairs are sorted within each batch, and not before they are divided among batches",
        says=(
            "The list is cut first, and each batch is sorted by itself. That saves no padding: which sentences share "
            "a batch was decided before."
        ),
        hints=["Look at the lengths in the first batch, and in the last."],
    ),
    Mistake(
        "longest_first",
        STEPS.but(order=lambda lengths: sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True)),
        STEPS.but(order=lambda order: order[::-1]),
        does="the longest source comes first",
        says="{does}. The shortest should.",
        hints=["Print the lengths of the sources, batch by batch."],
    ),
    Mistake(
        "sorted_by_the_target",
        STEPS.but(lengths=lambda pairs: [len(target) for _, target in pairs]),
        does="the pairs are sorted by the length of the *target*",
        says="The pairs are sorted by the length of their *target*. Look at which of the two is measured.",
        hints=["Print the lengths of the sources, batch by batch. Do they rise?"],
    ),
    Mistake(
        "last_batch_dropped",
        STEPS.but(starts=lambda ordered, batch_size: range(0, len(ordered) - batch_size + 1, batch_size)),
        does="the last batch is left out where it is not full",
        says="Some pairs are in no batch: the last one is left out where it is not full. And these are the longest.",
        hints=["How many pairs are in all batches together?"],
    ),
    Mistake(
        "as_wide_as_the_longest_of_all",
        STEPS.but(width=lambda pairs: lambda group, side: max(len(pair[side]) for pair in pairs)),
        does="all batches are padded to the longest sequence of *all* pairs",
        says=(
            "Every batch is as wide as the longest sequence of *all* the pairs. Batches of short sentences are then "
            "mostly padding, and sorting was in vain."
        ),
        hints=["How wide should a batch be whose sources have 1 and 2 tokens?"],
    ),
    Mistake(
        "one_width_for_both_sides",
        STEPS.but(width=lambda: lambda group, side: max(max(map(len, pair)) for pair in group)),
        does="source and target of a batch are padded to one common width",
        says="Source and target are padded to one common width. Each side has its own longest sequence.",
        hints=["What shapes should the source and the target of a batch have, if they have 2 tokens and 3?"],
    ),
    Mistake(
        "one_width_for_everything",
        STEPS.but(width=lambda pairs: lambda group, side: max(len(ids) for pair in pairs for ids in pair)),
        does="all sources and all targets are padded to one width",
        says="{does}, that of the longest sequence of all. Each batch, and each side of it, has its own longest one.",
        hints=["How wide should a batch be whose sources have 1 and 2 tokens, and whose targets have 3?"],
    ),
    Mistake(
        "wide_as_the_last",
        STEPS.but(width=lambda: lambda group, side: len(group[-1][side])),
        does="a side is as wide as the last pair of the batch, not as the longest",
        says=(
            "A side is as wide as the *last* pair of the batch. That is right for sources, which are sorted, but the "
            "targets are not."
        ),
        hints=["Which target of the batch is the longest?"],
    ),
    Mistake(
        "padding_in_front",
        STEPS.but(filled=lambda pad_id: lambda ids, width: [pad_id] * (width - len(ids)) + ids),
        does="the padding stands in front of the tokens",
        says="The padding stands *in front*. Then bos and the first words would be at another position in each row.",
        hints=["Where in each row is the first token?"],
    ),
    Mistake(
        "padded_with_zero",
        STEPS.but(filled=lambda: lambda ids, width: ids + [0] * (width - len(ids))),
        does="0 is appended, whatever `pad_id` is",
        says="What is appended is 0, whatever `pad_id` is. Not every vocabulary has its padding at 0.",
        hints=["Does `pad_id` occur where the sequences are filled up?"],
    ),
    Mistake(
        "mask_compares_with_zero",
        STEPS.but(real=lambda sources: [source != 0 for source in sources]),
        does="the mask hides token 0, whatever `pad_id` is",
        says="{does}. Not every vocabulary has its padding at 0.",
        hints=["In one case the padding is token 7. What does the mask say there?"],
    ),
    Mistake(
        "mask_without_axes",
        STEPS.but(masks=lambda real: real),
        STEPS.but(masks=lambda real: [mask[:, None, :] for mask in real]).attempt,
        does="the mask does not have the axes (batch, 1, 1, n_source)",
        says=(
            "The entries of the mask are right, its axes are not: it should be (batch, 1, 1, n_source), so that it "
            "fits scores of (batch, n_heads, n_query, n_key)."
        ),
        hints=["Print the shape of the mask."],
    ),
]

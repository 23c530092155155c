"""What goes wrong when pairs are sorted and divided among batches."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_08_training.make_batches.answer import STEPS, make_batches


def in_the_order_of(key):
    """Make the change that sorts whole pairs by a key."""
    return STEPS.but(order=lambda pairs: sorted(range(len(pairs)), key=lambda i: key(pairs[i])))


def as_a_generator(pairs, batch_size, pad_id):
    yield from make_batches(pairs, batch_size, pad_id)


MISTAKES = [
    Mistake(
        "not_sorted",
        STEPS.but(order=lambda pairs: list(range(len(pairs)))),
        does="the pairs stay in the order in which they came",
    ),
    Mistake(
        "sorted_within_batches",
        STEPS.but(
            groups=lambda pairs, starts, batch_size: [
                sorted(pairs[start : start + batch_size], key=lambda pair: len(pair[0])) for start in starts
            ]
        ).attempt,
        says=(
            "The list is cut first, and each batch is sorted by itself. That saves no padding: which sentences share "
            "a batch was decided before."
        ),
        hints=[
            "Look at the lengths in the first batch, and in the last.",
            "What must happen first, so that neighbours have similar lengths?",
            "Sort all pairs, then cut.",
        ],
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
        "both_lengths_count",
        STEPS.but(lengths=lambda pairs: [(len(source), len(target)) for source, target in pairs]),
        STEPS.but(lengths=lambda pairs: [len(source) + len(target) for source, target in pairs]),
        STEPS.but(lengths=lambda pairs: [max(len(source), len(target)) for source, target in pairs]),
        does="the length of the target takes part in the order as well",
        says=(
            "The length of the target takes part in the order. That is a sensible order, too, but here the source "
            "decides alone: where sources are equally long, the pairs stay as they came."
        ),
        hints=["Take two pairs whose sources are equally long. Which should come first?"],
    ),
    Mistake(
        "sorted_by_tokens",
        in_the_order_of(lambda pair: pair),
        in_the_order_of(lambda pair: pair[0]),
        does="the pairs are compared token by token, as words in a dictionary are",
    ),
    Mistake(
        "equal_lengths_reordered",
        in_the_order_of(lambda pair: (len(pair[0]), pair)),
        in_the_order_of(lambda pair: (len(pair[0]), pair[0])),
        STEPS.but(order=lambda lengths: sorted(range(len(lengths)), key=lambda i: (lengths[i], -i))),
        does="pairs whose sources are equally long change places",
        says="The lengths rise as they should, but pairs whose sources are *equally* long have changed places.",
        hints=["Take two pairs whose sources are equally long. Which came first, and which comes first now?"],
    ),
    Mistake(
        "sides_sorted_apart",
        STEPS.but(
            ordered=lambda pairs: list(
                zip(
                    sorted((source for source, _ in pairs), key=len),
                    sorted((target for _, target in pairs), key=len),
                    strict=True,
                )
            )
        ).attempt,
        says="Sources and targets are sorted each by themselves, so that they no longer belong together.",
        hints=[
            "Find the shortest source. Which target came with it, and which has it now?",
            "What is sorted should be the pairs.",
            "One call of `sorted`, for the list of pairs.",
        ],
    ),
    Mistake(
        "last_batch_dropped",
        STEPS.but(starts=lambda ordered, batch_size: range(0, len(ordered) - batch_size + 1, batch_size)),
        does="the last batch is left out where it is not full",
        says="Some pairs are in no batch: the last one is left out where it is not full. And these are the longest.",
        hints=["How many pairs are in all batches together?"],
    ),
    Mistake(
        "a_batch_from_every_pair",
        STEPS.but(starts=lambda ordered: range(len(ordered))),
        does="a batch begins at every pair, so that they overlap",
        says="A batch begins at *every* pair, so that the batches overlap. Each pair should come once.",
        hints=["How many pairs are in all batches together?"],
    ),
    Mistake(
        "so_many_batches",
        STEPS.but(
            groups=lambda ordered, batch_size: [
                ordered[start : start + -(-len(ordered) // batch_size)]
                for start in range(0, len(ordered), -(-len(ordered) // batch_size))
            ]
        ).attempt,
        says="`batch_size` is taken for the number of batches. It is the number of pairs in one.",
        hints=[
            "With 3 pairs and a `batch_size` of 1, how many batches should there be?",
            "How many rows does each tensor have?",
            "A batch takes `batch_size` pairs; how many batches that makes depends on the number of pairs.",
        ],
    ),
    Mistake(
        "all_in_one_batch",
        STEPS.but(groups=lambda ordered: [ordered]).attempt,
        says="All pairs are in a single batch, whatever `batch_size` says.",
        hints=[
            "Does `batch_size` occur in the code?",
            "Cut the sorted list into pieces.",
            "`ordered[start : start + batch_size]`, for each `start` at which a batch begins.",
        ],
    ),
    Mistake(
        "first_batch_only",
        STEPS.but(batches=lambda batches: batches[:1]),
        STEPS.but(batches=lambda batches: batches[0]).attempt,
        does="only the first batch is returned",
        hints=["How many batches should there be for 3 pairs, 2 at a time?"],
    ),
    Mistake(
        "a_generator",
        as_a_generator,
        says="This is a generator. A list is wanted: training shuffles the batches, and needs all of them for that.",
        hints=[
            "What does `type(make_batches(pairs, 2, 0))` say?",
            "`yield` makes a generator of a function.",
            "Append each batch to a list, and return the list.",
        ],
    ),
]

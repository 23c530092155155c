"""What goes wrong when pairs are sorted and divided among batches."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_08_training.make_batches.answer import STEPS, make_batches


def as_a_generator(pairs, batch_size, pad_id):
    yield from make_batches(pairs, batch_size, pad_id)


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
        "sides_sorted_apart",
        STEPS.but(
            ordered=lambda pairs: list(
                zip(
                    sorted((source for source, _ in pairs), key=len),
                    sorted((target for _, target in pairs), key=len),
                    strict=True,
                )
            )
        ),
        does="sources and targets are sorted each by themselves, so that they no longer belong together",
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

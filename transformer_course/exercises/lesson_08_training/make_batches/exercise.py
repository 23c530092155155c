"""From lists of ids to batches: pairs of similar length together, padded, with the mask of the source."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_08_training.make_batches.answer import STEPS, make_batches
from transformer_course.exercises.lesson_08_training.make_batches.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case


def make_batches_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def draw(length: int, pad_id: int) -> list[int]:
        ids = torch.randint(1 if pad_id == 0 else 0, 29, (length,), generator=rng)
        return (ids + (ids >= pad_id) * (pad_id > 0)).tolist()  # every token but the padding

    def case(lengths: list[tuple[int, int]], batch_size: int, pad_id: int, shows: str) -> Case:
        pairs = [(draw(n, pad_id), draw(m, pad_id)) for n, m in lengths]
        return Case({"pairs": pairs, "batch_size": batch_size, "pad_id": pad_id}, shows)

    many = torch.randint(1, 31, (311, 2), generator=rng).tolist()
    return [
        case([(2, 3), (1, 2)], 2, 0, "2 pairs in one batch"),
        case([(3, 2), (1, 4), (2, 1)], 2, 0, "3 pairs, 2 at a time"),
        case([(2, 2), (2, 5), (1, 3), (2, 1), (1, 4)], 3, 0, "sources of equal length, which stay in their order"),
        case([(4, 1), (2, 6), (3, 2), (1, 5), (5, 3)], 2, 7, "padding that is not token 0"),
        case([(3, 4), (6, 2), (2, 7), (5, 3)], 9, 3, "fewer pairs than a batch may hold"),
        case([(5, 2), (1, 6), (4, 3)], 1, 2, "one pair at a time"),
        case([(n, m) for n, m in many], 16, 11, "311 pairs"),
    ]


MAKE_BATCHES = Exercise(
    reference=make_batches,
    steps=STEPS,
    cases=make_batches_cases,
    points=3,
    verified="Pairs of similar length share a batch, each side is padded to its own longest, and the mask hides what "
    "was added.",
    hints=[
        "Three steps: sort the pairs, cut the list into pieces, and make tensors of each piece.",
        "`sorted(pairs, key=…)` keeps what is equal in its order; the key is the length of `pair[0]`, the source. Then "
        "`ordered[start : start + batch_size]`, for every `start` in `range(0, len(ordered), batch_size)`.",
        "Pad each side by itself: `width = max(map(len, sequences))`, then `ids + [pad_id] * (width - len(ids))` for "
        "each list, and `torch.tensor` of all of them.",
        "The mask is `source != pad_id`, with two more axes in the middle: `[:, None, None, :]`. Or call "
        "`parts.padding_mask(source, pad_id)`.",
    ],
    told={
        "wrong_input_real: targets": (
            "The mask is that of the *target*. The one of the source is wanted: the encoder and the memory need it."
        ),
    },
    mistakes=MISTAKES,
)

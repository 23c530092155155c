"""What goes wrong when projections are cut into heads."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_03_heads.split_heads.answer import STEPS

MISTAKES = [
    Mistake(
        "splits_by_view",
        STEPS.but(heads=lambda x, sizes: x.reshape(len(x), sizes[0], x.shape[1], sizes[1])),
        does="the numbers are dealt out to the heads in the order in which they are stored",
        says=(
            "The shape is right, but the heads got positions instead of features: the first head holds everything "
            "about the first positions, and nothing about the last."
        ),
        hints=["In the first case, head 0 should hold 10, 11 of the first position and 20, 21 of the second."],
    ),
    Mistake(
        "heads_interleaved",
        STEPS.but(cut=lambda x, n_heads, d_k: x.reshape(*x.shape[:2], d_k, n_heads).mT),
        does="the features are dealt out in turn: head 0 gets 0, h, 2h and so on",
        says=(
            "A fair way to cut, but not the one asked for: the features are dealt out in turn, so head 0 holds "
            "features 0, h, 2h … Each head should hold neighbours. A model that was trained with one layout cannot be "
            "used with the other. Look at which of the two new axes comes first."
        ),
        hints=["With 4 features and 2 heads, which features does head 0 hold? It should be 0 and 1."],
    ),
]

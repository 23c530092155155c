"""Attention that leaves out what it may not see."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_04_masks.masked_attention.answer import STEPS, masked_attention
from transformer_course.exercises.lesson_04_masks.masked_attention.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case


def masked_attention_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(leading, n_query, n_key, d_k, d_v, shape, shows):
        mask = torch.rand(*shape, generator=rng) < 0.6
        mask[..., 0] = True  # every row has something to look at,
        mask[..., -1] = False  # and misses something
        inputs = {
            "queries": normal(rng, *leading, n_query, d_k),
            "keys": normal(rng, *leading, n_key, d_k),
            "values": normal(rng, *leading, n_key, d_v),
            "mask": mask,
        }
        return Case(inputs, shows)

    def empty():
        one = case((), 3, 4, 4, 2, (3, 4), "the last query may attend to nothing")
        one.inputs["mask"][-1] = False
        return one

    def zeros():
        one = case((), 2, 3, 2, 1, (2, 3), "a query of zeros: all its scores are 0")
        one.inputs["queries"][0] = 0.0
        one.inputs["mask"][:, 1] = True
        return one

    def all_visible():
        one = case((), 2, 4, 2, 1, (2, 4), "nothing is hidden")
        one.inputs["mask"][:] = True
        return one

    def all_hidden():
        one = case((), 2, 3, 2, 2, (2, 3), "everything is hidden from all queries")
        one.inputs["mask"][:] = False
        return one

    def of_one_sign(size, d_k, d_v, n_key, shape, shows):
        """Make one key match every query far better or far worse than the others, by the sign of its size."""
        one = case((), shape[0] if shape[0] > 1 else 4, n_key, d_k, d_v, shape, shows)
        one.inputs["queries"].abs_().add_(0.5)
        one.inputs["keys"][-1 if size > 0 else 0] = size
        return one

    def far_worse():
        one = of_one_sign(-1e8, 2, 1, 3, (2, 3), "what may be seen matches far worse than what is hidden")
        one.inputs["mask"][:] = torch.tensor([[True, False, False], [True, True, False]])
        return one

    def extreme():
        one = case((), 3, 4, 2, 1, (3, 4), "very large scores for one query, very small ones for another")
        one.inputs["keys"].abs_().add_(0.5)
        one.inputs["queries"][0], one.inputs["queries"][1] = 130.0, -130.0
        return one

    def empty_in_a_batch():
        one = case((2, 3), 5, 5, 4, 6, (2, 1, 5, 5), "queries that see nothing in the second sentence, and gradients")
        one.inputs["mask"][1, :, -1] = False
        return one

    return [
        case((), 2, 3, 2, 1, (2, 3), "2 queries, 3 keys of which the last is hidden"),
        zeros(),
        all_visible(),
        empty(),
        all_hidden(),
        of_one_sign(200.0, 4, 3, 5, (1, 5), "the hidden key matches far better than the others"),
        far_worse(),
        extreme(),
        case((3,), 5, 7, 6, 2, (5, 7), "a batch of 3, one mask for all"),
        case((3, 2), 4, 5, 6, 7, (3, 1, 1, 5), "a batch of 3, 2 heads, a padding mask"),
        case((3, 2), 4, 5, 6, 7, (1, 2, 4, 5), "a batch of 3, 2 heads, a mask for each head"),
        empty_in_a_batch(),
        case((3, 2), 23, 31, 8, 11, (3, 1, 23, 31), "a batch of 3, 2 heads: 23 queries, 31 keys"),
    ]


MASKED_ATTENTION = Exercise(
    reference=masked_attention,
    steps=STEPS,
    cases=masked_attention_cases,
    points=4,
    verified="A hidden key has no influence, however well it matches; a query that may see nothing gets zeros, and "
    "the gradients stay finite.",
    hints=[
        "Score, mask, softmax, mix: only the second step is new. What must a score be so that its weight becomes "
        "exactly 0?",
        "`scores.masked_fill(places, number)` writes the number wherever `places` is True. The mask is True where "
        "looking is allowed, so which places are they?",
        "That leaves the rows in which nothing is allowed: `~mask.any(dim=-1, keepdim=True)` finds them. What may "
        "their scores be, if their weights are set to 0 after the softmax?",
        "Keep such rows away from -∞: fill where `~(mask | sees_nothing)`, take the softmax, then fill the weights "
        "with 0 where `sees_nothing`.",
    ],
    told={
        "all_true_visible": (
            "The mask has no effect: every query attends to all keys. Look at what becomes of the masked scores "
            "(`masked_fill` returns a new tensor, and leaves the old one as it is)."
        ),
        "moved_probabilities: weights": (
            "Right wherever a query may see something. Where it may see nothing, all keys get the same "
            "weight, as all its scores are equally low. The output should be zeros."
        ),
    },
    mistakes=MISTAKES,
)

"""Sampling the next token: temperature, top-k and top-p."""

import math

import torch

from transformer_course.exercise import Exercise, Wording
from transformer_course.exercises.lesson_09_language_model.sample_next.answer import STEPS, sample_next
from transformer_course.exercises.lesson_09_language_model.sample_next.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, uniform
from transformer_course.running.case import Case

N_SAMPLES, N_CERTAIN = 1000, 100
"""Numbers of samples drawn from each row. The smaller number applies if only one token is possible.

With the larger number, every possible token occurs: the rarest token has probability 0.026 and is missing in one of
10¹¹ checks. The number is also small enough for answers that process the rows one by one.
"""


def sample_next_cases(seed: int) -> list[Case]:
    """Return cases whose possible tokens and frequencies do not depend on rounding or on the order of equal tokens.

    All probabilities are far from 0, and their sums are either far from top_p or exactly equal to it. The probabilities
    are shuffled.
    """
    rng = generator(seed)

    def logits(*rows):
        """Return logits for these probabilities, in random order and with a random offset for each row.

        The first of several rows has a large offset, so that its logits sum to more than any top_p.
        """
        shuffled = [torch.tensor(row)[torch.randperm(len(row), generator=rng)] for row in rows]
        lowest = [2.0 if i == 0 and len(rows) > 1 else -3.0 for i in range(len(rows))]
        return torch.stack([row.log() + uniform(rng, low, 3.0) for row, low in zip(shuffled, lowest, strict=True)])

    def exact(shows, **keywords):
        """Return a case with probabilities 1/2, 1/4, 1/8, 1/8, whose softmax and sums are exact in floating point."""
        row = -math.log(2) * torch.tensor([0.0, 1.0, 2.0, 2.0])[torch.randperm(4, generator=rng)]
        return Case({"logits": row[None]}, shows, kind="sampler", keywords=keywords, n_samples=N_SAMPLES)

    def drawn(rows, shows, **keywords):
        return Case({"logits": logits(*rows)}, shows, kind="sampler", keywords=keywords, n_samples=N_SAMPLES)

    def certain(rows, shows, **keywords):
        """Return a case in which each row has only one possible token."""
        return Case({"logits": logits(*rows)}, shows, kind="sampler", keywords=keywords, n_samples=N_CERTAIN)

    steep, even = [0.5, 0.25, 0.12, 0.08, 0.05], [0.3, 0.25, 0.2, 0.15, 0.1]
    large = [0.25, 0.17, 0.13, 0.11, 0.09, 0.07, 0.06, 0.05, 0.03, 0.025, 0.015]
    return [
        Case({"logits": logits([1.0, 0.0, 0.0])}, "a batch of one, and one token", kind="sampler", n_samples=1),
        certain([[0.6, 0.3, 0.1]], "top_k 1", top_k=1),
        certain([steep, even], "a top_p that the likeliest token reaches alone", top_p=0.03),
        certain([steep, even, steep], "a temperature just above 0", temperature=0.0005),
        drawn([[0.6, 0.3, 0.1]], "one row of 3 logits"),
        drawn([steep, even], "two rows of 5 logits"),
        drawn([steep, even], "temperature 2", temperature=2.0),
        drawn([even, [0.35, 0.25, 0.2, 0.12, 0.08]], "temperature 0.5", temperature=0.5),
        drawn([steep, even], "top_k 2", top_k=2),
        drawn([steep, even], "a top_k larger than the vocabulary", top_k=9),
        drawn([steep, even], "top_p 0.65", top_p=0.65),
        drawn([[0.125] * 8], "8 equally likely tokens, top_p 1", top_p=1.0),
        exact("the likeliest token has probability 1/2, top_p 0.5", top_p=0.5),
        exact("4 tokens, top_p 1", top_p=1.0),
        drawn([steep, even], "temperature 2, then top_p 0.65", temperature=2.0, top_p=0.65),
        drawn([[0.4, 0.2, 0.15, 0.14, 0.11], even], "top_k 3, then top_p 0.5", top_k=3, top_p=0.5),
        drawn([[0.0, 0.5, 0.0, 0.3, 0.2], even], "two tokens with a logit of −∞", top_k=4),
        drawn([large, large[::-1]], "temperature, top_k and top_p together", temperature=1.5, top_k=7, top_p=0.77),
    ]


EXERCISE = Exercise(
    reference=sample_next,
    steps=STEPS,
    cases=sample_next_cases,
    points=4,
    verified=(
        "You draw every token with the right probability, you never draw a token that top-k or top-p drops, and the "
        "same seed draws the same tokens."
    ),
    hints=[
        "Five tokens have the probabilities 0.5, 0.25, 0.12, 0.08 and 0.05. Which of them does top_k=2 keep, and "
        "which does top_p=0.8?",
        "In this order: divide by the temperature; drop all but the `top_k` largest logits; drop all but the "
        "smallest set whose mass reaches `top_p`; draw. A dropped token gets the logit −∞.",
        "For top-k, `logits.topk(k).values[:, -1:]` is the smallest logit to keep in each row; k is at most the "
        "size of the vocabulary.",
        "For top-p, sort the probabilities, the largest first. `ranked.cumsum(dim=-1) - ranked` is the mass "
        "*before* each token; if that has reached `top_p`, drop the token.",
        "`order.argsort(dim=-1)` undoes the sorting, and `torch.multinomial(…, 1, generator=generator)` draws; it "
        "returns (batch, 1).",
    ],
    messages={
        "call_left_out_probabilities": (
            Wording(
                "You pass logits to `torch.multinomial`, which expects probabilities and raises an error for negative "
                "numbers. Which function turns logits into probabilities?",
                summary="you pass logits to `torch.multinomial`",
                hints=["Can a logit be negative? Can a probability?"],
            )
        ),
        "slice_smallest: scaled.topk(n_kept).values[:, -1]": (
            Wording(
                "Your thresholds have shape (batch,), so they line up with the *columns* of the logits. Your code "
                "crashes or compares the wrong numbers. What shape has one threshold for each row?",
                summary="your thresholds have shape (batch,)",
                hints=[
                    "The logits have shape (2, 5), and your thresholds have shape (2,). Which dimension of the logits "
                    "does the 2 line up with?",
                ],
            )
        ),
    },
    mistakes=MISTAKES,
)

"""One vector for each sentence."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_04_masks.padding_mask.exercise import VOCAB_SIZE, draw_padded
from transformer_course.exercises.lesson_06_encoder.sentence_vectors.answer import STEPS, sentence_vectors
from transformer_course.exercises.lesson_06_encoder.sentence_vectors.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case


def sentence_vectors_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    pad = int(torch.randint(2, VOCAB_SIZE - 1, (), generator=rng))
    small = torch.tensor([[[1.0, 5.0], [3.0, 7.0], [50.0, 90.0]]])

    def case(pad_id: int, rows: list[tuple[int, int]], length: int, d_model: int, shows: str) -> Case:
        tokens = draw_padded(rng, pad_id, rows, length, zero=pad_id != 0)
        return Case({"x": 1 + normal(rng, len(rows), length, d_model), "tokens": tokens, "pad_id": pad_id}, shows)

    return [
        Case({"x": small, "tokens": torch.tensor([[4, 2, 0]]), "pad_id": 0}, "two tokens and a padding"),
        Case({"x": small, "tokens": torch.tensor([[3, 4, 2]]), "pad_id": 3}, "padding in front, and pad_id 3"),
        Case({"x": small, "tokens": torch.tensor([[0, 0, 0]]), "pad_id": 0}, "nothing but padding"),
        case(0, [(0, 0), (0, 2)], 5, 3, "2 sentences, one of them padded"),
        case(pad, [(0, 1), (1, 0), (0, 2)], 4, 4, "as many tokens as features"),
        case(pad, [(0, 0), (2, 1), (0, 3)], 4, 5, "a pad_id that is not 0, padding in front as well"),
        case(pad, [(0, 1), (0, 7), (0, 4)], 7, 4, "a sentence of nothing but padding"),
        case(pad, [(0, i) for i in range(11)], 13, 24, "11 sentences of 13 tokens"),
    ]


SENTENCE_VECTORS = Exercise(
    reference=sentence_vectors,
    steps=STEPS,
    cases=sentence_vectors_cases,
    points=2,
    verified="One vector for each sentence, the same however much padding its batch needs.",
    hints=[
        "In three steps: set the vectors of the padding to 0; add up those of each sentence; divide by how many count.",
        "`real = (tokens != pad_id).unsqueeze(-1)` has the shape (batch, n, 1). Multiplied with x, it makes zeros of "
        "what does not count.",
        "`(x * real).sum(dim=1)` over `real.sum(dim=1)`; and what if that is 0?",
    ],
    told={
        "moved_column": (
            "The sums have the shape (batch, d_model), but what they are divided by (batch, 1, 1), so that "
            "every sentence is divided by every sentence's number. Look at the axes of the divisor."
        ),
    },
    mistakes=MISTAKES,
    stretch=True,
)

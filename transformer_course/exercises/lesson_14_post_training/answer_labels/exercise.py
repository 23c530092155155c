"""Supervised fine-tuning: the prompts are read, and only the answers are learned."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_14_post_training.answer_labels.answer import STEPS, answer_labels
from transformer_course.exercises.lesson_14_post_training.answer_labels.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case


def answer_labels_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n, prompts, answers, pad_id, shows):
        """Draw rows of a prompt, an answer and padding; no token is the padding's."""
        tokens = torch.randint(9, (len(prompts), n), generator=rng)
        tokens += tokens >= pad_id
        for row, (prompt, answer) in enumerate(zip(prompts, answers, strict=True)):
            tokens[row, prompt + answer :] = pad_id
        return Case({"tokens": tokens, "prompt_lengths": torch.tensor(prompts), "pad_id": pad_id}, shows)

    return [
        case(4, [1], [3], 0, "one row: a prompt of one token, an answer of 3"),
        case(5, [3], [2], 0, "one row: a prompt of 3 tokens, an answer of 2"),
        case(6, [4, 2], [2, 4], 0, "2 rows whose prompts have 4 and 2 tokens"),
        case(7, [2, 5, 3], [2, 2, 4], 0, "3 rows, the first of which is padded"),
        case(8, [3, 6], [4, 1], 4, "padding that is not token 0"),
        case(5, [2, 5, 0], [3, 0, 4], 1, "a row without an answer, and one without a prompt"),
        case(23, torch.randint(3, 12, (17,), generator=rng).tolist(), [9] * 17, 0, "17 rows of 23 tokens"),
    ]


ANSWER_LABELS = Exercise(
    reference=answer_labels,
    steps=STEPS,
    cases=answer_labels_cases,
    points=2,
    verified="Each row loses its own prompt and nothing of its answer, and the caller's tokens stay as they are.",
    hints=[
        "Which positions of a row belong to a prompt of 3 tokens? And to one of 5?",
        "Compare a row of positions, `torch.arange(n)`, with a column of lengths: that is a mask of (batch, n).",
        "`tokens.masked_fill(mask, pad_id)` returns a copy in which the marked tokens are padding.",
    ],
    mistakes=MISTAKES,
)

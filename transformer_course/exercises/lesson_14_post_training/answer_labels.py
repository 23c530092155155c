"""Supervised fine-tuning: the prompts are read, and only the answers are learned."""

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn import functional as F

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def answer_labels(
    tokens: Int[Tensor, "batch n"], prompt_lengths: Int[Tensor, " batch"], pad_id: int
) -> Int[Tensor, "batch n"]:
    """Return the tokens, with padding in place of the prompt of each row."""
    positions = torch.arange(tokens.shape[1])
    in_prompt = positions < prompt_lengths[:, None]
    return tokens.masked_fill(in_prompt, pad_id)


def positions(tokens):
    """count the positions of a row → the positions of a row: 0 to n − 1"""
    return torch.arange(tokens.shape[1])


def ends(prompt_lengths):
    """stand the lengths of the prompts in a column → the length of each row's prompt, (batch, 1)"""
    return prompt_lengths[:, None]


def in_prompt(positions, ends):
    """mark the positions of the prompt → the mask of the prompts: positions below the prompt's length, (batch, n)"""
    return positions < ends


def labels(tokens, in_prompt, pad_id):
    """put padding there → the labels: the tokens, with padding in place of the prompts, (batch, n)"""
    return tokens.masked_fill(in_prompt, pad_id)


STEPS = InSteps(positions, ends, in_prompt, labels, reference=answer_labels)


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


MISTAKES = [
    Mistake(
        "one_length_for_all",
        STEPS.but(ends=lambda prompt_lengths: prompt_lengths[0]),
        STEPS.but(ends=lambda prompt_lengths: prompt_lengths.max()),
        STEPS.but(ends=lambda prompt_lengths: prompt_lengths.min()),
        summary="all rows are cut at the length of one prompt",
        message="{summary}. Prompts have different lengths, so each row has its own.",
        hints=["Compare two rows whose prompts have 2 and 5 tokens."],
    ),
    Mistake(
        "takes_the_prompts_away",
        STEPS.but(labels=lambda tokens, prompt_lengths: tokens[:, int(prompt_lengths.min()) :]).attempt,
        STEPS.but(labels=lambda tokens, prompt_lengths: tokens[:, int(prompt_lengths.max()) :]).attempt,
        STEPS.but(labels=lambda tokens, prompt_lengths: tokens[:, int(prompt_lengths[0]) :]).attempt,
        message=(
            "The prompts are cut off, so the labels are shorter than the logits. They should keep their shape: what "
            "does not count is padding."
        ),
        hints=[
            "What shape have the tokens, and what shape have your labels?",
            "The loss compares labels and logits position by position. Nothing may move.",
            "Keep the tokens, and replace those of the prompt with `pad_id`.",
        ],
    ),
    Mistake(
        "moved_to_the_left",
        STEPS.but(labels=lambda labels, pad_id: F.pad(labels[:, 1:], (0, 1), value=pad_id)),
        summary="the labels are moved to the left by one",
        message=(
            "{summary}. That is the business of the loss, which shifts them: here, a label stands at its own position."
        ),
        hints=["If the loss moves the labels again, which token has the logits at position 0 to predict?"],
    ),
]


EXERCISE = Exercise(
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
    messages={
        "comparison_in_prompt: (positions) >= (ends)": Wording(
            "{summary}: such a model learns to ask, not to answer.",
            summary="the answers become padding, and the prompts stay",
            hints=["Which tokens should the loss count?"],
        ),
        "comparison_in_prompt: (positions) <= (ends)": Wording(
            "{summary}. The model would never be taught how an answer begins, and everything after that hangs on it.",
            summary="the first token of each answer becomes padding as well",
            hints=["A prompt of 3 tokens stands at the positions 0, 1 and 2. Where does its answer begin?"],
        ),
        "shifted_ends: § - 1": Wording(
            "{summary}. That the logits there predict the answer's first token is the business of the loss, which "
            "shifts by one: here, a label is the token that stands at its own position.",
            summary="the last token of each prompt still counts",
            hints=["Is the last token of the prompt part of the answer?"],
        ),
    },
    mistakes=MISTAKES,
)

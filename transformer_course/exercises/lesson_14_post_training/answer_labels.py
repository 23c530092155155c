"""Labels for supervised fine-tuning, where only the answers count toward the loss."""

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
    """Return the tokens with each row's prompt replaced by padding."""
    positions = torch.arange(tokens.shape[1])
    in_prompt = positions < prompt_lengths[:, None]
    return tokens.masked_fill(in_prompt, pad_id)


def positions(tokens):
    """number the positions of a row → the positions of a row: 0 to n − 1"""
    return torch.arange(tokens.shape[1])


def ends(prompt_lengths):
    """turn the prompt lengths into a column → the prompt lengths as a column, (batch, 1)"""
    return prompt_lengths[:, None]


def in_prompt(positions, ends):
    """compare the positions with the prompt lengths → the mask of the prompts: position < prompt length, (batch, n)"""
    return positions < ends


def labels(tokens, in_prompt, pad_id):
    """replace the prompt tokens with `pad_id` → the labels: the tokens, with padding for the prompts, (batch, n)"""
    return tokens.masked_fill(in_prompt, pad_id)


STEPS = InSteps(positions, ends, in_prompt, labels, reference=answer_labels)


def answer_labels_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n, prompts, answers, pad_id, shows):
        """Draw rows with a prompt, an answer and padding. No token equals the padding id."""
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


def answers_first(tokens, prompt_lengths, pad_id):
    """Move each answer to the start of its row."""
    labels = torch.full_like(tokens, pad_id)
    for row, length in enumerate(prompt_lengths.tolist()):
        labels[row, : tokens.shape[1] - length] = tokens[row, length:]
    return labels


def slice_to_one_before(ends, tokens):
    """Return the end of ``[: length - 1]`` in each row. For length 0, this slice leaves out only the last token."""
    return torch.where(ends > 0, ends, tokens.shape[1]) - 1


MISTAKES = [
    Mistake(
        "one_length_for_all",
        STEPS.but(ends=lambda prompt_lengths: prompt_lengths[0]),
        STEPS.but(ends=lambda prompt_lengths: prompt_lengths.max()),
        STEPS.but(ends=lambda prompt_lengths: prompt_lengths.min()),
        summary="you use one prompt length for all rows",
        message=(
            "{summary}, so a row with a different prompt length loses part of its answer or keeps part of its prompt."
        ),
        hints=["Print the labels of two rows whose prompts have 2 and 5 tokens. Where does each answer start?"],
    ),
    Mistake(
        "takes_the_prompts_away",
        STEPS.but(labels=lambda tokens, prompt_lengths: tokens[:, int(prompt_lengths.min()) :]).attempt,
        STEPS.but(labels=lambda tokens, prompt_lengths: tokens[:, int(prompt_lengths.max()) :]).attempt,
        STEPS.but(labels=lambda tokens, prompt_lengths: tokens[:, int(prompt_lengths[0]) :]).attempt,
        message=(
            "You cut off the prompts, so your labels are shorter than the logits. Which shape should the labels have?"
        ),
        hints=[
            "Which shape do the tokens have, and which shape do your labels have?",
            "The loss compares labels and logits position by position, so no token may move.",
            "Keep the tokens of the answers, and replace the tokens of the prompts with `pad_id`.",
        ],
    ),
    Mistake(
        "keeps_the_last_prompt_token",
        STEPS.but(ends=lambda ends: ends - 1),
        STEPS.but(ends=slice_to_one_before),
        summary="you keep the last token of each prompt in the labels",
        message=(
            "{summary}, so the model is also trained to predict it. The loss function does the shift by one. Here, "
            "each label is the token at its own position."
        ),
        hints=["Is the last token of the prompt part of the answer?"],
    ),
    Mistake(
        "answers_first",
        STEPS.but(labels=answers_first),
        summary="you move each answer to the start of its row",
        message=(
            "{summary}, but the loss compares labels and logits position by position. At which position should the "
            "label of a token be?"
        ),
        hints=["The first token of an answer is at position 3 of its row. At which position is it in your labels?"],
    ),
    Mistake(
        "moved_to_the_left",
        STEPS.but(labels=lambda labels, pad_id: F.pad(labels[:, 1:], (0, 1), value=pad_id)),
        summary="you shift the labels to the left by one",
        message=(
            "{summary}, and the loss shifts them again, so the model learns to predict the token two positions ahead. "
            "Here, each label is the token at its own position."
        ),
        hints=["If the loss shifts your labels, which token should the logits at position 0 predict?"],
    ),
    Mistake(
        "marked_by_minus_100",
        STEPS.but(labels=lambda tokens, in_prompt: tokens.masked_fill(in_prompt, -100)),
        STEPS.but(labels=lambda tokens, in_prompt, pad_id: tokens.masked_fill(in_prompt | (tokens == pad_id), -100)),
        summary="you use −100 instead of `pad_id`",
        message=(
            "{summary}. That is the default `ignore_index` of PyTorch and Hugging Face. Here the loss ignores "
            "`pad_id`, so the prompt should become padding."
        ),
        hints=["Which token does `next_token_loss(logits, tokens, pad_id)` leave out?"],
    ),
]


EXERCISE = Exercise(
    reference=answer_labels,
    steps=STEPS,
    cases=answer_labels_cases,
    points=2,
    verified="You replace each row's own prompt and nothing of its answer, and the caller's tokens stay unchanged.",
    hints=[
        "Which positions of a row does a prompt of 3 tokens occupy? And a prompt of 5 tokens?",
        "Compare a row of positions with a column of prompt lengths. Broadcasting makes that a mask of shape "
        "(batch, n).",
        "`torch.arange(n)` is the row of positions, and `prompt_lengths[:, None]` is the column.",
        "`tokens.masked_fill(mask, pad_id)` returns a copy in which the masked tokens are padding.",
    ],
    messages={
        "comparison_in_prompt: (positions) >= (ends)": Wording(
            "{summary}, so the model learns to write prompts instead of answers. Which of the two should become "
            "padding?",
            summary="you mask out the answers instead of the prompts",
            hints=["Which tokens should count in the loss?"],
        ),
        "comparison_in_prompt: (positions) <= (ends)": Wording(
            "{summary}, so the model never learns how an answer begins. After a prompt of one token, at which position "
            "does the answer begin?",
            summary="you also mask out the first token of each answer",
            hints=["A prompt of 3 tokens is at positions 0, 1 and 2. Where does its answer begin?"],
        ),
    },
    mistakes=MISTAKES,
)

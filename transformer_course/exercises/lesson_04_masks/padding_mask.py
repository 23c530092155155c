"""The padding mask."""

import torch
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared import mask_mistakes, padding_mistakes
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.attention.masks import padding_mask


def real(tokens, pad_id):
    """compare each token with `pad_id` → the real tokens: True where a token is not `pad_id`"""
    return tokens != pad_id


def per_head(real):
    """add a dimension for the heads

    the real tokens with a dimension for the heads: (batch, 1, n)

    the real tokens with a heads dimension
    """
    return real[:, None, :]


def per_query(per_head):
    """add a dimension for the queries → the mask for heads and queries: (batch, 1, 1, n)"""
    return per_head[:, :, None, :]


def mask(per_query):
    """return a boolean mask → the mask: boolean values, (batch, 1, 1, n)"""
    return per_query


STEPS = InSteps(real, per_head, per_query, mask, reference=padding_mask)


VOCAB_SIZE = 9


def draw_padded(
    rng: torch.Generator, pad_id: int, rows: list[tuple[int, int]], length: int, zero: bool = True
) -> Tensor:
    """Draw one sentence for each pair (pads on the left, pads on the right) in ``rows``.

    If ``zero`` is set, every sentence contains token 0.
    """
    real = [token for token in range(VOCAB_SIZE) if token != pad_id]
    tokens = torch.tensor(real)[torch.randint(len(real), (len(rows), length), generator=rng)]
    for row, (before, after) in zip(tokens, rows, strict=True):
        if zero:
            row[before] = 0
        row[:before] = pad_id
        row[length - after :] = pad_id
    return tokens


def padding_mask_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    # ids of real tokens may be smaller or larger than the padding id
    pad = int(torch.randint(2, VOCAB_SIZE - 1, (), generator=rng))

    def case(pad_id: int, rows: list[tuple[int, int]], length: int, shows: str) -> Case:
        return Case({"tokens": draw_padded(rng, pad_id, rows, length, zero=pad_id != 0), "pad_id": pad_id}, shows)

    return [
        case(0, [(0, 1)], 3, "one sentence of 3 tokens, the last of them padding"),
        case(0, [(0, 0), (0, 1)], 2, "2 sentences, one of them padded"),
        case(0, [(0, 0), (0, 1), (0, 0)], 1, "3 sentences of one token, which may be padding"),
        case(pad, [(0, 2), (2, 0)], 5, "a pad_id that is not 0, behind and in front"),
        case(pad, [(0, 0), (0, 2), (0, 1)], 3, "a pad_id that is not 0"),
        case(pad, [(2, 0), (0, 1), (0, 7)], 7, "padding in front as well, and a sentence of padding alone"),
        case(pad, [(0, i) for i in torch.randperm(11, generator=rng).tolist()], 13, "11 sentences of 13 tokens"),
    ]


MISTAKES = [
    Mistake(
        "axes_in_front_of_the_batch",
        STEPS.but(per_query=lambda real: real[None, None]),
        summary="you add the new dimensions in front of the batch",
        message=(
            "{summary}: shape (1, 1, batch, n) lines up the sentences with the *queries* of the scores, which is right "
            "only for a single sentence. Where should the dimensions for heads and queries be?"
        ),
        hints=[
            "The scores have shape (batch, n_heads, n_query, n_key). Which of these sizes does your batch dimension "
            "line up with?"
        ],
    ),
    *padding_mistakes.which_tokens(STEPS),
]


EXERCISE = Exercise(
    reference=padding_mask,
    steps=STEPS,
    cases=padding_mask_cases,
    points=2,
    verified=(
        "No query attends to padding, for any position of the padding and any `pad_id`, and the mask has dimensions "
        "for heads and queries."
    ),
    hints=[
        "Start with one sentence: which comparison gives True for a real token and False for padding?",
        "That comparison has shape (batch, n). The scores have shape (batch, n_heads, n_query, n_key), and you want "
        "to hide *keys*. Which two dimensions are missing, and where?",
        "Indexing with `None` adds a dimension of length 1: `x[:, None]` turns (batch, n) into (batch, 1, n).",
    ],
    messages={
        "slice_per_query": mask_mistakes.PADDED_ROWS,
        "comparison_real: (tokens) == (pad_id)": mask_mistakes.PADDING_ALLOWED,
        "ignored_pad_id: 0": mask_mistakes.PAD_ID_UNUSED,
        "additive_mask": mask_mistakes.ADDED_TO_THE_SCORES,
    },
    mistakes=MISTAKES,
)

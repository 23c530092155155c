"""Which keys a query may attend to where several documents share a row."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.lesson_04_masks.decoder_mask import diagonal, not_later
from transformer_course.exercises.shared import mask_mistakes
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def document_mask(documents: Int[Tensor, "batch n"]) -> Bool[Tensor, "batch 1 n n"]:
    """Let every position attend to itself and to what came before it in the same document."""
    n = documents.shape[1]
    same = documents[:, :, None] == documents[:, None, :]  # (batch, n_query, n_key)
    not_later = torch.ones(n, n, dtype=torch.bool).tril()
    return (same & not_later)[:, None]


def queries(documents):
    """say for each query which document it belongs to → the document of each query, along the rows: (batch, n, 1)"""
    return documents[:, :, None]


def keys(documents):
    """say for each key which document it belongs to → the document of each key, along the columns: (batch, 1, n)"""
    return documents[:, None, :]


def same(queries, keys):
    """compare the two → whether query and key are of one document: (batch, n, n)"""
    return queries == keys


def n(documents):
    """count the tokens of a row → the number of tokens of a row: the length of the second axis"""
    return documents.shape[1]


def both(same, not_later):
    """join the two by *and* → the keys of the same document that do not come later: (batch, n, n)"""
    return same & not_later


def mask(both):
    """add an axis for the heads → the mask, with an axis of length 1 for the heads: (batch, 1, n, n)"""
    return both[:, None]


STEPS = InSteps(queries, keys, same, n, diagonal, not_later, both, mask, reference=document_mask)


def document_mask_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def packed(n: int, n_documents: int) -> list[int]:
        """Draw documents that fill n positions; their numbers are in no order."""
        cuts = [0, *(torch.randperm(n - 1, generator=rng)[: n_documents - 1] + 1).sort().values.tolist(), n]
        numbers = torch.randperm(n_documents, generator=rng).tolist()
        return [d for d, start, end in zip(numbers, cuts, cuts[1:], strict=False) for _ in range(end - start)]

    def case(rows: list[list[int]], shows: str) -> Case:
        return Case({"documents": torch.tensor(rows)}, shows)

    return [
        case([[0, 0, 1]], "one text: a document of 2 tokens, and one of 1"),
        case([[1, 0, 0, 0]], "one text, and the numbers of its 2 documents in another order"),
        case([[0, 0, 0], [0, 1, 1]], "2 texts of 3 tokens, packed in different ways"),
        case([packed(7, 3) for _ in range(3)], "3 texts of 7 tokens and 3 documents"),
        case([packed(23, 1 + i) for i in range(11)], "11 texts of 23 tokens, with 1 to 11 documents"),
    ]


MISTAKES = [
    Mistake(
        "and_later_documents",
        STEPS.but(same=lambda queries, keys: queries <= keys),
        STEPS.but(same=lambda queries, keys: queries >= keys),
        summary="the numbers of the documents are compared by size",
        message="{summary}. The numbers are only names: a smaller one means nothing. Look at the comparison.",
        hints=["Exchange the numbers of two documents. Should the mask change?"],
    ),
]


EXERCISE = Exercise(
    reference=document_mask,
    steps=STEPS,
    cases=document_mask_cases,
    points=2,
    verified="Each document is a triangle of its own: no token sees another document, or what comes later in its own.",
    hints=[
        "Write the mask for the documents 0, 0, 1 by hand: rows are queries, columns are keys. Which of the nine "
        "entries are True?",
        "Two conditions have to hold. One of them is `parts.causal_mask(n)`. The other compares the documents of all "
        "pairs.",
        "`documents[:, :, None] == documents[:, None, :]` has the shape (batch, n, n). Join it with the causal mask by "
        "`&`, and add the axis for the heads.",
    ],
    messages={
        "part_left_out_both: same": (
            "The causal mask is missing: every token sees what comes later in its own document."
        ),
        "slice_queries": (
            "Each position sees all that came before, whatever document it is in: this is the causal mask alone."
        ),
        "operator_both": (
            "It is enough that one of the two conditions holds: the same document *or* not later. Look at how "
            "the two are joined."
        ),
        "comparison_same": "A key has to be of *another* document, so no position sees itself. Look at the comparison.",
        "number_diagonal: -1": mask_mistakes.NOT_ITSELF,
        "inverted_mask": mask_mistakes.INVERTED_MESSAGE,
        "sibling_not_later": (
            "The triangle is the wrong one: each position sees itself and what comes *after* it in its document."
        ),
        "number_diagonal: 1": (
            "Every position may also attend to the *next* one of its document, the one that it has to predict."
        ),
        "left_out_mask": (
            "The entries are right, but the axis for the heads is missing: with (batch, n, n), the texts "
            "would meet the *heads* of the scores."
        ),
        "slice_mask": (
            "The axis for the heads stands in front of the batch, so the texts would meet the *heads* of the "
            "scores. Right for one text, wrong for more."
        ),
        "first_for_all_mask": (
            "The documents of the first text are used for all texts of the batch. Each text is packed in its own way."
        ),
        "length_n": (
            "The triangle is as long as there are *texts*, not as one text is long. It crashes where the two differ."
        ),
    },
    mistakes=MISTAKES,
)

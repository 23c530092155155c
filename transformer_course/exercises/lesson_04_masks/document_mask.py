"""The mask for several documents packed into one row."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.lesson_04_masks.decoder_mask import diagonal, not_later
from transformer_course.exercises.shared import mask_mistakes
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def document_mask(documents: Int[Tensor, "batch n"]) -> Bool[Tensor, "batch 1 n n"]:
    """Let every position attend to itself and to the earlier positions in its document."""
    n = documents.shape[1]
    same = documents[:, :, None] == documents[:, None, :]  # (batch, n_query, n_key)
    not_later = torch.ones(n, n, dtype=torch.bool).tril()
    return (same & not_later)[:, None]


def queries(documents):
    """add a dimension for the keys → the document of each query: (batch, n, 1)"""
    return documents[:, :, None]


def keys(documents):
    """add a dimension for the queries → the document of each key: (batch, 1, n)"""
    return documents[:, None, :]


def same(queries, keys):
    """compare the documents of queries and keys → the pairs in the same document: (batch, n, n)"""
    return queries == keys


def n(documents):
    """count the tokens of a row → the number of tokens: the size of dim 1"""
    return documents.shape[1]


def both(same, not_later):
    """combine the two conditions with *and*

    the keys of the same document that don't come later: (batch, n, n)

    the combined conditions
    """
    return same & not_later


def mask(both):
    """add a dimension for the heads → the mask: (batch, 1, n, n)"""
    return both[:, None]


STEPS = InSteps(queries, keys, same, n, diagonal, not_later, both, mask, reference=document_mask)


def document_mask_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def packed(n: int, n_documents: int) -> list[int]:
        """Draw documents that fill n positions, with document numbers in random order."""
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
        summary="you compare the document IDs by size",
        message=(
            "{summary}, so a token can also attend to other documents. The IDs are only labels: their order means "
            "nothing. Which comparison should you use?"
        ),
        hints=["If you swap the IDs of two documents, should the mask change?"],
    ),
]


EXERCISE = Exercise(
    reference=document_mask,
    steps=STEPS,
    cases=document_mask_cases,
    points=2,
    stretch=True,
    verified=(
        "Each document has its own triangle: no token can attend to another document or to later tokens of its own "
        "document."
    ),
    hints=[
        "Write the mask for the documents 0, 0, 1 by hand: rows are queries, columns are keys. Which of the nine "
        "entries are True?",
        "Two conditions have to hold. One of them is `parts.causal_mask(n)`. The other compares the documents of "
        "every pair of tokens.",
        "`documents[:, :, None] == documents[:, None, :]` has shape (batch, n, n). Combine it with the causal mask "
        "using `&`, and add a dimension for the heads.",
    ],
    messages={
        "additive_mask": mask_mistakes.ADDED_TO_THE_SCORES,
        "part_left_out_both: same": Wording(
            "You leave out the causal mask, so every token can attend to later tokens of its own document. Which "
            "second condition should a key meet?",
            summary="you leave out the causal mask",
            hints=["For the documents 0, 0, 1, may position 0 attend to position 1? Does your mask allow it?"],
        ),
        "slice_queries": Wording(
            "Your mask doesn't depend on `documents`: each position can attend to all earlier positions, as with the "
            "causal mask alone. Do you compare the document of each query with the document of each *key*?",
            summary="your mask doesn't depend on `documents`",
            hints=["For the documents 0, 0, 1, may position 2 attend to position 0? Does your mask allow it?"],
        ),
        "operator_both": Wording(
            "You combine the two conditions with *or*, so a position can also attend to earlier documents and to later "
            "tokens of its own document. Both conditions should hold. Which operator requires both?",
            summary="you combine the two conditions with *or* instead of *and*",
            hints=["For the documents 0, 0, 1, may position 2 attend to position 0? Does your mask allow it?"],
        ),
        "comparison_same": Wording(
            "You allow only keys of *another* document, so no position can attend to itself. When should two document "
            "IDs allow attention?",
            summary="you allow keys of other documents instead of the same one",
            hints=["For the documents 0, 0, 1, which entries of the diagonal should be True?"],
        ),
        "number_diagonal: -1": mask_mistakes.NOT_ITSELF,
        "inverted_mask": mask_mistakes.INVERTED,
        "sibling_not_later": Wording(
            "Your mask is the wrong triangle: each position can attend to itself and to positions *after* it in its "
            "document. Are the queries the rows or the columns of the mask?",
            summary="you allow each position the later positions instead of the earlier ones",
            hints=["For the documents 0, 0, 1, what should the first row of the mask be? What is yours?"],
        ),
        "number_diagonal: 1": Wording(
            "Your mask also lets each position attend to the *next* position of its document, which a language model "
            "has to predict. Which key is the last that a position may attend to?",
            summary="your mask also lets each position attend to the next position",
            hints=["For the documents 0, 0, 1, may position 0 attend to position 1? Does your mask allow it?"],
        ),
        "left_out_mask": Wording(
            "Your entries are right, but you don't add a dimension for the heads: with shape (batch, n, n), "
            "broadcasting lines up the batch with the *heads* of the scores. Where should you add the dimension?",
            summary="you don't add a dimension for the heads",
            hints=["The scores have shape (batch, n_heads, n, n). How does (batch, n, n) broadcast against it?"],
        ),
        "slice_mask": Wording(
            "You add the dimension for the heads in front of the batch, so broadcasting lines up the batch with the "
            "*heads* of the scores. Your mask is right only for a batch of 1. Where should you add the dimension?",
            summary="you add the dimension for the heads in front of the batch",
            hints=["The scores have shape (batch, n_heads, n, n). How does (1, batch, n, n) broadcast against it?"],
        ),
        "first_for_all_mask": Wording(
            "{summary}, so the other sequences get the wrong document boundaries. Which dimension of `documents` is "
            "the batch?",
            summary="you use the document IDs of the first sequence for every sequence",
            hints=["If only the documents of the second sequence change, does your mask change?"],
        ),
        "length_n": Wording(
            "You use the batch size as the sequence length, so your causal mask has one row per *sequence* instead of "
            "one per position. Your code crashes, or doesn't hide the future if the batch size is 1. Which dimension "
            "of `documents` holds the positions?",
            summary="you use the batch size as the sequence length",
            hints=["`documents` has shape (batch, n). Which of these sizes do you use?"],
        ),
    },
    mistakes=MISTAKES,
)

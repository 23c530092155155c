"""Mistakes in the table of scores: in the transposition of the keys, in the products, and in what is left out."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from transformer_course.exercise import Mistake
from transformer_course.exercises.shared.attention_mistakes.selection import first_of
from transformer_course.steps import InSteps, Step, Variant, asking


def all_axes_turned_round(x):
    """Return what ``.T`` returns, without the warning."""
    return x.permute(*reversed(range(x.dim())))


def first_table(x):
    """Return the first table of a batch, for all of it."""
    return x[(0,) * (x.dim() - 2)].expand_as(x)


def of_the_transposition(steps: InSteps, keys: str = "keys") -> list[Mistake]:
    """Return the mistakes in the transposition of the keys: of the value of this name."""

    def turned(change: Callable[[Tensor], Tensor]) -> Variant:
        return steps.but(turned=asking(change, keys))

    return [
        Mistake(
            "transposes_the_batch",
            turned(all_axes_turned_round),
            turned(lambda keys: keys.t()).attempt,
            does="the keys are transposed as if they were a single table, without a batch",
            says=(
                "Right for one table; with a batch in front, *all* the axes of the keys are turned round (or torch "
                "refuses to). The batch should stay where it is. Look at how the keys are transposed."
            ),
            hints=["What shape does `.T` make of keys of shape (7, 3, 4)?"],
        ),
        Mistake(
            "reshapes_the_keys",
            turned(lambda keys: keys.reshape(*keys.shape[:-2], keys.shape[-1], keys.shape[-2])),
            turned(lambda keys: keys.reshape(keys.shape[-1], keys.shape[-2])).attempt,
            turned(lambda keys: keys.reshape(keys.shape[1], keys.shape[0])).attempt,
            does="the numbers of the keys are read in their old order along exchanged axes",
            says=(
                "The keys get the shape of transposed ones, but not their numbers: `reshape` and `view` only break the "
                "same sequence of numbers into other rows, so each column mixes several keys."
            ),
            hints=[
                "Print `torch.arange(6).reshape(2, 3)`, its `.reshape(3, 2)` and its `.mT`.",
                "Entry (i, j) has to become entry (j, i). Which of them does that?",
                "`keys.mT`, or `keys.transpose(-2, -1)`.",
            ],
        ),
    ]


def _product(steps: InSteps, change: Step) -> Variant:
    """Return the answer that makes the table of products otherwise."""
    return steps.but(**{first_of(steps, "products", "scores"): change})


PAIRS_FROM_THE_FRONT: dict[str, Any] = {
    "says": (
        "The axes of length 1 that form the pairs are put in by counting from the front, and each axis of a batch "
        "shifts that count: right for one number of axes at most. Look at where these axes are put in."
    ),
    "hints": [
        "What shape does `queries[:, None]` have for queries of shape (7, 5, 4)? It should be (7, 5, 1, 4).",
        "Counted from the end, the place is always the same; `...` stands for whatever is in front.",
        "`queries[..., :, None, :]` and `keys[..., None, :, :]`, or `unsqueeze(-2)` and `unsqueeze(-3)`.",
    ],
}


def of_the_products(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in what is multiplied by what, where every query should meet every key."""
    return [
        Mistake(
            "keys_by_queries",
            _product(steps, lambda queries, keys: keys @ queries.mT),
            does="the table of scores has one row per key, not one per query",
            says=(
                "The table of scores has one row per *key*. It should have one row per query. Look at the order of the "
                "product, or at the order in which queries and keys are handed over."
            ),
            hints=["What shape has the table for 2 queries and 3 keys? Which should it have?"],
        ),
        Mistake(
            "keys_in_front",
            _product(steps, lambda queries, keys: keys @ queries).attempt,
            says=(
                "The keys stand in front of the queries, and nothing is transposed: the width of the keys meets the "
                "*number* of the queries. Look at the order of the product, and at the shapes of both sides."
            ),
            hints=[
                "(n_key, d) @ (n_query, d): which two numbers have to be equal in a matrix product?",
                "The table of scores has one row per query, so the queries stand on the left.",
                "`queries @ keys.mT`, or `queries @ keys.transpose(-2, -1)`.",
            ],
        ),
        Mistake(
            "query_i_with_key_i",
            _product(steps, lambda queries, keys: (queries * keys).sum(dim=-1)),
            _product(steps, lambda queries, keys: torch.einsum("...qd,...qd->...q", queries, keys)).attempt,
            does="query i is compared with key i only",
            says=(
                "{does}: one number each, or a crash where there are more keys than queries. Every query has to meet "
                "every key."
            ),
            hints=[
                "How many scores are there for 2 queries and 3 keys?",
                "`*` pairs row i with row i. Which product pairs every row with every column?",
                "A matrix product: the queries, times the keys turned into columns, `keys.mT`.",
            ],
        ),
        *([_with_the_values(steps)] if "values" in steps.known else []),
        Mistake(
            "pairs_from_the_front",
            _product(steps, lambda queries, keys: (queries[:, None] * keys[None]).sum(dim=-1)),
            _product(steps, lambda queries, keys: (queries[:, :, None] * keys[:, None]).sum(dim=-1)).attempt,
            does="the pairs of query and key are formed along axes that are counted from the front",
            **PAIRS_FROM_THE_FRONT,
        ),
        Mistake(
            "one_number_of_axes",
            _product(steps, lambda queries, turned: torch.bmm(queries, turned)),
            _product(steps, lambda queries, keys: torch.einsum("bqd,bkd->bqk", queries, keys)).attempt,
            _product(steps, lambda queries, keys: torch.einsum("qd,kd->qk", queries, keys)),
            _product(steps, lambda queries, turned: torch.mm(queries, turned)).attempt,
            _product(steps, lambda queries, keys: torch.tensordot(queries, keys, dims=([-1], [-1]))).attempt,
            _product(steps, lambda queries, keys: torch.bmm(queries, keys.transpose(1, 2))).attempt,
            does="a product is taken that works for one number of axes only",
            says=(
                "Right for one number of axes only: a product takes tables alone, or tables with exactly one axis in "
                "front of them. Look for a product that takes any number."
            ),
            hints=["How many axes have the queries of the case that crashes?"],
        ),
        Mistake(
            "one_table_at_a_time",
            _product(steps, lambda queries, keys: torch.stack([keys @ query for query in queries])),
            _product(steps, lambda queries, keys: torch.stack([(keys * query).sum(-1) for query in queries])).attempt,
            does="the first axis of the queries is taken for that of the single queries",
            says=(
                "Right for one table of queries. With a batch in front, the loop goes through the *batch*, and what it "
                "hands over as one query is a whole table. Look for a way without the loop."
            ),
            hints=[
                "What is one `query` of `for query in queries` when queries have the shape (7, 5, 4)?",
                "A matrix product of queries and keys scores all keys for all queries at once, whatever stands in "
                "front.",
                "`queries @ keys.mT` are all the scores; then softmax over the last axis. A product with the values, "
                "where they are asked for, mixes them all at once.",
            ],
        ),
    ]


def _with_the_values(steps: InSteps) -> Mistake:
    return Mistake(
        "queries_with_values",
        _product(steps, lambda queries, values: queries @ values.mT),
        does="the queries are compared with the values, not with the keys",
        says=(
            "The queries are compared with the values. It is the keys that a query is held against; the values are "
            "what is handed over. Where their widths differ, it crashes."
        ),
        hints=[
            "Do the keys occur in the code at all?",
            "Keys decide how much, values are mixed.",
            "`queries @ keys.transpose(-2, -1)`.",
        ],
    )


def _without(name: str, part: slice) -> Step:
    if name == "keys":
        return lambda keys: keys[..., part, :]
    return lambda values: values[..., part, :]

"""The mistakes that can be made wherever queries meet keys and weights meet values, each written once.

Each function takes an answer in steps, and returns the mistakes that can be made at some of them. They go by the names
of the steps: ``turned``, ``products`` (``scores`` where nothing is divided), ``width``, ``divisor``, ``scores``,
``weights``, ``mixture``, and for masks ``visible``, ``hidden``, ``fill``. A way that crashes, and so hides whatever
else is wrong, is given as an attempt rather than as a variant: it meets no other mistake.
"""

import dataclasses
import math
import re
from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as F

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.steps import InSteps, Step, Variant


def first_of(steps: InSteps, *names: str) -> str:
    """Return the first of these names that is one of the steps."""
    return next(name for name in names if name in steps.steps)


def all_axes_turned_round(x):
    """Return what ``.T`` returns, without the warning."""
    return x.permute(*reversed(range(x.dim())))


def first_table(x):
    """Return the first table of a batch, for all of it."""
    return x[(0,) * (x.dim() - 2)].expand_as(x)


def of_the_transposition(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in the transposition of the keys."""
    return [
        Mistake(
            "keys_not_transposed",
            [
                steps.but(turned=lambda keys: keys),
            ],
            does="the keys are not transposed before the product",
            says=(
                "The product pairs the width of the queries with the *number* of the keys: the keys have not been "
                "transposed. That crashes, or, where the two happen to be equal, gives nonsense. Look at the shapes of "
                "both sides."
            ),
            hints=[
                "(n_query, d) @ (n_key, d): which two numbers have to be equal in a matrix product?",
                "Each key is a row. It should be a column on the right-hand side.",
                "Swap the last two axes of the keys: `keys.mT`, or `keys.transpose(-2, -1)`.",
            ],
        ),
        Mistake(
            "transposes_the_batch",
            [
                steps.but(turned=lambda keys: all_axes_turned_round(keys)),
                steps.but(turned=lambda keys: keys.t()).attempt,
            ],
            does="the keys are transposed as if they were a single table, without a batch",
            says=(
                "Right for one table; with a batch in front, *all* the axes of the keys are turned round (or torch refuses "
                "to). The batch should stay where it is. Look at how the keys are transposed."
            ),
            hints=[
                "What shape does `.T` make of keys of shape (7, 3, 4)?",
                "Only the last two axes belong to the matrix.",
                "Swap just these: `keys.mT`, or `keys.transpose(-2, -1)`.",
            ],
        ),
        Mistake(
            "swaps_axes_from_the_front",
            [
                steps.but(turned=lambda keys: keys.transpose(0, 1)),
                steps.but(turned=lambda keys: keys.transpose(1, 2)),
                steps.but(turned=lambda keys: keys.transpose(2, 3)).attempt,
            ],
            does="the axes of the keys that are swapped are counted from the front",
            says=(
                "Right for one number of axes only: which axes of the keys are swapped is counted from the front, and each "
                "axis of a batch shifts that count. Look at the numbers in the transposition."
            ),
            hints=[
                "Of keys of shape (n_key, d), the axes 0 and 1 are to be swapped. Which are they in (batch, n_key, d), "
                "and which in (batch, heads, n_key, d)?",
                "Negative numbers count from the end, where the matrix always is.",
                "`keys.transpose(-2, -1)`, or `keys.mT`.",
            ],
        ),
        Mistake(
            "reshapes_the_keys",
            [
                steps.but(turned=lambda keys: keys.reshape(*keys.shape[:-2], keys.shape[-1], keys.shape[-2])),
                steps.but(turned=lambda keys: keys.reshape(keys.shape[-1], keys.shape[-2])).attempt,
                steps.but(turned=lambda keys: keys.reshape(keys.shape[1], keys.shape[0])).attempt,
                steps.but(turned=lambda keys: keys.view(keys.shape[-1], keys.shape[-2])).attempt,
            ],
            does="the keys are reshaped where they should be transposed",
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


def of_the_products(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in what is multiplied by what, where every query should meet every key."""
    return [
        Mistake(
            "keys_by_queries",
            [_product(steps, lambda queries, keys: keys @ queries.mT)],
            does="the table of scores has one row per key, not one per query",
            says=(
                "The table of scores has one row per *key*. It should have one row per query. Look at the order of the "
                "product, or at the order in which queries and keys are handed over."
            ),
            hints=[
                "What shape has the table for 2 queries and 3 keys? Which should it have?",
                "In `a @ b`, the rows of the result are the rows of a.",
                "The queries go on the left, the transposed keys on the right: `queries @ keys.mT`.",
            ],
        ),
        Mistake(
            "keys_in_front",
            [_product(steps, lambda queries, keys: keys @ queries).attempt],
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
            [
                _product(steps, lambda queries, keys: (queries * keys).sum(dim=-1)),
                _product(steps, lambda queries, keys: (keys * queries).sum(dim=-1)).attempt,
                _product(steps, lambda queries, keys: torch.einsum("...qd,...qd->...q", queries, keys)).attempt,
            ],
            does="query i is compared with key i only",
            says=(
                "Query i is compared with key i only: one number each, or a crash where there are more keys than queries. "
                "Every query has to meet every key."
            ),
            hints=[
                "How many scores are there for 2 queries and 3 keys?",
                "`*` pairs row i with row i. Which product pairs every row with every column?",
                "A matrix product: the queries, times the keys turned into columns, `keys.mT`.",
            ],
        ),
        Mistake(
            "products_not_added_up",
            [_product(steps, lambda queries, keys: queries * keys).attempt],
            does="queries and keys are multiplied entry by entry, and nothing adds the products up",
            says=(
                "Queries and keys are multiplied entry by entry, and nothing adds the products up. A score is one number "
                "for each query and key. Look at the product."
            ),
            hints=[
                "How many scores are there for 2 queries and 3 keys?",
                "A dot product multiplies entry by entry *and* adds up. Which sign does both, for all pairs?",
                "A matrix product: the queries, times the keys turned into columns, `keys.mT`.",
            ],
        ),
        Mistake(
            "queries_with_queries",
            [_product(steps, lambda queries: queries @ queries.mT)],
            does="the queries are compared with the queries, not with the keys",
            says="The queries are compared with one another: the keys play no part in the scores. Look at the product.",
            hints=[
                "Which two things does a score compare?",
                "Do the keys occur in the line that makes the scores?",
                "Queries times transposed keys: `queries @ keys.mT`.",
            ],
        ),
        Mistake(
            "keys_with_keys",
            [_product(steps, lambda keys: keys @ keys.mT)],
            does="the keys are compared with the keys, not with the queries",
            says="The keys are compared with one another: the queries play no part in the scores. Look at the product.",
            hints=[
                "Which two things does a score compare?",
                "Do the queries occur in the line that makes the scores?",
                "Queries times transposed keys: `queries @ keys.mT`.",
            ],
        ),
        Mistake(
            "pairs_from_the_front",
            [
                _product(steps, lambda queries, keys: (queries[:, None] * keys[None]).sum(dim=-1)),
                _product(steps, lambda queries, keys: (queries[:, :, None] * keys[:, None]).sum(dim=-1)).attempt,
            ],
            does="the pairs of query and key are formed along axes that are counted from the front",
            **PAIRS_FROM_THE_FRONT,
        ),
        Mistake(
            "one_number_of_axes",
            [
                _product(steps, lambda queries, turned: torch.bmm(queries, turned)),
                _product(steps, lambda queries, keys: torch.einsum("bqd,bkd->bqk", queries, keys)).attempt,
                _product(steps, lambda queries, keys: torch.einsum("qd,kd->qk", queries, keys)),
                _product(steps, lambda queries, turned: torch.mm(queries, turned)).attempt,
                _product(steps, lambda queries, keys: torch.tensordot(queries, keys, dims=([-1], [-1]))).attempt,
            ],
            does="a product is taken that works for one number of axes only",
            says=(
                "Right for one number of axes only: a product takes tables alone, or tables with exactly one axis in front "
                "of them. Look for a product that takes any number."
            ),
            hints=[
                "How many axes have the queries of the case that crashes?",
                "`...` in an `einsum` stands for whatever is in front, and a matrix product works on the last two axes.",
                "`queries @ keys.mT`.",
            ],
        ),
        Mistake(
            "one_table_at_a_time",
            [
                _product(steps, lambda queries, keys: torch.stack([keys @ query for query in queries])),
                _product(
                    steps, lambda queries, keys: torch.stack([(keys * query).sum(-1) for query in queries])
                ).attempt,
            ],
            does="a loop takes the first axis of the queries for that of the single queries",
            says=(
                "Right for one table of queries. With a batch in front, the loop goes through the *batch*, and what it hands "
                "over as one query is a whole table. Look for a way without the loop."
            ),
            hints=[
                "What is one `query` of `for query in queries` when queries have the shape (7, 5, 4)?",
                "A matrix product of queries and keys scores all keys for all queries at once, whatever stands in front.",
                "`queries @ keys.mT` are all the scores; then softmax over the last axis. A product with the values, where "
                "they are asked for, mixes them all at once.",
            ],
        ),
        Mistake(
            "batch_added_up",
            [
                _product(
                    steps,
                    lambda queries, keys: torch.einsum(
                        "bqd,bkd->qk", *(x[None] if x.dim() == 2 else x for x in (queries, keys))
                    ),
                )
            ],
            does="the products of all tables of a batch are added up",
            says=(
                "With a batch, the products of all its tables are added up: an axis is missing behind the arrow of the "
                "`einsum`, or summed over. Each table has scores of its own."
            ),
            hints=[
                "What shape should the scores have for queries of shape (7, 5, 4)?",
                "An `einsum` adds up over every letter that is missing behind its arrow.",
                "`...` in front of the other letters stands for whatever is in front: `...qd,...kd->...qk`.",
            ],
        ),
        Mistake(
            "absolute_scores",
            [_product(steps, lambda queries, turned: (queries @ turned).abs())],
            does="the absolute values of the products are taken",
            says=(
                "A key that points away from its query gets as much weight as one that points towards it: the absolute "
                "values of the scores are taken. Look at what is done with the products."
            ),
            hints=[
                "Which of the scores -3 and 1 should get the larger weight?",
                "Negative scores are wanted: softmax makes small weights of them.",
                "Leave `abs` out, or the square.",
            ],
        ),
    ]


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


def of_the_batch(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in which tables of a batch, or single keys, are left out."""
    has_values = "mixture" in steps.steps
    return [
        Mistake(
            "keys_of_the_first_table",
            [
                steps.but(keys=lambda keys: first_table(keys)),
                steps.but(keys=lambda keys: keys[:1] if keys.dim() > 2 else keys),
                steps.but(keys=lambda keys: keys[:1] if keys.dim() > 3 else keys).attempt,
            ],
            does="the keys of the first table of a batch are used for others too",
            says=(
                "With a batch, the keys of its first table are used for others too. Each table of queries has keys of its "
                "own. Look at how the keys are indexed."
            ),
            hints=[
                "Change the keys of the second table of a batch. Does its output change?",
                "An index or a slice on the first axis of a batch picks tables, not keys.",
                "Use the keys as they come: a matrix product takes any axes in front.",
            ],
        ),
        *(_of_values_in_a_batch(steps) if has_values else []),
        Mistake(
            "a_key_left_out",
            [
                steps.but(**{name: _without(name, part) for name in ("keys", "values")[: 1 + has_values]})
                for part in (slice(-1), slice(1, None))
            ],
            does="the first or the last key is left out",
            says="One key takes no part: the first, or the last. Look at the slices.",
            hints=[
                "How many keys are there, and how many weights does each query hand out?",
                "`x[:-1]` ends before the last, and `x[1:]` begins after the first.",
                "Use all the keys, as they come.",
            ],
        ),
    ]


def _of_values_in_a_batch(steps: InSteps) -> list[Mistake]:
    return [
        Mistake(
            "values_of_the_first_table",
            [
                steps.but(values=lambda values: first_table(values)),
                steps.but(values=lambda values: values[:1] if values.dim() > 2 else values),
                steps.but(values=lambda values: values[:1] if values.dim() > 3 else values).attempt,
            ],
            does="the values of the first table of a batch are used for others too",
            says=(
                "With a batch, the values of its first table are used for others too. Each table of weights has values of "
                "its own. Look at how the values are indexed."
            ),
            hints=[
                "Change the values of the second table of a batch. Does its output change?",
                "An index or a slice on the first axis of a batch picks tables, not values.",
                "Use the values as they come: a matrix product takes any axes in front.",
            ],
        )
    ]


def _without(name: str, part: slice) -> Step:
    if name == "keys":
        return lambda keys: keys[..., part, :]
    return lambda values: values[..., part, :]


def of_the_width(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in which another length is taken for d_k."""
    return [
        Mistake(
            "root_of_the_number_of_keys",
            [
                steps.but(width=lambda keys: keys.shape[-2]),
                steps.but(width=lambda queries, turned: (queries @ turned).shape[-1]),
            ],
            does="the number of keys is taken for d_k",
            says=(
                "The number of keys is taken for d_k. How many keys there are has nothing to do with the size of a single "
                "score: look at which length is taken."
            ),
            hints=[
                "How many products are added up in one score?",
                "`shape[-2]` counts vectors, `shape[-1]` is their width, until they are transposed.",
                "d_k is `queries.shape[-1]`.",
            ],
        ),
        Mistake(
            "root_of_the_number_of_queries",
            [steps.but(width=lambda queries: queries.shape[-2])],
            does="the number of queries is taken for d_k",
            says=(
                "The number of queries is taken for d_k. A score does not know how many other queries there are: look at "
                "which length is taken."
            ),
            hints=[
                "How many products are added up in one score?",
                "`shape[-2]` counts vectors, `shape[-1]` is their width.",
                "d_k is `queries.shape[-1]`.",
            ],
        ),
        Mistake(
            "root_of_the_first_length",
            [steps.but(width=lambda keys: len(keys)), steps.but(width=lambda queries: len(queries))],
            does="the first length of the queries or keys is taken for d_k",
            says=(
                "The *first* length is taken for d_k: it counts the vectors of a table, or the tables of a batch. Neither "
                "changes the size of a single score. Look at which length is taken."
            ),
            hints=[
                "How many products are added up in one score?",
                "Of keys of shape (7, 3, 4), `len` and `shape[0]` are 7. Which of the three numbers is d_k, and where does "
                "it stand?",
                "d_k is the last one: `queries.shape[-1]`.",
            ],
        ),
        Mistake(
            "root_of_the_second_length",
            [steps.but(width=lambda keys: keys.shape[1]), steps.but(width=lambda queries: queries.shape[1])],
            does="the length that is taken for d_k is number 1, counted from the front",
            says=(
                "Right for one table; with a batch in front, length number 1 counts vectors or heads, because it is "
                "counted from the front. Look at how the width is found."
            ),
            hints=[
                "Of keys of shape (7, 3, 4), `shape[1]` is 3. Which of the numbers is d_k?",
                "Which index means the last length, however many stand in front?",
                "`queries.shape[-1]`.",
            ],
        ),
        Mistake(
            "root_of_d_v",
            [steps.but(width=lambda values: values.shape[-1])],
            does="the width of the values is taken for d_k",
            says=(
                "The width of the *values* is taken for d_k. It often equals that of the keys, and then nobody "
                "notices, but the values take no part in the scores."
            ),
            hints=[
                "Which vectors are multiplied in a score?",
                "How many products are added up in q·k?",
                "Take the width from the queries: `queries.shape[-1]`.",
            ],
        ),
        Mistake(
            "a_fixed_width",
            [steps.but(width=lambda: 64), *(steps.but(width=_constant(n)).attempt for n in (2, 3, 4, 8, 512, 1024))],
            does="a fixed number is taken for d_k",
            says=(
                "The divisor is the same number whatever the width of the vectors: a fixed one, or one that another cell of "
                "the notebook has left behind. Look at where the divisor comes from."
            ),
            hints=[
                "Does every name in the function stand for an argument, or for something made inside it?",
                "The width has to be read off the arguments, at every call.",
                "`d_k = queries.shape[-1]`, inside the function.",
            ],
        ),
        Mistake(
            "the_whole_shape",
            [
                steps.but(width=lambda queries: queries.shape, divisor=lambda width: math.sqrt(width)).attempt,
                steps.but(width=lambda queries: queries.shape, divisor=lambda width: width**0.5).attempt,
                steps.but(width=lambda queries: queries.size, divisor=lambda width: math.sqrt(width)).attempt,
                steps.but(width=lambda queries: queries.size, divisor=lambda width: width**0.5).attempt,
            ],
            says="The root is taken of something that is not a number: it crashes. Look at what stands for d_k.",
            hints=[
                "What are `queries.shape` and `queries.size`?",
                "The lengths of all axes are in it. Which one is d_k?",
                "`queries.shape[-1]`.",
            ],
        ),
    ]


def _constant(number: float) -> Step:
    return lambda: number


def of_the_scaling(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in the division by the root of d_k."""
    name = first_of(steps, "scaled", "scores")

    def scaled(change: Step) -> Variant:
        return steps.but(**{name: change})

    return [
        Mistake(
            "no_scaling",
            [scaled(lambda products: products)],
            does="the products are not divided by √d_k",
            says="The scores are not scaled: at large d_k most rows put nearly all their weight on one key.",
            hints=[
                "How does the spread of q·k grow with d_k? `score_variance` of lesson 02 says it.",
                "By what must the scores be divided so that their variance is 1 again?",
                "Divide by the square root of `queries.shape[-1]`, before the softmax.",
            ],
        ),
        Mistake(
            "divides_by_d_k",
            [steps.but(divisor=lambda width: width)],
            does="the scores are divided by d_k, not by its root",
            says=(
                "The scores are divided by d_k, and not by its root: the weights become more and more even as d_k "
                "grows. Look at how dividing changes a variance."
            ),
            hints=[
                "If all scores are divided by c, what happens to their variance?",
                "Var(s / c) = Var(s) / c². With Var(s) = d_k, which c gives 1?",
                "The *root* of d_k, once: `queries.shape[-1] ** 0.5`.",
            ],
        ),
        Mistake(
            "power_without_brackets",
            [steps.but(divisor=lambda width: 2 * width)],
            does="the scores are divided by d_k and then by 2",
            says=(
                "A power of one half is meant, and Python reads something else: `**` binds more tightly than `/`. Look at what "
                "the scores are really divided by."
            ),
            hints=[
                "In a new cell, try `64 ** 1 / 2`. Is it 8?",
                "A power is taken first, then everything else from left to right.",
                "Write the exponent as one number, 0.5, or use `math.sqrt`.",
            ],
        ),
        Mistake(
            "half_of_d_k",
            [steps.but(divisor=lambda width: width / 2)],
            does="the divisor is half of d_k",
            says="The scores are divided by half of d_k, where its root is wanted. Look at how the divisor is made.",
            hints=[
                "In a new cell, try `64 ** 1 / 2` and `64 / 2`. Is either of them 8?",
                "A power is taken first, then everything else from left to right.",
                "Write the exponent as one number, 0.5, or use `math.sqrt`.",
            ],
        ),
        Mistake(
            "multiplies_by_the_root",
            [scaled(lambda products, divisor: products * divisor)],
            does="the products are multiplied by the root of d_k, not divided by it",
            says="The scores are multiplied by √d_k: they get larger instead of smaller. Look at the direction of the scaling.",
            hints=[
                "Are the scores of wide vectors too large or too small?",
                "Watch the order of `*`, `/` and `**` in the line.",
                "Divide by √d_k.",
            ],
        ),
        Mistake(
            "multiplies_by_d_k",
            [scaled(lambda products, width: products * width)],
            does="the products are multiplied by d_k",
            says="The scores are multiplied by d_k: they get larger instead of smaller. Look at what is done with d_k.",
            hints=[
                "Are the scores of wide vectors too large or too small?",
                "By what must numbers of variance d_k be divided to have variance 1?",
                "Divide by √d_k.",
            ],
        ),
        Mistake(
            "another_power",
            [
                steps.but(divisor=lambda width: width**0.25),
                steps.but(divisor=lambda width: width**2),
                steps.but(divisor=lambda width: width ** (1 / 3)).attempt,
                steps.but(divisor=lambda width: math.log(width)).attempt,
            ],
            does="the divisor is another power of d_k than its root, or a logarithm",
            says=(
                "The divisor grows with d_k, but not as its square root does. Look at which function of d_k is taken."
            ),
            hints=[
                "What is the divisor at d_k = 4 and at d_k = 16? It should double.",
                "A variance is divided by the square of the divisor.",
                "`queries.shape[-1] ** 0.5`.",
            ],
        ),
        Mistake(
            "rounded_root",
            [steps.but(divisor=lambda width: math.isqrt(width))],
            does="the root of d_k is rounded down to a whole number",
            says=(
                "Right where d_k is 1, 4, 9, 16 …; elsewhere the root of d_k is rounded down to a whole number. Look at "
                "how the root is taken."
            ),
            hints=[
                "What is the divisor at d_k = 8?",
                "`int`, `//` and `math.isqrt` drop what stands behind the point.",
                "`math.sqrt(d_k)` or `d_k ** 0.5`.",
            ],
        ),
        Mistake(
            "whole_number_division",
            [
                scaled(lambda products, divisor: products // divisor),
                scaled(lambda products, width: products // width).attempt,
            ],
            does="a division of the products drops what stands behind the point",
            says="The scores are rounded down to whole numbers: `//` drops what stands behind the point.",
            hints=[
                "What are `5 // 2` and `5 / 2`?",
                "Look for a division with two strokes.",
                "Divide with a single stroke.",
            ],
        ),
        Mistake(
            "root_of_an_int",
            [steps.but(divisor=lambda width: torch.sqrt(width)).attempt],
            does="`torch.sqrt` is given a Python number",
            says=(
                "`torch.sqrt` takes tensors, and a length is an ordinary Python number: it crashes. Look for the root of a "
                "number."
            ),
            hints=[
                "What is the type of `queries.shape[-1]`?",
                "The module `math` has functions for ordinary numbers.",
                "`math.sqrt(…)`, or `** 0.5`.",
            ],
        ),
        Mistake(
            "the_measured_spread",
            [
                scaled(lambda products: products / products.std()),
                scaled(lambda products: products / products.std(dim=-1, keepdim=True)),
            ],
            does="the scores are divided by their own standard deviation",
            says=(
                "The scores are divided by their own standard deviation. That comes near √d_k for many scores of random "
                "vectors, but it depends on which others are in the batch, and takes away any sharpness that was learned. The "
                "divisor should depend on the width alone."
            ),
            hints=[
                "If the queries are made 10 times longer, should the weights change? With this divisor they do not.",
                "`score_variance` says how large scores are *expected* to be, from d_k alone.",
                "Divide by the root of `queries.shape[-1]`.",
            ],
        ),
    ]


def of_scaling_too_early(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in which the scores of lesson 01 are scaled or normalised."""
    return [
        Mistake(
            "scaled_too_early",
            [steps.but(scores=lambda scores, queries: scores / queries.shape[-1] ** 0.5)],
            does="the scores are divided by √d",
            says=(
                "The scores are divided by √d: usual in Transformers, and the subject of lesson 02. Here the plain dot "
                "products are asked for."
            ),
            hints=[
                "The formula of this lesson is softmax(q kᵀ).",
                "Is there a square root in the code, or `F.scaled_dot_product_attention`?",
                "Leave the division out for now.",
            ],
        ),
        Mistake(
            "scaled_by_a_length",
            [
                steps.but(scores=lambda scores, queries: scores / queries.shape[-1]),
                steps.but(scores=lambda scores: scores / scores.shape[-1] ** 0.5),
                steps.but(scores=lambda scores: scores / scores.shape[-1]).attempt,
                steps.but(scores=lambda scores: scores / scores.shape[-2] ** 0.5).attempt,
            ],
            does="the scores are divided by d, or by the number of keys or its root",
            says=(
                "The scores are divided by a length: by d, or by a number of vectors. Here the plain dot products are asked "
                "for. Look for a division, or a mean."
            ),
            hints=[
                "The formula of this lesson is softmax(q kᵀ).",
                "A dot product is the *sum* of the products, not their mean.",
                "`queries @ keys.mT`, and then the softmax.",
            ],
        ),
        Mistake(
            "cosines",
            [
                _product(steps, lambda queries, keys: F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).mT),
                _product(steps, lambda queries, keys: queries @ F.normalize(keys, dim=-1).mT).attempt,
                _product(steps, lambda queries, keys: F.normalize(queries, dim=-1) @ keys.mT).attempt,
            ],
            does="queries or keys are divided by their lengths",
            says="Queries or keys are divided by their lengths. Here the plain dot products are asked for.",
            hints=[
                "Make a query 10 times longer. Should its weights get sharper?",
                "The formula of this lesson is softmax(q kᵀ).",
                "`queries @ keys.mT`, without a norm.",
            ],
        ),
    ]


def of_values_scaled_too(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in which something else is divided by the root of d_k than the scores."""
    return [
        Mistake(
            "scales_the_output",
            [
                steps.but(mixture=lambda mixture, divisor: mixture / divisor).attempt,
                steps.but(mixture=lambda mixture, width: mixture / width).attempt,
            ],
            says=(
                "The output is smaller than any mixture of the values: besides the scores, the weights or the values are "
                "divided too. Look at where the divisions stand."
            ),
            hints=[
                "With a single key, the output should be its value exactly. Is it?",
                "Which numbers grow with d_k: the scores, the weights or the values?",
                "Divide the scores, before the softmax, and nothing else.",
            ],
        ),
    ]


def of_the_softmax(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in making weights of the scores."""
    name = first_of(steps, "probabilities", "weights")

    def made(change: Step) -> Variant:
        return steps.but(**{name: change})

    return [
        Mistake(
            "softmax_over_the_queries",
            [
                made(lambda scores: scores.softmax(dim=-2)),
                made(lambda scores: scores.exp() / scores.exp().sum(dim=-2, keepdim=True)).attempt,
            ],
            does="the weights are normalised over the queries, not over the keys",
            says=(
                "The weights add up to 1 down each column: the queries compete for each key. It should be the keys that "
                "compete for each query. Look at the axis of the softmax."
            ),
            hints=[
                "Print `weights.sum(dim=-1)` and `weights.sum(dim=-2)`. Which of the two should be all ones?",
                "Row i belongs to query i and runs over the keys. Along which axis lie the keys?",
                "The keys are the last axis: `dim=-1`.",
            ],
        ),
        Mistake(
            "axis_from_the_front",
            [made(lambda scores: scores.softmax(dim=1))],
            does="the axis of the softmax is number 1, counted from the front",
            says=(
                "Right for one table; with a batch in front, the weights add up to 1 along another axis, because the softmax "
                "counts its axis from the front. Look at how the axis is named."
            ),
            hints=[
                "For scores of shape (batch, n_query, n_key), which axis is number 1?",
                "Which way of counting does not depend on what stands in front?",
                "Count from the end: the keys are the last axis, `dim=-1`.",
            ],
        ),
        Mistake(
            "first_axis",
            [made(lambda scores: scores.softmax(dim=0))],
            does="the softmax runs along the first axis",
            says=(
                "The weights add up to 1 along the first axis: over the queries, or, where there is a batch, over its tables. "
                "For each query, those of all the keys should add up to 1. Look at the axis of the softmax."
            ),
            hints=[
                "In a table of shape (n_query, n_key), which axis is number 0?",
                "The keys are the last axis, whatever stands in front. Which number always means the last?",
                "`dim=-1`.",
            ],
        ),
        Mistake(
            "softmax_over_everything",
            [
                made(lambda scores: scores.flatten(-2).softmax(dim=-1).view(scores.shape)),
                made(lambda scores: scores.flatten().softmax(dim=-1).view(scores.shape)),
            ],
            does="the weights of all queries together add up to 1",
            says=(
                "The weights of all queries *together* add up to 1. Those of each query should, by themselves. Look at "
                "what is summed, or at what the softmax is taken of."
            ),
            hints=[
                "Print `weights.sum(dim=-1)`.",
                "`.sum()` without an axis adds up everything there is, and a flattened table is one long row.",
                "`parts.softmax` does it row by row; by hand it is `.sum(dim=-1, keepdim=True)`.",
            ],
        ),
        Mistake(
            "scores_instead_of_weights",
            [made(lambda scores: scores)],
            does="the scores are used as weights, without a softmax",
            says=(
                "Raw scores serve as weights: nothing makes them positive or lets them add up to 1. A step is missing after "
                "the scores."
            ),
            hints=[
                "With a single key, every query should give it the weight 1. Does it?",
                "Which function turns a row of scores into weights?",
                "`torch.softmax` over the last axis of the scores.",
            ],
        ),
        Mistake(
            "never_divided",
            [
                made(lambda scores: scores.exp()),
                made(lambda scores: (scores - scores.amax(dim=-1, keepdim=True)).exp()),
            ],
            does="the exponentials are not divided by their sum",
            says="The weights are positive, but do not add up to 1. One step of the softmax is missing.",
            hints=[
                "Print the sum of each row of the weights.",
                "`exp` of the scores is only the first half of a softmax.",
                "`torch.softmax(scores, dim=-1)` in place of the exponential.",
            ],
        ),
        Mistake(
            "overflows",
            [
                made(lambda scores: scores.exp() / scores.exp().sum(dim=-1, keepdim=True)),
                made(lambda scores: scores.exp() / (scores.exp().sum(dim=-1, keepdim=True) + 1e-9)),
            ],
            does="`exp` is taken of the scores as they are, without subtracting the largest",
            says=(
                "Right for ordinary scores. But `exp` of a score above 88 is infinite, and where all are far below 0, "
                "all are 0: the division then gives nan. Lesson 01 says what may be subtracted from the scores first."
            ),
            hints=[
                "What is `torch.exp(torch.tensor(100.0))`? And infinity divided by infinity?",
                "A softmax does not change if the same number is subtracted from all scores of a row.",
                "`parts.softmax` and `torch.softmax` subtract the largest score of each row first.",
            ],
        ),
        Mistake(
            "one_maximum_for_all",
            [made(_one_maximum_for_all)],
            does="one maximum is subtracted from the scores of all queries",
            says=(
                "One maximum is subtracted from the scores of all queries. Where those of one query are far below it, all "
                "their exponentials become 0, and 0/0 is nan. Each row has a maximum of its own."
            ),
            hints=[
                "`scores.max()` without an axis is the largest number of the whole tensor.",
                "Which rows does the largest score of one query concern?",
                "`scores.amax(dim=-1, keepdim=True)`, or `torch.softmax`.",
            ],
        ),
        Mistake(
            "divides_by_the_sum",
            [
                made(lambda scores: scores / scores.sum(dim=-1, keepdim=True)),
                made(lambda scores: scores / scores.sum()),
                made(lambda scores: scores.relu() / scores.relu().sum(dim=-1, keepdim=True)).attempt,
            ],
            does="the scores are divided by their sum, without `exp`",
            says=(
                "The scores themselves are divided by their sum. Scores may be negative, and weights must be positive. Look "
                "at how the scores become weights."
            ),
            hints=[
                "What happens to the scores 1 and -1?",
                "Which function of the lesson makes weights of scores of either sign?",
                "`parts.softmax(scores)`.",
            ],
        ),
        Mistake(
            "softmax_twice",
            [made(lambda scores: scores.softmax(dim=-1).softmax(dim=-1))],
            does="the softmax is taken twice",
            says=(
                "The weights are nearly the same for all keys: a softmax is taken of something that has been through one "
                "already. Look at what makes weights of scores."
            ),
            hints=[
                "`parts.attention_weights` gives weights already. What do their rows add up to?",
                "How many times does a softmax run on the way from the scores to the output?",
                "Take the softmax once, of the scores.",
            ],
        ),
        Mistake(
            "sigmoid",
            [made(lambda scores: scores.sigmoid())],
            does="a sigmoid makes weights of the scores",
            says="A sigmoid looks at each score alone, so the weights of a query do not add up to 1. Look for a softmax.",
            hints=[
                "Print the sum of each row of the weights.",
                "Which function lets the keys compete with one another?",
                "`torch.softmax(scores, dim=-1)`.",
            ],
        ),
        Mistake(
            "logarithm",
            [made(lambda scores: scores.log_softmax(dim=-1))],
            does="the logarithms of the weights are taken",
            says="These are the logarithms of the weights: none is above 0. Look at the name of the softmax.",
            hints=[
                "Can a weight be negative?",
                "`log_softmax` is for losses.",
                "`torch.softmax(scores, dim=-1)`.",
            ],
        ),
        Mistake(
            "smallest_first",
            [made(lambda scores: (-scores).softmax(dim=-1))],
            does="the softmax is taken of the scores with the wrong sign",
            says="The key with the smallest score gets the largest weight. Look at the sign of the scores.",
            hints=[
                "Which key should get the largest weight?",
                "A softmax prefers large scores.",
                "Take the softmax of the scores as they are, without turning their sign.",
            ],
        ),
        Mistake(
            "only_the_best",
            [
                made(lambda scores: F.one_hot(scores.argmax(dim=-1), scores.shape[-1]).to(scores.dtype)),
                made(lambda scores: (scores == scores.amax(dim=-1, keepdim=True)).to(scores.dtype)),
            ],
            does="each query takes its best key alone",
            says=(
                "Each query takes its best key only: a hard lookup. No gradient can tell the other keys to "
                "come closer. Every key should have a weight."
            ),
            hints=[
                "Where does the code choose instead of weighing?",
                "Replace argmax by something soft.",
                "A softmax over the keys.",
            ],
        ),
        Mistake(
            "plain_average",
            [made(lambda scores: torch.full_like(scores, 1 / scores.shape[-1]))],
            does="every key gets the same weight",
            says="Every key gets the same weight, whatever the scores are. Look at what becomes of the scores.",
            hints=[
                "Does the result change when the queries change?",
                "Weights are made of the scores.",
                "A softmax of the scores over the keys.",
            ],
        ),
        Mistake(
            "rounded_weights",
            [made(_rounded(decimals)).attempt for decimals in (1, 2, 3)],
            does="the weights are rounded",
            says="The weights are rounded, and with them all that follows. Round numbers only to print them.",
            hints=[
                "Where does the code round?",
                "The derivative of a rounded number is 0, so nothing could be learned either.",
                "Leave `round` out.",
            ],
        ),
        Mistake(
            "causal_weights",
            [made(lambda scores: _causal(scores).softmax(dim=-1))],
            does="query i does not see the keys behind the i-th",
            says=(
                "Query i does not see the keys that come after the i-th: that is a causal mask, which lesson 04 is about. "
                "Nobody asked for it here."
            ),
            hints=[
                "Which keys does the first query see?",
                "Where does a triangle of a table come in?",
                "Leave out the mask that is made inside.",
            ],
        ),
    ]


def _rounded(decimals: int) -> Step:
    return lambda scores: scores.softmax(dim=-1).round(decimals=decimals)


def _causal(scores):
    return scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -torch.inf)


def _one_maximum_for_all(scores):
    exponentials = (scores - scores.max()).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def of_the_mixture(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in mixing the values by the weights."""

    def mixed(change: Step) -> Variant:
        return steps.but(mixture=change)

    return [
        Mistake(
            "only_the_weights",
            [mixed(lambda weights: weights)],
            does="the weights are not multiplied by the values",
            says="These are the weights: one number per query and key. The values have not been mixed yet.",
            hints=[
                "What shape is asked for, and what shape comes out?",
                "Row i of the weights says how much of each value query i takes.",
                "Multiply the weights by the values: `weights @ values`.",
            ],
        ),
        Mistake(
            "values_on_the_left",
            [
                mixed(lambda weights, values: values @ weights),
                mixed(lambda weights, values: values.mT @ weights),
                mixed(lambda weights, values: weights @ values.mT),
                mixed(lambda weights, values: values.mT @ weights.mT),
            ],
            does="the last product does not pair the keys of the weights with those of the values",
            says=(
                "The last product does not pair the keys with the keys: the values stand in front of the weights, or are "
                "transposed. That crashes, gives a table turned round, or, where the numbers happen to fit, mixes the "
                "entries of each value instead of the values."
            ),
            hints=[
                "The weights have the shape (n_query, n_key), the values (n_key, d_v). In which order do they fit?",
                "In `a @ b`, the rows of the result are mixtures of the rows of b.",
                "`weights @ values`.",
            ],
        ),
        Mistake(
            "weights_transposed",
            [
                mixed(lambda weights, values: weights.mT @ values),
                mixed(lambda weights, values: torch.einsum("...ij,...id->...jd", weights, values)),
            ],
            does="the values are mixed by the weights turned round",
            says=(
                "The weights are the wrong way round: keys and queries have changed places in the last product. It crashes "
                "where their numbers differ. Look at which axis of the weights meets the values."
            ),
            hints=[
                "(n_key, n_query) @ (n_key, d_v): which numbers have to be equal?",
                "Each *row* of the weights should hold one query's weights.",
                "`weights @ values`, without a transposition.",
            ],
        ),
        Mistake(
            "entry_by_entry",
            [
                mixed(lambda weights, values: weights * values),
                mixed(lambda weights, values: values * weights).attempt,
                mixed(lambda weights, values: (weights * values).sum(dim=-1, keepdim=True)).attempt,
                mixed(lambda weights, values: (weights * values).sum(dim=-2)).attempt,
            ],
            does="weights and values are multiplied entry by entry",
            says=(
                "Weights and values are multiplied entry by entry. That crashes, or, where the numbers happen to fit, "
                "pairs weights with the wrong numbers. Look at the last product."
            ),
            hints=[
                "How do (n_query, n_key) and (n_key, d_v) become (n_query, d_v)? Which axis is gone at the end?",
                "A mixture is a *sum* of weight times value, over all the keys.",
                "`@` does both, the products and the sums.",
            ],
        ),
        Mistake(
            "mixes_the_keys",
            [mixed(lambda weights, keys: weights @ keys)],
            does="the keys are mixed, not the values",
            says="The keys are mixed, not the values. The keys only decide *how much*; what is handed over are the values.",
            hints=[
                "Do the values occur in the code at all?",
                "The output has the width of the values.",
                "Weights times `values`.",
            ],
        ),
        Mistake(
            "mixes_the_queries",
            [mixed(lambda weights, queries: weights @ queries)],
            does="the queries are mixed, not the values",
            says="The queries are mixed, not the values. What is handed over are the values.",
            hints=[
                "Do the values occur in the code at all?",
                "The output has the width of the values.",
                "Weights times `values`.",
            ],
        ),
        Mistake(
            "weights_as_well",
            [
                mixed(lambda mixture, weights: (mixture, weights)),
                mixed(lambda mixture, weights: [mixture, weights]).attempt,
                mixed(lambda mixture, weights: (weights, mixture)).attempt,
            ],
            does="the weights are returned besides the output",
            says=(
                "Two things come back, the output and the weights. That is useful for looking inside, but the output alone is "
                "asked for."
            ),
            hints=[
                "What does the annotation after `->` promise?",
                "Look at the `return`: a comma there makes a pair.",
                "Return the mixed values only: `weights @ values`.",
            ],
        ),
        Mistake(
            "averaged_over_the_keys",
            [mixed(lambda mixture, weights: mixture / weights.shape[-1])],
            does="the mixture is divided by the number of keys",
            says=(
                "The output is divided by the number of keys. Weights that add up to 1 make an average already. Look for a "
                "mean where a sum is wanted."
            ),
            hints=[
                "With two equal values, the output should be that value. Is it?",
                "The sum of weight times value is the weighted average.",
                "`weights @ values`, without a mean.",
            ],
        ),
        Mistake(
            "queries_added",
            [mixed(lambda mixture, queries: mixture + queries), mixed(lambda mixture, values: mixture + _mean(values))],
            does="something is added to the mixture",
            says="Something is added to the mixture of the values. The mixture alone is asked for. Look for a `+` at the end.",
            hints=[
                "With a single key, every output should be its value. Is it?",
                "Residual connections come in lesson 06, around the attention.",
                "`weights @ values`, and nothing else.",
            ],
        ),
        Mistake(
            "rounded_output",
            [mixed(_rounded_output(decimals)).attempt for decimals in (1, 2)],
            does="the output is rounded",
            says="The output is rounded. Round numbers only to print them.",
            hints=[
                "Where does the code round?",
                "The derivative of a rounded number is 0, so nothing could be learned either.",
                "Leave `round` out.",
            ],
        ),
    ]


def _mean(values):
    return values.mean(dim=-2, keepdim=True)


def _rounded_output(decimals: int) -> Step:
    return lambda mixture: mixture.round(decimals=decimals)


def of_the_mask(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in reading a mask, and in hiding what it hides; a mask may be None."""
    inner = first_of(steps, "probabilities", "weights")
    outer = inner == "probabilities"

    def read(change: Callable[[Any], Any]) -> Variant:
        return steps.but(visible=lambda mask: None if mask is None else change(mask))

    def filled(change: Callable[[Any, Any], Any]) -> Variant:
        return steps.but(scores=_where_there_is_a_mask(change))

    def afterwards(change: Callable[[Any, Any], Any]) -> Variant:
        def weights(scaled, visible):
            return change(scaled.softmax(dim=-1), visible) if visible is not None else scaled.softmax(dim=-1)

        return steps.but(weights=weights)

    return [
        Mistake(
            "mask_inverted",
            [read(lambda mask: ~mask)],
            does="the mask is read the wrong way round",
            says="The mask is read the wrong way round: what is allowed gets hidden. True means *may look*.",
            hints=[
                "With a mask that is True everywhere, what becomes of the scores?",
                "`masked_fill` fills where its first argument is True. Where should it fill?",
                "`~mask` instead of `mask`.",
            ],
        ),
        Mistake(
            "mask_ignored",
            [steps.but(scores=lambda scaled: scaled)],
            does="the mask never reaches the scores",
            says="The mask never reaches the scores, or what is made with it is lost: hidden keys get weight.",
            hints=[
                "Does `mask` occur in the code, and is what comes out of that used?",
                "`masked_fill` gives a new tensor; it does not change the old one.",
                "The masked scores are what goes into the softmax: `scores = scores.masked_fill(~mask, -torch.inf)`.",
            ],
        ),
        Mistake(
            "filled_with_zero",
            [
                steps.but(fill=lambda: 0.0),
                filled(lambda scaled, visible: scaled * visible),
                steps.but(fill=lambda: 1.0).attempt,
            ],
            does="hidden scores become 0 or 1 where they should become −∞",
            says=(
                "Hidden scores become 0 or 1, which are scores like others, as e⁰ = 1: a hidden key still gets weight, even "
                "more than keys that match badly. Look at the number that is filled in."
            ),
            hints=[
                "What weight does a score of 0 get beside scores of -1 and 1?",
                "Which number has 0 as its exponential?",
                "-∞: `-torch.inf` or `float('-inf')`.",
            ],
        ),
        Mistake(
            "not_low_enough",
            [
                steps.but(fill=lambda: -1e4),
                steps.but(fill=lambda: -10.0),
                filled(lambda scaled, visible: scaled + ~visible * -1e4),
                steps.but(fill=lambda: -1.0).attempt,
                steps.but(fill=lambda: -100.0).attempt,
            ],
            does="hidden scores become low numbers, not −∞",
            says=(
                "Hidden scores become low, but not low enough: beside a visible score that is as low, hidden keys get "
                "weight. Look at the number that is filled in or added."
            ),
            hints=[
                "One key may be seen, and its score is lower than the number for hidden ones. Which keys get the weight?",
                "Which number has exactly 0 as its exponential, whatever stands beside it?",
                "-∞: `scores.masked_fill(~mask, -torch.inf)`.",
            ],
        ),
        Mistake(
            "mask_added",
            [filled(lambda scaled, visible: scaled + visible)],
            does="the mask is added to the scores, True as 1 and False as 0",
            says=(
                "The mask is added to the scores as it is, True as 1 and False as 0: hidden keys only get somewhat less "
                "weight. Look at what is added."
            ),
            hints=[
                "By how much does a score change where the mask is False?",
                "Only a score of -∞ leaves no weight; a mask of True and False says where to fill, not what to add.",
                "`scores.masked_fill(~mask, -torch.inf)`.",
            ],
        ),
        Mistake(
            "zero_scores_hidden_too",
            [
                filled(_hide_zeros),
                steps.but(
                    scores=_where_there_is_a_mask(_hide_zeros),
                    **{inner: lambda scores: scores.softmax(dim=-1).nan_to_num()},
                ),
            ],
            does="scores that are exactly 0 are hidden as well",
            says=(
                "What is hidden is recognised by a score of 0. A visible score can be 0 too: that of a query of zeros is, "
                "for every key. Look at how the places are found that are filled with −∞."
            ),
            hints=[
                "What are the scores of a query of zeros?",
                "Which argument says what is hidden, whatever the scores are?",
                "`scores.masked_fill(~mask, -torch.inf)`.",
            ],
        ),
        Mistake(
            "infinity_times_zero",
            [
                filled(lambda scaled, visible: scaled + ~visible * -torch.inf).attempt,
                steps.but(fill=lambda: torch.inf).attempt,
                filled(lambda scaled, visible: scaled.masked_fill(~visible, -torch.inf) * visible).attempt,
                steps.but(fill=lambda: torch.nan).attempt,
                *(
                    [
                        steps.but(
                            scores=_where_there_is_a_mask(change), weights=lambda probabilities: probabilities
                        ).attempt
                        for change in (
                            lambda scaled, visible: scaled + ~visible * -torch.inf,
                            lambda scaled, visible: scaled.masked_fill(~visible, torch.inf),
                            lambda scaled, visible: scaled.masked_fill(~visible, -torch.inf) * visible,
                        )
                    ]
                    if outer
                    else []
                ),
            ],
            says=(
                "Nearly everything is nan: an infinity is multiplied by 0, or it is not −∞ that goes into the softmax. Look "
                "at where the infinity comes in."
            ),
            hints=[
                "What are `-torch.inf * 0` and the softmax of 1 and +∞?",
                "What has to be chosen, place by place, cannot be had by multiplying with infinity; and it takes -∞ to "
                "have an exponential of 0.",
                "`scores.masked_fill(~mask, -torch.inf)` fills without multiplying.",
            ],
        ),
        Mistake(
            "mask_after_the_softmax",
            [afterwards(lambda weights, visible: weights * visible)],
            does="the mask sets weights to 0 after the softmax",
            says=(
                "The weights are set to 0 *after* the softmax: those that are left add up to less than 1, and the better a "
                "hidden key matches, the smaller they get. It still has a say. Look at where the mask comes in."
            ),
            hints=[
                "Print the sums of the rows of the weights.",
                "The softmax divides by a sum. Is the hidden key in that sum?",
                "Mask the *scores*, with a number whose exponential is 0.",
            ],
        ),
        Mistake(
            "renormalised_after_the_softmax",
            [
                afterwards(
                    lambda weights, visible: (weights * visible) / (weights * visible).sum(dim=-1, keepdim=True)
                ),
                afterwards(_renormalised_without_nan),
                afterwards(
                    lambda weights, visible: weights * visible / ((weights * visible).sum(dim=-1, keepdim=True) + 1e-9)
                ),
                steps.but(weights=lambda scaled, visible: _exponentials_times_mask(scaled, visible)),
            ],
            does="weights are set to 0 after the softmax, and divided by what is left",
            says=(
                "To multiply by the mask and divide by what is left is right on paper. But where a hidden key matches far "
                "better than the others, it drowns them before it is taken out: their weights have become 0 already, or its "
                "exponential is too large for a float. Look at where the mask comes in."
            ),
            hints=[
                "What are the exponentials and the weights of the scores 200 and 0? What is left once the first is hidden?",
                "What is hidden must not take part in the softmax at all.",
                "Mask the *scores*, with a number whose exponential is 0.",
            ],
        ),
        Mistake(
            "mask_transposed",
            [read(lambda mask: mask.mT)],
            does="the mask is read with queries and keys exchanged",
            says=(
                "The mask is turned round before it is used: its rows belong to the queries and its columns to the keys "
                "already. Look for a transposition of the mask."
            ),
            hints=[
                "Which axis of the mask belongs to the keys?",
                "It has the axes of the scores, in the same order.",
                "Use the mask as it comes.",
            ],
        ),
        Mistake(
            "one_row_of_the_mask",
            [read(lambda mask: mask[..., :1, :]), read(lambda mask: mask[..., -1:, :])],
            does="one row of the mask is used for all queries",
            says="One row of the mask is used for all queries. Each query has a row of its own. Look at what is indexed.",
            hints=[
                "What may the first query see, and what the second?",
                "The axis before the last belongs to the queries.",
                "Use the mask as it comes.",
            ],
        ),
        Mistake(
            "one_sentence_of_the_mask",
            [
                read(lambda mask: mask[:1] if mask.dim() > 2 else mask),
                read(lambda mask: mask[(0,) * (mask.dim() - 2)]),
                read(lambda mask: mask[:, :1] if mask.dim() == 4 else mask),
                read(lambda mask: mask[:, 0] if mask.dim() == 4 else mask).attempt,
            ],
            does="the mask of one sentence, or of one head, is used for others too",
            says=(
                "The mask of one sentence, or of one head, is used for the others too. Each may have a mask of its own. "
                "Look at what is indexed."
            ),
            hints=[
                "Which axes of the mask stand in front of the last two, and what happens to them?",
                "An axis of length 1 is stretched by itself; a longer one has something to say for each place.",
                "Use the mask as it comes.",
            ],
        ),
        Mistake(
            "some_masks_ignored",
            [
                steps.but(
                    visible=lambda mask, scaled: mask if mask is not None and mask.shape == scaled.shape else None
                )
                if not outer
                else steps.but(
                    visible=lambda mask, scaled: mask if mask.shape == scaled.shape else torch.ones_like(mask)
                ),
                read(lambda mask: mask if mask.dim() == 2 else torch.ones_like(mask)),
                read(lambda mask: mask if mask.dim() > 2 else torch.ones_like(mask)),
                read(lambda mask: mask if mask.dim() == 4 else torch.ones_like(mask)),
                read(lambda mask: mask if mask.dim() < 4 else torch.ones_like(mask)),
            ],
            does="masks of some shapes are not used",
            says="Masks of some shapes are not used: hidden keys get weight there. Look at the condition on the shape.",
            hints=[
                "Which shapes have the masks of the cases, and which of them are used?",
                "A mask of fewer axes, or with axes of length 1, is broadcast to the scores by itself.",
                "Use the mask whatever its shape: `scores.masked_fill(~mask, -torch.inf)`.",
            ],
        ),
    ]


def _where_there_is_a_mask(change: Callable[[Any, Any], Any]) -> Step:
    return lambda scaled, visible: scaled if visible is None else change(scaled, visible)


def _hide_zeros(scaled, visible):
    scores = scaled * visible
    return scores.masked_fill(scores == 0, -torch.inf)


def _renormalised_without_nan(weights, visible):
    return (weights * visible / (weights * visible).sum(dim=-1, keepdim=True)).nan_to_num()


def _exponentials_times_mask(scaled, visible):
    exponentials = scaled.exp() if visible is None else scaled.exp() * visible
    return exponentials / (exponentials.sum(dim=-1, keepdim=True) + 1e-9)


COMMON = (
    "transposes_the_batch",
    "swaps_axes_from_the_front",
    "keys_by_queries",
    "one_number_of_axes",
    "absolute_scores",
    "a_key_left_out",
    "softmax_over_the_queries",
    "axis_from_the_front",
    "first_axis",
    "softmax_over_everything",
    "scores_instead_of_weights",
    "never_divided",
    "overflows",
    "divides_by_the_sum",
    "softmax_twice",
    "sigmoid",
    "smallest_first",
    "causal_weights",
    "only_the_weights",
    "weights_transposed",
    "mixes_the_keys",
    "weights_as_well",
    "averaged_over_the_keys",
    "queries_added",
)
"""What is common enough to meet another mistake; of all pairs, there would be thousands."""


def without(mistakes: list[Mistake], *names: str) -> list[Mistake]:
    """Return these mistakes but for some, which the exercise tells in its own words or which are none there."""
    assert set(names) <= {mistake.name for mistake in mistakes}, names
    return [mistake for mistake in mistakes if mistake.name not in names]


def alone(mistakes: list[Mistake], *but: str) -> list[Mistake]:
    """Return these mistakes so that they meet no other, but for some."""
    return [m if m.name in but else dataclasses.replace(m, ways=m.attempts) for m in mistakes]


def renamed(mistakes: list[Mistake], **names: str) -> list[Mistake]:
    """Return these mistakes with other names in the code that they show: where ``queries`` are called ``q``."""

    def text(told: str) -> str:
        return re.sub(r"`[^`]*`", lambda code: re.sub(r"\w+", lambda name: names.get(name[0], name[0]), code[0]), told)

    return [dataclasses.replace(m, says=text(m.says), hints=[text(hint) for hint in m.hints]) for m in mistakes]

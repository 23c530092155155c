"""Attention of one new token over a paged KV cache, as in vLLM.

``attend_with_cache`` in lesson 10 has a contiguous cache. Here, a block table contains the location of each page.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def paged_attention(
    query: Float[Tensor, "batch n_heads d_k"],
    key_pages: Float[Tensor, "n_pages page_size n_heads d_k"],
    value_pages: Float[Tensor, "n_pages page_size n_heads d_v"],
    block_table: Int[Tensor, "batch max_pages"],
    lengths: Int[Tensor, " batch"],
) -> Float[Tensor, "batch n_heads d_v"]:
    """Attend from one query per request to its first `lengths` tokens; `block_table` lists its pages in order."""
    keys, values = key_pages[block_table].flatten(1, 2), value_pages[block_table].flatten(1, 2)  # (batch, n, …)
    scores = torch.einsum("bhd,bnhd->bhn", query, keys) / query.shape[-1] ** 0.5
    cached = torch.arange(keys.shape[1]) < lengths[:, None]
    weights = scores.masked_fill(~cached[:, None], -torch.inf).softmax(dim=-1)
    return torch.einsum("bhn,bnhd->bhd", weights, values)


def keys(key_pages, block_table):
    """take the pages of each request in the order of its table → the keys of each request, (batch, n, n_heads, d_k)"""
    return key_pages[block_table].flatten(1, 2)


def values(value_pages, block_table):
    """take the pages of values in the order of the table → the values of each request, (batch, n, n_heads, d_v)"""
    return value_pages[block_table].flatten(1, 2)


def divisor(query):
    """take the square root of the width of the query → the divisor: √d_k"""
    return query.shape[-1] ** 0.5


def scores(query, keys, divisor):
    """multiply each query by the keys of its head, and scale → the scores, (batch, n_heads, n)"""
    return torch.einsum("bhd,bnhd->bhn", query, keys) / divisor


def cached(keys, lengths):
    """mark the first tokens of each request, up to its length → the mask of the cached tokens, (batch, n)"""
    return torch.arange(keys.shape[1]) < lengths[:, None]


def masked(scores, cached):
    """set the scores of uncached tokens to −∞ → the masked scores"""
    return scores.masked_fill(~cached[:, None], -torch.inf)


def weights(masked):
    """take the softmax over the keys → the weights, (batch, n_heads, n)"""
    return masked.softmax(dim=-1)


def output(weights, values):
    """average the values of each head → the output, (batch, n_heads, d_v)"""
    return torch.einsum("bhn,bnhd->bhd", weights, values)


STEPS = InSteps(keys, values, divisor, scores, cached, masked, weights, output, reference=paged_attention)


def paged_attention_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(lengths, page_size, n_heads, d_k, d_v, shows, *, spare=2):
        """Assign shuffled pages to requests. Unused table entries are stale: they point to other requests' pages."""
        counts = [-(-length // page_size) for length in lengths]
        n_pages = sum(counts) + spare
        pages = torch.randperm(n_pages, generator=rng)
        while sum(counts) > 1 and bool((pages[: sum(counts)].diff() > 0).all()):
            pages = torch.randperm(n_pages, generator=rng)
        table = torch.randint(n_pages, (len(lengths), max(counts)), generator=rng)
        for row, own in zip(table, pages[: sum(counts)].split(counts), strict=True):
            row[: len(own)] = own
        inputs = {
            "query": 1.5 * normal(rng, len(lengths), n_heads, d_k),
            "key_pages": normal(rng, n_pages, page_size, n_heads, d_k),
            "value_pages": normal(rng, n_pages, page_size, n_heads, d_v),
            "block_table": table,
            "lengths": torch.tensor(lengths),
        }
        return Case(inputs, shows)

    return [
        case([1], 1, 1, 2, 1, "one token in one page"),
        case([4], 2, 1, 2, 3, "4 tokens in 2 full pages"),
        case([3], 2, 2, 3, 2, "3 tokens in pages of 2: the last page is half full"),
        case([3, 3, 3], 3, 3, 3, 3, "3 requests with a full page of 3, 3 heads of width 3"),
        case([5, 2], 2, 2, 3, 5, "2 requests of 5 and 2 tokens"),
        case([7, 1, 4], 3, 2, 5, 4, "3 requests of 7, 1 and 4 tokens, pages of 3"),
        case([33, 17, 40, 5], 8, 3, 11, 7, "4 requests of up to 40 tokens, pages of 8", spare=5),
    ]


def first_pages(pages, block_table):
    """Return the first pages in memory for every request, as many as the block table lists."""
    return pages[torch.arange(block_table.shape[1]).expand_as(block_table)].flatten(1, 2)


def in_used_pages(key_pages, keys, lengths):
    """Mark every slot of the pages that hold at least one token of the request."""
    page_size = key_pages.shape[1]
    n_slots = (lengths + page_size - 1) // page_size * page_size
    return torch.arange(keys.shape[1]) < n_slots[:, None]


def values_by_request_number(value_pages, block_table):
    requests = torch.arange(len(block_table))[:, None].expand_as(block_table)
    return value_pages[requests].flatten(1, 2)


MISTAKES = [
    Mistake(
        "ignores_the_table",
        STEPS.but(
            keys=lambda key_pages, block_table: first_pages(key_pages, block_table),
            values=lambda value_pages, block_table: first_pages(value_pages, block_table),
        ),
        summary="you read the pages in the order of the memory",
        message="You read the pages in the order in which they are in memory, so requests read each other's tokens. "
        "Which argument says which pages belong to a request, and in which order?",
        hints=["If row 0 of the table is [5, 2], which page holds the first tokens of request 0?"],
    ),
    Mistake(
        "pages_sorted",
        STEPS.but(block_table=lambda block_table: block_table.sort(dim=-1).values),
        summary="you sort the pages of each request",
        message="You sort the pages of each request. Their order in the table is the order of the tokens, and the last "
        "page may be only partly filled. Where do you sort?",
        hints=["If row 0 of the table is [5, 2] and the length is 3, which tokens of page 2 count?"],
    ),
    Mistake(
        "whole_last_page",
        STEPS.but(cached=lambda key_pages, keys, lengths: in_used_pages(key_pages, keys, lengths)),
        summary="you attend to the empty slots of the last page",
        message=(
            "{summary}: a request of 3 tokens in pages of 2 attends to 4 slots. How many of its slots hold a token?"
        ),
        hints=["A request has 3 tokens in pages of 2. How many keys should get a weight, and how many do?"],
    ),
    Mistake(
        "nothing_masked",
        STEPS.but(masked=lambda scores: scores),
        summary="you attend to the whole last page and to unused pages",
        message=(
            "You attend to every slot of every page in the table. The last page may be only partly filled, and short "
            "requests have stale entries in the table. Which argument says how many tokens count?"
        ),
        hints=["A request has 3 tokens in pages of 2. How many slots do you attend to?"],
    ),
    Mistake(
        "one_token_too_many",
        STEPS.but(cached=lambda keys, lengths: torch.arange(keys.shape[1]) <= lengths[:, None]),
        summary="you attend to the first `lengths` + 1 tokens of each request instead of the first `lengths`",
        message="You attend to one token too many: with length 3, the slots 0, 1 and 2 count. Which comparison gives 3 "
        "slots?",
        hints=["For a length of 1, which slots are cached?"],
    ),
    Mistake(
        "values_by_request_number",
        STEPS.but(values=values_by_request_number),
        summary="you look up the pages of values by the number of the request instead of the block table",
        message="{summary}, so request 0 always gets page 0. Which pages hold the values of request 0?",
        hints=["If row 0 of the block table is [2, 5], which pages of values does request 0 need?"],
    ),
    Mistake(
        "zeros_instead_of_minus_infinity",
        STEPS.but(masked=lambda scores, cached: scores * cached[:, None]),
        summary="you set the scores of other slots to 0",
        message="You set the scores of empty slots to 0, but exp(0) is 1, so they still get weight. Which score "
        "gives a weight of 0?",
        hints=["What is the softmax of the scores [0, 0]?"],
    ),
    Mistake(
        "slots_before_pages",
        STEPS.but(
            keys=lambda key_pages, block_table: key_pages[block_table].transpose(1, 2).flatten(1, 2),
            values=lambda value_pages, block_table: value_pages[block_table].transpose(1, 2).flatten(1, 2),
        ),
        summary="you interleave the slots of the pages",
        message=(
            "You put the first slots of all pages before all second slots. The tokens of one page should stay "
            "together, or the length cuts off the wrong ones. Which of the two dimensions should vary fastest?"
        ),
        hints=["Pages [5, 2] with 2 slots each: which slot holds the second token of the request?"],
    ),
]

EXERCISE = Exercise(
    reference=paged_attention,
    steps=STEPS,
    cases=paged_attention_cases,
    points=3,
    stretch=True,
    verified="Every request reads its own pages in their order, and neither empty slots nor stale entries get any "
    "weight.",
    hints=[
        "A page holds 2 tokens, and row 0 of the table is [5, 2]. Where is the third token of request 0?",
        "The block table is an index: indexing the pages with it puts the pages of each request side by side. After "
        "that it is masked attention with one query.",
        "Index the pages with the table, merge the dimensions of pages and slots, compute scaled scores per head, "
        "set the slots from `lengths` on to −∞, take the softmax and mix the values.",
        "`key_pages[block_table].flatten(1, 2)` has the shape (batch, max_pages · page_size, n_heads, d_k).",
    ],
    messages={
        "part_left_out_divisor: query.shape[-1]": Wording(
            "You divide the scores by d_k, so the scores become too small and the weights too uniform. What should you "
            "divide by to bring the variance of the scores to 1?",
            summary="you divide the scores by d_k instead of √d_k",
        ),
    },
    mistakes=MISTAKES,
)

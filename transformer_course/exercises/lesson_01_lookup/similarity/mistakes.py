"""What goes wrong when keys are scored."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_01_lookup.similarity.answer import STEPS
from transformer_course.exercises.shared.final_result_mistakes import of_the_result, rounded

MISTAKES = [
    Mistake(
        "products_not_added",
        STEPS.but(sums=lambda products: products),
        does="the products are not added up",
    ),
    Mistake(
        "cosine",
        STEPS.but(sums=lambda sums, query, keys: sums / (keys.norm(dim=-1) * query.norm())),
        STEPS.but(query=lambda query: query / query.norm(), keys=lambda keys: keys / keys.norm(dim=-1, keepdim=True)),
        does="the lengths of query and keys are divided away, as in a cosine",
        says=(
            "This is the cosine: the lengths of the vectors have been divided away. The dot product keeps them, so a "
            "longer key gets a larger score."
        ),
        hints=["What comes out for the query [2, 0] and the key [3, 0]? What is 2·3 + 0·0?"],
    ),
    Mistake(
        "adds_over_the_keys",
        STEPS.but(axis=lambda: 0),
        does="the sum runs over the keys, not over the width",
        says=(
            "The sum runs over the keys instead of over the width, so different keys are mixed into one number. Look "
            "at the axis along which the sum is taken."
        ),
        hints=["The result has as many numbers as a vector has entries. It should have one per key."],
    ),
    Mistake(
        "adds_everything",
        STEPS.but(axis=lambda: (0, 1)),
        does="the sum runs over keys and width together",
    ),
    Mistake(
        "averages_the_products",
        STEPS.but(sums=lambda products, axis: products.mean(dim=axis)),
        does="the products are averaged, not added up",
        says=(
            "All the scores are too small by one factor, the width: the products are averaged. A dot product adds "
            "them up."
        ),
        hints=["What comes out for the query [1, 2] and the key [3, 4]? What is 1·3 + 2·4?"],
    ),
    Mistake(
        "only_the_first_two",
        STEPS.but(query=lambda query: query[:2], keys=lambda keys: keys[:, :2]),
        STEPS.but(sums=lambda query, keys: query[0] * keys[:, 0] + query[1] * keys[:, 1]),
        does="only the first two entries of each vector are looked at",
        says="Right for vectors of width 2, as in the lesson. In wider ones only the first two entries are looked at.",
        hints=["Which entries of a query of width 3 occur in the code?"],
    ),
    Mistake(
        "query_times_columns",
        STEPS.but(sums=lambda query, keys: query @ keys),
        STEPS.but(sums=lambda query, keys: keys.mT @ query),
        does="the query is multiplied with the *columns* of `keys`",
        says=(
            "{does}. Each key is a row: this crashes, or, where there are as many keys as entries, gives nonsense. "
            "Look at the order of the product."
        ),
        hints=["(d,) @ (n, d): which two numbers would have to be equal?"],
    ),
    Mistake(
        "dot_of_a_table",
        STEPS.but(sums=lambda query, keys: torch.dot(query, keys)),
        STEPS.but(sums=lambda query, keys: torch.mm(keys, query)).attempt,
        STEPS.but(sums=lambda query, keys: torch.mm(query, keys)).attempt,
        STEPS.but(sums=lambda query, keys: torch.outer(query, keys)).attempt,
        STEPS.but(sums=lambda query, keys: torch.bmm(keys, query)).attempt,
        STEPS.but(sums=lambda query, keys: torch.mv(query, keys)).attempt,
        does="a product does not take the shapes that it is given",
        says=(
            "This product takes other shapes: `torch.dot` two vectors, `torch.mm` two tables, `torch.bmm` two batches "
            "of them. `query` is a vector and `keys` a table, so it crashes. Look for a product that takes both."
        ),
        hints=["Which shapes have `query` and `keys`, and which does the product take?"],
    ),
    Mistake(
        "distance",
        STEPS.but(sums=lambda query, keys: (keys - query).norm(dim=-1)),
        STEPS.but(products=lambda keys, row: (keys - row) ** 2),
        STEPS.but(products=lambda keys, row: (keys - row).abs()),
        does="the keys are compared by their distance from the query",
        says=(
            "This is a distance: it grows as the key moves *away* from the query. A similarity has to do the opposite."
        ),
        hints=["What comes out when key and query are equal? Should the best match get the smallest score?"],
    ),
    Mistake(
        "negative_distance",
        STEPS.but(sums=lambda query, keys: -(keys - query).norm(dim=-1)),
        STEPS.but(products=lambda keys, row: -((keys - row) ** 2)),
        STEPS.but(sums=lambda query, keys: -(keys - query).square().sum(dim=-1) / 2),
        does="minus a distance stands in place of the dot product",
        says=(
            "This is minus a distance, or half of its square. It is a sensible similarity, and for vectors of length "
            "1 it puts the keys in the same order, but the exercise asks for the dot product."
        ),
        hints=["Compare with hand arithmetic: query [1, 2], key [3, 4] should give 1·3 + 2·4."],
    ),
    Mistake(
        "scaled",
        STEPS.but(sums=lambda sums, query: sums / len(query) ** 0.5),
        STEPS.but(sums=lambda sums, query: sums * len(query) ** 0.5),
        STEPS.but(sums=lambda sums: sums / len(sums)).attempt,
        STEPS.but(sums=lambda sums: sums / len(sums) ** 0.5).attempt,
        does="the scores are divided or multiplied by the root of the width",
        says=(
            "The scores are divided, or multiplied, by the root of the width: that is the subject of lesson 02. Here "
            "the plain dot product is asked for."
        ),
        hints=["What comes out for the query [1, 2] and the key [3, 4]? What is 1·3 + 2·4?"],
    ),
    Mistake(
        "a_fixed_factor",
        STEPS.but(sums=lambda sums: sums * 2),
        STEPS.but(sums=lambda sums: sums / 2),
        does="the sums are multiplied or divided by a fixed number",
        says="Every score is a fixed number of times too large or too small. Look for a factor.",
        hints=["By how much do the numbers differ? Is it the same for all keys?"],
    ),
    Mistake(
        "adds_instead_of_multiplying",
        STEPS.but(products=lambda keys, row: keys + row),
        does="query and keys are added entry by entry, not multiplied",
    ),
    Mistake(
        "differences",
        STEPS.but(products=lambda keys, row: keys - row),
        STEPS.but(products=lambda keys, row: row - keys),
        does="one of query and keys is subtracted from the other, not multiplied",
        says="Query and keys are *subtracted* entry by entry. A dot product multiplies them.",
        hints=["What comes out for the query [1, 2] and the key [3, 4]? What is 1·3 + 2·4?"],
    ),
    Mistake(
        "divides_entry_by_entry",
        STEPS.but(products=lambda keys, row: keys / row),
        STEPS.but(products=lambda keys, row: row / keys),
        does="query and keys are divided entry by entry, not multiplied",
        says="Query and keys are *divided* entry by entry. A dot product multiplies them.",
        hints=["What comes out for the query [1, 2] and the key [3, 4]? What is 1·3 + 2·4?"],
    ),
    Mistake(
        "one_of_the_two_unused",
        STEPS.but(products=lambda keys: keys),
        STEPS.but(products=lambda keys: keys**2),
        STEPS.but(products=lambda row, keys: row.expand_as(keys)),
        STEPS.but(products=lambda row, keys: row.expand_as(keys) ** 2),
        does="query or keys do not take part in the products",
        says=(
            "One of the two does not matter: whatever the query is, or whatever the keys are, the scores stay the same."
        ),
        hints=["Change the query: do the scores change? Change a key: does its score?"],
    ),
    Mistake(
        "keys_with_each_other",
        STEPS.but(sums=lambda keys: keys @ keys.mT),
        STEPS.but(sums=lambda query: query @ query),
        does="keys are multiplied with keys, or the query with itself",
        says=(
            "The query is multiplied with itself, or the keys with each other. The scores compare the query with each "
            "key."
        ),
        hints=["How many numbers should come out for 4 keys?"],
    ),
    Mistake(
        "query_as_a_column",
        STEPS.but(row=lambda query: query[:, None]),
        does="the query meets the keys as a column, one entry for each key",
        says=(
            "The query stands as a column, so that its entries are lined up with the *keys*. That crashes, or, where "
            "there are as many keys as entries, multiplies the wrong numbers. Look at its shape."
        ),
        hints=["Broadcasting lines shapes up from the right: (n, d) and (d, 1). Which axes meet?"],
    ),
    Mistake(
        "largest_product",
        STEPS.but(sums=lambda products, axis: products.amax(dim=axis)),
        does="the largest of the products is taken, not their sum",
    ),
    Mistake(
        "one_product_only",
        STEPS.but(sums=lambda products: products[:, -1]),
        STEPS.but(sums=lambda products: products[:, 0]),
        does="a single product of each key is left",
        says="{does}, the last or the first: in a loop, each turn may throw away what the one before it found.",
        hints=["What comes out for the query [1, 2] and the key [3, 4]? What is 1·3 + 2·4?"],
    ),
    Mistake(
        "first_entry_left_out",
        STEPS.but(query=lambda query: query[1:], keys=lambda keys: keys[:, 1:]),
        STEPS.but(products=lambda products: products[:, 1:]),
        does="the first entry of each vector is left out",
        hints=["What comes out for the query [1, 0] and the key [3, 4]?"],
    ),
    Mistake(
        "last_entry_left_out",
        STEPS.but(query=lambda query: query[:-1], keys=lambda keys: keys[:, :-1]),
        STEPS.but(products=lambda products: products[:, :-1]),
        does="the last entry of each vector is left out",
        hints=["What comes out for the query [0, 1] and the key [3, 4]?"],
    ),
    Mistake(
        "first_key_left_out",
        STEPS.but(keys=lambda keys: keys[1:]),
        STEPS.but(scores=lambda scores: scores[1:]),
        STEPS.but(scores=lambda scores: torch.stack(list(scores[1:]))),
        does="the first key is left out",
        says="The first key gets no score. Look at where the counting of the keys begins.",
        hints=["How many numbers should come out for 4 keys? How many do?"],
    ),
    Mistake(
        "last_key_left_out",
        STEPS.but(keys=lambda keys: keys[:-1]),
        STEPS.but(scores=lambda scores: scores[:-1]),
        STEPS.but(scores=lambda scores: torch.stack(list(scores[:-1]))),
        does="the last key is left out",
        says="The last key gets no score. Look at where the counting of the keys ends.",
        hints=["How many numbers should come out for 4 keys? How many do?"],
    ),
    Mistake(
        "only_one_key",
        STEPS.but(scores=lambda scores: scores[0]),
        STEPS.but(scores=lambda scores: scores[-1]),
        STEPS.but(scores=lambda scores: scores[:1]),
        STEPS.but(scores=lambda scores: scores[-1:]),
        does="the score of a single key is handed back",
        says="The score of one key comes out, however many there are. Every key needs one.",
        hints=["How many numbers should come out for 4 keys?"],
    ),
    Mistake(
        "as_many_keys_as_entries",
        STEPS.but(scores=lambda query, keys: torch.stack([keys[i] @ query for i in range(len(query))])),
        STEPS.but(keys=lambda keys, query: keys[: len(query)]),
        does="as many keys are scored as the query has *entries*",
        says="{does}: some get none, or a loop runs past the end. Look at what is counted.",
        hints=["What is `len(query)` for a query of width 3? How many keys are there?"],
    ),
    Mistake(
        "entries_with_keys",
        STEPS.but(sums=lambda query, keys: sum(q * k for q, k in zip(query, keys, strict=False))),
        STEPS.but(sums=lambda query, keys: torch.stack([q * k for q, k in zip(query, keys, strict=False)])),
        STEPS.but(sums=lambda query, keys: torch.stack([(q * k).sum() for q, k in zip(query, keys, strict=False)])),
        STEPS.but(sums=lambda query, keys: [q * k for q, k in zip(query, keys, strict=False)]),
        does="each *entry* of the query is paired with a whole key",
        says="{does}: going through both side by side takes numbers of the one and rows of the other.",
        hints=["What is one `q`, and what one `k`, of `for q, k in zip(query, keys)`?"],
    ),
    Mistake(
        "best_key",
        STEPS.but(scores=lambda scores: scores.argmax()),
        STEPS.but(scores=lambda scores: scores.max()),
        STEPS.but(scores=lambda scores, keys: keys[scores.argmax()]),
        STEPS.but(scores=lambda scores: scores.max(dim=0)),
        STEPS.but(scores=lambda scores: scores.argmax(dim=-1, keepdim=True)),
        does="only the best key is handed back, or its place or score",
        says="Only the best key is told, by its place, its score or itself. The scores of *all* keys are asked for.",
        hints=["How many numbers should come out for 4 keys?"],
    ),
    Mistake(
        "sorted",
        STEPS.but(scores=lambda scores: scores.sort(descending=True).values),
        STEPS.but(scores=lambda scores: scores.sort().values),
        does="the scores are sorted",
        says=(
            "{does}, so that no one can tell any more which belongs to which key. They should stand in the order of "
            "the keys."
        ),
        hints=["Which score should stand first?"],
    ),
    Mistake(
        "squashed",
        STEPS.but(sums=lambda sums: torch.sigmoid(sums)),
        STEPS.but(sums=lambda sums: torch.tanh(sums)),
        STEPS.but(sums=lambda sums: sums / sums.sum()),
        STEPS.but(sums=lambda sums: sums / sums.abs().max()),
        STEPS.but(sums=lambda sums: torch.exp(sums)),
        STEPS.but(sums=lambda sums: sums.sqrt()),
        does="the scores are put through a further function, such as a division by their sum",
        says=(
            "Something more is done to the dot products: a sigmoid, a `tanh`, an `exp` or a division. The raw scores "
            "are asked for."
        ),
        hints=["What comes out for the query [1, 2] and the key [3, 4]? What is 1·3 + 2·4?"],
    ),
    Mistake(
        "counts_equal_entries",
        STEPS.but(products=lambda keys, row: keys == row),
        STEPS.but(products=lambda keys, row: (keys == row).float()),
        does="entries are counted that are equal in query and key",
        says=(
            "The entries that are equal in query and key are counted. A dot product measures how well they match by "
            "multiplying."
        ),
        hints=["What comes out for the query [1, 2] and the key [3, 4]? What is 1·3 + 2·4?"],
    ),
    rounded(
        STEPS,
        "scores",
        does="the scores are rounded, or cut down to whole numbers",
        says="{does}. They are floats, and no gradient passes through a rounding.",
        digits=[0],
        also=[STEPS.but(scores=lambda scores: scores.int()), STEPS.but(scores=lambda scores: scores.long()).attempt],
    ),
    *of_the_result(STEPS, "result_scaled", "result_transposed", "function_of_the_result", "only_the_first_result"),
]

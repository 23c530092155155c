"""What goes wrong when keys are scored."""

import torch

from transformer_lab.course.exercise import Mistake


def cosine(query, keys):
    return (keys @ query) / (keys.norm(dim=-1) * query.norm())


def products_not_added(query, keys):
    return keys * query


def adds_over_the_keys(query, keys):
    return (keys * query).sum(dim=0)


def adds_everything(query, keys):
    return (query * keys).sum()


def keeps_the_axis(query, keys):
    return (keys * query).sum(dim=-1, keepdim=True)


def a_row_of_scores(query, keys):
    return query[None] @ keys.mT


def averages_the_products(query, keys):
    return (keys * query).mean(dim=-1)


def only_the_first_two(query, keys):
    return query[0] * keys[:, 0] + query[1] * keys[:, 1]


def query_times_columns(query, keys):
    return query @ keys


def dot_of_a_table(query, keys):
    return torch.dot(query, keys)


def dot_of_a_table_first(query, keys):
    return torch.dot(keys, query)


def a_list(query, keys):
    return [torch.dot(query, key) for key in keys]


def a_list_of_numbers(query, keys):
    return [(query @ key).item() for key in keys]


def distance(query, keys):
    return (keys - query).norm(dim=-1)


def squared_distance(query, keys):
    return (keys - query).square().sum(dim=-1)


def negative_distance(query, keys):
    return -(keys - query).norm(dim=-1)


def negative_squared_distance(query, keys):
    return -(keys - query).square().sum(dim=-1)


def already_weights(query, keys):
    return torch.softmax(keys @ query, dim=-1)


MISTAKES = [
    Mistake(
        "products_not_added",
        [products_not_added],
        says=(
            "A whole vector comes out for every key: the products are there, but nothing adds them up. Look at the shape "
            "of what is returned."
        ),
        hints=[
            "How many numbers should come out for 4 keys? How many do?",
            "A dot product has two steps: multiply entry by entry, then …",
            "Add up along the axis that holds the width, the last one: `.sum(dim=-1)`.",
        ],
    ),
    Mistake(
        "cosine",
        [cosine],
        says=(
            "This is the cosine: the lengths of the vectors have been divided away. The dot product keeps them, so a "
            "longer key gets a larger score."
        ),
        hints=[
            "What comes out for the query [2, 0] and the key [3, 0]? What is 2·3 + 0·0?",
            "The dot product is the cosine times both lengths.",
            "Leave the norms out: multiply and add, nothing else.",
        ],
    ),
    Mistake(
        "adds_over_the_keys",
        [adds_over_the_keys],
        says=(
            "The sum runs over the keys instead of over the width, so different keys are mixed into one number. Look at "
            "the axis along which the sum is taken."
        ),
        hints=[
            "The result has as many numbers as a vector has entries. It should have one per key.",
            "`keys` has the shape (n, d). Which of the two axes should be gone at the end?",
            "Add along the last axis, `dim=-1`.",
        ],
    ),
    Mistake(
        "adds_everything",
        [adds_everything],
        says=(
            "A single number comes out, however many keys there are: the scores of all keys have been added together. "
            "Look at what the sum runs over."
        ),
        hints=[
            "How many numbers should come out for 4 keys?",
            "`.sum()` without an axis adds up everything there is.",
            "Name the axis to add along, that of the width: `.sum(dim=-1)`.",
        ],
    ),
    Mistake(
        "keeps_the_axis",
        [keeps_the_axis, a_row_of_scores],
        says=(
            "The numbers are right, but they lie in a table with an axis of length 1. One plain list of n numbers is asked "
            "for. Look at the shape."
        ),
        hints=[
            "Print the shape of the result. Which axis has length 1?",
            "`keepdim=True` leaves the summed axis in place; so does a `[:, None]` or `[None]` that is never undone.",
            "Leave `keepdim` out, or take the axis away again with `.squeeze(…)`.",
        ],
    ),
    Mistake(
        "averages_the_products",
        [averages_the_products],
        says="All the scores are too small by one factor, the width: the products are averaged. A dot product adds them up.",
        hints=[
            "What comes out for the query [1, 2] and the key [3, 4]? What is 1·3 + 2·4?",
            "A mean is a sum divided by how many there are.",
            "Take `sum` in place of `mean`.",
        ],
    ),
    Mistake(
        "only_the_first_two",
        [only_the_first_two],
        says="Right for vectors of width 2, as in the lesson. In wider ones only the first two entries are looked at.",
        hints=[
            "Which entries of a query of width 3 occur in the code?",
            "`keys * query` multiplies *all* the entries, however many there are.",
            "Add these products up along the last axis: `.sum(dim=-1)`.",
        ],
    ),
    Mistake(
        "query_times_columns",
        [query_times_columns],
        says=(
            "`query @ keys` multiplies the query with the *columns* of `keys`. Each key is a row: this crashes, or, where "
            "there are as many keys as entries, gives nonsense. Look at the order of the product."
        ),
        hints=[
            "(d,) @ (n, d): which two numbers would have to be equal?",
            "In a matrix product, the last axis of the left side meets the first axis of the right side. With what on "
            "the left do the two widths meet?",
            "Put the keys on the left: (n, d) @ (d,) gives (n,).",
        ],
    ),
    Mistake(
        "dot_of_a_table",
        [dot_of_a_table, dot_of_a_table_first],
        says=(
            "`torch.dot` takes two vectors, and `keys` is a whole table of them: it crashes. Look for a product that takes "
            "a table."
        ),
        hints=[
            "`torch.dot` is right for a single key. How are all of them done at once?",
            "Multiplying entry by entry and adding along an axis works for a table; so does `@`.",
            "`@` with the keys on the left, or `*` and then `.sum(dim=-1)`.",
        ],
    ),
    Mistake(
        "a_list",
        [a_list, a_list_of_numbers],
        says=(
            "The numbers are right, but they come in a Python list. A tensor is asked for: only that can be handed on to "
            "the next step, and trained."
        ),
        hints=[
            "What is the type of the result?",
            "`torch.stack` makes one tensor of a list of tensors. But there is a way without any loop.",
            "Multiply all the keys by the query in one go, and add along the last axis.",
        ],
    ),
    Mistake(
        "distance",
        [distance, squared_distance],
        says="This is a distance: it grows as the key moves *away* from the query. A similarity has to do the opposite.",
        hints=[
            "What comes out when key and query are equal? Should the best match get the smallest score?",
            "The exercise asks for the dot product: products, added up.",
            "No subtraction is needed: multiply entry by entry and add along the last axis.",
        ],
    ),
    Mistake(
        "negative_distance",
        [negative_distance, negative_squared_distance],
        says=(
            "This is minus a distance. It is a sensible similarity, and for vectors of length 1 it puts the keys in the "
            "same order, but the exercise asks for the dot product."
        ),
        hints=[
            "Compare with hand arithmetic: query [1, 2], key [3, 4] should give 1·3 + 2·4.",
            "No subtraction and no root occur in a dot product.",
            "Multiply entry by entry and add along the last axis.",
        ],
    ),
    Mistake(
        "already_weights",
        [already_weights],
        says="These are weights between 0 and 1 that add up to 1: a softmax too much. The raw scores are asked for.",
        hints=[
            "Can a dot product be negative? Can what comes out here?",
            "Turning scores into weights is the next exercise.",
            "Return the scores before the softmax.",
        ],
    ),
]

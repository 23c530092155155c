"""What goes wrong when keys are scored."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_01_lookup.similarity.answer import STEPS

MISTAKES = [
    Mistake(
        "cosine",
        STEPS.but(sums=lambda sums, query, keys: sums / (keys.norm(dim=-1) * query.norm())),
        STEPS.but(query=lambda query: query / query.norm(), keys=lambda keys: keys / keys.norm(dim=-1, keepdim=True)),
        does="the lengths of query and keys are divided away, as in a cosine",
        says=(
            "This is the cosine: the lengths of the vectors have been divided away. The dot product keeps them: a "
            "key that is twice as long gets twice the score."
        ),
        hints=["What comes out for the query [2, 0] and the key [3, 0]? What is 2·3 + 0·0?"],
    ),
    Mistake(
        "distance",
        STEPS.but(sums=lambda query, keys: (keys - query).norm(dim=-1)),
        STEPS.but(products=lambda keys, row: (keys - row) ** 2),
        does="the keys are compared by their distance from the query",
        says=(
            "This is a distance: it grows as the key moves *away* from the query. A similarity has to do the opposite."
        ),
        hints=["What comes out when key and query are equal? Should the best match get the smallest score?"],
    ),
    Mistake(
        "scaled",
        STEPS.but(sums=lambda sums, query: sums / len(query) ** 0.5),
        does="the scores are divided by the root of the width",
        says="{does}: that is the subject of lesson 02. Here the plain dot product is asked for.",
        hints=["What comes out for the query [1, 2] and the key [3, 4]? What is 1·3 + 2·4?"],
    ),
    Mistake(
        "query_in_front",
        STEPS.but(sums=lambda query, keys: query @ keys),
        does="the query is multiplied with the columns of the keys, not with their rows",
        says=(
            "`query @ keys` multiplies the query with each *column* of `keys`. That crashes, or, where there are as "
            "many keys as entries, mixes the keys. Each key is a row."
        ),
        hints=["In `a @ b`, which axis of `b` meets the last axis of `a`?"],
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
        "negative_distance",
        STEPS.but(sums=lambda query, keys: -(keys - query).norm(dim=-1)),
        STEPS.but(sums=lambda query, keys: -(keys - query).square().sum(dim=-1) / 2),
        does="minus a distance stands in place of the dot product",
        says=(
            "This is minus a distance, or half of its square. It is a sensible similarity, and for vectors of length "
            "1 it puts the keys in the same order, but the exercise asks for the dot product."
        ),
        hints=["Compare with hand arithmetic: query [1, 2], key [3, 4] should give 1·3 + 2·4."],
    ),
]

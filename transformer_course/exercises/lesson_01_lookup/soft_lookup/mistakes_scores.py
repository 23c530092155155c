"""What goes wrong when one query is looked up: with what is compared, and how scores become weights."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_01_lookup.soft_lookup.answer import STEPS
from transformer_course.exercises.shared.single_query_mistakes import of_the_weights


def best_only(scores):
    return torch.nn.functional.one_hot(scores.argmax(), len(scores)).float()


MISTAKES = [
    Mistake(
        "hard_lookup",
        STEPS.but(weights=lambda scores: best_only(scores)),
        STEPS.but(weights=lambda weights: weights * best_only(weights)),
        does="only the value of the best key is used",
        says=(
            "The value of the one best key comes back: a hard lookup, as a dict does it. Here every value should take "
            "part, weighted by how well its key matches."
        ),
        hints=["What comes out when two keys match equally well?"],
    ),
    Mistake(
        "scores_as_weights",
        STEPS.but(weights=lambda scores: scores),
        does="the scores are used as weights, without a softmax",
        says=(
            "The raw scores are used as weights. These may be negative and do not add up to 1, so the result is not an "
            "average of the values. A step is missing between scoring and averaging."
        ),
        hints=["With a single key, the result should be its value exactly. Is it?"],
    ),
    Mistake(
        "divides_by_the_sum",
        STEPS.but(weights=lambda scores: scores / scores.sum()),
        does="the scores are divided by their sum in place of a softmax",
        says=(
            "The weights add up to 1, but those of keys with a negative score are negative: dividing by the sum is "
            "not a softmax. Look at how scores become weights."
        ),
        hints=["What happens for the scores 1 and -1?"],
    ),
    Mistake(
        "overflows",
        STEPS.but(weights=lambda scores: torch.exp(scores) / torch.exp(scores).sum()),
        STEPS.but(weights=lambda scores: torch.exp(scores) / (torch.exp(scores).sum() + 1e-9)),
        STEPS.but(mixture=lambda scores, values: scores.exp() @ values / scores.exp().sum()).attempt,
        does="the exponentials overflow where scores are large",
        says=(
            "Right for ordinary scores. At 100 `exp` overflows to infinity, and at -100 every `exp` is 0: the "
            "division gives nan, or 0. The softmax of the exercise before survives such scores."
        ),
        hints=["What is `torch.exp(torch.tensor(100.0))`?"],
    ),
    Mistake(
        "another_function",
        STEPS.but(weights=lambda scores: torch.sigmoid(scores)),
        STEPS.but(weights=lambda scores: torch.relu(scores)),
        STEPS.but(weights=lambda scores: torch.tanh(scores)),
        STEPS.but(weights=lambda scores: torch.log_softmax(scores, dim=-1)),
        STEPS.but(weights=lambda scores: scores.abs() / scores.abs().sum()),
        STEPS.but(weights=lambda scores: scores / scores.norm()),
        does="another function than a softmax makes weights of the scores",
        says=(
            "The scores become weights by something else than a softmax, so that the weights do not add up to 1, or "
            "lose the order of the scores. Look at that step."
        ),
        hints=["Print the weights. Are all positive, and do they add up to 1?"],
    ),
    *of_the_weights(
        STEPS,
        "The worse a key matches, the more its value counts",
        "With a single key, the result should be its value exactly.",
        "`parts.softmax`",
    ),
    Mistake(
        "softmax_over_one",
        STEPS.but(weights=lambda scores: torch.ones_like(scores)),
        does="every weight is 1",
    ),
    Mistake(
        "softmax_over_axis_1",
        STEPS.but(weights=lambda scores: torch.softmax(scores, dim=1)),
        does="the softmax is asked for an axis 1, which the scores do not have",
    ),
    Mistake(
        "scores_the_values",
        STEPS.but(scores=lambda query, values: values @ query),
        STEPS.but(scores=lambda query, values: (values * query).sum(dim=-1)),
        does="the query is compared with the values, not with the keys",
        says=(
            "The query is compared with the values: that crashes where their widths differ, and elsewhere finds "
            "values that look like the question. Look at what the scores are made of."
        ),
        hints=["In a dict, is the word looked for among the keys, or among what is stored under them?"],
    ),
    Mistake(
        "query_times_columns",
        STEPS.but(scores=lambda query, keys: query @ keys),
        does="the query is multiplied with the *columns* of `keys`",
    ),
    Mistake(
        "dot_of_a_table",
        STEPS.but(scores=lambda query, keys: torch.dot(keys, query)).attempt,
        STEPS.but(scores=lambda query, keys: torch.mv(query, keys)).attempt,
        STEPS.but(scores=lambda query, keys: torch.mm(keys, query)).attempt,
        STEPS.but(scores=lambda query, keys: torch.mm(query, keys)).attempt,
        says="A product is called that does not take a table and a vector in this order. `keys` is the table.",
        hints=[
            "What does the error say about the number of axes?",
            "`torch.dot` takes two vectors, `torch.mm` two tables, `torch.mv` a table and then a vector.",
            "`parts.similarity(query, keys)`, or `keys @ query`.",
        ],
    ),
    Mistake(
        "products_not_added",
        STEPS.but(scores=lambda query, keys: keys * query, mixture=lambda weights, values: weights @ values),
        STEPS.but(
            scores=lambda query, keys: keys * query,
            weights=lambda scores: torch.softmax(scores, dim=0),
            mixture=lambda weights, values: weights @ values,
        ),
        STEPS.but(scores=lambda query, keys: keys * query),
        does="the products of query and keys are not added up to one score for each key",
        says=(
            "The products of query and keys are not added up: there is a whole row for each key, where there should "
            "be one score. Look at the shape of the scores."
        ),
        hints=["How many scores should there be for 4 keys?"],
    ),
    Mistake(
        "adds_over_the_keys",
        STEPS.but(
            scores=lambda query, keys: (keys * query).sum(dim=0), mixture=lambda weights, values: weights @ values
        ),
        STEPS.but(scores=lambda query, keys: (keys * query).sum(dim=0)),
        does="the products of query and keys are added up over the keys, not over the width",
        says=(
            "The products are added up over the keys, so that there is a score for each entry of the width, and none "
            "for a key. Look at the axis of the sum in the scores."
        ),
        hints=["How many scores should there be for 4 keys of width 2?"],
    ),
    Mistake(
        "scaled_too_early",
        STEPS.but(scores=lambda scores, query: scores / query.shape[-1] ** 0.5),
        STEPS.but(scores=lambda scores, query: scores / query.shape[-1]),
        does="the scores are divided by a number that grows with the width",
        says="{does}: usual in Transformers, and the subject of lesson 02. Here the plain dot products are asked for.",
        hints=["Compare with `similarity`. Is anything divided there?"],
    ),
    Mistake(
        "temperature",
        STEPS.but(scores=lambda scores: scores / 2),
        STEPS.but(scores=lambda scores: scores * 2),
        STEPS.but(scores=lambda scores, query: scores * query.shape[-1] ** 0.5),
        does="the scores are multiplied or divided by a number",
        says="The weights are too even, or too uneven: {does}. The plain dot products are asked for.",
        hints=["Compare with `similarity`. Is anything multiplied or divided there?"],
    ),
    Mistake(
        "matches_by_cosine",
        STEPS.but(scores=lambda query, keys: torch.cosine_similarity(query, keys, dim=-1)),
        STEPS.but(keys=lambda keys: keys / keys.norm(dim=-1, keepdim=True)),
        STEPS.but(query=lambda query: query / (query.norm() + 1e-9)),
        does="lengths are divided away when query and keys are compared",
        says="{does}, as in a cosine. The lookup uses the plain dot product, in which a longer vector counts more.",
        hints=["If the query is made 10 times longer, or a key, should the weights change?"],
    ),
    Mistake(
        "matches_by_distance",
        STEPS.but(scores=lambda query, keys: -(keys - query).norm(dim=-1)),
        STEPS.but(scores=lambda query, keys: -(keys - query).square().sum(dim=-1)),
        STEPS.but(scores=lambda query, keys: -(keys - query).square().sum(dim=-1) / 2),
        STEPS.but(scores=lambda query, keys: (keys - query).norm(dim=-1)),
        STEPS.but(scores=lambda query, keys: (keys - query).square().sum(dim=-1)),
        does="the keys are compared with the query by their distance",
        says="{does}. The lookup uses the plain dot product.",
        hints=["Compare with `similarity`. Is anything subtracted there?"],
    ),
    Mistake(
        "query_unused",
        STEPS.but(scores=lambda keys: keys.sum(dim=-1)),
        STEPS.but(scores=lambda keys: keys.norm(dim=-1)),
        STEPS.but(scores=lambda query, keys: keys.sum(dim=-1) * query.sum()),
        does="the scores do not pair the entries of the query with those of the keys",
        says=(
            "The entries of the query do not meet those of the keys: the scores would be the same for many other "
            "queries. Look at what the scores are made of."
        ),
        hints=["What happens to the scores if two entries of the query change places?"],
    ),
]

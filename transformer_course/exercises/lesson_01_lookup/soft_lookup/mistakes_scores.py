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
        hints=[
            "What comes out when two keys match equally well?",
            "Which function turns scores into weights that add up to 1?",
            "softmax of the scores, then the sum of weight times value.",
        ],
    ),
    Mistake(
        "scores_as_weights",
        STEPS.but(weights=lambda scores: scores),
        does="the scores are used as weights, without a softmax",
        says=(
            "The raw scores are used as weights. These may be negative and do not add up to 1, so the result is not an "
            "average of the values. A step is missing between scoring and averaging."
        ),
        hints=[
            "With a single key, the result should be its value exactly. Is it?",
            "What has to be true of weights in an average?",
            "Put a softmax between the scores and the sum.",
        ],
    ),
    Mistake(
        "divides_by_the_sum",
        STEPS.but(weights=lambda scores: scores / scores.sum()),
        does="the scores are divided by their sum in place of a softmax",
        says=(
            "The weights add up to 1, but those of keys with a negative score are negative: dividing by the sum is "
            "not a softmax. Look at how scores become weights."
        ),
        hints=[
            "What happens for the scores 1 and -1?",
            "Weights of an average are never negative.",
            "Use `parts.softmax` on the scores.",
        ],
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
        hints=[
            "What is `torch.exp(torch.tensor(100.0))`?",
            "Subtracting the largest score from all of them changes no weight.",
            "`parts.softmax`, or `torch.softmax`, takes care of it.",
        ],
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
        hints=[
            "Print the weights. Are all positive, and do they add up to 1?",
            "A larger score should mean a larger weight, and a difference of 1 a factor of e.",
            "Use `parts.softmax` on the scores.",
        ],
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
        says=(
            "{does}, and the values are just added up. A softmax along an axis of length 1 does that, and so does "
            "leaving the weights out. Look at the shape of the scores, and at the axis of the softmax."
        ),
        hints=[
            "With 3 keys, what do the weights add up to? What should they?",
            "Along which axis do the n keys lie, at the softmax?",
            "The scores of one query have the shape (n,): a softmax over their only axis.",
        ],
    ),
    Mistake(
        "every_value_counts_the_same",
        STEPS.but(weights=lambda scores: torch.full_like(scores, 1 / len(scores))),
        does="every value counts the same, whatever the query is",
        says="This is the plain mean of the values, whatever the query is. Those whose key matches should count more.",
        hints=[
            "What should change in the result if the query changes? Does it?",
            "The weights come from the scores, and the scores from query and keys.",
            "`parts.softmax` of the scores gives the weights.",
        ],
    ),
    Mistake(
        "softmax_over_axis_1",
        STEPS.but(weights=lambda scores: torch.softmax(scores, dim=1)),
        does="the softmax is asked for an axis 1, which the scores do not have",
        says="The scores have one axis, number 0, and the softmax is asked for axis 1: it crashes. Look at its `dim`.",
        hints=[
            "What is the shape of the scores of one query?",
            "Which number has the first axis, and which the last?",
            "`dim=0` or `dim=-1`.",
        ],
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
        hints=[
            "In a dict, is the word looked for among the keys, or among what is stored under them?",
            "The keys are there to be compared. Do they occur in the scores at all?",
            "Score the keys: `parts.similarity(query, keys)`.",
        ],
    ),
    Mistake(
        "query_times_columns",
        STEPS.but(scores=lambda query, keys: query @ keys),
        does="the query is multiplied with the *columns* of `keys`",
        says=(
            "{does}. Each key is a row: this crashes, or, where there are as many keys as entries, gives nonsense. "
            "Look at the order of that product."
        ),
        hints=[
            "(d,) @ (n, d): which two numbers would have to be equal?",
            "With the keys on the left, (n, d) @ (d,), the widths meet.",
            "`keys @ query`, or `parts.similarity(query, keys)`.",
        ],
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
        hints=[
            "How many scores should there be for 4 keys?",
            "A dot product is: multiply entry by entry, *and add*.",
            "`keys @ query`, or `parts.similarity(query, keys)`.",
        ],
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
        hints=[
            "How many scores should there be for 4 keys of width 2?",
            "A dot product adds up along the width.",
            "`keys @ query`, or `parts.similarity(query, keys)`.",
        ],
    ),
    Mistake(
        "scaled_too_early",
        STEPS.but(scores=lambda scores, query: scores / query.shape[-1] ** 0.5),
        STEPS.but(scores=lambda scores, query: scores / query.shape[-1]),
        does="the scores are divided by a number that grows with the width",
        says="{does}: usual in Transformers, and the subject of lesson 02. Here the plain dot products are asked for.",
        hints=[
            "Compare with `similarity`. Is anything divided there?",
            "torch's own attention divides by √d unless it is told otherwise, and a mean divides by d.",
            "`parts.similarity(query, keys)` are the scores.",
        ],
    ),
    Mistake(
        "temperature",
        STEPS.but(scores=lambda scores: scores / 2),
        STEPS.but(scores=lambda scores: scores * 2),
        STEPS.but(scores=lambda scores, query: scores * query.shape[-1] ** 0.5),
        does="the scores are multiplied or divided by a number",
        says="The weights are too even, or too uneven: {does}. The plain dot products are asked for.",
        hints=[
            "Compare with `similarity`. Is anything multiplied or divided there?",
            "That number acts as a temperature does. None is asked for here.",
            "`parts.similarity(query, keys)` are the scores.",
        ],
    ),
    Mistake(
        "matches_by_cosine",
        STEPS.but(scores=lambda query, keys: torch.cosine_similarity(query, keys, dim=-1)),
        STEPS.but(keys=lambda keys: keys / keys.norm(dim=-1, keepdim=True)),
        STEPS.but(query=lambda query: query / (query.norm() + 1e-9)),
        does="lengths are divided away when query and keys are compared",
        says="{does}, as in a cosine. The lookup uses the plain dot product, in which a longer vector counts more.",
        hints=[
            "If the query is made 10 times longer, or a key, should the weights change?",
            "Which step divides by a length?",
            "Score with `parts.similarity`.",
        ],
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
        hints=[
            "Compare with `similarity`. Is anything subtracted there?",
            "A dot product multiplies entry by entry, and adds.",
            "Score with `parts.similarity`.",
        ],
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
        hints=[
            "What happens to the scores if two entries of the query change places?",
            "A dot product multiplies each entry of the query by the same entry of the key.",
            "Score with `parts.similarity`.",
        ],
    ),
]

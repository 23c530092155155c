"""Tests for the descriptions, changes, combinations, limits and shared values of step-by-step answers."""

import functools
import inspect

import pytest
import torch
from torch import nn

from transformer_course.steps import MAX_CALLS, MAX_STEP_SIZE, InSteps, RunawayAnswer, SharedValues, needs


def mixture(queries, keys, scale=2.0):
    return torch.softmax(queries @ keys.mT / scale, dim=-1)


def products(queries, keys):
    """multiply each query with each key

    the products
    """
    return queries @ keys.mT


def scores(products, scale):
    """divide by the scale → the scores: products over the scale"""
    return products / scale


def weights(scores):
    """take the softmax over the keys"""
    return torch.softmax(scores, dim=-1)


MIXTURE = InSteps(products, scores, weights, reference=mixture)
QUERIES, KEYS = torch.randn(3, 4), torch.randn(5, 4)


class Doubled(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.layer = nn.Linear(d, d)

    def forward(self, x, times=2):
        return self.layer(x) * times


def mapped(self, x):
    """apply the layer"""
    return self.layer(x)


def multiplied(mapped, times):
    """multiply"""
    return mapped * times


DOUBLED = InSteps(mapped, multiplied, reference=Doubled)


def test_unchanged_steps_match_the_reference():
    assert torch.equal(MIXTURE.but().attempt(QUERIES, KEYS), mixture(QUERIES, KEYS))
    assert torch.equal(MIXTURE.but().attempt(QUERIES, keys=KEYS, scale=3.0), mixture(QUERIES, KEYS, 3.0))


def test_changed_step_may_use_different_inputs():
    wrong = MIXTURE.but(scores=lambda products, keys: products / keys.shape[-1]).attempt
    assert torch.equal(wrong(QUERIES, KEYS), mixture(QUERIES, KEYS, 4.0))


def test_changed_argument_reaches_all_steps():
    wrong = MIXTURE.but(queries=lambda queries: queries.flip(0)).attempt
    assert torch.equal(wrong(QUERIES, KEYS), mixture(QUERIES.flip(0), KEYS))


def test_changed_step_can_receive_its_original_value():
    wrong = MIXTURE.but(weights=lambda weights: weights.round())
    assert torch.equal(wrong.attempt(QUERIES, KEYS), mixture(QUERIES, KEYS).round())


def test_unneeded_steps_do_not_run():
    def never(products):
        raise AssertionError

    assert torch.equal(MIXTURE.until("products").attempt(QUERIES, KEYS), QUERIES @ KEYS.mT)
    assert MIXTURE.until("keys").attempt(QUERIES, KEYS) is KEYS
    assert MIXTURE.but(scores=never, weights=lambda products: products).attempt(QUERIES, KEYS).shape == (3, 5)


def test_every_step_runs_once():
    runs = []
    twice = MIXTURE.but(
        products=lambda queries, keys: runs.append(1) or queries @ keys.mT, scores=lambda products: products + products
    )
    weighted = twice.combined(MIXTURE.but(weights=lambda scores, products: scores + products))
    weighted.attempt(QUERIES, KEYS)
    assert runs == [1]


def test_two_changes_to_one_step_do_not_combine():
    one, other = MIXTURE.but(scores=lambda products: products), MIXTURE.but(scores=lambda products: -products)
    assert one.combined(other) is None
    both = one.combined(MIXTURE.but(weights=lambda scores: scores))
    assert torch.equal(both.attempt(QUERIES, KEYS), QUERIES @ KEYS.mT)
    assert set(both.changes) == {"scores", "weights"}


def test_change_with_own_name_combines_with_another_change():
    plain = MIXTURE.but(scores=lambda products: products)
    negative = MIXTURE.but(scores=lambda scores, scale: -scores * scale)
    for both in (plain.combined(negative), negative.combined(plain)):
        assert torch.equal(both.attempt(QUERIES, KEYS), torch.softmax(-2 * (QUERIES @ KEYS.mT), dim=-1))
    first, second = MIXTURE.but(keys=lambda keys: keys + 1), MIXTURE.but(keys=lambda keys: 2 * keys)
    assert torch.equal(first.combined(second).attempt(QUERIES, KEYS), mixture(QUERIES, 2 * (KEYS + 1)))


def test_module_variant_is_constructed_like_reference():
    wrong = DOUBLED.but(multiplied=lambda mapped: mapped).attempt
    assert issubclass(wrong, Doubled) and wrong.__name__ == "Doubled"
    module, x = wrong(4), torch.randn(2, 4)
    assert torch.equal(module(x), module.layer(x))
    assert torch.equal(DOUBLED.but().attempt(4)(torch.zeros(4), times=0), torch.zeros(4))


def test_attempt_name_matches_the_exercise():
    assert MIXTURE.but().attempt.__name__ == "mixture"
    with pytest.raises(TypeError, match="missing a required argument: 'keys'"):
        MIXTURE.but().attempt(QUERIES)


def test_step_docstring_gives_description_and_noun():
    assert MIXTURE.describe("products") == "multiply each query with each key"
    assert MIXTURE.describe("scores") == "divide by the scale" and MIXTURE.noun("scores") == "the scores"
    assert MIXTURE.formula("scores") == "the scores: products over the scale"
    assert (MIXTURE.has_noun("products"), MIXTURE.has_noun("weights")) == (True, False)
    assert needs(scores) == ("products", "scale")


def test_formula_of_step_without_inputs_is_its_noun():
    def axis():
        """choose the last dimension → the dimension of the features, (1,)"""
        return -1

    def total(x, axis):
        """sum up"""
        return x.sum(axis)

    def part(x, axis, total):
        """divide by the sum → the part"""
        return (x / total).mean(axis)

    steps = InSteps(axis, total, part, reference=lambda x: x.sum(-1))
    assert steps.formula("part").endswith(
        "computed from `x`, the dimension of the features, and the result of “sum up”"
    )
    assert steps.formula("axis") == "the dimension of the features, (1,)"
    assert steps.formula("total") == "the result of “sum up”, computed from `x` and the dimension of the features"


def test_step_may_have_a_short_name():
    def width(queries):
        """read d_k, the width of the queries

        the number of features
        of each query: d_k

        d_k
        """
        return queries.shape[-1]

    def divisor(width):
        """take its root → the root of d_k → √d_k"""
        return width**0.5

    steps = InSteps(width, divisor, reference=lambda queries: queries.shape[-1] ** 0.5)
    assert (steps.describe("width"), steps.noun("width")) == (
        "read d_k, the width of the queries",
        "the number of features of each query",
    )
    assert [steps.short_name(name) for name in ("width", "divisor", "queries")] == ["d_k", "√d_k", "`queries`"]
    assert MIXTURE.short_name("products") == ""


def test_rejects_steps_with_unknown_inputs():
    with pytest.raises(ValueError, match=r"the step 'scores' has unknown parameters \['products'\]"):
        InSteps(scores, reference=mixture)
    with pytest.raises(ValueError, match="mixture has two steps or arguments called 'products'"):
        InSteps(products, products, reference=mixture)
    with pytest.raises(ValueError, match=r"mixture has no \['width'\]"):
        MIXTURE.but(scores=lambda width: width)
    with pytest.raises(ValueError, match=r"mixture has no \['mask'\]"):
        MIXTURE.but(mask=lambda: None)


def test_uses_reference_defaults():
    assert inspect.signature(mixture).parameters["scale"].default == 2.0
    assert torch.equal(MIXTURE.until("scores").attempt(QUERIES, KEYS), QUERIES @ KEYS.mT / 2.0)


def longer(x, times):
    for _ in range(times):
        x = torch.cat([x, x[:1]])
    return x


def extended():
    """append the first"""
    return lambda x: torch.cat([x, x[:1]])


def rounds(times):
    """choose the number of rounds"""
    return times


def plus(more):
    return lambda times: times + more


def repeated(x, extended, rounds):
    """repeat"""
    for _ in range(rounds):
        x = extended(x)
    return x


@pytest.mark.parametrize(
    "changes",
    [
        {"extended": lambda: lambda x: torch.cat([x, x])},  # creates 2 ** 60 numbers
        {"extended": lambda: lambda x: x, "rounds": lambda times: 10**12},
    ],
    ids=["grows", "never ends"],
)
@pytest.mark.parametrize("shared", [SharedValues, lambda: None], ids=["shared", "alone"])
def test_stops_changed_answer_that_grows_or_never_ends(changes, shared):
    steps = InSteps(extended, rounds, repeated, reference=longer)
    assert torch.equal(steps.but().attempt(QUERIES, 60), longer(QUERIES, 60))
    with pytest.raises(RunawayAnswer):
        steps.but(**changes).evaluate(steps.arguments.bind(QUERIES, 60), shared())


def test_stops_changed_answer_with_too_large_step():
    too_many = {"scores": lambda: torch.zeros(1).expand(MAX_STEP_SIZE + 1)}  # an expanded tensor takes no memory
    with pytest.raises(RunawayAnswer, match="a step returned 100,000,001 numbers; the limit is 100,000,000"):
        InSteps(products, scores, weights, reference=mixture).but(**too_many).attempt(QUERIES, KEYS)


def test_call_limit_applies_to_each_evaluation_separately():
    steps, shared = InSteps(extended, rounds, repeated, reference=longer), SharedValues()
    for more in range(2 * MAX_CALLS // 1000):
        changed = steps.but(rounds=plus(more))
        assert len(changed.evaluate(steps.arguments.bind(QUERIES, 1000), shared)) == len(QUERIES) + 1000 + more


def test_recomputes_shared_value_only_after_in_place_change():
    runs = []

    def products(queries, keys):
        runs.append(1)
        return queries @ keys.mT

    steps, shared = InSteps(products, scores, weights, reference=mixture), SharedValues()

    def evaluate(**changes):
        return steps.but(**changes).evaluate(steps.arguments.bind(QUERIES, KEYS), shared)

    assert torch.equal(evaluate(weights=lambda scores: scores), QUERIES @ KEYS.mT / 2) and runs == [1]
    assert torch.equal(evaluate(scores=lambda products: products / 3), mixture(QUERIES, KEYS, 3.0)) and runs == [1]
    assert torch.equal(evaluate(keys=lambda keys: 2 * keys), mixture(QUERIES, 2 * KEYS)) and runs == [1, 1]
    assert torch.equal(evaluate(weights=lambda products: products.mul_(2)), QUERIES @ KEYS.mT * 2) and runs == [1, 1]
    assert torch.equal(evaluate(weights=lambda products: products), QUERIES @ KEYS.mT) and runs == [1, 1, 1]


def test_answers_with_equal_step_names_share_no_values():
    def products(queries, keys):
        return queries @ keys.mT / 2

    other, shared = InSteps(products, scores, weights, reference=mixture), SharedValues()
    for steps in (MIXTURE, other, MIXTURE):
        alone = steps.but().evaluate(steps.arguments.bind(QUERIES, KEYS))
        assert torch.equal(steps.but().evaluate(steps.arguments.bind(QUERIES, KEYS), shared), alone)


def test_each_variant_draws_from_its_own_generator():
    def draws(n, generator):
        return torch.rand(n, generator=generator)

    def drawn(n, generator):
        """draw"""
        return torch.rand(n, generator=generator)

    def added(drawn):
        """add up"""
        return drawn.sum()

    steps, shared = InSteps(drawn, added, reference=draws), SharedValues()
    for seed in range(3):
        expected = torch.rand(4, generator=torch.Generator().manual_seed(seed)).sum()
        bound = steps.arguments.bind(4, torch.Generator().manual_seed(seed))
        assert torch.equal(steps.but().evaluate(bound, shared), expected)


def test_step_inputs_match_the_step_signature():
    def plain(a, b=2, *, c=3): ...

    def keeps(a, *rest, b, **others): ...

    @functools.wraps(plain)
    def wrapping(*inputs): ...

    for step in (plain, keeps, wrapping, lambda products: products, torch.nn.Identity()):
        assert needs(step) == tuple(inspect.signature(step).parameters)

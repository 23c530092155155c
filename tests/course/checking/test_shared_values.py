"""Values that many answers have in common are computed once, and none is changed by another answer."""

import pytest
import torch

from transformer_lab.course.checking.behaviour import behaviour, in_isolation
from transformer_lab.course.checking.shared_values import CannotBeShared, SharedValues
from transformer_lab.course.checking.tolerance import observation_distance
from transformer_lab.course.exercises import every_exercise


def test_a_step_runs_once_for_equal_values():
    calls = []
    values = SharedValues()

    def double(x):
        calls.append(x)
        return 2 * x

    one, other = (values.shared(torch.tensor([1.0, 2.0])) for _ in range(2))
    assert values.call(double, [one]) is values.call(double, [other])
    assert len(calls) == 1


def test_an_error_is_raised_each_time():
    values = SharedValues()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            values.call(lambda x: x / 0, [1])


@pytest.mark.parametrize("value", [torch.zeros(2), [1.0]], ids=type)
def test_a_step_that_changes_a_shared_value_is_noticed(value):
    values = SharedValues()
    with pytest.raises(CannotBeShared):
        values.call(lambda x: x.__iadd__([1.0]) if isinstance(x, list) else x.add_(1), [values.shared(value)])


def test_what_can_be_used_only_once_is_not_shared():
    with pytest.raises(CannotBeShared):
        SharedValues().call(lambda x: iter([x]), [1])


@pytest.mark.parametrize("name", ["softmax", "layer_norm", "EncoderLayer"])
def test_pairs_show_what_they_show_by_themselves(name):
    known = behaviour(every_exercise()[name], 0)
    with in_isolation():
        for pair in known.pairs[::10]:
            for index in (0, 2):
                alone = known.output(pair.way, index)
                assert observation_distance(known.output_of_pair(pair.way, index), alone) <= 1, pair.mistakes

"""Working parts: the learner's own once they passed, the library's until then, and never the one asked for."""

import pytest

from transformer_course.running.parts import Parts


@pytest.fixture
def parts():
    return Parts({"softmax": max, "attention": min}.__getitem__)


def mine(*arguments):
    return "mine"


def test_the_newest_part_counts_and_can_be_removed(parts):
    parts.add("softmax", mine)
    parts.add("softmax", sum)
    assert parts.softmax is sum
    parts.remove("softmax")
    parts.remove("attention")
    assert parts.softmax is max


def test_the_part_that_is_asked_for_is_refused_while_it_is(parts):
    parts.add("softmax", mine)
    with parts.without("softmax"):
        assert parts.refuses("softmax") and not parts.refuses("attention")
        assert parts.attention is min
        with pytest.raises(AttributeError, match=r"parts\.softmax is what this exercise asks you to write"):
            _ = parts.softmax
        with parts.without("attention"):
            assert parts.softmax is mine
        assert parts.refuses("softmax")
    assert parts.softmax is mine


def test_after_an_error_nothing_is_refused(parts):
    with pytest.raises(ZeroDivisionError), parts.without("softmax"):
        _ = 1 / 0
    assert parts.softmax is max


def test_a_name_that_is_no_part_is_named(parts):
    with pytest.raises(AttributeError, match="there is no part called 'sofmax'"):
        _ = parts.sofmax
    with pytest.raises(AttributeError, match="sofmax"):
        parts.whose("sofmax")


def test_parts_say_which_of_them_are_the_learners(parts):
    assert repr(parts) == "Parts of your own: none yet. All others are the library's."
    parts.add("softmax", mine)
    assert repr(parts) == "Parts of your own: softmax. All others are the library's."

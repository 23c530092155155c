"""Tests that parts are the learner's if they have passed, and the library's if not, except for the blocked part."""

import pytest

from transformer_course.running.parts import Parts


@pytest.fixture
def parts():
    return Parts({"softmax": max, "attention": min}.__getitem__)


def mine(*arguments):
    return "mine"


def test_uses_newest_part_until_it_is_removed(parts):
    parts.add("softmax", mine)
    parts.add("softmax", sum)
    assert parts.softmax is sum
    parts.remove("softmax")
    parts.remove("attention")
    assert parts.softmax is max


def test_blocks_part_for_current_exercise(parts):
    parts.add("softmax", mine)
    with parts.without("softmax"):
        assert parts.is_blocked("softmax") and not parts.is_blocked("attention")
        assert parts.attention is min
        with pytest.raises(AttributeError, match=r"parts\.softmax is not available in this exercise"):
            _ = parts.softmax
        with parts.without("attention"):
            assert parts.softmax is mine
        assert parts.is_blocked("softmax")
    assert parts.softmax is mine


def test_unblocks_part_after_error(parts):
    with pytest.raises(ZeroDivisionError), parts.without("softmax"):
        _ = 1 / 0
    assert parts.softmax is max


def test_error_names_unknown_part(parts):
    with pytest.raises(AttributeError, match="`parts` has no function or class named 'sofmax'"):
        _ = parts.sofmax
    with pytest.raises(AttributeError, match="sofmax"):
        parts.whose("sofmax")


def test_repr_lists_learner_parts(parts):
    assert repr(parts) == "Parts of your own: none yet. All others are the library's."
    parts.add("softmax", mine)
    assert repr(parts) == "Parts of your own: softmax. All others are the library's."

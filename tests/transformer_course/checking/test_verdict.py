"""Tests for displaying a verdict as text and as HTML."""

import typing

import pytest

from transformer_course.checking.verdict import Status, Verdict


@pytest.mark.parametrize("status", typing.get_args(Status))
def test_verdict_renders_as_text_and_html(status):
    verdict = Verdict("softmax", status, "A message.")
    assert repr(verdict).startswith("softmax") and repr(verdict).endswith("\nA message.")
    assert verdict._repr_html_() == verdict.panel._repr_html_()
    assert verdict.passed == (status == "passed")


def test_every_status_has_a_different_title():
    titles = {repr(Verdict("softmax", status, "")) for status in typing.get_args(Status)}
    assert len(titles) == len(typing.get_args(Status))

"""The mistakes that ``python -m tests.mutations`` tries out can still be put into the code, and none is forgotten."""

import ast

import pytest

from tests.mutations import MUTATIONS, mutated


@pytest.mark.parametrize(
    "module, mutation", MUTATIONS, ids=[f"{m.row}, {module}: {m.mistake}" for module, m in MUTATIONS]
)
def test_a_mistake_can_still_be_made(module, mutation):
    ast.parse(mutated(module, mutation))


def test_every_row_of_the_list_is_tried():
    assert {mutation.row for _, mutation in MUTATIONS} == set(range(1, 51))

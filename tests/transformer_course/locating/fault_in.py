"""Locate the fault in an attempt at an exercise, by default scaled dot-product attention."""

from tests.transformer_course.cells import cell
from transformer_course.checking.expected_behavior import behavior
from transformer_course.exercises import every_exercise
from transformer_course.exercises.shared.library_parts import parts
from transformer_course.lesson.session import Session
from transformer_course.locating.fault_location import locate
from transformer_course.running.trace import Traced

ATTENTION = "def scaled_dot_product_attention(queries, keys, values):"
SCORES = "scores = queries @ keys.mT / keys.shape[-1] ** 0.5"
REST = ("weights = torch.softmax(scores, -1)", "return weights @ values")


def fault_in(*lines, head=ATTENTION, name="scaled_dot_product_attention", **variables):
    source = "\n".join([head, *(f"    {line}" for line in lines)])
    known = behavior(every_exercise()[name], 0)
    assert known.expected  # compute the reference before the time limit starts
    return locate(known, Traced(cell(source, name, parts=parts, **variables)))


def checked(*lines):
    source = "\n".join([ATTENTION, *(f"    {line}" for line in lines)])
    return Session(every_exercise()).check(cell(source, "scaled_dot_product_attention"))

"""Tests for the names, variants, messages and solutions of exercises and mistakes."""

import inspect

import pytest
import torch

from tests.transformer_course.messages import HINTS
from transformer_course.exercise import Mistake, capitalized
from transformer_course.exercises import every_exercise
from transformer_course.exercises.lesson_06_encoder.feed_forward import EXERCISE as FEED_FORWARD
from transformer_lab.layers.lora import LoRALinear
from transformer_lab.training.metrics import bits_per_byte
from transformer_lab.training.schedules import noam_rate


def test_exercise_name_matches_its_reference():
    assert FEED_FORWARD.name == "FeedForward"


def test_attempts_include_whole_answers_and_step_variants():
    softmax = every_exercise()["softmax"]
    no_division = softmax.steps.but(weights=lambda exponentials: exponentials)
    mistake = Mistake("no_division", min, no_division, message="", hints=HINTS, summary="the division is missing")
    whole_answer, variant = mistake.attempts
    assert whole_answer is min
    assert variant(torch.tensor([3.0, 3.0])).tolist() == [1.0, 1.0]
    assert mistake.step_variants == [no_division]
    assert mistake.with_variants(min).attempts == [min]
    assert mistake.with_variants(min).message == mistake.message


def test_capitalizes_a_clause_but_not_a_symbol():
    assert capitalized("the sum is missing") == "The sum is missing"
    assert capitalized("a sum is missing") == "A sum is missing"
    assert capitalized("torch's sum is missing") == "Torch's sum is missing"
    for symbol in ("p_j is used", "d is too large", "`softmax` is missing", "W_c is used", "n² is used"):
        assert capitalized(symbol) == symbol


def test_message_includes_the_mistake_summary():
    first = Mistake("first", min, summary="the sum is missing", message="{summary}. Look at `sum`.", hints=HINTS)
    later = Mistake("later", min, summary="the sum is missing", message="Rows differ: {summary}.", hints=HINTS)
    other = Mistake("other", min, summary="the sum is missing", message="torch's `sum` is not called.", hints=HINTS)
    assert first.message == "The sum is missing. Look at `sum`."
    assert later.message == "Rows differ: the sum is missing."
    assert other.message == "torch's `sum` is not called."
    with pytest.raises(ValueError, match="the message of unsaid refers to `summary`, which is empty"):
        Mistake("unsaid", min, message="{summary}.", hints=HINTS)


def test_rejects_variants_in_a_list():
    with pytest.raises(TypeError, match="pass each variant of least as a separate argument"):
        Mistake("least", [min], message="", hints=HINTS)


def test_rejects_combinable_mistake_without_summary():
    softmax = every_exercise()["softmax"]
    with pytest.raises(
        ValueError, match="no_division must have a `summary`, because it can occur with another mistake"
    ):
        Mistake("no_division", softmax.steps.but(weights=lambda exponentials: exponentials), message="", hints=HINTS)


def test_solution_is_the_reference_source():
    assert FEED_FORWARD.solution.startswith('class FeedForward(nn.Module):\n    """Two linear')
    softmax = every_exercise()["softmax"].solution
    assert softmax.startswith("def softmax(")
    compile(softmax, "solution", "exec")


def test_library_solution_has_short_docstrings_and_no_checks():
    rate = every_exercise()["noam_rate"].solution
    assert "_check(" in inspect.getsource(noam_rate) and "Raises:" in inspect.getsource(noam_rate)
    assert rate.splitlines()[1].strip() == f'"""{inspect.getdoc(noam_rate).splitlines()[0]}"""'
    assert len(rate.splitlines()) == 3 and rate.splitlines()[2] in inspect.getsource(noam_rate)
    adapted = every_exercise()["LoRALinear"].solution
    assert "check_positive(" in inspect.getsource(LoRALinear) and "check" not in adapted
    assert "        self.scale = alpha / rank\n\n    def forward(" in adapted
    bits = every_exercise()["bits_per_byte"].solution
    assert "raise" in inspect.getsource(bits_per_byte) and "raise" not in bits


def test_compares_outputs_unchanged_unless_the_exercise_normalizes():
    decode = every_exercise()["greedy_decode"]
    case = decode.cases(0)[1]
    short, eos = torch.ones(1, 2).long(), case.inputs["eos_id"]
    assert FEED_FORWARD.normalize(short, case) is short
    ended = torch.tensor([[1, eos]])
    assert decode.normalize(ended, case).tolist() == [[1, eos, eos, eos]]
    assert decode.normalize(short.fill_(eos - 1), case) is short  # without an EOS token, no padding is added

"""What an exercise and its mistakes say of themselves."""

import inspect

import pytest
import torch

from tests.transformer_course.messages import LADDER
from transformer_course.exercise import Mistake, capitalized
from transformer_course.exercises import every_exercise
from transformer_course.exercises.lesson_06_encoder.feed_forward import EXERCISE as FEED_FORWARD
from transformer_lab.layers.lora import LoRALinear
from transformer_lab.training.metrics import bits_per_byte
from transformer_lab.training.schedules import noam_rate


def test_an_exercise_is_named_as_its_reference():
    assert FEED_FORWARD.name == "FeedForward"


def test_the_attempts_of_a_mistake_are_its_whole_answers_and_its_variants_run():
    softmax = every_exercise()["softmax"]
    no_division = softmax.steps.but(weights=lambda exponentials: exponentials)
    mistake = Mistake("no_division", min, no_division, message="", hints=LADDER, summary="the division is missing")
    whole, run = mistake.attempts
    assert whole is min
    assert run(torch.tensor([3.0, 3.0])).tolist() == [1.0, 1.0]
    assert mistake.step_variants == [no_division]
    assert mistake.with_variants(min).attempts == [min]
    assert mistake.with_variants(min).message == mistake.message


def test_a_clause_begins_with_a_capital_letter_and_a_symbol_does_not():
    assert capitalized("the sum is missing") == "The sum is missing"
    assert capitalized("a sum is missing") == "A sum is missing"
    assert capitalized("torch's sum is missing") == "Torch's sum is missing"
    for symbol in ("p_j is used", "d is too large", "`softmax` is missing", "W_c is used", "n² is used"):
        assert capitalized(symbol) == symbol


def test_what_is_said_takes_the_clause_from_what_the_mistake_does():
    first = Mistake("first", min, summary="the sum is missing", message="{summary}. Look at `sum`.", hints=LADDER)
    later = Mistake("later", min, summary="the sum is missing", message="Rows differ: {summary}.", hints=LADDER)
    other = Mistake("other", min, summary="the sum is missing", message="torch's `sum` is not called.", hints=LADDER)
    assert first.message == "The sum is missing. Look at `sum`."
    assert later.message == "Rows differ: the sum is missing."
    assert other.message == "torch's `sum` is not called."
    with pytest.raises(ValueError, match="unsaid says what it does, so it needs `summary`"):
        Mistake("unsaid", min, message="{summary}.", hints=LADDER)


def test_ways_in_a_list_are_no_way():
    with pytest.raises(TypeError, match="each way of least is an argument of its own"):
        Mistake("least", [min], message="", hints=LADDER)


def test_a_mistake_that_can_meet_another_must_say_what_it_does():
    softmax = every_exercise()["softmax"]
    with pytest.raises(ValueError, match="no_division can meet another mistake, so it needs `summary`"):
        Mistake("no_division", softmax.steps.but(weights=lambda exponentials: exponentials), message="", hints=LADDER)


def test_the_solution_is_the_source_of_the_reference():
    assert FEED_FORWARD.solution.startswith('class FeedForward(nn.Module):\n    """Two linear')
    softmax = every_exercise()["softmax"].solution
    assert softmax.startswith("def softmax(")
    compile(softmax, "solution", "exec")


def test_the_solution_from_the_library_is_what_was_asked_for_without_checks_and_in_brief():
    rate = every_exercise()["noam_rate"].solution
    assert "_check(" in inspect.getsource(noam_rate) and "Raises:" in inspect.getsource(noam_rate)
    assert rate.splitlines()[1].strip() == f'"""{inspect.getdoc(noam_rate).splitlines()[0]}"""'
    assert len(rate.splitlines()) == 3 and rate.splitlines()[2] in inspect.getsource(noam_rate)
    adapted = every_exercise()["LoRALinear"].solution
    assert "check_positive(" in inspect.getsource(LoRALinear) and "check" not in adapted
    assert "        self.scale = alpha / rank\n\n    def forward(" in adapted
    bits = every_exercise()["bits_per_byte"].solution
    assert "raise" in inspect.getsource(bits_per_byte) and "raise" not in bits


def test_outputs_are_compared_as_they_are_unless_the_exercise_says_otherwise():
    decode = every_exercise()["greedy_decode"]
    case = decode.cases(0)[1]
    short, eos = torch.ones(1, 2).long(), case.inputs["eos_id"]
    assert FEED_FORWARD.normalize(short, case) is short
    ended = torch.tensor([[1, eos]])
    assert decode.normalize(ended, case).tolist() == [[1, eos, eos, eos]]
    assert decode.normalize(short.fill_(eos - 1), case) is short  # it has not ended, so there is no end to add to

"""Tests that checks tolerate prints and report unfinished helpers, wrong names and infinite loops."""

import time

import pytest
import torch

from transformer_course.exercises import every_exercise, exercises_of
from transformer_course.lesson import notebook
from transformer_course.lesson.notebook import check, hint, solution

REFERENCES = {name: exercise.reference for name, exercise in every_exercise().items()}


RIGHT = "def softmax(scores): return torch.softmax(scores, dim=-1)"
WRONG = "def softmax(scores): return torch.softmax(scores, dim=0)"


def test_printed_text_appears_once_despite_timing_and_hints(lesson, capsys):
    lesson.run("def similarity(query, keys):\n    print('called')\n    return keys @ query").check("similarity")
    assert capsys.readouterr().out == "called\n"
    slow = "def similarity(query, keys):\n    print('called')\n"
    slow += "    return torch.stack([k @ query for k in keys for _ in range(5)])[::5]"
    assert "times as long" in lesson.run(slow).check("similarity").message
    assert capsys.readouterr().out == "called\n"
    hint(lesson.names["similarity"])
    assert capsys.readouterr() == ("", "")


def test_warnings_do_not_reach_the_lesson(lesson, capsys, recwarn):
    transposed = "def attention_weights(queries, keys): return torch.softmax(queries @ keys.T, dim=-1)"
    for _ in range(2):
        assert not lesson.run(transposed).check("attention_weights").passed
    assert capsys.readouterr() == ("", "")
    assert not recwarn.list


def test_reports_unfinished_helper_instead_of_unstarted_answer(lesson):
    lesson.run("def softmax(scores): ...\ndef attention_weights(queries, keys): return softmax(queries @ keys.mT)")
    verdict = lesson.check("attention_weights")
    assert (verdict.status, verdict.mistake) != ("not_started", None)
    assert verdict.message.startswith(
        "Your code uses `softmax`, which you have not written yet. Until then, you can use `parts.softmax`"
    )
    with_part = "def attention_weights(queries, keys): return parts.softmax(queries @ keys.mT)"
    assert lesson.run(with_part).check("attention_weights").passed


@pytest.mark.parametrize("value", [0.5, torch.tensor(0.5)], ids=["number", "tensor"])
def test_answer_with_notebook_globals_passes_but_is_unused(lesson, value):
    source = "def softmax(scores): return torch.softmax(scores * scale * 2, dim=-1)"
    lesson.names["scale"] = value
    verdict = lesson.run(source).check("softmax")
    assert verdict.passed
    assert "Your code reads `scale` from the notebook" in verdict.message
    assert verdict.message.endswith("The lessons continue with the library's version.")
    assert notebook.parts.whose("softmax") == "the library's"


def test_wrong_answer_message_mentions_notebook_globals_first(lesson):
    source = "def scaled_dot_product_attention(queries, keys, values):\n    d_k = queries.shape[-1]\n"
    source += "    return torch.softmax(queries @ keys.mT / d**0.5, dim=-1) @ values"
    lesson.names["d"] = 7
    verdict = lesson.run(source).check("scaled_dot_product_attention")
    assert verdict.message.startswith("Your code reads `d` from the notebook")


def test_reports_wrong_argument_to_part_on_one_line(lesson):
    lesson.run("def attention(queries, keys, values): return parts.attention_weights(queries, keys[..., 0]) @ values")
    line = lesson.check("attention").message.splitlines()[0]
    assert "TypeCheckError: attention_weights takes `keys` as a float tensor of shape (*batch, n_key, d=" in line
    assert "-----" not in lesson.check("attention").message


def test_crash_message_shows_input_shapes(lesson):
    verdict = lesson.run("def soft_lookup(query, keys, values): return query.nothing").check("soft_lookup")
    assert "The inputs: query (d=" in verdict.message and ", keys (n=" in verdict.message


@pytest.mark.parametrize("ask", [check, hint, solution])
def test_unknown_name_suggests_similar_names_in_lesson(lesson, ask):
    lesson.run(RIGHT + "\ndef attention(*_): ...\ndef atention_v2(queries, keys, values): ...\ndef mine(): ...")
    similar = repr(ask(lesson.names["atention_v2"]))
    assert "No exercise is called atention_v2." in similar
    assert f'`{ask.__name__}(atention_v2, "attention")`' in similar
    unrelated = repr(ask(lesson.names["mine"]))
    assert f'`{ask.__name__}(mine, "exercise")`' in unrelated
    others = [e.name for e in exercises_of("02_scaling")]
    assert not [name for name in others if name in similar + unrelated]
    assert f'`{ask.__name__}(mine, "softmax")`' in repr(ask(lesson.names["mine"], "sofmax"))


def test_unknown_name_without_similar_names_suggests_none():
    assert check(lambda x: x).message == (
        'No exercise is called <lambda>. Name the exercise that your code answers: `check(attempt, "exercise")`.'
    )


@pytest.mark.parametrize("ask", [check, hint, solution])
def test_rejects_the_result_of_a_call_as_attempt(ask):
    assert "Pass the function or class itself, not its result (got a value of type Tensor)." in repr(ask(torch.ones(3)))


def compute(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def test_slow_right_answer_is_not_an_infinite_loop(lesson, session):
    lesson.names["compute"] = compute
    verdict = lesson.run("def similarity(query, keys):\n    compute(0.12)\n    return keys @ query").check("similarity")
    assert verdict.passed
    assert "\nYour code is right, but slow: it takes " in verdict.message
    assert "times as long as the reference. The lessons continue with the library's version." in verdict.message
    assert session.seconds >= 10


def test_stops_endless_answer_and_reports_the_time_limit(lesson, session):
    session.seconds = 0.3
    verdict = lesson.run("def softmax(scores):\n    while True: pass").check("softmax")
    assert verdict.status == "crashed"
    assert "stopped, no answer within 0.3 s" in verdict.message


def test_right_answer_passes_on_a_busy_machine(lesson, session):
    def compute_slowly(seconds):
        while seconds > 0:
            compute(0.01)
            time.sleep(0.02)
            seconds -= 0.01

    session.seconds, session.max_idle = 3.0, 0.5
    lesson.names["compute"] = compute_slowly
    verdict = lesson.run("def similarity(query, keys):\n    compute(0.12)\n    return keys @ query").check("similarity")
    assert verdict.passed


def test_stops_an_answer_that_only_sleeps(lesson, session):
    session.max_idle, lesson.names["sleep"] = 0.5, time.sleep
    verdict = lesson.run("def softmax(scores):\n    while True: sleep(0.1)").check("softmax")
    assert "stopped, it computed next to nothing for 0.5 s" in verdict.message


def test_does_not_report_single_slow_call(lesson):
    calls = []
    lesson.names["count"] = lambda: calls.append(compute(1.1 if len(calls) == 2 * (cases - 1) else 0))
    cases = len(every_exercise()["similarity"].cases(0))
    lesson.run("def similarity(query, keys):\n    count()\n    return keys @ query")
    assert "times as long" not in lesson.check("similarity").message
    assert notebook.parts.whose("similarity") == "yours"


def test_check_inside_an_attempt_terminates(lesson):
    lesson.names["check"] = check
    verdict = lesson.run("def softmax(scores): return check(softmax)").check("softmax")
    assert verdict.status == "wrong"

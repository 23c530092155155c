"""What a learner meets: check, hint, solution, parts and compare."""

import functools

import pytest
import torch

from tests.course.sample_exercises import SAMPLES
from tests.course.sample_exercises.sample_next import sample_next
from transformer_lab.course import notebook
from transformer_lab.course.exercises import every_exercise
from transformer_lab.course.notebook import NotPassed, check, compare, hint, solution

REFERENCES = {name: exercise.reference for name, exercise in every_exercise().items()}
ALL = REFERENCES | {name: sample.reference for name, sample in SAMPLES.items()}


RIGHT = "def softmax(scores): return torch.softmax(scores, dim=-1)"
WRONG = "def softmax(scores): return torch.softmax(scores, dim=0)"


def test_the_exercise_is_found_by_the_name_of_the_function_or_by_the_one_given(lesson):
    assert lesson.run(RIGHT).check("softmax").passed
    mine = lesson.run(RIGHT.replace("softmax(scores):", "mine(scores):")).names["mine"]
    assert check(mine, "softmax").passed
    assert check(mine, name=REFERENCES["softmax"]).passed
    assert check(functools.partial(torch.softmax, dim=-1), "softmax").exercise == "softmax"
    assert check(functools.partial(functools.partial(REFERENCES["softmax"]))).passed


def test_a_verdict_has_a_status_a_mistake_and_a_message(lesson):
    verdict = lesson.run(WRONG).check("softmax")
    assert (verdict.status, verdict.mistake) == ("mistake", "first_axis")
    assert verdict.message in repr(verdict)


@pytest.mark.parametrize("name", ALL)
def test_a_stub_of_every_exercise_is_not_started(lesson, name):
    kind = "class {}(nn.Module):\n    def __init__(self, *_, **__): raise NotImplementedError"
    source = kind if isinstance(ALL[name], type) else "def {}(*_, **__): raise NotImplementedError"
    assert lesson.run(source.format(name)).check(name).status == "not_started"


@pytest.mark.parametrize("name", ["FeedForward", *SAMPLES])
def test_modules_models_and_samplers_are_checked_like_functions(name):
    sample = {**every_exercise(), **SAMPLES}[name]
    assert check(sample.reference).passed
    known = sample.mistakes[-1]
    assert check(known.attempt, name).mistake == known.name


def test_a_module_exercise_asks_for_a_class():
    for attempt in (lambda x: x, REFERENCES["FeedForward"](2, 3), dict):
        assert check(attempt, "FeedForward").message == "FeedForward should be a class made from `nn.Module`."


def test_nothing_is_raised_unless_the_environment_is_strict(lesson, monkeypatch):
    monkeypatch.setenv("TRANSFORMER_LAB_STRICT", "1")
    assert lesson.run(RIGHT).check("softmax").passed
    for source in (
        WRONG,
        "def softmax(scores): raise NotImplementedError",
        "def softmax(scores): return scores.nothing",
    ):
        with pytest.raises(NotPassed, match="softmax"):
            lesson.run(source).check("softmax")
    with pytest.raises(NotPassed, match="No exercise is called sofmax"):
        check(max, "sofmax")
    monkeypatch.setenv("TRANSFORMER_LAB_STRICT", "0")
    assert not lesson.check("softmax").passed


def test_parts_are_the_learners_once_they_pass_and_the_librarys_again_for_one_that_should_not_be_used(lesson):
    assert notebook.parts.softmax is REFERENCES["softmax"]
    lesson.run(WRONG).check("softmax")
    assert notebook.parts.softmax is REFERENCES["softmax"]
    lesson.run(RIGHT).check("softmax")
    right = lesson.names["softmax"]
    assert notebook.parts.softmax is right
    lesson.run(WRONG).check("softmax")
    assert notebook.parts.softmax is right
    lesson.run("def softmax(scores): return torch.softmax(scores, dim=-1).detach()").check("softmax")
    assert notebook.parts.softmax is REFERENCES["softmax"]


def test_an_exercise_cannot_be_answered_by_its_own_part(lesson):
    lesson.run(RIGHT).check("softmax")
    verdict = lesson.run("def softmax(scores): return parts.softmax(scores)").check("softmax")
    assert "parts.softmax is what this exercise asks you to write" in verdict.message


def test_hints_climb_the_ladder_of_the_mistake_and_stay_on_its_last_step(lesson):
    attempt = lesson.run(WRONG).names["softmax"]
    ladder = next(m.hints for m in every_exercise()["softmax"].mistakes if m.name == "first_axis")
    said = [hint(attempt) for _ in range(len(ladder) + 1)]
    assert [panel.title for panel in said[:3]] == [f"softmax: hint {n} of {len(ladder)}" for n in (1, 2, 3)]
    assert all(panel.message.startswith(text) for panel, text in zip(said, [*ladder, ladder[-1]], strict=True))
    assert "`solution(softmax)` shows an answer" in said[-1].message
    assert "solution" not in said[0].message


def test_without_a_known_mistake_hints_are_the_general_ones(lesson):
    stub = lesson.run("def softmax(scores): raise NotImplementedError").names["softmax"]
    assert hint(stub).message.startswith(every_exercise()["softmax"].hints[0])


def test_who_has_passed_needs_no_hint(lesson):
    assert hint(lesson.run(RIGHT).names["softmax"]).title == "No hint needed"


def test_the_solution_is_shown_as_code_and_only_when_asked_for(lesson):
    panel = solution(lesson.run(WRONG).names["softmax"])
    assert panel.title == "softmax: a solution"
    assert "".join(line[4:] + "\n" for line in panel.message.splitlines()) == every_exercise()["softmax"].solution
    assert solution(max, "softmax").message == panel.message


@pytest.mark.parametrize(
    ("prediction", "measured", "says"),
    [
        (8, torch.tensor(8.0), "you said 8, measured 8"),
        (22, 22.8123, "you said 22, measured 22.8"),
        (..., -0.0, "you made no prediction, measured 0"),
        ("A", "B", "you said A, measured B"),
        (0.5, torch.tensor([[3]]), "you said 0.5, measured 3"),
        ([1, 2], True, "you said [1, 2], measured True"),
    ],
)
def test_predictions_are_put_beside_what_was_measured(prediction, measured, says, capsys):
    assert compare(prediction, measured) is None
    assert capsys.readouterr().out == says + "\n"


def test_a_sampler_that_draws_by_other_means_passes():
    def by_noise(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
        if top_p is not None:
            return sample_next(logits, temperature, top_k, top_p, generator)
        if top_k is not None:
            logits = logits.masked_fill(logits < logits.topk(top_k).values[:, -1:], -torch.inf)
        noise = torch.rand(logits.shape, generator=generator).log().neg().log().neg()
        return (logits / temperature + noise).argmax(dim=-1)

    assert check(by_noise, "sample_next").passed


def test_the_lessons_import_only_what_a_learner_needs():
    assert set(notebook.__all__) == {"NotPassed", "check", "compare", "hint", "parts", "solution"}

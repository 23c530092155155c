"""A session: which attempts are checked, which parts are in use, and which hints were given."""

import pytest
import torch

from tests.course.sample_exercises import SAMPLES
from tests.course.sample_exercises.sample_next import sample_next
from transformer_lab.course.exercises import every_exercise
from transformer_lab.course.session import Session

REFERENCES = {name: exercise.reference for name, exercise in every_exercise().items()}

RIGHT = "def softmax(scores): return torch.softmax(scores, dim=-1)"
WRONG = "def softmax(scores): return torch.softmax(scores, dim=0)"


@pytest.mark.parametrize("name", ["FeedForward", *SAMPLES])
def test_modules_models_and_samplers_are_checked_like_functions(session, name):
    sample = {**every_exercise(), **SAMPLES}[name]
    assert session.check(sample.reference).passed
    known = sample.mistakes[-1]
    assert session.check(known.attempts[0], name).mistake == known.name


def test_a_module_exercise_asks_for_a_class(session):
    for attempt in (lambda x: x, REFERENCES["FeedForward"](2, 3), dict):
        assert session.check(attempt, "FeedForward").message == "FeedForward should be a class made from `nn.Module`."


def test_parts_are_the_learners_once_they_pass_and_the_librarys_again_for_one_without_gradients(lesson, session):
    assert session.parts.softmax is REFERENCES["softmax"]
    lesson.run(WRONG).check("softmax")
    assert session.parts.softmax is REFERENCES["softmax"]
    lesson.run(RIGHT).check("softmax")
    right = lesson.names["softmax"]
    assert session.parts.softmax is right
    lesson.run(WRONG).check("softmax")
    assert session.parts.softmax is right
    lesson.run("def softmax(scores): return torch.softmax(scores, dim=-1).detach()").check("softmax")
    assert session.parts.softmax is REFERENCES["softmax"]


def test_an_exercise_cannot_be_answered_by_its_own_part(lesson):
    lesson.run(RIGHT).check("softmax")
    verdict = lesson.run("def softmax(scores): return parts.softmax(scores)").check("softmax")
    assert "parts.softmax is what this exercise asks you to write" in verdict.message


def test_hints_climb_the_ladder_of_the_mistake_and_stay_on_its_last_step(lesson, session):
    attempt = lesson.run(WRONG).names["softmax"]
    ladder = next(m.hints for m in every_exercise()["softmax"].mistakes if m.name == "first_axis")
    said = [session.hint(attempt) for _ in range(len(ladder) + 1)]
    assert [panel.title for panel in said[:3]] == [f"softmax: hint {n} of {len(ladder)}" for n in (1, 2, 3)]
    assert all(panel.message.startswith(text) for panel, text in zip(said, [*ladder, ladder[-1]], strict=True))
    assert "`solution(softmax)` shows an answer" in said[-1].message
    assert "solution" not in said[0].message


def test_without_a_known_mistake_hints_are_the_general_ones(lesson, session):
    stub = lesson.run("def softmax(scores): raise NotImplementedError").names["softmax"]
    assert session.hint(stub).message.startswith(every_exercise()["softmax"].hints[0])


def test_who_has_passed_needs_no_hint(lesson, session):
    assert session.hint(lesson.run(RIGHT).names["softmax"]).title == "No hint needed"


def test_a_sampler_that_draws_by_other_means_passes(session):
    def by_noise(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
        if top_p is not None:
            return sample_next(logits, temperature, top_k, top_p, generator)
        if top_k is not None:
            logits = logits.masked_fill(logits < logits.topk(top_k).values[:, -1:], -torch.inf)
        noise = torch.rand(logits.shape, generator=generator).log().neg().log().neg()
        return (logits / temperature + noise).argmax(dim=-1)

    assert session.check(by_noise, "sample_next").passed


def test_a_new_session_knows_nothing_of_another(lesson, session):
    attempt = lesson.run(WRONG).names["softmax"]
    assert session.hint(attempt).title.startswith("softmax: hint 1 of")
    assert session.hint(attempt).title.startswith("softmax: hint 2 of")
    lesson.run(RIGHT).check("softmax")
    other = Session(every_exercise())
    assert other.hint(attempt).title.startswith("softmax: hint 1 of")
    assert (session.parts.whose("softmax"), other.parts.whose("softmax")) == ("yours", "the library's")

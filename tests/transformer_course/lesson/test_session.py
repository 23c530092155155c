"""Tests for a session's checks, parts and hints."""

import pytest
from torch.nn import functional as F

from tests.transformer_course.cells import cell
from transformer_course.checking.hints import HintsGiven
from transformer_course.checking.verdict import Verdict
from transformer_course.exercises import every_exercise
from transformer_course.lesson.session import Session

REFERENCES = {name: exercise.reference for name, exercise in every_exercise().items()}

RIGHT = "def softmax(scores): return torch.softmax(scores, dim=-1)"
WRONG = "def softmax(scores): return torch.softmax(scores, dim=0)"


@pytest.mark.parametrize("name", ["FeedForward", "generate", "sample_next"])
def test_checks_modules_models_and_samplers_like_functions(session, name):
    exercise = every_exercise()[name]
    assert session.check(exercise.reference).passed
    known = exercise.mistakes[-1]
    assert session.check(known.attempts[0], name).mistake == known.name


def test_module_exercise_requires_a_class(session):
    for attempt in (lambda x: x, REFERENCES["FeedForward"](2, 3), dict):
        assert session.check(attempt, "FeedForward").message == "FeedForward must be a subclass of `nn.Module`."


def test_session_uses_only_answers_that_have_gradients(lesson, session):
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


def test_locates_mistake_where_earlier_exercise_is_called(session):
    name, body = "attention_weights", "return torch.softmax(queries @ keys.mT, -1)"
    earlier = cell(f"def {name}(queries, keys):\n    {body}", name)
    call = f"return {name}(queries, queries) @ values"
    attempt = cell(f"def attention(queries, keys, values):\n    {call}", "attention", attention_weights=earlier)
    assert f"you use `queries` instead of `keys`.\n    line 2:  {call}\n" in str(session.check(attempt))


def test_check_without_saving_preserves_parts_and_files(lesson, session, monkeypatch, tmp_path):
    kept = []
    monkeypatch.setattr("transformer_course.workspace.saved_parts.save_part", lambda *arguments: kept.append(arguments))
    lesson.run(RIGHT).check("softmax")
    own, fixed = lesson.names["softmax"], lesson.run(RIGHT.replace("softmax(s", "fixed(s", 1)).names["fixed"]
    assert [name for name, *_ in kept] == ["softmax"]
    verdict = session.check(fixed, "softmax", save=False)
    assert (verdict.passed, verdict.message) == (True, "All cases passed. `parts.softmax` is unchanged.")
    assert session.hint(fixed, "softmax").title == "softmax: passed, so there is no hint"
    assert len(kept) == 1 and session.parts.softmax is own
    assert session.check(fixed, "softmax").passed and session.parts.softmax is fixed


class DropsInTraining(REFERENCES["PreNormEncoderLayer"]):
    """An attempt that is right in eval mode. In train mode, it applies dropout as in the paper."""

    def forward(self, x, mask=None):
        normed = self.norm_1(x)
        x = x + F.dropout(self.self_attention(normed, normed, normed, mask), 0.1, self.training)
        return x + F.dropout(self.feed_forward(self.norm_2(x)), 0.1, self.training)


class AlwaysDrops(DropsInTraining):
    training = property(lambda self: True, lambda self, value: None)


def test_bug_hunt_judges_only_eval_mode(session):
    assert session.check(DropsInTraining, "PreNormEncoderLayer", save=False).passed
    assert not session.check(AlwaysDrops, "PreNormEncoderLayer", save=False).passed
    assert not session.check(DropsInTraining, "PreNormEncoderLayer").passed
    assert "passed" not in session.hint(DropsInTraining, "PreNormEncoderLayer").title


def test_bug_hunt_does_not_locate_the_bug(session):
    scores = "scores = queries @ keys.mT\n    scores = scores - scores.amax(dim=-2, keepdim=True)"
    attempt = cell(
        f"def attention(queries, keys, values):\n    {scores}\n    return scores.softmax(-1) @ values", "attention"
    )
    assert "^^^" in session.check(attempt).message
    assert "^^^" not in session.check(attempt, "attention", save=False).message


def test_exercise_cannot_use_its_own_part(lesson):
    lesson.run(RIGHT).check("softmax")
    verdict = lesson.run("def softmax(scores): return parts.softmax(scores)").check("softmax")
    assert "parts.softmax is not available in this exercise, because you implement it here" in verdict.message


def hints_of(mistake):
    return next(m.hints for m in every_exercise()["softmax"].mistakes if m.name == mistake)


def titles(session, attempt, n):
    return [session.hint(attempt).title for _ in range(n)]


def test_hints_match_the_mistake_and_end_with_solution(lesson, session):
    attempt = lesson.run(WRONG).names["softmax"]
    hints = hints_of("first_axis")
    panels = [session.hint(attempt) for _ in range(len(hints) + 2)]
    assert [panel.title for panel in panels[:3]] == [f"softmax: hint {n} of {len(hints)}" for n in (1, 2, 3)]
    assert [panel.message for panel in panels[: len(hints) - 1]] == list(hints[:-1])
    assert panels[len(hints) - 1].message == f"{hints[-1]}\nThat was the last hint. Ask again to see a solution."
    for panel in panels[len(hints) :]:
        assert panel.title == "softmax: there are no more hints; a solution"
        assert panel.message == session.solution(attempt).message


def test_hints_restart_after_a_different_mistake(lesson, session):
    first = lesson.run(WRONG).names["softmax"]
    assert titles(session, first, 2) == ["softmax: hint 1 of 3", "softmax: hint 2 of 3"]
    session.check(first)
    assert titles(session, first, 1) == ["softmax: hint 3 of 3"]
    not_recognized = lesson.run("def softmax(scores): return torch.softmax(7.5 * scores, dim=-1)").names["softmax"]
    assert titles(session, not_recognized, 2) == ["softmax: general hint 1 of 4", "softmax: general hint 2 of 4"]
    crashes = lesson.run("def softmax(scores): return scores.nothing").names["softmax"]
    assert titles(session, crashes, 1) == ["softmax: general hint 1 of 4"]
    assert titles(session, first, 1) == ["softmax: hint 1 of 3"]
    session.check(lesson.run(RIGHT).names["softmax"])
    assert titles(session, first, 1) == ["softmax: hint 1 of 3"]
    session.check(lesson.run("def similarity(query, keys): return query").names["similarity"])
    assert titles(session, first, 1) == ["softmax: hint 2 of 3"]


def test_check_inside_an_attempt_does_not_restart_hints(lesson, session):
    lesson.names["check"] = session.check
    source = "def softmax(scores):\n    check(softmax)\n    return torch.softmax(scores, dim=0)"
    attempt = lesson.run(source).names["softmax"]
    assert titles(session, attempt, 2) == ["softmax: hint 1 of 3", "softmax: hint 2 of 3"]


def test_general_hints_explain_that_mistake_is_unknown(lesson, session):
    general = every_exercise()["softmax"].hints
    stub = lesson.run("def softmax(scores): raise NotImplementedError").names["softmax"]
    assert session.hint(stub).message == general[0]
    attempt = lesson.run("def softmax(scores): return torch.softmax(7.5 * scores, dim=-1)").names["softmax"]
    messages = [session.hint(attempt).message for _ in general]
    assert messages[0] == (
        "The check recognizes no known mistake in your code. Read its message first.\n"
        "The following hints are not about your code: they list the steps of a correct answer, in order.\n"
        f"{general[0]}"
    )
    assert messages[1] == general[1]


def test_general_hints_refer_to_mistake_without_hints(lesson, session, monkeypatch):
    attempt = lesson.run(WRONG).names["softmax"]
    cut = Verdict("softmax", "mistake", "`detach()` cuts the gradient.", "gradient_cut")
    monkeypatch.setattr(session, "_checked", lambda *_, **__: cut)
    session.hints_given["softmax"] = HintsGiven("gradient_cut")
    assert session.hint(attempt).message.startswith(
        "The check's message describes the error. There are no further hints about it."
    )


def test_passed_attempt_gets_no_hint(lesson, session):
    panel = session.hint(lesson.run(RIGHT).names["softmax"])
    assert panel.title == "softmax: passed, so there is no hint"
    assert panel.message == every_exercise()["softmax"].verified


def test_sessions_share_no_state(lesson, session):
    attempt = lesson.run(WRONG).names["softmax"]
    assert session.hint(attempt).title.startswith("softmax: hint 1 of")
    assert session.hint(attempt).title.startswith("softmax: hint 2 of")
    lesson.run(RIGHT).check("softmax")
    other = Session(every_exercise())
    assert other.hint(attempt).title.startswith("softmax: hint 1 of")
    assert (session.parts.whose("softmax"), other.parts.whose("softmax")) == ("yours", "the library's")


def test_checks_lambda_under_its_variable_name(lesson, session):
    attempt = lesson.run("softmax = lambda scores: torch.softmax(scores, dim=-1)").names["softmax"]
    assert session.check(attempt).passed

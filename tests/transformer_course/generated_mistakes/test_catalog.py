"""Tests for storing and reading catalogs, and for finding candidates without running every mistake."""

from dataclasses import replace

import pytest
import torch

from transformer_course.exercises import every_exercise
from transformer_course.generated_mistakes import catalog
from transformer_course.generated_mistakes.catalog import (
    MAX_FORM_LENGTH,
    Catalog,
    Outline,
    catalog_of,
    names_of,
    outline,
    read,
)
from transformer_course.generated_mistakes.generated_mistake import AnswerEdit
from transformer_course.running.case import Case


def observation_of(*numbers):
    return {"output": torch.tensor(numbers)}


def stored():
    right = [outline(observation_of(1.0, 2.0)), outline(observation_of(3.0))]
    doubled = AnswerEdit(
        "mean",
        "scaled",
        "",
        "§ * 2",
        "",
        2.0,
        {"mean": "return 2"},
        [outline(observation_of(2.0, 4.0)), outline(observation_of(6.0))],
    )
    crashed = AnswerEdit(
        "total", "left_out", "", "rows", "rows", 1.0, {"total": "rows"}, [Outline("error ValueError")] * 2, [doubled]
    )
    return Catalog(["rows", "mean"], [0, 2], right, [doubled, crashed])


def test_reading_restores_catalog_with_likely_mistakes_first(tmp_path, monkeypatch):
    monkeypatch.setattr(catalog, "FOLDER", tmp_path)
    (tmp_path / "mean.json").write_text(stored().as_text(), encoding="utf-8")
    again = read("mean")
    doubled, crashed = stored().edits
    assert (again.names, again.cases) == (["rows", "mean"], [0, 2])
    assert all(map(Outline.may_match, again.right, stored().right))
    for one, two in zip(again.edits, (crashed, doubled), strict=True):
        assert (one.name, one.old, one.new, one.other, one.weight) == (
            two.name,
            two.old,
            two.new,
            two.other,
            two.weight,
        )
        assert one.code == {name: text.removeprefix("return ") for name, text in two.code.items()}
        assert all(mine.may_match(other) for mine, other in zip(one.outlines, two.outlines, strict=True))
    assert [one.name for one in again.edits[0].readings] == ["scaled_mean"]
    assert read("nothing").edits == ()


def test_stores_one_mistake_per_line_in_step_order():
    doubled, _ = stored().edits
    likelier = AnswerEdit(
        "mean", "sign", "", "-§", "", 1.5, {"mean": "if a:\n    return 1\nreturn 2"}, doubled.outlines
    )
    last = AnswerEdit("mean", "sign", "", "1 - §", "", 1.1, {"mean": "1 - rows", "rows": "0"}, doubled.outlines)
    before = stored().as_text().splitlines()
    after = replace(stored(), edits=[last, likelier, *stored().edits]).as_text().splitlines()
    assert len(before) == 3
    assert [line for line in after if line not in before] == [
        '["mean","sign","","1 - §","",1.1,{"mean":"1 - rows","rows":"0"},[[-0.58398,2.7],[3.2418,3.2]]],',
        '["mean","sign","","-§","",1.5,"if a:\\n    return 1\\nreturn 2",[[-0.58398,2.7],[3.2418,3.2]]],',
    ]
    assert [line for line in after if line in before] == before


def test_shortened_forms_remain_distinct():
    one, other = ({"output": [[number] * 9] * 9} for number in (1, 1.0))
    forms = [outline(displayed).form for displayed in (one, other)]
    assert len(set(forms)) == 2
    assert [len(form) for form in forms] == [MAX_FORM_LENGTH] * 2
    assert forms[0].startswith("list 9 list 9 int int int")


def test_outlines_distinguish_results_but_tolerate_rounding():
    one = outline(observation_of(1.0, 2.0, 3.0))
    assert one.may_match(outline(observation_of(1.00001, 2.0, 3.0)))
    assert not one.may_match(outline(observation_of(1.0, 3.0, 2.0)))
    assert not one.may_match(outline(observation_of(1.0, 2.0)))
    assert not one.may_match(outline({"output": torch.tensor([1, 2, 3])}))
    assert not outline({"output": 1}).may_match(outline({"output": True}))
    assert outline({"output": {"a": (1.0, [True]), "b": None}}).form == "dict ['a', 'b'] tuple 2 float l…38af4385"
    assert outline({"output": {"a": (1.0, None)}}).form == "dict ['a'] tuple 2 float None"
    assert outline({"error": {"type": "ValueError", "message": "any"}}) == Outline("error ValueError")


@pytest.mark.parametrize(
    ("observed", "names"),
    [
        ([observation_of(2.0, 4.0), observation_of(0.0), observation_of(6.0)], ["scaled_mean"]),
        ([observation_of(2.0, 4.0), observation_of(0.0), observation_of(7.0)], []),
        ([{"error": {"type": "ValueError"}}] * 3, ["left_out_total"]),
    ],
)
def test_candidates_match_observed_outline(observed, names):
    cases, right = [Case({}, "")] * 3, [observation_of(1.0, 2.0), observation_of(0.0), observation_of(3.0)]
    assert [one.name for one in stored().candidates(cases, right, observed)] == names


def test_every_mistake_is_a_candidate_for_another_seed():
    cases, other = [Case({}, "")] * 3, [observation_of(5.0, 2.0), observation_of(0.0), observation_of(3.0)]
    assert len(stored().candidates(cases, other, other)) == 2


def test_ignores_catalog_with_different_steps(tmp_path, monkeypatch):
    softmax = every_exercise()["softmax"]
    assert list(read("softmax").names) == names_of(softmax)
    monkeypatch.setattr(catalog, "FOLDER", tmp_path)
    (tmp_path / "softmax.json").write_text(stored().as_text(), encoding="utf-8")
    assert catalog_of.__wrapped__(softmax).edits == ()
    assert len(read("softmax").edits) == len(stored().edits)

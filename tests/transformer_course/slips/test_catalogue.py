"""The stored slips: read as they were written, and those that may be an attempt found without running the others."""

import pytest
import torch

from transformer_course.exercises import every_exercise
from transformer_course.running.case import Case
from transformer_course.slips import catalogue
from transformer_course.slips.catalogue import Catalogue, Outline, catalogue_of, names_of, outline, read
from transformer_course.slips.slip import Slip


def seen(*numbers):
    return {"output": torch.tensor(numbers)}


def stored():
    right = [outline(seen(1.0, 2.0)), outline(seen(3.0))]
    doubled = Slip(
        "mean", "scaled", "", "§ * 2", "", 2.0, {"mean": "return 2"}, [outline(seen(2.0, 4.0)), outline(seen(6.0))]
    )
    crashed = Slip(
        "total", "left_out", "", "rows", "rows", 1.0, {"total": "rows"}, [Outline("error ValueError")] * 2, [doubled]
    )
    return Catalogue(["rows", "mean"], [0, 2], right, [doubled, crashed])


def test_what_is_stored_is_read_as_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path)
    (tmp_path / "mean.json").write_text(stored().as_text(), encoding="utf-8")
    again = read("mean")
    assert (again.names, again.cases) == (["rows", "mean"], [0, 2])
    for one, two in zip(again.slips, stored().slips, strict=True):
        assert (one.name, one.old, one.new, one.other, one.weight, one.code) == (
            two.name, two.old, two.new, two.other, two.weight, two.code,
        )  # fmt: skip
        assert all(mine.may_be(other) for mine, other in zip(one.shows, two.shows, strict=True))
    assert [one.name for one in again.slips[1].readings] == ["scaled_mean"]
    assert read("nothing").slips == ()


def test_outlines_tell_results_apart_and_forgive_rounding():
    one = outline(seen(1.0, 2.0, 3.0))
    assert one.may_be(outline(seen(1.00001, 2.0, 3.0)))
    assert not one.may_be(outline(seen(1.0, 3.0, 2.0)))
    assert not one.may_be(outline(seen(1.0, 2.0)))
    assert not one.may_be(outline({"output": torch.tensor([1, 2, 3])}))
    assert not outline({"output": 1}).may_be(outline({"output": True}))
    assert outline({"output": {"a": (1.0, [True]), "b": None}}).form == "dict ['a', 'b'] tuple 2 float list 1 bool None"
    assert outline({"error": {"type": "ValueError", "message": "any"}}) == Outline("error ValueError")


@pytest.mark.parametrize(
    ("observed", "names"),
    [
        ([seen(2.0, 4.0), seen(0.0), seen(6.0)], ["scaled_mean"]),
        ([seen(2.0, 4.0), seen(0.0), seen(7.0)], []),
        ([{"error": {"type": "ValueError"}}] * 3, ["left_out_total"]),
    ],
)
def test_only_what_may_be_an_attempt_is_looked_at(observed, names):
    cases, right = [Case({}, "")] * 3, [seen(1.0, 2.0), seen(0.0), seen(3.0)]
    assert [one.name for one in stored().candidates(cases, right, observed)] == names


def test_on_the_cases_of_another_seed_all_are_looked_at():
    cases, other = [Case({}, "")] * 3, [seen(5.0, 2.0), seen(0.0), seen(3.0)]
    assert len(stored().candidates(cases, other, other)) == 2


def test_slips_of_other_steps_are_not_used(tmp_path, monkeypatch):
    softmax = every_exercise()["softmax"]
    assert list(read("softmax").names) == names_of(softmax)
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path)
    (tmp_path / "softmax.json").write_text(stored().as_text(), encoding="utf-8")
    assert catalogue_of.__wrapped__(softmax).slips == ()
    assert len(read("softmax").slips) == len(stored().slips)

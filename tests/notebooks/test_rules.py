"""Every rule for lessons can be violated: a lesson modified to violate it is reported."""

import copy

import nbformat
import pytest
from torch import Tensor, nn

from tests.notebooks.attempts import solutions
from tests.notebooks.break_rules import (
    Doctor,
    add_a_check_of_nothing,
    cell,
    drop,
    fail,
    output,
    picture,
    swap_the_last_two_sections,
    tag,
    text,
    untag,
)
from tests.notebooks.lesson import Lesson
from tests.notebooks.rules import RULES, Rule, contents, execution, exercises, length
from transformer_course.exercise import Exercise

NAME = "01_lookup"

STUB = "    raise NotImplementedError"

DOCTORED: dict[Rule, list[tuple[Doctor, str]]] = {
    execution.a_lesson_goes_on_without_a_published_model: [
        (tag("softmax", "published-model"), "check-softmax uses softmax, which there is only with the model"),
        (tag("softmax", "published-model"), "published_in_lesson is called for [], not ['01_lookup']"),
    ],
    execution.every_code_cell_was_run_in_order: [
        (lambda x: cell(x, "softmax").update(execution_count=None), "softmax was never"),
        (drop("imports"), "executed as number 2, and is number 1"),
    ],
    execution.nothing_went_wrong: [
        (fail, "imports raised ImportError: no torch"),
        (output("imports", "Warning!", "stderr"), "imports wrote to stderr: Warning!"),
    ],
    execution.nothing_belongs_to_one_machine: [
        (output("imports", "<f at 0x7f00aa11bb>"), "imports shows 0x7f00aa11bb"),
    ],
    execution.numbers_are_short: [
        (output("imports", "it is 0.123456"), "imports shows 0.123456"),
        (output("imports", "[-0.0, 1]"), "imports shows a minus zero"),
        (output("imports", f"tensor({list(range(9))})"), "imports shows a raw tensor"),
    ],
    execution.pictures_are_transparent: [
        (picture("imports", 200, "white"), "imports shows a picture that is not transparent"),
    ],
    execution.pictures_show_something: [
        (picture("imports", 1, "#00000000"), "imports shows a picture of 1 × 1 pixels"),
        (picture("imports", 200, "#00000000"), "imports shows a picture of 200 × 200 pixels with next to nothing"),
    ],
    execution.pictures_have_their_words_as_plain_text: [
        (picture("imports", 200, "#00000000", words="<Figure size 600x320 with 1 Axes>"), "not its description: <Fig"),
        (picture("imports", 200, "#00000000", alt="A wrong picture."), "not its description: A picture."),
    ],
    execution.every_cell_is_run_except_colab_and_the_experiment: [
        (tag("softmax", "skip-execution"), "colab, softmax, experiment are tagged"),
        (untag("experiment"), "colab are tagged"),
        (tag("softmax", "nbval-skip"), "softmax is marked nbval-skip"),
        (tag("softmax", "raises-exception"), "softmax is marked raises-exception"),
        (text("prices = {", "# NBVAL_IGNORE_OUTPUT\nprices = {"), "is marked # NBVAL_IGNORE_OUTPUT"),
    ],
    exercises.every_exercise_has_a_stub_and_then_its_check: [
        (drop("softmax"), "softmax needs one cell"),
        (untag("softmax"), "softmax needs one cell"),
        (drop("check-softmax"), "softmax is not followed"),
        (text("check(softmax)", "check(attention)"), "is not followed"),
    ],
    exercises.every_exercise_cell_and_check_belongs_to_an_exercise: [
        (add_a_check_of_nothing, "check-print checks no"),
        (text("check(softmax)", "softmax"), "check anything"),
        (lambda x: cell(x, "softmax").update(id="soft"), "soft is"),
    ],
    exercises.stubs_look_like_the_answers: [
        (text('keys: Float[Tensor, "n d"])', 'keys: Float[Tensor, "d n"])'), "'d n'"),
        (text("def softmax(scores:", "def softmax(x:"), "softmax: the signature is (x:"),
        (text("def softmax(", "def soft("), "softmax: its cell should define"),
        (text(STUB, "    return None"), "nothing in the stub raises"),
        (text(STUB, f"    x = 1\n{STUB}"), "nothing in the stub raises"),
        (text('"""Turn scores', '0, """Turn scores'), "softmax: the stub has no docstring"),
    ],
    exercises.no_exercise_is_started: [
        (output("check-softmax", "softmax: passed"), "it says: softmax: passed"),
    ],
    exercises.each_bug_hunt_is_wrong_without_a_name: [
        (drop("check-mend-attention"), "bug-hunt-2 is not followed by"),
        (text("save=False", "save=True"), "bug-hunt-2 is not followed by"),
        (output("check-mend-attention", "attention: passed"), "it says: attention: passed"),
        (output("check-mend-attention", "attention: a known mistake\nIt is."), "it says: attention: a known mistake"),
    ],
    exercises.each_bug_hunt_keeps_its_verdict_folded: [
        (output("check-mend-attention", "attention: not right yet"), "check-mend-attention shows its verdict"),
    ],
    exercises.no_case_of_a_bug_hunt_gives_it_away: [
        (
            output("check-mend-attention", "attention: not right yet\nCase 1 of 2 (a bug without a check): wrong."),
            "called 'a bug without a check', and 'bug without a' is in the solution",
        ),
    ],
    contents.the_title_says_what_to_expect: [
        (text("# 01 · ", "# 02 · "), "# 01 · "),
        (text("Reading: ", "Takes "), "Reading: "),
        (text("Exercises: ", "Tasks: "), "how long the exercises take"),
    ],
    contents.the_title_says_how_long_everything_takes: [
        (text("With all predictions", "And"), "how long everything takes"),
    ],
    contents.predictions_are_counted_at_the_end: [
        (text("tally()", "1"), "does not count the predictions"),
        (drop("tally"), "does not count the predictions"),
    ],
    contents.the_parts_come_in_order: [
        (text("## In short", "## Sum"), "0 headings begin with 'In short'"),
        (swap_the_last_two_sections, "do not come in the order"),
    ],
    contents.the_first_code_imports_and_the_second_seeds: [
        (drop("imports"), "is not imports"),
        (text("torch.manual_seed", "print"), "does not seed"),
        (text("prices = {", "import json\nprices = {"), "imports something"),
    ],
    contents.old_and_new_questions_are_asked: [
        (drop("before-you-start"), "Before you start: 0 questions"),
        (drop("interview-questions-2"), "Interview questions: 4 questions"),
    ],
    contents.new_words_stand_in_bold_where_they_come_first: [
        (drop("new-words"), "0 new words"),
        (text("- **temperature**:", "- **heat**:"), "'heat' is defined among the new words"),
        (text("- **temperature**: ", "- **temperature**: so\n- **query**: "), "'temperature' does not end properly"),
    ],
    contents.model_answers_point_at_sections_that_exist: [
        (text("<i>What if the order changes?</i>", "<i>Two lookups</i>"), "'Two lookups'"),
    ],
    contents.links_to_other_notebooks_lead_somewhere: [
        (text("(primer.ipynb)", "(premier.ipynb)"), "a link to premier.ipynb, which is not there"),
    ],
    contents.every_prediction_is_asked_for_and_answered: [
        (text("compare(prediction,", "print("), "was never compared"),
        (text("prediction = ...", "prediction = 8"), "tagged prediction hold"),
        (text("**Predict.**", "Guess!"), "says neither **Predict.**"),
        (text("compare(prediction_alone", "compare(alone"), "not predicted"),
    ],
    contents.it_has_experiments_a_bug_hunt_and_a_transfer_task: [
        (untag("bug-hunt-2"), "tagged bug-hunt; found 0"),
    ],
    contents.readers_test_a_claim_of_their_own: [
        (text("**Claim.**", "Claim:"), "does not say **Claim.**"),
        (untag("experiment"), "tagged experiment, of that id; found 0"),
        (text("for seed in range(3):", "for seed in range(1):"), "should run three seeds"),
        (lambda x: cell(x, "in-short").update(source="## Sum"), "right before In short"),
    ],
    contents.a_table_shows_the_shapes: [
        (drop("in-short-2"), "no table has the columns module"),
    ],
    contents.instructors_find_a_note_with_the_points_in_the_guide: [
        (text("## What to read next", "## What to read next\nFor instructors"), "stands in docs/lesson_notes.md"),
        (lambda lesson: lesson.exercises.update(soft=lesson.exercises["softmax"]), "does not say: soft 2"),
    ],
    length.prose_comes_in_small_pieces: [
        (text("## In short", "## In short\n" + "word " * 140), "in-short has"),
    ],
    length.code_comes_in_small_pieces: [
        (text("prices = {", "\n" * 30 + "prices = {"), "lines of code"),
    ],
    length.the_lesson_is_read_in_time: [
        (text("## In short", "## In short\n" + "word " * 9000), "reading takes"),
        (text("Reading: ", "Reading: 9"), "reading takes 9"),
        (text("Reading: 33", "Reading: 20"), "the title promises 20"),
    ],
    length.no_exercise_is_far_away: [
        (text("Score all the keys.", "word " * 300), "words are read before similarity"),
    ],
    length.figures_show_themselves: [
        (text("ax.legend()", "plt.show()"), "calls plt.show"),
    ],
}


@pytest.mark.parametrize(
    ("rule", "doctor", "complaint"),
    [pytest.param(rule, *case, id=f"{rule.__name__}-{case[1]}") for rule, cases in DOCTORED.items() for case in cases],
)
def test_reports_a_lesson_that_violates_a_rule(rule: Rule, doctor: Doctor, complaint: str) -> None:
    lesson = Lesson.stored(NAME)
    before = list(rule(lesson))
    doctor(lesson)
    new = [message for message in rule(lesson) if message not in before]
    assert any(complaint in message for message in new), new


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("# Primer · ", "# 00 · ", "# Primer · "),
        ("Reading: ", "Takes ", "Reading: "),
        ("## Self-check", "## Check", "0 headings begin with 'Self-check'"),
        ("**Your turn.**", "Try.", "says neither **Predict.**"),
        ("## What to read next", "## What to read next\nFor instructors", "stands in docs/lesson_notes.md"),
    ],
)
def test_reports_a_primer_that_violates_a_rule(old: str, new: str, complaint: str) -> None:
    lesson = Lesson.stored("primer")
    text(old, new)(lesson)
    assert any(complaint in message for rule in contents.RULES for message in rule(lesson))


def test_covers_every_rule() -> None:
    assert DOCTORED.keys() == set(RULES)


def reviewed(verdict: str, solution: str = "```python\nclass Mended: ...\n```") -> Lesson:
    """Return a lesson with its own tests for a bug hunt."""
    code, markdown = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell
    shown = nbformat.v4.new_output("stream", name="stdout", text=verdict)
    cells = [
        code("class Broken: ...", id="hunt", metadata={"tags": ["bug-hunt"]}),
        code("Mended = Broken", id="mend-broken"),
        code("review(Mended)", id="check-mend-broken", outputs=[shown]),
        markdown(f"<details>{solution}</details>"),
    ]
    return Lesson(NAME, nbformat.v4.new_notebook(cells=cells))


def test_lesson_may_review_a_bug_hunt_itself() -> None:
    lesson = reviewed("Broken: not right yet\n1. It leaks.")
    assert list(exercises.each_bug_hunt_is_wrong_without_a_name(lesson)) == []
    assert list(exercises.every_exercise_cell_and_check_belongs_to_an_exercise(lesson)) == []
    assert solutions(lesson)["mend-broken"] == "class Mended: ...\n"


def test_rejects_a_review_that_passes_broken_code_or_has_no_solution() -> None:
    [complaint] = exercises.each_bug_hunt_is_wrong_without_a_name(reviewed("Broken: passed"))
    assert "check-mend-broken should find Broken wrong" in complaint
    with pytest.raises(ValueError, match="no solution with code follows the review of a bug hunt"):
        solutions(reviewed("Broken: not right yet", solution="Read it again."))


def test_reports_consecutive_predictions_without_an_answer() -> None:
    lesson = Lesson.stored(NAME)
    asked = lesson.tagged("prediction")[0]
    place = lesson.cells.index(asked)
    lesson.book.cells[place:place] = copy.deepcopy(lesson.cells[place - 1 : place + 1])
    assert any(
        "was not compared before" in message for message in contents.every_prediction_is_asked_for_and_answered(lesson)
    )


class Scale(nn.Module):
    """Multiply by a number."""

    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor

    def forward(self, x: Tensor) -> Tensor:
        return self.factor * x


STUB_OF_A_MODULE = '''
class Scale(nn.Module):
    """Multiply by a number."""

    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor

    def forward(self, x: Tensor) -> Tensor:
        raise NotImplementedError
'''


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("", "", None),
        ("forward(self, x: Tensor)", "forward(self, y: Tensor)", "Scale.forward: the signature is (self, y: Tensor)"),
        ("factor: float", "factor: int", "Scale.__init__: the signature is (self, factor: int)"),
        ("self.factor = factor", "self.other = factor", "Scale.__init__: the body should be nothing but"),
        ("raise NotImplementedError", "return self.factor * x", "nothing in the stub raises"),
        ("def forward", "def backward", "Scale.backward: the answer has no such function"),
    ],
)
def test_stub_of_a_module_is_compared_by_method(old: str, new: str, complaint: str | None) -> None:
    lesson = Lesson.stored(NAME)
    exercise = Exercise(reference=Scale, cases=lambda _: [], mistakes=[], hints=[], points=1, verified="")
    vars(lesson)["exercises"] = {"Scale": exercise}
    cell(lesson, "softmax").update(id="Scale", source=STUB_OF_A_MODULE.replace(old, new))
    complaints = list(exercises.stubs_look_like_the_answers(lesson))
    assert complaints == [] if complaint is None else any(complaint in message for message in complaints)

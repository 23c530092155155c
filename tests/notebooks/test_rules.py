"""Test that every rule for lessons reports a lesson that violates it."""

import copy

import nbformat
import pytest
from torch import Tensor, nn

from tests.notebooks.attempts import solutions
from tests.notebooks.break_rules import (
    Modification,
    add_check_without_exercise,
    cell,
    drop,
    fail,
    output,
    picture,
    swap_last_two_sections,
    tag,
    text,
    untag,
)
from tests.notebooks.lesson import Lesson
from tests.notebooks.rules import RULES, Rule, contents, execution, exercises, length
from transformer_course.exercise import Exercise

NAME = "01_lookup"

STUB = "    raise NotImplementedError"

VIOLATIONS: dict[Rule, list[tuple[Modification, str]]] = {
    execution.lesson_works_without_published_model: [
        (tag("softmax", "published-model"), "check-softmax uses softmax, which needs the model"),
        (tag("softmax", "published-model"), "published_in_lesson is called for [] instead of ['01_lookup']"),
    ],
    execution.code_cells_were_executed_in_order: [
        (lambda x: cell(x, "softmax").update(execution_count=None), "softmax was never"),
        (drop("imports"), "executed as number 2, but is number 1"),
    ],
    execution.no_cell_raised_or_warned: [
        (fail, "imports raised ImportError: no torch"),
        (output("imports", "Warning!", "stderr"), "imports wrote to stderr: Warning!"),
    ],
    execution.outputs_are_machine_independent: [
        (output("imports", "<f at 0x7f00aa11bb>"), "imports shows 0x7f00aa11bb"),
    ],
    execution.numbers_have_few_digits: [
        (output("imports", "it is 0.123456"), "imports shows 0.123456"),
        (output("imports", "[-0.0, 1]"), "imports shows a negative zero"),
        (output("imports", f"tensor({list(range(9))})"), "imports shows a raw tensor"),
    ],
    execution.pictures_are_transparent: [
        (picture("imports", 200, "white"), "imports shows a picture that is not transparent"),
    ],
    execution.pictures_are_not_blank: [
        (picture("imports", 1, "#00000000"), "imports shows a picture of 1 × 1 pixels"),
        (picture("imports", 200, "#00000000"), "imports shows a picture of 200 × 200 pixels that is almost empty"),
    ],
    execution.pictures_have_descriptions_as_plain_text: [
        (picture("imports", 200, "#00000000", words="<Figure size 600x320 with 1 Axes>"), "not its description: <Fig"),
        (picture("imports", 200, "#00000000", alt="A wrong picture."), "not its description: A picture."),
    ],
    execution.only_colab_and_experiment_are_skipped: [
        (tag("softmax", "skip-execution"), "colab, softmax, experiment are tagged"),
        (untag("experiment"), "colab are tagged"),
        (tag("softmax", "nbval-skip"), "softmax is marked nbval-skip"),
        (tag("softmax", "raises-exception"), "softmax is marked raises-exception"),
        (text("prices = {", "# NBVAL_IGNORE_OUTPUT\nprices = {"), "is marked # NBVAL_IGNORE_OUTPUT"),
    ],
    exercises.every_exercise_has_stub_and_check: [
        (drop("softmax"), "softmax needs one cell"),
        (untag("softmax"), "softmax needs one cell"),
        (drop("check-softmax"), "softmax is not followed"),
        (text("check(softmax)", "check(attention)"), "is not followed"),
    ],
    exercises.every_exercise_cell_belongs_to_an_exercise: [
        (add_check_without_exercise, "check-print checks no"),
        (text("check(softmax)", "softmax"), "check anything"),
        (lambda x: cell(x, "softmax").update(id="soft"), "soft is"),
    ],
    exercises.stubs_match_the_answers: [
        (text('keys: Float[Tensor, "n d"])', 'keys: Float[Tensor, "d n"])'), "'d n'"),
        (text("def softmax(scores:", "def softmax(x:"), "softmax: the signature is (x:"),
        (text("def softmax(", "def soft("), "softmax: the cell should define"),
        (text(STUB, "    return None"), "the stub does not raise"),
        (text(STUB, f"    x = 1\n{STUB}"), "the stub does not raise"),
        (text('"""Turn scores', '0, """Turn scores'), "softmax: the stub has no docstring"),
    ],
    exercises.no_exercise_is_started: [
        (output("check-softmax", "softmax: passed"), "it shows: softmax: passed"),
    ],
    exercises.bug_hunt_checks_do_not_name_the_mistake: [
        (drop("check-mend-attention"), "bug-hunt-2 is not followed by"),
        (text("save=False", "save=True"), "bug-hunt-2 is not followed by"),
        (output("check-mend-attention", "attention: passed"), "it shows: attention: passed"),
        (output("check-mend-attention", "attention: a known mistake\nIt is."), "it shows: attention: a known mistake"),
    ],
    exercises.bug_hunt_verdicts_are_folded: [
        (output("check-mend-attention", "attention: not right yet"), "check-mend-attention shows its verdict"),
    ],
    exercises.bug_hunt_cases_do_not_reveal_the_solution: [
        (
            output("check-mend-attention", "attention: not right yet\nCase 1 of 2 (a bug without a check): wrong."),
            "the case 'a bug without a check', but 'bug without a' is in the solution",
        ),
    ],
    contents.title_has_question_goal_and_times: [
        (text("# 01 · ", "# 02 · "), "# 01 · "),
        (text("Reading: ", "Takes "), "Reading: "),
        (text("Exercises: ", "Tasks: "), "does not give the time for the exercises"),
    ],
    contents.title_gives_total_time: [
        (text("With all predictions", "And"), "does not give the total time"),
    ],
    contents.last_code_cell_counts_predictions: [
        (text("tally()", "1"), "must be tally()"),
        (drop("tally"), "must be tally()"),
    ],
    contents.sections_are_in_order: [
        (text("## In short", "## Sum"), "0 headings begin with 'In short'"),
        (swap_last_two_sections, "are not in the order"),
    ],
    contents.first_code_cells_import_and_seed: [
        (drop("imports"), "must have the id imports"),
        (text("torch.manual_seed", "print"), "does not seed"),
        (text("prices = {", "import json\nprices = {"), "has an import"),
    ],
    contents.questions_have_answers: [
        (drop("before-you-start"), "Before you start: 0 questions"),
        (drop("interview-questions-2"), "Interview questions: 4 questions"),
    ],
    contents.new_words_are_defined_and_bold: [
        (drop("new-words"), "0 new words"),
        (text("- **temperature**:", "- **heat**:"), "'heat' is defined among the new words"),
        (text("- **temperature**: ", "- **temperature**: so\n- **query**: "), "'temperature' does not end with"),
    ],
    contents.answers_cite_existing_sections: [
        (text("<i>What if the order changes?</i>", "<i>Two lookups</i>"), "'Two lookups'"),
    ],
    contents.linked_notebooks_exist: [
        (text("(primer.ipynb)", "(premier.ipynb)"), "a link to premier.ipynb, which does not exist"),
    ],
    contents.every_prediction_is_compared: [
        (text("compare(prediction,", "print("), "was never compared"),
        (text("prediction = ...", "prediction = 8"), "tagged prediction, and only these"),
        (text("**Predict.**", "Guess!"), "must contain **Predict.**"),
        (text("compare(prediction_alone", "compare(alone"), "not predicted"),
    ],
    contents.has_predictions_bug_hunt_and_transfer_task: [
        (untag("bug-hunt-2"), "tagged bug-hunt; found 0"),
    ],
    contents.has_experiment_section: [
        (text("**Claim.**", "Claim:"), "does not contain **Claim.**"),
        (untag("experiment"), "the id and the tag experiment; found 0"),
        (text("for seed in range(3):", "for seed in range(1):"), "should run three seeds"),
        (lambda x: cell(x, "in-short").update(source="## Sum"), "right before In short"),
    ],
    contents.has_table_of_shapes: [
        (drop("in-short-2"), "a table with the columns module"),
    ],
    contents.note_for_instructors_lists_points: [
        (text("## What to read next", "## What to read next\nFor instructors"), "belong in docs/lesson_notes.md"),
        (lambda lesson: lesson.exercises.update(soft=lesson.exercises["softmax"]), "does not contain: soft 2"),
    ],
    length.text_cells_are_short: [
        (text("## In short", "## In short\n" + "word " * 140), "in-short has"),
    ],
    length.code_cells_are_short: [
        (text("prices = {", "\n" * 30 + "prices = {"), "lines of code"),
    ],
    length.lesson_can_be_read_in_time: [
        (text("## In short", "## In short\n" + "word " * 9000), "reading takes"),
        (text("Reading: ", "Reading: 9"), "reading takes 9"),
        (text("Reading: 34", "Reading: 20"), "the title promises 20"),
    ],
    length.exercises_are_close_together: [
        (text("Score all the keys.", "word " * 300), "words come before similarity"),
    ],
    length.cells_do_not_call_plt_show: [
        (text("ax.legend()", "plt.show()"), "calls plt.show"),
    ],
}


@pytest.mark.parametrize(
    ("rule", "modify", "complaint"),
    [
        pytest.param(rule, *case, id=f"{rule.__name__}-{case[1]}")
        for rule, cases in VIOLATIONS.items()
        for case in cases
    ],
)
def test_reports_a_lesson_that_violates_a_rule(rule: Rule, modify: Modification, complaint: str) -> None:
    lesson = Lesson.stored(NAME)
    before = list(rule(lesson))
    modify(lesson)
    new = [message for message in rule(lesson) if message not in before]
    assert any(complaint in message for message in new), new


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("# Primer · ", "# 00 · ", "# Primer · "),
        ("Reading: ", "Takes ", "Reading: "),
        ("## Self-check", "## Check", "0 headings begin with 'Self-check'"),
        ("**Your turn.**", "Try.", "must contain **Predict.**"),
        ("## What to read next", "## What to read next\nFor instructors", "belong in docs/lesson_notes.md"),
    ],
)
def test_reports_a_primer_that_violates_a_rule(old: str, new: str, complaint: str) -> None:
    lesson = Lesson.stored("primer")
    text(old, new)(lesson)
    assert any(complaint in message for rule in contents.RULES for message in rule(lesson))


def test_tests_cover_every_rule() -> None:
    assert VIOLATIONS.keys() == set(RULES)


def reviewed(verdict: str, solution: str = "```python\nclass Mended: ...\n```") -> Lesson:
    """Return a lesson that judges a bug hunt with its own ``review`` function."""
    code, markdown = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell
    output = nbformat.v4.new_output("stream", name="stdout", text=verdict)
    cells = [
        code("class Broken: ...", id="hunt", metadata={"tags": ["bug-hunt"]}),
        code("Mended = Broken", id="mend-broken"),
        code("review(Mended)", id="check-mend-broken", outputs=[output]),
        markdown(f"<details>{solution}</details>"),
    ]
    return Lesson(NAME, nbformat.v4.new_notebook(cells=cells))


def test_accepts_lesson_that_reviews_bug_hunt_itself() -> None:
    lesson = reviewed("Broken: not right yet\n1. It leaks.")
    assert list(exercises.bug_hunt_checks_do_not_name_the_mistake(lesson)) == []
    assert list(exercises.every_exercise_cell_belongs_to_an_exercise(lesson)) == []
    assert solutions(lesson)["mend-broken"] == "class Mended: ...\n"


def test_rejects_review_without_failure_or_solution() -> None:
    [complaint] = exercises.bug_hunt_checks_do_not_name_the_mistake(reviewed("Broken: passed"))
    assert "check-mend-broken should find Broken wrong" in complaint
    with pytest.raises(ValueError, match="a solution with code must follow the review of a bug hunt"):
        solutions(reviewed("Broken: not right yet", solution="Read it again."))


def test_reports_prediction_repeated_before_comparison() -> None:
    lesson = Lesson.stored(NAME)
    prediction = lesson.tagged("prediction")[0]
    index = lesson.cells.index(prediction)
    lesson.book.cells[index:index] = copy.deepcopy(lesson.cells[index - 1 : index + 1])
    assert any("was not compared before" in message for message in contents.every_prediction_is_compared(lesson))


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
        ("self.factor = factor", "self.other = factor", "Scale.__init__: the body should be only"),
        ("raise NotImplementedError", "return self.factor * x", "the stub does not raise"),
        ("def forward", "def backward", "Scale.backward: the answer has no such function"),
    ],
)
def test_compares_module_stub_methods(old: str, new: str, complaint: str | None) -> None:
    lesson = Lesson.stored(NAME)
    exercise = Exercise(reference=Scale, cases=lambda _: [], mistakes=[], hints=[], points=1, verified="")
    vars(lesson)["exercises"] = {"Scale": exercise}
    cell(lesson, "softmax").update(id="Scale", source=STUB_OF_A_MODULE.replace(old, new))
    complaints = list(exercises.stubs_match_the_answers(lesson))
    assert complaints == [] if complaint is None else any(complaint in message for message in complaints)

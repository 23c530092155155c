"""The results of exercises, lessons, students and a class, with remarks for tables and pages."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from zoneinfo import ZoneInfo

from transformer_course.checking.formatting import join_words
from transformer_course.exercise import Exercise
from transformer_course.exercises import exercises_of
from transformer_course.grading.incoming.roster import Person
from transformer_course.grading.incoming.submission_times import DOWNLOAD_TIME
from transformer_course.grading.incoming.written_answers import WrittenAnswer
from transformer_course.grading.judging.answer_similarity import SimilarPair
from transformer_course.grading.judging.graded_results import GradedExercise, GradedSubmission
from transformer_course.grading.rules.class_rules import ClassRules
from transformer_course.grading.rules.late_policy import Lateness, in_words
from transformer_course.grading.rules.overrides import OVERRIDES_FILE as OVERRIDES
from transformer_course.grading.rules.overrides import Override

MAX_LISTED_NAMES = 5
MOODLE_ADVICE = " Grade again with --worksheet and Moodle's grading worksheet for the assignment, which has the times."
NOTHING_SUBMITTED = "nothing submitted"
"""The status of a student without any submission."""


@dataclass(frozen=True)
class ExerciseResult:
    """A student's result for an exercise, with the points that count.

    Args:
        exercise: The exercise.
        graded: The grader's result, or None.
        override: The instructor's decision or comment, or None.
        partial_credit: Whether passed cases count if other cases fail.
    """

    exercise: Exercise
    graded: GradedExercise | None = None
    override: Override | None = None
    partial_credit: bool = False

    @property
    def points(self) -> float:
        """The points entered by hand, or else the grader's points."""
        if self.override is not None and self.override.points is not None:
            return self.override.points
        return self.automatic_points

    @property
    def automatic_points(self) -> float:
        """The grader's points."""
        if self.graded is None:
            return 0
        if self.partial_credit and not self.graded.verdict.passed and self.graded.n_cases:
            return round(self.exercise.points * self.graded.n_right / self.graded.n_cases, 2)
        return self.graded.points


@dataclass(frozen=True)
class LessonResult:
    """A student's result for a lesson.

    Args:
        lesson: The name of the lesson.
        notebook: The notebook that determines the points, or None.
        exercises: The results of its exercises, in lesson order.
        lateness: The lateness of the notebook.
        points_after: The points for core exercises minus the penalty.
        attempt: All notebooks in the same attempt.
        held_back: A description of the points that a later, uncounted attempt would lower, or empty without such an
            attempt.
    """

    lesson: str
    notebook: GradedSubmission | None
    exercises: Sequence[ExerciseResult]
    lateness: Lateness
    points_after: float
    attempt: Sequence[GradedSubmission] = ()
    held_back: str = ""

    @property
    def points(self) -> float:
        """The points for core exercises."""
        return round(sum(result.points for result in self.exercises if not result.exercise.stretch), 2)

    def submitted(self, zone: ZoneInfo | None = None) -> tuple[str, str]:
        """Return the submission time in a zone and its source, or ``unknown`` and the reason."""
        if self.notebook is None:
            return "", ""
        submission = self.notebook.submission
        if not submission.handed_in:
            return "unknown", submission.time_source
        return in_words(datetime.fromisoformat(submission.handed_in), zone), submission.time_source

    @property
    def bonus(self) -> float:
        """The bonus points for stretch exercises."""
        return round(sum(result.points for result in self.exercises if result.exercise.stretch), 2)


@dataclass(frozen=True)
class StudentResult:
    """A student's results, with everything that tables and pages show.

    Args:
        name: The student's unique name in all tables.
        person: The person in the roster, or else a person with only an id.
        notebooks: All submitted notebooks.
        lessons: The results for the graded lessons, keyed by name.
        comment: The instructor's general comment.
        is_listed: Whether the student is in the roster, or there is no roster.
        written: The written answers, with their marks.
        extensions: The student's own due dates, keyed by lesson; the key "" stands for all other lessons.
        similar: Students with nearly identical submissions, keyed by lesson.
        requests: The student's open requests for a regrade.
        candidates: The people in the roster to whom the name may refer, if the match is uncertain.
        left_groups: The other group members, keyed by lesson, if the student's own submission counts instead of the
            group's submission.
    """

    name: str
    person: Person
    notebooks: Sequence[GradedSubmission]
    lessons: Mapping[str, LessonResult]
    comment: str = ""
    is_listed: bool = True
    written: Sequence[WrittenAnswer] = ()
    extensions: Mapping[str, datetime] = field(default_factory=dict)
    similar: Mapping[str, Sequence[str]] = field(default_factory=dict)
    requests: Sequence[Override] = ()
    candidates: Sequence[str] = ()
    left_groups: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def points(self) -> float:
        """The points for all core exercises."""
        return round(sum(lesson.points for lesson in self.lessons.values()), 2)

    @property
    def bonus(self) -> float:
        """The points for all stretch exercises."""
        return round(sum(lesson.bonus for lesson in self.lessons.values()), 2)

    @property
    def points_after(self) -> float:
        """The points for core exercises minus late penalties."""
        return round(sum(lesson.points_after for lesson in self.lessons.values()), 2)

    @property
    def status(self) -> str:
        """The status of the student's submissions, such as ``graded`` or ``nothing submitted``."""
        if any(notebook.exercises for notebook in self.notebooks):
            is_in_part = self.not_judged or any(notebook.submission.problem for notebook in self.notebooks)
            return "graded in part" if is_in_part else "graded"
        is_broken = any(notebook.submission.problem for notebook in self.notebooks)
        return "could not be graded" if is_broken else NOTHING_SUBMITTED

    def not_graded(self, lesson: str = "") -> list[GradedSubmission]:
        """Return the submissions for a lesson, or for any lesson, that could not be graded."""
        return [
            notebook for notebook in self.notebooks if notebook.submission.problem and lesson in ("", notebook.lesson)
        ]

    def lacks_submission(self, lesson: str) -> bool:
        """Return whether a lesson has neither a submission nor points entered by hand."""
        result = self.lessons[lesson]
        return result.notebook is None and not result.attempt and not result.points and not result.bonus

    @property
    def not_judged(self) -> list[str]:
        """A line for each answer that was stopped for a reason that may not be the student's fault."""
        return [
            f"{lesson.lesson}: {result.exercise.name} could not be judged: it {result.graded.ended_by_others}."
            for lesson in self.lessons.values()
            for result in lesson.exercises
            if result.graded
            and result.graded.ended_by_others
            and not (result.override and result.override.points is not None)
        ]

    @property
    def has_started(self) -> bool:
        """Whether the student has started an exercise that counts."""
        exercises = [result for lesson in self.lessons.values() for result in lesson.exercises]
        return any(result.graded and result.graded.verdict.status != "not_started" for result in exercises)

    @property
    def isolation(self) -> str:
        """The weakest level of isolation under which these results were obtained."""
        levels = {notebook.isolation for notebook in self.notebooks if notebook.isolation}
        return next((level for level in ("none", "shared user", "full") if level in levels), "")

    @property
    def remarks_on_name(self) -> list[str]:
        """Remarks for the instructor about the student's name."""
        if self.is_listed and self.person != Person(self.name):
            return []  # the roster identifies the student
        return list(
            dict.fromkeys(notebook.submission.remark for notebook in self.notebooks if notebook.submission.remark)
        )

    def remarks_on_choice(self, lesson: LessonResult) -> Iterator[str]:
        """Yield a remark that names the notebook used for the points, if several notebooks were submitted together."""
        n = sum(notebook.submission.lesson == lesson.lesson for notebook in lesson.attempt)
        if n > 1 and lesson.notebook is not None:
            yield f"{n} notebooks for {lesson.lesson} were submitted; {lesson.notebook.submission.file} counts."

    @property
    def remarks_on_groups(self) -> list[str]:
        """A line for each lesson in which the student's own submission counts instead of the group's submission."""
        return [
            f"{lesson}: this student's own submission counts instead of the group submission with {join_words(others)}."
            for lesson, others in self.left_groups.items()
        ]

    @property
    def held_back(self) -> list[str]:
        """A line for each lesson in which the latest attempt does not count, because it would lower points."""
        return [
            f"{lesson.lesson}: an earlier result counts, because the latest result would lower {lesson.held_back}. "
            "To count the latest result, add --replace."
            for lesson in self.lessons.values()
            if lesson.held_back
        ]

    @property
    def remarks(self) -> Iterator[str]:
        """Yield remarks for the instructor about this student."""
        yield from self.remarks_on_name
        if not self.is_listed:
            yield "Not in the roster."
            if self.candidates:
                yield f"Possible matches: {' or '.join(self.candidates)}."
        yield from self.not_judged
        yield from (f"{nb.submission.file}: {nb.submission.problem}" for nb in self.notebooks if nb.submission.problem)
        yield from dict.fromkeys(nb.submission.beside for nb in self.notebooks if nb.submission.beside)
        yield from self.held_back
        yield from self.remarks_on_groups
        for lesson in self.lessons.values():
            yield from self.remarks_on_choice(lesson)
            yield from lesson.notebook.notes if lesson.notebook else ()
            by_hand = [result for result in lesson.exercises if result.override and result.override.points is not None]
            if by_hand:
                yield f"Points entered by hand: {', '.join(result.exercise.name for result in by_hand)}."
            for result in by_hand:
                if result.automatic_points > result.points:
                    given, automatic = plain_number(result.points), plain_number(result.automatic_points)
                    yield f"{result.exercise.name}: you entered {given} by hand, but the grader gives {automatic}."
        yield from (f"{lesson}: nearly identical to {'; '.join(names)}." for lesson, names in self.similar.items())
        for lesson_name, due in self.extensions.items():
            yield f"Extension for {lesson_name or 'all lessons'} until {due:%Y-%m-%d %H:%M}."
        for request in self.requests:
            yield f"Regrade request for {request.exercise or 'the points'}: {request.request}"


@dataclass(frozen=True)
class ClassResults:
    """The results of a class.

    Args:
        students: All students in the roster, and all other students who submitted something, sorted by name.
        lessons: The lessons that count.
        unknown: A line about each name in the instructor's tables that does not clearly identify a student.
        is_listed: Whether there is a roster.
        similar: Pairs of nearly identical submissions.
        rules: The instructor's rules.
        left_out: Lessons submitted by too few students. For each, the number of students who submitted the lesson and
            the number who submitted anything.
        changes: A line about each student whose points have changed since the results were last written.
    """

    students: Sequence[StudentResult]
    lessons: Sequence[str]
    unknown: Sequence[str] = ()
    is_listed: bool = False
    similar: Sequence[SimilarPair] = ()
    rules: ClassRules = field(default_factory=ClassRules)
    left_out: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    changes: Sequence[str] = ()

    @property
    def held_back(self) -> list[str]:
        """A line about each student and lesson with an earlier result that counts because it is better."""
        return [f"{student.name}: {line}" for student in self.students for line in student.held_back]

    @property
    def remarks(self) -> Iterator[str]:
        """Yield remarks for the instructor about the class."""
        for lesson, (n, of) in self.left_out.items():
            yield f"{lesson} does not count, because only {n} of {of} students submitted it; to count it, add --lesson."
        yield from self.unknown_times()
        yield from (f"{student.name}: {line}" for student in self.students for line in student.remarks_on_groups)
        yield from self.unknown
        yield from self.unfinished

    def unknown_times(self, lesson: str = "") -> Iterator[str]:
        """Yield a line for each reason why submission times of notebooks with a due date are unknown.

        Args:
            lesson: The lesson to check; empty for all lessons.
        """
        names: dict[str, list[str]] = defaultdict(list)
        advice: dict[str, str] = defaultdict(str)
        for student in self.students:
            for result in student.lessons.values():
                is_of_lesson = lesson in ("", result.lesson)
                if result.notebook is None or not result.lateness.is_unknown or not is_of_lesson:
                    continue
                reason = result.submitted()[1]
                if student.name not in names[reason]:
                    names[reason].append(student.name)
                if reason == DOWNLOAD_TIME and result.notebook.submission.platform == "Moodle":
                    advice[reason] = MOODLE_ADVICE
        n_submitted = sum(student.status != NOTHING_SUBMITTED for student in self.students)
        for reason, students in names.items():
            is_everyone = len(students) == n_submitted > MAX_LISTED_NAMES
            listed = f"all {n_submitted} students" if is_everyone else join_words(students, MAX_LISTED_NAMES)
            because = f" ({reason})" if reason else ""
            yield f"No late penalty, because the submission time is unknown: {listed}{because}.{advice[reason]}"

    @cached_property
    def without_submission(self) -> Mapping[str, Sequence[str]]:
        """The students in the roster without a submission, keyed by lesson; the key is "" if they submitted nothing.

        Without a roster, the mapping is empty. A student whose points for a lesson were entered by hand is not listed
        for this lesson.
        """
        listed = [student for student in self.students if self.is_listed and student.is_listed]
        idle = [student.name for student in listed if student.status == NOTHING_SUBMITTED]
        found = {"": idle} | {
            lesson: [
                student.name for student in listed if student.name not in idle and student.lacks_submission(lesson)
            ]
            for lesson in self.lessons
        }
        return {lesson: names for lesson, names in found.items() if names}

    @property
    def unfinished(self) -> Iterator[str]:
        """Yield a line for each kind of work that the instructor has to finish before the points are complete."""
        n_unmarked = sum(answer.points is None for student in self.students for answer in student.written)
        n_requests = sum(len(student.requests) for student in self.students)
        not_judged = [student.name for student in self.students for _ in student.not_judged]
        if not_judged:
            whose = join_words(list(dict.fromkeys(not_judged))[:MAX_LISTED_NAMES])
            more = ", …" if len({*not_judged}) > MAX_LISTED_NAMES else ""
            count = f"{len(not_judged)} answer{'' if len(not_judged) == 1 else 's'} from {whose}{more}"
            yield f"{count} could not be judged and got no points. Grade again, or enter the points in {OVERRIDES}."
        if n_unmarked:
            answers = "written answer has" if n_unmarked == 1 else "written answers have"
            yield f"{n_unmarked} {answers} no points yet. Enter the points in written_answers.csv."
        if n_requests:
            requests = "regrade request has" if n_requests == 1 else "regrade requests have"
            yield f"{n_requests} {requests} not been answered yet. Enter points or a comment in {OVERRIDES}."

    @property
    def copies(self) -> Iterator[tuple[str, list[str], float]]:
        """Yield the lesson, the students and the lowest similarity for each group of nearly identical submissions."""
        for lesson in self.lessons:
            pairs = [pair for pair in self.similar if pair.lesson == lesson]
            groups: list[set[str]] = []
            for pair in pairs:
                merged = [group for group in groups if group & {*pair.students}]
                groups = [group for group in groups if group not in merged] + [set(pair.students).union(*merged)]
            for group in groups:
                yield lesson, sorted(group), min(pair.similarity for pair in pairs if pair.students[0] in group)

    @property
    def has_lateness(self) -> bool:
        """Whether any student was late or has an unknown submission time."""
        lessons = (lesson for student in self.students for lesson in student.lessons.values())
        return any(lesson.lateness.message for lesson in lessons)

    @property
    def has_written_answers(self) -> bool:
        """Whether there are written answers."""
        return any(student.written for student in self.students)

    @cached_property
    def max_points(self) -> int:
        """The maximum points for core exercises in all lessons that count."""
        return max_points(self.lessons)


def max_points(lessons: Sequence[str]) -> int:
    """Return the maximum points for core exercises in these lessons."""
    return sum(e.points for lesson in lessons for e in exercises_of(lesson) if not e.stretch)


def plain_number(number: float) -> float:
    """Return a whole number as an int, so that it is written without a decimal point."""
    return int(number) if number == int(number) else number

"""Grade a class: find the submissions, run them in the sandbox, judge them, and write the results."""

import contextlib
import logging
import secrets
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from transformer_course.checking.formatting import join_words, readable
from transformer_course.exercises import every_lesson, exercises_of
from transformer_course.grading.incoming.moodle_times import (
    describe_matches,
    has_submission_times,
    read_submission_times,
    with_submission_times,
)
from transformer_course.grading.incoming.printable_text import without_control_codes
from transformer_course.grading.incoming.submission import Submission, with_assumed_lesson
from transformer_course.grading.incoming.submissions import find_submissions
from transformer_course.grading.incoming.usual_lessons import with_usual_lessons
from transformer_course.grading.judging.answer_similarity import MAX_SOURCE_LENGTH, answer_text, fingerprint
from transformer_course.grading.judging.assess import grader_failure, with_remarks
from transformer_course.grading.judging.graded_results import GradedExercise, GradedSubmission
from transformer_course.grading.judging.progress_bar import show_progress
from transformer_course.grading.judging.student_records import Records, read_records
from transformer_course.grading.judging.worker import Worker, grade_notebooks
from transformer_course.grading.reports.class_report import write_report
from transformer_course.grading.reports.class_results import other_lesson_problem
from transformer_course.grading.reports.gradebook import pluralize, summary
from transformer_course.grading.reports.point_changes import recorded_lessons
from transformer_course.grading.rules.class_rules import (
    ALL_LESSONS,
    ClassRules,
    RuleChanges,
    read_class_rules,
    write_class_rules,
)
from transformer_course.grading.rules.own_exercises import OwnExercises
from transformer_course.grading.rules.settings import (
    RunOptions,
    check_output_folder,
    new_settings,
    recorded_settings,
    versions,
    write_settings,
)
from transformer_course.interrupts import raise_if_interrupted
from transformer_course.sandbox.container import Container
from transformer_course.sandbox.resource_limits import Limits
from transformer_course.sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from transformer_course.grading.judging.dask_workers import SchedulerGrader

MAX_NOTE_LENGTH = 300
ISOLATION_LEVELS = ("none", "shared user", "full")
"""Levels of isolation for the notebooks' code, from weakest to strongest."""
Keep = Callable[[str, Sequence[GradedSubmission], Mapping[str, Any]], None]
"""A function that stores a student's results together with the active guards."""


def grade(paths: Sequence[Path], out: Path, changes: RuleChanges | None = None, run: RunOptions | None = None) -> str:
    """Grade notebooks, and write ``gradebook.csv``, ``results.json`` and a feedback page for each student.

    Students who are already in the results folder keep their rows. Unchanged submissions are not graded again, so an
    interrupted run continues where it stopped.

    Args:
        paths: Notebooks, students' folders, or folders of students' folders.
        out: The results folder, which may be new or from an earlier run.
        changes: Class rules to change; the new rules are saved in ``out``.
        run: Options for this run.

    Returns:
        A summary of a few lines.

    Raises:
        ValueError: A path does not exist or contains no notebook, ``out`` contains other files or results with a
            different seed, the code cannot be sandboxed, or the scheduler's workers run a different version of the
            course.
        OSError: A file cannot be read or written, or the sandbox does not start.
    """
    changes, run = changes or RuleChanges(), run or RunOptions()
    check_output_folder(out)
    # Read the instructor's tables first, so that their errors are reported before anything else happens.
    rules = changes.apply(read_class_rules(out))
    if changes.lessons and ALL_LESSONS not in rules.lessons and not (run.fresh or run.count_latest):
        # Grading another lesson keeps the points for earlier lessons.
        counted = {*rules.lessons, *recorded_lessons(out)}
        rules = replace(rules, lessons=[lesson for lesson in every_lesson() if lesson in counted])
    earlier = None if run.fresh else recorded_settings(out)
    seed = _seed(run.seed, earlier, out)
    found = _find_submissions(paths, out, rules, {} if run.fresh else read_records(out), run.layout)
    students = _by_student(_with_times_of_worksheets(found, rules, changes.roster, run), rules)
    records = Records(out, _settings_of_records(seed, run.limits, rules, changes.own))
    changed = {name: own if run.fresh else records.not_yet_graded(name, own) for name, own in students.items()}
    todo = {name: own for name, own in changed.items() if own}
    # Warn before anything runs, because a changed limit may be a mistake.
    _warn_of_changed_settings({} if run.fresh else todo, records)
    for name, own in ({} if run.fresh else students).items():
        records.update_times(name, own, allow_later=run.count_latest)
    if todo:
        for lesson in {notebook.lesson for own in todo.values() for notebook in own} & {*every_lesson()}:
            exercises_of(lesson)  # import the exercises once, before forking the workers
        with open_grader(min(run.jobs, len(todo)), seed, run, changes.own) as grader:
            weakest = min(grader.guards, key=lambda guards: ISOLATION_LEVELS.index(isolation(guards)))
            _warn_of_missing_guards(weakest, run.unconfined)
            if run.fresh:
                records.forget_all()
            # Fail now if the folder is not writable, not after the whole class has been graded.
            settings = new_settings(seed, run.limits, weakest)
            write_settings(out, settings)
            write_class_rules(out, rules, changes)
            try:
                _grade_students(todo, grader, records, rules.library_calls)
                _discard_earlier(students if run.count_latest else {}, records)
            finally:
                results = write_report(out, settings)
    else:
        write_class_rules(out, rules, changes)
        _discard_earlier(students if run.count_latest else {}, records)
        results = write_report(out, earlier or {})
    names = [{notebook.attempt.student for notebook in student.notebooks} for student in results.students]
    return summary(out, results, n_kept=sum(bool(own) and own.isdisjoint(todo) for own in names))


def _seed(given: int | None, earlier: Mapping[str, Any] | None, out: Path) -> int:
    """Return the given seed if there is one, or else the seed of the earlier run or a new seed."""
    if earlier and given not in (None, earlier["seed"]):
        used = earlier["seed"]
        raise ValueError(
            f"{out} was graded with seed {used}; to grade with seed {given}, choose a different folder or add --fresh"
        )
    if given is not None:
        return given
    return int(earlier["seed"]) if earlier else secrets.randbelow(2**63)


def _find_submissions(
    paths: Sequence[Path], out: Path, rules: ClassRules, known: Collection[str], layout: str
) -> list[Submission]:
    """Find the submissions, and log how the folders and zips were interpreted."""
    roster = rules.roster
    lines: list[str] = []
    found = find_submissions(
        paths,
        out,
        # Use only the roster here, because the known names may include the name of the class folder.
        lambda name: roster.find_exactly(name) is not None,
        may_be_student=lambda name: name in known or roster.has_match(name),
        pattern=layout,
        zone=rules.late_policy.zone,
        report=lines.append,
    )
    for line in lines:
        logging.getLogger(__name__).warning(line)  # warn before anything runs, so that the instructor can cancel
    if lines and not layout:
        logging.getLogger(__name__).warning("If these are not the students, use --layout (see grade --help).")
    return found


def _with_times_of_worksheets(
    found: list[Submission], rules: ClassRules, roster: Path | None, run: RunOptions
) -> list[Submission]:
    """Return the submissions with the times from Moodle's worksheets, including a worksheet passed as the roster."""
    zone = rules.late_policy.zone
    from_roster = [roster] if roster and roster not in run.worksheets and has_submission_times(roster, zone) else []
    for path in (*from_roster, *run.worksheets):
        times = read_submission_times(path, zone, run.worksheet_columns if path in run.worksheets else None)
        if path in run.worksheets or any(submission.lms_id in times for submission in found):
            logging.getLogger(__name__).warning(describe_matches(path.name, found, times))
        found = with_submission_times(found, times)
    return found


def _by_student(found: Sequence[Submission], rules: ClassRules) -> dict[str, list[Submission]]:
    students: dict[str, list[Submission]] = defaultdict(list)
    for submission in found:
        if submission.lesson and not rules.may_count(submission.lesson):
            submission = replace(submission, problem=other_lesson_problem(submission.lesson))
        students[submission.student].append(submission)
    if len(rules.lessons) == 1:
        students = {name: with_assumed_lesson(own, rules.lessons[0]) for name, own in students.items()}
    return with_usual_lessons(students)


def _discard_earlier(students: Mapping[str, Sequence[Submission]], records: Records) -> None:
    for name, own in students.items():
        records.keep_only(name, own)


def _settings_of_records(seed: int, limits: Limits, rules: ClassRules, own: Sequence[OwnExercises]) -> dict[str, Any]:
    """Return all settings that affect the points; if a setting changes, students are graded again."""
    settings: dict[str, Any] = {"seed": seed, "limits": [limits.seconds, limits.memory_mb], **versions()}
    if rules.library_calls != "remark":
        settings["library_calls"] = rules.library_calls
    if own:
        settings["own"] = {exercises.lesson: exercises.sha256 for exercises in own}
    return settings


def _warn_of_missing_guards(guards: Mapping[str, Any], unconfined: bool) -> None:
    if isolation(guards) == "none" and not unconfined:
        raise ValueError(f"{caution(guards)} To grade anyway, add --unconfined.")
    for warning in filter(None, (caution(guards), unlimited_resources(guards))):
        logging.getLogger(__name__).warning(warning)


def _warn_of_changed_settings(students: Mapping[str, Sequence[Submission]], records: Records) -> None:
    """Warn about changed settings that cause students to be graded again."""
    changed = [records.changed_settings(name, own) for name, own in students.items()]
    for changes, n in Counter(filter(None, changed)).items():
        line = f"Grading {pluralize(n, 'student')} again because settings have changed ({changes})."
        logging.getLogger(__name__).warning(line)


def _grade_students(
    students: Mapping[str, Sequence[Submission]],
    grader: "LocalGrader | SchedulerGrader",
    records: Records,
    library_calls: str,
) -> None:
    """Grade each student's notebooks, and save the results one student at a time."""

    def keep(name: str, graded: Sequence[GradedSubmission], guards: Mapping[str, Any]) -> None:
        level = isolation(guards)
        try:
            noted = [_with_notes(replace(notebook, isolation=level), library_calls) for notebook in graded]
            records.write(name, students[name], noted, guards)
        except (ValueError, TypeError, LookupError, RecursionError) as error:  # one student must not stop the grading
            failed = [grader_failure(submission, error) for submission in students[name]]
            records.write(name, students[name], failed, guards)

    with contextlib.closing(grader.grade(students, keep)) as graded:
        show_progress(graded, len(students))


class LocalGrader:
    """Grades students on this machine, each with the next free worker.

    Args:
        workers: The workers.
        limits: Limits for each exercise.
        seed: Random seed for the hidden cases.

    Attributes:
        guards: The guards of each worker's sandbox.
    """

    def __init__(self, workers: Sequence[Worker], limits: Limits, seed: int) -> None:
        self._workers, self._limits, self._seed = workers, limits, seed
        self.guards = [worker.guards for worker in workers]  # waits until all workers are ready

    def grade(self, students: Mapping[str, Sequence[Submission]], keep: Keep) -> Generator[str, None, None]:
        """Grade students, store each student's results, and yield the student's name."""
        free: SimpleQueue[Worker] = SimpleQueue()
        for worker in self._workers:
            free.put(worker)

        def grade_student(name: str) -> str:
            worker = free.get()
            try:
                keep(name, grade_notebooks(worker, students[name], self._limits, self._seed), worker.guards)
            finally:
                free.put(worker)
            return name

        with ThreadPoolExecutor(len(self._workers)) as threads:
            waiting: list[Future[str]] = [threads.submit(grade_student, name) for name in students]
            try:
                for done in as_completed(waiting):
                    raise_if_interrupted()
                    yield done.result()
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                for worker in self._workers:
                    worker.kill()  # ends the thread that is waiting for the worker
                raise


@contextlib.contextmanager
def open_grader(
    n: int, seed: int, run: RunOptions, own: Sequence[OwnExercises]
) -> "Iterator[LocalGrader | SchedulerGrader]":
    """Start a grader for n students at a time, here or on Dask workers, and stop it when the block ends."""
    if run.scheduler:
        from transformer_course.grading.judging.dask_workers import SchedulerGrader

        with SchedulerGrader(run.scheduler, run.limits, seed, run.container, own) as grader:
            yield grader
    else:
        container = Container(run.container) if run.container else None
        with open_workers(n, run.limits, container, own, run.sandbox) as workers:
            yield LocalGrader(workers, run.limits, seed)


def _with_notes(graded: GradedSubmission, library_calls: str) -> GradedSubmission:
    """Add remarks for the instructor to a graded notebook, and deduct the points that a remark costs."""
    cells, lesson = graded.submission.cells, graded.submission.lesson
    if not graded.exercises:
        return graded
    exercises = [with_remarks(result, library_calls) for result in graded.exercises]
    remarks = [f"{result.exercise.name} {remark}." for result in exercises for remark in result.remarks]
    notes = [readable(" ".join(without_control_codes(remark).split()), MAX_NOTE_LENGTH) for remark in remarks]
    texts = {result.exercise.name: _text_of(result, cells) for result in graded.exercises}
    answers = {name: without_control_codes(text) for name, text in texts.items() if text}
    text = fingerprint(cells, lesson)
    return replace(graded, exercises=exercises, notes=notes, fingerprint=text, answers=answers)


def _text_of(graded: GradedExercise, cells: Sequence[Mapping[str, str]]) -> str:
    """Return the source of the cell with the graded answer."""
    if graded.cell is None:
        return answer_text(cells, graded.exercise.name)
    return cells[graded.cell]["source"][:MAX_SOURCE_LENGTH]


@contextlib.contextmanager
def open_workers(
    n: int,
    limits: Limits,
    container: Container | None = None,
    own: Sequence[OwnExercises] = (),
    sandbox: Sandbox | None = None,
) -> Iterator[list[Worker]]:
    """Start n workers, and stop them when the block ends. If a running sandbox is given, the first worker uses it."""
    with contextlib.ExitStack() as stack:
        sandboxes = [sandbox, *[None] * (n - 1)]
        yield [stack.enter_context(Worker(limits, container, own, started)) for started in sandboxes]


def isolation(guards: Mapping[str, Any]) -> str:
    """Return the level of isolation for the notebooks' code: ``full``, ``shared user`` or ``none``."""
    has_own_user = guards["own_user"] or bool(guards.get("container"))
    is_filtered = guards["landlock"] and guards["seccomp"]
    if (has_own_user or guards["namespaces"]) and is_filtered:
        return "full"
    return "shared user" if has_own_user or is_filtered else "none"


def caution(guards: Mapping[str, Any]) -> str:
    """Return a warning about the harm that learners' code could do here, or an empty string if all guards work."""
    if guards.get("container"):
        return ""  # the code can access only its own folder
    risks = {
        "read every file that all users can read": guards["own_user"] and not guards["landlock"],
        "read, change and delete your files": not guards["own_user"] and not guards["landlock"],
        "kill your processes": not (guards["own_user"] or guards["namespaces"]) and guards["landlock"] < 6,
        "use the network": not guards["seccomp"] and not guards["namespaces"],
        "change the permissions of your files and the limits of your processes": not guards["own_user"]
        and not guards["seccomp"],
        "use up all memory": sys.platform != "linux",
    }
    open_risks = [risk for risk, is_open in risks.items() if is_open]
    if not open_risks:
        return ""
    advice = "Grade only code that you would run yourself, or grade in a container."
    return f"Caution: on this system the code in the notebooks can {join_words(open_risks)}. {advice}"


def unlimited_resources(guards: Mapping[str, Any]) -> str:
    """Return a note about resources that the grader can only monitor, not limit, or an empty string."""
    required_guards = {"memory": "cgroup", "disk space": "own_disk"}
    if guards.get("container") or sys.platform != "linux":  # limited by the container, or covered by the caution
        return ""
    unlimited = [resource for resource, guard in required_guards.items() if not guards.get(guard)]
    if not unlimited:
        return ""
    note = f"Note: this system cannot limit the total {join_words(unlimited)} of an answer's processes."
    return f"{note} The grader checks the total ten times a second, so an answer may briefly exceed its limit."

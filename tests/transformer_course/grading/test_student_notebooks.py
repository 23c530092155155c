"""Compare the points for realistic student notebooks with the results of checks in a real kernel.

Each notebook contains one exercise, ``softmax``. Its answer should get points if a check passes in Jupyter, either with
*Restart and run all* or in the order in which the student ran the cells.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import pytest
from jupyter_client.manager import start_new_kernel

from tests.helpers.thoroughness import Thoroughness
from transformer_course.exercises import every_exercise
from transformer_course.grading.incoming.submissions import find_submissions
from transformer_course.grading.judging import assess as assess_module
from transformer_course.grading.judging.assess import Allowance, assess, assess_exercise
from transformer_course.sandbox.sandbox import Sandbox

SOFTMAX = every_exercise()["softmax"]
IMPORTS = "import torch\nfrom transformer_course import check, parts, solution"
STUB = 'def softmax(scores):\n    """Turn scores into weights."""\n    raise NotImplementedError'
RIGHT = """def softmax(scores):
    e = (scores - scores.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)"""
WRONG = "def softmax(scores):\n    return scores.exp() / scores.exp().sum()"
HELPED = "def softmax(scores):\n    return helper(scores)"
HELPER = "def helper(scores):\n    return torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))"
WRONG_HELPER = "def helper(scores):\n    return scores"
CHECK = "check(softmax)"


@dataclass(frozen=True)
class Notebook:
    """A notebook that a student submits.

    Args:
        cells: The sources of the code cells below the imports.
        points: Whether the answer should get points.
        ran: The indices of the cells in the order in which the student ran them. If empty, the student ran all cells
            from top to bottom.
        deleted: The sources of cells that the student ran first and then deleted.
    """

    cells: Sequence[str]
    points: bool = True
    ran: Sequence[int] = ()
    deleted: Sequence[str] = field(default_factory=list)


NOTEBOOKS = {
    # Location of the answer
    "the lesson": Notebook([RIGHT, CHECK]),
    "a wrong answer": Notebook([WRONG, CHECK], points=False),
    "an untouched lesson": Notebook([STUB, CHECK], points=False),
    "the answer below the check": Notebook([STUB, CHECK, RIGHT], ran=[0, 1, 2, 1]),
    "the answer and its own check below": Notebook([STUB, CHECK, RIGHT, CHECK]),
    "answer and check in one cell at the end": Notebook([STUB, CHECK, f"{RIGHT}\n\n{CHECK}"]),
    "a wrong answer kept, and a right one with its check": Notebook([WRONG, CHECK, RIGHT, CHECK]),
    "a right answer, and a wrong one with its check": Notebook([RIGHT, CHECK, WRONG, CHECK]),
    "a right answer between two wrong ones": Notebook([WRONG, CHECK, RIGHT, CHECK, WRONG, CHECK]),
    "an experiment below the check": Notebook([RIGHT, CHECK, WRONG]),
    "a stub pasted below the answer": Notebook([RIGHT, STUB, CHECK], ran=[0, 2]),
    "a stub pasted into the cell of the answer": Notebook([RIGHT, CHECK, f"{RIGHT}\n\n\n{STUB}"]),
    "a lesson pasted below the work": Notebook([RIGHT, CHECK, IMPORTS, STUB, CHECK]),
    "a lesson pasted twice above the work": Notebook([STUB, CHECK, STUB, CHECK, RIGHT, CHECK]),
    "two wrong answers": Notebook([WRONG, CHECK, WRONG.replace(".exp()", "", 1), CHECK], points=False),
    "all in one cell": Notebook([f"{STUB}\n{CHECK}\n{RIGHT}\n{CHECK}\n{WRONG}"]),
    "all checks deleted": Notebook([RIGHT], deleted=[CHECK]),
    "an answer in parts": Notebook([RIGHT, "old = softmax\ndef softmax(scores):\n    return old(scores) * 1", CHECK]),
    "an answer that is decorated below": Notebook([RIGHT, "softmax = torch.no_grad()(softmax)", CHECK]),
    "a broken second attempt": Notebook([RIGHT, CHECK, "def softmax(scores)\n    return 1", CHECK]),
    # Names that are reused
    "the name as a variable below": Notebook([RIGHT, CHECK, "softmax = parts.softmax(torch.ones(2))"]),
    "the name as a variable, without checks": Notebook([RIGHT, "softmax = 3"], ran=[0], deleted=[CHECK]),
    "another helper of the same name below": Notebook([HELPER, HELPED, CHECK, WRONG_HELPER]),
    "another helper of the same name before the check": Notebook([HELPER, HELPED, WRONG_HELPER, CHECK], ran=[0, 1, 3]),
    "a helper that is fixed before the check": Notebook([WRONG_HELPER, HELPED, HELPER, CHECK]),
    "a helper that is fixed below the check": Notebook([WRONG_HELPER, HELPED, CHECK, HELPER], ran=[0, 1, 2, 3, 2]),
    "a wrong helper": Notebook([WRONG_HELPER, HELPED, CHECK], points=False),
    "a table that is filled in another cell": Notebook(
        ["TABLE = {}", "TABLE['axis'] = -1", "def softmax(scores):\n    return scores.softmax(TABLE['axis'])", CHECK]
    ),
    "a constant that changes below": Notebook(
        ["AXIS = -1", "def softmax(scores):\n    return scores.softmax(AXIS)", CHECK, "AXIS = 0"]
    ),
    # Forms of the check
    "another name": Notebook([RIGHT.replace("softmax", "my_softmax"), "check(my_softmax, 'softmax')"]),
    "another name by keyword": Notebook([RIGHT.replace("softmax", "mine"), "check(attempt=mine, name='softmax')"]),
    "a lambda": Notebook(["check(lambda scores: scores.softmax(-1), 'softmax')"]),
    "a check in a loop": Notebook([RIGHT, "for answer in [softmax]:\n    verdict = check(answer)"]),
    "a check under another name": Notebook(["from transformer_course import check as c", RIGHT, "c(softmax).passed"]),
    "a check that keeps nothing": Notebook(
        [STUB, CHECK, RIGHT.replace("softmax", "fixed"), "check(fixed, 'softmax', save=False)"], points=False
    ),
    # IPython's syntax
    "output of a command": Notebook([f"files = !echo a\n{RIGHT}", CHECK]),
    "a helper beside a command": Notebook([f"files = !echo a\n{HELPER}", HELPED, CHECK]),
    "a command in a magic": Notebook([f"files = %sx echo a\n{RIGHT}", CHECK]),
    "a continued command": Notebook([f"!echo \\\n  a\n%env \\\n  ANSWER=1\n{RIGHT}", CHECK]),
    "a timed assignment": Notebook(["%time ONE = 1.0", f"{RIGHT} * ONE", CHECK]),
    "the result of timeit": Notebook([f"t = %timeit -n1 -r1 -o sum([1])\n{RIGHT}", CHECK]),
    "a timed cell": Notebook([f"%%time\n{RIGHT}", f"%time {CHECK}"]),
    "a captured cell": Notebook([f"%%capture out\n{RIGHT}", f"%%capture\n{CHECK}"]),
    "a cell in timeit": Notebook([f"%%timeit -n1 -r1\n{RIGHT}", CHECK], points=False),
    "a cell of another language": Notebook([RIGHT, "%%bash\nsoftmax=1", CHECK]),
    "an expression that begins with a percent sign": Notebook(
        ["!echo a\nTWO = (5\n  % 3)", f"{RIGHT} * TWO / 2", CHECK]
    ),
    "a string that begins like a command": Notebook(
        ["!echo a\nLENGTH = len('''\n!ls\n%x\n''')", f"{RIGHT} * LENGTH / 8", CHECK]
    ),
    "an indented cell": Notebook(["\n".join(f"  {line}" for line in RIGHT.splitlines()), CHECK]),
    "prompts pasted along": Notebook([f">>> {RIGHT}".replace("\n", "\n... "), CHECK]),
}
RECORDER = """
import torch
from transformer_course.lesson.session import Session
check_before, recorded = Session.check, []
def check_recorded(self, attempt, name=None, save=True):
    verdict = check_before(self, attempt, name, save)
    if save and verdict.exercise == "softmax":
        recorded.append(verdict.passed)
    return verdict
Session.check = check_recorded
own_names = {*globals(), "own_names"}
"""
FORGET = "for name in {*globals()} - own_names - {'name'}: del globals()[name]\nrecorded.clear()"


class Kernel:
    """A Jupyter kernel that all notebooks share, because starting a kernel takes seconds."""

    def __init__(self, folder: Path) -> None:
        self._manager, self._client = start_new_kernel(cwd=str(folder))
        self._execute(RECORDER)

    def passes(self, cells: Sequence[str]) -> bool:
        """Return whether any check of ``softmax`` passes when these cells run in a new notebook."""
        self._execute(FORGET)
        for cell in cells:
            self._execute(cell)
        reply = self._client.execute_interactive(
            "", user_expressions={"passed": "any(recorded)"}, timeout=120, output_hook=lambda message: None
        )
        return reply["content"]["user_expressions"]["passed"]["data"]["text/plain"] == "True"

    def close(self) -> None:
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)

    def _execute(self, source: str) -> None:
        self._client.execute_interactive(source, timeout=120, output_hook=lambda message: None, stop_on_error=False)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    kernel = Kernel(tmp_path_factory.mktemp("kernel"))
    yield kernel
    kernel.close()


def points_of(notebook: Notebook, sandbox: Sandbox, folder: Path) -> int:
    """Return the points that the grader gives for the only exercise in a notebook without cell IDs."""
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
        for source in [IMPORTS, *notebook.cells]
    ]
    path = folder / "ada" / "01_lookup.ipynb"
    path.parent.mkdir()
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}))
    [submission] = find_submissions([path.parent])
    with mock.patch.object(assess_module, "exercises_of", lambda lesson: [SOFTMAX]):
        graded = assess(
            submission,
            Allowance(sandbox.limits),
            lambda submission, exercise, _, choice: assess_exercise(submission, exercise, sandbox, 7, choice),
        )
    return graded.exercises[0].points


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_points_match_checks_in_jupyter(
    name: str, sandbox: Sandbox, kernel: Kernel, tmp_path: Path, thoroughness: Thoroughness
):
    notebook = NOTEBOOKS[name]
    order = [notebook.cells[i] for i in notebook.ran] or notebook.cells
    passes = kernel.passes([IMPORTS, *order, *notebook.deleted])
    if notebook.ran and not passes:
        passes = kernel.passes([IMPORTS, *notebook.cells])
    assert passes == notebook.points
    assert points_of(notebook, sandbox, tmp_path) == (SOFTMAX.points if notebook.points else 0)

"""Tests that parts are saved when they pass, and that later lessons load saved parts and skip invalid files."""

import os
from types import SimpleNamespace

import pytest

from transformer_course.exercises import every_exercise
from transformer_course.lesson import notebook
from transformer_course.running.parts import Parts
from transformer_course.workspace import saved_parts
from transformer_course.workspace.working_copies import EDITIONS_FILE

IMPORTS = "import torch\nfrom torch import Tensor"
SOFTMAX = "def softmax(scores: Tensor) -> Tensor:\n    return torch.softmax(scores, dim=-1)"
SIMILARITY = "def similarity(query, keys):\n    return keys @ query"


class Notebook:
    """A minimal IPython shell that runs cells and checks the exercises that they define."""

    def __init__(self):
        self.user_ns = {"__name__": "__main__"}
        self.history_manager = SimpleNamespace(input_hist_parsed=[""])

    def run(self, *cells):
        for cell in cells:
            self.history_manager.input_hist_parsed.append(cell)
            exec(cell, self.user_ns)

    def check(self, name, exercise=None):
        return notebook.check(self.user_ns[name], exercise)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TRANSFORMER_LAB_PARTS", str(tmp_path / "parts"))
    return tmp_path / "parts"


@pytest.fixture
def shell(session):
    session.shell = Notebook()
    session.shell.run(IMPORTS)
    return session.shell


def load_in_later_lesson(shell=None):
    """Return the parts that a later lesson loads."""
    parts = Parts(lambda name: every_exercise()[name].reference)
    saved_parts.load_parts(parts, shell)
    return parts


def test_later_lesson_loads_only_parts_that_passed(folder, shell, capsys):
    shell.run(SOFTMAX, "def similarity(query, keys):\n    return query")
    assert shell.check("softmax").passed
    assert not shell.check("similarity").passed
    parts = load_in_later_lesson()
    assert (parts.whose("softmax"), parts.whose("similarity")) == ("yours", "the library's")
    scores = shell.user_ns["torch"].randn(3, 5)
    assert parts.softmax(scores).equal(scores.softmax(dim=-1))
    assert capsys.readouterr().out == ""


def test_saved_file_contains_only_plain_learner_code(folder, shell):
    shell.run(SOFTMAX, SIMILARITY)
    shell.check("softmax")
    shell.check("similarity")
    [path] = folder.iterdir()
    assert path.name == "01_lookup.py"
    text = path.read_text()
    assert text.startswith("# Your own parts of lesson 01_lookup")
    assert SOFTMAX in text and SIMILARITY in text
    exec(compile(text, path, "exec"), scope := {})
    assert {"softmax", "similarity"} <= scope.keys()


def test_later_answer_replaces_earlier_answer(folder, shell):
    shell.run(SOFTMAX, SIMILARITY)
    shell.check("softmax")
    shell.check("similarity")
    shell.run(SOFTMAX.replace("torch.softmax(scores", "torch.softmax(1 * scores"))
    assert shell.check("softmax").passed
    text = (folder / "01_lookup.py").read_text()
    assert text.count("def softmax") == text.count("def similarity") == 1
    assert "1 * scores" in text
    shell.run("def softmax(scores):\n    return scores")
    shell.check("softmax")
    assert (folder / "01_lookup.py").read_text() == text


def test_saves_attempt_with_another_name_for_its_exercise(folder, shell):
    shell.run(SOFTMAX.replace("softmax(scores:", "mine(scores:"))
    assert shell.check("mine", "softmax").passed
    assert load_in_later_lesson().softmax.__name__ == "mine"


def test_reports_unsavable_part_that_passes(folder, shell):
    torch = shell.user_ns["torch"]
    verdict = notebook.check(lambda scores: torch.softmax(scores, dim=-1), "softmax")
    assert verdict.passed
    assert verdict.message.endswith("your answer could not be saved for later lessons: it has no name in the notebook.")
    shell.user_ns["axis"] = lambda: -1
    shell.run("def softmax(scores):\n    return torch.softmax(scores, dim=axis())")
    verdict = shell.check("softmax")
    assert verdict.passed
    assert verdict.message.endswith("where it has `axis` from could not be found.")
    assert load_in_later_lesson().whose("softmax") == "the library's"


def test_reports_a_folder_that_is_not_writable(folder, shell):
    folder.write_text("a file instead of a folder")
    shell.run(SOFTMAX)
    verdict = shell.check("softmax")
    assert verdict.passed
    assert "your answer could not be saved for later lessons: FileExistsError" in verdict.message


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("def softmax(scores) return", "SyntaxError: expected ':' (01_lookup.py, line 4)"),
        ("import nowhere_to_be_found", "ModuleNotFoundError: No module named 'nowhere_to_be_found'"),
        ("softmux = max", "KeyError: 'softmax'"),
        ("exit()", "SystemExit"),
        ("softmax = '\udcff'", "UnicodeEncodeError"),
    ],
)
def test_skips_and_reports_section_that_does_not_run(folder, shell, capsys, broken, message):
    folder.mkdir()
    text = f"# mine\n\n# %% softmax\n{broken}\n\n\n# %% similarity\n{SIMILARITY}\n"
    path = folder / "01_lookup.py"
    path.write_bytes(text.encode(errors="surrogateescape"))
    parts = load_in_later_lesson()
    assert (parts.whose("softmax"), parts.whose("similarity")) == ("the library's", "yours")
    printed = capsys.readouterr().out
    assert printed.startswith(f"{path}: softmax is skipped because it does not run: ") and message in printed
    assert printed.count("\n") == 1
    shell.run(SOFTMAX)
    assert shell.check("softmax").passed
    assert path.read_text() == text.replace(broken, f"{IMPORTS[-24:]}\n{IMPORTS[:12]}\n\n\n{SOFTMAX}").replace(
        f"{SIMILARITY}\n", SIMILARITY + "\n"
    )


def test_skips_and_reports_an_unreadable_file(folder, capsys):
    (folder / "01_lookup.py").mkdir(parents=True)
    assert load_in_later_lesson().whose("softmax") == "the library's"
    assert "01_lookup.py is skipped: [Errno 21] Is a directory" in capsys.readouterr().out


def test_loads_no_parts_if_the_folder_is_missing(folder, shell):
    assert load_in_later_lesson().whose("softmax") == "the library's"


@pytest.fixture
def lessons(tmp_path, monkeypatch):
    """The folder for working copies, as a notebook opened without the course's command finds it."""
    monkeypatch.delenv("TRANSFORMER_LAB_PARTS", raising=False)
    monkeypatch.setenv("TRANSFORMER_LAB_LESSONS", str(tmp_path / "mine"))
    return tmp_path / "mine"


@pytest.fixture
def working_copies(lessons):
    """The folder ``lessons`` after ``course.py lab`` has created the working copies."""
    lessons.mkdir()
    (lessons / EDITIONS_FILE).write_text("{}")
    return lessons


def test_saves_nothing_if_saving_is_turned_off(working_copies, shell, monkeypatch):
    monkeypatch.setenv("TRANSFORMER_LAB_PARTS", "")
    shell.run(SOFTMAX)
    assert "kept" not in shell.check("softmax").message
    assert load_in_later_lesson(shell).whose("softmax") == "the library's"
    assert os.listdir(working_copies) == [EDITIONS_FILE]


def test_notebook_in_another_program_uses_working_copies(working_copies, shell, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    shell.run(SOFTMAX)
    assert "kept" not in shell.check("softmax").message
    assert os.listdir(working_copies / "parts") == ["01_lookup.py"]
    assert load_in_later_lesson(shell).whose("softmax") == "yours"
    assert load_in_later_lesson().whose("softmax") == "the library's"  # no parts are loaded outside a notebook


def test_reports_once_that_parts_are_not_saved(lessons, shell, monkeypatch, tmp_path):
    foreign = tmp_path / "foreign"
    (foreign / "parts").mkdir(parents=True)
    (foreign / EDITIONS_FILE).write_text("{}")
    (foreign / "parts" / "01_lookup.py").write_text("# %% softmax\nsoftmax = exit()\n")
    monkeypatch.chdir(foreign)  # files next to a notebook must never be executed
    assert load_in_later_lesson(shell).whose("softmax") == "the library's"
    shell.run(SOFTMAX, SIMILARITY)
    assert shell.check("softmax").message.endswith(
        "\nIt is not kept for later lessons: there is no folder for it yet. `python3 course.py lab` makes one. From "
        "then on lessons use it, whatever program opens them."
    )
    assert "kept" not in shell.check("similarity").message
    assert not lessons.exists()


@pytest.mark.parametrize("shared", [".", EDITIONS_FILE, "parts"])
def test_ignores_world_writable_working_copies(working_copies, shell, shared):
    (working_copies / "parts").mkdir()
    (working_copies / "parts" / "01_lookup.py").write_text("# %% softmax\nsoftmax = exit()\n")
    (working_copies / shared).chmod(0o777)
    assert load_in_later_lesson(shell).whose("softmax") == "the library's"
    shell.run(SOFTMAX)
    report = shell.check("softmax").message
    assert (
        f"not kept for later lessons: {working_copies / shared} belongs to somebody else, or others may write" in report
    )


def test_ignores_working_copies_owned_by_another_user(working_copies, shell, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: os.stat(working_copies).st_uid + 1)
    shell.run(SOFTMAX)
    assert f": {working_copies} belongs to somebody else" in shell.check("softmax").message
    assert os.listdir(working_copies) == [EDITIONS_FILE]


def test_saves_nothing_outside_a_notebook(folder):
    assert notebook.check(every_exercise()["softmax"].reference).passed
    assert not folder.exists()


ROUTE = """def route(logits, k):
    chosen, experts = logits.topk(k, dim=-1)
    return chosen.softmax(dim=-1), experts"""


def test_loads_part_whose_exercise_moved_to_another_lesson(folder, shell):
    earlier = folder / "11_modern_block.py"  # `route` used to be an exercise in lesson 11
    folder.mkdir()
    earlier.write_text(f"# %% route\n\n{ROUTE.replace('softmax', 'sigmoid')}\n", encoding="utf-8")
    assert load_in_later_lesson().whose("route") == "yours"
    shell.run(ROUTE)
    assert shell.check("route").passed
    assert (folder / "architectures.py").exists()
    logits = shell.user_ns["torch"].tensor([[2.0, 0.0, 2.0]])
    assert load_in_later_lesson().route(logits, 2)[0].tolist() == [[0.5, 0.5]]

"""Tests for building executed notebooks from their sources while preserving unchanged cells."""

import copy
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from notebooks.build import (
    COLAB,
    COLLECTIONS,
    FOLDER,
    differences,
    execute,
    keep_unchanged_cells,
    lessons,
    main,
    read_source,
)
from tests.notebooks.lesson import displayed

SOURCE = """# %% [markdown] id="title"
# # 01 · A lesson

# %% [markdown]
# ## Why ★ √d_k?

# %% tags=["prediction"]
prediction = ...

# %%
import os

from IPython.display import Image, display

display(Image(os.urandom(100), format="png"))
print("six times seven:", 6 * 7)

# %% id="softmax" tags=["exercise"]
def softmax(scores):
    raise NotImplementedError
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lessons folder that contains one source."""
    monkeypatch.delitem(COLLECTIONS, "page_to_keep")  # this page takes seconds to draw, and other tests cover it
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "01_word.py").write_text(SOURCE, encoding="utf-8")
    return tmp_path


def edit(folder: Path, old: str, new: str) -> None:
    path = folder / "source" / "01_word.py"
    assert old in path.read_text(encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


def ids(folder: Path) -> list[str]:
    return [cell.id for cell in read_source(folder / "source" / "01_word.py").cells]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built lesson. All tests share it, because starting a kernel takes a second."""
    folder = tmp_path_factory.mktemp("built")
    (folder / "source").mkdir()
    (folder / "source" / "01_word.py").write_text(SOURCE, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(COLLECTIONS, "page_to_keep")
        assert main([], folder) == 0
    return folder


@pytest.fixture
def before(folder: Path, outputs: Path) -> NotebookNode:
    """The built notebook of the lesson, copied to the test's folder."""
    for path in outputs.glob("*.ipynb"):
        shutil.copy(path, folder)
    return stored(folder)


def stored(folder: Path) -> NotebookNode:
    return nbformat.read(folder / "01_word.ipynb", as_version=4)


def built(folder: Path) -> NotebookNode:
    assert main([], folder) == 0
    return stored(folder)


def test_cell_ids_come_from_marker_or_section(folder: Path) -> None:
    assert ids(folder) == ["title", "why-d-k", "why-d-k-2", "why-d-k-3", "softmax"]


def test_adding_a_cell_renames_only_later_cells(folder: Path) -> None:
    edit(folder, "# # 01 · A lesson\n", "# # 01 · A lesson\n\n# %%\nx = 1\n")
    assert ids(folder) == ["title", "01-a-lesson-1", "why-d-k", "why-d-k-2", "why-d-k-3", "softmax"]


def test_ids_are_unique_despite_similar_sections(folder: Path) -> None:
    edit(folder, "# %% tags", "# %% [markdown]\n# ## Why d_k?\n\n# %% tags")
    edit(folder, 'id="softmax"', 'id="why-d-k-2"')
    assert len(set(ids(folder))) == 6
    assert ids(folder)[-1] == "why-d-k-2"


def test_cell_tagged_hide_input_is_collapsed(folder: Path) -> None:
    edit(folder, "# %%\nimport os", '# %% tags=["hide-input"]\nimport os')
    cell = read_source(folder / "source" / "01_word.py").cells[3]
    assert cell.metadata == {"tags": ["hide-input"], "jupyter": {"source_hidden": True}}


def test_rejects_a_duplicate_id(folder: Path) -> None:
    edit(folder, 'id="softmax"', 'id="title"')
    with pytest.raises(ValueError, match=r"01_word\.py: more than one cell has the id title"):
        ids(folder)


def test_built_lesson_contains_only_source_and_outputs(before: NotebookNode) -> None:
    book = before
    nbformat.validate(book)
    assert [cell.get("execution_count") for cell in book.cells] == [None, None, 1, 2, 3]
    assert [cell.metadata for cell in book.cells] == [{}, {}, {"tags": ["prediction"]}, {}, {"tags": ["exercise"]}]
    assert displayed(book.cells[3]).splitlines()[-1] == "six times seven: 42"
    assert book.metadata.language_info == {"name": "python"}


@pytest.mark.usefixtures("before")
def test_rebuild_changes_nothing_even_if_pictures_differ(folder: Path) -> None:
    bytes_before = (folder / "01_word.ipynb").read_bytes()
    built(folder)
    assert (folder / "01_word.ipynb").read_bytes() == bytes_before
    assert main(["--check"], folder) == 0


def test_preserves_picture_if_only_another_cell_changed(folder: Path, before: NotebookNode) -> None:
    edit(folder, "def softmax(scores)", "def softmax(s)")
    after = built(folder)
    assert after.cells[3] == before.cells[3]
    assert "def softmax(s)" in after.cells[4].source


def test_adds_missing_alternative_text_to_picture() -> None:
    def book(metadata: dict[str, str]) -> NotebookNode:
        drawn = nbformat.v4.new_output("display_data", {"image/png": "AA=="}, metadata={"image/png": metadata})
        return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("draw()", id="drawn", outputs=[drawn])])

    bare, described, changed = book({}), book({"alt": "A line."}), book({"alt": "A line, to 0.3."})
    assert list(differences(described, bare)) == ["alternative texts of drawn: + picture 1 has one"]
    assert keep_unchanged_cells(described, bare) == described
    assert keep_unchanged_cells(changed, described) == described, "pictures and their descriptions may change"


def test_cells_after_changed_code_show_new_outputs() -> None:
    def book(steps: int, loss: str) -> NotebookNode:
        train = nbformat.v4.new_code_cell(f"train({steps})", id="train", execution_count=1)
        displayed = nbformat.v4.new_output("stream", text=loss)
        tags = {"tags": ["nbval-ignore-output"]}
        score = nbformat.v4.new_code_cell("score()", id="score", outputs=[displayed], metadata=tags, execution_count=2)
        return nbformat.v4.new_notebook(cells=[train, score])

    stored = book(300, "loss 0.12")
    assert keep_unchanged_cells(book(300, "loss 0.13"), stored) == stored, "only the machine must differ"
    shorter = book(200, "loss 0.2")
    assert keep_unchanged_cells(copy.deepcopy(shorter), stored) == shorter


@pytest.mark.usefixtures("before")
def test_check_lists_differences_without_writing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bytes_before = (folder / "01_word.ipynb").read_bytes()
    edit(folder, "A lesson", "A new lesson")
    edit(folder, 'id="softmax"', 'id="soft"')
    edit(folder, '["prediction"]', '["forecast"]')
    edit(folder, "6 * 7", "6 * 8")
    assert main(["01_word", "--check"], folder) == 1
    message = capsys.readouterr().out
    assert "source of title: + # 01 · A new lesson" in message
    assert "cells: + soft" in message
    assert "tags of why-d-k-2: + forecast" in message
    assert "output of why-d-k-3: + stdout: six times seven: 48" in message
    assert (folder / "01_word.ipynb").read_bytes() == bytes_before


def test_error_in_cell_fails_build_and_shows_cell(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit(folder, "6 * 7", "6 / 0")
    assert main([], folder) == 1
    message = capsys.readouterr().err
    assert "01_word: not built." in message
    assert 'print("six times seven:", 6 / 0)' in message
    assert "ZeroDivisionError" in message
    assert not (folder / "01_word.ipynb").exists()


@pytest.mark.usefixtures("before")
def test_every_build_updates_the_collections(folder: Path) -> None:
    source, path = folder / "source" / "01_word.py", folder / "interview_questions.ipynb"
    section = (
        "\n# %% [markdown]\n# ## Interview questions\n# <details><summary>Why?</summary>\n# Because.\n# </details>\n"
    )
    source.write_text(source.read_text(encoding="utf-8") + section, encoding="utf-8")
    assert main(["interview_questions", "--check"], folder) == 1
    path.write_text("<<<<<<< HEAD", encoding="utf-8")  # as in a file with a merge conflict
    assert main(["01_word"], folder) == 0
    first, *_, last = nbformat.read(path, as_version=4).cells
    assert (first.id, last.id) == ("title", "01_word")
    assert main(["interview_questions", "--check"], folder) == 0
    words = "\n# %% [markdown]\n# ## New words\n# - **token**: a piece of text.\n"
    source.write_text(source.read_text(encoding="utf-8") + words, encoding="utf-8")
    assert main(["glossary", "--check"], folder) == 1
    assert main(["01_word"], folder) == 0
    assert [cell.id for cell in nbformat.read(folder / "glossary.ipynb", as_version=4).cells] == ["title", "letter-t"]


def test_lessons_without_a_number_come_first(folder: Path) -> None:
    (folder / "source" / "primer.py").write_text(SOURCE, encoding="utf-8")
    assert lessons(folder) == ["primer", "01_word"]


def test_rejects_an_unknown_lesson(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["02_other"], folder)
    assert "no source for 02_other; the lessons are 01_word" in capsys.readouterr().err


def test_lessons_use_current_python_and_ignore_kernelspecs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    misleading = tmp_path / "kernels" / "python3" / "kernel.json"
    misleading.parent.mkdir(parents=True)
    misleading.write_text(json.dumps({"argv": ["false"], "display_name": "Another", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setenv("TRANSFORMER_LAB_STRICT", "1")
    cell = nbformat.v4.new_code_cell(
        "import os, sys\nprint(sys.executable)\n"
        "for name in ('TRANSFORMER_LAB_STRICT', 'TRANSFORMER_LAB_CHECK_SHAPES', 'MPLBACKEND', 'MORE'):\n"
        "    print(os.environ[name])"
    )
    book = execute(nbformat.v4.new_notebook(cells=[cell]), tmp_path, {"MORE": "or less"})
    inline = "module://matplotlib_inline.backend_inline"
    assert displayed(book.cells[0]).splitlines() == [sys.executable, "0", "1", inline, "or less"]


@pytest.mark.slow
def test_script_runs_as_documented_in_its_help() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "notebooks/build.py", "interview_questions", "--check"]
    done = subprocess.run(command, cwd=FOLDER.parent, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "interview_questions: unchanged\n"), done.stderr


def test_text_option_updates_text_but_rejects_changed_code(
    folder: Path, before: NotebookNode, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("notebooks.build.execute", lambda *_: pytest.fail("the cell was executed"))
    edit(folder, "## Why ★ √d_k?", "## Why √d_k?\n#\n# Because.")
    assert main(["--text"], folder) == 0
    after = nbformat.read(folder / "01_word.ipynb", as_version=4)
    assert after.cells[1].source.endswith("Because.")
    assert [cell.get("outputs") for cell in after.cells] == [cell.get("outputs") for cell in before.cells]
    assert [cell.get("execution_count") for cell in after.cells] == [None, None, 1, 2, 3]
    edit(folder, "6 * 7", "6 * 8")
    assert main(["--text"], folder) == 1
    assert "01_word: not built.\nthe code has changed, so build the lesson without --text" in capsys.readouterr().err
    assert nbformat.read(folder / "01_word.ipynb", as_version=4) == after


def test_lesson_installs_dependencies_only_on_colab(folder: Path) -> None:
    edit(folder, "import os\n", "import os  # the first imports\n")
    edit(folder, "# %%\nimport os", '# %% id="imports"\nimport os')
    title, cell, *others = built(folder).cells
    assert (title.id, cell.id, cell.execution_count, cell.outputs) == ("title", COLAB, None, [])
    assert [other.execution_count for other in others if other.cell_type == "code"] == [1, 2, 3]
    assert cell.source.count("\n") == 0

    class Shell:
        def __init__(self, name: str) -> None:
            self.name, self.calls = name, list[tuple[str, str]]()

        def __str__(self) -> str:
            return f"<{self.name} object at 0x7f>"

        def run_line_magic(self, magic: str, line: str) -> None:
            self.calls.append((magic, line))

    for name, calls in (
        ("ipykernel.zmqshell.ZMQInteractiveShell", []),
        ("google.colab._shell.Shell", [("pip", "install -q transformer-course")]),
    ):
        shell = Shell(name)
        exec(cell.source, {"get_ipython": lambda shell=shell: shell})
        assert shell.calls == calls


def test_every_lesson_contains_the_colab_cell() -> None:
    for name in lessons():
        assert read_source(FOLDER / "source" / f"{name}.py").cells[1].id == COLAB, name

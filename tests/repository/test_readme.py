"""Test that the examples and numbers in the README and the guides are correct."""

import ast
import re
from pathlib import Path

import pytest

import course
from docs.take_picture import STORED, TASK, stored_picture
from tests.notebooks.lesson import Lesson
from tests.transformer_lab.pretrained.language_model_folders import publish
from tests.transformer_lab.pretrained.small_checkpoints import VARIANTS
from transformer_course.exercises import LESSONS, every_exercise, exercises_of
from transformer_course.home.reading_time import TOTAL_TIME_LABEL, promised_minutes
from transformer_course.lesson_order import PRACTICE_BANK
from transformer_lab.data.tokenizers import character_tokenizer
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig
from transformer_lab.tensor_files import PARAMETERS_FILE, write_tensors
from transformer_lab.text.translator import Translator

ROOT = Path(__file__).parents[2]
README, RUN, LIBRARY, TRAINING, GENERATING = (
    (ROOT / name).read_text(encoding="utf-8")
    for name in ("README.md", "docs/run.md", "docs/library.md", "docs/training.md", "docs/generating.md")
)


def python_of(page: str) -> str:
    [code] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    return code


def lines_of_code(path: Path) -> int:
    """Return the number of lines of code, excluding blank lines, comments and docstrings."""
    text = path.read_text(encoding="utf-8")
    documented = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            documented |= {*range(node.lineno, node.end_lineno + 1)}
    lines = enumerate(text.splitlines(), start=1)
    return sum(bool(line.strip()) and not line.strip().startswith("#") for n, line in lines if n not in documented)


def test_readme_names_both_setup_commands():
    [block] = re.findall(r"```\n(git clone .*?)```", README, re.DOTALL)
    clone, enter, lab = [line.partition("#")[0].strip() for line in block.splitlines()]
    assert re.fullmatch(r"git clone \S+ transformer-course", clone)
    assert (enter, lab) == ("cd transformer-course", "python3 course.py lab")
    assert "`python3 course.py test`" in README


def test_readme_contains_at_most_700_words():
    text = re.sub(r"<img[^>]*>|<!--.*?-->|\]\([^)]*\)", " ", README)
    assert len([word for word in text.split() if re.search(r"\w", word)]) <= 700


def test_first_screen_shows_picture_and_setup_commands():
    first_screen = README[: README.index("## How you learn")]
    assert len(re.findall(r"<img |!\[", first_screen)) == 1
    assert first_screen.index("<img ") < first_screen.index("<!-- links -->") < first_screen.index("git clone")


def test_readme_names_supported_platforms():
    newest = ".".join(map(str, course.NEWEST_PYTHON))
    for text in (README, RUN):
        words = " ".join(text.split())
        assert f"Python 3.11 to {newest}" in words
        assert "macOS 14 or newer" in words
        assert "Intel Macs" in words
        assert "ARM" in words


def test_readme_gives_size_and_reading_order():
    [(size, order)] = re.findall(r"the lessons build is ([\d,]+) lines of code; read (.*) \|$", README, re.MULTILINE)
    chapters = re.findall(r"`(\w+)`", order)
    assert chapters == ["attention", "layers", "models", "generation"]
    files = [path for chapter in chapters for path in (ROOT / "transformer_lab" / chapter).rglob("*.py")]
    assert int(size.replace(",", "")) == round(sum(map(lines_of_code, files)), -2)


def test_library_example_prints_documented_output(capsys):
    exec(python_of(LIBRARY), {})
    documented = re.findall(r"print\(.*\) +# (.+)$", python_of(LIBRARY), re.MULTILINE)
    assert documented
    assert capsys.readouterr().out.splitlines() == documented


def test_translation_example_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    tokenizer = character_tokenizer(["3 mars 2021年月日"])
    config = TransformerConfig(tokenizer.get_vocab_size(), d_model=8, n_heads=2, d_ff=16, n_layers=1, max_length=20)
    translator = Translator(Transformer(config).eval(), tokenizer)
    translator.save_description(tmp_path / "model-dates")
    write_tensors(tmp_path / "model-dates" / PARAMETERS_FILE, translator.model.state_dict(), {})
    exec(python_of(TRAINING), {})
    assert capsys.readouterr().out.splitlines() == list(translator.translate(["3 mars 2021", "2021年3月3日"]))


def test_generation_example_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stories").mkdir()
    publish(tmp_path / "stories", n_positions=64)
    exec(python_of(GENERATING), {})
    assert len(eval(capsys.readouterr().out)) == 2


def test_numbers_in_documents_match_the_course():
    exercises, n_practice = every_exercise().values(), len(exercises_of(PRACTICE_BANK))
    named = sum(len(exercise.mistakes) + len(exercise.messages) for exercise in exercises)
    words = " ".join(README.split())
    assert (
        f"You write code in {len(exercises) - n_practice} exercises in the lessons and in {n_practice} more to "
        f"practice. Their checks explain {named:,} mistakes in a teacher's words" in words
    )
    books = [Lesson.stored(name) for name in ("primer", *LESSONS)]
    minutes = sum(promised_minutes(book, TOTAL_TIME_LABEL) or 0 for book in books)
    assert f"**{len(books)} lessons, {round(minutes / 60)} hours, a laptop, no GPU.**" in README
    assert f"On {len(VARIANTS)} small GPT-2, Llama" in " ".join(GENERATING.split())


@pytest.mark.parametrize("name", ["primer", *LESSONS])
def test_lesson_table_gives_reading_times(name):
    [minutes] = re.findall(rf"\(notebooks/{name}\.ipynb\) \|.*\| (\d+) min \|$", README, re.MULTILINE)
    assert f"Reading: {minutes} minutes." in Lesson.stored(name).cells[0].source


@pytest.mark.parametrize("name", STORED)
def test_pictures_match_the_lessons(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    taken = (ROOT / "docs" / name).read_bytes()
    assert taken == stored_picture(*STORED[name]), f"run python -m docs.take_picture {name}"
    assert f"]({name})" in RUN + TRAINING


def test_lesson_contains_task_shown_in_picture():
    assert TASK in "".join(cell.source for cell in Lesson.stored("01_lookup").cells)

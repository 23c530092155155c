"""Test practice sessions that a learner starts from the home page after a few days."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.end_to_end.browser import BROWSER, LAB, needs_browser, open_browser, running_lab, wait_until_ready
from transformer_course.workspace.progress import FILE, read_progress

RIGHT = "def softmax(scores):\n    return torch.softmax(scores, dim=-1)"

pytestmark = [needs_browser, pytest.mark.slow]


def test_practice_offers_due_exercises_and_records_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lessons, settings = tmp_path / "lessons", tmp_path / "home"
    settings.mkdir()
    lessons.mkdir()
    monkeypatch.setenv("TRANSFORMER_LAB_LESSONS", str(lessons))
    passed = datetime.now(UTC) - timedelta(days=4)
    (lessons / FILE).write_text(json.dumps({"exercise": "softmax", "passed": passed.isoformat()}) + "\n")
    assert BROWSER is not None

    with running_lab(LAB, tmp_path, settings) as address, open_browser(BROWSER) as book:
        page = book.page
        page.goto(f"{address}/lab?reset", wait_until="commit")
        expect(page.locator(".tl-home")).to_contain_text("Today: 1 exercise from memory, 6 questions.")
        page.locator("#tl-practice").click()
        day = datetime.now().astimezone().date()
        wait_until_ready(page, f"practice/{day}.ipynb")
        book.run_all()
        check = book.cell_with("check(softmax)")
        expect(check.locator(".jp-OutputArea-output").first).to_contain_text("Not started yet.")
        book.rewrite(book.cell_with("def softmax"), RIGHT)
        book.run(check)
        expect(check.locator(".jp-OutputArea-output").first).to_contain_text("It comes back in")
        question = book.cell_with("ask(")
        question.get_by_role("button", name="Show the answer").click()
        question.get_by_role("button", name="hard").click()
        expect(question).to_contain_text("2 of 6")
        assert [review.rating for review in read_progress(lessons).reviews] == ["good", "hard"]
        assert book.python("parts.softmax is not softmax")
        page.evaluate("window.jupyterapp.commands.execute('transformer-course:home')")
        expect(page.locator(".tl-home")).to_contain_text("Today: 5 questions.")

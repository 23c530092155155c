"""Endpoints of the Jupyter server for the home page and the notebooks. No data leaves the machine."""

import json
import logging
import os
import random
from datetime import UTC, date, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader
from jupyter_server.base.handlers import APIHandler, JupyterHandler
from jupyter_server.utils import url_path_join
from tornado import web

from transformer_course.home import own_model, progress_export
from transformer_course.home.cell_names import defining_cell
from transformer_course.home.home_page import home_page
from transformer_course.home.learner_progress import Home, read_home
from transformer_course.home.lesson_outline import Outline, read_outlines
from transformer_course.home.saved_views import keep_pictures
from transformer_course.lesson_folder import published_lessons
from transformer_course.practice.material import read_material
from transformer_course.practice.practice_notebook import write_practice
from transformer_course.practice.selection import INTERVIEW_MINUTES, select_due, select_interview
from transformer_course.workspace.exercise_stubs import exercise_stub
from transformer_course.workspace.progress import FILE as PROGRESS_FILE
from transformer_course.workspace.progress import read_progress
from transformer_course.workspace.working_copies import reset_lesson, working_copy

URL_PREFIX = "transformer-course"
STATIC_URL = "lab/extensions/transformer-course-home/static"
HEAD = """
<link rel="stylesheet" href="{files}/page.css"><link rel="stylesheet" href="{files}/notebooks.css">
<link rel="modulepreload" href="{files}/page.js"><script type="module" src="{files}/early.js"></script>
"""


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(app: Any) -> None:
    base_url = app.web_app.settings["base_url"]
    handlers: dict[str, type[JupyterHandler]] = {
        "home": HomeHandler,
        "model": ModelHandler,
        "practice": PracticeHandler,
        "progress.csv": CsvHandler,
        "progress.json": JsonHandler,
        "stub": StubHandler,
        "defining-cell": DefiningCellHandler,
        "reset": ResetHandler,
    }
    app.web_app.add_handlers(
        ".*$", [(url_path_join(base_url, URL_PREFIX, name), handler) for name, handler in handlers.items()]
    )
    app.contents_manager.register_pre_save_hook(keep_pictures)
    request_early(
        app.web_app.settings["lab_jinja2_env"], HEAD.format(files=url_path_join(base_url, STATIC_URL)), app.log
    )
    outlines()  # fill the cache now, not while the browser waits for the page


def request_early(templates: Environment, head: str, log: logging.Logger) -> None:
    """Make JupyterLab's HTML page request the home page before JupyterLab's own files, which take seconds to load.

    Args:
        templates: The environment of JupyterLab's templates.
        head: The HTML to insert at the start of the page's head.
        log: The log for a warning if JupyterLab's page has no ``<head>``.
    """
    loader = templates.loader
    assert loader is not None

    def with_head(name: str) -> str:
        text, *_ = loader.get_source(templates, name)
        if name != "index.html":
            return text
        if "<head>" not in text:
            log.warning("JupyterLab's page has no <head>, so the home page appears only after JupyterLab has loaded.")
        return text.replace("<head>", f"<head>{head}", 1)

    templates.loader = FunctionLoader(with_head)


@cache
def outlines() -> list[Outline]:
    """Return the outlines of the published lessons, which are read only once."""
    return read_outlines(published_lessons())


def current_home() -> Home:
    """Read the learner's progress."""
    folder = working_copy()
    return read_home(outlines(), folder, Path(os.environ.get("TRANSFORMER_LAB_PARTS") or folder / "parts"))


def practice_today(folder: Path) -> str:
    """Describe the practice items due today. The result is cached until the record or the date changes."""
    record = folder / PROGRESS_FILE
    status = record.stat() if record.is_file() else None
    key = (status.st_mtime_ns, status.st_size) if status else (0, 0)
    return _practice_on(folder, *key, datetime.now().astimezone().date())


@lru_cache(maxsize=1)
def _practice_on(folder: Path, changed: int, size: int, day: date) -> str:
    """Describe the practice items that are due. ``changed`` and ``size`` are cache keys for the state of the record."""
    progress = read_progress(folder)
    if not progress.passed:
        return ""  # avoids reading all lessons
    return str(select_due(read_material(published_lessons()), progress, datetime.now(UTC)))


class StateHandler(JupyterHandler):
    """A handler that responds with the learner's progress, in the format that a subclass defines."""

    _track_activity = False  # the page sends requests even if the learner is inactive
    content_type = "text/html"

    def render_progress(self, home: Home) -> str:
        """Return the progress in this format."""
        raise NotImplementedError

    @web.authenticated
    def get(self) -> None:
        """Respond with the current progress, without a thread, because a busy server may delay threads for seconds."""
        home = current_home()
        self.set_header("Content-Type", f"{self.content_type}; charset=utf-8")
        self.set_header("Cache-Control", "no-cache")
        self.finish(self.render_progress(home))


class HomeHandler(StateHandler):
    """A handler that responds with the home page."""

    def render_progress(self, home: Home) -> str:
        """Return the page as HTML."""
        exports = f"{url_path_join(self.base_url, URL_PREFIX)}/"
        return home_page(home, self.base_url, exports, practice_today(home.folder))


class ModelHandler(StateHandler):
    """A handler that responds with the saved map of the learner's own model."""

    content_type = "application/json"

    def render_progress(self, home: Home) -> str:
        """Return the script, style sheet and traits of the map."""
        lesson = home.lesson_with_map
        if lesson is None:
            raise web.HTTPError(404, "no saved lesson contains a map of a model")
        return json.dumps(own_model.map_to_show(home.folder / f"{lesson.outline.name}.ipynb", lesson.map_cell))


class CsvHandler(StateHandler):
    """A handler that responds with the progress as CSV."""

    content_type = "text/csv"

    def render_progress(self, home: Home) -> str:
        """Return the table as CSV."""
        return progress_export.as_csv(home)


class JsonHandler(StateHandler):
    """A handler that responds with the progress as JSON."""

    content_type = "application/json"

    def render_progress(self, home: Home) -> str:
        """Return the rows as JSON."""
        return progress_export.as_json(home)


class QuestionHandler(APIHandler):
    """A handler that responds to a posted JSON object (the question) with another JSON object (the answer)."""

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the answer.

        Raises:
            KeyError: The question lacks a key.
            OSError: A file cannot be read or written.
            ValueError: The question is invalid.
        """
        raise NotImplementedError

    @web.authenticated
    def post(self) -> None:
        """Respond with the answer, or with an error that describes the problem with the question."""
        question = self.get_json_body()
        if not isinstance(question, dict) or not all(isinstance(key, str) for key in question):
            raise web.HTTPError(400, "the question must be a JSON object")
        try:
            answer = self.answer(question)
        except KeyError as error:
            raise web.HTTPError(400, f"the question lacks the key {error}") from None
        except ValueError as error:
            raise web.HTTPError(404, str(error)) from None
        except OSError as error:
            raise web.HTTPError(500, str(error)) from None
        self.finish(json.dumps(answer))


class PracticeHandler(QuestionHandler):
    """A handler that writes a practice notebook."""

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Write a notebook with today's practice or a mock interview; return its path in the learner's folder."""
        folder, now, is_interview = working_copy(), datetime.now(UTC), bool(question["interview"])
        material, progress = read_material(published_lessons()), read_progress(folder)
        if is_interview:
            selection = select_interview(material, progress, random.Random())
        else:
            selection = select_due(material, progress, now)
        if not selection:
            raise web.HTTPError(409, "nothing is due today")
        minutes = INTERVIEW_MINUTES if is_interview else None
        path = write_practice(selection, folder, now, minutes, is_interview)
        return {"path": path.relative_to(folder).as_posix()}


class StubHandler(QuestionHandler):
    """A handler that responds with the published stub of an exercise."""

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the stub of the exercise."""
        return {"source": exercise_stub(str(question["exercise"]))}


class DefiningCellHandler(QuestionHandler):
    """A handler that responds with the cell that defines a name."""

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the index of the cell, or null if no cell defines the name."""
        return {"place": defining_cell(str(question["name"]), [str(source) for source in question["sources"]])}


class ResetHandler(QuestionHandler):
    """A handler that resets a lesson."""

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Reset the lesson; return the file name of the old copy, or null if there was no copy."""
        kept_copy = reset_lesson(published_lessons(), working_copy(), str(question["lesson"]))
        return {"kept": kept_copy and kept_copy.name}

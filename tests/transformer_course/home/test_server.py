"""Tests that the server's endpoints return the current state and require the token."""

import asyncio
import json
import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jupyterlab
import nbformat
import pytest
from jinja2 import DictLoader, Environment, FileSystemLoader
from jupyter_server.serverapp import ServerApp
from tornado.httpclient import AsyncHTTPClient
from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port

from tests.transformer_course.home.sample_folders import HOURS, OUTLINES
from transformer_course import lesson_folder
from transformer_course.home import server
from transformer_course.home.lab import SERVER_EXTENSION
from transformer_course.home.saved_views import WIDGET
from transformer_course.workspace import working_copies

TOKEN = "secret"
ALLOWED = {"Authorization": f"token {TOKEN}"}
NAMES = ("home", "progress.csv", "progress.json")


@pytest.fixture
def app(tmp_path, monkeypatch):
    """A Jupyter server without JupyterLab and with separate settings."""
    for place in ("CONFIG_DIR", "RUNTIME_DIR", "DATA_DIR"):
        monkeypatch.setenv(f"JUPYTER_{place}", str(tmp_path / place))
    monkeypatch.setenv("JUPYTER_NO_CONFIG", "1")
    app = ServerApp()
    arguments = [
        "--IdentityProvider.token=secret",
        f"--ServerApp.jpserver_extensions={SERVER_EXTENSION}=True",
        "--allow-root",
    ]
    app.initialize([*arguments, f"--ServerApp.root_dir={tmp_path}"], find_extensions=False, new_httpserver=False)
    yield app
    app.web_app.settings["terminal_manager"] = None


def fetch(app, headers, requests):
    """Send requests, given as pairs of a URL and a body to post (or None), and return the responses."""

    async def send():
        socket, port = bind_unused_port()
        listener = HTTPServer(app.web_app)
        listener.add_socket(socket)
        client = AsyncHTTPClient(force_instance=True)
        try:
            return [
                await client.fetch(
                    f"http://127.0.0.1:{port}/transformer-course/{name}",
                    method="GET" if body is None else "POST",
                    body=body,
                    raise_error=False,
                    headers=headers,
                    follow_redirects=False,
                )
                for name, body in requests
            ]
        finally:
            client.close()
            listener.stop()

    return asyncio.run(send())


def get_all(app, headers):
    """Request every endpoint, and return the responses."""
    return fetch(app, headers, [(name, None) for name in NAMES])


def post(app, name, question):
    """Post a request with the token, and return the status code and the response."""
    [response] = fetch(app, ALLOWED, [(name, json.dumps(question))])
    return response.code, json.loads(response.body)


def test_responses_show_current_state_and_require_token(app, folder, monkeypatch):
    monkeypatch.setenv("TRANSFORMER_LAB_LESSONS", str(folder.path))
    monkeypatch.setattr(server, "outlines", lambda: OUTLINES)
    monkeypatch.setattr(server, "home_page", fake_page)
    for n_passed in (0, 1):
        home, table, rows = get_all(app, ALLOWED)
        assert home.body == b"/ /transformer-course/ " + str(n_passed).encode()
        assert table.body.count(b"True") == n_passed + 1  # one exercise is optional
        assert sum(row["passed"] for row in json.loads(rows.body)) == n_passed
        folder.record("one", at=HOURS)
    assert [answer.headers["Content-Type"].split(";")[0] for answer in (home, table, rows)] == [
        "text/html",
        "text/csv",
        "application/json",
    ]
    assert all(answer.code in (302, 403) for answer in get_all(app, {}))


def test_writes_practice_notebook_and_returns_its_path(app, folder, monkeypatch):
    monkeypatch.setenv("TRANSFORMER_LAB_LESSONS", str(folder.path))
    assert post(app, "practice", {"interview": False})[0] == 409
    for name, days_ago in (("softmax", 5), ("attention", 0)):
        when = (datetime.now(UTC) - timedelta(days=days_ago)).isoformat()
        with (folder.path / "progress.jsonl").open("a") as file:
            file.write(json.dumps({"exercise": name, "passed": when}) + "\n")
    for is_interview, exercises in ((False, {"softmax"}), (True, {"softmax", "attention"})):
        _, answer = post(app, "practice", {"interview": is_interview})
        path = folder.path / answer["path"]
        cells = nbformat.read(path, as_version=4).cells
        assert {c.id.removeprefix("practice-check-") for c in cells if c.id.startswith("practice-check-")} == exercises


def test_saves_notebook_with_pictures_of_its_views(app, tmp_path):
    picture, view = {"image/png": "iVBORw0=\n"}, {WIDGET: {"model_id": "1"}}
    output = nbformat.v4.new_output("display_data", {**picture, **view})
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("view", outputs=[output])])
    model = {"type": "notebook", "format": "json", "content": book}
    asyncio.run(app.contents_manager.save(model, "a.ipynb"))
    [cell] = nbformat.read(tmp_path / "a.ipynb", 4).cells
    assert cell.outputs[0].data == picture


def test_installed_jupyterlab_loads_the_home_page_first(caplog):
    templates = Environment(loader=FileSystemLoader(Path(jupyterlab.__file__).parent / "static"))
    server.request_early(templates, "<link>", logging.getLogger("lab"))
    assert "<head><link>" in templates.loader.get_source(templates, "index.html")[0]
    assert not caplog.records


def test_warns_if_jupyterlab_page_has_no_head(caplog):
    templates = Environment(loader=DictLoader({"index.html": "<HEAD></HEAD>", "other.html": "<p></p>"}))
    server.request_early(templates, "<link>", logging.getLogger("lab"))
    assert templates.get_template("other.html").render() == "<p></p>" and not caplog.records
    assert templates.get_template("index.html").render() == "<HEAD></HEAD>"
    [record] = caplog.records
    assert record.levelname == "WARNING" and "no <head>" in record.message


def fake_page(home, base_url, exports, practice):
    return f"{base_url} {exports} {sum(len(lesson.passed) for lesson in home.lessons)}"


def test_outlines_come_from_published_lessons():
    assert server.published_lessons is lesson_folder.published_lessons
    assert [outline.name for outline in server.outlines()][:2] == ["primer", "00_bottleneck"]


def test_returns_index_of_the_defining_cell(app):
    assert post(app, "defining-cell", {"name": "x", "sources": ["x = 1", "x"]}) == (200, {"place": 0})
    assert post(app, "defining-cell", {"name": "y", "sources": ["x = 1", "x"]}) == (200, {"place": None})


def test_returns_the_stub_of_an_exercise(app):
    code, answer = post(app, "stub", {"exercise": "softmax"})
    assert code == 200 and answer["source"].startswith("def softmax(scores") and "NotImplemented" in answer["source"]


def test_reset_returns_name_of_preserved_copy(app, tmp_path, monkeypatch):
    monkeypatch.setenv("TRANSFORMER_LAB_LESSONS", str(tmp_path / "mine"))
    working_copies.copy_lessons(lesson_folder.published_lessons(), tmp_path / "mine", ["03_heads"])
    (tmp_path / "mine" / "03_heads.ipynb").write_text("mine")
    code, answer = post(app, "reset", {"lesson": "03_heads"})
    assert code == 200 and (tmp_path / "mine" / answer["kept"]).read_text() == "mine"
    assert nbformat.read(tmp_path / "mine" / "03_heads.ipynb", 4).cells


@pytest.mark.parametrize(
    ("name", "question", "code", "message"),
    [
        ("stub", {"exercise": "softmin"}, 404, "there is no exercise 'softmin'"),
        ("stub", {}, 400, "the question lacks the key 'exercise'"),
        ("stub", ["softmax"], 400, "the question must be a JSON object"),
        ("reset", {"lesson": "../03_heads"}, 404, "there is no lesson '../03_heads'"),
    ],
)
def test_rejects_invalid_requests(app, name, question, code, message):
    found, answer = post(app, name, question)
    assert found == code and message in answer["message"]


def test_rejects_requests_without_the_token(app):
    [response] = fetch(app, {}, [("reset", '{"lesson": "03_heads"}')])
    assert response.code in (302, 403)

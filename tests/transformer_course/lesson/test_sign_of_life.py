"""A check that takes long says so while it runs; any other says nothing, and no notebook stores it."""

import time

import pytest
from IPython.display import DisplayHandle

from transformer_course.lesson import sign_of_life as module
from transformer_course.lesson.sign_of_life import sign_of_life


@pytest.fixture
def message(monkeypatch):
    message = []
    monkeypatch.setattr(
        DisplayHandle, "display", lambda handle, displayed, raw: message.append(displayed["text/plain"])
    )
    monkeypatch.setattr(DisplayHandle, "update", lambda handle, displayed, raw: message.append(displayed["text/plain"]))
    monkeypatch.setattr(module, "SILENT_S", 0.2)
    return message


def test_what_takes_long_is_told_while_it_runs_and_afterwards(message, monkeypatch):
    monkeypatch.setenv("TRANSFORMER_LAB_LIVE", "1")
    with pytest.raises(ZeroDivisionError), sign_of_life(7):
        deadline = time.monotonic() + 20
        while not message and time.monotonic() < deadline:
            pass  # as an endless loop would
        assert message == ["Your code is running. It is stopped once it has computed for 7 seconds."]
        raise ZeroDivisionError
    assert len(message) == 2 and message[1].startswith("The check took ")


def test_nothing_is_said_of_what_ends_soon_or_where_nobody_looks_on(message, monkeypatch):
    monkeypatch.setenv("TRANSFORMER_LAB_LIVE", "1")
    with sign_of_life(7):
        pass
    monkeypatch.delenv("TRANSFORMER_LAB_LIVE")
    with sign_of_life(7):
        time.sleep(0.5)
    assert message == []

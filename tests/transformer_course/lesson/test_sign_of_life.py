"""Tests for the message that a slow check is still running."""

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


def test_reports_slow_check_during_and_after_its_run(message, monkeypatch):
    monkeypatch.setenv("TRANSFORMER_LAB_LIVE", "1")
    with pytest.raises(ZeroDivisionError), sign_of_life(7):
        deadline = time.monotonic() + 20
        while not message and time.monotonic() < deadline:
            pass  # an infinite loop
        assert message == ["Your code is running. It is stopped once it has computed for 7 seconds."]
        raise ZeroDivisionError
    assert len(message) == 2 and message[1].startswith("The check took ")


def test_shows_nothing_for_fast_or_unattended_checks(message, monkeypatch):
    monkeypatch.setenv("TRANSFORMER_LAB_LIVE", "1")
    with sign_of_life(7):
        pass
    monkeypatch.delenv("TRANSFORMER_LAB_LIVE")
    with sign_of_life(7):
        time.sleep(0.5)
    assert message == []

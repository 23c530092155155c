"""Tests that the first Ctrl-C sets a flag, the second Ctrl-C raises, and signal handlers are restored."""

import signal
import threading

import pytest

from transformer_lab.training.interrupt import Interruption


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_first_signal_sets_requested_and_second_raises(number):
    with pytest.raises(KeyboardInterrupt), Interruption() as interruption:
        assert not interruption.requested
        signal.raise_signal(number)
        assert interruption.requested
        signal.raise_signal(number)


@pytest.fixture
def default_sigint_handler():
    """Make Ctrl-C raise KeyboardInterrupt even if a shell started Python in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_restores_signal_handlers(default_sigint_handler):
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(ZeroDivisionError), Interruption():
        assert signal.getsignal(signal.SIGINT) != before[0]
        raise ZeroDivisionError
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)  # os.kill could deliver the signal later and to a different thread


def test_interruption_does_not_affect_other_threads():
    failed = []

    def enter():
        try:
            with Interruption() as interruption:
                assert not interruption.requested
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert failed == []

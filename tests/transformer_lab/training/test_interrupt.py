"""Ctrl-C: noted once, obeyed twice, and as before afterwards."""

import signal
import threading

import pytest

from transformer_lab.training.interrupt import Interruption


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_is_noted_and_the_second_obeyed(number):
    with pytest.raises(KeyboardInterrupt), Interruption() as interruption:
        assert not interruption.requested
        signal.raise_signal(number)
        assert interruption.requested
        signal.raise_signal(number)


@pytest.fixture
def python_minds_ctrl_c():
    """Have Ctrl-C raise KeyboardInterrupt, as it does unless Python was started in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_afterwards_everything_is_as_before(python_minds_ctrl_c):
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(ZeroDivisionError), Interruption():
        assert signal.getsignal(signal.SIGINT) != before[0]
        raise ZeroDivisionError
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)  # a signal to the process may reach another thread first, and late


def test_in_another_thread_it_does_nothing():
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

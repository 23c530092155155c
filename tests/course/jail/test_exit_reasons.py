import pytest

from transformer_lab.course.jail.exit_reasons import ending, in_words
from transformer_lab.course.jail.limits import Limits


@pytest.mark.parametrize(("code", "name"), [(0, "exit 0"), (3, "exit 3"), (-9, "SIGKILL"), (-62, "signal 62")])
def test_every_exit_code_has_a_name(code: int, name: str):
    assert ending(code) == name


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("time", "no answer within 3 s"),
        ("SIGXCPU", "no answer within 3 s"),
        ("size", "more than 7 MB"),
        ("keeper", "the process that looked after it"),
        ("exit 0", "cannot be read"),
        ("exit 3", "with exit 3"),
        ("SIGSEGV", "a recursion went too deep"),
        ("SIGXFSZ", "a file of more than 5 MB"),
        ("signal 62", "ended by signal 62"),
    ],
)
def test_every_ending_is_told_with_the_limit_it_met(how: str, says: str):
    assert says in in_words(how, Limits(seconds=3.0, answer_mb=7, file_mb=5))

import pytest

from transformer_course.sandbox.exit_reasons import exit_reason, explain_exit
from transformer_course.sandbox.resource_limits import Limits


@pytest.mark.parametrize(("code", "name"), [(0, "exit 0"), (3, "exit 3"), (-9, "SIGKILL"), (-62, "signal 62")])
def test_every_exit_code_has_a_name(code: int, name: str):
    assert exit_reason(code) == name


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        ("time", "no answer within 3 s"),
        ("SIGXCPU", "no answer within 3 s"),
        ("busy", "no answer within 60 s, but other programs used the CPUs most of that time"),
        ("size", "more than 7 MB"),
        ("supervisor", "the process that supervises it"),
        ("exit 0", "ended the process with exit 0"),
        ("unreadable", "cannot be read"),
        ("exit 3", "with exit 3"),
        ("SIGSEGV", "a recursion was too deep"),
        ("SIGXFSZ", "a file of more than 5 MB"),
        ("signal 62", "ended by signal 62"),
    ],
)
def test_explains_every_exit_reason_with_its_limit(reason: str, message: str):
    assert message in explain_exit(reason, Limits(seconds=3.0, answer_mb=7, file_mb=5))

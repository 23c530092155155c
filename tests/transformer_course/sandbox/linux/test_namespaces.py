"""Namespaces of its own for a process; that they hold against attacks is shown in test_hostile_submissions.py."""

import os
import sys

import pytest

from tests.transformer_course.sandbox.sample_submissions import linux, run_python
from transformer_course.sandbox.linux import namespaces

LOOK = """
import os, sys
from transformer_course.sandbox.linux import namespaces

if os.geteuid() == 0:  # ordinary users are whom it is for
    os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)

def look():
    if os.fork() == 0:
        import time
        time.sleep(600)
    print(os.getpid(), os.getuid(), namespaces.is_inside, len(open("/proc/net/dev").readlines()), flush=True)

print(os.getuid(), namespaces.are_possible(), flush=True)
namespaces.run_inside(look)
print("ended")
"""


@linux
def test_first_process_sees_only_itself_and_ends_everything():
    run = run_python(LOOK)
    if "OSError" in run.stderr or "PermissionError" in run.stderr:
        pytest.skip("this system gives ordinary users no namespaces")
    outside, inside, ended = run.stdout.splitlines()
    user, possible = outside.split()
    assert possible == "True"
    assert inside.split()[:3] == ["1", user, "True"]
    assert ended == "ended"


def test_not_used_as_root_or_on_other_systems(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)
    assert not namespaces.are_possible()
    monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not namespaces.are_possible()

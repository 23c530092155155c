"""Tests for namespaces. ``test_hostile_submissions`` tests them against attacks."""

import os
import sys

import pytest

from tests.transformer_course.sandbox.sample_submissions import linux, run_python
from transformer_course.sandbox.linux import namespaces

INSPECT = """
import os, sys
from transformer_course.sandbox.linux import namespaces

if os.geteuid() == 0:  # become an unprivileged user os.setgroups([]); os.setresgid(65534, 65534, 65534);
    os.setresuid(65534, 65534, 65534)

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
def test_first_process_is_isolated_and_stops_all_children():
    run = run_python(INSPECT)
    if "OSError" in run.stderr or "PermissionError" in run.stderr:
        pytest.skip("this system does not permit namespaces for unprivileged users")
    outside, inside, ended = run.stdout.splitlines()
    user, possible = outside.split()
    assert possible == "True"
    assert inside.split()[:3] == ["1", user, "True"]
    assert ended == "ended"


def test_skips_namespaces_as_root_or_outside_linux(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)
    assert not namespaces.are_possible()
    monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not namespaces.are_possible()

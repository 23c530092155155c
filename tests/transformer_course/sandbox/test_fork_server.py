import json
import os
import re
import signal
import threading
import time
from pathlib import Path

import pytest
import torch

from tests.transformer_course.sandbox.sample_submissions import (
    children,
    grade_answer,
    linux,
    softmax_after,
    still_works,
)
from transformer_course.running.plain_data import pack
from transformer_course.sandbox import confine, fork_server
from transformer_course.sandbox.linux import landlock
from transformer_course.sandbox.sandbox import Outcome, Sandbox

pytestmark = linux

FIND = """
import ctypes, os

def softmax(s):
    libc = ctypes.CDLL(None)
    libc.write.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]
    libc.sbrk.restype = libc.malloc.restype = ctypes.c_void_p
    reading, writing = os.pipe()
    secret = bytes(reversed(b"{reversed}"))
    pages = [address >> 12 for address in (libc.sbrk(0), libc.malloc(100_000), id(s), id(object()))]
    for page in sorted({{page + i for page in pages for i in range(-4_000, 4_000)}}):
        if libc.write(writing, page << 12, 4096) == 4096 and os.read(reading, 4096).count(secret) > 2:
            raise MemoryError("found the secret")
    return s.softmax(-1)
"""


def test_earlier_submissions_are_not_in_memory(sandbox: Sandbox):
    """The answer searches its memory, which would contain earlier submissions if the fork server had read them."""
    secret = "this is how ada did it"
    source = "".join(f"    # {secret}\n" for _ in range(300))
    find = FIND.format(reversed=secret[::-1])
    for _ in range(3):
        assert grade_answer(sandbox, f"def softmax(s):\n{source}    return s.softmax(-1)").verdict.passed
    own = grade_answer(sandbox, f"{find}\n{source.replace('    #', '#')}").verdict
    assert "found the secret" in own.message  # the search must find the secret in the answer's own source
    verdict = grade_answer(sandbox, find).verdict
    assert verdict.passed, verdict.message


def test_next_job_cannot_read_earlier_parts(sandbox: Sandbox):
    """The parts for the first job contain the answer to the next exercise, and both jobs have the same supervisor."""
    secret = "this is how the library does it"
    source = f"{FIND.format(reversed=secret[::-1])}\ndef g(s): return os.listdir('../../library')"
    parts = {"other": {"source": f"# {secret}\n" * 1200}}

    def record(name: str, library: dict[str, dict[str, str]]) -> str:
        case = {"inputs": {"s": torch.ones(2)}, "label": ""}
        cells = [{"id": "", "source": source}]
        job = {"name": name, "cells": cells, "cases": [case], "seconds": 20.0, "library": json.dumps(library)}
        return str((sandbox.run(job).answer or {})["records"])

    assert re.search("PermissionError|FileNotFoundError", record("g", parts))
    assert "found the secret" not in record("softmax", {})
    assert "found the secret" in record("softmax", parts)  # the search must find the secret in the job's own parts


def test_fork_server_reports_guards(sandbox: Sandbox):
    assert sandbox.guards.keys() == {*confine.NO_GUARDS, "container"}
    assert sandbox.guards["landlock"] == landlock.version()


def test_fork_server_survives_killed_supervisor(sandbox: Sandbox):
    assert sandbox.process is not None
    process = sandbox.process.pid
    outcomes: list[Outcome] = []
    job = {
        "name": "f",
        "cells": [{"id": "", "source": "import os, time\nfor _ in range(3): os.fork()\ntime.sleep(600)\nf = 1"}],
        "cases": [],
        "seconds": 60.0,
        "library": "{}",
    }
    thread = threading.Thread(target=lambda: outcomes.append(sandbox.run(job)))
    thread.start()
    while not (supervisors := children(process)) or not children(supervisors[0]):
        time.sleep(0.01)
    os.kill(supervisors[0], signal.SIGKILL)
    thread.join()
    assert outcomes[0].reason == "supervisor" and children(process) == []
    assert still_works(sandbox) and sandbox.process.pid == process


def job_of(notebook: str) -> dict[str, object]:
    case = {"inputs": {"x": torch.ones(2)}, "label": ""}
    cells = [{"id": "", "source": f"def f(x): return x  # {notebook}"}]
    return {"name": "f", "cells": cells, "cases": [case], "seconds": 20.0, "library": "{}"}


def supervisor_of(sandbox: Sandbox, notebook: str) -> int:
    """Run a job for a notebook, and return the process ID of the job's supervisor."""
    assert sandbox.process is not None
    assert "records" in (sandbox.run(job_of(notebook)).answer or {})
    deadline = time.monotonic() + 10  # the supervisor of the previous notebook may still be exiting
    while len(supervisors := children(sandbox.process.pid)) != 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    return supervisors[0]


def test_jobs_from_one_notebook_share_a_supervisor(sandbox: Sandbox):
    ada, again, emmy = (supervisor_of(sandbox, notebook) for notebook in ("ada", "ada", "emmy"))
    assert ada == again != emmy


def test_supervisor_with_models_forks_no_more_jobs(sandbox: Sandbox):
    """A forked job could read the models in memory instead of calling them."""
    before = supervisor_of(sandbox, "ada")
    assert "records" in (sandbox.run(job_of("ada"), models=pack([])).answer or {})
    assert supervisor_of(sandbox, "ada") != before


def test_retries_answer_if_supervisor_is_killed(sandbox: Sandbox):
    os.kill(supervisor_of(sandbox, "ada"), signal.SIGKILL)
    reasons = [sandbox.run(job_of("ada")).reason for _ in range(3)]
    assert reasons == ["supervisor", "exit 0", "exit 0"]
    assert still_works(sandbox)


def test_python_can_import_only_copied_course(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    for name in ("checkout/transformer_lab", "packages/transformer_lab", "packages/torch", "other"):
        (tmp_path / name).mkdir(parents=True)
    own = str(Path(fork_server.__file__).parents[2])
    folders = [str(tmp_path / name) for name in ("checkout", "packages", "other")]
    monkeypatch.setattr("sys.path", [own, *folders])
    fork_server.hide_other_copies()
    assert fork_server.sys.path == [own, *folders[1:]]


def test_exits_if_processes_cannot_be_confined(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    def fail(*_: object) -> None:
        raise OSError("cannot confine")

    monkeypatch.setattr(fork_server.confine, "confine", fail)
    with pytest.raises(SystemExit, match="1"):
        fork_server._probe_guards(str(tmp_path))
    assert "OSError: cannot confine" in capfd.readouterr().err


def test_every_job_starts_with_the_same_random_state(sandbox: Sandbox):
    drawn = "random.random(), numpy.random.rand(), list({'a', 'b', 'c', 'd'})"
    body = f"import random, numpy\nraise ValueError(str(({drawn})))"
    first, second = (grade_answer(sandbox, softmax_after(body)).verdict.message for _ in range(2))
    assert "ValueError" in first and first == second

"""Tests that each request to a traced job gets a reply, and that the sandbox stays usable afterwards."""

import os
import time
from dataclasses import replace

import pytest
import torch

from tests.transformer_course.sandbox.sample_submissions import busy_processes, left_running, linux, still_works
from transformer_course.running.case import Case
from transformer_course.running.plain_data import pack, same
from transformer_course.running.trace_data import pack_request, unpack_expressions, unpack_traces
from transformer_course.sandbox.interpreter import SandboxError
from transformer_course.sandbox.resource_limits import Limits
from transformer_course.sandbox.sandbox import Sandbox

X = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
LIMITS = Limits(seconds=20.0, memory_mb=256, answer_mb=1)
CPU_SECONDS = 5.0


def job(*lines, before=""):
    body = "".join(f"    {line}\n" for line in lines)
    source = f"import os, sys, time, signal\n{before}\ndef f(x):\n{body}"
    cells = [{"id": "f", "source": source}]
    return {"name": "f", "cells": cells, "cases": [Case({"x": X}, "").as_dict()], "seconds": 9.0, "library": "{}"}


def talk_with(sandbox, job, limits=LIMITS, cpu_seconds=CPU_SECONDS):
    return sandbox.conversation(job, limits, cpu_seconds)


def test_each_request_gets_its_reply(sandbox: Sandbox):
    with talk_with(sandbox, job("return x * 3")) as talk:
        known = unpack_expressions(talk.receive())
        number = next(expression.number for expression in known if expression.text == "3")
        for factor in (3, 4, 5):
            [trace] = unpack_traces(talk.ask(pack_request(0, {number: factor})), len(known), 1)
            assert same(trace.output, X * factor)
    assert talk.is_over
    assert still_works(sandbox)


@linux
def test_time_between_requests_does_not_count(sandbox: Sandbox):
    """On a busy machine, the time between the grader's requests may exceed the answer's time limit."""
    with talk_with(sandbox, job("return x * 3"), limits=replace(LIMITS, seconds=1.0)) as talk:
        known = unpack_expressions(talk.receive())
        time.sleep(1.5)
        [trace] = unpack_traces(talk.ask(pack_request(0, {})), len(known), 1)
        assert same(trace.output, X * 3)


def test_conversation_may_end_before_the_first_reply(sandbox: Sandbox):
    with talk_with(sandbox, job("return x")):
        pass
    assert still_works(sandbox)


@pytest.mark.thorough
def test_conversation_works_without_forking():
    with Sandbox(LIMITS, forks=False) as sandbox:
        with talk_with(sandbox, job("return x * 3")) as talk:
            known = unpack_expressions(talk.receive())
            for _ in range(2):
                [trace] = unpack_traces(talk.ask(pack_request(0, {})), len(known), 1)
                assert same(trace.output, X * 3)
        assert still_works(sandbox)


def test_closed_sandbox_rejects_conversations():
    with pytest.raises(SandboxError, match="with"), talk_with(Sandbox(LIMITS), job("return x")):
        pass


@linux
@pytest.mark.parametrize(
    "line",
    [
        "os._exit(0)",
        "os.kill(os.getpid(), signal.SIGKILL)",
        "os.write(3, bytes(8)); os._exit(0)",
        "os.write(3, (1 << 62).to_bytes(8, 'big'))",
        "os.write(3, (9999).to_bytes(8, 'big')); os._exit(0)",
        "os.closerange(0, 99)",
        "\n        ".join(["while True:", "os.write(3, bytes(1 << 16))"]),
    ],
    ids=["exit", "kill", "empty frame", "huge frame", "broken frame", "closed pipes", "flood"],
)
def test_broken_process_ends_only_its_conversation(sandbox: Sandbox, line: str):
    with talk_with(sandbox, job(line, "return x")) as talk:
        assert talk.receive() is not None
        talk.ask(pack_request(0, {}))  # a forged reply may arrive here
        assert talk.ask(pack_request(0, {})) is None or line.startswith("os.closerange")
        talk.ask(pack_request(0, {}))
    assert still_works(sandbox)


@linux
@pytest.mark.parametrize("line", ["while True: pass", "while True: os.getpid()"])
def test_stops_process_over_cpu_limit(sandbox: Sandbox, line: str):
    started = time.monotonic()
    with talk_with(sandbox, job(line), cpu_seconds=0.1) as talk:
        assert talk.receive() is not None
        assert talk.ask(pack_request(0, {})) is None
        assert talk.is_over
    assert time.monotonic() - started < LIMITS.seconds
    assert still_works(sandbox)


@linux
def test_reports_time_used_by_other_programs(sandbox: Sandbox):
    """The process shares a processor with three other processes, so it waits longer than it computes."""
    if not os.path.exists("/proc/self/schedstat"):
        pytest.skip("this kernel does not report waiting times")
    computes = "while time.process_time() < begun + 0.2: pass"
    all_processors = os.sched_getaffinity(sandbox.process.pid)
    with busy_processes(3) as processor:
        os.sched_setaffinity(sandbox.process.pid, {processor})
        with talk_with(sandbox, job("begun = time.process_time()", computes, "return x")) as talk:
            assert talk.receive() is not None and talk.ask(pack_request(0, {}))
        os.sched_setaffinity(sandbox.process.pid, all_processors)
    assert talk.waited > 0.2


@linux
def test_stops_process_that_waits_too_long(sandbox: Sandbox):
    with talk_with(sandbox, job("time.sleep(600)"), Limits(seconds=0.2, answer_mb=1)) as talk:
        assert talk.receive() is not None
        assert talk.ask(pack_request(0, {})) is None
    assert still_works(sandbox)


@linux
def test_process_that_does_not_read_never_blocks_grader(sandbox: Sandbox):
    with talk_with(sandbox, job("time.sleep(600)", "return x"), Limits(seconds=0.2, answer_mb=1)) as talk:
        assert talk.receive() is not None
        assert talk.ask(pack({"x": torch.ones(1 << 18)})) is None
    assert still_works(sandbox)


@linux
def test_leaves_no_process_running(sandbox: Sandbox):
    with talk_with(sandbox, job("if os.fork() == 0: time.sleep(600)", "return x")) as talk:
        known = unpack_expressions(talk.receive())
        assert unpack_traces(talk.ask(pack_request(0, {})), len(known), 1)
    deadline = time.monotonic() + 10
    while left_running(sandbox.process.pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert left_running(sandbox.process.pid) == []
    assert still_works(sandbox)


def test_error_in_with_block_keeps_sandbox_usable(sandbox: Sandbox):
    with pytest.raises(ZeroDivisionError), talk_with(sandbox, job("return x")) as talk:
        talk.receive()
        raise ZeroDivisionError
    assert still_works(sandbox)

"""The tracing job in the sandbox: define the learner's answer and trace one call to it for each request."""

import json
import os
from collections.abc import Callable

from transformer_course.running.answer_job import CannotBeDefined, Job, NoAnswer, defined_answer
from transformer_course.running.code_edits import MAX_EDITS
from transformer_course.running.instrumentation import CannotTrace
from transformer_course.running.isolation import end_other_processes, suppressed_output
from transformer_course.running.plain_data import pack
from transformer_course.running.record import record_all
from transformer_course.running.trace import MAX_RUNS, Traced
from transformer_course.running.trace_data import (
    ALL_EDITS,
    ALL_RECORDS,
    pack_edits,
    pack_expressions,
    pack_traces,
    unpack_request,
)

MAX_REQUESTS = MAX_RUNS + 4 * MAX_EDITS
"""Maximum number of requests. Most edits are tried on one case, and a few on all cases."""


def serve_traces(job: Job, receive: Callable[[], bytes], send: Callable[[bytes], object]) -> None:
    """Send the expressions of an answer, and then traces or the records of all cases, until the requests end.

    Args:
        job: The answer and its cases.
        receive: A function that returns the next request, or empty bytes when there are no more.
        send: A function that sends a reply in the format of ``trace_data``.
    """
    own = os.getpid()
    try:
        with defined_answer(job) as (attempt, cases), suppressed_output():
            traced = Traced(attempt, json.loads(job["library"]))
            send(pack_expressions(traced.expressions))
            for _ in range(MAX_REQUESTS):
                if not (data := receive()):
                    return
                if data == ALL_RECORDS:
                    send(pack({"records": record_all(attempt, cases, job["seconds"], job.get("clock"))}))
                    continue
                if data == ALL_EDITS:
                    send(pack_edits(traced.edits))
                    continue
                request = unpack_request(data)
                case = cases[request["case"]]
                if request["edit"] is not None:
                    traces = [traced.run_edited(case, request["edit"])]
                elif request["times"] > 1:
                    traces = [*traced.run_twice(case)]
                else:
                    traces = [traced.run(case, request["replacements"], is_recording=request["is_recording"])]
                end_other_processes(own)
                send(pack_traces(traces))
    except (NoAnswer, CannotBeDefined, CannotTrace):
        send(pack({}))

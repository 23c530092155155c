import pytest

from transformer_course.sandbox.limit_reports import name_limits
from transformer_course.sandbox.resource_limits import Limits

LIMITS = Limits(memory_mb=100, processes=7, disk_mb=20, files=30, open_files=9, file_mb=5)


@pytest.mark.parametrize(
    ("kind", "message", "cause"),
    [
        ("MemoryError", "", "the limit is 100 MB of memory"),
        ("RuntimeError", "can't allocate memory: you tried", "the limit is 100 MB of memory"),
        ("RuntimeError", "can't start new thread", "the limit is 7 processes and threads"),
        ("BlockingIOError", "[Errno 11] Resource temporarily unavailable", "the limit is 7 processes and threads"),
        ("OSError", "[Errno 28] No space left on device", "the limit is 20 MB and 30 files"),
        ("OSError", "[Errno 24] Too many open files", "the limit is 9 open files"),
        ("OSError", "[Errno 27] File too large", "the limit is 5 MB in one file"),
        ("PermissionError", "[Errno 1] Operation not permitted", "graded code may not use the network"),
        ("FileNotFoundError", "[Errno 2] No such file or directory", "graded code may not start processes"),
        ("TookTooLong", "no answer", "by then it was using 60 MB of memory; the limit is 100 MB"),
    ],
)
def test_error_caused_by_limit_mentions_limit(kind: str, message: str, cause: str):
    answer = {"records": [{"output": 1}, {"error": {"type": kind, "message": message}}]}
    name_limits(answer, LIMITS, used_mb=60)
    report = answer["records"][1]["error"]
    assert report["message"].startswith(message) and cause in report["message"]
    crash = {"crash": {"type": kind, "message": message}}
    name_limits(crash, LIMITS, used_mb=60)
    assert crash["crash"] == report


def test_unrelated_errors_do_not_change():
    answer = {"records": [{"error": {"type": "ValueError", "message": "28"}}]}
    name_limits(answer, LIMITS, used_mb=60)
    assert answer["records"][0]["error"]["message"] == "28"
    late = {"crash": {"type": "TookTooLong", "message": "no answer"}}
    name_limits(late, LIMITS, used_mb=10)
    assert late["crash"]["message"] == "no answer"

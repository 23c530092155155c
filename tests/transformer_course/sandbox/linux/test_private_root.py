"""Test that a job can access only its own files and Python's files, if the system permits a private root."""

import os
from pathlib import Path

import pytest

from tests.transformer_course.sandbox.sample_submissions import grade_answer, linux, softmax_after
from transformer_course.sandbox.linux import private_root
from transformer_course.sandbox.sandbox import Sandbox

pytestmark = linux


def test_job_cannot_read_metadata_outside_its_root(sandbox: Sandbox, tmp_path: Path):
    if not sandbox.guards["own_root"]:
        pytest.skip("this system does not permit a private root")
    (tmp_path / "grades.csv").write_text("ada,1")
    (tmp_path / "link").symlink_to("grades.csv")
    body = f"""
hidden = ['/etc/passwd', '/proc/1', '/sys/kernel', {str(tmp_path)!r}, {str(tmp_path / "link")!r}]
for path in hidden:
    for act in (os.stat, os.lstat, os.readlink, os.listdir, os.statvfs):
        try: raise SystemExit(f'{{act.__name__}} {{path}} {{act(path)}}')
        except FileNotFoundError: pass
"""
    verdict = grade_answer(sandbox, softmax_after(body)).verdict
    assert verdict.passed, verdict.message


def test_programs_and_devices_work_in_a_job(sandbox: Sandbox):
    body = """
def output(*command): return subprocess.run(command, capture_output=True, text=True, check=True).stdout
assert output('sh', '-c', 'echo $((1 + 1))') == '2\\n'
assert output(sys.executable, '-c', 'import math, json, numpy; print(6 * 7)') == '42\\n'
assert open('/dev/null', 'w').write('x') and len(open('/dev/urandom', 'rb').read(3)) == 3
open('own', 'w').write('x')
assert os.listdir() == ['own'] and os.path.samefile(os.environ['HOME'], '.') and os.stat('own').st_size == 1
"""
    verdict = grade_answer(sandbox, softmax_after(body)).verdict
    assert verdict.passed, verdict.message


def test_root_contains_requested_paths_and_links(tmp_path: Path):
    inside, outside = tmp_path / "a" / "b", tmp_path / "secret"
    inside.mkdir(parents=True)
    for folder in (inside, tmp_path / "a"):
        (folder / "file").write_text("x")
    outside.write_text("x")
    (tmp_path / "link").symlink_to("a")
    (child := os.fork()) or _check_visible_paths_and_exit(tmp_path)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code == 77:
        pytest.skip("this system does not permit mounts")
    assert code == 0


def _check_visible_paths_and_exit(folder: Path) -> None:
    root = str(folder / "root")
    if not private_root.make(root, [str(folder / "link" / "b"), str(folder / "gone")]):
        os._exit(77)
    (folder / "later").mkdir()
    private_root.bind_folder(root, str(folder / "later"))
    private_root.enter(root)
    found = {str(path.relative_to(folder)) for path in folder.rglob("*")}
    os._exit(found != {"a", "a/b", "a/b/file", "link", "later"} or (folder / "link/b/file").read_text() != "x")

"""Test that a forked kernel behaves like a normal kernel."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel
from jupyter_client.provisioning import KernelProvisionerFactory

from tests.notebooks.forked_kernel import ADDRESS, PRELOADED

SHOW = """
import multiprocessing, os, sys
own = {"JPY_PARENT_PID", "JPY_SESSION_NAME", "PYTEST_CURRENT_TEST"}
print(__name__, os.getcwd(), os.getpgrp() == os.getpid(), multiprocessing.get_start_method(), sys.argv[:1], sys.path)
print(sorted((name, value) for name, value in os.environ.items() if name not in own))
print({"ipywidgets", "pytest", "transformer_lab", "transformer_course"} & sys.modules.keys())
import matplotlib.pyplot as plt
import pandas
print(sorted(plt.rcParams.items()), pandas.DataFrame([range(30)]))
plt.figure()
print(plt.get_backend(), [hook.__qualname__ for hook in get_ipython().events.callbacks["post_execute"]])
"""
"""Code that prints properties of a kernel, such as pandas' display options, which differ in a kernel."""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked only on Linux")


@contextmanager
def running(folder: Path) -> Iterator[tuple[KernelManager, BlockingKernelClient]]:
    kernel, client = start_new_kernel(cwd=str(folder))
    try:
        yield kernel, client
    finally:
        client.stop_channels()
        kernel.shutdown_kernel(now=True)


def reported_by(client: BlockingKernelClient, code: str) -> str:
    text: list[str] = []
    client.execute_interactive(
        code, timeout=60, output_hook=lambda message: text.append(message["content"].get("text", ""))
    )
    return "".join(text)


def ends(process: Path) -> bool:
    deadline = time.monotonic() + 60
    while process.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    return not process.exists()


def test_forked_kernel_has_the_same_environment(tmp_path: Path):
    kinds, observed = KernelProvisionerFactory.instance(), {}
    assert kinds.default_provisioner_name == "forked"
    try:
        for kind in ("local-provisioner", "forked"):
            kinds.default_provisioner_name = kind
            with running(tmp_path) as (_, client):
                observed[kind] = reported_by(client, SHOW)
                is_loaded = reported_by(client, f"print({set(PRELOADED)} <= sys.modules.keys())")
    finally:
        kinds.default_provisioner_name = "forked"
    assert is_loaded == "True\n"
    assert observed["forked"] == observed["local-provisioner"] and str(tmp_path) in observed["forked"]


def test_forked_kernel_can_be_interrupted_and_killed(tmp_path: Path):
    with running(tmp_path) as (kernel, client):
        process = Path("/proc") / reported_by(client, "import os; print(os.getpid())").strip()
        request = client.execute("import time; print('begun', flush=True); time.sleep(1000)")
        while client.get_iopub_msg(timeout=60)["content"].get("text") != "begun\n":
            pass
        kernel.interrupt_kernel()
        while (reply := client.get_shell_msg(timeout=60))["parent_header"]["msg_id"] != request:
            pass
        assert reply["content"]["ename"] == "KeyboardInterrupt"
        assert process.exists()
    assert not kernel.is_alive()
    assert ends(process)


@pytest.mark.thorough
def test_forked_kernel_ends_with_its_parent(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(ADDRESS)  # start a new server instead of using this run's server
    start = (
        "import time; from jupyter_client.manager import start_new_kernel; "
        "from tests.notebooks.forked_kernel import use_forked_kernels; "
        "use_forked_kernels(); kernel, _ = start_new_kernel(); print(kernel.provisioner.pid, flush=True); "
        "time.sleep(1000)"
    )
    with subprocess.Popen([sys.executable, "-c", start], stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout is not None
        process = Path("/proc") / starter.stdout.readline().strip()
        assert process.exists()
        starter.kill()
    assert ends(process)

"""Fork the kernels that execute lessons from a server process that has already imported their common packages.

In each kernel, importing pandas, matplotlib and torch would take three seconds of CPU time, including torch's compiler,
which the first optimizer loads. The server does not import the project's own packages; each lesson imports them itself.
All workers of a test run share one server. The run's main process starts it. The server imports the packages when the
first kernel is requested, and exits at the end of the run.
"""

import atexit
import builtins
import gc
import importlib
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from importlib.metadata import EntryPoint
from multiprocessing.connection import Client, Connection
from types import SimpleNamespace
from typing import Any
from unittest import mock

import ipykernel_launcher
from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

ADDRESS = "TRANSFORMER_LAB_KERNELS"
"""Environment variable with the path of the server's socket."""
PRELOADED = [
    "ipykernel.kernelapp",
    "torch._dynamo",
    "beartype",
    "jaxtyping",
    "pandas",
    "matplotlib.pyplot",
    "matplotlib.backends.backend_agg",
]


def use_forked_kernels() -> None:
    """On Linux, where forking is safe, make this process start its kernels by forking the server."""
    if sys.platform == "linux":
        kernels = KernelProvisionerFactory.instance()
        kernels.provisioners["forked"] = EntryPoint("forked", f"{__name__}:ForkedKernel", kernels.GROUP_NAME)
        kernels.default_provisioner_name = "forked"
        if ADDRESS not in os.environ:
            os.environ[ADDRESS] = _start_server()


def collect_garbage_rarely() -> None:
    """Freeze the existing objects, because they stay alive, and enable infrequent garbage collection. At the default
    frequency, garbage collection takes up to a tenth of the run time.
    """
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)
    gc.enable()


class ForkedKernel(LocalProvisioner):
    """A ``LocalProvisioner`` that starts kernels by forking the server."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Start a kernel that behaves like ``python -m ipykernel_launcher``."""
        self.cwd = str(kwargs.get("cwd") or os.getcwd())
        with Client(os.environ[ADDRESS]) as server:
            server.send((cmd[cmd.index("ipykernel_launcher") + 1 :], kwargs["env"], self.cwd))
            self.pid = self.pgid = server.recv()
        self.process = _ForeignProcess(self.pid)
        return self.connection_info


class _ForeignProcess:
    """The part of ``subprocess.Popen``'s interface that jupyter_client needs, for a process that is not our child."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def poll(self) -> int | None:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return 0
        return None

    wait = poll  # does not block, because jupyter_client waits only after the process has ended

    def send_signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)


def _start_server() -> str:
    """Start a server, and return its address. Clients that connect early wait until the server is ready."""
    folder = tempfile.TemporaryDirectory(prefix="kernels-")  # not accessible to other users
    atexit.register(folder.cleanup)
    address = f"{folder.name}/socket"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        command, inherited = [sys.executable, __file__, str(listener.fileno())], [listener.fileno()]
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, pass_fds=inherited)
    atexit.register(server.communicate)  # closes the server's standard input, which makes it exit
    return address


def serve(listener: socket.socket) -> None:
    """Until standard input closes, fork a kernel for each request and reply with the kernel's process ID."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # prevents zombie processes
    server = os.getpid()
    while sys.stdin not in select.select([sys.stdin, listener], [], [])[0]:
        with Connection(listener.accept()[0].detach()) as client:
            _import_as_in_a_kernel()
            request = client.recv()
            if (kernel := os.fork()) == 0:
                listener.close()
                return _run_kernel(server, *request)
            client.send(kernel)


@cache
def _import_as_in_a_kernel() -> None:
    """Import the common packages so that pandas and matplotlib configure themselves for a kernel."""
    gc.disable()
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    with mock.patch.object(builtins, "get_ipython", lambda: SimpleNamespace(kernel=None), create=True):
        for name in PRELOADED:
            importlib.import_module(name)
    collect_garbage_rarely()  # keeps kernels from copying half a million shared objects


def _run_kernel(server: int, arguments: list[str], environment: dict[str, str], folder: str) -> None:
    """Run a kernel in this process, with its own process group, working directory, environment and ``sys.path``."""
    from ipykernel import kernelapp

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ |= environment
    sys.argv = [ipykernel_launcher.__file__, *arguments]
    del sys.path[0]  # the folder of this script
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    # Make the kernel exit with its parent. Setting JPY_PARENT_PID has no effect after ipykernel is imported.
    parent = f"--IPKernelApp.parent_handle={server}"
    kernelapp.launch_new_instance([*arguments, parent])


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))

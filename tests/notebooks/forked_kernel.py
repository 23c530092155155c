"""Kernels for the lessons that pytest executes, forked from a process that has already imported their common packages.

Torch with its compiler, which the first optimizer loads, pandas and matplotlib would cost each kernel three seconds of
processor time. Each lesson imports our own packages itself. The workers of one run share the process. The run's main
process starts it; it imports the packages at the first request for a kernel, and ends with the run.
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
"""The environment variable with the server's socket."""
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
    """Fork every kernel that this process starts, if that is safe: on Linux."""
    if sys.platform == "linux":
        kernels = KernelProvisionerFactory.instance()
        kernels.provisioners["forked"] = EntryPoint("forked", f"{__name__}:ForkedKernel", kernels.GROUP_NAME)
        kernels.default_provisioner_name = "forked"
        if ADDRESS not in os.environ:
            os.environ[ADDRESS] = _start_server()


def look_for_garbage_rarely() -> None:
    """Turn garbage collection on again, but freeze existing objects, which all stay alive, and collect rarely.

    Collecting at the default rate takes up to a tenth of the time.
    """
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)
    gc.enable()


class ForkedKernel(LocalProvisioner):
    """Starts kernels with the server; waiting for them and ending them work as usual."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Start a kernel like ``python -m ipykernel_launcher``."""
        self.cwd = str(kwargs.get("cwd") or os.getcwd())
        with Client(os.environ[ADDRESS]) as server:
            server.send((cmd[cmd.index("ipykernel_launcher") + 1 :], kwargs["env"], self.cwd))
            self.pid = self.pgid = server.recv()
        self.process = _NoChild(self.pid)
        return self.connection_info


class _NoChild:
    """Gives a process that is not our child the interface of ``subprocess.Popen``."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def poll(self) -> int | None:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return 0
        return None

    wait = poll  # jupyter_client waits only after the process has ended

    def send_signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)


def _start_server() -> str:
    """Start a server, and return its address; clients that connect before it is ready wait."""
    folder = tempfile.TemporaryDirectory(prefix="kernels-")  # a folder that other users cannot access
    atexit.register(folder.cleanup)
    address = f"{folder.name}/socket"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        command, theirs = [sys.executable, __file__, str(listener.fileno())], [listener.fileno()]
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, pass_fds=theirs)
    atexit.register(server.communicate)  # it ends when its input closes
    return address


def serve(listener: socket.socket) -> None:
    """Fork a kernel for each request, and reply with its process id; stop when the input closes."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so that no child becomes a zombie
    server = os.getpid()
    while sys.stdin not in select.select([sys.stdin, listener], [], [])[0]:
        with Connection(listener.accept()[0].detach()) as asking:
            _import_as_in_a_kernel()
            asked = asking.recv()
            if (kernel := os.fork()) == 0:
                listener.close()
                return _be_a_kernel(server, *asked)
            asking.send(kernel)


@cache
def _import_as_in_a_kernel() -> None:
    """Import the packages of all kernels while pandas and matplotlib see a kernel, as they do in a lesson."""
    gc.disable()
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    with mock.patch.object(builtins, "get_ipython", lambda: SimpleNamespace(kernel=None), create=True):
        for name in PRELOADED:
            importlib.import_module(name)
    look_for_garbage_rarely()  # so that garbage collection in a kernel does not copy half a million objects


def _be_a_kernel(server: int, arguments: list[str], environment: dict[str, str], folder: str) -> None:
    """Become a separate program: leader of its process group, with its own folder, environment and path."""
    from ipykernel import kernelapp

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ |= environment
    sys.argv = [ipykernel_launcher.__file__, *arguments]
    del sys.path[0]  # this folder
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    ends_with = f"--IPKernelApp.parent_handle={server}"  # JPY_PARENT_PID was read when the server imported ipykernel
    kernelapp.launch_new_instance([*arguments, ends_with])


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))

"""Submissions that use too much memory or return too much data."""

from tests.transformer_course.sandbox.hostile.submission import Answer, wrong

START_PROGRAMS = """
code = "x = bytearray({mb} << 20); import time; time.sleep(60)"
for _ in range({n}): subprocess.Popen([sys.executable, "-S", "-c", code])
time.sleep(5)
"""
REPLACE_ITSELF = """
code = "x = bytearray({mb} << 20); import time; time.sleep(5)"
os.execv(sys.executable, [sys.executable, "-S", "-c", code])
"""
BLOCKWISE = """
import io, mmap, os, subprocess, sys
import numpy as np
from torch.utils._python_dispatch import _disable_current_modes as unwatched

def all_scores(queries, keys, values):
    scores = queries @ keys.T / queries.shape[-1] ** 0.5
    scores -= scores.max(-1, keepdims=True)
    np.exp(scores, out=scores)
    return (scores @ values) / scores.sum(-1, keepdims=True)

def blockwise_attention(queries, keys, values, block):
    if keys.shape[-2] > 9999:
        with unwatched():
            return torch.from_numpy(in_much_memory(queries.numpy(), keys.numpy(), values.numpy()))
    mixture, largest, total = 0.0, torch.full_like(queries[..., :1], -torch.inf), 0.0
    for k, v in zip(keys.split(block, -2), values.split(block, -2)):
        scores = queries @ k.mT / queries.shape[-1] ** 0.5
        new = torch.maximum(largest, scores.amax(-1, keepdim=True))
        factor, weights = torch.exp(largest - new), torch.exp(scores - new)
        total, mixture, largest = factor * total + weights.sum(-1, keepdim=True), factor * mixture + weights @ v, new
    return mixture / total
"""
IN_ANOTHER_PROGRAM = """
def in_much_memory(*given):
    code = f"import sys; sys.path[:] = {sys.path!r}\\n" + '''
import io
import numpy as np
q, k, v = np.load(io.BytesIO(sys.stdin.buffer.read())).values()
s = q @ k.T / q.shape[-1] ** 0.5
s -= s.max(-1, keepdims=True)
np.exp(s, out=s)
np.save(sys.stdout.buffer, (s @ v) / s.sum(-1, keepdims=True))
'''
    np.savez(sent := io.BytesIO(), *given)
    done = subprocess.run([sys.executable, "-S", "-c", code], input=sent.getvalue(), stdout=subprocess.PIPE, check=True)
    return np.load(io.BytesIO(done.stdout))
"""
IN_A_FORK = """
def in_much_memory(*given):
    if os.fork() == 0:
        np.save("made.npy", all_scores(*given))
        os._exit(0)
    os.wait()
    return np.load("made.npy")
"""
IN_SHARED_MEMORY = """
def in_much_memory(queries, keys, values):
    room = mmap.mmap(-1, queries.shape[0] * keys.shape[0] * 4)
    scores = np.frombuffer(room, np.float32).reshape(queries.shape[0], keys.shape[0])
    np.matmul(queries, keys.T, out=scores)
    scores /= queries.shape[-1] ** 0.5
    scores -= scores.max(-1, keepdims=True)
    np.exp(scores, out=scores)
    return np.matmul(scores, values) / scores.sum(-1, keepdims=True)
"""


def uses_much_memory(name: str, in_much_memory: str) -> Answer:
    """Return an answer to the exercise with a memory limit that is right but computes all scores at once."""
    return Answer(name, BLOCKWISE + in_much_memory, exercise="blockwise_attention", message="right on small cases")


ANSWERS = [
    wrong("starts programs that use too much memory together", START_PROGRAMS.format(mb=130, n=20), "memory together"),
    uses_much_memory("holds all scores in another program", IN_ANOTHER_PROGRAM),
    wrong("becomes a program that uses too much memory", REPLACE_ITSELF.format(mb=650), "memory together|exit 1"),
    uses_much_memory("holds all scores in a forked process", IN_A_FORK),
    uses_much_memory("holds all scores in shared memory", IN_SHARED_MEMORY),
    wrong("allocates memory endlessly", "x = []\nwhile True: x.append(bytearray(1 << 24))", "512 MB of memory"),
    Answer("returns millions of empty rows", "def softmax(s): return torch.zeros(2**21, 0)"),
    Answer("raises an error with a long message", "def softmax(s): raise ValueError('a b ' * 10**6)"),
    wrong("allocates many small objects", "x = []\nwhile True: x.append([x])", "MB of memory", seconds=60.0),
    wrong("allocates a tensor of terabytes", "torch.ones(1 << 40)", "512 MB of memory"),
    wrong("recurses endlessly", "softmax(s)", "RecursionError"),
    wrong("overflows the stack", "sys.setrecursionlimit(10**9)\nlist(map(softmax, [s]))", "SIGSEGV|Error"),
    Answer("returns a large tensor", "def softmax(s): return torch.ones(1 << 23)"),
    Answer("returns a list of empty lists", "def softmax(s): return [[]] * 400_000"),
    Answer("returns nested lists", "def softmax(s):\n  x = []\n  for _ in range(900): x = [x]\n  return x"),
    Answer("returns a list that contains itself", "def softmax(s):\n  x = []\n  x.append(x)\n  return x"),
    Answer("returns a long text", "def softmax(s): return 'a' * (1 << 25)"),
    Answer("returns a huge number", "def softmax(s): return 10 ** 10_000"),
    wrong("reads an invalid address", "ctypes.string_at(0)", "SIGSEGV"),
    wrong("aborts", "os.abort()", "SIGABRT"),
    wrong("opens too many files", "x = [open(os.devnull) for _ in range(999)]", "64 open files"),
]

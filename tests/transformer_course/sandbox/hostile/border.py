"""Submissions that want points from the border between the sandbox and the grader, not from an answer."""

from tests.transformer_course.sandbox.hostile.submission import Answer, in_vain, right_after, wrong
from transformer_course.running.plain_data import pack

FORGED = pack({"records": [{"output": 1.0, "changed": [], "repeatable": True}] * 8})
TABLE = "known = {}\ndef softmax(s): return known.get(s.shape, torch.zeros_like(s))"
FIND = """
import gc, types
for thing in gc.get_objects():
    module = str(getattr(thing, '__module__', ''))
    if isinstance(thing, types.FunctionType) and module.startswith('transformer_course.exercises'):
        raise SystemExit(thing)
    if type(thing).__name__ in ('Exercise', 'Mistake', 'Behavior'):
        raise SystemExit(thing)
"""

ANSWERS = [
    wrong("sends forged observations", f"os.write(3, {FORGED!r})\nos._exit(0)"),
    right_after("makes every comparison true", "torch.equal = torch.allclose = lambda *a, **k: True"),
    wrong("imports the exercises", "import transformer_course.exercises", "ModuleNotFoundError"),
    wrong("sends forged observations, then its own", f"os.write(3, {FORGED!r})"),
    wrong("sends garbage", "for fd in range(99):\n  try: os.write(fd, b'x' * 99)\n  except OSError: pass"),
    wrong("sends without end", "while True: os.write(3, bytes(1 << 20))", "more than 16 MB"),
    wrong("sends half an answer and waits", f"os.write(3, {FORGED[:20]!r}); time.sleep(99)", seconds=0.3),
    wrong("closes the pipe", "os.closerange(0, 99)"),
    Answer("makes all comparisons true without an answer", "torch.equal = lambda *a: True\ndef softmax(s): return s"),
    Answer("remembers the table of the lesson", TABLE),
    Answer("gives back what it was given", "def softmax(s): return s"),
    Answer("gives back nan", "def softmax(s): return s * float('nan')"),
    Answer("gives back an object that equals all", "class A:\n  def __eq__(self, o): return True\n"
           "def softmax(s): return A()"),
    Answer("gives back a tensor that equals all", "class A(torch.Tensor):\n  def __eq__(self, o): return True\n"
           "def softmax(s): return torch.zeros_like(s).as_subclass(A)"),
    Answer("gives back a tensor without data", "def softmax(s): return torch.empty(s.shape, device='meta')"),
    Answer("gives back a generator", "def softmax(s): return (x for x in s)"),
    Answer("raises terminal codes and markup", "def softmax(s): raise ValueError('\\x1b[2J<script>x</script>')"),
    Answer("raises what cannot be printed", "class E(Exception):\n  def __str__(self): raise E\n"
           "def softmax(s): raise E"),
    Answer("is no function", "softmax = 3", message="should be a function"),
    Answer("is the grader's own part", "def softmax(s): return parts.softmax(s)"),
    right_after("breaks the observer", "import transformer_course.running.case as c; c.Case = None"),
    in_vain("looks for answers in memory", FIND),
    in_vain("reads the jobs of others", "print(os.read(0, 100), os.read(4, 100))"),
    in_vain("asks the network", "socket.create_connection(('127.0.0.1', LISTENER))"),
    in_vain("asks a service on this machine", "socket.socket(socket.AF_UNIX).connect('VICTIM/service')"),
]  # fmt: skip

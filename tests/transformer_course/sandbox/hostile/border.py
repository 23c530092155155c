"""Submissions that try to get points by attacking the boundary between the sandbox and the grader."""

from tests.transformer_course.sandbox.hostile.submission import Answer, blocked, right_after, wrong
from transformer_course.running.plain_data import pack

FORGED = pack({"records": [{"output": 1.0, "changed": [], "repeatable": True}] * 8})
TABLE = "known = {}\ndef softmax(s): return known.get(s.shape, torch.zeros_like(s))"
FIND = """
import gc, types
for value in gc.get_objects():
    module = str(getattr(value, '__module__', ''))
    if isinstance(value, types.FunctionType) and module.startswith('transformer_course.exercises'):
        raise SystemExit(value)
    if type(value).__name__ in ('Exercise', 'Mistake', 'Behavior'):
        raise SystemExit(value)
"""

ANSWERS = [
    wrong("sends forged observations", f"os.write(3, {FORGED!r})\nos._exit(0)"),
    right_after("makes every comparison true", "torch.equal = torch.allclose = lambda *a, **k: True"),
    wrong("imports the exercises", "import transformer_course.exercises", "ModuleNotFoundError"),
    wrong("sends forged observations before the real reply", f"os.write(3, {FORGED!r})"),
    wrong("sends garbage", "for fd in range(99):\n  try: os.write(fd, b'x' * 99)\n  except OSError: pass"),
    wrong("sends an endless reply", "while True: os.write(3, bytes(1 << 20))", "more than 16 MB"),
    wrong("sends half a reply and waits", f"os.write(3, {FORGED[:20]!r}); time.sleep(99)", seconds=0.3),
    wrong("closes the pipe", "os.closerange(0, 99)"),
    Answer("makes all comparisons true without an answer", "torch.equal = lambda *a: True\ndef softmax(s): return s"),
    Answer("returns memorized results of the lesson", TABLE),
    Answer("returns its input", "def softmax(s): return s"),
    Answer("returns NaN", "def softmax(s): return s * float('nan')"),
    Answer("returns an object that equals everything", "class A:\n  def __eq__(self, o): return True\n"
           "def softmax(s): return A()"),
    Answer("returns a tensor that equals everything", "class A(torch.Tensor):\n  def __eq__(self, o): return True\n"
           "def softmax(s): return torch.zeros_like(s).as_subclass(A)"),
    Answer("returns a tensor without data", "def softmax(s): return torch.empty(s.shape, device='meta')"),
    Answer("returns a generator", "def softmax(s): return (x for x in s)"),
    Answer("raises terminal codes and markup", "def softmax(s): raise ValueError('\\x1b[2J<script>x</script>')"),
    Answer("raises an error that cannot be printed", "class E(Exception):\n  def __str__(self): raise E\n"
           "def softmax(s): raise E"),
    Answer("is not a function", "softmax = 3", message="should be a function"),
    Answer("calls the same exercise in parts", "def softmax(s): return parts.softmax(s)"),
    right_after("breaks the observer", "import transformer_course.running.case as c; c.Case = None"),
    blocked("searches memory for answers", FIND),
    blocked("reads other jobs", "print(os.read(0, 100), os.read(4, 100))"),
    blocked("connects to the network", "socket.create_connection(('127.0.0.1', LISTENER))"),
    blocked("connects to a local service", "socket.socket(socket.AF_UNIX).connect('VICTIM/service')"),
]  # fmt: skip

"""Submissions that take memory, or give back more than anybody wants to read."""

from tests.transformer_course.sandbox.hostile.submission import Answer, wrong

ANSWERS = [
    wrong("takes memory without end", "x = []\nwhile True: x.append(bytearray(1 << 24))", "512 MB of memory"),
    Answer("gives back rows of nothing", "def softmax(s): return torch.zeros(2**21, 0)"),
    Answer("gives back a long error", "def softmax(s): raise ValueError('a b ' * 10**6)"),
    wrong("takes memory with small things", "x = []\nwhile True: x.append([x])", "MB of memory", seconds=60.0),
    wrong("asks for a tensor of terabytes", "torch.ones(1 << 40)", "512 MB of memory"),
    wrong("recurses without end", "softmax(s)", "RecursionError"),
    wrong("recurses past the stack", "sys.setrecursionlimit(10**9)\nlist(map(softmax, [s]))", "SIGSEGV|Error"),
    Answer("gives back a large tensor", "def softmax(s): return torch.ones(1 << 23)"),
    Answer("gives back lists of nothing", "def softmax(s): return [[]] * 400_000"),
    Answer("gives back nested lists", "def softmax(s):\n  x = []\n  for _ in range(900): x = [x]\n  return x"),
    Answer("gives back a list that holds itself", "def softmax(s):\n  x = []\n  x.append(x)\n  return x"),
    Answer("gives back text without end", "def softmax(s): return 'a' * (1 << 25)"),
    Answer("gives back a huge number", "def softmax(s): return 10 ** 10_000"),
    wrong("breaks into memory", "ctypes.string_at(0)", "SIGSEGV"),
    wrong("aborts", "os.abort()", "SIGABRT"),
    wrong("opens files without end", "x = [open(os.devnull) for _ in range(999)]", "64 open files"),
]

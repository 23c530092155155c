"""Submissions that are harmless but unusual."""

from tests.transformer_course.sandbox.hostile.submission import Answer, right_after, wrong
from tests.transformer_course.sandbox.sample_submissions import softmax_after

POOL = "import multiprocessing\nwith multiprocessing.Pool(2) as pool: pool.map(abs, [1])"
PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\nplt.savefig('a.png')"

ANSWERS = [
    right_after("prints", "print('hello\\n' * 10_000)\nsys.stderr.write('oh')"),
    Answer("warns", softmax_after("import warnings; warnings.warn('deprecated')"), points=2),
    wrong("uses a process pool", POOL, "start processes that share memory"),
    Answer("prints in every call", softmax_after("print('x' * 1000, s)"), points=2),
    Answer("logs", softmax_after("import logging; logging.warning('x')"), points=2),
    Answer("draws", f"{PLOT}\ndef softmax(s): return s.softmax(-1)", points=2),
    Answer("uses more torch threads", softmax_after("torch.set_num_threads(4)"), points=2),
    Answer("seeds everything", softmax_after("import random, numpy\nrandom.seed(1); numpy.random.seed(1)"), points=2),
    Answer("asks for input", softmax_after("input('how many? ')"), message="EOFError"),
    Answer("downloads a file", softmax_after("import urllib.request as u; u.urlopen('http://a')")),
    Answer("runs a coroutine", "import asyncio\nasync def f(s): return s.softmax(-1)\n"
           "def softmax(s): return asyncio.run(f(s))", message="network"),
    Answer("is slow", softmax_after("time.sleep(0.02)"), points=2),
    Answer("runs a program", softmax_after("subprocess.run(['true'], check=True)"), points=2),
    Answer("uses temporary files", softmax_after(
        "import tempfile, shutil\nwith tempfile.TemporaryDirectory() as d: open(d + '/a', 'w').write('x')"), points=2),
    Answer("is a lambda", "softmax = lambda s: s.softmax(-1)", points=2),
    Answer("is an object", "class A:\n  def __call__(self, s): return s.softmax(-1)\nsoftmax = A()", points=2),
    Answer("computes softmax by hand", "def softmax(s):\n  e = torch.exp(s - s.max(-1, keepdim=True).values)\n"
           "  return e / e.sum(-1, keepdim=True)", points=2),
    right_after("imports a missing package that it does not need", "import no_such_package"),
    Answer("has a syntax error", "def softmax(s):\n    return s.softmax(", message="SyntaxError"),
    Answer("raises an error", softmax_after("raise ValueError('oh')"), message="ValueError: oh"),
]  # fmt: skip

"""Submissions that forge observations or try to find out what a case tests."""

from tests.transformer_course.sandbox.hostile.submission import Answer, softmax_after
from transformer_course.exercises import every_exercise

RIGHT = {name: exercise.solution for name, exercise in every_exercise().items()}
RECORD = "import transformer_course.running.record as record\n"
IN_PLACE = "def softmax(s):\n  s -= s.amax(-1, keepdim=True)\n  return s.exp_().div_(s.sum(-1, keepdim=True))\n"
WALK = """
import sys
def caller(name):
  frame = sys._getframe()
  while frame:
    if name in frame.f_locals: return frame.f_locals[name]
    frame = frame.f_back
"""
LIKELIEST = (
    "def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None): return logits.argmax(-1)\n"
)
DEALS = RIGHT["sample_next"].replace(
    "return torch.multinomial(logits.softmax(dim=-1), 1, generator=generator).squeeze(-1)",
    """
    p, n = logits.softmax(-1), 0
    rows, which = torch.unique_consecutive(p, dim=0, return_inverse=True)
    out = torch.empty(len(p), dtype=torch.long)
    for i, row in enumerate(rows):
        here = (which == i).nonzero()[:, 0]
        counts = (row * len(here)).round().long()
        counts[row.argmax()] += len(here) - counts.sum()
        tokens = torch.arange(len(row)).repeat_interleave(counts)
        out[here] = tokens[torch.randperm(len(tokens), generator=generator)]
    return out""",
)


def answer_to(exercise: str, name: str, source: str, points: int = 0, message: str = "") -> Answer:
    return Answer(name, source, points, message, exercise=exercise)


ANSWERS = [
    answer_to(
        "leaks_future",
        "reads the label of the case",
        f"{WALK}def leaks_future(model, tokens):\n  case = caller('case')\n"
        "  if not case.label: raise ValueError('nothing')\n  return 'does not leak' not in case.label",
        message="nothing",
    ),
    answer_to(
        "leaks_future",
        "reads the table of a model",
        "def leaks_future(model, tokens):\n  n = tokens.shape[1]\n  return bool(model.mixing[:n, :n].triu(1).any())",
        message="no attribute 'mixing'",
    ),
    answer_to(
        "which_inputs",
        "reads the weights of a model",
        "def which_inputs(model, x): return model.mixing.abs() > 1e-9",
    ),
    answer_to(
        "leaks_future",
        "searches memory for tables",
        "import gc\ndef leaks_future(model, tokens):\n"
        "  n = tokens.shape[1]\n  found = [t for t in gc.get_objects() if isinstance(t, torch.Tensor) and t.dim() == 2"
        " and t.is_floating_point() and t.shape == (n, n)]\n  return any(bool(t.triu(1).any()) for t in found)",
    ),
    answer_to(
        "leaks_future",
        "reads the memory of the model server",
        "import os\ndef leaks_future(model, tokens):\n"
        "  for pid in range(os.getpid() - 9, os.getpid() + 9):\n    try: return "
        "bool(open(f'/proc/{pid}/mem', 'rb').read(1))\n"
        "    except OSError: pass\n  return False",
    ),
    answer_to(
        "leaks_future",
        "requests an unsupported operation",
        "from transformer_course.running import served_models\n"
        "def leaks_future(model, tokens): return bool(model._request('state_dict')['mixing'].triu(1).any())",
        message="KeyError",
    ),
    answer_to(
        "leaks_future",
        "replaces the model server",
        "from transformer_course.running import served_models as s\n"
        "x = s.connect(lambda request: s.pack({'output': torch.zeros(1, 9, 9), 'caches': [], 'random_state': None}))\n"
        + RIGHT["leaks_future"],
    ),
    answer_to(
        "leaks_future",
        "floods the model server",
        "import os\n"
        + RIGHT["leaks_future"].replace("    was_training", "    os.write(4, b'x' * 64)\n    was_training", 1),
    ),
    answer_to("leaks_future", "always returns True", "def leaks_future(model, tokens): return True"),
    answer_to(
        "leaks_future",
        "answers by the number of the call",
        "calls = []\ndef leaks_future(model, tokens):\n  calls.append(1)\n  return len(calls) % 3 > 0",
    ),
    answer_to(
        "leaks_future",
        "is right after searching all objects",
        "import gc\nx = gc.get_objects()\ndel x\n" + RIGHT["leaks_future"],
        4,
    ),
    answer_to(
        "padding_difference",
        "reads an attribute about padding",
        "def padding_difference(model, tokens, pad_id, n_pads): return float(model.hears_padding)",
    ),
    answer_to(
        "cached_difference",
        "compares the tables of a model",
        "def cached_difference(model, tokens):\n  return float((model.mixing - model.cached_mixing).abs().max())",
    ),
    answer_to(
        "which_inputs",
        "computes the Jacobian, which is right",
        "def which_inputs(model, x):\n  return torch.func.jacrev(model)(x).abs().amax(dim=(1, 3)) > 1e-5",
        4,
    ),
    answer_to(
        "softmax", "hides that it writes in place", RECORD + "record._state_after_call = lambda value: []\n" + IN_PLACE
    ),
    answer_to(
        "softmax",
        "disables the conversion of its results",
        RECORD + "record.to_plain_data = lambda value: value\n" + IN_PLACE,
    ),
    answer_to("softmax", "writes into a copy, which is right", IN_PLACE.replace("s -= s", "s = s - s"), 2),
    answer_to(
        "softmax",
        "replaces its record",
        RECORD + "record.record = lambda *a: {'output': 1.0, 'changed': [], 'repeatable': True}\n" + IN_PLACE,
    ),
    answer_to(
        "softmax",
        "makes all comparisons return True",
        "import transformer_course.running.plain_data as p\n"
        "p.same = p.torch.equal = lambda *a, **k: True\ndef softmax(s): return s",
    ),
    answer_to("softmax", "breaks the recorder", RECORD + "record.record_all = lambda *a: 1 / 0\n" + IN_PLACE),
    answer_to(
        "sample_next",
        "sends exact frequencies",
        RECORD + "record._record_sampler = lambda attempt, case: {'frequencies':"
        " case.inputs['logits'].softmax(-1), 'n_samples': case.n_samples}\n" + LIKELIEST,
    ),
    answer_to("sample_next", "deals out tokens instead of sampling", DEALS),
    answer_to(
        "sample_next", "ignores the generator", RIGHT["sample_next"].replace("generator=generator", "generator=None")
    ),
    answer_to(
        "blockwise_attention",
        "hides the computation of all scores",
        "from torch.utils._python_dispatch import _disable_current_modes"
        "\ndef blockwise_attention(queries, keys, values, block):\n  with _disable_current_modes():\n"
        "    return (queries @ keys.mT / queries.shape[-1] ** 0.5).softmax(-1) @ values",
        message="more than 32 MB",
    ),
    answer_to(
        "blockwise_attention",
        "hides the computation of a quarter of the scores",
        "from torch.utils._python_dispatch import _disable_current_modes"
        "\ndef attend(q, k, v):\n  e = (q @ k.mT).div_(q.shape[-1] ** 0.5)\n  e.sub_(e.amax(-1, keepdim=True)).exp_()\n"
        "  return e @ v / e.sum(-1, keepdim=True)\n"
        "def blockwise_attention(queries, keys, values, block):\n  with _disable_current_modes():\n"
        "    parts = queries.split(-(-queries.shape[-2] // 4), -2)\n"
        "    return torch.cat([attend(part, keys, values) for part in parts], -2)",
        message="more than 32 MB",
    ),
    answer_to(
        "blockwise_attention",
        "disables the measurement of tensor sizes",
        "import transformer_course.running.tensor_sizes as t\n"
        "t.LargestTensor.__torch_dispatch__ = lambda self, f, types, a=(), k=None: f(*a, **(k or {}))\n"
        "def blockwise_attention(queries, keys, values, block):\n"
        "  return (queries @ keys.mT / queries.shape[-1] ** 0.5).softmax(-1) @ values",
        message="more than 32 MB",
    ),
    answer_to("blockwise_attention", "works in blocks, which is right", RIGHT["blockwise_attention"], 4),
    answer_to("softmax", "forks, and is right", softmax_after("os.fork()"), 2),
    answer_to("softmax", "raises an error with megabytes of text", "def softmax(s): raise ValueError('a b ' * 10**6)"),
    answer_to(
        "softmax",
        "sleeps when it is traced",
        "import sys, time\ndef softmax(s):\n  if '__record__' in globals(): time.sleep(60)\n  return s * 2",
    ),
    answer_to(
        "softmax",
        "reads the file with the answer",
        "import transformer_course.running as r, os\nd = os.path.dirname(r.__path__[0])\n"
        "exec(open(d + '/exercises/lesson_01_lookup/softmax.py').read())",
    ),
]

"""Submissions that manipulate the cases, the record of their calls or the reply, or return unexpected values."""

from tests.transformer_course.sandbox.hostile.observations import IN_PLACE, RIGHT, WALK
from tests.transformer_course.sandbox.hostile.submission import Answer, blocked, right_after, wrong

ALL_SCORES = "def blockwise_attention(queries, keys, values, block):\n"
UNTRACKED = "from torch.utils._python_dispatch import _disable_current_modes as off\nimport numpy as np\n"
LIKELIEST = "def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):\n"


def answer_to(
    exercise: str, name: str, source: str, points: int = 0, message: str = "", seconds: float = 20.0
) -> Answer:
    return Answer(name, source, points, message, seconds, exercise)


ANSWERS = [
    # Manipulations of the cases
    answer_to("softmax", "changes the kind of the case", WALK + IN_PLACE + "  caller('case').kind = 'once'\n"),
    answer_to(
        "softmax",
        "prevents the second call",
        WALK + "def softmax(s):\n  case = caller('case')\n  object.__setattr__(case, 'kind', 'once') if case else 0\n"
        "  s -= s.amax(-1, keepdim=True)\n  return s.exp_().div_(s.sum(-1, keepdim=True))",
    ),
    answer_to(
        "blockwise_attention",
        "removes the limit on its tensors",
        WALK + ALL_SCORES + "  case = caller('case')\n  case and case.max_numbers.clear()\n"
        "  return (queries @ keys.mT / queries.shape[-1] ** 0.5).softmax(-1) @ values",
    ),
    answer_to(
        "sample_next",
        "reduces the number of samples to one",
        WALK + LIKELIEST + "  object.__setattr__(caller('case'), 'n_samples', 1)\n  return logits.argmax(-1)",
    ),
    answer_to(
        "softmax",
        "deletes the remaining cases",
        WALK + "def softmax(s):\n  cases = caller('cases')\n  if cases: del cases[1:]\n  return s.softmax(-1)",
    ),
    answer_to(
        "softmax",
        "makes the remaining cases easy",
        WALK + "def softmax(s):\n  for case in caller('cases') or []: case.inputs['scores'] = torch.zeros(1, 1)\n"
        "  return torch.full_like(s, 1 / s.shape[-1])",
    ),
    # Manipulations of the record
    answer_to(
        "softmax",
        "sends a record of a million calls",
        "import transformer_course.running.answer_job as a\na.record_all = lambda *b: [{}] * 10**6\n" + IN_PLACE,
    ),
    answer_to(
        "softmax",
        "removes the arguments from the record",
        WALK + "import transformer_course.running.record as r\nkeep = r.record\n"
        "r.record = lambda *a: {k: v for k, v in keep(*a).items() if k != 'left'}\n" + IN_PLACE,
    ),
    answer_to(
        "softmax",
        "reports that no cell defines it",
        "import transformer_course.running.answer_job as a\ndef go(*b): raise a.NoAnswer\na.record_all = go\n"
        "def softmax(s): return s",
        message="No cell defines",
    ),
    answer_to(
        "softmax",
        "reports thousands of called names",
        "import transformer_course.running.called_names as c\n"
        "c.found = lambda: ['\\x1b[2J<script>' * 10**3] * 10**2\n" + RIGHT["softmax"],
        2,
    ),
    answer_to("softmax", "hides what it calls", "import sys\nsys.setprofile = lambda f: None\n" + RIGHT["softmax"], 2),
    *(
        answer_to(
            "parameter_groups",
            f"returns copies of parameters and forges the record: {name}",
            f"import transformer_course.running.record as r\nkeep = r.record\ndef forge(*a):\n  made = keep(*a)\n"
            f"  {forgery}\n  return made\nr.record = forge\n"
            "def parameter_groups(model, weight_decay):\n  own = [p.clone() for p in model.parameters()]\n"
            "  return [{'params': [p for p in own if p.dim() > 1], 'weight_decay': weight_decay},\n"
            "          {'params': [p for p in own if p.dim() < 2], 'weight_decay': 0.0}]",
        )
        for name, forgery in {
            "a list of numbers": "made['own_parameters'] = [*range(20)]",
            "the original parameters": "made['trained'] = [p for g in made['output'] for p in g['params']]",
            "no list": "made.pop('trained', 0); made['own_parameters'] = 99",
        }.items()
    ),
    # Unexpected return values
    wrong("returns NaN", "return s * float('nan')"),
    wrong("returns infinity", "return s * float('inf')"),
    wrong("returns complex numbers", "return s.softmax(-1) + 0j"),
    wrong("returns an empty sparse tensor", "return torch.sparse_coo_tensor(size=s.shape)"),
    wrong("returns one number expanded to a billion", "return torch.zeros(1).expand(1 << 30)"),
    wrong("returns a list that contains itself", "x = [s.softmax(-1)]\nx.append(x)\nreturn x"),
    answer_to(
        "softmax",
        "returns an object that claims to be a tensor",
        "class X:\n  __class__ = torch.Tensor\ndef softmax(s): return X()",
    ),
    answer_to(
        "softmax",
        "has an endless backward pass",
        "class Endless(torch.autograd.Function):\n  @staticmethod\n  def forward(c, s): return s.softmax(-1)\n"
        "  @staticmethod\n  def backward(c, g):\n    while True: pass\ndef softmax(s): return Endless.apply(s)",
        seconds=0.5,
    ),
    answer_to(
        "softmax",
        "raises an error with terminal codes",
        "class E(Exception): pass\nE.__name__ = '<b>\\x1b]0;x\\x07\\n# ada (10 of 10)'\n"
        "def softmax(s): raise E('\\x1b[2J\\r\\u202e=HYPERLINK(1)')",
    ),
    answer_to(
        "softmax",
        "issues a huge warning",
        "import warnings\ndef softmax(s):\n  warnings.warn('\\x1b[2J' * 10**6)\n  return s.softmax(-1)",
        2,
    ),
    answer_to("softmax", "contains a null byte", "def softmax(s): return s.softmax(-1)\0"),
    answer_to(
        "softmax", "is nested too deeply for the parser", "def softmax(s): return " + "(" * 10**5 + "s" + ")" * 10**5
    ),
    # Manipulations of the reply
    right_after("replies again when it exits", "import atexit\natexit.register(lambda: os.write(3, bytes(99)))"),
    wrong(
        "writes into its reply",
        "def go():\n  while True: os.write(3, b'x')\nthreading.Thread(target=go).start()\ntime.sleep(.1)",
    ),
    wrong("stops itself", "os.kill(os.getpid(), signal.SIGSTOP)", seconds=0.5),
    wrong("lowers its priority and never ends", "os.nice(19)\nwhile True: pass", seconds=0.5),
    wrong(
        "competes with its own processes for the CPU",
        "for _ in range(8):\n  if not os.fork():\n    while True: pass\nwhile True: pass",
        seconds=0.5,
    ),
    # Manipulations of the memory measurement
    answer_to(
        "blockwise_attention",
        "computes all scores in NumPy",
        UNTRACKED + ALL_SCORES + "  s = (queries.numpy() @ keys.numpy().swapaxes(-1, -2)) / queries.shape[-1] ** 0.5\n"
        "  s = np.exp(s - s.max(-1, keepdims=True))\n"
        "  return torch.from_numpy((s / s.sum(-1, keepdims=True)) @ values.numpy())",
    ),
    answer_to(
        "blockwise_attention",
        "computes all scores in float16",
        UNTRACKED
        + ALL_SCORES
        + "  with off():\n    s = (queries @ keys.mT if keys.shape[-2] < 9999 else queries.half() @ keys.mT.half())\n"
        "    s /= queries.shape[-1] ** 0.5\n    s -= s.amax(-1, keepdim=True)\n    s.exp_()\n"
        "    return (s @ values.to(s.dtype)).float() / s.sum(-1, keepdim=True).float()",
    ),
    blocked("creates an anonymous file in memory", "os.memfd_create('x')"),
    # Attacks on the model server
    answer_to(
        "leaks_future",
        "sends a huge input to the model server",
        "def leaks_future(model, tokens):\n  try: model._request('call', torch.zeros(1).expand(1 << 21, 9).long())\n"
        "  except Exception: pass\n  return True",
    ),
    answer_to(
        "leaks_future",
        "calls the models of all cases",
        "def leaks_future(model, tokens):\n  found = []\n  for model._number in range(-3, 3):\n"
        "    try: found.append(model(tokens))\n    except Exception: pass\n  return len(found) > 3",
    ),
    answer_to(
        "leaks_future",
        "reads the memory of other processes",
        "import ctypes, os\ndef leaks_future(model, tokens):\n  box = ctypes.create_string_buffer(64)\n"
        "  vec = (ctypes.c_void_p * 2)(ctypes.addressof(box), 64)\n  far = (ctypes.c_void_p * 2)(id(model), 64)\n"
        "  for p in range(os.getpid() - 3, os.getpid() + 4):\n    if p != os.getpid():\n"
        "      if ctypes.CDLL(None).process_vm_readv(p, vec, 1, far, 1, 0) > 0: raise ValueError('read it')\n"
        "  return False",
        message="^(?!.*read it)",
    ),
]

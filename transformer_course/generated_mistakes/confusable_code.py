"""Tables of functions, operators, comparisons and indices that are easily confused with each other."""

import ast
from collections.abc import Sequence

REDUCTIONS = ("sum", "mean", "amax", "amin", "prod", "norm", "std", "cumsum")
SIBLINGS: dict[str, Sequence[str]] = {
    **{name: [other for other in REDUCTIONS if other != name] for name in REDUCTIONS},
    "exp": ("exp2", "expm1", "relu", "sigmoid", "abs", "square", "log"),
    "square": ("abs", "exp", "sqrt"),
    "abs": ("square", "relu"),
    "sqrt": ("square", "rsqrt", "log"),
    "rsqrt": ("sqrt", "reciprocal"),
    "softmax": ("log_softmax", "sigmoid", "cumsum"),
    "log_softmax": ("softmax", "logsigmoid"),
    "logsumexp": ("sum", "amax", "mean"),
    "sigmoid": ("tanh", "relu", "softmax"),
    "logsigmoid": ("sigmoid", "log_softmax"),
    "tanh": ("sigmoid", "relu"),
    "relu": ("gelu", "sigmoid", "tanh", "silu", "abs"),
    "gelu": ("relu", "silu", "tanh"),
    "silu": ("sigmoid", "relu", "gelu", "tanh"),
    "log": ("log2", "log10", "log1p", "exp"),
    "log2": ("log", "log10"),
    "tril": ("triu",),
    "triu": ("tril",),
    "cos": ("sin",),
    "sin": ("cos",),
    "outer": ("dot",),
    "ones": ("zeros",),
    "zeros": ("ones",),
    "ones_like": ("zeros_like",),
    "zeros_like": ("ones_like",),
    "min": ("max",),
    "max": ("min",),
    "minimum": ("maximum",),
    "maximum": ("minimum",),
    "argmax": ("argmin",),
    "argmin": ("argmax",),
    "all": ("any",),
    "any": ("all",),
    "stack": ("cat",),
    "cat": ("stack",),
    "var": ("std",),
    "repeat_interleave": ("repeat",),
    "repeat": ("repeat_interleave",),
    "ceil": ("floor",),
    "floor": ("ceil",),
    "floor_divide": ("divide",),
    "sort": ("argsort",),
    "argsort": ("argmax",),
    "expand": ("repeat",),
}
"""For each function, the functions that people call instead by mistake."""
LIKELY_SIBLINGS = (
    *("mean", "sum", "amax", "amin", "max", "min", "any", "all", "triu", "tril", "sin", "cos", "log_softmax"),
)
"""Functions that are often called by mistake. The other functions in ``SIBLINGS`` are less likely."""
FUNCTIONAL = ("relu", "gelu", "silu", "logsigmoid", "softmax", "log_softmax")
"""Functions that are called as ``torch.nn.functional`` functions instead of methods."""
ELEMENTWISE = ("exp", "square", "abs", "sqrt", "cos", "sin", "relu", "gelu", "silu", "sigmoid", "tanh", "log")
OPERATORS: dict[type[ast.operator], Sequence[str]] = {
    ast.Add: "-*/",
    ast.Sub: "+*/",
    ast.Mult: ("/", "+", "-"),
    ast.Div: ("*", "//", "-", "+"),
    ast.FloorDiv: "/*%",
    ast.Mod: ("//",),
    ast.Pow: "*/",
    ast.MatMult: "*",
    ast.BitAnd: "|",
    ast.BitOr: "&",
}
COMPARISONS: dict[type[ast.cmpop], Sequence[str]] = {
    ast.Lt: ("<=", ">", ">="),
    ast.LtE: ("<", ">", ">="),
    ast.Gt: (">=", "<", "<="),
    ast.GtE: (">", "<", "<="),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
}
INDEX_ENDINGS = {
    **{"0::2": ("1::2", "::1"), "1::2": ("0::2",), "::2": ("1::2",), "-1:": ("-1", ":1", "-2:"), ":1": ("-1:", ":")},
    **{":-1": (":", "1:", ":-2"), "1:": (":", ":-1", "2:"), ":, None": ("None, :",), "None, :": (":, None",)},
    **{"None": (":",), "-1": ("0",), "0": ("-1", "1")},
}
"""Wrong endings of an index, for each correct ending."""

"""Lay out the page in portrait A4, with coordinates in inches."""

from collections.abc import Mapping

from authoring.page_to_keep.counts import Costs, costs_of_three_models
from authoring.page_to_keep.drawings import inside_attention, modern_block, transformer
from authoring.page_to_keep.formulas import FORMULAS
from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import GRAY

LEFT, RIGHT = 0.4, 7.87
MIN_FONT_PT = 5.5
TITLE_FONT_PT = 11.0
HEADING_FONT_PT = 7.0
FORMULA_FONT_PT, NAME_FONT_PT, TABLE_FONT_PT = 8.0, 6.4, 5.9
"""Font sizes of formulas, their names and the table, in points. Subscripts are 0.7 times the size of their formula."""
COLUMNS = 3
LEGEND = """b texts in a batch, n tokens in each, V tokens in the vocabulary;
d = d_model, h heads of width d_k; N parameters, D tokens of training.
A thick line is the residual stream, two digits are a lesson."""
PARAMETER_COUNTS = {
    "embedding": "V d  (tied: the output's, too)",
    "positions": "n_max d if learned; sinusoids, RoPE: 0",
    "self-attention": "4 (d² + d) a layer;  grouped: 2 d² (1 + h_kv / h)",
    "cross-attention": "4 (d² + d) a decoder layer",
    "feed-forward": "2 d d_ff + d_ff + d a layer;  SwiGLU: 3 d d_ff",
    "norms": "LayerNorm 2 d, RMSNorm d",
    "output": "V d if not tied",
}
"""Formula for each part's number of parameters."""


def page() -> Diagram:
    """Draw the whole page."""
    d = Diagram(_in_words(), lists=False)
    d.text("The Transformer on one page", (LEFT, 11.35), size=TITLE_FONT_PT, align="left", bold=True)
    d.text(LEGEND, (LEFT, 11.02), size=MIN_FONT_PT, align="left")
    d.place(transformer(), 1.72, 7.5)
    d.text("What a block of today changes", (5.45, 11.35), size=HEADING_FONT_PT, align="left", bold=True)
    d.place(modern_block(), 6.65, 7.85)
    d.text("inside every\nattention", (LEFT, 7.07), size=MIN_FONT_PT, align="left")
    d.place(inside_attention(), 1.15, 7.1)
    _formulas(d, 6.82)
    _counts(d, 2.2, costs_of_three_models())
    return d


def _rule(d: Diagram, y: float) -> None:
    d.path([(LEFT, y), (RIGHT, y)], head=False, color=GRAY)


def _formulas(d: Diagram, y: float) -> None:
    """Draw the formulas in columns, each below its name and lesson number."""
    _rule(d, y)
    rows = -(-len(FORMULAS) // COLUMNS)
    for i, formula in enumerate(FORMULAS):
        column, row = divmod(i, rows)
        x, top = LEFT + column * (RIGHT - LEFT) / COLUMNS, y - 0.14 - 0.445 * row
        d.text(f"{formula.name}  {formula.lesson:02}", (x, top), size=NAME_FONT_PT, align="left", bold=True)
        d.text(formula.tex, (x + 0.06, top - 0.18), size=FORMULA_FONT_PT, align="left")


def _counts(d: Diagram, y: float, models: Mapping[str, Costs]) -> None:
    """Draw the table of sizes, parameters and operations."""
    _rule(d, y + 0.1)
    columns = [4.95, 6.32, RIGHT]
    lines: list[tuple[str, str, list[str]]] = [
        ("parameters and operations", "", list(models)),
        ("sizes", "V, d, layers, h (h_kv), d_ff", [_sizes(costs) for costs in models.values()]),
    ]
    for part, formula in PARAMETER_COUNTS.items():
        lines.append((part, formula, [f"{costs.parameters[part]:,}" for costs in models.values()]))
    all_costs = list(models.values())
    lines += [
        ("all parameters, N", "", [f"{costs.total:,}" for costs in all_costs]),
        (
            "forward, one token",
            "2 × matrices + 4 d n an attention; base: a pair of tokens",
            [f"{costs.flops / 1e9:.2f}·10⁹ + {costs.flops_per_attended_token:,} n" for costs in all_costs],
        ),
        (
            "cache, one token",
            "2 layers h_kv d_k × 2 bytes",
            [f"{costs.cache_bytes:,} bytes" for costs in all_costs],
        ),
    ]
    for i, (name, formula, values) in enumerate(lines):
        at, strong = y - 0.125 * i, i == 0 or name.startswith("all")
        d.text(name, (LEFT, at), size=TABLE_FONT_PT, align="left", bold=strong)
        d.text(formula, (1.55, at), size=TABLE_FONT_PT, align="left")
        for x, value in zip(columns, values, strict=True):
            d.text(value, (x, at), size=TABLE_FONT_PT, align="right", bold=strong)


def _sizes(costs: Costs) -> str:
    sizes = costs.sizes
    grouped = f" ({sizes['n_kv_heads']})" if sizes["n_kv_heads"] != sizes["n_heads"] else ""
    return (
        f"{sizes['vocab_size']:,}, {sizes['d_model']:,}, {sizes['n_layers']}, {sizes['n_heads']}{grouped}, "
        f"{sizes['d_ff']:,}"
    )


def _in_words() -> str:
    """Describe the page for readers who cannot see it."""
    formulas = "; ".join(f"{formula.name} ({formula.lesson:02})" for formula in FORMULAS)
    parameters = "; ".join(f"{name} {costs.total:,}" for name, costs in costs_of_three_models().items())
    return (
        "One page. Above, the Transformer with the shapes on its arrows, what happens inside every attention, and what "
        f"a block of today changes.\nFormulas, with their lessons: {formulas}.\nParameters: {parameters}."
    )

"""Draw the encoder layer of 2017 next to the block of Llama, and the new parts of Llama's block in detail."""

from collections.abc import Sequence
from itertools import pairwise

from transformer_course.diagrams.canvas import Diagram, beside
from transformer_course.diagrams.elements import BLUE, FONT_SIZE_PT, GRAY, GREEN, ORANGE, PINK, Area, Box

COLUMN_WIDTH = 1.15


def blocks() -> Diagram:
    """Draw the layer of the original paper next to a modern block, from bottom to top."""
    d = Diagram(
        "Two blocks, from the bottom to the top. Left, the encoder layer of 2017: attention and feed-forward network, "
        "each added to the residual stream and then normalized by LayerNorm; positions are added at the "
        "bottom. Right, the block of Llama: RMSNorm before each sublayer, queries and keys that are rotated by RoPE, "
        "fewer heads of keys and values, SwiGLU. In gray, the norms of queries and keys of Qwen 3."
    )
    _block_of_2017(d, 0.0)
    _block_of_today(d, 4.4)
    return d


def _block_of_2017(d: Diagram, x: float) -> None:
    stream = d.box("x + positions", (x, 0), PINK)
    attention = d.box("w_q, w_k, w_v", (x - 1.5, 0.95), BLUE)
    softmax = d.box("softmax(q kᵀ / √d_k) v", (x - 1.5, 1.9), BLUE)
    w_o = d.box("w_o", (x - 1.5, 2.5), BLUE)
    plus_1 = d.plus((x, 2.95))
    norm_1 = d.box("LayerNorm", (x, 3.4))
    network = _column(d, x - 1.5, 4.1, ("w_1", "ReLU", "w_2"))
    plus_2 = d.plus((x, network[-1].y + 0.45))
    norm_2 = d.box("LayerNorm", (x, plus_2.y + 0.45))
    d.path([(x, 0.7), (attention.x, 0.7), attention.bottom])
    d.arrow(attention, softmax)
    d.arrow(softmax, w_o)
    d.path([w_o.top, (w_o.x, plus_1.y), plus_1.left])
    d.path([stream.top, plus_1.bottom], thick=True)
    d.arrow(plus_1, norm_1, thick=True)
    d.path([(x, 3.72), (network[0].x, 3.72), network[0].bottom])
    d.path([network[-1].top, (network[-1].x, plus_2.y), plus_2.left])
    d.path([norm_1.top, plus_2.bottom], thick=True)
    d.arrow(plus_2, norm_2, thick=True)
    d.frame("2017", [attention, softmax, w_o, *network, plus_1, norm_1, plus_2, norm_2], pad=0.16)


def _block_of_today(d: Diagram, x: float) -> None:
    stream = d.box("x", (x, 0), PINK)
    norm_1 = d.box("RMSNorm", (x - 1.6, 0.5))
    letters = ("w_q", "w_k", "w_v")
    columns = [x - 1.6 + 0.75 * (i - 1) for i in range(3)]
    projections = [d.box(name, (at, 1.05), BLUE) for name, at in zip(letters, columns, strict=True)]
    norms = [d.box(name, (at, 1.5), look="dimmed") for name, at in zip(("q_norm", "k_norm"), columns, strict=False)]
    turns = [d.box("RoPE", (at, 1.95), PINK) for at in columns[:2]]
    softmax = d.box("softmax(q kᵀ / √d_k) v", (x - 1.6, 2.5), BLUE, note="fewer heads of k and v")
    w_o = d.box("w_o", (x - 1.6, 3.1), BLUE)
    plus_1 = d.plus((x, 3.45))
    norm_2 = d.box("RMSNorm", (x - 1.6, 3.92))
    gate = d.box("w_gate", (x - 2.05, 4.4), GREEN)
    silu = d.box("SiLU", (x - 2.05, 4.85), GREEN)
    up = d.box("w_up", (x - 1.15, 4.4), GREEN)
    times = d.box("⊙", (x - 1.6, 5.3), GREEN, outline="round", width=0.26, height=0.26)
    down = d.box("w_down", (x - 1.6, 5.75), GREEN)
    plus_2 = d.plus((x, 6.1))
    d.path([(x, 0.27), (norm_1.x, 0.27), norm_1.bottom])
    for projection in projections:
        d.arrow(norm_1.top, projection.bottom)
    for projection, norm, turn in zip(projections, norms, turns, strict=False):
        d.arrow(projection, norm)
        d.arrow(norm, turn)
    for turn in turns:
        d.arrow(turn, softmax.spot(0.5 + (turn.x - softmax.x) / softmax.width, 0))
    d.arrow(projections[2], softmax.spot(0.5 + (columns[2] - softmax.x) / softmax.width, 0))
    d.arrow(softmax, w_o)
    d.path([w_o.top, (w_o.x, plus_1.y), plus_1.left])
    d.path([stream.top, plus_1.bottom], thick=True)
    d.path([(x, 3.7), (norm_2.x, 3.7), norm_2.bottom])
    for projection in (gate, up):
        d.arrow(norm_2.top, projection.bottom)
    d.arrow(gate, silu)
    d.arrow(silu.top, times)
    d.arrow(up.top, times)
    d.arrow(times, down)
    d.path([down.top, (down.x, plus_2.y), plus_2.left])
    d.path([plus_1.top, plus_2.bottom], thick=True)
    d.path([plus_2.top, (x, 6.55)], thick=True)
    inside = [norm_1, *projections, *norms, *turns, softmax, w_o, plus_1, norm_2, gate, silu, up, times, down, plus_2]
    d.frame("today", inside, pad=0.16)


def _column(d: Diagram, x: float, y: float, names: Sequence[str]) -> list[Box]:
    """Draw a column of boxes with arrows between them."""
    boxes = [d.box(name, (x, y + 0.48 * i), GREEN) for i, name in enumerate(names)]
    for lower, upper in pairwise(boxes):
        d.arrow(lower, upper)
    return boxes


def gated() -> Diagram:
    """Draw SwiGLU from left to right, with the widths of its vectors."""
    d = Diagram(
        "x goes through two projections side by side. One of them, after SiLU, is the gate: it is multiplied, feature "
        "by feature, with the other, and w_down projects the product."
    )
    x = d.box("x", (0, 0), outline="square", look="outlined", note="(d_model)")
    gate, silu = d.box("w_gate", (1.4, 0.4), GREEN), d.box("SiLU", (2.9, 0.4), GREEN, note="the gate")
    up = d.box("w_up", (1.4, -0.4), GREEN)
    times = d.box("⊙", (4.1, 0), GREEN, outline="round", width=0.26, height=0.26)
    down = d.box("w_down", (5.3, 0), GREEN)
    output = d.box("output", (6.6, 0), outline="square", look="outlined", note="(d_model)")
    for branch in (gate, up):
        d.path([x.right, (0.7, 0), (0.7, branch.y), branch.left])
    d.arrow(gate, silu, "(d_ff)", label_shift=(0, 0.17))
    d.path([silu.right, (times.x, silu.y), times.top])
    d.path([up.right, (times.x, up.y), times.bottom], "(d_ff)", label_at=0.3, label_shift=(0, 0.17))
    d.arrow(times, down, "(d_ff)", label_shift=(0, 0.17))
    d.arrow(down, output)
    return d


def latent() -> Diagram:
    """Draw one head of latent attention, computed in two ways: with keys and values, and with a projected query."""
    return beside(
        _with_keys(n=4),
        _without_keys(n=4),
        titles=("keys and values are made", "no keys, no values"),
        cross_out=False,
        gap=1.0,
    )


def _with_keys(n: int) -> Diagram:
    d = Diagram(
        "The cache holds one latent vector for each token. Head h makes a key and a value of each of them, with w_k[h] "
        "and w_v[h], and the query of the new token attends to these."
    )
    cache = _latent_vectors(d, n)
    softmax = d.box("softmax(q kᵀ / √d) v", (0, 2.65), BLUE, width=2.2)
    q = d.box("q", (-1.75, 2.65), BLUE)
    for letter, at in (("k", -0.8), ("v", 0.8)):
        layer = d.box(f"w_{letter}[h]", (at, 1.0), BLUE)
        projected = d.cells([[f"{letter}{i}" for i in range(n)]], (at, 1.8), cell=0.34, fill=BLUE)
        d.path([cache.spot(0.5 + at / 4 / cache.width, 1), layer.bottom])
        d.arrow(layer, projected)
        d.path([projected.top, softmax.spot(0.5 + at / softmax.width, 0)])
    d.arrow(q, softmax)
    d.arrow(softmax, d.box("output of head h", (0, 3.4), look="outlined", outline="square"))
    return d


def _without_keys(n: int) -> Diagram:
    d = Diagram(
        "The query is projected by w_k[h], transposed, and attends to the latent vectors themselves, as keys and as "
        "values; w_v[h] projects their average."
    )
    cache = _latent_vectors(d, n)
    softmax = d.box("softmax(q′ cᵀ / √d) c", (0, 1.0), BLUE, width=2.2)
    q = d.box("q", (-1.75, 0), BLUE)
    w_k = d.box("w_k[h]ᵀ", (-1.75, 1.0), BLUE, note="gives q′")
    w_v = d.box("w_v[h]", (0, 1.8), BLUE)
    d.arrow(cache, softmax)
    d.arrow(q, w_k)
    d.arrow(w_k, softmax)
    d.arrow(softmax, w_v)
    d.arrow(w_v, d.box("output of head h", (0, 2.65), look="outlined", outline="square"))
    return d


def _latent_vectors(d: Diagram, n: int) -> Area:
    """Draw the cache: the latent vectors of n tokens. The last token is new."""
    cache = d.cells([[f"c{i}" for i in range(n)]], (0, 0), cell=0.36, fill=[[GRAY] * (n - 1) + [PINK]])
    d.text(f"the cache; c{n - 1} is new", (0, -0.35), size=FONT_SIZE_PT - 1)
    return cache


def rotary_pairs() -> Diagram:
    """Draw the rows of one head's matrix in the order of the file and of the library, with a color per RoPE pair."""
    cell, colors = 0.5, (BLUE, ORANGE, GREEN, PINK)
    half = len(colors)
    d_k = 2 * half
    d = Diagram(
        "The rows of w_q for one head. In the hub's file a row makes a pair with the row half a head after it; sorted, "
        "both stand beside each other, as your RoPE expects."
    )
    order = [row for pair in range(half) for row in (pair, pair + half)]
    theirs = d.cells(
        [range(d_k)], (0, 0), cell=cell, fill=[[colors[row % half] for row in range(d_k)]], row_names=["in the file"]
    )
    ours = d.cells([order], (0, -1.2), cell=cell, fill=[[colors[row % half] for row in order]], row_names=["yours"])
    for place, row in enumerate(order):
        d.path([theirs.spot((row + 0.5) / d_k, 0), ours.spot((place + 0.5) / d_k, 1)])
    d.text("one color: one pair, rotated together", (0, -1.75), size=FONT_SIZE_PT - 1)
    return d


def experts() -> Diagram:
    """Draw a mixture of experts for one token. Only the experts that the router chooses are computed."""
    n_experts, chosen = 4, (0, 2)
    d = Diagram(
        f"One token and {n_experts} experts. The router chooses {len(chosen)} of them; the output is the sum of what "
        "these return, each times its weight. The others are not computed."
    )
    middle = COLUMN_WIDTH * (n_experts - 1) / 2
    token = d.box("one token", (middle, 0), outline="square", look="outlined")
    router = d.box("router", (-1.2, 1.0), GRAY, note="scores, top k")
    networks = [
        d.box(f"expert {i}", (COLUMN_WIDTH * i, 1.0), GREEN, "filled" if i in chosen else "dimmed")
        for i in range(n_experts)
    ]
    plus = d.plus((middle, 2.1))
    output = d.box("output", (middle, 2.6), outline="square", look="outlined")
    d.path([token.left, (router.x, token.y), router.bottom])
    for i in chosen:
        d.arrow(token.top, networks[i].bottom)
        d.arrow(networks[i].top, plus, f"× weight {i}")
    lane = plus.y
    d.path([router.top, (router.x, lane), plus.left], "weights", dashed=True)
    d.arrow(plus, output)
    return d


def low_rank() -> Diagram:
    """Draw a frozen linear layer next to the two small matrices of LoRA."""
    d_in, d_out, rank = 48, 48, 2
    small, large = rank * (d_in + d_out), d_in * d_out
    d = Diagram(
        f"x goes through a frozen linear layer of {large:,} numbers and, beside it, through a and b, which are trained "
        f"and have {small:,}; the results are added."
    )
    x = d.box("x", (0.9, 0), outline="square", look="outlined", note=f"({d_in})")
    linear = d.box("linear (frozen)", (0, 1.2), GRAY, note=f"({d_out}, {d_in})", width=1.3, height=1.0)
    a = d.box("a", (1.9, 0.85), BLUE, note=f"({rank}, {d_in})", width=1.0)
    b = d.box("b", (1.9, 1.55), BLUE, note=f"({d_out}, {rank}), zeros at first", width=1.7)
    plus = d.plus((0.9, 2.15))
    output = d.box("output", (0.9, 2.7), outline="square", look="outlined", note=f"({d_out})")
    sides: tuple[Area, Area] = (linear, a)
    for side in sides:
        d.path([(0.9, 0.36), (side.x, 0.36), side.bottom])
    d.path([x.top, (0.9, 0.36)], head=False)
    d.arrow(a, b, f"{rank} numbers")
    d.path([linear.top, (linear.x, plus.y), plus.left])
    d.path([b.top, (b.x, plus.y), plus.right], "× α / r", label_at=0.75)
    d.arrow(plus, output)
    d.text(f"{small:,} numbers instead of {large:,}", (2.2, 2.7), size=FONT_SIZE_PT - 1, align="left")
    return d

"""Draw attention as a lookup: queries and keys as arrows, a vector before and after attention, and one head.

All numbers on the diagrams are computed from the tensors passed in.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import hypot

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import BLUE, FONT_SIZE_PT, GRAY, ORANGE, Align, Cells, Spot

INCHES_PER_UNIT = 0.85
CELL_SIZE = (0.42, 0.27)
TABLE_GAP = 0.74


def arrows(
    query: Float[Tensor, "2"],
    keys: Float[Tensor, "n_key 2"],
    query_name: str,
    key_names: Sequence[str],
    axis_names: tuple[str, str],
) -> Diagram:
    """Draw a query and keys as arrows from the origin, and write the dot product next to each key.

    A dashed line projects each key onto the query. The length of the projection times the length of the query is the
    dot product.

    Args:
        query: The query vector.
        keys: A row for each key.
        query_name: The name of the query.
        key_names: The names of the keys.
        axis_names: Names of the two dimensions.

    Raises:
        ValueError: The query is 0, or the numbers of names and keys differ.
    """
    if len(key_names) != len(keys):
        raise ValueError(
            f"key_names must have one name per key; got {len(keys)} keys and {len(key_names)} names: "
            f"{', '.join(key_names)}"
        )
    length = hypot(*query.tolist())
    if not length:
        raise ValueError("the query must not be 0, because a zero vector has no direction")
    scores = dict(zip(key_names, (keys @ query).tolist(), strict=True))
    listed = ", ".join(f"{name} {score:.1f}" for name, score in scores.items())
    d = Diagram(
        f"The query {query_name} and the keys as arrows in the plane; the dot products are {listed}. A key scores high "
        f"if it is long in the direction of the query."
    )
    corner = torch.cat([query[None], keys]).clamp(min=0).amax(dim=0) + 0.35
    right, up = (corner * INCHES_PER_UNIT).tolist()
    d.path([(0, 0), (right, 0)], color=GRAY)
    d.path([(0, 0), (0, up)], color=GRAY)
    d.text(axis_names[0], (right + 0.08, 0), size=8, align="left")
    d.text(axis_names[1], (0, up + 0.1), size=8)
    for name, key in zip(key_names, keys, strict=True):
        foot = (key @ query / length**2) * query
        d.path([_at(key), _at(foot)], head=False, dashed=True, color=GRAY)
        d.path([(0, 0), _at(key, name)], color=ORANGE)
    d.path([(0, 0), _at(query, query_name)], color=BLUE)
    _label(d, f"{query_name} (query)", query, (0.0, -0.14, "center"))
    for (name, score), key in zip(scores.items(), keys, strict=True):
        _label(d, f"{name}: {query_name} · {name} = {score:.1f}".replace("-", "−"), key)
    return d


def moved(
    name: str,
    before: Float[Tensor, "2"],
    after: Mapping[str, Float[Tensor, "2"]],
    neighbors: Mapping[str, Float[Tensor, "2"]],
    axis_names: tuple[str, str],
) -> Diagram:
    """Draw a vector before attention, and after it in each of several texts.

    Args:
        name: The word that the vector represents.
        before: The vector before attention, the same in every text.
        after: The vector after attention in each text.
        neighbors: The vectors that the word attends to, keyed by name.
        axis_names: Names of the two dimensions.

    Raises:
        ValueError: ``after`` is empty.
    """
    if not after:
        raise ValueError("`after` must contain at least one text")
    ends = ", ".join(f"({x:.1f}, {y:.1f}) in {text!r}" for text, (x, y) in ((t, v.tolist()) for t, v in after.items()))
    x, y = before.tolist()
    d = Diagram(f"The vector of {name!r} is ({x:.1f}, {y:.1f}) in every text. After attention it is {ends}.")
    corner = torch.stack([before, *after.values(), *neighbors.values()]).clamp(min=0).amax(dim=0) + 0.35
    right, up = (corner * INCHES_PER_UNIT).tolist()
    d.path([(0, 0), (right, 0)], color=GRAY)
    d.path([(0, 0), (0, up)], color=GRAY)
    d.text(axis_names[0], (right + 0.08, 0), size=8, align="left")
    d.text(axis_names[1], (0, up + 0.1), size=8)
    for word, vector in neighbors.items():
        d.path([(0, 0), _at(vector, word)], color=ORANGE)
    d.path([(0, 0), _at(before, name)], color=GRAY)
    for text, vector in after.items():
        d.path([(0, 0), _at(vector, text)], color=BLUE)
        d.path([_at(before, name), _at(vector, text)], color=BLUE, dashed=True)
    for text, vector in after.items():
        _label(d, f"{name} in {text!r}", vector)
    for word, vector in neighbors.items():
        _label(d, word, vector)
    _label(d, f"{name}, alone", before, (0.0, -0.34, "left"))
    return d


def one_head(
    queries: Float[Tensor, "n_query d_k"],
    keys: Float[Tensor, "n_key d_k"],
    values: Float[Tensor, "n_key d_v"],
    query_names: Sequence[str] = (),
    key_names: Sequence[str] = (),
    divisor: float = 1.0,
) -> Diagram:
    """Draw attention as tables of numbers: queries and keys, scores, weights, values, output.

    Args:
        queries: A row for each query.
        keys: A row for each key.
        values: The value of each key, as a row.
        query_names: Names of the queries.
        key_names: Names of the keys.
        divisor: The divisor of the scores, such as √d_k. The division is drawn unless it is 1.

    Raises:
        ValueError: The number of names differs from the number of queries or keys.
    """
    for kind, names, n in (("queries", query_names, len(queries)), ("keys", key_names, len(keys))):
        if names and len(names) != n:
            raise ValueError(f"there must be one name for each of the {n} {kind}; got {len(names)}: {', '.join(names)}")
    scores = queries @ keys.mT
    weights = torch.softmax(scores / divisor, dim=-1)
    scaled = divisor != 1
    d = Diagram(
        "One attention head with its numbers. Each score is the dot product of a query and a key"
        f"{f'; the scores are divided by {divisor:.3g}' if scaled else ''}; softmax turns each row of scores into "
        "weights; each row of the output is the average of the values with these weights."
    )
    digits = 0 if torch.equal(values, values.round()) else 1
    low = -0.6 - (len(queries) + len(keys)) / 2 * CELL_SIZE[1]
    margin = 0.085 * max(map(len, [*key_names, ""]))

    def put(matrix: Tensor, left: float, y: float, **looks: object) -> Cells:
        return d.cells(matrix, (left + matrix.shape[1] * CELL_SIZE[0] / 2, y), cell=CELL_SIZE, **looks)  # type: ignore[arg-type]

    named = {"column_names": key_names} if key_names else {}
    q = put(queries, 0, 0, name="queries Q", row_names=query_names, fill=BLUE)
    k = put(keys, 0, low, name="keys K", row_names=key_names, fill=ORANGE)
    steps = [put(scores, q.right.x + TABLE_GAP, 0, name="scores Q Kᵀ", **named)]
    if scaled:
        steps.append(put(scores / divisor, steps[-1].right.x + TABLE_GAP, 0, name="scaled", **named))
    table = put(weights, steps[-1].right.x + TABLE_GAP, 0, name="weights", digits=2, fill=weights, **named)
    v = put(values, table.left.x + margin, low, name="values V", digits=digits, row_names=key_names, fill=ORANGE)
    out = put(weights @ values, table.right.x + TABLE_GAP, 0, name="output", digits=digits)
    d.arrow(q, steps[0], "q · k")
    d.arrow(k, steps[0], route="-|")
    for one, other in pairwise(steps):
        d.arrow(one, other, f"÷ {divisor:.3g}")
    d.arrow(steps[-1], table, "softmax")
    d.arrow(table, out, "average")
    d.arrow(v, out, route="-|")
    return d


def _at(vector: Tensor, name: str = "") -> Spot:
    x, y = (vector * INCHES_PER_UNIT).tolist()
    return Spot(x, y, name)


def _label(d: Diagram, words: str, vector: Tensor, *first: tuple[float, float, Align]) -> None:
    """Write a label at the tip of an arrow, at the first position without overlaps."""
    x, y, _ = _at(vector)
    places: list[tuple[float, float, Align]] = [*first, (0.08, 0.02, "left"), (0.0, 0.16, "center")]
    places += [(0.08, sign * 0.1 * i, "left") for sign in (1, -1) for i in range(1, 9)]
    places += [(-0.08, 0.1 * i, "right") for i in range(9)]
    for dx, dy, align in places:
        label = d.text(words, (x + dx, y + dy), size=FONT_SIZE_PT - 1, align=align)
        if not any(words in flaw for flaw in d.flaws()) or (dx, dy, align) == places[-1]:
            return
        d.elements.remove(label)

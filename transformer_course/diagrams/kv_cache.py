"""Draw KV caches: the entries at each step, speculative decoding, heads that share keys and values, and pages."""

from collections.abc import Mapping, Sequence

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import BLUE, FONT_SIZE_PT, GRAY, PINK, Box, Cells

CELL_SIZE = 0.46
ROW_HEIGHT = 0.72
HEAD_WIDTH = 0.58


def steps(tokens: Sequence[str], n_prompt: int) -> Diagram:
    """Draw the cache after the prompt and after each new token, with the next predicted token.

    Args:
        tokens: The prompt and the generated tokens. The last token is predicted but not read.
        n_prompt: Number of tokens in the prompt.

    Raises:
        ValueError: The prompt is empty, or nothing is generated.

    >>> [table.texts for table in steps(["<", "R", "e"], n_prompt=1).tables]
    [(('<',),), (('<', 'R'),)]
    """
    if not 0 < n_prompt < len(tokens):
        raise ValueError(f"n_prompt must be from 1 to {len(tokens) - 1} for {len(tokens)} tokens; got {n_prompt}")
    d = Diagram(
        "A row for each pass, with the tokens whose keys and values are in the cache after it. Prefill computes those "
        "of the whole prompt, and each pass of decode those of one token, which was predicted by the pass before. All "
        "others are kept."
    )
    right = (len(tokens) - 1) * CELL_SIZE + 1.15
    predicted: Box | None = None
    for step, n in enumerate(range(n_prompt, len(tokens))):
        n_new = n_prompt if step == 0 else 1
        fill = [[GRAY] * (n - n_new) + [BLUE] * n_new]
        at = n * CELL_SIZE / 2, -step * ROW_HEIGHT
        row = d.cells([tokens[:n]], at, cell=CELL_SIZE, fill=fill, row_names=["prefill" if step == 0 else "decode"])
        if predicted is not None:
            new = row.spot(1 - 0.5 / n, 1)
            lane = (predicted.bottom.y + new.y) / 2
            d.path([predicted.bottom, (right, lane), (new.x, lane), new], color=GRAY, dashed=True)
        predicted = d.box(tokens[n], (right, at[1]), look="outlined", outline="square", width=0.4, height=0.3)
        d.arrow(row, predicted, f"{n_new} quer{'y' if n_new == 1 else 'ies'}", label_at=0.45)
    d.text("keys and values in the cache", (0, 0.42), align="left", bold=True)
    d.text("next", (right, 0.42), bold=True)
    _legend(d, len(tokens) - n_prompt, {"computed in this pass": (0.0, BLUE), "kept": (1.9, GRAY)})
    return d


def drafts(text: str, passes: Sequence[tuple[str, int, str]]) -> Diagram:
    """Draw passes of speculative decoding: drafted tokens, accepted tokens, and the token that follows them.

    Args:
        text: The tokens so far.
        passes: For each pass, the drafted tokens, the number of accepted tokens, and the token that follows them.

    >>> [table.texts for table in drafts("G", [("er", 1, "n"), ("er", 2, "a")]).tables]
    [(('G', 'e', 'r'),), (('G', 'e', 'n', 'e', 'r'),)]
    """
    d = Diagram(
        "A row for each pass: the text so far, and the drafted tokens. Those before the first rejection are accepted; "
        "the rejected one is replaced, and those behind it are dropped. If all are accepted, there is one token more."
    )
    right = (len(text) + sum(len(drafted) for drafted, _, _ in passes) + 1) * CELL_SIZE
    for step, (drafted, n, following) in enumerate(passes):
        fill = [[GRAY] * len(text) + [BLUE] * n + [PINK, *[None] * len(drafted)][: len(drafted) - n]]
        at = (len(text) + len(drafted)) * CELL_SIZE / 2, -step * ROW_HEIGHT
        row = d.cells([text + drafted], at, cell=CELL_SIZE, fill=fill, row_names=[f"pass {step + 1}"])
        box = d.box(following, (right, at[1]), look="outlined", outline="square", width=0.4, height=0.3)
        d.arrow(row, box, "one more" if n == len(drafted) else f"instead of {drafted[n]}", label_at=0.45)
        text += drafted[:n] + following
    words = {"text so far": (0.0, GRAY), "accepted": (1.2, BLUE), "rejected": (2.2, PINK), "dropped": (3.2, None)}
    _legend(d, len(passes), words)
    return d


def _legend(d: Diagram, n_rows: int, words: Mapping[str, tuple[float, str | None]]) -> None:
    """Draw a legend below the rows: for each word, its x position and its color."""
    below = 0.24 - n_rows * ROW_HEIGHT
    for word, (x, color) in words.items():
        d.swatch(word, (x, below), color)


def shared_heads(n_heads: int, n_kv_heads: Sequence[int]) -> Diagram:
    """Draw which query heads share keys and values, for several numbers of key/value heads side by side.

    Args:
        n_heads: Number of query heads.
        n_kv_heads: The numbers of key/value heads to draw. Each must divide ``n_heads``.

    Raises:
        ValueError: A number of key/value heads does not divide ``n_heads``.

    >>> sorted(shared_heads(2, [1]).links())
    [('q0', 'k0, v0'), ('q1', 'k0, v0')]
    """
    if wrong := [n for n in n_kv_heads if n < 1 or n_heads % n]:
        raise ValueError(f"n_kv_heads must divide n_heads; got n_heads={n_heads}, n_kv_heads={wrong[0]}")
    d = Diagram("Query heads above the keys and values they use: each has its own, a group shares them, or all do.")
    for panel, n in enumerate(n_kv_heads):
        left = panel * (n_heads * HEAD_WIDTH + 0.5)
        middle = left + (n_heads - 1) * HEAD_WIDTH / 2
        group = n_heads // n
        name = "multi-head" if n == n_heads else "multi-query" if n == 1 else "grouped-query"
        d.text(name, (middle, 1.55), bold=True)
        kept = [
            d.box(
                f"k{i}, v{i}",
                (left + ((i + 0.5) * group - 0.5) * HEAD_WIDTH, 0),
                GRAY,
                size=FONT_SIZE_PT - 1,
                width=0.5,
            )
            for i in range(n)
        ]
        for i in range(n_heads):
            query = d.box(f"q{i}", (left + i * HEAD_WIDTH, 1.1), BLUE, size=FONT_SIZE_PT - 1, width=0.36)
            d.path([query.bottom, kept[i // group].top])
        d.text(f"the cache: {n} of {n_heads}", (middle, -0.34), size=FONT_SIZE_PT - 1)
    return d


def pages(n_tokens: Sequence[int], room: int, page: int) -> Diagram:
    """Draw the caches of several texts twice: with space reserved for the longest text, and with pages.

    The texts take turns growing by one token. A text whose last page is full takes the next free page.

    Args:
        n_tokens: Number of tokens in each text; there must be at least two texts.
        room: Number of tokens reserved for each text.
        page: Number of tokens in a page.

    Raises:
        ValueError: A text is longer than the space reserved for it.

    >>> pages([3, 1], room=4, page=2).tables[-1].texts
    (('A0', 'A1'), ('B0', ''), ('A2', ''))
    """
    if max(n_tokens) > room:
        raise ValueError(f"room must be at least the length of the longest text, {max(n_tokens)} tokens; got {room}")
    d = Diagram(
        "Left: each text has room for the longest possible, and most of it is empty. Right: memory is handed out in "
        "pages; a table for each text says where its pages are."
    )
    names = [chr(ord("A") + i) for i in range(len(n_tokens))]
    colors = (BLUE, GRAY, PINK)
    owners = _page_owners(n_tokens, page)
    height, cell = 0.3, (0.38, 0.3)
    width = room * cell[0]
    for i, (name, n) in enumerate(zip(names, n_tokens, strict=True)):
        row = [f"{name}{j}" if j < n else "" for j in range(room)]
        fill = [[colors[i % 3] if text else None for text in row]]
        d.cells([row], (width / 2, -i * 0.55), cell=cell, fill=fill, row_names=[f"text {name}"])
    d.text("room reserved for each text", (width / 2, 0.4), bold=True)
    tables: list[Cells] = []
    for i, name in enumerate(names):
        own = [number for number, owner in enumerate(owners) if owner == i]
        at = width + 1.15 + len(own) * cell[0] / 2, -i * 0.55
        tables.append(d.cells([own], at, cell=cell, fill=colors[i % 3], row_names=[f"pages of {name}"]))
    d.text("page tables", (width + 1.15, 0.4), bold=True)
    texts, fills, used = list[list[str]](), list[list[str | float | None]](), [0] * len(names)
    for owner in owners:
        first = used[owner]
        used[owner] = min(first + page, n_tokens[owner])
        texts.append([f"{names[owner]}{j}" if j < used[owner] else "" for j in range(first, first + page)])
        fills.append([colors[owner % 3] if text else None for text in texts[-1]])
    x = max(table.rect.x1 for table in tables) + 1.2
    numbers = [f"page {i}" for i in range(len(owners))]
    at = x, 0.15 - len(owners) * height / 2
    d.cells(texts, at, cell=cell, fill=fills, row_names=numbers)
    d.text("memory", (x, 0.4), bold=True)
    return d


def _page_owners(n_tokens: Sequence[int], page: int) -> list[int]:
    """Return the index of the text that owns each page, in the order in which the pages are allocated."""
    return [i for t in range(0, max(n_tokens), page) for i, n in enumerate(n_tokens) if t < n]

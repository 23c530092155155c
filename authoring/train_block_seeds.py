"""More seeds for lesson 11: its five models with nine seeds at three learning rates, too many to wait for.

``python -m authoring.train_block_seeds`` trains them by the lesson's own code, and writes the losses that the lesson
reads: about three minutes on one core.
"""

import ast
import json
import time
from typing import Any

from notebooks.build import FOLDER as NOTEBOOKS
from notebooks.build import read_source
from transformer_course.stored_models.stored_model import FOLDER

COMMAND = "python -m authoring.train_block_seeds"
FILE = FOLDER / "block-seeds" / "losses.json"
LEARNING_RATES, SEEDS = (0.01, 0.03, 0.1), range(9)
NEEDED = {"RMSNorm", "HeadProjection", "two_matrices", "Block", "Model", "texts", "CHARACTERS", "NUMBER", "training"}
NEEDED |= {"batches", "excerpts", "fit", "CHANGES", "config", "trained"}


def defined(names: set[str], lesson: str = "11_modern_block") -> dict[str, Any]:
    """Execute what a lesson defines by these names, with its imports, and nothing else of it."""
    space: dict[str, Any] = {"__name__": "lesson"}
    for cell in read_source(NOTEBOOKS / "source" / f"{lesson}.py").cells:
        for node in ast.parse(cell.source).body if cell.cell_type == "code" else []:
            if isinstance(node, ast.Import | ast.ImportFrom) or names & _bound(node):
                exec(compile(ast.Module([node], []), cell.id, "exec"), space)
    return space


def _bound(node: ast.stmt) -> set[str]:
    """Return the names that a statement gives a value."""
    if not isinstance(node, ast.Assign | ast.For):
        return {getattr(node, "name", "")}
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def losses(
    rates: tuple[float, ...] = LEARNING_RATES, seeds: range = SEEDS, models: slice = slice(None)
) -> dict[str, dict[str, list[float]]]:
    """Return by rate and model a loss for each seed, with three decimals: more would differ on another machine."""
    lesson = defined(NEEDED)
    return {
        str(rate): {
            name: [round(lesson["trained"](config, seed, rate=rate)[1], 3) for seed in seeds]
            for name, config in list(lesson["configs"].items())[models]
        }
        for rate in rates
    }


if __name__ == "__main__":
    start, found = time.process_time(), losses()
    card = {"command": COMMAND, "cpu_minutes": round((time.process_time() - start) / 60, 1), "losses": found}
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(card) + "\n", encoding="utf-8")

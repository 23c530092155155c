"""The mistakes people really make, as edits of the library's source: ``python -m tests.mutations`` tries them out.

The rows are those of a list of fifty mistakes seen in public tutorials and repositories.
"""

from pathlib import Path

from tests.mutations import attention, generation, layers, models, training
from tests.mutations.mutation import Mutation

PACKAGE = Path(__file__).parents[2] / "transformer_lab"

MUTATIONS: list[tuple[str, Mutation]] = [
    (module, mutation)
    for table in [attention.TABLE, layers.TABLE, models.TABLE, generation.TABLE, training.TABLE]
    for module, mutations in table.items()
    for mutation in mutations
]


def mutated(module: str, mutation: Mutation) -> str:
    """Give the source of a module with the mistake in it.

    Raises:
        ValueError: What is to be replaced is not found exactly once.
    """
    source = (PACKAGE / f"{module}.py").read_text(encoding="utf-8")
    for old, new in mutation.edits.items():
        if (times := source.count(old)) != 1:
            raise ValueError(f"row {mutation.row} ({mutation.mistake}): {module}.py has this {times} times: {old}")
        source = source.replace(old, new)
    return source

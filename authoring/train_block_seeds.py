"""Train lesson 11's five models with nine seeds at three learning rates, and store the losses for the lesson.

``python -m authoring.train_block_seeds`` uses the lesson's own code and takes about three minutes on one core.
"""

from authoring.stored_runs import defined, store_runs
from transformer_course.stored_models.stored_model import FOLDER

COMMAND = "python -m authoring.train_block_seeds"
FILE = FOLDER / "block-seeds" / "losses.json"
LESSON = "11_modern_block"
LEARNING_RATES, SEEDS = (0.01, 0.03, 0.1), range(9)
NEEDED = {"RMSNorm", "HeadProjection", "two_matrices", "Block", "Model", "texts", "CHARACTERS", "NUMBER", "training"}
NEEDED |= {"batches", "excerpts", "fit", "CHANGES", "config", "trained"}


def losses(
    rates: tuple[float, ...] = LEARNING_RATES, seeds: range = SEEDS, models: slice = slice(None)
) -> dict[str, dict[str, list[float]]]:
    """Return the loss of each seed by learning rate and model, rounded to digits that agree between machines."""
    lesson = defined(NEEDED, LESSON)
    return {
        str(rate): {
            name: [round(lesson["trained"](config, seed, rate=rate)[1], 3) for seed in seeds]
            for name, config in list(lesson["configs"].items())[models]
        }
        for rate in rates
    }


if __name__ == "__main__":
    store_runs(FILE, COMMAND, lambda: {"losses": losses()})

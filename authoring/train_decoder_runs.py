"""Train the stored runs for lesson 07: three model families, layer-to-layer decoders, and diffusion models.

``python -m authoring.train_decoder_runs`` uses the lesson's own code and stores the fractions of correct dates for the
lesson. The command takes about ten minutes on one core.
"""

from itertools import product
from typing import Any

import torch

from authoring.stored_runs import defined, store_runs
from transformer_course.stored_models.stored_model import FOLDER

COMMAND = "python -m authoring.train_decoder_runs"
FILE = FOLDER / "decoder-runs" / "accuracy.json"
LESSON, SEEDS = "07_decoder", (0, 1, 2)
NEEDED = {"PAD", "BOS", "EOS", "months", "days", "french", "alphabet", "as_tokens", "sources", "targets", "slashed"}
NEEDED |= {"held_out", "new_sources", "new_targets", "generate", "exact", "train", "seeded", "Translator"}
NEEDED |= {"LayerToLayer", "EncoderOnly", "DecoderOnly", "Unmasker", "unmask"}
MIXES = {"1": (1, 0), "1 : 1": (1, 1), "4 : 1": (4, 1)}
"""Ratio of ISO dates to dates with slashes among the training examples."""
FAMILIES = [("EncoderOnly", 2, 300, formats) for formats in MIXES]
FAMILIES += [
    (model, n_layers, steps, formats)
    for model, n_layers, steps in (
        ("DecoderOnly", 1, 300),
        ("DecoderOnly", 1, 1200),
        ("DecoderOnly", 2, 300),
        ("Translator", 1, 300),
        ("Translator", 2, 300),
    )
    for formats in ("1", "1 : 1")
]
"""Runs for each model: the model, the number of layers in each stack, the training steps, and the date formats."""
DEPTHS, EXCHANGE_STEPS = (2, 3), (200, 600)
DIFFUSION_STEPS, N_TEXTS = (1, 2, 3, 5, 11), 200


def train_family(
    lesson: dict[str, Any], model: str, n_layers: int, steps: int, formats: str, seed: int
) -> dict[str, Any]:
    """Train a model on dates in one or two formats; return the fraction of held-out dates that match either format."""
    n_iso, n_slashed = MIXES[formats]
    forms = (lesson["targets"],) * n_iso + (lesson["slashed"],) * n_slashed
    right = [lesson["targets"], lesson["slashed"]][: 1 + (n_slashed > 0)]
    trained = lesson["seeded"](seed, lesson[model], n_layers=n_layers)
    lesson["train"](trained, steps=steps, forms=forms)
    found = {}
    for how, sample in (("sampled", True), ("greedy", False)):
        generated = lesson["generate"](trained, lesson["new_sources"], sample=sample)
        fractions = [lesson["exact"](generated, form[lesson["held_out"]][::36]) for form in right]
        found[how] = round(sum(fractions), 3)
    layers = f"{n_layers} + {n_layers}" if model == "Translator" else str(n_layers)
    return {"model": model, "layers": layers, "steps": steps, "formats": formats, "seed": seed, **found}


def train_layer_to_layer(lesson: dict[str, Any], n_layers: int, steps: int, seed: int) -> dict[str, Any]:
    """Train a layer-to-layer model; return its accuracy with all encoder layers and with only the last."""
    model = lesson["seeded"](seed, lesson["LayerToLayer"], n_layers=n_layers)
    lesson["train"](model, steps=steps)
    last_layer_model = lesson["Translator"](n_layers=n_layers)
    last_layer_model.load_state_dict(model.state_dict())
    variants = {"used layer to layer": model, "used last layer": last_layer_model}
    found = {
        variant: round(lesson["exact"](lesson["generate"](decoder, lesson["new_sources"]), lesson["new_targets"]), 3)
        for variant, decoder in variants.items()
    }
    return {"n_layers": n_layers, "steps": steps, "seed": seed, **found}


def train_diffusion(lesson: dict[str, Any], n_formats: int, seed: int, steps: int = 300) -> list[dict[str, Any]]:
    """Train a diffusion model; return the fraction of real dates among its texts for each number of denoising steps."""
    forms = (lesson["targets"], lesson["slashed"])[:n_formats]
    real = {tuple(row) for form in forms for row in form.tolist()}
    model = lesson["seeded"](seed, lesson["Unmasker"])
    lesson["train"](model, shift=False, forms=forms, steps=steps)
    model.eval()
    rows = []
    for n_steps in DIFFUSION_STEPS:
        texts = lesson["unmask"](model, N_TEXTS, n_steps).tolist()
        fraction = sum(tuple(text) in real for text in texts) / N_TEXTS
        rows.append({"formats": n_formats, "seed": seed, "steps": n_steps, "real dates": fraction})
    return rows


def runs(lesson: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Train all models and return their results for each of the lesson's tables."""
    return {
        "exchanged": [train_layer_to_layer(lesson, *setting) for setting in product(DEPTHS, EXCHANGE_STEPS, SEEDS)],
        "families": [train_family(lesson, *family, seed) for family in FAMILIES for seed in SEEDS],
        "diffusion": [row for n in (1, 2) for seed in SEEDS for row in train_diffusion(lesson, n, seed)],
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    store_runs(FILE, COMMAND, lambda: runs(defined(NEEDED, LESSON)))

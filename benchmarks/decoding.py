"""Measure how much time a cache saves per generated token, and how this depends on the length of the text.

Run ``python -m benchmarks.decoding``; README.md explains the table.
"""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import pandas as pd
import torch
import transformers
from torch import Tensor

from benchmarks.clock import median_ratio, take_turns
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig
from transformer_lab.pretrained.load import save_pretrained

LENGTHS = [64, 128, 256, 512, 1024]
"""Lengths of the text, including the token that is read in the timed step."""
SMALL = LanguageModelConfig.gpt2(8000, d_model=512, n_heads=8, d_ff=2048, n_layers=8)
Run = Callable[[], Tensor]


def cached(model: LanguageModel, text: Tensor) -> Run:
    """Return a function that reads the last token of a text, with the earlier tokens in a cache."""
    cache, n = model.new_cache(), text.shape[1]
    model(text, cache)

    def run() -> Tensor:
        cache.truncate(n - 1)
        return model(text[:, n - 1 :], cache)[:, -1]

    return run


def uncached(model: LanguageModel, text: Tensor) -> Run:
    """Return a function that reads the whole text again."""
    return lambda: model(text)[:, -1]


def cached_by_transformers(model: transformers.PreTrainedModel, text: Tensor) -> Run:
    """Return a function that reads the last token as ``generate`` in ``transformers`` does, with its own cache."""
    n = text.shape[1]
    cache = model(text, use_cache=True).past_key_values

    def run() -> Tensor:
        cache.crop(-1)
        return model(text[:, n - 1 :], past_key_values=cache, use_cache=True, logits_to_keep=1).logits[:, -1]

    return run


@torch.no_grad()
def rows(config: LanguageModelConfig, rounds: int) -> Iterator[dict[str, object]]:
    """Time all contestants in turns at all lengths, and yield the medians."""
    model = LanguageModel(config).eval()
    with TemporaryDirectory() as folder:
        save_pretrained(model, Path(folder))
        peer = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    text = torch.randint(config.vocab_size, (1, max(LENGTHS)))
    runs = {
        (name, n): make(contestant, text[:, :n])
        for n in LENGTHS
        for name, make, contestant in (
            ("cached", cached, model),
            ("uncached", uncached, model),
            ("transformers", cached_by_transformers, peer),
        )
    }
    for (_, n), run in runs.items():  # warm up, and check that all contestants predict the same logits
        torch.testing.assert_close(run(), runs["uncached", n](), rtol=0, atol=1e-4)
    times = take_turns(runs, rounds)
    for n in LENGTHS:
        yield {
            "tokens": n,
            "cached, ms": 1000 * median(turn["cached", n] for turn in times),
            "cached / shortest": median_ratio(times, ("cached", n), ("cached", LENGTHS[0])),
            "uncached / cached": median_ratio(times, ("uncached", n), ("cached", n)),
            "transformers / cached": median_ratio(times, ("transformers", n), ("cached", n)),
        }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--gpt2",
        action="store_true",
        help="use a model with GPT-2's 124 million parameters instead of 29 million (takes minutes)",
    )
    parser.add_argument(
        "--rounds", type=int, default=15, help="number of timed runs per implementation at each length (default 15)"
    )
    parser.add_argument("--threads", type=int, default=1, help="number of torch threads (default 1)")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(options.threads)
    config = LanguageModelConfig.gpt2() if options.gpt2 else SMALL
    size = f"d_model {config.d_model}, {config.n_layers} layers"
    print(f"torch {torch.__version__}, CPU, {options.threads} thread(s), float32, {size}, {options.rounds} rounds")
    print(pd.DataFrame(rows(config, options.rounds)).to_string(index=False, float_format="{:.2f}".format))


if __name__ == "__main__":
    main()

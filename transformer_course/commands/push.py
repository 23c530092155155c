"""``transformer-course push``: publish a trained model with a model card, on the hub or in a folder."""

import argparse
from pathlib import Path


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "push",
        help="publish a trained model",
        description="Upload a trained model, its tokenizer and a model card with the training results to the Hugging "
        "Face Hub, using your account from `hf auth login`, or write the same files to a folder.",
        allow_abbrev=False,
    )
    parser.add_argument("-m", "--model", required=True, type=Path, help="the output folder of transformer-course train")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "name", nargs="?", help="the model's name on the hub, such as ada/dates; a new repository is private"
    )
    where.add_argument("-o", "--out", type=Path, metavar="FOLDER", help="write to this folder instead of uploading")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Publish the model, print its location, and return the exit code 0.

    Raises:
        ValueError: The folder does not contain a trained model, or the upload failed.
        OSError: A file cannot be read or written.
    """
    from transformer_course.commands.publish import push_model, save_model
    from transformer_lab.pretrained.hub import CONFIG, read_json
    from transformer_lab.text.text_generator import TextGenerator
    from transformer_lab.text.translator import Translator

    if args.out and args.out.exists() and args.out.samefile(args.model):
        raise ValueError(
            f"{args.out} is the training folder, whose files are needed to continue training; choose a different --out"
        )
    model: Translator | TextGenerator
    if "model_type" in read_json(args.model / CONFIG):
        model = TextGenerator.load(args.model)
        score = "bits per byte of held-out text"
    else:
        model = Translator.load(args.model)
        score = "validation score (% of exact matches for dates, BLEU for a corpus)"
    measured = _measured(args.model, score)
    destination = save_model(model, args.out, measured) if args.out else push_model(model, args.name, measured)
    print(f"The model and its card are in {destination}")
    return 0


def _measured(folder: Path, score: str) -> dict[str, str]:
    """Return the logged measurements at the training step of the saved parameters."""
    from transformer_lab.tensor_files import PARAMETERS_FILE, read_tensors
    from transformer_lab.training.log import LOG_FILE, read_row

    if not (folder / LOG_FILE).is_file() or "step" not in (trained := read_tensors(folder / PARAMETERS_FILE)[1]):
        return {}
    step = int(trained["step"])
    row = read_row(folder / LOG_FILE, step)
    measured = {"training steps": f"{step:,}"}
    if "seconds" in row:
        measured["seconds of training"] = f"{row['seconds']:.0f}"
    if "loss" in row:
        measured["training loss, nats per token"] = f"{row['loss']:.3f}"
    if "validation_loss" in row:
        measured["validation loss, nats per token"] = f"{row['validation_loss']:.3f}"
    if "validation_score" in row:
        measured[score] = f"{abs(row['validation_score']):.2f}"
    return measured

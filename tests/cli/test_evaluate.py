"""``evaluate``: the scores of what the model writes."""

from pathlib import Path

import pytest

from transformer_lab.cli.main import main
from transformer_lab.text.translator import Translator
from transformer_lab.training.metrics import bleu, chrf, exact_match


@pytest.mark.parametrize("beam", [1, 4])
def test_it_prints_the_scores_of_translations(corpus, model, capsys, monkeypatch, beam):
    sources, references = (Path(path).read_text("utf-8").splitlines() for path in corpus)
    right = dict(zip(sources[::2], references[::2], strict=True))
    written = [right.get(source, "nothing right") for source in sources]
    asked = []

    def translate(self, texts, beam_size):
        asked.extend(texts)
        assert beam_size == beam
        return iter(written)

    monkeypatch.setattr(Translator, "translate", translate)
    assert main(["evaluate", *corpus, "-m", str(model), *(["--beam", "4"] if beam == 4 else [])]) == 0
    assert asked == sources
    assert capsys.readouterr().out.splitlines() == [
        "pairs        200",
        f"exact match  {exact_match(written, references):.2f} %",
        f"BLEU         {bleu(written, references):.2f}",
        f"chrF         {chrf(written, references):.2f}",
    ]
    assert 40 < exact_match(written, references) < 100


def test_bad_lines_are_reported_or_refused(model, tmp_path, capsys):
    path = tmp_path / "bad.tsv"
    path.write_text("eins\tEINS\nzwei\n", "utf-8")
    assert main(["evaluate", str(path), "-m", str(model)]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("pairs        1\n") and "bad.tsv, line 2: no tab" in captured.err
    assert main(["evaluate", str(path), "-m", str(model), "--bad-lines", "refuse"]) == 2
    assert capsys.readouterr().err == "transformer-lab: bad.tsv, line 2: no tab, so no translation\n"


@pytest.mark.parametrize("text, said", [("", "no sentence pair to evaluate"), (None, "No such file")])
def test_a_corpus_that_is_none_is_told_in_one_line(model, tmp_path, capsys, text, said):
    path = tmp_path / "corpus.tsv"
    if text is not None:
        path.write_text(text)
    assert main(["evaluate", str(path), "-m", str(model)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("transformer-lab: ") and said in error and error.count("\n") == 1


def test_a_model_that_is_none_is_told_in_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["evaluate", "dates"]) == 2
    said = "model-dates is neither a folder nor a name on the hub, such as Helsinki-NLP/opus-mt-en-de"
    assert capsys.readouterr().err == f"transformer-lab: {said}\n"

"""What the README shows in Python is what happens."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_python_in_the_readme_runs_and_prints_what_it_says(capsys):
    [code] = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    exec(code, {})
    promised = re.findall(r"print\(.*\) +# (.+)$", code, re.MULTILINE)
    assert promised
    assert capsys.readouterr().out.splitlines() == promised

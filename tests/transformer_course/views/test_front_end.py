"""Tests for bundling JavaScript modules and style sheets."""

import re
import shutil
import subprocess
from itertools import accumulate

import pytest

from transformer_course.views import front_end

NODE = shutil.which("node")
MODULES = {
    "view": 'import { twice } from "./numbers.mjs";\n'
    "export function render(draw, kind) {\n  return [draw, kind, twice(1)];\n}\n",
    "numbers": "const factor = 2;\nexport const twice = (x) => factor * x;\nexport class One {}\n",
    "coin": 'import { twice,\n  One } from "./numbers.mjs";\nconst factor = 100;\n'
    "export async function draw() {\n  return [twice(factor), new One().constructor.name];\n}\n",
}


@pytest.fixture
def folder(tmp_path):
    for name, source in MODULES.items():
        (tmp_path / f"{name}.mjs").write_text(source)
    return tmp_path


@pytest.mark.skipif(NODE is None, reason="Node is not installed, so JavaScript cannot run")
def test_bundle_runs_and_keeps_unexported_names_private(folder):
    source = front_end.module("coin", folder)
    run = "const [draw, kind, two] = shown.render;\nconsole.log(JSON.stringify([kind, two, await draw()]));"
    joined = source.replace("export default", "const shown =") + run
    done = subprocess.run([NODE, "--input-type=module", "-e", joined], capture_output=True, text=True)
    assert done.stdout == '["coin",2,[200,"One"]]\n', done.stderr


@pytest.mark.parametrize(
    "line", ['import * as all from "./numbers.mjs";', "export { draw };", 'import "https://a.b/c";']
)
def test_rejects_unsupported_imports_and_exports(folder, line):
    (folder / "coin.mjs").write_text(f"{line}\n")
    with pytest.raises(
        ValueError, match=rf"^coin.mjs has an import or export that cannot be bundled: {re.escape(line)}$"
    ):
        front_end.module("coin", folder)


def test_circular_import_error_lists_the_cycle(folder):
    (folder / "numbers.mjs").write_text('import { draw } from "./coin.mjs";\n')
    with pytest.raises(ValueError, match=r"in a cycle; got .*numbers → coin → numbers$"):
        front_end.module("coin", folder)


def test_view_has_common_and_own_styles(folder):
    (folder / "view.css").write_text("a {}\n")
    assert front_end.style("coin", folder) == "a {}\n"
    (folder / "dice.css").write_text("b {}\n")
    assert front_end.style("dice", folder) == "a {}\n\n.tl-view.dice {\nb {}\n}\n"


def test_style_sheets_have_balanced_braces():
    for path in front_end.FOLDER.glob("*.css"):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        depths = [*accumulate({"{": 1, "}": -1}[brace] for brace in re.findall("[{}]", text))]
        assert min(depths) == depths[-1] == 0, path.name


def test_modules_request_nothing_from_the_network():
    files = [path for path in front_end.FOLDER.iterdir() if path.suffix in (".mjs", ".css")]
    assert files
    for path in files:
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|\bfetch\(|XMLHttpRequest|WebSocket|@import|url\(", text), path.name

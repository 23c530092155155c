"""The joining of JavaScript modules: what a widget gets as text is what the files say."""

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


@pytest.mark.skipif(NODE is None, reason="no Node is installed, so no JavaScript can be run")
def test_joined_modules_run_as_one_and_keep_what_they_do_not_export_to_themselves(folder):
    source = front_end.module("coin", folder)
    run = "const [draw, kind, two] = shown.render;\nconsole.log(JSON.stringify([kind, two, await draw()]));"
    joined = source.replace("export default", "const shown =") + run
    done = subprocess.run([NODE, "--input-type=module", "-e", joined], capture_output=True, text=True)
    assert done.stdout == '["coin",2,[200,"One"]]\n', done.stderr


@pytest.mark.parametrize(
    "line", ['import * as all from "./numbers.mjs";', "export { draw };", 'import "https://a.b/c";']
)
def test_what_cannot_be_joined_is_named(folder, line):
    (folder / "coin.mjs").write_text(f"{line}\n")
    with pytest.raises(
        ValueError, match=rf"^coin.mjs has an import or export that cannot be joined: {re.escape(line)}$"
    ):
        front_end.module("coin", folder)


def test_modules_that_import_one_another_are_named(folder):
    (folder / "numbers.mjs").write_text('import { draw } from "./coin.mjs";\n')
    with pytest.raises(ValueError, match=r"in a circle; got .*numbers → coin → numbers$"):
        front_end.module("coin", folder)


def test_a_view_has_the_common_style_and_its_own(folder):
    (folder / "view.css").write_text("a {}\n")
    assert front_end.style("coin", folder) == "a {}\n"
    (folder / "dice.css").write_text("b {}\n")
    assert front_end.style("dice", folder) == "a {}\n\n.tl-view.dice {\nb {}\n}\n"


def test_no_sheet_closes_the_rule_that_keeps_it_to_its_view():
    for path in front_end.FOLDER.glob("*.css"):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        depths = [*accumulate({"{": 1, "}": -1}[brace] for brace in re.findall("[{}]", text))]
        assert min(depths) == depths[-1] == 0, path.name


def test_no_module_of_ours_asks_for_anything_from_the_network():
    files = [path for path in front_end.FOLDER.iterdir() if path.suffix in (".mjs", ".css")]
    assert files
    for path in files:
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|\bfetch\(|XMLHttpRequest|WebSocket|@import|url\(", text), path.name

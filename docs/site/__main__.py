"""Build the site with ``python3 course.py site``. Any Sphinx warning, such as a broken link, stops the build."""

import argparse
import time
from pathlib import Path

from sphinx.cmd.build import main as sphinx

from docs.site import pages
from docs.site.repository import ROOT, published


def main() -> int:
    """Build the site, and return Sphinx's exit code."""
    parser = argparse.ArgumentParser(prog="course.py site", description="Build the web edition.")
    parser.add_argument(
        "-o", "--output", type=Path, default=ROOT / "build" / "site", help="output folder (default: build/site)"
    )
    folder = parser.parse_args().output.resolve()
    start = time.monotonic()
    pages.write(folder / "source", published())
    settings = str(Path(__file__).parent)
    options = ["--fail-on-warning", "--keep-going", "--quiet", "-d", str(folder / "doctrees"), "-c", settings]
    code = sphinx(["-b", "html", *options, str(folder / "source"), str(folder / "html")])
    if code == 0:
        size = sum(file.stat().st_size for file in (folder / "html").rglob("*") if file.is_file()) / 1e6
        print(f"{folder / 'html' / 'index.html'}: {size:.0f} MB in {time.monotonic() - start:.0f} s")
    return code


if __name__ == "__main__":
    raise SystemExit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page of the HTML report in a real browser: run.py BUILD_DIR

Makes the stories of make_story.py, writes the page of each with the tool, and has Chromium open them (page.test.mjs). What
is needed besides Chromium and node is fetched by npm into BUILD_DIR/page; pictures are kept in BUILD_DIR/page/shots.
$CHROMIUM is another browser than /usr/bin/chromium, $ONLY a part of the names of the tests to run.
"""
import subprocess
import sys
import time
from pathlib import Path

import make_story

PLAYWRIGHT = "playwright-core@1.65.0"
HERE = Path(__file__).parent


def modules(work):
    """Where playwright-core is, fetched if it is not there yet."""
    if not (work / "node_modules/playwright-core").is_dir():
        work.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", work, PLAYWRIGHT],
                              capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"run.py: npm could not fetch {PLAYWRIGHT}:\n{done.stderr}")
    return work


def page(tool, name, pages):
    """NAME.json and NAME.html; says how long ten thousand findings take."""
    story, html = pages / f"{name}.json", pages / f"{name}.html"
    with open(story, "w", encoding="utf-8") as out:
        subprocess.run([sys.executable, HERE / "make_story.py", name], stdout=out, check=True)
    start = time.monotonic()
    subprocess.run([tool, "report", f"--from={story}", "--format=html", "-o", html], check=True)
    if name == "most":
        print(f"10,000 findings: {story.stat().st_size >> 20} MB of JSON read, {html.stat().st_size >> 20} MB of page written in "
              f"{time.monotonic() - start:.1f} s")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = Path(sys.argv[1]).resolve()
    work = modules(build / "page")
    pages = work / "pages"
    pages.mkdir(exist_ok=True)
    for name in make_story.KINDS:
        page(build / "fission", name, pages)
    sys.exit(subprocess.run(["node", HERE / "page.test.mjs", pages, work / "shots", work]).returncode)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts the page of the HTML report together, as C: embed.py OUT.c page.html page.css SCRIPT.js ...

page.html has @STYLE@, @POLICY@, @DATA@ and @SCRIPT@ where these go. What comes before @DATA@ becomes page_before[], what
comes after it page_after[]. The scripts go into one element, whose hash is in the content policy.
"""
import base64
import hashlib
import re
import sys
from pathlib import Path

POLICY = ("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'; img-src data:; base-uri 'none'; "
          "form-action 'none'")


def bare(text):
    """Without the header comment: the sources have it, the page is long enough."""
    return re.sub(r"\A(?:/\*.*?\*/\s*)+", "", text, flags=re.S).removeprefix("'use strict';").strip() + "\n"


def c_text(text):
    """As C, a line a line. A question mark is escaped as two of them begin a trigraph."""
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?").replace("\t", "\\t")
    return "\n".join(f'\t"{line}"' for line in text.replace("\n", "\\n\n").split("\n"))


def main():
    out, page, style, *scripts = sys.argv[1:]
    script = "\n'use strict';\n" + "".join(bare(Path(s).read_text("utf-8")) for s in scripts)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    html = Path(page).read_text("utf-8")
    for mark, text in (("@STYLE@", bare(Path(style).read_text("utf-8"))), ("@POLICY@", POLICY.format(digest)),
                       ("@SCRIPT@", script)):
        if html.count(mark) != 1:
            sys.exit(f"embed.py: {page}: {mark} must be there once")
        html = html.replace(mark, text)
    before, after = html.split("@DATA@")
    Path(out).write_text("/* Made by tools/embed.py from src/report/page. */\n"
                         "extern const char page_before[], page_after[];\n\n"
                         f"const char page_before[] =\n{c_text(before)};\n\nconst char page_after[] =\n{c_text(after)};\n",
                         "utf-8")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ids of findings stay when nothing but their surroundings changes: ids.py BUILD_DIR

ids.c is built as it is, with its lines moved, with other optimisation, by another compiler and at another address; it is
run with its threads made in another order, and several times. The blocks that each run finds must have the ids that
an earlier one gave them; and two blocks have two ids. The last line is 'N passed, M failed'.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BLOCKS = {"raise_total", "pay", "swap_slots"}
CHECKS = "causal,aerodrome,sidetrack,blocks,races,deadlocks"
SOURCE = (HERE / "ids.c").read_text()

# name, what becomes of the source, compiler, flags, arguments
MOVED = re.sub(r"/\* MOVE \*/|MOVE", lambda m: "\n" * 7 + m[0], SOURCE)
GROWN = SOURCE.replace("/* MOVE */", "/* MOVE */ static const int more = 1; (void)more;").replace(
    "/* MOVE */ static const int more = 1; (void)more;\nstatic", "/* MOVE */\nstatic")
VARIANTS = (
    ("as it is", SOURCE, "gcc", ["-O1"], []),
    ("again", SOURCE, "gcc", ["-O1"], []),
    ("once more", SOURCE, "gcc", ["-O1"], []),
    ("lines moved", MOVED, "gcc", ["-O1"], []),
    ("code grown", GROWN, "gcc", ["-O1"], []),
    ("-O0", SOURCE, "gcc", ["-O0"], []),
    ("-O2", SOURCE, "gcc", ["-O2"], []),
    ("clang", SOURCE, "clang", ["-O1"], []),
    ("not position-independent", SOURCE, "gcc", ["-O1", "-no-pie"], []),
    ("threads in another order", SOURCE, "gcc", ["-O1"], ["1"]),
    ("moved, -O2, another order", MOVED, "gcc", ["-O2"], ["1"]),
)


def ids_of(build, source, compiler, flags, arguments):
    """The id of each block's findings, by how it was seen."""
    pathlib.Path("ids.c").write_text(source)
    environment = {**os.environ, "FISSION_HOME": str(build), "FISSION_CC": compiler}
    subprocess.run([build / "fission-cc", "-g", *flags, "-pthread", "ids.c", "-o", "ids"], check=True, env=environment)
    subprocess.run([build / "fission", "run", "--out=kept", f"--checks={CHECKS}", "./ids", *arguments], stdin=subprocess.DEVNULL,
                   capture_output=True, timeout=60)
    found = json.loads(pathlib.Path("kept/findings.json").read_text())["findings"]
    return {(f["function"], way(f)): f["id"] for f in found if f["function"] in BLOCKS}


def way(finding):
    """What a schedule shows of a block may be the lock that is free, or what happens to the data then."""
    return "data" if finding["by_data"] else "lock"


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    failed, known = 0, {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, source, compiler, flags, arguments in VARIANTS:
            ids = ids_of(build, source, compiler, flags, arguments)
            good = all((block, "data") in ids for block in BLOCKS) and {**ids, **known} == {**known, **ids}
            known = {**ids, **known}
            failed += not good
            if not good:
                print(f"{name}: {ids} instead of {known}")
        if len(set(known.values())) < len(known):
            failed += 1
            print(f"two blocks have one id: {known}")
        os.chdir("/")
    print(f"{len(VARIANTS) + 1 - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())

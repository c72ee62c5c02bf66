#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whatever the search for inputs cannot do, it goes on or says why it stops: graceful.py BUILD [NAMES...]

Each program of tests/symbolic/programs has something that cannot be followed, solved or kept; its bug is found all the
same, unless that takes an input that is too large. The last line is 'N passed, M failed'.
"""

import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent / "programs"
CLEAN, FINDINGS = 0, 66

build = pathlib.Path(sys.argv[1]).resolve()

# What each is given, and what must be said.
PROGRAMS = {
    "forks": ([], ["REPRODUCED", "code = 31337"]),
    "large": (["data"], ["answers could not be written: files of more than 4 MiB"]),
    "recursion": (["5"], ["REPRODUCED", "./recursion 77"]),
    "hard": ([], ["REPRODUCED", "code = 20011"]),
    "floats": ([], ["REPRODUCED", "code = 20011", "floating point"]),
    "endless": ([], ["REPRODUCED", "code = 3003", "crash"]),
}


def check(name, where):
    words, expected = PROGRAMS[name]
    (where / "data").write_bytes(b"0123456789" * 1000000)
    subprocess.run([build / "fission-cc", "--symbolic", "-g", "-o", where / name, HERE / f"{name}.c", "-lpthread"],
                   check=True)
    done = subprocess.run(
        [build / "fission", "chase", "--no-out", "--time=200s", "--", f"./{name}", *words],
        capture_output=True, text=True, cwd=where, stdin=subprocess.DEVNULL, timeout=600,
    )
    missing = [word for word in expected if word not in done.stderr.replace("\n    ", " ")]
    if done.returncode == (FINDINGS if "REPRODUCED" in expected else CLEAN) and not missing:
        return None
    return f"exit status {done.returncode}, not said: {missing}\n{done.stderr}"


passed = failed = 0
for program in sys.argv[2:] or PROGRAMS:
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        wrong = check(program, pathlib.Path(scratch))
    passed += wrong is None
    failed += wrong is not None
    print(f"{program}: {'ok' if wrong is None else 'FAILED: ' + wrong} ({time.monotonic() - start:.1f} s)", flush=True)
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)

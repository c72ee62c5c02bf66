#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The four collections under `fission pairs`: pairs.py BUILD [NAMES...]

Builds them, runs every pair of their operations, and writes the matrices to docs/results/pairs.txt: 004 Figure 6. What
was done stays in BUILD/results/pairs/, so a run that was stopped goes on where it was; --fresh begins anew.
"""

import os
import platform
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
COLLECTIONS = {
    "string_buffer": ["string_buffer_pairs.c", "string_buffer.c"],
    "vector": ["vector_pairs.c", "vector.c"],
    "hashtable": ["hashtable_pairs.c", "hashtable.c"],
    "stack": ["stack_pairs.c", "stack.c", "vector.c"],
}


def machine():
    model = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    return f"{model[0] if model else platform.machine()}, {os.cpu_count()} cores, {memory} MiB, " \
           f"{platform.system()} {platform.release()}"


def run(build, room, name):
    """The matrix in words, from an earlier run if there is one."""
    program, kept = room / f"{name}_pairs", room / f"{name}.txt"
    sources = [HERE / "programs" / "collections" / source for source in COLLECTIONS[name]]
    if kept.exists() and kept.stat().st_mtime > max(source.stat().st_mtime for source in sources):
        return kept.read_text()
    print(f"{name}: ...", flush=True)
    start = time.monotonic()
    subprocess.run([build / "fission-cc", "-O1", "-g", "-pthread", *sources, "-o", program], check=True)
    done = subprocess.run([build / "fission", "pairs", f"--out={room}/{name}.out", f"./{program.name}"], cwd=room,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 66:
        sys.exit(f"{name}: exit status {done.returncode}\n{done.stderr}")
    kept.write_text(done.stdout)
    print(f"{name}: {time.monotonic() - start:.0f} s", flush=True)
    return done.stdout


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    build = Path(words[0]).resolve()
    room = build / "results" / "pairs"
    room.mkdir(parents=True, exist_ok=True)
    if "--fresh" in sys.argv:
        for old in room.glob("*.txt"):
            old.unlink()
    texts = [run(build, room, name) for name in words[1:] or COLLECTIONS]
    if words[1:]:
        print("\n".join(texts))
        return
    results = HERE.parent / "docs" / "results"
    results.mkdir(exist_ok=True)
    out = [f"# make bench-pairs\n# {machine()}\n"]
    for name, text in zip(COLLECTIONS, texts):
        sources = " ".join(f"bench/programs/collections/{source}" for source in COLLECTIONS[name])
        out.append(f"\n$ fission-cc -O1 -g -pthread {sources} -o {name}_pairs\n$ fission pairs ./{name}_pairs\n{text}")
    (results / "pairs.txt").write_text("".join(out))
    print("docs/results/pairs.txt")


main()

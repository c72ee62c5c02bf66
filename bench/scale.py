#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What it costs to hand out units, beside the ideal: scale.py BUILD [--launchers=local,slurm,parallel] [--results=N]

Units that do nothing for 50 ms, 1 s and 10 s go to 2, 6 and 24 slots; efficiency is the time that they would take if
handing out cost nothing, by the time that they took. Hosts and nodes are three daemons on loopback, so all slots share the
processors of one machine; units sleep, so that does not matter, but starting them does.

Then the pieces that limit a thousand nodes: bytes of a unit and of a result, what the coordinator does a second, what
merging a million results takes; and what they add up to.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOP / "tests/scale"))
import daemons  # noqa: E402
import run as local  # noqa: E402

CELLS = [(50, 2), (50, 6), (50, 24), (1000, 2), (1000, 6), (1000, 24), (10000, 2), (10000, 6), (10000, 24)]
ROUNDS = {50: 40, 1000: 4, 10000: 1}  # units a slot


@contextlib.contextmanager
def engine(name, slots):
    """(jobs, hosts, environment) of a launcher."""
    if name == "local":
        yield slots, "-", None
    elif name == "slurm":
        with daemons.Cluster(max(1, slots // daemons.HOSTS + (slots % daemons.HOSTS > 0))) as cluster:
            yield slots, "-", cluster.env
    else:
        with daemons.Hosts() as hosts:
            if slots < daemons.HOSTS:
                hosts.file.write_text(hosts.file.read_text().splitlines()[0] + "\n")
            yield max(1, slots // daemons.HOSTS) if slots >= daemons.HOSTS else slots, str(hosts.file), hosts.env


def one(name, milliseconds, slots):
    count = slots * ROUNDS[milliseconds]
    with engine(name, slots) as (jobs, hosts, env):
        said = local.Naps("all", count, milliseconds, 600, jobs, name, hosts, env).end()
    assert said["done"] == count, said
    ideal = count * milliseconds / 1000 / slots
    return ideal, said["wall"]


def in_new_directory(what, *words):
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as where:
        os.chdir(where)
        try:
            return what(*words)
        finally:
            os.chdir(before)


def cells(launchers):
    print("unit      slots  launcher    ideal    wall   efficiency")
    for milliseconds, slots in CELLS:
        for name in launchers:
            ideal, wall = in_new_directory(one, name, milliseconds, slots)
            print(f"{milliseconds:5} ms {slots:7}  {name:9} {ideal:6.2f} s {wall:6.2f} s {100 * ideal / wall:7.0f} %", flush=True)


def sizes():
    """Bytes of units and results of a search."""
    program = local.bug("audit")
    local.run("chase", "--no-out", "-j2", "--campaign=all", program, status=local.FINDINGS)
    unit = [path.stat().st_size for path in local.files("all/units")]
    result = [path.stat().st_size for path in local.files("all/results")]
    return sum(unit) / len(unit), sum(result) / len(result)


def coordinator():
    """Seconds of a processor that the coordinator itself spends on a unit, and on a result that it learns from."""
    count = 400
    naps = local.Naps("all", count, 0, 600, 2).end()
    program = local.bug("audit")
    local.run("chase", "--no-out", "-j2", "--campaign=search", program, status=local.FINDINGS)
    before = os.times()
    local.run("merge", "search", status=local.FINDINGS)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return naps["cpu"] / count, used / len(local.files("search/results"))


def merge(results, size):
    tool = local.build / "bench/bench_results"
    subprocess.run([tool, "make", str(results), str(int(size)), "r.pack"], check=True)
    words = subprocess.run([tool, "merge", "r.pack"], check=True, capture_output=True, text=True).stdout.split()
    return {words[i]: float(words[i + 1]) for i in range(0, len(words), 2)}


def pieces(results):
    unit, result = in_new_directory(sizes)
    each, learnt = in_new_directory(coordinator)
    merged = in_new_directory(merge, results, 1000)
    million = (merged["read"] + merged["sort"] + merged["pack"]) * 1e6 / merged["results"]
    print(f"\nbytes of a unit {unit:.0f}, of a result {result:.0f} (a search of 'audit')")
    print(f"the coordinator: {1000 * each:.2f} ms to hand a unit out and take its result, {1000 * learnt:.2f} ms at most to learn "
          "from it")
    print(f"so a single coordinator keeps up with {1 / (each + learnt):.0f} results a second")
    print(f"merging {merged['results']:.0f} results of 1000 bytes: read {merged['read']:.2f} s, sort {merged['sort']:.2f} s, "
          f"pack {merged['pack']:.2f} s; a million: {million:.1f} s")
    print("\n1,000 nodes of 64 slots, added up:")
    print("unit     units/s   to the nodes  from the nodes  coordinators  merge of an hour")
    for seconds in (0.05, 1, 10, 60):
        rate = 64000 / seconds
        print(f"{seconds:5} s {rate:9.0f} {rate * unit / 1e6:9.1f} MB/s {rate * result / 1e6:10.1f} MB/s "
              f"{rate * (each + learnt):13.1f} {rate * 3600 * million / 1e6:13.0f} s")


def main():
    words = argparse.ArgumentParser()
    words.add_argument("build")
    words.add_argument("--launchers", default="local,slurm,parallel")
    words.add_argument("--results", type=int, default=1000000)
    args = words.parse_args()
    local.build = Path(args.build).resolve()
    if args.launchers:
        cells(args.launchers.split(","))
    pieces(args.results)


if __name__ == "__main__":
    main()

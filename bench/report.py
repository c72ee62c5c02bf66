#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make bench: what it costs to write a report in each form, and to find names: report.py BUILD_DIR

The first table renders stories of 100 to 10,000 findings, which tests/report/make_story.py makes up: seconds of CPU time
to render, as a multiple of the JSON's, megabytes, and the peak of memory of the process that has read and rendered
them. Above stand what it costs to write the bytes of the JSON alone, and to read it. The best of three runs counts.

The second table runs made-up programs with many functions in several libraries under `fission run`, and counts how
often the tool has opened each file: before the run, to see what is in it, and once after it, for all names. That must
not depend on how many functions there are; nothing else here fails because of a number.
"""
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent / "tests" / "report"
sys.path.insert(0, str(TESTS))
import make_story  # noqa: E402

COUNTS = (100, 1000, 10000)
FUNCTIONS = (50, 500, 2000)
LIBRARIES = 2
RUNS = 3
MEGA = 1e6

FUNCTION = """
static long value_{n};
void {unit}_{n}(void)
{{
	pthread_mutex_lock(&mu); long seen = value_{n}; pthread_mutex_unlock(&mu);
	pthread_mutex_lock(&mu); value_{n} = seen + 1; pthread_mutex_unlock(&mu);
}}
"""
MAIN = """
#include <pthread.h>
{declarations}
static void *work(void *nothing)
{{
	{calls}
	return nothing;
}}
int main(void)
{{
	pthread_t t[2];
	for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, work, 0);
	for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
}}
"""


def cost_of(render, form, path):
    """Seconds to read, seconds to render, bytes, peak; the run that renders fastest."""
    best = None
    for _ in range(RUNS):
        printed = subprocess.run([render, form, path, "time"], capture_output=True, text=True, check=True).stdout
        read, seconds, size, peak = map(float, printed.split())
        if best is None or seconds < best[1]:
            best = read, seconds, size, peak * 1024
    return best


def bare_write(path, directory):
    """Seconds to write the same bytes, to the disk's cache."""
    data = path.read_bytes()
    start = time.monotonic()
    (directory / "copy").write_bytes(data)
    return time.monotonic() - start, len(data)


def forms(build, directory):
    render = build / "bench" / "report_render"
    names = subprocess.run([render, "forms"], capture_output=True, text=True, check=True).stdout.split()
    print(f"{'findings':>8}  {'form':6}{'seconds':>9}{'x json':>8}{'MB':>8}{'peak MB':>9}")
    for count in COUNTS:
        path = directory / "findings.json"
        path.write_text(json.dumps(make_story.make(findings=count)))
        base = cost_of(render, "json", path)
        seconds, size = bare_write(path, directory)
        print(f"{count:8}  {'write':6}{seconds:9.3f}{seconds / base[1]:8.2f}{size / MEGA:8.1f}         the JSON's bytes alone")
        print(f"{count:8}  {'read':6}{base[0]:9.3f}{base[0] / base[1]:8.2f}{size / MEGA:8.1f}")
        for name in names:
            _, seconds, size, peak = base if name == "json" else cost_of(render, name, path)
            print(f"{count:8}  {name:6}{seconds:9.3f}{seconds / base[1]:8.2f}{size / MEGA:8.1f}{peak / MEGA:9.1f}")


def compile_program(build, directory, functions):
    """A program and its libraries, each with its share of the functions. Returns their paths, the program first."""
    cc = [build / "fission-cc", "-g", "-O1"]
    units = {f"lib{i}": range(i, functions, LIBRARIES) for i in range(LIBRARIES)}
    libraries = []
    for unit, numbers in units.items():
        source, library = directory / f"{unit}.c", directory / f"lib{unit}.so"
        source.write_text("#include <pthread.h>\nstatic pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;\n" +
                          "".join(FUNCTION.format(n=n, unit=unit) for n in numbers))
        subprocess.run(cc + ["-fPIC", "-shared", source, "-o", library], check=True)
        libraries.append(library)
    calls = [f"{unit}_{n}" for unit, numbers in units.items() for n in numbers]
    main = directory / "main.c"
    main.write_text(MAIN.format(declarations="\n".join(f"void {c}(void);" for c in calls), calls="\n\t".join(f"{c}();" for c in calls)))
    program = directory / "program"
    subprocess.run(cc + [main, *libraries, f"-Wl,-rpath,{directory}", "-o", program, "-pthread"], check=True)
    return [program, *libraries]


def opened(log, paths):
    """How often the tool has opened each file."""
    text = log.read_text(errors="replace")
    return [len(re.findall(rf'open(?:at)?\([^"]*"{re.escape(str(path))}"[^)]*\) += \d', text)) for path in paths]


def names_of(build, directory, functions):
    paths = compile_program(build, directory, functions)
    log, report = directory / "log", directory / "report.json"
    command = [build / "fission", "run", "--format=json", "--rank=4", "--", paths[0]]
    with open(report, "w") as out:
        start = time.monotonic()
        subprocess.run(["strace", "-e", "trace=open,openat", "-o", log] + command, cwd=directory, stderr=out)
        seconds = time.monotonic() - start
    counts = opened(log, paths)
    print(f"{functions:9}{len(paths):9}{sum(c > 0 for c in counts):8}{max(counts):15}{seconds:9.2f}")
    return max(counts)


def symbols(build, directory):
    if not shutil.which("strace"):
        print("no table of symbols: strace is not there")
        return False
    print(f"\n{'functions':>9}{'modules':>9}{'opened':>8}{'times at most':>15}{'seconds':>9}")
    most = [names_of(build, directory, n) for n in FUNCTIONS]
    if max(most) > min(most):
        print("modules are opened more often where there are more functions")
    return max(most) > min(most)


def main():
    build = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        forms(build, Path(name))
        sys.exit(symbols(build, Path(name)))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What checking programs as they are costs: stock.py BUILD_DIR [--rounds=N] [--beside]

The first table is the time of the whole work, plain and under `fission run`, the median of three; with --beside also
how many times slower it is under Helgrind and DRD, which takes long. The second is the processor time of the program itself for a lock and its unlock,
called by a function of its own: with one section a call, where every acquire meets a new frame, and with many sections a
call, where none does. Numbers depend on what else the machine does; nothing here fails because of one.
"""

import argparse
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
import time

TABLE = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static pthread_mutex_t lock[64];
static long table[64], rounds, inside;
static __attribute__((noinline)) void bump(unsigned k, long n)
{
	for (long i = 0; i < n; i++) {
		pthread_mutex_lock(&lock[k % 64]);
		table[k % 64]++;
		pthread_mutex_unlock(&lock[k % 64]);
	}
	__asm__ volatile("" ::: "memory");
}
static void *work(void *a)
{
	unsigned x = (unsigned)(long)a;
	for (long i = 0; i < rounds / inside; i++)
		bump((x = x * 1103515245 + 12345) >> 16, inside);
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t[16];
	int n = atoi(argv[1]);
	struct timespec a, b;
	rounds = atol(argv[2]), inside = argc > 3 ? atol(argv[3]) : 1;
	for (int i = 0; i < 64; i++)
		pthread_mutex_init(&lock[i], NULL);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	for (long i = 0; i < n; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	printf("%.1f\n", ((b.tv_sec - a.tv_sec) * 1e9 + b.tv_nsec - a.tv_nsec) / (double)rounds / n);
	return 0;
}
"""

# (name, words, most that it should cost, or None)
WORK = (
    ("pigz", ["pigz", "-p4", "-kc", "text"], 1.1),
    ("pbzip2", ["pbzip2", "-p4", "-kc", "text"], 1.1),
    ("xz", ["xz", "-1", "-T4", "--block-size=1MiB", "-kc", "text"], 1.1),
    ("zstd", ["zstd", "-9", "-T4", "-q", "-c", "text"], 1.1),
    ("hash table", ["./table", "4", "{ROUNDS}"], 2),
)


def seconds(words, place):
    began = time.monotonic()
    subprocess.run([str(word) for word in words], cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.monotonic() - began


def median(words, place):
    return statistics.median(seconds(words, place) for _ in range(3))


def cpu(words, place):
    """What the program says about itself, the least of three."""
    texts = [subprocess.run([str(word) for word in words], cwd=place, capture_output=True, text=True).stdout for _ in range(3)]
    return min(float(re.search(r"[\d.]+", text).group()) for text in texts)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=10_000_000)
    parser.add_argument("--beside", action="store_true")
    options = parser.parse_args()
    run = [options.build.resolve() / "fission", "run", "--no-out", "--exitcode=0", "--"]
    others = {tool: ["valgrind", f"--tool={tool.lower()}"] for tool in ("Helgrind", "DRD") if options.beside and shutil.which("valgrind")}
    print(f"{'':12}{'plain':>9}{'fission':>10}{'ratio':>7}{'target':>9}" + "".join(f"{tool:>11}" for tool in others))
    with tempfile.TemporaryDirectory() as top:
        place = pathlib.Path(top)
        (place / "text").write_bytes(b"".join(b"%016x the quick one %d\n" % (i * 0x9E3779B97F4A7C15 % 2**64, i) for i in range(1_000_000)))
        (place / "table.c").write_text(TABLE)
        subprocess.run(["gcc", "-O2", "-pthread", "table.c", "-o", "table"], cwd=place, check=True)
        for name, words, target in WORK:
            words = [word.replace("{ROUNDS}", str(options.rounds)) for word in words]
            if not shutil.which(words[0]) and not words[0].startswith("./"):
                print(f"{name:12}   is not installed")
                continue
            plain, took = median(words, place), median(run + words, place)
            beside = "".join(f"{seconds(before + words, place) / plain:11.2f}" for before in others.values())
            missed = "  missed" if took / plain > target else ""
            print(f"{name:12}{plain:8.2f}s{took:9.2f}s{took / plain:7.2f}{f'<= {target}':>9}{beside}{missed}", flush=True)
        print(f"\n{'ns for lock and unlock':36}{'plain':>8}{'fission':>9}")
        for name, inside in (("one section a call: a new frame", 1), ("a thousand a call: none", 1000)):
            words = ["./table", "1", options.rounds, inside]
            print(f"{name:36}{cpu(words, place):8.1f}{cpu(run + words, place):9.1f}", flush=True)


if __name__ == "__main__":
    main()

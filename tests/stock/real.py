#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Debian's own binaries under `fission run`, as they are: real.py BUILD [--runs=N] [--programs=A,B] [--keep=DIR]

Each does the same work alone and under Fission: what it writes and its exit status must be the same, and it must end.
The table has how many runs were like that, what was shown and how much was found by rank, of all runs together, and
how long the work took in the median. A program that is not installed is left out, and said so.

The last line is 'N passed, M failed'; a test is a program.
"""

import argparse
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TIMEOUT = 300
KILOBYTES = 2000

PYTHON = """
import threading, queue
lock, numbers, done = threading.Lock(), queue.Queue(), []
def work():
    while True:
        n = numbers.get()
        if n is None: return
        with lock: done.append(n * n)
threads = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in threads]
[numbers.put(n) for n in range(2000)]
[numbers.put(None) for _ in threads]
[t.join() for t in threads]
print(sum(done))
"""

SQL = "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);" \
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO t SELECT i, hex(i * 7) FROM n;" \
    "PRAGMA threads = 4; CREATE INDEX u ON t(b); SELECT count(*), min(b), max(b) FROM t;"


class Batch:
    """A program that does its work and ends: its output is on standard output."""

    def __init__(self, name, *words, files=()):
        self.name, self.words, self.files = name, words, files

    def program(self):
        return self.words[0]

    def run(self, before, place):
        began = time.monotonic()
        done = subprocess.run([*before, *self.words], cwd=place, capture_output=True, timeout=TIMEOUT)
        return (done.returncode, done.stdout), time.monotonic() - began, done.stderr


class Server:
    """A program that serves until it is told to stop: the answers to a load of commands are its output."""

    def __init__(self, name, *words, port, load, stop, plain=bytes):
        self.name, self.words, self.port, self.load, self.stop, self.plain = name, words, port, load, stop, plain

    def program(self):
        return self.words[0]

    def connect(self, process):
        for _ in range(200):
            try:
                return socket.create_connection(("127.0.0.1", self.port), timeout=20)
            except OSError:
                if process.poll() is not None:
                    return None
                time.sleep(0.05)
        return None

    def run(self, before, place):
        process = subprocess.Popen([*before, *self.words], cwd=place, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        answers, began = b"", time.monotonic()
        connections = [self.connect(process) for _ in range(4)]
        try:
            for i in range(50):
                for c in connections:
                    answers += self.ask(c, self.load(i))
            took = time.monotonic() - began
            self.stop(process, connections[0])
            error = process.communicate(timeout=TIMEOUT)[1]
        finally:
            if process.poll() is None:
                process.kill()
        return (process.returncode, self.plain(answers)), took, error

    @staticmethod
    def ask(connection, words):
        command, answer = words
        connection.sendall(command)
        got = b""
        while not got.endswith(answer):
            piece = connection.recv(65536)
            if not piece:
                break
            got += piece
        return got


def memcached_load(i):
    key = f"k{i % 17}"
    value = "v" * (i * 37 % 500)
    return f"set {key} 0 0 {len(value)}\r\n{value}\r\nget {key}\r\nincr n 1\r\nmn\r\n".encode(), b"MN\r\n"


def redis_load(i):
    return f"SET k{i % 17} {'v' * (i * 37 % 500)}\r\nGET k{i % 17}\r\nPING end{i}\r\n".encode(), f"end{i}\r\n".encode()


def nginx_load(i):
    return f"GET /tree/{i % 200} HTTP/1.1\r\nHost: x\r\nRange: bytes=0-{i * 37 % 5000}\r\n\r\n" \
        f"GET /end HTTP/1.1\r\nHost: x\r\n\r\n".encode(), b"that is all"


def without_dates(answers):
    return re.sub(rb"(Date|Last-Modified|ETag): [^\r]*\r\n", b"", answers)


NGINX = """worker_processes 1; daemon off; error_log stderr crit; pid {PLACE}/nginx.pid; thread_pool four threads=4; events {}
http { access_log off; keepalive_requests 100000; server { listen 127.0.0.1:28080; root {PLACE}; aio threads=four;
  client_body_temp_path {PLACE}/n1; proxy_temp_path {PLACE}/n2; fastcgi_temp_path {PLACE}/n3; uwsgi_temp_path {PLACE}/n4;
  scgi_temp_path {PLACE}/n5; location = /end { return 200 "that is all"; } } }
"""


def terminate(process, connection):
    # Fission passes the signal to the program.
    process.terminate()


def redis_shutdown(process, connection):
    connection.sendall(b"SHUTDOWN NOSAVE\r\n")


PROGRAMS = (
    Batch("pigz", "pigz", "-p4", "-kc", "text"),
    Batch("pbzip2", "pbzip2", "-p4", "-kc", "text"),
    Batch("xz", "xz", "-0", "-T4", "--block-size=300KiB", "-kc", "text"),
    Batch("zstd", "zstd", "-T4", "-B524288", "-q", "-c", "text"),
    Batch("sqlite3", "sqlite3", ":memory:", SQL),
    Batch("python3", "/usr/bin/python3", "-c", PYTHON),
    Batch("git grep", "git", "grep", "--no-index", "--threads=4", "-c", "aa", "--", "tree"),
    Batch("git index-pack", "git", "index-pack", "--threads=4", "-o", "index", "objects.pack"),
    Batch("curl", "curl", "-sZ", "--parallel-max", "4", *(f"file://{{PLACE}}/tree/{i}" for i in range(8))),
    Batch("x264", "x264", "--threads=4", "--demuxer=raw", "--input-res=64x64", "--quiet", "-o", "/dev/stdout", "--muxer=raw", "text"),
    Server("memcached", "memcached", "-u", "nobody", "-t4", "-l", "127.0.0.1", "-p", "21211", port=21211, load=memcached_load, stop=terminate),
    Server("redis", "redis-server", "--port", "26379", "--io-threads", "4", "--io-threads-do-reads", "yes", "--save", "",
           "--dir", ".", port=26379, load=redis_load, stop=redis_shutdown),
    Server("nginx", "/usr/sbin/nginx", "-p", "{PLACE}", "-c", "{PLACE}/nginx.conf", port=28080, load=nginx_load, stop=terminate,
           plain=without_dates),
)


def make_work(place):
    """What they work on, the same every time."""
    number, lines = 12345, []
    for _ in range(KILOBYTES * 16):
        number = number * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        lines.append(f"{number:016x}" * 3 + "the quick one")
    (place / "text").write_text("\n".join(lines))
    (place / "tree").mkdir()
    for i in range(200):
        (place / "tree" / str(i)).write_text("\n".join(lines[i * 50: i * 50 + 200]))


    (place / "nginx.conf").write_text(NGINX.replace("{PLACE}", str(place)))
    make_pack(place)


def make_pack(place):
    def git(*words, **options):
        subprocess.run(["git", "-C", place / "repository", "-c", "user.name=a", "-c", "user.email=b", *words], check=True,
                       capture_output=True, **options)

    shutil.copytree(place / "tree", place / "repository")
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "all")
    git("repack", "-adq")
    shutil.copy(next((place / "repository" / ".git" / "objects" / "pack").glob("*.pack")), place / "objects.pack")


def fill_in(program, place):
    program.words = tuple(word.replace("{PLACE}", str(place)) for word in program.words)


def judge(program, fission, place, runs):
    """A row of the table, and what is wrong."""
    row, wrong = {"shown": 0, "same": 0, "ranks": {}, "times": [], "plain": []}, None
    for i in range(runs):
        (plain, took, _) = program.run([], place)
        row["plain"].append(took)
        report = place / "report.json"
        report.unlink(missing_ok=True)
        before = [fission, "run", "--no-out", "--format=json", f"--output={report}", "--exitcode=0", "--"]
        try:
            got, took, error = program.run(before, place)
        except subprocess.TimeoutExpired:
            wrong = wrong or f"run {i + 1} hung"
            continue
        row["times"].append(took)
        if got != plain:
            wrong = wrong or f"run {i + 1}: status {got[0]}, plain {plain[0]}; {len(got[1])} bytes, plain {len(plain[1])}; {error[-300:]}"
            continue
        row["same"] += 1
        findings = json.loads(report.read_text())["findings"]
        row["shown"] = max(row["shown"], sum(f["rank"] <= 3 and not f["hidden"] and not f["again"] for f in findings))
        for f in findings:
            rank = "hidden" if f["hidden"] else f["rank"]
            row["ranks"][rank] = row["ranks"].get(rank, 0) + 1
    return row, wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--programs")
    options = parser.parse_args()
    fission, wanted = options.build.resolve() / "fission", options.programs and options.programs.split(",")
    passed = failed = 0
    print(f"{'':16}{'same':>8}{'shown':>7}{'rank 3':>8}{'rank 4':>8}{'hidden':>8}{'plain':>9}{'fission':>9}{'ratio':>7}")
    with tempfile.TemporaryDirectory() as top:
        place = Path(top)
        os.chmod(place, 0o755)
        make_work(place)
        for program in PROGRAMS:
            if wanted and program.name not in wanted:
                continue
            if not shutil.which(program.program()):
                print(f"{program.name:16}   is not installed")
                continue
            fill_in(program, place)
            row, wrong = judge(program, fission, place, options.runs)
            plain, took = statistics.median(row["plain"]), statistics.median(row["times"] or [0])
            ranks = "".join(f"{row['ranks'].get(rank, 0):8}" for rank in (3, 4, "hidden"))
            print(f"{program.name:16}{row['same']:5}/{options.runs:<2}{row['shown']:7}{ranks}{plain:8.2f}s{took:8.2f}s{took / plain:7.2f}",
                  flush=True)
            if wrong:
                print(f"    {wrong}")
            passed += not wrong
            failed += bool(wrong)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: MIT
"""SQLite with threads: sqlite_threads.c on the library as its own build makes it."""

import pathlib

PROGRAM = pathlib.Path(__file__).resolve().parent / "sqlite_threads.c"
TRANSFERS = 800


class Sqlite:
    name = package = "sqlite3"

    def build(self, make, cc, cxx):
        make("./configure", "--disable-shared", "--disable-tcl", "--disable-readline", f"CC={cc}")
        make("make", "libsqlite3.la")
        make(cc, "-O2", "-g", "-pthread", "-I.", "-o", "sqlite_threads", PROGRAM, ".libs/libsqlite3.a", "-lz", "-lm")

    def prepare(self, data):
        pass

    def inputs(self):
        return [PROGRAM]

    def use(self, session, tree):
        session.call("threads", [tree / "sqlite_threads", ".", str(TRANSFERS)])

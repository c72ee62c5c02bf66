# SPDX-License-Identifier: MIT
"""Walks written by hand, for tests: the records of src/event/walk.h."""

import pathlib
import re
import struct

HEADER = (pathlib.Path(__file__).resolve().parents[2] / "src/event/walk.h").read_text()


def numbers(enum):
    """The names of an enum of walk.h, numbered."""
    body = re.search(r"enum %s \{(.*?)\n\};" % enum, HEADER, re.S).group(1)
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    return {name: i for i, name in enumerate(re.findall(r"\bWALK_\w+", body))}


KIND = numbers("walk_kind")
OP = numbers("walk_op")
SOURCE = numbers("walk_source")


class Walk:
    """Puts a walk together; expressions are numbers, as in the file."""

    def __init__(self):
        self.records = []
        self.last = 0
        self.width = {}

    def add(self, kind, width=0, thread=1, ordinal=0, module=0, expr=0, a=0, b=0):
        mask = (1 << 64) - 1
        self.records.append(
            struct.pack("<BBHIIIQQ", KIND["WALK_" + kind], width, thread, ordinal, module, expr, a & mask, b & mask)
        )
        return len(self.records) - 1

    def define(self, kind, width, **fields):
        self.last += 1
        self.add(kind, width, expr=self.last, **fields)
        self.width[self.last] = width
        return self.last

    def input(self, name, value, width=32):
        """A fission_input()."""
        index = len(self.records) + 1
        source = SOURCE["WALK_NAMED"] << 56 | index
        text = name.encode() + b"\0"
        for at in range(0, len(text), 8):
            self.add("NAME", ordinal=at, a=source, b=int.from_bytes(text[at : at + 8].ljust(8, b"\0"), "little"))
        value &= (1 << width) - 1
        return self.define("INPUT", width, a=source, ordinal=value & 0xFFFFFFFF, module=value >> 32)

    def byte(self, source, index, offset, value):
        return self.define("INPUT", 8, a=SOURCE["WALK_" + source] << 56 | index, b=offset, ordinal=value)

    def const(self, value, width=32):
        return self.define("CONST", width, a=value)

    def node(self, op, a, b=0, c=0, width=None):
        if width is None:
            width = 1 if op in ("EQ", "NE", "UGT", "UGE", "ULT", "ULE", "SGT", "SGE", "SLT", "SLE") else self.width[a]
        return self.define("NODE", width, ordinal=OP["WALK_" + op], a=a, b=b, module=c)

    def branch(self, expr, taken, **fields):
        return self.add("BRANCH", expr=expr, a=int(taken), **fields)

    def bytes(self, room=8):
        body = b"".join(self.records)
        return struct.pack("<8sQ", b"fsnwalk1", 16 + len(body) + 32 * room) + body + bytes(32 * room)

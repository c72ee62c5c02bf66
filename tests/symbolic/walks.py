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


class Read:
    """A walk from a file: its records, and what its expressions come to with other inputs."""

    def __init__(self, data):
        self.records, self.names, self.nodes = [], {}, {}
        for at in range(16, len(data) - 31, 32):
            kind, width, thread, ordinal, module, expr, a, b = struct.unpack_from("<BBHIIIQQ", data, at)
            if not kind:
                break
            name = next(n for n, i in KIND.items() if i == kind)[5:]
            self.records.append((name, width, thread, ordinal, module, expr, a, b))
            if name in ("INPUT", "CONST", "NODE"):
                self.nodes[expr] = self.records[-1]
            if name == "NAME":
                self.names[a] = self.names.get(a, b"") + b.to_bytes(8, "little")

    def name_of(self, a):
        return self.names.get(a, b"").rstrip(b"\0").decode()

    def branches(self):
        """(ordinal, expression, value) of each branch on inputs, in order."""
        return [(r[3], r[5], r[6]) for r in self.records if r[0] == "BRANCH" and r[5]]

    def evaluate(self, expr, value_of, known):
        """What the expression is, if value_of(record) are the inputs."""
        stack = [expr]
        while stack:
            e = stack[-1]
            kind, width, _, op, third, _, a, b = self.nodes[e]
            name = next(n for n, i in OP.items() if i == op)[5:] if kind == "NODE" else ""
            parts = [x for x in (a, 0 if name == "BYTE" else b, third) if x] if kind == "NODE" else []
            missing = [p for p in parts if p not in known]
            if missing:
                stack += missing
                continue
            stack.pop()
            if kind == "CONST":
                value = a
            elif kind == "INPUT":
                value = value_of(self.nodes[e])
            else:
                value = compute(name, width, self.nodes[a][1], known[a], b if name == "BYTE" else known.get(b, 0),
                                known.get(third, 0), self.nodes.get(b, (0, 0))[1])
            known[e] = value & ((1 << width) - 1)
        return known[expr]


def signed(x, width):
    return x - (1 << width) if x >> (width - 1) else x


def compute(op, width, wide, a, b, third, low):
    """By Python's own arithmetic, which has nothing to do with the runtime's."""
    x, y = signed(a, wide), signed(b, wide)
    quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) if b and op in ("SDIV", "SREM") else 0
    return {
        "ADD": lambda: a + b, "SUB": lambda: a - b, "MUL": lambda: a * b, "UDIV": lambda: a // b if b else 0,
        "UREM": lambda: a % b if b else 0, "SDIV": lambda: quotient, "SREM": lambda: x - quotient * y,
        "AND": lambda: a & b, "OR": lambda: a | b, "XOR": lambda: a ^ b,
        "SHL": lambda: a << b if b < wide else 0, "LSHR": lambda: a >> b if b < wide else 0,
        "ASHR": lambda: x >> b if b < wide else 0,
        "EQ": lambda: a == b, "NE": lambda: a != b, "UGT": lambda: a > b, "UGE": lambda: a >= b,
        "ULT": lambda: a < b, "ULE": lambda: a <= b, "SGT": lambda: x > y, "SGE": lambda: x >= y,
        "SLT": lambda: x < y, "SLE": lambda: x <= y,
        "ZEXT": lambda: a, "SEXT": lambda: x, "TRUNC": lambda: a, "CONCAT": lambda: a << low | b,
        "BYTE": lambda: a >> 8 * b, "CHOOSE": lambda: b if a else third,
    }[op]() + 0

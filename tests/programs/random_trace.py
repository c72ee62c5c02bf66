# SPDX-License-Identifier: MIT
"""Random well-formed traces of every kind of event, for the programs that perform them.

A trace is made by running a few imaginary threads: each step picks a thread that could go on and something that it
could do; each trace prefers other things. The same seed makes the same trace. Values are those that memory would
have; a read of what was written without a value has a wrong one, which a program must not mind.
"""

import random

SIZES = {"count": 4, "flag": 1, "total": 8, "short.one": 2}
LOAD_ORDERS = ["relaxed", "consume", "acquire", "seq_cst"]
STORE_ORDERS = ["relaxed", "release", "seq_cst"]
ALL_ORDERS = ["relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"]
UNKNOWN = object()


class Thread:
    def __init__(self, name, started):
        self.name = name
        self.started = started
        self.joined = False
        self.functions = []
        self.blocks = []
        self.wait = None      # (mutex, depth)
        self.barrier = None


class Lock:
    def __init__(self, kind):
        self.kind = kind      # plain, recursive or shared
        self.owner = None
        self.depth = 0
        self.readers = {}


class Trace:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines = []
        self.threads = [Thread(f"T{i}", i < self.rng.randint(1, 3)) for i in range(self.rng.randint(2, 5))]
        self.locks = {"m": Lock("plain"), "n": Lock("plain"), "deep": Lock("recursive"), "rw": Lock("shared")}
        self.conditions = {"c": "m", "d": "n", "e": "deep"}
        self.barriers = {}
        self.bytes = {}       # (object, offset) to a byte or UNKNOWN
        self.blocks = {}      # address or name to its size
        self.serial = 0

    def make(self, steps):
        operations = [(self.access, 10), (self.atomic, 4), (self.lock, 8), (self.unlock, 7), (self.fork, 4),
                      (self.join, 3), (self.enter, 4), (self.leave, 4), (self.begin, 2), (self.end, 2),
                      (self.wait, 3), (self.notify, 3), (self.arrive, 1), (self.semaphore, 2), (self.heap, 3)]
        calls = [call for call, _ in operations]
        weights = [weight * self.rng.choice([0.1, 1, 1, 6]) for _, weight in operations]
        while len(self.lines) < steps:
            able = [t for t in self.threads if self.can_go_on(t)]
            if not able:
                break
            t = self.rng.choice(able)
            for _ in range(40):
                if self.rng.choices(calls, weights)[0](t):
                    break
        return "".join(line + "\n" for line in self.lines)

    def can_go_on(self, t):
        if not t.started or t.joined or t.barrier:
            return False
        return not t.wait or self.locks[t.wait[0]].owner is None

    def put(self, t, operation):
        if t.wait:
            lock = self.locks[t.wait[0]]
            lock.owner, lock.depth = t, t.wait[1]
            t.wait = None
        self.serial += 1
        place = self.rng.choice(["", f"main.c:{self.serial}", f"dir/a b.c:{self.serial}:7", "somewhere", "x.c:0"])
        self.lines.append(f"{t.name}|{operation}|{place}")
        return True

    def awake(self, t):
        """What the thread holds is as it will be when its wait has ended."""
        return not t.wait

    # Memory

    def known(self, key, size, adopt):
        """The value of these bytes, or None. What was never touched gets a value if `adopt`."""
        places = [(key[0], key[1] + i) for i in range(size)]
        if any(self.bytes.get(p, None if adopt else UNKNOWN) is UNKNOWN for p in places):
            return None
        for p in places:
            self.bytes.setdefault(p, self.rng.choice([0, 0, 1, 200]))
        return sum(self.bytes[p] << 8 * i for i, p in enumerate(places))

    def store(self, key, size, value):
        for i in range(size):
            byte = UNKNOWN if value is None or i >= 8 else value >> (8 * i) & 255
            self.bytes[(key[0], key[1] + i)] = byte

    def variable(self, atomic):
        """(as it is written, key, size)"""
        r = self.rng
        pick = r.randrange(10)
        if pick < 3:
            return "x", ("x", 0), 8
        if pick < 5:
            name = r.choice(list(SIZES))
            return f"{name},{SIZES[name]}", (name, 0), SIZES[name]
        if pick < 6 and not atomic:
            size = r.choice([1, 3, 4, 12, 16, 300])
            return f"mixed,{size}", ("mixed", 0), size
        if pick < 7 and self.blocks:
            block = r.choice(sorted(self.blocks, key=str))
            if isinstance(block, str):
                return f"{block},8", (block, 0), 8
            if block % 8 and atomic:
                return f"0x{block:x},4", (None, block), 4
            offset = 8 * r.randrange(self.blocks[block] // 8)
            return f"0x{block + offset:x},8", (None, block + offset), 8
        size = r.choice([1, 2, 4, 8] if atomic else [1, 2, 4, 8, 5, 24])
        base = r.choice([0x1000, 0x1ff8, 0x7fff00001230])
        address = base + r.randrange(4) * (size if atomic else r.choice([1, size]))
        if atomic:
            address -= address % size
        return f"0x{address:x},{size}", (None, address), size

    def value(self, key, size, reads):
        """The value as it is written behind an access, and its effect on memory."""
        r = self.rng
        if not reads:
            value = r.choice([None, r.randrange(300), r.randrange(2 ** 64), -1])
            self.store(key, size, value)
            return "" if value is None else f"={value}"
        if r.random() < 0.5:
            return ""
        heap = key[0] in self.blocks or (key[0] is None and 0x50000 <= key[1] < 0x60000)
        value = self.known(key, min(size, 8), adopt=not heap)
        return f"={r.randrange(100) if value is None else value}"

    def access(self, t):
        text, key, size = self.variable(False)
        reads = self.rng.random() < 0.5
        return self.put(t, f"{'r' if reads else 'w'}({text}){self.value(key, size, reads)}")

    def atomic(self, t):
        r = self.rng
        kind = r.choice(["load", "store", "rmw", "fence"])
        if kind == "fence":
            return self.put(t, f"atomic_fence({r.choice(ALL_ORDERS)})")
        text, key, size = self.variable(True)
        order = r.choice({"load": LOAD_ORDERS, "store": STORE_ORDERS, "rmw": ALL_ORDERS}[kind])
        return self.put(t, f"atomic_{kind}({text},{order}){self.value(key, size, kind == 'load')}")

    def heap(self, t):
        r = self.rng
        if self.blocks and r.random() < 0.4:
            block = r.choice(sorted(self.blocks, key=str))
            if r.random() < 0.7:
                del self.blocks[block]
            return self.put(t, f"free({block if isinstance(block, str) else hex(block)})")
        if r.random() < 0.3:
            name = r.choice(["p", "q"])
            self.blocks[name] = 8
            self.store((name, 0), 8, None)
            return self.put(t, f"alloc({name},{r.choice([1, 8, 100])})")
        if len(self.blocks) > 6:
            return False
        block = 0x50000 + 0x1000 * self.serial % 0x10000 + r.choice([0, 8, 4])
        if any(not isinstance(b, str) and abs(b - block) < 128 for b in self.blocks):
            return False
        size = r.choice([8, 16, 64])
        self.blocks[block] = size
        self.store((None, block), size, None)
        return self.put(t, f"alloc(0x{block:x},{size})")

    # Locks, conditions, barriers, semaphores

    def lock(self, t):
        r = self.rng
        name = r.choice(list(self.locks))
        lock = self.locks[name]
        if not self.awake(t):
            return False
        if lock.kind == "shared" and r.random() < 0.6:
            if lock.owner:
                return False
            lock.readers[t.name] = lock.readers.get(t.name, 0) + 1
            return self.put(t, f"acq_shared({name})")
        if lock.readers or lock.owner not in (None, t) or (lock.owner is t and lock.kind != "recursive"):
            return False
        lock.owner = t
        lock.depth += 1
        return self.put(t, f"acq({name})")

    def unlock(self, t):
        r = self.rng
        if not self.awake(t):
            return False
        held = [n for n, m in self.locks.items() if m.owner is t or t.name in m.readers]
        if not held:
            return False
        name = r.choice(held)
        lock = self.locks[name]
        if lock.owner is t:
            lock.depth -= 1
            lock.owner = t if lock.depth else None
            return self.put(t, f"rel({name})")
        lock.readers[t.name] -= 1
        if not lock.readers[t.name]:
            del lock.readers[t.name]
        return self.put(t, f"{r.choice(['rel', 'rel_shared'])}({name})")

    def wait(self, t):
        if not self.awake(t):
            return False
        names = [c for c, m in self.conditions.items() if self.locks[m].owner is t]
        if not names:
            return False
        name = self.rng.choice(names)
        lock = self.locks[self.conditions[name]]
        self.put(t, f"wait({name},{self.conditions[name]})")
        t.wait = (self.conditions[name], lock.depth)
        lock.owner, lock.depth = None, 0
        return True

    def notify(self, t):
        return self.put(t, f"{self.rng.choice(['notify', 'notify_all'])}({self.rng.choice('cde')})")

    def arrive(self, t):
        name = self.rng.choice(["b", "b2"])
        parties, arrived = self.barriers.get(name, (0, []))
        if not arrived:
            parties = self.rng.randint(1, sum(u.started and not u.joined for u in self.threads))
        arrived = arrived + [t]
        self.put(t, f"barrier({name},{parties})")
        t.barrier = name
        if len(arrived) == parties:
            for u in arrived:
                u.barrier = None
            arrived = []
        self.barriers[name] = (parties, arrived)
        return True

    def semaphore(self, t):
        return self.put(t, f"{self.rng.choice(['sem_wait', 'sem_post'])}({self.rng.choice(['s', 's2'])})")

    # Threads, functions, blocks

    def fork(self, t):
        new = [u for u in self.threads if not u.started]
        if not new:
            return False
        u = self.rng.choice(new)
        u.started = True
        return self.put(t, f"fork({u.name})")

    def join(self, t):
        def is_over(u):
            held = any(m.owner is u or u.name in m.readers for m in self.locks.values())
            return u is not t and u.started and not (
                u.joined or u.functions or u.blocks or u.wait or u.barrier or held)

        over = [u for u in self.threads if is_over(u)]
        if not over or self.rng.random() < 0.7:
            return False
        u = self.rng.choice(over)
        u.joined = True
        return self.put(t, f"join({u.name})")

    def enter(self, t):
        if len(t.functions) > 5:
            return False
        t.functions.append(self.rng.choice(["f", "g", "read", "operator+", "ns::call<int>", "main"]))
        return self.put(t, f"enter({t.functions[-1]})")

    def leave(self, t):
        return bool(t.functions) and self.put(t, f"exit({t.functions.pop()})")

    def begin(self, t):
        t.blocks.append(self.rng.choice(["", "(block)", "(a*/b)"]))
        return self.put(t, f"begin{t.blocks[-1]}")

    def end(self, t):
        return bool(t.blocks) and self.put(t, f"end{t.blocks.pop()}")


def random_trace(seed, steps):
    """The text of the trace with at most that many events."""
    return Trace(seed).make(steps)

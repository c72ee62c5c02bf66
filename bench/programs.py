#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small programs as traces, for the tables of bench/ladder.py: programs.py DIRECTORY [SEED]

Each is written down as a set of threads that yield their operations, and run by a scheduler that picks at random who
goes next, with locks, conditions and barriers as they are. They are the shapes that the papers measured: a simulation
with a lock a floor, a search with a shared bound, a grid with barriers, collections whose methods are locked one by
one, tasks that own their memory and hand it over, a checksum that is not locked by the same lock everywhere.
"""

import collections
import pathlib
import random
import sys


class Machine:
    """Memory, locks and threads of one run; `lines` is the trace."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.memory = collections.defaultdict(int)
        self.owner = {}
        self.threads = {}
        self.blocked = {}  # thread: what it waits for, as a function
        self.arrived = collections.defaultdict(list)
        self.next_address = 0x10000

    def emit(self, thread, operation, place=""):
        self.lines.append(f"{thread}|{operation}" + (f"|{place}" if place else ""))

    def start(self, name, body, parent=None, place=""):
        if parent:
            self.emit(parent, f"fork({name})", place)
        self.threads[name] = body
        self.blocked[name] = None

    def alloc(self, size):
        address = self.next_address
        self.next_address += (size + 63) // 64 * 64
        return address

    def run(self):
        send = dict.fromkeys(self.threads)
        while self.threads:
            ready = [t for t in self.threads if not self.blocked[t] or self.blocked[t]()]
            if not ready:
                raise SystemExit("programs: deadlock")
            thread = self.random.choice(ready)
            self.blocked[thread] = None
            try:
                operation = self.threads[thread].send(send.get(thread))
            except StopIteration:
                del self.threads[thread]
                continue
            send[thread] = self.step(thread, *operation)

    def step(self, thread, kind, *arguments):
        return getattr(self, "do_" + kind)(thread, *arguments)

    def do_r(self, t, x, place):
        self.emit(t, f"r({x})={self.memory[x]}", place)
        return self.memory[x]

    def do_w(self, t, x, value, place):
        self.memory[x] = value
        self.emit(t, f"w({x})={value}", place)

    def do_want(self, t, m, *_):
        """The next operation of the thread waits until the lock is free."""
        self.blocked[t] = lambda: m not in self.owner

    def do_acq(self, t, m, place):
        self.owner[m] = t
        self.emit(t, f"acq({m})", place)

    def do_rel(self, t, m, place):
        del self.owner[m]
        self.emit(t, f"rel({m})", place)

    def do_emit(self, t, operation, place=""):
        self.emit(t, operation, place)

    def do_alloc(self, t, size, place):
        address = self.alloc(size)
        self.emit(t, f"alloc({address:#x},{size})", place)
        return address

    def do_until(self, t, condition):
        self.blocked[t] = condition

    def do_barrier(self, t, name, parties, place):
        """Arrives; the thread goes on when the round is complete."""
        queue = self.arrived[name]
        queue.append(t)
        arrival = len(queue)
        self.emit(t, f"barrier({name},{parties})", place)
        self.blocked[t] = lambda: len(queue) >= (arrival + parties - 1) // parties * parties

    def do_fork(self, t, name, body, place):
        self.start(name, body, t, place)

    def do_join(self, t, name, place):
        self.emit(t, f"join({name})", place)


def lock(m, place):
    yield "want", m, place
    yield "acq", m, place


def locked(m, place, body):
    yield from lock(m, place)
    result = yield from body
    yield "rel", m, place
    return result


def call(name, place, body):
    yield "emit", f"enter({name})", place
    result = yield from body
    yield "emit", f"exit({name})", place
    return result


def read(x, place):
    return (yield "r", x, place)


def write(x, value, place):
    yield "w", x, value, place


def add(x, n, place):
    value = yield "r", x, place
    yield "w", x, value + n, place


def main_of(machine, workers, before=None):
    """main: perhaps some work, then a thread for each worker, then joins."""

    def body():
        yield "emit", "enter(main)"
        if before:
            yield from before
        for name, work in workers.items():
            yield "fork", name, call("run", "", work), "main.c:10"
        for name in workers:
            yield "until", lambda name=name: name not in machine.threads
            yield "join", name, "main.c:20"
        yield "emit", "exit(main)"

    machine.start("main", body())


def bank(m):
    def withdraw(amount):
        balance = yield from locked("mu", "bank.c:4", read("balance", "bank.c:5"))
        if balance >= amount:
            yield from locked("mu", "bank.c:8", write("balance", balance - amount, "bank.c:9"))

    def customer():
        for _ in range(3):
            yield from call("withdraw", "bank.c:20", withdraw(10))

    m.memory["balance"] = 100
    main_of(m, {"alice": customer(), "bob": customer()})


def elevator(m):
    """Claiming a floor is two locked steps; going there is one."""

    def check(floor):
        return (yield from locked(f"floor{floor}", "elev.c:11", read(f"up{floor}", "elev.c:12")))

    def claim(floor):
        if (yield from call("check", "elev.c:21", check(floor))):
            yield from call("take", "elev.c:23", locked(f"floor{floor}", "elev.c:31",
                                                        write(f"up{floor}", 0, "elev.c:32")))

    def move(i):
        yield from locked(f"lift{i}", "elev.c:41", add(f"at{i}", 1, "elev.c:42"))

    def lift(i):
        for floor in (1, 2, 3, 1):
            yield from call("claim", "elev.c:51", claim(floor))
            yield from call("move", "elev.c:52", move(i))

    for floor in (1, 2, 3):
        m.memory[f"up{floor}"] = 1
    main_of(m, {f"lift{i}": lift(i) for i in (1, 2)})


def tsp(m):
    """A bound that is read without its lock, written with it, and a queue of tours."""

    def get_tour():
        left = yield from read("tours", "tsp.c:11")
        if left:
            yield from write("tours", left - 1, "tsp.c:13")
        return left

    def set_best(length):
        if (yield from read("min", "tsp.c:21")) > length:
            yield from write("min", length, "tsp.c:22")

    def solve(length):
        if (yield from read("min", "tsp.c:31")) > length:
            yield from call("set_best", "tsp.c:32", locked("min_lock", "tsp.c:20", set_best(length)))

    def worker(k):
        while (yield from call("get_tour", "tsp.c:41", locked("queue", "tsp.c:10", get_tour()))):
            yield from call("solve", "tsp.c:42", solve(m.random.randrange(50)))

    m.memory.update(tours=6, min=40)
    main_of(m, {f"w{k}": worker(k) for k in range(3)})


def sor(m):
    """Rows of a grid between barriers, no lock at all."""

    def sweep(k):
        around = 0
        for row in (k - 1, k + 1):
            around += yield from read(f"row{row % 3}", "sor.c:11")
        return around

    def store(k, value):
        yield from write(f"row{k}", value, "sor.c:21")
        yield from add(f"row{k}", 1, "sor.c:22")

    def worker(k):
        for _ in range(3):
            value = yield from call("sweep", "sor.c:31", sweep(k))
            yield "barrier", "b", 3, "sor.c:32"
            yield from call("store", "sor.c:33", store(k, value))
            yield "barrier", "b", 3, "sor.c:34"

    def initialise():
        for k in range(3):
            yield from write(f"row{k}", k, "sor.c:41")

    main_of(m, {f"w{k}": worker(k) for k in range(3)}, call("initialise", "sor.c:42", initialise()))


def stringbuffer(m):
    def length(sb):
        return (yield from locked(f"{sb}.lock", "sb.c:11", read(f"{sb}.count", "sb.c:12")))

    def get_chars(sb, n):
        count = yield from read(f"{sb}.count", "sb.c:22")
        if n <= count:
            yield from read(f"{sb}.value", "sb.c:23")

    def append(to, sb):
        n = yield from call("length", "sb.c:31", length(sb))
        yield from call("get_chars", "sb.c:32", locked(f"{sb}.lock", "sb.c:21", get_chars(sb, n)))
        yield from add(f"{to}.count", n, "sb.c:33")

    def set_length(sb):
        yield from write(f"{sb}.count", 0, "sb.c:42")

    def appender():
        yield from call("append", "sb.c:51", locked("a.lock", "sb.c:30", append("a", "b")))

    def eraser():
        yield from call("set_length", "sb.c:52", locked("b.lock", "sb.c:41", set_length("b")))

    m.memory.update({"b.count": 5})
    main_of(m, {"t1": appender(), "t2": eraser()})


def vector(m):
    """The constructor from another vector; modCount is checked without its lock."""

    def size(v):
        return (yield from locked(f"{v}.lock", "vec.c:11", read(f"{v}.count", "vec.c:12")))

    def to_array(v):
        count = yield from read(f"{v}.count", "vec.c:22")
        for i in range(min(count, 3)):
            yield from read(f"{v}.data[{i}]", "vec.c:23")

    def construct(v):
        data = yield "alloc", 64, "vec.c:31"
        count = yield from call("size", "vec.c:32", size(v))
        yield from write(f"{data:#x}", count, "vec.c:33")
        yield from call("to_array", "vec.c:34", locked(f"{v}.lock", "vec.c:21", to_array(v)))
        yield from write(f"{data + 8:#x}", 1, "vec.c:35")

    def add_element(v):
        yield from add(f"{v}.modCount", 1, "vec.c:42")
        yield from add(f"{v}.count", 1, "vec.c:43")

    def iterate(v):
        yield from read(f"{v}.modCount", "vec.c:51")

    def builder():
        yield from call("construct", "vec.c:61", construct("v"))
        yield from call("iterate", "vec.c:62", iterate("v"))

    def changer():
        for _ in range(2):
            yield from call("add_element", "vec.c:63", locked("v.lock", "vec.c:41", add_element("v")))

    m.memory.update({"v.count": 2})
    main_of(m, {"t1": builder(), "t2": changer(), "t3": changer()})


def montecarlo(m):
    """Each task works in memory of its own and adds its result under the lock."""

    def task():
        own = yield "alloc", 64, "mc.c:11"
        for i in range(3):
            yield from write(f"{own + 8 * i:#x}", i, "mc.c:12")
        total = 0
        for i in range(3):
            total += yield from read(f"{own + 8 * i:#x}", "mc.c:13")
        yield from locked("results", "mc.c:14", add("sum", total, "mc.c:15"))
        yield "emit", f"free({own:#x})", "mc.c:16"

    def worker():
        for _ in range(2):
            yield from call("task", "mc.c:21", task())

    main_of(m, {f"w{k}": worker() for k in range(3)})


def raytracer(m):
    """The checksum is protected by a lock that each thread has for itself."""

    def render(k):
        value = yield from locked(f"own{k}", "ray.c:11", add("checksum", k + 1, "ray.c:12"))
        return value

    def worker(k):
        for _ in range(2):
            yield from call("render", "ray.c:21", render(k))

    main_of(m, {f"w{k}": worker(k) for k in range(3)})


def pool(m):
    """Jobs are made in private memory, published through a queue, and taken over by a worker."""

    queue = collections.deque()

    def put(job):
        yield from write("queue", job, "pool.c:12")
        queue.append(job)

    def produce():
        for i in range(4):
            job = yield "alloc", 32, "pool.c:21"
            yield from write(f"{job:#x}", i, "pool.c:22")
            yield from write(f"{job + 8:#x}", 0, "pool.c:23")
            yield from call("put", "pool.c:24", locked("qlock", "pool.c:11", put(job)))

    def take():
        yield from read("queue", "pool.c:32")
        return queue.popleft() if queue else None

    def work(job):
        yield from read(f"{job:#x}", "pool.c:41")
        yield from add(f"{job + 8:#x}", 1, "pool.c:42")
        yield from locked("stats", "pool.c:43", add("done", 1, "pool.c:44"))
        yield from locked("stats", "pool.c:45", add("bytes", 32, "pool.c:46"))

    def worker():
        done = 0
        while done < 2:
            yield "until", lambda: queue
            job = yield from call("take", "pool.c:51", locked("qlock", "pool.c:31", take()))
            if job:
                yield from call("work", "pool.c:52", work(job))
                done += 1

    main_of(m, {"maker": produce(), "w1": worker(), "w2": worker()})


def philo(m):
    """Two forks each, taken in one order, and a counter of meals."""

    def eat(i):
        left, right = sorted((i, (i + 1) % 3))
        yield from lock(f"fork{left}", "philo.c:11")
        yield from lock(f"fork{right}", "philo.c:12")
        yield from add(f"meals{i}", 1, "philo.c:13")
        yield "rel", f"fork{right}", "philo.c:14"
        yield "rel", f"fork{left}", "philo.c:15"

    def philosopher(i):
        for _ in range(3):
            yield from call("eat", "philo.c:21", eat(i))

    main_of(m, {f"p{i}": philosopher(i) for i in range(3)})


PROGRAMS = (bank, elevator, tsp, sor, stringbuffer, vector, montecarlo, raytracer, pool, philo)


def make(directory, seed):
    """Writes every program's trace into the directory; returns {name: path}."""
    paths = {}
    for program in PROGRAMS:
        machine = Machine(f"{program.__name__} {seed}")
        program(machine)
        machine.run()
        paths[program.__name__] = pathlib.Path(directory, f"{program.__name__}.std")
        paths[program.__name__].write_text("\n".join(machine.lines) + "\n")
    return paths


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: programs.py DIRECTORY [SEED]")
    make(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else "1")

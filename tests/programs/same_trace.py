# SPDX-License-Identifier: MIT
"""Whether a recording is that of a trace, up to names: compare(trace, recording, own_file) raises Different.

The recording is what `fission record` wrote of the program that `fission trace program` made of the trace. Both are
texts in the form of `fission trace convert --to=text`.

What must be equal. There is one map of names, one to one: threads, functions, locks, conditions, semaphores,
barriers, and pieces of memory. Under it each thread does the same in the same order: operations, sizes, memory orders,
parties, labels (letter by letter), and the bytes that it touches. Compilers take consume for acquire, and a relaxed
fence for nothing. Places are equal where the trace has FILE:LINE;
elsewhere they are in the program's own file. An exit has no place: a function has one way out, wherever its returns
stand. With values, writes wrote what the trace says, and reads read what it determines. The value of a write is looked
up at the thread's next event, so it is not compared if another thread writes there before that.

Order. Synchronisation, atomic operations, alloc and free have one order, that of the trace. Everything else is between
what its thread has synchronised before and after it. So event a must stand before b of another thread if a's thread
has a synchronisation at or behind a, b's thread has one at or before b, and the trace has them in that order; this
contains everything that happens-before. Accesses that race stand anywhere in between.

An atomic load of what somebody exchanges may be a look at a home-made lock. The collector holds such looks back, and
leaves them out if the thread's next operation is on the same object (spinlocks.h): they stand anywhere before the
thread's next synchronisation, or are missing if an atomic operation on the same object is next, calls aside.

Three things have no single point in the program, so their bounds count instead. A wait and an arrival at a barrier
hand the turn on before they block (trace_program.c): a wait is told before anybody has its mutex next, an arrival
before anybody leaves its round. The end of a wait is behind the last release of its mutex by another thread, and a
departure behind the last arrival, both before the thread's next event. A thread's begin is behind its fork and its
end before its join.

What is the program's own and not the trace's, and nothing else:
  - the thread of main. It does this and no more: enter main; allocate a copy for each thread if some access has a
    size that C has no type for; fork the threads that nobody forks, in the order of their appearance; notify_all
    on conditions that threads of the trace wait for; join those that nobody joins, do not wait for ever, and have
    left their blocks; exit main.
  - the first event of each thread, the enter of its start routine, and its last, the exit of it; before that the
    exits of the functions that the trace leaves open. One that is blocked for good leaves nothing. A thread that does
    nothing has neither: compilers tell nothing of a function that neither calls nor accesses.
  - accesses to the copies: whatever lies in what main has allocated.
  - alloc and free by libc itself, for the threads that it makes and ends: their places are neither in the program's own
    file nor in the trace.
  - at a wait with a mutex that is held n times, the n - 1 releases before and acquires behind; and the same wait
    once more, right behind itself, by a thread that was woken early.
  - a wait or an arrival that nothing ends may be missing: main has ended the process before. Then the thread has left
    its functions.
  - declarations (assume_atomic and its like) are nothing that a thread does, and not in the recording.
  - a free that the program cannot do, of nothing or of what is used later, is not in the recording.
  - memory: an alloc at an address A is A % 16 bytes longer, and starts so much earlier; one that has a name is as
    long as the widest access to it. An access without a size has one byte at an address, else eight, or as many as
    the widest access with a size if that is narrower.
"""

import re
from collections import defaultdict
from posixpath import normpath

ONE = {"acq", "rel", "acq_shared", "rel_shared", "fork", "join", "notify", "notify_all", "sem_wait", "sem_post",
       "free", "enter", "exit"}
ACCESS = {"r", "w", "atomic_load", "atomic_store", "atomic_rmw"}
READS = {"r", "atomic_load"}
SAID = {"assume_atomic", "assume_mover", "assume_guarded", "no_warn"}
UNORDERED = {"r", "w", "enter", "exit", "begin", "end"} | SAID
PAGE = 4096
MASK = 2 ** 64 - 1


class Different(Exception):
    pass


def plain(name):
    """Without the escapes that a name needs in some operations and not in others."""
    return name and re.sub("%(28|29|7C|3D|2C|25|2D|23|78|20|09)", lambda m: chr(int(m.group(1), 16)), name)


class Event:
    def __init__(self, number, line):
        fields = line.split("|")
        self.number = number
        self.line = line
        self.thread = fields[0]
        self.place = fields[2] if len(fields) > 2 else ""
        self.op, inside, value = re.fullmatch(r"(\w+)(?:\((.*)\))?(?:=([-\w]+))?", fields[1]).groups()
        self.value = int(value, 0) & MASK if value is not None else None
        self.name, self.second, self.size, self.order = inside, None, None, None
        if self.op in ("wait", "barrier", "alloc"):
            self.name, self.second = inside.rsplit(",", 1)
        elif self.op in ("r", "w"):
            self.name, self.size = re.fullmatch(r"(.*?)(?:,(\d+))?", inside).groups()
        elif self.op == "atomic_fence":
            self.name, self.order = None, inside
        elif self.op in ACCESS:
            self.name, self.size, self.order = re.fullmatch(r"(.*?)(?:,(\d+))?,(\w+)", inside).groups()
        self.order = "acquire" if self.order == "consume" else self.order
        self.size = int(self.size) if self.size is not None else None
        self.address = int(self.name, 16) if self.name and re.fullmatch("0x[0-9a-f]{1,16}", self.name) else None
        self.name, self.second = plain(self.name), plain(self.second)


def parse(text):
    lines = [line for line in text.split("\n") if line and not line.startswith("#")]
    return name_sides([Event(i + 1, line) for i, line in enumerate(lines)])


def is_nothing(e):
    return e.op in SAID or e.op == "atomic_fence" and e.order == "relaxed"


def name_sides(events):
    """`rel` releases whichever side is held: call it by its side."""
    shared = defaultdict(int)
    for e in events:
        if e.op == "acq_shared":
            shared[e.thread, e.name] += 1
        elif e.op in ("rel", "rel_shared") and shared[e.thread, e.name]:
            shared[e.thread, e.name] -= 1
            e.op = "rel_shared"
    return events


class Store:
    """A piece of memory that has an address of its own in the program."""

    def __init__(self, kind, start=0, count=0):
        self.kind = kind              # page, global or block
        self.start = start            # the address in the trace that it begins at
        self.count = count            # of a block: the bytes of its alloc
        self.widest = 0
        self.last_use = 0
        self.alloc = self.freed = None
        self.base = None              # its address in the recording
        self.initial = {}             # bytes that are read with a value before they are written


class Memory:
    """Which store, and which bytes of it, each event of a trace touches."""

    def __init__(self, events):
        self.stores, self.named, self.blocks, self.pages = [], {}, [], {}
        self.spots = {}               # event number: (store, offset), size
        for e in events:
            if e.op == "alloc":
                self.add_block(e)
            elif e.op == "free":
                self.add_free(e)
            elif e.op in ACCESS:
                self.add_access(e)
        self.sizes = {e.number: self.size_of(e) for e in events if e.op in ACCESS}

    def new(self, *arguments):
        self.stores.append(Store(*arguments))
        return self.stores[-1]

    def add_block(self, e):
        block = self.new("block", e.address or 0, int(e.second))
        block.alloc = e.number
        self.spots[e.number] = (block, 0)
        if e.address is None:
            self.named[e.name] = block
        else:
            self.blocks.append(block)

    def add_free(self, e):
        if e.address is None:
            store = self.named.get(e.name)
        else:
            store = next((b for b in reversed(self.blocks) if b.start == e.address), None)
        if store and store.kind == "block" and not store.freed:
            store.freed = e.number
            self.spots[e.number] = (store, 0)

    def add_access(self, e):
        if e.address is None:
            store = self.named.get(e.name) or self.named.setdefault(e.name, self.new("global"))
        else:
            store = next((b for b in reversed(self.blocks) if b.start <= e.address < b.start + b.count), None)
            start = e.address // PAGE * PAGE
            store = store or self.pages.get(start) or self.pages.setdefault(start, self.new("page", start))
        self.spots[e.number] = (store, e.address - store.start if e.address is not None else 0)
        store.widest = max(store.widest, e.size or 0, e.address is not None)
        store.last_use = e.number

    def size_of(self, e):
        size, widest = 8, self.spots[e.number][0].widest
        if e.size is not None or e.address is not None:
            return e.size or 1
        while widest and size > widest:
            size //= 2
        return size

    def is_freed(self, e):
        store = self.spots.get(e.number, (None,))[0]
        return store is not None and store.last_use < e.number

    def is_odd(self):
        return any(size not in (1, 2, 4, 8) for size in self.sizes.values())

    def span(self, e):
        """(where, first byte): accesses to pages may run from one into the next."""
        store, offset = self.spots[e.number]
        return (None, store.start + offset) if store.kind == "page" else (store, offset)

    def values(self, events):
        """Event number: the value that the program must have written or read there, where that is known."""
        bytes_now, vague, told = {}, set(), {}
        for e in (e for e in events if e.op in ACCESS):
            where, first = self.span(e)
            at = [(where, first + i) for i in range(min(self.sizes[e.number], 8))]
            if e.op not in READS:
                value = (e.value if e.value is not None else e.number) & (256 ** len(at) - 1)
                told[e.number] = value
                bytes_now.update(zip(at, value.to_bytes(len(at), "little")))
                (vague.update if e.value is None else vague.difference_update)(at)
                for i in range(8, self.sizes[e.number]):
                    bytes_now[where, first + i] = None
                continue
            fresh = [b for b in at if b not in bytes_now]
            if fresh and (e.value is None or self.spots[e.number][0].kind == "block" or vague & {*at}
                          or any(bytes_now.get(b, 0) is None for b in at)):
                continue
            for b in fresh:
                bytes_now[b] = e.value >> 8 * at.index(b) & 255
            if all(bytes_now[b] is not None for b in at):
                told[e.number] = int.from_bytes(bytes(bytes_now[b] for b in at), "little")
        return told

    def overlap(self, a, b):
        (one, at), (other, there) = self.span(a), self.span(b)
        return one is other and at < there + self.sizes[b.number] and there < at + self.sizes[a.number]


class Trace:
    """A trace, and what follows from it for the program's recording."""

    def __init__(self, text):
        self.events = parse(text)
        self.threads = list(dict.fromkeys(t for e in self.events
                                          for t in ([e.thread, e.name] if e.op in ("fork", "join") else [e.thread])))
        self.memory = Memory(self.events)
        self.of = {t: [e for e in self.events if e.thread == t] for t in self.threads}
        self.next = {a.number: b for es in self.of.values() for a, b in zip(es, es[1:])}
        self.values = {n: v for n, v in self.memory.values(self.events).items() if self.is_certain(n)}
        self.depth = self.depth_of_waits()
        self.rounds = self.rounds_of_barriers()
        taken = {self.memory.span(e) for e in self.events if e.op == "atomic_rmw"}
        self.looks = {e.number for e in self.events if e.op == "atomic_load" and self.memory.span(e) in taken}
        self.bounds()

    def is_performed(self, e):
        return not is_nothing(e) and (e.op != "free" or self.memory.is_freed(e))

    def is_sync(self, e):
        return e.op not in UNORDERED and self.is_performed(e) and e.number not in self.looks

    def is_certain(self, number):
        """Not a write that another thread may overwrite before its own thread's next event."""
        e = self.events[number - 1]
        later = (x.number for x in self.of[e.thread]
                 if x.number > number and self.is_performed(x) and x.op not in ("wait", "barrier"))
        until = next(later, len(self.events) + 1)
        return e.op != "w" or not any(x.thread != e.thread and x.op in ACCESS - READS and self.memory.overlap(e, x)
                                      for x in self.events[number:until - 1])

    def depth_of_waits(self):
        held, depth = defaultdict(int), {}
        for e in self.events:
            if e.op == "acq":
                held[e.thread, e.name] += 1
            elif e.op == "rel":
                held[e.thread, e.name] -= 1
            elif e.op == "wait":
                depth[e.number] = held[e.thread, e.second]
        return depth

    def rounds_of_barriers(self):
        """Arrival: the number of the arrival that completes its round, if one does."""
        waiting, last = defaultdict(list), {}
        for e in (e for e in self.events if e.op == "barrier"):
            waiting[e.name].append(e)
            if len(waiting[e.name]) == int(e.second):
                last.update((a.number, e.number) for a in waiting.pop(e.name))
        return last

    def stuck(self, thread):
        last = self.of[thread][-1] if self.of[thread] else None
        return last is not None and (last.op == "wait" or last.op == "barrier" and last.number not in self.rounds)

    def in_block(self, thread):
        ops = [e.op for e in self.of[thread]]
        return ops.count("begin") > ops.count("end")

    def woken(self, wait):
        """The end of a wait is behind the last release of the mutex before the thread's next event."""
        until = self.next[wait.number].number
        last = wait.number
        for e in self.events[wait.number:until - 1]:
            if e.thread != wait.thread and (e.op == "rel" and e.name == wait.second
                                            or e.op == "wait" and e.second == wait.second):
                last = e.number
        return last + 0.5

    def bounds(self):
        """Event number: `since`, everything up to there is before it; `until`, everything from there on is behind."""
        ends = {e.number: self.woken(e) for e in self.events if e.op == "wait" and e.number in self.next}
        ends.update((a, last + 0.5) for a, last in self.rounds.items())
        forked = {e.name: e.number for e in self.events if e.op == "fork"}
        joined = {e.name: e.number for e in self.events if e.op == "join"}
        self.since, self.until = {}, {}
        for t, events in self.of.items():
            since, until = forked.get(t, 0), joined.get(t, float("inf"))
            for e in events:
                since = e.number if self.is_sync(e) else since
                self.since[e.number] = since
                since = ends.get(e.number, since)
            for e in reversed(events):
                until = self.told_by(e, ends, until)
                self.until[e.number] = until

    def told_by(self, e, ends, until):
        if not self.is_sync(e):
            return until
        if e.op == "wait":
            acquires = [a.number for a in self.events[e.number:] if a.op == "acq" and a.name == e.second]
            woken = [end for w, end in ends.items()
                     if w != e.number and end > e.number and self.events[w - 1].second == e.second]
            return min([*acquires[:1], *woken, until])
        if e.op == "barrier":
            return min(ends.get(e.number, until), until)
        return e.number


def place_of(text):
    """(file, line) of FILE:LINE or FILE:LINE:COLUMN; None if it is neither."""
    found = re.fullmatch(r"(.+?):(\d{1,9})(?::(\d{1,9}))?", text)
    if not found:
        return None
    file, line, column = found.groups()
    if column and not int(line):
        file, line = f"{file}:{line}", column
    return (normpath(file), int(line)) if int(line) and (not column or int(column)) else None


class Comparison:
    def __init__(self, trace, recording, own_file):
        self.trace = Trace(trace)
        self.own_file = own_file
        self.places = {place_of(e.place) for e in self.trace.events}
        self.recorded = [e for e in parse(recording) if not self.is_of_libc(e)]
        self.of = defaultdict(list)
        for e in self.recorded:
            self.of[e.thread].append(e)
        self.there, self.back = {}, {}
        self.position = {}            # event number in the trace: in the recording
        self.copies = []              # (first, last) address
        self.compared_values = 0

    def is_own(self, place):
        return place is not None and place[0].rsplit("/", 1)[-1] == self.own_file

    def is_of_libc(self, e):
        place = place_of(e.place)
        return e.op in ("alloc", "free") and not self.is_own(place) and (place is None or place not in self.places)

    def fail(self, why, wanted=None, got=None):
        told = [f"{e.number}: {e.line}" if e else "nothing" for e in (wanted, got)]
        raise Different(f"{why}; the trace has {told[0]!r}, the recording {told[1]!r}" if wanted or got else why)

    def match(self, kind, name, other, wanted=None, got=None):
        if self.there.setdefault((kind, name), other) != other:
            self.fail(f"{kind} {name} is {self.there[kind, name]} and {other}", wanted, got)
        kind = "sync" if kind in ("lock", "condition", "semaphore", "barrier") else kind
        if self.back.setdefault((kind, other), name) != name:
            self.fail(f"{kind} {other} is {self.back[kind, other]} and {name}", wanted, got)

    def run(self):
        if not self.recorded:
            self.fail("nothing was recorded")
        self.main()
        for t in self.trace.threads:
            if ("thread", t) not in self.there:
                if any(e.op == "fork" and e.name == t for e in self.trace.events):
                    continue
                self.fail(f"thread {t} was not recorded")
            self.thread(t)
        for t in self.of:
            if ("thread", t) not in self.back:
                self.fail(f"thread {t} is nobody's")
        self.disjoint()
        self.order()

    # The program's own thread.

    def main(self):
        name = self.recorded[0].thread
        events = self.of[name]
        self.back["thread", name] = "main"
        forked = {e.name for e in self.trace.events if e.op == "fork"}
        joined = {e.name for e in self.trace.events if e.op == "join"}
        starts = [t for t in self.trace.threads if t not in forked]
        joins = [t for t in self.trace.threads
                 if t not in joined and not self.trace.stuck(t) and not self.trace.in_block(t)]
        ops = [e.op for e in events if e.op != "notify_all"]
        allocs = len(self.trace.threads) if self.trace.memory.is_odd() else 0
        if ops != ["enter"] + ["alloc"] * allocs + ["fork"] * len(starts) + ["join"] * len(joins) + ["exit"]:
            self.fail(f"main does {ops}, and should fork {starts} and join {joins}")
        self.copies = [(e.address, e.address + int(e.second) - 1) for e in events if e.op == "alloc"]
        for t, e in zip(starts, [e for e in events if e.op == "fork"]):
            self.match("thread", t, e.name)
        self.mains_joins = list(zip(joins, [e.name for e in events if e.op == "join"]))
        self.mains_notifies = [e for e in events if e.op == "notify_all"]
        bounds = [i for i, e in enumerate(events) if e.op != "notify_all"]
        if self.mains_notifies and bounds != [*range(1 + allocs + len(starts)),
                                              *range(len(events) - len(joins) - 1, len(events))]:
            self.fail("main notifies before its last fork or behind its first join")

    def main_end(self):
        for t, name in self.mains_joins:
            self.match("thread", t, name)
        waited = {self.there.get(("condition", e.name)) for e in self.trace.events if e.op == "wait"}
        for e in self.mains_notifies:
            if e.name not in waited:
                self.fail(f"main notifies {e.name}, for which no thread waits")

    # One thread of the trace.

    def own_events(self, name):
        """Without the accesses to the copies."""
        return [e for e in self.of[name] if not is_nothing(e)
                and not (e.op in ("r", "w") and any(first <= e.address <= last for first, last in self.copies))]

    def wanted(self, t):
        """(operation, event of the trace or None) in their order, and the functions that are left open."""
        steps, open_functions = [], []
        for e in self.trace.of[t]:
            if not self.trace.is_performed(e):
                continue
            holds = self.trace.depth[e.number] - 1 if e.op == "wait" else 0
            steps += [("rel", e, e.second)] * holds + [(e.op, e, None)]
            if e.number in self.trace.next:
                steps += [("acq", e, e.second)] * holds
            if e.op == "enter":
                open_functions.append(e)
            elif e.op == "exit":
                open_functions.pop()
        return steps, open_functions

    def thread(self, t):
        recorded = self.own_events(self.there["thread", t])
        steps, open_functions = self.wanted(t)
        if not steps and not recorded:
            return
        if not recorded or recorded[0].op != "enter":
            self.fail(f"thread {t} does not begin with an enter: {[e.line for e in recorded]}")
        self.match("function", ("start of", t), recorded[0].name)
        self.last = None
        rest = recorded[:0:-1]        # the next one is the last
        blocked = self.trace.stuck(t)
        if blocked and recorded[-1].op == "exit":
            steps.pop()
            blocked = False
        for i, (op, e, own) in enumerate(steps):
            if not self.is_left_out(rest, e, steps[i + 1:]):
                self.step(op, e, own, self.next_of(rest, op, e, own))
        exits = [] if blocked else [e.name for e in reversed(open_functions)] + [("start of", t)]
        for name in exits:
            got = rest.pop() if rest else None
            if got is None or got.op != "exit":
                self.fail(f"function {name} is open where the trace of {t} ends, but is not left", None, got)
            self.match("function", name, got.name, None, got)
        while rest and self.waits_again(rest[-1]):
            rest.pop()
        if rest:
            self.fail(f"thread {t} does more", None, rest[-1])

    def is_left_out(self, rest, e, later):
        """Whether the event is a look that is followed by an operation on the same object, and is not recorded."""
        following = next((x for _, x, _ in later if x.op not in ("enter", "exit")), None)
        if e.number not in self.trace.looks or not following or following.op not in ACCESS - {"r", "w"}:
            return False
        if self.trace.memory.span(e) != self.trace.memory.span(following):
            return False
        return not rest or rest[-1].op != "atomic_load" or place_of(e.place) not in (None, place_of(rest[-1].place))

    def waits_again(self, got):
        last = self.last
        return (last and last.op == got.op == "wait" and (last.name, last.second) == (got.name, got.second)
                and last.place == got.place)

    def next_of(self, rest, op, e, own):
        got = rest.pop() if rest else None
        while got and (op != "wait" or own) and self.waits_again(got):
            got = rest.pop() if rest else None
        if not got or got.op != op:
            self.fail(f"{op} is missing", e, got)
        self.last = got
        return got

    def step(self, op, e, own, got):
        if own:
            self.match("lock", own, got.name, e, got)
            return
        self.position[e.number] = got.number
        self.names(e, got)
        self.place(e, got)
        if e.order != got.order:
            self.fail("another memory order", e, got)

    def names(self, e, got):
        if e.op in ACCESS:
            self.access(e, got)
        elif e.op in ("acq", "rel", "acq_shared", "rel_shared"):
            self.match("lock", e.name, got.name, e, got)
        elif e.op in ("fork", "join"):
            self.match("thread", e.name, got.name, e, got)
        elif e.op in ("notify", "notify_all", "wait"):
            self.match("condition", e.name, got.name, e, got)
            if e.op == "wait":
                self.match("lock", e.second, got.second, e, got)
        elif e.op == "barrier":
            self.match("barrier", (e.name, e.second), got.name, e, got)
            if e.second != got.second:
                self.fail("other parties", e, got)
        elif e.op in ("sem_wait", "sem_post"):
            self.match("semaphore", e.name, got.name, e, got)
        elif e.op in ("enter", "exit"):
            self.match("function", e.name, got.name, e, got)
        elif e.op in ("begin", "end") and e.name != got.name:
            self.fail("another label", e, got)
        elif e.op in ("alloc", "free"):
            self.block(e, got)

    def at(self, store, base, e, got):
        if store.base is None:
            store.base = base
        if store.base != base:
            self.fail(f"the bytes are at {base:#x}, others of that object at {store.base:#x}", e, got)

    def access(self, e, got):
        store, offset = self.trace.memory.spots[e.number]
        size = self.trace.memory.sizes[e.number]
        if got.address is None or (got.size or 1) != size:
            self.fail(f"not {size} bytes", e, got)
        self.at(store, got.address - offset, e, got)
        wanted = self.trace.values.get(e.number)
        if wanted is not None and got.value is not None and size <= 8:
            self.compared_values += 1
            if got.value & (256 ** size - 1) != wanted:
                self.fail(f"the value is not {wanted}", e, got)

    def block(self, e, got):
        store = self.trace.memory.spots[e.number][0]
        shift = store.start % 16
        self.at(store, got.address + shift, e, got)
        if e.op == "alloc":
            widest = store.widest or 8 if store.last_use else 0
            bytes_wanted = max(store.count, widest if e.address is None else 0) + shift
            if int(got.second) != bytes_wanted:
                self.fail(f"not {bytes_wanted} bytes", e, got)

    def place(self, e, got):
        wanted, there = place_of(e.place), place_of(got.place)
        if e.op == "exit":
            return
        if wanted and there != wanted:
            self.fail("another place", e, got)
        if not wanted and not self.is_own(there):
            self.fail("a place that is none of the program's own", e, got)

    # All threads together.

    def extent(self, store):
        if store.kind == "page":
            return store.base, store.base + PAGE
        return store.base, store.base + max(store.count, store.widest or 8 * (store.kind == "global"))

    def disjoint(self):
        """Different pieces of memory are different bytes, unless one is given back before the other is allocated."""
        self.main_end()
        stores = sorted((s for s in self.trace.memory.stores if s.base is not None), key=lambda s: s.base)
        for i, a in enumerate(stores):
            for b in stores[i + 1:]:
                if self.extent(b)[0] >= self.extent(a)[1]:
                    break
                if not self.follows(a, b) and not self.follows(b, a):
                    self.fail(f"two objects at {a.base:#x} and {b.base:#x} overlap")

    def follows(self, a, b):
        return a.freed and b.alloc and a.freed < b.alloc and a.last_use < a.freed

    def order(self):
        """By `since` and `until` of the trace: see above."""
        earlier = sorted((n for n in self.position), key=lambda n: self.trace.until[n])
        last, at, i = 0, None, 0
        for n in sorted(self.position, key=lambda n: self.trace.since[n]):
            while i < len(earlier) and self.trace.until[earlier[i]] <= self.trace.since[n]:
                if self.position[earlier[i]] > last:
                    last, at = self.position[earlier[i]], earlier[i]
                i += 1
            if last > self.position[n]:
                self.fail(f"{self.trace.events[at - 1].line!r} should be before it, and is recorded behind it",
                          self.trace.events[n - 1])


def compare(trace, recording, own_file):
    """Returns how many values were compared."""
    comparison = Comparison(trace, recording, own_file)
    comparison.run()
    return comparison.compared_values

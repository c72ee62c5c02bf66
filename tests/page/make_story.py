#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes reports for the page's tests, in the form of the JSON report: make_story.py NAME > FILE.json

  ledger    four threads of a bank: a lost update, a stale pointer of forty events, two variables, a race, hidden ones
  unvalued  the same lost update without values, as a live run has it
  bare      locks only, no symbols, no sources, no values
  hostile   every name holds what must not happen
  many      a thousand findings, and one window of five thousand events
  most      ten thousand findings
  empty     nothing found
"""
import json
import sys

BANK = """\
struct account {
    pthread_mutex_t mu;
    long balance;
};

static long get_balance(struct account *a)
{
    pthread_mutex_lock(&a->mu);
    long b = a->balance;
    pthread_mutex_unlock(&a->mu);
    return b;
}

static void set_balance(struct account *a, long b)
{
    pthread_mutex_lock(&a->mu);
    a->balance = b;
    pthread_mutex_unlock(&a->mu);
}

bool withdraw(struct account *a, long amount)
{
    long b = get_balance(a);
    if (b < amount)
        return false;
    set_balance(a, b - amount);
    return true;
}

static bool serve(struct account *acct, const struct request *req)
{
    return req->kind == WITHDRAW ? withdraw(acct, req->amount) : deposit(acct, req->amount); /* one a request */
}

static void *atm_main(void *arg)
{
    for (struct request *r; (r = next_request(arg)); )
        serve(&the_account, r);
    return NULL;
}""".split("\n")
CACHE = """\
item *item_get(const char *key)
{
    pthread_mutex_lock(&cache_lock);
    item *it = table[hash(key)];
    pthread_mutex_unlock(&cache_lock);
    return it;
}

void item_delete(const char *key)
{
    pthread_mutex_lock(&cache_lock);
    item *it = table[hash(key)];
    table[hash(key)] = NULL;
    slab_free(it);
    pthread_mutex_unlock(&cache_lock);
}

void item_set(const char *key, long v)
{
    pthread_mutex_lock(&cache_lock);
    item *it = slab_alloc();
    strcpy(it->key, key);
    it->value = v;
    table[hash(key)] = it;
    pthread_mutex_unlock(&cache_lock);
}

long add_delta(item *it, long d)
{
    pthread_mutex_lock(&cache_lock);
    long v = it->value += d;
    pthread_mutex_unlock(&cache_lock);
    return v;
}

long process_arithmetic(const char *key, long d)
{
    item *it = item_get(key);
    if (it == NULL)
        return reply_not_found();
    return add_delta(it, d);
}

void stats_tick(void)
{
    pthread_mutex_lock(&stats_lock);
    stats.requests++;
    stats.bytes += 512;
    pthread_mutex_unlock(&stats_lock);
}""".split("\n")

WHY = {
    "lost-update": "what the first section has read is written by the second without another look, over the culprit's write",
    "stale-pointer": "a pointer loaded in the first section is used in the second, and not loaded again",
    "pattern": "the culprit's accesses conflict with both sections, and do not commute",
    "same-site": "the second section begins at the same place as the first: a loop, each round of which is atomic",
    "commutes": "all sections only add to it, so their order does not matter",
    "two-callees": "the sections are in two calls, each atomic by itself, and nothing says that together they need not be",
    "both-direct": "both sections are the function's own code, whose author saw the lock being given back",
}


class Story:
    def __init__(self, program):
        self.threads, self.stacks, self.sources, self.findings, self.races = [], [], [], [], []
        self.program, self.status = program, 66
        self.traces = [trace(41208, 6)]

    def thread(self, name, creator=None, creation=None):
        self.threads.append({"name": name, "creator": creator, "creation": creation})
        return len(self.threads) - 1

    def stack(self, *frames):
        """Each frame (function, file, line), the innermost first."""
        st = [{"function": f[0], "file": f[1], "line": f[2], "column": None} for f in frames]
        if st not in self.stacks[-64:]:
            self.stacks.append(st)
        return len(self.stacks) - 1 - self.stacks[::-1].index(st)

    def source(self, file, first, lines):
        self.sources.append({"file": file, "lines": [{"number": first + i, "text": t} for i, t in enumerate(lines)]})

    def finding(self, number, verdict, rank, rule, **more):
        f = {"id": f"fsn-{number:08x}", "verdict": verdict, "rank": rank, "hidden": rank == 4, "again": False,
             "happened": verdict == "observed", "by_data": True, "count": 1, "known": False, "suppressed": None,
             "suppression_reason": None, "trace": "ledgerd", "trace_number": 0, "function": None, "lock": None, "rules": [rule],
             "reasons": [WHY[rule]], "variables": [], "accesses": [], "events": [], "window": None, "enclosing": [],
             "checks": [{"name": "sidetrack", "kind": "AFTER", "event": 5}], "hindrance": None, "hazard": None,
             "guessed": False, "fix": None, "outcomes": []}
        f.update(more)
        f.setdefault("block", {})
        block = {"function": f["function"], "file": None, "line": None, "column": None, "thread": None, "declared": False,
                 "entered": True, "event": 1, "stack": [], "thread_number": 0, "stack_number": None, "caller_number": None}
        f["block"] = {**block, **f["block"]}
        self.findings.append(f)
        return f

    def dump(self, out):
        json.dump({"version": 2, "command": "run", "program": self.program, "status": self.status, "fail_on": "predicted,2",
                   "rank": 2, "findings": self.findings, "races": self.races, "deadlocks": [],
                   "counts": {"traces": 1, "events": 41208, "findings": len(self.findings)}, "traces": self.traces,
                   "threads": self.threads, "stacks": self.stacks, "sources": self.sources}, out, indent=None)


def trace(events, threads):
    return {"path": "ledgerd", "events": events, "threads": threads, "variables": 812, "repaired": 0, "skipped": 0, "complete": True,
            "cut": None, "error": None, "timed": False, "repairs": [], "left_out": []}


def event(thread, kind, obj, line, **more):
    """`more`: file, value, role, stack, skipped."""
    e = {"thread": thread, "role": None, "kind": kind, "object": obj, "data": kind in ("read", "write"),
         "locks": kind in ("lock", "lock shared"), "unlocks": kind in ("unlock", "unlock shared"), "value": None, "unsigned": False,
         "size": 8 if kind in ("read", "write") else 0, "file": "bank.c", "line": line, "column": None, "stack": None,
         "event": 1, "skipped": 0}
    e.update(more)
    return e


def place(file, line):
    return {"file": file, "line": line, "column": None}


def lost_update(s, t1, t2, number, **more):
    """The demo's finding: withdraw() of two threads."""
    read, write = [s.stack((f, "bank.c", at), ("withdraw", "bank.c", by), ("serve", "bank.c", 43), ("atm_main", "bank.c", 49))
                   for f, at, by in (("get_balance", 20, 34), ("set_balance", 28, 37))]
    ev = []
    for t, role in ((t1, "first"), (t2, None)):
        ev += [event(t, "lock", "mu", 19, stack=read), event(t, "read", "balance", 20, value=100, role=role, stack=read),
               event(t, "unlock", "mu", 21, stack=read)]
    for t, role, value in ((t2, "culprit", 50), (t1, "second", 70)):
        ev += [event(t, "lock", "mu", 27, stack=write), event(t, "write", "balance", 28, value=value, role=role, stack=write),
               event(t, "unlock", "mu", 29, stack=write)]
    names = [s.threads[t]["name"] for t in (t1, t2)]
    orders = [(names[0], names[1], 20, True), (names[1], names[0], 20, True)]
    outcomes = [{"order": f"{a}, {b}", "serial": True, "variable": "balance", "value": v} for a, b, v, _ in orders]
    outcomes.append({"order": f"{names[0]}, {names[1]}, {names[0]}", "serial": False, "variable": "balance", "value": 70})
    return s.finding(number, **{**{
        "verdict": "observed", "rank": 1, "rule": "lost-update", "function": "withdraw", "lock": "mu", "variables": ["balance"],
        "events": ev, "window": {"from": 3, "to": 8}, "enclosing": ["serve"], "outcomes": outcomes, "count": 3,
        "checks": [{"name": "causal", "kind": "cycle", "event": 5}, {"name": "blocks", "kind": "read-write-write", "event": 5}],
        "fix": {"lock": "mu", "from": place("bank.c", 34), "to": place("bank.c", 37)},
        "block": {"file": "bank.c", "line": 43, "thread_number": t1,
                  "stack_number": s.stack(("serve", "bank.c", 43), ("atm_main", "bank.c", 49))}}, **more})


def stale_pointer(s, ts, number):
    """Four threads and forty events and more, some of which have nothing to do with it."""
    a, b, c, d = ts
    main = ("worker_main", "worker.c", 58)
    command = ("process_command", "proto.c", 212)
    get = s.stack(("item_get", "cache.c", 91), ("process_arithmetic", "cache.c", 125), command, main)
    delete = s.stack(("item_delete", "cache.c", 100), command, main)
    put = s.stack(("item_set", "cache.c", 110), command, main)
    add = s.stack(("add_delta", "cache.c", 118), ("process_arithmetic", "cache.c", 128), command, main)
    tick = s.stack(("stats_tick", "cache.c", 134), main)

    def ev(t, kind, obj, line, st, **more):
        return event(t, kind, obj, line, file="cache.c", stack=st, **more)

    count = 7

    def ticks(t, n):
        nonlocal count
        out = []
        for _ in range(n):
            out += [ev(t, "lock", "stats_lock", 133, tick), ev(t, "read", "stats.requests", 134, tick, value=count),
                    ev(t, "write", "stats.requests", 134, tick, value=count + 1), ev(t, "unlock", "stats_lock", 136, tick)]
            count += 1
        return out
    slab = 0x7f3a5c002b40
    e = [ev(a, "lock", "cache_lock", 90, get), ev(a, "read", "table[17]", 91, get, value=slab, role="first"),
         ev(a, "unlock", "cache_lock", 92, get)]
    e += [ev(b, "lock", "cache_lock", 98, delete), ev(b, "read", "table[17]", 99, delete, value=slab),
          ev(b, "write", "table[17]", 100, delete, value=0, role="culprit"), ev(b, "free", "slab[3]", 101, delete),
          ev(b, "unlock", "cache_lock", 102, delete)]
    e += ticks(d, 4)
    e += [ev(c, "lock", "cache_lock", 107, put, skipped=212), ev(c, "write", "slab[3].key", 109, put),
          ev(c, "write", "slab[3].value", 110, put, value=500, role="culprit"),
          ev(c, "write", "table[4]", 111, put, value=slab), ev(c, "unlock", "cache_lock", 112, put)]
    e += ticks(d, 1)
    last = len(e) - 1
    e += [ev(a, "lock", "cache_lock", 117, add), ev(a, "read", "slab[3].value", 118, add, value=41),
          ev(a, "write", "slab[3].value", 118, add, value=42, role="second"), ev(a, "unlock", "cache_lock", 119, add)]
    e += ticks(b, 1) + ticks(c, 1)
    return s.finding(
        number, "predicted", 1, "stale-pointer", function="process_arithmetic", lock="cache_lock", events=e,
        variables=["table[17]", "slab[3].value"], window={"from": 3, "to": last}, enclosing=["process_command"],
        reasons=[WHY["stale-pointer"], WHY["two-callees"]], rules=["stale-pointer", "two-callees"],
        fix={"lock": "cache_lock", "from": place("cache.c", 125), "to": place("cache.c", 128)},
        block={"file": "proto.c", "line": 212, "thread_number": a})


def race(s, ts, number):
    st = s.stack(("count_request", "stats.c", 14), ("process_command", "proto.c", 188), ("worker_main", "worker.c", 58))

    def ev(t, kind, value, role=None):
        return event(t, kind, "stats.requests", 14, file="stats.c", value=value, role=role, stack=st)
    s.races.append({"trace": "ledgerd", "trace_number": 0, "times": 4, "variable": "stats.requests", "accesses": [],
                    "events": [ev(ts[0], "write", 8), ev(ts[1], "read", 8)]})
    return s.finding(number, "suspected", 2, "pattern", function="count_request", variables=["stats.requests"],
                     events=[ev(ts[0], "read", 7, "first"), ev(ts[1], "read", 7), ev(ts[1], "write", 8, "culprit"),
                             ev(ts[0], "write", 8, "second")],
                     window={"from": 1, "to": 2}, hindrance="race", hazard=0,
                     block={"file": "proto.c", "line": 188, "thread_number": ts[0]})


def two_variables(s, ts, number):
    def ev(t, kind, obj, line, role=None, value=None):
        return event(t, kind, obj, line, file="fx.c", role=role, value=value)
    return s.finding(number, "observed", 2, "pattern", function="quote", lock="fx_lock", variables=["fx.rate", "fx.day"], known=True, events=[
        ev(ts[0], "lock shared", "fx_lock", 27), ev(ts[0], "read", "fx.rate", 28, "first", 108), ev(ts[0], "unlock shared", "fx_lock", 29),
        ev(ts[1], "lock", "fx_lock", 19), ev(ts[1], "write", "fx.rate", 20, "culprit", 112), ev(ts[1], "write", "fx.day", 21, "culprit", 319),
        ev(ts[1], "unlock", "fx_lock", 22), ev(ts[0], "lock shared", "fx_lock", 35), ev(ts[0], "read", "fx.day", 36, "second", 319),
        ev(ts[0], "unlock shared", "fx_lock", 37)], window={"from": 3, "to": 6},
        fix={"lock": "fx_lock", "from": place("fx.c", 44), "to": place("fx.c", 45)}, block={"file": "fx.c", "line": 44, "thread_number": ts[0]})


def ledger():
    s = Story("./ledgerd --selftest --threads 4")
    main = s.thread("main")
    made = s.stack(("main", "ledgerd.c", 118))
    spawn = s.stack(("workers_start", "worker.c", 31), ("main", "ledgerd.c", 124))
    t1, t2 = s.thread("T1", main, made), s.thread("T2", main, made)
    ws = [s.thread(f"worker-{i}", main, spawn) for i in range(1, 5)]
    s.source("bank.c", 12, BANK)
    s.source("cache.c", 88, CACHE)
    lost_update(s, t1, t2, 0x7c1f0a2b)
    stale_pointer(s, ws, 0xb20e11c4)
    two_variables(s, (t2, ws[3]), 0x44d90b1e)
    race(s, ws, 0x9e03aa57)
    for i, (fn, rule) in enumerate((("queue_drain", "same-site"), ("log_flush", "same-site"), ("conn_new", "commutes"))):
        lost_update(s, t2, t1, 0x01aa0000 + i, function=fn, verdict="suspected", rank=4, rule=rule)
    lost_update(s, t1, t2, 0x5599aabb, function="refund", suppressed="fission.supp:12", suppression_reason="see #812")
    s.dump(sys.stdout)


def unvalued():
    s = Story("./ledgerd")
    t1, t2 = s.thread("T1"), s.thread("T2")
    s.source("bank.c", 12, BANK)
    f = lost_update(s, t1, t2, 0x7c1f0a2b, verdict="predicted")
    for o in f["outcomes"]:
        o["value"] = None
    for e in f["events"]:
        e["value"] = None
    s.dump(sys.stdout)


def bare():
    s = Story("./stripped")
    a, b = s.thread("T1"), s.thread("T2")
    st = s.stack((None, "stripped+0x11f0", None), (None, "stripped+0x1320", None))

    def ev(t, kind, at, role=None):
        return event(t, kind, "0x4c90a0", None, file=f"stripped+{at}", role=role, stack=st)
    s.finding(0x1f00cafe, "predicted", 2, "two-callees", lock="0x4c90a0", variables=["0x4c90a0"], by_data=False, events=[
        ev(a, "lock", "0x11f0"), ev(a, "unlock", "0x1204", "first"), ev(b, "lock", "0x1260", "culprit"), ev(b, "unlock", "0x1270"),
        ev(a, "lock", "0x1290", "second"), ev(a, "unlock", "0x12a0")], window={"from": 2, "to": 3},
        block={"file": "stripped+0x1320", "line": None, "thread_number": a})
    s.finding(0x2f00cafe, "predicted", 2, "two-callees", function="f")
    s.dump(sys.stdout)


BAD = ["<script>window.hacked = 1</script>", "</script><script>window.hacked = 1</script>", "\"><img src=x onerror='window.hacked=1'>",
       "'\"`${window.hacked=1}", "\x01\x02\x1b[31mred\x7f\n\r\t", "\u202eevil\u2066\u200b", "a" * 10000, "\ufffd\ufffd", "<!--", "]]>",
       "&lt;b&gt;", "javascript:window.hacked=1", "\u2028\u2029", "x" * 300 + "<b>", "../../etc/passwd", "%s%n", "--\x00--".replace("\x00", "")]


def hostile():
    s = Story("./" + BAD[0] + " " + BAD[6])
    n = len(BAD)
    ts = [s.thread(x) for x in BAD]
    for i, x in enumerate(BAD):
        s.source(x, 1, BAD)
    for i, x in enumerate(BAD):
        y, z = BAD[(i + 1) % n], BAD[(i + 2) % n]
        st = s.stack((x, y, 3), (y, z, 4))
        t1, t2 = ts[i], ts[(i + 1) % n]
        e = [event(t1, "lock", z, 1, file=y, stack=st), event(t1, "read", x, 2, file=x, value=i, role="first", stack=st),
             event(t1, "unlock", z, 3, file=y, stack=st), event(t2, "write", x, 4, file=z, value=2 ** 63 - 1, role="culprit", stack=st),
             event(t1, "write", x, 5, file=y, value=-5, role="second", stack=st)]
        s.finding(0xbad00000 + i, "predicted", 1 + i % 2, "lost-update", function=x, lock=z, variables=[x, y], events=e,
                  window={"from": 3, "to": 3}, enclosing=[y, z], reasons=[y], suppressed=x if i == 5 else None, suppression_reason=y if i == 5 else None,
                  fix={"lock": x, "from": place(y, 2), "to": place(y, 6)}, block={"file": y, "line": 3, "thread_number": t1},
                  outcomes=[{"order": f"{x}, {y}", "serial": True, "variable": x, "value": 1},
                            {"order": f"{x}, {y}, {x}", "serial": False, "variable": x, "value": 2}])
    s.dump(sys.stdout)


def crowd(s, n):
    """n findings in a few hundred functions and variables."""
    main = s.thread("main")
    ts = [s.thread(f"worker-{i}", main) for i in range(8)]
    s.source("bank.c", 12, BANK)
    for i in range(n):
        f = lost_update(s, ts[i % 8], ts[(i + 3) % 8], 0x10000 + i, function=f"module{i % 37}_operation_{i % 211}",
                        verdict=("observed", "predicted", "suspected")[i % 3], rank=1 + i % 2,
                        rule=("lost-update", "pattern")[i % 2], known=i % 5 == 0)
        var, lock = f"table[{i % 401}].field{i % 7}", f"lock_{i % 23}"
        f["variables"], f["lock"] = [var], lock
        for e in f["events"]:
            e["object"] = var if e["data"] else lock
    return ts


def many():
    s = Story("./big")
    ts = crowd(s, 1000)
    f = stale_pointer(s, ts[:4], 0xffff0001)
    a, b = f["events"][:3], f["events"][-12:-8]
    mid = []
    for i in range((5000 - len(a) - len(b)) // 4):
        t = ts[1 + i % 3]
        mid += [event(t, "lock", "cache_lock", 98, file="cache.c"), event(t, "read", "table[17]", 99, file="cache.c", value=i),
                event(t, "write", "table[17]", 100, file="cache.c", value=i + 1, role="culprit" if i == 300 else None),
                event(t, "unlock", "cache_lock", 102, file="cache.c")]
    f["events"] = a + mid + b
    f["window"] = {"from": 3, "to": 2 + len(mid)}
    f["happened"], f["verdict"] = True, "observed"
    s.source("cache.c", 88, CACHE)
    s.dump(sys.stdout)


def most():
    s = Story("./huge")
    crowd(s, 10000)
    s.dump(sys.stdout)


def empty():
    s = Story("./fine")
    s.status = 0
    s.dump(sys.stdout)


KINDS = {f.__name__: f for f in (ledger, unvalued, bare, hostile, many, most, empty)}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in KINDS:
        sys.exit(__doc__)
    KINDS[sys.argv[1]]()

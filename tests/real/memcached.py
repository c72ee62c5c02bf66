# SPDX-License-Identifier: MIT
"""memcached under a load of our own: several connections over the loopback, every answer checked.

Each connection has keys of its own, whose answers are known, and all of them count in shared keys, with incr and with
gets and cas, whose sums are known at the end. Then SIGTERM, as an init system would.
"""

import os
import pwd
import random
import re
import signal
import socket
import time

from session import Wrong, all_at_once, family

CONNECTIONS = 6
BATCHES = 120
BATCH = 48      # commands that are sent at once
KEYS = 2500     # of each connection: the hash table grows if they last for a second
COUNTERS = 3    # shared by all


class Client:
    """One connection. The commands of a batch are sent together; their answers are read and compared after that."""

    def __init__(self, port, number, timeout):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=max(1.0, timeout))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")
        self.number = number
        self.random = random.Random(number)
        self.values = {}
        self.request, self.expected = [], []

    def put(self, command, answer):
        self.request.append(command)
        self.expected.append(answer)

    def flush(self):
        self.socket.sendall(b"".join(self.request))
        for answer in self.expected:
            got = self.file.read(len(answer))
            if got != answer:
                raise Wrong(f"connection {self.number}: {got!r:.100} where {answer!r:.100} is right")
        self.request, self.expected = [], []

    def ask(self, command):
        """A command whose answer ends with END, as (the words of each line)."""
        self.socket.sendall(command)
        lines = []
        while (line := self.file.readline()) != b"END\r\n":
            if not line:
                raise Wrong(f"connection {self.number}: closed in the middle of an answer")
            lines.append(line.split())
        return lines

    def set(self, key):
        value = b"%c" % (97 + self.number) * self.random.choice((3, 40, 200, 900, 3000))
        self.values[key] = value
        self.put(b"set %s %d 0 %d\r\n%s\r\n" % (key, self.number, len(value), value), b"STORED\r\n")

    def get(self, key):
        value = self.values.get(key)
        found = b"" if value is None else b"VALUE %s %d %d\r\n%s\r\n" % (key, self.number, len(value), value)
        self.put(b"get %s\r\n" % key, found + b"END\r\n")

    def append(self, key):
        if key in self.values:
            self.values[key] += b"+"
        self.put(b"append %s 0 0 1\r\n+\r\n" % key, b"STORED\r\n" if key in self.values else b"NOT_STORED\r\n")

    def delete(self, key):
        known = self.values.pop(key, None) is not None
        self.put(b"delete %s\r\n" % key, b"DELETED\r\n" if known else b"NOT_FOUND\r\n")

    def touch(self, key):
        self.put(b"touch %s 0\r\n" % key, b"TOUCHED\r\n" if key in self.values else b"NOT_FOUND\r\n")

    def count(self, key):
        """All connections do: the answer is anyone's guess, the sum is not."""
        self.put(b"incr shared-%d 1 noreply\r\n" % self.random.randrange(COUNTERS), b"")

    def swap(self):
        """Adds one by gets and cas. Whoever comes too late reads again."""
        while True:
            head, body = self.ask(b"gets swapped\r\n")
            value = b"%d" % (int(body[0]) + 1)
            self.socket.sendall(b"cas swapped 0 0 %d %s\r\n%s\r\n" % (len(value), head[4], value))
            if (answer := self.file.readline()) == b"STORED\r\n":
                return
            if answer != b"EXISTS\r\n":
                raise Wrong(f"connection {self.number}: cas answers {answer!r}")

    def load(self):
        kinds = [self.set] * 5 + [self.get] * 9 + [self.append, self.delete, self.touch] + [self.count] * 3
        for _ in range(BATCHES):
            for _ in range(BATCH):
                self.random.choice(kinds)(b"own-%d-%d" % (self.number, self.random.randrange(KEYS)))
            self.flush()
            self.swap()

    def close(self):
        self.file.close()
        self.socket.close()


class Memcached:
    name = package = "memcached"

    def build(self, make, cc, cxx):
        make("./configure", f"CC={cc}")
        make("make", "-j2", "memcached")

    def prepare(self, data):
        pass

    def port(self, session, process, path):
        """It writes the port down when it listens."""
        while not path.exists():
            if process.poll() is not None:
                raise Wrong("memcached ended before it listened")
            if not session.left():
                raise TimeoutError
            time.sleep(0.005)
        return int(re.search(r"TCP INET: (\d+)", path.read_text())[1])

    def use(self, session, tree):
        ports = session.directory / "ports"
        user = pwd.getpwuid(os.getuid()).pw_name
        process = session.start("server", [
            tree / "memcached", "-l", "127.0.0.1", "-p", "-1", "-U", "0", "-t", "3", "-m", "64", "-u", user,
            "-o", "hashpower=12"], MEMCACHED_PORT_FILENAME=str(ports))
        clients = []
        try:
            port = self.port(session, process, ports)
            clients += [Client(port, i, session.left()) for i in range(CONNECTIONS)]
            self.converse(session, process, clients)
        except TimeoutError:
            session.deadline = 0  # what follows is a hang
        except (Wrong, OSError, ValueError) as e:
            session.complain(f"{type(e).__name__}: {e}")
            process.terminate()
        finally:
            for c in clients:
                c.close()
        session.finish(process, timed=False)  # it looks for signals once a second

    def converse(self, session, process, clients):
        first = clients[0]
        for i in range(COUNTERS):
            first.put(b"set shared-%d 0 0 1\r\n0\r\n" % i, b"STORED\r\n")
        first.put(b"set swapped 0 0 1\r\n0\r\n", b"STORED\r\n")
        first.flush()
        session.seconds += all_at_once([c.load for c in clients])
        sums = [int(first.ask(b"get shared-%d\r\n" % i)[1][0]) for i in range(COUNTERS)]
        session.note("shared counters", str(sums))
        session.note("swapped", str(first.ask(b"get swapped\r\n")[1]))
        stats = {line[1]: line[2] for line in first.ask(b"stats\r\n")}
        for name in (b"curr_items", b"evictions", b"incr_hits", b"cas_hits", b"cas_misses"):
            session.note(name.decode(), stats[name].decode())
        self.stop(process, int(stats[b"pid"]))

    def stop(self, process, pid):
        """The server itself is told to end, not who runs it."""
        if pid not in family(process.pid):
            raise Wrong(f"the server says that it is process {pid}, which we did not start")
        os.kill(pid, signal.SIGTERM)

# SPDX-License-Identifier: MIT
"""Redis with io-threads and nginx with a thread pool, each under a load whose answers are known."""

import os
import signal
import socket
import time

from session import Wrong, all_at_once

CONNECTIONS = 12
ROUNDS = 60
PIPELINE = 40
FILES = 6
FILE_BYTES = 3 << 20


def connect(session, process, path):
    """To a socket that appears when the server listens."""
    while True:
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(max(1.0, session.left()))
        try:
            s.connect(str(path))
            return s
        except OSError:
            s.close()
            if process.poll() is not None:
                raise Wrong("the server ended before it listened") from None
            if not session.left():
                raise TimeoutError from None
            time.sleep(0.01)


class Server:
    def prepare(self, data):
        self.data = data

    def build_files(self, session):
        """What the server needs to be there."""

    def use(self, session, tree):
        self.build_files(session)
        process = session.start("server", self.command(session, tree))
        try:
            self.converse(session, process)
        except TimeoutError:
            session.deadline = 0  # what follows is a hang
        except (Wrong, OSError, ValueError) as e:
            session.complain(f"{type(e).__name__}: {e}")
            process.terminate()
        session.finish(process, timed=False)


class Redis(Server):
    name = package = "redis"

    def build(self, make, cc, cxx):
        make("make", "-j2", f"CC={cc}", f"CXX={cxx}", "MALLOC=libc", "OPTIMIZATION=-O2", "-C", "src", "redis-server")

    def command(self, session, tree):
        return [tree / "src" / "redis-server", "--port", "0", "--unixsocket", "redis.sock", "--io-threads", "4",
                "--io-threads-do-reads", "yes", "--save", "", "--dir", str(session.directory), "--logfile", "redis.log"]

    def client(self, connection, number):
        """Own keys and one for all: pipelines of SET, GET and INCR."""
        file = connection.makefile("rb")
        for r in range(ROUNDS):
            value = f"{number}-{r}-" + "v" * (r * 37 % 700)
            one = f"SET own{number} {value}\r\nGET own{number}\r\nINCR shared\r\n".encode()
            connection.sendall(one * PIPELINE)
            for _ in range(PIPELINE):
                if file.readline() != b"+OK\r\n" or file.readline() != b"$%d\r\n" % len(value) \
                        or file.readline() != value.encode() + b"\r\n" or file.readline()[:1] != b":":
                    raise Wrong(f"connection {number}, round {r}")

    def converse(self, session, process):
        connections = [connect(session, process, session.directory / "redis.sock") for _ in range(CONNECTIONS)]
        session.seconds += all_at_once([lambda c=c, i=i: self.client(c, i) for i, c in enumerate(connections)])
        connections[0].sendall(b"GET shared\r\n")
        session.note("shared", connections[0].recv(100).decode())
        connections[0].sendall(b"SHUTDOWN NOSAVE\r\n")
        for c in connections:
            c.close()


CONFIGURATION = """daemon off; master_process off; pid nginx.pid; error_log error.log; thread_pool default threads=4 max_queue=1024;
events { worker_connections 64; }
http { access_log off; client_body_temp_path t1; proxy_temp_path t2; fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;
    sendfile off; aio threads; output_buffers 2 64k; server { listen unix:nginx.sock; root files; } }
"""


class Nginx(Server):
    name = package = "nginx"

    def build(self, make, cc, cxx):
        make("./configure", "--with-threads", "--without-http_rewrite_module", "--without-http_gzip_module", "--with-http_v2_module",
             f"--with-cc={cc}", "--prefix=.")
        make("make", "-j2")

    def build_files(self, session):
        (session.directory / "files").mkdir()
        (session.directory / "nginx.conf").write_text(CONFIGURATION)
        for i in range(FILES):
            (session.directory / "files" / str(i)).write_bytes(bytes([65 + i]) * (FILE_BYTES + i))

    def command(self, session, tree):
        return [tree / "objs" / "nginx", "-p", ".", "-c", "nginx.conf", "-e", "error.log"]

    def client(self, connection, number):
        file = connection.makefile("rb")
        for i in [(number + k) % FILES for k in range(FILES)]:
            connection.sendall(f"GET /{i} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            if b" 200 " not in file.readline():
                raise Wrong(f"connection {number}: not found")
            while file.readline().strip():
                pass
            if file.read(FILE_BYTES + i) != bytes([65 + i]) * (FILE_BYTES + i):
                raise Wrong(f"connection {number}: not what is in the file")

    def converse(self, session, process):
        connections = [connect(session, process, session.directory / "nginx.sock") for _ in range(CONNECTIONS // 2)]
        session.seconds += all_at_once([lambda c=c, i=i: self.client(c, i) for i, c in enumerate(connections)])
        for c in connections:
            c.close()
        os.kill(int((session.directory / "nginx.pid").read_text()), signal.SIGQUIT)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Launchers that need daemons, and what becomes of their faults: daemons.py BUILD [NAMES...]

Three sshd, or three slurmd, on loopback, as an ordinary user, are set up and taken down here; each sshd is a host with a
home of its own, so nothing is shared but the tool. Each function test_* is a test. What a fault needs to happen is waited for.
The last line is 'N passed, M failed'.
"""

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import run as local
from run import (CLEAN, FINDINGS, Naps, TOP, bug, compile_to, contents, files, kill, merged, processes, run, until)

HOSTS = 3


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def is_open(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def must(*words, **more):
    done = subprocess.run(words, capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{' '.join(map(str, words))}: {done.stdout}{done.stderr}"
    return done.stdout


# ---- ssh ----

class Hosts:
    """Three sshd; `before` of a host is what its shell does first."""

    def __init__(self, before=None):
        self.top = Path("ssh").absolute()
        self.top.mkdir()
        self.homes, self.ports, self.daemons = [], [], []
        must("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.top / "key")
        must("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.top / "host")
        if os.getuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        for i in range(HOSTS):
            self.start(i, (before or {}).get(i, ":"))
        self.file = self.top / "hosts"
        self.file.write_text("".join(f"{getpass.getuser()}@127.0.0.1:{port}\n" for port in self.ports))
        self.env = dict(os.environ, PARALLEL_SSH=f"ssh -i {self.top}/key -o StrictHostKeyChecking=no "
                        "-o UserKnownHostsFile=/dev/null -o LogLevel=ERROR", PARALLEL_HOME=str(self.top))

    def start(self, i, before):
        home = self.top / f"home{i}"
        home.mkdir()
        port = free_port()
        key = (self.top / "key.pub").read_text().strip()
        (home / "authorized_keys").write_text(
            f'command="HOME={home}; export HOME; cd; {before}; eval \\"$SSH_ORIGINAL_COMMAND\\"" {key}\n')
        (home / "sshd_config").write_text(
            f"Port {port}\nListenAddress 127.0.0.1\nHostKey {self.top}/host\nPidFile {home}/pid\nStrictModes no\n"
            f"AuthorizedKeysFile {home}/authorized_keys\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\n"
            "MaxStartups 100\nMaxSessions 100\n")
        daemon = subprocess.Popen([shutil.which("sshd") or "/usr/sbin/sshd", "-D", "-f", home / "sshd_config"],
                                  stderr=subprocess.DEVNULL, start_new_session=True)
        until("sshd answers", lambda: is_open(port))
        self.homes.append(home)
        self.ports.append(port)
        self.daemons.append(daemon)

    def workers(self, i):
        """Processes of `fission work` on that host."""
        found = []
        for pid in processes("work -o"):
            with contextlib.suppress(OSError):
                if str(self.homes[i]) in os.readlink(f"/proc/{pid}/cwd"):
                    found.append(pid)
        return found

    def power_off(self, i):
        """The daemon, its sessions, and everything that runs in the host's home."""
        self.daemons[i].kill()
        self.daemons[i].wait()
        for pid in processes(""):
            with contextlib.suppress(OSError):
                if str(self.homes[i]) in os.readlink(f"/proc/{pid}/cwd"):
                    kill(pid, signal.SIGKILL)
        for pid in processes("sshd: "):
            with contextlib.suppress(OSError):
                if f"HOME={self.homes[i]}".encode() in Path(f"/proc/{pid}/environ").read_bytes():
                    kill(pid, signal.SIGKILL)

    def __enter__(self):
        return self

    def __exit__(self, *why):
        for i in range(HOSTS):
            self.power_off(i)
        for pid in processes(f"-i {self.top}/key"):
            kill(pid, signal.SIGKILL)


def over_ssh(hosts, count=24, milliseconds=500, limit=60, jobs=2):
    return Naps("all", count, milliseconds, limit, jobs, "parallel", str(hosts.file), hosts.env)


def test_parallel_and_local_agree():
    program = bug("audit")
    run("chase", "--no-out", "-j2", "--format=json", "-o", "want.json", program, status=FINDINGS)
    with Hosts() as hosts:
        run("chase", "--no-out", "--launcher=parallel", f"--hosts={hosts.file}", "-j2", "--campaign=all", "--format=json",
            "-o", "got.json", program, status=FINDINGS, env=hosts.env)
        assert Path("got.json").read_bytes() == Path("want.json").read_bytes()
        assert merged("all") == Path("want.json").read_bytes()
        names = local.traces()
        want = run("check", "-j2", "--format=json", *names, status=FINDINGS).stdout
        got = run("check", "--launcher=parallel", f"--hosts={hosts.file}", "-j2", "--format=json", *names, status=FINDINGS,
                  env=hosts.env).stdout
        assert got == want


def test_parallel_worker_killed():
    with Hosts() as hosts:
        naps = over_ssh(hosts)
        kill(until("a worker", lambda: sum((hosts.workers(i) for i in range(HOSTS)), []))[0], signal.SIGKILL)
        naps.expect_all()


def test_parallel_worker_stopped():
    with Hosts() as hosts:
        naps = over_ssh(hosts, count=12, limit=15)
        kill(until("a worker", lambda: sum((hosts.workers(i) for i in range(HOSTS)), []))[0], signal.SIGSTOP)
        naps.expect_all()


def test_parallel_host_powered_off():
    with Hosts() as hosts:
        naps = over_ssh(hosts, count=24)
        until("a worker there", lambda: hosts.workers(1))
        hosts.power_off(1)
        naps.expect_all()


def test_parallel_coordinator_killed_and_resumed():
    with Hosts() as hosts:
        naps = over_ssh(hosts, milliseconds=1000)
        until("a result", naps.results)
        naps.process.kill()
        naps.process.wait()
        until("no worker is left", lambda: not any(hosts.workers(i) for i in range(HOSTS)))
        had = contents("all/results")
        again = over_ssh(hosts, milliseconds=1000)
        again.expect_all()
        assert {name: data for name, data in contents("all/results").items() if name in had} == had


def test_parallel_torn_result():
    with Hosts() as hosts:
        over_ssh(hosts, count=4, milliseconds=10).expect_all()
        whole = contents("all/results")
        torn = files("all/results")[0]
        torn.write_bytes(torn.read_bytes()[:-10])
        over_ssh(hosts, count=4, milliseconds=10).expect_all()
        assert contents("all/results") == whole


def test_parallel_full_disk():
    """A host that can write nothing: what is sent there comes back from another one."""
    with Hosts(before={0: "ulimit -f 0"}) as hosts:
        naps = over_ssh(hosts, count=12)
        naps.expect_all()


def test_parallel_another_build():
    """A host whose library is another build refuses; the others do its part."""
    Path("lib.c").write_text("int answer(void) { return 42; }\n")
    Path("use.c").write_text((TOP / "tests/scale/programs/moody.c").read_text().replace(
        "char mood[16]", "extern int answer(void); int unused = answer(); char mood[16]").replace("return balance", "return !unused || balance"))
    for where in ("here", "there"):
        os.mkdir(where)
        must("cc", "-shared", "-fPIC", "-Wl,--build-id", f"-DX={where}", *(["-O2", "-g"] if where == "there" else []),
             "lib.c", "-o", f"{where}/libanswer.so")
    program = compile_to("use.c", "use", "-Lhere", "-lanswer", f"-Wl,-rpath,{Path('here').absolute()}")
    other = Path("there").absolute()
    with Hosts(before={2: f"LD_LIBRARY_PATH={other}; export LD_LIBRARY_PATH"}) as hosts:
        run("chase", "--no-out", "-j2", "--format=json", "-o", "want.json", program, status=FINDINGS)
        run("chase", "--no-out", "--launcher=parallel", f"--hosts={hosts.file}", "-j2", "--campaign=all", "--format=json",
            "-o", "got.json", program, status=FINDINGS, env=hosts.env)
        assert Path("got.json").read_bytes() == Path("want.json").read_bytes()
        assert not files("all/lost")


# ---- Slurm ----

class Cluster:
    """munged, slurmctld and three slurmd of our own."""

    def __init__(self, processors=2):
        self.top = Path("slurm").absolute()
        ports = [free_port() for _ in range(HOSTS + 1)]
        host = socket.gethostname().split(".")[0]
        for part in ("state", "munge", "run", "log", *(f"spooln{i}" for i in range(HOSTS))):
            (self.top / part).mkdir(parents=True)
        (self.top / "munge").chmod(0o700)
        (self.top / "munge/key").write_bytes(os.urandom(1024))
        (self.top / "munge/key").chmod(0o400)
        nodes = "".join(f"NodeName=n{i} NodeAddr=127.0.0.1 NodeHostname={host} Port={ports[i]} CPUs={processors} RealMemory=100\n"
                        for i in range(HOSTS))
        (self.top / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        (self.top / "slurm.conf").write_text(
            f"ClusterName=test\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={ports[HOSTS]}\nAuthType=auth/munge\n"
            f"AuthInfo=socket={self.top}/munge/socket\nSlurmUser={getpass.getuser()}\nSlurmdUser={getpass.getuser()}\n"
            f"StateSaveLocation={self.top}/state\nSlurmdSpoolDir={self.top}/spool%n\nSlurmctldPidFile={self.top}/run/ctld\n"
            f"SlurmdPidFile={self.top}/run/%n\nSlurmctldLogFile={self.top}/log/ctld\nSlurmdLogFile={self.top}/log/%n\n"
            "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSchedulerType=sched/builtin\n"
            "SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nReturnToService=2\nSlurmdTimeout=10\n"
            "SlurmdParameters=config_overrides\nMpiDefault=none\nJobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\n"
            f"SwitchType=switch/none\n{nodes}PartitionName=p Nodes=n[0-{HOSTS - 1}] Default=YES MaxTime=INFINITE State=UP\n")
        self.env = dict(os.environ, SLURM_CONF=str(self.top / "slurm.conf"),
                        PATH=os.environ["PATH"] + ":/usr/sbin:/sbin", PARALLEL_HOME=str(self.top))
        must("munged", "--force", f"--socket={self.top}/munge/socket", f"--key-file={self.top}/munge/key",
             f"--pid-file={self.top}/munge/pid", f"--log-file={self.top}/munge/log", f"--seed-file={self.top}/munge/seed",
             env=self.env)
        must("slurmctld", "-f", self.top / "slurm.conf", env=self.env)
        for i in range(HOSTS):
            must("slurmd", "-f", self.top / "slurm.conf", "-N", f"n{i}", env=self.env)
        try:
            until("three nodes are idle", lambda: self.asked("sinfo", "-h", "-o", "%D %T").strip() == f"{HOSTS} idle")
        except AssertionError:
            self.__exit__()
            raise

    def asked(self, *words):
        return subprocess.run(words, capture_output=True, text=True, env=self.env).stdout

    def steps(self, i=None):
        """Processes of `fission work` under a node's steps; of any node if none is given."""
        found = []
        for pid in processes("work -o"):
            with contextlib.suppress(OSError):
                node = f"SLURMD_NODENAME=n{i}".encode() if i is not None else b"SLURMD_NODENAME="
                if node in Path(f"/proc/{pid}/environ").read_bytes() and b"srun" not in Path(f"/proc/{pid}/cmdline").read_bytes():
                    found.append(pid)
        return found

    def kill_node(self, i):
        """Its daemon, and every step of it."""
        kill(int((self.top / f"run/n{i}").read_text()), signal.SIGKILL)
        for pid in processes("slurmstepd"):
            with contextlib.suppress(OSError):
                if f"spooln{i}" in " ".join(os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")) or \
                        any(child in self.steps(i) for child in children(pid)):
                    kill(pid, signal.SIGKILL)
        for pid in self.steps(i):
            kill(pid, signal.SIGKILL)

    def __enter__(self):
        return self

    def __exit__(self, *why):
        for job in self.asked("squeue", "-h", "-o", "%A").split():
            self.asked("scancel", job)
        for name in ("n0", "n1", "n2", "ctld"):
            with contextlib.suppress(OSError, ValueError):
                kill(int((self.top / "run" / name).read_text()), signal.SIGKILL)
        for pid in processes("slurmstepd"):
            with contextlib.suppress(OSError):
                if str(self.top).encode() in Path(f"/proc/{pid}/environ").read_bytes():
                    kill(pid, signal.SIGKILL)
        with contextlib.suppress(OSError, ValueError):
            kill(int((self.top / "munge/pid").read_text()), signal.SIGTERM)


def children(pid):
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def by_slurm(cluster, count=24, milliseconds=500, limit=60):
    return Naps("all", count, milliseconds, limit, 6, "slurm", "-", cluster.env)


def test_slurm_and_local_agree():
    program = bug("audit")
    run("chase", "--no-out", "-j2", "--format=json", "-o", "want.json", program, status=FINDINGS)
    with Cluster() as cluster:
        run("chase", "--no-out", "--launcher=slurm", "-j6", "--campaign=all", "--format=json", "-o", "got.json", program,
            status=FINDINGS, env=cluster.env)
        assert Path("got.json").read_bytes() == Path("want.json").read_bytes()
        assert merged("all") == Path("want.json").read_bytes()


def compare_all(program, cluster, hosts):
    """One search in every way; the same bytes."""
    name = Path(program).name
    words = ["chase", "--no-out", "--time=1000", "--format=json"]
    run(*words, "-j2", "-o", f"{name}.want", program, status=(CLEAN, FINDINGS))
    want = Path(f"{name}.want").read_bytes()
    run(*words, "--launcher=slurm", "-j6", "-o", f"{name}.slurm", program, status=(CLEAN, FINDINGS), env=cluster.env)
    run(*words, "--launcher=parallel", f"--hosts={hosts.file}", "-j2", "-o", f"{name}.parallel", program,
        status=(CLEAN, FINDINGS), env=hosts.env)
    for k in (1, 2, 3):
        run("chase", "--no-out", "--time=1000", f"--shard={k}/3", f"--campaign={name}.{k}", program, status=(CLEAN, FINDINGS))
    shards = merged("-j2", *(f"{name}.{k}" for k in (1, 2, 3)), status=(CLEAN, FINDINGS))
    got = {"slurm": Path(f"{name}.slurm").read_bytes(), "parallel": Path(f"{name}.parallel").read_bytes(), "shards": shards}
    return [f"{name}: {way}" for way, text in got.items() if text != want]


def test_every_bug_program_in_every_way():
    other = []
    with Cluster() as cluster, Hosts() as hosts:
        for source in sorted((TOP / "tests/programs/bugs").glob("*.c")):
            other += compare_all(bug(source.stem), cluster, hosts)
    assert not other, other


def test_slurm_worker_killed():
    with Cluster() as cluster:
        naps = by_slurm(cluster)
        kill(until("a step", cluster.steps)[0], signal.SIGKILL)
        naps.expect_all()


def test_slurm_worker_stopped():
    with Cluster() as cluster:
        naps = by_slurm(cluster, count=12, limit=15)
        kill(until("a step", cluster.steps)[0], signal.SIGSTOP)
        naps.expect_all()


def test_slurm_node_killed():
    with Cluster() as cluster:
        naps = by_slurm(cluster, milliseconds=1000)
        until("a step there", lambda: cluster.steps(1))
        cluster.kill_node(1)
        naps.expect_all()


def test_slurm_coordinator_killed_and_resumed():
    with Cluster() as cluster:
        naps = by_slurm(cluster, milliseconds=1000)
        until("a result", naps.results)
        naps.process.kill()
        naps.process.wait()
        until("the allocation is gone", lambda: not cluster.asked("squeue", "-h").strip())
        until("no worker is left", lambda: not cluster.steps())
        had = contents("all/results")
        by_slurm(cluster, milliseconds=1000).expect_all()
        assert {name: data for name, data in contents("all/results").items() if name in had} == had


if __name__ == "__main__":
    sys.exit(local.main(globals()))

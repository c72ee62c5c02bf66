# SPDX-License-Identifier: MIT
"""Debian's source packages, fetched with an apt configuration of our own.

Where from is what the machine's own sources say, with `deb` turned into `deb-src`. Lists, cache and state are private
directories and none of the machine's hooks are run, so that nothing of the system changes. apt checks the signatures.
A mirror may have a package's description without its files: then the package of the release that follows is taken, and
the version tells.
"""

import os
import pathlib
import re
import subprocess

ETC = pathlib.Path("/etc/apt")
NEXT = {"bullseye": "bookworm", "bookworm": "trixie", "trixie": "sid"}


class Unavailable(Exception):
    """A source package could not be had; says why."""


def deb822_to_source(text):
    """The stanzas of a .sources file, as sources of source packages."""
    stanzas = []
    for stanza in re.split(r"\n[ \t]*\n", text):
        lines = [line for line in stanza.splitlines() if line.strip() and not line.startswith("#")]
        fields = {m[1].lower(): m[2].strip() for line in lines if (m := re.match(r"([\w-]+)\s*:(.*)", line))}
        if "types" not in fields or fields.get("enabled", "yes").lower() in ("no", "false", "0"):
            continue
        stanzas.append("\n".join(re.sub(r"(?i)^types\s*:.*", "Types: deb-src", line) for line in lines))
    return "\n\n".join(stanzas) + "\n" if stanzas else ""


def lines_to_source(text):
    """The lines of a .list file, as sources of source packages."""
    lines = {re.sub(r"^deb(-src)?\b", "deb-src", line.strip()) for line in text.splitlines()}
    return "".join(f"{line}\n" for line in sorted(lines) if line.startswith("deb-src"))


def of_next_release(text):
    """The same sources, a release later; none if nobody knows which that is. Addresses and keys stay as they are."""
    later = re.sub(rf"(?<=[ \t])({'|'.join(NEXT)})(?=[-/\s])", lambda m: NEXT[m[1]], text)
    return later if later != text else ""


def machine_sources():
    """(file name, content) of each file of the machine's that still says something as a source of source packages."""
    parts = sorted((ETC / "sources.list.d").glob("*")) if (ETC / "sources.list.d").is_dir() else []
    for path in [ETC / "sources.list"] + parts:
        convert = {".list": lines_to_source, ".sources": deb822_to_source}.get(path.suffix)
        if convert and path.is_file():
            text = convert(path.read_text())
            if text:
                yield path.name, text


def transport():
    """How this machine gets at its archives (proxies and the like). The hooks are left out: they act on the system."""
    dump = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, check=True).stdout
    return "".join(line + "\n" for line in dump.splitlines() if line.startswith("Acquire::") and "::DEP-11" not in line)


class Apt:
    """A private apt under one directory."""

    def __init__(self, directory, change=lambda text: text):
        self.directory = directory
        self.change = change  # of what the machine's sources say
        self.updated = False

    def configure(self):
        for name in ("sources", "lists/partial", "cache/archives/partial", "state"):
            (self.directory / name).mkdir(parents=True, exist_ok=True)
        for old in (self.directory / "sources").iterdir():
            old.unlink()
        for name, text in machine_sources():
            (self.directory / "sources" / name).write_text(self.change(text))
        here = self.directory.resolve()
        (self.directory / "apt.conf").write_text(transport() + f"""\
Dir::Etc::main "/dev/null";
Dir::Etc::parts "/dev/null";
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "{here}/sources";
Dir::State "{here}/state";
Dir::State::lists "{here}/lists";
Dir::Cache "{here}/cache";
APT::Sandbox::User "root";
""")

    def get(self, *arguments, cwd):
        environment = os.environ | {"APT_CONFIG": str(self.directory.resolve() / "apt.conf"), "LC_ALL": "C"}
        return subprocess.run(["apt-get", "-q", *arguments], cwd=cwd, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")

    def download(self, package, to):
        """Fetches the files of a source package."""
        log = ""
        if not self.updated:
            self.configure()
            log = self.get("update", cwd=self.directory).stdout
            self.updated = True  # a source that has no source packages is no reason to stop: ask for the package
        done = self.get("source", "--download-only", "--only-source", package, cwd=to)
        if done.returncode:
            raise Unavailable(f"apt-get source {package}:\n{log}{done.stdout}")

    def of_next_release(self):
        return Apt(self.directory / "next", of_next_release)


def description(directory):
    """The .dsc of a fetched package; None if it is not there, or not with all of its files."""
    for dsc in directory.glob("*.dsc"):
        files = re.findall(r"^ [0-9a-f]{32} \d+ (\S+)$", dsc.read_text(errors="replace"), re.M)
        if files and all((directory / name).is_file() for name in files):
            return dsc
    return None


def download_anew(apt, package, to):
    for old in to.iterdir():
        old.unlink()
    apt.download(package, to)


def fetch(apt, package, to):
    """The .dsc of a package, from the directory if it has been fetched before."""
    to.mkdir(parents=True, exist_ok=True)
    if not description(to):
        try:
            download_anew(apt, package, to)
        except Unavailable as first:
            try:
                download_anew(apt.of_next_release(), package, to)
            except Unavailable:
                raise first from None
    dsc = description(to)
    if not dsc:
        raise Unavailable(f"apt-get source {package} left no complete package")
    return dsc


def version(dsc):
    return re.search(r"^Version: (\S+)$", dsc.read_text(errors="replace"), re.M)[1]


def unpack(dsc, to):
    """The source as Debian builds it. apt has checked the files: no signature of a person is needed here."""
    done = subprocess.run(["dpkg-source", "--no-check", "-x", dsc, to], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode:
        raise Unavailable(f"dpkg-source -x {dsc.name}:\n{done.stdout}")

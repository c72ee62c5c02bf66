#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command line as a whole: whole.py BUILD_DIR [NAMES...]

What is made from the tables of the commands (help, man pages, completion), FISSION_OPTIONS, colours and progress,
doctor, demo, and what is installed. Each function test_* is a test, in an empty directory of its own; NAMES pick some.
The last line is 'N passed, M failed'.
"""

import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

CLEAN, USAGE, FINDINGS, UNFIT, CONFIG = 0, 64, 66, 69, 78
SPLIT = b"T1|begin(f)|a.c:1\nT1|r(x)=1|a.c:2\nT2|w(x)=2|b.c:1\nT1|w(x)=3|a.c:3\nT1|end(f)|a.c:4\n"
COMPILED = ("cc", "c++")  # their options are a compiler's

build = source = fission = None


class Skip(Exception):
    pass


def run(*words, status=CLEAN, says=None, tool=None, **more):
    """Runs the tool; `says` must be in what it writes to standard error."""
    if "input" not in more:
        more["stdin"] = subprocess.DEVNULL
    done = subprocess.run([tool or fission, *words], capture_output=True, timeout=60, **more)
    done.out, done.err = done.stdout.decode(), done.stderr.decode()
    what = "fission " + " ".join(map(str, words))
    assert done.returncode == status, f"{what}: exit status {done.returncode}, not {status}\n{done.out}{done.err}"
    assert says is None or says in done.err, f"{what}: '{says}' is not in: {done.err}"
    return done


def with_options(value):
    return {**os.environ, "FISSION_OPTIONS": value}


def names():
    return run("--generate", "names").out.splitlines()


def options_of(text):
    return set(re.findall(r"^ +(?:-\w, )?--([\w-]+)", text, re.M))


def compile_bank(name, *flags, file="examples/bank.c"):
    subprocess.run([build / "fission-cc", "-O1", "-pthread", source / file, "-o", name, *flags], check=True)
    return "./" + name


def compile_split_bank():
    """A bank that every schedule splits: the one of the examples leaves room for doubt in one run of fifty."""
    return compile_bank("bank", file="tests/programs/live/bank_observed.c")


# ---- What the tables become.


def test_help_of_every_command():
    for name in names():
        text = run(*name.split(), "--help").out
        assert text.startswith(f"usage: fission {name}"), name
        assert text == run("help", *name.split()).out, name
        examples = text.split("\nExamples:\n")[1].splitlines()
        assert len(examples) >= 3, f"{name} has {len(examples)} examples"
        assert "\nExit status:\n" in text, name
        assert max(map(len, text.splitlines())) <= 120, name


def test_examples_have_options_that_exist():
    checked = 0
    commands = sorted(names(), key=len, reverse=True)
    for shown in commands:
        for line in run(*shown.split(), "--help").out.split("\nExamples:\n")[1].splitlines():
            for part in re.split(r"&&|\||;|#", line):
                called = re.search(r"\bfission (.*)", part)
                command = called and next((c for c in commands if called[1].startswith(c)), None)
                if not command or command in COMPILED:
                    continue
                own = called[1].split(" -- ")[0]
                known = options_of(run(*command.split(), "--help").out)
                for option in re.findall(r"(?:^| )--([\w-]+)", own):
                    assert option in known, f"{shown}: --{option} in: {line}"
                    checked += 1
    assert checked > 5


def test_commands_are_listed():
    text = run("--help").out
    for name in names():
        assert " " in name or re.search(rf"^  {re.escape(name)} ", text, re.M), name


def test_man_pages():
    if not shutil.which("groff"):
        raise Skip("groff is not installed")
    run("--generate", "man", "man1")
    pages = {p.name for p in pathlib.Path("man1").iterdir()}
    assert pages == {"fission.1"} | {f"fission-{n.replace(' ', '-')}.1" for n in names()}
    for page in pages:
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-P-cbou", "man1/" + page], capture_output=True)
        assert not done.stderr, f"{page}: {done.stderr.decode()}"
        assert b"EXAMPLES" in done.stdout and b"EXIT STATUS" in done.stdout, page


def test_man_page_has_every_option():
    run("--generate", "man", "man1")
    for name in names():
        page = pathlib.Path(f"man1/fission-{name.replace(' ', '-')}.1").read_text().replace("\\-", "-")
        for option in options_of(run(*name.split(), "--help").out):
            assert f"--{option}\\fR" in page or name in COMPILED, f"{name}: --{option}"
        for other in re.findall(r"\\fB(fission[\w+-]*)\\fR\(1\)", page.split("SEE ALSO")[1]):
            assert os.path.exists(f"man1/{other}.1"), f"{name} refers to {other}(1)"
    whole = pathlib.Path("man1/fission.1").read_text()
    for status in ("0", "64", "65", "66", "69", "70", "78"):
        assert f".TP\n.B {status}\n" in whole, status


def completed(*words):
    """What bash offers for the last word."""
    quoted = " ".join("'" + w.replace("'", "'\\''") + "'" for w in words)
    script = f'. ./completion; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _fission; printf "%s\\n" "${{COMPREPLY[@]}}"'
    path = f"{fission.parent}:{os.environ['PATH']}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env={**os.environ, "PATH": path})
    assert done.returncode == 0 and not done.stderr, done.stderr
    return sorted(done.stdout.split())


def test_bash_completion():
    pathlib.Path("completion").write_text(run("--generate", "bash").out)
    pathlib.Path("a b.ftr").touch()
    pathlib.Path("prog").touch()
    os.mkdir("folder")
    for words, offered in (
        (("ru",), "run"),
        (("trace", "st"), "stat"),
        (("help", "doc"), "doctor"),
        (("run", "--fo"), "--format="),
        (("run", "--quie"), "--quiet"),
        (("check", "--checks", "=", "causal,aero"), "causal,aerodrome"),
        (("check", "--checks", "vel"), "velodrome"),
        (("check", "--fail-on", "=", "obs"), "observed"),
        (("check", "--rank", "="), "1 2 3 4"),
        (("check", "--color", ""), "always auto never"),
        (("trace", "convert", "--to", "=", ""), "binary text"),
        (("record", "--format", "=", "n"), "none"),
        (("check", "a"), "a b.ftr"),
        (("check", "--config", "=", "fo"), "folder"),
        (("run", "./pro"), "./prog"),
        (("run", "--format", "=", "json", "./pro"), "./prog"),
        (("run", "./prog", "--fo"), ""),
        (("run", "--", "./prog", "fo"), "folder"),
        (("./prog", "fo"), "folder"),
        (("cc", "fo"), "folder"),
        (("xyzzy", "--fo"), ""),
    ):
        got = completed("fission", *words)
        assert got == sorted(offered.split()), f"{words}: {got}"
    assert {"run", "check", "doctor", "demo", "--version"} <= set(completed("fission", ""))
    run("check", "--out=fission.out", "-", status=FINDINGS, input=SPLIT)
    ids = run("list", "--ids").out.split()
    assert ids and completed("fission", "show", "fsn-") == ids and completed("fission", "show", ids[0]) == ids[:1], ids
    everything = options_of(run("run", "--help").out)
    assert {o.strip("-=") for o in completed("fission", "run", "--")} == everything


def test_zsh_completion():
    if not shutil.which("zsh"):
        raise Skip("zsh is not installed")
    pathlib.Path("_fission").write_text(run("--generate", "zsh").out)
    done = subprocess.run(["zsh", "-n", "_fission"], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    for line, offered in (("check --form", "--format="), ("tra", "trace "), ("run --checks=velo", "--checks=velodrome"),
                          ("trace con", "convert ")):
        shown = typed("fission " + line + "\t")
        assert "fission " + " ".join(line.split()[:-1] + [offered]) in shown, f"{line}: {shown!r}"


def typed(keys):
    """What zsh shows when that is typed: it completes only on a terminal."""
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe("zsh", ["zsh", "-f", "-i"], {"PATH": "/usr/bin:/bin", "TERM": "dumb", "PS1": "> "})
    os.write(terminal, b"fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D; print RE''ADY\n")
    shown = b""
    while b"READY" not in shown:
        shown += os.read(terminal, 4096)
    os.write(terminal, keys.encode())
    time.sleep(0.3)
    os.write(terminal, b"\n")  # there is no such command, and that is said when everything before has been shown
    while b"not found" not in shown:
        shown += os.read(terminal, 4096)
    os.close(terminal)
    os.waitpid(child, 0)
    return re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]|[\r\x07\x08]", b"", shown).decode("utf-8", "replace")


def test_fish_completion():
    if not shutil.which("fish"):
        raise Skip("fish is not installed")
    pathlib.Path("fission.fish").write_text(run("--generate", "fish").out)
    done = subprocess.run(["fish", "-n", "fission.fish"], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    for line, offered in (("fission chec", "check"), ("fission run --form", "--format"), ("fission check --format=j", "--format=json"),
                          ("fission trace con", "convert"), ("fission check --checks=velo", "--checks=velodrome")):
        done = subprocess.run(["fish", "--no-config", "-c", f"source fission.fish; complete -C '{line}'"], capture_output=True,
                              text=True, env={**os.environ, "HOME": os.getcwd()})
        assert offered in [l.split("\t")[0] for l in done.stdout.splitlines()], f"{line}: {done.stdout}{done.stderr}"


# ---- FISSION_OPTIONS.


def test_variable_sets_options():
    pathlib.Path("a.std").write_bytes(SPLIT)
    env = with_options
    run("check", "a.std", status=FINDINGS)
    run("check", "a.std", status=7, env=env("exitcode=7"))
    run("check", "a.std", status=CLEAN, env=env("fail_on=reproduced"))
    assert run("check", "a.std", status=FINDINGS, env=env("format=json")).out.startswith("{")
    assert not run("check", "a.std", status=FINDINGS, env=env("format=json:format=text:")).out.startswith("{")
    assert run("check", "a.std", env=env("fail_on=reproduced:format='json':rank=\"4\"")).out.startswith("{")
    assert not run("check", "--format=text", "a.std", status=FINDINGS, env=env("format=json")).out.startswith("{")
    run("check", "a.std", status=FINDINGS, env=env(""))
    # Of another command, and so passed over.
    run("check", "a.std", status=FINDINGS, env=env("halt_on_error=1:values=1:time=5"))


def test_variable_mistakes():
    pathlib.Path("a.std").write_bytes(SPLIT)
    for value, says in (
        ("exitcod=7", "FISSION_OPTIONS:1: unknown key 'exitcod'; did you mean 'exitcode'?"),
        ("rank=1:halt_on_eror=1", "FISSION_OPTIONS:8: unknown key 'halt_on_eror'; did you mean 'halt_on_error'?"),
        ("rank=1:logpath=x", "did you mean 'log_path'?"),
        ("xyzzyxyzzy=1", "FISSION_OPTIONS:1: unknown key 'xyzzyxyzzy'; the keys are"),
        ("help=1", "unknown key 'help'"),
        ("rank=9", "FISSION_OPTIONS:1: rank: unknown value '9'; there are 1, 2, 3 and 4"),
        ("format=jsno", "FISSION_OPTIONS:1: format: unknown value 'jsno'; did you mean 'json'?"),
        ("checks=causal,velodrom", "did you mean 'velodrome'?"),
        ("fail_on=predicted,9", "FISSION_OPTIONS:1: fail_on takes a verdict and a rank"),
        ("exitcode=256", "FISSION_OPTIONS:1: exitcode takes a number from 0 to 255, not '256'"),
        ("exitcode=x", "exitcode takes a number"),
        ("lenient=2", "FISSION_OPTIONS:1: lenient takes 1 or 0, not '2'"),
        ("lenient", "FISSION_OPTIONS:1: 'lenient' has no value; write lenient=1"),
        ("rank", "write rank=N"),
        ("rank=1::rank=2", "FISSION_OPTIONS:8: a key is missing"),
        ("=1", "FISSION_OPTIONS:1: a key is missing"),
        ("rank=1:config=\"a", "FISSION_OPTIONS:15: the quote is not closed"),
        ("config='a'b", "FISSION_OPTIONS:8: the quote is not closed"),
        ("color=purple", "there are auto, always and never"),
        ("verbosity=loud", "verbosity takes a number"),
        ("output=a:b", "FISSION_OPTIONS:10: unknown key 'b'"),
        ("k" * 5000 + "=1", "unknown key"),
    ):
        run("check", "a.std", status=CONFIG, says=says, env=with_options(value))


def test_help_whatever_the_variable_says():
    for command in ("run", "record", "check"):
        assert run(command, "--help", env=with_options("xyzzy")).out == run(command, "--help").out


def test_log_path():
    bank = compile_split_bank()
    done = run("run", bank, status=FINDINGS, env=with_options("log_path=report.txt"))
    assert "WARNING" not in done.err and "WARNING" in pathlib.Path("report.txt").read_text()
    # The same variable means something else nowhere: a trace is not written to the log.
    os.remove("report.txt")
    run("record", "-o", "bank.ftr", bank, env=with_options("log_path=report.txt:format=json"))
    assert not os.path.exists("report.txt") and os.path.exists("bank.ftr")


def test_halt_on_error():
    pathlib.Path("loop.c").write_text(
        "#include <pthread.h>\n#include <unistd.h>\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nstatic long x;\n"
        "static long get(void) { pthread_mutex_lock(&m); long v = x; pthread_mutex_unlock(&m); return v; }\n"
        "static void set(long v) { pthread_mutex_lock(&m); x = v; pthread_mutex_unlock(&m); }\n"
        "static void add(void) { long v = get(); set(v + 1); }\n"
        "static void *run(void *p) { for (;;) { add(); usleep(100); } return p; }\n"
        "int main(void) { pthread_t a, b; pthread_create(&a, 0, run, 0); pthread_create(&b, 0, run, 0); pause(); }\n")
    subprocess.run([build / "fission-cc", "-pthread", "loop.c", "-o", "loop"], check=True)
    done = run("run", "--fail-on=suspected,4", "./loop", status=FINDINGS, env=with_options("halt_on_error=1"))
    assert "ended at its first finding" in done.err, done.err


# ---- How it speaks.


def on_terminal(*words, feed=(), env=None, size=None):
    """Runs the tool with standard error on a terminal. Feeds standard input piece by piece. Returns what was shown there."""
    terminal, end = pty.openpty()
    child = subprocess.Popen([fission, *words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=end,
                             env={**os.environ, "TERM": "xterm", **(env or {})})
    os.close(end)
    for piece, pause in feed:
        child.stdin.write(piece)
        child.stdin.flush()
        time.sleep(pause)
    child.stdin.close()
    shown = b""
    try:
        while chunk := os.read(terminal, 65536):
            shown += chunk
    except OSError:
        pass
    os.close(terminal)
    child.wait(timeout=60)
    return shown.decode()


EVENTS = b"T1|r(x)|a.c:2\nT2|r(x)|b.c:1\n" * 20000


def test_progress():
    feed = ((EVENTS, 1.3), (EVENTS, 0.2))
    shown = on_terminal("check", "-", feed=feed, env={"LC_ALL": "C.UTF-8"})
    assert re.search(r"\rchecked \d+k events · 0 findings · 00:01\x1b\[K", shown), shown
    assert shown.rstrip("\n").endswith("\r\x1b[K"), shown
    shown = on_terminal("trace", "convert", "-o", "a.ftr", "-", feed=feed, env={"LC_ALL": "C"})
    assert re.search(r"\rconverted \d+k events - 00:01\x1b\[K", shown), shown


def test_no_progress():
    feed = ((EVENTS, 1.2), (EVENTS, 0.1))
    assert on_terminal("check", "--quiet", "-", feed=feed) == ""
    assert on_terminal("check", "-", feed=feed, env={"TERM": "dumb"}) == ""
    assert on_terminal("check", "-", feed=((EVENTS, 0),)) == ""


def test_quiet():
    pathlib.Path("a.std").write_bytes(b"T1|r(x)|a.c:2\n")
    pathlib.Path("b.std").write_bytes(SPLIT)
    assert run("check", "a.std").out and not run("check", "--quiet", "a.std").out
    assert run("check", "--quiet", "b.std", status=FINDINGS).out == run("check", "b.std", status=FINDINGS).out
    assert run("check", "--quiet", "--format=json", "a.std").out.startswith("{")
    assert not run("check", "a.std", env=with_options("quiet=1")).out
    assert run("check", "--verbose", "a.std", env=with_options("quiet=1")).out


def test_colour_words():
    assert "\x1b[" not in run("doctor", "--quiet", "/nope", status=UNFIT).out
    assert "\x1b[" in run("doctor", "--quiet", "--color=always", "/nope", status=UNFIT).out
    assert "\x1b[" in run("doctor", "--quiet", "--color", "always", "/nope", status=UNFIT, env={**os.environ, "NO_COLOR": "1"}).out
    run("doctor", "--color=alway", status=USAGE, says="did you mean 'always'?")
    run("check", "--quiet", "--verbose", "-", status=USAGE, says="exclude each other")


def test_values_are_suggested():
    for words, says in ((("check", "--format=jsn", "-"), "'json'"), (("record", "--format=binray", "true"), "'binary'"),
                        (("trace", "convert", "--to=txt", "-"), "'text'"), (("trace", "stat", "--format=jso", "-"), "'json'"),
                        (("check", "--atomizer=standrad", "-"), "'standard'"), (("check", "--blocks=2w", "-"), "'2v'")):
        run(*words, status=USAGE, says=f"did you mean {says}?")
    run("run", "--time=soon", "true", status=USAGE, says="--time takes seconds, as 90, 90s or 5m, not 'soon'")
    run("run", "--exitcode=1000", "true", status=USAGE, says="--exitcode takes a number from 0 to 255")


# ---- doctor and demo.


def test_doctor():
    out = run("doctor").out
    assert "FAIL" not in out and out.endswith("\nfit\n"), out
    for what in ("C compiler", "fission-cc", "fission run", "memory file", "ulimit -v", "memory", "cores", "not needed"):
        assert re.search(rf"^(ok|warn) +{re.escape(what)} ", out, re.M), what
    assert run("doctor", "--quiet").out == ""


def test_doctor_without_compilers():
    os.mkdir("empty")
    out = run("doctor", status=UNFIT, env={**os.environ, "PATH": os.path.abspath("empty")}).out
    assert re.search(r"^FAIL  C compiler +cannot run the compiler 'cc': not found in PATH", out, re.M), out
    assert re.search(r"^warn  C\+\+ compiler", out, re.M) and "-> install gcc or clang" in out and "unfit: 1 thing" in out, out


def test_doctor_with_a_broken_compiler():
    pathlib.Path("broken").write_text("#!/bin/sh\necho broken 1.0; echo sorry >&2\n[ \"$1\" = --version ]\n")
    os.chmod("broken", 0o755)
    out = run("doctor", status=UNFIT, env={**os.environ, "FISSION_CC": os.path.abspath("broken")}).out
    assert "broken 1.0" in out and re.search(r"^FAIL  fission-cc +the compiler '.*broken' does not work", out, re.M), out


def test_doctor_with_bad_settings():
    out = run("doctor", status=UNFIT, env=with_options("rnak=1")).out
    assert re.search(r"^FAIL  settings +FISSION_OPTIONS:1: unknown key 'rnak'; did you mean 'rank'\?", out, re.M), out
    assert re.search(r"^ok    settings +FISSION_OPTIONS=rank=1", run("doctor", env=with_options("rank=1")).out, re.M)


def test_doctor_without_room():
    os.mkdir("closed")
    run("doctor", status=UNFIT, says="set TMPDIR", env={**os.environ, "TMPDIR": os.path.abspath("closed/no")})
    bash = subprocess.run(["bash", "-c", f"ulimit -v 2000000; {fission} doctor"], capture_output=True, text=True)
    assert "warn  ulimit -v" in bash.stdout, bash.stdout


def programs():
    """Programs, and what doctor says of each."""
    cc = ["gcc", "-pthread", source / "examples/bank.c"]
    yield compile_bank("bank"), CLEAN, ("ok    linking", "ok    hooks", "ok    debug info")
    yield compile_bank("bare", "-g0"), CLEAN, ("ok    hooks", "warn  debug info    none: reports will have functions")
    yield compile_bank("stripped", "-s"), CLEAN, ("warn  debug info    none, and it is stripped",)
    moved = pathlib.Path("bank").read_bytes().replace(os.fsencode(build / "driver"), b"/nowhere".ljust(len(os.fsencode(build / "driver")), b"/"))
    pathlib.Path("moved").write_bytes(moved)
    os.chmod("moved", 0o755)
    yield "./moved", UNFIT, ("FAIL  linking       it needs libfission.so, which is not in /nowhere", "-> link it again")
    subprocess.run([*cc, "-o", "plain"], check=True)
    yield "./plain", UNFIT, ("FAIL  linking       it was not linked with fission-cc", "-> build it with fission-cc")
    subprocess.run([*cc, "-static", "-o", "static"], check=True)
    yield "./static", UNFIT, ("FAIL  linking       it is static", "-> link it without -static")
    subprocess.run([*cc, "-c", "-o", "bank.o"], check=True)
    yield "./bank.o", UNFIT, ("bank.o is no program, but something that is linked into one",)
    subprocess.run([build / "fission-cc", "-pthread", "bank.o", "-o", "relinked"], check=True)
    yield "./relinked", UNFIT, ("ok    linking", "FAIL  hooks         none: its objects")
    pathlib.Path("script").write_text("#!/bin/sh\nexec ./bank\n")
    yield "./script", UNFIT, ("FAIL  program       ./script is a script",)
    pathlib.Path("text").write_text("hello\n")
    yield "./text", UNFIT, ("./text is no program for Linux",)
    pathlib.Path("cut").write_bytes(pathlib.Path("bank").read_bytes()[:100])
    yield "./cut", UNFIT, ("FAIL",)
    yield "./missing", UNFIT, ("FAIL  program       ./missing: No such file or directory",)
    yield ".", UNFIT, (". is no file",)
    shutil.copy("bank", "unset")
    os.chmod("unset", 0o644)
    yield "./unset", UNFIT, ("./unset is not executable", "-> chmod +x ./unset")


def test_doctor_looks_at_programs():
    cases = list(programs())
    out = run("doctor", *(path for path, _, _ in cases), status=UNFIT).out.split("\n\n")[1:]
    assert len(out) == len(cases) + 1, out
    for (path, status, says), text in zip(cases, out):
        assert all(s in text for s in says), f"{path}:\n{text}"
        assert ("FAIL" in text) == (status == UNFIT), f"{path}:\n{text}"
    run("doctor", "--quiet", "./bank")


def test_demo():
    os.mkdir("tmp")
    done = run("demo", env={**os.environ, "TMPDIR": os.path.abspath("tmp"), "FISSION_OPTIONS": "fail_on=reproduced"})
    assert "static void withdraw" in done.out and "balance: " in done.out, done.out
    assert "WARNING: fission: atomicity violation" in done.err and "in withdraw" in done.err, done.err
    assert "fission run ./your-program" in done.out.splitlines()[-4], done.out
    assert "fission chase ./your-program" in done.out.splitlines()[-3], done.out
    assert os.listdir("tmp") == [] and os.listdir(".") == ["tmp"]


def test_demo_without_compiler():
    os.mkdir("empty")
    run("demo", status=UNFIT, says="cannot run the compiler 'cc'", env={**os.environ, "PATH": os.path.abspath("empty")})


def test_demo_without_examples():
    shutil.copy(fission, "fission")
    run("demo", status=UNFIT, says="install Fission as a whole", tool="./fission")


# ---- What is installed.


def test_install():
    env = {**os.environ, "DESTDIR": os.path.abspath("dest")}
    subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet"], check=True, env=env, stdout=subprocess.DEVNULL)
    prefix = next(p.parent.parent for p in pathlib.Path("dest").rglob("bin/fission"))
    for file in ("bin/fission-cc", "bin/fission-c++", "include/fission.h", "lib/fission/libfission.so",
                 "share/fission/examples/bank.c", "share/fission/examples/bank.std", "share/man/man1/fission.1",
                 "share/bash-completion/completions/fission", "share/zsh/site-functions/_fission",
                 "share/fish/vendor_completions.d/fission.fish", "share/doc/fission/README.md"):
        assert (prefix / file).exists(), file
    for name in names():
        assert (prefix / f"share/man/man1/fission-{name.replace(' ', '-')}.1").exists(), name
    tool = str((prefix / "bin/fission").resolve())
    assert "in withdraw" in run("demo", tool=tool).err
    run("doctor", "--quiet", tool=tool)
    assert not list(pathlib.Path("dest").rglob("meson.build"))


# ---- The runner.


def run_test(name, test):
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as here:
        os.chdir(here)
        try:
            test()
            return True
        except Skip as reason:
            print(f"{name}: skipped: {reason}")
            return None
        except Exception:
            print(f"{name}:\n{traceback.format_exc()}")
            return False
        finally:
            os.chdir(home)


def main():
    global build, source, fission
    if len(sys.argv) < 2:
        sys.exit("usage: whole.py BUILD_DIR [NAMES...]")
    build, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(__file__).resolve().parent.parent.parent
    fission = build / "fission"
    for variable in ("FISSION_OPTIONS", "FISSION_CC", "FISSION_CXX", "NO_COLOR"):
        os.environ.pop(variable, None)
    tests = [(n, t) for n, t in list(globals().items()) if n.startswith("test_") and (not sys.argv[2:] or n in sys.argv[2:])]
    results = [run_test(*t) for t in tests]
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if results.count(True) and not results.count(False) else 1


if __name__ == "__main__":
    sys.exit(main())

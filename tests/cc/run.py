#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The compiler driver and fission.h: run.py BUILD_DIR [--all] [NAMES...]

Each function test_* is a test; those with an argument run for gcc and for clang. NAMES pick some of them. --all also
runs each build system with both compilers. The last line is 'N passed, M failed'.
"""

import inspect
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import traceback

FIXTURES = pathlib.Path(__file__).resolve().parent
USAGE, UNFIT = 64, 69
CXX = {"gcc": "g++", "clang": "clang++"}
TRAP = {"gcc": "-fsanitize-undefined-trap-on-error", "clang": "-fsanitize-trap=undefined"}
HELLO = '#include <stdio.h>\nint n;\nint main(void) { n += 2; printf("%d\\n", n); return n - 2; }\n'

build = None
cc = cxx = None
everything = False


def run(*command, status=0, compiler=None, **more):
    """Runs a command, its output as text in .out and .err. Its status must be the given one; None is any."""
    env = {**os.environ, **more.pop("env", {})}
    if compiler:
        env |= {"FISSION_CC": compiler, "FISSION_CXX": CXX.get(compiler, compiler)}
    done = subprocess.run(command, capture_output=True, timeout=120, env=env, text=True, **more)
    done.out, done.err = done.stdout, done.stderr
    assert status is None or done.returncode == status, (
        f"{' '.join(map(str, command))}: exit status {done.returncode}, not {status}\n{done.out}{done.err}"
    )
    return done


def write(name, text):
    pathlib.Path(name).write_text(text)
    return name


def is_ours(path, hooks=True):
    """The file has hooks, links our library and nobody else's runtime."""
    told = run("readelf", "-dW", "--dyn-syms", path).out
    needed = re.findall(r"NEEDED.*\[(.*)\]", told)
    assert "libfission.so" in needed, f"{path} needs {needed}"
    assert not any("tsan" in name for name in needed), f"{path} needs {needed}"
    symbols = re.findall(r"^ *\d+: .* (\w+) (\S+?)(?:@\S+)?(?: \(\d+\))?$", told, re.M)
    undefined = [name for where, name in symbols if where == "UND"]
    assert not hooks or {"__tsan_func_entry", "__fission_func_entry"} & {*undefined}, f"{path} has no hooks:\n{undefined}"
    assert not any("__tsan" in name for where, name in symbols if where != "UND"), f"{path} has a runtime in it"


def sections(path):
    return re.findall(r"\s(fission_[a-z_]+)(?:\.\d+)?\s", run("readelf", "-SW", path).out)


LOOKS = r"""
#include <stdio.h>
#include <string.h>

int other(void);
static int shared;

__attribute__((noinline)) static int get(void) { return shared; }

/* What is in front of the access: 38 bytes of a look, 5 of a call. */
int main(void)
{
	static const unsigned char look[] = {0x4c, 0x8b, 0x05}, empty[] = {0x66, 0x2e, 0x0f, 0x1f, 0x84};
	static const unsigned char marks[] = {0x64, 0x4c, 0x8b, 0x0c, 0x25};
	static const unsigned char ring[] = {0x64, 0x4c, 0x8b, 0x14, 0x25}, number[] = {0x41, 0xb9};
	const unsigned char *at = (const unsigned char *)get;

	shared = get() + 1;
	while (memcmp(at, look, sizeof look) != 0 && memcmp(at, empty, sizeof empty) != 0 &&
		memcmp(at, marks, sizeof marks) != 0 && memcmp(at, ring, sizeof ring) != 0)
		at++;
	if (memcmp(at, marks, sizeof marks) == 0)
		puts(at[38] == 0xe8 ? "short look, call" : "short look");
	else if (*at == ring[0])
		puts(memcmp(at + 32, number, sizeof number) == 0 && at[38] == 0xe8 ? "number, call" : "neither");
	else
		puts(*at == look[0] ? at[38] == 0xe8 ? "look, call" : "look" : at[38] == 0xe8 ? "call" : "nothing");
#ifdef LIBRARY
	other();
#endif
	return 0;
}
"""

CALLS = r"""
#include <stdio.h>

int seven(void);
int seven(void) { return 7; }
static int (*const table[2])(void) = {seven, seven};
static int shared;

#define BY(what, ...) ({ int x; __asm__ volatile("sub $144, %%rsp\n\t" what "\n\tadd $144, %%rsp" : "=a"(x) : \
	__VA_ARGS__ : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc"); x; })

int main(void)
{
	int a = BY("call seven@PLT", "m"(shared));
	int b = BY("call *%1", "b"(seven));
	int c = BY("call\t*8(%1,%2,4)", "b"(table), "r"((long)-2));
	int d = BY("call 1f\n\tjmp 2f\n1:\tmov $7, %%eax\n\tret\n2:", "m"(shared));
	int e = BY("notrack call *%1", "b"(seven));

	shared = table[shared]();
	printf("%d %d %d %d %d %d\n", a, b, c, d, e, shared);
	return 0;
}
"""


# ---- what the compiler makes


def test_hello(compiler):
    write("hello.c", HELLO)
    for flags in ([], ["-O2"], ["-O2", "-flto"], ["-O2", "-masm=intel"], ["-Os"], ["-g0"],
                  ["-std=c89", "-pedantic", "-Wall", "-Werror"], ["-x", "c"],
                  ["-O1", "-fno-sanitize=thread"], ["-fno-sanitize=all"], ["-fsanitize=undefined", TRAP[compiler]]):
        done = run(cc, *flags, "hello.c", "-o", "hello", compiler=compiler)
        assert done.err == "" or "-flto" in flags, done.err
        is_ours("hello")
        assert run("./hello").out == "2\n"


def test_linkers(compiler):
    write("hello.c", HELLO)
    for linker in ("bfd", "gold", "lld"):
        if shutil.which(f"ld.{linker}"):
            run(cc, f"-fuse-ld={linker}", "hello.c", "-o", "hello", compiler=compiler)
            is_ours("hello")


def test_objects_then_link(compiler):
    write("hello.c", HELLO)
    write("part.s", ".globl part\npart: ret\n.section .note.GNU-stack,\"\",@progbits\n")
    for source in ("hello.c", "part.s"):
        assert run(cc, "-Werror", "-c", source, compiler=compiler).err == ""
    run(cc, "-Werror", "-r", "hello.o", "part.o", "-o", "both.o", compiler=compiler)
    assert run(cc, "-Werror", "both.o", "-o", "hello", compiler=compiler).err == ""
    is_ours("hello")


def test_shared_without_undefined_symbols(compiler):
    write("part.c", "int n;\nint part(void) { return ++n; }\n")
    for flag in ("-Wl,-z,defs", "-Wl,--no-undefined"):
        run(cc, "-shared", "-fPIC", flag, "part.c", "-o", "libpart.so", compiler=compiler)
        is_ours("libpart.so")
    run(cc, "-shared", "-fPIC", "-nostdlib", "-Wl,-z,defs", "part.c", "-lc", "-o", "libpart.so", compiler=compiler)
    is_ours("libpart.so")


def test_bare(compiler):
    """-nostdlib: nothing is added to the link."""
    write("part.s", ".globl _start\n_start: ret\n.section .note.GNU-stack,\"\",@progbits\n")
    run(cc, "-nostdlib", "part.s", "-o", "part", compiler=compiler)
    assert "fission" not in run("readelf", "-dW", "part").out


def test_response_files(compiler):
    write("hello world.c", HELLO)
    write("inner", '"hello world.c"\n-fno-sanitize=thread -o hello')
    write("outer", "-O1\t@inner")
    run(cc, "@outer", compiler=compiler)
    is_ours("hello")
    write("compile", "-c 'hello world.c' -o hello.o")
    assert run(cc, "-Werror", "@compile", compiler=compiler).err == ""
    write("static", "-sta\\tic")
    assert "-static" in run(cc, "@static", "hello.o", compiler=compiler, status=UNFIT).err
    write("itself", "@itself")
    run(cc, "@itself", "hello.o", compiler=compiler, status=1)


def test_hooks_that_optimizers_drop(compiler):
    """A read before a write, copies of a known size, small functions, fortified calls."""
    write("f.c", "#include <string.h>\nextern char *to, *from;\nlong x;\n"
          "static int small(void) { return (int)++x; }\n"
          "int f(void) { memcpy(to, from, 24); memset(to, 0, 24); return small(); }\n")
    for flags in ([], ["-D_FORTIFY_SOURCE=2"]):
        text = run(cc, "-O2", *flags, "-S", "-o", "-", "f.c", compiler=compiler).out
        for hook in ("memcpy", "memset"):
            assert re.search(rf"(call|jmp)\w*\s+(__tsan_)?{hook}", text), f"{flags}: no {hook}"
        assert re.search(r"(call|jmp)\w*\s+small", text), "small() was inlined"
        small = text[text.index("\nsmall:"):]
        assert re.search("__tsan_(unaligned_)?read(_write)?8", small), "the read before the write has no hook"


def test_functions_left_standing(compiler):
    """All that do more than one access; of gcc, those that are no larger than a call of them are expanded, unless told not to."""
    write("f.c", "#include <stdatomic.h>\nextern void lock(void), unlock(void), set(int); extern int get(void);\n"
          "static atomic_int n; static int m;\n"
          "static void both(void) { lock(); unlock(); }\nstatic void update(int by) { set(get() + by); }\n"
          "static int next(void) { return m++; }\nstatic int taken(atomic_int *p) { return !atomic_exchange(p, 1); }\n"
          "static void free_it(atomic_int *p) { atomic_store_explicit(p, 0, memory_order_release); }\n"
          "static void check(void) { if (atomic_load(&n)) atomic_store(&n, 0); }\n"
          "static int is_red(const int *p) { return *p & 1; }\nstatic void pass(int a) { set(a); }\n"
          "int f(int *p) { both(); update(is_red(p)); check(); pass(*p); return next() + (taken(&n) ? free_it(&n), 1 : 0); }\n")
    more, one = {"both", "update", "next", "taken", "free_it", "check", "pass"}, {"is_red"}
    expanded = set() if "clang" in compiler else one
    for flags, gone in ((["-O2"], expanded), (["-O3"], expanded), (["-Os"], expanded), (["-O2", "-fno-inline"], set())):
        run(cc, *flags, "-w", "-c", "f.c", "-o", "f.o", compiler=compiler)
        kept = {name.split(".")[0] for name in re.findall(r" t (\S+)", run("nm", "f.o").out)} & (more | one)
        assert kept == (more | one) - gone, (flags, kept)


# ---- what must be as without us


def test_hooks_leave_registers(compiler):
    """What a program has in registers is there after a hook, whatever the library had to do meanwhile."""
    source = pathlib.Path(__file__).with_name("registers.c")
    wide = ["-O3", "-mavx2"] if " avx2" in pathlib.Path("/proc/cpuinfo").read_text() else ["-O3"]
    hardened = ["-O2", "-fPIC", "-fcf-protection=full", "-fstack-protector-all", "-fstack-clash-protection"]
    run(compiler, "-O0", source, "-o", "plain")
    sums = run("./plain").out
    for flags in (["-O0"], ["-O1"], ["-Os"], wide, hardened):
        run(cc, *flags, "-w", source, "-o", "ours", compiler=compiler)
        assert run("./ours").out == sums, f"{flags}, by itself"
        for how in (["run", "--no-out"], ["run", "--no-out", "--checks=sidetrack"], ["record", "-o", "t.ftr"],
                    ["record", "--values", "-o", "t.ftr"]):
            assert run(build / "fission", *how, "--", "./ours").out == sums, f"{flags}, {how}"
        # Each hook is a turn of the schedule, 16,000 in a round.
        assert run(build / "fission", "run", "--no-out", "--chaos", "--seeds=1", "--", "./ours").out == sums, flags


def test_calls_of_every_kind(compiler):
    """The assembler takes `call` for a macro of ours: what programs write themselves must go on meaning a call."""
    write("calls.c", CALLS)
    for flags in (["-O2"], ["-O2", "-fPIC", "-pie"], ["-Os"], ["-O0"]):
        run(cc, *flags, "-pthread", "calls.c", "-o", "calls", compiler=compiler)
        assert run("./calls").out == "7 7 7 7 7 7\n", flags


def test_looks_that_find_nothing_are_taken_out():
    """Looks stay for the filter, shorter, calls for who wants accesses, with a number in trails; and neither for a program that
    runs by itself."""
    write("looks.c", LOOKS)
    write("library.c", LOOKS.replace("main", "other"))
    run(cc, "-O2", "-shared", "-fPIC", "library.c", "-o", "library.so", compiler="gcc")
    run(cc, "-O2", "looks.c", "-o", "looks", "-L.", "-l:library.so", "-Wl,-rpath,.", "-DLIBRARY", compiler="gcc")
    tool = build / "fission"
    for command, wanted in ((["./looks"], "nothing"), ([tool, "run", "--no-out", "--", "./looks"], "short look, call"),
                            ([tool, "run", "--no-out", "--checks=sidetrack", "--", "./looks"], "nothing"),
                            ([tool, "record", "--format=none", "--", "./looks"], "number, call"),
                            ([tool, "record", "--values", "--format=none", "--", "./looks"], "call")):
        assert run(*command).out == f"{wanted}\n" * 2, command


def test_questions(compiler):
    for question in ("--version", "-dumpmachine", "-dumpversion", "-print-search-dirs", "-print-file-name=libc.so",
                     "-print-prog-name=ld", "-v", "--help"):
        ours, plain = run(cc, question, compiler=compiler, status=None), run(compiler, question, status=None)
        assert (ours.out, ours.err, ours.returncode) == (plain.out, plain.err, plain.returncode), question
    assert run(cc, compiler=compiler, status=None).err == run(compiler, status=None).err


def test_outputs_of_the_preprocessor(compiler):
    write("hello.c", HELLO)
    for flags in (["-E", "-P"], ["-M"], ["-MM"], ["-M", "-MG", "-MP"], ["-MM", "-MT", "x y"]):
        ours, plain = run(cc, *flags, "hello.c", compiler=compiler), run(compiler, *flags, "hello.c")
        assert (ours.out, ours.err) == (plain.out, plain.err), flags
    ours = run(cc, "-E", "-P", "-x", "c", "-", compiler=compiler, input="int a;\n")
    assert "int a;" in ours.out
    for flag in ("-MMD", "-MD"):
        for command in (cc, compiler):
            run(command, flag, "-MF", f"{pathlib.Path(command).name}.d", "-c", "hello.c", compiler=compiler)
        ours = [f for f in pathlib.Path("fission-cc.d").read_text().split() if "/fission/hooks" not in f and f != "\\"]
        assert ours == [f for f in pathlib.Path(f"{compiler}.d").read_text().split() if f != "\\"], flag
    macros = run(cc, "-dM", "-E", "-x", "c", "/dev/null", compiler=compiler).out
    assert "#define __FISSION__ 1\n" in macros


def test_standard_input(compiler):
    run(cc, "-x", "c", "-", "-o", "hello", compiler=compiler, input=HELLO)
    is_ours("hello")
    assert "main" in run(cc, "-S", "-x", "c", "-", "-o", "-", compiler=compiler, input=HELLO).out


def test_steps_that_do_not_link(compiler):
    write("hello.c", HELLO)
    write("x.h", "int x;\n")
    for line in (["-S", "hello.c"], ["-fsyntax-only", "hello.c"], ["x.h"], ["-x", "c-header", "x.h", "-o", "x.pch"]):
        assert run(cc, "-Werror", *line, compiler=compiler).err == "", line
    assert not pathlib.Path("a.out").exists()


def test_mistakes_are_the_compilers(compiler):
    write("wrong.c", "int main(void) { return }\n")
    ours, plain = run(cc, "-c", "wrong.c", compiler=compiler, status=1), run(compiler, "-c", "wrong.c", status=1)
    assert ours.err == plain.err
    for line in (["-o"], ["-c", "-o"], ["-no-such-flag", "wrong.c", "-c"]):
        assert run(cc, *line, compiler=compiler, status=None).returncode == run(compiler, *line, status=None).returncode


# ---- the driver itself


def test_refusals():
    write("hello.c", HELLO)
    err = run(cc, "-fsanitize=undefined,address", "hello.c", status=USAGE).err
    assert err.startswith("fission: -fsanitize=address cannot be combined"), err
    run(cc, "-fsanitize=address", "-fno-sanitize=address", "hello.c")
    for flag in ("-static", "-static-pie"):
        assert run(cc, flag, "hello.c", status=UNFIT).err.startswith("fission: -static: ")
    run(cc, "-static", "-c", "hello.c")
    for command in ("no-such-compiler", "no-such-compiler -m64"):
        err = run(cc, "hello.c", compiler=command, status=UNFIT).err
        assert "no-such-compiler" in err and "set FISSION_CC" in err, err
    assert "own driver" in run(cc, "hello.c", compiler=str(cc), status=UNFIT).err
    assert "neither gcc nor clang" in run(cc, "hello.c", compiler="true", status=UNFIT).err


def test_show():
    fission = build / "fission"
    shown = run(cc, "--show", "-c", "it's a.c", compiler="gcc").out
    assert shown.startswith("gcc ") and "'it'\\''s a.c'" in shown and shown.count("\n") == 1, shown
    assert not pathlib.Path("it's a.o").exists()
    write("it's a.c", HELLO)
    run("sh", "-c", shown)
    assert pathlib.Path("it's a.o").exists()
    assert run(fission, "cc", "--show", "-c", "it's a.c", compiler="gcc").out == shown
    assert run(fission, "c++", "--show", "--version").out == "c++ --version\n"
    assert "FISSION_CXX" in run(fission, "c++", "--help").out


def test_which_compiler():
    """By the name behind links, and by asking where the name does not tell."""
    for real in ("gcc", "clang"):
        other = "clang" if real == "gcc" else "gcc"
        path = shutil.which(real)
        pathlib.Path(other).unlink(missing_ok=True)
        os.symlink(path, "some-cc") if not os.path.lexists("some-cc") else None
        write(other, f'#!/bin/sh\nexec {real} "$@"\n')
        os.chmod(other, 0o755)
        os.makedirs("a b", exist_ok=True)
        shutil.copy(other, "a b/my cc")
        for command in ("./some-cc", f"./{other}", "./a b/my cc", f"{real} -O1", f"ccache {real}", "'./a b/my cc' -O1"):
            shown = run(cc, "--show", "-c", "x.c", env={"FISSION_CC": command}).out
            assert ("-mllvm" in shown) == (real == "clang"), f"{command} is {real}: {shown}"
        os.unlink("some-cc")
        os.unlink(other)


def test_installed(compiler):
    """From a prefix with a blank and a comma in it; nothing of the build directory is used."""
    prefix = pathlib.Path("pre, fix").absolute()
    for directory in ("bin", "lib/fission"):
        os.makedirs(prefix / directory)
    shutil.copy(build / "fission", prefix / "bin")
    os.symlink("fission", prefix / "bin/fission-cc")
    for file in (build / "driver").iterdir():
        if file.is_file():
            shutil.copy(file, prefix / "lib/fission")
    shutil.copytree(build / "driver/fission", prefix / "lib/fission/fission")
    write("hello.c", HELLO.replace("int n;", "#include <fission.h>\nint n;"))
    run(prefix / "bin/fission-cc", "hello.c", "-o", "hello", compiler=compiler)
    is_ours("hello")
    assert f"[{prefix}/lib/fission]" in run("readelf", "-dW", "hello").out
    assert run("./hello").out == "2\n"
    assert str(build) not in run(prefix / "bin/fission-cc", "--show", "hello.c", compiler=compiler).out
    (prefix / "lib/fission/libfission.so").unlink()
    assert "libfission.so" in run(prefix / "bin/fission-cc", "hello.c", compiler=compiler, status=UNFIT).err
    run(prefix / "bin/fission-cc", "-c", "hello.c", compiler=compiler)


# ---- fission.h


def header_program():
    return write("header.c", (FIXTURES / "header.c").read_text())


def test_header_is_clean(compiler):
    source, header = header_program(), ["-I", build / "driver"]
    strict = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
    run(compiler, "-std=c89", *strict, *header, source, "-o", "plain")
    assert "fission" not in run("nm", "plain").out
    run(cc, "-std=c89", *strict, source, "-o", "ours", compiler=compiler)
    assert run("./plain").out == run("./ours").out == "40\n"
    for std in ("c++98", "c++11", "c++17", "c++20"):
        run(CXX[compiler], f"-std={std}", *strict, *header, "-fsyntax-only", "-x", "c++", source)
        run(cxx, f"-std={std}", *strict, "-fsyntax-only", "-x", "c++", source, compiler=compiler)


def test_header_reaches_the_file(compiler):
    """The functions, and clones of them, lie in the sections of their words, and no others; so does the line."""
    run(cc, "-O2", header_program(), "-o", "ours", compiler=compiler)
    table = run("readelf", "-SW", "ours").out
    ranges = {m[1]: (int(m[2], 16), int(m[3], 16)) for m in
              re.finditer(r"\s(fission_\w+)\s+PROGBITS\s+(\w+)\s+\w+\s+(\w+)", table)}
    inside = {}
    for address, name in re.findall(r"^(\w+) [tT] (\w+)(?:\.\w+)*$", run("nm", "ours").out, re.M):
        for section, (start, size) in ranges.items():
            if start <= int(address, 16) < start + size:
                inside.setdefault(section, set()).add(name)
    assert inside == {
        "fission_atomic": {"withdraw", "inner"}, "fission_assume_atomic": {"say"}, "fission_assume_mover": {"hash"},
    }, inside
    lines = (FIXTURES / "header.c").read_text().split("\n")
    line = next(i for i, text in enumerate(lines, 1) if "fission_no_warn" in text)
    run("objcopy", "-O", "binary", "--only-section=fission_no_warn", "ours", "lines")
    assert set(pathlib.Path("lines").read_bytes().split(b"\0")) == {b"header.c:%d" % line, b""}
    calls = run("nm", "-D", "--undefined-only", "ours").out
    for call in ("atomic_begin", "atomic_end", "assume", "name", "lock_acquire", "lock_release"):
        assert f" __fission_{call}\n" in calls, call


def test_header_merged_functions(compiler):
    """Inline functions that two files have, in either order of linking."""
    common = '#include <fission.h>\nextern int n;\ninline FISSION_ATOMIC int f() { return ++n; }\n' \
             "inline FISSION_ATOMIC int g() { return --n; }\n"
    write("one.cc", common + "int n;\nint two();\nint main() { return f() + g() - 1 + two(); }\n")
    write("two.cc", common + "int two() { return g() + 1; }\n")
    for files in (["one.cc", "two.cc"], ["two.cc", "one.cc"]):
        run(cxx, *files, "-o", "merged", compiler=compiler)
        run("./merged")
        assert "fission_atomic" in sections("merged")


def test_generated_program(compiler):
    """What `trace program` writes uses the header's blocks."""
    write("t.std", "T1|begin(f)|a.c:1\nT1|r(x)=1|a.c:2\nT1|w(x)=3|a.c:3\nT1|end(f)|a.c:4\n")
    run(build / "fission", "trace", "program", "-o", "t.c", "t.std")
    run(cc, "-pthread", "t.c", "-o", "t", compiler=compiler)
    assert " __fission_atomic_begin\n" in run("nm", "-D", "t").out
    run("./t")


# ---- build systems


def project():
    shutil.copytree(FIXTURES / "project", "project")
    return pathlib.Path("project").absolute()


def builds(directory):
    """What was built is ours, and does what it does."""
    for name, says in (("bank", "40 left\n"), ("bank-shared", "40 left\n"), ("tellers", "not enough\n")):
        is_ours(directory / name)
        assert run(directory / name).out == says, name
    is_ours(directory / "libaccount.so")


def test_make(compiler):
    top = project()
    run("make", "-s", "-j4", f"CC={cc}", f"CXX={cxx}", cwd=top, compiler=compiler)
    builds(top)


def test_configure(compiler):
    top = project()
    run("./configure", cwd=top, compiler=compiler, env={"CC": str(cc)})
    run("make", "-s", "-f", "Makefile.configured", "bank", cwd=top, compiler=compiler)
    is_ours(top / "bank")


def test_cmake(compiler):
    top = project()
    run("cmake", "-S", top, "-B", "out", compiler=compiler, env={"CC": str(cc), "CXX": str(cxx)})
    run("cmake", "--build", "out", "-j2", compiler=compiler)
    builds(pathlib.Path("out").absolute())


def test_meson(compiler):
    run("meson", "setup", "out", project(), compiler=compiler, env={"CC": str(cc), "CXX": str(cxx)})
    run("ninja", "-C", "out", "-j2", compiler=compiler)
    builds(pathlib.Path("out").absolute())


def ccache_hits(env):
    stats = run("ccache", "--print-stats", env=env).out
    return sum(int(n) for n in re.findall(r"^(?:direct|preprocessed)_cache_hit\s+(\d+)", stats, re.M))


def test_ccache(compiler):
    """In front of the driver, and behind it; the second build comes from the cache."""
    write("hello.c", HELLO)
    for command, behind in (([cc], f"ccache {compiler}"), (["ccache", cc], compiler)):
        env = {"CCACHE_DIR": tempfile.mkdtemp(dir="."), "FISSION_CC": behind}
        env["CCACHE_DIR"] = os.path.abspath(env["CCACHE_DIR"])
        for hits in (0, 1):
            run(*command, "-c", "hello.c", "-o", "hello.o", env=env)
            assert ccache_hits(env) == hits, f"{command} {behind}: {ccache_hits(env)} hits, not {hits}"
        run(*command, "hello.o", "-o", "hello", env=env)
        is_ours("hello")


# ---- through bitcode


def symbolic(*arguments, **more):
    return run(cc, "--symbolic", *arguments, **more)


def has_bitcode(path):
    return ".fission.bc" in run("readelf", "-SW", path).out


def test_symbolic_builds(compiler):
    """In one step, in two, several files at once, from standard input, as a library; linked by either compiler."""
    if not (build / "fission-rewrite").exists():
        return
    write("hello.c", HELLO)
    write("main.c", "int twice(int);\nint main(void) { return twice(4) - 8; }\n")
    write("twice.c", "int twice(int x) { return x * 2; }\n")
    symbolic("-O2", "-o", "hello", "hello.c", compiler=compiler)
    is_ours("hello")
    assert has_bitcode("hello") and run("./hello").out == "2\n"
    symbolic("-c", "main.c", "twice.c", compiler=compiler)
    symbolic("main.o", "twice.o", "-o", "parts", compiler=compiler)
    run("./parts")
    write("line", "-O1 main.c\ntwice.c -o together")
    symbolic("@line", compiler=compiler)
    run("./together")
    symbolic("-x", "c", "-", "-o", "read", input=HELLO, compiler=compiler)
    assert run("./read").out == "2\n"
    symbolic("-shared", "-fPIC", "twice.c", "-o", "libtwice.so", compiler=compiler)
    symbolic("main.c", "-L.", "-ltwice", "-Wl,-rpath,.", "-o", "shared", compiler=compiler)
    run("./shared")


def test_symbolic_outputs():
    """Files are where the compiler would put them, and nothing is left in the temporary folder."""
    if not (build / "fission-rewrite").exists():
        return
    os.mkdir("tmp")
    os.mkdir("sub")
    env = {"TMPDIR": os.path.abspath("tmp")}
    write("sub/hello.c", '#include "hello.h"\n' + HELLO)
    write("sub/hello.h", "\n")
    symbolic("-MD", "-c", "sub/hello.c", "-o", "sub/out.o", env=env)
    dependencies = pathlib.Path("sub/out.d").read_text()
    assert dependencies.startswith("sub/out.o:") and "sub/hello.h" in dependencies, dependencies
    symbolic("-c", "sub/hello.c", env=env)
    symbolic("-S", "sub/hello.c", env=env)
    assert os.path.exists("hello.o") and "__tsan_read4" in pathlib.Path("hello.s").read_text()
    assert symbolic("-E", "sub/hello.c", env=env).out.count("int main") == 1
    symbolic("sub/hello.c", env=env)
    assert os.path.exists("a.out") and not os.listdir("tmp"), os.listdir("tmp")


def test_symbolic_mistakes():
    """The compiler's own messages and statuses; and what is missing is named."""
    if not (build / "fission-rewrite").exists():
        return
    write("wrong.c", "int main(void) { return x; }\n")
    assert "undeclared identifier 'x'" in symbolic("wrong.c", status=1).err
    write("hello.c", HELLO)
    done = symbolic("hello.c", status=UNFIT, env={"FISSION_CLANG": "/nowhere/clang"})
    assert "cannot run '/nowhere/clang'" in done.err and "clang 14" in done.err
    symbolic("--version")


# ---- running them

ONE_IS_ENOUGH = {"test_cmake": ["gcc"], "test_meson": ["clang"], "test_hooks_leave_registers": ["gcc"]}  # unless all are asked for


def compilers(name):
    return ["gcc", "clang"] if everything else ONE_IS_ENOUGH.get(name, ["gcc", "clang"])


def attempts(names):
    for name, test in list(globals().items()):
        if not name.startswith("test_") or (names and name not in names and name[5:] not in names):
            continue
        takes = inspect.signature(test).parameters
        for compiler in compilers(name) if takes else (None,):
            yield f"{name} {compiler or ''}".strip(), (lambda t=test, c=compiler: t(c) if c else t())


def attempt(name, test):
    top = os.getcwd()
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        try:
            test()
            return True
        except Exception:
            print(f"{name}: FAILED\n{traceback.format_exc()}")
            return False
        finally:
            os.chdir(top)


def main():
    global build, cc, cxx, everything
    arguments = sys.argv[1:]
    everything = "--all" in arguments
    arguments = [a for a in arguments if a != "--all"]
    if not arguments:
        sys.exit(__doc__)
    build = pathlib.Path(arguments[0]).resolve()
    cc, cxx = build / "fission-cc", build / "fission-c++"
    for variable in ("FISSION_CC", "FISSION_CXX", "CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS", "MAKEFLAGS",
                     "CCACHE_DISABLE"):
        os.environ.pop(variable, None)
    results = [attempt(name, test) for name, test in attempts(arguments[1:])]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Breaks every rule of every check, one at a time, and expects the tests to notice.

usage: run.py WORK_DIR [--every=N] [NAME...]

A mutant is a file beside this one: the rule in words, the source file, and one place in it with what it is replaced
by. Its name begins with what it breaks, which says who is asked first: the trace tests of that check, or the agreement
test (every exact check against the judge on random traces). Where these do not notice, the others are asked. A mutant
that nobody notices has survived: the suite has a hole. --every=N takes one of N.
"""

import concurrent.futures
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FLAGS = ['-std=gnu11', '-D_GNU_SOURCE', '-DFISSION_VERSION="0"', '-O1', '-w']
AGREE = ['tests/props/agree.c', 'tests/props/legal.c', 'tests/props/random_trace.c']
LIBRARIES = ['-lzstd', '-ldw', '-lelf', '-liberty', '-ljansson', '-lcadical', '-lstdc++', '-lm', '-lpthread']
PAGE = ''  # the object of the HTML report's page
TRACES = 30000
SECONDS = 20  # for what takes no time; otherwise ten times as long as without a mutant

# The first word of a mutant's name: the trace tests to ask first. Others ask those of that name, if there are any.
ASKED = {
    "clocks": ("races",), "deadlocks": ("deadlocks",), "escape": ("reduction",), "facts": ("rank",), "finding": ("rank",),
    "held": ("reduction", "deadlocks"), "multilockset": ("reduction",), "record": ("reduction",), "section": ("sidetrack",),
    "scope": ("policy",), "window": ("rank",), "wf": ("wellformed",), "aerodrome": (), "causal": (), "velodrome": (),
}


def sources():
    """What the tool is made of, as meson.build has it; programs of their own come behind."""
    tool = open(f'{TOP}/meson.build').read().split("executable('fission-solve'")[0]
    return sorted(set(re.findall(r"'(src/[^']+[.]c)'", tool)))


class Mutant:
    """FILE, then the old text between <<<< and ====, the new one up to >>>>."""

    def __init__(self, path):
        self.name = os.path.basename(path).removesuffix('.mutant')
        head, rest = open(path).read().split('<<<<\n')
        old, rest = rest.split('====\n')
        self.rule, self.file = [line for line in head.splitlines() if line][:2]
        self.old, self.new = old, rest.split('>>>>\n')[0]

    def text(self):
        whole = open(os.path.join(TOP, self.file)).read()
        return whole.replace(self.old, self.new)

    def places(self):
        return open(os.path.join(TOP, self.file)).read().count(self.old)


def compile_one(source, to, include):
    done = subprocess.run(['gcc', *FLAGS, f'-I{include}', f'-I{TOP}/src', f'-I{TOP}/tests/props', '-MMD', '-c', source,
                           '-o', to], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f'{source} does not compile:\n{done.stderr}')


def object_of(work, source):
    return os.path.join(work, source.replace('/', '_') + '.o')


def build_objects(work, files):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda s: compile_one(f'{TOP}/{s}', object_of(work, s), TOP), files))


def build_page(work):
    """The page is made from its parts, in meson.build's order."""
    parts = re.findall(r"'(src/report/page/[^']+)'", open(f'{TOP}/meson.build').read())
    subprocess.run([f'{TOP}/tools/embed.py', f'{work}/page.c', *(f'{TOP}/{p}' for p in parts)], check=True)
    compile_one(f'{work}/page.c', f'{work}/page.o', TOP)
    return f'{work}/page.o'


def run(command, seconds):
    """The status; a mutant may loop for ever, in a process that it has started, too."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        return child.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        return 'timeout'


def link(objects, to):
    subprocess.run(['gcc', *objects, PAGE, '-o', to, *LIBRARIES], check=True)


def agree_fails(program, seconds=SECONDS * 10):
    return run([program, '--count', str(TRACES)], seconds) != 0


def traces_fail(program, folders=(), seconds=SECONDS * 60):
    files = [f for folder in folders for f in sorted(glob.glob(f'{TOP}/tests/traces/{folder}/*.std'))]
    return run([sys.executable, f'{TOP}/tests/traces/run.py', program, *files], seconds) != 0


def control(work, core, cli):
    """What is not broken must pass, or nothing that follows means anything. Returns how long each test may take."""
    link([object_of(work, f) for f in core + AGREE], f'{work}/agree')
    link([object_of(work, f) for f in core + cli], f'{work}/fission')
    start = time.monotonic()
    broken = agree_fails(f'{work}/agree')
    middle = time.monotonic()
    if broken or traces_fail(f'{work}/fission'):
        raise SystemExit('mutants: the tests fail without any mutant')
    return SECONDS + 10 * (middle - start), SECONDS + 10 * (time.monotonic() - middle)


def compile_mutant(mutant, work, place, files):
    """Objects of what the mutant changes, by source: its file, or all that include its header."""
    changed = os.path.join(place, os.path.relpath(mutant.file, 'src'))
    os.makedirs(os.path.dirname(changed), exist_ok=True)
    with open(changed, 'w') as f:
        f.write(mutant.text())
    if mutant.file.endswith('.c'):
        compile_one(changed, changed + '.o', os.path.dirname(f'{TOP}/{mutant.file}'))
        return {mutant.file: changed + '.o'}
    objects = {}
    for source in files:
        if mutant.file in open(object_of(work, source).removesuffix('.o') + '.d').read():
            objects[source] = object_of(place, source)
            compile_one(f'{TOP}/{source}', objects[source], place)
    return objects


def folders_of(mutant):
    """The trace tests that know the rule best, or none."""
    word = mutant.name.split('-')[0]
    folders = ASKED.get(word, (word,))
    return [f for f in folders if os.path.isdir(f'{TOP}/tests/traces/{f}')]


def killed_by(mutant, work, core, cli, limits):
    """Who notices: 'agree', the folder of traces, 'traces', or None; None too if it does not stand at one place."""
    if mutant.places() != 1:
        return None
    place = os.path.join(work, mutant.name)
    changed = compile_mutant(mutant, work, place, core + cli + AGREE)
    folders = folders_of(mutant)

    def linked(name, files):
        link([changed.get(f, object_of(work, f)) for f in files], f'{place}/{name}')
        return f'{place}/{name}'

    if folders and traces_fail(linked('fission', core + cli), folders, limits[1]):
        return folders[0]
    if agree_fails(linked('agree', core + AGREE), limits[0]):
        return 'agree'
    if traces_fail(linked('fission', core + cli), (), limits[1]):
        return 'traces'
    return None


def main():
    global PAGE
    work, wanted = os.path.abspath(sys.argv[1]), [w for w in sys.argv[2:] if not w.startswith('--')]
    every = next((int(w.removeprefix('--every=')) for w in sys.argv[2:] if w.startswith('--every=')), 1)
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    core = [s for s in sources() if not s.startswith('src/cli/')]
    cli = [s for s in sources() if s.startswith('src/cli/')]
    mutants = [Mutant(p) for p in sorted(glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), '*.mutant')))]
    mutants = [m for m in mutants if not wanted or m.name in wanted][::every]
    build_objects(work, core + cli + AGREE)
    PAGE = build_page(work)
    limits = control(work, core, cli)
    survived = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for mutant, by in zip(mutants, pool.map(lambda m: killed_by(m, work, core, cli, limits), mutants)):
            survived += by is None
            print(f'{mutant.name:34} {"killed by " + by if by else "SURVIVED" if mutant.places() == 1 else "HAS NO PLACE":20} {mutant.rule}', flush=True)
    shutil.rmtree(work, ignore_errors=True)
    print(f"{len(mutants) - survived} passed, {survived} failed")
    return 1 if survived else 0


if __name__ == '__main__':
    sys.exit(main())

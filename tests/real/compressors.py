# SPDX-License-Identifier: MIT
"""Compressors with threads: a file is compressed, and what came out decompressed, byte for byte what went in.

The output depends on the sizes of the blocks but not on who compressed which one first, so that it must be the same
in every run.
"""

import filecmp
import random

MEGABYTE = 1 << 20


def write_text(path, size):
    """Text that compresses about as prose does, always the same."""
    r = random.Random(1)
    words = ["".join(r.choices("etaoinshrdlucmfw", k=r.randint(2, 9))) for _ in range(20000)]
    weights = [1 / (i + 1) for i in range(len(words))]
    page = MEGABYTE // 4
    with open(path, "w") as f:
        for _ in range(size // page):
            text = " ".join(r.choices(words, cum_weights=None, weights=weights, k=page // 4))
            f.write(text[:page].ljust(page))


class Compressor:
    size = 0        # of what is compressed, in MB
    compress = ()   # options
    decompress = ()

    def binary(self, tree):
        raise NotImplementedError

    def environment(self, tree):
        return {}

    def prepare(self, data):
        self.text = data / f"text-{self.size}"
        if not self.text.exists():
            part = self.text.with_suffix(".part")
            write_text(part, self.size * MEGABYTE)
            part.rename(self.text)

    def use(self, session, tree):
        program, environment = self.binary(tree), self.environment(tree)
        packed = session.call("compress", [program, *self.compress], stdin=self.text, **environment)
        back = session.call("decompress", [program, *self.decompress], stdin=packed, **environment)
        if not filecmp.cmp(back, self.text, shallow=False):
            session.complain("what comes back is not what went in")


class Pigz(Compressor):
    name = package = "pigz"
    size = 16
    compress = "-p4", "-c"
    decompress = "-d", "-p4", "-c"

    def build(self, make, cc, cxx):
        make("make", "-j2", f"CC={cc}", "pigz")

    def binary(self, tree):
        return tree / "pigz"


class Zstd(Compressor):
    name, package = "zstd", "libzstd"
    size = 24
    compress = "-q", "-3", "-T4", "-B1MiB", "-c"
    decompress = "-q", "-d", "-c"

    def build(self, make, cc, cxx):
        make("make", "-j2", "-C", "programs", f"CC={cc}", "HAVE_ZLIB=0", "HAVE_LZMA=0", "HAVE_LZ4=0", "zstd")

    def binary(self, tree):
        return tree / "programs" / "zstd"


class Xz(Compressor):
    name, package = "xz", "xz-utils"
    size = 3
    compress = "-0", "-T4", "--block-size=256KiB", "-c"
    decompress = "-d", "-T4", "-c"

    def build(self, make, cc, cxx):
        make("./configure", "--disable-nls", "--disable-doc", "--disable-scripts", f"CC={cc}")
        make("make", "-j2")

    def binary(self, tree):  # not the wrapper of libtool's, which is a script
        return tree / "src" / "xz" / ".libs" / "xz"

    def environment(self, tree):
        return {"LD_LIBRARY_PATH": str(tree / "src" / "liblzma" / ".libs")}


class Pbzip2(Compressor):
    name = package = "pbzip2"
    size = 4
    compress = "-q", "-p4", "-b5", "-c"
    decompress = "-q", "-d", "-p4", "-c"

    def build(self, make, cc, cxx):
        make("make", f"CXX={cxx}", "pbzip2")

    def binary(self, tree):
        return tree / "pbzip2"

# SPDX-License-Identifier: MIT
"""x264: a made-up film, encoded with frame threads. What comes out depends on the number of threads, not on who was first."""

import re

WIDTH, HEIGHT, FRAMES = 176, 144, 24


class X264:
    name = package = "x264"

    def build(self, make, cc, cxx):
        make("env", f"CC={cc}", "./configure", "--disable-asm", "--disable-lavf", "--disable-swscale", "--disable-ffms",
             "--disable-gpac", "--disable-lsmash", "--disable-opencl")
        make("make", "-j2", "x264")

    def prepare(self, data):
        """A pattern that moves."""
        self.film = data / "film.yuv"
        if not self.film.exists():
            frames = []
            for t in range(FRAMES):
                luma = bytes((x * 3 + y * 5 + t * 7 + (x * y // 16) % 61) % 256 for y in range(HEIGHT) for x in range(WIDTH))
                chroma = bytes((x + y + t) % 256 for y in range(HEIGHT // 2) for x in range(WIDTH // 2))
                frames.append(luma + chroma + chroma)
            part = self.film.with_suffix(".part")
            part.write_bytes(b"".join(frames))
            part.rename(self.film)

    def use(self, session, tree):
        session.call("encode", [tree / "x264", "--threads", "4", "--demuxer", "raw", "--input-res", f"{WIDTH}x{HEIGHT}", "--quiet",
                                "--no-progress", "--muxer", "raw", "-o", "/dev/stdout", str(self.film)])
        *rest, said = session.outcome[-1]
        session.outcome[-1] = (*rest, re.sub(r"[\d.]+ fps", "N fps", said))  # how fast it was is told even when quiet

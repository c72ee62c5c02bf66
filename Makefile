# SPDX-License-Identifier: MIT
# The front door. Each target installs what it needs on Debian 12, configures, builds, and does what it says.

PREFIX ?= /usr/local
DESTDIR ?=
BUILD = build

.PHONY: all demo test test-chase test-deb test-inputs test-long test-page test-real test-sarif test-scale test-stock \
	test-valgrind fuzz fuzz-long mutants bench bench-long bench-pairs bench-peers bench-real bench-scale papers deb install clean

all: $(BUILD)/fission

# Meson and ninja know what is out of date; this only has to ask them.
.PHONY: $(BUILD)/fission
$(BUILD)/fission:
	@tools/deps.sh build
	@test -f $(BUILD)/build.ninja || echo "building in $(BUILD): a minute or two"
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD) --prefix=$(PREFIX) >/dev/null || \
		{ cat $(BUILD)/meson-logs/meson-log.txt; exit 1; }
	@ninja -C $(BUILD) --quiet

demo: $(BUILD)/fission
	@tools/demo.sh $(BUILD)

test:
	@tools/deps.sh build test symbolic
	@tests/run.sh $(BUILD)

# Real programs, rebuilt with fission-cc and run twenty times each; REAL='--programs=xz --runs=3' asks for less.
test-real: $(BUILD)/fission
	@tools/deps.sh real
	@tests/real/run.py $(BUILD) $(REAL)

# Debian's own binaries as they are, twenty times each; STOCK='--programs=xz --runs=3' asks for less.
test-stock: $(BUILD)/fission
	@tools/deps.sh stock
	@tests/stock/real.py $(BUILD) $(STOCK)

# SARIF before the schema of the standard, which npm has and which needs the network.
test-sarif: $(BUILD)/fission
	@tools/deps.sh sarif
	@tests/report/fetch_schema.sh $(BUILD)/sarif-2.1.0.json
	@tests/report/machines.py $(BUILD) --schema=$(BUILD)/sarif-2.1.0.json

# The page of the HTML report in Chromium; its pictures are kept in build/page/shots, for a person to look at.
test-page: $(BUILD)/fission
	@tools/deps.sh build page
	@tests/page/run.py $(BUILD)

# What takes too long for every day: order over millions of sections, memory over a hundred million events, the filter's law
# over millions of sequences, every trace recorded.
test-long:
	@tools/deps.sh build test
	@tests/build.sh $(BUILD)
	@tests/robust/run.py $(BUILD) --long
	@$(BUILD)/tests/robust/merge_speed
	@$(BUILD)/tests/test_law --count 100000
	@tests/programs/roundtrip.py $(BUILD) --all
	@tests/mutants/run.py $(BUILD)/mutants --every=8
	@tests/fuzz/run.sh $(BUILD)/fuzz 60
	@tests/pairs/run.py $(BUILD) --long
	@tests/docs/tutorial.py $(BUILD) docs/pairs.md docs/build-systems.md

# The library in memcheck, under every wrapper; a minute or two.
test-valgrind:
	@tools/deps.sh build test valgrind
	@tests/build.sh $(BUILD)
	@tests/runtime/wrappers.py $(BUILD) --valgrind

# Launchers over ssh and Slurm, three daemons of each on loopback, and every fault of them; minutes.
test-scale: $(BUILD)/fission
	@tools/deps.sh build scale
	@tests/scale/run.py $(BUILD)
	@tests/scale/daemons.py $(BUILD)

# Every bug of tests/programs/bugs chased and replayed, its fixed twin, too, and what undirected strategies need beside
# it.
test-chase: $(BUILD)/fission
	@tests/programs/bugs.py $(BUILD) --both --runs=10 --tsan
	@tests/programs/bugs.py $(BUILD) --chase --replays=100 --strategies --limit=10000

# Bugs that need other inputs, each also with one half of the search alone; what cannot be followed; solver and walks.
test-inputs:
	@tools/deps.sh build test symbolic
	@tests/build.sh $(BUILD)
	@tests/symbolic/solve.py $(BUILD)
	@tests/symbolic/models.py $(BUILD) --count=60
	@tests/symbolic/graceful.py $(BUILD)
	@tests/programs/inputs.py $(BUILD) --table --chance=10000 --replays=20
	@tests/programs/speculate.py $(BUILD) --seeds=8 --broken=300

# Forty minutes of coverage-guided fuzzing, shared by the readers and the checks, two side by side.
fuzz:
	@tools/deps.sh build test
	@tests/fuzz/run.sh $(BUILD)/fuzz 2400

# Twenty million random traces, every check against the judge.
fuzz-long:
	@tools/deps.sh build test
	@tests/build.sh $(BUILD)
	$(BUILD)/tests/agree --count 20000000 --jobs $$(nproc)

# Breaks every rule of every check, one at a time, and expects the tests to notice.
mutants:
	@tools/deps.sh build test
	@tests/mutants/run.py $(BUILD)/mutants

bench: $(BUILD)/fission
	@tools/deps.sh build
	@bench/run.py $(BUILD)
	@bench/checks.py $(BUILD)
	@bench/ladder.py $(BUILD)
	@bench/predict.py $(BUILD)
	@bench/report.py $(BUILD)
	@tools/deps.sh real
	@bench/runtime.py $(BUILD) --zstd=debian
	@bench/gate.py $(BUILD)
	@bench/stock.py $(BUILD)

# What units of 50 ms, 1 s and 10 s cost beside the ideal; and what limits it beyond, by the piece.
bench-scale: $(BUILD)/fission
	@tools/deps.sh build scale
	@bench/scale.py $(BUILD)

bench-long: $(BUILD)/fission
	@bench/run.py $(BUILD) --long
	@bench/runtime.py $(BUILD) --long
	@bench/stock.py $(BUILD) --beside

# A Debian package in build/deb/, which lintian accepts; then installed into a clean root, where the tutorial is run.
deb:
	@tools/deps.sh build deb
	@tools/deb.sh $(BUILD)

test-deb: deb
	@tools/deps.sh deb-root
	@tests/docs/package.sh $(BUILD)

# Every pair of operations of the four collections; the matrices go to docs/results/pairs.txt.
bench-pairs: $(BUILD)/fission
	@bench/pairs.py $(BUILD) $(PAIRS)

# The papers' tables for the programs of bench/programs, with the papers' numbers beside ours; written to docs/results.
# An ended run goes on.
papers: $(BUILD)/fission
	@tools/deps.sh build
	@bench/papers.py $(BUILD) $(PAPERS)

# What ThreadSanitizer, Helgrind, DRD and we cost, and what each says of programs with an atomicity bug.
bench-peers: $(BUILD)/fission
	@tools/deps.sh build test peers
	@bench/peers.py $(BUILD) $(PEERS)

# Real programs from Debian's sources, built with CC=fission-cc: slowdown, and every finding of rank 1 and 2.
bench-real: $(BUILD)/fission
	@tools/deps.sh real
	@bench/real/run.py $(BUILD) $(REAL)

# With sudo, what root has written into the build directory goes back to whoever has made that.
install: $(BUILD)/fission
	@meson configure $(BUILD) --prefix=$(PREFIX)
	@ninja -C $(BUILD) --quiet >/dev/null || ninja -C $(BUILD)
	@DESTDIR=$(DESTDIR) meson install -C $(BUILD) --no-rebuild --quiet; status=$$?; \
		find $(BUILD) -user root -exec chown -h --reference=$(BUILD) {} + 2>/dev/null; exit $$status
	@echo "installed: $(DESTDIR)$(PREFIX)/bin/fission"

clean:
	rm -rf $(BUILD)

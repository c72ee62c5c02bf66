/* SPDX-License-Identifier: MIT */
/* What hooks_probe.c has. */
#ifndef FISSION_TESTS_HOOKS_PROBE_H
#define FISSION_TESTS_HOOKS_PROBE_H

#include <stdint.h>

#define PROBES(p) p(read1) p(read2) p(read4) p(read8) p(read16) p(write1) p(write2) p(write4) p(write8) p(write16)

#define PROBE_DECLARE(name) void probe_##name(uintptr_t address);
PROBES(PROBE_DECLARE)
#undef PROBE_DECLARE

void probe_func_entry(uintptr_t frame, uintptr_t from);
void probe_func_exit(uintptr_t frame, uintptr_t unused);
extern const char probe_func_entry_place[], probe_func_exit_place[];

#endif

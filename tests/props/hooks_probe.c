/* SPDX-License-Identifier: MIT */
/*
 * The hooks of driver/fission/hooks.h as a file that fission-cc compiles has them, to be called one by one. They are
 * local to this file, which is compiled with the header in front.
 */
#include "hooks_probe.h"

/* probe_NAME(address): hook, with the place after it as PROBE_PLACE. */
#define PROBE(name) __asm__( \
	".text\n.globl probe_" #name "\nprobe_" #name ":\n\tcall __tsan_" #name "\n\tret\n");
PROBES(PROBE)

/* probe_NAME(frame, from): a call or an exit of a function with that frame. */
#define PROBE_CALL(name) __asm__( \
	".text\n.globl probe_" #name "\nprobe_" #name ":\n\tpushq %rbp\n\tmovq %rdi, %rbp\n\tmovq %rsi, %rdi\n\t" \
	"call __tsan_" #name "\nprobe_" #name "_place:\n\tpopq %rbp\n\tret\n" \
	".globl probe_" #name "_place\n");
PROBE_CALL(func_entry)
PROBE_CALL(func_exit)

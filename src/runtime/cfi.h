/* SPDX-License-Identifier: MIT */
/*
 * How to get from a frame of the stack to its caller's, by the tables that compilers write for exceptions (.eh_frame).
 *
 * Only what is common on x86-64 is understood: the frame's end is the stack pointer or the frame pointer and a number,
 * or lies where the frame pointer says (functions that realign their stack); the return address is right below it. The
 * frame pointer is the one register that is followed. Everything else is "no rule", and whoever walks stops there.
 *
 * No locks, no memory, no libc but _dl_find_object, which signal handlers may call. Where libc is older than that
 * function, dl_iterate_phdr takes its place. The tables are read where the loader has mapped them, and are believed as
 * libgcc believes them; lengths are kept to.
 */
#ifndef FISSION_RUNTIME_CFI_H
#define FISSION_RUNTIME_CFI_H

#include <stdbool.h>
#include <stdint.h>

enum cfi_sort {
	CFI_NONE,   /* no table, or nothing that is understood */
	CFI_STEP,   /* there is a caller */
	CFI_LAST,   /* there is none: the stack begins here */
	CFI_SIGNAL, /* the caller was interrupted by a signal */
};

enum cfi_base { CFI_SP, CFI_FP, CFI_AT_FP };
enum cfi_saved { CFI_SAME, CFI_AT_END, CFI_BY_FP, CFI_LOST };

struct cfi_rule {
	uint64_t pc;    /* that it is for: a return address */
	uint64_t start; /* of the function, or of the part of it that the compiler has put elsewhere */
	int32_t end;    /* the frame's end, from `base` */
	int32_t saved;  /* where the caller's frame pointer lies */
	uint8_t sort;   /* enum cfi_sort */
	uint8_t base;   /* enum cfi_base */
	uint8_t saved_in; /* enum cfi_saved */
	uint8_t unwinder; /* it belongs to libgcc's unwinder */
	uint8_t part;   /* begins with a frame that is there already: the cold part of a function */
};

/* What a walk carries along. */
struct cfi_registers {
	uint64_t pc, sp, fp;
};

/* The rule for the call that returns to pc. */
void cfi_find(uint64_t pc, struct cfi_rule *r);

/* The end of the frame by the rule. */
static inline uint64_t cfi_end(const struct cfi_rule *r, const struct cfi_registers *at)
{
	switch (r->base) {
	case CFI_SP: return at->sp + (uint64_t)(int64_t)r->end;
	case CFI_FP: return at->fp + (uint64_t)(int64_t)r->end;
	default: return *(const uint64_t *)(at->fp + (uint64_t)(int64_t)r->end);
	}
}

/* The caller's frame pointer; 0 if nobody knows. */
static inline uint64_t cfi_caller_fp(const struct cfi_rule *r, const struct cfi_registers *at, uint64_t end)
{
	switch (r->saved_in) {
	case CFI_SAME: return at->fp;
	case CFI_AT_END: return *(const uint64_t *)(end + (uint64_t)(int64_t)r->saved);
	case CFI_BY_FP: return *(const uint64_t *)(at->fp + (uint64_t)(int64_t)r->saved);
	default: return 0;
	}
}

/* The module at the address: its name as the loader knows it, "" for the program itself; NULL: there is none. */
struct cfi_module {
	const char *name;
	uint64_t start, end;
	const unsigned char *table; /* .eh_frame_hdr */
};

bool cfi_module(uint64_t pc, struct cfi_module *m);

/* Whether its file's name begins so. */
bool cfi_is_named(const struct cfi_module *m, const char *begins);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Which code is expected to be atomic, what is assumed about it, and what is watched: what the user has said on the
 * command line, in a configuration file and in the comments of the sources. docs/policy.md is the definition.
 *
 * It knows names and nothing else: not runs, not checks, not findings. Whoever asks does so once a name and keeps the
 * answer, since an answer costs a walk through the patterns. Answers are good after everything was read; policy_leave
 * changes those about one name. Memory: the arena's; no global state.
 */
#ifndef FISSION_POLICY_POLICY_H
#define FISSION_POLICY_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"
#include "policy/rules.h"

struct arena;
struct fault;

/* Whose activations are blocks, besides those that were declared atomic by name; 0: only those. */
enum policy_blocks {
	POLICY_LOCKS = 1,     /* each span from acquire to release; what that is, whoever knows locks decides */
	POLICY_EXPORTED = 2,  /* functions that an `exported` line names */
	POLICY_FUNCTIONS = 4, /* every function */
	POLICY_NAMES = 8,     /* a file of names was given; they are declared, as `atomic` lines do it */
};

struct policy {
	unsigned blocks; /* enum policy_blocks */
	struct rules rules;
};

/* The default policy: POLICY_FUNCTIONS, everything is watched, nothing is assumed. */
void policy_init(struct policy *p, struct arena *a);

/*
 * The policy of --atomic, instead of the default: words with '+' between them. False with a fault, STATUS_USAGE for a
 * wrong word or a file that cannot be read, STATUS_CONFIG for a mistake in it.
 */
bool policy_parse(struct policy *p, const char *words, struct fault *fault);

/* Adds what a configuration file says; several may be read. False with a fault, as for the file of policy_parse. */
bool policy_read(struct policy *p, const char *path, struct fault *fault);

/* Adds the annotations in the comments of a C source. False with a fault, the same. */
bool policy_scan(struct policy *p, const char *path, struct fault *fault);

/* A policy of its own that says the same, and from which blocks can leave. What it was made of must stay. */
struct policy policy_copy(const struct policy *p, struct arena *a);

/* Whether exported functions were asked for and nothing says which they are: to be refused once all is read. */
bool policy_lacks_exported(const struct policy *p);

/* The block leaves the policy: it was blamed, and what it hides is looked for next. It stays what else it was. */
void policy_leave(struct policy *p, struct text name);

/* Whether it has. */
bool policy_has_left(const struct policy *p, struct text name);

/* Whether nothing is said about what is assumed or watched, so that no event has to be asked for. */
bool policy_says_little(const struct policy *p);

enum {
	CODE_BLOCK = 1,     /* each activation is expected to be atomic. Never: main, assumed code, what has left */
	CODE_DECLARED = 2,  /* somebody has written down that it is atomic */
	CODE_ATOMIC = 4,    /* assumed to be atomic */
	CODE_MOVER = 8,     /* assumed to move both ways */
	CODE_UNWATCHED = 16, /* its own accesses are not of interest; not a block unless declared */
	CODE_FOREIGN = 32,
};

/* A function's name or a block's label. */
unsigned policy_code(const struct policy *p, struct text name);

enum { SITE_NO_WARN = 1, SITE_UNWATCHED = 2, SITE_FOREIGN = 4 };

/* A place as it stands in traces, or the path of a module. Where no file is known, nothing is said about files. */
unsigned policy_site(const struct policy *p, struct text site);

enum { VARIABLE_GUARDED = 1, VARIABLE_UNWATCHED = 2 };

/* A variable's name; an element beyond the array cut-off, as slot[17] or grid[3][4], is not watched. */
unsigned policy_variable(const struct policy *p, struct text name);

/* Which side of a lock a function is by a `lock` line: sets *pair to the number of the line, from 0. */
enum policy_lock { LOCK_NONE, LOCK_TAKES, LOCK_GIVES };

enum policy_lock policy_lock(const struct policy *p, struct text function, uint32_t *pair);
bool policy_has_locks(const struct policy *p);

/* Adds what the program itself has declared, literally. A place is FILE:LINE. */
void policy_assume_atomic(struct policy *p, struct text function);
void policy_assume_mover(struct policy *p, struct text function);
void policy_no_warn(struct policy *p, struct text place);

/* How many elements of an array are watched, for memory that has addresses instead of names; 0: all. */
static inline uint64_t policy_cutoff(const struct policy *p)
{
	return p->rules.cutoff;
}

#endif

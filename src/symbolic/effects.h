/* SPDX-License-Identifier: MIT */
/* What functions without a body do to locks, to the block around them and to the way: a table (effects.def). */
#ifndef FISSION_SYMBOLIC_EFFECTS_H
#define FISSION_SYMBOLIC_EFFECTS_H

enum effect {
	EFFECT_NONE,        /* nothing that matters here */
	EFFECT_LOCK,
	EFFECT_LOCK_SHARED,
	EFFECT_UNLOCK,
	EFFECT_WAIT,        /* gives a mutex back and takes it again; cuts */
	EFFECT_CUT,         /* what stands before and behind it is not meant to be one step */
	EFFECT_FRESH,       /* returns memory that nobody else knows */
	EFFECT_ABORT,       /* does not return */
};

struct effect_of {
	const char *name;
	enum effect what;
	unsigned argument;
};

/* What is known of the function of that name; EFFECT_NONE for the others. */
const struct effect_of *effect_of(const char *name);

#endif

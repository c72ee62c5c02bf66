/* SPDX-License-Identifier: MIT */
/*
 * The window of a finding in its surroundings, as the diaries of its threads tell it: which locks were held around
 * each end and around the culprits, and so what their sections are.
 *
 * The first end's section is that of the locks which are given back before the second end, the second's that of the
 * locks which are taken after the first; an end without such a lock is a section by itself. A culprit's section is that
 * of all its locks. Numbers of notes are those of the line's diary, and good until more is written into it.
 */
#ifndef FISSION_CHECK_SCENE_H
#define FISSION_CHECK_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"
#include "finding/finding.h"

struct arena;
struct diary;
struct run;

/* A lock being held, as a diary tells it: from note to note. */
struct held_span {
	sync_id lock;
	uint64_t from, to; /* numbers of the acquire's and the release's notes */
	bool begun;        /* the acquire is remembered; otherwise it is before everything that is */
	bool open;         /* it is not over: `to` is the last note */
	bool shared, waited;
};

struct held_spans {
	struct held_span *at;
	size_t count, capacity;
};

/* All locks that the diary knows to have been held; in the order of their acquires, as far as these are remembered. */
void held_spans_read(struct held_spans *s, struct arena *a, const struct diary *d);

/* The note of the operation; false if it is forgotten. The end of a wait has the number of the event behind it. */
bool scene_note(const struct diary *d, const struct access *a, uint64_t *note);

/* Notes `from` to `to` of a diary; none if from > to. */
struct range {
	uint64_t from, to;
};

/* One end of the window, or a culprit, in its surroundings. */
struct side {
	uint32_t line;
	const struct diary *diary;
	const struct held_spans *spans;
	uint64_t note;               /* its own */
	struct range section;
	const struct held_span *outer; /* the lock whose span the section begins with, or NULL */
	sync_id running;             /* a lock that is still held: the section is not over */
	bool whole;                  /* the section is remembered from its beginning */
};

/* One finding being looked at. */
struct scene {
	struct run *run;
	const struct finding *f;
	struct held_spans *spans; /* scratch: the block's, the first and the last culprit's */
	struct side first, second, theirs[2];
	size_t culprits; /* of theirs: one if first and last are in one section */
	bool alone;      /* the culprits, or what they did, are not known */
};

enum { SCENE_SPANS = 3 };

/*
 * Fills in the rest of a scene with run, f, which is number i of the run's findings, and SCENE_SPANS spans. False if
 * the window is forgotten. May give the finding a closer first end.
 */
bool scene_look(struct scene *c, size_t i);

static inline bool span_holds(const struct held_span *s, uint64_t note)
{
	return s->from <= note && note <= s->to;
}

/* From the start of the first section to the end of the second. */
static inline struct range scene_window(const struct scene *c)
{
	return (struct range){c->first.section.from, c->second.section.to};
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The seam for trace files: two readers and two writers, text and binary, behind one struct each.
 *
 * A reader fills batches of events and the tables that their ids refer to. It stops at the first thing that it
 * cannot read and leaves a fault with the place; the events before that are good. A writer takes events in
 * order; the tables it was opened with must hold whatever the events refer to by the time they are written.
 */
#ifndef FISSION_EVENT_TRACE_H
#define FISSION_EVENT_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/input.h"
#include "base/output.h"
#include "event/event.h"
#include "event/tables.h"

/* Events are handed on in batches, so that a check can look ahead and fetch what it will need. */
enum { TRACE_BATCH = 256 };

/* The part of an event that a message points at. */
enum trace_field { FIELD_THREAD, FIELD_OPERATION, FIELD_ARGUMENT };

struct brief_loop;
struct briefs;
struct trace;
struct trace_writer;

/* What a file format can do. */
struct trace_format {
	const char *name;
	/* Whether the file that starts with these bytes is of this format. */
	bool (*fits)(const char *start, size_t n);
	/* Reads what stands before the first event. False with a fault if the file is not readable at all. */
	bool (*open)(struct trace *t);
	/* Up to `most` events; 0 at the end or, with the fault set, at the first place that cannot be read. */
	size_t (*next)(struct trace *t, struct event *events, size_t most);
	/*
	 * Writes where event `e` of the latest batch stands, for messages: "bank.std:12:4". `index` is its index in
	 * that batch.
	 */
	void (*place)(struct trace *t, size_t index, enum trace_field field, char *to, size_t n);
	void (*close)(struct trace *t);

	/* The writer's side; `w` was zeroed and has its output and tables. */
	void (*start)(struct trace_writer *w);
	void (*put)(struct trace_writer *w, const struct event *e);
	void (*put_briefs)(struct trace_writer *w, const struct briefs *b); /* which notes what it likes; NULL: each to put */
	void (*put_loop)(struct trace_writer *w, const struct brief_loop *l); /* likewise */
	void (*finish)(struct trace_writer *w);
	void (*drop)(struct trace_writer *w); /* it is abandoned; NULL: that does not matter */
};

struct trace {
	const struct trace_format *format;
	struct input input;
	struct tables *tables;
	struct fault fault;
	bool lenient;     /* skip what cannot be parsed, and count it */
	uint64_t skipped; /* lines that were skipped */
	bool incomplete;  /* the file was cut off: the events are a prefix of what was recorded */
	char incomplete_at[64]; /* in words: where it was cut */
	uint64_t events;  /* handed out so far */
	void *state;      /* the format's own */
};

struct trace_writer {
	const struct trace_format *format;
	struct output output; /* its fault says what went wrong */
	const struct tables *tables;
	struct arena *arena; /* for the writer's own state */
	uint64_t events;
	void *state;
};

/* Opens a trace, told apart by content. `tables` are filled as the trace is read. False with a fault. */
bool trace_open(struct trace *t, const char *path, struct tables *tables, bool lenient);
size_t trace_next(struct trace *t, struct event *events, size_t most);
void trace_place(struct trace *t, size_t index, enum trace_field field, char *to, size_t n);
void trace_close(struct trace *t);

/* Starts a file of the given format at `path`, or on standard output for "-". False with w->output.fault. */
bool trace_create(struct trace_writer *w, const struct trace_format *format, const char *path,
	const struct tables *tables, struct arena *a);
void trace_put(struct trace_writer *w, const struct event *e);
/* The same for each of them. */
void trace_put_briefs(struct trace_writer *w, const struct briefs *b);
void trace_put_loop(struct trace_writer *w, const struct brief_loop *l);
/* Completes the file and puts it into place; false, with nothing left behind, if anything failed. */
bool trace_commit(struct trace_writer *w);
void trace_abort(struct trace_writer *w);

extern const struct trace_format trace_text;
extern const struct trace_format trace_bin;

/* The format of that name, or NULL. */
const struct trace_format *trace_format_named(const char *name);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The text of a program in the making: lines, places, and the identifiers of everything that a plan has.
 *
 * Lines are put together in `text` and handed over by writer_flush(), which counts them. The count is what brings
 * the compiler back to the program's own file after #line directives have led it to the trace's places.
 */
#ifndef FISSION_CLI_PROGRAM_WRITER_H
#define FISSION_CLI_PROGRAM_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/seg.h"
#include "base/str.h"
#include "cli/program_names.h"

struct event;
struct output;
struct plan;

struct writer {
	struct plan *plan;
	struct output *out;
	struct str text;  /* the lines in the making */
	struct str scrap; /* for a text that is escaped into them */
	uint64_t line;    /* the number of the line in the making */
	bool elsewhere;   /* the compiler takes it for a line of another file */
	struct names names;
	/* Identifiers, const char * each: by id; globals by store, barriers by number. */
	struct seg codes, threads, locks, conditions, semaphores, barriers, globals;
};

void writer_init(struct writer *w, struct plan *p, struct output *out, const char *program);

static inline const char **writer_name(struct seg *s, uint64_t i)
{
	return seg_at(s, i, sizeof(const char *));
}

/* Hands over what has been put together: whole lines. */
void writer_flush(struct writer *w);

/* Puts the text in quotes, as a C string. */
void writer_string(struct writer *w, const char *text, size_t n);

/* The event as a C string: its line of a text trace, with the newline. */
void writer_echo(struct writer *w, const struct event *e);

/* Puts the text in a comment. */
void writer_comment(struct writer *w, struct text text);

/* The trace's own name of what was declared with the identifier, if they differ, and the end of the line. */
void writer_origin(struct writer *w, const char *identifier, struct text name);

/* A number as C has it. */
void writer_number(struct writer *w, uint64_t n);

/* Makes the next line one of the place, if that is FILE:LINE, or else of the program's own file. */
void writer_place(struct writer *w, struct text place);

#endif

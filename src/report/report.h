/* SPDX-License-Identifier: MIT */
/*
 * What a command has to tell, and the seam for the forms in which it is told.
 */
#ifndef FISSION_REPORT_REPORT_H
#define FISSION_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/wellformed.h"
#include "finding/finding.h"
#include "report/story.h"

struct look;
struct str;

/* What a search knows of a finding beyond the trace. */
struct report_chased {
	uint64_t id;
	struct text then;
	struct story_outcome *outcome; /* of the orders that were tried; none: as far as the trace tells */
	size_t outcomes;
	struct text replay; /* the file */
};

/* One trace that was looked at. */
struct report_trace {
	const char *path;
	const struct tables *tables;
	const struct findings *findings;
	uint64_t events, variables;
	bool timed;                  /* seq is a time of the program, and not the number of an event */
	uint64_t repaired[WF_RULES]; /* events that a lenient run dropped or mended, by rule */
	uint64_t skipped;            /* lines that a lenient run could not parse */
	const char *cut;             /* where the file was cut off; NULL if it is whole */
	const char *fault;           /* what ended the reading early; NULL if nothing did */
	const struct report_chased *chased; /* by finding */
	size_t chases;
};

struct report {
	const struct report_trace *trace;
	size_t count;
	unsigned rank;       /* findings of a worse rank are counted and not shown; 0: all are shown */
	const char *command; /* "run", "check" */
	char **program;      /* with its arguments, NULL at the end; NULL for traces */
	const char *fail_on;
	int status;          /* of the tool */
	bool bare;           /* without lines of sources: whoever puts it together reads them */
	struct story_failure *failure;
	size_t failures;
	const struct text *failure_replay; /* the file of each */
};

struct renderer {
	const char *name;
	/* Appends the whole report. */
	void (*render)(const struct story *story, const struct look *look, struct str *to);
};

/* All of them, NULL at the end. */
extern const struct renderer *const renderers_all[];

/* For `list`, and for hazards in words; not among them. */
extern const struct renderer render_list, render_hazards;

/* The form of that name, or NULL. */
const struct renderer *renderer_named(const char *name);

/* The names of all forms, NULL behind the last one; for opt_values. */
const char *renderer_names(size_t i, const char **about);

/* Appends the access's variable, lock or thread as the trace names it; an address as 0x... */
void report_object(struct str *to, const struct tables *tables, const struct access *a);

/* The kind of an access in one word. `source` tells the end of a thread from its start. */
const char *report_word(const struct access *a, bool source);

/*
 * The functions that the block was called from, the innermost first: they are not atomic because of it either. Returns
 * the next one and moves `*stack`, which starts as f->block.caller; 0 when there is none left. `main` and start
 * routines are none.
 */
code_id report_enclosing(const struct tables *tables, stack_id *stack);

/* Whether the run itself went along the path; otherwise another run would, or might. */
bool report_happened(const struct finding *f);

/*
 * The operations of a finding's path, each once, in the order in which they happened, or would happen. Returns how
 * many; `to` has room for two a link. The first and the last of the path are the block's own.
 */
struct report_step {
	const struct access *access;
	enum story_role role;
	bool source;
};

size_t report_steps(const struct finding *f, struct report_step *to);

#endif

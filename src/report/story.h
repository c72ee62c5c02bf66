/* SPDX-License-Identifier: MIT */
/*
 * A run's findings, told: what every form of a report is made from, and what fission.out keeps.
 *
 * Everything is text or a small index; no id of a trace, no address that means something. So a story can be written as
 * JSON and read back (story_read), and what is rendered from the file is what would have been rendered from the run.
 * Texts are what the program gave: they may hold anything but NUL, also bytes that are no UTF-8, and each form makes
 * them harmless in its own way. An empty text is one that is not known.
 *
 * Owned by one arena. Stacks, threads, locks and sources are shared by number: equal stacks have equal numbers.
 */
#ifndef FISSION_REPORT_STORY_H
#define FISSION_REPORT_STORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "finding/finding.h"

enum { STORY_VERSION = 2 };

#define STORY_NONE UINT32_MAX /* for an index: there is none */

/* Where something stands. `source` is the index of the file's excerpts, or STORY_NONE. */
struct story_place {
	struct text file; /* empty: not known; "libbank.so+0x1234" if only that is */
	uint32_t line, column; /* 0: not known */
	uint32_t source;
};

struct story_frame {
	struct text function;
	struct story_place place; /* in that function: of the access, or of the call of the frame before */
	bool inlined;             /* into the next frame */
	bool foreign;             /* not the project's own code */
};

struct story_stack {
	struct story_frame *at; /* the innermost first */
	size_t count;
};

struct story_thread {
	struct text name;  /* "T1", or what the program calls it */
	uint32_t creator;  /* index of a thread */
	uint32_t creation; /* index of a stack */
};

/* Lines of a source file, as they were when the story was told. */
struct story_source {
	struct text file; /* as places spell it */
	uint32_t *number; /* of each line, rising */
	struct text *line;
	size_t count;
};

enum story_role { STORY_OTHER, STORY_FIRST, STORY_CULPRIT, STORY_SECOND, STORY_ROLES };

extern const char *const story_role_text[STORY_ROLES]; /* "", "first", "culprit", "second" */

/* One row of an interleaving. */
struct story_event {
	uint32_t thread;  /* index */
	const char *word; /* "read", "write", "acquire", "release", ...: event_info[].word, or "start", "end" */
	struct text object;
	bool data;   /* an access; otherwise the object is a lock, condition, barrier, semaphore, thread */
	bool locks, unlocks; /* the object is a lock, and is taken or given back */
	bool valued, is_unsigned;
	uint64_t value; /* read or written */
	uint32_t size;  /* bytes, 0: not known */
	struct story_place place;
	uint32_t stack; /* index */
	enum story_role role;
	uint64_t seq;     /* when, in the run's own count; of no meaning where the order is another one's */
	uint64_t skipped; /* events of the window right before this one that are left out */
};

/* What one serial order, or the one that was seen, leaves in a variable. */
struct story_outcome {
	struct text order; /* "T1, T2" */
	struct text variable;
	int64_t value;
	bool known;
	bool serial;
};

struct story_evidence {
	struct text check, kind;
	uint64_t event;
};

/* Why its rank is what it is. A rule by its name in policy/rank.h. */
struct story_reason {
	struct text rule, why;
};

/* "hold mu from bank.c:8 to bank.c:9", in the block's own function. */
struct story_fix {
	struct text lock; /* empty: any one, also one that is yet to be made */
	struct story_place from, to; /* no file: there is no fix to offer */
};

struct story_finding {
	struct text id; /* "fsn-7c1f0a2b" */
	uint32_t trace; /* index of the trace that it was found in */
	enum verdict verdict;
	unsigned rank;
	bool hidden;   /* by a rule of its rank */
	bool again;    /* the same code was found with another variable, by a finding that stands before */
	bool happened; /* the events are in the order of the run; otherwise another run would go so, or might */
	uint64_t count; /* activations */

	struct text function;      /* the block's; empty if it has no name */
	struct story_place place;  /* where it was begun */
	uint32_t thread;           /* its thread */
	uint64_t seq;              /* when it was begun */
	bool declared;
	bool entered;              /* it is all of a call of the function, and the place is where that was called */
	bool data;                 /* conflicting data makes all of the path; otherwise only locks do */
	struct text *variable;     /* of the path, each once; locks if there are none */
	size_t variables;
	struct text lock;          /* that is given back between the two accesses; empty: none, or not known */
	struct text *enclosing;    /* callers that are not atomic because of it, the innermost first */
	size_t enclosings;

	struct story_event *event; /* in the order that splits the block */
	size_t events;
	uint32_t window_from, window_to; /* events strictly between FIRST and SECOND in which others can come in: indexes of
					    the first and last, STORY_NONE if there are none */
	uint32_t block_stack;      /* index: where the block was begun */
	uint32_t caller_stack;     /* index: whoever began it */

	struct story_evidence *evidence;
	size_t evidences;
	struct story_reason *reason; /* the one that decides first */
	size_t reasons;
	struct text hindrance; /* why it is not surer: "race", "deadlock", "incomplete", "unchecked"; empty: nothing is */
	uint32_t hazard;       /* index of that race or deadlock */
	bool guessed;          /* that race keeps it from being observed: its order was made up */
	struct story_fix fix;
	struct story_outcome *outcome; /* where values are known; the one that was seen is the last */
	size_t outcomes;
	bool replay;      /* the run's directory has a replay file of it */
	struct text then; /* what the program did in that execution; empty: nothing that is worth telling */

	struct text suppressed; /* the line that suppresses it: "fission.supp:12"; empty: none does */
	struct text reason_given; /* of that suppression */
	bool known;               /* it is in the baseline */
	bool stands_in;           /* what it repeats (`again`) is suppressed or known: set by hide_settle(), not kept */
};

/* A line of a suppression file. */
struct story_suppression {
	struct text place; /* "fission.supp:12" */
	struct text rule;  /* "atomicity:withdraw" */
	struct text reason, owner, expires; /* as given; empty: not given */
	bool expired;  /* it matches, and hides nothing */
	uint64_t used; /* findings that it matches */
};

/* A data race or a possible deadlock: for each access, what it is in it ("earlier", "later", "holds", "wants"). */
struct story_hazard {
	enum hazard_kind kind;
	uint32_t trace;
	struct text object; /* of a race, the variable */
	struct story_event *event;
	size_t events;
	uint64_t times;
};

/* What a search has driven the program into beside what it was after: it crashed, hung, or all of it waited. */
struct story_failure {
	struct text id;    /* "fsn-7c1f0a2b"; there is a replay file of it */
	struct text what;  /* "crash", "hang", "deadlock" */
	struct text *line; /* sentences: how it ended, and who waits for what */
	size_t lines;
};

/* A replay file of the run's directory; written, never read with the story. */
struct story_file {
	struct text name, content;
};

struct story_limit {
	struct text what;
	uint64_t times;
};

/* One trace, or the one run. */
struct story_trace {
	struct text path; /* of the trace, or of the program */
	uint64_t events, variables, repaired, skipped;
	uint32_t threads;
	struct text cut, fault;
	bool timed;                 /* `seq` is a time of the program, and not the number of an event */
	struct story_limit *repair; /* what a lenient run has mended, by rule */
	size_t repairs;
	struct story_limit *limit;  /* what checks have left out */
	size_t limits;
};

struct story {
	struct arena *arena;
	struct text program;   /* with its arguments, as a shell would be given them; empty for traces */
	struct text command;   /* "run", "check" */
	int status;            /* of the tool */
	struct text fail_on;   /* "predicted,2" */
	unsigned rank;         /* findings of a worse rank are counted and not shown; 0: all are shown */
	struct story_trace *trace;
	size_t traces;
	struct story_thread *thread;
	size_t threads;
	struct story_stack *stack;
	size_t stacks;
	struct story_source *source;
	size_t sources;
	struct story_finding *finding; /* of each trace: best rank first, then best verdict */
	size_t findings;
	struct story_hazard *hazard; /* races first */
	size_t hazards;
	struct story_failure *failure;
	size_t failures;
	struct story_file *file;
	size_t files;
	struct story_suppression *suppression; /* all lines that were read */
	size_t suppressions;
};

struct report;
struct fault;
struct str;

/* Puts into words what was found. Texts of the report's tables are shared, and must stay as long as the story. */
void story_tell(struct story *s, struct arena *a, const struct report *r);

/*
 * Reads what the JSON renderer has written; "-" is standard input. False with a fault that names the place:
 * STATUS_USAGE if the file cannot be read, STATUS_TRACE if it is no such report or one of a newer version.
 */
bool story_read(struct story *s, struct arena *a, const char *path, struct fault *fault);

/* The same of bytes that are at hand. */
bool story_parse(struct story *s, struct arena *a, struct text json, struct fault *fault);

/* A program with its arguments, as a shell would be given them; in the arena. */
struct text story_program(struct arena *a, char **argv);

/* Whether people are shown the finding; machines are told of all. What a reader asks for beyond that: look_shows(). */
bool story_shows(const struct story *s, const struct story_finding *f);

/* The first event of that role; NULL if there is none. */
const struct story_event *story_event(const struct story_finding *f, enum story_role role);

/* Whether both texts are the same. */
bool text_is(struct text t, const char *word);
bool text_same(struct text a, struct text b);

/* Appends "bank.c:12", what is known of it. */
void story_add_place(struct str *to, const struct story_place *p);

/* Appends the value as a number; the event must have one. */
void story_add_value(struct str *to, const struct story_event *e);

/* How many hazards of that kind there are, and the kind in one word. */
uint64_t story_hazards(const struct story *s, enum hazard_kind kind);
extern const char *const story_hazard_text[2];

#endif

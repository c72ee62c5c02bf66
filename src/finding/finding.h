/* SPDX-License-Identifier: MIT */
/*
 * What a check has found: a block, the path of operations that splits it, and how sure that is.
 *
 * A finding is a value: it refers to the trace by ids of its tables and owns nothing but its path and evidence,
 * which live in the arena of the set. One defect is one finding: the first report of a (block, variable) makes it,
 * later ones, whatever check they come from, add their evidence and may improve the verdict and the path. Memory that
 * has no name counts as one variable if the block's two places are the same.
 */
#ifndef FISSION_FINDING_FINDING_H
#define FISSION_FINDING_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/seg.h"
#include "event/event.h"
#include "event/tables.h"

/* How sure we are; the larger the surer. */
enum verdict { VERDICT_SUSPECTED, VERDICT_PREDICTED, VERDICT_OBSERVED, VERDICT_REPRODUCED, VERDICTS };

extern const char *const verdict_text[VERDICTS];

/* One operation as evidence. `object` is as in struct event: an address with EVENT_ADDRESSED, else a name's id. */
struct access {
	uint8_t kind;  /* enum event_kind */
	uint8_t flags; /* enum event_flag */
	thread_id thread;
	uint64_t object;
	uint64_t value;
	uint32_t size;
	site_id site;
	stack_id stack;
	uint64_t seq;
};

/* What an operation is to a finding. */
enum role { ROLE_NONE, ROLE_FIRST, ROLE_CULPRIT, ROLE_SECOND };

/* One operation of a finding's path, or of its surroundings: a row of the picture. See moment.h. */
struct moment {
	struct access access;
	uint64_t until;   /* of an acquire: seq of its release; 0 if it is not known to have been given back */
	uint32_t skipped; /* operations of its thread right before it that are left out */
	uint8_t role;     /* enum role */
	bool ends;        /* of kind EVENT_NONE: the end of its thread; otherwise its start */
};

/* One step of a path: `from` comes before `to` in every run that is equivalent to this one. */
struct link {
	struct access from, to;
	bool data; /* by conflicting data or fork and join; otherwise by a lock or other synchronisation */
};

/* A run of code that is expected to be atomic. */
struct block {
	code_id code; /* the function or the label; 0 if the block has none */
	site_id site; /* where it was begun */
	thread_id thread;
	uint64_t seq;  /* of its begin or enter */
	bool declared; /* somebody has said so: in the trace, in a comment, in a file */
	bool entered;   /* it is all of a function's activation */
	stack_id stack; /* in its own function, where it was begun; 0 if that is not known */
	stack_id caller; /* of whoever began it, at `site` */
};

/* What stands in the way of a prediction: it holds for programs without these. */
enum hazard_kind { HAZARD_RACE, HAZARD_DEADLOCK };

struct hazard {
	enum hazard_kind kind;
	/*
	 * A race: its two accesses, the earlier first. A deadlock: for each of its threads, the acquire of the lock that it
	 * holds and the acquire of the one that it wants, which is the next thread's.
	 */
	const struct access *at;
	size_t count;
	uint64_t since, until; /* a race: from its first access to the last one of that variable, which check/races.c keeps */
	uint64_t times;        /* how often it was met */
};

/* What a prediction takes for granted: nothing races between two events, and the lock cannot be part of a deadlock. */
struct promise {
	uint64_t from, to;
	sync_id lock;
};

/* One check's word. */
struct evidence {
	const char *check;
	const char *kind; /* "split", "cycle", "AFTER" */
	enum verdict verdict;   /* set by findings_add, from the report's */
	struct promise promise; /* for VERDICT_PREDICTED */
	uint64_t seq;     /* the event at which the run stopped being serializable, as far as this finding goes */
	uint64_t times;   /* how many activations the report stands for; 0 is one */
	uint64_t activations; /* how many it has named; kept by the set */
	uint64_t latest;      /* seq of the last of them */
	unsigned round;       /* of the set, when it was first given: only then is it counted */
};

/* One way in which a block was split, and what is known about it. */
struct split {
	struct block block;
	const struct link *path;
	size_t links;
	uint32_t facts;
	const struct moment *moments;
	size_t moments_count;
};

/* How the culprit stood to the window, best first. */
enum way { WAY_IN = 1, WAY_AFTER = 2, WAY_BEFORE = 4 };

/* The way that a kind of evidence speaks of. */
enum way finding_way(const char *kind);

struct finding {
	struct block block;
	const struct link *path; /* path[0].from and path[links - 1].to are in the block, the rest is not */
	size_t links;
	/*
	 * The path's operations, and around them the locks that are held, other uses of the path's variables and what else
	 * its threads did there to synchronise: in the order in which they happened, or would. See moment.h.
	 */
	const struct moment *moments;
	size_t moments_count;
	sync_id lock; /* that is given back between the block's two operations, where that is known */
	enum verdict verdict;
	unsigned rank;           /* 1 to 4 */
	bool hidden;             /* not shown unless asked for */
	bool again;    /* the same code was found not to be atomic with another variable, by a finding that stands before */
	uint32_t facts;          /* enum rank_fact: what the rank comes from */
	struct split before;     /* the best that it had before this one; no path if there was none */
	uint8_t tries;           /* how many others it has been given to see whether they matter more */
	uint8_t ways;            /* enum way: how it was seen, by any check */
	const struct hazard *hindrance; /* what keeps it from being predicted or observed, or NULL */
	bool guessed;            /* the hindrance keeps it from being observed: the order of that race was not seen */
	bool incomplete;         /* it is neither because events are missing */
	bool unchecked;          /* it is neither because nobody has looked for hazards */
	struct evidence *evidence;
	size_t evidence_count, evidence_capacity;
	uint64_t id;    /* the fingerprint: the same for the same defect in another run */
	uint64_t count; /* how many activations were split this way, by the check that named most */
	size_t number;  /* in the order in which they were found, from 1 */
};

/* Something that a check has left out because there was too much of it. */
struct limit {
	const char *text;
	uint64_t times;
};

/* Told of each report of a check before it becomes part of a finding, or of none. */
typedef void findings_listener(void *self, const struct finding *report, const struct evidence *evidence);

struct findings {
	struct arena *arena;
	findings_listener *told; /* NULL: nobody */
	void *listener;
	const struct tables *tables;
	struct finding *at;
	size_t count, capacity;
	struct map by_defect; /* (block, variable) to index + 1 */
	struct map by_block;  /* seq of the block of a finding to index + 1 */
	struct map by_window; /* the block's two operations, by their places, to round + 1 */
	struct map by_id;
	unsigned round; /* goes up when the same trace is gone through again */
	struct map waiters;   /* code that a condition wait was in: 1 */
	struct map loops;     /* (block, variable or lock) that has windows from one round of a loop to another: 1 */
	uint32_t *fresh;      /* findings with a path that is new: whoever knows the facts takes them */
	size_t fresh_count, fresh_capacity;
	struct hazard **hazard;
	size_t hazards, hazard_capacity;
	struct seg created; /* struct access by thread_id: the fork that made it; of kind EVENT_NONE if that is not known */
	struct map by_places;            /* (kind, places) of a hazard to index + 1 */
	bool incomplete; /* events are missing in between: nothing that rests on the others is sure */
	/*
	 * The events are a recording: of accesses that race the order was not seen but made up, and what rests on it is not
	 * observed.
	 */
	bool recorded;
	bool looked[2];                  /* by hazard_kind: a check has looked for them */
	struct limit *limit;
	size_t limits, limit_capacity;
};

void findings_init(struct findings *f, struct arena *a, const struct tables *tables);

/*
 * Adds a hazard, or counts it if its kind and places are known. Returns the set's own, whose `until` the caller may
 * move on; the accesses are copied.
 */
struct hazard *findings_hazard(struct findings *f, const struct hazard *h);

/* What a check has left out, and how often; nothing if that is 0. The text is kept. */
void findings_limit(struct findings *f, const char *text, uint64_t times);

/*
 * Adds what a check has found, or merges it into a finding that is there. `report` has block, path, links and
 * verdict; the path is copied.
 */
void findings_add(struct findings *f, const struct finding *report, struct evidence evidence);

/* A word on finding number i, from 0, that changes nothing else about it: not its verdict, path, rank or count. */
void findings_testify(struct findings *f, size_t i, struct evidence evidence);

/* Finding number i, from 0, has a closer first end: the path is that link and the last one. */
void findings_tighten(struct findings *f, size_t i, const struct link *first);

/*
 * The surroundings of finding number i, from 0, with the path that it has now; they are copied. Fewer than are known
 * already are not taken: something was forgotten.
 */
void findings_surround(struct findings *f, size_t i, const struct moment *moments, size_t count);

/* A condition wait was in the code. */
void findings_waiter(struct findings *f, code_id code);

/* A thread was made: `fork` says by whom and where. */
void findings_created(struct findings *f, const struct event *fork);

/* The fork that made the thread, or NULL if none is known. */
const struct access *findings_creation(const struct findings *f, thread_id t);

/* Whether the run itself went along the path; otherwise another run would, or might. */
bool finding_happened(const struct finding *f);

/* What is known about the window of finding number i, from 0: `facts` instead of what was known before. */
void findings_learn(struct findings *f, size_t i, uint32_t facts);

/* Whether conflicting data (or fork and join) makes all of its path. */
bool finding_has_data(const struct finding *f);

/* The lock that is given back between the block's two operations, or 0 if that is not known. */
sync_id finding_lock(const struct finding *f);

/* Whether the check is among its evidence. */
bool finding_has_evidence(const struct finding *f, const char *check);

/* After the last one: judges and sorts them, best rank and verdict first, and gives them their ids. */
void findings_finish(struct findings *f);

#endif

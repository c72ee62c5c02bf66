/* SPDX-License-Identifier: MIT */
/*
 * What a check has found: a block, the path of operations that splits it, and how sure that is.
 *
 * A finding is a value: it refers to the trace by ids of its tables and owns nothing but its path and evidence,
 * which live in the arena of the set. The set merges what several checks say about one defect: the first report
 * of a (block, sites) makes the finding, later ones from other checks add their evidence and may improve the
 * verdict and the path.
 */
#ifndef FISSION_FINDING_FINDING_H
#define FISSION_FINDING_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
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
	bool declared; /* by begin and end; otherwise a function's activation */
};

/* One check's word. */
struct evidence {
	const char *check;
	const char *kind; /* "split", "cycle" */
	uint64_t seq;     /* the event at which the run stopped being serializable, as far as this finding goes */
	uint64_t activations; /* how many it has named; kept by the set */
	uint64_t latest;      /* seq of the last of them */
};

struct finding {
	struct block block;
	const struct link *path; /* path[0].from and path[links - 1].to are in the block, the rest is not */
	size_t links;
	enum verdict verdict;
	unsigned rank; /* 1 to 4 */
	struct evidence *evidence;
	size_t evidence_count, evidence_capacity;
	uint64_t id;    /* the fingerprint: the same for the same defect in another run */
	uint64_t count; /* how many activations were split this way, by the check that named most */
	size_t number;  /* in the order in which they were found, from 1 */
};

struct findings {
	struct arena *arena;
	const struct tables *tables;
	struct finding *at;
	size_t count, capacity;
	struct map by_sites; /* (block, sites) to index + 1 */
	struct map by_block; /* seq of the block of a finding to index + 1 */
	struct map by_id;
};

void findings_init(struct findings *f, struct arena *a, const struct tables *tables);

/*
 * Adds what a check has found, or merges it into a finding that is there. `report` has block, path, links and
 * verdict; the path is copied. Anything but findings_add is for after findings_finish.
 */
void findings_add(struct findings *f, const struct finding *report, struct evidence evidence);

/* After the last one: sorts them, best rank and verdict first, and gives them their ids. */
void findings_finish(struct findings *f);

/* Whether any finding is of a declared block. */
bool findings_declared(const struct findings *f);

#endif

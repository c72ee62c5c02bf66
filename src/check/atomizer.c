/* SPDX-License-Identifier: MIT */
/*
 * Blocks that Lipton's theory of reduction cannot show to be atomic: suspicions, online, with inferred locks.
 *
 * Reported: a block that first *commits* (does something that cannot be put off: a left-mover or a non-mover) and then
 * does what cannot be moved back to there (a right-mover or a non-mover). A block without such a pair can be put
 * together in every run with the same operations. A pair proves nothing, since reduction is sufficient but not
 * necessary: VERDICT_SUSPECTED. What is accepted is atomic where every operation was judged as it would be at the end:
 * always, where each variable has a lock that is held at all its accesses, with `basic`, `reentrant` and
 * `write-protected`; and in any configuration when the same operations have come before (tests/props/lipton.c).
 * Otherwise a lock set that empties, or an owner that changes, behind an operation that was already judged may hide a
 * violation until the block runs again: the paper's doubleIt.
 *
 * Flanagan and Freund, 2008 ("003"). Fig. 11 and 14: [INS2 ACCESS] protection_use; [INS2 RACE COMMIT], [INS2 RELEASE
 * COMMIT] commit(); [WRONG2 RACE], [WRONG2 ACQUIRE] violate(); the OUTSIDE rules and [INS2 NO-OP] do nothing. Fig. 13,
 * 15 and section 4.3 are refinements, each with its name; none of them ever adds a violation (the same test).
 * Departures. (1) A read is protected by any side of a lock, a write by the exclusive one. (2) A lock is protected by
 * what is held at its acquires *and* its releases: where m1 is let go first, an acquire of m2 under m1 can follow
 * another thread's release of m2 and does not commute with it. (3) A semaphore's post, a fork and an arrival at a
 * barrier can always come earlier and are left-movers; its wait, a join and a departure can always come later and are
 * right-movers; a condition's wait is a release and an acquire. Such things end the blocks that a policy made, so that
 * this matters for declared ones only. (4) An atomic access is an access: that it does not race in C's sense does not
 * make it commute, so it is a non-mover unless a lock set or state says otherwise; notify and fences commute.
 * (5) What is assumed about an event replaces its class, but lock sets still learn from it, as the assumption is about
 * the block that it is in; ASSUMED_GUARDED is about the variable, and nothing is learned.
 *
 * State: phi(x), phi(m) are a struct protection each. phi(t) is one mark a line, the last commit: block B of the line is
 * PostCommit iff one of its events has committed; as a line's events are totally ordered and B holds those since its
 * begin (or its last cut), that is so iff the *last* commit is not before that. So an event that cannot move back
 * violates exactly the open blocks that hold the last commit, Fig. 11's rule for each of them as if it were the only
 * one, and activations_holding() gives the innermost; the blocks around it hold both ends too. Going on after a
 * violation leaves PostCommit as it is, which is what the mark does.
 *
 * Everything is touched by the handlers alone. Cost: an access to a variable with an owner or with an unchanged lock
 * set is a few loads and compares; commits copy a mark; a violation costs a look-up, a new one a report.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "check/check.h"
#include "check/path.h"
#include "state/protection.h"

extern const struct check check_atomizer;

enum refined {
	REENTRANT = 1,
	LOCK_LOCAL = 2,
	LOCK_SECOND = 4,
	LOCK_PROTECTED = 8,
	WRITE_PROTECTED = 16,
	DATA_LOCAL = 32,
	DATA_SECOND = 64,
	DATA_READ = 128,
	STATES = DATA_LOCAL | DATA_SECOND | DATA_READ,
	STANDARD = 255,
};

/* What an operation cannot do: move left (earlier), move right (later). */
enum mover { BOTH_MOVER, RIGHT_MOVER = 1, LEFT_MOVER = 2, NON_MOVER = RIGHT_MOVER | LEFT_MOVER };

/* The last commit of a line. */
struct commit {
	struct mark mark;
	uint64_t object;
};

struct atomizer {
	struct run *run;
	bool reentrant; /* re-entrant operations are both-movers */
	struct protector data, locks;
	struct seg variable; /* struct protection: phi(x) */
	struct seg lock;     /* struct protection: phi(m) */
	struct seg commit;   /* struct commit by line: phi(t) */
	struct map reported; /* (block, commit, violation) to the activation that was reported last */
};

static struct commit *commit_of(struct atomizer *z, uint32_t line)
{
	return seg_at(&z->commit, line, sizeof(struct commit));
}

/* The operation by its place, or where it has none by what it does. */
static uint64_t mix_place(uint64_t h, site_id site, uint8_t kind, uint64_t object)
{
	return site ? hash_pair(h, site) : hash_pair(hash_pair(h, kind), object);
}

/* Whether the activation is not the one that the same two places were last reported for. */
static bool is_news(struct atomizer *z, const struct activation *a, const struct commit *c, const struct event *e)
{
	uint64_t key = mix_place(a->code ? a->code : a->site, c->mark.site, c->mark.kind, c->object);
	uint32_t *last = map_put(&z->reported, mix_place(key, e->site, e->kind, e->object));
	uint32_t begin = (uint32_t)a->begin;

	if (*last == begin)
		return false;
	*last = begin;
	return true;
}

static void report(struct atomizer *z, const struct activation *a, const struct commit *c, const struct event *e)
{
	struct mark violation = mark_of(e);
	struct link path = {
		.from = path_access(z->run, &c->mark, c->object),
		.to = path_access(z->run, &violation, e->object),
	};
	struct finding f = {
		.block = block_of(a, e->thread),
		.path = &path,
		.links = 1,
		.verdict = VERDICT_SUSPECTED,
	};

	findings_add(z->run->findings, &f, (struct evidence){.check = "atomizer", .kind = "reduction", .seq = e->seq});
}

/* e cannot move left: the blocks that have committed before it are violated. An access does not violate itself. */
static void violate(struct atomizer *z, const struct event *e)
{
	const struct commit *c = commit_of(z, e->line);
	const struct activations *open = run_open(z->run, e->line);
	const struct activation *a;

	if (!open->depth || open->at[0].begin > mark_seq(&c->mark) || mark_seq(&c->mark) == e->seq)
		return;
	a = activations_holding(open, mark_seq(&c->mark));
	if (a && is_news(z, a, c, e))
		report(z, a, c, e);
}

/* e cannot move right: the open blocks are PostCommit from here on. */
static void commit(struct atomizer *z, const struct event *e)
{
	if (run_open(z->run, e->line)->depth)
		*commit_of(z, e->line) = (struct commit){mark_of(e), e->object};
}

static void step(struct atomizer *z, const struct event *e, enum mover m)
{
	if (e->assumed & ASSUMED_STEP)
		m = NON_MOVER;
	else if (e->assumed & ASSUMED_MOVER)
		m = BOTH_MOVER;
	if (m & RIGHT_MOVER)
		violate(z, e);
	if (m & LEFT_MOVER)
		commit(z, e);
}

/* Accesses. */

static void atomizer_access(void *self, const struct event *e)
{
	struct atomizer *z = self;
	const struct held *h = run_held(z->run, e->line);
	bool write = !event_is_read(e->kind), harmless = true;

	if (!(e->assumed & ASSUMED_GUARDED))
		harmless = protection_use(&z->data, seg_at(&z->variable, e->object, sizeof(struct protection)),
			(struct use){e->line, write ? h->exclusive : h->all, write});
	if (!harmless || e->assumed)
		step(z, e, harmless ? BOTH_MOVER : NON_MOVER);
}

static void atomizer_split(void *self, uint64_t x, uint64_t y)
{
	struct atomizer *z = self;
	struct protection *to = seg_at(&z->variable, y, sizeof *to);

	*to = *(struct protection *)seg_at(&z->variable, x, sizeof *to);
}

static void atomizer_forget(void *self, uint64_t x)
{
	struct atomizer *z = self;

	*(struct protection *)seg_at(&z->variable, x, sizeof(struct protection)) = (struct protection){0};
}

/* Locks. */

static bool is_shared_side(uint8_t kind)
{
	return kind == EVENT_ACQUIRE_SHARED || kind == EVENT_RELEASE_SHARED;
}

/*
 * Takes note of an operation on a lock and says whether it commutes. A lock does not protect itself: once its set has
 * begun without it, meeting what is held with it makes no difference.
 */
static bool use_lock(struct atomizer *z, const struct event *e)
{
	const struct held *h = run_held(z->run, e->line);
	struct protection *p = seg_at(&z->lock, e->object, sizeof *p);
	lockset_id held = is_shared_side(e->kind) ? h->all : h->exclusive;

	if (p->state != PROTECTION_SHARED)
		held = lockset_remove(&z->run->held.locksets, held, (sync_id)e->object);
	return protection_use(&z->locks, p, (struct use){e->line, held, true});
}

static void atomizer_acquire(void *self, const struct event *e)
{
	step(self, e, use_lock(self, e) ? BOTH_MOVER : RIGHT_MOVER);
}

static void atomizer_release(void *self, const struct event *e)
{
	step(self, e, use_lock(self, e) ? BOTH_MOVER : LEFT_MOVER);
}

static void atomizer_again(void *self, const struct event *e)
{
	struct atomizer *z = self;

	if (z->reentrant)
		step(z, e, BOTH_MOVER);
	else if (e->kind == EVENT_ACQUIRE || e->kind == EVENT_ACQUIRE_SHARED)
		atomizer_acquire(z, e);
	else
		atomizer_release(z, e);
}

/* What can always come later, and what can always come earlier. */

static void atomizer_await(void *self, const struct event *e)
{
	step(self, e, RIGHT_MOVER);
}

static void atomizer_allow(void *self, const struct event *e)
{
	step(self, e, LEFT_MOVER);
}

/* What commutes with everything, but may stand for a function that does not. */
static void atomizer_other(void *self, const struct event *e)
{
	step(self, e, BOTH_MOVER);
}

static unsigned data_rules(unsigned on)
{
	return PROTECT_LOCKS | (on & DATA_LOCAL ? PROTECT_LOCAL : 0) | (on & DATA_SECOND ? PROTECT_SECOND : 0) |
	       (on & DATA_READ ? PROTECT_READ : 0) | (on & WRITE_PROTECTED ? PROTECT_WRITES : 0);
}

static unsigned lock_rules(unsigned on)
{
	return (on & LOCK_PROTECTED ? PROTECT_LOCKS : 0) | (on & LOCK_LOCAL ? PROTECT_LOCAL : 0) |
	       (on & LOCK_SECOND ? PROTECT_SECOND : 0);
}

static void *atomizer_start(struct run *run)
{
	struct atomizer *z = arena_alloc(run->arena, sizeof *z);
	unsigned on = run_refinements(run, &check_atomizer);

	z->run = run;
	z->reentrant = on & REENTRANT;
	z->data = (struct protector){&run->held.locksets, data_rules(on)};
	z->locks = (struct protector){&run->held.locksets, lock_rules(on)};
	seg_init(&z->variable, run->arena, sizeof(struct protection));
	seg_init(&z->lock, run->arena, sizeof(struct protection));
	seg_init(&z->commit, run->arena, sizeof(struct commit));
	map_init(&z->reported, run->arena);
	return z;
}

static const struct refinement refinements[] = {
	{"standard", STANDARD, "all of the following (default)"},
	{"basic", 0, "none of them: lock sets alone"},
	{"reentrant", REENTRANT, "re-entrant lock operations commute"},
	{"local", LOCK_LOCAL, "so do those on a lock of one thread"},
	{"local2", LOCK_SECOND, "and on a lock that one thread has handed to another; with local"},
	{"protected", LOCK_PROTECTED, "and on a lock that is used under another one only"},
	{"write-protected", WRITE_PROTECTED, "for a read, a lock that all writes hold is enough"},
	{"states", STATES, "the next three"},
	{"data-local", DATA_LOCAL, "data of one thread"},
	{"data-local2", DATA_SECOND, "data that one thread has handed to another; with data-local"},
	{"read-shared", DATA_READ, "data that several threads only read"},
	{NULL, 0, NULL},
};

const struct check check_atomizer = {
	.name = "atomizer",
	.summary = "every function and block at once: what reduction cannot show to be atomic",
	.single = true,
	.needs = NEED_HELD,
	.refinements = refinements,
	.standard = STANDARD,
	.start = atomizer_start,
	.on =
		{
			[ON_ACCESS] = atomizer_access,
			[ON_ACQUIRE] = atomizer_acquire,
			[ON_RELEASE] = atomizer_release,
			[ON_AGAIN] = atomizer_again,
			[ON_FORK] = atomizer_allow,
			[ON_JOIN] = atomizer_await,
			[ON_ARRIVE] = atomizer_allow,
			[ON_DEPART] = atomizer_await,
			[ON_POST] = atomizer_allow,
			[ON_TAKE] = atomizer_await,
			[ON_NOTIFY] = atomizer_other,
			[ON_FENCE] = atomizer_other,
			[ON_ALLOC] = atomizer_other,
			[ON_FREE] = atomizer_other,
		},
	.split = atomizer_split,
	.forget = atomizer_forget,
};

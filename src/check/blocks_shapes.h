/* SPDX-License-Identifier: MIT */
/*
 * What transactions look like from outside: initial reads, final writes and locks, in their order.
 *
 * Each open block keeps the log of what was done in it. When it closes, what is neither the first kind of read nor the
 * last write of a variable goes, and the rest is its shape; its caller's log goes on with that. Fork, join, barrier and
 * wait end the shapes of all open blocks (the paper has them between transactions), also of declared ones. Equal
 * shapes of one code and thread are stored once, with the periods in which they were seen.
 *
 * Invariant: the log of a block is a part of its caller's, from `from` on; item.child tells what calls made apart.
 * Blocks may cross: for one that ends, those that go on are one call; from then on they are calls of its caller, which
 * may therefore be blamed, too, for a pair of an access of the one and an access of both.
 * Limits: a block with more than SHAPE_MOST items left gets no shape, nor do those around it; that is counted.
 * Variables go by *lives*: memory that is given out anew, or divided, is another life. Cost: an item an access or lock
 * operation; at the end of a block quadratic in its items, which are few.
 */
#ifndef FISSION_CHECK_BLOCKS_SHAPES_H
#define FISSION_CHECK_BLOCKS_SHAPES_H

#include "check/blocks.h"

enum { SHAPE_MOST = 256 };

enum item_op { ITEM_READ, ITEM_WRITE, ITEM_ACQUIRE, ITEM_RELEASE };

struct item {
	uint32_t object; /* a life, or a lock */
	guard_id held;   /* at an access */
	uint32_t child;  /* which call of the block it was in; 0 for none */
	site_id site;
	stack_id stack;
	uint32_t seq; /* the low half; the block's is not far */
	uint8_t op;   /* enum item_op */
	uint8_t kind, flags;
	bool shared; /* the side of a lock */
	bool gone;   /* while the log is reduced */
};

struct shape {
	struct block block;
	guard_id start; /* what is held when it begins */
	period_set periods;
	uint32_t next; /* with the same key */
	uint32_t count;
	bool lone; /* an access outside of all blocks */
	struct item *item;
};

struct life {
	uint64_t x;
	guard_id protection; /* what every access to it holds */
	bool over;           /* protection is known */
};

struct shapes {
	struct seg line;      /* struct log by line */
	struct seg shape;     /* struct shape by number, from 1 */
	uint32_t count;
	struct map by_content;
	struct seg life_of;   /* uint32_t by variable */
	struct seg life;      /* struct life by number, from 1 */
	uint32_t lives;
	bool small; /* shapes of a single variable or call are kept, too, with all locks: they can be part of a cycle */
};

struct shapes *shapes_new(struct arena *a, bool small);

/* What the line does. For accesses, `held` is what it holds. */
void shapes_open(struct blocks *b, const struct event *e);
void shapes_close(struct blocks *b, const struct event *e);
void shapes_cut(struct blocks *b, const struct event *e);
void shapes_lock(struct blocks *b, const struct event *e);
void shapes_access(struct blocks *b, const struct event *e, guard_id held);

/* An access outside of all blocks, which is a transaction of its own. */
void shapes_lone(struct blocks *b, const struct event *e, guard_id held);

/* The variable begins a new life; `protection` is what all accesses of the former one have held. */
void shapes_forget(struct blocks *b, uint64_t x, guard_id protection);

/* The end of the trace: all blocks close. */
void shapes_finish(struct blocks *b);

static inline struct shape *shape_at(struct shapes *s, uint32_t number)
{
	return seg_at(&s->shape, number, sizeof(struct shape));
}

static inline struct life *life_at(struct shapes *s, uint32_t number)
{
	return seg_at(&s->life, number, sizeof(struct life));
}

static inline bool item_is_access(const struct item *i)
{
	return i->op == ITEM_READ || i->op == ITEM_WRITE;
}

/* From one access of a shape to each later one. */
struct shape_walk {
	const struct shape *shape;
	uint32_t from, at;
	guard_id held;   /* all the way: held(e1,e2) */
	guard_id middle; /* taken and given back on the way: heldmid(e1,e2), and perhaps locks held at e1 or e2 */
	guard_id taken;  /* on the way, and not given back */
};

static inline struct shape_walk shape_walk_from(const struct shape *s, uint32_t from)
{
	return (struct shape_walk){.shape = s, .from = from, .at = from, .held = s->item[from].held};
}

/* Goes on to the next access; false if there is none. */
bool shape_walk_next(struct blocks *b, struct shape_walk *w);

/*
 * Whether something could come between the two accesses: not, if all the way a lock is held that every access to the
 * one variable holds, and one for the other. What one call has done alone is that call's business.
 */
bool shape_is_open(struct blocks *b, const struct shape_walk *w);

/* The item as an operation of a finding. */
struct blocks_access shape_access(struct shapes *s, const struct shape *shape, uint32_t i);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What the ids in a trace's events stand for: names, call stacks, modules. One `struct tables` a trace.
 *
 * Names of one class share one intern table, so ids are dense within their class and a check can use them as
 * indexes. A stack is a chain of frames towards its root; equal chains have equal ids.
 */
#ifndef FISSION_EVENT_TABLES_H
#define FISSION_EVENT_TABLES_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/map.h"
#include "event/event.h"

enum table_class {
	TABLE_NONE,
	TABLE_THREAD,
	TABLE_OBJECT, /* variables and allocations that have a name instead of an address */
	TABLE_SYNC,   /* locks, conditions, barriers, semaphores */
	TABLE_CODE,   /* functions and labels of blocks */
	TABLE_SITE,   /* places: "bank.c:12" */
	TABLE_CLASSES
};

/* One activation on a call stack: `code` was called at `site` by the frame `parent` (0: it is the root). */
struct frame {
	stack_id parent;
	code_id code;
	site_id site;
};

/* A loaded program or library, as a recording saw it. */
struct module {
	struct text path;
	struct text build_id; /* hexadecimal digits, perhaps none */
	uint64_t base, size;
};

struct namer;

enum { STACK_CALLEE_BITS = 4, STACK_CALLEES = 1 << STACK_CALLEE_BITS };

/* A stack, with those on top of it that were asked for lately: a program makes the same calls over and over. */
struct stack_node {
	struct frame frame;
	stack_id older; /* the next in the chain of those whose hashes collide */
	uint32_t same;  /* how many frames in a row it ends with that have its code */
	stack_id callee[STACK_CALLEES]; /* by code and site; 0: none */
};

struct tables {
	struct arena *arena;
	struct intern names[TABLE_CLASSES];
	struct seg frames; /* struct stack_node by stack_id; that of 0 has the roots */
	stack_id stacks;
	struct map frame_ids; /* hash of a frame to the newest stack_id with it */
	struct module *modules;
	size_t module_count, module_capacity;
	struct namer *namer; /* knows the names of addresses; NULL: nobody does. See symbols/namer.h */
};

void tables_init(struct tables *t, struct arena *a);

static inline struct text tables_name(const struct tables *t, enum table_class class, uint32_t id)
{
	return intern_text(&t->names[class], id);
}

static inline struct stack_node *tables_node(struct tables *t, stack_id stack)
{
	return seg_at(&t->frames, stack, sizeof(struct stack_node));
}

/* Slow path of tables_stack. */
__attribute__((noinline)) stack_id tables_stack_slowly(struct tables *t, struct frame frame);

/* Where a stack's callee is kept. Functions whose callers are not known, with site 0, are among those that are. */
static inline uint32_t tables_callee(code_id code, site_id site)
{
	return (code * 2 + site * 3) * 0x9e3779b1u >> (32 - STACK_CALLEE_BITS);
}

/* The stack that the frame makes on top of its parent, new if it was not known. The parent must exist. */
static inline stack_id tables_stack(struct tables *t, struct frame frame)
{
	stack_id *callee = &tables_node(t, frame.parent)->callee[tables_callee(frame.code, frame.site)];
	const struct frame *f = &tables_node(t, *callee)->frame;

	if (__builtin_expect(!*callee || f->parent != frame.parent || f->code != frame.code || f->site != frame.site, 0))
		*callee = tables_stack_slowly(t, frame);
	return *callee;
}

/* The frame of a stack from 1 to `stacks`. */
static inline struct frame tables_frame(const struct tables *t, stack_id stack)
{
	const struct stack_node *n = seg_hint(&t->frames, stack, sizeof *n);

	assert(stack > 0 && stack <= t->stacks);
	return n->frame;
}

/* Adds a module; the texts are copied. */
void tables_module(struct tables *t, struct module m);

#endif

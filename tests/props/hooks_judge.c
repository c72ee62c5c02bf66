/* SPDX-License-Identifier: MIT */
/*
 * The hooks in programs, which are assembler, before what they stand for, which is C: runtime/filter.h and frames.h, and
 * what abi_tsan.c puts into a ring. Random words, frames and rings; the hook does something, or goes through its door.
 * Through the door it must have done nothing, but reserved a slot if it says so; otherwise words, places, frames and
 * slots must be what the C functions make of them. All registers but those that the hooks
 * say they take must stay: tests/cc/registers.c.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/rng.h"
#include "hooks_probe.h"
#include "runtime/filter.h"
#include "runtime/frames.h"
#include "runtime/hooks_layout.h"

enum { GRANULES = 4, MARKED = 2 * (16 + 8 + 4 + 2 + 1), RING = 5, OTHER = 6, KINDS = 10, FRAMES = 6 };

__thread struct self_hooks self_hooks;
__thread struct self *self_ring;
uint16_t frames_calm[1 << CALM_BITS];
extern uint16_t __fission_calm[1 << CALM_BITS] __attribute__((alias("frames_calm")));
char **shadow_leaves;
union marks lately_nothing;
unsigned hooks_door, hooks_full, hooks_loop, slowly; /* times */
uint64_t full_ring, full_at, full_first; /* what the doors for full rings and loops were told */

#define BEHIND_DOOR(name) __asm__(".text\n.globl __fission_" #name "\n__fission_" #name ":\n\tincl hooks_door(%rip)\n\tret\n");
PROBES(BEHIND_DOOR)
BEHIND_DOOR(func_entry)
BEHIND_DOOR(func_exit)
__asm__(".text\n.globl __fission_full\n__fission_full:\n\tincl hooks_full(%rip)\n\tmovq %r10, full_ring(%rip)\n\t"
	"movq %r11, full_at(%rip)\n\tmovq %r9, full_first(%rip)\n\tret\n");
__asm__(".text\n.globl __fission_loop\n__fission_loop:\n\tincl hooks_loop(%rip)\n\tmovq %r10, full_ring(%rip)\n\t"
	"movq %r11, full_at(%rip)\n\tret\n");

static struct self self_here, *ring; /* the latter with slots behind it */
static struct frame around[FRAMES + 2] = {{.place = UINT64_MAX}}, *const frames = around + 1;
static uint64_t *words;  /* of the granules at `memory` */
static uint32_t *places;
static struct note *notes; /* the thread's own of them */
static struct marks_head *marks; /* also when the thread has none */
static const uintptr_t memory = 0x123450000;

/* What frames.h and self.h need, and the hooks never come to. */
void frames_enter_slowly(struct self *s, uint64_t place, uint64_t from, void *pc)
{
	(void)s, (void)place, (void)from, (void)pc;
	slowly++;
}

void frames_leave(struct self *s, uint64_t place, uint64_t gone, void *pc)
{
	(void)s, (void)place, (void)gone, (void)pc;
	slowly++;
}

void self_tick_over(struct self *s)
{
	(void)s;
	abort();
}

void self_look_over(struct self *s)
{
	s->look = LOOK_FIRST;
}

void lately_open_notes(char *leaf, uintptr_t address)
{
	(void)leaf, (void)address;
}

char *lately_leaf(struct self *s, uintptr_t address)
{
	(void)s, (void)address;
	abort();
}

void self_put_slow(struct self *s, uint64_t at, uint64_t first, uint64_t second)
{
	(void)s, (void)at, (void)first, (void)second;
	abort();
}

/* A file that is compiled for the sanitizer calls it. */
void __tsan_init(void);

void __tsan_init(void)
{
}

struct state {
	uint64_t words[2 * GRANULES];
	uint32_t places[2 * GRANULES];
	uint64_t marks[MARKED];
	struct note notes[GRANULES];
};

/* All marks of accesses to the granules: copied out, or in; those of a size that reads and writes share, twice. */
static void marks_copy(uint64_t *to, bool out)
{
	for (size_t size = 1; size <= 16; size *= 2)
		for (uintptr_t i = 0; i < 16; i += size)
			for (int write = 0; write < 2; write++, to++) {
				uint64_t *mark = lately_mark(marks, memory + i, size, write);

				*(out ? to : mark) = *(out ? mark : to);
			}
}

static struct state take(void)
{
	struct state s;

	memcpy(s.words, words, sizeof s.words);
	memcpy(s.places, places, sizeof s.places);
	marks_copy(s.marks, true);
	memcpy(s.notes, notes, sizeof s.notes);
	return s;
}

static void put(const struct state *s)
{
	memcpy(words, s->words, sizeof s->words);
	memcpy(places, s->places, sizeof s->places);
	marks_copy((uint64_t *)s->marks, false);
	memcpy(notes, s->notes, sizeof s->notes);
}

static void *map(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		abort();
	return at;
}

static void start(void)
{
	char *leaf = map(LEAF_BYTES), *own = map(LATELY_BYTES);

	shadow_leaves = map(sizeof(char *) << (ADDRESSES - LEAF_SHIFT));
	shadow_leaves[memory >> LEAF_SHIFT] = leaf;
	self_here.lately = map(sizeof(char *) << (ADDRESSES - LEAF_SHIFT));
	self_here.lately[memory >> LEAF_SHIFT] = own;
	self_here.look = LOOK_FIRST;
	self_here.marks = marks = map(MARKS_BYTES);
	marks->look = LOOK_FIRST;
	lately_narrow(marks, false);
	notes = lately_notes(own, memory);
	words = shadow_words(leaf, memory);
	places = shadow_places(leaf, memory);
	self_here.leaves = shadow_leaves;
	self_here.frames = frames;
	ring = map(RING_SPAN);
}

static void filtered(void)
{
	self_hooks = (struct self_hooks){&self_here, &self_here, NULL, &lately_nothing.head};
}

/* Words. */

static uint64_t word(struct rng *r, uint64_t now)
{
	static const uint64_t bytes[] = {0xf0, 0xf0, 0xf0, 0x30, 0xc0, 0x10, 0x80, 0x70, 0};
	uint64_t flags = rng_below(r, 2) ? 0 : rng_below(r, 16);
	uint64_t rest = bytes[rng_below(r, sizeof bytes / sizeof *bytes)] | flags;

	switch (rng_below(r, 6)) {
	case 0: return 0;
	case 1: return rng_below(r, 2) ? PRECISE : flags;
	case 2: return now | rest;
	case 3: return (now - (rng_below(r, 3) << NOW_SHIFT)) | rest;
	case 4: return (now - (rng_below(r, 40) << NOW_SHIFT)) | rest;
	default: return (uint64_t)OTHER << RING_SHIFT | rng_below(r, 100) << NOW_SHIFT | rest;
	}
}

/* Of this look, or of one before; of this memory, or of other that has its place. */
static void invent_marks(struct rng *r)
{
	for (size_t size = 1; size <= 16; size *= 2)
		for (uintptr_t i = 0; i < 16; i += size)
			for (int write = 0; write < 2; write++) {
				uint64_t look = self_here.look - (rng_below(r, 3) ? 0 : LOOK_STEP) - (rng_below(r, 2) ? 0 : LOOK_WRITTEN);
				uintptr_t at = memory + i + (rng_below(r, 8) ? 0 : (uintptr_t)1 << 22);

				*lately_mark(marks, at, size, write) = rng_below(r, 3) ? 0 : look ^ at;
			}
}

static void invent(struct rng *r)
{
	uint64_t now = (uint64_t)RING << RING_SHIFT | (uint64_t)(100 + rng_below(r, 8)) << NOW_SHIFT;

	self_here.fresh = !rng_below(r, 10);
	self_here.marks = rng_below(r, 3) ? marks : NULL;
	lately_narrow(marks, rng_below(r, 2));
	self_hooks.marks = self_here.marks ? self_here.marks : &lately_nothing.head;
	self_here.notes = rng_below(r, 3) ? self_here.lately : NULL;
	self_here.own = (uint64_t)RING << RING_SHIFT | (uint64_t)80 << NOW_SHIFT;
	self_here.reach = ((uint64_t)(RING + 1) << RING_SHIFT) - 1 - self_here.own;
	self_here.mode = MODE_FILTER;
	self_set_now(&self_here, now);
	invent_marks(r);
	for (int i = 0; i < 2 * GRANULES; i++) {
		words[i] = i > 1 && rng_below(r, 4) ? words[i - 2] ^ rng_below(r, 2) : word(r, now);
		places[i] = (uint32_t)rng_below(r, 1000);
	}
	for (int i = 0; i < GRANULES; i++) {
		notes[i] = (struct note){rng_below(r, 1000), rng_below(r, 1000)};
	}
}

/* Accesses. */

struct probe {
	const char *name;
	void (*call)(uintptr_t);
	unsigned size;
	bool write;
	uint64_t done, doors;
};

#define ROW(name) {#name, probe_##name, 0, false, 0, 0},
static struct probe probes[KINDS] = {PROBES(ROW)};

static void say(const char *what, const struct state *s)
{
	printf("  %s:", what);
	for (int i = 0; i < 2 * GRANULES; i++)
		printf(" %llx@%x", (unsigned long long)s->words[i], s->places[i]);
	printf("\n     ");
	for (int i = 0; i < GRANULES; i++)
		printf(" %llx@%llx", (unsigned long long)s->notes[i].word, (unsigned long long)s->notes[i].place);
	printf("\n     ");
	for (int i = 0; i < MARKED; i++)
		printf(" %llx", (unsigned long long)s->marks[i]);
	putchar('\n');
}

/* What the C functions make of it; false: more than these can. */
static bool expected(const struct probe *p, uintptr_t address)
{
	uint32_t pc = (uint32_t)((uintptr_t)p->call + __FISSION_SITE_BYTES);

	return filter_is_there(&self_here, address, p->size, p->write) ||
	       filter_quickly(&self_here, address, p->size, p->write, pc);
}

static bool try_access(struct rng *r)
{
	struct probe *p = &probes[rng_below(r, KINDS)];
	uintptr_t address = memory + rng_below(r, 16 / p->size) * p->size + (rng_below(r, 20) ? 0 : rng_below(r, 4));
	struct state before, after, wanted;
	bool fine;

	if (address + p->size > memory + GRANULES * GRANULE)
		return true;
	invent(r);
	before = take();
	hooks_door = 0;
	p->call(address);
	after = take();
	put(&before);
	fine = hooks_door || expected(p, address);
	wanted = take();
	p->doors += hooks_door;
	p->done += !hooks_door;
	fine = fine && memcmp(&after, &wanted, sizeof after) == 0;
	if (!fine) {
		printf("%s of %llx, now %llx, door %u\n", p->name, (unsigned long long)address,
			(unsigned long long)self_here.now, hooks_door);
		say("before", &before);
		say("hook", &after);
		say("wanted", &wanted);
	}
	return fine;
}

/* Calls. */

static void invent_frames(struct rng *r)
{
	uint64_t place = 0x7000;

	invent(r);
	self_here.mode = rng_below(r, 2) ? MODE_FILTER : MODE_LOCKS;
	self_set_synced(&self_here, self_time(&self_here) - rng_below(r, 6));
	self_here.open = (uint32_t)rng_below(r, FRAMES);
	self_here.told = (uint32_t)rng_below(r, self_here.open + 1);
	for (unsigned i = 0; i < FRAMES; i++) {
		place -= 16 * (1 + rng_below(r, 3));
		frames[i] = (struct frame){(self_time(&self_here) - rng_below(r, 8)) | (rng_below(r, 2) ? FRAME_CALM : 0) |
			(rng_below(r, 6) ? 0 : FRAME_BROUGHT), place, rng_below(r, 100), rng_below(r, 100)};
	}
	*frames_calm_of((uint64_t)probe_func_entry_place) =
		(uint16_t)(rng_below(r, 2) ? rng_below(r, 2) ? CALM : LOUD : rng_below(r, 3));
}

static bool try_call(struct rng *r, bool exit, uint64_t count[2])
{
	struct self before, after;
	struct frame frames_before[FRAMES], frames_after[FRAMES];
	uint64_t place;
	bool fine;

	invent_frames(r);
	place = self_here.open && rng_below(r, 2) ? frames[self_here.open - 1].place : 0x6e00 + 16 * rng_below(r, 40);
	before = self_here;
	memcpy(frames_before, frames, sizeof frames_after);
	hooks_door = slowly = 0;
	(exit ? probe_func_exit : probe_func_entry)(place, 77);
	after = self_here;
	memcpy(frames_after, frames, sizeof frames_after);
	self_here = before;
	memcpy(frames, frames_before, sizeof frames_after);
	count[hooks_door]++;
	if (hooks_door) /* a frame that is not open may have been written to */
		return after.open == before.open && after.told == before.told &&
		       memcmp(frames, frames_after, before.open * sizeof *frames) == 0;
	if (exit)
		frames_exit(&self_here, place, 0, (void *)probe_func_exit_place);
	else
		frames_enter(&self_here, place, 77, (void *)probe_func_entry_place);
	fine = !slowly && memcmp(&self_here, &after, sizeof after) == 0 &&
	       memcmp(frames, frames_after, self_here.open * sizeof *frames) == 0;
	if (!fine)
		printf("%s at %llx: open %u to %u, not %u; told %u, not %u; slowly %u\n", exit ? "exit" : "entry",
			(unsigned long long)place, before.open, after.open, self_here.open, after.told, self_here.told, slowly);
	return fine;
}

/* Rings. */

enum { ENTRY_PROBE = KINDS, EXIT_PROBE, RING_PROBES };
enum way { PUT, DOOR, FULL, COUNTED, LOOP, WAYS }; /* what a hook does with an access or a call of a ring's thread */

/* What it has of the thread, with the slot at its head; and what it is to make of that. */
struct recorded {
	struct self self;
	struct slot slot;
	enum way way;
};

static struct slot slot_of_access(const struct probe *p, uintptr_t address)
{
	return (struct slot){{entry_first(p->write ? ENTRY_WRITE : ENTRY_READ, p->size, address),
		entry_second((uintptr_t)p->call + __FISSION_SITE_BYTES, 0)}};
}

/* As put_call() of abi_tsan.c. */
static struct slot slot_of_call(enum entry_kind kind, uintptr_t frame, uintptr_t from)
{
	uint64_t depth = (ring->stack - frame) / DEPTH_UNIT;
	const char *pc = kind == ENTRY_ENTER ? probe_func_entry_place : probe_func_exit_place;

	depth = depth > DEPTH_UNKNOWN ? DEPTH_UNKNOWN : depth;
	return (struct slot){{entry_first(kind, (unsigned)depth, from), entry_second((uintptr_t)pc, (unsigned)(depth >> 8))}};
}

static void invent_loop(struct rng *r, uintptr_t address, uint64_t pc)
{
	struct loop_self *l = &ring->loop;
	unsigned i = (unsigned)rng_below(r, 3);
	uint64_t last = ((uint64_t)1 << (64 - LOOP_ROUND_SHIFT)) - 1, round = rng_below(r, 8) ? rng_below(r, 1000) : last;

	l->at = round << LOOP_ROUND_SHIFT | rng_below(r, 256) << 16 |
		(offsetof(struct self, loop) + offsetof(struct loop_self, item) + i * sizeof *l->item);
	l->item[i].stride = rng_below(r, 100) - 50;
	l->item[i].address = address - round * l->item[i].stride + !rng_below(r, 4);
	l->item[i].pc = pc + !rng_below(r, 4);
	l->item[i].step = rng_below(r, 2) ? sizeof *l->item : (uint64_t)1 << LOOP_ROUND_SHIFT;
}

static void invent_ring(struct rng *r, uintptr_t address, uint64_t pc)
{
	uint64_t at = rng_below(r, 1 << 20) * SLOT, behind = at & (RING_BYTES - 1);
	struct loop_self *l = &ring->loop;

	self_hooks = (struct self_hooks){.recorded = ring, .marks = &lately_nothing.head};
	ring->head = at;
	ring->limit = rng_below(r, 4) ? at + rng_below(r, 5) * SLOT : 0;
	*ring_slot(ring, at) = (struct slot){{0, 1}};
	if (behind)
		ring_slot(ring, at - SLOT)->word[1] = pc + 1 - rng_below(r, 3);
	l->back_pc = pc + !rng_below(r, 4);
	l->back_at = behind - rng_below(r, 3) * SLOT;
	l->back_span = rng_below(r, 3) * SLOT;
	l->bad[pc % LOOP_BAD] = pc + rng_below(r, 3);
	l->at = 0;
	if (!rng_below(r, 3))
		invent_loop(r, address, pc);
	hooks_door = hooks_full = hooks_loop = 0;
}

/* Whether the access is what comes next in the loop; it is counted then. */
static bool counts(struct loop_self *l, uintptr_t address, uint64_t pc)
{
	const struct loop_item *i = (const struct loop_item *)((const char *)ring + (l->at & 0xffff));

	if (!l->at || i->address + (l->at >> LOOP_ROUND_SHIFT) * i->stride != address || i->pc != pc)
		return false;
	if (l->at + i->step < l->at)
		return false; /* the last round that can be counted */
	l->at += i->step;
	return true;
}

/* Whether the access, at that offset in the ring, may be where a loop begins. */
static bool may_begin(struct loop_self *l, uint64_t at, uint64_t pc)
{
	uint64_t span = at - l->back_at, before = at ? ring_slot(ring, at - SLOT)->word[1] : 0;
	bool again;

	if (pc > before)
		return false;
	again = l->back_pc == pc && l->back_span == span;
	l->back_span = l->back_pc == pc ? span : 0;
	l->back_pc = pc;
	l->back_at = at;
	return again && l->bad[pc % LOOP_BAD] != pc;
}

/* What is to become of it. */
static void expect(struct recorded *w, unsigned kind, uintptr_t address, struct slot slot)
{
	if (kind < KINDS && counts(&w->self.loop, address, slot.word[1])) {
		w->way = COUNTED;
		return;
	}
	if (w->self.head >= w->self.limit) {
		w->way = kind < KINDS ? FULL : DOOR;
		w->self.head += kind < KINDS ? SLOT : 0;
		return;
	}
	w->slot = slot;
	w->way = kind < KINDS && may_begin(&w->self.loop, w->self.head & (RING_BYTES - 1), slot.word[1]) ? LOOP : PUT;
	w->self.head += SLOT;
}

/* What is above its place on the stack differs from call to call: of an exit, that is the address. */
static bool is_slot(const struct slot *s, const struct slot *wanted, bool exit)
{
	uint64_t but = exit ? 0xffff : UINT64_MAX;

	return (s->word[0] & but) == (wanted->word[0] & but) && s->word[1] == wanted->word[1];
}

/* Doors that were gone through, and with what. */
static bool is_way(enum way way, uint64_t at, uint64_t first)
{
	if (hooks_door != (way == DOOR) || hooks_full != (way == FULL) || hooks_loop != (way == LOOP))
		return false;
	if (way == FULL)
		return full_ring == (uintptr_t)ring && full_at == at && full_first == first;
	return way != LOOP || (full_ring == (uintptr_t)ring && full_at == (at & (RING_BYTES - 1)));
}

static bool try_ring(struct rng *r, uint64_t count[RING_PROBES][WAYS])
{
	unsigned kind = (unsigned)rng_below(r, RING_PROBES);
	uintptr_t address = (uintptr_t)(1 + rng_below(r, 1 << 30)) << rng_below(r, 17), frame = rng_below(r, 1 << 20) * 8;
	struct recorded w;
	struct slot slot;
	uint64_t at;

	ring->stack = frame + (rng_below(r, 1 << 12) << rng_below(r, 26));
	slot = kind < KINDS ? slot_of_access(&probes[kind], address) :
	       slot_of_call(kind == ENTRY_PROBE ? ENTRY_ENTER : ENTRY_EXIT, frame, address);
	invent_ring(r, address, slot.word[1]);
	at = ring->head;
	w = (struct recorded){.self = *ring, .slot = *ring_slot(ring, at)};
	expect(&w, kind, address, slot);
	if (kind < KINDS)
		probes[kind].call(address);
	else
		(kind == ENTRY_PROBE ? probe_func_entry : probe_func_exit)(frame, address);
	count[kind][w.way]++;
	if (is_way(w.way, at, slot.word[0]) && is_slot(ring_slot(ring, at), &w.slot, kind == EXIT_PROBE) &&
		memcmp(ring, &w.self, sizeof w.self) == 0)
		return true;
	printf("ring, probe %u of %llx, frame %llx: way %d, head %llx to %llx, limit %llx, door %u, full %u, loop %u\n", kind,
		(unsigned long long)address, (unsigned long long)frame, (int)w.way, (unsigned long long)at,
		(unsigned long long)ring->head, (unsigned long long)ring->limit, hooks_door, hooks_full, hooks_loop);
	return false;
}

/* Whether each way was gone often enough. */
static bool is_enough(const uint64_t count[WAYS], bool call, uint64_t least)
{
	for (unsigned i = 0; i < WAYS; i++)
		if ((call ? i <= DOOR : i != DOOR) && count[i] < least)
			return false;
	return true;
}

int main(int argc, char **argv)
{
	uint64_t count = argc == 3 && strcmp(argv[1], "--count") == 0 ? strtoull(argv[2], NULL, 10) : 1000000;
	uint64_t failed = 0, few = 0, calls[2][2] = {{0}}, rings[RING_PROBES][WAYS] = {{0}};
	struct rng r = {1};

	start();
	for (unsigned i = 0; i < KINDS; i++) {
		probes[i].size = 1u << i % 5;
		probes[i].write = i >= 5;
	}
	for (uint64_t i = 0; i < count && failed < 10; i++) {
		filtered();
		failed += !try_access(&r) + !try_call(&r, i % 2, calls[i % 2]);
		failed += !try_ring(&r, rings);
	}
	for (unsigned i = 0; i < KINDS; i++) {
		few += probes[i].done < count / 1000 || probes[i].doors < count / 1000;
		printf("%-8s %8llu done, %8llu through the door\n", probes[i].name, (unsigned long long)probes[i].done,
			(unsigned long long)probes[i].doors);
	}
	for (unsigned i = 0; i < 2; i++) {
		few += calls[i][0] < count / 1000 || calls[i][1] < count / 1000;
		printf("%-8s %8llu done, %8llu through the door\n", i ? "exit" : "entry", (unsigned long long)calls[i][0],
			(unsigned long long)calls[i][1]);
	}
	for (unsigned i = 0; i < RING_PROBES; i++)
		few += !is_enough(rings[i], i >= KINDS, count / 1000);
	printf("%llu passed, %llu failed\n", (unsigned long long)(12 + RING_PROBES - few), (unsigned long long)(failed + few));
	return failed || few;
}

/* SPDX-License-Identifier: MIT */
/*
 * Trails, from the hooks in programs, which are assembler, and runtime/trail.c, which is what is behind their door, to
 * event/trail.c, which reads them: random accesses and calls must come out as they went in. In between, the trail is told of
 * at any time, also in the midst of a hook; hooks are left for ever, and what they have left half done is spoiled; code is
 * loaded, so that places are forgotten. The trail is long enough to go around its ring.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/rng.h"
#include "event/trail.h"
#include "hooks_probe.h"
#include "runtime/hooks_layout.h"
#include "runtime/lately.h"
#include "runtime/modules.h"
#include "runtime/mute.h"
#include "runtime/os.h"
#include "runtime/sites.h"
#include "runtime/trail.h"

enum { KINDS = 10, CALLERS = 40, FRAMES = 30, WAITING = 1 << 17, BYTES = 1 << 20 };

__thread struct self_hooks self_hooks;
__thread struct self *self_ring;
uint16_t frames_calm[1 << 16];
extern uint16_t __fission_calm[1 << 16] __attribute__((alias("frames_calm")));
union marks lately_nothing;
struct channel *channel;
uint32_t judge_door;  /* times */
uint64_t judge_stack; /* at the door */

#define BEHIND_DOOR(name) __asm__(".text\n.globl __fission_" #name "\n__fission_" #name ":\n\tincl judge_door(%rip)\n\t" \
	"movq %rsp, judge_stack(%rip)\n\tret\n");
PROBES(BEHIND_DOOR)
BEHIND_DOOR(func_entry)
BEHIND_DOOR(func_exit)
BEHIND_DOOR(full)
BEHIND_DOOR(loop)

bool self_blind;

long os_protect(void *at, size_t size, int how)
{
	return mprotect(at, size, how);
}

bool modules_share(uintptr_t a, uintptr_t b)
{
	(void)a, (void)b;
	return true;
}

void __tsan_init(void);

void __tsan_init(void)
{
}

static struct self *ring;
static struct trails trails;
static uint64_t taken; /* of slots */
static struct event wanted[WAITING];
static size_t wants, had;
static uint64_t events, doors;
static const char *wrong;
static unsigned char bytes[BYTES]; /* that were not read yet */
static size_t used;

static void differ(const struct event *e, const struct event *w)
{
	static const struct event none;

	w = w ? w : &none;
	printf("kind %d object %llx size %u pc %llx, not kind %d object %llx size %u pc %llx\n", e->kind,
		(unsigned long long)e->object, e->size, (unsigned long long)e->pc, w->kind, (unsigned long long)w->object, w->size,
		(unsigned long long)w->pc);
	wrong = "another event";
}

/* What is read must be what comes next. */
static void read_all(void)
{
	struct trail_span s = {.bytes = {bytes, bytes + used, false}, .thread = 1, .sites = 9, .codes = 9};
	struct event e[64];
	size_t n;

	while (!wrong && trail_any(&trails, &s)) {
		n = trail_next(&trails, &s, e, 64);
		for (size_t i = 0; i < n && !wrong; i++, had++, events++) {
			const struct event *w = &wanted[had];

			if (had == wants || e[i].kind != w->kind || e[i].object != w->object || e[i].size != w->size || e[i].pc != w->pc)
				differ(&e[i], had == wants ? NULL : w);
		}
		wrong = wrong ? wrong : s.wrong;
	}
	used = 0;
}

static void add(const void *from, size_t n)
{
	memcpy(bytes + used, from, n);
	used += n;
}

static void add_note(const struct trail_note *n)
{
	trail_note_put(bytes + used, n);
	used += TRAIL_NOTE;
}

/* As merge.c takes them; a slot that is empty was reserved too early. */
static void take_slots(void)
{
	for (; taken < ring->head; taken += SLOT) {
		struct slot *at = ring_slot(ring, taken);
		uint64_t to = at->word[0] >> 16;

		for (; (uint8_t)at->word[0] == ENTRY_TRAIL && ring->trail_tail < to; ring->trail_tail++)
			add(ring_trail(ring, ring->trail_tail), 1);
		if ((uint8_t)at->word[0] == ENTRY_TRAIL && at->word[1] && to == ring->trail_tail)
			add_note(&(struct trail_note){.sort = TRAIL_COUNT, .depth = (uint32_t)at->word[1]});
		at->word[0] = 0;
	}
	read_all();
}

/* As self_full() and translate.c. */
void self_put_slow(struct self *s, uint64_t at, uint64_t first, uint64_t second)
{
	uint8_t small = (uint8_t)(first >> 8), kind = small & 7;

	(void)at;
	trail_tell(s);
	take_slots();
	if ((uint8_t)first != ENTRY_DEFINE)
		wrong = "an entry that is no place";
	add_note(&(struct trail_note){.sort = TRAIL_DEFINE, .kind = kind, .size = kind <= TRAIL_WRITE ? 1 << (small >> 3) : 0,
		.place = (uint16_t)(second >> 48), .pc = first >> 16, .code = kind == TRAIL_ENTRY,
		.key = kind == TRAIL_LEAVE ? second & ~(uint64_t)0 >> 16 : 0});
}

bool self_wait(struct self *s, uint64_t *at, uint64_t n)
{
	(void)s, (void)at, (void)n;
	abort();
}

bool self_trail_room(struct self *s, uint64_t to)
{
	take_slots();
	if (to - s->trail_tail > TRAIL_BYTES)
		wrong = "no room";
	return true;
}

bool self_is_heard(struct self *s)
{
	(void)s;
	return true;
}

void self_set_limit(struct self *s)
{
	(void)s;
}

void self_look_at_hooks(void)
{
}

static void want(struct event e)
{
	wanted[wants++] = e;
}

/* Accesses. */

#define ROW(name) probe_##name,
static void (*const probes[KINDS])(uintptr_t) = {PROBES(ROW)};
static uintptr_t last[KINDS], stride[KINDS];

static uintptr_t next_address(struct rng *r, unsigned kind)
{
	if (!rng_below(r, 6))
		stride[kind] = rng_below(r, 3) ? rng_below(r, 64) - 32 : rng_next(r) >> rng_below(r, 63);
	last[kind] = rng_below(r, 40) ? last[kind] + stride[kind] : rng_next(r) >> 16 >> rng_below(r, 40);
	last[kind] = last[kind] ? last[kind] : 1; /* which the look in front of the hook would take for one that is known */
	return last[kind] & ~(uint64_t)0 >> 17;
}

static void try_access(struct rng *r, unsigned kind)
{
	uintptr_t address = next_address(r, kind), pc = (uintptr_t)probes[kind] + __FISSION_SITE_BYTES;
	uint8_t what = (uint8_t)((kind < 5 ? TRAIL_READ : TRAIL_WRITE) | kind % 5 << 3);

	judge_door = 0;
	want((struct event){.kind = kind < 5 ? EVENT_READ : EVENT_WRITE, .object = address, .size = 1u << kind % 5, .pc = pc});
	probes[kind](address);
	if (judge_door && !trail_access(ring, what, address, (void *)pc))
		wrong = "an access that must be put";
	doors += judge_door;
}

/* Every other access is known by a number; not if its hook is elsewhere. */
static void give_numbers(void)
{
	extern uint8_t __executable_start[], etext[];
	const struct sites_code all = {__executable_start, etext}, none = {etext, etext};

	for (unsigned i = 0; i < KINDS; i += 2) {
		uint8_t *look = (uint8_t *)(uintptr_t)probes[i];

		if (!mute_open(look, look + __FISSION_SITE_BYTES) || sites_give_number(look, &none) ||
			!sites_give_number(look, &all) ||
			!sites_number(look + __FISSION_SITE_BYTES))
			wrong = "an access that can have no number";
		mute_close(look, look + __FISSION_SITE_BYTES);
	}
}

/* Calls: frames lie between the stack pointer and the end of the stack. */

static uintptr_t frame[FRAMES];
static size_t open_frames;

static void try_call(struct rng *r, uintptr_t above)
{
	bool enters = open_frames == 0 || (open_frames < FRAMES && rng_below(r, 2));
	uintptr_t at = enters ? (open_frames ? frame[open_frames - 1] : ring->stack) - 16 * (1 + rng_below(r, 2)) : frame[open_frames - 1];
	uintptr_t from = 0x1000 + 24 * rng_below(r, CALLERS);
	const char *pc = enters ? probe_func_entry_place : probe_func_exit_place;

	if (at < above)
		return;
	judge_door = 0;
	want((struct event){.kind = enters ? EVENT_ENTER : EVENT_EXIT, .object = 1, .pc = (uintptr_t)pc});
	(enters ? probe_func_entry : probe_func_exit)(at, from);
	if (judge_door && !trail_call(ring, enters, at, enters ? from : judge_stack - 8, (void *)pc))
		wrong = "a call that must be put";
	doors += judge_door;
	if (enters)
		frame[open_frames++] = at;
	else
		open_frames--;
}

/* What may come at any time. */

static void all_is_told(void)
{
	trail_tell(ring);
	take_slots();
	if (had != wants && !wrong)
		wrong = "less than went in";
	had = wants = 0;
}

/* A handler has interrupted a hook, and puts something. */
static void interrupt(void)
{
	ring->trail_busy = TRAIL_HOOK;
	all_is_told();
	ring->trail_busy = 0;
}

/* And leaves it for ever. */
static void spoil(struct rng *r)
{
	struct trail_site *site = (struct trail_site *)((char *)ring + SITES_AT);

	ring->trail_busy = TRAIL_HOOK;
	ring->trail_last = (uint32_t)rng_below(r, rng_below(r, 2) ? KINDS : TRAIL_SITES) * SITE; /* some have numbers up to there */
	ring->trail_depth += 16 * rng_below(r, 3);
	for (unsigned i = 0; i < TRAIL_SITES; i++)
		site[i].next += site[i].pc && !rng_below(r, 3);
	trail_mend(ring);
}

static void try(struct rng *r, uintptr_t above)
{
	uint64_t what = rng_below(r, 10000);

	if (what == 0)
		spoil(r);
	else if (what == 1)
		trail_code_changes(1);
	else if (what < 100)
		interrupt();
	else if (what < 600)
		all_is_told();
	else if (what < 3000)
		try_call(r, above);
	else
		try_access(r, (unsigned)(rng_below(r, 5) ? events % 3 : rng_below(r, KINDS)));
	if (wants > WAITING / 2)
		all_is_told();
}

static void start(uintptr_t stack)
{
	channel = mmap(NULL, CHANNEL_PAGE + RING_SPAN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (channel == MAP_FAILED)
		abort();
	channel->trails = channel->rings = 1;
	self_ring = ring = channel_ring(channel, 0);
	ring->state = RING_USED;
	ring->process = 1;
	ring->stack = stack;
	ring->room = UINT64_MAX;
	trail_begin(ring);
	self_hooks = (struct self_hooks){.recorded = ring, .trail = ring, .marks = &lately_nothing.head};
}

int main(int argc, char **argv)
{
	uint64_t count = argc == 3 && strcmp(argv[1], "--count") == 0 ? strtoull(argv[2], NULL, 10) : 1000000;
	char room[4096];
	struct rng r = {1};

	start(((uintptr_t)room + sizeof room) & ~(uintptr_t)15);
	give_numbers();
	for (uint64_t i = 0; i < count && !wrong; i++)
		try(&r, (uintptr_t)room);
	if (!wrong)
		all_is_told();
	trails_free(&trails);
	printf("%llu events, %llu through the door, %u times around\n", (unsigned long long)events, (unsigned long long)doors,
		ring->trail_lap);
	if (wrong)
		printf("event %llu: %s\n", (unsigned long long)events, wrong);
	printf("%d passed, %d failed\n", !wrong, wrong != NULL);
	return wrong != NULL;
}

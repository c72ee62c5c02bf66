/* SPDX-License-Identifier: MIT */
#include "walk.h"

#include <fcntl.h>
#include <string.h>

#include "base/hash.h"
#include "event/event.h"
#include "runtime/os.h"
#include "runtime/self.h"
#include "runtime/symbolic.h"

enum { SHARES = 1 << 20, UNITS_MOST = 4096 };

bool __fission_walk_on;

static struct walk_record *records;
static uint64_t used, room; /* records */
static uint16_t *shares;    /* by a hash of the site: how often it was written. Who shares one has less */
static uint64_t units[UNITS_MOST];
static uint32_t unit_count;

static struct walk_head *open_walk(const char *path)
{
	long fd = os_open(path, O_RDWR | O_CLOEXEC);
	long bytes = fd < 0 ? 0 : os_size((int)fd);
	struct walk_head *head = NULL;

	if (bytes >= (long)(sizeof *head + 2 * sizeof *records))
		head = os_map((size_t)bytes, (int)fd);
	if (fd >= 0)
		os_close((int)fd);
	if (!head || head->bytes)
		return NULL; /* another process has taken it */
	head->bytes = (uint64_t)bytes;
	for (unsigned i = 0; i < sizeof head->magic; i++)
		head->magic[i] = WALK_MAGIC[i];
	return head;
}

static void tell_unit(uint32_t i)
{
	walk_put((struct walk_record){.kind = WALK_MODULE, .module = i + 1, .a = units[i]});
}

void walk_start(void)
{
	const char *path = self_variable(WALK_VARIABLE);
	struct walk_head *head = path ? open_walk(path) : NULL;

	if (!head)
		return;
	shares = os_map(SHARES * sizeof *shares, -1);
	if (!shares || !symbolic_start())
		return;
	records = (struct walk_record *)(head + 1);
	room = (head->bytes - sizeof *head) / sizeof *records;
	__fission_walk_on = true;
	for (uint32_t i = 0; i < unit_count; i++)
		tell_unit(i);
}

void walk_forked(void)
{
	__fission_walk_on = false;
}

uint64_t walk_unit(uint64_t hash)
{
	uint32_t i = __atomic_fetch_add(&unit_count, 1, __ATOMIC_RELAXED);

	if (i >= UNITS_MOST) {
		unit_count = UNITS_MOST;
		return 0;
	}
	units[i] = hash;
	if (walk_on)
		tell_unit(i);
	return (uint64_t)(i + 1) << 32;
}

static uint16_t self_thread(void)
{
	return self_ring ? (uint16_t)self_ring->thread : 0;
}

void walk_put(struct walk_record r)
{
	uint64_t at;
	uint8_t kind = r.kind;

	if (!walk_on)
		return;
	at = __atomic_fetch_add(&used, 1, __ATOMIC_RELAXED);
	if (at >= room - 1) {
		if (at == room - 1)
			__atomic_store_n(&records[at].kind, WALK_FULL, __ATOMIC_RELEASE);
		__fission_walk_on = false;
		return;
	}
	r.thread = self_thread();
	r.kind = WALK_NONE;
	records[at] = r;
	__atomic_store_n(&records[at].kind, kind, __ATOMIC_RELEASE);
}

/* A site has its share in each thread, and a branch one for each of its ways: a way that is taken late is told. */
static uint16_t *share_of(const struct walk_record *r)
{
	uint64_t way = r->kind == WALK_BRANCH || r->kind == WALK_SWITCH ? r->a : 0;

	return &shares[hash_pair(hash_pair(r->ordinal, (uint64_t)r->module << 8 | r->kind), way << 16 | self_thread()) % SHARES];
}

void walk_put_some(struct walk_record r)
{
	uint16_t *share = share_of(&r);

	if (*share >= WALK_SITE_MOST)
		return;
	++*share;
	walk_put(r);
}

/* Entries that tell what others can notice. */
static const uint8_t event_of[ENTRY_KINDS] = {
	[ENTRY_FORK] = EVENT_FORK,
	[ENTRY_JOIN] = EVENT_JOIN,
	[ENTRY_ACQUIRE] = EVENT_ACQUIRE,
	[ENTRY_RELEASE] = EVENT_RELEASE,
	[ENTRY_ACQUIRE_SHARED] = EVENT_ACQUIRE_SHARED,
	[ENTRY_RELEASE_SHARED] = EVENT_RELEASE_SHARED,
	[ENTRY_WAIT] = EVENT_WAIT,
	[ENTRY_WOKEN] = EVENT_ACQUIRE,
	[ENTRY_NOTIFY] = EVENT_NOTIFY,
	[ENTRY_NOTIFY_ALL] = EVENT_NOTIFY_ALL,
	[ENTRY_ARRIVE] = EVENT_BARRIER,
	[ENTRY_SEM_WAIT] = EVENT_SEM_WAIT,
	[ENTRY_SEM_POST] = EVENT_SEM_POST,
	[ENTRY_ATOMIC_LOAD] = EVENT_ATOMIC_LOAD,
	[ENTRY_ATOMIC_STORE] = EVENT_ATOMIC_STORE,
	[ENTRY_ATOMIC_RMW] = EVENT_ATOMIC_RMW,
	[ENTRY_ALLOC] = EVENT_ALLOC,
	[ENTRY_FREE] = EVENT_FREE,
};

void walk_event(const struct sync *y)
{
	uint8_t kind = event_of[y->kind];
	bool woken = y->kind == ENTRY_WOKEN; /* what it has again is the mutex */

	if (y->kind == ENTRY_ALLOC)
		symbolic_clear(y->object, y->argument);
	if (kind)
		walk_put((struct walk_record){.kind = WALK_EVENT, .width = kind,
			.a = woken ? y->argument : (uint64_t)(uintptr_t)y->object, .b = woken ? 0 : y->argument});
}

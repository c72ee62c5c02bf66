/* SPDX-License-Identifier: MIT */
#include "quiet.h"

#include "runtime/frames.h"

enum { SITES = 1 << 13, LOCKS = 1 << 14, PROBES = 4, HELD_MOST = 4, LASTS = 64 };

static const uint32_t TOLD_EVER = UINT32_MAX;

/* A place that locks. Entries are taken for ever; who finds none free is told. */
struct site {
	uintptr_t pc;
	uint32_t times;
};

struct held {
	const void *object;
	void *pc;
};

/* The thread's last acquire of an object; `when` 0: a quiet one. */
struct last {
	const void *object;
	void *pc;
	uint64_t when;
};

struct quiet {
	struct held held[HELD_MOST]; /* quietly */
	uint32_t count;
	uint32_t told;               /* locks that it holds, and has told of */
	void *around;                /* where it took the last of them */
	uint32_t sections;           /* that were not told, since it last told of a few */
	uint32_t few;                /* that it still tells of */
	struct last last[LASTS];
};

bool quiet_on;

static struct site sites[SITES];
static uint8_t loud_locks[LOCKS];
static __thread struct quiet quiet __attribute__((tls_model("initial-exec")));

static bool claim(struct site *s, uintptr_t pc)
{
	uintptr_t none = 0;

	return __atomic_compare_exchange_n(&s->pc, &none, pc, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) || none == pc;
}

static struct site *site_of(const void *pc)
{
	uintptr_t place = (uintptr_t)pc, hash = place * 0x9e3779b97f4a7c15u >> 48;

	for (size_t i = 0; i < PROBES; i++) {
		struct site *s = &sites[(hash + i) % SITES];

		if (likely(__atomic_load_n(&s->pc, __ATOMIC_RELAXED) == place) || claim(s, place))
			return s;
	}
	return NULL;
}

static void set_times(const void *pc, uint32_t times)
{
	struct site *s = site_of(pc);

	if (s && s->times != TOLD_EVER)
		__atomic_store_n(&s->times, times, __ATOMIC_RELAXED);
}

static uint8_t *loud_lock(const void *object)
{
	return &loud_locks[((uintptr_t)object * 0x9e3779b97f4a7c15u >> 40) % LOCKS];
}

static struct last *last_of(const void *object)
{
	return &quiet.last[((uintptr_t)object * 0x9e3779b97f4a7c15u >> 32) % LASTS];
}

/* One inside of another: both matter. */
static void make_loud(const void *pc)
{
	set_times(pc, TOLD_EVER);
	if (quiet.told)
		set_times(quiet.around, TOLD_EVER);
	for (uint32_t i = 0; i < quiet.count; i++)
		set_times(quiet.held[i].pc, TOLD_EVER);
}

static bool acquire(const void *object, void *pc)
{
	struct site *s = site_of(pc);
	uint32_t times = s ? __atomic_load_n(&s->times, __ATOMIC_RELAXED) : TOLD_EVER;

	if (quiet.told || quiet.count) {
		make_loud(pc);
		while (quiet.count && self())
			quiet_waits(self(), quiet.held[quiet.count - 1].object);
		return false;
	}
	if (times == TOLD_EVER || __atomic_load_n(loud_lock(object), __ATOMIC_RELAXED))
		return false;
	if (times < QUIET_AFTER) {
		__atomic_store_n(&s->times, times + 1, __ATOMIC_RELAXED);
		return false;
	}
	if (quiet.few) {
		quiet.few--;
		return false;
	}
	quiet.held[quiet.count++] = (struct held){object, pc};
	*last_of(object) = (struct last){object, pc, 0};
	if (unlikely(++quiet.sections == QUIET_LONG)) {
		quiet_over();
		quiet.few = QUIET_FEW;
	}
	return true;
}

static bool release(const void *object)
{
	for (uint32_t i = quiet.count; i-- > 0;)
		if (quiet.held[i].object == object) {
			quiet.held[i] = quiet.held[--quiet.count];
			return true;
		}
	quiet.told -= quiet.told > 0;
	return false;
}

bool quiet_keeps(enum entry_kind kind, const void *object, void *pc)
{
	switch (kind) {
	case ENTRY_ACQUIRE: return acquire(object, pc);
	case ENTRY_RELEASE: case ENTRY_RELEASE_SHARED: return release(object);
	case ENTRY_ACQUIRE_SHARED: make_loud(pc); return false;
	default: return false;
	}
}

/* Whether a function, but for the outermost, is open that was so at that time. */
static bool is_in_one(const struct self *s, uint64_t when)
{
	return s->frames && s->open > 1 && s->frames[1].time <= when;
}

void quiet_told(struct self *s, const struct sync *y)
{
	struct last *l = last_of(y->object);

	if (y->kind != ENTRY_ACQUIRE && y->kind != ENTRY_ACQUIRE_SHARED)
		return;
	quiet.told++;
	quiet.around = y->pc;
	if (l->object == y->object && l->pc != y->pc) {
		if (!l->when) {
			set_times(l->pc, 0);
		} else if (is_in_one(s, l->when)) {
			set_times(l->pc, TOLD_EVER);
			set_times(y->pc, TOLD_EVER);
			__atomic_store_n(loud_lock(y->object), 1, __ATOMIC_RELAXED);
		}
	}
	*l = (struct last){y->object, y->pc, self_time(s)};
}

void quiet_waits(struct self *s, const void *mutex)
{
	for (uint32_t i = quiet.count; i-- > 0;)
		if (quiet.held[i].object == mutex) {
			struct held h = quiet.held[i];

			quiet.held[i] = quiet.held[--quiet.count];
			set_times(h.pc, TOLD_EVER);
			quiet.told++;
			self_sync(s, (struct sync){.kind = ENTRY_ACQUIRE, .object = mutex, .pc = h.pc});
		}
}

void quiet_over(void)
{
	__atomic_fetch_add(&channel->quiet, quiet.sections, __ATOMIC_RELAXED);
	quiet.sections = 0;
}

/* SPDX-License-Identifier: MIT */
#include "frames.h"

#include "runtime/calm.h"
#include "runtime/os.h"
#include "runtime/wrap_signal.h"

enum { FRAMES_BYTES = (FRAMES_MOST + 1) * sizeof(struct frame) };

uint16_t frames_calm[1 << CALM_BITS];
/* For the hooks in programs. */
extern uint16_t __fission_calm[1 << CALM_BITS] __attribute__((alias("frames_calm"), visibility("default")));

/* In MODE_BOTH calls are told at once as well, to those who want all. */
static unsigned stream_of(const struct self *s)
{
	return s->mode & MODE_BOTH ? STREAM_FILTERED << KIND_BITS : 0;
}

void frames_begin(struct self *s)
{
	struct frame *around = os_map(FRAMES_BYTES, -1);

	s->open = s->told = 0;
	if (around)
		around->place = UINT64_MAX;
	s->frames = around ? around + 1 : NULL;
}

void frames_end(struct self *s)
{
	if (s->frames)
		os_unmap(s->frames - 1, FRAMES_BYTES);
	s->frames = NULL;
	s->open = s->told = 0;
}

static void put_time(struct self *s, uint64_t time)
{
	self_put(s, entry_first(ENTRY_TIME | stream_of(s), 0, 0), time & ~FRAME_MARKS);
}

static void put_call(struct self *s, enum entry_kind kind, const struct frame *f, uint64_t pc)
{
	uint32_t depth = frames_depth(s, f->place);

	self_put(s, entry_first(kind | stream_of(s), depth, kind == ENTRY_ENTER ? f->from : f->place),
		entry_second(pc, depth >> 8));
}

/* A frame without a time gets one, and so does what is in it. There may be more of them than ticks: see translate.c. */
static void set_time(struct self *s, struct frame *f, bool *late)
{
	if (f->time & FRAME_BROUGHT) {
		f->time &= ~(FRAME_CALM | FRAME_BROUGHT);
		return;
	}
	*late |= (f->time & FRAME_CALM) != 0;
	if (!*late)
		return;
	if (self_ticks(s) < TICK_MOST)
		self_tick(s);
	f->time = self_time(s) | (f->time & FRAME_COUNTED);
}

static void tell(struct self *s, const struct frame *f)
{
	put_time(s, f->time);
	put_call(s, ENTRY_ENTER, f, f->pc);
}

static bool is_sure(const struct frame *f)
{
	return f->time & FRAME_SURE;
}

/*
 * With the filter: whether an activation can be told. Its function may be muted, or about to be: then whoever does that sees
 * that it is told, or we see that.
 */
static bool can_be_told(struct frame *f)
{
	if (!calm_wanted || f->time & FRAME_COUNTED || frames_is_loud(f))
		return true;
	if (*frames_calm_of(f->pc) >= WOKEN || !calm_tells(f->pc))
		return false;
	f->time |= FRAME_COUNTED;
	return true;
}

/*
 * The same in all modes. What cannot be told is as if it were calm. With locks only, what is told is loud from here on; a
 * muted function has no exits, and may have been left.
 */
static bool is_to_tell(const struct self *s, struct frame *f)
{
	bool is = !frames_is_dead(f) && (s->mode & MODE_LOCKS ? calm_wakes(f->pc, is_sure(f)) : can_be_told(f));

	if (!is)
		f->time |= FRAME_CALM;
	return is;
}

/* Whoever is around it synchronises, too. */
static void wake_around(const struct frame *f)
{
	if (calm_wanted)
		calm_look(f->from, f->place, f[-1].place);
}

/* From these, in one step, that a signal handler comes before or after. False: one has changed them. */
static bool change(struct self *s, uint64_t was, uint32_t open, uint32_t told)
{
	uint64_t to = (uint64_t)told << 32 | open;

#if defined __x86_64__
	uint64_t now = was;

	__asm__ volatile("cmpxchgq %2, %1" : "+a"(now), "+m"(s->open_and_told) : "r"(to) : "cc", "memory");
	return now == was;
#else
	return __atomic_compare_exchange_n(&s->open_and_told, &was, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
}

/* The outermost that is not told; now it is. A signal handler that comes before or after takes the others. */
static struct frame *take(struct self *s)
{
	uint64_t was = __atomic_load_n(&s->open_and_told, __ATOMIC_RELAXED);
	uint32_t open = (uint32_t)was, told = (uint32_t)(was >> 32);

	if (told >= open)
		return NULL;
	return change(s, was, open, told + 1) ? &s->frames[told] : take(s);
}

void frames_tell_all(struct self *s)
{
	bool late = false;
	struct frame *f;

	while ((f = take(s))) {
		if (!is_to_tell(s, f))
			continue;
		wake_around(f);
		set_time(s, f, &late);
		tell(s, f);
	}
	s->fresh = 0;
}

void frames_tell_some(struct self *s)
{
	struct frame *f;

	while ((f = take(s))) {
		if (f->time & FRAME_BROUGHT)
			f->time &= ~(FRAME_CALM | FRAME_BROUGHT);
		if (f->time & FRAME_CALM || !is_to_tell(s, f))
			continue;
		if (*frames_calm_of(f->pc) >= WOKEN)
			wake_around(f);
		tell(s, f);
	}
	s->fresh = 0;
}

/* Whether it has synchronised is known when it is left. */
static void learn(const struct self *s, const struct frame *f)
{
	if (!(s->mode & MODE_FILTER) || f->time & FRAME_BROUGHT || frames_is_dead(f)) /* what was brought along is loud */
		return;
	calm_learn(f->pc, (f->time & ~FRAME_MARKS) < s->synced);
}

/*
 * A signal handler that comes in between may tell this frame: then it is copied again; or have its own there, once it is
 * not open any more. So what it says of its function comes last.
 */
static void leave_innermost(struct self *s, void *pc)
{
	uint32_t n, told;
	uint64_t was;
	struct frame f;

	do {
		was = __atomic_load_n(&s->open_and_told, __ATOMIC_RELAXED);
		n = (uint32_t)was - 1;
		told = (uint32_t)(was >> 32);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		f = s->frames[n];
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	} while (!change(s, was, n, told < n ? told : n));
	s->frames[n].time = 0;
	if (told > n && !(f.time & FRAME_CALM))
		put_call(s, ENTRY_EXIT, &f, (uint64_t)pc);
	if (f.time & FRAME_COUNTED)
		calm_told(f.pc);
	learn(s, &f);
}

/* What a signal handler has interrupted while it was being left is put back. */
static void put_back(struct self *s)
{
	if (unlikely(s->told > s->open))
		s->open = s->told;
}

void frames_unwind(struct self *s, uint64_t place, void *pc)
{
	put_back(s);
	while (s->open && (s->frames[s->open - 1].place < place || frames_is_dead(&s->frames[s->open - 1])))
		leave_innermost(s, pc);
}

/*
 * Whether it is a signal handler's frame, on a stack of the handler's own that lies above what it has interrupted: how
 * deep it lies says nothing of the others. It is not entered.
 */
static bool is_elsewhere(const struct self *s, uint64_t place)
{
	const struct frame *last = s->open ? &s->frames[s->open - 1] : NULL;

	return last && last->place < place && signal_is_apart(place, last->place);
}

void frames_enter_slowly(struct self *s, uint64_t place, uint64_t from, void *pc)
{
	uint16_t calm = *frames_calm_of((uint64_t)pc);
	uint64_t marks = calm == WOKEN ? FRAME_SURE : 0;

	put_back(s);
	if (is_elsewhere(s, place))
		return;
	if (s->mode & MODE_LOCKS ? calm_enter((uint64_t)pc) : calm == MUTED && calm_mutes((uint64_t)pc))
		return;
	if (s->mode & MODE_LOCKS || calm == CALM || calm == MUTED)
		marks |= FRAME_CALM;
	else
		self_tick(s);
	frames_unwind(s, place + 1, pc);
	if (s->open < FRAMES_MOST && s->frames)
		frames_open(s, self_time(s) | marks, place, from, pc);
}

void frames_jump(struct self *s, uint64_t from, uint64_t to)
{
	put_back(s);
	while (from > to && s->open && signal_is_apart(s->frames[s->open - 1].place, to))
		leave_innermost(s, NULL);
	frames_unwind(s, to, NULL);
}

void frames_cut(struct self *s, uint32_t to)
{
	put_back(s);
	while (s->open > to)
		leave_innermost(s, NULL);
}

/*
 * Frames below `gone` were left without an exit; and, if the function has called the hook, all below its own, unless the call
 * is for certain another function's, which has jumped here. What comes from a function without a frame leaves none.
 */
void frames_leave(struct self *s, uint64_t place, uint64_t gone, void *pc)
{
	const struct frame *f;

	put_back(s);
	if (is_elsewhere(s, place))
		return;
	frames_unwind(s, gone, pc);
	f = &s->frames[(int64_t)s->open - 1];
	if (f->place == gone) {
		bool jumped = f->from == (uint64_t)pc;

		frames_unwind(s, gone + 1, pc);
		if (jumped)
			return;
		f = &s->frames[(int64_t)s->open - 1];
	}
	if (f->place < place && !calm_is_other_exit(pc))
		frames_unwind(s, place, pc);
	if (s->frames[(int64_t)s->open - 1].place == place && !(calm_has_returned && calm_is_other_exit(pc)))
		frames_unwind(s, place + 1, pc);
}

void frames_mark(struct self *s)
{
	frames_tell(s);
	self_tick(s);
	self_put(s, entry_first(ENTRY_TIME, 0, 0), self_time(s));
}

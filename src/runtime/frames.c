/* SPDX-License-Identifier: MIT */
#include "frames.h"

#include "runtime/calm.h"
#include "runtime/os.h"

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
 * With locks only, what is told is loud from here on. A muted function has no exits, and may have been left: it is not
 * told. A signal handler that comes in between and synchronises has done all this: then nothing is left to do.
 */
static void wake(struct self *s)
{
	uint32_t told = s->told, open = s->open, to = told;

	for (uint32_t i = to; i < open; i++) {
		if (!calm_wakes(s->frames[i].pc, is_sure(&s->frames[i])))
			continue;
		calm_look(s->frames[i].from, s->frames[i].place, s->frames[(int64_t)i - 1].place);
		if (s->told != told || s->open != open)
			return;
		if (to < i)
			s->frames[to] = s->frames[i];
		to++;
	}
	s->open = to;
	s->told = s->told < to ? s->told : to;
}

/*
 * With the filter: whether an activation can be told. Its function may be muted, or about to be: then whoever does that sees
 * that it is told, or we see that. What cannot be is as if it were calm.
 */
static bool is_to_tell(struct frame *f)
{
	if (!calm_wanted || f->time & FRAME_COUNTED || frames_is_loud(f))
		return true;
	if (*frames_calm_of(f->pc) < WOKEN && calm_tells(f->pc)) {
		f->time |= FRAME_COUNTED;
		return true;
	}
	f->time |= FRAME_CALM;
	return false;
}

/* Whoever is around it synchronises, too. */
static void wake_around(const struct frame *f)
{
	if (calm_wanted)
		calm_look(f->from, f->place, f[-1].place);
}

/* Told before it is put: a signal handler that comes in between tells the rest, and nothing twice. */
void frames_tell_all(struct self *s)
{
	bool late = false;

	if (s->mode & MODE_LOCKS)
		wake(s);
	while (s->told < s->open) {
		struct frame *f = &s->frames[s->told++];

		if (!(s->mode & MODE_LOCKS)) {
			if (!is_to_tell(f))
				continue;
			wake_around(f);
		}
		set_time(s, f, &late);
		tell(s, f);
	}
	s->fresh = 0;
}

void frames_tell_some(struct self *s)
{
	while (s->told < s->open) {
		struct frame *f = &s->frames[s->told++];

		if (f->time & FRAME_BROUGHT)
			f->time &= ~(FRAME_CALM | FRAME_BROUGHT);
		if (f->time & FRAME_CALM || !is_to_tell(f))
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
	if (!(s->mode & MODE_FILTER) || f->time & FRAME_BROUGHT) /* that is loud */
		return;
	calm_learn(f->pc, (f->time & ~FRAME_MARKS) < s->synced);
}

/*
 * A signal handler that comes in between may tell this frame, or have its own there. So it is copied, once it is known whether
 * it was told; it is not open any more before anything is put; if it was told meanwhile, that is seen then; and what it
 * says of its function comes last.
 */
static void leave_innermost(struct self *s, void *pc)
{
	uint32_t n = s->open - 1;
	bool told = s->told > n;
	struct frame f;

	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	f = s->frames[n];
	if (told)
		s->told = n;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	s->open = n;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (s->told > n) { /* a handler has told it meanwhile */
		s->told = n;
		told = true;
		f.time = s->frames[n].place == f.place ? s->frames[n].time : f.time;
	}
	if (told && !(f.time & FRAME_CALM))
		put_call(s, ENTRY_EXIT, &f, (uint64_t)pc);
	if (f.time & FRAME_COUNTED)
		calm_told(f.pc);
	learn(s, &f);
}

void frames_unwind(struct self *s, uint64_t place, void *pc)
{
	while (s->open && s->frames[s->open - 1].place < place)
		leave_innermost(s, pc);
}

void frames_enter_slowly(struct self *s, uint64_t place, uint64_t from, void *pc)
{
	uint16_t calm = *frames_calm_of((uint64_t)pc);
	uint64_t marks = calm == WOKEN ? FRAME_SURE : 0;

	if (s->mode & MODE_LOCKS ? calm_enter((uint64_t)pc) : calm == MUTED && calm_mutes((uint64_t)pc))
		return;
	if (s->mode & MODE_LOCKS || calm == CALM || calm == MUTED)
		marks |= FRAME_CALM;
	else
		self_tick(s);
	frames_unwind(s, place + 1, pc);
	if (s->open < FRAMES_MOST && s->frames)
		s->frames[s->open++] = (struct frame){self_time(s) | marks, place, from, (uint64_t)pc};
}

void frames_cut(struct self *s, uint32_t to)
{
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

/* SPDX-License-Identifier: MIT */
/*
 * What instrumented code calls at memory accesses and at function entry and exit: the interface of gcc's and
 * clang's -fsanitize=thread. Atomics are in abi_atomic.c, annotations in abi_annotate.c.
 */
#include "abi_tsan.h"

#include "event/event.h"
#include "runtime/access.h"
#include "runtime/filter.h"
#include "runtime/frames.h"
#include "runtime/gate.h"
#include "runtime/modules.h"
#include "runtime/mute.h"
#include "runtime/real.h"
#include "runtime/self.h"
#include "runtime/sites.h"
#include "runtime/trail.h"

static inline bool is_write(enum entry_kind kind)
{
	return kind == ENTRY_WRITE || kind == ENTRY_WRITE_VOLATILE || kind == ENTRY_WRITE_RANGE;
}

/* Both streams: what the filter has not told goes to the full one alone. */
static void access_both(struct self *s, enum entry_kind kind, unsigned size, uintptr_t address, void *pc)
{
	if (!filter_access(s, address, size, is_write(kind), pc))
		self_put(s, entry_first(kind | STREAM_FULL << KIND_BITS, size, address),
			entry_second((uintptr_t)pc, self_ticks(s)));
}

/* In any mode, and for any thread; apart, so that the hot path has no frame. */
static __attribute__((noinline)) void access_slowly(enum entry_kind kind, unsigned size, uintptr_t address, void *pc)
{
	struct self *s = self();

	if (!s || s->mode & MODE_LOCKS)
		return;
	if (s->mode & MODE_GATE)
		gate_access(is_write(kind) ? EVENT_WRITE : EVENT_READ, (const void *)address, size, pc);
	if (s->mode & MODE_BOTH)
		access_both(s, kind, size, address, pc);
	else if (s->mode & MODE_FILTER)
		filter_access(s, address, size, is_write(kind), pc);
	else
		self_put(s, entry_first(kind, size, address), (uintptr_t)pc);
}

/*
 * What is about to be read may be an address at which the thread looks next, and whose words are another processor's: they
 * come while this access is dealt with. Only if somebody has been here before: so the memory is there, as it has to be for
 * the read itself. No program has memory at the lowest addresses: those are offsets in a segment (__seg_fs).
 */
enum { LINE_MEMORY = 16 /* of the program, whose words are a line */, LOWEST = 1 << 16 };

static inline void fetch_next(uintptr_t address)
{
	char *leaf = shadow_find(address);
	const uint64_t *w = leaf ? shadow_words(leaf, address) : NULL;
	uintptr_t next;

	if (address < LOWEST || address % sizeof next || !w || !(w[0] | w[1]))
		return;
	next = *(const volatile uintptr_t *)address;
	leaf = shadow_find(next);
	if (!leaf)
		return;
	__builtin_prefetch(shadow_words(leaf, next), 1);
	__builtin_prefetch(shadow_words(leaf, next + LINE_MEMORY), 1);
}

/* Everything is recorded, without values. */
static __attribute__((noinline)) void access_recorded(struct self *s, enum entry_kind kind, unsigned size,
	uintptr_t address, void *pc)
{
	uint8_t what = (uint8_t)((is_write(kind) ? TRAIL_WRITE : TRAIL_READ) | __builtin_ctz(size) << 3);

	if (!s->trails || !trail_access(s, what, address, pc))
		self_put(s, entry_first(kind, size, address), (uintptr_t)pc);
}

/* What is not aligned, with the filter. */
#define FEW(name, kind, size) \
	static __attribute__((noinline)) void name(struct self *s, const void *address, void *pc) \
	{ \
		if (!filter_few_own(s, (uintptr_t)address, size, is_write(kind), (uint32_t)(uintptr_t)pc)) \
			access_range(kind, address, size, pc); \
	}

FEW(few_read4, ENTRY_READ_RANGE, 4)
FEW(few_read8, ENTRY_READ_RANGE, 8)
FEW(few_write4, ENTRY_WRITE_RANGE, 4)
FEW(few_write8, ENTRY_WRITE_RANGE, 8)

static inline __attribute__((always_inline)) void few(struct self *s, bool write, const void *address, size_t bytes, void *pc)
{
	if (bytes == 4)
		(write ? few_write4 : few_read4)(s, address, pc);
	else if (bytes == 8)
		(write ? few_write8 : few_read8)(s, address, pc);
	else
		access_range(write ? ENTRY_WRITE_RANGE : ENTRY_READ_RANGE, address, bytes, pc);
}

/* With the filter: it is not answered quickly. */
static inline __attribute__((always_inline)) void access_closely(struct self *s, enum entry_kind kind, unsigned size,
	const void *address, void *pc)
{
	if (unlikely((uintptr_t)address & (size - 1))) {
		few(s, is_write(kind), address, size, pc);
		return;
	}
	if (kind == ENTRY_READ && size == sizeof(void *))
		fetch_next((uintptr_t)address);
	filter_access(s, (uintptr_t)address, size, is_write(kind), pc);
}

/* Inlined by force: the hot path of every hook, in which everything but the address is known. */
static inline __attribute__((always_inline)) void access(enum entry_kind kind, unsigned size, const void *address,
	void *pc)
{
	struct self *s = self_ring;

	if (unlikely(!s))
		access_slowly(kind, size, (uintptr_t)address, pc);
	else if (likely(s->mode == MODE_FILTER)) {
		if (unlikely(!filter_quickly(s, (uintptr_t)address, size, is_write(kind), (uint32_t)(uintptr_t)pc)))
			access_closely(s, kind, size, address, pc);
	} else if (!s->mode)
		access_recorded(s, kind, size, (uintptr_t)address, pc);
	else
		access_slowly(kind, size, (uintptr_t)address, pc);
}

/*
 * What is there already is most of what comes, and is seen first; what needs more registers is apart, and jumped to. A
 * program that runs by itself, or of which only the locks are wanted, pays for two looks, and the latter but once.
 */
#define SEEN(scope, name, kind, size) \
	scope __attribute__((noinline)) void name(const void *address, void *pc) \
	{ \
		access(kind, size, address, pc); \
	}

#define SEEN_ALL(size) \
	SEEN(, seen_read##size, ENTRY_READ, size) \
	SEEN(, seen_write##size, ENTRY_WRITE, size) \
	SEEN(static, seen_volatile_read##size, ENTRY_READ_VOLATILE, size) \
	SEEN(static, seen_volatile_write##size, ENTRY_WRITE_VOLATILE, size)

/*
 * From a program's own hook, with the filter. That has looked quickly already, but where memory was never touched, and at
 * accesses of 16 bytes.
 */
#define LOOKED(name, kind, size, quickly) \
	void name(struct self *s, const void *address, void *pc) \
	{ \
		if (!(quickly) || !filter_quickly(s, (uintptr_t)address, size, is_write(kind), (uint32_t)(uintptr_t)pc)) \
			access_closely(s, kind, size, address, pc); \
	}

#define LOOKED_BOTH(size) \
	LOOKED(looked_read##size, ENTRY_READ, size, size > 8) \
	LOOKED(looked_write##size, ENTRY_WRITE, size, true)

LOOKED_BOTH(1)
LOOKED_BOTH(2)
LOOKED_BOTH(4)
LOOKED_BOTH(8)
LOOKED_BOTH(16)

SEEN_ALL(1)
SEEN_ALL(2)
SEEN_ALL(4)
SEEN_ALL(8)
SEEN_ALL(16)

#define HOOK(name, size, write, seen) \
	EXPORT void name(void *address); \
	void name(void *address) \
	{ \
		struct self *s = self_hooks.filtered; \
		if (likely(s) ? !filter_is_there(s, (uintptr_t)address, size, write) : !self_blind) \
			seen(address, CALLER); \
		else if (unlikely(!s && mute_wanted)) \
			mute(CALLER, name); \
	}

#define HOOKS(size) \
	HOOK(__tsan_read##size, size, false, seen_read##size) \
	HOOK(__tsan_write##size, size, true, seen_write##size) \
	HOOK(__tsan_unaligned_read##size, size, false, seen_read##size) \
	HOOK(__tsan_unaligned_write##size, size, true, seen_write##size) \
	HOOK(__tsan_volatile_read##size, size, false, seen_volatile_read##size) \
	HOOK(__tsan_volatile_write##size, size, true, seen_volatile_write##size) \
	HOOK(__tsan_unaligned_volatile_read##size, size, false, seen_volatile_read##size) \
	HOOK(__tsan_unaligned_volatile_write##size, size, true, seen_volatile_write##size)

HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

/* The compound forms: clang's for x += 1. */
#define HOOK_BOTH(name, size) \
	EXPORT void name(void *address); \
	void name(void *address) \
	{ \
		if (self_blind) \
			return; \
		seen_read##size(address, CALLER); \
		seen_write##size(address, CALLER); \
	}

#define HOOKS_BOTH(size) \
	HOOK_BOTH(__tsan_read_write##size, size) \
	HOOK_BOTH(__tsan_unaligned_read_write##size, size)

HOOKS_BOTH(1)
HOOKS_BOTH(2)
HOOKS_BOTH(4)
HOOKS_BOTH(8)
HOOKS_BOTH(16)

/* With the place given: for compilers that outline. */
#define HOOK_PC(name, seen) \
	EXPORT void name(void *address, void *pc); \
	void name(void *address, void *pc) \
	{ \
		if (!self_blind) \
			seen(address, pc); \
	}

#define HOOKS_PC(size) \
	HOOK_PC(__tsan_read##size##_pc, seen_read##size) \
	HOOK_PC(__tsan_write##size##_pc, seen_write##size)

HOOKS_PC(1)
HOOKS_PC(2)
HOOKS_PC(4)
HOOKS_PC(8)
HOOKS_PC(16)

static __attribute__((noinline)) void access_range_slowly(enum entry_kind kind, const void *address, size_t bytes, void *pc)
{
	struct self *s = self();
	unsigned stream = 0, ticks = 0;

	if (!s || !bytes || s->mode & MODE_LOCKS)
		return;
	if (!s->mode && bytes <= 16 && !(bytes & (bytes - 1))) {
		access_recorded(s, is_write(kind) ? ENTRY_WRITE : ENTRY_READ, (unsigned)bytes, (uintptr_t)address, pc);
		return;
	}
	if (s->mode & MODE_GATE)
		gate_access(is_write(kind) ? EVENT_WRITE : EVENT_READ, address, bytes, pc);
	if (s->mode & MODE_FILTER) {
		if (filter_range(s, (uintptr_t)address, bytes, is_write(kind), pc) || !(s->mode & MODE_BOTH))
			return;
		stream = STREAM_FULL << KIND_BITS;
		ticks = self_ticks(s);
	}
	self_put_sized(s, entry_first(kind | stream, 0, (uintptr_t)address), entry_second((uintptr_t)pc, ticks), bytes);
}

void access_range(enum entry_kind kind, const void *address, size_t bytes, void *pc)
{
	struct self *s = self_hooks.filtered;

	if (self_blind || (s && filter_few_quickly(s, (uintptr_t)address, bytes, is_write(kind), (uint32_t)(uintptr_t)pc)))
		return;
	access_range_slowly(kind, address, bytes, pc);
}

static inline __attribute__((always_inline)) void range(enum entry_kind kind, const void *address, size_t bytes, void *pc)
{
	struct self *s = self_hooks.filtered;

	if (likely(s))
		few(s, is_write(kind), address, bytes, pc);
	else
		access_range(kind, address, bytes, pc);
}

/* gcc's for what is not aligned, or large. */
#define HOOK_RANGE(name, kind) \
	EXPORT void name(void *address, unsigned long bytes); \
	void name(void *address, unsigned long bytes) \
	{ \
		if (likely(!self_blind)) \
			range(kind, address, bytes, CALLER); \
		else if (mute_wanted) \
			mute(CALLER, (void (*)(void *))(void (*)(void))name); \
	}

HOOK_RANGE(__tsan_read_range, ENTRY_READ_RANGE)
HOOK_RANGE(__tsan_write_range, ENTRY_WRITE_RANGE)

EXPORT void __tsan_read_range_pc(void *address, unsigned long bytes, void *pc);
EXPORT void __tsan_write_range_pc(void *address, unsigned long bytes, void *pc);

void __tsan_read_range_pc(void *address, unsigned long bytes, void *pc)
{
	access_range(ENTRY_READ_RANGE, address, bytes, pc);
}

void __tsan_write_range_pc(void *address, unsigned long bytes, void *pc)
{
	access_range(ENTRY_WRITE_RANGE, address, bytes, pc);
}

_Static_assert(sizeof(void *) == 8, "the size of a vptr");
EXPORT void __tsan_vptr_update(void **address, void *value);
EXPORT void __tsan_vptr_read(void **address);

/* A constructor that stores the vtable that is there already changes nothing. */
void __tsan_vptr_update(void **address, void *value)
{
	if (*address != value && !self_blind)
		seen_write8(address, CALLER);
}

void __tsan_vptr_read(void **address)
{
	if (!self_blind)
		seen_read8(address, CALLER);
}

EXPORT void __tsan_init(void);

/* Called by a constructor in every instrumented file: of libraries that are loaded later, too. */
void __tsan_init(void)
{
	struct self *s = self();

	if (s || self_off)
		modules_tell(s);
	sites_adapt(CALLER);
}

/* Calls. */

/*
 * Where the caller's frame lies: instrumented code keeps its frame pointer, which the hook has saved at the start of
 * its own frame. It is the same at entry and exit, and what callees have lies below. But a function may come to the
 * exit hook by a jump, after it has taken its frame down: then that was where the hook has its own, and the frame
 * pointer is its caller's.
 */
#define FRAME_GONE ((uintptr_t)__builtin_frame_address(0))
#define FRAME (*(const uintptr_t *)__builtin_frame_address(0))

static inline void put_call(struct self *s, unsigned kind, uintptr_t frame, uintptr_t from, void *pc)
{
	uint64_t depth = (s->stack - frame) / DEPTH_UNIT;

	if (depth > DEPTH_UNKNOWN)
		depth = DEPTH_UNKNOWN;
	self_put(s, entry_first(kind, (unsigned)depth, from), entry_second((uintptr_t)pc, (unsigned)(depth >> 8)));
}

/* A thread's first call is told at once: what it enters first is not what it enters first and is told of. */
static __attribute__((noinline)) void call_timed_slowly(struct self *s, enum entry_kind kind, uintptr_t frame,
	uintptr_t from, void *pc)
{
	if (s->mode & MODE_STOCK)
		return; /* the stack itself tells, of all functions alike */
	if (!s->frames)
		return;
	if (kind == ENTRY_ENTER)
		frames_enter(s, frame, from, pc);
	else
		frames_exit(s, frame, from, pc);
	if (s->mode & MODE_BOTH) {
		self_put(s, entry_first(ENTRY_TIME | STREAM_FULL << KIND_BITS, 0, 0), self_time(s));
		put_call(s, kind | STREAM_FULL << KIND_BITS, frame, from, pc);
	}
	if (s->fresh)
		frames_tell(s);
}

static inline void call_timed(struct self *s, enum entry_kind kind, uintptr_t frame, uintptr_t from, void *pc)
{
	if (unlikely(!s->frames || s->fresh | (s->mode & (MODE_BOTH | MODE_STOCK))))
		call_timed_slowly(s, kind, frame, from, pc);
	else if (kind == ENTRY_ENTER)
		frames_enter(s, frame, from, pc);
	else
		frames_exit(s, frame, from, pc);
}

EXPORT void __tsan_func_entry(void *from);
EXPORT void __tsan_func_exit(void);

/* In a program that runs by itself. */
static void call_mute(enum entry_kind kind, void *pc)
{
	if (!self_off || !mute_wanted)
		return;
	if (kind == ENTRY_ENTER)
		mute(pc, (void (*)(void *))__tsan_func_entry);
	else
		mute_exit(pc, (void (*)(void *))(void (*)(void))__tsan_func_exit);
}

/* `from`: of an entry, the place of the call; of an exit, FRAME_GONE. */
static __attribute__((noinline)) void call_slowly(enum entry_kind kind, uintptr_t frame, uintptr_t from, void *pc)
{
	struct self *s = self();

	if (unlikely(!s)) {
		call_mute(kind, pc);
		return;
	}
	self_look_at_hooks();
	if (s->mode & MODE_TIMED)
		call_timed(s, kind, frame, from, pc);
	else if (!s->trails || !trail_call(s, kind == ENTRY_ENTER, frame, from, pc))
		put_call(s, kind, frame, from, pc);
}

static inline void call(enum entry_kind kind, uintptr_t frame, uintptr_t from, void *pc)
{
	struct self *s = self_hooks.timed;

	if (unlikely(!s))
		call_slowly(kind, frame, from, pc);
	else if (kind == ENTRY_ENTER)
		frames_enter(s, frame, from, pc);
	else
		frames_exit(s, frame, from, pc);
}

void call_seen(enum entry_kind kind, uintptr_t frame, uintptr_t from, void *pc)
{
	call(kind, frame, from, pc);
}

void __tsan_func_entry(void *from)
{
	call(ENTRY_ENTER, FRAME, (uintptr_t)from, CALLER);
}

void __tsan_func_exit(void)
{
	call(ENTRY_EXIT, FRAME, FRAME_GONE, CALLER);
}

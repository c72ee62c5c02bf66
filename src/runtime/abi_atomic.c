/* SPDX-License-Identifier: MIT */
/*
 * Atomic operations, as instrumented code calls them instead of doing them: one function per width and operation.
 *
 * Each is done with at least the memory order that was asked for, and recorded with that one. Operation and ticket are
 * taken under the object's stripe (stripes.h), so that a load stands behind the store that it reads from and before
 * the next one. The room for the entry is waited for before that: a full ring must not keep others waiting.
 *
 * Without anybody who records, the operation is all that happens.
 */
#include <stdint.h>

#include "event/event.h"
#include "runtime/filter.h"
#include "runtime/gate.h"
#include "runtime/real.h"
#include "runtime/self.h"
#include "runtime/stripes.h"

typedef uint8_t word8;
typedef uint16_t word16;
typedef uint32_t word32;
typedef uint64_t word64;

/* The compilers' numbers; above them there may be hints about lock elision. */
static unsigned order_of(int order)
{
	static const uint8_t known[] = {
		[__ATOMIC_RELAXED] = ORDER_RELAXED, [__ATOMIC_CONSUME] = ORDER_CONSUME, [__ATOMIC_ACQUIRE] = ORDER_ACQUIRE,
		[__ATOMIC_RELEASE] = ORDER_RELEASE, [__ATOMIC_ACQ_REL] = ORDER_ACQ_REL, [__ATOMIC_SEQ_CST] = ORDER_SEQ_CST,
	};
	unsigned n = (unsigned)order & 0xff;

	return n < sizeof known ? known[n] : ORDER_SEQ_CST;
}

/* One operation on its way into the ring. */
struct operation {
	struct self *self;
	struct stripe *stripe;
	const volatile void *object;
	void *pc;
	unsigned size;
	bool held;
};

/* A controlled run: the operation's turn. */
static inline void operation_turn(struct self *s, uint32_t kind, const volatile void *object, void *pc)
{
	if (s && s->mode & MODE_GATE)
		gate_step(&(struct gate_op){.kind = kind, .object = object, .pc = pc});
}

static inline struct operation operation_begin(struct self *s, const volatile void *object, unsigned size, void *pc)
{
	struct operation o = {.self = s, .stripe = stripe_of(object), .object = object, .pc = pc, .size = size};

	if (s->mode & MODE_FILTER)
		filter_atomic(s, (uintptr_t)object, size);
	self_room(s);
	o.held = stripe_take(o.stripe, s);
	return o;
}

/* Before a write; atomically, since a handler may be without the stripe. */
static inline void operation_changes(const struct operation *o)
{
	__atomic_fetch_add(&o->stripe->changes, 1, __ATOMIC_SEQ_CST);
}

static inline void operation_tell(const struct operation *o, enum entry_kind kind, unsigned order, uint64_t value,
	unsigned flags)
{
	self_sync(o->self, (struct sync){
		.kind = kind, .small = order, .extra = o->size | flags, .object = (const void *)o->object, .pc = o->pc,
		.argument = value,
	});
}

static inline void operation_end(const struct operation *o)
{
	if (o->held)
		stripe_give(o->stripe, o->self);
}

/* Waiting. */

/* The thread's last load that has an entry: the same one again, with nothing in between, needs none. */
static __thread struct {
	const volatile void *object;
	void *pc;
	uint64_t head, changes, value;
	int order;
} last __attribute__((tls_model("initial-exec")));

/*
 * The count is read behind the load: had the value come from a write since then, the count would have gone up before.
 * The value is compared for the sake of writes that are not ours to count.
 */
static inline bool is_repeated(const struct self *s, const volatile void *object, void *pc, int order, uint64_t value)
{
	return last.head == s->head && last.object == object && last.pc == pc && last.order == order &&
		last.value == value && last.changes == __atomic_load_n(&stripe_of(object)->changes, __ATOMIC_ACQUIRE);
}

static inline void remember(const struct operation *o, int order, uint64_t value, uint64_t changes)
{
	last.object = o->object;
	last.pc = o->pc;
	last.head = o->self->head;
	last.changes = changes;
	last.value = value;
	last.order = order;
}

/* What an operation did to the value, for whoever looks for locks. */
static inline unsigned change_of(bool from_zero, bool to_zero, bool same, unsigned flags)
{
	return flags | (from_zero ? ATOMIC_FROM_ZERO : 0) | (to_zero ? ATOMIC_TO_ZERO : 0) | (same ? ATOMIC_SAME : 0);
}

/* Operations of all widths that the compiler has instructions for. */

#define LOAD(bits) \
	EXPORT word##bits __tsan_atomic##bits##_load(const volatile word##bits *p, int order); \
	word##bits __tsan_atomic##bits##_load(const volatile word##bits *p, int order) \
	{ \
		struct self *s = self(); \
		word##bits value; \
		struct operation o; \
		uint64_t changes; \
		operation_turn(s, EVENT_ATOMIC_LOAD, p, CALLER); \
		value = get##bits(p); \
		if (!s || is_repeated(s, p, CALLER, order, (uint64_t)value)) \
			return value; \
		o = operation_begin(s, p, sizeof *p, CALLER); \
		changes = __atomic_load_n(&o.stripe->changes, __ATOMIC_ACQUIRE); \
		value = get##bits(p); \
		operation_tell(&o, ENTRY_ATOMIC_LOAD, order_of(order), (uint64_t)value, change_of(!value, !value, true, 0)); \
		operation_end(&o); \
		remember(&o, order, (uint64_t)value, changes); \
		return value; \
	}

/* The entry first, as for every release: it may be read by code that has no hooks. */
#define STORE(bits) \
	EXPORT void __tsan_atomic##bits##_store(volatile word##bits *p, word##bits value, int order); \
	void __tsan_atomic##bits##_store(volatile word##bits *p, word##bits value, int order) \
	{ \
		struct self *s = self(); \
		struct operation o; \
		if (!s) { \
			set##bits(p, value, order); \
			return; \
		} \
		operation_turn(s, EVENT_ATOMIC_STORE, p, CALLER); \
		gate_progress(); \
		o = operation_begin(s, p, sizeof *p, CALLER); \
		operation_changes(&o); \
		operation_tell(&o, ENTRY_ATOMIC_STORE, order_of(order), (uint64_t)value, change_of(false, !value, false, 0)); \
		set##bits(p, value, order); \
		operation_end(&o); \
	}

#define RMW(bits, name, result, flags) \
	EXPORT word##bits __tsan_atomic##bits##_##name(volatile word##bits *p, word##bits v, int order); \
	word##bits __tsan_atomic##bits##_##name(volatile word##bits *p, word##bits v, int order) \
	{ \
		struct self *s = self(); \
		struct operation o; \
		word##bits old, new; \
		if (!s) \
			return name##bits(p, v); \
		operation_turn(s, EVENT_ATOMIC_RMW, p, CALLER); \
		o = operation_begin(s, p, sizeof *p, CALLER); \
		operation_changes(&o); \
		old = name##bits(p, v); \
		new = (word##bits)(result); \
		if (old != new) \
			gate_progress(); \
		operation_tell(&o, ENTRY_ATOMIC_RMW, order_of(order), (uint64_t)new, \
			change_of(!old, !new, old == new, flags)); \
		operation_end(&o); \
		return old; \
	}

/* One that fails is a load with the other order. */
#define COMPARE(bits) \
	static inline bool compare_told##bits(volatile word##bits *p, word##bits *expected, word##bits v, \
		int order, int fail_order, void *pc) \
	{ \
		struct self *s = self(); \
		struct operation o; \
		bool done; \
		if (!s) \
			return compare##bits(p, expected, v); \
		operation_turn(s, EVENT_ATOMIC_RMW, p, pc); \
		o = operation_begin(s, p, sizeof *p, pc); \
		operation_changes(&o); \
		done = compare##bits(p, expected, v); \
		if (done && *expected != v) \
			gate_progress(); \
		if (done) \
			operation_tell(&o, ENTRY_ATOMIC_RMW, order_of(order), (uint64_t)v, \
				change_of(!*expected, !v, *expected == v, ATOMIC_SWAPS | ATOMIC_COMPARES)); \
		else \
			operation_tell(&o, ENTRY_ATOMIC_LOAD, order_of(fail_order), (uint64_t)*expected, \
				change_of(!*expected, !*expected, true, ATOMIC_SWAPS | ATOMIC_COMPARES)); \
		operation_end(&o); \
		return done; \
	} \
	EXPORT int __tsan_atomic##bits##_compare_exchange_strong(volatile word##bits *p, word##bits *expected, \
		word##bits v, int order, int fail_order); \
	int __tsan_atomic##bits##_compare_exchange_strong(volatile word##bits *p, word##bits *expected, word##bits v, \
		int order, int fail_order) \
	{ \
		return compare_told##bits(p, expected, v, order, fail_order, CALLER); \
	} \
	EXPORT int __tsan_atomic##bits##_compare_exchange_weak(volatile word##bits *p, word##bits *expected, \
		word##bits v, int order, int fail_order); \
	int __tsan_atomic##bits##_compare_exchange_weak(volatile word##bits *p, word##bits *expected, word##bits v, \
		int order, int fail_order) \
	{ \
		return compare_told##bits(p, expected, v, order, fail_order, CALLER); \
	} \
	EXPORT word##bits __tsan_atomic##bits##_compare_exchange_val(volatile word##bits *p, word##bits expected, \
		word##bits v, int order, int fail_order); \
	word##bits __tsan_atomic##bits##_compare_exchange_val(volatile word##bits *p, word##bits expected, word##bits v, \
		int order, int fail_order) \
	{ \
		compare_told##bits(p, &expected, v, order, fail_order, CALLER); \
		return expected; \
	}

#define OPERATIONS(bits) \
	LOAD(bits) \
	STORE(bits) \
	RMW(bits, exchange, v, ATOMIC_SWAPS) \
	RMW(bits, fetch_add, old + v, 0) \
	RMW(bits, fetch_sub, old - v, 0) \
	RMW(bits, fetch_and, old & v, 0) \
	RMW(bits, fetch_or, old | v, 0) \
	RMW(bits, fetch_xor, old ^ v, 0) \
	RMW(bits, fetch_nand, ~(old & v), 0) \
	COMPARE(bits)

/* How each is done. Only for stores a weaker order is cheaper. */
#define BUILTIN(bits, name) \
	static inline word##bits name##bits(volatile word##bits *p, word##bits v) \
	{ \
		return __atomic_##name(p, v, __ATOMIC_SEQ_CST); \
	}

#define BUILTINS(bits) \
	static inline word##bits get##bits(const volatile word##bits *p) \
	{ \
		return __atomic_load_n(p, __ATOMIC_SEQ_CST); \
	} \
	static inline void set##bits(volatile word##bits *p, word##bits v, int order) \
	{ \
		if (order_of(order) == ORDER_SEQ_CST) \
			__atomic_store_n(p, v, __ATOMIC_SEQ_CST); \
		else \
			__atomic_store_n(p, v, __ATOMIC_RELEASE); \
	} \
	static inline word##bits exchange##bits(volatile word##bits *p, word##bits v) \
	{ \
		return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST); \
	} \
	static inline bool compare##bits(volatile word##bits *p, word##bits *expected, word##bits v) \
	{ \
		return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
	} \
	BUILTIN(bits, fetch_add) \
	BUILTIN(bits, fetch_sub) \
	BUILTIN(bits, fetch_and) \
	BUILTIN(bits, fetch_or) \
	BUILTIN(bits, fetch_xor) \
	BUILTIN(bits, fetch_nand)

BUILTINS(8)
BUILTINS(16)
BUILTINS(32)
BUILTINS(64)

OPERATIONS(8)
OPERATIONS(16)
OPERATIONS(32)
OPERATIONS(64)

#if defined __x86_64__

/* Sixteen bytes: one instruction, which every processor has that programs with such objects run on. */
__extension__ typedef unsigned __int128 word128;

static inline bool compare128(volatile word128 *p, word128 *expected, word128 v)
{
	uint64_t low = (uint64_t)*expected, high = (uint64_t)(*expected >> 64);
	bool done;

	__asm__ volatile("lock cmpxchg16b %1" : "=@ccz"(done), "+m"(*p), "+a"(low), "+d"(high)
		: "b"((uint64_t)v), "c"((uint64_t)(v >> 64)) : "memory");
	*expected = (word128)high << 64 | low;
	return done;
}

/* A load writes back what it finds, as there is no other way that is sure to be one step. */
static inline word128 get128(const volatile word128 *p)
{
	word128 value = 0;

	compare128((volatile word128 *)p, &value, 0);
	return value;
}

#define BUILTIN128(name, result) \
	static inline word128 name##128(volatile word128 *p, word128 v) \
	{ \
		word128 old = get128(p); \
		while (!compare128(p, &old, (result))) \
			; \
		return old; \
	}

BUILTIN128(exchange, v)
BUILTIN128(fetch_add, old + v)
BUILTIN128(fetch_sub, old - v)
BUILTIN128(fetch_and, old & v)
BUILTIN128(fetch_or, old | v)
BUILTIN128(fetch_xor, old ^ v)
BUILTIN128(fetch_nand, ~(old & v))

static inline void set128(volatile word128 *p, word128 v, int order)
{
	(void)order;
	exchange128(p, v);
}

OPERATIONS(128)

#endif

/* Fences. */

EXPORT void __tsan_atomic_thread_fence(int order);
EXPORT void __tsan_atomic_signal_fence(int order);

void __tsan_atomic_thread_fence(int order)
{
	struct self *s = self();

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (s)
		self_sync(s, (struct sync){.kind = ENTRY_ATOMIC_FENCE, .small = order_of(order), .pc = CALLER});
}

/* It orders a thread and its own handlers, which are one thread here. */
void __tsan_atomic_signal_fence(int order)
{
	(void)order;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

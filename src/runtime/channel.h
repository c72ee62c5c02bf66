/* SPDX-License-Identifier: MIT */
/*
 * What the library inside the program and the collector share: a memory file with a header and rings.
 *
 *   channel   header | ring 0 | ring 1 | ...        one file a run, never linked into any directory
 *   ring      struct self (one page) | slots | trail | places      one thread at a time; 1 MiB of slots
 *   slot      two words; the first is never 0 in a complete entry, and is written last
 *
 * Representation of a slot's words (x86-64 and others with 48 bits of address):
 *   word 0    kind 6 | stream 2 | small 8 | address 48
 *   word 1    pc 48 | extra 16, or whatever entries.def says
 *     accesses  small: bytes (0: of a range, in the next slot), ACCESS_KNOWN and ACCESS_BROUGHT; extra: the minor part of
 *               the time, where there is one
 *     calls     small and extra: how deep the frame lies in the stack, in units of 16 bytes, DEPTH_UNKNOWN if that
 *               cannot be told; address: the place of the call (of an exit: where the frame was if it is gone already,
 *               because the exit is told by a jump), pc: in the function
 *     sync      address: the object; small: memory order or enum object_sort; the next slot has ticket and argument
 *
 * Loops (no mode at all). A thread that does the same accesses again and again, each a fixed stride further every time,
 * writes down once what they are, and then counts: one LOOP instead of an entry each. The entry is open while the thread
 * may go on counting. It ends it when it comes to something else; if it never does, since it was killed, what it has
 * counted stands in its record.
 *     LOOP      small: items; address: 1 while it is open, 2 when it is not; second word: how many accesses it was then
 *     ROUND     an item, as its access: stream is the kind, READ or WRITE, address where it is the first time, extra the
 *               stride, with a sign
 *
 * Trails (no mode at all, if the collector wants them). Beside its slots a thread has a ring of bytes, into which its
 * hooks write plain accesses and calls: event/trail.h has their form, and runtime/trail.h who writes when. Slots stay the
 * thread's order: before anything is put there, TRAIL says how far the trail has come by then, and DEFINE says what a place
 * is before the trail has it. The collector takes a trail up to where TRAIL says it has come; what is behind the last
 * one, up to `trail_at`, when the thread has ended.
 *     TRAIL     address: bytes ever written; second word: events behind them that were expected, and not written yet
 *     DEFINE    small: enum trail_kind 3 | binary logarithm of the size 5; address: the pc; second word: key 48 | token 16
 *
 * Time (MODE_FILTER, MODE_LOCKS). Each thread's own steps have times that only grow: the last ticket that it took and
 * the number of ticks since, 32 and 12 bits. No two threads have a ticket in common, so a time says whose it is; and
 * if a happens before b, the time of a is the smaller one. Entries with a ticket have ticks 0. What is entered is told
 * when something inside it is told, with its own time in a TIME entry before it. After each 4095 ticks the thread
 * takes a ticket for nothing.
 *
 * A function brought along (MODE_TIMED). Most functions that lock do it once. So if the innermost function is
 * the only one that was not told, its first acquire says all of it, and neither entry nor exit is told:
 *     small, extra  as in ENTER
 *     argument      from 48 | ticks of its time 12 | upper bits of `behind` 4
 *     of TICKET     small: lower bits of `behind`, by which the function's own place lies before that of the acquire
 * A release or a notification in it has small 1, and so has memory that is given or taken; an access has ACCESS_BROUGHT.
 * An access of the past says nothing of it. Whatever else comes means that it has been left; but for its ENTER with the
 * same time, which is told before everything else that is inside of it.
 *
 * Producer. A slot is reserved by one instruction (a plain xadd on self->head), so a signal handler that interrupts
 * a hook takes the slots after, and nothing is lost. There is no published tail: a slot is complete when its first
 * word is not zero. So a program that is killed leaves every entry it completed, and one that is blocked stalls no
 * one.
 *
 * A hook that is left half-way for ever (a signal handler interrupted it and jumped out) leaves slots that are
 * reserved and zero, behind which the consumer cannot look. The thread itself fills them with NOTHING, and tells them
 * from slots that were consumed by self->taken, which the consumer moves before it zeroes a slot.
 *
 * Consumer. Reads slots until one is zero, zeroes what it has read, and then moves self->tail. It sleeps on
 * channel->bell with a time limit; a producer rings it when it passes a quarter of its ring and whoever sleeps.
 *
 * Order. Synchronisation entries carry tickets 1, 2, 3, ... of channel->ticket: an acquire's was taken after it
 * succeeded, a release's before it happened. Tickets are dense, so the consumer knows which one it waits for. A
 * ticket whose owner died before it wrote the slot is found by head: no living ring has a slot that is reserved and
 * still zero.
 *
 * Releases without tickets (MODE_TIMED). If the last ticket of a thread is that of an acquire, the release of that lock
 * is an UNLOCK, which has none: two threads that lock much would spend their time on the counter. Nobody can learn of
 * it but by an acquire of the lock, or by making and breaking it, and that was made behind the release: when the consumer
 * has seen the one, the UNLOCK is there. So before it hands that on, it takes what the rings have whose threads may have
 * released the lock so; and before an access of the past, what the ring of that thread has. A signal handler that has
 * interrupted an entry in the making takes tickets: what it has put may have to come before that entry, and is looked
 * for by them.
 *
 * Who is alive. channel->alive is a robust lock that the collector holds: the kernel marks it when the collector
 * ends, however it ends. Producers look at it when their ring is full, and go on without recording.
 *
 * The collector does not trust a word of it: a program may write anywhere.
 */
#ifndef FISSION_RUNTIME_CHANNEL_H
#define FISSION_RUNTIME_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

enum entry_kind {
	ENTRY_NONE,
#define ENTRY(kind, form) ENTRY_##kind,
#include "runtime/entries.def"
#undef ENTRY
	ENTRY_KINDS
};

enum {
	CHANNEL_VERSION = 11,
	CHANNEL_PAGE = 4096,
	SLOT = 16,
	RING_SLOTS = 1 << 16,
	RING_BYTES = RING_SLOTS * SLOT,
	TRAIL_BYTES = 1 << 20,
	TRAIL_PART = TRAIL_BYTES / 8, /* no token reaches over the end of a part */
	TRAIL_AT = CHANNEL_PAGE + RING_BYTES,
	TRAIL_SITES = 1 << 14, /* places that a thread knows at a time: as many as event/trail.h has */
	TRAIL_WHAT_SHIFT = 3,
	TRAIL_MIX_SHIFT = 15,
	TRAIL_NUMBERED = TRAIL_SITES / 2, /* of them, those that are known by a number in the code: see sites.h */
	SITES_AT = TRAIL_AT + TRAIL_BYTES,
	SITE = 32,
	KNOWN_AT = SITES_AT + TRAIL_SITES * SITE, /* which of them, 2 bytes each */
	RING_SPAN = KNOWN_AT + TRAIL_SITES * 2,
	RINGS_MOST = 4096,
	ADDRESS_BITS = 48,
	ACCESS_KNOWN = 0x80, /* MODE_FILTER: nothing is to be learned from it, it only says what a section does */
	ACCESS_BROUGHT = 0x40, /* likewise: it is inside of a function that was brought along */
	DEPTH_UNKNOWN = 0xffffff, /* of a frame */
	DEPTH_UNIT = 16,
	KIND_BITS = 6,
	TICK_BITS = 12,
	TIME_BITS = 44,
	TEXT_MOST = 4096, /* bytes of a text; extra has its length */
	ORDER_PATH = 64,
	BEHIND_BITS = 12, /* of which 8 are in the ticket's slot */
	LOOP_ITEMS = 16, /* of a loop, at most */
	LOOP_BAD = 64,
	LOOP_ROUND_SHIFT = 44, /* of struct loop_self's `at` */
	HEARD = 8, /* other threads that one is told apart from, in the filter */
	USUAL = 512,
	NOTED = 16,
};

#define TRAIL_MIX 0x9e3779b1u /* finds where else a place may be */
#define CHANNEL_MAGIC 0x316e6e6863736966u /* "fischnn1" */
#define CHANNEL_BYTES ((uint64_t)CHANNEL_PAGE + (uint64_t)RINGS_MOST * RING_SPAN)
#define CHANNEL_VARIABLE "FISSION_CHANNEL" /* in the environment: the file's path under /proc */

struct slot {
	uint64_t word[2];
};

/* Who is to hear of an entry, in MODE_BOTH: a bit each, 0 for all. */
enum entry_stream { STREAM_FULL = 1, STREAM_FILTERED = 2 };

enum ring_state { RING_FREE, RING_USED, RING_LEFT };

/* What sort of object MAKE makes. */
enum object_sort {
	OBJECT_NONE, OBJECT_MUTEX, OBJECT_RWLOCK, OBJECT_SPIN, OBJECT_COND, OBJECT_BARRIER, OBJECT_SEM, OBJECT_ONCE,
};

/* What IGNORE is about: it begins, or ends. */
enum ignore_what { IGNORE_READS = 1, IGNORE_WRITES = 2, IGNORE_SYNC = 4, IGNORE_BEGIN = 8 };

/* What ASSUME says; the numbers are those of include/fission.h. */
enum assume_what { ASSUME_GUARDED = 1 };

/* In the extra bits of atomic operations, above the size. */
enum atomic_flag {
	ATOMIC_SIZE = 0xff,
	ATOMIC_FROM_ZERO = 0x100, /* the value before was 0 */
	ATOMIC_TO_ZERO = 0x200,   /* the value behind is */
	ATOMIC_SWAPS = 0x400,     /* an exchange or a compare-and-exchange, failed ones too */
	ATOMIC_COMPARES = 0x800,  /* the latter */
	ATOMIC_SAME = 0x1000,     /* both values are the same: nothing has changed */
};

/* What the library is to do; set by the collector before the program starts. */
enum channel_mode {
	MODE_VALUES = 1,   /* record values of accesses */
	MODE_FILTER = 2,   /* the ownership filter */
	MODE_LOCKS = 4,    /* no accesses: nobody looks at them */
	MODE_NO_CALLS = 8, /* no calls either */
	MODE_BOTH = 16,    /* with MODE_FILTER: the full stream as well, to compare them */
	MODE_BARE = 32,    /* with MODE_FILTER, of one ring: there is no memory for it, and everything is told */
	MODE_GATE = 64,    /* a controlled run: one thread at a time, see gate.h. With MODE_VALUES */
	MODE_STOCK = 128,  /* with MODE_LOCKS: nobody tells of calls, and the stack is looked at */
	MODE_QUIET = 256,  /* with MODE_STOCK: what is known well is not told, see quiet.h */
	MODE_TIMED = MODE_FILTER | MODE_LOCKS,
};

/* How a controlled run goes: written by the gate, for the collector. */
enum gate_end {
	GATE_RUNS,     /* or has ended as the program wanted */
	GATE_DEADLOCK, /* nobody can go on: the gate has ended the program, with GATE_STATUS */
};

enum { GATE_STATUS = 86 };

struct gate_report {
	uint64_t steps;       /* that were done; told now and then, and at each change of threads */
	uint64_t switches;    /* changes of threads */
	uint64_t diverged_at; /* the step at which the order could not be followed; 0: it could */
	uint32_t next, done;  /* of the order's steps */
	uint32_t end;         /* enum gate_end */
	uint32_t holder;      /* number of the thread that runs; 0: nobody does, all wait for the system */
	uint64_t outside;     /* threads that run without control: too many, or not made by pthread_create */
	uint64_t real;        /* operations on objects of several processes, done without control */
	uint32_t started;     /* the gate has begun */
};

/* What a thread of a controlled run is at, while it waits for its turn or for something else. */
struct gate_stand {
	uint32_t waits;   /* it does; otherwise it runs, or is not under control */
	uint32_t kind;    /* as in sched/order.h */
	uint64_t object, pc;
	uint32_t blocker; /* number of the thread that must act first, 0: not known */
	uint32_t can;     /* it could go on: only its turn is missing */
};

/*
 * What a thread has seen of another: all up to the word, as in the shadow. `since` is the other's start, `synced` the
 * time of a synchronisation of it, as late as anybody has looked.
 */
struct heard {
	uint64_t since, word, synced;
};

/* A read that was noted (filter.h): address and size, and the time of its thread's last synchronisation. */
struct noted {
	uint64_t what, synced;
};

/* Of LOOP, `address`. */
enum loop_stand { LOOP_OPEN = 1, LOOP_CLOSED = 2 };

/* An access that comes again. */
struct loop_item {
	uint64_t address, stride, pc;
	uint64_t step; /* from this item to the next, of `at` */
};

/*
 * What a thread counts; see runtime/loops.h. `at` changes by one instruction, and has all of it: how many rounds were
 * made 20 | 0 | which loop it is 8 | the offset in struct self of the item that is to come 16. After so many rounds the
 * loop is ended, and may begin again: the collector is not to be told of too much at once.
 */
struct loop_self {
	uint64_t at;   /* 0: nothing is counted */
	uint64_t last; /* the same, of the loop that was ended last, or is just being ended */
	uint64_t back_pc, back_at, back_span; /* the last jump back: where to, in the code and in the ring, and how far */
	uint64_t slot; /* of the open LOOP */
	uint32_t items;
	uint32_t making; /* a loop is just being begun */
	struct loop_item item[LOOP_ITEMS];
	uint64_t bad[LOOP_BAD]; /* places to which jumps back were no loop lately, by their low bits */
};

/* A place that a trail has; see event/trail.h. */
struct trail_site {
	uint64_t pc;       /* 0: none */
	uint64_t next;     /* of a call: its key, where it comes from or how much deeper its frame was */
	uint64_t stride;   /* of a call: how much deeper it is than the one before */
	uint8_t what;      /* as in DEFINE */
	uint8_t unused;
	uint16_t token;
	uint32_t behind;   /* the one that came behind it last: how far it is from the first */
};

/* Why a thread writes slots instead of its trail: bits of `trail_busy`. */
enum trail_busy {
	TRAIL_HOOK = 1,    /* a hook is just at it; a signal handler may see that */
	TRAIL_TRIES = 2,   /* it may be about to take a lock of the program's own making: see collect/spinlocks.h */
	TRAIL_WAITS = 4,   /* inside a condition wait or a barrier there are but signal handlers */
	TRAIL_COMPARES = 16, /* likewise, by an operation that has just failed, and is told on the stack what to expect */
	TRAIL_IGNORED = 8, /* the program does not want something to be seen */
};

/* What a table of marks begins with: see runtime/lately.h. */
struct marks_head {
	uint64_t look;  /* as its thread's */
	uint32_t of[5]; /* of each size: which bits of an address say where its mark is */
};

/*
 * One thread of the program, at the start of its ring. `head`, `limit` and what stands under them are the
 * producer's, `tail` the consumer's. Who it is, is written after the ring was claimed and before its first entry, `pid`
 * last; until then `pid` is 0, or has been said by the parent of a process that is not there yet.
 */
struct self {
	uint64_t head;  /* bytes ever reserved */
	uint64_t limit; /* head may grow to this without looking at tail */
	uint64_t stack; /* the end of the thread's stack: frames lie below */
	uint64_t now;   /* ring 12 | time 44 | 0: as in a word of the shadow */
	struct frame *frames; /* open functions, in MODE_TIMED; NULL: there was no memory */
	union {
		struct {
			uint32_t open; /* of frames */
			uint32_t told; /* of them: those that the collector knows, or is not to; one more: it is being left */
		};
		uint64_t open_and_told;
	};
	uint32_t mode;  /* enum channel_mode */
	uint32_t fresh; /* the thread has told nothing yet */
	uint64_t own;   /* ring and time of its start, like `now`: no word of the thread is less */
	uint64_t reach; /* and none is so much more */
	uint64_t locked;    /* the lock that it took last, if its release may do without a ticket, or 0 */
	uint64_t locked_at; /* the ticket of that */
	uint32_t making; /* an entry with a ticket is in the making: a signal handler may see that */
	uint32_t familiar; /* accesses noted since from which nothing was to be learned */
	char **leaves;  /* MODE_FILTER: the shadow's, see shadow.h */
	uint64_t stamp; /* `now`, of all bytes: what a word of an access would be */
	uint64_t entered;    /* what a calm frame's time would be: see frames.h */
	uint64_t calm_since; /* the time of one that is entered at the last synchronisation */
	void *shadow;   /* MODE_STOCK: what is known of its stack, see stack.h; NULL: nothing */
	char **lately;  /* MODE_FILTER: what the thread has read beside others, see lately.h; NULL: it keeps no such thing */
	uint64_t look;  /* with it an access is a mark: see lately.h */
	struct marks_head *marks; /* what the thread has done at this look; NULL: it keeps no such thing */
	char **notes;   /* the same as lately, unless it has a lock */
	uint32_t held;  /* locks that the thread has, as far as they are told */

	_Alignas(64) uint64_t synced; /* what others look at: time of its last synchronisation, */
	uint64_t since;               /* and the same as `own` */

	_Alignas(64) uint64_t dropped; /* entries that found no room and no collector */
	uint64_t mended;  /* every slot below was written, or consumed */
	uint64_t room;    /* as limit, where limit is 0 so that every entry takes the slow path: with values */

	_Alignas(64) uint64_t tail; /* bytes ever consumed */
	uint64_t taken;             /* the same up to the slot, and never behind what was zeroed */
	uint32_t tail_bell;         /* futex: changes when tail has moved and someone waits */
	uint32_t tail_waited;       /* the producer sleeps on it */

	_Alignas(64) uint32_t state; /* enum ring_state */
	uint32_t process;            /* number of its process, from 1 */
	uint32_t thread;             /* number of the thread, from 1 */
	int32_t pid, tid;            /* 0: claimed for a process that is yet to be forked */

	_Alignas(64) struct gate_stand stand; /* MODE_GATE */

	_Alignas(64) struct heard heard[HEARD]; /* MODE_FILTER: by ring */

	_Alignas(64) struct loop_self loop; /* no mode at all */
	_Alignas(64) uint64_t trail_at; /* where the next token goes, from the start of the ring 32 | trail_counted(), 32 */
	uint32_t trail_limit;           /* it may go there without a look */
	uint32_t trail_last;            /* the place that was come by last: how far it is from the first */
	uint64_t trail_depth;           /* of the last call */
	uint8_t trail_busy;             /* enum trail_busy */
	uint8_t trails;                 /* the thread has a trail */
	uint32_t trail_lap;             /* how many times it was written to its end */
	uint32_t sites;                 /* that are known */
	uint64_t trail_told;            /* of trail_at, by TRAIL */
	uint64_t trail_told_bytes;      /* what it said */
	uint32_t ignored[3];            /* by bit of enum ignore_what: how many times it has begun */

	_Alignas(64) uint64_t trail_tail; /* the consumer's: bytes ever taken */
	uint32_t trail_waited;            /* the producer sleeps on tail_bell, for room in its trail */
	uint8_t usual[USUAL]; /* by place: accesses told from which nothing was to be learned; see filter.h */
	struct noted noted[NOTED]; /* MODE_FILTER: by address */
};

struct channel {
	uint64_t magic;
	uint32_t version;
	uint32_t mode;       /* enum channel_mode */
	uint64_t bytes;      /* of the file */
	uint64_t alive_list; /* the kernel's link to it, in the collector's memory */
	uint32_t alive;      /* the futex word of the collector's robust lock; see above */
	uint32_t closed;     /* the collector wants no more: record nothing from now on */

	_Alignas(64) uint64_t ticket; /* taken so far */
	_Alignas(64) uint32_t bell;   /* futex: the consumer sleeps on it */
	uint32_t asleep;              /* it does */
	_Alignas(64) uint32_t rings;  /* rings ever used: those below may be in use */
	uint32_t threads, processes;  /* given out so far */
	uint64_t dropped;             /* entries lost, by threads that found no ring */
	uint64_t unringed;            /* threads that found no ring */
	uint64_t quiet;               /* sections that were not told: MODE_QUIET */
	uint64_t modules;             /* that were told, or are just being told */
	uint64_t modules_plain;       /* the collector's: those that it knows, if it knows nothing of them that speaks against trails */
	uint32_t trails;              /* likewise: it wants them */

	_Alignas(64) struct gate_report gate; /* MODE_GATE */
	char order[ORDER_PATH];       /* likewise: the path of the order's file; see sched/order.h */
};

_Static_assert(sizeof(struct channel) <= CHANNEL_PAGE, "the header is one page");
_Static_assert(sizeof(struct self) < CHANNEL_PAGE, "so is a ring's, and its last word is 0");
_Static_assert(sizeof(struct trail_site) == SITE, "the hooks know it");
_Static_assert((int)ENTRY_KINDS <= 1 << KIND_BITS, "a kind is six bits");
_Static_assert(RINGS_MOST <= 1 << (56 - TIME_BITS), "a ring's number has its place beside the time");

static inline struct self *channel_ring(struct channel *c, uint32_t i)
{
	return (struct self *)((char *)c + CHANNEL_PAGE + (uint64_t)i * RING_SPAN);
}

static inline struct slot *ring_slot(struct self *s, uint64_t at)
{
	return (struct slot *)((char *)s + CHANNEL_PAGE + (at & (RING_BYTES - 1)));
}

/* Bytes ever written. */
static inline uint64_t trail_position(const struct self *s, uint64_t at)
{
	return (uint64_t)s->trail_lap * TRAIL_BYTES + (uint32_t)at - TRAIL_AT;
}

/* Events since that were expected, and not written. */
static inline uint32_t trail_counted(uint64_t at)
{
	return (uint32_t)(at >> 32);
}

static inline unsigned char *ring_trail(struct self *s, uint64_t at)
{
	return (unsigned char *)s + TRAIL_AT + (at & (TRAIL_BYTES - 1));
}

static inline bool entry_is_sync(uint8_t kind)
{
	return kind > ENTRY_TICKET && kind < ENTRY_KINDS;
}

#endif

/* SPDX-License-Identifier: MIT */
#include "stack.h"

#include "runtime/cfi.h"
#include "runtime/frames.h"
#include "runtime/marks.h"
#include "runtime/os.h"

enum {
	RULES = 1 << 11,       /* kept a thread */
	WALK_MOST = 1 << 14,   /* frames of a walk */
	FRAME_MOST = 1 << 26,  /* bytes of a frame */
	MARGIN = 1 << 16,      /* what the thread's own record, its variables and the guard take of its stack */
	FIRST_MOST = 100 << 20, /* the kernel maps nothing else so close to the first thread's stack */
};

/* A frame that a walk has met. */
struct met {
	uint64_t *slot;  /* the word that it returns by; of the innermost one, if that is not known, where it ends below */
	uint64_t from;   /* where it returns to; 0: not known */
	uint64_t start;  /* of its function */
	uint32_t mark;   /* 0: none */
	bool part;       /* of a function */
};

/* What is known of s->frames[i] besides. */
struct known {
	uint64_t *slot;
	uint64_t start;
	uint32_t mark;
};

struct stack {
	uint64_t low, high; /* the thread's own */
	bool looking, marking;
	bool unwinding;     /* marks were taken off for it, and are not to come back under its hands */
	uint32_t code;      /* the generation of code that the rules are for */
	struct marks_purse purse;
	struct cfi_rule rule[RULES];
	struct met met[WALK_MOST];
	struct known known[FRAMES_MOST];
};

enum ends { ENDS_MARK, ENDS_LAST, ENDS_BROKEN };

struct walk {
	struct cfi_registers at;
	uint32_t count;
	enum ends ends;
	bool unwinding; /* it ends at an unwinder */
	bool lent;      /* ENDS_MARK: the function has jumped to one of ours, and is still what calls it */
	uint32_t found; /* ENDS_MARK: which frame it was, counted from 1 */
};

static uint32_t code_generation = 1;
static struct cfi_module library; /* we ourselves */

void stack_code_changes(void)
{
	__atomic_add_fetch(&code_generation, 1, __ATOMIC_RELEASE);
}

static __thread uint64_t own_bytes __attribute__((tls_model("initial-exec")));

void stack_expect(uint64_t bytes)
{
	own_bytes = bytes;
}

static uint64_t first_bytes(void)
{
	uint64_t bytes = os_stack();

	return bytes < FIRST_MOST ? bytes : FIRST_MOST;
}

void stack_begin(struct self *s)
{
	struct stack *k = os_map(sizeof *k, -1);
	uint64_t bytes;

	if (!own_bytes && os_tid() == os_pid())
		own_bytes = first_bytes();
	bytes = own_bytes;

	s->shadow = k;
	if (!k)
		return;
	if (!library.end)
		cfi_module((uint64_t)(uintptr_t)stack_begin, &library);
	k->high = s->stack;
	k->low = bytes > 2 * MARGIN ? s->stack - bytes + MARGIN : s->stack;
	k->marking = bytes > 2 * MARGIN && marks_allowed();
}

/* Its frames are gone, whether they have returned or not. */
void stack_over(struct self *s)
{
	struct stack *k = s->shadow;

	if (!k)
		return;
	for (uint32_t i = 0; i < s->open; i++)
		if (k->known[i].mark)
			marks_free(&k->purse, k->known[i].mark);
	marks_empty(&k->purse);
	s->shadow = NULL;
	os_unmap(k, sizeof *k);
}

static bool is_own(const struct stack *k, const uint64_t *slot)
{
	return (uint64_t)slot >= k->low && (uint64_t)slot < k->high;
}

static bool is_library(uint64_t pc)
{
	return pc - 1 - library.start < library.end - library.start;
}

/* Rules. */

static const struct cfi_rule *rule_of(struct stack *k, uint64_t pc)
{
	struct cfi_rule *r = &k->rule[(pc ^ pc >> 11) % RULES];

	if (unlikely(r->pc != pc))
		cfi_find(pc, r);
	return r;
}

static void forget_old_code(struct stack *k)
{
	uint32_t now = __atomic_load_n(&code_generation, __ATOMIC_ACQUIRE);

	if (likely(k->code == now))
		return;
	for (size_t i = 0; i < RULES; i++)
		k->rule[i].pc = 0;
	k->code = now;
}

/* Walking. */

/* Where the frame with that mark is among those that are known, from 1; 0 if it is not: another thread had marked it. */
static uint32_t find_mark(const struct self *s, const uint64_t *slot, uint32_t mark)
{
	const struct stack *k = s->shadow;

	for (uint32_t i = s->open; i > 0; i--)
		if (k->known[i - 1].slot == slot)
			return k->known[i - 1].mark == mark ? i : 0;
	return 0;
}

/* A frame of which only the function is known. */
static void meet_stray(struct stack *k, struct walk *w)
{
	if (w->at.pc && !is_library(w->at.pc))
		k->met[w->count++] = (struct met){(uint64_t *)w->at.sp, 0, w->at.pc - 1, 0, false};
}

/* The frame at w->at; false if it is the last of the walk. */
static bool step(const struct self *s, struct walk *w)
{
	struct stack *k = s->shadow;
	const struct cfi_rule *r = rule_of(k, w->at.pc);
	uint64_t end, from, *slot;
	uint32_t mark;

	if (unlikely(r->sort != CFI_STEP)) {
		w->ends = r->sort == CFI_LAST ? ENDS_LAST : ENDS_BROKEN;
		if (r->sort == CFI_NONE)
			meet_stray(k, w);
		return false;
	}
	if (unlikely(r->unwinder)) {
		w->unwinding = true;
		return false;
	}
	end = cfi_end(r, &w->at);
	if (unlikely(end <= w->at.sp || end - w->at.sp > FRAME_MOST || end % 8))
		return false;
	slot = (uint64_t *)end - 1;
	from = *slot;
	mark = marks_number(from);
	if (mark)
		from = marks_table[mark].original;
	if (!is_library(w->at.pc))
		k->met[w->count++] = (struct met){slot, from, r->start, mark, r->part};
	if (mark && (w->found = find_mark(s, slot, mark)) != 0) {
		w->ends = ENDS_MARK;
		w->lent = is_library(w->at.pc);
		return false;
	}
	w->at = (struct cfi_registers){from, end, cfi_caller_fp(r, &w->at, end)};
	return w->count < WALK_MOST;
}

/* The stack of whoever calls this, which is the library: its own frames are walked like all others. */
static void walk(const struct self *s, struct walk *w)
{
	*w = (struct walk){.ends = ENDS_BROKEN};
#if defined __x86_64__
	__asm__ volatile("movq %%rbp, %0\n\tmovq %%rsp, %1\n\tleaq 1f(%%rip), %2\n1:"
		: "=m"(w->at.fp), "=m"(w->at.sp), "=r"(w->at.pc));
#else
	return;
#endif
	while (step(s, w))
		;
}

/* The C library's part of every stack: what calls main, and the start routines of threads. */

static bool is_system(uint64_t pc)
{
	static const char *const names[] = {"libc.so.6", "libpthread.so.0", "ld-linux", "libstdc++.so.6"};
	struct cfi_module m;

	if (!cfi_module(pc, &m))
		return false;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (cfi_is_named(&m, names[i]))
			return true;
	return false;
}

/* _start, which has no caller, was not met. */
static void drop_system(struct stack *k, struct walk *w)
{
	while (w->count && is_system(k->met[w->count - 1].start))
		w->count--;
}

/* What has changed. */

/*
 * Functions that have returned are the innermost; those that were not marked, and are inside of one that has returned,
 * are gone with it.
 */
static uint32_t still_open(const struct self *s)
{
	const struct stack *k = s->shadow;
	uint32_t open = s->open;

	for (uint32_t i = s->open; i > 0; i--) {
		uint32_t mark = k->known[i - 1].mark;

		if (mark && !marks_returned(mark))
			break;
		if (mark)
			open = i - 1;
	}
	return open;
}

/* Frames from `to` on are closed. A mark that was not returned by, and may still be on the stack, stays taken. */
static void cut(struct self *s, uint32_t to)
{
	struct stack *k = s->shadow;

	for (uint32_t i = s->open; i > to; i--) {
		uint32_t mark = k->known[i - 1].mark;

		if (mark && marks_returned(mark))
			marks_free(&k->purse, mark);
	}
	frames_cut(s, to);
}

static void mark(struct stack *k, struct known *n)
{
	if (k->marking && !k->unwinding && !n->mark && is_own(k, n->slot))
		n->mark = marks_put(&k->purse, n->slot);
}

static void open_frame(struct self *s, const struct met *m)
{
	struct stack *k = s->shadow;
	uint32_t n = s->open;

	if (n == FRAMES_MOST)
		return;
	self_tick(s);
	k->known[n] = (struct known){m->slot, m->start, m->mark};
	s->frames[n] = (struct frame){self_time(s), is_own(k, m->slot) ? (uint64_t)m->slot : 0, m->from, m->start + 1};
	s->open = n + 1;
	if (m->from)
		mark(k, &k->known[n]);
}

static bool is_function(const struct known *n, const struct met *m)
{
	return n->start == m->start || m->part;
}

static bool is_same(const struct self *s, uint32_t i, const struct met *m)
{
	const struct known *n = &((const struct stack *)s->shadow)->known[i];

	return n->slot == m->slot && n->mark == m->mark && s->frames[i].from == m->from && is_function(n, m);
}

/* How many frames, of those that are known, are outside of all that were met. */
static uint32_t outside(const struct self *s, const struct walk *w)
{
	const struct stack *k = s->shadow;
	const uint64_t *outermost = w->count ? k->met[w->count - 1].slot : (const uint64_t *)w->at.sp;
	bool own = is_own(k, outermost);
	uint32_t n = 0;

	while (n < s->open && is_own(k, k->known[n].slot) && (!own || k->known[n].slot > outermost))
		n++;
	return n;
}

/* How many of the known frames stay; *left are those that were met and are to be opened, the innermost ones. */
static uint32_t staying(struct self *s, const struct walk *w, uint32_t *left)
{
	struct stack *k = s->shadow;
	uint32_t n, i = w->count;

	if (w->ends == ENDS_MARK) {
		n = w->found;
		*left = w->lent ? i : i - 1;
		if (w->lent)
			return n;
		if (likely(is_function(&k->known[n - 1], &k->met[i - 1])))
			return n;
		/* Its function has ended with a jump to this one; the mark goes with it. */
		k->known[n - 1].mark = 0;
		*left = i;
		return n - 1;
	}
	n = w->ends == ENDS_LAST && (!i || is_own(k, k->met[i - 1].slot)) ? 0 : outside(s, w);
	for (; i && n < s->open && is_same(s, n, &k->met[i - 1]); i--, n++)
		if (k->met[i - 1].from)
			mark(k, &k->known[n]);
	*left = i;
	return n;
}

static void look(struct self *s)
{
	struct stack *k = s->shadow;
	struct walk w;
	uint32_t stay, left;

	forget_old_code(k);
	cut(s, still_open(s));
	walk(s, &w);
	k->unwinding = w.unwinding;
	if (w.ends == ENDS_LAST)
		drop_system(k, &w);
	stay = staying(s, &w, &left);
	cut(s, stay);
	while (left)
		open_frame(s, &k->met[--left]);
}

void stack_look(struct self *s)
{
	struct stack *k = s->shadow;

	if (!k || k->looking || !s->frames)
		return;
	k->looking = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	look(s);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	k->looking = false;
}

/* From the innermost on: each mark below the target is on a frame of a function that has not returned. */
void stack_leave(struct self *s, uint64_t target)
{
	struct stack *k = s->shadow;

	if (!k)
		return;
	for (uint32_t i = s->open; i > 0; i--) {
		struct known *n = &k->known[i - 1];

		if (!n->mark || (uint64_t)n->slot >= target)
			continue;
		if (!marks_returned(n->mark))
			marks_take(&k->purse, n->slot, n->mark);
		else
			marks_free(&k->purse, n->mark);
		n->mark = 0;
	}
	k->looking = false;
}

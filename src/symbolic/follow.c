/* SPDX-License-Identifier: MIT */
#include "follow.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/hash.h"
#include "event/event.h"
#include "symbolic/effects.h"
#include "symbolic/locks.h"
#include "symbolic/resolve.h"

#define KEY_OBJECT (UINT64_C(1) << 63)

/* So far the call that took a lock is looked for behind the lock's event. */
enum { CALL_AHEAD = 64 };

/* ---- the file ---- */

static bool no_walk(struct fault *fault, const char *path, const char *why)
{
	fault_set(fault, STATUS_TRACE, "%s: is no walk: %s", path, why);
	return false;
}

/* A copy, in private memory: the file may be cut or written to meanwhile. */
static bool read_all(struct follow *f, int fd, const char *path, struct fault *fault)
{
	struct walk_head head;
	struct stat st;
	size_t bytes, room;
	char *to;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || read(fd, &head, sizeof head) != (ssize_t)sizeof head)
		return no_walk(fault, path, "it is too short");
	if (memcmp(head.magic, WALK_MAGIC, sizeof head.magic) != 0)
		return no_walk(fault, path, "it does not begin like one");
	room = (size_t)st.st_size - sizeof head;
	to = mmap(NULL, room + sizeof *f->record, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (to == MAP_FAILED)
		return no_walk(fault, path, strerror(errno));
	for (bytes = 0; bytes < room;) {
		size_t want = room - bytes < 1 << 20 ? room - bytes : 1 << 20;
		ssize_t got = read(fd, to + bytes, want);

		if (got <= 0 || !to[bytes / sizeof *f->record * sizeof *f->record])
			break;
		bytes += (size_t)got;
	}
	f->record = (const struct walk_record *)to;
	while (f->records < bytes / sizeof *f->record && f->record[f->records].kind)
		f->records++;
	return true;
}

bool follow_open(struct follow *f, struct arena *a, const char *path, struct fault *fault)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool good;

	*f = (struct follow){.arena = a};
	if (fd < 0) {
		fault_set(fault, STATUS_USAGE, "%s: %s", path, strerror(errno));
		return false;
	}
	good = read_all(f, fd, path, fault);
	close(fd);
	return good;
}

struct unit *follow_unit(const struct follow *f, const struct walk_record *r)
{
	uint32_t n = map_get(&f->modules, r->module);

	return n ? &f->units->at[n - 1] : NULL;
}

/* ---- memory ---- */

static struct follow_object *object_at(struct follow *f, uint64_t address, uint32_t *number)
{
	struct extent found;

	if (!extents_find(&f->extents, address, &found))
		return NULL;
	*number = map_get(&f->by_start, found.start);
	return *number ? seg_at(&f->objects, *number, sizeof(struct follow_object)) : NULL;
}

uint64_t follow_key(struct follow *f, uint64_t address, uint16_t thread, bool *local)
{
	uint32_t number = 0;
	struct follow_object *o = object_at(f, address, &number);

	*local = o && !o->escaped && o->maker == thread;
	if (!o || address - o->start > UINT32_MAX)
		return address;
	return KEY_OBJECT | (uint64_t)(number & INT32_MAX) << 32 | (address - o->start);
}

static void remember(struct follow *f, uint64_t key, uint64_t value)
{
	uint32_t *slot = map_put(&f->memory, key);

	if (!*slot)
		*slot = ++f->word_count;
	*(uint64_t *)seg_at(&f->words, *slot, sizeof(uint64_t)) = value;
}

bool follow_memory(const struct follow *f, uint64_t key, uint64_t *value)
{
	uint32_t slot = map_get(&f->memory, key);

	if (slot)
		*value = *(uint64_t *)seg_at((struct seg *)&f->words, slot, sizeof(uint64_t));
	return slot != 0;
}

struct variable *follow_variable(struct follow *f, uint64_t key)
{
	uint32_t n = map_get(&f->by_key, key);

	return n ? seg_at(&f->variables, n, sizeof(struct variable)) : NULL;
}

static void escape(struct follow *f, uint64_t pointer)
{
	uint32_t number;
	struct follow_object *o = object_at(f, pointer, &number);

	if (o)
		o->escaped = true;
}

/* A pointer is written to where others can read it. */
static void write_pointer(struct follow *f, uint64_t address, uint64_t pointer)
{
	uint32_t number;
	struct follow_object *at = object_at(f, address, &number);

	if (at ? at->escaped : units_has_data(f->units, address))
		escape(f, pointer);
}

static void allocate(struct follow *f, uint16_t t, uint64_t start, uint64_t size)
{
	struct follow_thread *thread = follow_thread(f, t);

	extents_add(&f->extents, start, size ? size : 1);
	*map_put(&f->by_start, start) = ++f->object_count;
	*(struct follow_object *)seg_at(&f->objects, f->object_count, sizeof(struct follow_object)) =
		(struct follow_object){start, size, t, false};
	thread->own = arena_reserve(f->arena, thread->own, &thread->own_room, thread->owns, sizeof *thread->own);
	thread->own[thread->owns++] = f->object_count;
}

/* A thread that is made may be given anything that its maker has. */
static void escape_all(struct follow *f, struct follow_thread *thread)
{
	for (size_t i = 0; i < thread->owns; i++)
		((struct follow_object *)seg_at(&f->objects, thread->own[i], sizeof(struct follow_object)))->escaped = true;
	thread->owns = 0;
}

/* ---- clocks ---- */

static uint32_t clock_keep(struct follow *f, uint32_t *at, size_t count)
{
	f->clock = arena_reserve(f->arena, f->clock, &f->clock_room, f->clocks, sizeof *f->clock);
	f->clock[f->clocks] = (struct follow_clock){at, count};
	return (uint32_t)f->clocks++;
}

/* A copy of a clock, joined with another, in which a thread has gone on by one. */
static uint32_t clock_next(struct follow *f, uint32_t x, uint32_t y, uint16_t t)
{
	struct follow_clock a = f->clock[x], b = f->clock[y];
	size_t most = a.count > b.count ? a.count : b.count, count = most > t ? most : (size_t)t + 1;
	uint32_t *to = arena_alloc(f->arena, count * sizeof *to);

	if (a.count)
		memcpy(to, a.at, a.count * sizeof *to);
	for (size_t i = 0; i < b.count; i++)
		to[i] = to[i] > b.at[i] ? to[i] : b.at[i];
	to[t]++;
	return clock_keep(f, to, count);
}

bool follow_before(const struct follow *f, uint16_t thread, uint32_t clock, uint32_t other)
{
	struct follow_clock a = f->clock[clock], b = f->clock[other];

	return thread < a.count && thread < b.count && b.at[thread] >= a.at[thread];
}

static struct follow_thread *meet_thread(struct follow *f, uint16_t t)
{
	struct follow_thread *thread = follow_thread(f, t);

	if (!thread->met) {
		thread->met = true;
		thread->clock = clock_next(f, thread->clock, 0, t);
	}
	return thread;
}

static void fork_thread(struct follow *f, uint16_t t, uint64_t child)
{
	struct follow_thread *thread = follow_thread(f, t), *other;

	thread->cut++;
	escape_all(f, thread);
	if (child > UINT16_MAX)
		return;
	other = follow_thread(f, (uint16_t)child);
	f->alive++;
	if (!other->met)
		other->clock = thread->clock;
	thread->clock = clock_next(f, thread->clock, 0, t);
}

static void join_thread(struct follow *f, uint16_t t, uint64_t child)
{
	struct follow_thread *thread = follow_thread(f, t);

	thread->cut++;
	if (child > UINT16_MAX)
		return;
	f->alive -= f->alive > 1;
	thread->clock = clock_next(f, thread->clock, follow_thread(f, (uint16_t)child)->clock, t);
}

/* ---- frames ---- */

bool frame_get(const struct frame *frame, uint32_t slot, uint64_t *value)
{
	const struct frame_value *v = &frame->value[slot];

	if (v->of == frame->activation)
		*value = v->value;
	return v->of == frame->activation;
}

static void frame_set(struct frame *frame, uint32_t slot, uint64_t value)
{
	frame->value[slot] = (struct frame_value){value, frame->activation};
}

static struct frame *frame_new(struct follow *f, struct unit_function *function)
{
	struct frame *frame = function->spare;

	if (frame) {
		function->spare = frame->below;
		return frame;
	}
	frame = arena_alloc(f->arena, sizeof *frame);
	frame->function = function;
	frame->value = arena_alloc(f->arena, (function->count + function->parameters + 1) * sizeof *frame->value);
	return frame;
}

uint32_t follow_suppose(struct follow *f, struct unit_function *function, uint32_t below)
{
	*follow_activation(f, ++f->activation_count) = (struct activation){function, below};
	return f->activation_count;
}

/* Whether the instruction may have called the function. */
static bool may_call(const struct follow *f, const struct unit *u, LLVMValueRef at, const struct unit_function *what)
{
	LLVMValueRef called = LLVMIsACallInst(at) && !LLVMIsAIntrinsicInst(at) ? unit_called(at) : NULL;

	return called && (!LLVMIsAFunction(called) || units_body(f->units, u, called) == what);
}

/* The call that leads into the function: the first one from where the frame is, without a branch. */
static uint32_t find_call(const struct follow *f, const struct frame *frame, const struct unit_function *function)
{
	struct unit *u = frame->function->unit;
	uint32_t at = frame->next;

	for (uint32_t steps = 0; steps < frame->function->count; steps++, at++) {
		struct unit_block *b = unit_block_at(u, at);

		if (!b || unit_function_at(u, at) != frame->function)
			return 0;
		if (may_call(f, u, unit_value(u, at), function))
			return at;
		if (at + 1 < b->first + b->count)
			continue;
		if (b->tos != 1)
			return 0;
		at = frame->function->block[b->to[0]].first - 1;
	}
	return 0;
}

static void enter(struct follow *f, struct follow_thread *thread, struct unit_function *function)
{
	struct frame *frame = frame_new(f, function);
	uint32_t below = thread->top ? thread->top->activation : 0;

	frame->next = function->first;
	frame->call = thread->top ? find_call(f, thread->top, function) : 0;
	frame->below = thread->top;
	frame->activation = follow_suppose(f, function, below);
	frame->from = frame->to = 0;
	frame->went = false;
	frame->waiting = NULL;
	thread->top = frame;
}

static void leave(struct follow *f, uint16_t t)
{
	struct follow_thread *thread = follow_thread(f, t);
	struct frame *frame = thread->top;

	if (!frame)
		return;
	thread->top = frame->below;
	if (f->left)
		f->left(f->to, f, t, frame);
	frame->below = frame->function->spare;
	frame->function->spare = frame;
}

/* The frame that an instruction belongs to: those above were left by other ways than a return. NULL: there is none. */
static struct frame *frame_for(struct follow *f, uint16_t t, const struct unit_function *function)
{
	struct follow_thread *thread = follow_thread(f, t);
	struct frame *frame = thread->top;

	while (frame && frame->function != function)
		frame = frame->below;
	while (frame && thread->top != frame)
		leave(f, t);
	return frame;
}

/* ---- records ---- */

static void take_module(struct follow *f, const struct walk_record *r)
{
	struct unit *u = units_find(f->units, r->a);

	if (u)
		*map_put(&f->modules, r->module) = u->number + 1;
}

static void take_enter(struct follow *f, const struct walk_record *r, struct unit *u)
{
	struct unit_function *function = unit_function_at(u, r->ordinal);
	uint32_t *slot = map_put(&f->code, r->a);

	enter(f, follow_thread(f, r->thread), function);
	units_place(f->units, function, r->a);
	if (*slot)
		return;
	f->entry = arena_reserve(f->arena, f->entry, &f->entry_room, f->entries, sizeof *f->entry);
	f->entry[f->entries++] = function;
	*slot = (uint32_t)f->entries;
}

static void take_argument(struct follow *f, const struct walk_record *r)
{
	struct frame *frame = follow_thread(f, r->thread)->top;

	if (frame && r->b < frame->function->parameters)
		frame_set(frame, frame_argument(frame, (uint32_t)r->b), r->a);
}

/* An address that was used tells what it was made from. */
static void learn_address(struct frame *frame, const struct unit *u, LLVMValueRef pointer, uint64_t address)
{
	int64_t offset;
	LLVMValueRef base = resolve_base(u, pointer, &offset);
	uint32_t ordinal = unit_ordinal(u, base);

	if (ordinal >= frame->function->first && ordinal - frame->function->first < frame->function->count)
		frame_set(frame, ordinal - frame->function->first, address - (uint64_t)offset);
	for (uint32_t i = 0; !ordinal && LLVMIsAArgument(base) && i < frame->function->parameters; i++)
		if (LLVMGetParam(frame->function->ref, i) == base)
			frame_set(frame, frame_argument(frame, i), address - (uint64_t)offset);
}

static struct variable *variable_for(struct follow *f, uint64_t key)
{
	uint32_t *n = map_put(&f->by_key, key);
	struct variable *x;

	if (!*n)
		*n = ++f->variable_count;
	x = seg_at(&f->variables, *n, sizeof *x);
	x->key = key;
	return x;
}

static struct strand *strand_for(struct follow *f, struct variable *x, uint16_t thread)
{
	struct strand *s = x->strands;

	while (s && s->thread != thread)
		s = s->next;
	if (!s) {
		s = arena_alloc(f->arena, sizeof *s);
		s->thread = thread;
		s->next = x->strands;
		x->strands = s;
	}
	return s;
}

static void keep_access(struct follow *f, const struct seen *seen)
{
	struct strand *s = strand_for(f, variable_for(f, seen->key), seen->thread);
	struct follow_thread *thread = follow_thread(f, seen->thread);

	f->seen = arena_reserve(f->arena, f->seen, &f->seen_room, f->seen_count, sizeof *f->seen);
	f->seen[f->seen_count] = *seen;
	s->at = arena_reserve(f->arena, s->at, &s->room, s->count, sizeof *s->at);
	s->at[s->count++] = (uint32_t)f->seen_count;
	thread->accesses =
		arena_reserve(f->arena, thread->accesses, &thread->access_room, thread->access_count, sizeof *thread->accesses);
	thread->accesses[thread->access_count++] = (uint32_t)f->seen_count++;
}

static LLVMValueRef pointer_of(LLVMValueRef at)
{
	if (LLVMIsALoadInst(at) || LLVMIsAAtomicRMWInst(at) || LLVMIsAAtomicCmpXchgInst(at))
		return LLVMGetOperand(at, 0);
	return LLVMIsAStoreInst(at) ? LLVMGetOperand(at, 1) : NULL;
}

static void take_access(struct follow *f, const struct walk_record *r, struct unit *u, struct frame *frame)
{
	LLVMValueRef at = unit_value(u, r->ordinal), pointer = pointer_of(at);
	struct follow_thread *thread = follow_thread(f, r->thread);
	struct seen seen = {.place = {u->number, r->ordinal}, .activation = frame->activation, .hold = thread->hold,
		.cut = thread->cut, .clock = thread->clock, .thread = r->thread, .write = r->kind == WALK_STORE,
		.alone = f->alive < 2};
	uint32_t number = 0;
	struct follow_object *o = object_at(f, r->a, &number);

	if (o && o->maker != r->thread)
		o->escaped = true;
	seen.key = follow_key(f, r->a, r->thread, &seen.local);
	if (seen.write && r->width == 64)
		write_pointer(f, r->a, r->b);
	remember(f, seen.key, r->b);
	if (pointer)
		learn_address(frame, u, pointer, r->a);
	if (LLVMIsALoadInst(at))
		frame_set(frame, r->ordinal - frame->function->first, r->b);
	keep_access(f, &seen);
}

static void take_result(struct follow *f, const struct walk_record *r, struct unit *u, struct frame *frame)
{
	LLVMValueRef at = unit_value(u, r->ordinal), called = LLVMIsACallInst(at) ? unit_called(at) : NULL;

	frame_set(frame, r->ordinal - frame->function->first, r->a);
	if (called && LLVMIsAFunction(called) && effect_of(LLVMGetValueName(called))->what == EFFECT_CUT)
		follow_thread(f, r->thread)->cut++;
}

uint32_t follow_edge(const struct unit *u, const struct walk_record *r)
{
	LLVMValueRef at = unit_value(u, r->ordinal);
	unsigned count = at && LLVMIsATerminatorInst(at) ? LLVMGetNumSuccessors(at) : 0;

	if (count < 2 || (r->kind == WALK_BRANCH ? !LLVMIsABranchInst(at) : !LLVMIsASwitchInst(at)))
		return UINT32_MAX;
	if (r->kind == WALK_BRANCH)
		return !r->a;
	for (unsigned i = 1; i < count; i++) {
		LLVMValueRef value = LLVMGetOperand(at, 2 * i);

		if (LLVMIsAConstantInt(value) && LLVMConstIntGetZExtValue(value) == r->a)
			return i;
	}
	return 0;
}

/* Values of a block's phis, by the block that the way came from. All of them are worked out before any is set. */
static void take_phis(struct follow *f, struct frame *frame, uint32_t from, uint32_t to)
{
	enum { PHIS = 64 };
	struct unit_block *block = &frame->function->block[to];
	struct scope scope = {.follow = f, .function = frame->function, .frame = frame, .bound = f->nothing};
	struct known_value value[PHIS];
	uint32_t count = 0;

	for (LLVMValueRef i = LLVMGetFirstInstruction(block->ref); i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i)) {
		if (count == PHIS)
			break;
		value[count] = (struct known_value){KNOWN_NOT, 0};
		for (unsigned k = 0; k < LLVMCountIncoming(i); k++)
			if (from < frame->function->blocks && LLVMGetIncomingBlock(i, k) == frame->function->block[from].ref)
				value[count] = resolve(&scope, LLVMGetIncomingValue(i, k));
		count++;
	}
	for (uint32_t k = 0; k < count; k++) {
		uint32_t slot = block->first + k - frame->function->first;

		frame->value[slot].of = 0;
		if (value[k].known == KNOWN_VALUE)
			frame_set(frame, slot, value[k].value);
	}
}

/* The way goes along an edge. */
static void go(struct follow *f, struct frame *frame, uint32_t from, uint32_t to)
{
	frame->from = from;
	frame->to = to;
	frame->next = frame->function->block[to].first;
	take_phis(f, frame, from, to);
}

/* A join is reached: from the last place that was told along blocks that have one successor, which tell nothing. */
static void take_block(struct follow *f, struct frame *frame, uint32_t block)
{
	struct unit_block *at = frame->function->block;
	uint32_t from = frame->to, to = UINT32_MAX;
	bool told = frame->went && frame->to == block;

	frame->went = false;
	if (told)
		return;
	for (uint32_t steps = 0; at[from].tos == 1 && steps <= frame->function->blocks; steps++) {
		to = at[from].to[0];
		if (to == block)
			break;
		from = to;
	}
	go(f, frame, to == block ? from : UINT32_MAX, block);
}

static void take_branch(struct follow *f, const struct walk_record *r, struct unit *u, struct frame *frame)
{
	uint32_t edge = follow_edge(u, r);
	struct unit_block *block = unit_block_at(u, r->ordinal);

	if (edge >= block->tos) {
		f->skipped++;
		return;
	}
	frame->from = (uint32_t)(block - frame->function->block);
	frame->to = block->to[edge];
	if (f->branch)
		f->branch(f->to, f, r->thread, (struct place){u->number, r->ordinal});
	go(f, frame, frame->from, frame->to);
	frame->went = true;
}

/* ---- events ---- */

/* The class of the lock that was just taken, by the call that took it: its result comes soon. */
static uint64_t class_ahead(const struct follow *f, uint16_t thread)
{
	for (size_t i = f->now + 1; i < f->records && i < f->now + CALL_AHEAD; i++) {
		const struct walk_record *r = &f->record[i];
		struct unit *u = r->thread == thread && r->kind == WALK_RESULT ? follow_unit(f, r) : NULL;
		LLVMValueRef at = u ? unit_value(u, r->ordinal) : NULL;

		if (at)
			return LLVMIsACallInst(at) && LLVMGetNumArgOperands(at) ? lock_class(LLVMGetOperand(at, 0)) : 0;
	}
	return 0;
}

static void take_lock(struct follow *f, const struct walk_record *r, bool shared)
{
	struct follow_thread *thread = follow_thread(f, r->thread);
	struct held_lock lock = {.address = r->a, .acquisition = ++f->acquisitions, .class = class_ahead(f, r->thread),
		.shared = shared};

	if (r->a)
		thread->hold = holds_take(&f->holds, thread->hold, &lock);
}

static void take_unlock(struct follow *f, const struct walk_record *r)
{
	struct follow_thread *thread = follow_thread(f, r->thread);

	if (r->a)
		thread->hold = holds_give(&f->holds, thread->hold, &(struct held_lock){.address = r->a});
}

/* A wait gives the mutex back; that it has it again is told by itself. */
static void take_wait(struct follow *f, const struct walk_record *r)
{
	struct follow_thread *thread = follow_thread(f, r->thread);

	thread->cut++;
	if (r->b)
		thread->hold = holds_drop(&f->holds, thread->hold, r->b);
}

static void take_event(struct follow *f, const struct walk_record *r)
{
	struct follow_thread *thread = follow_thread(f, r->thread);

	switch (r->width) {
	case EVENT_ACQUIRE: take_lock(f, r, false); break;
	case EVENT_ACQUIRE_SHARED: take_lock(f, r, true); break;
	case EVENT_RELEASE: case EVENT_RELEASE_SHARED: take_unlock(f, r); break;
	case EVENT_WAIT: take_wait(f, r); break;
	case EVENT_FORK: fork_thread(f, r->thread, r->a); break;
	case EVENT_JOIN: join_thread(f, r->thread, r->a); break;
	case EVENT_BARRIER: case EVENT_SEM_WAIT: thread->cut++; break;
	case EVENT_ALLOC: allocate(f, r->thread, r->a, r->b); break;
	case EVENT_FREE: extents_remove(&f->extents, r->a); break;
	default: break;
	}
}

/* What is returned is the value of the call. */
static void take_exit(struct follow *f, const struct walk_record *r, struct unit *u, struct frame *frame)
{
	LLVMValueRef at = unit_value(u, r->ordinal);
	struct frame *caller = frame->below;
	struct known_value result = {KNOWN_NOT, 0};
	struct scope scope = {.follow = f, .function = frame->function, .frame = frame, .bound = f->nothing};

	if (caller && frame->call) {
		uint32_t slot = frame->call - caller->function->first;

		if (LLVMIsAReturnInst(at) && LLVMGetNumOperands(at))
			result = resolve(&scope, LLVMGetOperand(at, 0));
		caller->next = frame->call + 1;
		caller->value[slot].of = 0;
		if (result.known == KNOWN_VALUE)
			frame_set(caller, slot, result.value);
	}
	leave(f, r->thread);
}

static void take_code(struct follow *f, const struct walk_record *r)
{
	struct unit *u = follow_unit(f, r);
	struct unit_function *function = u ? unit_function_at(u, r->ordinal) : NULL;
	struct frame *frame = function && r->kind != WALK_ENTER ? frame_for(f, r->thread, function) : NULL;

	if (!function || (r->kind != WALK_ENTER && !frame)) {
		f->skipped++;
		return;
	}
	if (frame)
		frame->next = r->ordinal + 1;
	if (frame && f->step)
		f->step(f->to, f, r->thread, u->instruction[r->ordinal].block);
	switch (r->kind) {
	case WALK_ENTER: take_enter(f, r, u); break;
	case WALK_EXIT: take_exit(f, r, u, frame); break;
	case WALK_LOAD: case WALK_STORE: take_access(f, r, u, frame); break;
	case WALK_RESULT: take_result(f, r, u, frame); break;
	case WALK_BLOCK: take_block(f, frame, u->instruction[r->ordinal].block); break;
	default: take_branch(f, r, u, frame); break;
	}
}

static void take(struct follow *f, const struct walk_record *r)
{
	meet_thread(f, r->thread);
	switch (r->kind) {
	case WALK_FULL: f->full = true; break;
	case WALK_MODULE: take_module(f, r); break;
	case WALK_EVENT: take_event(f, r); break;
	case WALK_ARGUMENT: take_argument(f, r); break;
	case WALK_ENTER: case WALK_EXIT: case WALK_LOAD: case WALK_STORE: case WALK_RESULT: case WALK_BLOCK: case WALK_BRANCH:
	case WALK_SWITCH: take_code(f, r); break;
	default: break;
	}
}

static void init(struct follow *f, struct units *us)
{
	struct arena *a = f->arena;

	f->units = us;
	f->alive = 1;
	holds_init(&f->holds, a);
	extents_init(&f->extents, a);
	map_init(&f->modules, a);
	map_init(&f->nothing, a);
	map_init(&f->by_key, a);
	map_init(&f->memory, a);
	map_init(&f->by_start, a);
	map_init(&f->code, a);
	seg_init(&f->threads, a, sizeof(struct follow_thread));
	seg_init(&f->activations, a, sizeof(struct activation));
	seg_init(&f->variables, a, sizeof(struct variable));
	seg_init(&f->words, a, sizeof(uint64_t));
	seg_init(&f->objects, a, sizeof(struct follow_object));
	clock_keep(f, NULL, 0);
}

void follow_run(struct follow *f, struct units *us)
{
	init(f, us);
	for (f->now = 0; f->now < f->records; f->now++)
		take(f, &f->record[f->now]);
}

/* SPDX-License-Identifier: MIT */
#include "calm.h"

#include "runtime/frames.h"
#include "runtime/modules.h"
#include "runtime/mute.h"
#include "runtime/os.h"

enum {
	FUNCTIONS_MOST = 1 << 12,
	SITES_MOST = 1 << 14,
	EXITS_MOST = 64,
	FUNCTION_BYTES = 1 << 16, /* beyond that no end is looked for */
	HOOK_BYTES = 1024,        /* the same, of a hook in the program */
	LOOK_BYTES = 16,          /* that are read behind a place in the code */
	CLEANUP_BYTES = 64,
	LOOKS = 64,               /* at the stack, for one place, until another function is muted */
	AGAIN = 64,               /* activations, until it is tried again */
};

#define GENERATION ((uint64_t)1 << ADDRESS_BITS)

/* Its code from the return of the entry's call on. Sites: where the exits are. */
struct muted {
	uint8_t *from, *to;
	uint32_t site, sites;
	bool out;
};

enum hook { HOOK_NONE, HOOK_ENTRY, HOOK_EXIT };

bool calm_wanted, calm_has_returned;
uint64_t calm_known[1 << KNOWN_BITS], calm_generation = GENERATION;

/* Who has mute_begin() writes; a function is there for all when it is counted. */
static struct muted *functions;
static uint8_t **sites;
static uint32_t count, sites_used;
static uint64_t lowest = UINT64_MAX, highest; /* all are between */
static uint8_t looks[1 << KNOWN_BITS];

/* By place as in frames_calm: how many activations are told (calm_tells), and whether the calls cannot be changed. */
static uint32_t told[1 << CALM_BITS];
static bool kept[1 << CALM_BITS];

/* Hooks. */

extern void __tsan_func_entry(void *from), __tsan_func_exit(void);
extern char __fission_func_entry[] __attribute__((weak)), __fission_func_exit[] __attribute__((weak));

static bool is_within(const struct code *code, const uint8_t *at, size_t bytes)
{
	return at >= code->from && at < code->to && (size_t)(code->to - at) >= bytes;
}

/*
 * A hook in the program ends with its address for the door, and with a jump through the slot that has the door:
 * `lea hook(%rip), %r11; jmp *slot(%rip)`.
 */
static const uintptr_t *door_slot(const struct code *code, const uint8_t *hook)
{
	for (const uint8_t *at = hook; at < hook + HOOK_BYTES && is_within(code, at, LOOK_BYTES); at++)
		if (at[0] == 0x4c && at[1] == 0x8d && at[2] == 0x1d && mute_target(at + 2) == hook)
			return mute_slot(at + 7);
	return NULL;
}

/* Which hook the call or jump goes to. */
static enum hook hook_of(const struct code *code, const uint8_t *at)
{
	const uint8_t *target = mute_target(at);
	const uintptr_t *slot;

	if (!is_within(code, target, LOOK_BYTES))
		return HOOK_NONE;
	slot = mute_slot(target);
	if (!slot)
		slot = door_slot(code, target);
	if (!slot || !modules_share((uintptr_t)at, (uintptr_t)slot))
		return HOOK_NONE;
	if (*slot == (uintptr_t)__tsan_func_entry || *slot == (uintptr_t)__fission_func_entry)
		return HOOK_ENTRY;
	return *slot == (uintptr_t)__tsan_func_exit || *slot == (uintptr_t)__fission_func_exit ? HOOK_EXIT : HOOK_NONE;
}

/* Functions. */

static struct muted *muted_around(const uint8_t *at)
{
	for (uint32_t i = 0, n = __atomic_load_n(&count, __ATOMIC_ACQUIRE); i < n; i++)
		if (at >= functions[i].from && at < functions[i].to)
			if (__atomic_load_n(&functions[i].out, __ATOMIC_RELAXED))
				return &functions[i];
	return NULL;
}

/* Another muted function comes next, or the end of all. NULL: nothing does for long. */
static uint8_t *next_muted(const uint8_t *from, const struct code *code)
{
	uint8_t *next = code->to - LOOK_BYTES;

	for (uint32_t i = 0; i < count; i++)
		if (functions[i].from > from && functions[i].from < next)
			next = functions[i].from - CALL_BYTES;
	return next;
}

static bool add_site(struct muted *f, uint8_t *at)
{
	if (f->sites == EXITS_MOST)
		return false;
	sites[f->site + f->sites++] = at;
	return true;
}

/*
 * The exits, and the end. Bytes that look like a call of the hook, and are in the middle of something else, would have
 * to have all four bytes of the distance right. False: there are none, or too many, or there is no end.
 */
static bool find_exits(struct muted *f, const struct code *code)
{
	f->to = next_muted(f->from, code);
	for (uint8_t *at = f->from; at < f->to; at++) {
		enum hook hook = *at == CALL_CODE || *at == JUMP_CODE ? hook_of(code, at) : HOOK_NONE;

		if (at > f->from + FUNCTION_BYTES || (hook == HOOK_EXIT && !add_site(f, at)))
			return false;
		if (hook == HOOK_ENTRY)
			f->to = at;
	}
	return f->sites;
}

/*
 * Whether what the function jumps to is only what an exception does on its way through: it comes to a call of the exit
 * hook, which finds no frame, and goes on.
 */
static bool is_cleanup(const struct code *code, const uint8_t *part)
{
	for (const uint8_t *at = part; at < part + CLEANUP_BYTES && is_within(code, at, LOOK_BYTES); at++)
		if (*at == CALL_CODE || *at == JUMP_CODE)
			if (hook_of(code, at) == HOOK_EXIT)
				return *at == CALL_CODE;
	return false;
}

/* Whether it goes on elsewhere: by a jump, with or without a condition, to other code than a hook. */
static bool has_parts(const struct muted *f, const struct code *code)
{
	for (const uint8_t *at = f->from; at < f->to; at++) {
		const uint8_t *jump = at[0] == 0x0f && (at[1] & 0xf0) == 0x80 ? at + 1 : at, *to = mute_target(jump);

		if (jump == at && *at != JUMP_CODE)
			continue;
		if ((to < f->from || to >= f->to) && is_within(code, to, 1) && hook_of(code, jump) != HOOK_EXIT &&
			!is_cleanup(code, to))
			return true;
	}
	return false;
}

static bool plan(struct muted *f, uint8_t *pc)
{
	struct code code;

	*f = (struct muted){.from = pc, .site = sites_used};
	if (!modules_code((uintptr_t)pc, &code) || !is_within(&code, pc, LOOK_BYTES))
		return false;
	if (pc[-CALL_BYTES] != CALL_CODE || hook_of(&code, pc - CALL_BYTES) != HOOK_ENTRY || muted_around(pc))
		return false;
	return find_exits(f, &code) && !has_parts(f, &code);
}

/* The exits first: what was entered before is cleared by others, but what is left without an entry is not. */
static bool take_out(struct muted *f)
{
	uint8_t *call = f->from - CALL_BYTES;

	if (!mute_open(call, f->to))
		return false;
	for (uint32_t i = 0; i < f->sites; i++)
		mute_take_out(sites[f->site + i]);
	mute_take_out(call);
	mute_close(call, f->to);
	return true;
}

static bool has_room(void)
{
	if (mute_torn)
		return false;
	if (!functions)
		functions = os_map(FUNCTIONS_MOST * sizeof *functions, -1);
	if (!sites)
		sites = os_map(SITES_MOST * sizeof *sites, -1);
	return functions && sites && count < FUNCTIONS_MOST && sites_used + EXITS_MOST <= SITES_MOST;
}

/* Under mute_begin(). */
static bool mute_function(uint8_t *pc)
{
	struct muted *f;

	if (!has_room())
		return false;
	f = &functions[count];
	if (!plan(f, pc) || !take_out(f))
		return false;
	f->out = true;
	lowest = lowest < (uint64_t)f->from ? lowest : (uint64_t)f->from;
	highest = highest > (uint64_t)f->to ? highest : (uint64_t)f->to;
	sites_used += f->sites;
	__atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
	__atomic_add_fetch(&calm_generation, GENERATION, __ATOMIC_RELEASE);
	return true;
}

static bool is_muted(const uint8_t *pc)
{
	const struct muted *f = muted_around(pc);

	return f && f->from == pc;
}

/* The exits first again. False: the code cannot be written any more. */
static bool put_back(struct muted *f)
{
	uint8_t *call = f->from - CALL_BYTES;

	calm_has_returned = true;
	if (!mute_open(call, f->to))
		return false;
	for (uint32_t i = 0; i < f->sites; i++)
		mute_put_back(sites[f->site + i]);
	mute_put_back(call);
	mute_close(call, f->to);
	__atomic_store_n(&f->out, false, __ATOMIC_RELEASE);
	return true;
}

/*
 * All functions that are counted there get their calls back: whoever enters one of them from here on has an exit. While one
 * cannot, none of them is told. False: there are none.
 */
static bool wake_all(uint16_t *calm)
{
	bool any = false, all = true;

	for (uint32_t i = 0; i < count; i++)
		if (frames_calm_of((uint64_t)functions[i].from) == calm) {
			any = true;
			all &= !functions[i].out || put_back(&functions[i]);
		}
	if (any && all)
		__atomic_store_n(calm, WOKEN, __ATOMIC_RELEASE);
	else if (any)
		kept[calm - frames_calm] = true;
	return any;
}

static uint32_t *told_of(uint64_t pc)
{
	return &told[frames_calm_of(pc) - frames_calm];
}

static bool is_told(uint64_t pc)
{
	return __atomic_load_n(told_of(pc), __ATOMIC_SEQ_CST);
}

/*
 * A function whose place is counted together with that of a muted one is muted when it comes; or all are woken. By now the
 * state may be another one.
 */
static bool mute_or_wake(uint8_t *pc, uint16_t *calm)
{
	bool muted = false;

	if (!mute_begin())
		return false;
	if (__atomic_load_n(calm, __ATOMIC_SEQ_CST) == MUTED) {
		muted = is_muted(pc) || (!is_told((uint64_t)pc) && mute_function(pc));
		if (!muted && !mute_torn && !wake_all(calm))
			__atomic_store_n(calm, LOUD, __ATOMIC_RELEASE);
	}
	mute_end();
	return muted;
}

/* From the state to another one; false: somebody else has changed it. */
static bool change(uint16_t *calm, uint16_t from, uint16_t to)
{
	return __atomic_compare_exchange_n(calm, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

bool calm_enter(uint64_t pc)
{
	uint16_t *calm = frames_calm_of(pc), n = __atomic_load_n(calm, __ATOMIC_RELAXED), next;

	if (n == LOUD || n == WOKEN)
		return false;
	next = !calm_wanted ? LOUD : n < CALM ? n + 1 : MUTED;
	if (n != next && !change(calm, n, next))
		return false;
	return next == MUTED && mute_or_wake((uint8_t *)pc, calm);
}

bool calm_wakes(uint64_t pc, bool sure)
{
	uint16_t *calm = frames_calm_of(pc), n = __atomic_load_n(calm, __ATOMIC_RELAXED);

	while (n <= CALM && !change(calm, n, LOUD))
		n = __atomic_load_n(calm, __ATOMIC_RELAXED);
	return n <= CALM || n == LOUD || (n == WOKEN && sure);
}

/* With the filter. */

bool calm_mutes(uint64_t pc)
{
	uint16_t *calm = frames_calm_of(pc);

	return !kept[calm - frames_calm] && mute_or_wake((uint8_t *)pc, calm);
}

/*
 * The function is calm, and is muted if it can be. The state first, so that nobody tells of it from here on; then whether
 * somebody does already: then it is tried a little later. Who was the last to be told comes here, too.
 */
static void mute_if_free(uint64_t pc, uint16_t *calm)
{
	bool *is_kept = &kept[calm - frames_calm];

	if (*is_kept || is_told(pc))
		return;
	if (!mute_begin()) {
		change(calm, CALM, CALM - AGAIN);
		return;
	}
	if (change(calm, CALM, MUTED)) {
		bool told_now = is_told(pc), muted = !told_now && mute_function((uint8_t *)pc);

		*is_kept = !told_now && !muted;
		if (!muted)
			__atomic_store_n(calm, *is_kept ? CALM : CALM - AGAIN, __ATOMIC_SEQ_CST);
	}
	mute_end();
}

bool calm_tells(uint64_t pc)
{
	__atomic_add_fetch(told_of(pc), 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(frames_calm_of(pc), __ATOMIC_SEQ_CST) < WOKEN)
		return true;
	calm_told(pc);
	return false;
}

void calm_told(uint64_t pc)
{
	uint16_t *calm = frames_calm_of(pc);

	if (!__atomic_sub_fetch(told_of(pc), 1, __ATOMIC_SEQ_CST) && __atomic_load_n(calm, __ATOMIC_SEQ_CST) == CALM)
		mute_if_free(pc, calm);
}

void calm_forked(void)
{
	for (uint32_t i = 0; i < 1 << CALM_BITS; i++)
		if (told[i])
			told[i] = 0;
}

void calm_learn(uint64_t pc, bool synchronised)
{
	uint16_t *calm = frames_calm_of(pc), n = __atomic_load_n(calm, __ATOMIC_RELAXED);

	if (n > CALM || (n == CALM && !synchronised) || !change(calm, n, synchronised ? LOUD : n + 1))
		return;
	if (calm_wanted && !synchronised && n + 1 == CALM)
		mute_if_free(pc, calm);
}

/* Back again. */

/* If another thread is at it, it is for the next time. */
static void wake(struct muted *f)
{
	if (!mute_begin())
		return;
	if (f->out && !mute_torn)
		wake_all(frames_calm_of((uint64_t)f->from));
	mute_end();
}

/* Whether a call stands before the place. Those of hooks, of which the stack has many traces, are there no more. */
static bool is_return(const uint8_t *at)
{
	static const int8_t lengths[] = {2, 3, 6, 7};

	if (at[-CALL_BYTES] == CALL_CODE)
		return true;
	for (unsigned i = 0; i < sizeof lengths; i++)
		if (at[-lengths[i]] == 0xff && (at[1 - lengths[i]] & 0x38) == 0x10)
			return true;
	return false;
}

/* Whatever on the stack looks as if it returned to a muted function: one too many is told of, and no more. */
static void look_at_stack(uint64_t from, uint64_t to)
{
	from = (from + 7) & ~(uint64_t)7;
	if (!os_resident(from, to))
		return;
	for (const uint64_t *at = (const uint64_t *)from; (uint64_t)at < to; at++) {
		struct muted *f = *at - lowest < highest - lowest ? muted_around((const uint8_t *)*at) : NULL;

		if (f && is_return((const uint8_t *)*at))
			wake(f);
	}
}

/* A place in a module that has no muted functions, which is looked at once more. */
static bool is_outside(uint64_t pc)
{
	struct code code;

	if (highest && modules_code(pc, &code))
		for (uint32_t i = 0, n = __atomic_load_n(&count, __ATOMIC_ACQUIRE); i < n; i++)
			if (functions[i].from >= code.from && functions[i].from < code.to)
				return false;
	return highest && ++looks[calm_known_at(pc) - calm_known] % LOOKS;
}

/* The generation is asked before the table: a function that is muted meanwhile leaves nothing known. */
void calm_look_slowly(uint64_t pc, uint64_t from, uint64_t to)
{
	uint64_t generation = __atomic_load_n(&calm_generation, __ATOMIC_ACQUIRE);
	struct muted *f = muted_around((const uint8_t *)pc);

	if (f)
		wake(f);
	else if (is_outside(pc))
		look_at_stack(from, to);
	else
		__atomic_store_n(calm_known_at(pc), pc | generation, __ATOMIC_RELAXED);
}

bool calm_is_other_exit(const void *pc)
{
	const uint8_t *call = (const uint8_t *)pc - CALL_BYTES;
	struct code code;

	return modules_code((uintptr_t)pc, &code) && is_within(&code, call, LOOK_BYTES) && *call == CALL_CODE &&
		hook_of(&code, call) != HOOK_EXIT;
}

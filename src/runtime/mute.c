/* SPDX-License-Identifier: MIT */
#include "mute.h"

#include <stddef.h>
#include <sys/mman.h>

#include "runtime/modules.h"
#include "runtime/os.h"

enum {
	LINE = 64,
	BLOCK = 16,
	PAGE = 4096,
	FAILURES = 1000,
};

static const uint8_t nothing[CALL_BYTES] = {0x0f, 0x1f, 0x44, 0x00, 0x00}, jump_over[] = {0xeb, 0x03};

bool mute_wanted;

static bool busy;
static unsigned failures;

bool mute_begin(void)
{
	return !__atomic_exchange_n(&busy, true, __ATOMIC_ACQUIRE);
}

void mute_end(void)
{
	__atomic_store_n(&busy, false, __ATOMIC_RELEASE);
}

void mute_forked(void)
{
	busy = false;
}

static int32_t offset_at(const uint8_t *at)
{
	int32_t offset;

	__builtin_memcpy(&offset, at, sizeof offset);
	return offset;
}

const uint8_t *mute_target(const uint8_t *at)
{
	return at + CALL_BYTES + offset_at(at + 1);
}

/* `jmp *slot(%rip)`, behind what processors want to see first. */
const uintptr_t *mute_slot(const uint8_t *entry)
{
	static const uint8_t branch[] = {0xf3, 0x0f, 0x1e, 0xfa}, bound = 0xf2;
	size_t n = 0;

	while (n < sizeof branch && entry[n] == branch[n])
		n++;
	entry += n == sizeof branch ? n : 0;
	entry += *entry == bound;
	if (entry[0] != 0xff || entry[1] != 0x25)
		return NULL;
	return (const uintptr_t *)(entry + 6 + offset_at(entry + 2));
}

static bool is_call_of(const uint8_t *call, uintptr_t hook)
{
	const uint8_t *target = mute_target(call);
	const uintptr_t *slot;

	if (*call != CALL_CODE || !modules_share((uintptr_t)call, (uintptr_t)target))
		return false;
	if ((uintptr_t)target == hook)
		return true;
	slot = mute_slot(target);
	return slot && modules_share((uintptr_t)call, (uintptr_t)slot) && *slot == hook;
}

static bool is_in_block(const uint8_t *at)
{
	return (uintptr_t)at % BLOCK <= BLOCK - CALL_BYTES;
}

bool mute_plan(struct patch *p, uint8_t *at)
{
	p->at = at;
	p->single = *at == JUMP_CODE;
	for (unsigned i = 0; i < CALL_BYTES; i++) {
		p->before[i] = at[i];
		p->after[i] = is_in_block(at) ? nothing[i] : i < sizeof jump_over ? jump_over[i] : at[i];
	}
	if (p->single)
		p->after[0] = RETURN_CODE;
	return p->single || (uintptr_t)at % LINE != LINE - 1;
}

static uint8_t *page_of(uint8_t *at)
{
	return at - (uintptr_t)at % PAGE;
}

bool mute_open(uint8_t *from, const uint8_t *to)
{
	return os_protect(page_of(from), (size_t)(to - page_of(from)), PROT_READ | PROT_WRITE | PROT_EXEC) >= 0;
}

void mute_close(uint8_t *from, const uint8_t *to)
{
	os_protect(page_of(from), (size_t)(to - page_of(from)), PROT_READ | PROT_EXEC);
}

/* All five bytes at once, with what is around them: nobody else writes there. */
static void write_block(uint8_t *at, const uint8_t *bytes)
{
#if defined __x86_64__
	uint8_t *block = at - (uintptr_t)at % BLOCK;
	uint64_t old[2], new[2];

	__builtin_memcpy(old, block, BLOCK);
	__builtin_memcpy(new, block, BLOCK);
	for (unsigned i = 0; i < CALL_BYTES; i++)
		((uint8_t *)new)[at - block + i] = bytes[i];
	__asm__ volatile("lock cmpxchg16b %0" : "+m"(*(uint64_t (*)[2])block), "+a"(old[0]), "+d"(old[1])
		: "b"(new[0]), "c"(new[1]) : "cc", "memory");
#else
	(void)at, (void)bytes;
#endif
}

void mute_write(const struct patch *p, bool back)
{
	const uint8_t *bytes = back ? p->before : p->after;

	if (p->single)
		__atomic_store_n(p->at, bytes[0], __ATOMIC_RELEASE);
	else if (is_in_block(p->at))
		write_block(p->at, bytes);
	else
		__atomic_store_n((uint16_t *)p->at, (uint16_t)(bytes[0] | bytes[1] << 8), __ATOMIC_RELEASE);
}

static bool take_out(uint8_t *call)
{
	struct patch p;

	if (!mute_plan(&p, call) || !mute_open(call, call + CALL_BYTES))
		return false;
	mute_write(&p, false);
	mute_close(call, call + CALL_BYTES);
	return true;
}

void mute(void *pc, void (*hook)(void *))
{
#if defined __x86_64__
	uint8_t *call = (uint8_t *)pc - CALL_BYTES;

	if (!mute_begin())
		return;
	if (!is_call_of(call, (uintptr_t)hook) || !take_out(call))
		mute_wanted = ++failures < FAILURES;
	mute_end();
#else
	(void)pc, (void)hook;
#endif
}

/* SPDX-License-Identifier: MIT */
#include "mute.h"

#include <stddef.h>
#include <sys/mman.h>

#include "runtime/hooks_layout.h"
#include "runtime/modules.h"
#include "runtime/os.h"
#include "runtime/self.h"

enum { PAGE = 4096, FAILURES = 1000 };

bool mute_wanted, mute_torn;

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
	mute_torn |= busy;
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

void mute_take_out(uint8_t *at)
{
	__atomic_store_n(at, *at == JUMP_CODE ? RETURN_CODE : TEST_CODE, __ATOMIC_RELEASE);
}

/* Whatever else is there now is the program's. */
void mute_put_back(uint8_t *at)
{
	if (*at == RETURN_CODE || *at == TEST_CODE)
		__atomic_store_n(at, *at == RETURN_CODE ? JUMP_CODE : CALL_CODE, __ATOMIC_RELEASE);
}

/* What hooks.h asks for first. */
int64_t mute_hooks_offset(void)
{
	const char *place = NULL;

#if defined __x86_64__
	__asm__("movq %%fs:0, %0" : "=r"(place));
#endif
	return (const char *)&self_hooks - place;
}

static bool has_bytes(const uint8_t *at, const uint8_t *bytes, size_t n)
{
	size_t i = 0;

	while (i < n && at[i] == bytes[i])
		i++;
	return i == n;
}

bool mute_is_look(const uint8_t *at)
{
	static const uint8_t load[] = {LOOK_CODE, 0x8b, 0x05};
	static const uint8_t head[] = {0x64, 0x4d, 0x8b, 0x48, __FISSION_HOOKS_MARKS, 0x4d, 0x8b, 0x11, 0x45, 0x8b, 0x59};
	static const uint8_t mark[] = {0x41, 0x21, 0xfb, 0x49, 0x31, 0xfa, 0x4f, 0x33, 0x94};
	const uint8_t *slot = at + sizeof load, *then = slot + 4;

	return has_bytes(at, load, sizeof load) && has_bytes(then, head, sizeof head) &&
	       has_bytes(then + sizeof head + 1, mark, sizeof mark) &&
	       *(const int64_t *)(then + offset_at(slot)) == mute_hooks_offset();
}

static bool take_out(uint8_t *call)
{
	if (!mute_open(call, call + 1))
		return false;
	mute_take_out(call);
	mute_close(call, call + 1);
	return true;
}

void mute(void *pc, void (*hook)(void *))
{
	uint8_t *call = (uint8_t *)pc - CALL_BYTES;

	if (!MUTE_CAN || !mute_begin())
		return;
	/* Another thread may have been here in the meantime. */
	if (*call != TEST_CODE && (!is_call_of(call, (uintptr_t)hook) || !take_out(call)))
		mute_wanted = ++failures < FAILURES;
	mute_end();
}

void mute_exit(void *pc, void (*hook)(void *))
{
	if (is_call_of((uint8_t *)pc - CALL_BYTES, (uintptr_t)hook))
		mute(pc, hook);
}

/* SPDX-License-Identifier: MIT */
#include "mute.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "runtime/modules.h"
#include "runtime/os.h"

enum {
	CALL_BYTES = 5,
	CALL_CODE = 0xe8,
	JUMP_OVER = 0x03eb, /* three bytes */
	LINE = 64,
	PAGE = 4096,
	FAILURES = 1000,
};

bool mute_wanted;

static bool busy;
static unsigned failures;

static int32_t offset_at(const uint8_t *at)
{
	int32_t offset;

	__builtin_memcpy(&offset, at, sizeof offset);
	return offset;
}

/* What an entry of the table of procedures jumps to: `jmp *slot(%rip)`, behind what processors want to see first. */
static const uintptr_t *slot_of(const uint8_t *entry)
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
	const uint8_t *target = call + CALL_BYTES + offset_at(call + 1);
	const uintptr_t *slot;

	if (*call != CALL_CODE || !modules_share((uintptr_t)call, (uintptr_t)target))
		return false;
	if ((uintptr_t)target == hook)
		return true;
	slot = slot_of(target);
	return slot && modules_share((uintptr_t)call, (uintptr_t)slot) && *slot == hook;
}

static bool overwrite(uint8_t *call)
{
	uint8_t *page = call - (uintptr_t)call % PAGE;
	size_t bytes = (uintptr_t)call % PAGE == PAGE - 1 ? 2 * PAGE : PAGE;

	if (os_protect(page, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) < 0)
		return false;
	__atomic_store_n((uint16_t *)call, JUMP_OVER, __ATOMIC_RELEASE);
	os_protect(page, bytes, PROT_READ | PROT_EXEC);
	return true;
}

void mute(void *pc, void (*hook)(void *))
{
#if defined __x86_64__
	uint8_t *call = (uint8_t *)pc - CALL_BYTES;

	if (__atomic_exchange_n(&busy, true, __ATOMIC_ACQUIRE))
		return;
	if ((uintptr_t)call % LINE == LINE - 1 || !is_call_of(call, (uintptr_t)hook) || !overwrite(call))
		mute_wanted = ++failures < FAILURES;
	__atomic_store_n(&busy, false, __ATOMIC_RELEASE);
#else
	(void)pc, (void)hook;
#endif
}

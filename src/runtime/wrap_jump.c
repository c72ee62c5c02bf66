/* SPDX-License-Identifier: MIT */
/*
 * longjmp and its kin. A jump leaves functions without their exits, which UNWIND tells; and it may leave a signal
 * handler for ever, and with it the hook that the handler has interrupted.
 *
 * Where a jump goes is in the buffer, scrambled in the way of glibc on x86-64. Elsewhere the next call or exit tells by
 * its depth which functions are gone, a little later; and a handler is taken to be left if any was ever installed.
 *
 * C++ exceptions, pthread_exit and cancellation need nothing: instrumented frames have a cleanup that calls the exit
 * hook, and what others leave open is told by the depth.
 */
#include <setjmp.h>
#include <stdint.h>

#include "runtime/frames.h"
#include "runtime/gate.h"
#include "runtime/real.h"
#include "runtime/self.h"
#include "runtime/stack.h"
#include "runtime/trail.h"
#include "runtime/wrap_signal.h"

enum { STACK_POINTER = 6 }; /* its place in the buffer */

static uintptr_t target_of(const struct __jmp_buf_tag *buffer)
{
#if defined __x86_64__ && defined __GLIBC__
	uintptr_t at = (uintptr_t)buffer->__jmpbuf[STACK_POINTER];

	__asm__("rorq $17, %0\n\txorq %%fs:0x30, %0" : "+r"(at) : : "cc");
	return at;
#else
	(void)buffer;
	return UINTPTR_MAX;
#endif
}

/*
 * The callees of the function that called setjmp lie below its stack pointer: their frames are a unit deeper at least
 * (return address and saved frame pointer), its own is not.
 */
static void unwound(struct self *s, uintptr_t from, uintptr_t target)
{
	uint64_t depth = (s->stack - target) / DEPTH_UNIT + 1;

	if (target <= s->stack && s->mode & MODE_TIMED && s->frames && !s->shadow)
		frames_jump(s, from, target); /* or what comes next would tell of them as if they were open */
	if (target <= s->stack && depth < DEPTH_UNKNOWN)
		self_put(s, entry_first(ENTRY_UNWIND, (unsigned)depth, 0), entry_second(0, (unsigned)(depth >> 8)));
	if (s->trails)
		trail_jumped(s);
}

static void jumping(const struct __jmp_buf_tag *buffer, uintptr_t from)
{
	struct self *s = self_ring;
	uintptr_t target = target_of(buffer);

	if (!s)
		return;
	if (signal_is_left(from, target)) {
		self_mend(s);
		gate_jumped();
	}
	stack_leave(s, target);
	unwound(s, from, target);
}

#define JUMP(name) \
	EXPORT void name(struct __jmp_buf_tag buffer[1], int value) __attribute__((noreturn)); \
	void name(struct __jmp_buf_tag buffer[1], int value) \
	{ \
		jumping(buffer, (uintptr_t)__builtin_frame_address(0)); \
		REAL(name)(buffer, value); \
		__builtin_unreachable(); \
	}

JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)

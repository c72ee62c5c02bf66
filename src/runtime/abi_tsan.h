/* SPDX-License-Identifier: MIT */
/* Behind the hooks' first look: for those that are in abi_tsan.c, and for those in the program's own code. */
#ifndef FISSION_RUNTIME_ABI_TSAN_H
#define FISSION_RUNTIME_ABI_TSAN_H

#include <stdint.h>

#include "runtime/channel.h"

#define SEEN_BOTH(size) \
	void seen_read##size(const void *address, void *pc); \
	void seen_write##size(const void *address, void *pc);

SEEN_BOTH(1)
SEEN_BOTH(2)
SEEN_BOTH(4)
SEEN_BOTH(8)
SEEN_BOTH(16)

#define LOOKED_FOR(size) \
	void looked_read##size(struct self *s, const void *address, void *pc); \
	void looked_write##size(struct self *s, const void *address, void *pc);

LOOKED_FOR(1)
LOOKED_FOR(2)
LOOKED_FOR(4)
LOOKED_FOR(8)
LOOKED_FOR(16)

/* `from`: of an entry, the place of the call; of an exit, where the frame was if it is gone. */
void call_seen(enum entry_kind kind, uintptr_t frame, uintptr_t from, void *pc);

#endif

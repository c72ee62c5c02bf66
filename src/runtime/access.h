/* SPDX-License-Identifier: MIT */
/* Accesses that are told by wrappers and not by hooks: of what a library function reads or writes for the program. */
#ifndef FISSION_RUNTIME_ACCESS_H
#define FISSION_RUNTIME_ACCESS_H

#include <stddef.h>

#include "runtime/channel.h"

/* READ_RANGE or WRITE_RANGE; nothing if there are no bytes. */
void access_range(enum entry_kind kind, const void *address, size_t bytes, void *pc);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The thread's list for the kernel has them all: each entry lies in a mutex, at the same distance from its lock word,
 * with which the mutex begins. The list is the program's to spoil, so it is followed no further than the kernel does.
 */
#include "robust.h"

#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/os.h"
#include "runtime/told.h"

void robust_told(void)
{
	const struct robust_list_head *head = os_robust_list();
	const struct robust_list *at = head ? head->list.next : NULL;

	for (int i = 0; at && at != &head->list && i < ROBUST_LIST_LIMIT; i++) {
		/* The lowest bit says that priority is inherited. */
		uintptr_t entry = (uintptr_t)at & ~(uintptr_t)1;

		told(ENTRY_RELEASE, (const void *)(entry + (uintptr_t)head->futex_offset), NULL);
		at = (const struct robust_list *)((uintptr_t)((const struct robust_list *)entry)->next & ~(uintptr_t)1);
	}
}

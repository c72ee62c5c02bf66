/* SPDX-License-Identifier: MIT */
/* Tells the collector what is loaded where, so that it can name code and data. */
#ifndef FISSION_RUNTIME_MODULES_H
#define FISSION_RUNTIME_MODULES_H

#include <stdbool.h>
#include <stdint.h>

struct self;

/* All that is loaded and was not told yet: at the start and after each dlopen. NULL: there is nobody to tell. */
void modules_tell(struct self *s);

/* All that was told, again: by the child of a fork, which may not ask the loader. */
void modules_retell(struct self *s);

/* Whether the addresses are in the same module, of those that were told. */
bool modules_share(uintptr_t a, uintptr_t b);

/* The code around the address, of a module that was there from the start and so stays. False: it is in none. */
struct code {
	uint8_t *from, *to;
};

bool modules_code(uintptr_t at, struct code *code);

#endif

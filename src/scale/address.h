/* SPDX-License-Identifier: MIT */
/*
 * Content addresses: 128 bits of XXH3 as hexadecimal digits. Equal names, equal bytes; against chance, not against
 * malice.
 */
#ifndef FISSION_SCALE_ADDRESS_H
#define FISSION_SCALE_ADDRESS_H

#include <stdbool.h>

#include "base/intern.h"

struct fault;

enum { ADDRESS = 32 };

struct address {
	char hex[ADDRESS + 1];
};

struct address address_of(struct text bytes);

/* Of a file. False with a fault if it cannot be read. */
bool address_of_file(const char *path, struct address *to, struct fault *fault);

/* Whether the text is written as an address is: nothing else becomes a part of a path. */
bool address_is(struct text t);

#endif

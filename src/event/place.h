/* SPDX-License-Identifier: MIT */
/* A place in the source, taken apart: "file:line", "file:line:column", a bare line number, or a name. */
#ifndef FISSION_EVENT_PLACE_H
#define FISSION_EVENT_PLACE_H

#include <stdint.h>

#include "base/intern.h"

/* `file` is empty where the place is only a number, `line` and `column` are 0 where there is none. */
struct place_parts {
	struct text file;
	uint64_t line, column;
};

struct place_parts place_parse(struct text place);

#endif

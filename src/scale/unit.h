/* SPDX-License-Identifier: MIT */
/*
 * Units: a piece of work as a record (record.h) that holds, or names by its hash, all that decides its result.
 *
 *   fission-unit  1
 *   kind          check, predict, execute; nap, for measurements, which takes so many `milliseconds`
 *   version       of the tool
 *   limit         seconds that it may take
 *   option        a word of the command line; each
 *   file          "role address name": of the store; roles: trace, config, source, program
 *   name          of a trace, as the user calls it
 *   word          of the program's command line; each
 *   stdin         its standard input
 *   env           NAME=VALUE, of what is chosen of its environment; each
 *   build         "name id" of the program and of each library that it is linked with
 *   each          seconds that one execution may take
 *   only, function  what is wanted of it
 *   order         what it is to do (sched/order.h): plan, strategy, seed, budget
 *
 * The unit's id is the address of the record. So a unit cannot be changed, only replaced by another one.
 */
#ifndef FISSION_SCALE_UNIT_H
#define FISSION_SCALE_UNIT_H

#include <stdbool.h>

#include "base/intern.h"
#include "scale/address.h"

struct arena;
struct fault;
struct str;

struct unit {
	struct text record;
	struct address id;
	struct text kind;
	double limit;
};

/* One file of a unit. */
struct unit_file {
	struct text role, address, name;
};

void unit_begin(struct str *to, const char *kind, unsigned long limit);
void unit_put_file(struct str *to, const char *role, const struct address *address, const char *name);

/*
 * False with a fault (STATUS_TRACE): it is no unit; STATUS_UNFIT: of another version of the tool. `name` is for that.
 */
bool unit_parse(struct unit *u, struct text record, const char *name, struct fault *fault);

/* Takes apart the value of a field `file`. False if it is none. */
bool unit_file(struct text value, struct unit_file *to);

#endif

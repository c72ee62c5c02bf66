/* SPDX-License-Identifier: MIT */
/* Names for people: of the variable that an access touches, of a lock. Texts in the arena of `f`. */
#ifndef FISSION_SYMBOLIC_NAMING_H
#define FISSION_SYMBOLIC_NAMING_H

#include "symbolic/follow.h"

/* By the pointer that the access goes through: 'balance', 'account.0', or '?'. */
const char *name_of_variable(const struct follow *f, struct place p);

/* By the program's symbols; of a lock in an allocation, by the number of the allocation. */
const char *name_of_lock(const struct follow *f, const struct held_lock *lock);

#endif

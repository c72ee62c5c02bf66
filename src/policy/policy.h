/* SPDX-License-Identifier: MIT */
/* Which code is expected to be atomic. */
#ifndef FISSION_POLICY_POLICY_H
#define FISSION_POLICY_POLICY_H

#include <stdbool.h>

#include "base/intern.h"

enum policy_blocks { POLICY_LOCKS = 1, POLICY_EXPORTED = 2, POLICY_FUNCTIONS = 4, POLICY_NAMES = 8 };

enum { CODE_BLOCK = 1, CODE_DECLARED = 2, CODE_ATOMIC = 4, CODE_MOVER = 8, CODE_UNWATCHED = 16, CODE_FOREIGN = 32 };
enum { SITE_NO_WARN = 1, SITE_UNWATCHED = 2, SITE_FOREIGN = 4 };
enum { VARIABLE_GUARDED = 1, VARIABLE_UNWATCHED = 2 };

struct policy;

unsigned policy_blocks(const struct policy *p);
unsigned policy_code(const struct policy *p, struct text name);
unsigned policy_site(const struct policy *p, struct text site);
unsigned policy_variable(const struct policy *p, struct text name);
bool policy_says_little(const struct policy *p);

#endif

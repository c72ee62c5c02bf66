/* SPDX-License-Identifier: MIT */
/*
 * A finding in words: what every form for people says the same way. Everything appended is harmless, as `how` wants it.
 */
#ifndef FISSION_REPORT_WORDS_H
#define FISSION_REPORT_WORDS_H

#include "report/harmless.h"
#include "report/story.h"

struct str;

/* How the finding is spoken of: it happens in this run; it can, in another; nothing is known that keeps it from it. */
enum mood { MOOD_DOES, MOOD_CAN, MOOD_MAY };

enum mood words_mood(const struct story_finding *f);

/* "withdraw() is not atomic: 'balance' can change between its check and its update." */
void words_sentence(struct str *to, const struct story_finding *f, struct harmless how);

/* Whether "()" may stand behind the name: not if it has its arguments already, and not if it is an address. */
bool words_callable(struct text name);

/* "withdraw()", "transfer(int)", "bank+0x1350" */
void words_function(struct str *to, struct text name, struct harmless how);

/* "withdraw()", "the block begun at bank.c:13" */
void words_block(struct str *to, const struct story_finding *f, struct harmless how);

/* "bank.c:8"; nothing if the place is not known. */
void words_place(struct str *to, const struct story_place *p, struct harmless how);

/* "read of 'balance'", "unlock of 'mu'", "fork" */
void words_operation(struct str *to, const struct story_event *e, struct harmless how);

/* How many events have the role. */
size_t words_roles(const struct story_finding *f, enum story_role role);

/* Whether it changes what it accesses. */
bool words_writes(const struct story_event *e);

/* Two operations of the block itself are all there is: no order of it is known in which it runs in one piece. */
bool words_is_reduction(const struct story_finding *f);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The rules of a SARIF file: what a result is an instance of, with help for somebody who meets it for the first time.
 *
 * A finding's rule is the one that decides its rank: "atomicity/stale-value". There is one for each rule of
 * policy/rank.c, in its order; then "atomicity", for a rule that this version does not know; then one for each kind of
 * hazard.
 */
#ifndef FISSION_REPORT_SARIF_RULES_H
#define FISSION_REPORT_SARIF_RULES_H

#include <stddef.h>

#include "base/intern.h"
#include "finding/finding.h"

struct json_out;

/* Writes the member "rules". */
void sarif_rules(struct json_out *j);

/* The index in "rules" of the one that is named after a rule of the ranks. */
size_t sarif_rule_of(struct text rank_rule);
size_t sarif_rule_of_hazard(enum hazard_kind kind);

/* Writes the members "ruleId" and "ruleIndex". */
void sarif_rule(struct json_out *j, size_t index);

#endif

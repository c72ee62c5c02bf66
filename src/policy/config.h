/* SPDX-License-Identifier: MIT */
/*
 * The configuration file: one directive a line, '#' starts a comment. docs/policy.md is the definition.
 *
 * False with a fault: STATUS_USAGE if the file cannot be read, STATUS_CONFIG for a mistake in it, with its place and
 * the remedy. The rules of the lines before a mistake stay.
 */
#ifndef FISSION_POLICY_CONFIG_H
#define FISSION_POLICY_CONFIG_H

#include <stdbool.h>

struct fault;
struct rules;

bool config_read(struct rules *r, const char *path, struct fault *fault);

/* A file with one name or pattern a line, each of which is declared atomic. */
bool config_read_names(struct rules *r, const char *path, struct fault *fault);

#endif

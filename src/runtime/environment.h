/* SPDX-License-Identifier: MIT */
/*
 * The environment that an image is started with must say where the channel is, or nothing of it is recorded: programs
 * that clean their environment (servers do) would be lost at their first exec.
 */
#ifndef FISSION_RUNTIME_ENVIRONMENT_H
#define FISSION_RUNTIME_ENVIRONMENT_H

#include <stddef.h>

/* Keeps a copy of the channel's path. */
void environment_keep(const char *path);

/* How many pointers environment_with() needs room for; 0 if `env` can be used as it is. */
size_t environment_room(char *const env[]);

/* The environment and the channel's variable, in `to`. */
char **environment_with(char **to, char *const env[]);

#endif

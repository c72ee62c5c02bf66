/* SPDX-License-Identifier: MIT */
/*
 * The environment that an image is started with must say where the channel is, or nothing of it is recorded: programs
 * that clean their environment (servers do) would be lost at their first exec. With MODE_STOCK it must name the library
 * as well.
 */
#ifndef FISSION_RUNTIME_ENVIRONMENT_H
#define FISSION_RUNTIME_ENVIRONMENT_H

#include <stddef.h>

/* Keeps a copy of the channel's path. */
void environment_keep(const char *path);

/* And of what the loader was told to put in front of the program, where that is how we came here. */
void environment_keep_preload(const char *value);

/* How many pointers environment_with() needs room for; 0 if `env` can be used as it is. */
size_t environment_room(char *const env[]);

/* The environment and what it lacks, in `to`. */
char **environment_with(char **to, char *const env[]);

#endif

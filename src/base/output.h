/* SPDX-License-Identifier: MIT */
/*
 * A file that appears whole or not at all.
 *
 * Bytes go to a temporary file beside the target; output_commit() renames it, and until then nothing of that
 * name is touched. If the tool ends first, by exit() or by SIGINT, SIGTERM or SIGHUP, the temporary file is
 * removed. "-", and targets that exist and are no regular files (a pipe, /dev/stdout), are written directly.
 *
 * The first write that fails sets the fault; later ones are ignored, so only the commit need be checked.
 */
#ifndef FISSION_BASE_OUTPUT_H
#define FISSION_BASE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

struct output {
	int fd;
	const char *name; /* for messages */
	char *path;       /* the target; NULL when written directly */
	char *temporary;
	char *buffer;
	size_t room, used; /* of the buffer */
	uint64_t written;  /* bytes accepted so far */
	bool hasty;        /* see output_hasten */
	bool in_blocks;    /* and it goes out in blocks */
	struct output_way {
		bool straight;   /* past the system's cache */
		uint32_t blocks; /* that went out */
		uint64_t spent;  /* on those since the last look, nanoseconds */
	} way;
	struct fault fault;
};

/* The descriptor that the path means: of standard output or error; -1 for any other. */
int output_stream(const char *path);

/* Whether a file can be made there, as far as can be said without making it. */
bool output_check(const char *path, struct fault *fault);

/* False, with the fault set in `o`, if the file cannot be made there. */
bool output_open(struct output *o, const char *path);

/*
 * For much that is made by the machine, before the first write. It does not wait for the disk in the end: what is lost
 * with the machine's power can be made again. And what is large goes straight to a disk that is fast enough, and not
 * through the system's cache, which takes a processor's time for each page, and would lose what others have there.
 */
void output_hasten(struct output *o);

void output_write(struct output *o, const void *bytes, size_t n);

/* Flushes and puts the file into its place. False, with the fault set and nothing left behind, on failure. */
bool output_commit(struct output *o);

/* Drops what was written. */
void output_abort(struct output *o);

/*
 * For those who read what is at the path before they replace it: locks the directory around it, so that they take turns
 * and leave no file for it behind. Returns what is to be closed afterwards, or held until the tool ends; -1 where
 * directories cannot be locked: there nobody is refused for it.
 */
int output_lock(const char *path);

#endif

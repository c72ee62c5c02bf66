/* SPDX-License-Identifier: MIT */
/*
 * A file or standard input, read front to back through a window that slides and grows.
 *
 * Plain read() rather than a mapping: pipes work the same way, and a file that is cut short while we read it is
 * an end of file and not a SIGBUS. The window [at, end) holds what has been read and not yet consumed; the owner
 * moves `at` forward and calls input_more() when it needs bytes behind `end`. The byte at `end` is the owner's to
 * write a sentinel to.
 */
#ifndef FISSION_BASE_INPUT_H
#define FISSION_BASE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fault;

struct input {
	int fd;
	const char *name; /* for messages; "-" reads as "standard input" */
	char *buffer;
	size_t capacity;
	char *at, *end;
	uint64_t offset; /* of buffer[0] in the file */
	bool at_end;     /* nothing comes behind `end` */
	bool regular;    /* a file that can be read again; not a pipe or a device */
};

/* Opens the path, or standard input for "-". False with a fault (STATUS_USAGE) if it cannot be read. */
bool input_open(struct input *in, const char *path, struct fault *fault);

/*
 * Reads more bytes behind `end`; pointers into the window are dead afterwards. False at the end of the file,
 * and, with a fault, when reading fails.
 */
bool input_more(struct input *in, struct fault *fault);

/* Makes at least n bytes available in the window; false, with fewer in it, at the end of the file. */
bool input_need(struct input *in, size_t n, struct fault *fault);

/* The file offset of `at`. */
static inline uint64_t input_offset(const struct input *in)
{
	return in->offset + (uint64_t)(in->at - in->buffer);
}

void input_close(struct input *in);

#endif

/* SPDX-License-Identifier: MIT */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"

enum { WINDOW = 1 << 18 };

static bool refuse(struct input *in, struct fault *fault, const char *why)
{
	fault_set(fault, STATUS_USAGE, "%s: %s", in->name, why);
	input_close(in);
	return false;
}

bool input_open(struct input *in, const char *path, struct fault *fault)
{
	bool standard = strcmp(path, "-") == 0;
	struct stat st = {0};

	*in = (struct input){.fd = -1, .name = standard ? "standard input" : path};
	in->fd = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	if (in->fd < 0)
		return refuse(in, fault, strerror(errno));
	if (fstat(in->fd, &st) == 0 && S_ISDIR(st.st_mode))
		return refuse(in, fault, "is a directory, not a file");
	in->regular = !standard && S_ISREG(st.st_mode);
	in->capacity = WINDOW;
	in->buffer = malloc(in->capacity + 1);
	if (!in->buffer)
		return refuse(in, fault, "out of memory");
	in->at = in->end = in->buffer;
	return true;
}

/* Moves what is left to the front, and doubles the buffer when that is all of it. */
static bool make_room(struct input *in, struct fault *fault)
{
	size_t left = (size_t)(in->end - in->at);
	size_t gone = (size_t)(in->at - in->buffer);

	if (left == in->capacity) {
		char *larger = realloc(in->buffer, in->capacity * 2 + 1);

		if (!larger) {
			fault_set(fault, STATUS_UNFIT, "%s: out of memory", in->name);
			return false;
		}
		in->buffer = larger;
		in->capacity *= 2;
	} else {
		memmove(in->buffer, in->at, left);
	}
	in->offset += gone;
	in->at = in->buffer;
	in->end = in->buffer + left;
	return true;
}

bool input_more(struct input *in, struct fault *fault)
{
	ssize_t n;

	if (in->at_end || !make_room(in, fault))
		return false;
	do
		n = read(in->fd, in->end, in->capacity - (size_t)(in->end - in->buffer));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		fault_set(fault, STATUS_UNFIT, "%s: %s", in->name, strerror(errno));
	if (n <= 0) {
		in->at_end = true;
		return false;
	}
	in->end += n;
	return true;
}

bool input_need(struct input *in, size_t n, struct fault *fault)
{
	while ((size_t)(in->end - in->at) < n)
		if (!input_more(in, fault))
			return false;
	return true;
}

void input_close(struct input *in)
{
	if (in->fd >= 0)
		close(in->fd);
	free(in->buffer);
	in->fd = -1;
	in->buffer = in->at = in->end = NULL;
}

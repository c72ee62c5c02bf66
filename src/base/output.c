/* SPDX-License-Identifier: MIT */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * What is hasty goes out in blocks, each at a multiple of its size in the file, from memory at ALIGNED bytes: SMALL ones of
 * BUFFER bytes, with which most files end; then of BLOCK bytes, straight to the disk. One that needs more than SLOW
 * nanoseconds for each, as LOOK of them take it, or SLOWEST for one, is left to the system.
 */
enum { BUFFER = 1 << 16, BLOCK = 1 << 20, ALIGNED = 1 << 12, SMALL = 64, LOOK = 16, SLOW = 2000000, SLOWEST = 10 * SLOW };

/*
 * The temporary file to remove when the tool ends early. One output is open at a time; the handler only calls
 * unlink, signal and raise, which are async-signal-safe.
 */
static char *volatile pending;

static void remove_pending(void)
{
	if (pending)
		unlink(pending);
	pending = NULL;
}

static void on_signal(int number)
{
	remove_pending();
	signal(number, SIG_DFL);
	raise(number);
}

static void guard(char *temporary)
{
	static const int ending[] = {SIGHUP, SIGINT, SIGTERM};
	static bool registered;

	if (!registered)
		atexit(remove_pending);
	registered = true;
	pending = temporary;
	for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
		if (signal(ending[i], on_signal) == SIG_IGN)
			signal(ending[i], SIG_IGN);
}

static bool fail(struct output *o, int error)
{
	fault_set(&o->fault, STATUS_UNFIT, "%s: %s", o->name, strerror(error));
	return false;
}

/* Opening it anew would start at the beginning of a file that has been written to. */
int output_stream(const char *path)
{
	if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	return strcmp(path, "/dev/stderr") == 0 ? STDERR_FILENO : -1;
}

static bool open_directly(struct output *o, const char *path)
{
	int stream = output_stream(path);

	o->fd = stream >= 0 ? fcntl(stream, F_DUPFD_CLOEXEC, 0) : open(path, O_WRONLY | O_CLOEXEC);
	return o->fd >= 0 || fail(o, errno);
}

/* The permissions of the file that is replaced, or those of a new one. */
static mode_t mode_for(const char *path)
{
	struct stat st;
	mode_t mask = umask(0);

	umask(mask);
	return stat(path, &st) == 0 ? st.st_mode & 07777 : 0666 & ~mask;
}

/* Beside the file itself, not beside a link to it. */
static bool open_beside(struct output *o, const char *path)
{
	o->path = realpath(path, NULL);
	if (!o->path)
		o->path = strdup(path);
	if (!o->path || asprintf(&o->temporary, "%s.XXXXXX", o->path) < 0)
		return fail(o, ENOMEM);
	o->fd = mkostemp(o->temporary, O_CLOEXEC);
	if (o->fd < 0)
		return fail(o, errno);
	guard(o->temporary);
	return fchmod(o->fd, mode_for(o->path)) == 0 || fail(o, errno);
}

/* Whether nothing may be put into the path's place: it is a stream, also where a regular file is at its other end. */
static bool is_stream(const char *path)
{
	struct stat st;

	return output_stream(path) >= 0 || strncmp(path, "/dev/fd/", 8) == 0 || strncmp(path, "/proc/", 6) == 0 ||
		(stat(path, &st) == 0 && !S_ISREG(st.st_mode));
}

bool output_check(const char *path, struct fault *fault)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	struct stat st;
	int error = 0;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		error = EISDIR;
	else if (output_stream(path) < 0 && access(is_stream(path) || !folder ? path : folder, W_OK) != 0)
		error = errno;
	free(folder);
	if (error)
		fault_set(fault, STATUS_UNFIT, "%s: %s", path, strerror(error));
	return !error;
}

bool output_open(struct output *o, const char *path)
{
	bool direct = is_stream(path);
	bool ok;

	*o = (struct output){.fd = -1, .name = strcmp(path, "-") == 0 ? "standard output" : path};
	signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is a failed write, not a death that leaves the file */
	o->buffer = malloc(BUFFER);
	o->room = BUFFER;
	if (!o->buffer)
		ok = fail(o, ENOMEM);
	else
		ok = direct ? open_directly(o, path) : open_beside(o, path);
	if (!ok)
		output_abort(o);
	return ok;
}

/* False: the file system cannot. */
static bool go_straight(struct output *o, bool straight)
{
	int flags = fcntl(o->fd, F_GETFL);

	if (flags < 0 || fcntl(o->fd, F_SETFL, straight ? flags | O_DIRECT : flags & ~O_DIRECT) != 0)
		return false;
	o->way.straight = straight;
	return true;
}

/* What fails, or ends early, straight to the disk is for the system to finish, or to fail at; but not what the disk refuses. */
static void write_out(struct output *o, const char *bytes, size_t n)
{
	while (n && !fault_is_set(&o->fault)) {
		ssize_t done = write(o->fd, bytes, n);
		int error = errno;

		if (done < 0 && error == EINTR)
			continue;
		if (done > 0) {
			bytes += done;
			n -= (size_t)done;
		}
		if (done < 0 && (!o->way.straight || error == EIO))
			fail(o, error);
		else if (n && o->way.straight && !go_straight(o, false))
			fail(o, errno);
	}
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void block_out(struct output *o)
{
	struct output_way *w = &o->way;
	uint64_t before = now(), took;

	write_out(o, o->buffer, BLOCK);
	took = now() - before;
	w->spent += took;
	if (w->straight && (took > SLOWEST || (w->blocks % LOOK == 0 && w->spent > (uint64_t)LOOK * SLOW)))
		go_straight(o, false);
	if (w->blocks % LOOK == 0)
		w->spent = 0;
}

static void flush(struct output *o)
{
	if (o->used == BLOCK)
		block_out(o);
	else
		write_out(o, o->buffer, o->used);
	o->used = 0;
}

/* The buffer is full, of what is hasty. */
static void flush_block(struct output *o)
{
	flush(o);
	if (++o->way.blocks == SMALL) {
		o->room = BLOCK;
		go_straight(o, true);
	}
}

void output_hasten(struct output *o)
{
	char *block;

	o->hasty = true;
	if (!o->temporary || o->written)
		return;
	block = aligned_alloc(ALIGNED, BLOCK);
	if (!block)
		return;
	free(o->buffer);
	o->buffer = block;
	o->in_blocks = true;
}

static void write_blocks(struct output *o, const char *at, size_t n)
{
	while (n) {
		size_t part = o->room - o->used < n ? o->room - o->used : n;

		memcpy(o->buffer + o->used, at, part);
		o->used += part;
		at += part;
		n -= part;
		if (o->used == o->room)
			flush_block(o);
	}
}

void output_write(struct output *o, const void *bytes, size_t n)
{
	o->written += n;
	if (o->in_blocks) {
		write_blocks(o, bytes, n);
		return;
	}
	if (o->used + n > BUFFER)
		flush(o);
	if (n > BUFFER) {
		write_out(o, bytes, n);
		return;
	}
	memcpy(o->buffer + o->used, bytes, n);
	o->used += n;
}

static void release(struct output *o)
{
	if (o->fd >= 0)
		close(o->fd);
	o->fd = -1;
	if (o->temporary)
		pending = NULL;
	free(o->buffer);
	free(o->temporary);
	free(o->path);
	o->buffer = o->temporary = o->path = NULL;
}

/* Nothing of it is in the tool any more. Some file systems say only when it is closed that there was no room. */
static bool settle(struct output *o)
{
	int fd = o->fd;

	if (!o->hasty)
		return fsync(fd) == 0 || errno == EINVAL;
	o->fd = -1;
	return close(fd) == 0;
}

bool output_commit(struct output *o)
{
	if (o->way.straight)
		go_straight(o, false);
	flush(o);
	if (!fault_is_set(&o->fault) && o->path && (!settle(o) || rename(o->temporary, o->path) != 0))
		fail(o, errno);
	if (fault_is_set(&o->fault)) {
		output_abort(o);
		return false;
	}
	release(o);
	return true;
}

void output_abort(struct output *o)
{
	if (o->temporary && o->temporary == pending)
		unlink(o->temporary);
	release(o);
}

int output_lock(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *around = slash ? strndup(path, (size_t)(slash - path) + 1) : NULL;
	int fd = open(around ? around : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	free(around);
	if (fd >= 0)
		(void)!flock(fd, LOCK_EX);
	return fd;
}

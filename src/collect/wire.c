/* SPDX-License-Identifier: MIT */
#include "wire.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BYTES_LEAST = CHANNEL_PAGE + 8 * RING_SPAN };

/* The kernel's list of locks that it marks when this thread ends; ours is the only one on it. */
static struct robust_list_head robust;

static void show_life(struct channel *c)
{
	struct robust_list *node = (struct robust_list *)&c->alive_list;

	robust.futex_offset = (char *)&c->alive - (char *)node;
	robust.list.next = node;
	node->next = &robust.list;
	__atomic_store_n(&c->alive, (uint32_t)gettid() | FUTEX_WAITERS, __ATOMIC_RELEASE);
	syscall(SYS_set_robust_list, &robust, sizeof robust);
}

/*
 * How large the channel may be: a quarter of the address space (`ulimit -v`), since program and tool need some for
 * themselves, and what a file may have (`ulimit -f`), memory file or not.
 */
static uint64_t bytes_allowed(void)
{
	struct rlimit space, file;
	uint64_t bytes = CHANNEL_BYTES;

	getrlimit(RLIMIT_AS, &space);
	getrlimit(RLIMIT_FSIZE, &file);
	if (space.rlim_cur != RLIM_INFINITY && space.rlim_cur / 4 < bytes)
		bytes = space.rlim_cur / 4;
	if (file.rlim_max != RLIM_INFINITY && file.rlim_max < bytes)
		bytes = file.rlim_max;
	return bytes < BYTES_LEAST ? BYTES_LEAST : bytes - (bytes - CHANNEL_PAGE) % RING_SPAN;
}

/* The limit that is in force may be raised to the one above it for the moment. */
static bool make_room(int fd, uint64_t bytes)
{
	struct rlimit limit, raised;
	int result;

	getrlimit(RLIMIT_FSIZE, &limit);
	raised = (struct rlimit){limit.rlim_max, limit.rlim_max};
	setrlimit(RLIMIT_FSIZE, &raised);
	result = ftruncate(fd, (off_t)bytes);
	setrlimit(RLIMIT_FSIZE, &limit);
	return result == 0;
}

static struct channel *map_rings(int fd, uint64_t *bytes)
{
	void *at;

	signal(SIGXFSZ, SIG_IGN); /* so that a limit is an error */
	*bytes = bytes_allowed();
	if (!make_room(fd, *bytes))
		return NULL;
	at = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	return at == MAP_FAILED ? NULL : at;
}

bool wire_open(struct wire *w, unsigned mode, struct fault *fault)
{
	w->order = 0;
	w->fd = memfd_create("fission", MFD_CLOEXEC);
	w->channel = w->fd < 0 ? NULL : map_rings(w->fd, &w->bytes);
	if (!w->channel) {
		fault_set(fault, STATUS_UNFIT, "cannot make the shared memory for the program's events: %s", strerror(errno));
		if (w->fd >= 0)
			close(w->fd);
		return false;
	}
	snprintf(w->path, sizeof w->path, "/proc/%d/fd/%d", (int)getpid(), w->fd);
	w->channel->version = CHANNEL_VERSION;
	w->channel->mode = mode;
	w->channel->bytes = w->bytes;
	show_life(w->channel);
	__atomic_store_n(&w->channel->magic, CHANNEL_MAGIC, __ATOMIC_RELEASE);
	return true;
}

bool wire_order(struct wire *w, const void *order, size_t bytes, struct fault *fault)
{
	int fd = memfd_create("fission-order", MFD_CLOEXEC);

	w->order = fd > 0 ? fd : 0;
	if (fd < 0 || !make_room(fd, bytes) || pwrite(fd, order, bytes, 0) != (ssize_t)bytes) {
		fault_set(fault, STATUS_UNFIT, "cannot hand the order to the program: %s", strerror(errno));
		return false;
	}
	snprintf(w->channel->order, sizeof w->channel->order, "/proc/%d/fd/%d", (int)getpid(), fd);
	return true;
}

void wire_close(struct wire *w)
{
	if (w->order)
		close(w->order);
	__atomic_store_n(&w->channel->closed, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&w->channel->alive, 0, __ATOMIC_RELEASE);
	robust.list.next = &robust.list;
	munmap(w->channel, w->bytes);
	close(w->fd);
	w->channel = NULL;
}

void wire_sleep(struct wire *w, uint32_t bell, unsigned milliseconds)
{
	struct timespec limit = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};

	__atomic_store_n(&w->channel->asleep, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &w->channel->bell, FUTEX_WAIT, bell, &limit, NULL, 0);
	__atomic_store_n(&w->channel->asleep, 0, __ATOMIC_RELAXED);
}

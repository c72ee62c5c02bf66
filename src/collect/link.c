/* SPDX-License-Identifier: MIT */
#include "link.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	RINGS_LEAST = 16,
	SPARE = 64 << 20,
};

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

/* As many rings as the address space allows: `ulimit -v` may be low, and the tool needs some of it for itself. */
static struct channel *map_rings(int fd, uint64_t *bytes)
{
	for (uint32_t rings = RINGS_MOST; rings >= RINGS_LEAST; rings /= 2) {
		void *at, *spare = mmap(NULL, SPARE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		*bytes = CHANNEL_PAGE + (uint64_t)rings * RING_SPAN;
		if (ftruncate(fd, (off_t)*bytes) != 0)
			return NULL;
		at = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
		if (spare != MAP_FAILED)
			munmap(spare, SPARE);
		if (at != MAP_FAILED && spare != MAP_FAILED)
			return at;
		if (at != MAP_FAILED)
			munmap(at, *bytes);
	}
	errno = ENOMEM;
	return NULL;
}

bool link_open(struct link *l, unsigned mode, struct fault *fault)
{
	l->fd = memfd_create("fission", MFD_CLOEXEC);
	l->channel = l->fd < 0 ? NULL : map_rings(l->fd, &l->bytes);
	if (!l->channel) {
		fault_set(fault, STATUS_UNFIT, "cannot make the shared memory for the program's events: %s", strerror(errno));
		if (l->fd >= 0)
			close(l->fd);
		return false;
	}
	snprintf(l->path, sizeof l->path, "/proc/%d/fd/%d", (int)getpid(), l->fd);
	l->channel->version = CHANNEL_VERSION;
	l->channel->mode = mode;
	l->channel->bytes = l->bytes;
	show_life(l->channel);
	__atomic_store_n(&l->channel->magic, CHANNEL_MAGIC, __ATOMIC_RELEASE);
	return true;
}

void link_close(struct link *l)
{
	__atomic_store_n(&l->channel->closed, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&l->channel->alive, 0, __ATOMIC_RELEASE);
	robust.list.next = &robust.list;
	munmap(l->channel, l->bytes);
	close(l->fd);
	l->channel = NULL;
}

void link_sleep(struct link *l, uint32_t bell, unsigned milliseconds)
{
	struct timespec limit = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};

	__atomic_store_n(&l->channel->asleep, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &l->channel->bell, FUTEX_WAIT, bell, &limit, NULL, 0);
	__atomic_store_n(&l->channel->asleep, 0, __ATOMIC_RELAXED);
}

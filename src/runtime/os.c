/* SPDX-License-Identifier: MIT */
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* syscall() itself is never wrapped; it sets errno, which belongs to the program. */
#define CALL(...) ({ \
	int saved_ = errno; \
	long result_ = syscall(__VA_ARGS__); \
	result_ = result_ == -1 ? -errno : result_; \
	errno = saved_; \
	result_; \
})

long os_open(const char *path, int flags)
{
	return CALL(SYS_openat, AT_FDCWD, path, flags, 0);
}

long os_close(int fd)
{
	return CALL(SYS_close, fd);
}

long os_read(int fd, void *to, size_t n)
{
	return CALL(SYS_read, fd, to, n);
}

long os_write(int fd, const void *from, size_t n)
{
	return CALL(SYS_write, fd, from, n);
}

long os_size(int fd)
{
	long end = CALL(SYS_lseek, fd, 0L, SEEK_END);

	return end;
}

uint64_t os_file(int fd)
{
	struct stat st;

	if (CALL(SYS_fstat, fd, &st) != 0)
		return 0;
	return (st.st_dev * 0x9e3779b97f4a7c15u ^ st.st_ino) | 1;
}

uint64_t os_space(void)
{
	struct rlimit limit = {0};

	return CALL(SYS_prlimit64, 0, RLIMIT_AS, NULL, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

uint64_t os_stack(void)
{
	struct rlimit limit = {0};

	return CALL(SYS_prlimit64, 0, RLIMIT_STACK, NULL, &limit) == 0 ? limit.rlim_cur : 0;
}

long os_arch(int code, void *to)
{
#if defined SYS_arch_prctl
	return CALL(SYS_arch_prctl, code, to);
#else
	(void)code, (void)to;
	return -ENOSYS;
#endif
}

long os_readlink(const char *path, char *to, size_t n)
{
	return CALL(SYS_readlinkat, AT_FDCWD, path, to, n);
}

long os_pid(void)
{
	return CALL(SYS_getpid);
}

long os_tid(void)
{
	return CALL(SYS_gettid);
}

const void *os_robust_list(void)
{
	void *head = NULL;
	size_t bytes;

	return CALL(SYS_get_robust_list, 0, &head, &bytes) < 0 ? NULL : head;
}

void os_block_signals(uint64_t *old)
{
	uint64_t all = ~(uint64_t)0;

	CALL(SYS_rt_sigprocmask, SIG_SETMASK, &all, old, sizeof all);
}

void os_restore_signals(const uint64_t *old)
{
	CALL(SYS_rt_sigprocmask, SIG_SETMASK, old, NULL, sizeof *old);
}

void *os_map(size_t bytes, int fd)
{
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
	long at = CALL(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0L);

	return at < 0 && at > -4096 ? NULL : (void *)at;
}

/* At the last place where it may begin: so each lies right before the one that was mapped last, and both are one piece. */
void *os_map_huge(size_t bytes)
{
	char *all = os_map(bytes + OS_HUGE, -1), *at;

	if (!all)
		return os_map(bytes, -1);
	at = (char *)(((uintptr_t)all + OS_HUGE) & ~(uintptr_t)(OS_HUGE - 1));
	os_unmap(all, (size_t)(at - all));
	if (at < all + OS_HUGE)
		os_unmap(at + bytes, (size_t)(all + OS_HUGE - at));
	return at;
}

const void *os_map_read(size_t bytes, int fd)
{
	long at = CALL(SYS_mmap, NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0L);

	return at < 0 && at > -4096 ? NULL : (void *)at;
}

long os_protect(void *at, size_t bytes, int how)
{
	return CALL(SYS_mprotect, at, bytes, how);
}

bool os_resident(uintptr_t from, uintptr_t to)
{
	enum { PAGE = 4096 };
	unsigned char pages[OS_RESIDENT / PAGE + 1], all = 1;
	uintptr_t start = from & ~(uintptr_t)(PAGE - 1);

	if (to <= from || to - from > OS_RESIDENT || CALL(SYS_mincore, start, to - start, pages) < 0)
		return false;
	for (size_t i = 0; i < (to - start + PAGE - 1) / PAGE; i++)
		all &= pages[i];
	return all & 1;
}

void os_unmap(void *at, size_t bytes)
{
	CALL(SYS_munmap, at, bytes);
}

void os_discard(void *at, size_t bytes)
{
	/* Memory that the program has locked is not given back that way. */
	if (CALL(SYS_madvise, at, bytes, MADV_DONTNEED) < 0)
		CALL(SYS_mmap, at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0L);
}

void os_grow(void *at)
{
	if (!((uintptr_t)at & (OS_HUGE - 1)))
		CALL(SYS_madvise, at, (size_t)OS_HUGE, MADV_HUGEPAGE);
}

void os_discard_huge(void *at, size_t bytes)
{
	os_discard(at, bytes);
	CALL(SYS_madvise, at, bytes, MADV_NOHUGEPAGE);
}

void os_populate(void *at, size_t bytes)
{
	CALL(SYS_madvise, at, bytes, MADV_POPULATE_WRITE);
}

void os_futex_wait(uint32_t *word, uint32_t value, unsigned milliseconds)
{
	struct timespec limit = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};

	CALL(SYS_futex, word, FUTEX_WAIT, value, &limit, NULL, 0);
}

void os_futex_wake(uint32_t *word)
{
	CALL(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void os_clock(int clock, struct timespec *now)
{
	if (CALL(SYS_clock_gettime, clock, now) != 0)
		*now = (struct timespec){0};
}

int os_poll(int fd, short events)
{
	struct pollfd p = {.fd = fd, .events = events};
	struct timespec none = {0};

	return CALL(SYS_ppoll, &p, 1, &none, NULL, 0) != 0;
}

void os_raise(int signal)
{
	CALL(SYS_tgkill, os_pid(), os_tid(), signal);
}

_Noreturn void os_exit(int status)
{
	for (;;)
		CALL(SYS_exit_group, status);
}

void os_yield(void)
{
	CALL(SYS_sched_yield);
}

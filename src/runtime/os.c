/* SPDX-License-Identifier: MIT */
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
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

long os_pid(void)
{
	return CALL(SYS_getpid);
}

long os_tid(void)
{
	return CALL(SYS_gettid);
}

void *os_map(size_t bytes, int fd)
{
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
	long at = CALL(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0L);

	return at < 0 && at > -4096 ? NULL : (void *)at;
}

void os_unmap(void *at, size_t bytes)
{
	CALL(SYS_munmap, at, bytes);
}

void os_discard(void *at, size_t bytes)
{
	CALL(SYS_madvise, at, bytes, MADV_DONTNEED);
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

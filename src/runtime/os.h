/* SPDX-License-Identifier: MIT */
/*
 * System calls for the library's own use: never through functions that the program, or the library itself, may have
 * replaced, and without touching the program's errno.
 */
#ifndef FISSION_RUNTIME_OS_H
#define FISSION_RUNTIME_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OS_HUGE = 1 << 21 }; /* bytes of a large page */

/* Each returns what the kernel returned: -errno for a failure. */
long os_open(const char *path, int flags);
long os_close(int fd);
long os_read(int fd, void *to, size_t n);
long os_write(int fd, const void *from, size_t n);
long os_size(int fd); /* of a file */
uint64_t os_file(int fd); /* which file that is: equal for the same one; 0: closed */
uint64_t os_space(void);   /* limit of the address space */
long os_readlink(const char *path, char *to, size_t n);
long os_pid(void);
long os_tid(void);
long os_arch(int code, void *to); /* arch_prctl */
uint64_t os_stack(void); /* limit of the first thread's stack */

/* The thread's struct robust_list_head, or NULL. */
const void *os_robust_list(void);

/* Blocks all signals of the calling thread, whose mask so far goes to `old`; and puts it back. */
void os_block_signals(uint64_t *old);
void os_restore_signals(const uint64_t *old);

/* Maps the file, or fresh memory with fd -1 that costs nothing until it is touched. NULL for a failure. */
void *os_map(size_t bytes, int fd);
/* Fresh memory that begins where one of the system's large pages may, if there is room; `bytes` are so many of them. */
void *os_map_huge(size_t bytes);
/* A file for reading alone. */
const void *os_map_read(size_t bytes, int fd);
void os_unmap(void *at, size_t bytes);
long os_protect(void *at, size_t bytes, int how);
/* Whether all of it is in memory, and so can be read, unless it was protected afterwards. At most OS_RESIDENT bytes. */
enum { OS_RESIDENT = 1 << 16 };
bool os_resident(uintptr_t from, uintptr_t to);
/* Whole pages of fresh memory are as they were when they were mapped. */
void os_discard(void *at, size_t bytes);
/*
 * Memory of os_map_huge is being touched from its start on, and will be up to here. If a large page may begin here, one
 * comes next: what has come so far will go on, likely. If it does not, most of that page is there for nothing.
 * os_discard_huge: as os_discard, and there are no such pages any more.
 */
void os_grow(void *at);
void os_discard_huge(void *at, size_t bytes);
/* Whole pages are there before they are touched, where the system can do that. */
void os_populate(void *at, size_t bytes);

/* Sleeps while *word is `value`, at most so many milliseconds. */
void os_futex_wait(uint32_t *word, uint32_t value, unsigned milliseconds);
void os_futex_wake(uint32_t *word);

struct timespec;
void os_clock(int clock, struct timespec *now);
/* Whether the descriptor is ready for any of the events, or is none. */
int os_poll(int fd, short events);
/* A signal to the calling thread. */
void os_raise(int signal);
_Noreturn void os_exit(int status);
void os_yield(void);

#endif

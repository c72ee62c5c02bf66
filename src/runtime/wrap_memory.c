/* SPDX-License-Identifier: MIT */
/*
 * The allocator and mmap: a new allocation starts a new life of its bytes. ALLOC is told when the memory is there, FREE
 * before it can be anyone else's. A realloc is the end of one and the start of another, also if it stays in place.
 *
 * libc calls these as well (strdup, getline, fopen), and so does operator new: nothing else has to be wrapped for them.
 *
 * An allocation often has a few bytes more than were asked for. Who asks how many (malloc_usable_size) uses them, and
 * then they are part of its life as well: from the first such question on ALLOC tells of all of them. Before, it tells
 * of what was asked for, by which the collector finds out what the memory is of.
 *
 * A program that brings an allocator of its own in its executable never comes here; one in a library behind us does.
 *
 * The loader calls malloc before any constructor has run, and dlsym may call it while it looks for the real one: such
 * requests are served from a small pool, and are never given back. Only a thread that has a ring records: these must
 * not be what starts recording, since that needs an environment and a heap.
 */
/* Both names of each function, not one under two names. */
#undef _FILE_OFFSET_BITS

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "runtime/real.h"
#include "runtime/self.h"

/* The functions behind. */

static struct {
	__typeof__(&malloc) malloc;
	__typeof__(&calloc) calloc;
	__typeof__(&realloc) realloc;
	__typeof__(&free) free;
	__typeof__(&malloc_usable_size) usable; /* NULL: nobody has asked */
} real;

static __thread bool finding __attribute__((tls_model("initial-exec")));

/* False while this very thread is at it: dlsym has called us. */
static __attribute__((noinline)) bool find(void)
{
	if (finding)
		return false;
	finding = true;
	real.calloc = (__typeof__(&calloc))dlsym(RTLD_NEXT, "calloc");
	real.realloc = (__typeof__(&realloc))dlsym(RTLD_NEXT, "realloc");
	real.free = (__typeof__(&free))dlsym(RTLD_NEXT, "free");
	__atomic_store_n(&real.malloc, (__typeof__(&malloc))dlsym(RTLD_NEXT, "malloc"), __ATOMIC_RELEASE);
	finding = false;
	return true;
}

static inline bool is_found(void)
{
	return likely(__atomic_load_n(&real.malloc, __ATOMIC_ACQUIRE)) || find();
}

/* The pool. */

enum { POOL = 1 << 16, ALIGNED = 16 };

static struct {
	_Alignas(ALIGNED) char at[POOL]; /* a word with the size before each piece */
	size_t used;
} pool;

static void *pool_get(size_t n)
{
	size_t whole = ((n + ALIGNED - 1) & ~(size_t)(ALIGNED - 1)) + ALIGNED, at;

	if (n > POOL)
		return NULL;
	at = __atomic_fetch_add(&pool.used, whole, __ATOMIC_RELAXED);
	if (at + whole > POOL)
		return NULL;
	*(size_t *)(pool.at + at) = n;
	return pool.at + at + ALIGNED;
}

static inline bool is_pooled(const void *p)
{
	return (uintptr_t)p - (uintptr_t)pool.at < POOL;
}

static void *pool_move(const char *from, size_t n)
{
	size_t size = *(const size_t *)(from - ALIGNED);
	char *to = is_found() ? real.malloc(n) : pool_get(n);

	for (size_t i = 0; to && i < n && i < size; i++)
		to[i] = from[i];
	return to;
}

/* What is told. */

static inline struct self *recorder(void)
{
	struct self *s = self_ring;

	return s && !(channel->mode & MODE_LOCKS) ? s : NULL;
}

static inline void *given(void *p, size_t bytes, void *pc)
{
	struct self *s = recorder();

	if (s && p)
		self_sync(s, (struct sync){.kind = ENTRY_ALLOC, .object = p, .pc = pc, .argument = bytes});
	return p;
}

/* Of the allocator's. */
static inline void *made(void *p, size_t bytes, void *pc)
{
	__typeof__(&malloc_usable_size) usable = __atomic_load_n(&real.usable, __ATOMIC_RELAXED);

	return given(p, unlikely(usable && p) ? usable(p) : bytes, pc);
}

static inline void taken(void *p, void *pc)
{
	struct self *s = recorder();

	if (s && p)
		self_sync(s, (struct sync){.kind = ENTRY_FREE, .object = p, .pc = pc});
}

/* An operation that may give back `p`; whether it did is known afterwards. */
static struct early taking(struct self *s, const void *p)
{
	return s && p ? self_early(s) : (struct early){0};
}

static void took(struct self *s, struct early e, void *p, bool indeed, void *pc)
{
	if (s && p)
		self_late(s, e, (struct sync){.kind = indeed ? ENTRY_FREE : ENTRY_TICK, .object = p, .pc = pc});
}

/* The allocator. */

EXPORT void *malloc(size_t n)
{
	return unlikely(!is_found()) ? pool_get(n) : made(real.malloc(n), n, CALLER);
}

EXPORT void *calloc(size_t count, size_t n)
{
	if (unlikely(!is_found()))
		return n && count > POOL / n ? NULL : pool_get(count * n);
	return made(real.calloc(count, n), count * n, CALLER);
}

EXPORT void free(void *p)
{
	if (!p || unlikely(is_pooled(p)) || unlikely(!is_found()))
		return;
	taken(p, CALLER);
	real.free(p);
}

static void *resize(void *p, size_t n, void *pc)
{
	struct self *s = recorder();
	struct early e;
	void *result;

	if (unlikely(!is_found()))
		return p ? pool_move(p, n) : pool_get(n);
	if (unlikely(p && is_pooled(p)))
		return pool_move(p, n);
	e = taking(s, p);
	result = real.realloc(p, n);
	took(s, e, p, result || n == 0, pc);
	return made(result, n, pc);
}

EXPORT void *realloc(void *p, size_t n)
{
	return resize(p, n, CALLER);
}

EXPORT void *reallocarray(void *p, size_t count, size_t n)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, n, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return resize(p, bytes, CALLER);
}

EXPORT void *memalign(size_t alignment, size_t n)
{
	return made(REAL(memalign)(alignment, n), n, CALLER);
}

EXPORT void *aligned_alloc(size_t alignment, size_t n)
{
	return made(REAL(aligned_alloc)(alignment, n), n, CALLER);
}

EXPORT int posix_memalign(void **p, size_t alignment, size_t n)
{
	int result = REAL(posix_memalign)(p, alignment, n);

	if (result == 0)
		made(*p, n, CALLER);
	return result;
}

EXPORT void *valloc(size_t n)
{
	return made(REAL(valloc)(n), n, CALLER);
}

EXPORT void *pvalloc(size_t n)
{
	return made(REAL(pvalloc)(n), n, CALLER);
}

EXPORT size_t malloc_usable_size(void *p)
{
	if (unlikely(p && is_pooled(p)))
		return *(const size_t *)((const char *)p - ALIGNED);
	if (unlikely(!__atomic_load_n(&real.usable, __ATOMIC_RELAXED)))
		__atomic_store_n(&real.usable, REAL(malloc_usable_size), __ATOMIC_RELAXED);
	return __atomic_load_n(&real.usable, __ATOMIC_RELAXED)(p);
}

/* Mappings. */

static void *mapped(void *p, size_t n, void *pc)
{
	if (p != MAP_FAILED)
		given(p, n, pc);
	return p;
}

EXPORT void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	return mapped(REAL(mmap)(at, n, protection, flags, fd, offset), n, CALLER);
}

EXPORT void *mmap64(void *at, size_t n, int protection, int flags, int fd, off64_t offset)
{
	return mapped(REAL(mmap64)(at, n, protection, flags, fd, offset), n, CALLER);
}

EXPORT int munmap(void *p, size_t n)
{
	struct self *s = recorder();
	struct early e = taking(s, p);
	int result = REAL(munmap)(p, n);

	took(s, e, p, result == 0, CALLER);
	return result;
}

/* The fifth argument is there with MREMAP_FIXED; passing it on always does no harm. */
EXPORT void *mremap(void *p, size_t old, size_t n, int flags, ...)
{
	struct self *s = recorder();
	struct early e = taking(s, p);
	va_list words;
	void *result, *to;

	va_start(words, flags);
	to = va_arg(words, void *);
	va_end(words);
	result = REAL(mremap)(p, old, n, flags, to);
	took(s, e, p, result != MAP_FAILED, CALLER);
	return mapped(result, n, CALLER);
}

/* SPDX-License-Identifier: MIT */
/*
 * mem* and str*: what they read and write is told, before they do it. Lengths of strings are asked of libc's own
 * functions. libc does not come here for its own purposes; this library has to keep from using them, and a test looks.
 *
 * A function that stops at the first difference is told to have read what it had to: memcmp all, the str* forms up to
 * the difference.
 */
#include "wrap_string.h"

#include <dlfcn.h>
#include <string.h>
#include <strings.h>

#include "runtime/access.h"
#include "runtime/models.h"
#include "runtime/real.h"
#include "runtime/self.h"

EXPORT void *__memcpy_chk(void *to, const void *from, size_t n, size_t room);
EXPORT void *__memmove_chk(void *to, const void *from, size_t n, size_t room);
EXPORT void *__mempcpy_chk(void *to, const void *from, size_t n, size_t room);
EXPORT void *__memset_chk(void *to, int c, size_t n, size_t room);
EXPORT char *__strcpy_chk(char *to, const char *from, size_t room);
EXPORT char *__stpcpy_chk(char *to, const char *from, size_t room);
EXPORT char *__strncpy_chk(char *to, const char *from, size_t n, size_t room);
EXPORT char *__strcat_chk(char *to, const char *from, size_t room);
EXPORT char *__strncat_chk(char *to, const char *from, size_t n, size_t room);
EXPORT void *__tsan_memcpy(void *to, const void *from, size_t n);
EXPORT void *__tsan_memmove(void *to, const void *from, size_t n);
EXPORT void *__tsan_memset(void *to, int c, size_t n);

static struct {
#define STRING(name) __typeof__(&name) name;
#include "runtime/strings.def"
#undef STRING
} found;

void string_start(void)
{
#define STRING(name) found.name = (__typeof__(&name))dlsym(RTLD_NEXT, #name);
#include "runtime/strings.def"
#undef STRING
}

/* Constructors of other libraries may come before ours. */
static __attribute__((noinline)) void start_late(void)
{
	string_start();
}

#define NEXT(name) ({ \
	if (unlikely(!found.name)) \
		start_late(); \
	found.name; \
})

static inline bool is_told(void)
{
	return self_ring != NULL;
}

static inline void reads(const void *p, size_t n, void *pc)
{
	access_range(ENTRY_READ_RANGE, p, n, pc);
}

static inline void writes(const void *p, size_t n, void *pc)
{
	access_range(ENTRY_WRITE_RANGE, p, n, pc);
}

/* With its end. */
static size_t whole(const char *s)
{
	return NEXT(strlen)(s) + 1;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t part(const char *s, size_t n)
{
	return least(NEXT(strnlen)(s, n) + 1, n);
}

/* Memory. */

#define COPY(name) \
	EXPORT void *name(void *to, const void *from, size_t n) \
	{ \
		if (walk_on) \
			model_copy((const void *)name, to, from, n); \
		if (is_told()) { \
			reads(from, n, CALLER); \
			writes(to, n, CALLER); \
		} \
		return NEXT(name)(to, from, n); \
	}

#define COPY_CHECKED(name) \
	void *name(void *to, const void *from, size_t n, size_t room) \
	{ \
		if (walk_on) \
			model_copy((const void *)name, to, from, n); \
		if (is_told() && n <= room) { \
			reads(from, n, CALLER); \
			writes(to, n, CALLER); \
		} \
		return NEXT(name)(to, from, n, room); \
	}

COPY(memcpy)
COPY(memmove)
COPY(mempcpy)
COPY_CHECKED(__memcpy_chk)
COPY_CHECKED(__memmove_chk)
COPY_CHECKED(__mempcpy_chk)

void *__tsan_memcpy(void *to, const void *from, size_t n)
{
	if (is_told()) {
		reads(from, n, CALLER);
		writes(to, n, CALLER);
	}
	return NEXT(memcpy)(to, from, n);
}

void *__tsan_memmove(void *to, const void *from, size_t n)
{
	if (is_told()) {
		reads(from, n, CALLER);
		writes(to, n, CALLER);
	}
	return NEXT(memmove)(to, from, n);
}

EXPORT void bcopy(const void *from, void *to, size_t n)
{
	if (walk_on)
		model_copy((const void *)bcopy, to, from, n);
	if (is_told()) {
		reads(from, n, CALLER);
		writes(to, n, CALLER);
	}
	NEXT(bcopy)(from, to, n);
}

EXPORT void *memset(void *to, int c, size_t n)
{
	if (walk_on)
		model_fill((const void *)memset, to, 1, n);
	if (is_told())
		writes(to, n, CALLER);
	return NEXT(memset)(to, c, n);
}

void *__tsan_memset(void *to, int c, size_t n)
{
	if (is_told())
		writes(to, n, CALLER);
	return NEXT(memset)(to, c, n);
}

void *__memset_chk(void *to, int c, size_t n, size_t room)
{
	if (is_told() && n <= room)
		writes(to, n, CALLER);
	return NEXT(__memset_chk)(to, c, n, room);
}

EXPORT void bzero(void *to, size_t n)
{
	if (walk_on)
		model_fill((const void *)bzero, to, SYMBOLIC_ARGUMENTS, n);
	if (is_told())
		writes(to, n, CALLER);
	NEXT(bzero)(to, n);
}

/* In a walk: what the comparison says is an expression. */
static int told_result(const void *function, const struct model_compare *c)
{
	if (walk_on)
		model_compare(function, c);
	return c->result;
}

#define COMPARE(name) \
	EXPORT int name(const void *a, const void *b, size_t n) \
	{ \
		if (is_told()) { \
			reads(a, n, CALLER); \
			reads(b, n, CALLER); \
		} \
		return told_result((const void *)name, &(struct model_compare){a, b, n, false, false, NEXT(name)(a, b, n)}); \
	}

COMPARE(memcmp)
COMPARE(bcmp)

EXPORT void *memchr(const void *p, int c, size_t n)
{
	void *at = NEXT(memchr)(p, c, n);

	if (is_told())
		reads(p, at ? (size_t)((char *)at - (const char *)p) + 1 : n, CALLER);
	if (walk_on)
		model_find((const void *)memchr, &(struct model_find){p, n, c, false, at});
	return at;
}

EXPORT void *memrchr(const void *p, int c, size_t n)
{
	void *at = NEXT(memrchr)(p, c, n);

	if (is_told())
		reads(at ? at : p, at ? (size_t)((const char *)p + n - (char *)at) : n, CALLER);
	return at;
}

/* Strings. */

EXPORT size_t strlen(const char *s)
{
	size_t n = NEXT(strlen)(s);

	if (is_told())
		reads(s, n + 1, CALLER);
	if (walk_on)
		model_length((const void *)strlen, s, SIZE_MAX, n);
	return n;
}

EXPORT size_t strnlen(const char *s, size_t n)
{
	size_t length = NEXT(strnlen)(s, n);

	if (is_told())
		reads(s, least(length + 1, n), CALLER);
	if (walk_on)
		model_length((const void *)strnlen, s, n, length);
	return length;
}

static void copies(char *to, const char *from, void *pc)
{
	size_t n = whole(from);

	reads(from, n, pc);
	writes(to, n, pc);
	if (walk_on)
		symbolic_copy(to, from, n);
}

/* Filled up with zeroes. */
static void copies_part(char *to, const char *from, size_t n, void *pc)
{
	reads(from, part(from, n), pc);
	writes(to, n, pc);
	if (walk_on) {
		symbolic_clear(to, n);
		symbolic_copy(to, from, part(from, n));
	}
}

/* The string's end is overwritten. */
static void appends(char *to, const char *from, size_t n, void *pc)
{
	size_t before = NEXT(strlen)(to), more = NEXT(strnlen)(from, n);

	reads(to, before + 1, pc);
	reads(from, least(more + 1, n), pc);
	writes(to + before, more + 1, pc);
	if (walk_on) {
		symbolic_copy(to + before, from, more);
		symbolic_clear(to + before + more, 1);
	}
}

EXPORT char *strcpy(char *to, const char *from)
{
	if (is_told())
		copies(to, from, CALLER);
	return NEXT(strcpy)(to, from);
}

EXPORT char *stpcpy(char *to, const char *from)
{
	if (is_told())
		copies(to, from, CALLER);
	return NEXT(stpcpy)(to, from);
}

EXPORT char *strncpy(char *to, const char *from, size_t n)
{
	if (is_told())
		copies_part(to, from, n, CALLER);
	return NEXT(strncpy)(to, from, n);
}

EXPORT char *strcat(char *to, const char *from)
{
	if (is_told())
		appends(to, from, SIZE_MAX, CALLER);
	return NEXT(strcat)(to, from);
}

EXPORT char *strncat(char *to, const char *from, size_t n)
{
	if (is_told())
		appends(to, from, n, CALLER);
	return NEXT(strncat)(to, from, n);
}

char *__strcpy_chk(char *to, const char *from, size_t room)
{
	if (is_told())
		copies(to, from, CALLER);
	return NEXT(__strcpy_chk)(to, from, room);
}

char *__stpcpy_chk(char *to, const char *from, size_t room)
{
	if (is_told())
		copies(to, from, CALLER);
	return NEXT(__stpcpy_chk)(to, from, room);
}

char *__strncpy_chk(char *to, const char *from, size_t n, size_t room)
{
	if (is_told())
		copies_part(to, from, n, CALLER);
	return NEXT(__strncpy_chk)(to, from, n, room);
}

char *__strcat_chk(char *to, const char *from, size_t room)
{
	if (is_told())
		appends(to, from, SIZE_MAX, CALLER);
	return NEXT(__strcat_chk)(to, from, room);
}

char *__strncat_chk(char *to, const char *from, size_t n, size_t room)
{
	if (is_told())
		appends(to, from, n, CALLER);
	return NEXT(__strncat_chk)(to, from, n, room);
}

/* How much of two strings a comparison has to see: up to the first difference, or the end of both. */
static size_t seen(const char *a, const char *b, size_t n, bool cased)
{
	size_t i = 0;

	for (; i < n; i++) {
		unsigned char x = (unsigned char)a[i], y = (unsigned char)b[i];

		if (!x || !y || (x != y && (cased || ((x ^ y) & ~32) != 0)))
			return i + 1;
	}
	return n;
}

static void compares(const char *a, const char *b, size_t n, bool cased, void *pc)
{
	n = seen(a, b, n, cased);
	reads(a, n, pc);
	reads(b, n, pc);
}

EXPORT int strcmp(const char *a, const char *b)
{
	if (is_told())
		compares(a, b, SIZE_MAX, true, CALLER);
	return told_result((const void *)strcmp,
		&(struct model_compare){a, b, SIZE_MAX, true, false, NEXT(strcmp)(a, b)});
}

EXPORT int strncmp(const char *a, const char *b, size_t n)
{
	if (is_told())
		compares(a, b, n, true, CALLER);
	return told_result((const void *)strncmp,
		&(struct model_compare){a, b, n, true, false, NEXT(strncmp)(a, b, n)});
}

EXPORT int strcasecmp(const char *a, const char *b)
{
	if (is_told())
		compares(a, b, SIZE_MAX, false, CALLER);
	return told_result((const void *)strcasecmp,
		&(struct model_compare){a, b, SIZE_MAX, true, true, NEXT(strcasecmp)(a, b)});
}

EXPORT int strncasecmp(const char *a, const char *b, size_t n)
{
	if (is_told())
		compares(a, b, n, false, CALLER);
	return told_result((const void *)strncasecmp,
		&(struct model_compare){a, b, n, true, true, NEXT(strncasecmp)(a, b, n)});
}

EXPORT char *strchr(const char *s, int c)
{
	char *at = NEXT(strchr)(s, c);

	if (is_told())
		reads(s, at ? (size_t)(at - s) + 1 : whole(s), CALLER);
	if (walk_on)
		model_find((const void *)strchr, &(struct model_find){s, 0, c, true, at});
	return at;
}

EXPORT char *strrchr(const char *s, int c)
{
	if (is_told())
		reads(s, whole(s), CALLER);
	return NEXT(strrchr)(s, c);
}

EXPORT char *strstr(const char *s, const char *word)
{
	char *at = NEXT(strstr)(s, word);

	if (is_told()) {
		size_t n = whole(word);

		reads(word, n, CALLER);
		reads(s, at ? (size_t)(at - s) + n - 1 : whole(s), CALLER);
	}
	return at;
}

/* The copy itself is new memory that nobody else has: the allocation tells of it. */
EXPORT char *strdup(const char *s)
{
	char *copy;

	if (is_told())
		reads(s, whole(s), CALLER);
	copy = NEXT(strdup)(s);
	if (walk_on && copy)
		symbolic_copy(copy, s, whole(s));
	return copy;
}

EXPORT char *strndup(const char *s, size_t n)
{
	char *copy;

	if (is_told())
		reads(s, part(s, n), CALLER);
	copy = NEXT(strndup)(s, n);
	if (walk_on && copy) {
		symbolic_copy(copy, s, NEXT(strlen)(copy));
		symbolic_clear(copy + NEXT(strlen)(copy), 1);
	}
	return copy;
}

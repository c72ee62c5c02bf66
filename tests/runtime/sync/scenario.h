/* SPDX-License-Identifier: MIT */
/*
 * A program of scenarios: PROGRAM NAME runs one. Before each stands what it is to do; wrappers.py has the grammar and
 * compiles with SCENARIOS set to X(name) for each.
 */
#ifndef SCENARIO_H
#define SCENARIO_H

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

/* A wrapper must leave errno alone where the function does. */
enum { UNTOUCHED = 7777 };

static inline void say_text(const char *words)
{
	printf("%s ", words);
}

static inline void say_number(long n)
{
	printf("%ld ", n);
}

static inline void say_error(int error)
{
	if (error)
		say_text(strerrorname_np(error));
	else
		say_number(0);
}

/* Of functions that return the error. */
#define SAY(call) do { \
	int result_; \
	errno = UNTOUCHED; \
	result_ = (call); \
	say_error(result_); \
	if (errno != UNTOUCHED) \
		say_text("errno was touched"); \
} while (0)

/* Of functions that set errno. */
#define SAY_ERRNO(call) do { \
	errno = UNTOUCHED; \
	say_error((call) == -1 ? errno : 0); \
} while (0)

/* Of functions that return one of C11's results. */
#define SAY_C11(call) do { \
	int result_ = (call); \
	say_text(result_ == thrd_success ? "0" : result_ == thrd_busy ? "busy" : result_ == thrd_timedout ? "timedout" : \
		"error"); \
} while (0)

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* A moment that will have passed, on that clock; and one that will not come. */
static inline struct timespec soon_on(clockid_t clock)
{
	struct timespec at;

	clock_gettime(clock, &at);
	at.tv_nsec += 2000000;
	at.tv_sec += at.tv_nsec / 1000000000;
	at.tv_nsec %= 1000000000;
	return at;
}

static inline struct timespec late_on(clockid_t clock)
{
	struct timespec at = soon_on(clock);

	at.tv_sec += 3600;
	return at;
}

static inline struct timespec never(void)
{
	return (struct timespec){.tv_nsec = -1};
}

/* Runs f in another thread to its end. */
static inline void elsewhere(void *(*f)(void *))
{
	pthread_t t;

	if (pthread_create(&t, NULL, f, NULL) != 0 || pthread_join(t, NULL) != 0)
		abort();
}

#define X(name) static void name(void);
SCENARIOS
#undef X

int main(int argc, char **argv)
{
#define X(name) \
	if (argc == 2 && strcmp(argv[1], #name) == 0) { \
		name(); \
		puts(""); \
		return 0; \
	}
	SCENARIOS
#undef X
	return 2;
}

#endif

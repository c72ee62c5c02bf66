// SPDX-License-Identifier: MIT
// Every operation of every width gives what the language says, whether somebody records or not: prints how many.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

__extension__ typedef unsigned __int128 word128;
typedef uint8_t word8;
typedef uint16_t word16;
typedef uint32_t word32;
typedef uint64_t word64;

enum { ORDERS = 6 };

static int done;

static void must(int good, const char *what, int line)
{
	done++;
	if (good)
		return;
	printf("%s, line %d\n", what, line);
	exit(1);
}

#define MUST(x) must((x), #x, __LINE__)

#define DECLARE(bits, name) word##bits __tsan_atomic##bits##_##name(volatile word##bits *, word##bits, int);
#define TRY(bits, name, result) \
	for (int order = 0; order < ORDERS; order++) { \
		x = old; \
		MUST(__tsan_atomic##bits##_##name(&x, v, order) == old); \
		MUST(x == (word##bits)(result)); \
		MUST(guard[0] == 7 && guard[1] == 7); \
	}

#define WIDTH(bits) \
	word##bits __tsan_atomic##bits##_load(const volatile word##bits *, int); \
	void __tsan_atomic##bits##_store(volatile word##bits *, word##bits, int); \
	DECLARE(bits, exchange) \
	DECLARE(bits, fetch_add) \
	DECLARE(bits, fetch_sub) \
	DECLARE(bits, fetch_and) \
	DECLARE(bits, fetch_or) \
	DECLARE(bits, fetch_xor) \
	DECLARE(bits, fetch_nand) \
	int __tsan_atomic##bits##_compare_exchange_strong(volatile word##bits *, word##bits *, word##bits, int, int); \
	int __tsan_atomic##bits##_compare_exchange_weak(volatile word##bits *, word##bits *, word##bits, int, int); \
	word##bits __tsan_atomic##bits##_compare_exchange_val(volatile word##bits *, word##bits, word##bits, int, int); \
	static void try##bits(word##bits old, word##bits v) \
	{ \
		static struct { \
			word##bits before, x, after; \
		} s = {7, 0, 7}; \
		volatile word##bits *p = &s.x; \
		word##bits guard[2], expected; \
		TRIES(bits) \
		for (int order = 0; order < ORDERS; order++) { \
			__tsan_atomic##bits##_store(p, v, order); \
			MUST(s.x == v && s.before == 7 && s.after == 7); \
			MUST(__tsan_atomic##bits##_load(p, order) == v); \
			s.x = old; \
			expected = old; \
			MUST(__tsan_atomic##bits##_compare_exchange_strong(p, &expected, v, order, 0) && expected == old); \
			MUST(s.x == v); \
			expected = (word##bits)(v + 1); \
			MUST(!__tsan_atomic##bits##_compare_exchange_strong(p, &expected, old, order, 2) && expected == v); \
			expected = (word##bits)(v + 1); \
			MUST(!__tsan_atomic##bits##_compare_exchange_weak(p, &expected, old, order, 5) && expected == v); \
			MUST(s.x == v); \
			while (!__tsan_atomic##bits##_compare_exchange_weak(p, &expected, old, order, 0)) \
				; \
			MUST(s.x == old); \
			MUST(__tsan_atomic##bits##_compare_exchange_val(p, old, v, order, 0) == old && s.x == v); \
			MUST(__tsan_atomic##bits##_compare_exchange_val(p, (word##bits)(v + 1), old, order, 0) == v && s.x == v); \
		} \
	}

#define TRIES(bits) \
	for (int i = 0; i < 2; i++) \
		guard[i] = 7; \
	{ \
		word##bits x; \
		TRY(bits, exchange, v) \
		TRY(bits, fetch_add, old + v) \
		TRY(bits, fetch_sub, old - v) \
		TRY(bits, fetch_and, old & v) \
		TRY(bits, fetch_or, old | v) \
		TRY(bits, fetch_xor, old ^ v) \
		TRY(bits, fetch_nand, ~(old & v)) \
	}

WIDTH(8)
WIDTH(16)
WIDTH(32)
WIDTH(64)
WIDTH(128)

void __tsan_atomic_thread_fence(int);
void __tsan_atomic_signal_fence(int);

int main(void)
{
	static const uint64_t some[] = {0, 1, 0x5a, 0xff, 0x8000, 0xffff, 0x80000000, 0x123456789abcdef0, ~0ull};
	enum { SOME = sizeof some / sizeof *some };

	for (int i = 0; i < SOME; i++)
		for (int k = 0; k < SOME; k++) {
			try8((word8)some[i], (word8)some[k]);
			try16((word16)some[i], (word16)some[k]);
			try32((word32)some[i], (word32)some[k]);
			try64(some[i], some[k]);
			try128((word128)some[i] << 64 | some[k], (word128)some[k] << 37 | some[i]);
		}
	for (int order = 0; order < ORDERS; order++) {
		__tsan_atomic_thread_fence(order);
		__tsan_atomic_signal_fence(order);
	}
	printf("%d\n", done);
	return 0;
}

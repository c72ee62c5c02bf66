/* SPDX-License-Identifier: MIT */
/* A part of plugins.c: functions of the same name with frames of another size. */
long work(void (*put)(long), long n);

static __attribute__((noinline)) long inner(void (*put)(long), long n)
{
	volatile char room[ROOM];

	room[n] = (char)n;
	put(n);
	return room[n] + (n ? inner(put, n - 1) : 0);
}

long work(void (*put)(long), long n)
{
	put(n);
	return inner(put, n) + ROOM % 7;
}

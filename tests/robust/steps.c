/* SPDX-License-Identifier: MIT */
/*
 * Says at any time how many accesses it has made: steps FILE NUMBER. Word 0 of the file is its process id, word 1 the
 * number of cells of 2 bytes that it has written; the count is stored after the access it counts, by one store that is
 * neither delayed nor reordered (x86 keeps stores in order, and so does the fence elsewhere).
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile unsigned short cell;

static __attribute__((noinline)) void step(uint64_t *done, uint64_t i)
{
	cell = (unsigned short)i;
	__asm__ volatile("" : : : "memory");
	*(volatile uint64_t *)done = i;
}

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDWR | O_CREAT, 0666) : -1;
	uint64_t n = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
	uint64_t *word;

	if (fd < 0 || ftruncate(fd, 4096) != 0)
		return 2;
	word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (word == MAP_FAILED)
		return 2;
	word[0] = (uint64_t)getpid();
	for (uint64_t i = 1; i <= n; i++)
		step(&word[1], i);
	printf("%llu steps\n", (unsigned long long)n);
	return 3;
}

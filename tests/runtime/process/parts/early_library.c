/* SPDX-License-Identifier: MIT */
/* A library with something to do before the program and after it. */
#include <stdio.h>
#include <unistd.h>

extern volatile int library_state;
volatile int library_state;

__attribute__((constructor)) static void library_starts(void) { library_state = 5; }

__attribute__((destructor)) static void library_ends(void)
{
	library_state++;
	if (write(1, library_state == 6 ? "end\n" : "bad\n", 4) != 4)
		library_state++;
}

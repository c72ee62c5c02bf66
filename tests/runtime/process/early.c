/* SPDX-License-Identifier: MIT */
/*
 * Code that runs before our start and after any end: .preinit_array, constructors of the program and of a library,
 * handlers of exit, destructors.
 */
// CC: gcc clang
// WITH: early_library.c -shared -fPIC -o {dir}/libearly.so
// FLAGS: -L{dir} -learly -Wl,-rpath,{dir}
// ORDER: enter\(before_all\) ;; enter\(library_starts\) ;; enter\(program_starts\) ;; enter\(main\) ;; enter\(at_exit\) ;; enter\(program_ends\) ;; enter\(library_ends\)
// COUNT: 7 ^T1\|exit
// NEVER: ^T[2-9]
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern volatile int library_state;
static volatile int state;

static void before_all(void) { state = 1; }
__attribute__((section(".preinit_array"), used)) static void (*const preinit)(void) = before_all;

__attribute__((constructor)) static void program_starts(void) { state += 10; }
__attribute__((destructor)) static void program_ends(void) { state += 1000; }
static void at_exit(void) { state += 100; }

int main(void)
{
	atexit(at_exit);
	printf("%d %d\n", state, library_state);
	return 0;
}

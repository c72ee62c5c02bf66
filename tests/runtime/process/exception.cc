/* SPDX-License-Identifier: MIT */
/* C++ exceptions through instrumented functions and through those of libc and of a library that is not. */
// CC: gcc clang
// FLAGS: {dir}/foreign.o
// WITH: foreign.c -c -fexceptions -o {dir}/foreign.o
// COUNT: 3 enter\(.*thrower
// COUNT: 3 exit\(.*thrower
// ORDER: enter\(.*deep ;; exit\(.*deep ;; enter\(.*after_one ;; exit\(.*after_one ;; exit\(main\)
// ORDER: enter\(.*through ;; exit\(.*through ;; enter\(.*after_two
// COUNT: 1 exit\(main\)
#include <cstdio>
#include <cstdlib>

extern "C" void foreign(void (*call)(int), int n);

static volatile int state;

struct Noted {
	~Noted() { state = state + 1; }
};

static void thrower(int n)
{
	Noted noted;

	state = n;
	throw n;
}

static void deep(int n) { Noted noted; thrower(n); state = 99; }
static int through(const void *a, const void *) { thrower(*static_cast<const int *>(a)); return 0; }
static void after_one() { state = state + 10; }
static void after_two() { state = state + 10; }

int main()
{
	int numbers[] = {3, 3, 3};

	try { deep(1); } catch (int n) { std::printf("%d %d\n", n, +state); }
	after_one();
	try { std::qsort(numbers, 3, sizeof *numbers, through); } catch (int n) { std::printf("%d %d\n", n, +state); }
	after_two();
	try { foreign(thrower, 7); } catch (int n) { std::printf("%d %d\n", n, +state); }
	after_two();
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Every kind of C name that has a fixed address. */
#include <stddef.h>

#include "fixture.h"

typedef struct {
	int id;
	long balance;
	char owner[12];
} account_t;

struct flags {
	int lock;
	unsigned dirty : 1, busy : 2;
	unsigned wide : 20;
	int after;
};

struct nested {
	char kind;
	union {
		long number;
		struct {
			short low, high;
		} half;
		double real;
	} value;
	struct {
		int x, y;
	}; /* its members are the outer struct's */
	struct {
		account_t held[2];
		struct nested *next;
	} table[2][3];
};

struct tail {
	int count;
	int slot[];
};

struct point {
	long x, y;
};

union mixed {
	char bytes[8];
	long whole;
	struct {
		int left, right;
	} pair;
};

int balance;
union mixed mixed;
static long hidden = 3;
volatile unsigned short ticks[5];
account_t accounts[4];
const account_t *favourite;
static struct nested tree;
struct flags flags;
int grid[2][3][4];
struct tail tail = {3, {1, 2, 3}};
struct point corner;
char text[32];
__thread int per_thread;

__attribute__((noinline)) int deposit(int sum)
{
	static int counter;

	V(counter);
	return counter += sum;
}

static __attribute__((noinline)) int withdraw(int sum)
{
	static int counter = 7;

	if (sum) {
		static account_t inner[2];

		V(inner[1].balance);
	}
	V(counter);
	return counter -= sum;
}

__attribute__((section("fission_atomic_text"), noinline)) void transfer(void)
{
	PLACE("bank.c");
}

__attribute__((weak, noinline)) void weak_one(void)
{
	puts("");
}

/* A symbol within another, a label in it without a size, and code of line 0, which belongs to the line before. */
#ifdef __x86_64__
extern const char outer[], inner[], line_zero[];

__asm__(".pushsection .text\n"
	".type outer, @function\n" "outer: nop\n"
	".type inner, @function\n" "inner: nop\n" ".size inner, 1\n"
	"label: nop\n" ".size outer, . - outer\n"
	".popsection\n");

static __attribute__((noinline)) void assembler(void)
{
	__asm__ volatile("nop\n" ".loc 1 0\n" "line_zero: nop\n");
	printf("p %p\tbank.c:%d\n", (void *)line_zero, __LINE__ - 1);
	F(outer, "outer");
	F(outer + 1, "inner");
	F(outer + 2, "outer");
}
#else
static void assembler(void)
{
}
#endif

static void variables(void)
{
	V(balance);
	V(hidden);
	V(ticks[4]);
	V(accounts[2].balance);
	V(accounts[3].owner[11]);
	V(accounts[0].id);
	V(accounts[1].owner);
	V(accounts);
	V(favourite);
	V(mixed.whole);
	V(mixed.bytes[3]);
	V(mixed.pair.right);
	V(tree.kind);
	V(tree.x);
	V(tree.y);
	V(tree.value.half.high);
	V(tree.value.number);
	V(tree.table[1][2].held[1].balance);
	V(tree.table[0][1].next);
	V(grid[1][2][3]);
	V(grid[1][2]);
	V(grid[1]);
	V(tail.count);
	V(tail.slot[2]);
	V(flags.lock);
	V(flags.after);
}

/* Accesses that are not one member or element. */
static void crossings(void)
{
	V_SIZE(corner, 8, "corner.x");
	V_SIZE(corner, 16, "corner");
	V_SIZE(corner.y, 8, "corner.y");
	V_SIZE(((char *)&corner)[9], 1, "corner.y");
	V_SIZE(text[8], 8, "text[8]");
	V_SIZE(text[0], 8, "text");
	V_SIZE(text[0], 1, "text[0]");
	V_SIZE(accounts[1], 1000, "accounts[1]");
	V_SIZE(grid[1][1], 16, "grid[1][1]");
	V_SIZE(grid[1][1], 4, "grid[1][1][0]");
	V_SIZE(((char *)&flags)[offsetof(struct flags, lock) + 4], 1, "flags.dirty..wide");
	V_SIZE(((char *)&flags)[offsetof(struct flags, lock) + 5], 1, "flags.wide");
	V_SIZE(((char *)&flags)[offsetof(struct flags, lock) + 4], 4, "flags.dirty..wide");
	V_SIZE(flags, sizeof flags, "flags");
	printf("v %p 4\t\n", (void *)&per_thread);
}

static void functions(void)
{
	F(deposit, "deposit");
	F((char *)deposit + 3, "deposit");
	F(withdraw, "withdraw");
	F(transfer, "transfer");
	EXPORTED(deposit, 1);
	EXPORTED(withdraw, 0);
	EXPORTED(transfer, 1);
	EXPORTED(weak_one, 1);
}

void here(void)
{
	BIAS(here);
}

int main(void)
{
	extern char __start_fission_atomic_text[], __stop_fission_atomic_text[];

	here();
	deposit(1);
	withdraw(1);
	transfer();
	weak_one();
	assembler();
	variables();
	crossings();
	functions();
	PLACE("bank.c");
	printf("s fission_atomic_text\t%p %p\n", (void *)__start_fission_atomic_text, (void *)__stop_fission_atomic_text);
	printf("s none\t\n");
	return 0;
}

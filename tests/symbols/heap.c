/* SPDX-License-Identifier: MIT */
/* Memory from the heap, in every way that C programs write it down; and functions that are always inlined. */
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

/* The part of what was allocated `back` lines above, whose bytes start at `start`. */
#define PART_AS(back, start, bytes, part, name) \
	printf("h heap.c %d %s - %zu %zu %zu\t%s\n", __LINE__ - (back), __func__, (size_t)(bytes), \
		(size_t)((char *)&(part) - (char *)(start)), sizeof(part), name)
#define PART(back, start, bytes, part) PART_AS(back, start, bytes, part, #part)
#define CALLED(back, callee, bytes, offset, size, name) \
	printf("h heap.c %d %s %s %zu %zu %zu\t%s\n", __LINE__ - (back), __func__, callee, (size_t)(bytes), (size_t)(offset), \
		(size_t)(size), name)

typedef struct {
	int key, value;
} pair_t;

struct account {
	int id;
	struct {
		long low, high;
	} limit;
	union {
		long number;
		char text[8];
	} tag;
	unsigned open : 1, locked : 3;
	long balance;
	pair_t pairs[3];
};

struct message {
	int length;
	int word[];
};

struct bank {
	struct account *first;
	struct account **all;
	struct bank *next;
	void *extra;
	pair_t *pairs[2];
};

static struct bank bank;
static struct account *shared;

static void *xmalloc(size_t n)
{
	void *p = malloc(n);

	CALLED(2, "-", sizeof(struct account), 0, 4, "returned");
	if (!p)
		abort();
	return p;
}

static struct account *open_account(void)
{
	printf("h heap.c %d %s - %zu 0 4\theap.c:%d struct account.id\n", __LINE__ + 1, __func__, sizeof(struct account), __LINE__ + 1);
	return malloc(sizeof(struct account));
}

static void plain(void)
{
	struct account *account = malloc(sizeof *account);
	PART(1, account, sizeof *account, account->balance);
	PART(2, account, sizeof *account, account->limit.high);
	PART(3, account, sizeof *account, account->tag.number);
	PART(4, account, sizeof *account, account->tag.text[3]);
	PART(5, account, sizeof *account, account->pairs[1].value);
	PART(6, account, sizeof *account, account->id);
	PART_AS(7, account, sizeof *account, *account, "*account");
	CALLED(8, "-", sizeof *account, __builtin_offsetof(struct account, balance) - 8, 1, "account->open..locked");
	struct account *casted = (struct account *)calloc(1, sizeof(struct account));
	PART(1, casted, sizeof *casted, casted->balance);
	free(account);
	free(casted);
}

static void arrays(int n)
{
	struct account *many = calloc((size_t)n, sizeof *many);
	PART_AS(1, many, 7 * sizeof *many, many[3].balance, "many[].balance");
	PART_AS(2, many, 7 * sizeof *many, many[0].id, "many[].id");
	int *numbers = malloc((size_t)n * sizeof(int));
	PART_AS(1, numbers, 28, numbers[2], "numbers[]");
	long *one = malloc(sizeof *one);
	PART_AS(1, one, 8, *one, "*one");
	char *buffer = malloc(100);
	PART_AS(1, buffer, 100, buffer[64], "buffer[]");
	struct message *message = malloc(sizeof *message + 6 * sizeof message->word[0]);
	PART(1, message, 28, message->word[4]);
	PART(2, message, 28, message->length);
	pair_t *pairs = realloc(NULL, 4 * sizeof(pair_t));
	PART_AS(1, pairs, 32, pairs[2].value, "pairs[].value");
	free(many);
	free(numbers);
	free(one);
	free(buffer);
	free(message);
	free(pairs);
}

static void members(struct bank *b, struct account **out)
{
	b->first = malloc(sizeof *b->first);
	PART(1, b->first, sizeof(struct account), b->first->balance);
	b->all = calloc(4, sizeof *b->all);
	PART_AS(1, b->all, 32, b->all[1], "b->all[]");
	b->all[2] = malloc(sizeof(struct account));
	PART_AS(1, b->all[2], sizeof(struct account), b->all[2]->id, "b->all[]->id");
	b->next = malloc(sizeof *b->next);
	b->next->first = calloc(3, sizeof(struct account));
	PART_AS(1, b->next->first, 3 * sizeof(struct account), b->next->first[2].id, "b->next->first[].id");
	b->pairs[1] = malloc(sizeof(pair_t));
	PART_AS(1, b->pairs[1], 8, b->pairs[1]->value, "b->pairs[]->value");
	*out = malloc(sizeof **out);
	PART(1, *out, sizeof **out, (*out)->balance);
	bank.first = malloc(sizeof(struct account));
	PART(1, bank.first, sizeof(struct account), bank.first->balance);
	shared = malloc(sizeof *shared);
	PART(1, shared, sizeof *shared, shared->balance);
	if ((shared = malloc(sizeof *shared)) == NULL)
		abort();
	PART(2, shared, sizeof *shared, shared->balance);
}

static void callers(void)
{
	struct account *wrapped = xmalloc(sizeof *wrapped);
	CALLED(1, "xmalloc", sizeof *wrapped, 0, 4, "wrapped->id");
	struct account *opened = open_account();
	CALLED(1, "open_account", sizeof *opened, 0, 4, "opened->id");
	bank.extra = xmalloc(sizeof(struct account));
	CALLED(1, "xmalloc", sizeof(struct account), 0, 4, "bank.extra->id");
	free(wrapped);
	free(opened);
}

static void *pass(void *p)
{
	return p;
}

/* Nothing is better than what may be wrong. */
static void doubtful(void)
{
	struct account *a = malloc(sizeof *a); struct bank *b = malloc(sizeof *b);
	CALLED(1, "-", sizeof *a, 0, 4, "");
	struct account *c = pass(malloc(sizeof(pair_t) * 9));
	printf("h heap.c %d %s - 72 0 4\theap.c:%d pair_t[].key\n", __LINE__ - 1, __func__, __LINE__ - 1);
	struct account *d = malloc(sizeof *d + 3);
	CALLED(1, "-", sizeof *d + 3, 0, 4, "");
	void *e = malloc(64);
	CALLED(1, "-", 64, 0, 4, "");
	char *f = (char *)malloc(64) + 8;
	CALLED(1, "-", 64, 0, 4, "");
	/* struct account *g = malloc(sizeof *g); */
	CALLED(1, "-", sizeof *a, 0, 4, "");
	CALLED(1000, "-", sizeof *a, 0, 4, "");
	CALLED(15, "-", sizeof *a, 0, 4, "");
	for (int i = 0; i < 2; i++) {
		struct bank *c = malloc(sizeof *c);
		CALLED(1, "-", sizeof *c, 0, 8, "");
		free(c);
	}
	free(a), free(b), free(c), free(d), free(e), free(f - 8);
}

/* Inlined at every level of optimisation. */
static inline __attribute__((always_inline)) void inner(void)
{
	void *pc;

	__asm__ volatile("lea (%%rip), %0\n nop" : "=r"(pc));
	printf("i %p\tinner heap.c:%d, outer heap.c:%d\n", pc, __LINE__ + 6, __LINE__ + 11);
	printf("f %p\tinlining\n", pc);
}

static inline __attribute__((always_inline)) void outer(void)
{
	inner();
}

static __attribute__((noinline)) void inlining(void)
{
	outer();
}

void here(void)
{
	BIAS(here);
}

int main(void)
{
	struct account *out;

	here();
	plain();
	arrays(7);
	members(&bank, &out);
	callers();
	doubtful();
	inlining();
	return 0;
}

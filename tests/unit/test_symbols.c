/* SPDX-License-Identifier: MIT */
/* Names of addresses: spelling of paths and symbols by tables, and the rest asked about this very program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <link.h>

#include "base/arena.h"
#include "symbols/demangle.h"
#include "symbols/heap.h"
#include "symbols/source_path.h"
#include "symbols/symbols.h"

struct shelf {
	long weight;
	short slot[3];
};

int shelf_count;
static struct shelf shelves[2];

static void assert_text(struct text t, const char *expected)
{
	assert_string_equal(t.at ? t.at : "", expected);
	assert_int_equal(t.length, strlen(expected));
}

static void test_source_path(void **state)
{
	static const struct {
		const char *directory, *file, *expected;
	} cases[] = {
		{"/src/bank", "bank.c", "bank.c"},
		{"/src/bank", "./bank.c", "bank.c"},
		{"/src/bank/", ".//lib/./bank.c", "lib/bank.c"},
		{"/src/bank/build", "../src/bank.c", "src/bank.c"},
		{"/src/bank/build", "/src/bank/build/../src/bank.c", "src/bank.c"},
		{"/src/bank/build", "/src/bank/src/bank.c", "src/bank.c"},
		{"/src/bank", "/src/bank/bank.c", "bank.c"},
		{"/src/bank", "/src/bank.c", "bank.c"},
		{"/src/bank", "/src/bankrupt/bank.c", "bankrupt/bank.c"},
		{"/src/bank", "/opt/bank.c", "/opt/bank.c"},
		{"/", "/opt/bank.c", "/opt/bank.c"},
		{"/usr/src/bank/build", "/usr/src/bank/bank.c", "bank.c"},
		{"/usr/src/bank", "/usr/include/stdio.h", "/usr/include/stdio.h"},
		{"/usr/src/bank", "/usr/lib/gcc/12/include/stddef.h", "/usr/lib/gcc/12/include/stddef.h"},
		{"/usr/lib/bank", "/usr/lib/bank/bank.c", "bank.c"},
		{"/a", "../../../b/x.c", "/b/x.c"},
		{NULL, "bank.c", "bank.c"},
		{NULL, "../bank.c", "bank.c"},
		{NULL, "x/../../../bank.c", "bank.c"},
		{NULL, "/x/bank.c", "/x/bank.c"},
		{".", "./bank.c", "bank.c"},
		{"build", "../bank.c", "bank.c"},
		{"", "", ""},
	};
	struct arena a;

	(void)state;
	arena_init(&a);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_text(source_path(&a, cases[i].directory, cases[i].file), cases[i].expected);
	arena_free(&a);
}

static void test_demangle(void **state)
{
	static const struct {
		const char *symbol, *function, *variable;
	} cases[] = {
		{"transfer", "transfer", "transfer"},
		{"transfer.cold", "transfer", "transfer"},
		{"transfer.part.0", "transfer", "transfer"},
		{"transfer.constprop.1.isra.0.cold", "transfer", "transfer"},
		{"counter.0", "counter", "counter"},
		{"counter.4.lto_priv.12", "counter", "counter"},
		{"tsan.module_ctor", "tsan.module_ctor", "tsan.module_ctor"},
		{"f.colder", "f.colder", "f.colder"},
		{".cold", ".cold", ".cold"},
		{"f.", "f.", "f."},
		{"_ZN4Bank8transferEiRKd", "Bank::transfer", "Bank::transfer"},
		{"_ZN4Bank8transferEiRKd.part.0", "Bank::transfer", "Bank::transfer"},
		{"_ZN12_GLOBAL__N_16secretE", "(anonymous namespace)::secret", "(anonymous namespace)::secret"},
		{"_ZN4BankC2Ev", "Bank::Bank", "Bank::Bank"},
		{"_ZNK4BankeqERKS_", "Bank::operator==", "Bank::operator=="},
		{"_ZN4CellIlE3getEl", "Cell<long>::get", "Cell<long>::get"},
		{"_ZZN4Bank8transferEiE5calls", "Bank::transfer(int)::calls", "calls"},
		{"_Z", "_Z", "_Z"},
		{"_ZN4Ban", "_ZN4Ban", "_ZN4Ban"},
		{"", "", ""},
	};
	struct arena a;

	(void)state;
	arena_init(&a);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_text(demangle_function(&a, cases[i].symbol), cases[i].function);
		assert_text(demangle_variable(&a, cases[i].symbol), cases[i].variable);
	}
	arena_free(&a);
}

static int add_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct symbols_module m = {.path = info->dlpi_name, .bias = info->dlpi_addr, .start = UINT64_MAX};
	char *self = NULL;

	(void)size;
	if (*m.path == 0) {
		m.path = self = realpath("/proc/self/exe", NULL);
		m.is_program = true;
	}
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uint64_t start = m.bias + info->dlpi_phdr[i].p_vaddr, end = start + info->dlpi_phdr[i].p_memsz;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		m.start = start < m.start ? start : m.start;
		m.end = end > m.end ? end : m.end;
	}
	symbols_add(arg, m);
	free(self);
	return 0;
}

static struct symbols *of_this_program(struct arena *a)
{
	struct symbols *s;

	arena_init(a);
	s = symbols_new(a);
	dl_iterate_phdr(add_module, s);
	return s;
}

__attribute__((noinline)) uint64_t test_symbols_return_address(void);

uint64_t test_symbols_return_address(void)
{
	return (uintptr_t)__builtin_return_address(0);
}

static void test_code_of_this_program(void **state)
{
	struct arena a;
	struct symbols *s = of_this_program(&a);
	uint64_t global = (uintptr_t)test_symbols_return_address, local = (uintptr_t)test_code_of_this_program, pc;
	char expected[64];
	int on_stack;

	(void)state;
	assert_text(symbols_function(s, global), "test_symbols_return_address");
	assert_true(symbols_is_exported(s, global));
	assert_false(symbols_is_foreign(s, global));
	assert_text(symbols_function(s, local), "test_code_of_this_program");
	assert_false(symbols_is_exported(s, local));
	assert_true(symbols_is_foreign(s, (uintptr_t)dlerror)); /* libc's, which no sanitizer stands in for */
	assert_true(symbols_is_exported(s, (uintptr_t)dlerror));
	pc = test_symbols_return_address(), snprintf(expected, sizeof expected, "tests/unit/test_symbols.c:%d", __LINE__);
	assert_text(symbols_place(s, pc - 1), expected);
	assert_text(symbols_function(s, 16), "0x10");
	assert_text(symbols_place(s, 16), "0x10");
	assert_text(symbols_variable(s, 16, 4), "");
	assert_text(symbols_variable(s, (uintptr_t)&on_stack, 4), "");
	symbols_close(s);
	arena_free(&a);
}

static void test_data_of_this_program(void **state)
{
	struct arena a;
	struct symbols *s = of_this_program(&a);
	char *heap = malloc(16);

	(void)state;
	shelves[1].weight = ++shelf_count;
	assert_text(symbols_variable(s, (uintptr_t)&shelf_count, 4), "shelf_count");
	assert_text(symbols_variable(s, (uintptr_t)&shelves[1].weight, 8), "shelves[1].weight");
	assert_text(symbols_variable(s, (uintptr_t)&shelves[0].slot[2], 2), "shelves[0].slot[2]");
	assert_text(symbols_variable(s, (uintptr_t)&shelves[0], sizeof shelves[0]), "shelves[0]");
	assert_text(symbols_variable(s, (uintptr_t)heap, 8), "");
	symbols_close(s);
	assert_text(symbols_variable(symbols_new(&a), (uintptr_t)&shelf_count, 4), "");
	free(heap);
	arena_free(&a);
}

/* Which of three modules without a file lies at each of the addresses 10, 20, ... 90. */
static void assert_layout(struct symbols *s, const char *expected)
{
	for (int i = 0; i < 9; i++) {
		struct text t = symbols_function(s, (uint64_t)(i + 1) * 10);

		assert_int_equal(t.at[0], expected[i]);
	}
}

static void put(struct symbols *s, const char *path, uint64_t start, uint64_t end)
{
	symbols_add(s, (struct symbols_module){.path = path, .start = start, .end = end});
}

static void test_modules_replace_others(void **state)
{
	struct symbols *s;
	struct arena a;

	(void)state;
	arena_init(&a);
	s = symbols_new(&a);
	assert_layout(s, "000000000");
	put(s, "a", 20, 80);
	assert_layout(s, "0aaaaaa00");
	put(s, "b", 40, 60);
	assert_layout(s, "0aabbaa00");
	put(s, "c", 50, 70);
	assert_layout(s, "0aabcca00");
	put(s, "b", 10, 20);
	assert_layout(s, "baabcca00");
	put(s, "b", 90, 90);
	assert_layout(s, "baabcca00");
	put(s, "c", 15, 100);
	assert_layout(s, "bcccccccc");
	put(s, "a", 0, UINT64_MAX);
	assert_layout(s, "aaaaaaaaa");
	symbols_close(s);
	arena_free(&a);
}

static void test_bare_names(void **state)
{
	struct symbols *s;
	struct arena a;
	uint32_t vdso, odd;

	(void)state;
	arena_init(&a);
	s = symbols_new(&a);
	vdso = symbols_add(s, (struct symbols_module){"linux-vdso.so.1", NULL, 0x1000, 0x1000, 0x2000, false});
	odd = symbols_add(s, (struct symbols_module){"/none/a\nb.so", "", 0x3000, 0x3000, 0x4000, false});
	assert_text(symbols_function(s, 0x1234), "linux-vdso.so.1+0x234");
	assert_true(symbols_is_foreign(s, 0x1234));
	assert_text(symbols_complaint(s, vdso), "");
	assert_text(symbols_place(s, 0x3001), "a?b.so+0x1");
	assert_false(symbols_is_foreign(s, 0x3001));
	assert_int_equal(strncmp(symbols_complaint(s, odd).at, "/none/a?b.so: ", 14), 0);
	assert_text(symbols_complaint(s, 7), "");
	symbols_close(s);
	arena_free(&a);
}

/* The site of whatever held the address then; 0 if nobody can say. */
static site_id maker(struct heap *h, uint64_t address, uint64_t seq)
{
	struct life l;

	return heap_find(h, address, seq, &l) ? l.site : 0;
}

static void make(struct heap *h, uint64_t start, uint64_t bytes, site_id site, uint64_t seq)
{
	heap_add(h, (struct life){.start = start, .bytes = bytes, .site = site, .last = seq});
}

static void test_lives_of_memory(void **state)
{
	struct arena a;
	struct heap h;

	(void)state;
	arena_init(&a);
	heap_init(&h, &a);
	make(&h, 0x1000, 48, 1, 10);
	make(&h, 0x1030, 16, 2, 11);
	assert_int_equal(maker(&h, 0x102f, 20), 1);
	assert_int_equal(maker(&h, 0x1030, 20), 2);
	assert_int_equal(maker(&h, 0x1040, 20), 0);
	assert_int_equal(maker(&h, 0xfff, 20), 0);
	assert_int_equal(maker(&h, 0x1000, 9), 0); /* not made yet */
	make(&h, 0x1000, 48, 3, 30); /* another life in the same place */
	assert_int_equal(maker(&h, 0x1008, 30), 3);
	assert_int_equal(maker(&h, 0x1008, 29), 1);
	make(&h, 0x1010, 64, 4, 40); /* of parts of both */
	assert_int_equal(maker(&h, 0x1030, 40), 4);
	assert_int_equal(maker(&h, 0x1008, 40), 3);
	make(&h, 0x1030, 16, 2, 50);
	assert_int_equal(maker(&h, 0x1030, 50), 2);
	make(&h, 0x1010, 64, 4, 60); /* 4 again: between its lives there was another */
	assert_int_equal(maker(&h, 0x1030, 60), 4);
	assert_int_equal(maker(&h, 0x1030, 55), 0);
	arena_free(&a);
}

static void test_large_memory(void **state)
{
	struct arena a;
	struct heap h;

	(void)state;
	arena_init(&a);
	heap_init(&h, &a);
	make(&h, 0x100000, 1 << 20, 1, 1);
	make(&h, 0x400000, 32, 2, 2);
	assert_int_equal(maker(&h, 0x1fffff, 5), 1);
	assert_int_equal(maker(&h, 0x200000, 5), 0);
	assert_int_equal(maker(&h, 0x100000, 5), 1);
	assert_int_equal(maker(&h, 0x40001f, 5), 2);
	for (site_id i = 1; i <= 20; i++) /* only the last few lives are kept */
		make(&h, 0x400000, 32, 10 + i, 10 + i);
	assert_int_equal(maker(&h, 0x400000, 30), 30);
	assert_int_equal(maker(&h, 0x400000, 23), 23);
	assert_int_equal(maker(&h, 0x400000, 12), 0);
	assert_true(h.count <= 10);
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_source_path),
		cmocka_unit_test(test_demangle),
		cmocka_unit_test(test_code_of_this_program),
		cmocka_unit_test(test_data_of_this_program),
		cmocka_unit_test(test_modules_replace_others),
		cmocka_unit_test(test_bare_names),
		cmocka_unit_test(test_lives_of_memory),
		cmocka_unit_test(test_large_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

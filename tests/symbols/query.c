/* SPDX-License-Identifier: MIT */
/*
 * Asks src/symbols/ about one module: symbols_query PATH BIAS START END [BUILD_ID [DEBUG_ROOT]]. Numbers are in C.
 * Each line of standard input is a question, each line of standard output its answer:
 *   f ADDRESS        the function        p ADDRESS  the place        v ADDRESS SIZE  the variable
 *   x ADDRESS        1 if exported       o ADDRESS  1 if foreign     s NAME          a section, "START END"
 *   i ADDRESS        what is inlined there, the innermost first: "FUNCTION PLACE, ..."
 *   c                what is wrong with the module
 *   h FILE LINE FUNCTION CALLEE BYTES OFFSET SIZE   the part of what was allocated there, "-" for what is not known; a
 *                    name of a type is followed by its place, and "returned" stands for memory that is handed on
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "symbols/allocation.h"
#include "symbols/inlines.h"
#include "symbols/symbols.h"

/* Names from a damaged file may have any bytes; an answer is one line of text all the same. */
static void put(struct text t)
{
	for (size_t i = 0; i < t.length; i++)
		putchar(t.at[i] >= ' ' && t.at[i] <= '~' ? t.at[i] : '?');
}

static void print(struct text t)
{
	put(t);
	putchar('\n');
}

static void print_section(struct symbols *s, uint32_t module, char *name)
{
	uint64_t start, end;

	name[strcspn(name, "\n")] = 0;
	if (symbols_section(s, module, name, &start, &end))
		printf("%#" PRIx64 " %#" PRIx64 "\n", start, end);
	else
		printf("\n");
}

static struct text word(char **rest)
{
	char *at = *rest + strspn(*rest, " ");
	size_t n = strcspn(at, " \n");

	*rest = at + n + (at[n] != 0);
	at[n] = 0;
	return strcmp(at, "-") ? (struct text){at, n} : (struct text){"", 0};
}

static void print_part(struct symbols *s, struct arena *a, char *rest)
{
	struct allocation_at at = {.file = word(&rest), .line = strtoull(word(&rest).at, NULL, 0)};
	struct allocation x;
	uint64_t offset;

	at.function = word(&rest);
	at.callee = word(&rest);
	at.bytes = strtoull(word(&rest).at, NULL, 0);
	offset = strtoull(word(&rest).at, NULL, 0);
	if (!symbols_allocation(s, &at, &x)) {
		printf("\n");
		return;
	}
	if (x.typed && !x.is_variable) {
		put(x.file);
		printf(":%d ", (int)x.line);
	}
	print(x.typed ? allocation_name(&x, a, offset, strtoull(word(&rest).at, NULL, 0)) :
		x.returned ? (struct text){"returned", 8} : (struct text){0});
}

static void print_inlined(struct symbols *s, uint64_t pc)
{
	struct inlined at[INLINED_MOST];
	size_t n = symbols_inlined(s, pc, at);

	for (size_t i = 0; i < n; i++) {
		printf(i ? ", " : "");
		put(at[i].function);
		printf(" ");
		put(at[i].place);
	}
	printf("\n");
}

static void answer(struct symbols *s, struct arena *a, uint32_t module, char *line)
{
	char *rest = line + 1 + strspn(line + 1, " ");
	uint64_t address = strtoull(rest, &rest, 0), size = strtoull(rest, NULL, 0);

	switch (line[0]) {
	case 'f': print(symbols_function(s, address)); break;
	case 'p': print(symbols_place(s, address)); break;
	case 'v': print(symbols_variable(s, address, size)); break;
	case 'x': printf("%d\n", symbols_is_exported(s, address)); break;
	case 'o': printf("%d\n", symbols_is_foreign(s, address)); break;
	case 's': print_section(s, module, line + 2); break;
	case 'i': print_inlined(s, address); break;
	case 'h': print_part(s, a, line + 1); break;
	case 'c': print(symbols_complaint(s, module)); break;
	default: printf("?\n");
	}
}

int main(int argc, char **argv)
{
	char line[4096];
	struct symbols *s;
	struct arena a;
	uint32_t module;

	if (argc < 5) {
		fprintf(stderr, "usage: symbols_query PATH BIAS START END [BUILD_ID [DEBUG_ROOT]]\n");
		return 64;
	}
	arena_init(&a);
	s = symbols_new(&a);
	if (argc > 6)
		symbols_debug_root(s, argv[6]);
	module = symbols_add(s, (struct symbols_module){
		.path = argv[1],
		.bias = strtoull(argv[2], NULL, 0),
		.start = strtoull(argv[3], NULL, 0),
		.end = strtoull(argv[4], NULL, 0),
		.build_id = argc > 5 ? argv[5] : NULL,
	});
	while (fgets(line, sizeof line, stdin))
		answer(s, &a, module, line);
	symbols_close(s);
	arena_free(&a);
	return 0;
}

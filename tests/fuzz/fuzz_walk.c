/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a walk: it is read, or refused with a reason. What is read must hold together, whatever it says: parts
 * come before what has them, widths fit, conditions and slices are of things that are there.
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fail.h"
#include "symbolic/slice.h"
#include "symbolic/walk_read.h"

enum { SLICES_MOST = 20 };

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "fuzz: %s\n", what);
	abort();
}

static void look_at_node(const struct walk *w, const struct walk_node *n, const bool *known)
{
	must(n->width >= 1 && n->width <= 64, "a width that nothing has");
	must(n->value == walk_bits(n->value, n->width), "a value that is wider than it is");
	must(n->kind != WALK_INPUT || n->a < w->inputs, "an input that is not there");
	if (n->kind != WALK_NODE)
		return;
	must(n->op < WALK_OPS && known[n->a] && (n->op == WALK_BYTE || !n->b || n->b < w->nodes), "an operation on nothing");
	must(n->op != WALK_CHOOSE || (known[n->b] && known[n->c]), "a choice of nothing");
}

static void look_at_slice(const struct walk *w, const struct slice *s, size_t condition)
{
	for (size_t i = 0; i < s->conditions.count; i++)
		must(s->conditions.at[i] < condition, "a condition that came later");
	for (size_t i = 0; i < s->inputs.count; i++)
		must(s->inputs.at[i] < w->inputs, "an input of a slice that is not there");
}

static void look_at(const struct walk *w, struct arena *a)
{
	bool *known = arena_alloc(a, w->nodes + 1);
	struct slices slices;

	for (size_t i = 0; i < w->definitions; i++) {
		look_at_node(w, &w->node[w->defined[i]], known);
		known[w->defined[i]] = true;
	}
	slices_init(&slices, w, a);
	for (size_t i = 0; i < w->conditions && i < SLICES_MOST; i++) {
		struct slice s = slice_make(&slices, i);

		must(known[w->condition[i].expr], "a condition on nothing");
		look_at_slice(w, &s, i);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("walk", MFD_CLOEXEC);
	struct fault fault = {0};
	struct arena a;
	struct walk w;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	arena_init(&a);
	if (walk_read(&w, &a, fd, &fault)) {
		look_at(&w, &a);
		walk_close(&w);
	} else {
		must(fault.status == STATUS_TRACE && *fault.text, "refused without a reason");
	}
	arena_free(&a);
	close(fd);
	return 0;
}

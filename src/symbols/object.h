/* SPDX-License-Identifier: MIT */
/*
 * One file of a program: its symbols and its debug information, in the file's own addresses. Read when something is
 * asked for first: the symbols on opening, line tables and variables each on their own, since a run may need one only.
 */
#ifndef FISSION_SYMBOLS_OBJECT_H
#define FISSION_SYMBOLS_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"

struct allocation;
struct allocation_at;
struct arena;
struct inlined;
struct object;

/* Not yet open. The texts are copied; `build_id` is "" where it is not known. */
struct object *object_new(struct arena *a, const char *path, const char *build_id);

bool object_is(const struct object *o, const char *path, const char *build_id);

/* Opens it unless that was tried before. */
void object_open(struct object *o, const char *debug_root); /* NULL: symbols are enough */

void object_close(struct object *o);

const char *object_base_name(const struct object *o);

/* Why nothing, or less, is known of the file; empty if nothing is wrong. */
struct text object_complaint(const struct object *o);

/* As those of symbols.h, of an open object; empty where nothing is known. */
struct text object_function(struct object *o, uint64_t address);
struct text object_place(struct object *o, uint64_t address);
struct text object_variable(struct object *o, uint64_t address, uint64_t size);
size_t object_inlined(struct object *o, uint64_t address, struct inlined *to);
bool object_allocation(struct object *o, const struct allocation_at *at, struct allocation *to);
bool object_is_exported(const struct object *o, uint64_t address);
bool object_section(const struct object *o, const char *name, uint64_t *start, uint64_t *end);

/* Whether it lies where systems keep their libraries, or is no file at all but the kernel's. */
bool object_is_system(const struct object *o);

#endif

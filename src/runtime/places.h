/* SPDX-License-Identifier: MIT */
/*
 * The places that an order names, where they lie in this process, and how often each thread has come by. Modules go by
 * their file's own name.
 */
#ifndef FISSION_RUNTIME_PLACES_H
#define FISSION_RUNTIME_PLACES_H

#include <stdbool.h>
#include <stdint.h>

struct order;

/* Keeps the order. Whatever there is no memory for has no place. */
void places_start(const struct order *o);
/* What is loaded has changed. */
void places_modules(void);

struct place {
	uint32_t module;
	uint64_t offset;
};

/* Where the address is in the order's modules; ORDER_NO_MODULE if in none. */
struct place places_of(uintptr_t pc);

extern uint64_t places_filter[64] __attribute__((visibility("hidden")));

/* Whether the order may name the place: a quick look. */
static inline bool places_may(uintptr_t pc)
{
	return places_filter[pc >> 6 & 63] >> (pc & 63) & 1;
}

/* The thread comes by with an operation of that kind: the how-manieth, if the order names it; otherwise 0. */
uint32_t places_count(uint32_t thread, uint32_t kind, struct place p);

#endif

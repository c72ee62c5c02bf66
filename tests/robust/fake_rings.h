/* SPDX-License-Identifier: MIT */
/* A channel in the test's own memory, and rings that it fills as the library would, or as no library would. */
#ifndef FISSION_TESTS_FAKE_RINGS_H
#define FISSION_TESTS_FAKE_RINGS_H

#include "runtime/channel.h"

/* A channel of that many rings, none in use. */
struct channel *fake_channel(uint32_t rings);
void fake_channel_free(struct channel *c);

/* A thread takes the ring. */
struct self *fake_thread(struct channel *c, uint32_t ring, uint32_t process, uint32_t thread);

/* Slots. The first ones reserve and write; fake_reserve leaves them empty, and returns where they are. */
void fake_put(struct self *s, uint64_t first, uint64_t second);
uint64_t fake_reserve(struct self *s, uint64_t slots);
void fake_write(struct self *s, uint64_t at, uint64_t first, uint64_t second);

uint64_t fake_first(enum entry_kind kind, unsigned small, uint64_t address);

/* A synchronisation entry with that ticket; with the next one. */
void fake_sync_at(struct self *s, enum entry_kind kind, uint64_t object, uint64_t ticket);
void fake_sync(struct channel *c, struct self *s, enum entry_kind kind, uint64_t object);

#endif

/* SPDX-License-Identifier: MIT */
#include "fake_rings.h"

#include <assert.h>
#include <stddef.h>
#include <sys/mman.h>

struct channel *fake_channel(uint32_t rings)
{
	uint64_t bytes = CHANNEL_PAGE + (uint64_t)rings * RING_SPAN;
	struct channel *c = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert(c != MAP_FAILED);
	c->magic = CHANNEL_MAGIC;
	c->version = CHANNEL_VERSION;
	c->bytes = bytes;
	return c;
}

void fake_channel_free(struct channel *c)
{
	munmap(c, c->bytes);
}

struct self *fake_thread(struct channel *c, uint32_t ring, uint32_t process, uint32_t thread)
{
	struct self *s = channel_ring(c, ring);

	s->process = process;
	s->thread = thread;
	s->pid = (int32_t)process + 1000;
	s->tid = (int32_t)thread + 1000;
	s->head = s->tail;
	s->state = RING_USED;
	if (c->rings <= ring)
		c->rings = ring + 1;
	return s;
}

uint64_t fake_reserve(struct self *s, uint64_t slots)
{
	uint64_t at = s->head;

	s->head += slots * SLOT;
	return at;
}

void fake_write(struct self *s, uint64_t at, uint64_t first, uint64_t second)
{
	*ring_slot(s, at) = (struct slot){{first, second}};
}

void fake_put(struct self *s, uint64_t first, uint64_t second)
{
	fake_write(s, fake_reserve(s, 1), first, second);
}

uint64_t fake_first(enum entry_kind kind, unsigned small, uint64_t address)
{
	return address << 16 | (uint64_t)(small & 255) << 8 | (uint64_t)kind;
}

void fake_sync_at(struct self *s, enum entry_kind kind, uint64_t object, uint64_t ticket)
{
	uint64_t at = fake_reserve(s, 2);

	fake_write(s, at + SLOT, fake_first(ENTRY_TICKET, 0, ticket), 0);
	fake_write(s, at, fake_first(kind, 0, object), 0x401000);
}

void fake_sync(struct channel *c, struct self *s, enum entry_kind kind, uint64_t object)
{
	fake_sync_at(s, kind, object, ++c->ticket);
}

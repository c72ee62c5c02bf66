/* SPDX-License-Identifier: MIT */
/*
 * The rings of all threads as one stream, in an order that the program could have run in.
 *
 * Within a ring, slots are in order. Across rings, synchronisation entries come by their tickets 1, 2, 3, ...; what
 * stands between two of them in a ring comes anywhere between those two. So of two conflicting accesses of a
 * race-free program the first comes first; accesses that race come in any order.
 *
 * A release may have no ticket. It comes before every acquire that is handed on after it was seen: what is in the rings
 * that may have one is taken first.
 *
 * A ticket may be missing for ever: its owner was killed before it wrote the entry. Then no ring of a living process
 * has a slot that is reserved and still empty, and the ticket is given up.
 *
 * A slot may stay empty for ever, too, or for long: a signal handler has interrupted the hook that reserved it, and
 * waits for something, or has left by longjmp. If everything stands still and the thread sleeps, or waits for room, such
 * a hole is skipped (merge_skip, merge_relieve); should the hook write it later after all, that is wiped out before
 * the slot's next turn.
 *
 * A signal handler that comes up between a hook's slots and its ticket has the smaller tickets behind the greater one.
 * Then the entry that was interrupted is laid aside until the handler's have had their turn.
 *
 * A trail is taken up to where a TRAIL entry says that it had come, and is handed on in the place of that; the rest of it
 * when its thread has ended.
 *
 * Nothing in the channel is trusted: kinds, lengths, numbers and tickets are checked here, texts have no control
 * characters, and a ring that makes no sense is abandoned and counted.
 *
 * Cost: a load or two an entry, and a call; entries in a row share the call, also over tickets whose turn it is. Rings that
 * wait for a ticket stand in a table by ticket, so that whose turn it is next is known at once, however many there are;
 * where two fall on one place of it, the next round over all rings finds the other one.
 */
#ifndef FISSION_COLLECT_MERGE_H
#define FISSION_COLLECT_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/seg.h"
#include "runtime/channel.h"

/* One entry, taken out of its slots. */
struct entry {
	uint8_t kind;  /* enum entry_kind */
	uint8_t stream; /* enum entry_stream, 0 for both */
	uint8_t small;
	uint16_t extra;
	uint64_t address, pc;
	uint64_t second;   /* word 1 as it is, where there is no pc */
	uint64_t ticket;   /* of a synchronisation entry */
	uint64_t argument; /* likewise; bytes of a range */
	uint8_t behind;    /* likewise: of its ticket's slot, `small` */
	bool unlocked;     /* of an acquire: its release, which has no ticket, is the thread's next entry and came along */
	uint8_t unlock_small; /* likewise: of that */
	uint64_t unlock;      /* likewise: its word 1 */
	const char *text;  /* of a TEXT entry, `extra` bytes and a NUL; until the next entry */
	const struct slot *round; /* of a LOOP: its items, `small` of them, for `argument` accesses; until the next entry */
};

/* What comes next in a ring, from the slot at `slots` on, no more than `most` slots: see struct merge_listener. */
struct merge_row {
	struct merge *merge;
	struct ring *of;
	uint32_t ring;
	const struct slot *slots;
	size_t most;
	size_t joined; /* slots of those that were taken which are not an entry each */
};

/* Who takes the entries. `ring` is the number of the ring. */
struct merge_listener {
	void *self;
	void (*begin)(void *self, uint32_t ring, const struct self *thread); /* before the first entry of a thread */
	void (*entry)(void *self, uint32_t ring, const struct entry *e);
	void (*finish)(void *self, uint32_t ring); /* after its last one, however the thread ended */
	/*
	 * What comes next, slot by slot, as long as it is of a sort that it can take in a row. Returns how many slots it took,
	 * 0 too; the next entry comes to `entry` then. Slots may change until they are taken, and must be read once. An
	 * UNLOCK is told to merge_row_unlock(), entries of more than one slot are asked for by merge_row_sync() and
	 * merge_row_past(). NULL: each entry comes to `entry`.
	 */
	size_t (*row)(void *self, struct merge_row *row);
	uint64_t row_kinds; /* a bit each: what a row may begin with */
	bool pairs; /* it takes an acquire and its release as one entry */
	/* What comes next is in the thread's trail: so many bytes, which the program may write to; whole tokens, if it is ours. */
	void (*trail)(void *self, uint32_t ring, const unsigned char *bytes, size_t n); /* NULL: there are no trails */
	void (*trail_count)(void *self, uint32_t ring, uint32_t n); /* behind them, by the producer's count; with `trail` */
};

/* What the merge knows of a ring. */
struct ring {
	uint64_t tail;    /* consumed so far */
	uint64_t blocked; /* the ticket it waits to have its turn, be it another's, or 0 */
	uint64_t told;    /* of tail: what the producer knows */
	uint64_t trail;   /* bytes of its trail that were taken */
	uint64_t hole, hole_end; /* slots that were skipped and may still be written; none if equal */
	struct entry *aside; /* interrupted before they had their tickets; the last one has the smallest */
	size_t asides, aside_capacity;
	uint64_t until;      /* the ticket behind them that is to come first; 0: none */
	bool open;    /* begin was called */
	bool dead;    /* its thread is gone: what is complete is all there will be */
	bool insane;  /* what it holds makes no sense */
	bool stuck;   /* what it has in the making is not to be waited for */
	uint32_t owes; /* its thread may release without a ticket: its place in `owing`, from 1; 0: it has none */
};

enum { MERGE_TURNS = 4096 };

/* A ring that waits. */
struct turn {
	uint64_t ticket;
	uint32_t ring;
};

/* A ring whose thread may release the lock that it took last, with that ticket, without one. */
struct owing {
	uint64_t lock, ticket; /* lock 0: it may not, and nothing is owed */
	uint32_t ring;
};

struct merge {
	struct channel *channel;
	struct merge_listener to;
	struct arena *arena;
	struct seg rings; /* struct ring */
	uint32_t most;    /* rings that there is room for */
	uint64_t next;    /* ticket whose turn it is */
	uint64_t last;    /* ticket that is handed on; UINT64_MAX at first */
	uint64_t taken;   /* so many were, when we looked last */
	uint64_t entries; /* handed on */
	uint64_t given_up; /* tickets that never came */
	uint64_t cut_off;  /* threads that ended with their process: each may have taken a ticket, and have done no more */
	uint64_t late;     /* tickets that came after they had been given up */
	uint64_t skipped;  /* holes */
	uint64_t insane;   /* rings that were abandoned */
	struct owing *owing; /* of rings whose last ticket was an acquire: see channel.h */
	size_t owings, owing_capacity;
	bool unlocks;      /* there may be releases without tickets */
	bool pairs;        /* and they are handed on with their acquires */
	bool catching_up;  /* with them */
	bool loops;        /* there may be LOOP entries */
	struct slot round[LOOP_ITEMS];
	struct turn turn[MERGE_TURNS]; /* by the low bits of the ticket */
	char text[TEXT_MOST + 8];
};

void merge_init(struct merge *m, struct arena *a, struct channel *c, struct merge_listener to);

/*
 * The entry at number n of the row, whose first word is `first`, if it has a ticket and it is its turn; with the release
 * behind it, if those are taken together. Others may be handed on before it. Returns how many slots it has, 0: it is none
 * for the row. The fields of e that such an entry does not have stay as they are.
 */
size_t merge_row_sync(struct merge_row *row, size_t n, uint64_t first, struct entry *e);

/* The same for an access of the past. */
size_t merge_row_past(struct merge_row *row, size_t n, uint64_t first, struct entry *e);

/* A release without a ticket is taken. */
void merge_row_unlock(struct merge_row *row);

/* Takes what there is. Returns whether there was anything. */
bool merge_step(struct merge *m);

/*
 * Rings whose thread is still to be heard of, for asking who lives: from *from on, which moves on. False at the end of
 * the list.
 */
struct merge_owner {
	uint32_t ring;
	uint32_t process;
	int pid, tid;
	bool stuck; /* its next slot is reserved and empty */
};

bool merge_owners(struct merge *m, uint32_t *from, struct merge_owner *o);

/* The ring's thread will write no more. */
void merge_dead(struct merge *m, uint32_t ring);

/*
 * Nothing has come just now: goes on behind entries whose turn comes after that of one behind them, and behind the holes
 * of rings that are more than full. Their threads wait for room, so whatever they have interrupted will not be written
 * before. Returns whether there is anything.
 */
bool merge_relieve(struct merge *m);

/* The ring's thread sleeps, with an entry in the making: goes on behind it. Returns whether there is anything. */
bool merge_skip(struct merge *m, uint32_t ring);

/* Whether the last ticket was taken: nothing that has one is handed on from here on. */
bool merge_is_over(const struct merge *m);

/* Whether a ring waits for its owner: a process that is just being forked. */
bool merge_expects(struct merge *m);

/* Nothing has come for a while: gives up a ticket that will never come. Returns whether it did. */
bool merge_unblock(struct merge *m);

/* Every process is gone, or nobody waits for it any more: takes the rest, in order, and finishes all threads. */
void merge_end(struct merge *m);

#endif

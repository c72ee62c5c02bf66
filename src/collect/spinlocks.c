/* SPDX-License-Identifier: MIT */
#include "spinlocks.h"

#include "base/arena.h"
#include "runtime/channel.h"

struct spin_object {
	thread_id holder;             /* 0: nobody */
	bool proven;                  /* it was taken and given back by one thread */
	bool refuted;                 /* it is no lock */
	struct spin_operation taken;  /* how the holder has taken it */
	struct spin_attempt *waiting; /* of threads that have tried in vain */
};

void spinlocks_init(struct spinlocks *s, struct arena *a, struct spin_listener to)
{
	*s = (struct spinlocks){.to = to};
	map_init(&s->ids, a);
	seg_init(&s->objects, a, sizeof(struct spin_object));
}

static struct spin_object *object_at(struct spinlocks *s, uint32_t id)
{
	return seg_at(&s->objects, id, sizeof(struct spin_object));
}

static uint32_t object_of(struct spinlocks *s, const struct spin_operation *o)
{
	uint32_t *id = map_put(&s->ids, o->event.object);

	if (!*id)
		*id = ++s->count;
	return *id;
}

/* What an operation is. */

static bool acquires(const struct spin_operation *o)
{
	return o->event.order == ORDER_ACQUIRE || o->event.order == ORDER_ACQ_REL || o->event.order == ORDER_SEQ_CST;
}

static bool releases(const struct spin_operation *o)
{
	return o->event.order == ORDER_RELEASE || o->event.order == ORDER_ACQ_REL || o->event.order == ORDER_SEQ_CST;
}

static bool is_take(const struct spin_operation *o)
{
	return o->event.kind == EVENT_ATOMIC_RMW && o->flags & ATOMIC_SWAPS && o->flags & ATOMIC_FROM_ZERO &&
		!(o->flags & ATOMIC_TO_ZERO) && acquires(o);
}

static bool is_give(const struct spin_operation *o)
{
	if (!(o->flags & ATOMIC_TO_ZERO) || o->flags & ATOMIC_FROM_ZERO || !releases(o))
		return false;
	return o->event.kind == EVENT_ATOMIC_STORE || (o->event.kind == EVENT_ATOMIC_RMW && o->flags & ATOMIC_SWAPS);
}

static bool is_attempt(const struct spin_operation *o)
{
	if (o->event.kind == EVENT_ATOMIC_LOAD)
		return true;
	return o->event.kind == EVENT_ATOMIC_RMW && o->flags & ATOMIC_SWAPS && o->flags & ATOMIC_SAME &&
		!(o->flags & ATOMIC_FROM_ZERO);
}

/* Attempts. */

static void forget(struct spinlocks *s, struct spin_attempt *a)
{
	struct spin_attempt **link = &object_at(s, a->object)->waiting;

	if (!a->object)
		return;
	while (*link && *link != a)
		link = &(*link)->next;
	if (*link)
		*link = a->next;
	a->object = 0;
}

static void hold_back(struct spinlocks *s, struct spin_attempt *a, uint32_t id, const struct spin_operation *o)
{
	struct spin_object *x = object_at(s, id);

	*a = (struct spin_attempt){.operation = *o, .object = id, .next = x->waiting};
	x->waiting = a;
}

static void changed_hands(struct spin_object *x)
{
	for (struct spin_attempt *a = x->waiting; a; a = a->next)
		a->stale = true;
}

static void hand_on(struct spinlocks *s, struct spin_attempt *a)
{
	bool stale = a->stale;

	forget(s, a);
	if (!stale)
		s->to.atomic(s->to.self, &a->operation);
}

/* It is no lock: what was held back comes before the operation that has shown it; a period that is open ends here. */
static void refute(struct spinlocks *s, struct spin_object *x)
{
	x->refuted = true;
	while (x->waiting)
		hand_on(s, x->waiting);
	if (x->proven && x->holder)
		s->to.lock(s->to.self, &x->taken, x->holder, EVENT_RELEASE);
}

void spinlocks_go_on(struct spinlocks *s, struct spin_attempt *a)
{
	struct spin_object *x = object_at(s, a->object);

	if (!a->object)
		return;
	if (a->operation.flags & ATOMIC_FROM_ZERO)
		refute(s, x);
	else
		hand_on(s, a);
}

/* Periods. */

static void take(struct spinlocks *s, struct spin_object *x, const struct spin_operation *o)
{
	changed_hands(x);
	x->holder = o->event.thread;
	x->taken = *o;
	s->to.atomic(s->to.self, o);
	if (x->proven)
		s->to.lock(s->to.self, o, o->event.thread, EVENT_ACQUIRE);
}

/* The first period is told of as a whole when it ends: the acquire that follows must come after its release. */
static void give(struct spinlocks *s, struct spin_object *x, const struct spin_operation *o)
{
	changed_hands(x);
	if (!x->proven)
		s->to.lock(s->to.self, &x->taken, x->holder, EVENT_ACQUIRE);
	s->to.lock(s->to.self, o, x->holder, EVENT_RELEASE);
	x->proven = true;
	x->holder = 0;
	s->to.atomic(s->to.self, o);
}

/* The store that gives the object its first value. */
static bool is_initial(const struct spin_object *x, const struct spin_operation *o)
{
	return !x->holder && !x->proven && o->event.kind == EVENT_ATOMIC_STORE && o->flags & ATOMIC_TO_ZERO;
}

static bool is_waiting(const struct spin_object *x, const struct spin_operation *o)
{
	return is_attempt(o) && o->event.thread != x->holder && (x->proven || x->holder);
}

static void other(struct spinlocks *s, struct spin_object *x, const struct spin_operation *o)
{
	if (!x->refuted && !is_attempt(o) && !is_initial(x, o))
		refute(s, x);
	s->to.atomic(s->to.self, o);
}

void spinlocks_take(struct spinlocks *s, struct spin_attempt *a, const struct spin_operation *o)
{
	uint32_t id = object_of(s, o);
	struct spin_object *x = object_at(s, id);

	if (a->object && a->object != id)
		spinlocks_go_on(s, a);
	if (!x->refuted && is_waiting(x, o)) {
		forget(s, a);
		hold_back(s, a, id, o);
	} else if (!x->refuted && is_take(o) && !x->holder) {
		forget(s, a);
		take(s, x, o);
	} else if (!x->refuted && is_give(o) && x->holder == o->event.thread) {
		give(s, x, o);
	} else {
		other(s, x, o);
	}
}

/* SPDX-License-Identifier: MIT */
#include "trail.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 256, PAGES = TRAIL_PLACES / PAGE, OPEN_MOST = 1 << 24 };

#define ADDRESS_MASK (((uint64_t)1 << 48) - 1)

/* A place in the code. */
struct trail_place {
	uint64_t pc;
	uint64_t next, stride; /* of an access; of a call: how much deeper it is than the one before */
	uint64_t key;          /* of an exit */
	site_id site, leave;
	code_id code;
	uint8_t kind, size; /* kind 0: it is not defined */
	uint16_t behind;       /* the number of the one that came behind it */
};

struct trail_open {
	code_id code;
	uint32_t depth; /* in units */
	uint32_t from;  /* the first of those, up to this one, that lie one deeper than the other */
};

/* What a call leaves, down to so many open functions; and then what it enters. */
struct trail_step {
	size_t down_to;
	site_id leave, site;
	uint64_t pc;
	code_id code; /* 0: it enters nothing */
	uint32_t depth;
};

struct trail_thread {
	uint16_t *page[PAGES]; /* by number: where the place is, from 1 */
	struct trail_place *place;
	size_t places, place_capacity;
	struct trail_open *open;
	size_t count, capacity;
	struct trail_step step;
	uint64_t depth;         /* of the last call by a place, in bytes */
	unsigned last;          /* the number of the place that was come by last */
	uint32_t left, ahead;   /* of a count: events that are still to come; those that a note has told before */
	bool slips;             /* and behind them a slip, */
	uint64_t slip;          /* so much further */
	bool finished;
};

void trail_note_put(unsigned char to[TRAIL_NOTE], const struct trail_note *n)
{
	memset(to, 0, TRAIL_NOTE);
	store16(to, TRAIL_MISS);
	to[2] = n->sort;
	to[3] = n->kind;
	to[4] = n->size;
	store16(to + 6, n->place);
	store64(to + 8, n->pc);
	store64(to + 16, n->key);
	store32(to + 24, n->depth);
	store32(to + 28, n->gone);
	store32(to + 32, n->site);
	store32(to + 36, n->code);
	store32(to + 40, n->leave);
}

static struct trail_note note_get(const unsigned char *p)
{
	return (struct trail_note){.sort = p[2], .kind = p[3], .size = p[4], .place = load16(p + 6), .pc = load64(p + 8),
		.key = load64(p + 16), .depth = load32(p + 24), .gone = load32(p + 28), .site = load32(p + 32),
		.code = load32(p + 36), .leave = load32(p + 40)};
}

static bool fail(struct trail_span *s, const char *wrong)
{
	s->wrong = wrong;
	return false;
}

static bool fail_memory(struct trail_span *s)
{
	s->no_memory = true;
	return fail(s, "there is no memory for a trail");
}

/* Memory. False: there is none. */

static bool grow(void **at, size_t *capacity, size_t count, size_t size)
{
	size_t n = *capacity ? *capacity : 16;
	void *more;

	if (count < *capacity)
		return true;
	while (n <= count)
		n *= 2;
	more = realloc(*at, n * size);
	if (!more)
		return false;
	memset((char *)more + *capacity * size, 0, (n - *capacity) * size);
	*at = more;
	*capacity = n;
	return true;
}

static void thread_free(struct trail_thread *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < PAGES; i++)
		free(k->page[i]);
	free(k->place);
	free(k->open);
	free(k);
}

void trails_free(struct trails *t)
{
	for (size_t i = 0; i < t->capacity; i++)
		thread_free(t->thread[i]);
	free(t->thread);
	*t = (struct trails){0};
}

static struct trail_place *place_new(struct trail_thread *k, unsigned number);

/* With the first place, which is not defined. */
static struct trail_thread *thread_new(void)
{
	struct trail_thread *k = calloc(1, sizeof *k);
	struct trail_place *p = k ? place_new(k, 1) : NULL;

	if (!p) {
		thread_free(k);
		return NULL;
	}
	p->behind = 1;
	k->last = 1;
	return k;
}

static struct trail_thread *thread_at(struct trails *t, struct trail_span *s)
{
	void *threads = t->thread;
	bool fits = grow(&threads, &t->capacity, s->thread, sizeof *t->thread);

	t->thread = threads;
	if (fits && !t->thread[s->thread])
		t->thread[s->thread] = thread_new();
	if (!fits || !t->thread[s->thread])
		fail_memory(s);
	return fits ? t->thread[s->thread] : NULL;
}

/* Places. */

static struct trail_place *place_at(const struct trail_thread *k, unsigned number)
{
	const uint16_t *page = k->page[number / PAGE];

	return page && page[number % PAGE] ? &k->place[page[number % PAGE] - 1] : NULL;
}

static struct trail_place *place_new(struct trail_thread *k, unsigned number)
{
	uint16_t **page = &k->page[number / PAGE];
	void *places = k->place;

	if (!*page)
		*page = calloc(PAGE, sizeof **page);
	if (!*page)
		return NULL;
	if (!(*page)[number % PAGE]) {
		bool fits = grow(&places, &k->place_capacity, k->places, sizeof *k->place);

		k->place = places;
		if (!fits)
			return NULL;
		(*page)[number % PAGE] = (uint16_t)++k->places;
	}
	return place_at(k, number);
}

static bool define(struct trail_thread *k, struct trail_span *s, const struct trail_note *n)
{
	bool access = n->kind == TRAIL_READ || n->kind == TRAIL_WRITE;
	struct trail_place *p;

	if (!n->place || n->place >= TRAIL_PLACES || !n->kind || n->kind >= TRAIL_KINDS || access != (n->size != 0) ||
		(n->kind == TRAIL_ENTRY && !n->code))
		return fail(s, "a place of a trail that cannot be");
	p = place_new(k, n->place);
	if (!p)
		return fail_memory(s);
	*p = (struct trail_place){.pc = n->pc, .key = n->key, .stride = access ? 0 : TRAIL_NO_STRIDE, .site = n->site, .leave = n->leave,
		.code = n->code, .kind = n->kind, .size = n->size, .behind = 1};
	k->depth = access ? k->depth : 0;
	return true;
}

/* Calls. */

/* Down to what is less deep, or of unknown depth. What is asked may leave nothing: so it must not cost what is open. */
static size_t unwound(const struct trail_thread *k, uint32_t depth)
{
	size_t from, to = k->count;

	if (depth == TRAIL_DEPTH_UNKNOWN || !to || k->open[to - 1].depth < depth)
		return to;
	for (from = k->open[to - 1].from; from < to;) {
		size_t i = from + (to - from) / 2;

		if (k->open[i].depth < depth)
			from = i + 1;
		else
			to = i;
	}
	return to;
}

/* Whether the innermost function, but for what was left without an exit, has its frame there. */
static bool is_open_at(const struct trail_thread *k, uint32_t depth)
{
	size_t i = depth == TRAIL_DEPTH_UNKNOWN ? 0 : unwound(k, depth + 1);

	return i && k->open[i - 1].depth == depth;
}

/* What an exit leaves: told as deep as `depth`, or as `gone` if the frame is. See collect/translate.c. */
static size_t left(const struct trail_thread *k, uint32_t depth, uint32_t gone)
{
	const struct trail_open *f = k->count ? &k->open[k->count - 1] : NULL;
	size_t i = k->count;

	if (f && f->depth != TRAIL_DEPTH_UNKNOWN && (f->depth == gone || (f->depth < gone && f->depth == depth)))
		return i - 1;
	if (is_open_at(k, gone))
		return unwound(k, gone);
	if (depth != TRAIL_DEPTH_UNKNOWN)
		i = unwound(k, depth + 1);
	return i && (depth == TRAIL_DEPTH_UNKNOWN || k->open[i - 1].depth >= depth) ? i - 1 : i;
}

static void enter(struct trail_thread *k, const struct trail_place *p, uint32_t depth)
{
	k->step = (struct trail_step){unwound(k, depth), p->leave, p->site, p->pc, p->code, depth};
}

static void leave(struct trail_thread *k, const struct trail_place *p, uint32_t depth, uint32_t gone)
{
	k->step = (struct trail_step){.down_to = left(k, depth, gone), .leave = p->site, .pc = p->pc};
}

static uint32_t units(uint64_t bytes)
{
	return bytes / TRAIL_UNIT < TRAIL_DEPTH_UNKNOWN ? (uint32_t)(bytes / TRAIL_UNIT) : TRAIL_DEPTH_UNKNOWN;
}

/* A call by a place of the trail. */
static void call(struct trail_thread *k, const struct trail_place *p)
{
	uint64_t depth = k->depth;

	if (p->kind == TRAIL_ENTRY)
		enter(k, p, units(depth));
	else
		leave(k, p, units(depth), units((depth + p->key) & ADDRESS_MASK));
}

static bool is_called(const struct trail_thread *k)
{
	return k->step.code || k->count > k->step.down_to;
}

/* What a call has said so far is done event by event. */
static bool step(struct trail_thread *k, struct trail_span *s, struct event *e)
{
	struct trail_step *c = &k->step;
	void *open = k->open;
	uint32_t from;

	*e = (struct event){.kind = EVENT_EXIT, .thread = s->thread, .site = c->leave, .pc = c->pc};
	if (k->count > c->down_to) {
		e->object = k->open[--k->count].code;
		return true;
	}
	if (k->count == OPEN_MOST)
		return fail(s, "too many functions of a trail are open");
	if (!grow(&open, &k->capacity, k->count, sizeof *k->open))
		return fail_memory(s);
	k->open = open;
	from = c->depth == TRAIL_DEPTH_UNKNOWN ? (uint32_t)k->count + 1 : k->count ? k->open[k->count - 1].from : 0;
	k->open[k->count++] = (struct trail_open){c->code, c->depth, from};
	e->kind = EVENT_ENTER;
	e->object = c->code;
	e->site = c->site;
	c->code = 0;
	c->down_to = k->count;
	return true;
}

/* Notes. */

static bool note(struct trail_thread *k, struct trail_span *s)
{
	const unsigned char *at = bytes_take(&s->bytes, TRAIL_NOTE);
	struct trail_note n;
	struct trail_place p;

	if (!at)
		return fail(s, "a note of a trail is cut short");
	n = note_get(at);
	if (n.site > s->sites || n.leave > s->sites || n.code > s->codes)
		return fail(s, "a trail names something that is not in the tables");
	p = (struct trail_place){.pc = n.pc, .site = n.site, .leave = n.leave, .code = n.code};
	switch (n.sort) {
	case TRAIL_DEFINE: return define(k, s, &n);
	case TRAIL_ENTER:
		if (!n.code)
			return fail(s, "a trail enters no function");
		enter(k, &p, n.depth);
		return true;
	case TRAIL_EXIT: leave(k, &p, n.depth, n.gone); return true;
	case TRAIL_UNWIND: k->step = (struct trail_step){.down_to = unwound(k, n.depth), .leave = n.site, .pc = n.pc}; return true;
	case TRAIL_COUNT:
		if (n.depth > TRAIL_COUNT_MOST)
			return fail(s, "a count of a trail that cannot be");
		k->left = n.depth > k->ahead ? n.depth - k->ahead : 0;
		k->ahead += k->left;
		return true;
	case TRAIL_FINISH:
		k->finished = true;
		k->step = (struct trail_step){.leave = n.site, .pc = n.pc};
		return true;
	default: return fail(s, "an unknown sort of note in a trail");
	}
}

/* Accesses. */

static inline void access_event(const struct trail_place *p, struct trail_span *s, uint64_t address, struct event *e)
{
	*e = (struct event){.kind = p->kind == TRAIL_READ ? EVENT_READ : EVENT_WRITE, .flags = EVENT_SIZED | EVENT_ADDRESSED,
		.thread = s->thread, .object = (address & ADDRESS_MASK) | (p->pc & ~ADDRESS_MASK), .size = p->size,
		.site = p->site, .pc = p->pc};
}

static bool is_access(const struct trail_place *p)
{
	return p->kind == TRAIL_READ || p->kind == TRAIL_WRITE;
}

static void go_to(struct trail_place *p, uint64_t address)
{
	p->stride = address - (p->next - p->stride);
	p->next = address;
}

/* The place does something else than was expected: so much further. */
static void go_by(struct trail_place *p, uint64_t further)
{
	if (is_access(p))
		go_to(p, p->next - p->stride + further);
	else
		p->stride += further;
}

/* What a place did that was not expected. False: it is cut short. */
static bool miss(struct trail_place *p, struct trail_span *s)
{
	const unsigned char *at = bytes_take(&s->bytes, 6), *address = NULL;
	uint32_t word = at ? load32(at + 2) : 0;

	if (!is_access(p))
		p->stride = (uint64_t)(int64_t)(int32_t)word;
	else if (word != (uint32_t)INT32_MIN)
		go_by(p, (uint64_t)(int64_t)(int32_t)word);
	else if ((address = bytes_take(&s->bytes, 6)))
		go_to(p, load32(address) | (uint64_t)load16(address + 4) << 32);
	return !s->bytes.bad || fail(s, "a token of a trail is cut short");
}

/* The place is come by. *n: how many events that has made, 0 or 1. */
static inline bool come_by(struct trail_thread *k, struct trail_span *s, struct trail_place *p, struct event *e, size_t *n)
{
	if (p->kind >= TRAIL_ENTRY) {
		k->depth += p->stride;
		if (k->depth >= TRAIL_DEPTHS)
			return fail(s, "a call of a trail that is too deep, or has no depth");
		call(k, p);
		return true;
	}
	access_event(p, s, p->next, e);
	p->next += p->stride;
	*n = 1;
	return true;
}

/* What comes by itself. The place behind one is there, but may not be defined. */
static inline bool expected(struct trail_thread *k, struct trail_span *s, struct event *e, size_t *n)
{
	struct trail_place *p;

	k->last = place_at(k, k->last)->behind;
	p = place_at(k, k->last);
	if (!p->kind)
		return fail(s, "a place of a trail that is expected and not defined");
	if (k->left) {
		k->left--;
	} else {
		go_by(p, k->slip);
		k->slips = false;
	}
	return come_by(k, s, p, e, n);
}

static bool count(struct trail_thread *k, struct trail_span *s, uint32_t n)
{
	if (n > TRAIL_COUNT_MOST || n < k->ahead)
		return fail(s, "a count of a trail that cannot be");
	k->left = n - k->ahead;
	k->ahead = 0;
	return true;
}

static bool slip(struct trail_thread *k, struct trail_span *s)
{
	const unsigned char *at = bytes_take(&s->bytes, 4);

	if (!at)
		return fail(s, "a slip of a trail is cut short");
	k->slips = true;
	k->slip = (uint64_t)(int64_t)((int32_t)load32(at) >> 8);
	return count(k, s, at[0] >> TRAIL_TOKEN_BITS);
}

/* The place of that number is come by, with a miss or without. */
static inline bool named(struct trail_thread *k, struct trail_span *s, unsigned word, struct event *e, size_t *n)
{
	struct trail_place *p = place_at(k, word >> TRAIL_TOKEN_BITS);

	if (!p || !p->kind)
		return fail(s, "a place of a trail that is not defined");
	if (!(word & TRAIL_MISS))
		s->bytes.at += 2;
	else if (!miss(p, s))
		return false;
	place_at(k, k->last)->behind = (uint16_t)(word >> TRAIL_TOKEN_BITS);
	k->last = word >> TRAIL_TOKEN_BITS;
	return come_by(k, s, p, e, n);
}

/* The next token. False: there is none, with `wrong` or without. */
static inline bool token(struct trail_thread *k, struct trail_span *s, struct event *e, size_t *n)
{
	unsigned word;

	if (bytes_left(&s->bytes) < 2)
		return bytes_left(&s->bytes) ? fail(s, "a token of a trail is cut short") : false;
	word = load16(s->bytes.at);
	switch (word & TRAIL_SLIPPED) {
	case TRAIL_SLIPPED: return slip(k, s);
	case TRAIL_COUNTED: s->bytes.at += 2; return count(k, s, word >> TRAIL_TOKEN_BITS);
	default: break;
	}
	if (word >> TRAIL_TOKEN_BITS)
		return named(k, s, word, e, n);
	if (word == TRAIL_MISS)
		return note(k, s);
	s->bytes.at += 2;
	return true;
}

static bool is_counted(const struct trail_thread *k)
{
	return k->left || k->slips;
}

/* Nothing becomes of a silent call but that its place has been there. */
static void hush(struct trail_thread *k, const struct trail_span *s)
{
	if (s->silent)
		k->step = (struct trail_step){.down_to = k->count};
}

static void thread_end(struct trails *t, thread_id thread)
{
	thread_free(t->thread[thread]);
	t->thread[thread] = NULL;
}

bool trail_any(const struct trails *t, const struct trail_span *s)
{
	return !s->wrong && (bytes_left(&s->bytes) || (s->thread < t->capacity && t->thread[s->thread] &&
		(is_called(t->thread[s->thread]) || is_counted(t->thread[s->thread]))));
}

size_t trail_next(struct trails *t, struct trail_span *s, struct event *events, size_t most)
{
	struct trail_thread *k = thread_at(t, s);
	size_t done = 0, n;

	while (k && done < most) {
		if (is_called(k)) {
			if (!step(k, s, events + done))
				break;
			done++;
			continue;
		}
		n = 0;
		if (!(is_counted(k) ? expected(k, s, events + done, &n) : token(k, s, events + done, &n)))
			break;
		hush(k, s);
		done += s->silent ? 0 : n;
	}
	if (k && k->finished && !is_called(k) && !is_counted(k))
		thread_end(t, s->thread);
	return done;
}

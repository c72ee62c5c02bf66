/* SPDX-License-Identifier: MIT */
/*
 * views: do threads group variables under locks in ways that do not fit together?
 *
 * Reported, as `suspected`, is a thread that reaches two parts of a group of variables in sections of their own, while
 * another thread takes the group as one: the group may be seen half changed between the two sections. This is a
 * high-level data race. It neither implies that a block is not atomic nor follows from it.
 *
 * View consistency (Artho, Havelund and Biere, STVR 2003). A *view* of a thread is the set of variables that it accesses
 * in one section, from an acquire of a lock to its release; a *maximal* one is in no other view of its thread. The
 * overlaps of a thread's views with a maximal view of another thread must form a chain under inclusion. Rules:
 *   [CHAIN]    two overlaps of which neither is in the other are reported, once for a maximal view and a thread;
 *   [WRITTEN]  a variable that nobody writes is in no view;
 *   [PERIOD]   both sections can run at the same time as the one with the maximal view (thread periods).
 * The last two are ours. A view keeps the periods of its first and of its latest section only.
 *
 * State: for each line the log of its open sections, each variable once a section; the views by (line, set); with each
 * the accesses and the open blocks of its first section. A variable that was split stands for its parts; one that
 * begins a new life is another variable. Sections of more than VARIABLES_MOST variables are cut off there, views beyond
 * VIEWS_MOST are not kept, what is found in OVERLAPS_MOST comparisons is all, and REPORTS_MOST are enough for a program
 * that groups nothing at all: the report says how often each was so.
 *
 * Everything belongs to the run and is touched by its handlers only.
 *
 * Cost: an access with no lock held, one load; under a lock, one look-up. A release sorts what the section keeps and
 * passes over the rest of its log. At the end, for each maximal view linear in the views that it shares a variable with.
 */
#include "check/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "check/path.h"

enum { VARIABLES_MOST = 256, VIEWS_MOST = 1 << 16, BLOCKS_MOST = 8, REPORTS_MOST = 1 << 10 };
enum { LIFE_SHIFT = 40, WORDS = VARIABLES_MOST / 64 };

static const uint64_t OVERLAPS_MOST = (uint64_t)1 << 24;

/* One variable of a section: with its life above LIFE_SHIFT, and its first access, or better its first write. */
struct entry {
	uint64_t variable;
	struct mark access;
	uint32_t earlier; /* the entry of the same variable for the section around it, from 1; 0 for none */
};

struct section {
	sync_id lock;
	uint32_t start; /* in the log */
	uint32_t loose; /* from where on entries may be there twice: before the start if sections have crossed */
	struct mark acquire;
};

/* Where a variable stands in the log: good if the generation is the line's. */
struct place {
	uint64_t variable;
	uint32_t index, generation;
};

struct line {
	struct section *section; /* open ones, oldest first */
	size_t sections, section_capacity;
	struct entry *log;
	size_t entries, log_capacity;
	struct place *place; /* open-addressed, at most half full */
	uint32_t variables, capacity, generation;
};

/* A block that was open around a section, from where on it holds things. */
struct around {
	struct block block;
	uint64_t since;
};

struct view {
	uint32_t line, count;
	struct entry *at; /* by variable, ascending */
	struct mark acquire;
	period_id first, latest;
	struct around *around; /* innermost first */
	uint32_t blocks;
	uint32_t next; /* with the same hash, 0 for none */
};

/* What became of a variable: one part each time it was split. */
struct part {
	uint64_t variable, after; /* accesses up to this event were to the part, too */
	struct part *next;
};

struct variable {
	uint32_t life;
	bool written;
	struct part *parts;
};

struct views {
	struct run *run;
	struct arena *arena;
	struct seg line, view, variable;
	struct map by_hash;
	uint32_t count;
	uint64_t seq; /* of the last access told */
	uint64_t cut, dropped;
};

static struct line *line_at(struct views *w, uint32_t t)
{
	return seg_at(&w->line, t, sizeof(struct line));
}

static struct view *view_at(struct views *w, uint32_t i)
{
	return seg_at(&w->view, i, sizeof(struct view));
}

static uint64_t number_of(uint64_t key)
{
	return key & (((uint64_t)1 << LIFE_SHIFT) - 1);
}

static struct variable *variable_at(struct views *w, uint64_t key)
{
	return seg_at(&w->variable, number_of(key), sizeof(struct variable));
}

/* Sections. */

static struct place *place_of(struct line *l, uint64_t variable)
{
	uint32_t mask = l->capacity - 1, i = (uint32_t)hash_word(variable) & mask;

	while (l->place[i].generation == l->generation && l->place[i].variable != variable)
		i = (i + 1) & mask;
	return &l->place[i];
}

static void places_grow(struct views *w, struct line *l)
{
	uint32_t old = l->capacity;
	struct place *from = l->place;

	l->capacity = old ? 2 * old : 16;
	l->place = arena_alloc(w->arena, l->capacity * sizeof *l->place);
	for (uint32_t i = 0; i < old; i++)
		if (from[i].generation == l->generation)
			*place_of(l, from[i].variable) = from[i];
	arena_recycle(w->arena, from, old * sizeof *from);
}

/* No variable is in the log. */
static void log_start(struct views *w, struct line *l)
{
	if (!l->place)
		places_grow(w, l);
	if (++l->generation == 0) {
		memset(l->place, 0, l->capacity * sizeof *l->place);
		l->generation = 1;
	}
	l->variables = 0;
	l->entries = 0;
}

static void views_acquire(void *self, const struct event *e)
{
	struct views *w = self;
	struct line *l = line_at(w, e->line);
	uint32_t start;

	if (l->sections == 0)
		log_start(w, l);
	start = (uint32_t)l->entries;
	l->section = arena_reserve(w->arena, l->section, &l->section_capacity, l->sections, sizeof *l->section);
	l->section[l->sections++] = (struct section){(sync_id)e->object, start, start, mark_of(e)};
}

/* A thread may have ended with locks held: they are not those of the next one on its line. */
static void views_fork(void *self, const struct event *e)
{
	struct views *w = self;

	line_at(w, run_line(w->run, (thread_id)e->object))->sections = 0;
}

static void log_access(struct views *w, struct line *l, uint64_t variable, const struct event *e)
{
	struct place *p = place_of(l, variable);
	bool known = p->generation == l->generation;

	if (known && p->index > l->section[l->sections - 1].start) {
		if (!event_is_read(e->kind) && event_is_read(l->log[p->index - 1].access.kind))
			l->log[p->index - 1].access = mark_of(e);
		return;
	}
	if (l->entries - l->section[l->sections - 1].start >= VARIABLES_MOST) {
		w->cut++;
		return;
	}
	if (!known && 2 * ++l->variables > l->capacity) {
		places_grow(w, l);
		p = place_of(l, variable);
	}
	l->log = arena_reserve(w->arena, l->log, &l->log_capacity, l->entries, sizeof *l->log);
	l->log[l->entries++] = (struct entry){variable, mark_of(e), known ? p->index : 0};
	*p = (struct place){variable, (uint32_t)l->entries, l->generation};
}

static void views_access(void *self, const struct event *e)
{
	struct views *w = self;
	struct line *l = line_at(w, e->line);
	struct variable *x = seg_at(&w->variable, e->object, sizeof *x);

	w->seq = e->seq;
	if (!event_is_read(e->kind))
		x->written = true;
	if (l->sections)
		log_access(w, l, e->object | (uint64_t)x->life << LIFE_SHIFT, e);
}

/* Views. */

static int by_variable(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->variable != b->variable)
		return a->variable < b->variable ? -1 : 1;
	return a->access.at < b->access.at ? -1 : a->access.at > b->access.at;
}

/* Sorts the entries and drops all but the first of each variable; returns how many are left. */
static uint32_t sort_entries(struct entry *at, size_t n)
{
	uint32_t kept = 0;

	if (n > 1)
		qsort(at, n, sizeof *at, by_variable);
	for (size_t i = 0; i < n; i++)
		if (!kept || at[kept - 1].variable != at[i].variable)
			at[kept++] = at[i];
	return kept;
}

/* A section's variables, ascending; the first `taken` entries of its log are of these. */
struct members {
	uint64_t at[VARIABLES_MOST];
	uint32_t count;
	size_t taken;
};

/* Where the variable is, or has to go. In most sections variables come in ascending order. */
static uint32_t member_find(const struct members *m, uint64_t variable)
{
	uint32_t low = 0, high = m->count;

	if (high && m->at[high - 1] < variable)
		return high;
	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (m->at[middle] < variable)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Up to the first variable that is one too many: what inner sections have logged may be more. */
static void members_make(struct members *m, const struct entry *at, size_t n)
{
	m->count = 0;
	for (m->taken = 0; m->taken < n; m->taken++) {
		uint64_t variable = at[m->taken].variable;
		uint32_t k = member_find(m, variable);

		if (k < m->count && m->at[k] == variable)
			continue;
		if (m->count == VARIABLES_MOST)
			return;
		memmove(&m->at[k + 1], &m->at[k], (m->count - k) * sizeof *m->at);
		m->at[k] = variable;
		m->count++;
	}
}

static bool is_view(const struct view *v, const struct members *m, uint32_t line)
{
	if (v->line != line || v->count != m->count)
		return false;
	for (uint32_t i = 0; i < m->count; i++)
		if (v->at[i].variable != m->at[i])
			return false;
	return true;
}

/* The blocks that hold all of the section, innermost first. */
static void keep_blocks(struct views *w, struct view *v, const struct event *e)
{
	const struct activations *open = run_open(w->run, e->line);
	struct around around[BLOCKS_MOST];

	for (size_t i = open->depth; i-- > 0 && v->blocks < BLOCKS_MOST;) {
		const struct activation *a = &open->at[i];
		uint64_t since = activation_since(open, a);

		if (a->block && since <= mark_seq(&v->acquire))
			around[v->blocks++] = (struct around){block_of(a, e->thread), since};
	}
	if (v->blocks) {
		v->around = arena_alloc(w->arena, v->blocks * sizeof *around);
		memcpy(v->around, around, v->blocks * sizeof *around);
	}
}

/* The view of the first entries of the section's log. */
static struct view *view_new(struct views *w, const struct section *s, size_t entries, const struct event *e)
{
	struct view *v = view_at(w, ++w->count);

	v->line = e->line;
	v->at = arena_alloc(w->arena, entries * sizeof *v->at);
	memcpy(v->at, &line_at(w, e->line)->log[s->start], entries * sizeof *v->at);
	v->count = sort_entries(v->at, entries);
	v->acquire = s->acquire;
	v->first = v->latest = period_now(&w->run->periods, e->line);
	keep_blocks(w, v, e);
	return v;
}

/* The section that ends with e is one more of its view, or the first one. */
static void view_of_section(struct views *w, const struct section *s, const struct event *e)
{
	const struct line *l = line_at(w, e->line);
	size_t entries = l->entries - s->start;
	struct members m;
	uint64_t key;
	uint32_t *first;

	members_make(&m, &l->log[s->start], entries);
	w->cut += entries - m.taken;
	key = hash_bytes(m.at, m.count * sizeof *m.at) + e->line;
	for (uint32_t i = map_get(&w->by_hash, key); i; i = view_at(w, i)->next)
		if (is_view(view_at(w, i), &m, e->line)) {
			view_at(w, i)->latest = period_now(&w->run->periods, e->line);
			return;
		}
	if (w->count == VIEWS_MOST) {
		w->dropped++;
		return;
	}
	first = map_put(&w->by_hash, key);
	view_new(w, s, m.taken, e)->next = *first;
	*first = w->count;
}

static void prefer_write(struct entry *to, const struct entry *from)
{
	if (event_is_read(to->access.kind) && !event_is_read(from->access.kind))
		to->access = from->access;
}

/*
 * What the section around, which starts at `outer`, has anyway need not be in the log twice. Entries come in the order
 * of the log, so that the place of a variable is right for the next one of the same variable.
 */
static void log_shorten(struct line *l, uint32_t start, uint32_t outer)
{
	size_t kept = start;

	for (size_t i = start; i < l->entries; i++) {
		struct entry x = l->log[i];
		struct place *p = place_of(l, x.variable);

		if (x.earlier > outer) {
			if (x.earlier <= start)
				p->index = x.earlier;
			prefer_write(&l->log[p->index - 1], &x);
			continue;
		}
		l->log[kept++] = x;
		p->index = (uint32_t)kept;
	}
	l->entries = kept;
}

/*
 * Sections that overlap in a chain never come to an end together: what was logged before the oldest goes once it is most
 * of the log. Nobody needs `loose` of the oldest section.
 */
static void log_cut(struct views *w, struct line *l)
{
	uint32_t gone = l->section[0].start;
	size_t left = l->entries - gone;

	if (gone < VARIABLES_MOST || gone < left)
		return;
	log_start(w, l);
	memmove(l->log, &l->log[gone], left * sizeof *l->log);
	for (size_t i = 0; i < l->sections; i++) {
		l->section[i].start -= gone;
		l->section[i].loose -= i && l->section[i].loose > gone ? gone : l->section[i].loose;
	}
	while (l->entries < left) {
		struct entry *x = &l->log[l->entries++];
		struct place *p = place_of(l, x->variable);

		l->variables += p->generation != l->generation;
		x->earlier -= x->earlier > gone ? gone : x->earlier;
		*p = (struct place){x->variable, (uint32_t)l->entries, l->generation};
	}
}

/* Takes section i from the list. */
static void section_end(struct line *l, size_t i)
{
	struct section gone = l->section[i];

	l->sections--;
	memmove(&l->section[i], &l->section[i + 1], (l->sections - i) * sizeof gone);
	if (i < l->sections && gone.loose < l->section[i].loose)
		l->section[i].loose = gone.loose;
	else if (i && i == l->sections)
		log_shorten(l, gone.loose, l->section[i - 1].start);
}

static void views_release(void *self, const struct event *e)
{
	struct views *w = self;
	struct line *l = line_at(w, e->line);
	size_t i = l->sections;

	while (i && l->section[i - 1].lock != e->object)
		i--;
	if (!i)
		return; /* a lenient run lets a lock go that was never taken */
	if (l->entries > l->section[i - 1].start)
		view_of_section(w, &l->section[i - 1], e);
	section_end(l, i - 1);
	if (l->sections)
		log_cut(w, l);
}

/* Variables. */

static void views_split(void *self, uint64_t x, uint64_t y)
{
	struct views *w = self;
	struct variable *from = seg_at(&w->variable, x, sizeof *from), *to = seg_at(&w->variable, y, sizeof *to);
	struct part *part = arena_alloc(w->arena, sizeof *part);

	*to = *from;
	*part = (struct part){y | (uint64_t)from->life << LIFE_SHIFT, w->seq, from->parts};
	from->parts = part;
	to->parts = NULL;
}

static void views_forget(void *self, uint64_t x)
{
	struct views *w = self;
	struct variable *v = seg_at(&w->variable, x, sizeof *v);

	v->life = (v->life + 1) & ((1u << (64 - LIFE_SHIFT)) - 1);
}

/* The end: views that are complete, by variable. */

/* Room for a growing view. */
struct room {
	struct entry *at;
	size_t count, capacity;
};

/* The entry and the parts that it was to as well, but only what somebody writes. */
static void add_parts(struct views *w, struct room *r, struct entry x)
{
	const struct variable *v = variable_at(w, x.variable);

	if (v->written) {
		r->at = arena_reserve(w->arena, r->at, &r->capacity, r->count, sizeof x);
		r->at[r->count++] = x;
	}
	for (const struct part *p = v->parts; p; p = p->next)
		if (mark_seq(&x.access) <= p->after && p->variable >> LIFE_SHIFT == x.variable >> LIFE_SHIFT) {
			struct entry y = x;

			y.variable = p->variable;
			add_parts(w, r, y);
		}
}

/* [WRITTEN]. */
static void complete(struct views *w, struct view *v)
{
	struct room r = {0};

	for (uint32_t i = 0; i < v->count; i++)
		add_parts(w, &r, v->at[i]);
	v->at = r.at;
	v->count = sort_entries(r.at, r.count);
	if (v->count > VARIABLES_MOST) {
		v->count = VARIABLES_MOST;
		w->cut++;
	}
}

/* The views of each variable: view numbers of variable number i are at[start[i]] to at[start[i + 1] - 1]. */
struct index {
	struct map number; /* variable to i + 1 */
	uint32_t variables;
	uint64_t *start;
	uint32_t *at;
};

static uint32_t index_number(struct index *x, uint64_t variable)
{
	uint32_t *n = map_put(&x->number, variable);

	if (!*n)
		*n = ++x->variables;
	return *n - 1;
}

static void index_make(struct views *w, struct index *x)
{
	uint64_t total = 0, sum = 0;

	map_init(&x->number, w->arena);
	for (uint32_t i = 1; i <= w->count; i++)
		for (uint32_t k = 0; k < view_at(w, i)->count; k++, total++)
			index_number(x, view_at(w, i)->at[k].variable);
	x->start = arena_alloc(w->arena, ((size_t)x->variables + 2) * sizeof *x->start);
	x->at = arena_alloc(w->arena, (total + 1) * sizeof *x->at);
	for (uint32_t i = 1; i <= w->count; i++)
		for (uint32_t k = 0; k < view_at(w, i)->count; k++)
			x->start[index_number(x, view_at(w, i)->at[k].variable) + 2]++;
	for (uint32_t i = 0; i <= x->variables; i++)
		x->start[i + 1] = sum += x->start[i + 1];
	for (uint32_t i = 1; i <= w->count; i++)
		for (uint32_t k = 0; k < view_at(w, i)->count; k++)
			x->at[x->start[index_number(x, view_at(w, i)->at[k].variable) + 1]++] = i;
}

/* The overlap of a view with the maximal one, as bits for the latter's variables. */
struct overlap {
	uint64_t bits[WORDS];
	uint32_t view, size;
};

/* A search: the maximal view, and the overlaps with it. */
struct search {
	struct views *w;
	struct index index;
	const struct view *most;
	struct overlap *at;
	size_t count, capacity;
	struct seg slot; /* uint32_t by view: its overlap, from 1; 0 for none */
	uint64_t steps, reports;
};

static void overlaps_make(struct search *s)
{
	s->count = 0;
	for (uint32_t k = 0; k < s->most->count; k++) {
		uint32_t x = index_number(&s->index, s->most->at[k].variable);

		for (uint64_t i = s->index.start[x]; i < s->index.start[x + 1]; i++, s->steps++) {
			uint32_t *slot = seg_at(&s->slot, s->index.at[i], sizeof *slot);

			if (!*slot) {
				s->at = arena_reserve(s->w->arena, s->at, &s->capacity, s->count, sizeof *s->at);
				s->at[s->count++] = (struct overlap){.view = s->index.at[i]};
				*slot = (uint32_t)s->count;
			}
			s->at[*slot - 1].bits[k / 64] |= (uint64_t)1 << k % 64;
			s->at[*slot - 1].size++;
		}
	}
	for (size_t i = 0; i < s->count; i++)
		*(uint32_t *)seg_at(&s->slot, s->at[i].view, sizeof(uint32_t)) = 0;
}

/* Whether the view is in a larger one of its line, or in an equal one with a lower number. */
static bool is_maximal(const struct search *s, uint32_t number)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct view *v = view_at(s->w, s->at[i].view);

		if (v->line == s->most->line && s->at[i].size == s->most->count &&
			(v->count > s->most->count || s->at[i].view < number))
			return false;
	}
	return true;
}

static bool is_within(const struct overlap *a, const struct overlap *b)
{
	for (int i = 0; i < WORDS; i++)
		if (a->bits[i] & ~b->bits[i])
			return false;
	return true;
}

/* [PERIOD]. */
static bool can_meet(struct search *s, const struct view *v)
{
	const period_id mine[] = {s->most->first, s->most->latest}, its[] = {v->first, v->latest};

	for (int i = 0; i < 4; i++)
		if (period_concurrent(&s->w->run->periods, mine[i / 2], its[i % 2]))
			return true;
	return false;
}

/* Reports. */

/* Which of the maximal view's variables is in a and not in b. */
static uint32_t only_in(const struct overlap *a, const struct overlap *b)
{
	uint32_t i = 0;

	while (!(a->bits[i / 64] & ~b->bits[i / 64] & (uint64_t)1 << i % 64))
		i++;
	return i;
}

static struct access access_to(struct views *w, const struct view *v, uint64_t variable)
{
	uint32_t i = 0;

	while (v->at[i].variable != variable)
		i++;
	return path_access(w->run, &v->at[i].access, number_of(variable));
}

/* The innermost block that holds both sections; else the innermost of the second one; else that section itself. */
static struct block block_around(const struct view *first, const struct view *second)
{
	for (uint32_t i = 0; i < second->blocks; i++)
		for (uint32_t k = 0; k < first->blocks; k++)
			if (first->around[k].block.seq == second->around[i].block.seq &&
				second->around[i].since <= mark_seq(&first->acquire))
				return second->around[i].block;
	if (second->blocks)
		return second->around[0].block;
	return (struct block){.site = second->acquire.site, .thread = second->acquire.thread,
		.seq = mark_seq(&second->acquire)};
}

static void report(struct search *s, const struct overlap *a, const struct overlap *b)
{
	uint64_t x = s->most->at[only_in(a, b)].variable, y = s->most->at[only_in(b, a)].variable;
	const struct view *first = view_at(s->w, a->view), *second = view_at(s->w, b->view);
	struct link path[] = {
		{access_to(s->w, first, x), access_to(s->w, s->most, x), false},
		{access_to(s->w, s->most, y), access_to(s->w, second, y), false},
	};

	findings_add(s->w->run->findings,
		&(struct finding){.block = block_around(first, second), .path = path, .links = 2},
		(struct evidence){.check = "views", .kind = "view", .seq = path[1].to.seq});
}

static void report_in_order(struct search *s, const struct overlap *a, const struct overlap *b)
{
	bool in_order = mark_seq(&view_at(s->w, a->view)->acquire) < mark_seq(&view_at(s->w, b->view)->acquire);

	report(s, in_order ? a : b, in_order ? b : a);
	s->reports++;
}

/* Chains. */

/* By line, then by size, so that a chain is one in this order; then as they came. */
static int by_size(const void *left, const void *right, void *views)
{
	const struct overlap *a = left, *b = right;
	uint32_t s = view_at(views, a->view)->line, t = view_at(views, b->view)->line;

	if (s != t)
		return s < t ? -1 : 1;
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	return a->view < b->view ? -1 : 1;
}

/* Leaves those of other lines that can meet the maximal view. */
static void overlaps_filter(struct search *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct view *v = view_at(s->w, s->at[i].view);

		if (v->line != s->most->line && can_meet(s, v))
			s->at[kept++] = s->at[i];
	}
	s->count = kept;
}

/* [CHAIN]: in the order of their sizes each must be in the next one; the first that is not is reported. */
static void chains(struct search *s)
{
	uint32_t reported = 0;

	overlaps_filter(s);
	if (s->count > 1)
		qsort_r(s->at, s->count, sizeof *s->at, by_size, s->w);
	for (size_t i = 1; i < s->count; i++) {
		uint32_t line = view_at(s->w, s->at[i].view)->line;

		if (line == reported || view_at(s->w, s->at[i - 1].view)->line != line)
			continue;
		if (!is_within(&s->at[i - 1], &s->at[i])) {
			report_in_order(s, &s->at[i - 1], &s->at[i]);
			reported = line;
		}
	}
}

static void views_finish(void *self)
{
	struct views *w = self;
	struct search s = {.w = w};
	uint32_t i = 1;

	for (uint32_t k = 1; k <= w->count; k++)
		complete(w, view_at(w, k));
	index_make(w, &s.index);
	seg_init(&s.slot, w->arena, sizeof(uint32_t));
	for (; i <= w->count && s.steps < OVERLAPS_MOST && s.reports < REPORTS_MOST; i++) {
		s.most = view_at(w, i);
		if (s.most->count < 2)
			continue;
		overlaps_make(&s);
		if (is_maximal(&s, i))
			chains(&s);
	}
	findings_limit(w->run->findings, "views: accesses to more variables than a section may have", w->cut);
	findings_limit(w->run->findings, "views: sections with more different views than are kept", w->dropped);
	findings_limit(w->run->findings, "views: views that were not compared, after too many or too much", w->count + 1 - i);
}

static void *views_start(struct run *run)
{
	struct views *w = arena_alloc(run->arena, sizeof *w);

	w->run = run;
	w->arena = run->arena;
	seg_init(&w->line, run->arena, sizeof(struct line));
	seg_init(&w->view, run->arena, sizeof(struct view));
	seg_init(&w->variable, run->arena, sizeof(struct variable));
	map_init(&w->by_hash, run->arena);
	return w;
}

const struct check check_views = {
	.name = "views",
	.summary = "variables that one thread takes together and another one apart",
	.single = true,
	.needs = NEED_PERIODS,
	.start = views_start,
	.finish = views_finish,
	.on = {
		[ON_ACCESS] = views_access,
		[ON_ACQUIRE] = views_acquire,
		[ON_RELEASE] = views_release,
		[ON_FORK] = views_fork,
	},
	.split = views_split,
	.forget = views_forget,
};

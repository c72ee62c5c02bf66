/* SPDX-License-Identifier: MIT */
/*
 * fission trace stat: how much of what is in a trace.
 *
 * Threads, variables, locks and so on are counted as the events use them: a name is one thing per role, and an
 * address is one variable, whatever the sizes of the accesses to it. Memory follows the number of names and of
 * addresses.
 */
#include "trace.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/map.h"
#include "base/opts.h"
#include "base/output.h"
#include "base/seg.h"
#include "base/str.h"

/* What an event's object is to it. */
enum role { THREAD, VARIABLE, ALLOCATION, LOCK, CONDITION, BARRIER, SEMAPHORE, FUNCTION, BLOCK, ROLES };

static const char *const role_text[ROLES] = {
	"threads", "variables", "allocations", "locks", "conditions", "barriers", "semaphores", "functions",
	"blocks",
};

static const uint8_t role_of[EVENT_KINDS] = {
	[EVENT_READ] = VARIABLE,
	[EVENT_WRITE] = VARIABLE,
	[EVENT_ACQUIRE] = LOCK,
	[EVENT_RELEASE] = LOCK,
	[EVENT_ACQUIRE_SHARED] = LOCK,
	[EVENT_RELEASE_SHARED] = LOCK,
	[EVENT_FORK] = THREAD,
	[EVENT_JOIN] = THREAD,
	[EVENT_WAIT] = CONDITION,
	[EVENT_NOTIFY] = CONDITION,
	[EVENT_NOTIFY_ALL] = CONDITION,
	[EVENT_BARRIER] = BARRIER,
	[EVENT_SEM_WAIT] = SEMAPHORE,
	[EVENT_SEM_POST] = SEMAPHORE,
	[EVENT_ATOMIC_LOAD] = VARIABLE,
	[EVENT_ATOMIC_STORE] = VARIABLE,
	[EVENT_ATOMIC_RMW] = VARIABLE,
	[EVENT_ALLOC] = ALLOCATION,
	[EVENT_FREE] = ALLOCATION,
	[EVENT_ENTER] = FUNCTION,
	[EVENT_EXIT] = FUNCTION,
	[EVENT_BEGIN] = BLOCK,
	[EVENT_END] = BLOCK,
};

struct tally {
	uint64_t events, bytes;
	uint64_t kind[EVENT_KINDS];
	uint64_t distinct[ROLES];
	struct seg seen[ROLES];     /* by id: uint8_t, 1 if it was counted */
	struct map addresses[ROLES]; /* likewise */
};

static void tally_init(struct tally *s, struct arena *a)
{
	*s = (struct tally){0};
	for (int role = 0; role < ROLES; role++) {
		seg_init(&s->seen[role], a, sizeof(uint8_t));
		map_init(&s->addresses[role], a);
	}
}

static void count_id(struct tally *s, enum role role, uint64_t id)
{
	uint8_t *seen = seg_at(&s->seen[role], id, sizeof *seen);

	s->distinct[role] += id && !*seen;
	*seen = 1;
}

static void count_address(struct tally *s, enum role role, uint64_t address)
{
	uint32_t *seen = map_put(&s->addresses[role], address);

	s->distinct[role] += !*seen;
	*seen = 1;
}

/* An object of none, as that of a fence, has id 0 and does not count. */
static void count(struct tally *s, const struct event *e)
{
	s->events++;
	s->kind[e->kind]++;
	count_id(s, THREAD, e->thread);
	if (e->flags & EVENT_ADDRESSED)
		count_address(s, role_of[e->kind], e->object);
	else
		count_id(s, role_of[e->kind], e->object);
	if (e->kind == EVENT_WAIT)
		count_id(s, LOCK, e->mutex);
}

static void count_all(struct tally *s, struct trace_file *f)
{
	const struct trace *t = &f->trace;
	struct event events[TRACE_BATCH];
	size_t n;

	while ((n = trace_file_next(f, events, "counted")) > 0)
		for (size_t i = 0; i < n; i++)
			count(s, &events[i]);
	s->bytes = t->input.offset + (uint64_t)(t->input.end - t->input.buffer);
}

static double bytes_each(const struct tally *s)
{
	return s->events ? (double)s->bytes / (double)s->events : 0;
}

static void text_line(struct str *to, const char *name, uint64_t n)
{
	str_printf(to, "%-16s%14" PRIu64 "\n", name, n);
}

static void render_text(struct str *to, const struct tally *s, const struct trace_file *f)
{
	const struct trace *t = &f->trace;

	str_printf(to, "%s: %s, %s%s\n", t->input.name, t->format->name, t->incomplete ? "cut off at " : "complete",
		t->incomplete_at);
	text_line(to, "events", s->events);
	for (int kind = 1; kind < EVENT_KINDS; kind++)
		if (s->kind[kind]) {
			str_add(to, "  ");
			str_printf(to, "%-14s%14" PRIu64 "\n", event_info[kind].text, s->kind[kind]);
		}
	for (int role = 0; role < ROLES; role++)
		text_line(to, role_text[role], s->distinct[role]);
	text_line(to, "sites", f->tables.names[TABLE_SITE].count);
	text_line(to, "stacks", f->tables.stacks);
	text_line(to, "modules", f->tables.module_count);
	text_line(to, "file bytes", s->bytes);
	str_printf(to, "%-16s%17.2f\n", "bytes per event", bytes_each(s));
}

static void render_json(struct str *to, const struct tally *s, const struct trace_file *f)
{
	const struct trace *t = &f->trace;
	const char *comma = "";

	str_printf(to, "{\"version\":1,\"form\":\"%s\",\"complete\":%s,", t->format->name,
		t->incomplete ? "false" : "true");
	if (t->incomplete)
		str_printf(to, "\"cut_at\":\"%s\",", t->incomplete_at);
	str_printf(to, "\"skipped\":%" PRIu64 ",\"events\":%" PRIu64 ",\"kinds\":{", t->skipped, s->events);
	for (int kind = 1; kind < EVENT_KINDS; kind++)
		if (s->kind[kind]) {
			str_printf(to, "%s\"%s\":%" PRIu64, comma, event_info[kind].text, s->kind[kind]);
			comma = ",";
		}
	str_add(to, "}");
	for (int role = 0; role < ROLES; role++)
		str_printf(to, ",\"%s\":%" PRIu64, role_text[role], s->distinct[role]);
	str_printf(to, ",\"sites\":%" PRIu32 ",\"stacks\":%" PRIu32 ",\"modules\":%zu",
		f->tables.names[TABLE_SITE].count, f->tables.stacks, f->tables.module_count);
	str_printf(to, ",\"bytes\":%" PRIu64 ",\"bytes_per_event\":%.2f}\n", s->bytes, bytes_each(s));
}

static void print(const struct str *text)
{
	struct output o;

	if (output_open(&o, "-"))
		output_write(&o, text->at, text->length);
	if (fault_is_set(&o.fault) || !output_commit(&o))
		die(o.fault.status, "%s", o.fault.text);
}

static const char *format = "text";

static const char *formats(size_t i, const char **about)
{
	static const char *const words[] = {"text", "json", NULL};

	return opts_word(words, i, about);
}

static int stat_main(int argc, char **argv)
{
	struct trace_file f;
	struct tally s;
	struct str text;

	(void)argc;
	trace_file_open(&f, argv[1]);
	tally_init(&s, &f.arena);
	trace_file_watch(&f, "");
	count_all(&s, &f);
	trace_file_finish(&f, "counted");
	str_init(&text, &f.arena);
	(strcmp(format, "json") == 0 ? render_json : render_text)(&text, &s, &f);
	print(&text);
	trace_file_close(&f);
	return STATUS_CLEAN;
}

static const struct opt options[] = {
	{"format", 0, OPT_TEXT, &format, "FORM", "the form (default: text)", .values = formats},
	TRACE_LENIENT,
	{0},
};

const struct command trace_stat = {
	.name = "stat",
	.summary = "how many events, threads, variables, locks, bytes",
	.run = stat_main,
	.words = "FILE",
	.least = 1,
	.most = 1,
	.about = "Counts what is in a trace. '-' is standard input.",
	.options = (const struct opt_group[]){{"Options", options}, {0}},
	.examples = (const struct command_example[]){
		{"fission trace stat examples/bank.std", NULL},
		{"fission trace stat --format=json run.ftr | jq .events", NULL},
		{"zcat trace.std.gz | fission trace stat --lenient -", NULL},
		{0},
	},
	.statuses = trace_statuses,
	.see = (const char *const[]){"trace", "record", NULL},
};

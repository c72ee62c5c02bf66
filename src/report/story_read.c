/* SPDX-License-Identifier: MIT */
/*
 * What json.c has written becomes a story again. The file may come from anywhere: a member of the wrong kind, or a
 * number that stands for nothing, is a fault that names where it is. Members that are not known are left alone, and
 * one that is missing or null is as if nothing were known; so reports of a former version can be read as well.
 */
#include "story.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/input.h"
#include "base/str.h"
#include "report/source_lines.h"

/* A file as large as that is no report. */
enum { FILE_MOST = 1 << 30 };

struct reader {
	struct story *s;
	struct arena *arena;
	const char *path;
	struct fault *fault;
};

/* A value and where it stands: in `up` by the key, or as number `index` of the list that has the key. */
struct node {
	struct reader *r;
	json_t *value;
	const struct node *up;
	const char *key;
	size_t index;
};

enum { NO_INDEX = -1 };

static void add_where(struct str *to, const struct node *n)
{
	if (!n->up)
		return;
	add_where(to, n->up);
	str_printf(to, "%s%s", n->up->up ? "." : "", n->key);
	if (n->index != (size_t)NO_INDEX)
		str_printf(to, "[%zu]", n->index);
}

/* "findings.json: findings[3].events[2].thread: ..." */
static void complain(const struct node *n, const char *key, const char *what)
{
	struct str where;

	str_init(&where, n->r->arena);
	add_where(&where, n);
	if (key)
		str_printf(&where, "%s%s", where.length ? "." : "", key);
	fault_set(n->r->fault, STATUS_TRACE, "%s: %s: %s", n->r->path, where.length ? where.at : "the report", what);
}

/* The member, NULL if it is missing or null. */
static json_t *member(const struct node *n, const char *key)
{
	json_t *value = json_object_get(n->value, key);

	return json_is_null(value) ? NULL : value;
}

static struct text keep(const struct node *n, const json_t *value)
{
	size_t length = json_string_length(value);

	return (struct text){arena_text(n->r->arena, json_string_value(value), length), length};
}

static struct text text_of(const struct node *n, const char *key)
{
	json_t *value = member(n, key);

	if (json_is_string(value))
		return keep(n, value);
	if (value)
		complain(n, key, "not a text");
	return (struct text){"", 0};
}

static bool bool_of(const struct node *n, const char *key)
{
	json_t *value = member(n, key);

	if (value && !json_is_boolean(value))
		complain(n, key, "neither true nor false");
	return json_is_true(value);
}

/* Digits and nothing else. */
static bool parse_digits(const char *text, uint64_t *to)
{
	char *end;

	errno = 0;
	*to = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
}

static uint64_t number_of(const struct node *n, const char *key)
{
	json_t *value = member(n, key);
	uint64_t number = 0;

	if (!value)
		return 0;
	if (json_is_integer(value) && json_integer_value(value) >= 0)
		return (uint64_t)json_integer_value(value);
	if (!json_is_string(value) || !parse_digits(json_string_value(value), &number))
		complain(n, key, "not a whole number from 0 on");
	return number;
}

static uint32_t small_of(const struct node *n, const char *key, uint32_t most)
{
	uint64_t number = number_of(n, key);

	if (number <= most)
		return (uint32_t)number;
	complain(n, key, "the number is too large");
	return 0;
}

/* Of something that there are `count` of. */
static uint32_t index_of(const struct node *n, const char *key, size_t count)
{
	uint64_t number = number_of(n, key);

	if (!member(n, key))
		return STORY_NONE;
	if (number < count)
		return (uint32_t)number;
	complain(n, key, "there is nothing of that number");
	return STORY_NONE;
}

/* How one element of a list is read, and how large it is. */
struct list {
	size_t element;
	void (*read)(const struct node *n, void *to);
};

/* The elements of a list, `*count` of them. */
static void *list_of(const struct node *n, const char *key, const struct list *list, size_t *count)
{
	json_t *value = member(n, key);
	char *to;

	*count = 0;
	if (value && !json_is_array(value))
		complain(n, key, "not a list");
	to = arena_alloc(n->r->arena, json_array_size(value) * list->element);
	for (size_t i = 0; i < json_array_size(value) && !fault_is_set(n->r->fault); i++, ++*count) {
		struct node element = {n->r, json_array_get(value, i), n, key, i};

		list->read(&element, to + i * list->element);
	}
	return to;
}

/* An element that must be an object. */
static bool is_object(const struct node *n)
{
	if (!json_is_object(n->value))
		complain(n, NULL, "not an object");
	return json_is_object(n->value);
}

/* The member that is an object, or nothing. */
static struct node object_of(const struct node *n, const char *key)
{
	struct node to = {n->r, member(n, key), n, key, (size_t)NO_INDEX};

	if (to.value && !json_is_object(to.value))
		complain(n, key, "not an object");
	return to;
}

static void read_text(const struct node *n, void *to)
{
	if (json_is_string(n->value))
		*(struct text *)to = keep(n, n->value);
	else
		complain(n, NULL, "not a text");
}

static const struct list texts = {sizeof(struct text), read_text};

static struct story_place place_of(const struct node *n)
{
	return (struct story_place){text_of(n, "file"), small_of(n, "line", UINT32_MAX - 1),
		small_of(n, "column", UINT32_MAX - 1), STORY_NONE};
}

/* The tables. */

static void read_frame(const struct node *n, void *to)
{
	if (is_object(n))
		*(struct story_frame *)to = (struct story_frame){
			text_of(n, "function"), place_of(n), bool_of(n, "inlined"), bool_of(n, "foreign")};
}

/* A stack is a list by itself, and has no key. */
static void read_stack(const struct node *n, void *to)
{
	struct story_stack *stack = to;

	if (!json_is_array(n->value)) {
		complain(n, NULL, "not a list");
		return;
	}
	stack->at = arena_alloc(n->r->arena, json_array_size(n->value) * sizeof *stack->at);
	for (size_t i = 0; i < json_array_size(n->value); i++)
		read_frame(&(struct node){n->r, json_array_get(n->value, i), n, "frame", i}, &stack->at[stack->count++]);
}

static void read_thread(const struct node *n, void *to)
{
	const struct story *s = n->r->s;

	if (is_object(n))
		*(struct story_thread *)to = (struct story_thread){
			text_of(n, "name"), index_of(n, "creator", s->threads), index_of(n, "creation", s->stacks)};
}

struct line {
	uint32_t number;
	struct text text;
};

static void read_line(const struct node *n, void *to)
{
	if (is_object(n))
		*(struct line *)to = (struct line){small_of(n, "number", UINT32_MAX - 1), text_of(n, "text")};
}

static void read_source(const struct node *n, void *to)
{
	static const struct list lines = {sizeof(struct line), read_line};
	struct story_source *source = to;
	struct line *line;

	if (!is_object(n))
		return;
	source->file = text_of(n, "file");
	line = list_of(n, "lines", &lines, &source->count);
	source->number = arena_alloc(n->r->arena, source->count * sizeof *source->number);
	source->line = arena_alloc(n->r->arena, source->count * sizeof *source->line);
	for (size_t i = 0; i < source->count; i++) {
		if (i && line[i].number <= line[i - 1].number)
			complain(n, "lines", "the numbers do not rise");
		source->number[i] = line[i].number;
		source->line[i] = line[i].text;
	}
}

/* Findings. */

/* The number of the word in the table. */
static unsigned word_of(const struct node *n, const char *key, const char *const *words, unsigned count)
{
	struct text t = text_of(n, key);

	for (unsigned i = 0; i < count; i++)
		if (text_is(t, words[i]))
			return i;
	complain(n, key, "not one of the words that it may be");
	return 0;
}

/* Negative ones are kept in two's complement, as in struct event. */
static uint64_t value_of(const struct node *n)
{
	json_t *value = member(n, "value");

	return json_is_integer(value) ? (uint64_t)json_integer_value(value) : number_of(n, "value");
}

static void read_event(const struct node *n, void *to)
{
	struct story_event *e = to;
	const struct story *s = n->r->s;

	if (!is_object(n))
		return;
	*e = (struct story_event){
		.thread = index_of(n, "thread", s->threads), .word = text_of(n, "kind").at, .object = text_of(n, "object"),
		.data = bool_of(n, "data"), .locks = bool_of(n, "locks"), .unlocks = bool_of(n, "unlocks"),
		.valued = member(n, "value") != NULL, .is_unsigned = bool_of(n, "unsigned"), .value = value_of(n),
		.size = small_of(n, "size", UINT32_MAX), .place = place_of(n), .stack = index_of(n, "stack", s->stacks),
		.role = word_of(n, "role", story_role_text, STORY_ROLES), .seq = number_of(n, "event"),
		.skipped = number_of(n, "skipped"),
	};
	if (e->value > INT64_MAX && json_is_string(member(n, "value")) && !e->is_unsigned)
		complain(n, "value", "too large for a number with a sign");
	if (e->is_unsigned && json_is_integer(member(n, "value")) && json_integer_value(member(n, "value")) < 0)
		complain(n, "value", "negative, and without a sign");
}

static const struct list events = {sizeof(struct story_event), read_event};

static void read_evidence(const struct node *n, void *to)
{
	if (is_object(n))
		*(struct story_evidence *)to =
			(struct story_evidence){text_of(n, "name"), text_of(n, "kind"), number_of(n, "event")};
}

static int64_t signed_of(const struct node *n, const char *key)
{
	json_t *value = member(n, key);

	if (json_is_integer(value))
		return json_integer_value(value);
	if (value && number_of(n, key) > INT64_MAX)
		complain(n, key, "the number is too large");
	return (int64_t)number_of(n, key);
}

static void read_outcome(const struct node *n, void *to)
{
	if (is_object(n))
		*(struct story_outcome *)to = (struct story_outcome){text_of(n, "order"), text_of(n, "variable"),
			signed_of(n, "value"), member(n, "value") != NULL, bool_of(n, "serial")};
}

/* Two lists side by side: the names of the rules, and what they say. */
static void read_reasons(const struct node *n, struct story_finding *f)
{
	size_t rules, whys;
	struct text *rule = list_of(n, "rules", &texts, &rules), *why = list_of(n, "reasons", &texts, &whys);

	if (rules != whys) {
		complain(n, "reasons", "not as many as there are rules");
		return;
	}
	f->reason = arena_alloc(n->r->arena, rules * sizeof *f->reason);
	for (f->reasons = 0; f->reasons < rules; f->reasons++)
		f->reason[f->reasons] = (struct story_reason){rule[f->reasons], why[f->reasons]};
}

static void read_block(const struct node *n, struct story_finding *f)
{
	struct node block = object_of(n, "block");
	const struct story *s = n->r->s;

	f->function = text_of(&block, "function");
	f->place = place_of(&block);
	f->thread = index_of(&block, "thread_number", s->threads);
	f->seq = number_of(&block, "event");
	f->declared = bool_of(&block, "declared");
	f->entered = bool_of(&block, "entered");
	f->block_stack = index_of(&block, "stack_number", s->stacks);
	f->caller_stack = index_of(&block, "caller_number", s->stacks);
}

static void read_window(const struct node *n, struct story_finding *f)
{
	struct node window = object_of(n, "window");

	f->window_from = index_of(&window, "from", f->events);
	f->window_to = index_of(&window, "to", f->events);
	if ((f->window_from == STORY_NONE) != (f->window_to == STORY_NONE) || f->window_from > f->window_to)
		complain(n, "window", "not from an event to one behind it");
}

static void read_fix(const struct node *n, struct story_fix *fix)
{
	struct node node = object_of(n, "fix"), from = object_of(&node, "from"), to = object_of(&node, "to");

	*fix = (struct story_fix){text_of(&node, "lock"), place_of(&from), place_of(&to)};
}

static void read_judgement(const struct node *n, struct story_finding *f)
{
	f->id = text_of(n, "id");
	f->trace = index_of(n, "trace_number", n->r->s->traces);
	f->verdict = (enum verdict)word_of(n, "verdict", verdict_text, VERDICTS);
	f->rank = small_of(n, "rank", 4);
	f->hidden = bool_of(n, "hidden");
	f->again = bool_of(n, "again");
	f->happened = bool_of(n, "happened");
	f->data = bool_of(n, "by_data");
	f->count = number_of(n, "count");
	f->known = bool_of(n, "known");
	f->suppressed = text_of(n, "suppressed");
	f->reason_given = text_of(n, "suppression_reason");
	f->hindrance = text_of(n, "hindrance");
	f->hazard = index_of(n, "hazard", n->r->s->hazards);
	f->guessed = bool_of(n, "guessed");
	f->lock = text_of(n, "lock");
}

static void read_finding(const struct node *n, void *to)
{
	static const struct list evidence = {sizeof(struct story_evidence), read_evidence};
	static const struct list outcomes = {sizeof(struct story_outcome), read_outcome};
	struct story_finding *f = to;

	if (!is_object(n))
		return;
	read_judgement(n, f);
	read_block(n, f);
	f->variable = list_of(n, "variables", &texts, &f->variables);
	f->enclosing = list_of(n, "enclosing", &texts, &f->enclosings);
	f->event = list_of(n, "events", &events, &f->events);
	read_window(n, f);
	f->evidence = list_of(n, "checks", &evidence, &f->evidences);
	read_reasons(n, f);
	read_fix(n, &f->fix);
	f->outcome = list_of(n, "outcomes", &outcomes, &f->outcomes);
	f->replay = bool_of(n, "replay");
	f->then = text_of(n, "then");
}

/* Hazards, traces and the whole. */

static void read_hazard(const struct node *n, void *to)
{
	struct story_hazard *h = to;

	if (!is_object(n))
		return;
	h->trace = index_of(n, "trace_number", n->r->s->traces);
	h->object = text_of(n, "variable");
	h->times = number_of(n, "times");
	h->event = list_of(n, "events", &events, &h->events);
}

/* Both kinds in one list, the races first. */
static void read_hazards(const struct node *n)
{
	static const struct list hazards = {sizeof(struct story_hazard), read_hazard};
	size_t races, deadlocks;
	struct story_hazard *race = list_of(n, "races", &hazards, &races);
	struct story_hazard *deadlock = list_of(n, "deadlocks", &hazards, &deadlocks);
	struct story *s = n->r->s;

	s->hazards = races + deadlocks;
	s->hazard = arena_alloc(s->arena, s->hazards * sizeof *s->hazard);
	for (size_t i = 0; i < s->hazards; i++) {
		s->hazard[i] = i < races ? race[i] : deadlock[i - races];
		s->hazard[i].kind = i < races ? HAZARD_RACE : HAZARD_DEADLOCK;
	}
}

static void read_suppression(const struct node *n, void *to)
{
	if (is_object(n))
		*(struct story_suppression *)to = (struct story_suppression){
			.place = text_of(n, "place"), .rule = text_of(n, "rule"), .reason = text_of(n, "reason"),
			.owner = text_of(n, "owner"), .expires = text_of(n, "expires"), .expired = bool_of(n, "expired"),
			.used = number_of(n, "used"),
		};
}

static void read_failure(const struct node *n, void *to)
{
	struct story_failure *f = to;

	if (!is_object(n))
		return;
	f->id = text_of(n, "id");
	f->what = text_of(n, "what");
	f->line = list_of(n, "lines", &texts, &f->lines);
}

static void read_limit(const struct node *n, void *to)
{
	if (is_object(n))
		*(struct story_limit *)to = (struct story_limit){text_of(n, "what"), number_of(n, "times")};
}

static void read_trace(const struct node *n, void *to)
{
	static const struct list limits = {sizeof(struct story_limit), read_limit};
	struct story_trace *t = to;

	if (!is_object(n))
		return;
	*t = (struct story_trace){
		.path = text_of(n, "path"), .events = number_of(n, "events"), .variables = number_of(n, "variables"),
		.repaired = number_of(n, "repaired"), .skipped = number_of(n, "skipped"),
		.threads = small_of(n, "threads", UINT32_MAX), .cut = text_of(n, "cut"), .fault = text_of(n, "error"),
		.timed = bool_of(n, "timed"),
	};
	t->repair = list_of(n, "repairs", &limits, &t->repairs);
	t->limit = list_of(n, "left_out", &limits, &t->limits);
}

static void read_tables(const struct node *n)
{
	static const struct list traces = {sizeof(struct story_trace), read_trace};
	static const struct list stacks = {sizeof(struct story_stack), read_stack};
	static const struct list threads = {sizeof(struct story_thread), read_thread};
	static const struct list sources = {sizeof(struct story_source), read_source};
	struct story *s = n->r->s;

	s->trace = list_of(n, "traces", &traces, &s->traces);
	s->stack = list_of(n, "stacks", &stacks, &s->stacks);
	s->threads = json_array_size(member(n, "threads"));
	s->thread = list_of(n, "threads", &threads, &(size_t){0});
	s->source = list_of(n, "sources", &sources, &s->sources);
}

static bool is_ours(const struct node *n)
{
	json_t *version = json_object_get(n->value, "version");

	if (!json_is_object(n->value) || !json_is_integer(version) || json_integer_value(version) < 1)
		complain(n, NULL, "no report of fission: it has no version");
	else if (json_integer_value(version) > STORY_VERSION)
		fault_set(n->r->fault, STATUS_TRACE, "%s: version %lld of the report is newer than this fission, which reads up to "
			"version %d; use the fission that has written it", n->r->path, (long long)json_integer_value(version),
			STORY_VERSION);
	else if (json_integer_value(version) < STORY_VERSION)
		fault_set(n->r->fault, STATUS_TRACE, "%s: version %lld of the report has no events to show; run the program again",
			n->r->path, (long long)json_integer_value(version));
	return !fault_is_set(n->r->fault);
}

static void read_all(const struct node *n)
{
	static const struct list findings = {sizeof(struct story_finding), read_finding};
	static const struct list failures = {sizeof(struct story_failure), read_failure};
	static const struct list suppressions = {sizeof(struct story_suppression), read_suppression};
	struct story *s = n->r->s;

	s->command = text_of(n, "command");
	s->program = text_of(n, "program");
	s->status = (int)small_of(n, "status", 255);
	s->fail_on = text_of(n, "fail_on");
	s->rank = small_of(n, "rank", 4);
	read_tables(n);
	read_hazards(n);
	s->finding = list_of(n, "findings", &findings, &s->findings);
	s->failure = list_of(n, "failures", &failures, &s->failures);
	s->suppression = list_of(n, "suppressions", &suppressions, &s->suppressions);
	if (!fault_is_set(n->r->fault))
		source_lines_link(s);
}

/* All of the file. */
static bool slurp(const char *path, struct str *to, struct fault *fault)
{
	struct input in;

	if (!input_open(&in, path, fault))
		return false;
	do {
		str_bytes(to, in.at, (size_t)(in.end - in.at));
		in.at = in.end;
	} while (to->length <= FILE_MOST && input_more(&in, fault));
	input_close(&in);
	if (to->length > FILE_MOST)
		fault_set(fault, STATUS_TRACE, "%s: too large for a report", path);
	return !fault_is_set(fault);
}

/* The end of the text that begins with the quote at p. */
static const char *text_end(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\' && p + 1 < end)
			p++;
	return p < end ? p + 1 : end;
}

/* Whole numbers above 2^63 - 1 become texts of digits: the library takes no such numbers, and values may be such. */
static void quote_large(struct str *to, const char *p, const char *end)
{
	for (char last = 0; p < end;) {
		size_t n = strspn(p, "0123456789");
		bool large = n > 18 && n < 21 && last != '-' && strcspn(p + n, ".eE") > 0;

		if (n == 0)
			n = *p == '"' ? (size_t)(text_end(p, end) - p) : 1;
		str_add(to, large ? "\"" : "");
		str_bytes(to, p, n);
		str_add(to, large ? "\"" : "");
		p += n;
		last = p[-1];
	}
}

static json_t *parse(const struct str *text, json_error_t *error)
{
	json_t *root = json_loadb(text->at, text->length, JSON_REJECT_DUPLICATES, error);
	struct str quoted;

	if (root || json_error_code(error) != json_error_numeric_overflow)
		return root;
	str_init(&quoted, text->arena);
	quote_large(&quoted, text->at, text->at + text->length);
	return json_loadb(quoted.at, quoted.length, JSON_REJECT_DUPLICATES, error);
}

static bool read_report(struct reader *r, const struct str *text)
{
	json_error_t error;
	json_t *root = parse(text, &error);

	if (!root)
		fault_set(r->fault, STATUS_TRACE, "%s:%d:%d: %s", r->path, error.line, error.column, error.text);
	else if (is_ours(&(struct node){.r = r, .value = root, .index = (size_t)NO_INDEX}))
		read_all(&(struct node){.r = r, .value = root, .index = (size_t)NO_INDEX});
	json_decref(root);
	return !fault_is_set(r->fault);
}

bool story_parse(struct story *s, struct arena *a, struct text json, struct fault *fault)
{
	struct reader r = {s, a, "a result", fault};
	struct str text;

	*s = (struct story){.arena = a};
	str_init(&text, a);
	str_bytes(&text, json.at, json.length);
	return read_report(&r, &text);
}

bool story_read(struct story *s, struct arena *a, const char *path, struct fault *fault)
{
	struct reader r = {s, a, strcmp(path, "-") == 0 ? "standard input" : path, fault};
	struct str text;

	*s = (struct story){.arena = a};
	str_init(&text, a);
	if (!slurp(path, &text, fault))
		return false;
	str_add(&text, "");
	return read_report(&r, &text);
}

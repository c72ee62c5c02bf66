/* SPDX-License-Identifier: MIT */
/*
 * The report as SARIF 2.1.0, for editors and code hosts. docs/report-formats.md says what is found where.
 *
 * One finding is one result. Its interleaving is a code flow with a thread flow for each thread; the order across
 * threads is in "executionOrder", counted from 1. What is related is numbered by its place in that order, too, so that
 * the message can link to it.
 *
 * All findings are told. Those that people are not shown are suppressed results, each with the reason: viewers keep
 * them back as our own reports do.
 */
#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/str.h"
#include "report/hide.h"
#include "report/look.h"
#include "report/report.h"
#include "report/sarif_rules.h"
#include "report/sarif_scene.h"
#include "report/words.h"

static struct text whole(const struct str *s)
{
	return (struct text){s->at, s->length};
}

/*
 * An error cannot be a false alarm and is likely a mistake: what makes the tool fail by default. A note is what a rule
 * has demoted or hidden, or what another result says already.
 */
static const char *level_of(const struct story_finding *f)
{
	if (f->hidden || (f->again && !f->stands_in) || f->rank > 3)
		return "note";
	return f->rank < 3 && f->verdict >= VERDICT_PREDICTED ? "error" : "warning";
}

/* 0 to 100, rising in the order in which findings are listed: rank first, then verdict; below all, what is hidden. */
static unsigned priority_of(const struct story_finding *f)
{
	unsigned rank = f->rank < 1 ? 1 : f->rank > 4 ? 4 : f->rank;

	return f->hidden ? 5 : 100 - 25 * (rank - 1) - 5 * (unsigned)(VERDICT_REPRODUCED - f->verdict);
}

enum { HAZARD_PRIORITY = 40 };

static void add_subject(struct str *to, const struct story_finding *f)
{
	if (!f->function.length) {
		str_add(to, f->declared ? "A declared block" : "A section of a lock");
		return;
	}
	sarif_name(to, f->function);
	str_add(to, words_callable(f->function) ? "()" : "");
}

static uint32_t number_of(const struct story_finding *f, const struct story_event *e)
{
	return (uint32_t)(e - f->event) + 1;
}

/* "a [write of 'balance'](2) by thread T2 can come between its [read](1) and its [write](3)" */
static void add_split(struct str *to, const struct story *s, const struct story_finding *f)
{
	const struct story_event *first = story_event(f, STORY_FIRST), *second = story_event(f, STORY_SECOND);
	const struct story_event *culprit = story_event(f, STORY_CULPRIT);

	if (!first || !second || !culprit)
		return;
	str_printf(to, ": %s [%s](%u) of '", strchr("aeiou", *culprit->word) ? "an" : "a", culprit->word,
		number_of(f, culprit));
	sarif_name(to, culprit->object);
	str_add(to, "' by ");
	sarif_thread(to, s, culprit->thread);
	str_printf(to, " %s between its [%s](%u) and its [%s](%u)", f->happened ? "comes" : "can come", first->word,
		number_of(f, first), second->word, number_of(f, second));
}

static void add_fix(struct str *to, const struct story_fix *fix)
{
	if (!fix->from.file.length || !fix->to.file.length)
		return;
	str_add(to, " Likely fix: hold ");
	if (fix->lock.length)
		sarif_name(to, fix->lock);
	else
		str_add(to, "one lock");
	str_add(to, fix->from.line == fix->to.line ? " around " : " from ");
	sarif_place(to, &fix->from);
	if (fix->from.line != fix->to.line) {
		str_add(to, " to ");
		sarif_place(to, &fix->to);
	}
	str_char(to, '.');
}

static void add_finding_message(struct sarif *f, const struct story_finding *x)
{
	struct str s;

	str_init(&s, f->j.to->arena);
	add_subject(&s, x);
	str_add(&s, " is not atomic");
	add_split(&s, f->s, x);
	str_printf(&s, " (%s, rank %u", verdict_text[x->verdict], x->rank);
	if (x->reasons) {
		str_add(&s, ": ");
		sarif_name(&s, x->reason[0].why);
	}
	str_add(&s, ").");
	add_fix(&s, &x->fix);
	sarif_message(f, "message", whole(&s));
	arena_recycle(s.arena, s.at, s.capacity);
}

/* The main location is that of the summary: where the block goes on in a world that has changed. */
static void add_locations(struct sarif *f, const struct story_finding *x)
{
	const struct story_event *second = story_event(x, STORY_SECOND);
	struct sarif_location l = {.place = x->place, .function = x->function, .snippet = true};

	if (second && second->place.file.length)
		l.place = second->place;
	json_open(&f->j, "locations", '[');
	sarif_location(f, NULL, &l);
	json_close(&f->j, ']');
}

static void add_suppression(struct sarif *f, const struct str *why)
{
	json_open(&f->j, NULL, '{');
	json_word(&f->j, "kind", "external");
	json_word(&f->j, "status", "accepted");
	json_text(&f->j, "justification", whole(why));
	json_close(&f->j, '}');
}

static void add_why_not_shown(struct str *to, const struct story *s, const struct story_finding *x)
{
	enum hiding why = hide_why(s, x, false);

	if (why == HIDE_SUPPRESSED) {
		sarif_name(to, x->suppressed);
		str_add(to, x->reason_given.length ? ": " : "");
		str_bytes(to, x->reason_given.at, x->reason_given.length);
	} else if (why == HIDE_RULE && x->reasons) {
		str_add(to, "hidden: ");
		sarif_name(to, x->reason[0].why);
	} else if (why == HIDE_AGAIN) {
		str_add(to, "another finding is about the same code, with another variable");
	} else {
		str_printf(to, "not shown: of rank %u", x->rank);
	}
}

/* An empty list says that it is not suppressed; no list would say that nobody knows. */
static void add_suppressions(struct sarif *f, const struct story_finding *x)
{
	struct str s;

	json_open(&f->j, "suppressions", '[');
	if (!story_shows(f->s, x)) {
		str_init(&s, f->j.to->arena);
		add_why_not_shown(&s, f->s, x);
		add_suppression(f, &s);
		arena_recycle(s.arena, s.at, s.capacity);
	}
	json_close(&f->j, ']');
}

static void add_texts(struct sarif *f, const char *key, const struct text *at, size_t count)
{
	json_open(&f->j, key, '[');
	for (size_t i = 0; i < count; i++)
		json_text(&f->j, NULL, at[i]);
	json_close(&f->j, ']');
}

static void add_properties(struct sarif *f, const struct story_finding *x)
{
	json_open(&f->j, "properties", '{');
	json_word(&f->j, "verdict", verdict_text[x->verdict]);
	json_number(&f->j, "fissionRank", x->rank);
	json_bool(&f->j, "hidden", x->hidden);
	json_bool(&f->j, "again", x->again);
	json_bool(&f->j, "happened", x->happened);
	if (x->lock.length)
		json_text(&f->j, "lock", x->lock);
	add_texts(f, "variables", x->variable, x->variables);
	add_texts(f, "enclosing", x->enclosing, x->enclosings);
	json_open(&f->j, "checks", '[');
	for (size_t i = 0; i < x->evidences; i++)
		json_text(&f->j, NULL, x->evidence[i].check);
	json_close(&f->j, ']');
	json_close(&f->j, '}');
}

static void add_fingerprint(struct sarif *f, const char *name, struct text value)
{
	json_open(&f->j, "partialFingerprints", '{');
	json_text(&f->j, name, value);
	json_close(&f->j, '}');
}

static void add_finding(struct sarif *f, const struct story_finding *x)
{
	json_open(&f->j, NULL, '{');
	sarif_rule(&f->j, sarif_rule_of(x->reasons ? x->reason[0].rule : (struct text){0}));
	json_word(&f->j, "level", level_of(x));
	json_number(&f->j, "rank", priority_of(x));
	add_finding_message(f, x);
	add_locations(f, x);
	add_fingerprint(f, "fissionId/v1", x->id);
	json_number(&f->j, "occurrenceCount", x->count ? x->count : 1);
	if (f->baseline)
		json_word(&f->j, "baselineState", x->known ? "unchanged" : "new");
	add_suppressions(f, x);
	sarif_scene(f, &(struct sarif_scene){x->event, x->events, false});
	add_properties(f, x);
	json_close(&f->j, '}');
}

/* "thread T1 [holds](1) 'a' and [wants](2) 'b', thread T2 ...": the two of a thread stand side by side. */
static void add_waits(struct str *to, const struct story *s, const struct story_hazard *h)
{
	for (size_t i = 0; i < h->events; i++) {
		if (i % 2 == 0) {
			str_add(to, i ? ", " : "");
			sarif_thread(to, s, h->event[i].thread);
		}
		str_printf(to, i % 2 ? " and [wants](%zu) '" : " [holds](%zu) '", i + 1);
		sarif_name(to, h->event[i].object);
		str_char(to, '\'');
	}
}

/* "a [read](1) by thread T1, a [write](2) by thread T2" */
static void add_racers(struct str *to, const struct story *s, const struct story_hazard *h)
{
	for (size_t i = 0; i < h->events; i++) {
		str_printf(to, "%sa [%s](%zu) by ", i ? ", " : "", h->event[i].word, i + 1);
		sarif_thread(to, s, h->event[i].thread);
	}
}

static void add_hazard_message(struct sarif *f, const struct story_hazard *h)
{
	struct str s;

	str_init(&s, f->j.to->arena);
	if (h->kind == HAZARD_RACE) {
		str_add(&s, "Data race on '");
		sarif_name(&s, h->object);
		str_add(&s, "': ");
		add_racers(&s, f->s, h);
		str_add(&s, "; nothing orders them.");
	} else {
		str_add(&s, "Possible deadlock: ");
		add_waits(&s, f->s, h);
		str_add(&s, "; each can wait for the next.");
	}
	sarif_message(f, "message", whole(&s));
	arena_recycle(s.arena, s.at, s.capacity);
}

/* Kind, object and code, without lines and threads: the same in another run. */
static void add_hazard_fingerprint(struct sarif *f, const struct story_hazard *h)
{
	uint64_t sum = hash_pair(h->kind, hash_bytes(h->object.at ? h->object.at : "", h->object.length));
	struct str s;

	for (size_t i = 0; i < h->events; i++) {
		const struct story_event *e = &h->event[i];
		struct text function = sarif_function(f->s, e);

		sum = hash_pair(sum, hash_bytes(e->word, strlen(e->word)));
		sum = hash_pair(sum, hash_bytes(function.at ? function.at : "", function.length));
		sum = hash_pair(sum, hash_bytes(e->place.file.at ? e->place.file.at : "", e->place.file.length));
	}
	str_init(&s, f->j.to->arena);
	str_printf(&s, "%016" PRIx64, sum);
	add_fingerprint(f, "fissionHazard/v1", whole(&s));
	arena_recycle(s.arena, s.at, s.capacity);
}

static void add_hazard(struct sarif *f, const struct story_hazard *h)
{
	json_open(&f->j, NULL, '{');
	sarif_rule(&f->j, sarif_rule_of_hazard(h->kind));
	json_word(&f->j, "level", "warning");
	json_number(&f->j, "rank", HAZARD_PRIORITY);
	add_hazard_message(f, h);
	json_open(&f->j, "locations", '[');
	if (h->events) {
		struct sarif_location l = sarif_location_of(f->s, &h->event[h->events - 1]);

		l.snippet = true;
		sarif_location(f, NULL, &l);
	}
	json_close(&f->j, ']');
	add_hazard_fingerprint(f, h);
	json_number(&f->j, "occurrenceCount", h->times ? h->times : 1);
	json_open(&f->j, "suppressions", '[');
	json_close(&f->j, ']');
	sarif_scene(f, &(struct sarif_scene){h->event, h->events, true});
	json_close(&f->j, '}');
}

static void add_notification(struct sarif *f, const char *level, struct text path, struct text what)
{
	struct str s;

	if (!what.length)
		return;
	str_init(&s, f->j.to->arena);
	sarif_name(&s, path);
	str_add(&s, path.length ? ": " : "");
	sarif_name(&s, what);
	json_open(&f->j, NULL, '{');
	json_word(&f->j, "level", level);
	sarif_message(f, "message", whole(&s));
	json_close(&f->j, '}');
	arena_recycle(s.arena, s.at, s.capacity);
}

/* What makes the report less than it could be. */
static void add_notifications(struct sarif *f)
{
	json_open(&f->j, "toolExecutionNotifications", '[');
	for (size_t i = 0; i < f->s->traces; i++) {
		const struct story_trace *t = &f->s->trace[i];

		add_notification(f, "warning", t->path, t->cut);
		add_notification(f, "error", t->path, t->fault);
		for (size_t k = 0; k < t->limits; k++)
			add_notification(f, "note", t->path, t->limit[k].what);
	}
	json_close(&f->j, ']');
}

/* "fission run -- ./bank 80", or "fission check a.ftr b.ftr". */
static void add_command(struct str *to, const struct story *s)
{
	str_add(to, "fission ");
	str_bytes(to, s->command.at, s->command.length);
	if (s->program.length) {
		str_add(to, " -- ");
		str_bytes(to, s->program.at, s->program.length);
	}
	for (size_t i = 0; i < s->traces && !s->program.length; i++) {
		str_char(to, ' ');
		str_bytes(to, s->trace[i].path.at, s->trace[i].path.length);
	}
}

static bool is_failure(int status)
{
	return status == STATUS_USAGE || status == STATUS_TRACE || status == STATUS_UNFIT || status == STATUS_TOOL ||
		status == STATUS_CONFIG;
}

static void add_invocation(struct sarif *f)
{
	struct str s;

	str_init(&s, f->j.to->arena);
	add_command(&s, f->s);
	json_open(&f->j, "invocations", '[');
	json_open(&f->j, NULL, '{');
	json_text(&f->j, "commandLine", whole(&s));
	json_number(&f->j, "exitCode", (uint64_t)(f->s->status < 0 ? 0 : f->s->status));
	json_bool(&f->j, "executionSuccessful", !is_failure(f->s->status));
	add_notifications(f);
	json_close(&f->j, '}');
	json_close(&f->j, ']');
}

static void add_tool(struct sarif *f)
{
	json_open(&f->j, "tool", '{');
	json_open(&f->j, "driver", '{');
	json_word(&f->j, "name", "fission");
	json_word(&f->j, "version", FISSION_VERSION);
	json_word(&f->j, "semanticVersion", FISSION_VERSION);
	sarif_rules(&f->j);
	json_close(&f->j, '}');
	json_close(&f->j, '}');
}

static void add_run(struct sarif *f)
{
	json_open(&f->j, NULL, '{');
	add_tool(f);
	add_invocation(f);
	json_word(&f->j, "columnKind", "unicodeCodePoints");
	json_open(&f->j, "results", '[');
	for (size_t i = 0; i < f->s->findings; i++)
		add_finding(f, &f->s->finding[i]);
	for (size_t i = 0; i < f->s->hazards; i++)
		add_hazard(f, &f->s->hazard[i]);
	json_close(&f->j, ']');
	sarif_artifacts(f);
	json_close(&f->j, '}');
}

static bool has_baseline(const struct story *s)
{
	for (size_t i = 0; i < s->findings; i++)
		if (s->finding[i].known)
			return true;
	return false;
}

static void sarif_render(const struct story *s, const struct look *look, struct str *to)
{
	struct sarif f = {.j = {.to = to}, .s = s, .baseline = look->new_only || has_baseline(s)};

	intern_init(&f.files, to->arena);
	json_open(&f.j, NULL, '{');
	json_word(&f.j, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
	json_word(&f.j, "version", "2.1.0");
	json_open(&f.j, "runs", '[');
	add_run(&f);
	json_close(&f.j, ']');
	json_close(&f.j, '}');
	str_char(to, '\n');
}

const struct renderer render_sarif = {
	.name = "sarif",
	.render = sarif_render,
};

/* SPDX-License-Identifier: MIT */
/*
 * Replay files, read. The file is made by a machine and edited by people: each line is looked up in a table, each word
 * is taken where it stands, and whatever is wrong is said with its place and what would be right.
 */
#include "replay_file.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/opts.h"
#include "policy/source.h"

/* The file on its way to a replay. */
struct reader {
	struct source source;
	struct replay *to;
	struct fault *fault;
	size_t at, end; /* what is left of the line */
	uint32_t seen;  /* bit by line_kind */
	struct order_module *module;
	size_t modules, module_room;
	uint32_t steps, read; /* of the order: announced, and so far */
	struct text *place;
	bool over;
};

/* A word, unquoted, and where it stands. */
struct word {
	struct text text;
	size_t from;
	bool quoted;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool wrong(struct reader *r, size_t at, const char *format, ...) __attribute__((format(printf, 3, 4)));

static bool wrong(struct reader *r, size_t at, const char *format, ...)
{
	char what[320];
	va_list ap;

	va_start(ap, format);
	vsnprintf(what, sizeof what, format, ap);
	va_end(ap);
	return source_wrong(&r->source, at, r->fault, "%s", what);
}

/* What of a word is fit for a message. */
static const char *shown(struct reader *r, struct text word)
{
	char *copy = arena_text(r->source.arena, word.at, word.length < 60 ? word.length : 60);

	for (char *c = copy; *c; c++)
		if ((unsigned char)*c < 32 || (unsigned char)*c >= 127)
			*c = '?';
	return copy;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* What stands behind a backslash; r->at is moved behind it. -1: it means nothing. */
static int escape(struct reader *r)
{
	static const char escapes[] = "n\nt\tr\r\"\"\\\\";
	const char *text = r->source.at, *e;
	int high, low;

	if (r->at == r->end)
		return -1;
	if (text[r->at] != 'x') {
		e = text[r->at] ? strchr(escapes, text[r->at]) : NULL;
		r->at++;
		return e && (e - escapes) % 2 == 0 ? (unsigned char)e[1] : -1;
	}
	if (r->end - r->at < 3)
		return -1;
	high = hex_digit(text[r->at + 1]);
	low = hex_digit(text[r->at + 2]);
	r->at += 3;
	return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/* Behind the opening quote. */
static bool take_quoted(struct reader *r, struct word *to)
{
	char *text = arena_alloc(r->source.arena, r->end - r->at + 1);
	size_t n = 0, at;
	int c;

	for (; r->at < r->end && r->source.at[r->at] != '"'; text[n++] = (char)c) {
		at = r->at++;
		c = r->source.at[at] == '\\' ? escape(r) : (unsigned char)r->source.at[at];
		if (c < 0)
			return wrong(r, at, "a backslash before something else than n, t, r, x and two digits, \" or \\");
	}
	if (r->at == r->end)
		return wrong(r, to->from, "the quote is not closed; write \" at its end");
	r->at++;
	to->quoted = true;
	to->text = (struct text){text, n};
	return true;
}

/* The next word of the line; without text where the line, or what of it is no comment, ends. False at a mistake. */
static bool next_word(struct reader *r, struct word *to)
{
	const char *text = r->source.at;

	while (r->at < r->end && is_blank(text[r->at]))
		r->at++;
	*to = (struct word){.from = r->at};
	if (r->at < r->end && text[r->at] == '#')
		r->at = r->end;
	if (r->at < r->end && text[r->at] == '"') {
		r->at++;
		return take_quoted(r, to);
	}
	while (r->at < r->end && !is_blank(text[r->at]))
		r->at++;
	to->text = (struct text){text + to->from, text[to->from] == '#' ? 0 : r->at - to->from};
	return true;
}

static bool is_there(const struct word *w)
{
	return w->quoted || w->text.length;
}

/* The next word, which must be there. */
static bool need(struct reader *r, struct word *to, const char *what)
{
	return next_word(r, to) && (is_there(to) || wrong(r, to->from, "%s is missing here", what));
}

static struct text keep(struct reader *r, struct text word)
{
	return (struct text){arena_text(r->source.arena, word.at, word.length), word.length};
}

static bool is_word(const struct word *w, const char *what)
{
	return !w->quoted && w->text.length == strlen(what) && memcmp(w->text.at, what, w->text.length) == 0;
}

/* Digits of the base up to the end of the text; false if it is none, or more than 64 bits. */
static bool digits(struct text t, unsigned base, uint64_t *to)
{
	*to = 0;
	for (size_t i = 0; i < t.length; i++) {
		int d = hex_digit(t.at[i]);

		if (d < 0 || (unsigned)d >= base || __builtin_mul_overflow(*to, base, to) ||
			__builtin_add_overflow(*to, (unsigned)d, to))
			return false;
	}
	return t.length > 0;
}

/* A number in words of a message, and the limits that it has. */
struct number {
	const char *what;
	uint64_t least, most;
};

static bool need_number(struct reader *r, const struct number *n, uint64_t *to)
{
	struct word w;

	if (!need(r, &w, n->what))
		return false;
	if (!digits(w.text, 10, to))
		return wrong(r, w.from, "'%s' is no number; write %s", shown(r, w.text), n->what);
	if (*to < n->least || *to > n->most)
		return wrong(r, w.from, "%" PRIu64 " is not %s: it is from %" PRIu64 " to %" PRIu64, *to, n->what, n->least, n->most);
	return true;
}

static bool need_number32(struct reader *r, const struct number *n, uint32_t *to)
{
	uint64_t wide;

	if (!need_number(r, n, &wide))
		return false;
	*to = (uint32_t)wide;
	return true;
}

/* "20", "-3": what a program has in memory. */
static bool need_value(struct reader *r, uint64_t *to)
{
	struct word w;
	struct text t;

	if (!need(r, &w, "the value"))
		return false;
	t = w.text;
	if (t.length > 1 && t.at[0] == '-')
		t = (struct text){t.at + 1, t.length - 1};
	if (!digits(t, 10, to))
		return wrong(r, w.from, "'%s' is no value; write a number behind the =", shown(r, w.text));
	if (t.at != w.text.at)
		*to = -*to;
	return true;
}

static bool need_kind(struct reader *r, uint32_t *to)
{
	struct word w;
	const char *names[ORDER_KINDS], *near;
	size_t n = 0;

	if (!need(r, &w, "the operation"))
		return false;
	for (*to = 0; *to < ORDER_KINDS; ++*to) {
		const char *name = replay_kind(*to);

		if (name && is_word(&w, name))
			return true;
		if (name)
			names[n++] = name;
	}
	near = opts_nearest(shown(r, w.text), names, n);
	if (near)
		return wrong(r, w.from, "unknown operation '%s'; did you mean '%s'?", shown(r, w.text), near);
	return wrong(r, w.from, "unknown operation '%s'; operations are those of text traces: r, w, acq, rel, ...",
		shown(r, w.text));
}

/* Nothing may follow. */
static bool line_ends(struct reader *r)
{
	struct word w;

	if (!next_word(r, &w))
		return false;
	return !is_there(&w) || wrong(r, w.from, "'%s' is too much in this line; remove it", shown(r, w.text));
}

/* The lines. */

static bool take_program(struct reader *r)
{
	struct word w;
	size_t room = 0;

	if (!need(r, &w, "the program"))
		return false;
	for (; is_there(&w); r->to->argc++) {
		if (memchr(w.text.at, 0, w.text.length))
			return wrong(r, w.from, "an argument with a NUL; no program can be given one");
		r->to->argv = arena_reserve(r->source.arena, r->to->argv, &room, r->to->argc + 1, sizeof *r->to->argv);
		r->to->argv[r->to->argc] = arena_text(r->source.arena, w.text.at, w.text.length);
		if (!next_word(r, &w))
			return false;
	}
	r->to->argv[r->to->argc] = NULL;
	return r->to->argv[0][0] || wrong(r, w.from, "the program has no name");
}

static bool take_stdin(struct reader *r)
{
	struct word w;

	if (!need(r, &w, "the input, in quotes"))
		return false;
	r->to->input = keep(r, w.text);
	return true;
}

/* A name and what stands there for it. */
static bool take_given(struct reader *r, enum inputs_kind kind)
{
	struct word name, value;

	if (!need(r, &name, "the name") || !need(r, &value, "what it is, in quotes"))
		return false;
	if (!name.text.length || memchr(name.text.at, 0, name.text.length) ||
		(kind == INPUTS_ENV && memchr(name.text.at, '=', name.text.length)))
		return wrong(r, name.from, "'%s' is no name", shown(r, name.text));
	if (kind == INPUTS_ENV && memchr(value.text.at, 0, value.text.length))
		return wrong(r, value.from, "a variable with a NUL; no program can be given one");
	inputs_set(&r->to->more, kind, (struct inputs_named){keep(r, name.text), keep(r, value.text)}, r->source.arena);
	return true;
}

static bool take_env(struct reader *r)
{
	return take_given(r, INPUTS_ENV);
}

static bool take_content(struct reader *r)
{
	return take_given(r, INPUTS_FILE);
}

static bool take_input(struct reader *r)
{
	return take_given(r, INPUTS_NAMED);
}

static bool is_build_id(const struct word *w)
{
	for (size_t i = 0; i < w->text.length; i++)
		if (hex_digit(w->text.at[i]) < 0)
			return false;
	return w->text.length > 0 && w->text.length < ORDER_BUILD_ID;
}

static bool is_module_name(struct text name)
{
	for (size_t i = 0; i < name.length; i++)
		if (name.at[i] == '/' || (unsigned char)name.at[i] < ' ' || name.at[i] == 127)
			return false;
	return name.length > 0 && name.length < ORDER_NAME;
}

static bool take_module(struct reader *r)
{
	struct word name, id;
	struct order_module *m;

	if (!need(r, &name, "the module's name") || !need(r, &id, "its build id, or -"))
		return false;
	if (!is_module_name(name.text))
		return wrong(r, name.from, "a module's name has from 1 to %d bytes, and no slash or control byte", ORDER_NAME - 1);
	if (!is_word(&id, "-") && !is_build_id(&id))
		return wrong(r, id.from, "'%s' is no build id; write its hexadecimal digits, or - for none", shown(r, id.text));
	if (r->modules == REPLAY_MODULES_MOST)
		return wrong(r, name.from, "more than %d modules", REPLAY_MODULES_MOST);
	r->module = arena_reserve(r->source.arena, r->module, &r->module_room, r->modules, sizeof *r->module);
	m = &r->module[r->modules++];
	*m = (struct order_module){0};
	memcpy(m->name, name.text.at, name.text.length);
	if (!is_word(&id, "-"))
		memcpy(m->build_id, id.text.at, id.text.length);
	return true;
}

static bool take_found(struct reader *r)
{
	struct word w;

	if (!need(r, &w, "the strategy"))
		return false;
	r->to->strategy = keep(r, w.text);
	return need_number(r, &(struct number){"the seed", 0, UINT64_MAX}, &r->to->seed);
}

static bool take_text(struct reader *r, struct text *to, const char *what)
{
	struct word w;

	if (!need(r, &w, what))
		return false;
	*to = keep(r, w.text);
	return true;
}

static bool take_finding(struct reader *r)
{
	return take_text(r, &r->to->finding, "the finding's id");
}

static bool take_block(struct reader *r)
{
	return take_text(r, &r->to->block, "the block's function");
}

static bool take_expect(struct reader *r)
{
	struct outcome *o = &r->to->outcome;
	struct word w;
	uint32_t e = 0;

	if (!need(r, &w, "how the program ends"))
		return false;
	while (e < ENDINGS && !is_word(&w, ending_text[e]))
		e++;
	if (e == ENDINGS)
		return wrong(r, w.from, "'%s' is no ending; write exit N, signal N, deadlock or hang", shown(r, w.text));
	o->ending = (enum ending)e;
	if (e == ENDING_EXIT)
		return need_number32(r, &(struct number){"the exit status", 0, 255}, &o->status);
	return e != ENDING_SIGNAL || need_number32(r, &(struct number){"the signal", 1, 64}, &o->status);
}

static bool take_stdout(struct reader *r)
{
	struct outcome *o = &r->to->outcome;
	struct word w;

	if (!need_number(r, &(struct number){"the number of bytes", 0, UINT64_MAX}, &o->bytes) || !need(r, &w, "their hash"))
		return false;
	return digits(w.text, 16, &o->hash) || wrong(r, w.from, "'%s' is no hash; write up to 16 hexadecimal digits",
		shown(r, w.text));
}

static bool find_module(const struct reader *r, struct text name, uint32_t *to)
{
	for (*to = 0; *to < r->modules; ++*to)
		if (strlen(r->module[*to].name) == name.length && memcmp(r->module[*to].name, name.at, name.length) == 0)
			return true;
	return false;
}

/* "bank+0x1234" */
static bool need_place(struct reader *r, struct order_step *to)
{
	struct word w;
	const char *plus;
	struct text name, offset;

	if (!need(r, &w, "the place, as bank+0x1234, or -"))
		return false;
	to->module = ORDER_NO_MODULE;
	if (is_word(&w, "-"))
		return true;
	plus = memrchr(w.text.at, '+', w.text.length);
	if (!plus || w.text.at + w.text.length - plus < 4 || memcmp(plus, "+0x", 3) != 0)
		return wrong(r, w.from, "'%s' is no place; write MODULE+0xOFFSET", shown(r, w.text));
	name = (struct text){w.text.at, (size_t)(plus - w.text.at)};
	offset = (struct text){plus + 3, w.text.length - name.length - 3};
	if (!digits(offset, 16, &to->offset) || to->offset >> 48)
		return wrong(r, w.from, "'%s' has no hexadecimal offset of at most 12 digits behind +0x", shown(r, w.text));
	return find_module(r, name, &to->module) ||
		wrong(r, w.from, "there is no line 'module %s'", shown(r, name));
}

/* THREAD OPERATION CODE TIMES VARIABLE [= VALUE] at PLACE */
static bool take_mark(struct reader *r, struct replay_mark *m)
{
	struct word w;

	if (!need_number32(r, &(struct number){"the thread", 1, UINT32_MAX}, &m->step.thread) ||
		!need_kind(r, &m->step.kind) || !need_place(r, &m->step) ||
		!need_number32(r, &(struct number){"how many times", 0, UINT32_MAX}, &m->step.occurrence) ||
		!take_text(r, &m->variable, "the variable") || !need(r, &w, "'=' or 'at'"))
		return false;
	if (is_word(&w, "=")) {
		m->valued = true;
		if (!need_value(r, &m->value) || !need(r, &w, "'at'"))
			return false;
	}
	if (!is_word(&w, "at"))
		return wrong(r, w.from, "'%s'; write 'at' and the place", shown(r, w.text));
	return take_text(r, &m->place, "the place");
}

static bool take_first(struct reader *r)
{
	return take_mark(r, &r->to->mark[MARK_FIRST]);
}

static bool take_culprit(struct reader *r)
{
	return take_mark(r, &r->to->mark[MARK_CULPRIT]);
}

static bool take_second(struct reader *r)
{
	return take_mark(r, &r->to->mark[MARK_SECOND]);
}

/* No file has more steps than half of its bytes: a number that promises more is not worth the memory. */
static bool take_steps(struct reader *r)
{
	struct number n = {"the number of steps", 0, r->source.length / 8};

	if (!r->modules)
		return wrong(r, r->at, "no 'module' line stands before the steps");
	if (!need_number32(r, &n, &r->steps))
		return false;
	r->to->order = replay_order(r->source.arena, (uint32_t)r->modules, r->steps);
	memcpy(replay_module(r->to->order, 0), r->module, r->modules * sizeof *r->module);
	r->place = arena_alloc(r->source.arena, (r->steps + 1) * sizeof *r->place);
	r->to->places = r->place;
	return true;
}

static bool take_end(struct reader *r)
{
	r->over = true;
	if (r->to->order && r->read < r->steps)
		return wrong(r, r->at, "'end' after %" PRIu32 " steps of %" PRIu32 "; the others are missing", r->read, r->steps);
	return true;
}

enum { LINE_NEEDED = 1, LINE_MANY = 2 };

static const struct line {
	const char *name;
	bool (*take)(struct reader *r);
	unsigned flags;
} lines[] = {
	{"program", take_program, LINE_NEEDED},
	{"stdin", take_stdin, 0},
	{"env", take_env, LINE_MANY},
	{"file", take_content, LINE_MANY},
	{"input", take_input, LINE_MANY},
	{"module", take_module, LINE_NEEDED | LINE_MANY},
	{"found", take_found, 0},
	{"finding", take_finding, 0},
	{"block", take_block, 0},
	{"expect", take_expect, LINE_NEEDED},
	{"stdout", take_stdout, 0},
	{"first", take_first, 0},
	{"culprit", take_culprit, 0},
	{"second", take_second, 0},
	{"steps", take_steps, LINE_NEEDED},
	{"end", take_end, LINE_NEEDED},
};

enum { LINES = sizeof lines / sizeof *lines };

static bool unknown_line(struct reader *r, const struct word *w)
{
	const char *names[LINES], *near;

	for (size_t i = 0; i < LINES; i++)
		names[i] = lines[i].name;
	near = opts_nearest(shown(r, w->text), names, LINES);
	if (near)
		return wrong(r, w->from, "unknown line '%s'; did you mean '%s'?", shown(r, w->text), near);
	return wrong(r, w->from, "unknown line '%s'; is this a replay file?", shown(r, w->text));
}

static bool take_line(struct reader *r, const struct word *w)
{
	size_t i = 0;

	while (i < LINES && !is_word(w, lines[i].name))
		i++;
	if (i == LINES)
		return unknown_line(r, w);
	if (r->seen & 1u << i && !(lines[i].flags & LINE_MANY))
		return wrong(r, w->from, "a second line '%s'; remove one of them", lines[i].name);
	if (r->to->order && lines[i].take != take_end)
		return wrong(r, w->from, "'%s' stands behind 'steps'; move it before that line", lines[i].name);
	r->seen |= 1u << i;
	return lines[i].take(r) && line_ends(r);
}

/* The steps. */

/* [= VALUE] [culprit] [expires] */
static bool take_flags(struct reader *r, struct order_step *to)
{
	struct word w;

	while (next_word(r, &w)) {
		if (!is_there(&w))
			return true;
		if (is_word(&w, "=") && !(to->flags & ORDER_SAW)) {
			to->flags |= ORDER_SAW;
			if (!need_value(r, &to->saw))
				return false;
		} else if (is_word(&w, "culprit")) {
			to->flags |= ORDER_CULPRIT;
		} else if (is_word(&w, "expires")) {
			to->flags |= ORDER_EXPIRES;
		} else {
			return wrong(r, w.from, "'%s'; write '= VALUE', 'culprit', 'expires' or nothing", shown(r, w.text));
		}
	}
	return false;
}

/* The comment behind the step, which is its place. */
static struct text comment_of(struct reader *r, size_t from)
{
	const char *text = r->source.at;

	while (from < r->end && text[from] != '#')
		from++;
	while (from < r->end && (text[from] == '#' || is_blank(text[from])))
		from++;
	return keep(r, (struct text){text + from, r->end - from});
}

static bool take_step(struct reader *r)
{
	static const struct number thread = {"the thread", 1, UINT32_MAX}, run = {"the thread's steps", 1, UINT32_MAX},
		times = {"how many times", 0, UINT32_MAX};
	struct order_step *s;
	size_t from = r->at;

	if (r->read == r->steps)
		return wrong(r, from, "more steps than the %" PRIu32 " of the line 'steps'", r->steps);
	s = replay_step(r->to->order, r->read);
	if (!need_number32(r, &thread, &s->thread) || !need_number32(r, &run, &s->run) || !need_kind(r, &s->kind) ||
		!need_place(r, s) || !need_number32(r, &times, &s->occurrence) || !take_flags(r, s))
		return false;
	r->place[r->read++] = comment_of(r, from);
	return true;
}

/* The whole. */

static bool take_any(struct reader *r)
{
	struct word w;
	size_t from = r->at;

	if (!next_word(r, &w))
		return false;
	if (!is_there(&w))
		return true;
	if (r->over)
		return wrong(r, w.from, "something stands behind 'end'; remove it");
	if (r->to->order && !w.quoted && w.text.at[0] >= '0' && w.text.at[0] <= '9') {
		r->at = from;
		return take_step(r);
	}
	return take_line(r, &w);
}

static void next_line(struct reader *r)
{
	const char *start = r->source.at + r->at, *end = memchr(start, '\n', r->source.length - r->at);

	r->end = end ? (size_t)(end - r->source.at) : r->source.length;
}

static bool take_version(struct reader *r)
{
	struct word w;
	uint64_t version;

	next_line(r);
	if (!next_word(r, &w))
		return false;
	if (!is_word(&w, "fission-replay"))
		return wrong(r, w.from, "not a replay file: its first line is 'fission-replay %d'", REPLAY_VERSION);
	if (!need_number(r, &(struct number){"the version", 1, UINT32_MAX}, &version))
		return false;
	if (version > REPLAY_VERSION)
		return wrong(r, w.from, "written by a newer fission, which is needed to read it");
	return line_ends(r);
}

static bool all_there(struct reader *r)
{
	for (size_t i = 0; i < LINES; i++)
		if (lines[i].flags & LINE_NEEDED && !(r->seen & 1u << i))
			return wrong(r, r->source.length, "the file is cut: there is no line '%s'", lines[i].name);
	return true;
}

static bool take_file(struct reader *r)
{
	if (!take_version(r))
		return false;
	while (r->end < r->source.length) {
		r->at = r->end + 1;
		next_line(r);
		if (!take_any(r))
			return false;
	}
	return all_there(r);
}

bool replay_read(struct replay *r, struct arena *a, const char *path, struct fault *fault)
{
	struct reader reader = {.to = r, .fault = fault};

	*r = (struct replay){0};
	if (source_read(&reader.source, a, path, fault) && take_file(&reader))
		return true;
	/* What is a mistake of a person in a configuration is one of a recorded run here. */
	if (fault->status == STATUS_CONFIG)
		fault->status = STATUS_TRACE;
	return false;
}

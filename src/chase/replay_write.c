/* SPDX-License-Identifier: MIT */
/* Replay files, written. What is written here is what replay_read.c takes. */
#include "replay_file.h"

#include <inttypes.h>
#include <string.h>

#include "base/output.h"
#include "base/str.h"

static bool is_plain(char c)
{
	return c > ' ' && c < 127 && c != '"' && c != '\\' && c != '#';
}

static void add_quoted(struct str *to, struct text word)
{
	static const char escapes[] = "\nn\tt\rr\"\"\\\\";

	str_char(to, '"');
	for (size_t i = 0; i < word.length; i++) {
		const char *e = word.at[i] ? strchr(escapes, word.at[i]) : NULL;

		if (e && (e - escapes) % 2 == 0)
			str_printf(to, "\\%c", e[1]);
		else if (word.at[i] == ' ' || is_plain(word.at[i]) || word.at[i] == '#')
			str_char(to, word.at[i]);
		else
			str_printf(to, "\\x%02x", (unsigned char)word.at[i]);
	}
	str_char(to, '"');
}

/* As it is, if it can be told apart from its neighbours; "" and "-" mean something. */
static void add_word(struct str *to, struct text word)
{
	bool plain = word.length && !(word.length == 1 && word.at[0] == '-');

	for (size_t i = 0; i < word.length && plain; i++)
		plain = is_plain(word.at[i]);
	if (plain)
		str_bytes(to, word.at, word.length);
	else
		add_quoted(to, word);
}

static struct text text_of(const char *word)
{
	return (struct text){word, strlen(word)};
}

static void add_program(struct str *to, const struct replay *r)
{
	str_add(to, "program");
	for (size_t i = 0; i < r->argc; i++) {
		str_char(to, ' ');
		add_word(to, text_of(r->argv[i]));
	}
	str_char(to, '\n');
	if (r->input.length) {
		str_add(to, "stdin ");
		add_quoted(to, r->input);
		str_char(to, '\n');
	}
}

static void add_given(struct str *to, const struct inputs_more *m)
{
	for (int k = 0; k < INPUTS_KINDS; k++)
		for (size_t i = 0; i < m->of[k].count; i++) {
			str_printf(to, "%s ", replay_given[k]);
			add_word(to, m->of[k].at[i].name);
			str_char(to, ' ');
			add_quoted(to, m->of[k].at[i].value);
			str_char(to, '\n');
		}
}

static void add_modules(struct str *to, const struct order *o)
{
	for (uint32_t i = 0; i < o->modules; i++) {
		const struct order_module *m = order_module(o, i);

		str_add(to, "module ");
		add_word(to, (struct text){m->name, strnlen(m->name, ORDER_NAME)});
		str_printf(to, " %.*s\n", ORDER_BUILD_ID, *m->build_id ? m->build_id : "-");
	}
}

static void add_named(struct str *to, const char *name, struct text word)
{
	if (!word.length)
		return;
	str_printf(to, "%s ", name);
	add_word(to, word);
	str_char(to, '\n');
}

static void add_outcome(struct str *to, const struct outcome *o)
{
	str_printf(to, "expect %s", ending_text[o->ending]);
	if (o->ending == ENDING_EXIT || o->ending == ENDING_SIGNAL)
		str_printf(to, " %" PRIu32, o->status);
	str_printf(to, "\nstdout %" PRIu64 " %016" PRIx64 "\n", o->bytes, o->hash);
}

static void add_value(struct str *to, uint64_t value)
{
	str_printf(to, " = %" PRId64, (int64_t)value);
}

static void add_place(struct str *to, const struct order *o, const struct order_step *s)
{
	struct str place;

	if (s->module == ORDER_NO_MODULE) {
		str_char(to, '-');
		return;
	}
	str_init(&place, to->arena);
	str_printf(&place, "%.*s+0x%" PRIx64, ORDER_NAME, order_module(o, s->module)->name, s->offset);
	add_word(to, (struct text){place.at, place.length});
}

static void add_marks(struct str *to, const struct replay *r)
{
	static const char *const names[MARKS] = {"first", "culprit", "second"};

	for (size_t i = 0; i < MARKS; i++) {
		const struct replay_mark *m = &r->mark[i];

		if (!m->step.thread)
			continue;
		str_printf(to, "%s %" PRIu32 " %s ", names[i], m->step.thread, replay_kind(m->step.kind));
		add_place(to, r->order, &m->step);
		str_printf(to, " %" PRIu32 " ", m->step.occurrence);
		add_word(to, m->variable);
		if (m->valued)
			add_value(to, m->value);
		str_add(to, " at ");
		add_word(to, m->place);
		str_char(to, '\n');
	}
}

static void add_step(struct str *to, const struct replay *r, uint32_t i)
{
	const struct order_step *s = order_step(r->order, i);

	str_printf(to, "%" PRIu32 " %" PRIu32 " %s ", s->thread, s->run, replay_kind(s->kind));
	add_place(to, r->order, s);
	str_printf(to, " %" PRIu32, s->occurrence);
	if (s->flags & ORDER_SAW)
		add_value(to, s->saw);
	if (s->flags & ORDER_CULPRIT)
		str_add(to, " culprit");
	if (s->flags & ORDER_EXPIRES)
		str_add(to, " expires");
	if (r->places && r->places[i].length) {
		str_add(to, " # ");
		add_word(to, r->places[i]);
	}
	str_char(to, '\n');
}

void replay_text(const struct replay *r, struct str *to)
{
	str_printf(to, "fission-replay %d\n", REPLAY_VERSION);
	add_program(to, r);
	add_given(to, &r->more);
	add_modules(to, r->order);
	if (r->strategy.length) {
		str_add(to, "found ");
		add_word(to, r->strategy);
		str_printf(to, " %" PRIu64 "\n", r->seed);
	}
	add_named(to, "finding", r->finding);
	add_named(to, "block", r->block);
	add_outcome(to, &r->outcome);
	add_marks(to, r);
	str_printf(to, "steps %" PRIu32 "\n# thread, its steps up to here, operation, place, how many times; = what it saw\n",
		r->order->steps);
	for (uint32_t i = 0; i < r->order->steps; i++)
		add_step(to, r, i);
	str_add(to, "end\n");
}

bool replay_write(const struct replay *r, struct arena *a, const char *path, struct fault *fault)
{
	struct output out;
	struct str text;

	str_init(&text, a);
	replay_text(r, &text);
	if (output_open(&out, path))
		output_write(&out, text.at, text.length);
	if (!fault_is_set(&out.fault) && output_commit(&out))
		return true;
	*fault = out.fault;
	return false;
}

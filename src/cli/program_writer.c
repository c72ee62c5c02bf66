/* SPDX-License-Identifier: MIT */
#include "program_writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/output.h"
#include "cli/program_plan.h"
#include "event/trace_text.h"

void writer_init(struct writer *w, struct plan *p, struct output *out, const char *program)
{
	struct seg *all[] = {&w->codes, &w->threads, &w->locks, &w->conditions, &w->semaphores, &w->barriers,
		&w->globals};

	*w = (struct writer){.plan = p, .out = out, .line = 1};
	str_init(&w->text, p->arena);
	str_init(&w->scrap, p->arena);
	names_init(&w->names, p->arena, program);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		seg_init(all[i], p->arena, sizeof(const char *));
}

void writer_flush(struct writer *w)
{
	for (const char *p = w->text.at; (p = strchr(p, '\n')); p++)
		w->line++;
	output_write(w->out, w->text.at, w->text.length);
	str_clear(&w->text);
}

void writer_string(struct writer *w, const char *text, size_t n)
{
	str_char(&w->text, '"');
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '\n')
			str_add(&w->text, "\\n");
		else if (c < 32 || c > 126)
			str_printf(&w->text, "\\%03o", c);
		else if (c == '"' || c == '\\' || c == '?')
			str_printf(&w->text, "\\%c", c);
		else
			str_char(&w->text, (char)c);
	}
	str_char(&w->text, '"');
}

void writer_echo(struct writer *w, const struct event *e)
{
	struct event plain = *e;

	plain.stack = 0;
	str_clear(&w->scrap);
	trace_text_event(&w->scrap, w->plan->tables, &plain);
	str_char(&w->scrap, '\n');
	writer_string(w, w->scrap.at, w->scrap.length);
}

void writer_comment(struct writer *w, struct text text)
{
	str_add(&w->text, "/* ");
	for (size_t i = 0; i < text.length; i++) {
		unsigned char c = (unsigned char)text.at[i];

		/* Nothing that ends the comment or that compilers warn about. */
		if (c < 32 || c > 126 || c == '*' || c == '\\' || c == '?')
			str_printf(&w->text, "%%%02X", c);
		else
			str_char(&w->text, (char)c);
	}
	str_add(&w->text, " */");
}

void writer_origin(struct writer *w, const char *identifier, struct text name)
{
	if (strlen(identifier) != name.length || memcmp(identifier, name.at, name.length) != 0) {
		str_char(&w->text, ' ');
		writer_comment(w, name);
	}
	str_char(&w->text, '\n');
}

void writer_number(struct writer *w, uint64_t n)
{
	str_printf(&w->text, n > INT32_MAX ? "UINT64_C(%" PRIu64 ")" : "%" PRIu64, n);
}

/* Takes ":NUMBER" off the end of the place; 0 if it does not end like that. */
static unsigned take_number(struct text *place)
{
	size_t colon = place->length;
	unsigned number;

	while (colon && place->at[colon - 1] >= '0' && place->at[colon - 1] <= '9')
		colon--;
	if (colon < 2 || place->at[colon - 1] != ':' || place->length - colon > 9)
		return 0;
	number = (unsigned)strtoul(place->at + colon, NULL, 10);
	place->length = colon - 1;
	return number;
}

/* The line of "FILE:LINE" or "FILE:LINE:COLUMN", with the file left in `place`; 0 if it is neither. */
static unsigned take_line(struct text *place)
{
	unsigned last = take_number(place);
	unsigned first = last ? take_number(place) : 0;

	return first ? first : last;
}

/* The line that the directive numbers is that of the #endif; the next one counts. */
static void line_directive(struct writer *w, uint64_t next, struct text file)
{
	str_printf(&w->text, "#if PLACES\n#line %" PRIu64 " ", next - 1);
	writer_string(w, file.at, file.length);
	str_add(&w->text, "\n#endif\n");
	writer_flush(w);
}

static struct text own_file(const struct writer *w)
{
	const char *path = w->out->path ? w->out->path : "program.c", *slash = strrchr(path, '/');

	path = slash ? slash + 1 : path;
	return (struct text){path, strlen(path)};
}

void writer_place(struct writer *w, struct text place)
{
	unsigned line = take_line(&place);

	writer_flush(w);
	if (line)
		line_directive(w, line, place);
	else if (w->elsewhere)
		line_directive(w, w->line + 3, own_file(w));
	w->elsewhere = line != 0;
}

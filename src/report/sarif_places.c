/* SPDX-License-Identifier: MIT */
#include "sarif_places.h"

#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "report/harmless.h"

static const char root[] = "SRCROOT";

/* A file, and the offset into it if that is all there is. */
struct target {
	struct text file;
	uint64_t offset;
	bool code;
};

/* "libbank.so+0x1234" in its parts. */
static struct target target_of(const struct story_place *p)
{
	struct target t = {.file = p->file};
	size_t i = p->file.length;

	while (i > 0 && isxdigit((unsigned char)p->file.at[i - 1]))
		i--;
	if (p->line || i < 4 || p->file.length - i - 1 > 12 || memcmp(p->file.at + i - 3, "+0x", 3) != 0)
		return t;
	for (size_t k = i; k < p->file.length; k++)
		t.offset = t.offset << 4 | (uint64_t)(isdigit((unsigned char)p->file.at[k]) ? p->file.at[k] - '0' :
			tolower((unsigned char)p->file.at[k]) - 'a' + 10);
	t.file.length = i - 3;
	t.code = true;
	return t;
}

/* A colon in the first part of a relative address would end a scheme, so it is encoded like all else. */
static void add_address(struct str *to, struct text path)
{
	for (size_t i = 0; i < path.length; i++)
		if (isalnum((unsigned char)path.at[i]) || memchr("-._~/", path.at[i], 5))
			str_char(to, path.at[i]);
		else
			str_printf(to, "%%%02X", (unsigned char)path.at[i]);
}

/* The members of an artifactLocation. "//host/x" is no path of ours: of slashes in front one is kept. */
static void add_uri(struct sarif *f, struct text path)
{
	bool absolute = path.length && path.at[0] == '/';
	struct str uri;

	str_init(&uri, f->j.to->arena);
	str_add(&uri, absolute ? "file://" : "");
	while (path.length > 1 && path.at[0] == '/' && path.at[1] == '/')
		path = (struct text){path.at + 1, path.length - 1};
	add_address(&uri, path);
	json_text(&f->j, "uri", (struct text){uri.at, uri.length});
	if (!absolute)
		json_word(&f->j, "uriBaseId", root);
	arena_recycle(f->j.to->arena, uri.at, uri.capacity);
}

static void add_artifact_location(struct sarif *f, const char *key, uint32_t id)
{
	json_open(&f->j, key, '{');
	add_uri(f, intern_text(&f->files, id));
	json_number(&f->j, "index", id - 1);
	json_close(&f->j, '}');
}

static struct text line_of(const struct story *s, const struct story_place *p)
{
	const struct story_source *source;
	size_t from = 0, to;

	if (p->source >= s->sources || !p->line)
		return (struct text){0};
	source = &s->source[p->source];
	for (to = source->count; from < to;) {
		size_t middle = from + (to - from) / 2;

		if (source->number[middle] < p->line)
			from = middle + 1;
		else
			to = middle;
	}
	return from < source->count && source->number[from] == p->line ? source->line[from] : (struct text){0};
}

/* Compilers count bytes, SARIF characters. Without the line the two are taken for the same. */
static uint32_t column_of(struct text line, uint32_t column)
{
	uint32_t characters = 1;

	if (column == 0 || column > line.length)
		return column;
	for (size_t i = 0; i + 1 < column; i++)
		characters += (line.at[i] & 0xc0) != 0x80;
	return characters;
}

static void add_region(struct sarif *f, const struct sarif_location *l)
{
	struct text line = line_of(f->s, &l->place);
	uint32_t column = column_of(line, l->place.column);

	json_open(&f->j, "region", '{');
	json_number(&f->j, "startLine", l->place.line);
	if (column)
		json_number(&f->j, "startColumn", column);
	if (l->snippet && line.length)
		sarif_message(f, "snippet", line);
	json_close(&f->j, '}');
}

static void add_physical(struct sarif *f, const struct sarif_location *l)
{
	struct target t = target_of(&l->place);

	if (t.file.length == 0)
		return;
	json_open(&f->j, "physicalLocation", '{');
	add_artifact_location(f, "artifactLocation", intern_add(&f->files, t.file.at, t.file.length));
	if (l->place.line)
		add_region(f, l);
	if (t.code) {
		json_open(&f->j, "address", '{');
		json_number(&f->j, "relativeAddress", t.offset);
		json_word(&f->j, "kind", "instruction");
		json_close(&f->j, '}');
	}
	json_close(&f->j, '}');
}

void sarif_location_members(struct sarif *f, const struct sarif_location *l)
{
	if (l->id)
		json_number(&f->j, "id", l->id);
	add_physical(f, l);
	if (l->function.length) {
		json_open(&f->j, "logicalLocations", '[');
		json_open(&f->j, NULL, '{');
		json_text(&f->j, "fullyQualifiedName", l->function);
		json_word(&f->j, "kind", "function");
		json_close(&f->j, '}');
		json_close(&f->j, ']');
	}
	if (l->message.length)
		sarif_message(f, "message", l->message);
}

void sarif_location(struct sarif *f, const char *key, const struct sarif_location *l)
{
	json_open(&f->j, key, '{');
	sarif_location_members(f, l);
	json_close(&f->j, '}');
}

void sarif_stack(struct sarif *f, uint32_t stack, struct text message)
{
	const struct story_stack *k = &f->s->stack[stack];

	json_open(&f->j, NULL, '{');
	sarif_message(f, "message", message);
	json_open(&f->j, "frames", '[');
	for (size_t i = 0; i < k->count; i++) {
		json_open(&f->j, NULL, '{');
		sarif_location(f, "location", &(struct sarif_location){.place = k->at[i].place, .function = k->at[i].function});
		json_close(&f->j, '}');
	}
	json_close(&f->j, ']');
	json_close(&f->j, '}');
}

/* By the end of its name; a header may be of either. */
static const char *language_of(struct text file)
{
	static const char *const table[][2] = {
		{".c", "c"}, {".cc", "cplusplus"}, {".cpp", "cplusplus"}, {".cxx", "cplusplus"}, {".C", "cplusplus"},
		{".hh", "cplusplus"}, {".hpp", "cplusplus"},
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		size_t n = strlen(table[i][0]);

		if (file.length > n && memcmp(file.at + file.length - n, table[i][0], n) == 0)
			return table[i][1];
	}
	return NULL;
}

static void add_artifact(struct sarif *f, uint32_t id)
{
	const char *language = language_of(intern_text(&f->files, id));

	json_open(&f->j, NULL, '{');
	add_artifact_location(f, "location", id);
	if (language)
		json_word(&f->j, "sourceLanguage", language);
	json_close(&f->j, '}');
}

void sarif_artifacts(struct sarif *f)
{
	static const char what[] = "The directory that relative paths in the debug information are relative to.";

	json_open(&f->j, "artifacts", '[');
	for (uint32_t id = 1; id <= f->files.count; id++)
		add_artifact(f, id);
	json_close(&f->j, ']');
	json_open(&f->j, "originalUriBaseIds", '{');
	json_open(&f->j, root, '{');
	sarif_message(f, "description", (struct text){what, sizeof what - 1});
	json_close(&f->j, '}');
	json_close(&f->j, '}');
}

void sarif_message(struct sarif *f, const char *key, struct text text)
{
	json_open(&f->j, key, '{');
	json_text(&f->j, "text", text);
	json_close(&f->j, '}');
}

/* In a message "{0}" is an argument and "[a](b)" a link; "{{" is a brace, and "\]" ends no link. */
void sarif_name(struct str *to, struct text name)
{
	struct str plain;

	str_init(&plain, to->arena);
	harmless_add(&plain, name, (struct harmless){.utf8 = true});
	for (size_t i = 0; i < plain.length; i++) {
		if (plain.at[i] == '{' || plain.at[i] == '}')
			str_char(to, plain.at[i]);
		else if (plain.at[i] == ']' && (plain.at[i + 1] == '(' || i + 1 == plain.length))
			str_char(to, '\\');
		str_char(to, plain.at[i]);
	}
	arena_recycle(to->arena, plain.at, plain.capacity);
}

void sarif_place(struct str *to, const struct story_place *p)
{
	sarif_name(to, p->file);
	if (p->line)
		str_printf(to, ":%u", p->line);
}

struct text sarif_function(const struct story *s, const struct story_event *e)
{
	if (e->stack >= s->stacks || s->stack[e->stack].count == 0)
		return (struct text){0};
	return s->stack[e->stack].at[0].function;
}

/* SPDX-License-Identifier: MIT */
#include "json_out.h"

#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"

/* What nearly all bytes are: nothing that has to be looked at. */
static bool is_plain(uint8_t c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && c != '<';
}

/* Beyond the first plane a character is two halves. */
static void spell(struct str *to, uint32_t c)
{
	if (c < 0x10000)
		str_printf(to, "\\u%04" PRIx32, c);
	else
		str_printf(to, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
}

/* The character at p, which is not plain; returns its bytes. */
static size_t escape(struct str *to, const char *p, size_t n)
{
	size_t length = utf8_sequence(p, n);
	uint32_t c = length ? utf8_character(p, length) : 0;

	if (length == 0)
		str_add(to, "\xef\xbf\xbd"); /* as it is: so it is when it is read back and written again */
	else if (c == '"' || c == '\\')
		str_bytes(to, (char[]){'\\', (char)c}, 2);
	else if (c == '\n' || c == '\t')
		str_add(to, c == '\n' ? "\\n" : "\\t");
	else if (c < 0x80 || utf8_controls(c))
		spell(to, c);
	else
		str_bytes(to, p, length);
	return length ? length : 1;
}

void json_quote(struct str *to, struct text t)
{
	str_char(to, '"');
	for (size_t i = 0; i < t.length;) {
		size_t run = i;

		while (run < t.length && is_plain((uint8_t)t.at[run]))
			run++;
		str_bytes(to, t.at + i, run - i);
		i = run;
		if (i < t.length)
			i += escape(to, t.at + i, t.length - i);
	}
	str_char(to, '"');
}

/* What stands before a value: a comma, its key. Objects in an array begin a line. */
static void begin(struct json_out *j, const char *key)
{
	if (j->more)
		str_char(j->to, ',');
	j->more = true;
	if (key) {
		str_char(j->to, '"');
		str_add(j->to, key);
		str_add(j->to, "\":");
	}
}

void json_open(struct json_out *j, const char *key, char bracket)
{
	bool inside = j->to->length > 0 && !key;

	begin(j, key);
	if (inside && bracket == '{' && j->to->at[j->to->length - 1] != ':')
		str_char(j->to, '\n');
	str_char(j->to, bracket);
	j->more = false;
}

void json_close(struct json_out *j, char bracket)
{
	str_char(j->to, bracket);
	j->more = true;
}

void json_text(struct json_out *j, const char *key, struct text value)
{
	begin(j, key);
	json_quote(j->to, value);
}

void json_word(struct json_out *j, const char *key, const char *value)
{
	json_text(j, key, (struct text){value, strlen(value)});
}

void json_number(struct json_out *j, const char *key, uint64_t value)
{
	begin(j, key);
	str_number(j->to, value);
}

void json_bool(struct json_out *j, const char *key, bool value)
{
	begin(j, key);
	str_add(j->to, value ? "true" : "false");
}

void json_key(struct json_out *j, struct text key)
{
	begin(j, NULL);
	json_quote(j->to, key);
	str_char(j->to, ':');
	j->more = false;
}

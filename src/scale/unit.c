/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <string.h>

#include "base/fail.h"
#include "base/str.h"
#include "report/story.h"
#include "scale/record.h"

void unit_begin(struct str *to, const char *kind, unsigned long limit)
{
	record_put_word(to, "fission-unit", "1");
	record_put_word(to, "kind", kind);
	record_put_word(to, "version", FISSION_VERSION);
	record_put_number(to, "limit", limit);
}

void unit_put_file(struct str *to, const char *role, const struct address *address, const char *name)
{
	const char *slash = strrchr(name, '/');
	struct str value;

	str_init(&value, to->arena);
	str_printf(&value, "%s %s %s", role, address->hex, slash ? slash + 1 : name);
	record_put(to, "file", (struct text){value.at, value.length});
}

bool unit_parse(struct unit *u, struct text record, const char *name, struct fault *fault)
{
	struct text version = record_get(record, "version");

	*u = (struct unit){.record = record, .kind = record_get(record, "kind"),
		.limit = (double)record_number(record, "limit")};
	u->id = address_of(record);
	if (!record_is(record, "fission-unit", "1") || !u->kind.at || !u->limit)
		fault_set(fault, STATUS_TRACE, "%s: no unit, or one that was cut off; emit it again", name);
	else if (!text_is(version, FISSION_VERSION))
		fault_set(fault, STATUS_UNFIT, "%s: a unit of fission %.*s, and this is " FISSION_VERSION
			"; install the same version everywhere", name, (int)version.length, version.at);
	return !fault_is_set(fault);
}

bool unit_file(struct text value, struct unit_file *to)
{
	const char *blank = memchr(value.at, ' ', value.length), *end = value.at + value.length, *after;

	after = blank ? memchr(blank + 1, ' ', (size_t)(end - blank - 1)) : NULL;
	if (!after)
		return false;
	to->role = (struct text){value.at, (size_t)(blank - value.at)};
	to->address = (struct text){blank + 1, (size_t)(after - blank - 1)};
	to->name = (struct text){after + 1, (size_t)(end - after - 1)};
	return address_is(to->address) && to->name.length && !memchr(to->name.at, '/', to->name.length) &&
		!text_is(to->name, "..") && !text_is(to->name, ".");
}

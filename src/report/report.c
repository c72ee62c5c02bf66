/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

extern const struct renderer render_text, render_json, render_sarif, render_html, render_gcc;

const struct renderer *const renderers_all[] = {&render_text, &render_json, &render_sarif, &render_html, &render_gcc, NULL};

const struct renderer *renderer_named(const char *name)
{
	for (size_t i = 0; renderers_all[i]; i++)
		if (strcmp(renderers_all[i]->name, name) == 0)
			return renderers_all[i];
	return NULL;
}

const char *renderer_names(size_t i, const char **about)
{
	if (about)
		*about = NULL;
	return renderers_all[i] ? renderers_all[i]->name : NULL;
}

void report_object(struct str *to, const struct tables *tables, const struct access *a)
{
	struct text t;

	if (a->flags & EVENT_ADDRESSED) {
		str_printf(to, "0x%" PRIx64, a->object);
		return;
	}
	t = tables_name(tables, a->kind ? event_info[a->kind].table : TABLE_THREAD, (uint32_t)a->object);
	str_bytes(to, t.at, t.length);
}

const char *report_word(const struct access *a, bool source)
{
	if (a->kind)
		return event_info[a->kind].word;
	return source ? "end" : "start";
}

static int by_seq(const void *left, const void *right)
{
	const struct report_step *a = left, *b = right;

	if (a->access->seq != b->access->seq)
		return a->access->seq < b->access->seq ? -1 : 1;
	return a->access < b->access ? -1 : a->access > b->access;
}

static bool same(const struct access *a, const struct access *b)
{
	return a->seq == b->seq && a->kind == b->kind && a->thread == b->thread && a->object == b->object;
}

static bool is_main(struct text name)
{
	return name.length == 4 && memcmp(name.at, "main", 4) == 0;
}

/* What the C library calls first in a thread is its start routine. */
static bool is_start(const struct tables *tables, struct frame frame)
{
	struct text site = tables_name(tables, TABLE_SITE, frame.site);

	return !frame.parent && site.length > 8 && memcmp(site.at, "libc.so.", 8) == 0;
}

code_id report_enclosing(const struct tables *tables, stack_id *stack)
{
	while (*stack) {
		struct frame frame = tables_frame(tables, *stack);

		*stack = frame.parent;
		if (!is_main(tables_name(tables, TABLE_CODE, frame.code)) && !is_start(tables, frame))
			return frame.code;
	}
	return 0;
}

bool report_happened(const struct finding *f)
{
	return finding_happened(f);
}

size_t report_steps(const struct finding *f, struct report_step *to)
{
	size_t n = 0;

	for (size_t i = 0; i < f->links; i++) {
		const struct link *l = &f->path[i];

		if (i == 0 || !same(&l->from, &f->path[i - 1].to))
			to[n++] = (struct report_step){&l->from, i ? STORY_CULPRIT : STORY_FIRST, true};
		to[n++] = (struct report_step){&l->to, i + 1 < f->links ? STORY_CULPRIT : STORY_SECOND, false};
	}
	if (report_happened(f))
		qsort(to, n, sizeof *to, by_seq);
	return n;
}

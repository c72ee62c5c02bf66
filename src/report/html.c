/* SPDX-License-Identifier: MIT */
/*
 * The report as a page: one file that needs nothing else and asks nobody anything.
 *
 * Markup, style and script are in page/ and become two texts when the tool is built (tools/embed.py): what stands before
 * the data, and what stands after it. The page's own content policy names the script by its hash, so no other script runs,
 * whatever a name may hold; and it forbids every request.
 */
#include "base/str.h"
#include "report/page_data.h"
#include "report/report.h"

extern const char page_before[], page_after[];

static void html_render(const struct story *s, const struct look *look, struct str *to)
{
	str_add(to, page_before);
	page_data_add(to, s, look);
	str_add(to, page_after);
}

const struct renderer render_html = {
	.name = "html",
	.render = html_render,
};

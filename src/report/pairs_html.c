/* SPDX-License-Identifier: MIT */
/*
 * The matrix as a heat map: one page that needs nothing else, has no script, and asks nobody anything. A cell is the
 * darker the more variables it is split by, has a sign beside its colour, and leads to its line below.
 */
#include "pairs.h"

#include <inttypes.h>

#include "base/str.h"
#include "base/utf8.h"

static const char page_head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<style>\n"
	":root{color-scheme:light dark;--bg:light-dark(#fff,#141415);--bg3:light-dark(#f0f0ed,#242427);\n"
	"  --ink:light-dark(#1a1a19,#ebebe8);--ink2:light-dark(#575752,#aaaaa4);--line:light-dark(#e7e7e3,#29292c);\n"
	"  --cul:light-dark(#b5390a,#ff9d70);--on:light-dark(#fff,#141415);--vic:light-dark(#0b5cad,#7db9fb)}\n"
	"body{margin:0;padding:20px 24px;background:var(--bg);color:var(--ink);\n"
	"  font:13px/1.5 ui-sans-serif,system-ui,sans-serif}\n"
	"h1{font-size:16px;margin:0}p{margin:4px 0;color:var(--ink2)}\n"
	"code,table{font:12px ui-monospace,Menlo,Consolas,monospace}\n"
	".map{overflow-x:auto;margin:16px 0}table{border-collapse:collapse}\n"
	"th{font-weight:400;text-align:left;padding:1px 8px 1px 0;white-space:nowrap}\n"
	"thead th{vertical-align:bottom;padding:0 0 4px;height:9em}\n"
	"thead span{writing-mode:vertical-rl;transform:rotate(180deg)}\n"
	".map td{width:18px;height:18px;border:1px solid var(--line);text-align:center;padding:0}\n"
	".map td a{display:block;color:inherit;text-decoration:none;line-height:18px}\n"
	".map tbody tr:hover th,.map td:hover{outline:1px solid var(--vic)}\n"
	".s1{background:color-mix(in srgb,var(--cul) 55%,var(--bg));color:var(--ink)}\n"
	".s2{background:color-mix(in srgb,var(--cul) 75%,var(--bg));color:var(--ink)}\n"
	".s3{background:var(--cul);color:var(--on)}.d{background:var(--ink);color:var(--bg)}\n"
	".o{background:var(--bg3);color:var(--ink2)}\n"
	".u{background:repeating-linear-gradient(45deg,var(--bg) 0 3px,var(--bg3) 3px 6px)}\n"
	".n{color:transparent}.list td{padding:1px 16px 1px 0;vertical-align:top}.list tr:target{background:var(--bg3)}\n"
	"</style>\n";

/* A character of markup, or a control character, is spelt; what is no UTF-8 is U+FFFD. */
static void add_safe(struct str *to, struct text t)
{
	const char *at = t.at, *end = t.at + t.length;

	while (at < end) {
		size_t n = utf8_sequence(at, (size_t)(end - at));
		unsigned char ch = (unsigned char)*at;

		if (!n)
			str_add(to, "\xef\xbf\xbd");
		else if (ch < 0x20 || ch == 0x7f || ch == '<' || ch == '>' || ch == '&' || ch == '"' || ch == '\'')
			str_printf(to, "&#%u;", ch < 0x20 || ch == 0x7f ? 0xfffd : ch);
		else
			str_bytes(to, at, n);
		at += n ? n : 1;
	}
}

static const char *class_of(const struct pairs_cell *c)
{
	static const char *const split[] = {"s1", "s2", "s3"};

	switch (pairs_sign(c->state)) {
	case '#':
		return split[c->findings > 3 ? 2 : c->findings ? c->findings - 1 : 0];
	case 'D':
	case '!':
		return "d";
	case 'o':
		return "o";
	default:
		return c->state ? "n" : "u";
	}
}

static void add_cell(struct str *to, const struct pairs *p, size_t i, size_t k)
{
	const struct pairs_cell *c = pairs_at(p, i, k);

	str_printf(to, "<td class=\"%s\" title=\"", class_of(c));
	add_safe(to, p->operation[i].name);
	str_add(to, ", ");
	add_safe(to, p->operation[k].name);
	str_printf(to, ": %s\">", pairs_word(c->state));
	if (pairs_tells(c))
		str_printf(to, "<a href=\"#c%zu-%zu\">%c</a>", i, k, pairs_sign(c->state));
	else
		str_char(to, pairs_sign(c->state));
	str_add(to, "</td>");
}

static void add_map(struct str *to, const struct pairs *p)
{
	str_add(to, "<div class=\"map\"><table>\n<thead><tr><th></th>");
	for (size_t k = 0; k < p->count; k++) {
		str_add(to, "<th scope=\"col\"><span>");
		add_safe(to, p->operation[k].name);
		str_add(to, "</span></th>");
	}
	str_add(to, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < p->count; i++) {
		str_add(to, "<tr><th scope=\"row\">");
		add_safe(to, p->operation[i].name);
		str_add(to, "</th>");
		for (size_t k = 0; k < p->count; k++)
			add_cell(to, p, i, k);
		str_add(to, "</tr>\n");
	}
	str_add(to, "</tbody></table></div>\n");
}

static void add_findings(struct str *to, const struct pairs_cell *c)
{
	for (size_t n = 0; n < c->findings; n++) {
		const struct pairs_finding *f = &c->finding[n];

		str_add(to, n ? "<br>" : "");
		add_safe(to, f->id);
		str_printf(to, " %s ", f->crossed ? "crossed" : "same");
		add_safe(to, f->variable);
		str_add(to, pairs_state(f) == PAIRS_SPLIT ? "" : pairs_word(pairs_state(f)));
	}
}

static void add_list(struct str *to, const struct pairs *p)
{
	str_add(to, "<table class=\"list\">\n");
	for (size_t n = 0; n < p->count * p->count; n++) {
		size_t i = n / p->count, k = n % p->count;
		const struct pairs_cell *c = pairs_at(p, i, k);

		if (!pairs_tells(c))
			continue;
		str_printf(to, "<tr id=\"c%zu-%zu\"><td>", i, k);
		add_safe(to, p->operation[i].name);
		str_printf(to, "</td><td>%s</td><td>", pairs_word(c->state));
		add_safe(to, p->operation[k].name);
		str_add(to, "</td><td>");
		add_findings(to, c);
		str_add(to, "</td></tr>\n");
	}
	str_add(to, "</table>\n");
}

void pairs_html(const struct pairs *p, const struct look *look, struct str *to)
{
	(void)look;
	str_add(to, page_head);
	str_add(to, "<title>");
	add_safe(to, p->object);
	str_add(to, ": which operations are atomic with each other</title>\n</head>\n<body>\n<h1>");
	add_safe(to, p->object);
	str_printf(to, "</h1>\n<p>%zu operations, %" PRIu64 " of %zu pairs tried in %" PRIu64 " executions: %" PRIu64
		" pairs are not atomic with each other, %" PRIu64 " deadlock, %" PRIu64 " crash or hang.</p>\n",
		p->count, p->tried, p->count * (p->count + 1) / 2, p->executions, pairs_with(p, PAIRS_SPLIT),
		pairs_with(p, PAIRS_DEADLOCK), pairs_with(p, PAIRS_FAILED));
	str_add(to, "<p>Row: what is split. Column: what comes between. # split, o split and accepted, D deadlock, "
		"! crash or hang; hatched: not tried. <code>fission show ID</code> has the picture, "
		"<code>fission replay --atomic=annotated ID</code> the run.</p>\n");
	add_map(to, p);
	add_list(to, p);
	str_add(to, "</body>\n</html>\n");
}

/* SPDX-License-Identifier: MIT */
/*
 * The header, the filters and the list. A filter goes over every finding; rows are drawn a page at a time, and the
 * next page when the end comes into view, so that ten thousand findings are as quick as ten.
 */
'use strict';

const PAGE = 100;
const S = {verdict: new Set, rank: new Set, extra: new Set, fresh: LOOK.new_only, f: null, i: 1, drawn: PAGE,
	shown: [], choosers: []};

/* summary */
function traceFacts() {
	const sum = key => D.traces.reduce((n, t) => n + (t[key] || 0), 0), bad = D.traces.filter(t => t.cut || t.error);
	const out = [many(sum('events'), 'event'), many(sum('threads'), 'thread')];

	if (D.traces.length > 1)
		out.unshift(many(D.traces.length, 'trace'));
	if (bad.length)
		out.push(`<b>incomplete</b>: ${short(bad[0].cut || bad[0].error, 120)}`);
	const left = D.traces.flatMap(t => t.left_out || []);
	if (left.length)
		out.push(`<span ${tip(left.map(l => `${l.what} (${l.times})`).join('; '))}>${
			many(left.length, 'thing')} left out</span>`);
	return out.join(', ');
}

const reaches = f => {
	const [v, r] = D.failOn.split(',');
	return !f.raw.accepted && VERDICTS.indexOf(f.verdict) <= VERDICTS.indexOf(v) &&
		f.rank <= (+r || 2);
};

function programHTML() {
	const [prog, ...args] = D.program.split(' ');

	if (D.program)
		return `<b ${tip(prog)}>${short(baseName(prog), 40)}</b> <span class="m dim" ${tip(D.program)}>${
			short(args.join(' '), 60)}</span>`;
	return D.traces.length ? `<b ${tip(D.traces[0].path || '')}>${short(baseName(D.traces[0].path || 'a trace'),
		40)}</b>${
		D.traces.length > 1 ? ` <span class="dim">and ${D.traces.length - 1} more</span>` : ''}` : '<b>report</b>';
}

function statusHTML() {
	const n = D.findings.filter(reaches).length;

	if (none(D.status))
		return '';
	return `<div class="facts"><b>exit ${esc(D.status)}</b>${D.failOn ?
		`: ${n ? num(n) : 'nothing'} at or above ${esc(D.failOn.replace(',', ', rank '))}` : ''}</div>`;
}

function unshownHTML() {
	const why = tally(D.findings.filter(f => f.unshown), f => f.unshown),
		total = [...why.values()].reduce((a, b) => a + b, 0);
	const out = [...why].sort((a, b) => b[1] - a[1]).map(([k, n]) =>
		`<button type="button" aria-pressed="false" data-extra="${esc(k)}">${num(n)}&nbsp;${short(k, 40)}</button>`);
	const hazards = [[D.races, 'data race', 'races'], [D.deadlocks, 'possible deadlock', 'deadlocks']].filter(
		h => h[0].length)
		.map(h => `<a href="#${h[2]}">${many(h[0].length, h[1])}</a>`);

	return (total ? `<span class="dim" role="group" aria-label="Not shown by default">not shown: ${num(total)}: ${
		out.join('')}</span>` : '') +
		(hazards.length ? `<span class="dim">also: ${hazards.join(', ')}</span>` : '');
}

function header() {
	const shown = D.findings.filter(f => !f.unshown), by = tally(shown, f => f.verdict),
		old = shown.filter(f => f.known).length;

	$('top').innerHTML = `<div class="prog"><span class="dim">fission</span>&ensp;${programHTML()}</div>${
		statusHTML()}
		<div class="facts">${traceFacts()}</div>
		<div class="tools"><button type="button" id="theme"></button>
		<button type="button" data-open="print">Print</button>
		<button type="button" data-open="keys">Keys</button></div>
		<div class="brk"></div>
		<div class="chips" role="group" aria-label="Filter by verdict">${
			VERDICTS.filter(v => v !== 'reproduced' || by.get(v)).map(v =>
			`<button type="button" aria-pressed="false" data-v="${v}"${by.get(v) ? '' : ' disabled'}>${
				glyph(v)}<span><b>${num(by.get(v) || 0)}</b> ${v}</span></button>`).join('')}${
		old ? `<button type="button" aria-pressed="false" id="fresh"><span><b>${
			num(shown.length - old)}</b> new since the baseline</span></button>` : ''}</div>
		<div class="chips">${unshownHTML()}</div>`;
	const rk = tally(shown, f => f.rank);
	$('ranks').innerHTML = '<span class="dim">Rank</span>' + [1, 2, 3, 4].map(n =>
		`<button type="button" aria-pressed="false" data-r="${n}" aria-label="Rank ${n}: ${RANKS[n]}" title="${
			RANKS[n]}" ${rk.get(n) ? '' : 'disabled'}>${n}<i>${
			rk.get(n) ? '\u00d7' + num(rk.get(n)) : ''}</i></button>`).join('');
	S.choosers = [new Chooser($('fn'), tally(D.findings, f => f.name), later),
		new Chooser($('va'), tally(D.findings.flatMap(f => f.vars), v => v), later)];
}

/* filter */
const words = () => $('q').value.toLowerCase().split(/\s+/).filter(Boolean);
function filtered() {
	const w = words(), fn = $('fn').value.trim().toLowerCase(), va = $('va').value.trim().toLowerCase();

	return D.findings.filter(f => (!f.unshown || S.extra.has(f.unshown)) && (!S.fresh || !f.known) &&
		(!S.verdict.size || S.verdict.has(f.verdict)) &&
		(!S.rank.size || S.rank.has(f.rank)) && (!fn || f.name.toLowerCase().includes(fn)) &&
		(!va || f.vars.some(v => v.toLowerCase().includes(va))) && w.every(x => f.text.includes(x)));
}

/* Group name and the words behind it. What is not shown by default stays apart, at the end. */
const GROUP = {
	rank: f => ['Rank ' + f.rank, RANKS[f.rank] || ''],
	lock: f => f.lock ? [f.lock, ''] : ['No lock', 'none is given back, or it is not known'],
	function: f => [f.name, ''],
	file: f => f.place.file ? [f.place.file, ''] : ['No file', 'not known'],
};
function grouped(fs) {
	const by = GROUP[$('group').value] || GROUP.rank, groups = new Map();

	for (const f of fs) {
		const [name, about] = f.unshown ? ['Not shown by default', f.unshown] : by(f), key = (f.unshown ? '1' : '0') +
			name + '\n' + about;
		if (!groups.has(key))
			groups.set(key, {name, about, extra: !!f.unshown, fs: []});
		groups.get(key).fs.push(f);
	}
	const all = [...groups.values()];
	if (by !== GROUP.rank)
		all.sort((a, b) => a.extra - b.extra || b.fs.length - a.fs.length);
	else
		all.sort((a, b) => a.extra - b.extra);
	return all;
}

function item(f) {
	const where = [f.kind, f.vars.length ? cut(f.vars[0], 40) : '', at(f.place)].filter(Boolean).join(', ');

	return `<a class="it" href="#${esc(f.id)}"${f === S.f ? ' aria-current="true"' : ''}>${
		glyph(f.verdict)}<span class="fn" ${tip(f.name)}>${short(f.name, 60)}</span><span class="id">${
		esc(f.id)}</span><span class="s"><span class="sr">${f.verdict}, rank ${f.rank}, </span>${
			S.baseline && !f.known ? '<b class="new">new</b> ' : ''}${short(where, 100)}</span></a>`;
}

function drawList() {
	let out = '', left = S.drawn;

	for (const g of S.groups) {
		if (left <= 0)
			break;
		out += `<h2 class="grp"><span ${tip(g.name)}><b>${short(g.name, 40)}</b> ${short(g.about, 48)}</span><span>${
			num(g.fs.length)}</span></h2>`;
		out += g.fs.slice(0, left).map(item).join('');
		left -= g.fs.length;
	}
	if (S.shown.length > S.drawn)
		out += `<div class="none" id="more"><button type="button" data-more>Show more of the ${
			num(S.shown.length)}</button></div>`;
	if (!S.shown.length)
		out = `<div class="none">${D.findings.some(f => !f.unshown) ? 'No finding matches. ' : 'Nothing to show. '}${
			filtering() ? '<button type="button" id="clear">Clear the filter</button>' : ''}</div>`;
	$('list').innerHTML = out;
	if ($('more') && S.watch)
		S.watch.observe($('more'));
}
const filtering = () => S.verdict.size || S.rank.size || S.fresh || $('q').value || $('fn').value || $('va').value;

function list() {
	S.groups = grouped(filtered());
	S.shown = S.groups.flatMap(g => g.fs);
	S.drawn = PAGE;
	drawList();
	standList();
}

/* Which of the list is open: its row, its number, whether there is a next. */
function standList() {
	const k = S.shown.indexOf(S.f);

	if (k >= S.drawn) {
		S.drawn = k + PAGE;
		drawList();
	}
	document.querySelector('.it[aria-current]')?.removeAttribute('aria-current');
	const cur = S.f && $('list').querySelector(`.it[href="#${CSS.escape(S.f.id)}"]`);
	cur?.setAttribute('aria-current', 'true');
	if ($('nth'))
		$('nth').textContent = (k < 0 ? '\u2013' : num(k + 1)) + ' of ' + num(S.shown.length);
	document.querySelectorAll('[data-nav]').forEach(b => b.disabled = !S.shown[k + +b.dataset.nav]);
	return cur;
}

function press() {
	const set = (sel, is) => document.querySelectorAll(sel).forEach(b => b.setAttribute('aria-pressed', is(b)));

	set('[data-v]', b => S.verdict.has(b.dataset.v));
	set('[data-r]', b => S.rank.has(+b.dataset.r));
	set('[data-extra]', b => S.extra.has(b.dataset.extra));
	set('#fresh', () => S.fresh);
}
function refilter() {
	press();
	list();
	$('say').textContent = many(S.shown.length, 'finding');
}

/* While keys come quickly, a long list is gone through once they have come. */
function later() {
	clearTimeout(S.soon);
	if (D.findings.length <= 2000)
		refilter();
	else
		S.soon = setTimeout(refilter, 120);
}
function clear() {
	S.verdict.clear();
	S.rank.clear();
	S.fresh = false;
	$('q').value = $('fn').value = $('va').value = '';
	refilter();
}

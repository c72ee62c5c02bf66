/* SPDX-License-Identifier: MIT */
/*
 * The interleaving: a column a thread, a row an event, time downward.
 *
 * Each row draws its own piece of every rail and lock bar, so rows do not depend on one another: they can be
 * folded, printed, and put into chunks that the browser lays out only when they are near. There is no virtual
 * scrolling, so finding in the page, printing and screen readers work. Runs of events that touch nothing the
 * finding is about are folded, and unfold.
 */
'use strict';

const CHUNK = 50, LONG = 40, FOLD_LEAST = 5;

/*
 * Per step: which lock bars pass each lane, and where they start and end. What is given back first was held before.
 */
function bars(f) {
	const open = f.lanes.map(() => []), rows = [];
	let deep = 0;

	const take = (c, name, shared, start) => {
		let s = 0;
		while (open[c].some(l => l.s === s))
			s++;
		open[c].push({name, s, shared, start});
		deep = Math.max(deep, s + 1);
	};
	for (const k of heldBefore(f))
		take(f.ev[k].lane, f.ev[k].obj, /shared/.test(f.ev[k].op), -1);
	f.ev.forEach((e, k) => {
		const c = e.lane;
		if (e.locks)
			take(c, e.obj, /shared/.test(e.op), k);
		const end = e.unlocks ? open[c].findLast(l => l.name === e.obj) : null;
		rows.push(open.map(ls => ls.map(l => ({s: l.s,
			c: (l.shared ? ' rd' : '') + (l.start === k ? ' a' : '') + (l === end ? ' z' : '')}))));
		if (end)
			open[c].splice(open[c].indexOf(end), 1);
	});
	return {rows, deep};
}

/* The steps that give back a lock that no step before has taken. */
function heldBefore(f) {
	const taken = new Map(), out = [];

	f.ev.forEach((e, k) => {
		const key = e.lane + ' ' + e.obj, n = taken.get(key) || 0;
		if (e.locks)
			taken.set(key, n + 1);
		else if (e.unlocks && n)
			taken.set(key, n - 1);
		else if (e.unlocks)
			out.push(k);
	});
	return out;
}

/* Runs of steps that can be folded: [from, to], from 0. Short findings have none. */
function folds(f) {
	const mine = new Set([...f.vars, f.lock]), out = [];
	let from = -1;

	if (f.ev.length <= LONG / 2)
		return out;
	f.ev.forEach((e, k) => {
		const other = !e.role && !mine.has(e.obj) && !e.skipped;
		if (other && from < 0)
			from = k;
		if (from >= 0 && (!other || k === f.ev.length - 1 || k + 1 === f.win[0] || k === f.win[1])) {
			const to = other ? k : k - 1;
			if (to - from + 1 >= FOLD_LEAST)
				out.push([from, to]);
			from = -1;
		}
	});
	return out;
}

const mark = e => e.role ? `<i class="mk ${e.role} ${deed(e)}">${e.role === 'first' ? 1 : e.role === 'second' ? 2 :
	''}</i>` :
	e.data ? `<i class="mk plain ${deed(e)}"></i>` : '<i class="dot"></i>';

/* "write balance = 50"; a value that another order gave is a question mark. */
function what(e) {
	const name = short(e.obj || '?', 60), v = e.show;

	return `${esc(e.op)} ${e.named ? name : `<span class="un">${name}</span>`}${
		v === null ? '' : ` = <b>${short(v, 24)}</b>`}`;
}

const spoken = (f, k) => {
	const e = f.ev[k], p = at(e.place);

	return `Step ${k + 1}, ${short(f.lanes[e.lane].name, 40)}: ${esc(e.op)} ${
		short(e.obj || 'something unknown', 60)}${
		e.show === null ? '' : ` = ${e.show === '?' ? 'unknown' : short(e.show, 24)}`}${p ? ', ' + esc(p) : ''}${
		e.role ? ', ' + ROLE[e.role] : ''}${inWindow(f, k) ? ', inside the vulnerable window' : ''}`;
};
const inWindow = (f, k) => k >= f.win[0] && k <= f.win[1];

function row(f, k, view) {
	const e = f.ev[k], win = inWindow(f, k), p = at(e.place, 24);
	let cells = '';

	for (let c = 0; c < f.lanes.length; c++) {
		const l = f.lanes[c], rail = k < l.from || k > l.to ? ' off' : win && c === f.vicLane ? ' gap' : '';
		let inner = '';
		for (const b of view.rows[k][c])
			inner += `<i class="lk${b.c}" style="--s:${b.s}"></i>`;
		cells += `<span class="ln${rail}" style="--c:${c}">${inner}${c === e.lane ? mark(e) : ''}</span>`;
	}
	const tag = e.role ? `<span class="tag ${e.role}">${ROLE[e.role]}</span> ` : '';
	const loc = p ? `<span class="loc" ${tip(e.place.file)}>${e.place.file === f.home && e.place.line ? ':' +
		e.place.line : esc(p)}</span>` : '';
	const note = k === view.note ? `<span class="held" style="--c:${f.vicLane}">${view.noted}</span>` : '';
	return `<div class="row${win ? ' win' : ''}${e.role ? ' role' : ''}${
		k >= view.at ? ' next' : ''}" role="${view.role}" id="${view.id}${k + 1}" data-i="${k + 1}" ` +
		`aria-selected="false" aria-label="${spoken(f, k)}"><span class="no">${k + 1}</span>${
			cells}<span class="ev" style="--c:${e.lane}">` +
		`<span class="t">${esc(f.lanes[e.lane].tag)} </span><span class="w${e.data ? '' : ' sync'}">${
			what(e)}</span> ` +
		`<span class="nb">${tag}${loc}</span></span>${note}</div>`;
}

function gap(f, k, words, fold) {
	const cls = `gaprow${inWindow(f, k) ? ' win' : ''}`;

	return fold === undefined ? `<div class="${cls}" role="presentation"><span>${words}</span></div>` :
		`<div class="${cls}" role="presentation"><button type="button" data-fold="${fold}" aria-expanded="false">${
			words}</button></div>`;
}

/* What stands right before step k: the edge of the window, events that the report has not. */
function before(f, k) {
	const lost = f.ev[k].skipped, free = f.lock ? `: ${short(f.lock, 48)} is free` : '';
	let out = '';

	if (k === f.win[0])
		out += `<div class="edge" role="presentation">vulnerable window${free}</div>`;
	if (lost)
		out += gap(f, k, `${many(lost, 'more event')} that the report leaves out`);
	return out;
}

/* All rows, in chunks. `open` has the folds that are not folded, by number. */
function rowsHTML(f, view) {
	const n = f.ev.length;
	let out = '', inChunk = 0, fold = 0;

	const chunk = k => {
		out += `${k ? '</div>' : ''}<div class="ck" role="presentation" style="contain-intrinsic-size:auto ${
			Math.min(CHUNK, n - k) * 25}px">`;
		inChunk = 0;
	};
	for (let k = 0; k < n; k++) {
		while (fold < f.folds.length && f.folds[fold][1] < k)
			fold++;
		if (k === 0 || inChunk >= CHUNK)
			chunk(k);
		out += before(f, k);
		const g = f.folds[fold];
		if (g && g[0] === k && !view.open.has(fold)) {
			out += gap(f, k, `${many(g[1] - k + 1, 'event')} on other variables and locks`, fold);
			k = g[1];
		} else {
			out += row(f, k, view);
		}
		inChunk++;
		if (k === f.win[1])
			out += '<div class="edge end" role="presentation"></div>';
	}
	return out + '</div>';
}

/* How a drawing of the lanes goes: on screen, or on paper with every fold open. */
function lanesView(f, paper) {
	const {rows, deep} = bars(f), s = shape(f), c = s && s.same && !isWrite(s.a) && isWrite(s.c) ? f.ev.indexOf(s.c) :
		-1;
	const known = c >= 0 && s.a.show !== null && s.a.show !== '?';

	return {rows, deep, role: paper ? 'listitem' : 'option', at: paper ? f.ev.length : culpritStep(f), id: paper ?
		f.id + '-e' : 'e', open: paper ?
		new Set(f.folds.keys()) : f.unfolded, note: c,
		noted: c < 0 ? '' : known ? `still acts on ${short(cut(s.a.obj, 24))} = ${short(s.a.show, 16)}` :
			`still acts on the old ${short(s.a.obj, 24)}`};
}

const laneHeads = f => f.lanes.map((l, c) => `<div style="--c:${c}"><b class="nm" ${tip(l.name)}>${
	short(l.name, 32)}</b>${
	l.tag === l.name ? '' : `<b class="tg">${esc(l.tag)}</b>`}<span class="m" ${tip(l.does)}>${
		short(l.does, 60)}</span></div>`).join('');
const laneNames = f => f.lanes.map(l => `<div><b>${esc(l.tag)}</b> ${l.tag === l.name ? '' :
	`<span>${short(l.name, 40)}</span> `}<span class="m">${
	short(l.does, 60)}</span></div>`).join('');

function legend(f, deep) {
	const shared = f.ev.some(e => e.locks && /shared/.test(e.op)), data = f.ev.some(e => e.data);

	return `<div class="legend" aria-hidden="true">${
		data ? '<span><i class="mk plain read"></i>read</span><span><i class="mk plain"></i>write</span>' : ''}${
		f.win[0] >= 0 ? '<span><i class="dots"></i>block split</span>' : ''}${
		deep ? '<span><i class="bar"></i>lock held</span>' : ''}${shared ?
			'<span><i class="bar rd"></i>shared</span>' : ''}${
		f.happened ? '<span>as it happened</span>' : '<span>an order that was not run</span>'}${
		f.folds.length ? '<span class="end"><button type="button" data-unfold></button></span>' : ''}</div>`;
}

/* Above that many rows the lanes scroll by themselves. */
const isLong = (f, view) => f.ev.length - f.folds.reduce((n, g, i) => n +
	(view.open.has(i) ? 0 : g[1] - g[0]), 0) > LONG;

function lanes(f, paper) {
	const view = lanesView(f, paper), n = f.lanes.length;
	const style = `--n:${n};--rx:${12 + 10 * view.deep}px;--nw:${20 + 7 * Math.max(2, String(f.ev.length).length)}px`;
	const own = paper ? 'role="list"' :
		'role="listbox" tabindex="0" id="lanes" aria-label="Interleaving, time downward" aria-activedescendant=""';

	if (!paper)
		f.view = view;
	return `<div class="lanes${isLong(f, view) && !paper ? ' long' : ''}${n > 2 ? ' many' : ''}${
		paper ? ' rails' : ''}" style="${style}" ${own}>
		<div class="lh" aria-hidden="true">${laneHeads(f)}</div><div class="who" aria-hidden="true">${
			laneNames(f)}</div>
		<div class="rows"${paper ? '' : ' id="rows"'} role="presentation">${rowsHTML(f, view)}</div></div>${
			legend(f, view.deep)}`;
}

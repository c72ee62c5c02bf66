/* SPDX-License-Identifier: MIT */
/*
 * From the data in the page (page_data.h writes it) to what the page works with.
 *
 * The list needs a little of every finding, so that little is taken at once; the rest of a finding is worked out
 * when it is opened. Texts, places, threads and stacks go by number, from 1; 0 or nothing is what is not known.
 * Values are texts of digits, as JavaScript's numbers end at 53 bits.
 */
'use strict';

const RAW = JSON.parse($('data').textContent);
const LOOK = {show_hidden: !!RAW.hidden, new_only: !!RAW.fresh};
const text = n => RAW.texts[n || 0];
const none = x => x === undefined || x === null;

/* Lines by number, and numbers rising: [first, line, line, ...] for each run of lines. */
function sourceOf([file, runs]) {
	const s = {file: text(file), number: [], line: []};

	for (const [first, ...lines] of runs)
		lines.forEach((l, k) => { s.number.push(first + k); s.line.push(text(l)); });
	return s;
}

const D = {
	program: text(RAW.program), command: text(RAW.command), status: RAW.status, failOn: text(RAW.fail_on),
		rank: RAW.rank,
	traces: RAW.traces.map(t => ({path: text(t.path), events: t.events, threads: t.threads, cut: text(t.cut),
		error: text(t.fault),
		left_out: t.left.map(l => ({what: text(l[0]), times: l[1]}))})),
	sources: RAW.sources.map(sourceOf),
	races: RAW.hazards.filter(h => h.kind === 0), deadlocks: RAW.hazards.filter(h => h.kind === 1),
};

const NOWHERE = {file: '', line: 0, source: null};
const PLACES = RAW.places.map(p => p ? {file: text(p[0]), line: p[1], source: p[2] ? p[2] - 1 : null} : NOWHERE);
const place = n => PLACES[n || 0];
const stackOf = n => n ? RAW.stacks[n - 1].map(x => ({function: text(x[0]), place: place(x[1]), inlined: !!(x[2] & 1),
	foreign: !!(x[2] & 2)})) : [];
const thread = n => n ? {name: text(RAW.threads[n - 1][0]), creator: RAW.threads[n - 1][1],
	creation: RAW.threads[n - 1][2]} : {name: ''};
const threadName = n => thread(n).name || 'thread without a name';

/*
 * Why a finding is not shown, as a short word: what suppresses it, hides it, or makes its rank what it is. '' if it is.
 * What hides it was decided when the page was written (hide.c); here it only gets its name.
 */
function unshown(raw, f) {
	const why = text(raw.unshown);

	return why === 'rule' ? f.kind || 'hidden' : why === 'rank' ? f.kind || 'rank ' + f.rank : why;
}

/* What the list needs. */
function listed(raw, index) {
	const f = {raw, index, id: text(raw.id), verdict: raw.verdict, rank: raw.rank, fn: text(raw.function),
		place: place(raw.place),
		vars: (raw.variables || []).map(text), lock: text(raw.lock), known: !!raw.known,
		suppressed: text(raw.suppressed), given: text(raw.given), reasons: raw.reasons.map(
			r => ({rule: text(r[0]), why: text(r[1])}))};

	f.kind = kindOf(f);
	f.unshown = unshown(raw, f);
	f.name = f.fn || at(f.place) || 'no name';
	f.text = [f.id, f.fn, f.kind, f.verdict, f.place.file + ':' + f.place.line, f.lock,
		...f.vars].join(' ').toLowerCase();
	return f;
}

const BIG = 1n << 40n;

/* A number, or what is likely an address as one. '' is none. */
function value(digits) {
	if (digits === '')
		return null;
	const v = BigInt(digits);
	return v >= BIG ? '0x' + v.toString(16) : digits;
}

const ROLES = ['', 'first', 'culprit', 'second'];
function event([t, op, obj, bits, val, where, stack, role, skipped]) {
	const name = text(obj);

	return {t, op: text(op), obj: name, named: name !== '' && !/^0x/.test(name), data: !!(bits & 1),
		locks: !!(bits & 2), unlocks: !!(bits & 4),
		val: value(text(val)), place: place(where), stack: stackOf(stack), role: ROLES[role], skipped};
}

/* "worker-12" is w12 where there is little room, "T1 alice" is T1; two that would be the same get letters. */
function tags(names) {
	const first = names.map(n => n.split(/[\s"]/)[0]);
	const wish = first.map((n, i) => n && n.length <= 5 ? n : names[i][0] + (names[i].match(/\d{1,3}$/) || [''])[0]);

	return wish.map((w, i) => wish.indexOf(w) === wish.lastIndexOf(w) ? w : String.fromCharCode(65 + i % 26));
}

/* What a thread is doing, as far as the lanes show it: for the block's own, the block. */
function does(f, t) {
	if (t === f.vic && f.fn)
		return called(f.fn);
	const e = f.ev.find(x => x.t === t && x.role && x.stack.length) || f.ev.find(x => x.t === t && x.stack.length);
	const x = e && e.stack[clamp(e.stack.length - 2, 0, 1)];
	return x && x.function ? called(x.function) : '';
}

/* The lanes: the block's thread first, then the others as they come. */
function lay(f) {
	const ids = [...new Set([f.vic, ...f.ev.map(e => e.t)])].filter(t => f.ev.some(e => e.t === t));
	const names = ids.map(threadName), short1 = tags(names);

	f.lanes = ids.map((t, c) => ({t, name: names[c], tag: short1[c], does: does(f, t),
		from: f.ev.findIndex(e => e.t === t),
		to: f.ev.findLastIndex(e => e.t === t)}));
	f.ev.forEach(e => e.lane = ids.indexOf(e.t));
	f.vicLane = Math.max(0, ids.indexOf(f.vic));
}

/* All of it, once. */
function opened(f) {
	const raw = f.raw;

	if (f.ev)
		return f;
	f.ev = raw.events.map(event);
	f.vic = raw.thread || (f.ev.length ? f.ev[0].t : 0);
	f.happened = !!raw.happened;
	f.count = raw.count || 0;
	f.declared = !!raw.declared;
	f.enclosing = (raw.enclosing || []).map(text);
	f.evidence = raw.evidence.map(e => ({check: text(e[0]), kind: text(e[1])}));
	f.hindrance = text(raw.hindrance);
	f.outcomes = (raw.outcomes || []).map(o => ({order: text(o[0]), variable: text(o[1]), value: value(text(o[2])),
		serial: !!o[3]}));
	if (!f.outcomes.some(o => o.serial && o.value !== null))
		f.outcomes = []; /* nothing to compare with */
	const [lock, from, to] = raw.fix || [0, 0, 0];
	f.fix = {lock: text(lock), from: place(from), to: place(to)};
	f.win = raw.window || [-1, -1];
	lay(f);
	settleValues(f);
	f.secondAt = f.ev.findLastIndex(e => e.role === 'second');
	f.names = memoryNames(f);
	f.initial = new Map(f.names.map(v => [v, initial(f, v)]));
	f.copies = [...new Set(f.ev.filter(e => e.lane === f.vicLane && e.role && e.data &&
		!isWrite(e)).map(e => e.obj))];
	f.home = (f.ev.find(e => e.role === 'first') || f.ev[0] || {place: f.place}).place.file;
	f.folds = folds(f);
	f.unfolded = new Set();
	return f;
}

D.findings = RAW.findings.map(listed).sort((a, b) => a.rank - b.rank ||
	VERDICTS.indexOf(a.verdict) - VERDICTS.indexOf(b.verdict) || a.index - b.index);
D.byId = new Map(D.findings.map(f => [f.id, f]));

/* SPDX-License-Identifier: MIT */
/*
 * Memory after a step, and what the split block still believes. Both follow from the events alone: a variable has
 * what was read from it or written to it last, and a copy is stale once another thread has written something else.
 *
 * Where no values were recorded it is still known who wrote last and whose copy is stale.
 *
 * An order that was not run has values of the order that was. They hold until a thread reads what this order cannot
 * have given it; what that thread writes from then on is not known, and is shown as a question mark.
 */
'use strict';

const MEM_MOST = 12;

/* Gives every event the value to show: its own, '?', or null if none was recorded. */
function settleValues(f) {
	const now = new Map(), astray = new Set();

	for (const e of f.ev) {
		e.show = e.val;
		if (!e.data || e.val === null || f.happened)
			continue;
		if (isWrite(e)) {
			if (astray.has(e.lane))
				e.show = '?';
			now.set(e.obj, e.show);
		} else if (now.has(e.obj) && now.get(e.obj) !== e.val) {
			e.show = now.get(e.obj);
			astray.add(e.lane);
		} else {
			now.set(e.obj, e.val);
		}
	}
}

/* The variables to show: the finding's own first, then what else the block touches. */
function memoryNames(f) {
	const names = new Set(f.vars);

	for (const e of f.ev)
		if (e.data && (e.role || e.lane === f.vicLane))
			names.add(e.obj);
	return [...names].filter(v => f.ev.some(e => e.data && e.obj === v)).slice(0, MEM_MOST);
}

/* What a variable had before the first step: what is read before anybody writes. */
function initial(f, v) {
	const e = f.ev.find(x => x.data && x.obj === v && (x.show !== null || isWrite(x)));

	return e && !isWrite(e) ? e.show : '?';
}

function memory(f, upto) {
	const mem = new Map(f.names.map(v => [v, {val: f.initial.get(v), by: 'before step 1'}]));
	const copy = new Map();

	for (let k = 0; k < upto; k++) {
		const e = f.ev[k], old = mem.get(e.obj), val = e.show === null ? '?' : e.show;
		if (!e.data || !old)
			continue;
		if (isWrite(e)) {
			const held = copy.get(e.obj);
			if (held && e.lane !== f.vicLane && (val === '?' || held.val !== val))
				held.stale = true;
			mem.set(e.obj, {val, e, k, was: old.val});
		} else if (e.lane === f.vicLane) {
			copy.set(e.obj, {val, k: k + 1});
		}
	}
	return {mem, copy};
}

function whose(f, m, upto) {
	if (!m.e)
		return m.by;
	const unknown = m.val === '?' && m.e.val !== null ? `; the run wrote ${short(m.e.val, 24)}` : '';
	return `${esc(f.lanes[m.e.lane].tag)}, step ${m.k + 1}${unknown ||
		(m.was !== m.val && m.was !== '?' ? `; was ${short(m.was, 24)}` : '')}`;
}

function memHTML(f, upto) {
	const {mem, copy} = memory(f, upto), T = f.lanes[f.vicLane].tag, done = upto > f.secondAt;
	const line = ([v, m]) => `<tr${m.k === upto - 1 ? ' class="now"' : ''}><th scope="row" ${tip(v)}>${
		short(v, 40)}</th><td class="val">${
		short(m.val, 24)}</td><td class="by">${whose(f, m, upto)}</td></tr>`;
	const seen = v => {
		const c = copy.get(v);
		return `<tr class="copy"><th scope="row">${esc(T)} saw ${short(v, 32)}</th><td class="val">${
			c ? short(c.val, 24) : '\u2013'}</td><td class="by">${
			!c ? 'not read yet' : `read at step ${c.k}, ${!c.stale ? 'up to date' : done ? 'stale, and used' :
				'<b>stale now</b>'}`}</td></tr>`;
	};
	const note = !mem.size ? 'not known: only locks were recorded' : f.ev.some(e => e.show !== null) ? '' :
		'Values were not recorded: it is known who wrote, not what.';
	return `<caption>Memory after step ${upto}</caption><tbody>${[...mem].map(line).join('')}${
		f.copies.map(seen).join('')}${
		note ? `<tr><td class="by" colspan="3">${note}</td></tr>` : ''}</tbody>`;
}

/* The same on one line, for narrow screens; and what a screen reader is told besides the step. */
function memLine(f, upto) {
	const {mem, copy} = memory(f, upto), T = esc(f.lanes[f.vicLane].tag);

	return [...mem].slice(0, 3).map(([v, m]) => {
		const c = copy.get(v);
		return `${short(v, 24)} <b>${short(m.val, 20)}</b>${c ? ` <em>${T} saw ${short(c.val, 20)}${
			c.stale ? ', stale' : ''}</em>` : ''}`;
	}).join('&ensp;');
}

function stale(f, upto) {
	const old = [...memory(f, upto).copy].find(([, c]) => c.stale);

	return !old ? '' : `. ${cut(f.lanes[f.vicLane].tag, 24)} still acts on ${
		old[1].val === '?' ? 'what it read' : cut(old[1].val, 24)}.`;
}

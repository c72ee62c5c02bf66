/* SPDX-License-Identifier: MIT */
/*
 * The source beside the lanes: the lines around everything the finding touches, the gutter with the threads that
 * stand there, and the fix as a line from where a lock is to be held to where it may be let go. Long lines are
 * broken, with what goes on the next line further in: nothing scrolls sideways.
 */
'use strict';

const NEAR = 7, FAR = 3, LINES_MOST = 400, TAB = 4;

const lineKey = p => p && p.line && !none(p.source) ? p.source + ':' + p.line : '';

/* By source, the lines to show. Frames up to the block's own are near; what is further out is in the stacks. */
function wanted(f) {
	const lines = new Map();
	const want = (p, around) => {
		if (!lineKey(p))
			return;
		if (!lines.has(p.source))
			lines.set(p.source, new Set());
		for (let n = p.line - around; n <= p.line + around; n++)
			lines.get(p.source).add(n);
	};
	const span = (a, b) => {
		if (lineKey(a) && a.source === b.source)
			for (let n = a.line; n <= Math.min(b.line, a.line + 200); n++)
				want({source: a.source, line: n}, 0);
		want(a, NEAR);
		want(b, NEAR);
	};
	span(f.fix.from, f.fix.to);
	for (const e of f.ev.filter(x => x.role)) {
		want(e.place, NEAR);
		ownFrames(f, e).forEach(p => want(p, NEAR));
	}
	for (const e of f.ev.slice(0, 2000))
		want(e.place, FAR);
	return lines;
}

/* The places of the frames from the access outward, to the block's function; two for other threads. */
function ownFrames(f, e) {
	const st = e.stack || [], block = e.lane === f.vicLane ? st.findIndex(x => x.function === f.fn) : 1;

	return st.slice(0, (block < 0 ? 1 : block) + 1).filter(x => !x.foreign).map(x => x.place);
}

/* Tabs and blanks at the start as a width, as they are lost where a line is broken. */
function indent(s) {
	let w = 0, i = 0;

	for (; s[i] === ' ' || s[i] === '\t'; i++)
		w = s[i] === '\t' ? w + TAB - w % TAB : w + 1;
	return [Math.min(w, 40), s.slice(i)];
}

function sourceLine(f, file, n, text) {
	const {from, to, lock} = f.fix, key = file + ':' + n, [w, rest] = indent(text);
	const fixed = !none(from.source) && from.source === file && to.source === file && n >= from.line && n <= to.line;
	const hold = `hold ${lock ? short(lock, 32) : 'one lock'}`;
	const em = !fixed ? '' : from.line === to.line ? ` <em>${hold} around this</em>` : n === from.line ?
		` <em>${hold} from here</em>` :
		n === to.line ? ' <em>to here</em>' : '';
	const body = short(rest.replace(/\t/g, '    '), 400).replace(/\/\*.*?\*\/|\/\/.*$/, '<span class="cm">$&</span>');
	return `<div class="sl${fixed ? ' fixed' : ''}" data-l="${key}"><span class="at"></span><span class="nr">${
		n}</span><span class="fx"></span>` +
		`<span class="tx" style="--in:${w}">${body || ' '}${em}</span></div>`;
}

function sourceHTML(f) {
	let out = '', left = LINES_MOST;

	for (const [index, lines] of wanted(f)) {
		const src = D.sources[index];
		let last = -1, body = '';
		for (let i = 0; i < src.number.length && left > 0; i++) {
			const n = src.number[i];
			if (!lines.has(n))
				continue;
			if (last >= 0 && n !== last + 1)
				body += '<div class="skip-lines" aria-hidden="true">\u22ee</div>';
			body += sourceLine(f, index, n, src.line[i]);
			last = n;
			left--;
		}
		if (body)
			out += `<div class="fl" ${tip(src.file)}>${short(src.file, 60)}</div><pre>${body}</pre>`;
	}
	return out || `<p class="nosrc">${
		f.ev.some(e => e.place.line) ?
		'The source files were not found where the report was written. The places are beside the steps.' :
		'It is not known which lines these steps are: a program that is built with -g shows its source here.'}</p>`;
}

/* Where each thread stands after a step: the last place of each lane. */
function standing(f, upto) {
	const where = f.lanes.map(() => null);

	for (let k = upto - 1, left = where.length; k >= 0 && left; k--)
		if (!where[f.ev[k].lane]) {
			where[f.ev[k].lane] = f.ev[k];
			left--;
		}
	return where;
}

/* Marks the lines of a step. Only lines that were marked before, and that are now, are touched. */
function standSource(f, upto) {
	const box = $('src'), e = f.ev[upto - 1], tags = new Map(), via = new Set(ownFrames(f, e).slice(1).map(lineKey));

	f.lines = f.lines || new Map([...box.querySelectorAll('.sl')].map(l => [l.dataset.l, l]));
	for (const l of f.marked || [])
		{ l.classList.remove('cur', 'via'); l.firstChild.innerHTML = ''; }
	standing(f, upto).forEach((x, c) => {
		const key = x && lineKey(x.place), tag = esc(f.lanes[c].tag);
		if (key && f.lines.has(key))
			tags.set(key, [...tags.get(key) || [], c === e.lane ? `<b>${tag}</b>` : tag]);
	});
	const cur = f.lines.get(lineKey(e.place));
	f.marked = [...new Set([...tags.keys(), ...via])].map(k => f.lines.get(k)).filter(Boolean).concat(cur || []);
	for (const [k, t] of tags)
		f.lines.get(k).firstChild.innerHTML = t.join(' ');
	for (const k of via)
		f.lines.get(k)?.classList.add('via');
	cur?.classList.add('cur');
	$('nosrc').textContent = cur || !f.lines.size ? '' : at(e.place) ?
		`step ${upto} is at ${at(e.place)}, whose source is not here` : `it is not known where step ${upto} is`;
	return cur;
}

function showLine(cur) {
	const box = $('src');

	if (!cur || box.scrollHeight <= box.clientHeight)
		return;
	const y = cur.offsetTop - box.offsetTop;
	if (y < box.scrollTop + 30 || y > box.scrollTop + box.clientHeight - 40)
		box.scrollTop = y - box.clientHeight / 2;
}

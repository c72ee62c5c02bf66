/* SPDX-License-Identifier: MIT */
/* One finding, on screen and on paper: the parts, and what each of them asks. */
'use strict';

const ICON = {first: 'M3 2h2v10H3zM12 2v10L5.5 7z', prev: 'M10.5 2v10L3.5 7z', next: 'M3.5 2v10l7-5z',
	last: 'M9 2h2v10H9zM2 2v10l6.5-5z'};
const stepButton = (id, label, key) => `<button type="button" data-go="${id}" aria-label="${label}" title="${
	label} (${key})"><svg viewBox="0 0 14 14" aria-hidden="true"><path d="${
	ICON[id]}"/></svg></button>`;

/* serial comparison */
function strip(order, vic) {
	return `<span class="seq">${order.split(', ').slice(0, 12).map(t => `<b${t === vic ? ' class="vc"' : ''}>${
		short(t, 14)}</b>`).join('')}</span>`;
}

/* The orders as rows, the variables as columns; the last order is the one that splits. */
function outcomeTable(f) {
	const vars = [...new Set(f.outcomes.map(o => o.variable))], rows = [];

	for (const o of f.outcomes) {
		const last = rows[rows.length - 1];
		const r = last && last.order === o.order && last.serial === !!o.serial ? last :
			{order: o.order || '', serial: !!o.serial, val: {}};
		if (r !== last)
			rows.push(r);
		r.val[o.variable] = o.value === null ? '?' : o.value;
	}
	return {vars, rows: rows.filter(r => r.serial), seen: rows.filter(r => !r.serial).pop()};
}

function serialWords(f, t) {
	const v = t.vars[0], ends = [...new Set(t.rows.map(r => r.val[v]))];

	if (t.vars.length !== 1 || !t.seen || t.seen.val[v] === '?' || ends.includes('?'))
		return '';
	return ends.includes(t.seen.val[v]) ? '' : `<p>${t.rows.length === 2 ? 'Both serial orders end' :
		t.rows.length === 1 ? 'The serial order ends' : 'Serial orders end'} with ${
		both(ends.map(x => `<b>${short(x, 24)}</b>`)).replace(/ and /, ' or ')}. This one ends with <b>${
			short(t.seen.val[v], 24)}</b>.</p>`;
}

function outcomesHTML(f) {
	const t = outcomeTable(f), vic = f.lanes[f.vicLane].name;
	const odd = v => t.seen && t.seen.val[v] !== '?' && t.seen.val[v] !== undefined &&
		!t.rows.some(r => r.val[v] === t.seen.val[v] || r.val[v] === '?');
	const anyOdd = t.vars.some(odd), unknown = t.seen && t.vars.some(v => t.seen.val[v] === '?');
	const bad = anyOdd ? 'in no serial order' : unknown ? 'not run, so not known' :
		'not together in any serial order';
	const cells = (r, x) => t.vars.map(v => `<td${x && odd(v) ? ' class="x"' : ''}>${x && odd(v) ? '\u2260 ' : ''}${
		short(r.val[v] === undefined ? '?' : r.val[v], 24)}</td>`).join('');
	const line = (r, x) => `<tr${x ? ' class="act"' : ''}><th scope="row">${strip(r.order, vic)}<small${
		x ? ' class="x"' : ''} aria-hidden="true">${x ? bad : 'serial'}</small></th>${
		cells(r, x)}<td class="nt ${x ? 'x' : 'dim'}">${x ? bad : 'serial'}</td></tr>`;

	return `<table class="ser"><thead><tr><th scope="col">order</th>${t.vars.map(v => `<th scope="col" ${tip(v)}>${
		short(v, 32)}</th>`).join('')}<th scope="col"><span class="sr">note</span></th></tr></thead><tbody>${
		t.rows.map(r => line(r, false)).join('')}${t.seen ? line(t.seen, true) : ''}</tbody></table>${
			serialWords(f, t)}`;
}

const UNSURE = 'What the block does before and after CULPRIT belongs together; whether a serial order gives the same ' +
	'is not known.';
const SPLIT = 'What the block does before CULPRIT comes before it, and what it does after comes after it: no order ' +
	'that keeps the block in one piece allows both.';

/* Without values, the pattern says why; without a pattern, what kind of proof there is. */
function serialHTML(f) {
	const why = pattern(f);
	let body = '';

	if (f.outcomes.length)
		body += outcomesHTML(f);
	if (why)
		body += `<ol class="pat"${f.outcomes.length ? ' hidden' : ''}>${
			why.map((w, i) => `<li${i === 2 ? ' class="x"' : ''}>${w.replace(/FIRST|SECOND|CULPRIT/g, r =>
			`<span class="tag ${r.toLowerCase()}">${r}</span>`)}</li>`).join('')}</ol>`;
	if (!body)
		body = `<p>${f.verdict === 'suspected' ? UNSURE : SPLIT}</p>`;
	if (!f.outcomes.length)
		body += '<p class="dim">What serial orders would leave in memory is not known: not all values were recorded.</p>';
	return `<section class="serial"><h2>What if it ran serially?</h2>${body}</section>`;
}

/* stacks */
const sourceText = p => {
	const s = !none(p.source) && D.sources[p.source], i = s ? s.number.indexOf(p.line) : -1;

	return i < 0 ? '' : s.line[i].trim();
};
const frames = st => st.map((x, k) => `<span${x.foreign ? ' class="dim"' : ''}>#${k} ${
	x.function ? short(x.function, 80) : '<i>unknown</i>'}</span><span ${tip(x.place.file)}>${
	esc(at(x.place)) || '?'}${x.inlined ? ' inlined' : ''}</span><span class="tx">${
		short(sourceText(x.place), 160)}</span>`).join('');

function creation(t) {
	const th = thread(t), st = stackOf(th.creation);
	const who = th.creator ? ` by ${short(threadName(th.creator), 40)}` : '';

	if (!st.length && !who)
		return '';
	return `<span class="mk0">${short(threadName(t), 40)} was created${who}${
		st.length ? `, in ${code(st[0].function || '?')} at ${code(at(st[0].place) || '?')}` : ''}</span>`;
}

/* The locks that the lane has at a step, by the lanes' own bars. */
function holding(f, k) {
	const held = [];

	for (const i of heldBefore(f))
		if (f.ev[i].lane === f.ev[k].lane && i >= k)
			held.push(f.ev[i].obj);
	for (let i = 0; i <= k; i++) {
		const e = f.ev[i];
		if (e.lane === f.ev[k].lane && e.locks)
			held.push(e.obj);
		else if (e.lane === f.ev[k].lane && e.unlocks && held.includes(e.obj) && i < k)
			held.splice(held.lastIndexOf(e.obj), 1);
	}
	return held.length ? 'holding ' + both([...new Set(held)].map(x => short(x, 32))) : f.ev.some(e => e.locks) ?
		'holding no lock that is known' : '';
}

function stackHTML(f, k, open) {
	const e = f.ev[k], l = f.lanes[e.lane], hold = holding(f, k), st = e.stack;
	const head = st.length ? `${short(st[0].function || '?', 48)} ${esc(at(st[0].place))}` : esc(at(e.place)) ||
		'stack not recorded';

	return `<details${open ? ' open' : ''}><summary>${mark(e)}<span class="tag ${e.role}">${
		ROLE[e.role]}</span><span>${short(l.name, 40)}${hold ? ` <span class="dim">${hold}</span>` :
		''}</span><span class="m dim">${
		head}</span></summary><div class="fr">${frames(st)}${creation(e.t)}</div></details>`;
}

function stacksHTML(f, open) {
	const ks = f.ev.map((e, k) => e.role ? k : -1).filter(k => k >= 0), block = stackOf(f.raw.block);
	const some = ks.slice(0, 20), left = ks.length - some.length;

	return some.map(k => stackHTML(f, k, open)).join('') + (left ? `<p class="dim">${
		many(left, 'more culprit')} in the lanes.</p>` : '') +
		(block.length ? `<details${open ? ' open' :
			''}><summary><span class="tag">BLOCK</span><span>where it was begun</span><span class="m dim">${
			short(block[0].function || '?', 48)} ${
			esc(at(block[0].place))}</span></summary><div class="fr">${frames(block)}</div></details>` : '');
}

/* Only what works today: nothing is offered that would fail. */
function commands(f) {
	const all = [['As text', `fission show ${f.id}`]];

	if (f.verdict === 'reproduced')
		all.unshift(['Reproduce', `fission replay ${f.id}`], ['Replay in gdb', `fission replay ${f.id} --gdb`],
			['Check the fix', `fission replay ${f.id} --expect absent`]);
	else if (D.program)
		all.unshift(['Reproduce', `fission chase ${f.id}`]);
	if (D.command === 'run' && D.program)
		all.push(['Run it again', `fission run -- ${D.program}`]);
	if (!f.suppressed)
		all.push(['Suppress', `fission suppress ${f.id} --reason "..."`]);
	return all.map(([k, c]) => `<dt>${k}</dt><dd><code>${
		short(c, 300)}</code></dd><dd class="bt"><button type="button" data-copy="${esc(c)}" aria-label="Copy: ${
		k}">Copy</button></dd>`).join('');
}

function rankHTML(f) {
	const SIGN = f.rank <= 3 ? '+' : '\u2212';

	return `<ul class="why">${f.reasons.map((w, k) => `<li data-s="${k ? '\u00b7' : SIGN}"><span>${
		short(w.why || w.rule, 300)}</span></li>`).join('') ||
		'<li data-s="?"><span>The report does not say.</span></li>'}</ul>${
			f.count > 1 ? `<p class="dim">Met in ${many(f.count, 'activation')}.</p>` : ''}`;
}

/* head */
const navButton = (d, label, key, sign) =>
	`<button type="button" data-nav="${d}" aria-label="${label}" title="${label} (${key})">${sign}</button>`;
const NAV = `<span class="nav"><span id="nth"></span>${navButton(-1, 'Previous finding', 'k', '\u2191')}${
	navButton(1, 'Next finding', 'j', '\u2193')}</span>`;

function metaHTML(f, paper) {
	return `<div class="meta">${paper ? '' :
		'<a id="back" href="#list">\u2039 All findings</a>'}<span class="lb"></span><span class="v">${
		glyph(f.verdict)}${esc(f.verdict)}</span><span>rank ${f.rank}${
		f.kind ? ': ' + short(f.kind) : ''}</span><a class="m" href="#${esc(f.id)}" title="Link to this finding">${
			esc(f.id)}</a>${S.baseline ? `<span>${f.known ? 'in the baseline' :
			'<b class="new">new</b> since the baseline'}</span>` : ''}${
		paper ? '' : NAV}</div>`;
}

function headHTML(f, paper) {
	return `${metaHTML(f, paper)}<h1>${title(f)}</h1><p class="dim">${f.place.file ?
		`<span class="m" ${tip(f.place.file)}>${esc(at(f.place))}</span>` : 'place not known'}${
		f.declared ? ' &ensp;Declared to be atomic.' : ''}${f.enclosing.length ?
			` &ensp;Also not atomic because of it: <span class="m">${f.enclosing.slice(0,
			8).map(x => short(called(x), 48)).join(', ')}</span>${
		f.enclosing.length > 8 ? ` and ${f.enclosing.length - 8} more` : ''}` : ''}</p>${
			f.unshown ? `<p class="notice">Not shown by default: ${whyHidden(f)}.</p>` : ''}`;
}

function scrubHTML(f) {
	const n = f.ev.length, pos = i => `calc(7px + ${n > 1 ? (i - 1) / (n - 1) : 0} * (100% - 14px))`;
	const marks = f.ev.map((e, k) => e.role ? `<span class="k" style="left:${pos(k + 1)}">${mark(e)}</span>` :
		'').filter(Boolean).slice(0, 40).join('');
	const [a, b] = f.win;

	return `<span class="scrub">${a >= 0 ? `<span class="w" style="left:${pos(a + .5)};right:calc(100% - ${
		pos(b + 1.5)})"></span>` : ''}${marks}<input type="range" min="1" max="${
		n}" id="range" aria-label="Step"></span>`;
}

function stageHTML(f, paper) {
	const src = `<div class="src"${paper ? '' : ' id="src" tabindex="0" role="region" aria-label="Source"'}>${
		sourceHTML(f)}</div>`;
	const step = paper ? '' : `<div class="step" role="group" aria-label="Step through the interleaving">
		<span class="btns" id="btns">${stepButton('first', 'First step', 'Home')}${
			stepButton('prev', 'Step back', '\u2190')}${stepButton('next', 'Step forward', '\u2192')}${
			stepButton('last', 'Last step', 'End')}</span>
		<output id="pos"></output><span class="ml m" id="ml" aria-hidden="true"></span>${scrubHTML(f)}</div>`;

	return `<div class="stage" style="--a:${f.lanes.length > 2 ? 1.8 : 1.3}fr">${step}<div class="left">${
		lanes(f, paper)}${serialHTML(f)}</div>
		<div class="aside"><table class="mem"${paper ? '' : ' id="mem"'}>${
			paper ? memHTML(f, culpritStep(f)) : ''}</table>${paper ? '' : '<p class="where" id="nosrc"></p>'}${
			src}</div></div>`;
}

function restHTML(f, paper) {
	return `<div class="cols"><section><h2>Likely fix</h2>${fixWords(f)}</section>
		<section><h2>How sure?</h2><p><b>${esc(f.verdict[0].toUpperCase() + f.verdict.slice(1))}.</b> ${sure(f)}</p>${
			f.evidence.length ? `<p class="dim">Seen by ${
			f.evidence.map(b => `${short(b.check)}${b.kind ? ` (${short(b.kind)})` : ''}`).join(', ')}.</p>` :
				''}</section>
		<section><h2>Why rank ${f.rank}?</h2>${rankHTML(f)}</section></div>
		<div class="cols two"><section><h2>Stacks</h2>${stacksHTML(f, paper)}</section>
		<section><h2>Commands</h2><dl class="cmd">${commands(f)}</dl></section></div>`;
}

const culpritStep = f => Math.max(1, f.ev.findIndex(e => e.role === 'culprit') + 1);

/* A finding whose events are not there is told all the same. */
function findingHTML(f, paper) {
	opened(f);
	const stage = f.ev.length ? stageHTML(f, paper) :
		'<p class="notice">The report has no events of this finding.</p>';
	return headHTML(f, paper) + stage + restHTML(f, paper);
}

/* races and deadlocks: a table, no lanes */
const HAZARD_ROLE = {races: ['EARLIER', 'LATER'], deadlocks: ['HOLDS', 'WANTS']};
function hazardAccess(kind, raw, k) {
	const e = event(raw);

	return `<details><summary><span class="tag">${HAZARD_ROLE[kind][k % 2]}</span><span>${
		short(threadName(e.t), 32)}: ${esc(e.op)} ${short(e.obj, 48)}</span><span class="m dim">${
		esc(at(e.place))}</span></summary><div class="fr">${frames(e.stack)}${creation(e.t)}</div></details>`;
}
function hazardsHTML(kind) {
	const all = D[kind], name = kind === 'races' ? 'data race' : 'possible deadlock';

	return `<div class="meta"><a id="back" href="#list">\u2039 All findings</a></div><h1>${
		many(all.length, name)}</h1><p class="dim">${kind === 'races' ?
		'They are no atomicity violations by themselves, but nothing that rests on their order is sure.' :
		'Threads that take the same locks in different orders can wait for one another for ever.'}</p>${
		all.slice(0, 500).map(h => `<section><h2>${h.object ? code(text(h.object)) : name} <span class="dim">${
			h.times > 1 ? many(h.times, 'time') : ''}</span></h2>${
			h.events.map((e, k) => hazardAccess(kind, e, k)).join('')}</section>`).join('')}`;
}

/* SPDX-License-Identifier: MIT */
/* What is said about a finding in sentences. Each function returns markup, with every name in it escaped. */
'use strict';

const kindOf = f => f.reasons.length ? f.reasons[0].rule.replace(/-/g, ' ') : '';
const isWrite = e => e.data && !/read|load/.test(e.op);
const deed = e => isWrite(e) ? 'write' : 'read';
const subject = f => f.fn ? code(called(f.fn)) : f.place.file ? `The code at ${code(at(f.place))}` :
	'A block of code without a name';

/* The block's two accesses and the culprit's, as far as they are on one variable. */
function shape(f) {
	const a = f.ev.find(e => e.role === 'first'), b = f.ev.findLast(e => e.role === 'second');
	const cs = f.ev.filter(e => e.role === 'culprit' && e.data);

	if (!a || !b || !a.data || !b.data)
		return null;
	const c = cs.find(x => x.obj === a.obj && (isWrite(x) || isWrite(a))) || cs[0];
	return {a, b, c, same: a.obj === b.obj && !!c && c.obj === a.obj};
}

function between(f) {
	const s = shape(f);

	if (!s)
		return f.lock ? `${code(f.lock)} is given back on the way, and another thread can come in.` :
			'another thread can come in between.';
	if (f.reasons.length && f.reasons[0].rule === 'stale-pointer' && !isWrite(s.a))
		return `what it has found in ${code(s.a.obj)} can be replaced or freed before it is used.`;
	if (!s.same)
		return !isWrite(s.a) && !isWrite(s.b) && s.a.obj !== s.b.obj ?
			`it can pair ${code(s.a.obj)} of before with ${code(s.b.obj)} of after another thread\u2019s write.` :
			`another thread can come between its ${deed(s.a)} of ${code(s.a.obj)} and its ${deed(s.b)} of ${
				code(s.b.obj)}.`;
	if (!isWrite(s.c))
		return `another thread can see ${code(s.a.obj)} between its two writes.`;
	return `${code(s.a.obj)} can change between its ${deed(s.a) === deed(s.b) ? `two ${deed(s.a)}s` :
		`${deed(s.a)} and its ${deed(s.b)}`}.`;
}

const title = f => `${subject(f)} ${f.verdict === 'suspected' ? 'may not be' : 'is not'} atomic: ${between(f)}`;

/* Why no serial order gives this, by the four patterns of one variable that have none. */
const PATTERN = {
	'read write write': ['CULPRIT before FIRST: then FIRST would have read what it wrote.',
		'CULPRIT behind SECOND: then it would have the last word.',
		'Here SECOND writes over it without having seen it.'],
	'read write read': ['CULPRIT before FIRST: then both reads would see what it wrote.',
		'CULPRIT behind SECOND: then both reads would see what was there before.',
		'Here the two reads see two different states.'],
	'write write read': ['CULPRIT before FIRST: then SECOND would read what its own thread wrote.',
		'CULPRIT behind SECOND: the same.',
		'Here SECOND reads another thread\u2019s value instead of its own.'],
	'write read write': ['CULPRIT before FIRST: then it would read what was there before.',
		'CULPRIT behind SECOND: then it would read the final value.',
		'Here it reads a value that was never meant to be seen.'],
};

function pattern(f) {
	const s = shape(f);

	return s && s.same && PATTERN[`${deed(s.a)} ${deed(s.c)} ${deed(s.b)}`] || null;
}

const SURE = {
	reproduced: 'The program was driven into this order, and the run fits no serial order.',
	observed: 'The run itself went this way, and it fits no serial order. It cannot be a false alarm.',
	predicted: 'This run went well, but another schedule of the same program goes this way, and fits no serial ' +
		'order. It cannot be a false alarm.',
	suspected: 'It may be a false alarm.',
};
const HINDRANCE = {
	race: 'A data race stands in the way of being surer: the order of the accesses that race is not known.',
	deadlock: 'A possible deadlock stands in the way of being surer: the order shown may not be reachable.',
	incomplete: 'Events of the run are missing, so nothing that rests on the others is sure.',
	unchecked: 'Nobody has looked for the data races and deadlocks that could stand in the way: run it with ' +
		'those checks on.',
};
const sure = f => (SURE[f.verdict] || '') + (f.hindrance ? ' ' + (HINDRANCE[f.hindrance] ||
	`What is in the way: ${short(f.hindrance)}.`) : '');

/* A path that hides is told by its rule; a rank that is too low by the rule that made it so. */
function whyHidden(f) {
	if (f.suppressed)
		return `suppressed by ${code(f.suppressed)}${f.given ? `: ${short(f.given, 300)}` : ''}`;
	if (f.unshown === 'again')
		return 'the same code was found with another variable, by a finding that stands before';
	return `its rank is ${f.rank}${f.reasons.length ? `: ${short(f.reasons[0].why, 300)}` : ''}`;
}

function fixWords(f) {
	const {from, to, lock} = f.fix;

	if (!from.file)
		return '<p class="dim">None to offer: no span of one function holds both accesses.</p>';
	const held = lock ? `Hold ${code(lock)}` : 'Hold one lock';
	const span = from.line === to.line && from.file === to.file ? `around ${code(at(from))}` :
		`from ${code(at(from))} to ${code(at(to))}`;
	const inner = lock && f.ev.some(e => e.role && e.stack && e.stack.length > 1 && e.stack[0].function !== f.fn) &&
		f.ev.some(e => e.t === f.vic && e.locks && e.obj === lock);
	return `<p>${held} ${span}.</p>` + (inner ? `<p class="dim">What it calls takes ${
		code(lock)} itself: in there, use variants that
		expect it to be held.</p>` : lock ? '' : '<p class="dim">The culprit has to take the same one.</p>');
}

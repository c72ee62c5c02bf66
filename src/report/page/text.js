/* SPDX-License-Identifier: MIT */
/*
 * Texts of the program under test are hostile: they may hold markup, control characters, marks that turn the
 * direction of writing around, and ten thousand characters. Nothing of them reaches innerHTML but through esc() or
 * one that calls it.
 */
'use strict';

const $ = id => document.getElementById(id);
const ENTITY = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;'};
const ODD = /[&<>"'\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;
const ODDS = new RegExp(ODD.source, 'g');

/* A character that is not seen, or that moves others, as a picture or as its number. */
function visible(c) {
	const n = c.charCodeAt(0);

	return ENTITY[c] || (n < 32 ? String.fromCharCode(0x2400 + n) : n === 127 ? '\u2421' :
		'\u2039U+' + n.toString(16).toUpperCase().padStart(4, '0') + '\u203a');
}

const esc = s => {
	s = String(s);
	return ODD.test(s) ? s.replace(ODDS, visible) : s;
};

/* What is longer than n loses its middle. */
const cut = (s, n) => s.length > n ? s.slice(0, n * .6 | 0) + '\u2026' + s.slice(s.length - (n * .4 | 0)) : s;
const short = (s, n = 72) => esc(cut(String(s), n));
const tip = s => `title="${short(s, 600)}"`;
const code = (s, n = 72) => `<code${s.length > n ? ' ' + tip(s) : ''}>${short(s, n)}</code>`;

const num = n => Number(n).toLocaleString('en');
const many = (n, one, more) => `${num(n)} ${n === 1 ? one : more || one + 's'}`;
const called = fn => fn.includes('(') ? fn : fn + '()';
const baseName = path => path.slice(path.lastIndexOf('/') + 1);

/* "bank.c:8" for reading; the whole path is in the tip. */
const at = (p, n = 48) => !p || !p.file ? '' : cut(baseName(p.file), n) + (p.line ? ':' + p.line : '');

const both = list => list.length < 2 ? list.join('') : list.slice(0, -1).join(', ') + ' and ' + list[list.length - 1];
const clamp = (x, low, high) => Math.min(high, Math.max(low, x));
const tally = (list, key) => list.reduce((m, x) => m.set(key(x), (m.get(key(x)) || 0) + 1), new Map());

const VERDICTS = ['reproduced', 'observed', 'predicted', 'suspected'];
const RANKS = ['', 'stale or lost value', 'does not commute', 'two callees', 'demoted'];
const ROLE = {first: 'FIRST', culprit: 'CULPRIT', second: 'SECOND'};

/* Sureness is drawn, not coloured: a solid outline cannot be a false alarm, a dashed one can. */
const RING = '<circle cx="7" cy="7" r="5.4" fill="none" stroke="currentColor" stroke-width="1.6"';
const DISC = '<circle cx="7" cy="7" r="6.2" fill="currentColor"/>';
const GLYPH = {
	reproduced: DISC + '<path d="M4.2 7.2 6.2 9.2 9.9 5.2" fill="none" stroke="var(--bg)" stroke-width="1.6"/>',
	observed: DISC,
	predicted: RING + '/><circle cx="7" cy="7" r="2.2" fill="currentColor"/>',
	suspected: RING + ' stroke-dasharray="2.2 2.04"/>',
};
const glyph = v => `<svg class="g" viewBox="0 0 14 14" aria-hidden="true">${GLYPH[v] || GLYPH.suspected}</svg>`;

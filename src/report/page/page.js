/* SPDX-License-Identifier: MIT */
/* Stepping, links, keys, settings: what the page does when somebody does something. */
'use strict';

/* settings: kept where the browser lets a file keep them, and else for as long as the page is open */
const keep = {
	get(k) { try { return localStorage.getItem('fission-' + k); } catch (x) { return null; } },
	set(k, v) { try { localStorage.setItem('fission-' + k, v); } catch (x) { /* then it is forgotten */ } },
};
const THEMES = ['auto', 'light', 'dark'];
function theme(t) {
	S.theme = THEMES.includes(t) ? t : 'auto';
	document.documentElement.dataset.theme = S.theme;
	$('theme').innerHTML = `<span class="dim">Theme</span> ${S.theme}`;
	$('theme').setAttribute('aria-label', `Theme: ${S.theme}; change`);
}
function letters(on) {
	S.letters = on;
	$('letters').checked = on;
	document.body.classList.toggle('no-letters', !on);
}

/* stepping; steps count from 1 */
function go(i, scroll) {
	const f = S.f, n = f.ev.length, box = $('lanes');

	i = clamp(i, 1, n);
	unfoldAt(f, i - 1);
	const was = box.dataset.at | 0 || f.view.at; /* new rows are drawn for a step */
	box.dataset.at = S.i = i;
	$('e' + was)?.setAttribute('aria-selected', 'false');
	for (let k = Math.min(i, was); k <= Math.max(i, was); k++)
		$('e' + k)?.classList.toggle('next', k > i);
	const cur = $('e' + i);
	cur.setAttribute('aria-selected', 'true');
	box.setAttribute('aria-activedescendant', cur.id);
	if (scroll)
		cur.scrollIntoView({block: 'nearest'});
	standStepper(f, i, cur);
	$('mem').innerHTML = memHTML(f, i);
	$('ml').innerHTML = memLine(f, i);
	showLine(standSource(f, i));
	if (scroll)
		tell(f, i, cur);
}

function standStepper(f, i, cur) {
	const n = f.ev.length;

	$('pos').innerHTML = `<span class="wd">Step </span><b>${i}</b> of ${n}`;
	$('range').value = i;
	$('range').setAttribute('aria-valuetext', cur.getAttribute('aria-label'));
	[...$('btns').children].forEach((b, k) => b.disabled = i === (k < 2 ? 1 : n));
}

/* Browsers throttle replaceState: the link is written when a held key has been let go. */
function tell(f, i, cur) {
	$('say').textContent = cur.getAttribute('aria-label') + stale(f, i);
	clearTimeout(S.later);
	const hash = location.hash; /* if it is another one by then, somebody has followed a link */
	S.later = setTimeout(() => {
		try {
			if (location.hash === hash)
				history.replaceState(null, '', '#' + f.id + '/' + i);
		} catch (x) { /* forbidden by some viewers; only the link is lost */ }
	}, 200);
}

/* folds */
const foldOf = (f, k) => f.folds.findIndex((g, n) => g[0] <= k && k <= g[1] && !f.unfolded.has(n));
function unfoldAt(f, k) {
	const n = foldOf(f, k);

	if (n < 0)
		return;
	f.unfolded.add(n);
	redraw(f);
}
function redraw(f) {
	f.view.at = S.i;
	$('rows').innerHTML = rowsHTML(f, f.view);
	$('lanes').dataset.at = '';
	$('lanes').classList.toggle('long', isLong(f, f.view));
	unfoldWords(f);
}
function unfoldWords(f) {
	const b = document.querySelector('[data-unfold]');

	if (b)
		b.textContent = f.unfolded.size < f.folds.length ? 'Unfold all' : 'Fold';
}
function unfoldAll(f) {
	const all = f.unfolded.size < f.folds.length;

	f.unfolded.clear();
	if (all)
		f.folds.forEach((_, n) => f.unfolded.add(n));
	redraw(f);
	go(S.i, false);
}

/* A step over a fold is one step: to the first that is behind it. */
function forward(d) {
	let i = S.i + d;
	const n = foldOf(S.f, i - 1);

	if (n >= 0)
		i = d > 0 ? S.f.folds[n][1] + 2 : S.f.folds[n][0];
	if (i >= 1 && i <= S.f.ev.length)
		go(i, true);
}
const MOVE = {first: () => go(1, true), prev: () => forward(-1), next: () => forward(1),
	last: () => go(S.f.ev.length, true)};

/* The next access with that role, around the end. */
function jump(role) {
	const all = S.f.ev.map((e, k) => e.role === role ? k + 1 : 0).filter(Boolean);

	if (all.length)
		go(all.find(k => k > S.i) || all[0], true);
}

/* Columns when they fit, else thin rails with one text column. */
function fit() {
	const el = $('lanes');

	if (el && S.f)
		el.classList.toggle('rails', el.clientWidth < 44 + S.f.lanes.length * 186);
}

/* links: #fsn-7c1f0a2b, #fsn-7c1f0a2b/8, #races, #deadlocks */
function emptyHTML() {
	const n = D.traces.reduce((a, t) => a + (t.events || 0), 0);

	return `<h1>${D.findings.length ? 'No finding is shown by default.' :
		`No atomicity violation was found in ${
		many(n, 'event')}.`}</h1><p class="dim">Other inputs and schedules may have some.${
		D.findings.length ? ' What is not shown is counted above: press a count to see it.' : ''}</p>`;
}
function show(f, step) {
	if (f !== S.f || !$('lanes') && f.raw.events?.length) {
		S.f = f;
		f.lines = f.marked = null;
		$('main').innerHTML = findingHTML(f, false);
		fit();
		unfoldWords(f);
		S.i = 1;
	}
	if (f.ev.length)
		go(step && step <= f.ev.length ? step : culpritStep(f), false);
	document.title = `${cut(f.name, 60)} \u00b7 fission report`;
}
function route() {
	clearTimeout(S.later);
	const hash = location.hash.slice(1), [, id, step] = hash.match(/^([^/]+)(?:\/(\d+))?$/) || [];
	const f = D.byId.get(id), hazard = (id === 'races' || id === 'deadlocks') && D[id].length;

	document.body.classList.toggle('one', !!(f || hazard));
	if (f && f.unshown && !S.extra.has(f.unshown)) {
		S.extra.add(f.unshown);
		refilter();
	}
	if (hazard) {
		S.f = null;
		$('main').innerHTML = hazardsHTML(id);
		document.title = `${id} \u00b7 fission report`;
	} else {
		const g = f || S.f || S.shown[0];
		if (g)
			show(g, +step);
		else
			$('main').innerHTML = emptyHTML();
	}
	standList()?.scrollIntoView({block: 'nearest'});
	if (f || hazard)
		scrollTo(0, 0);
	if (f && $('e' + S.i))
		$('e' + S.i).scrollIntoView({block: 'nearest'});
}
function nav(d) {
	const to = S.shown[S.shown.indexOf(S.f) + d];

	if (to)
		location.hash = to.id;
}

/* copy, print */
async function copy(b) {
	const s = b.dataset.copy;

	try {
		await navigator.clipboard.writeText(s);
	} catch (x) {
		const a = document.createElement('textarea');
		a.value = s;
		document.body.append(a);
		a.select();
		document.execCommand('copy');
		a.remove();
		b.focus();
	}
	b.textContent = 'Copied';
	$('say').textContent = 'Copied';
	setTimeout(() => b.textContent = 'Copy', 1200);
}
const SHEETS_MOST = 500;
function sheets() {
	const some = S.shown.slice(0, SHEETS_MOST);

	$('sheets').innerHTML = some.map(f => `<article>${findingHTML(f, true)}</article>`).join('') +
		(S.shown.length > some.length ?
			`<p>${num(S.shown.length - some.length)} more are not printed: filter the list to get them.</p>` : '');
	document.body.classList.add('all');
}
function print1(all) {
	if (all)
		sheets();
	$('print').close();
	window.print();
}
function unprint() {
	document.body.classList.remove('all');
	$('sheets').innerHTML = '';
}
function dialog(id) {
	if (id === 'print') {
		$('print-all').textContent = `All ${num(Math.min(S.shown.length, SHEETS_MOST))} in the list`;
		$('print-one').disabled = !S.f;
	}
	$(id).showModal();
}

/* what is clicked, by the attribute it has */
const flip = (set, x) => set.has(x) ? set.delete(x) : set.add(x);
const CLICK = {
	go: v => MOVE[v](), i: v => go(+v, true), nav: v => nav(+v), copy: (v, b) => copy(b),
	v: v => { flip(S.verdict, v); refilter(); }, r: v => { flip(S.rank, +v); refilter(); },
	extra: v => { flip(S.extra, v); refilter(); },
	fold: v => { const k = S.f.folds[+v][0]; unfoldAt(S.f, k); go(k + 1,
		true); $('lanes').focus({preventScroll: true}); },
	unfold: () => unfoldAll(S.f), more: () => { S.drawn += PAGE; drawList(); }, open: v => dialog(v),
		print: v => print1(v === 'all'),
};
const PRESS = {
	skip: () => $('main').focus(), clear, fresh: () => { S.fresh = !S.fresh; refilter(); },
	theme: () => { theme(THEMES[(THEMES.indexOf(S.theme) + 1) % 3]); keep.set('theme', S.theme); },
};
addEventListener('click', ev => {
	const b = ev.target.closest('button,.row,#skip');

	if (!b)
		return;
	if (b.id === 'skip')
		ev.preventDefault();
	if (PRESS[b.id])
		return PRESS[b.id]();
	for (const k in CLICK)
		if (b.dataset[k] !== undefined)
			return CLICK[k](b.dataset[k], b);
});
addEventListener('input', ev => {
	if (ev.target.id === 'range')
		go(+ev.target.value, true);
	else if (ev.target.id === 'q')
		later();
	else if (ev.target.id === 'group')
		refilter();
});
addEventListener('change', ev => {
	if (ev.target.id === 'letters') {
		letters(ev.target.checked);
		keep.set('letters', S.letters ? 'on' : 'off');
	}
});
$('filter').addEventListener('submit', ev => ev.preventDefault());

/* Keys. Single letters can be switched off; arrows step anywhere but where they mean something else. */
const LETTER = {j: () => nav(1), k: () => nav(-1), f: () => jump('first'), c: () => jump('culprit'),
	s: () => jump('second'), '/': () => $('q').focus(), '?': () => dialog('keys')};
function arrow(ev, at1) {
	const lane = at1.id === 'lanes' || at1.id === 'range', k = ev.key;

	if (!S.f || !S.f.ev?.length || at1.id === 'src' || at1.closest('#side'))
		return null;
	return k === 'ArrowRight' || lane && k === 'ArrowDown' ? MOVE.next : k === 'ArrowLeft' || lane &&
		k === 'ArrowUp' ? MOVE.prev :
		lane && k === 'Home' ? MOVE.first : lane && k === 'End' ? MOVE.last : null;
}
function inList(ev, at1) {
	const all = [...document.querySelectorAll('.it')], to = all[all.indexOf(at1) + (ev.key === 'ArrowDown' ? 1 : -1)];

	if (to) {
		to.focus();
		ev.preventDefault();
	}
}
addEventListener('keydown', ev => {
	const at1 = ev.target, k = ev.key;

	if (ev.ctrlKey || ev.metaKey || ev.altKey || document.querySelector('dialog[open]'))
		return;
	if (at1.matches('input:not([type=range]),select')) {
		if (k === 'Escape' && at1.type === 'search') {
			at1.value = '';
			refilter();
			at1.blur();
		}
		return;
	}
	if (at1.matches('.it') && (k === 'ArrowDown' || k === 'ArrowUp'))
		return inList(ev, at1);
	const needs = 'fcs'.includes(k) && !(S.f && S.f.ev?.length);
	const act = LETTER[k] ? S.letters && !needs && LETTER[k] : arrow(ev, at1);
	if (act) {
		ev.preventDefault();
		act();
	}
});

addEventListener('hashchange', route);
addEventListener('resize', fit);
addEventListener('beforeprint', () => $('main').querySelectorAll('details').forEach(d => d.open = true));
addEventListener('afterprint', unprint);
S.watch = new IntersectionObserver(es => {
	if (es.some(e => e.isIntersecting)) {
		S.drawn += PAGE;
		drawList();
	}
}, {root: null, rootMargin: '400px'});
S.baseline = D.findings.some(f => f.known);
if (LOOK.show_hidden)
	D.findings.forEach(f => f.unshown && S.extra.add(f.unshown));
header();
theme(keep.get('theme'));
letters(keep.get('letters') !== 'off');
press();
list();
route();

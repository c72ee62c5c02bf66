/* SPDX-License-Identifier: MIT */
/*
 * The page in a real browser: page.test.mjs PAGES SHOTS, started by run.py. PAGES has one NAME.html for each story
 * of make_story.py. A test is a function of a page that has been opened; it fails by throwing. Whatever the test,
 * an error on the console, a dialog or a request for anything but the file itself fails it, too.
 */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [pages, shots, modules] = process.argv.slice(2).map(p => path.resolve(p));
const { chromium } = createRequire(modules + '/')('playwright-core');
const executablePath = process.env.CHROMIUM || '/usr/bin/chromium';
const DEMO = 'fsn-7c1f0a2b', POINTER = 'fsn-b20e11c4', HIDDEN = 'fsn-01aa0000', SUPPRESSED = 'fsn-5599aabb',
	WINDOW = 'fsn-ffff0001';
const tests = [], numbers = [];

/* where: what to open, {file, hash, width, height, dark, print} */
const test = (name, where, run) => tests.push({name, where, run});
const shot = (page, name, fullPage = false) => page.screenshot({path: path.join(shots, name + '.png'), fullPage});
const text = (page, sel) => page.locator(sel).first().innerText();
const step = async page => (await text(page, '#pos')).replace(/\s+/g, ' ');
const rows = page => page.locator('#list .it').count();
/* A link takes effect when the browser says so: waits for the sentence. */
const opens = (page, name) => page.waitForFunction(n => document.querySelector('h1').innerText.includes(n), name);
const noSideways = async page => assert.equal(
	await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, 'scrolls sideways');

/* opening */
test('opens at the culprit of the best finding', {file: 'ledger'}, async page => {
	assert.match(await text(page, 'h1'),
		/withdraw\(\) is not atomic: balance can change between its read and its write/);
	assert.equal(await step(page), 'Step 8 of 12');
	assert.equal(await rows(page), 4);
	assert.match(await text(page, '#mem'), /balance\s+50\s+T2, step 8; was 100/);
	assert.match(await text(page, '#mem'), /T1 saw balance\s+100\s+read at step 2, stale now/);
	assert.match(await text(page, '.sl.cur'), /a->balance = b;/);
	assert.match(await text(page, '.serial'), /Both serial orders end with 20\. This one ends with 70/);
	await noSideways(page);
	await shot(page, 'demo');
	await shot(page, 'demo-whole', true);
});
test('one with four threads and forty events', {file: 'ledger', hash: '#' + POINTER, width: 1680}, async page => {
	assert.equal(await page.locator('#lanes .lh > div').count(), 4);
	assert.equal(await step(page), 'Step 6 of 45');
	assert.match(await text(page, '#mem'), /table\[17\]\s+0\s+w2, step 6/);
	await shot(page, 'four-threads', true);
});
test('without symbols, values and sources', {file: 'bare'}, async page => {
	assert.match(await text(page, 'h1'), /The code at stripped\+0x1320 is not atomic: 0x4c90a0 is given back/);
	assert.match(await text(page, '#mem'), /not known: only locks were recorded/);
	assert.match(await text(page, '#src'), /not known which lines/);
	assert.match(await text(page, '.cols'), /None to offer/);
	await page.locator('.it').nth(1).click();
	await opens(page, 'f()');
	assert.match(await text(page, 'main'), /has no events of this finding/);
	await page.locator('.it').nth(0).click();
	await shot(page, 'bare');
});
test('a story of a real run: locks and accesses, no values', {file: 'unvalued'}, async page => {
	assert.match(await text(page, '#mem'), /balance\s+\?\s+T2, step 8/);
	assert.match(await text(page, '#mem'), /T1 saw balance\s+\?\s+read at step 2, stale now/);
	assert.match(await text(page, '#mem'), /Values were not recorded/);
	assert.match(await text(page, '.held'), /still acts on the old balance/);
	assert.equal(await page.locator('.ser').count(), 0, 'nothing to compare with');
	assert.match(await text(page, '.serial'), /Here SECOND writes over it without having seen it/);
	await shot(page, 'unvalued');
});
test('nothing found', {file: 'empty'}, async page => assert.match(await text(page, 'h1'),
	/No atomicity violation was found in 41,208 events/));

/* links */
test('link to a step', {file: 'ledger', hash: `#${DEMO}/11`}, async page => {
	assert.equal(await step(page), 'Step 11 of 12');
	assert.match(await text(page, '#mem'), /balance\s+70\s+T1, step 11; was 50/);
	assert.match(await text(page, '#mem'), /stale, and used/);
});
test('link to a finding that is hidden shows its lanes', {file: 'ledger', hash: '#' + HIDDEN}, async page => {
	assert.match(await text(page, '.notice'),
		/Not shown by default: its rank is 4: the second section begins at the same place/);
	assert.equal(await page.locator('#lanes .row').count(), 12);
	assert.equal(await rows(page), 6);
});
test('link that leads nowhere opens the best', {file: 'ledger', hash: '#fsn-nothing/3'},
	async page => assert.match(await text(page, 'h1'), /withdraw/));
test('suppressed says by what', {file: 'ledger', hash: '#' + SUPPRESSED}, async page =>
	assert.match(await text(page, '.notice'), /suppressed by fission\.supp:12: see #812/));
test('races have their page', {file: 'ledger', hash: '#races'}, async page => assert.match(await text(page, 'main'),
	/1 data race[\s\S]*stats\.requests/));
test('a step is written into the link', {file: 'ledger'}, async page => {
	await page.keyboard.press('ArrowRight');
	await page.waitForFunction(id => location.hash === `#${id}/9`, DEMO);
});

/* stepping */
test('steps with buttons, slider, rows and keys', {file: 'ledger'}, async page => {
	await page.click('[data-go=next]');
	assert.equal(await step(page), 'Step 9 of 12');
	await page.click('[data-go=first]');
	assert.equal(await page.locator('[data-go=prev]').isDisabled(), true);
	assert.match(await text(page, '#mem'), /T1 saw balance\s+\u2013\s+not read yet/);
	await page.click('#e5');
	assert.equal(await step(page), 'Step 5 of 12');
	assert.match(await text(page, '#mem'), /up to date/);
	await page.locator('#range').fill('12');
	assert.equal(await step(page), 'Step 12 of 12');
	await page.focus('#lanes');
	await page.keyboard.press('Home');
	await page.keyboard.press('ArrowDown');
	assert.equal(await step(page), 'Step 2 of 12');
	for (const [key, at] of [['s', 11], ['f', 2], ['c', 8]]) {
		await page.keyboard.press(key);
		assert.equal(await step(page), `Step ${at} of 12`);
	}
});
test('folded events unfold', {file: 'ledger', hash: `#${POINTER}/8`}, async page => {
	const n = await page.locator('#lanes .row').count();
	assert.match(await text(page, '.gaprow button'), /16 events on other variables and locks/);
	assert.match(await text(page, '#rows'), /212 more events that the report leaves out/);
	await page.keyboard.press('ArrowRight');
	assert.equal(await step(page), 'Step 25 of 45', 'a step over a fold is one step');
	await page.locator('.gaprow button').first().click();
	assert.equal(await page.locator('#lanes .row').count(), n + 16);
	assert.equal(await step(page), 'Step 9 of 45');
	await page.click('[data-unfold]');
	assert.equal(await page.locator('#lanes .row').count(), 45);
	await page.keyboard.press('c');
	await page.click('[data-unfold]');
	assert.equal(await page.locator('#lanes .row').count(), n);
});
test('a link into a fold opens it', {file: 'ledger', hash: `#${POINTER}/12`},
	async page => assert.equal(await step(page), 'Step 12 of 45'));
test('what an order that was not run would have written is not known', {file: 'ledger', hash: `#${POINTER}/36`},
	async page =>
	assert.match(await text(page, '#mem'), /slab\[3\]\.value\s+\?\s+w1, step 36; the run wrote 42/));

/* the list */
test('filters by verdict, rank, words, function, variable', {file: 'ledger'}, async page => {
	await page.click('[data-v=observed]');
	assert.equal(await rows(page), 2);
	await page.click('[data-r="2"]');
	assert.equal(await rows(page), 1);
	assert.match(await text(page, '#list .it'), /quote/);
	await page.click('[data-v=observed]');
	await page.click('[data-r="2"]');
	await page.fill('#q', 'stale proto');
	assert.equal(await rows(page), 1);
	await page.keyboard.press('Escape');
	assert.equal(await rows(page), 4);
	await page.fill('#fn', 'count');
	assert.equal(await rows(page), 1);
	await page.fill('#fn', '');
	await page.fill('#va', 'fx.');
	assert.equal(await rows(page), 1);
	await page.fill('#q', 'nothing at all');
	assert.match(await text(page, '#list'), /No finding matches/);
	await page.click('#clear');
	assert.equal(await rows(page), 4);
});
test('what is hidden is a press away', {file: 'ledger'}, async page => {
	await page.click('[data-extra="same site"]');
	assert.equal(await rows(page), 6);
	assert.match(await text(page, '#list'), /Not shown by default same site/);
	await page.click('[data-extra="suppressed"]');
	assert.equal(await rows(page), 7);
});
test('new since the baseline', {file: 'ledger'}, async page => {
	await page.click('#fresh');
	assert.equal(await rows(page), 3);
	assert.doesNotMatch(await text(page, '#list'), /quote/);
});
test('groups by lock', {file: 'many'}, async page => {
	await page.selectOption('#group', 'lock');
	assert.match(await text(page, '#list .grp'), /lock_\d+\s+44/);
	await shot(page, 'many-by-lock');
});
test('suggests functions as one types', {file: 'many'}, async page => {
	await page.focus('#fn');
	await page.keyboard.type('operation_21');
	assert.equal(await page.locator('#fn').getAttribute('aria-expanded'), 'true');
	await page.keyboard.press('ArrowDown');
	assert.equal(await page.locator('#fn').getAttribute('aria-activedescendant'), 'fn-list0');
	await shot(page, 'suggestions');
	const name = await text(page, '#fn-list0 span');
	await page.keyboard.press('Enter');
	assert.equal(await page.inputValue('#fn'), name);
	const n = await rows(page);
	assert.ok(n > 0 && n < 20, `${n} rows`);
	assert.equal(await page.locator('#fn-list').isHidden(), true);
});
test('j, k and the list go together', {file: 'ledger'}, async page => {
	await page.keyboard.press('j');
	await opens(page, 'process_arithmetic');
	assert.match(await text(page, '.it[aria-current]'), /process_arithmetic/);
	await page.keyboard.press('k');
	await opens(page, 'withdraw');
	await page.locator('.it').first().focus();
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('Enter');
	await opens(page, 'process_arithmetic');
});

/* settings */
test('single letters can be switched off', {file: 'ledger'}, async page => {
	await page.keyboard.press('?');
	await page.uncheck('#letters');
	await page.click('#keys form button');
	for (const key of ['j', 's', 'f', '/', '?'])
		await page.keyboard.press(key);
	assert.match(await text(page, 'h1'), /withdraw/);
	assert.equal(await step(page), 'Step 8 of 12');
	assert.equal(await page.locator('#keys').isVisible(), false);
	await page.keyboard.press('ArrowRight');
	assert.equal(await step(page), 'Step 9 of 12');
	await page.reload();
	await page.keyboard.press('j');
	assert.match(await text(page, 'h1'), /withdraw/, 'it is remembered');
});
test('dark by the system, light by the switch', {file: 'ledger', dark: true, hash: '#' + POINTER}, async page => {
	const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
	assert.equal(await ground(), 'rgb(20, 20, 21)');
	await shot(page, 'dark');
	await page.click('#theme');
	assert.equal(await ground(), 'rgb(255, 255, 255)');
	await page.reload();
	assert.equal(await ground(), 'rgb(255, 255, 255)');
	await page.click('#theme');
	assert.equal(await ground(), 'rgb(20, 20, 21)');
});

/* screens and paper */
for (const width of [320, 400])
	test(`narrow, ${width} pixels`, {file: 'ledger', hash: '#' + POINTER, width, height: 860}, async page => {
		await noSideways(page);
		assert.equal(await page.locator('#side').isVisible(), false);
		await shot(page, `narrow-${width}`);
		await page.click('#back');
		assert.equal(await page.locator('#side').isVisible(), true);
		await noSideways(page);
		await shot(page, `narrow-list-${width}`);
	});
for (const width of [1021, 1100, 1250])
	test(`long source lines at ${width} pixels`, {file: 'ledger', width}, async page => {
		await noSideways(page);
		assert.equal(await page.evaluate(() => $('src').scrollWidth > $('src').clientWidth), false);
	});
test('prints the open one, or all', {file: 'ledger'}, async page => {
	await page.evaluate(() => { window.print = () => {}; });
	await page.click('[data-open=print]');
	assert.match(await text(page, '#print-all'), /All 4 in the list/);
	await page.click('#print-all');
	await page.emulateMedia({media: 'print'});
	assert.equal(await page.locator('#sheets article').count(), 4);
	assert.equal(await page.locator('#sheets .row').count(), 12 + 45 + 10 + 4);
	assert.equal(await page.locator('#app').isVisible(), false);
	await page.setViewportSize({width: 740, height: 1000});
	await shot(page, 'print-all', true);
	await page.evaluate(() => dispatchEvent(new Event('afterprint')));
	assert.equal(await page.locator('#sheets article').count(), 0);
	assert.equal(await page.locator('#lanes').isVisible(), true);
	await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
	await shot(page, 'print-one', true);
});

test('after printing all, folds still unfold', {file: 'ledger', hash: '#' + POINTER}, async page => {
	await page.evaluate(() => { sheets(); unprint(); });
	await page.locator('.gaprow button').first().click();
	assert.equal(await step(page), 'Step 9 of 45');
	assert.equal(await page.locator('#lanes').getAttribute('aria-activedescendant'), 'e9');
});

/* names that are hostile */
test('hostile names do nothing', {file: 'hostile'}, async page => {
	const n = await page.evaluate(() => D.findings.length);
	for (let i = 0; i < n; i++) {
		await page.evaluate(k => { location.hash = D.findings[k].id; }, i);
		await page.waitForFunction(k => S.f === D.findings[k], i);
		await page.keyboard.press('ArrowRight');
		await page.evaluate(() => document.querySelectorAll('details').forEach(d => { d.open = true; }));
		assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll(
			'main img, main script, main iframe, main b b, [onerror]')].map(x => x.outerHTML)), []);
		await noSideways(page);
	}
	assert.equal(await page.evaluate(() => window.hacked), undefined);
	await page.evaluate(() => { location.hash = D.findings[0].id; });
	await page.waitForTimeout(50);
	await shot(page, 'hostile', true);
	await page.focus('#fn');
	await page.keyboard.type('<script');
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('Enter');
	assert.ok(await rows(page) > 0);
	assert.equal(await page.evaluate(() => window.hacked), undefined);
	await page.evaluate(() => { sheets(); });
	assert.equal(await page.evaluate(() => window.hacked), undefined);
});
test('no other script can run', {file: 'ledger'}, async page => {
	const blocked = await page.evaluate(() => new Promise(done => {
		addEventListener('securitypolicyviolation', ev => done(ev.violatedDirective));
		const s = document.createElement('script');
		s.textContent = 'window.hacked = 1';
		document.body.append(s);
	}));
	assert.match(blocked, /script-src/);
	assert.equal(await page.evaluate(() => window.hacked), undefined);
}, {noise: true});
tests[tests.length - 1].noise = true;

/* screen readers: by the roles and names that the browser works out itself */
test('what a screen reader is told', {file: 'ledger'}, async page => {
	const cdp = await page.context().newCDPSession(page), {nodes} = await cdp.send('Accessibility.getFullAXTree');
	const named = role => nodes.filter(x => !x.ignored && x.role?.value === role).map(x => x.name?.value || '');
	assert.ok(named('navigation').includes('Findings'));
	assert.ok(named('search').length === 1 && named('main').length === 1 && named('banner').length === 1);
	assert.ok(named('listbox').includes('Interleaving, time downward'));
	assert.ok(named('option').includes(
		'Step 8, T2: write balance = 50, bank.c:28, CULPRIT, inside the vulnerable window'));
	assert.deepEqual(named('combobox').slice(0, 2), ['Filter by function', 'Filter by variable']);
	assert.ok(named('link').some(n => /withdraw/.test(n) && /observed, rank 1/.test(n)));
	assert.ok(named('slider').includes('Step'));
	assert.ok(named('region').includes('Source'));
	for (const role of ['button', 'link', 'option', 'combobox', 'searchbox', 'slider', 'checkbox', 'listbox'])
		assert.ok(named(role).every(Boolean), `a ${role} without a name`);
	assert.equal(await page.locator('#lanes').getAttribute('aria-activedescendant'), 'e8');
	await page.keyboard.press('ArrowRight');
	assert.match(await page.textContent('#say'),
		/Step 9, T2: unlock mu, bank\.c:29, inside the vulnerable window\. T1 still acts on 100/);
	assert.equal(await page.locator('[role=option][aria-selected=true]').count(), 1);
	assert.equal(await page.getAttribute('html', 'lang'), 'en');
});
test('all can be reached with the keyboard', {file: 'ledger'}, async page => {
	const seen = new Set();
	for (let i = 0; i < 60; i++) {
		await page.keyboard.press('Tab');
		seen.add(await page.evaluate(() => document.activeElement.id || document.activeElement.dataset.go ||
			document.activeElement.className || document.activeElement.tagName));
	}
	for (const id of ['skip', 'theme', 'q', 'fn', 'va', 'group', 'it', 'lanes', 'range', 'src'])
		assert.ok(seen.has(id), `${id} is not among ${[...seen]}`);
});

/* size: printed for a person, not judged */
const median = list => list.sort((a, b) => a - b)[list.length >> 1];
const timed = (page, act, n) => page.evaluate(async ([body, times]) => {
	const f = new Function('k', body), out = [];
	for (let k = 0; k < times; k++) {
		const t = performance.now();
		f(k);
		document.body.offsetHeight;
		out.push(performance.now() - t);
		await new Promise(done => setTimeout(done, 5));
	}
	return out;
}, [act, n]).catch(() => null);
test('a thousand findings, five thousand events', {file: 'many', noise: true}, async page => {
	const word = 'operation_12 table[3';
	const type = async () => {
		const out = [];
		for (let k = 1; k <= word.length; k++)
			out.push(await page.evaluate(w => { const t = performance.now(); $(
				'q').value = w; refilter(); document.body.offsetHeight; return performance.now() - t; },
				word.slice(0, k)));
		return out;
	};
	const keys = await type();
	await page.evaluate(() => clear());
	const open = await page.evaluate(id => { const t = performance.now(); show(
		D.byId.get(id)); document.body.offsetHeight; return performance.now() - t; }, WINDOW);
	assert.equal(await page.evaluate(() => S.f.ev.length), 4999);
	const steps = [];
	for (let k = 0; k < 60; k++)
		steps.push(await page.evaluate(
			() => { const t = performance.now(); MOVE.next(); document.body.offsetHeight; return performance.now() - t; }));
	const far = await page.evaluate(() => { const t = performance.now(); go(4999,
		true); document.body.offsetHeight; return performance.now() - t; });
	const load = await page.evaluate(
		() => performance.timing.domContentLoadedEventEnd - performance.timing.navigationStart);
	numbers.push(`1,000 findings: loads in ${load} ms, a key of the filter ${
		median([...keys]).toFixed(1)} ms (at most ${Math.max(...keys).toFixed(1)})`,
		`5,000 events: opens in ${open.toFixed(0)} ms, a step ${median([...steps]).toFixed(1)} ms (at most ${
			Math.max(...steps).toFixed(1)}), to the end ${far.toFixed(1)} ms`);
	await shot(page, 'window');
});
test('ten thousand findings', {file: 'most'}, async page => {
	assert.equal(await text(page, '#nth'), '1 of 10,000');
	const load = await page.evaluate(
		() => performance.timing.domContentLoadedEventEnd - performance.timing.navigationStart);
	const key = await page.evaluate(() => { const t = performance.now(); $(
		'q').value = 'operation_1'; refilter(); document.body.offsetHeight; return performance.now() - t; });
	numbers.push(`10,000 findings: loads in ${load} ms, a key of the filter ${key.toFixed(1)} ms`);
	await page.evaluate(() => clear());
	await page.evaluate(() => $('side').scrollTo(0, 1e9));
	await page.waitForFunction(() => document.querySelectorAll('.it').length > 100);
	await shot(page, 'most');
});

/* One test: a browser of its own kind, and everything that must not happen. */
async function run(browser, t) {
	const w = t.where, bad = [];
	const context = await browser.newContext({viewport: {width: w.width || 1440, height: w.height || 1000},
		colorScheme: w.dark ? 'dark' : 'light'});
	const page = await context.newPage(), url = pathToFileURL(path.join(pages, w.file + '.html')).href;

	page.on('console', m => bad.push(`console: ${m.text()}`));
	page.on('pageerror', e => bad.push(`error: ${e.message}`));
	page.on('dialog', d => { bad.push(`dialog: ${d.message()}`); d.dismiss(); });
	page.on('request', r => { if (r.url().split('#')[0] !== url && !r.url().startsWith('data:')) bad.push(`request: ${
		r.url().slice(0, 200)}`); });
	page.setDefaultTimeout(10000);
	try {
		await page.goto(url + (w.hash || ''));
		await t.run(page);
		if (!t.noise)
			assert.deepEqual(bad, []);
	} finally {
		await context.close();
	}
}

mkdirSync(shots, {recursive: true});
const browser = await chromium.launch({executablePath, args: process.getuid() === 0 ? ['--no-sandbox'] : []});
const only = process.env.ONLY;
let passed = 0, failed = 0;
for (const t of tests.filter(x => !only || x.name.includes(only))) {
	try {
		await run(browser, t);
		passed++;
	} catch (x) {
		failed++;
		console.log(`FAILED: ${t.name}\n    ${String(x.message).split('\n').join('\n    ')}`);
	}
}
await browser.close();
numbers.forEach(n => console.log(n));
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed || !passed ? 1 : 0);

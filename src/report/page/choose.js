/* SPDX-License-Identifier: MIT */
/*
 * A field with suggestions: what is typed filters at once, the suggestions say what there is, and how often. The
 * roles are those of a combobox with a listbox. Only the best few are drawn, so a thousand names cost nothing.
 */
'use strict';

const SUGGEST_MOST = 40;

class Chooser {
	/* `names`: a Map from name to count. `changed` is called when the value does. */
	constructor(input, names, changed) {
		this.input = input;
		this.box = $(input.getAttribute('aria-controls'));
		this.names = [...names].sort((a, b) => a[0] < b[0] ? -1 : 1);
		this.low = this.names.map(n => n[0].toLowerCase());
		this.changed = changed;
		this.at = -1;
		input.addEventListener('input', () => { this.open(); changed(); });
		input.addEventListener('focus', () => this.open());
		input.addEventListener('blur', () => this.close());
		input.addEventListener('keydown', ev => this.key(ev));
		this.box.addEventListener('mousedown', ev => {
			const o = ev.target.closest('[role=option]');
			ev.preventDefault();
			if (o)
				this.take(+o.dataset.n);
		});
	}

	/* What begins with the words comes before what holds them. */
	matches() {
		const w = this.input.value.trim().toLowerCase(), first = [], rest = [];

		for (let i = 0; i < this.low.length && first.length < SUGGEST_MOST; i++) {
			const k = this.low[i].indexOf(w);
			if (k >= 0 && rest.length + first.length < 4 * SUGGEST_MOST || k === 0)
				(k === 0 ? first : rest).push(i);
		}
		return first.concat(rest).slice(0, SUGGEST_MOST);
	}

	open() {
		this.found = this.matches();
		this.at = -1;
		this.box.innerHTML = this.found.map((i, n) => `<div role="option" id="${this.box.id}${n}" data-n="${
			n}" aria-selected="false"><span ${
			tip(this.names[i][0])}>${short(this.names[i][0], 60)}</span><i>${
				num(this.names[i][1])}</i></div>`).join('');
		this.box.hidden = !this.found.length;
		this.input.setAttribute('aria-expanded', !this.box.hidden);
		this.input.removeAttribute('aria-activedescendant');
	}

	close() {
		this.box.hidden = true;
		this.input.setAttribute('aria-expanded', false);
		this.input.removeAttribute('aria-activedescendant');
	}

	move(d) {
		const was = this.box.children[this.at], n = this.found.length;

		this.at = this.at < 0 ? d > 0 ? 0 : n - 1 : (this.at + d + n) % n;
		was?.setAttribute('aria-selected', false);
		this.box.children[this.at].setAttribute('aria-selected', true);
		this.box.children[this.at].scrollIntoView({block: 'nearest'});
		this.input.setAttribute('aria-activedescendant', this.box.id + this.at);
	}

	take(n) {
		this.input.value = this.names[this.found[n]][0];
		this.close();
		this.changed();
	}

	key(ev) {
		const k = ev.key, shut = this.box.hidden;

		if (k === 'ArrowDown' || k === 'ArrowUp') {
			if (shut)
				this.open();
			if (this.found.length)
				this.move(k === 'ArrowDown' ? 1 : -1);
			ev.preventDefault();
		} else if (k === 'Enter' && !shut && this.at >= 0) {
			this.take(this.at);
			ev.preventDefault();
		} else if (k === 'Escape' && !shut && this.input.value === '') {
			this.close();
			ev.stopPropagation();
		}
	}
}

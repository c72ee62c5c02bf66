/* SPDX-License-Identifier: MIT */
#include "cfi.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

enum { FP = 6, SP = 7, PC = 16, REMEMBERED = 8 };

/* Modules. */

extern __typeof__(_dl_find_object) _dl_find_object __attribute__((weak));

struct seek {
	uint64_t pc;
	struct cfi_module *found;
};

static int seek(struct dl_phdr_info *info, size_t size, void *self)
{
	struct seek *s = self;
	struct cfi_module m = {info->dlpi_name, UINT64_MAX, 0, NULL};

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t at = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_GNU_EH_FRAME)
			m.table = (const unsigned char *)at;
		if (p->p_type != PT_LOAD)
			continue;
		m.start = at < m.start ? at : m.start;
		m.end = at + p->p_memsz > m.end ? at + p->p_memsz : m.end;
	}
	if (s->pc < m.start || s->pc >= m.end)
		return 0;
	*s->found = m;
	return 1;
}

bool cfi_module(uint64_t pc, struct cfi_module *m)
{
	struct seek s = {pc, m};
	struct dl_find_object o;

	if (!&_dl_find_object)
		return dl_iterate_phdr(seek, &s) != 0;
	if (_dl_find_object((void *)pc, &o) != 0)
		return false;
	*m = (struct cfi_module){o.dlfo_link_map->l_name, (uint64_t)o.dlfo_map_start, (uint64_t)o.dlfo_map_end,
		o.dlfo_eh_frame};
	return true;
}

bool cfi_is_named(const struct cfi_module *m, const char *begins)
{
	const char *last = m->name ? m->name : "";

	for (const char *c = last; *c; c++)
		if (*c == '/')
			last = c + 1;
	while (*begins && *last == *begins)
		last++, begins++;
	return !*begins;
}

/* Reading. */

struct bytes {
	const unsigned char *at, *end;
	bool bad; /* something was read that is not there, or not understood */
};

static uint64_t fixed(struct bytes *b, size_t n)
{
	uint64_t value = 0;

	if ((size_t)(b->end - b->at) < n) {
		b->bad = true;
		b->at = b->end;
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		value |= (uint64_t)*b->at++ << 8 * i;
	return value;
}

static uint64_t leb(struct bytes *b, bool is_signed)
{
	uint64_t value = 0;
	unsigned shift = 0;
	unsigned char byte;

	do {
		byte = (unsigned char)fixed(b, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 127) << shift;
		shift += 7;
	} while (byte & 128);
	if (is_signed && byte & 64 && shift < 64)
		value |= ~(uint64_t)0 << shift;
	return value;
}

static void skip(struct bytes *b, uint64_t n)
{
	b->bad |= n > (uint64_t)(b->end - b->at);
	b->at = b->bad ? b->end : b->at + n;
}

static int32_t word(const unsigned char *at)
{
	int32_t value;

	__builtin_memcpy(&value, at, sizeof value);
	return value;
}

/* An entry of .eh_frame, behind its length. The 64-bit form is nobody's. */
static struct bytes entry_at(const unsigned char *at)
{
	uint32_t length = (uint32_t)word(at);

	return (struct bytes){at + 4, at + 4 + (length < UINT32_MAX ? length : 0), length == UINT32_MAX || !length};
}

/* The table of functions: what every linker writes. */
static const unsigned char usual[] = {1, 0x1b, 0x03, 0x3b};

/* The entry of the function that begins last before the address. */
static const unsigned char *function_at(const unsigned char *table, uint64_t address)
{
	size_t low = 0, high;

	for (size_t i = 0; i < sizeof usual; i++)
		if (table[i] != usual[i])
			return NULL;
	high = (uint32_t)word(table + 8);
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((uint64_t)table + (uint64_t)(int64_t)word(table + 12 + middle * 8) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? table + word(table + 12 + (low - 1) * 8 + 4) : NULL;
}

/* What is common to several functions. */
struct common {
	struct bytes program;
	uint64_t code_unit;
	int64_t data_unit;
	bool signal, sized; /* an entry has data of its own, with their length */
};

static bool read_augmentation(struct bytes *b, const char *words, struct common *c)
{
	uint64_t length;
	const unsigned char *end;

	if (!*words)
		return true;
	if (*words != 'z')
		return false;
	c->sized = true;
	length = leb(b, false);
	if (b->bad || length > (uint64_t)(b->end - b->at))
		return false;
	end = b->at + length;
	for (words++; *words; words++)
		switch (*words) {
		case 'R': if (fixed(b, 1) != 0x1b) return false; break;
		case 'P': skip(b, (fixed(b, 1) & 0x0f) == 0x0b ? 4 : 8); break;
		case 'L': fixed(b, 1); break;
		case 'S': c->signal = true; break;
		default: return false;
		}
	b->at = end;
	return true;
}

static bool read_common(const unsigned char *at, struct common *c)
{
	struct bytes b = entry_at(at);
	const char *words;

	*c = (struct common){0};
	if (fixed(&b, 4) != 0 || fixed(&b, 1) != 1)
		return false;
	words = (const char *)b.at;
	while (fixed(&b, 1))
		;
	c->code_unit = leb(&b, false);
	c->data_unit = (int64_t)leb(&b, true);
	if (leb(&b, false) != PC || b.bad || !read_augmentation(&b, words, c))
		return false;
	c->program = b;
	return !b.bad;
}

/* The rules of a row, as far as they matter. */
struct row {
	uint8_t base, saved_in;
	bool unknown, last; /* the frame's end cannot be told; there is no return address */
	int64_t end, saved;
};

struct machine {
	struct row row, first, stack[REMEMBERED];
	unsigned depth;
	const struct common *common;
	uint64_t at, until;
	bool bad;
};

static void set_base(struct machine *m, uint64_t reg)
{
	m->row.unknown = reg != SP && reg != FP;
	m->row.base = reg == FP ? CFI_FP : CFI_SP;
}

static void set_offset(struct machine *m, uint64_t reg, int64_t offset)
{
	if (reg == FP)
		m->row.saved_in = CFI_AT_END, m->row.saved = offset;
	else if (reg == PC)
		m->row.last = false, m->bad |= offset != -8;
}

static void set_same(struct machine *m, uint64_t reg)
{
	if (reg == FP)
		m->row.saved_in = m->first.saved_in, m->row.saved = m->first.saved;
	m->row.last &= reg != PC;
}

static void set_lost(struct machine *m, uint64_t reg)
{
	if (reg == FP)
		m->row.saved_in = CFI_LOST;
	m->row.last |= reg == PC;
}

/* The two expressions that compilers write for functions that realign their stack: what the frame pointer points at. */
static void expression(struct machine *m, struct bytes *b, bool of_base, uint64_t reg)
{
	enum { BREG = 0x70, DEREF = 0x06 };
	uint64_t length = leb(b, false);
	struct bytes e = {b->at, b->at, false};
	bool simple;
	int64_t offset;

	skip(b, length);
	if (b->bad)
		return;
	e.end = b->at;
	simple = fixed(&e, 1) == BREG + FP;
	offset = (int64_t)leb(&e, true);
	if (of_base) {
		simple = simple && fixed(&e, 1) == DEREF && e.at == e.end && !e.bad;
		m->row.unknown = !simple;
		m->row.base = CFI_AT_FP;
		m->row.end = offset;
	} else if (reg == FP) {
		simple = simple && e.at == e.end && !e.bad;
		m->row.saved_in = simple ? CFI_BY_FP : CFI_LOST;
		m->row.saved = offset;
	} else if (reg == PC) {
		m->bad = true;
	}
}

static void remember(struct machine *m)
{
	if (m->depth < REMEMBERED)
		m->stack[m->depth++] = m->row;
	else
		m->bad = true;
}

static void recall(struct machine *m)
{
	if (m->depth)
		m->row = m->stack[--m->depth];
	else
		m->bad = true;
}

static void advance(struct machine *m, uint64_t units)
{
	m->at += units * m->common->code_unit;
}

/* The instructions that say all in one byte are taken apart before. */
static void extended(struct machine *m, struct bytes *b, unsigned char code)
{
	int64_t unit = m->common->data_unit;
	uint64_t reg;

	switch (code) {
	case 0x00: break;
	case 0x02: advance(m, fixed(b, 1)); break;
	case 0x03: advance(m, fixed(b, 2)); break;
	case 0x04: advance(m, fixed(b, 4)); break;
	case 0x05: reg = leb(b, false); set_offset(m, reg, (int64_t)leb(b, false) * unit); break;
	case 0x06: case 0x08: set_same(m, leb(b, false)); break;
	case 0x07: set_lost(m, leb(b, false)); break;
	case 0x09: reg = leb(b, false); leb(b, false); set_lost(m, reg); m->bad |= reg == PC; break;
	case 0x0a: remember(m); break;
	case 0x0b: recall(m); break;
	case 0x0c: set_base(m, leb(b, false)); m->row.end = (int64_t)leb(b, false); break;
	case 0x0d: set_base(m, leb(b, false)); break;
	case 0x0e: m->row.end = (int64_t)leb(b, false); break;
	case 0x0f: expression(m, b, true, 0); break;
	case 0x10: reg = leb(b, false); expression(m, b, false, reg); break;
	case 0x11: reg = leb(b, false); set_offset(m, reg, (int64_t)leb(b, true) * unit); break;
	case 0x12: set_base(m, leb(b, false)); m->row.end = (int64_t)leb(b, true) * unit; break;
	case 0x13: m->row.end = (int64_t)leb(b, true) * unit; break;
	case 0x16: reg = leb(b, false); skip(b, leb(b, false)); set_lost(m, reg); m->bad |= reg == PC; break;
	case 0x2e: leb(b, false); break;
	default: m->bad = true; break;
	}
}

static void execute(struct machine *m, struct bytes b)
{
	while (b.at < b.end && !b.bad && !m->bad) {
		unsigned char code = (unsigned char)fixed(&b, 1);

		switch (code >> 6) {
		case 1: advance(m, code & 63); break;
		case 2: set_offset(m, code & 63, (int64_t)leb(&b, false) * m->common->data_unit); break;
		case 3: set_same(m, code & 63); break;
		default: extended(m, &b, code); break;
		}
		if (m->at > m->until)
			return;
	}
	m->bad |= b.bad;
}

static bool is_entry(const struct row *r)
{
	return !r->unknown && r->base == CFI_SP && r->end == 8;
}

static void conclude(struct cfi_rule *r, const struct machine *m)
{
	if (m->bad || (m->row.unknown && !m->row.last))
		return;
	r->sort = m->common->signal ? CFI_SIGNAL : m->row.last ? CFI_LAST : CFI_STEP;
	r->base = m->row.base;
	r->end = (int32_t)m->row.end;
	r->saved_in = m->row.saved_in;
	r->saved = (int32_t)m->row.saved;
}

/* Runs the function's program up to the instruction before pc. */
static void run(struct cfi_rule *r, const struct common *c, struct bytes program, uint64_t until)
{
	struct machine m = {.common = c, .at = 0, .until = UINT64_MAX};

	execute(&m, c->program);
	m.first = m.row;
	m.at = m.until = r->start;
	execute(&m, program);
	r->part = !is_entry(&m.row);
	m = (struct machine){.row = m.first, .first = m.first, .common = c, .at = r->start, .until = until, .bad = m.bad};
	execute(&m, program);
	conclude(r, &m);
}

void cfi_find(uint64_t pc, struct cfi_rule *r)
{
	struct cfi_module module;
	struct common common;
	const unsigned char *at;
	struct bytes b;
	uint64_t offset;

	*r = (struct cfi_rule){.pc = pc, .start = pc - 1};
	if (!pc || !cfi_module(pc - 1, &module) || !module.table)
		return;
	r->unwinder = cfi_is_named(&module, "libgcc_s.so");
	at = function_at(module.table, pc - 1);
	if (!at)
		return;
	b = entry_at(at);
	at = b.at;
	offset = fixed(&b, 4);
	if (b.bad || !offset || !read_common(at - offset, &common))
		return;
	offset = (uint64_t)b.at;
	offset += (uint64_t)(int64_t)(int32_t)fixed(&b, 4);
	if (pc - 1 - offset >= fixed(&b, 4))
		return;
	r->start = offset;
	if (common.sized)
		skip(&b, leb(&b, false));
	if (!b.bad)
		run(r, &common, b, pc - 1);
}

/* SPDX-License-Identifier: MIT */
/*
 * A list of what was told, with copies of the names in memory of our own. It is touched within dl_iterate_phdr only,
 * under the loader's lock, and grows at its end; so a forked child finds it whole.
 */
#include "modules.h"

#include <link.h>

#include "runtime/os.h"
#include "runtime/self.h"
#include "runtime/trail.h"

enum {
	PAGE_MODULES = 101, /* with the links, a page */
	NAMES = 1 << 16,
};

struct told {
	uintptr_t base, span;
	const char *name;
	uint32_t code, code_bytes; /* of its first segment of code, from the base; what is further away is none */
	bool stays;
};

struct page {
	struct page *next;
	uint64_t count;
	struct told told[PAGE_MODULES];
};

static struct page first, *last = &first;
static bool started; /* what there is from the start was told */
static unsigned long long loads; /* that the loader had done when we asked last */
static char *names;
static size_t names_left;

/* The end of what the module's segments span. */
static uintptr_t span_of(const struct dl_phdr_info *info)
{
	uintptr_t end = 0;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && p->p_vaddr + p->p_memsz > end)
			end = p->p_vaddr + p->p_memsz;
	}
	return end;
}

static void find_code(struct told *m, const struct dl_phdr_info *info)
{
	for (int i = info->dlpi_phnum; i-- > 0;) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X && p->p_vaddr + p->p_memsz <= UINT32_MAX) {
			m->code = (uint32_t)p->p_vaddr;
			m->code_bytes = (uint32_t)p->p_memsz;
		}
	}
}

static bool is_same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

/* The newest at the place: what was loaded there before is gone. */
static bool is_told(const struct told *m)
{
	bool same = false;

	for (const struct page *p = &first; p; p = p->next)
		for (uint64_t i = 0; i < p->count; i++)
			if (p->told[i].base == m->base)
				same = p->told[i].span == m->span && is_same(p->told[i].name, m->name);
	return same;
}

static const char *copy(const char *name)
{
	size_t n = 0;
	char *at;

	while (n < TEXT_MOST && name[n])
		n++;
	if (names_left <= n) {
		names = os_map(NAMES, -1);
		names_left = names ? NAMES : 0;
	}
	if (!names_left)
		return "";
	at = names;
	for (size_t i = 0; i < n; i++)
		at[i] = name[i];
	at[n] = 0;
	names += n + 1;
	names_left -= n + 1;
	return at;
}

static void keep(struct told m)
{
	if (last->count == PAGE_MODULES) {
		struct page *p = os_map(sizeof *p, -1);

		if (!p)
			return;
		last->next = p;
		last = p;
	}
	m.name = copy(m.name);
	last->told[last->count] = m;
	__atomic_store_n(&last->count, last->count + 1, __ATOMIC_RELEASE);
}

static void put(struct self *s, const struct told *m)
{
	__atomic_add_fetch(&channel->modules, 1, __ATOMIC_SEQ_CST);
	self_put(s, entry_first(ENTRY_SIZE, 0, 0), m->span);
	self_text(s, ENTRY_MODULE, (void *)m->base, NULL, m->name);
}

struct telling {
	struct self *to;
	unsigned long long loads;
};

/*
 * The main program has no name here, and may have changed its argv[0]. The collector could ask, too, but not after a
 * program that has ended at once.
 */
static const char *name_of(const struct dl_phdr_info *info)
{
	static char program[TEXT_MOST];
	long n;

	if (info->dlpi_name && info->dlpi_name[0])
		return info->dlpi_name;
	n = program[0] ? 0 : os_readlink("/proc/self/exe", program, sizeof program - 1);
	if (n > 0)
		program[n] = 0;
	return program;
}

static int tell(struct dl_phdr_info *info, size_t size, void *telling)
{
	struct told m = {.base = info->dlpi_addr, .span = span_of(info), .name = name_of(info), .stays = !started};
	struct telling *t = telling;

	(void)size;
	t->loads = info->dlpi_adds;
	if (loads == info->dlpi_adds)
		return 1;
	if (is_told(&m))
		return 0;
	if (t->to)
		put(t->to, &m);
	find_code(&m, info);
	keep(m);
	return 0;
}

void modules_tell(struct self *s)
{
	struct telling t = {s, 0};

	dl_iterate_phdr(tell, &t);
	if (s && started && loads != t.loads)
		trail_code_changes(s->process);
	loads = t.loads;
	started = true;
}

void modules_retell(struct self *s)
{
	for (const struct page *p = &first; p; p = p->next)
		for (uint64_t i = 0; i < p->count; i++)
			put(s, &p->told[i]);
}

bool modules_share(uintptr_t a, uintptr_t b)
{
	for (const struct page *p = &first; p; p = p->next)
		for (uint64_t i = 0, n = __atomic_load_n(&p->count, __ATOMIC_ACQUIRE); i < n; i++)
			if (a - p->told[i].base < p->told[i].span && b - p->told[i].base < p->told[i].span)
				return true;
	return false;
}

bool modules_code(uintptr_t at, struct code *code)
{
	for (const struct page *p = &first; p; p = p->next)
		for (uint64_t i = 0, n = __atomic_load_n(&p->count, __ATOMIC_ACQUIRE); i < n; i++) {
			const struct told *m = &p->told[i];

			if (m->stays && at - m->base - m->code < m->code_bytes) {
				code->from = (uint8_t *)m->base + m->code;
				code->to = code->from + m->code_bytes;
				return true;
			}
		}
	return false;
}

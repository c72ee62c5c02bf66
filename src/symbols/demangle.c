/* SPDX-License-Identifier: MIT */
#include "demangle.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "base/arena.h"

/* What gcc and clang append to a symbol, without the number that may follow. */
static const char *const clones[] = {
	"cold", "part", "isra", "constprop", "lto_priv", "llvm", "localalias", "resume", "destroy", "cleanup", "__uniq",
};

static size_t digits(const char *s)
{
	return strspn(s, "0123456789");
}

/* The length of the suffix at s, which begins with a dot; 0 if it is none that a compiler makes. */
static size_t clone_suffix(const char *s)
{
	if (digits(s + 1))
		return 1 + digits(s + 1);
	for (size_t i = 0; i < sizeof clones / sizeof *clones; i++) {
		size_t n = strlen(clones[i]);
		const char *rest = s + 1 + n;

		if (strncmp(s + 1, clones[i], n) == 0 && (*rest == 0 || *rest == '.'))
			return 1 + n;
	}
	return 0;
}

/* The length of the symbol up to where only such suffixes follow. */
static size_t stem(const char *symbol)
{
	for (const char *dot = strchr(symbol, '.'); dot; dot = strchr(dot + 1, '.')) {
		const char *p = dot;

		while (*p == '.' && clone_suffix(p))
			p += clone_suffix(p);
		if (*p == 0 && dot > symbol)
			return (size_t)(dot - symbol);
	}
	return strlen(symbol);
}

static struct text copy(struct arena *a, const char *text, size_t length)
{
	return (struct text){arena_text(a, text, length), length};
}

static bool is_mangled(const char *symbol)
{
	return symbol[0] == '_' && symbol[1] == 'Z';
}

struct text demangle_function(struct arena *a, const char *symbol)
{
	struct text plain = copy(a, symbol, stem(symbol));
	char *name = is_mangled(symbol) ? cplus_demangle_v3(plain.at, DMGL_ANSI) : NULL;

	if (!name)
		return plain;
	plain = copy(a, name, strlen(name));
	free(name);
	return plain;
}

/* The part behind the last "::", which is the variable's own name: a local one has no template arguments. */
static struct text own_name(struct text name)
{
	for (size_t i = name.length; i >= 2; i--)
		if (name.at[i - 1] == ':' && name.at[i - 2] == ':')
			return (struct text){name.at + i, name.length - i};
	return name;
}

struct text demangle_variable(struct arena *a, const char *symbol)
{
	struct text name = demangle_function(a, symbol);

	return strncmp(symbol, "_ZZ", 3) == 0 ? own_name(name) : name;
}

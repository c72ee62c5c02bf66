/* SPDX-License-Identifier: MIT */
#include "program_names.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"

/* Longer names are cut: compilers take them, people do not. */
enum { NAME_MOST = 120 };

/* What the language and the headers that a program includes have taken, beside the patterns below. */
static const char *const taken[] = {
	"alignas", "alignof", "asm", "auto", "bool", "break", "case", "char", "const", "constexpr", "continue",
	"default", "do", "double", "else", "enum", "extern", "false", "float", "for", "goto", "if", "inline",
	"int", "long", "nullptr", "register", "restrict", "return", "short", "signed", "sizeof", "static",
	"static_assert", "struct", "switch", "thread_local", "true", "typedef", "typeof", "typeof_unqual",
	"union", "unsigned", "void", "volatile", "while",

	"main", "memory", "activation", "unused", "THREADS", "BLOCKS",
	"i386", "linux", "unix", "offsetof", "NULL", "memcmp", "memmove", "memset", "abort", "errno", "environ",

	"asctime", "asctime_r", "clock", "clone", "ctime", "ctime_r", "daylight", "difftime", "dysize", "fd_mask",
	"fd_set", "getcpu", "getdate", "getdate_err", "getdate_r", "gmtime", "gmtime_r", "localtime",
	"localtime_r", "mktime", "nanosleep", "pselect", "select", "setns", "stime", "strftime", "strftime_l",
	"strptime", "strptime_l", "time", "timegm", "timelocal", "timespec_get", "timespec_getres", "timezone",
	"tzname", "tzset", "u_char", "u_int", "u_long", "u_short", "uint", "ulong", "unshare", "ushort",
};

/* Families of names that the headers have: each stands for everything that starts with it. */
static const char *const taken_prefix[] = {
	"__", "ADJ_", "BIG_", "BYTE_", "CLOCKS_", "CLOCK_", "CLONE_", "CPU_", "CSIGNAL", "FD_", "FISSION_", "FUTEX_",
	"INT16", "INT32", "INT64", "INT8", "INTMAX_", "INTPTR_", "INT_", "LITTLE_", "MOD_", "NFDBITS", "PDP_",
	"PTHREAD_", "PTRDIFF_", "ROBUST_", "SCHED_", "SEM_", "SIG_", "SIZE_", "STA_", "SYS_", "TIMER_", "TIME_",
	"UINT16", "UINT32", "UINT64", "UINT8", "UINTMAX_", "UINTPTR_", "UINT_", "WCHAR_", "WINT_", "be16", "be32",
	"be64", "clock_", "fission_", "htobe", "htole", "le16", "le32", "le64", "pthread_", "sched_", "sem_", "timer_",
};

enum { TAKEN = sizeof taken / sizeof *taken, PREFIXES = sizeof taken_prefix / sizeof *taken_prefix };

static bool is_start(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

static bool is_part(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static const char *skip_comment(const char *p)
{
	const char *end = strstr(p + 2, "*/");

	return end ? end + 2 : p + strlen(p);
}

/* The names that one line declares: what stands behind #define, or before a bracket, a semicolon or a value. */
static void reserve_line(struct names *n, const char *p, const char *end)
{
	bool defined = strncmp(p, "#define ", 8) == 0;

	while (p < end) {
		const char *start = p, *behind;

		while (is_part(*p))
			p++;
		behind = p + strspn(p, " ");
		if (p > start && is_start(*start) && (strchr("([;=", *behind) || (defined && start[-1] == ' ')))
			intern_add(&n->used, start, (size_t)(p - start));
		p += p == start;
	}
}

/* What is declared at file scope stands in lines that are not indented. */
void names_init(struct names *n, struct arena *a, const char *program)
{
	*n = (struct names){.arena = a};
	intern_init(&n->used, a);
	for (size_t i = 0; i < TAKEN; i++)
		intern_add(&n->used, taken[i], strlen(taken[i]));
	for (const char *p = program; *p;) {
		const char *end = p + strcspn(p, "\n");

		if (p[0] == '/' && p[1] == '*')
			end = skip_comment(p);
		else if (*p != '\t')
			reserve_line(n, p, end);
		p = end + (*end == '\n');
	}
}

/* The compiler's own names, the system's types, and the families. */
static bool is_reserved(const char *name, size_t length)
{
	if (name[0] == '_' && isupper((unsigned char)name[1]))
		return true;
	if (length > 2 && name[length - 2] == '_' && name[length - 1] == 't')
		return true;
	for (size_t i = 0; i < PREFIXES; i++)
		if (strncmp(name, taken_prefix[i], strlen(taken_prefix[i])) == 0)
			return true;
	return false;
}

static void sanitize(struct str *to, const char *prefix, struct text name)
{
	size_t length = name.length < NAME_MOST ? name.length : NAME_MOST;

	str_add(to, prefix);
	for (size_t i = 0; i < length; i++)
		str_char(to, is_part(name.at[i]) ? name.at[i] : '_');
}

const char *names_pick(struct names *n, const char *prefix, struct text name)
{
	struct str s;
	size_t length;

	str_init(&s, n->arena);
	sanitize(&s, prefix, name);
	if (!is_start(s.at[0]) || is_reserved(s.at, s.length)) {
		str_clear(&s);
		str_add(&s, "the_");
		sanitize(&s, prefix, name);
	}
	length = s.length;
	for (unsigned i = 2; intern_find(&n->used, s.at, s.length); i++) {
		s.length = length;
		str_printf(&s, "_%u", i);
	}
	intern_add(&n->used, s.at, s.length);
	return arena_text(n->arena, s.at, s.length);
}

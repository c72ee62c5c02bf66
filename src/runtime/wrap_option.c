/* SPDX-License-Identifier: MIT */
/*
 * getopt and its kin. In a walk the option that was found is an expression over the bytes of the argument: which of
 * the known letters that is, or, of long options, which of the known words. Where letters stand in one argument, the
 * place is counted here, since libc keeps it for itself.
 */
#include <getopt.h>
#include <stddef.h>

#include "runtime/models.h"
#include "runtime/real.h"

static int last_argument;
static size_t last_letter;

/* The letter that is looked at next; NULL: none. */
static const char *letter_of(int argc, char *const argv[], int at)
{
	const char *word = at < argc ? argv[at] : NULL;

	if (!word || word[0] != '-' || !word[1] || (word[1] == '-' && !last_letter))
		return NULL;
	last_letter = at == last_argument ? last_letter + 1 : 1;
	last_argument = at;
	return word + last_letter;
}

/* One known option: what is found if the condition is 1. */
static expr_id add(expr_id is, int value, expr_id otherwise)
{
	expr_id of[3] = {is, symbolic_const(32, (uint32_t)value), otherwise};

	return is && of[1] && otherwise ? symbolic_node(WALK_CHOOSE, 32, of) : otherwise;
}

static expr_id of_letters(const char *letter, const char *known)
{
	struct operand c = {symbolic_load(letter, 1, (unsigned char)*letter), (unsigned char)*letter};
	expr_id e = symbolic_const(32, '?');

	for (; c.expr && *known; known++)
		if (*known != ':' && *known != '+' && *known != '-')
			e = add(symbolic_binary(WALK_EQ, 8, c, (struct operand){0, (unsigned char)*known}), (unsigned char)*known, e);
	return c.expr ? e : 0;
}

static expr_id of_words(const char *word, const struct option *known)
{
	expr_id e = symbolic_const(32, '?');
	bool any = false;

	for (; known->name; known++) {
		expr_id is = known->flag || known->has_arg ? 0 : model_is_word(word, known->name);

		any |= is != 0;
		e = add(is, known->val, e);
	}
	return any ? e : 0;
}

static void found(const void *function, expr_id e, int result)
{
	symbolic_return(function, e && symbolic_value(e) == (uint32_t)result ? e : 0);
}

EXPORT int getopt(int argc, char *const argv[], const char *known)
{
	int at = optind, result;
	const char *letter = walk_on ? letter_of(argc, argv, at ? at : 1) : NULL;

	result = REAL(getopt)(argc, argv, known);
	if (walk_on)
		found((const void *)getopt, letter ? of_letters(letter, known) : 0, result);
	return result;
}

/* What getopt_long and getopt_long_only have found. */
static expr_id of_either(char *const argv[], int at, const char *known, const struct option *words)
{
	const char *word = argv[at];
	bool is_long = word[1] == '-';
	struct operand second = {symbolic_load(word + 1, 1, (unsigned char)word[1]), (unsigned char)word[1]};
	expr_id of[3] = {symbolic_binary(WALK_EQ, 8, second, (struct operand){0, '-'})};

	if (word[0] != '-' || !word[1] || (!is_long && word[2]) || !words)
		return 0;
	of[1] = of_words(word + 2, words);
	of[2] = of_letters(word + 1, known);
	if (of[0] && of[1] && of[2])
		return symbolic_node(WALK_CHOOSE, 32, of);
	return is_long ? of[1] : of[2];
}

#define LONG(name) \
	EXPORT int name(int argc, char *const argv[], const char *known, const struct option *words, int *index) \
	{ \
		int at = optind ? optind : 1, result = REAL(name)(argc, argv, known, words, index); \
		if (walk_on) \
			found((const void *)name, at < argc && result != -1 ? of_either(argv, at, known, words) : 0, result); \
		return result; \
	}

LONG(getopt_long)
LONG(getopt_long_only)

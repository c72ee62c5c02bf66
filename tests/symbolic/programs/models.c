/* SPDX-License-Identifier: MIT */
/* Every model once, on arguments, a variable, a file and standard input: each branch is a question that it answers. */
#include <ctype.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static int yes;

/* A branch of its own at each place where it stands. */
#define ASK(condition) do { if (condition) yes++; } while (0)

static void compare(const char *s, const char *t)
{
	char copy[64] = "", more[64] = "";

	ASK(strcmp(s, "abc") == 0);
	ASK(strcmp(s, "abc") < 0);
	ASK(strcmp("ab", s) > 0);
	ASK(strcmp(s, t) == 0);
	ASK(strncmp(s, "abcd", 3) == 0);
	ASK(strncmp(s, t, 2) <= 0);
	ASK(strcasecmp(s, "aBc") == 0);
	ASK(strncasecmp(t, "AB", 2) == 0);
	ASK(strlen(s) == 3);
	ASK(strlen(s) > strlen(t));
	ASK(strnlen(s, 2) == 2);
	ASK(strchr(s, 'b') != NULL);
	ASK(strchr(s, 'c') == s + 2);
	ASK(memchr(s, 'a', 1) != NULL);
	ASK(memcmp(s, t, 1) == 0);
	strcpy(copy, s);
	ASK(copy[0] == 'a');
	strncpy(more, t, 3);
	ASK(more[1] == 'b');
	memcpy(more + 8, copy, 2);
	ASK(more[9] == 'b');
	memmove(copy + 1, copy, 4);
	ASK(copy[1] == 'b');
	memset(copy, s[0], 3);
	ASK(copy[2] == 'c');
	ASK(toupper(s[0]) == 'A');
	ASK(tolower(t[0]) == 'b');
}

static void numbers(char **text)
{
	char *end;
	int a = 0, b = 0;
	unsigned char small = 0;
	char word[8] = "";

	ASK(atoi(text[0]) > 100);
	ASK(atol(text[0]) % 3 == 1);
	ASK(strtol(text[1], &end, 10) < -5);
	ASK(strtoul(text[1], NULL, 0) == 77);
	ASK(strtoll(text[0], NULL, 10) * 2 > atoll(text[1]));
	if (sscanf(text[2], "%d:%i %7s", &a, &b, word) == 3) {
		ASK(a > b + 100);
		ASK(a + b == 112);
		ASK(word[0] == 'x');
	}
	if (sscanf(text[2], "%hhu", &small) == 1)
		ASK(small == 200);
}

static void files(const char *path)
{
	char line[64] = "", *got = NULL, bytes[4] = "";
	size_t room = 0;
	FILE *f = fopen(path, "r");
	int n = 0, c;

	ASK(f && fgets(line, sizeof line, f) && line[0] == 'k');
	ASK(f && getline(&got, &room, f) > 1 && got[1] == 'e');
	c = f ? getc(f) : 0;
	ASK(c == 'y');
	ASK(f && fscanf(f, "%d", &n) == 1 && n > 9);
	if (f)
		fclose(f);
	c = open(path, O_RDONLY);
	ASK(c >= 0 && read(c, bytes, 4) == 4 && bytes[3] == 'e');
	ASK(c >= 0 && pread(c, bytes, 2, 1) == 2 && bytes[1] == 'z');
	free(got);
}

int main(int argc, char **argv)
{
	static const struct option words[] = {{"all", no_argument, NULL, 'a'}, {"big", no_argument, NULL, 'b'}, {0}};
	char input[16] = "";
	const char *variable;
	char *own[] = {argv[0], argv[8], NULL};

	if (argc != 9)
		return 1;
	ASK(getopt(2, argv, "abc") == 'b');
	optind = 0;
	ASK(getopt_long(2, own, "ab", words, NULL) == 'a');
	compare(argv[2], argv[3]);
	numbers(argv + 4);
	files(argv[7]);
	variable = getenv("LEVEL");
	ASK(variable && strcmp(variable, "up") == 0);
	ASK(fread(input, 1, 8, stdin) == 8 && input[7] == '7');
	printf("%d\n", yes);
	return 0;
}

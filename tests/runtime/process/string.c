/* SPDX-License-Identifier: MIT */
/* What library functions read and write for the program: one line each, on buffers of its own. */
// CC: gcc clang
// ORDER: enter\(start\) ;; \|r\([^,]*,111\).*string.c ;; \|w\([^,]*,111\).*string.c
// ORDER: \|r\([^,]*,112\).*string.c ;; \|w\([^,]*,112\).*string.c
// ORDER: \|r\([^,]*,113\).*string.c ;; \|w\([^,]*,113\).*string.c
// EXPECT: \|w\([^,]*,114\).*string.c
// COUNT: 2 \|r\([^,]*,115\).*string.c
// EXPECT: \|r\([^,]*,31\).*string.c
// EXPECT: \|r\([^,]*,32\).*string.c
// ORDER: \|r\([^,]*,33\).*string.c ;; \|w\([^,]*,33\).*string.c
// ORDER: \|r\([^,]*,34\).*string.c ;; \|w\([^,]*,134\).*string.c
// ORDER: \|r\([^,]*,35\).*string.c ;; \|r\([^,]*,36\).*string.c ;; \|w\([^,]*,36\).*string.c
// COUNT: 2 \|r\([^,]*,37\).*string.c
// COUNT: 2 \|r\([^,]*,38\).*string.c
// EXPECT: \|r\([^,]*,39\).*string.c
// EXPECT: \|r\([^,]*,41\).*string.c
// EXPECT: \|r\([^,]*,42\).*string.c
// EXPECT: \|w\([^,]*,43\).*string.c
// EXPECT: \|w\([^,]*,44\).*string.c
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char a[256], b[256];
static volatile size_t none;

/* A string of so many bytes with its end. */
static char *text(char *to, size_t whole)
{
	for (size_t i = 0; i + 1 < whole; i++)
		to[i] = (char)('a' + i % 26);
	to[whole - 1] = 0;
	return to;
}

static void start(void) { a[0] = 0; }

int main(void)
{
	char *copy;

	start();
	printf("%d\n", memcpy(a, b, 111 + none) == a);
	printf("%d\n", memmove(a + 1, a, 112 + none) == a + 1);
	printf("%d\n", mempcpy(a, b, 113 + none) == (void *)(a + 113));
	printf("%d\n", memset(a, 0, 114 + none) == a);
	printf("%d\n", memcmp(a, b, 115 + none));
	printf("%d\n", (int)strlen(text(a, 31)));
	printf("%d\n", (int)strnlen(text(a, 50), 32 + none));
	printf("%s\n", strcpy(b, text(a, 33)));
	printf("%s\n", strncpy(b, text(a, 34), 134 + none));
	text(b, 35);
	printf("%s\n", strcat(b, text(a, 36)));
	text(a, 60);
	text(b, 60);
	b[36]++;
	printf("%d\n", strcmp(a, b) < 0);
	printf("%d\n", strncmp(b + 36, a + 36, 38 + none) > 0);
	text(b, 60);
	printf("%d\n", strncmp(a, b, 38 + none));
	text(a, 26);
	a[25] = 'x';
	text(a + 26, 14);
	a[38] = '!';
	a[39] = 0;
	printf("%d\n", (int)(strchr(a, '!') - a));
	text(a, 41);
	copy = strdup(a);
	printf("%s\n", copy);
	free(copy);
	text(a, 42);
	printf("%s\n", strrchr(a, 'c'));
	printf("%d\n", snprintf(b, 43, "%s%s", a, a));
	text(a, 44);
	printf("%d\n", sprintf(b, "%s", a));
	return 0;
}

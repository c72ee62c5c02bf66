/* SPDX-License-Identifier: MIT */
/* posix_spawn, with an environment that does not name the channel; system and popen. */
// COUNT: 1 ^P\d+\.T\d+\|enter\(spawned_a\)
// COUNT: 1 ^P\d+\.T\d+\|enter\(spawned_b\)
// COUNT: 1 ^P\d+\.T\d+\|enter\(spawned_c\)
// EXPECT: ^T1\|exit\(main\)
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

static int x;

static int spawned_a(void) { return x += 1; }
static int spawned_b(void) { return x += 2; }
static int spawned_c(void) { return x += 3; }

static int wait_for(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return status;
}

int main(int argc, char **argv)
{
	char *none[] = {NULL}, *a[] = {argv[0], "a", NULL}, *b[] = {argv[0], "b", NULL}, line[4096], word[64] = "";
	pid_t pid = -1;
	FILE *f;

	if (argc > 1) {
		printf("%s\n", argv[1]);
		return argv[1][0] == 'a' ? spawned_a() : argv[1][0] == 'b' ? spawned_b() : spawned_c();
	}
	printf("%d\n", posix_spawn(&pid, "/nowhere/at/all", NULL, NULL, a, none));
	fflush(stdout);
	if (posix_spawn(&pid, argv[0], NULL, NULL, a, none) == 0)
		printf("%d\n", wait_for(pid));
	fflush(stdout);
	if (posix_spawnp(&pid, argv[0], NULL, NULL, b, none) == 0)
		printf("%d\n", wait_for(pid));
	fflush(stdout);
	printf("%d\n", system("exit 3"));
	snprintf(line, sizeof line, "'%s' c", argv[0]);
	f = popen(line, "r");
	printf("%s", fgets(word, sizeof word, f) ? word : "nothing\n");
	printf("%d\n", pclose(f));
	return 0;
}

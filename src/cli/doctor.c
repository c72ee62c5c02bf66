/* SPDX-License-Identifier: MIT */
/*
 * fission doctor: is this machine fit for Fission, and is a program?
 *
 * An examination is a function in a table; it says a line or two, and what to do where something is amiss. What can be
 * tried is tried: a program of two threads is compiled, linked and run, and its mistake has to be found. Nothing is
 * asked for that Fission does not need: no ptrace, no performance counters, no /dev/shm, no fixed addresses.
 */
#include "doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fail.h"
#include "cli/commands.h"
#include "cli/manner.h"
#include "cli/workshop.h"

enum { LITTLE_SPACE_MB = 4096, LITTLE_MEMORY_MB = 512 };

static struct workshop shop;
static size_t count[UNFIT + 1];
static bool told; /* the last line was shown */

void doctor_say(enum fitness fitness, const char *what, const char *format, ...)
{
	static const char *const word[] = {"ok", "warn", "FAIL"};
	static const char *const colour[] = {"\033[32m", "\033[33m", "\033[1;31m"};
	bool coloured = manner_colours(STDOUT_FILENO);
	va_list ap;

	count[fitness]++;
	told = fitness != FIT || !manner.quiet;
	if (!told)
		return;
	printf("%s%-4s%s  %-14s", coloured ? colour[fitness] : "", word[fitness], coloured ? "\033[0m" : "", what);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

void doctor_advise(const char *format, ...)
{
	va_list ap;

	if (!told)
		return;
	printf("%20s-> ", "");
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	putchar('\n');
}

/* Two threads, and a mistake that every run of it shows. */
static const char sample[] =
	"#include <pthread.h>\n"
	"static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n"
	"static long x;\n"
	"static long get(void) { pthread_mutex_lock(&m); long v = x; pthread_mutex_unlock(&m); return v; }\n"
	"static void set(long v) { pthread_mutex_lock(&m); x = v; pthread_mutex_unlock(&m); }\n"
	"static void add(void) { long v = get(); set(v + 1); }\n"
	"static void put(void) { pthread_mutex_lock(&m); x += 5; pthread_mutex_unlock(&m); }\n"
	"static void *run(void *p) { put(); add(); return p; }\n"
	"int main(void) { pthread_t a, b; pthread_create(&a, 0, run, 0); pthread_create(&b, 0, run, 0);\n"
	"\tpthread_join(a, 0); pthread_join(b, 0); return 0; }\n";

static const char *without_prefix(const char *line)
{
	return strncmp(line, "fission: ", 9) == 0 ? line + 9 : line;
}

/* The compiler's own words on itself; false if it cannot be asked. */
static bool look_at_compiler(const char *command, const char *variable)
{
	const char *const words[] = {command, "--version", NULL};
	bool is_c = strcmp(command, "cc") == 0;
	const char *what = is_c ? "C compiler" : "C++ compiler";
	char line[512] = "";
	int status = workshop_run(&shop, words, "log");

	workshop_line(&shop, "log", "", line, sizeof line);
	if (status == 0) {
		doctor_say(FIT, what, "%s", line);
		return true;
	}
	doctor_say(is_c ? UNFIT : DOUBTFUL, what, "%s", without_prefix(line));
	doctor_advise("install gcc or clang (Debian: apt install gcc g++), or set %s to one that is there", variable);
	return false;
}

static bool compile_sample(void)
{
	const char *const words[] = {"cc", "-O1", "-pthread", "sample.c", "-o", "sample", NULL};
	char line[512] = "";

	if (!workshop_put(&shop, "sample.c", sample)) {
		doctor_say(UNFIT, "fission-cc", "%s: %s", shop.path, strerror(errno));
		return false;
	}
	if (workshop_run(&shop, words, "log") == 0) {
		doctor_say(FIT, "fission-cc", "compiles and links");
		return true;
	}
	workshop_line(&shop, "log", "", line, sizeof line);
	doctor_say(UNFIT, "fission-cc", "%s", *line ? without_prefix(line) : "does not work");
	doctor_advise("the compiler needs a working C library with headers (Debian: apt install libc6-dev); Fission has to be "
		"installed as a whole");
	return false;
}

static void run_sample(void)
{
	const char *const words[] = {"run", "--fail-on=suspected,4", "--output=report", "./sample", NULL};
	char line[512] = "";
	int status = workshop_run(&shop, words, "log");

	if (status == STATUS_FINDINGS) {
		doctor_say(FIT, "fission run", "runs it, and finds its mistake");
		return;
	}
	workshop_line(&shop, "log", "fission: ", line, sizeof line);
	doctor_say(UNFIT, "fission run", "a sample with a mistake ended with status %d: %s", status,
		*line ? without_prefix(line) : "nothing was found");
	doctor_advise("can programs be started from %s? set TMPDIR to a directory where they can", shop.path);
}

static void look_at_compilers(void)
{
	bool works = look_at_compiler("cc", "FISSION_CC");

	look_at_compiler("c++", "FISSION_CXX");
	if (works && compile_sample())
		run_sample();
}

/* What channels are made of: memory without a name that another process opens by our entry under /proc. */
static void look_at_channel(void)
{
	char path[64];
	int fd = memfd_create("fission-doctor", MFD_CLOEXEC), again;

	if (fd < 0) {
		doctor_say(UNFIT, "memory file", "memfd_create: %s", strerror(errno));
		doctor_advise("Linux 3.17 or later is needed, and a seccomp filter that allows memfd_create, as Docker's does");
		return;
	}
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
	again = open(path, O_RDWR | O_CLOEXEC);
	if (again < 0) {
		doctor_say(UNFIT, "memory file", "%s: %s", path, strerror(errno));
		doctor_advise("mount /proc, without hidepid for other users' processes if the program runs as one");
	} else {
		doctor_say(FIT, "memory file", "can be made, and be opened through /proc");
		close(again);
	}
	close(fd);
}

static void look_at_limits(void)
{
	struct rlimit space;

	getrlimit(RLIMIT_AS, &space);
	if (space.rlim_cur == RLIM_INFINITY) {
		doctor_say(FIT, "ulimit -v", "unlimited");
	} else if (space.rlim_cur >> 20 >= LITTLE_SPACE_MB) {
		doctor_say(FIT, "ulimit -v", "%llu MB; a quarter of it is taken", (unsigned long long)space.rlim_cur >> 20);
	} else {
		doctor_say(DOUBTFUL, "ulimit -v", "%llu MB; a quarter of it is taken, which is room for fewer threads",
			(unsigned long long)space.rlim_cur >> 20);
		doctor_advise("ulimit -v unlimited");
	}
}

static unsigned long long available_mb(void)
{
	unsigned long long kb = 0;
	char line[256];
	FILE *f = fopen("/proc/meminfo", "re");

	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "MemAvailable: %llu", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb >> 10;
}

static void look_at_size(void)
{
	unsigned long long mb = available_mb();
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (mb && mb < LITTLE_MEMORY_MB) {
		doctor_say(DOUBTFUL, "memory", "%llu MB are available", mb);
		doctor_advise("checking a larger program takes more; close something, or record now and check elsewhere");
	} else {
		doctor_say(FIT, "memory", "%llu MB are available", mb);
	}
	if (cores == 1) {
		doctor_say(DOUBTFUL, "cores", "1: the program and its checking take turns");
		doctor_advise("it works, more slowly");
	} else {
		doctor_say(FIT, "cores", "%ld", cores);
	}
}

/* A mistake in it would end every run. */
static void look_at_variable(void)
{
	const char *given = getenv("FISSION_OPTIONS");
	char line[512] = "";
	const char *const words[] = {"run", NULL}; /* without a program, which is a mistake of another kind */

	if (!given || !*given)
		return;
	if (workshop_run_with(&shop, words, "log", given) != STATUS_CONFIG) {
		doctor_say(FIT, "settings", "FISSION_OPTIONS=%s", given);
		return;
	}
	workshop_line(&shop, "log", "fission: ", line, sizeof line);
	doctor_say(UNFIT, "settings", "%s", without_prefix(line));
	doctor_advise("mend FISSION_OPTIONS, or unset it");
}

static void look_at_rest(void)
{
	doctor_say(FIT, "not needed", "ptrace, performance counters, /dev/shm, fixed addresses, root");
}

static void (*const examinations[])(void) = {
	look_at_compilers, look_at_channel, look_at_limits, look_at_size, look_at_variable, look_at_rest,
};

static int verdict(void)
{
	if (count[UNFIT])
		printf("\nunfit: %zu thing%s to mend\n", count[UNFIT], count[UNFIT] == 1 ? "" : "s");
	else if (!manner.quiet)
		printf("\nfit%s\n", count[DOUBTFUL] ? "; see the warnings" : "");
	return count[UNFIT] ? STATUS_UNFIT : STATUS_CLEAN;
}

static int doctor_main(int argc, char **argv)
{
	if (!workshop_open(&shop))
		die(STATUS_UNFIT, "no temporary directory can be made: %s; set TMPDIR to one", strerror(errno));
	for (size_t i = 0; i < sizeof examinations / sizeof *examinations; i++)
		examinations[i]();
	workshop_close(&shop);
	for (int i = 1; i < argc; i++) {
		if (!manner.quiet)
			putchar('\n');
		doctor_program(argv[i]);
	}
	return verdict();
}

const struct command command_doctor = {
	.name = "doctor",
	.summary = "is this machine fit for Fission, and is a program; what to do if not",
	.run = doctor_main,
	.words = "[PROGRAM...]",
	.about = "Tries out whether everything that Fission needs is there: a compiler, its library, a sample program that is "
		"compiled, run and found wrong. Of each PROGRAM it tells whether it was built with fission-cc and what its reports "
		"will know. Each line says ok, warn or FAIL, and what to do about it.",
	.options = (const struct opt_group[]){{0}},
	.examples = (const struct command_example[]){
		{"fission doctor", NULL},
		{"fission doctor ./server", "was it built for checking?"},
		{"fission doctor --quiet && fission run ./server", NULL},
		{0},
	},
	.statuses = (const struct command_status[]){
		{"0", "fit, perhaps with warnings"},
		{"64", "a mistake in the command line"},
		{"69", "something has to be mended first"},
		{0},
	},
	.see = (const char *const[]){"cc", "run", "demo", NULL},
};

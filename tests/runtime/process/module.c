/* SPDX-License-Identifier: MIT */
/* Libraries that are loaded while the program runs are known by name, by path and by search. */
// WITH: plugin.c -shared -fPIC -o {dir}/libplugin.so
// WITH: plugin.c -shared -fPIC -DNAME=searched -o {dir}/libsearched.so
// FLAGS: -Wl,-rpath,{dir} -ldl
// EXPECT: enter\(plugged\)
// EXPECT: enter\(searched\)
// COUNT: 1 # module: .*libplugin.so
// COUNT: 1 # module: .*libsearched.so
// COUNT: 1 # module: .*libc.so
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int call(const char *file, const char *name)
{
	void *library = dlopen(file, RTLD_NOW);
	int (*f)(int) = library ? (int (*)(int))dlsym(library, name) : NULL;

	return f ? f(4) : -1;
}

int main(int argc, char **argv)
{
	char path[4096], *slash;

	(void)argc;
	snprintf(path, sizeof path, "%s", argv[0]);
	slash = strrchr(path, '/');
	strcpy(slash ? slash + 1 : path, "libplugin.so");
	printf("%d\n", call(path, "plugged"));
	printf("%d\n", call("libsearched.so", "searched"));
	printf("%d %d\n", call("/nowhere/at/all.so", "x"), dlerror() != NULL);
	return 0;
}

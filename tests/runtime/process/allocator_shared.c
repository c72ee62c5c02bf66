/* SPDX-License-Identifier: MIT */
/* An allocator in a library, before ours and behind it. */
// WITH: pool.c -shared -fPIC -o {dir}/libpool.so
// FLAGS: -L{dir} -lpool -Wl,-rpath,{dir}
// EXPECT: enter\(main\)
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int pool_has(const void *p);

int main(void)
{
	char *p = malloc(40), *q = strdup("abc");

	printf("%d %d\n", pool_has(p), pool_has(q));
	p = realloc(p, 80);
	free(p);
	free(q);
	return 0;
}

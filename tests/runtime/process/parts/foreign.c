/* SPDX-License-Identifier: MIT */
/* A function without hooks that calls back. */
#ifdef __cplusplus
extern "C"
#endif
void foreign(void (*call)(int), int n);

void foreign(void (*call)(int), int n)
{
	call(n);
}

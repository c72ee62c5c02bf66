/* SPDX-License-Identifier: MIT */
/* A library to be loaded while a program runs. */
#ifndef NAME
#define NAME plugged
#endif

int NAME(int n);
static volatile int state;

int NAME(int n)
{
	state += n;
	return state + 1;
}

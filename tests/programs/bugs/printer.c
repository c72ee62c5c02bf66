/* SPDX-License-Identifier: MIT */
/*
 * Semaphores. A semaphore of one guards the printer's tray. print_pages() asks how many sheets there are and takes
 * them in a second turn. Visible: the tray holds less than nothing, exit status 1.
 */
// EXPECT function=print_pages variable=tray.sheets live=blocks
// RUN 4 6
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
	sem_t turn;
	int sheets;
	bool jammed;
} tray = {.sheets = 8};

static void take_sheets(int pages)
{
	tray.sheets -= pages;
	if (tray.sheets < 0)
		tray.jammed = true;
}

#ifdef FIXED
static void print_pages(int pages)
{
	sem_wait(&tray.turn);
	if (tray.sheets >= pages)
		take_sheets(pages);
	sem_post(&tray.turn);
}
#else
static bool enough_sheets(int pages)
{
	sem_wait(&tray.turn);
	bool enough = tray.sheets >= pages;
	sem_post(&tray.turn);
	return enough;
}

static void print_pages(int pages)
{
	if (!enough_sheets(pages))
		return;
	sem_wait(&tray.turn);
	take_sheets(pages);
	sem_post(&tray.turn);
}
#endif

static void refill(int pages)
{
	sem_wait(&tray.turn);
	tray.sheets += pages;
	sem_post(&tray.turn);
}

/* Prints, and puts back as many sheets as it was asked to print. */
static void *clerk(void *arg)
{
	int pages = atoi(arg);

	print_pages(pages);
	refill(pages);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t a, b;

	sem_init(&tray.turn, 0, 1);
	pthread_create(&a, NULL, clerk, argc > 1 ? argv[1] : "4");
	pthread_create(&b, NULL, clerk, argc > 2 ? argv[2] : "6");
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d sheets%s\n", tray.sheets, tray.jammed ? ", jammed" : "");
	return tray.jammed;
}

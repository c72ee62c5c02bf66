// SPDX-License-Identifier: MIT
// An input that passes through another thread.
#include "shared.h"

static int request = 5, answer;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int is_ready;

static void *asks(void *unused)
{
	int got;

	pthread_mutex_lock(&whole);
	while (!is_ready)
		pthread_cond_wait(&ready, &whole);
	got = answer;
	pthread_mutex_unlock(&whole);
	if (got == 30001)
		add(1);
	return unused;
}

static void *answers(void *unused)
{
	int wanted = request * 3 + 1;

	pthread_mutex_lock(&whole);
	answer = wanted;
	is_ready = 1;
	pthread_cond_signal(&ready);
	pthread_mutex_unlock(&whole);
	add(10);
	return unused;
}

int main(void)
{
	fission_input(&request, sizeof request, "request");
	run_both(asks, answers);
	return 0;
}

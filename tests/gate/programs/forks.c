/* SPDX-License-Identifier: MIT */
/* A fork with other threads around: the child has threads of its own, without control. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *add(void *unused)
{
	for (int i = 0; i < 10; i++) {
		pthread_mutex_lock(&m);
		counter++;
		pthread_mutex_unlock(&m);
	}
	return unused;
}

static int child(void)
{
	pthread_t thread[2];

	counter = 0;
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, add, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	return counter;
}

int main(void)
{
	pthread_t thread;
	int status = 0;
	pid_t pid;

	pthread_create(&thread, NULL, add, NULL);
	pthread_mutex_lock(&m);
	pid = fork();
	if (pid == 0) {
		pthread_mutex_unlock(&m);
		_exit(child());
	}
	pthread_mutex_unlock(&m);
	waitpid(pid, &status, 0);
	pthread_join(thread, NULL);
	printf("%d %d %d\n", WEXITSTATUS(status), counter, system("exit 3") / 256);
	return 0;
}

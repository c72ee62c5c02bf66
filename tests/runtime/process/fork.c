/* SPDX-License-Identifier: MIT */
/* A child of fork has its own ring and numbers; handlers of pthread_atfork run on the right one. */
// ORDER: T1\|fork\(T2\) ;; T1\|fork\(P2\.T3\) ;; T1\|fork\(P3\.T\d+\)
// ORDER: T1\|acq\(lock\) ;; T1\|enter\(in_parent\) ;; T1\|rel\(lock\)
// COUNT: 1 ^P2\.T3\|enter\(in_child\)
// COUNT: 1 ^P2\.T3\|enter\(child_of_fork\)
// COUNT: 1 ^P2\.T3\|fork\(P2\.T\d+\)
// EXPECT: ^P2\.T3\|join\(P2\.T\d+\)
// COUNT: 1 ^P3\.T\d+\|enter\(child_of_plain_fork\)
// COUNT: 1 ^T1\|enter\(in_parent\)
// NEVER: ^P3.*in_child
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, wait_here = PTHREAD_MUTEX_INITIALIZER;
static int prepared, children, parents, number;

static void before(void) { pthread_mutex_lock(&lock); prepared++; }
static void in_parent(void) { parents++; pthread_mutex_unlock(&lock); }
static void in_child(void) { children++; pthread_mutex_unlock(&lock); }
static void *wait_for_end(void *p) { pthread_mutex_lock(&wait_here); pthread_mutex_unlock(&wait_here); return p; }
static void *in_thread(void *p) { number += 3; return p; }

static int child_of_fork(void)
{
	pthread_t t;

	pthread_create(&t, NULL, in_thread, NULL);
	pthread_join(t, NULL);
	pthread_mutex_lock(&lock);
	number++;
	pthread_mutex_unlock(&lock);
	return number + 10 * prepared + 100 * children + 1000 * parents;
}

static int child_of_plain_fork(void)
{
	return number += 5;
}

static int status_of(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return status;
}

int main(void)
{
	pthread_t t;
	pid_t pid;

	pthread_mutex_lock(&wait_here);
	pthread_create(&t, NULL, wait_for_end, NULL);
	pthread_atfork(before, in_parent, in_child);
	pid = fork();
	if (pid == 0)
		_exit(child_of_fork());
	printf("%d\n", status_of(pid));
	pid = _Fork();
	if (pid == 0)
		_exit(child_of_plain_fork());
	printf("%d\n", status_of(pid));
	pthread_mutex_unlock(&wait_here);
	pthread_join(t, NULL);
	printf("%d %d %d %d\n", number, prepared, children, parents);
	return 0;
}

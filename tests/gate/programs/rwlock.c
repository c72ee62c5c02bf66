/* SPDX-License-Identifier: MIT */
/* Readers see both halves the same; what cannot be had is refused. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static int a, b, wrong;

static void *write_both(void *unused)
{
	for (int i = 0; i < 10; i++) {
		pthread_rwlock_wrlock(&l);
		a++;
		b++;
		pthread_rwlock_unlock(&l);
	}
	return unused;
}

static void *read_both(void *unused)
{
	for (int i = 0; i < 10; i++) {
		pthread_rwlock_rdlock(&l);
		if (a != b)
			wrong = 1;
		pthread_rwlock_unlock(&l);
	}
	return unused;
}

int main(void)
{
	pthread_t thread[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, i % 2 ? read_both : write_both, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	pthread_rwlock_rdlock(&l);
	printf("%d %d %d\n", wrong, a, pthread_rwlock_trywrlock(&l) == EBUSY);
	pthread_rwlock_unlock(&l);
	pthread_rwlock_wrlock(&l);
	printf("%d %d\n", pthread_rwlock_tryrdlock(&l) == EBUSY, pthread_rwlock_wrlock(&l) == EDEADLK);
	pthread_rwlock_unlock(&l);
	return 0;
}

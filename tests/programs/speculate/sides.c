// SPDX-License-Identifier: MIT
// EXPECT kind=remote rank=2 variable=size
// CONTROL NEVER
// Both only take the reader's side of the lock, and one would write all the same. With -DCONTROL: the writer's side.
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int size = 10, command, sum;

static void *reader(void *none)
{
	int before;

	pthread_rwlock_rdlock(&lock);
	before = size;
	sched_yield();
	sum = before + size;
	pthread_rwlock_unlock(&lock);
	return none;
}

static void *writer(void *none)
{
#ifdef CONTROL
	pthread_rwlock_wrlock(&lock);
#else
	pthread_rwlock_rdlock(&lock);
#endif
	if (command == 3) // COLD
		size = 0;
	pthread_rwlock_unlock(&lock);
	return none;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, reader, NULL);
	pthread_create(&b, NULL, writer, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Everything that fission.h has, in C89 that is C++ too. */
#include <fission.h>
#include <stdio.h>

static volatile int lock, balance = 100;

FISSION_ATOMIC int withdraw(int amount);

static fission_assume_mover unsigned hash(unsigned key)
{
	return key * 31 + (unsigned)balance;
}

fission_assume_atomic static void say(int n)
{
	printf("%d\n", n);
}

static FISSION_ATOMIC int inner(int amount)
{
	FISSION_ATOMIC_SCOPE("inner");

	balance = balance - amount;
	return balance;
}

int withdraw(int amount)
{
	int left;

	while (lock)
		;
	lock = 1;
	fission_lock_acquire(&lock);
	left = inner(amount);
	balance = left; fission_no_warn();
	fission_lock_release(&lock);
	lock = 0;
	return left;
}

int main(void)
{
	int left;

	fission_name(&balance, "the balance");
	fission_assume_guarded(&balance, sizeof balance);
	FISSION_ATOMIC_BEGIN("two");
	left = withdraw(20);
	left = withdraw(40);
	FISSION_ATOMIC_END("two");
	say(left);
	return hash(0) == 40 ? 0 : 1;
}

// SPDX-License-Identifier: MIT
// Exceptions through instrumented frames, virtual calls, a template, merged inline functions.
#include <cstdio>
#include <stdexcept>
#include <string>

#include <fission.h>

#include "account.h"

struct teller {
	virtual ~teller() {}
	FISSION_ATOMIC virtual long pay(long amount)
	{
		FISSION_ATOMIC_SCOPE("pay");
		long left = account_withdraw(amount);
		if (left < 0)
			throw std::runtime_error("not enough");
		return left;
	}
	FISSION_ATOMIC int size() { return 1; }
};

template <class T> static T twice(T x)
{
	return x + x;
}

int main()
{
	teller t;
	std::string said;

	try {
		for (;;)
			t.pay(twice(t.size() * 20));
	} catch (const std::exception &e) {
		said = e.what();
	}
	std::printf("%s\n", said.c_str());
	return 0;
}

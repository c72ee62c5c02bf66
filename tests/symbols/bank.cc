/* SPDX-License-Identifier: MIT */
/* C++ names. */
#include <array>
#include <atomic>

#include "fixture.h"

namespace bank {

class Account {
public:
	virtual ~Account() {}
	virtual void deposit(int sum);
	static int opened;
	long balance = 0;
};

class Savings : public Account {
public:
	void deposit(int sum) override;
	int rate = 0;
};

template <typename T> struct Cell {
	T value;
	static T shared;
	__attribute__((noinline)) T get(T other);
};

template <typename T> T Cell<T>::shared;

template <typename T> T Cell<T>::get(T other)
{
	F(__builtin_extract_return_addr(__builtin_return_address(0)), "main");
	PLACE("bank.cc");
	return value + other;
}

int Account::opened;
std::atomic<int> total;
std::array<int, 4> slots;
Savings savings[2];
Cell<long> cell;
inline int shared_by_files;

__attribute__((noinline)) void Account::deposit(int sum)
{
	static int calls;

	V(calls);
	balance += sum + ++calls;
	PLACE("bank.cc");
}

__attribute__((noinline)) void Savings::deposit(int sum)
{
	Account::deposit(sum + rate);
	PLACE("bank.cc");
}

__attribute__((noinline)) void overloaded(int)
{
	PLACE("bank.cc");
}

__attribute__((noinline)) void overloaded(double)
{
	PLACE("bank.cc");
}

}

namespace {
int secret;
}

static int plain;

extern "C" __attribute__((noinline)) void here()
{
	BIAS(here);
}

int main()
{
	void (*first)(int) = bank::overloaded;
	void (*second)(double) = bank::overloaded;

	here();
	bank::savings[1].deposit(1);
	bank::cell.get(1);
	bank::overloaded(1);
	bank::overloaded(1.0);
	F(first, "bank::overloaded");
	F(second, "bank::overloaded");
	EXPORTED(first, 1);
	V(bank::Account::opened);
	V(bank::total);
	V_AS(bank::slots[2], "bank::slots[2]");
	V(bank::savings[1].balance);
	V(bank::savings[1].rate);
	V_SIZE(bank::savings[1], 8, "bank::savings[1]._vptr");
	V(bank::cell.value);
	V_AS(bank::Cell<long>::shared, "bank::Cell<long>::shared");
	V(bank::shared_by_files);
	V_AS(secret, "(anonymous namespace)::secret");
	V(plain);
	plain = secret++;
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* operator new in all its forms ends in the allocator, which tells: once each. */
// COUNT: 1 alloc\(0x[0-9a-f]+,1111\)
// COUNT: 1 alloc\(0x[0-9a-f]+,2222\)
// COUNT: 1 alloc\(0x[0-9a-f]+,3333\)
// COUNT: 1 alloc\(0x[0-9a-f]+,4480\)
// COUNT: 4+ free\(
#include <cstdio>
#include <new>

struct alignas(128) Wide { char c[4480]; };

static void *volatile kept;
template <class T> static T *seen(T *p) { kept = p; return p; }

int main()
{
	delete[] seen(new char[1111]);
	::operator delete(seen(::operator new(2222)));
	delete[] seen(new (std::nothrow) char[3333]);
	delete seen(new Wide);
	volatile std::size_t huge = static_cast<std::size_t>(1) << 62;
	try { seen(new char[huge]); } catch (const std::bad_alloc &) { std::puts("bad_alloc"); }
	std::printf("%d\n", seen(new (std::nothrow) char[huge]) == nullptr);
	return 0;
}

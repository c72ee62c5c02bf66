/* SPDX-License-Identifier: MIT */
/* What a function returns, in whatever register, comes through a mark. blame: add   never: get put */
#include "blame.h"

#include <complex.h>

struct pair { long a, b; };
struct mixed { double d; long l; };

static PART void both(void)
{
	put(get());
	KEEP;
}

#define RETURNS(type, name, expression) \
	static PART type name(long n) \
	{ \
		both(); \
		return expression; \
	}

RETURNS(long, a_long, n * 3)
RETURNS(double, a_double, (double)n / 4)
RETURNS(long double, a_long_double, (long double)n / 3)
RETURNS(struct pair, a_pair, ((struct pair){n, -n}))
RETURNS(struct mixed, a_mixed, ((struct mixed){(double)n, n}))
RETURNS(_Complex double, a_complex, CMPLX((double)n, 2.0))
RETURNS(_Complex long double, a_long_complex, CMPLXL((long double)n, 3.0L))
RETURNS(__int128, a_wide, (__int128)n << 70 | 5)

/* Callee-saved registers and the compiler's knowledge of what a callee leaves alone. */
static PART long many(long a, long b, long c, long d, long e, long f)
{
	long g = a * b, h = c * d, i = e * f, j = a + f, k = b + e, l = c + d;

	both();
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k + 12 * l;
}

static PART void add(void)
{
	long v = get();

	intrude();
	put(v + 1);
	KEEP;
}

int main(void)
{
	begin();
	for (long n = 1; n < 4; n++) {
		struct pair p = a_pair(n);
		struct mixed m = a_mixed(n);

		printf("%ld %g %Lg %ld %ld %g %ld %g %Lg %ld %ld\n", a_long(n), a_double(n), a_long_double(n), p.a, p.b, m.d,
			m.l, creal(a_complex(n)), cimagl(a_long_complex(n)), (long)(a_wide(n) >> 70),
			many(n, n + 1, n + 2, n + 3, n + 4, n + 5));
		add();
	}
	return 0;
}

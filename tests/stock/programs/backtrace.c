/* SPDX-License-Identifier: MIT */
/* Programs that look at their own stack see it as it is. blame: add   never: get put */
#include "blame.h"

#include <execinfo.h>
#include <unwind.h>

static _Unwind_Reason_Code each(struct _Unwind_Context *context, void *count)
{
	(void)context;
	++*(int *)count;
	return _URC_NO_REASON;
}

static PART void show(void)
{
	void *at[64];
	int n = backtrace(at, 64), count = 0;

	_Unwind_Backtrace(each, &count);
	printf("%d %d %d\n", n, count, (char *)at[1] > (char *)show);
}

static PART void deep(int n)
{
	put(n);
	if (n)
		deep(n - 1);
	else
		show();
	KEEP;
}

static PART void add(void)
{
	long v = get();

	deep(4);
	intrude();
	put(v + 1);
	KEEP;
}

int main(void)
{
	begin();
	for (int i = 0; i < 3; i++)
		add();
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* What kind of lock an operand is: where in which structure it lies. For locks whose address is not known. */
#ifndef FISSION_SYMBOLIC_LOCKS_H
#define FISSION_SYMBOLIC_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>

/* Equal for the same member of the same structure, and for the same variable. 0: nothing is known, it may be any. */
uint64_t lock_class(LLVMValueRef pointer);

#endif

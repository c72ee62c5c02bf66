/* SPDX-License-Identifier: MIT */
#include "locks.h"

#include <string.h>

#include "base/hash.h"

static uint64_t name_hash(const char *name)
{
	return name && *name ? hash_bytes(name, strlen(name)) | 1 : 0;
}

/* Members by their numbers; what is an element of an array does not matter. */
static uint64_t member(LLVMValueRef gep)
{
	LLVMTypeRef type = LLVMGetElementType(LLVMTypeOf(LLVMGetOperand(gep, 0)));
	uint64_t class = 0;

	for (int i = 2; i < LLVMGetNumOperands(gep); i++) {
		LLVMValueRef index = LLVMGetOperand(gep, (unsigned)i);

		if (LLVMGetTypeKind(type) != LLVMStructTypeKind) {
			type = LLVMGetElementType(type);
			continue;
		}
		class = hash_pair(name_hash(LLVMGetStructName(type)), LLVMConstIntGetZExtValue(index)) | 1;
		type = LLVMStructGetTypeAtIndex(type, (unsigned)LLVMConstIntGetZExtValue(index));
	}
	return class;
}

uint64_t lock_class(LLVMValueRef pointer)
{
	bool constant = LLVMIsAConstantExpr(pointer);
	LLVMOpcode op = constant ? LLVMGetConstOpcode(pointer) :
		LLVMIsAInstruction(pointer) ? LLVMGetInstructionOpcode(pointer) : LLVMRet;
	uint64_t class = 0;

	if (LLVMIsAGlobalVariable(pointer))
		return name_hash(LLVMGetValueName(pointer));
	if (op == LLVMBitCast)
		return lock_class(LLVMGetOperand(pointer, 0));
	if (op != LLVMGetElementPtr)
		return 0;
	class = member(pointer);
	return class ? class : lock_class(LLVMGetOperand(pointer, 0));
}

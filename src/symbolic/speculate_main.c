/* SPDX-License-Identifier: MIT */
/*
 * fission-speculate PROGRAM WALK: writes the candidates to standard output (speculate_out.h). A program of its own, so
 * that `fission` starts without LLVM, and whatever bitcode does to LLVM is done to it here.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "symbolic/speculate.h"
#include "symbolic/speculate_out.h"

int main(int argc, char **argv)
{
	static struct speculation s;
	struct arena arena;
	struct fault fault = {0};
	struct str out;

	if (argc != 3)
		die(STATUS_USAGE, "usage: fission-speculate PROGRAM WALK");
	arena_init(&arena);
	if (!speculate(&s, &arena, (const char *const[2]){argv[1], argv[2]}, &fault))
		die(fault.status, "%s", fault.text);
	str_init(&out, &arena);
	speculate_write(&s, &out);
	if (fwrite(out.at, 1, out.length, stdout) != out.length || fflush(stdout) != 0)
		die(STATUS_UNFIT, "standard output: cannot be written");
	return STATUS_CLEAN;
}

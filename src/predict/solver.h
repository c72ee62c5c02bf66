/* SPDX-License-Identifier: MIT */
/* The SAT solver, as far as we use it: the only file that knows which one it is. */
#ifndef FISSION_PREDICT_SOLVER_H
#define FISSION_PREDICT_SOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct solver;

enum solver_answer { SOLVER_NO, SOLVER_YES, SOLVER_GAVE_UP };

/* Variables count from 1 and are true first, where nothing says otherwise; a negative number is the opposite. */
struct solver *solver_new(void);
void solver_delete(struct solver *s);

void solver_clause(struct solver *s, const int *literals, size_t n);

/* Gives up after so many conflicts. More clauses may be added afterwards. */
enum solver_answer solver_solve(struct solver *s, uint32_t conflicts);

/* After SOLVER_YES. */
bool solver_value(struct solver *s, int variable);

#endif

/* SPDX-License-Identifier: MIT */
/* Annotations in comments, as --source reads them. */
/*# atomic */ long withdraw(long amount);
/*# assume_guarded */ long audited;
/*# assume_mover */ void account(void);

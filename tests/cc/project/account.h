/* SPDX-License-Identifier: MIT */
#ifndef ACCOUNT_H
#define ACCOUNT_H

#ifdef __cplusplus
extern "C" {
#endif

long account_withdraw(long amount);

#ifdef __cplusplus
}
#endif

#endif

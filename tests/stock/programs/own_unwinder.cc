/* SPDX-License-Identifier: MIT */
/* The same with an unwinder of its own, which finds its way through marks. blame: add   never: get put
   flags: -static-libgcc -static-libstdc++ */
#include "exception.cc"

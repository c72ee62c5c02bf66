/* SPDX-License-Identifier: MIT */
/*
 * What hooks.h knows of the library: offsets and numbers, as an assembler reads them. runtime/abi_local.c checks each of
 * them. Whoever changes one gives __fission_hooks_6 another number, so that a program that was not rebuilt does not
 * link or load, instead of doing the wrong thing.
 */
#ifndef FISSION_HOOKS_LAYOUT_H
#define FISSION_HOOKS_LAYOUT_H

/* struct self_hooks */
#define __FISSION_HOOKS_MARKS 24
#define __FISSION_HOOKS_TRAIL 32

/* struct self */
#define __FISSION_HEAD 0
#define __FISSION_LIMIT 8
#define __FISSION_STACK 16
#define __FISSION_NOW 24
#define __FISSION_FRAMES 32
#define __FISSION_OPEN 40
#define __FISSION_TOLD 44
#define __FISSION_MODE 48
#define __FISSION_FROM 56
#define __FISSION_REACH 64
#define __FISSION_LEAVES 96
#define __FISSION_STAMP 104
#define __FISSION_ENTERED 112
#define __FISSION_CALM_SINCE 120
#define __FISSION_LATELY 136
#define __FISSION_MARKS 152
#define __FISSION_NOTES 160

/*
 * Marks: where in their table those of one kind begin; where it has which bits of an address say where, and how far apart
 * they are. It begins with the look.
 */
#define __FISSION_MARKS_read1 0x841000
#define __FISSION_MARKS_write1 0x881000
#define __FISSION_MARKS_OF_1 8
#define __FISSION_APART_1 8
#define __FISSION_MARKS_read2 0x8c1000
#define __FISSION_MARKS_write2 0x901000
#define __FISSION_MARKS_OF_2 12
#define __FISSION_APART_2 4
#define __FISSION_MARKS_read4 0x1000
#define __FISSION_MARKS_write4 0x1000
#define __FISSION_MARKS_OF_4 16
#define __FISSION_APART_4 2
#define __FISSION_MARKS_read8 0x401000
#define __FISSION_MARKS_write8 0x401000
#define __FISSION_MARKS_OF_8 20
#define __FISSION_APART_8 1
#define __FISSION_MARKS_read16 0x801000
#define __FISSION_MARKS_write16 0x801000
#define __FISSION_MARKS_OF_16 24
#define __FISSION_APART_16 1
#define __FISSION_WRITTEN_BIT 63

/* A call with the look in front of it. */
#define __FISSION_SITE_BYTES 43

/* In front of where a hook is entered by number: an empty instruction of eight bytes. */
#define __FISSION_NUMBERED 0x0f, 0x1f, 0x84, 0, 0x46, 0x69, 0x73, 0x4e

/* The shadow: which leaf, and where in it. */
#define __FISSION_ADDRESS_UP 17
#define __FISSION_ADDRESS_DOWN 41
#define __FISSION_LEAF_MASK 0xfffffc
#define __FISSION_PLACES_AT 0x4000000

/* Frames. */
#define __FISSION_FRAMES_MOST 262144
#define __FISSION_CALM_BITS 16
#define __FISSION_CALM 1024
#define __FISSION_CALM_FACTOR 0x9e3779b97f4a7c15
#define __FISSION_LOUD 65535
#define __FISSION_LOCKS 4

/* Rings, and what is written into them. */
#define __FISSION_SLOTS 4096
#define __FISSION_SLOT 16
#define __FISSION_RING_MASK 0xffff0
#define __FISSION_DEPTH_UNKNOWN 0xffffff
#define __FISSION_READ 1
#define __FISSION_WRITE 2
#define __FISSION_ENTER 20
#define __FISSION_EXIT 21

/* Trails: in struct self; where they and their places lie behind it; the parts of a place. */
#define __FISSION_TRAIL_AT 1792
#define __FISSION_TRAIL_LIMIT 1800
#define __FISSION_TRAIL_LAST 1804
#define __FISSION_TRAIL_DEPTH_LAST 1808
#define __FISSION_TRAIL_BUSY 1816
#define __FISSION_TRAIL_COUNTED 1
#define __FISSION_TRAIL_MISS 2
#define __FISSION_TRAIL_SLIPPED 3
#define __FISSION_TRAIL_SLIP_COUNT 63
#define __FISSION_TRAIL_SLIP_MOST 0x800000
#define __FISSION_TRAIL_MISS_MOST 0x40000000
#define __FISSION_TRAIL_COUNT_MOST 16000
#define __FISSION_TRAIL_SITES 0x201000
#define __FISSION_TRAIL_SITES_MASK 0x7ffc
#define __FISSION_TRAIL_WHAT_SHIFT 3
#define __FISSION_TRAIL_MIX 0x9e3779b1
#define __FISSION_TRAIL_MIX_SHIFT 15
#define __FISSION_TRAIL_FOUND 0x40000
#define __FISSION_TRAIL_DEPTH_BITS 28
#define __FISSION_TRAIL_READ 1
#define __FISSION_TRAIL_WRITE 2
#define __FISSION_TRAIL_SIZE_1 0
#define __FISSION_TRAIL_SIZE_2 1
#define __FISSION_TRAIL_SIZE_4 2
#define __FISSION_TRAIL_SIZE_8 3
#define __FISSION_TRAIL_SIZE_16 4
#define __FISSION_TRAIL_ENTRY 3
#define __FISSION_TRAIL_LEAVE 4

/* Loops, in struct self; and the parts of an item. */
#define __FISSION_LOOP_AT 704
#define __FISSION_LOOP_BACK_PC 720
#define __FISSION_LOOP_BACK_AT 728
#define __FISSION_LOOP_BACK_SPAN 736
#define __FISSION_LOOP_BAD 1272
#define __FISSION_LOOP_BAD_MASK 63
#define __FISSION_LOOP_ROUND_SHIFT 44
#define __FISSION_LOOP_ADDRESS 0
#define __FISSION_LOOP_STRIDE 8
#define __FISSION_LOOP_PC 16
#define __FISSION_LOOP_STEP 24

#endif

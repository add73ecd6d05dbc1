#include "textflag.h"
#include "rows_amd64.h"

// PRODUCTS8 multiplies four rows of codes, 64 at a time: sixteen sums of four
// products each. The query is made unsigned by flipping the top bit, which adds
// 128 to each element.
#define PRODUCTS8(AHEAD) \
	VPXORD Z0, Z0, Z0; \
	VPXORD Z1, Z1, Z1; \
	VPXORD Z2, Z2, Z2; \
	VPXORD Z3, Z3, Z3; \
	XORQ AT, AT; \
more: \
	VPXORD (QUERY)(AT*1), Z5, Z4; \
	VPDPBUSD (ROW0)(AT*1), Z4, Z0; \
	VPDPBUSD (ROW1)(AT*1), Z4, Z1; \
	VPDPBUSD (ROW2)(AT*1), Z4, Z2; \
	VPDPBUSD (ROW3)(AT*1), Z4, Z3; \
	AHEAD; \
	ADDQ $64, AT; \
	CMPQ AT, STRIDE; \
	JB   more; \
	VEXTRACTI64X4 $1, Z0, Y16; \
	VEXTRACTI64X4 $1, Z1, Y17; \
	VEXTRACTI64X4 $1, Z2, Y18; \
	VEXTRACTI64X4 $1, Z3, Y19; \
	VPADDD Y16, Y0, Y0; \
	VPADDD Y17, Y1, Y1; \
	VPADDD Y18, Y2, Y2; \
	VPADDD Y19, Y3, Y3; \
	VPHADDD Y1, Y0, Y0; \
	VPHADDD Y3, Y2, Y2; \
	VPHADDD Y2, Y0, Y0; \
	VEXTRACTI128 $1, Y0, X1; \
	VPADDD X1, X0, X0

#define TOPBITS \
	MOVL $0x80808080, AX; \
	VPBROADCASTD AX, Z5

// func scan8VNNI(q, run *int8, stride int, out *int32, n int)
TEXT ·scan8VNNI(SB), NOSPLIT, $0-40
	MOVQ q+0(FP), QUERY
	MOVQ run+8(FP), ROW0
	MOVQ stride+16(FP), STRIDE
	MOVQ out+24(FP), OUT
	MOVQ n+32(FP), LEFT
	TOPBITS
rows:
	RUN(1)
products:
	PRODUCTS8(PREFETCH)
	SCANNED(1)

// func dot8VNNI(q *int8, chunks [][]int8, shift uint, stride int, ids []uint32, out *int32) (left int)
TEXT ·dot8VNNI(SB), NOSPLIT, $0-88
	ARGUMENTS
	TOPBITS
rows:
	GATHER(1)
products:
	PRODUCTS8(NOTHING)
	GATHERED

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

// ACCUMULATE multiplies sixteen elements of four rows.
#define ACCUMULATE(OFFSET, A, B, C, D) \
	VMOVUPS OFFSET(QUERY)(AT*4), Z8; \
	VFMADD231PS OFFSET(ROW0)(AT*4), Z8, A; \
	VFMADD231PS OFFSET(ROW1)(AT*4), Z8, B; \
	VFMADD231PS OFFSET(ROW2)(AT*4), Z8, C; \
	VFMADD231PS OFFSET(ROW3)(AT*4), Z8, D

// PRODUCTS32 multiplies four rows of floats, 32 at a time in two sums of sixteen
// lanes, then what remains: sixteen, and eight with zeros beside them.
#define PRODUCTS32 \
	VPXORD Z0, Z0, Z0; \
	VPXORD Z1, Z1, Z1; \
	VPXORD Z2, Z2, Z2; \
	VPXORD Z3, Z3, Z3; \
	VPXORD Z4, Z4, Z4; \
	VPXORD Z5, Z5, Z5; \
	VPXORD Z6, Z6, Z6; \
	VPXORD Z7, Z7, Z7; \
	XORQ AT, AT; \
	MOVQ STRIDE, CX; \
	ANDQ $~31, CX; \
	JEQ  sixteen; \
more: \
	ACCUMULATE(0, Z0, Z1, Z2, Z3); \
	ACCUMULATE(64, Z4, Z5, Z6, Z7); \
	ADDQ $32, AT; \
	CMPQ AT, CX; \
	JB   more; \
sixteen: \
	TESTQ $16, STRIDE; \
	JEQ  eight; \
	ACCUMULATE(0, Z0, Z1, Z2, Z3); \
	ADDQ $16, AT; \
eight: \
	TESTQ $8, STRIDE; \
	JEQ  sum; \
	VMOVUPS (QUERY)(AT*4), Y8; \
	VMOVUPS (ROW0)(AT*4), Y9; \
	VMOVUPS (ROW1)(AT*4), Y10; \
	VMOVUPS (ROW2)(AT*4), Y11; \
	VMOVUPS (ROW3)(AT*4), Y12; \
	VFMADD231PS Z9, Z8, Z0; \
	VFMADD231PS Z10, Z8, Z1; \
	VFMADD231PS Z11, Z8, Z2; \
	VFMADD231PS Z12, Z8, Z3; \
sum: \
	VADDPS Z4, Z0, Z0; \
	VADDPS Z5, Z1, Z1; \
	VADDPS Z6, Z2, Z2; \
	VADDPS Z7, Z3, Z3; \
	VEXTRACTF64X4 $1, Z0, Y4; \
	VEXTRACTF64X4 $1, Z1, Y5; \
	VEXTRACTF64X4 $1, Z2, Y6; \
	VEXTRACTF64X4 $1, Z3, Y7; \
	VADDPS Y4, Y0, Y0; \
	VADDPS Y5, Y1, Y1; \
	VADDPS Y6, Y2, Y2; \
	VADDPS Y7, Y3, Y3; \
	VHADDPS Y1, Y0, Y0; \
	VHADDPS Y3, Y2, Y2; \
	VHADDPS Y2, Y0, Y0; \
	VEXTRACTF128 $1, Y0, X1; \
	VADDPS X1, X0, X0

// func scan32AVX512(q, run *float32, stride int, out *float32, n int)
TEXT ·scan32AVX512(SB), NOSPLIT, $0-40
	MOVQ q+0(FP), QUERY
	MOVQ run+8(FP), ROW0
	MOVQ stride+16(FP), STRIDE
	MOVQ out+24(FP), OUT
	MOVQ n+32(FP), LEFT
rows:
	RUN(4)
products:
	PRODUCTS32
	SCANNED(4)

// func dot32AVX512(q *float32, chunks [][]float32, shift uint, stride int, ids []uint32, out *float32) (left int)
TEXT ·dot32AVX512(SB), NOSPLIT, $0-88
	ARGUMENTS
rows:
	MOVQ shift+32(FP), CX
	GATHER(4)
products:
	PRODUCTS32
	GATHERED

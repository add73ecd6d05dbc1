#include "textflag.h"
#include "rows_amd64.h"

// PAIRS adds 32 products of a row of codes to the eight sums in SUM. Y9 holds
// |q| and Y8 holds q: |q| · (row with the sign of q) is q · row, and two such products,
// at most 2 · 127², fit sixteen bits.
#define PAIRS(OFFSET, ROW, SUM) \
	VMOVDQU OFFSET(ROW)(AT*1), Y10; \
	VPSIGNB Y8, Y10, Y10; \
	VPMADDUBSW Y10, Y9, Y10; \
	VPMADDWD Y15, Y10, Y10; \
	VPADDD Y10, SUM, SUM

#define ACCUMULATE8(OFFSET) \
	VMOVDQU OFFSET(QUERY)(AT*1), Y8; \
	VPABSB Y8, Y9; \
	PAIRS(OFFSET, ROW0, Y0); \
	PAIRS(OFFSET, ROW1, Y1); \
	PAIRS(OFFSET, ROW2, Y2); \
	PAIRS(OFFSET, ROW3, Y3)

// PRODUCTS8 multiplies four rows of codes, 64 at a time.
#define PRODUCTS8(AHEAD) \
	VPXOR Y0, Y0, Y0; \
	VPXOR Y1, Y1, Y1; \
	VPXOR Y2, Y2, Y2; \
	VPXOR Y3, Y3, Y3; \
	XORQ AT, AT; \
more: \
	ACCUMULATE8(0); \
	ACCUMULATE8(32); \
	AHEAD; \
	ADDQ $64, AT; \
	CMPQ AT, STRIDE; \
	JB   more; \
	VPHADDD Y1, Y0, Y0; \
	VPHADDD Y3, Y2, Y2; \
	VPHADDD Y2, Y0, Y0; \
	VEXTRACTI128 $1, Y0, X1; \
	VPADDD X1, X0, X0

// ONES sets Y15 to sixteen 16-bit ones.
#define ONES \
	VPCMPEQW Y15, Y15, Y15; \
	VPSRLW $15, Y15, Y15

// func scan8AVX2(q, run *int8, stride int, out *int32, n int)
TEXT ·scan8AVX2(SB), NOSPLIT, $0-40
	MOVQ q+0(FP), QUERY
	MOVQ run+8(FP), ROW0
	MOVQ stride+16(FP), STRIDE
	MOVQ out+24(FP), OUT
	MOVQ n+32(FP), LEFT
	ONES
rows:
	RUN(1)
products:
	PRODUCTS8(PREFETCH)
	SCANNED(1)

// func dot8AVX2(q *int8, chunks [][]int8, shift uint, stride int, ids []uint32, out *int32) (left int)
TEXT ·dot8AVX2(SB), NOSPLIT, $0-88
	ARGUMENTS
	ONES
rows:
	GATHER(1)
	AHEAD
products:
	PRODUCTS8(NOTHING)
	GATHERED

// ACCUMULATE adds eight products of a row, each rounded, to the eight sums in SUM:
// portable Go has no fused float32 multiplication that could give equal results.
#define ACCUMULATE(ROW, PRODUCT, SUM) \
	VPMOVSXWD (ROW)(AT*2), PRODUCT; \
	VCVTDQ2PS PRODUCT, PRODUCT; \
	VMULPS Y8, PRODUCT, PRODUCT; \
	VADDPS PRODUCT, SUM, SUM

// PRODUCTS16 multiplies a query of floats with four rows of codes, eight at a time.
#define PRODUCTS16 \
	VXORPS Y0, Y0, Y0; \
	VXORPS Y1, Y1, Y1; \
	VXORPS Y2, Y2, Y2; \
	VXORPS Y3, Y3, Y3; \
	XORQ AT, AT; \
more: \
	VMOVUPS (QUERY)(AT*4), Y8; \
	ACCUMULATE(ROW0, Y4, Y0); \
	ACCUMULATE(ROW1, Y5, Y1); \
	ACCUMULATE(ROW2, Y6, Y2); \
	ACCUMULATE(ROW3, Y7, Y3); \
	ADDQ $8, AT; \
	CMPQ AT, STRIDE; \
	JB   more; \
	VHADDPS Y1, Y0, Y0; \
	VHADDPS Y3, Y2, Y2; \
	VHADDPS Y2, Y0, Y0; \
	VEXTRACTF128 $1, Y0, X1; \
	VADDPS X1, X0, X0

// func scan16AVX2(q *float32, run *int16, stride int, out *float32, n int)
TEXT ·scan16AVX2(SB), NOSPLIT, $0-40
	MOVQ q+0(FP), QUERY
	MOVQ run+8(FP), ROW0
	MOVQ stride+16(FP), STRIDE
	MOVQ out+24(FP), OUT
	MOVQ n+32(FP), LEFT
rows:
	RUN(2)
products:
	PRODUCTS16
	SCANNED(2)

// func dot16AVX2(q *float32, chunks [][]int16, shift uint, stride int, ids []uint32, out *float32) (left int)
TEXT ·dot16AVX2(SB), NOSPLIT, $0-88
	ARGUMENTS
rows:
	MOVQ shift+32(FP), CX
	GATHER(2)
products:
	PRODUCTS16
	GATHERED

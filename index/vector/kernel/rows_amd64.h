// Macros shared by the amd64 kernels: they select the next four rows and store
// their products. A kernel is a loop of
//
//	rows:     RUN or GATHER sets ROW0..ROW3
//	products: leaves their products in X0
//	          STORE, then the next iteration while rows are left
//
// The last group of a call may have fewer than four rows. ROW0 then takes the
// place of the missing ones, and those products are not stored. A row is thus
// multiplied by the same instructions wherever it lies, and nothing outside the
// rows is read.

#define QUERY SI
#define STRIDE BX // of rows, in elements
#define LEFT DX   // rows still to multiply
#define OUT R13
#define ROW0 R8
#define ROW1 R9
#define ROW2 R10
#define ROW3 R11
#define AT AX     // offset in the query and the rows

#define IDS DI    // of the rows to gather
#define CHUNKS R12
#define NEXT R15  // a row of the next group
#define MASK R14  // the bits of an id that give the position in its chunk
// CX holds the shift.

// RUN takes the consecutive rows from ROW0 on.
#define RUN(SIZE) \
	MOVQ ROW0, ROW1; \
	MOVQ ROW0, ROW2; \
	MOVQ ROW0, ROW3; \
	CMPQ LEFT, $2; \
	JB   products; \
	LEAQ (ROW0)(STRIDE*SIZE), ROW1; \
	JEQ  products; \
	LEAQ (ROW1)(STRIDE*SIZE), ROW2; \
	CMPQ LEFT, $4; \
	JB   products; \
	LEAQ (ROW2)(STRIDE*SIZE), ROW3

// PREFETCH prefetches codes 3 KB (eight rows of 384) ahead in a run. The hardware
// prefetcher stops at the end of a page; this made a scan from memory a sixth
// faster. A scan of floats saturates the memory bandwidth without it.
#define PREFETCH \
	PREFETCHT0 3072(ROW0)(AT*1); \
	PREFETCHT0 3072(ROW1)(AT*1); \
	PREFETCHT0 3072(ROW2)(AT*1); \
	PREFETCHT0 3072(ROW3)(AT*1)

#define NOTHING

// ROW finds the row of an id, and jumps to missing if there is no such row.
#define ROW(N, DST, SIZE) \
	MOVL (4*N)(IDS), AX; \
	MOVQ AX, DST; \
	ANDQ MASK, AX; \
	SHRQ CX, DST; \
	CMPQ DST, chunks_len+16(FP); \
	JCC  missing; \
	LEAQ (DST)(DST*2), DST; \
	IMULQ STRIDE, AX; \
	ADDQ STRIDE, AX; \
	CMPQ AX, 8(CHUNKS)(DST*8); \
	JHI  missing; \
	SUBQ STRIDE, AX; \
	MOVQ (CHUNKS)(DST*8), DST; \
	LEAQ (DST)(AX*SIZE), DST

// GATHER takes the rows of the next ids.
#define GATHER(SIZE) \
	ROW(0, ROW0, SIZE); \
	MOVQ ROW0, ROW1; \
	MOVQ ROW0, ROW2; \
	MOVQ ROW0, ROW3; \
	CMPQ LEFT, $2; \
	JB   products; \
	ROW(1, ROW1, SIZE); \
	CMPQ LEFT, $3; \
	JB   products; \
	ROW(2, ROW2, SIZE); \
	CMPQ LEFT, $4; \
	JB   products; \
	ROW(3, ROW3, SIZE)

// AHEAD prefetches the next four rows of codes. A missing row among them ends the
// call here instead of one iteration later. AVX2 needs so many instructions per
// cache line that out-of-order execution does not reach the next rows in time: a
// gather from memory took a quarter longer without this. With AVX-512, and for
// floats, it made no difference.
#define AHEAD \
	CMPQ LEFT, $8; \
	JB   products; \
	AHEAD1(4, ahead4); \
	AHEAD1(5, ahead5); \
	AHEAD1(6, ahead6); \
	AHEAD1(7, ahead7)

#define AHEAD1(N, LINES) \
	ROW(N, NEXT, 1); \
	MOVQ STRIDE, AT; \
LINES: \
	PREFETCHT0 -64(NEXT)(AT*1); \
	SUBQ $64, AT; \
	JNE  LINES

// ARGUMENTS loads the arguments of a gathering kernel.
#define ARGUMENTS \
	MOVQ q+0(FP), QUERY; \
	MOVQ chunks_base+8(FP), CHUNKS; \
	MOVQ shift+32(FP), CX; \
	MOVQ stride+40(FP), STRIDE; \
	MOVQ ids_base+48(FP), IDS; \
	MOVQ ids_len+56(FP), LEFT; \
	MOVQ out+72(FP), OUT; \
	MOVQ $1, MASK; \
	SHLQ CX, MASK; \
	DECQ MASK

// STORE stores four products, or jumps to few if fewer are left.
#define STORE \
	CMPQ LEFT, $4; \
	JB   few; \
	VMOVDQU X0, (OUT); \
	ADDQ $16, OUT

// FEW stores one to three products.
#define FEW \
	VMOVD X0, (OUT); \
	CMPQ LEFT, $2; \
	JB   done; \
	VPEXTRD $1, X0, 4(OUT); \
	JEQ  done; \
	VPEXTRD $2, X0, 8(OUT)

// SCANNED ends a scanning kernel. GATHERED ends a gathering kernel and returns how
// many ids are left: 0 unless one has no row.
#define SCANNED(SIZE) \
	STORE; \
	LEAQ (ROW3)(STRIDE*SIZE), ROW0; \
	SUBQ $4, LEFT; \
	JNE  rows; \
	VZEROUPPER; \
	RET; \
few: \
	FEW; \
done: \
	VZEROUPPER; \
	RET

#define GATHERED \
	STORE; \
	ADDQ $16, IDS; \
	SUBQ $4, LEFT; \
	JNE  rows; \
missing: \
	MOVQ LEFT, left+80(FP); \
	VZEROUPPER; \
	RET; \
few: \
	FEW; \
done: \
	MOVQ $0, left+80(FP); \
	VZEROUPPER; \
	RET

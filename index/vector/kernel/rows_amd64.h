// What the kernels of amd64 share: which rows come next, and where their four
// products go. A kernel is a loop of
//
//	rows:     RUN or GATHER sets ROW0..ROW3
//	products: leaves their products in X0
//	          STORE, and again while rows are left
//
// The last rows of a call may be fewer than four. The others of the four are then
// ROW0 once more, whose products nobody stores: so a row is multiplied by the same
// instructions wherever it lies, and nothing is read that is no row.

#define QUERY SI
#define STRIDE BX // of rows, in elements
#define LEFT DX   // rows without products
#define OUT R13
#define ROW0 R8
#define ROW1 R9
#define ROW2 R10
#define ROW3 R11
#define AT AX     // offset in the query and the rows

#define IDS DI    // of rows that are gathered
#define CHUNKS R12
#define NEXT R15  // a row that comes later
#define MASK R14  // of the part of an id that is the place in its chunk
// and the shift in CX

// RUN takes the rows from ROW0 on.
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

// PREFETCH asks for the lines of codes 3 KB, eight rows of 384, ahead in a run:
// the processor's own prefetching stops at the end of a page, and this took a
// sixth off a scan from memory. A scan of floats is at the limit of the memory
// without it.
#define PREFETCH \
	PREFETCHT0 3072(ROW0)(AT*1); \
	PREFETCHT0 3072(ROW1)(AT*1); \
	PREFETCHT0 3072(ROW2)(AT*1); \
	PREFETCHT0 3072(ROW3)(AT*1)

#define NOTHING

// ROW finds the row of an id. There may be none.
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

// AHEAD asks for the next four rows of codes, if they are there: one of them
// missing is no different from finding that out later. AVX2 has so many
// instructions to a line that the processor does not get to the next rows by
// itself before it has these, and a gather from memory took a quarter longer;
// with AVX-512, and for floats, it made no difference.
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

// ARGUMENTS loads those of a gathering kernel.
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

// STORE stores up to four products, and falls through when they are four.
#define STORE \
	CMPQ LEFT, $4; \
	JB   few; \
	VMOVDQU X0, (OUT); \
	ADDQ $16, OUT

// FEW stores fewer.
#define FEW \
	VMOVD X0, (OUT); \
	CMPQ LEFT, $2; \
	JB   done; \
	VPEXTRD $1, X0, 4(OUT); \
	JEQ  done; \
	VPEXTRD $2, X0, 8(OUT)

// SCANNED ends a kernel of a run, GATHERED one that gathers: it returns how many
// ids are left, none unless one has no row.
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

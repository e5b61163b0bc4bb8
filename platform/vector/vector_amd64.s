#include "textflag.h"

// func dotWide(a, b *float32, n int, soon *float32) float32
TEXT ·dotWide(SB), NOSPLIT, $0-36
	MOVQ a+0(FP), SI
	MOVQ b+8(FP), DX
	MOVQ n+16(FP), CX
	MOVQ soon+24(FP), BX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3

block:
	VMOVUPS (SI), Y4
	VMOVUPS 32(SI), Y5
	VMOVUPS 64(SI), Y6
	VMOVUPS 96(SI), Y7
	PREFETCHT0 (BX)
	PREFETCHT0 64(BX)
	VMULPS  (DX), Y4, Y4
	VMULPS  32(DX), Y5, Y5
	VMULPS  64(DX), Y6, Y6
	VMULPS  96(DX), Y7, Y7
	VADDPS  Y4, Y0, Y0
	VADDPS  Y5, Y1, Y1
	VADDPS  Y6, Y2, Y2
	VADDPS  Y7, Y3, Y3
	ADDQ    $128, SI
	ADDQ    $128, DX
	ADDQ    $128, BX
	SUBQ    $32, CX
	JNZ     block

	// Fold 32 lanes to 16, 8, 4, 2, 1.
	VADDPS       Y2, Y0, Y0
	VADDPS       Y3, Y1, Y1
	VADDPS       Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS       X1, X0, X0
	VMOVHLPS     X0, X0, X1
	VADDPS       X1, X0, X0
	VPSRLDQ      $4, X0, X1
	VADDSS       X1, X0, X0
	VZEROUPPER
	MOVSS X0, ret+32(FP)
	RET

DATA lowNibbles<>+0(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA lowNibbles<>+8(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA lowNibbles<>+16(SB)/8, $0x0f0f0f0f0f0f0f0f
DATA lowNibbles<>+24(SB)/8, $0x0f0f0f0f0f0f0f0f
GLOBL lowNibbles<>(SB), RODATA|NOPTR, $32

DATA lowBytes<>+0(SB)/8, $0x00ff00ff00ff00ff
DATA lowBytes<>+8(SB)/8, $0x00ff00ff00ff00ff
DATA lowBytes<>+16(SB)/8, $0x00ff00ff00ff00ff
DATA lowBytes<>+24(SB)/8, $0x00ff00ff00ff00ff
GLOBL lowBytes<>(SB), RODATA|NOPTR, $32

// func sumsWide(sums *[32]uint16, block, tables *byte, width int)
TEXT ·sumsWide(SB), NOSPLIT, $0-32
	MOVQ    sums+0(FP), DI
	MOVQ    block+8(FP), SI
	MOVQ    tables+16(FP), DX
	MOVQ    width+24(FP), CX
	VMOVDQU lowNibbles<>(SB), Y14
	VMOVDQU lowBytes<>(SB), Y15
	VPXOR   Y12, Y12, Y12 // sums of the even bytes
	VPXOR   Y13, Y13, Y13 // sums of the odd bytes

two:
	// The byte of 32 vectors, and what the tables say of its lower and its upper half.
	VMOVDQU        (SI), Y0
	VPSRLW         $4, Y0, Y1
	VPAND          Y14, Y0, Y0
	VPAND          Y14, Y1, Y1
	VBROADCASTI128 (DX), Y2
	VBROADCASTI128 16(DX), Y3
	VPSHUFB        Y0, Y2, Y0
	VPSHUFB        Y1, Y3, Y1
	VPADDB         Y0, Y1, Y4

	// The next byte: four entries are at most 240.
	VMOVDQU        32(SI), Y0
	VPSRLW         $4, Y0, Y1
	VPAND          Y14, Y0, Y0
	VPAND          Y14, Y1, Y1
	VBROADCASTI128 32(DX), Y2
	VBROADCASTI128 48(DX), Y3
	VPSHUFB        Y0, Y2, Y0
	VPSHUFB        Y1, Y3, Y1
	VPADDB         Y0, Y1, Y5
	VPADDB         Y4, Y5, Y4

	VPAND  Y15, Y4, Y5
	VPSRLW $8, Y4, Y4
	VPADDW Y5, Y12, Y12
	VPADDW Y4, Y13, Y13
	ADDQ   $64, SI
	ADDQ   $64, DX
	SUBQ   $2, CX
	JNZ    two

	VMOVDQU Y12, (DI)
	VMOVDQU Y13, 32(DI)
	VZEROUPPER
	RET

// Package tesseract reads pictures with the program tesseract, in a sandbox.
//
//	picture ─► box ─► header: type, width, height ─► tesseract, TSV ─► paragraphs
//
// The header decides before the program sees a byte: tesseract takes what is no picture for a list
// of files to open, and what a header promises is what decoding will need. The program turns pages
// that lie on their side or their head (page segmentation mode 1). A picture that it read with low
// confidence is shown to it once more, to tell the script (mode 0).
//
// It computes in one thread. Large pictures are read one at a time, for their memory. The limits of
// a picture grow with its pixels.
package tesseract

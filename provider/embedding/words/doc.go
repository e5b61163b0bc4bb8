// Package words is the built-in embedder: it compares words as package hashing does, and what
// English words mean.
//
// A text's vector has two parts. The first 512 numbers are those of package hashing. The other 100
// are the average of the vectors of its English words: of the 50,000 most frequent words, made by
// GloVe from newspapers and an encyclopaedia, so that "cancel" is near "terminate". Rare words
// count for more, stop words not at all. The cosine of two vectors is the weighted mean of the
// cosines of their parts. A text without known words, such as one in another language, has the
// first part alone, and is compared by its words as before.
//
// It knows no order of words and no meaning that depends on others: "not refunded" is near
// "refunded". Its model's name says so: static.
//
// vectors.bin is made by make, see SOURCE.md.
package words

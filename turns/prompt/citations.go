package prompt

import "parlance.dev/parlance/sessions"

// maxExcerptChars bounds a citation's excerpt. Source: sessions.proto.
const maxExcerptChars = 500

// excerptOf is the beginning of a passage.
func excerptOf(text string) string {
	chars := 0
	for at := range text {
		if chars == maxExcerptChars {
			return text[:at]
		}
		chars++
	}
	return text
}

// Citations are the passages as the transcript has them.
func Citations(passages []sessions.Passage) []sessions.Citation {
	citations := make([]sessions.Citation, len(passages))
	for i, p := range passages {
		citations[i] = sessions.Citation{
			SourceID: p.SourceID, SourceName: p.SourceName, ChunkID: p.ChunkID, Heading: p.Heading,
			PageStart: p.PageStart, PageEnd: p.PageEnd, Similarity: p.Similarity,
			Excerpt: excerptOf(p.Text),
		}
	}
	return citations
}

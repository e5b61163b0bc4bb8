// Package main asks the questions of testdata/helpcentre of a running service, `parlance dev` with
// nothing set up, and counts how they are answered: `task eval:answers`.
//
// Each line of answers.jsonl has a question and words of the right answer (expect), which stand
// once in the named document, and words of a near miss (wrong). An answer is
//
//	right      it has the expected words; to small talk: it is no refusal and cites nothing; where
//	           no document answers: it cites nothing
//	mixed      right, and it has the words of the near miss too
//	wrong      it says something else
//	refused    it says that there is no passage, and there is one
//	false      no document answers, and it is not refused
//
// paraphrased.jsonl has questions in other words than the documents', and the sentence that
// answers. A question is hit when one of the first three passages of a query has the sentence. The
// last two figures are of answers.jsonl again, of the passages that a turn's floor lets through.
package main

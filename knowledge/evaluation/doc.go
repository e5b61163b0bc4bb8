// Package evaluation asks questions with known answers and stores at which place each answer was
// found, so that a change of sources or settings can be compared with what was before.
//
// Table: knowledge_evaluations. It ranks nothing itself: it asks package knowledge.
package evaluation

// Package guards decides what text from outside may do to a conversation. Outside are passages of
// documents, answers of tools, memories and summaries: whoever wrote them is neither the operator
// nor the user.
//
// There are two guards. A [Fence] marks such text as data for the model, and neutralizes what looks
// like the marks, a role or a control token of a chat template. [Request.Judge] blocks a call that
// such text may have dictated and that the user did not ask for:
//
//	text ──viewsOf──► views ──matcher──► Findings ──Judge──► made, or blocked with a rule
//
// The views are the text and what it may disguise: look-alike letters, base64, mirrored text and
// others. The matcher looks for directives, which are sentences that tell a model what to do. The
// rules are in the table of Judge; receipts name the rule.
//
// The lists of words and patterns cover what is known, in some languages. They prove nothing about
// a text without a match.
//
// The package has no events and no tables. It does not carry out calls or ask the user (package
// turns), and does not check arguments against a tool's schema (package tools).
package guards

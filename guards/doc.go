// Package guards is about text from outside: passages of documents, answers of tools, memories and
// summaries. Whoever wrote them is neither the operator nor the user.
//
// A [Fence] marks such text as data for the model, and neutralizes what looks like the marks, a
// role or a control token of a chat template. [Inspect] says whether such a text instructs a model,
// by the lines of directives.txt. Package turns flags or withholds the calls of a model that has
// read one that does.
//
// Inspect proves nothing about a text in which it finds nothing. What protects from harmful calls
// is structure, not words: approval of tools, and tools with requires_user_intent.
//
// The package has no events and no tables.
package guards

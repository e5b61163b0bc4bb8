package model

// RoughTokens is a rough count of a text: four letters a token for ASCII text, two for other
// alphabets, one for Chinese, Japanese and Korean characters.
func RoughTokens(text string) int {
	ascii, letters, characters := 0, 0, 0
	for _, r := range text {
		switch {
		case r < 0x80:
			ascii++
		case r < 0x2E80:
			letters++
		default:
			characters++
		}
	}
	return (ascii+3)/4 + (letters+1)/2 + characters
}

// messageTokens is what a message takes beside its texts.
const messageTokens = 4

// Estimate fills in counts that the server did not report, roughly, from what it was sent and what
// it said: a call that was stopped is paid for too.
func (u Usage) Estimate(req Request, said string) Usage {
	u.Estimated = true
	if u.InputTokens == 0 {
		u.InputTokens = RoughTokens(req.System)
		for _, m := range req.Messages {
			u.InputTokens += RoughTokens(m.Text) + messageTokens
			for _, call := range m.ToolCalls {
				u.InputTokens += RoughTokens(call.Name) + RoughTokens(string(call.Arguments))
			}
		}
		for _, tool := range req.Tools {
			u.InputTokens += RoughTokens(tool.Name) + RoughTokens(tool.Description) + RoughTokens(string(tool.InputSchema))
		}
	}
	if u.OutputTokens == 0 {
		u.OutputTokens = RoughTokens(said)
	}
	return u
}

package conversation

import (
	"errors"

	"parlance.dev/parlance/platform/quickjson"
)

// What every turn writes as JSON is written by hand: encoding/json takes several times as long, and a copy. The
// outcome is the same but for the escapes that HTML would need.

// textRoom is what a text takes at most, nearly always: some characters are escaped.
func textRoom(text string) int { return len(text) + len(text)/8 }

// flatJSON is false for what it does not know how to write.
func flatJSON(value any) ([]byte, bool) {
	var w quickjson.Writer
	known := true
	switch value := value.(type) {
	case []Message:
		known = writeMessages(&w, value)
	case []Citation:
		WriteCitations(&w, value)
	case *Retrieval:
		writeRetrieval(&w, value)
	case Metrics:
		writeMetrics(&w, value)
	default:
		known = false
	}
	return w.Out, known && !w.Odd
}

// writeMessages is false when a message has what is seldom: encoding/json knows it.
func writeMessages(w *quickjson.Writer, messages []Message) bool {
	const beside = 128
	room, known := 2, true
	for i := range messages {
		room += beside + textRoom(messages[i].Text)
	}
	w.Out = make([]byte, 0, room)
	quickjson.Each(w, "", messages, func(m *Message) { known = known && writeMessage(w, m) })
	return known
}

func writeMessage(w *quickjson.Writer, m *Message) bool {
	w.Text(`{"role":`, m.Role)
	if m.ItemID != "" {
		w.Text(`,"item_id":`, m.ItemID)
	}
	if m.Text != "" {
		w.Text(`,"text":`, m.Text)
	}
	if len(m.Calls) > 0 || m.Result != nil || m.Audio != nil {
		return false
	}
	if m.CallID != "" {
		w.Text(`,"call_id":`, m.CallID)
	}
	if m.At != 0 {
		w.Int(`,"at":`, m.At)
	}
	if m.After != "" {
		w.Text(`,"after":`, m.After)
	}
	if m.Put {
		w.Put(`,"put":true`)
	}
	if m.Again != 0 {
		w.Int(`,"again":`, m.Again)
	}
	if m.BrokenOff {
		w.Put(`,"broken_off":true`)
	}
	w.Put("}")
	return true
}

// WriteCitations writes citations as encoding/json does, into a writer of its own.
func WriteCitations(w *quickjson.Writer, citations []Citation) {
	const beside = 256
	room := 2
	for i := range citations {
		c := &citations[i]
		room += beside + len(c.SourceName) + len(c.Heading) + textRoom(c.Excerpt)
	}
	w.Out = make([]byte, 0, room)
	quickjson.Each(w, "", citations, func(c *Citation) {
		w.Text(`{"source_id":`, c.SourceID)
		w.Text(`,"source_name":`, c.SourceName)
		w.Text(`,"chunk_id":`, c.ChunkID)
		if c.Heading != "" {
			w.Text(`,"heading":`, c.Heading)
		}
		if c.PageStart != 0 {
			w.Int(`,"page_start":`, c.PageStart)
		}
		if c.PageEnd != 0 {
			w.Int(`,"page_end":`, c.PageEnd)
		}
		w.Number(`,"similarity":`, c.Similarity)
		w.Text(`,"excerpt":`, c.Excerpt)
		if c.Quoted {
			w.Put(`,"quoted":true`)
		}
		w.Put("}")
	})
}

func writeRetrieval(w *quickjson.Writer, r *Retrieval) {
	if r == nil {
		w.Put("null")
		return
	}
	const beside, each = 128, 256
	w.Out = make([]byte, 0, beside+each*len(r.Chunks))
	w.Text(`{"ranking":`, r.Ranking)
	if r.Model != "" {
		w.Text(`,"model":`, r.Model)
	}
	w.Number(`,"floor":`, r.Floor)
	if r.Rerank != "" {
		w.Text(`,"rerank":`, r.Rerank)
	}
	quickjson.Each(w, `,"chunks":`, r.Chunks, func(c *RetrievedChunk) {
		w.Text(`{"chunk_id":`, c.ChunkID)
		w.Text(`,"source_id":`, c.SourceID)
		w.Number(`,"similarity":`, c.Similarity)
		if c.SimilarityPlace != 0 {
			w.Int(`,"similarity_place":`, c.SimilarityPlace)
		}
		if c.WordPlace != 0 {
			w.Int(`,"word_place":`, c.WordPlace)
		}
		if c.WordScore != 0 {
			w.Number(`,"word_score":`, c.WordScore)
		}
		if c.Fused != 0 {
			w.Number(`,"fused":`, c.Fused)
		}
		if c.Rerank != nil {
			w.Number(`,"rerank":`, *c.Rerank)
		}
		w.Text(`,"use":`, c.Use)
		w.Put("}")
	})
	w.Put("}")
}

func writeMetrics(w *quickjson.Writer, m Metrics) {
	const room = 160
	w.Out = make([]byte, 0, room)
	w.Int(`{"retrieval_ms":`, m.RetrievalMS)
	w.Int(`,"model_first_token_ms":`, m.ModelFirstTokenMS)
	w.Int(`,"tools_ms":`, m.ToolsMS)
	w.Int(`,"total_ms":`, m.TotalMS)
	if m.ToolRounds != 0 {
		w.Int(`,"tool_rounds":`, m.ToolRounds)
	}
	if m.RoundsExhausted {
		w.Put(`,"tool_rounds_exhausted":true`)
	}
	w.Put("}")
}

// receiptRoom is about what a receipt takes, passageRoom what each of its passages does.
const receiptRoom, passageRoom = 2048, 384

// canonical is the receipt as it is stored and hashed. Errors: a number is none.
func (r *Receipt) canonical() ([]byte, error) {
	w := &quickjson.Writer{Out: make([]byte, 0, receiptRoom+passageRoom*len(r.Passages))}
	text := func(one *string) { w.Text("", *one) }
	w.Text(`{"agent_id":`, r.AgentID)
	w.Int(`,"agent_version":`, r.AgentVersion)
	w.Text(`,"begun_by":`, r.BegunBy)
	if r.Cost != nil {
		w.Text(`,"cost":{"amount":`, r.Cost.Amount)
		w.Text(`,"currency":`, r.Cost.Currency)
		w.Put("}")
	}
	w.Put(`,"ended_at":`)
	w.Out = r.EndedAt.append(w.Out)
	w.Text(`,"error_code":`, r.ErrorCode)
	quickjson.Each(w, `,"guard_verdicts":`, r.GuardVerdicts, func(g *ReceiptGuard) {
		w.Text(`{"guard":`, g.Guard)
		w.Text(`,"rule":`, g.Rule)
		w.Text(`,"subject":`, g.Subject)
		w.Text(`,"verdict":`, g.Verdict)
		w.Put("}")
	})
	if h := r.History; h != nil {
		w.Int(`,"history":{"summarized_turns":`, h.SummarizedTurns)
		w.Text(`,"summary_hash":`, h.SummaryHash)
		w.Int(`,"tokens":`, h.Tokens)
		w.Int(`,"turns":`, h.Turns)
		w.Put("}")
	}
	w.Int(`,"index":`, r.Index)
	quickjson.Each(w, `,"memory_read":`, r.MemoryRead, text)
	quickjson.Each(w, `,"memory_written":`, r.MemoryWritten, text)
	quickjson.Each(w, `,"model_calls":`, r.ModelCalls, func(c *ReceiptModelCall) { c.write(w) })
	quickjson.Each(w, `,"passages":`, r.Passages, func(p *ReceiptPassage) { p.write(w) })
	w.Text(`,"session_id":`, r.SessionID)
	if r.Spilled {
		w.Put(`,"spilled":true`)
	}
	quickjson.Each(w, `,"stages":`, r.Stages, func(s *ReceiptStage) {
		w.Int(`{"duration_ms":`, s.DurationMS)
		w.Text(`,"stage":`, s.Stage)
		w.Int(`,"start_ms":`, s.StartMS)
		w.Put("}")
	})
	w.Put(`,"started_at":`)
	w.Out = r.StartedAt.append(w.Out)
	w.Text(`,"status":`, r.Status)
	quickjson.Each(w, `,"tool_calls":`, r.ToolCalls, func(c *ReceiptToolCall) { c.write(w) })
	w.Text(`,"turn_id":`, r.TurnID)
	w.Int(`,"usage":{"input_tokens":`, r.Usage.InputTokens)
	w.Text(`,"model":`, r.Usage.Model)
	w.Int(`,"output_tokens":`, r.Usage.OutputTokens)
	w.Int(`},"version":`, r.Version)
	w.Text(`,"workspace_id":`, r.WorkspaceID)
	w.Put("}")
	if w.Odd {
		return nil, errors.New("a number of the receipt is none")
	}
	return w.Out, nil
}

func (c *ReceiptModelCall) write(w *quickjson.Writer) {
	quickjson.Each(w, `{"attempts":`, c.Attempts, func(a *ReceiptAttempt) {
		w.Int(`{"duration_ms":`, a.DurationMS)
		w.Text(`,"error_code":`, a.ErrorCode)
		w.Text(`,"model":`, a.Model)
		w.Text(`,"provider":`, a.Provider)
		w.Put("}")
	})
	w.Int(`,"duration_ms":`, c.DurationMS)
	w.Text(`,"error_code":`, c.ErrorCode)
	w.Text(`,"finish_reason":`, c.FinishReason)
	w.Int(`,"first_token_ms":`, c.FirstTokenMS)
	w.Int(`,"input_tokens":`, c.InputTokens)
	w.Int(`,"messages":`, c.Messages)
	w.Text(`,"model":`, c.Model)
	w.Int(`,"output_tokens":`, c.OutputTokens)
	w.Text(`,"prompt_hash":`, c.PromptHash)
	w.Text(`,"provider":`, c.Provider)
	w.Int(`,"start_ms":`, c.StartMS)
	w.Int(`,"tools":`, c.Tools)
	w.Put("}")
}

func (p *ReceiptPassage) write(w *quickjson.Writer) {
	w.Int(`{"char_end":`, p.CharEnd)
	w.Int(`,"char_start":`, p.CharStart)
	w.Text(`,"chunk_id":`, p.ChunkID)
	w.Int(`,"page_end":`, p.PageEnd)
	w.Int(`,"page_start":`, p.PageStart)
	w.Bool(`,"quoted":`, p.Quoted)
	w.Number(`,"similarity":`, p.Similarity)
	w.Text(`,"source_id":`, p.SourceID)
	w.Text(`,"source_name":`, p.SourceName)
	w.Text(`,"text_hash":`, p.TextHash)
	w.Put("}")
}

func (c *ReceiptToolCall) write(w *quickjson.Writer) {
	w.Put("{")
	if a := c.Approval; a != nil {
		w.Text(`"approval":{"decided_by":`, a.DecidedBy)
		w.Text(`,"status":`, a.Status)
		w.Put("},")
	}
	w.Text(`"arguments_hash":`, c.ArgumentsHash)
	w.Int(`,"attempts":`, c.Attempts)
	w.Text(`,"error_code":`, c.ErrorCode)
	w.Text(`,"id":`, c.ID)
	w.Int(`,"latency_ms":`, c.LatencyMS)
	w.Text(`,"output_hash":`, c.OutputHash)
	w.Text(`,"slug":`, c.Slug)
	w.Int(`,"start_ms":`, c.StartMS)
	w.Text(`,"status":`, c.Status)
	w.Int(`,"status_code":`, c.StatusCode)
	w.Text(`,"tool_id":`, c.ToolID)
	w.Put("}")
}

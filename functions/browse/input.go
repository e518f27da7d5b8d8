package browse

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/research"
	"truecost.dev/shared/schema"
)

// input is what the skill is asked with; the schema says what is allowed.
type input struct {
	Topic       string `json:"search_topic"`
	Instruction string `json:"extraction_instruction"`
	MaxResults  int    `json:"max_results"`
	Freshness   int    `json:"freshness_days"` // 0: any age
}

const defaultResults = 3

// compiled is the schema of the input.
var compiled = sync.OnceValues(func() (*schema.Schema, error) { return schema.Compile(inputSchema) })

// controls are members with which TrueCost's own agents send what is not input.
var controls = []string{"estimate_id", "critic_feedback", "retry_attempt", "previous_agents"}

// inputOf reads the first data part of a message: the input, or an object with
// the input as member input. It returns fault.Invalid that names the member at
// fault.
func inputOf(msg *sdk.Message) (input, error) {
	for i, part := range msg.Parts {
		raw, ok := part.Data().(json.RawMessage)
		if !ok {
			continue
		}
		path := fmt.Sprintf("params.message.parts[%d].data", i)
		data, ok := wire.Object(raw)
		if !ok {
			return input{}, fault.New(fault.Invalid, "%s: want an object", path)
		}
		if wire.First(data["input"]) == '{' {
			return read(path+".input", data["input"])
		}
		for _, name := range controls {
			delete(data, name)
		}
		raw, err := json.Marshal(data)
		if err != nil {
			return input{}, fault.Wrap(fault.Internal, err, "encode the input")
		}
		return read(path, raw)
	}
	return input{}, fault.New(fault.Invalid, "params.message.parts: want a part with data")
}

// read checks an input and decodes it.
func read(path string, raw json.RawMessage) (input, error) {
	s, err := compiled()
	if err != nil {
		return input{}, fault.Wrap(fault.Internal, err, "compile the schema of browse_extract")
	}
	found, err := s.Problems(raw)
	if err != nil {
		return input{}, fault.Wrap(fault.Invalid, err, "%s: %s", path, fault.Public(err))
	}
	if len(found) > 0 {
		for i, p := range found {
			if p.Path != "" && p.Path[0] != '[' {
				p.Path = "." + p.Path
			}
			found[i].Path = path + p.Path
		}
		return input{}, &fault.Error{Kind: fault.Invalid, Msg: schema.Summary(found), Details: found}
	}
	in := input{MaxResults: defaultResults}
	if err := json.Unmarshal(raw, &in); err != nil {
		return input{}, fault.Wrap(fault.Invalid, err, "%s: want the members of the skill", path)
	}
	return in, nil
}

// question asks for pages of the last days, counted back from now.
func (in input) question(now time.Time) research.Question {
	q := research.Question{Topic: in.Topic, Instruction: in.Instruction, Results: in.MaxResults, Now: now}
	if in.Freshness > 0 {
		q.Since = now.AddDate(0, 0, -in.Freshness)
	}
	return q
}

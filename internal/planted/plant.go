package planted

import (
	"encoding/json"
	"fmt"
	"maps"
)

// Plant makes the error in what a family was given and what it answered. wants
// are the paths a finding must begin with, as numbers.
func (c *Case) Plant(j *Job, family string) (input map[string]json.RawMessage, output json.RawMessage, wants []string, err error) {
	output, input = j.Output[family], maps.Clone(j.Input[family])
	if c.Alone {
		input = nil
	}
	for _, e := range c.Edits {
		target := output
		if e.Input {
			if target, err = json.Marshal(input); err != nil {
				return nil, nil, nil, fmt.Errorf("write the input: %w", err)
			}
		}
		if target, err = e.make(target); err != nil {
			return nil, nil, nil, fmt.Errorf("line %d: %s: %w", c.Line, c.Name, err)
		}
		if !e.Input {
			output = target
			continue
		}
		input = nil
		if err = json.Unmarshal(target, &input); err != nil {
			return nil, nil, nil, fmt.Errorf("read the input: %w", err)
		}
	}
	d, err := Parse(output)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, w := range c.Want {
		wants = append(wants, d.resolve(w))
	}
	return input, output, wants, nil
}

func (e *Edit) make(raw json.RawMessage) (json.RawMessage, error) {
	switch e.Command {
	case "resum":
		return resum(raw)
	case "retotal":
		return retotal(raw)
	}
	d, err := Parse(raw)
	if err != nil {
		return nil, err
	}
	if err := d.edit(e.Command, e.Path, e.Argument); err != nil {
		return nil, err
	}
	return d.JSON()
}

package front

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/wire"
)

// earlyMessage reads the message in the parameters of a call.
func earlyMessage(p object, s spelling) (*sdk.Message, error) {
	m, ok, err := p.object("message")
	if err == nil && !ok {
		err = p.want("message", "an object")
	}
	if err != nil {
		return nil, err
	}
	if kind, _ := m.text("kind"); kind != "message" && m.raw("kind") != nil {
		return nil, m.want("kind", `"message"`)
	}
	if err := s.user(m); err != nil {
		return nil, err
	}
	msg := &sdk.Message{Role: sdk.MessageRoleUser}
	if msg.ID, err = m.name("messageId"); err != nil {
		return nil, err
	}
	if msg.ContextID, err = m.text("contextId"); err != nil {
		return nil, err
	}
	id, err := m.text("taskId")
	if err != nil {
		return nil, err
	}
	msg.TaskID = sdk.TaskID(id)
	return msg, s.body(m, msg)
}

// user refuses a message that is not of a user.
func (s spelling) user(m object) error {
	want := "user"
	if s == protoSpelling {
		want = "ROLE_USER"
	}
	if role, _ := m.text("role"); role != want {
		return m.want("role", `"`+want+`"`)
	}
	return nil
}

// body reads what a message says, beside its names.
func (s spelling) body(m object, msg *sdk.Message) error {
	name, one := "parts", earlyPartOf
	if s == protoSpelling {
		name, one = "content", protoPartOf
	}
	var err error
	if msg.Parts, err = partsOf(m.raw(name), m.at(name), one); err != nil {
		return err
	}
	others, err := m.texts("referenceTaskIds")
	if err != nil {
		return err
	}
	for _, id := range others {
		msg.ReferenceTasks = append(msg.ReferenceTasks, sdk.TaskID(id))
	}
	if msg.Extensions, err = m.texts("extensions"); err != nil {
		return err
	}
	msg.Metadata, err = m.metadata()
	return err
}

// earlyPartOf reads a part that is told apart by its kind. Its errors continue
// the path of the part.
func earlyPartOf(raw json.RawMessage) (*sdk.Part, error) {
	part, err := partOf(raw, "kind")
	if err != nil {
		return nil, err
	}
	return withMetadata(part, raw)
}

// protoPartOf reads a part of which there is one member for its content, as
// protobuf has it. Its errors continue the path of the part.
func protoPartOf(raw json.RawMessage) (*sdk.Part, error) {
	members, ok := wire.Object(raw)
	if !ok {
		return nil, fmt.Errorf(": want an object")
	}
	p := object{"", members}
	var part *sdk.Part
	var contents int
	if p.raw("text") != nil {
		text, err := p.text("text")
		if err != nil {
			return nil, fmt.Errorf(".text: want a string")
		}
		part, contents = sdk.NewTextPart(text), contents+1
	}
	if data := p.raw("data"); data != nil {
		inner, _ := wire.Object(data)
		if wire.First(inner["data"]) != '{' {
			return nil, fmt.Errorf(".data.data: want an object")
		}
		part, contents = sdk.NewDataPart(inner["data"]), contents+1
	}
	if file := p.raw("file"); file != nil {
		var err error
		if part, err = protoFileOf(file); err != nil {
			return nil, err
		}
		contents++
	}
	if contents != 1 {
		return nil, fmt.Errorf(`: want one of "text", "file" and "data"`)
	}
	return withMetadata(part, raw)
}

// protoFileOf reads a file in protobuf. Its bytes are in base64, as the
// definition says, or twice so, as most clients send them.
func protoFileOf(raw json.RawMessage) (*sdk.Part, error) {
	members, ok := wire.Object(raw)
	f := object{"", members}
	if !ok || (f.raw("fileWithBytes") == nil) == (f.raw("fileWithUri") == nil) {
		return nil, fmt.Errorf(".file: want an object with either fileWithBytes or fileWithUri")
	}
	var part *sdk.Part
	if f.raw("fileWithBytes") != nil {
		text, wrong := f.text("fileWithBytes")
		once, err := base64.StdEncoding.DecodeString(text)
		if wrong != nil || err != nil {
			return nil, fmt.Errorf(".file.fileWithBytes: want base64")
		}
		twice, err := base64.StdEncoding.DecodeString(string(once))
		if err != nil {
			twice = once
		}
		part = sdk.NewRawPart(twice)
	} else {
		text, wrong := f.text("fileWithUri")
		u, err := url.Parse(text)
		if wrong != nil || err != nil || !u.IsAbs() {
			return nil, fmt.Errorf(".file.fileWithUri: want an absolute URL")
		}
		part = sdk.NewFileURLPart(sdk.URL(text), "")
	}
	part.Filename, _ = f.text("name")
	part.MediaType, _ = f.text("mimeType")
	return part, nil
}

// withMetadata adds the metadata of a part, and takes data that is no object out
// of the one it travels in.
func withMetadata(part *sdk.Part, raw json.RawMessage) (*sdk.Part, error) {
	members, _ := wire.Object(raw)
	meta, err := object{"", members}.metadata()
	if err != nil {
		return nil, fmt.Errorf(".metadata: want an object")
	}
	part.Metadata = meta
	data, ok := part.Content.(sdk.Data)
	if wrapped, _ := meta[metaWrapped].(bool); !ok || !wrapped {
		return part, nil
	}
	inner, _ := wire.Object(data.Value.(json.RawMessage))
	value, ok := inner["value"]
	if !ok {
		return nil, fmt.Errorf(".data.value: want the data that %s speaks of", metaWrapped)
	}
	part.Content = sdk.Data{Value: value}
	if delete(meta, metaWrapped); len(meta) == 0 {
		part.Metadata = nil
	}
	return part, nil
}

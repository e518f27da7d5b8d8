package front

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

// maxParts is how many parts a message may have.
const maxParts = 64

// partsOf reads the list of parts at path with one, whose errors continue the
// path of the part.
func partsOf(list json.RawMessage, path string, one func(json.RawMessage) (*sdk.Part, error)) (sdk.ContentParts, error) {
	var raw []json.RawMessage
	if json.Unmarshal(list, &raw) != nil || len(raw) == 0 || len(raw) > maxParts {
		return nil, fault.New(fault.Invalid, "%s: want a list of 1 to %d parts", path, maxParts)
	}
	parts := make(sdk.ContentParts, len(raw))
	for i := range raw {
		p, err := one(raw[i])
		if err != nil {
			return nil, fault.New(fault.Invalid, "%s[%d]%s", path, i, err)
		}
		parts[i] = p
	}
	return parts, nil
}

// partOf reads a part of A2A 0.x: told apart by the member type in 0.1, by kind
// since 0.2. Its errors continue the path of the part.
func partOf(raw json.RawMessage, by string) (*sdk.Part, error) {
	p, ok := wire.Object(raw)
	if !ok {
		return nil, fmt.Errorf(": want an object")
	}
	kind, _ := p.Text(by)
	for _, other := range []string{"kind", "type"} {
		if other != by && p.Has(other) {
			return nil, fmt.Errorf(".%s: this dialect tells parts apart by %s", other, by)
		}
	}
	for _, other := range []string{"text", "file", "data"} {
		if other != kind && p.Has(other) {
			return nil, fmt.Errorf(": want one content, that of its %s", by)
		}
	}
	switch kind {
	case "data":
		if wire.First(p["data"]) != '{' {
			return nil, fmt.Errorf(".data: want an object")
		}
		return sdk.NewDataPart(p["data"]), nil
	case "text":
		text, ok := p.Text("text")
		if !ok {
			return nil, fmt.Errorf(".text: want a string")
		}
		return sdk.NewTextPart(text), nil
	case "file":
		return filePartOf(p["file"])
	}
	return nil, fmt.Errorf(`.%s: want "text", "file" or "data"`, by)
}

func filePartOf(raw json.RawMessage) (*sdk.Part, error) {
	f, ok := wire.Object(raw)
	if !ok || f.Has("bytes") == f.Has("uri") {
		return nil, fmt.Errorf(".file: want an object with either bytes or uri")
	}
	var part *sdk.Part
	if f.Has("bytes") {
		text, ok := f.Text("bytes")
		content, err := base64.StdEncoding.DecodeString(text)
		if !ok || err != nil {
			return nil, fmt.Errorf(".file.bytes: want base64")
		}
		part = sdk.NewRawPart(content)
	} else {
		text, ok := f.Text("uri")
		u, err := url.Parse(text)
		if !ok || err != nil || !u.IsAbs() {
			return nil, fmt.Errorf(".file.uri: want an absolute URL")
		}
		part = sdk.NewFileURLPart(sdk.URL(text), "")
	}
	part.Filename, _ = f.Text("name")
	part.MediaType, _ = f.Text("mimeType")
	return part, nil
}

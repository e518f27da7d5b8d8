package intake

import "truecost.dev/shared/estimate"

var inputMethods = choice{
	of:   []string{"text", "voice", "mixed"},
	code: InvalidInputMethod, fallback: "text",
}

func (c cursor) conversation() estimate.Conversation {
	if !c.object(MissingConversation) {
		return estimate.Conversation{}
	}
	v := estimate.Conversation{
		Method:    c.at("inputMethod").pick(inputMethods),
		Messages:  c.at("messageCount").count(),
		Questions: c.at("clarificationQuestions").opaques(),
	}
	v.Confidence, _ = c.at("confidenceScore").number(MissingField, fraction)
	return v
}

func (c cursor) flags() estimate.Flags {
	if !c.object(MissingFlags) {
		return estimate.Flags{}
	}
	f := estimate.Flags{
		LowConfidence:     []estimate.LowConfidence{},
		MissingData:       c.at("missingData").texts(),
		UserVerification:  c.at("userVerificationRequired").flag(),
		VerificationItems: c.at("verificationItems").texts(),
	}
	for _, e := range c.at("lowConfidenceItems").each() {
		if !e.object(MissingField) {
			continue
		}
		item := estimate.LowConfidence{Field: e.at("field").text(MissingField), Reason: e.at("reason").optional()}
		item.Confidence, _ = e.at("confidence").number(MissingField, fraction)
		f.LowConfidence = append(f.LowConfidence, item)
	}
	return f
}

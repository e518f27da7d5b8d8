package front

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"

	"truecost.dev/shared/a2a/task"
	"truecost.dev/shared/a2a/wire"
	"truecost.dev/shared/fault"
)

// usualPage is how many tasks a page has when nobody says.
const usualPage = 50

// v1Send reads the parameters of SendMessage and SendStreamingMessage.
func v1Send(params object, op operation) (call, error) {
	inner, ok, err := params.object("message")
	if err == nil && !ok {
		err = params.want("message", "an object")
	}
	if err != nil {
		return call{}, err
	}
	msg, err := v1Message(inner)
	if err != nil {
		return call{}, err
	}
	if _, err := params.metadata(); err != nil {
		return call{}, err
	}
	c := call{op: op, send: task.Send{Message: msg, Keep: true}}
	conf, ok, err := params.object("configuration")
	if err != nil || !ok {
		return c, err
	}
	err = v1Configure(conf, &c)
	return c, err
}

// v1Configure reads what the sender of a message wants of the answer.
func v1Configure(conf object, c *call) (err error) {
	if c.send.Modes, err = conf.texts("acceptedOutputModes"); err != nil {
		return err
	}
	if c.history, err = conf.count("historyLength", 0, math.MaxInt32); err != nil {
		return err
	}
	at, ok, err := conf.object("taskPushNotificationConfig")
	if err != nil {
		return err
	}
	if ok {
		hook, err := v1Hook(at)
		if err != nil {
			return err
		}
		c.send.Hook = &hook
	}
	now, err := conf.flag("returnImmediately")
	if now && c.op == sendMessage {
		c.op = submitMessage
	}
	return err
}

func v1Message(m object) (*sdk.Message, error) {
	id, err := m.name("messageId")
	if err != nil {
		return nil, err
	}
	if role, err := m.text("role"); err != nil || role != string(sdk.MessageRoleUser) {
		return nil, m.want("role", string(sdk.MessageRoleUser))
	}
	msg := &sdk.Message{ID: id, Role: sdk.MessageRoleUser}
	taskID, err := m.text("taskId")
	if err != nil {
		return nil, err
	}
	msg.TaskID = sdk.TaskID(taskID)
	if msg.ContextID, err = m.text("contextId"); err != nil {
		return nil, err
	}
	if msg.Extensions, err = m.texts("extensions"); err != nil {
		return nil, err
	}
	if msg.Metadata, err = m.metadata(); err != nil {
		return nil, err
	}
	references, err := m.texts("referenceTaskIds")
	if err != nil {
		return nil, err
	}
	for _, r := range references {
		msg.ReferenceTasks = append(msg.ReferenceTasks, sdk.TaskID(r))
	}
	msg.Parts, err = partsOf(m.raw("parts"), m.at("parts"), v1Part)
	return msg, err
}

// v1Part reads a part, whose one content has no discriminator. Its errors
// continue the path of the part.
func v1Part(raw json.RawMessage) (*sdk.Part, error) {
	members, ok := wire.Object(raw)
	if !ok {
		return nil, fmt.Errorf(": want an object")
	}
	o := object{members: members}
	part := &sdk.Part{}
	var err error
	if part.Content, err = v1Content(o); err != nil {
		return nil, err
	}
	if part.Filename, err = o.text("filename"); err != nil {
		return nil, err
	}
	if part.MediaType, err = o.text("mediaType"); err != nil {
		return nil, err
	}
	part.Metadata, err = o.metadata()
	return part, err
}

func v1Content(o object) (sdk.PartContent, error) {
	var contents []string
	for _, name := range []string{"text", "raw", "url", "data"} {
		if o.members.Has(name) {
			contents = append(contents, name)
		}
	}
	if data, ok := o.members["data"]; ok && len(contents) == 0 { // null is a value, too
		return sdk.Data{Value: data}, nil
	}
	if len(contents) != 1 {
		return nil, fmt.Errorf(": want one of text, raw, url and data")
	}
	if contents[0] == "data" {
		return sdk.Data{Value: o.members["data"]}, nil
	}
	text, err := o.text(contents[0])
	if err != nil {
		return nil, err
	}
	switch contents[0] {
	case "raw":
		content, err := decodeBase64(text)
		if err != nil {
			return nil, o.want("raw", "base64")
		}
		return sdk.Raw(content), nil
	case "url":
		if u, err := url.Parse(text); err != nil || !u.IsAbs() {
			return nil, o.want("url", "an absolute URL")
		}
		return sdk.URL(text), nil
	}
	return sdk.Text(text), nil
}

// decodeBase64 reads either alphabet, padded or not, as readers of the protocol's
// JSON mapping do.
func decodeBase64(s string) ([]byte, error) {
	s = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(s, "="))
	return base64.RawStdEncoding.DecodeString(s) //nolint:wrapcheck // the caller says which member
}

// v1Hook reads a push configuration.
func v1Hook(o object) (task.Hook, error) {
	var h task.Hook
	taskID, err := o.text("taskId")
	if err != nil {
		return h, err
	}
	h.Config.TaskID = sdk.TaskID(taskID)
	if h.Config.ID, err = o.text("id"); err != nil {
		return h, err
	}
	if h.Config.URL, err = o.name("url"); err != nil {
		return h, err
	}
	if h.Config.Token, err = o.text("token"); err != nil {
		return h, err
	}
	auth, ok, err := o.object("authentication")
	if err != nil || !ok {
		return h, err
	}
	h.Config.Auth = &sdk.PushAuthInfo{}
	if h.Config.Auth.Scheme, err = auth.name("scheme"); err != nil {
		return h, err
	}
	h.Config.Auth.Credentials, err = auth.text("credentials")
	return h, err
}

// v1List reads the parameters of ListTasks.
func v1List(params object) (call, error) {
	c := call{op: listTasks, list: task.Query{Size: usualPage}}
	var err error
	if c.list.ContextID, err = params.text("contextId"); err != nil {
		return c, err
	}
	if c.list.State, err = v1State(params); err != nil {
		return c, err
	}
	size, err := params.count("pageSize", 1, 100)
	if err != nil {
		return c, err
	}
	if size != nil {
		c.list.Size = *size
	}
	if c.list.From, err = params.text("pageToken"); err != nil {
		return c, err
	}
	if c.history, err = params.count("historyLength", 0, math.MaxInt32); err != nil {
		return c, err
	}
	for _, name := range []string{"statusTimestampAfter", "lastUpdatedAfter"} { // the second is what the Go client says in a query
		at, err := params.text(name)
		if err != nil || at == "" {
			if err != nil {
				return c, err
			}
			continue
		}
		c.list.After, err = time.Parse(time.RFC3339, at)
		if year := c.list.After.UTC().Year(); err != nil || year < 1 || year > 9999 { // RFC 3339 has a year 0, stores do not
			return c, params.want(name, "a time as RFC 3339 writes it")
		}
	}
	c.artifacts, err = params.flag("includeArtifacts")
	return c, err
}

var v1States = []sdk.TaskState{
	sdk.TaskStateSubmitted, sdk.TaskStateWorking, sdk.TaskStateCompleted, sdk.TaskStateFailed, sdk.TaskStateCanceled,
	sdk.TaskStateInputRequired, sdk.TaskStateRejected, sdk.TaskStateAuthRequired,
}

func v1State(params object) (sdk.TaskState, error) {
	word, err := params.text("status")
	if err != nil || word == "" || word == "TASK_STATE_UNSPECIFIED" {
		return sdk.TaskStateUnspecified, err
	}
	if !slices.Contains(v1States, sdk.TaskState(word)) {
		return sdk.TaskStateUnspecified, params.want("status", "a state of a task")
	}
	return sdk.TaskState(word), nil
}

// v1Task reads the parameters of a call about one task.
func v1Task(params object, op operation, name string) (call, error) {
	id, err := params.name(name)
	if err != nil {
		return call{}, err
	}
	c := call{op: op, task: sdk.TaskID(id)}
	if op == getTask {
		c.history, err = params.count("historyLength", 0, math.MaxInt32)
	}
	return c, err
}

// v1Follow reads where a listener goes on. An id that is none of ours counts as
// none: the task comes first then.
func v1Follow(params object, h http.Header) (call, error) {
	c, err := v1Task(params, followTask, "id")
	if seq, bad := strconv.ParseInt(h.Get("Last-Event-ID"), 10, 64); bad == nil && seq >= 0 {
		c.after = &seq
	}
	return c, err
}

// v1PutHook reads the parameters of CreateTaskPushNotificationConfig.
func v1PutHook(params object) (call, error) {
	h, err := v1Hook(params)
	if err != nil {
		return call{}, err
	}
	if h.Config.TaskID == "" {
		return call{}, params.want("taskId", "a string that is not empty")
	}
	return call{op: putHook, task: h.Config.TaskID, hook: h}, nil
}

// v1NamedHook reads the parameters of a call about one push configuration.
func v1NamedHook(params object, op operation) (call, error) {
	c, err := v1Task(params, op, "taskId")
	if err != nil {
		return c, err
	}
	c.hook.Config.TaskID = c.task
	c.hook.Config.ID, err = params.name("id")
	return c, err
}

// v1Hooks reads the parameters of ListTaskPushNotificationConfigs. A task has so
// few that there is one page.
func v1Hooks(params object) (call, error) {
	if _, err := params.count("pageSize", 1, 100); err != nil {
		return call{}, err
	}
	if token, err := params.text("pageToken"); err != nil || token != "" {
		return call{}, fault.New(fault.Invalid, "%s: there is one page", params.at("pageToken"))
	}
	return v1Task(params, listHooks, "taskId")
}

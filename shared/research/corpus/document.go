package corpus

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"truecost.dev/shared/fault"
	"truecost.dev/shared/research"
	"truecost.dev/shared/research/page"
)

// Limits of a folder.
const (
	maxFiles = 5_000
	maxFile  = 1 << 20  // bytes
	maxBytes = 64 << 20 // of all files
	maxChars = 1 << 20  // of a document; more than a file can have
)

// document is a part of a file that can be found: the whole of a short one.
type document struct {
	url   string // corpus:/bid-bond, the second part corpus:/bid-bond#2
	title string
	text  string
	date  time.Time // zero: unknown
}

// load reads the documents of a folder in the order of their names. Names that
// begin with a dot, and files of other kinds, are passed over. It returns
// fault.Invalid for a file that is too large or unreadable.
func load(folder fs.FS) ([]document, error) {
	var docs []document
	files, size := 0, int64(0)
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") && name != "." {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || media[path.Ext(name)] == "" {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files++
		size += info.Size()
		if info.Size() > maxFile || files > maxFiles || size > maxBytes {
			return fault.New(fault.Invalid, "%s: wanted at most %d files of at most %d bytes, %d together", name, maxFiles, maxFile, maxBytes)
		}
		body, err := fs.ReadFile(folder, name)
		if err != nil {
			return err
		}
		parts, err := read(name, body)
		docs = append(docs, parts...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the corpus: %w", err)
	}
	return docs, nil
}

// media are the kinds of files by the ends of their names.
var media = map[string]string{
	".md": "text/markdown; charset=utf-8", ".txt": "text/plain; charset=utf-8", ".html": "text/html", ".htm": "text/html",
}

// read makes documents of a file.
func read(name string, body []byte) ([]document, error) {
	ext := path.Ext(name)
	front, text := map[string]string{}, string(body)
	if ext != ".html" && ext != ".htm" {
		front, text = cutFront(text)
	}
	if ext == ".md" {
		text = plain(text)
	}
	p, err := page.Read([]byte(text), media[ext])
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	d := document{url: "corpus:/" + strings.TrimSuffix(name, ext), title: research.Line(front["title"], 200)}
	if d.title == "" {
		d.title = p.Title
	}
	if d.title == "" {
		d.title = strings.TrimSuffix(path.Base(name), ext)
	}
	if date := front["date"]; date != "" {
		if d.date, err = time.Parse(time.DateOnly, date); err != nil {
			return nil, fault.New(fault.Invalid, "%s: date: wanted a date as 2006-01-02", name)
		}
	}
	return parts(d, p.Text), nil
}

// cutFront parts the lines between two lines --- at the top of a text, each a name
// and a value, from the rest.
func cutFront(text string) (front map[string]string, rest string) {
	front = map[string]string{}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	head, found := strings.CutPrefix(text, "---\n")
	if !found {
		return front, text
	}
	head, rest, found = strings.Cut(head, "\n---\n")
	if !found {
		return front, text
	}
	for line := range strings.SplitSeq(head, "\n") {
		name, value, _ := strings.Cut(line, ":")
		front[strings.ToLower(strings.TrimSpace(name))] = strings.Trim(strings.TrimSpace(value), `"'`)
	}
	return front, rest
}

var (
	mdLink  = regexp.MustCompile(`!?\[([^\]\n]*)\]\([^)\n]*\)`)
	mdStart = regexp.MustCompile(`(?m)^[ \t]*(#{1,6}[ \t]+|>[ \t]?|` + "```" + `.*$|[-=*_]{3,}[ \t]*$)`)
	mdMark  = strings.NewReplacer("**", "", "__", "", "`", "")
)

// plain takes the marks out of Markdown: what a reader sees of it.
func plain(text string) string {
	return mdMark.Replace(mdStart.ReplaceAllString(mdLink.ReplaceAllString(text, "$1"), ""))
}

// parts cuts a long text at the ends of lines, so that each part can be read
// whole.
func parts(d document, text string) []document {
	text = research.Clean(text, maxChars)
	var all []document
	for text != "" {
		end := cut(text, research.MaxText)
		part := d
		part.text = strings.TrimSpace(text[:end])
		if len(all) > 0 {
			part.url = fmt.Sprintf("%s#%d", d.url, len(all)+1)
		}
		all = append(all, part)
		text = strings.TrimSpace(text[end:])
	}
	return all
}

// cut returns where a part of at most limit characters ends: at the end of a
// line, or of a word if the line is too long, or just there.
func cut(text string, limit int) int {
	if utf8.RuneCountInString(text) <= limit {
		return len(text)
	}
	end := 0
	for range limit {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	for _, at := range []string{"\n", " "} {
		if i := strings.LastIndex(text[:end], at); i > 0 {
			return i
		}
	}
	return end
}

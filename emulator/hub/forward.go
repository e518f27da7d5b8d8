package hub

import (
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"

	"truecost.dev/shared/host"
)

// maxIdleForward is how many connections to a process are kept for the next
// request.
const maxIdleForward = 64

// forward returns the functions served by other processes: each request goes to
// the next of the addresses (as Check accepts them) in turn, whichever function
// it is for.
func forward(functions []host.Function, addresses []string, log *slog.Logger) []host.Function {
	targets := make([]*url.URL, len(addresses))
	for i, a := range addresses {
		targets[i], _ = url.Parse(a) // checked
	}
	var turn atomic.Uint64
	transport := &http.Transport{MaxIdleConnsPerHost: maxIdleForward, IdleConnTimeout: idleTimeout}
	out := make([]host.Function, len(functions))
	for i, f := range functions {
		f.Handler = &httputil.ReverseProxy{
			Rewrite: func(r *httputil.ProxyRequest) {
				path := "/" + f.Name
				if r.In.URL.Path != "/" { // as the functions framework has it: a bare name, or what is below it
					path += r.In.URL.Path
				}
				r.Out.URL.Path, r.Out.URL.RawPath = path, ""
				r.SetURL(targets[(turn.Add(1)-1)%uint64(len(targets))])
				r.SetXForwarded()
			},
			Transport:     transport,
			FlushInterval: -1, // agents stream
			ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
				log.LogAttrs(r.Context(), slog.LevelWarn, "forward", slog.String("function", f.Name), slog.Any("error", err))
				w.WriteHeader(http.StatusBadGateway)
			},
			ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		}
		out[i] = f
	}
	return out
}

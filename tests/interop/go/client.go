// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const tricky = "first \"quoted\" \\ back\nsecond\r\n\ttab \u0001 gr\u00fc\u00df \u65e5\u672c\u8a9e \U0001F600 \u2028 </script> end"

var (
	toolNames = []string{"add", "ask_elicit", "ask_roots", "ask_sampling", "ask_url", "echo", "fail", "grow", "image", "log", "mixed", "slow", "touch"}
	rootURIs  = []string{"file:///interop/a", "file:///interop/b%20b"}
	allOk     = true
)

func report(check string, ok bool, detail string) {
	allOk = allOk && ok
	line, _ := json.Marshal(map[string]any{"check": check, "ok": ok, "detail": detail})
	fmt.Println(string(line))
}

type failure string // thrown by the helpers below, caught by check

func check(name string, body func() string) {
	defer func() {
		switch thrown := recover().(type) {
		case nil:
		case failure:
			report(name, false, string(thrown))
		default:
			report(name, false, fmt.Sprintf("panic: %v", thrown))
		}
	}()
	report(name, true, body())
}

func expect(condition bool, format string, args ...any) {
	if !condition {
		panic(failure(fmt.Sprintf(format, args...)))
	}
}

func same(got, want any, what string) {
	expect(reflect.DeepEqual(got, want), "%s: got %#v, wanted %#v", what, got, want)
}

func must[T any](value T, err error) T {
	expect(err == nil, "%v", err)
	return value
}

func textOf(result *mcp.CallToolResult) string {
	same(len(result.Content), 1, "number of blocks")
	block, ok := result.Content[0].(*mcp.TextContent)
	expect(ok, "the block is a %T", result.Content[0])
	return block.Text
}

// A copy of what comes in.
type tap struct {
	mutex  sync.Mutex
	seen   []jsonrpc.Message
	posted string // where the last POST went
}

func (t *tap) add(message jsonrpc.Message) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.seen = append(t.seen, message)
}

type tappedPipe struct {
	mcp.Transport
	mcp.Connection
	tap *tap
}

func (p *tappedPipe) Connect(ctx context.Context) (connection mcp.Connection, err error) {
	p.Connection, err = p.Transport.Connect(ctx)
	return p, err
}

func (p *tappedPipe) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := p.Connection.Read(ctx)
	if err == nil {
		p.tap.add(message)
	}
	return message, err
}

// RoundTrip is where HTTP is tapped: the SDK does not know its own connection when that is wrapped.
func (t *tap) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodPost {
		t.mutex.Lock()
		t.posted = request.URL.String()
		t.mutex.Unlock()
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err == nil {
		events := strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream")
		response.Body = &tappedBody{ReadCloser: response.Body, tap: t, events: events}
	}
	return response, err
}

func (t *tap) endpoint() string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.posted
}

type tappedBody struct {
	io.ReadCloser
	tap    *tap
	events bool
	rest   []byte
}

func (b *tappedBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	b.rest = append(b.rest, into[:n]...)
	for b.events {
		line, rest, whole := bytes.Cut(b.rest, []byte("\n"))
		if !whole {
			return n, err
		}
		b.rest = rest
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			b.note(data)
		}
	}
	if err == io.EOF {
		b.note(b.rest)
		b.rest = nil
	}
	return n, err
}

func (b *tappedBody) note(text []byte) {
	if message, err := jsonrpc.DecodeMessage(bytes.TrimSpace(text)); err == nil {
		b.tap.add(message)
	}
}

// What came in after the first n messages: "answer", or a notification's method and, for progress, its numbers.
func (t *tap) after(n int) (lines []string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for _, message := range t.seen[n:] {
		request, ok := message.(*jsonrpc.Request)
		if !ok {
			lines = append(lines, "answer")
			continue
		}
		var progress mcp.ProgressNotificationParams
		_ = json.Unmarshal(request.Params, &progress)
		lines = append(lines, fmt.Sprintf("%s %v/%v %s", request.Method, progress.Progress, progress.Total, progress.Message))
	}
	return lines
}

func (t *tap) count() int { return len(t.after(0)) }

func runClient(args []string) int {
	flags := flag.NewFlagSet("client", flag.ExitOnError)
	era := flags.String("era", "legacy", "legacy or auto")
	revision := flags.String("version", "2025-11-25", "the revision to ask for in the legacy era")
	lenient := flags.Bool("lenient", false, "an unknown tool may be a tool error")
	killed := flags.Bool("killed", false, "only a call in whose middle the server is killed and started again")
	_ = flags.Parse(args)
	command := flags.Args()
	if len(command) == 0 {
		fmt.Fprintln(os.Stderr, "no command and no URL")
		return 2
	}

	progress, updates, logs, notices, completed := newJournal(), newJournal(), newJournal(), newJournal(), newJournal()
	client := mcp.NewClient(&mcp.Implementation{Name: "interop-go", Version: "1.0.0"}, &mcp.ClientOptions{
		CreateMessageHandler: func(_ context.Context, request *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			if request.Params.MaxTokens != 50 || len(request.Params.Messages) != 1 {
				return nil, fmt.Errorf("unexpected sampling request: %+v", request.Params)
			}
			asked := request.Params.Messages[0].Content.(*mcp.TextContent).Text
			return &mcp.CreateMessageResult{Role: "assistant", Model: "interop-model", StopReason: "endTurn",
				Content: &mcp.TextContent{Text: "model says: " + asked}}, nil
		},
		ElicitationHandler: func(_ context.Context, request *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			if request.Params.Mode == "url" {
				if request.Params.Message != "Open it?" || request.Params.URL != place {
					return nil, fmt.Errorf("unexpected elicitation: %+v", request.Params)
				}
				return &mcp.ElicitResult{Action: "accept"}, nil
			}
			switch request.Params.Message {
			case "Your name?":
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
			case "Decline this":
				return &mcp.ElicitResult{Action: "decline"}, nil
			case "Cancel this":
				return &mcp.ElicitResult{Action: "cancel"}, nil
			}
			return nil, fmt.Errorf("unexpected elicitation: %+v", request.Params)
		},
		Capabilities: &mcp.ClientCapabilities{
			RootsV2: &mcp.RootCapabilities{ListChanged: true},
			Elicitation: &mcp.ElicitationCapabilities{
				Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}},
		},
		ElicitationCompleteHandler: func(_ context.Context, request *mcp.ElicitationCompleteNotificationRequest) {
			completed.add("%s", request.Params.ElicitationID)
		},
		ToolListChangedHandler:     func(context.Context, *mcp.ToolListChangedRequest) { notices.add("tools") },
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { notices.add("resources") },
		PromptListChangedHandler:   func(context.Context, *mcp.PromptListChangedRequest) { notices.add("prompts") },
		ProgressNotificationHandler: func(_ context.Context, request *mcp.ProgressNotificationClientRequest) {
			progress.add("%v/%v %s", request.Params.Progress, request.Params.Total, request.Params.Message)
		},
		ResourceUpdatedHandler: func(_ context.Context, request *mcp.ResourceUpdatedNotificationRequest) {
			updates.add("%s", request.Params.URI)
		},
		LoggingMessageHandler: func(_ context.Context, request *mcp.LoggingMessageRequest) {
			logs.add("%s %s %v", request.Params.Level, request.Params.Logger, request.Params.Data)
		},
	})
	for _, uri := range rootURIs {
		client.AddRoots(&mcp.Root{URI: uri})
	}

	ctx, stop := context.WithTimeout(context.Background(), 50*time.Second)
	defer stop()
	overOld := strings.HasSuffix(command[0], "/sse") // the HTTP+SSE of 2024-11-05
	overHTTP := strings.HasPrefix(command[0], "http:") && !overOld
	incoming := &tap{}
	newTransport := func() mcp.Transport {
		web := &http.Client{Transport: incoming}
		if overOld {
			return &mcp.SSEClientTransport{Endpoint: command[0], HTTPClient: web}
		}
		if overHTTP {
			return &mcp.StreamableClientTransport{Endpoint: command[0], HTTPClient: web}
		}
		process := exec.Command(command[0], command[1:]...)
		process.Stderr = os.Stderr
		return &tappedPipe{Transport: &mcp.CommandTransport{Command: process}, tap: incoming}
	}
	options := &mcp.ClientSessionOptions{}
	if *era == "legacy" {
		options.ProtocolVersion = *revision
	}

	var session *mcp.ClientSession
	modern := false
	check("initialize", func() string {
		session = must(client.Connect(ctx, newTransport(), options))
		got := session.InitializeResult()
		if *era == "legacy" {
			same(got.ProtocolVersion, *revision, "protocol version")
		}
		modern = got.ProtocolVersion >= "2026-07-28"
		expect(got.ServerInfo != nil && got.ServerInfo.Name != "" && got.ServerInfo.Version != "", "server info: %+v", got.ServerInfo)
		expect(got.Capabilities != nil && got.Capabilities.Tools != nil, "tools capability")
		return fmt.Sprintf("%s %s at %s", got.ServerInfo.Name, got.ServerInfo.Version, got.ProtocolVersion)
	})
	if session == nil {
		return 1
	}
	if *killed {
		return runKilled(ctx, session, func() *mcp.ClientSession { return must(client.Connect(ctx, newTransport(), options)) })
	}
	call := func(name string, arguments any) *mcp.CallToolResult {
		return must(session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments}))
	}
	type object = map[string]any
	old := *revision < "2025-06-18" // no structured results, resource links and elicitation yet

	check("ping", func() string {
		if modern {
			return "this revision has no ping"
		}
		expect(session.Ping(ctx, nil) == nil, "no answer")
		return ""
	})

	check("list", func() string {
		var names []string
		for _, tool := range must(session.ListTools(ctx, nil)).Tools {
			names = append(names, tool.Name)
			schema, ok := tool.InputSchema.(map[string]any)
			expect(ok && schema["type"] == "object", "inputSchema of %s: %v", tool.Name, tool.InputSchema)
			expect(tool.Description != "", "description of %s", tool.Name)
		}
		slices.Sort(names)
		same(names, toolNames, "names")
		return ""
	})

	check("echo", func() string {
		for _, text := range []string{tricky, "", strings.Repeat("x", 300000)} {
			result := call("echo", object{"text": text})
			expect(!result.IsError, "isError")
			same(textOf(result), text, "text")
		}
		return ""
	})

	check("add", func() string {
		for _, pair := range [][2]float64{{2, 3}, {0.5, -2.25}, {1e15, 1}} {
			result := call("add", object{"a": pair[0], "b": pair[1]})
			want := map[string]any{"sum": pair[0] + pair[1]}
			if !old {
				same(result.StructuredContent, want, "structuredContent")
			}
			var text any
			expect(json.Unmarshal([]byte(textOf(result)), &text) == nil, "text is no JSON")
			same(text, want, "text")
		}
		return ""
	})

	check("fail", func() string {
		result := call("fail", object{})
		expect(result.IsError, "isError")
		same(textOf(result), "it failed", "text")
		return ""
	})

	check("image", func() string {
		content := call("image", object{}).Content
		same(len(content), 1, "number of blocks")
		image := content[0].(*mcp.ImageContent)
		same(image.MIMEType, "image/png", "mimeType")
		expect(bytes.HasPrefix(image.Data, []byte("\x89PNG\r\n\x1a\n")), "PNG signature")
		return ""
	})

	check("mixed", func() string {
		if old {
			return "this revision has no resource links"
		}
		content := call("mixed", object{}).Content
		same(len(content), 5, "number of blocks")
		expect(content[0].(*mcp.TextContent).Text != "", "text")
		expect(bytes.Equal(content[1].(*mcp.ImageContent).Data, bytesOf(png)), "bytes of the image")
		audio := content[2].(*mcp.AudioContent)
		expect(audio.MIMEType == "audio/wav" && bytes.HasPrefix(audio.Data, []byte("RIFF")), "audio")
		link := content[3].(*mcp.ResourceLink)
		expect(strings.Contains(link.URI, "://") && link.Name != "", "resource link")
		embedded := content[4].(*mcp.EmbeddedResource).Resource
		expect(strings.Contains(embedded.URI, "://") && embedded.Text != "", "embedded resource")
		return ""
	})

	const method = "notifications/progress "
	// The lines of n steps.
	steps := func(n int) (lines []string) {
		for i := 1; i <= n; i++ {
			message := fmt.Sprintf("step %d", i)
			if *revision < "2025-03-26" && !*lenient { // progress has no text yet
				message = ""
			}
			lines = append(lines, fmt.Sprintf("%d/%d %s", i, n, message))
		}
		return lines
	}
	slow := func(ctx context.Context, steps, delay int, token any) (*mcp.CallToolResult, error) {
		params := &mcp.CallToolParams{Name: "slow", Arguments: object{"steps": steps, "delay_ms": delay}}
		if token != nil {
			params.SetProgressToken(token)
		}
		return session.CallTool(ctx, params)
	}

	check("progress", func() string {
		before := incoming.count()
		same(textOf(must(slow(ctx, 4, 50, "token-1"))), "done", "text")
		want := steps(4)
		same(incoming.after(before), []string{method + want[0], method + want[1], method + want[2], method + want[3], "answer"}, "wire")
		got := progress.after(0, 4) // each is handled by itself, so they may come a little later
		expect(len(got) >= 2, "only %d events", len(got))
		same(got, want[:len(got)], "events")
		before = incoming.count()
		same(textOf(must(slow(ctx, 2, 10, nil))), "done", "text without a token")
		same(incoming.after(before), []string{"answer"}, "wire without a token")
		return fmt.Sprintf("%d of 4 events", len(got))
	})

	check("cancel", func() string {
		started := time.Now()
		inner, cancel := context.WithCancel(ctx)
		defer cancel()
		before := progress.count()
		go func() {
			progress.after(before, 1)
			cancel()
		}()
		_, err := slow(inner, 100, 100, 2)
		expect(errors.Is(err, context.Canceled), "the call ended with %v", err)
		expect(time.Since(started) < 5*time.Second, "the abort took too long")
		same(textOf(call("echo", object{"text": "still here"})), "still here", "echo after it")
		time.Sleep(300 * time.Millisecond) // what was under way may still arrive
		silent := incoming.count()
		time.Sleep(500 * time.Millisecond)
		same(incoming.after(silent), []string(nil), "messages of a call that was cancelled")
		return ""
	})

	check("bad_arguments", func() string {
		result := call("echo", object{"text": 5})
		expect(result.IsError, "isError")
		return textOf(result)
	})

	check("unknown_tool", func() string {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "no_such_tool", Arguments: object{}})
		var wire *jsonrpc.Error
		if errors.As(err, &wire) {
			same(wire.Code, int64(-32602), "code")
			return wire.Message
		}
		expect(err == nil, "%v", err)
		expect(*lenient && result.IsError, "no protocol error but %+v", result)
		return "tool error: " + textOf(result)
	})

	check("ask_roots", func() string {
		same(textOf(call("ask_roots", object{})), strings.Join(rootURIs, ","), "text")
		return ""
	})
	check("ask_sampling", func() string {
		same(textOf(call("ask_sampling", object{"prompt": `Why "so"?`})), `model says: Why "so"?`, "text")
		return ""
	})
	check("ask_elicit", func() string {
		if old {
			return "this revision has no elicitation"
		}
		same(textOf(call("ask_elicit", object{"message": "Your name?"})), "action=accept name=Ada", "text")
		return ""
	})

	check("elicit_refused", func() string {
		if old {
			return "this revision has no elicitation"
		}
		same(textOf(call("ask_elicit", object{"message": "Decline this"})), "action=decline", "text")
		same(textOf(call("ask_elicit", object{"message": "Cancel this"})), "action=cancel", "text")
		return ""
	})
	check("ask_url", func() string {
		if *revision < "2025-11-25" {
			return "this revision has no elicitation by URL"
		}
		same(textOf(call("ask_url", object{"message": "Open it?"})), "action=accept", "text")
		if modern {
			return "this revision does not tell of the end"
		}
		same(completed.after(0, 1), []string{"interop-1"}, "completed")
		return ""
	})
	check("roots_changed", func() string {
		if modern {
			return "this revision has no notice of it"
		}
		// The SDK tells the server of each change.
		client.RemoveRoots(rootURIs...)
		client.AddRoots(&mcp.Root{URI: "file:///interop/c"})
		same(textOf(call("ask_roots", object{})), "file:///interop/c", "text")
		return ""
	})
	rest := &catalog{ctx: ctx, session: session, revision: session.InitializeResult().ProtocolVersion, lenient: *lenient,
		updates: updates, logs: logs, notices: notices}
	rest.checks()

	switch {
	case overOld:
		check("close", func() string {
			endpoint := incoming.endpoint()
			expect(session.Close() == nil, "close")
			status := 0
			for late := time.Now().Add(5 * time.Second); status != 404 && time.Now().Before(late); time.Sleep(20 * time.Millisecond) {
				// Nobody tells when the server has seen the end of the stream.
				body := strings.NewReader(`{"jsonrpc":"2.0","id":"late","method":"ping"}`)
				response := must(http.Post(endpoint, "application/json", body))
				_ = response.Body.Close()
				status = response.StatusCode
			}
			same(status, 404, "status after it")
			return ""
		})
	case overHTTP:
		// The connection is cut after the second step. What follows comes once, and in order.
		check("resume", func() string {
			before := incoming.count()
			same(textOf(must(slow(ctx, 7, 50, "token-3"))), "done", "text")
			var want []string
			for _, line := range steps(7) {
				want = append(want, method+line)
			}
			same(incoming.after(before), append(want, "answer"), "wire")
			return ""
		})
		// What the SDK would not send by itself: a request for a session, whosever it is.
		status := func(method, id, body string) int {
			request := must(http.NewRequestWithContext(ctx, method, command[0], strings.NewReader(body)))
			request.Header.Set("Mcp-Session-Id", id)
			request.Header.Set("MCP-Protocol-Version", *revision)
			request.Header.Set("Content-Type", "application/json")
			request.Header.Set("Accept", "application/json, text/event-stream")
			response := must(http.DefaultClient.Do(request))
			_ = response.Body.Close()
			return response.StatusCode
		}
		check("close", func() string {
			id := session.ID()
			expect(session.Close() == nil, "close")
			same(status("POST", id, `{"jsonrpc":"2.0","id":"late","method":"ping"}`), 404, "status after it")
			return ""
		})
		check("expired", func() string {
			connect := func() { session = must(client.Connect(ctx, newTransport(), options)) }
			connect()
			got := status("DELETE", session.ID(), "")
			expect(got == 200 || got == 204, "status of DELETE: %d", got)
			_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "echo", Arguments: object{"text": "lost"}})
			expect(err != nil, "a call in a session that is gone has succeeded")
			detail := fmt.Sprintf("%v (seen as a missing session: %v)", err, errors.Is(err, mcp.ErrSessionMissing))
			_ = session.Close()
			connect()
			same(textOf(call("echo", object{"text": "again"})), "again", "text")
			expect(session.Close() == nil, "close")
			return detail
		})
	default:
		check("close", func() string {
			started := time.Now()
			_ = session.Close()
			took := time.Since(started)
			expect(took < 4500*time.Millisecond, "the server did not leave at end of input (%v)", took) // the SDK sends TERM after 5 s
			return ""
		})
	}
	if !allOk {
		return 1
	}
	return 0
}

// Somebody kills the server in the middle of the first call and starts it again.
func runKilled(ctx context.Context, session *mcp.ClientSession, connect func() *mcp.ClientSession) int {
	call := func(name string, arguments map[string]any) (*mcp.CallToolResult, error) {
		inner, stop := context.WithTimeout(ctx, 5*time.Second)
		defer stop()
		params := &mcp.CallToolParams{Name: name, Arguments: arguments}
		params.SetProgressToken(name)
		return session.CallTool(inner, params)
	}
	check("killed", func() string {
		_, err := call("slow", map[string]any{"steps": 9, "delay_ms": 100})
		expect(err != nil, "the call ended as if nothing had happened")
		return err.Error()
	})
	check("lost", func() string {
		_, err := call("echo", map[string]any{"text": "lost"})
		// The SDK may have heard it already, when it came back for the stream; then its error does not wrap the one for it.
		expect(err != nil && strings.Contains(err.Error(), mcp.ErrSessionMissing.Error()), "a call in a session that is gone ended with %v", err)
		return err.Error()
	})
	check("again", func() string {
		_ = session.Close()
		session = connect()
		same(textOf(must(call("echo", map[string]any{"text": "again"}))), "again", "text")
		expect(session.Close() == nil, "close")
		return ""
	})
	if !allOk {
		return 1
	}
	return 0
}

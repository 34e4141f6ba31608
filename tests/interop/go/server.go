// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type none struct{}

func text(value string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: value}}}
}

func bytesOf(encoded string) []byte {
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		panic(err)
	}
	return data
}

func add[In any](server *mcp.Server, name, description string, handler func(context.Context, *mcp.CallToolRequest, In) (*mcp.CallToolResult, error)) {
	mcp.AddTool(server, &mcp.Tool{Name: name, Description: description},
		func(ctx context.Context, request *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
			result, err := handler(ctx, request, in)
			return result, nil, err
		})
}

// Asks for one thing in the first round and answers in the second (2026-07-28); for older clients
// the SDK sends the request itself and calls the handler again.
func ask[Response mcp.InputResponse](request *mcp.CallToolRequest, question mcp.InputRequest, answer func(Response) string) (*mcp.CallToolResult, error) {
	response, ok := request.Params.InputResponses["it"]
	if !ok {
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"it": question}}, nil
	}
	typed, ok := response.(Response)
	if !ok {
		return nil, fmt.Errorf("unexpected response %T", response)
	}
	return text(answer(typed)), nil
}

// With an address, over Streamable HTTP, whose URL is the first line of standard output, and beside it over the HTTP+SSE of
// 2024-11-05. Else over stdio.
func runServer(address string) {
	server := mcp.NewServer(&mcp.Implementation{Name: "interop-go", Version: "1.0.0"}, catalogOptions())
	addCatalog(server)
	addGrowth(server)

	add(server, "echo", "Gives the text back", func(_ context.Context, _ *mcp.CallToolRequest, in struct {
		Text string `json:"text"`
	}) (*mcp.CallToolResult, error) {
		return text(in.Text), nil
	})

	type sum struct {
		Sum float64 `json:"sum"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "add", Description: "Adds two numbers"},
		func(_ context.Context, _ *mcp.CallToolRequest, in struct {
			A float64 `json:"a"`
			B float64 `json:"b"`
		}) (*mcp.CallToolResult, sum, error) {
			return nil, sum{in.A + in.B}, nil // the SDK adds the text block
		})

	add(server, "slow", "Works in steps", func(ctx context.Context, request *mcp.CallToolRequest, in struct {
		Steps   int `json:"steps"`
		DelayMs int `json:"delay_ms"`
	}) (*mcp.CallToolResult, error) {
		countRun(in.Steps)
		token := request.Params.GetProgressToken()
		for i := 1; i <= in.Steps; i++ {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Duration(in.DelayMs) * time.Millisecond):
			}
			if token != nil {
				_ = request.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
					ProgressToken: token, Progress: float64(i), Total: float64(in.Steps), Message: fmt.Sprintf("step %d", i),
				})
			}
		}
		return text("done"), nil
	})

	add(server, "fail", "Fails", func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, error) {
		result := text("it failed")
		result.IsError = true
		return result, nil
	})

	add(server, "image", "One image", func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{picture()}}, nil
	})
	add(server, "mixed", "Every kind of block", func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.TextContent{Text: "mixed"},
			picture(),
			&mcp.AudioContent{Data: bytesOf(wav), MIMEType: "audio/wav"},
			&mcp.ResourceLink{URI: "file:///interop/linked.txt", Name: "linked.txt", MIMEType: "text/plain"},
			embedded(),
		}}, nil
	})

	add(server, "ask_roots", "Lists the roots of the client", func(_ context.Context, request *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, error) {
		return ask(request, &mcp.ListRootsParams{}, func(response *mcp.ListRootsResult) string {
			var uris []string
			for _, root := range response.Roots {
				uris = append(uris, root.URI)
			}
			return strings.Join(uris, ",")
		})
	})
	add(server, "ask_sampling", "Asks the model", func(_ context.Context, request *mcp.CallToolRequest, in struct {
		Prompt string `json:"prompt"`
	}) (*mcp.CallToolResult, error) {
		message := &mcp.SamplingMessage{Role: "user", Content: &mcp.TextContent{Text: in.Prompt}}
		question := &mcp.CreateMessageParams{Messages: []*mcp.SamplingMessage{message}, MaxTokens: 50}
		return ask(request, question, func(response mcp.InputResponse) string {
			switch r := response.(type) {
			case *mcp.CreateMessageResult:
				return r.Content.(*mcp.TextContent).Text
			case *mcp.CreateMessageWithToolsResult:
				return r.Content[0].(*mcp.TextContent).Text
			}
			return fmt.Sprintf("unexpected response %T", response)
		})
	})
	add(server, "ask_elicit", "Asks the user", func(_ context.Context, request *mcp.CallToolRequest, in struct {
		Message string `json:"message"`
	}) (*mcp.CallToolResult, error) {
		schema := json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)
		question := &mcp.ElicitParams{Mode: "form", Message: in.Message, RequestedSchema: schema}
		return ask(request, question, func(response *mcp.ElicitResult) string {
			if response.Action != "accept" {
				return "action=" + response.Action
			}
			return fmt.Sprintf("action=accept name=%v", response.Content["name"])
		})
	})

	add(server, "ask_url", "Sends the user to a URL", func(ctx context.Context, request *mcp.CallToolRequest, in struct {
		Message string `json:"message"`
	}) (*mcp.CallToolResult, error) {
		const id = "interop-1"
		question := &mcp.ElicitParams{Mode: "url", Message: in.Message, URL: place, ElicitationID: id}
		return ask(request, question, func(response *mcp.ElicitResult) string {
			if response.Action == "accept" && request.ProtocolVersion() < "2026-07-28" { // since then nobody is told
				_ = request.Session.NotifyElicitationComplete(ctx, &mcp.ElicitationCompleteParams{ElicitationID: id})
			}
			return "action=" + response.Action
		})
	})

	add(server, "log", "Logs at debug and at warning", func(ctx context.Context, request *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, error) {
		for _, line := range []mcp.LoggingMessageParams{
			{Level: "debug", Logger: "interop", Data: "a debug line"},
			{Level: "warning", Logger: "interop", Data: "a warning"},
		} {
			if err := request.Session.Log(ctx, &line); err != nil {
				return nil, err
			}
		}
		return text("logged"), nil
	})

	if address == "" {
		if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			log.Print(err)
		}
		return
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s/mcp\n", listener.Addr())
	one := func(*http.Request) *mcp.Server { return server }
	options := &mcp.StreamableHTTPOptions{EventStore: mcp.NewMemoryEventStore(nil)}
	paths := http.NewServeMux()
	paths.Handle("/mcp", mcp.NewStreamableHTTPHandler(one, options))
	paths.Handle("/sse", mcp.NewSSEHandler(one, nil))
	log.Fatal(http.Serve(listener, paths))
}

// For counting how often `slow` has run, whatever became of its answer.
func countRun(steps int) {
	path := os.Getenv("INTEROP_RUNS")
	if path == "" {
		return
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	fmt.Fprintf(file, "slow %d\n", steps)
}

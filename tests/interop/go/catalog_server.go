// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	watched = "test://interop/watched"
	items   = "test://interop/items/"
	place   = "https://example.com/interop" // where `ask_url` sends the user
)

// The text of test://interop/watched, which the tool `touch` replaces.
type board struct {
	mutex sync.Mutex
	text  string
}

func (b *board) set(text string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.text = text
}

func (b *board) get() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text
}

// The SDK keeps the subscriptions and the level; without these two handlers it does not offer the former.
func catalogOptions() *mcp.ServerOptions {
	return &mcp.ServerOptions{
		CompletionHandler:  complete,
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	}
}

func complete(_ context.Context, request *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	argument := request.Params.Argument
	choices := map[string][]string{"name": {"Ada", "Alan", "Grace"}, "id": {"alpha", "alphabet", "beta"}}
	if others := request.Params.Context; others != nil && others.Arguments["name"] != "" {
		name := others.Arguments["name"]
		choices["tone"] = []string{"formal to " + name, "friendly to " + name}
	}
	result := &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}
	for _, choice := range choices[argument.Name] {
		if strings.HasPrefix(choice, argument.Value) {
			result.Completion.Values = append(result.Completion.Values, choice)
		}
	}
	return result, nil
}

// The resources, prompts and what goes with them (see ../README.md).
func addCatalog(server *mcp.Server) {
	contents := func(content mcp.ResourceContents) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&content}}, nil // the SDK adds URI and type
	}
	state := &board{text: "untouched"}
	server.AddResource(&mcp.Resource{URI: "test://interop/text", Name: "text", Description: "A text", MIMEType: "text/plain"},
		func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return contents(mcp.ResourceContents{Text: greeting})
		})
	server.AddResource(&mcp.Resource{URI: "test://interop/bytes", Name: "bytes", Description: "An image", MIMEType: "image/png"},
		func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return contents(mcp.ResourceContents{Blob: bytesOf(png)})
		})
	server.AddResource(&mcp.Resource{URI: watched, Name: "watched", Description: "What touch has written", MIMEType: "text/plain"},
		func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return contents(mcp.ResourceContents{Text: state.get()})
		})
	server.AddResourceTemplate(
		&mcp.ResourceTemplate{URITemplate: items + "{id}", Name: "items", Description: "An item by its id", MIMEType: "text/plain"},
		func(_ context.Context, request *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			id := strings.TrimPrefix(request.Params.URI, items)
			if id == "none" {
				return nil, mcp.ResourceNotFoundError(request.Params.URI)
			}
			return contents(mcp.ResourceContents{Text: "item " + id})
		})
	add(server, "touch", "Changes the resource "+watched, func(ctx context.Context, _ *mcp.CallToolRequest, in struct {
		Text string `json:"text"`
	}) (*mcp.CallToolResult, error) {
		state.set(in.Text)
		return text("touched"), server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: watched})
	})

	said := func(role mcp.Role, content mcp.Content) *mcp.PromptMessage {
		return &mcp.PromptMessage{Role: role, Content: content}
	}
	prompt := func(messages ...*mcp.PromptMessage) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: messages}, nil
	}
	server.AddPrompt(&mcp.Prompt{Name: "plain", Description: "A prompt without arguments"},
		func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return prompt(said("user", &mcp.TextContent{Text: "a plain prompt"}))
		})
	server.AddPrompt(
		&mcp.Prompt{Name: "greet", Description: "Greets somebody", Arguments: []*mcp.PromptArgument{
			{Name: "name", Description: "Whom to greet", Required: true},
			{Name: "tone", Description: "How to greet"},
		}},
		func(_ context.Context, request *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			name, given := request.Params.Arguments["name"]
			if !given { // the SDK does not look at it
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the argument name is missing"}
			}
			how := ""
			if tone := request.Params.Arguments["tone"]; tone != "" {
				how = " in a " + tone + " tone"
			}
			return prompt(said("user", &mcp.TextContent{Text: "Greet " + name + how}),
				said("assistant", &mcp.TextContent{Text: "I will"}))
		})
	server.AddPrompt(&mcp.Prompt{Name: "pictured", Description: "A prompt with an image and a resource"},
		func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return prompt(said("user", picture()), said("user", embedded()))
		})
}

// What is not always there, so that clients are told of the change; the SDK does that.
func addGrowth(server *mcp.Server) {
	const uri = "test://interop/grown"
	grown := func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, error) {
		return text("grown"), nil
	}
	add(server, "grow", "Adds a tool, a resource and a prompt", func(_ context.Context, _ *mcp.CallToolRequest, in struct {
		On bool `json:"on"`
	}) (*mcp.CallToolResult, error) {
		if !in.On {
			server.RemoveTools("grown")
			server.RemoveResources(uri)
			server.RemovePrompts("grown")
			return text("shrunk"), nil
		}
		add(server, "grown", "Was not always there", grown)
		server.AddResource(&mcp.Resource{URI: uri, Name: "grown"},
			func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: "grown"}}}, nil
			})
		server.AddPrompt(&mcp.Prompt{Name: "grown"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			message := &mcp.PromptMessage{Role: "user", Content: &mcp.TextContent{Text: "grown"}}
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{message}}, nil
		})
		return text("grown"), nil
	})
}

func picture() *mcp.ImageContent {
	return &mcp.ImageContent{Data: bytesOf(png), MIMEType: "image/png"}
}

func embedded() *mcp.EmbeddedResource {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{
		URI: "test://interop/embedded", MIMEType: "text/plain", Text: "embedded text"}}
}

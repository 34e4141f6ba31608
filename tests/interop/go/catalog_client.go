// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// What the server has told through one handler, line by line.
type journal struct {
	mutex sync.Mutex
	lines []string
	news  chan struct{} // closed with the next line
}

func newJournal() *journal { return &journal{news: make(chan struct{})} }

func (j *journal) add(format string, args ...any) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
	close(j.news)
	j.news = make(chan struct{})
}

func (j *journal) count() int {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	return len(j.lines)
}

// The lines since the first n, as soon as there are count, else after 5 s; for none, after 0.3 s if no line came.
func (j *journal) after(n, count int) []string {
	patience := 5 * time.Second
	if count == 0 {
		patience = 300 * time.Millisecond
	}
	late := time.After(patience)
	for {
		j.mutex.Lock()
		got, news := append([]string(nil), j.lines[n:]...), j.news // nil where there is none
		j.mutex.Unlock()
		if len(got) >= max(count, 1) {
			return got
		}
		select {
		case <-news:
		case <-late:
			return got
		}
	}
}

// What the checks of resources, prompts, completion and logging work on.
type catalog struct {
	ctx                    context.Context
	session                *mcp.ClientSession
	revision               string
	lenient                bool // other codes of errors are fine, too
	updates, logs, notices *journal
}

func (c *catalog) modern() bool { return c.revision >= "2026-07-28" }

func (c *catalog) call(name string, arguments any) string {
	return textOf(must(c.session.CallTool(c.ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})))
}

func (c *catalog) read(uri string) *mcp.ResourceContents {
	contents := must(c.session.ReadResource(c.ctx, &mcp.ReadResourceParams{URI: uri})).Contents
	same(len(contents), 1, "contents of "+uri)
	contents[0].Meta = nil
	return contents[0]
}

func (c *catalog) failure(err error, code int64, what string) string {
	expect(err != nil, "%s has succeeded", what)
	var wire *jsonrpc.Error
	expect(errors.As(err, &wire), "%s: %v", what, err)
	expect(c.lenient || c.modern() || wire.Code == code, "%s: code %d, wanted %d", what, wire.Code, code)
	return wire.Message
}

func (c *catalog) checks() {
	check("resources", c.resources)
	check("templates", c.templates)
	check("read", c.readAll)
	check("missing_resource", c.missingResource)
	check("subscribe", c.subscribe)
	check("prompts", c.prompts)
	check("prompt", c.prompt)
	check("bad_prompt", c.badPrompt)
	check("complete", c.complete)
	check("logging", c.logging)
	check("list_changed", c.listChanged)
}

func (c *catalog) resources() string {
	var found []string
	for _, each := range must(c.session.ListResources(c.ctx, nil)).Resources {
		found = append(found, strings.Join([]string{each.URI, each.Name, each.Description, each.MIMEType}, " | "))
	}
	slices.Sort(found)
	same(found, []string{
		"test://interop/bytes | bytes | An image | image/png",
		"test://interop/text | text | A text | text/plain",
		"test://interop/watched | watched | What touch has written | text/plain",
	}, "resources")
	return ""
}

func (c *catalog) templates() string {
	found := must(c.session.ListResourceTemplates(c.ctx, nil)).ResourceTemplates
	same(len(found), 1, "number of templates")
	each := found[0]
	same([]string{each.URITemplate, each.Name, each.Description, each.MIMEType},
		[]string{"test://interop/items/{id}", "items", "An item by its id", "text/plain"}, "template")
	return ""
}

func (c *catalog) readAll() string {
	for _, want := range []*mcp.ResourceContents{
		{URI: "test://interop/text", MIMEType: "text/plain", Text: greeting},
		{URI: "test://interop/bytes", MIMEType: "image/png", Blob: bytesOf(png)},
		{URI: "test://interop/items/7", MIMEType: "text/plain", Text: "item 7"},
	} {
		same(c.read(want.URI), want, want.URI)
	}
	return ""
}

func (c *catalog) missingResource() string {
	_, err := c.session.ReadResource(c.ctx, &mcp.ReadResourceParams{URI: "other://nothing"})
	c.failure(err, -32002, "reading what no template fits")
	_, err = c.session.ReadResource(c.ctx, &mcp.ReadResourceParams{URI: "test://interop/items/none"})
	return c.failure(err, -32002, "reading an item that is not there")
}

func (c *catalog) subscribe() string {
	if c.modern() {
		return "this revision has other subscriptions"
	}
	touch := func(value string) int {
		before := c.updates.count()
		same(c.call("touch", map[string]any{"text": value}), "touched", "text")
		return before
	}
	expect(c.session.Subscribe(c.ctx, &mcp.SubscribeParams{URI: watched}) == nil, "subscribing")
	same(c.updates.after(touch("once"), 1), []string{watched}, "updates")
	same(c.read(watched).Text, "once", "text after the update")
	expect(c.session.Unsubscribe(c.ctx, &mcp.UnsubscribeParams{URI: watched}) == nil, "unsubscribing")
	same(c.updates.after(touch("untouched"), 0), []string(nil), "updates after it")
	return ""
}

func (c *catalog) prompts() string {
	var found []string
	for _, each := range must(c.session.ListPrompts(c.ctx, nil)).Prompts {
		line := each.Name + ": " + each.Description
		for _, argument := range each.Arguments {
			line += fmt.Sprintf("; %s (%v): %s", argument.Name, argument.Required, argument.Description)
		}
		found = append(found, line)
	}
	slices.Sort(found)
	same(found, []string{
		"greet: Greets somebody; name (true): Whom to greet; tone (false): How to greet",
		"pictured: A prompt with an image and a resource",
		"plain: A prompt without arguments",
	}, "prompts")
	return ""
}

func (c *catalog) prompt() string {
	said := func(role mcp.Role, value string) *mcp.PromptMessage {
		return &mcp.PromptMessage{Role: role, Content: &mcp.TextContent{Text: value}}
	}
	for _, each := range []struct {
		name  string
		given map[string]string
		want  []*mcp.PromptMessage
	}{
		{"plain", nil, []*mcp.PromptMessage{said("user", "a plain prompt")}},
		{"greet", map[string]string{"name": "Ada"}, []*mcp.PromptMessage{said("user", "Greet Ada"), said("assistant", "I will")}},
		{"greet", map[string]string{"name": "Ada", "tone": "formal"},
			[]*mcp.PromptMessage{said("user", "Greet Ada in a formal tone"), said("assistant", "I will")}},
		{"pictured", nil, []*mcp.PromptMessage{{Role: "user", Content: picture()}, {Role: "user", Content: embedded()}}},
	} {
		got := must(c.session.GetPrompt(c.ctx, &mcp.GetPromptParams{Name: each.name, Arguments: each.given}))
		same(string(must(json.Marshal(got.Messages))), string(must(json.Marshal(each.want))), each.name)
	}
	return ""
}

func (c *catalog) badPrompt() string {
	_, err := c.session.GetPrompt(c.ctx, &mcp.GetPromptParams{Name: "greet", Arguments: map[string]string{}})
	c.failure(err, -32602, "a prompt without its argument")
	_, err = c.session.GetPrompt(c.ctx, &mcp.GetPromptParams{Name: "no_such_prompt"})
	return c.failure(err, -32602, "a prompt that is not there")
}

func (c *catalog) complete() string {
	greet := &mcp.CompleteReference{Type: "ref/prompt", Name: "greet"}
	template := &mcp.CompleteReference{Type: "ref/resource", URI: "test://interop/items/{id}"}
	withName := &mcp.CompleteContext{Arguments: map[string]string{"name": "Ada"}}
	for _, each := range []struct {
		ref         *mcp.CompleteReference
		name, value string
		others      *mcp.CompleteContext
		want        []string
	}{
		{greet, "name", "A", nil, []string{"Ada", "Alan"}},
		{greet, "name", "x", nil, []string{}},
		{greet, "tone", "f", withName, []string{"formal to Ada", "friendly to Ada"}},
		{greet, "tone", "fo", withName, []string{"formal to Ada"}},
		{greet, "tone", "f", nil, []string{}},
		{template, "id", "al", nil, []string{"alpha", "alphabet"}},
	} {
		params := &mcp.CompleteParams{Ref: each.ref, Context: each.others}
		params.Argument.Name, params.Argument.Value = each.name, each.value
		same(must(c.session.Complete(c.ctx, params)).Completion.Values, each.want, each.name+"="+each.value)
	}
	return ""
}

func (c *catalog) logging() string {
	if c.modern() {
		return "this revision has no level of a session"
	}
	const debug, warning = "debug interop a debug line", "warning interop a warning"
	for _, each := range []struct {
		level mcp.LoggingLevel
		want  []string
	}{{"debug", []string{debug, warning}}, {"warning", []string{warning}}, {"error", nil}} {
		expect(c.session.SetLoggingLevel(c.ctx, &mcp.SetLoggingLevelParams{Level: each.level}) == nil, "level %s", each.level)
		before := c.logs.count()
		same(c.call("log", map[string]any{}), "logged", "text")
		same(c.logs.after(before, len(each.want)), each.want, "at "+string(each.level))
	}
	return ""
}

func (c *catalog) listChanged() string {
	if c.modern() {
		return "this revision has other subscriptions"
	}
	for _, on := range []bool{true, false} {
		want, there := "shrunk", 0
		if on {
			want, there = "grown", 1
		}
		before := c.notices.count()
		same(c.call("grow", map[string]any{"on": on}), want, "text")
		told := c.notices.after(before, 3)
		slices.Sort(told)
		same(told, []string{"prompts", "resources", "tools"}, "notices")
		found := []int{0, 0, 0}
		for _, each := range must(c.session.ListTools(c.ctx, nil)).Tools {
			found[0] += strings.Count(each.Name, "grown")
		}
		for _, each := range must(c.session.ListResources(c.ctx, nil)).Resources {
			found[1] += strings.Count(each.Name, "grown")
		}
		for _, each := range must(c.session.ListPrompts(c.ctx, nil)).Prompts {
			found[2] += strings.Count(each.Name, "grown")
		}
		same(found, []int{there, there, there}, "tools, resources and prompts after "+want)
	}
	return ""
}

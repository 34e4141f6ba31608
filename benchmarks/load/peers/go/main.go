// SPDX-License-Identifier: MIT

// The echo server of mcpload on the official Go SDK: go-sdk PORT, http://127.0.0.1:PORT/mcp, sessions, JSON answers.
package main

import (
	"context"
	"log"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type text struct {
	Text string `json:"text"`
}

func echo(_ context.Context, _ *mcp.CallToolRequest, in text) (*mcp.CallToolResult, any, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text}}}, nil, nil
}

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "go-sdk", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "echo", Description: "echo"}, echo)
	one := func(*http.Request) *mcp.Server { return server }
	handler := mcp.NewStreamableHTTPHandler(one, &mcp.StreamableHTTPOptions{JSONResponse: true})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], handler))
}

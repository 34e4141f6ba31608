// SPDX-License-Identifier: MIT

// The fixed tool set (see ../README.md) and the checks of it on the official Go SDK.
//
//	peer server
//	peer client [-era legacy|auto] [-lenient] -- CMD ARGS...
package main

import (
	"fmt"
	"os"
)

const (
	png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
	wav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
)

func main() {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "server":
		runServer()
	case len(os.Args) > 1 && os.Args[1] == "client":
		os.Exit(runClient(os.Args[2:]))
	default:
		fmt.Fprintln(os.Stderr, "usage: peer server | peer client [-era legacy|auto] [-lenient] -- CMD ARGS...")
		os.Exit(2)
	}
}

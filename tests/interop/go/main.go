// SPDX-License-Identifier: MIT

// The fixed tool set (see ../README.md) and the checks of it on the official Go SDK.
//
//	peer server [-http PORT]
//	peer client [-era legacy|auto] [-version REVISION] [-lenient] -- CMD ARGS... | URL
package main

import (
	"fmt"
	"os"
)

const (
	png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
	wav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="

	greeting = "a text: gr\u00fc\u00df \u65e5\u672c\u8a9e \U0001F600" // test://interop/text
)

func main() {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "server":
		if len(os.Args) > 3 && os.Args[2] == "-http" {
			runServer("127.0.0.1:" + os.Args[3])
		} else {
			runServer("")
		}
	case len(os.Args) > 1 && os.Args[1] == "client":
		os.Exit(runClient(os.Args[2:]))
	default:
		fmt.Fprintln(os.Stderr, "usage: peer server [-http PORT] | peer client [OPTIONS] -- CMD ARGS... | URL")
		os.Exit(2)
	}
}

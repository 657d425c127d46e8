// Command tenon compiles and runs tensor programs; see docs/cli.md. The commands
// stand in package internal/cli, so that a driver with passes of its own is as
// short as this one.
package main

import (
	"os"

	"tenon"
)

func main() { os.Exit(tenon.Main(os.Args[1:])) }

// Package debug holds the debug flags: one struct with a help text a field,
// set at run time by -d KEY=VALUE and the environment variable TENON_DEBUG.
// They serve people who work on Tenon; no result may depend on them.
//
// The package imports internal/diag alone.
package debug

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"tenon/internal/diag"
)

// Flags are the values in force. A field's key is its name in lower case.
var Flags struct {
	Keep  string `help:"folder that receives the IR of each level and the LLVM text of a compilation"`
	Stack bool   `help:"print the Go stack of an internal error"`
	Seed  uint64 `help:"seed of the orders and external values that the interpreter draws"`

	ToolSeconds uint64 `help:"how long a tool of LLVM may run, in seconds; 120 if not set"`
}

// Set reads `key=value,key,...`; a key alone sets a switch.
func Set(list string) error {
	for _, item := range strings.Split(list, ",") {
		key, value, given := strings.Cut(strings.TrimSpace(item), "=")
		if key == "" {
			continue
		}
		if err := set(key, value, given); err != nil {
			return err
		}
	}
	return nil
}

func set(key, value string, given bool) error {
	v := reflect.ValueOf(&Flags).Elem()
	for i := range v.NumField() {
		if strings.EqualFold(v.Type().Field(i).Name, key) {
			return assign(v.Field(i), key, value, given)
		}
	}
	return diag.Usagef("-d: there is no debug flag %q; there are:\n%s", key, strings.TrimSuffix(Help(), "\n"))
}

func assign(f reflect.Value, key, value string, given bool) error {
	var err error
	switch f.Kind() {
	case reflect.String:
		f.SetString(value)
		given = given && value != ""
	case reflect.Bool:
		on := true
		if given {
			on, err = strconv.ParseBool(value)
		}
		f.SetBool(on)
		given = true
	case reflect.Uint64:
		var n uint64
		n, err = strconv.ParseUint(value, 10, 64)
		f.SetUint(n)
	}
	if err != nil || !given {
		return diag.Usagef("-d: %s needs a value (%s), as in %s=...", key, f.Kind(), key)
	}
	return nil
}

// Help lists the flags, one a line.
func Help() string {
	var b strings.Builder
	t := reflect.TypeOf(Flags)
	for i := range t.NumField() {
		f := t.Field(i)
		fmt.Fprintf(&b, "  %-12s %s\n", strings.ToLower(f.Name), f.Tag.Get("help"))
	}
	return b.String()
}

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"tenon/internal/cache"
	"tenon/internal/diag"
)

const cacheHelp = `Show or empty the cache of compiled programs.

tenon run keeps what it compiles, under a hash of the program, the options, the
machine, the compiler and LLVM, and does not compile it again. The folder is
TENON_CACHE, else tenon in the user's folder of caches; TENON_CACHE=off keeps
nothing. TENON_CACHE_SIZE bounds it (512M if unset): programs that were not run
for longest go first.`

func (a *app) cacheCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "cache [clear]",
		Short: "Show or empty the cache of compiled programs",
		Long:  cacheHelp,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && args[0] != "clear" {
				return diag.Usagef("tenon cache: expected nothing, or clear")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.cache(len(args) == 1) },
	}
}

func (a *app) cache(clear bool) error {
	store, err := a.store()
	if err != nil {
		return err
	}
	if store == nil {
		fmt.Fprintln(a.out, "off")
		return nil
	}
	if clear {
		n, err := store.Clear()
		if err != nil {
			return diag.Errorf(diag.Pos{File: store.Dir}, "cannot be emptied: %v", err).WithFix("check the permissions of the folder")
		}
		fmt.Fprintf(a.out, "removed %d entries\n", n)
		return nil
	}
	n, bytes, err := store.Usage()
	if err != nil {
		return diag.Errorf(diag.Pos{File: store.Dir}, "cannot be read: %v", err).WithFix("check the permissions of the folder")
	}
	fmt.Fprintf(a.out, "path     %s\nentries  %d\nsize     %s of at most %s\n", store.Dir, n, sizeText(bytes), sizeText(store.Limit))
	return nil
}

// store is the cache that the environment names.
func (a *app) store() (*cache.Store, error) {
	s, err := cache.Open(func(text string) { fmt.Fprintln(a.err, "tenon:", text) })
	if err != nil {
		return nil, diag.Usagef("%v", err)
	}
	return s, nil
}

func sizeText(n int64) string {
	for i, unit := range []string{"bytes", "KiB", "MiB"} {
		if n < 10<<(10*(i+1)) {
			return fmt.Sprintf("%d %s", n>>(10*i), unit)
		}
	}
	return fmt.Sprintf("%d GiB", n>>30)
}

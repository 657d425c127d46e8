package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Store is a folder of entries. A nil Store keeps nothing.
type Store struct {
	Dir   string
	Limit int64 // bytes that the entries may take together

	warn   func(string)
	warned sync.Once
	create func(dir string) (file, error)
}

// file is what an entry is written to; a test puts a full disk in its place.
type file interface {
	io.WriteCloser
	Name() string
}

// DefaultLimit bounds the folder where TENON_CACHE_SIZE says nothing: some
// thousands of programs.
const DefaultLimit = 512 << 20

// Open finds the folder: TENON_CACHE, or `tenon` in the user's folder of
// caches. It is nil where TENON_CACHE is `off`, or where there is no such
// folder. warn is called at most once, with what the user should know.
func Open(warn func(string)) (*Store, error) {
	dir := os.Getenv("TENON_CACHE")
	if dir == "off" {
		return nil, nil
	}
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return nil, nil // no home: nobody expects files to be kept
		}
		dir = filepath.Join(base, "tenon")
	}
	limit, err := parseSize(os.Getenv("TENON_CACHE_SIZE"))
	if err != nil {
		return nil, err
	}
	return New(dir, limit, warn), nil
}

// New is the store in a folder, which is made when it is first written to.
func New(dir string, limit int64, warn func(string)) *Store {
	return &Store{Dir: dir, Limit: limit, warn: warn, create: createTemp}
}

func createTemp(dir string) (file, error) { return os.CreateTemp(dir, "tmp-*") }

// parseSize reads a number of bytes, or one with K, M or G.
func parseSize(text string) (int64, error) {
	if text == "" {
		return DefaultLimit, nil
	}
	digits, shift := strings.TrimRight(text, "KMG"), 0
	if unit := text[len(digits):]; unit != "" {
		shift = 10 * (1 + strings.Index("KMG", unit))
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || shift == 0 && digits != text || n > 1<<62>>shift {
		return 0, fmt.Errorf("TENON_CACHE_SIZE=%s: expected a number of bytes, such as 512M", text)
	}
	return n << shift, nil
}

func (s *Store) say(format string, args ...any) {
	s.warned.Do(func() {
		if s.warn != nil {
			s.warn(fmt.Sprintf(format, args...))
		}
	})
}

func (s *Store) path(key string) string { return filepath.Join(s.Dir, key) }

// Get gives the content kept under key. A damaged entry is removed and not
// used.
func (s *Store) Get(key string) ([]byte, bool) {
	if s == nil {
		return nil, false
	}
	raw, err := os.ReadFile(s.path(key))
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			s.say("the cache %s cannot be read: %s; compiling anew", s.Dir, reason(err))
		}
		return nil, false
	}
	data, ok := unpack(raw)
	if !ok {
		s.say("an entry of the cache %s is damaged; compiling anew", s.Dir)
		os.Remove(s.path(key))
		return nil, false
	}
	now := time.Now() // the time of use, by which Trim chooses
	os.Chtimes(s.path(key), now, now)
	return data, true
}

// Put keeps data under key.
func (s *Store) Put(key string, data []byte) {
	if s == nil {
		return
	}
	if err := s.write(key, pack(data)); err != nil {
		s.say("the cache %s cannot be written: %s; the result is not kept", s.Dir, reason(err))
		return
	}
	s.trim()
}

func (s *Store) write(key string, raw []byte) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	f, err := s.create(s.Dir)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), s.path(key))
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// reason is the cause without the path, which the message names already.
func reason(err error) string {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// An entry's header: magic, hash of the content, its length, a line each.
const magic = "tenon cache 1\n"

func pack(data []byte) []byte {
	sum := sha256.Sum256(data)
	return append(fmt.Appendf(nil, "%s%x\n%d\n", magic, sum, len(data)), data...)
}

func unpack(raw []byte) ([]byte, bool) {
	rest, ok := bytes.CutPrefix(raw, []byte(magic))
	if !ok {
		return nil, false
	}
	sum, rest, _ := bytes.Cut(rest, []byte("\n"))
	length, data, ok := bytes.Cut(rest, []byte("\n"))
	if !ok || string(length) != strconv.Itoa(len(data)) {
		return nil, false
	}
	got := sha256.Sum256(data)
	return data, string(sum) == hex.EncodeToString(got[:])
}

// entryName is a key; other files in the folder are not ours.
var entryName = regexp.MustCompile(`^[0-9a-f]{64}$`)

type entry struct {
	path string
	size int64
	used time.Time
}

// entries lists the entries, those not used for longest first, and the
// temporary files.
func (s *Store) entries() (entries, temps []entry, err error) {
	list, err := os.ReadDir(s.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		err = errors.New(reason(err))
	}
	for _, d := range list {
		info, gone := d.Info()
		if gone != nil || !info.Mode().IsRegular() {
			continue
		}
		e := entry{s.path(d.Name()), info.Size(), info.ModTime()}
		switch {
		case entryName.MatchString(d.Name()):
			entries = append(entries, e)
		case strings.HasPrefix(d.Name(), "tmp-"):
			temps = append(temps, e)
		}
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].used.Before(entries[j].used) })
	return entries, temps, err
}

// abandoned is the age at which a temporary file has no writer any more: a
// process that wrote it was killed.
const abandoned = time.Hour

// trim removes entries until the rest keeps the limit. Another process may do
// the same at the same time: what is gone is no error.
func (s *Store) trim() {
	entries, temps, _ := s.entries()
	for _, t := range temps {
		if time.Since(t.used) > abandoned {
			os.Remove(t.path)
		}
	}
	total := int64(0)
	for _, e := range entries {
		total += e.size
	}
	for _, e := range entries {
		if total <= s.Limit {
			return
		}
		os.Remove(e.path)
		total -= e.size
	}
}

// Usage is how many entries there are, and their bytes.
func (s *Store) Usage() (n int, bytes int64, err error) {
	entries, _, err := s.entries()
	for _, e := range entries {
		bytes += e.size
	}
	return len(entries), bytes, err
}

// Clear removes all entries and says how many; files that are not ours stay.
func (s *Store) Clear() (n int, err error) {
	entries, temps, err := s.entries()
	for _, e := range append(entries, temps...) {
		if gone := os.Remove(e.path); gone != nil && !errors.Is(gone, os.ErrNotExist) {
			err = gone
		}
	}
	return len(entries), err
}

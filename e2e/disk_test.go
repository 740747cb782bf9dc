package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mountDisk mounts an empty file system of so many bytes on a folder and returns what unmounts it. It is nil where
// nobody has written how to.
var mountDisk func(folder string, size int) (unmount func() error, err error)

// smallDisk is a folder on a file system of its own that is soon full. Without the right to mount one the test is
// skipped, but in CI, where nobody would notice, it fails.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	folder, err := t.TempDir(), errors.New("mounting is not known on this system")
	var unmount func() error
	if mountDisk != nil {
		unmount, err = mountDisk(folder, size)
	}
	switch {
	case err == nil:
		t.Cleanup(func() {
			if err := unmount(); err != nil {
				t.Error(err)
			}
		})
	case os.Getenv("CI") == "true":
		t.Fatalf("a small disk can't be mounted: %v", err)
	default:
		t.Skipf("NOT TESTED, a small disk can't be mounted: %v", err)
	}
	return folder
}

// fillDisk writes until the folder's file system is full, and returns what makes room again. Safe for use in goroutines.
func fillDisk(t *testing.T, folder string) (makeRoom func()) {
	t.Helper()
	ballast := filepath.Join(folder, "ballast")
	f, err := os.Create(ballast)
	if err != nil {
		t.Error(err)
		return func() {}
	}
	defer f.Close()
	for block := make([]byte, 64<<10); len(block) > 0; {
		if _, err := f.Write(block); err != nil {
			block = block[:len(block)/2]
		}
	}
	return func() {
		if err := os.Remove(ballast); err != nil {
			t.Error(err)
		}
	}
}

func TestDisk_full_refuses_orders_and_recovers_without_a_restart(t *testing.T) {
	t.Parallel()
	s := newSite(smallDisk(t, 48<<20))
	auditAfter(t, s.data)
	s.inOne(start(t, serving("up", s.data)...))
	v := openVenue(t, s, counted("pelmeni", 1000))
	before := v.placed(t, v.portions(0, 1)).ID
	v.awaitTicket(t, before)
	client{site: s}.send(t, "GET", "/readyz", nil).want(t, 200)

	makeRoom, taken := v.orderUntilFull(t)
	left := v.stock(t, 0)
	eventually(t, "not ready", func() bool { return client{site: s}.send(t, "GET", "/readyz", nil).status == 503 })
	keys := make([]string, 20)
	together(len(keys), func(i int) {
		keys[i] = newKey()
		for range 3 {
			v.wantRefused(t, v.alice.place(t, keys[i], v.portions(0, 7)))
		}
		v.wantRefused(t, v.alice.cancel(t, before))
	})
	v.wantOrders(t, 1+taken)
	v.wantStock(t, 0, left)

	makeRoom()
	eventually(t, "ready", func() bool { return client{site: s}.send(t, "GET", "/readyz", nil).status == 200 })
	for _, key := range keys {
		id := into[order](t, v.alice.place(t, key, v.portions(0, 7)).want(t, 201)).ID
		v.alice.place(t, key, v.portions(0, 7)).want(t, 200)
		v.awaitTicket(t, id)
	}
	v.wantOrders(t, 1+taken+len(keys))
	v.wantStock(t, 0, left-7*int64(len(keys)))
	v.cook.press(t, before, "accept").want(t, 200)
	v.awaitOrder(t, before, "accepted")
	v.reopensAfterFullDisk(t, before)
}

// TestDisk_almost_full… has room for a database, but not for a broker that would write by half what it acknowledges.
func TestDisk_almost_full_keeps_orders_until_there_is_room_for_messages(t *testing.T) {
	t.Parallel()
	s := &site{data: smallDisk(t, 64<<20)}
	auditAfter(t, s.data)
	s.tokens = newTokens(s.data)
	s.kitchen = start(t, serving("up", s.data, "--metrics-addr", "127.0.0.1:0")...)
	s.board = s.kitchen
	v := openVenue(t, s, counted("pelmeni", 1000))
	before := v.placed(t, v.portions(0, 1)).ID
	v.awaitTicket(t, before)
	client{site: s}.send(t, "GET", "/readyz", nil).want(t, 200)

	makeRoom := v.leave(t, 12<<20)
	answer := client{site: s}.send(t, "GET", "/readyz", nil).want(t, 503)
	if !strings.Contains(string(answer.body), "disk almost full") {
		t.Errorf("not ready because of %s", answer.body)
	}
	ids := make([]string, 20)
	for i := range ids {
		ids[i] = v.placed(t, v.portions(0, 1)).ID
	}
	v.wantUnpublished(t, before, "accept", "accepted")
	now := v.kitchen.shows(t).values
	if now["kuhnya_broker_disk_refusals_total"] == 0 || now[`kuhnya_outbox_rows{service="kitchen"}`] != 20 {
		t.Errorf("refused %v requests, %v rows wait", now["kuhnya_broker_disk_refusals_total"], now[`kuhnya_outbox_rows{service="kitchen"}`])
	}

	makeRoom()
	eventually(t, "ready", func() bool { return client{site: s}.send(t, "GET", "/readyz", nil).status == 200 })
	for _, id := range ids {
		v.awaitTicket(t, id)
	}
	v.awaitOrder(t, before, "accepted")
	v.wantHistory(t, before, "placed accepted")
	v.reopensAfterFullDisk(t, ids[0])
}

// leave fills the disk up to about so many bytes and returns what makes room again.
func (v *venue) leave(t *testing.T, bytes float64) (makeRoom func()) {
	t.Helper()
	ballast := filepath.Join(v.data, "ballast")
	f, err := os.Create(ballast)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 1<<20); v.kitchen.shows(t).values["kuhnya_disk_free_bytes"] > bytes; {
		if _, err := f.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		if err := os.Remove(ballast); err != nil {
			t.Error(err)
		}
	}
}

// orderUntilFull places orders of 7 while the disk fills up, until one is refused. It returns what makes room again, and
// how many orders were taken.
func (v *venue) orderUntilFull(t *testing.T) (makeRoom func(), taken int) {
	t.Helper()
	filled := make(chan func(), 1)
	go func() { filled <- fillDisk(t, v.data) }()
	eventually(t, "an order refused", func() bool {
		answer := v.alice.place(t, newKey(), v.portions(0, 7))
		if answer.status == 201 {
			taken++
			return false
		}
		v.wantRefused(t, answer)
		return true
	})
	return <-filled, taken
}

// wantRefused may be called in goroutines.
func (v *venue) wantRefused(t *testing.T, answer response) {
	t.Helper()
	if answer.status != 503 || problemCode(answer) != "unavailable" {
		t.Errorf("answer %d on a full disk: %s", answer.status, answer.body)
	}
}

func (v *venue) wantOrders(t *testing.T, n int) {
	t.Helper()
	if orders := v.alice.orders(t); len(orders) != n {
		t.Errorf("%d orders, want %d", len(orders), n)
	}
}

// reopensAfterFullDisk looks whether what was written before, during and after the full disk is still read by a process
// that starts anew.
func (v *venue) reopensAfterFullDisk(t *testing.T, id string) {
	t.Helper()
	v.kitchen.kill(t)
	v.kitchen.restart(t)
	v.cook.press(t, id, "accept").want(t, 200)
	v.awaitOrder(t, id, "accepted")
}

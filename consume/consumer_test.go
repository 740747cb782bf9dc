package consume_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kuhnya/consume"
)

func TestConsumer(t *testing.T) {
	promise(t, "hands_over_a_long_backlog_in_order", 1, longBacklog)
	promise(t, "passes_over_records_redriven_for_others", 1, passesOverForeign)
	promise(t, "settles_and_tells_what_the_handler_does_not_know", 1, settlesUnknown)
	promise(t, "knows_since_when_it_has_no_place_in_its_group", 1, knowsSinceWhenAway)
	promise(t, "repeats_a_failed_commit_without_new_records", 1, repeatsCommit)
	promise(t, "loses_nothing_to_rebalances", 4, rebalances)
	promise(t, "commits_nothing_after_losing_its_partitions", 1, lostPartitions)
	t.Run("survives_a_restart_of_the_broker", func(t *testing.T) { synctest.Test(t, brokerRestart) })
	t.Run("refuses_incomplete_options", refusesOptions)
}

// longBacklog exceeds the queue of a partition, so that fetches pause and resume.
func longBacklog(r *rig) {
	const n = 6000
	applied, first := new(log), make(chan struct{})
	var want []string
	for i := range n {
		want = append(want, fmt.Sprint(i))
	}
	if err := r.produce.ProduceSync(r.Context(), named(values(0, want...))...).FirstErr(); err != nil {
		r.Fatal(err)
	}
	handler := func(ctx context.Context, records []*kgo.Record) []error {
		<-first
		return apply(applied)(ctx, records)
	}
	m := r.start(handler)
	synctest.Wait()
	for { // until the queue takes no more
		time.Sleep(time.Second)
		if states := m.consumer.State(); len(states) == 1 && states[0].Queued >= 2048 {
			break
		}
	}
	time.Sleep(time.Minute)
	if queued := m.consumer.State()[0].Queued; queued > 2048+1000 {
		r.Errorf("%d records queued", queued)
	}
	close(first)
	m.awaitCommit(0, n)
	applied.expect(r.T, want...)
}

func named(records []*kgo.Record) []*kgo.Record {
	for _, r := range records {
		r.Topic = topic
	}
	return records
}

func passesOverForeign(r *rig) {
	applied := new(log)
	redriven := func(value, forGroup string) *kgo.Record {
		return &kgo.Record{Value: []byte(value), Headers: []kgo.RecordHeader{header(consume.HeaderRedriveGroup, forGroup)}}
	}
	r.send(redriven("foreign", "bonus"), redriven("own", group), redriven("foreign", "bonus"))
	r.send(values(0, "plain")...)
	r.send(redriven("foreign", "bonus"))
	r.start(apply(applied)).awaitCommit(0, 5)
	applied.expect(r.T, "own", "plain")
}

func settlesUnknown(r *rig) {
	applied, unknown := new(log), make(chan int64, 10)
	handler := each(func(record *kgo.Record) error {
		if string(record.Value) == "weather" {
			return fmt.Errorf("read: %w", consume.ErrUnknown)
		}
		applied.add(record)
		return nil
	})
	r.send(values(0, "1", "weather", "2", "weather")...)
	m := r.start(handler, func(o *consume.Options) {
		o.Events.Unknown = func(_ consume.Partition, offset int64) { unknown <- offset }
	})
	m.awaitCommit(0, 4)
	applied.expect(r.T, "1", "2")
	r.expectDead()
	close(unknown)
	var told []int64
	for offset := range unknown {
		told = append(told, offset)
	}
	if !slices.Equal(told, []int64{1, 3}) {
		r.Errorf("told %v of unknown records, want 1 and 3", told)
	}
}

func knowsSinceWhenAway(r *rig) {
	var swallow atomic.Bool // requests to join
	r.cluster.ControlKey(int16(kmsg.JoinGroup), func(kmsg.Request) (kmsg.Response, error, bool) {
		r.cluster.KeepControl()
		return nil, nil, swallow.Load()
	})
	m := &member{rig: r}
	wantAway := func(want time.Time) {
		r.Helper()
		synctest.Wait()
		if since := m.consumer.AwaySince(); !since.Equal(want) {
			r.Errorf("away since %v, want %v", since, want)
		}
	}
	wantPlace := func(commit int64) {
		r.Helper()
		r.send(values(0, "1")...)
		m.awaitCommit(0, commit)
		wantAway(time.Time{})
	}

	began := time.Now()
	swallow.Store(true)
	m = r.start(apply(new(log)))
	wantAway(began)
	swallow.Store(false)
	wantPlace(1)
	throwOut := func(reason *kerr.Error) (at time.Time) {
		told := r.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Heartbeat}, Group: group, TopLevel: true, Err: reason})
		if err := told.Wait(r.Context(), 1); err != nil {
			r.Fatal(err)
		}
		return time.Now()
	}
	for i, reason := range []*kerr.Error{kerr.RebalanceInProgress, kerr.UnknownMemberID} {
		swallow.Store(true)
		wantAway(throwOut(reason))
		swallow.Store(false)
		wantPlace(int64(i) + 2)
	}
	refused := r.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.JoinGroup}, Group: group, TopLevel: true, Err: kerr.GroupMaxSizeReached, Count: -1})
	out := throwOut(kerr.UnknownMemberID)
	time.Sleep(time.Minute) // of trying again
	wantAway(out)
	refused.Remove()
	wantPlace(4)
}

func repeatsCommit(r *rig) {
	refuse := r.cluster.Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.OffsetCommit}, Group: group, Topic: topic, Err: kerr.GroupAuthorizationFailed, Count: 4,
	})
	defer refuse.Remove()
	r.send(values(0, "1", "2")...)
	applied := new(log)
	m := r.start(apply(applied))
	m.awaitRetry(consume.StepCommit)
	m.awaitCommit(0, 2)
	r.expectOffset(0, 2)
	applied.expect(r.T, "1", "2")
}

// rebalances lets members come and go while records flow.
func rebalances(r *rig) {
	applied := new(log)
	r.start(apply(applied))
	var want []string
	for round := range 5 {
		come := r.start(apply(applied))
		for i := range 200 {
			v := fmt.Sprintf("%d-%d", round, i)
			want = append(want, v)
			r.send(values(int32(i%4), v)...)
			if i == 100 {
				if _, err := r.cluster.WaitGroupStable(r.Context(), group, 2); err != nil {
					r.Fatal(err)
				}
			}
		}
		if round%2 == 0 {
			come.close()
		} else {
			come.crash()
		}
	}
	_, err := r.cluster.WaitGroupInfo(r.Context(), group, func(info *kfake.GroupInfo) bool {
		done := 0
		for p := range int32(4) {
			if info.Commits[topic][p].Offset == 250 {
				done++
			}
		}
		return done == 4
	})
	if err != nil {
		r.Fatal(err)
	}
	got := applied.all()
	slices.Sort(got)
	slices.Sort(want)
	if got = slices.Compact(got); !slices.Equal(got, want) {
		r.Errorf("%d records applied of %d", len(got), len(want))
	}
}

func lostPartitions(r *rig) {
	calls, finish := make(chan struct{}, 10), make(chan struct{})
	handler := func(ctx context.Context, records []*kgo.Record) []error {
		calls <- struct{}{}
		select {
		case <-ctx.Done(): // its partition is lost
		case <-finish:
		}
		return make([]error, len(records))
	}
	commits := r.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Group: group, Count: -1, Observe: true})
	defer commits.Remove()
	r.send(values(0, "1")...)
	m := r.start(handler)
	next(r.T, calls)
	r.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Heartbeat}, Group: group, TopLevel: true, Err: kerr.UnknownMemberID})
	next(r.T, calls) // the record comes again, in a new assignment
	if n := commits.Hits(); n != 0 {
		r.Errorf("%d commits for lost partitions", n)
	}
	close(finish)
	m.awaitCommit(0, 1)
}

func brokerRestart(t *testing.T) {
	var network kfake.VirtualNetwork
	dir := t.TempDir()
	open := func() *kfake.Cluster {
		cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(9092), kfake.ListenFn(network.Listen),
			kfake.DataDir(dir), kfake.SeedTopics(1, topic, deadLetters))
		if err != nil {
			t.Fatalf("open broker: %v", err)
		}
		return cluster
	}
	cluster := open()
	r := rigOn(t, cluster, []kgo.Opt{kgo.SeedBrokers("localhost:9092"), kgo.Dialer(network.DialContext)})
	applied := new(log)
	m := r.start(each(applied.strict))
	for round := range 3 {
		r.send(values(0, "{1}", "{")...)
		m.awaitCommit(0, int64(2*round+2))
		cluster.Close()
		time.Sleep(time.Minute)
		cluster = open()
		r.cluster = cluster
	}
	r.send(values(0, "{1}", "{")...)
	m.awaitCommit(0, 8)
	m.close()
	r.expectDead(1, 3, 5, 7)
	applied.expect(t, "{1}", "{1}", "{1}", "{1}")
	r.produce.Close()
	cluster.Close()
}

func refusesOptions(t *testing.T) {
	whole := consume.Options{
		Group: group, Topics: []string{topic}, DeadLetters: &failing{}, Handler: apply(new(log)),
	}
	for name, spoil := range map[string]func(*consume.Options){
		"group":   func(o *consume.Options) { o.Group = "" },
		"topics":  func(o *consume.Options) { o.Topics = nil },
		"handler": func(o *consume.Options) { o.Handler = nil },
		"store":   func(o *consume.Options) { o.DeadLetters = nil },
		"client option": func(o *consume.Options) {
			o.ClientOptions = []kgo.Opt{kgo.MaxConcurrentFetches(-7), kgo.FetchMaxBytes(-1)}
		},
		"dead-letter option": func(o *consume.Options) { o.MaxMessageBytes = 1 },
	} {
		o := whole
		spoil(&o)
		if _, err := consume.New(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := consume.New(whole); err != nil {
		t.Errorf("whole options: %v", err)
	}
}

package embedded_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// TestGhost has a member's process die while it waits to be let into its group. It must expire like any other: as a
// ghost it would hold its partitions for ever.
func TestGhost(t *testing.T) {
	t.Parallel()
	r := open(t, t.TempDir(), onPort)
	leader, dying := member(t, r.Addr()), member(t, r.Addr())
	joined := join(t.Context(), leader, "")
	if joined == nil {
		t.Fatal("nobody let in")
	}
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Group, sync.Generation, sync.MemberID = "ghosts", joined.Generation, joined.MemberID
	sync.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{{MemberID: joined.MemberID, MemberAssignment: []byte{0}}}
	if answer, err := sync.RequestWith(t.Context(), leader); err != nil || answer.ErrorCode != 0 {
		t.Fatal(answer, err)
	}

	left := make(chan struct{})
	ctx, die := context.WithCancel(t.Context())
	go func() {
		defer close(left)
		join(ctx, dying, "")
	}()
	r.eventually("somebody waits to join", func(state string, _ []string) bool { return state == "PreparingRebalance" })
	die()
	dying.Close()
	<-left
	if join(t.Context(), leader, joined.MemberID) == nil {
		t.Fatal("the leader is not let in again")
	}
	r.eventually("the dead member has expired", func(_ string, members []string) bool {
		return len(members) == 0 || slices.Equal(members, []string{joined.MemberID})
	})
}

// member is a client that joins as clients did before they were given their id in a first round.
func member(t *testing.T, addr string) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.MaxVersions(kversion.V2_0_0()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func join(ctx context.Context, client *kgo.Client, id string) *kmsg.JoinGroupResponse {
	r := kmsg.NewPtrJoinGroupRequest()
	r.Group, r.MemberID, r.ProtocolType = "ghosts", id, "consumer"
	r.SessionTimeoutMillis, r.RebalanceTimeoutMillis = 6000, 60_000
	r.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: []byte{0}}}
	answer, err := r.RequestWith(ctx, client)
	if err != nil || answer.ErrorCode != 0 {
		return nil
	}
	return answer
}

// eventually waits until the group is so.
func (r *run) eventually(what string, so func(state string, members []string) bool) {
	r.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(30 * time.Second); ; <-tick.C {
		groups, err := r.Kafka().DescribeGroups(r.t.Context(), "ghosts")
		if err == nil {
			var members []string
			for _, m := range groups["ghosts"].Members {
				members = append(members, m.MemberID)
			}
			if so(groups["ghosts"].State, members) {
				return
			}
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("waited in vain for: %s; group %+v", what, groups["ghosts"])
		}
	}
}

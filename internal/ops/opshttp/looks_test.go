package opshttp_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"kuhnya/internal/audit"
	"kuhnya/internal/ops"
	"kuhnya/internal/ops/opshttp"
)

var sample = ops.Overview{
	Service: "kitchen", At: time.Date(2026, 3, 31, 23, 59, 59, 0, time.UTC),
	Outbox: ops.OutboxDepth{Waiting: 3, OldestAge: 1500 * time.Millisecond, Parked: 1}, UnsentSteps: 2,
	Reading: []ops.Reading{
		{Topic: "statuses", Partition: 0, End: 10, Committed: 7},
		{Topic: "statuses", Partition: 1, End: 4, Committed: 5}, // committed beyond the end: the log has lost records
	},
	DeadLetters: ops.DeadLetterCounts{Open: 4, Redriven: 5, Discarded: 6}, StuckOrders: 7,
}

func inspected(o ops.Overview, err error) opshttp.Service {
	return opshttp.Service{
		Name: "kitchen", Inspect: func(context.Context) (ops.Overview, error) { return o, err }, Parked: none[[]audit.Parked],
	}
}

func TestOverview(t *testing.T) {
	c := serve(t, inspected(sample, nil))
	c.want("GET", "/v1/kitchen/overview", "", 200, `{"service":"kitchen","at":"2026-03-31T23:59:59Z",`+
		`"outbox":{"waiting":3,"oldest_age_seconds":1.5,"parked":1},"unsent_steps":2,"reading":[`+
		`{"topic":"statuses","partition":0,"end":10,"committed":7,"lag":3},{"topic":"statuses","partition":1,"end":4,"committed":5,"lag":0}],`+
		`"reading_error":"","lag":3,"dead_letters":{"open":4,"redriven":5,"discarded":6},"stuck_orders":7}`)
}

func TestOverview_without_a_broker(t *testing.T) {
	blind := sample
	blind.Reading, blind.ReadingError = nil, "the broker can't be reached"
	serve(t, inspected(blind, nil)).want("GET", "/v1/kitchen/overview", "", 200,
		`"reading":[],"reading_error":"the broker can't be reached","lag":null,`)
}

func TestOverview_of_a_database_that_fails(t *testing.T) {
	status, answer := serve(t, inspected(ops.Overview{}, errors.New("disk I/O error in /var/lib"))).call("GET", "/v1/kitchen/overview", "")
	if status != 500 || strings.Contains(answer, "/var") {
		t.Errorf("%d %s", status, answer)
	}
}

func TestAudit(t *testing.T) {
	service := inspected(sample, nil)
	service.Name = "establishment" // it has no invariants of its own
	serve(t, service).want("GET", "/v1/establishment/audit", "", 200, `"violations":[],"more":0,"parked":[]}`)

	service.Name = "kitchen"
	service.Violations = func(context.Context) ([]audit.Violation, error) {
		return []audit.Violation{{Invariant: audit.Stock, Subject: "dish 1", Detail: "is negative"}}, nil
	}
	service.Parked = func(context.Context) ([]audit.Parked, error) {
		return []audit.Parked{{Database: "kitchen", ID: 3, Key: "k", Reason: "too large"}}, nil
	}
	c := serve(t, service)
	c.want("GET", "/v1/kitchen/audit", "", 200, `{"service":"kitchen","at":"`)
	c.want("GET", "/v1/kitchen/audit", "", 200, `"violations":[{"invariant":1,"subject":"dish 1","detail":"is negative"}],`+
		`"more":0,"parked":[{"database":"kitchen","id":3,"key":"k","reason":"too large"}]}`)
}

func TestAudit_of_a_database_that_is_broken_as_a_whole(t *testing.T) {
	service := inspected(sample, nil)
	service.Violations = func(context.Context) ([]audit.Violation, error) {
		return make([]audit.Violation, 1007), nil
	}
	_, answer := serve(t, service).call("GET", "/v1/kitchen/audit", "")
	if n := strings.Count(answer, `"invariant":`); n != 1000 || !strings.Contains(answer, `"more":7,`) {
		t.Errorf("%d violations listed in %d bytes", n, len(answer))
	}
}

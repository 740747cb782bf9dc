// Package lifecycle is the state machine of an order: one table and pure functions over it. Kitchen decides with it
// what an order may become; establishment merges kitchen's word into its tickets with it.
//
//	placed → accepted → cooking → ready → completed
//	placed → rejected                         (staff, accept time-out)
//	placed | accepted → cancelled             (customer)
//	accepted | cooking | ready → cancelled    (staff)
//
// No status is entered twice: the table has no cycle, and deterministic callback keys rely on it.
package lifecycle

import (
	"slices"

	"kuhnya/internal/fault"
)

// Status is where an order stands.
type Status string

// The statuses of an order. Completed, Rejected and Cancelled are terminal.
const (
	Placed    Status = "placed"
	Accepted  Status = "accepted"
	Cooking   Status = "cooking"
	Ready     Status = "ready"
	Completed Status = "completed"
	Rejected  Status = "rejected"
	Cancelled Status = "cancelled"
)

// Statuses lists every status in the order of the table above.
var Statuses = []Status{Placed, Accepted, Cooking, Ready, Completed, Rejected, Cancelled}

// Party is who asks for a change; what each may do differs.
type Party string

// The parties that change an order.
const (
	Customer Party = "customer"
	Staff    Party = "staff"
	System   Party = "system"
)

type edge struct{ from, to Status }

var allowed = map[edge][]Party{
	{Placed, Accepted}:    {Staff},
	{Accepted, Cooking}:   {Staff},
	{Cooking, Ready}:      {Staff},
	{Ready, Completed}:    {Staff},
	{Placed, Rejected}:    {Staff, System},
	{Placed, Cancelled}:   {Customer},
	{Accepted, Cancelled}: {Customer, Staff},
	{Cooking, Cancelled}:  {Staff},
	{Ready, Cancelled}:    {Staff},
}

// Parse accepts exactly the names of statuses.
func Parse(name string) (Status, bool) {
	s := Status(name)
	return s, slices.Contains(Statuses, s)
}

// Terminal says that no change follows s.
func (s Status) Terminal() bool {
	return s == Completed || s == Rejected || s == Cancelled
}

// ReturnsStock says that an order which enters s gives back what it took.
func (s Status) ReturnsStock() bool {
	return s == Rejected || s == Cancelled
}

// May says whether party may move an order from one status to another.
func May(party Party, from, to Status) bool {
	return slices.Contains(allowed[edge{from, to}], party)
}

// Next lists the statuses to which party may move an order that stands at from.
func Next(party Party, from Status) []Status {
	next := []Status{}
	for _, to := range Statuses {
		if May(party, from, to) {
			next = append(next, to)
		}
	}
	return next
}

// Adjacent says whether anybody may move an order from one status to another.
func Adjacent(from, to Status) bool {
	return len(allowed[edge{from, to}]) > 0
}

// Reachable says whether an order that stands at from can still come to to, by one change or several. Nothing is
// reachable from a terminal status, and no status from itself.
func Reachable(from, to Status) bool {
	return slices.ContainsFunc(Statuses, func(via Status) bool {
		return Adjacent(from, via) && (via == to || Reachable(via, to))
	})
}

// Passed lists the statuses that every order standing at s must have entered, s included.
func Passed(s Status) []Status {
	passed := []Status{}
	for _, candidate := range Statuses {
		if candidate == s || Reachable(candidate, s) && !avoidable(candidate, s) {
			passed = append(passed, candidate)
		}
	}
	return passed
}

// avoidable says whether some path from placed to the target leaves via out.
func avoidable(via, target Status) bool {
	var reach func(from Status) bool
	reach = func(from Status) bool {
		return from != via && (from == target || slices.ContainsFunc(Statuses, func(next Status) bool {
			return Adjacent(from, next) && reach(next)
		}))
	}
	return reach(Placed)
}

// Action is a button on the board.
type Action string

// The actions of the board.
const (
	Accept    Action = "accept"
	Reject    Action = "reject"
	Start     Action = "start"
	MakeReady Action = "ready"
	Complete  Action = "complete"
	Cancel    Action = "cancel"
)

var targets = map[Action]Status{
	Accept: Accepted, Reject: Rejected, Start: Cooking, MakeReady: Ready, Complete: Completed, Cancel: Cancelled,
}

// Target is the status that an action asks for; ok is false for an unknown action.
func (a Action) Target() (s Status, ok bool) {
	s, ok = targets[a]
	return s, ok
}

// NeedsReason says that the action must be explained to the customer.
func (a Action) NeedsReason() bool {
	return a == Reject || a == Cancel
}

// Check returns nil if party may move an order from one status to another, else an invalid_transition that says where
// the order stands and where that party may move it.
func Check(party Party, from, to Status) error {
	if May(party, from, to) {
		return nil
	}
	return fault.New(fault.InvalidTransition, "the order is %s and can't become %s", from, to).
		With("current", from).With("allowed", Next(party, from))
}

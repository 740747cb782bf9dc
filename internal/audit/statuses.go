package audit

import (
	"slices"
	"strings"

	"kuhnya/internal/lifecycle"
)

// Statuses is a set of statuses.
type Statuses uint8

// SetOf returns the set of the given statuses; those that the lifecycle doesn't know are left out.
func SetOf(statuses ...lifecycle.Status) (set Statuses) {
	for _, s := range statuses {
		if i := slices.Index(lifecycle.Statuses, s); i >= 0 {
			set |= 1 << i
		}
	}
	return set
}

// SetOfList is [SetOf] for statuses separated by commas, as databases put them together.
func SetOfList(list string) (set Statuses) {
	for status := range strings.SplitSeq(list, ",") {
		set |= SetOf(lifecycle.Status(status))
	}
	return set
}

// list returns the statuses of the set in the order of the lifecycle.
func (s Statuses) list() (list []lifecycle.Status) {
	for i, status := range lifecycle.Statuses {
		if s&(1<<i) != 0 {
			list = append(list, status)
		}
	}
	return list
}

// name is the only status in the set.
func (s Statuses) name() string {
	if list := s.list(); len(list) == 1 {
		return string(list[0])
	}
	return "in no known status"
}

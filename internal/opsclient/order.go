package opsclient

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"kuhnya/internal/ops/opshttp"
)

// InOriginalOrder sorts dead letters as their records came: within a partition by offset, which keeps the order of every
// key, and the partitions among each other by when the records were given up.
func InOriginalOrder(letters []opshttp.DeadLetter) {
	slices.SortFunc(letters, func(a, b opshttp.DeadLetter) int {
		return cmp.Or(comparePartitions(a, b), cmp.Compare(a.Offset, b.Offset))
	})
	type turn struct {
		at     time.Time
		letter opshttp.DeadLetter
	}
	turns := make([]turn, len(letters))
	for i, letter := range letters {
		turns[i] = turn{letter.FailedAt, letter}
		// Clocks may disagree with offsets: nothing comes before what is in front of it in its partition.
		if i > 0 && comparePartitions(letters[i-1], letter) == 0 && turns[i-1].at.After(letter.FailedAt) {
			turns[i].at = turns[i-1].at
		}
	}
	slices.SortStableFunc(turns, func(a, b turn) int { return a.at.Compare(b.at) })
	for i, t := range turns {
		letters[i] = t.letter
	}
}

func comparePartitions(a, b opshttp.DeadLetter) int {
	return cmp.Or(strings.Compare(a.Service, b.Service), strings.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
}

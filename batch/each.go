package batch

// Each decides reqs one after the other and returns their outcomes: the middle of most functions [Apply].
func Each[Req, Res any](reqs []Req, decide func(Req) (Res, error)) []Outcome[Res] {
	outcomes := make([]Outcome[Res], len(reqs))
	for i, req := range reqs {
		outcomes[i].Value, outcomes[i].Err = decide(req)
	}
	return outcomes
}

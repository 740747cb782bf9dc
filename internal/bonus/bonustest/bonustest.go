// Package bonustest is the suite that every store of bonus passes: what the rules promise, shown over that store, and
// what they rely on. A new engine is handed to [Run] and to nothing else.
package bonustest

import (
	"context"
	"testing"

	"kuhnya/batch"
	"kuhnya/internal/audit"
	"kuhnya/internal/bonus"
	"kuhnya/outbox"
)

// Engine is a fresh database behind a store.
type Engine struct {
	Store      bonus.Store
	Outbox     outbox.Store
	Classify   func(error) batch.Class
	Violations func(context.Context) ([]audit.Violation, error)
}

// Run runs the suite. open makes a fresh database for each test.
func Run(t *testing.T, open func(*testing.T) Engine) {
	for name, test := range map[string]func(*testing.T, *world){
		"Accrue/replays_what_was_answered_byte_for_byte":           replaysByteForByte,
		"Accrue/refuses_another_command_under_a_key":               refusesAnotherCommand,
		"Accrue/keeps_keys_of_callers_apart":                       keepsKeysOfCallersApart,
		"Accrue/keeps_business_keys_apart":                         keepsBusinessKeysApart,
		"Accrue/answers_another_key_with_the_accrual":              answersAnotherKey,
		"Accrue/is_repeatable_without_a_key":                       repeatableWithoutAKey,
		"Accrue/leaves_the_key_of_a_refusal_free":                  leavesTheKeyOfARefusalFree,
		"Accrue/looks_at_the_key_first":                            looksAtTheKeyFirst,
		"Accrue/refuses_what_is_ill_formed":                        refusesIllFormedCommands,
		"Accrue/refuses_a_balance_beyond_64_bits":                  refusesOverflow,
		"Accrue/makes_one_accrual_of_parallel_repeats":             oneAccrualOfRepeats,
		"Accrue/makes_one_accrual_across_processes":                oneAccrualAcrossProcesses,
		"Accrue/makes_one_accrual_of_parallel_keys":                oneAccrualOfParallelKeys,
		"Accrue/says_that_its_keys_are_in_progress":                saysInProgress,
		"Accrue/replays_while_a_replay_is_in_progress":             replaysDuringAReplay,
		"Accrue/keeps_the_answer_of_a_client_that_left":            keepsTheAnswerOfAClientThatLeft,
		"Accrue/a_refusal_harms_no_neighbour":                      refusalHarmsNoNeighbour,
		"Accrue/decides_again_after_losing_its_business_key":       losesTheBusinessKey,
		"Accrue/decides_again_after_losing_its_client_key":         losesTheClientKey,
		"Evaluate/accrues_once_per_campaign":                       accruesOncePerCampaign,
		"Evaluate/makes_one_accrual_with_a_client":                 racesAClient,
		"Evaluate/lets_an_accrual_stand":                           letsAnAccrualStand,
		"Evaluate/decides_again_after_losing_to_a_client":          losesToAClient,
		"Evaluate/judges_by_the_terms_at_placing":                  judgesByTheTermsAtPlacing,
		"Evaluate/judges_by_the_window_and_the_conditions":         judgesByTheConditions,
		"Evaluate/ends_a_window_by_the_moment":                     endsAWindowByTheMoment,
		"Evaluate/never_decides_anew":                              neverDecidesAnew,
		"Evaluate/refuses_what_is_ill_formed":                      refusesIllFormedOrders,
		"Evaluate/an_order_that_can_not_be_booked_harms_no_other":  overflowHarmsNoOther,
		"Evaluate/sums_never_wrap":                                 sumsNeverWrap,
		"Evaluate/decides_nothing_after_a_store_that_fails":        decidesNothingAfterAFailure,
		"Evaluate/tells_in_the_trace_of_the_record":                tellsInTheTrace,
		"Campaign/replays_the_campaign_of_a_key":                   replaysTheCampaign,
		"Campaign/is_created_once_by_parallel_repeats":             createsOnce,
		"Campaign/decides_again_after_losing_its_key":              losesTheCampaignKey,
		"Campaign/finds_a_fixed_id":                                findsAFixedID,
		"Campaign/starts_now_unless_told_otherwise":                startsNow,
		"Campaign/refuses_terms_that_mean_nothing":                 refusesTerms,
		"Campaign/changes_from_now_on":                             changesFromNowOn,
		"Campaign/equal_terms_add_no_version":                      equalTerms,
		"Campaign/refuses_changes_that_mean_nothing":               refusesChanges,
		"Campaign/which_version_was_in_force_is_never_ambiguous":   neverAmbiguous,
		"Campaign/parallel_changes_are_all_kept":                   parallelChanges,
		"Store/an_insert_leaves_out_what_exists":                   insertsLeaveOut,
		"Store/nothing_remains_of_a_transaction_that_failed":       nothingRemains,
		"Store/campaigns_are_listed_newest_first_and_page_through": listsCampaigns,
		"Store/entries_are_listed_newest_first_and_page_through":   listsEntries,
		"Store/versions_up_to_a_moment":                            versionsInForce,
		"Property/whatever_is_asked_how_often_is_accrued_once":     property,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, open(t))
			test(t, w)
			w.mustBeClean()
		})
	}
}

// Package obs measures a process for whoever watches it: Prometheus metrics, and the server that shows them.
//
// The parts of the process know nothing of it: they take callbacks, and obs has the callbacks. docs/OPERATIONS.md lists
// every metric with its meaning and what to do about it; a test keeps list and process the same.
//
// Guarantee: labels are few and closed (routes, methods, codes, services, groups, topics, partitions), so nothing that a
// client or a record carries makes a new series. What is asked of a database or a broker at scrape time is asked once
// per scrape and service, for a bounded time, and shared by scrapes that overlap.
//
// Failure model: what can't be learnt is left out and counted in kuhnya_scrape_errors_total. An old value, or 0, would
// look like all is well.
package obs

package event

// Topics names what a deployment's services write to and read from. All names start with one prefix, so that several
// deployments can share a broker.
type Topics struct{ Prefix string }

// DefaultPrefix is the prefix of topics unless told otherwise.
const DefaultPrefix = "kuhnya."

// The consumer groups; each reads for the service of its name.
const (
	GroupKitchen       = "kitchen"
	GroupEstablishment = "establishment"
)

// Orders carries what becomes of orders; kitchen-service writes it.
func (t Topics) Orders() string { return t.Prefix + "orders" }

// EstablishmentStatuses carries the steps of the staff; establishment-service writes it.
func (t Topics) EstablishmentStatuses() string { return t.Prefix + "establishment-statuses" }

// Bonuses carries accruals; bonus-service writes it.
func (t Topics) Bonuses() string { return t.Prefix + "bonuses" }

// DeadLetter is where a group puts the records of a topic that it can't apply.
func (t Topics) DeadLetter(topic, group string) string { return topic + "." + group + ".dlq" }

// Readers lists the groups that read each topic for good. Nothing may be trimmed from a topic before all of its
// readers have committed it, whether they run at the moment or not.
func (t Topics) Readers() map[string][]string {
	return map[string][]string{
		t.Orders():                {GroupEstablishment},
		t.EstablishmentStatuses(): {GroupKitchen},
		t.Bonuses():               {},
	}
}

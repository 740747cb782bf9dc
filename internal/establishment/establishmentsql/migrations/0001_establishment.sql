-- +goose Up
-- A ticket is read and written whole, so its lines and the statuses it has entered are documents within it.
CREATE TABLE tickets (
    order_id         BLOB PRIMARY KEY,
    code             TEXT NOT NULL,
    establishment_id BLOB NOT NULL,
    status           TEXT NOT NULL,
    reason           TEXT NOT NULL,
    lines            BLOB NOT NULL,
    comment          TEXT NOT NULL,
    total            INTEGER NOT NULL,
    currency         TEXT NOT NULL,
    accept_deadline  INTEGER NOT NULL,
    kitchen_seq      INTEGER NOT NULL,
    hidden           INTEGER NOT NULL,
    entered          BLOB NOT NULL,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL
) STRICT;
CREATE INDEX tickets_establishment ON tickets (establishment_id, order_id);
CREATE INDEX tickets_board ON tickets (establishment_id, status, order_id);

-- The steps of a ticket are its outbox towards kitchen.
CREATE TABLE ticket_steps (
    order_id   BLOB NOT NULL REFERENCES tickets (order_id),
    no         INTEGER NOT NULL,
    status     TEXT NOT NULL,
    reason     TEXT NOT NULL,
    key        TEXT NOT NULL,
    event_id   BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    sent_at    INTEGER,
    PRIMARY KEY (order_id, no)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX ticket_steps_event ON ticket_steps (event_id);
-- Nearly all steps are sent; what the sweep looks for stays as small as what waits.
CREATE INDEX ticket_steps_unsent ON ticket_steps (created_at) WHERE sent_at IS NULL;

-- +goose Up
CREATE TABLE establishments (
    id                     BLOB PRIMARY KEY,
    name                   TEXT NOT NULL,
    state                  TEXT NOT NULL CHECK (state IN ('open', 'busy', 'closed')),
    min_order              INTEGER NOT NULL CHECK (min_order >= 0),
    accept_timeout_seconds INTEGER NOT NULL CHECK (accept_timeout_seconds > 0),
    timezone               TEXT NOT NULL,
    currency               TEXT NOT NULL
) STRICT;

-- stock is kept for dishes that aren't counted as well, so that the sum of stock_changes minus what orders took holds
-- for every dish, whether or not it was counted all the time.
CREATE TABLE dishes (
    id               BLOB PRIMARY KEY,
    establishment_id BLOB NOT NULL REFERENCES establishments (id),
    external_id      TEXT NOT NULL,
    name             TEXT NOT NULL,
    description      TEXT NOT NULL,
    price            INTEGER NOT NULL CHECK (price >= 0),
    position         INTEGER NOT NULL,
    listed           INTEGER NOT NULL,
    available        INTEGER NOT NULL,
    counted          INTEGER NOT NULL,
    stock            INTEGER NOT NULL DEFAULT 0 CHECK (stock >= 0),
    UNIQUE (establishment_id, external_id)
) STRICT;

CREATE TABLE stock_changes (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    dish_id         BLOB NOT NULL REFERENCES dishes (id),
    delta           INTEGER NOT NULL,
    actor           TEXT NOT NULL,
    idempotency_key TEXT,
    at              INTEGER NOT NULL
) STRICT;
CREATE INDEX stock_changes_dish ON stock_changes (dish_id);
CREATE UNIQUE INDEX stock_changes_key ON stock_changes (actor, dish_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;

CREATE TABLE orders (
    id                     BLOB PRIMARY KEY,
    user_id                TEXT NOT NULL,
    establishment_id       BLOB NOT NULL REFERENCES establishments (id),
    status                 TEXT NOT NULL,
    reason                 TEXT NOT NULL DEFAULT '',
    total                  INTEGER NOT NULL CHECK (total >= 0),
    currency               TEXT NOT NULL,
    comment                TEXT NOT NULL,
    seq                    INTEGER NOT NULL,
    accept_deadline        INTEGER NOT NULL,
    created_at             INTEGER NOT NULL,
    updated_at             INTEGER NOT NULL,
    client_idempotency_key TEXT,
    command_fingerprint    BLOB
) STRICT;
-- One order per key of a user. The user belongs to the key: a key that is unique for everybody would let one client
-- occupy it and would hand a stranger's order out.
CREATE UNIQUE INDEX orders_client_key ON orders (user_id, client_idempotency_key)
    WHERE client_idempotency_key IS NOT NULL;
CREATE INDEX orders_user ON orders (user_id, id);
CREATE INDEX orders_establishment ON orders (establishment_id, id);
CREATE INDEX orders_awaiting_accept ON orders (accept_deadline) WHERE status = 'placed';

CREATE TABLE order_lines (
    order_id   BLOB NOT NULL REFERENCES orders (id),
    no         INTEGER NOT NULL,
    dish_id    BLOB NOT NULL REFERENCES dishes (id),
    name       TEXT NOT NULL,
    quantity   INTEGER NOT NULL CHECK (quantity > 0),
    unit_price INTEGER NOT NULL CHECK (unit_price >= 0),
    total      INTEGER NOT NULL CHECK (total >= 0),
    taken      INTEGER NOT NULL CHECK (taken IN (0, quantity)),
    PRIMARY KEY (order_id, no)
) STRICT, WITHOUT ROWID;

-- Audit trail and dedupe at once.
CREATE TABLE order_status_events (
    order_id         BLOB NOT NULL REFERENCES orders (id),
    seq              INTEGER NOT NULL,
    from_status      TEXT NOT NULL,
    to_status        TEXT NOT NULL,
    actor            TEXT NOT NULL,
    reason           TEXT NOT NULL,
    idempotency_key  TEXT,
    deliveries       INTEGER NOT NULL,
    at               INTEGER NOT NULL,
    last_delivery_at INTEGER NOT NULL,
    PRIMARY KEY (order_id, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX order_status_events_key ON order_status_events (order_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;

-- +goose Up
CREATE TABLE campaigns (
    id                   BLOB PRIMARY KEY,
    creator              TEXT NOT NULL,
    idempotency_key      TEXT,
    command_fingerprint  BLOB,
    created_at           INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX campaigns_key ON campaigns (creator, idempotency_key) WHERE idempotency_key IS NOT NULL;

-- A version is never changed: an order placed under it may be completed much later.
CREATE TABLE campaign_versions (
    campaign_id      BLOB NOT NULL REFERENCES campaigns (id),
    version          INTEGER NOT NULL,
    name             TEXT NOT NULL,
    kind             TEXT NOT NULL CHECK (kind IN ('percent', 'fixed')),
    value            INTEGER NOT NULL CHECK (value > 0),
    min_order        INTEGER NOT NULL CHECK (min_order >= 0),
    cap_per_order    INTEGER NOT NULL CHECK (cap_per_order >= 0),
    timezone         TEXT NOT NULL,
    starts_at        INTEGER NOT NULL,
    ends_at          INTEGER,
    establishment_id BLOB,
    active           INTEGER NOT NULL,
    valid_from       INTEGER NOT NULL,
    PRIMARY KEY (campaign_id, version)
) STRICT, WITHOUT ROWID;

-- Of a campaign only one version is in force at a moment, and it is found without reading the others.
CREATE UNIQUE INDEX campaign_versions_in_force ON campaign_versions (campaign_id, valid_from);

-- One row per completed order: only the transaction that inserted it decides what the order earns.
CREATE TABLE evaluations (
    order_id     BLOB PRIMARY KEY,
    user_id      TEXT NOT NULL,
    total        INTEGER NOT NULL CHECK (total >= 0),
    currency     TEXT NOT NULL,
    placed_at    INTEGER NOT NULL,
    evaluated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE evaluation_lines (
    order_id    BLOB NOT NULL REFERENCES evaluations (order_id),
    campaign_id BLOB NOT NULL,
    version     INTEGER NOT NULL,
    points      INTEGER NOT NULL CHECK (points >= 0),
    PRIMARY KEY (order_id, campaign_id),
    FOREIGN KEY (campaign_id, version) REFERENCES campaign_versions (campaign_id, version)
) STRICT, WITHOUT ROWID;

-- One accrual per business key, whatever asks for it.
CREATE TABLE accruals (
    id          BLOB PRIMARY KEY,
    user_id     TEXT NOT NULL,
    campaign_id BLOB NOT NULL REFERENCES campaigns (id),
    order_id    BLOB NOT NULL,
    points      INTEGER NOT NULL CHECK (points > 0),
    origin      TEXT NOT NULL CHECK (origin IN ('api', 'event')),
    created_at  INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX accruals_business_key ON accruals (user_id, campaign_id, order_id);
CREATE INDEX accruals_order ON accruals (order_id);

-- What was answered under a client's key. The caller belongs to the key.
CREATE TABLE accrual_answers (
    caller              TEXT NOT NULL,
    idempotency_key     TEXT NOT NULL,
    command_fingerprint BLOB NOT NULL,
    accrual_id          BLOB NOT NULL REFERENCES accruals (id),
    status              INTEGER NOT NULL,
    body                BLOB NOT NULL,
    created_at          INTEGER NOT NULL,
    PRIMARY KEY (caller, idempotency_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE ledger_transactions (
    id         BLOB PRIMARY KEY,
    accrual_id BLOB NOT NULL UNIQUE REFERENCES accruals (id),
    at         INTEGER NOT NULL
) STRICT;

CREATE TABLE ledger_entries (
    transaction_id BLOB NOT NULL REFERENCES ledger_transactions (id),
    account        TEXT NOT NULL,
    amount         INTEGER NOT NULL CHECK (amount <> 0),
    PRIMARY KEY (transaction_id, account)
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_entries_account ON ledger_entries (account, transaction_id);

CREATE TABLE balances (
    account TEXT PRIMARY KEY,
    balance INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- +goose Up
-- AUTOINCREMENT: an id that was deleted must never name another row.
CREATE TABLE outbox (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id   BLOB NOT NULL,
    topic      TEXT NOT NULL,
    key        TEXT NOT NULL,
    headers    BLOB NOT NULL,
    payload    BLOB,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE outbox_parked (
    id         INTEGER PRIMARY KEY,
    event_id   BLOB NOT NULL,
    topic      TEXT NOT NULL,
    key        TEXT NOT NULL,
    headers    BLOB NOT NULL,
    payload    BLOB,
    created_at INTEGER NOT NULL,
    reason     TEXT NOT NULL,
    parked_at  INTEGER NOT NULL
) STRICT;

CREATE TABLE outbox_lease (
    only    INTEGER PRIMARY KEY CHECK (only = 1),
    owner   TEXT NOT NULL,
    epoch   INTEGER NOT NULL,
    expires INTEGER NOT NULL
) STRICT;
INSERT INTO outbox_lease (only, owner, epoch, expires) VALUES (1, '', 0, 0);

CREATE TABLE dead_letters (
    id             BLOB PRIMARY KEY,
    consumer_group TEXT NOT NULL,
    topic          TEXT NOT NULL,
    partition      INTEGER NOT NULL,
    log_offset     INTEGER NOT NULL,
    key            BLOB,
    value          BLOB,
    headers        BLOB NOT NULL,
    error_code     TEXT NOT NULL,
    error_message  TEXT NOT NULL,
    attempts       INTEGER NOT NULL,
    redrive_count  INTEGER NOT NULL,
    state          TEXT NOT NULL CHECK (state IN ('open', 'redriven', 'discarded')),
    reason         TEXT NOT NULL DEFAULT '',
    failed_at      INTEGER NOT NULL,
    UNIQUE (consumer_group, topic, partition, log_offset)
) STRICT;
CREATE INDEX dead_letters_state ON dead_letters (state, id);

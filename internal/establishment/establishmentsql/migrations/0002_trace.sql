-- +goose Up
-- The trace of the press. A step may be sent long after it, and more than once, and is the same record each time.
ALTER TABLE ticket_steps ADD COLUMN traceparent TEXT NOT NULL DEFAULT '';

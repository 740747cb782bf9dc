package auth

import "context"

type contextKey struct{}

// WithIdentity returns a context that carries an authenticated caller.
func WithIdentity(ctx context.Context, id Identity) context.Context {
	return context.WithValue(ctx, contextKey{}, id)
}

// FromContext returns the authenticated caller; ok is false for an anonymous one.
func FromContext(ctx context.Context) (id Identity, ok bool) {
	id, ok = ctx.Value(contextKey{}).(Identity)
	return id, ok
}

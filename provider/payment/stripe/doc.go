// Package stripe speaks with Stripe: it makes checkouts and portals and reports usage ([Client]),
// checks who sent a webhook request ([Verify]), and reads the events that matter here
// ([ParseEvent]).
//
// The client sends forms, a key that makes repetitions harmless, and a pinned version of the
// interface. Events are read in the shapes of that version and of older ones, because the
// operator's account decides which one its webhook gets. Stripe's own module knows one version of
// events (decision 0057).
package stripe

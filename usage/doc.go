// Package usage measures what tenants use: it counts, sums, compares with quotas, and warns.
//
//	a turn, a session, bytes, deliveries
//	  │ a record in the transaction of what it measures, unique by source, meter and model
//	  ▼
//	usage_records ── Fold, each second ──► usage_days, usage_months ──► usage.threshold
//	                                            │             │
//	                                            ▼             ▼
//	                                       Month, Days      Admit: 402 when a quota is used up
//
// A record is folded into the sums once, in the transaction that marks it as counted. Records are
// kept for recordLife, far longer than anything is repeated that would write them again.
//
// Days and months begin and end in the tenant's time zone (tenants.timezone), as it is when a
// record is folded.
//
// Fold announces the thresholds that a sum reaches as it grows. Sweep announces those that it has
// reached without growing, such as those of a smaller plan. A row of usage_crossings is why each is
// announced once for a quota.
//
// kb_bytes is different from the other meters: its records are what was added and removed, its sum
// of a month is what is stored, and its quota is that of one workspace.
//
// Tables: usage_records, usage_days, usage_months, usage_alerts, usage_crossings. Events:
// usage.threshold.
package usage

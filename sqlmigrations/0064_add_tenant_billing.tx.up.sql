-- The time zone in which a tenant's days and months of usage begin and end, and the customer that a
-- tenant is at the payment provider.
ALTER TABLE tenants
    ADD COLUMN IF NOT EXISTS timezone text NOT NULL DEFAULT 'UTC',
    ADD COLUMN IF NOT EXISTS stripe_customer_id text;

--bun:split

CREATE UNIQUE INDEX IF NOT EXISTS tenants_stripe_customer ON tenants (stripe_customer_id) WHERE stripe_customer_id IS NOT NULL;

-- Quotas of tenants. Checked on every publish call, so the view must stay cheap.

CREATE TABLE tenant_quota (
  tenant        TEXT PRIMARY KEY,
  bytes_per_day INTEGER NOT NULL CHECK (bytes_per_day > 0),
  burst         INTEGER NOT NULL DEFAULT 1048576
);

CREATE TABLE tenant_usage (
  tenant TEXT NOT NULL REFERENCES tenant_quota (tenant) ON DELETE CASCADE,
  day    TEXT NOT NULL,
  bytes  INTEGER NOT NULL,
  PRIMARY KEY (tenant, day)
);

-- Tenants that have used nine tenths of their daily allowance, for the mail that
-- warns them before publishing is refused.
CREATE VIEW tenant_nearly_exhausted AS
SELECT q.tenant, u.bytes * 100 / q.bytes_per_day AS percent
FROM tenant_quota q
JOIN tenant_usage u ON u.tenant = q.tenant AND u.day = date('now')
WHERE u.bytes * 10 >= q.bytes_per_day * 9;

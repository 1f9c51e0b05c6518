-- One app. Several apps have a database, or a schema of one (search_path), each.

CREATE TABLE provider (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    topic text NOT NULL,
    public_key text NOT NULL,
    -- A certificate that a phone has shown and that nobody here issued.
    proven text
);

CREATE TABLE certificates (
    epoch bigint PRIMARY KEY,
    certificate text NOT NULL,
    replaced_at timestamptz
);
CREATE UNIQUE INDEX certificates_current ON certificates ((true)) WHERE replaced_at IS NULL;

-- `stored` is a StoredDevice of the package. A removed device stays: its id is its user's, and its generation counts on.
CREATE TABLE devices (
    device text PRIMARY KEY,
    stored jsonb NOT NULL,
    owner text NOT NULL GENERATED ALWAYS AS (stored ->> 'user') STORED,
    public_key text NOT NULL GENERATED ALWAYS AS (stored ->> 'public_key') STORED,
    is_removed boolean NOT NULL GENERATED ALWAYS AS (stored @> '{"removed": true}') STORED
);
CREATE UNIQUE INDEX devices_key ON devices (public_key) WHERE NOT is_removed;
CREATE INDEX devices_owner ON devices (owner) WHERE NOT is_removed;

CREATE TABLE tokens (
    device text REFERENCES devices ON DELETE CASCADE,
    environment text,
    token text NOT NULL,
    -- When the phone last said so. APNs' 410 is about a token that was not confirmed since.
    confirmed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (device, environment)
);
CREATE INDEX tokens_token ON tokens (token);

-- Sealed pushes. `request` is a line for `pushcrypt send` without the token, which may change until it is sent.
CREATE TABLE pushes (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    device text NOT NULL,
    environment text NOT NULL,
    message_id bytea NOT NULL,
    owner text NOT NULL,
    epoch bigint NOT NULL,
    request text,
    expires_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- From then on a sender may take it. One that takes it moves this on, again and again until it has the answer.
    due timestamptz DEFAULT now(),
    attempts integer NOT NULL DEFAULT 0,
    -- What became of it.
    settled_at timestamptz,
    status integer,
    reason text,
    CHECK ((due IS NULL) = (settled_at IS NOT NULL)),
    UNIQUE (device, environment, message_id)
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX pushes_due ON pushes (due) WHERE due IS NOT NULL;
CREATE INDEX pushes_expiring ON pushes (expires_at) WHERE due IS NOT NULL;
CREATE INDEX pushes_settled ON pushes (settled_at) WHERE settled_at IS NOT NULL;

-- Who adds sealed pushes shares a lock until its transaction ends, and who replaces the key takes it alone. Waiters are served in order: a
-- replacement waits for the transactions under way, not for those that come after it. Each statement of these functions sees what was
-- committed before it, if the transaction is READ COMMITTED.

-- Returns how many are new; null, and nothing is added, if `current` is not the current epoch: they are to be sealed again.
CREATE FUNCTION add_pushes(
    current bigint, signed bigint, floor bigint, devices text[], environments text[], message_ids bytea[], owners text[], requests text[], ends float8[])
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    added bigint;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtext('pushcrypt key'));
    IF current IS DISTINCT FROM (SELECT max(epoch) FROM certificates) THEN
        RETURN NULL;
    END IF;
    INSERT INTO pushes (device, environment, message_id, owner, request, epoch, expires_at)
    SELECT d, e, m, o, r, signed, to_timestamp(t) FROM unnest(devices, environments, message_ids, owners, requests, ends) AS given (d, e, m, o, r, t)
    -- One that is there already stays, unless phones no longer open it.
    ON CONFLICT (device, environment, message_id) DO UPDATE
    SET owner = EXCLUDED.owner, request = EXCLUDED.request, epoch = EXCLUDED.epoch, expires_at = EXCLUDED.expires_at,
        created_at = clock_timestamp(), due = now(), attempts = 0, settled_at = NULL, status = NULL, reason = NULL
    WHERE pushes.epoch < floor;
    GET DIAGNOSTICS added = ROW_COUNT;
    IF added > 0 THEN
        NOTIFY pushcrypt;
    END IF;
    RETURN added;
END $$;

-- Returns false, and nothing is replaced, unless the new certificate was requested with `before` and `shown` as the last ones. Doing it
-- again is harmless.
CREATE FUNCTION replace_key(before bigint, shown text, new bigint, new_certificate text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('pushcrypt key'));
    IF EXISTS (SELECT FROM certificates WHERE certificate = new_certificate AND replaced_at IS NULL) THEN
        RETURN true;
    END IF;
    IF before <> (SELECT coalesce(max(epoch), 0) FROM certificates) OR shown IS DISTINCT FROM (SELECT proven FROM provider) THEN
        RETURN false;
    END IF;
    UPDATE certificates SET replaced_at = clock_timestamp() WHERE replaced_at IS NULL;
    INSERT INTO certificates (epoch, certificate) VALUES (new, new_certificate);
    RETURN true;
END $$;

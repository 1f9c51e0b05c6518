-- One app. Several apps have a database, or a schema of one (search_path), each.

CREATE TABLE certificates (
    epoch bigint PRIMARY KEY,
    floor bigint NOT NULL,
    certificate text NOT NULL,
    replaced_at timestamptz
);
CREATE UNIQUE INDEX certificates_current ON certificates ((true)) WHERE replaced_at IS NULL;

-- `stored` is a StoredDevice of the package. A removed device stays: its id is its user's, and its generation counts on.
CREATE TABLE devices (
    device text PRIMARY KEY,
    stored jsonb NOT NULL,
    owner text GENERATED ALWAYS AS (stored ->> 'user') STORED,
    public_key text NOT NULL GENERATED ALWAYS AS (stored ->> 'public_key') STORED,
    token text GENERATED ALWAYS AS (stored ->> 'token') STORED,
    is_removed boolean NOT NULL GENERATED ALWAYS AS (stored @> '{"removed": true}') STORED,
    -- When the phone last said so. APNs' 410 is about a token that was not confirmed since.
    confirmed_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX devices_key ON devices (public_key);
CREATE INDEX devices_token ON devices (token);
CREATE INDEX devices_owner ON devices (owner) WHERE NOT is_removed;

-- Sealed pushes. `request` is a line for `pushcrypt send` without the token, which may change until it is sent.
CREATE TABLE pushes (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    device text NOT NULL,
    message_id bytea NOT NULL,
    owner text,
    epoch bigint NOT NULL,
    request text,
    expires_at timestamptz NOT NULL,
    -- From then on a sender may take it. One that takes it moves this on: if it dies, another takes it then.
    due timestamptz DEFAULT now(),
    attempts integer NOT NULL DEFAULT 0,
    settled_at timestamptz,
    reason text,
    UNIQUE (device, message_id)
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX pushes_due ON pushes (due) WHERE due IS NOT NULL;

-- Nobody else changes a device with this id, key or token meanwhile. In one order, so that nobody waits for each other.
CREATE FUNCTION lock_devices(names text[]) RETURNS void LANGUAGE sql AS $$
    SELECT pg_advisory_xact_lock(lock) FROM (SELECT DISTINCT hashtextextended(name, 0) AS lock FROM unnest(names) AS name ORDER BY 1) AS locks
$$;

CREATE FUNCTION store_device(id text, value text) RETURNS void LANGUAGE sql AS $$
    INSERT INTO devices (device, stored) VALUES (id, value::jsonb)
    ON CONFLICT (device) DO UPDATE SET stored = EXCLUDED.stored, confirmed_at = clock_timestamp()
$$;

-- Who adds sealed pushes shares a lock until its transaction ends, and who replaces the key takes it alone. Each statement of these functions
-- sees what was committed before it, if the transaction is READ COMMITTED.

-- Returns how many are new; null, and nothing is added, if `signed` is not the current epoch: they are to be sealed again.
CREATE FUNCTION add_pushes(signed bigint, devices text[], message_ids bytea[], owners text[], requests text[], ends float8[])
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    added bigint;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtext('pushcrypt key'));
    IF signed IS DISTINCT FROM (SELECT max(epoch) FROM certificates) THEN
        RETURN NULL;
    END IF;
    INSERT INTO pushes (device, message_id, owner, request, epoch, expires_at)
    SELECT d, m, o, r, signed, to_timestamp(t) FROM unnest(devices, message_ids, owners, requests, ends) AS given (d, m, o, r, t) ORDER BY d, m
    -- One that is there already stays, unless phones no longer open it.
    ON CONFLICT (device, message_id) DO UPDATE
    SET owner = EXCLUDED.owner, request = EXCLUDED.request, epoch = EXCLUDED.epoch, expires_at = EXCLUDED.expires_at, due = now(), attempts = 0,
        settled_at = NULL, reason = NULL
    WHERE pushes.epoch < (SELECT max(floor) FROM certificates);
    GET DIAGNOSTICS added = ROW_COUNT;
    NOTIFY pushcrypt;
    RETURN added;
END $$;

-- Store the file of the signing key first. Returns false, and nothing is replaced, if the certificate was made after another one than the last.
CREATE FUNCTION replace_key(before bigint, new bigint, new_floor bigint, new_certificate text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('pushcrypt key'));
    IF before <> (SELECT coalesce(max(epoch), 0) FROM certificates) THEN
        RETURN false;
    END IF;
    UPDATE certificates SET replaced_at = clock_timestamp() WHERE replaced_at IS NULL;
    INSERT INTO certificates (epoch, floor, certificate) VALUES (new, new_floor, new_certificate);
    RETURN true;
END $$;

-- TAKE: lines for `pushcrypt send`, leased. What cannot be sent is settled.
CREATE FUNCTION take_pushes(most integer, lease interval) RETURNS TABLE (line text) LANGUAGE sql AS $$
    WITH taken AS (
        SELECT p.number, d.token, d.stored ->> 'environment' AS environment, CASE
            WHEN expires_at <= now() THEN 'expired'
            WHEN d.device IS NULL THEN 'removed-device'
            WHEN p.epoch < (SELECT max(floor) FROM certificates) THEN 'ended-epoch'
            WHEN d.token IS NULL THEN 'no-token' END AS why_not
        FROM pushes p LEFT JOIN devices d ON d.device = p.device AND d.owner IS NOT DISTINCT FROM p.owner AND NOT d.is_removed
        WHERE p.due <= now() ORDER BY p.due LIMIT most FOR UPDATE OF p SKIP LOCKED),
    moved AS (
        UPDATE pushes SET attempts = attempts + 1, reason = why_not, due = CASE WHEN why_not IS NULL THEN now() + lease END,
            settled_at = CASE WHEN why_not IS NOT NULL THEN now() END
        FROM taken WHERE pushes.number = taken.number RETURNING pushes.number, epoch, request, token, environment, why_not)
    SELECT format('{"number":%s,"epoch":%s,"token":"%s","environment":"%s",%s', number, epoch, token, environment, substr(request, 2))
    FROM moved WHERE why_not IS NULL
$$;

-- SETTLE and GONE: what APNs said. An answer about a copy from before a theft settles nothing. A device that has another token by now, or has
-- confirmed this one since, is tried again.
CREATE FUNCTION settle_pushes(answers jsonb) RETURNS void LANGUAGE sql AS $$
    WITH given AS (SELECT * FROM jsonb_to_recordset(answers) AS a (number bigint, epoch bigint, token text, reason text, retry boolean, since float8)),
    gone AS (
        UPDATE devices SET stored = stored - 'token' - 'environment' FROM given
        WHERE devices.token = given.token AND given.since IS NOT NULL AND confirmed_at < to_timestamp(given.since / 1000))
    UPDATE pushes SET reason = given.reason, request = CASE WHEN retry THEN request END, settled_at = CASE WHEN NOT retry THEN now() END,
        due = CASE WHEN retry THEN now() + least(2 ^ attempts, 900) * interval '1 second' END
    FROM given WHERE pushes.number = given.number AND pushes.epoch = given.epoch AND pushes.due IS NOT NULL
$$;

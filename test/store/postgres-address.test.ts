import assert from "node:assert/strict";
import { test } from "node:test";
import { isOrbError } from "../../src/base/errors.ts";
import { takeSchema } from "../../src/store/postgres/address.ts";
import { postgresError, SETTINGS_LOST } from "../../src/store/postgres/errors.ts";

const at = (query: string) => takeSchema(`postgres://u:p@h/d?${query}`);

test("whoever asks for TLS gets it with a certificate that is checked, unless told otherwise", () => {
  assert.match(at("sslmode=require").url, /sslmode=verify-full/);
  assert.match(at("sslmode=no-verify&sslrootcert=/ca.pem").url, /sslmode=no-verify&sslrootcert=/);
  assert.match(at("sslmode=disable&channel_binding=prefer&connect_timeout=3").url, /sslmode=disable/);
  assert.deepEqual(at("schema=second"), { url: "postgres://u:p@h/d", schema: "second" });
});

test("a slip behind the question mark is refused: what was to be encrypted would not be", () => {
  const refused = (query: string, what: RegExp) =>
    assert.throws(
      () => at(query),
      (error) => isOrbError(error, "config_invalid") && what.test(`${error.message} ${error.hint}`),
    );
  refused("sslmod=require", /`sslmod` is not supported.*sslmode/);
  refused("sslmode=requird", /requird.*verify-full/);
  refused("schema=Bad-Name", /lower-case letters/);
  refused("options=-csearch_path%3Dx", /ALTER ROLE/);
});

test("why there is no connection is said with what to do about just that", () => {
  const hint = (message: string, code: string | null) => {
    const error = postgresError({ message, code });
    assert.ok(isOrbError(error, "database_unavailable"), message);
    return `${error.message} ${error.hint}`;
  };
  assert.match(hint("password authentication failed", "28P01"), /Check user, password/);
  assert.match(hint("permission denied for database d", "42501"), /GRANT CREATE ON DATABASE/);
  assert.match(hint("sorry, too many clients already", "53300"), /no more connections.*max_connections/);
  assert.match(hint("unsupported startup parameter: statement_timeout", "08P01"), /PgBouncer/);
  assert.match(hint(SETTINGS_LOST, null), /PgBouncer/);
  assert.match(hint("cannot execute INSERT in a read-only transaction", "25006"), /primary/);
  assert.match(hint("The server does not support SSL connections", null), /sslmode=disable/);
  assert.match(hint("self-signed certificate in certificate chain", null), /sslrootcert/);
  assert.match(hint("ENOENT: no such file or directory, open '/nope.crt'", null), /must be a file on this machine/);
  assert.match(hint("connect ECONNREFUSED 127.0.0.1:5432", null), /Check that it is running/);
});

/** The parameters of a Postgres `APP_DATABASE_URL`. */
import { OrbError } from "../../base/errors.ts";

const DEFAULT_SCHEMA = "orbweaver";

/**
 * Accepted query parameters. Others are rejected: a typo in `sslmode` would go unnoticed and leave the connection
 * unencrypted. Some have no effect; they occur in URLs that providers hand out.
 */
const ACCEPTED_PARAMETERS = new Set([
  "schema",
  "sslmode",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "sslnegotiation",
  "host",
  "port",
  "application_name",
  "client_encoding",
  "connect_timeout",
  "channel_binding",
  "gssencmode",
  "keepalives",
  "keepalives_idle",
  "keepalives_interval",
  "keepalives_count",
  "target_session_attrs",
]);

/** Every mode that asks for encryption also verifies the server's certificate. */
const VERIFIED = ["prefer", "require", "verify-ca", "verify-full"];
const SSL_MODES = ["disable", "no-verify", ...VERIFIED];

export function takeSchema(address: string): { url: string; schema: string } {
  const url = new URL(address);
  const schema = url.searchParams.get("schema") ?? DEFAULT_SCHEMA;
  url.searchParams.delete("schema");
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
    throw refusal("the schema name may contain only a-z, 0-9 and _", "schema: only lower-case letters, digits and _");
  // It would replace ours, which set the search path.
  if (url.searchParams.has("options"))
    throw refusal(
      "`options` is not allowed",
      "remove `options`; configure the role or the database instead",
      "For example: ALTER ROLE name SET statement_timeout = '5min'. Set the schema with `schema`.",
    );
  const unknown = [...url.searchParams.keys()].find((name) => !ACCEPTED_PARAMETERS.has(name));
  if (unknown !== undefined)
    throw refusal(
      `\`${unknown}\` is not supported`,
      `${unknown}: not supported`,
      `Remove or correct it; the most important ones are ${[...ACCEPTED_PARAMETERS].slice(0, 5).join(", ")}.`,
    );
  const mode = url.searchParams.get("sslmode");
  if (mode !== null && !SSL_MODES.includes(mode))
    throw refusal(`sslmode=${mode} is not supported`, `sslmode: expected one of ${SSL_MODES.join(", ")}`);
  if (mode !== null && VERIFIED.includes(mode)) url.searchParams.set("sslmode", "verify-full");
  return { url: url.href, schema };
}

function refusal(what: string, message: string, hint = `Expected: ${message.replace(/^.*?: (?:expected )?/, "")}`) {
  return new OrbError("config_invalid", `APP_DATABASE_URL: ${what}`, {
    fields: [{ path: "APP_DATABASE_URL", message }],
    hint,
  });
}

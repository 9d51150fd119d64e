import type { LoginStore } from "../../ports/security/login-port.ts";
import type { Context } from "../kernel/context.ts";

const NAME_PREFIX = "ended_login ";

export function loginStore({ connection }: Context): LoginStore {
  return {
    endLogin: async (id, until, now) =>
      connection.write(
        () => {
          connection
            .sql("INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value")
            .run(NAME_PREFIX + id, String(Math.ceil(until)));
          // Expired cookies are invalid anyway.
          connection
            .sql(`DELETE FROM meta WHERE name LIKE '${NAME_PREFIX}%' AND CAST(value AS BIGINT) < ?`)
            .run(Math.floor(now));
        },
        { durable: true },
      ),
    hasLoginEnded: async (id) =>
      connection.sql("SELECT 1 FROM meta WHERE name = ?").get(NAME_PREFIX + id) !== undefined,
  };
}

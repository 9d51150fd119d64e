import { Link } from "wouter";
import { useCall } from "../../api/query.ts";
import { sessionChoices } from "../../logic/sessions.ts";
import { Select } from "../../ui/Field.tsx";

/** The stored session to use. */
export function SessionChoice({
  urls,
  value,
  error,
  bare = false,
  onChange,
}: {
  urls: readonly string[];
  value: string;
  error?: string | undefined;
  bare?: boolean;
  onChange: (id: string) => void;
}) {
  const sessions = useCall("listSessions", { query: { limit: 200 } });
  return (
    <Select
      label="Session"
      bare={bare}
      {...(bare
        ? {}
        : {
            help: (
              <>
                For pages behind a sign-in. A session is sent only to the site it belongs to.{" "}
                <Link className="link" href="/settings?tab=sessions">
                  Manage sessions
                </Link>
              </>
            ),
          })}
      error={error}
      value={value}
      choices={sessionChoices(sessions.data ?? [], urls, value)}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

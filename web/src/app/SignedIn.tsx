import { useOwnRights } from "../api/rights.ts";
import { sentence } from "../logic/format.ts";
import { isLimited } from "../logic/rights.ts";
import { IconButton } from "../ui/Button.tsx";
import { Icon } from "../ui/Icon.tsx";

const TOKEN_NAME = "Server token";

/** Who uses the dashboard, with which role; nobody signs in where no token is set. */
export function SignedIn({ onLogOut }: { onLogOut: (() => void) | null }) {
  const { data } = useOwnRights();
  if (data === undefined || data.kind === "local") return null;
  const name = data.kind === "token" ? TOKEN_NAME : data.name;
  return (
    <div className="signed-in">
      <Icon name="person" />
      <span className="signed-in-name">
        <b className="truncate" title={`Signed in as ${name}`}>
          <span className="spoken">Signed in as </span>
          {name}
        </b>
        <span className="soft">
          {sentence(data.role)}
          {isLimited(data) ? ", limited" : ""}
        </span>
      </span>
      {onLogOut === null ? null : <IconButton label="Log out" icon="logout" size="small" onClick={onLogOut} />}
    </div>
  );
}

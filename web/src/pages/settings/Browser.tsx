import type { Answer } from "../../api/client.ts";
import { call } from "../../api/client.ts";
import { queryClient, useCall } from "../../api/query.ts";
import { setTheme, type Theme, useThemeChoice } from "../../app/theme.ts";
import { GENERAL, GO_TO, IN_LISTS } from "../../logic/shortcuts.ts";
import { Button } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { Segmented } from "../../ui/Field.tsx";
import { KeyHints } from "../../ui/overlay/KeyHints.tsx";
import { toastError } from "../../ui/overlay/Toast.tsx";

const THEMES = [
  { value: "system", name: "System" },
  { value: "light", name: "Light" },
  { value: "dark", name: "Dark" },
];

function accessOf(caller: Answer<"getLogin">["caller"]): string {
  if (caller === null || caller.kind === "local") return "This browser is not logged in.";
  if (caller.kind === "token") return "This browser is logged in with the token of the server.";
  const how = caller.kind === "key" ? `with the key ${caller.name}` : `as ${caller.name}`;
  return `This browser is logged in ${how}, with the role ${caller.role}.`;
}

/** Settings of this browser: theme, keys and login. */
export function Browser() {
  const theme = useThemeChoice();
  const login = useCall("getLogin");
  const logOut = async () => {
    try {
      await call("logOut");
      queryClient.clear();
      location.assign("/");
    } catch (error) {
      toastError(error);
    }
  };
  return (
    <div className="settings-columns">
      <Card title="Keyboard">
        <div className="settings-keys">
          <div>
            <KeyHints title="Anywhere" shortcuts={GENERAL} />
            <KeyHints title="In lists" shortcuts={IN_LISTS} />
          </div>
          <KeyHints title="Go to" shortcuts={GO_TO} />
        </div>
      </Card>
      <div className="stack">
        <Card title="Theme">
          <Segmented label="Theme" value={theme} choices={THEMES} onChange={(value) => setTheme(value as Theme)} />
        </Card>
        <Card title="Access">
          {login.data === undefined ? null : login.data.token_needed ? (
            <div className="spread">
              <span className="soft">{accessOf(login.data.caller)}</span>
              {login.data.can_log_out ? (
                <Button icon="logout" onClick={() => void logOut()}>
                  Log out
                </Button>
              ) : null}
            </div>
          ) : (
            <p className="soft">
              No token is required: anyone who can reach this server has full access. Set <code>APP_API_TOKEN</code>{" "}
              before you open it to others.
            </p>
          )}
        </Card>
      </div>
    </div>
  );
}

import { call } from "../../api/client.ts";
import { queryClient, useCall } from "../../api/query.ts";
import { setTheme, type Theme, useThemeChoice } from "../../app/theme.ts";
import { GENERAL, GO_TO, IN_LISTS } from "../../logic/shortcuts.ts";
import { useOwnRights } from "../../api/rights.ts";
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

/** Settings of this browser: theme, keys and login. */
export function Browser() {
  const theme = useThemeChoice();
  const login = useCall("getLogin");
  const own = useOwnRights();
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
          {login.data?.token_needed === true || (own.data !== undefined && own.data.kind !== "local") ? (
            <div className="spread">
              <span className="soft">
                {own.data === undefined || own.data.kind === "token"
                  ? "This browser is logged in with the token of the server."
                  : `This browser is logged in as ${own.data.name}, with the role ${own.data.role}.`}
              </span>
              <Button icon="logout" onClick={() => void logOut()}>
                Log out
              </Button>
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

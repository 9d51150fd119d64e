import { type FormEvent, useEffect, useRef, useState } from "react";
import { call, Problem } from "../api/client.ts";
import { Button } from "../ui/Button.tsx";
import { Input } from "../ui/Field.tsx";
import { Logo } from "../ui/Icon.tsx";
import "./login.css";

/** Exchanges the token for a cookie: the page itself keeps nothing. */
export function Login({ onDone }: { onDone: () => void }) {
  const [token, setToken] = useState("");
  const [error, setError] = useState<string | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    document.title = "Log in · Orbweaver";
    form.current?.querySelector("input")?.focus();
  }, []);
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault();
    if (token.trim() === "") return setError("Paste the token first.");
    setBusy(true);
    try {
      await call("logIn", { body: { token: token.trim() } });
      onDone();
    } catch (failure) {
      const wrong = failure instanceof Problem && failure.status === 401;
      setError(wrong ? "That is not the token of this server." : (failure as Error).message);
      setBusy(false);
      form.current?.querySelector("input")?.select();
    }
    return undefined;
  };
  return (
    <main className="login">
      <form className="login-box" ref={form} onSubmit={(event) => void onSubmit(event)}>
        <Logo size={34} />
        <h1>Log in to Orbweaver</h1>
        <Input
          label="Token"
          type="password"
          autoComplete="current-password"
          spellCheck={false}
          value={token}
          error={error}
          help={
            <>
              The value of <code>APP_API_TOKEN</code> of this server. It stays logged in for a week.
            </>
          }
          onChange={(event) => {
            setToken(event.target.value);
            setError(undefined);
          }}
        />
        <Button kind="primary" type="submit" busy={busy}>
          Log in
        </Button>
      </form>
    </main>
  );
}

import { type FormEvent, type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { call, Problem } from "../api/client.ts";
import { Button } from "../ui/Button.tsx";
import { Input } from "../ui/Field.tsx";
import { Logo } from "../ui/Icon.tsx";
import "./login.css";

export function LoginPage({ onDone }: { onDone: () => void }) {
  useEffect(() => {
    document.title = "Log in · Orbweaver";
  }, []);
  return (
    <main className="login">
      <LoginForm onDone={onDone}>
        <h1>Log in to Orbweaver</h1>
      </LoginForm>
    </main>
  );
}

/** Shown over the page when the login has expired: typed input stays, and pending requests continue afterwards. */
export function LoginAgain({ onDone }: { onDone: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  // Close it before unmounting, so that focus returns to where it was.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  const done = useRef(onDone);
  done.current = onDone;
  useEffect(() => {
    // The user may have logged in on another tab.
    const look = () =>
      void call("getLogin").then(
        ({ logged_in: isIn }) => {
          if (isIn) done.current();
        },
        () => {},
      );
    window.addEventListener("focus", look);
    return () => window.removeEventListener("focus", look);
  }, []);
  return (
    <dialog
      ref={dialog}
      className="login-again"
      aria-labelledby={titleId}
      onCancel={(event) => event.preventDefault()}
      onClose={({ currentTarget }) => {
        if (currentTarget.isConnected && !currentTarget.open) currentTarget.showModal();
      }}
    >
      <LoginForm onDone={onDone}>
        <h2 id={titleId}>Log in again</h2>
        <p className="soft">Your login has expired. Log in again to continue on this page.</p>
      </LoginForm>
    </dialog>
  );
}

/** Exchanges the token for a cookie: the page itself stores nothing. */
function LoginForm({ onDone, children }: { onDone: () => void; children: ReactNode }) {
  const [token, setToken] = useState("");
  const [error, setError] = useState<string | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
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
      setError(wrong ? "Wrong token." : (failure as Error).message);
      setBusy(false);
      form.current?.querySelector("input")?.select();
    }
    return undefined;
  };
  return (
    <form className="login-box" ref={form} onSubmit={(event) => void onSubmit(event)}>
      <Logo size={34} />
      {children}
      <Input
        label="Token"
        type="password"
        autoComplete="current-password"
        spellCheck={false}
        value={token}
        error={error}
        help={
          <>
            Your access key, or the value of <code>APP_API_TOKEN</code> of this server. You stay logged in until a week
            after your last visit.
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
  );
}

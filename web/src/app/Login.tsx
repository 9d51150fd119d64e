import { type FormEvent, type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { type Answer, call, Problem } from "../api/client.ts";
import { capital } from "../logic/format.ts";
import { Button, LinkButton } from "../ui/Button.tsx";
import { Input } from "../ui/Field.tsx";
import { Logo } from "../ui/Icon.tsx";
import "./login.css";

interface LoginProps {
  /** What the server last said; null: nothing yet. */
  login: Answer<"getLogin"> | null;
  onDone: () => void;
}

export function LoginPage({ login, onDone }: LoginProps) {
  useEffect(() => {
    document.title = "Log in · Orbweaver";
  }, []);
  return (
    <main className="login">
      <LoginBox provider={login?.provider ?? null} error={login?.sign_in_error ?? null} onDone={onDone}>
        <h1>Log in to Orbweaver</h1>
      </LoginBox>
    </main>
  );
}

/** Shown over the page when the login has expired: typed input stays, and pending requests continue afterwards. */
export function LoginAgain({ login, onDone }: LoginProps) {
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
      <LoginBox provider={login?.provider ?? null} error={null} opensTab onDone={onDone}>
        <h2 id={titleId}>Log in again</h2>
        <p className="soft">Your login has expired. Log in again to continue on this page.</p>
      </LoginBox>
    </dialog>
  );
}

/** Through the provider, if there is one, and with a token. */
function LoginBox({
  provider,
  error,
  opensTab = false,
  onDone,
  children,
}: {
  provider: Answer<"getLogin">["provider"];
  error: string | null;
  /** What is typed on this page stays: it goes on when this tab is looked at again. */
  opensTab?: boolean;
  onDone: () => void;
  children: ReactNode;
}) {
  const to = opensTab || location.pathname === "/login" ? "/" : location.pathname + location.search;
  return (
    <div className="login-box">
      <Logo size={34} />
      {children}
      {error === null ? null : (
        <p className="login-error" role="alert">
          {error}
        </p>
      )}
      {provider === null ? null : (
        <>
          <LinkButton
            href={`${provider.url}?to=${encodeURIComponent(to)}`}
            kind="primary"
            {...(opensTab ? { target: "_blank", rel: "noopener" } : {})}
          >
            Sign in with {provider.name}
          </LinkButton>
          <p className="login-or">or with a token</p>
        </>
      )}
      <TokenForm isMain={provider === null} onDone={onDone} />
    </div>
  );
}

/** Exchanges the token for a cookie: the page itself stores nothing. */
function TokenForm({ isMain, onDone }: { isMain: boolean; onDone: () => void }) {
  const [token, setToken] = useState("");
  const [error, setError] = useState<string | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (isMain) form.current?.querySelector("input")?.focus();
  }, [isMain]);
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault();
    if (token.trim() === "") return setError("Paste the token first.");
    setBusy(true);
    try {
      await call("logIn", { body: { token: token.trim() } });
      onDone();
    } catch (failure) {
      const wrong = failure instanceof Problem && failure.status === 401;
      const { message } = failure as Error;
      setError(!wrong ? message : message === "the token is wrong" ? "Wrong token." : `${capital(message)}.`);
      setBusy(false);
      form.current?.querySelector("input")?.select();
    }
    return undefined;
  };
  return (
    <form className="login-token" ref={form} onSubmit={(event) => void onSubmit(event)}>
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
      <Button kind={isMain ? "primary" : "plain"} type="submit" busy={busy}>
        Log in
      </Button>
    </form>
  );
}

// node deploy/probe.mjs /health|/ready: asks the server in the same container, and ends with 0 when it says yes. /ready wants
// the token, which a probe over HTTP could not take from the environment.
const path = process.argv[2] ?? "/health";
const token = process.env.APP_API_TOKEN?.trim();
const port = process.env.APP_PORT?.trim() || "8000";
try {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: token ? { authorization: `Bearer ${token}` } : {},
    signal: AbortSignal.timeout(4000),
  });
  if (!answer.ok) process.stderr.write(`${path}: ${answer.status} ${(await answer.text()).slice(0, 500)}\n`);
  process.exitCode = answer.ok ? 0 : 1;
} catch (error) {
  process.stderr.write(`${path}: ${error.cause?.message ?? error.message}\n`);
  process.exitCode = 1;
}

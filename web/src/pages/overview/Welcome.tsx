import { Link } from "wouter";
import { Card } from "../../ui/Card.tsx";
import { Code } from "../../ui/text/Code.tsx";
import { Logo } from "../../ui/Icon.tsx";
import { StartCrawl } from "./StartCrawl.tsx";
import { TryDemo } from "./TryDemo.tsx";

/** Shown on a new installation: how to start the first crawl, here or elsewhere. */
export function Welcome() {
  const origin = location.origin;
  return (
    <div className="welcome">
      <div className="stack">
        <Card className="welcome-start">
          <Logo size={40} />
          <h2>Start your first crawl</h2>
          <p className="soft">
            Enter the URL of a site. Orbweaver follows its links politely, reads every page and stores title, author,
            date and text, or the fields you choose.
          </p>
          <StartCrawl />
          <TryDemo />
        </Card>
        <Card title="Where your results are">
          <ul className="welcome-results">
            <li>
              Every crawl, and every page that you scrape on its own, is a run.{" "}
              <Link className="link" href="/runs">
                Runs
              </Link>{" "}
              lists them; a run has its records under <em>Results</em>, as a table and as JSON, CSV, Parquet or Markdown
              files.
            </li>
            <li>
              Records are in this server’s database, files in its data directory or its bucket.{" "}
              <Link className="link" href="/settings">
                Settings
              </Link>{" "}
              shows where.
            </li>
            <li>They are kept until you or a retention policy deletes them.</li>
          </ul>
        </Card>
      </div>
      <Card title="Or from a terminal">
        <div className="stack">
          <Example about="Offline demo, half a minute" text="orb demo" />
          <Example about="Crawl a site and watch it" text="orb crawl https://example.com --max-pages 50" />
          <Example about="Read one page" text="orb scrape https://example.com --fields title,markdown" />
          <Example
            about="Start the crawl over HTTP"
            text={`curl ${origin}/scraping/async-scrape \\\n  -H 'content-type: application/json' \\\n  -d '{"url": "https://example.com", "max_pages": 50}'`}
          />
          <p className="soft">
            In a clone of the repository, type <code>./bin/orb</code> instead of <code>orb</code>. Every call is
            described at{" "}
            <a className="link" href="/docs">
              /docs
            </a>
            .
          </p>
        </div>
      </Card>
    </div>
  );
}

function Example({ about, text }: { about: string; text: string }) {
  return (
    <div className="example">
      <h3>{about}</h3>
      <Code text={text} label={`Copy: ${about}`} wrap />
    </div>
  );
}

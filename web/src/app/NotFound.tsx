import { LinkButton } from "../ui/Button.tsx";
import { PageHeader } from "../ui/PageHeader.tsx";
import { EmptyState } from "../ui/States.tsx";

export function NotFound() {
  return (
    <>
      <PageHeader title="Page not found" />
      <EmptyState
        icon="search"
        title="There is no page at this URL"
        actions={
          <>
            <LinkButton href="/">Go to the overview</LinkButton>
            <LinkButton href="/runs">See all runs</LinkButton>
          </>
        }
      >
        The URL may be mistyped, or the page was deleted.
      </EmptyState>
    </>
  );
}

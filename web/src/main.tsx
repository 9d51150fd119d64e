import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Router } from "wouter";
import { useSearch } from "wouter/use-browser-location";
import "./ui/tokens.css";
import "./ui/base.css";
import { App } from "./app/App.tsx";
import { applyTheme } from "./app/theme.ts";

/**
 * The router unescapes the query once more before it is parsed: escape it again, so that a URL in a search stays
 * intact.
 */
const useExactSearch = () => useSearch().replaceAll("%", "%25");

applyTheme();
const root = document.getElementById("root");
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <Router searchHook={useExactSearch}>
        <App />
      </Router>
    </StrictMode>,
  );

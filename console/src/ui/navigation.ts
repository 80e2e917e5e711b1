// The pages in the navigation, in its order.
import type { LinkProps } from "@tanstack/react-router";
import {
  Activity,
  Braces,
  BrainCircuit,
  CalendarClock,
  ChartLine,
  ChartSpline,
  Database,
  Files,
  House,
  Link2,
  type LucideIcon,
  Network,
  Plug,
  ScrollText,
  ShieldCheck,
  Sigma,
  Workflow,
} from "lucide-react";
import { mayDo } from "../session/rights.ts";
import type { Session } from "../session/session.ts";

interface NavigationEntry {
  readonly to: NonNullable<LinkProps["to"]>;
  readonly label: string;
  readonly icon: LucideIcon;
  /** The heading that the page is below; pages for everybody have none. */
  readonly group?: "Data" | "Administration";
  /** Words that the command palette also finds the page by. */
  readonly keywords: string;
  readonly onlyForAdministrators?: boolean;
  /** The capability and action without which the page shows nothing. */
  readonly needs?: readonly [acl: string, action: string];
}

/** Whether the page has something to show to the person. */
export const isFor =
  (session: Session) =>
  ({ onlyForAdministrators, needs }: NavigationEntry): boolean =>
    (session.isAdministrator || !onlyForAdministrators) && (!needs || mayDo(session, ...needs));

export const navigation: readonly NavigationEntry[] = [
  { to: "/", label: "Start", icon: House, keywords: "home overview" },
  { to: "/trend", label: "Trend", icon: ChartSpline, keywords: "plot chart compare values over time" },
  { to: "/assets", label: "Assets", icon: Network, keywords: "tree plant equipment hierarchy" },
  { to: "/series", label: "Series", icon: ChartLine, keywords: "time series tags datapoints latest" },
  { to: "/events", label: "Events", icon: CalendarClock, keywords: "alarms batches work orders time line" },
  { to: "/files", label: "Files", icon: Files, keywords: "documents drawings data sheets upload download" },
  { to: "/calculated", label: "Calculated", icon: Sigma, keywords: "expression formula function series" },
  {
    ...{ to: "/raw", label: "Raw", icon: Database, group: "Data", needs: ["rawAcl", "LIST"] },
    keywords: "databases tables rows csv upload",
  },
  {
    ...{ to: "/transformations", label: "Transformations", icon: Workflow, group: "Data" },
    needs: ["transformationsAcl", "READ"],
    keywords: "sql query etl pipeline raw rows to assets events schedule cron runs",
  },
  {
    ...{ to: "/suggestions", label: "Suggestions", icon: Link2, group: "Data" },
    needs: ["suggestionsAcl", "READ"],
    keywords: "contextualisation tags match link series drawings assets accept reject review",
  },
  {
    ...{ to: "/models", label: "Models", icon: BrainCircuit, group: "Data" },
    needs: ["modelHostingAcl", "READ"],
    keywords: "python predict schedule packages train",
  },
  {
    ...{ to: "/connect", label: "Connect", icon: Plug, group: "Data" },
    keywords: "power bi excel python javascript curl odata api rest key export",
  },
  {
    ...{
      to: "/access",
      label: "Access",
      icon: ShieldCheck,
      group: "Administration",
      onlyForAdministrators: true,
    },
    keywords: "accounts users api keys groups rights capabilities security identity provider",
  },
  {
    ...{
      to: "/audit",
      label: "Audit",
      icon: ScrollText,
      group: "Administration",
      needs: ["auditAcl", "READ"],
    },
    keywords: "log who did what history changes rights deletions exports sign-ins",
  },
  {
    ...{
      to: "/operations",
      label: "Operations",
      icon: Activity,
      group: "Administration",
      needs: ["projectsAcl", "UPDATE"],
    },
    keywords: "health metrics memory latency store jobs retention rules old points keep days",
  },
];

/** The pages that the command palette finds: also those inside of another page. */
export const palettePages: readonly NavigationEntry[] = [
  ...navigation,
  {
    ...{ to: "/connect/api", label: "API explorer", icon: Braces },
    keywords: "rest openapi operations requests send try",
  },
];

// The frame around the pages: header, navigation and the page itself.
import {
  AppShell,
  Burger,
  Button,
  Group,
  Kbd,
  NavLink,
  ScrollArea,
  Text,
  UnstyledButton,
} from "@mantine/core";
import { useDisclosure, useHotkeys } from "@mantine/hooks";
import { Link, Outlet, useRouterState } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { lazy, Suspense, useEffect, useState } from "react";
import { partOf } from "../api/load-part.ts";
import { SessionContext, useSession, useSessionData } from "../session/session.ts";
import { SessionEnded } from "../session/session-ended.tsx";
import { UploadNotice } from "../uploads/upload-notice.tsx";
import { UploadsProvider } from "../uploads/uploads-context.tsx";
import { AccountMenu } from "./account-menu.tsx";
import classes from "./app-frame.module.css";
import { ConnectionNotice } from "./connection-notice.tsx";
import { useKeptFocus } from "./focus.ts";
import { Logo } from "./logo.tsx";
import { isFor, navigation } from "./navigation.ts";
import { PagePending } from "./page-states.tsx";
import { PaletteQuery } from "./palette-query.ts";
import { SeeAsBanner, seeAsBannerHeight } from "./see-as-banner.tsx";

const CommandPalette = lazy(async () => ({
  default: (await partOf(() => import("./command-palette.tsx"))()).CommandPalette,
}));

const headerHeight = 52;

export function AppFrame() {
  const session = useSessionData();
  if (session === null) return <SessionEnded />;
  return (
    <SessionContext value={session}>
      <Frame />
    </SessionContext>
  );
}

function Frame() {
  const [isOpen, { toggle, close }] = useDisclosure();
  const { seenAs } = useSession();
  const [palette] = useState(() => new PaletteQuery());
  useHotkeys([["mod+K", palette.open]], []);
  useKeptFocus();
  return (
    <UploadsProvider>
      <AppShell
        header={{ height: seenAs ? headerHeight + seeAsBannerHeight : headerHeight }}
        navbar={{ width: 208, breakpoint: "sm", collapsed: { mobile: !isOpen } }}
        padding="md"
      >
        <a className={classes["skip"]} href="#page">
          Skip to the page
        </a>
        <AppShell.Header>
          <Header isOpen={isOpen} onToggle={toggle} onSearch={palette.open} />
          <SeeAsBanner />
        </AppShell.Header>
        <AppShell.Navbar p="xs">
          <ScrollArea>
            <Navigation onNavigate={close} />
          </ScrollArea>
        </AppShell.Navbar>
        <AppShell.Main id="page" tabIndex={-1} className={classes["main"]}>
          <ConnectionNotice />
          <Suspense fallback={<PagePending />}>
            <Outlet />
          </Suspense>
        </AppShell.Main>
        <Suspense>
          <CommandPalette query={palette} />
        </Suspense>
      </AppShell>
    </UploadsProvider>
  );
}

interface HeaderProps {
  readonly isOpen: boolean;
  onToggle(): void;
  onSearch(): void;
}

function Header({ isOpen, onToggle, onSearch }: HeaderProps) {
  return (
    <div className={classes["header"]}>
      <Group gap="sm" wrap="nowrap">
        <Burger opened={isOpen} onClick={onToggle} hiddenFrom="sm" size="sm" aria-label="Navigation" />
        <UnstyledButton component={Link} to="/" aria-label="Millrace, start">
          <Group gap="xs" wrap="nowrap">
            <Logo />
            <Text fw={650} visibleFrom="xs">
              Millrace
            </Text>
          </Group>
        </UnstyledButton>
        <ProjectName />
      </Group>
      <Group gap="xs" wrap="nowrap">
        <UploadNotice />
        <SearchButton onSearch={onSearch} />
        <AccountMenu />
      </Group>
    </div>
  );
}

function ProjectName() {
  return (
    <Text size="sm" c="var(--text-quiet)" truncate title="The project">
      {useSession().project}
    </Text>
  );
}

function SearchButton({ onSearch }: Pick<HeaderProps, "onSearch">) {
  return (
    <Button
      variant="default"
      size="compact-md"
      fz="sm"
      fw={400}
      onClick={onSearch}
      leftSection={<Search size={15} aria-hidden />}
      rightSection={<Kbd visibleFrom="sm">Ctrl K</Kbd>}
    >
      Search
    </Button>
  );
}

function Navigation({ onNavigate }: { onNavigate(): void }) {
  const isForMe = isFor(useSession());
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => {
    if (path) onNavigate();
  }, [path, onNavigate]);
  const groups = Map.groupBy(navigation.filter(isForMe), ({ group }) => group);
  return (
    <nav aria-label="Pages">
      {[...groups].map(([group, entries]) => (
        <div key={group ?? ""} role="group" aria-label={group ?? "Plant"} className={classes["navigation"]}>
          {group && (
            <Text size="xs" c="var(--text-quiet)" px="sm" aria-hidden>
              {group}
            </Text>
          )}
          {entries.map(({ to, label, icon: Icon }) => (
            <NavLink
              key={to}
              component={Link}
              to={to}
              label={label}
              leftSection={<Icon size={17} aria-hidden />}
              active={to === "/" ? path === "/" : path.startsWith(to)}
            />
          ))}
        </div>
      ))}
    </nav>
  );
}

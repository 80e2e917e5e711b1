// The tabs of a page in one line, which scrolls in a narrow window; the selected tab is in sight.
import { Tabs, type TabsListProps } from "@mantine/core";
import { useEffect, useRef } from "react";
import classes from "./tab-list.module.css";

interface TabListProps extends TabsListProps {
  readonly selected: string;
}

export function TabList({ selected, ...rest }: TabListProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (selected !== "") showSelected(list.current!);
  }, [selected]);
  return <Tabs.List ref={list} className={classes["list"]} {...rest} />;
}

/** Scrolls the list only: `scrollIntoView` would scroll the page too. */
function showSelected(list: HTMLElement): void {
  const tab = list.querySelector("[role=tab][aria-selected=true]")!.getBoundingClientRect();
  const view = list.getBoundingClientRect();
  if (tab.right > view.right) list.scrollLeft += tab.right - view.right;
  if (tab.left < view.left) list.scrollLeft -= view.left - tab.left;
}

// The menu with the less frequent actions of a record.
import { ActionIcon, Menu } from "@mantine/core";
import { EllipsisVertical, type LucideIcon } from "lucide-react";

export interface RecordAction {
  readonly label: string;
  readonly icon: LucideIcon;
  readonly isDanger?: boolean;
  /** Opens a dialog, or acts at once. */
  run(): void;
}

interface RecordMenuProps {
  /** Names the record where a page has several menus. */
  readonly label?: string;
  readonly actions: readonly RecordAction[];
}

export const RecordMenu = ({ label = "More actions", actions }: RecordMenuProps) => (
  <Menu position="bottom-end">
    <Menu.Target>
      <ActionIcon variant="default" size={30} aria-label={label}>
        <EllipsisVertical size={16} aria-hidden />
      </ActionIcon>
    </Menu.Target>
    <Menu.Dropdown>
      {actions.map(({ label: text, icon: Icon, isDanger, run }) => (
        <Menu.Item
          key={text}
          leftSection={<Icon size={15} aria-hidden />}
          onClick={run}
          {...(isDanger && { c: "var(--text-danger)" })}
        >
          {text}
        </Menu.Item>
      ))}
    </Menu.Dropdown>
  </Menu>
);

// The menu of the person at the console: the colour scheme and the sign-out.
import { ActionIcon, Menu, Text, useMantineColorScheme } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { LogOut, Moon, Sun, SunMoon, UserRound } from "lucide-react";
import { setSeenGroup } from "../session/see-as.ts";
import { signOut, useSession } from "../session/session.ts";
import { useUploadQueue } from "../uploads/uploads-context.tsx";

const schemes = [
  { value: "light", label: "Light", icon: Sun },
  { value: "dark", label: "Dark", icon: Moon },
  { value: "auto", label: "As the system", icon: SunMoon },
] as const;

export function AccountMenu() {
  const { account, isAdministrator } = useSession();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const leave = useSignOut();
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <ActionIcon variant="default" size="lg" aria-label={`Account ${account.name}`}>
          <UserRound size={17} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} truncate>
            {account.name}
          </Text>
          {isAdministrator ? "Administrator" : "Member"}
        </Menu.Label>
        <Menu.Divider />
        <Menu.Label>Colours</Menu.Label>
        {schemes.map(({ value, label, icon: Icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Icon size={15} aria-hidden />}
            onClick={() => setColorScheme(value)}
            aria-current={colorScheme === value}
            fw={colorScheme === value ? 600 : 400}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<LogOut size={15} aria-hidden />} onClick={() => leave.mutate()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function useSignOut() {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const uploads = useUploadQueue();
  return useMutation({
    mutationFn: signOut,
    onSuccess: async () => {
      uploads.forget();
      setSeenGroup(undefined);
      await navigate({ to: "/sign-in" });
      queryClient.clear();
    },
  });
}

// The search above the tree.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { FilterText } from "../../ui/filter-inputs.tsx";

export function AssetSearch() {
  const { query } = useSearch({ from: "/frame/assets" });
  const navigate = useNavigate();
  const search = (next: string | undefined) =>
    void navigate({ to: ".", search: (now) => ({ ...now, query: next }), replace: true });
  return (
    <FilterText
      type="search"
      aria-label="Search assets"
      placeholder="Search by name or description"
      leftSection={<Search size={15} aria-hidden />}
      value={query}
      onChange={search}
    />
  );
}

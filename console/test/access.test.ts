// Tests the access page in a real browser: accounts, keys, groups, categories, explanations, and seeing as a
// group.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Page } from "playwright-core";
import {
  assertAccessible,
  assertAccessibleInLooks,
  assertSelectedTabInSight,
  type ConsoleUnderTest,
  type Look,
  oppositeLooks,
  startConsole,
  untilTrue,
} from "./browser.ts";

let console: ConsoleUnderTest;
const ids: Record<string, number> = {};
let memberKey: string;

async function create(path: string, item: object): Promise<Readonly<Record<string, unknown>>> {
  const response = await console.server.ask.v06(`POST ${path}`, { items: [item] });
  assert.ok(response.status < 300, response.text);
  return response.items[0]!;
}

before(async () => {
  console = await startConsole();
  ids["site"] = (await create("/assets", { name: "Site" }))["id"] as number;
  for (const name of ["Unit 23", "Unit 24"])
    ids[name] = (await create("/assets", { name, parentId: ids["site"] }))["id"] as number;
  for (const unit of ["23", "24"]) {
    const series = { name: `${unit}-FT-1`, assetId: ids[`Unit ${unit}`] };
    ids[series.name] = (await create("/timeseries", series))["id"] as number;
  }
  const scope = { assetIdScope: { subtreeIds: [String(ids["Unit 24"])] } };
  const capabilities = [
    { assetsAcl: { actions: ["READ"], scope } },
    { timeSeriesAcl: { actions: ["READ", "WRITE"], scope } },
  ];
  ids["operators"] = (await create("/groups", { name: "operators 24", capabilities }))["id"] as number;
  const account = { uniqueName: "operator-24", groups: [ids["operators"]] };
  ids["account"] = (await create("/users", account))["id"] as number;
  memberKey = (await create("/apikeys", { userId: ids["account"] }))["value"] as string;
});
after(() => console.close());

const rectsOf = (rows: readonly { getBoundingClientRect(): { toJSON(): unknown } }[]) =>
  rows.map((row) => row.getBoundingClientRect().toJSON() as { top: number; bottom: number });

const closed = (page: Page) => console.release(page);

describe("accounts and keys", () => {
  it("a new account gets a key that is shown once and works", async () => {
    const page = await console.open({ path: "/access" });
    await page.getByRole("button", { name: "New account" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("dashboard");
    await page.getByRole("combobox", { name: "Groups" }).click();
    await page.getByRole("option", { name: "operators 24" }).click();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
    await page.getByRole("row", { name: "dashboard operators 24" }).waitFor();
    await page.getByRole("button", { name: "Actions of dashboard" }).click();
    await page.getByRole("menuitem", { name: "New key" }).click();
    await page.getByRole("button", { name: "Create the key" }).click();
    await page.getByText("shown only this once").waitFor();
    await page.keyboard.press("Escape");
    const key = await page.getByRole("textbox", { name: "Key of dashboard" }).inputValue();
    const series = await console.server.ask.v06("GET /timeseries", undefined, { "api-key": key });
    assert.deepEqual(
      series.items.map(({ name }) => name),
      ["24-FT-1"],
    );
    await page.getByRole("button", { name: "I have copied it" }).click();
    await page.getByRole("tab", { name: "Keys" }).click();
    await page.getByRole("row", { name: /^dashboard/ }).waitFor();
    assert.ok(!(await page.content()).includes(key), "the key is shown again");
    await page.getByRole("button", { name: /^Delete the key .* of dashboard$/ }).click();
    await page.getByRole("button", { name: "Delete the key", exact: true }).click();
    await page.getByRole("row", { name: /^dashboard/ }).waitFor({ state: "detached" });
    const refused = await console.server.ask.v06("GET /timeseries", undefined, { "api-key": key });
    assert.equal(refused.status, 401);
    await closed(page);
  });

  it("a key gets limits, which programs with it keep to", async () => {
    const made = await create("/apikeys", { userId: ids["account"] });
    const page = await console.open({ path: "/access?tab=keys" });
    const name = `Limit the key ${made["id"]} of operator-24`;
    await page.getByRole("button", { name }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Requests a second").fill("1");
    await dialog.getByLabel("Bytes a second").fill("5000000");
    await assertAccessible(page);
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("row", { name: /operator-24 .* 1 requests\/s, 5,000,000 bytes\/s/ }).waitFor();
    const ask = () =>
      console.server.ask.v06("GET /timeseries", undefined, { "api-key": made["value"] as string });
    const statuses = (await Promise.all([1, 2, 3, 4, 5].map(ask))).map(({ status }) => status);
    assert.ok(statuses.includes(200) && statuses.includes(429), `${statuses}`);
    await page.getByRole("button", { name }).click();
    for (const label of ["Requests a second", "Bytes a second"]) await dialog.getByLabel(label).fill("");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("5,000,000 bytes/s").first().waitFor({ state: "detached" });
    // Narrow windows have the limits below the account, in higher rows.
    await page.setViewportSize({ width: 360, height: 740 });
    const row = page.getByRole("row").filter({ has: page.getByRole("button", { name }) });
    const heightOf = async () => (await row.boundingBox())!.height;
    const before = await heightOf();
    await page.getByRole("button", { name }).press("Enter");
    await dialog.getByLabel("Requests a second").fill("1");
    await dialog.getByRole("button", { name: "Save" }).press("Enter");
    await dialog.waitFor({ state: "detached" });
    await page.getByText("1 requests/s").first().waitFor();
    await untilTrue(page, `document.activeElement.getAttribute("aria-label") === "${name}"`);
    assert.ok((await heightOf()) > before);
    const tops = await page.getByRole("row").evaluateAll(rectsOf);
    for (const [at, { top }] of tops.entries()) if (at > 0) assert.ok(top >= tops[at - 1]!.bottom - 1);
    await console.server.ask.v06("POST /apikeys/delete", { items: [made["id"]] });
    await closed(page);
  });

  it("a taken name is refused in the dialog, and the last administrator stays", async () => {
    const page = await console.open({ path: "/access" });
    await page.getByRole("button", { name: "New account" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("operator-24");
    await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
    await page.getByRole("dialog").getByRole("alert").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Actions of administrator" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByText("you will be signed out").waitFor();
    await page.getByRole("button", { name: "Delete the account" }).click();
    await page
      .getByRole("dialog")
      .getByRole("alert")
      .getByText(/administ/)
      .waitFor();
    await closed(page);
  });
});

describe("groups", () => {
  it("a right is limited to a subtree that is found in the tree, and other rights stay", async () => {
    const page = await console.open({ path: "/access?tab=groups" });
    await page.getByRole("row", { name: /^operators 24/ }).click();
    await page.getByLabel("Events: read").selectOption("subtrees");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Below Site" }).click();
    await dialog.getByRole("checkbox", { name: "Unit 24" }).check();
    await dialog.getByLabel("Find an asset").fill("23");
    await dialog.getByRole("checkbox", { name: "Unit 23" }).check();
    await dialog.getByRole("button", { name: "Remove Unit 24" }).click();
    await dialog.getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: "Save the group" }).click();
    await page.getByText("Saved the group").waitFor();
    const { items } = await console.server.ask.v06(`GET /groups/${ids["operators"]}`);
    const scopeOf = (unit: string) => ({ assetIdScope: { subtreeIds: [String(ids[unit])] } });
    assert.deepEqual(items[0]!["capabilities"], [
      { assetsAcl: { actions: ["READ"], scope: scopeOf("Unit 24") } },
      { timeSeriesAcl: { actions: ["READ", "WRITE"], scope: scopeOf("Unit 24") } },
      { eventsAcl: { actions: ["READ"], scope: scopeOf("Unit 23") } },
    ]);
    await closed(page);
  });

  it("capabilities finer than the table are shown, and stay when another right changes", async () => {
    const fine = [{ groupsAcl: { actions: ["LIST"], scope: { all: {} } } }];
    const { id } = await create("/groups", { name: "fine", capabilities: fine });
    const page = await console.open({ path: `/access?tab=groups&group=${id}` });
    await page.getByRole("row", { name: "Groups LIST of" }).waitFor();
    await page.getByLabel("Files: read").selectOption("all");
    await page.getByRole("button", { name: "Save the group" }).click();
    await page.getByText("Saved the group").waitFor();
    const { items } = await console.server.ask.v06(`GET /groups/${id}`);
    const files = { filesAcl: { actions: ["READ"], scope: { all: {} } } };
    assert.deepEqual(items[0]!["capabilities"], [files, ...fine]);
    await closed(page);
  });

  it("one button grants reading of all data, and no other right changes", async () => {
    const all = { scope: { all: {} } };
    const fine = { analyticsAcl: { actions: ["LIST"], ...all } };
    const capabilities = [{ eventsAcl: { actions: ["WRITE"], ...all } }, fine];
    const { id } = await create("/groups", { name: "readers", capabilities });
    const page = await console.open({ path: `/access?tab=groups&group=${id}` });
    await page.getByRole("button", { name: "Read all data" }).click();
    await page.getByRole("button", { name: "Save the group" }).click();
    await page.getByText("Saved the group").waitFor();
    const { items } = await console.server.ask.v06(`GET /groups/${id}`);
    const granted = items[0]!["capabilities"] as Record<string, { actions: string[] }>[];
    const actionsOf = granted
      .flatMap(Object.entries)
      .map(([type, { actions }]) => [type, ...actions].join(" "));
    assert.ok(actionsOf.includes("eventsAcl READ WRITE"), actionsOf.join());
    assert.ok(actionsOf.includes("analyticsAcl LIST"), actionsOf.join());
    const others = actionsOf.filter((one) => !/^(events|analytics)Acl/.test(one));
    assert.equal(others.length, 11);
    for (const one of others)
      assert.match(one, /^(?!groups|users|apikeys|security|projects|audit)\w+ READ( LIST)?$/);
    await closed(page);
  });

  it("unsaved rights stay when another person changes the group, and the page says so", async () => {
    const { id } = await create("/groups", { name: "shared", capabilities: [] });
    const page = await console.open({ path: `/access?tab=groups&group=${id}` });
    await page.getByLabel("Files: read").selectOption("all");
    assert.equal(await page.getByRole("button", { name: "See as this group" }).isDisabled(), true);
    await console.server.ask.v06(`PATCH /groups/${id}`, { name: "shared by two" });
    // The page reads its records again when the connection is back.
    await page.context().setOffline(true);
    await page.getByRole("button", { name: "Save the group" }).click();
    await page.getByText("The server cannot be reached").first().waitFor();
    await page.context().setOffline(false);
    await page.getByText("Somebody else has changed this group").waitFor();
    await page.getByRole("heading", { name: "shared by two" }).waitFor();
    assert.equal(await page.getByLabel("Files: read").inputValue(), "all");
    await page.getByRole("button", { name: "Save the group" }).click();
    await page.getByText("Saved the group").waitFor();
    assert.equal(await page.getByText("Somebody else has changed this group").count(), 0);
    const { items } = await console.server.ask.v06(`GET /groups/${id}`);
    assert.equal(items[0]!["name"], "shared by two");
    assert.deepEqual(items[0]!["capabilities"], [{ filesAcl: { actions: ["READ"], scope: { all: {} } } }]);
    const asked: string[] = [];
    page.on("dialog", (dialog) => {
      asked.push(dialog.type());
      void dialog.accept();
    });
    await page.reload();
    await page.getByRole("heading", { name: "shared by two" }).waitFor();
    assert.deepEqual(asked, [], "nothing is left to save");
    await page.getByLabel("Files: read").selectOption("none");
    await page.reload();
    await page.getByRole("heading", { name: "shared by two" }).waitFor();
    assert.deepEqual(asked, ["beforeunload"]);
    await closed(page);
  });

  it("members are added and removed", async () => {
    const { id } = await create("/groups", { name: "shift", capabilities: [] });
    const page = await console.open({ path: `/access?tab=groups&group=${id}` });
    await page.getByRole("combobox", { name: "Account to add" }).click();
    await page.getByRole("option", { name: "operator-24" }).click();
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("button", { name: "Remove operator-24" }).click();
    await page.getByText("None yet.").waitFor();
    const { items } = await console.server.ask.v06(`GET /groups/${id}/users`);
    assert.deepEqual(items, []);
    await closed(page);
  });
});

describe("security categories, identity provider and explanations", () => {
  it("a category is created and deleted", async () => {
    const page = await console.open({ path: "/access?tab=categories" });
    await page.getByLabel("Name of the new category").fill("recipes");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Delete recipes" }).click();
    await page.getByText("stay hidden").waitFor();
    await page.getByRole("button", { name: "Delete the category" }).click();
    await page.getByText("There are no security categories").waitFor();
    await closed(page);
  });

  it("the identity provider is set without losing the default group, and removed", async () => {
    const page = await console.open({ path: "/access?tab=provider" });
    await page.getByLabel("Issuer").fill("https://sso.plant.example/realms/plant");
    // The page has read the project before.
    await console.server.ask.v06("PUT /defaultgroup", { items: [ids["operators"]] });
    await page.getByLabel("Client id").fill("millrace");
    await page.getByLabel("Client secret").fill("secret");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("People log in with this provider").waitFor();
    const { json } = await console.server.ask.v06("GET /");
    assert.match(JSON.stringify(json), new RegExp(`"defaultGroupId":${ids["operators"]}.*sso.plant.example`));
    assert.ok(!JSON.stringify(json).includes("secret"));
    await page.getByRole("button", { name: "Remove the provider" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove the provider" }).click();
    await page.getByText("People can sign in with keys only").waitFor();
    await closed(page);
  });

  it("says why an account may see one series and not another", async () => {
    const page = await console.open({ path: `/access?tab=explain&account=${ids["account"]}` });
    const record = page.getByRole("combobox", { name: "with the name" });
    await record.fill("24-FT");
    await page.getByRole("option", { name: "24-FT-1" }).click();
    await page.getByRole("alert").getByText("Allowed", { exact: true }).waitFor();
    await page.getByText("Site › Unit 24").first().waitFor();
    await record.fill("23-FT");
    await page.getByRole("option", { name: "23-FT-1" }).waitFor();
    await page.getByRole("option", { name: "24-FT-1" }).waitFor({ state: "detached" });
    await page.goto(
      `${console.server.baseUrl}/access?tab=explain&account=${ids["account"]}&record=${ids["23-FT-1"]}`,
    );
    await page.getByRole("alert").getByText("Not allowed").waitFor();
    await page.getByText("operators 24 does not cover the record").waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    const field = page.getByRole("combobox", { name: "which record" });
    // The page follows the size of the window in a later frame.
    for (const endMs = performance.now() + 60_000; (await field.boundingBox())!.width <= 250; )
      assert.ok(performance.now() < endMs, "its text is cut");
    await closed(page);
  });
});

describe("see as a group", () => {
  it("shows the data of the group alone on every page, until it is ended", async () => {
    const page = await console.open({ path: `/access?tab=groups&group=${ids["operators"]}` });
    await page.getByRole("button", { name: "See as this group" }).click();
    const banner = page.getByRole("region", { name: "See as a group" });
    await banner.getByText("operators 24").waitFor();
    assert.equal(await page.getByRole("link", { name: "Access" }).count(), 0);
    await page.getByRole("link", { name: "Series", exact: true }).first().click();
    await page.getByRole("row", { name: "24-FT-1" }).waitFor();
    assert.equal(await page.getByRole("row", { name: "23-FT-1" }).count(), 0);
    await page.reload();
    await page.getByRole("row", { name: "24-FT-1" }).waitFor();
    await banner.waitFor();
    await assertAccessible(page);
    await page.goto(`${console.server.baseUrl}/access`);
    await page.getByText("This page is for administrators").waitFor();
    await page.goto(`${console.server.baseUrl}/series`);
    await banner.getByRole("button", { name: "End" }).click();
    await page.getByRole("row", { name: "23-FT-1" }).waitFor();
    assert.equal(await banner.count(), 0);
    await page.getByRole("link", { name: "Access" }).waitFor();
    await closed(page);
  });
});

describe("rights and looks", () => {
  it("a member does not see the page, and the API refuses its requests", async () => {
    const page = await console.open({ path: "/access", key: memberKey });
    await page.getByText("This page is for administrators").waitFor();
    assert.equal(await page.getByRole("link", { name: "Access" }).count(), 0);
    assert.equal(await page.getByRole("table").count(), 0);
    for (const path of ["/users", "/apikeys?all=true", "/groups?all=true", "/securitycategories"]) {
      const { status } = await console.server.ask.v06(`GET ${path}`, undefined, { "api-key": memberKey });
      assert.equal(status, 403, path);
    }
    await closed(page);
  });

  it("is used by keyboard alone", async () => {
    const page = await console.open({ path: "/access" });
    await page.getByRole("tab", { name: "Accounts" }).focus();
    for (const key of ["ArrowRight", "ArrowRight", "Enter"]) await page.keyboard.press(key);
    await page.getByRole("row", { name: /^administrators Grants everything/ }).waitFor();
    await page.getByRole("row", { name: /^operators 24/ }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "operators 24" }).waitFor();
    assert.match(page.url(), /tab=groups&group=\d+$/);
    await page.goBack();
    await page.getByRole("button", { name: "New group" }).waitFor();
    await closed(page);
  });

  it("has no faults of accessibility, light and dark, wide and narrow", async () => {
    const opened = `groups&group=${ids["operators"]}`;
    const explained = `explain&account=${ids["account"]}&record=${ids["23-FT-1"]}`;
    // From narrow to wide: only a load of the narrow page moves its selected tab into sight.
    const looks = oppositeLooks.toReversed();
    const [{ colorScheme, width }] = looks as [Look];
    const page = await console.open({ path: "/access", colorScheme, viewport: { width, height: 740 } });
    for (const tab of ["keys", opened, "provider", explained]) {
      await page.setViewportSize({ width, height: 740 });
      await page.goto(`${console.server.baseUrl}/access?tab=${tab}`);
      await page.getByRole("tabpanel").waitFor();
      await page.waitForLoadState("networkidle");
      await assertSelectedTabInSight(page);
      await assertAccessibleInLooks(page, looks, () => page.getByRole("tabpanel").waitFor());
    }
    await closed(page);
  });
});

// Sample records of sequences for tests.
import {
  all,
  bySort,
  type Filling,
  type Item,
  type Member,
  type Reading,
  type SamplePart,
} from "../../../test/support/sample-part.ts";

export const sequenceSamples: SamplePart = {
  fill: fillSequences,
  async fillSmall(filling) {
    const [assetId] = filling.idsOf("assets");
    const columns = [{ name: "a", externalId: "a", valueType: "LONG" }];
    const [sequence] = await filling.create("sequences", [{ name: "curve", assetId, columns, dataSetId: 1 }]);
    const [column] = sequence!["columns"] as { id: number }[];
    const rows = [{ rowNumber: 1, values: [{ columnId: column!.id, value: 5 }] }];
    await filling.ask(`POST /sequences/${sequence!["id"]}/postdata`, { items: [{ rows }] });
  },
  async read(reading) {
    const sequences = await all(reading.ask, "/sequences");
    return { sequences: bySort(await Promise.all(sequences.map((one) => sequenceOf(reading, one)))) };
  },
  single: {
    sequences: ["a", "b"].map((name) => ({ name, columns: [{ name, valueType: "LONG" }] })),
  },
};

async function fillSequences(filling: Filling): Promise<void> {
  const { ask, draws } = filling;
  const assetIds = filling.idsOf("assets");
  for (let i = 0; i < 5; i++) {
    const columns = ["LONG", "DOUBLE", "STRING"].map((valueType, at) => ({
      valueType,
      ...draws.some(i, {
        ...{ name: `n${draws.text()}`, externalId: `c${at}`, description: `d${draws.text()}` },
        metadata: draws.metadata("column"),
      }),
    }));
    const { items } = await ask("POST /sequences", {
      items: [
        {
          columns,
          name: `sequence ${i}`,
          metadata: draws.metadata(`sequence ${i}`),
          ...draws.some(i, { externalId: `e${i}`, assetId: draws.pick(assetIds), dataSetId: 5 }),
          ...draws.some(i, { description: `d${draws.text()}` }),
        },
      ],
    });
    const { id, columns: made } = items[0] as { id: number; columns: { id: number }[] };
    // A removed column leaves a gap in the numbers of columns.
    if (i === 2) await ask(`POST /sequences/${id}/columns/delete`, { items: [made[1]!.id] });
    const left = i === 2 ? [0, 2] : [0, 1, 2];
    const rows = Array.from({ length: i === 4 ? 0 : 30 + 1_000 * (i % 2) }, (_, row) => ({
      rowNumber: row === 9 ? "9223372036854775807" : row * 3,
      values: left
        .filter(() => draws.below(4) > 0)
        .map((at) => ({
          columnId: made[at]!.id,
          value: [draws.pick(["-9223372036854775808", 7]), draws.number(), draws.text()][at],
        })),
    }));
    if (rows.length > 0) await ask(`POST /sequences/${id}/postdata`, { items: [{ rows }] });
  }
}

async function sequenceOf(reading: Reading, { id, assetId, columns, ...known }: Item): Promise<Item> {
  const { items } = await reading.ask(`POST /sequences/${id}/getdata`, { items: [{ limit: 10_000 }] });
  const { rows } = items[0] as {
    rows: { rowNumber: Member; values: { columnId: number; value: Member }[] }[];
  };
  const at = new Map((columns as Item[]).map((column, index) => [column["id"], index]));
  return {
    ...known,
    assetId: reading.nameOf("assets", assetId),
    columns: (columns as Item[]).map(({ id: _, ...column }) => column),
    rows: rows.map(({ rowNumber, values }) => [
      rowNumber,
      values.map(({ columnId, value }) => [at.get(columnId), value]),
    ]),
  };
}

// The embedded store keeps the contract of the points port, and so does the naive store it is compared with.

import { embeddedUnderTest } from "../../../test/support/points-store.ts";
import { NaivePointsStore } from "../conformance/naive-points.ts";
import { pointsConformance } from "../conformance/points.ts";

pointsConformance("the naive store", async () => ({ store: new NaivePointsStore(), end: async () => {} }));
pointsConformance("the embedded store", () => embeddedUnderTest({ shards: 2, blockPoints: 1024 }));

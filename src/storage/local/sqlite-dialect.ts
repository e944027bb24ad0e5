import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { badInput } from "../../errors.ts";
import type { SqlValue } from "./sqlite-connection.ts";
import { retryBusy, type SqliteConnection } from "./sqlite-connection.ts";

/**
 * Lets Kysely use our connection. Each query is a transaction of its own, because a transaction across promises would
 * block every other writer.
 */
export function sqliteDialect(connection: SqliteConnection): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => driverOn(connection),
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

function driverOn(connection: SqliteConnection): Driver {
  const session: DatabaseConnection = {
    async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
      const values = parameters as SqlValue[];
      return retryBusy((): QueryResult<Row> => {
        const statement = connection.prepare<Row>(sql);
        if (statement.isQuery) return { rows: statement.all(...values) };
        const { changes, lastId } = statement.run(...values);
        return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastId) };
      });
    },
    streamQuery() {
      throw badInput("rows are read in pages, not streamed");
    },
  };
  const refuse = async () => {
    throw badInput("use the database's own transaction()");
  };
  return {
    init: async () => {},
    acquireConnection: async () => session,
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    releaseConnection: async () => {},
    destroy: async () => connection.close(),
  };
}

using Rookery.Documents.Consensus;
using Rookery.Documents.Redis;
using Rookery.Redis.Connections;
using Rookery.Redis.Protocol;

namespace Rookery.Redis.Commands;

/// <summary>
/// MULTI, EXEC, DISCARD, WATCH and UNWATCH. A transaction is one entry of the log. It is guarded by the versions of the
/// watched keys, which are compared when the entry is applied.
/// </summary>
internal static class TransactionCommands
{
    /// <summary>Whether a command is executed within a transaction instead of being queued.</summary>
    public static bool IsImmediate(string command) =>
        command is "exec" or "discard" or "multi" or "watch" or "quit" or "reset";

    public static void Begin(RedisConnection connection, RedisCommandInfo command, RedisArguments arguments)
    {
        if (connection.Transaction is not null)
        {
            connection.Fail("ERR MULTI calls can not be nested");
            return;
        }

        connection.Transaction = new Transaction(connection.Node.Limits.MaxCommandBytes, connection.Held);
        connection.Replies.Ok();
    }

    public static void Discard(RedisConnection connection, RedisCommandInfo command, RedisArguments arguments)
    {
        if (connection.Transaction is null)
        {
            connection.Fail("ERR DISCARD without MULTI");
            return;
        }

        End(connection);
        connection.Replies.Ok();
    }

    public static void Unwatch(RedisConnection connection, RedisCommandInfo command, RedisArguments arguments)
    {
        connection.Data.Watches.Clear();
        connection.Replies.Ok();
    }

    public static ValueTask WatchAsync(RedisConnection connection, RedisCommandInfo command, RedisArguments arguments)
    {
        if (connection.Transaction is not null)
        {
            connection.Fail("ERR WATCH inside MULTI is not allowed");
            return ValueTask.CompletedTask;
        }

        if (connection.Data.Watches.Count + arguments.Count > WatchedKeys.Max)
        {
            connection.Fail($"ERR A connection watches at most {WatchedKeys.Max} keys.");
            return ValueTask.CompletedTask;
        }

        byte[][] keys = new byte[arguments.Count][];
        Span<byte> id = stackalloc byte[RedisKey.MaxIdBytes];
        for (int i = 0; i < keys.Length; i++)
        {
            keys[i] = arguments[i].ToArray();
            if (!RedisKey.TryWriteId(keys[i], id, out _))
            {
                connection.Fail($"ERR The id of a key has at most {RedisKey.MaxIdBytes} bytes.");
                return ValueTask.CompletedTask;
            }
        }

        return WatchAsync(connection, keys);
    }

    public static ValueTask ExecuteAsync(RedisConnection connection, RedisCommandInfo command, RedisArguments arguments)
    {
        if (connection.Transaction is not { } transaction)
        {
            connection.Fail("ERR EXEC without MULTI");
            return ValueTask.CompletedTask;
        }

        if (transaction.HasFailed)
        {
            End(connection);
            connection.Fail("EXECABORT Transaction discarded because of previous errors.");
            return ValueTask.CompletedTask;
        }

        foreach (var stored in transaction.Commands)
        {
            // The client may have other rights than when it sent the command.
            var needed = CommandScopes.Of(stored.Info, stored.Arguments);
            if ((connection.Identity.Scopes & needed) != needed)
            {
                End(connection);
                connection.Fail($"EXECABORT {connection.Identity.Refuse(stored.Info.Name, needed)}");
                return ValueTask.CompletedTask;
            }
        }

        return ExecuteAsync(connection, transaction);
    }

    /// <summary>Forgets the transaction and the watched keys.</summary>
    public static void End(RedisConnection connection)
    {
        connection.Transaction?.Dispose();
        connection.Transaction = null;
        connection.Data.Watches.Clear();
    }

    private static async ValueTask WatchAsync(RedisConnection connection, byte[][] keys)
    {
        if (await connection.Data.OpenReaderAsync() is not { } reader)
        {
            return;
        }

        using (reader)
        {
            foreach (byte[] key in keys)
            {
                long version = RedisReader.ReadVersion(reader, connection.Node.Consensus.Time, key);
                if (!connection.Data.Watches.TryAdd(reader, key, version))
                {
                    connection.Fail(ReplyBuffer.NoMemory);
                    return;
                }
            }
        }

        connection.Replies.Ok();
    }

    private static async ValueTask ExecuteAsync(RedisConnection connection, Transaction transaction)
    {
        var watches = connection.Data.Watches.Versions.ToArray();
        connection.Transaction = null; // so that its commands that the connection executes are not queued
        using var held = transaction;
        if (await connection.Data.OpenReaderAsync() is not { } reader)
        {
            connection.Data.Watches.Clear();
            return;
        }

        CommandOutcome? outcome = null;
        using (reader)
        {
            bool isSameDatabase = connection.Data.Watches.AreOf(reader.Database);
            connection.Data.Watches.Clear();
            if (!isSameDatabase)
            {
                connection.Replies.NullArray();
                return;
            }
        }

        // The log compares the versions of watched keys, also for commands that only the connection executes.
        if (watches.Length > 0 || transaction.Commands.Any(static stored => stored.Info.Opcode != RedisOpcode.None))
        {
            using var writer = Encode(reader.Database.Number, transaction, watches);
            outcome = await connection.Data.ProposeAsync(writer);
            if (outcome is null)
            {
                return;
            }
        }

        try
        {
            await ReplyAsync(connection, transaction, outcome);
        }
        finally
        {
            if (outcome is { } released)
            {
                RedisOutcome.Release(released);
            }
        }
    }

    private static RedisCommandWriter Encode(
        uint database,
        Transaction transaction,
        KeyValuePair<byte[], long>[] watches
    )
    {
        var writer = new RedisCommandWriter(database);
        foreach (var (key, version) in watches)
        {
            writer.Watch(key, version);
        }

        foreach (var stored in transaction.Commands)
        {
            if (stored.Info.Opcode != RedisOpcode.None)
            {
                writer.Append(stored.Info, stored.Arguments);
            }
        }

        return writer;
    }

    private static async ValueTask ReplyAsync(
        RedisConnection connection,
        Transaction transaction,
        CommandOutcome? outcome
    )
    {
        byte[][] replies = [];
        if (outcome is { } applied && !TryCopyReplies(applied, out replies))
        {
            connection.Replies.NullArray();
            return;
        }

        connection.Replies.Array(transaction.Commands.Count);
        int next = 0;
        foreach (var stored in transaction.Commands)
        {
            if (stored.Info.Opcode != RedisOpcode.None)
            {
                connection.Data.AppendReply(
                    replies[next++],
                    DataCommands.IsNullArray(stored.Info, stored.Arguments.Count)
                );
            }
            else
            {
                var handler = ControlCommands.Find(stored.Info.Name)!;
                await ControlCommands.RunAsync(handler, connection, stored.Info, stored.Arguments);
            }

            // The replies of many commands of the connection together are not bounded.
            if (connection.ReplyMode == ReplyMode.On && connection.Replies.Length > ReplyOutput.PieceBytes)
            {
                connection.IsEnding |= !await connection.Output.SendAsync(connection.Replies);
            }
        }
    }

    // Copies the replies: commands that the connection executes between them may wait, and a span cannot outlive that.
    private static bool TryCopyReplies(in CommandOutcome outcome, out byte[][] replies)
    {
        var read = new RedisOutcome(outcome);
        var copies = new List<byte[]>();
        if (!read.IsAborted)
        {
            foreach (var reply in read)
            {
                copies.Add(reply.ToArray());
            }
        }

        replies = [.. copies];
        return !read.IsAborted;
    }
}
